"""What a split does: numbers against loops, on real graphs, and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import ks_2samp

from graphgauge.cli import main
from graphgauge.datasets import load, planted
from graphgauge.description import Options, describe, sides_of
from graphgauge.description.describe import largest_gap
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.report.shift import summarize_shift
from graphgauge.splits import SHIFTS, link_split, shift_split

NUMBERS = Options(drawn=False, embedding="none", n_sources=None)


@pytest.fixture(scope="module")
def graph():
    made = planted(300, 4, seed=3).graph
    labels = made.labels.copy()
    labels[::7] = -1
    return Graph(made.adjacency, made.features, labels, name="made", class_names=tuple("abcd"))


@pytest.fixture(scope="module")
def split(graph):
    return shift_split(graph, "popularity")


def test_groups_equal_loops(graph, split):
    found = describe(graph, split, NUMBERS)
    neighbours = {v: set() for v in range(graph.n_nodes)}
    for u, v in graph.edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    for group in (found.whole, *found.halves, *found.parts):
        members = {
            "all nodes": range(graph.n_nodes),
            **{side: nodes.tolist() for side, nodes in found.sides.nodes.items()},
            **{name: part.tolist() for name, part in split.parts.items()},
        }[group.name]
        assert group.n == len(members)
        assert group.degree == pytest.approx(np.mean([len(neighbours[v]) for v in members]))
        known = {v for v in members if graph.labels[v] >= 0}
        inside = [(u, v) for u, v in graph.edges.tolist() if u in known and v in known]
        alike = [graph.labels[u] == graph.labels[v] for u, v in inside]
        assert group.n_edges == len(inside)
        assert group.homophily == pytest.approx(np.mean(alike))
        for c, share in enumerate(group.classes):
            assert share == pytest.approx(np.mean([graph.labels[v] == c for v in known]))


def test_gaps_equal_those_of_scipy(graph, split, rng):
    found = describe(graph, split, NUMBERS)
    for contrast in found.contrasts:
        assert all(sum(shares) == pytest.approx(1) for shares in contrast.shares.values())
        assert 0 <= contrast.gap <= 1
    first, second = rng.integers(0, 9, 50) * 1.0, rng.integers(2, 12, 70) * 1.0
    assert largest_gap(first, second) == pytest.approx(ks_2samp(first, second).statistic)
    assert largest_gap(first, first) == 0


def test_the_property_of_the_shift_has_the_largest_gap(graph):
    for shift, name in (("popularity", "pagerank"), ("locality", "personalised-pagerank")):
        found = describe(graph, shift_split(graph, shift), NUMBERS)
        gaps = {contrast.name: contrast.gap for contrast in found.contrasts}
        assert gaps[name] == max(gaps.values()) == 1


def test_chance_leaves_both_sides_alike(graph):
    for seed in range(3):
        found = describe(graph, shift_split(graph, "random", seed=seed), NUMBERS)
        # 0.19 is passed by one of a hundred pairs of samples of 150.
        assert all(contrast.gap < 0.19 for contrast in found.contrasts)
        assert found.class_gap < 0.19


def test_class_gap_of_classes_split_by(graph):
    by_class = shift_split(graph, lambda g: np.where(g.labels < 2, 0.0, 1.0))
    assert describe(graph, by_class, NUMBERS).class_gap > 0.5


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ({"train": [0], "valid": [1], "test": [2]}, ("train", "test")),
        ({"train": [0], "test_in": [1], "test_out": [2]}, ("ID", "OOD")),
        ({"train": [0], "test_id": [1], "test_ood": [2]}, ("ID", "OOD")),
    ],
)
def test_sides(parts, names):
    assert sides_of(Split(parts, 3)).names == names


@pytest.mark.parametrize("parts", [{"train": [0], "valid": [1]}, {"a": [0]}, {"test_out": [0]}])
def test_without_two_sides(parts):
    with pytest.raises(InputError, match="expected some for training and some for test"):
        sides_of(Split(parts, 3))


def test_what_cannot_be_described(graph, split):
    with pytest.raises(InputError, match="one of edges"):
        describe(graph, Split(*_fields(link_split(graph), graph.n_nodes)), NUMBERS)
    with pytest.raises(InputError, match="is of 3 items"):
        describe(graph, Split({"train": [0], "test": [1]}, 3), NUMBERS)


def _fields(links, n):
    rows = {name: part[part < n] for name, part in links.parts.items()}
    return rows, n, {}, links.pairs[:n]


def test_bare_graph():
    bare = Graph.from_edges([[0, 1], [1, 2], [3, 4]], 10)
    found = describe(bare, Split({"train": [0, 1, 5], "test": [2, 6]}, 10))
    told = summarize_shift(found)
    assert told["class_gap"] is None
    assert told["halves"][0]["homophily"] is None
    assert [cloud["by"] for cloud in told["clouds"]] == ["edges"]


def test_pictures_hold_no_more_than_asked_for(graph, split):
    edges, features = describe(graph, split, Options(n_points=50)).clouds
    assert len(edges.points) == len(features.points) == 50
    assert set(edges.sides) <= {-1, 0, 1}
    assert edges.lines.max() < 50
    linked = {tuple(pair) for pair in graph.edges.tolist()}
    assert len(edges.lines) <= len(linked)


@pytest.mark.parametrize("shift", SHIFTS)
def test_command(graph, shift, tmp_path, capsys):
    file, page, told = (tmp_path / name for name in ("g.npz", "out.html", "out.json"))
    graph.save(file)
    outputs = ["--html", str(page), "--json", str(told)]
    assert main(["shift", "describe", str(file), "--shift", shift, *outputs]) == 0
    shown = capsys.readouterr().out
    assert "homophily" in shown
    document = json.loads(told.read_text())
    assert document["schema"] == "graphgauge.shift/1"
    assert document["recipe"]["shift"] == shift
    text = page.read_text()
    assert f"by <bdi>{shift}</bdi>" in text
    assert text.count("</figure>") == 7


def test_command_on_parts_of_ones_own(graph, tmp_path, capsys):
    file, parts = tmp_path / "g.npz", tmp_path / "parts.npz"
    graph.save(file)
    Split({"train": np.arange(100), "test": np.arange(150, 300)}, 300).save(parts)
    options = ["--split", str(parts), "--no-graph", "--features", "none", "--distances", "exact"]
    assert main(["shift", "describe", str(file), *options, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["sides"] == ["train", "test"]
    assert document["halves"][0]["distances"]["exact"] is True
    assert document["clouds"] == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "give one of --shift"),
        (["--shift", "density", "--published", "shifts:density"], "give one of --shift"),
        (["--shift", "gravity"], "unknown shift 'gravity'"),
        (["--shift", "density", "--distances", "many"], "neither a number of nodes nor exact"),
        (["--shift", "density", "--distances", "0"], "too few to search from"),
        (["--shift", "density", "--features", "umap"], "unknown embedding"),
        (["--split", "missing.npz"], "missing.npz"),
    ],
)
def test_command_tells_what_is_wrong(graph, tmp_path, capsys, options, told):
    file = tmp_path / "g.npz"
    graph.save(file)
    assert main(["shift", "describe", str(file), *options]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_command_lists_shifts(capsys):
    assert main(["shift", "list"]) == 0
    shown = capsys.readouterr().out
    assert all(shift in shown for shift in SHIFTS)


# Mean distances of OOD over ID as the paper's figures 8 to 10 have it: "nearly twice" for locality.
def test_real_graphs_shift_as_the_paper_says(data_dir):
    graph = load("cora-ml")
    found = {
        shift: describe(graph, shift_split(graph, shift), NUMBERS)
        for shift in ("popularity", "locality", "density")
    }
    means = {k: [half.distances.mean for half in one.halves] for k, one in found.items()}
    assert means["locality"][1] > 1.5 * means["locality"][0]
    assert abs(means["density"][1] / means["density"][0] - 1) < 0.2
    inside, outside = found["popularity"].halves
    assert inside.degree > 2 * outside.degree
    gaps = {shift: one.class_gap for shift, one in found.items()}
    assert gaps["locality"] > gaps["density"] > gaps["popularity"]
