"""Draw the rooms of the package and which imports which, into ARCHITECTURE.md, as Mermaid.

Usage: python scripts/picture.py [--check]

With --check nothing is written; exit code 1 where the picture is not that of the code.
All imports count, those for typing and inside functions too. Rooms on which all stand, and the
command line, which may call any, are left out, and so is an arrow that others imply. The table of
rooms lists callers before those they call; an import of a room that stands higher is a fault.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "cimento"
PAGE = ROOT / "ARCHITECTURE.md"
GROUND = {"_version", "errors", "faults", "intake", "io", "suites"}
"""What any room imports."""
TOP = {"__init__", "__main__", "cli"}
"""What may import any room."""
_PICTURE = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)

Arrow = tuple[str, str]


def rooms() -> list[str]:
    """The packages and modules at the top of the package."""
    names = {path.stem for path in PACKAGE.glob("*.py")}
    names |= {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return sorted(names - {"__init__", "__main__", "_version"})


def listed() -> list[str]:
    """The rooms as the table of the page has them, from those who call to those who are called."""
    return re.findall(r"^\| `(\w+)(?:/|\.py)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@functools.cache
def imports() -> Counter[Arrow]:
    """How many imports of one room are in another, as pairs of who imports and what."""
    arrows: Counter[Arrow] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        for imported in _imported(ast.parse(path.read_text(encoding="utf-8"))):
            if room != imported and room not in TOP and imported not in GROUND | TOP:
                arrows[room, imported] += room not in GROUND
    return +arrows


def _imported(module: ast.Module) -> Iterator[str]:
    """The rooms that a module imports anywhere in it."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            package, _, rest = (node.module or "").partition(".")
            if package == "cimento":
                yield from [rest.split(".")[0]] if rest else (name.name for name in node.names)


def reduced(arrows: set[Arrow]) -> set[Arrow]:
    """The arrows without those that a chain of others implies."""
    kept = set(arrows)
    for arrow in sorted(arrows):
        if _leads(kept - {arrow}, *arrow):
            kept.remove(arrow)
    return kept


def _leads(arrows: set[Arrow], start: str, end: str) -> bool:
    """Whether a chain of arrows leads from one room to another."""
    seen, front = {start}, {start}
    while front:
        front = {to for came, to in arrows if came in front} - seen
        seen |= front
    return end in seen


def picture() -> str:
    """The rooms and their imports as Mermaid."""
    arrows = imports()
    along = reduced(set(arrows))
    named = sorted({room for arrow in arrows for room in arrow})
    return "\n".join(
        [
            "flowchart TD",
            *(f"  {room}" for room in named),
            *(f"  {room} --> {other}" for room, other in sorted(along)),
            "",
        ]
    )


def main() -> int:
    """Write the picture, or say whether it is that of the code."""
    text = PAGE.read_text(encoding="utf-8")
    faults = [f"{room}: no line in {PAGE.name}" for room in rooms() if room not in listed()]
    faults += [
        f"{room}: is not a room any more" for room in listed() if room not in [*rooms(), "data"]
    ]
    place = {room: number for number, room in enumerate(listed())}
    faults = faults or [
        f"{room} imports {other}, which is above it in {PAGE.name}"
        for room, other in sorted(imports())
        if place[room] > place[other]
    ]
    if faults:
        print("\n".join(faults))
        return 1
    drawn = _PICTURE.sub(lambda _: picture(), text)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(drawn, encoding="utf-8")
        return 0
    if drawn != text:
        print(f"{PAGE.name}: not the picture of the code; python scripts/{Path(__file__).name}")
    return int(drawn != text)


if __name__ == "__main__":
    sys.exit(main())
