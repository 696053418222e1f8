"""Cloze suites: items with one blank each, and what items are made from.

A `ClozeItem` is a text with one blank. A `Template` and a `MultiwordItem` each stand for several of
them; `expand_suite` makes them. The id of a made item names what it was made of (template, number
of the sentence, seed), so that it stays the same when seeds are added, removed or reordered.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from cimento.errors import InputError
from cimento.io.clusters import CROSSED, cluster_cells, cluster_label, columns_named
from cimento.io.inline_markup import ITEMS_SHOWN, suite_table
from cimento.io.values import grouped
from cimento.suites import JsonValue, Meta

CLOZE_KINDS = ("cloze", "templates")
"""The kinds of suites of cloze items: written ones, and those that templates make."""
EXPECTED = "expected"
"""The column that holds an item's expectation."""
BLANK = "___"
"""How a suite writes the blank."""

SEED = "<SEED>"
"""How a template writes the place of its seed."""

OptionRole: TypeAlias = Literal["target", "plausible", "implausible"]
ROLES: tuple[OptionRole, ...] = get_args(OptionRole)

# A word of a multiword expression, as its sentence marks it.
MARKED_WORD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that may be in a blank.

    Attributes:
        text: as it would be there.
        role: ``target`` (what the author had there), ``plausible`` or ``implausible``.
        variants: other spellings that count as equal (``e`` for ``ed``).
    """

    text: str
    role: OptionRole = "target"
    variants: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The text and its variants."""
        return (self.text, *self.variants)


@dataclass(frozen=True, slots=True)
class ClozeItem:
    """A text with one blank.

    The texts before and after the blank are kept apart, so that an item without a blank, or with
    two, cannot be made.

    Attributes:
        id: stable, and the only one of its kind in a suite.
        before: everything before the blank, blanks included.
        after: everything after it.
        options: what may be there; empty where fills are open and judged by people or rules.
        none_option: whether people could answer that none of the options is suitable.
        columns: free keys that results are broken down by (``template``, ``seed``, ``category``,
            ``dimension``, ``expression``, ``word``), as text.
    """

    id: str
    before: str
    after: str
    options: tuple[Option, ...] = ()
    none_option: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text with its blank written as `BLANK`."""
        return f"{self.before}{BLANK}{self.after}"

    @property
    def targets(self) -> tuple[str, ...]:
        """The author's words for the blank, with the spellings that count as equal."""
        return self.spellings("target")

    def spellings(self, role: OptionRole) -> tuple[str, ...]:
        """All spellings of the options of one role, in order."""
        return tuple(
            text for option in self.options if option.role == role for text in option.spellings
        )

    def filled(self, candidate: str) -> str:
        """The text with a candidate in the blank."""
        return f"{self.before}{candidate}{self.after}"


@dataclass(frozen=True, slots=True)
class SeedSet:
    """The forms that one category of a template's seeds has.

    Attributes:
        category: what the forms have in common, such as ``f_pl``.
        forms: in order; an empty form leaves the text as it is.
        options: of every item made with these forms; empty where the template's hold.
        columns: free keys of every item made with these forms, as text.
    """

    category: str
    forms: tuple[str, ...]
    options: tuple[Option, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BaseSentence:
    """A base sentence of a template: `SEED` at most once in it, and one blank.

    Attributes:
        before: everything before the blank; may hold `SEED`.
        after: everything after it; may hold `SEED`.
        columns: free keys of every item made of this sentence, as text.
    """

    before: str
    after: str
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence with its blank written as `BLANK`."""
        return f"{self.before}{BLANK}{self.after}"

    @property
    def has_seed(self) -> bool:
        """Whether there is a place for a seed."""
        return SEED in self.before or SEED in self.after


@dataclass(frozen=True, slots=True)
class Template:
    """Base sentences, and the seeds that are put into each of them.

    Attributes:
        id: of the template; items made of it have ids that begin with it.
        sentences: with a blank and, where there are seeds, a place for the seed.
        seeds: the forms by category; empty for sentences that are asked as they are.
        options: of every item that is made of it.
        none_option: whether people could answer that none of the options is suitable.
        columns: free keys of every item that is made of it, as text.
    """

    id: str
    sentences: tuple[BaseSentence, ...]
    seeds: tuple[SeedSet, ...] = ()
    options: tuple[Option, ...] = ()
    none_option: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_slots(self) -> int:
        """The number of pairs of a sentence and a seed of a category."""
        forms = sum(len(seed.forms) for seed in self.seeds)
        return sum(forms if sentence.has_seed else 1 for sentence in self.sentences)


EXPRESSION = "expression"
"""Free column of the items of an expression, whose words belong together."""


@dataclass(frozen=True, slots=True)
class MultiwordItem:
    """A sentence with a multiword expression, each word of which is masked in turn.

    Attributes:
        id: stable; the items made of it are ``<id>/W1``, ``<id>/W2`` and so on.
        expression: what the expression is called, in its base form.
        text: the sentence, with each word of the expression in braces:
            ``Ha tagliato la {testa} al {toro}.``
        columns: free keys, as text.
    """

    id: str
    expression: str
    text: str
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the expression as they are in the sentence."""
        return tuple(MARKED_WORD.findall(self.text))


def cluster_cell(item: ClozeItem, columns: Sequence[str]) -> str:
    """What an item belongs to in one cell, as tables of outcomes have it; empty for none."""
    return cluster_cells([[item.columns.get(name)] for name in columns], 1)[0] or ""


def cluster_of(item: ClozeItem, columns: Sequence[str]) -> Hashable:
    """What an item belongs to: a cluster, one of each of several factors, or itself alone."""
    cell = cluster_cell(item, columns)
    return cluster_label(item.id, cell) if CROSSED in cell else cell or item.id


@dataclass(frozen=True, slots=True)
class ClozeSuite:
    """A suite of kind ``cloze`` or ``templates``.

    Attributes:
        meta: name, language, license and the like.
        items: items that are written out.
        templates: templates that items are made of.
        multiwords: sentences whose expression is masked word by word.
        cluster: free columns whose values say which items belong together (``template``,
            ``sentence``, ``expression``); empty where each stands alone. With two or more,
            clusters are crossed. One name is enough where there is one. Of multiwords it is the
            expression unless it is declared: the words of one are not independent.
        extra: top-level keys of suite.toml that cimento does not use, kept for writing.
        only: ids of the items that are asked; None for all. Not written.
    """

    meta: Meta
    items: tuple[ClozeItem, ...] = ()
    templates: tuple[Template, ...] = ()
    multiwords: tuple[MultiwordItem, ...] = ()
    cluster: Sequence[str] = ()
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    only: frozenset[str] | None = None

    def __post_init__(self) -> None:
        """Put the words of an expression into one cluster where none is declared."""
        declared = columns_named(self.cluster) or ((EXPRESSION,) if self.multiwords else ())
        object.__setattr__(self, "cluster", declared)

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    @property
    def kind(self) -> str:
        """``templates`` where there are some, else ``cloze``."""
        return "templates" if self.templates else "cloze"

    @property
    def n_written(self) -> int:
        """The number of templates, or of items where there are none."""
        return len(self.templates) or len(self.items) + len(self.multiwords)

    def __repr__(self) -> str:
        items = len(self.items) + len(self.multiwords)
        made = f" and {len(self.templates)} templates" if self.templates else ""
        return f"<ClozeSuite {self.name!r}: {items} items{made}>"

    def _repr_html_(self) -> str:
        """The suite as notebooks show it."""
        meta, items = self.meta, expand_suite(self).items
        return suite_table(
            ("item", "text", "target", "other options"),
            [
                [
                    (
                        item.id,
                        item.text,
                        " / ".join(item.targets),
                        ", ".join(
                            option.text for option in item.options if option.role != "target"
                        ),
                    )
                ]
                for item in items[:ITEMS_SHOWN]
            ],
            n_items=len(items),
            facts=(self.name, meta.language, meta.phenomenon, meta.license, meta.status),
            notes=[f"Made of templates: {len(self.templates)}."] if self.templates else [],
        )


JOINT = "; "
"""Between the categories of a form that belongs to several."""

MOST_ITEM_BYTES = 150_000_000
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
    """The items made from templates.

    Attributes:
        items: one for each distinct template, sentence and seed.
        shared: the forms that belong to several categories.
    """

    items: tuple[ClozeItem, ...]
    shared: tuple[SharedForm, ...]


def expand_templates(templates: Iterable[Template]) -> Expansion:
    """Every item of some templates.

    A form in several categories makes one item. Its `category` names them all, joined by
    `JOINT`, and so does every other column on which they differ.
    """
    items: list[ClozeItem] = []
    shared: list[SharedForm] = []
    for template in templates:
        items += _items_of(template)
        shared += _shared_forms(template)
    return Expansion(tuple(items), tuple(shared))


def expand_multiword(item: MultiwordItem) -> tuple[ClozeItem, ...]:
    """One item for each word of the expression, with that word as its target.

    The columns `expression`, `word` (position, from 1) and `cue` (the other words) are added.
    """
    words = item.words
    expanded = []
    for number, mark in enumerate(MARKED_WORD.finditer(item.text), start=1):
        others = [word for position, word in enumerate(words, start=1) if position != number]
        expanded.append(
            ClozeItem(
                id=f"{item.id}/W{number}",
                before=_unmarked(item.text[: mark.start()]),
                after=_unmarked(item.text[mark.end() :]),
                options=(Option(words[number - 1]),),
                columns={
                    **item.columns,
                    EXPRESSION: item.expression,
                    "word": str(number),
                    "cue": " ".join(others),
                },
            )
        )
    return tuple(expanded)


def expand_suite(suite: ClozeSuite) -> Expansion:
    """The items of a suite: those written out, then those of templates and of multiwords.

    Raises:
        InputError: a few rows would make so many items that they fill the memory.
    """
    if _bytes_needed(suite) > MOST_ITEM_BYTES:
        slots = sum(template.n_slots for template in suite.templates)
        slots += sum(len(multiword.words) for multiword in suite.multiwords)
        raise InputError(
            where=f"suite {suite.name!r}",
            seen=f"its templates and expressions make {slots:,} items, which need too much memory",
            todo="Split it into several suites.",
        )
    made = expand_templates(suite.templates)
    words = [item for multiword in suite.multiwords for item in expand_multiword(multiword)]
    items: tuple[ClozeItem, ...] = (*suite.items, *made.items, *words)
    if suite.only is not None:
        items = tuple(item for item in items if item.id in suite.only)
    return Expansion(items, made.shared)


def _bytes_needed(suite: ClozeSuite) -> int:
    """The rough size of all items: as many as slots, each as large as the largest of its kind."""
    total = 0
    for template in suite.templates:
        texts = [sentence.text for sentence in template.sentences]
        forms = [form for seeds in template.seeds for form in seeds.forms]
        slots = max((text.count(SEED) for text in texts), default=0)
        size = len(template.id) + max(map(len, texts), default=0)
        size += (1 + slots) * sum(map(len, forms)) // max(len(forms), 1)
        columns = [seeds.columns for seeds in template.seeds]
        columns += [sentence.columns for sentence in template.sentences]
        size += _COLUMN * max(map(len, (template.columns, *columns)))
        options = (template.options, *(seeds.options for seeds in template.seeds))
        size += _OPTION * max(map(len, options))
        total += template.n_slots * (_ITEM + size)
    for item in suite.multiwords:
        size = 2 * len(item.text) + _COLUMN * len(item.columns)
        total += len(item.words) * (_ITEM + size)
    return total


def _unmarked(text: str) -> str:
    return MARKED_WORD.sub(lambda mark: mark[1], text)


def _items_of(template: Template) -> list[ClozeItem]:
    items = []
    for number, sentence in enumerate(template.sentences, start=1):
        if not sentence.has_seed:
            # Asked as it is, under all the categories that there are (usually none).
            items.append(_item(template, number, sentence, "", template.seeds))
            continue
        for form, sets in _by_form(template.seeds).items():
            items.append(_item(template, number, sentence, form, sets))
    return items


def _item(
    template: Template, number: int, sentence: BaseSentence, form: str, sets: Sequence[SeedSet]
) -> ClozeItem:
    columns = {
        **template.columns,
        **sentence.columns,
        **_joined([seed_set.columns for seed_set in sets]),
        "template": template.id,
        "sentence": str(number),
        "seed": form,
        "category": JOINT.join(seed_set.category for seed_set in sets),
    }
    options = [option for seed_set in sets for option in seed_set.options]
    return ClozeItem(
        id=f"{template.id}/{number}/{form}" if form else f"{template.id}/{number}",
        before=sentence.before.replace(SEED, form),
        after=sentence.after.replace(SEED, form),
        options=tuple(dict.fromkeys(options)) or template.options,
        none_option=template.none_option,
        columns=columns,
    )


def _by_form(seeds: Iterable[SeedSet]) -> dict[str, list[SeedSet]]:
    """Each form with the sets that have it; a form twice in one set counts once."""
    return grouped((form, seed) for seed in seeds for form in dict.fromkeys(seed.forms))


def _joined(columns: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The columns of several sets: a value that they agree on, else all of them."""
    names = dict.fromkeys(name for column in columns for name in column)
    return {
        name: JOINT.join(dict.fromkeys(column[name] for column in columns if name in column))
        for name in names
    }


def _shared_forms(template: Template) -> list[SharedForm]:
    if not any(sentence.has_seed for sentence in template.sentences):
        return []
    return [
        SharedForm(template.id, form, tuple(seed_set.category for seed_set in sets))
        for form, sets in _by_form(template.seeds).items()
        if len(sets) > 1
    ]


_GROUPS = (2, 12)
"""A free column divides a suite if it has so many values."""


def dividing_column(items: Iterable[ClozeItem]) -> str:
    """The first free column of words that makes a few groups of items; empty where none does."""
    columns: dict[str, set[str]] = {}
    for item in items:
        for name, value in item.columns.items():
            columns.setdefault(name, set()).add(value)
    least, most = _GROUPS
    fitting = (
        name
        for name, values in columns.items()
        if least <= len(values) <= most and not all(map(str.isdecimal, values))
    )
    return next(fitting, "")
