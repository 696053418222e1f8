"""The small changes that `scripts/mutants.py` makes, and how they are drawn.

A change turns an operator, a comparison, `and` or `or`, a condition or a constant, or leaves out a
returned value, a named argument or a statement. Not drawn: docstrings, messages (f-strings and
what is raised), annotations, decorators, `assert`, blocks for typing, and `strict=` and
`encoding=`, which only say what must be so.
"""

from __future__ import annotations

import ast
import copy
import random
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_SAYS_WHAT_MUST_BE = {"strict", "encoding"}


@dataclass(frozen=True)
class Mutant:
    """A change of one expression or statement; positions are those of `ast`, in bytes."""

    path: str
    start: tuple[int, int]
    end: tuple[int, int]
    kind: str
    new: str

    def applied(self, text: str) -> str:
        """The text of the module with the change."""
        first, last = (self._offset(text, place) for place in (self.start, self.end))
        data = text.encode()
        return (data[:first] + self.new.encode() + data[last:]).decode()

    def old(self, text: str) -> str:
        """What is changed."""
        first, last = (self._offset(text, place) for place in (self.start, self.end))
        return text.encode()[first:last].decode()

    @staticmethod
    def _offset(text: str, place: tuple[int, int]) -> int:
        lines = text.encode().splitlines(keepends=True)
        return sum(map(len, lines[: place[0] - 1])) + place[1]


class _Sites(ast.NodeVisitor):
    """Collects the changes that can be made in a module."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.mutants: list[Mutant] = []

    def _add(self, node: ast.expr | ast.stmt, kind: str, new: ast.AST | str) -> None:
        code = new if isinstance(new, str) else ast.unparse(ast.fix_missing_locations(new))
        if isinstance(node, ast.expr):
            code = f"({code})"
        start = node.lineno, node.col_offset
        end = node.end_lineno or 0, node.end_col_offset or 0
        self.mutants.append(Mutant(self.path, start, end, kind, code))

    def visit(self, node: ast.AST) -> None:
        """Leave messages alone, and what only says what must be so."""
        if not isinstance(node, ast.JoinedStr | ast.Raise | ast.Assert):
            super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in (*node.defaults, *node.kw_defaults):
            if default:
                self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.visit(node.args)
        for child in node.body:
            self.visit(child)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit(node.args)
        for child in node.body:
            self.visit(child)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for child in node.body:
            self.visit(child)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self._negate(node.test)
            self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        self._add(test, "condition negated", f"not ({ast.unparse(test)})")

    def visit_Compare(self, node: ast.Compare) -> None:
        for number, operator in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[number] = _COMPARISONS[type(operator)]()
            self._add(node, "comparison", new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sides = (node.left, node.right)
        is_text = any(isinstance(side, ast.JoinedStr) or _is(side, str) for side in sides)
        if type(node.op) in _OPERATORS and not is_text:
            new = copy.deepcopy(node)
            new.op = _OPERATORS[type(node.op)]()
            self._add(node, "operator", new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        new = copy.deepcopy(node)
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(node, "and or or", new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add(node, "sign or not left out", node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, "constant", ast.Constant(not node.value))
        elif isinstance(node.value, int | float):
            self._add(node, "constant", ast.Constant(node.value + 1))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and not _is(node.value, type(None)):
            self._add(node, "returned value", "return None")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self.visit(node.func)
        for number, keyword in enumerate(node.keywords):
            if keyword.arg and keyword.arg not in _SAYS_WHAT_MUST_BE:
                new = copy.deepcopy(node)
                del new.keywords[number]
                self._add(node, f"argument {keyword.arg} left out", new)
                self.visit(keyword.value)
        for argument in node.args:
            self.visit(argument)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._add(node, "statement left out", "pass")
        self.generic_visit(node)


def _is(node: ast.expr, kind: type) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, kind)


def drawn(seed: int, number: int, root: Path = ROOT) -> list[Mutant]:
    """So many mutants of different lines, each line as likely as another."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for path in sorted((root / "src" / "cimento").rglob("*.py")):
        sites = _Sites(str(path.relative_to(root)))
        sites.visit(ast.parse(path.read_text(encoding="utf-8")))
        for mutant in sites.mutants:
            by_line.setdefault((mutant.path, mutant.start[0]), []).append(mutant)
    chance = random.Random(seed)  # noqa: S311  # nothing is kept secret with it
    return [chance.choice(by_line[line]) for line in chance.sample(list(by_line), number)]
