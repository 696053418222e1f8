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

from cimento.judgments import BETTER, Judgment
from cimento.judgments.filters import MEASURES
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
class FilterResult:
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


def filter_rows(folder: Path, rows, *rules) -> FilterResult:
    kept = folder / "kept.csv"
    table = write(rows, folder / "j.csv")
    assert invoke(["annotate", "filter", str(table), "-o", str(kept), *map(str, rules)]) == 0
    with kept.open(encoding="utf-8-sig", newline="") as file:
        left = list(csv.DictReader(file))
    log = json.loads((folder / "kept.log.json").read_text(encoding="utf-8"))
    return FilterResult(left, log, (folder / "kept.log.txt").read_text(encoding="utf-8"))


@pytest.fixture
def filtered(tmp_path):
    def of(rows, *rules) -> FilterResult:
        return filter_rows(tmp_path, rows, *rules)

    return of


class TestRules:
    def test_one_answer_too_often(self, filtered):
        kept = filtered(EVERYBODY, "--same-share", 0.9)
        assert kept.out() == ["c"]
        assert kept.first()["why"] == "6 of 6 are '3'"
        assert len(kept.rows) == 24

    def test_an_answer_is_one_however_it_is_written(self, filtered):
        spelled = rated("f", ("3", "3.0", "3,0", "3", "3.00", "3"))
        kept = filtered([*EVERYBODY, *spelled], "--same-share", 0.9)
        assert kept.out() == ["c", "f"]
        assert filtered([*EVERYBODY, *spelled], "--same-run", 5).out() == ["c", "f"]

    def test_who_left_and_came_back_and_clicked_through(self, filtered):
        # 14 answers in 7 seconds, with a break of three minutes before them.
        clicked = rated("quick", (5, 1) * 7, seconds=0.5, session_seconds=191.0)
        slow = rated("slow", (5, 1) * 7, seconds=3.0, session_seconds=60.0)
        slow[3]["seconds"] = 400.0
        unknown = rated("unknown", (5, 1) * 7)
        people = [*clicked, *slow, *unknown]
        assert filtered(people, "--min-seconds", 30).out() == []
        kept = filtered(people, "--min-median-seconds", 1)
        assert kept.out() == ["quick"]
        assert kept.first()["why"] == "median 0.50 seconds an answer, of 14"
        assert kept.unmeasured() == {"unknown": "the time of most answers is not known"}
        assert "median answer time: at least 1 seconds" in kept.text

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


def alpha_of(table):
    """Krippendorff's alpha for interval data from the matrix of people and units, by hand.

    1 - D_o / D_e with the squared differences of the pairs within units, and of all pairs.
    """
    units = [[*one.values()] for one in table.values() if len(one) > 1]
    n = sum(map(len, units))
    within = sum(sum((a - b) ** 2 for a in one for b in one) / (len(one) - 1) for one in units)
    every = [value for one in units for value in one]
    return 1 - (within / n) / (sum((a - b) ** 2 for a in every for b in every) / (n * (n - 1)))


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_repeated_answers_of_one_person_are_one_persons(data):
    from cimento.judgments import Judgment
    from cimento.judgments.summaries import mean_ratings, summarize, with_rest

    people = data.draw(st.integers(2, 5))
    table = {
        str(item): {f"p{person}": float(data.draw(st.integers(1, 7))) for person in range(people)}
        for item in range(6)
    }
    first = [
        Judgment(suite="s", item=item, annotator=who, value=f"{value:g}")
        for item, one in table.items()
        for who, value in one.items()
    ]
    repeated = [
        Judgment(suite="s", item=item, annotator="p0", value=str(data.draw(st.integers(1, 7))))
        for item in data.draw(st.lists(st.sampled_from(sorted(table)), max_size=12))
    ]
    (alone,), (both,) = summarize(first), summarize([*first, *repeated])
    assert both == alone
    assert mean_ratings([*first, *repeated]) == mean_ratings(first)
    assert with_rest([*first, *repeated]) == with_rest(first)
    if alone.alpha.value is not None:
        assert alone.alpha.value == pytest.approx(alpha_of(table))


def test_repeated_answers_are_said_where_agreement_is_printed(tmp_path, capsys):
    again = rated("a", (1, 5, 1, 5, 1, 5))
    once, twice = (
        write(EVERYBODY, tmp_path / "j.csv"),
        write([*EVERYBODY, *again], tmp_path / "k.csv"),
    )
    shown = []
    for table in (once, twice):
        assert invoke(["annotate", "agreement", str(table)]) == 0
        shown.append(capsys.readouterr())
    assert shown[0].out == shown[1].out
    assert (
        "6 answers are to a question that the same person had answered before (a)" in shown[1].err
    )
    assert "answered before" not in shown[0].err


def test_a_check_is_right_by_its_value(filtered):
    kept = filtered([*EVERYBODY, *check("a", "1", "1.0", "1,0"), *check("b", "1", "2")],
                    "--attention", 1)  # fmt: skip
    assert kept.out() == ["b"]


def test_choices_between_sentences_are_no_straight_line_and_constant_ratings_have_a_reason():
    chosen = [
        Judgment(suite="s", item=str(n), annotator="ann", question=BETTER, value=text, position=n)
        for n, text in enumerate(("Anna ride.", "Anna dorme.", "Anna parte."))
    ]
    for name in ("straight-lining, run", "straight-lining, share"):
        measured = MEASURES[name](chosen)["ann"]
        assert (measured.value, "answers of its own" in measured.basis) == (None, True)
    rated = [
        Judgment(suite="s", item=str(n), annotator=who, value=value)
        for who, values in {"ann": "333", "bea": "125", "eva": "124"}.items()
        for n, value in enumerate(values)
    ]
    agreement = MEASURES["agreement with the rest"](rated)
    assert agreement["ann"].basis == "all ratings of the person are equal"
    assert MEASURES["straight-lining, run"](rated)["ann"].value == 3
    # scipy.stats.pearsonr of 1, 2, 5 with the means 2, 2.5, 3.5 of the others.
    assert agreement["bea"].value == pytest.approx(0.9958705948858222)
