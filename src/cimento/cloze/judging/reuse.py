"""Earlier judgments used again, so that only candidates that are new are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cimento.cloze.judging.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Reused:
    """Candidates with what earlier judgments say of them.

    Attributes:
        candidates: all of them, in their order; None stays where nothing was said.
        taken: how many got an earlier judgment.
        contradicted: those on which earlier judgments disagree; they stay without one.
        new: those that somebody has to judge: never judged, or contradicted.
    """

    candidates: tuple[Candidate, ...]
    taken: int
    contradicted: tuple[Candidate, ...]
    new: tuple[Candidate, ...]


def reuse_judgments(candidates: Iterable[Candidate], earlier: Iterable[Candidate]) -> Reused:
    """Give candidates the judgments that the same text got in the same item before.

    Rank and probability do not matter, so that the judgments of one model's candidates serve
    for another's. A text is the same only with the same capitals.

    Args:
        candidates: a judgment that one has already is kept.
        earlier: judged candidates of the same items, of any models.
    """
    known: dict[tuple[str, str], dict[bool, Candidate]] = {}
    for each in earlier:
        if each.fits is not None:
            known.setdefault((each.item, each.text), {}).setdefault(each.fits, each)
    found: list[Candidate] = []
    contradicted: list[Candidate] = []
    taken = 0
    for each in candidates:
        said = known.get((each.item, each.text), {})
        if each.fits is not None or not said:
            found.append(each)
        elif len(said) > 1:
            found.append(each)
            contradicted.append(each)
        else:
            (before,) = said.values()
            found.append(replace(each, fits=before.fits, remarks=before.remarks))
            taken += 1
    new = tuple(each for each in found if each.fits is None)
    return Reused(tuple(found), taken, tuple(contradicted), new)
