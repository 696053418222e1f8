"""From a reply in words to a label, in English and Italian, with a reason where there is none.

Strict on purpose: what is not clearly one answer is no answer, and is counted as such.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.stories.prompts import state_names
from cimento.stories.records import CONFLICT, FALSE, STATES, STORY, TRUE, Tier, pair_label

Reason: TypeAlias = Literal[
    "",
    "empty",
    "reasoning cut short",
    "no answer",
    "several answers",
    "only one number",
    "too many numbers",
    "the same sentence twice",
    "no such sentence",
]

N_SENTENCES = 5
_PAIR = 2
_MOST_DIGITS = 9

_THINKING = re.compile(r"<think(ing)?>.*?</think(ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(ing)?>", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:final answer|answer|risposta finale|risposta|output|uscita)\s*:", re.IGNORECASE
)
_MARKS = "*_`#\"'«»“”‘’()[]{} \t.,;:!?-–—"
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w)")

_NOT = r"(?:not|isn'?t|is not|cannot be|can'?t be|never|non|non è|nè|mica)"
_FILLER = r"(?:\s+(?:è|sembra|risulta|very|really|at all|be|affatto|molto|proprio|del tutto))*"
_YES = r"(?:true|vero|vera|plausible|plausibile|believable|credibile)"
_NO = r"(?:false|falso|falsa|untrue|implausible|implausibile|unbelievable|incredibile)"
_VERDICT = re.compile(rf"\b(?P<negated>{_NOT}{_FILLER}\s+)?(?:(?P<yes>{_YES})|(?P<no>{_NO}))\b")
_OPENING = re.compile(r"(?P<yes>yes|sì|si|sí)(?=\s*(?:[^\w\s]|$))|(?P<no>no)(?=\s*(?:[^\w\s]|$))")

_OTHER_NAMES: Mapping[str, str] = {
    # Names of the attributes that the states were made from, and those of the study's list.
    "pieces": "in pieces",
    "contain": "occupied",
    "dressed": "wearing",
    "existence": "exist",
    "hygiene": "clean",
    "acceso/spento": "power",
    "spento/acceso": "power",
    "aperto/chiuso": "open",
    "alimentazione": "power",
    "esistenza": "exist",
    "pulizia": "clean",
    "a pezzi": "in pieces",
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read from a reply.

    Attributes:
        label: as `OPTIONS` has it; None where there is no clear answer.
        reason: why there is none; empty where there is one.
    """

    label: str | None
    reason: Reason = ""


def parse(tier: Tier, reply: str, *, numbering: int = 0) -> Parsed:
    """Read the answer out of a reply.

    What a model was thinking aloud between ``<think>`` marks is left out. Where a line says
    ``Answer:`` or ``Risposta:``, what follows the last of these counts. Of the rest, the first
    line counts if it is an answer, else the first paragraph: a model may run on.

    Args:
        tier: which question was asked.
        reply: what the model wrote.
        numbering: number of the first sentence in the prompt, 0 or 1.
    """
    text = _without_thinking(reply)
    if re.search(r"<think", text, re.IGNORECASE):
        return Parsed(None, "reasoning cut short")
    after_lead = _LEAD.split(text)[-1]
    text = (after_lead if after_lead.strip() else text).strip()
    if not text:
        return Parsed(None, "empty")
    read = _READERS[tier]
    paragraph = re.split(r"\n\s*\n", text)[0]
    first_line = paragraph.split("\n")[0]
    found = read(first_line, numbering)
    return found if found.label is not None else read(paragraph, numbering)


def parse_words(reply: str, labels: Mapping[str, str]) -> Parsed:
    """Read one of some answers out of a reply, where no more is known of them than their words.

    Args:
        reply: what the model wrote.
        labels: word, in lower case, to label.
    """
    text = _without_thinking(reply).strip()
    if not text:
        return Parsed(None, "empty")
    return _only(_found(_plain(text.split("\n")[0]), labels))


def _without_thinking(reply: str) -> str:
    """A reply without what stands between ``<think>`` marks."""
    # Only as far as thoughts end: of many that never do, each would be followed to the end.
    end = max((mark.end() for mark in _THOUGHT.finditer(reply)), default=0)
    return _THINKING.sub(" ", reply[:end]) + reply[end:]


def _story_class(text: str, _numbering: int) -> Parsed:
    plain = _plain(text)
    said = set()
    opening = _OPENING.match(plain)
    if opening:
        said.add(TRUE if opening["yes"] else FALSE)
    for match in _VERDICT.finditer(plain):
        positive = bool(match["yes"]) != bool(match["negated"])
        said.add(TRUE if positive else FALSE)
    return _only(said)


def _conflict(text: str, numbering: int) -> Parsed:
    found = _NUMBER.findall(text)
    if any(len(number) > _MOST_DIGITS for number in found):
        return Parsed(None, "no such sentence")
    numbers = [int(number) - numbering for number in found]
    distinct = sorted(set(numbers))
    if not numbers:
        return Parsed(None, "no answer")
    if len(distinct) > _PAIR:
        return Parsed(None, "too many numbers")
    if distinct[0] < 0 or distinct[-1] >= N_SENTENCES:
        return Parsed(None, "no such sentence")
    if len(distinct) == 1:
        return Parsed(None, "only one number" if len(numbers) == 1 else "the same sentence twice")
    return Parsed(pair_label(*distinct))


def _state(text: str, _numbering: int) -> Parsed:
    return _only(_found(_plain(text), _names()))


def _found(plain: str, labels: Mapping[str, str]) -> set[str]:
    """The labels whose names stand in a text, as whole words."""
    said = set()
    # Longer names first, and out of the way: "acceso/spento" is not "acceso" and something else.
    for name in sorted(labels, key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if pattern.search(plain):
            said.add(labels[name])
            plain = pattern.sub(" ", plain)
    return said


@functools.cache
def _names() -> Mapping[str, str]:
    return {
        **{state: state for state in STATES},
        **{name: state for state, name in state_names("it").items()},
        **_OTHER_NAMES,
    }


def _only(said: set[str]) -> Parsed:
    if not said:
        return Parsed(None, "no answer")
    return Parsed(said.pop()) if len(said) == 1 else Parsed(None, "several answers")


def _plain(text: str) -> str:
    """Lower case, one kind of apostrophe, no marks around."""
    return text.lower().replace("’", "'").replace("*", "").replace("`", "").strip(_MARKS)


_READERS: Mapping[Tier, Callable[[str, int], Parsed]] = {
    STORY: _story_class,
    CONFLICT: _conflict,
    "physical_state": _state,
}
