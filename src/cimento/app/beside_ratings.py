"""Mean ratings of sentences beside the scores of models, made without a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from cimento.app.sentence_means import SentenceMean, sentence_means
from cimento.documents import versions_apart
from cimento.judgments import ACCEPTABILITY, Judgment
from cimento.judgments.summaries import mean_ratings
from cimento.kinds.run import Run
from cimento.measures import find_measure
from cimento.measures.participants import z_by_participant
from cimento.paired.item_outcomes import labeled_apart
from cimento.records.outcomes import STATISTICS, Estimate
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.suites.ratings import rated_of
from cimento.suites.stimuli import stimulus_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideSentence:
    """One sentence's mean rating beside a model's value.

    Attributes:
        rated: the ratings of the sentence, described.
        value: by the model, of the measure.
        rank: by mean rating, 1 for the best; ties have their mean rank.
        rank_model: by the model, 1 for what it expects most.
    """

    rated: SentenceMean
    value: float
    rank: float
    rank_model: float

    @property
    def gap(self) -> float:
        """The rank by people minus that by the model: below 0 where the model expects it less."""
        return self.rank - self.rank_model


@dataclass(frozen=True, slots=True)
class BesideModel:
    """People's mean ratings beside a model's scores of the same sentences.

    Attributes:
        suite: name of the run's suite, with its version where there are several.
        model: label of the model.
        measure: measure of the scores.
        unit: of the measure; empty without one.
        is_turned: whether less of the measure is better, so that its sign is turned round.
        is_masked: whether it is a masked model's, and so of a pseudo-log-likelihood.
        correlation: Spearman's correlation over sentences, items as clusters.
        others: items with ratings of other sentences than the model's, which are left out.
        sentences: one by one, in the order of the suite.
    """

    suite: str
    model: str
    measure: str
    unit: str
    is_turned: bool
    is_masked: bool
    correlation: Correlation
    others: tuple[str, ...]
    sentences: tuple[BesideSentence, ...]


def beside_models(judgments: Sequence[Judgment], runs: Sequence[Run]) -> list[BesideModel]:
    """Spearman's correlation of mean ratings with the scores of each run on the same sentences.

    Args:
        judgments: the ratings.
        runs: stored runs; those of other suites, and those without scores, are left out.

    Raises:
        CimentoError: a run's scores cannot be read.
    """
    rated = [one for one in judgments if one.question == ACCEPTABILITY and not one.is_check]
    asked = {one.suite for one in rated}
    shown = labeled_apart(versions_apart([run for run in runs if run.suite_name in asked]))
    return [beside for run in shown if (beside := _beside_model(rated, run)) is not None]


def _beside_model(rated: Sequence[Judgment], run: Run) -> BesideModel | None:
    """The ratings of a run's sentences beside its scores; None where it has none."""
    scores, suite = run.paradigm.judge.scores(run), run.sentences
    if scores is None or suite is None:
        return None
    name, sentences = run.suite_name, stimulus_texts(suite)
    fitting, others = [], dict[str, None]()
    for one in rated:
        sentence = sentences.get((one.item, one.condition))
        if one.suite != name or sentence is None:
            continue
        if one.is_about(sentence):
            fitting.append(one)
        else:
            others[one.item] = None
    ratings = {place[1:3]: mean for place, mean in mean_ratings(fitting).items()}
    # z-scores are within all that somebody rated, as where means are shown.
    about = {(one.item, one.condition, one.candidate or "") for one in fitting}
    described = {
        (one.item, one.condition): one
        for one in sentence_means(rated)
        if one.suite == name and (one.item, one.condition, one.sentence) in about
    }
    rows = [
        (described[key], ratings[key], row["oriented"], row["value"])
        for row in scores.unique(["item", "condition"], maintain_order=True).to_dicts()
        if (key := (row["item"], row["condition"])) in ratings and row["oriented"] is not None
    ]
    return _beside(
        run, scores["measure"][0] if rows else "", scores["unit"][0] if rows else "", rows,
        is_turned=scores.filter(scores["value"] != scores["oriented"]).height > 0,
        others=tuple(others),
    )  # fmt: skip


def _beside(
    run: Run,
    measure: str,
    unit: str,
    rows: Sequence[tuple[SentenceMean, float, float, float]],
    *,
    is_turned: bool,
    others: tuple[str, ...] = (),
) -> BesideModel:
    """Described sentences, each with its rating, and its value once with more for better."""
    means, oriented = [row[1] for row in rows], [row[2] for row in rows]
    items = tuple(row[0].item for row in rows)
    # As where the run alone is shown: items that the suite puts together count together.
    clusters = run.sentences.clusters() if run.sentences else {}
    design = Design(items, tuple(clusters.get(item, ("item", item)) for item in items))
    ranks = zip(_ranks(means), _ranks(oriented), strict=True)
    return BesideModel(
        run.suite.name, run.model, measure, unit,
        is_turned=is_turned,
        is_masked=run.model_kind == "masked",
        correlation=correlate(means, oriented, design=design),
        others=others,
        sentences=tuple(
            BesideSentence(rated=row[0], value=row[3], rank=rank, rank_model=rank_model)
            for row, (rank, rank_model) in zip(rows, ranks, strict=True)
        ),
    )  # fmt: skip


def main_correlation(run: Run) -> Estimate | None:
    """The first correlation of ratings with values of a measure; None where a run has none.

    It is the headline, except in a test with predictions, whose headline is their proportion.
    """
    known = (one for one in run.estimates() if one.statistic in STATISTICS)
    return next((one for one in known if one.role != "detail" and not one.group), None)


def beside_own(run: Run, measure: str) -> BesideModel | None:
    """The ratings that a suite has itself beside the values of a run; None where there are none.

    Args:
        run: of rated sentences.
        measure: that is compared with ratings.
    """
    if run.sentences is None:
        return None
    rated = {one.id: one for one in rated_of(run.sentences).sentences}
    z, _, _ = z_by_participant({id_: one.ratings for id_, one in rated.items()})
    outcomes = run.outcomes()
    known = outcomes.filter(outcomes["question"] == measure).drop_nulls(["value", "reference"])
    sign = 1 if find_measure(measure).higher_is_better else -1
    rows = []
    for item, rating, value in known.select("item", "reference", "value").iter_rows():
        one, scaled = rated[item], [each.value for each in z.get(item, ())]
        described = SentenceMean(
            suite=run.suite_name, item=item, condition="", sentence=one.text, n=one.n or 0,
            mean=rating if one.mean is None else one.mean, sd=one.sd, n_z=len(scaled),
            z=fmean(scaled) if scaled else None,
        )  # fmt: skip
        rows.append((described, rating, sign * value, value))
    unit = known["unit"][0] if rows else ""
    return _beside(run, measure, unit, rows, is_turned=sign < 0) if rows else None


def _ranks(values: Sequence[float]) -> list[float]:
    """The ranks of values, 1 for the highest; equal ones have their mean rank."""
    return [
        1 + sum(other > value for other in values)
        + (sum(other == value for other in values) - 1) / 2
        for value in values
    ]  # fmt: skip
