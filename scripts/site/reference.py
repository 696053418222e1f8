"""The pages of the Python interface: every public name, by its docstring."""

from __future__ import annotations

import importlib
import json
from collections import defaultdict

from cells import filled

FOLDER = "reference/"
MODULES = (
    "cimento.models",
    "cimento.paradigms",
    "cimento.paradigms.regions",
    "cimento.paradigms.ratings",
    "cimento.paradigms.cloze",
    "cimento.paradigms.stories",
    "cimento.paradigms.prompted",
    "cimento.testing",
    "cimento.explain",
    "cimento.site",
)
"""The modules that are public besides `cimento` and `cimento.statistics`."""


def pages() -> dict[str, str]:
    """Path of each page to its text in Markdown."""
    return {
        f"{FOLDER}python.md": python_page(),
        f"{FOLDER}statistics.md": statistics_page(),
        f"{FOLDER}modules.md": modules_page(),
    }


def python_page() -> str:
    """The page of the names of `cimento`: functions, then classes, in the order of use."""
    import cimento

    names = _homes(cimento.__file__).items()
    return _page("python", [f"::: {home}.{name}\n" for name, home in names])


def statistics_page() -> str:
    """The page of `cimento.statistics`, by the modules in which its names are written."""
    from cimento import statistics

    sections: dict[str, list[str]] = defaultdict(list)
    for name, home in _homes(statistics.__file__).items():
        sections[home].append(name)
    parts = list[str]()
    for home, names in sections.items():
        said = (importlib.import_module(home).__doc__ or "").partition("\n\n")[0]
        title = home.rpartition(".")[2].replace("_", " ").capitalize()
        parts.append(f"## {title}\n\n{' '.join(said.split())}\n")
        parts += [f"::: {home}.{name}\n    options:\n      heading_level: 3\n" for name in names]
    return _page("statistics", parts)


def modules_page() -> str:
    """The page of the other public modules."""
    return _page("modules", [f"::: {name}\n{_members(name)}" for name in MODULES])


def _page(name: str, parts: list[str]) -> str:
    return filled(f"{FOLDER}{name}.md", {"names": "\n".join(parts)})


def _homes(file: str | None) -> dict[str, str]:
    """Each public name of a package to the module in which it is written."""
    from cimento.io.public_names import homes_of

    assert file is not None  # noqa: S101  # a package that was imported has a file
    return dict(homes_of(file))


def _members(name: str) -> str:
    """The public names of a module as an option of its page, if the module states them."""
    members = getattr(importlib.import_module(name), "__all__", [])
    return f"    options:\n      members: {json.dumps(members)}\n" if members else ""
