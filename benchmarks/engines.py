"""A large run by simulation: what scheduling costs beside the work, in time and memory.

Everything is real but the models: suites are read and cut, units are handed out by the driver to
workers, runs are put together and judged. A model takes the time that a real one would take, on a
clock that jumps: what is measured is how long everything else took (CPU seconds, since other
programs run), beside the time the models would have worked. The units of a few models and
suites are really done, by a model that answers at once, and their runs really put together: what a
unit and a run cost beside the model. Judging and storing a run, which every run costs however it is
made, is told apart. With ``--memory`` suites are run by a driver and one worker, to see what they
need. Run with::

    python benchmarks/engines.py --models 50 --suites 40 --items 2000 --workers 8
    python benchmarks/engines.py --memory --models 1 --suites 1 --items 2000
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from meter import resident_bytes

from cimento.engine.cache import FileCache, default_cache_folder
from cimento.judging import Judging
from cimento.models.fake import FakeScorer
from cimento.regions_api import Evaluation, Named
from cimento.results import Run
from cimento.scheduling import tasks
from cimento.scheduling.doing import do_units, to_do
from cimento.scheduling.joining import Finished, JoinTask, Telling
from cimento.scheduling.merging import finish, keep_answers
from cimento.scheduling.pools import Processes
from cimento.scheduling.tasks import Outcome, ShardTask, Task, Worker
from cimento.scheduling.work import Work, plan_work
from cimento.sources import OPENERS, Answered, Asking, ScorerSource, Source
from cimento.suites.load import LoadedSuite
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.writers.native import write_native

TEXTS_PER_S = 400
"""Of a small model on a large GPU, or a large one on a cluster's; slower models hide more."""

LOAD_S = 20.0
MEGABYTE = 1e6
MODELS, SUITES = 4, 6
"""So many models are really asked so many suites, and these runs really put together."""


class Clock:
    """Workers whose work takes time on a clock of their own: a pool for the driver."""

    def __init__(self, workers: int, work: Work) -> None:
        self.workers: Sequence[int] = range(workers)
        self.loads: list[tuple[int, str]] = []
        self.busy_s = 0.0
        self.unit_s: list[float] = []
        self.joined: list[tuple[str, float]] = []
        self._free = [0.0] * workers
        self._model = [""] * workers
        self._coming: list[tuple[float, int, Outcome]] = []
        self._really = [Worker() for _ in range(workers)]
        self._models = {asked.digest for asked in work.models[:MODELS]}
        self._shards = {digest for part in work.parts[:SUITES] for digest in part.needed}
        self._finished: Finished | None = None

    def give(self, worker: int, task: Task) -> None:
        """Have a worker busy for as long as the task would take."""
        if isinstance(task, JoinTask):
            outcome, seconds = self._join(worker, task), 0.0
        elif isinstance(task, ShardTask):
            outcome, seconds = self._unit(worker, task)
        else:
            raise TypeError("nothing is asked whole here")
        self.busy_s += seconds
        self._free[worker] += seconds
        heapq.heappush(self._coming, (self._free[worker], worker, outcome))

    def _unit(self, worker: int, task: ShardTask) -> tuple[Outcome, float]:
        loads = self._model[worker] != task.model
        if loads:
            self._model[worker] = task.model
            self.loads.append((worker, task.model))
        seconds = 256 / TEXTS_PER_S + loads * LOAD_S
        if task.digest not in self._models or task.shard not in self._shards:
            return Outcome(loaded=loads, seconds=seconds), seconds
        outcome, spent = self._do(worker, task)
        self.unit_s.append(spent)
        return outcome, seconds

    def _join(self, worker: int, task: JoinTask) -> Outcome:
        """Real ones are put together; others are copies of a real one, of the same size."""
        if task.digest in self._models and self._shards.issuperset(task.shards):
            outcome, spent = self._do(worker, task)
            self.joined.append((task.copy, spent))
            if isinstance(outcome.returned, Finished):
                self._finished = outcome.returned
            return outcome
        return Outcome(returned=copied(self._finished))

    def _do(self, worker: int, task: Task) -> tuple[Outcome, float]:
        begun = time.process_time()
        outcome = self._really[worker].do(task)
        if outcome.trouble is not None:
            raise outcome.trouble.error()
        return outcome, time.process_time() - begun

    def wait(self) -> list[tuple[int, Outcome | None]]:
        """Who is done next; whoever was idle meanwhile goes on from there."""
        now, worker, outcome = heapq.heappop(self._coming)
        self._free[worker] = now
        return [(worker, outcome)]

    def close(self) -> None:
        """Nothing is to be ended."""

    @property
    def real_s(self) -> float:
        """What was really done in this process, and would be by workers."""
        return sum(self.unit_s) + sum(spent for _, spent in self.joined)

    @property
    def elapsed_s(self) -> float:
        """When the last worker is done, on their clock."""
        return max(self._free)


def copied(finished: Finished | None) -> Finished:
    """A record as another process would send it."""
    import pickle

    if finished is None:
        raise ValueError("the first models are put together first")
    return pickle.loads(pickle.dumps(finished))  # noqa: S301  # what was packed just now


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


def watched_ask() -> Stopwatch:
    """Have the CPU seconds noted that models take, fast as they are."""
    watch = Stopwatch(tasks.ask)
    tasks.ask = watch  # type: ignore[assignment]  # the same function
    return watch


def cache_below(folder: Path) -> FileCache:
    """A cache of its own, which workers use too."""
    os.environ["CIMENTO_CACHE_DIR"] = str(folder / "cache")
    return FileCache(default_cache_folder())


def watched_finish() -> list[float]:
    """Have the CPU seconds noted that judging and storing runs take, which every run costs."""
    spent: list[float] = []
    finish_run = Evaluation.finish

    def finishing(self: Evaluation, loaded: LoadedSuite, source: Named, answers: Answered) -> Run:
        begun = time.process_time()
        try:
            return finish_run(self, loaded, source, answers)
        finally:
            spent.append(time.process_time() - begun)

    Evaluation.finish = finishing  # type: ignore[method-assign]  # to watch it
    return spent


def open_fake(rest: str, asking: Asking) -> Source:
    """`fake:NAME`: a model of which every word costs about the same."""
    inputs: dict[str, object] = {"revision": rest}
    scorer = FakeScorer(lambda tokens, index: -1.0 - len(tokens[index]) / 64, name=rest)
    return ScorerSource(f"{rest}@0", inputs, load=lambda: scorer, asking=asking)  # type: ignore[arg-type]  # plain values


def named(models: int) -> list[str]:
    """So many models that answer at once."""
    return [f"fake:m{number}" for number in range(models)]


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


def spent_on(function: Callable[..., object], *arguments: object) -> float:
    """The CPU seconds of a call."""
    begun = time.process_time()
    function(*arguments)
    return time.process_time() - begun


def beside_judging(
    joined: Sequence[tuple[str, float]], judging: Sequence[float]
) -> tuple[float, float]:
    """What putting a run together takes beside judging it, and what the first one of a suite more.

    The first has its texts read, which serve the others of the same worker.
    """
    firsts: dict[str, float] = {}
    others = []
    for (copy, spent), judged in zip(joined, judging, strict=True):
        if copy in firsts:
            others.append(spent - judged)
        else:
            firsts[copy] = spent - judged
    return median(others), median(firsts.values()) - median(others)


def simulate(
    folder: Path, *, models: int, suites: int, items: int, workers: int
) -> dict[str, object]:
    """One run; figures by their names."""
    paths = write_suites(folder / "suites", suites=suites, items=items)
    evaluation = Evaluation(asking=Asking(), judging=Judging(), output=folder / "runs")
    before = resident_bytes()
    answering, judging = watched_ask(), watched_finish()
    begun = time.process_time()
    cache = cache_below(folder)
    with plan_work(paths, named(models), evaluation, keep=True) as work:
        todo = to_do(work)
        work.write()
        planned = time.process_time() - begun
        clock = Clock(workers, work)
        done = do_units(work, todo, clock)
        ends = finish(work, done.failed, clock, Telling())
        driven = time.process_time() - begun - planned - clock.real_s
        kept, looked = spent_on(keep_answers, work, cache), spent_on(keep_answers, work, cache)
    cache.close()
    beside = [all_ - asked for all_, asked in zip(clock.unit_s, answering.seconds, strict=True)]
    per_unit, judged = median(beside), median(judging)
    per_run, per_suite = beside_judging(clock.joined, judging)
    joining = len(ends) * per_run + (suites + workers) * per_suite
    # The second time there was nothing to be kept, and the same files were looked for.
    keeping = (kept - looked) / len(clock.unit_s)
    driver = planned + driven + looked + len(todo) * keeping
    overhead = driver + len(todo) * per_unit + joining
    return {
        "models": models,
        "suites": suites,
        "items": items,
        "units": len(todo),
        "runs": sum(isinstance(each, Finished) for each in ends),
        "work_s": round(clock.busy_s),
        "elapsed_s": round(clock.elapsed_s),
        "planning_s": round(planned, 1),
        "driving_s": round(driven, 1),
        "unit_ms": round(1000 * per_unit, 1),
        "keeping_unit_ms": round(1000 * keeping, 1),
        "joining_suite_ms": round(1000 * per_suite, 1),
        "joining_run_ms": round(1000 * per_run, 1),
        "judging_ms": round(1000 * judged, 1),
        "overhead_%": round(100 * overhead / clock.busy_s, 2),
        "judging_%": round(100 * len(ends) * judged / clock.busy_s, 2),
        "driver_%": round(100 * driver / clock.elapsed_s, 2),
        "loads": len(clock.loads),
        "loads_per_model_and_worker": len(clock.loads) / len(set(clock.loads)),
        "driver_MB": round((resident_bytes("VmHWM") - before) / MEGABYTE),
    }


def memory(folder: Path, *, models: int, suites: int, items: int) -> dict[str, object]:
    """The largest memory of a driver, and of a worker when units and when runs are done."""
    # Written elsewhere: what the suites need while they are made is not what is measured.
    with ProcessPoolExecutor(1) as other:
        paths = other.submit(write_suites, folder / "suites", suites=suites, items=items).result()
    evaluation = Evaluation(asking=Asking(), judging=Judging(), output=folder / "runs")
    pool = Processes(1)
    [worker] = pool.process_ids()
    try:
        with plan_work(paths, named(models), evaluation, keep=False) as work:
            todo = to_do(work)
            work.write()
            done = do_units(work, todo, pool)
            of_units = peak_of(worker)
            ends = finish(work, done.failed, pool, Telling())
            of_runs = peak_of(worker)
    finally:
        pool.close()
    return {
        "models": models,
        "suites": suites,
        "items": items,
        "runs": sum(isinstance(each, Finished) for each in ends),
        "worker_units_MB": round(of_units / MEGABYTE),
        "worker_runs_MB": round(of_runs / MEGABYTE),
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
    for name, default in (("models", 50), ("suites", 40), ("items", 2000), ("workers", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--memory", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.memory:
            found = memory(
                Path(folder), models=given.models, suites=given.suites, items=given.items
            )
        else:
            found = simulate(
                Path(folder),
                models=given.models,
                suites=given.suites,
                items=given.items,
                workers=given.workers,
            )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
