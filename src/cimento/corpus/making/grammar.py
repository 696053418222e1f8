"""Grammars of features, words with their forms and templates with slots, read from a folder.

The folder has ``grammar.toml`` and ``lexicon.tsv`` (docs/generating.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

from cimento.errors import InputError, did_you_mean, need_known
from cimento.io.parsing import read_toml
from cimento.suites.tables import open_table

FeatureBundle = Mapping[str, str]
"""The value of each feature, such as ``pl`` for ``number``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOfSpeech:
    """A part of speech with its inflection.

    Attributes:
        name: name in templates and in the lexicon.
        inflects: features in which its forms differ, in the order of names of forms.
    """

    name: str
    inflects: tuple[str, ...]

    def form_name(self, bundle: FeatureBundle) -> str:
        """The name of the form that has these values, such as ``f.pl``."""
        return ".".join(bundle[feature] for feature in self.inflects)


@dataclass(frozen=True, slots=True, kw_only=True)
class LexiconWord:
    """An entry of the lexicon.

    Attributes:
        pos: its part of speech.
        lemma: its name.
        inherent: features that all its forms have, such as ``f`` for ``gender``.
        forms: its forms by their names.
    """

    pos: str
    lemma: str
    inherent: FeatureBundle
    forms: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A place for a word in a template.

    Attributes:
        name: name in braces in the template's text.
        pos: part of speech of the word.
        where: inherent features that the word must have.
        vary: features whose values are taken in turn, so that items are balanced over them.
        fixed: features with one value.
        agrees_with: slot with which it agrees; empty if its features are independent.
        differs_from: slot from which its value must differ in every feature of `features`.
        features: features in which it agrees or differs.
        target: whether the conditions differ in this slot.
    """

    name: str
    pos: str
    where: FeatureBundle = field(default_factory=dict)
    vary: tuple[str, ...] = ()
    fixed: FeatureBundle = field(default_factory=dict)
    agrees_with: str = ""
    differs_from: str = ""
    features: tuple[str, ...] = ()
    target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarTemplate:
    """A sentence with slots.

    Attributes:
        name: name in the items' column ``template``.
        text: regions separated by `` | ``, with slots in braces; square brackets enclose a whole
            region that only the adversarial twin has.
        texts: instead, for a factorial design, each condition to its text: levels joined by ``_``.
        slots: slots in the order of filling, so that a slot follows the one it agrees with.
    """

    name: str
    text: str
    slots: tuple[Slot, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def every_text(self) -> tuple[str, ...]:
        """The text, or those of all conditions."""
        return tuple(self.texts.values()) or (self.text,)

    @property
    def target(self) -> Slot:
        """The slot in which the conditions differ."""
        return next(slot for slot in self.slots if slot.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A grammar, from which suites of one phenomenon are generated.

    Attributes:
        name: name of the generated suite.
        language: ISO 639-1 code.
        phenomenon: name of the phenomenon.
        features: the values of each feature.
        parts: parts of speech by name.
        lexicon: all words.
        templates: at least one.
        regions: names of the regions, the same for all templates.
        wrong: combinations of the target's features that are made wrong, each in a condition; empty
            for all combinations.
        factors: the levels of each factor of a factorial design; its templates have `texts`.
    """

    name: str
    language: str
    phenomenon: str
    features: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, PartOfSpeech]
    lexicon: tuple[LexiconWord, ...]
    templates: tuple[GrammarTemplate, ...]
    regions: tuple[str, ...]
    wrong: tuple[tuple[str, ...], ...] = ()
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def conditions(self) -> dict[str, dict[str, str]]:
        """The conditions of a factorial design, each with its level of each factor."""
        levels = product(*self.factors.values()) if self.factors else ()
        return {"_".join(cell): dict(zip(self.factors, cell, strict=True)) for cell in levels}

    def wrong_combinations(self, slot: Slot) -> tuple[tuple[str, ...], ...]:
        """The combinations of features in which a target is made wrong."""
        if self.wrong:
            return self.wrong
        sizes = range(1, len(slot.features) + 1)
        return tuple(wrong for n in sizes for wrong in sorted(combinations(slot.features, n)))


GRAMMAR, LEXICON = "grammar.toml", "lexicon.tsv"
_BUILT_IN = Path(__file__).parents[2] / "data" / "grammars"
_SLOT = re.compile(r"\{(\w+)\}")


def grammar_names() -> list[str]:
    """The names of the built-in grammars."""
    return sorted(path.parent.name for path in _BUILT_IN.glob(f"*/{GRAMMAR}"))


def find_grammar(name_or_path: str) -> Path:
    """The folder of a grammar: a built-in one by its name, any other by its path.

    Raises:
        InputError: there is neither a built-in grammar nor a path of this name.
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
    """Read a grammar from its folder.

    Raises:
        InputError: a file is missing, cannot be read, or names something unknown.
        SuiteError: the lexicon is not a table.
    """
    path = folder / GRAMMAR
    content = read_toml(path)
    try:
        grammar = _grammar(content, _lexicon(folder / LEXICON, content))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        seen = f"a key is missing or of the wrong kind ({type(error).__name__}: {error})"
        raise InputError(where=str(path), seen=seen, todo="See docs/generating.md.") from error
    _check(grammar, path)
    return grammar


def _grammar(content: Mapping[str, object], lexicon: tuple[LexiconWord, ...]) -> Grammar:
    return Grammar(
        name=_text(content["name"]),
        language=_text(content["language"]),
        phenomenon=_text(content.get("phenomenon", "")),
        regions=_texts(content["regions"]),
        features={name: _texts(values) for name, values in _table(content["features"]).items()},
        parts=_parts(content),
        lexicon=lexicon,
        templates=tuple(map(_template, _list(content["templates"]))),
        wrong=tuple(map(_texts, _list(content.get("wrong", [])))),
        factors={
            name: _texts(levels) for name, levels in _table(content.get("factors", {})).items()
        },
    )


def _parts(content: Mapping[str, object]) -> dict[str, PartOfSpeech]:
    return {
        name: PartOfSpeech(name=name, inflects=_texts(_table(entry)["inflects"]))
        for name, entry in _table(content["parts"]).items()
    }


def _template(entry: object) -> GrammarTemplate:
    table = _table(entry)
    return GrammarTemplate(
        name=_text(table["name"]),
        text="" if "texts" in table else _text(table["text"]),
        texts={key: _text(text) for key, text in _table(table.get("texts", {})).items()},
        slots=tuple(_slot(name, _table(slot)) for name, slot in _table(table["slots"]).items()),
    )


def _slot(name: str, table: Mapping[str, object]) -> Slot:
    known = {"pos", "where", "vary", "fixed", "agrees_with", "differs_from", "features", "target"}
    for key in table:
        need_known(
            key, known, where=f"slot {name!r}", seen=f"the key {key!r} is unknown", error=InputError
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


def _lexicon(path: Path, content: Mapping[str, object]) -> tuple[LexiconWord, ...]:
    table = open_table(path)
    todo = "Name the columns pos, lemma, then features, then forms as form:sg or form:f.pl."
    table.need("pos", "lemma", todo=todo)
    parts = _parts(content)
    forms = {name: name.removeprefix("form:") for name in table.columns if name.startswith("form:")}
    features = [name for name in table.columns if name not in ("pos", "lemma", *forms)]
    words = []
    for row in table.rows:
        cells = {column: cell.strip() for column, cell in row.cells.items()}
        pos = cells["pos"]
        need_known(
            pos,
            parts,
            where=table.where(row),
            seen=f"the part of speech {pos!r} is unknown",
            error=InputError,
        )
        inherent = {name: cells[name] for name in features if cells[name]}
        inflected = {form: cells[name] for name, form in forms.items() if cells[name]}
        words.append(LexiconWord(pos=pos, lemma=cells["lemma"], inherent=inherent, forms=inflected))
    return tuple(words)


def _check(grammar: Grammar, path: Path) -> None:
    """Refuse templates that name unknown slots, parts of speech, features or regions."""
    if not grammar.templates:
        raise InputError(where=str(path), seen="there is no template", todo="Write one.")
    for template in grammar.templates:
        where = f"{path}, template {template.name!r}"
        names = [slot.name for slot in template.slots]
        if set(template.texts) != set(grammar.conditions):
            seen = f"there are texts for {', '.join(template.texts) or 'no condition'}"
            wanted = ", ".join(grammar.conditions) or "none: there are no factors"
            raise InputError(where=where, seen=seen, todo=f"Its conditions are {wanted}.")
        used = _SLOT.findall(" ".join(template.every_text))
        if set(used) != set(names):
            seen = f"the text has the slots {used}, and {names} are said"
            raise InputError(where=where, seen=seen, todo="Make them the same.")
        for text in template.every_text:
            if text.count("|") + 1 != len(grammar.regions):
                seen = f"the text has {text.count('|') + 1} regions"
                raise InputError(where=where, seen=seen, todo=f"Write {len(grammar.regions)}.")
        if not template.texts and sum(slot.target for slot in template.slots) != 1:
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
            need_known(
                name,
                known,
                where=f"{where}, slot {slot.name!r}",
                seen=f"there is no {what} {name!r}",
                error=InputError,
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
