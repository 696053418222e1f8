"""The pages about JSON: every field of the shipped schemas is there; the example is printed."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import invoke
from tests.helpers.docs_pages import DOCS, blocks
from tests.helpers.json_output import read_schema
from tests.helpers.site_pages import site_module

PAGE = DOCS / "parts" / "tables.md"
SCRIPTS = DOCS.parent / "scripts"


def fields(schema: Any) -> Iterator[str]:
    """The names of all properties in a schema, at any depth."""
    if isinstance(schema, dict):
        properties = schema.get("properties", {})
        yield from properties
        for name, child in schema.items():
            yield from fields(list(properties.values()) if name == "properties" else child)
    elif isinstance(schema, list):
        for child in schema:
            yield from fields(child)


def nearly(record: dict[str, Any]) -> dict[str, Any]:
    """A record that equals others but for the last digits, which differ between machines."""
    return {
        key: pytest.approx(value, rel=1e-5) if isinstance(value, float) else value
        for key, value in record.items()
    }


def module_at(path: Path) -> Any:
    """A module of the repository's scripts."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["summary", "table", "manifest"])
def test_every_field_of_files_in_json_stands_on_the_page(name):
    page = site_module("tables").tables_page()
    named = set(re.findall(r"^\| `(?:[^`]*\.)?(\w+)`", page, re.MULTILINE))
    assert set(fields(read_schema(name))) - named == set()


def test_every_field_of_every_command_stands_in_the_reference():
    commands = read_schema("commands")["$defs"]
    page = site_module("printed").printed_page()
    sections = re.findall(r"^## cimento (.+)$", page, re.MULTILINE)
    assert [section.replace(" ", "-") for section in sections] == list(commands)
    for text, schema in zip(page.split("\n## ")[1:], commands.values(), strict=True):
        named = set(re.findall(r"^\| `(?:[^`]*\.)?([\w-]+)`", text, re.MULTILINE))
        assert set(fields(schema)) - named == set()


@pytest.mark.parametrize("name", ["commands", "manifest"])
def test_every_field_has_the_description_of_its_record_or_one_of_its_own(name):
    json_fields = module_at(SCRIPTS / "json_fields.py")
    schema = read_schema(name)
    page = {
        "commands": lambda: site_module("printed").printed_page(),
        "manifest": lambda: site_module("tables").tables_page().split("\n## ")[1],
    }[name]()

    assert re.findall(r"^\| `.*\|\s*\|$", page, re.MULTILINE) == []
    assert json_fields.described(copy.deepcopy(schema)) == schema, (
        "python scripts/json_fields.py writes the descriptions"
    )


def test_the_example_is_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [shown] = [json.loads(block.text) for block in blocks(PAGE) if block.language == "json"]
    assert invoke(["run", "it-subject-verb", "-m", "demo-causal", "-o", "runs", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)

    [example], [run] = shown.pop("runs"), printed.pop("runs")
    assert shown == printed
    assert set(example) == set(run)
    for name, number in (("estimates", 3), ("outcomes", 72)):
        [first], full = example.pop(name), run.pop(name)
        assert len(full) == number
        assert full[0] == nearly(first)
    options, all_options = example.pop("options"), run.pop("options")
    assert options.pop("...") == "all others"
    assert {name: all_options[name] for name in options} == options
    assert example == run


FREE = {
    "analyze-reading-times.observations[]",
    "analyze-variation.models",
    "analyze-variation.ranking.kept[]",
    "analyze-variation.ranking.orders[]",
    "annotate-candidates.pairs[].cohen_kappa",
    "fill.texts[].fills",
    "study-connectives.sections",
    "study-connectives.statistics",
    "study-connectives.tables.*.rows[]",
    "study-connectives.tables.*.schema",
    "study-islands.tables.*.rows[]",
    "study-islands.tables.*.schema",
    "study-portuguese",
    "study-stories.models",
    "study-stories.paired_story_class",
    "suites-audit.suites[].unknown",
}
"""Arrays and objects whose content is told in words only: tables of studies, a table's own rows."""


def bare(schema: Any, path: str) -> Iterator[str]:
    """The paths of arrays and objects of which a schema does not say what is in them."""
    if not isinstance(schema, dict):
        return
    kinds = schema.get("type", ())
    if "anyOf" not in schema and (
        ("array" in kinds and "items" not in schema)
        or ("object" in kinds and not {"properties", "additionalProperties"} & schema.keys())
    ):
        yield path
    for name, child in schema.get("properties", {}).items():
        yield from bare(child, f"{path}.{name}")
    yield from bare(schema.get("items"), f"{path}[]")
    yield from bare(schema.get("additionalProperties"), f"{path}.*")
    for child in schema.get("anyOf", ()):
        yield from bare(child, path)


def test_what_an_array_or_an_object_holds_is_in_the_schema():
    commands = read_schema("commands")["$defs"]
    found = {path for name, schema in commands.items() for path in bare(schema, name)}
    assert found == FREE


NULL_IN_TEXT = re.compile(r"\bnull (?:where|without|if)\b")
FIELD = re.compile(r"^\| (`\S+`) \| (.*?) \| (.*) \|$", re.MULTILINE)


def test_every_field_has_a_type_that_allows_null_where_the_text_says_so():
    page = site_module("printed").printed_page()
    rows = FIELD.findall(page)
    assert len(rows) > 500
    assert [row for row in rows if not row[1].strip()] == []
    assert [row for row in rows if NULL_IN_TEXT.search(row[2]) and "null" not in row[1]] == []
    assert [row for row in rows if re.search(r" of [^()]* or null", row[1])] == []


def test_code_in_descriptions_is_read_as_code():
    page = site_module("printed").printed_page()
    assert re.findall(r"`[^`\n|]*&#\d+;[^`\n|]*`", page) == []
    assert '| `tie_rule` | `"half"` or `"judged"` |' in page


def test_the_page_says_what_is_in_a_list_and_in_a_record_of_a_record():
    page = site_module("printed").printed_page()
    assert "| `rates[].gained` | array of string |" in page
    assert "| `by_family` | (array of object) or null |" in page
    assert "| `rates[].suite` | string |" in page
    assert "| `rates[].note` | string or null |" in page
    assert "| `rates[].change.low` | number or null | Lower end of the interval |" in page
    assert "| `rankings[].models[].rank.best` | integer" in page
