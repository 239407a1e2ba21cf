"""Small graphs that networks learn in a few epochs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.datasets import planted
from graphgauge.graph import Graph
from graphgauge.methods import NODE_METHODS, Method, method
from graphgauge.parts import Split

MADE = planted(240, 3, seed=5)
SMALL: dict[str, Any] = {"hidden": 8, "epochs": 12}
FLOWS: dict[str, Any] = {"warmup": 4, "finetune": 4, "latent": 4, "flow_layers": 2}
# The planted split is by degree, which is none of the papers' shifts.
WITH_DOMAINS = ["shifts/dann", "shifts/coral"]
WITH_FLOWS = [name for name in NODE_METHODS if "pn" in name.partition("/")[2]]
# They know the nodes to train on, and so predict one graph alone.
OF_ONE_GRAPH = ["edgewise/gmnn", "edgewise/epfgnn"]
# What they draw is part of what they learn or predict.
WITH_DRAWS = ["edgewise/gmnn", *(name for name in NODE_METHODS if name.endswith("-mcd"))]
# All epochs are wanted here.
WITH_PATIENCE = [name for name in NODE_METHODS if name.startswith(("miscalibrated/", "edgewise/"))]


def small(name: str, protocol: str = "corrected", **hyper: Any) -> Method:
    """Make a method of a few numbers and epochs."""
    flows = FLOWS if name in WITH_FLOWS else {}
    domains = {"shift": "popularity"} if name in WITH_DOMAINS else {}
    # The weight of the mean risk would grow, and the loss with it.
    editors = {"n_editors": 3, "growth": 0.0} if name.endswith("eerm") else {}
    passes = {"passes": 3} if name.endswith("mcd") else {}
    patience = {"patience": 1000} if name in WITH_PATIENCE else {}
    rounds = {"rounds": 2, "round_epochs": 3} if name.endswith("epfgnn") else {}
    draws = {"draws": 3, "round_epochs": 30} if name.endswith("gmnn") else {}
    own = {**flows, **domains, **editors, **passes, **patience, **rounds, **draws}
    return method(name, protocol=protocol, **{"rate": 3e-3, **SMALL, **own, **hyper})


def relabelled(graph: Graph, split: Split, order: np.ndarray) -> tuple[Graph, Split]:
    """Number the nodes anew: what was node ``order[i]`` becomes node i."""
    place = np.argsort(order)
    adjacency = sp.csr_array(graph.adjacency[order][:, order])
    moved = dataclasses.replace(
        graph, adjacency=adjacency, features=graph.features[order], labels=graph.labels[order]
    )
    return moved, Split({k: place[v] for k, v in split.parts.items()}, split.n_items)
