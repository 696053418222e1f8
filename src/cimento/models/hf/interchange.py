"""Interchanges: texts scored while hidden states of other texts are at some of their places.

A text (the base) is passed through the model while, at one layer and at the tokens of one region,
the hidden states are those that another text (the source) has there; everything above is computed
from the mixture by the model itself (Vig et al. 2020, "Investigating gender bias in language models
using causal mediation analysis"; Geiger et al. 2021, doi:10.48550/arXiv.2106.02997; Finlayson et
al. 2021, doi:10.18653/v1/2021.acl-long.144). No architecture is rebuilt: modules of the model are
found by running it, states are read and replaced at their borders, and layers below the interchange
are left out, because there everything is as in the base.

Before its first use, a model proves that an interchange with itself changes nothing, and that one
at all positions gives the scores of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.hf.batches import Trial, asks_of, batches
from cimento.models.hf.heads import RowHead, WantedRows
from cimento.models.hf.layout import largest_difference, tolerance_nats
from cimento.models.hf.sites import Sites, Swap
from cimento.models.questions import Part, Patch, PatchedScores

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import Encoding, FloatArray
    from cimento.models.hf.batches import IntArray
    from cimento.models.hf.scorer import TransformersScorer
    from cimento.models.settings import BatchLimits

States: TypeAlias = "Mapping[tuple[Part, int], torch.Tensor]"
"""The states of a sequence by part and layer, of shape (length, width)."""

ROW_NUMBERS = "lines"
"""Key of the inputs of a pass: the number of each row in its batch."""


@dataclass(frozen=True, slots=True)
class _Cell:
    """One row of a pass: a trial with an interchange at one layer.

    Attributes:
        trial: the trial.
        layer: the layer, from 0, the input of the first one.
        head: the head; None for all.
        slot: the place of the scores of the first measured token.
    """

    trial: Trial
    layer: int
    head: int | None
    slot: int


class _SwappingHead(RowHead):
    """The head of a model whose passes are changed.

    Args:
        model: in evaluation mode, on its device.
        sites: where they are changed.
        thin: whether only chosen rows go through the head.
    """

    def __init__(self, model: PreTrainedModel, sites: Sites, *, thin: bool) -> None:
        super().__init__(model, thin="head" if thin else "nowhere")
        self._sites = sites
        self.swap_of: Callable[[Sequence[int], int], Swap] | None = None

    def keep(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> WantedRows | None:
        """The kept rows of a changed pass; see `RowHead.keep`."""
        with self._changing(inputs) as plain:
            return super().keep(plain, rows)

    def everywhere(self, inputs: Mapping[str, torch.Tensor], rows: IntArray) -> torch.Tensor:
        """The logits of a changed pass; see `RowHead.everywhere`."""
        with self._changing(inputs) as plain:
            return super().everywhere(plain, rows)

    @contextmanager
    def _changing(self, inputs: Mapping[str, torch.Tensor]) -> Iterator[dict[str, torch.Tensor]]:
        """A context in which the pass is changed, with the inputs that the model takes."""
        plain = {name: value for name, value in inputs.items() if name != ROW_NUMBERS}
        if self.swap_of is None:
            yield plain
            return
        lines = inputs[ROW_NUMBERS].tolist()
        with self._sites.swapping(self.swap_of(lines, inputs["input_ids"].shape[1])):
            yield plain


class Interchange:
    """A model whose hidden states can be exchanged; see `cimento.models.questions.Patcher`.

    Args:
        scorer: the scorer of the model.
        limits: the limits of a batch.

    Raises:
        ModelError: the model does not pass the proofs.
    """

    def __init__(self, scorer: TransformersScorer, *, limits: BatchLimits) -> None:
        self._scorer = scorer
        self._model, self._layout = scorer.bench()
        self._limits = limits
        self._sites = Sites(self._model)
        self._head = _SwappingHead(self._model, self._sites, thin=self._layout.thin != "nowhere")
        self._proven: set[Part] = set()

    @property
    def layers(self) -> int:
        """The number of layers."""
        return self._sites.count

    def patch(self, asks: Sequence[Patch]) -> Iterator[tuple[int, PatchedScores]]:
        """The scores under interchanges; see `Patcher`."""
        for part in dict.fromkeys(ask.part for ask in asks):
            numbers = [number for number, ask in enumerate(asks) if ask.part == part]
            self._prove(part)
            answers = self._patched([asks[number] for number in numbers], part)
            yield from zip(numbers, answers, strict=True)

    def _patched(self, asks: Sequence[Patch], part: Part) -> list[PatchedScores]:
        bases = self._scorer.encode([ask.base for ask in asks])
        sources = self._scorer.encode([ask.source for ask in asks])
        masked = self._scorer.card.kind == "masked"
        plans = []
        for ask, base, source in zip(asks, bases, sources, strict=True):
            alignment, moved = aligned_tokens(ask, base, source, masked=masked)
            trials = self._scorer.trials(base, source, moved) if moved else []
            plans.append((alignment if trials else "", base, trials))
        places = list(self._places(part))
        cells, starts = [], []
        slots = 0
        for _, base, trials in plans:
            starts.append(slots)
            for layer, head in places if trials else ():
                cells += [_Cell(trial, layer, head, slots) for trial in trials]
                slots += len(base.wanted)
        values = self._values(cells, part, slots)
        return [
            _scores(alignment, base, places if trials else (), values[start:])
            for (alignment, base, trials), start in zip(plans, starts, strict=True)
        ]

    def _places(self, part: Part) -> Iterator[tuple[int, int | None]]:
        """Every layer, and every head of it if heads are exchanged."""
        for layer in range(0 if part == "residual" else 1, self.layers + 1):
            for head in range(self._sites.heads) if part == "heads" else (None,):
                yield layer, head

    def _values(self, cells: Sequence[_Cell], part: Part, slots: int) -> FloatArray:
        """The log-probabilities of the measured tokens of all cells."""
        values: FloatArray = np.full(slots, np.nan)
        cells = _merged(cells)
        states = self._states(list(dict.fromkeys(cell.trial for cell in cells)), part)
        groups: dict[tuple[tuple[int, ...], int], list[_Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.trial.around, cell.layer), []).append(cell)
        with self._sites.opened():
            gathered = self._head.gather(values)
            for (around, layer), some in groups.items():
                lengths = [len(cell.trial.ids) for cell in some]
                for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
                    chosen = [some[number] for number in batch]
                    self._head.swap_of = partial(self._swap, chosen, states, part, layer)
                    inputs = self._scorer.batch([cell.trial.ids for cell in chosen], around)
                    lines = torch.arange(len(chosen), device=self._model.device)
                    asks = asks_of(((cell.trial, cell.slot) for cell in chosen), inputs)
                    gathered.add({**inputs, ROW_NUMBERS: lines}, asks)
            # The rows that wait go through the head alone, where nothing is exchanged.
            self._head.swap_of = None
            gathered.finish()
        return values

    def _states(self, trials: Sequence[Trial], part: Part) -> dict[tuple[Any, ...], States]:
        """The states of all bases and sources, by what the encoder reads and by sequence."""
        wanted: dict[tuple[int, ...], dict[tuple[int, ...], None]] = {}
        for trial in trials:
            wanted.setdefault(trial.around, {}).update({trial.ids: None, trial.source: None})
        states: dict[tuple[Any, ...], States] = {}
        with self._sites.opened(), torch.inference_mode():
            for around, sequences in wanted.items():
                listed = list(sequences)
                lengths = [len(ids) for ids in listed]
                for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
                    some = [listed[number] for number in batch]
                    with self._sites.recording() as kept:
                        self._model(**self._scorer.batch(some, around))
                    for line, ids in enumerate(some):
                        states[around, ids] = {
                            key: states.view(len(some), -1, states.shape[-1])[line, : len(ids)]
                            for key, states in kept.items()
                            if key[0] in ("residual", part)
                        }
        return states

    def _swap(
        self,
        cells: Sequence[_Cell],
        states: Mapping[tuple[Any, ...], States],
        part: Part,
        layer: int,
        lines: Sequence[int],
        width: int,
    ) -> Swap:
        """What is exchanged in some rows of a batch."""
        begin = layer if part == "residual" else layer - 1
        rows: list[torch.Tensor] = []
        changes = []
        for row, line in enumerate(lines):
            cell = cells[line]
            trial = cell.trial
            base = states[trial.around, trial.ids]["residual", begin]
            other = states[trial.around, trial.source][part, layer]
            start = base.new_zeros((width, base.shape[-1]))
            start[: len(base)] = base
            channels = self._channels(cell.head, other.shape[-1])
            for position, from_position in trial.moved:
                changes.append((row, position, channels, other[from_position]))
                if part == "residual":
                    start[position] = other[from_position]
            rows.append(start)
        return Swap(part, layer, torch.stack(rows), begin, tuple(changes))

    def _channels(self, head: int | None, width: int) -> slice:
        if head is None:
            return slice(0, width)
        size = width // self._sites.heads
        return slice(head * size, (head + 1) * size)

    def _prove(self, part: Part) -> None:
        """Check that exchanging nothing changes nothing, and exchanging everything everything.

        Raises:
            ModelError: one of the two does not hold.
            UsageError: the layers have no such part.
        """
        if part in self._proven:
            return
        self._sites.require(part)
        short, long = self._scorer.probes()
        size = min(len(short), len(long) // 2)
        asks = tuple((position, token, position) for position, token in enumerate(long[:size]))
        pairs = tuple((position, position) for position in range(size))
        same = Trial(ids=long[:size], source=long[:size], moved=pairs, asks=asks)
        full = replace(same, source=long[-size:])
        nothing = replace(same, moved=())
        as_other = replace(nothing, ids=full.source, source=full.source)
        plain, expected = self._rows([nothing, as_other], [self.layers], "residual", size)
        layers = range(0 if part == "residual" else 1, self.layers + 1)
        unchanged, other = np.split(self._rows([same, full], layers, part, size), 2)
        worst = max(largest_difference(plain, row) for row in unchanged)
        self._refuse(worst, "exchanging a text's states with its own changes its scores")
        if part == "residual":
            worst = max(largest_difference(expected, row) for row in other)
            self._refuse(worst, "exchanging all states does not give the scores of the other text")
        if part == "heads":
            whole = self._rows([full], layers, "attention", size)
            worst = max(map(largest_difference, whole, other))
            self._refuse(worst, "all heads together are not what the attention adds")
        self._proven.add(part)

    def _rows(
        self, trials: Sequence[Trial], layers: Sequence[int], part: Part, size: int
    ) -> FloatArray:
        """The scores of trials at some layers; a row for each, trial by trial."""
        places = [(trial, layer) for trial in trials for layer in layers]
        cells = [
            _Cell(trial, layer, None, number * size) for number, (trial, layer) in enumerate(places)
        ]
        return self._values(cells, part, size * len(cells)).reshape(len(cells), size)

    def _refuse(self, difference_nats: float, seen: str) -> None:
        if difference_nats > tolerance_nats(self._model):
            raise ModelError(
                where=f"model of class {type(self._model).__name__}",
                seen=f"{seen} (by up to {difference_nats:.2g} nats)",
                todo="Its layers cannot be exchanged one by one; please report it.",
            )


def aligned_tokens(
    ask: Patch, base: Encoding, source: Encoding, *, masked: bool
) -> tuple[str, list[tuple[int, int]]]:
    """The pairs of tokens that are exchanged, and how they were found; see `PatchedScores`.

    Tokens from the last measured one on are not fed to a model that reads from left to right, and
    could change nothing.

    Args:
        ask: the request.
        base: its base.
        source: its source.
        masked: whether the model reads the whole text.
    """
    of_base, other = _inside(base, ask.place), _inside(source, ask.source_place)
    same = len(of_base) == len(other)
    end = len(base.ids) if masked else max(base.wanted, default=0)
    unfed = sum(index >= end for index in of_base)
    of_base, other = of_base[: len(of_base) - unfed], other[: max(0, len(other) - unfed)]
    if not of_base or not other:
        return "", []
    if not same or (ask.last and len(of_base) > 1):
        return "last token", [(of_base[-1], other[-1])]
    pairs = list(zip(of_base, other, strict=True))
    there = all(i - base.first == j - source.first for i, j in pairs)
    return "exact" if there else "shifted", pairs


def _inside(text: Encoding, place: tuple[int, int]) -> list[int]:
    """The tokens that begin in a part of a text."""
    return [i for i, (start, _) in enumerate(text.spans) if place[0] <= start < place[1]]


def _merged(cells: Sequence[_Cell]) -> list[_Cell]:
    """Cells in which the same sequences go through the model, as one that reads what all read.

    Two verbs after the same words, as in *The owner lives* and *The owner live*, need one pass.
    """
    groups: dict[tuple[object, ...], list[_Cell]] = {}
    for cell in cells:
        key = (replace(cell.trial, asks=()), cell.layer, cell.head)
        groups.setdefault(key, []).append(cell)
    merged = []
    for some in groups.values():
        asks = [
            (position, token, cell.slot + slot)
            for cell in some
            for position, token, slot in cell.trial.asks
        ]
        merged.append(replace(some[0], trial=replace(some[0].trial, asks=tuple(asks)), slot=0))
    return merged


def _scores(
    alignment: str,
    base: Encoding,
    places: Sequence[tuple[int, int | None]],
    values: FloatArray,
) -> PatchedScores:
    """The scores of one request."""
    wanted = len(base.wanted)
    cells = []
    for number, (layer, head) in enumerate(places):
        head_values = values[number * wanted : (number + 1) * wanted].tolist()
        cells.append(
            (layer, head, tuple(None if np.isnan(value) else value for value in head_values))
        )
    tokens = tuple((index - base.first, *base.spans[index]) for index in base.wanted)
    return PatchedScores(alignment=alignment, tokens=tokens, cells=tuple(cells))
