"""``cimento annotate survey``: surveys made from suites, and what other programs need of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note, show

if TYPE_CHECKING:
    from cimento.people.surveys.design import SurveyDesign

app = typer.Typer(help="Make surveys out of suites.", no_args_is_help=True)

# As `cimento.paradigms.base.SurveyTask` has them, which is imported only when it is needed.
Task = Literal["likert", "yesno", "choice", "cloze", "candidate", "story"]
Folder = Annotated[Path, options.option("-o", "--output", help="Folder that is written.")]
Force = Annotated[
    bool, options.option("--force", help="Take the place of another design in that folder.")
]


# size: one argument for each option.
@app.command("build", short_help="Deal the items of a suite over surveys.")
def build(
    suite: Annotated[
        str, typer.Argument(metavar="SUITE", help="A suite, or a run whose candidates are judged.")
    ],
    output: Folder = Path("survey"),
    *,
    task: Annotated[
        Task | None, options.option("--task", help="What people do; by default as usual.")
    ] = None,
    surveys: Annotated[
        int | None,
        options.option("--surveys", min=1, help="How many; as few as possible by default."),
    ] = None,
    times: Annotated[
        int, options.option("--times", min=1, help="In how many surveys each sentence is.")
    ] = 1,
    scale: Annotated[int, options.option("--scale", help="Points of the scale.")] = 5,
    checks: Annotated[
        int, options.option("--checks", min=0, max=20, help="Attention checks in each survey.")
    ] = 2,
    check_file: Annotated[
        Path | None,
        options.option("--check-file", help="Checks of your own: text, expected, choices."),
    ] = None,
    balance: Annotated[
        str, options.option("--balance", help="Column that surveys are balanced over.")
    ] = "",
    apart: Annotated[
        str, options.option("--apart", help="Nobody sees two rows with one value in this column.")
    ] = "",
    none: Annotated[
        bool | None,
        options.option("--none/--no-none", help="Whether people can say that nothing fits."),
    ] = None,
    consent: Annotated[
        Path | None, options.option("--consent", help="Text file with what people agree to.")
    ] = None,
    contact: Annotated[
        str, options.option("--contact", help="Who is responsible, for the consent text.")
    ] = "",
    title: Annotated[str, options.option("--title", help="What people read on top.")] = "",
    language: Annotated[
        str, options.option("--language", help="Of the texts around: en, es, it, pt or ru.")
    ] = "",
    limit: options.Limit = None,
    seed: Annotated[int, options.option("--seed", help="Seed of all orders.")] = 0,
    force: Force = False,
) -> None:
    """Deal the items of a suite over surveys; nobody sees two conditions of an item.

    The folder holds the design, from which `cimento annotate serve` asks, and the same surveys as
    tables for forms, as pages to print, for jsPsych and for PCIbex.
    """
    from cimento.people.surveys.building import CONTACT_MISSING, SurveyPlan, build_design
    from cimento.people.surveys.exports import write_survey
    from cimento.people.surveys.material import MaterialOptions
    from cimento.suites.builtin import find_suite

    wanted = MaterialOptions(
        task=task, language=language, balance=balance, apart=apart, none=none, limit=limit,
        seed=seed,
    )  # fmt: skip
    plan = SurveyPlan(
        wanted=wanted, surveys=surveys, times=times, scale=scale, checks=checks,
        check_file=check_file, consent=consent, contact=contact, title=title, seed=seed,
    )  # fmt: skip
    design = build_design(find_suite(suite), plan)
    write_survey(design, output, force=force)
    show(_told(design))
    if consent is None and not contact:
        note(f"Remark: {CONTACT_MISSING}. Give --contact or --consent.")
    note(f"Everything is in {output}. To ask in a browser: cimento annotate serve {output}")


@app.command("export", short_help="Write the exports of a design again.")
def export(
    design: Annotated[Path, typer.Argument(metavar="DESIGN", help="A design, or its folder.")],
    output: Folder = Path("survey"),
    *,
    force: Force = False,
) -> None:
    """Write everything that is made from a design, after it was changed by hand, say."""
    from cimento.people.surveys.design import read_design
    from cimento.people.surveys.exports import write_survey

    files = write_survey(read_design(design), output, force=force)
    note(f"{len(files)} files in {output}.")


def _told(design: SurveyDesign) -> str:
    """The surveys of a design, in a line each."""
    lines = [f"{design.source.suite}: {design.task}, language {design.language}"]
    for survey, questions in design.by_survey.items():
        checks = sum(bool(each.expected) for each in questions)
        lines.append(f"survey {survey}: {len(questions) - checks} questions, {checks} checks")
    return "\n".join(lines)
