"""Figures of the edgewise paper and outputs of its authors' code."""

from __future__ import annotations

import io
import json
import pickle

import numpy as np
import pytest
from scipy.special import softmax

from graphgauge.graph import undirected_edges
from graphgauge.metrics.bins import bin_outcomes
from graphgauge.metrics.calibration import classwise_ece, ece, ece_above_half
from graphgauge.metrics.edgewise import agreeing, edge_outcomes, edges_within, homophily, k_index
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.proper import accuracy, brier, nll

SCHEMES = {"width": "equal_width", "mass": "uniform_mass"}
SCOPES = ("nodewise", "edgewise", "agree", "disagree")


@pytest.fixture(scope="module")
def cora(golden):
    """Outcomes of a trained GCN on Cora's test part: nodes, edges, agreeing, disagreeing."""
    with np.load(golden / "calib" / "cora_gcn_s0f0.npz") as stored:
        arrays = dict(stored)
    probs = softmax(arrays["logits"].astype(np.float64), axis=1)
    labels, test = arrays["labels"].astype(np.int64), arrays["test_mask"]
    edges = undirected_edges(arrays["edge_index"].T.astype(np.int64), len(probs))
    edges = edges[edges_within(edges, test)]
    nodes, same = Outcomes.of_nodes(probs, labels), agreeing(edges, labels)
    on_edges = edge_outcomes(nodes, edges)
    scopes = (nodes.take(test), on_edges, on_edges.take(same), on_edges.take(~same))
    return {
        "probs": probs,
        "labels": labels,
        "test": test,
        "edges": edges,
        "arrays": arrays,
        **dict(zip(SCOPES, scopes, strict=True)),
    }


@pytest.fixture(scope="module")
def reference(golden):
    return json.loads((golden / "calib" / "cora_gcn_s0f0.metrics.json").read_text())


def both_directions(outcomes, scope):
    """The authors count each edge in both directions, which moves boundaries of equal mass."""
    return outcomes if scope == "nodewise" else outcomes.weighted(np.full(len(outcomes), 2.0))


class TestTrainedGcnOnCora:
    @pytest.mark.parametrize("scope", SCOPES)
    def test_proper_scores(self, cora, reference, scope):
        for name, metric in (("acc", accuracy), ("nll", nll), ("brier", brier)):
            assert metric(cora[scope]) == pytest.approx(
                reference[f"float64/{scope}/{name}"], abs=1e-9
            )

    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("scheme", SCHEMES)
    @pytest.mark.parametrize("bins", [10, 15, 20])
    @pytest.mark.parametrize("norm", [1, 2])
    def test_ece(self, cora, reference, scope, scheme, bins, norm):
        outcomes = both_directions(cora[scope], scope)
        found = ece(outcomes, bins=bins, scheme=scheme, closed="left", norm=norm)
        expected = reference[f"float64/{scope}/{SCHEMES[scheme]}/bins{bins}/norm{norm}/ece"]
        assert found == pytest.approx(expected, abs=1e-9)
        if scheme == "width":
            # Bins of equal width do not care how often all edges are counted.
            once = ece(cora[scope], bins=bins, closed="left", norm=norm)
            assert once == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("scope", SCOPES)
    @pytest.mark.parametrize("scheme", SCHEMES)
    def test_sums_of_every_bin(self, cora, scope, scheme):
        found = bin_outcomes(both_directions(cora[scope], scope), scheme=scheme, closed="left")
        stored = f"rel_float64_{scope}_{SCHEMES[scheme]}"
        for sums, name in (
            (found.mass, "count"),
            (found.confidence, "confsum"),
            (found.hits, "corrsum"),
        ):
            np.testing.assert_allclose(sums, cora["arrays"][f"{stored}_{name}"], atol=1e-9)

    def test_classwise(self, cora, golden):
        extra = json.loads((golden / "calib" / "cora_gcn_s0f0.extra_metrics.json").read_text())
        test = cora["test"]
        found = classwise_ece(cora["probs"][test], cora["labels"][test])
        assert found == pytest.approx(extra["classwise_ece_15"], abs=1e-12)

    def test_structure(self, cora, reference):
        edges, labels, n = cora["edges"], cora["labels"], int(cora["test"].sum())
        same = agreeing(edges, labels)
        assert 2 * same.sum() == reference["n_agree"]
        assert 2 * (~same).sum() == reference["n_disagree"]
        assert homophily(edges, labels) == reference["homophily"]
        assert k_index(edges, n) == reference["K_U"]
        assert k_index(edges[same], n) == reference["K_A"]
        assert k_index(edges[~same], n) == reference["K_D"]

    @pytest.mark.parametrize("weighting", ["plain", "bal"])
    def test_ece_above_half(self, cora, golden, weighting):
        reference = json.loads((golden / "calib" / "calibrators_reference.json").read_text())
        expected = reference[f"{weighting}/uncal"]
        outcomes = cora["nodewise"]
        if weighting == "bal":
            outcomes = outcomes.balanced(cora["labels"][cora["test"]])
        assert (outcomes.confidence > 0.5).sum() == expected["n50"]
        assert ece_above_half(outcomes) == pytest.approx(expected["ece50"], abs=1e-9)
        assert ece(outcomes) == pytest.approx(expected["ece"], abs=1e-9)
        for name, metric in (("acc", accuracy), ("nll", nll), ("brier", brier)):
            assert metric(outcomes) == pytest.approx(expected[name], abs=1e-9)


CHAIN, CYCLE = np.array([[0, 1], [1, 2]]), np.array([[0, 1], [0, 2], [1, 2]])
# Appendix A: three predictions of "blue" for nodes that are white, blue, blue.
TOY = [
    ((0.0, 1.0, 1.0), 0, 0, 0),
    ((2 / 3, 2 / 3, 2 / 3), 0, 1 / 18, 1 / 9),
    ((0.55, 0.8, 0.7), 2.05 / 3 - 2 / 3, 0, 1.385 / 3 - 1 / 3),
]


class TestChainAndCycle:
    @pytest.mark.parametrize(("blue", "node", "chain", "cycle"), TOY)
    def test_printed_values(self, blue, node, chain, cycle):
        blue = np.array(blue)
        nodes = Outcomes.of_nodes(np.stack([1 - blue, blue], axis=1), np.array([0, 1, 1]))
        assert ece(nodes, bins=1) == pytest.approx(node, abs=1e-12)
        assert ece(edge_outcomes(nodes, CHAIN), bins=1) == pytest.approx(chain, abs=1e-12)
        assert ece(edge_outcomes(nodes, CYCLE), bins=1) == pytest.approx(cycle, abs=1e-12)

    def test_stored_values(self, golden):
        stored = json.loads((golden / "calib" / "toy_chain_cycle.json").read_text())
        assert len(stored) == 6
        for key, expected in stored.items():
            told, shape = key.rsplit("/", 1)
            blue = np.array([float(p) for p in told.strip("()").split(",")])
            nodes = Outcomes.of_nodes(np.stack([1 - blue, blue], axis=1), np.array([0, 1, 1]))
            edges = edge_outcomes(nodes, CHAIN if shape == "chain" else CYCLE)
            for scope, outcomes in (("node", nodes), ("edge", edges)):
                assert ece(outcomes, bins=1) == pytest.approx(expected[f"{scope}_ece"], abs=1e-15)
                for name, metric in (("acc", accuracy), ("nll", nll), ("brier", brier)):
                    assert metric(outcomes) == pytest.approx(expected[f"{scope}_{name}"], abs=1e-15)


# All that Planetoid's files name; the list is what the dictionary of neighbours makes for itself.
ADMITTED = {
    ("__builtin__", "list"),
    ("collections", "defaultdict"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
}


class Restricted(pickle.Unpickler):
    """Opens what Planetoid's files hold and nothing else."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"{module}.{name} is not expected here")
        # NumPy 2 moved its core; the old name still works, with a warning.
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def planetoid(folder, name):
    """Unique edges and labels of a Planetoid graph, in its usual order of nodes."""

    def load(what):
        raw = (folder / f"ind.{name}.{what}").read_bytes()
        return Restricted(io.BytesIO(raw), encoding="latin1").load()

    links, ally, ty = load("graph"), load("ally"), load("ty")
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=int)
    one_hot = np.zeros((max(len(links), test.max() + 1), ally.shape[1]), int)
    one_hot[: len(ally)] = ally
    one_hot[np.sort(test)] = ty[np.argsort(test)]
    pairs = np.array([(u, v) for u, targets in links.items() for v in targets])
    edges = undirected_edges(pairs, len(one_hot))
    return edges, one_hot.argmax(axis=1)


# Table 2: edges in both directions, homophily, K of all, agreeing and disagreeing edges; mean and
# spread over the five splits, in percent.
TABLE_2 = {
    "cora": (10556, "80.63 0.81", "92.42 0.37", "84.96 0.67", "28.77 0.99"),
    "citeseer": (9104, "72.63 0.83", "85.91 0.78", "68.21 0.82", "33.76 0.33"),
    "pubmed": (88648, "80.38 0.28", "85.97 0.85", "74.80 0.74", "29.12 0.52"),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2_digit_for_digit(data_dir, golden, name):
    edges, labels = planetoid(data_dir / "planetoid", name)
    stored = json.loads((golden / "calib" / "split_stats.json").read_text())[name.capitalize()]
    assert 2 * len(edges) == TABLE_2[name][0] == stored["edges_directed"]
    assert len(labels) == stored["nodes"]
    rows = []
    with np.load(data_dir / "splits" / "structured-uncertainty" / f"{name}.npz") as splits:
        for i in range(5):
            part = np.zeros(len(labels), bool)
            part[splits[f"split{i}_test"]] = True
            within = edges[edges_within(edges, part)]
            same = agreeing(within, labels)
            kept = [k_index(chosen, part.sum()) for chosen in (within, within[same], within[~same])]
            rows.append([homophily(within, labels), *kept])
    found = 100 * np.array(rows)
    np.testing.assert_allclose(found[:, 0], stored["homophily"], rtol=1e-13)
    np.testing.assert_allclose(found[:, 1:], stored["K"], rtol=1e-13)
    printed = [
        f"{m:.2f} {s:.2f}" for m, s in zip(found.mean(axis=0), found.std(axis=0), strict=True)
    ]
    assert tuple(printed) == TABLE_2[name][1:]


def test_the_unpickler_admits_nothing_else():
    with pytest.raises(pickle.UnpicklingError, match="not expected"):
        Restricted(io.BytesIO(pickle.dumps(json.loads))).load()
