"""The link splits of heart, as far as they survive."""

from __future__ import annotations

import os

import numpy as np
import pytest

from graphgauge.datasets.heart import heart_links, read_link_files
from graphgauge.datasets.load import load
from graphgauge.errors import InputError

SIZES = {
    "citeseer": {"train": 3918, "valid": 227, "test": 455},
    "pubmed": {"train": 37676, "valid": 2216, "test": 4432},
}


@pytest.mark.parametrize("slug", SIZES)
def test_the_parts_are_the_edges_of_the_graph(slug, data_dir):
    links, graph = heart_links(slug), load(slug)
    assert {part: len(links[part]) for part in SIZES[slug]} == SIZES[slug]
    loops = links["train"][links["train"][:, 0] == links["train"][:, 1]]
    isolated = np.flatnonzero(graph.degrees == 0)
    assert sorted(loops[:, 0].tolist()) == isolated.tolist()
    pairs = np.concatenate([links[part] for part in SIZES[slug]])
    edges = {tuple(sorted(pair)) for pair in pairs.tolist() if pair[0] != pair[1]}
    assert len(edges) == len(pairs) - len(loops)
    assert edges == set(map(tuple, graph.edges.tolist()))
    for part in ("valid", "test"):
        random = {tuple(sorted(pair)) for pair in links[f"{part}_neg"].tolist()}
        assert len(random) == SIZES[slug][part]
        assert not random & edges


def test_harder_negatives_share_an_end_with_their_positive(data_dir):
    links = heart_links("citeseer")
    assert links["valid_heart"].shape == (227, 500, 2)
    assert links["test_heart"].shape == (455, 500, 2)
    for part in ("valid", "test"):
        first, second = links[f"{part}_heart"][:, :250], links[f"{part}_heart"][:, 250:]
        assert (first[:, :, 0] == links[part][:, None, 0]).all()
        assert (second[:, :, 1] == links[part][:, None, 1]).all()
    assert "valid_heart" not in heart_links("pubmed")


@pytest.fixture
def folder(tmp_path):
    for part in ("train", "valid", "test"):
        (tmp_path / f"{part}_pos.txt").write_text("0\t1\n2\t3\n")
    np.save(tmp_path / "heart_test_samples.npy", np.zeros((2, 4, 2), int))
    return tmp_path


def test_what_is_not_there_is_left_out(folder):
    assert list(read_link_files(folder)) == ["train", "valid", "test", "test_heart"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("valid_pos.txt", b"0\t1\n2\n", "not readable as a list of pairs"),
        ("valid_pos.txt", b"0\t-1\n", "1 row points outside"),
        ("valid_pos.txt", b"0\t1\t2\n", "expected pairs of nodes"),
        ("valid_pos.txt", b"\xff\xfe", "not readable as a list of pairs"),
        ("heart_test_samples.npy", b"\x93NUMPY\x01\x00", r"not readable as \.npy"),
        ("heart_test_samples.npy", b"", r"not readable as \.npy"),
    ],
)
def test_damaged_files_are_refused(name, content, told, folder):
    (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_link_files(folder)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.zeros((3, 4, 2), int), "negatives of 3 pairs for 2"),
        (np.zeros((2, 4), int), "has 2 axes"),
        (np.zeros((2, 4, 3), int), "expected pairs of nodes"),
        (np.full((2, 4, 2), -1), "2 rows point outside"),
        (np.array([{}, {}]), "its header and its size do not agree"),
    ],
)
def test_harder_negatives_must_fit(array, told, folder):
    np.save(folder / "heart_test_samples.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=told):
        read_link_files(folder)
    content = (folder / "heart_test_samples.npy").read_bytes()
    (folder / "heart_test_samples.npy").write_bytes(content[:-1])
    with pytest.raises(InputError, match="its header and its size do not agree"):
        read_link_files(folder)


def test_where_to_get_them_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="citeseer: no published link split"):
        heart_links("citeseer")
    os.mkdir(tmp_path / "heart")
    with pytest.raises(InputError, match="no data set 'nonsense'"):
        heart_links("nonsense")
