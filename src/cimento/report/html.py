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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import UsageError
from cimento.io.inline_markup import templates_of
from cimento.io.values import grouped
from cimento.report import RANK_GAP, JointReport, RunReport, SuiteReport
from cimento.report.figures import lacking_figures
from cimento.report.findings import NOTHING_SAID, Findings
from cimento.report.formatting import (
    chances,
    estimate_label,
    interval,
    items,
    length_rate,
    margin_text,
    methods,
    number,
    rate_as_text,
    with_minus,
)
from cimento.report.items import encode_items
from cimento.report.language import ENGLISH, PageLanguage, figure_in
from cimento.report.overview import counting, model_columns, model_of, overview, scaled

if TYPE_CHECKING:
    from jinja2 import Environment

    from cimento.records.outcomes import ConstantAnswer, Estimate
    from cimento.report import ItemRecord, NamedGrid
    from cimento.report.figures import Figure, VegaSpec


_DEMO_MODELS = Path(__file__).parents[1] / "data" / "models"
"""The folder with the models that come with cimento, which nobody may take for real ones."""

STEP_BITS = 2.0
STEPS = 9
"""The number of token colors: one for each two bits of surprisal, the last for 16 bits or more."""

FIRST_ITEMS = 20
"""The number of items that the page shows as plain tables, for readers without scripts."""

MOST_UNFOLDED = 3
"""Most suites of a page whose sections are all open; with more, only the first is."""

ITEM_ORDERS = (
    ("worst", "worst first"),
    ("low", "margin, lowest first"),
    ("high", "margin, highest first"),
    ("close", "closest to a tie"),
    ("suite", "by run"),
)
UNJUDGED_ORDERS = (
    ("worst", "largest difference first"),
    ("low", "number, lowest first"),
    ("high", "number, highest first"),
    ("close", "closest to 0"),
    ("suite", "by run"),
)
"""The orders of items of which none is right or wrong."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure in a page.

    Attributes:
        name: name by which ``cimento report --figure`` writes it.
        title: what the figure shows.
        svg: the SVG element; empty if it cannot be drawn, with the reason in the title.
        is_secondary: whether it is folded.
    """

    name: str
    title: str
    svg: str
    is_secondary: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The content of one page.

    Attributes:
        cimento: version of the program that wrote the page.
        findings: what the runs show, in sentences.
        suites: the suites' reports, one section each.
        over_suites: means over the suites of a benchmark, and published results beside the runs.
        joint: sections about all suites together.
        methods: the methods, as a paragraph for a paper; empty for none.
        references: the references cited there, one text each.
        links: where a page of a site leads: address and text; empty for a page by itself.
        title: its title; empty for that of its runs.
        language: the language of its texts.
    """

    cimento: str
    findings: Findings = NOTHING_SAID
    suites: tuple[SuiteReport, ...] = ()
    over_suites: Sequence[NamedGrid] = ()
    joint: tuple[JointReport, ...] = ()
    methods: str = ""
    references: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    title: str = ""
    language: PageLanguage = ENGLISH

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """The runs of all suites."""
        return tuple(run for suite in self.suites for run in suite.runs)


def html_page(page: Page) -> str:
    """The page as HTML text."""
    language = page.language
    environment = page_environment("cimento.report", language=language)
    style, script = asset("base.css", "report.css"), asset("items.js")
    common, own_provenance = provenance(page.runs)
    block = encode_items(page.runs, language=language, script=script)
    anchored = [(f"suite-{nth}", suite) for nth, suite in enumerate(page.suites, 1)]
    groups, columns = overview(anchored), model_columns(page.suites)
    counted = [run for run in page.runs if not run.effects]
    outcomes = [item.outcome for run in page.runs for item in run.items if item.outcome]
    has_verdicts = any(outcome.verdict for outcome in outcomes)
    return environment.get_template("report.html").render(
        page=page,
        language=language,
        title=page.title or _title(page.runs),
        style=style,
        script=script,
        policy=security_policy(style, script),
        groups=groups,
        scales=[words for end, words in _SCALES.items() if end in {g.scale[:1] for g in groups}],
        sections=[(at, one, drawings_of(one.figures, at, language)) for at, one in anchored],
        unfolded=MOST_UNFOLDED,
        joint=[
            (one, drawings_of(one.figures, f"joint-{nth}", language))
            for nth, one in enumerate(page.joint, 1)
        ],
        lacking=lacking_figures(),
        languages=tuple(dict.fromkeys(suite.first.language for suite in page.suites)),
        columns=columns,
        common=common,
        own=own_provenance,
        block=block,
        packed=_packed,
        kept=sum(block.kept),
        in_all=sum(run.n_items for run in page.runs if run.items),
        first=() if page.links else _first_items(page.runs),
        orders=ITEM_ORDERS if has_verdicts else UNJUDGED_ORDERS,
        has_verdicts=has_verdicts,
        has_ranks=any(one.question == RANK_GAP for one in outcomes),
        crossed=any(run.effects for run in page.runs),
        steps=STEPS,
        step_bits=STEP_BITS,
        counting=counting(
            [run.headline for run in counted if run.headline and run.headline.is_share],
            several=any(run.together > 1 for run in counted),
        ),
        methods=methods(_in_overview(page.runs)),
        has_constant=any(run.constant for run in page.runs),
    )


_SCALES = {("0",): "rates from 0 to 1", ("−1",): "correlations from −1 to 1"}
"""The beginning of a scale in the overview to what is drawn on it."""


def _in_overview(runs: Sequence[RunReport]) -> Iterator[Estimate]:
    """The estimates whose intervals the overview is about: of designs, DD alone."""
    for run in runs:
        if run.effects:
            yield from (effect.estimate for effect in run.effects)
        elif run.rates or run.headline is None:
            yield from _charted([run])
        else:
            yield run.headline


def below_rates(runs: Sequence[RunReport]) -> str:
    """The text below the rates of a suite, on chance, constant answers and length; or empty.

    Of a design, the overview says nothing of rates, so that it is said here how they were counted.
    """
    designs = [run for run in runs if run.effects]
    constants = dict.fromkeys(run.constant for run in runs if run.constant)
    dashed = [f"{one.name} {number(one.value)}" for one in constants]
    said = (
        chances(_charted(runs)),
        f"Dashed: the best constant answer ({', '.join(dashed)})." if dashed else "",
        _LENGTH if off_by_length(runs) else "",
        counting(_charted(runs), several=any(run.together > 1 for run in designs)),
        methods(_charted(designs)) if designs else "",
    )
    return " ".join(filter(None, said))


def off_by_length(runs: Sequence[RunReport]) -> bool:
    """Whether length alone leads away from chance in a suite, so that its rates have a column."""
    return any(rate.off_by_length for rate in _charted(runs))


def _charted(runs: Iterable[RunReport]) -> list[Estimate]:
    return [rate for run in runs for rates in run.rates for _, rate in rates.lines]


_LENGTH = (
    "Length: the rate if every token cost the same, so that lengths alone decided; a dash where it"
    " is that of chance."
)


def _packed(text: str) -> str:
    """A text compressed by gzip, in base64: a site has a page for every run, and size counts."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


_Charted = tuple[str, "Estimate", "ConstantAnswer | None"]
"""A model, its rate, and the best constant answer to the same question."""


def charts(runs: Sequence[RunReport]) -> dict[str, dict[str, list[_Charted]]]:
    """The charts of a suite: heading to what rates are about to models with their rates."""
    by_heading: dict[str, dict[str, list[_Charted]]] = {}
    for run in runs:
        for rates in run.rates:
            groups = by_heading.setdefault(rates.heading, {})
            for name, estimate in rates.lines:
                constant = run.constant if estimate == run.headline else None
                groups.setdefault(name, []).append((run.model, estimate, constant))
    return by_heading


def rate_columns(runs: Sequence[RunReport]) -> tuple[str, ...]:
    """The columns of a chart beside its rates: those with nothing special in them are left out."""
    rates = _charted(runs)
    shown = {
        "Chance": any(rate.chance is not None for rate in rates),
        "Length": off_by_length(runs),
        "n": True,
        "Ties": any(rate.tied for rate in rates),
        "Unscored": any(rate.unscored for rate in rates),
    }
    return tuple(name for name, is_shown in shown.items() if is_shown)


def notes_together(runs: Sequence[RunReport]) -> list[tuple[str, str]]:
    """The notes on a suite, each once, with its models; no model if all of them have it."""
    models = grouped((note, run.model) for run in runs for note in run.notes)
    every = len(runs) if len(runs) > 1 else 0
    return [
        (note, "" if len(named) == every else ", ".join(named)) for note, named in models.items()
    ]


def drawings_of(
    figures: Sequence[Figure], anchor: str, language: PageLanguage = ENGLISH
) -> list[Drawing]:
    """Figures drawn for a page; none if none can be drawn here.

    Args:
        figures: the figures.
        anchor: prefix of every id in the drawings, before the number of the figure.
        language: the language of the page.
    """
    shown = () if lacking_figures() else figures
    told = (figure_in(figure, language) for figure in shown)
    return [drawing_of(figure, f"{anchor}-{nth}") for nth, figure in enumerate(told, 1)]


def drawing_of(figure: Figure, name: str) -> Drawing:
    """A figure drawn for a page, or the reason why it cannot be.

    Args:
        figure: the figure.
        name: prefix of every id in the drawing.
    """
    try:
        svg = inline_svg(figure, name=name)
        return Drawing(figure.name, figure.title, svg, figure.is_secondary)
    except UsageError as error:
        return Drawing(figure.name, f"{figure.title}: {error}", "")


@functools.cache
def page_environment(*packages: str, language: PageLanguage = ENGLISH) -> Environment:
    """The templates of pages, with the filters that show numbers, tables and texts.

    Args:
        packages: packages with templates, the first of them first.
        language: the language of the page.
    """
    environment = templates_of(*packages)

    def shown(number: str) -> str:
        return language.numbers(minus(number))

    environment.filters.update(
        say=language.say,
        plain=language.plain,
        say_label=language.named,
        header=language.header,
        of_suite=language.of_suite,
        cell=language.cell,
        told=language.told,
        numbers=language.numbers,
        below_rates=below_rates,
        charts=charts,
        interval=lambda estimate: shown(interval(estimate.low, estimate.high, absent="–")),
        items=items,
        label=estimate_label,
        notes_together=notes_together,
        length_rate=lambda estimate: shown(length_rate(estimate)),
        margin=lambda outcome: shown(margin_text(outcome)),
        rate_columns=rate_columns,
        scaled=scaled,
        with_minus=with_minus,
        number=lambda value: shown(number(value, absent="–")),
        percent=lambda value: f"{100 * value:.2f}%",
        rate=lambda value: shown(rate_as_text(value, absent="–")),
    )
    return environment


def minus(number: str) -> str:
    """A number with a true minus sign, which is as wide as a plus sign."""
    return number.replace("-", "−")


@functools.cache
def asset(*names: str, package: str = "cimento.report") -> str:
    """Styles or scripts of a package, one after the other, as they are in a page.

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
    models = tuple(dict.fromkeys(model_of(run.model) for run in runs))
    suites = tuple(dict.fromkeys(run.suite for run in runs))
    if not runs:
        return "Nothing was run"
    demo_models = {path.name for path in _DEMO_MODELS.iterdir()}
    are_demo = all(model.partition("@")[0] in demo_models for model in models)
    kind = "demo model" if are_demo else "model"
    named = f"{len(models)} {kind}s"
    if len(models) == 1:
        # One model does not need its revision, which tells models apart.
        name = re.sub(r"@[^ ]*$", "", models[0])
        named = f"The {kind} {name}" if are_demo else name
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
_BACKGROUND = re.compile(r'<rect x="[^"]*" width="[^"]*" height="[^"]*" fill="white"\s*/>')
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
_BOX = re.compile(r'viewBox="(\S+ \S+ (\S+) \S+)"')


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
    box = _BOX.search(svg)
    view, width = box.groups() if box else ("0 0 400 300", "400")
    title = escape(figure.title)
    opening = (
        f'<svg class="figure" role="img" aria-labelledby="{name}-title" width="{width}"'
        f' viewBox="{view}">'
        f'<title id="{name}-title">{title}</title>'
    )
    return _OPENING.sub(lambda _: opening, svg, count=1)
