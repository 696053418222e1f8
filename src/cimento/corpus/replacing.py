"""Another connective in the place of one: which, how spelt, and the text that results."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from cimento.corpus.inventories import Connective, Inventory
from cimento.corpus.passages import Passage
from cimento.corpus.sections import Section

_WORD = re.compile(r"\s*(\w+)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A connective that could stand in another's place.

    Attributes:
        name: the connective.
        same_class: whether it is of the same syntactic class, which keeps the sentence grammatical.
        shared: senses of the other one that it has too; with one it is plausible.
    """

    name: str
    same_class: bool
    shared: tuple[str, ...]

    def __str__(self) -> str:
        said = ["same class"] if self.same_class else []
        said += [re.split(r"[.:]", each)[-1].strip().lower() for each in self.shared]
        return f"{self.name} ({', '.join(said)})" if said else self.name


def implausible_candidates(connective: Connective, inventory: Inventory) -> list[Candidate]:
    """The others, those first that should leave a grammatical sentence that makes no sense.

    That is: of the same class without a shared sense, of another class without one, then the rest.
    Within each the order is that of the inventory.
    """
    found = _candidates(connective, inventory)
    return sorted(found, key=lambda each: (bool(each.shared), not each.same_class))


def plausible_candidates(connective: Connective, inventory: Inventory) -> list[Candidate]:
    """The others, those first that should leave a sentence that means about the same."""
    found = _candidates(connective, inventory)
    return sorted(found, key=lambda each: (not each.shared, not each.same_class))


def ranked_candidates(
    section: Section, connective: Connective, inventory: Inventory
) -> list[Candidate]:
    """What may take the place of a connective in a section, the likeliest first."""
    if section is Section.SENTENCES:
        return implausible_candidates(connective, inventory)
    return plausible_candidates(connective, inventory)


def _candidates(connective: Connective, inventory: Inventory) -> list[Candidate]:
    return [
        Candidate(
            other.name,
            bool(set(_classes(connective)) & set(_classes(other))),
            tuple(
                each
                for each in connective.senses
                if any(_is_same_sense(each, sense) for sense in other.senses)
            ),
        )
        for other in inventory.connectives
        if other.name != connective.name
    ]


def _classes(connective: Connective) -> list[str]:
    return [each.strip() for each in connective.category.split(";") if each.strip()]


def _is_same_sense(one: str, other: str) -> bool:
    """Whether two senses are the same as far as both go down the hierarchy.

    Precedence and succession are both asynchronous, and opposites.
    """
    levels = zip(_levels(one), _levels(other), strict=False)
    return all(first == second for first, second in levels)


def _levels(sense: str) -> list[str]:
    """The levels of a sense, however the lexicon separates them."""
    return [part.strip().lower() for part in re.split(r"[.:]", sense)]


# --- Spelling


def replaced(passage: Passage, connective: Connective) -> Passage:
    """The passage with another connective in the place of its own.

    Case, elision and euphonic *d* are those that the connective has there; a blank is put in or
    taken out where elision asks for it. Nothing else is changed.
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
    """How a connective is written in the place of a passage's own.

    Args:
        connective: that is to stand there.
        passage: the place.
        elide: whether it may be elided, which takes a blank out of the text.
    """
    found = _WORD.match(passage.after)
    following = found[1].lower() if found else ""
    form = connective.name
    if elide and connective.elided and following in connective.elided_before:
        form = connective.elided
    elif connective.euphonic and _plain(following).startswith(connective.euphonic_before or ("?",)):
        form = connective.euphonic
    return _in_case_of(passage, form)


def _in_case_of(passage: Passage, form: str) -> str:
    own = passage.form
    letters = [each for each in own if each.isalpha()]
    if len(letters) > 1 and all(each.isupper() for each in letters):
        return form.upper()
    if letters and letters[0].isupper():
        # A single capital letter (E, O) opens a sentence; that all is in capitals shows elsewhere.
        return form[:1].upper() + form[1:]
    return form


def _plain(text: str) -> str:
    """Without accents: *ed è* has its *d* before an *e*."""
    return "".join(each for each in unicodedata.normalize("NFD", text) if each.isalpha())
