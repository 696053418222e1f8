"""Exposure: how often the critical words of items, and whole items, are in a corpus.

A model trained on a corpus may be right where it has read the words of the grammatical side more
often. Critical is what differs between the two sides, with some words before it. The counts of both
sides are set beside the margins, and accuracy is shown on the items whose critical words the corpus
does not have.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cimento.io.values import grouped
from cimento.kinds.run import Run
from cimento.paradigms.regions.contrast import find_contrast
from cimento.paradigms.regions.covariates import (
    EVERY,
    PartRate,
    part_rates,
    parts_grid,
    passed_items,
)
from cimento.paradigms.regions.judging import judged_suite, whole_items
from cimento.report import formatting
from cimento.report.grid import Grid
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design
from cimento.suites import Suite, sentence
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import WITHOUT_BLANKS, word_spans

Words: TypeAlias = tuple[str, ...]

_WORD = re.compile(r"\w+|[^\w\s]")
UNSEEN, SEEN, WHOLE = "critical words not in it", "critical words in it", "a whole sentence in it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two sides of an item, and how often a corpus has them.

    Attributes:
        item: id of the item.
        alternative: the condition that should be less likely.
        good: the critical words of the side that should be likelier.
        bad: those of the other.
        sentences: the words of both sides.
        n_good: times that the corpus has `good`.
        n_bad: times that it has `bad`.
        n_whole: times that it has one of the sentences, within a longer text or alone.
    """

    item: str
    alternative: str
    good: Words
    bad: Words
    sentences: tuple[Words, Words]
    n_good: int = 0
    n_bad: int = 0
    n_whole: int = 0

    @property
    def log_ratio(self) -> float:
        """log2 of how many times more often the corpus has the good side, one added to each."""
        return math.log2((self.n_good + 1) / (self.n_bad + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The margins of a run beside the counts of a corpus.

    Attributes:
        suite: name of the suite.
        model: label of the model.
        parts: accuracy on all items, and on those whose words the corpus has or lacks.
        margins: Spearman's correlation of margins in bits and log ratios of counts, over items.
    """

    suite: str
    model: str
    parts: tuple[PartRate, ...]
    margins: Correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusExposure:
    """The critical words of a suite in a corpus, and the results of runs beside their counts.

    Attributes:
        pairs: the critical words of each item, with their counts.
        exposures: the results of each run.
        words: number of words in the corpus.
    """

    pairs: tuple[Pair, ...]
    exposures: tuple[Exposure, ...]
    words: int

    @property
    def grid(self) -> Grid:
        """The table of accuracies on items whose critical words the corpus has, or lacks."""
        correlations = tuple(
            f"{exposure.suite}, {exposure.model}: Spearman's rho of margins and log ratios of"
            f" counts {formatting.number(exposure.margins.r, digits=2)} (n = {exposure.margins.n}"
            + (f"; {exposure.margins.reason})" if exposure.margins.reason else ")")
            + "."
            for exposure in self.exposures
        )
        return parts_grid(
            [rate for exposure in self.exposures for rate in exposure.parts],
            title="Accuracy on items whose words are, or are not, in a corpus of"
            f" {self.words:,} words.",
            notes=(
                *correlations,
                "Critical are the words that differ between the two sides, with those before them.",
                "Words are compared in lower case. Of log ratios, one is added to each count.",
            ),
        )


def corpus_exposure(
    runs: Sequence[Run], lines: Sequence[str], *, before: int = 1
) -> CorpusExposure:
    """The results of runs of one suite beside the counts of its critical words in a corpus.

    Args:
        runs: runs of one suite.
        lines: the texts of the corpus; n-grams are looked for inside each.
        before: number of words before the differing ones.

    Raises:
        UsageError: the predictions name no or several likelier conditions.
    """
    pairs = counted_pairs(critical_pairs(judged_suite(runs[0]), before=before), lines)
    return CorpusExposure(
        pairs=tuple(pairs),
        exposures=tuple(exposure(run, pairs) for run in runs),
        words=sum(len(words_of(line)) for line in lines),
    )


def critical_pairs(suite: Suite, *, before: int = 1) -> list[Pair]:
    """The critical words of all items, without counts.

    Args:
        suite: a suite whose predictions name one likelier condition.
        before: number of words before the differing ones.

    Raises:
        UsageError: the predictions name no or several likelier conditions.
    """
    contrast = find_contrast(suite, regions=(1,))
    words = {
        (item.id, condition.name): words_of(sentence(condition, rule=suite.join))
        for item, condition in suite.stimuli()
    }
    return [
        Pair(
            item=item.id,
            alternative=name,
            good=critical[0],
            bad=critical[1],
            sentences=(words[item.id, contrast.target], words[item.id, name]),
        )
        for item in suite.items
        for name in contrast.alternatives
        if (critical := _critical(words[item.id, contrast.target], words[item.id, name], before))
    ]


def words_of(text: str) -> Words:
    """The words of a text in lower case and one spelling, marks apart.

    See `cimento.suites.letters` and, for texts without blanks, `cimento.suites.stimuli`.
    """
    text = one_spelling(text)
    if WITHOUT_BLANKS.search(text):
        return tuple(text[start:end].lower() for start, end in word_spans(text))
    return tuple(_WORD.findall(text.lower()))


def _critical(good: Words, bad: Words, before: int) -> tuple[Words, Words] | None:
    """The words that differ, with some before them; None for equal sides, and beside no words.

    Where one side only has words more, the next word of both is taken too, or the one before where
    it has them at its end: a side without words has nothing to be counted.
    """
    if good == bad or not good or not bad:
        return None
    shortest = min(len(good), len(bad))
    first = next((k for k in range(shortest) if good[k] != bad[k]), shortest)
    same = 0
    while same < shortest - first and good[-1 - same] == bad[-1 - same]:
        same += 1
    if shortest - same == first:
        same = max(0, same - 1)
    at_end = first == shortest - same
    begin = max(0, first - max(before, int(at_end)))
    return good[begin : len(good) - same], bad[begin : len(bad) - same]


def counted_pairs(pairs: Sequence[Pair], lines: Iterable[str]) -> list[Pair]:
    """The pairs with their counts in a corpus.

    Args:
        pairs: pairs without counts.
        lines: the texts of the corpus; n-grams are looked for inside each.
    """
    wanted = {words for pair in pairs for words in (pair.good, pair.bad, *pair.sentences)}
    counts = Counter(_matches(wanted, lines))
    return [
        replace(
            pair,
            n_good=counts[pair.good],
            n_bad=counts[pair.bad],
            n_whole=sum(counts[words] for words in pair.sentences),
        )
        for pair in pairs
    ]


def _matches(wanted: set[Words], lines: Iterable[str]) -> Iterator[Words]:
    """The wanted sequences of words in some texts, each time that they occur."""
    # Few words begin a wanted sequence, so that most places need one look.
    lengths: dict[str, set[int]] = {}
    for words in wanted:
        lengths.setdefault(words[0], set()).add(len(words))
    for line in lines:
        text = words_of(line)
        for place, word in enumerate(text):
            for length in lengths.get(word, ()):
                words = text[place : place + length]
                if len(words) == length and words in wanted:  # the end of a line cuts words off
                    yield words


def exposure(run: Run, pairs: Sequence[Pair]) -> Exposure:
    """The margins and verdicts of a run beside the counts of its items.

    Args:
        run: run of the suite of the pairs.
        pairs: the pairs, counted.
    """
    right = passed_items(run)
    items = grouped((pair.item, pair) for pair in pairs)
    seen = {item for item, several in items.items() if any(p.n_good or p.n_bad for p in several)}
    whole = {item for item, several in items.items() if any(p.n_whole for p in several)}
    parts = {EVERY: set(items), SEEN: seen, UNSEEN: items.keys() - seen, WHOLE: whole}
    outcomes = whole_items(run).drop_nulls("value")
    margins = {
        item: value for item, value in outcomes.select("item", "value").iter_rows() if item in items
    }
    ratios = [sum(pair.log_ratio for pair in items[item]) / len(items[item]) for item in margins]
    return Exposure(
        suite=run.suite.name,
        model=run.model,
        parts=tuple(part_rates(run, right, parts)),
        margins=correlate(
            list(margins.values()), ratios, kind="spearman",
            design=Design.of(margins, judged_suite(run).clusters()),
        ),
    )  # fmt: skip
