"""The stages in order: `evaluate` asks a model about a suite of any kind and returns a run.

Read this file first. Each stage has its own module::

    suite -> requests -> model -> answers -> outcomes -> estimates -> report
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, TypeGuard, Unpack

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.requests import PREFIX, Recording
from cimento.engine.scores import Progress
from cimento.engine.units import UnitStore
from cimento.errors import CimentoError, InputError, ModelError, StorageError, UsageError
from cimento.evaluation.honored import honored, refuse_unused
from cimento.evaluation.job import SuiteJob, suite_job
from cimento.io.declared import checked
from cimento.io.helper_process import HelperProcess
from cimento.kinds.base import ParadigmOptions
from cimento.kinds.option_types import EvaluationKeywords, LoadingKeywords
from cimento.kinds.registry import (
    LoadedSuite,
    SuiteLike,
    load_suite,
    load_suites,
    one_by_one,
)
from cimento.kinds.run import Run
from cimento.models.hf.names import is_model_here
from cimento.models.in_memory import (
    LoadedModel,
    ModelLike,
    as_models,
    as_scorers,
    loaded_model,
    split_tokenizer,
)
from cimento.models.registry import AnyScorer, shown_name
from cimento.models.settings import Asking
from cimento.options import ModelOptions, RunOptions, from_names, refuse_no_keywords
from cimento.suites.builtin import is_builtin


@dataclass(frozen=True, slots=True)
class Failure:
    """The error in place of a run that was asked for and could not be made.

    Attributes:
        suite: name of the suite.
        model: the model, as results name it.
        error: why there is no run; raise it to stop, or print it.
    """

    suite: str
    model: str
    error: CimentoError


def evaluate(
    suite: SuiteLike,
    model: ModelLike,
    *,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    cache: AnswerCache | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Run:
    """Ask one model about one suite; answers are judged when a result is first read, or stored.

    Args:
        suite: a built-in name, a path, or a suite made in Python, of any kind.
        model: a name as for ``cimento run -m`` or a folder's path, a model returned by
            `load_model`, a model of transformers (with ``tokenizer=``), or any object that follows
            the `Scorer` protocol.
        limit: number of items to ask about, each phenomenon in turn; None for all.
        output: folder in which runs are stored; None keeps the run in memory.
        force: whether a run that is already stored is made again.
        cache: where answers are kept, such as a `FileCache`; None forgets them afterwards.
        options: options of ``cimento run``, named after its flags (``batch_size``, ``seed``,
            ``device``), and options of the suite's paradigm (``k`` of cloze suites).

    Returns:
        The run: its `outcomes()`, `estimates()`, `summary()` and tables.

    Raises:
        CimentoError: the suite, the model or an option cannot be used, or a run cannot be written.

    Example:
        >>> evaluate("it-subject-verb", "demo-causal")
        <Run of 'it-subject-verb' (regions) by 'demo-causal@...': accuracy 0.875 [0.690, 0.957]>
    """
    if isinstance(model, list | tuple):
        raise UsageError(
            where="model",
            seen=f"a {type(model).__name__} of {len(model)}, and `evaluate` asks one model",
            todo="Give one (tokenizer=TOKENIZER beside it), or use cimento.evaluate_all.",
        )
    refuse_swapped([suite], [model])
    refuse_no_keywords(options)
    roles = from_names({"columns": options.get("columns", ())}).roles
    loaded = load_suite(suite, language=str(options.get("language", "")), columns=roles)
    [run] = evaluate_all(
        loaded, model, limit=limit, output=output, force=force, cache=cache, **options
    )
    if isinstance(run, Failure):
        raise run.error
    return run


def evaluate_all(
    suites: SuiteLike | Iterable[SuiteLike],
    models: ModelLike | Sequence[ModelLike],
    *,
    limit: int | None = None,
    output: str | Path | None = None,
    force: bool = False,
    cache: AnswerCache | None = None,
    **options: Unpack[EvaluationKeywords],
) -> Iterator[Run | Failure]:
    """Ask several models about several suites, and yield each run as soon as it is made.

    Suites and options are checked at once, and nothing is run if one cannot be used, as by
    ``cimento run``. Models are asked when the iterator is read; each is loaded once, and only if
    needed. A suite and model that cannot be run yield a `Failure`, and the others go on; an output
    folder that cannot be written to stops everything.

    Args:
        suites: one or several, each as for `evaluate`.
        models: one or several, each as for `evaluate`.
        limit: as for `evaluate`.
        output: as for `evaluate`.
        force: as for `evaluate`.
        cache: as for `evaluate`.
        options: as for `evaluate`; an option of a paradigm must belong to the paradigm of every
            suite.

    Returns:
        The runs, model by model; a `Failure` for each that could not be made.

    Raises:
        CimentoError: suites cannot be read (the error names them all) or two have one name, an
            option does not exist, or the output cannot be written.

    Example:
        >>> runs = evaluate_all("it-subject-verb", ["demo-causal", "demo-masked"])
        >>> [run.model.partition("@")[0] for run in runs]
        ['demo-causal', 'demo-masked']
    """
    named, tokenizer = split_tokenizer(options)
    run_options = from_names({"limit": limit, "output": output, "force": force, **named})
    several = [models] if isinstance(models, str) or not isinstance(models, Sequence) else models
    given = one_by_one(suites)
    refuse_swapped(given, several)
    loaded = suites_to_run(given, language=run_options.language, columns=run_options.roles)
    keeps = cache is not None or run_options.output is not None
    ready = as_scorers(several, run_options.scoring, tokenizer, keeps=keeps)
    # Where units are stored, what was answered is in their files.
    kept = cache if keeps else MemoryCache()
    return run_all(loaded, ready, run_options, cache=kept)


def refuse_swapped(suites: Sequence[SuiteLike], models: Sequence[ModelLike]) -> None:
    """Refuse a model in the place of a suite, and a suite in the place of a model.

    Raises:
        UsageError: there is one.
    """
    no_suites = [f"{suite!r} is a model" for suite in suites if _is_model(suite)]
    no_models = [f"{model!r} is a suite" for model in models if _is_suite(model)]
    if no_suites or no_models:
        raise UsageError(
            where="suite" if no_suites else "model",
            seen=f"{' and '.join(no_suites + no_models)}; suites come first, then models",
            todo="Write evaluate(SUITE, MODEL).",
        )


def _is_model(suite: object) -> bool:
    """Whether what was given as a suite is a model."""
    if isinstance(suite, str | Path):
        return is_model_here(str(suite))
    return any(hasattr(suite, name) for name in ("card", "state_dict", "scorer"))


def _is_suite(model: object) -> bool:
    """Whether what was given as a model is a suite."""
    if isinstance(model, str):
        return is_builtin(model)
    return any(hasattr(model, name) for name in ("meta", "paradigm"))


def load_model(
    model: ModelLike,
    **options: Unpack[LoadingKeywords],
) -> AnyScorer | LoadedModel:
    """Load a model once; every function takes the result in place of the model's name.

    Args:
        model: as for `evaluate`.
        options: options of loading, by the names of flags: ``dtype``, ``device``, ``tokenizer``,
            ``kind``, ``model_args`` ... Options of scoring are given later, to `evaluate`.

    Returns:
        The loaded model; it stays in memory as long as it is kept.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.

    Example:
        >>> model = load_model("demo-causal", dtype="fp32")
        >>> runs = [evaluate(suite, model, limit=5) for suite in ("it-islands", "it-subject-verb")]
        >>> [run.n_items for run in runs]
        [5, 5]
    """
    named, tokenizer = split_tokenizer(options)
    if "bos" in named:
        raise UsageError(
            where="option bos",
            seen="it says how texts are scored, not how a model is loaded",
            todo="Give it to evaluate, score or fill.",
        )
    [taken] = as_models([model], tokenizer)
    return loaded_model(taken, checked(ModelOptions, named).asking)


def ask_suite(
    loaded: LoadedSuite,
    model: ModelHandle | Recording,
    options: ParadigmOptions,
    *,
    scoring: Asking,
    cache: AnswerCache,
) -> Run:
    """Ask one model about one suite and return the run, which is kept in memory.

    Args:
        loaded: the suite, reduced to the items that are asked about.
        model: the model, or a recording of its answers.
        options: options of the suite's paradigm.
        scoring: how texts are scored.
        cache: the cache of answers.

    Raises:
        CimentoError: the suite cannot be asked, or the model cannot answer.
    """
    job = SuiteJob(loaded, model, options, scoring=scoring, shown=model.label)
    [result] = Execution([job], Work(engine=ONE_WORKER, cache=cache)).run()
    if not isinstance(result, Run):
        raise result or ModelError(where=job.title, seen="nothing came of it")
    return result


_SEVERAL = 8
"""Number of suites for which a helper process is worth the second that it takes to start."""

ProgressFor: TypeAlias = "Callable[[str, str], Progress]"
"""A function from the names of a suite and a model to the progress callback of their run."""


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
    """Ask models about suites; a worker loads each model once, and only if needed.

    Args:
        suites: the suites, of any kinds.
        models: names, or models that are loaded already; the latter are asked in this process.
        run_options: the options of the runs.
        cache: the cache of answers; None neither reads nor keeps any.
        engine: the engine that does the work.
        ask: whether models are asked; if not, runs are put together from units that are done
            already.
        progress: makes the callback for the progress of each run.
        note: called with remarks made during the work, as sentences.

    Yields:
        Model by model, the run of each suite or the `Failure` in its place; in one proportion of a
        larger job, failures only.

    Raises:
        StorageError: a run cannot be written.
    """
    device, output = run_options.device, run_options.output
    store = None if output is None else UnitStore.below(output)
    force = run_options.force
    work = Work(
        engine=engine, device=device, store=store, cache=cache, force=force, ask=ask, note=note
    )
    for some in ([model] for model in models) if engine.is_alone(device) else (models,):
        with closing(HelperProcess()) if len(suites) >= _SEVERAL else nullcontext() as helper:
            results = _results(list(suite_jobs(suites, some, run_options, progress, helper)), work)
        yield from results


def _results(entries: Sequence[SuiteJob | Failure], work: Work) -> list[Run | Failure]:
    """The run of each job, or the failure in its place; a proportion of a larger job makes no runs.

    The folders of runs are made first, and removed where no run came of them.
    """
    jobs = [entry for entry in entries if isinstance(entry, SuiteJob)]
    if work.ask and work.engine.share is None:
        for job in jobs:
            job.prepare()
    try:
        ends = iter(Execution(jobs, work).run())
    finally:
        for job in jobs:
            job.tidy()
    results: list[Run | Failure] = []
    for entry in entries:
        end = entry if isinstance(entry, Failure) else next(ends)
        if isinstance(end, CimentoError) and isinstance(entry, SuiteJob):
            results.append(Failure(entry.suite_name, entry.shown, end))
        elif isinstance(end, Run | Failure):
            results.append(end)
    return results


def suite_jobs(
    suites: Sequence[LoadedSuite],
    models: Sequence[str | AnyScorer],
    run_options: RunOptions,
    progress: ProgressFor | None,
    helper: HelperProcess | None = None,
) -> Iterator[SuiteJob | Failure]:
    """A job for each suite and model, model by model, or the failure that prevents it."""
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
            advance = progress(loaded.suite.name, shown) if progress else None
            try:
                asked = handle or open_model(
                    model, loaded, honored(loaded.paradigm, run_options, None).scoring
                )
                yield suite_job(
                    loaded, asked, run_options, shown=shown, progress=advance, helper=helper
                )
            except StorageError:
                raise
            except CimentoError as error:
                yield Failure(loaded.suite.name, shown, error)


def _is_recording(model: str | AnyScorer) -> TypeGuard[str]:
    return isinstance(model, str) and model.startswith(PREFIX)


def open_model(
    model: str | AnyScorer, loaded: LoadedSuite, scoring: Asking
) -> ModelHandle | Recording:
    """The source of a suite's answers: a model, or a recording of one.

    Args:
        model: as for `evaluate`.
        loaded: the suite.
        scoring: how texts are scored.

    Raises:
        CimentoError: the model or recording cannot be opened.
    """
    if not _is_recording(model):
        return ModelHandle(model, scoring)
    recording: Recording = loaded.paradigm.asker.recording(
        model.removeprefix(PREFIX), loaded.suite, scoring=scoring
    )
    return recording


def suites_to_run(
    suites: SuiteLike | Iterable[SuiteLike],
    *,
    language: str = "",
    columns: Mapping[str, str] | None = None,
) -> list[LoadedSuite]:
    """All suites that are to be run, or one error that says why each unusable one is.

    Args:
        suites: as for `evaluate_all`.
        language: ISO 639-1 code of suites that do not state theirs.
        columns: the columns of tables by their roles, as for `cimento.load_suite`.

    Raises:
        CimentoError: a suite does not exist or has faults, or two have one name. Of several suites,
            an `InputError` names all that are unusable.
    """
    several = one_by_one(suites)
    loaded: list[LoadedSuite] = []
    errors: list[CimentoError] = []
    for suite in several:
        try:
            loaded += load_suites(suite, language=language, columns=columns)
        except CimentoError as error:
            errors.append(error)
    if errors and len(several) == 1:
        raise errors[0]
    if errors:
        raise InputError(
            where=f"{len(errors)} of {len(several)} suites",
            seen="cannot be used, and nothing was run. Correct them, or leave them out:"
            + "".join(f"\n  {error}" for error in errors),
        ) from errors[0]
    _refuse_same_names(loaded)
    return loaded


def _refuse_same_names(suites: Sequence[LoadedSuite]) -> None:
    """Refuse different suites with the same name, since their runs would share a folder.

    Raises:
        UsageError: two suites have the same name.
    """
    seen: dict[str, LoadedSuite] = {}
    for loaded in suites:
        other = seen.setdefault(loaded.suite.name, loaded)
        if other is not loaded:
            paths = dict.fromkeys(str(one.reading.path) for one in (other, loaded))
            is_same = len(paths) == 1 and loaded.reading.sha256 == other.reading.sha256
            raise UsageError(
                where=f"suite {loaded.suite.name!r}",
                seen=f"it is given twice ({paths.popitem()[0]})"
                if is_same
                else f"two of the suites have this name: {' and '.join(paths)}",
                todo="Give a suite once; rename one of two, or run them into different folders.",
            )
