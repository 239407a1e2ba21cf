"""Cases: a number makes a file and a command; the command must answer in the agreed way."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import time
import traceback
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphgauge.cli import main
from hostile import bombs, containers, contents, extremes, graphs, headers, names, texts
from hostile.containers import Rng, choose
from hostile.headers import CANARY
from hostile.seeds import Mutant, good_files

__all__ = ["FAMILIES", "Answer", "Case", "answer", "make_case"]

FAMILIES: dict[str, Callable[[Rng], Mutant]] = {
    made.__name__: made
    for made in (
        containers.truncated, containers.flipped, containers.spliced, containers.miscounted,
        containers.renamed, containers.mistaken,
        headers.reheaded, headers.garbled, headers.pickled, headers.nested_types,
        bombs.bomb, bombs.swarm, bombs.legal,
        contents.retyped, contents.reshaped, contents.revalued, contents.mixed,
        contents.strange_graph,
        extremes.strange_probs, extremes.strange_doubt, extremes.degenerate, extremes.thin_links,
        extremes.crowded,
        names.strange_names, names.odd_names, names.odd_place,
        texts.cells, texts.headed, texts.lines, texts.edited, texts.wide, texts.edge_lists,
        texts.columned, texts.footed, texts.folded, texts.worded,
        graphs.marked, graphs.many_marks, graphs.tagged, graphs.blown, graphs.strange_matrices,
        graphs.between_words, graphs.odd_nodes, graphs.damaged,
    )
}  # fmt: skip
MOST_SECONDS = 20
_QUICK = ("--draws", "5", "--resamples", "5")


@dataclass(frozen=True)
class Case:
    """A command to run in a folder of its own."""

    number: int
    family: str
    arguments: tuple[str, ...]
    folder: Path


@dataclass(frozen=True)
class Answer:
    """What a command said, and what is wrong with that (nothing, if all is well)."""

    code: object
    output: str
    error: str
    seconds: float
    fault: str = ""


class _TooSlow(BaseException):
    """Not an Exception, lest the code under test takes it for one of its own."""


def make_case(number: int, folder: Path) -> Case:
    """Make the files of a case in an empty folder, and its command."""
    families = list(FAMILIES)
    family = families[number % len(families)]
    rng = np.random.default_rng([number, 20260214])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of what is written is frowned upon
        mutant = FAMILIES[family](rng)
    path = folder / f"{mutant.stem}{mutant.suffix}"
    if family == "odd_place":
        choose(rng, names.PLACES)(path)
    else:
        path.write_bytes(mutant.content)
    return Case(number, family, _command(rng, mutant.role, str(path), folder), folder)


def _command(rng: Rng, role: str, path: str, folder: Path) -> tuple[str, ...]:
    if role in ("graphs", "tables"):
        return _graph_command(rng, role, path, folder)
    if rng.random() < 0.05:
        role = choose(rng, ("nodes", "links", "edges"))
    suffix, content = choose(
        rng, good_files()[choose(rng, ("nodes", "links")) if role == "edges" else role]
    )
    friend = folder / f"friend{suffix}"
    friend.write_bytes(content)
    if role == "edges":
        command = choose(rng, ("score", "score", "audit", "compare"))
        files = (
            (str(friend), path) if command == "compare" and rng.random() < 0.2 else (str(friend),)
        )
        options = ("--edges", path)
        if command == "audit" and rng.random() < 0.3:
            options = ("--valid-edges", path)
    else:
        command, options = choose(rng, ("score", "score", "score", "audit", "compare")), ()
        files = (path, str(friend)) if command == "compare" or rng.random() < 0.05 else (path,)
    if command == "score":
        options += _QUICK
    elif command == "compare" and rng.random() < 0.5:
        options += ("--block",)
    kind = rng.random()
    if kind < 0.4:
        options += ("--json", "-")
    elif kind < 0.5 and command == "score":
        options += ("--html", str(folder / "page.html"))
    elif kind < 0.55 and command == "score":
        options += ("--protocol", "published")
    return (command, *options, "--", *(files if command != "audit" else files[:1]))


def _graph_command(rng: Rng, role: str, path: str, folder: Path) -> tuple[str, ...]:
    """Import a graph or split its nodes; a table of nodes stands beside good edges."""
    named = path.endswith(".graphml") or role == "tables"
    options: tuple[str, ...] = ("--label", "topic") if named and rng.random() < 0.9 else ()
    for option in ("--label", "--features", "--weight", "--edges"):
        if rng.random() < 0.05:
            options += (option, choose(rng, ("topic", "age", "w", "A", "none", "*")))
    if role == "tables" or (path.endswith(".csv") and rng.random() < 0.3):
        tables, edges = good_files()["tables"], good_files()["graphs"][:3]
        suffix, content = choose(rng, edges if role == "tables" else tables)
        friend = folder / f"friend{suffix}"
        friend.write_bytes(content)
        path, nodes = (str(friend), path) if role == "tables" else (path, str(friend))
        options += ("--nodes", nodes) if options else ("--nodes", nodes, "--label", "topic")
    elif not named and rng.random() < 0.3:
        shift = choose(rng, ("popularity", "density", "feature", "random"))
        return ("split", "--shift", shift, "--json", "-", "--", path)
    options += ("--out", str(folder / "out.npz"))
    if rng.random() < 0.2:
        options += ("--steps", "undirected,largest-component")
    shown = ("--json", "-") if rng.random() < 0.5 else ()
    return ("data", "import", *options, *shown, "--", path)


def answer(case: Case) -> Answer:
    """Run a case in this process and look for what must never be."""
    before = sorted(os.listdir(case.folder))
    out, err = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", how, newline="")
        for how in ("strict", "backslashreplace")
    )
    start, code, fault = time.process_time(), None, ""
    try:
        with _limited(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(case.arguments)
            out.flush()
    except _TooSlow:
        fault = f"still running after {MOST_SECONDS} seconds: " + traceback.format_exc()
    except BaseException:
        fault = traceback.format_exc()
    seconds = time.process_time() - start
    said, complained = (stream.buffer.getvalue().decode() for stream in (out, err))
    after = sorted(set(os.listdir(case.folder)) - {"page.html", "out.npz"})
    fault = fault or _fault_of(case, code, said, complained)
    if CANARY.exists():
        CANARY.rmdir()
        fault = "code of the file was executed"
    elif after != before:
        fault = fault or f"files changed: {before} to {after}"
    elif seconds > MOST_SECONDS:
        fault = fault or f"took {seconds:.0f} seconds"
    return Answer(code, said, complained, seconds, fault)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Let every warning be an error, and stop what computes too long, or waits."""

    def stop(*_: object) -> None:
        raise _TooSlow

    # A busy machine stretches seconds on the wall, not those of computing.
    limits = {
        signal.SIGPROF: (signal.ITIMER_PROF, MOST_SECONDS),
        signal.SIGALRM: (signal.ITIMER_REAL, 20 * MOST_SECONDS),
    }
    old = {sign: signal.signal(sign, stop) for sign in limits}
    for timer, seconds in limits.values():
        signal.setitimer(timer, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        for sign, (timer, _) in limits.items():
            signal.setitimer(timer, 0)
            signal.signal(sign, old[sign])


def _fault_of(case: Case, code: object, said: str, complained: str) -> str:
    if code not in (0, 1, 2):
        return f"exit code {code!r}"
    if code == 2:
        return _fault_of_error(complained)
    if complained:
        return "good input, and yet something on standard error"
    if _steers(said):
        return "control characters on standard output"
    if "--json" in case.arguments:
        return _fault_of_json(said)
    page = case.folder / "page.html"
    return _fault_of_page(page.read_text(encoding="utf-8")) if page.exists() else ""


def _fault_of_error(complained: str) -> str:
    if (
        not complained.startswith("error: ")
        or complained.count("\n") != 1
        or complained[-1] != "\n"
    ):
        return "standard error is not one line that starts with error:"
    if "Traceback" in complained:
        return "a traceback"
    if _steers(complained):
        return "control characters on standard error"
    if len(complained.encode()) > 6000:
        return f"an error of {len(complained)} characters"
    return "ran out of memory" if "not enough memory" in complained else ""


def _steers(text: str) -> bool:
    """Tell whether text could steer a terminal; joiners are part of words."""
    kinds = {unicodedata.category(c) for c in set(text) - set("\n\u200c\u200d")}
    return not kinds.isdisjoint({"Cc", "Cf", "Cs"})


def _fault_of_json(said: str) -> str:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(said, parse_constant=refuse)
    except ValueError as error:
        return f"not JSON: {error}"
    return ""


def _fault_of_page(page: str) -> str:
    marks = ("<script", "<img", "alert(1)</", "'><b>", "\x1b", "\u202e")
    found = [mark for mark in marks if mark in page.lower()]
    return f"the page holds {found}" if found else ""


def describe(case: Case, found: Answer) -> str:
    """Tell a case in full, with how to repeat it."""
    repeat = f"repeat it with: cd tests && python -m hostile {case.number}"
    lines = (
        f"case {case.number} ({case.family}): {found.fault}",
        f"graphgauge {' '.join(map(ascii, case.arguments))}",
        f"exit code {found.code}, {found.seconds:.2f} s, standard error: {found.error[:500]!a}",
        repeat,
    )
    return "\n".join(lines)


if sys.platform == "win32":  # pragma: no cover
    raise ImportError("signals and pipes of POSIX are needed")
