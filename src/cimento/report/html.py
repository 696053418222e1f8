"""The page of a report: one self-contained HTML file, text escaped by jinja2, figures as SVG.

The page loads nothing from anywhere. It runs one script of its own, which is allowed by its hash
and draws the items.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import UsageError
from cimento.io.inline_markup import templates_of
from cimento.io.values import grouped
from cimento.report import JointReport, RunReport, SuiteReport
from cimento.report.figures import lacking_figures
from cimento.report.formatting import (
    chances,
    estimate_label,
    explanation,
    interval,
    items,
    length_rate,
    margin_text,
    methods,
    number,
    rate_as_text,
    ties_pass,
)
from cimento.report.items import encode_items

if TYPE_CHECKING:
    from jinja2 import Environment

    from cimento.records.outcomes import Estimate
    from cimento.report import ItemRecord, NamedGrid
    from cimento.report.figures import Figure, VegaSpec


_DEMO_MODELS = Path(__file__).parents[1] / "data" / "models"
"""The folder with the models that come with cimento, which nobody may take for real ones."""

STEP_BITS = 2.0
STEPS = 9
"""The number of token colors: one for each two bits of surprisal, the last for 16 bits or more."""

FIRST_ITEMS = 20
"""The number of items that the page shows as plain tables, for readers without scripts."""

ITEM_ORDERS = (
    ("worst", "worst first"),
    ("low", "margin, lowest first"),
    ("high", "margin, highest first"),
    ("close", "closest to a tie"),
    ("suite", "by run"),
)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure in a page.

    Attributes:
        name: name by which ``cimento report --figure`` writes it.
        title: what the figure shows.
        svg: the SVG element; empty if it cannot be drawn, with the reason in the title.
    """

    name: str
    title: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The content of one page.

    Attributes:
        cimento: version of the program that wrote the page.
        suites: the suites' reports, one section each.
        means: means over the suites of a benchmark; None if there are none.
        joint: sections about all suites together.
        methods: the methods, as a paragraph for a paper; empty for none.
        references: the references cited there, one text each.
        links: where a page of a site leads: address and text; empty for a page by itself.
    """

    cimento: str
    suites: tuple[SuiteReport, ...] = ()
    means: NamedGrid | None = None
    joint: tuple[JointReport, ...] = ()
    methods: str = ""
    references: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The runs of all suites."""
        return tuple(run for suite in self.suites for run in suite.runs)


def html_page(page: Page) -> str:
    """The page as HTML text."""
    environment = page_environment("cimento.report")
    style, script = asset("base.css", "report.css"), asset("items.js")
    common, own_provenance = provenance(page.runs)
    block = encode_items(page.runs)
    charted = _charted(page.runs)
    shown = charted + [run.headline for run in page.runs if run.headline and not run.rates]
    return environment.get_template("report.html").render(
        page=page,
        title=_title(page.runs),
        style=style,
        script=script,
        policy=security_policy(style, script),
        sections=[
            (f"suite-{nth}", suite, drawings_of(suite.figures, f"suite-{nth}"))
            for nth, suite in enumerate(page.suites, 1)
        ],
        joint=[
            (section, drawings_of(section.figures, f"joint-{nth}"))
            for nth, section in enumerate(page.joint, 1)
        ],
        lacking=lacking_figures(),
        languages=tuple(dict.fromkeys(suite.first.language for suite in page.suites)),
        models=tuple(dict.fromkeys(run.model for run in page.runs)),
        common=common,
        own=own_provenance,
        block=block,
        packed=_packed,
        kept=sum(block.kept),
        in_all=sum(run.n_items for run in page.runs if run.items),
        first=() if page.links else _first_items(page.runs),
        orders=ITEM_ORDERS,
        steps=STEPS,
        step_bits=STEP_BITS,
        explanation=explanation(
            ties_pass=any(map(ties_pass, charted)),
            several=any(run.together > 1 for run in page.runs),
        ),
        methods=methods(shown),
        chances=chances(run.headline for run in page.runs if run.headline),
        has_constant=any(run.constant for run in page.runs),
        meanings=meanings(run.headline for run in page.runs if run.headline),
    )


_MEANINGS = {
    r"hit@1\b": "hit@1: the word that the model finds likeliest in the blank is one that fits",
    r"hit@(?!1\b)": "hit@k: a word that fits is among the k likeliest in the blank",
    r"\(mask\)": "mask: the model reads what stands before and after the blank",
    r"\(left\)": "left: the model reads only what stands before the blank",
    r"\bstory_class\b": "story_class: whether a story is possible",
    r"\b(?:mean|pen)?lp\b": "lp: the log-probability of the sentence (meanlp: of a token;"
    " penlp: with a penalty for length)",
}
"""Sentences on the names of values, by expressions for them."""


def meanings(headlines: Iterable[Estimate]) -> str:
    """What the names of values in an overview mean, as far as it has them; may be empty."""
    labels = " ".join(estimate_label(estimate) for estimate in headlines)
    known = [said for name, said in _MEANINGS.items() if re.search(name, labels)]
    return f"{'; '.join(known)}." if known else ""


def below_rates(runs: Sequence[RunReport]) -> str:
    """The text below the rates of a suite, on chance and length; may be empty."""
    said = (chances(_charted(runs)), _LENGTH if off_by_length(runs) else "")
    return " ".join(filter(None, said))


def off_by_length(runs: Sequence[RunReport]) -> bool:
    """Whether length alone leads away from chance in a suite, so that its rates have a column."""
    return any(rate.off_by_length for rate in _charted(runs))


def _charted(runs: Iterable[RunReport]) -> list[Estimate]:
    return [rate for run in runs for rates in run.rates for _, rate in rates.lines]


_LENGTH = "Length: the rate if every token cost the same, so that lengths alone decided."


def _packed(text: str) -> str:
    """A text compressed by gzip, in base64: a site has a page for every run, and size counts."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def charts(runs: Sequence[RunReport]) -> dict[str, dict[str, list[tuple[str, Estimate]]]]:
    """The charts of a suite: heading to what rates are about to models with their rates."""
    by_heading: dict[str, dict[str, list[tuple[str, Estimate]]]] = {}
    for run in runs:
        for rates in run.rates:
            groups = by_heading.setdefault(rates.heading, {})
            for name, estimate in rates.lines:
                groups.setdefault(name, []).append((run.model, estimate))
    return by_heading


def notes_together(runs: Sequence[RunReport]) -> list[tuple[str, str]]:
    """The notes on a suite, each once, with its models; no model if all of them have it."""
    models = grouped((note, run.model) for run in runs for note in run.notes)
    every = len(runs) if len(runs) > 1 else 0
    return [
        (note, "" if len(named) == every else ", ".join(named)) for note, named in models.items()
    ]


def drawings_of(figures: Sequence[Figure], anchor: str) -> list[Drawing]:
    """Figures drawn for a page; none if none can be drawn here.

    Args:
        figures: the figures.
        anchor: prefix of every id in the drawings, before the number of the figure.
    """
    shown = () if lacking_figures() else figures
    return [drawing_of(figure, f"{anchor}-{nth}") for nth, figure in enumerate(shown, 1)]


def drawing_of(figure: Figure, name: str) -> Drawing:
    """A figure drawn for a page, or the reason why it cannot be.

    Args:
        figure: the figure.
        name: prefix of every id in the drawing.
    """
    try:
        return Drawing(figure.name, figure.title, inline_svg(figure, name=name))
    except UsageError as error:
        return Drawing(figure.name, f"{figure.title}: {error}", "")


@functools.cache
def page_environment(*packages: str) -> Environment:
    """The templates of pages, with the filters that show numbers and tables.

    Args:
        packages: packages with templates, the first of them first.
    """
    environment = templates_of(*packages)
    environment.filters.update(
        below_rates=below_rates,
        charts=charts,
        interval=lambda estimate: minus(interval(estimate.low, estimate.high, absent="–")),
        items=items,
        label=estimate_label,
        notes_together=notes_together,
        length_rate=lambda estimate: minus(length_rate(estimate)),
        margin=lambda outcome: minus(margin_text(outcome)),
        off_by_length=off_by_length,
        number=lambda value: minus(number(value, absent="–")),
        percent=lambda value: f"{100 * value:.2f}%",
        rate=lambda value: minus(rate_as_text(value, absent="–")),
    )
    return environment


def minus(number: str) -> str:
    """A number with a true minus sign, which is as wide as a plus sign."""
    return number.replace("-", "−")


@functools.cache
def asset(*names: str, package: str = "cimento.report") -> str:
    """Styles or scripts of a package, one after the other, as they stand in a page.

    Args:
        names: their files.
        package: the package whose folder ``templates`` holds them.
    """
    environment = page_environment(package)
    lines = "\n".join(environment.get_template(name).render() for name in names).splitlines()
    # A page of its own holds them, and a site has thousands of pages.
    bare = (line.strip() for line in lines)
    return "\n".join(line for line in bare if line and not line.startswith(("//", "/*")))


def security_policy(style: str, script: str) -> str:
    """A policy that allows nothing but the page's own style and script, by their hashes.

    Args:
        style: text of the style.
        script: text of the script; empty to allow none.
    """
    allowed = f"'{_hash(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src {allowed};"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _title(runs: Sequence[RunReport]) -> str:
    models = tuple(dict.fromkeys(run.model for run in runs))
    suites = tuple(dict.fromkeys(run.suite for run in runs))
    if not runs:
        return "Nothing was run"
    demo_models = {path.name for path in _DEMO_MODELS.iterdir()}
    are_demo = all(model.partition("@")[0] in demo_models for model in models)
    kind = "demo model" if are_demo else "model"
    named = f"{len(models)} {kind}s"
    if len(models) == 1:
        named = f"The {kind} {models[0]}" if are_demo else models[0]
    return f"{named} on {suites[0] if len(suites) == 1 else f'{len(suites)} suites'}"


def _first_items(runs: Sequence[RunReport]) -> list[tuple[RunReport, ItemRecord]]:
    """The worst items of the first runs."""
    each_run = max(1, FIRST_ITEMS // max(1, len(runs)))
    return [(run, item) for run in runs for item in run.items[:each_run]][:FIRST_ITEMS]


_Lines = tuple[tuple[str, str], ...]


def provenance(runs: Sequence[RunReport]) -> tuple[_Lines, tuple[tuple[RunReport, _Lines], ...]]:
    """The provenance that all runs share, and the rest of each run's provenance."""
    if not runs:
        return (), ()
    shared = set(runs[0].provenance).intersection(*(run.provenance for run in runs))
    common = tuple(line for line in runs[0].provenance if line in shared)
    own_provenance = tuple(
        (run, tuple(line for line in run.provenance if line not in shared)) for run in runs
    )
    return common, own_provenance


# Parts of a drawing that are not needed inside a page: namespaces, defaults, and a name for each
# mark, since the whole drawing counts as one image with one description.
_NEEDLESS = re.compile(
    r" (?:xmlns(?::\w+)?|version|aria-\w+|role|pointer-events|font-family|stroke-miterlimit|class)"
    r'="[^"]*"| opacity="1"'
)
_BACKGROUND = re.compile(r'<rect width="[^"]*" height="[^"]*" fill="white"\s*/>')
_EMPTY = re.compile(r'<path(?: display="none"| d="(?:M0,0h0v0h0Z)?")+\s*/>|<g>\s*</g>')
_LONG = re.compile(r"\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]+>")
_COUNTED = re.compile(r'(?:\bid="|url\(#|href="#)[^")]*?-((?:gradient|clip|pattern)_?\d+)(?=[")])')
_NAMED = re.compile(r'(\bid="|url\(#|href="#)')
_QUICKLY: VegaSpec = {"aria": False, "axisQuantitative": {"labelLimit": 0}}
"""Settings that leave out a fifth of the work and change nothing in a page.

Names of marks are needless there, and numbers on axes are too short to be cut.
"""
_OPENING = re.compile(r"<svg\b[^>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def inline_svg(figure: Figure, *, name: str) -> str:
    """The figure as one SVG element in a page.

    Args:
        figure: the figure to draw.
        name: prefix of every id in the element, so that ids are unique in the page.

    Raises:
        MissingDependencyError: vl-convert-python is not installed.
    """
    # The page has both in the caption; inside the drawing, a long title would be cut off.
    spec = {key: part for key, part in figure.spec.items() if key not in ("title", "description")}
    spec["config"] = {**cast("VegaSpec", spec.get("config", {})), **_QUICKLY}
    svg = _BACKGROUND.sub("", _NEEDLESS.sub("", replace(figure, spec=spec).svg()))
    while _EMPTY.search(svg):
        svg = _EMPTY.sub("", svg)
    # Coordinates may be rounded, but not numbers in the text of the figure.
    svg = _TAG.sub(lambda tag: _LONG.sub(lambda match: f"{float(match[0]):.1f}", tag[0]), svg)
    svg = _NAMED.sub(lambda match: f"{match[1]}{name}-", svg)
    # The renderer counts on from drawing to drawing; the same figure is the same text.
    parts = {part: f"part{k}" for k, part in enumerate(dict.fromkeys(_COUNTED.findall(svg)))}
    svg = _COUNTED.sub(lambda match: match[0].removesuffix(match[1]) + parts[match[1]], svg)
    size = _SIZE.search(svg)
    width, height = size.groups() if size else ("400", "300")
    title = escape(figure.title)
    opening = (
        f'<svg class="figure" role="img" aria-labelledby="{name}-title" width="{width}"'
        f' viewBox="0 0 {width} {height}"><title id="{name}-title">{title}</title>'
    )
    return _OPENING.sub(lambda _: opening, svg, count=1)
