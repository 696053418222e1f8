"""Options of judging: their names in Python and on the command line, and those in paradigms."""

from __future__ import annotations

from collections.abc import Mapping

from cimento.errors import UsageError
from cimento.kinds.base import ParadigmOptions
from cimento.kinds.paradigm import AnyParadigm
from cimento.kinds.registry import parse_options
from cimento.measures import judged_on, texts_of_measures

GIVEN_AS: Mapping[str, str] = {
    "measure": "measures",
    "also": "measures",
    "near_tie_bits": "near_ties",
}
"""Name of an option in the records of paradigms to the name by which people give it."""


def paradigm_names(given: Mapping[str, object]) -> dict[str, object]:
    """Options of judging as paradigms have them: ``measures`` as ``measure`` and ``also``.

    Args:
        given: options by the names that functions and commands have.

    Raises:
        UsageError: an option has the name of a paradigm's record, or there is no such measure.
    """
    refuse_paradigm_names(given)
    options = dict(given)
    if "near_ties" in options:
        options["near_tie_bits"] = options.pop("near_ties")
    if "measures" in options:
        options |= on_measures(texts_of_measures(options.pop("measures")))
    return options


def refuse_paradigm_names(given: Mapping[str, object]) -> None:
    """Refuse options by the names that they have in the records of paradigms alone.

    Raises:
        UsageError: there is one.
    """
    for name in sorted(given.keys() & GIVEN_AS.keys()):
        raise UsageError(
            where=f"option {name}", seen="there is no such option", todo=f"Write {GIVEN_AS[name]}."
        )


def on_measures(names: tuple[str, ...]) -> dict[str, object]:
    """Measures as options of paradigms: the first as ``measure``, any others as ``also``.

    Args:
        names: of measures; ``regions`` for none.

    Raises:
        UsageError: there is no such measure.
    """
    measures = judged_on(names)
    options: dict[str, object] = {"measure": measures[0]} if measures else {}
    return options | {"also": measures[1:]} if measures[1:] else options


def judged_otherwise(
    paradigm: AnyParadigm, own: ParadigmOptions, changes: Mapping[str, object]
) -> ParadigmOptions:
    """The options of a run with changes that only concern its judging.

    Args:
        paradigm: of the run.
        own: the options of the run.
        changes: values by the names that the paradigm has; another first measure leaves out those
            that were shown beside the old one.

    Raises:
        UsageError: the paradigm has no such option, or the option changes the requests.
    """
    kept = own.model_dump(exclude_unset=True)
    if "measure" in changes:
        kept.pop("also", None)
    judged = parse_options(paradigm, {**kept, **changes})
    asked = own.asked()
    for changed in (name for name, value in judged.asked().items() if asked[name] != value):
        raise UsageError(
            where=f"option {changed}",
            seen="it changes what the model is asked, and the answers are there already",
            todo="Run the suite again with it.",
        )
    return judged
