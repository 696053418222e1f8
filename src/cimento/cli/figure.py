"""``cimento figure``: figures of stored runs, with the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.cli.console import note
from cimento.cli.flags import command_of
from cimento.cli.report import TableOptions, names_given, open_reports
from cimento.documents.paper import names_standing
from cimento.errors import UsageError, did_you_mean
from cimento.io.declared import option
from cimento.kinds.named import Bars, FigureSettings
from cimento.kinds.registry import own_paradigms
from cimento.kinds.run import Run, open_runs
from cimento.measures.normalizing import Normalization, Scope

if TYPE_CHECKING:
    from cimento.kinds.presenter import Presenter
    from cimento.report.figures import Figure


class FigureOptions(TableOptions):
    """The figure to draw, the runs, and the style."""

    # Empty if the only argument is a run, which was then taken for the name.
    runs: tuple[Path, ...] = option((), "Folders of runs.", argument="RUN...")
    name: str = option(
        ...,
        "interaction, rows, items, tokens, position, length, regions, margins, phenomena,"
        " pairs; of ratings: scatter; of cloze suites: curve, heat, dimensions, calibration;"
        " of stories: flow, states, calibration; of other kinds: rates, margins.",
        argument="NAME",
    )
    output: Path = option(
        ...,
        "A file: .svg, .png, .pdf, numbers .csv, Vega-Lite spec .json.",
        flags=("-o",),
    )
    measure: str = option("", "What is drawn; else what the run is judged on.")
    scale: Normalization = option("z", "raw, z, likert-z ... of interactions.")
    scope: Scope = option("suite", "What is pooled: the suite or each phenomenon.")
    bars: Bars = option(
        "se",
        "Error bars of interactions: se (over items), or 95 % within items by"
        " means-removed, cousineau-morey or loftus-masson.",
    )
    people: Path | None = option(
        None, "For rows: a CSV of ratings with phenomenon, item, condition and value (or z)."
    )
    title: str = option("", "In the place of the figure's own.")
    rename: tuple[str, ...] = option(
        (),
        "How a suite, model (with or without @revision), condition or axis is called. Repeatable.",
        metavar="NAME=TEXT",
    )
    font_size: int | None = option(None, "Of all texts.", ge=4, le=72)
    gray: bool = option(default=False, help="Draw in gray, for print.")
    item: str = option("", "For tokens: the id of the item.")
    length: int | None = option(None, "For position: only sentences of this many tokens.", ge=1)


@command_of
def figure(options: FigureOptions) -> int:
    """Draw a figure: interaction panels, token surprisals, positions, lengths.

    interaction: the four means of each phenomenon. rows: a row for each phenomenon, a column for
    each run (and people). items: DD of every item. tokens: one item, token by token. position:
    mean surprisal by position. length: score against length. regions: surprisal by region.
    All others are those on the page that `cimento report` writes; a wrong name lists them.
    """
    if not options.runs:
        raise UsageError(
            where="cimento figure",
            seen="a run and the name of a figure are needed",
            todo=_example(Path(options.name)),
        )
    drawn = [own] if (own := _of_kind(options)) is not None else _of_page(options)
    texts = [text for figure in drawn for text in figure.texts]
    names = names_standing(names_given(options.rename), texts)
    written = []
    for figure, path in zip(drawn, _paths(options.output, len(drawn)), strict=True):
        dressed = figure.dressed(
            title=options.title, names=names, font_size=options.font_size, gray=options.gray
        )
        written.append(dressed.write(path))
    options.neutralize(*written)
    for path in written:
        note(f"The figure is in {path}")
    return 0


def _example(argument: Path) -> str:
    """A command to give, with a figure that the runs have if the argument is their folder."""
    if not argument.is_dir():
        return "Such as: cimento figure RUN margins -o margins.svg. A wrong name lists the others."
    names = list(dict.fromkeys((*_names_of_page((argument,)), *_names_of_kind([argument]))))
    first = names[0] if names else "NAME"
    return (
        f"Such as: cimento figure {argument} {first} -o {first}.svg."
        f" Figures here: {', '.join(names) or 'none'}."
    )


def _names_of_page(folders: Sequence[Path]) -> list[str]:
    """The names of the figures on the page of these runs."""
    return [figure.name for figure in _on_page(folders, ())]


def _names_of_kind(folders: Sequence[Path]) -> Sequence[str]:
    """The figures that the kind of these runs can draw them as."""
    runs = open_runs(folders)
    presenters = _presenters(runs)
    return presenters[0].drawable(runs) if len(presenters) == 1 else ()


def _presenters(runs: Sequence[Run]) -> list[Presenter[Any, Any]]:
    """The presenters of some runs; one for kinds that have their figures in common."""
    presenters = (paradigm.presenter for paradigm in {run.paradigm: None for run in runs})
    return list({presenter.figure: presenter for presenter in presenters}.values())


def _paths(output: Path, count: int) -> list[Path]:
    """A file for each figure, numbered if there are several."""
    if count == 1:
        return [output]
    return [output.with_name(f"{output.stem}-{k}{output.suffix}") for k in range(1, count + 1)]


def _of_page(options: FigureOptions) -> list[Figure]:
    """The figures on the page that have this name.

    Raises:
        UsageError: the page has no such figure.
    """
    name = options.name
    known = _on_page(options.runs, [options.measure] if options.measure else ())
    figures = [figure for figure in known if figure.name == name]
    if not figures:
        names = (*(figure.name for figure in known), *_names_of_kind(options.runs))
        raise UsageError(
            where=f"cimento figure {name}",
            seen="there is nothing to draw so in these runs",
            todo=did_you_mean(name, names),
        )
    return figures


def _on_page(folders: Sequence[Path], measures: Sequence[str]) -> list[Figure]:
    """All figures on the page of these runs."""
    from cimento.documents import sections_of
    from cimento.report.figures import load_altair

    load_altair()
    sections = sections_of(open_reports(folders, measures))
    return [figure for section in sections for figure in section.figures]


def _of_kind(options: FigureOptions) -> Figure | None:
    """A figure that the kind of the runs draws by name; None if it is none of those.

    Raises:
        UsageError: it is, but not for all of these runs.
    """
    name, runs = options.name, open_runs(options.runs)
    kinds = dict.fromkeys(run.paradigm for run in runs)
    others = [kind.name for kind in kinds if name not in kind.presenter.figures]
    drawing = [kind for kind in kinds if name in kind.presenter.figures]
    drawing = drawing or [kind for kind in own_paradigms() if name in kind.presenter.figures]
    if not drawing:
        return None
    presenters = _presenters(runs)
    if others or len(presenters) > 1:
        raise UsageError(
            where=f"cimento figure {name}",
            seen=f"runs of the kind {', '.join(others or [kind.name for kind in kinds])} cannot be"
            f" drawn so{'' if others else ' together'}",
            todo=f"Give runs of {' or '.join(kind.name for kind in drawing)}, or"
            " draw a figure of the page: `cimento report RUN -o report.html` shows which there"
            " are.",
        )
    people = None
    if options.people is not None:
        from cimento.studies.islands.human import people_result

        people = people_result(options.people, scope=options.scope)
    settings = options.named_in(FigureSettings, beside=people)
    return presenters[0].figure(name, runs, settings)
