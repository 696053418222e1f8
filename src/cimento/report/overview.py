"""Overviews of stored runs: perplexities, the worst sentences, one table over several suites."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cimento.measures import find_measure
from cimento.measures.scores import ScoredSentence
from cimento.measures.sentence import (
    Missing,
    Sentence,
    Undefined,
    corpus_perplexity,
    surprisal_bits,
)
from cimento.paradigms.regions.designs import compares_sentences, factorial_of, is_factorial
from cimento.paradigms.regions.judging import (
    on_each_measure,
    options_of,
    scores_of,
    sentences_of,
    suite_of,
    tokens_of,
)
from cimento.report.formatting import rate
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, sizes
from cimento.runs.estimates import Estimate
from cimento.runs.run import Run
from cimento.suites.design import squares
from cimento.verdicts.factorial import items_by_phenomenon

GOOD, BAD = "good", "bad"
_CHANCE_OF_PAIRS = 0.5
_NOT_JUDGED = "the suite has no predictions"
RANKED_BY = "meanlp"
"""Of sentences of different lengths only a mean can be the lowest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexity:
    """The perplexity of all sentences of one condition, or of two groups of them.

    Attributes:
        suite: its name.
        model: label of the model.
        kind: ``PPPL`` of masked models (Salazar et al. 2020), else ``PPL``.
        phenomenon: its name.
        acceptable: perplexity of all acceptable sentences; None where undefined.
        unacceptable: of all unacceptable ones.
        ratio: unacceptable over acceptable.
        by_condition: each condition to its own; None where undefined.
        n: sentences, acceptable and unacceptable.
        reason: why one is None.
    """

    suite: str
    model: str
    kind: str
    phenomenon: str
    acceptable: float | None
    unacceptable: float | None
    ratio: float | None
    by_condition: tuple[tuple[str, float | None], ...]
    n: tuple[int, int]
    reason: str | None = None


def perplexities(run: Run) -> list[Perplexity]:
    """Perplexity of acceptable and unacceptable sentences, by phenomenon.

    exp of minus the sum of LP over the sum of tokens (Salazar et al. 2020, section 2.3,
    doi:10.18653/v1/2020.acl-main.240). Which conditions are unacceptable is said by a factorial
    design, or by the name ``bad`` in a pair; of other suites only the conditions are given.

    Args:
        run: of any suite whose whole sentences were scored.
    """
    scored = list(sentences_of(run))
    found = []
    for name, items in items_by_phenomenon(suite_of(run)).items():
        own = [each for each in scored if each.item in set(items)]
        found.append(_perplexity(run, name, own))
    return found


def _perplexity(run: Run, phenomenon: str, scored: Sequence[ScoredSentence]) -> Perplexity:
    bad = unacceptable_conditions(run)
    names = suite_of(run).condition_names
    by_condition = []
    reasons = []
    for name in names:
        value, reason = _of(scored, {name})
        by_condition.append((name, value))
        reasons += [reason] if reason else []
    good, _ = _of(scored, set(names) - bad) if bad else (None, None)
    worse, _ = _of(scored, bad) if bad else (None, None)
    counts = [each.condition in bad for each in scored if isinstance(each.sentence, Sentence)]
    return Perplexity(
        suite=run.suite.name,
        model=run.model,
        kind="PPPL" if run.model_kind == "masked" else "PPL",
        phenomenon=phenomenon,
        acceptable=good,
        unacceptable=worse,
        ratio=None if good is None or worse is None else worse / good,
        by_condition=tuple(by_condition),
        n=(counts.count(False), counts.count(True)),
        reason=next(iter(reasons), None if bad else "the suite does not say what is unacceptable"),
    )


def unacceptable_conditions(run: Run) -> set[str]:
    """The conditions that are unacceptable; empty where the suite does not say."""
    if is_factorial(run):
        return {name for each in squares(suite_of(run)) if (name := each.unacceptable.condition)}
    return {BAD} if set(suite_of(run).condition_names) == {GOOD, BAD} else set()


def _of(scored: Sequence[ScoredSentence], conditions: set[str]) -> tuple[float | None, str | None]:
    """The perplexity of some conditions over the sentences that have a score, or why none."""
    own = [each.sentence for each in scored if each.condition in conditions]
    known = [each for each in own if isinstance(each, Sentence)]
    if not known:
        reasons = (each.reason for each in own if isinstance(each, Missing))
        return None, next(reasons, "there are no sentences")
    try:
        return corpus_perplexity(known), None
    except Undefined as reason:
        return None, str(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowest:
    """A sentence with a low score, to be looked at for slips.

    Attributes:
        suite: its name.
        model: label of the model.
        item: id of the item.
        condition: its condition.
        value: the score.
        token: its most surprising token; empty where tokens are not known.
        token_bits: surprisal of that token.
        text: the sentence.
    """

    suite: str
    model: str
    item: str
    condition: str
    value: float
    token: str
    token_bits: float | None
    text: str


def lowest(run: Run, *, measure: str = "", count: int = 20) -> list[Lowest]:
    """The sentences with the worst scores: typos and odd words are often among them.

    Args:
        run: of any suite.
        measure: by which they are ranked; empty for the mean log-probability of a token.
        count: how many.
    """
    chosen = find_measure(measure or RANKED_BY)
    places = {
        (row["item"], row["condition"]): (row["request"], row["text"])
        for row in run.table("requests").iter_rows(named=True)
    }
    worst = _worst_tokens(run)
    rows = [
        (row["value"] if chosen.higher_is_better else -row["value"], row)
        for row in scores_of(run, [chosen.name]).iter_rows(named=True)
        if row["value"] is not None
    ]
    rows.sort(key=lambda pair: pair[0])
    found = []
    for _, row in rows[:count]:
        request, text = places[row["item"], row["condition"]]
        token, bits = worst.get(request, ("", None))
        found.append(
            Lowest(
                suite=run.suite.name,
                model=run.model,
                item=row["item"],
                condition=row["condition"],
                value=row["value"],
                token=token,
                token_bits=bits,
                text=text,
            )
        )
    return found


def _worst_tokens(run: Run) -> dict[int, tuple[str, float | None]]:
    """Number of a text to its most surprising token and that token's surprisal in bits."""
    found: dict[int, tuple[str, float | None]] = {}
    tokens = tokens_of(run)
    texts = {row["request"]: row["text"] for row in run.table("requests").iter_rows(named=True)}
    known = tokens.filter(tokens["logprob_nats"].is_not_null())
    for row in known.sort("logprob_nats", descending=True).iter_rows(named=True):
        # The characters of the sentence, not the tokenizer's own marks.
        shown = texts.get(row["request"], "")[max(row["start"], 0) : max(row["end"], 0)].strip()
        bits = surprisal_bits(row["logprob_nats"])
        found[row["request"]] = (shown or row["token"], bits)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class JointCell:
    """One number of the joint table.

    Attributes:
        suite: its name.
        language: of the suite.
        phenomenon: its name.
        what: what the accuracy is of.
        model: label of the model.
        measure: of sentences; empty for regions.
        accuracy: None where nothing was scored.
        low: lower end of its 95 % interval; None where there is none.
        high: upper end.
        n: items that it rests on.
        chance: how often it would hold by chance; None where that is not defined.
        reason: why accuracy or interval is None.
    """

    suite: str
    language: str
    phenomenon: str
    what: str
    model: str
    measure: str
    accuracy: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    chance: float | None = None
    reason: str = ""


def joint(runs: Sequence[Run], measures: Sequence[str] = ()) -> list[JointCell]:
    """One table of the same models on several suites, factorial or not.

    Of a factorial suite it is the mean of its pair accuracies, of others how often all
    predictions of an item hold.

    Args:
        runs: of any suites and models.
        measures: names, for suites about whole sentences; empty for what each run is judged on.

    Raises:
        UsageError: there is no such measure.
    """
    return [
        cell
        for run in runs
        for judged in (on_each_measure(run, measures) if compares_sentences(run) else [run])
        for cell in _joint_cells(judged)
    ]


def _joint_cells(run: Run) -> Iterator[JointCell]:
    summary = run.summary()
    empty = JointCell(
        suite=run.suite.name,
        language=run.suite.meta.language,
        phenomenon=run.suite.meta.phenomenon or run.suite.name,
        what="all predictions" if len(summary.results) > 1 else "prediction",
        model=run.model,
        measure=options_of(run).measure,
        accuracy=None,
        reason=_NOT_JUDGED,
    )
    if is_factorial(run) and compares_sentences(run):
        for each in factorial_of(run, normalisations=("raw",)).phenomena:
            mean = each.average_of_pairs(seed=options_of(run).seed)
            yield replace(
                empty,
                phenomenon=each.name,
                what="mean of pairs",
                accuracy=mean.value,
                low=mean.low,
                high=mean.high,
                n=mean.n,
                chance=_CHANCE_OF_PAIRS,
                reason=mean.reason or "",
            )
        return
    groups: list[tuple[str, Estimate | None]] = [(rate.level, rate) for rate in summary.phenomena]
    whole = summary.results[-1] if summary.results else None
    for name, held in groups or [(empty.phenomenon, whole)]:
        cell = replace(empty, phenomenon=name)
        yield (
            cell
            if held is None
            else replace(
                cell,
                accuracy=held.value,
                low=held.low,
                high=held.high,
                n=held.n,
                chance=held.chance,
                reason=held.reason,
            )
        )


def perplexity_grid(values: Sequence[Perplexity]) -> Grid:
    """Perplexity of acceptable and unacceptable sentences, their ratio, and each condition's."""
    names = list(dict.fromkeys(name for each in values for name, _ in each.by_condition))
    rows = tuple(
        (
            each.suite,
            each.model,
            each.phenomenon,
            each.kind,
            *(str(n) for n in each.n),
            _number(each.acceptable),
            _number(each.unacceptable),
            _number(each.ratio),
            *(_number(dict(each.by_condition).get(name)) for name in names),
            each.reason or BLANK,
        )
        for each in values
    )
    return Grid(
        title="Perplexity of a token over all sentences of a condition.",
        header=(
            "suite", "model", "phenomenon", "kind", "n acceptable", "n unacceptable", "acceptable",
            "unacceptable", "ratio", *names, "remark",
        ),
        rows=rows,
        labels=4,
        remarks=1,
        notes=(
            "PPPL: of pseudo-log-likelihoods; not comparable with PPL.",
            "n: sentences. One number over the tokens of them all: there is no interval.",
        ),
    )  # fmt: skip


def lowest_grid(values: Sequence[Lowest], *, measure: str) -> Grid:
    """The sentences with the worst scores."""
    rows = tuple(
        (
            each.suite,
            each.model,
            each.item,
            each.condition,
            _number(each.value),
            each.token,
            _number(each.token_bits),
            each.text,
        )
        for each in values
    )
    return Grid(
        title=f"Sentences with the worst {measure}: look for typos and odd words among them.",
        header=(
            "suite", "model", "item", "condition", measure, "worst token", "its bits", "sentence",
        ),
        rows=rows,
        labels=4,
        remarks=1,
    )  # fmt: skip


def joint_grid(cells: Sequence[JointCell]) -> Grid:
    """Suites and phenomena in rows, models and measures in columns; accuracies in percent.

    The last rows are means over suites of the mean over a suite's phenomena, one for each level of
    chance: what is .5 by chance and what is .333 have no mean.
    """
    columns = list(dict.fromkeys((each.model, each.measure) for each in cells))
    found = {(*_row_of(each), each.model, each.measure): each for each in cells}
    rows: list[tuple[GridCell, ...]] = []
    rules = set()
    before = None
    for place in dict.fromkeys(map(_row_of, cells)):
        suite, language, phenomenon, what = place
        if suite != before and rows:
            rules.add(len(rows))
        labels = (BLANK, BLANK) if suite == before else (suite, language)
        before = suite
        own = [found.get((*place, *column)) for column in columns]
        values = [None if each is None else of_cell(each) for each in own]
        level = next((each.chance for each in own if each is not None), None)
        shown = (*labels, phenomenon, what, rate(level), sizes(values))
        rows.append((*shown, *(each or BLANK for each in values)))
    rules.add(len(rows))
    for level in sorted({each.chance for each in cells if each.chance is not None}):
        means = [_mean_over_suites(cells, level, *column) for column in columns]
        shown = ("Mean over suites", BLANK, BLANK, "suites", rate(level), sizes(means))
        rows.append((*shown, *means))
    return Grid(
        title="Accuracy in % of the same models on several suites.",
        header=(
            *("suite", "language", "phenomenon", "of", "chance", "n"),
            *(measure or "regions" for _, measure in columns),
        ),
        groups=(*(BLANK,) * 6, *(model for model, _ in columns)),
        rows=tuple(rows),
        rules=frozenset(rules),
        labels=4,
        notes=("n: items; of means: suites. Each level of chance has a mean of its own.",),
    )


def _row_of(cell: JointCell) -> tuple[str, str, str, str]:
    return cell.suite, cell.language, cell.phenomenon, cell.what


def of_cell(cell: JointCell) -> EstimateCell:
    """The accuracy of a cell in percent."""
    return EstimateCell.percent((cell.accuracy, cell.low, cell.high), cell.n, cell.reason)


def _mean_over_suites(
    cells: Sequence[JointCell], chance: float, model: str, measure: str
) -> EstimateCell:
    """The mean over suites of what a model has on those with one level of chance."""
    suites: dict[str, list[float]] = {}
    for each in cells:
        own = (each.model, each.measure, each.chance) == (model, measure, chance)
        if own and each.accuracy is not None:
            suites.setdefault(each.suite, []).append(each.accuracy)
    return mean_of_accuracies([math.fsum(own) / len(own) for own in suites.values()])


def mean_of_accuracies(accuracies: Sequence[float]) -> EstimateCell:
    """The mean of some accuracies in percent, as if what they are of had been drawn.

    Args:
        accuracies: of suites or paradigms, as shares, which count alike.
    """
    from cimento.statistics.design import Design
    from cimento.statistics.means import mean_of

    found = mean_of(accuracies, Design.independent(len(accuracies)), seed=0)
    if found.low is None or found.high is None:
        reason = (found.reason or "").replace("value", "suite")
        return EstimateCell.percent((found.value, None, None), found.n, reason)
    ends = (found.value, max(0.0, found.low), min(1.0, found.high))
    return EstimateCell.percent(ends, found.n, None)


def _number(value: float | None) -> str:
    return BLANK if value is None else f"{value:.4g}"
