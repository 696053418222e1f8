"""The chat template of a model, as its tokenizer renders it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.models.base import Scorer, TextScorer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Render: TypeAlias = Callable[[Sequence[tuple[str, str]]], str]
"""From turns, as (role, content), to the text that ends where the model's answer begins."""

PROMPT_DATE = "26 Jul 2024"
"""Llama's template writes the day into the prompt; this is the one that it falls back to itself, so
that a prompt is the same tomorrow."""


def chat_template(scorer: Scorer | TextScorer) -> Render | None:
    """A model's chat template, as its tokenizer renders it; None where it has none."""
    from cimento.models.inspection import Inspectable

    if not isinstance(scorer, Inspectable) or scorer.card.kind != "causal":
        return None
    return template_of(scorer.inside().tokenizer)


def template_of(tokenizer: PreTrainedTokenizerBase) -> Render | None:
    """The chat template of a tokenizer; None where it has none."""
    if not tokenizer.chat_template:
        return None

    def render(turns: Sequence[tuple[str, str]]) -> str:
        return str(
            tokenizer.apply_chat_template(
                [{"role": role, "content": text} for role, text in turns],
                tokenize=False,
                add_generation_prompt=True,
                date_string=PROMPT_DATE,
                # Models that think aloud first leave it out, for options are scored at once.
                enable_thinking=False,
            )
        )

    return render
