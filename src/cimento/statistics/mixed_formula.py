"""Formulas of mixed models as lme4 writes them, and the designs that they make of columns."""

from __future__ import annotations

import itertools
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cimento.errors import UsageError, need_known
from cimento.io.values import grouped
from cimento.statistics.design import ALL_EQUAL, TOO_FEW, Floats, codes, floats, same_length
from cimento.statistics.mixed_deviance import GroupBlock, spans

INTERCEPT = "(Intercept)"
Term = tuple[str, ...]
VariableColumn = Sequence[Hashable]
"""The values of a variable, one per row."""

_NAME = re.compile(r"[^\W\d][\w.]*")
_RANDOM = re.compile(r"\(([^()|]*)(\|\|?)([^()|]*)\)")


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """The effects that vary between the levels of a grouping column, freely correlated.

    Attributes:
        terms: the effects; the empty tuple is the intercept.
        group: the grouping column.
    """

    terms: tuple[Term, ...]
    group: str


@dataclass(frozen=True, slots=True)
class MixedFormula:
    """The formula of a mixed model: response, fixed effects, random effects."""

    text: str
    response: str
    fixed: tuple[Term, ...]
    random: tuple[RandomTerm, ...]


def term_name(term: Term) -> str:
    """The name of a term in tables: ``structure:distance``, ``(Intercept)``."""
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
            raise _refused(text, f"{group.strip()!r} is not a column name")
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
    terms: dict[Term, None] = {(): None}
    for part in effects.split("+"):
        piece = part.strip()
        if piece == "1":
            continue
        if piece == "0":
            terms.pop((), None)
            continue
        factors = [[name.strip() for name in names.split(":")] for names in piece.split("*")]
        if not all(_NAME.fullmatch(name) for factor in factors for name in factor):
            raise _refused(text, f"{piece!r} is not an effect")
        for size in range(1, len(factors) + 1):
            for chosen in itertools.combinations(factors, size):
                terms.setdefault(tuple(dict.fromkeys(itertools.chain(*chosen))))
    return tuple(sorted(terms, key=len))


def _refused(text: str, seen: str) -> UsageError:
    return UsageError(
        where=f"mixed model {text!r}",
        seen=seen,
        todo="Write it as in: score ~ structure*distance + (1 + structure | item).",
    )


@dataclass(frozen=True, slots=True)
class RandomEffects:
    """The variation between the levels of a grouping column.

    Attributes:
        group: the grouping column.
        names: of the effects.
        sds: standard deviations, in the order of `names`.
        correlations: matrix of the effects; None where a standard deviation is zero.
        levels: number of levels of the group.
    """

    group: str
    names: tuple[str, ...]
    sds: tuple[float, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    levels: int


def rows_of(parsed: MixedFormula, columns: Mapping[str, VariableColumn]) -> int:
    """The number of rows of the formula's columns.

    Raises:
        UsageError: a column is missing, or they are not equally long.
    """
    effects = [*parsed.fixed, *(effect for term in parsed.random for effect in term.terms)]
    names = [parsed.response, *(name for term in effects for name in term)]
    names += [term.group for term in parsed.random]
    for name in names:
        where = f"mixed model {parsed.text!r}"
        need_known(name, columns, where=where, seen=f"there is no column {name!r}")
    return same_length(**{name: columns[name] for name in names})


def design_of(terms: Sequence[Term], columns: Mapping[str, VariableColumn], n: int) -> Floats:
    """One column a term: ones, a column, or a product of columns."""
    design = np.ones((n, len(terms)))
    for place, term in enumerate(terms):
        for name in term:
            design[:, place] *= floats(columns[name], name=f"column {name!r}")
    return design


def by_group(parsed: MixedFormula) -> dict[str, list[RandomTerm]]:
    """Grouping column to its random terms, which are fitted as one block."""
    return grouped((term.group, term) for term in parsed.random)


def block_of(
    terms: Sequence[RandomTerm], columns: Mapping[str, VariableColumn], n: int
) -> GroupBlock:
    """The random effects of the terms of one grouping column."""
    effects = [effect for term in terms for effect in term.terms]
    sizes = tuple(len(term.terms) for term in terms)
    return GroupBlock(design_of(effects, columns, n), *codes(columns[terms[0].group]), sizes)


def impossible(
    parsed: MixedFormula, x: Floats, y: Floats, blocks: Sequence[GroupBlock]
) -> str | None:
    """The reason why the formula cannot be fitted to these data; None if it can."""
    if y.size < 2 or (y == y[0]).all():  # noqa: PLR2004  # a spread needs two values
        return ALL_EQUAL if y.size > 1 else TOO_FEW
    if np.linalg.matrix_rank(x) < x.shape[1]:
        return "a fixed effect is constant, or a sum of others"
    for group, block in zip(by_group(parsed), blocks, strict=True):
        if block.levels < 2:  # noqa: PLR2004  # levels that differ
            return f"there are fewer than two levels of {group!r}"
        if block.size >= y.size:
            return (
                f"{y.size} observations for {block.size} random effects of {group!r}: "
                "leave some of them out"
            )
    return None


def random_effects(
    parsed: MixedFormula, blocks: Sequence[GroupBlock], factors: Sequence[Floats]
) -> tuple[RandomEffects, ...]:
    """The random effects of each term, from the scaled factors of the groups' blocks."""
    by_term = {}
    for terms, block, factor in zip(by_group(parsed).values(), blocks, factors, strict=True):
        for term, span in zip(terms, spans(len(term.terms) for term in terms), strict=True):
            by_term[term] = _random_term(term, block.levels, factor[span, span])
    return tuple(by_term[term] for term in parsed.random)


def _random_term(term: RandomTerm, levels: int, factor: Floats) -> RandomEffects:
    covariance = factor @ factor.T
    sds = np.sqrt(np.diagonal(covariance))
    correlations = tuple(
        tuple(
            float(covariance[i, j] / (sds[i] * sds[j])) if sds[i] and sds[j] else None
            for j in range(sds.size)
        )
        for i in range(sds.size)
    )
    names = tuple(term_name(effect) for effect in term.terms)
    return RandomEffects(term.group, names, tuple(map(float, sds)), correlations, levels)
