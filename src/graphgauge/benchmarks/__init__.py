"""The papers as data: grids of runs, definitions of all their tables, and published figures."""
