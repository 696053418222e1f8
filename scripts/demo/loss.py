"""Cross-entropy over the vocabulary without keeping its logits.

On two cores most of a small model's time goes into logits; here they live a block at a time in
one buffer, and their gradient is made where they are.
"""

from __future__ import annotations

from typing import Protocol

import torch

_BLOCK = 1024


class _Context(Protocol):
    """What torch hands from forward to backward."""

    @property
    def saved_tensors(self) -> tuple[torch.Tensor, ...]: ...

    def save_for_backward(self, *tensors: torch.Tensor) -> None: ...


class _VocabularyLoss(torch.autograd.Function):
    """Mean of -log softmax(hidden @ weight.T)[target]."""

    @staticmethod
    def forward(
        ctx: _Context, hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor
    ) -> torch.Tensor:
        """The loss; both gradients are made at once, for a gradient of one above."""
        count = len(targets)
        buffer = torch.empty(min(_BLOCK, count), len(weight))
        hidden_gradient = torch.empty_like(hidden)
        weight_gradient = torch.zeros_like(weight)
        total = 0.0
        for start in range(0, count, _BLOCK):
            rows = hidden[start : start + _BLOCK]
            places = targets[start : start + _BLOCK, None]
            logits = torch.mm(rows, weight.T, out=buffer[: len(rows)])
            logits.sub_(logits.amax(1, keepdim=True))
            total -= float(logits.gather(1, places).sum())
            sums = logits.exp_().sum(1, keepdim=True)
            total += float(sums.log().sum())
            logits.div_(sums * count)
            logits.scatter_add_(1, places, torch.full(places.shape, -1.0 / count))
            torch.mm(logits, weight, out=hidden_gradient[start : start + len(rows)])
            weight_gradient.addmm_(logits.T, rows)
        ctx.save_for_backward(hidden_gradient, weight_gradient)
        return hidden.new_tensor(total / count)

    @staticmethod
    def backward(ctx: _Context, above: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        """The gradients of `forward`, times the gradient above."""
        hidden_gradient, weight_gradient = ctx.saved_tensors
        return hidden_gradient * above, weight_gradient * above, None


def vocabulary_loss(
    hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Mean cross-entropy in nats.

    Args:
        hidden: last hidden states, (n, d).
        weight: output embeddings, (vocabulary, d).
        targets: token ids, (n,).
    """
    loss: torch.Tensor = _VocabularyLoss.apply(hidden, weight, targets)  # type: ignore[no-untyped-call]
    return loss
