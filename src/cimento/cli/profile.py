"""``cimento analyze profile``: models by dimension of a cloze suite, from stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import SheetOptions, command_of
from cimento.io.declared import Texts, option
from cimento.options import run_option

FigureName: TypeAlias = Literal["heat", "dimensions"]


class ProfileOptions(SheetOptions):
    """The runs, the dimensions, and the sources of comparison."""

    runs: tuple[Path, ...] = option(
        ..., "Runs of cloze suites, or folders of such runs.", argument="RUN..."
    )
    by: str = option("", "A column whose values are dimensions; or several: a,b.")
    k: int = option(
        10,
        "Candidates that count.",
        flags=(
            "-k",
            "--top",
        ),
        ge=1,
    )
    method: str = option("", "Candidates of this protocol; else of the first.")
    dictionary: str = option("", "Judges by what items expect: delaf:FILE, rules:pt, pymorphy3.")
    judgments: Path | None = option(None, "A table of judged candidates.")
    not_expected: Texts = option(
        (), "A remark that says that a candidate is not what was asked for. May be repeated."
    )
    threshold: float = option(0.5, "Candidates above it are counted.", ge=0, le=1)
    top_p: float | None = option(
        None, "Is the target among the candidates that together reach this?", ge=0, le=1
    )
    frequency: bool = option(default=False, help="Relate hits to the frequency of their targets.")
    ratings: Path | None = option(None, "A table with expression and rating (0: an idiom).")
    at_most: float = option(1.0, "Leave expressions with a higher rating out.")
    people: Path | None = option(None, "A table of what people chose: item, option, count.")
    rule: str = option("", "Options as scored by this rule; else by the last.")
    output: Path | None = option(
        None, "Also a figure: .svg, .png, .pdf, .csv or .json.", flags=("-o",)
    )
    figure: FigureName | None = option(
        None, "heat: expressions; dimensions. The first that there is."
    )
    cluster: Texts = run_option("cluster")
    seed: int = option(0, "Seed of the simulated chance levels.")
    methods: bool = option(
        default=False, help="Print the methods of the profile as a paragraph, and no tables."
    )
    as_json: bool = run_option("as_json")


@command_of
def profile(options: ProfileOptions) -> None:
    """Print the profile of each run: hits and fitting shares by dimension, confidence, calibration.

    Also: if the options are among the candidates, the hits of each expression; the relation to word
    frequency; and for several runs of a suite, the items that one hits and another does not.
    """
    from cimento.paradigms.cloze import ProfileSettings, profile_methods, profile_runs

    settings = options.named_in(ProfileSettings)
    profiles = profile_runs(options.runs, settings, remark=note)
    if options.methods:
        show(profile_methods(profiles, settings))
        return
    if options.output is not None:
        drawn = profiles.figure(options.figure).write(options.output)
        options.neutralize(drawn)
        note(f"Written: {drawn}")
    if options.as_json:
        show_json(profiles.plain())
    else:
        show(profiles.text())
