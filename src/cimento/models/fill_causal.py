"""Blanks filled by causal models: what comes next after what stands before the blank.

What follows the blank is not seen here; ranking candidates by the whole text is a matter of
scoring, for which any model will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from cimento.errors import ModelError, TextTooLongError
from cimento.models.base import ModelCard, Policy
from cimento.models.fill import (
    ChoiceRule,
    Fill,
    FillPolicy,
    FillRequest,
    OpenRule,
    chosen_protocol,
    ranked,
)
from cimento.models.fill_rows import Distributions, Row, Take, best_at
from cimento.models.fill_tokens import FillTokens
from cimento.models.inspection import Inside
from cimento.models.layout import find_layout
from cimento.models.limits import BatchLimits
from cimento.models.tokenizing import causal_frame, probes, vocabulary_size

if TYPE_CHECKING:
    from cimento.models.fill_tokens import BoolArray

_BEAMS = 2
"""Unfinished words that are followed for each word that is wanted."""

_Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Begun:
    """The beginning of a word."""

    ids: _Ids
    logprob_nats: float


class CausalFiller:
    """Fills blanks with a causal language model of transformers.

    Args:
        inside: model and tokenizer.
        card: what is known about the model.
        policy: how texts are scored; its rules for BOS and for long texts hold here too.
        limits: of a batch.

    Raises:
        ModelError: the model cannot be asked exactly.
    """

    protocols: tuple[OpenRule, ...] = ("left", "words", "complete")
    choices: tuple[ChoiceRule, ...] = ()

    def __init__(
        self, inside: Inside, *, card: ModelCard, policy: Policy, limits: BatchLimits
    ) -> None:
        model, tokenizer = inside.model, inside.tokenizer
        self.card = card
        self._tokenizer = tokenizer
        self._frame = causal_frame(tokenizer, policy.bos)
        self._sliding = policy.window == "sliding"
        size = vocabulary_size(model)
        self._tokens = FillTokens(tokenizer, size=size)
        short, long = probes(tokenizer, self._frame, window=card.window, vocabulary=size)
        layout = find_layout(model, short, long, padding=0)
        self._distributions = Distributions(model, layout=layout, padding=0, limits=limits)

    def fill(
        self,
        requests: Sequence[FillRequest],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),  # noqa: ARG002  # options are scored, see `choices`
    ) -> list[list[Fill]]:
        """Candidates for each blank; see `Filler`."""
        protocol = chosen_protocol(policy, self)
        room = policy.masks if protocol == "complete" else 0
        texts = [self._before(request, room) for request in requests]
        fits = [self._tokens.after_blank(request.before) for request in requests]
        if protocol == "complete":
            return self._words(texts, fits, policy)
        words = protocol == "words"
        allowed = [self._tokens.whole_words(after_blank=f) if words else None for f in fits]
        best = self._best(texts, policy.k, allowed)
        return [
            [self._fill((token,), value, fit, protocol) for token, value in top]
            for top, fit in zip(best, fits, strict=True)
        ]

    def _before(self, request: FillRequest, room: int) -> _Ids:
        """What the model reads: a blank at the end belongs to the token that is to come.

        Raises:
            ModelError: there is nothing to read.
            TextTooLongError: it does not fit the window with `room` tokens more.
        """
        ids: list[int] = self._tokenizer(
            request.before.rstrip(), add_special_tokens=False, verbose=False
        )["input_ids"]
        text = (*self._frame.before, *ids)
        if not text:
            raise ModelError(
                where=f"text {request.after[:60]!r}",
                seen="nothing stands before its blank, and the model has no BOS token",
                todo="Use a masked model, or give a --bos rule that puts a token there.",
            )
        window = self.card.window
        longest = None if window is None else window - room
        if longest is not None and len(text) > longest:
            if self._sliding:
                return (*self._frame.before, *ids[len(text) - longest :])
            raise TextTooLongError(
                where=f"text {request.before[:60]!r}",
                seen=f"it makes {len(text)} tokens, and the model's window holds {window}",
                todo="Shorten it, or say --window sliding.",
            )
        return text

    def _best(
        self,
        texts: Sequence[_Ids],
        k: int,
        allowed: Sequence[BoolArray | None],
        *,
        also: Take | None = None,
    ) -> list[list[tuple[int, float]]]:
        """The most probable tokens after each text, of those that are allowed there."""
        rows: list[Row] = [(ids, len(ids) - 1) for ids in texts]
        return best_at(self._distributions, rows, k, allowed, also=also)

    def _note_ends(self, ended: dict[_Ids, float]) -> Take:
        """Notes the log of the probability that a word has ended after a text, in nats."""
        boundary = torch.from_numpy(~self._tokens.continuing)

        def take(logprobs: torch.Tensor, own: list[Row]) -> None:
            width = logprobs.shape[1]
            ends = torch.ones(width, dtype=torch.bool)
            ends[: len(boundary)] = boundary[:width]
            values = logprobs[:, ends.to(logprobs.device)].logsumexp(dim=1).tolist()
            ended.update(zip((ids for ids, _ in own), values, strict=True))

        return take

    def _words(
        self, texts: Sequence[_Ids], fits: Sequence[bool], policy: FillPolicy
    ) -> list[list[Fill]]:
        """Whole words of one to several tokens, by the probability that the word stands there.

        A word's probability is that of its tokens times that of a word ending after them, so that
        ``port`` does not get what belongs to ``portare`` (Pimentel and Meister 2024,
        doi:10.18653/v1/2024.emnlp-main.1020).
        """
        width = policy.k * _BEAMS
        begun = [[_Begun((), 0.0)] for _ in texts]
        found: list[list[Fill]] = [[] for _ in texts]
        for step in range(policy.masks + 1):
            jobs = [(n, word) for n, own in enumerate(begun) for word in own]
            allowed: list[BoolArray | None] = [
                self._tokens.continuing if step else self._tokens.beginnings(after_blank=fits[n])
                for n, _ in jobs
            ]
            reads = [(*texts[n], *word.ids) for n, word in jobs]
            ended: dict[_Ids, float] = {}
            grown: list[list[_Begun]] = [[] for _ in texts]
            best = self._best(reads, width, allowed, also=self._note_ends(ended))
            for (n, word), ids, top in zip(jobs, reads, best, strict=True):
                if step:
                    value = word.logprob_nats + ended[ids]
                    found[n].append(self._fill(word.ids, value, fits[n], "complete"))
                grown[n] += [
                    _Begun((*word.ids, token), word.logprob_nats + value) for token, value in top
                ]
            begun = [
                sorted(own, key=lambda word: (-word.logprob_nats, word.ids))[:width]
                for own in grown
            ]
        # A blank alone can begin a word and is none.
        return [ranked((fill for fill in own if fill.kind == "word"), policy.k) for own in found]

    def _fill(self, ids: _Ids, value: float, fit: bool, method: str) -> Fill:  # noqa: FBT001  # a fact of the text
        return Fill(
            candidate=self._tokens.joined(ids),
            logprob_nats=value,
            n_pieces=len(ids),
            kind=self._tokens.kind(ids, after_blank=fit),
            method=method,
        )
