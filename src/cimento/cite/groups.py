"""Groups of runs that were made in one way, and what sets them apart, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from cimento.cite.sentences import RunFacts, names_in_row
from cimento.io.values import grouped
from cimento.kinds.settings import settings_of
from cimento.measures import REGIONS
from cimento.suites import JsonValue

_NO_NUMBER = frozenset(
    {"asking.all_tokens", "asking.columns", "asking.kind", "asking.order_seed", "options.also"}
)
"""Settings that change no number, or do so only with another one."""

_OF_KIND = {
    "asking.policy.pll": "masked",
    "asking.policy.bos": "causal",
    "asking.policy.mc_samples": "diffusion",
    "asking.policy.mc_seed": "diffusion",
}
"""Settings that only one kind of model has, and which."""

_SAID = frozenset(
    {
        "asking.limit", "asking.precision", "asking.policy.dtype", "asking.policy.bos",
        "options.measure", "options.metric", "options.unit", "options.predictions",
    }
)  # fmt: skip
"""Settings that a paragraph states with the suites or models that they are about."""

_NAMES = {"asking.context.text": "context", "asking.context.column": "context column"}
_WORD = re.compile(r"[\w./:@+-]+")
_ABSENT = {"asking.limit": "all items", "asking.precision": "all items"}


def made_alike(runs: Sequence[RunFacts]) -> dict[str, list[RunFacts]]:
    """Runs in groups, each with what sets it apart in words; one group without words if possible.

    Several groups are made where a model was run on a suite in several ways, which sentences about
    this suite and this model could not tell apart.
    """
    settings = [_settings(run) for run in runs]
    twins = grouped(
        ((run.meta.name, run.label), own) for run, own in zip(runs, settings, strict=True)
    )
    apart = dict.fromkeys(name for several in twins.values() for name in _differing(several))
    return grouped(
        (names_in_row(_in_words(own, [*apart])), run)
        for run, own in zip(runs, settings, strict=True)
    )


def unlike(runs: Sequence[RunFacts]) -> list[tuple[list[RunFacts], str]]:
    """The settings that no other sentence states, of runs that differ in them.

    Args:
        runs: of one group.

    Returns:
        Runs with what they have in words; nothing where all runs of a paradigm agree.
    """
    told: list[tuple[list[RunFacts], str]] = []
    for several in grouped((run.run.paradigm.name, run) for run in runs).values():
        settings = [_settings(run) for run in several]
        names = [name for name in _differing(settings) if name not in _SAID]
        words = (names_in_row(_in_words(own, names)) for own in settings)
        ways = grouped(zip(words, several, strict=True)) if names else {}
        told += [(those, way) for way, those in ways.items() if way]
    return told


def _settings(run: RunFacts) -> Mapping[str, JsonValue]:
    """The settings of a run that can change its numbers."""
    kind = run.card.get("kind")
    return {
        name: value
        for name, value in settings_of(run.run).items()
        if name not in _NO_NUMBER and _OF_KIND.get(name, kind) == kind
    }


def _differing(settings: Sequence[Mapping[str, JsonValue]]) -> list[str]:
    """The names of settings that have different values where they are present."""
    values = grouped((name, value) for own in settings for name, value in own.items())
    return [
        name
        for name, all_values in values.items()
        if all_values.count(all_values[0]) < len(all_values)
    ]


def _in_words(settings: Mapping[str, JsonValue], names: Sequence[str]) -> list[str]:
    said = (_stated(name, settings[name]) for name in names if name in settings)
    return [*dict.fromkeys(said)]


def _stated(name: str, value: JsonValue) -> str:
    """A setting in words: ``norm = mean``, or ``no context``."""
    short = _NAMES.get(name, name.rpartition(".")[2].replace("_", " "))
    if name == "options.measure":
        value = value or REGIONS
    if value is None or value is False or value in ("", []):  # but not 0, which equals False
        return _ABSENT.get(name, f"no {short}")
    if value is True:
        return short
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    is_word = not isinstance(value, str) or _WORD.fullmatch(value)
    return f"{short} = {value if is_word else json.dumps(value, ensure_ascii=False)}"
