"""Hostile files: never a traceback, never code run, never more memory or time than agreed.

Every case comes from a number; a failure names it and how to repeat it.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphgauge.archive import open_npz
from graphgauge.arrays import MOST_NODES
from graphgauge.cli import main
from graphgauge.errors import InputError
from graphgauge.formats import read_edges, read_predictions
from graphgauge.graph import Graph
from graphgauge.metrics import METRICS
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.parts import check_parts
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.report.figures import uncertainty
from graphgauge.report.terminal import plain
from hostile.bombs import raw_zip
from hostile.cases import FAMILIES, answer, describe, make_case
from hostile.containers import zipped
from hostile.headers import header, npy
from hostile.seeds import graph_arrays, node_arrays, node_columns, packed, written

_CASES = 17
_MOST_MB, _MOST_JUMP_MB = 700, 300


@pytest.mark.parametrize("place", range(len(FAMILIES)), ids=list(FAMILIES))
def test_hostile_files_are_answered_in_one_line(tmp_path, place):
    for number in range(place, _CASES * len(FAMILIES), len(FAMILIES)):
        folder = tmp_path / str(number)
        folder.mkdir()
        case = make_case(number, folder)
        found = answer(case)
        assert not found.fault, describe(case, found)


def _batch(first: int, last: int) -> dict:
    """Run cases in a process of their own, which counts its memory and its time."""
    command = [sys.executable, "-m", "hostile", str(first), str(last)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        command,
        cwd=Path(__file__).parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines() or ["none"]
    told = f"died in case {lines[-1]} with code {run.returncode}: {run.stderr[-2000:]}"
    assert run.returncode == 0, told
    return json.loads(lines[-1])


def _check_batch(took: dict) -> None:
    assert not took["faults"], "\n\n".join(took["faults"][:5])
    assert took["peak"] < _MOST_MB, took
    assert took["jumps"][0][0] < _MOST_JUMP_MB, took
    assert took["slowest"][0] < 20, took
    assert min(took["codes"]["0"], took["codes"]["2"]) > 0, "cases no longer reach the checks"


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_hostile_files_take_little_memory():
    _check_batch(_batch(10_000, 10_000 + len(FAMILIES)))


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("first", range(0, 10_000, 500))
def test_ten_thousand_hostile_files(first):
    _check_batch(_batch(first, first + 500))


# What the cases above have found, each by its name.


def _refused(path: Path, told: str, *, read=read_predictions) -> None:
    with pytest.raises(InputError, match=told) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("end", [-2, 10**6, 2**40])
def test_a_sparse_matrix_that_would_crash_scipy_is_refused(tmp_path, end):
    arrays = graph_arrays()
    rows = arrays["adjacency_indptr"].astype(np.int64)
    rows[-1] = end
    (tmp_path / "a.npz").write_bytes(packed({**arrays, "adjacency_indptr": rows}))
    _refused(tmp_path / "a.npz", "not a valid sparse matrix", read=read_edges)
    rows[1:-1], rows[-1] = 10**6, 0
    empty = {key: arrays[key][:0] for key in ("adjacency_data", "adjacency_indices")}
    (tmp_path / "a.npz").write_bytes(packed({**arrays, **empty, "adjacency_indptr": rows}))
    _refused(tmp_path / "a.npz", "not a valid sparse matrix", read=read_edges)


def test_columns_without_entries_cost_no_memory(tmp_path):
    arrays = {**graph_arrays(), "features_columns": np.array(2**40)}
    (tmp_path / "a.npz").write_bytes(packed(arrays))
    _refused(tmp_path / "a.npz", "1099511627776 columns for", read=read_edges)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (header(f"({'1, ' * 40})"), "impossible shape"),
        (header(f"(0x{'f' * 9000},)"), "impossible shape"),
        (header(f"(1, 0, 0x{'f' * 9000})"), "impossible shape"),
        (header("(True,)", "<f8") + " " * 10_000, "its header has"),
        ("(" * 9000, "not readable"),
        ("-" * 9000, "not readable"),
        ("{1: 2, 'descr': '<f8'}", "not readable"),
        ("{[]: 1}", "not readable"),
        (header("(30L, 3L").rstrip("}, "), "not readable"),
        (header("(1,)", [("a" * 3000, "<f8")]), "expected numbers or text"),
    ],
)
def test_headers_of_every_kind_are_answered(tmp_path, text, told):
    (tmp_path / "a.npz").write_bytes(zipped(("probs.npy", npy(text, bytes(8)))))
    with pytest.raises(InputError, match=told) as caught:
        open_npz(tmp_path / "a.npz")
    assert len(str(caught.value)) < 400


def test_a_header_is_as_short_as_it_says_before_it_is_read(tmp_path):
    raw = npy(b"x", version=(2, 0))
    raw = raw[:8] + struct.pack("<I", 2**32 - 1) + raw[12:]
    (tmp_path / "a.npz").write_bytes(zipped(("probs.npy", raw)))
    _refused(tmp_path / "a.npz", "its header has 4294967295 bytes")


def test_small_types_count_as_what_they_are_worked_on(tmp_path):
    n = 2**22
    np.savez_compressed(tmp_path / "a.npz", probs=np.ones((n, 1), bool), labels=np.zeros(n, bool))
    _refused(tmp_path / "a.npz", "possible zip bomb")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"name": ' + "9" * 5000 + "}", " " * 2**21])
def test_metadata_is_bounded(tmp_path, text):
    (tmp_path / "a.npz").write_bytes(packed({**graph_arrays(), "graph": np.array(text)}))
    _refused(tmp_path / "a.npz", "graph is", read=read_edges)


def test_characters_that_do_not_exist_are_refused(tmp_path):
    wild = np.full(30, 0x7FFFFFFF, np.uint32).view("<U1")
    (tmp_path / "a.npz").write_bytes(packed({**node_arrays(), "part": wild}))
    _refused(tmp_path / "a.npz", "characters that do not exist")
    swapped = np.array(["test"] * 30).astype(">U4")
    (tmp_path / "a.npz").write_bytes(packed({**node_arrays(), "part": swapped}))
    assert list(read_predictions(tmp_path / "a.npz").parts) == ["test"]


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"\ud800": [0]}, "holds half a character"),
        ({"x" * 201: [0]}, "has 201 characters"),
        ({f"test_{i}": [i] for i in range(257)}, "there are 257, more than 256"),
    ],
)
def test_parts_that_cannot_be_told_are_refused(parts, told):
    with pytest.raises(InputError, match=told):
        check_parts(parts, 300)


@pytest.mark.parametrize("node", [-1, MOST_NODES, 2**63 - 1])
def test_pairs_of_nodes_fit_one_number(node):
    with pytest.raises(InputError, match="pos_edges: 1 row points outside"):
        LinkPredictions([0.5, 0.1], [0.2], pos_edges=[[0, 1], [0, node]])


def test_more_classes_than_are_worth_judging_are_refused():
    with pytest.raises(InputError, match="10001 classes"):
        NodePredictions(np.full((2, 10_001), 1 / 10_001), [0, 0])


def test_numbers_beyond_double_precision_are_infinite_without_a_warning():
    huge = np.array(["1e4000"] * 2, np.longdouble)
    with pytest.raises(InputError, match="not finite"):
        LinkPredictions(huge, [0.1])
    assert NodePredictions([[1.0, 0.0]], np.array([1], np.float16)).labels.tolist() == [1]


def test_a_wide_table_takes_time_in_proportion(tmp_path):
    n = 50_000
    row = ",0" * n
    (tmp_path / "a.csv").write_text(f"pos,{','.join(f'neg_{i}' for i in range(n))}\n1{row}\n")
    assert read_predictions(tmp_path / "a.csv").n_negatives == n
    (tmp_path / "b.csv").write_text(f"prob_0,label,{'x' * 10**6}\n1,0,y\n")
    _refused(tmp_path / "b.csv", "header line is longer than")


def test_a_far_node_among_few_edges_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("0 1\n0 2000000000\n")
    _refused(tmp_path / "a.txt", "names node 2000000000, too many for 2 edges", read=read_edges)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pa.array([0, 1], pa.timestamp("s")), r"prob_0 holds timestamp\[ms\], expected numbers"),
        (pa.array([[1.0], [0.0]]), "prob_0 holds list.* expected numbers"),
        (pa.array(["1", "0"]), "prob_0 holds string, expected numbers"),
    ],
)
def test_parquet_columns_are_taken_for_what_they_are(tmp_path, column, told):
    ones = pa.array([1.0, 0.0])
    names = ["prob_0", "prob_1", "label"]
    pq.write_table(pa.table([column, ones, pa.array([0, 1])], names), tmp_path / "a.parquet")
    _refused(tmp_path / "a.parquet", told)
    pq.write_table(pa.table([ones, ones, ones], ["prob_0", "prob_0", "label"]), tmp_path / "b.pq")
    _refused(tmp_path / "b.pq", "two columns have the same name")
    pq.write_table(pa.table([ones, ones, pa.array([[0], [1]])], names), tmp_path / "c.pq")
    _refused(tmp_path / "c.pq", "label holds list.* expected words")


def test_words_of_a_parquet_file_stay_folded(tmp_path):
    word = pa.DictionaryArray.from_arrays(np.zeros(10**5, np.int32), ["x" * 10**5])
    ones = np.ones(10**5)
    pq.write_table(pa.table({"prob_x": ones, "label": word}), tmp_path / "a.parquet")
    _refused(tmp_path / "a.parquet", "100000 labels are no class")


def test_only_ordinary_files_are_read(tmp_path):
    for suffix in (".npz", ".csv", ".parquet", ".txt"):
        pipe = tmp_path / f"pipe{suffix}"
        os.mkfifo(pipe)
        _refused(pipe, "not an ordinary file")
        _refused(pipe, "not an ordinary file", read=read_edges)
        zero = tmp_path / f"zero{suffix}"
        zero.symlink_to("/dev/zero")
        _refused(zero, "not an ordinary file", read=read_edges)
    _refused(tmp_path, "it is a folder")


@pytest.mark.parametrize("name", ["test[/]", "test[red]", "test:smile:", "test<b>&", "test\\["])
def test_names_are_printed_as_they_are(tmp_path, capsys, name):
    arrays = {k: v for k, v in node_arrays().items() if not k.startswith("edge")}
    file = tmp_path / f"{name.replace('/', '')}.npz"
    file.write_bytes(packed({**arrays, "part": np.array([name] * 30)}))
    page = tmp_path / "page.html"
    options = ["--draws", "0", "--resamples", "0"]
    assert main(["score", str(file), *options, "--html", str(page)]) == 0
    assert f"{name} (" in capsys.readouterr().out
    assert "<b>&" not in page.read_text()


def test_a_name_that_is_no_text_is_told(tmp_path, capsys):
    file = tmp_path / os.fsdecode(b"\xff\x1b[2J.npz")
    file.write_bytes(packed(node_arrays()))
    assert main(["score", str(file), "--draws", "0", "--resamples", "0"]) == 0
    assert "\ufffd\ufffd[2J" in capsys.readouterr().out
    assert main(["score", str(file) + "x"]) == 2
    assert capsys.readouterr().err.endswith(
        "\ufffd\ufffd[2J.npzx: cannot be read (No such file or directory)\n"
    )
    assert len(plain("x" * 10**6)) == 1000


def test_the_file_at_fault_is_named(tmp_path, capsys):
    (tmp_path / "good.csv").write_text(written(node_columns()))
    (tmp_path / "bad.txt").write_text("0 1\n0 99\n")
    assert main(["score", str(tmp_path / "good.csv"), "--edges", str(tmp_path / "bad.txt")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'bad.txt'}: edges: 1 row")


def test_smooth_calibration_errors_converge_draw_by_draw():
    certain = np.array([[1.0009, 0.0]] * 4)
    wrong = Outcomes.of_nodes(certain, np.array([1, 1, 1, 1]))
    assert METRICS["smooth_ece"](wrong) == pytest.approx(1.0009)
    right = Outcomes.of_nodes(np.eye(2)[[0, 1, 0, 0]], np.array([0, 1, 0, 0]))
    assert METRICS["smooth_ece"](right) == 0.0


@pytest.mark.parametrize("values", [[1e308, -1e308], [5e-324, 0.0], [1e300, 1e300]])
def test_uncertainties_of_any_size_are_scored_and_drawn(tmp_path, values):
    arrays = {k: v for k, v in node_arrays().items() if not k.startswith("edge")}
    total = np.array(values)[np.arange(30) // 4 % 2]
    (tmp_path / "a.npz").write_bytes(packed({**arrays, "total": total}))
    options = ["--draws", "5", "--resamples", "5", "--html", str(tmp_path / "page.html")]
    assert main(["score", str(tmp_path / "a.npz"), *options]) == 0
    figure = uncertainty({"edges": sorted(values), "id": [1.0], "ood": [1.0]}, key="a")
    assert "Not drawn" in figure.sentence


def test_overlapping_members_are_counted_each(tmp_path):
    body = npy(header("(100, 1000)"), bytes(800_000))
    coder = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = coder.compress(body) + coder.flush()
    names = [f"part_{i}.npy" for i in range(900)]
    entries = [(name, data, zlib.crc32(body), len(body)) for name in names]
    (tmp_path / "a.npz").write_bytes(raw_zip(entries, overlap=True))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert len(archive.namelist()) == 900
    _refused(tmp_path / "a.npz", "possible zip bomb")


def test_a_graph_of_a_user_is_still_saved_and_read(tmp_path):
    import scipy.sparse as sp

    graph = Graph(sp.csr_array(np.eye(3, dtype=np.int8)), sp.csr_array((3, 4), dtype=np.float32))
    graph.save(tmp_path / "a.npz")
    assert Graph.load(tmp_path / "a.npz").fingerprint == graph.fingerprint
