"""evaluate(): a suite and a model to verdicts with intervals, the stages called in order.

Read this file first. Each stage is a module of its own::

    suites -> requests -> models, engine -> answers -> measures -> verdicts -> report
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from cimento.answers import COLUMNS
from cimento.api import Failure
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.scores import SCORING_VERSION, Progress
from cimento.errors import CimentoError, StorageError, SuiteError, UsageError
from cimento.judging import Judging
from cimento.measures import columns_needed
from cimento.measures.unigrams import load_unigrams
from cimento.models.base import Scorer
from cimento.outline import Numbering, Outline
from cimento.results import Run
from cimento.runs.manifest import BLANK, describe
from cimento.runs.store import RunFolder
from cimento.sources import Answered, Asking, Source, name_of, open_source, shown_name
from cimento.suites import faults
from cimento.suites.archives import is_archive
from cimento.suites.builtin import find_suite, name_or_path
from cimento.suites.checks import check_suite
from cimento.suites.load import LoadedSuite, load_suite, load_suites, suite_paths
from cimento.suites.model import JsonValue, Suite

SuiteLike: TypeAlias = "str | Path | Suite | LoadedSuite"

ProgressFor: TypeAlias = Callable[[str, str], Progress]
"""From the names of a suite and a model to what is told how far their run is."""


class Named(Protocol):
    """A source as far as it is known before it answers."""

    @property
    def label(self) -> str:
        """Name and revision."""

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """What makes its answers what they are."""


def evaluate(
    suite: SuiteLike,
    model: str | Scorer,
    *,
    asking: Asking | None = None,
    judging: Judging | None = None,
    output: Path | None = None,
    cache: AnswerCache | None = None,
) -> Run:
    """Ask one suite of one model and judge the answers.

    Args:
        suite: a built-in name, a path, or a suite made in Python.
        model: a name as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        asking: how the model is asked.
        judging: how the answers are judged.
        output: folder of runs to write to; None keeps the run in memory.
        cache: where answers are kept; None forgets them afterwards.

    Returns:
        The run: its `summary()`, `verdicts()`, `tokens()`, `requests()`.

    Raises:
        CimentoError: the suite, the model or an option cannot be used.
    """
    found = read_suites([suite])
    if len(found) != 1:
        raise UsageError(
            where=str(suite),
            seen=f"there are {len(found)} suites here: {', '.join(s.suite.name for s in found)}",
            todo="Give one of them, or use evaluate_all.",
        )
    evaluation = Evaluation(asking=asking or Asking(), judging=judging or Judging(), output=output)
    source = open_source(model, evaluation.full_asking)
    return evaluation.run(found[0], source, cache=cache or MemoryCache())


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How suites are evaluated: the same for every suite and model of one call.

    Attributes:
        asking: how models are asked.
        judging: how answers are judged.
        output: folder of runs to write to; None keeps runs in memory.
        force: run again what is already stored.
        run_file: what a run file said, for the manifest; empty where there was none.
    """

    asking: Asking
    judging: Judging
    output: Path | None = None
    force: bool = False
    run_file: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def full_asking(self) -> Asking:
        """How models are asked, with the columns that the judging's measure needs.

        Raises:
            UsageError: there is no such measure.
        """
        wanted = {*self.asking.columns, *columns_needed([self.judging.measure])}
        named = tuple(column for column in COLUMNS if column in wanted)
        layers = tuple(column for column in self.asking.columns if column not in COLUMNS)
        return dataclasses.replace(self.asking, columns=(*named, *layers))

    def run(
        self,
        loaded: LoadedSuite,
        source: Source,
        *,
        cache: AnswerCache,
        progress: Progress | None = None,
    ) -> Run:
        """One suite and one model to a run; a run that is stored already is opened.

        Raises:
            CimentoError: the suite cannot be asked, or the model cannot answer.
        """
        stored = self.stored(loaded, source)
        if stored is not None:
            return stored
        asked = self.asked(loaded)
        return self.finish(loaded, source, source.answer(asked, cache=cache, progress=progress))

    def asked(self, loaded: LoadedSuite) -> Suite:
        """The suite as it is asked: its first items, with the predictions that are judged.

        Raises:
            CimentoError: it cannot be judged in this way.
        """
        suite = self.limited(loaded.suite)
        if self.asking.own_blank and suite.leading_blank is not None:
            suite = dataclasses.replace(suite, leading_blank=None)
        return self.judging.applied(suite)

    def outline(self, loaded: LoadedSuite, numbering: Numbering | None = None) -> Outline:
        """What the suite asks of a model that needs to know no more than its texts.

        Args:
            loaded: the suite.
            numbering: of the outline, where it is known.

        Raises:
            CimentoError: it cannot be asked, or cannot be judged in this way.
        """
        self._check_unigrams(loaded.suite)
        asked, asking = self.asked(loaded), self.asking
        return Outline(
            asked, all_tokens=asking.all_tokens, context=asking.context, numbering=numbering
        )

    def limited(self, suite: Suite) -> Suite:
        """The first items of a suite, as many as are asked."""
        limit = self.asking.limit
        return suite if limit is None else dataclasses.replace(suite, items=suite.items[:limit])

    def stored(self, loaded: LoadedSuite, source: Named) -> Run | None:
        """The run as it is stored; None where it is not, and can be.

        Raises:
            CimentoError: frequencies or the stored run cannot be read, or its folder not written.
        """
        suite = self.limited(loaded.suite)
        self._check_unigrams(suite)
        folder = self._folder(loaded, source)
        if folder is not None and self.is_stored(loaded, source):
            return self._reopen(folder)
        if folder is not None:
            folder.prepare()
        return None

    def is_stored(self, loaded: LoadedSuite, source: Named) -> bool:
        """Whether the run is stored already, and may be taken as it is."""
        suite = self.limited(loaded.suite)
        folder = self._folder(loaded, source)
        inputs = self._inputs(loaded, suite, source)
        return folder is not None and not self.force and folder.is_done(inputs)

    def finish(self, loaded: LoadedSuite, source: Named, answers: Answered) -> Run:
        """The run that answers make; stored, where there is a folder of runs.

        Raises:
            StorageError: it cannot be written.
        """
        suite = self.limited(loaded.suite)
        folder = self._folder(loaded, source)
        warnings = (*map(str, loaded.warnings), *answers.tables.warnings)
        run = Run(
            suite=suite,
            model=source.label,
            model_kind=answers.card.kind,
            manifest=describe(
                label=source.label,
                model=answers.card,
                suite={"name": suite.name, "version": suite.meta.version, "sha256": loaded.sha256},
                asking=self.full_asking,
                named=name_of(source),
                inputs=self._inputs(loaded, suite, source),
                warnings=warnings,
                **({"run_file": self.run_file} if self.run_file else {}),
            ),
            answers=dataclasses.replace(answers.tables, warnings=warnings),
            judging=self.judging,
        )
        return run if folder is None else run.save(folder, suite_copy=loaded.copy)

    def _check_unigrams(self, suite: Suite) -> None:
        """Read frequencies before a model is asked, so that a mistake is found at once."""
        if self.judging.unigrams:
            load_unigrams(self.judging.unigrams, language=suite.meta.language)

    def _folder(self, loaded: LoadedSuite, source: Named) -> RunFolder | None:
        if self.output is None:
            return None
        suite, asked = loaded.suite.name, self.asking.digest()
        return RunFolder.named(
            self.output, suite=suite, sha256=loaded.sha256, model=source.label, policy=asked
        )

    def _inputs(self, loaded: LoadedSuite, suite: Suite, source: Named) -> dict[str, JsonValue]:
        """What decides whether a stored run answers the same question."""
        formulas: list[JsonValue] = [p.formula for p in self.judging.applied(suite).predictions]
        columns: list[JsonValue] = list(self.full_asking.columns)
        blank = None if self.asking.own_blank else suite.leading_blank
        return {
            **source.inputs,
            "suite": loaded.sha256,
            "limit": self.asking.limit,
            "context": [self.asking.context.text, self.asking.context.column],
            "all_tokens": self.asking.all_tokens,
            "columns": columns,
            "predictions": formulas,
            "scoring_version": SCORING_VERSION,
            # Runs of suites that do not say it are as they were.
            **({} if blank is None else {BLANK: blank}),
        }

    def _reopen(self, folder: RunFolder) -> Run:
        """The stored run; judged again, and stored so, where it was judged in another way."""
        run = Run.open(folder, stored=True)
        return run if run.judging == self.judging else run.judge(self.judging).save(folder)


def evaluate_all(
    suites: SuiteLike | Sequence[SuiteLike],
    models: str | Scorer | Sequence[str | Scorer],
    evaluation: Evaluation,
    *,
    cache: AnswerCache | None = None,
    progress: ProgressFor | None = None,
) -> Iterator[Run | Failure]:
    """Ask several suites of several models; each model is loaded once, and only if it must be.

    What cannot be run is yielded as a `Failure`, and the rest goes on; where nothing could be
    written, it stops.

    Args:
        suites: one or several, each as for `evaluate`.
        models: one or several, each as for `evaluate`.
        evaluation: how they are asked, judged and stored.
        cache: where answers are kept; None forgets them afterwards.
        progress: told how far each run is.

    Raises:
        CimentoError: a suite cannot be read, two have one name, or the output cannot be written.
    """
    found = read_suites(suites)
    refuse_same_names(found)
    kept = cache or MemoryCache()
    if isinstance(models, str) or not isinstance(models, Sequence):
        models = [models]
    for model in models:
        yield from evaluate_model(found, model, evaluation, cache=kept, progress=progress)


def evaluate_model(
    suites: Iterable[LoadedSuite],
    model: str | Scorer,
    evaluation: Evaluation,
    *,
    cache: AnswerCache,
    progress: ProgressFor | None = None,
) -> Iterator[Run | Failure]:
    """The same for one model, of suites with different names, each read when its turn comes.

    Raises:
        StorageError: a run cannot be written.
    """
    name = shown_name(model)
    try:
        # Opened here, so that the model is given back when all suites are asked.
        source = open_source(model, evaluation.full_asking)
    except CimentoError as error:
        yield from (Failure(loaded.suite.name, name, error) for loaded in suites)
        return
    for loaded in suites:
        told = progress(loaded.suite.name, name) if progress else None
        try:
            yield evaluation.run(loaded, source, cache=cache, progress=told)
        except StorageError:
            raise
        except CimentoError as error:
            yield Failure(loaded.suite.name, name, error)


def read_suites(suites: SuiteLike | Iterable[SuiteLike]) -> list[LoadedSuite]:
    """Suites by name, path or as they are; a folder of suites gives all of them.

    Raises:
        CimentoError: there is no such suite, or it has faults.
    """
    return list(each_suite(suites))


def each_suite(
    suites: SuiteLike | Iterable[SuiteLike], *, stored: bool = False
) -> Iterator[LoadedSuite]:
    """The same, one after the other: none is held.

    Args:
        suites: as for `evaluate`.
        stored: whether items shall stand in a temporary file, see `load_suite`.

    Raises:
        CimentoError: there is no such suite, or it has faults.
    """
    for suite in [suites] if isinstance(suites, str | Path | Suite | LoadedSuite) else suites:
        if isinstance(suite, LoadedSuite):
            yield suite
        elif isinstance(suite, Suite):
            yield _made_here(suite)
        else:
            yield from _each_at(find_suite(name_or_path(suite)), stored=stored)


def _each_at(path: Path, *, stored: bool) -> Iterator[LoadedSuite]:
    if is_archive(path):
        yield from load_suites(path, stored=stored)
        return
    for each in suite_paths(path):
        try:
            loaded = load_suite(each, stored=stored)
        except SuiteError:
            # Tells the faults of all suites that are there.
            load_suites(path)
            raise
        yield loaded


def _made_here(suite: Suite) -> LoadedSuite:
    """A suite that was made in Python, checked like one that was read."""
    found = check_suite(suite)
    if faults.errors(found):
        raise SuiteError(where=f"suite {suite.name!r}", faults=found)
    # A frozen record's repr says all that is in it, in the same words every time.
    digest = hashlib.sha256(repr(suite).encode()).hexdigest()
    return LoadedSuite(suite, faults.warnings(found), digest, Path(suite.name), format="python")


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
                seen=f"two of the suites have this name: {other.path} and {loaded.path}",
                todo="Give one of them another name, or run them into different folders.",
            )
