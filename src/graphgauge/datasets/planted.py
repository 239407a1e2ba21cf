"""Graphs made to a plan: the true probability of every label is known.

How a graph is made, in this order:

1. Nodes fall into communities ``z`` of equal size and draw a propensity for links, heavy-tailed.
2. Edges join nodes at random, in proportion to their propensities; a fixed share lies within
   communities, the rest between them (a stochastic block model with degree correction).
3. Every node's context, that is its community and how clear a case it is, fixes probabilities
   ``p`` of its label. Nodes with many links tend to be clearer. Features are a blurred view of
   ``p``.
4. Every label is drawn from its node's ``p``, independently of all else.

Labels come last for a reason. Had edges been drawn from labels, the truth about a node would hang
on the labels of its neighbours, and no table of probabilities could hold it. Here, given contexts
and edges, labels are independent: the true joint probability of any set of labels is the product
of the rows of ``p``. So a model that gives ``p`` is calibrated on nodes, and the product of its
rows on edges; the probability ``p_u · p_v`` that the ends of an edge agree is calibrated too. Two
things it is not. It is no model one could train: features are blurred, so a trained model knows
less than the context. And edges chosen by whether their true labels agree are chosen by the
outcome; on those even the truth looks miscalibrated, which is a property of that measure.

References
----------
Karrer and Newman, Stochastic blockmodels and community structure in networks, 2011;
Deshpande et al., Contextual Stochastic Block Models, NeurIPS 2018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import beta, ndtr, ndtri, softmax

from graphgauge.arrays import BoolArray, FloatArray, IntArray, floats, refuse, same_length
from graphgauge.errors import InputError
from graphgauge.graph import Graph, undirected_edges
from graphgauge.parts import Split

__all__ = ["Planted", "planted"]

# Kumaraswamy's second shape: small enough that clear and doubtful nodes both abound.
_SHAPE = 0.2
# Share of the probability spread evenly over the classes, so that none is impossible.
_FLOOR = 0.01
# Correlation of clarity and propensity, both on the normal scale.
_CLEARER = 0.5
_BLUR = 1.0
_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Planted:
    """A planted graph with what is hidden in real ones.

    Parameters
    ----------
    graph
        Adjacency, features and labels.
    posteriors
        True probabilities of every node's label ``[n, C]``.
    communities
        Community of every node ``[n]``; mostly, but not always, its most probable class.
    split
        Parts ``train, valid_in, test_in, valid_out, test_out``: nodes of high degree are in
        distribution.
    """

    graph: Graph
    posteriors: FloatArray
    communities: IntArray
    split: Split

    def sampled(
        self, n_members: int, *, concentration: npt.ArrayLike = 20.0, seed: int = 0
    ) -> FloatArray:
        """Draw what an ensemble says that is right on average ``[m, n, C]``.

        Each member's row is drawn from a Dirichlet whose mean is the node's true posterior, so
        the truth about all uncertainties is known as well: that of infinitely many members is
        ``Uncertainty.from_dirichlet(concentration * posteriors)``. Of few members the mean strays
        from the posterior, and their disagreement is less than it would be of many.

        Parameters
        ----------
        n_members
            Members of the ensemble; the first of many are those of few.
        concentration
            How well the members agree: the sum of the Dirichlet's parameters, above zero, one for
            all nodes or one a node ``[n]``.
        seed
            Of the members.

        Examples
        --------
        >>> from graphgauge.uncertainty import Uncertainty
        >>> made = planted(200, 3)
        >>> members = made.sampled(500, concentration=10)
        >>> bool(abs(members.mean(axis=0) - made.posteriors).max() < 0.05)
        True
        >>> found = Uncertainty.from_ensemble(members).knowledge.mean()
        >>> known = Uncertainty.from_dirichlet(10 * made.posteriors).knowledge.mean()
        >>> bool(abs(found - known) < 0.001)
        True
        """
        if n_members < 1:
            raise InputError(f"{n_members} members are too few")
        evidence = floats("concentration", concentration, ndim=min(np.ndim(concentration), 1))
        refuse("concentration", evidence <= 0, "is not above zero", "are not above zero")
        if evidence.ndim:
            same_length(posteriors=self.posteriors, concentration=evidence)
        # Numbered so that members are not drawn from what the graph was made with.
        rng = np.random.default_rng([seed, 2])
        alpha = evidence[..., None] * self.posteriors
        return np.stack([_draw_dirichlet(alpha, rng) for _ in range(n_members)])


def planted(
    n_nodes: int = 3000,
    n_classes: int = 5,
    *,
    mean_degree: float = 8.0,
    homophily: float = 0.8,
    certainty: float = 0.92,
    n_features: int = 16,
    seed: int = 0,
) -> Planted:
    """Make a graph whose true label probabilities are known; see the module for how.

    Parameters
    ----------
    n_nodes, n_classes
        Size; there are as many communities as classes.
    mean_degree
        Twice the number of edges over the number of nodes.
    homophily
        Expected share of edges whose ends have the same label.
    certainty
        Mean probability of the label that belongs to a node's community; about the accuracy that
        no model exceeds. It limits the homophily that can be reached.
    n_features
        Columns of the features, which are single precision.
    seed
        Everything follows from it.

    Examples
    --------
    >>> made = planted(200, 3, seed=1)
    >>> made.graph.n_nodes, len(made.graph.edges), made.posteriors.shape
    (200, 800, (200, 3))
    >>> planted(homophily=0.99)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: homophily 0.99 is out of reach: this certainty allows 0.03 to 0.89
    """
    _check(n_nodes, n_classes, mean_degree, certainty)
    rng = np.random.default_rng(seed)
    communities = rng.permutation(np.arange(n_nodes) % n_classes)
    propensity = _propensities(n_nodes, rng)
    posteriors = _posteriors(communities, propensity, n_classes, certainty, rng)
    within = _share_within(homophily, posteriors, communities, propensity)
    n_edges = round(n_nodes * mean_degree / 2)
    edges = _draw_edges(communities, propensity, n_edges, within, rng)
    labels = _draw_labels(posteriors, rng)
    features = _features(posteriors, n_features, rng)
    name = f"planted(n={n_nodes},classes={n_classes},homophily={homophily:g},seed={seed})"
    graph = Graph.from_edges(edges, n_nodes, features=features, labels=labels, name=name)
    return Planted(graph, posteriors, communities, _split(graph.degrees, seed, rng))


def _check(n_nodes: int, n_classes: int, mean_degree: float, certainty: float) -> None:
    if n_classes < 2 or n_nodes < max(10, n_classes):
        raise InputError(
            f"{n_nodes} nodes and {n_classes} classes are too few: need two classes and ten nodes"
        )
    if not 0 < mean_degree < n_nodes:
        raise InputError(f"mean_degree {mean_degree} is not between 0 and the number of nodes")
    if not 1 / n_classes < certainty <= 0.99:
        raise InputError(f"certainty {certainty} is not between {1 / n_classes:.2f} and 0.99")


def _propensities(n_nodes: int, rng: np.random.Generator) -> FloatArray:
    """Draw from a power law with exponent 3, cut off where hubs would want one edge twice."""
    return np.minimum((1.0 - rng.random(n_nodes)) ** -0.5, max(2.0, n_nodes**0.5))


def _posteriors(
    communities: IntArray,
    propensity: FloatArray,
    n_classes: int,
    certainty: float,
    rng: np.random.Generator,
) -> FloatArray:
    n = len(communities)
    own = _own_share(_clarity(propensity, rng), (certainty - _FLOOR / n_classes) / (1 - _FLOOR))
    others = rng.exponential(size=(n, n_classes))
    others[np.arange(n), communities] = 0.0
    posteriors: FloatArray = others * ((1 - own) / others.sum(axis=1))[:, None]
    posteriors[np.arange(n), communities] = own
    return posteriors * (1 - _FLOOR) + _FLOOR / n_classes


def _clarity(propensity: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw how clear a case every node is, uniform on (0, 1) and higher for many links."""
    rank = np.empty(len(propensity))
    rank[np.argsort(propensity)] = (np.arange(len(propensity)) + 0.5) / len(propensity)
    own = rng.normal(size=len(propensity))
    clarity: FloatArray = ndtr(_CLEARER * ndtri(rank) + (1 - _CLEARER**2) ** 0.5 * own)
    return clarity


def _own_share(clarity: FloatArray, mean: float) -> FloatArray:
    """Map clarity to probabilities of the given mean by the quantiles of Kumaraswamy's law."""
    shape = np.exp(brentq(lambda t: _SHAPE * beta(1 + np.exp(-t), _SHAPE) - mean, -50.0, 30.0))
    own: FloatArray = (1 - (1 - clarity) ** (1 / _SHAPE)) ** (1 / shape)
    return own


def _share_within(
    homophily: float, posteriors: FloatArray, communities: IntArray, propensity: FloatArray
) -> float:
    """Find the share of edges within communities that gives the wanted homophily.

    The ends of an edge are drawn from their communities by propensity, so they agree with the
    probability that two such draws do, on average ``π_a · π_b`` for communities a and b.
    """
    mass = np.bincount(communities, propensity).astype(np.float64)
    per_class = [np.bincount(communities, propensity * column) for column in posteriors.T]
    agree = np.stack(per_class) / mass
    agree = agree.T @ agree
    inside = float(mass @ np.diag(agree) / mass.sum())
    across = float((_pair_shares(mass) * agree).sum())
    low, high = sorted((across, inside))
    if not low <= homophily <= high:
        raise InputError(
            f"homophily {homophily:g} is out of reach: this certainty allows "
            f"{low:.2f} to {high:.2f}"
        )
    return (homophily - across) / (inside - across)


def _pair_shares(mass: FloatArray) -> FloatArray:
    """Share of the edges across communities that joins each ordered pair of them."""
    pairs = np.outer(mass, mass)
    np.fill_diagonal(pairs, 0.0)
    return np.asarray(pairs / pairs.sum())


def _draw_edges(
    communities: IntArray,
    propensity: FloatArray,
    n_edges: int,
    within: float,
    rng: np.random.Generator,
) -> IntArray:
    mass = np.bincount(communities, propensity).astype(np.float64)
    n_within = round(within * n_edges)
    urn = _Urn.of(communities, propensity)
    same = np.diag(mass / mass.sum())
    inside = _distinct(urn, same, n_within, rng)
    across = _distinct(urn, _pair_shares(mass), n_edges - n_within, rng)
    return np.concatenate([inside, across])


@dataclass(frozen=True, eq=False)
class _Urn:
    """Nodes in order of their communities, to be drawn by propensity."""

    nodes: IntArray
    first: IntArray
    heights: FloatArray

    @classmethod
    def of(cls, communities: IntArray, propensity: FloatArray) -> _Urn:
        nodes = np.argsort(communities, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(communities))])
        return cls(nodes, first, np.concatenate([[0.0], np.cumsum(propensity[nodes])]))

    def draw(self, communities: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a node of each given community."""
        first, last = self.first[communities], self.first[communities + 1] - 1
        low, high = self.heights[first], self.heights[last + 1]
        at = low + rng.random(len(communities)) * (high - low)
        places = np.searchsorted(self.heights, at, side="right") - 1
        return np.asarray(self.nodes[np.clip(places, first, last)])


def _distinct(
    urn: _Urn, pair_shares: FloatArray, n_edges: int, rng: np.random.Generator
) -> IntArray:
    """Draw different edges without loops, repeated ones anew, until there are enough."""
    n_nodes, n_classes = len(urn.nodes), len(pair_shares)
    edges: IntArray = np.empty((0, 2), np.int64)
    for _ in range(_ROUNDS):
        missing = n_edges - len(edges)
        if not missing:
            return edges
        kind = rng.choice(n_classes**2, missing, p=pair_shares.ravel())
        drawn = np.stack([urn.draw(ends, rng) for ends in np.divmod(kind, n_classes)], axis=1)
        edges = undirected_edges(np.concatenate([edges, drawn]), n_nodes)
    raise InputError("mean_degree is too large: there are not enough different edges")


def _draw_dirichlet(alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a distribution from every row ``[n, C]``, in logarithms lest small parameters vanish.

    A Gamma variable of parameter α is one of α + 1 times a power 1/α of a uniform one.
    """
    logs = np.log(rng.standard_gamma(alpha + 1)) - rng.standard_exponential(alpha.shape) / alpha
    drawn: FloatArray = softmax(logs, axis=1)
    return drawn


def _draw_labels(posteriors: FloatArray, rng: np.random.Generator) -> IntArray:
    heights = np.cumsum(posteriors, axis=1)
    above: BoolArray = rng.random(len(posteriors))[:, None] >= heights[:, :-1]
    return np.asarray(above.sum(axis=1))


def _features(posteriors: FloatArray, n_features: int, rng: np.random.Generator) -> FloatArray:
    """Mix and blur the centred log-probabilities."""
    logs = np.log(posteriors)
    logs -= logs.mean(axis=1, keepdims=True)
    mixing = rng.normal(size=(posteriors.shape[1], n_features)) / posteriors.shape[1]
    blur = rng.normal(scale=_BLUR, size=(len(posteriors), n_features))
    return np.asarray(logs @ mixing + blur).astype(np.float32)


def _split(degrees: IntArray, seed: int, rng: np.random.Generator) -> Split:
    """Take the half of the nodes with the highest degrees as in distribution, ties at random."""
    n = len(degrees)
    order = np.lexsort((rng.permutation(n), -degrees))
    inside, outside = rng.permutation(order[: n // 2]), order[n // 2 :]
    ends = 3 * n // 10, 3 * n // 10 + n // 10
    parts = {
        "train": inside[: ends[0]],
        "valid_in": inside[ends[0] : ends[1]],
        "test_in": inside[ends[1] :],
        "valid_out": outside[: n // 10],
        "test_out": outside[n // 10 :],
    }
    return Split(parts, n, {"by": "degree, highest in distribution", "seed": seed})
