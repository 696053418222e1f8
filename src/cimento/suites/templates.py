"""Suites to start from: a few examples in the right shape, to be replaced in a spreadsheet."""

from __future__ import annotations

from pathlib import Path

from cimento.errors import StorageError, UsageError, did_you_mean
from cimento.io.files import write_bytes, write_text
from cimento.suites.workbooks import write_workbook

_FOLDER = Path(__file__).parents[1] / "data" / "templates"
_NAME_LINE = 'name = "my-suite"\n'

_TABLES = ("items", "seeds")


def new_suite(kind: str, folder: Path, *, workbook: bool = False, canary: str = "") -> list[Path]:
    """Write a suite to fill in; its name is that of the folder.

    Args:
        kind: name of a template: match and mismatch, two factors, good and bad, any conditions;
            blanks in items that are written out, or made with seeds.
        folder: where to write; must not exist, or be empty.
        workbook: write tables as ``.xlsx`` instead of ``.tsv``, all cells as text.
        canary: by which the suite is known in training data, see `cimento.suites.model`.

    Returns:
        The files written.

    Raises:
        UsageError: there is no such kind.
        StorageError: the folder has something in it, or cannot be written.
    """
    known = sorted(path.name for path in _FOLDER.iterdir())
    if kind not in known:
        raise UsageError(
            where=f"kind {kind!r}",
            seen="there is no such template",
            todo=did_you_mean(kind, known),
        )
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise StorageError(
            where=str(folder), seen="exists already", todo="Choose another name for the suite."
        )
    toml = (_FOLDER / kind / "suite.toml").read_text(encoding="utf-8")
    written = [
        write_text(toml.replace(_NAME_LINE, _name_lines(folder, canary)), folder / "suite.toml")
    ]
    for name in _TABLES:
        source = _FOLDER / kind / f"{name}.tsv"
        if source.exists():
            text = source.read_text(encoding="utf-8")
            table = folder / f"{name}{'.xlsx' if workbook else '.tsv'}"
            rows = [line.split("\t") for line in text.splitlines()]
            data = write_workbook(rows, sheet=name) if workbook else text.encode()
            written.append(write_bytes(data, table))
    return written


def _name_lines(folder: Path, canary: str) -> str:
    """The lines of suite.toml with the suite's name and canary, quoted as TOML wants it."""
    import tomli_w

    name = {"name": folder.resolve().name or "my-suite"}
    return tomli_w.dumps(name | ({"canary": canary} if canary else {}))
