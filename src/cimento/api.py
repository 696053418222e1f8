"""evaluate(): a suite of any paradigm and a model to a run, the stages called in order.

Read this file first. Each stage is a module of its own::

    suite -> requests -> model -> answers -> outcomes -> estimates -> report
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

from cimento.answers import COLUMNS
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.execute import ModelHandle, Progress, answer
from cimento.engine.replay import PREFIX, Recording
from cimento.engine.requests import NO_ANSWERS
from cimento.engine.scores import SCORING_VERSION
from cimento.errors import CimentoError, StorageError, SuiteError, UsageError, did_you_mean
from cimento.options import JudgingOptions, RunOptions, from_names
from cimento.paradigms.base import AnyParadigm, ParadigmOptions, SuiteReading, TestSuite
from cimento.paradigms.registry import find_paradigm, paradigm_names, paradigm_of, parse_options
from cimento.runs.manifest import describe
from cimento.runs.run import Run, open_run
from cimento.runs.store import RunFolder
from cimento.sources import AnyScorer, Asking, shown_name
from cimento.suites import faults
from cimento.suites.builtin import find_suite, name_or_path
from cimento.suites.load import suite_paths
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    import polars as pl

SCORING_OPTIONS = ("context", "all_tokens", "columns", "spec", "recorded_unit")
"""The scoring options that only some paradigms honour, see `Paradigm.scoring`."""

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


def run_suite(
    loaded: LoadedSuite,
    model: ModelHandle | Recording,
    run_options: RunOptions,
    *,
    cache: AnswerCache,
    progress: Progress | None = None,
) -> Run:
    """One suite and one model to a run; a run that is stored already is opened.

    Raises:
        CimentoError: the suite cannot be asked, or the model cannot answer.
    """
    paradigm = loaded.paradigm
    options = honoured(paradigm, run_options)
    limit = run_options.limit
    suite = loaded.suite if limit is None else paradigm.limited(loaded.suite, limit)
    scoring = _with_columns(run_options.scoring, options)
    inputs = _inputs(loaded, model, options, scoring)
    folder = _folder(loaded, model, options, run_options)
    if folder is not None and not run_options.force and folder.is_done(inputs):
        return dataclasses.replace(open_run(folder.path), options=options)
    if folder is not None:
        folder.prepare()
    run = ask_suite(
        dataclasses.replace(loaded, reading=dataclasses.replace(loaded.reading, suite=suite)),
        model,
        options,
        scoring=scoring,
        cache=cache,
        progress=progress,
        **({"run_file": run_options.run_file} if run_options.run_file else {}),
    )
    return run if folder is None else run.save(folder)


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
    suite, paradigm = loaded.suite, loaded.paradigm
    tables, warnings = _asked(
        suite, paradigm, options, model, scoring=scoring, cache=cache, progress=progress
    )
    return Run(
        suite=suite,
        paradigm=paradigm,
        options=options,
        manifest=describe(
            label=model.label,
            model=model.card,
            suite=_identity(loaded),
            asking=scoring,
            named=model.named,
            inputs=_inputs(loaded, model, options, scoring),
            warnings=(*map(str, faults.warnings(loaded.reading.faults)), *warnings),
            **noted,
        ),
        tables=tables,
    )


def honoured(paradigm: AnyParadigm, run_options: RunOptions) -> ParadigmOptions:
    """The options of a paradigm; what else was given must be honoured by it too.

    Raises:
        UsageError: an option is none that the paradigm honours, or has none of its values.
    """
    not_honoured = {*JudgingOptions.model_fields, *SCORING_OPTIONS} - paradigm.scoring
    others = RunOptions.model_fields.keys() - not_honoured
    options = parse_options(paradigm, run_options.given, others=others)
    given, plain = run_options.scoring, Asking()
    for name in SCORING_OPTIONS:
        if name not in paradigm.scoring and getattr(given, name) != getattr(plain, name):
            raise UsageError(
                where=f"option {name}",
                seen=f"suites of the paradigm {paradigm.name!r} are not asked with it",
                todo=did_you_mean(name, [*paradigm.options.model_fields, *paradigm.scoring]),
            )
    return options


def _asked(
    suite: TestSuite,
    paradigm: AnyParadigm,
    options: ParadigmOptions,
    model: ModelHandle | Recording,
    *,
    scoring: Asking,
    cache: AnswerCache,
    progress: Progress | None,
) -> tuple[Mapping[str, pl.DataFrame], tuple[str, ...]]:
    """What was asked and answered, as tables, and what the model had to say of it."""
    import polars as pl

    answers, places = NO_ANSWERS, []
    while True:
        requests = paradigm.requests(suite, options, scoring=scoring, model=model, answers=answers)
        if requests is None:
            break
        places.append(requests.places)
        if isinstance(model, Recording):
            new = model.answer(requests, first=answers.n)
        else:
            asked = ModelHandle(model.source, scoring)
            new = answer(requests.asked, asked, cache=cache, progress=progress)
        answers = answers.joined(new)
    return {"requests": pl.concat(places), **answers.tables}, answers.warnings


def _with_columns(scoring: Asking, options: ParadigmOptions) -> Asking:
    """How texts are scored, with the columns that judging needs."""
    wanted = {*scoring.columns, *options.columns}
    named = tuple(column for column in COLUMNS if column in wanted)
    layers = tuple(column for column in scoring.columns if column not in COLUMNS)
    return dataclasses.replace(scoring, columns=(*named, *layers))


def _identity(loaded: LoadedSuite) -> dict[str, JsonValue]:
    """What tells a suite from others, for the manifest."""
    meta = loaded.suite.meta
    return {"name": meta.name, "version": meta.version, "sha256": loaded.reading.sha256}


def _inputs(
    loaded: LoadedSuite, model: ModelHandle | Recording, options: ParadigmOptions, scoring: Asking
) -> dict[str, JsonValue]:
    """What decides whether a stored run answers the same question."""
    columns: list[JsonValue] = list(scoring.columns)
    return {
        **model.inputs,
        "suite": loaded.reading.sha256,
        "limit": scoring.limit,
        "context": [scoring.context.text, scoring.context.column],
        "all_tokens": scoring.all_tokens,
        "columns": columns,
        "asked": options.asked(),
        **options.inputs(loaded.suite, scoring),
        "scoring_version": SCORING_VERSION,
    }


def _folder(
    loaded: LoadedSuite,
    model: ModelHandle | Recording,
    options: ParadigmOptions,
    run_options: RunOptions,
) -> RunFolder | None:
    if run_options.output is None:
        return None
    asked = " ".join(filter(None, (run_options.scoring.digest(), options.digest())))
    return RunFolder.named(
        run_options.output,
        suite=loaded.suite.name,
        sha256=loaded.reading.sha256,
        model=model.label,
        policy=asked,
    )


def load_suites(suites: SuiteLike | Iterable[SuiteLike]) -> Iterator[LoadedSuite]:
    """Suites of any paradigm, by built-in name, path or as they are, one after the other.

    Args:
        suites: one or several; a folder of suites gives all of them.

    Raises:
        CimentoError: there is no such suite, or it has faults.
    """
    single = isinstance(suites, str | Path | LoadedSuite) or hasattr(suites, "meta")
    for suite in [suites] if single else suites:  # type: ignore[union-attr]  # several, seen above
        if isinstance(suite, LoadedSuite):
            yield suite
        elif isinstance(suite, str | Path):
            for path in suite_paths(find_suite(name_or_path(suite))):
                paradigm = paradigm_of(path)
                yield usable(paradigm, paradigm.read(path))
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
    paradigms = map(find_paradigm, reversed(paradigm_names()))
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
    loaded = list(load_suites(suite))
    if len(loaded) != 1:
        raise UsageError(
            where=str(suite),
            seen=f"there are {len(loaded)} suites: {', '.join(each.suite.name for each in loaded)}",
            todo="Give one of them, or use evaluate_all.",
        )
    [run] = evaluate_all(
        loaded, model, limit=limit, output=output, force=force, cache=cache, **options
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
    kept = cache or MemoryCache()
    several = [models] if isinstance(models, str) or not isinstance(models, Sequence) else models
    for model in several:
        yield from run_model(loaded, model, run_options, cache=kept)


ProgressFor: TypeAlias = "Callable[[str, str], Progress]"
"""From the names of a suite and a model to what is told how far their run is."""


def run_model(
    suites: Iterable[LoadedSuite],
    model: str | AnyScorer,
    run_options: RunOptions,
    *,
    cache: AnswerCache,
    progress: ProgressFor | None = None,
) -> Iterator[Run | Failure]:
    """Ask several suites of one model, which is loaded once, and only if it must be.

    Raises:
        StorageError: a run cannot be written.
    """
    name = shown_name(model)
    recorded = _is_recording(model)
    try:
        handle = None if recorded else ModelHandle.opened(model, run_options.scoring)
    except CimentoError as error:
        yield from (Failure(loaded.suite.name, name, error) for loaded in suites)
        return
    for loaded in suites:
        told = progress(loaded.suite.name, name) if progress else None
        try:
            honoured(loaded.paradigm, run_options)
            asked = handle or open_model(model, loaded, run_options.scoring)
            yield run_suite(loaded, asked, run_options, cache=cache, progress=told)
        except StorageError:
            raise
        except CimentoError as error:
            yield Failure(loaded.suite.name, name, error)


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
        return ModelHandle.opened(model, scoring)
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
            raise UsageError(
                where=f"suite {loaded.suite.name!r}",
                seen="two of the suites have this name:"
                f" {other.reading.path} and {loaded.reading.path}",
                todo="Give one of them another name, or run them into different folders.",
            )
