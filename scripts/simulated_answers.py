"""Invent answers to a survey, by seed, to try out what comes after it. No person gave them.

Usage: python scripts/simulated_answers.py SURVEY SUITE --people 12 --seed 7 -o OUT.csv

Reads the forms of a survey (docs/people.md) and writes a long table with the columns of the
judgments table. Participants are called SIMULATED-01 and so on. Three of them are bad, each in
another way, so that there is something to filter: the last one answers at random and fails the
checks of attention, the one before always gives the same answer, the one before that is in a hurry.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

COLUMNS = (
    "suite", "item", "condition", "candidate", "annotator", "question", "value", "survey",
    "position", "seconds", "session_seconds", "expected", "remark",
)  # fmt: skip
REMARK = "simulated"
MEANS = {"acceptable": 4.4, "unacceptable": 1.9}
SPREAD = 0.8
TARGET_SHARE = 0.75
MODES = ("hurried", "same", "random")

Form = Sequence[Mapping[str, str]]


def main() -> None:
    """Read the arguments, and write the answers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("survey", type=Path)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    forms = [_form(path) for path in sorted((options.survey / "forms").glob("survey-*.csv"))]
    targets = _targets(options.suite)
    rows = list(answers(forms, targets, people=options.people, seed=options.seed))
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} simulated answers of {options.people} people who do not exist")


def answers(
    forms: Sequence[Form], targets: Mapping[str, str], *, people: int, seed: int
) -> Iterator[dict[str, str]]:
    """The answers of everybody; surveys are handed out in turn.

    Args:
        forms: the questions of each survey.
        targets: item to the word that was in its blank.
        people: how many.
        seed: of everything that is invented.
    """
    for number in range(people):
        name = f"SIMULATED-{number + 1:02d}"
        chance = random.Random(f"{seed}/{name}")  # noqa: S311  # no secret
        mode = dict(zip(range(people - len(MODES), people), MODES, strict=True)).get(number, "")
        form = forms[number % len(forms)]
        seconds = [chance.uniform(0.4, 0.9) if mode == "hurried" else chance.uniform(4, 14)
                   for _ in form]  # fmt: skip
        for question, taken in zip(form, seconds, strict=True):
            yield {
                **{name_: question.get(name_, "") for name_ in COLUMNS},
                "annotator": name,
                "value": _value(question, targets, mode, chance),
                "seconds": f"{taken:.2f}",
                "session_seconds": f"{sum(seconds):.2f}",
                "remark": REMARK,
            }


def _value(
    question: Mapping[str, str], targets: Mapping[str, str], mode: str, chance: random.Random
) -> str:
    values = [text for name, text in question.items() if name.startswith("value_") and text]
    if mode == "random":
        return chance.choice(values)
    if question["expected"]:
        return question["expected"]
    if mode == "same":
        return values[len(values) // 2]
    if question["condition"] in MEANS:
        drawn = round(chance.gauss(MEANS[question["condition"]], SPREAD))
        return str(min(max(drawn, 1), len(values)))
    target = targets.get(question["item"], values[0])
    return target if chance.random() < TARGET_SHARE else chance.choice(values)


def _form(path: Path) -> Form:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _targets(suite: Path) -> dict[str, str]:
    """What was in the blanks of a cloze suite; nothing for other suites."""
    from cimento.paradigms.cloze.files import load_cloze
    from cimento.suites.builtin import kind_of

    if kind_of(suite) != "cloze":
        return {}
    return {item.id: item.targets[0] for item in load_cloze(suite).items}


if __name__ == "__main__":
    main()
