"""How the models of a table were asked, beside how the study asked those of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cimento.paradigms.stories import (
    RecordedAnswers,
    Story,
    StoryOptions,
    asked_of,
    judge_stories,
    judged_run,
    names_of,
    prompt_for,
    story_figures,
)

if TYPE_CHECKING:
    from cimento.paradigms import Figure, Run

AS_PUBLISHED: Mapping[str, str] = {"protocol": "paper"}
"""The options with which models are asked as the study asked them; the others follow."""

_NAMED = ("protocol", "prompt", "shots", "shots_mode")
"""What the name of a row and the note say of every run."""
_JUDGING_OPTIONS = {"seed"}
_SHOT_OPTIONS = {"shots_mode", "shots_seed", "shots_as"}


@dataclass(frozen=True, slots=True)
class AskingRecord:
    """How a model was asked.

    Attributes:
        options: name to value, of every option that makes the question.
        differing: those of them that are not as the study's were, with what they were there.
    """

    options: Mapping[str, Any]
    differing: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Prompt, protocol and examples, and whatever else differs: for the name of a row."""
        mode = self.options.get("shots_mode")
        drawn = {None: "", "paper": " as in the paper"}.get(mode, f" {mode}")
        shots = f"{self.options['shots']} shots{drawn}"
        rest = [f"{name}={self.options[name]}" for name in self.differing if name not in _NAMED]
        return ", ".join(
            (str(self.options["prompt"]), f"protocol {self.options['protocol']}", shots, *rest)
        )


def asked(runs: Sequence[Run]) -> dict[str, AskingRecord]:
    """How the models of runs of the three tiers were asked, by the names of `names_of`."""
    return {name: _asked(run) for name, run in zip(names_of(runs), runs, strict=True)}


def asked_stories(run: Run) -> tuple[Story, ...]:
    """The stories that a run asked about, with the corrections of its options."""
    return asked_of(run)[0].asked


def answers_of(runs: Sequence[Run]) -> list[RecordedAnswers]:
    """The answers in some runs; two prompts of one model get two names."""
    return [
        RecordedAnswers(
            model=name, answers=tuple(outcome.answer for outcome in judged_run(run).outcomes)
        )
        for name, run in zip(names_of(runs), runs, strict=True)
    ]


def _asked(run: Run) -> AskingRecord:
    suite, options = asked_of(run)
    used = _used(options.model_copy(update={"prompt": prompt_for(options, suite).id}))
    published = _used(StoryOptions.model_validate(AS_PUBLISHED))
    return AskingRecord(
        used, {name: published.get(name) for name in used if used[name] != published.get(name)}
    )


def _used(options: StoryOptions) -> dict[str, Any]:
    """Options by name, without those that change nothing."""
    values = options.model_dump(exclude=_JUDGING_OPTIONS)
    unused = set() if options.shots else _SHOT_OPTIONS
    unused |= set() if options.order == "shuffled" else {"order_seed"}
    return {name: value for name, value in values.items() if name not in unused}


def asked_notes(by_row: Mapping[str, AskingRecord]) -> list[str]:
    """A sentence for each way in which models were asked, and what it has to do with the study's.

    Args:
        by_row: name of a row to how its model was asked.
    """
    rows: dict[str, list[str]] = {}
    for name, one in by_row.items():
        rows.setdefault(_sentence(one), []).append(name)
    return [f"{'; '.join(names)}: {sentence}" for sentence, names in rows.items()]


def _sentence(one: AskingRecord) -> str:
    named = ", ".join(f"{name}={one.options[name]}" for name in _NAMED if name in one.options)
    if not one.differing:
        return f"asked as the models of the published rows were ({named})."
    others = ", ".join(
        f"{name}={one.options[name]} and not {'none' if there is None else there}"
        for name, there in one.differing.items()
    )
    return (
        f"not asked as the models of the published rows were ({named}; what differs: {others}),"
        " so that its numbers cannot be compared with theirs."
    )


def drawn(
    name: str, stories: Sequence[Story], models: Sequence[RecordedAnswers]
) -> Sequence[Figure]:
    """The figures of a report on stories, for all models; the first of tied options is chosen.

    Args:
        name: name of the suite.
        stories: the stories.
        models: the answers of each model.
    """
    judged = {
        model.model: judge_stories(stories, model.answers, first_of_ties=True) for model in models
    }
    return story_figures(name, judged)
