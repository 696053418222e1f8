"""Layouts: ways for texts to share a pass of a model, tested before its first score.

Most models give the same scores however texts share a batch. Some do not: a model that mixes
positions without regard to the attention mask (ConvBERT, FNet) sees the padding, a head that mixes
positions cannot be given only some of them, and a masked model loaded as a causal one sees the
future. There is no list of architectures: each model is tested on two short texts, and the fastest
layout is used that gives the scores of a single text in a plain forward pass.

The module also says which tokens are masked, and how texts are cut into windows if they are longer
than the model's.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np
import torch

from cimento.errors import ModelError, UsageError
from cimento.models.base import Encoding, ModelCard
from cimento.models.hf.batches import Asks
from cimento.models.hf.heads import RowHead, Thinning, widened
from cimento.models.hf.room import SMALLER, room_for
from cimento.models.settings import PllRule, Policy

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray
    from cimento.models.tokenizing import Frame

Ids: TypeAlias = Sequence[int]

# This also holds for float64, since eager attention computes its softmax in float32 for any
# weights.
TOLERANCE_NATS: Mapping[torch.dtype, float] = {torch.float64: 1e-4, torch.float32: 1e-4}
HALF_TOLERANCE_NATS = 0.25
"""Tolerance in half precision: any two layouts differ by tenths of a nat, wrong ones by more."""

_PROBES = "a batch of the two short texts on which the model is tried"
_MASKED = "If it is a masked model, say --kind=masked."
# LLM.int8 separates the outliers of all tokens in a batch (Dettmers et al. 2022, section 3.2,
# doi:10.48550/arXiv.2208.07339).
_MIXING = (
    "Its quantized arithmetic mixes the tokens of a batch: for 8 bits with bitsandbytes,"
    ' add "llm_int8_threshold": 0.0 to quantization_config.'
)


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """A layout that a model allows without changing its scores.

    Attributes:
        thin: the point after which only the wanted rows are computed.
        pad: whether texts of different lengths may share a batch, with the shorter ones padded on
            the right.
    """

    thin: Thinning
    pad: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of the last comparison of prefix trees with plain rows.

    Attributes:
        holds: whether prefix trees are used.
        nodes: width of the compared rows; wider ones are compared again.
        max_difference_nats: largest difference of a token's scores; None without a comparison.
        reason: the reason why trees are not used; empty if they are.
    """

    holds: bool
    nodes: int = 0
    max_difference_nats: float | None = None
    reason: str = ""


LAYOUTS = tuple(
    ModelLayout(thin=thin, pad=pad) for pad in (True, False) for thin in get_args(Thinning)
)
"""All layouts, from the fastest to the most careful."""


def find_layout(model: PreTrainedModel, short: Ids, long: Ids, *, padding: int) -> ModelLayout:
    """The first of `LAYOUTS` that gives the scores of a plain forward pass over one text.

    Args:
        model: in evaluation mode, on its device.
        short: a token sequence, including special tokens.
        long: a longer sequence.
        padding: token id for padding.

    Raises:
        DoesNotFitError: memory does not hold two short texts.
        ModelError: the model scores a text differently in every layout.
    """
    # Only every other position is used: with all positions, a head that mixes neighbors would go
    # unnoticed.
    positions = range(0, len(short), 2)
    expected = plain_logprobs(model, short)[::2]
    for layout in LAYOUTS:
        others = long if layout.pad else short[::-1]
        try:
            # Lack of memory says nothing of a layout: a slower one would not be chosen for it.
            with room_for(_PROBES, model.device, todo=SMALLER):
                batch = padded([others, short], layout=layout, padding=padding, device=model.device)
                thinned = _thinned(model, batch, short, positions, thin=layout.thin)
        # Models that do not accept a mask or a batch raise errors of various classes.
        except (TypeError, ValueError, RuntimeError, IndexError):
            continue
        if largest_difference(expected, thinned) <= tolerance_nats(model):
            return layout
    raise ModelError(
        where=f"model of class {type(model).__name__}",
        seen="a text gets other scores when another one is scored beside it",
        todo="Such a model cannot be scored exactly; please report it.",
    )


def refuse_foresight(model: PreTrainedModel, within: FloatArray, long: Ids, *, name: str) -> None:
    """Refuse a model whose scores of a text's beginning depend on its continuation.

    Args:
        model: in evaluation mode, on its device.
        within: result of `plain_logprobs` for the text.
        long: the text.
        name: name of the model.

    Raises:
        ModelError: the scores depend on it, so the model is not causal.
    """
    half = long[: len(long) // 2]
    tolerance = tolerance_nats(model)
    if largest_difference(plain_logprobs(model, half), within[: len(half)]) <= tolerance:
        return
    if getattr(model, "is_quantized", False):
        todo = _MIXING
    elif _sees_tokens(model, within, long, tolerance):
        todo = _MASKED
    else:
        raise ModelError(
            where=f"model {name!r}",
            seen=f"{type(model).__name__} gives a token another score where another number of"
            " tokens follows it, whichever they are, so that a text has no one probability",
            todo="ProphetNet in transformers is such a model; no option changes it.",
        )
    raise ModelError(
        where=f"model {name!r}",
        seen=f"{type(model).__name__} sees the words that it should predict:"
        " what follows a token changes its score",
        todo=todo,
    )


def _sees_tokens(model: PreTrainedModel, within: FloatArray, long: Ids, tolerance: float) -> bool:
    """Whether scores of a text's beginning change with the tokens that follow, not their number."""
    half = len(long) // 2
    # The tokens of the beginning are such as the model knows.
    beginning = [*long[:half]]
    others = [*beginning, *(beginning * 2)[: len(long) - half]]
    changed = plain_logprobs(model, others)[:half]
    return largest_difference(changed, within[:half]) > tolerance


def plain_logprobs(model: PreTrainedModel, ids: Ids) -> FloatArray:
    """The log-probability at each position of the token at that position, from one plain pass.

    The number has no meaning in itself (a causal model predicts the next token there), but it
    reveals any change in the distribution at the position.
    """
    with torch.inference_mode():
        sequence = torch.tensor([ids], device=model.device)
        logits = widened(model(**unpadded(model, sequence)).logits[0])
        chosen = logits.log_softmax(-1).gather(1, sequence[0].unsqueeze(1)).squeeze(1)
    return np.array(chosen.tolist())


def unpadded(model: PreTrainedModel, ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """The arguments of a pass over texts of one length.

    If a text begins or ends with the token that also pads, as the first token of many models does,
    an attention mask of ones says that nothing is padded: transformers would warn of wrong scores.

    Args:
        model: the model.
        ids: shape (texts, length).
    """
    pad = getattr(model.config, "pad_token_id", None)
    taken = inspect.signature(model.forward).parameters
    if pad is None or "attention_mask" not in taken or pad not in ids[:, [0, -1]]:
        return {"input_ids": ids}
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def padded(
    texts: Sequence[Ids], *, layout: ModelLayout, padding: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """Texts as one batch: the ids and, if texts may be padded, the attention mask."""
    width = max(len(ids) for ids in texts)
    ids = torch.full((len(texts), width), padding, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for line, text in enumerate(texts):
        ids[line, : len(text)] = torch.tensor(text)
        mask[line, : len(text)] = 1
    if not layout.pad:
        return {"input_ids": ids.to(device)}
    return {"input_ids": ids.to(device), "attention_mask": mask.to(device)}


def tolerance_nats(model: PreTrainedModel) -> float:
    """The largest difference between the scores of two layouts that rounding explains."""
    return TOLERANCE_NATS.get(model.dtype, HALF_TOLERANCE_NATS)


def largest_difference(one: FloatArray, other: FloatArray) -> float:
    """The largest difference between two rows of scores; infinite if only one score is NaN."""
    if not np.array_equal(np.isnan(one), np.isnan(other)):
        return float("inf")
    return float(np.nanmax(np.abs(one - other), initial=0.0))


def _thinned(
    model: PreTrainedModel,
    batch: Mapping[str, torch.Tensor],
    short: Ids,
    positions: Sequence[int],
    *,
    thin: Thinning,
) -> FloatArray:
    """The result of `plain_logprobs` at some positions, with the text in a batch's second row."""
    values = np.full(len(positions), np.nan)
    chosen = np.array(positions)
    rows = chosen + batch["input_ids"].shape[1]
    asks = Asks(rows, np.array(short)[chosen], np.arange(len(chosen)))
    RowHead(model, thin=thin).fill(batch, asks, values)
    return values


def masked_positions(units: Sequence[int], index: int, *, rule: PllRule) -> list[int]:
    """The positions that are masked while the token at `index` is predicted.

    Args:
        units: number of the word of each token, or of its region under ``region``; -1 for special
            tokens.
        index: index of the predicted token.
        rule: ``original`` masks the token alone (Salazar et al. 2020, section 2,
            doi:10.18653/v1/2020.acl-main.240). ``within-word-l2r`` also masks the later tokens of
            its word, and ``whole-word`` all the others of its word (Kauf and Ivanova 2023,
            section 3, doi:10.18653/v1/2023.acl-short.80). ``region`` masks its region.
    """
    if rule == "original":
        return [index]
    start = index if rule == "within-word-l2r" else 0
    return [i for i in range(start, len(units)) if units[i] == units[index]]


def stride_of(policy: Policy, card: ModelCard) -> int | None:
    """The stride of the window: as stated, else half of it; None if no window slides.

    Raises:
        UsageError: the stride would leave the first new token of a window without left context.
    """
    if policy.window == "refuse" or card.window is None:
        return None
    stride = max(1, card.window // 2) if policy.stride is None else policy.stride
    if stride >= card.window:
        raise UsageError(
            where="--stride",
            seen=f"{stride} tokens are not less than the window of {card.name!r}, {card.window}",
            todo="Give a smaller one, so that windows overlap.",
        )
    return stride


def refuse_windows(policy: Policy, *, seen: str) -> None:
    """Refuse windows where a model has none.

    Args:
        policy: the policy of scoring.
        seen: how the model reads texts, for the message.

    Raises:
        UsageError: the policy has a sliding window.
    """
    if policy.window == "sliding":
        raise UsageError(where="--window=sliding", seen=seen, todo="Leave the option out.")


def window_start(index: int, *, window: int, stride: int) -> int:
    """The first token of the window in which the token at `index` of a long text is scored."""
    return 0 if index < window else -((window - index - 1) // stride) * stride


def in_windows(
    encoded: Sequence[Encoding],
    score: Callable[[Sequence[Encoding]], Sequence[FloatArray]],
    *,
    window: int,
    stride: int,
) -> list[FloatArray]:
    """The scores of texts by a causal model, with long texts in several windows.

    Every token is scored, but not every token sees the whole text. The windows are those in which
    perplexities of long texts are commonly measured
    (https://huggingface.co/docs/transformers/perplexity): they begin at 0, `stride`, 2 * `stride`
    ..., and a token is scored in the first one that holds it, so that it sees at least ``window -
    stride`` tokens before it.

    Args:
        encoded: texts of any length.
        score: scores the wanted tokens of texts that fit.
        window: longest sequence in tokens.
        stride: number of tokens by which the window moves.
    """
    parts = [_cut(text, window=window, stride=stride) for text in encoded]
    answers = iter(score([part for some in parts for part in some]))
    return [np.concatenate([next(answers) for _ in some]) for some in parts]


def centered(ids: Sequence[int], index: int, *, window: int, frame: Frame) -> tuple[int, int]:
    """The part of a long text that a masked model sees while it predicts the token at `index`.

    The token is in the middle of the part, or as near to the middle as the ends of the text allow;
    the tokens that the tokenizer puts around a text are put around the part.

    Args:
        ids: token ids of the whole sequence, including the frame.
        index: index of the predicted token.
        window: longest sequence in tokens.
        frame: the special tokens around a text.

    Returns:
        The begin and end of the part in `ids`, without the frame.
    """
    first, last = len(frame.before), len(ids) - len(frame.after)
    room = window - len(frame.before) - len(frame.after)
    start = max(first, min(index - room // 2, last - room))
    return start, min(start + room, last)


def long_texts(encoded: Sequence[Encoding], window: int | None) -> tuple[str, ...]:
    """Remarks on the texts that did not fit the window, as sentences for the user."""
    number = sum(len(text.tokens) > (window or len(text.tokens)) for text in encoded)
    if not number:
        return ()
    texts = "1 text is" if number == 1 else f"{number} texts are"
    return (f"{texts} longer than the model's window of {window} tokens and scored in parts",)


def _cut(text: Encoding, *, window: int, stride: int) -> list[Encoding]:
    """The windows in which a text's wanted tokens are scored, each with those it scores."""
    if len(text.tokens) <= window:
        return [text]
    if not text.wanted:
        return [_part(text, 0, window, ())]
    wanted: dict[int, list[int]] = {}
    for index in text.wanted:
        start = window_start(index, window=window, stride=stride)
        wanted.setdefault(start, []).append(index - start)
    return [_part(text, start, start + window, some) for start, some in wanted.items()]


def _part(text: Encoding, start: int, end: int, wanted: Sequence[int]) -> Encoding:
    return dataclasses.replace(
        text,
        ids=text.ids[start:end],
        tokens=text.tokens[start:end],
        spans=text.spans[start:end],
        words=text.words[start:end],
        wanted=tuple(wanted),
    )
