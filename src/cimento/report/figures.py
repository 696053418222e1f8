"""Figures, each with its data frame and its Vega-Lite spec, which can be written in five forms."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias, cast, overload

from cimento.errors import MissingDependencyError, UsageError, needing
from cimento.io.files import write_bytes, write_text
from cimento.io.inline_markup import exchanged
from cimento.report.figure_room import with_room

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

VegaSpec: TypeAlias = Mapping[str, object]
"""A figure in the grammar Vega-Lite."""

BLUE, ORANGE, GRAY = "#0072b2", "#d55e00", "#767676"
"""Two colors that color-blind readers can tell apart (Okabe and Ito 2008), and one for marks."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
TEXT_SIZE = 11
"""Size of the smallest text of a figure, in pixels."""
_TEXTS = {"labelFontSize": TEXT_SIZE, "titleFontSize": TEXT_SIZE}
LOOK: VegaSpec = {
    "background": "white",
    "font": "sans-serif",
    "title": {"anchor": "start", "fontSize": 12, "subtitleFontSize": 11,
              "subtitleColor": "#333333"},
    "axis": _TEXTS, "legend": {**_TEXTS, "labelLimit": 0}, "header": _TEXTS,
    "padding": {"left": 5, "top": 5, "right": 24, "bottom": 5},
    "text": {"fontSize": TEXT_SIZE},
}  # fmt: skip

PNG_SCALE = 2.0
"""PNG pixels per unit of the figure."""


def frame_of(rows: Iterable[Sequence[object]], **columns: type) -> pl.DataFrame:
    """The data frame of a figure.

    Args:
        rows: cells of each row, in the order of the columns.
        columns: type of each column: ``str``, ``int`` or ``float``.
    """
    import polars as pl

    return pl.DataFrame(list(rows), schema=columns, orient="row")


def nominal(field: str, *, sort: Sequence[str], **settings: object) -> VegaSpec:
    """An encoding of names in a given order, without a title.

    Args:
        field: the column of the names.
        sort: the names in their order.
        settings: further settings of the encoding.
    """
    return {"field": field, "type": "nominal", "sort": list(sort), "title": None, **settings}


def in_lines(names: Iterable[str], most: int) -> VegaSpec:
    """Settings of an axis or a header that show names whole, in lines that end at signs or blanks.

    Args:
        names: of models or suites.
        most: letters in a line, unless there is no sign in more.
    """
    lines = json.dumps({name: _lines(name, most) for name in names})
    return {"labelLimit": 0, "labelExpr": f"({lines})[datum.label] || (datum.label)"}


def _lines(name: str, most: int) -> list[str]:
    lines = [""]
    for part in re.split(r"(?<=[-/_.:@ ])", name):
        if lines[-1] and len(lines[-1] + part) > most:
            lines.append("")
        lines[-1] += part
    return lines


def quantitative(field: str, **settings: object) -> VegaSpec:
    """An encoding of numbers.

    Args:
        field: the column of the numbers.
        settings: further settings of the encoding, such as its title.
    """
    return {"field": field, "type": "quantitative", **settings}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that has not been drawn yet.

    Attributes:
        name: name by which users ask for it.
        title: what the figure shows, in one sentence; also its text alternative.
        frame: the numbers in the figure.
        spec: the Vega-Lite specification, including the numbers.
        is_secondary: whether a page shows it only to readers who ask for it.
        words: the texts in its data that are cimento's, and not names.
    """

    name: str
    title: str
    frame: pl.DataFrame
    spec: VegaSpec
    is_secondary: bool = False
    words: tuple[str, ...] = ()

    def dressed(
        self,
        *,
        title: str = "",
        names: Mapping[str, str] | None = None,
        font_size: int | None = None,
        gray: bool = False,
    ) -> Figure:
        """The figure with the user's title and names, for print.

        Args:
            title: title that replaces the figure's own; a line below it, such as the error bars',
                stays.
            names: names of suites, models, conditions and axes, each mapped to the one to show.
            font_size: size of all texts, in points.
            gray: whether to draw without colors; different lines and marks remain distinct.
        """

        def new(text: str) -> str:
            return exchanged(text, names or {})

        known: object = self.spec
        if font_size is not None:
            by = font_size / TEXT_SIZE

            def scaled(key: str, value: object) -> object:
                if isinstance(value, int | float) and key.lower().endswith("fontsize"):
                    return round(value * by)
                return value

            known = _merged({"config": _fonts(font_size)}, _changed(known, scaled))
        spec = cast("VegaSpec", _named(_changed(known, _gray) if gray else known, new))
        heading = spec.get("title")
        if title:
            spec = {
                **spec,
                "title": {**heading, "text": title} if isinstance(heading, dict) else title,
            }
        return replace(self, spec=spec, title=title or new(self.title))

    @property
    def texts(self) -> list[str]:
        """Every text that the figure shows."""
        seen = [self.title]

        def noted(text: str) -> str:
            seen.append(text)
            return text

        _named(self.spec, noted)
        return seen

    def svg(self) -> str:
        """The figure as SVG, with room for its labels in any font.

        Raises:
            UsageError: the figure cannot be drawn.
            MissingDependencyError: vl-convert-python is not installed.
        """
        return with_room(str(self._converted("svg")))

    def png(self) -> bytes:
        """The figure as PNG, two pixels for each unit.

        Raises:
            UsageError: the figure cannot be drawn.
            MissingDependencyError: vl-convert-python is not installed.
        """
        return cast("bytes", self._converted("png", scale=PNG_SCALE))

    def pdf(self) -> bytes:
        """The figure as PDF.

        Raises:
            UsageError: the figure cannot be drawn.
            MissingDependencyError: vl-convert-python is not installed.
        """
        return cast("bytes", self._converted("pdf"))

    def _converted(self, form: str, **options: float) -> object:
        convert = getattr(_convert(), f"vega_to_{form}")
        try:
            return convert(_vega(cast("VegaSpec", _in_one_line(self.spec))), **options)
        except (RuntimeError, ValueError) as error:
            raise UsageError(
                where=f"figure {self.name}",
                seen=f"it cannot be drawn ({str(error).splitlines()[0]})",
                todo="Its numbers can be written as .csv, its spec as .json.",
            ) from error

    def write(self, path: Path) -> Path:
        """Write a figure (``.svg``, ``.png``, ``.pdf``), numbers (``.csv``) or spec (``.json``).

        Raises:
            UsageError: the ending is none of these.
            MissingDependencyError: vl-convert-python is not installed.
            StorageError: the file cannot be written.
        """
        texts: dict[str, Callable[[], str]] = {
            ".svg": self.svg, ".csv": self.frame.write_csv,
            ".json": lambda: json.dumps(self.spec, ensure_ascii=False, indent=1) + "\n",
        }  # fmt: skip
        pictures: dict[str, Callable[[], bytes]] = {".png": self.png, ".pdf": self.pdf}
        ending = path.suffix.lower()
        if ending in texts:
            return write_text(texts[ending](), path)
        if ending in pictures:
            return write_bytes(pictures[ending](), path)
        raise wrong_ending("a figure", path, (*texts, *pictures))


def wrong_ending(what: str, path: Path, endings: Iterable[str]) -> UsageError:
    """The error of a file whose ending stands for no form.

    Args:
        what: what is to be written.
        path: the file.
        endings: those that there are.
    """
    return UsageError(
        where=f"--output={path}",
        seen=f"{what} cannot be written as {path.suffix or 'a file without ending'}",
        todo=f"Use one of {', '.join(endings)}.",
    )


_GRAYS = {
    BLUE: "#1a1a1a", ORANGE: "#a6a6a6", "#009e73": "#bdbdbd", "#cc79a7": "#595959",
    "#56b4e9": "#d9d9d9", "#e69f00": "#737373",
}  # fmt: skip
_SHOWN = ("title", "subtitle", "text", "domain", "sort", "description")
_NOT_SHOWN = ("field", "type", "op", "order")


def _fonts(size: int) -> dict[str, object]:
    """Vega-Lite settings for texts that specify no size of their own."""
    both = {"labelFontSize": size, "titleFontSize": size}
    title = {"fontSize": size + 1, "subtitleFontSize": size}
    shared = dict.fromkeys(("axis", "legend", "header"), both)
    return {**shared, "title": title, "text": {"fontSize": size}}


def _merged(over: object, under: object) -> object:
    """The merged settings; those of `over` take precedence."""
    if not isinstance(over, Mapping) or not isinstance(under, Mapping):
        return over
    return {**under, **{key: _merged(value, under.get(key)) for key, value in over.items()}}


def _changed(value: object, new: Callable[[str, object], object], key: str = "") -> object:
    """A spec in which every part is replaced by what `new` makes of its key and of itself."""
    made = new(key, value)
    if made is value and isinstance(value, Mapping):
        return {name: _changed(child, new, name) for name, child in value.items()}
    if made is value and isinstance(value, list):
        return [_changed(child, new) for child in value]
    return made


def _gray(key: str, value: object) -> object:
    """A part of a spec without colors."""
    if key == "scheme":
        return "greys"
    return _GRAYS.get(value, value) if isinstance(value, str) else value


def _named(
    value: object, new: Callable[[str], str], *, shown: bool = False, data: bool = False
) -> object:
    """A spec in which displayed texts, and texts in its data, are renamed."""
    if isinstance(value, Mapping):
        return {
            key: _named(
                child,
                new,
                shown=data or ((shown or key in _SHOWN) and key not in _NOT_SHOWN),
                data=data or key in ("datasets", "values"),
            )
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [_named(child, new, shown=shown, data=data) for child in value]
    return new(value) if shown and isinstance(value, str) else value


def figure_of(chart: alt.TopLevelMixin, *, name: str, title: str, frame: pl.DataFrame) -> Figure:
    """A figure from an Altair chart, in the look that all figures share."""
    import altair as alt

    # The config is set in the chart itself, because Altair's methods for it copy the whole chart.
    themed = cast("alt.SchemaBase", chart)
    themed["config"] = alt.Config.from_dict(dict(LOOK), validate=False)
    themed["description"] = title
    spec = chart.to_dict(validate=False)
    return Figure(name=name, title=title, frame=frame, spec=spec)


def plain_figure(spec: VegaSpec, *, name: str, title: str, frame: pl.DataFrame) -> Figure:
    """A figure from a complete Vega-Lite spec, in the look that all figures share.

    Altair takes longer to build a spec than Vega takes to draw it, which is noticeable in long
    reports. So the figures that reports have for every suite are made from plain specs.
    """
    shared = {"$schema": SCHEMA, "config": LOOK, "description": title, "title": title}
    return Figure(name=name, title=title, frame=frame, spec={**shared, **spec})


class Drawables(Sequence["Figure"]):
    """The figures that have something to draw, made when the first of them is needed.

    Args:
        makers: functions, each of which makes one figure.
        after: figures that follow.
    """

    def __init__(
        self, makers: Sequence[Callable[[], Figure]], after: Sequence[Figure] = ()
    ) -> None:
        self._makers, self._after = tuple(makers), after

    @functools.cached_property
    def _made(self) -> tuple[Figure, ...]:
        drawn = []
        for make in self._makers:
            try:
                with _unchecked():
                    drawn.append(make())
            except UsageError:
                continue  # nothing to draw; the text of the page gives the reason
            except MissingDependencyError:
                return ()
        return (*drawn, *self._after)

    @overload
    def __getitem__(self, place: int) -> Figure: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Figure, ...]: ...
    def __getitem__(self, place: int | slice) -> Figure | tuple[Figure, ...]:
        return self._made[place]

    def __len__(self) -> int:
        return len(self._made)


def drawable(*makers: Callable[[], Figure], after: Sequence[Figure] = ()) -> Drawables:
    """The figures that have something to draw; none if altair is not installed.

    Args:
        makers: functions, each of which makes one figure.
        after: figures that follow.
    """
    return Drawables(makers, after)


@contextlib.contextmanager
def _unchecked() -> Iterator[None]:
    """Without altair's check of every part of a chart, which takes half of the time.

    The specs of all figures are checked in the tests.

    Raises:
        MissingDependencyError: altair is not installed.
    """
    load_altair()
    if "altair" not in sys.modules:  # the first figure that needs it is checked
        yield
        return
    from altair.utils.schemapi import debug_mode

    with debug_mode(False):  # noqa: FBT003  # as altair has it
        yield


def write_figures(figures: Iterable[Figure], folder: Path) -> list[Path]:
    """Write figures as SVG under their names, the second of a name as ``NAME-2.svg``.

    Returns:
        The files.

    Raises:
        UsageError: a figure cannot be drawn.
        MissingDependencyError: vl-convert-python is not installed.
        StorageError: a file cannot be written.
    """
    numbers: Counter[str] = Counter()
    written = []
    for figure in figures:
        numbers[figure.name] += 1
        number = f"-{numbers[figure.name]}" if numbers[figure.name] > 1 else ""
        written.append(figure.write(folder / f"{figure.name}{number}.svg"))
    return written


def lacking_figures() -> str:
    """Why no figure can be drawn here; empty where they can."""
    try:
        load_altair()
        _convert()
    except MissingDependencyError as error:
        return str(error)
    return ""


def load_altair() -> None:
    """See that altair is there, which takes half a second to import.

    Raises:
        MissingDependencyError: it is not.
    """
    if importlib.util.find_spec("altair") is None:
        raise MissingDependencyError(package="altair", extra="report", purpose="drawing")


def require_rows(frame: pl.DataFrame, *, where: str, seen: str, todo: str = "") -> None:
    """See that there is something to draw, and altair to draw it with.

    Args:
        frame: what is drawn.
        where: which figure.
        seen: why there may be nothing.
        todo: what to do then.

    Raises:
        UsageError: there are no rows.
        MissingDependencyError: altair is not installed.
    """
    load_altair()
    if frame.is_empty():
        raise UsageError(where=where, seen=seen, todo=todo)


def _in_one_line(value: object) -> object:
    """A spec whose texts hold none of the line ends at which Vega's expressions break."""
    if isinstance(value, str):
        return value.translate(_LINE_ENDS)
    if isinstance(value, Mapping):
        return {_in_one_line(key): _in_one_line(child) for key, child in value.items()}
    return [_in_one_line(child) for child in value] if isinstance(value, list) else value


_LINE_ENDS = str.maketrans(dict.fromkeys("\u2028\u2029\x85\n\r", " "))


def _convert() -> ModuleType:
    with needing("vl-convert-python", extra="report", purpose="figures as SVG, PNG and PDF"):
        import vl_convert
    return vl_convert


def _vega(spec: VegaSpec) -> VegaSpec:
    """The Vega specification of a figure.

    Reports have many figures that differ in their numbers alone, which Vega-Lite passes on as they
    are: those of one form are translated once.
    """
    data = spec.get("data")
    if not isinstance(data, Mapping) or not isinstance(data.get("values"), list):
        return _translated(json.dumps(spec), _version(spec))
    translated = _translated(json.dumps({**spec, "data": {**data, "values": []}}), _version(spec))
    first, *others = cast("list[VegaSpec]", translated["data"])
    return {**translated, "data": [{**first, "values": data["values"]}, *others]}


@functools.lru_cache(maxsize=32)
def _translated(spec: str, version: str) -> VegaSpec:
    """A Vega-Lite specification as one of Vega."""
    return cast("VegaSpec", _convert().vegalite_to_vega(json.loads(spec), vl_version=version))


def _version(spec: VegaSpec) -> str:
    """The version of Vega-Lite that a spec is written for, such as ``5.20``."""
    schema = str(spec.get("$schema", ""))
    version = schema.rsplit("/v", 1)[-1].removesuffix(".json")
    return ".".join(version.split(".")[:2])
