"""The page of what cimento depends on: every package of pyproject.toml, with its reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from cells import ROOT, escaped, filled, in_code, table

PAGE = "reference/dependencies.md"
_BASE = "always"
_NOT_HERE = "-"
_SHORT = 40
"""Most characters of a license's name; longer texts are the license itself."""
_NAME = re.compile(r"[\w.-]+")


def dependencies_page() -> str:
    """The page in Markdown."""
    rows = [
        (extra if extra == _BASE else in_code(extra), *_row(requirement), reason)
        for extra, packages in dependencies().items()
        for requirement, reason in packages.items()
    ]
    head = ("installed with", "package", "versions", "license", "MB", "reason")
    return filled(PAGE, {"packages": table(head, rows)})


def _row(requirement: str) -> tuple[str, ...]:
    """A package, the versions allowed, and its license and size as it is installed here."""
    package = _named(requirement)
    versions = requirement.removeprefix(package) or "any"
    try:
        installed = distribution(package)
    except PackageNotFoundError:
        return in_code(package), in_code(versions), _NOT_HERE, _NOT_HERE
    size = sum(path.stat().st_size for path in _files(installed))
    return in_code(package), in_code(versions), _license(installed), f"{size / 1e6:.1f}"


def _files(installed: Distribution) -> Iterator[Path]:
    """The files of a package that are there; byte code, which Python writes later, is left out."""
    for file in installed.files or ():
        path = Path(str(installed.locate_file(file)))
        if path.suffix != ".pyc" and path.is_file():
            yield path


def _license(installed: Distribution) -> str:
    """The license as the package states it: an expression, a classifier, or a short text."""
    stated = installed.metadata
    if expression := stated.get("License-Expression"):
        return escaped(expression)
    kinds = [kind for kind in stated.get_all("Classifier") or () if kind.startswith("License ::")]
    named = [kind.rpartition(" :: ")[2] for kind in kinds]
    text = (stated.get("License") or "").strip()
    short = text if text and "\n" not in text and len(text) <= _SHORT else ""
    return escaped(", ".join(named) or short or _NOT_HERE)


def dependencies() -> dict[str, dict[str, str]]:
    """Extra to its requirements, each with its reason, which its line in pyproject.toml ends with.

    Raises:
        ValueError: a package has no reason.
    """
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    declared: Mapping[str, list[str]] = {
        _BASE: project["dependencies"], **project["optional-dependencies"]
    }  # fmt: skip
    return {
        extra: {package: _reason(text, extra, package) for package in packages}
        for extra, packages in declared.items()
    }


def _named(package: str) -> str:
    found = _NAME.match(package)
    assert found is not None  # noqa: S101  # it is the name of a package
    return found[0]


def _reason(text: str, extra: str, package: str) -> str:
    lines = [line for line in text.splitlines() if f'"{package}"' in line]
    own = [line for line in lines if line.startswith(f"{extra} = ")] or lines
    reason = own[0].partition(" # ")[2]
    if not reason:
        raise ValueError(f"pyproject.toml does not say why {package} is needed")
    return f"{reason[:1].upper()}{reason[1:]}."
