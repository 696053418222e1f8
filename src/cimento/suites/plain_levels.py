"""Words for the levels of factors in five languages, which say the plain level of a factor."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cimento.errors import Fault
from cimento.faults import NO_PLAIN_LEVEL, fault
from cimento.intake.marks import sides_of
from cimento.intake.names import is_negative, meaning
from cimento.intake.words import pattern, word_list
from cimento.suites import GOOD, Suite
from cimento.suites.design import N_FACTORS, with_design
from cimento.suites.level_words import UNNAMED_FACTORS

_PLAIN = {*word_list("levels.plain")}
_CHANGED = {*word_list("levels.changed")}
_NEGATIONS = (*word_list("words.negations"), *word_list("levels.lacking"))
_NO = {*word_list("levels.absent")}
_NUMBERS, _SINGULAR = {*word_list("words.numbers")}, {*word_list("levels.singular")}
_ISLAND_WORDS = pattern("islands")
_MINUS = "-–−"


def plain_first(
    factors: Mapping[str, Sequence[str]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Factors with the plain level of each first, and those whose words do not say which it is.

    >>> plain_first({"Distanza": ["lunga", "breve"], "Clause": ["whether", "that"]})
    ({'Distanza': ('breve', 'lunga'), 'Clause': ('whether', 'that')}, {'Clause': 'whether'})

    Where one of two factors is the judgment, the other has its plain level last: DD is then how
    much better good sentences are than bad ones in the plain level, beyond the same elsewhere.

    >>> plain_first({"a": ["bad", "good"], "b": ["singular", "plural"]})[0]
    {'a': ('good', 'bad'), 'b': ('plural', 'singular')}

    Returns:
        The factors, and the first level of each that keeps its order.
    """
    judged = [factor for factor, levels in factors.items() if sides_of(factor, levels)]
    is_judged = len(judged) == 1 and len(factors) == N_FACTORS
    ordered: dict[str, tuple[str, ...]] = {}
    unknown: dict[str, str] = {}
    for factor, levels in factors.items():
        plain = _plain_of(factor, levels)
        is_other = is_judged and factor not in judged
        if is_other and plain is None:
            plain = _singular_of(levels)
        if plain is None:
            unknown[factor] = levels[0]
        first = levels[0] if plain is None else plain
        rest = tuple(level for level in levels if level != first)
        ordered[factor] = (*rest, first) if is_other and plain is not None else (first, *rest)
    return ordered, unknown


def with_known_design(suite: Suite, *, where: str) -> tuple[Suite, list[Fault]]:
    """A suite with the predictions of its design, if words say the plain level of each factor.

    The order of the rows says nothing: where a plain level is not known, a design would predict the
    opposite half of the time, so that there are conditions alone.

    Args:
        suite: a suite without predictions.
        where: name of the table.

    Returns:
        The suite, and the faults that name what is not known.
    """
    designed = with_design(suite)
    _, unknown = plain_first(suite.factors)
    if not unknown or len(designed.predictions) <= 1:
        return designed, []  # a design has several predictions
    faults = []
    for factor in unknown:
        first, second = suite.factors[factor][:2]
        seen = (
            f"Nothing says which level is the plain one, {first!r} or {second!r}:"
            " the table is not a design yet, and nothing is predicted."
            if factor in UNNAMED_FACTORS
            else f"Nothing says which level of {factor!r} is the plain one, {first!r} or"
            f" {second!r}: the table is not a design yet, and nothing is predicted."
        )
        todo = (
            "Add a word that says it to the name of one of them, such as control:"
            f" {f'{first} control'!r} or {f'{second} control'!r}."
        )
        faults.append(fault(NO_PLAIN_LEVEL, where=where, seen=seen, todo=todo))
    return replace(suite, factors={}), faults


def _plain_of(factor: str, levels: Sequence[str]) -> str | None:
    """The one plain level, or the only one that is not changed; None if no word says it.

    Of ``+gap`` and ``-gap``, that with the minus sign is plain, as in the notation of features.
    """
    if judgments := sides_of(factor, levels):
        return next(level for level, side in judgments.items() if side == GOOD)
    signed = {level.strip()[:1]: level for level in levels}
    if len(levels) == len(signed) == len({level.strip()[1:] for level in levels}) + 1:
        minus = next((signed[sign] for sign in _MINUS if sign in signed), None)
        if "+" in signed and minus is not None:
            return minus
    sides = {level: _is_changed(level, factor) for level in levels}
    plain = [level for level, changed in sides.items() if changed is False]
    open_ = [level for level, changed in sides.items() if changed is None]
    if len(plain) == 1:
        return plain[0]
    return open_[0] if not plain and len(open_) == 1 and len(levels) > 1 else None


def _singular_of(levels: Sequence[str]) -> str | None:
    """The one level in the singular, of two that are numbers: *atrator singular*, *plural*."""
    words = {level: {*re.findall(r"[^\W_]+", level.casefold())} for level in levels}
    are_numbers = all(known & _NUMBERS for known in words.values())
    singular = [level for level, known in words.items() if known & _SINGULAR]
    return singular[0] if are_numbers and len(singular) == 1 else None


def _is_changed(level: str, factor: str) -> bool | None:
    """Whether a level is the one that adds to the cost of a sentence; None for unknown words."""
    word = level.casefold().strip()
    if word in _NO and (_ISLAND_WORDS.search(factor) or is_negative(factor)):
        return False
    if (side := meaning(word)) in ("good", "bad") and word not in _NO:
        return side == "bad"
    words = re.findall(r"[^\W_]+", word)
    changed = next((name for name in words if _base(name) in _CHANGED), "")
    if changed:
        negated = word[0] in _MINUS or _base(changed) != changed or {*words} & {*_NEGATIONS}
        return not negated
    return False if {*words} & _PLAIN else None


def _base(word: str) -> str:
    """A word without the negation that it begins with: *nonisland*."""
    bases = (word.removeprefix(no) for no in _NEGATIONS)
    return next((base for base in bases if base in _CHANGED), word)
