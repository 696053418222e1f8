"""Pages of the site that stand elsewhere: in the code, and at the root of the repository.

mkdocs calls the functions at the end (``hooks`` in mkdocs.yml). The pages are never written to
docs/: what the code says is what the page says.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args, get_origin

from mkdocs.structure.files import File, Files
from typer.main import get_command

from cimento.cli.main import COMMANDS, app

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

AnyCommand: TypeAlias = "TyperCommand | TyperGroup"
Parameter: TypeAlias = "TyperArgument | TyperOption"

FOLDER = "reference/"
_OPTION = re.compile(r"<code>(?=-[\w -]{1,30}</code>)")
PYTHON = FOLDER + "python.md"

ROOT = Path(__file__).parents[2]
AT_ROOT = {"contributing.md": "CONTRIBUTING.md"}
"""Page of the site to the file at the root of the repository."""
_TSV = re.compile(
    r'^```tsv(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")

ALSO_PUBLIC = (
    "cimento.paradigms",
    "cimento.testing",
    "cimento.explain",
    "cimento.site",
    "cimento.statistics",
)
"""The other modules that are public."""


def command_page(name: str) -> str:
    """The page of a command, with its sub-commands one after the other."""
    command = _group().get_command(None, name)
    return "\n".join(_sections(command, f"cimento {name}", level=1)) + "\n"


@functools.cache
def _group() -> AnyCommand:
    return get_command(app)


def _sections(command: AnyCommand, name: str, *, level: int) -> Iterator[str]:
    """What a command says of itself: what it does, its arguments, its options, its sub-commands."""
    yield f"{'#' * level} {name}\n"
    yield from (f"{escaped(line.strip())}\n" for line in (command.help or "").split("\n\n"))
    children = getattr(command, "commands", {})
    if not children:
        yield f"```text\n{_usage(command, name)}\n```\n"
        yield from _table(command)
    for child in children.values():
        yield from _sections(child, f"{name} {child.name}", level=min(level + 1, 6))


def _usage(command: AnyCommand, name: str) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    return " ".join([name, *(_metavar(each) for each in arguments), "[OPTIONS]"])


def _metavar(argument: TyperArgument) -> str:
    return str(argument.metavar or (argument.name or "").upper())


def _table(command: AnyCommand) -> Iterator[str]:
    """A row for each argument and option: how it is written, what it does, what holds without."""
    rows = [_row(each) for each in command.params if not getattr(each, "hidden", False)]
    if rows:
        yield "| | what | if not given |\n|---|---|---|"
        yield from (f"| {written} | {what} | {default} |" for written, what, default in rows)
        yield ""


def _row(parameter: Parameter) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        names = [_metavar(parameter)]
    else:
        names = [*parameter.opts, *parameter.secondary_opts]
    written = " ".join(f"`{name}`" for name in names)
    annotation = parameter.type_descriptor.annotation
    what = escaped(parameter.help or "")
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        what += f" One of {', '.join(f'`{choice}`' for choice in choices)}."
    return written, what.strip(), _default(parameter)


def _default(parameter: Parameter) -> str:
    if parameter.required:
        return "must be given"
    value = parameter.default
    if value is None or value in ("", False, ()) or callable(value):
        return ""
    if value is True:
        return "on"
    return f"`{getattr(value, 'value', value)}`"


def escaped(text: str) -> str:
    """Text that stands in a table of Markdown as it is."""
    for sign in "&|<>*_[]":
        text = text.replace(sign, f"&#{ord(sign)};")
    return " ".join(text.split())


def python_page() -> str:
    """The page of the Python interface: every public name, by its docstring."""
    from cimento import _HOME_OF

    names = sorted(_HOME_OF, key=lambda name: (name[0].isupper(), name.lower()))
    own = [f"{_HOME_OF[name]}.{name}" for name in names]
    head = (
        "# Python\n\nThe names below can be imported from `cimento` itself"
        " (`from cimento import evaluate`); what stands under *Modules*, from where it is said.\n"
    )
    return head + "".join(f"\n::: {name}\n" for name in own) + "\n## Modules\n" + _modules()


def _modules() -> str:
    return "".join(
        f"\n::: {name}\n    options:\n      heading_level: 3\n{_members(name)}"
        for name in ALSO_PUBLIC
    )


def _members(name: str) -> str:
    """The public names of a module as an option of its page, if the module states them."""
    members = getattr(importlib.import_module(name), "__all__", [])
    return f"      members: {json.dumps(members)}\n" if members else ""


def root_page(name: str) -> str:
    """A page that stands at the root of the repository, where those who join look for it."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return _LINK.sub(_in_site, text)


def _in_site(link: re.Match[str]) -> str:
    """A link from the root as the site has it; what the site does not have is named only."""
    words, target, anchor = link[1], link[2], link[3] or ""
    if target in {*AT_ROOT.values()}:
        return f"[{words}]({next(page for page in AT_ROOT if AT_ROOT[page] == target)}{anchor})"
    if target.startswith("docs/"):
        return f"[{words}]({target.removeprefix('docs/')}{anchor})"
    if ":" in target or not target:
        return link[0]
    return f"`{target}`" if words == target else f"{words} (`{target}`)"


def generated_pages() -> dict[str, str]:
    """Path in the site to Markdown."""
    commands = {f"{FOLDER}{name}.md": command_page(name) for name in COMMANDS}
    root = {page: root_page(name) for page, name in AT_ROOT.items()}
    return {**commands, PYTHON: python_page(), **root}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference into the navigation, and those that it does not name."""
    reference = next(entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    reference.insert(1, {"Every option": [{name: f"{FOLDER}{name}.md"} for name in COMMANDS]})
    reference.insert(2, {"Python": PYTHON})
    further = sorted(_pages(Path(config.docs_dir)) - set(_named(config.nav)))
    if further:
        reference.append({"Further pages": further})
    return config


def _pages(folder: Path) -> set[str]:
    """The pages in docs/ but those of single check codes, to which the list of codes leads."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    return {path for path in found if not path.startswith("checks/")}


def _named(nav: object) -> Iterator[str]:
    """The pages that the navigation names, at any depth."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for each in nav.values():
            yield from _named(each)
    elif isinstance(nav, list):
        for each in nav:
            yield from _named(each)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Show tables with tabs as tables: their columns are ragged otherwise."""
    return _TSV.sub(_as_table, markdown)


def _as_table(block: re.Match[str]) -> str:
    header, *rows = (line.split("\t") for line in block["text"].splitlines() if line)
    cells = ([escaped(cell) for cell in row] for row in (header, ["---"] * len(header), *rows))
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([f"**`{block['title']}`**\n", *lines] if block["title"] else lines)


def on_page_content(html: str, **_: object) -> str:
    """Mark what is an option, so that no line ends behind its dashes."""
    return _OPTION.sub('<code class="option">', html)
