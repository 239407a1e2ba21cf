"""The property values that were published with the parts of *shifts*, and what they converge to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from graphgauge.splits import shift_property

GRAPHS = ["cora-ml", "citeseer", "pubmed", "amazon-computers", "coauthor-physics"]
DAMPING = 0.85


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("shift", ["popularity", "locality", "density"])
def test_published_values(data_dir, loaded, name, shift):
    with np.load(data_dir / f"splits/structural-shifts/{name}.npz") as stored:
        theirs = stored[f"{shift}_sigma"]
    as_then = {} if shift == "density" else {"protocol": "published"}
    ours = shift_property(loaded(name), shift, **as_then)
    if shift == "density":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", GRAPHS[:3])
@pytest.mark.parametrize("shift", ["popularity", "locality"])
def test_fixed_point_equals_a_direct_solution(loaded, name, shift):
    """Walks that come back from isolated nodes are solved for too, as a column that is dense."""
    graph = loaded(name)
    n, degrees = graph.n_nodes, np.diff(graph.neighbours.indptr)
    restart = np.full(n, 1 / n)
    if shift == "locality":
        restart = np.eye(1, n, int(shift_property(graph, "popularity").argmin()))[0]
    walk = graph.neighbours.T @ sp.diags_array(1 / np.maximum(degrees, 1))
    # The walk that restarts at once is the solution of a sparse system, up to its sum.
    shares = spsolve(sp.csc_array(sp.eye_array(n) - DAMPING * walk), restart)
    shares /= shares.sum()
    back = 1 - DAMPING + DAMPING * shares[degrees == 0].sum()
    assert np.abs(DAMPING * (walk @ shares) + back * restart - shares).max() < 1e-15
    np.testing.assert_allclose(-shift_property(graph, shift), shares, rtol=0, atol=1e-9)
    np.testing.assert_allclose(-shift_property(graph, shift), shares, rtol=1e-9, atol=1e-17)
