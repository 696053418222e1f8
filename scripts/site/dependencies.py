"""The page of what cimento depends on: every package of pyproject.toml, with its reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from cells import ROOT, filled, in_code, table

PAGE = "reference/dependencies.md"
_BASE = "always"
_NAME = re.compile(r"[\w.-]+")


def dependencies_page() -> str:
    """The page in Markdown."""
    rows = [
        (extra if extra == _BASE else in_code(extra), in_code(package), reason)
        for extra, packages in dependencies().items()
        for package, reason in packages.items()
    ]
    return filled(PAGE, {"packages": table(("installed with", "package", "reason"), rows)})


def dependencies() -> dict[str, dict[str, str]]:
    """Extra to its packages, each with its reason, which its line in pyproject.toml ends with.

    Raises:
        ValueError: a package has no reason.
    """
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    declared: Mapping[str, list[str]] = {
        _BASE: project["dependencies"], **project["optional-dependencies"]
    }  # fmt: skip
    return {
        extra: {_named(package): _reason(text, extra, package) for package in packages}
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
