"""The report: one page that stands on its own, from the dict that a score is.

Nothing is loaded: style, figures and text are in the page, there is no script, and a content
policy forbids both. Whatever came from a file is cleaned and escaped, and lists are cut until the
page is smaller than `MOST_BYTES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, Undefined
from markupsafe import Markup

from graphgauge.report import wording
from graphgauge.report.cuts import Cut, Desk, Limits
from graphgauge.report.rows import Values, compare, headlines
from graphgauge.report.sections import section
from graphgauge.report.strips import verdict_on_null
from graphgauge.report.svg import tick_text
from graphgauge.scoring import RULES

__all__ = ["MOST_BYTES", "environment", "render"]

MOST_BYTES = 2_000_000
_MISSING = Markup('<span aria-hidden="true">–</span><span class="unseen">not available</span>')
_RULE = re.compile(r"\*(good|caution|bad)\*: ([^.]*\.)\s*")
_NUMBERS: Mapping[str, Callable[..., str]] = {
    "number": wording.number,
    "percent": wording.percent,
    "count": wording.count,
    "interval": wording.interval,
    "probability": wording.probability,
    "digits": wording.digits,
}


def render(document: Mapping[str, Any]) -> str:
    """Write one score, or several with their comparisons, as one page of HTML.

    Parameters
    ----------
    document
        A ``graphgauge.score/1`` or a ``graphgauge.scores/1``.

    Returns
    -------
    str
        A page smaller than 2 MB that loads nothing and runs nothing.

    Examples
    --------
    >>> page = render({"schema": "graphgauge.score/1", "kind": "nodes", "name": "a <b>"})
    >>> "a &lt;b&gt;" in page, "<script" in page
    (True, False)
    """
    limits = Limits()
    page = _page(document, limits)
    tighter = limits.essential()
    while len(page.encode()) >= MOST_BYTES and limits != tighter:
        limits, tighter = tighter, tighter.halved()
        page = _page(document, limits)
    return page


def _page(document: Mapping[str, Any], limits: Limits) -> str:
    alone = document.get("scores") is None
    scores: list[Values] = [document] if alone else list(document["scores"])
    desk = Desk(limits, _definitions(scores))
    template = environment().get_template("report.html.j2")
    return template.render(
        alone=alone,
        comparisons=compare(document.get("comparisons"), desk),
        offenders=limits.offenders,
        **_models(scores, desk),
        **_reading(desk),
    )


def _models(scores: Sequence[Values], desk: Desk) -> dict[str, Any]:
    """Choose the rows of the overview and the models that are shown in full."""
    full = Cut.of(scores, desk.limits.sections)
    models = Cut.of(scores, desk.limits.models)
    columns, numbers = headlines(models.rows, desk)
    return {
        "sections": [section(score, desk, key=f"m{i}") for i, score in enumerate(full.rows, 1)],
        "left_out": full.more,
        "n_models": len(scores),
        "models": models,
        "columns": columns,
        "numbers": numbers,
    }


def _reading(desk: Desk) -> dict[str, Any]:
    """Collect what tells how to read the page: definitions and the rules of the verdict."""
    told = Cut.of(desk.definitions.items(), 2 * desk.limits.rows)
    return {
        "definitions": told,
        "anchors": {name: f"d{i}" for i, (name, _) in enumerate(told.rows)},
        "rules": _RULE.findall(RULES),
        "rules_aside": _RULE.sub("", RULES),
    }


def _definitions(scores: Sequence[Values]) -> dict[str, Values]:
    """Join the definitions of all scores; the first of a name stands."""
    joined: dict[str, Values] = {}
    for score in scores:
        for name, card in (score.get("definitions") or {}).items():
            joined.setdefault(name, card)
    return joined


@cache
def environment() -> Environment:
    """Return what pages are written with: everything escaped, numbers and names in one way."""
    environment = Environment(
        loader=PackageLoader("graphgauge.report"),
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({name: _marked(write) for name, write in _NUMBERS.items()})
    environment.filters.update(name=_name, plain_name=wording.name, plural=wording.plural)
    environment.filters.update(bound=_bound, beside_null=verdict_on_null)
    environment.tests["known"] = lambda value: wording.is_number(_settled(value))
    return environment


def _marked(write: Callable[..., str]) -> Callable[..., str]:
    """Let a missing number be read aloud as such."""

    def written(*values: object, **options: object) -> str:
        known = [_settled(value) for value in values]
        text = write(*known, **{key: _settled(value) for key, value in options.items()})
        return _MISSING if text == wording.MISSING else text

    return written


def _settled(value: object) -> object:
    return None if isinstance(value, Undefined) else value


def _bound(value: object) -> object:
    """Write an end of a metric's range, which may be infinite."""
    ends = {"inf": "∞", "-inf": "−∞"}
    known = _settled(value)
    return ends.get(str(known)) or (tick_text(known) if wording.is_number(known) else _MISSING)


def _shown(value: object) -> object:
    """Prepare what a template prints: numbers get digits, text is cleaned, nothing is a dash."""
    if isinstance(value, Markup):
        return value
    if value is None or isinstance(value, Undefined):
        return _MISSING
    if isinstance(value, int) and not isinstance(value, bool):
        return wording.count(value)
    return _marked(wording.number)(value) if isinstance(value, float) else wording.clean(value)


def _name(value: object) -> Markup:
    """Write a name from a file, isolated so that its direction stays its own."""
    if value is None or isinstance(value, Undefined) or not str(value).strip():
        return _MISSING
    return Markup("<bdi>{}</bdi>").format(wording.name(value))
