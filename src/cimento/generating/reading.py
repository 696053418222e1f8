"""Reading a grammar: a folder with ``grammar.toml`` and ``lexicon.tsv`` (docs/generating.md)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from cimento.errors import InputError, did_you_mean
from cimento.generating.grammar import Grammar, PartOfSpeech, Slot, Template, Word
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_toml
from cimento.suites.tables import Row, Table, open_table

GRAMMAR, LEXICON = "grammar.toml", "lexicon.tsv"
_BUILT_IN = Path(__file__).parents[1] / "data" / "grammars"
_SLOT = re.compile(r"\{(\w+)\}")


def grammar_names() -> list[str]:
    """The grammars that come with cimento."""
    return sorted(path.parent.name for path in _BUILT_IN.glob(f"*/{GRAMMAR}"))


def find_grammar(name_or_path: str) -> Path:
    """The folder of a grammar: a built-in one by its name, any other by its path.

    Raises:
        InputError: it is neither.
    """
    if name_or_path in grammar_names():
        return _BUILT_IN / name_or_path
    path = Path(name_or_path)
    if path.is_dir():
        return path
    raise InputError(
        where=name_or_path,
        seen="there is no grammar and no folder of this name",
        todo=did_you_mean(name_or_path, grammar_names()),
    )


def read_grammar(folder: Path) -> Grammar:
    """Read a grammar.

    Raises:
        InputError: a file is missing or cannot be read, or names something that there is not.
        SuiteError: the lexicon is no table.
    """
    path = folder / GRAMMAR
    try:
        content = parse_toml(read_bytes(path).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(where=str(path), seen="is not UTF-8", todo="Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(where=str(path), seen=f"is not TOML ({error})") from error
    try:
        grammar = _grammar(content, _lexicon(folder / LEXICON, content))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        seen = f"a key is missing or of the wrong kind ({type(error).__name__}: {error})"
        raise InputError(where=str(path), seen=seen, todo="See docs/generating.md.") from error
    _check(grammar, path)
    return grammar


def _grammar(content: Mapping[str, object], lexicon: tuple[Word, ...]) -> Grammar:
    return Grammar(
        name=_text(content["name"]),
        language=_text(content["language"]),
        phenomenon=_text(content.get("phenomenon", "")),
        regions=_texts(content["regions"]),
        features={name: _texts(values) for name, values in _table(content["features"]).items()},
        parts=_parts(content),
        lexicon=lexicon,
        templates=tuple(_template(each) for each in _list(content["templates"])),
        wrong=tuple(_texts(each) for each in _list(content.get("wrong", []))),
    )


def _parts(content: Mapping[str, object]) -> dict[str, PartOfSpeech]:
    return {
        name: PartOfSpeech(name=name, inflects=_texts(_table(entry)["inflects"]))
        for name, entry in _table(content["parts"]).items()
    }


def _template(entry: object) -> Template:
    table = _table(entry)
    return Template(
        name=_text(table["name"]),
        text=_text(table["text"]),
        slots=tuple(_slot(name, _table(slot)) for name, slot in _table(table["slots"]).items()),
    )


def _slot(name: str, table: Mapping[str, object]) -> Slot:
    known = {"pos", "where", "vary", "fixed", "agrees_with", "differs_from", "features", "target"}
    for key in table:
        if key not in known:
            raise InputError(
                where=f"slot {name!r}",
                seen=f"the key {key!r} is unknown",
                todo=did_you_mean(key, known),
            )
    return Slot(
        name=name,
        pos=_text(table["pos"]),
        where={key: _text(value) for key, value in _table(table.get("where", {})).items()},
        vary=_texts(table.get("vary", [])),
        fixed={key: _text(value) for key, value in _table(table.get("fixed", {})).items()},
        agrees_with=_text(table.get("agrees_with", "")),
        differs_from=_text(table.get("differs_from", "")),
        features=_texts(table.get("features", [])),
        target=bool(table.get("target", False)),
    )


def _lexicon(path: Path, content: Mapping[str, object]) -> tuple[Word, ...]:
    table = open_table(path)
    missing = [name for name in ("pos", "lemma") if name not in table.columns]
    if missing:
        raise InputError(
            where=str(path),
            seen=f"there is no column {', '.join(missing)}",
            todo="Name the columns pos, lemma, then features, then forms as form:sg or form:f.pl.",
        )
    parts = _parts(content)
    return tuple(_words(table, parts))


def _words(table: Table, parts: Mapping[str, PartOfSpeech]) -> Iterator[Word]:
    forms = {name: name.removeprefix("form:") for name in table.columns if name.startswith("form:")}
    features = [name for name in table.columns if name not in ("pos", "lemma", *forms)]
    for row in table.rows:
        yield _word(table, row, parts, forms, features)


def _word(
    table: Table,
    row: Row,
    parts: Mapping[str, PartOfSpeech],
    forms: Mapping[str, str],
    features: list[str],
) -> Word:
    cells = {column: cell.strip() for column, cell in row.cells.items()}
    if cells["pos"] not in parts:
        raise InputError(
            where=table.where(row),
            seen=f"the part of speech {cells['pos']!r} is unknown",
            todo=did_you_mean(cells["pos"], parts),
        )
    return Word(
        pos=cells["pos"],
        lemma=cells["lemma"],
        inherent={name: cells[name] for name in features if cells[name]},
        forms={form: cells[name] for name, form in forms.items() if cells[name]},
    )


def _check(grammar: Grammar, path: Path) -> None:
    """See that templates name slots, parts, features and regions that there are."""
    if not grammar.templates:
        raise InputError(where=str(path), seen="there is no template", todo="Write one.")
    for template in grammar.templates:
        where = f"{path}, template {template.name!r}"
        names = [slot.name for slot in template.slots]
        if set(_SLOT.findall(template.text)) != set(names):
            seen = f"the text has the slots {_SLOT.findall(template.text)}, and {names} are said"
            raise InputError(where=where, seen=seen, todo="Make them the same.")
        if template.text.count("|") + 1 != len(grammar.regions):
            seen = f"the text has {template.text.count('|') + 1} regions"
            raise InputError(where=where, seen=seen, todo=f"Write {len(grammar.regions)}.")
        if sum(slot.target for slot in template.slots) != 1:
            seen = "there is not exactly one target"
            raise InputError(where=where, seen=seen, todo="Write target = true in one slot.")
        for place, slot in enumerate(template.slots):
            _check_slot(grammar, slot, names[:place], where)


def _check_slot(grammar: Grammar, slot: Slot, before: list[str], where: str) -> None:
    others = tuple(filter(None, (slot.agrees_with, slot.differs_from)))
    named: dict[str, tuple[Sequence[str], Collection[str]]] = {
        "part of speech": ((slot.pos,), grammar.parts),
        "feature": ((*slot.vary, *slot.features), grammar.features),
        "slot before it": (others, before),
    }
    for what, (names, known) in named.items():
        for name in names:
            if name not in known:
                raise InputError(
                    where=f"{where}, slot {slot.name!r}",
                    seen=f"there is no {what} {name!r}",
                    todo=did_you_mean(name, known),
                )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no table")
    return value
