"""Templates and multiword items to cloze items, with ids that stay the same.

The id of an item names what it was made of (template, number of the sentence, seed), so that it
stays as it is when seeds are added, removed or put in another order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.cloze.records import (
    MARKED_WORD,
    SEED,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    SeedSet,
    Sentence,
    Template,
)
from cimento.errors import InputError

JOINT = "; "
"""Between the categories of a form that belongs to several."""

MOST_BYTES = 150_000_000
"""What the items of a suite may need, roughly: some ten thousand items, or far fewer long ones."""

_ITEM, _COLUMN, _OPTION = 1_000, 100, 50
"""Roughly, in bytes."""


@dataclass(frozen=True, slots=True)
class SharedForm:
    """A seed that two or more categories of a template have in common.

    Attributes:
        template: id of the template.
        form: the seed.
        categories: those it belongs to, in order.
    """

    template: str
    form: str
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expansion:
    """What templates were made into.

    Attributes:
        items: one for each distinct template, sentence and seed.
        n_slots: pairs of a sentence and a seed of a category; more than items where a form
            belongs to several categories.
        shared: the forms that do.
    """

    items: tuple[ClozeItem, ...]
    n_slots: int
    shared: tuple[SharedForm, ...]


def expand_templates(templates: Iterable[Template]) -> Expansion:
    """Every item of some templates.

    A form in several categories makes one item. Its `category` names them all, joined by
    `JOINT`, and so does every other column on which they differ.
    """
    items: list[ClozeItem] = []
    shared: list[SharedForm] = []
    n_slots = 0
    for template in templates:
        items += _items_of(template)
        shared += _shared_forms(template)
        n_slots += template.n_slots
    return Expansion(tuple(items), n_slots, tuple(shared))


def expand_multiword(item: MultiwordItem) -> tuple[ClozeItem, ...]:
    """One item for each word of the expression, with that word as its target.

    The columns `expression`, `word` (position, from 1) and `cue` (the other words) are added.
    """
    words = item.words
    found = []
    for number, mark in enumerate(MARKED_WORD.finditer(item.text), start=1):
        others = [word for position, word in enumerate(words, start=1) if position != number]
        found.append(
            ClozeItem(
                id=f"{item.id}/W{number}",
                before=_unmarked(item.text[: mark.start()]),
                after=_unmarked(item.text[mark.end() :]),
                options=(Option(words[number - 1]),),
                columns={
                    **item.columns,
                    "expression": item.expression,
                    "word": str(number),
                    "cue": " ".join(others),
                },
            )
        )
    return tuple(found)


def expand_suite(suite: ClozeSuite) -> Expansion:
    """The items of a suite: those written out, then those of templates and of multiwords.

    Raises:
        InputError: a few rows would make so many items that they fill the memory.
    """
    needed = sum(map(_template_bytes, suite.templates))
    needed += sum(map(_multiword_bytes, suite.multiwords))
    if needed > MOST_BYTES:
        slots = sum(each.n_slots for each in suite.templates)
        slots += sum(len(each.words) for each in suite.multiwords)
        raise InputError(
            where=f"suite {suite.name!r}",
            seen=f"its templates and expressions make {slots:,} items, which need too much memory",
            todo="Split it into several suites.",
        )
    made = expand_templates(suite.templates)
    words = [item for multiword in suite.multiwords for item in expand_multiword(multiword)]
    written = len(suite.items) + len(words)
    items = (*suite.items, *made.items, *words)[: suite.limit]
    return Expansion(items, made.n_slots + written, made.shared)


def _template_bytes(template: Template) -> int:
    """What the items of a template need, roughly."""
    own = _COLUMN * len(template.columns) + _OPTION * len(template.options) + len(template.id)
    sets = [_set_bytes(each) for each in template.seeds]
    forms = sum(len(each.forms) for each in template.seeds)
    letters = sum(len(form) for each in template.seeds for form in each.forms)
    seeded = sum(len(each.forms) * size for each, size in zip(template.seeds, sets, strict=True))
    total = 0
    for sentence in template.sentences:
        size = _ITEM + own + len(sentence.text) + _COLUMN * len(sentence.columns)
        if sentence.has_seed:
            total += seeded + forms * size + letters * (1 + sentence.text.count(SEED))
        else:
            total += size + sum(sets)
    return total


def _set_bytes(seeds: SeedSet) -> int:
    return len(seeds.category) + _COLUMN * len(seeds.columns) + _OPTION * len(seeds.options)


def _multiword_bytes(item: MultiwordItem) -> int:
    """What the items of an expression need: each has the whole text, and all other words."""
    return len(item.words) * (_ITEM + 2 * len(item.text) + _COLUMN * len(item.columns))


def _unmarked(text: str) -> str:
    return MARKED_WORD.sub(lambda mark: mark[1], text)


def _items_of(template: Template) -> list[ClozeItem]:
    found = []
    for number, sentence in enumerate(template.sentences, start=1):
        if not sentence.has_seed:
            # Asked as it is, under all the categories that there are (usually none).
            found.append(_item(template, number, sentence, "", template.seeds))
            continue
        for form, sets in _by_form(template.seeds).items():
            found.append(_item(template, number, sentence, form, sets))
    return found


def _item(
    template: Template, number: int, sentence: Sentence, form: str, sets: Sequence[SeedSet]
) -> ClozeItem:
    columns = {
        **template.columns,
        **sentence.columns,
        **_joined([each.columns for each in sets]),
        "template": template.id,
        "sentence": str(number),
        "seed": form,
        "category": JOINT.join(each.category for each in sets),
    }
    own = [option for each in sets for option in each.options]
    return ClozeItem(
        id=f"{template.id}/{number}/{form}" if form else f"{template.id}/{number}",
        before=sentence.before.replace(SEED, form),
        after=sentence.after.replace(SEED, form),
        options=tuple(dict.fromkeys(own)) or template.options,
        none_option=template.none_option,
        columns=columns,
    )


def _by_form(seeds: Iterable[SeedSet]) -> dict[str, list[SeedSet]]:
    """Each form with the sets that have it; a form twice in one set counts once."""
    found: dict[str, list[SeedSet]] = {}
    for each in seeds:
        for form in dict.fromkeys(each.forms):
            found.setdefault(form, []).append(each)
    return found


def _joined(columns: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The columns of several sets: a value that they agree on, else all of them."""
    names = dict.fromkeys(name for each in columns for name in each)
    return {
        name: JOINT.join(dict.fromkeys(each[name] for each in columns if name in each))
        for name in names
    }


def _shared_forms(template: Template) -> list[SharedForm]:
    if not any(sentence.has_seed for sentence in template.sentences):
        return []
    return [
        SharedForm(template.id, form, tuple(each.category for each in sets))
        for form, sets in _by_form(template.seeds).items()
        if len(sets) > 1
    ]
