"""The answer over a language's sets on one page: words, tables, examples; for people and papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.compare.beside_sets import beside_sets_grid
from cimento.compare.phenomena import leading_model
from cimento.documents.language_sentences import UNMAPPED, answer_sentences
from cimento.documents.language_training import as_shown, curves, has_many_steps, steps_in_words
from cimento.errors import counted
from cimento.evaluation.language_suites import lacks_said
from cimento.io.files import write_text
from cimento.io.inline_markup import wrapped
from cimento.io.values import grouped
from cimento.records.outcomes import ACCURACY, STATISTICS
from cimento.report import JointReport, NamedGrid
from cimento.report.cells import count
from cimento.report.findings import findings_as_markdown
from cimento.report.formatting import p_number, percent, short_model_names
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell, as_latex, as_markdown
from cimento.report.html import Page, html_page
from cimento.report.terminal import WIDEST, on_terminal
from cimento.suites.language_sets import language_name

if TYPE_CHECKING:
    from cimento.compare.phenomena import PhenomenonRate
    from cimento.compare.set_results import SetResult
    from cimento.documents.language_answer import LanguageAnswer

ANSWER = "answer"
"""The name of the files with an answer, before their endings."""
_MOST_NAMED = 4
"""Most models that are named in a cell."""
_MOST_PUBLISHED = 8
"""Most published results beside a model and a set; all are in the JSON."""


def answer_grids(answer: LanguageAnswer) -> dict[str, Grid]:
    """The tables of an answer by name; those that would be empty are left out.

    Args:
        answer: the answer.
    """
    short, shown = short_model_names(answer.models), as_shown(answer)
    made = {
        "phenomena": _phenomena(
            answer, answer.phenomena, "What is right, by phenomenon, in %.", mark=UNMAPPED
        ),
        "changes": _changes(shown, short),
        "sets": _sets(shown, short),
        "published": beside_sets_grid(
            [replace(one, model=short[one.model]) for one in shown.published],
            most=_MOST_PUBLISHED,
        ),
        "ratings": _ratings(shown, short),
        "examples": _examples(shown, short),
        "starter": _starter(answer),
        "generated": _generated(answer),
        "drafts": _drafts(answer),
        "used": _used(answer),
        "missing": _missing(answer),
    }
    return {name: grid for name, grid in made.items() if grid.rows}


def _phenomena(
    answer: LanguageAnswer, rates: Sequence[PhenomenonRate], title: str, *, mark: str = ""
) -> Grid:
    short = short_model_names(answer.models)
    rows = grouped((one.phenomenon, one) for one in rates)
    asked = {one.model for one in rates}
    models = [model for model in as_shown(answer).models if model in asked]
    return Grid.of(
        [(name, {one.model: one for one in of}) for name, of in rows.items()],
        {
            "phenomenon": lambda row: row[0] + ("" if _first(row).is_mapped else mark),
            "sets": lambda row: ", ".join(_first(row).sets),
            "paradigms": lambda row: _first(row).n_paradigms,
            "items": lambda row: _first(row).n_items,
            **{short[model]: _rate_cell(model) for model in models},
            "chance": lambda row: percent(_first(row).chance, absent=BLANK),
            "above chance": lambda row: _above(row[1], answer, short),
            "generalizes to": lambda row: _reach(_first(row).about),
        },
        title=title,
        labels=2,
        remarks=2,
        notes=(*_order(rates, short), *_over_steps(answer), *_twins(rates)),
    )


def _over_steps(answer: LanguageAnswer) -> Iterator[str]:
    if has_many_steps(answer):
        yield f"above chance: of all {len(answer.steps)} checkpoints."


def _reach(about: str) -> str:
    """What an interval generalizes to, such as other items; blank where there is none."""
    return f"other {about}" if about else BLANK


def _above(
    row: Mapping[str, PhenomenonRate], answer: LanguageAnswer, short: Mapping[str, str]
) -> str:
    """The models whose whole interval is above chance; of many, their number or first step."""
    above = [model for model, one in row.items() if (one.above or 0) > 0]
    if len(above) == len(short):
        return "yes" if len(short) == 1 else "all"
    if has_many_steps(answer):
        return steps_in_words(answer, above)
    if len(above) > _MOST_NAMED:
        return f"{len(above)} of {len(short)}"
    return ", ".join(short[model] for model in above) or "no"


def _order(rates: Sequence[PhenomenonRate], short: Mapping[str, str]) -> Iterator[str]:
    """By which of several models the rows are in order."""
    if rates and len(short) > 1:
        yield f"Sorted by {short[leading_model(rates)]}, the model with the highest mean."


def _starter(answer: LanguageAnswer) -> Grid:
    above = ", which are in no number above" if answer.sets else ""
    grid = _phenomena(answer, answer.starter, f"Starter suites{above}, in %.")
    states = (f"State of review of starter suites: {one}." for one in answer.starter_states)
    return replace(grid, notes=(*states, *grid.notes))


def _generated(answer: LanguageAnswer) -> Grid:
    above = ", which are in no number above" if answer.sets or answer.starter else ""
    grid = _phenomena(
        answer, answer.generated, f"Drafts made from cimento's grammars{above}, by class, in %."
    )
    return replace(grid, notes=(*grid.notes, *_readers(answer)))


def _readers(answer: LanguageAnswer) -> Iterator[str]:
    """How large drafts are, how they are made again, and who read them."""
    for (n, seed), some in grouped(((d.n_items, d.seed), d) for d in answer.drafts).items():
        yield (
            f"{counted(len(some), 'grammar')}, {n} items of each, seed {seed}: `cimento suites"
            f" build pairs GRAMMAR --items {n} --seed {seed}` makes them again."
        )
    by_reader = grouped((one.readers, one) for one in answer.drafts)
    read = [
        f"{who} ({counted(len(some), 'grammar')})"
        for who, some in sorted(by_reader.items(), key=lambda one: -len(one[1]))
    ]
    if read:
        yield f"Every suite is a draft. Items of these grammars were read by: {', '.join(read)}."


def _drafts(answer: LanguageAnswer) -> Grid:
    return Grid.of(
        answer.drafts,
        {
            "suite": lambda one: one.suite,
            "class": lambda one: one.phenomenon,
            "about": lambda one: one.about,
            "items": lambda one: one.n_items,
            "state": lambda _: "draft",
            "items read, of any draw": lambda one: one.n_read,
            "by": lambda one: one.readers,
        },
        title="Generated suites, which are drafts, and who read items of their grammars.",
        labels=1,
        remarks=1,
    )


def _twins(rates: Sequence[PhenomenonRate]) -> Iterator[str]:
    """Which suites count as one, because they are made of the same items."""
    twins = list(dict.fromkeys(names for one in rates for names in one.twins))
    if twins:
        others = f", and so do {len(twins) - 1} others" if len(twins) > 1 else ""
        yield (
            "Suites made of the same items, such as a suite and its twin with attractors, count as"
            f" one paradigm: {' and '.join(twins[0])}{others}. Each has a run of its own."
        )


_Row = tuple[str, "dict[str, PhenomenonRate]"]


def _first(row: _Row) -> PhenomenonRate:
    return next(iter(row[1].values()))


def _rate_cell(model: str) -> Callable[[_Row], GridCell]:
    def cell(row: _Row) -> GridCell:
        one = row[1].get(model)
        return BLANK if one is None else EstimateCell.of(one.value, one, one.n_items, percent=True)

    return cell


def _changes(answer: LanguageAnswer, short: Mapping[str, str]) -> Grid:
    of_p = "p: of no difference on other paradigms, if there are five or more; Holm: over all rows."
    return Grid.of(
        answer.changes,
        {
            "phenomenon": lambda one: one.phenomenon,
            "first": lambda one: short[one.first],
            "second": lambda one: short[one.second],
            "paradigms": lambda one: one.n_paradigms,
            "second minus first": lambda one: EstimateCell.of(
                one.value, one, one.n_paradigms, percent=True
            ),
            "p": lambda one: p_number(one.p, absent=BLANK),
            "p (Holm)": lambda one: p_number(one.p_corrected, absent=BLANK),
            "generalizes to": lambda one: _reach(one.about),
        },
        title="Differences of models on the same items, by phenomenon, in points.",
        labels=3,
        remarks=1,
        notes=(of_p,) if any(one.p is not None for one in answer.changes) else (),
    )


def _sets(answer: LanguageAnswer, short: Mapping[str, str]) -> Grid:
    pairs = [one for one in answer.sets if one.statistic == ACCURACY]
    known = {one.set: one.authors.scored for one in pairs if one.authors is not None}
    authors = ("authors' is blank where it is not recorded how they score.",) if known else ()
    return Grid.of(
        pairs,
        {
            "set": lambda one: one.set,
            "model": lambda one: short[one.model],
            "paradigms": lambda one: one.n_paradigms,
            "items": lambda one: one.n_items,
            "ours": lambda one: EstimateCell.of(one.value, one, one.n_items, percent=True),
            "authors'": _authors_value,
            "chance": lambda one: percent(one.chance, absent=BLANK),
            "authors' measure": _authors_measure,
        },
        title="Sets of pairs, in %"
        + (": our number, and what their authors would report." if known else "."),
        labels=2,
        remarks=1,
        grouped=1,
        notes=(
            "ours: unweighted mean over paradigms; its interval generalizes to other items.",
            *authors,
            *(f"{name}: {scored}." for name, scored in known.items()),
        ),
    )


def _authors_value(one: SetResult) -> str:
    if one.authors is None:
        return BLANK
    return percent(one.authors.value, absent=one.authors.reason)


def _authors_measure(one: SetResult) -> str:
    return "" if one.authors is None else f"{one.authors.measure}, over {one.authors.over}"


def _ratings(answer: LanguageAnswer, short: Mapping[str, str]) -> Grid:
    return Grid.of(
        [one for one in answer.sets if one.statistic != ACCURACY],
        {
            "set": lambda one: one.set,
            "suite": lambda one: one.suite,
            "model": lambda one: short[one.model],
            "items": lambda one: one.n_items,
            "statistic": lambda one: STATISTICS.get(one.statistic, one.statistic),
            "of": lambda one: one.question,
            "value": lambda one: EstimateCell.of(one.value, one, one.n_items, digits=3),
        },
        title="Rated sentences (agreement of scores with ratings) and factorial designs (DD).",
        labels=3,
        grouped=2,
    )


def _examples(answer: LanguageAnswer, short: Mapping[str, str]) -> Grid:
    return Grid.of(
        answer.examples,
        {
            "phenomenon": lambda one: one.phenomenon,
            "model": lambda one: short[one.model],
            "": lambda one: one.kind,
            "item": lambda one: f"{one.suite} {one.item}",
            "margin": lambda one: f"{one.margin:z.1f} {one.unit}",
            "sentences": lambda one: " / ".join(f"{s.condition}: {s.text}" for s in one.sentences),
        },
        title="One item of each phenomenon that is right, one that is wrong, and the closest.",
        labels=4,
        remarks=1,
        grouped=2,
        notes=("right, wrong: by the widest margin; close: by the narrowest of the others.",),
    )


def _used(answer: LanguageAnswer) -> Grid:
    return Grid.of(
        answer.used,
        {
            "set": lambda one: one.set,
            "items": lambda one: count(one.n_items),
            "of": lambda one: count(one.of_items),
            "license": lambda one: one.license,
            "revision": lambda one: one.revision,
            "citation": lambda one: one.citation,
        },
        title="The sets that were asked about.",
        remarks=3,
    )


def _missing(answer: LanguageAnswer) -> Grid:
    rows = [(one.name, one.reason, one.todo) for one in answer.missing]
    rows += [(one.what, one.reason, one.todo) for one in answer.unfit]
    rows += [(f"{one.suite} x {one.model}", one.message, "") for one in answer.not_run]
    return Grid.of(
        rows,
        {
            "set": lambda row: row[0],
            "why": lambda row: row[1],
            "what to do": lambda row: row[2],
        },
        title="Sets that were not asked about, and why.",
        labels=1,
        remarks=2,
    )


def answer_title(answer: LanguageAnswer) -> str:
    """The title of an answer."""
    language, names = language_name(answer.language), [*short_model_names(answer.models).values()]
    if has_many_steps(answer):
        return f"What {len(names)} checkpoints know about {language} (first and last shown)"
    if len(names) == 1:
        return f"What {names[0]} knows about {language}"
    return f"What {counted(len(names), 'model')} know about {language}"


_ON_TERMINAL = ("phenomena", "changes", "sets", "published", "ratings", "starter", "generated")


def answer_text(answer: LanguageAnswer) -> str:
    """The answer for a terminal.

    Args:
        answer: the answer.
    """
    said, grids = answer_sentences(answer), answer_grids(answer)
    lines = [answer_title(answer)]
    for part in said.parts:
        lines += ["", *wrapped(f"{part.about} ({part.where})", WIDEST)]
        lines += [f"  {line}" for one in part.sentences for line in wrapped(one, WIDEST - 2)]
    lines += ["", *(line for note in said.notes for line in wrapped(note, WIDEST))]
    for name in _ON_TERMINAL:
        if name in grids:
            lines += ["", on_terminal(grids[name]).rstrip()]
    not_asked = lacks_said((one.name, one.reason, one.todo) for one in answer.missing)
    if not_asked or answer.unfit:
        lines += ["", "Not asked about"]
        for text in (*not_asked, *map(str, answer.unfit)):
            lines += [f"  {line}" for line in wrapped(text, WIDEST - 2)]
    return "\n".join(lines)


_HEADINGS = {
    "phenomena": "Phenomena",
    "changes": "Differences",
    "sets": "Sets",
    "published": "Beside published results",
    "ratings": "Rated sentences and designs",
    "examples": "Examples",
    "starter": "Starter suites",
    "generated": "Generated suites",
    "drafts": "Drafts",
    "used": "Sources",
    "missing": "Not asked",
}


_DRAWN = ("phenomena", "starter", "generated")
"""The rates that have curves over many checkpoints."""


def answer_html(answer: LanguageAnswer) -> str:
    """The answer as a self-contained page."""
    command = f"cimento run --language {answer.language} -m MODEL -o FOLDER"
    drawn = {name: curves(answer, getattr(answer, name)) for name in _DRAWN}
    sections = tuple(
        JointReport(
            _HEADINGS[name],
            command,
            figures=drawn.get(name, ()),
            tables=(NamedGrid(name, grid, command),),
        )
        for name, grid in answer_grids(answer).items()
    )
    page = Page(
        cimento=answer.cimento,
        title=answer_title(answer),
        findings=answer_sentences(answer),
        joint=sections,
    )
    return html_page(page)


def answer_markdown(answer: LanguageAnswer) -> str:
    """The answer in Markdown."""
    grids = {name: grid.compact() for name, grid in answer_grids(answer).items()}
    said = findings_as_markdown(answer_sentences(answer))
    tables = [f"## {_HEADINGS[name]}\n\n{as_markdown(grid)}" for name, grid in grids.items()]
    return "\n".join([f"# {answer_title(answer)}\n", said, *tables])


def answer_latex(answer: LanguageAnswer) -> str:
    """Tables for a paper, in LaTeX: the first of three; and published results."""
    grids = answer_grids(answer)
    shown = [grids[name] for name in ("phenomena", "ratings", "starter") if name in grids][:1]
    shown += [grids[name] for name in ("published",) if name in grids]
    return "\n".join(as_latex(grid.for_paper()) for grid in shown)


ANSWER_FORMS: Mapping[str, Callable[[LanguageAnswer], str]] = {
    ".html": answer_html,
    ".md": answer_markdown,
    ".tex": answer_latex,
    ".json": lambda answer: answer.to_json(),
}
"""The forms of an answer by the endings of their files."""


def write_answer(answer: LanguageAnswer, folder: Path) -> list[Path]:
    """Write an answer in every form.

    Args:
        answer: the answer.
        folder: the files are written into it.

    Raises:
        StorageError: a file cannot be written.
    """
    return [
        write_text(form(answer), folder / f"{ANSWER}{end}") for end, form in ANSWER_FORMS.items()
    ]
