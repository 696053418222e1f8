"""Answers of yes or no in the languages of the surveys, whatever form they come from."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, Judgment

YES, NO = "yes", "no"
"""The answers as they are stored."""

_WORDS = {
    **dict.fromkeys(("yes", "y", "sì", "si", "sí", "sim", "да"), YES),
    **dict.fromkeys(("no", "n", "não", "nao", "нет"), NO),
}
_AROUND = " .!'’`"


def yes_or_no(value: str | None) -> str | None:
    """An answer as `YES` or `NO`; None if it is neither.

    Args:
        value: as somebody wrote it, in English, Italian, Spanish, Portuguese or Russian.
    """
    plain = unicodedata.normalize("NFC", value or "").casefold().strip(_AROUND)
    return _WORDS.get(plain)


def with_yes_or_no(judgments: Sequence[Judgment]) -> tuple[tuple[Judgment, ...], bool]:
    """The judgments, in which answers of yes or no are so in one spelling.

    Answers to whether a sentence is acceptable are read word by word. Ratings are taken for such
    answers only if all of them are yes or no, and both occur.

    Args:
        judgments: of any questions.

    Returns:
        The judgments, and whether ratings turned out to be yes or no.
    """
    rated = [one for one in judgments if one.question == ACCEPTABILITY and one.counts]
    said = {yes_or_no(one.value) for one in rated if one.value}
    are_words = said == {YES, NO}
    return tuple(_spelled(one, are_words=are_words) for one in judgments), are_words


def _spelled(judgment: Judgment, *, are_words: bool) -> Judgment:
    if judgment.question == ACCEPTABLE or (are_words and judgment.question == ACCEPTABILITY):
        value = yes_or_no(judgment.value) or judgment.value
        return replace(judgment, question=ACCEPTABLE, value=value)
    return judgment
