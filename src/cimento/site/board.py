"""What a site shows: runs with their addresses, models side by side, and items across models."""

from __future__ import annotations

import hashlib
import math
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from cimento.compare.ranking import Places, places_of
from cimento.documents import sections_of, versions_apart
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.kinds.identity import content_of
from cimento.kinds.run_line import place_of
from cimento.paired.item_outcomes import item_outcomes, labeled_apart, step_of
from cimento.records.effects import effects_among
from cimento.records.outcomes import best_constant
from cimento.records.store import file_name

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paired.item_outcomes import ItemOutcomes
    from cimento.records.effects import DesignEffect
    from cimento.records.outcomes import ConstantAnswer, Estimate
    from cimento.report import ItemRecord, RunReport, SuiteReport
    from cimento.statistics.multiple import Rank

PHENOMENA = "phenomena/"
"""The folder of the pages about phenomena."""
_LONGEST_NAME = 80
_DIGITS = 6
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
"""Names that are not files on Windows."""


def slug(name: str) -> str:
    """A name as a part of an address: always the same, and another one for every other name.

    Names that are not lower case, or hold what file systems or addresses do not take, end in the
    first digits of their sha256.
    """
    plain = file_name(name).lower()[:_LONGEST_NAME]
    if plain == name and not _RESERVED.fullmatch(plain):
        return plain
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def link(page: str, target: str) -> str:
    """The address of one file of the site as another one refers to it.

    Args:
        page: path of the page with the link, from the root of the site.
        target: path of the file, likewise.
    """
    return quote(posixpath.relpath(target, posixpath.dirname(page) or "."), safe="/@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A run of the site.

    Attributes:
        run: the run.
        suite: name of the suite, with digits of its content if there are several versions.
        model: label of the model, the same for all of its runs.
        label: the same, with the options in which several runs of a suite differ.
        page_name: what its page is called after.
        page: path of its page, from the root of the site.
        family: what revisions of one model have in common.
        step: of training; None where the model's name does not tell.
        reports: the run as the report shows it, one for each measure.
        headline: the estimate that sums it up; None where nothing was judged.
        constant: the best constant answer to its question; None where none is above chance.
        effects: DDs that are shown in place of it, of a factorial design; empty for others.
    """

    run: Run
    suite: str
    model: str
    label: str
    page_name: str
    page: str
    family: str
    step: int | None
    reports: tuple[RunReport, ...]
    headline: Estimate | None
    constant: ConstantAnswer | None
    effects: tuple[DesignEffect, ...] = ()

    @property
    def model_page(self) -> str:
        """The path of its model's page."""
        return f"models/{slug(self.model)}.html"


@dataclass(frozen=True, slots=True)
class Result:
    """The estimate of one run, and the places that its model could hold.

    Attributes:
        entry: the run.
        estimate: the estimate.
        rank: places among the models; None where there is nothing to rank.
    """

    entry: Entry
    estimate: Estimate
    rank: Rank | None

    @property
    def constant(self) -> ConstantAnswer | None:
        """The best constant answer to the same question over all items; None where not known."""
        return self.entry.constant if self.estimate == self.entry.headline else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The ground on which models are compared: a suite, or one phenomenon of it.

    Attributes:
        suite: name of the suite.
        phenomenon: its name; empty for the whole suite, if the suite names none.
        language: of the suite; empty if it states none.
        page: path of the page about it.
        places: the rank intervals of the models, with their tests.
        ceiling: highest value that the spread of people's ratings allows; None if unknown.
        ceiling_method: how it was found.
    """

    suite: str
    phenomenon: str
    language: str
    page: str
    places: Places
    ceiling: float | None = None
    ceiling_method: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide(Side):
    """All models on one suite, or on one phenomenon of it.

    Attributes:
        results: the highest estimates first.
    """

    results: tuple[Result, ...]

    @property
    def first(self) -> Estimate | None:
        """The highest estimate; None where nothing was judged."""
        return self.results[0].estimate if self.results else None

    @property
    def chances(self) -> tuple[float, ...]:
        """The values expected by chance, each once."""
        known = (one.estimate.chance for one in self.results)
        return tuple(dict.fromkeys(chance for chance in known if chance is not None))

    @property
    def constant(self) -> ConstantAnswer | None:
        """The best constant answer, which is the same for all models; None where not known."""
        return next(filter(None, (one.constant for one in self.results)), None)

    @property
    def curves(self) -> tuple[tuple[str, tuple[Result, ...]], ...]:
        """The models that are checkpoints: name of the family, and its results by step."""
        families: dict[str, dict[int, Result]] = {}
        for one in self.results:
            if one.entry.step is not None:
                families.setdefault(one.entry.family, {}).setdefault(one.entry.step, one)
        return tuple(
            (name, tuple(steps[step] for step in sorted(steps)))
            for name, steps in sorted(families.items())
            if len(steps) > 1
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAcross:
    """One item as all models answered it.

    Attributes:
        id: id of the item.
        page: path of its page.
        answers: the runs and what they say about the item, the lowest margin first.
    """

    id: str
    page: str
    answers: tuple[tuple[Entry, ItemRecord], ...]

    @property
    def first(self) -> ItemRecord:
        """The item in the first run."""
        return self.answers[0][1]

    @property
    def judged(self) -> int:
        """The number of models whose answer was judged, ties among them."""
        return sum(one.verdict in {"pass", "fail", "tie"} for _, one in self.answers)

    @property
    def right(self) -> int:
        """The number of models whose answer is right."""
        return sum(
            bool(one.outcome.right) or (one.outcome.right is None and one.verdict == "pass")
            for _, one in self.answers
            if one.outcome
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePart:
    """One suite of the site.

    Attributes:
        name: name of the suite, with digits of its content if there are several versions.
        folder: the part of addresses that stands for it.
        entries: its runs.
        sections: the runs as the report shows them.
        whole: all models on all items.
        phenomena: all models on the items of each phenomenon.
        n_items: number of its items.
        items: every item across models, those that fewest models get right first; none where they
            are not shown again.
    """

    name: str
    folder: str
    entries: tuple[Entry, ...]
    sections: tuple[SuiteReport, ...]
    whole: SideBySide
    phenomena: tuple[SideBySide, ...]
    n_items: int
    items: tuple[ItemAcross, ...]

    @property
    def page(self) -> str:
        """The path of its page."""
        return self.whole.page


def by_suite(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each suite by its name, whatever its version; no suite is read for it.

    Raises:
        UsageError: a run is not stored.
    """
    for run in runs:
        if run.folder is None:
            raise UsageError(
                where=place_of(run),
                seen="it is not stored",
                todo="Give output=FOLDER when it is made.",
            )
    return dict(sorted(grouped((run.suite_name, run) for run in runs).items()))


def suite_parts(runs: Sequence[Run]) -> Iterable[SuitePart]:
    """The versions of one suite, each with its runs, one after the other.

    Args:
        runs: stored runs of a suite, from `by_suite`.

    Raises:
        UsageError: a run is given twice.
        CimentoError: a run cannot be read or judged.
    """
    shown = labeled_apart(versions_apart(runs))
    both = zip(runs, shown, strict=True)
    versions = grouped((labeled.suite.name, (run, labeled)) for run, labeled in both)
    for name, pairs in sorted(versions.items()):
        yield _part(name, pairs)


def _part(name: str, pairs: Sequence[tuple[Run, Run]]) -> SuitePart:
    first = pairs[0][0]
    digits = content_of(first)[:_DIGITS]
    folder = "-".join(filter(None, (slug(first.suite_name), digits)))
    labeled = [run for _, run in pairs]
    sections = tuple(sections_of(labeled))
    reports = grouped(
        (str(report.folder), report) for section in sections for report in section.runs
    )
    names = Counter(_stored_name(run) for run, _ in pairs)
    entries = tuple(
        entry_of(
            run,
            shown,
            name,
            # The same model may have a run of one name in several folders; labels are apart.
            _stored_name(run) if names[_stored_name(run)] == 1 else shown.model,
            folder,
            tuple(reports.get(str(shown.folder), ())),
        )
        for run, shown in pairs
    )
    outcomes = {one.model: one for one in item_outcomes(labeled) if one.headline}
    items = _across(folder, entries)
    return SuitePart(
        name=name,
        folder=folder,
        entries=entries,
        sections=sections,
        whole=_whole(name, folder, entries, outcomes),
        phenomena=tuple(_phenomena(name, entries, outcomes)),
        n_items=len(items),
        items=items,
    )


def _stored_name(run: Run) -> str:
    return run.folder.name if run.folder else run.model


def entry_of(
    run: Run, shown: Run, suite: str, page_name: str, folder: str, reports: tuple[RunReport, ...]
) -> Entry:
    """A run as an entry.

    Args:
        run: the run as it is stored.
        shown: the run with its label on the site.
        suite: name of its suite on the site.
        page_name: what its page is called after.
        folder: the part of addresses that stands for the suite.
        reports: the run as the report shows it.
    """
    family, step = step_of(str(run.manifest.get("named") or run.model))
    estimates = shown.estimates()
    headline = next((one for one in estimates if one.role == "headline"), None)
    return Entry(
        run=shown,
        suite=suite,
        model=run.model,
        label=shown.model,
        page_name=page_name,
        page=f"suites/{folder}/runs/{slug(page_name)}.html",
        family=family,
        step=step,
        reports=reports,
        headline=headline,
        constant=best_constant(headline, estimates),
        effects=tuple(
            replace(one, estimate=replace(one.estimate, suite=suite))
            for one in effects_among(estimates)
        ),
    )


def effects_on(side: SideBySide, one: Result) -> tuple[DesignEffect, ...]:
    """The DDs by which a result is shown: those of a phenomenon, or of the whole suite."""
    effects = one.entry.effects
    own = tuple(effect for effect in effects if effect.estimate.level == side.phenomenon)
    return own if side.page.startswith(PHENOMENA) and len(effects) > 1 else effects


def _whole(
    name: str, folder: str, entries: Sequence[Entry], outcomes: Mapping[str, ItemOutcomes]
) -> SideBySide:
    meta = entries[0].run.suite.meta
    places = places_of(list(outcomes.values()))
    ceilings = [
        one
        for entry in entries
        for one in entry.run.estimates()
        if one.statistic == CEILING and one.value is not None
    ]
    return SideBySide(
        suite=name,
        phenomenon=meta.phenomenon,
        language=meta.language,
        page=f"suites/{folder}.html",
        results=results_of([(entry, entry.headline) for entry in entries], places),
        places=places,
        ceiling=ceilings[0].value if ceilings else None,
        ceiling_method=ceilings[0].method if ceilings else "",
    )


CEILING = "noise ceiling"
"""The statistic that says how high the spread of people's judgments lets a correlation be."""


def _phenomena(
    name: str, entries: Sequence[Entry], outcomes: Mapping[str, ItemOutcomes]
) -> Iterable[SideBySide]:
    """The phenomena of a suite; of a suite about one phenomenon, that one."""
    about = entries[0].run.suite.meta.phenomenon
    rates, whole = phenomenon_rates(entries, about)
    items: dict[str, set[str]] = {}
    for report in entries[0].reports[:1]:
        for item in report.items:
            items.setdefault(item.phenomenon, set()).add(item.id)
    for phenomenon, several in rates.items():
        wanted = None if whole else items.get(phenomenon, set())
        places = places_of(list(outcomes.values()), items=wanted)
        yield SideBySide(
            suite=name,
            phenomenon=phenomenon,
            language=entries[0].run.suite.meta.language,
            page=f"{PHENOMENA}{slug(phenomenon)}.html",
            results=results_of(several, places),
            places=places,
        )


def phenomenon_rates(
    entries: Sequence[Entry], about: str
) -> tuple[dict[str, list[tuple[Entry, Estimate | None]]], bool]:
    """The rate of every run on each phenomenon, and whether that is the rate on the whole suite.

    Args:
        entries: the runs of a suite.
        about: the phenomenon of the whole suite; empty if it states none.
    """
    rates: dict[str, list[tuple[Entry, Estimate | None]]] = grouped(
        (one.level, (entry, one))
        for entry in entries
        for one in entry.run.summary().phenomena
        if one.level
    )
    if rates or not about:
        return rates, False
    return {about: [(entry, entry.headline) for entry in entries]}, True


def results_of(
    rates: Iterable[tuple[Entry, Estimate | None]], places: Places
) -> tuple[Result, ...]:
    """The estimates of runs with the places of their models, the highest first.

    Args:
        rates: runs, each with its estimate if it has one.
        places: the rank intervals of the models.
    """
    rows = [
        Result(entry, estimate, places.ranks.get(entry.label))
        for entry, estimate in rates
        if estimate is not None
    ]
    rows.sort(key=lambda one: one.entry.label)
    rows.sort(key=lambda one: math.inf if one.estimate.value is None else -one.estimate.value)
    return tuple(rows)


def _across(folder: str, entries: Sequence[Entry]) -> tuple[ItemAcross, ...]:
    """The items of a suite; each run counts once, on its first measure."""
    answers = grouped(
        (item.id, (entry, item))
        for entry in entries
        for report in entry.reports[:1]
        for item in report.items
    )
    across = [
        ItemAcross(
            id=name,
            page=f"suites/{folder}/items/{slug(name)}.html",
            answers=tuple(sorted(several, key=_by_margin)),
        )
        for name, several in answers.items()
    ]
    return tuple(sorted(across, key=lambda item: (item.right / (item.judged or 1), item.page)))


def _by_margin(answer: tuple[Entry, ItemRecord]) -> tuple[bool, float, str]:
    entry, item = answer
    value = item.outcome.value if item.outcome else None
    return value is None, value or 0.0, entry.label
