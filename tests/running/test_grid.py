"""From a file to runs: what is chosen, what goes together, what is refused."""

from __future__ import annotations

import pytest
from stand_ins import written

from graphgauge.benchmark import read_benchmark
from graphgauge.catalogue import method_class, method_names
from graphgauge.errors import InputError
from graphgauge.grid import Choice, runs_of

METHODS = {
    "spread": "use = 'stand_ins:Spread'\nhyper = { rounds = 2 }",
    "wide": "use = 'stand_ins:Spread'\nhyper = { rounds = 4 }\ndatasets = ['planted-100']",
    "de": "of = 'spread'\ncombine = 'mean-softmax'\nn = 2",
}
EVERYWHERE = {"datasets": ("planted-100", "planted-200"), "settings": ("density-50", "density-70")}


@pytest.fixture
def benchmark(tmp_path):
    path = written(tmp_path, methods=METHODS, **EVERYWHERE)
    path.write_text(path.read_text() + "[rows]\nse = 'spread'\n")
    return read_benchmark(path)


def test_all_of_it(benchmark):
    specs = runs_of(benchmark)
    assert len(specs) == 4 * 3 + 2 * 3 + 4
    assert len(set(specs)) == len(specs)
    ids = [spec.id for spec in specs]
    for spec in specs:
        assert all(ids.index(member) < ids.index(spec.id) for member in spec.members)


def test_choices(benchmark):
    assert len(runs_of(benchmark, Choice(settings=["density"]))) == len(runs_of(benchmark))
    chosen = Choice(["planted-100"], ["density-70"], ["wide"], [1], "published")
    [only] = runs_of(benchmark, chosen)
    assert (only.dataset, only.setting, only.method, only.seed) == (
        "planted-100",
        "density-70",
        "wide",
        1,
    )
    assert (only.protocol, dict(only.hyper)) == ("published", {"rounds": 4})
    named = runs_of(benchmark, Choice(methods=["se"], seeds=[0]))
    assert {spec.method for spec in named} == {"spread"}


def test_ensembles_stand_back_or_bring_their_members(benchmark):
    first = runs_of(benchmark, Choice(["planted-200"], ["density-50"], seeds=[0]))
    assert [spec.method for spec in first] == ["spread"]
    asked = runs_of(benchmark, Choice(["planted-200"], ["density-50"], ["de"], [0]))
    assert [(spec.method, spec.seed) for spec in asked] == [("spread", 0), ("spread", 1), ("de", 0)]
    assert asked[-1].members == tuple(spec.id for spec in asked[:-1])


def test_settings_and_data_sets_may_say_more_than_their_names(tmp_path):
    path = written(tmp_path, settings=("loss", "density-50"), datasets=("planted-100", "cora"))
    told = (
        "[settings.loss]\nsplit = 'shares-60-20-20'\nhyper = { rounds = 2 }\n"
        "[settings.density-50]\nhyper = { noise = 0.2 }\n"
        "[datasets.cora]\nsplit = 'published:planetoid:rest'\n"
    )
    path.write_text(path.read_text().replace("[methods", f"{told}[methods"))
    specs = runs_of(read_benchmark(path), Choice(seeds=[0]))
    found = {(s.dataset, s.setting): (s.split, dict(s.hyper)) for s in specs}
    assert found == {
        ("planted-100", "loss"): ("shares-60-20-20", {"rounds": 2}),
        ("planted-100", "density-50"): ("", {"noise": 0.2}),
        ("cora", "loss"): ("published:planetoid:rest", {"rounds": 2}),
        ("cora", "density-50"): ("published:planetoid:rest", {"noise": 0.2}),
    }


def test_what_is_recorded_is_said_by_the_benchmark(tmp_path):
    path = written(tmp_path)
    assert {spec.measures for spec in runs_of(read_benchmark(path))} == {("nodes",)}
    path.write_text(path.read_text().replace("seeds", "measures = ['nodes', 'edges']\nseeds"))
    assert {spec.measures for spec in runs_of(read_benchmark(path))} == {("nodes", "edges")}


CALIBRATED = {
    "spread": METHODS["spread"],
    "even": "of = 'spread'\ncalibrate = 'stand_ins:Halfway(way=0.2)'",
}


def test_what_is_calibrated_follows_from_a_run_of_its_seed(tmp_path):
    benchmark = read_benchmark(written(tmp_path, methods=CALIBRATED))
    specs = runs_of(benchmark)
    ran = [(spec.method, spec.seed) for spec in specs]
    assert ran == [(method, seed) for method in ("spread", "even") for seed in range(3)]
    for base, made in zip(specs[:3], specs[3:], strict=True):
        assert made.members == (base.id,)
        assert (made.use, made.version) == ("stand_ins:Halfway(way=0.2)", "1.3")
        assert (made.hyper, made.steps, made.setting) == (base.hyper, base.steps, base.setting)
        assert made.label == f"planted-200 density-50 even seed {made.seed} (corrected)"
    asked = runs_of(benchmark, Choice(methods=["even"], seeds=[1]))
    assert [(s.method, s.seed) for s in asked] == [("spread", 1), ("even", 1)]


def test_calibrators_of_a_benchmark_are_fitted_to_every_trained_method(tmp_path):
    methods = {**METHODS, "wide": METHODS["wide"].replace("4", "5")}
    path = written(tmp_path, methods=methods, **EVERYWHERE)
    labels = "{ published = 'stand_ins:Halfway', corrected = 'stand_ins:Undivided' }"
    path.write_text(path.read_text() + f"[calibrators]\neven = {labels}\n")
    benchmark = read_benchmark(path)
    for protocol, label in (("published", "Halfway"), ("corrected", "Undivided")):
        choice = Choice(["planted-200"], seeds=[0], protocol=protocol)
        found = {s.method: s.use for s in runs_of(benchmark, choice)}
        assert found == {"spread": "stand_ins:Spread", "spread.even": f"stand_ins:{label}"}
    made = runs_of(benchmark, Choice(["planted-100"], methods=["wide.even"], seeds=[0]))
    assert {spec.dataset for spec in made} == {"planted-100"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Halfway(way=0.2)", "Halfway(wy=0.2)", "cannot be made"),
        ("Halfway(way=0.2)", "Halfway(0.2)", "key=value"),
        ("stand_ins:Halfway(way=0.2)", "stand_ins:Nothing", "cannot be imported"),
        ("stand_ins:Halfway(way=0.2)", "stand_ins:HERE", "is no calibrator"),
        ("stand_ins:Halfway(way=0.2)", "no-such", "no-such"),
        ('"stand_ins:Halfway(way=0.2)"', "{ published = 'stand_ins:Halfway' }", "'corrected'"),
        ('"stand_ins:Halfway(way=0.2)"', "3", "calibrate"),
        ('of = "spread"', 'of = "even"', "no trained method"),
        ("[methods.even]", "[calibrators]\neven = 1\n[methods.even]", "calibrate"),
        (
            "[methods.even]",
            "[calibrators]\neven = 'stand_ins:Halfway'\n[methods.'spread.even']",
            "spread.even is among the methods already",
        ),
    ],
)
def test_calibrators_are_checked_before_anything_is_run(tmp_path, old, new, told):
    path = written(tmp_path, methods=CALIBRATED)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=told) as caught:
        runs_of(read_benchmark(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (Choice(["cora"]), "data set: unknown 'cora'"),
        (Choice(methods=["spraed"]), "did you mean 'spread'"),
        (Choice(settings=["density-90"]), "setting: unknown"),
        (Choice(seeds=[7]), "seed 7"),
        (Choice(protocol="other"), "protocol"),
    ],
)
def test_strange_choices_are_refused(benchmark, choice, told):
    with pytest.raises(InputError, match=told):
        runs_of(benchmark, choice)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("seeds =", "sedes =", "unknown 'sedes', did you mean 'seeds'"),
        ("[0, 1, 2]", "[0, 0]", "seeds"),
        ("[0, 1, 2]", "['a']", "seeds"),
        ("[0, 1, 2]", "[true]", "seeds"),
        ("name =", "title =", "lacks 'name'"),
        ("use =", "uses =", "unknown 'uses'"),
        ("hyper = {", "hyper = 3 #", "hyper is not"),
        ("rounds = 2", "roundz = 2", "no hyper-parameter 'roundz'"),
        ("stand_ins:Spread", "stand_ins:Nothing", "cannot be imported"),
        ("stand_ins:Spread", "nowhere:Spread", "cannot be imported"),
        ("stand_ins:Spread", "spread", "no method 'spread'"),
        ('of = "spread"', 'of = "de"', "no trained method"),
        ("n = 2", "n = 9", "n is 9"),
        ("n = 2", "n = 1", "n is 1"),
        ("density-70", "density-50", "twice"),
        ('["planted-100"]\n', '["cora"]\n', "unknown 'cora'"),
        ("mean-softmax", "mean softmax", "slug"),
        ("mean-softmax", "mean-softmx", "did you mean 'mean-softmax'"),
        ("[methods.wide]", "[methods.'a/b']", "slug"),
        ("seeds", "measures = ['edge']\nseeds", "did you mean 'edges'"),
        ("[methods.wide]", "[settings.density-50]\nsplits = 'a'\n[methods.wide]", "'splits'"),
        ("[methods.wide]", "[settings.density-50]\nsplit = ''\n[methods.wide]", "split"),
        ("[methods.wide]", "[settings]\ndensity-50 = 1\n[methods.wide]", "is no table"),
        (
            "[methods.wide]",
            "[settings.density-50]\nhyper = { roundz = 1 }\n[methods.wide]",
            "no hyper-parameter 'roundz'",
        ),
        ("[benchmark]", "[benchmarks]", "unknown 'benchmarks', did you mean 'benchmark'"),
        ("[benchmark]", "[benchmark", "not readable as a benchmark"),
    ],
)
def test_files_are_checked(tmp_path, old, new, told):
    path = written(tmp_path, methods=METHODS, **EVERYWHERE)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=told) as caught:
        runs_of(read_benchmark(path))
    assert "\n" not in str(caught.value)


def test_unknown_benchmarks_are_refused(tmp_path):
    with pytest.raises(InputError, match="no benchmark 'shiftz'"):
        read_benchmark("shiftz")
    with pytest.raises(InputError, match="cannot be read"):
        read_benchmark(tmp_path / "missing.toml")


def test_other_packages_register_methods(monkeypatch):
    from importlib.metadata import EntryPoint

    point = EntryPoint("theirs/spread", "stand_ins:Spread", "graphgauge.methods")
    monkeypatch.setattr("graphgauge.catalogue.entry_points", lambda group: [point])
    method_names.cache_clear()
    try:
        assert method_class("theirs/spread").__name__ == "Spread"
        with pytest.raises(InputError, match="did you mean 'theirs/spread'"):
            method_class("theirs/spred")
    finally:
        method_names.cache_clear()
