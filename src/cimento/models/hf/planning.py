"""Scorers whose texts of several units share passes of the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.io.tables import BOUNDARY, UNIGRAM
from cimento.models.base import EncodedTexts, Encoding
from cimento.models.hf.scorer import TransformersScorer
from cimento.models.hf.shapes import Plan, by_text, carry_out, flush_fullest

if TYPE_CHECKING:
    from cimento.io.tables import Column
    from cimento.models.base import FloatArray
    from cimento.models.hf.heads import Read


class PlanningScorer(TransformersScorer):
    """A scorer whose texts of several units share passes of the model; see `Planner`."""

    @property
    def plans(self) -> bool:
        """Whether it is known before the model is asked which lines a text needs."""
        return True

    def plan(self, texts: EncodedTexts, columns: tuple[Column, ...]) -> Plan | None:
        """The lines of some texts; see `Planner`."""
        if not self.plans or BOUNDARY in columns or UNIGRAM in columns:
            return None
        return self._planned(texts, columns)

    def add(self, plan: Plan, columns: tuple[Column, ...]) -> None:
        """Put the lines of a plan into batches; see `Planner`."""
        with self._lock:
            self._reader_of(columns).add(plan)

    def flush(self) -> None:
        """Score the fullest batch that waits; see `Planner`."""
        fillings = [some for reader in self._readers.values() for some in reader.fillings]
        with self._lock:
            flush_fullest(fillings)

    def forget(self) -> None:
        """Drop what waits, after an error; see `Planner`."""
        for reader in self._readers.values():
            for filling in reader.fillings:
                filling.forget()

    @abstractmethod
    def _planned(self, texts: EncodedTexts, columns: tuple[Read, ...]) -> Plan:
        """The lines of some texts."""

    def _score(self, encoded: Sequence[Encoding], columns: tuple[Read, ...]) -> list[FloatArray]:
        texts = EncodedTexts.of(encoded)
        plan = self._planned(texts, columns)
        carry_out(self._reader_of(columns), plan)
        return by_text(texts, plan.values)
