"""Architectures and training loops of the two demo models."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demo.loss import vocabulary_loss
from demo.tokenizer import CAUSAL_WINDOW, MASKED_WINDOW

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

HIDDEN, LAYERS, HEADS, INNER = 128, 4, 4, 320
_REPORT_EVERY = 100
_LEFT_UNMASKED = 0.05


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to learn.

    Attributes:
        steps: batches.
        seed: of the order of texts and of what is masked.
        peak_rate: learning rate after the warm-up, from where it falls to zero along a line.
        tokens_per_batch: at most.
        warm_up: steps.
    """

    steps: int
    seed: int
    peak_rate: float = 3e-3
    tokens_per_batch: int = 4096
    warm_up: int = 200

    def rate(self, step: int) -> float:
        """The learning rate at a step, from 0."""
        if step < self.warm_up:
            return self.peak_rate * (step + 1) / self.warm_up
        return self.peak_rate * max(0.0, (self.steps - step) / (self.steps - self.warm_up))


def causal_model(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """An untrained Llama of 1.2 million parameters."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        max_position_embeddings=CAUSAL_WINDOW,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def masked_model(tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    """An untrained ModernBERT of about the same size, all of its layers with full attention."""
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        max_position_embeddings=MASKED_WINDOW,
        layer_types=["full_attention"] * LAYERS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        mlp_dropout=0.0,
        decoder_bias=False,
    )
    return ModernBertForMaskedLM(config)


def batches(
    texts: Sequence[Sequence[int]], schedule: Schedule, *, window: int
) -> Iterator[torch.Tensor]:
    """Rectangles of token ids, without padding, for as long as they are asked for.

    Texts of equal length go together; where lengths differ within a batch (long stories), all
    are cut to the shortest.
    """
    import torch

    generator = torch.Generator().manual_seed(schedule.seed)
    while True:
        order = torch.randperm(len(texts), generator=generator).tolist()
        order.sort(key=lambda index: len(texts[index]))
        groups = _groups(texts, order, tokens=schedule.tokens_per_batch, window=window)
        for place in torch.randperm(len(groups), generator=generator).tolist():
            length = min(window, len(texts[groups[place][0]]))
            yield torch.tensor([texts[index][:length] for index in groups[place]])


def _groups(
    texts: Sequence[Sequence[int]], order: Sequence[int], *, tokens: int, window: int
) -> list[list[int]]:
    """Neighbors in an order by length, as many as fit into a batch of the shortest's length."""
    groups: list[list[int]] = [[]]
    for index in order:
        group = groups[-1]
        length = min(window, len(texts[group[0] if group else index]))
        full = (len(group) + 1) * length > tokens
        if group and (full or len(texts[index]) > 1.1 * length + 1):
            group = []
            groups.append(group)
        group.append(index)
    return groups


def train_causal(
    model: PreTrainedModel,
    texts: Sequence[Sequence[int]],
    schedule: Schedule,
    *,
    after: Callable[[int], None] | None = None,
) -> None:
    """Next-token prediction; the model is changed in place, and `after` is told of each step."""
    weights = model.get_parameter("lm_head.weight")

    def loss(rows: torch.Tensor) -> torch.Tensor:
        hidden = model.model(input_ids=rows[:, :-1]).last_hidden_state
        return vocabulary_loss(hidden.flatten(0, 1), weights, rows[:, 1:].flatten())

    _train(model, batches(texts, schedule, window=CAUSAL_WINDOW), loss, schedule, after=after)


def train_masked(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    texts: Sequence[Sequence[int]],
    schedule: Schedule,
) -> None:
    """Prediction of masked words, ends of words and single tokens; changed in place."""
    masking = Masking(tokenizer, seed=schedule.seed)
    head, weights = model.get_submodule("head"), model.get_parameter("decoder.weight")

    def loss(rows: torch.Tensor) -> torch.Tensor:
        chosen = masking.choose(rows)
        hidden = model.model(input_ids=masking.hide(rows, chosen)).last_hidden_state
        return vocabulary_loss(head(hidden[chosen]), weights, rows[chosen])

    _train(model, batches(texts, schedule, window=MASKED_WINDOW), loss, schedule)


class Masking:
    """What a masked model is to predict.

    Three ways by turns, a batch each: whole words; a word from one of its tokens to its end
    (what within-word-l2r scoring asks); single tokens.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerFast, *, seed: int) -> None:
        import torch

        self._generator = torch.Generator().manual_seed(seed)
        pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
        self._special = torch.zeros(len(pieces), dtype=torch.bool)
        self._special[tokenizer.all_special_ids] = True
        self._mask = int(tokenizer.mask_token_id or 0)
        # A blank before the token is written as this letter by byte-level tokenizers.
        begins = [piece.startswith("Ġ") or not piece.isalpha() for piece in pieces]
        self._begins = torch.tensor(begins) | self._special

    def choose(self, rows: torch.Tensor) -> torch.Tensor:
        """True where a token is to be predicted: about a third of each row."""
        import torch

        begins = self._begins[rows]
        begins[:, 1] = True
        words = begins.cumsum(1) - 1
        way = int(torch.randint(3, (), generator=self._generator))
        draw = torch.rand(rows.shape, generator=self._generator)
        rate = 0.15 + 0.3 * torch.rand((len(rows), 1), generator=self._generator)
        by_word = draw.gather(1, words) < rate
        if way == 0:
            chosen = by_word
        elif way == 1:
            start = torch.rand(rows.shape, generator=self._generator).gather(1, words)
            chosen = by_word & _beyond(begins, words, start)
        else:
            chosen = draw < rate
        chosen = chosen & ~self._special[rows]
        if not chosen.any():
            chosen[:, 1] = True
        return chosen

    def hide(self, rows: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The rows with the chosen tokens masked, but for one in twenty."""
        import torch

        kept = torch.rand(rows.shape, generator=self._generator) < _LEFT_UNMASKED
        return rows.masked_fill(chosen & ~kept, self._mask)


def _beyond(begins: torch.Tensor, words: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
    """True for the tokens of a word from a share `start` of its length on."""
    import torch

    columns = torch.arange(words.shape[1])
    position = columns - begins.mul(columns).cummax(1).values
    length = torch.zeros_like(words).scatter_add_(1, words, torch.ones_like(words))
    beyond: torch.Tensor = position >= (start * length.gather(1, words)).floor()
    return beyond


def _train(
    model: PreTrainedModel,
    source: Iterator[torch.Tensor],
    loss: Callable[[torch.Tensor], torch.Tensor],
    schedule: Schedule,
    *,
    after: Callable[[int], None] | None = None,
) -> None:
    import torch

    model.train()
    matrices = [weights for weights in model.parameters() if weights.dim() > 1]
    vectors = [weights for weights in model.parameters() if weights.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
        lr=schedule.peak_rate,
        betas=(0.9, 0.98),
        fused=True,
    )
    started = time.monotonic()
    tokens, losses = 0, 0.0
    for step in range(1, schedule.steps + 1):
        rows = next(source)
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(step - 1)
        value = loss(rows)
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(value)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        tokens += rows.numel()
        losses += float(value.detach())
        if after is not None:
            after(step)
        if step % _REPORT_EVERY == 0:
            seconds = time.monotonic() - started
            mean = losses / _REPORT_EVERY
            print(
                f"  step {step} of {schedule.steps}: loss {mean:.3f} nats,"
                f" {tokens / 1e6:.1f} million tokens, {seconds:.0f} s",
                flush=True,
            )
            losses = 0.0
    model.train(mode=False)
