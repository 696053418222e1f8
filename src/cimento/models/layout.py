"""How texts may be laid out for a model: tried on two short ones before its first score.

Most models give the same scores however texts share a batch. Some do not: a model that mixes
positions without looking at the attention mask (ConvBERT, FNet) sees the padding, a head that mixes
positions cannot be given some of them, and a masked model loaded as a causal one sees the future.
No list of architectures is kept: what a model does is found out, and the fastest layout that gives
what one text alone in a plain forward pass gives is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, get_args

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.asks import Asks
from cimento.models.heads import RowHead, Thinning

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray

Ids: TypeAlias = Sequence[int]

TOLERANCE_NATS: Mapping[torch.dtype, float] = {torch.float64: 1e-6, torch.float32: 1e-4}
HALF_TOLERANCE_NATS = 0.25
"""Half-precision scores differ by tenths between any two layouts; wrong ones by more."""

_MASKED = "If it is a masked model, say --kind masked."
# LLM.int8 takes the outliers of all tokens in a batch apart (Dettmers et al. 2022, section 3.2,
# doi:10.48550/arXiv.2208.07339).
_MIXING = (
    "Its quantised arithmetic mixes the tokens of a batch: for 8 bits with bitsandbytes,"
    ' add "llm_int8_threshold": 0.0 to quantization_config.'
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What a model allows without other scores coming out.

    Attributes:
        thin: from where on only the wanted rows are computed.
        pad: texts of different length may share a batch, the shorter ones padded on the right.
    """

    thin: Thinning
    pad: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """What the last comparison of the two ways showed.

    Attributes:
        holds: whether prefix trees are used.
        nodes: width of the rows that were compared; wider ones are compared again.
        max_difference_nats: largest difference of a token's scores; None where there is none to
            tell of.
        reason: why trees are not used; empty where they are.
    """

    holds: bool
    nodes: int = 0
    max_difference_nats: float | None = None
    reason: str = ""


LAYOUTS = tuple(Layout(thin=thin, pad=pad) for pad in (True, False) for thin in get_args(Thinning))
"""From the fastest to the most careful."""


def find_layout(model: PreTrainedModel, short: Ids, long: Ids, *, padding: int) -> Layout:
    """The first of `LAYOUTS` that gives what a plain forward pass over one text gives.

    Args:
        model: in evaluation mode, on its device.
        short: a token sequence, special tokens included.
        long: a longer one.
        padding: token id to pad with.

    Raises:
        ModelError: the model scores a text differently in any company.
    """
    # Every other position: given all of a text, a head that mixes neighbours would not show.
    positions = range(0, len(short), 2)
    expected = plain_logprobs(model, short)[::2]
    for layout in LAYOUTS:
        others = long if layout.pad else short[::-1]
        try:
            batch = padded([others, short], layout=layout, padding=padding, device=model.device)
            found = _thinned(model, batch, short, positions, thin=layout.thin)
        # A model that knows no mask or no batch says so in its own way.
        except (TypeError, ValueError, RuntimeError, IndexError):
            continue
        if largest_difference(expected, found) <= tolerance_nats(model):
            return layout
    raise ModelError(
        where=f"model of class {type(model).__name__}",
        seen="a text gets other scores when another one is scored beside it",
        todo="Such a model cannot be scored exactly; please report it.",
    )


def refuse_foresight(model: PreTrainedModel, long: Ids, *, name: str) -> None:
    """See that the scores of a text's beginning do not depend on how it goes on.

    Raises:
        ModelError: they do, so the model is not a causal one.
    """
    half = long[: len(long) // 2]
    alone = plain_logprobs(model, half)
    within = plain_logprobs(model, long)[: len(half)]
    if largest_difference(alone, within) > tolerance_nats(model):
        raise ModelError(
            where=f"model {name!r}",
            seen=f"{type(model).__name__} sees the words that it should predict:"
            " what follows a token changes its score",
            todo=_MIXING if getattr(model, "is_quantized", False) else _MASKED,
        )


def plain_logprobs(model: PreTrainedModel, ids: Ids) -> FloatArray:
    """Log-probability at each position of the token that stands there, from one plain pass.

    The number means nothing (a causal model predicts the next token there), but any change of the
    position's distribution shows in it.
    """
    with torch.inference_mode():
        sequence = torch.tensor([ids], device=model.device)
        logits = model(input_ids=sequence).logits[0]
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        chosen = logits.log_softmax(-1).gather(1, sequence[0].unsqueeze(1)).squeeze(1)
    return np.array(chosen.tolist())


def padded(
    texts: Sequence[Ids], *, layout: Layout, padding: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """Texts as one batch: its ids and, where texts may be padded, its attention mask."""
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
    """How far the scores of two layouts may lie apart: rounding, and nothing else."""
    return TOLERANCE_NATS.get(model.dtype, HALF_TOLERANCE_NATS)


def largest_difference(one: FloatArray, other: FloatArray) -> float:
    """Between two rows of scores; infinite where one of them alone is not a number."""
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
    """What `plain_logprobs` gives at some positions, with the text in the second row of a batch."""
    found = np.full(len(positions), np.nan)
    chosen = np.array(positions)
    rows = chosen + batch["input_ids"].shape[1]
    asks = Asks(rows, np.array(short)[chosen], np.arange(len(chosen)))
    RowHead(model, thin=thin).fill(batch, asks, found)
    return found
