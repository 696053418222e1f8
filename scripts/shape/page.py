"""The table of packages on the page about size: written from counts, and compared with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

START, END = "<!-- shape: start -->", "<!-- shape: end -->"
CONTENTS = {
    "paradigms": "the five kinds of test",
    "models": "transformers, servers, n-grams, recordings; exchanged states, gradients",
    "suites": "items, formulas, checks, file formats",
    "cli": "commands",
    "studies": "published studies, recomputed",
    "corpus": "treebanks, queries, morphology, grammars",
    "people": "surveys, annotation, reading times",
    "report": "reports and figures",
    "statistics": "intervals, tests, mixed models",
    "app": "the local app",
    "engine": "requests, units, workers, cache",
    "evaluation": "suites put to models: jobs, plans, repeats",
    "kinds": "what a kind of test is, and a run",
    "judgments": "answers of people, as survey programs export them",
    "compare": "comparisons",
}
"""Packages with a row of their own; the others share the last row."""
OTHERS, ALL = "all others", "**all**"
TOLERANCE = 0.05
"""The share by which a number on the page may be off, so that the page outlives small changes."""

Size = tuple[int, int]
"""Lines of code and files."""

_ROW = re.compile(
    r"^\| (?P<name>[^|]+) \| [^|]* \| (?P<lines>[\d,]+) \| (?P<files>\d+) \|$", re.MULTILINE
)


def rows(packages: Mapping[str, Size]) -> dict[str, Size]:
    """The rows of the table: packages from the largest to the smallest, the others, and all.

    Args:
        packages: the size of each package by its name.
    """
    named = {f"`{name}/`": packages[name] for name in CONTENTS if name in packages}
    shown = dict(sorted(named.items(), key=lambda row: -row[1][0]))
    others = [size for name, size in packages.items() if name not in CONTENTS]
    return {**shown, OTHERS: _total(others), ALL: _total(packages.values())}


def _total(sizes: Collection[Size]) -> Size:
    """The sums of lines and of files."""
    return sum(lines for lines, _ in sizes), sum(files for _, files in sizes)


def table(packages: Mapping[str, Size]) -> str:
    """The table as Markdown, with lines rounded to hundreds."""
    head = ["| package | contents | lines | files |", "|---|---|--:|--:|"]
    body = [
        f"| {name} | {CONTENTS.get(name.strip('`/'), '')} | {round(lines, -2):,} | {files} |"
        for name, (lines, files) in rows(packages).items()
    ]
    return "\n".join([*head, *body])


def written(text: str, packages: Mapping[str, Size]) -> str:
    """The text of the page with today's table between its marks."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table(packages)}\n{END}{after}"


def outdated(text: str, packages: Mapping[str, Size]) -> list[str]:
    """The rows of the page that are missing, too many, or off by more than the tolerance."""
    shown = {
        row["name"]: (int(row["lines"].replace(",", "")), int(row["files"]))
        for row in _ROW.finditer(text.partition(START)[2].partition(END)[0])
    }
    today = rows(packages)
    return [
        f"{name}: {shown.get(name)} on the page, {today.get(name)} today (lines, files)"
        for name in dict.fromkeys([*today, *shown])
        if name not in shown or name not in today or not _are_near(shown[name], today[name])
    ]


def _are_near(shown: Size, today: Size) -> bool:
    """Whether two sizes are equal within the tolerance, or within a hundred lines and two files."""
    return all(
        abs(old - new) <= max(least, TOLERANCE * new)
        for old, new, least in zip(shown, today, (100, 2), strict=True)
    )
