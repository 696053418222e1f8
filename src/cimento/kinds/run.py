"""A run: the answers of one model to one suite of any kind, and everything made from them."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar, Unpack

from cimento._version import __version__
from cimento.errors import MissingDependencyError, TableError, UsageError, did_you_mean
from cimento.io.explained import EXPLAINED
from cimento.io.files import expanded, write_text
from cimento.io.memory import give_back
from cimento.io.parsing import faults_of
from cimento.io.tables import REQUESTS, Rows, collected, find_table, read_table, write_table
from cimento.kinds.judging import judged_otherwise, paradigm_names
from cimento.kinds.option_types import JudgingKeywords
from cimento.kinds.packages import judged_by, with_packages
from cimento.kinds.registry import find_paradigm
from cimento.kinds.restored import asked_suite, stored_options
from cimento.kinds.run_html import run_html
from cimento.kinds.run_line import place_of, run_line
from cimento.kinds.stopped import ADAPTIVE, stopped_estimates
from cimento.kinds.suite_field import LaterSuite, SuiteField
from cimento.records.outcomes import ESTIMATES, OUTCOMES, Estimate, each_outcome, estimates_table
from cimento.records.store import (
    FILES,
    JUDGED,
    MANIFEST,
    PARADIGM,
    SUITE_FOLDER,
    Manifest,
    RunFolder,
    StoredTables,
    find_runs,
    folders_among,
    manifest_part,
    store_answers,
)
from cimento.records.summary import RunSummary, Summary
from cimento.records.usage import stored_usage
from cimento.records.wrong_side import wrong_sides

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from cimento.io.tables import TableSchema
    from cimento.kinds.base import ParadigmOptions, TestSuite
    from cimento.kinds.paradigm import AnyParadigm
    from cimento.suites import Suite

SUMMARY = "summary.json"
MadeT = TypeVar("MadeT")


@dataclass(frozen=True, kw_only=True, repr=False)
class Run:
    """A run: one suite answered by one model, from `evaluate`, `open_run` or `open_runs`.

    Attributes:
        suite: the suite as it was asked; that of a stored run is read when needed.
        paradigm: the paradigm of the suite.
        options: the options of the paradigm, for asking and judging.
        manifest: the inputs, the model, the versions and the settings of the run.
        tables: tables of requests and answers by name; those of a stored run are lazy.
        folder: the folder of the run; None where it is not stored.
    """

    suite: SuiteField = SuiteField()  # noqa: RUF009  # it keeps nothing itself
    paradigm: AnyParadigm
    options: ParadigmOptions
    manifest: Manifest
    tables: Mapping[str, Rows]
    folder: Path | None = None

    @property
    def suite_name(self) -> str:
        """The name of the run's suite."""
        name = manifest_part(self.manifest, "suite").get("name")
        return name if isinstance(name, str) else self.suite.name

    @property
    def sentences(self) -> Suite | None:
        """The suite as one of sentences in regions; None if its items are of another kind."""
        sentences: Suite | None = self.paradigm.reader.sentences(self.suite)
        return sentences

    @property
    def model(self) -> str:
        """Label of the model, ``name@revision``."""
        return str(self.manifest.get("label", ""))

    @property
    def model_kind(self) -> str:
        """Kind of the model: ``causal``, ``masked``, ``seq2seq``, ``replay``; empty if unknown."""
        return str(manifest_part(self.manifest, "model").get("kind", ""))

    @property
    def n_items(self) -> int:
        """The number of items asked about, judged or not; requests without an item do not count."""
        if self._stored is not None:
            return self._stored.n_items
        return self.rows(REQUESTS.name).select("item").collect()["item"].drop_nulls().n_unique()

    def rows(self, name: str) -> pl.LazyFrame:
        """The rows of a table of requests or answers, read when they are needed.

        Args:
            name: name of the table, such as ``requests`` or ``tokens``.

        Raises:
            UsageError: the run has no such table.
            TableError: the table cannot be read.
        """
        if name not in self.tables:
            raise UsageError(
                where=f"table {name!r}",
                seen=f"the run of {self.suite.name!r} has no such table",
                todo=did_you_mean(name, (*self.tables, OUTCOMES.name, ESTIMATES.name)),
            )
        return self.tables[name].lazy()

    def table(self, name: str) -> pl.DataFrame:
        """A table of the run as a polars frame; see docs/parts/tables.md.

        Args:
            name: name of the table, such as ``requests``, ``tokens``, ``outcomes`` or
                ``estimates``.

        Raises:
            UsageError: the run has no such table.
            TableError: the table cannot be read.
        """
        if name == OUTCOMES.name:
            return self.outcomes()
        if name == ESTIMATES.name:
            return estimates_table(self.estimates())
        for schema in EXPLAINED:
            if name == schema.name and (table := self.explained(schema)) is not None:
                return table
        return collected(self.rows(name), where=place_of(self))

    def explained(self, schema: TableSchema) -> pl.DataFrame | None:
        """A table that explanations added to the stored run; None where there is none.

        Args:
            schema: one of `cimento.io.explained.EXPLAINED`.

        Raises:
            TableError: the table is damaged.
        """
        return None if self.folder is None else find_table(schema, self.folder)

    def to_pandas(self, name: str) -> pd.DataFrame:
        """A table of the run as a pandas frame.

        Args:
            name: name of the table, as for `table`.

        Raises:
            UsageError: the run has no such table.
            MissingDependencyError: pandas is not installed.
        """
        if importlib.util.find_spec("pandas") is None:
            raise MissingDependencyError(package="pandas", extra="pandas", purpose="to_pandas")
        table = self.table(name)
        if importlib.util.find_spec("pyarrow") is not None:
            return table.to_pandas()
        import pandas as pd
        import polars as pl

        # polars needs pyarrow for its own conversion.
        texts = (pl.String, pl.Categorical, pl.Enum)
        return pd.DataFrame(
            {
                column.name: pd.Series(column.to_list(), dtype="str")
                if isinstance(column.dtype, texts)
                else column.to_numpy()
                for column in table
            }
        )

    def outcomes(self) -> pl.DataFrame:
        """The outcome of every item and question, judged once; see docs/parts/tables.md.

        Raises:
            CimentoError: nothing was asked, an option does not fit the answers, or judging failed
                (`PluginError`: in another package).
        """
        return self._outcomes

    def estimates(self) -> tuple[Estimate, ...]:
        """The estimates over many items: rates, effects, correlations, with intervals.

        Raises:
            CimentoError: as for `outcomes`.
        """
        return self._estimates

    def once(self, name: str, make: Callable[[], MadeT]) -> MadeT:
        """A value that a paradigm derives from the run, made when it is first needed and then kept.

        Args:
            name: name of the value.
            make: function that makes the value.
        """
        kept: dict[str, MadeT] = vars(self).setdefault("_made", {})
        if name not in kept:
            kept[name] = make()
        return kept[name]

    @cached_property
    def _outcomes(self) -> pl.DataFrame:
        if self._stored is not None and self.folder is not None:
            return read_table(OUTCOMES, self.folder)
        outcomes: pl.DataFrame = self.paradigm.judge.outcomes(self)
        return outcomes

    @cached_property
    def _estimates(self) -> tuple[Estimate, ...]:
        if self._stored is not None:
            return self._stored.estimates
        estimates = self.paradigm.judge.estimates(self)
        return tuple(stopped_estimates(estimates, manifest=self.manifest, table=self.table))

    @cached_property
    def _stored(self) -> RunSummary | None:
        """The stored summary of the run; None where it may be outdated and judging is needed."""
        files = self.manifest.get(FILES)
        is_current = (
            judged_by(self.manifest) == __version__ and isinstance(files, dict) and SUMMARY in files
        )
        if self.folder is None or not is_current or not SuiteField.is_unchanged(self):
            return None
        if any((self.folder / name).exists() for name in JUDGED):
            return None
        folder = self.folder
        try:
            stored = self.once(SUMMARY, lambda: _read_summary(folder))
        except TableError:
            return None
        return dataclasses.replace(stored, folder=str(folder))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """The remarks made while the model was asked, those of judging, and those on results."""
        if self._stored is not None:
            return self._stored.warnings
        noted = self.manifest.get("warnings")
        stored = tuple(map(str, noted)) if isinstance(noted, list) else ()
        return (*stored, *self.paradigm.presenter.warnings(self), *wrong_sides(self.estimates()))

    def summary(self, *, with_outcomes: bool = False) -> RunSummary:
        """The results of the run in one record.

        Args:
            with_outcomes: whether the outcome of every item is included.
        """
        outcomes = tuple(each_outcome(self.outcomes())) if with_outcomes else ()
        if self._stored is not None:
            return dataclasses.replace(self._stored, outcomes=outcomes)
        return RunSummary(
            suite=self.suite.name,
            paradigm=self.paradigm.name,
            model=self.model,
            model_kind=self.model_kind,
            language=self.suite.meta.language,
            n_items=self.n_items,
            folder=str(self.folder) if self.folder else None,
            options=self.options.model_dump(mode="json"),
            estimates=self.estimates(),
            warnings=self.warnings,
            outcomes=outcomes,
            usage=stored_usage(self.manifest),
        )

    def judge(self, **options: Unpack[JudgingKeywords]) -> Run:
        """The same answers judged with other options; nothing stored is changed.

        Args:
            options: options of judging, named as in `evaluate`; the others keep their values.

        Returns:
            A run with the same tables of answers, and its own outcomes and estimates.

        Raises:
            UsageError: the paradigm has no such option, or the option changes the requests.
            CimentoError: the suite lacks what an option names.
        """
        return self.judged(paradigm_names(options))

    def judged(self, options: Mapping[str, object]) -> Run:
        """As `judge`, with the options by the names that they have in `options` of the run."""
        judged = judged_otherwise(self.paradigm, self.options, options)
        run = dataclasses.replace(self, options=judged, suite=SuiteField.changed(self))
        if options:
            judged.refuse_unfit(run.suite)
        return run

    def grouped(self, **options: Unpack[JudgingKeywords]) -> Run:
        """The same outcomes with other options that only change their grouping; as `judge`."""
        run = self.judge(**options)
        vars(run).update(_outcomes=self.outcomes(), warnings=self.warnings)
        return run

    def save(self, folder: RunFolder, *, whole: TestSuite | None = None) -> Run:
        """Store the run, with the manifest written once and last.

        Args:
            folder: the folder of the run; a run that is stored there is replaced.
            whole: the suite to keep a copy of, where only a part of it was asked.

        Raises:
            StorageError: the folder cannot be written.
        """
        # From here on the answers of a long run are read from their files, a block at a time.
        stored = dataclasses.replace(self, tables=store_answers(self.tables, folder).held())
        copied = self if whole is None else dataclasses.replace(self, suite=whole)
        SuiteField.write(copied, folder.suite_folder, writer=self.paradigm.reader.write)
        give_back()  # judging leaves gaps where the tables of its blocks were
        write_table(stored.outcomes(), OUTCOMES, folder.path)
        give_back()
        write_table(estimates_table(stored.estimates()), ESTIMATES, folder.path)
        summary = dataclasses.replace(stored.summary(), folder=str(folder.path))
        write_text(summary.to_json(), folder.path / SUMMARY)
        options = self.options.model_dump(mode="json")
        parts = {**self.manifest, PARADIGM: self.paradigm.name, "options": options}
        parts = with_packages(parts, self.options)
        return self.as_saved(StoredParts(folder.finish(parts), summary), folder)

    def as_saved(self, saved: StoredParts, folder: RunFolder) -> Run:
        """The run as it was stored, perhaps by another process.

        Args:
            saved: the manifest and the summary that were stored.
            folder: the folder of the run.
        """
        suite = self.suite
        run = dataclasses.replace(
            self,
            suite=LaterSuite(lambda: suite, folder.suite_folder),
            manifest=saved.manifest,
            tables=StoredTables(folder.path),
            folder=folder.path,
        )
        run.once(SUMMARY, lambda: saved.summary)
        return run

    def __repr__(self) -> str:
        return run_line(self)

    def _repr_html_(self) -> str:
        """The run in HTML, for notebooks."""
        return run_html(self.summary())


class StoredParts(NamedTuple):
    """The parts of a run that are stored last.

    Attributes:
        manifest: the manifest.
        summary: the results.
    """

    manifest: Manifest
    summary: RunSummary


def _read_summary(folder: Path) -> RunSummary:
    """The results in the folder of a run.

    Raises:
        TableError: they cannot be read.
    """
    return Summary.from_json(RunFolder(folder).read_text(SUMMARY), where=SUMMARY).runs[0]


_NEEDED = {PARADIGM: str, "model": dict, "label": str, FILES: dict}  # of every manifest


def open_run(path: str | Path) -> Run:
    """Open a stored run; nothing is written.

    Args:
        path: folder of the run.

    Returns:
        The run, whose tables are read when needed.

    Raises:
        TableError: there is no finished run in the folder, or a part of it cannot be read.

    Example:
        >>> open_run(evaluate("it-subject-verb", "demo-causal", output="runs").folder).suite_name
        'it-subject-verb'
    """
    return _opened(path, {})


def _opened(path: str | Path, suites: dict[str, Callable[[], TestSuite]]) -> Run:
    """A stored run, which shares its suite with others that have the same copy of it.

    Args:
        path: folder of the run.
        suites: what reads the suites of earlier ones, by their content; this one is added.

    Raises:
        TableError: as for `open_run`.
    """
    from pydantic import ValidationError

    folder = RunFolder(expanded(path))
    manifest = folder.manifest()
    folder.verify(manifest)
    for name, kind in _NEEDED.items():
        if not isinstance(manifest.get(name), kind):
            raise TableError(
                where=str(folder.path), seen=f"its manifest lacks {name!r}", todo="Run again."
            )
    paradigm = find_paradigm(str(manifest[PARADIGM]))
    try:
        options = stored_options(paradigm, manifest)
    except ValidationError as error:
        place, message = faults_of(error)[0]
        raise TableError(
            where=", ".join(filter(None, (str(folder.path / MANIFEST), "options", place))),
            seen=message,
            todo="Was it edited? Run again.",
        ) from error
    return Run(
        suite=LaterSuite(
            suites.setdefault(
                _content_key(manifest, folder),
                cache(partial(asked_suite, paradigm, folder, manifest)),
            ),
            folder.suite_folder,
        ),
        paradigm=paradigm,
        options=options,
        manifest=manifest,
        tables=StoredTables(folder.path),
        folder=folder.path,
    )


def _content_key(manifest: Manifest, folder: RunFolder) -> str:
    """What the suite of a run is read from; its folder, where that may be more than the copy."""
    files = manifest.get(FILES)
    if not isinstance(files, dict) or ADAPTIVE in manifest:
        return str(folder.path)
    names = sorted(f"{SUITE_FOLDER}/{path.name}" for path in folder.suite_folder.iterdir())
    if not names or not all(name in files for name in names):
        return str(folder.path)
    copies = {name: files[name] for name in names}
    limit = manifest_part(manifest, "inputs").get("limit")
    return json.dumps([manifest.get(PARADIGM), limit, copies], sort_keys=True)


def open_runs(paths: str | Path | Iterable[str | Path]) -> list[Run]:
    """Open the runs in some folders, of any kind.

    Args:
        paths: one path or several; each is the folder of a run or a folder of runs.

    Returns:
        The runs, in the order of the folders and then of their paths.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read.

    Example:
        >>> run = evaluate("it-subject-verb", "demo-causal", output="runs")
        >>> len(open_runs("runs"))
        1
    """
    several = [paths] if isinstance(paths, str | Path) else list(paths)
    suites: dict[str, Callable[[], TestSuite]] = {}
    return [_opened(run.path, suites) for path in folders_among(several) for run in find_runs(path)]


RunLike: TypeAlias = "Run | str | Path"
RunsLike: TypeAlias = "RunLike | Iterable[RunLike]"
"""A run, the folder of a run, a folder of runs, or several of these."""


def runs_of(runs: RunsLike) -> list[Run]:
    """Runs from any of the forms in which they can be given; errors as of `open_runs`.

    Args:
        runs: one or several runs or folders; folders are opened.
    """
    several = [runs] if isinstance(runs, Run | str | Path) else runs
    return [run for one in several for run in ([one] if isinstance(one, Run) else open_runs(one))]
