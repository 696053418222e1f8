"""Overviews of stored runs: perplexities, the worst sentences, one table over several suites."""

from __future__ import annotations

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
