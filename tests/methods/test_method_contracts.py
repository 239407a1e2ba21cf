"""What every trained method promises."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_graphs import (
    MADE,
    OF_ONE_GRAPH,
    SMALL,
    WITH_DRAWS,
    WITH_FLOWS,
    relabelled,
    small,
)

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods import NODE_METHODS, Method, Predictor, method
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions

GRAPH, SPLIT = MADE.graph, MADE.split
every_method = pytest.mark.parametrize("name", NODE_METHODS)


def contents(predictions: NodePredictions) -> list[bytes]:
    arrays = [predictions.probs, *predictions.uncertainties.values()]
    if predictions.alpha is not None:
        arrays.append(predictions.alpha)
    return [array.tobytes() for array in arrays]


@every_method
@pytest.mark.parametrize("protocol", ["corrected", "published"])
def test_same_seed_same_bits_whatever_runs_beside(name, protocol):
    made = small(name, protocol, epochs=4)
    assert isinstance(made, Method)
    first = made.fit(GRAPH, SPLIT, seed=7)
    assert isinstance(first, Predictor)
    torch.manual_seed(1)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    _ = torch.randn(50, 30) @ torch.randn(30, 20)
    state = torch.random.get_rng_state()
    second = small(name, protocol, epochs=4).fit(GRAPH, SPLIT, seed=7)
    again = second.predict(GRAPH)
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert contents(again) == contents(first.predict(GRAPH)) == contents(second.predict(GRAPH))
    other = made.fit(GRAPH, SPLIT, seed=8).predict(GRAPH)
    assert contents(other) != contents(again)


@every_method
def test_predictions_are_whole(name):
    predictions = small(name, epochs=2).fit(GRAPH, SPLIT, seed=0).predict(GRAPH)
    assert predictions.probs.shape == (GRAPH.n_nodes, 3)
    assert np.array_equal(predictions.labels, GRAPH.labels)
    assert set(predictions.uncertainties) == {"total", "data", "knowledge"}
    dirichlet = name in WITH_FLOWS or name.endswith("/en")
    assert (predictions.alpha is not None) == dirichlet
    if predictions.alpha is not None:
        assert (predictions.alpha >= 1).all()
        evidence = predictions.uncertainties["knowledge"].max() < 0
        assert evidence == name.startswith("revisiting/")
    assert not predictions.parts


@every_method
def test_labels_of_test_parts_change_nothing(name):
    hidden = np.concatenate([SPLIT[part] for part in ("test_in", "valid_out", "test_out")])
    labels = GRAPH.labels.copy()
    labels[hidden] = (labels[hidden] + 1) % 3
    other = dataclasses.replace(GRAPH, labels=labels)
    made = small(name, epochs=3)
    ours = made.fit(GRAPH, SPLIT, seed=3).predict(GRAPH)
    theirs = made.fit(other, SPLIT, seed=3).predict(other)
    assert contents(ours) == contents(theirs)


@every_method
def test_input_is_untouched(name):
    before = GRAPH.fingerprint
    parts = {part: index.copy() for part, index in SPLIT.parts.items()}
    graph = Graph(GRAPH.adjacency, GRAPH.features, GRAPH.labels)
    small(name, epochs=2).fit(graph, SPLIT, seed=0).predict(graph)
    assert Graph(graph.adjacency, graph.features, graph.labels).fingerprint == before
    assert all(np.array_equal(SPLIT[part], index) for part, index in parts.items())


@pytest.mark.parametrize("name", [name for name in NODE_METHODS if name not in OF_ONE_GRAPH])
def test_order_of_nodes_is_irrelevant_to_what_is_trained(name, rng):
    order = rng.permutation(GRAPH.n_nodes)
    moved, _ = relabelled(GRAPH, SPLIT, order)
    hyper = {"share": 0.0} if name.endswith("mcd") else {}  # its noise is part of the prediction
    trained = small(name, **hyper).fit(GRAPH, SPLIT, seed=0)
    ours, theirs = trained.predict(GRAPH), trained.predict(moved)
    assert np.allclose(ours.probs[order], theirs.probs, atol=1e-5)


@pytest.mark.parametrize("name", OF_ONE_GRAPH)
def test_what_knows_nodes_predicts_no_other_graph(name, rng):
    trained = small(name, epochs=2).fit(GRAPH, SPLIT, seed=0)
    moved, _ = relabelled(GRAPH, SPLIT, rng.permutation(GRAPH.n_nodes))
    with pytest.raises(InputError, match="edges: not those of the graph it was trained on"):
        trained.predict(moved)


@pytest.mark.parametrize("name", [name for name in NODE_METHODS if name not in WITH_DRAWS])
def test_order_of_nodes_is_irrelevant_to_training(name, rng):
    order = rng.permutation(GRAPH.n_nodes)
    moved, split = relabelled(GRAPH, SPLIT, order)
    hyper = {} if name.startswith("revisiting/") else {"share": 0.0}
    made = small(name, epochs=4, **hyper)
    ours = made.fit(GRAPH, SPLIT, seed=0).predict(GRAPH)
    theirs = made.fit(moved, split, seed=0).predict(moved)
    assert np.allclose(ours.probs[order], theirs.probs, atol=1e-3)


@every_method
def test_loss_falls_and_classes_are_found(name):
    hyper = {"epochs": 60, "rate": 1e-2, "hidden": 16}
    trained = small(name, **hyper).fit(GRAPH, SPLIT, seed=0)
    main = slice(4, 64) if name in WITH_FLOWS else slice(60)
    losses = trained.progress.train[main]
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < 0.9 * losses[0]
    predictions = trained.predict(GRAPH)
    found = predictions.probs.argmax(axis=1) == GRAPH.labels
    assert found[SPLIT["test_in"]].mean() > 0.6


@every_method
def test_sparse_and_dense_features_agree(name):
    sparse = dataclasses.replace(
        GRAPH, features=sp.csr_array(GRAPH.features * (GRAPH.features > 0.6))
    )
    dense = dataclasses.replace(sparse, features=sparse.features.toarray())
    made = small(name, epochs=3)
    ours, theirs = (made.fit(g, SPLIT, seed=0).predict(g) for g in (sparse, dense))
    assert np.allclose(ours.probs, theirs.probs, atol=1e-4)


def test_a_split_without_shift_will_do():
    split = Split({"train": SPLIT["train"], "valid": SPLIT["valid_in"]}, GRAPH.n_nodes)
    made = method("shifts/erm", **SMALL)
    ours = made.fit(GRAPH, split, seed=0).predict(GRAPH)
    assert contents(ours) == contents(made.fit(GRAPH, SPLIT, seed=0).predict(GRAPH))


def test_what_cannot_be_trained_is_told():
    made = method("revisiting/mlp")
    with pytest.raises(InputError, match="no features"):
        made.fit(dataclasses.replace(GRAPH, features=None), SPLIT, seed=0)
    with pytest.raises(InputError, match="to train or validate on have none"):
        made.fit(dataclasses.replace(GRAPH, labels=None), SPLIT, seed=0)
    with pytest.raises(InputError, match="more nodes than the graph has"):
        made.fit(Graph.from_edges([[0, 1]], 3, features=np.eye(3)), SPLIT, seed=0)
    with pytest.raises(InputError, match="no part 'valid'"):
        made.fit(GRAPH, Split({"train": [0, 1]}, GRAPH.n_nodes), seed=0)
    trained = small("revisiting/mlp", epochs=1).fit(GRAPH, SPLIT, seed=0)
    with pytest.raises(InputError, match="has 1 columns, trained on 16"):
        trained.predict(dataclasses.replace(GRAPH, features=np.ones((GRAPH.n_nodes, 1))))
    with pytest.raises(InputError, match="device 'abacus' cannot be used"):
        method("revisiting/mlp", device="abacus").fit(GRAPH, SPLIT, seed=0)


def test_names_and_arguments_are_checked():
    with pytest.raises(InputError, match="unknown method 'shifts/emr'; did you mean shifts/erm"):
        method("shifts/emr")
    with pytest.raises(InputError, match="expected one of: revisiting/mlp"):
        method("")
    with pytest.raises(InputError, match="protocol: 'printed' is not one of"):
        method("shifts/erm", protocol="printed")
    with pytest.raises(InputError, match="no hyper-parameter 'zzz'"):
        method("shifts/erm", zzz=3)
    assert all(method(name).version for name in NODE_METHODS)
