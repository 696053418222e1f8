"""Audits of suites: tokens, balance, overlap, and cheap ways to solve the suite.

One such way are n-gram models trained on half of a suite's pairs, and tried on the other half. If
they do better than chance, words or pairs of words alone tell which sentence is acceptable, so that
a model that has seen such pairs needs to know nothing about the phenomenon.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, takewhile
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.models.base import Score
from cimento.paradigms.regions.contrast import (
    Confound,
    Contrast,
    find_confounds,
    find_contrast,
    items_with_other_contexts,
)
from cimento.paradigms.regions.judging import whole_items
from cimento.paradigms.regions.ngrams import NgramBaseline, ngram_baselines
from cimento.suites import Region
from cimento.suites.checks import marked_items
from cimento.suites.checks.comparisons import have_little_in_common
from cimento.suites.derived import Frequency
from cimento.suites.diversity import Diversity, diversity
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import (
    count_words,
    join_regions,
    stimulus_text,
    word_spans,
)

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.models.base import Encoding, Scorer
    from cimento.suites import Condition, Item, Suite
    from cimento.suites.stimuli import Span


RARE_IN_ITEMS = 50
"""Most items in which a shared word counts as a sign that two items may overlap."""

SIMILAR = 0.8
"""Smallest proportion of common words (Jaccard index) at which two items overlap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionFacts:
    """Properties of the sentences of one condition.

    Attributes:
        condition: name of the condition.
        words: mean number of words.
        characters: mean number of characters.
        tokens: mean number of the model's tokens; None without a model.
        target_tokens: mean number of the model's tokens in the target; None without a target.
        zipf: mean Zipf frequency of the target's words; None if it is unknown.
    """

    condition: str
    words: float
    characters: float
    tokens: float | None
    target_tokens: float | None
    zipf: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The part of a suite that a cheap method solves.

    Attributes:
        name: name of the method.
        n: number of items on which it decides.
        solved: ids of the items that it gets right.
        reason: reason why it decides on none.
    """

    name: str
    n: int
    solved: tuple[str, ...]
    reason: str = ""

    @classmethod
    def of_run(cls, name: str, run: Run) -> Baseline:
        """The baseline that a cheap model is, by its run of the suite.

        Args:
            name: name of the model.
            run: its run.
        """
        outcomes = whole_items(run).drop_nulls("right")
        solved = tuple(outcomes.filter("right")["item"])
        reason = "" if len(outcomes) else "it scores none of the items"
        return cls(name=name, n=len(outcomes), solved=solved, reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The findings of an audit.

    Attributes:
        suite: name of the suite.
        n_items: number of items in the suite.
        target: the contrast in words; empty, like all that depends on it, if nothing determines it.
        conditions: properties of the sentences, one entry for each condition.
        split_unequally: items whose target has more tokens in one condition than in another.
        unknown: item and condition of stimuli with unknown tokens, and the number of these tokens.
        no_tokens: the reason why both are None; empty where a model's tokens were counted.
        other_contexts: items whose conditions also differ outside the target.
        same_contexts: groups of items with the same words outside the target.
        unlike: items in which two compared sentences have hardly a word in common.
        marked: items with a judgment mark in a sentence.
        overlapping: pairs of items that share most of their words, with their Jaccard index.
        baselines: cheap methods, with the items that each of them solves.
        confounds: differences that mark one of the four conditions and therefore enter DD; None if
            the suite does not cross two factors.
        ngrams: n-grams of half the compared sentences, tried on the other half.
        diversity: how varied the words are, in one sentence of each item.
    """

    suite: str
    n_items: int
    target: str = ""
    conditions: tuple[ConditionFacts, ...]
    split_unequally: tuple[str, ...] | None = ()
    unknown: tuple[tuple[str, str, int], ...] | None
    no_tokens: str = ""
    other_contexts: tuple[str, ...] = ()
    same_contexts: tuple[tuple[str, ...], ...] = ()
    unlike: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    overlapping: tuple[tuple[str, str, float], ...]
    baselines: tuple[Baseline, ...]
    confounds: tuple[Confound, ...] | None
    ngrams: tuple[NgramBaseline, ...] = ()
    diversity: Diversity

    def remarks(self) -> dict[str, tuple[str, ...]]:
        """What was found about items, in words, by what it is about.

        Returns:
            Items, groups or pairs of items, under ``split`` (targets with more tokens in a
            condition), ``unknown`` (tokens), ``elsewhere`` (conditions that differ outside the
            target), ``unlike`` (hardly a word in common), ``same`` (contexts), ``marked``
            (sentences), ``overlapping``.
        """
        unknown = self.unknown or ()
        return {
            "split": self.split_unequally or (),
            "unknown": tuple(f"{item} {name} ({count})" for item, name, count in unknown),
            "elsewhere": self.other_contexts,
            "unlike": self.unlike,
            "same": tuple(f"items {', '.join(ids)}" for ids in self.same_contexts),
            "marked": self.marked,
            "overlapping": tuple(f"{a} and {b} ({value:.2f})" for a, b, value in self.overlapping),
        }


def audit_region_suite(
    suite: Suite,
    *,
    scorer: Scorer | None = None,
    unknown_token: str = "",
    frequency: Frequency | None = None,
    regions: Sequence[int] = (),
    baselines: Sequence[Baseline] = (),
) -> Audit:
    """Look for properties that make a suite easier, or harder, than it seems.

    Args:
        suite: a valid suite.
        scorer: model whose tokens are counted; None to count none.
        unknown_token: the unknown token of its tokenizer; empty if it has none.
        frequency: frequency of words in the suite's language; None to leave frequencies out.
        regions: regions of the target, if predictions leave it open; else, the words that differ.
        baselines: baselines from other models, shown next to that of frequencies.

    Raises:
        UsageError: the suite has no such region.
        InputError: the declaration of factors cannot be used.
    """
    suite, contrast = _contrasted(suite, regions)
    tokens = _tokens(suite, scorer) if scorer is not None else {}
    spans = {
        (item.id, one.name): join_regions(one.regions, rule=suite.join)[1]
        for item, one in suite.stimuli()
    }
    in_regions = {
        place: [_inside(one, [span]) for span in spans[place]] for place, one in tokens.items()
    }
    in_target = {
        place: _inside(encoded, [spans[place][number - 1] for number in contrast.regions])
        for place, encoded in tokens.items()
        if contrast is not None
    }
    audit = Audit(
        suite=suite.name,
        n_items=len(suite.items),
        conditions=tuple(_facts(suite, tokens, in_target, contrast, frequency)),
        unknown=tuple(_unknown(tokens, unknown_token)),
        marked=marked_items(suite),
        overlapping=_overlapping(suite),
        baselines=tuple(baselines),
        confounds=find_confounds(suite, in_regions or None),
        diversity=_diversity(suite),
    )
    audit = audit if scorer is not None else _without_tokens(audit)
    return audit if contrast is None else _with_target(audit, suite, contrast, in_target, frequency)


def _diversity(suite: Suite) -> Diversity:
    """How varied the words are, in the sentences of the first condition that each item has."""
    first = suite.condition_names[:1]
    conditions = [
        next((one for one in item.conditions if one.name in first), item.conditions[0])
        for item in suite.items
    ]
    regions = {
        name: [condition.regions[place].text for condition in conditions]
        for place, name in enumerate(suite.region_names)
        if all(len(condition.regions) > place for condition in conditions)
    }
    return diversity(
        [item.id for item in suite.items],
        [stimulus_text(condition, rule=suite.join) for condition in conditions],
        list(regions.items()) if len(suite.region_names) > 1 else [],
    )


def _without_tokens(audit: Audit) -> Audit:
    reason = "no model was given, whose tokens they would be"
    return replace(audit, split_unequally=None, unknown=None, no_tokens=reason)


def _unknown(
    tokens: Mapping[tuple[str, str], Encoding], unknown_token: str
) -> Iterator[tuple[str, str, int]]:
    for (item, condition), encoded in tokens.items():
        if unknown_token and (n := encoded.tokens.count(unknown_token)):
            yield item, condition, n


def _with_target(
    audit: Audit,
    suite: Suite,
    contrast: Contrast,
    in_target: Mapping[tuple[str, str], int],
    frequency: Frequency | None,
) -> Audit:
    """The audit with what depends on the target."""
    names = (contrast.target, *contrast.alternatives)
    contexts: dict[tuple[str, ...], list[str]] = {}
    unequal, unlike = [], []
    for item in suite.items:
        regions = enumerate(item.condition(contrast.target).regions, start=1)
        context = (one_spelling(r.text).casefold() for n, r in regions if n not in contrast.regions)
        contexts.setdefault(tuple(context), []).append(item.id)
        places = [(item.id, name) for name in names]
        if len({in_target[place] for place in places if place in in_target}) > 1:
            unequal.append(item.id)
        compared = (condition for condition in item.conditions if condition.name in names)
        first, *others = (stimulus_text(condition, rule=suite.join) for condition in compared)
        if any(have_little_in_common(first, other) for other in others):
            unlike.append(item.id)
    shown = ", ".join(suite.region_names[number - 1] for number in contrast.regions)
    return replace(
        audit,
        target=f"{shown} of {contrast.target} against {', '.join(contrast.alternatives)}",
        split_unequally=None if audit.no_tokens else tuple(unequal),
        other_contexts=tuple(items_with_other_contexts(suite, contrast)),
        same_contexts=tuple(tuple(ids) for ids in contexts.values() if len(ids) > 1),
        unlike=tuple(unlike),
        baselines=(_by_frequency(suite, contrast, frequency), *audit.baselines),
        ngrams=ngram_baselines(list(_pairs(suite, contrast))),
    )


def _pairs(suite: Suite, contrast: Contrast) -> Iterator[tuple[str, str]]:
    """The sentence of the target with that of each alternative."""
    for item in suite.items:
        good = stimulus_text(item.condition(contrast.target), rule=suite.join)
        for name in contrast.alternatives:
            yield good, stimulus_text(item.condition(name), rule=suite.join)


def _contrasted(suite: Suite, regions: Sequence[int]) -> tuple[Suite, Contrast | None]:
    """A suite with its contrast; a suite of whole sentences is divided into regions for this."""
    try:
        return suite, find_contrast(suite, regions=regions)
    except UsageError:
        if regions:
            raise
        return _cut_where_different(suite)


def _cut_where_different(suite: Suite) -> tuple[Suite, Contrast | None]:
    """A suite of two compared sentences, divided into the words that are equal and that differ.

    Other suites are unchanged and have no contrast.
    """
    try:
        contrast = find_contrast(suite, regions=(1,))
    except UsageError:
        return suite, None
    if len(contrast.alternatives) != 1:
        return suite, None
    names = {contrast.target, *contrast.alternatives}
    items, blank = [], "" if suite.join == "none" else " "
    for item in suite.items:
        pair = [condition for condition in item.conditions if condition.name in names]
        texts = [_cut_words(stimulus_text(condition, rule=suite.join), suite) for condition in pair]
        start = _count_alike(texts)
        rests = [words[start:] for words in texts]
        end = _count_alike([words[::-1] for words in rests])
        parts = [(w[:start], w[start : len(w) - end], w[len(w) - end :]) for w in texts]
        conditions = tuple(
            replace(condition, regions=tuple(Region(blank.join(words)) for words in cut))
            for condition, cut in zip(pair, parts, strict=True)
        )
        items.append(replace(item, conditions=conditions))
    regions = ("before", "the words that differ", "after")
    cut_suite = replace(suite, region_names=regions, items=tuple(items))
    return cut_suite, replace(contrast, regions=(2,))


def _cut_words(text: str, suite: Suite) -> list[str]:
    """The words of a sentence, which joined again give it."""
    if suite.join != "none":
        return text.split()
    return [text[start:end] for start, end in word_spans(text)]


def _count_alike(texts: Sequence[Sequence[str]]) -> int:
    """The number of words that all texts have in common at the beginning."""
    columns = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def _tokens(suite: Suite, scorer: Scorer) -> dict[tuple[str, str], Encoding]:
    stimuli = list(suite.stimuli())
    requests = [Score(text=stimulus_text(condition, rule=suite.join)) for _, condition in stimuli]
    places = [(item.id, condition.name) for item, condition in stimuli]
    return dict(zip(places, scorer.encode(requests), strict=True))


def _inside(encoded: Encoding, spans: Sequence[Span]) -> int:
    """The number of tokens that touch some characters."""
    return sum(
        any(start < high and end > low for low, high in spans) for start, end in encoded.spans
    )


def _facts(
    suite: Suite,
    tokens: Mapping[tuple[str, str], Encoding],
    counts: Mapping[tuple[str, str], int],
    contrast: Contrast | None,
    frequency: Frequency | None,
) -> Iterator[ConditionFacts]:
    """The properties of the sentences of each condition."""
    for name in suite.condition_names:
        stimuli = [(item.id, c) for item, c in suite.stimuli() if c.name == name]
        texts = [stimulus_text(condition, rule=suite.join) for _, condition in stimuli]
        known = [tokens[item, name] for item, _ in stimuli if (item, name) in tokens]
        zipf = (_zipf(c, contrast, frequency) if contrast else None for _, c in stimuli)
        yield ConditionFacts(
            condition=name,
            words=statistics.fmean(map(count_words, texts)),
            characters=statistics.fmean(map(len, texts)),
            tokens=_mean([sum(start >= 0 for start, _ in one.spans) for one in known]),
            target_tokens=_mean([counts[i, name] for i, _ in stimuli if (i, name) in counts]),
            zipf=_mean([value for value in zipf if value is not None]),
        )


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _zipf(condition: Condition, contrast: Contrast, frequency: Frequency | None) -> float | None:
    """The mean frequency of the target's words."""
    if frequency is None:
        return None
    text = " ".join(condition.regions[number - 1].text for number in contrast.regions)
    return _mean(list(map(frequency, re.findall(r"[^\W\d_]+", text))))


def _overlapping(suite: Suite) -> tuple[tuple[str, str, float], ...]:
    """Pairs of items that share most of their words.

    Only items that share a rare word are compared, so that the time for large suites is not
    quadratic.
    """
    words = {item.id: _words(item) for item in suite.items}
    items_of: dict[str, list[str]] = {}
    for item, item_words in words.items():
        for word in item_words:
            items_of.setdefault(word, []).append(item)
    telling = [ids for ids in items_of.values() if len(ids) <= RARE_IN_ITEMS]
    pairs = Counter(pair for ids in telling for pair in combinations(ids, 2))
    shared = ((a, b, len(words[a] & words[b]) / len(words[a] | words[b])) for a, b in pairs)
    return tuple((a, b, value) for a, b, value in shared if value >= SIMILAR)


def _words(item: Item) -> frozenset[str]:
    texts = (region.text for condition in item.conditions for region in condition.regions)
    return frozenset(re.findall(r"[^\W\d_]+", one_spelling("\n".join(texts)).casefold()))


def _by_frequency(suite: Suite, contrast: Contrast, frequency: Frequency | None) -> Baseline:
    """The items in which the target is more frequent than every alternative."""
    name = "the more frequent form"
    if frequency is None:
        return Baseline(name=name, n=0, solved=(), reason="no frequencies for this language")
    solved, n = [], 0
    for item in suite.items:
        target = _zipf(item.condition(contrast.target), contrast, frequency)
        others = [_zipf(item.condition(c), contrast, frequency) for c in contrast.alternatives]
        known = [other for other in others if other is not None]
        if target is None or len(known) < len(others):
            continue
        n += 1
        if all(target > position for position in known):
            solved.append(item.id)
    return Baseline(name=name, n=n, solved=tuple(solved))
