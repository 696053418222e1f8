"""A connective in its text, joined to the sentence before it where it needs that."""

from __future__ import annotations

from dataclasses import dataclass

from cimento.corpus.records import Sentence, token_spans
from cimento.suites.model import Region

JOINED_BY = {"CCONJ": ",", "ADV": ";"}
"""Classes that link to the sentence before, and the mark that takes the place of its period."""

_ENDS = ("?", "!", "…", "...", "»", '"', "”", ")")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with one connective in it.

    Attributes:
        text: the sentence, or two sentences made one.
        start: where the connective begins.
        end: where it ends.
        joined: ID of the sentence that was put before it; empty for none.
        edit: what was changed to put it there; empty for nothing.
    """

    text: str
    start: int
    end: int
    joined: str = ""
    edit: str = ""

    @property
    def before(self) -> str:
        """Everything before the connective."""
        return self.text[: self.start]

    @property
    def form(self) -> str:
        """The connective as it is written there."""
        return self.text[self.start : self.end]

    @property
    def after(self) -> str:
        """Everything after it."""
        return self.text[self.end :]

    @property
    def glued(self) -> bool:
        """Whether a word follows without a blank, as after ``dov'``."""
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
    """The text of a sentence with a connective, or why it cannot be had.

    Args:
        sentence: that it is in.
        word_ids: its words.
        needs_before: the mark that joins the sentence before to it; empty to leave it alone.
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
    found = Passage(sentence.text, start, end)
    if not needs_before:
        return found
    if previous is None:
        return "it opens its sentence, and the one before is not there to join it to"
    return _join(found, previous, needs_before)


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
    """A form without its capital; one that is all capitals stays as it is."""
    if len(form) > 1 and form.isupper():
        return form
    return form[:1].lower() + form[1:]


def regions_of(passage: Passage) -> tuple[Region, ...]:
    """Before, the word, after; a region is glued where the text has no blank."""
    parts = (passage.before, passage.form, passage.after)
    regions, ends_open = [], False
    for part in parts:
        regions.append(Region(part.strip(), glued=ends_open and not part.startswith(" ")))
        ends_open = bool(part) and not part.endswith(" ")
    return tuple(regions)
