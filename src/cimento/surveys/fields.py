"""What each task asks, and with which answers."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from cimento.paradigms.base import SurveyTask
from cimento.people.judgments.records import ACCEPTABILITY, ACCEPTABLE, BETTER, FITS, WHICH_FITS
from cimento.stories.records import CONFLICT, FALSE, STATE, STATES, STORY, TRUE, pair_label
from cimento.surveys.design import Choice, Field
from cimento.surveys.wording import Words

YES, NO = "yes", "no"


def fields_for(
    task: SurveyTask, words: Words, *, scale: int = 5, length: int = 0
) -> tuple[Field, ...]:
    """The fields of a task.

    Args:
        task: what people do.
        words: of the survey's language.
        scale: points of the scale, for ratings.
        length: sentences of the longest story, for stories.
    """
    prompt, said = words[task]["prompt"], words["answers"]
    both = (Choice(YES, said["yes"]), Choice(NO, said["no"]))
    if task == "likert":
        points = tuple(Choice(str(n), str(n)) for n in range(1, scale + 1))
        return (Field(ACCEPTABILITY, prompt, points, said["low"], said["high"]),)
    if task == "yesno":
        return (Field(ACCEPTABLE, prompt, both),)
    if task == "choice":
        return (Field(BETTER, prompt),)
    if task == "cloze":
        return (Field(WHICH_FITS, prompt),)
    if task == "candidate":
        return (Field(FITS, prompt, both),)
    return _story_fields(words, prompt, length)


def guidelines(
    task: SurveyTask, words: Words, fields: Iterable[Field], *, none: bool
) -> tuple[str, ...]:
    """The paragraphs that say what to do.

    Args:
        task: what people do.
        words: of the survey's language.
        fields: what is asked; the first gives the ends of a scale.
        none: whether people can answer that nothing fits.
    """
    first = next(iter(fields))
    texts = words[task]["guidelines"].split("\n")
    if first.low:
        ends = {"low": first.choices[0].label, "high": first.choices[-1].label}
        ends |= {"low_label": first.low, "high_label": first.high}
        texts[0] = texts[0].format(**ends)
    if none:
        texts.append(words[task]["none_note"].format(none=words["answers"]["none"]))
    return tuple(texts)


def _story_fields(words: Words, prompt: str, length: int) -> tuple[Field, ...]:
    said, story = words["answers"], words["story"]
    pairs = tuple(
        Choice(pair_label(a, b), story["pair"].format(first=a + 1, second=b + 1))
        for a, b in itertools.combinations(range(length), 2)
    )
    states = tuple(Choice(state, words["states"][state]) for state in STATES)
    return (
        Field(STORY, prompt, (Choice(TRUE, said["yes"]), Choice(FALSE, said["no"]))),
        Field(CONFLICT, story["conflict"], pairs, when=FALSE),
        Field(STATE, story["state"], states, when=FALSE),
    )
