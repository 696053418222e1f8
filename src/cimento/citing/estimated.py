"""Sentences on what was counted: intervals, verdicts, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.citing.facts import RunFacts
from cimento.citing.used import counted

if TYPE_CHECKING:
    from cimento.runs.estimates import Estimate


def sentences(facts: RunFacts) -> list[str]:
    """Intervals, and what length alone would do; nothing where nothing is right or wrong."""
    shares = [one for one in stated(facts) if one.is_share]
    return [_intervals(facts, shares), *_by_length(shares)] if shares else []


def results(facts: RunFacts) -> list[str]:
    """How many verdicts there are, and the number that sums up the run, with its interval."""
    estimates = stated(facts)
    judged = any(one.is_share for one in estimates)
    return [
        *([_verdicts(estimates)] if judged else []),
        *(
            f"{_subject(one)} {_value(one)}."
            for one in estimates
            if one.role == "headline" and one.value is not None
        ),
    ]


def stated(facts: RunFacts) -> list[Estimate]:
    """The estimates over all items that a reader sees first."""
    estimates = facts.run.estimates()
    return [one for one in estimates if not one.group and one.role != "detail"]


def _verdicts(estimates: Sequence[Estimate]) -> str:
    """How many verdicts stand behind the shares that a reader sees first."""
    shares = [one for one in estimates if one.is_share and one.statistic == "accuracy"]
    tied, unscored = (sum(getattr(one, name) or 0 for one in shares) for name in _LEFT)
    total = counted(sum(one.n for one in shares) + unscored, "verdict", "verdicts")
    ties = counted(tied, "was a tie", "were ties")
    left = counted(
        unscored,
        "could not be scored and is in no share",
        "could not be scored and are in no share",
    )
    return f"Of {total} {ties}, and {left}."


_LEFT = ("tied", "unscored")


def _intervals(facts: RunFacts, shares: Sequence[Estimate]) -> str:
    head = "Shares have Wilson's 95 % interval [@wilson1927]"
    if not any(share.clustered for share in shares):
        return f"{head}."
    together = facts.methods.together or "some items"
    return (
        f"{head} at the effective number of verdicts, because {together} belong together"
        " [@korn1998; @franco2019]."
    )


def _by_length(shares: Sequence[Estimate]) -> list[str]:
    """What shares would be by length alone, where that leads away from chance."""
    off = [
        f"{share.by_length:.3f} ({share.question})"
        for share in shares
        if share.off_by_length and share.by_length is not None
    ]
    if not off:
        return []
    stated = (
        "Conditions differ in their number of tokens: if every token cost the same, the shares"
        f" would be {', '.join(off)}."
    )
    return [stated]


def _subject(one: Estimate) -> str:
    statistic = one.statistic[:1].upper() + one.statistic[1:]
    return f"{statistic} ({', '.join(filter(None, (one.question, one.method)))}) was"


def _value(one: Estimate) -> str:
    of = f"{one.right} of {one.n}" if one.is_share else f"n = {one.n}"
    if one.low is None or one.high is None:
        return f"{one.value:.3f} ({of}; no interval: {one.reason})"
    return f"{one.value:.3f} ({of}; 95 % interval [{one.low:.3f}, {one.high:.3f}])"
