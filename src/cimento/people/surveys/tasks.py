"""Tasks of surveys: their questions, answers and guidelines in each language."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TypeAlias

from cimento.errors import UsageError
from cimento.paradigms.base import SurveyTask
from cimento.paradigms.stories.suite import CONFLICT, FALSE, STATE, STATES, STORY, TRUE, pair_label
from cimento.people.judgments.records import ACCEPTABILITY, ACCEPTABLE, BETTER, FITS, WHICH_FITS
from cimento.people.surveys.design import AnswerChoice, SurveyField

_FOLDER = Path(__file__).parents[2] / "data" / "surveys"

Words: TypeAlias = Mapping[str, Mapping[str, str]]


def languages() -> list[str]:
    """Codes of the languages that there are words in."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def words(language: str) -> Words:
    """Section to name to text; paragraphs are joined by line breaks.

    Raises:
        UsageError: there are no words in that language.
    """
    if language not in languages():
        raise UsageError(
            where="--language",
            seen=f"there are no guidelines in {language!r}"
            if language
            else "the suite does not say its language, so it has to be given",
            todo=f"Choose one of: {', '.join(languages())}.",
        )
    sections = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return {
        section: {
            name: "\n".join(text) if isinstance(text, list) else text
            for name, text in texts.items()
        }
        for section, texts in sections.items()
    }


YES, NO = "yes", "no"


def fields_for(
    task: SurveyTask, words: Words, *, scale: int = 5, length: int = 0
) -> tuple[SurveyField, ...]:
    """The fields of a task.

    Args:
        task: what people do.
        words: of the survey's language.
        scale: points of the scale, for ratings.
        length: sentences of the longest story, for stories.
    """
    prompt, texts = words[task]["prompt"], words["answers"]
    both = (AnswerChoice(YES, texts["yes"]), AnswerChoice(NO, texts["no"]))
    if task == "likert":
        points = tuple(AnswerChoice(str(n), str(n)) for n in range(1, scale + 1))
        return (SurveyField(ACCEPTABILITY, prompt, points, texts["low"], texts["high"]),)
    if task == "yesno":
        return (SurveyField(ACCEPTABLE, prompt, both),)
    if task == "choice":
        return (SurveyField(BETTER, prompt),)
    if task == "cloze":
        return (SurveyField(WHICH_FITS, prompt),)
    if task == "candidate":
        return (SurveyField(FITS, prompt, both),)
    return _story_fields(words, prompt, length)


def guidelines(
    task: SurveyTask, words: Words, fields: Iterable[SurveyField], *, none: bool
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


def _story_fields(words: Words, prompt: str, length: int) -> tuple[SurveyField, ...]:
    texts, story = words["answers"], words["story"]
    pairs = tuple(
        AnswerChoice(pair_label(a, b), story["pair"].format(first=a + 1, second=b + 1))
        for a, b in itertools.combinations(range(length), 2)
    )
    states = tuple(AnswerChoice(state, words["states"][state]) for state in STATES)
    return (
        SurveyField(
            STORY, prompt, (AnswerChoice(TRUE, texts["yes"]), AnswerChoice(FALSE, texts["no"]))
        ),
        SurveyField(CONFLICT, story["conflict"], pairs, when=FALSE),
        SurveyField(STATE, story["state"], states, when=FALSE),
    )
