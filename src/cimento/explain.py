"""Explanations of stored runs: interchanges of hidden states, asked through the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.engines import ONE_WORKER, Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.replay import Recording
from cimento.engine.requests import NO_ANSWERS, Answers, Requests
from cimento.engine.scores import Progress
from cimento.engine.units import UnitStore
from cimento.errors import CimentoError, ModelError, UsageError
from cimento.io.tables import EXPLANATIONS, REQUESTS, find_table, write_table
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.paradigms.regions.explanations import CellMean, explanations_table, means_of
from cimento.paradigms.regions.interchanges import (
    Contrasts,
    ExplainSettings,
    Interchanges,
    contrasts_of,
    interchanges,
)
from cimento.paradigms.regions.judging import options_of
from cimento.runs.reproduce import asking_of, model_of
from cimento.runs.store import manifest_part
from cimento.suites.model import Suite

__all__ = ["ExplainSettings", "Explanation", "explain"]

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from cimento.io.tables import Column
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
    where = str(run.folder or run)
    asking = scoring or asking_of(run.manifest, where=where)
    handle = ModelHandle(model or model_of(run.manifest, where=where), asking)
    _refuse_other(handle, run)
    job = ExplainJob(run, handle, compared, settings, asking=asking, progress=progress)
    folder = None if run.folder is None else UnitStore.below(run.folder.parent.parent)
    kept = cache or MemoryCache()
    work = Work(engine=engine, device=asking.device, store=folder if store else None, cache=kept)
    [answers] = Execution([job], work).run()
    if not isinstance(answers, Answers):
        raise answers or ModelError(where=job.title, seen="nothing came of it")
    table = explanations_table(run, compared, job.asked, answers, settings)
    if store and run.folder is not None:
        _store(table, run.folder)
    return Explanation(
        run=run,
        table=table,
        means=means_of(run, table),
        notes=compared.unexplained,
        twins=tuple(compared.notes(run)),
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
    elif run.model_kind not in ("causal", "masked", "seq2seq"):
        seen = f"a {run.model_kind or 'unknown'} model has no hidden states here"
    elif options_of(run).measure:
        seen = f"it is judged on {options_of(run).measure}, and margins are of regions' surprisals"
    if seen:
        raise UsageError(where=str(run.folder or run), seen=seen)


def _store(table: pl.DataFrame, folder: Path) -> None:
    """Write a table, with the rows of earlier explanations that it does not replace.

    Raises:
        StorageError: the folder cannot be written.
        TableError: the earlier table is damaged.
    """
    import polars as pl

    earlier = find_table(EXPLANATIONS, folder)
    if earlier is not None:
        keys = ["part", "question", "item"]
        table = pl.concat([earlier.join(table, on=keys, how="anti"), table], how="diagonal").select(
            table.columns
        )
    write_table(table, EXPLANATIONS, folder)


@dataclass(slots=True, eq=False)
class ExplainJob:
    """The job of asking a model about interchanges: a `cimento.engine.jobs.Job`.

    Attributes:
        run: run of a region suite.
        model: its model.
        compared: the comparisons.
        settings: the settings.
        asking: how the model is asked.
        progress: called with the progress.
        columns: further values of tokens: none.
        is_done: whether it is done already: never.
        asked: the requests, once they are made.
        title: its name in messages.
    """

    run: Run
    model: ModelHandle | Recording
    compared: Contrasts
    settings: ExplainSettings
    asking: Asking
    progress: Progress | None = None
    columns: tuple[Column, ...] = ()
    is_done: bool = False
    asked: Interchanges = field(default_factory=Interchanges)
    title: str = ""

    def __post_init__(self) -> None:
        self.title = f"explanation of {self.run.suite_name!r} x model {self.run.model!r}"

    @property
    def later(self) -> int:
        """The number of requests after the first round: none."""
        return 0

    def requests(self, answers: Answers) -> Requests | None:
        """All requests at once."""
        if answers is not NO_ANSWERS:
            return None
        policy = self.asking.policy
        if policy.boundary != "none" or policy.window != "refuse":
            raise UsageError(
                where=self.title,
                seen="words are corrected for their boundaries, or windows slide over texts",
                todo="Run the suite without --boundary and --window, and explain that run.",
            )
        self.asked = interchanges(
            self.run,
            self.compared,
            self.settings,
            context=self.asking.context,
            by_region=policy.pll == "region" and self.run.model_kind == "masked",
        )
        if not self.asked.patches:
            raise UsageError(
                where=self.title,
                seen="no region before what is measured differs between the two conditions",
                todo="Choose other regions, or give other conditions with --swap.",
            )
        return Requests(asked=list(self.asked.asked), places=REQUESTS.empty())

    def finish(self, answers: Answers | None) -> Answers:
        """The answers."""
        return answers or NO_ANSWERS

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        """The error, with the item and the condition of the request that caused it."""
        keys = {number: key for key, number in self.asked.scores.items()}
        keys |= {number: (place.item, place.base) for number, place in self.asked.patches}
        if request in keys:
            item, condition = keys[request]
            error.where += f", item {item!r}, condition {condition!r}"
            error.args = (str(error),)
        return error
