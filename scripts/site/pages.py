"""Pages of the site that stand elsewhere: in the code, and at the root of the repository.

mkdocs calls the functions at the end (``hooks`` in mkdocs.yml). The pages are never written to
docs/: what the code says is what the page says.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin

from mkdocs.structure.files import File, Files
from typer.main import get_command

from cimento.cli.main import COMMANDS, app

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page
    from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

AnyCommand: TypeAlias = "TyperCommand | TyperGroup"
Parameter: TypeAlias = "TyperArgument | TyperOption"
Schema: TypeAlias = "dict[str, Any]"

FOLDER = "reference/"
_OPTION = re.compile(r"<code>(?=-[\w -]{1,30}</code>)")
PYTHON = FOLDER + "python.md"
JSON = FOLDER + "json.md"

ROOT = Path(__file__).parents[2]
AT_ROOT = {"contributing.md": "CONTRIBUTING.md"}
"""Page of the site to the file at the root of the repository."""
_TSV = re.compile(
    r'^```tsv(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]*)(#[^)\s]*)?\)")

WEIGHTS: Mapping[str, float] = {
    "glossary.md": 4.0, "concepts.md": 3.0, "statistics.md": 4.0, "quickstart.md": 4.0,
    "index.md": 3.0, "choosing.md": 2.0, "faq.md": 2.0, "surveys.md": 2.0, "howto/": 2.0,
    FOLDER: 0.5, "checks/": 0.3, "replay.md": 0.3, "agreement.md": 0.3, "studies": 0.2,
    "design/": 0.2, "contributing.md": 0.2, "releasing.md": 0.2,
}  # fmt: skip
"""Beginning of a page's path to its weight in searches; the first that fits counts."""

ALSO_PUBLIC = (
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
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    return " ".join([name, *(_metavar(argument) for argument in arguments), "[OPTIONS]"])


def _metavar(argument: TyperArgument) -> str:
    return str(argument.metavar or (argument.name or "").upper())


def _table(command: AnyCommand) -> Iterator[str]:
    """A row for each argument and option: how it is written, what it does, what holds without."""
    rows = [
        _row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)
    ]
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
    import cimento
    from cimento.io.public_names import homes_of

    homes = homes_of(cimento.__file__)
    full_names = [f"{home}.{name}" for name, home in homes.items()]
    head = (
        "# Python\n\nThe names below can be imported from `cimento` itself"
        " (`from cimento import evaluate`); names under *Modules* are imported from the module"
        " shown.\n"
    )
    return head + "".join(f"\n::: {name}\n" for name in full_names) + "\n## Modules\n" + _modules()


def _modules() -> str:
    return "".join(
        f"\n::: {name}\n    options:\n      heading_level: 3\n{_members(name)}"
        for name in ALSO_PUBLIC
    )


def _members(name: str) -> str:
    """The public names of a module as an option of its page, if the module states them."""
    members = getattr(importlib.import_module(name), "__all__", [])
    return f"      members: {json.dumps(members)}\n" if members else ""


def json_page() -> str:
    """The page of what commands print with ``--json``: every field of the shipped schema."""
    schema = files("cimento") / "data" / "schemas" / "commands.schema.json"
    commands: Mapping[str, Schema] = json.loads(schema.read_text(encoding="utf-8"))["$defs"]
    head = (
        "# JSON of commands\n\nEvery field that commands print with `--json`, from the JSON schema"
        " that comes with cimento. `[]` stands for each element of a list, and `.` leads to a field"
        " of an object. The page of the command explains the terms."
        " [The JSON summary](../json-summary.md) describes the object that `run`, `demo`, `judge`"
        " and `report` print.\n"
    )
    return "\n".join([head, *(line for name in commands for line in _json_of(name, commands))])


def _json_of(name: str, commands: Mapping[str, Schema]) -> Iterator[str]:
    """The section of a command: a row for each field, or the page that describes the object."""
    command = _command_of(name)
    yield f"\n## {command}\n"
    if described := commands[name].get("description"):
        yield f"{escaped(described)}\n"
    rows = list(dict.fromkeys(_fields(commands[name], "")))
    if _is_summary(commands[name]):
        yield "The object is described in [The JSON summary](../json-summary.md).\n"
    if rows:
        yield "| field | type | content |\n|---|---|---|"
        yield from (f"| `{path}` | {kind} | {content} |" for path, kind, content in rows)


def _command_of(name: str) -> str:
    """The command of a definition: ``suites-build-query`` is ``cimento suites build query``."""
    children: Mapping[str, AnyCommand] = {
        word: _group().get_command(None, word) for word in COMMANDS
    }
    words, rest = ["cimento"], name
    while rest:
        word = max((word for word in children if f"{rest}-".startswith(f"{word}-")), key=len)
        children, rest = getattr(children[word], "commands", {}), rest[len(word) + 1 :]
        words.append(word)
    return " ".join(words)


def _is_summary(schema: Schema) -> bool:
    return any(str(part.get("$ref", "")).startswith("urn:") for part in _alternatives(schema))


def _alternatives(schema: Schema) -> list[Schema]:
    """A schema, and those of its ``anyOf``, at any depth."""
    return [schema, *(part for one in schema.get("anyOf", []) for part in _alternatives(one))]


def _fields(schema: Schema, path: str) -> Iterator[tuple[str, str, str]]:
    """Path, type and content of each field below a schema, at any depth."""
    for part in _alternatives(schema):
        for name, child in part.get("properties", {}).items():
            at = f"{path}.{name}" if path else name
            yield at, _type(child), escaped(child.get("description", ""))
            yield from _fields(child, at)
        if isinstance(part.get("items"), dict):
            yield from _fields(part["items"], f"{path}[]")
        if isinstance(part.get("additionalProperties"), dict):
            yield from _fields(part["additionalProperties"], f"{path}.NAME")


def _type(schema: Schema) -> str:
    """The type of a field in words; empty where any is allowed."""
    names: list[str] = []
    for part in _alternatives(schema):
        stated = part.get("type", [])
        names += [stated] if isinstance(stated, str) else stated
    return " or ".join(sorted(dict.fromkeys(names), key=lambda name: (name == "null", name)))


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
    return {**commands, PYTHON: python_page(), JSON: json_page(), **root}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference into the navigation, and those that it does not name."""
    reference = next(entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    reference.insert(1, {"Every option": [{name: f"{FOLDER}{name}.md"} for name in COMMANDS]})
    reference.insert(2, {"Python": PYTHON})
    reference.insert(3, {"JSON of commands": JSON})
    further = sorted(_pages(Path(config.docs_dir)) - set(_named(config.nav)))
    if further:
        reference.append({"Further pages": further})
    return config


def _pages(folder: Path) -> set[str]:
    """The pages in docs/ but those of single check codes, to which the list of codes leads."""
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")}
    return {path for path in pages if not path.startswith("checks/")}


def _named(nav: object) -> Iterator[str]:
    """The pages that the navigation names, at any depth."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for child in nav.values():
            yield from _named(child)
    elif isinstance(nav, list):
        for child in nav:
            yield from _named(child)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Weigh the page in searches; show tables with tabs as tables, since they are ragged."""
    page.meta["search"] = {"boost": _weight(page.file.src_uri)}
    return _TSV.sub(_as_table, markdown)


def _weight(path: str) -> float:
    """How much a page counts in a search, relative to others."""
    return next((weight for start, weight in WEIGHTS.items() if path.startswith(start)), 1.0)


def _as_table(block: re.Match[str]) -> str:
    header, *rows = (line.split("\t") for line in block["text"].splitlines() if line)
    cells = ([escaped(cell) for cell in row] for row in (header, ["---"] * len(header), *rows))
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return "\n".join([f"**`{block['title']}`**\n", *lines] if block["title"] else lines)


def on_page_content(html: str, **_: object) -> str:
    """Mark what is an option, so that no line ends behind its dashes."""
    return _OPTION.sub('<code class="option">', html)
