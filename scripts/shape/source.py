"""What the text of a Python package says about its shape; nothing of it is imported."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

VAGUE = ("each", "found", "own", "how", "told")
"""Variable names that say nothing of what they hold."""

ROOT_FILES = frozenset({"__init__", "__main__", "_version"})
"""What every package has at its root."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SILENT = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
})  # fmt: skip


@dataclass(frozen=True)
class Module:
    """One file of a package.

    Attributes:
        name: dotted, the package's own name included; that of the folder for ``__init__.py``.
        path: relative to the package's folder.
        text: its source.
        tree: the same, parsed.
    """

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The folder at the root that it lies in; ``.`` for the root itself."""
        return self.path.parts[0] if len(self.path.parts) > 1 else "."


def read_package(folder: Path) -> list[Module]:
    """Every Python file of a package, by path."""
    modules = []
    for file in sorted(folder.rglob("*.py")):
        path = file.relative_to(folder)
        parts = [folder.name, *path.with_suffix("").parts]
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = file.read_text(encoding="utf-8")
        modules.append(Module(name, path, text, ast.parse(text)))
    return modules


def loose_modules(modules: Iterable[Module]) -> list[str]:
    """The modules at the root of the package, but for those that every package has."""
    return [m.path.name for m in modules if m.package == "." and m.path.stem not in ROOT_FILES]


def code_lines(module: Module) -> int:
    """Lines that are neither blank nor comment nor docstring.

    A string that stands alone documents what is around it, wherever it stands.
    """
    documented: set[int] = set()
    for node in ast.walk(module.tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = module.text.splitlines()
    spoken: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in _SILENT:
            spoken.update(range(token.start[0], token.end[0] + 1))
    return sum(bool(lines[number - 1].strip()) for number in spoken - documented)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, inner ones included."""
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS):
            yield node


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, without its decorators."""
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(modules: Iterable[Module], most: int) -> list[str]:
    """Functions of more than so many lines, as ``file:line: name (lines)``."""
    return [
        f"{module.path}:{node.lineno}: {node.name} ({length(node)})"
        for module in modules
        for node in functions(module.tree)
        if length(node) > most
    ]


def long_files(modules: Iterable[Module], most: int) -> list[str]:
    """Files of more than so many lines, as ``file (lines)``."""
    return [
        f"{module.path} ({lines})"
        for module in modules
        if (lines := len(module.text.splitlines())) > most
    ]


def names_used(module: Module) -> Counter[str]:
    """How often each name is read in a module: alone, after a dot, or when imported from another.

    A quoted annotation counts as what it says.
    """
    used: Counter[str] = Counter()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used[node.id] += 1
        elif isinstance(node, ast.Attribute):
            used[node.attr] += 1
        elif isinstance(node, ast.ImportFrom):
            used.update(alias.name for alias in node.names)
    return used


def private_functions(modules: Iterable[Module]) -> tuple[list[str], list[str]]:
    """The private functions at the top level of modules, and those that are used exactly once.

    A private function is looked for in its own module.
    """
    everything, once = [], []
    for module in modules:
        used = names_used(module)
        for node in module.tree.body:
            if isinstance(node, _DEFINITIONS) and node.name.startswith("_"):
                place = f"{module.path}:{node.lineno}: {node.name}"
                everything.append(place)
                if used[node.name] == 1:
                    once.append(place)
    return everything, once


def vague_names(modules: Iterable[Module]) -> Counter[str]:
    """How often variables and arguments of no meaning are in the code."""
    seen: Counter[str] = Counter(dict.fromkeys(VAGUE, 0))
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and node.id in seen:
                seen[node.id] += 1
            elif isinstance(node, ast.arg) and node.arg in seen:
                seen[node.arg] += 1
    return seen


def imported(module: Module, names: frozenset[str]) -> tuple[set[str], set[str]]:
    """The package's modules that one imports: at its top level, and inside functions.

    What is imported for type checkers only is left out.
    """
    top: set[str] = set()
    inner: set[str] = set()

    def visit(node: ast.AST, *, inside: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for statement in node.orelse:
                visit(statement, inside=inside)
            return
        if isinstance(node, ast.Import | ast.ImportFrom):
            (inner if inside else top).update(_targets(node, module, names))
        deeper = inside or isinstance(node, (*_DEFINITIONS, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            visit(child, inside=deeper)

    visit(module.tree, inside=False)
    return top - {module.name}, inner - {module.name}


def _targets(
    node: ast.Import | ast.ImportFrom, module: Module, names: frozenset[str]
) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in names)
        return
    base = node.module or ""
    if node.level:
        parts = module.name.split(".")
        is_folder = module.path.name == "__init__.py"
        kept = parts[: len(parts) - node.level + is_folder]
        base = ".".join([*kept, base] if base else kept)
    for alias in node.names:
        inner = f"{base}.{alias.name}"
        if inner in names or base in names:
            yield inner if inner in names else base


def import_circles(modules: Iterable[Module], *, inside_functions: bool) -> list[list[str]]:
    """Sets of modules that import one another, directly or through others.

    Args:
        modules: of one package.
        inside_functions: count imports that are done when a function is called, too.
    """
    modules = list(modules)
    names = frozenset(module.name for module in modules)
    graph = {}
    for module in modules:
        top, inner = imported(module, names)
        graph[module.name] = top | inner if inside_functions else top
    return [sorted(group) for group in strong_components(graph) if len(group) > 1]


def strong_components(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of a graph (Kosaraju's algorithm, without recursion)."""
    reverse: dict[str, list[str]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            reverse[target].append(node)
    order = [node for tree in _forest(graph, list(graph)) for node in tree]
    return list(_forest(reverse, order[::-1]))


def _forest(graph: Mapping[str, Iterable[str]], roots: Iterable[str]) -> Iterator[list[str]]:
    """What is newly reached from each root, every node after all that it leads to."""
    seen: set[str] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        tree, path = [], [(root, iter(sorted(graph[root])))]
        while path:
            node, targets = path[-1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                tree.append(node)
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(sorted(graph[following]))))
        yield tree
