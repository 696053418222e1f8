"""People's answers item by item, with the verdicts of models beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import TYPE_CHECKING

from cimento.io.values import grouped
from cimento.paradigms.regions.judging import chosen_column, judged_suite, label_of, questions
from cimento.paradigms.regions.people_rates import (
    NO_SINGLE,
    as_counted,
    counts_of_choices,
    decided_choices,
    kind_of_votes,
    passing,
    undecidable,
)
from cimento.paradigms.regions.people_ratings import RatedItem, is_rated_by_people, rated_items
from cimento.paradigms.regions.predictions import parse_predictions
from cimento.report.cells import Shown
from cimento.report.formatting import interval, number, rate_as_text
from cimento.report.grid import BLANK, Grid
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites.formula import Formula, Junction
from cimento.suites.stimuli import stimulus_texts

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.records.outcomes import VerdictName
    from cimento.suites import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOnItem:
    """What people answered about an item, and the verdicts of models on it.

    Attributes:
        item: id of the item.
        people: those who rated every sentence that the prediction compares, or whose choice decides
            it; None where only proportions of choices are known.
        tied: ties among them; None for choices.
        share: proportion of them by which the prediction holds; None without any.
        others: its interval for other people and this item.
        given: column to a mean rating, or to the number or proportion of people who chose a
            sentence.
        together: the verdict of mean ratings, or of most people.
        reason: reason why there is no share.
        suite: name of the suite.
        question: name of the prediction; ``all predictions`` for the conjunction.
        models: model to its verdict.
        same: model to whether its verdict is that of people together, with ties as a run counts
            them; without models that have none.
        sentences: condition to its sentence.
    """

    item: str
    people: int | None
    tied: int | None
    share: float | None
    others: Interval
    given: Mapping[str, float]
    together: VerdictName
    reason: str = ""
    suite: str = ""
    question: str = ""
    models: Mapping[str, VerdictName] = field(default_factory=dict)
    same: Mapping[str, bool] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)


def people_by_item(run: Run) -> list[PeopleOnItem]:
    """People's answers about each item of a run, beside the model's verdict.

    Raises:
        FormulaError: a prediction cannot be read.
        InputError: the scale or a rating is invalid, or a rating is off the scale.
    """
    suite, trees = judged_suite(run), parse_predictions(judged_suite(run))
    formulas = (*trees, reduce(partial(Junction, "&"), trees)) if trees else ()
    passes, who = passing(run), label_of(run)
    sentences: dict[str, dict[str, str]] = {}
    for (item, condition), text in stimulus_texts(suite).items():
        sentences.setdefault(item, {})[condition] = text
    items = []
    for question, formula in zip(questions(run), formulas, strict=False):
        if not undecidable(formula, whole_sentence=len(suite.region_names) == 1):
            verdicts = _verdicts(run, question)
            for one in _answered(suite, formula, passes):
                verdict = verdicts.get(one.item, "unscored")
                known = "unscored" not in (verdict, one.together)
                same = as_counted(verdict, passes) == as_counted(one.together, passes)
                items.append(
                    replace(
                        one,
                        suite=suite.name,
                        question=question,
                        models={who: verdict},
                        same={who: same} if known else {},
                        sentences=sentences[one.item],
                    )
                )
    return items


def _answered(
    suite: Suite, formula: Formula, passes: Collection[VerdictName]
) -> Iterator[PeopleOnItem]:
    if is_rated_by_people(suite):
        for one in rated_items(suite, formula):
            yield _of_ratings(one, passes)
    if chosen_column(suite.column_names) in suite.column_names:
        counts, _ = counts_of_choices(suite)
        decided = decided_choices(formula, counts)
        for item, chosen in counts.items():
            yield _of_choices(item, formula, chosen, decided.get(item, (0, 0)))


def _of_choices(
    item: str, formula: Formula, chosen: Mapping[str, float], decided: tuple[float, float]
) -> PeopleOnItem:
    held, failed = decided
    counted = all(isinstance(count, int) for count in chosen.values())
    votes = [True] * int(held) + [False] * int(failed) if counted else []
    return PeopleOnItem(
        item=item,
        people=len(votes) if counted else None,
        tied=None,
        share=held / (held + failed) if held + failed else None,
        others=share_interval(votes, Design.independent(len(votes))),
        given={f"chose {name}": count for name, count in chosen.items()},
        together=kind_of_votes(formula, chosen),
        reason="" if held + failed else NO_SINGLE,
    )


def _of_ratings(rated: RatedItem, passes: Collection[VerdictName]) -> PeopleOnItem:
    verdicts = list(rated.people.values())
    held = [verdict in passes for verdict in verdicts]
    return PeopleOnItem(
        item=rated.item,
        people=len(verdicts),
        tied=verdicts.count("tie"),
        share=rated.share(passes),
        others=share_interval(held, Design.independent(len(held))),
        given={f"mean {name}": mean for name, mean in rated.means.items()},
        together=rated.verdict,
        reason=rated.reason,
    )


def _verdicts(run: Run, question: str) -> dict[str, VerdictName]:
    import polars as pl

    rows = run.outcomes().filter(pl.col("question") == question, pl.col("verdict").is_not_null())
    return dict(rows.select("item", "verdict").iter_rows())


def people_items_grid(items: Sequence[PeopleOnItem]) -> Grid:
    """A table of people's answers about each item, with a column for each model."""
    # Runs of one suite repeat what people answered, which is shown once.
    groups = grouped(((one.suite, one.question, one.item), one) for one in items).values()
    rows = [
        replace(
            one[0],
            models={k: v for run in one for k, v in run.models.items()},
            same={k: v for run in one for k, v in run.same.items()},
        )
        for one in groups
    ]
    given = dict.fromkeys(name for one in rows for name in one.given)
    models = dict.fromkeys(name for one in rows for name in one.models)
    return Grid.of(
        rows,
        {
            "suite": lambda one: one.suite,
            "prediction": lambda one: one.question,
            "item": _item,
            "people together": lambda one: one.together,
            **{name: make for model in models for name, make in _of_model(model).items()},
            "people": lambda one: one.people,
            "ties": lambda one: one.tied,
            "proportion": lambda one: rate_as_text(one.share, absent=BLANK),
            "95%, others": lambda one: interval(one.others.low, one.others.high, absent=BLANK),
            **{name: partial(_given, name) for name in given},
            "reason": _reason,
        },
        title="What people answered about each item, and the verdicts of models.",
        grouped=2,
        labels=3,
        remarks=1,
        notes=(
            "people: those who rated all sentences compared, or whose choice decides.",
            "proportion: of them, those for whom the prediction holds; ties are equal ratings.",
            "95%, others: of the proportion, for this item and other people.",
            "people together: the verdict of mean ratings, or of most people.",
            "same: whether the model's verdict is that of people together.",
        ),
    )


def _reason(one: PeopleOnItem) -> str | None:
    """The reason why there is no share, or no interval of it."""
    return one.reason or (one.others.reason or "").replace("value", "answer") or None


def _given(name: str, one: PeopleOnItem) -> str:
    value = one.given.get(name)
    whole = isinstance(value, int)
    return number(value, digits=0 if whole else 3, absent=BLANK)


def _verdict_of(name: str, one: PeopleOnItem) -> str:
    return one.models.get(name, BLANK)


def _item(one: PeopleOnItem) -> str:
    """The item; programs get its sentences in columns of their own."""
    texts = {f"_{condition}": text for condition, text in one.sentences.items()}
    return Shown(one.item, {"": one.item, **texts})


def _of_model(model: str) -> Mapping[str, Callable[[PeopleOnItem], str]]:
    """The columns of a model: its verdict, and whether people together have the same."""
    return {model: partial(_verdict_of, model), f"{model} same": partial(_same, model)}


def _same(name: str, one: PeopleOnItem) -> str:
    if name not in one.same:
        return BLANK
    return "same" if one.same[name] else "different"
