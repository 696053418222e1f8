"""The terminal table."""

from __future__ import annotations

import dataclasses
import re

import pytest

from cimento import Summary
from cimento.kinds.sections import estimates_grid
from cimento.records.summary import Missing
from cimento.report.formatting import bits, near_ties, remarks
from cimento.report.grid import grid_as_text
from cimento.report.terminal import terminal_table
from cimento.statistics.intervals import WILSON, WILSON_CLUSTERED
from tests.helpers.reporting import (
    AGREEMENT,
    constant,
    first_items,
    make_summary,
    named,
    summary_of,
    unknown,
    with_predictions,
)

BOTH = with_predictions(
    named(AGREEMENT, "both", language="it"),
    "(2;%match%) < (2;%mismatch%)",
    "(1;%match%) = (1;%mismatch%)",
)
FORMS = (terminal_table,)


def test_the_terminal_table_fits_eighty_columns_and_has_no_codes():
    text = terminal_table(summary_of(make_summary(BOTH), make_summary(model="x" * 60)))
    assert max(map(len, text.splitlines())) <= 80
    assert {mark for mark in text if not mark.isprintable()} == {"\n"}
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_name_that_is_too_long_is_not_cut_in_its_revision():
    text = terminal_table(summary_of(make_summary(BOTH, model="organization/model-large@1234567")))
    lines = [line[:12].rstrip() for line in text.splitlines()]
    begin = lines.index("organization")
    # Lines of the model are beside the rates of its predictions.
    assert lines[begin : begin + 4] == ["organization", "/", "model-large", "@1234567"]


def test_the_terminal_table_has_codes_only_where_asked():
    summary = summary_of(make_summary())
    colored = terminal_table(summary, color=True)
    assert "\x1b[" in colored
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in stripped.splitlines()] == terminal_table(summary).splitlines()


def test_each_line_has_rate_interval_chance_and_the_three_counts():
    lines = terminal_table(summary_of(make_summary(BOTH))).splitlines()
    header = next(line for line in lines if "accuracy" in line)
    assert " ".join(header.split()) == "model pred. accuracy 95% interval chance n ties unscored"
    rows = [line for line in lines if re.search(r"\[\d", line)]
    assert [row.removeprefix("fake@0000000").split() for row in rows] == [
        ["prediction", "0", "0.750", "[0.409,", "0.929]", "0.500", "8", "0", "0"],
        ["prediction", "1", "1.000", "[0.676,", "1.000]", "-", "8", "0", "0"],
        ["all", "predictions", "0.750", "[0.409,", "0.929]", "-", "8", "0", "0"],
    ]


def test_a_single_prediction_is_not_repeated_as_conjunction():
    text = terminal_table(summary_of(make_summary()))
    assert text.count("[0.409, 0.929]") == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("suite", "score", "said"),
    [
        (AGREEMENT, unknown, "Nothing was scored (8 items unscored)"),
        (AGREEMENT, constant, "All 8 items judged are ties"),
        (first_items(AGREEMENT, 1), constant, "Only one item was judged"),
        (with_predictions(first_items(AGREEMENT, 0)), constant, "The suite has no items"),
        (with_predictions(AGREEMENT), constant, "The suite has no predictions"),
    ],
)
def test_what_cannot_be_told_is_said_plainly(form, suite, score, said):
    plain = " ".join(form(summary_of(make_summary(suite, score))).replace("\\", "").split())
    assert said in plain


@pytest.mark.parametrize(
    ("passed", "of", "method", "doubted"),
    [(8, 8, WILSON, True), (1, 24, WILSON, True), (8, 8, WILSON_CLUSTERED, False),
     (25, 25, WILSON, False), (6, 8, WILSON, False)],
)  # fmt: skip
def test_intervals_of_few_items_that_are_nearly_all_alike_are_doubted(passed, of, method, doubted):
    (run,) = summary_of(make_summary()).runs
    result = dataclasses.replace(
        run.results[0],
        passed=passed,
        right=passed,
        n=of,
        failed=of - passed,
        tied=0,
        interval_method=method,
    )
    said = remarks(dataclasses.replace(run, estimates=(result,)))
    assert any("the interval may be a little too narrow" in note for note in said) == doubted


@pytest.mark.parametrize("form", FORMS)
def test_no_interval_is_shown_where_there_is_none(form):
    shown = form(summary_of(make_summary(score=unknown)))
    assert not re.search(r"\[[\d.]+, [\d.]+\]", shown)
    assert "0.000" not in shown
    assert "No interval could be made." in shown


@pytest.mark.parametrize("form", FORMS)
def test_ties_and_unscored_are_counted_beside_the_rate(form):
    tied = form(summary_of(make_summary(score=constant)))
    row = next(line for line in tied.splitlines() if "fake@0000000" in line)
    assert [cell for cell in row.replace("|", " ").split() if cell.isdigit()] == [
        "0",  # of its name
        "8",
        "8",
        "0",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_what_was_not_run_is_named(form):
    lost = Missing(suite="it-x", model="org/none", message="org/none: there is no such model.")
    text = form(Summary(runs=(), missing=(lost,)))
    assert "Nothing was run." in text
    assert "Not run" in text
    assert "it-x, org/none: org/none: there is no such model." in text


@pytest.mark.parametrize("form", FORMS)
def test_the_method_of_the_intervals_is_named(form):
    assert "Intervals (95%): Wilson." in " ".join(form(summary_of(make_summary())).split())


def test_names_cannot_write_control_codes_to_the_terminal():
    run = make_summary(named(AGREEMENT, "a\x1b[2Jb\nc"), model="m\x1b]0;x\x07")
    text = terminal_table(summary_of(run))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "a [2Jb c" in text


def test_markup_of_rich_in_a_name_is_text():
    text = terminal_table(summary_of(make_summary(named(AGREEMENT, "[red]x[/]"), model="[bold]m")))
    assert "[red]x[/]" in text
    assert "[bold]m" in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.0, "0.00"), (3.456, "+3.46"), (-0.006, "-0.01"), (-0.0006, "-0.0006")],
)
def test_a_margin_never_rounds_to_zero_unless_it_is(value, text):
    assert bits(value) == text


def test_near_ties_of_all_suites_are_told_once():
    run = make_summary()
    half = {"near_tie_bits": 1.3, "near_tie_method": "the error of bfloat16"}
    near = dataclasses.replace(run.results[0], near_tied=2, **half)
    runs = [dataclasses.replace(run, suite=name, estimates=(near,)) for name in ("one", "two")]
    assert near_ties(runs) == (
        "Near ties: 4 of 16 verdicts within 1.3 bits (the error of bfloat16), which another machine"
        " or batch size may turn."
    )
    assert not any("1.3 bits" in remark for remark in remarks(runs[0]))


def test_a_missing_chance_level_is_explained_by_prediction():
    [first, second] = remarks(make_summary(BOTH))
    assert first.startswith("prediction 1: There is no chance level")
    assert second.startswith("all predictions: There is no chance level")


def test_a_table_of_estimates_says_which_are_in_percent():
    estimates = make_summary(BOTH).estimates
    text = grid_as_text(estimates_grid(estimates, title="t"))
    assert re.search(r"accuracy, % +75\.0 \[40\.9, 92\.9\]", text)
