"""Explanations of stored runs, asked through the engine: interchanges of states, and gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.requests import NO_ANSWERS, Answers, Recording, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import UnitStore
from cimento.errors import CimentoError, ModelError, UsageError
from cimento.evaluation.plan import ModelPlan, plan_models
from cimento.evaluation.reproduce import asking_of, model_of
from cimento.io.tables import REQUESTS, write_table
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.paired.item_outcomes import MEASURE
from cimento.paradigms.regions import (
    GRADIENTS,
    INTERCHANGES,
    Attribution,
    Contrasts,
    ExplainMethod,
    ExplainRequests,
    ExplainSettings,
    Explanation,
)
from cimento.records.store import manifest_part

__all__ = [
    "Attribution", "ExplainSettings", "Explanation", "attribute", "explain", "plan_explanation",
]  # fmt: skip

if TYPE_CHECKING:
    from cimento.io.tables import Column
    from cimento.kinds.run import Run


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
    arguments = _Arguments(model, scoring, cache, engine, progress)
    return _explained(run, settings or ExplainSettings(), INTERCHANGES, arguments, is_kept=store)


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
    arguments = _Arguments(model, scoring, cache, engine, progress)
    return _explained(run, settings, GRADIENTS, arguments, is_kept=store)


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
    arguments = _Arguments(model, scoring, cache)
    job: ExplainJob[Any]
    if gradients:
        _, job = _job(run, _from_zero(settings), GRADIENTS, arguments)
    else:
        _, job = _job(run, settings, INTERCHANGES, arguments)
    execution = Execution([job], Work(store=_units(run), ask=False))
    [plan] = plan_models(execution, cache, gpu=job.device not in ("cpu", "auto"))
    return plan


AskedT = TypeVar("AskedT", bound=ExplainRequests)
ExplainedT = TypeVar("ExplainedT", Explanation, Attribution)


class _Arguments(NamedTuple):
    """The arguments about asking, which `explain` and `attribute` share."""

    model: str | AnyScorer
    scoring: Asking | None
    cache: AnswerCache | None
    engine: Engine = ONE_WORKER
    progress: Progress | None = None


def _from_zero(settings: ExplainSettings) -> ExplainSettings:
    """The settings, with the only baseline of gradient x input: the input itself counts from 0."""
    return replace(settings, baseline="zero") if settings.rule == "gradient" else settings


def _job(
    run: Run,
    settings: ExplainSettings,
    method: ExplainMethod[AskedT, ExplainedT],
    arguments: _Arguments,
) -> tuple[Contrasts, ExplainJob[AskedT]]:
    """The comparisons of a run, and the job of asking its model about them.

    Raises:
        UsageError: nothing can be explained so, or the model is another than that of the run.
    """
    _refuse(run)
    compared = method.compare(run, settings)
    where = str(run.folder or run)
    asking = arguments.scoring or asking_of(run.manifest, where=where)
    handle = ModelHandle(arguments.model or model_of(run.manifest, where=where), asking)
    if handle.card.revision != manifest_part(run.manifest, "model").get("revision"):
        raise UsageError(
            where=where,
            seen=f"it is a run of {run.model}, and this model is {handle.label}",
            todo="Give the model of the run, or run the suite again.",
        )
    title = f"explanation of {run.suite_name!r} x model {run.model!r}"
    if asking.policy.boundary != "none" or asking.policy.window != "refuse":
        raise UsageError(  # the scores are not those of single passes over whole texts
            where=title,
            seen="words are corrected for their boundaries, or windows slide over texts",
            todo="Run the suite without --boundary and --window, and explain that run.",
        )
    by_region = asking.policy.pll == "region" and run.model_kind == "masked"
    asked = method.ask(run, compared, settings, context=asking.context, by_region=by_region)
    job = ExplainJob(handle, asked, asking.device, title=title, progress=arguments.progress)
    return compared, job


def _explained(
    run: Run,
    settings: ExplainSettings,
    method: ExplainMethod[AskedT, ExplainedT],
    arguments: _Arguments,
    *,
    is_kept: bool,
) -> ExplainedT:
    """The results of a method for a run, from what its model answers.

    The table is kept beside the run's own, with the rows of earlier explanations that it does not
    replace.

    Raises:
        StorageError: the folder cannot be written.
        TableError: the earlier table is damaged.
    """
    import polars as pl

    compared, job = _job(run, settings, method, arguments)
    work = Work(
        engine=arguments.engine,
        device=job.device,
        store=_units(run) if is_kept else None,
        cache=arguments.cache or MemoryCache(),
    )
    [answers] = Execution([job], work).run()
    if not isinstance(answers, Answers):
        raise answers or ModelError(where=job.title, seen="nothing came of it")
    table = method.tabulate(run, compared, job.asked, answers, settings)
    if is_kept and run.folder is not None:
        kept, earlier = table, run.explained(method.schema)
        if earlier is not None:
            others = earlier.join(table, on=method.keys, how="anti")
            kept = pl.concat([others, table], how="diagonal").select(table.columns)
        write_table(kept, method.schema, run.folder)
    return method.explained(run, table, compared, settings)


def _units(run: Run) -> UnitStore | None:
    """The store of the units of a run."""
    return None if run.folder is None else UnitStore.below(run.folder.parent.parent)


def _refuse(run: Run) -> None:
    """Refuse a run that cannot be explained.

    Raises:
        UsageError: it is of another kind, or its model or measure has nothing to exchange.
    """
    seen = ""
    if run.sentences is None:
        seen = f"it is of the kind {run.paradigm.name}, and only runs of regions can be explained"
    elif run.paradigm.judge.restated(run) is not None:
        seen = (
            "the model was asked by prompt, and only the surprisals of sentences can be explained"
        )
    elif run.model_kind not in ("causal", "masked", "seq2seq"):
        seen = f"a {run.model_kind or 'unknown'} model has no hidden states here"
    elif measure := getattr(run.options, MEASURE, ""):
        seen = f"it is judged on {measure}, and margins are of regions' surprisals"
    if seen:
        raise UsageError(where=str(run.folder or run), seen=seen)


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
        later: number of requests after the first round: none.
    """

    model: ModelHandle | Recording
    asked: AskedT
    device: str
    title: str = ""
    progress: Progress | None = None
    columns: tuple[Column, ...] = ()
    is_done: bool = False
    later: int = 0

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
