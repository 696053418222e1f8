"""Log-probabilities at chosen positions, without computing the others.

The language-model head costs as much as the transformer itself where vocabularies are large, and
most positions of a masked model's pass are not asked for. A hook between the transformer and the
head lets only the wanted rows through; nothing else of the model's own forward pass is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from cimento.models.columns import Read, read_columns
from cimento.models.memory import memory_of

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray

Asks: TypeAlias = dict[tuple[int, int], list[tuple[int, int]]]
"""From a row of the flattened (batch * length) positions and a target token id, to the places
that want its log-probability: number of a result and slot in it."""

MAX_LOGITS = 16_000_000
"""Logits held at once. The head runs over the wanted rows in pieces of at most this size, so that
memory does not grow with the vocabulary times the batch."""


class RowHead:
    """The head of one model, applied to chosen rows of its last hidden state.

    Args:
        model: in evaluation mode, on its device.
        thin: whether the head is given those rows only, or all rows and the others thrown away.
        columns: what is read besides log-probabilities; each result then is a table with a row
            for each slot, the log-probability first.
    """

    def __init__(
        self, model: PreTrainedModel, *, thin: bool = True, columns: Sequence[Read] = ()
    ) -> None:
        self._model = model
        self._columns = columns
        # A model that is its own base has no seam between transformer and head.
        self._has_seam = thin and model.base_model is not model
        self._rows_at_once = max(1, MAX_LOGITS // model.config.get_text_config().vocab_size)

    def fill(
        self, inputs: Mapping[str, torch.Tensor], asks: Asks, results: Sequence[FloatArray]
    ) -> None:
        """Run the model and put what was asked into `results`, in nats.

        It is run once, or on parts of the batch where memory does not hold the whole.

        The normalisation is done in float32 at least, whatever the model's dtype: a log-softmax
        in half precision is off by hundredths of a nat.

        Args:
            inputs: arguments of the model's forward pass; tensors of shape (batch, length).
            asks: what is wanted.
            results: arrays to write into.
        """
        memory_of(self._model).spend(
            inputs, asks, lambda some, wanted: self._fill(some, wanted, results)
        )

    def _fill(
        self, inputs: Mapping[str, torch.Tensor], asks: Asks, results: Sequence[FloatArray]
    ) -> None:
        rows = sorted({row for row, _ in asks})
        wanted: dict[int, list[tuple[int, list[tuple[int, int]]]]] = {row: [] for row in rows}
        for (row, target), places in asks.items():
            wanted[row].append((target, places))
        done = 0
        with torch.inference_mode():
            for logits in self._rows_of_logits(inputs, rows):
                some = [wanted[row] for row in rows[done : done + len(logits)]]
                done += len(logits)
                _read(logits, some, results, self._columns)

    def _rows_of_logits(
        self, inputs: Mapping[str, torch.Tensor], rows: Sequence[int]
    ) -> Iterator[torch.Tensor]:
        """Logits of the rows, in pieces; shape (some rows, vocabulary)."""
        index = torch.tensor(rows, device=self._model.device)
        first = self._rows_at_once
        if self._has_seam:
            thinned = _Thinned(index, first)
            with thinned.between(self._model):
                logits = self._model(**inputs).logits
            if logits.shape[:2] == (1, min(first, len(rows))):
                yield logits[0]
                del logits
                for start in range(first, len(rows), first):
                    with thinned.instead_of(self._model.base_model, start, start + first):
                        yield self._model(**inputs).logits[0]
                return
            # The head does not read the hidden state that the hook thinned out.
            self._has_seam = False
        logits = self._model(**inputs).logits
        yield logits.reshape(-1, logits.shape[-1])[index]


class _Thinned:
    """The wanted rows of a transformer's last hidden state, handed to its head piece by piece."""

    def __init__(self, index: torch.Tensor, first: int) -> None:
        self._index = index
        self._first = first
        self._rows: torch.Tensor | None = None
        self._rest: Callable[[torch.Tensor], Any] | None = None

    def between(self, model: PreTrainedModel) -> Any:
        """While this is open, the head gets the first piece of the wanted rows."""
        return model.base_model.register_forward_hook(self._keep)

    def _keep(self, _module: torch.nn.Module, _args: object, output: Any) -> Any:
        hidden = output[0]
        self._rows = hidden.reshape(-1, hidden.shape[-1])[self._index]

        def rebuild(piece: torch.Tensor) -> Any:
            if isinstance(output, tuple):
                return (piece.unsqueeze(0), *output[1:])
            output["last_hidden_state"] = piece.unsqueeze(0)
            return output

        self._rest = rebuild
        return rebuild(self._rows[: self._first])

    def instead_of(self, base: torch.nn.Module, start: int, end: int) -> Any:
        """While this is open, the transformer is not run: it hands out a later piece."""
        assert self._rows is not None  # noqa: S101  # `between` has run
        assert self._rest is not None  # noqa: S101
        piece = self._rest(self._rows[start:end])
        return _Replaced(base, piece)


class _Replaced:
    """A module whose forward pass is replaced by a ready answer for a while."""

    def __init__(self, module: torch.nn.Module, answer: Any) -> None:
        self._module = module
        self._answer = answer

    def __enter__(self) -> None:
        self._module.forward = lambda *_args, **_kwargs: self._answer

    def __exit__(self, *_error: object) -> None:
        del self._module.forward


def _read(
    logits: torch.Tensor,
    wanted: Sequence[Sequence[tuple[int, list[tuple[int, int]]]]],
    results: Sequence[FloatArray],
    columns: Sequence[Read],
) -> None:
    """Normalise some rows of logits and write the targets' log-probabilities into `results`."""
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    lines = [line for line, targets in enumerate(wanted) for _ in targets]
    ids = [target for targets in wanted for target, _ in targets]
    where = (torch.tensor(lines, device=logits.device), torch.tensor(ids, device=logits.device))
    places = [found for targets in wanted for _, found in targets]
    if columns:
        values = read_columns(logits, *where, columns).tolist()
    else:
        values = (logits[where] - logits.logsumexp(dim=1)[where[0]]).tolist()
    for value, found in zip(values, places, strict=True):
        for number, slot in found:
            results[number][slot] = value
