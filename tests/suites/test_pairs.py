"""Minimal pairs from tuples, dictionaries and data frames."""

from __future__ import annotations

import polars as pl
import pytest

from cimento import UsageError, evaluate, evaluate_all, pairs
from cimento.faults import errors
from cimento.suites.checks import check_suite

ROWS = [
    {"good": "Il gatto dorme.", "bad": "Il gatto dormono.", "verb": "dormire"},
    {"good": "I cani corrono.", "bad": "I cani corre.", "verb": "correre"},
]


def sentences(suite):
    return [[c.regions[0].text for c in item.conditions] for item in suite.items]


class PandasFrame:
    """As much of a data frame of pandas as is asked for: it is not installed here."""

    def __init__(self, rows):
        self.columns = list(rows[0])
        self._rows = rows

    def to_dict(self, orient):
        assert orient == "records"
        return self._rows


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


@pytest.mark.parametrize("made", [list, pl.DataFrame, PandasFrame, columns])
def test_all_forms_make_the_same_suite(made):
    suite = pairs(made(ROWS), name="it-verbs", language="it", cluster="verb")
    assert suite == pairs(ROWS, name="it-verbs", language="it", cluster="verb")
    assert sentences(suite) == [[row["good"], row["bad"]] for row in ROWS]
    assert suite.items[0].column("verb") == "dormire"
    assert not errors(check_suite(suite))


def test_tuples_are_enough():
    suite = pairs((row["good"], row["bad"]) for row in ROWS)
    assert sentences(suite) == [[row["good"], row["bad"]] for row in ROWS]
    assert [item.id for item in suite.items] == ["1", "2"]


def test_columns_may_have_other_names():
    rows = [{"id": "a", "grammatical": "We go.", "starred": "We goes."}]
    suite = pairs(rows, good="grammatical", bad="starred")
    assert suite.items[0].id == "a"
    assert sentences(suite) == [["We go.", "We goes."]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "there are none"),
        ("We go.", "got str"),
        ([("We go.",)], "pair 1"),
        ([("We go.", " ")], "no sentence under 'bad'"),
        ([{"good": "We go."}], "no sentence under 'bad'"),
        ({"good": "We go.", "bad": "We goes."}, "values are not lists of one length"),
        ({"good": ["We go."], "bad": []}, "values are not lists of one length"),
    ],
)
def test_what_is_no_pair_is_told(rows, message):
    with pytest.raises(UsageError, match=message):
        pairs(rows)


def test_a_cluster_that_no_pair_has_is_told():
    with pytest.raises(UsageError, match="no pair has this column"):
        pairs(ROWS, cluster="noun")


def test_a_frame_of_blimps_columns_makes_pairs_and_is_itself_no_suite():
    frame = pl.DataFrame({"sentence_good": ["We go."], "sentence_bad": ["We goes."], "UID": ["a"]})
    suite = pairs(frame)
    assert suite.items == pairs([{"good": "We go.", "bad": "We goes.", "UID": "a"}]).items
    with pytest.raises(UsageError, match=r"cimento\.pairs\(rows\)"):
        evaluate(frame, "demo-causal")
    with pytest.raises(UsageError, match=r"cimento\.pairs\(rows\)"):
        list(evaluate_all(frame, "demo-causal"))
    with pytest.raises(UsageError, match="good= and bad="):
        pairs([{"right": "We go.", "wrong": "We goes."}])
