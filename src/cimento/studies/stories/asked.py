"""How the models of a table were asked, beside how the study asked those of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cimento.errors import UsageError
from cimento.paradigms import parse_options
from cimento.paradigms.stories import (
    STORIES,
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
        model: its name, without how it was asked.
        options: name to value, of every option that makes the question.
        differing: those of them that are not as the study's were, with what they were there.
    """

    model: str
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


def ways_to_ask(settings: Mapping[str, Any], also: Sequence[str]) -> list[dict[str, Any]]:
    """The options under which models are asked: as the study asked them, then each further way.

    Args:
        settings: options in the place of the study's, in every way.
        also: further ways, each as ``KEY=VALUE,...``, on top of the first.

    Raises:
        UsageError: a way is not written so, or changes what all rows must share.
    """
    ways = [{**AS_PUBLISHED, **settings}]
    for text in also:
        way: dict[str, Any] = dict(ways[0])
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if not name.strip() or not equals:
                raise UsageError(
                    where=f"--also {text}",
                    seen=f"{part!r} is not KEY=VALUE",
                    todo="Write such as --also shots=0 or --also protocol=native,prompt=it-1.",
                )
            way[name.strip().replace("-", "_")] = value.strip()
        if "corrections" in way and way["corrections"] != ways[0].get("corrections"):
            raise UsageError(
                where=f"--also {text}",
                seen="rows of one table are about the same stories",
                todo="Give --set corrections=NAME, which is for all rows.",
            )
        if way not in ways:
            ways.append(way)
    for way in ways:
        parse_options(STORIES, way)
    if any(way.get("task", "tiers") != "tiers" for way in ways):
        raise UsageError(
            where="task",
            seen="Table 3 is about the three tiers",
            todo="Leave it out here; `cimento run` asks the other tasks.",
        )
    return ways


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
        run.model,
        used,
        {name: published.get(name) for name in used if used[name] != published.get(name)},
    )


def _used(options: StoryOptions) -> dict[str, Any]:
    """Options by name, without those that change nothing."""
    values = options.model_dump(exclude=_JUDGING_OPTIONS)
    unused = set() if options.shots else _SHOT_OPTIONS
    unused |= set() if options.order == "shuffled" else {"order_seed"}
    return {name: value for name, value in values.items() if name not in unused}


def row_names(by_name: Mapping[str, AskingRecord]) -> dict[str, str]:
    """The name of each row: its model and how it was asked.

    Args:
        by_name: name by which answers are told apart to how its model was asked.
    """
    rows = {name: f"{one.model} ({one.label})" for name, one in by_name.items()}
    times = Counter(rows.values())
    return {
        name: row if times[row] == 1 else f"{name} ({by_name[name].label})"
        for name, row in rows.items()
    }


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
