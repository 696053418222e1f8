"""Grammars found by name and read from their files (docs/generating.md).

A language has a folder with ``lexicon.tsv``, ``language.toml`` for what its phenomena share, and a
file for each phenomenon.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from cimento.corpus.grammar import SLOT, Grammar, GrammarTemplate, LexiconWord, PartOfSpeech, Slot
from cimento.errors import InputError, did_you_mean, need_known
from cimento.intake.tables import open_table
from cimento.io.parsing import read_toml
from cimento.io.patterns import REFUSED, may_be_endless
from cimento.suites import BAD, GOOD
from cimento.suites.builtin import readers_of

GRAMMAR, LEXICON, LANGUAGE = "grammar.toml", "lexicon.tsv", "language.toml"
CLASSES = (
    "agreement", "argument structure", "aspect", "binding", "case", "clitics", "control/raising",
    "determiner-noun", "ellipsis", "filler-gap", "irregular forms", "islands", "mood",
    "NPI licensing", "quantifiers",
)  # fmt: skip
"""The classes of phenomena, after BLiMP (Warstadt et al. 2020, doi:10.1162/tacl_a_00321)."""

DEFAULT_CAP = 0.05
_BUILT_IN = Path(__file__).parents[1] / "data" / "grammars"
_Reader = Callable[[object], object]
"""From a value of TOML to that of a record; a value of another kind is a TypeError."""


def grammar_names(language: str = "") -> list[str]:
    """The names of the built-in grammars, such as ``en-anaphor-gender``, of one or all languages.

    Raises:
        InputError: there are no grammars of the language.
    """
    paths = _grammars_in(_BUILT_IN)
    languages = sorted({path.parent.name for path in paths.values()})
    if language and language not in languages:
        todo = f"There are grammars of {', '.join(languages)}."
        raise InputError(where=language, seen="there are no grammars of this language", todo=todo)
    return [name for name, path in paths.items() if language in ("", path.parent.name)]


@functools.cache
def _grammars_in(folder: Path) -> dict[str, Path]:
    """The grammars in the folders of languages, by name, in the order of names."""
    paths = (path for path in folder.glob("*/*.toml") if path.name != LANGUAGE)
    return dict(sorted((f"{path.parent.name}-{path.stem}", path) for path in paths))


def items_read(folder: Path) -> Counter[str]:
    """The number of generated items, by grammar, that two readers judged without the key."""
    readers = readers_of(folder)
    return Counter(item.partition("/")[0] for item, names in readers.items() if len(names) > 1)


def find_grammar(name_or_path: str) -> Path:
    """The file of a grammar: a built-in one by its name, any other by its path or its folder's.

    Raises:
        InputError: there is neither a built-in grammar nor a path of this name.
    """
    if path := _grammars_in(_BUILT_IN).get(name_or_path):
        return path
    path = Path(name_or_path)
    if path.is_dir():
        return path / GRAMMAR
    if path.suffix == ".toml" and path.is_file():
        return path
    raise InputError(
        where=name_or_path,
        seen="there is no grammar, no folder and no .toml file of this name",
        todo=did_you_mean(name_or_path, grammar_names()),
    )


def read_grammar(path: Path) -> Grammar:
    """Read a grammar from its file, with the lexicon and ``language.toml`` beside it.

    Args:
        path: the file, or a folder with ``grammar.toml``.

    Raises:
        InputError: a file is missing, cannot be read, or names something unknown.
        SuiteError: the lexicon is not a table.
    """
    path = path / GRAMMAR if path.is_dir() else path
    shared = path.parent / LANGUAGE
    content = _merged(read_toml(shared) if shared.is_file() else {}, read_toml(path))
    try:
        _need_keys(content, {"name", "class", "cap", *_GRAMMAR}, str(path))
        grammar = _grammar(content, path)
    except (KeyError, TypeError, AttributeError, ValueError, re.error) as error:
        seen = f"a key is missing or of the wrong kind ({type(error).__name__}: {error})"
        todo = 'See the page "Suites from grammars".'
        raise InputError(where=str(path), seen=seen, todo=todo) from error
    _check(grammar, path)
    return grammar


def _merged(shared: Mapping[str, object], content: Mapping[str, object]) -> dict[str, object]:
    """The keys of a phenomenon over those of its language; features and parts name by name."""
    merged = {**shared, **content}
    for key in ("features", "parts"):
        tables = [entry for entry in (shared.get(key), content.get(key)) if isinstance(entry, dict)]
        if len(tables) > 1:
            merged[key] = {**tables[0], **tables[1]}
    return merged


def _name(content: Mapping[str, object], path: Path) -> str:
    if "name" in content:
        return _text(content["name"])
    if path.name == GRAMMAR:
        return path.parent.resolve().name
    return f"{_text(content['language'])}-{path.stem}-generated"


def _grammar(content: Mapping[str, object], path: Path) -> Grammar:
    cap = content.get("cap", DEFAULT_CAP)
    if not isinstance(cap, int | float) or not 0 < cap <= 1:
        raise ValueError(f"cap is {cap!r}, no share from 0 to 1")
    term = _text(content.get("class", ""))
    if term:
        need_known(
            term, CLASSES, where=str(path), seen=f"there is no class {term!r}", error=InputError
        )
    values = _values(content, _GRAMMAR, "language", "regions", "parts", "templates")
    return Grammar(
        name=_name(content, path),
        term=term,
        cap=float(cap),
        lexicon=_lexicon(path.parent / LEXICON, values["parts"]),
        **values,
    )


def _values(table: Mapping[str, object], readers: Mapping[str, _Reader], *needed: str) -> Any:  # noqa: ANN401  # fields of a record
    """The values of a table by name, each as its reader reads it."""
    for key in needed:
        if key not in table:
            raise KeyError(key)
    return {key: read(table[key]) for key, read in readers.items() if key in table}


def _parts(value: object) -> dict[str, PartOfSpeech]:
    parts = {}
    for name, entry in _table(value).items():
        table = _table(entry)
        _need_keys(table, _PART, f"part {name!r}")
        parts[name] = PartOfSpeech(name=name, **_values(table, _PART))
    return parts


def _template(entry: object) -> GrammarTemplate:
    table = _table(entry)
    name = _text(table["name"])
    _need_keys(table, {"name", "text", "texts", GOOD, BAD, "slots"}, f"template {name!r}")
    texts = _table(table.get("texts", {}))
    if GOOD in table or BAD in table:
        texts = {GOOD: table[GOOD], BAD: table[BAD]}
    slots = _table(table.get("slots", {}))
    return GrammarTemplate(
        name=name,
        text="" if texts else _text(table["text"]),
        texts={key: _text(text) for key, text in texts.items()},
        slots=tuple(_slot(slot, _table(content)) for slot, content in slots.items()),
    )


def _slot(name: str, table: Mapping[str, object]) -> Slot:
    _need_keys(table, _SLOT, f"slot {name!r}")
    return Slot(name=name, **_values(table, _SLOT, "pos"))


def _rule(value: object) -> tuple[re.Pattern[str], str]:
    pattern, replacement = _texts(value)
    if may_be_endless(pattern):
        raise ValueError(f"spelling: {pattern!r}: {REFUSED}")
    return re.compile(pattern), replacement


def _need_keys(table: Mapping[str, object], known: Collection[str], where: str) -> None:
    for key in table:
        seen = f"the key {key!r} is unknown"
        need_known(key, known, where=where, seen=seen, error=InputError)


def _lexicon(path: Path, parts: Collection[str]) -> tuple[LexiconWord, ...]:
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    return _read_lexicon(path, stamp, tuple(parts))


# All grammars of a language share its lexicon: it is read once, unless it changes.
@functools.lru_cache(maxsize=8)
def _read_lexicon(path: Path, _stamp: int, parts: tuple[str, ...]) -> tuple[LexiconWord, ...]:
    table = open_table(path)
    todo = "Name the columns pos, lemma, then features, then forms as form:sg or form:f.pl."
    table.need("pos", "lemma", todo=todo)
    forms = {name: name.removeprefix("form:") for name in table.columns if name.startswith("form:")}
    features = [name for name in table.columns if name not in ("pos", "lemma", *forms)]
    words: dict[tuple[str, str], LexiconWord] = {}
    for row in table.rows:
        cells = {column: cell.strip() for column, cell in row.cells.items()}
        pos, where = cells["pos"], table.where(row)
        seen = f"the part of speech {pos!r} is unknown"
        need_known(pos, parts, where=where, seen=seen, error=InputError)
        inherent = {
            name: tuple(filter(None, re.split(r"[\s,]+", cells[name])))
            for name in features
            if cells[name]
        }
        inflected = {form: cells[name] for name, form in forms.items() if cells[name]}
        word = LexiconWord(pos=pos, lemma=cells["lemma"], inherent=inherent, forms=inflected)
        if (pos, word.lemma) in words:
            seen = f"the {pos} {word.lemma!r} is there twice"
            raise InputError(where=where, seen=seen, todo="Give one of them another lemma.")
        words[pos, word.lemma] = word
    return tuple(words.values())


def _check(grammar: Grammar, path: Path) -> None:
    """Refuse templates that name unknown slots, parts of speech, features or regions."""
    if not grammar.templates:
        raise InputError(where=str(path), seen="there is no template", todo="Write one.")
    for part in grammar.parts.values():
        _need(part.inflects, grammar.features, "feature", f"{path}, part {part.name!r}")
    if grammar.critical:
        _need((grammar.critical,), grammar.regions, "region", f"{path}, critical")
    kinds = {template.is_pair for template in grammar.templates}
    if len(kinds) > 1:
        seen = "some templates have good and bad, and others do not"
        raise InputError(where=str(path), seen=seen, todo="Write them all in one way.")
    for template in grammar.templates:
        where = f"{path}, template {template.name!r}"
        _check_texts(grammar, template, where)
        if not template.texts and sum(slot.target for slot in template.slots) != 1:
            seen = "there is not exactly one target"
            raise InputError(where=where, seen=seen, todo="Write target = true in one slot.")
        for place, slot in enumerate(template.slots):
            before = [other.name for other in template.slots[:place]]
            _check_slot(grammar, slot, before, f"{where}, slot {slot.name!r}")
            _check_forms(grammar, slot, template, f"{where}, slot {slot.name!r}")


def _check_texts(grammar: Grammar, template: GrammarTemplate, where: str) -> None:
    if not template.is_pair and set(template.texts) != set(grammar.conditions):
        seen = f"there are texts for {', '.join(template.texts) or 'no condition'}"
        wanted = ", ".join(grammar.conditions) or "none: there are no factors"
        raise InputError(where=where, seen=seen, todo=f"Its conditions are {wanted}.")
    names = [slot.name for slot in template.slots]
    used = sorted({name for name, _ in template.used})
    if set(used) != set(names):
        seen = f"the text has the slots {used}, and {names} are said"
        raise InputError(where=where, seen=seen, todo="Make them the same.")
    for text in template.every_text:
        if text.count("|") + 1 != len(grammar.regions):
            seen = f"the text has {text.count('|') + 1} regions"
            raise InputError(where=where, seen=seen, todo=f"Write {len(grammar.regions)}.")
        if re.search(r"[{}]", SLOT.sub("", text)):
            seen = f"a brace without its slot in {text!r}"
            raise InputError(where=where, seen=seen, todo="Write {V} or {V:form}.")


def _check_slot(grammar: Grammar, slot: Slot, before: Collection[str], where: str) -> None:
    _need((slot.pos,), grammar.parts, "part of speech", where)
    _need((*slot.vary, *slot.features, *slot.fixed), grammar.features, "feature", where)
    _need(tuple(filter(None, (slot.agrees_with, slot.differs_from))), before,
          "slot before it", where)  # fmt: skip
    for feature, value in slot.fixed.items():
        _need((value,), grammar.features[feature], f"value of {feature}", where)
    columns = {name for word in grammar.lexicon for name in word.inherent}
    if (slot.agrees_with or slot.differs_from) and not slot.features:
        seen = "it agrees or differs, and in no feature"
        raise InputError(where=where, seen=seen, todo="Write features = [...].")
    words = [word for word in grammar.lexicon if word.pos == slot.pos]
    for feature, values in slot.where.items():
        _need((feature,), columns, "feature in the lexicon", where)
        known = {value for word in words for value in word.inherent.get(feature, ())}
        for value in values:
            other, _, of_other = value.partition(".")
            if of_other and other in before:
                _need((of_other,), columns | set(grammar.features), "feature", where)
            else:
                _need((value.removeprefix("!"),), known, f"{slot.pos} with {feature} =", where)


def _check_forms(grammar: Grammar, slot: Slot, template: GrammarTemplate, where: str) -> None:
    """Refuse forms that no word of a slot's part of speech has."""
    forms = {form for word in grammar.lexicon if word.pos == slot.pos for form in word.forms}
    first = {feature: values[0] for feature, values in grammar.features.items()}
    for name, wanted in template.used:
        if name == slot.name and wanted:
            _need((grammar.form_name(slot.pos, first, wanted),), forms, "form", where)


def _need(names: Sequence[str], known: Collection[str], what: str, where: str) -> None:
    for name in names:
        seen = f"there is no {what} {name!r}"
        need_known(name, known, where=where, seen=seen, error=InputError)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _one_or_more(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else _texts(value)


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is not a list")
    return value


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is not a table")
    return value


def _named(read: _Reader) -> _Reader:
    """The reader of a table, each of whose values has the same reader."""
    return lambda value: {name: read(part) for name, part in _table(value).items()}


def _each(read: _Reader) -> _Reader:
    """The reader of a list, each of whose values has the same reader."""
    return lambda value: tuple(map(read, _list(value)))


_PART: Mapping[str, _Reader] = {"inflects": _texts, "closed": bool}
_SLOT: Mapping[str, _Reader] = {
    "pos": _text, "where": _named(_one_or_more), "vary": _texts, "fixed": _named(_text),
    "agrees_with": _text, "differs_from": _text, "features": _texts, "target": bool,
}  # fmt: skip
_GRAMMAR: Mapping[str, _Reader] = {
    "language": _text, "phenomenon": _text, "description": _text, "norm": _text, "source": _text,
    "regions": _texts, "features": _named(_texts), "parts": _parts, "templates": _each(_template),
    "wrong": _each(_texts), "factors": _named(_texts), "critical": _text, "spelling": _each(_rule),
}  # fmt: skip
