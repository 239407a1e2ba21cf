"""Bring a network of your own: a plain PyG model becomes a method, and is judged like any other.

Run it as it stands: the graph is planted, so nothing is downloaded.
"""

from __future__ import annotations

import graphgauge as gg
from graphgauge.methods import method

try:
    import torch
    from torch_geometric.nn.models import GraphSAGE

    from graphgauge.pyg import to_pyg
except ImportError:
    raise SystemExit('this example needs PyG: pip install "graphgauge[pyg]"') from None


class OwnNetwork:
    """A method has ``fit``, and what that returns has ``predict``; here one object is both."""

    def fit(self, graph: gg.Graph, split: gg.Split, *, seed: int) -> OwnNetwork:
        """Train in the usual way."""
        torch.manual_seed(seed)
        data = to_pyg(graph, split)
        n_classes = int(data.y.max()) + 1
        self.model = GraphSAGE(data.num_features, 32, num_layers=2, out_channels=n_classes)
        optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        for _ in range(50):
            optimizer.zero_grad()
            out = self.model(data.x, data.edge_index)[data.train_mask]
            torch.nn.functional.cross_entropy(out, data.y[data.train_mask]).backward()
            optimizer.step()
        return self

    @torch.no_grad()
    def predict(self, graph: gg.Graph) -> gg.NodePredictions:
        """Give probabilities, never logits."""
        data = to_pyg(graph)
        probs = self.model(data.x, data.edge_index).softmax(dim=1)
        return gg.NodePredictions(probs, graph.labels)


made = gg.planted(1000, 4, seed=0)
for name, own in {"own": OwnNetwork(), "shifts/erm": method("shifts/erm", epochs=30)}.items():
    predictions = own.fit(made.graph, made.split, seed=0).predict(made.graph)
    for part in ("test_in", "test_out"):
        nodes = made.split[part]
        judged = gg.NodePredictions(predictions.probs[nodes], predictions.labels[nodes])
        card = gg.score(judged, gg.Options(n_resamples=0, n_draws=0))
        print(f"{name:12}{part:10}{card.find('accuracy').value:.3f} accuracy")
