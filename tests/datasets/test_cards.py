"""Cards say what is true: of the files at hand, of the papers' tables, of the readers."""

from __future__ import annotations

import csv
import re

import pytest

from graphgauge.datasets.card import CARDS, Card, card
from graphgauge.datasets.families import FAMILIES
from graphgauge.datasets.identity import count, mark
from graphgauge.datasets.load import load
from graphgauge.datasets.obtain import find, obtain
from graphgauge.errors import InputError

# Where the README of the real data speaks of a data set, and as which of those in one row.
AT_HAND = {
    "cora": ("`planetoid/`", 0),
    "citeseer": ("`planetoid/`", 1),
    "pubmed": ("`planetoid/`", 2),
    "cora-ml": ("`npz/cora_ml.npz`", 0),
    "amazon-computers": ("`npz/amazon_electronics_computers.npz`", 0),
    "coauthor-physics": ("`npz/ms_academic_phy.npz`", 0),
    "friendster": ("`friendster/friendster_25k.npz`", 0),
    "ogbl-ddi": ("`ogb/ogbl_ddi/`", 0),
}


@pytest.fixture(scope="module")
def graphs(data_dir):
    return {slug: load(slug) for slug in AT_HAND}


@pytest.mark.parametrize("slug", AT_HAND)
def test_counts_are_those_of_the_readme_beside_the_data(slug, data_dir, graphs):
    place, number = AT_HAND[slug]
    rows = (data_dir / "README.md").read_text(encoding="utf-8").splitlines()
    (cell,) = [row.split("|")[3] for row in rows if row.startswith(f"| {place} |")]
    told = re.findall(r"\d[\d,]*(?: / \d[\d,]*)+", cell)[number]
    sizes = [int(size.replace(",", "")) for size in told.split(" / ")]
    counted = count(graphs[slug])
    assert [n for n in vars(counted).values() if n is not None] == sizes


@pytest.mark.parametrize("slug", AT_HAND)
def test_fingerprints_are_those_of_the_content(slug, graphs):
    graph, known = graphs[slug], CARDS[slug]
    assert graph.fingerprint == known.fingerprint
    unordered = {"unordered": graph.unordered_fingerprint[:16]}
    assert mark(graph) | unordered == dict(known.marks)
    assert graph.steps == ("undirected", "loops-removed")
    assert graph.name == slug


def test_what_is_measured_is_what_is_at_hand(data_dir):
    measured = {slug for slug, known in CARDS.items() if known.fingerprint}
    at_hand = {s for s, known in CARDS.items() if any(f.place == "folder" for f in find(known))}
    assert measured == at_hand == set(AT_HAND)


def _tables(folder):
    names = {f"n_{what}": what for what in ("nodes", "edges", "features", "classes")}
    found: dict[tuple[str, str], dict[str, int]] = {}
    for paper in ("revisiting", "shifts", "heart", "miscalibrated", "edgewise"):
        with (folder / f"{paper}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["metric"] in names:
                    key = row["dataset"], f"{paper} {row['table']}"
                    found.setdefault(key, {})[names[row["metric"]]] = int(row["mean"])
    return found


def test_printed_counts_are_those_of_the_papers(data_dir):
    folder = data_dir.parent / "published"
    if not folder.is_dir():
        pytest.skip("published tables not found beside GRAPHGAUGE_DATA")
    ours = {}
    for slug, known in CARDS.items():
        for row in known.printed:
            sizes = {k: n for k in vars(known.counts) if (n := getattr(row, k)) is not None}
            ours |= {(slug, place): sizes for place in row.where.split(", ") if sizes}
    assert ours == _tables(folder)


@pytest.mark.parametrize("known", CARDS.values(), ids=list(CARDS))
def test_a_count_that_differs_is_explained(known: Card):
    for row in known.printed:
        differs = [
            what
            for what, n in vars(known.counts).items()
            if n is not None and getattr(row, what) not in (None, n)
        ]
        assert row.note or not differs, f"{row.where}: {differs}"


@pytest.mark.parametrize("known", CARDS.values(), ids=list(CARDS))
def test_sources_can_be_read_and_reached(known: Card):
    for source in known.sources:
        assert FAMILIES[source.family].files(source.key)
        assert bool(source.wheel) <= bool(source.inside)
        assert not (source.wheel and source.url)
        if source.url:
            assert re.fullmatch(r"https?://[^\s/]+/\S+[^/]", source.url)
    assert set(known.marks) <= {"edges", "features", "labels", "unordered"}
    assert bool(known.marks) == bool(known.fingerprint)


def test_names_of_nodes_and_classes_come_along(graphs):
    cora = graphs["cora"]
    assert cora.class_names[2] == "Genetic_Algorithms"
    assert cora.ids is not None
    assert len(set(cora.ids.tolist())) == 2708
    friendster = graphs["friendster"]
    assert friendster.class_names == ("Domestic Partner", "In A Relationship", "Married", "Single")
    assert (friendster.labels == -1).sum() == 18874


def test_citeseer_has_its_missing_rows_and_isolated_nodes(graphs):
    graph = graphs["citeseer"]
    rows = graph.features.sum(axis=1) == 0
    assert (graph.degrees == 0).sum() == 48
    assert rows.sum() == 15
    assert (graph.labels[rows] == 0).all()


def test_what_is_not_public_says_so():
    with pytest.raises(InputError, match="facebook: not public"):
        obtain(card("facebook"))


def test_unknown_names_are_answered():
    with pytest.raises(InputError, match="did you mean ogbn-arxiv"):
        card("ogb-arxiv")
    with pytest.raises(InputError, match="there are cora, citeseer"):
        card("zzzzzz")
