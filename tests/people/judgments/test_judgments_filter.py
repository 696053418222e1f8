"""Participants left out by rules: who, why, and what it changes."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.people.judgments import summaries
from cimento.people.judgments.filters import ExclusionRules, filter_judgments, log_text
from cimento.people.judgments.records import Judgment, read_judgments, table_of, write_judgments
from cimento.people.judgments.summaries import summarise
from tests.helpers.command_line import invoke

# Ratings of six sentences by five people; d answers against the rest, c always the same.
RATINGS = {
    "a": (5, 1, 4, 2, 5, 1),
    "b": (5, 2, 5, 1, 4, 2),
    "c": (3, 3, 3, 3, 3, 3),
    "d": (1, 5, 2, 4, 1, 5),
    "e": (4, 1, 5, 2, 4, 1),
}


def rated(name, values, **more):
    return [
        Judgment(
            suite="s",
            item=str(n),
            condition="acceptable" if n % 2 else "unacceptable",
            annotator=name,
            value=str(value),
            position=n,
            **more,
        )
        for n, value in enumerate(values, start=1)
    ]


@pytest.fixture
def judgments():
    return [each for name, values in RATINGS.items() for each in rated(name, values)]


def check(name, *answers):
    return [
        Judgment(suite="s", item=f"c{n}", annotator=name, value=value, expected="1")
        for n, value in enumerate(answers)
    ]


def out(filtered, step=0):
    return [each.annotator for each in filtered.steps[step].excluded]


class TestRules:
    def test_one_answer_too_often(self, judgments):
        found = filter_judgments(judgments, ExclusionRules(same_share=0.9))
        assert out(found) == ["c"]
        assert found.steps[0].excluded[0].why == "6 of 6 are '3'"
        assert len(found.judgments) == 24

    def test_runs_of_one_answer(self, judgments):
        assert out(filter_judgments(judgments, ExclusionRules(same_run=5))) == ["c"]
        assert out(filter_judgments(judgments, ExclusionRules(same_run=6))) == []

    def test_agreement_with_the_rest(self, judgments):
        found = filter_judgments(judgments, ExclusionRules(with_rest=0.0))
        assert out(found) == ["d"]
        # numpy.corrcoef of d with the mean of the others.
        rest = np.mean([RATINGS[name] for name in "abce"], axis=0)
        expected = np.corrcoef(RATINGS["d"], rest)[0, 1]
        assert found.steps[0].excluded[0].measured == pytest.approx(expected, abs=1e-12)
        # c has no correlation: it is named and stays.
        assert list(found.steps[0].unmeasured) == ["c"]

    def test_choices_are_held_against_the_most_frequent_ones(self):
        def chosen(name, *values):
            return [
                Judgment(suite="s", item=str(n), annotator=name, question="which fits", value=v)
                for n, v in enumerate(values)
            ]

        people = [*chosen("a", "e", "o", "ma"), *chosen("b", "e", "o", "se"),
                  *chosen("c", "e", "o", "ma"), *chosen("d", "se", "se", "dove")]  # fmt: skip
        measured = summaries.with_rest(people)
        assert measured["a"].value == 1.0
        # On the third the others of b said ma, ma and dove.
        assert measured["b"].value == pytest.approx(2 / 3)
        assert measured["d"].value == 0.0

    def test_attention(self, judgments):
        more = [*judgments, *check("a", "1", "1"), *check("b", "1", "2")]
        found = filter_judgments(more, ExclusionRules(attention=0.75))
        assert out(found) == ["b"]
        assert found.steps[0].excluded[0].why == "1 of 2 right"
        assert set(found.steps[0].unmeasured) == {"c", "d", "e"}

    def test_time_as_recorded_or_summed_or_from_first_to_last(self):
        fast = rated("fast", (1, 2, 3), session_seconds=90.0)
        summed = rated("summed", (1, 2, 3), seconds=50.0)
        moments = [
            Judgment(suite="s", item="1", annotator="m", value="1", at="2026-03-01T10:00:00+00:00"),
            Judgment(suite="s", item="2", annotator="m", value="1", at="2026-03-01T10:01:00+00:00"),
        ]
        unknown = rated("unknown", (1, 2, 3))
        found = filter_judgments([*fast, *summed, *moments, *unknown], ExclusionRules(seconds=100))
        step = found.steps[0]
        assert {each.annotator: each.measured for each in step.excluded} == {"fast": 90, "m": 60}
        assert step.unmeasured == {"unknown": "no time is known"}

    @pytest.mark.parametrize(("which", "left"), [("first", ["1"]), ("last", ["2"]), ("none", [])])
    def test_duplicates(self, which, left):
        both = [Judgment(suite="s", item="1", annotator="a", value=v) for v in ("1", "2")]
        found = filter_judgments(both, ExclusionRules(duplicates=which))
        assert [each.value for each in found.judgments] == left

    def test_two_choices_of_one_pair_are_the_same_question(self):
        both = [
            Judgment(suite="s", item="1", condition=c, annotator="a", question="which is better")
            for c in ("acceptable", "unacceptable")
        ]
        assert len(filter_judgments(both, ExclusionRules(duplicates="first")).judgments) == 1

    def test_status(self):
        people = [*rated("a", (1, 2), status="APPROVED"), *rated("b", (1, 2), status="Returned")]
        assert out(filter_judgments(people, ExclusionRules(statuses=("returned",)))) == ["b"]

    def test_by_hand(self, judgments):
        found = filter_judgments(judgments, ExclusionRules(by_hand={"a": "asked for it"}))
        assert found.steps[0].excluded[0].why == "asked for it"
        with pytest.raises(UsageError, match="nobody of that name"):
            filter_judgments(judgments, ExclusionRules(by_hand={"anna": "x"}))

    def test_rules_see_what_is_left(self, judgments):
        found = filter_judgments(judgments, ExclusionRules(same_share=0.9, with_rest=0.0))
        assert [out(found, 0), out(found, 1)] == [["c"], ["d"]]
        assert found.steps[1].unmeasured == {}

    @settings(deadline=None)
    @given(st.integers(1, 6), st.floats(-1, 1), st.floats(0, 1))
    def test_nothing_disappears_without_a_log(self, run, rest, share):
        everything = [each for name, values in RATINGS.items() for each in rated(name, values)]
        found = filter_judgments(
            everything, ExclusionRules(same_run=run, with_rest=rest, same_share=share)
        )
        logged = sum(each.judgments for step in found.steps for each in step.excluded)
        assert len(found.judgments) + logged == len(everything)
        assert [each for each in everything if each in found.judgments] == list(found.judgments)


class TestFigures:
    def test_means_and_agreement(self, judgments):
        (found,) = summarise([each for each in judgments if each.annotator in "ab"])
        assert (found.people, found.places, found.judgments) == (2, 6, 12)
        assert found.mean == pytest.approx(np.mean([RATINGS["a"], RATINGS["b"]]))
        table = np.array([RATINGS["a"], RATINGS["b"]])
        assert found.sd == pytest.approx(table.std(axis=0, ddof=1).mean())
        assert found.by_condition["acceptable"] == pytest.approx(table[:, ::2].mean())
        # krippendorff 0.9.0: krippendorff.alpha([[5,1,4,2,5,1],[5,2,5,1,4,2]],
        #   level_of_measurement="interval")
        assert found.alpha.value == pytest.approx(0.860759493670886, abs=1e-12)

    def test_checks_are_in_no_figure(self, judgments):
        assert summarise([*judgments, *check("a", "1")]) == summarise(judgments)

    def test_of_nothing_there_is_nothing(self):
        assert summarise([]) == ()


def test_the_log_says_who_why_and_what_changes(judgments):
    text = log_text(
        filter_judgments(judgments, ExclusionRules(same_share=0.9)), source="j.csv", by="Marta"
    )
    assert "j.csv, rules set by Marta" in text
    assert "left out: c (6 of 6 are '3'), 6 judgments" in text
    assert "acceptability: people 5 -> 4, judgments 30 -> 24, places 6 -> 6" in text
    assert "mean of acceptable 3.600 -> 3.750" in text
    assert "moved most: 3 acceptable, mean 3.800 -> 4.000" in text


def test_the_command_writes_table_and_log(tmp_path, judgments, capsys):
    path = write_judgments(table_of(judgments), tmp_path / "j.parquet")
    output = tmp_path / "kept.csv"
    code = invoke([
        "annotate", "filter", str(path), "-o", str(output), "--same-run", "5",
        "--with-rest", "0", "--drop", "d=withdrew", "--by", "Marta",
    ])  # fmt: skip
    assert code == 0
    assert set(read_judgments(output)["annotator"]) == {"a", "b", "e"}
    log = json.loads((tmp_path / "kept.log.json").read_text(encoding="utf-8"))
    assert [step["rule"] for step in log["steps"]] == [
        "by hand", "straight-lining, run", "agreement with the rest",
    ]  # fmt: skip
    assert log["by"] == "Marta"
    assert log["limits"]["by_hand"] == {"d": "withdrew"}
    assert (tmp_path / "kept.log.txt").read_text(encoding="utf-8") == capsys.readouterr().out


def test_the_command_needs_a_rule(tmp_path, judgments, capsys):
    path = write_judgments(table_of(judgments), tmp_path / "j.parquet")
    assert invoke(["annotate", "filter", str(path), "-o", str(tmp_path / "k.csv")]) == 2
    assert "no rule is given" in capsys.readouterr().err
