"""Labels that differ only in capitals or blanks are said (CIM-S087)."""

import pytest

import cimento
from cimento.suites.checks import check_suite

SUBJECTS = ("La nave", "La barca", "La zia", "La nonna")


def faults_of(labels, column="source"):
    rows = [
        {"id": str(n), "good": f"{subject} è partita.", "bad": f"{subject} ha partita.",
         column: label}
        for n, (subject, label) in enumerate(zip(SUBJECTS, labels, strict=True), 1)
    ]  # fmt: skip
    suite = cimento.pairs(rows, name="navi", language="it")
    return [fault for fault in check_suite(suite) if fault.code == "CIM-S087"]


@pytest.mark.parametrize("other", ["Mare", "mare  alto"])
def test_the_rarer_spelling_is_named_with_its_items(other):
    usual = other.casefold().replace("  ", " ")
    [fault] = faults_of([usual, other, usual, usual])
    assert fault.seen == (
        f"In the column 'source', {other!r} (items: 1) and {usual!r} (items: 3) are two groups."
    )
    assert "item 2" in fault.where


@pytest.mark.parametrize(
    "labels",
    [
        ["mare", "mare", "lago", "lago"],
        ["mare", "mària", "mare", "maria"],  # another letter is another label
        ["Nota", "nota", "altro", "più"],  # remarks, nearly each its own
        ["", "", "mare", "mare"],
    ],
)
def test_other_labels_are_left_alone(labels):
    assert faults_of(labels) == []


def test_a_phenomenon_is_said_once():
    assert len(faults_of(["mare", "Mare", "mare", "mare"], column="phenomenon")) == 1
