"""Hold the size ceilings: files of 500 lines, functions of 50.

A longer one needs a comment ``# size: <reason>``, on the first line of the file or in the line
above the function.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from shape.source import functions, length

MAX_FILE = 500
MAX_FUNCTION = 50
FOLDERS = ("src", "tests", "scripts", "benchmarks")


def too_long(path: Path) -> Iterator[str]:
    """What is over a ceiling in one file, as messages."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > MAX_FILE and "# size:" not in lines[0]:
        yield f"{path}: {len(lines)} lines (at most {MAX_FILE})"
    for node in functions(ast.parse(text)):
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if length(node) > MAX_FUNCTION and "# size:" not in lines[first - 2]:
            place = f"{path}:{node.lineno}: {node.name}"
            yield f"{place} has {length(node)} lines (at most {MAX_FUNCTION})"


def main() -> int:
    """Check every Python file of the project."""
    root = Path(__file__).parents[1]
    messages = [
        message
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        for message in too_long(path.relative_to(root) if Path.cwd() == root else path)
    ]
    for message in messages:
        print(message)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
