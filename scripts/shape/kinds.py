"""Who asks which kind of test a suite is: a search of the syntax trees of a package.

A place asks where it compares something called a kind or a paradigm with the name of one, keeps a
table by such names, matches them, looks one up, says which kind it wants, tells kinds apart by a
file or a field, or asks whether something is an object of one of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from shape.source import Module

KINDS = frozenset({"regions", "ratings", "acceptability", "cloze", "templates", "stories"})
"""The names of paradigms in the redesign, and those that were theirs before."""

HOME = "paradigms"
"""The package that may ask."""

_ABOUT_KINDS = re.compile(r"kind|paradigm", re.IGNORECASE)
_OF_A_KIND = re.compile(
    r"(Cloze|Story|Stories|Rated|Ratings?|Acceptability|Templates?|Regions?)"
    r"\w*(Suite|Run|Evaluation|Paradigm|Summary|Outcome)"
)
_DETECTOR = re.compile(
    r"is_(rated|ratings?|acceptability|cloze|templates?|story|stories|regions?)\w*"
)
_LOOK_UPS = frozenset({"get", "pop", "setdefault"})
_TABLE = 2
"""So many names of kinds make a collection of them a table."""


@dataclass(frozen=True, order=True)
class Place:
    """One expression that asks for the kind.

    Attributes:
        file: relative to the package.
        line: of the expression.
        scope: the function around it, or the line of the statement at the module's top level.
        form: in which way it asks.
        code: the expression.
    """

    file: str
    line: int
    scope: str
    form: str
    code: str

    @property
    def in_home(self) -> bool:
        """Whether its package is named after a kind: a paradigm that has not moved yet."""
        return self.file.split("/")[0] in KINDS

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.scope}: {self.form}: {self.code}"


def places(modules: Iterable[Module]) -> list[Place]:
    """Every expression outside `paradigms/` that asks for the kind of a suite."""
    modules = list(modules)
    constants = {module.name: _constants(module) for module in modules}
    outside = [module for module in modules if module.package != HOME]
    return sorted({place for module in outside for place in _Search(module, constants).places()})


def scopes(asking: Iterable[Place]) -> list[str]:
    """The functions and top-level statements that ask, once each, as ``file: scope``."""
    return sorted({f"{place.file}: {place.scope}" for place in asking})


def _constants(module: Module) -> dict[str, str]:
    """Names at the top level of a module that stand for a kind."""
    values = {}
    for node in module.tree.body:
        pair: tuple[str, ast.expr | None]
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            pair = (node.targets[0].id, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            pair = (node.target.id, node.value)
        else:
            continue
        match pair:
            case (name, ast.Constant(value=str() as value)) if value in KINDS:
                values[name] = value
    return values


class _Search:
    """The places of one module.

    Args:
        module: where to look.
        constants: of each module, by its name: names that stand for kinds.
    """

    def __init__(self, module: Module, constants: Mapping[str, Mapping[str, str]]) -> None:
        self._module = module
        self._names = dict(constants[module.name])
        self._of_kinds: set[str] = set()
        self._declared: set[str] = set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self._import(node, constants.get(node.module, {}))
        self._other = self._other_variables()

    def _import(self, node: ast.ImportFrom, constants: Mapping[str, str]) -> None:
        parts = (node.module or "").split(".")
        of_kind = bool(KINDS.intersection(parts[1:3])) or HOME in parts
        for alias in node.names:
            name = alias.asname or alias.name
            if alias.name in constants:
                self._names[name] = constants[alias.name]
                if _ABOUT_KINDS.search(parts[-1]):
                    self._declared.add(name)
            elif of_kind:
                self._of_kinds.add(name)

    def _other_variables(self) -> set[str]:
        """What is compared with names of something else too: not the kind of a suite."""
        others = set()
        for node in ast.walk(self._module.tree):
            if isinstance(node, ast.Compare):
                texts = [n for n in ast.walk(node) if isinstance(n, ast.Constant)]
                words = {n.value for n in texts if isinstance(n.value, str) and n.value}
                if words and not words <= KINDS | {"kind", "paradigm"}:
                    others.add(ast.unparse(node.left))
        return others

    def places(self) -> Iterator[Place]:
        """What asks, with the function or statement around it."""
        for statement in self._module.tree.body:
            yield from self._below(statement, f"line {statement.lineno}")

    def _below(self, node: ast.AST, scope: str) -> Iterator[Place]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = node.name if scope.startswith("line ") else f"{scope}.{node.name}"
        form = self._form(node)
        if form and isinstance(node, ast.expr | ast.Match):
            code = " ".join(ast.unparse(node).split())[:100]
            yield Place(self._module.path.as_posix(), node.lineno, scope, form, code)
            if isinstance(node, ast.Compare):
                return
        for child in ast.iter_child_nodes(node):
            yield from self._below(child, scope)

    def _form(self, node: ast.AST) -> str:
        """In which way an expression asks; empty where it does not."""
        match node:
            case ast.Call():
                return self._call_form(node)
            case ast.Compare() if self._compares(node):
                form = "comparison"
            case ast.Dict() if self._is_table(node):
                form = "table"
            case ast.Set() | ast.Tuple() | ast.List() if self._is_list(node):
                form = "list of kinds"
            case ast.Match() if self._matches(node):
                form = "match"
            case ast.IfExp() if self._is_kind(node.body) and self._is_kind(node.orelse):
                form = "choice of a kind"
            case ast.BoolOp() if self._is_kind(node.values[-1]) and _about_kinds(node.values[0]):
                form = "default"
            case ast.Subscript() if self._is_kind(node.slice) and _about_kinds(node.value):
                form = "look-up"
            case _:
                form = ""
        return form

    def _call_form(self, node: ast.Call) -> str:
        function = ast.unparse(node.func)
        name = function.rsplit(".", 1)[-1]
        if name in {"isinstance", "issubclass"} and len(node.args) > 1:
            classes = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
            of_kind = classes & self._of_kinds or any(map(_OF_A_KIND.fullmatch, classes))
            return "isinstance" if of_kind else ""
        if name in self._of_kinds and _DETECTOR.fullmatch(name):
            return "detection"
        if name in _LOOK_UPS and node.args and self._is_kind(node.args[0]):
            key = node.args[0]
            known = isinstance(key, ast.Name) and key.id in self._declared
            return "look-up" if known or _about_kinds(node.func) else ""
        if any(map(self._is_kind, node.args)) and any(map(_about_kinds, [node.func, *node.args])):
            return "kind given"
        named = [k for k in node.keywords if k.arg and _ABOUT_KINDS.search(k.arg)]
        return "kind given" if any(self._is_kind(keyword.value) for keyword in named) else ""

    def _is_constant(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._names

    def _is_kind(self, node: ast.expr | None) -> bool:
        if isinstance(node, ast.Constant):
            return isinstance(node.value, str) and node.value in KINDS
        if isinstance(node, ast.Attribute):
            return node.attr.isupper() and node.attr.lower() in KINDS
        return node is not None and self._is_constant(node)

    def _compares(self, node: ast.Compare) -> bool:
        sides = [node.left, *node.comparators]
        holds = [self._holds_kind(side) for side in sides]
        about = any(_about_kinds(side) for side, held in zip(sides, holds, strict=True) if not held)
        return any(holds) and about and ast.unparse(node.left) not in self._other

    def _holds_kind(self, node: ast.expr) -> bool:
        elements = node.elts if isinstance(node, ast.Set | ast.Tuple | ast.List) else [node]
        return bool(elements) and any(self._is_kind(element) for element in elements)

    def _is_table(self, node: ast.Dict) -> bool:
        if not node.keys or not all(self._is_kind(key) for key in node.keys):
            return False
        code = [isinstance(v, ast.Constant) and ":" in str(v.value) for v in node.values]
        return len(node.keys) >= _TABLE or all(code)

    def _is_list(self, node: ast.Set | ast.Tuple | ast.List) -> bool:
        return len(node.elts) >= _TABLE and all(map(self._is_kind, node.elts))

    def _matches(self, node: ast.Match) -> bool:
        values = [p for case in node.cases for p in ast.walk(case.pattern)]
        return _about_kinds(node.subject) and any(
            self._is_kind(value.value) for value in values if isinstance(value, ast.MatchValue)
        )


def _about_kinds(node: ast.expr) -> bool:
    """Whether an expression speaks of a kind or a paradigm: by a name, an attribute or a key."""
    for part in ast.walk(node):
        name = getattr(part, "id", None) or getattr(part, "attr", None)
        name = name or (part.value if isinstance(part, ast.Constant) else None)
        if isinstance(name, str) and _ABOUT_KINDS.search(name):
            return True
    return False
