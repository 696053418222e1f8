"""How far the people who judged the candidates of a run agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.annotate.journal import Pair, journals
from cimento.cloze.answers import ClozeAnswers
from cimento.errors import InputError
from cimento.report import formatting
from cimento.runs.run import open_run
from cimento.statistics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from cimento.statistics.design import Design

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue


@dataclass(frozen=True, slots=True)
class TwoPeople:
    """Two people on the candidates that both judged.

    Attributes:
        first: name of one.
        second: name of the other.
        n: candidates that both judged.
        equal: on which they agree.
        kappa: Cohen's, with its interval over what items were made from.
    """

    first: str
    second: str
    n: int
    equal: int
    kappa: Agreement


@dataclass(frozen=True, slots=True)
class RunAgreement:
    """What the people who judged a run said.

    Attributes:
        judged: name to how many candidates.
        alpha: Krippendorff's, over all, with its interval over what items were made from.
        pairs: every two of them.
        divided: candidates on which they do not agree, with what each said.
    """

    judged: Mapping[str, int]
    alpha: Agreement
    pairs: tuple[TwoPeople, ...]
    divided: tuple[tuple[Pair, Mapping[str, str]], ...]

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "annotators": dict(self.judged),
            "krippendorff_alpha": _plain(self.alpha),
            "pairs": [
                {
                    "first": each.first,
                    "second": each.second,
                    "n": each.n,
                    "equal": each.equal,
                    "cohen_kappa": _plain(each.kappa),
                }
                for each in self.pairs
            ],
            "divided": [
                {"item": item, "candidate": candidate, "said": dict(said)}
                for (item, candidate), said in self.divided
            ],
        }


def agreement(run: Path) -> RunAgreement:
    """How far the people who judged a run agree.

    Raises:
        InputError: nobody has judged it.
    """
    said = {
        each.annotator: {pair: one.fits or "" for pair, one in each.decisions.items()}
        for each in journals(run)
    }
    if not said:
        raise InputError(
            where=str(run),
            seen="nobody has judged its candidates",
            todo="Judge them: cimento annotate candidates RUN --annotator NAME.",
        )
    asked = list(dict.fromkeys(pair for own in said.values() for pair in own))
    clusters = _clusters(run)
    ratings = [[own.get(pair) for own in said.values()] for pair in asked]
    return RunAgreement(
        judged={name: len(own) for name, own in said.items()},
        alpha=krippendorff_alpha(ratings, design=_design(asked, clusters)),
        pairs=tuple(_two(said, *names, clusters) for names in combinations(said, 2)),
        divided=tuple(
            (pair, votes) for pair in asked if len(set((votes := _votes(said, pair)).values())) > 1
        ),
    )


def agreement_text(found: RunAgreement) -> str:
    """The same as text."""
    lines = [f"{name}: {count} candidates judged" for name, count in found.judged.items()]
    lines += [
        f"{each.first} / {each.second}: equal on {each.equal} of {each.n},"
        f" Cohen's kappa {formatting.agreement(each.kappa)}"
        for each in found.pairs
    ]
    lines.append(f"Krippendorff's alpha {formatting.agreement(found.alpha)}")
    for (item, candidate), said in found.divided:
        votes = ", ".join(f"{name} {value}" for name, value in said.items())
        lines.append(f"  {item}: {candidate}: {votes}")
    return "\n".join(lines)


def _clusters(run: Path) -> dict[str, str]:
    """Item of a run to what it was made from: the candidates of one belong together."""
    clusters = ClozeAnswers(open_run(run)).cluster_of
    return {item: cluster or item for item, cluster in clusters.items()}


def _design(pairs: Sequence[Pair], clusters: Mapping[str, str]) -> Design:
    return Design(tuple(pairs), tuple(clusters.get(item, item) for item, _ in pairs))


def _two(
    said: Mapping[str, Mapping[Pair, str]], first: str, second: str, clusters: Mapping[str, str]
) -> TwoPeople:
    one, other = said[first], said[second]
    both = [pair for pair in one if pair in other]
    columns = [one[pair] for pair in both], [other[pair] for pair in both]
    return TwoPeople(
        first,
        second,
        len(both),
        sum(one[pair] == other[pair] for pair in both),
        cohen_kappa(*columns, design=_design(both, clusters)),
    )


def _votes(said: Mapping[str, Mapping[Pair, str]], pair: Pair) -> dict[str, str]:
    return {name: own[pair] for name, own in said.items() if pair in own}


def _plain(found: Agreement) -> dict[str, JsonValue]:
    return {
        "value": found.value,
        "n": found.items,
        "low": found.low,
        "high": found.high,
        "interval_method": found.method,
        "reason": found.reason,
    }
