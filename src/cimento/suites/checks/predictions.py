"""Checks of predictions: can their formulas be read, and do they name what is there."""

from __future__ import annotations

from collections.abc import Iterator

from cimento.errors import Fault, FormulaError, did_you_mean
from cimento.suites.checks.stimuli import Listing, Located, listed
from cimento.suites.contradictions import contradictions
from cimento.suites.faults import fault
from cimento.suites.formula import Reference, parse, references
from cimento.suites.model import Prediction, Suite


class PredictionCheck:
    """Codes CIM-S020 to CIM-S025; predictions are counted from 0, as in the tables of a run."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._named: list[tuple[Reference, ...] | FormulaError] = []
        self._empty: dict[str, dict[int, Listing]] = {}
        for prediction in suite.predictions:
            try:
                named = tuple(references(parse(prediction.formula)))
            except FormulaError as error:
                self._named.append(error)
                continue
            self._named.append(named)
            for reference in named:
                if reference.region != "*":
                    regions = self._empty.setdefault(reference.condition, {})
                    regions.setdefault(reference.region - 1, Listing())

    def see(self, located: Located) -> None:
        """Find the regions without words that a formula names."""
        for condition in located.item.conditions:
            regions = condition.regions
            for index, items in self._empty.get(condition.name, {}).items():
                if index < len(regions) and not regions[index].text.strip():
                    items.add(located.item.id)

    def faults(self) -> Iterator[Fault]:
        """The faults, prediction by prediction."""
        suite = self._suite
        if not suite.predictions:
            yield fault("CIM-S023", where=suite.name, seen="The suite predicts nothing.")
        readable = True
        for number, prediction in enumerate(suite.predictions):
            where, named = f"prediction {number}", self._named[number]
            if isinstance(named, FormulaError):
                yield fault("CIM-S020", where=where, seen=str(named))
                readable = False
                continue
            for reference in named:
                yield from _unknown(suite, prediction, reference, where=where)
            for reference in dict.fromkeys(named):
                yield from self._without_words(reference, where=where)
        if readable:
            for sentence in contradictions(suite):
                yield fault("CIM-S025", where=suite.name, seen=sentence)

    def _without_words(self, reference: Reference, *, where: str) -> Iterator[Fault]:
        if reference.region == "*":
            return
        items = self._empty[reference.condition][reference.region - 1]
        if items.count:
            value = "0 bits" if self._suite.metric == "sum" else "undefined"
            seen = (
                f"Region {reference.region} of {reference.condition!r} has no words in item "
                f"{items}; its value there is {value}."
            )
            yield fault("CIM-S024", where=where, seen=seen)


def _unknown(
    suite: Suite, prediction: Prediction, reference: Reference, *, where: str
) -> Iterator[Fault]:
    conditions = suite.condition_names
    if conditions and reference.condition not in conditions:
        yield _pointing(
            "CIM-S021",
            prediction,
            reference,
            where=where,
            seen=f"there is no condition {reference.condition!r}",
            todo=did_you_mean(reference.condition, conditions),
        )
    count = len(suite.region_names)
    if reference.region != "*" and reference.region > count:
        yield _pointing(
            "CIM-S022",
            prediction,
            reference,
            where=where,
            seen=f"there is no region {reference.region}; the suite names {count}",
            todo=f"They are {listed(suite.region_names)}, counted from 1",
        )


def _pointing(
    code: str, prediction: Prediction, reference: Reference, *, where: str, seen: str, todo: str
) -> Fault:
    """A fault that shows the formula with a caret under the reference."""
    error = FormulaError(formula=prediction.formula, column=reference.column, seen=seen, todo=todo)
    return fault(code, where=where, seen=str(error))
