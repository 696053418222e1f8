"""Log-probabilities at chosen positions, without computing the others.

The language-model head costs as much as the transformer itself where vocabularies are large, and
most positions of a masked model's pass are not asked for. The head gets the wanted rows only, those
of several batches together; `seam` says how.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import torch

from cimento.models.asks import Asks, joined
from cimento.models.columns import Read, read_columns
from cimento.models.memory import fits, memory_of, smaller
from cimento.models.seam import Kept, last_attention

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.asks import IntArray
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
        self.model = model
        self._columns = columns
        self._attention = last_attention(model) if thin == "last attention" else None
        if thin == "last attention" and self._attention is None:
            raise ValueError("there is no such module")
        # A model that is its own base has no seam between transformer and head.
        self._has_seam = thin != "nowhere" and model.base_model is not model
        vocabulary = model.config.get_text_config().vocab_size
        largest = MAX_LOGITS.get(model.device.type, MAX_LOGITS_ELSEWHERE)
        self.rows_at_once = max(1, largest // vocabulary)
        some = NORMALISED_AT_ONCE.get(model.device.type, largest)
        self._normalised_at_once = max(1, some // vocabulary)

    def fill(self, inputs: Mapping[str, torch.Tensor], asks: Asks, values: FloatArray) -> None:
        """Run the model on one batch and put what was asked into `values`, in nats.

        It is run once, or on parts of the batch where memory does not hold the whole.

        The normalisation is done in float32 at least, whatever the model's dtype: a log-softmax
        in half precision is off by hundredths of a nat.

        Args:
            inputs: arguments of the model's forward pass; tensors of shape (batch, length).
            asks: what is wanted.
            values: array to write into, at the places that are asked.
        """
        gathered = self.gather(values)
        gathered.add(inputs, asks)
        gathered.finish()

    def gather(self, values: FloatArray) -> Gathering:
        """The same for several batches, whose rows the head takes together."""
        return Gathering(self, values)

    def keep(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> Kept | None:
        """Run the transformer on a batch and keep some of its rows; the head is given none.

        Returns:
            None where the model has no seam between the two.
        """
        if not self._has_seam:
            return None
        kept = Kept(self.model, inputs, torch.tensor(rows, device=self.model.device))
        with torch.inference_mode(), kept.between(self._attention):
            logits = self.model(**inputs).logits
        # Else the head does not read the hidden state that the hook thinned out.
        self._has_seam = logits.shape[:2] == (1, 0)
        return kept if self._has_seam else None

    def write(self, logits: torch.Tensor, done: int, on_lines: Asks, values: FloatArray) -> None:
        """Put what is asked of some lines of logits into `values`.

        Args:
            logits: shape (lines, vocabulary).
            done: how many lines went before.
            on_lines: what is asked, by line.
            values: array to write into.
        """
        with torch.inference_mode():
            for few in self.few(logits):
                some = on_lines.between(done, done + len(few))
                values[some.places] = self._read(few, done, some.rows, some.targets)
                done += len(few)

    def few(self, logits: torch.Tensor) -> Iterator[torch.Tensor]:
        """Logits in pieces that are normalised at once."""
        for start in range(0, len(logits), self._normalised_at_once):
            yield logits[start : start + self._normalised_at_once]

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
    ) -> FloatArray:
        """What is wanted of some rows of logits, one line for each target."""
        return read_scores(logits, lines, targets, self._columns)


class Gathering:
    """The wanted rows of several batches, which wait until the head takes them together.

    A batch of masked copies has few of them, and the head's matrix, often the largest of a model,
    is read from memory once, however many rows there are.

    Args:
        head: of the model.
        values: array to write into, as for `RowHead.fill`.
    """

    def __init__(self, head: RowHead, values: FloatArray) -> None:
        self._head = head
        self._values = values
        self._last: Kept | None = None
        self._rows: list[torch.Tensor] = []
        self._asks: list[Asks] = []
        self._count = 0

    def add(self, inputs: Mapping[str, torch.Tensor], asks: Asks) -> None:
        """Run the transformer on a batch, or on parts of it where memory does not hold it."""
        memory_of(self._head.model).spend(inputs, asks, self._take)

    def finish(self) -> None:
        """Put what still waits into the values.

        Raises:
            DoesNotFitError: memory does not hold one row of logits.
        """
        if self._last is None:
            return
        rows, on_lines, last = torch.cat(self._rows), joined(self._asks), self._last
        self._last, self._rows, self._asks, self._count = None, [], [], 0
        done = 0
        while done < len(rows):
            piece = rows[done : done + self._head.rows_at_once]
            if fits(partial(self._write, last, piece, done, on_lines)):
                done += len(piece)
            else:
                self._head.rows_at_once = smaller(len(piece), device=rows.device)

    def _take(self, inputs: Mapping[str, torch.Tensor], asks: Asks) -> None:
        rows, on_lines = asks.by_line()
        kept = self._head.keep(inputs, rows)
        if kept is None:
            self._head.write(self._head.everywhere(inputs, rows), 0, on_lines, self._values)
            return
        if self._count + len(rows) > self._head.rows_at_once:
            self.finish()
        self._last = kept
        self._rows.append(kept.rows)
        self._asks.append(on_lines.later(self._count))
        self._count += len(rows)

    def _write(self, kept: Kept, piece: torch.Tensor, done: int, on_lines: Asks) -> None:
        self._head.write(kept.logits(piece), done, on_lines, self._values)


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
