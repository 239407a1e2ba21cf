"""Names that the examples in docstrings may use without importing them."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _example_names(doctest_namespace: dict[str, object]) -> None:
    doctest_namespace["np"] = np
