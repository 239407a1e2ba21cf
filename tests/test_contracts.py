"""Every metric keeps every contract, and has an oracle somewhere in the suite."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphgauge.checks import CHECKS, check_metric
from graphgauge.metrics import METRICS, Needs

# Where each metric is held against code that shares none with it. A metric without a line here
# fails the suite; so does a line whose test is gone.
ORACLES = {
    "accuracy": "metrics/test_proper.py::test_scikit_learn",
    "balanced_accuracy": "metrics/test_proper.py::test_scikit_learn",
    "nll": "metrics/test_proper.py::test_scikit_learn",
    "brier": "metrics/test_proper.py::test_brier_counts_every_class_of_every_item",
    "ece": "metrics/test_calibration.py::test_netcal_and_torchmetrics",
    "ece50": "metrics/test_calibration.py::test_normalised_over_those_kept",
    "classwise_ece": "metrics/test_calibration.py::test_classwise_is_the_mean_of_binary_errors",
    "debiased_ece": "metrics/test_calibration.py::test_unbiased_square_of_kumar_and_others",
    "mce": "metrics/test_calibration.py::test_netcal_and_torchmetrics",
    "smooth_ece": "metrics/test_smooth.py::test_relplot",
    "homophily": "metrics/test_edgewise.py::test_homophily_of_networkx",
    "k_index": "metrics/test_edgewise.py::test_k_index_counts_nodes_with_a_neighbour",
    "prr": "metrics/test_selective.py::test_equals_a_loop_without_ties",
    "auprc": "metrics/test_selective.py::test_equals_a_loop_without_ties",
    "aurc": "metrics/test_selective.py::test_equals_a_loop_without_ties",
    "augrc": "metrics/test_selective.py::test_augrc_is_a_function_of_accuracy_and_auroc",
    "coverage_at_risk": "metrics/test_selective.py::test_coverage_at_risk_tries_every_threshold",
    "auroc": "metrics/test_ood.py::test_areas_equal_scikit_learn",
    "aupr": "metrics/test_ood.py::test_areas_equal_scikit_learn",
    "separability": "metrics/test_ood.py::test_separability_loses_half_of_the_pairs_that_tie",
    "fpr_at_tpr": "metrics/test_ood.py::test_fpr_equals_the_full_roc_curve",
    "mrr": "metrics/test_ranking.py::test_mrr_equals_ogb",
    "hits": "metrics/test_ranking.py::test_hits_equal_ogb",
    "mean_rank": "metrics/test_ranking.py::test_values_equal_loops_over_pairs",
    "auc": "metrics/test_ranking.py::test_auc_of_shared_negatives_equals_scikit_learn",
    "adjusted_mrr": "metrics/test_ranking.py::test_adjusted_values_equal_exact_fractions",
    "adjusted_hits": "metrics/test_ranking.py::test_adjusted_values_equal_exact_fractions",
    "adjusted_mean_rank": "metrics/test_ranking.py::test_adjusted_values_equal_exact_fractions",
    "mrr_spread": "metrics/test_ranking.py::test_spread_is_what_ties_can_change",
    "hits_spread": "metrics/test_ranking.py::test_spread_is_what_ties_can_change",
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(METRICS[name])


def _wrong(function, **facts):
    return replace(METRICS["accuracy"], name="accuracy", compute=function, **facts)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (_wrong(lambda o: 2.0), "out of range"),
        (_wrong(lambda o: float(np.random.default_rng().random())), "and then"),
        (_wrong(lambda o: float(o.correct[0]) if len(o) > 0 else np.nan), "becomes|weighted"),
        (_wrong(lambda o: float(o.correct.mean()) if len(o) > 0 else 0.0), "of nothing|weighted"),
        (_wrong(lambda o: o.correct.mean() if len(o) > 0 else np.nan), "weighted"),
        (replace(METRICS["accuracy"], definition=" "), "blank"),
        (replace(METRICS["accuracy"], low=2.0), "empty range"),
    ],
)
def test_a_broken_metric_is_caught(broken, told):
    with pytest.raises(AssertionError, match=told):
        check_metric(broken)


def test_a_metric_that_writes_into_its_input_is_caught():
    def scribble(score, ood, *, positive="ood"):
        score[:] = 0
        return 0.5

    with pytest.raises(ValueError, match="read-only"):
        check_metric(replace(METRICS["auroc"], compute=scribble))


def test_needs_are_all_covered():
    assert {card.needs for card in METRICS.values()} == set(Needs)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_an_oracle(name):
    assert name in ORACLES, f"{name}: hold it against independent code and name the test here"
    file, _, test = ORACLES[name].partition("::")
    tree = ast.parse((Path(__file__).parent / file).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert test in functions, f"{name}: {file} has no {test}"
