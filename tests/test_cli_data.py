"""Commands about data sets: what is printed, what is written, what they return."""

from __future__ import annotations

import json

import pytest

from graphgauge.cli import main
from graphgauge.datasets.card import CARDS
from graphgauge.graph import Graph


@pytest.fixture(autouse=True)
def _no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


@pytest.fixture
def bare(monkeypatch):
    monkeypatch.delenv("GRAPHGAUGE_DATA", raising=False)


def test_the_list_fits_a_terminal_and_says_where_things_are(data_dir, capsys):
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert set(CARDS) <= set(rows)
    assert rows["citeseer"].split()[1:] == ["3,327", "4,552", "3,703", "6", "RSHME", "folder"]
    assert rows["cora-full"].split()[-1] == "download"
    assert rows["facebook"].endswith("not public ")


def test_without_data_all_is_to_be_had_elsewhere(bare, capsys):
    assert main(["data", "list", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "graphgauge.datasets/1"
    places = {row["name"]: row["place"] for row in found["datasets"]}
    assert list(places) == list(CARDS)
    assert set(places.values()) == {"download", "not public"}
    cora = found["datasets"][0]
    assert cora["counts"] == {"nodes": 2708, "edges": 5278, "features": 1433, "classes": 7}
    assert cora["papers"] == ["heart", "miscalibrated", "edgewise"]


@pytest.mark.parametrize("slug", CARDS)
def test_every_card_can_be_shown(slug, bare, capsys):
    assert main(["data", "show", slug]) == 0
    out = capsys.readouterr().out
    assert CARDS[slug].title in out
    assert max(map(len, out.splitlines())) <= 80
    for word in ("licence", "cite", "holds", "sizes"):
        assert word in out
    assert "homophily" not in out


def test_what_is_at_hand_is_measured(data_dir, capsys):
    assert main(["data", "show", "cora"]) == 0
    out = capsys.readouterr().out
    for word in ("81.00% of the edges", "78 pieces", "largest of 2,485", "Neural_Networks 30.2%"):
        assert word in out
    assert "prints 10,556 edges: counts each edge twice" in out
    assert main(["data", "show", "cora", "--no-measure", "--json", "-"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert "measured" not in plain
    assert main(["data", "show", "citeseer", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["measured"]["isolated"] == 48
    assert found["measured"]["components"] == 438
    assert found["measured"]["largest"] == 2120
    assert found["measured"]["homophily"] == pytest.approx(0.7355, abs=1e-4)
    assert found["fingerprint"] == CARDS["citeseer"].fingerprint


def test_graphs_without_labels_are_shown_as_json_that_any_parser_reads(data_dir, capsys):
    def refuse(constant):
        raise ValueError(constant)

    assert main(["data", "show", "ogbl-ddi", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert found["measured"]["homophily"] is None


def test_a_graph_is_fetched_prepared_and_saved(data_dir, tmp_path, capsys):
    out = tmp_path / "part.npz"
    steps = ["--steps", "largest-component,features-binary"]
    assert main(["data", "fetch", "cora-ml", "--out", str(out), *steps]) == 0
    assert "2,810 nodes, 7,981 edges" in capsys.readouterr().out
    graph = Graph.load(out)
    assert graph.n_nodes == 2810
    assert graph.steps[2:] == ("largest-component", "features-binary")
    report = tmp_path / "fetched.json"
    assert main(["data", "fetch", "cora-ml", "citeseer", "--json", str(report)]) == 0
    rows = json.loads(report.read_text())["datasets"]
    assert [row["fingerprint"] for row in rows] == [
        CARDS[slug].fingerprint for slug in ("cora-ml", "citeseer")
    ]


def test_what_can_be_had_is_fetched_though_another_cannot(data_dir, capsys):
    assert main(["data", "fetch", "cora-full", "citeseer"]) == 2
    out, err = capsys.readouterr()
    assert "✔ citeseer" in out
    assert "✘ cora-full: cannot be had" in err
    assert err.endswith("error: 1 of 2 cannot be had: cora-full\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fetch"], "name a data set"),
        (["fetch", "nonsense"], "no data set 'nonsense'"),
        (["show", "nonsense"], "no data set 'nonsense'"),
        (["fetch", "facebook"], "facebook: not public"),
        (["fetch", "cora", "citeseer", "--out", "x.npz"], "for one data set at a time"),
        (["fetch", "--all", "--steps", "loops-added"], "for one data set at a time"),
        (["fetch", "cora", "--steps", "undirected"], "--steps prepares what --out saves"),
        (["fetch", "cora-full"], "cora-full: cannot be had; tried https://github.com"),
    ],
)
def test_errors_are_one_line_and_return_two(arguments, told, bare, capsys):
    assert main(["data", *arguments]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_an_unknown_step_is_told(data_dir, tmp_path, capsys):
    options = ["--out", str(tmp_path / "x.npz"), "--steps", "nonsense"]
    assert main(["data", "fetch", "citeseer", *options]) == 2
    assert "no step 'nonsense' (steps: undirected" in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize("command", ["list", "show", "fetch"])
def test_help_has_an_example(command, capsys):
    assert main(["data", command, "--help"]) == 0
    assert f"graphgauge data {command}" in capsys.readouterr().out.replace("\n", " ")
