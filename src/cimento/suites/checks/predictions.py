"""Checks of predictions: can their formulas be read, and do they name what is there."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.errors import Fault, FormulaError, did_you_mean
from cimento.suites.checks.stimuli import Listing, Stimuli
from cimento.suites.contradictions import contradictions
from cimento.suites.faults import fault
from cimento.suites.formula import Reference, parse, references
from cimento.suites.model import Prediction


def check_predictions(stimuli: Stimuli) -> Iterator[Fault]:
    """Codes CIM-S020 to CIM-S025; predictions are counted from 0, as in the tables of a run."""
    suite = stimuli.suite
    if not suite.predictions:
        yield fault("CIM-S023", where=suite.name, seen="The suite predicts nothing.")
    readable = True
    for number, prediction in enumerate(suite.predictions):
        where = f"prediction {number}"
        try:
            named = tuple(references(parse(prediction.formula)))
        except FormulaError as error:
            yield fault("CIM-S020", where=where, seen=str(error))
            readable = False
            continue
        for reference in named:
            yield from _unknown(stimuli, prediction, reference, where=where)
        for reference in dict.fromkeys(named):
            yield from _without_words(stimuli, reference, where=where)
    if readable:
        for sentence in contradictions(suite):
            yield fault("CIM-S025", where=suite.name, seen=sentence)


def _without_words(stimuli: Stimuli, reference: Reference, *, where: str) -> Iterator[Fault]:
    """A region that a formula names, in the items where it has no words."""
    if reference.region == "*":
        return
    index, name = reference.region - 1, reference.condition
    items = Listing(
        stimuli.item(number).id
        for number, condition in enumerate(stimuli.conditions)
        if condition.name == name
        and index < len(condition.regions)
        and not condition.regions[index].text.strip()
    )
    if items.count:
        value = "0 bits" if stimuli.suite.metric == "sum" else "undefined"
        seen = f"Region {reference.region} of {name!r} has no words in item {items};"
        yield fault("CIM-S024", where=where, seen=f"{seen} its value there is {value}.")


def _unknown(
    stimuli: Stimuli, prediction: Prediction, reference: Reference, *, where: str
) -> Iterator[Fault]:
    conditions = tuple(stimuli.names)
    if conditions and reference.condition not in conditions:
        yield _pointing(
            "CIM-S021",
            prediction,
            reference,
            where=where,
            seen=f"there is no condition {reference.condition!r}",
            todo=did_you_mean(reference.condition, conditions),
        )
    regions = stimuli.suite.region_names
    count = len(regions)
    if reference.region != "*" and reference.region > count:
        yield _pointing(
            "CIM-S022",
            prediction,
            reference,
            where=where,
            seen=f"there is no region {reference.region}; the suite names {count}",
            todo=f"They are {Listing(regions)}, counted from 1",
        )


def _pointing(
    code: str, prediction: Prediction, reference: Reference, *, where: str, seen: str, todo: str
) -> Fault:
    """A fault that shows the formula with a caret under the reference."""
    error = FormulaError(formula=prediction.formula, column=reference.column, seen=seen, todo=todo)
    return fault(code, where=where, seen=str(error))
