"""The answers of a model to a cloze suite, as the tables of a run hold them."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.judging.expected import dictionary_readings, expectations, judge_expected
from cimento.cloze.options import ClozeOptions
from cimento.cloze.records import ClozeItem, ClozeSuite
from cimento.cloze.said import read_said
from cimento.cloze.templates import expand_suite
from cimento.errors import TableError
from cimento.models.questions import CHOICE
from cimento.runs.run import Run, open_run, paradigm_name
from cimento.runs.store import find_runs

if TYPE_CHECKING:
    import polars as pl

    from cimento.corpus.morphology.model import Morphology

NAME = "cloze"
"""Name of the paradigm."""

FITS = "fits@"
"""Question of the outcomes of candidates, with the number of candidates that count."""

Fits = Mapping[tuple[str, str], bool | None]
"""Item and candidate to whether it fits, as people said; None where they were divided."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A row of the fills table.

    Attributes:
        rank: from 1.
        text: the candidate.
        logprob_nats: None where it was not scored.
        n_pieces: tokens it takes; None where that is not known.
        kind: see `cimento.models.questions.Fill`.
    """

    rank: int
    text: str
    logprob_nats: float | None
    n_pieces: int | None
    kind: str

    @property
    def probability(self) -> float | None:
        """At the blank; None where it was not scored."""
        return None if self.logprob_nats is None else math.exp(self.logprob_nats)


@dataclass(frozen=True)
class ClozeAnswers:
    """A run of a cloze suite, read item by item.

    Attributes:
        run: the run.

    Raises:
        TableError: it is the run of a suite of another paradigm.
    """

    run: Run

    def __post_init__(self) -> None:
        if not isinstance(self.run.suite, ClozeSuite):
            raise TableError(
                where=str(self.run.folder or self.run.suite.name),
                seen="this is not the run of a cloze suite",
                todo="Give a folder that `cimento run` made from a suite of kind cloze or"
                " templates.",
            )

    @property
    def suite(self) -> ClozeSuite:
        """The suite, as its author wrote it."""
        return cast("ClozeSuite", self.run.suite)

    @property
    def options(self) -> ClozeOptions:
        """How the run was asked and is judged."""
        return cast("ClozeOptions", self.run.options)

    @functools.cached_property
    def items(self) -> tuple[ClozeItem, ...]:
        """The items that were asked, in order."""
        return expand_suite(self.suite).items

    @functools.cached_property
    def cluster_of(self) -> dict[str, str]:
        """What each item belongs to; empty for one that stands alone."""
        return {item.id: item.columns.get(self.suite.cluster, "") for item in self.items}

    @functools.cached_property
    def _fills(self) -> pl.DataFrame:
        return self.run.table("fills")

    @functools.cached_property
    def _requests(self) -> pl.DataFrame:
        return self.run.table("requests").select("item", "request")

    @functools.cached_property
    def _all_methods(self) -> list[str]:
        return self._fills["method"].unique(maintain_order=True).to_list()

    @property
    def methods(self) -> tuple[str, ...]:
        """How candidates were found, in the order in which they were."""
        return tuple(name for name in self._all_methods if not name.startswith(CHOICE))

    @property
    def choices(self) -> tuple[str, ...]:
        """The rules by which options were scored."""
        return tuple(
            name.removeprefix(CHOICE) for name in self._all_methods if name.startswith(CHOICE)
        )

    def by_method(self, method: str) -> dict[str, list[Answer]]:
        """What was found by one method, for each item, by rank.

        Args:
            method: one of `methods`, or ``choice:`` and one of `choices`.
        """
        import polars as pl

        rows = self._fills.filter(pl.col("method") == method).sort("request", "rank")
        columns = ("request", "rank", "candidate", "logprob_nats", "n_pieces", "kind")
        by_request: dict[int, list[Answer]] = {}
        for request, *cells in rows.select(columns).iter_rows():
            by_request.setdefault(request, []).append(Answer(*cells))
        return {item: by_request.get(request, []) for item, request in self._requests.iter_rows()}

    def by_rule(self, rule: str) -> dict[str, list[Answer]]:
        """The options of each item as scored by one rule; empty where it was not used."""
        return self.by_method(CHOICE + rule) if rule in self.choices else {}

    def candidates(self, method: str) -> list[Candidate]:
        """The candidates that one method found, not judged yet."""
        return [
            Candidate(item, answer.rank, answer.text, answer.probability)
            for item, answers in self.by_method(method).items()
            for answer in answers
        ]

    def kinds(self, method: str) -> dict[tuple[str, int], str]:
        """Item and rank to what the candidate is: a word, a piece of one, punctuation."""
        return {
            (item, answer.rank): answer.kind
            for item, answers in self.by_method(method).items()
            for answer in answers
        }

    @functools.cached_property
    def dictionary(self) -> Morphology | None:
        """What judges candidates by what their items expect; None where the options name none.

        Raises:
            CimentoError: it cannot be used.
        """
        name = self.options.dictionary
        return open_dictionary(name, self.suite.meta.language) if name else None

    def judged(self, method: str) -> list[Candidate]:
        """The candidates of a method with what the outcomes of the run say of their fit.

        Raises:
            CimentoError: the run is not judged yet, and cannot be.
        """
        fits = fits_of(self.run.outcomes(), method)
        return [
            replace(candidate, fits=fits.get(f"{candidate.item}#{candidate.rank}"))
            for candidate in self.candidates(method)
        ]

    def judged_again(self, method: str) -> list[Candidate]:
        """The candidates of a method with what people, else the dictionary, say of their fit.

        Raises:
            CimentoError: the dictionary, the judgments or an expectation cannot be used.
        """
        people = read_said(self.run.folder, self.options.judgments)
        return self.judged_by(method, people=people, dictionary=self.dictionary)

    def judged_by(
        self, method: str, *, people: Fits, dictionary: Morphology | None
    ) -> list[Candidate]:
        """The candidates of a method with what is known of their fit.

        People come first, then, for items that say what they expect, the dictionary. What is only
        a piece of a word has no reading there.

        Args:
            method: how the candidates were found.
            people: what they said.
            dictionary: None for none.

        Raises:
            InputError: an item's expectation cannot be read.
        """
        candidates = self.candidates(method)
        by_rule = dict[tuple[str, int], bool | None]()
        if dictionary is not None:
            kinds, readings = self.kinds(method), dictionary_readings(dictionary)
            by_rule = {
                (candidate.item, candidate.rank): candidate.fits
                for candidate in judge_expected(
                    candidates,
                    expectations({item.id: item.columns for item in self.items}),
                    lambda candidate: (
                        ()
                        if kinds[candidate.item, candidate.rank] == "piece"
                        else readings(candidate)
                    ),
                )
            }
        return [
            replace(
                candidate,
                fits=people.get(
                    (candidate.item, candidate.text),
                    by_rule.get((candidate.item, candidate.rank)),
                ),
            )
            for candidate in candidates
        ]


def fits_of(outcomes: pl.DataFrame, method: str) -> dict[str, bool | None]:
    """Place of a candidate, ``ITEM#RANK``, to whether it fits."""
    import polars as pl

    about = pl.col("question").str.starts_with(FITS) & (pl.col("method") == method)
    return dict(outcomes.filter(about).select("item", "right").iter_rows())


def open_cloze_runs(paths: Iterable[Path]) -> list[ClozeAnswers]:
    """The runs of cloze suites in some folders; runs of other suites are passed over.

    Args:
        paths: folders of runs, or of single ones.

    Raises:
        TableError: a folder holds no such run, or one that cannot be read.
    """
    found: list[ClozeAnswers] = []
    for path in paths:
        folders = [
            folder for folder in find_runs(path) if paradigm_name(folder, folder.manifest()) == NAME
        ]
        if not folders:
            raise TableError(
                where=str(path),
                seen="there is no run of a cloze suite here",
                todo="Give a folder that `cimento run` made from a suite of kind cloze.",
            )
        found += (ClozeAnswers(open_run(folder.path)) for folder in folders)
    return found


@functools.lru_cache(maxsize=4)
def open_dictionary(name: str, language: str) -> Morphology:
    """A dictionary, its index in the cache folder; opened once for all methods and runs.

    Args:
        name: as `cimento.corpus.morphology.dictionaries.open_morphology` takes it.
        language: ISO 639-1 code of what it is for.

    Raises:
        CimentoError: there is no such dictionary, or it cannot be used.
    """
    from cimento.corpus.morphology.dictionaries import open_morphology
    from cimento.engine.cache import default_cache_folder

    folder = default_cache_folder() / "dictionaries"
    return open_morphology(name, language=language, index_folder=folder)
