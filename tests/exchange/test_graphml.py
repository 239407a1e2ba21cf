"""GraphML: agreement with NetworkX, and files that are made to expand, to reach out or to break."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from drawn import classes_of, edges_of, names_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import Choices, import_files, read_graph

HEAD = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
KEYS = (
    '<key id="k0" for="node" attr.name="age" attr.type="double"><default>7</default></key>'
    '<key id="k1" for="node" attr.name="label" attr.type="string"/>'
    '<key id="k2" for="edge" attr.name="w" attr.type="double"><default>2</default></key>'
)
NODES = '<node id="a"><data key="k1">x</data></node><node id="b"><data key="k0">3</data></node>'


def written(folder, body, direction="undirected", keys=KEYS):
    path = folder / "a.graphml"
    text = f'{HEAD}{keys}<graph edgedefault="{direction}">{body}</graph></graphml>'
    path.write_text(text, encoding="utf-8")
    return path


def test_nodes_edges_and_attributes(tmp_path):
    edges = (
        '<edge source="a" target="b"><data key="k2">5</data></edge><edge source="b" target="b"/>'
    )
    path = written(tmp_path, NODES + edges)
    graph = read_graph(path)
    assert graph.ids.tolist() == ["a", "b"]
    assert graph.features.tolist() == [[7], [3]]
    assert (graph.labels.tolist(), graph.class_names) == ([0, -1], ("x",))
    assert edges_of(graph) == {("a", "b"): 1, ("b", "a"): 1, ("b", "b"): 1}
    assert edges_of(read_graph(path, weight="w")) == {("a", "b"): 5, ("b", "a"): 5, ("b", "b"): 2}
    assert read_graph(path, features="", label="").features is None


def test_edges_may_come_before_nodes_and_their_order_is_kept(tmp_path):
    edges = '<edge source="b" target="a"/>'
    graph = read_graph(written(tmp_path, edges + NODES, "directed"))
    assert names_of(graph) == ["a", "b"]
    assert edges_of(graph) == {("b", "a"): 1}


_VALUES = st.fixed_dictionaries(
    {"age": st.floats(allow_nan=False, allow_infinity=False), "ok": st.booleans()},
    optional={"topic": st.sampled_from(["a", "b", "ö <&> c"])},
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_agrees_with_networkx(tmp_path, data):
    kinds = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
    made = data.draw(st.sampled_from(kinds))()
    n = data.draw(st.integers(0, 6))
    for node in range(n):
        made.add_node(f"n {node}", **data.draw(_VALUES))
    places = st.integers(0, max(n - 1, 0))
    for u, v in data.draw(st.lists(st.tuples(places, places), max_size=10 if n else 0)):
        made.add_edge(f"n {u}", f"n {v}", w=data.draw(st.integers(1, 5)))
    nx.write_graphml(made, tmp_path / "a.graphml", named_key_ids=data.draw(st.booleans()))
    expected = nx.read_graphml(tmp_path / "a.graphml")
    has_topic = any("topic" in about for _, about in expected.nodes(data=True))
    choices = {"features": "age,ok" if n else "", "label": "topic" if has_topic else ""}
    choices |= {"weight": "w"} if made.number_of_edges() else {}
    graph = read_graph(tmp_path / "a.graphml", **choices)
    assert names_of(graph) == (list(expected.nodes) if n else [])
    matrix = nx.to_numpy_array(expected, weight="w") if n else np.empty((0, 0))
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix)
    for node, (_, about) in enumerate(expected.nodes(data=True)):
        assert graph.features[node].tolist() == [about["age"], about["ok"]]
        assert classes_of(graph)[node] == about.get("topic", "").strip()


def test_other_languages_and_long_texts_do_not_matter(tmp_path):
    drawing = '<y:Node xmlns:y="http://www.yworks.com/xml/graphml"><y:node id="z"/>9</y:Node>'
    keys = KEYS + '<key id="k3" for="node" yfiles.type="nodegraphics"/>'
    body = f'<desc>{"long " * 9999}</desc><node id="a"><data key="k3">{drawing}</data></node>'
    graph = read_graph(written(tmp_path, body, keys=keys), features="age", label="")
    assert graph.features.tolist() == [[7]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_are_those_the_file_says(tmp_path, encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + HEAD.partition("?>")[2]
    text += '<graph edgedefault="directed"><node id="ä"/></graph></graphml>'
    (tmp_path / "a.graphml").write_bytes(text.encode(encoding))
    assert read_graph(tmp_path / "a.graphml").ids.tolist() == ["ä"]


_LAUGHS = "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "ha">' for i in range(10)
)


@pytest.mark.parametrize(
    "doctype",
    [
        f"<!DOCTYPE graphml [{_LAUGHS}]>",
        f'<!DOCTYPE graphml [<!ENTITY l0 "{"A" * 50_000}">]>',
        '<!DOCTYPE graphml [<!ENTITY l0 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE graphml SYSTEM "http://localhost:1/evil.dtd">',
        '<!DOCTYPE graphml [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
        "<!DOCTYPE graphml>",
    ],
)
def test_document_types_are_refused_before_anything_is_read(tmp_path, doctype):
    body = '<graphml><graph edgedefault="directed"><node id="&l0;"/></graph></graphml>'
    (tmp_path / "a.graphml").write_text(f'<?xml version="1.0"?>{doctype}{body}')
    with pytest.raises(InputError, match="declares a document type"):
        read_graph(tmp_path / "a.graphml")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<node id="&ha;"/>', "not readable as GraphML"),
        ('<node id="a">', "not readable as GraphML"),
        ("<node/>", "holds a node without id"),
        ('<node id="a"/><node id="b"/><node id="a"/>', r"ids: 1 stands there before, 'a' .*row 2"),
        ('<node id=""/>', r"ids: 1 row has none \(row 0\)"),
        (f'<node id="{"x" * 200}"/>', "has one of 200 characters or more"),
        ('<node id="a"/><edge source="a" target="b"/>', r"never declared, 'b' first \(row 0\)"),
        ('<node id="a"/><edge source="a"/>', "holds a edge without target|an edge without target"),
        ('<node id="a"><data key="k9">1</data></node>', "holds data of 'k9', which no key"),
        ('<node id="a"><data>1</data></node>', "holds a data without key"),
        ('<node id="a"><data key="k0">old</data></node>', r"age: 'old' is not a number \(row 0\)"),
        ('<node id="a"><graph edgedefault="directed"/></node>', "several graphs, or one within"),
        ("<hyperedge/>", "holds a hyperedge"),
        ('<node id="a"/><edge source="a" target="a" directed="true"/>', "directed and undirected"),
        ("<a>" * 100, "lie more than 64 deep"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, body, told):
    path = written(tmp_path, body)
    with pytest.raises(InputError, match=told) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<graphml/>", "holds no graph"),
        ("<gexf/>", "not GraphML: its first element is 'gexf'"),
        ("<graphml><graph/></graphml>", "holds a graph without edgedefault"),
        ('<graphml><graph edgedefault="both"/></graphml>', "edgedefault is 'both'"),
        (f"{HEAD}{KEYS}{KEYS}</graphml>", "declares the key 'k0' twice"),
        ("", "not readable as GraphML"),
        ("source,target\n", "not readable as GraphML"),
        ('<?xml version="1.0" encoding="no-such"?><graphml/>', "not readable as GraphML"),
    ],
)
def test_what_is_no_graphml_is_told(tmp_path, text, told):
    (tmp_path / "a.graphml").write_text(text)
    with pytest.raises(InputError, match=told):
        read_graph(tmp_path / "a.graphml")


def test_attributes_of_one_name_are_ambiguous(tmp_path):
    key = '<key id="k5" for="node" attr.name="age" attr.type="int"/>'
    with pytest.raises(InputError, match="two attributes of nodes have the same name"):
        read_graph(written(tmp_path, NODES, keys=KEYS + key))


def test_a_node_that_says_nothing_is_named(tmp_path):
    key = '<key id="k5" for="node" attr.name="size" attr.type="int"/>'
    body = '<node id="a"><data key="k5">1</data></node><node id="b"/>'
    with pytest.raises(InputError, match=r"size: 1 row is missing \(row 1\)"):
        read_graph(written(tmp_path, body, keys=key))


def test_defaults_of_many_nodes_do_not_fill_memory(tmp_path):
    keys = "".join(
        f'<key id="k{i}" for="node" attr.name="a{i}" attr.type="int"><default>1</default></key>'
        for i in range(3000)
    )
    body = "".join(f'<node id="{i}"/>' for i in range(60_000))
    with pytest.raises(InputError, match="would expand from"):
        read_graph(written(tmp_path, body, keys=keys))


def test_a_file_says_itself_whether_edges_have_a_direction(tmp_path):
    with pytest.raises(InputError, match="--directed means nothing for GraphML"):
        read_graph(written(tmp_path, NODES), directed=True)
    body = NODES + '<edge source="a" target="b"/><edge source="b" target="a"/>'
    assert import_files([written(tmp_path, body)], Choices()).n_merged == 1
    assert import_files([written(tmp_path, body, "directed")], Choices()).n_merged == 0
