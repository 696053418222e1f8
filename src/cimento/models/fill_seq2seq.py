"""Blanks filled by encoder-decoders: what is written for a sentinel (T5, mT5, UL2).

The encoder reads the text with a sentinel in the blank, the decoder writes the sentinel and what
belongs there, up to the next sentinel (Raffel et al. 2020, section 3.1.4,
https://jmlr.org/papers/v21/20-074.html).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import torch
from transformers.modeling_outputs import BaseModelOutput

from cimento.errors import ModelError
from cimento.models.base import ModelCard
from cimento.models.fill import (
    ChoiceRule,
    Fill,
    FillKind,
    FillPolicy,
    FillRequest,
    OpenRule,
    chosen_protocol,
    ranked,
)
from cimento.models.inspection import Inside

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BEAMS = 2
"""Unfinished candidates that are followed for each one that is wanted."""


class SentinelFiller:
    """Fills blanks with an encoder-decoder of transformers.

    Args:
        inside: model and tokenizer.
        card: what is known about the model.

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
        requests: Sequence[FillRequest],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),  # noqa: ARG002  # options are scored, see `choices`
    ) -> list[list[Fill]]:
        """Candidates for each blank, found by beam search; see `Filler`."""
        chosen_protocol(policy, self)
        return [self._one(request, policy) for request in requests]

    def _one(self, request: FillRequest, policy: FillPolicy) -> list[Fill]:
        """Candidates for one blank: the best beginnings, each closed by the next sentinel.

        A candidate's probability is that of its tokens times that of the next sentinel after
        them, so that the beginning of a longer candidate does not pass for a whole one.
        """
        source = self._tokenizer(
            f"{request.before}{self._first}{request.after}", return_tensors="pt"
        )["input_ids"].to(self._model.device)
        opening = [self._model.config.decoder_start_token_id, self._id(self._first)]
        end, width = self._id(self._second), policy.k * _BEAMS
        begun: list[tuple[float, list[int]]] = [(0.0, [])]
        found: list[Fill] = []
        with torch.inference_mode():
            memory = self._model.get_encoder()(input_ids=source).last_hidden_state
            for step in range(policy.masks + 1):
                expected = self._expected(memory, source, [opening + ids for _, ids in begun])
                for (value, ids), row in zip(begun, expected, strict=True):
                    if step:
                        found.append(self._closed(ids, value + row[end].item()))
                begun = [
                    (value + more, [*ids, token])
                    for (value, ids), row in zip(begun, expected, strict=True)
                    for token, more in self._going_on(row, width)
                ]
                begun = sorted(begun, key=lambda pair: (-pair[0], pair[1]))[:width]
        return ranked(found, policy.k)

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
        half = logits.dtype in (torch.float16, torch.bfloat16)
        logprobs: torch.Tensor = (logits.float() if half else logits).log_softmax(dim=-1)
        return logprobs

    def _going_on(self, row: torch.Tensor, width: int) -> list[tuple[int, float]]:
        """The best tokens that are part of a candidate: nothing special."""
        special = set(self._tokenizer.all_special_ids) | {
            number
            for number, token in self._tokenizer.added_tokens_decoder.items()
            if token.special
        }
        values, tokens = row.topk(min(width + len(special), len(row)))
        pairs = zip(tokens.tolist(), values.tolist(), strict=True)
        return [(token, value) for token, value in pairs if token not in special][:width]

    def _closed(self, ids: Sequence[int], value: float) -> Fill:
        text = cast("str", self._tokenizer.decode(list(ids))).strip()
        kind: FillKind = "punctuation"
        if any(char.isalnum() for char in text):
            kind = "words" if " " in text else "word"
        return Fill(text, value, len(ids), kind, "sentinel")

    def _id(self, token: str) -> int:
        return int(cast("int", self._tokenizer.convert_tokens_to_ids(token)))


def sentinels(tokenizer: PreTrainedTokenizerBase, *, name: str) -> tuple[str, str]:
    """The first two sentinels of a tokenizer: what stands for a gap, and for the next one.

    Raises:
        ModelError: it has none of the known ones.
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
        ModelError: its tokenizer has none, or it is no model of transformers.
    """
    opened = getattr(scorer, "inside", None)
    if opened is None:
        raise ModelError(where="choice=sentinel", seen="this model has no sentinels")
    inside: Inside = opened()
    return sentinels(inside.tokenizer, name=inside.tokenizer.name_or_path)
