"""``cimento compare --fail-if-worse``: what is worse, in words and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cli.console import NOT_REACHED, note
from cimento.cli.evaluating import PART_MISSING
from cimento.compare.gate import Gate, GatedChange, gate, phenomena_of_items
from cimento.compare.over_suites import facts_of
from cimento.errors import UsageError, counted

if TYPE_CHECKING:
    from cimento.compare.before_after import BeforeAfter, RunPair
    from cimento.kinds.run import Run
    from cimento.paired.pairwise import PairwiseComparison

_PHENOMENA = ("phenomenon", "phenomena")


def refuse_without_gate(*, junit: bool, by_phenomenon: bool) -> None:
    """Refuse options of a gate where none is asked for.

    Args:
        junit: whether its tests are to be written.
        by_phenomenon: whether it is to look at phenomena.

    Raises:
        UsageError: one of the two.
    """
    for flag, given, seen in (
        ("--junit", junit, "there is nothing to be tested"),
        ("--by=phenomenon", by_phenomenon, "it says what a gate looks at, and there is none"),
    ):
        if given:
            raise UsageError(where=flag, seen=seen, todo="Add --fail-if-worse MARGIN.")


def gate_of(
    comparison: BeforeAfter,
    rates: Sequence[PairwiseComparison],
    sides: Sequence[Sequence[Run]],
    *,
    margin: float | None,
    by_phenomenon: bool = False,
) -> Gate | None:
    """The gate over a comparison; None without a margin.

    Args:
        comparison: of both sides.
        rates: that are looked at.
        sides: the runs.
        margin: a fall that does not matter.
        by_phenomenon: whether each phenomenon is looked at too.

    Raises:
        UsageError: the runs are two ways of asking, nothing was judged in them, or there is no
            phenomenon apart from whole suites.
    """
    if margin is None:
        return None
    if comparison.ways:
        raise UsageError(
            where="--fail-if-worse",
            seen="one run asks in words what the other measures: neither is before the other",
            todo="Give two prompted runs, or two by probability.",
        )
    if not rates:
        raise UsageError(
            where="--fail-if-worse",
            seen="nothing was judged in these runs, so nothing can be right or wrong",
            todo="Give runs of suites with predictions, targets or tiers.",
        )
    runs = [run for side in sides for run in side]
    phenomena = phenomena_of_items(runs) if by_phenomenon else None
    gated = gate(rates, comparison.summed_up, facts_of(runs), margin=margin, phenomena=phenomena)
    if by_phenomenon and not gated.phenomena:
        raise UsageError(
            where="--by=phenomenon",
            seen="no suite here has items from more than one phenomenon",
            todo="Leave it out: suites are looked at anyway. Of a table, the column is phenomenon.",
        )
    return gated


def say_gate(comparison: BeforeAfter, gated: Gate | None) -> int:
    """Report runs without a partner and, if requested, whether anything is worse; the exit code.

    Args:
        comparison: of both sides.
        gated: the gate; None where it was not requested.
    """
    for side, alone in (("first", comparison.only_first), ("second", comparison.only_second)):
        if alone:
            note(f"cimento: not compared, since only the {side} side has it: {'; '.join(alone)}")
    if gated is None:
        return 0
    for one in gated.worse:
        note(f"cimento: worse: {_said(one, gated)}")
    if gated.worse:
        return NOT_REACHED
    note(_none_worse(gated))
    for pair in (pair for pair in comparison.runs if pair.left_out):
        of = pair.shared + len(pair.only_first)
        note(
            f"cimento: only {of - pair.left_out} of {of} items were compared ({pair.first}): the"
            f" second {_lacks(pair)}. --allow-partial accepts this."
        )
    is_part = comparison.only_first or any(pair.left_out for pair in comparison.runs)
    return PART_MISSING if is_part else 0


def _lacks(pair: RunPair) -> str:
    """What the second run of a pair lacks, in words."""
    lacking, unscored = len(pair.only_first), len(pair.unscored_second)
    parts = (f"lacks {lacking:,}" * bool(lacking), f"could not score {unscored:,}" * bool(unscored))
    return " and ".join(filter(None, parts))


def _said(one: GatedChange, gated: Gate) -> str:
    """A change with the interval by which the gate decides."""
    change, name = one.change, f"{one.name}, {one.question}" if one.suite else one.name
    ends = "" if change.low is None else f" [{change.low:+.3f}, {change.high:+.3f}]"
    wide = f", widened for {_widened_for(gated)}:" if ends and len(gated.every) > 1 else ""
    return f"{name}: change {change.estimate:+.3f}{wide}{ends} over {counted(one.n, 'item')}"


def _widened_for(gated: Gate) -> str:
    suites = len({one.suite for one in gated.changes})
    several = "suite" if suites == len(gated.changes) else "comparison"
    parts = [counted(len(gated.changes), several)]
    if gated.phenomena:
        parts.append(counted(len(gated.phenomena), *_PHENOMENA))
    parts += [f"their {'mean' if len(gated.means) == 1 else 'means'}"] * bool(gated.means)
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _none_worse(gated: Gate) -> str:
    """A note on what was compared, if nothing is significantly worse: what came nearest to it."""
    by = f" by more than {gated.margin:g}" if gated.margin else ""
    known = [one for one in gated.every if one.change.high is not None]
    few = [f"{one.name} ({one.change.reason})" for one in gated.every if one not in known]
    compared = f"{_widened_for(gated)}, {counted(sum(one.n for one in gated.changes), 'item')}"
    nearest = sorted(known, key=lambda one: one.change.high or 0.0)[:1]
    family = " (family-wise)" if len(gated.every) > 1 else ""
    means = [one for one in gated.means if one in known]
    of = ["suite", *["phenomenon"] * bool(gated.phenomena)]
    mean = ["the mean" if len(gated.means) == 1 else "a mean"] * bool(means)
    several = " nor ".join([f"a {name}" for name in of] + mean)
    none = f"neither {several}" if len(of) + len(mean) > 1 else "no suite"
    nearest += [one for one in means if one not in nearest]
    none_lower = f"cimento: not worse: {none} is significantly lower{family} in the second{by}"
    return "\n".join(
        (
            f"{none_lower} ({compared}).",
            *(
                [f"Nearest to failing: {'; '.join(_said(one, gated) for one in nearest)}."]
                if nearest
                else ()
            ),
            *_detectable(gated, known),
            *([f"Nothing can be said about {'; '.join(few)}."] if few else ()),
        )
    )


def _detectable(gated: Gate, known: Sequence[GatedChange]) -> list[str]:
    """A sentence on the smallest drops that can fail, and under which assumption."""
    said = [
        *_drops("suite", "suites", [one for one in gated.changes if one in known]),
        *_drops(*_PHENOMENA, [one for one in gated.phenomena if one in known]),
    ]
    for mean in gated.means:
        if mean.detectable is not None:
            which = "mean" if len(gated.means) == 1 else mean.name
            said.append(f"{mean.detectable:.3f} on the {which}")
    if not said:
        return []
    drops = ", ".join(said)
    return [f"Least drop that can fail, if items are only lost: {drops}. Items gained raise it."]


def _drops(one: str, several: str, some: Sequence[GatedChange]) -> list[str]:
    """The smallest and the largest drop that some changes need to fail."""
    drops = sorted(change.detectable for change in some if change.detectable is not None)
    none = len(some) - len(drops)
    if not drops:
        return [f"none on a {one} (losing every correct item would pass)"] if some else []
    ends = " to ".join(dict.fromkeys(f"{drop:.3f}" for drop in (drops[0], drops[-1])))
    but = (
        f" (on {none} of {counted(len(some), one, several)}, losing every correct item would pass)"
    )
    return [f"{ends} on a {one}" + but * bool(none)]
