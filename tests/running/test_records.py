"""Records: ids that mean the content, files that cannot be half there, nothing trusted."""

from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from graphgauge.errors import InputError
from graphgauge.records import Record, Records, RunSpec, derive_seed


def spec(**changes):
    given = {
        "benchmark": "shifts",
        "dataset": "cora-ml",
        "setting": "popularity-50",
        "method": "erm",
        "seed": 0,
        "protocol": "corrected",
        "hyper": {"rate": 0.001, "layers": [64, 64], "mod": True},
        "version": "1",
    }
    return RunSpec(**{**given, **changes})


def record(**changes):
    values = {"all": {"accuracy": 0.1 + 0.2, "nll": math.inf, "prr_tu": math.nan}}
    made = {"seed": 5, "timing": {"seconds": 1.5, "started": "2026-01-01T00:00:00+00:00"}}
    return Record(spec(**changes), "done", "", values, made)


def test_ids_are_the_same_in_other_processes_and_under_other_hash_seeds():
    code = (
        "from graphgauge.records import RunSpec, derive_seed\n"
        "hyper = {'mod': True, 'layers': [64, 64], 'rate': 0.001}\n"
        "s = RunSpec('shifts', 'cora-ml', 'popularity-50', 'erm', 0, 'corrected', hyper, '1')\n"
        "print(s.id, derive_seed(0, 'a', 3))"
    )
    expected = f"{spec().id} {derive_seed(0, 'a', 3)}\n"
    for hash_seed in ("1", "77"):
        env = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
        )
        assert done.stdout == expected, done.stderr


def test_every_field_is_part_of_the_id():
    changes = {
        "benchmark": "revisiting",
        "dataset": "citeseer",
        "setting": "density-50",
        "method": "gpn",
        "seed": 1,
        "protocol": "published",
        "hyper": {},
        "version": "2",
        "members": (spec().id,),
        "use": "other:Erm",
        "steps": ("features-binary",),
    }
    later = {"split": "published:planetoid", "measures": ("nodes", "edges")}
    changed = {**changes, **later}
    ids = {spec(**{name: value}).id for name, value in changed.items()} | {spec().id}
    assert len(ids) == len(changed) + 1
    assert {item.name for item in fields(RunSpec)} == set(changed)
    # What came later is told where it is not as before, so that ids of earlier records stand.
    assert set(spec().to_dict()) == set(changes)
    assert set(spec(**later).to_dict()) == set(changed)
    assert RunSpec.from_dict(spec(**later).to_dict()) == spec(**later)


def test_ids_of_recorded_runs_are_those_of_their_specs():
    root = Path(__file__).parents[2]
    found = [*Records.load(root / "results" / "shifts.jsonl")]
    assert found
    assert {record.spec.measures for record in found} == {("nodes",)}
    assert not any({"split", "measures"} & set(record.spec.to_dict()) for record in found)


def test_specs_and_records_cannot_be_changed_and_travel():
    hyper = {"layers": [1, 2], "deep": {"a": [3]}}
    made = spec(hyper=hyper)
    before = made.id
    hyper["layers"].append(3)
    assert RunSpec.from_dict(made.to_dict()).id == before
    with pytest.raises(TypeError):
        made.hyper["deep"]["a"] = 1
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301
    assert pickle.loads(pickle.dumps(record())) == record()  # noqa: S301
    assert len({made, RunSpec.from_dict(made.to_dict())}) == 1


def test_numbers_come_back_as_they_were(tmp_path):
    path = record().save(tmp_path)
    found = Records.load(tmp_path).by_id[path.stem]
    assert found == record()
    assert found.values["all"]["accuracy"] == 0.1 + 0.2
    assert found.values["all"]["nll"] == math.inf
    assert math.isnan(found.values["all"]["prr_tu"])
    json.loads(path.read_text(), parse_constant=pytest.fail)


def test_content_leaves_out_timing_alone():
    other = Record(spec(), "done", "", record().values, {"seed": 5, "timing": {"seconds": 9}})
    assert other.content == record().content
    assert other != record()
    third = Record(spec(), "done", "", record().values, {"seed": 6})
    assert third.content != record().content


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"protocol": "other"}, "protocol"),
        ({"dataset": ""}, "dataset"),
        ({"dataset": "a\nb"}, "dataset"),
        ({"hyper": {"rate": math.nan}}, "hyper"),
        ({"hyper": {"rate": object()}}, "hyper"),
        ({"hyper": [1]}, "hyper"),
        ({"members": ("../x",)}, "members"),
        ({"members": "abc"}, "members"),
        ({"version": 1}, "version"),
        ({"split": "a\nb"}, "split"),
        ({"measures": "nodes"}, "measures"),
    ],
)
def test_specs_are_checked(changes, told):
    with pytest.raises(InputError, match=told):
        spec(**changes)


def test_reasons_go_with_the_status():
    with pytest.raises(InputError, match="reason"):
        Record(spec(), "failed")
    with pytest.raises(InputError, match="reason"):
        Record(spec(), "done", "why")
    with pytest.raises(InputError, match="status"):
        Record(spec(), "perhaps", "why")
    with pytest.raises(InputError, match="short line"):
        Record(spec(), "failed", "two\nlines")


def _edited(**changes):
    return json.dumps({**json.loads(record().to_text()), **changes}).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"schema": ' + b"9" * 5000 + b"}",
        record().to_text().encode()[:-20],
        _edited(schema="graphgauge.record/9"),
        _edited(id="0" * 16),
        _edited(status="perhaps"),
        _edited(status=["done"]),
        _edited(values={"all": {"accuracy": "high"}}),
        _edited(values={"all": {"accuracy": True}}),
        _edited(values={"all": [1]}),
        _edited(values=[1]),
        _edited(made="fast"),
        _edited(spec=None),
        _edited(spec={**spec().to_dict(), "seed": 7}),
        _edited(spec={**spec().to_dict(), "hyper": None}),
        _edited(extra=1),
        _edited(reason="but why"),
        b'{"schema": NaN}',
        _edited(values={"all": {"accuracy": 10**400}}),
        b" " * 2**21,
    ],
)
def test_hostile_files_are_refused_in_a_line_that_names_them(tmp_path, content):
    path = tmp_path / f"{spec().id}.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Records.load(tmp_path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_record_under_another_name_is_refused(tmp_path):
    record().save(tmp_path).rename(tmp_path / f"{'0' * 16}.json")
    with pytest.raises(InputError, match="which its name is not"):
        Records.load(tmp_path)


def test_export_and_import_are_the_same_whatever_the_order(tmp_path):
    many = [record(seed=seed) for seed in range(5)]
    folder = tmp_path / "records"
    folder.mkdir()
    for one in many:
        one.save(folder)
    Records.load(tmp_path).export(tmp_path / "a.jsonl")
    Records(many[::-1]).export(tmp_path / "b.jsonl")
    Records.load(tmp_path / "a.jsonl").export(tmp_path / "c.jsonl")
    texts = {(tmp_path / f"{name}.jsonl").read_bytes() for name in "abc"}
    assert len(texts) == 1
    lines = texts.pop().decode().splitlines()
    assert [json.loads(line)["id"] for line in lines] == sorted(one.spec.id for one in many)


def test_exported_files_are_read_without_trust(tmp_path):
    path = tmp_path / "a.jsonl"
    Records([record()]).export(path)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:-30], whole + b"{}\n", whole + whole, whole + b"x"):
        path.write_bytes(damaged)
        with pytest.raises(InputError):
            Records.load(path)
    with pytest.raises(InputError, match="missing"):
        Records.load(tmp_path / "missing.jsonl")


def test_drafts_of_killed_writers_are_no_records(tmp_path):
    record().save(tmp_path)
    (tmp_path / f".{spec(seed=3).id}.json.ab12.part").write_text("{")
    assert len(Records.load(tmp_path)) == 1


def test_selecting_and_the_latest_of_each_cell():
    old = [record(seed=seed) for seed in range(3)]
    new = Record(spec(version="2"), "failed", "why")
    records = Records([*old, new])
    assert {r.spec.seed for r in records.select(seed=(0, 2), version="1")} == {0, 2}
    assert len(records.select(status="failed")) == 1
    assert len(records.select(id=old[0].spec.id)) == 1
    assert len(records.latest()) == 3
    assert records.latest().select(seed=0).items == (new,)
    with pytest.raises(InputError, match="records have no 'colour'"):
        records.select(colour="red")
    with pytest.raises(InputError, match="twice"):
        Records([old[0], old[0]])
