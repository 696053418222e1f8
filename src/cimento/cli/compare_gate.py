"""``cimento compare --fail-if-worse``: what is worse, in words and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cli.console import NOT_REACHED, note
from cimento.cli.evaluating import PART_MISSING
from cimento.compare.gate import Gate, GatedChange, gate
from cimento.compare.over_suites import facts_of
from cimento.errors import UsageError, counted

if TYPE_CHECKING:
    from cimento.compare.before_after import BeforeAfter, RunPair
    from cimento.kinds.run import Run
    from cimento.paired.pairwise import PairwiseComparison


def gate_of(
    comparison: BeforeAfter,
    rates: Sequence[PairwiseComparison],
    sides: Sequence[Sequence[Run]],
    *,
    margin: float | None,
) -> Gate | None:
    """The gate over a comparison; None without a margin.

    Args:
        comparison: of both sides.
        rates: that are looked at.
        sides: the runs.
        margin: a fall that does not matter.

    Raises:
        UsageError: the runs are two ways of asking, or nothing was judged in them.
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
    facts = facts_of([run for side in sides for run in side])
    return gate(rates, comparison.summed_up, facts, margin=margin)


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
    change, name = one.change, f"{one.suite}, {one.question}" if one.suite else one.name
    ends = "" if change.low is None else f" [{change.low:+.3f}, {change.high:+.3f}]"
    wide = f", widened for {_widened_for(gated)}:" if ends and len(gated.every) > 1 else ""
    return f"{name}: change {change.estimate:+.3f}{wide}{ends} over {counted(one.n, 'item')}"


def _widened_for(gated: Gate) -> str:
    suites = len({one.suite for one in gated.changes})
    several = "suite" if suites == len(gated.changes) else "comparison"
    means = ("", " and their mean", " and their means")[min(len(gated.means), 2)]
    return counted(len(gated.changes), several) + means


def _none_worse(gated: Gate) -> str:
    """A note on what was compared, if nothing is significantly worse: what came nearest to it."""
    by = f" by more than {gated.margin:g}" if gated.margin else ""
    known = [one for one in gated.every if one.change.high is not None]
    few = [f"{one.name} ({one.change.reason})" for one in gated.every if one not in known]
    compared = f"{_widened_for(gated)}, {counted(sum(one.n for one in gated.changes), 'item')}"
    nearest = sorted(known, key=lambda one: one.change.high or 0.0)[:1]
    family = " (family-wise)" if len(gated.every) > 1 else ""
    means = [one for one in gated.means if one in known]
    which = "the mean" if len(gated.means) == 1 else "a mean"
    none = f"neither a suite nor {which}" if means else "no suite"
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
    """A sentence on the smallest drops that would have failed."""
    of_suites = [one for one in known if one.suite]
    if not of_suites:
        return []
    drops = sorted(one.detectable for one in of_suites if one.detectable is not None)
    said = "none on a single suite" if len(of_suites) > 1 else "none"
    if drops:
        ends = dict.fromkeys(f"{drop:.3f}" for drop in (drops[0], drops[-1]))
        said = " to ".join(ends) + (" on one suite" if len(of_suites) > 1 else "")
        if none := len(of_suites) - len(drops):
            said += f" (on {none} of {len(of_suites)}, no drop would have)"
    for mean in gated.means:
        if mean.detectable is not None:
            which = "mean" if len(gated.means) == 1 else mean.name
            said += f", {mean.detectable:.3f} on the {which}"
    return [f"Smallest drop that would have failed: {said}."]
