"""Sentences on models side by side: which of them paired tests on the same items tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cimento.io.values import grouped
from cimento.report.formatting import number, p_value, some

FEW_MODELS = 4
"""Most models that sentences name one by one and compare pair by pair; more are counted."""
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class PairTest:
    """The paired test of two models on the items of one suite.

    Attributes:
        suite: name of the suite.
        first: name of the one model.
        second: name of the other.
        difference: first minus second.
        p: of the difference, before any correction; None where there is no test.
        shared: number of items with both, where a model lacks some; None where none does.
        percent: whether the difference is one of shares that are said in percent.
        beside: whether it is of correlations that are said beside an accuracy.
    """

    suite: str
    first: str
    second: str
    difference: float
    p: float | None
    shared: int | None = None
    percent: bool = False
    beside: bool = False

    @property
    def size(self) -> str:
        """The difference without its sign."""
        if self.percent:
            return f"{100 * abs(self.difference):.1f} points"
        return number(abs(self.difference))

    @property
    def base(self) -> str:
        """On how many items the test is, if not on all."""
        return "" if self.shared is None else f" on {self.shared} shared items"


def differences(tested: Sequence[tuple[PairTest, float | None]]) -> Iterator[str]:
    """Which of few models differ on which suites, and which do not differ significantly."""
    if not tested:
        return
    sure = [(test, p) for test, p in tested if p is not None and p <= LEVEL]
    unsure = [(test, p) for test, p in tested if p is not None and p > LEVEL]
    untested = [test for test, p in tested if p is None]
    models = {name for test, _ in tested for name in (test.first, test.second)}
    suites = {test.suite for test, _ in tested}
    if sure:
        yield _differing(sure, several=len(suites) > 1)
    if unsure:
        yield _not_told(unsure, alone=len(models) == 2, sure=bool(sure))  # noqa: PLR2004 - a pair
    if untested:
        where = some(list(dict.fromkeys(test.suite for test in untested)))
        yield f"On {where}, too few independent items are shared for a test of differences"


def _differing(sure: Sequence[tuple[PairTest, float | None]], *, several: bool) -> str:
    """The pairs that differ: the better one of them first, with the size and p."""
    by_pair = grouped((_better_first(test), _size(test, p, several=several)) for test, p in sure)
    return "; ".join(
        f"{better} is above {worse} {joined(sizes)}" for (better, worse), sizes in by_pair.items()
    )


def _better_first(test: PairTest) -> tuple[str, str]:
    return (test.first, test.second) if test.difference > 0 else (test.second, test.first)


def _size(test: PairTest, p: float | None, *, several: bool) -> str:
    where = f"on {test.suite} " if several else ""
    return f"{where}(by {test.size}{test.base}, {p_value(p or 0.0)})"


def _not_told(unsure: Sequence[tuple[PairTest, float | None]], *, alone: bool, sure: bool) -> str:
    """Where models do not differ significantly, with the lowest p."""
    test, p = min(unsure, key=lambda pair: pair[1] or 0.0)
    suites = list(dict.fromkeys(one.suite for one, _ in unsure))
    here = f" on {test.suite}" if len(suites) > 1 else ""
    if len(unsure) == 1:
        where = f" on {test.suite}" if sure and alone else ""
        size = f"second minus first: {_signed(test)}{test.base}, {_p_values(test, p or 0.0)}"
        return f"{test.first} and {test.second} do not differ significantly{where} ({size})"
    if alone:
        where = some(suites) if sure else f"any of {len(suites)} suites"
        lowest = f"lowest: {p_value(p or 0.0)},{here}"
        return f"{test.first} and {test.second} do not differ significantly on {where} ({lowest})"
    lowest = f"lowest: {p_value(p or 0.0)}, {test.first} and {test.second}{here}"
    if here:
        which = f"the other {len(unsure)}" if sure else f"any of {len(unsure)}"
        return f"Models do not differ significantly in {which} comparisons ({lowest})"
    pairs = "The other pairs do not" if sure else "No two of them"
    return f"{pairs} differ significantly ({lowest})"


def _signed(test: PairTest) -> str:
    """The second minus the first, as tables of comparisons have it."""
    if not test.difference:
        return "0"
    return f"{'-' if test.difference > 0 else '+'}{test.size}"


def _p_values(test: PairTest, corrected: float) -> str:
    """The p-value of a test, and the corrected one where it is another."""
    alone = p_value(corrected if test.p is None else test.p)
    whole = p_value(corrected)
    return alone if alone == whole else f"{alone}, corrected {whole.removeprefix('p ')}"


def leading(
    leaders: Mapping[str, Sequence[str]], suites: Sequence[str], n_models: int
) -> Iterator[str]:
    """Which of many models could be first."""
    known = {suite: leaders[suite] for suite in suites if leaders.get(suite)}
    if not known:
        return
    if len(suites) == 1:
        (could,) = known.values()
        if len(could) > 1:
            yield f"{len(could)} of {n_models} models could be first: {_models(could)}"
        else:
            yield f"{could[0]} is first, above each of the others"
        return
    alone = grouped((could[0], suite) for suite, could in known.items() if len(could) == 1)
    parts = [f"{model} is first on {some(where)}" for model, where in alone.items()]
    sizes = sorted(len(could) for could in known.values() if len(could) > 1)
    if sizes:
        several = " to ".join(dict.fromkeys(str(end) for end in (sizes[0], sizes[-1])))
        where = f"{len(sizes)} of {len(known)} suites" if alone else f"each of {len(sizes)} suites"
        parts.append(f"{several} models could be first on {where}")
    yield "; ".join(parts)


def _models(names: Sequence[str]) -> str:
    """The names of some models; if there are many, the first ones and how many more there are."""
    if len(names) <= FEW_MODELS:
        return joined(names)
    return f"{', '.join(names[: FEW_MODELS - 1])}, and {len(names) - FEW_MODELS + 1} more"


def joined(names: Sequence[str]) -> str:
    """Names with commas, and *and* before the last one."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
