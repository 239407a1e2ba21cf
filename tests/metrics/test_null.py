"""Null bands against loops over redrawn labels, exact expectations and their own coverage."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.metrics import proper
from graphgauge.metrics.calibration import BIN_ACCURACY, CARDS, ece
from graphgauge.metrics.edgewise import agreeing, joint_outcomes
from graphgauge.metrics.null import (
    NULL_METRICS,
    SCOPES,
    Band,
    draw_labels,
    has_null,
    null_bands,
    reading,
)
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.redraw import column_widths
from graphgauge.metrics.tallies import JointEdges

ECE = CARDS[0]
BY_NAME = {card.name: card for card in NULL_METRICS}


def random_graph(rng, n, n_edges, n_classes, sharpness=0.6):
    """Probabilities of n nodes and unique edges among them."""
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    edges = pairs[rng.choice(len(pairs), n_edges, replace=False)]
    return rng.dirichlet(np.full(n_classes, sharpness), n), edges


def node_rng(seed):
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])


def scoped(probs, edges, labels):
    """Outcomes of every scope for one set of labels."""
    nodes = Outcomes.of_nodes(probs, labels)
    on_edges, same = nodes.ends(edges), agreeing(edges, labels)
    return {
        "node": nodes,
        "balanced": nodes.balanced(labels),
        "edge": on_edges,
        "agree": on_edges.take(same),
        "disagree": on_edges.take(~same),
    }


def every_variant():
    """All cards with all their parameters varied."""
    for card in NULL_METRICS:
        for scheme, closed, norm, bins in itertools.product(
            ("width", "mass"), ("right", "left"), (1, 2), (4, 15)
        ):
            params = {"scheme": scheme, "closed": closed, "norm": norm, "bins": bins}
            yield card.bind(**{k: v for k, v in params.items() if k in card.defaults})


VARIANTS = list({card.label: card for card in every_variant()}.values())


class TestAgainstMetricsOnTheSameLabels:
    """The tallies take a shortcut; the metrics on each label set by itself are the truth."""

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_all_metrics_in_all_scopes(self, rng, dtype):
        probs, edges = random_graph(rng, 60, 150, 4)
        # Round half the nodes, so that confidences tie and lie on the edges of bins.
        probs[:30] = rng.multinomial(15, probs[:30]) / 15
        probs = probs.astype(dtype)
        nodes = [card for card in VARIANTS if card.name != "classwise_ece"]
        asked = {"node": VARIANTS, **dict.fromkeys(SCOPES[1:], nodes)}
        bands = null_bands(probs, edges, metrics=asked, n_draws=6, seed=3)
        assert len(bands) == len(VARIANTS) + 4 * len(nodes)
        drawn = draw_labels(probs, 6, node_rng(3)).astype(int)
        for d, labels in enumerate(drawn.T):
            outcomes = scoped(probs, edges, labels)
            for (scope, label), band in bands.items():
                card = next(card for card in VARIANTS if card.label == label)
                given = (probs, labels) if card.name == "classwise_ece" else (outcomes[scope],)
                expected = card(*given)
                assert band.draws[d] == pytest.approx(expected, abs=1e-6, nan_ok=True), (
                    scope,
                    label,
                )

    def test_labels_drawn_block_by_block(self, rng, monkeypatch):
        probs, edges = random_graph(rng, 50, 90, 3)
        monkeypatch.setattr("graphgauge.metrics.redraw._COLUMN_BYTES", 500)
        monkeypatch.setattr("graphgauge.metrics.redraw._BLOCK", 40)
        widths = column_widths(50, 37, 3)
        assert widths == [10, 9, 9, 9]
        bands = null_bands(probs, edges, n_draws=37, seed=8)
        stream = node_rng(8)
        drawn = np.concatenate([draw_labels(probs, w, stream) for w in widths], axis=1)
        for d, labels in enumerate(drawn.T.astype(int)):
            outcomes = scoped(probs, edges, labels)
            for (scope, label), band in bands.items():
                card = BY_NAME[label.partition("(")[0]]
                given = (probs, labels) if card.name == "classwise_ece" else (outcomes[scope],)
                assert band.draws[d] == pytest.approx(card(*given), abs=1e-9, nan_ok=True)

    def test_moving_boundaries_of_equal_mass_on_many_edges(self, rng):
        # Beyond 4096 different confidences a boundary that moves with the draw falls into a cell,
        # and the cell is shared out: close to the metric, and to neither side of it.
        probs = rng.dirichlet(np.full(5, 0.5), 3000)
        edges = np.unique(np.sort(rng.integers(0, 3000, (20_000, 2)), axis=1), axis=0)
        edges = edges[edges[:, 0] != edges[:, 1]]
        card = ECE.bind(scheme="mass")
        bands = null_bands(probs, edges, metrics=[card], n_draws=40, seed=4)
        errors = {scope: [] for scope in ("node", "edge", "agree", "disagree")}
        for d, labels in enumerate(draw_labels(probs, 40, node_rng(4)).T.astype(int)):
            outcomes = scoped(probs, edges, labels)
            for scope, found in errors.items():
                found.append(bands[scope, card.label].draws[d] - card(outcomes[scope]))
        for scope in ("node", "edge"):
            assert np.abs(errors[scope]).max() < 1e-12
        for scope in ("agree", "disagree"):
            spread = bands[scope, card.label].draws.std()
            assert np.abs(errors[scope]).max() < 0.3 * spread
            assert abs(np.mean(errors[scope])) < 0.05 * spread

    def test_many_classes(self, rng):
        # 2 * 300 codes do not fit into a byte.
        probs, edges = random_graph(rng, 40, 80, 300, sharpness=0.01)
        bands = null_bands(probs, edges, metrics=[ECE], n_draws=5, seed=1)
        drawn = draw_labels(probs, 5, node_rng(1))
        assert drawn.dtype == np.uint16
        for d, labels in enumerate(drawn.T.astype(int)):
            for scope, outcomes in scoped(probs, edges, labels).items():
                if scope != "balanced":
                    assert bands[scope, ECE.label].draws[d] == pytest.approx(
                        ece(outcomes), nan_ok=True
                    )

    def test_a_point_of_a_reliability_curve(self, rng):
        probs, edges = random_graph(rng, 50, 90, 3)
        card = BIN_ACCURACY.bind(bin=2, bins=3)
        bands = null_bands(probs, edges, metrics=[card], n_draws=6, seed=2)
        for d, labels in enumerate(draw_labels(probs, 6, node_rng(2)).T.astype(int)):
            for scope, outcomes in scoped(probs, edges, labels).items():
                if scope != "balanced":
                    assert bands[scope, card.label].draws[d] == pytest.approx(card(outcomes))

    def test_a_part_is_the_induced_graph(self, rng):
        probs, edges = random_graph(rng, 60, 200, 4)
        part = rng.random(60) < 0.6
        place = np.cumsum(part) - 1
        within = part[edges].all(axis=1)
        alone = null_bands(probs[part], place[edges[within]], n_draws=9)
        for given in (part, np.flatnonzero(part)):
            for key, band in null_bands(probs, edges, part=given, n_draws=9).items():
                np.testing.assert_array_equal(band.draws, alone[key].draws)


class TestDistribution:
    def test_loop_with_its_own_generator(self, rng):
        """One label at a time from NumPy's choice: the same law, draw for draw independent."""
        probs, edges = random_graph(rng, 40, 80, 3)
        looped = {scope: [] for scope in ("node", "edge", "agree", "disagree")}
        for _ in range(400):
            labels = np.array([rng.choice(3, p=p) for p in probs])
            outcomes = scoped(probs, edges, labels)
            for scope, values in looped.items():
                values.append(ece(outcomes[scope]))
        bands = null_bands(probs, edges, metrics=[ECE], n_draws=2000)
        for scope, values in looped.items():
            draws = bands[scope, ECE.label].draws
            assert stats.ks_2samp(draws, values).pvalue > 0.01

    def test_one_confidence_is_a_binomial(self):
        # Thirty nodes at 0.7: ECE is |hits/30 - 0.7|, hits binomial.
        n, draws = 30, 20_000
        probs = np.tile([0.7, 0.2, 0.1], (n, 1))
        values = null_bands(probs, metrics=[ECE], n_draws=draws)["node", ECE.label].draws
        hits = np.arange(n + 1)
        gaps, chances = np.abs(hits / n - 0.7).round(9), stats.binom.pmf(hits, n, 0.7)
        for gap in np.unique(gaps):
            expected = chances[gaps == gap].sum()
            spread = np.sqrt(expected * (1 - expected) / draws)
            assert abs((values.round(9) == gap).mean() - expected) < 5 * spread + 1e-9

    def test_edges_that_share_a_node_depend_on_each_other(self):
        # A star: all leaves are right for sure, so that every edge is right with its centre.
        probs = np.vstack([[0.6, 0.4], np.tile([1.0, 0.0], (50, 1))])
        edges = np.stack([np.zeros(50, int), np.arange(1, 51)], axis=1)
        values = null_bands(probs, edges, metrics=[ECE], n_draws=2000)["edge", ECE.label].draws
        assert set(values.round(6)) == {0.4, 0.6}
        assert (values.round(6) == 0.4).mean() == pytest.approx(0.6, abs=0.05)

    def test_exact_expectations_of_agreement(self):
        # Two nodes, one edge: the law of (right, agree) is known in full.
        probs = np.array([[0.5, 0.3, 0.2], [0.6, 0.1, 0.3]])
        edges, draws = np.array([[0, 1]]), 20_000
        bands = null_bands(probs, edges, metrics=[ECE], n_draws=draws)
        agree = (probs[0] * probs[1]).sum()
        right = 0.5 * 0.6
        spread = 4 / np.sqrt(draws)
        on_agree = bands["agree", ECE.label].draws
        assert (~np.isnan(on_agree)).mean() == pytest.approx(agree, abs=spread)
        assert (np.abs(on_agree - (1 - right)) < 1e-9).mean() == pytest.approx(right, abs=spread)
        # Disagreeing edges are never right here: the confident pair agrees.
        on_disagree = bands["disagree", ECE.label].draws
        held = on_disagree[~np.isnan(on_disagree)]
        np.testing.assert_allclose(held, right)
        assert len(held) / draws == pytest.approx(1 - agree, abs=spread)

    def test_debiased_square_is_zero_on_average(self, rng):
        # Equal confidences within a bin: the mean over redraws is the true error, zero.
        probs = np.repeat([[0.9, 0.1], [0.6, 0.4]], 20, axis=0)
        card = BY_NAME["debiased_ece"].bind(norm=2)
        draws = null_bands(probs, metrics=[card], n_draws=20_000)["node", card.label].draws
        assert abs(draws.mean()) < 4 * draws.std() / np.sqrt(len(draws))

    def test_a_sure_model_has_no_band(self):
        probs, edges = np.eye(3)[[0, 1, 2, 0]], np.array([[0, 3], [0, 1]])
        for band in null_bands(probs, edges, n_draws=20).values():
            assert set(band.draws) == {0.0}
            assert band.p_value(0.0) == 1.0


class TestJointMarginals:
    def joint(self, rng, n_edges, n_classes=3):
        return rng.dirichlet(np.full(n_classes**2, 0.5), n_edges).reshape(-1, n_classes, n_classes)

    @pytest.mark.parametrize("argmax", ["joint", "node"])
    def test_each_edge_draws_right_and_agree_from_its_own_table(self, rng, argmax):
        joint, draws = self.joint(rng, 12), 40_000
        edges = JointEdges(joint, rng, argmax)
        right, agree = edges.draw(np.empty((2, draws), np.uint8), slice(0, 12))
        pairs = [
            table.argmax()
            if argmax == "joint"
            else 3 * table.sum(1).argmax() + table.sum(0).argmax()
            for table in joint
        ]
        order = np.argsort([table.flat[pair] for table, pair in zip(joint, pairs, strict=True)])
        for row, e in enumerate(order):
            a, b = divmod(pairs[e], 3)
            chance = joint[e, a, b]
            for event, expected in (
                (right[row], chance),
                (agree[row], np.trace(joint[e])),
                (right[row] & agree[row], chance * (a == b)),
                (right[row] & ~agree[row], chance * (a != b)),
            ):
                spread = np.sqrt(expected * (1 - expected) / draws)
                assert abs(event.mean() - expected) <= 5 * spread
            assert edges.confidence[row] == chance

    def test_loop_over_redrawn_pairs(self, rng):
        joint = self.joint(rng, 60)
        edges = np.arange(120).reshape(60, 2)
        looped = {"edge": [], "agree": [], "disagree": []}
        for _ in range(400):
            pairs = [rng.choice(9, p=table.ravel()) for table in joint]
            labels = np.stack(np.divmod(pairs, 3), axis=1).ravel()
            outcomes, same = joint_outcomes(joint, edges, labels), agreeing(edges, labels)
            looped["edge"].append(ece(outcomes))
            looped["agree"].append(ece(outcomes.take(same)))
            looped["disagree"].append(ece(outcomes.take(~same)))
        probs = np.full((120, 3), 1 / 3)
        bands = null_bands(probs, edges, edge_probs=joint, metrics=[ECE], n_draws=2000)
        for scope, values in looped.items():
            assert stats.ks_2samp(bands[scope, ECE.label].draws, values).pvalue > 0.01

    def test_products_on_a_matching_are_nodes(self, rng):
        # Without a shared node the two ways of redrawing have the same law.
        probs, edges = rng.dirichlet(np.ones(3), 80), np.arange(80).reshape(40, 2)
        joint = np.einsum("ea,eb->eab", probs[::2], probs[1::2])
        options = {"metrics": [ECE], "n_draws": 2000}
        of_nodes = null_bands(probs, edges, **options)
        of_pairs = null_bands(probs, edges, edge_probs=joint, **options)
        for scope in ("edge", "agree", "disagree"):
            draws = of_nodes[scope, ECE.label].draws, of_pairs[scope, ECE.label].draws
            assert stats.ks_2samp(*draws).pvalue > 0.01
        np.testing.assert_array_equal(
            of_nodes["node", ECE.label].draws, of_pairs["node", ECE.label].draws
        )

    def test_a_part_keeps_its_own_tables(self, rng):
        joint, edges = self.joint(rng, 30), np.arange(60).reshape(30, 2)
        part = np.repeat(rng.random(30) < 0.5, 2)
        place = np.cumsum(part) - 1
        within = part[edges].all(axis=1)
        probs = np.full((60, 3), 1 / 3)
        found = null_bands(probs, edges, edge_probs=joint, part=part, n_draws=7)
        alone = null_bands(probs[part], place[edges[within]], edge_probs=joint[within], n_draws=7)
        for key, band in found.items():
            np.testing.assert_array_equal(band.draws, alone[key].draws)


class TestDrawLabels:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_frequencies(self, dtype, rng):
        probs = rng.dirichlet(np.full(5, 0.5), 8).astype(dtype)
        labels = draw_labels(probs, 20_000, rng)
        for p, drawn in zip(probs, labels, strict=True):
            counts = np.bincount(drawn, minlength=5)
            held = p > 1e-3
            assert (
                stats.chisquare(
                    np.append(counts[held], counts[~held].sum() + 1e-9),
                    20_000 * np.append(p[held], 1 - p[held].sum() + 1e-12),
                    sum_check=False,
                ).pvalue
                > 1e-4
            )

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_a_class_of_probability_zero_is_never_drawn(self, dtype, rng):
        # Rows that sum to a little less and more than one, with zeros first, between and last.
        probs = rng.dirichlet(np.ones(6), 3000).astype(dtype)
        probs[rng.random(probs.shape) < 0.5] = 0
        probs = probs[probs.sum(axis=1) > 0]
        labels = draw_labels(probs, 50, rng)
        assert (np.take_along_axis(probs, labels.astype(int), axis=1) > 0).all()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_not_even_by_the_smallest_and_largest_random_number(self, dtype, rng):
        class Always:
            def __init__(self, number):
                self.number = number

            def random(self, shape, dtype):
                return np.full(shape, self.number, dtype)

        probs = (rng.random((5000, 6)) * rng.choice([1e-3, 1, 7], (5000, 1))).astype(dtype)
        probs[:, [0, 1, 4, 5]] *= rng.random((5000, 4)) < 0.5
        positive = probs > 0
        largest = np.nextafter(dtype(1), dtype(0))
        first, last = (draw_labels(probs, 1, Always(u))[:, 0] for u in (dtype(0), largest))
        assert (first == positive.argmax(axis=1)).all()
        assert (last == 5 - positive[:, ::-1].argmax(axis=1)).all()

    def test_rows_count_relative_to_their_sum(self, rng):
        probs = rng.dirichlet(np.ones(4), 50)
        scaled = probs * np.exp2(rng.integers(-3, 4, (50, 1)))
        first, second = (draw_labels(p, 30, np.random.default_rng(1)) for p in (probs, scaled))
        np.testing.assert_array_equal(first, second)

    def test_nodes_are_independent(self, rng):
        labels = draw_labels(np.full((20, 2), 0.5), 20_000, rng).astype(float)
        correlation = np.corrcoef(labels) - np.eye(20)
        assert np.abs(correlation).max() < 6 / np.sqrt(20_000)

    def test_types_and_one_class(self, rng):
        assert draw_labels(np.ones((3, 1)), 2, rng).tolist() == [[0, 0]] * 3
        assert draw_labels(np.full((3, 256), 1 / 256), 2, rng).dtype == np.uint8
        assert draw_labels(np.full((3, 257), 1 / 257), 2, rng).dtype == np.uint16
        assert draw_labels(np.empty((0, 3)), 2, rng).shape == (0, 2)

    def test_rows_that_sum_to_nothing_are_named(self, rng):
        probs = np.full((5000, 2), 0.5)
        probs[4321] = 0
        with pytest.raises(InputError, match=r"probs: 1 row sums to nothing \(row 4321\)"):
            draw_labels(probs, 100, rng)


class TestBand:
    def test_ranks_make_the_coverage_exact(self):
        # The value of one more model of the same kind is equally likely at each of 200 ranks; the
        # band must hold 90 % of them.
        draws = np.arange(199.0)
        band = Band.of(draws)
        assert (band.low, band.high) == (9.0, 189.0)
        assert (
            np.mean((np.arange(-0.5, 199) > band.low) & (np.arange(-0.5, 199) < band.high)) == 0.9
        )

    @pytest.mark.parametrize("n_draws", [1, 7, 50, 200, 999])
    def test_quantiles_of_numpy(self, n_draws, rng):
        draws = rng.random(n_draws)
        band = Band.of(draws, level=0.8)
        expected = np.quantile(draws, [0.1, 0.9], method="weibull")
        assert (band.low, band.high) == pytest.approx(tuple(expected))

    def test_draws_without_a_value_do_not_count(self):
        draws = np.array([np.nan, 1.0, np.nan, 3.0, 2.0])
        band = Band.of(draws, level=0.5)
        assert (band.low, band.high) == (1.0, 3.0)
        assert band.p_value(2.5) == 0.5
        empty = Band.of(np.full(3, np.nan))
        assert np.isnan([empty.low, empty.high, empty.p_value(0.1)]).all()
        assert np.isnan(band.p_value(float("nan")))

    def test_p_value_is_never_zero(self):
        assert Band.of(np.zeros(99)).p_value(0.5) == 0.01


class TestCalls:
    def test_same_seed_same_bands_whatever_else_is_asked(self, rng):
        probs, edges = random_graph(rng, 40, 60, 3)
        kept = probs.copy(), edges.copy()
        alone = null_bands(probs, metrics=[ECE], n_draws=20, seed=5)
        among = null_bands(probs, edges, n_draws=20, seed=5)
        other = null_bands(probs, metrics=[ECE], n_draws=20, seed=6)
        key = ("node", ECE.label)
        np.testing.assert_allclose(alone[key].draws, among[key].draws, atol=1e-12)
        assert (alone[key].draws != other[key].draws).any()
        assert (probs == kept[0]).all()
        assert (edges == kept[1]).all()

    def test_scopes_follow_what_is_given(self, rng):
        probs, edges = random_graph(rng, 20, 30, 3)
        scopes = {scope for scope, _ in null_bands(probs, n_draws=3)}
        assert scopes == {"node"}
        keys = set(null_bands(probs, edges, n_draws=3))
        assert {scope for scope, _ in keys} == {"node", "edge", "agree", "disagree"}
        assert ("edge", "classwise_ece(bins=15)") not in keys
        assert set(null_bands(probs, metrics={"balanced": [ECE]}, n_draws=3)) == {
            ("balanced", ECE.label)
        }

    def test_nothing_to_judge_is_nan(self):
        probs, no_edges = np.full((4, 2), 0.5), np.empty((0, 2), int)
        for (scope, label), band in null_bands(probs, no_edges, n_draws=4).items():
            # No confidence exceeds one half, so that ece50 has no items among the nodes either.
            held = scope == "node" and not label.startswith("ece50")
            assert np.isnan(band.draws).all() != held
        for band in null_bands(np.empty((0, 2)), n_draws=4).values():
            assert np.isnan(band.low)

    def test_refusals(self, rng):
        probs, edges = random_graph(rng, 10, 12, 3)
        assert not has_null(proper.CARDS[0])
        with pytest.raises(InputError, match=r"accuracy: has no null band \(there are: ece, "):
            reading(proper.CARDS[0])
        with pytest.raises(InputError, match="unknown scope 'nodes'"):
            null_bands(probs, metrics={"nodes": [ECE]})
        with pytest.raises(InputError, match="scope 'agree' needs edges"):
            null_bands(probs, metrics={"agree": [ECE]})
        with pytest.raises(InputError, match="no null band in scope 'edge', only 'node'"):
            null_bands(probs, edges, metrics={"edge": [BY_NAME["classwise_ece"]]})
        with pytest.raises(InputError, match="n_draws: 0 is below one"):
            null_bands(probs, n_draws=0)
        with pytest.raises(InputError, match=r"edges: 1 row points outside nodes 0\.\.9"):
            null_bands(probs, np.array([[0, 10]]))
        with pytest.raises(InputError, match="edges has 12 rows, edge_probs has 3"):
            null_bands(probs, edges, edge_probs=np.full((3, 3, 3), 1 / 9))
        with pytest.raises(InputError, match=r"probs: 1 row is negative \(row 0\)"):
            null_bands(np.array([[1.5, -0.5], [0.5, 0.5]]))


def coverage(rng, n_models, n_draws):
    """Share of truly calibrated models whose observed ECE falls into the band, by scope."""
    inside = dict.fromkeys(("node", "edge", "agree", "disagree"), 0)
    for model in range(n_models):
        n = int(rng.integers(300, 1000))
        probs = rng.dirichlet(np.full(4, rng.choice([0.3, 1.0])), n)
        edges = rng.integers(0, n, (3 * n, 2))
        edges = np.unique(np.sort(edges[edges[:, 0] != edges[:, 1]], axis=1), axis=0)
        labels = np.array([rng.choice(4, p=p) for p in probs])
        observed = scoped(probs, edges, labels)
        bands = null_bands(probs, edges, metrics=[ECE], n_draws=n_draws, seed=model)
        for scope in inside:
            band = bands[scope, ECE.label]
            inside[scope] += band.low <= ece(observed[scope]) <= band.high
    return {scope: count / n_models for scope, count in inside.items()}


def test_coverage_in_short(rng):
    # Four standard errors of a share of 0.9 among 80.
    for share in coverage(rng, 80, 99).values():
        assert 0.9 - 0.134 <= share <= 1.0


@pytest.mark.long
def test_coverage(rng):
    for scope, share in coverage(rng, 500, 200).items():
        assert share == pytest.approx(0.9, abs=0.04), scope
