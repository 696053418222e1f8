"""Variants of a suite: a lexical change in every item.

A variant replaces phrases, or fills slots in the sentences of a suite (``{subject}``, or
``{subject.verb}`` for a filler with several forms, which preserves agreement).
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.io.parsing import read_toml
from cimento.suites import Condition, JsonValue, Region, Suite
from cimento.suites.derived import origin_of, remade

Filler: TypeAlias = "str | Mapping[str, str]"
"""A filler of a slot: a text, or named forms."""

_SLOT = re.compile(r"\{([\w-]+)(?:\.([\w-]+))?\}")
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A variant: a change to the sentences of a suite.

    Attributes:
        name: name, which is added to that of the suite.
        comment: description of the change.
        replace: replacements of phrases, as whole words only.
        slots: the filler of each slot.
        conditions: the only conditions that are changed; empty for all.
        items: ids of the only items that are changed; empty for all.
    """

    name: str
    comment: str = ""
    replace: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[str, Filler] = field(default_factory=dict)
    conditions: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


_KEYS = tuple(field.name for field in dataclasses.fields(Variant))


@dataclass(frozen=True, slots=True)
class VariantSuite:
    """A variant suite with the extent of the change.

    Attributes:
        suite: the variant.
        changed: ids of items in which something changed.
        sentences: number of sentences that changed.
        untouched: ids of items that should have changed and did not.
    """

    suite: Suite
    changed: tuple[str, ...]
    sentences: int
    untouched: tuple[str, ...]


def read_variants(path: Path) -> tuple[Variant, ...]:
    """The variants in a TOML file: ``[[variants]]``, with ``[slots]`` for fillers that all share.

    Raises:
        InputError: the file cannot be read, or has an unknown key.
    """
    parsed = read_toml(path)
    shared = _slots(parsed.get("slots", {}), where=f"{path}, [slots]")
    tables = parsed.get("variants")
    if not isinstance(tables, list) or not tables:
        raise InputError(
            where=str(path),
            seen="has no [[variants]]",
            todo='Write [[variants]] with name = "..." and replace = { "io" = "Gianni" }.',
        )
    variants = tuple(
        _variant(table, shared, where=f"{path}, variant {number}")
        for number, table in enumerate(tables, start=1)
    )
    for name, number in Counter(variant.name for variant in variants).items():
        if number > 1:
            raise InputError(where=str(path), seen=f"two variants are called {name!r}")
    return variants


def vary(suite: Suite, variant: Variant, *, sha256: str = "") -> VariantSuite:
    """Make one variant of a suite.

    Phrases match whole words with the same capitals; at the beginning of a sentence, the
    replacement gets a capital letter if the phrase had one. Longer phrases are replaced first. A
    phrase must lie within one region.

    Args:
        suite: the suite.
        variant: the change.
        sha256: digest of the suite, for the provenance.

    Raises:
        UsageError: the variant changes nothing, or names unknown conditions, items or slots.
    """
    _check_names(suite, variant)
    changed: list[str] = []
    untouched: list[str] = []
    sentences = 0
    items = []
    for item in suite.items:
        if variant.items and item.id not in variant.items:
            items.append(item)
            continue
        conditions = tuple(_varied(condition, variant) for condition in item.conditions)
        differing = sum(
            one.regions != other.regions
            for one, other in zip(item.conditions, conditions, strict=True)
        )
        (changed if differing else untouched).append(item.id)
        sentences += differing
        items.append(dataclasses.replace(item, conditions=conditions))
    if not changed:
        raise UsageError(
            where=f"variant {variant.name!r}",
            seen=f"nothing in the suite {suite.name!r} is changed by it",
            todo="Phrases are whole words, spelled as in the suite, within one region.",
        )
    made = remade(suite, items, name=variant.name, said=_provenance(suite, variant, sha256))
    comment = " ".join(filter(None, (suite.meta.comment, variant.comment)))
    made = dataclasses.replace(made, meta=dataclasses.replace(made.meta, comment=comment))
    return VariantSuite(made, tuple(changed), sentences, tuple(untouched))


def _provenance(suite: Suite, variant: Variant, sha256: str) -> dict[str, JsonValue]:
    said: dict[str, JsonValue] = {
        **origin_of(suite.meta, sha256),
        "variant": variant.name,
        "replace": dict(variant.replace),
        "slots": {
            name: filler if isinstance(filler, str) else dict(filler)
            for name, filler in variant.slots.items()
        },
        "conditions": list(variant.conditions),
        "items": list(variant.items),
    }
    return {key: value for key, value in said.items() if value}


def _varied(condition: Condition, variant: Variant) -> Condition:
    if variant.conditions and condition.name not in variant.conditions:
        return condition
    regions = []
    begun = False
    for region in condition.regions:
        text = _changed(region.text, variant, at_start=not begun)
        begun = begun or bool(region.text.strip())
        regions.append(region if text == region.text else dataclasses.replace(region, text=text))
    return dataclasses.replace(condition, regions=tuple[Region, ...](regions))


def _changed(text: str, variant: Variant, *, at_start: bool) -> str:
    filled = _SLOT.sub(lambda match: _filler(match, variant.slots), text)
    if variant.replace:
        filled = _pattern(variant.replace, at_start=at_start).sub(
            lambda match: _replacement(match[0], variant.replace), filled
        )
    if at_start and filled != text and filled[:1].islower() and not text[:1].islower():
        filled = filled[:1].upper() + filled[1:]
    return filled


def _filler(match: re.Match[str], slots: Mapping[str, Filler]) -> str:
    """The filler of a slot; a slot that the variant does not fill is unchanged."""
    filler = slots.get(match[1])
    if filler is None:
        return match[0]
    if isinstance(filler, str):
        return filler if match[2] is None else match[0]
    return filler.get(match[2] or "", match[0])


def _pattern(replace: Mapping[str, str], *, at_start: bool) -> re.Pattern[str]:
    phrases = sorted(replace, key=len, reverse=True)
    either = "|".join(map(re.escape, phrases))
    capitals = "|".join(re.escape(phrase[:1].upper() + phrase[1:]) for phrase in phrases)
    start = rf"^(?:{capitals})(?!\w)|" if at_start else ""
    return re.compile(rf"{start}(?<!\w)(?:{either})(?!\w)")


def _replacement(word: str, replace: Mapping[str, str]) -> str:
    if word in replace:
        return replace[word]
    text = next(new for old, new in replace.items() if old[:1].upper() + old[1:] == word)
    return text[:1].upper() + text[1:]


def open_slots(suite: Suite) -> tuple[str, ...]:
    """The slots in a suite's sentences, as ``name`` or ``name.form``, in order of appearance."""
    texts = (
        match[0].strip("{}")
        for _, condition in suite.stimuli()
        for region in condition.regions
        for match in _SLOT.finditer(region.text)
    )
    return tuple(dict.fromkeys(texts))


def _check_names(suite: Suite, variant: Variant) -> None:
    ids = [item.id for item in suite.items]
    slots = {name.split(".")[0] for name in open_slots(suite)}
    groups: Sequence[tuple[str, Iterable[str], Collection[str]]] = (
        ("condition", variant.conditions, suite.condition_names),
        ("item", variant.items, ids),
        ("slot", variant.slots, slots),
    )
    for what, named, known in groups:
        for name in named:
            need_known(
                name,
                known,
                where=f"variant {variant.name!r}",
                seen=f"the suite {suite.name!r} has no {what} {name!r}",
            )


def _variant(table: object, shared: Mapping[str, Filler], *, where: str) -> Variant:
    if not isinstance(table, dict):
        raise InputError(where=where, seen="is not a table", todo="Write [[variants]].")
    for key in table:
        if key not in _KEYS:
            todo = did_you_mean(key, _KEYS)
            raise InputError(where=where, seen=f"the key {key!r} is unknown", todo=todo)
    name = table.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        seen = f"name is {name!r}"
        raise InputError(where=where, seen=seen, todo="Give letters, digits, _, - or dots.")
    replace = table.get("replace", {})
    texts = isinstance(replace, dict) and all(isinstance(text, str) for text in replace.values())
    if not texts or "" in replace:
        raise InputError(where=where, seen="replace is not a table of phrases and replacements")
    return Variant(
        name=name,
        comment=str(table.get("comment", "")),
        replace=replace,
        slots={**shared, **_slots(table.get("slots", {}), where=where)},
        conditions=_names(table, "conditions", where),
        items=_names(table, "items", where),
    )


def _names(table: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise InputError(where=where, seen=f"{key} is not a list", todo=f'Write {key} = ["..."].')
    return tuple(map(str, value))


def _slots(value: object, *, where: str) -> dict[str, Filler]:
    fillers: dict[str, Filler] = {}
    for name, filler in value.items() if isinstance(value, dict) else ():
        forms = filler.values() if isinstance(filler, dict) else [filler]
        if all(isinstance(form, str) for form in forms):
            fillers[name] = filler
        else:
            todo = 'Write subject = "io", or subject = { subject = "io", verb = "abbia" }.'
            raise InputError(where=where, seen=f"the slot {name} holds {filler!r}", todo=todo)
    return fillers
