"""What can be read off the logits at a position besides the log-probability of the token there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import torch

if TYPE_CHECKING:
    from cimento.io.tables import Column


@dataclass(frozen=True, slots=True, eq=False)
class TokenSet:
    """A set of tokens; as a column, the log of its probability at a position, in nats.

    Attributes:
        ids: token ids, on the model's device.
    """

    ids: torch.Tensor


Read: TypeAlias = "Column | TokenSet"
"""What can be read at a position."""


def read_columns(
    logits: torch.Tensor, lines: torch.Tensor, targets: torch.Tensor, columns: Sequence[Read]
) -> torch.Tensor:
    """The log-probability of some tokens in nats, and what else is asked of them.

    Args:
        logits: of some positions, float32 or wider; shape (positions, vocabulary).
        lines: for each token, its position's row in `logits`.
        targets: for each token, its id.
        columns: ``logit``: the raw output for the token; ``log_sigmoid_sum``: ln of the sum of
            the logistic function over the outputs for the whole vocabulary; ``entropy_nats``:
            ``-sum p ln p`` of the position (Shannon 1948,
            doi:10.1002/j.1538-7305.1948.tb01338.x); ``rank``: 1 + the number of tokens with a
            higher output, so that equals share the better rank; a `TokenSet`: ln of the
            probability that one of them stands there.

    Returns:
        Shape (tokens, 1 + columns), in float64.
    """
    own = logits[lines, targets]
    everything = logits.logsumexp(dim=1)
    values = [own - everything[lines]]
    for column in columns:
        match column:
            case TokenSet(ids):
                values.append((logits[:, ids].logsumexp(dim=1) - everything)[lines])
            case "logit":
                values.append(own)
            case "log_sigmoid_sum":
                values.append(torch.nn.functional.logsigmoid(logits).logsumexp(dim=1)[lines])
            case "entropy_nats":
                values.append(torch.special.entr(logits.softmax(dim=1)).sum(dim=1)[lines])
            case "rank":
                values.append(1 + (logits[lines] > own.unsqueeze(1)).sum(dim=1))
    return torch.stack([value.cpu().double() for value in values], dim=1)
