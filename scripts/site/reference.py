"""The pages of the Python interface: every public name, by its docstring."""

from __future__ import annotations

import functools
import importlib
import json
from collections import defaultdict
from pathlib import Path

from cells import filled, prose, table
from signatures import is_module, summary, types_named_by, written_at

from cimento.io.public_names import homes_of

FOLDER = "reference/"
TYPES = "modules-types.md"
"""The page of the types that signatures name."""
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
        f"{FOLDER}{TYPES}": types_page(),
        **{f"{FOLDER}{page_of(name)}": module_page(name) for name in MODULES},
    }


def page_of(module: str) -> str:
    """The file of the page of a public module, beside that which lists the modules."""
    return f"modules-{module.removeprefix('cimento.').replace('.', '-')}.md"


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
    """The page that lists the other public modules and their names."""
    listed = [_listed(name, _of_module(name)) for name in MODULES]
    return _page("modules", [_listed("cimento.types", []), *listed])


def module_page(name: str) -> str:
    """The page of a public module: the names that have no entry on a page before it."""
    page = page_of(name)
    here = [path for path in _of_module(name) if entries()[written_at(path)][0] == page]
    also = [path for path in _of_module(name) if path not in here]
    shown = json.dumps([path.rpartition(".")[2] for path in here])
    links = ", ".join(_link(path) for path in also)
    elsewhere = f"\n\nNames with an entry elsewhere: {links}" if also else ""
    parts = [f"# {name}\n\n[All modules](modules.md){elsewhere}\n\n::: {name}\n{_options(shown)}"]
    if types()[page]:
        said = "What the signatures above name; imported from [`cimento.types`](modules-types.md)."
        parts += [f"## Types in signatures\n\n{said}\n", *map(_entry, types()[page])]
    return "\n".join(parts)


def types_page() -> str:
    """The page of `cimento.types`: all of them, and the entries of those of `cimento`."""
    paths = sorted(_homes(importlib.import_module("cimento.types").__file__), key=_name)
    made = {"names": _rows(paths), "types": "\n".join(map(_entry, types()[TYPES]))}
    return filled(f"{FOLDER}{TYPES}", made)


def _listed(module: str, paths: list[str]) -> str:
    """A module in the list of modules: what it is for, and its names."""
    said = (importlib.import_module(module).__doc__ or "").partition("\n\n")[0]
    title = f"## [`{module}`]({page_of(module)})\n\n{' '.join(said.split())}\n"
    return f"{title}\n{_rows(paths)}" if paths else title


def _rows(paths: list[str]) -> str:
    """A table of names, each with a link to its entry and the first sentence about it."""
    return table(("name", "what it is"), [(_link(path), prose(summary(path))) for path in paths])


def _link(path: str) -> str:
    if is_module(path):
        return f"`{_name(path)}`"
    page, anchor = entries()[written_at(path)]
    return f"[`{_name(path)}`]({page}#{anchor})"


def _name(path: str) -> str:
    return path.rpartition(".")[2]


@functools.cache
def entries() -> dict[str, tuple[str, str]]:
    """Where each public object is written to the page of its entry and the place on it."""
    found = dict[str, tuple[str, str]]()
    for page, paths in (*_named().items(), *types().items()):
        for path in paths:
            found.setdefault(written_at(path), (page, path))
    return found


@functools.cache
def types() -> dict[str, list[str]]:
    """Page to the types that its signatures name, and that have no entry elsewhere.

    A type that the signatures of several pages name is on the first of them; those that the
    signatures of `cimento` name are on the page of `cimento.types`.
    """
    shown = {written_at(path) for paths in _named().values() for path in paths}
    on_page = dict[str, list[str]]()
    for page, paths in _named().items():
        of_page = [path for path in types_named_by(paths) if path not in shown]
        on_page[TYPES if page == "python.md" else page] = of_page
        shown.update(of_page)
    return on_page


def _named() -> dict[str, list[str]]:
    """Page to the public names of its module, first those that most people use."""
    of_modules = {page_of(name): _of_module(name) for name in MODULES}
    return {"python.md": _interface(), "statistics.md": _statistics(), **of_modules}


def _interface() -> list[str]:
    import cimento

    return _homes(cimento.__file__)


def _statistics() -> list[str]:
    from cimento import statistics

    return _homes(statistics.__file__)


def _of_module(name: str) -> list[str]:
    """The public names of a module, in the order of its stub if it has one."""
    module = importlib.import_module(name)
    is_lazy = Path(f"{(module.__file__ or '').rpartition('.')[0]}.pyi").is_file()
    members = homes_of(str(module.__file__)) if is_lazy else module.__all__
    return [f"{name}.{member}" for member in members]


def _entry(path: str) -> str:
    return f"::: {path}\n    options:\n      heading_level: 3\n      show_bases: true\n"


def _page(name: str, parts: list[str]) -> str:
    made = {"names": "\n".join(parts)}
    if f"{name}.md" in types():
        made["types"] = "\n".join(_entry(path) for path in types()[f"{name}.md"])
    return filled(f"{FOLDER}{name}.md", made)


def _homes(file: str | None) -> list[str]:
    """The path of each public name of a package, in the module in which it is written."""
    assert file is not None  # noqa: S101  # a package that was imported has a file
    return [f"{home}.{name}" for name, home in homes_of(file).items()]


def _options(members: str) -> str:
    """The options of a module: its docstring under the title of its page, and some of its names."""
    lines = (
        "heading_level: 2",
        "show_root_heading: false",
        "show_root_toc_entry: false",
        "group_by_category: false",
        f"members: {members}",
    )
    return "".join(["    options:\n", *(f"      {line}\n" for line in lines)])
