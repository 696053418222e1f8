"""Passages: texts with a connective, in which another connective can take its place.

A passage that needs the sentence before it is joined to that sentence.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from cimento.corpus.connectives import DecisionKind
from cimento.corpus.connectives.inventories import Connective, Inventory
from cimento.corpus.sentences import Sentence, token_spans
from cimento.suites.model import Region

JOINED_BY = {"CCONJ": ",", "ADV": ";"}
"""Classes that link to the sentence before, with the mark that replaces its period."""

_ENDS = ("?", "!", "…", "...", "»", '"', "”", ")")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with one connective in it.

    Attributes:
        text: the sentence, or two sentences joined.
        start: offset of the connective's first character.
        end: offset one past its last character.
        joined: ID of the sentence that was put before it; empty for none.
        edit: description of the changes for joining; empty for none.
    """

    text: str
    start: int
    end: int
    joined: str = ""
    edit: str = ""

    @property
    def before(self) -> str:
        """The text before the connective."""
        return self.text[: self.start]

    @property
    def form(self) -> str:
        """The connective as written in the text."""
        return self.text[self.start : self.end]

    @property
    def after(self) -> str:
        """The text after the connective."""
        return self.text[self.end :]

    @property
    def glued(self) -> bool:
        """Whether a word follows the connective without a blank, as after ``dov'``."""
        return self.after[:1].isalnum()

    @property
    def marked(self) -> str:
        """The text with the connective in double brackets."""
        return f"{self.before}[[{self.form}]]{self.after}"


def passage_of(
    sentence: Sentence,
    word_ids: tuple[int, ...],
    *,
    needs_before: str = "",
    previous: Sentence | None = None,
) -> Passage | str:
    """The passage of a connective in a sentence, or the reason why there is none.

    Args:
        sentence: the sentence of the connective.
        word_ids: IDs of the connective's words.
        needs_before: mark for joining the sentence before; empty for no joining.
        previous: the sentence before it in the same document; None where there is none.
    """
    spans = token_spans(sentence)
    if spans is None:
        return "the text is not that of the tokens"
    covered = [
        (index, token)
        for index, token in enumerate(sentence.tokens())
        if token.first in word_ids or token.last in word_ids
    ]
    words = tuple(n for _, token in covered for n in range(token.first, token.last + 1))
    if words != word_ids:
        return "it is a part of a token"
    first, last = covered[0][0], covered[-1][0]
    if last - first + 1 != len(covered):
        return "it has parts with other words between them"
    start, end = spans[first][0], spans[last][1]
    passage = Passage(sentence.text, start, end)
    if not needs_before:
        return passage
    if previous is None:
        return "it opens its sentence, and the one before is not there to join it to"
    return _join(passage, previous, needs_before)


def _join(passage: Passage, previous: Sentence, mark: str) -> Passage:
    text = previous.text.rstrip()
    if text.endswith(_ENDS):
        start = f"{text} "
        form, edit = passage.form, f"after {previous.id}"
    else:
        start = f"{text.rstrip('.,;:')}{mark} "
        form, edit = uncapitalised(passage.form), f"after {previous.id}, joined with {mark!r}"
    before = start + passage.before
    return Passage(
        before + form + passage.after, len(before), len(before) + len(form), previous.id, edit
    )


def uncapitalised(form: str) -> str:
    """A form without its initial capital; a form in all capitals is unchanged."""
    if len(form) > 1 and form.isupper():
        return form
    return form[:1].lower() + form[1:]


def regions_of(passage: Passage) -> tuple[Region, ...]:
    """The regions before, connective and after, glued where the text has no blank."""
    parts = (passage.before, passage.form, passage.after)
    regions, ends_open = [], False
    for part in parts:
        regions.append(Region(part.strip(), glued=ends_open and not part.startswith(" ")))
        ends_open = bool(part) and not part.endswith(" ")
    return tuple(regions)


_WORD = re.compile(r"\s*(\w+)")


@dataclass(frozen=True, slots=True)
class ConnectiveReplacement:
    """A connective that could replace another.

    Attributes:
        name: the connective.
        same_class: whether it has the same syntactic class, which keeps the sentence grammatical.
        shared: senses that both connectives have; with one, the replacement is plausible.
    """

    name: str
    same_class: bool
    shared: tuple[str, ...]

    def __str__(self) -> str:
        parts = ["same class"] if self.same_class else []
        parts += [re.split(r"[.:]", sense)[-1].strip().lower() for sense in self.shared]
        return f"{self.name} ({', '.join(parts)})" if parts else self.name


def implausible_candidates(
    connective: Connective, inventory: Inventory
) -> list[ConnectiveReplacement]:
    """The other connectives, starting with those that should make it grammatical nonsense.

    The order is: the same class without a shared sense, another class without one, then the rest;
    within each group, the order of the inventory.
    """
    candidates = _candidates(connective, inventory)
    return sorted(candidates, key=lambda other: (bool(other.shared), not other.same_class))


def plausible_candidates(
    connective: Connective, inventory: Inventory
) -> list[ConnectiveReplacement]:
    """The other connectives, starting with those that should best preserve the meaning."""
    candidates = _candidates(connective, inventory)
    return sorted(candidates, key=lambda other: (not other.shared, not other.same_class))


def ranked_candidates(
    section: DecisionKind, connective: Connective, inventory: Inventory
) -> list[ConnectiveReplacement]:
    """The candidates to replace a connective in a section, the likeliest first."""
    if section is DecisionKind.SENTENCES:
        return implausible_candidates(connective, inventory)
    return plausible_candidates(connective, inventory)


def _candidates(connective: Connective, inventory: Inventory) -> list[ConnectiveReplacement]:
    return [
        ConnectiveReplacement(
            other.name,
            bool(set(_classes(connective)) & set(_classes(other))),
            tuple(
                shared
                for shared in connective.senses
                if any(_is_same_sense(shared, sense) for sense in other.senses)
            ),
        )
        for other in inventory.connectives
        if other.name != connective.name
    ]


def _classes(connective: Connective) -> list[str]:
    return [part.strip() for part in connective.category.split(";") if part.strip()]


def _is_same_sense(one: str, other: str) -> bool:
    """Whether two senses agree on all levels of the hierarchy that both have.

    Precedence and succession are both asynchronous, but opposites.
    """
    levels = zip(_levels(one), _levels(other), strict=False)
    return all(first == second for first, second in levels)


def _levels(sense: str) -> list[str]:
    """The levels of a sense, with any separator that lexicons use."""
    return [part.strip().lower() for part in re.split(r"[.:]", sense)]


# --- Spelling


def replaced(passage: Passage, connective: Connective) -> Passage:
    """A passage with its connective replaced by another.

    The new connective gets the case, elision and euphonic *d* that the place requires; a blank is
    added or removed if elision requires it. Nothing else changes.
    """
    form = spelt(connective, passage)
    elided = bool(connective.elided) and form.lower() == connective.elided
    after = passage.after.lstrip(" ") if elided else passage.after
    if passage.glued and not elided:
        after = " " + after
    return Passage(
        passage.before + form + after,
        passage.start,
        passage.start + len(form),
        passage.joined,
        passage.edit,
    )


def spelt(connective: Connective, passage: Passage, *, elide: bool = True) -> str:
    """The form of a connective in the place of a passage's connective.

    Args:
        connective: the new connective.
        passage: the passage.
        elide: whether it may be elided, which removes a blank from the text.
    """
    match = _WORD.match(passage.after)
    following = match[1].lower() if match else ""
    form = connective.name
    if elide and connective.elided and following in connective.elided_before:
        form = connective.elided
    elif connective.euphonic and _plain(following).startswith(connective.euphonic_before or ("?",)):
        form = connective.euphonic
    return _in_case_of(passage, form)


def _in_case_of(passage: Passage, form: str) -> str:
    letters = [letter for letter in passage.form if letter.isalpha()]
    if len(letters) > 1 and all(letter.isupper() for letter in letters):
        return form.upper()
    if letters and letters[0].isupper():
        # A single capital letter (E, O) may just open a sentence, so it does not show text in
        # capitals.
        return form[:1].upper() + form[1:]
    return form


def _plain(text: str) -> str:
    """A text without accents, because *ed è* has its *d* before an *e*."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if letter.isalpha())
