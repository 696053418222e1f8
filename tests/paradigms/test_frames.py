"""Suites of ratings, blanks and stories made of rows are those that the same tables make."""

from __future__ import annotations

import csv
import dataclasses

import polars as pl
import pytest

import cimento
from cimento import CimentoError, SuiteError, UsageError

RATED = [("The keys are here.", 6.5), ("The keys is here.", 2.0), ("A; b, and a \tc.", 3.0)]
BLANKS = [("She is ___ tired to run.", "too"), ("He ___ fast.", "runs | goes")]
STORY = {"story": [1, 1], "version": ["plausible", "cloze 1"],
         "sentence 1": ["Ann lit the lamp.", "Ann lit the lamp."],
         "sentence 2": ["She read.", "It was dark."],
         "conflicting sentence": [None, 1], "revealing sentence": [None, 2],
         "state": [None, "power"]}  # fmt: skip


class Pandas:
    """The two attributes by which a data frame of pandas is known."""

    def __init__(self, columns):
        self.columns = list(columns)
        self._rows = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]

    def to_dict(self, form):
        assert form == "records"
        return [
            {key: float("nan") if value is None else value for key, value in row.items()}
            for row in self._rows
        ]


def forms_of(columns, rows=None):
    """The same rows in every accepted form."""
    names = list(columns)
    records = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    forms = [columns, records, pl.DataFrame(columns), Pandas(columns), iter(records)]
    return [*forms, rows] if rows else forms


def columns_of(names, rows):
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("make", "names", "rows"),
    [(cimento.ratings, ("sentence", "rating"), RATED), (cimento.cloze, ("text", "target"), BLANKS)],
)
def test_every_form_of_rows_is_the_suite_of_their_table(make, names, rows, tmp_path):
    path = tmp_path / "own.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    read = cimento.load_suite(path, language="en").suite
    made = [
        make(form, name="own", language="en") for form in forms_of(columns_of(names, rows), rows)
    ]
    assert made == [read] * len(made)


def test_stories_are_rows_of_the_workbook_or_records():
    made = [cimento.stories(form, language="en") for form in forms_of(STORY)]
    assert [[story.sentences for story in suite.stories] for suite in made] == [
        [("Ann lit the lamp.", "She read."), ("Ann lit the lamp.", "It was dark.")]
    ] * len(made)
    [plausible, implausible] = made[0].stories
    # In the file, sentences are counted from 0.
    assert (implausible.confl_sents, implausible.breakpoint, implausible.state) == (
        (0,),
        1,
        "power",
    )
    records = [
        {"story_id": 1, "type": None, "sentences": ["Ann lit the lamp.", "She read."],
         "example_id": "1", "plausible": True, "breakpoint": -1},
        {"story_id": 1, "type": "cloze", "idx": 0, "sentences": pl.Series(implausible.sentences),
         "example_id": "1-C0", "plausible": False, "breakpoint": 1, "confl_sents": [0],
         "confl_pairs": [0, 1], "states": "power"},
    ]  # fmt: skip
    made = cimento.stories(records, language="en").stories
    assert [story.sentences for story in made] == [plausible.sentences, implausible.sentences]
    assert made[1].confl_pairs == implausible.confl_pairs


def test_suites_of_rows_are_asked():
    rated = cimento.ratings([*RATED, ("We go.", 7), ("We goes.", 1)], language="en")
    headline = cimento.evaluate(rated, "demo-causal").summary().headline
    assert (headline.statistic, headline.n) == ("spearman", 5)
    run = cimento.evaluate(cimento.cloze(BLANKS, language="en"), "demo-causal")
    assert set(run.outcomes()["item"]) == {"1", "2"}
    run = cimento.evaluate(cimento.stories(STORY, language="en"), "demo-causal", shots=0)
    assert run.suite.name == "stories"


def test_the_scale_is_that_in_the_name_of_a_column_and_a_name_may_be_a_path():
    frame = pl.DataFrame({"sentence": ["We go.", "We goes."], "rating (1-5)": [4.0, 2.0]})
    suite = cimento.ratings(frame, name="mine/first")
    assert (suite.name, suite.extra["ratings"]) == ("mine/first", {"low": 1, "high": 5})


def test_lists_of_words_are_several_words():
    with_bars = cimento.cloze([("He ___ fast.", "runs | goes")])
    assert cimento.cloze([("He ___ fast.", ["runs", "goes"])]) == with_bars
    [item] = with_bars.items
    assert [option.text for option in item.options] == ["runs", "goes"]


@pytest.mark.parametrize(
    ("make", "rows", "said"),
    [
        (cimento.ratings, [("We go.", 7), ("We goes.", "bad")], "row 3: The rating is 'bad'"),
        (cimento.ratings, {"good": ["We go."], "bad": ["We goes."]}, "of the kind 'regions'"),
        (cimento.ratings, [], "there are none"),
        (cimento.ratings, [("We go.", 7, 8)], "A tuple has sentence and rating"),
        (cimento.ratings, 7, "got int"),
        (cimento.ratings, {"sentence": ["We go."], "rating": [1, 2]}, "not lists of one length"),
        (cimento.cloze, [("We go.", "now")], "three underscores"),
        (cimento.stories, [("We go.", "now")], "names of columns"),
        (cimento.stories, [{"story": 1, "version": "odd"}], "Write plausible, order 1 or cloze 1"),
        (cimento.stories, [{"story_id": object()}], "a value is a object"),
    ],
)  # fmt: skip
def test_rows_of_another_kind_are_refused_without_a_name_of_a_file_of_ours(make, rows, said):
    with pytest.raises(CimentoError) as caught:
        make(rows)
    assert said in str(caught.value)
    assert "/cimento-" not in str(caught.value)


def test_a_frame_in_the_place_of_a_suite_is_told_what_makes_one():
    with pytest.raises(UsageError, match=r"cimento.pairs.*cimento.ratings.*cimento.cloze"):
        cimento.evaluate(pl.DataFrame({"sentence": ["We go."], "rating": [7]}), "demo-causal")


def test_faults_are_those_of_files(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("sentence,rating\nWe go.,7\nWe goes.,x\n", encoding="utf-8")
    with pytest.raises(SuiteError) as read:
        cimento.load_suite(path)
    with pytest.raises(SuiteError) as made:
        cimento.ratings([("We go.", 7), ("We goes.", "x")])
    assert list(map(dataclasses.astuple, made.value.faults)) == list(
        map(dataclasses.astuple, read.value.faults)
    )
