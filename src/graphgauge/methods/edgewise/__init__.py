"""Methods of *edgewise*: Hsu, Shen and Cremers, A Graph Is More Than Its Nodes, 2022."""
