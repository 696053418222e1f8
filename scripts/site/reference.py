"""The pages of the Python interface: every public name, by its docstring."""

from __future__ import annotations

import functools
import importlib
import json
from collections import defaultdict

from cells import filled
from signatures import types_named_by, written_at

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
    "cimento.studies",
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
    return _page("python", [f"::: {path}\n" for path in _interface()])


def statistics_page() -> str:
    """The page of `cimento.statistics`, by the modules in which its names are written."""
    sections: dict[str, list[str]] = defaultdict(list)
    for path in _statistics():
        sections[path.rpartition(".")[0]].append(path)
    parts = list[str]()
    for home, paths in sections.items():
        said = (importlib.import_module(home).__doc__ or "").partition("\n\n")[0]
        title = home.rpartition(".")[2].replace("_", " ").capitalize()
        parts.append(f"## {title}\n\n{' '.join(said.split())}\n")
        parts += [_entry(path) for path in paths]
    return _page("statistics", parts)


def modules_page() -> str:
    """The page of the other public modules."""
    return _page("modules", [f"::: {name}\n{_options(name)}" for name in MODULES])


@functools.cache
def types() -> dict[str, list[str]]:
    """Page to the types that its signatures name, and that have no entry elsewhere.

    A type that the signatures of several pages name is on the first of them.
    """
    named = {"python": _interface(), "statistics": _statistics(), "modules": _of_modules()}
    shown = {written_at(path) for paths in named.values() for path in paths}
    on_page = dict[str, list[str]]()
    for page, paths in named.items():
        on_page[page] = [path for path in types_named_by(paths) if path not in shown]
        shown.update(on_page[page])
    return on_page


def _interface() -> list[str]:
    import cimento

    return _homes(cimento.__file__)


def _statistics() -> list[str]:
    from cimento import statistics

    return _homes(statistics.__file__)


def _of_modules() -> list[str]:
    modules = map(importlib.import_module, MODULES)
    return [f"{module.__name__}.{name}" for module in modules for name in module.__all__]


def _entry(path: str, *, full: bool = False) -> str:
    options = ["heading_level: 3"]
    if full:
        options += ["show_root_full_path: true", "show_bases: true"]
    return "\n".join([f"::: {path}", "    options:", *(f"      {one}" for one in options), ""])


def _page(name: str, parts: list[str]) -> str:
    entries = [_entry(path, full=True) for path in types()[name]]
    made = {"names": "\n".join(parts), "types": "\n".join(entries)}
    return filled(f"{FOLDER}{name}.md", made)


def _homes(file: str | None) -> list[str]:
    """The path of each public name of a package, in the module in which it is written."""
    from cimento.io.public_names import homes_of

    assert file is not None  # noqa: S101  # a package that was imported has a file
    return [f"{home}.{name}" for name, home in homes_of(file).items()]


def _options(name: str) -> str:
    """The options of a module: its whole path, and its public names if it states them."""
    members = getattr(importlib.import_module(name), "__all__", [])
    shown = f"      members: {json.dumps(members)}\n" if members else ""
    return f"    options:\n      show_root_full_path: true\n      toc_label: {name}\n{shown}"
