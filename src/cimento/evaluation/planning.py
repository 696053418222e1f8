"""Plans of runs: the requests of each suite to each model, and the units missing from shares."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from cimento.engine.cache import AnswerCache, FileCache
from cimento.engine.engines import visible_gpus
from cimento.engine.execute import Execution
from cimento.engine.jobs import Work
from cimento.engine.units import UnitStore
from cimento.evaluation import Failure, suite_jobs, suites_to_run
from cimento.evaluation.feasible import UNCOUNTED
from cimento.evaluation.honored import refuse_unused, unused_options
from cimento.evaluation.job import SuiteJob
from cimento.evaluation.plan import JobPlan, ModelPlan, plan_jobs, plan_models
from cimento.io.files import default_cache_folder
from cimento.kinds.registry import LoadedSuite
from cimento.models.registry import AnyScorer
from cimento.options import RunOptions
from cimento.records.usage import Price, read_prices
from cimento.suites import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlan:
    """The plan of a suite: its requests to a model.

    Attributes:
        suite: its name.
        items: number of items asked about.
        stored: the models whose run of it is stored already and is not made again.
        requests: number of different requests of the first round, by kind (``score``, ``fill``,
            ``choose``, ``reply``).
        new: number of these that no earlier suite makes.
        later: largest number of requests that depend on the answers to these.
        problem: the reason why it cannot be asked; empty where it can.
    """

    suite: str
    items: int = 0
    stored: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)
    new: int = 0
    later: int = 0
    problem: str = ""

    def plain(self) -> dict[str, JsonValue]:
        """The plan as a JSON object."""
        return {**dataclasses.asdict(self), "stored": list(self.stored)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The plan of some runs.

    Attributes:
        suites: the plan of each suite, for the first model that can be asked and has no stored run.
        models: the plan of each model.
        unused: remarks on options that no suite uses.
        gpu: whether times and memory are those of a GPU.
    """

    suites: tuple[SuitePlan, ...]
    models: tuple[ModelPlan, ...]
    unused: tuple[str, ...]
    gpu: bool

    @property
    def unusable(self) -> tuple[str, ...]:
        """The models that cannot be asked about any of the suites."""
        return tuple(m.model for m in self.models if m.problem not in ("", UNCOUNTED))


def plan_named(options: RunOptions) -> RunPlan:
    """The plan of the runs that some options name, with the cache of this machine.

    Args:
        options: the suites, the models and the options of the runs.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    loaded = suites_to_run(options.suites, language=options.language, columns=options.roles)
    return plan_suites(loaded, options)


def run_folders(options: RunOptions) -> list[Path]:
    """The folders that some options store their runs in, model by model; no weights are loaded.

    Args:
        options: the suites, the models and the options of the runs.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    loaded = suites_to_run(options.suites, language=options.language, columns=options.roles)
    entries = suite_jobs(loaded, options.models, options, None)
    places = (entry.place for entry in entries if isinstance(entry, SuiteJob))
    return [place for place in places if place is not None]


def plan_suites(loaded: Sequence[LoadedSuite], options: RunOptions) -> RunPlan:
    """The plan of runs of suites that are read, with the cache of this machine.

    Args:
        loaded: the suites.
        options: the models and the options of the runs.

    Raises:
        CimentoError: an option cannot be used.
    """
    prices = None if options.prices is None else read_prices(options.prices)
    refuse_unused((suite.paradigm for suite in loaded), options)
    with nullcontext() if options.no_cache else closing(FileCache(default_cache_folder())) as cache:
        return _planned(loaded, options, cache, prices)


def _planned(
    suites: Sequence[LoadedSuite],
    options: RunOptions,
    cache: AnswerCache | None,
    prices: Mapping[str, Price] | None,
) -> RunPlan:
    """The plan of what `run_all` would do; no weights are loaded and nothing is written."""
    gpu = options.device in ("auto", "cuda") and bool(visible_gpus())
    asked: dict[str, SuitePlan] = {}
    stored: dict[str, list[str]] = {loaded.suite.name: [] for loaded in suites}
    planned: list[ModelPlan] = []
    store = None if options.output is None else UnitStore.below(options.output)
    for model in dict.fromkeys(options.models):
        entries = list(suite_jobs(suites, [model], options, None))
        jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
        failures = [entry for entry in entries if isinstance(entry, Failure)]
        execution = Execution(jobs, Work(store=store, force=options.force, ask=False))
        follow = 0
        job_plans = plan_jobs(execution)
        for job, plan in zip(jobs, job_plans, strict=True):
            name = job.suite_name
            if job.is_done:
                stored[name].append(job.model.label)
                asked.setdefault(name, SuitePlan(suite=name, items=job.items))
                continue
            later = 0 if plan.problem else job.later
            follow += later
            if name not in asked or asked[name].problem or not asked[name].requests:
                first = dataclasses.asdict(plan)
                asked[name] = SuitePlan(suite=name, items=job.items, later=later, **first)
        for failed in failures:
            asked.setdefault(failed.suite, SuitePlan(suite=failed.suite, problem=str(failed.error)))
        plans = plan_models(execution, cache, gpu=gpu, prices=prices)
        planned += [_of_jobs(plan, job_plans, later=follow) for plan in plans]
        if failures and not jobs:
            planned.append(ModelPlan(model=failures[0].model, problem=str(failures[0].error)))
    return RunPlan(
        suites=tuple(replace(asked[name], stored=tuple(some)) for name, some in stored.items()),
        models=tuple(planned),
        unused=tuple(unused_options(suites, options)),
        gpu=gpu,
    )


def _of_jobs(plan: ModelPlan, jobs: Sequence[JobPlan], *, later: int) -> ModelPlan:
    """The plan of a model, with the problem of its first job if all its jobs have one.

    The requests of later rounds are added, and their cost if they are as long as the first. The
    cost is given for replies only. For other requests, the number of answers to compare, and so of
    texts to send, is not known yet.
    """
    plan = replace(plan, later=later)
    if jobs and all(job.problem for job in jobs):
        plan = replace(plan, problem=jobs[0].problem, seconds=None, by="")
    if plan.cost is None or not plan.sent or plan.sent + (plan.kept or 0) != plan.requests:
        return plan
    return replace(plan, later_cost=plan.cost / plan.sent * later)


def find_refused(
    suites: Sequence[LoadedSuite], models: Sequence[str], run_options: RunOptions
) -> list[str]:
    """The runs that `cimento run` would refuse, as far as that is known before weights are loaded.

    Servers are not asked.

    Args:
        suites: the suites, of any kinds.
        models: names.
        run_options: the options of the runs.

    Returns:
        Suite, model and reason of each, or model and reason where it can be asked about no suite.
    """
    refused: dict[str, None] = {}
    # A server may be within reach of the nodes only, or be started by their job.
    here = [model for model in models if not re.match(r"openai:|\w+:.*//", model)]
    for model in dict.fromkeys(here):
        entries = list(suite_jobs(suites, [model], run_options, None))
        jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
        plans = iter(plan_jobs(Execution(jobs, Work(ask=False))))
        problems = [
            str(entry.error) if isinstance(entry, Failure) else next(plans).problem
            for entry in entries
        ]
        if len(set(problems)) == 1 and problems[0]:
            refused[f"{model}: {problems[0]}"] = None
            continue
        for entry, problem in zip(entries, problems, strict=True):
            name = entry.suite if isinstance(entry, Failure) else entry.suite_name
            if problem:
                refused[f"{name} x {model}: {problem}"] = None
    return list(refused)


def find_missing(
    suites: Sequence[LoadedSuite], models: Sequence[str | AnyScorer], run_options: RunOptions
) -> list[Failure]:
    """The runs that cannot be put together yet, with the number of units each lacks.

    Args:
        suites: the suites, of any kinds.
        models: names, or loaded models.
        run_options: the options of the runs.
    """
    output = run_options.output
    store = None if output is None else UnitStore.below(output)
    missing: list[Failure] = []
    for model in dict.fromkeys(models):
        entries = list(suite_jobs(suites, [model], run_options, None))
        jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
        execution = Execution(jobs, Work(store=store, ask=False))
        states = iter(execution.states)
        for entry in entries:
            if isinstance(entry, Failure):
                missing.append(entry)
            elif (error := execution.lacks(next(states))) is not None:
                missing.append(Failure(entry.suite_name, entry.shown, error))
    return missing
