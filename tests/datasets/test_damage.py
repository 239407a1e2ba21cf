"""Damaged files of every family: read or answered in one line, never anything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dataset_files import planetoid, zipped_table

from graphgauge.datasets.families import FAMILIES
from graphgauge.errors import InputError
from graphgauge.graph import Graph


def _planetoid(folder, rng):
    planetoid(folder, "toy", rng)
    return "toy"


def _benchmark(folder, rng):
    links = sp.random_array((9, 9), density=0.3, format="csr", rng=rng)
    words = sp.random_array((9, 4), density=0.5, format="csr", rng=rng)
    pieces = {
        f"{what}_{name}": np.asarray(getattr(matrix, name))
        for what, matrix in (("adj", links), ("attr", words))
        for name in ("data", "indices", "indptr", "shape")
    }
    np.savez(folder / "toy.npz", **pieces, labels=rng.integers(0, 3, 9))
    return "toy"


def _ogb(folder, rng):
    edges = rng.integers(0, 20, (30, 2))
    zipped_table(folder / "raw/edge.csv.gz", edges)
    zipped_table(folder / "raw/num-node-list.csv.gz", [20])
    zipped_table(folder / "raw/num-edge-list.csv.gz", [30])
    (folder / "split/target").mkdir(parents=True)
    for part, zipped in (("valid", True), ("test", False)):
        held = {"edge": edges[:4], "edge_neg": torch.from_numpy(edges[:6])}
        torch.save(held, folder / f"split/target/{part}.pt", _use_new_zipfile_serialization=zipped)
    return "ogbl_ddi"


def _damage(content: bytearray, rng: np.random.Generator) -> bytes:
    """Overwrite bytes, flip bits, or put in and take out small pieces."""
    kind = rng.integers(3)
    for _ in range(int(rng.integers(1, 9))):
        place = int(rng.integers(len(content))) if content else 0
        if kind == 0:
            content[place : place + 1] = rng.bytes(1)
        elif kind == 1 and content:
            content[place] ^= 1 << int(rng.integers(8))
        else:
            content[place : place + 4] = (bytes(4), b"\xff" * 4, b"", b"8" * 9)[rng.integers(4)]
    return bytes(content)


def _answer(family: str, folder: Path, key: str) -> str:
    """Read a graph, or return what is told instead."""
    try:
        assert isinstance(FAMILIES[family].read(folder, key), Graph)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("family", "write"), [("planetoid", _planetoid), ("benchmark", _benchmark), ("ogb", _ogb)]
)
def test_damage_is_answered(family, write, tmp_path):
    key = write(tmp_path, np.random.default_rng(1))
    names = FAMILIES[family].files(key)
    whole = {name: (tmp_path / name).read_bytes() for name in names}
    answers = set()
    for seed in range(200):
        rng = np.random.default_rng(seed)
        name = rng.choice(names)
        (tmp_path / name).write_bytes(_damage(bytearray(whole[name]), rng))
        told = _answer(family, tmp_path, key)
        (tmp_path / name).write_bytes(whole[name])
        assert len(told) < 1000, seed
        assert "\n" not in told, seed
        answers.add(told)
    assert len(answers) > 20, "damage no longer reaches the checks"
