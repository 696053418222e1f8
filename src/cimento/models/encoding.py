"""Requests as one model takes them: what the kinds of models have in common before any pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.models.base import EncodedTexts, Policy
from cimento.models.tokenizing import Frame, encode, probes

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from cimento.suites.stimuli import ScoreRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEncoder:
    """A tokenizer with all that holds for every text of one model under one policy.

    Attributes:
        tokenizer: a fast tokenizer.
        policy: how texts are scored.
        frame: the special tokens around a text.
        vocabulary: number of tokens that the model knows.
        window: longest sequence that it can read; None where there is no limit.
        by_region: whether tokens are numbered by regions instead of by words.
    """

    tokenizer: PreTrainedTokenizerBase
    policy: Policy
    frame: Frame
    vocabulary: int
    window: int | None
    by_region: bool = False

    def encode(self, requests: Sequence[ScoreRequest]) -> EncodedTexts:
        """Tokenize requests, in order.

        Raises:
            TextTooLongError: a text does not fit the window, and none slides over it.
            ModelError: a text cannot be scored; see `tokenizing.encode`.
        """
        return encode(
            requests,
            self.tokenizer,
            frame=self.frame,
            punctuation=self.policy.punctuation,
            window=self.window if self.policy.window == "refuse" else None,
            vocabulary=self.vocabulary,
            by_region=self.by_region,
            leading_blank=self.policy.leading_blank,
        )

    def probes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A short and a long token sequence, to try a model on before its first score."""
        return probes(self.tokenizer, self.frame, window=self.window, vocabulary=self.vocabulary)

    def names(self, ids: Sequence[int]) -> str:
        """Tokens by their names, with blanks between."""
        return " ".join(self.tokenizer.convert_ids_to_tokens(list(ids)))
