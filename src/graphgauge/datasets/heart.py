"""The fixed link splits of *heart*, as text files of pairs, with the negatives it published.

The authors' own server is gone; the files live on in the folder ``dataset`` of the public
repository ``selinceydeli/LPFormer``. They are looked for in ``heart/<slug>`` of the folder that
``GRAPHGAUGE_DATA`` names.

References
----------
Li et al., Evaluating Graph Neural Networks for Link Prediction, NeurIPS 2023.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import answering, check_file
from graphgauge.arrays import MOST_NODES, IntArray, check_pairs, integers
from graphgauge.columns import load_text
from graphgauge.datasets.card import card
from graphgauge.datasets.obtain import own_folder
from graphgauge.errors import InputError
from graphgauge.headers import read_header

__all__ = ["heart_links", "read_link_files"]

_PARTS = ("train", "valid", "test")


def heart_links(slug: str) -> dict[str, IntArray]:
    """Read the published link split of a data set; see `read_link_files` for what it holds."""
    known, own = card(slug), own_folder()
    folder = None if own is None else own / "heart" / known.slug
    if folder is None or not folder.is_dir():
        raise InputError(
            f"{slug}: no published link split; let GRAPHGAUGE_DATA name a folder with heart/{slug} "
            "(from the folder dataset of github.com/selinceydeli/LPFormer)"
        )
    return read_link_files(folder)


def read_link_files(folder: Path) -> dict[str, IntArray]:
    """Read the pairs of each part, in the order of the files.

    Returns
    -------
    ``train``, ``valid``, ``test``
        Positive pairs ``[e, 2]`` as they stand. CiteSeer's training file also holds a loop for each
        of the 48 isolated nodes, so that who counts nodes by it finds them; those are no edges.
    ``train_neg``, ``valid_neg``, ``test_neg``
        Random negatives ``[m, 2]``, where there are any.
    ``valid_heart``, ``test_heart``
        Harder negatives ``[e, k, 2]``, k for each positive, where they were published.
    """
    links = {part: _pairs(folder / f"{part}_pos.txt") for part in _PARTS}
    for part in _PARTS:
        random, hard = folder / f"{part}_neg.txt", folder / f"heart_{part}_samples.npy"
        if random.exists():
            links[f"{part}_neg"] = _pairs(random)
        if hard.exists():
            links[f"{part}_heart"] = _samples(hard, len(links[part]))
    return links


def _pairs(path: Path) -> IntArray:
    check_file(path)
    with answering(path, kind="a list of pairs"):
        pairs = load_text(path, dtype=np.int64)
    check_pairs(str(path), pairs, MOST_NODES)
    return pairs


def _samples(path: Path, n_positives: int) -> IntArray:
    check_file(path)
    with answering(path, kind=".npy"):
        samples = integers(str(path), _array(path), ndim=3)
    if len(samples) != n_positives:
        raise InputError(f"{path}: holds negatives of {len(samples)} pairs for {n_positives}")
    check_pairs(str(path), samples, MOST_NODES)
    return samples


def _array(path: Path) -> npt.NDArray[Any]:
    """Read an array once its header agrees with the bytes behind it."""
    with path.open("rb") as file:
        header = read_header(file)
    if header.dtype.hasobject or header.n_bytes != path.stat().st_size - header.length:
        raise ValueError("its header and its size do not agree")
    return np.fromfile(path, header.dtype, offset=header.length).reshape(
        header.shape, order="F" if header.fortran else "C"
    )
