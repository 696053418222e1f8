"""Explanations of stored runs, asked through the engine: interchanges of states, and gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.plan import ModelPlan, plan_models
from cimento.engine.requests import NO_ANSWERS, Answers, Recording, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import UnitStore
from cimento.errors import CimentoError, ModelError, UsageError
from cimento.io.explained import ATTRIBUTIONS, EXPLANATIONS
from cimento.io.tables import REQUESTS, write_table
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.paradigms.regions.attributions import (
    Attributed,
    ContributionMean,
    attributed,
    attributions_table,
    contributions_of,
)
from cimento.paradigms.regions.explanations import CellMean, explanations_table, means_of
from cimento.paradigms.regions.interchanges import Interchanges, interchanges
from cimento.paradigms.regions.judging import options_of
from cimento.paradigms.regions.swaps import Contrasts, ExplainSettings, contrasts_of, margins_of
from cimento.runs.explained import explained_table
from cimento.runs.reproduce import asking_of, model_of
from cimento.runs.store import manifest_part
from cimento.suites import Suite

__all__ = [
    "Attribution", "ExplainSettings", "Explanation", "attribute", "explain", "plan_explanation",
]  # fmt: skip

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from cimento.io.tables import Column, TableSchema
    from cimento.models.questions import Baseline
    from cimento.runs.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What carries the predictions of a run.

    Attributes:
        run: the run.
        table: the explanations table; see docs/tables.md.
        means: the mean effects over items.
        notes: why some predictions are not explained, as sentences.
        twins: what twins there are, and which items have none, as sentences.
    """

    run: Run
    table: pl.DataFrame
    means: tuple[CellMean, ...]
    notes: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What the tokens of the compared sentences contribute to the margins of a run.

    Attributes:
        run: the run.
        table: the attributions table; see docs/tables.md.
        means: the mean contributions of regions over items.
        baseline: the embedding from which contributions count; zero for gradient x input.
        notes: why some predictions are not explained, as sentences.
    """

    run: Run
    table: pl.DataFrame
    means: tuple[ContributionMean, ...]
    baseline: Baseline
    notes: tuple[str, ...] = ()


def explain(
    run: Run,
    settings: ExplainSettings | None = None,
    *,
    model: str | AnyScorer = "",
    scoring: Asking | None = None,
    cache: AnswerCache | None = None,
    engine: Engine = ONE_WORKER,
    store: bool = True,
    progress: Progress | None = None,
) -> Explanation:
    """Exchange hidden states between the conditions of a run, and measure what that does.

    Args:
        run: run of a region suite by a model of transformers.
        settings: what is exchanged.
        model: the model, if it is not where the run's manifest says.
        scoring: how the model is asked; as in the run if it is not given.
        cache: the cache of answers; None forgets them afterwards.
        engine: the engine that does the work.
        store: whether the table is written beside those of a stored run. Rows of earlier
            explanations stay, except those of the same part, comparisons and items.
        progress: called with the progress.

    Raises:
        UsageError: nothing can be explained so.
        CimentoError: the model cannot be opened or asked.
    """
    settings = settings or ExplainSettings()
    _refuse(run)
    compared = contrasts_of(run, settings)
    table = _table(
        run,
        _interchanges(run, compared, settings),
        lambda asked, answers: explanations_table(run, compared, asked, answers, settings),
        _Arguments(model, scoring, cache, engine, progress),
        kept=_Kept(EXPLANATIONS, ("part", "question", "item")) if store else None,
    )
    return Explanation(
        run=run,
        table=table,
        means=means_of(run, table),
        notes=compared.unexplained,
        twins=tuple(compared.notes()),
    )


def attribute(
    run: Run,
    settings: ExplainSettings | None = None,
    *,
    model: str | AnyScorer = "",
    scoring: Asking | None = None,
    cache: AnswerCache | None = None,
    engine: Engine = ONE_WORKER,
    store: bool = True,
    progress: Progress | None = None,
) -> Attribution:
    """Give each token of the compared sentences its contribution to the margin, by gradients.

    Args:
        run: run of a region suite by a model of transformers.
        settings: the items, the predictions, the rule (``integrated`` gradients, Sundararajan et
            al. 2017, arXiv:1703.01365, or ``gradient`` times input) and the baseline; all others
            are for interchanges.
        model: the model, if it is not where the run's manifest says.
        scoring: how the model is asked; as in the run if it is not given.
        cache: the cache of answers; None forgets them afterwards.
        engine: the engine that does the work.
        store: whether the table is written beside those of a stored run. Rows of earlier
            attributions stay, except those of the same rule, baseline, comparisons and items.
        progress: called with the progress.

    Raises:
        UsageError: nothing can be explained so.
        CimentoError: the model cannot be opened or asked.
    """
    settings = _from_zero(settings or ExplainSettings())
    _refuse(run)
    compared = margins_of(run, settings)
    table = _table(
        run,
        _attributed(run, compared, settings),
        lambda asked, answers: attributions_table(run, compared, asked, answers, settings),
        _Arguments(model, scoring, cache, engine, progress),
        kept=_Kept(ATTRIBUTIONS, ("rule", "baseline", "question", "item")) if store else None,
    )
    return Attribution(
        run=run,
        table=table,
        means=contributions_of(run, table),
        baseline=settings.baseline,
        notes=compared.unexplained,
    )


def plan_explanation(
    run: Run,
    settings: ExplainSettings | None = None,
    *,
    gradients: bool = False,
    model: str | AnyScorer = "",
    scoring: Asking | None = None,
    cache: AnswerCache | None = None,
) -> ModelPlan:
    """The requests and the cost of an explanation, before a model is loaded.

    Args:
        run: run of a region suite by a model of transformers.
        settings: as for `explain` or `attribute`.
        gradients: whether `attribute` is planned, and not `explain`.
        model: the model, if it is not where the run's manifest says.
        scoring: how the model is asked; as in the run if it is not given.
        cache: the cache of answers.

    Raises:
        UsageError: nothing can be explained so.
    """
    settings = settings or ExplainSettings()
    _refuse(run)
    arguments = _Arguments(model, scoring, cache)
    job: ExplainJob[Interchanges] | ExplainJob[Attributed]
    if gradients:
        settings = _from_zero(settings)
        job = _job(run, _attributed(run, margins_of(run, settings), settings), arguments)
    else:
        job = _job(run, _interchanges(run, contrasts_of(run, settings), settings), arguments)
    execution = Execution([job], Work(store=_units(run), ask=False))
    gpu = job.device not in ("cpu", "auto")
    [plan] = plan_models(execution, cache, gpu=gpu)
    return plan


AskedT = TypeVar("AskedT", Interchanges, Attributed)


class _Arguments(NamedTuple):
    """The arguments about asking, which `explain` and `attribute` share."""

    model: str | AnyScorer
    scoring: Asking | None
    cache: AnswerCache | None
    engine: Engine = ONE_WORKER
    progress: Progress | None = None


class _Kept(NamedTuple):
    """How a table is kept: its schema, and the columns that tell which earlier rows it replaces."""

    schema: TableSchema
    keys: tuple[str, ...]


def _from_zero(settings: ExplainSettings) -> ExplainSettings:
    """The settings, with the only baseline of gradient x input: the input itself counts from 0."""
    return replace(settings, baseline="zero") if settings.rule == "gradient" else settings


def _interchanges(
    run: Run, compared: Contrasts, settings: ExplainSettings
) -> Callable[[Asking], Interchanges]:
    """The requests for interchanges under some way of asking."""
    return lambda asking: interchanges(
        run, compared, settings, context=asking.context, by_region=_by_region(run, asking)
    )


def _attributed(
    run: Run, compared: Contrasts, settings: ExplainSettings
) -> Callable[[Asking], Attributed]:
    """The requests for contributions under some way of asking."""
    return lambda asking: attributed(
        run, compared, settings, context=asking.context, by_region=_by_region(run, asking)
    )


def _job(run: Run, make: Callable[[Asking], AskedT], arguments: _Arguments) -> ExplainJob[AskedT]:
    """The job of asking the run's model."""
    where = str(run.folder or run)
    asking = arguments.scoring or asking_of(run.manifest, where=where)
    handle = ModelHandle(arguments.model or model_of(run.manifest, where=where), asking)
    _refuse_other(handle, run)
    title = f"explanation of {run.suite_name!r} x model {run.model!r}"
    _refuse_corrected(asking, title)
    return ExplainJob(handle, make(asking), asking.device, title=title, progress=arguments.progress)


def _table(
    run: Run,
    make: Callable[[Asking], AskedT],
    tabulate: Callable[[AskedT, Answers], pl.DataFrame],
    arguments: _Arguments,
    *,
    kept: _Kept | None,
) -> pl.DataFrame:
    """The table that follows from what the run's model answers; it is kept beside the run's own."""
    job = _job(run, make, arguments)
    work = Work(
        engine=arguments.engine,
        device=job.device,
        store=_units(run) if kept else None,
        cache=arguments.cache or MemoryCache(),
    )
    [answers] = Execution([job], work).run()
    if not isinstance(answers, Answers):
        raise answers or ModelError(where=job.title, seen="nothing came of it")
    table = tabulate(job.asked, answers)
    if kept and run.folder is not None:
        _store(table, run, run.folder, kept)
    return table


def _units(run: Run) -> UnitStore | None:
    """The store of the units of a run."""
    return None if run.folder is None else UnitStore.below(run.folder.parent.parent)


def _by_region(run: Run, asking: Asking) -> bool:
    """Whether a token's score depends on its region."""
    return asking.policy.pll == "region" and run.model_kind == "masked"


def _refuse_corrected(asking: Asking, where: str) -> None:
    """Refuse scores that are not those of single passes over whole texts.

    Raises:
        UsageError: words are corrected for their boundaries, or windows slide.
    """
    if asking.policy.boundary != "none" or asking.policy.window != "refuse":
        raise UsageError(
            where=where,
            seen="words are corrected for their boundaries, or windows slide over texts",
            todo="Run the suite without --boundary and --window, and explain that run.",
        )


def _refuse_other(handle: ModelHandle, run: Run) -> None:
    """Refuse another model than that of the run.

    Raises:
        UsageError: it has another revision.
    """
    revision = manifest_part(run.manifest, "model").get("revision")
    if handle.card.revision != revision:
        raise UsageError(
            where=str(run.folder or run),
            seen=f"it is a run of {run.model}, and this model is {handle.label}",
            todo="Give the model of the run, or run the suite again.",
        )


def _refuse(run: Run) -> None:
    """Refuse a run that cannot be explained.

    Raises:
        UsageError: it is of another kind, or its model or measure has nothing to exchange.
    """
    seen = ""
    if not isinstance(run.suite, Suite):
        seen = f"it is of the kind {run.paradigm.name}, and only runs of regions can be explained"
    elif run.paradigm.restated(run) is not None:
        seen = (
            "the model was asked by prompt, and only the surprisals of sentences can be explained"
        )
    elif run.model_kind not in ("causal", "masked", "seq2seq"):
        seen = f"a {run.model_kind or 'unknown'} model has no hidden states here"
    elif options_of(run).measure:
        seen = f"it is judged on {options_of(run).measure}, and margins are of regions' surprisals"
    if seen:
        raise UsageError(where=str(run.folder or run), seen=seen)


def _store(table: pl.DataFrame, run: Run, folder: Path, kept: _Kept) -> None:
    """Write a table, with the rows of earlier explanations that it does not replace.

    Raises:
        StorageError: the folder cannot be written.
        TableError: the earlier table is damaged.
    """
    import polars as pl

    earlier = explained_table(run, kept.schema)
    if earlier is not None:
        others = earlier.join(table, on=kept.keys, how="anti")
        table = pl.concat([others, table], how="diagonal").select(table.columns)
    write_table(table, kept.schema, folder)


@dataclass(slots=True, eq=False)
class ExplainJob(Generic[AskedT]):
    """The job of asking a model what an explanation needs: a `cimento.engine.jobs.Job`.

    Attributes:
        model: the model of the run.
        asked: the requests, all in one round.
        device: the device on which the model is asked.
        title: its name in messages.
        progress: called with the progress.
        columns: further values of tokens: none.
        is_done: whether it is done already: never.
    """

    model: ModelHandle | Recording
    asked: AskedT
    device: str
    title: str = ""
    progress: Progress | None = None
    columns: tuple[Column, ...] = ()
    is_done: bool = False

    @property
    def later(self) -> int:
        """The number of requests after the first round: none."""
        return 0

    def requests(self, answers: Answers) -> Requests | None:
        """All requests at once."""
        if answers is not NO_ANSWERS:
            return None
        return Requests(asked=list(self.asked.asked), places=REQUESTS.empty())

    def finish(self, answers: Answers | None) -> Answers:
        """The answers."""
        return answers or NO_ANSWERS

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        """The error, with the item and the condition of the request that caused it."""
        place = self.asked.places().get(request)
        if place is not None:
            error.where += f", item {place[0]!r}, condition {place[1]!r}"
            error.args = (str(error),)
        return error
