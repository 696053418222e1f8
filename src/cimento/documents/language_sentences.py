"""What models get right of a language, in sentences, phenomenon by phenomenon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cimento.documents.language_training import as_shown, has_many_steps
from cimento.errors import counted
from cimento.io.values import grouped
from cimento.report.findings import Finding, Findings
from cimento.report.formatting import percent, short_model_names

if TYPE_CHECKING:
    from cimento.compare.phenomena import PhenomenonRate
    from cimento.documents.language_answer import LanguageAnswer

UNMAPPED = "*"
"""The mark of phenomena that the map of phenomena does not have."""


def answer_sentences(answer: LanguageAnswer) -> Findings:
    """What the models get right, in words, by phenomenon, what is surely above chance first.

    Args:
        answer: the answer.
    """
    answer = as_shown(answer)
    short = short_model_names(answer.models)
    parts = [
        Finding(
            name + ("" if rates[0].is_mapped else UNMAPPED),
            (", ".join(rates[0].sets),),
            (_sentence(rates, short),),
        )
        for name, rates in grouped((one.phenomenon, one) for one in answer.phenomena).items()
    ]
    if clashes := [*_clashes(answer, short)]:
        parts.append(Finding("sets disagree", (counted(len(clashes), "time"),), tuple(clashes)))
    return Findings(tuple(parts), (*_notes(answer),))


_OPEN = "cannot be told yet"


def _standing(one: PhenomenonRate) -> str:
    if one.certainty is None or one.chance is None or one.low is None:
        return _OPEN
    said = "above chance" if one.low > one.chance else "wrong more often than by chance"
    return said if one.about == "paradigms" else f"{said} on {_these(one.n_paradigms)} only"


def _these(n: int) -> str:
    return "this one paradigm" if n == 1 else f"these {n} paradigms"


def _sentence(rates: Sequence[PhenomenonRate], short: Mapping[str, str]) -> str:
    """How all models do on one phenomenon; models of which the same is said are together."""
    first = rates[0]
    why = f"; {first.reason}" if first.low is None and first.reason else ""
    chance = "" if first.chance is None else f"; chance {percent(first.chance)}%"
    alike = grouped((_standing(one), one) for one in rates)
    is_said = all(standing.endswith(_these(first.n_paradigms) + " only") for standing in alike)
    size = "" if is_said else f"; {counted(first.n_paradigms, 'paradigm')}"
    about = f"{chance}{size}{why}."
    if len(short) == 1:
        return _capital(f"{_standing(first)}: {_share(first)} right{about}")
    said = (
        _capital(f"{standing}: {', '.join(f'{short[one.model]} {_share(one)}' for one in some)}")
        for standing, some in alike.items()
    )
    return ". ".join(said) + about


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _share(one: PhenomenonRate) -> str:
    if one.value is None:
        return "not judged"
    ends = "" if one.low is None else f" [{percent(one.low)}, {percent(one.high)}]"
    return f"{percent(one.value)}%{ends}"


def _clashes(answer: LanguageAnswer, short: Mapping[str, str]) -> Iterator[str]:
    for one in answer.disagreements:
        whose = f"{short[one.model]}, " if len(short) > 1 else ""
        yield (
            f"{whose}{one.phenomenon}: {percent(one.first_value)}% by {one.first},"
            f" {percent(one.second_value)}% by {one.second}"
            f" (difference {percent(one.low)} to {percent(one.high)} points)."
        )


def _notes(answer: LanguageAnswer) -> Iterator[str]:
    """What the words and the intervals mean."""
    if has_many_steps(answer):
        first, last = answer.steps[0], answer.steps[-1]
        yield (
            f"Of {len(answer.steps)} checkpoints, steps {first:,} to {last:,}, tables have the"
            " first and the last; answer.json has all."
        )
    if answer.phenomena or answer.starter or answer.generated:
        yield (
            "Rates are unweighted means over paradigms. Their 95% intervals generalize to other"
            " paradigms of the phenomenon if there are five or more, otherwise only to other items"
            " of these paradigms."
        )
        yield (
            "There is no single number for a language: chance differs between phenomena, and"
            " nothing says how much weight each should have."
        )
        yield (
            "A rate is above chance if its whole interval is. First come rates above chance on"
            " other paradigms too, then on these only, then the rest; each group is"
            " sorted by how far the interval's lower end exceeds chance."
            + " The model with the highest mean sets the order."
            * (len(answer.models) > 1)
        )
    if any(not one.is_mapped for one in answer.phenomena):
        yield f"{UNMAPPED}: not in the map of phenomena; the set's own word."
    if answer.disagreements:
        yield (
            "Sets disagree if the 95% interval of their difference, which generalizes to other"
            " items of the same paradigms, excludes 0; it is not corrected for the number of pairs."
        )
    if answer.sample is not None:
        yield " ".join(answer.sample.sentences())
