"""Outcomes of blanks: a hit, candidates that fit, the option that was chosen.

Everything that is decided about an item is decided here, once. An answer that a method cannot find
is a failure; candidates that nobody judged are unscored; a choice with an option that has no score
is unscored, and one whose target shares the highest score is a tie.

A hit at k is an item for which one of the first k candidates is one of the item's targets,
capitals aside and in any spelling of the same letters (`cimento.suites.letters`). Where a candidate
is one entry of the model's vocabulary, a target of several pieces cannot be hit at all, and is
counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cimento.errors import need_known
from cimento.io.clusters import CROSSED
from cimento.paradigms.cloze.judgments import (
    Fits,
    dictionary_readings,
    expectations,
    human_judgments,
    judge_expected,
)
from cimento.paradigms.cloze.requests import FITS, Candidate, ClozeAnswers
from cimento.paradigms.cloze.shares import hit_ranks, is_hit
from cimento.records.blanks import FORCED_CHOICE, REACHABLE
from cimento.records.outcomes import Outcome, VerdictName, outcomes_table
from cimento.suites.cloze import ClozeItem
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl

    from cimento.corpus.morphology import Morphology


OPTION_ALONE = frozenset({"left-to-right", "joint", "left", "sentinel"})
"""Rules whose score is that of the option's own tokens, so that it can be divided by them."""

DIVIDED = " per token"
"""Ends the method of a choice by scores that were divided by the option's tokens."""

HIT = "hit@"
"""A question, with the number of candidates that count, as `FITS`."""

CHOSEN, OPTION = "chosen", "option"
"""Groups of choices: the role of the most probable option, and its text; ties are joined."""

UNREACHABLE = "the answer is several tokens, and one mask was asked"
NOT_NEXT = "the answer is several tokens, and candidates are the next token"
NOT_FOUND = "the target is not among the candidates"
NOT_JUDGED = "nobody judged this candidate, or people were divided"
_NOT_KNOWN = "its probability is not known"


def cloze_outcomes(answers: ClozeAnswers) -> pl.DataFrame:
    """The outcomes table of a run.

    Raises:
        UsageError: no item has a column that results are to be broken down by.
        InputError: a dictionary, judgments or an expectation cannot be used.
    """
    refuse_unknown_columns(answers.items, answers.options.by)
    rows = [
        outcome
        for method in answers.methods
        for outcome in (*_hits(answers, method), *_fits(answers, method))
    ]
    rows += (outcome for rule in answers.choices for outcome in _choices(answers, rule))
    return outcomes_table(answers.suite.name, rows)


def asked(outcomes: pl.DataFrame, question: str, method: str) -> pl.DataFrame:
    """The outcomes of one question, asked in one way."""
    import polars as pl

    return outcomes.filter(pl.col("question") == question, pl.col("method") == method)


def refuse_unknown_columns(items: Iterable[ClozeItem], by: Iterable[str]) -> None:
    """See that items have the columns that results are broken down by.

    Raises:
        UsageError: no item has one of them.
    """
    known = {name for item in items for name in item.columns}
    for name in by:
        need_known(name, known, where=f"by={name}", seen="no item has this column")


def dictionary_of(answers: ClozeAnswers) -> Morphology | None:
    """The dictionary that a run is judged by; None where its options name none.

    Raises:
        CimentoError: it cannot be used.
    """
    from cimento.corpus.morphology.dictionaries import dictionary_for

    name = answers.options.dictionary
    return dictionary_for(name, answers.suite.meta.language) if name else None


def judged_by(
    answers: ClozeAnswers, method: str, *, people: Fits, dictionary: Morphology | None
) -> list[Candidate]:
    """The candidates of a method with what is known of their fit.

    People come first, then, for items that say what they expect, the dictionary. What is only
    a piece of a word has no reading there.

    Args:
        answers: of a model.
        method: how the candidates were found.
        people: what they said.
        dictionary: None for none.

    Raises:
        InputError: an item's expectation cannot be read.
    """
    candidates = answers.candidates(method)
    if dictionary is not None:
        readings = dictionary_readings(dictionary)
        candidates = judge_expected(
            candidates,
            expectations({item.id: item.columns for item in answers.items}),
            lambda candidate: () if candidate.kind == "piece" else readings(candidate),
        )
    return [
        replace(candidate, fits=people.get(candidate.key, candidate.fits))
        for candidate in candidates
    ]


def depths_of(answers: ClozeAnswers) -> tuple[int, ...]:
    """The numbers of candidates that count: one, and as many as were asked for."""
    return tuple(dict.fromkeys((1, answers.options.k)))


def _hits(answers: ClozeAnswers, method: str) -> Iterator[Outcome]:
    """Whether the target of each item is among its first candidates, with its rank.

    An answer that the method cannot find is a miss like any other: the model did not give it. It
    is told apart by its reason and its group, whether or not a spelling of it was found. Where the
    method can find no answer at all, hits are undefined.
    """
    with_target = [item for item in answers.items if item.targets]
    ranks = hit_ranks(with_target, answers.candidates(method))
    is_single = method in ("mask", "left", "words")
    unreachable = unreachable_items(answers, with_target) if is_single else set()
    cannot_be = UNREACHABLE if answers.by_rule("mask") else NOT_NEXT
    is_defined = len(unreachable) < len(with_target) or any(ranks.values())
    for k in depths_of(answers):
        for item in with_target:
            rank, cannot = ranks[item.id], item.id in unreachable
            held = is_hit(rank, k)
            yield Outcome(
                item=item.id,
                question=f"{HIT}{k}",
                method=method,
                verdict=("pass" if held else "fail") if is_defined else "unscored",
                right=held if is_defined else None,
                value=rank,
                unit="rank",
                reason=cannot_be if cannot else "" if rank else NOT_FOUND,
                cluster=answers.cluster_of[item.id],
                groups={
                    **item.columns,
                    **({REACHABLE: "no" if cannot else "yes"} if unreachable else {}),
                },
            )


def unreachable_items(answers: ClozeAnswers, items: Iterable[ClozeItem]) -> set[str]:
    """Items none of whose targets is one token; empty where their number of tokens is not known.

    At a mask, an option of several tokens has no score; after the text before the blank it has
    one, with the number of its tokens.
    """
    at_mask, after_text = answers.by_rule("mask"), answers.by_rule("left")
    unreachable = set()
    for item in items:
        targets = set(map(one_spelling, item.targets))
        at_gap = (at_mask or after_text).get(item.id, ())
        known = [option for option in at_gap if one_spelling(option.text) in targets]
        if known and all(
            option.logprob_nats is None if at_mask else (option.n_pieces or 1) > 1
            for option in known
        ):
            unreachable.add(item.id)
    return unreachable


def _fits(answers: ClozeAnswers, method: str) -> Iterator[Outcome]:
    """Whether each of the first candidates fits, where at least one of all was judged.

    The item of such a row is the place of the candidate, ``ITEM#RANK``; all places of an item, or
    of what its items are made from, are one cluster.
    """
    people = human_judgments(answers.run.folder, answers.options.judgments)
    candidates = judged_by(answers, method, people=people, dictionary=dictionary_of(answers))
    if all(candidate.fits is None for candidate in candidates):
        return
    columns = {item.id: item.columns for item in answers.items}
    for k in depths_of(answers):
        for candidate in candidates:
            item, fits, probability = candidate.item, candidate.fits, candidate.probability
            if candidate.rank > k:
                continue
            unknown = "" if probability is not None else _NOT_KNOWN
            yield Outcome(
                item=f"{item}#{candidate.rank}",
                question=f"{FITS}{k}",
                method=method,
                verdict="unscored" if fits is None else "pass" if fits else "fail",
                right=fits,
                value=probability,
                unit="probability",
                reason=NOT_JUDGED if fits is None else unknown,
                cluster=_of_place(answers.cluster_of[item], item),
                groups={"candidate": candidate.text, **columns[item]},
            )


def _of_place(cell: str, item: str) -> str:
    """What a place of an item belongs to in one cell: where the item stands alone, the item."""
    return CROSSED.join(label or item for label in cell.split(CROSSED))


def _choices(answers: ClozeAnswers, rule: str) -> Iterator[Outcome]:
    """The most probable option, also by scores divided by tokens where that is possible."""
    options = answers.by_rule(rule).items()
    scores = {item: {o.text: o.logprob_nats for o in fills} for item, fills in options}
    compared = [(rule, "bits", scores)]
    if rule in OPTION_ALONE:
        per_token: dict[str, dict[str, float | None]] = {
            item: {
                option.text: option.logprob_nats / option.n_pieces
                for option in fills
                if option.logprob_nats is not None and option.n_pieces
            }
            for item, fills in options
        }
        compared.append((rule + DIVIDED, "bits per token", per_token))
    for method, unit, by_item in compared:
        for choice in choose(answers.items, by_item):
            cluster = answers.cluster_of[choice.item]
            yield replace(choice, method=method, unit=unit, cluster=cluster)


def choose(
    items: Iterable[ClozeItem], scores: Mapping[str, Mapping[str, float | None]]
) -> list[Outcome]:
    """The choice for each item that has a target and something else to choose.

    An option has the score of the best of its spellings. Where an option has none, the choice is
    unscored: the others would be compared with nothing.

    Args:
        items: with options.
        scores: id of an item to the log-probability of each spelling, in nats.

    Returns:
        Outcomes with the margin of the best target over the best of the others, in bits, and with
        the options that are most probable as groups (`CHOSEN`, `OPTION`).
    """
    return [
        _choice(item, scores.get(item.id, {}))
        for item in items
        if item.targets and any(option.role != "target" for option in item.options)
    ]


def _choice(item: ClozeItem, scores: Mapping[str, float | None]) -> Outcome:
    unscored = Outcome(
        item=item.id, question=FORCED_CHOICE, verdict="unscored", groups=item.columns
    )
    best = option_scores(item, scores)
    lacking = next((text for text, score in best.items() if score is None), None)
    if lacking is not None:
        return replace(unscored, reason=f"the option {lacking!r} has no score under this rule")
    scored = [(option, best[option.text] or 0.0) for option in item.options]
    targets = [score for option, score in scored if option.role == "target"]
    others = [score for option, score in scored if option.role != "target"]
    margin = max(targets) - max(others)
    highest = max(score for _, score in scored)
    chosen = [option for option, score in scored if score == highest]
    verdict: VerdictName = "pass" if margin > 0 else "fail" if margin < 0 else "tie"
    return replace(
        unscored,
        verdict=verdict,
        right=verdict == "pass",
        value=margin / math.log(2),
        groups={
            **unscored.groups,
            CHOSEN: " = ".join(sorted({option.role for option in chosen})),
            OPTION: " = ".join(option.text for option in chosen),
        },
    )


def option_scores(item: ClozeItem, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Each option's score, that of its best spelling; None where no spelling has one.

    A recording may spell an option with other accents or apostrophes than the suite.
    """
    otherwise = {one_spelling(text): score for text, score in scores.items()}
    values = {
        text: scores[text] if text in scores else otherwise.get(one_spelling(text))
        for option in item.options
        for text in option.spellings
    }
    return {
        option.text: max(
            (score for text in option.spellings if (score := values[text]) is not None),
            default=None,
        )
        for option in item.options
    }
