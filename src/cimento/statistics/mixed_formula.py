"""The formulas of mixed models, as lme4 writes them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from cimento.errors import UsageError

INTERCEPT = "(Intercept)"
Term = tuple[str, ...]

_NAME = re.compile(r"[^\W\d][\w.]*")
_RANDOM = re.compile(r"\(([^()|]*)(\|\|?)([^()|]*)\)")


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """What varies between the levels of a grouping column, freely correlated.

    Attributes:
        terms: the effects; the empty tuple is the intercept.
        group: the grouping column.
    """

    terms: tuple[Term, ...]
    group: str


@dataclass(frozen=True, slots=True)
class MixedFormula:
    """A mixed model: what is explained by which fixed and which random effects."""

    text: str
    response: str
    fixed: tuple[Term, ...]
    random: tuple[RandomTerm, ...]


def term_name(term: Term) -> str:
    """How a term is called in tables: ``structure:distance``, ``(Intercept)``."""
    return ":".join(term) or INTERCEPT


def parse_formula(text: str) -> MixedFormula:
    """Read ``response ~ effects + (effects | group) + ...`` (Bates et al. 2015, table 2).

    Effects are column names, ``a:b`` their product, ``a*b`` for ``a + b + a:b``, and 0 for no
    intercept. ``||`` in place of ``|`` keeps the effects of a group uncorrelated.

    Raises:
        UsageError: not such a formula.
    """
    response, tilde, right = text.partition("~")
    if not tilde or not _NAME.fullmatch(response.strip()):
        raise _refused(text, "no 'response ~' at its start")
    random: list[RandomTerm] = []
    for effects, bar, group in _RANDOM.findall(right):
        if not _NAME.fullmatch(group.strip()):
            raise _refused(text, f"{group.strip()!r} is no column name")
        terms = _terms(effects, text)
        if bar == "||":
            random += [RandomTerm((term,), group.strip()) for term in terms]
        else:
            random.append(RandomTerm(terms, group.strip()))
    if not random:
        raise _refused(text, "no random effect")
    rest = [part for part in _RANDOM.sub(" ", right).split("+") if part.strip()]
    fixed = _terms("+".join(rest) or "1", text)
    if not fixed:
        raise _refused(text, "no fixed effect")
    return MixedFormula(" ".join(text.split()), response.strip(), fixed, tuple(random))


def _terms(effects: str, text: str) -> tuple[Term, ...]:
    """The terms of a sum of effects: intercept, single columns, products of two, of three ..."""
    found: dict[Term, None] = {(): None}
    for part in effects.split("+"):
        piece = part.strip()
        if piece == "1":
            continue
        if piece == "0":
            found.pop((), None)
            continue
        factors = [[name.strip() for name in each.split(":")] for each in piece.split("*")]
        if not all(_NAME.fullmatch(name) for each in factors for name in each):
            raise _refused(text, f"{piece!r} is no effect")
        for size in range(1, len(factors) + 1):
            for chosen in itertools.combinations(factors, size):
                found.setdefault(tuple(dict.fromkeys(itertools.chain(*chosen))))
    return tuple(sorted(found, key=len))


def _refused(text: str, seen: str) -> UsageError:
    return UsageError(
        where=f"mixed model {text!r}",
        seen=seen,
        todo="Write it as in: score ~ structure*distance + (1 + structure | item).",
    )
