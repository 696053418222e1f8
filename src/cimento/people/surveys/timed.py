"""Sentences that are read word by word: what a page needs of them, and the times that it gives.

In self-paced reading with a moving window each press shows the next word and hides the last one
(Just, Carpenter and Woolley 1982, doi:10.1037/0096-3445.111.2.228). In a maze each word is chosen
from two (Forster, Guerrera and Elliot 2009, doi:10.3758/BRM.41.1.163).

The times of a sentence are one text, such as ``key 812.3l 640.1r!1203.9``: what was pressed, and
for each word the milliseconds from the press that showed it to the next one. In a maze the side of
the correct word follows (``l``, ``r``), and ``!`` where the first choice was wrong, with the
milliseconds until the correct one if there was one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cimento.people.surveys import SurveyDesign, SurveyQuestion
from cimento.people.surveys.material import words

LONGEST_MS = 1e8
"""More than a day, which no word takes."""

_DEVICES = ("key", "touch")
_TIME = re.compile(r"(?P<ms>\d+(?:\.\d+)?)(?:(?P<side>[lr])(?P<wrong>!(?P<then>\d+(?:\.\d+)?)?)?)?")
_SIDES = {"l": "left", "r": "right", None: ""}


@dataclass(frozen=True, slots=True)
class WordTime:
    """The time of one word.

    Attributes:
        ms: milliseconds from the press that showed it to the next one.
        side: of the correct word in a maze, ``left`` or ``right``; empty in reading.
        is_wrong: whether the first choice was the distractor.
        corrected_ms: milliseconds until the correct choice after a wrong one; None where there was
            none.
    """

    ms: float
    side: str = ""
    is_wrong: bool = False
    corrected_ms: float | None = None

    @property
    def is_end(self) -> bool:
        """Whether the sentence ended at a wrong choice."""
        return self.is_wrong and self.corrected_ms is None


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """The times of a sentence.

    Attributes:
        device: ``key``, or ``touch`` where any press was one on the screen.
        times: of each word; in a maze that ended at a wrong choice, up to that word.
    """

    device: str
    times: tuple[WordTime, ...]


def read_times(text: str, question: SurveyQuestion) -> ReadSentence:
    """The times in a stored answer.

    Args:
        text: as the page gives it, see above.
        question: the sentence.

    Raises:
        ValueError: it is none of that sentence; the message says what it is.
    """
    device, *parts = text.split(" ")
    matches = [_TIME.fullmatch(part) for part in parts]
    if device not in _DEVICES or not parts or not all(matches):
        raise ValueError(f"{text[:80]!r} is not what the page of a sentence gives")
    times = tuple(
        WordTime(
            ms=float(match["ms"]),
            side=_SIDES[match["side"]],
            is_wrong=match["wrong"] is not None,
            corrected_ms=float(match["then"]) if match["then"] else None,
        )
        for match in matches
        if match
    )
    if any(bool(time.side) != bool(question.foils) for time in times):
        raise ValueError("it has the times of another task")
    if max(time.ms for time in times) > LONGEST_MS or any(time.is_end for time in times[:-1]):
        raise ValueError("a time is longer than a day, or the sentence goes on after its end")
    count = len(question.words)
    if len(times) > count or (len(times) < count and not times[-1].is_end):
        raise ValueError(f"it has {len(times)} times, and the sentence has {count} words")
    return ReadSentence(device, times)


def page_of(design: SurveyDesign, question: SurveyQuestion) -> dict[str, object]:
    """What the script of the page needs to show a sentence word by word."""
    texts = words(design.language)
    shown = {name: texts["timed"][name] for name in ("begin", "next", "tap", "wrong", "again")}
    return {
        "words": list(question.words),
        "foils": list(question.foils),
        "after_error": design.after_error,
        "texts": {**shown, "key": texts[design.task]["key"]},
    }
