"""The supervised contrast: how well a classifier on sentence vectors tells acceptable sentences.

Probabilities are judged without a label ever being seen. A logistic regression on the vectors of
the same model sees the labels of other items, as the classifiers of CoLA and ItaCoLA do (Warstadt
et al. 2019, doi:10.1162/tacl_a_00290; Trotta et al. 2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.paradigms.ratings.people import belongs_to
from cimento.paradigms.regions.contrast import find_contrast
from cimento.statistics.classification import auc as area
from cimento.statistics.classification import auc_interval, confusion, mcc
from cimento.statistics.design import Design
from cimento.statistics.regression import out_of_fold
from cimento.suites.design import squares
from cimento.suites.ratings import rated_of
from cimento.suites.stimuli import stimulus_text

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from cimento.statistics.design import Floats
    from cimento.statistics.intervals import Interval
    from cimento.suites import Suite


@dataclass(frozen=True, slots=True)
class LabeledSentences:
    """Sentences with what is known of them.

    Attributes:
        texts: the sentences.
        acceptable: whether each is acceptable.
        groups: for each sentence, the item or cluster that it belongs to.
        left_out: number of sentences of which it is not known.
    """

    texts: tuple[str, ...]
    acceptable: tuple[bool, ...]
    groups: tuple[Hashable, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """How well the classifier did on items that it was not fitted to.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        layer: layer of the vectors.
        dimensions: number of dimensions of the vectors.
        sentences: number of sentences that were classified.
        acceptable: number of these sentences that are acceptable.
        left_out: number of other sentences, which have no label, or a rating in the middle of the
            scale.
        folds: number of parts, each classified from the others.
        auc: area under the ROC curve; 0.5 by chance.
        low: lower end of its 95% interval.
        high: upper end of the interval.
        accuracy: proportion of sentences classified rightly.
        mcc: Matthews's correlation.
        reason: why a number is None.
    """

    suite: str
    model: str
    layer: int
    dimensions: int
    sentences: int
    acceptable: int
    left_out: int
    folds: int
    auc: float | None
    low: float | None
    high: float | None
    accuracy: float
    mcc: float | None
    reason: str | None


def labeled_sentences(suite: Suite) -> LabeledSentences:
    """The sentences of a suite and whether they are acceptable.

    In a design of two factors one cell is not, or two where one factor is the judgment; in other
    suites with predictions, the conditions that should be less likely are not. Of rated sentences,
    the column ``grammaticality`` or ``label`` decides, or else whether the mean rating is above the
    middle of the scale.

    Raises:
        UsageError: the suite does not say which sentences are acceptable.
    """
    if suite.predictions:
        bad = {cell.name for square in squares(suite) for cell in square.bad}
        if not bad:
            contrast = find_contrast(suite, regions=(1,) if len(suite.region_names) == 1 else ())
            bad = set(contrast.alternatives)
        clusters = suite.clusters()
        rows = [
            (
                stimulus_text(condition, rule=suite.join),
                condition.name not in bad,
                clusters[item.id],
            )
            for item, condition in suite.stimuli()
        ]
    else:
        rated = rated_of(suite)
        middle = None if rated.scale is None else (rated.scale.low + rated.scale.high) / 2
        rows = []
        for sentence in rated.sentences:
            mean = sentence.mean
            judged = sentence.grammatical
            if judged is None and sentence.label:
                judged = sentence.label == "acceptable"
            if judged is None and mean is not None and middle is not None and mean != middle:
                judged = mean > middle
            if judged is not None:
                rows.append((sentence.text, judged, belongs_to(sentence)))
    if len({judged for _, judged, _ in rows}) < len((True, False)):
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="it does not say which sentences are acceptable and which are not",
            todo="Give a suite with predictions, with labels or with ratings.",
        )
    texts, truth, groups = zip(*rows, strict=True)
    return LabeledSentences(texts, truth, groups, sum(1 for _ in suite.stimuli()) - len(rows))


def probe_sentences(
    sentences: LabeledSentences,
    vectors: Floats,
    *,
    suite: str,
    model: str,
    layer: int,
    folds: int,
    seed: int,
) -> Probe:
    """The classifier's success on sentences of items that it did not see.

    Args:
        sentences: the sentences.
        vectors: sentences by dimensions.
        suite: name of the suite.
        model: label of the model.
        layer: layer of the vectors.
        folds: number of parts, each classified from the others.
        seed: seed of the deal of items into folds.

    Raises:
        UsageError: there are fewer items than folds.
    """
    truth: Sequence[bool] = sentences.acceptable
    odds = out_of_fold(vectors, truth, sentences.groups, folds=folds, seed=seed)
    answers = [bool(value > 0) for value in odds]
    design = Design(tuple(range(len(truth))), sentences.groups)
    value, correlation = area(odds, truth), mcc(confusion(truth, answers))
    ends: Interval = auc_interval(odds, truth, design)
    return Probe(
        suite=suite,
        model=model,
        layer=layer,
        dimensions=vectors.shape[1],
        sentences=len(truth),
        acceptable=sum(truth),
        left_out=sentences.left_out,
        folds=folds,
        auc=value.value,
        low=ends.low,
        high=ends.high,
        accuracy=sum(map(bool.__eq__, truth, answers)) / len(truth),
        mcc=correlation.value,
        reason=value.reason or ends.reason or correlation.reason,
    )
