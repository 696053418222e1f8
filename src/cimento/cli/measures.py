"""``cimento models measures``: the measures that answers can be judged by, plug-ins included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.errors import CimentoError, PluginError
from cimento.io.declared import Options, option
from cimento.io.inline_markup import columns
from cimento.measures import MEASURES, REGIONS, find_measure, package_of_measure, plugged_measures

if TYPE_CHECKING:
    from cimento.measures import Measure
    from cimento.suites import JsonValue

_REGIONS = (REGIONS, "bits", "lower", "surprisals of the tokens of a region, summed (--metric)")
_HEAD = ("name", "unit", "better", "formula")
_SYMBOLS = (
    "P: probability of a token; LP: sum of ln P over the tokens of a sentence; n: their number;"
    "\nLPu: log-probability of the sentence by unigrams; x: raw output for a token;"
    "\nPLL: LP of a masked model. penlp:0.6 has another exponent than 0.8."
)


class ListOptions(Options):
    """The options of listing measures."""

    as_json: bool = option(default=False, help="Print the measures as JSON.", flags=("--json",))


@command_of
def list_measures(options: ListOptions) -> None:
    """List what --measure takes, with the unit and the formula, measures of plug-ins too."""
    measures = [*MEASURES.values(), *_plugged()]
    if options.as_json:
        show_json({"measures": [_plain(measure) for measure in measures]})
        return
    show(columns([_HEAD, _REGIONS, *map(_row, measures)]))
    show(f"\n{_SYMBOLS}")
    note("Sources, and where a measure is undefined: --json.")


def _plugged() -> Iterator[Measure]:
    """The measures of plug-ins that can be used; others are named."""
    for name in plugged_measures():
        try:
            yield find_measure(name)
        except PluginError as error:
            note(f"cimento: {error}")
        except CimentoError:  # a warning has said why it is skipped
            continue


def _row(measure: Measure) -> tuple[str, str, str, str]:
    package = package_of_measure(measure.name)
    return (
        ", ".join((measure.name, *measure.aliases)),
        measure.unit or "-",
        "higher" if measure.higher_is_better else "lower",
        f"{measure.formula} ({package})" if package else measure.formula,
    )


def _plain(measure: Measure) -> dict[str, JsonValue]:
    package = package_of_measure(measure.name)
    return {
        "name": measure.name,
        "aliases": list(measure.aliases),
        "unit": measure.unit,
        "higher_is_better": measure.higher_is_better,
        "formula": measure.formula,
        "needs": list(measure.needs),
        "undefined": measure.undefined,
        "source": measure.source,
        "package": None if package is None else str(package),
    }
