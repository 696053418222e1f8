"""Names at the top of a module of src/cimento that nothing else in src uses.

A name is used where code says it: as a name, an attribute, an import (also of a stub, which lists
public names) or a text such as ``"cimento.evaluation:evaluate"``. Commands are used by
typer, entry points by pyproject.toml.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = {
    # `cimento.statistics` is for people, and its reference names these.
    "f1",
    "hedges_correction",
    "likelihood_ratio",
    "invoke",  # a command in a process of somebody else, such as that of the tests
    "uniform_scorer",  # as `cimento.testing.FakeScorer`, a model for tests
}
TEXT = re.compile(r"[\w.:]+|[\w.]+ \| [\w.\[\]| ]+")
"""An entry such as ``"cimento.evaluation:evaluate"``, or a type such as ``"Run | None"``."""


def uses(node: ast.AST) -> Counter[str]:
    """How often each name is said in a piece of code."""
    said: Counter[str] = Counter()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            said[part.id] += 1
        elif isinstance(part, ast.Attribute):
            said[part.attr] += 1
        elif isinstance(part, ast.alias):
            said[part.name.rpartition(".")[2]] += 1
        elif isinstance(part, ast.Constant) and TEXT.fullmatch(str(part.value)):
            said.update(re.findall(r"\w+", str(part.value)))
    return said


def names(node: ast.stmt) -> Iterator[str]:
    """What a statement at the top of a module defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        if not any(
            re.search("command|callback", ast.unparse(decorator))
            for decorator in node.decorator_list
        ):
            yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (target.id for target in targets if isinstance(target, ast.Name))


def dead() -> list[str]:
    """Unused names, each with its place."""
    paths = sorted((ROOT / "src" / "cimento").rglob("*.py"))
    modules = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    said: Counter[str] = Counter()
    for path in (ROOT / "src").rglob("*.pyi"):
        said.update(uses(ast.parse(path.read_text("utf-8"))))
    for module in modules.values():
        said.update(uses(module))
    outside = KEPT | set(re.findall(r"\w+", (ROOT / "pyproject.toml").read_text("utf-8")))
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path, module in modules.items()
        for node in module.body
        for name in names(node)
        if not name.startswith("__") and name not in outside
        # What a definition says of itself is no use of it.
        if said[name] == uses(node)[name]
    ]


if __name__ == "__main__":
    unused = dead()
    print("\n".join(unused))
    sys.exit(bool(unused))
