"""The packages of plug-ins in a manifest, and remarks where a version has changed since.

A run that a measure or a paradigm of another package took part in has an entry for each. Other runs
have none, so that their manifests are the same as without plug-ins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeGuard

from cimento.io.plugins import PluginPackage, package_of_plugin
from cimento.kinds.paradigm import AnyParadigm, Paradigm
from cimento.kinds.registry import PARADIGMS
from cimento.measures import package_of_measure
from cimento.records.store import PARADIGM, Manifest, manifest_part, plain

if TYPE_CHECKING:
    from cimento.kinds.base import ParadigmOptions
    from cimento.suites import JsonValue

PLUGINS = "plugins"
"""Key of the manifest: plug-ins by kind and name, each with its package and the version."""

_MEASURES, _PARADIGMS = "measures", "paradigms"


def with_packages(manifest: Manifest, options: ParadigmOptions) -> dict[str, JsonValue]:
    """A manifest with the packages of the plug-ins that took part; unchanged where none did.

    Args:
        manifest: the manifest, with the name of the paradigm.
        options: the options of the run.
    """
    measures = {name: package_of_measure(name) for name in options.measure_names}
    paradigm = str(manifest[PARADIGM])
    used = {_MEASURES: measures, _PARADIGMS: {paradigm: _package_of_paradigm(paradigm)}}
    found = {
        kind: {name: package for name, package in packages.items() if package}
        for kind, packages in used.items()
    }
    entry = {
        kind: {name: plain(package) for name, package in packages.items()}
        for kind, packages in found.items()
        if packages
    }
    others = {key: value for key, value in manifest.items() if key != PLUGINS}
    return {**others, **({PLUGINS: plain(entry)} if entry else {})}


def other_versions(manifest: Manifest) -> Iterator[str]:
    """A remark on each plug-in of a stored run whose installed version is another one.

    Args:
        manifest: the manifest of the run.
    """
    for kind, find in ((_MEASURES, package_of_measure), (_PARADIGMS, _package_of_paradigm)):
        for name in manifest_part(manifest, PLUGINS, kind):
            had = manifest_part(manifest, PLUGINS, kind, name)
            now = find(name)
            was = f"{had.get('package')} {had.get('version')}"
            if now is not None and str(now) != was:
                yield (
                    f"the {kind.removesuffix('s')} {name!r} was that of {was}, and {now} is"
                    " installed"
                )


def _package_of_paradigm(name: str) -> PluginPackage | None:
    """The package of a paradigm; None for one of cimento's own."""

    def is_paradigm(value: object) -> TypeGuard[AnyParadigm]:
        return isinstance(value, Paradigm)

    if name in PARADIGMS:
        return None
    return package_of_plugin("cimento.paradigms", name, expected="a paradigm", is_right=is_paradigm)
