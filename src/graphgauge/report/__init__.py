"""The report: what was scored, as one page of HTML that stands on its own."""

from graphgauge.report.html import render

__all__ = ["render"]
