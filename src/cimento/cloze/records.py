"""What is asked of a model that fills blanks: frozen records, no reading or writing.

A `ClozeItem` is a text with one blank. A `Template` and a `MultiwordItem` each stand for several
of them; `cimento.cloze.templates` expands both. A `ClozeSuite` holds what one folder holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from cimento.suites.model import JsonValue, Meta

BLANK = "___"
"""How a suite writes the blank."""

SEED = "<SEED>"
"""How a template writes the place of its seed."""

Role: TypeAlias = Literal["target", "plausible", "implausible"]
ROLES: tuple[Role, ...] = get_args(Role)

# A word of a multiword expression, as its sentence marks it.
MARKED_WORD = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Option:
    """Something that may stand in a blank.

    Attributes:
        text: as it would stand there.
        role: ``target`` (what the author had there), ``plausible`` or ``implausible``.
        variants: other spellings that count as equal (``e`` for ``ed``).
    """

    text: str
    role: Role = "target"
    variants: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The text and its variants."""
        return (self.text, *self.variants)


@dataclass(frozen=True, slots=True)
class ClozeItem:
    """A text with one blank.

    The text is kept as what stands before the blank and what stands after it, so that an item
    without a blank, or with two, cannot be made.

    Attributes:
        id: stable, and the only one of its kind in a suite.
        before: everything before the blank, blanks included.
        after: everything after it.
        options: what may stand there; empty where fills are open and judged by people or rules.
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
        """What the author had in the blank, with the spellings that count as equal."""
        return self.spellings("target")

    def spellings(self, role: Role) -> tuple[str, ...]:
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
class Sentence:
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
    sentences: tuple[Sentence, ...]
    seeds: tuple[SeedSet, ...] = ()
    options: tuple[Option, ...] = ()
    none_option: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_slots(self) -> int:
        """How many pairs of a sentence and a seed of a category there are."""
        forms = sum(len(each.forms) for each in self.seeds)
        return sum(forms if sentence.has_seed else 1 for sentence in self.sentences)


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
        """The words of the expression as they stand in the sentence."""
        return tuple(MARKED_WORD.findall(self.text))


@dataclass(frozen=True, slots=True)
class ClozeSuite:
    """A suite of kind ``cloze`` or ``templates``.

    Attributes:
        meta: name, language, licence and the like.
        items: those that are written out.
        templates: those that items are made of.
        multiwords: sentences whose expression is masked word by word.
        cluster: free column whose value says which items belong together (``template``,
            ``sentence``, ``expression``); empty where each stands alone.
        extra: top-level keys of suite.toml that cimento does not use, kept for writing.
        limit: how many of its items are asked, from the first; None for all. It is not written.
    """

    meta: Meta
    items: tuple[ClozeItem, ...] = ()
    templates: tuple[Template, ...] = ()
    multiwords: tuple[MultiwordItem, ...] = ()
    cluster: str = ""
    extra: Mapping[str, JsonValue] = field(default_factory=dict)
    limit: int | None = None

    @property
    def name(self) -> str:
        """The suite's name."""
        return self.meta.name

    @property
    def kind(self) -> str:
        """``templates`` where there are some, else ``cloze``."""
        return "templates" if self.templates else "cloze"

    def _repr_html_(self) -> str:
        """The suite as notebooks show it."""
        from cimento.cloze.notebook import suite_html

        return suite_html(self)
