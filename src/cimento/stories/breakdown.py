"""Where a model fails: by state, distance, position, place; confusions; partly right answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from cimento.stories.outcomes import Outcome, at
from cimento.stories.records import CONFLICT, STATE, STATES, STORY, TIERS, TRUE, Story
from cimento.stories.tiers import Chain

FAMILIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "access": frozenset({"open", "occupied", "location"}),
        "working": frozenset({"power", "functional"}),
        "being": frozenset({"exist", "in pieces", "solid"}),
        "condition": frozenset({"clean", "wet", "edible", "temperature"}),
        "person": frozenset({"conscious", "wearing"}),
    }
)
"""States that are near each other; a convention of this project."""


@dataclass(frozen=True, slots=True)
class Survivors:
    """How many implausible stories of a kind pass each tier and all before it.

    Attributes:
        n: stories of the kind.
        story_ok: right at the first tier; None where the tier says nothing.
        conflict_ok: and at the second.
        state_ok: and at the third.
    """

    n: int
    story_ok: int | None
    conflict_ok: int | None
    state_ok: int | None


def by_state(stories: Sequence[Story], chained: Chain) -> dict[str, Survivors]:
    """By the state that explains the conflict, those that occur."""
    found = _survivors(stories, chained, lambda story: story.state)
    return {state: found[state] for state in STATES if state in found}


def by_distance(stories: Sequence[Story], chained: Chain) -> dict[int, Survivors]:
    """By how many sentences the breakpoint comes after the conflicting one."""
    return _sorted(_survivors(stories, chained, lambda story: story.distance))


def by_breakpoint(stories: Sequence[Story], chained: Chain) -> dict[int, Survivors]:
    """By the position of the breakpoint, from 0."""
    return _sorted(_survivors(stories, chained, lambda story: story.breakpoint))


def by_pair(stories: Sequence[Story], chained: Chain) -> dict[str, Survivors]:
    """By conflict pair."""
    found = _survivors(stories, chained, lambda story: story.gold(CONFLICT))
    return dict(sorted(found.items()))


def by_place(stories: Sequence[Story], chained: Chain) -> dict[str, Survivors]:
    """By location, the most frequent first."""
    found = _survivors(stories, chained, lambda story: story.location.strip())
    return dict(sorted(found.items(), key=lambda each: -each[1].n))


def by_domain(stories: Sequence[Story], chained: Chain) -> dict[str, Survivors]:
    """By domain."""
    return _survivors(stories, chained, lambda story: story.domain)


def _survivors(
    stories: Sequence[Story], chained: Chain, kind: Callable[[Story], Hashable | None]
) -> dict[str, Survivors]:
    groups: dict[str, list[int]] = {}
    for story in stories:
        name = kind(story)
        if not story.plausible and name not in (None, ""):
            groups.setdefault(str(name), []).append(story.row)
    return {name: _count(rows, chained) for name, rows in groups.items()}


def _count(rows: Sequence[int], chained: Chain) -> Survivors:
    passed = [
        sum(chained.passed[tier][row] is True for row in rows) if chained.known(tier) else None
        for tier in TIERS
    ]
    return Survivors(len(rows), *passed)


def _sorted(found: Mapping[str, Survivors]) -> dict[int, Survivors]:
    return {number: found[str(number)] for number in sorted(int(name) for name in found)}


def by_true_shots(
    stories: Sequence[Story], outcomes: Sequence[Outcome]
) -> dict[int, tuple[int, int]]:
    """Accuracy of the first tier by how many of the worked examples are plausible stories.

    Returns:
        Number of such examples to (right, all); empty where examples were not recorded. Answers
        with an example that is not among the stories are left out.
    """
    gold = {story.row: story.gold(STORY) for story in stories}
    counts: dict[int, tuple[int, int]] = {}
    for each in at(outcomes, STORY).values():
        if each.correct is None or not each.answer.shots or not gold.keys() >= {*each.answer.shots}:
            continue
        number = sum(gold[shot] == TRUE for shot in each.answer.shots)
        right, n = counts.get(number, (0, 0))
        counts[number] = (right + each.correct, n + 1)
    return dict(sorted(counts.items()))


def confusions(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """At the third tier, the right state to the states chosen, both in alphabetical order."""
    found: dict[str, dict[str, int]] = {}
    for each in outcomes:
        if each.tier == STATE and each.gold is not None and each.chosen is not None:
            row = found.setdefault(each.gold, {})
            row[each.chosen] = row.get(each.chosen, 0) + 1
    return {gold: dict(sorted(row.items())) for gold, row in sorted(found.items())}


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialCredit:
    """How near wrong answers are, over all answers with a label at the later tiers.

    Attributes:
        n_pairs: answers at the second tier.
        pair_right: both sentences.
        one_right: exactly one of the two sentences is in the right pair.
        breakpoint_right: the breakpoint, whatever the other sentence.
        conflicting_right: the conflicting sentence, whatever the breakpoint.
        mean_distance: mean of the sum of distances of both sentences; None without answers.
        n_states: answers at the third tier.
        state_right: the state.
        family_right: a state of the same family (`FAMILIES`), the right one included.
    """

    n_pairs: int
    pair_right: int
    one_right: int
    breakpoint_right: int
    conflicting_right: int
    mean_distance: float | None
    n_states: int
    state_right: int
    family_right: int


def partial_credit(outcomes: Sequence[Outcome]) -> PartialCredit:
    """Count answers that are partly right."""
    pairs = [
        (_sentences(each.gold), _sentences(each.chosen))
        for each in outcomes
        if each.tier == CONFLICT and each.gold is not None and each.chosen is not None
    ]
    states = [
        (each.gold, each.chosen)
        for each in outcomes
        if each.tier == STATE and each.gold is not None and each.chosen is not None
    ]
    distances = [abs(g[0] - c[0]) + abs(g[1] - c[1]) for g, c in pairs]
    return PartialCredit(
        n_pairs=len(pairs),
        pair_right=sum(gold == chosen for gold, chosen in pairs),
        one_right=sum(len(set(gold) & set(chosen)) == 1 for gold, chosen in pairs),
        breakpoint_right=sum(gold[1] == chosen[1] for gold, chosen in pairs),
        conflicting_right=sum(gold[0] == chosen[0] for gold, chosen in pairs),
        mean_distance=sum(distances) / len(distances) if distances else None,
        n_states=len(states),
        state_right=sum(gold == chosen for gold, chosen in states),
        family_right=sum(family(gold) == family(chosen) for gold, chosen in states),
    )


def family(state: str) -> str:
    """The family of a state."""
    return next(name for name, states in FAMILIES.items() if state in states)


def _sentences(pair: str) -> tuple[int, int]:
    first, second = pair.split(" and ")
    return int(first), int(second)
