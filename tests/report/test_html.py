"""The page as text: what it shows, what it refuses, how large it gets."""

from __future__ import annotations

import copy
import math
import re
import unicodedata
from itertools import pairwise
from typing import Any

import examples
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree import Node, parse

from graphgauge.report import render
from graphgauge.report.html import MOST_BYTES
from graphgauge.scoring import RULES

EXAMPLES = {
    "nodes": examples.node_score,
    "links": examples.link_score,
    "several": examples.several_scores,
    "empty": examples.empty_score,
    "hostile": examples.hostile_score,
    "shift": examples.shift_description,
    "bare shift": examples.bare_description,
    "huge": examples.huge_score,
    "many": examples.huge_comparison,
}
HARMLESS = tuple(f"name{i}" for i in range(len(examples.HOSTILE)))


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: examples.page(make()) for name, make in EXAMPLES.items()}


@pytest.fixture(scope="module")
def trees(pages: dict[str, str]) -> dict[str, Node]:
    return {name: parse(page) for name, page in pages.items()}


every = pytest.mark.parametrize("name", EXAMPLES)


# --- The page as a document


@every
def test_page_is_well_formed_and_has_one_language_one_title_one_main_heading(
    trees: dict[str, Node], name: str
) -> None:
    tree = trees[name]
    assert tree.one("html")["lang"] == "en"
    assert tree.one("head").one("title").text.strip()
    assert tree.one("main")["id"] == "main"
    assert len(tree.all("h1")) == 1


@every
def test_headings_never_skip_a_level(trees: dict[str, Node], name: str) -> None:
    levels = [int(n.tag[1]) for n in trees[name].walk() if re.fullmatch("h[1-6]", n.tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


@every
def test_ids_are_unique_and_every_reference_leads_somewhere(
    trees: dict[str, Node], name: str
) -> None:
    nodes = list(trees[name].walk())
    ids = [n["id"] for n in nodes if "id" in n.attributes]
    assert len(ids) == len(set(ids))
    for node in nodes:
        for attribute in ("aria-labelledby", "aria-describedby"):
            assert set(node.attributes.get(attribute, "").split()) <= set(ids)
        if node.attributes.get("href", "").startswith("#"):
            assert node["href"][1:] in ids


@every
def test_tables_have_captions_and_scopes(trees: dict[str, Node], name: str) -> None:
    for table in trees[name].all("table"):
        assert len(table.all("caption")) == 1
        assert all("scope" in head.attributes for head in table.all("th"))
        for row in table.one("thead").all("tr") + table.all("tbody")[0].all("tr"):
            width = sum(int(c.attributes.get("colspan", 1)) for c in row.children if c.tag)
            assert width == len([c for c in table.one("thead").all("tr")[0].children if c.tag])


@every
def test_images_have_names_and_the_rest_is_hidden(trees: dict[str, Node], name: str) -> None:
    for image in trees[name].all("svg"):
        if image.attributes.get("aria-hidden") == "true":
            continue
        assert image["role"] == "img"
        assert next(c for c in image.children if c.tag).tag == "title"
        assert next(image.walk()).text.strip()


@every
def test_regions_that_scroll_can_be_reached_and_are_named(
    trees: dict[str, Node], name: str
) -> None:
    for node in trees[name].walk():
        if node.attributes.get("class") == "scroll":
            assert node["tabindex"] == "0"
            assert node["aria-label"].strip()


# --- Nothing from outside


@every
def test_nothing_is_loaded_and_nothing_runs(trees: dict[str, Node], name: str) -> None:
    allowed = ("#", "data:")
    for node in trees[name].walk():
        assert node.tag not in {"script", "iframe", "img", "object", "embed", "form", "base"}
        for attribute, value in node.attributes.items():
            assert not attribute.startswith("on")
            if attribute in {"href", "src", "srcset", "action", "xlink:href", "poster", "ping"}:
                assert value.startswith(allowed)
            if attribute == "style":
                assert "url(" not in value
    styles = "".join(style.text for style in trees[name].all("style"))
    assert "url(" not in styles
    assert "@import" not in styles


@every
def test_policy_forbids_everything_but_inline_style(trees: dict[str, Node], name: str) -> None:
    metas = [m for m in trees[name].all("meta") if "http-equiv" in m.attributes]
    assert len(metas) == 1
    rules = [rule.strip() for rule in metas[0]["content"].split(";")]
    assert {"default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"} <= set(rules)
    assert len([r for r in rules if not r.endswith("'none'")]) == 2


# --- Names that mean harm


def test_hostile_names_leave_the_structure_as_harmless_ones_do(trees: dict[str, Node]) -> None:
    harmless = parse(render(examples.hostile_score(HARMLESS)))
    assert trees["hostile"].skeleton() == harmless.skeleton()


def test_hostile_names_are_read_as_they_are_written(trees: dict[str, Node]) -> None:
    text = trees["hostile"].text
    for name in examples.HOSTILE[:5]:
        assert name in text
    assert "&lt;b&gt; &amp; ]]> <!-- -->" in text
    assert "49" not in [cell.text.strip() for cell in trees["hostile"].all("td")]


@every
def test_no_character_steers_or_hides(pages: dict[str, str], name: str) -> None:
    bad = {"Cc", "Cf", "Cs", "Co", "Cn"}
    found = {c for c in set(pages[name]) if unicodedata.category(c) in bad}
    assert found <= {"\n"}
    pages[name].encode("utf-8")


def test_long_names_are_cut(trees: dict[str, Node]) -> None:
    heading = trees["huge"].one("h1").text
    assert heading == "w" * 79 + "…"
    assert "x" * 600 not in trees["hostile"].text


@settings(max_examples=30, deadline=None)
@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=90))
def test_any_text_is_only_text(name: str) -> None:
    plain = _named("plain")
    assert parse(render(_named(name))).skeleton() in (
        parse(render(plain)).skeleton(),
        parse(render(_named("  "))).skeleton(),
    )


def _named(name: str) -> dict[str, Any]:
    score = examples.empty_score()
    score["name"], score["judged"] = name, [name]
    score["verdict"] = {"status": "bad", "headline": "h" + name, "reasons": []}
    score["definitions"] = {"d" + name: {"definition": name, "chance": name, "reference": name}}
    score["metrics"] = [examples.metric("accuracy", 0.5) | {"part": name, "name": "d" + name}]
    return score


# --- Size


@every
def test_page_stays_small(pages: dict[str, str], name: str) -> None:
    assert len(pages[name].encode()) < MOST_BYTES == 2_000_000


def test_ordinary_page_is_far_below_the_limit(pages: dict[str, str]) -> None:
    assert len(pages["nodes"].encode()) < 200_000


def test_page_of_the_widest_characters_stays_small() -> None:
    wide = examples.huge_score("\U00020000")
    assert len(render({"scores": [wide] * 2}).encode()) < MOST_BYTES


def test_what_is_left_out_is_counted(trees: dict[str, Node]) -> None:
    tree = trees["huge"]
    groups = next(t for t in tree.all("table") if "property 0" in t.one("caption").text)
    shown = len(groups.one("tbody").all("tr"))
    assert f"and {500 - shown} more groups" in tree.text
    findings = [n for n in tree.walk() if n.attributes.get("class") == "finding"]
    assert f"and {2000 - len(findings):,} more findings" in tree.text
    assert re.search(r"and 9,98\d more", tree.text)  # of 10,000 offenders


def test_every_model_has_a_row_or_is_counted(trees: dict[str, Node]) -> None:
    tree = trees["many"]
    overview = next(t for t in tree.all("table") if t.attributes.get("class") == "overview")
    rows = overview.one("tbody").all("tr")
    assert f"and {500 - len(rows)} more models" in tree.text
    sections = [n for n in tree.walk() if n.attributes.get("class") == "model"]
    assert 1 <= len(sections) < 500
    assert f"and {500 - len(sections)} more models not shown in full" in tree.text


# --- What is shown


def test_verdict_comes_first_then_the_rest_in_order(trees: dict[str, Node]) -> None:
    found = [n.text.strip() for n in trees["nodes"].walk() if n.tag in ("h1", "h2")]
    assert found == [
        "GCN on Cora",
        "Verdict: Caution",
        "Gates",
        "Key numbers",
        "Reliability",
        "Rejection",
        "Uncertainty, ID against OOD",
        "Groups",
        "Findings",
        "How every number is defined",
        "How the verdict is made",
    ]


@pytest.mark.parametrize(
    ("status", "word"), [("good", "Good"), ("caution", "Caution"), ("bad", "Bad")]
)
def test_status_is_a_word_a_colour_and_a_shape(status: str, word: str) -> None:
    score = examples.node_score()
    score["verdict"]["status"] = status
    tree = parse(render(score))
    block = next(n for n in tree.walk() if n.attributes.get("class", "").startswith("verdict "))
    assert block["class"] == f"verdict {status}"
    assert block.all("h2")[0].text == f"Verdict: {word}"
    assert block.all("use")[0]["href"] == f"#i-{status}"


def test_every_metric_is_shown_and_leads_to_its_definition(trees: dict[str, Node]) -> None:
    score, tree = examples.node_score(), trees["nodes"]
    targets = {n["id"]: n for n in tree.walk() if "id" in n.attributes}
    tables = {t.one("caption").text.split()[0]: t for t in tree.all("table") if is_numbers(t)}
    for metric in score["metrics"]:
        links = [a for a in tables[metric["part"]].all("a") if a.text == metric["name"]]
        assert len(links) == 1
        told = targets[links[0]["href"][1:]].text
        assert metric["name"] in told
        assert score["definitions"][metric["name"]]["definition"] in told


def is_numbers(table: Node) -> bool:
    return table.attributes.get("class") == "numbers"


def test_row_shows_value_interval_band_and_place(trees: dict[str, Node]) -> None:
    table = next(t for t in trees["nodes"].all("table") if is_numbers(t))
    row = next(r for r in table.all("tr") if "ece(bins=15)" in r.text and "edge" not in r.text)
    cells = [" ".join(c.text.split()) for c in row.all("td")]
    assert cells[0] == "0.091"
    assert cells[1].startswith("interval 0.080 to 0.103 0.073 to 0.112 over communities")
    assert cells[2] == "null band 0.017 to 0.041 ▲ above"
    places = [n for n in row.all("span") if n.attributes.get("class", "").startswith("place")]
    assert [n["class"] for n in places] == ["place worse"]


def test_worst_group_is_named_in_a_sentence_and_marked(trees: dict[str, Node]) -> None:
    tree = trees["nodes"]
    told = " ".join(tree.text.split())
    assert (
        "Worst by homophily: 0–0.25, with accuracy 0.394 against 0.791 over all of test (97 nodes)."
        in told
    )
    marked = [r for r in tree.all("tr") if r.attributes.get("class") == "marked"]
    assert [" ".join(r.all("th")[0].text.split()) for r in marked] == ["1 worst", "0–0.25 worst"]


def test_worst_group_is_kept_when_groups_are_cut(trees: dict[str, Node]) -> None:
    score = examples.node_score()
    score["groups"] = [
        {"by": "class", "group": f"c{i}", "part": "test", "n": 9, "metrics": {"accuracy": 0.5},
         "worst": i == 150} for i in range(200)
    ]  # fmt: skip
    tree = parse(render(score))
    assert "c150" in next(r for r in tree.all("tr") if r.attributes.get("class") == "marked").text
    assert re.search(r"and 184 more groups", tree.text)


def test_findings_come_by_severity_with_their_offenders(trees: dict[str, Node]) -> None:
    found = [n for n in trees["nodes"].walk() if n.attributes.get("class") == "finding"]
    assert [n.all("code")[0].text for n in found] == ["ties-at-cut", "duplicate-nodes"]
    offenders = [n for n in trees["nodes"].walk() if n.attributes.get("class") == "offenders"]
    assert [c.text for c in offenders[1].all("code")] == [
        "12",
        "77",
        "140",
        "141",
        "502",
        "503",
        "900",
        "1201",
    ]
    assert "and 6 more" in " ".join(offenders[1].text.split())
    assert "and 392 more" in " ".join(offenders[0].text.split())


def test_gates_say_passed_failed_or_not_measured() -> None:
    score = examples.node_score()
    score["gates"].append(
        {"gate": "prr>=0", "name": "prr", "part": "test", "value": None, "passed": None}
    )
    table = next(t for t in parse(render(score)).all("table") if "Gate" in t.text)
    assert [r.all("td")[-1].text.strip() for r in table.one("tbody").all("tr")] == [
        "passed",
        "failed",
        "not measured",
    ]


def test_links_show_ranks_and_tie_spread(trees: dict[str, Node]) -> None:
    tree = trees["links"]
    assert "Ranks and ties" in [h.text for h in tree.all("h2")]
    ties = next(t for t in tree.all("table") if t.one("caption").text == "Tie spread")
    rows = [[c.text.strip() for c in r.children if c.tag] for r in ties.one("tbody").all("tr")]
    assert [(r[0], r[2], r[4]) for r in rows] == [
        ("mrr", "0.413", "0.031"),
        ("hits(k=10)", "0.661", "0.047"),
    ]
    assert "3–9" in tree.text


@pytest.mark.parametrize("label", ["mrr(ties=mean)", "mrr"])
def test_spread_finds_its_metric_by_name(label: str) -> None:
    score = examples.link_score()
    score["metrics"][0]["name"] = label
    ties = next(t for t in parse(render(score)).all("table") if "Tie spread" in t.text)
    assert ties.one("tbody").all("tr")[0].all("td")[1].text == "0.413"


def test_several_scores_have_an_overview_comparisons_and_sections(trees: dict[str, Node]) -> None:
    tree = trees["several"]
    assert tree.one("h1").text == "3 models compared"
    overview = next(t for t in tree.all("table") if t.attributes.get("class") == "overview")
    rows = overview.one("tbody").all("tr")
    assert [r.all("a")[0]["href"] for r in rows] == ["#m1", "#m2", "#m3"]
    assert [r.all("td")[0].text.strip() for r in rows] == ["Caution", "Caution", "Good"]
    compared = next(t for t in tree.all("table") if t.attributes.get("class") == "comparisons")
    assert len(compared.one("tbody").all("tr")) == 6
    order = [h.text for h in tree.all("h2")]
    assert order[:3] == ["Overview", "Comparisons", "GCN on Cora"]


def test_rules_on_the_page_are_the_rules_of_the_verdict(trees: dict[str, Node]) -> None:
    kinds = next(n for n in trees["nodes"].walk() if n.attributes.get("class") == "kinds")
    rules = [" ".join(li.text.split()) for li in kinds.all("li")]
    aside = next(n for n in trees["nodes"].walk() if n.attributes.get("class") == "aside").text
    assert [rule.split(":")[0] for rule in rules] == ["Bad", "Caution", "Good"]
    told = " ".join(" ".join([*rules, aside]).split())
    written = re.sub(r"\*(\w+)\*", lambda m: m[1].capitalize(), RULES)
    assert told == " ".join(written.split())


def test_footer_says_how_the_page_was_made(trees: dict[str, Node]) -> None:
    made = trees["nodes"].one("footer")
    told = dict(
        zip([t.text for t in made.all("dt")], [d.text for d in made.all("dd")], strict=True)
    )
    assert told["protocol id"] == "1f3a77c0d95e"
    assert told["data"] == "c0ra9d1e"
    assert (told["graphgauge"], told["NumPy"], told["Python"]) == ("0.1.0", "2.4.6", "3.11.9")
    assert (told["seed"], told["redraws"], told["resamples"]) == ("0", "200", "200")


# --- Missing and strange values


def _replace_numbers(value: Any, by: object) -> Any:
    if isinstance(value, dict):
        return {k: _replace_numbers(v, by) for k, v in value.items()}
    if isinstance(value, list):
        return [_replace_numbers(v, by) for v in value]
    return by if isinstance(value, int | float) and not isinstance(value, bool) else value


@pytest.mark.parametrize("by", [None, math.nan, math.inf, -math.inf, 0, 1e300, -1e300, 5e-324])
@pytest.mark.parametrize("name", ["nodes", "links", "several"])
def test_no_value_breaks_the_page_or_shows_as_a_word(name: str, by: float | None) -> None:
    tree = parse(render(_replace_numbers(EXAMPLES[name](), by)))
    words = set(re.findall(r"[A-Za-z]+", tree.one("body").text))
    assert not words & {
        "nan",
        "NaN",
        "None",
        "inf",
        "Infinity",
        "undefined",
        "Undefined",
        "null_low",
    }
    places = [v for n in tree.walk() for v in n.attributes.values()]
    assert not any(re.search(r"\b(nan|inf)\b", v) for v in places if "data:" not in v)


@pytest.mark.parametrize("missing", list(examples.node_score()))
def test_any_field_may_be_missing(missing: str) -> None:
    score = examples.node_score()
    del score[missing]
    assert parse(render(score)).one("h1")
    score[missing] = None
    assert parse(render(score)).one("h1")


def test_an_infinite_value_is_not_shown_as_missing() -> None:
    shown = [examples.node_score(), examples.node_score()]
    rows = shown[1]["metrics"]
    metric = next(row for row in rows if (row["name"], row["part"]) == ("nll", "test"))
    metric.update(value=None, low=None, high=None, infinite=True)
    assert '">∞' not in render(shown[0])
    assert render({"scores": shown}).count('">∞') == 2  # in the overview and the table


def test_missing_numbers_are_read_aloud(trees: dict[str, Node]) -> None:
    table = next(t for t in trees["nodes"].all("table") if t.one("caption").text == "train")
    cell = table.one("tbody").all("td")[0]
    assert cell.all("span")[0]["aria-hidden"] == "true"
    assert cell.all("span")[1].text == "not available"


def test_numpy_numbers_are_numbers() -> None:
    score = examples.node_score()
    plain = render(score)
    for metric in score["metrics"]:
        metric["n"] = np.int64(metric["n"])
        metric["value"] = None if metric["value"] is None else np.float64(metric["value"])
    assert render(score) == plain


@every
def test_rendering_is_repeatable_and_leaves_its_input_alone(
    pages: dict[str, str], name: str
) -> None:
    score = EXAMPLES[name]()
    before = copy.deepcopy(score)
    assert examples.page(score) == pages[name]
    assert score == before or name == "many"


# --- Colours


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_contrast_on_every_ground(pages: dict[str, str], dark: bool) -> None:
    blocks = re.findall(r":root \{(.*?)\}", pages["nodes"], re.DOTALL)
    colours = dict(re.findall(r"--(\S+): (#[0-9a-f]{6})", blocks[1 if dark else 0]))
    for text in ("ink", "soft", "link", "good", "caution", "bad"):
        for ground in ("paper", "card", "good-wash", "caution-wash", "bad-wash", "note-wash"):
            assert _contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for mark in ("mark", "good", "bad", "other", "axis"):
        assert _contrast(colours[mark], colours["paper"]) >= 3, mark
