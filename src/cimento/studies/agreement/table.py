"""The study's table: languages by suites, plain and adversarial, with intervals and the drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.io.values import group_by, total
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import bounded_mean, mean_of
from cimento.statistics.multiple import holm
from cimento.studies.agreement.twins import plain_name, ratio_drops, twins

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cimento.studies.agreement.twins import AgreementRun

Version: TypeAlias = Literal["plain", "adversarial"]
Averaging: TypeAlias = Literal["suites", "items"]
NO_PAIRS = "no item with a value in both suites"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRow:
    """One suite with one model.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: its name.
        version: whether it is an adversarial twin.
        n_items: items of the suite.
        n_ratios: items with a mean probability ratio.
        ratio: mean over items of the mean probability ratio.
        ratio_low: lower end of its interval.
        ratio_high: upper end.
        ratio_method: how the interval was made.
        n_verdicts: items on which the formulas were judged.
        accuracy: proportion of items in which all formulas hold.
        accuracy_low: lower end of its interval.
        accuracy_high: upper end.
        accuracy_method: how the interval was made.
        chance: what the accuracy would be by chance.
        n_other_contexts: items whose conditions differ elsewhere than in the target.
        reason: why a number is None.
    """

    model: str
    language: str
    suite: str
    version: Version
    n_items: int
    n_ratios: int
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    ratio_method: str | None
    n_verdicts: int
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    accuracy_method: str | None
    chance: float
    n_other_contexts: int
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRow:
    """A suite beside its adversarial twin, item by item.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: the plain one.
        twin: the adversarial one.
        n_pairs: items with a ratio in both.
        drop: mean of the plain ratio minus the adversarial one.
        low: lower end of its interval.
        high: upper end.
        method: how the interval was made.
        p: of no drop, by flipping signs.
        p_holm: the same, adjusted over all twins of the table.
        lost: items that hold in the plain suite and not in the twin.
        won: items that hold only in the twin.
        unpaired: items that only one of the two has.
        reason: why there is no drop.
    """

    model: str
    language: str
    suite: str
    twin: str
    n_pairs: int
    drop: float | None
    low: float | None
    high: float | None
    method: str
    p: float | None
    p_holm: float | None
    lost: tuple[str, ...]
    won: tuple[str, ...]
    unpaired: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageRow:
    """All suites of one language and version with one model.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        version: plain or adversarial.
        n_suites: how many suites are in it.
        ratio: mean of the ratios.
        accuracy: mean of the accuracies; None where their chance levels differ.
        averaging: whether suites or items have the same weight.
        reason: why there is no mean of the accuracies.
    """

    model: str
    language: str
    version: Version
    n_suites: int
    ratio: float | None
    accuracy: float | None
    averaging: Averaging
    reason: str | None = None


def suite_row(run: AgreementRun, *, seed: int) -> SuiteRow:
    """The row of one suite and model.

    Args:
        run: what the model makes of it.
        seed: of the bootstrap.
    """
    clusters = run.suite.clusters()
    known = {one.item: one.mean for one in run.ratios if one.mean is not None}
    means = list(known.values())
    ratio = bounded_mean(means, Design.of(known, clusters), seed=seed)
    judged = {item: held for item, held in run.passed.items() if held is not None}
    interval = share_interval(list(judged.values()), Design.of(judged, clusters))
    reasons = (f"item {ratio.item}: {ratio.reason}" for ratio in run.ratios if ratio.reason)
    return SuiteRow(
        model=run.model,
        language=run.language,
        suite=run.suite.name,
        version=version_of(run.suite.name),
        n_items=len(run.suite.items),
        n_ratios=len(known),
        ratio=mean_or_none(means),
        ratio_low=ratio.low,
        ratio_high=ratio.high,
        ratio_method=ratio.method,
        n_verdicts=len(judged),
        accuracy=mean_or_none(list(map(float, judged.values()))),
        accuracy_low=interval.low,
        accuracy_high=interval.high,
        accuracy_method=interval.method,
        chance=run.chance,
        n_other_contexts=len(run.other_contexts),
        reason=next(reasons, None) or ratio.reason or interval.reason,
    )


def twin_runs(runs: Sequence[AgreementRun]) -> list[tuple[AgreementRun, AgreementRun]]:
    """Every suite that has an adversarial twin, with it, of the same model and language."""
    groups = group_by(runs, lambda run: (run.model, run.language)).values()
    by_name = ({run.suite.name: run for run in group} for group in groups)
    return [
        (group[plain], group[twin]) for group in by_name for plain, twin in twins(group).items()
    ]


def twin_rows(pairs: Sequence[tuple[AgreementRun, AgreementRun]], *, seed: int) -> list[TwinRow]:
    """Every suite beside its adversarial twin.

    Args:
        pairs: as `twin_runs` gives them.
        seed: of the bootstrap and the test.
    """
    rows = [_twin_row(plain, twin, seed=seed) for plain, twin in pairs]
    adjusted = holm([row.p for row in rows])
    return [replace(row, p_holm=p) for row, p in zip(rows, adjusted, strict=True)]


def language_rows(rows: Iterable[SuiteRow], *, averaging: Averaging) -> list[LanguageRow]:
    """The means of each language, version and model.

    They have no intervals: the suites of a language are not a sample of suites.

    Args:
        rows: of suites.
        averaging: ``suites`` gives each suite the same weight, ``items`` each item.
    """
    groups = group_by(rows, lambda row: (row.model, row.language, row.version))
    means = []
    for (model, language, version), group in groups.items():
        levels = [f"{level:.3f}" for level in sorted({row.chance for row in group})]
        reason = f"chance levels differ between suites ({', '.join(levels)})"
        accuracies = [(row.accuracy, row.n_verdicts) for row in group]
        means.append(
            LanguageRow(
                model=model,
                language=language,
                version=version,
                n_suites=len(group),
                ratio=_weighted([(row.ratio, row.n_ratios) for row in group], averaging),
                accuracy=_weighted(accuracies, averaging) if len(levels) == 1 else None,
                averaging=averaging,
                reason=None if len(levels) == 1 else reason,
            )
        )
    return means


def version_of(name: str) -> Version:
    """Whether a suite is plain or an adversarial twin, by its name."""
    return "plain" if plain_name(name) is None else "adversarial"


def cell_of(run: AgreementRun) -> tuple[str, str, Version]:
    """Model, language and version of a run, by which runs are put together."""
    return run.model, run.language, version_of(run.suite.name)


def _twin_row(plain: AgreementRun, twin: AgreementRun, *, seed: int) -> TwinRow:
    first, second = ({ratio.item for ratio in run.ratios} for run in (plain, twin))
    drops = ratio_drops(plain, twin)
    design = Design.of(drops, plain.suite.clusters())
    drop = mean_of(list(drops.values()), design, seed=seed)
    both = [item for item in plain.passed if item in twin.passed]
    return TwinRow(
        model=plain.model,
        language=plain.language,
        suite=plain.suite.name,
        twin=twin.suite.name,
        n_pairs=len(drops),
        drop=drop.value,
        low=drop.low,
        high=drop.high,
        method=drop.method,
        p=drop.p,
        p_holm=None,
        lost=tuple(i for i in both if plain.passed[i] and twin.passed[i] is False),
        won=tuple(i for i in both if twin.passed[i] and plain.passed[i] is False),
        unpaired=tuple(sorted(first ^ second)),
        reason=NO_PAIRS if not drops else drop.reason,
    )


def mean_or_none(values: Sequence[float]) -> float | None:
    """The mean; None of no values."""
    return total(values) / len(values) if values else None


def _weighted(values: Sequence[tuple[float | None, int]], averaging: Averaging) -> float | None:
    known = [(value, n if averaging == "items" else 1) for value, n in values if value is not None]
    weight = sum(n for _, n in known)
    return total([value * n for value, n in known]) / weight if weight else None
