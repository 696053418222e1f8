"""``cimento suites power``: how many items a suite needs, from a pilot run."""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from cimento.results import Run
    from cimento.standings import Marks
    from cimento.statistics.planning import Pilot

Of = Literal["rate", "margin", "dd"]
_TWO = 2
_WHERE = "cimento suites power"


# size: one argument for each option.
def power_of_suite(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="Built-in name or path.")],
    *,
    pilot: Annotated[
        list[Path],
        options.option(
            "--pilot", metavar="RUN", help="A run of it; two for the difference of two models."
        ),
    ],
    of: Annotated[
        Of,
        options.option("--of", help="What is tested: rate, margin (in bits), or dd (factorial)."),
    ] = "rate",
    difference: Annotated[
        float | None,
        options.option("--difference", help="To be found; by default that of the pilot."),
    ] = None,
    against: Annotated[
        float | None,
        options.option("--against", help="Share that a rate is tested against; else chance."),
    ] = None,
    question: Annotated[
        str,
        options.option("--question", help="Such as 'prediction 0' or hit@10; else all together."),
    ] = "",
    phenomenon: Annotated[
        str, options.option("--phenomenon", help="Of dd, where there are several.")
    ] = "",
    measure: Annotated[
        str, options.option("--measure", help="Of rates and dd; else as the run is stored.")
    ] = "",
    power: Annotated[float, options.option("--power", help="Chance to find the difference.")] = 0.8,
    alpha: Annotated[float, options.option("--alpha", help="Level of the two-sided test.")] = 0.05,
    trials: Annotated[
        int, options.option("--trials", help="Data sets drawn for each size.")
    ] = 1000,
    seed: Annotated[int, options.option("--seed", help="Of the draws.")] = 0,
    json: options.Json = False,
) -> None:
    """Tell how many items and clusters a difference needs, from what a pilot run shows.

    One pilot: a rate against chance, margins or DD against zero. Two pilots: the second model's
    rate less the first's. Exact where items stand alone; where they come in clusters, from
    clusters of the pilot that are drawn whole.
    """
    from cimento.cli.console import show
    from cimento.report.grid import as_text
    from cimento.report.planning import plan_grid
    from cimento.statistics.planning import plan

    name = _name_of(suite)
    if of == "rate":
        title, found = _rates(name, pilot, question=question, measure=measure, against=against)
        unit = ""
    else:
        title, found, unit = _means(
            name, pilot, question=question, phenomenon=phenomenon, measure=measure, dd=of == "dd"
        )
    planned = plan(found, difference=difference, power=power, alpha=alpha, seed=seed, trials=trials)
    if json:
        plain = {"suite": name, "title": title, "unit": unit, **asdict(planned)}
        show(json_format.dumps(plain, ensure_ascii=False, indent=2))
        return
    grid = plan_grid(planned, found, title=title, unit=unit, own=difference is None)
    show(as_text(grid))


def _name_of(suite: str) -> str:
    """The name under which runs of a suite know it."""
    from cimento.parsing import parse_toml
    from cimento.suites.builtin import find_suite
    from cimento.suites.kinds import ACCEPTABILITY, REGIONS, kind_of
    from cimento.suites.load import load_suite

    path = find_suite(suite)
    if kind_of(path) in {REGIONS, ACCEPTABILITY}:
        return load_suite(path).suite.name
    toml = path / "suite.toml" if path.is_dir() else path
    meta = parse_toml(toml.read_text(encoding="utf-8-sig")).get("meta")
    return str(meta.get("name") if isinstance(meta, dict) else toml.parent.name)


def _rates(
    name: str, pilots: Sequence[Path], *, question: str, measure: str, against: float | None
) -> tuple[str, Pilot]:
    """What is tested, and the pilot of one model's rate or of two models' difference."""
    from cimento.pilots import chance_of, pilot_of_marks

    if len(pilots) > _TWO:
        raise UsageError(
            where=_WHERE,
            seen=f"{len(pilots)} pilots",
            todo="Give one for a rate against chance, or two for the difference of two models.",
        )
    marks = [_mark(name, path, question=question, measure=measure) for path in pilots]
    asked = f"{name}, {marks[0].question}"
    if len(marks) == _TWO:
        return f"{asked}: {marks[1].model} less {marks[0].model}.", pilot_of_marks(
            marks, chance=None
        )
    goal = "chance" if against is None else f"{against:g}"
    if against is None and (runs := _runs(pilots[0], name)):
        against = chance_of(runs[0], number=_number_of(question))
    return f"{asked}: {marks[0].model} against {goal}.", pilot_of_marks(marks, chance=against)


def _mark(name: str, path: Path, *, question: str, measure: str) -> Marks:
    """What the one model of a pilot got right of the suite."""
    from cimento.cli.marks import TOGETHER, read_marks

    found = read_marks([path], measure=measure, every_question=bool(question))
    own = [each for each in found if each.suite == name]
    if not own:
        suites = ", ".join(sorted({each.suite for each in found}))
        raise UsageError(
            where=f"--pilot {path}",
            seen=f"it is a run of {suites}",
            todo=f"Give a run of {name}.",
        )
    _refuse_several(path, [each.model for each in own])
    questions = [each.question for each in own]
    wanted = question or (TOGETHER if TOGETHER in questions or len(questions) > 1 else questions[0])
    if wanted not in questions:
        raise UsageError(
            where=f"--pilot {path}",
            seen=f"{question!r} was not asked" if question else "several things were asked",
            todo=f"Give --question. {did_you_mean(question, questions)}",
        )
    return own[questions.index(wanted)]


def _means(
    name: str, pilots: Sequence[Path], *, question: str, phenomenon: str, measure: str, dd: bool
) -> tuple[str, Pilot, str]:
    """What is tested, the pilot of margins or DD, and their unit."""
    from cimento.designs import factorial_of
    from cimento.pilots import pilot_of_dd, pilot_of_margins

    if len(pilots) > 1:
        raise UsageError(
            where=_WHERE,
            seen=f"{len(pilots)} pilots",
            todo="Margins and DD are tested against zero: give one pilot, or --of rate.",
        )
    runs = _runs(pilots[0], name)
    if not runs:
        raise UsageError(
            where=f"--pilot {pilots[0]}",
            seen=f"it has no run of {name} with margins",
            todo=f"Give a run of {name}; suites with blanks and stories have rates only.",
        )
    _refuse_several(pilots[0], [run.model for run in runs])
    if not dd:
        margins = pilot_of_margins(runs[0], number=_number_of(question))
        return f"{name}, margins of {runs[0].model}.", margins, "bits"
    result = factorial_of(runs[0], measure, normalisations=("raw",))
    found = pilot_of_dd(result, phenomenon=phenomenon)
    part = f" of {phenomenon}" if phenomenon else ""
    return f"{name}, DD{part} by {result.measure}, {runs[0].model}.", found, result.unit


def _runs(path: Path, name: str) -> list[Run]:
    """The runs of a suite in a folder that formulas judge; none where it is of another kind."""
    from cimento.results import Run, is_judged_by_formulas
    from cimento.runs.store import find_runs

    stored = [(folder, folder.manifest()) for folder in find_runs(path)]
    runs = [Run.open(*each) for each in stored if is_judged_by_formulas(each[1])]
    return [run for run in runs if run.suite.name == name]


def _number_of(question: str) -> int | None:
    """The number of a prediction as questions name it; None for all together."""
    number = question.removeprefix("prediction ")
    return int(number) if number.isdecimal() else None


def _refuse_several(path: Path, models: Sequence[str]) -> None:
    """Refuse a pilot that holds the runs of several models."""
    if len(set(models)) > 1:
        raise UsageError(
            where=f"--pilot {path}",
            seen=f"it holds runs of {', '.join(sorted(set(models)))}",
            todo="Give the folder of one run.",
        )
