"""The seam between a transformer and its head: some rows of the hidden state pass, others do not.

A hook between the two keeps the wanted rows back, and later they are handed to the head as if the
transformer had just been run; nothing else of the model's own forward pass is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def last_attention(model: PreTrainedModel) -> torch.nn.Module | None:
    """The attention of the last layer, where it is a module that may end with its residual.

    Whether it does, so that nothing after it mixes positions, is not known here: `find_layout`
    tries it out.
    """
    named = model.base_model.named_modules()
    return next((m for name, m in reversed(list(named)) if name.endswith(".attention")), None)


class Kept:
    """The wanted rows of a transformer's last hidden state, for its head.

    Args:
        model: the whole.
        inputs: arguments of its forward pass.
        index: the rows of the flattened (batch * length) positions that are kept.

    Attributes:
        rows: shape (rows, hidden).
    """

    def __init__(
        self, model: PreTrainedModel, inputs: Mapping[str, torch.Tensor], index: torch.Tensor
    ) -> None:
        self._model = model
        self._inputs = inputs
        self._index = index
        self._rebuild: Callable[[torch.Tensor], Any] = lambda rows: rows
        self.rows = torch.empty(0)

    @contextmanager
    def between(self, attention: torch.nn.Module | None) -> Iterator[None]:
        """While this is open, a pass of the model leaves its rows here; its head gets none.

        What comes after `attention`, where there is one, gets the wanted rows alone.
        """
        with ExitStack() as hooks:
            if attention is not None:
                hooks.enter_context(attention.register_forward_hook(self._thin))
            keep = self._keep if attention is None else self._keep_thinned
            hooks.enter_context(self._model.base_model.register_forward_hook(keep))
            yield

    def logits(self, piece: torch.Tensor) -> torch.Tensor:
        """What the model's head makes of some rows; the transformer is not run again."""
        with (
            torch.inference_mode(),
            Replaced(self._model.base_model, self._rebuild(piece)),
        ):
            logits: torch.Tensor = self._model(**self._inputs).logits[0]
        return logits

    def _thin(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        rows = self._wanted(output[0] if isinstance(output, tuple) else output).unsqueeze(0)
        return (rows, *output[1:]) if isinstance(output, tuple) else rows

    def _keep(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        return self._hold(self._wanted(output[0]), output)

    def _keep_thinned(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        return self._hold(output[0][0], output)

    def _wanted(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden.reshape(-1, hidden.shape[-1])[self._index.to(hidden.device)]

    def _hold(self, rows: torch.Tensor, output: Any) -> Any:
        self.rows = rows

        def rebuild(piece: torch.Tensor) -> Any:
            if isinstance(output, tuple):
                return (piece.unsqueeze(0), *output[1:])
            output["last_hidden_state"] = piece.unsqueeze(0)
            return output

        self._rebuild = rebuild
        return rebuild(rows[:0])


class Replaced:
    """A module whose forward pass is replaced by a ready answer for a while."""

    def __init__(self, module: torch.nn.Module, answer: Any) -> None:
        self._module = module
        self._answer = answer
        # A model that lies on several devices has forward passes of its own in its modules.
        self._own = vars(module).get("forward")

    def __enter__(self) -> None:
        self._module.forward = lambda *_args, **_kwargs: self._answer

    def __exit__(self, *_error: object) -> None:
        if self._own is None:
            del self._module.forward
        else:
            self._module.forward = self._own
