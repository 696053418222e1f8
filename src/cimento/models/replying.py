"""Replies from a causal model of transformers: greedy, and the same whatever else is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.errors import NonFiniteScoreError, TextTooLongError, UsageError
from cimento.models.answering import Replier, Reply, StopReason, Written
from cimento.models.base import ModelCard, Policy, Scorer, TextScorer
from cimento.models.splitting import prompt_ids

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.inspection import Inside


def replier(scorer: Scorer | TextScorer, *, policy: Policy) -> Replier:
    """What answers in a model's own words.

    Args:
        scorer: the model, loaded.
        policy: its rule for what stands before a text.

    Raises:
        UsageError: the model does not write.
    """
    from cimento.models.server import ServerScorer

    if isinstance(scorer, ServerScorer):
        return scorer.replier()
    if scorer.card.kind == "causal":
        from cimento.models.causal import CausalScorer

        if isinstance(scorer, CausalScorer):
            return CausalReplier(scorer.inside(), card=scorer.card, policy=policy)
    if isinstance(scorer, Replier):
        return scorer
    raise UsageError(
        where=f"model {scorer.card.name!r}",
        seen=f"a {scorer.card.kind} model of this kind writes no replies",
        todo="Score its answers with --set answer=loglik.",
    )


class CausalReplier:
    """A causal model that goes on after a prompt with the most probable token, again and again.

    Its own settings for generation (sampling, penalties) are not used; its end tokens are.

    Args:
        inside: the model and its tokenizer.
        card: what is known about it.
        policy: its rule for what stands before a text.
    """

    def __init__(self, inside: Inside, *, card: ModelCard, policy: Policy) -> None:
        from cimento.models.prefixed import PrefixReader
        from cimento.models.tokenizing import causal_frame

        self._tokenizer = inside.tokenizer
        self._before = causal_frame(inside.tokenizer, policy.bos).before
        self._reader = PrefixReader(inside.model)
        self._ends = end_tokens(inside.model, inside.tokenizer)
        self.card = card

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, Written]]:
        """Answer prompts one after another, those that begin alike as neighbours; see `Replier`."""
        prompts = [
            prompt_ids(self._tokenizer, ask.prompt, before=() if ask.templated else self._before)
            for ask in asks
        ]
        for number in sorted(range(len(asks)), key=lambda number: prompts[number]):
            yield number, self._reply(asks[number], prompts[number])

    def _reply(self, ask: Reply, prompt: Sequence[int]) -> Written:
        written: list[int] = []
        while len(written) < ask.max_tokens:
            token = self._next([*prompt, *written], ask)
            if token in self._ends:
                return self._done(written, ask, "end")
            written.append(token)
            text = self._text(written)
            if any(stop in text.lstrip() for stop in ask.stop):
                return self._done(written, ask, "stop")
        return self._done(written, ask, "length")

    def _next(self, ids: Sequence[int], ask: Reply) -> int:
        window = self.card.window
        if window is not None and len(ids) >= window:
            raise TextTooLongError(
                where=f"prompt that ends in {ask.prompt[-60:]!r}",
                seen=f"with the reply it is longer than the model's window of {window} tokens",
                todo="Ask with fewer examples (--set shots=1), or a model with a longer window.",
            )
        # What is predicted is asked for by a token that is not read.
        [rows] = self._reader.read([[*ids, ids[-1]]], [len(ids)])
        if bool(rows.isnan().any()):
            raise NonFiniteScoreError(
                where=f"model {self.card.name!r}",
                seen="the model gave NaN while it wrote a reply",
                todo="Its weights may be damaged, or the dtype too narrow: try --dtype float32.",
            )
        return int(rows[0].argmax())

    def _text(self, written: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(written), skip_special_tokens=True))

    def _done(self, written: Sequence[int], ask: Reply, reason: StopReason) -> Written:
        text = self._text(written)
        # Empty lines before the reply are no end of it.
        opening = len(text) - len(text.lstrip())
        ends = [at for stop in ask.stop if (at := text.find(stop, opening)) >= 0]
        return Written(text[: min(ends)] if ends else text, reason)


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """The tokens that end a reply, as the model's settings and its tokenizer name them."""
    named = getattr(model.generation_config, "eos_token_id", None)
    ends = {named} if isinstance(named, int) else set(named or ())
    if tokenizer.eos_token_id is not None:
        ends.add(int(tokenizer.eos_token_id))
    return frozenset(ends)
