"""Sources are tried in turn, downloads are whole or not there, and content is checked."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dataset_files import planetoid

from graphgauge.datasets import downloads, obtain
from graphgauge.datasets.card import CARDS, Card, Counts, Source
from graphgauge.datasets.downloads import fetch, unpack
from graphgauge.datasets.families import FAMILIES
from graphgauge.datasets.identity import mark, verify
from graphgauge.datasets.load import load, open_graph, published_parts
from graphgauge.datasets.obtain import cache_folder, find, own_folder, whereabouts
from graphgauge.datasets.planetoid import planetoid_files, read_planetoid
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.steps import prepare

FILES = planetoid_files("toy")


class _Handler(http.server.SimpleHTTPRequestHandler):
    """A server that says nothing and can break off."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if "/broken/" not in self.path:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")


@contextlib.contextmanager
def _served(folder: Path):
    handler = functools.partial(_Handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def web(tmp_path):
    folder = tmp_path / "web"
    folder.mkdir()
    with _served(folder) as address:
        yield folder, address


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    """Neither folder nor cache of whoever runs the tests, and no proxy on the way."""
    monkeypatch.delenv("GRAPHGAUGE_DATA", raising=False)
    monkeypatch.setenv("GRAPHGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def toy(tmp_path, rng):
    """Files of a small graph, and its card without sources."""
    folder = tmp_path / "published"
    planetoid(folder, "toy", rng)
    graph = prepare(read_planetoid(folder, "toy"), *obtain.WHOLE)
    unordered = {"unordered": graph.unordered_fingerprint[:16]}
    return folder, Card(
        "toy",
        "Toy",
        "nodes",
        "nobody",
        counts=Counts(12, len(graph.edges), 5, len(np.unique(graph.labels))),
        fingerprint=graph.fingerprint,
        marks=mark(graph) | unordered,
    )


def _with(known: Card, *sources: Source) -> Card:
    return replace(known, sources=sources)


def _copied(folder: Path, target: Path) -> Path:
    target.mkdir(parents=True)
    for name in FILES:
        (target / name).write_bytes((folder / name).read_bytes())
    return target


def _left(cache: Path) -> list[str]:
    return sorted(str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file())


def test_files_are_fetched_once_and_kept(toy, web, tmp_path):
    folder, known = toy
    _copied(folder, web[0] / "data")
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/data"))
    assert whereabouts(known) == "download"
    graph, found = obtain.obtain(known)
    assert graph.fingerprint == known.fingerprint
    assert found.place == "cache"
    assert found.folder == cache_folder() / "toy" / "planetoid"
    assert whereabouts(known) == "cache"
    for file in (web[0] / "data").iterdir():
        file.unlink()
    assert obtain.obtain(known)[0].fingerprint == known.fingerprint
    assert _left(tmp_path / "cache") == sorted(f"data/toy/planetoid/{name}" for name in FILES)


def test_an_archive_is_fetched_and_only_what_is_wanted_unpacked(toy, web, tmp_path):
    folder, known = toy
    with zipfile.ZipFile(web[0] / "toy.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in FILES:
            archive.write(folder / name, f"inner/{name}")
        archive.writestr("inner/../../../evil", "evil")
        archive.writestr("/evil", "evil")
        archive.writestr("inner/unwanted", "unwanted")
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/toy.zip", inside="inner"))
    assert obtain.obtain(known)[0].fingerprint == known.fingerprint
    assert _left(tmp_path / "cache") == sorted(f"data/toy/planetoid/{name}" for name in FILES)
    assert not list(tmp_path.rglob("evil"))


def test_sources_are_tried_in_turn(toy, web, tmp_path):
    folder, known = toy
    _copied(folder, web[0] / "good")
    wrong = _copied(folder, web[0] / "wrong")
    planetoid(wrong, "toy", np.random.default_rng(1))
    (web[0] / "not.zip").write_text("no archive")
    sources = [
        Source("planetoid", "toy", url=f"{web[1]}/{place}")
        for place in ("missing", "broken", "wrong", "not.zip", "good")
    ]
    nowhere = Source("planetoid", "toy", url="http://127.0.0.1:9/data")
    known = _with(known, nowhere, *sources)
    assert obtain.obtain(known)[0].fingerprint == known.fingerprint
    (web[0] / "good" / FILES[0]).unlink()
    with pytest.raises(InputError) as caught:
        obtain.obtain(_with(replace(known, slug="other"), nowhere, *sources))
    told = str(caught.value)
    for reason in (
        "other: cannot be had; tried",
        f"/data/{FILES[0]}: no connection",
        f"/missing/{FILES[0]}: 404 File not found",
        f"/broken/{FILES[0]}: ",
        "not the Toy of the papers",
        "archive.zip is not readable as an archive",
        f"/good/{FILES[0]}: 404 File not found",
        "let GRAPHGAUGE_DATA name it",
    ):
        assert reason in told, told
    assert "\n" not in told
    assert _left(tmp_path / "cache") == sorted(f"data/toy/planetoid/{name}" for name in FILES)
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.name.endswith(".part")]


def test_a_damaged_copy_in_the_cache_is_fetched_anew(toy, web):
    folder, known = toy
    _copied(folder, web[0] / "data")
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/data"))
    _, found = obtain.obtain(known)
    (found.folder / FILES[0]).write_bytes(b"damaged")
    assert obtain.obtain(known)[0].fingerprint == known.fingerprint
    assert (found.folder / FILES[0]).read_bytes() == (folder / FILES[0]).read_bytes()


def test_another_process_may_be_faster(toy, web, monkeypatch):
    folder, known = toy
    _copied(folder, web[0] / "data")
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/data"))
    rename = Path.rename

    def taken(draft, target):
        _copied(folder, target)
        return rename(draft, target)

    monkeypatch.setattr(Path, "rename", taken)
    graph, found = obtain.obtain(known)
    assert graph.fingerprint == known.fingerprint
    assert _left(found.folder) == sorted(FILES)


def test_your_own_folder_comes_first_and_is_never_passed_over(toy, web, tmp_path, monkeypatch):
    folder, known = toy
    _copied(folder, web[0] / "data")
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/data"))
    for place in ("planetoid", ".", "Toy/raw", "Planetoid/Toy/raw"):
        own = tmp_path / place.replace("/", "-")
        _copied(folder, own / place) if place != "." else _copied(folder, own / "x" / "raw")
        monkeypatch.setenv("GRAPHGAUGE_DATA", str(own))
        _, found = obtain.obtain(known)
        assert found.place == whereabouts(known) == "folder"
    (found.folder / FILES[0]).write_bytes(b"damaged")
    with pytest.raises(InputError, match=str(found.folder)):
        obtain.obtain(known)
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(folder))
    assert next(find(known)).folder == folder
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"GRAPHGAUGE_DATA: .* is not a folder"):
        own_folder()


def test_a_source_without_an_address_is_yours_to_bring(toy):
    known = _with(toy[1], Source("planetoid", "toy"))
    assert whereabouts(known) == "by hand"
    with pytest.raises(InputError, match="tried nothing"):
        obtain.obtain(known)


def test_a_cache_that_cannot_be_written_is_told(toy, web, tmp_path, monkeypatch):
    folder, known = toy
    _copied(folder, web[0] / "data")
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GRAPHGAUGE_CACHE", str(tmp_path / "file"))
    known = _with(known, Source("planetoid", "toy", url=f"{web[1]}/data"))
    with pytest.raises(InputError, match="cannot be written"):
        obtain.obtain(known)


def test_the_platforms_cache_is_used_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("GRAPHGAUGE_CACHE")
    assert cache_folder().parts[-2:] == ("graphgauge", "data")


def test_a_wheel_is_fetched_by_pip_and_not_installed(toy, tmp_path, monkeypatch):
    folder, known = toy
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    with zipfile.ZipFile(shelf / "toywheel-1.0-py3-none-any.whl", "w") as wheel:
        for name in FILES:
            wheel.write(folder / name, f"toywheel/data/{name}")
        about = "toywheel-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: toywheel\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    missing = Source("planetoid", "toy", wheel="toywheel==2.0", inside="toywheel/data")
    with pytest.raises(InputError, match=r"pip: No matching .* toywheel==2\.0"):
        obtain.obtain(_with(known, missing))
    source = Source("planetoid", "toy", wheel="toywheel==1.0", inside="toywheel/data")
    assert obtain.obtain(_with(known, source))[0].fingerprint == known.fingerprint
    assert _left(tmp_path / "cache") == sorted(f"data/toy/planetoid/{name}" for name in FILES)


def test_a_machine_without_pip_is_told(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads.sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(InputError, match=r"pip: .*No such file"):
        obtain.obtain(_with(toy[1], Source("planetoid", "toy", wheel="toy==1", inside="x")))


@pytest.mark.long
@pytest.mark.parametrize("slug", ["cora", "citeseer", "pubmed"])
def test_wheels_hold_the_graphs_of_the_papers(slug):
    known = CARDS[slug]
    wheels = [source for source in known.sources if source.wheel]
    assert wheels
    for source in wheels:
        graph, _ = obtain.obtain(_with(known, source))
        assert graph.fingerprint == known.fingerprint


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("inner/b", b"x", "it lacks a"),
        ("inner/a", bytes(2**26), "possible zip bomb"),
        ("a", b"x", "it lacks a"),
    ],
)
def test_archives_are_not_trusted(name, content, told, tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    with pytest.raises(InputError, match=told):
        unpack(tmp_path / "x.zip", "inner", ("a",), tmp_path)
    assert not (tmp_path / "a").exists()


def test_an_archive_that_lies_about_a_size_gives_no_more(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/a", bytes(2**24))
    content = (tmp_path / "x.zip").read_bytes()
    real, small = (2**24).to_bytes(4, "little"), (100).to_bytes(4, "little")
    (tmp_path / "x.zip").write_bytes(content.replace(real, small))
    with pytest.raises(InputError, match="not readable as an archive"):
        unpack(tmp_path / "x.zip", "inner", ("a",), tmp_path)
    assert (tmp_path / "a").stat().st_size <= 100


def test_how_much_has_come_is_shown_to_a_person(toy, web, tmp_path, monkeypatch):
    class Screen:
        def __init__(self):
            self.said = ""

        def write(self, text):
            self.said += text

        def flush(self):
            pass

        def isatty(self):
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    _copied(toy[0], web[0] / "data")
    fetch(Source("planetoid", "toy", url=f"{web[1]}/data"), FILES, tmp_path)
    assert FILES[0] in screen.said
    size = (toy[0] / FILES[0]).stat().st_size
    assert f"{size}/{size} bytes" in screen.said


def _changed(graph: Graph, **parts) -> Graph:
    return replace(graph, **parts)


def test_what_differs_is_told(toy):
    folder, known = toy
    graph = prepare(read_planetoid(folder, "toy"), *obtain.WHOLE)
    verify(graph, known, "here")

    def told(other: Graph) -> str:
        with pytest.raises(InputError, match="here: not the Toy of the papers") as caught:
            verify(other, known, "here")
        return str(caught.value).removeprefix("here: not the Toy of the papers: ")

    fewer = Graph.from_edges(graph.edges[1:], 12, features=graph.features, labels=graph.labels)
    n = len(graph.edges)
    assert told(fewer) == f"it has {n - 1} edges for {n}"
    more = Graph.from_edges(graph.edges, 13)
    classes = known.counts.classes
    assert told(more) == f"it has 13 nodes for 12, no features for 5, no classes for {classes}"
    u, v = graph.edges[0]
    free = next(w for w in range(12) if w not in (u, v) and graph.adjacency[u, w] == 0)
    moved = [(u, free) if i == 0 else pair for i, pair in enumerate(graph.edges.tolist())]
    moved_graph = Graph.from_edges(moved, 12, features=graph.features, labels=graph.labels)
    assert told(moved_graph) == "its counts agree, but its edges differ"
    words = graph.features * 2
    assert told(_changed(graph, features=words)) == "its counts agree, but its features differ"
    labels = (graph.labels + 1) % 3
    both = _changed(graph, features=words, labels=labels)
    assert told(both) == "its counts agree, but its features and labels differ"
    order = np.arange(12)[::-1]
    turned = Graph(graph.adjacency[order][:, order], graph.features[order], graph.labels[order])
    assert told(turned) == "it is the same graph, but its nodes stand in another order"


def test_a_card_without_a_fingerprint_checks_counts_alone(toy):
    folder, known = toy
    graph = prepare(read_planetoid(folder, "toy"), *obtain.WHOLE)
    unknown = replace(known, fingerprint="", marks={}, counts=Counts(12))
    verify(_changed(graph, labels=None), unknown, "here")
    with pytest.raises(InputError, match="it has 12 nodes for 11"):
        verify(graph, replace(unknown, counts=Counts(11)), "here")


def test_graphs_are_opened_by_slug_and_by_path(data_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(data_dir))
    graph = open_graph("citeseer")
    assert graph.fingerprint == CARDS["citeseer"].fingerprint
    part = load("citeseer", steps=("largest-component", "features-row-l1"))
    assert part.steps == (*obtain.WHOLE, "largest-component", "features-row-l1")
    part.save(tmp_path / "part.npz")
    assert open_graph(tmp_path / "part.npz").fingerprint == part.fingerprint
    assert open_graph(str(tmp_path / "part.npz")).n_nodes == 2120
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    assert open_graph(tmp_path / "edges.csv").edges.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(InputError, match="did you mean citeseer"):
        open_graph("citeser")
    with pytest.raises(InputError, match=r"citeser\.npz: cannot be read"):
        open_graph("citeser.npz")
    with pytest.raises(InputError, match="its files hold no parts"):
        published_parts("citeseer")
    assert {k: len(v) for k, v in published_parts("friendster").items()} == {
        "train": 15629,
        "valid": 3126,
        "test": 6251,
    }


def test_loads_are_equal_whatever_the_layout(data_dir, tmp_path, monkeypatch):
    for name in planetoid_files("citeseer"):
        os.symlink(data_dir / "planetoid" / name, tmp_path / name)
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    assert load("citeseer").fingerprint == CARDS["citeseer"].fingerprint
    assert FAMILIES["planetoid"].find(tmp_path, "citeseer") == tmp_path
