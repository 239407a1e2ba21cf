"""The command ``graphgauge split``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphgauge.cli import main
from graphgauge.datasets import load, planted
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.splits import fold_splits, k_shot_split, link_split, random_split, shift_split


@pytest.fixture
def graph(tmp_path):
    made = planted(400, 3, seed=2).graph
    made.save(tmp_path / "g.npz")
    return made


def _same(path, split):
    stored = Split.load(path)
    assert stored.n_items == split.n_items
    assert [*stored.parts] == [*split.parts] or {*stored.parts} == {*split.parts}
    for name, index in split.parts.items():
        np.testing.assert_array_equal(stored[name], index)
    assert dict(stored.recipe) == dict(split.recipe)
    if split.pairs is not None:
        np.testing.assert_array_equal(stored.pairs, split.pairs)


@pytest.mark.parametrize(
    ("options", "make"),
    [
        (["--shift", "popularity"], lambda g: shift_split(g, "popularity")),
        (
            ["--shift", "density", "--ratio", "70", "--rounding", "shifts", "--seed", "4"],
            lambda g: shift_split(g, "density", ratio=70, rounding="shifts", seed=4),
        ),
        (
            ["--shift", "random", "--inner", "20/10/20/25/25"],
            lambda g: shift_split(g, "random", inner=[20, 10, 20, 25, 25]),
        ),
        (
            ["--shift", "locality", "--restart", "7", "--protocol", "published"],
            lambda g: shift_split(g, "locality", restart=7, protocol="published"),
        ),
        (["--random", "60/20/20", "--stratified"], None),
        (["--random", "50/50"], lambda g: random_split(g, {"train": 50, "test": 50})),
        (["--k-shot", "5/50/100"], lambda g: k_shot_split(g, 5, n_valid=50, n_test=100)),
        (["--k-shot", "5/50/rest"], lambda g: k_shot_split(g, 5, n_valid=50, n_test=None)),
        (["--links", "70/10/20", "--seed", "1"], lambda g: link_split(g, (70, 10, 20), seed=1)),
    ],
)
def test_the_command_writes_what_the_function_makes(graph, tmp_path, capsys, options, make):
    out = tmp_path / "s.npz"
    assert main(["split", str(tmp_path / "g.npz"), *options, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "train" in told
    assert str(out) in told
    shares = {"train": 60, "valid": 20, "test": 20}
    _same(out, random_split(graph, shares, stratified=True) if make is None else make(graph))


def test_folds_are_a_file_each(graph, tmp_path, capsys):
    command = ["split", str(tmp_path / "g.npz"), "--folds", "3", "--protocol", "published"]
    assert main([*command, "--out", str(tmp_path / "f.npz")]) == 0
    for number, split in enumerate(fold_splits(graph, protocol="published")):
        _same(tmp_path / f"f-{number}.npz", split)
    assert "in no part" in capsys.readouterr().out


@pytest.mark.parametrize("ending", [".npy", ".npz", ".csv"])
@pytest.mark.parametrize("inside", ["small", "large"])
def test_own_values_come_from_a_file(graph, tmp_path, ending, inside):
    values = graph.degrees + 0.5
    path = tmp_path / f"own{ending}"
    if ending == ".npy":
        np.save(path, values)
    elif ending == ".npz":
        np.savez(path, sigma=values, other=values * 2)
    else:
        path.write_text("sigma\n" + "\n".join(map(str, values)) + "\n")
    command = ["split", str(tmp_path / "g.npz"), "--property", str(path), "--inside", inside]
    assert main([*command, "--out", str(tmp_path / "s.npz")]) == 0
    made = shift_split(graph, values if inside == "small" else -values)
    stored = Split.load(tmp_path / "s.npz")
    for name, index in made.parts.items():
        np.testing.assert_array_equal(stored[name], index)


def test_a_property_goes_by_its_name(graph, tmp_path, capsys):
    command = ["split", str(tmp_path / "g.npz"), "--property", "degree", "--json", "-"]
    assert main(command) == 0
    [row] = json.loads(capsys.readouterr().out)["splits"]
    assert row["recipe"]["property"] == "degree"


def test_json_holds_sizes_and_recipe_and_nothing_else_is_printed(graph, tmp_path, capsys):
    command = ["split", str(tmp_path / "g.npz"), "--shift", "density", "--json", "-"]
    assert main(command) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "graphgauge.split/1"
    [row] = document["splits"]
    split = shift_split(graph, "density")
    assert row["parts"] == {name: len(index) for name, index in split.parts.items()}
    assert row["recipe"] == dict(split.recipe)
    assert (row["items"], row["n_items"], row["file"]) == ("nodes", 400, None)


def test_ties_and_ceiling_are_told(tmp_path, capsys):
    Graph.from_edges([[0, 1], [1, 2], [0, 2]], 100).save(tmp_path / "g.npz")
    assert main(["split", str(tmp_path / "g.npz"), "--shift", "density"]) == 0
    told = capsys.readouterr().out
    assert "tied at the cut between in and out of distribution: 97.0 % of the nodes" in told
    assert "ceiling of OOD AUROC for the property alone: 5" in told
    assert max(map(len, told.splitlines())) <= 80


@pytest.mark.parametrize("saved", [False, True])
def test_published_parts_are_written(data_dir, tmp_path, capsys, saved):
    out = tmp_path / "s.npz"
    if saved:
        load("cora-ml").save(tmp_path / "own.npz")
    data = str(tmp_path / "own.npz") if saved else "cora-ml"
    command = ["split", data, "--published", "shifts:density", "--out", str(out)]
    assert main(command) == 0
    assert "shifts density" in capsys.readouterr().out
    with np.load(data_dir / "splits/structural-shifts/cora-ml.npz") as stored:
        np.testing.assert_array_equal(
            Split.load(out)["test_in"], np.flatnonzero(stored["density_part"] == 2)
        )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "split by one of --shift, --property, .*: none is given"),
        (["--shift", "density", "--links", "85/5/10"], "--shift and --links are given"),
        (["--links", "85/5/10", "--ratio", "70"], "--ratio says nothing about --links"),
        (["--published", "planetoid", "--seed", "1"], "--seed says nothing about --published"),
        (["--shift", "dense"], "unknown shift 'dense'"),
        (["--shift", "density", "--restart", "1"], "clustering has no argument 'restart'"),
        (["--shift", "density", "--inner", "a/b"], "--inner: 'a/b' are not numbers divided by /"),
        (["--random", "100"], "--random: '100' are not shares of train, valid and test"),
        (["--random", "50/60"], "shares: 50.0, 60.0 sum to 110"),
        (["--k-shot", "20"], "--k-shot: '20' is not K/VALID/TEST"),
        (["--k-shot", "2.5/1/1"], "--k-shot: '2.5/1/1' is not K/VALID/TEST"),
        (["--k-shot", "nan/1/1"], "--k-shot: 'nan/1/1' is not K/VALID/TEST"),
        (["--k-shot", "2/rest/rest"], "--k-shot: '2/rest/rest' is not K/VALID/TEST"),
        (["--ratio", "nan", "--shift", "density"], "ratio: nan are not all percentages"),
        (["--random", "inf/1/1"], "shares: inf, 1.0, 1.0 are not all percentages"),
        (["--published", "shifts:density"], "is no slug of a data set"),
        (["--folds", "1"], "n_folds: 1 is too few"),
        (["--property", "missing.npy"], "missing.npy: cannot be read"),
        (["--property", "degree", "--inside", "out"], "--inside: 'out' is neither"),
        (["--published", "nobody"], "unknown source 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_one_line(graph, tmp_path, capsys, monkeypatch, options, told):
    import re

    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    assert main(["split", str(tmp_path / "g.npz"), *options]) == 2
    error = capsys.readouterr().err
    assert re.search(told, error)
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"nonsense", "is not readable as .npy"),
        (None, "holds no plain array, or not all of it"),
        (np.zeros(7), "7"),
        (np.zeros((400, 2)), "has 2 axes"),
        (np.full(400, np.nan), "are not finite"),
        (np.array([{}] * 400), "holds no plain array"),
    ],
)
def test_strange_values_are_refused(graph, tmp_path, capsys, content, told):
    path = tmp_path / "own.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, np.zeros(400) if content is None else content, allow_pickle=True)
    if content is None:
        path.write_bytes(path.read_bytes()[:-8])
    assert main(["split", str(tmp_path / "g.npz"), "--property", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_which_column_is_meant_is_not_guessed(graph, tmp_path, capsys):
    np.savez(tmp_path / "own.npz", a=np.zeros(400), b=np.ones(400))
    command = ["split", str(tmp_path / "g.npz"), "--property", str(tmp_path / "own.npz")]
    assert main(command) == 2
    assert "expected one column or array sigma, found: a, b" in capsys.readouterr().err
