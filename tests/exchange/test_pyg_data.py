"""``Data`` of PyG: there and back, every way to say the same, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from drawn import graphs, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from graphgauge.errors import InputError
from graphgauge.exchange import from_pyg, split_from_pyg
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.pyg import to_pyg

ENDS = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 2]])
MATRIX = [[0, 1, 0], [1, 0, 1], [0, 0, 1]]
X = [[0.5, 0.0], [0.0, 0.0], [2.0, 1.0]]
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch warns of what is made here
    ADJ_COO = torch.tensor(MATRIX, dtype=torch.float32).T.to_sparse_coo()
    ADJ_CSR = torch.tensor(MATRIX, dtype=torch.float64).T.contiguous().to_sparse_csr()
    X_COO = torch.tensor(X).to_sparse_coo()
    X_REPEATED = torch.sparse_coo_tensor(
        [[2, 2, 0, 0], [0, 1, 0, 0]], [2.0, 1.0, 0.25, 0.25], (3, 2)
    )
    X_CSR = torch.tensor(X).to_sparse_csr().requires_grad_()
    X_CSC = torch.tensor(X).to_sparse_csc()
    X_HYBRID = torch.ones(3, 2, 2).to_sparse_coo()


@settings(max_examples=100, deadline=None)
@given(graph=graphs())
def test_there_and_back(graph):
    data = to_pyg(graph)
    again = from_pyg(data, name=graph.name)
    assert again.fingerprint == graph.fingerprint
    assert again.name == graph.name
    assert data.num_nodes == graph.n_nodes
    assert ("edge_weight" in data) == bool((graph.adjacency.data != 1).any())
    np.testing.assert_array_equal(rows_of(again), rows_of(graph))
    if graph.features is not None:
        assert sp.issparse(again.features) == sp.issparse(graph.features)
    assert (again.labels is None) == (graph.labels is None)


@pytest.mark.parametrize(
    "content",
    [
        {"edge_index": ENDS},
        {"edge_index": ENDS.to(torch.int32), "edge_attr": torch.rand(4, 3), "pos": None},
        {"edge_index": ENDS[:, [3, 1, 2, 0, 0, 3]]},
        {"edge_index": ENDS.to(torch.float64), "edge_weight": torch.ones(4, requires_grad=True)},
        {"edge_index": ENDS, "edge_weight": torch.tensor([1, 1, 1, 1])},
        {"adj_t": torch.tensor(MATRIX).T},
        {"adj_t": ADJ_COO},
        {"adj_t": ADJ_CSR},
        {"adj_t": sp.csr_array(MATRIX).T},
    ],
    ids=[
        "plain", "others", "repeated", "floats", "weights", "dense", "coo", "csr", "scipy",
    ],
)  # fmt: skip
def test_edges_are_read_alike_however_they_are_given(content):
    assert from_pyg(Data(num_nodes=3, **content)).adjacency.toarray().tolist() == MATRIX


def test_weights_of_repeated_edges_add_up():
    data = Data(edge_index=ENDS[:, [0, 0, 3]], edge_weight=torch.tensor([2.0, 3.0, -1.0]))
    data.num_nodes = 3
    assert from_pyg(data).adjacency.toarray().tolist() == [[0, 5, 0], [0, 0, 0], [0, 0, -1]]


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(X),
        torch.tensor(X, requires_grad=True),
        torch.tensor(X, dtype=torch.float16),
        torch.tensor(X, dtype=torch.bfloat16),
        X_COO,
        X_REPEATED,
        X_CSR,
        sp.csr_array(X),
        np.array(X),
        X,
    ],
    ids=lambda x: str(getattr(x, "dtype", "list")),
)
def test_features_are_read_alike_however_they_are_given(x):
    assert rows_of(from_pyg(SimpleNamespace(x=x, edge_index=ENDS))).tolist() == X


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (torch.tensor([1, 0, -1]), [1, 0, -1]),
        (torch.tensor([[1], [0], [2]]), [1, 0, 2]),
        (torch.tensor([1.0, float("nan"), 0.0]), [1, -1, 0]),
        (torch.tensor([True, False, True]), [1, 0, 1]),
        ([2, 1, 0], [2, 1, 0]),
    ],
)
def test_classes_are_read_alike_however_they_are_given(y, labels):
    assert from_pyg(Data(edge_index=ENDS, y=y)).labels.tolist() == labels
    other = Data(edge_index=ENDS, y=torch.zeros(2), topic=y, num_nodes=3)
    assert from_pyg(other, label="topic").labels.tolist() == labels
    assert from_pyg(other, label="").labels is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({}, r"data: has no edges \(neither edge_index nor adj_t\)"),
        ({"edge_index": ENDS}, "data: does not say how many nodes it has; set num_nodes"),
        ({"edge_index": ENDS, "num_nodes": -1}, "-1 nodes are no number of nodes"),
        ({"edge_index": ENDS.T, "num_nodes": 3}, r"edges: has shape \(2, 4\), expected pairs"),
        ({"edge_index": ENDS.flatten(), "num_nodes": 3}, "edge_index: has 1 axes"),
        ({"edge_index": ENDS + 0.5, "num_nodes": 3}, "edge_index: 2 rows are not whole numbers"),
        ({"edge_index": ENDS, "num_nodes": 2}, r"edges: 2 rows point outside nodes 0..1 \(rows 2"),
        ({"edge_index": -ENDS, "num_nodes": 3}, "edges: 4 rows point outside"),
        ({"edge_index": "all", "num_nodes": 3}, "edge_index: holds <U3 values, expected numbers"),
        ({"edge_index": [[0, 1], [1]], "num_nodes": 3}, "edge_index: cannot be read as an array"),
        ({"edge_index": ENDS, "edge_weight": torch.ones(3), "num_nodes": 3},
         "edges has 4 rows, weight has 3"),
        ({"edge_index": ENDS, "edge_weight": torch.ones(4, 1), "num_nodes": 3},
         "weight: has 2 axes"),
        ({"edge_index": ENDS, "edge_weight": torch.tensor([1, 0, 1, 1]), "num_nodes": 3},
         r"weight: 1 row is zero \(row 1\)"),
        ({"edge_index": ENDS, "edge_weight": torch.tensor([1, 1, torch.inf, 1]), "num_nodes": 3},
         r"weight: 1 row is not finite \(row 2\)"),
        ({"edge_index": ENDS[:, [0, 0]], "edge_weight": torch.tensor([1, -1]), "num_nodes": 3},
         "several edges between two nodes add up to zero"),
        ({"edge_index": ENDS, "x": torch.ones(3)}, r"x: has 1 axes \(shape \(3,\)\), expected 2"),
        ({"edge_index": ENDS, "x": torch.tensor(1.0)}, "x: has 0 axes"),
        ({"edge_index": ENDS, "x": X_HYBRID}, "x: is sparse in a way"),
        ({"edge_index": ENDS, "x": X_CSC}, "x: is sparse in a way"),
        ({"edge_index": ENDS, "x": SimpleNamespace(storage=1, shape=(3, 2))}, "x: is sparse in a"),
        ({"edge_index": ENDS, "x": torch.full((3, 1), torch.nan)}, "x: 3 rows are not finite"),
        ({"edge_index": ENDS, "x": torch.ones(3, 1, dtype=torch.cfloat)}, "x: holds complex64"),
        ({"edge_index": ENDS, "x": torch.ones(3, 1, device="meta")}, "x: cannot be read as an"),
        ({"edge_index": ENDS, "x": "odd"}, "x: holds <U3 values"),
        ({"edge_index": ENDS, "x": torch.ones(3, 1), "y": torch.ones(2)},
         "the graph has 3 nodes, labels has 2 rows"),
        ({"edge_index": ENDS, "y": torch.ones(3, 4)}, "y: has 2 axes"),
        ({"edge_index": ENDS, "y": torch.tensor([0, 0.5, 1])}, "y: 1 row is not a whole number"),
        ({"edge_index": ENDS, "y": torch.tensor(1)}, "y: has 0 axes"),
        ({"edge_index": ENDS, "y": ["a", "b", "c"]}, "y: holds <U1 values"),
        ({"adj_t": torch.ones(3, 2)}, r"adjacency: has shape \(2, 3\), expected a square"),
        ({"adj_t": torch.ones(3)}, "adj_t: has 1 axes"),
        ({"adj_t": "odd"}, "adj_t: holds <U3 values"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(content, told):
    with pytest.raises(InputError, match=told) as caught:
        from_pyg(Data(**content))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_what_is_asked_for_and_missing_is_told():
    with pytest.raises(InputError, match="data: has no topic"):
        from_pyg(Data(edge_index=ENDS, num_nodes=3), label="topic")
    with pytest.raises(InputError, match="data: has no edges"):
        from_pyg(HeteroData())


PARTS = ("train", "valid", "test", "valid_in", "test_in", "valid_out", "test_out", "extra")


def _members(split):
    return {part: index.tolist() for part, index in split.parts.items()}


@settings(max_examples=60, deadline=None)
@given(owners=st.lists(st.sampled_from([*PARTS, ""]), min_size=1, max_size=12), data=st.data())
def test_masks_go_there_and_back_by_both_names(owners, data):
    names = np.array(owners)
    parts = {part: names == part for part in PARTS if (names == part).any()}
    split = Split(parts, len(owners))
    scheme = data.draw(st.sampled_from(["ours", "pyg"]))
    graph = Graph.from_edges(np.empty((0, 2), int), len(owners))
    made = to_pyg(graph, split, names=scheme)
    assert all(made[key].dtype == torch.bool for key in made.keys() if "mask" in key)  # noqa: SIM118
    again = split_from_pyg(made)
    assert (again is None) == (not parts)
    if again is not None:
        assert _members(again) == _members(split)


def test_masks_of_the_usual_names_and_of_shifts():
    true, false = torch.tensor([True, False]), torch.tensor([False, True])
    usual = split_from_pyg(Data(train_mask=true, val_mask=false))
    assert list(usual.parts) == ["train", "valid"]
    both = Data(train_mask=true, val_mask=false, id_train_mask=false, ood_val_mask=true)
    with pytest.raises(InputError, match="several masks are of part train: say which"):
        split_from_pyg(both)
    shift = split_from_pyg(both, masks=["id_train_mask", "ood_val_mask"])
    assert _members(shift) == {"train": [1], "valid_out": [0]}
    assert split_from_pyg(Data(x=torch.ones(2, 1))) is None
    assert split_from_pyg(Data(train_mask=true, val_mask=true & false)).parts.keys() == {"train"}


def test_one_of_several_splits_is_chosen_by_its_column():
    masks = torch.tensor([[True, False], [False, True], [False, False]])
    data = Data(train_mask=masks, test_mask=masks.roll(1, 0))
    assert split_from_pyg(data, column=1)["train"].tolist() == [1]
    for column in (None, 2, -1):
        with pytest.raises(InputError, match=r"mask: has 2 columns; say which \(column\)"):
            split_from_pyg(data, column=column)


@pytest.mark.parametrize(
    ("masks", "told"),
    [
        ({"train_mask": torch.tensor([0, 2])}, "train_mask: expected true or false a node, got"),
        ({"train_mask": torch.tensor(True)}, "train_mask: expected true or false a node"),
        ({"train_mask": "all"}, "train_mask: expected true or false a node"),
        ({"train_mask": [[True], [True, False]]}, "train_mask: cannot be read as an array"),
        ({"train_mask": torch.tensor([True]), "test_mask": torch.tensor([True, False])}, "shape"),
        ({"train_mask": torch.tensor([True]), "test_mask": torch.tensor([True])}, "overlap in 1"),
    ],
)
def test_masks_that_are_none_are_told(masks, told):
    with pytest.raises(InputError, match=told):
        split_from_pyg(Data(**masks))


def test_what_to_pyg_cannot_do_is_told():
    graph = Graph.from_edges([[0, 1]], 2)
    with pytest.raises(InputError, match="the split is of 3 items, not 2 nodes"):
        to_pyg(graph, Split({"train": [0]}, 3))
    with pytest.raises(InputError, match="'theirs' is neither 'ours' nor 'pyg'"):
        to_pyg(graph, Split({"train": [0]}, 2), names="theirs")


def test_tensors_do_not_share_memory_with_a_frozen_graph():
    graph = Graph.from_edges([[0, 1]], 2, features=np.ones((2, 1)), labels=np.zeros(2, np.int64))
    data = to_pyg(graph)
    data.x[:], data.y[:], data.edge_index[:] = 7, 7, 0
    assert (
        graph.fingerprint
        == Graph.from_edges([[0, 1]], 2, features=np.ones((2, 1)), labels=[0, 0]).fingerprint
    )


def test_sparse_features_cause_no_warnings():
    """Torch warns once a process of sparse tensors, so this asks a process of its own."""
    code = (
        "import warnings, numpy, scipy.sparse, torch, graphgauge.pyg as pyg; from graphgauge.graph "
        "import Graph; warnings.simplefilter('error'); eye = scipy.sparse.eye_array(3).tocsr();"
        "data = pyg.to_pyg(Graph(eye, eye)); pyg.from_pyg(data); ends = [[0, 1], [0, 1]];"
        "data.x = torch.sparse_coo_tensor(ends, [1., 1.], (3, 2), check_invariants=False);"
        "pyg.from_pyg(data)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
