"""Fillers of blanks from left to right: causal models and encoder-decoders.

A causal model continues the text before the blank and does not see the text after it; ranking
candidates by the whole text is left to scoring, which every model can do. An encoder-decoder (T5,
mT5, UL2) reads the text with a sentinel in the blank and writes that sentinel and the fill, up to
the next sentinel (Raffel et al. 2020, section 3.1.4, https://jmlr.org/papers/v21/20-074.html).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from transformers.modeling_outputs import BaseModelOutput

from cimento.errors import ModelError, TextTooLongError
from cimento.models.base import ModelCard
from cimento.models.hf.fill_words import Beam, Row, RowFiller, Take, best_at, grow
from cimento.models.hf.heads import widened
from cimento.models.hf.inside import Inside
from cimento.models.questions import (
    Blank,
    ChoiceRule,
    FillCandidate,
    FillKind,
    FillPolicy,
    OpenRule,
    chosen_protocol,
    ranked,
)
from cimento.models.settings import BatchLimits, Policy
from cimento.models.tokenizing import causal_frame

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.models.hf.fill_words import BoolArray

BEAMS = 2
"""Number of unfinished candidates that are extended for each one wanted."""

_Ids = tuple[int, ...]


class CausalFiller(RowFiller):
    """A filler of blanks with a causal language model of transformers.

    Args:
        inside: the model and its tokenizer.
        card: the card of the model.
        policy: the policy of scoring, whose rules for BOS and for long texts also apply here.
        limits: the limits of a batch.

    Raises:
        ModelError: the model cannot be asked exactly.
    """

    protocols: tuple[OpenRule, ...] = ("left", "words", "complete")
    choices: tuple[ChoiceRule, ...] = ()

    def __init__(
        self, inside: Inside, *, card: ModelCard, policy: Policy, limits: BatchLimits
    ) -> None:
        frame, sliding = causal_frame(inside.tokenizer, policy.bos), policy.window == "sliding"
        super().__init__(inside, card=card, frame=frame, limits=limits, sliding=sliding)

    def fill(
        self,
        requests: Sequence[Blank],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),  # noqa: ARG002  # options are scored, see `choices`
    ) -> list[list[FillCandidate]]:
        """The candidates for each blank; see `Filler`."""
        protocol = chosen_protocol(policy, self)
        room = {"complete": policy.masks, "words": 1}.get(protocol, 0)
        texts = [self._before(request, room) for request in requests]
        fits = [self._tokens.after_blank(request.before) for request in requests]
        if protocol == "complete":
            return self._words(texts, fits, policy)
        if protocol == "words":
            return self._single_words(texts, fits, policy.k)
        best = self._best(texts, policy.k, [None] * len(texts))
        return self._tokens.single(best, protocol, fits)

    def _before(self, request: Blank, room: int) -> _Ids:
        """The token ids that the model reads; a blank at the end belongs to the next token.

        Raises:
            ModelError: there is nothing to read.
            TextTooLongError: the text and `room` more tokens do not fit the window.
        """
        ids: list[int] = self._tokenizer(
            request.before.rstrip(), add_special_tokens=False, verbose=False
        )["input_ids"]
        text = (*self._frame.before, *ids)
        if not text:
            raise ModelError(
                where=f"text {request.after[:60]!r}",
                seen="nothing comes before its blank, and the model has no BOS token",
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
                todo="Shorten it, or say --window=sliding.",
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
        """The most probable tokens after each text among those allowed there."""
        rows: list[Row] = [(ids, len(ids) - 1) for ids in texts]
        return best_at(self._distributions, rows, k, allowed, also=also)

    def _note_ends(self, ended: dict[_Ids, float]) -> Take:
        """A callback that records ln P that a word has ended after each text."""
        boundary = torch.from_numpy(~self._tokens.continuing)

        def take(logprobs: torch.Tensor, rows: list[Row]) -> None:
            width = logprobs.shape[1]
            ends = torch.ones(width, dtype=torch.bool)
            ends[: len(boundary)] = boundary[:width]
            values = logprobs[:, ends.to(logprobs.device)].logsumexp(dim=1).tolist()
            ended.update(zip((ids for ids, _ in rows), values, strict=True))

        return take

    def _single_words(
        self, texts: Sequence[_Ids], fits: Sequence[bool], k: int
    ) -> list[list[FillCandidate]]:
        """Words of one token, ranked by the probability of the word; see `_words`.

        A word is at most as probable as its token. So enough tokens have been looked at once the
        last word that is wanted is at least as probable as the last of these tokens.
        """
        by_text: list[list[FillCandidate]] = [[] for _ in texts]
        waiting, width = list(range(len(texts))), k * BEAMS
        while waiting:
            allowed = [self._tokens.whole_words(after_blank=fits[n]) for n in waiting]
            tops = self._best([texts[n] for n in waiting], width, allowed)
            begun = [
                (n, Beam((token,), value))
                for n, top in zip(waiting, tops, strict=True)
                for token, value in top[len(by_text[n]) :]
            ]
            ended: dict[_Ids, float] = {}
            reads = [(*texts[n], *word.ids) for n, word in begun]
            self._best(reads, 1, [None] * len(reads), also=self._note_ends(ended))
            for (n, word), ids in zip(begun, reads, strict=True):
                whole = word._replace(logprob_nats=word.logprob_nats + ended[ids])
                by_text[n].append(self._tokens.fill(whole, "words", after_blank=fits[n]))
            waiting = [
                n
                for n, top in zip(waiting, tops, strict=True)
                if len(top) == width and not _has_best(by_text[n], k, bound=top[-1][1])
            ]
            width *= 2
        return [ranked(fills, k) for fills in by_text]

    def _words(
        self, texts: Sequence[_Ids], fits: Sequence[bool], policy: FillPolicy
    ) -> list[list[FillCandidate]]:
        """Whole words of one or more tokens, ranked by the probability of the word.

        A word's probability is that of its tokens times that of a word ending after them, so that
        ``port`` does not get the probability of ``portare`` (Pimentel and Meister 2024,
        doi:10.18653/v1/2024.emnlp-main.1020).
        """
        width = policy.k * BEAMS
        begun = [[Beam()] for _ in texts]
        by_text: list[list[FillCandidate]] = [[] for _ in texts]
        for step in range(policy.masks + 1):
            jobs = [(n, word) for n, words in enumerate(begun) for word in words]
            allowed: list[BoolArray | None] = [
                self._tokens.continuing if step else self._tokens.beginnings(after_blank=fits[n])
                for n, _ in jobs
            ]
            reads = [(*texts[n], *word.ids) for n, word in jobs]
            ended: dict[_Ids, float] = {}
            best = self._best(reads, width, allowed, also=self._note_ends(ended))
            for (n, word), ids in zip(jobs, reads, strict=True):
                if step:
                    whole = word._replace(logprob_nats=word.logprob_nats + ended[ids])
                    by_text[n].append(self._tokens.fill(whole, "complete", after_blank=fits[n]))
            begun = grow(begun, best, width)
        # A blank alone can begin a word, but is not a word.
        return [
            ranked((fill for fill in fills if fill.kind == "word"), policy.k) for fills in by_text
        ]


def _has_best(fills: Sequence[FillCandidate], k: int, *, bound: float) -> bool:
    """Whether k candidates are at least as probable as any that was not looked at.

    Args:
        fills: the candidates so far.
        k: number of candidates that are wanted.
        bound: log-probability in nats that no other candidate exceeds.
    """
    return sum(fill.logprob_nats is not None and fill.logprob_nats >= bound for fill in fills) >= k


class SentinelFiller:
    """A filler of blanks with an encoder-decoder of transformers.

    Args:
        inside: the model and its tokenizer.
        card: the card of the model.

    Raises:
        ModelError: the tokenizer has no sentinels.
    """

    protocols: tuple[OpenRule, ...] = ("sentinel",)
    choices: tuple[ChoiceRule, ...] = ()

    def __init__(self, inside: Inside, *, card: ModelCard) -> None:
        self.card = card
        self._model: Any = inside.model
        self._tokenizer = inside.tokenizer
        self._first, self._second = sentinels(inside.tokenizer, name=card.name)

    def fill(
        self,
        requests: Sequence[Blank],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),  # noqa: ARG002  # options are scored, see `choices`
    ) -> list[list[FillCandidate]]:
        """The candidates for each blank, found by beam search; see `Filler`."""
        chosen_protocol(policy, self)
        return [self._one(request, policy) for request in requests]

    def _one(self, request: Blank, policy: FillPolicy) -> list[FillCandidate]:
        """The candidates for one blank: the best beginnings, each closed by the next sentinel.

        A candidate's probability is that of its tokens times that of the next sentinel after them,
        so that the beginning of a longer candidate does not count as a whole one.
        """
        source = self._tokenizer(
            f"{request.before}{self._first}{request.after}", return_tensors="pt"
        )["input_ids"].to(self._model.device)
        opening = [self._model.config.decoder_start_token_id, self._id(self._first)]
        end, width = self._id(self._second), policy.k * BEAMS
        begun = [Beam()]
        fills: list[FillCandidate] = []
        with torch.inference_mode():
            memory = self._model.get_encoder()(input_ids=source).last_hidden_state
            for step in range(policy.masks + 1):
                targets = [[*opening, *beam.ids] for beam in begun]
                expected = self._expected(memory, source, targets)
                for beam, row in zip(begun, expected, strict=True):
                    if step:
                        fills.append(self._closed(beam.ids, beam.logprob_nats + row[end].item()))
                best = [self._going_on(row, width) for row in expected]
                [begun] = grow([begun], best, width)
        return ranked(fills, policy.k)

    def _expected(
        self, memory: torch.Tensor, source: torch.Tensor, targets: Sequence[Sequence[int]]
    ) -> torch.Tensor:
        """Log-probabilities of the next token after each target; shape (targets, vocabulary)."""
        decoded = torch.tensor(targets, device=memory.device)
        logits = self._model(
            encoder_outputs=BaseModelOutput(
                last_hidden_state=memory.expand(len(targets), -1, -1).contiguous()
            ),
            attention_mask=torch.ones_like(source).expand(len(targets), -1),
            decoder_input_ids=decoded,
        ).logits[:, -1]
        logprobs: torch.Tensor = widened(logits).log_softmax(dim=-1)
        return logprobs

    def _going_on(self, row: torch.Tensor, width: int) -> list[tuple[int, float]]:
        """The best tokens that can continue a candidate, without special tokens."""
        special = set(self._tokenizer.all_special_ids) | {
            number
            for number, token in self._tokenizer.added_tokens_decoder.items()
            if token.special
        }
        values, tokens = row.topk(min(width + len(special), len(row)))
        pairs = zip(tokens.tolist(), values.tolist(), strict=True)
        return [(token, value) for token, value in pairs if token not in special][:width]

    def _closed(self, ids: Sequence[int], value: float) -> FillCandidate:
        text = cast("str", self._tokenizer.decode(list(ids))).strip()
        kind: FillKind = "punctuation"
        if any(char.isalnum() for char in text):
            kind = "words" if " " in text else "word"
        return FillCandidate(text, value, len(ids), kind, "sentinel")

    def _id(self, token: str) -> int:
        return int(cast("int", self._tokenizer.convert_tokens_to_ids(token)))


def sentinels(tokenizer: PreTrainedTokenizerBase, *, name: str) -> tuple[str, str]:
    """The first two sentinels of a tokenizer: those of a gap and of the next one.

    Raises:
        ModelError: the tokenizer has none of the known sentinels.
    """
    known = tokenizer.get_vocab()
    for first, second in (("<extra_id_0>", "<extra_id_1>"), ("<unused0>", "<unused1>")):
        if first in known and second in known:
            return first, second
    raise ModelError(
        where=f"tokenizer of {name!r}",
        seen="it has no sentinels (<extra_id_0>), which stand for a blank",
        todo="Use a model that was trained to fill gaps, such as mT5.",
    )


def sentinels_of(scorer: object) -> tuple[str, str]:
    """The first two sentinels of a loaded encoder-decoder.

    Raises:
        ModelError: its tokenizer has none, or it is not a model of transformers.
    """
    opened = getattr(scorer, "inside", None)
    if opened is None:
        raise ModelError(where="choice=sentinel", seen="this model has no sentinels")
    inside: Inside = opened()
    return sentinels(inside.tokenizer, name=inside.tokenizer.name_or_path)
