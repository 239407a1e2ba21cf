"""Bring in your own graph, split it by a shift, and have the same parts in PyG.

Run it as it stands: the graphs are the karate club and a list of edges written here. The last step
needs torch and PyG (``pip install "graphgauge[pyg]"``), the first one NetworkX.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx

from graphgauge.exchange import from_networkx, read_graph
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.splits import shift_split

folder = Path(tempfile.mkdtemp())

# Nodes may be called anything; the graph remembers what, and numbers them from 0.
club = from_networkx(nx.karate_club_graph(), label="club", features="", weight="weight")
print(f"{club.n_nodes} nodes, {len(club.edges)} edges, classes {', '.join(club.class_names)}")

# A list of edges beside a table of nodes, as ``graphgauge data import`` reads them.
edges, nodes = folder / "edges.csv", folder / "nodes.csv"
edges.write_text("source,target\nann,rex\nann,tom\nrex,tom\nrex,zoe\n")
nodes.write_text("id,age,topic\nzoe,31,art\ntom,28,law\nrex,45,art\nann,39,law\n")
small = read_graph(edges, nodes=nodes, label="topic")
print("called", ", ".join(small.ids))

# Popular nodes train, unpopular ones are the shift. The recipe says what ties left to chance.
split = shift_split(club, "popularity", ratio=50, seed=0)
print({part: len(index) for part, index in split.parts.items()})
print(f"tied at the cut: {split.recipe['tied']['id_ood']:.0%} of the nodes")

# What was made can be saved, and `graphgauge split club.npz --shift popularity` gives it again.
club.save(folder / "club.npz")
split.save(folder / "split.npz")
again = shift_split(Graph.load(folder / "club.npz"), "popularity", ratio=50, seed=0)
stored = Split.load(folder / "split.npz")
print("again:", all((again[part] == stored[part]).all() for part in split.parts))

# In PyG the same arguments give the same parts, as masks called like those of NodePropertySplit.
try:
    from graphgauge.pyg import ShiftSplit, to_pyg
except ImportError:
    print("no PyG here")
else:
    data = ShiftSplit("popularity", ratio=50, seed=0)(to_pyg(club))
    print(data)
    print("alike:", data.id_train_mask.nonzero().flatten().tolist() == split["train"].tolist())
