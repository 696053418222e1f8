"""Columns with the ratings of one person each, whatever the people are called."""

from __future__ import annotations

import re
import shlex

import pytest

from cimento import InputError
from cimento.intake.roles import parse_choice
from cimento.kinds.registry import load_suite
from tests.helpers.command_line import invoke

SENTENCES = [
    "Le finestre erano aperte.", "Le finestre era aperte.", "La città è bella.",
    "La città è bello.", "Tutti hanno capito.",
]  # fmt: skip
RATINGS = [[5, 4, 5], [1, 2, 1], [5, 5, 4], [2, 1, 1], [4, 5, 5]]
PEOPLE = [
    ["Ana1", "Bea1", "Carlo1"],
    ["A*", "B*", "C*"],
    ["Ana*1", "Bea*1", "Carlo*1"],
    ["*Ana1", "*Bea1"],
    ["ana@uni.example", "bea@uni.example", "carlo@uni.example"],
    ["ana@uni.example", "bea@uni.example"],
    ["Ana", "Bea", "Carlo"],
]


def written(tmp_path, people, ratings=RATINGS):
    path = tmp_path / "giudizi.csv"
    lines = [",".join(["frase", *people])]
    for text, row in zip(SENTENCES, ratings, strict=True):
        lines.append(",".join([text, *map(str, row[: len(people)])]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def conditions(loaded, column):
    """The cells of a column, a condition each."""
    return [one.columns[column] for item in loaded.suite.items for one in item.conditions]


def proposed(text):
    """The columns that a message proposes."""
    (option,) = re.findall(r"--columns[= ]('[^']*')", text)
    return parse_choice(shlex.split(option)[0])


@pytest.mark.parametrize("people", PEOPLE, ids=lambda people: people[0])
def test_columns_of_one_scale_beside_sentences_are_proposed_and_then_read(tmp_path, people):
    path = written(tmp_path, people)
    with pytest.raises(InputError) as error:
        load_suite(path)
    choice = proposed(error.value.todo)
    assert [*choice.values()] == ["frase", *people]
    cells = conditions(load_suite(path, columns=choice, language="it"), "ratings")
    rows = [[int(rating) for rating in cell.split(";")] for cell in cells]
    assert rows == [row[: len(people)] for row in RATINGS]


def test_addresses_are_nobodys_name_in_the_suite(tmp_path):
    people = PEOPLE[4]
    roles = ("sentence", "person", "person 2", "person 3")
    choice = dict(zip(roles, ("frase", *people), strict=True))
    loaded = load_suite(written(tmp_path, people), columns=choice, language="it")
    for cell in conditions(loaded, "participants"):
        assert len({*cell.split("; ")}) == len(people)
        assert "@" not in cell
    assert "@" not in loaded.reading.table.said()


@pytest.mark.parametrize(
    "ratings",
    [
        [[55, 410, 5], [12, 205, 1], [57, 515, 4], [29, 130, 1], [44, 505, 5]],
        [["sì", "no", "5"], ["no", "no", "1"], ["sì", "sì", "4"], ["no", "no", "1"],
         ["sì", "sì", "5"]],
    ],
    ids=["times", "words"],
)  # fmt: skip
def test_columns_that_are_not_on_one_scale_are_nobodys(tmp_path, ratings):
    with pytest.raises(InputError) as error:
        load_suite(written(tmp_path, PEOPLE[0], ratings))
    assert "person=Ana1" not in error.value.todo


@pytest.mark.parametrize("people", [PEOPLE[0], PEOPLE[5]], ids=lambda people: people[0])
def test_import_says_who_reads_such_a_table_and_how(tmp_path, capsys, people):
    path = written(tmp_path, people)
    output = str(tmp_path / "judgments.csv")
    assert invoke(["annotate", "import", str(path), "--names", "keep", "-o", output]) == 2
    said = capsys.readouterr().err
    assert "`cimento run giudizi.csv`" in said
    assert [*proposed(said).values()] == ["frase", *people]
