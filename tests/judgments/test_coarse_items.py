"""A column of groups that was taken as the items is named, with the option that chooses another."""

from __future__ import annotations

import re
import shlex

import pytest

from cimento.cli.main import invoke
from cimento.judgments import judgments_of, read_judgments

SENTENCES = {
    "accordo": ("I gatti dormono.", "Le barche salpano.", "I treni partono."),
    "clitici": ("Lo vedo spesso.", "Gli parlo domani.", "Ne ho comprati tre."),
    "genere": ("La luna è alta.", "Il muro è bianco.", "La via è stretta."),
}
PEOPLE = ("s1", "s2", "s3", "s4", "s5")


def rows(*names):
    """A row for each answer; everybody rates the nine sentences in an order of their own."""
    lines = [",".join(names)]
    for turn, person in enumerate(PEOPLE):
        asked = [
            (group, f"{group}-{number}", text)
            for group, texts in SENTENCES.items()
            for number, text in enumerate(texts)
        ]
        for place, (group, item, text) in enumerate(asked[turn:] + asked[:turn]):
            cells = {
                "subject": person, "item": group, "stimulus": item, "sentence": text,
                "trial": str(place), "rating": str((place * 3 + turn) % 7 + 1),
            }  # fmt: skip
            lines.append(",".join(cells[name] for name in names))
    return "\n".join(lines) + "\n"


def read(tmp_path, capsys, table, *options):
    path, output = tmp_path / "answers.csv", tmp_path / "judgments.csv"
    path.write_text(table, encoding="utf-8")
    output.unlink(missing_ok=True)
    named = ["--names", "keep", "-o", str(output)]
    assert invoke(["annotate", "import", str(path), *options, *named]) == 0
    return judgments_of(read_judgments(output)), capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "column"),
    [
        (("subject", "item", "stimulus", "sentence", "trial", "rating"), "stimulus"),
        (("subject", "item", "stimulus", "rating"), "stimulus"),
        (("subject", "item", "sentence", "trial", "rating"), "sentence"),
    ],
)
def test_the_option_that_is_advised_reads_the_items_rightly(tmp_path, capsys, names, column):
    table = rows(*names)
    judgments, said = read(tmp_path, capsys, table)
    assert {judgment.item for judgment in judgments} == SENTENCES.keys()
    assert "30 answers are to a question that the same person had answered before" in said
    assert "`--columns item=COLUMN` chooses it" in said
    assert "Column 'item' probably has groups of items" in said

    (option,) = re.findall(r"--columns='[^']+'", said)
    assert option == f"--columns='item={column},participant=subject'"
    judgments, said = read(tmp_path, capsys, table, *shlex.split(option))
    assert len({judgment.item for judgment in judgments}) == 9
    assert {judgment.annotator for judgment in judgments} == {*PEOPLE}
    assert len({(judgment.annotator, judgment.item) for judgment in judgments}) == 45
    assert "answered before" not in said
    assert "groups of items" not in said


def test_nothing_is_said_of_items_where_a_few_people_answered_twice(tmp_path, capsys):
    table = rows("subject", "stimulus", "trial", "rating").replace("stimulus", "item")
    twice = table + "s1,genere-1,9,3\ns2,genere-1,9,3\n"
    _, said = read(tmp_path, capsys, twice, "--columns", "participant=subject")
    assert "2 answers are to a question that the same person had answered before" in said
    assert "groups of items" not in said
    assert "item=COLUMN" not in said


def test_no_column_is_named_where_none_tells_the_answers_apart(tmp_path, capsys):
    table = rows("subject", "item", "rating")
    _, said = read(tmp_path, capsys, table, "--columns", "participant=subject")
    assert "`--columns item=COLUMN` chooses it" in said
    assert "groups of items" not in said
