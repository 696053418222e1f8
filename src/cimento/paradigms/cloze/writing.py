"""The native format of cloze suites, written without loss: tables have tabs and no quoting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cimento.io.files import write_text
from cimento.paradigms.cloze.reading import ITEMS, SEEDS, TOML
from cimento.paradigms.cloze.suite import (
    ROLES,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    Template,
)
from cimento.suites.formats.native import meta_table
from cimento.suites.model import JsonValue

_Record = Mapping[str, str]

_CODES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


def write_cloze(suite: ClozeSuite, folder: Path) -> Path:
    """Write a suite as a folder with suite.toml, items.tsv and, where there are seeds, seeds.tsv.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    write_text(tomli_w.dumps(_settings(suite)), folder / TOML)
    sets = _named_sets(suite.templates)
    items = [
        *map(_item, suite.items),
        *map(_multiword, suite.multiwords),
        *(row for template in suite.templates for row in _template(template, sets)),
    ]
    write_text(as_tsv(items), folder / f"{ITEMS}.tsv")
    seeds = _seeds(suite.templates, sets)
    if seeds:
        write_text(as_tsv(seeds), folder / f"{SEEDS}.tsv")
    else:
        (folder / f"{SEEDS}.tsv").unlink(missing_ok=True)
    return folder


def as_tsv(rows: Iterable[_Record]) -> str:
    """Rows whose cells are written already as a table with a header line."""
    records = list(rows)
    columns = list(dict.fromkeys(name for row in records for name in row))
    lines = [columns, *([row.get(name, "") for name in columns] for row in records)]
    return "".join("\t".join(line) + "\n" for line in lines)


def _settings(suite: ClozeSuite) -> dict[str, JsonValue]:
    meta = {**meta_table(suite.meta), **suite.meta.extra}
    settings: dict[str, JsonValue] = {"kind": suite.kind, "meta": meta}
    if suite.cluster:
        settings["options"] = {"cluster": suite.cluster}
    return {**settings, **suite.extra}


def _item(item: ClozeItem) -> _Record:
    return {
        "item": write_cell(item.id),
        "text": write_blank(item.before, item.after),
        **_answers(item.options, none=item.none_option),
        **_free(item.columns),
    }


def _multiword(item: MultiwordItem) -> _Record:
    return {
        "item": write_cell(item.id),
        "expression": write_cell(item.expression),
        "text": write_cell(item.text, signs="_"),
        **_free(item.columns),
    }


def _template(template: Template, sets: Mapping[str, str]) -> list[_Record]:
    named = sets.get(template.id, template.id)
    return [
        {
            "item": write_cell(template.id),
            "text": write_blank(sentence.before, sentence.after),
            **({"seeds": write_cell(named)} if named != template.id else {}),
            **_answers(template.options, none=template.none_option),
            **_free({**template.columns, **sentence.columns}),
        }
        for sentence in template.sentences
    ]


def _named_sets(templates: Sequence[Template]) -> dict[str, str]:
    """Each template with seeds to the first template that has the same ones."""
    by_template: dict[str, str] = {}
    for number, template in enumerate(templates):
        if template.seeds:
            same = (first.id for first in templates[: number + 1] if first.seeds == template.seeds)
            by_template[template.id] = next(same)
    return by_template


def _seeds(templates: Sequence[Template], sets: Mapping[str, str]) -> list[_Record]:
    return [
        {
            "set": write_cell(template.id),
            "category": write_cell(seed.category),
            "form": write_cell(form),
            **_answers(seed.options, none=False),
            **_free(seed.columns),
        }
        for template in templates
        if sets.get(template.id) == template.id
        for seed in template.seeds
        for form in seed.forms
    ]


def _answers(options: Sequence[Option], *, none: bool) -> dict[str, str]:
    cells = {
        role: write_options(option for option in options if option.role == role) for role in ROLES
    }
    return {
        **{role: cell for role, cell in cells.items() if cell},
        **({"none": "yes"} if none else {}),
    }


def _free(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: write_cell(text) for name, text in columns.items() if text}


# --- Cells


def write_cell(text: str, *, signs: str = "") -> str:
    """A text as a cell.

    Args:
        text: anything.
        signs: those that would mean something in this cell.
    """
    return _end(_start(_coded(text, signs)))


def write_blank(before: str, after: str) -> str:
    """A text with its blank as a cell."""
    return f"{_start(_coded(before, '_{}'))}___{_end(_coded(after, '_{}'))}"


def write_options(options: Iterable[Option]) -> str:
    """Options of one role as a cell."""
    return " | ".join(
        "/".join(write_cell(text, signs="|/") or "\\e" for text in option.spellings)
        for option in options
    )


def _coded(text: str, signs: str) -> str:
    return "".join(
        _CODES.get(character) or (f"\\{character}" if character in signs else character)
        for character in text
    )


def _start(cell: str) -> str:
    return "\\s" + cell[1:] if cell.startswith(" ") else cell


def _end(cell: str) -> str:
    return cell[:-1] + "\\s" if cell.endswith(" ") else cell
