"""Shifts as a transform of PyG: the parts of the command line, and nothing else is touched."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from drawn import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import BaseTransform, Compose, NodePropertySplit, ToUndirected

from graphgauge.cli import main
from graphgauge.datasets import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.pyg import MASKS, ShiftSplit, from_pyg, split_from_pyg, to_pyg
from graphgauge.splits import Shift, shift_split

NAMES = ("id_train", "id_val", "id_test", "ood_val", "ood_test")


@pytest.fixture(scope="module")
def graph():
    return planted(300, 3, seed=5).graph


def _bearing(graph, kind):
    """Make the same graph of another kind: what the graph carries decides how lots fall."""
    made = {
        "dense": lambda: graph,
        "sparse": lambda: _with(graph, features=sp.csr_array(graph.features.round())),
        "bare": lambda: _with(graph, features=None, labels=None),
        "partly labelled": lambda: _with(graph, labels=np.where(graph.degrees > 5, -1, 2)),
        "weighted": lambda: _with(graph, adjacency=graph.adjacency * 0.1),
        "directed": lambda: _with(graph, adjacency=sp.triu(graph.adjacency, format="csr")),
    }
    return made[kind]()


def _with(graph, **changes):
    content = {name: getattr(graph, name) for name in ("adjacency", "features", "labels", "name")}
    return Graph(**{**content, **changes})


OPTIONS = [
    (["--shift", "popularity", "--ratio", "50", "--seed", "0"], ("popularity",), {"seed": 0}),
    (["--shift", "density", "--ratio", "70", "--rounding", "shifts", "--seed", "4"],
     ("density",), {"ratio": 70, "rounding": "shifts", "seed": 4}),
    (["--shift", "random", "--inner", "20/10/20/25/25"],
     ("random",), {"inner": [20, 10, 20, 25, 25]}),
    (["--shift", "locality", "--restart", "7", "--protocol", "published"],
     ("locality",), {"restart": 7, "protocol": "published"}),
    (["--property", "degree", "--inside", "large", "--seed", "3"],
     (Shift("degree", large_inside=True),), {"seed": 3}),
]  # fmt: skip
KINDS = ["dense", "sparse", "bare", "partly labelled", "weighted", "directed"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("options", "given", "named"), OPTIONS)
def test_parts_are_those_of_the_command_line(graph, tmp_path, kind, options, given, named):
    graph = _bearing(graph, kind)
    graph.save(tmp_path / "g.npz")
    command = ["split", str(tmp_path / "g.npz"), *options, "--out", str(tmp_path / "s.npz")]
    assert main(command) == 0
    stored, data = Split.load(tmp_path / "s.npz"), to_pyg(graph)
    transform = ShiftSplit(*given, **named)
    split = transform.split(data)
    assert dict(split.recipe) == dict(stored.recipe)
    masks = transform(data)
    for part, index in stored.parts.items():
        np.testing.assert_array_equal(split[part], index)
        mask = masks[f"{MASKS.get(part, part)}_mask"]
        np.testing.assert_array_equal(mask.nonzero().flatten(), index)


def test_a_data_that_is_saved_first_is_split_alike(tmp_path):
    """What PyG users have is no graph of ours: single precision, columns of classes, repetitions.

    The file on which the command works then has other types and another order of edges.
    """
    rng = np.random.default_rng(3)
    ends = torch.from_numpy(rng.integers(0, 60, (2, 90)))
    labels = torch.from_numpy(rng.integers(-1, 3, (60, 1)).astype(np.float32))
    labels[labels < 0] = torch.nan
    x = torch.from_numpy(rng.random((60, 4), np.float32))
    data = ToUndirected()(Data(x=x.half(), edge_index=ends, y=labels))
    from_pyg(data).save(tmp_path / "saved.npz")
    order = rng.permutation(data.num_edges)
    arrays = {"edge_index": data.edge_index[:, order].to(torch.int32), "x": data.x.double()}
    np.savez(
        tmp_path / "own.npz", label=labels.numpy(), **{k: v.numpy() for k, v in arrays.items()}
    )
    expected = ShiftSplit("density", seed=2).split(data)
    assert expected.recipe["tied"]["id_ood"] > 0
    for name in ("saved", "own"):
        file, out = str(tmp_path / f"{name}.npz"), tmp_path / "s.npz"
        assert main(["split", file, "--shift", "density", "--seed", "2", "--out", str(out)]) == 0
        found = Split.load(out)
        assert found.recipe["graph"] == expected.recipe["graph"]
        for part, index in expected.parts.items():
            np.testing.assert_array_equal(found[part], index)


@settings(max_examples=60, deadline=None)
@given(graph=graphs())
def test_data_and_graph_have_the_same_colours(graph):
    again = from_pyg(to_pyg(graph))
    assert again.fingerprint == graph.fingerprint
    np.testing.assert_array_equal(again.colours.nodes, graph.colours.nodes)


def test_the_input_and_all_else_stay_as_they_are(graph):
    data = to_pyg(graph)
    data.edge_attr = torch.rand(data.num_edges, 2)
    data.note, data.pos, data.train_mask = ["any", None], torch.rand(300, 3), torch.ones(7)
    before, held = copy.deepcopy(data.to_dict()), {key: data[key] for key in data.keys()}  # noqa: SIM118
    found = ShiftSplit("popularity")(data)
    assert set(data.keys()) == set(before)
    assert set(found.keys()) - set(before) == {f"{name}_mask" for name in NAMES}
    for key, value in held.items():
        assert data[key] is value
        assert found[key] is value
        same = torch.equal(value, before[key]) if torch.is_tensor(value) else value == before[key]
        assert same, key


def test_it_stands_in_for_that_of_pyg(graph):
    """On distinct values of the property both cut at the same places; only lots differ."""
    data, ratios = to_pyg(graph), [0.3, 0.1, 0.1, 0.1, 0.4]
    theirs = NodePropertySplit("popularity", ratios)(data)
    transform = ShiftSplit("popularity")
    ours = Compose([ToUndirected(), transform])(data)
    assert isinstance(transform, BaseTransform)
    assert repr(transform) == "ShiftSplit(popularity, ratio=50)"
    assert set(ours.keys()) == set(theirs.keys())
    assert transform.split(data).recipe["tied"] == {"id_ood": 0.0, "valid_test_out": 0.0}
    for name in NAMES:
        assert ours[f"{name}_mask"].dtype == torch.bool
        assert ours[f"{name}_mask"].sum() == theirs[f"{name}_mask"].sum()
    for name in NAMES[3:]:
        assert (ours[f"{name}_mask"] != theirs[f"{name}_mask"]).sum() <= 2


def test_its_arguments_are_those_of_the_function():
    of_function, of_transform = (
        {name: (p.kind, p.default) for name, p in inspect.signature(what).parameters.items()}
        for what in (shift_split, ShiftSplit)
    )
    assert of_transform.pop("names")[1] == "pyg"
    of_function.pop("graph")
    assert of_transform == of_function


@pytest.mark.parametrize("names", ["ours", "pyg"])
def test_masks_become_a_split_again(graph, names):
    data = ShiftSplit("density", names=names, ratio=60)(to_pyg(graph))
    expected = shift_split(graph, "density", ratio=60)
    assert ("valid_in_mask" in data) == (names == "ours")
    found = split_from_pyg(data)
    assert set(found.parts) == set(expected.parts)
    for part, index in expected.parts.items():
        np.testing.assert_array_equal(found[part], index)


@pytest.mark.parametrize(
    "labels",
    [
        torch.zeros(300, 4),
        torch.linspace(0, 1, 300),
        torch.zeros(300, dtype=torch.complex64),
        torch.tensor(1.0),
        None,
        "by hand",
    ],
)
def test_what_is_no_class_a_node_is_left_out(graph, labels):
    data = to_pyg(_with(graph, labels=None))
    data.y = labels
    np.testing.assert_array_equal(
        ShiftSplit("density").split(data)["train"],
        shift_split(_with(graph, labels=None), "density")["train"],
    )


@pytest.mark.parametrize(
    ("transform", "change", "told"),
    [
        (lambda: ShiftSplit("popularity", names="theirs"), {}, "'theirs' is neither 'ours' nor"),
        (lambda: ShiftSplit("popular"), {}, "unknown shift 'popular'"),
        (lambda: ShiftSplit("density", restart=1), {}, "clustering has no argument 'restart'"),
        (lambda: ShiftSplit("density"), {"edge_index": None}, "data: has no edges"),
        (lambda: ShiftSplit("density"), {"x": torch.ones(300)}, "x: has 1 axes"),
        (lambda: ShiftSplit("feature"), {"x": None}, "features"),
        (lambda: ShiftSplit(np.ones(7)), {}, "300"),
    ],
)
def test_what_cannot_be_split_is_told_in_one_line(graph, transform, change, told):
    data = to_pyg(graph)
    for key, value in change.items():
        data[key] = value
    with pytest.raises(InputError, match=told) as caught:
        transform()(data)
    assert "\n" not in str(caught.value)


def test_graphs_of_several_kinds_of_nodes_are_refused():
    data = HeteroData()
    data["a"].x, data["a", "to", "a"].edge_index = torch.ones(2, 1), torch.zeros(2, 1, dtype=int)
    with pytest.raises(InputError, match="data: has no edges"):
        ShiftSplit("density")(data)


@settings(max_examples=30, deadline=None)
@given(sigma=st.lists(st.integers(0, 4), min_size=20, max_size=40), ratio=st.sampled_from([40, 50]))
def test_own_values_and_functions_are_taken(sigma, ratio):
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], len(sigma))
    data, own = to_pyg(graph), np.array(sigma, float)
    for what in (own, lambda _: own, torch.from_numpy(own)):
        split = ShiftSplit(what, ratio=ratio).split(data)
        expected = shift_split(graph, own, ratio=ratio)
        for part, index in expected.parts.items():
            np.testing.assert_array_equal(split[part], index)
