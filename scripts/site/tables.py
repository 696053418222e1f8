"""The page of stored files: columns of tables, and fields of the manifest and the JSON summary.

Names and types are those of the schemas in the code; what a column holds is said in
docs/parts/columns.tsv.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping

import schemas
from cells import PARTS, filled, table

from cimento.io.explained import EXPLAINED
from cimento.io.tables import JUDGMENTS, SCORES, TableSchema
from cimento.records.outcomes import ESTIMATES, GROUP, OUTCOMES
from cimento.records.store import ANSWERS

PAGE = "tables.md"
TABLES: Mapping[str, TableSchema] = {
    schema.name: schema for schema in (*ANSWERS.values(), OUTCOMES, SCORES, JUDGMENTS, *EXPLAINED)
}
"""Every table that is described column by column."""
TEXTS = PARTS / "columns.tsv"
_TYPES = {"String": "text", "Boolean": "boolean"}
_ADDED = {"scores": {"model": "String"}}
"""Columns that a printed table has besides those of its schema."""
_OF_SUMMARY = {
    "run": "RunSummary",
    "outcome": "Outcome",
    "usage": "RunUsage",
    "missing": "Missing",
    "mean": "SuiteMean",
}
"""Place on the page to the object of the JSON summary whose fields are put there."""
_WHOLE = {"summary": "summary", "grid": "table", "manifest": "manifest"}
"""Place on the page to the schema whose fields are put there."""


def tables_page() -> str:
    """The page in Markdown.

    Raises:
        ValueError: a column is not described, or what is described is not a column.
    """
    texts: dict[str, list[tuple[str, str]]] = {}
    with TEXTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            texts.setdefault(row["table"], []).append((row["columns"], row["content"]))
    if other := texts.keys() ^ TABLES.keys():
        raise ValueError(f"{TEXTS.name} and the code differ in the tables {sorted(other)}")
    made = {name: _columns(schema, texts[name]) for name, schema in TABLES.items()}
    return filled(PAGE, {**made, "estimates": _estimates(), **_schemas()})


def _columns(schema: TableSchema, texts: list[tuple[str, str]]) -> str:
    """The columns of a table, each with its type in the file and what it holds."""
    families = {f"{name}{'NAME' if name == GROUP else 'N'}": kind
                for name, kind in schema.families.items()}  # fmt: skip
    kinds = {**schema.columns, **schema.optional, **families, **_ADDED.get(schema.name, {})}
    described = [name for names, _ in texts for name in names.split(", ")]
    if sorted(described) != sorted(kinds):
        other = sorted({*described} ^ {*kinds}) or "one of them twice"
        raise ValueError(f"{TEXTS.name}, {schema.name}: it and the code differ in {other}")
    rows = []
    for columns, content in texts:
        names = columns.split(", ")
        types = [_TYPES.get(kinds[name], kinds[name].lower()) for name in names]
        one_type = types[:1] if len(set(types)) == 1 else types
        rows.append((", ".join(f"`{name}`" for name in names), ", ".join(one_type), content))
    return table(("column", "type", "content"), rows)


def _estimates() -> str:
    """The columns of the estimates, which are the fields of one in the JSON summary."""
    said = schemas.schema_of("summary")["$defs"]["Estimate"]["properties"]
    if said.keys() ^ ESTIMATES.columns.keys():
        raise ValueError("the estimates of the JSON summary and the table of estimates differ")
    found = {row[0].strip("`"): row for row in schemas.rows({"properties": said})}
    rows = ((found[name][0], _TYPES.get(kind, kind.lower()), found[name][2])
            for name, kind in ESTIMATES.columns.items())  # fmt: skip
    return table(("column", "type", "content"), rows)


def _schemas() -> dict[str, str]:
    """The objects of the JSON files, each as a table of its fields."""
    schema = schemas.schema_of("summary")
    parts = {place: schema["$defs"][name] for place, name in _OF_SUMMARY.items()}
    parts |= {name: schemas.schema_of(file) for name, file in _WHOLE.items()}
    return {place: table(schemas.HEAD, schemas.unique(schemas.rows(part)))
            for place, part in parts.items()}  # fmt: skip
