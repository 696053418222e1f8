"""Log-probabilities at chosen positions, without computing the others.

The language-model head costs as much as the transformer itself where vocabularies are large, and
most positions of a masked model's pass are not asked for. A hook between the transformer and the
head lets only the wanted rows through; nothing else of the model's own forward pass is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class RowHead:
    """The head of one model, applied to chosen rows of its last hidden state."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        # A model that is its own base has no seam between transformer and head.
        self._has_seam = model.base_model is not model

    def logprobs(
        self, inputs: Mapping[str, torch.Tensor], rows: torch.Tensor, targets: torch.Tensor
    ) -> torch.Tensor:
        """log P of one target token at each chosen position, in nats.

        Args:
            inputs: arguments of the model's forward pass; tensors of shape (batch, length).
            rows: positions in the flattened (batch * length) order; shape (n,).
            targets: token ids whose probability is wanted there; shape (n,).

        Returns:
            Shape (n,), float32 or wider, on the CPU. The normalisation is done in float32 at
            least, whatever the model's dtype: half-precision log-softmax is off by hundredths.
        """
        with torch.inference_mode():
            logits = self._rows_of_logits(inputs, rows)
            if logits.dtype in (torch.float16, torch.bfloat16):
                logits = logits.float()
            chosen = logits.gather(1, targets.unsqueeze(1)).squeeze(1)
            return (chosen - logits.logsumexp(dim=1)).cpu()

    def _rows_of_logits(
        self, inputs: Mapping[str, torch.Tensor], rows: torch.Tensor
    ) -> torch.Tensor:
        if self._has_seam:
            hook = self._model.base_model.register_forward_hook(_keep_rows(rows))
            try:
                logits: torch.Tensor = self._model(**inputs).logits
            finally:
                hook.remove()
            if logits.shape[:2] == (1, len(rows)):
                return logits[0]
            # The head does not read the hidden state that the hook thinned out.
            self._has_seam = False
        logits = self._model(**inputs).logits
        return logits.reshape(-1, logits.shape[-1])[rows]


def _keep_rows(rows: torch.Tensor) -> Any:
    def hook(_module: torch.nn.Module, _args: object, output: Any) -> Any:
        hidden = output[0]
        kept = hidden.reshape(-1, hidden.shape[-1])[rows].unsqueeze(0)
        if isinstance(output, tuple):
            return (kept, *output[1:])
        output["last_hidden_state"] = kept
        return output

    return hook
