"""The language of a page: what its texts are in it, and how numbers are written.

A page is made in English, and each text that is not its author's is then given in the language of
the page. What is not known in it stays English, and is marked as English for screen readers.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from markupsafe import Markup

from cimento.report.formatting import with_minus

if TYPE_CHECKING:
    from cimento.report.figures import Figure, VegaSpec
    from cimento.report.grid import Grid

ENGLISH_CODE = "en"
_MARKS = str.maketrans({",": "\N{NARROW NO-BREAK SPACE}", ".": ","})
"""Marks of numbers in English, and in other languages (ISO 80000-1)."""
_ENDS = re.compile(r"\[([-−+\d.,e]+), ([-−+\d.,e]+)\]")
_NUMBER = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d+(?:e[-+]\d+)?|(?<=\d))(?![\w]|\.\d)"
)
_READ = "Read as "
"""The beginning of what cimento says of how it has read a table."""
_HAS_NAME = re.compile(r"[^\W\d_]{2}")


def _in_english(text: str) -> str:
    return Markup('<span lang="en">{}</span>').format(with_minus(text))


class Told(str):
    """A text that is in the language of the page already, or a name."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class PageLanguage:
    """The language of a page.

    Attributes:
        code: ISO 639-1 code.
        known: gives a text of cimento in the language; None where it is not known.
        label: the same for a text that may be a name too, such as the heading of a column: nothing
            but whole texts of cimento is given.
        grid: gives a table whose columns decide what the words of cimento in it are; None for none.
    """

    code: str
    known: Callable[[str], str | None]
    label: Callable[[str], str | None]
    grid: Callable[[Grid], Grid] | None = None

    def told(self, grid: Grid) -> Grid:
        """A table in the language; its cells and headings are as they were where it is not."""
        return grid if self.grid is None else self.grid(grid)

    def say(self, text: str) -> str:
        """A text in the language; in English, marked as such, where it is not known."""
        if self.code == ENGLISH_CODE or not text or isinstance(text, Told):
            return with_minus(text)
        told = self.known(text)
        return _in_english(text) if told is None else with_minus(told)

    def plain(self, text: str) -> str:
        """A text in the language without a mark, for attributes; in English if it is not known."""
        is_english = text and not isinstance(text, Told) and self.code != ENGLISH_CODE
        told = self.known(text) if is_english else None
        return with_minus(text if told is None else told)

    def of_suite(self, text: str) -> str:
        """What a suite says of itself: in the language if cimento wrote it, else as it is."""
        is_english = text.startswith(_READ) and self.code != ENGLISH_CODE
        return _in_english(text) if is_english else self.plain(text)

    def numbers(self, text: str) -> str:
        """A text of numbers as the language writes them: ``[0,5; 1 200]``."""
        if self.code == ENGLISH_CODE:
            return text
        parted = _ENDS.sub(r"[\1; \2]", text)
        return _NUMBER.sub(_number, parted)

    def named(self, text: str) -> str:
        """A text that may be a name, which stays as it is."""
        return text if self.code == ENGLISH_CODE else self.label(text) or text

    def header(self, text: str) -> str:
        """The name of a column, which may be a name with a word before it: *only demo-causal*."""
        return (self.known(text) if " " in text else None) or self.named(text)

    def cell(self, text: str) -> str:
        """A cell of a table: a text of cimento, numbers, or a name."""
        if self.code == ENGLISH_CODE:
            return text
        has_name = _HAS_NAME.search(text)
        return self.label(text) or (text if has_name else with_minus(self.numbers(text)))


def _number(match: re.Match[str]) -> str:
    """A number with the marks of other languages than English, and with a digit before them."""
    digits = f"0{match[0]}" if match[0].startswith(".") else match[0]
    return digits.translate(_MARKS)


def _as_it_is(text: str) -> str:
    return text


ENGLISH = PageLanguage(ENGLISH_CODE, _as_it_is, _as_it_is)


# --- Figures

_TITLES = ("title", "subtitle", "description")
_DATA = ("data", "datasets", "values")
_TOLD_DATA = re.compile(r"[\d,]+ of [\d,]+|one answer for all|(?:.+: )?\S+ over \S+")
"""The texts of cimento in the data of figures; all others there are names."""
_NUMBERS = {"decimal": ",", "thousands": "\N{NARROW NO-BREAK SPACE}", "grouping": [3],
            "currency": ["", ""]}  # fmt: skip
"""How figures write numbers in other languages than English (the locale of d3-format)."""


def figure_in(figure: Figure, language: PageLanguage) -> Figure:
    """The figure with its titles and the numbers of its axes in a language; names stay.

    Args:
        figure: a figure in English.
        language: the language.
    """
    if language.code == ENGLISH_CODE:
        return figure
    spec = cast("VegaSpec", _told(figure.spec, language, figure.title))
    spec = cast("VegaSpec", _with_labels(spec, {one: language.named(one) for one in figure.words}))
    config = {**cast("VegaSpec", spec.get("config", {})), "locale": {"number": _NUMBERS}}
    return replace(
        figure, title=Told(language.plain(figure.title)), spec={**spec, "config": config}
    )


def _told(part: object, language: PageLanguage, whole: str) -> object:
    """A part of a specification whose titles, and names of sides, are in a language."""
    if isinstance(part, list):
        return [_told(one, language, whole) for one in part]
    if not isinstance(part, Mapping):
        return part
    made = {
        key: _title(value, language, whole)
        if key in _TITLES
        else _told_data(value, language)
        if key in (*_DATA, "sort")
        else _told(value, language, whole)
        for key, value in part.items()
    }
    if made.get("field") == "side" and isinstance(scale := made.get("scale"), Mapping):
        names = {name: language.named(name) for name in cast("Sequence[str]", scale["domain"])}
        made["legend"] = {"labelExpr": f"({json.dumps(names)})[datum.label] || datum.label"}
    return made


_LABELED = {"x": "axis", "y": "axis", "row": "header", "column": "header"}
"""What has the labels of the names on a channel."""


def _with_labels(part: object, names: Mapping[str, str], channel: str = "") -> object:
    """A part of a specification whose axes and panels call what is in the data by other names."""
    if not names or not isinstance(part, Mapping | list):
        return part
    if isinstance(part, list):
        return [_with_labels(one, names) for one in part]
    made = {key: _with_labels(one, names, key) for key, one in part.items() if key not in _DATA}
    place = _LABELED.get(channel)
    if place and "field" in part and not names.keys().isdisjoint(part.get("sort") or ()):
        told = json.dumps(names, ensure_ascii=False)
        labels = f"({told})[datum.label] || (datum.label)"  # Vega-Lite puts a conditional there
        made[place] = {"labelExpr": labels, **cast("VegaSpec", made.get(place) or {})}
    return {key: made.get(key, one) for key, one in part.items()} | made


def _told_data(part: object, language: PageLanguage) -> object:
    """Data of a figure with `_TOLD_DATA` in a language."""
    if isinstance(part, list):
        return [_told_data(one, language) for one in part]
    if isinstance(part, Mapping):
        return {key: _told_data(value, language) for key, value in part.items()}
    is_ours = isinstance(part, str) and _TOLD_DATA.fullmatch(part)
    return language.plain(str(part)) if is_ours else part


def _title(title: object, language: PageLanguage, whole: str) -> object:
    """A title of one line or of several, or with a line below it."""
    if isinstance(title, str):
        return language.plain(title) if " " in title else language.named(title)
    if isinstance(title, Mapping):
        return {key: _title(line, language, whole) if key in ("text", *_TITLES) else line
                for key, line in title.items()}  # fmt: skip
    return _told_lines(title, language, whole) if isinstance(title, list) else title


def _told_lines(lines: Sequence[object], language: PageLanguage, whole: str) -> list[object]:
    """Lines in a language: those into which one text was broken are told as one, broken again."""
    told: list[object] = []
    for part in _parted(lines, language, whole):
        if len(part) == 1:
            told.append(_title(part[0], language, whole))
        else:
            width = max(len(str(line)) for line in part)
            text = language.plain(" ".join(map(str, part)))
            told += textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return told


def _parted(lines: Sequence[object], language: PageLanguage, whole: str) -> list[Sequence[object]]:
    """Lines by the text that they were broken from.

    Of all ways to part them, that which leaves the fewest lines untold; then the one with the most
    texts that are between semicolons in the title of the whole figure, and the most texts.
    """
    best: list[tuple[tuple[int, int, int], list[Sequence[object]]]] = [((0, 0, 0), [])]
    for end in range(1, len(lines) + 1):
        ways = []
        for begin in range(end):
            part = lines[begin:end]
            text = " ".join(map(str, part))
            is_told = all(isinstance(o, str) for o in part) and language.known(text) is not None
            if is_told or len(part) == 1:
                (untold, named, texts), before = best[begin]
                is_named = f"; {text}; " in f"; {whole}; "
                score = (untold + (not is_told), named - is_named, texts - 1)
                ways.append((score, [*before, part]))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]
