"""The tables of a run of stories: options with their log-probabilities, replies, verdicts.

In all of them an item is the row of a story in its file, for ids can come twice, and a condition
is a tier.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from cimento.answers import STORY_CHOICES, STORY_REPLIES, VERDICTS, write_table
from cimento.stories.asking import WITHOUT_STORY, Record, scores_of
from cimento.stories.outcomes import Outcome, judge_all
from cimento.stories.records import TIERS, Story, TierAnswer

_BITS = 1 / math.log(2)


def store_tables(
    suite: str,
    stories: Sequence[Story],
    answers: Sequence[TierAnswer],
    records: Sequence[Record],
    folder: Path,
) -> None:
    """Write the tables of a run into its folder.

    Raises:
        StorageError: the folder cannot be written.
    """
    import polars as pl

    by_key: dict[tuple[str, int], TierAnswer] = {
        (answer.tier, answer.row): answer for answer in answers
    }
    choices = [row for record in records for row in _choices(suite, record, by_key)]
    replies = [_reply(suite, record) for record in records if "reply" in record]
    verdicts = [_verdict(suite, outcome) for outcome in judge_all(answers, stories)]
    for rows, schema in ((choices, STORY_CHOICES), (replies, STORY_REPLIES), (verdicts, VERDICTS)):
        if rows:
            write_table(pl.DataFrame(rows, schema=schema.polars(), orient="row"), schema, folder)


def _choices(
    suite: str, record: Record, by_key: Mapping[tuple[str, int], TierAnswer]
) -> list[tuple[object, ...]]:
    row, tier, words = record["doc"], str(record["task"]), record["words"]
    if "nats" not in record or row == WITHOUT_STORY or not isinstance(row, int):
        return []
    scores, answer = scores_of(record), by_key[tier, row]
    return [
        (
            suite,
            str(row),
            tier,
            option,
            str(words[place]) if isinstance(words, list) else None,
            sum(scores.nats[place]),
            len(scores.nats[place]),
            answer.logprobs_nats[place] if answer.logprobs_nats is not None else None,
            scores.greedy[place] if scores.greedy else None,
        )
        for place, option in enumerate(answer.options)
    ]


def _reply(suite: str, record: Record) -> tuple[object, ...]:
    return (
        suite,
        str(record["doc"]),
        record["task"],
        record["reply"],
        record.get("stop_reason"),
        record.get("label"),
        record.get("reason") or None,
    )


def _verdict(suite: str, outcome: Outcome) -> tuple[object, ...]:
    verdict = "unscored"
    if outcome.correct is not None:
        # A tie is no answer, whichever option came first in the list.
        right = "pass" if outcome.correct else "fail"
        verdict = "tie" if outcome.tied else right
    return (
        suite,
        str(outcome.row),
        outcome.tier,
        TIERS.index(outcome.tier),
        verdict,
        margin_bits(outcome),
        outcome.reason or None,
    )


def margin_bits(outcome: Outcome) -> float | None:
    """By how much the right option is ahead of the best other one; None where none were scored."""
    values, options = outcome.answer.logprobs_nats, outcome.answer.options
    if values is None or outcome.gold not in options or outcome.correct is None:
        return None
    gold = values[options.index(outcome.gold)]
    others = [v for v, option in zip(values, options, strict=True) if option != outcome.gold]
    difference = (gold - max(others)) * _BITS
    return difference if math.isfinite(difference) else None
