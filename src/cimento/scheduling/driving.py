"""The driver: units to workers until all are done or cannot be."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from cimento.engine.queue import PullQueue
from cimento.errors import StorageError
from cimento.scheduling.pools import Pool
from cimento.scheduling.tasks import Outcome, Task, Trouble

Told = Callable[[int, Outcome], None]
"""Called with the number of every task that is done, and what came of it."""


@dataclass(slots=True)
class Driven:
    """What came of some tasks.

    Attributes:
        troubles: why tasks could not be done, by their numbers.
        loads: worker and model of every time that a model was loaded.
        worked_s: seconds that workers worked, loading included.
    """

    troubles: dict[int, Trouble] = field(default_factory=dict)
    loads: list[tuple[int, str]] = field(default_factory=list)
    worked_s: float = 0.0

    def note(self, worker: int, number: int, task: Task, outcome: Outcome) -> None:
        """Write down what became of a task.

        Raises:
            StorageError: a worker could not write: nothing would be kept.
        """
        self.worked_s += outcome.seconds
        if outcome.loaded:
            self.loads.append((worker, task.model))
        if outcome.trouble is not None:
            error = outcome.trouble.error()
            if isinstance(error, StorageError):
                raise error
            self.troubles[number] = outcome.trouble


def drive(
    tasks: Sequence[tuple[str, Task]],
    pool: Pool,
    *,
    alone: Container[str] = frozenset(),
    told: Told | None = None,
) -> Driven:
    """Have workers do tasks.

    Args:
        tasks: key of a model and task, in order.
        pool: the workers; not closed.
        alone: keys of models that one worker at a time works with.
        told: told of every task that is done.

    Raises:
        StorageError: a worker could not write: nothing would be kept.
    """
    driven = Driven()
    queue = PullQueue(((key, number) for number, (key, _) in enumerate(tasks)), alone=alone)
    given: dict[int, tuple[str, int]] = {}
    while True:
        for worker in pool.workers:
            if worker not in given and (pulled := queue.next(worker)) is not None:
                given[worker] = pulled
                pool.give(worker, tasks[pulled[1]][1])
        if not given:
            return driven
        for worker, outcome in pool.wait():
            key, number = given.pop(worker)
            task = tasks[number][1]
            if outcome is None:
                if not queue.again(worker, key, number):
                    driven.troubles[number] = _died(task)
                continue
            driven.note(worker, number, task, outcome)
            if outcome.trouble is None and told is not None:
                told(number, outcome)
            if outcome.trouble is not None and outcome.trouble.whole_model:
                driven.troubles.update(dict.fromkeys(queue.drop(key), outcome.trouble))


def _died(task: Task) -> Trouble:
    return Trouble(
        kind="ModelError",
        where=f"model {task.model!r}",
        seen="the process that asked it ended three times over the same texts",
        todo="Was there too little memory? Try a small --batch-size or fewer --workers.",
        died=True,
    )
