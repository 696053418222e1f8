"""The head of a model, applied to chosen positions: log-probabilities and further columns.

With a large vocabulary, the language-model head costs as much as the transformer itself, and most
positions of a masked model's pass are not requested. So the head gets only the wanted rows, those
of several batches together: a hook between transformer and head stores them, and later they are
passed to the head as if the transformer had just been run. Nothing else in the model's forward pass
is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import torch

from cimento.io.tables import layer_of
from cimento.models.hf.batches import Asks, fits, joined_asks, memory_of, smaller

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.io.tables import Column
    from cimento.models.base import FloatArray
    from cimento.models.hf.batches import IntArray

Read: TypeAlias = "Column | TokenSet"
"""A value that can be read at a position."""

Scored: TypeAlias = "tuple[IntArray, torch.Tensor]"
"""Slots, and the scores that belong there."""

Thinning: TypeAlias = Literal["last attention", "head", "nowhere"]
"""The point from which only the wanted rows are computed.

After the last attention, in the head, or nowhere: all rows are computed and the others discarded.
"""

MAX_LOGITS = {"cpu": 16_000_000}
MAX_LOGITS_ELSEWHERE = 64_000_000
"""Largest number of logits held at once.

The head runs over the wanted rows in pieces of at most this size, so that memory does not grow with
the vocabulary times the batch.
"""

ALIGNED = 64
"""Size of vocabulary of which rows of logits are multiples on a GPU."""

NORMALIZED_AT_ONCE = {"cpu": 4_000_000}
"""Number of logits normalized at once, if not a whole piece: more do not fit the CPU cache."""


@dataclass(frozen=True, slots=True, eq=False)
class TokenSet:
    """A set of tokens; as a column, the log of its probability at a position, in nats.

    Attributes:
        ids: token ids, on the model's device.
    """

    ids: torch.Tensor


def read_columns(
    logits: torch.Tensor, lines: torch.Tensor, targets: torch.Tensor, columns: Sequence[Read]
) -> torch.Tensor:
    """The log-probability of some tokens in nats, and the requested columns.

    Args:
        logits: logits of shape (positions, vocabulary), in float32 or wider.
        lines: row in `logits` of each token's position.
        targets: id of each token.
        columns: ``logit``: the raw output for the token; ``log_sigmoid_sum``: ln of the sum of
            the logistic function over the outputs for the whole vocabulary; ``entropy_nats``:
            ``-sum p ln p`` of the position (Shannon 1948,
            doi:10.1002/j.1538-7305.1948.tb01338.x); ``rank``: 1 + the number of tokens with a
            higher output, so that ties share the better rank; a `TokenSet`: ln of the probability
            that one of its tokens is there.

    Returns:
        A tensor of shape (tokens, 1 + columns), in the number format of the logits.
    """
    target_logits = logits[lines, targets]
    everything = logits.logsumexp(dim=1)
    values = [target_logits - everything[lines]]
    for column in columns:
        match column:
            case TokenSet(ids):
                values.append((logits[:, ids].logsumexp(dim=1) - everything)[lines])
            case "logit":
                values.append(target_logits)
            case "log_sigmoid_sum":
                values.append(torch.nn.functional.logsigmoid(logits).logsumexp(dim=1)[lines])
            case "entropy_nats":
                values.append(torch.special.entr(logits.softmax(dim=1)).sum(dim=1)[lines])
            case "rank":
                values.append(1 + (logits[lines] > target_logits.unsqueeze(1)).sum(dim=1))
    # Ranks are whole numbers that float32 holds exactly; Apple's GPUs have no float64.
    return torch.stack([value.to(everything.dtype) for value in values], dim=1)


def last_attention(model: PreTrainedModel) -> torch.nn.Module | None:
    """The attention module of the last layer, if it may end with its residual; else None.

    `find_layout` tests whether it does, so that nothing after it mixes positions.
    """
    named = model.base_model.named_modules()
    return next((m for name, m in reversed(list(named)) if name.endswith(".attention")), None)


class WantedRows:
    """The wanted rows of a transformer's last hidden state, for its head.

    Args:
        model: the whole model.
        inputs: arguments of its forward pass.
        index: indices of the kept rows among the flattened (batch * length) positions.

    Attributes:
        rows: the kept rows, of shape (rows, hidden).
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
        """A context in which a pass of the model stores its rows here, and its head gets none.

        With `attention`, everything after that module gets only the wanted rows.
        """
        with ExitStack() as hooks:
            if attention is not None:
                hooks.enter_context(attention.register_forward_hook(self._thin))
            keep = self._keep if attention is None else self._keep_thinned
            hooks.enter_context(self._model.base_model.register_forward_hook(keep))
            yield

    def logits(self, piece: torch.Tensor) -> torch.Tensor:
        """The logits of some rows from the model's head; the transformer is not run again."""
        with torch.inference_mode(), Replacement(self._model.base_model, self._rebuild(piece)):
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


class Rerouting:
    """A context in which a module has another forward pass."""

    def __init__(self, module: torch.nn.Module, forward: Callable[..., Any]) -> None:
        self._module = module
        self._forward = forward
        # Modules of a model on several devices have forward passes as instance attributes.
        self._own = vars(module).get("forward")

    def __enter__(self) -> None:
        self._module.forward = self._forward

    def __exit__(self, *_error: object) -> None:
        if self._own is None:
            del self._module.forward
        else:
            self._module.forward = self._own


class Replacement(Rerouting):
    """A context in which a module's forward pass returns a given answer."""

    def __init__(self, module: torch.nn.Module, answer: Any) -> None:
        super().__init__(module, lambda *_args, **_kwargs: answer)


class RowHead:
    """The head of a model, applied to chosen rows of its last hidden state.

    Args:
        model: in evaluation mode, on its device.
        thin: the point after which only those rows are computed.
        columns: values read besides log-probabilities; each score is then a row of numbers with the
            log-probability first.

    Raises:
        ValueError: the model has no module that is called attention.
    """

    def __init__(
        self, model: PreTrainedModel, *, thin: Thinning = "head", columns: Sequence[Read] = ()
    ) -> None:
        self.model = model
        self._columns = columns
        self._attention = last_attention(model) if thin == "last attention" else None
        if thin == "last attention" and self._attention is None:
            raise ValueError("there is no such module")
        # A model that is its own base has no boundary between transformer and head.
        self._has_seam = thin != "nowhere" and model.base_model is not model
        vocabulary = model.config.get_text_config().vocab_size
        largest = MAX_LOGITS.get(model.device.type, MAX_LOGITS_ELSEWHERE)
        self.rows_at_once = max(1, largest // vocabulary)
        some = NORMALIZED_AT_ONCE.get(model.device.type, largest)
        self._normalized_at_once = max(1, some // vocabulary)

    def fill(self, inputs: Mapping[str, torch.Tensor], asks: Asks, values: FloatArray) -> None:
        """Run the model on one batch, and write the requested scores in nats into `values`.

        It is run once, or on parts of the batch if memory cannot hold the whole.

        The normalization is done in float32 at least, whatever the model's dtype: a log-softmax in
        half precision is off by hundredths of a nat.

        Args:
            inputs: arguments of the model's forward pass; tensors of shape (batch, length).
            asks: the requests.
            values: array to write into, at the places of the requests.
        """
        gathered = self.gather(values)
        gathered.add(inputs, asks)
        gathered.finish()

    def gather(self, values: FloatArray) -> Gathering:
        """The same for several batches, whose rows go through the head together."""
        return Gathering(self, values)

    def keep(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> WantedRows | None:
        """Run the transformer on a batch and keep some of its rows, without the head.

        Returns:
            The kept rows; None if the model has no boundary between the two.
        """
        if not self._has_seam:
            return None
        kept = WantedRows(self.model, inputs, torch.tensor(rows, device=self.model.device))
        with torch.inference_mode(), kept.between(self._attention):
            logits = self.model(**inputs).logits
        # Otherwise the head does not read the hidden state that the hook thinned.
        self._has_seam = logits.shape[:2] == (1, 0)
        return kept if self._has_seam else None

    def read(self, logits: torch.Tensor, done: int, on_lines: Asks) -> list[Scored]:
        """The requested scores of some lines of logits, still on the device.

        Args:
            logits: logits of shape (lines, vocabulary).
            done: number of lines before these.
            on_lines: the requests, by line.
        """
        scored = []
        with torch.inference_mode():
            for few in self.few(logits):
                some = on_lines.between(done, done + len(few))
                scored.append((some.places, self._read(few, done, some.rows, some.targets)))
                done += len(few)
        return scored

    def filled(self, piece: torch.Tensor) -> torch.Tensor:
        """Rows for the head; on a GPU as many as it takes, so that scores depend on no company."""
        if piece.device.type == "cpu":
            return piece
        return torch.nn.functional.pad(piece, (0, 0, 0, self.rows_at_once - len(piece)))

    def few(self, logits: torch.Tensor) -> Iterator[torch.Tensor]:
        """Logits in pieces that are each normalized at once."""
        for start in range(0, len(logits), self._normalized_at_once):
            yield logits[start : start + self._normalized_at_once]

    def pieces(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> Iterator[torch.Tensor]:
        """Logits of the rows of a batch, in pieces; shape (some rows, vocabulary)."""
        kept = self.keep(inputs, rows)
        if kept is None:
            yield self.everywhere(inputs, rows)
            return
        for start in range(0, len(rows), self.rows_at_once):
            yield kept.logits(kept.rows[start : start + self.rows_at_once])

    def everywhere(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> torch.Tensor:
        """Logits of the rows of a batch, from a pass that computes those of all its rows."""
        with torch.inference_mode():
            logits = self.model(**inputs).logits
            chosen: torch.Tensor = logits.reshape(-1, logits.shape[-1])[
                torch.tensor(rows, device=logits.device)
            ]
        return chosen

    def _read(
        self,
        logits: torch.Tensor,
        start: int,  # noqa: ARG002  # where the logits begin among the rows, for heads that read more
        lines: IntArray,
        targets: IntArray,
    ) -> torch.Tensor:
        """The requested scores of some rows of logits, one line for each target."""
        return read_scores(logits, lines, targets, self._columns)


class Gathering:
    """The wanted rows of several batches, which go through the head together.

    A batch of masked copies has few wanted rows, and the head's matrix, often the largest of a
    model, is read from memory once per pass, however many rows there are.

    Args:
        head: the head of the model.
        values: array to write into, as for `RowHead.fill`.
    """

    def __init__(self, head: RowHead, values: FloatArray) -> None:
        self._head = head
        self._values = values
        self._last: WantedRows | None = None
        self._rows: list[torch.Tensor] = []
        self._asks: list[Asks] = []
        self._count = 0

    def add(self, inputs: Mapping[str, torch.Tensor], asks: Asks) -> None:
        """Run the transformer on a batch, or on parts of it if memory cannot hold it."""
        memory_of(self._head.model).spend(inputs, asks, self._take)

    def finish(self) -> None:
        """Write the scores of the rows that are still waiting.

        Raises:
            DoesNotFitError: memory cannot hold a single row of logits.
        """
        if self._last is None:
            return
        rows, on_lines, last = torch.cat(self._rows), joined_asks(self._asks), self._last
        self._last, self._rows, self._asks, self._count = None, [], [], 0
        scored: list[Scored] = []
        done = 0
        while done < len(rows):
            piece = rows[done : done + self._head.rows_at_once]
            if fits(partial(self._read, last, piece, done, on_lines, scored)):
                done += len(piece)
            else:
                self._head.rows_at_once = smaller(len(piece), device=rows.device)
                memory_of(self._head.model).refuse_rows(len(piece))
        self._write(scored)

    def _take(self, inputs: Mapping[str, torch.Tensor], asks: Asks) -> None:
        rows, on_lines = asks.by_line()
        kept = self._head.keep(inputs, rows)
        if kept is None:
            self._write(self._head.read(self._head.everywhere(inputs, rows), 0, on_lines))
            return
        if self._count + len(rows) > self._head.rows_at_once:
            self.finish()
        self._last = kept
        self._rows.append(kept.rows)
        self._asks.append(on_lines.later(self._count))
        self._count += len(rows)

    def _read(
        self, kept: WantedRows, piece: torch.Tensor, done: int, on_lines: Asks, scored: list[Scored]
    ) -> None:
        logits = kept.logits(self._head.filled(piece))[: len(piece)]
        scored += self._head.read(logits, done, on_lines)

    def _write(self, scored: Sequence[Scored]) -> None:
        """Write scores into the array; a GPU is waited for once, and not for each piece."""
        values = torch.cat([some for _, some in scored]).cpu().double().numpy()
        self._values[np.concatenate([places for places, _ in scored])] = values


def read_scores(
    logits: torch.Tensor, lines: IntArray, targets: IntArray, columns: Sequence[Read]
) -> torch.Tensor:
    """The log-probability of each target at its line of logits, and its columns."""
    logits = aligned(widened(logits))
    row = torch.tensor(lines, device=logits.device)
    token = torch.tensor(targets, device=logits.device)
    if columns:
        logprobs = read_columns(logits, row, token, columns)
    else:
        logprobs = logits.log_softmax(dim=1)[row, token]
    return logprobs


def aligned(logits: torch.Tensor) -> torch.Tensor:
    """Logits whose rows all begin at a multiple of 256 bytes on a GPU.

    There the order of a sum over a row depends on where the row begins. A vocabulary of odd size
    would make the last bits of a score depend on the number of the row, and so on company.
    """
    if logits.device.type == "cpu":
        return logits
    return torch.nn.functional.pad(logits, (0, -logits.shape[1] % ALIGNED), value=-torch.inf)


def widened(logits: torch.Tensor) -> torch.Tensor:
    """Logits in float32 or wider, in which they are normalized."""
    return logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits


def column_layer(column: Read) -> int | None:
    """The layer of a column; None for a column that is not of a layer."""
    return layer_of(column) if isinstance(column, str) else None
