"""Commands about data sets: what there is, what is known of it, and how to get it."""

from __future__ import annotations

import typer

__all__ = ["data"]

data = typer.Typer(
    help="List, show and fetch the data sets of the papers, and bring in your own.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
