"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20260214)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets; without it the test is skipped."""
    folder = os.environ.get("GRAPHGAUGE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("real data not found: set GRAPHGAUGE_DATA")
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def golden(data_dir: Path) -> Path:
    """The folder of reference outputs that lies beside the real data."""
    folder = data_dir.parent / "golden"
    if not folder.is_dir():
        pytest.skip("reference outputs not found beside GRAPHGAUGE_DATA")
    return folder
