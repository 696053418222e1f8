"""The fields of manifests: every one that a run writes is in the shipped schema, and no other."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cimento.cli.main import invoke
from cimento.evaluation.job import ITEMS_OF_SUITE
from cimento.kinds.packages import JUDGED_AGAIN, PLUGINS
from cimento.kinds.partial import IN_TURN, TAKEN
from cimento.kinds.stopped import ADAPTIVE
from cimento.records.usage import USAGE
from tests.helpers.json_output import read_schema

SAMPLE = Path(__file__).parents[1] / "sample_plugin"
IN_SOME = {ITEMS_OF_SUITE, IN_TURN, ADAPTIVE, PLUGINS, JUDGED_AGAIN, "run_file"}
"""What only some runs have, each of which is made here."""
ELSEWHERE = {TAKEN, USAGE}
"""What only runs of some recordings, and of servers, have."""


def manifests_in(folder: Path) -> list[dict[str, Any]]:
    paths = sorted(folder.glob("**/manifest.json"))
    assert paths
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


@pytest.fixture
def manifests(tmp_path, monkeypatch, runs_of_every_kind) -> list[dict[str, Any]]:
    """Manifests of every kind of suite, with every entry that only some runs have."""
    monkeypatch.syspath_prepend(str(SAMPLE))
    monkeypatch.chdir(tmp_path)
    Path("verbs.starred").write_text("Il gatto dorme.\n*Il gatto dormono.\n", encoding="utf-8")
    run_file = 'suites = ["it-subject-verb"]\nmodels = ["demo-causal"]\nlimit = 2\n'
    Path("run.toml").write_text(run_file, encoding="utf-8")
    stored = ["-o", "runs"]
    measured = ["verbs.starred", "-m", "length:2", "--measure", "worst-token", *stored]
    assert invoke(["run", *measured]) == 0
    assert invoke(["run", "run.toml", *stored]) == 0
    adaptive = ["--adaptive", "--precision", "0.4", "--store", "rank"]
    assert invoke(["run", "it-subject-verb", "-m", "demo-causal", *adaptive, *stored]) == 0
    Path("pairs.tsv").write_text("item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n", "utf-8")
    rows = ["sentence_id\ttoken_id\ttoken\tsurprisal", "1\t1\tLei\t1.0", "1\t2\tdorme.\t2.0"]
    rows += ["2\t1\tLei\t1.0", "2\t2\tdormono.\t6.0"]
    Path("said.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    assert invoke(["run", "pairs.tsv", "-m", "replay:said.tsv", *stored]) == 0
    assert invoke(["judge", "runs/verbs", "--measure", "lp", "-o", "judged"]) == 0
    return [*manifests_in(tmp_path), *manifests_in(runs_of_every_kind)]


def test_manifests_are_as_the_schema_says_and_have_all_of_its_fields(manifests):
    schema = read_schema("manifest")
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for manifest in manifests:
        validator.validate(manifest)
    named = set().union(*manifests)
    assert named >= IN_SOME
    assert named | ELSEWHERE == schema["properties"].keys()
    always = set.intersection(*map(set, manifests))
    assert always == set(schema["required"])


def test_what_a_run_was_asked_for_and_its_suite_are_described_field_by_field(manifests):
    properties = read_schema("manifest")["properties"]
    for part in ("suite", "inputs"):
        written = set().union(*(manifest[part] for manifest in manifests))
        assert written - properties[part]["properties"].keys() == set()


def records(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a schema that are records of the code, with the names of their classes."""
    if name := schema.get("$comment"):
        yield name, schema
    children = [*schema.get("properties", {}).values(), schema.get("additionalProperties")]
    for child in children:
        if isinstance(child, dict):
            yield from records(child)


def test_parts_that_are_records_have_the_fields_of_their_classes():
    found = dict(records(read_schema("manifest")))
    assert {name.partition(":")[2] for name in found} == {
        "AdaptiveRecord", "Asking", "Context", "ModelCard", "PluginPackage", "Policy", "RunUsage"
    }  # fmt: skip
    for name, schema in found.items():
        module, _, record = name.partition(":")
        fields = dataclasses.fields(getattr(importlib.import_module(module), record))
        assert schema["properties"].keys() == {field.name for field in fields}
        assert all(child.get("description") for child in schema["properties"].values())
