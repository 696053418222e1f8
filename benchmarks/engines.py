"""A large run by simulation: what the engine costs beside the work, in time and memory.

Everything is real but the models, which answer at once: suites are read, their requests cut into
units, units done and written, answers put together, runs judged and stored. A model takes the time
that a real one would take on a clock that jumps: what is measured is how long everything else took
(CPU seconds, since other programs run), beside the time the models would have worked. With
``--memory`` suites are run by a driver and one worker, to see what they need. Run with::

    python benchmarks/engines.py --models 4 --suites 6 --items 2000 --workers 8
    python benchmarks/engines.py --memory --models 1 --suites 1 --items 2000
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from meter import resident_bytes

from cimento.engine.cache import FileCache
from cimento.engine.engines import Engine
from cimento.engine.processes import Processes
from cimento.engine.workers import TaskOutcome, UnitTask, Worker
from cimento.evaluation import run_all
from cimento.evaluation.job import SuiteJob
from cimento.io.files import default_cache_folder
from cimento.kinds.registry import load_suites
from cimento.kinds.run import Run
from cimento.models.registry import OPENERS, ScorerSource, Source
from cimento.models.settings import Asking
from cimento.options import RunOptions
from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.formats.native import write_native
from cimento.testing.models import FakeScorer

TEXTS_PER_S = 400
"""Of a small model on a large GPU, or a large one on a cluster's; slower models hide more."""

LOAD_S = 20.0
MEGABYTE = 1e6


class Clock:
    """Workers whose work takes time on a clock of their own: a pool for the driver.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self.workers: Sequence[int] = range(workers)
        self.loads: list[tuple[int, str]] = []
        self.busy_s = 0.0
        self.unit_s: list[float] = []
        self._free = [0.0] * workers
        self._model = [""] * workers
        self._coming: list[tuple[float, int, TaskOutcome]] = []
        self._really = [Worker() for _ in range(workers)]

    def give(self, worker: int, task: UnitTask) -> None:
        """Have a worker busy for as long as the task would take."""
        loads = self._model[worker] != task.model
        if loads:
            self._model[worker] = task.model
            self.loads.append((worker, task.model))
        seconds = len(task.unit.requests) / TEXTS_PER_S + loads * LOAD_S
        # Of this thread: runs are judged in others meanwhile.
        begun = time.thread_time()
        outcome = self._really[worker].do(task)
        self.unit_s.append(time.thread_time() - begun)
        if outcome.error is not None:
            raise outcome.error.error()
        self.busy_s += seconds
        self._free[worker] += seconds
        heapq.heappush(self._coming, (self._free[worker], worker, outcome))

    def wait(self) -> list[tuple[int, TaskOutcome | None]]:
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


class Simulated(Engine):
    """An engine whose workers are on a clock of their own."""

    @contextmanager
    def opened(self, most, *, device, here):  # noqa: ANN001, ANN201, ARG002  # as of `Engine`
        """The workers."""
        yield CLOCK[0]


CLOCK: list[Clock] = []


def open_fake(rest: str, asking: Asking) -> Source:
    """`fake:NAME`: a model of which every word costs about the same."""
    inputs: dict[str, object] = {"revision": rest}
    scorer = FakeScorer(lambda tokens, index: -1.0 - len(tokens[index]) / 64, name=rest)
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


def watched_finish() -> list[float]:
    """Have the CPU seconds noted that judging and storing runs take, which every run costs."""
    spent: list[float] = []
    finish = SuiteJob.finish

    def finishing(self: SuiteJob, answers: object) -> Run:
        begun = time.thread_time()
        try:
            return finish(self, answers)  # type: ignore[arg-type]  # as it is called
        finally:
            spent.append(time.thread_time() - begun)

    SuiteJob.finish = finishing  # type: ignore[method-assign]  # to watch it
    return spent


def simulate(
    folder: Path, *, models: int, suites: int, items: int, workers: int
) -> dict[str, object]:
    """One run; figures by their names."""
    paths = write_suites(folder / "suites", suites=suites, items=items)
    os.environ["CIMENTO_CACHE_DIR"] = str(folder / "cache")
    before = resident_bytes()
    judging = watched_finish()
    clock = Clock(workers)
    CLOCK[:] = [clock]
    begun = time.process_time()
    loaded = list(load_suites(paths))
    read = time.process_time() - begun
    cache = FileCache(default_cache_folder())
    options = RunOptions(output=folder / "runs")
    names = [f"fake:m{number}" for number in range(models)]
    runs = list(run_all(loaded, names, options, cache=cache, engine=Simulated(workers=workers)))
    cache.close()
    driver = time.process_time() - begun - sum(clock.unit_s) - sum(judging)
    overhead = driver + sum(clock.unit_s)
    return {
        "models": models,
        "suites": suites,
        "items": items,
        "units": len(clock.unit_s),
        "runs": sum(isinstance(run, Run) for run in runs),
        "work_s": round(clock.busy_s),
        "elapsed_s": round(clock.elapsed_s),
        "reading_s": round(read, 1),
        "driver_s": round(driver, 1),
        "unit_ms": round(1000 * median(clock.unit_s), 1),
        "judging_ms": round(1000 * median(judging), 1),
        "overhead_%": round(100 * overhead / clock.busy_s, 2),
        "judging_%": round(100 * sum(judging) / clock.busy_s, 2),
        "loads": len(clock.loads),
        "loads_per_model_and_worker": len(clock.loads) / len(set(clock.loads)),
        "driver_MB": round((resident_bytes("VmHWM") - before) / MEGABYTE),
    }


def memory(folder: Path, *, models: int, suites: int, items: int) -> dict[str, object]:
    """The largest memory of a driver and of a worker."""
    # Written elsewhere: what the suites need while they are made is not what is measured.
    with ProcessPoolExecutor(1) as other:
        paths = other.submit(write_suites, folder / "suites", suites=suites, items=items).result()
    pool = Processes(1)
    [worker] = pool.process_ids()
    CLOCK[:] = [pool]  # type: ignore[list-item]  # a pool as well
    try:
        names = [f"fake:m{number}" for number in range(models)]
        options = RunOptions(output=folder / "runs")
        runs = list(
            run_all(
                list(load_suites(paths)), names, options, cache=None, engine=Simulated(workers=2)
            )
        )
        peak = peak_of(worker)
    finally:
        pool.close()
    return {
        "models": models,
        "suites": suites,
        "items": items,
        "runs": sum(isinstance(run, Run) for run in runs),
        "worker_MB": round(peak / MEGABYTE),
        "driver_MB": round(resident_bytes("VmHWM") / MEGABYTE),
    }


def peak_of(process: int) -> int:
    """The largest resident memory of a process so far, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


# Workers import this file too.
OPENERS["fake"] = open_fake


def main() -> None:
    """Print the figures of a simulated run as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("models", 4), ("suites", 6), ("items", 2000), ("workers", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--memory", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.memory:
            figures = memory(
                Path(folder), models=given.models, suites=given.suites, items=given.items
            )
        else:
            figures = simulate(
                Path(folder),
                models=given.models,
                suites=given.suites,
                items=given.items,
                workers=given.workers,
            )
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
