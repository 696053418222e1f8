"""The job of asking one model about one suite: its requests and its run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.engine.handle import ModelHandle
from cimento.engine.requests import NO_ANSWERS, Answers, Recording, Requests, sentences_in
from cimento.engine.scores import SCORING_VERSION, Progress
from cimento.errors import CimentoError, PluginError
from cimento.evaluation.adaptive import AdaptiveRounds
from cimento.evaluation.honored import honored
from cimento.evaluation.remarks import about_suite
from cimento.intake.reading import READ, with_role
from cimento.io.helper_process import HelperProcess
from cimento.io.tables import COLUMNS, REQUESTS, Rows
from cimento.kinds.base import ParadigmOptions, TestSuite
from cimento.kinds.clusters import chosen_clusters
from cimento.kinds.packages import FORMAT
from cimento.kinds.partial import IN_TURN, TAKEN
from cimento.kinds.reader import limited
from cimento.kinds.registry import suite_digest
from cimento.kinds.run import Run, StoredParts, open_run
from cimento.kinds.stopped import ADAPTIVE
from cimento.kinds.suite_field import SuiteField
from cimento.models.base import TWO_SIDED
from cimento.models.settings import Asking, Policy
from cimento.models.special_tokens import suspicious
from cimento.options import RunOptions
from cimento.records.store import CONTENT, MANIFEST, ORDER, RunFolder, describe, store_answers
from cimento.records.usage import USAGE, Price, RunUsage, read_prices, usage_of_run
from cimento.suites import JsonValue
from cimento.suites.digest import whole_digest
from cimento.suites.sources import source_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.kinds.registry import LoadedSuite


_SENT = 20_000  # largest number of requests whose answers are sent to the helper process

SUITE_FILES = "files"
"""Key of the suite's manifest entry: the files that alone determine it, if they are known."""

ITEMS_OF_SUITE = "items_of_suite"
"""Key of the manifest of a run with a limit: the number of items of the whole suite."""

_SHOWN = "shown"
"""Key of the inputs: digest of the suite with its names and comments, which a run shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunParts:
    """Everything but the answers from which a run is made, perhaps in another process.

    Attributes:
        suite: the suite as it was asked.
        loaded: the suite of the job.
        options: options of the suite's paradigm.
        scoring: the settings of scoring.
        inputs: the inputs of the run, without its names and comments.
        warnings: remarks of the model.
        entries: further entries of the manifest.
    """

    suite: TestSuite
    loaded: LoadedSuite
    options: ParadigmOptions
    scoring: Asking
    inputs: Mapping[str, JsonValue]
    warnings: Sequence[str]
    entries: Mapping[str, Any]

    def run(self, tables: Mapping[str, Rows]) -> Run:
        """The run of some tables of requests and answers, in memory.

        This looks for the warnings about the suite, which takes longer than reading it.
        """
        asked = tables[REQUESTS.name]
        remarks = about_suite(
            self.loaded.reading, limit=self.scoring.limit, entries=self.entries, asked=asked
        )
        return Run(
            suite=self.suite,
            paradigm=self.loaded.paradigm,
            options=self.options,
            manifest=describe(
                suite=_identity(self.loaded, chosen_clusters(self.options)),
                asking=self.scoring,
                inputs=_shown_inputs(self.inputs, self.loaded),
                warnings=(*remarks, *self.warnings),
                **self.entries,
            ),
            tables=tables,
        )


def _saved(parts: _RunParts, tables: Mapping[str, Rows], folder: RunFolder) -> StoredParts:
    """The manifest and the summary of a run, which is judged and stored here."""
    run = parts.run(tables).save(folder, whole=parts.loaded.suite)
    return StoredParts(run.manifest, run.summary())


def _shown_inputs(inputs: Mapping[str, JsonValue], loaded: LoadedSuite) -> dict[str, JsonValue]:
    return {**inputs, _SHOWN: whole_digest(loaded.suite)}


class SuiteJob:
    """The job of asking one model about one suite: a `cimento.engine.jobs.Job` that makes a run.

    Args:
        loaded: the suite, reduced to the items that are asked about.
        model: the model, or a recording.
        options: options of the suite's paradigm.
        scoring: the settings of scoring.
        shown: the model's name in messages.
        folder: folder of the run; None keeps the run in memory.
        force: whether a run that is stored there is made again.
        progress: called with the progress of the job.
        noted: further entries of the manifest.
        prices: prices of models on servers, by the name of the model.
        helper: a process that stores runs while a model on a GPU answers.
    """

    def __init__(  # noqa: PLR0913  # what a run is made of
        self,
        loaded: LoadedSuite,
        model: ModelHandle | Recording,
        options: ParadigmOptions,
        *,
        scoring: Asking,
        shown: str,
        folder: RunFolder | None = None,
        force: bool = False,
        progress: Progress | None = None,
        noted: Mapping[str, JsonValue] | None = None,
        prices: Mapping[str, Price] | None = None,
        helper: HelperProcess | None = None,
    ) -> None:
        self.suite_name, self.shown = loaded.suite.name, shown
        self.title = f"suite {self.suite_name!r} x model {shown!r}"
        self.model, self.columns, self.progress = model, scoring.columns, progress
        self._loaded, self._options, self._scoring = loaded, options, scoring
        self._folder, self._noted = folder, noted or {}
        self._prices, self._helper = prices or {}, helper
        self._rounds: AdaptiveRounds | None = None
        if scoring.precision is not None:
            self._rounds = AdaptiveRounds(
                loaded.paradigm,
                loaded.suite,
                precision=scoring.precision,
                seed=scoring.order_seed,
                ask=self._ask,
                judge=self._judged,
            )
        self._inputs = {
            **inputs_of(
                loaded.content,
                model,
                options,
                scoring,
                language=loaded.reading.language,
                roles=loaded.reading.columns,
            ),
            **options.inputs(loaded.suite, scoring),
        }
        if columns := chosen_clusters(options):  # refused before a model is asked
            loaded.paradigm.judge.clustered(loaded.suite, columns)
        self._places: list[pl.DataFrame] = []
        self._suspicious: dict[str, None] = {}
        self.is_done = folder is not None and not force and self._is_in(folder)

    def _is_in(self, folder: RunFolder) -> bool:
        """Whether the run is stored in a folder, also by a version that named the suite's file."""
        if not (folder.path / MANIFEST).is_file():
            return False  # the digest of a long suite is made while the model answers
        earlier = {**self._inputs, "suite": self._loaded.reading.sha256}
        return any(map(folder.is_done, (_shown_inputs(self._inputs, self._loaded), earlier)))

    @property
    def place(self) -> Path | None:
        """The folder of the run; None where it is kept in memory."""
        return None if self._folder is None else self._folder.path

    def prepare(self) -> None:
        """Prepare the folder of the run, before anything is computed.

        Raises:
            StorageError: the run cannot be stored there.
        """
        if self._folder is not None and not self.is_done:
            self._folder.prepare()

    def tidy(self) -> None:
        """Remove the folder that `prepare` made if no run came of it."""
        if self._folder is not None:
            self._folder.remove_empty()

    def requests(self, answers: Answers) -> Requests | None:
        """The next round of requests; None after the last round."""
        rounds = self._rounds
        requests = rounds.requests(answers) if rounds else self._ask(self._loaded.suite, answers)
        if requests is not None:
            self._places.append(requests.places)
            texts = chain.from_iterable(map(sentences_in, requests.asked))
            self._suspicious |= dict.fromkeys(suspicious(texts))
        return requests

    def _ask(self, suite: TestSuite, answers: Answers) -> Requests | None:
        requests: Requests | None = self._loaded.paradigm.asker.requests(
            suite, self._options, scoring=self._scoring, model=self.model, answers=answers
        )
        if requests is not None:
            self._refuse_unknown_places(requests, first=answers.n)
        return requests

    def _refuse_unknown_places(self, requests: Requests, *, first: int) -> None:
        """Refuse places of requests that are not in the round.

        Raises:
            PluginError: there is one.
        """
        asked = range(first, first + len(requests.asked))
        unknown = set(requests.places["request"].unique()).difference(asked)
        if unknown:
            raise PluginError(
                where=f"the requests of the paradigm {self._loaded.paradigm.name!r}",
                seen=f"their places name the request {min(unknown)}, and those of this round are "
                + (f"{first} to {asked[-1]}" if asked else "none"),
                todo="Number the requests by their place in `asked`, where each has a place of its"
                " own though it repeats another. Please tell its author.",
            )

    @property
    def items(self) -> int:
        """The number of items asked about so far; requests that belong to no item do not count."""
        if self.is_done and self._folder is not None:
            return open_run(self._folder.path).n_items
        places = (table["item"].drop_nulls() for table in self._places)
        return len({item for items in places for item in items.to_list()})

    @property
    def later(self) -> int:
        """The largest number of requests after the first round."""
        later = int(self._loaded.paradigm.asker.later(self._loaded.suite, self._options))
        return later if self._rounds is None else later + self._rounds.later

    def finish(self, answers: Answers | None) -> Run:
        """The run of the answers, stored; without answers, the run that is stored already."""
        if answers is None and self._folder is not None:
            run = open_run(self._folder.path)
            same = run.options == self._options
            if same:
                return run
            return dataclasses.replace(run, options=self._options, suite=SuiteField.changed(run))
        answers, rounds = answers or NO_ANSWERS, self._rounds
        suite = self._loaded.suite if rounds is None else rounds.suite
        noted = {} if rounds is None else {ADAPTIVE: rounds.record}
        # A model on the CPU needs the cores itself.
        is_fed = isinstance(self.model, ModelHandle) and self.model.waits
        helper = self._helper if is_fed and answers.n <= _SENT else None
        tables = self._tables(answers, is_held=self._folder is None or helper is not None)
        parts = self._parts(suite, answers, **noted)
        if self._folder is None:
            return parts.run(tables)
        if helper is None:
            return parts.run(tables).save(self._folder, whole=self._loaded.suite)
        saved = helper.call(_saved, parts, tables, self._folder)
        loaded, options = self._loaded, self._options
        run = Run(suite=suite, paradigm=loaded.paradigm, options=options, manifest={}, tables={})
        return run.as_saved(saved, self._folder)

    def _parts(self, suite: TestSuite, answers: Answers, **noted: JsonValue) -> _RunParts:
        """The parts of a run besides some answers about the suite, or about a part of it."""
        return _RunParts(
            suite=suite,
            loaded=self._loaded,
            options=self._options,
            scoring=self._scoring,
            inputs=self._inputs,
            warnings=(
                *answers.warnings,
                *self._without_effect(answers),
                *self._on_special_tokens(),
            ),
            entries={
                "label": self.model.label,
                "model": answers.model or self.model.card,
                "named": self.model.named,
                **self._usage(answers),
                **self._noted,
                **noted,
            },
        )

    def _on_special_tokens(self) -> tuple[str, ...]:
        """A note on special tokens of the model in the texts that it was asked about."""
        if not isinstance(self.model, ModelHandle):
            return ()
        return self.model.on_special_tokens(self._suspicious)

    def _without_effect(self, answers: Answers) -> tuple[str, ...]:
        """A remark on an option for masked models that was given for another one."""
        pll, card = self._scoring.policy.pll, answers.model or self.model.card
        # Conventions of other programs say what they do with either kind.
        compat: object = getattr(self._options, "compat", "")
        if pll == Policy().pll or card.kind in TWO_SIDED or compat:
            return ()
        return (
            f"--pll={pll} has no effect: it is for masked models, and this one is {card.kind}.",
        )

    def _judged(self, suite: TestSuite, places: pl.DataFrame, answers: Answers) -> Run:
        """The run of a part of the suite, in memory."""
        tables = {REQUESTS.name: places, **{n: t.collect() for n, t in answers.tables.items()}}
        return self._parts(suite, answers).run(tables)

    def _tables(self, answers: Answers, *, is_held: bool) -> Mapping[str, Rows]:
        """The tables of the run, stored or in memory."""
        import polars as pl

        tables = {REQUESTS.name: pl.concat(self._places).lazy(), **answers.tables}
        if self._rounds is not None:
            tables[ORDER.name] = self._rounds.table.lazy()
        # The memory of the requests is needed for judging once they are on the disk.
        self._places.clear()
        if self._folder is not None and not is_held:
            return store_answers(tables, self._folder)
        return {name: rows.collect() for name, rows in tables.items()}

    def _usage(self, answers: Answers) -> dict[str, RunUsage]:
        """The manifest's entry of requests to a server; empty where no server was asked."""
        if not answers.usage and not (isinstance(self.model, ModelHandle) and self.model.is_server):
            return {}
        price = self._prices.get(self.model.card.name)
        return {USAGE: usage_of_run(answers.usage, asked=answers.n, price=price)}

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        """An error with the suite, the item and the condition of the request that caused it."""
        import polars as pl

        places = pl.concat(self._places).filter(pl.col("request") == request)
        for item, condition in places.select("item", "condition").head(1).iter_rows():
            named = f", condition {condition!r}" if condition else ""
            error.where += f", suite {self.suite_name!r}, item {item!r}{named}"
            error.args = (str(error),)
        return error


def suite_job(
    loaded: LoadedSuite,
    model: ModelHandle | Recording,
    run_options: RunOptions,
    *,
    shown: str,
    progress: Progress | None = None,
    helper: HelperProcess | None = None,
) -> SuiteJob:
    """The job of one suite and one model under the options of a run.

    Args:
        loaded: the whole suite.
        model: the model, or a recording.
        run_options: the options of the run.
        shown: the model's name in messages.
        progress: called with the progress of the job.
        helper: a process that stores the run while a model on a GPU answers.

    Raises:
        CimentoError: the suite cannot be asked with these options.
    """
    handle = model if isinstance(model, ModelHandle) else None
    asked = honored(loaded.paradigm, run_options, handle)
    # The digest of the whole suite, which names the folder of a part of it too.
    reading = dataclasses.replace(loaded.reading, content=loaded.content)
    loaded = dataclasses.replace(loaded, reading=reading)
    suite, taken = _limited(loaded, model, run_options.limit)
    if suite is loaded.suite:  # Nothing is left out: the run is that of the whole suite.
        asked = dataclasses.replace(asked, scoring=dataclasses.replace(asked.scoring, limit=None))
    noted: dict[str, JsonValue] = {"run_file": run_options.run_file} if run_options.run_file else {}
    noted |= taken
    output = run_options.output
    named = (loaded.suite.name, loaded.content, model.label)
    return SuiteJob(
        dataclasses.replace(loaded, reading=dataclasses.replace(reading, suite=suite)),
        model,
        asked.options,
        scoring=with_columns(asked.scoring, asked.options),
        shown=shown,
        folder=None if output is None else asked.folder(output, *named, suite=loaded.suite),
        force=run_options.force,
        progress=progress,
        noted=noted,
        prices=None if run_options.prices is None else read_prices(run_options.prices),
        helper=helper,
    )


def _limited(
    loaded: LoadedSuite, model: ModelHandle | Recording, limit: int | None
) -> tuple[TestSuite, dict[str, JsonValue]]:
    """A suite with so many items, of those that a recording has, and what the manifest says of it.

    Where nothing is left out it is the suite itself.
    """
    suite, reader = loaded.suite, loaded.paradigm.reader
    if limit is None:
        return suite, {}
    ids = reader.groups(suite).ids
    recorded = model.items if isinstance(model, Recording) else frozenset(ids)
    is_part = not recorded.issuperset(ids)
    if is_part:
        suite = reader.selected(suite, recorded)
    groups = reader.groups(suite)
    suite = limited(reader, suite, limit)
    if suite is loaded.suite:
        return suite, {}
    whole = loaded.paradigm.presenter.record(loaded.suite, 0).get("n_items")
    noted: dict[str, JsonValue] = {IN_TURN: list(groups.by)}
    if is_part:  # the limit alone does not tell which items the recording has
        noted[TAKEN] = list(groups.first(limit))
    return suite, {ITEMS_OF_SUITE: whole, **noted} if isinstance(whole, int) else noted


def with_columns(scoring: Asking, options: ParadigmOptions) -> Asking:
    """The settings of scoring, with the columns that judging needs."""
    wanted = {*scoring.columns, *options.columns}
    named = tuple(column for column in COLUMNS if column in wanted)
    layers = tuple(column for column in scoring.columns if column not in COLUMNS)
    return dataclasses.replace(scoring, columns=(*named, *layers))


def _identity(loaded: LoadedSuite, clusters: Sequence[str]) -> dict[str, JsonValue]:
    """The identity of a suite, for the manifest; columns chosen as its clusters are used."""
    meta, reading = loaded.suite.meta, loaded.reading
    identity: dict[str, JsonValue] = {
        "name": meta.name,
        "version": meta.version,
        "sha256": reading.sha256,
        CONTENT: loaded.content,
    }
    if reading.format.startswith("."):
        identity[FORMAT] = reading.format
    if source := source_of(reading.path):
        identity["source"] = source
    if reading.table is not None:
        identity[READ] = with_role(reading.table, "cluster", clusters).said()
    names, sha256 = suite_digest(loaded.paradigm, reading.path)
    return {**identity, SUITE_FILES: names} if sha256 == reading.sha256 else identity


def inputs_of(
    content: str,
    model: ModelHandle | Recording,
    options: ParadigmOptions,
    scoring: Asking,
    *,
    language: str,
    roles: Mapping[str, str],
) -> dict[str, JsonValue]:
    """The inputs that decide whether a stored run answers the same question.

    The suite itself may add further inputs.

    Args:
        content: digest of the suite's content.
        model: the model, or a recording.
        options: options of the suite's paradigm.
        scoring: the settings of scoring.
        language: language given as an option; empty where the suite states its language.
        roles: the columns of a table by their roles, given as an option.
    """
    inputs: dict[str, JsonValue] = {
        **model.inputs,
        "suite": content,
        "limit": scoring.limit,
        "context": [scoring.context.text, scoring.context.column],
        "all_tokens": scoring.all_tokens,
        "columns": list(scoring.columns),
        "asked": options.asked(),
        "scoring_version": SCORING_VERSION,
    }
    if scoring.limit is not None:
        inputs["taken"] = "in turn"
    if language:
        inputs["language"] = language
    if roles:
        inputs["roles"] = dict(roles)
    if scoring.precision is not None:
        inputs[ADAPTIVE] = [scoring.precision, scoring.order_seed]
    return inputs
