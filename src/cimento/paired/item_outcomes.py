"""Outcomes item by item, for runs of any kind: right or wrong, and values.

They come from the outcomes of the runs: verdicts, clusters, and the references of values were
decided when each run was judged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from cimento.errors import UsageError
from cimento.io.parsing import value_at
from cimento.io.values import grouped
from cimento.kinds.alike import estimates_alike
from cimento.kinds.clusters import cluster_columns
from cimento.kinds.identity import content_of, is_trial
from cimento.kinds.settings import settings_of
from cimento.measures import judged_on
from cimento.records.blanks import FORCED_CHOICE, REACHABLE, Reach, forced_choice
from cimento.records.outcomes import GROUP, design_of
from cimento.suites.naming import is_number, named

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate
    from cimento.records.summary import SuiteMean
    from cimento.statistics.design import Design
    from cimento.suites import JsonValue


MEASURE = "measure"
"""The option of paradigms whose answers can be judged on another measure."""

COEFFICIENTS = frozenset({"pearson", "spearman", "kendall"})
"""Statistics that say how values and references go together."""

HEADLINE = frozenset({"headline"})
PROMINENT = frozenset({"headline", "main"})
"""Roles of the estimates whose questions are compared."""

_STEP = re.compile(r"(?:step|checkpoint|ckpt|iter|epoch)s?[-_]?(\d{1,18})", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcomes:
    """The outcomes of one model on the items of one suite, by one question.

    Attributes:
        suite: its name.
        question: what was asked: a prediction, a hit, a tier, a measure.
        model: label of the model; with its options, where several of its runs differ in them.
        formula: formula of the prediction; empty for other questions.
        headline: whether the question is the one by which the run is summed up.
        family: what revisions of one model have in common; empty where that is not known.
        step: of training; None where the model's name does not tell.
        kind: of the model; empty where that is not known.
        right: item to whether it is right; items that count neither way are not there.
        values: item to its value; items without one are not there.
        references: item to the reference of its value; empty if there are none.
        unit: of the values.
        coefficients: statistics that the run gives of values and references.
        clusters: item to what it belongs to; items that stand alone are not there.
        cluster_columns: columns of the items that say so; empty where they are not known.
        out_of_reach: items that the model cannot get right, since it cannot give the answer.
    """

    suite: str
    question: str
    model: str
    formula: str = ""
    headline: bool = True
    family: str = ""
    step: int | None = None
    kind: str = ""
    right: Mapping[str, bool] = field(default_factory=dict)
    values: Mapping[str, float] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)
    unit: str = ""
    coefficients: tuple[str, ...] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    cluster_columns: tuple[str, ...] = ()
    out_of_reach: frozenset[str] = frozenset()

    def design(self, items: Sequence[str]) -> Design:
        """The design of some of the items.

        Args:
            items: ids.
        """
        return design_of(items, [self.clusters.get(item) for item in items])


def item_outcomes(
    runs: Sequence[Run],
    *,
    measure: str = "",
    every_question: bool = False,
    beside: Sequence[Run] = (),
) -> list[ItemOutcomes]:
    """The outcomes of some runs, run by run and question by question.

    Where a model was asked in several ways, its first one is taken, because models of different
    kinds are asked in different ways.

    Args:
        runs: of any kinds.
        measure: the measure to judge answers on, where there is a choice; empty for that of the
            run.
        every_question: also the questions that do not sum up their run; correlations with a
            reference are always there.
        beside: further runs, which decide with these by what those of a suite are summed up.

    Raises:
        UsageError: a run was given twice, or no run can be judged on another measure.
        CimentoError: the answers cannot be judged.
    """
    names = distinct_names(runs)
    judged = judged_on_measure(runs, measure)
    alike = estimates_alike([*judged, *beside])[: len(judged)]
    roles = PROMINENT if every_question else HEADLINE
    steps = steps_of(judged)
    by_run = [
        list(_of_run(run, name, known, roles, place))
        for run, name, known, place in zip(judged, names, alike, steps, strict=True)
    ]
    return list(chain.from_iterable(named_alike(by_run)))


def named_alike(by_run: Sequence[Sequence[ItemOutcomes]]) -> list[list[ItemOutcomes]]:
    """The outcomes of some runs, with one name for each prediction of a suite.

    A suite that was edited between two runs may have another name for the same formula, or none.

    Args:
        by_run: the outcomes of each run.
    """
    names: dict[tuple[str, str], str] = {}
    for one in sorted(chain.from_iterable(by_run), key=lambda one: is_number(one.question)):
        if one.formula:
            names.setdefault((one.suite, one.formula), one.question)
    return [
        [
            one if name in {other.question for other in outcomes} else replace(one, question=name)
            for one in outcomes
            for name in [names.get((one.suite, one.formula), one.question)]
        ]
        for outcomes in by_run
    ]


def judged_on_measure(runs: Sequence[Run], measure: str) -> list[Run]:
    """The runs, judged on a measure where their paradigm has that option.

    Raises:
        UsageError: none of them has it, or there is no such measure.
    """
    if not measure:
        return list(runs)
    if not any(MEASURE in type(run.options).model_fields for run in runs):
        raise UsageError(
            where=f"--measure={measure}",
            seen="none of the runs can be judged on another measure",
            todo="Leave it out.",
        )
    return [
        run.judge(measures=measure) if MEASURE in type(run.options).model_fields else run
        for run in runs
    ]


def on_each_measure(run: Run, measures: Sequence[str] = ()) -> list[Run]:
    """The run, once for each of some measures; only once if its paradigm has no such option.

    Args:
        run: of any kind.
        measures: names of measures, possibly several with commas between them; ``regions`` for the
            values of regions; empty for the measures in the run's options.

    Raises:
        UsageError: a measure is unknown, or the paradigm has none.
    """
    own = (getattr(run.options, MEASURE, ""), *getattr(run.options, "also", ()))
    names = judged_on(measures) or tuple(dict.fromkeys(own))
    if names == own and len(own) == 1:
        return [run]
    return [run.judged({"measure": name}) for name in names]


def _of_run(
    run: Run,
    name: str,
    known: Sequence[Estimate],
    roles: frozenset[str],
    place: tuple[str, int | None],
) -> Iterable[ItemOutcomes]:
    """The outcomes of a run by question, of those whose estimates have one of some roles."""
    family, step = place
    estimates = grouped(
        (one.question, one)
        for one in known
        if not one.group
        and (one.role in roles or (one.statistic in COEFFICIENTS and one.role in PROMINENT))
    )
    predictions = named(getattr(run.suite, "predictions", ()))
    formulas = {prediction.name: prediction.formula for prediction in predictions}
    choice = forced_choice(known)
    rules = {} if choice is None else {choice.question: choice.method}
    summing = FORCED_CHOICE if any(one.role == "headline" for one in known if one is choice) else ""
    rows = sorted(_by_question(run.outcomes(), rules), key=lambda both: both[0] != summing)
    for question, first in rows:
        if question not in estimates:
            continue
        stated = estimates[question]
        yield ItemOutcomes(
            suite=run.suite.name,
            question=question,
            model=name,
            formula=formulas.get(question, ""),
            headline=any(estimate.role == "headline" for estimate in stated),
            family=family,
            step=step,
            kind=run.model_kind,
            unit=str(first["unit"][0]),
            coefficients=tuple(
                dict.fromkeys(e.statistic for e in stated if e.statistic in COEFFICIENTS)
            ),
            right=_known(first, "right"),
            values=_known(first, "value"),
            references=_known(first, "reference"),
            clusters=_known(first, "cluster"),
            cluster_columns=cluster_columns(run),
            out_of_reach=_out_of_reach(first),
        )


def reach_notes(several: Iterable[ItemOutcomes]) -> tuple[str, ...]:
    """What is to be said of models that cannot find every answer, a sentence for each.

    Args:
        several: outcomes by one question.
    """
    return tuple(
        Reach(n - len(one.out_of_reach), n).said(one.suite, one.model)
        for one in several
        if one.out_of_reach
        for n in [len(one.out_of_reach | one.right.keys())]
    )


def _out_of_reach(rows: pl.DataFrame) -> frozenset[str]:
    """The items of which the outcomes of a question say that the answer cannot be found."""
    column = f"{GROUP}{REACHABLE}"
    if column not in rows.columns:
        return frozenset()
    return frozenset(rows.filter(rows[column] == "no")["item"])


def _by_question(
    outcomes: pl.DataFrame, ways: Mapping[str, str]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """The outcomes of each question by one way in which it was asked.

    Args:
        outcomes: of a run.
        ways: questions, each mapped to its way; of others the first one is taken.
    """
    asked = list(dict.fromkeys(zip(outcomes["question"], outcomes["method"], strict=True)))
    if len(asked) == 1:  # of many runs, cutting each takes longer than all else here
        yield asked[0][0], outcomes
        return
    for (question,), rows in outcomes.group_by("question", maintain_order=True):
        way = ways.get(str(question), rows["method"][0])
        yield str(question), rows.filter(rows["method"] == way)


def _known(rows: pl.DataFrame, column: str) -> dict[str, Any]:
    both = zip(rows["item"].to_list(), rows[column].to_list(), strict=True)
    return {item: value for item, value in both if value is not None}


def steps_of(runs: Sequence[Run]) -> list[tuple[str, int | None]]:
    """The family of each run's model, and its step of training, as `step_of` reads them.

    Names only propose: models of one name have a step only where their records agree in kind,
    architecture, number of parameters and tokenizer.
    """
    named = [step_of(str(run.manifest.get("named") or run.model)) for run in runs]
    built = grouped((family, built_as(run)) for run, (family, _) in zip(runs, named, strict=True))
    return [(family, step if len(set(built[family])) == 1 else None) for family, step in named]


def built_as(run: Run) -> tuple[str, ...]:
    """What the record of a run says of how its model is built; empty texts where it is silent.

    Args:
        run: of any paradigm.

    Returns:
        Architecture, number of parameters, and digest of the tokenizer, after the model's kind.
    """
    card = run.manifest.get("model")
    ways = (("kind",), ("details", "architecture"), ("details", "parameters"), ("tokenizer",))
    return tuple(str(value_at(card, *way) or "") for way in ways)


def step_of(name: str) -> tuple[str, int | None]:
    """The common part of the names of a model's revisions, and the step of training of this one.

    Args:
        name: as the model was named: ``org/name@step1000``, ``out/checkpoint-500``.

    Returns:
        The name without the step, and the step; the name and None where it tells none.
    """
    steps = list(_STEP.finditer(name))
    if not steps:
        return name, None
    return name[: steps[-1].start()].rstrip("@/-_"), int(steps[-1][1])


def distinct_names(runs: Sequence[Run]) -> list[str]:
    """A name for each run that tells it from the others of its suite.

    It is the label of the model; where a model has several runs of one suite, with the options in
    which these differ: ``bert@1234567 (pll=original)``.

    Raises:
        UsageError: two runs of one suite and model differ in no option.
    """
    names = _names_apart(runs)
    named = Counter((run.suite.name, name) for run, name in zip(runs, names, strict=True))
    (suite, name), count = max(named.items(), key=lambda pair: pair[1], default=(("", ""), 1))
    if count > 1:
        raise UsageError(
            where=f"suite {suite!r}",
            seen=f"there are several runs of {name} here",
            todo="Give one of them, or compare two folders: before and after.",
        )
    return names


def labeled_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs, with what they differ in behind the label of a model that has several of a suite.

    Otherwise two rows of a table would have one name: a model in two number formats, or on all
    items and on the first ones.

    Args:
        runs: of any suites.
    """
    return [
        replace(run, manifest={**run.manifest, "label": name}) if name != run.model else run
        for run, name in zip(runs, _names_apart(runs), strict=True)
    ]


def _names_apart(runs: Sequence[Run]) -> list[str]:
    keys = [(run.suite.name, run.model) for run in runs]
    twins = grouped(zip(keys, runs, strict=True))
    return [
        _with_options(run, twins[key]) if len(twins[key]) > 1 else run.model
        for run, key in zip(runs, keys, strict=True)
    ]


def without_trials(runs: Sequence[Run], *, beside: int = 2) -> tuple[list[Run], list[Run]]:
    """Runs apart from trials, which are on some items of a suite that others are whole on.

    A trial is left out where the run of its model on all items is there, and enough whole runs.

    Args:
        runs: of any suites; versions of a suite are told apart by its content.
        beside: number of whole runs of the suite from which its trials are left out.

    Returns:
        The other runs, and the trials.
    """
    versions = [(run.suite_name, content_of(run)) for run in runs]
    both = list(zip(runs, versions, strict=True))
    whole = [(version, run.model) for run, version in both if not is_trial(run)]
    counts, there = Counter(version for version, _ in whole), set(whole)
    left_out = [
        is_trial(run) and (version, run.model) in there and counts[version] >= beside
        for run, version in both
    ]
    split = list(zip(runs, left_out, strict=True))
    return [run for run, is_out in split if not is_out], [run for run, is_out in split if is_out]


def without_restated(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Runs apart from those that ask in words what others ask by probability.

    The two kinds of answers are about different abilities. Where all runs ask in words, all stay.

    Args:
        runs: of any suites.

    Returns:
        The other runs, and those that are left out.
    """
    restated = [run.paradigm.judge.restated(run) is not None for run in runs]
    if all(restated):
        return list(runs), []
    both = list(zip(runs, restated, strict=True))
    return [run for run, words in both if not words], [run for run, words in both if words]


def named_means(runs: Sequence[Run], names: Sequence[str]) -> tuple[SuiteMean, ...]:
    """The means of runs over the suites of a benchmark whose figures are published.

    Args:
        runs: of any suites.
        names: of each, in place of its model's.
    """
    from cimento.report.benchmarks import benchmark_means
    from cimento.suites.published_results import blimp_datasets

    return benchmark_means(
        [
            replace(run.summary(), model=name)
            for run, name in zip(runs, names, strict=True)
            if run.suite.name in blimp_datasets()
        ]
    )


def _with_options(run: Run, twins: Sequence[Run]) -> str:
    """The label of a run with the options in which it differs from some others."""
    options, others = settings_of(run), [settings_of(twin) for twin in twins]
    stated = [
        _stated(name.rpartition(".")[2], value)
        for name, value in options.items()
        if any(other.get(name) != value for other in others)
    ]
    differing = ", ".join(filter(None, stated))
    return f"{run.model} ({differing})" if differing else run.model


def _stated(name: str, setting: JsonValue) -> str:
    """An option as labels have it; empty for a run of all items or on all predictions."""
    value = ", ".join(map(str, setting)) if isinstance(setting, list) else str(setting)
    if name == "limit":
        return "" if setting is None else f"first {value} items"
    if name == "precision":
        return "" if setting is None else f"adaptive, ±{value}"
    if name == "predictions":
        return f"only {value}" if value else ""
    if name == "measure":
        return f"measure={value or 'regions'}"
    return f"{name}={value}" if value else ""


_OWN_SCALES = ("causal", "masked", "seq2seq")


def different_scales(kinds: Iterable[str]) -> str | None:
    """The reason against testing differences of scores between kinds of models; None if none.

    A causal model gives the probability of a text, a masked model a pseudo-log-likelihood
    (Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240), a sequence-to-sequence model the
    probability of what it fills in.

    Args:
        kinds: of the models, as manifests have them; kinds that are not known are left out.
    """
    present = set(kinds)
    names = [kind for kind in _OWN_SCALES if kind in present]
    if len(names) < 2:  # noqa: PLR2004  # one kind has one scale
        return None
    return f"scores of {' and '.join(names)} models are on different scales"


def rates_only(kinds: Iterable[str]) -> str | None:
    """The note on comparisons of several kinds of models; None for one kind."""
    why = different_scales(kinds)
    return None if why is None else f"{why[0].upper()}{why[1:]}: only rates are compared."
