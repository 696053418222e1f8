"""What is wanted of a survey: its questions, its participants, and the wording."""

from __future__ import annotations

from pathlib import Path

from cimento.io.declared import Options, option
from cimento.kinds.base import SurveyTask
from cimento.options import run_option
from cimento.people.surveys import AfterError


class SurveyPlan(Options):
    """The questions of a survey, the participants, and the wording."""

    task: SurveyTask | None = option(None, "What people do; by default as usual for the suite.")
    surveys: int | None = option(None, "How many; as few as possible by default.", ge=1)
    distractors: Path | None = option(
        None, "For maze: the sheet of `annotate survey distractors`, checked by a person."
    )
    after_error: AfterError = option(
        "stop", "After a wrong choice in a maze: the next sentence (stop), or the same word again."
    )
    times: int = option(1, "In how many surveys each sentence is.", ge=1)
    scale: int | None = option(
        None, "Points of the scale; by default those of the suite's ratings, or 5."
    )
    checks: int = option(
        2, "Attention checks in each survey; none in reading and maze.", ge=0, le=20
    )
    check_file: Path | None = option(None, "Checks of your own: text, expected, choices.")
    fillers: Path | None = option(None, "Table of sentences asked in between: text, choices.")
    filler_label: tuple[str, ...] = option(
        (), "Label of sentences of the suite that are fillers; repeat it for others."
    )
    practice: Path | None = option(None, "Table of sentences asked first: text, choices.")
    background: tuple[str, ...] = option(
        (), "Ask participants about themselves: first-language, region, age, dialect; repeat it."
    )
    background_file: Path | None = option(
        None, "Questions of your own about them: name, text, choices."
    )
    break_every: int = option(0, "Questions between two breaks; 0 for no breaks.", ge=0)
    completion: str = option(
        "", "Address or code shown at the end, such as Prolific's completion link."
    )
    balance: str = option("", "Column that surveys are balanced over.")
    apart: str = option("", "Nobody sees two rows with one value in this column.")
    all_conditions: bool = option(
        default=False, help="Everybody sees all conditions of an item; by default, one of them."
    )
    none: bool | None = option(
        None, "Whether people can say that nothing fits.", flags=("--none/--no-none",)
    )
    consent: Path | None = option(None, "Text file with what people agree to.")
    contact: str = option("", "Who is responsible, for the consent text.")
    title: str = option("", "Title that participants see.")
    language: str = option("", "Language of instructions and buttons: en, es, it, pt or ru.")
    limit: int | None = run_option("limit")
    seed: int = option(0, "Seed of all orders.")
