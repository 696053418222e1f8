"""How often a model prefers the grammatical word of a pair: a small scorer of the script's own.

It shares no code with the package, so that each can be checked against the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from operator import gt
from typing import TYPE_CHECKING

from demo.items import Pair

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def accuracy(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[Pair],
    *,
    masked: bool,
) -> float:
    """Proportion of pairs in which the word that agrees is more probable; ties are not wins."""
    questions = _masked_questions if masked else _causal_questions
    asked = [
        questions(tokenizer, text, pair.target(text))
        for pair in pairs
        for text in (pair.good, pair.bad)
    ]
    answers = iter(_logprobs(model, [question for of_word in asked for question in of_word]))
    words = [sum(islice(answers, len(of_word))) for of_word in asked]
    return sum(map(gt, words[::2], words[1::2])) / len(pairs)


@dataclass(frozen=True, slots=True)
class _Question:
    """What is the log-probability of a token at a place, given the token ids in a row?"""

    row: list[int]
    place: int
    token: int


def _logprobs(model: PreTrainedModel, questions: Sequence[_Question]) -> list[float]:
    """The answers; rows of one length are in one batch, so that none is padded."""
    import torch

    by_length: dict[int, list[int]] = {}
    for number, question in enumerate(questions):
        by_length.setdefault(len(question.row), []).append(number)
    answers = [0.0] * len(questions)
    for numbers in by_length.values():
        same = [questions[number] for number in numbers]
        with torch.no_grad():
            logits: torch.Tensor = model(
                input_ids=torch.tensor([question.row for question in same])
            ).logits
        for number, question, table in zip(numbers, same, logits, strict=True):
            answers[number] = float(table[question.place].log_softmax(-1)[question.token])
    return answers


def _encode(
    tokenizer: PreTrainedTokenizerBase, text: str, span: tuple[int, int]
) -> tuple[list[int], list[int]]:
    """Token ids with the special ones, and the places of those that touch the span."""
    encoded = tokenizer(text, return_offsets_mapping=True)
    places = [
        place
        for place, (start, end) in enumerate(encoded["offset_mapping"])
        if start < span[1] and end > span[0]
    ]
    return list(encoded["input_ids"]), places


def _causal_questions(
    tokenizer: PreTrainedTokenizerBase, text: str, span: tuple[int, int]
) -> list[_Question]:
    ids, places = _encode(tokenizer, text, span)
    return [_Question(ids, place - 1, ids[place]) for place in places]


def _masked_questions(
    tokenizer: PreTrainedTokenizerBase, text: str, span: tuple[int, int]
) -> list[_Question]:
    """Each token of a word is asked about with the later ones of the word masked too.

    Kauf and Ivanova 2023, doi:10.18653/v1/2023.acl-short.80.
    """
    ids, places = _encode(tokenizer, text, span)
    mask, end = int(tokenizer.mask_token_id or 0), places[-1] + 1
    return [
        _Question([*ids[:place], *[mask] * (end - place), *ids[end:]], place, ids[place])
        for place in places
    ]
