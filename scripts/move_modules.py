"""Move modules between packages and rewrite everything that names them; nothing else changes.

    python scripts/move_modules.py MOVES

Each line of MOVES is a dotted name and the one that takes its place:
``cimento.runs.store cimento.records.store``. The files are moved with git, a module that becomes a
package goes into its ``__init__.py``. Imports, dotted names in strings and comments, and paths such
as ``runs/store.py`` are rewritten in all Python files and pages; ruff puts the imports in order.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ("*.py", "*.md", "*.toml", "*.sh", "*.yml", "Makefile", "*.tsv", "*.pyi", "*.schema.json")
UNTOUCHED = ("CHANGELOG.md", "scripts/move_modules.py")


def main() -> None:
    """Carry out the moves of the file that is named on the command line."""
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    moves = dict(line.split() for line in lines if line.strip())
    packages = {name for name in moves if _place(name).is_dir()}
    for old, new in moves.items():
        _move(_place(old), new, whole=old in packages, inner=_parents(moves.values()))
    listed = subprocess.run(  # noqa: S603  # our own tool
        ["git", "ls-files", *WRITTEN],  # noqa: S607  # whichever git there is
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    for name in listed.stdout.splitlines():
        if name not in UNTOUCHED and (ROOT / name).is_file():
            before = (ROOT / name).read_text(encoding="utf-8")
            after = rewritten(before, moves, packages, _parents(moves.values()))
            if after != before:
                (ROOT / name).write_text(after, encoding="utf-8")


def rewritten(text: str, moves: dict[str, str], packages: set[str], parents: frozenset[str]) -> str:
    """A text with the new names of modules.

    Args:
        text: of a Python file or a page.
        moves: the dotted names of modules, each with its new one.
        packages: those of them that are folders.
        parents: the packages into which something moves.
    """
    longest = sorted(moves, key=len, reverse=True)
    for old in longest:
        package, _, name = old.rpartition(".")
        new_package, _, new_name = moves[old].rpartition(".")
        renamed = new_name if new_name == name else f"{new_name} as {name}"
        text = re.sub(
            rf"from {re.escape(package)} import {name}(?: as (\w+))?$",
            lambda found, renamed=renamed, new=(new_package, new_name): (
                f"from {new[0]} import {new[1]} as {found[1]}" if found[1]
                else f"from {new[0]} import {renamed}"
            ),
            text,
            flags=re.MULTILINE,
        )  # fmt: skip
    dotted = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b(?!\.(?:md|html))")
    text = dotted.sub(lambda found: moves[found[0]], text)
    paths = {_file(old, is_folder=False): _file(new, is_folder=new in parents)
             for old, new in moves.items() if old not in packages}  # fmt: skip
    either = sorted(paths, key=len, reverse=True)
    path = re.compile(rf"(?<![\w/-])((?:src/cimento/)?)({'|'.join(map(re.escape, either))})\b")
    return path.sub(lambda found: found[1] + paths[found[2]], text)


def _place(name: str) -> Path:
    folder = ROOT / "src" / Path(*name.split("."))
    return folder if folder.is_dir() else folder.with_suffix(".py")


def _file(name: str, *, is_folder: bool) -> str:
    inside = name.removeprefix("cimento.").replace(".", "/")
    return f"{inside}/__init__.py" if is_folder else f"{inside}.py"


def _parents(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.rpartition(".")[0] for name in names)


def _move(old: Path, new: str, *, whole: bool, inner: frozenset[str]) -> None:
    """Move a file or, where the whole package moves, its folder; make the packages it needs."""
    target = ROOT / "src" / Path(*new.split("."))
    if whole:
        target.parent.mkdir(parents=True, exist_ok=True)
    else:
        package = target if new in inner else target.parent
        target = target / "__init__.py" if new in inner else target.with_suffix(".py")
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        if new in inner:  # it takes the place of the empty file that an earlier move made
            (package / "__init__.py").unlink()
    subprocess.run(["git", "mv", str(old), str(target)], cwd=ROOT, check=True)  # noqa: S603, S607  # our own tool


if __name__ == "__main__":
    main()
