"""A run: one suite answered by one model, with everything that can be said about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cimento._version import __version__
from cimento.answered import (
    AnyAnswers,
    LongAnswers,
    in_pieces,
    store_answers,
    stored_answers,
    write_pieces,
)
from cimento.answers import VERDICTS
from cimento.errors import TableError
from cimento.files import write_text
from cimento.judging import Judging
from cimento.measures import MEASURES, find_measure, find_measures, judged_on
from cimento.measures.equal_costs import with_equal_costs
from cimento.measures.first_token import count_first_tokens, with_first_tokens
from cimento.measures.regions import FinalMarkRule, RegionValues, region_values
from cimento.measures.scores import ScoredSentence, each_sentence, scores_table
from cimento.measures.unigrams import load_unigrams
from cimento.pieces import Pieces
from cimento.report.conventions import conventions
from cimento.report.summary import (
    Missing,
    Result,
    RunSummary,
    Summary,
    run_summary,
    to_json,
)
from cimento.runs.run import PARADIGM
from cimento.runs.store import Manifest, RunFolder, find_runs
from cimento.suites.contradictions import contradictions
from cimento.suites.load import load_suite
from cimento.suites.model import Suite
from cimento.suites.writers.native import copy_native, write_native
from cimento.verdicts.accuracy import ByLength, Rule, accuracies, accuracies_by, counted_by_length
from cimento.verdicts.compact import Verdicts, verdicts_pieces, verdicts_table
from cimento.verdicts.judge import judge
from cimento.verdicts.measured import judge_measure
from cimento.verdicts.near_ties import near_ties

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites.model import Metric

SUMMARY = "summary.json"
_SHOWN_DIGITS = 7


@dataclass(frozen=True, kw_only=True)
class Run:
    """One suite answered by one model. Made by `evaluate` or `open_runs`.

    Attributes:
        suite: as its author wrote it.
        model: label of the model, ``name@revision``.
        model_kind: ``causal``, ``masked`` or ``replay``.
        manifest: what the run was made of and with.
        answers: what the model said; of a stored run, its tables are read where they are needed.
        judging: how the answers are judged.
        folder: where the run is stored; None where it is not.
    """

    suite: Suite
    model: str
    model_kind: str
    manifest: Manifest
    answers: AnyAnswers
    judging: Judging
    folder: Path | None = None

    def tokens(self) -> pl.DataFrame:
        """The tokens table; see docs/tables.md. `.to_pandas()` gives a pandas frame."""
        return self.answers.tokens

    def requests(self) -> pl.DataFrame:
        """The requests table; see docs/tables.md."""
        return self.answers.requests

    def verdicts(self) -> pl.DataFrame:
        """The verdicts table; see docs/tables.md."""
        return verdicts_table(self._numbered_verdicts)

    @property
    def _numbered_verdicts(self) -> Verdicts:
        """The verdicts with the numbers that the predictions have in their suite."""
        return self._verdicts.renumbered(self.judging.number)

    def summary(self, *, with_verdicts: bool = False) -> RunSummary:
        """Accuracies with intervals and chance levels, by prediction and by phenomenon."""
        if not with_verdicts:
            return self._summary
        return dataclasses.replace(self._summary, verdicts=tuple(self._numbered_verdicts))

    def scores(self, measures: Sequence[str] = (), *, unigrams: str = "") -> pl.DataFrame:
        """Measures of every sentence: the scores table, see docs/tables.md.

        Args:
            measures: their names, see docs/measures.md; empty for all.
            unigrams: where NormLP and SLOR take frequencies from: ``wordfreq``, ``wordfreq:it``
                or a file of token counts; empty: from where the judging takes them.

        Raises:
            UsageError: there is no such measure.
            InputError: the frequencies cannot be read.
        """
        chosen = find_measures(measures) or tuple(MEASURES.values())
        return scores_table(
            self._sentences(unigrams or self.judging.unigrams, self._judged_tokens), chosen
        )

    def region_values(
        self, *, metric: Metric | None = None, final_marks: FinalMarkRule = "keep"
    ) -> RegionValues:
        """The value of every region of every stimulus, as it is judged.

        Args:
            metric: how tokens become one value; None for that of the judging.
            final_marks: whether punctuation at the end of a region counts; see
                `cimento.measures.regions.region_values`.
        """
        return region_values(
            self._judged_tokens,
            self._pieces.asked,
            metric=metric or self._judged_suite.metric,
            final_marks=final_marks,
        )

    def judge(self, judging: Judging) -> Run:
        """The same answers, judged in another way."""
        return dataclasses.replace(self, judging=judging)

    def judge_on(self, measures: Sequence[str]) -> list[Run]:
        """The same answers, judged on each of some measures; the run itself where there is none.

        Args:
            measures: their names; ``regions`` for the values of regions.

        Raises:
            UsageError: there is no such measure.
        """
        names = judged_on(measures)
        return [self.judge(dataclasses.replace(self.judging, measure=name)) for name in names] or [
            self
        ]

    @cached_property
    def _judged_suite(self) -> Suite:
        return self.judging.applied(self.suite)

    @cached_property
    def _pieces(self) -> LongAnswers:
        return in_pieces(self.answers)

    @property
    def _judged_tokens(self) -> Pieces:
        rule = self.judging.unscored_first
        return self._pieces.scored.changed(lambda tokens: with_first_tokens(tokens, rule))

    @cached_property
    def _verdicts(self) -> Verdicts:
        return self._verdicts_from(self._judged_tokens)

    def _verdicts_from(self, tokens: Pieces) -> Verdicts:
        judging = self.judging
        if judging.measure:
            scored = self._sentences(judging.unigrams, tokens)
            measure = find_measure(judging.measure)
            return judge_measure(self._judged_suite, scored, measure, unit=judging.unit)
        return judge(self._judged_suite, tokens, self._pieces.asked, unit=judging.unit)

    def _counted_by_length(self, suite: Suite, rule: Rule) -> ByLength | str:
        """What is decided with every token at the same cost, or why nothing is."""
        needs = find_measure(self.judging.measure).needs if self.judging.measure else ()
        if needs:
            return f"the measure needs more than the costs of tokens ({', '.join(needs)})"
        verdicts = self._verdicts_from(self._judged_tokens.changed(with_equal_costs))
        return counted_by_length(suite, verdicts, rule)

    def _sentences(self, unigrams: str, tokens: Pieces) -> Iterator[ScoredSentence]:
        return each_sentence(
            tokens,
            self._pieces.asked,
            model_kind=self.model_kind,
            unigrams=load_unigrams(unigrams, language=self.suite.meta.language)
            if unigrams
            else None,
        )

    @cached_property
    def _summary(self) -> RunSummary:
        suite, seed, ties = self._judged_suite, self.judging.seed, self.judging.ties
        near = near_ties(self.manifest, self.judging.near_tie_bits)
        rule = Rule(ties=ties, near_tie_bits=near.bits)
        lengths = self._counted_by_length(suite, rule)
        summary = run_summary(
            suite,
            accuracies(suite, self._verdicts, seed=seed, rule=rule, lengths=lengths),
            accuracies_by(suite, self._verdicts, seed=seed, rule=rule, lengths=lengths),
            model=self.model,
            model_kind=self.model_kind,
            folder=str(self.folder) if self.folder else None,
            warnings=(
                *self._conventions(),
                *self.answers.warnings,
                *contradictions(suite),
            ),
        )
        measure = find_measure(self.judging.measure).name if self.judging.measure else ""
        told = dataclasses.replace(
            summary,
            measure=measure,
            ties_pass=ties == "pass",
            near_tie_bits=near.bits,
            near_tie_reason=near.reason,
        )
        return self._numbered(told)

    def _conventions(self) -> tuple[str, ...]:
        first = sum(map(count_first_tokens, self._pieces.scored))
        return conventions(
            self.judging,  # type: ignore[arg-type]  # goes with this class
            self.manifest,
            first_tokens=first,
        )

    def _numbered(self, summary: RunSummary) -> RunSummary:
        """The summary with the numbers that the predictions have in their suite."""

        def own(results: Sequence[Result]) -> tuple[Result, ...]:
            numbers = (self.judging.number(position) for position in range(len(results)))
            return tuple(
                dataclasses.replace(result, index=number)
                for result, number in zip(results, numbers, strict=True)
            )

        phenomena = tuple(
            dataclasses.replace(each, predictions=own(each.predictions))
            for each in summary.phenomena
        )
        return dataclasses.replace(
            summary, predictions=own(summary.predictions), phenomena=phenomena
        )

    def save(self, folder: RunFolder, *, suite_copy: Path | None = None) -> Run:
        """Store the run, its manifest last; the run that is stored there is replaced.

        Args:
            folder: where.
            suite_copy: a folder in which the suite is written already, as it would be here.

        Raises:
            StorageError: the folder cannot be written.
        """
        folder.reopen()
        if suite_copy is None:
            write_native(self.suite, folder.suite_folder)
        else:
            copy_native(suite_copy, folder.suite_folder)
        # From here on the tables are read where they are needed, and not held.
        answers = store_answers(self.answers, folder.path)
        stored = dataclasses.replace(self, folder=folder.path, answers=answers)
        write_pieces(verdicts_pieces(stored._numbered_verdicts), VERDICTS, folder.path)  # noqa: SLF001  # the run itself
        write_text(to_json(summarise([stored])), folder.path / SUMMARY)
        folder.finish({**self.manifest, "judging": dataclasses.asdict(self.judging)})
        return stored

    def folder_below(self, output: Path) -> RunFolder:
        """The folder that this run has, or would have, in another folder of runs."""
        name = self.folder.name if self.folder else self.model
        return RunFolder.below(output, suite=self.suite.name, name=name)

    @classmethod
    def open(
        cls, folder: RunFolder, manifest: Manifest | None = None, *, stored: bool = False
    ) -> Run:
        """A run as it was stored.

        Args:
            folder: where.
            manifest: of the run, where it was read before; None reads it.
            stored: as for `load_suite`; each run of a long suite has an open file then.

        Raises:
            TableError: there is no finished run in the folder, or a part of it cannot be read.
        """
        manifest = folder.manifest() if manifest is None else manifest
        folder.verify(manifest)
        model, judging = manifest.get("model"), manifest.get("judging")
        label, kind = manifest.get("label"), manifest.get("kind", manifest.get(PARADIGM))
        if kind is not None:
            raise TableError(
                where=str(folder.path),
                seen=f"this is the run of a suite of kind {kind}, which is not judged by formulas",
                todo="`cimento run` with the same suite and model judges it again.",
            )
        if not (isinstance(model, dict) and isinstance(judging, dict) and isinstance(label, str)):
            raise TableError(
                where=str(folder.path),
                seen="its manifest lacks the model or the judging",
                todo="Run again.",
            )
        return cls(
            suite=load_suite(folder.suite_folder, stored=stored).suite,
            model=label,
            model_kind=str(model.get("kind", "")),
            manifest=manifest,
            answers=stored_answers(folder.path, warnings=_texts(manifest.get("warnings"))),
            judging=Judging.from_plain(judging),
            folder=folder.path,
        )


def open_runs(paths: Iterable[Path]) -> list[Run]:
    """The runs in some folders, each a run or a folder of runs.

    Runs of suites that are not judged by formulas are passed over, where there are others.

    Raises:
        TableError: a folder holds no finished run, or one that cannot be read; or all runs are of
            other kinds.
    """
    found = [(folder, folder.manifest()) for path in paths for folder in find_runs(path)]
    judged = [each for each in found if is_judged_by_formulas(each[1])]
    return [Run.open(folder, manifest) for folder, manifest in judged or found]


def is_judged_by_formulas(manifest: Manifest) -> bool:
    """Whether a manifest is of a run that `Run.open` opens."""
    return manifest.get("kind") is None and PARADIGM not in manifest


def told_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs, with digits of its content in the name of each suite of which there are versions.

    Else runs of a suite before and after it was edited would stand in one table, as one.

    Args:
        runs: of any suites.
    """
    versions: dict[str, dict[str, None]] = {}
    contents = [_content(run.manifest) for run in runs]
    for run, content in zip(runs, contents, strict=True):
        versions.setdefault(run.suite.name, {})[content] = None

    def named(run: Run, content: str) -> Run:
        name = f"{run.suite.name} ({content[:_SHOWN_DIGITS]})"
        meta = dataclasses.replace(run.suite.meta, name=name)
        return dataclasses.replace(run, suite=dataclasses.replace(run.suite, meta=meta))

    return [
        named(run, content) if len(versions[run.suite.name]) > 1 and content else run
        for run, content in zip(runs, contents, strict=True)
    ]


def _content(manifest: Manifest) -> str:
    """The sha256 of the suite of a run; empty where it is not known."""
    suite = manifest.get("suite")
    return str(suite.get("sha256", "")) if isinstance(suite, dict) else ""


def summarise(
    runs: Iterable[Run], *, missing: Sequence[Missing] = (), with_verdicts: bool = False
) -> Summary:
    """What some runs say, in one record.

    Args:
        runs: in the order in which they are to be shown.
        missing: what was asked for and could not be run.
        with_verdicts: with the verdict on every item.
    """
    return Summary(
        cimento=__version__,
        runs=tuple(run.summary(with_verdicts=with_verdicts) for run in runs),
        missing=tuple(missing),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
