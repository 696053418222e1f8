"""A large run by simulation: what scheduling costs beside the work, in time and memory.

Everything is real but the models: suites are read and cut, units are handed out by the driver to
workers, results are read back. A model takes the time that a real one would take, on a clock that
jumps: what is measured is how long everything else took (CPU seconds, since other programs run),
beside the time the models would have worked. A few units are really done, by a model that answers
at once: what a unit costs beside the model. Run with::

    python benchmarks/engines.py --models 50 --suites 40 --items 2000 --workers 8
"""

from __future__ import annotations

import argparse
import heapq
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from meter import resident_bytes

from cimento.api import Evaluation
from cimento.judging import Judging
from cimento.models.fake import FakeScorer
from cimento.scheduling import tasks
from cimento.scheduling.doing import do_units
from cimento.scheduling.tasks import Outcome, ShardTask, Task, Worker
from cimento.scheduling.work import plan_work
from cimento.sources import OPENERS, Asking, ScorerSource, Source
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.writers.native import write_native

TEXTS_PER_S = 400
"""Of a small model on a large GPU, or a large one on a cluster's; slower models hide more."""

LOAD_S = 20.0
MEGABYTE = 1e6


class Clock:
    """Workers whose work takes time on a clock of their own: a pool for the driver.

    Args:
        workers: how many.
        real: how many units are really done, by a model that answers at once; others are not.
    """

    def __init__(self, workers: int, *, real: int) -> None:
        self.workers: Sequence[int] = range(workers)
        self.loads: list[tuple[int, str]] = []
        self.busy_s = 0.0
        self.real_s: list[float] = []
        self._real = real
        self._free = [0.0] * workers
        self._model = [""] * workers
        self._coming: list[tuple[float, int, Outcome]] = []
        self._really = [Worker() for _ in range(workers)]

    def give(self, worker: int, task: Task) -> None:
        """Have a worker busy for as long as the task would take."""
        if not isinstance(task, ShardTask):
            raise TypeError("shards are simulated, and nothing else")
        loads = self._model[worker] != task.model
        if loads:
            self._model[worker] = task.model
            self.loads.append((worker, task.model))
        seconds = 256 / TEXTS_PER_S + loads * LOAD_S
        outcome = Outcome(loaded=loads, seconds=seconds)
        if len(self.real_s) < self._real:
            begun = time.process_time()
            outcome = self._really[worker].do(task)
            self.real_s.append(time.process_time() - begun)
        self.busy_s += seconds
        self._free[worker] += seconds
        heapq.heappush(self._coming, (self._free[worker], worker, outcome))

    def wait(self) -> list[tuple[int, Outcome | None]]:
        """Who is done next; whoever was idle meanwhile goes on from there."""
        now, worker, outcome = heapq.heappop(self._coming)
        self._free[worker] = now
        return [(worker, outcome)]

    def close(self) -> None:
        """Nothing is to be ended."""

    @property
    def elapsed_s(self) -> float:
        """When the last worker is done, on their clock."""
        return max(self._free)


class Stopwatch:
    """A function that notes the CPU seconds of every call: those of the model itself."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self.seconds: list[float] = []

    def __call__(self, *arguments: object, **named: object) -> object:
        """Call it, and note the seconds."""
        begun = time.process_time()
        try:
            return self._function(*arguments, **named)
        finally:
            self.seconds.append(time.process_time() - begun)


def open_fake(rest: str, asking: Asking) -> Source:
    """`fake:NAME`: a model of which every word costs the same."""
    inputs: dict[str, object] = {"revision": rest}
    scorer = FakeScorer(lambda _tokens, _index: -1.0, name=rest)
    return ScorerSource(f"{rest}@0", inputs, load=lambda: scorer, asking=asking)  # type: ignore[arg-type]  # plain values


def write_suites(folder: Path, *, suites: int, items: int) -> list[str]:
    """Suites of pairs; no two sentences are equal."""
    for number in range(suites):
        made = Suite(
            Meta(name=f"suite-{number}", language="it"),
            ("subject", "verb", "rest"),
            (Prediction("(2;%good%) < (2;%bad%)"),),
            tuple(
                Item(
                    str(item),
                    tuple(
                        Condition(
                            name,
                            (
                                Region(f"Le lampade {item} del corridoio {number}"),
                                Region(verb),
                                Region("accese tutta la notte."),
                            ),
                        )
                        for name, verb in (("good", "erano"), ("bad", "era"))
                    ),
                )
                for item in range(items)
            ),
        )
        write_native(made, folder / made.name)
    return [str(folder / f"suite-{number}") for number in range(suites)]


def simulate(
    folder: Path, *, models: int, suites: int, items: int, workers: int
) -> dict[str, object]:
    """One run; figures by their names."""
    paths = write_suites(folder / "suites", suites=suites, items=items)
    evaluation = Evaluation(asking=Asking(), judging=Judging(), output=folder / "runs")
    before = resident_bytes()
    begun = time.process_time()
    work = plan_work(paths, [f"fake:m{n}" for n in range(models)], evaluation, keep=False)
    planned = time.process_time() - begun
    answering = Stopwatch(tasks.ask)
    tasks.ask = answering
    clock = Clock(workers, real=100)
    done = do_units(work, lambda _number: clock)
    driven = time.process_time() - begun - planned - sum(clock.real_s)
    beside = sorted(a - b for a, b in zip(clock.real_s, answering.seconds, strict=True))
    per_unit = beside[len(beside) // 2]
    units = round((clock.busy_s - len(clock.loads) * LOAD_S) * TEXTS_PER_S / 256)
    return {
        "models": models,
        "suites": suites,
        "items": items,
        "units": units,
        "work_s": round(clock.busy_s),
        "elapsed_s": round(clock.elapsed_s),
        "planning_s": round(planned, 1),
        "driving_s": round(driven, 1),
        "unit_ms": round(1000 * per_unit, 1),
        "overhead_%": round(100 * (planned + driven + units * per_unit) / clock.busy_s, 2),
        "driver_%": round(100 * (planned + driven) / clock.elapsed_s, 2),
        "idle_%": round(100 * (1 - clock.busy_s / workers / clock.elapsed_s), 2),
        "loads": len(clock.loads),
        "loads_per_model_and_worker": len(clock.loads) / len(set(clock.loads)),
        "failed": len(done.failed),
        "driver_MB": round((resident_bytes("VmHWM") - before) / MEGABYTE),
    }


def main() -> None:
    """Print the figures of a simulated run as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("models", 50), ("suites", 40), ("items", 2000), ("workers", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    OPENERS["fake"] = open_fake
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(simulate(Path(folder), **vars(given)), indent=2))


if __name__ == "__main__":
    main()
