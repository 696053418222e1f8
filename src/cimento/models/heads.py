"""Log-probabilities at chosen positions, without computing the others.

The language-model head costs as much as the transformer itself where vocabularies are large, and
most positions of a masked model's pass are not asked for. A hook between the transformer and the
head lets only the wanted rows through; nothing else of the model's own forward pass is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import torch

from cimento.models.columns import Read, read_columns
from cimento.models.memory import memory_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.asks import Asks, IntArray
    from cimento.models.base import FloatArray

Thinning: TypeAlias = Literal["last attention", "head", "nowhere"]
"""From where on only the wanted rows are computed: after the last attention, in the head, or all
rows to the end, the others thrown away then."""

MAX_LOGITS = {"cpu": 16_000_000}
MAX_LOGITS_ELSEWHERE = 64_000_000
"""Logits held at once. The head runs over the wanted rows in pieces of at most this size, so that
memory does not grow with the vocabulary times the batch."""

NORMALISED_AT_ONCE = {"cpu": 4_000_000}
"""Logits normalised at once, where not all of a piece: more leave the processor's cache."""


class RowHead:
    """The head of one model, applied to chosen rows of its last hidden state.

    Args:
        model: in evaluation mode, on its device.
        thin: from where on only those rows are computed.
        columns: what is read besides log-probabilities; each score then is a row of numbers, the
            log-probability first.

    Raises:
        ValueError: the model has nothing that is called attention.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        thin: Thinning = "head",
        columns: Sequence[Read] = (),
    ) -> None:
        self._model = model
        self._columns = columns
        self._attention = _last_attention(model) if thin == "last attention" else None
        if thin == "last attention" and self._attention is None:
            raise ValueError("there is no such module")
        # A model that is its own base has no seam between transformer and head.
        self._has_seam = thin != "nowhere" and model.base_model is not model
        vocabulary = model.config.get_text_config().vocab_size
        largest = MAX_LOGITS.get(model.device.type, MAX_LOGITS_ELSEWHERE)
        self._rows_at_once = max(1, largest // vocabulary)
        some = NORMALISED_AT_ONCE.get(model.device.type, largest)
        self._normalised_at_once = max(1, some // vocabulary)

    def fill(self, inputs: Mapping[str, torch.Tensor], asks: Asks, values: FloatArray) -> None:
        """Run the model and put what was asked into `values`, in nats.

        It is run once, or on parts of the batch where memory does not hold the whole.

        The normalisation is done in float32 at least, whatever the model's dtype: a log-softmax
        in half precision is off by hundredths of a nat.

        Args:
            inputs: arguments of the model's forward pass; tensors of shape (batch, length).
            asks: what is wanted.
            values: array to write into, at the places that are asked.
        """
        memory_of(self._model).spend(
            inputs, asks, lambda some, wanted: self._fill(some, wanted, values)
        )

    def _fill(self, inputs: Mapping[str, torch.Tensor], asks: Asks, values: FloatArray) -> None:
        order = np.argsort(asks.rows, kind="stable")
        rows, lines = np.unique(asks.rows[order], return_inverse=True)
        done = 0
        with torch.inference_mode():
            for logits in self._small_pieces(inputs, rows):
                first, last = np.searchsorted(lines, (done, done + len(logits)))
                some = order[first:last]
                values[asks.places[some]] = self._read(
                    logits, done, lines[first:last] - done, asks.targets[some]
                )
                done += len(logits)

    def _read(
        self,
        logits: torch.Tensor,
        start: int,  # noqa: ARG002  # where the logits begin among the rows, for heads that read more
        lines: IntArray,
        targets: IntArray,
    ) -> FloatArray:
        """What is wanted of some rows of logits, one line for each target."""
        return read_scores(logits, lines, targets, self._columns)

    def _small_pieces(
        self, inputs: Mapping[str, torch.Tensor], rows: IntArray
    ) -> Iterator[torch.Tensor]:
        """Logits of the rows, in pieces that are normalised at once."""
        step = self._normalised_at_once
        for piece in self._rows_of_logits(inputs, rows):
            for start in range(0, len(piece), step):
                yield piece[start : start + step]

    def _rows_of_logits(
        self, inputs: Mapping[str, torch.Tensor], rows: IntArray
    ) -> Iterator[torch.Tensor]:
        """Logits of the rows, in pieces; shape (some rows, vocabulary)."""
        index = torch.tensor(rows, device=self._model.device)
        first = self._rows_at_once
        if self._has_seam:
            thinned = _Thinned(index, first)
            with thinned.between(self._model, self._attention):
                logits = self._model(**inputs).logits
            if logits.shape[:2] == (1, min(first, len(rows))):
                yield logits[0]
                del logits
                for start in range(first, len(rows), first):
                    with thinned.instead_of(self._model.base_model, start, start + first):
                        logits = self._model(**inputs).logits
                    yield logits[0]
                return
            # The head does not read the hidden state that the hook thinned out.
            self._has_seam = False
        logits = self._model(**inputs).logits
        yield logits.reshape(-1, logits.shape[-1])[index]


def _last_attention(model: PreTrainedModel) -> torch.nn.Module | None:
    """The attention of the last layer, where it is a module that may end with its residual.

    Whether it does, so that nothing after it mixes positions, is not known here: `find_layout`
    tries it out.
    """
    named = model.base_model.named_modules()
    return next((m for name, m in reversed(list(named)) if name.endswith(".attention")), None)


class _Thinned:
    """The wanted rows of a transformer's last hidden state, handed to its head piece by piece."""

    def __init__(self, index: torch.Tensor, first: int) -> None:
        self._index = index
        self._first = first
        self._rows: torch.Tensor | None = None
        self._rest: Callable[[torch.Tensor], Any] | None = None

    @contextmanager
    def between(self, model: PreTrainedModel, attention: torch.nn.Module | None) -> Iterator[None]:
        """While this is open, the head gets the first piece of the wanted rows.

        What comes after `attention`, where there is one, gets all of them.
        """
        with ExitStack() as hooks:
            if attention is not None:
                hooks.enter_context(attention.register_forward_hook(self._thin))
            keep = self._keep if attention is None else self._keep_thinned
            hooks.enter_context(model.base_model.register_forward_hook(keep))
            yield

    def _thin(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        hidden = output[0] if isinstance(output, tuple) else output
        rows = hidden.reshape(-1, hidden.shape[-1])[self._index].unsqueeze(0)
        return (rows, *output[1:]) if isinstance(output, tuple) else rows

    def _keep(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        hidden = output[0]
        return self._hand_out(hidden.reshape(-1, hidden.shape[-1])[self._index], output)

    def _keep_thinned(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        return self._hand_out(output[0][0], output)

    def _hand_out(self, rows: torch.Tensor, output: Any) -> Any:
        self._rows = rows

        def rebuild(piece: torch.Tensor) -> Any:
            if isinstance(output, tuple):
                return (piece.unsqueeze(0), *output[1:])
            output["last_hidden_state"] = piece.unsqueeze(0)
            return output

        self._rest = rebuild
        return rebuild(rows[: self._first])

    def instead_of(self, base: torch.nn.Module, start: int, end: int) -> Any:
        """While this is open, the transformer is not run: it hands out a later piece."""
        assert self._rows is not None  # noqa: S101  # `between` has run
        assert self._rest is not None  # noqa: S101  # for mypy
        piece = self._rest(self._rows[start:end])
        return Replaced(base, piece)


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


def read_scores(
    logits: torch.Tensor, lines: IntArray, targets: IntArray, columns: Sequence[Read]
) -> FloatArray:
    """The log-probability of each target at its line of logits, and the columns beside it."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    row = torch.tensor(lines, device=logits.device)
    token = torch.tensor(targets, device=logits.device)
    if columns:
        found = read_columns(logits, row, token, columns)
    else:
        found = logits.log_softmax(dim=1)[row, token]
    values: FloatArray = found.double().cpu().numpy()
    return values
