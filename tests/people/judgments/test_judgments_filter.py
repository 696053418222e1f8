"""Participants left out by rules: who, why, and what it changes."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.command_line import invoke

# Ratings of six sentences by five people; d answers against the rest, c always the same.
RATINGS = {
    "a": (5, 1, 4, 2, 5, 1),
    "b": (5, 2, 5, 1, 4, 2),
    "c": (3, 3, 3, 3, 3, 3),
    "d": (1, 5, 2, 4, 1, 5),
    "e": (4, 1, 5, 2, 4, 1),
}
COLUMNS = (
    "suite", "item", "condition", "candidate", "annotator", "question", "value", "remark", "at",
    "survey", "position", "seconds", "session_seconds", "expected", "status",
)  # fmt: skip


def judgment(annotator, item, value, **more):
    return {
        "suite": "s", "item": str(item), "annotator": annotator, "question": "acceptability",
        "value": str(value), **more,
    }  # fmt: skip


def rated(name, values, **more):
    return [
        judgment(name, n, value, position=n, **more)
        | {"condition": "acceptable" if n % 2 else "unacceptable"}
        for n, value in enumerate(values, start=1)
    ]


EVERYBODY = [row for name, values in RATINGS.items() for row in rated(name, values)]


def check(name, *answers):
    return [judgment(name, f"c{n}", value, expected="1") for n, value in enumerate(answers)]


def write(rows, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        # A column is there where some row has a value for it.
        needed = [c for c in COLUMNS[:9] if c != "position"]
        more = [c for c in COLUMNS[9:] if any(c in row for row in rows)]
        writer = csv.DictWriter(file, [*needed, *more], restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


@dataclass
class Filtered:
    """What the command wrote: the judgments left, and the log as JSON and as text."""

    rows: list[dict[str, str]]
    log: dict
    text: str

    def out(self, step=0):
        return [person["annotator"] for person in self.log["steps"][step]["excluded"]]

    def first(self, step=0):
        return self.log["steps"][step]["excluded"][0]

    def unmeasured(self, step=0):
        return self.log["steps"][step]["unmeasured"]


def filter_rows(folder: Path, rows, *rules) -> Filtered:
    kept = folder / "kept.csv"
    table = write(rows, folder / "j.csv")
    assert invoke(["annotate", "filter", str(table), "-o", str(kept), *map(str, rules)]) == 0
    with kept.open(encoding="utf-8-sig", newline="") as file:
        left = list(csv.DictReader(file))
    log = json.loads((folder / "kept.log.json").read_text(encoding="utf-8"))
    return Filtered(left, log, (folder / "kept.log.txt").read_text(encoding="utf-8"))


@pytest.fixture
def filtered(tmp_path):
    def of(rows, *rules) -> Filtered:
        return filter_rows(tmp_path, rows, *rules)

    return of


class TestRules:
    def test_one_answer_too_often(self, filtered):
        kept = filtered(EVERYBODY, "--same-share", 0.9)
        assert kept.out() == ["c"]
        assert kept.first()["why"] == "6 of 6 are '3'"
        assert len(kept.rows) == 24

    def test_runs_of_one_answer(self, filtered):
        assert filtered(EVERYBODY, "--same-run", 5).out() == ["c"]
        assert filtered(EVERYBODY, "--same-run", 6).out() == []

    def test_agreement_with_the_rest(self, filtered):
        kept = filtered(EVERYBODY, "--with-rest", 0)
        assert kept.out() == ["d"]
        # numpy.corrcoef of d with the mean of the others.
        rest = np.mean([RATINGS[name] for name in "abce"], axis=0)
        expected = np.corrcoef(RATINGS["d"], rest)[0, 1]
        assert kept.first()["measured"] == pytest.approx(expected, abs=1e-12)
        # c has no correlation: it is named and stays.
        assert list(kept.unmeasured()) == ["c"]

    def test_choices_are_held_against_the_most_frequent_ones(self, filtered):
        def chosen(name, *values):
            return [judgment(name, n, v, question="which fits") for n, v in enumerate(values)]

        people = [*chosen("a", "e", "o", "ma"), *chosen("b", "e", "o", "se"),
                  *chosen("c", "e", "o", "ma"), *chosen("d", "se", "se", "dove")]  # fmt: skip
        kept = filtered(people, "--with-rest", 1)
        measured = {
            person["annotator"]: person["measured"] for person in kept.log["steps"][0]["excluded"]
        }
        # On the third the others of b said ma, ma and dove.
        assert measured == {"b": pytest.approx(2 / 3), "d": 0.0}
        assert {row["annotator"] for row in kept.rows} == {"a", "c"}

    def test_attention(self, filtered):
        more = [*EVERYBODY, *check("a", "1", "1"), *check("b", "1", "2")]
        kept = filtered(more, "--attention", 0.75)
        assert kept.out() == ["b"]
        assert kept.first()["why"] == "1 of 2 right"
        assert set(kept.unmeasured()) == {"c", "d", "e"}

    def test_questions_answered(self, filtered):
        several = [row | {"survey": "2"} for row in rated("f", (5, 1, 4, 2))]
        several += [row | {"survey": "2"} for row in rated("g", (5, 1))]
        kept = filtered([*EVERYBODY, *several, *rated("h", (5, 1, 4))], "--answered", 0.6)
        # The longest list of answers to a survey is the survey: six questions, and four of the 2nd.
        assert kept.out() == ["g", "h"]
        assert kept.first()["why"] == "2 of 4 questions"

    def test_many_who_could_not_be_measured_are_counted(self, filtered):
        more = [row for name in "fghi" for row in rated(name, (1, 2))]
        kept = filtered([*EVERYBODY, *more, *check("a", "1")], "--attention", 1)
        assert "not measured, kept: 8 people (there were no checks of attention)" in kept.text

    def test_time_as_recorded_or_summed_or_from_first_to_last(self, filtered):
        fast = rated("fast", (1, 2, 3), session_seconds=90.0)
        summed = rated("summed", (1, 2, 3), seconds=50.0)
        moments = [
            judgment("m", n, 1, at=f"2026-03-01T10:0{minute}:00+00:00")
            for n, minute in ((1, 0), (2, 1))
        ]
        unknown = rated("unknown", (1, 2, 3))
        kept = filtered([*fast, *summed, *moments, *unknown], "--min-seconds", 100)
        excluded = kept.log["steps"][0]["excluded"]
        assert {person["annotator"]: person["measured"] for person in excluded} == {
            "fast": 90,
            "m": 60,
        }
        assert kept.unmeasured() == {"unknown": "no time is known"}

    @pytest.mark.parametrize(("which", "left"), [("first", ["1"]), ("last", ["2"]), ("none", [])])
    def test_duplicates(self, filtered, which, left):
        both = [judgment("a", 1, value) for value in (1, 2)]
        kept = filtered(both, "--duplicates", which)
        assert [row["value"] for row in kept.rows] == left
        assert bool(kept.log["after"]) == bool(left)

    def test_two_choices_of_one_pair_are_the_same_question(self, filtered):
        both = [
            judgment("a", 1, c, condition=c, question="which is better")
            for c in ("acceptable", "unacceptable")
        ]
        assert len(filtered(both, "--duplicates", "first").rows) == 1

    def test_status(self, filtered):
        people = [*rated("a", (1, 2), status="APPROVED"), *rated("b", (1, 2), status="Returned")]
        assert filtered(people, "--status", "returned").out() == ["b"]

    def test_by_hand(self, filtered, tmp_path, capsys):
        assert filtered(EVERYBODY, "--drop", "a=asked for it").first()["why"] == "asked for it"
        table, kept = str(tmp_path / "j.csv"), str(tmp_path / "none.csv")
        assert invoke(["annotate", "filter", table, "-o", kept, "--drop", "anna=x"]) == 2
        assert "nobody of that name" in capsys.readouterr().err

    def test_rules_see_what_is_left(self, filtered):
        kept = filtered(EVERYBODY, "--same-share", 0.9, "--with-rest", 0)
        assert [kept.out(0), kept.out(1)] == [["c"], ["d"]]
        assert kept.unmeasured(1) == {}

    @settings(deadline=None)
    @given(st.integers(1, 6), st.floats(-1, 1), st.floats(0, 1))
    def test_nothing_disappears_without_a_log(self, tmp_path_factory, run, rest, share):
        rules = (f"--same-run={run}", f"--with-rest={rest}", f"--same-share={share}")
        kept = filter_rows(tmp_path_factory.mktemp("filter"), EVERYBODY, *rules)
        logged = sum(person["judgments"] for s in kept.log["steps"] for person in s["excluded"])
        assert len(kept.rows) + logged == len(EVERYBODY)
        left = [(row["annotator"], row["item"]) for row in kept.rows]
        assert [
            key for row in EVERYBODY if (key := (row["annotator"], row["item"])) in left
        ] == left


class TestFigures:
    def test_means_and_agreement(self, filtered):
        kept = filtered(EVERYBODY, *(f"--drop={name}=away" for name in "cde"))
        (question,) = kept.log["after"]
        assert [question[name] for name in ("people", "places", "judgments")] == [2, 6, 12]
        assert question["mean"] == pytest.approx(np.mean([RATINGS["a"], RATINGS["b"]]))
        table = np.array([RATINGS["a"], RATINGS["b"]])
        assert question["sd"] == pytest.approx(table.std(axis=0, ddof=1).mean())
        assert question["by_condition"]["acceptable"] == pytest.approx(table[:, ::2].mean())
        # krippendorff 0.9.0: krippendorff.alpha([[5,1,4,2,5,1],[5,2,5,1,4,2]],
        #   level_of_measurement="interval")
        assert question["alpha"]["value"] == pytest.approx(0.860759493670886, abs=1e-12)

    def test_checks_are_in_no_figure(self, filtered):
        plain = filtered(EVERYBODY, "--same-run", 9)
        checked = filtered([*EVERYBODY, *check("a", "1")], "--same-run", 9)
        assert checked.log["before"] == plain.log["before"]


def test_the_log_says_who_why_and_what_changes(filtered):
    text = filtered(EVERYBODY, "--same-share", 0.9, "--by", "Marta").text
    assert "j.csv, rules set by Marta" in text
    assert "left out: c (6 of 6 are '3'), 6 judgments" in text
    assert "acceptability: people 5 -> 4, judgments 30 -> 24, places 6 -> 6" in text
    assert "mean of acceptable 3.600 -> 3.750" in text
    assert "moved most: 3 acceptable, mean 3.800 -> 4.000" in text


def test_the_command_writes_table_and_log(filtered, capsys):
    capsys.readouterr()
    kept = filtered(
        EVERYBODY, "--same-run", 5, "--with-rest", 0, "--drop", "d=withdrew", "--by", "Marta"
    )
    assert {row["annotator"] for row in kept.rows} == {"a", "b", "e"}
    assert [step["rule"] for step in kept.log["steps"]] == [
        "by hand", "straight-lining, run", "agreement with the rest",
    ]  # fmt: skip
    assert kept.log["by"] == "Marta"
    assert kept.log["limits"]["by_hand"] == {"d": "withdrew"}
    assert kept.text == capsys.readouterr().out


def test_the_command_needs_a_rule(tmp_path, capsys):
    table = write(EVERYBODY, tmp_path / "j.csv")
    assert invoke(["annotate", "filter", str(table), "-o", str(tmp_path / "k.csv")]) == 2
    message = capsys.readouterr().err
    assert "no rule is given" in message
    assert all(rule in message for rule in ("--attention", "--min-seconds", "--drop WHO=WHY"))
