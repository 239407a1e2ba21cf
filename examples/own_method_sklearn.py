"""Bring a model that knows no graphs: scikit-learn becomes a method, with neighbours as features.

Run it as it stands: the graph is planted, so nothing is downloaded.
"""

from __future__ import annotations

import numpy as np

import graphgauge as gg

try:
    from sklearn.ensemble import RandomForestClassifier
except ImportError:
    raise SystemExit("this example needs scikit-learn: pip install scikit-learn") from None


class NeighbourForest:
    """A forest on the features of a node and on the mean of those of its neighbours."""

    def fit(self, graph: gg.Graph, split: gg.Split, *, seed: int) -> NeighbourForest:
        """Train on the nodes of one part."""
        train = split["train"]
        self.forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed)
        self.forest.fit(self.columns(graph)[train], graph.labels[train])
        return self

    def predict(self, graph: gg.Graph) -> gg.NodePredictions:
        """Predict all nodes."""
        return gg.NodePredictions(self.forest.predict_proba(self.columns(graph)), graph.labels)

    @staticmethod
    def columns(graph: gg.Graph) -> np.ndarray:
        """Put the features of nodes and of their neighbours side by side."""
        degrees = np.maximum(graph.degrees, 1)[:, None]
        return np.hstack([graph.features, graph.neighbours @ graph.features / degrees])


made = gg.planted(1000, 4, seed=0)
predictions = NeighbourForest().fit(made.graph, made.split, seed=0).predict(made.graph)
for part in ("test_in", "test_out"):
    nodes = made.split[part]
    judged = gg.NodePredictions(predictions.probs[nodes], predictions.labels[nodes])
    card = gg.score(judged, gg.Options(n_resamples=0, n_draws=50))
    found = ", ".join(f"{name} {card.find(name).value:.3f}" for name in ("accuracy", "nll", "ece"))
    print(f"{part:10}{found}")
