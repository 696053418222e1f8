"""Numbers under the name of ratings that a model gave: a warning, which the scale's name ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.paradigms.ratings.model_values import faults_of_model_values

SENTENCES = ("The tea is warm.", "The tea are warm.", "Two hens sleep.", "Two hens sleeps.")


def said(tmp_path, capsys, numbers, heading="rating"):
    path = tmp_path / "table.tsv"
    rows = [f"{sentence}\t{number}" for sentence, number in zip(SENTENCES, numbers, strict=True)]
    path.write_text("\n".join((f"sentence\t{heading}", *rows)) + "\n", encoding="utf-8")
    code = invoke(["suites", "check", str(path), "--language", "en"])
    streams = capsys.readouterr()
    return code, streams.out + streams.err


@pytest.mark.parametrize(
    ("numbers", "what"),
    [
        ("-31.2 -38.911 -24.05 -29.7", "log-probabilities"),
        ("-3.2 -4.9 -2.05 -3.7", "log-probabilities"),
        ("31.2 38.911 24.05 29.7", "surprisals or perplexities"),
        ("12,5 318,4 20,25 77,5", "surprisals or perplexities"),
        ("1e-9 2.5e-12 0.0004 3e-8", "probabilities"),
    ],
)
def test_values_of_a_model_are_no_ratings_in_silence(tmp_path, capsys, numbers, what):
    code, text = said(tmp_path, capsys, numbers.split())
    assert code == 0
    assert "CIM-S075 table.tsv: The numbers in 'rating', from " in text
    assert f"look like {what} of a model" in text
    assert "CIM-S036" not in text


@pytest.mark.parametrize(
    ("numbers", "heading"),
    [
        ("6.333 2.167 5.8 1.5", "rating"),  # means of a scale of 7 points
        ("0.81 -1.2 0.93 -0.54", "rating"),  # z-scores
        ("-1 -3 -2 -3", "rating"),  # a scale from -3 to 3, of which nobody used the half
        ("90 12 85 20", "rating"),  # single answers of a slider
        ("0.95 0.2 0.875 0", "rating"),  # proportions of people
        ("90.4 12.25 85.5 20.1", "rating (0 to 100)"),  # means of a slider that is named
        ("-31.2 -38.911 -24.05 -29.7", "rating (-40 to 0)"),
    ],
)
def test_what_people_may_have_given_is_taken(tmp_path, capsys, numbers, heading):
    code, text = said(tmp_path, capsys, numbers.split(), heading)
    assert code == 0
    assert "CIM-S075" not in text


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 20),
    st.lists(st.lists(st.integers(1, 20), min_size=2, max_size=9), min_size=2, max_size=9),
)
def test_means_of_a_scale_of_points_are_never_taken_for_a_models(points, answers):
    means = [sum(min(a, points) for a in row) / len(row) for row in answers]
    assert faults_of_model_values(means, "rating", "table") == []
