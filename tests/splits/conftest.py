"""Real graphs, read once for all tests of splits."""

from __future__ import annotations

import functools

import pytest

from graphgauge.datasets import load


@pytest.fixture(scope="session")
def loaded(data_dir):
    """Load a data set by its slug."""
    return functools.cache(load)
