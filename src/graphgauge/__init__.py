"""graphgauge."""
