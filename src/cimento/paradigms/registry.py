"""The paradigms by name: those of cimento, and those that installed packages bring."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from cimento.errors import InputError, SuiteError, UsageError, did_you_mean
from cimento.plugins import find_plugin, plugin_names
from cimento.suites import faults
from cimento.suites.archives import opened
from cimento.suites.kinds import kind_of
from cimento.suites.load import StimulusCount, refuse_faulty, suite_paths
from cimento.suites.readers import SUITE_SUFFIXES

if TYPE_CHECKING:
    from cimento.paradigms.base import AnyParadigm, ParadigmOptions, SuiteReading

PARADIGMS: Mapping[str, str] = {
    "regions": "cimento.paradigms.regions.paradigm:REGIONS",
    "ratings": "cimento.paradigms.ratings:RATINGS",
    "cloze": "cimento.paradigms.cloze:CLOZE",
    "stories": "cimento.paradigms.stories:STORIES",
}
"""Name of each paradigm to where it is, as ``module:object``; imported when it is needed."""

DEFAULT = "regions"
"""The paradigm of suites that do not say which they are of."""


@functools.cache
def find_paradigm(name: str) -> AnyParadigm:
    """A paradigm by its name.

    Raises:
        UsageError: there is none of that name.
    """
    if name in PARADIGMS:
        module, _, attribute = PARADIGMS[name].partition(":")
        return cast("AnyParadigm", getattr(importlib.import_module(module), attribute))
    plugged = find_plugin("cimento.paradigms", name, expected="a paradigm", is_right=_is_paradigm)
    if plugged is None:
        raise UsageError(
            where=f"paradigm {name!r}",
            seen="there is none of that name",
            todo=did_you_mean(name, paradigm_names()),
        )
    return plugged


def paradigm_names() -> tuple[str, ...]:
    """The names of all paradigms, cimento's own first."""
    return (*PARADIGMS, *sorted(plugin_names("cimento.paradigms") - PARADIGMS.keys()))


def paradigm_of(path: Path) -> AnyParadigm:
    """The paradigm of a suite: as its suite.toml says, else by what the file holds.

    Args:
        path: a suite folder, or a file in a format of some paradigm.

    Raises:
        InputError: the suite is of a kind that nothing knows.
    """
    kind = kind_of(path)
    own = _by_kind(PARADIGMS)
    if kind == DEFAULT:
        others = _detecting(own.values(), path)
        # Packages are looked for only where nothing of cimento's own fits.
        if others is None and not (path.is_dir() or path.suffix.lower() in SUITE_SUFFIXES):
            others = _detecting(known_kinds().values(), path)
        return others or own[kind]
    by_kind = own if kind in own else known_kinds()
    if kind not in by_kind:
        raise InputError(
            where=str(path), seen=f"kind is {kind!r}", todo=did_you_mean(kind, by_kind)
        )
    return by_kind[kind]


def _detecting(paradigms: Iterable[AnyParadigm], path: Path) -> AnyParadigm | None:
    """The first paradigm that finds a suite of its own at a path that names no kind."""
    return next((each for each in paradigms if each.name != DEFAULT and each.detect(path)), None)


def _by_kind(names: Iterable[str]) -> dict[str, AnyParadigm]:
    return {kind: paradigm for paradigm in map(find_paradigm, names) for kind in paradigm.kinds}


def read_all(path: Path) -> list[tuple[AnyParadigm, SuiteReading[Any]]]:
    """The suites at a path, which may be a folder or an archive of several, with their paradigms.

    Raises:
        CimentoError: there is none, or one has faults; the error carries those of all of them.
    """
    found: list[tuple[AnyParadigm, SuiteReading[Any]]] = []
    faulty: list[SuiteError] = []
    count = StimulusCount(path)
    with opened(path) as folder:
        for place in suite_paths(folder):
            paradigm = paradigm_of(place)
            reading = paradigm.read(place)
            # People know the archive, not the folder that it was in for a moment.
            shown = place if folder == path else path / place.relative_to(folder)
            if reading.suite is None or faults.errors(reading.faults):
                faulty.append(SuiteError(where=str(shown), faults=reading.faults))
                continue
            found.append((paradigm, dataclasses.replace(reading, path=shown)))
            count.add(reading.suite)
    refuse_faulty(path, faulty)
    return found


def known_kinds() -> dict[str, AnyParadigm]:
    """What ``kind`` in suite.toml may say, each with the paradigm that it names."""
    return _by_kind(paradigm_names())


def parse_options(
    paradigm: AnyParadigm, given: Mapping[str, object], *, others: Iterable[str] = ()
) -> ParadigmOptions:
    """The options of a paradigm, from values or from the texts of ``--set KEY=VALUE``.

    Args:
        paradigm: that declares them.
        given: by name.
        others: names that stood beside them and are no options of a paradigm.

    Raises:
        UsageError: the paradigm does not honour an option, or not this value of it.
    """
    from pydantic import ValidationError

    known = paradigm.options.model_fields
    for name in given:
        if name not in known:
            raise UsageError(
                where=f"option {name}",
                seen=f"suites of the paradigm {paradigm.name!r} have no such option",
                todo=did_you_mean(name, [*known, *others], listed=known),
            )
    try:
        options: ParadigmOptions = paradigm.options.model_validate(dict(given))
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "options"
        raise UsageError(
            where=f"option {where}",
            seen=f"got {fault.get('input')!r}",
            todo=f"{fault['msg']}.",
        ) from error
    return options


def _is_paradigm(value: object) -> TypeGuard[AnyParadigm]:
    return all(hasattr(value, name) for name in ("name", "options", "read", "requests", "judge"))
