"""Pictures: what is near in the graph, or in its features, is near in the plane."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.decomposition import PCA

from graphgauge.datasets import planted
from graphgauge.description import layout as drawing
from graphgauge.description.features import embedded
from graphgauge.description.hops import hops
from graphgauge.description.layout import layout, turned
from graphgauge.errors import InputError
from graphgauge.graph import Graph


def _grid(width):
    place = np.arange(width * width).reshape(width, width)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    return Graph.from_edges(np.concatenate([across, down]), width * width)


@pytest.mark.parametrize("work", [0, 5 * 10**7], ids=["pivots alone", "relaxed"])
def test_distances_in_the_plane_follow_those_in_the_graph(monkeypatch, work):
    monkeypatch.setattr(drawing, "_WORK", work)
    graph = _grid(8)
    nodes, places = layout(graph)
    assert nodes.tolist() == list(range(64))
    lengths = hops(graph.neighbours, nodes)
    assert spearmanr(squareform(pdist(places)).ravel(), lengths.ravel()).statistic > 0.9


def test_neighbours_are_nearer_than_others():
    graph = planted(800, 4, seed=2).graph
    nodes, places = layout(graph)
    place = np.full((graph.n_nodes, 2), np.nan)
    place[nodes] = places
    ends = place[graph.edges]
    linked = np.nanmedian(np.hypot(*(ends[:, 0] - ends[:, 1]).T))
    assert linked < 0.6 * np.median(pdist(places))


def test_push_equals_the_sum_over_pairs(rng):
    places = rng.normal(size=(300, 2)) * 40
    grid = drawing._Grid.of(256)
    gap = places[:, None] - places
    square = (gap**2).sum(axis=2)
    # The grid blurs what is nearer than a cell, so that pairs are compared which are not.
    pushed = grid.push(places)
    exact = (gap / np.maximum(square, 1e-9)[..., None]).sum(axis=1)
    off = np.hypot(*(pushed - exact).T) / np.hypot(*exact.T)
    assert np.median(off) < 0.02


def test_only_the_largest_component_is_drawn():
    graph = Graph.from_edges([[0, 1], [2, 3], [3, 4]], 6)
    assert layout(graph)[0].tolist() == [2, 3, 4]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_graphs(n):
    graph = Graph.from_edges([[i, i + 1] for i in range(n - 1)], n)
    nodes, places = layout(graph)
    assert len(nodes) == n
    assert np.isfinite(places).all()


def test_equal_seeds_give_one_picture():
    graph = planted(200, 3).graph
    assert (layout(graph, seed=1)[1] == layout(graph, seed=1)[1]).all()


def test_turning_keeps_distances(rng):
    points = rng.normal(size=(50, 2)) @ [[3.0, 1.0], [0.0, 0.2]]
    found = turned(points)
    assert np.allclose(pdist(found), pdist(points))
    assert found[:, 0].std() > found[:, 1].std()
    assert ((found**3).sum(axis=0) >= 0).all()
    assert np.allclose(turned(found @ [[0.0, 1.0], [-1.0, 0.0]]), found)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (30, 2), (200, 300)])
@pytest.mark.parametrize("sparse", [False, True])
def test_main_axes_equal_those_of_scikit_learn(rng, shape, sparse):
    rows = rng.normal(size=shape) * np.linspace(3, 1, shape[1]) + 5
    features = sp.csr_array(rows) if sparse else rows
    graph = Graph.from_edges([], shape[0], features=features)
    found = embedded(graph, np.arange(shape[0]))
    assert np.allclose(found, turned(PCA(2).fit_transform(rows)), atol=1e-8)


@pytest.mark.parametrize("n", [3, 60])
def test_tsne_keeps_groups_together(n, rng):
    group = np.arange(n) % 3
    rows = np.eye(3)[group] * 20 + rng.normal(size=(n, 3))
    graph = Graph.from_edges([], n, features=rows)
    places = embedded(graph, np.arange(n), "tsne")
    assert places.shape == (n, 2)
    if n > 3:
        apart = squareform(pdist(places))
        same = group[:, None] == group
        assert np.median(apart[same]) < 0.5 * np.median(apart[~same])


def test_tsne_says_what_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.manifold", None)
    graph = Graph.from_edges([], 5, features=np.eye(5))
    with pytest.raises(InputError, match="tsne needs scikit-learn"):
        embedded(graph, np.arange(5), "tsne")


@pytest.mark.parametrize(("by", "told"), [("umap", "unknown embedding"), ("pca", "has none")])
def test_what_cannot_be_embedded(by, told):
    with pytest.raises(InputError, match=told):
        embedded(Graph.from_edges([], 3), np.arange(3), by)
