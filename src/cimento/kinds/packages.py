"""The packages of plug-ins in a manifest, and remarks where a version has changed since.

A run in which plug-ins of other packages took part has an entry for each. Other runs have none, so
that their manifests are the same as without plug-ins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeGuard

from cimento._version import __version__
from cimento.io.plugins import PluginPackage, package_of_plugin
from cimento.kinds.paradigm import AnyParadigm, Paradigm
from cimento.kinds.registry import PARADIGMS
from cimento.measures import package_of_measure
from cimento.models.registry import package_of_models, prefix_of
from cimento.records.store import FILES, PARADIGM, Manifest, manifest_part, plain
from cimento.suites.formats import package_of_reader

if TYPE_CHECKING:
    from cimento.kinds.base import ParadigmOptions
    from cimento.suites import JsonValue

PLUGINS = "plugins"
"""Key of the manifest: plug-ins by kind and name, each with its package and the version."""

JUDGED_AGAIN = "judged"
"""Key of the manifest of a run that was judged again: by which software."""

FORMAT = "format"
"""Key of the suite's entry: the suffix of its file, where the reader of a plug-in read it."""

Packages = dict[str, dict[str, PluginPackage]]
"""Packages of plug-ins by kind and name; kinds without any are left out."""

MODELS, READERS, MEASURES, PARADIGM_KIND = "models", "readers", "measures", "paradigms"

KINDS_IN_WORDS: Mapping[str, str] = MappingProxyType(
    {MODELS: "model", READERS: "reader", MEASURES: "measure", PARADIGM_KIND: "paradigm"}
)
"""The kinds of plug-ins in a manifest, each mapped to the word for one."""


def with_packages(manifest: Manifest, options: ParadigmOptions) -> dict[str, JsonValue]:
    """A manifest with the packages of the plug-ins that took part; unchanged where none did.

    Of a run that was stored before and is judged again, those by which it was asked stay, and those
    by which it is judged are added with the version of cimento.

    Args:
        manifest: the manifest, with the name of the paradigm.
        options: the options of the run.
    """
    paradigm = str(manifest[PARADIGM])
    judging = _found(
        {
            MEASURES: {name: package_of_measure(name) for name in options.measure_names},
            PARADIGM_KIND: {paradigm: _package_of_paradigm(paradigm)},
        }
    )
    others = {key: value for key, value in manifest.items() if key not in (PLUGINS, JUDGED_AGAIN)}
    if FILES not in manifest:
        return {**others, **_entry({**_asking(manifest), **judging})}
    asked = {kind: of for kind, of in manifest_part(manifest, PLUGINS).items() if kind != MEASURES}
    measures = {kind: of for kind, of in judging.items() if kind == MEASURES}
    # Without the time, so that a command that was stopped and is repeated writes the same.
    again: dict[str, JsonValue] = {"cimento": __version__, **_entry(judging)}
    return {**others, **_entry({**asked, **measures}), JUDGED_AGAIN: again}


def _asking(manifest: Manifest) -> Packages:
    """The packages of the model and of the reader of a new run."""
    named = str(manifest.get("named") or "")
    suffix = str(manifest_part(manifest, "suite").get(FORMAT) or "")
    models = {prefix_of(named): package_of_models(prefix_of(named))} if prefix_of(named) else {}
    readers = {suffix: package_of_reader(suffix)} if suffix else {}
    return _found({MODELS: models, READERS: readers})


def _found(packages: Mapping[str, Mapping[str, PluginPackage | None]]) -> Packages:
    found = {
        kind: {name: package for name, package in of_kind.items() if package}
        for kind, of_kind in packages.items()
    }
    return {kind: of_kind for kind, of_kind in found.items() if of_kind}


def _entry(packages: Mapping[str, object]) -> dict[str, JsonValue]:
    """The entry of a manifest; none where no plug-in took part."""
    entry = {
        kind: {name: plain(package) for name, package in of_kind.items()}
        for kind, of_kind in packages.items()
        if isinstance(of_kind, dict)
    }
    return {PLUGINS: plain(entry)} if entry else {}


def judged_by(manifest: Manifest) -> JsonValue:
    """The version of cimento that judged a run last; None where the manifest does not say it."""
    return manifest_part(manifest, JUDGED_AGAIN).get("cimento", manifest.get("cimento"))


def packages_in(manifest: Manifest) -> Iterator[tuple[str, str, PluginPackage]]:
    """The kind, the name and the package of each plug-in in a manifest.

    Args:
        manifest: the manifest of a run, or its entry on a later judging.
    """
    for kind in manifest_part(manifest, PLUGINS):
        for name in manifest_part(manifest, PLUGINS, kind):
            had = manifest_part(manifest, PLUGINS, kind, name)
            yield kind, name, PluginPackage(str(had.get("package")), str(had.get("version")))


def other_versions(manifest: Manifest) -> Iterator[str]:
    """A remark on each plug-in of a stored run that is not installed in the same version.

    Readers are left out: a stored run has a copy of its suite.

    Args:
        manifest: the manifest of the run.
    """
    find: Mapping[str, Callable[[str], PluginPackage | None]] = {
        MODELS: package_of_models,
        MEASURES: package_of_measure,
        PARADIGM_KIND: _package_of_paradigm,
    }
    had = [*packages_in(manifest), *packages_in(manifest_part(manifest, JUDGED_AGAIN))]
    for kind, name, was in dict.fromkeys(had):
        if kind in find and (now := find[kind](name)) != was:
            yield (
                f"the {KINDS_IN_WORDS[kind]} {name!r} was that of {was}, and"
                f" {'it is not' if now is None else f'{now} is'} installed"
            )


def _package_of_paradigm(name: str) -> PluginPackage | None:
    """The package of a paradigm; None for one of cimento's own."""

    def is_paradigm(value: object) -> TypeGuard[AnyParadigm]:
        return isinstance(value, Paradigm)

    if name in PARADIGMS:
        return None
    return package_of_plugin("cimento.paradigms", name, expected="a paradigm", is_right=is_paradigm)
