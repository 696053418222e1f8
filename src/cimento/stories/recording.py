"""From records of what a model said to answers, and answers as lines of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from cimento.stories.asking import WITHOUT_STORY, Record, TierAsk, scores_of
from cimento.stories.options import corrected, normalised, pmi_corrections, prior_corrections
from cimento.stories.records import Tier, TierAnswer
from cimento.stories.settings import StorySettings


def tier_answers(
    asks: Sequence[TierAsk], records: Sequence[Record], settings: StorySettings
) -> list[TierAnswer]:
    """The answers of a tier in the records, the options compared as the settings say.

    Args:
        asks: what was asked, in order.
        records: what came back, in the same order.
        settings: how it was asked.
    """
    if settings.answer != "loglik":
        return [_reply_answer(ask, record) for ask, record in zip(asks, records, strict=True)]
    found = [scores_of(record) for record in records]
    values = [
        normalised(scores, settings.norm, words=ask.words)
        for scores, ask in zip(found, asks, strict=True)
    ]
    corrections = None
    if settings.norm == "prior" and asks:
        corrections = prior_corrections(values, [ask.labels for ask in asks])
    elif settings.norm == "pmi" and asks:
        last = next(number for number, ask in enumerate(asks) if ask.row == WITHOUT_STORY)
        corrections = pmi_corrections(found[last], asks[last].labels)
    return [
        TierAnswer(
            row=ask.row,
            tier=cast("Tier", ask.tier),
            logprobs_nats=corrected(row, ask.labels, corrections) if corrections else row,
            options=ask.labels,
            greedy=scores.greedy,
            shots=ask.shots,
            prompt_sha256=ask.prompt_sha256,
        )
        for ask, row, scores in zip(asks, values, found, strict=True)
        if ask.row != WITHOUT_STORY
    ]


def _reply_answer(ask: TierAsk, record: Record) -> TierAnswer:
    label = record.get("label")
    return TierAnswer(
        row=ask.row,
        tier=cast("Tier", ask.tier),
        options=ask.labels,
        label=None if label is None else str(label),
        reply=str(record.get("reply", "")),
        reason=str(record.get("reason", "")),
        shots=ask.shots,
        prompt_sha256=ask.prompt_sha256,
    )


def answer_line(answer: TierAnswer) -> str:
    """An answer as a line of recorded answers."""
    record: Record = {
        "doc": answer.row,
        "task": answer.tier,
        "options": list(answer.options),
        "shots": list(answer.shots),
        "prompt_sha256": answer.prompt_sha256,
    }
    if answer.logprobs_nats is not None:
        record["ll"] = list(answer.logprobs_nats)
    if answer.greedy:
        record["greedy"] = [int(each) for each in answer.greedy]
    if answer.reply is not None:
        record |= {"label": answer.label, "reply": answer.reply, "reason": answer.reason}
    return json.dumps(record, ensure_ascii=False)


def warnings_of(tier: Tier, answers: Sequence[TierAnswer]) -> list[str]:
    """What should be known of the answers at a tier, as sentences."""
    told = [any(each.greedy) for each in answers if each.greedy]
    found = []
    if told and not any(told):
        found.append(
            f"at {tier} no option is ever what the model would write itself: does the prompt end"
            " where answers begin, with the right blank between?"
        )
    invalid = sum(each.reply is not None and each.label is None for each in answers)
    if invalid:
        found.append(
            f"at {tier} no answer could be read from {invalid} of {len(answers)} replies; they"
            " count as wrong"
        )
    return found
