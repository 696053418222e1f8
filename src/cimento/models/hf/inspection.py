"""What a loaded model is like: whether its fast scores are exact here, and what its tokenizer does.

Nothing goes by the names of models or classes: everything is found out by trying.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.base import Encoded, ModelCard, Policy, Score, Scorer
from cimento.models.hf.heads import widened
from cimento.models.hf.layout import (
    largest_difference,
    masked_positions,
    tolerance_nats,
)
from cimento.models.hf.scorer import Inside, Inspectable
from cimento.models.tokens.facts import TokenizerFacts, tokenizer_facts
from cimento.models.tokens.tokenizing import own_frame

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The same texts scored the fast way and the plain way.

    The plain way is one text (of a masked model: one masked copy) at a time through the model's
    own forward pass, with nothing batched, shared or left out.

    Attributes:
        n_texts: how many different texts.
        n_tokens: how many scored tokens they have.
        max_difference_nats: largest difference between two scores of a token; infinite where only
            one of them is a number.
        tolerance_nats: what rounding may make of it.
        fast_texts_per_s: texts scored in a second, as cimento does it.
        plain_texts_per_s: texts scored in a second, the plain way.
        way: how the fast way goes, in words.
    """

    n_texts: int
    n_tokens: int
    max_difference_nats: float
    tolerance_nats: float
    fast_texts_per_s: float
    plain_texts_per_s: float
    way: str

    @property
    def agrees(self) -> bool:
        """Whether both ways give the same scores."""
        return self.max_difference_nats <= self.tolerance_nats


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTokens:
    """How much of some texts a tokenizer does not know.

    Attributes:
        suite: where the texts are from.
        n_texts: how many different texts.
        n_tokens: how many tokens they make.
        n_unknown: how many of these are the unknown token.
        n_refused: how many texts cannot be scored at all.
        refusal: why the first of those cannot.
    """

    suite: str
    n_texts: int
    n_tokens: int
    n_unknown: int
    n_refused: int = 0
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """All that is found out about a model.

    Attributes:
        card: what it says of itself.
        tokenizer: what its tokenizer does; None for one that is not of transformers.
        comparison: fast against plain scores; None where there is nothing to compare.
        unknown: for each suite, what the tokenizer does not know.
    """

    card: ModelCard
    tokenizer: TokenizerFacts | None = None
    comparison: Comparison | None = None
    unknown: tuple[UnknownTokens, ...] = ()


def inspect_model(
    scorer: Scorer, texts: Mapping[str, Sequence[str]], *, policy: Policy, n_compared: int
) -> Inspection:
    """Find out what a model is like.

    Args:
        scorer: with a model loaded.
        texts: the texts of suites, under the suites' names.
        policy: the policy it was loaded with.
        n_compared: how many texts are scored both ways, the first ones of every suite.
    """
    if not isinstance(scorer, Inspectable):
        return Inspection(card=scorer.card)
    inside = scorer.inside()
    encoded = {suite: _encoded(scorer, list(dict.fromkeys(own))) for suite, own in texts.items()}
    share = -(-n_compared // max(len(encoded), 1))
    # Of a text that a window slides over, the plain way knows nothing.
    longest = scorer.card.window or sys.maxsize
    fitting = [
        [text for text in found.texts if len(text.ids) <= longest] for found in encoded.values()
    ]
    chosen = [text for some in fitting for text in some[:share]][:n_compared]
    return Inspection(
        card=scorer.card,
        tokenizer=tokenizer_facts(inside.tokenizer, policy=policy, card=scorer.card),
        comparison=compare_ways(scorer, chosen, policy=policy),
        unknown=tuple(_unknown(inside, suite, found) for suite, found in encoded.items()),
    )


def compare_ways(
    scorer: Inspectable, encoded: Sequence[Encoded], *, policy: Policy
) -> Comparison | None:
    """Score texts both ways; None where there is none, or no plain way for this kind of model.

    Args:
        scorer: with a model loaded.
        encoded: texts that fit the model's window.
        policy: the policy it was loaded with.
    """
    plain_score = _PLAIN.get(scorer.card.kind)
    if plain_score is None or not encoded:
        return None
    inside = scorer.inside()
    # The first time the fast way proves itself, and both ways make room; neither is timed.
    scorer.score(encoded)
    plain_score(inside, encoded[0], policy)
    fast, fast_s = _timed(lambda: scorer.score(encoded))
    plain, plain_s = _timed(lambda: [plain_score(inside, text, policy) for text in encoded])
    return Comparison(
        n_texts=len(encoded),
        n_tokens=sum(len(text.wanted) for text in encoded),
        max_difference_nats=max(
            largest_difference(one, other) for one, other in zip(fast, plain, strict=True)
        ),
        tolerance_nats=tolerance_nats(inside.model),
        fast_texts_per_s=len(encoded) / fast_s,
        plain_texts_per_s=len(encoded) / plain_s,
        way=scorer.inside().way,
    )


def _plain_causal(inside: Inside, text: Encoded, _policy: Policy) -> FloatArray:
    values = np.full(len(text.wanted), np.nan)
    if not text.wanted:
        return values
    table = _logprobs(inside.model, text.ids)
    for slot, index in enumerate(text.wanted):
        if index > 0:
            values[slot] = table[index - 1, text.ids[index]].item()
    return values


def _plain_masked(inside: Inside, text: Encoded, policy: Policy) -> FloatArray:
    values = np.full(len(text.wanted), np.nan)
    for slot, index in enumerate(text.wanted):
        ids = list(text.ids)
        for position in masked_positions(text.words, index, rule=policy.pll):
            ids[position] = int(inside.tokenizer.mask_token_id)
        values[slot] = _logprobs(inside.model, ids)[index, text.ids[index]].item()
    return values


def _plain_seq2seq(inside: Inside, text: Encoded, _policy: Policy) -> FloatArray:
    # The decoder's start and what the tokenizer puts before a text come after the source.
    start = text.first - 1 - len(own_frame(inside.tokenizer).before)
    source, target = (
        torch.tensor([ids], device=inside.model.device)
        for ids in (text.ids[:start], text.ids[start:])
    )
    table = _normalised(inside.model, input_ids=source, decoder_input_ids=target)
    chosen = [table[i - start - 1, text.ids[i]].item() for i in text.wanted]
    return np.array(chosen, dtype=np.float64)


PlainScore: TypeAlias = Callable[[Inside, Encoded, Policy], "FloatArray"]

_PLAIN: Mapping[str, PlainScore] = {
    "causal": _plain_causal,
    "masked": _plain_masked,
    "seq2seq": _plain_seq2seq,
}
"""Kind of a model to its scores for one text, taken in the simplest way there is."""


def _logprobs(model: PreTrainedModel, ids: Sequence[int]) -> torch.Tensor:
    """Log-probabilities of one sequence; shape (length, vocabulary)."""
    return _normalised(model, input_ids=torch.tensor([ids], device=model.device))


def _normalised(model: PreTrainedModel, **inputs: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        logprobs: torch.Tensor = widened(model(**inputs).logits[0]).log_softmax(-1)
    return logprobs


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a suite that can be encoded, and what keeps the others from it."""

    texts: list[Encoded]
    refusals: list[str]


def _encoded(scorer: Scorer, texts: Sequence[str]) -> _Texts:
    requests = [Score(text=text) for text in texts]
    try:
        return _Texts(list(scorer.encode(requests)), [])
    except ModelError:
        found = _Texts([], [])
        for request in requests:
            try:
                found.texts.extend(scorer.encode([request]))
            except ModelError as error:
                found.refusals.append(str(error))
        return found


def _unknown(inside: Inside, suite: str, found: _Texts) -> UnknownTokens:
    unknown = inside.tokenizer.unk_token_id
    ids = [
        number
        for text in found.texts
        for number, span in zip(text.ids, text.spans, strict=True)
        if span[0] >= 0
    ]
    return UnknownTokens(
        suite=suite,
        n_texts=len(found.texts) + len(found.refusals),
        n_tokens=len(ids),
        n_unknown=sum(number == unknown for number in ids),
        n_refused=len(found.refusals),
        refusal=found.refusals[0] if found.refusals else "",
    )


def _timed(
    work: Callable[[], list[FloatArray]],
) -> tuple[list[FloatArray], float]:
    """What it gives, and the seconds of wall time it takes."""
    started = time.perf_counter()
    result = work()
    return result, max(time.perf_counter() - started, 1e-9)
