"""What tests of sentences that are read word by word share: a suite, designs, a reader's keys."""

from __future__ import annotations

import re

from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from tests.helpers.command_line import invoke

SUITE = """\
item,good,bad,comprehension,comprehension_answer
1,Le finestre della scuola erano aperte.,Le finestre della scuola era aperte.,Sono finestre?,sì
2,La città vicina è molto bella.,La città vicina è molto bello.,,
3,I bambini stanchi dormono già.,I bambini stanchi dorme già.,I bambini erano svegli?,no
"""
PRACTICE = "text\tcomprehension\tcomprehension_answer\nIl treno parte.\tSi parla di un treno?\tsì\n"
MARKS = re.compile(r"[.,;:!?]+$")


def written(folder):
    """The files of a small suite with practice, in a folder; its path."""
    (folder / "frasi.csv").write_text(SUITE, encoding="utf-8")
    (folder / "practice.tsv").write_text(PRACTICE, encoding="utf-8")
    return folder / "frasi.csv"


def reading_design(folder, **wanted):
    """A design of self-paced reading."""
    plan = SurveyPlan(
        task="reading", language="it", practice=folder / "practice.tsv", seed=3, **wanted
    )
    return build_design(written(folder), plan)


def distractors(folder, *more):
    """A sheet of distractors proposed by a demo model; its path."""
    suite, sheet = written(folder), folder / "maze.tsv"
    command = ["annotate", "survey", "distractors", str(suite), "-m", "demo-causal"]
    command += ["--language", "it", "--practice", str(folder / "practice.tsv"), "-o", str(sheet)]
    assert invoke([*command, "--boundary", "auto", *more]) == 0
    return sheet


def maze_design(folder, **wanted):
    """A design of a maze."""
    sheet = distractors(folder, "--words", "it_sample")
    plan = SurveyPlan(
        task="maze", language="it", distractors=sheet, practice=folder / "practice.tsv", seed=3,
        **wanted,
    )  # fmt: skip
    return build_design(written(folder), plan)


def times_of(question, *, device="key", wrong_at=None, after=""):
    """The stored text of a sentence: 301, 302 ... milliseconds, in mazes all words on the left.

    Args:
        question: the sentence.
        device: what was pressed.
        wrong_at: index of a word of a maze that was chosen wrongly.
        after: milliseconds until the correct choice; empty where the sentence ends there.
    """
    side = "l" if question.foils else ""
    parts = []
    for index in range(len(question.words)):
        parts.append(f"{301 + index}{side}")
        if index == wrong_at:
            parts[-1] += f"!{after}"
            if not after:
                break
    return " ".join([device, *parts])
