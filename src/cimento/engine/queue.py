"""Which worker does which unit next: whoever has a model loaded does its units first."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Hashable, Iterable
from typing import Generic, TypeVar

U = TypeVar("U")

_ATTEMPTS = 3


class PullQueue(Generic[U]):
    """Units that wait, by model; workers pull them.

    A worker goes on with the model that it has loaded. Then it takes a model that nobody has, in
    the order given; then it helps where most units wait, but never with a model that it has had:
    so a worker loads a model once at most. A unit whose worker died is given out again, to whoever
    comes first.

    Args:
        units: model and unit, in order.
        alone: models that one worker at a time works with.
    """

    def __init__(
        self, units: Iterable[tuple[str, U]], *, alone: Container[str] = frozenset()
    ) -> None:
        self._waiting: dict[str, deque[U]] = {}
        self._alone = alone
        self._holds: dict[int, str] = {}
        self._had: dict[int, set[str]] = {}
        self._attempts: dict[Hashable, int] = {}
        for model, unit in units:
            self.add(model, unit)

    def add(self, model: str, unit: U) -> None:
        """One unit more."""
        self._waiting.setdefault(model, deque()).append(unit)

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def next(self, worker: int) -> tuple[str, U] | None:
        """The next unit for a worker, with its model; None where there is none for it now."""
        model = self._choose(worker)
        if model is None:
            self._holds.pop(worker, None)
            return None
        self._holds[worker] = model
        self._had.setdefault(worker, set()).add(model)
        return model, self._waiting[model].popleft()

    def again(self, worker: int, model: str, unit: U) -> bool:
        """Have a unit done again whose worker died; False where that happened too often.

        Args:
            worker: who died; whoever takes its place has loaded nothing.
            model: the unit's model.
            unit: the unit, which must be hashable.
        """
        self._holds.pop(worker, None)
        self._had.pop(worker, None)
        attempts = self._attempts.get((model, unit), 1)
        if attempts >= _ATTEMPTS:
            return False
        self._attempts[(model, unit)] = attempts + 1
        self._waiting.setdefault(model, deque()).appendleft(unit)
        return True

    def drop(self, model: str) -> list[U]:
        """Take away all units of a model that cannot be used."""
        return list(self._waiting.pop(model, ()))

    def _choose(self, worker: int) -> str | None:
        waiting = {model: len(units) for model, units in self._waiting.items() if units}
        held = self._holds.get(worker)
        if held in waiting:
            return held
        others = {model for other, model in self._holds.items() if other != worker}
        free = [model for model in waiting if model not in others]
        had = self._had.get(worker, set())
        fresh = [model for model in free if model not in had]
        if fresh or (free and not others):
            return (fresh or free)[0]
        helped = [m for m in waiting if m in others and m not in had and m not in self._alone]
        most = max(helped, key=waiting.__getitem__, default=None)
        return most or (free[0] if free else None)
