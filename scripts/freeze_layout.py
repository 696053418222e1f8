"""What a command printed and stored, as lines that can be read and compared (scripts/freeze.py)."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from cimento.suites import JsonValue

ROOT = Path(__file__).parents[1]

FIRST_ROWS = 3
FIRST_LINES = 30
FIRST_CELLS = 4
"""Lines of long CSV files, header included."""

CELLS = (".csv", ".tsv")
MOST_VALUES = 8
FIRST_VALUES = 2
WIDTH = 240
LONG = 80
"""Parts of this many characters are written once in all files of a case."""


class Layout:
    """Outputs as lines that can be read and compared.

    Args:
        exact: whether floats enter digests, rounded to six significant digits.

    Attributes:
        name: of the file that is being made: what is in an earlier one is not written again.
    """

    def __init__(self, *, exact: bool) -> None:
        self.name = ""
        self._exact = exact
        self._seen: dict[str, str] = {}

    def output(self, text: str) -> str:
        """What a command printed: JSON laid out anew, anything else as it is."""
        try:
            value = json.loads(text)
        except ValueError:
            return normalized(text)
        return self.json(_plain(value)) if isinstance(value, dict | list) else normalized(text)

    def file(self, path: Path) -> str:
        """A file by its form: a table, JSON, lines of JSON, a page, text."""
        import polars as pl

        if path.suffix == ".parquet":
            return self.table(pl.read_parquet(path))
        data = path.read_bytes()
        if data.startswith((b"PK", b"\x89")):
            return f"{path.suffix.removeprefix('.')} file"
        text = data.decode("utf-8")
        if path.suffix in (".json", ".eval"):
            return self.json(_plain(json.loads(text)))
        if path.suffix == ".jsonl":
            rows = [_plain(json.loads(line)) for line in text.splitlines()]
            return "\n".join(
                [f"{len(rows)} lines, digest {self._digest(rows)}", *map(self.json, rows[:1])]
            )
        if path.suffix == ".html":
            text = page_text(text)
        return self._lines(normalized(text), FIRST_CELLS if path.suffix in CELLS else FIRST_LINES)

    def table(self, table: pl.DataFrame) -> str:
        """Number of rows, a digest of each column, the first rows as CSV."""
        lines = [f"{table.height} rows; column, type, undefined, digest:"]
        for series in table:
            values = series.to_list()
            nulls = sum(value is None for value in values)
            kind = str(series.dtype).split("(")[0]
            lines.append(f"  {series.name}  {kind}  {nulls}  {self._digest(values)}")
        rows = table.head(FIRST_ROWS).iter_rows()
        lines += ["  | " + " | ".join(map(_cell, row)) for row in rows]
        return "\n".join(lines)

    def json(self, value: JsonValue, indent: str = "") -> str:
        """JSON in which what is short is in one line, and of long lists the beginning."""
        line = json.dumps(value, ensure_ascii=False, sort_keys=True)
        if len(line) >= LONG:
            file = self._seen.setdefault(line, "")
            if file:
                above = "above" if file == self.name else f"in {file}"
                return f"as {above}, digest {self._digest([value])}"
            self._seen[line] = self.name
        if len(indent) + len(line) <= WIDTH:
            return line
        inner = indent + " "
        if isinstance(value, dict):
            parts = [f"{_text(key)}: {self.json(value[key], inner)}" for key in sorted(value)]
            return "\n".join(["{", *(inner + part for part in parts), indent + "}"])
        if isinstance(value, list):
            first = len(value) if len(value) <= MOST_VALUES else FIRST_VALUES
            parts = [self.json(element, inner) for element in value[:first]]
            rest = value[first:]
            if rest:
                parts.append(f"... {len(rest)} more, digest {self._digest(rest)}")
            return "\n".join(["[", *(inner + part for part in parts), indent + "]"])
        return line

    def _lines(self, text: str, first: int) -> str:
        lines = text.splitlines()
        if len(lines) <= first * 3 // 2:
            return text
        shown, rest = lines[:first], lines[first:]
        return "\n".join([*shown, f"... {len(rest)} more lines, digest {self._digest(rest)}"])

    def _digest(self, values: Sequence[object]) -> str:
        text = json.dumps(self._rounded(values), ensure_ascii=False, default=str, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def _rounded(self, value: object) -> object:
        if isinstance(value, float):
            return f"{value:.6g}" if self._exact else "#"
        if isinstance(value, str):
            text = normalized(value)
            return FLOAT.sub(lambda number: str(self._rounded(float(number[0]))), text)
        if isinstance(value, dict):
            return {str(key): self._rounded(child) for key, child in value.items()}
        if isinstance(value, list | tuple):
            return [self._rounded(element) for element in value]
        return value


# --- What varies, and what is only form

PACKAGES = ("cimento", "icu4py", "python", "Python", "numpy", "polars", "scipy", "tokenizers",
            "torch", "transformers")  # fmt: skip
EPOCHS = (1.6e9, 2.6e9)
"""Seconds since 1970 that are times of our days, where a float is one."""

FLOAT = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?(?![\d.])")

_VARIES = (
    # A line of progress, where a run took longer than ten seconds.
    (re.compile(r"(?m)^cimento: .* x .*: \d+ of \d+ texts.*\n"), ""),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"), "UUID"),
    (re.compile(r"(?<!\d)\d{4}(?:-\d\d){2}[T ]\d\d(?:[:-]\d\d){2}(?:\.\d+)?"
                r"(?:Z|[+-]\d\d[:-]?\d\d)?"),
     "TIME"),
    (re.compile(r"\b(?:1[6-9]|2[0-5])\d{8}\.\d+"), "TIME"),
    (re.compile(r"--[0-9a-f]{8}\b"), "--POLICY"),
    (re.compile(r"(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}(?![0-9a-z])"), "HEX"),
    (re.compile(r"\b(?:runs|cached|resumed|spread)/"), "RUNS/"),
    (re.compile(rf"\b({'|'.join(PACKAGES)})"
                r"((?:==| |\", ?\"|\": ?\"|@))v?\d+(?:\.\w+)+(?:\+\w+)?"), r"\1\2VERSION"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|seconds)\b"), "N s"),
)  # fmt: skip


def normalized(text: str) -> str:
    """A text without what differs between days, machines and versions."""
    text = text.replace(os.getcwd(), "WORK").replace(str(ROOT), "ROOT")  # noqa: PTH109  # as text
    for pattern, name in _VARIES:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def page_text(html: str) -> str:
    """The text of a page: a line for each block, cells of a row in one, no script and no style."""
    html = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", r"<!-- \1 -->", html)
    html = re.sub(r"(?s)<!--.*?-->", "", html)
    html = re.sub(r"\s+", " ", html)
    html = re.sub(r"</t[dh]>", " | ", html)
    html = re.sub(
        r"</(?:p|h\d|tr|li|div|section|table|caption|summary|figcaption|dt|dd)>", "\n", html
    )
    text = "\n".join(line.strip() for line in re.sub(r"<[^>]*>", "", html).split("\n"))
    text = re.sub(rf"(?m)^(versions (?:{'|'.join(PACKAGES)}))\n+\S+$", r"\1\nVERSION", text)
    lines = text.split("\n")
    # When runs were made is there once for all where that is the same second.
    return re.sub(r"(?m)^created\n.*\n", "", "\n".join(line for line in lines if line))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(value: JsonValue) -> JsonValue:
    """A value with floats of twelve significant digits and normalized texts."""
    if isinstance(value, float):
        return "TIME" if EPOCHS[0] < value < EPOCHS[1] else float(f"{value:.12g}")
    if isinstance(value, str):
        return normalized(value)
    if isinstance(value, dict):
        return {
            normalized(key): "VERSION"
            if key in PACKAGES and isinstance(child, str)
            else _plain(child)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [_plain(element) for element in value]
    return value


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.12g}" if isinstance(value, float) else normalized(str(value))
