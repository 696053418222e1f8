"""evaluate(): a suite of any paradigm and a model to a run, the stages called in order.

Read this file first. Each stage is a module of its own::

    suite -> requests -> model -> answers -> outcomes -> estimates -> report
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard, cast

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.plan import ModelPlan, plan_jobs, plan_models
from cimento.engine.replay import PREFIX, Recording
from cimento.engine.scores import Progress
from cimento.engine.units import UnitStore
from cimento.errors import CimentoError, ModelError, StorageError, SuiteError, UsageError
from cimento.models.registry import AnyScorer, Asking, shown_name
from cimento.options import RunOptions, from_names
from cimento.paradigms.base import AnyParadigm, ParadigmOptions, SuiteReading, TestSuite
from cimento.paradigms.registry import own_paradigms, plugged_paradigms, read_all
from cimento.runs.job import SuiteJob, honoured, refuse_unused, suite_job
from cimento.runs.run import Run
from cimento.suites import faults
from cimento.suites.builtin import find_suite, name_or_path
from cimento.suites.model import JsonValue

SuiteLike: TypeAlias = "str | Path | TestSuite | LoadedSuite"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSuite:
    """A suite that can be run, of any paradigm.

    Attributes:
        paradigm: the kind of test.
        reading: the suite, without faults that would keep it from being used, and its warnings.
    """

    paradigm: AnyParadigm
    reading: SuiteReading[Any]

    @property
    def suite(self) -> TestSuite:
        """The suite itself.

        Raises:
            SuiteError: nothing could be made of it.
        """
        suite = self.reading.suite
        if suite is None:
            raise SuiteError(where=str(self.reading.path), faults=self.reading.faults)
        return cast("TestSuite", suite)


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that was asked for and could not be made."""

    suite: str
    model: str
    error: CimentoError


def load_suite(suite: SuiteLike) -> LoadedSuite:
    """A suite of any paradigm, checked.

    Args:
        suite: a built-in name, a path, or a suite made in Python.

    Raises:
        CimentoError: there is no such suite, it has faults, or there are several.
    """
    loaded = list(load_suites([suite]))
    if len(loaded) != 1:
        raise UsageError(
            where=str(suite),
            seen=f"there are {len(loaded)} suites: {', '.join(each.suite.name for each in loaded)}",
            todo="Give one of them.",
        )
    return loaded[0]


def load_suites(suites: SuiteLike | Iterable[SuiteLike]) -> Iterator[LoadedSuite]:
    """Suites of any paradigm, by built-in name, path or as they are, one after the other.

    Args:
        suites: one or several; a folder of suites gives all of them.

    Raises:
        CimentoError: there is no such suite, or it has faults.
    """
    # A name is iterable too, and so may be a suite of a paradigm from elsewhere.
    several = not isinstance(suites, str) and not hasattr(suites, "meta")
    for suite in suites if several and isinstance(suites, Iterable) else (suites,):
        if isinstance(suite, LoadedSuite):
            yield suite
        elif isinstance(suite, str | Path):
            for paradigm, reading in read_all(find_suite(name_or_path(suite))):
                yield LoadedSuite(paradigm=paradigm, reading=reading)
        else:
            yield _made_here(cast("TestSuite", suite))


def usable(paradigm: AnyParadigm, reading: SuiteReading[Any]) -> LoadedSuite:
    """A suite that was read, where it has no fault that keeps it from being used.

    Raises:
        SuiteError: it has; the error carries all of them.
    """
    if reading.suite is None or faults.errors(reading.faults):
        raise SuiteError(where=str(reading.path), faults=reading.faults)
    return LoadedSuite(paradigm=paradigm, reading=reading)


def _made_here(suite: TestSuite) -> LoadedSuite:
    """A suite that was made in Python, checked like one that was read."""
    # Suites of ratings are suites of regions too, so the wider kind is asked last.
    paradigms = [*plugged_paradigms(), *reversed(own_paradigms())]
    paradigm = next((paradigm for paradigm in paradigms if paradigm.owns(suite)), None)
    if paradigm is None:
        raise UsageError(
            where="suite",
            seen=f"{type(suite).__name__} is neither a name, a path nor a suite",
            todo="Give a built-in name, a path, or a suite made in Python.",
        )
    # A frozen record's repr says all that is in it, in the same words every time.
    digest = hashlib.sha256(repr(suite).encode()).hexdigest()
    reading = SuiteReading(
        suite=suite,
        faults=tuple(paradigm.check(suite)),
        sha256=digest,
        path=Path(suite.name),
        format="python",
    )
    return usable(paradigm, reading)


def evaluate(
    suite: SuiteLike,
    model: str | AnyScorer,
    *,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    cache: AnswerCache | None = None,
    **options: Any,  # noqa: ANN401  # each is checked by the model that declares it
) -> Run:
    """Ask one suite of one model and judge the answers.

    Args:
        suite: a built-in name, a path, or a suite made in Python, of any paradigm.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        limit: only the first items; None for all.
        output: folder of runs to write to; None keeps the run in memory.
        force: run again what is already stored.
        cache: where answers are kept; None forgets them afterwards.
        options: of ``cimento run``, by the names of its flags (``batch_size``, ``seed``,
            ``device``), and of the suite's paradigm (``k`` of cloze suites).

    Returns:
        The run: its `outcomes()`, `estimates()`, `summary()` and tables.

    Raises:
        CimentoError: the suite, the model or an option cannot be used.
    """
    [run] = evaluate_all(
        load_suite(suite), model, limit=limit, output=output, force=force, cache=cache, **options
    )
    if isinstance(run, Failure):
        raise run.error
    return run


def evaluate_all(
    suites: SuiteLike | Iterable[SuiteLike],
    models: str | AnyScorer | Sequence[str | AnyScorer],
    *,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    cache: AnswerCache | None = None,
    **options: Any,  # noqa: ANN401  # as for `evaluate`
) -> Iterator[Run | Failure]:
    """Ask several suites of several models; each model is loaded once, and only if it must be.

    What cannot be run is yielded as a `Failure`, and the rest goes on; where nothing could be
    written, it stops.

    Args:
        suites: one or several, each as for `evaluate`.
        models: one or several, each as for `evaluate`.
        limit: as for `evaluate`.
        output: as for `evaluate`.
        force: as for `evaluate`.
        cache: as for `evaluate`.
        options: as for `evaluate`; those of a paradigm must be of the paradigm of every suite.

    Raises:
        CimentoError: a suite cannot be read, two have one name, or the output cannot be written.
    """
    run_options = from_names({"limit": limit, "output": output, "force": force, **options})
    loaded = list(load_suites(suites))
    refuse_same_names(loaded)
    several = [models] if isinstance(models, str) or not isinstance(models, Sequence) else models
    yield from run_all(loaded, list(several), run_options, cache=cache or MemoryCache())


def ask_suite(
    loaded: LoadedSuite,
    model: ModelHandle | Recording,
    options: ParadigmOptions,
    *,
    scoring: Asking,
    cache: AnswerCache,
    progress: Progress | None = None,
    **noted: JsonValue,
) -> Run:
    """One suite asked of one model, as a run in memory.

    Args:
        loaded: the suite, as far as it is asked.
        model: who is asked.
        options: of the suite's paradigm.
        scoring: how texts are scored.
        cache: where answers are kept.
        progress: called with how far it is.
        noted: what else the manifest says.

    Raises:
        CimentoError: the suite cannot be asked, or the model cannot answer.
    """
    job = SuiteJob(
        loaded, model, options, scoring=scoring, shown=model.label, progress=progress, noted=noted
    )
    [result] = Execution([job], Work(engine=ONE_WORKER, cache=cache)).run()
    if not isinstance(result, Run):
        raise result or ModelError(where=job.title, seen="nothing came of it")
    return result


ProgressFor: TypeAlias = "Callable[[str, str], Progress]"
"""From the names of a suite and a model to what is told how far their run is."""


def run_all(
    suites: Sequence[LoadedSuite],
    models: Sequence[str | AnyScorer],
    run_options: RunOptions,
    *,
    cache: AnswerCache | None,
    engine: Engine = ONE_WORKER,
    ask: bool = True,
    progress: ProgressFor | None = None,
    note: Callable[[str], None] | None = None,
) -> Iterator[Run | Failure]:
    """Ask suites of models, each loaded once by a worker, and only if it must be.

    Args:
        suites: of any paradigms.
        models: names, or models that are there already; these are asked in this process.
        run_options: how.
        cache: of answers; None uses and keeps none.
        engine: who does the work.
        ask: whether models are asked; else what is done is put together.
        progress: told how far each run is.
        note: told what is noticed on the way, as sentences.

    Yields:
        Model by model, the run of each suite or why there is none; nothing for what goes well in a
        share.

    Raises:
        StorageError: a run cannot be written.
    """
    alone = engine.is_alone(run_options.device)
    output = run_options.output
    work = Work(
        engine=engine,
        device=run_options.device,
        store=None if output is None else UnitStore.below(output),
        cache=cache,
        force=run_options.force,
        ask=ask,
        note=note,
    )
    for some in ([model] for model in models) if alone else (models,):
        yield from _done(list(_jobs(suites, some, run_options, progress)), work)


def _done(entries: Sequence[SuiteJob | Failure], work: Work) -> Iterator[Run | Failure]:
    """What comes of jobs, in order."""
    jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
    if work.ask and work.engine.share is None:
        for job in jobs:
            job.prepare()
    results = iter(Execution(jobs, work).run())
    for entry in entries:
        result = next(results) if isinstance(entry, SuiteJob) else entry
        if isinstance(entry, SuiteJob) and isinstance(result, CimentoError):
            yield Failure(entry.suite_name, entry.shown, result)
        elif isinstance(result, Run | Failure):
            yield result


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """What a suite asks of a model.

    Attributes:
        suite: its name.
        items: how many are asked about.
        requests: question (``score``, ``fill``, ``choose``, ``reply``) to how many different ones
            are asked at first.
        new: requests that no suite before it asks.
        later: requests that depend on the answers to these, at most.
        problem: why it cannot be asked; empty where it can.
    """

    suite: str
    items: int = 0
    requests: Mapping[str, int] = field(default_factory=dict)
    new: int = 0
    later: int = 0
    problem: str = ""

    def plain(self) -> dict[str, JsonValue]:
        """As a JSON object."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What runs would do.

    Attributes:
        suites: what each asks, of the first model that it can be asked of.
        models: what each is asked.
    """

    suites: tuple[SuitePlan, ...]
    models: tuple[ModelPlan, ...]


def plan_all(
    suites: Sequence[LoadedSuite],
    models: Sequence[str | AnyScorer],
    run_options: RunOptions,
    *,
    cache: AnswerCache | None,
    gpu: bool = False,
) -> Planned:
    """What `run_all` would do; no weights are loaded and nothing is written.

    Args:
        suites: of any paradigms.
        models: names.
        run_options: how.
        cache: of answers; None where none are used.
        gpu: whether models go to GPUs.
    """
    asked: dict[str, SuitePlan] = {}
    planned: list[ModelPlan] = []
    output = run_options.output
    store = None if output is None else UnitStore.below(output)
    for model in dict.fromkeys(models):
        entries = list(_jobs(suites, [model], run_options, None))
        jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
        failures = [entry for entry in entries if isinstance(entry, Failure)]
        execution = Execution(jobs, Work(store=store, force=run_options.force, ask=False))
        for job, plan in zip(jobs, plan_jobs(execution), strict=True):
            if job.suite_name not in asked or asked[job.suite_name].problem:
                later = 0 if plan.problem else job.later
                asked[job.suite_name] = SuitePlan(
                    suite=job.suite_name, items=job.items, later=later, **dataclasses.asdict(plan)
                )
        for failure in failures:
            nothing = SuitePlan(suite=failure.suite, problem=str(failure.error))
            asked.setdefault(failure.suite, nothing)
        planned += plan_models(execution, cache, gpu=gpu)
        if failures and not jobs:
            planned.append(ModelPlan(model=failures[0].model, problem=str(failures[0].error)))
    order = [asked[loaded.suite.name] for loaded in suites]
    return Planned(suites=tuple(order), models=tuple(planned))


def find_missing(
    suites: Sequence[LoadedSuite], models: Sequence[str | AnyScorer], run_options: RunOptions
) -> list[Failure]:
    """The runs that cannot be put together, and how many units each lacks; nothing is written.

    Args:
        suites: of any paradigms.
        models: names.
        run_options: how they were to be run.
    """
    output = run_options.output
    store = None if output is None else UnitStore.below(output)
    return [
        entry
        for model in dict.fromkeys(models)
        for entry in _with_units(list(_jobs(suites, [model], run_options, None)), store)
        if isinstance(entry, Failure)
    ]


def _with_units(
    entries: Sequence[SuiteJob | Failure], store: UnitStore | None
) -> Iterator[SuiteJob | Failure]:
    """Each job that lacks nothing; for each other why it does not go on."""
    jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
    execution = Execution(jobs, Work(store=store, ask=False))
    states = iter(execution.states)
    for entry in entries:
        if isinstance(entry, SuiteJob):
            error = execution.lacks(next(states))
            yield entry if error is None else Failure(entry.suite_name, entry.shown, error)
        else:
            yield entry


def _jobs(
    suites: Sequence[LoadedSuite],
    models: Sequence[str | AnyScorer],
    run_options: RunOptions,
    progress: ProgressFor | None,
) -> Iterator[SuiteJob | Failure]:
    """Each suite with each model, model by model; or why they cannot be asked."""
    scoring = run_options.scoring
    for model in models:
        shown = shown_name(model)
        try:
            refuse_unused((loaded.paradigm for loaded in suites), run_options)
            handle = None if _is_recording(model) else ModelHandle(model, scoring)
        except CimentoError as error:
            yield from (Failure(loaded.suite.name, shown, error) for loaded in suites)
            continue
        for loaded in suites:
            told = progress(loaded.suite.name, shown) if progress else None
            try:
                own = honoured(loaded.paradigm, run_options).scoring
                asked = handle or open_model(model, loaded, own)
                yield suite_job(loaded, asked, run_options, shown=shown, progress=told)
            except StorageError:
                raise
            except CimentoError as error:
                yield Failure(loaded.suite.name, shown, error)


def _is_recording(model: str | AnyScorer) -> TypeGuard[str]:
    return isinstance(model, str) and model.startswith(PREFIX)


def open_model(
    model: str | AnyScorer, loaded: LoadedSuite, scoring: Asking
) -> ModelHandle | Recording:
    """Who answers a suite: a model, or what was recorded of one.

    Args:
        model: as for `evaluate`.
        loaded: the suite.
        scoring: how texts are scored.

    Raises:
        CimentoError: it cannot be opened.
    """
    if not _is_recording(model):
        return ModelHandle(model, scoring)
    recording: Recording = loaded.paradigm.recording(
        model.removeprefix(PREFIX), loaded.suite, scoring=scoring
    )
    return recording


def refuse_same_names(suites: Sequence[LoadedSuite]) -> None:
    """See that runs of different suites do not have one folder.

    Raises:
        UsageError: two suites have one name.
    """
    seen: dict[str, LoadedSuite] = {}
    for loaded in suites:
        other = seen.setdefault(loaded.suite.name, loaded)
        if other is not loaded:
            paths = dict.fromkeys(str(each.reading.path) for each in (other, loaded))
            raise UsageError(
                where=f"suite {loaded.suite.name!r}",
                seen=f"two of the suites have this name: {' and '.join(paths)}",
                todo="Give a suite once; of two, rename one or run them into different folders.",
            )
