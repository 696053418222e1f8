"""Tables of ratings whose items cross two factors, and people's DD in them."""

from __future__ import annotations

import csv
import io
import json
from itertools import product

import numpy as np
import pytest
from scipy import stats

from cimento import load_suite
from cimento.paradigms.regions.people_effects import people_of_suite
from cimento.suites.ratings import rated_of
from tests.helpers.command_line import invoke
from tests.helpers.rated_designs import LEVELS, PEOPLE, answers, sentences, write_rows

CELLS = tuple(product(*LEVELS.values()))
SIGNS = (-1, 1, 1, -1)
"""Of the cells in DD: (long, plain - long, island) - (short, plain - short, island)."""


def cell_of(row):
    return CELLS.index((row["distance"], row["structure"]))


def by_hand(rows, phenomenon):
    """Ratings as z within people (n - 1): shape (items, people, cells) in the order of SIGNS."""
    values = {name: [int(r["rating"]) for r in rows if r["participant"] == name] for name in PEOPLE}
    ids = [*dict.fromkeys(row["item"] for row in rows if row["phenomenon"] == phenomenon)]
    table = np.full((len(ids), len(PEOPLE), 4), np.nan)
    for row in rows:
        if row["phenomenon"] == phenomenon:
            given = np.array(values[row["participant"]])
            z = (int(row["rating"]) - given.mean()) / given.std(ddof=1)
            table[ids.index(row["item"]), PEOPLE.index(row["participant"]), cell_of(row)] = z
    return table


def long_rows():
    return [*answers([*sentences()])]


def wide(rows):
    """A row for each sentence, with a column for each person."""
    made = {}
    for row in rows:
        free = {key: cell for key, cell in row.items() if key not in ("participant", "rating")}
        one = made.setdefault((row["item"], row["sentence"]), free)
        one[f"P{PEOPLE.index(row['participant']) + 1}"] = row["rating"]
    return list(made.values())


def with_condition(rows):
    """A column of conditions in place of those of the factors."""
    return [
        {
            **{key: cell for key, cell in row.items() if key not in LEVELS},
            "condition": f"{row['distance']}_{row['structure']}",
        }
        for row in rows
    ]


@pytest.mark.parametrize("form", ["rows", "rows, condition", "columns", "columns, condition"])
def test_people_s_dd_is_that_of_hand_whatever_form_the_table_has(tmp_path, form):
    rows = long_rows()
    table = wide(rows) if form.startswith("columns") else rows
    table = with_condition(table) if form.endswith("condition") else table
    loaded = load_suite(write_rows(table, tmp_path / "isole.csv"), language="it").suite
    assert [item.id for item in loaded.items][:2] == ["W01", "W02"]
    assert loaded.extra["kind"] == "acceptability"

    effects = people_of_suite(loaded)
    assert effects.n_people == len(PEOPLE)
    for test, phenomenon in zip(effects.tests, ("whether", "adjunct"), strict=True):
        z = by_hand(rows, phenomenon)
        dds = z.mean(axis=1) @ np.array(SIGNS)
        assert test.phenomenon == phenomenon
        assert (test.dd.n, test.dd.value) == (6, pytest.approx(dds.mean()))
        t = dds.mean() / (dds.std(ddof=1) / np.sqrt(len(dds)))
        assert test.dd.statistic == pytest.approx(t)


def test_the_interval_for_other_people_has_both_variances(tmp_path):
    rows = long_rows()
    loaded = load_suite(write_rows(rows, tmp_path / "isole.csv"), language="it").suite
    for test in people_of_suite(loaded).tests:
        z = by_hand(rows, test.phenomenon)
        items, people, _ = z.shape
        # Everybody rated everything: errors of items, of people, and of single people in items.
        each = (z - z.mean(axis=(0, 1))) @ np.array(SIGNS)
        variances = [
            (each.sum(axis=axis) ** 2).sum() / (1 - 1 / m) / each.size**2
            for axis, m in ((1, items), (0, people))
        ]
        variances.append((each**2).sum() / (1 - 1 / each.size) / each.size**2)
        variance = max(variances[0] + variances[1] - variances[2], *variances)
        assert test.others.value == pytest.approx(test.dd.value)
        # t of 5 degrees of freedom, of six items and six people: 2.5706 at .975.
        half = 2.570581836 * np.sqrt(variance)
        assert test.others.low == pytest.approx(test.dd.value - half)
        assert test.others.high == pytest.approx(test.dd.value + half)


def test_a_table_of_means_has_people_s_dd_as_given(tmp_path):
    rows = wide(long_rows())
    columns = [f"P{k}" for k in range(1, 7)]
    means = [
        {
            **{key: cell for key, cell in row.items() if key not in columns},
            "mean rating (1-7)": str(sum(int(row[name]) for name in columns) / 6),
        }
        for row in rows
    ]
    loaded = load_suite(write_rows(means, tmp_path / "medie.csv"), language="it").suite
    effects = people_of_suite(loaded)
    assert effects.n_people is None
    assert [test.others for test in effects.tests] == [None, None]
    given = {(row["item"], cell_of(row)): float(row["mean rating (1-7)"]) for row in means}
    for test in effects.tests:
        ids = [item.id for item in loaded.items if item.column("phenomenon") == test.phenomenon]
        dds = [given[i, 2] + given[i, 1] - given[i, 0] - given[i, 3] for i in ids]
        assert test.dd.value == pytest.approx(np.mean(dds))


def test_a_sentence_of_two_items_is_rated_in_each(tmp_path):
    rows = [*sentences()]
    # Both designs have the same baselines.
    shared = {(row["item"][1:], cell_of(row)): row["sentence"] for row in rows[: len(rows) // 2]}
    for row in rows[len(rows) // 2 :]:
        if row["structure"] == "nonisland":
            row["sentence"] = shared[row["item"][1:], cell_of(row)]
    loaded = load_suite(write_rows([*answers(rows)], tmp_path / "isole.csv"), language="it").suite
    assert len(loaded.items) == 12
    assert {len(one.ratings) for one in rated_of(loaded).sentences} == {len(PEOPLE)}


def test_ratings_of_single_sentences_of_items_are_no_design(tmp_path):
    rows = [row for number, row in enumerate(sentences()) if number % 5 == 0]
    loaded = load_suite(write_rows([*answers(rows)], tmp_path / "frasi.csv"), language="it").suite
    assert not loaded.factors
    assert people_of_suite(loaded) is None


def test_run_report_and_figure_show_people_s_dd_beside_the_model(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(long_rows(), tmp_path / "isole.csv")
    command = ["run", "isole.csv", "--language", "it", "-m", "demo-causal", "-o", "runs"]
    assert invoke(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "z within each of 6 participants" in shown
    assert "95%, others: for other items and other people; t over crossed clusters" in shown

    assert invoke(["report", "runs", "--table", "people-dd", "--format", "csv"]) == 0
    table = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    effects = people_of_suite(load_suite("isole.csv", language="it").suite)
    assert [row["phenomenon"] for row in table] == ["whether", "adjunct"]
    for row, test in zip(table, effects.tests, strict=True):
        assert float(row["DD"]) == pytest.approx(test.dd.value)
        assert float(row["DD_others_low"]) == pytest.approx(test.others.low)
        assert float(row["DD_others_high"]) == pytest.approx(test.others.high)

    assert invoke(["cite", "runs", "--appendix"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "z-scores within participants (Schütze and Sprouse 2014)" in said
    assert "takes items and people as crossed clusters (Cameron et al. 2011)" in said

    assert invoke(["cite", "runs", "--methods"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "6 participants rated the sentences from 1 (worst) to 7 (best); for people's DD, ratings"
        " were z-scored within participants (Schütze and Sprouse 2014)."
    ) in said

    assert invoke(["report", "runs", "-o", "page.html"]) == 0
    assert "people (z)" in (tmp_path / "page.html").read_text("utf-8")
    assert invoke(["report", "runs", "--figure", "rows", "-o", "rows.svg"]) == 0
    drawn = (tmp_path / "rows.svg").read_text("utf-8")
    assert "people" in drawn
    assert "demo-causal" in drawn


def test_people_s_dd_is_said_first_beside_the_model_s(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [row for row in long_rows() if row["phenomenon"] == "whether"]
    write_rows([{**row, "phenomenon": "isole"} for row in rows], tmp_path / "isole.csv")
    command = ["run", "isole.csv", "--language", "it", "-m", "demo-causal", "-o", "runs"]
    assert invoke(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    (test,) = people_of_suite(load_suite("isole.csv", language="it").suite).tests
    dds = by_hand(rows, "whether").mean(axis=1) @ np.array(SIGNS)
    half = 2.570581836 * dds.std(ddof=1) / np.sqrt(6)  # t of 5 degrees of freedom, .975
    p = stats.ttest_1samp(dds, 0).pvalue
    people = (
        f"People show the effect (DD {dds.mean():.2f} z [{dds.mean() - half:.2f},"
        f" {dds.mean() + half:.2f}], p {p:.3f}, for other people too [{test.others.low:.2f},"
        f" {test.others.high:.2f}], n 6)."
    )
    people = people.replace("p 0.", "p .")
    assert f"DD: {people} demo-causal " in shown
    # Nobody counts the items of a design on which all of its predictions hold.
    assert "Same verdict" not in shown

    assert invoke(["report", "runs", "-o", "page.md"]) == 0
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "Same verdict" not in page
    first, *_ = page.splitlines()
    assert f"{people} demo-causal " in first
    assert invoke(["report", "runs", "-o", "page.html"]) == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    overview = page[page.index('<h2 id="overview-name">') : page.index("</tbody>")]
    assert f"{dds.mean():.3f}</strong> z" in overview

    assert invoke(["report", "runs", "--figure", "interaction", "-o", "cells.csv"]) == 0
    drawn = [*csv.DictReader(io.StringIO((tmp_path / "cells.csv").read_text("utf-8")))]
    assert [row["panel"] for row in drawn[::4]] == ["isole: people", f"isole: {drawn[4]['model']}"]
    z = by_hand(rows, "whether").mean(axis=(0, 1))
    of_people = {(row["first"], row["second"]): float(row["mean"]) for row in drawn[:4]}
    assert [of_people[cell] for cell in CELLS] == pytest.approx(list(z))
    assert invoke(["report", "runs", "--figure", "rows", "-o", "rows.csv"]) == 0
    assert (tmp_path / "rows.csv").read_text("utf-8") == (tmp_path / "cells.csv").read_text("utf-8")


def test_the_rates_of_people_s_ratings_include_that_of_dd(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = long_rows()
    write_rows(rows, tmp_path / "isole.csv")
    command = ["run", "isole.csv", "--language", "it", "-m", "demo-causal", "-o", "runs"]
    assert invoke(command) == 0
    capsys.readouterr()
    assert invoke(["report", "runs", "--table", "people", "--format", "csv"]) == 0
    table = [*csv.DictReader(io.StringIO(capsys.readouterr().out))]
    rates = {row["who"]: row for row in table if row["prediction"] == "DD"}
    given = {(r["item"], r["participant"], cell_of(r)): int(r["rating"]) for r in rows}
    ids = [*dict.fromkeys(row["item"] for row in rows)]
    own = [
        sum(sign * given[item, who, cell] for cell, sign in enumerate(SIGNS))
        for item in ids
        for who in PEOPLE
    ]
    together = np.array(own).reshape(len(ids), len(PEOPLE)).sum(axis=1)
    means, one = rates["mean ratings"], rates["one person"]
    assert (int(means["items"]), int(means["ties"])) == (12, sum(together == 0))
    assert float(means["rate"]) == pytest.approx(np.mean(together > 0), abs=5e-4)
    assert (int(one["answers"]), int(one["ties"])) == (72, own.count(0))
    assert float(one["rate"]) == pytest.approx(np.mean(np.array(own) > 0), abs=5e-4)


@pytest.mark.golden
def test_the_released_means_of_english_islands_have_the_t_over_items(shared):
    folder = shared / "data" / "islands" / "english"
    table = folder / "sprouse2016_en_items.csv"
    loaded = load_suite(table, language="en", columns={"rating": "mean_z"}).suite
    with (folder / "summary_by_phenomenon.csv").open(encoding="utf-8", newline="") as file:
        published = {row[""]: float(row["t_item"]) for row in csv.DictReader(file)}
    tests = people_of_suite(loaded).tests
    assert len(tests) == 8
    for test in tests:
        assert test.dd.statistic == pytest.approx(published[test.phenomenon], abs=1e-5)


@pytest.mark.golden
def test_the_released_ratings_of_english_islands_are_read_as_a_design(shared, tmp_path):
    folder = shared / "data" / "islands" / "english"
    with (folder / "sprouse2016_en_items.csv").open(encoding="utf-8", newline="") as file:
        texts = {row["item"]: row["sentence"] for row in csv.DictReader(file)}
    with (folder / "sprouse2016_en_ratings.csv").open(encoding="utf-8", newline="") as file:
        judged = [
            {
                "participant": f"{row['experiment']}-{row['participant']}",
                "phenomenon": f"{row['dependency']}_{row['island']}",
                "item": f"{row['dependency']}_{row['island']}_{row['item_number']}",
                "condition": row["condition"],
                "sentence": texts[row["item"]],
                "rating": row["judgment"].removesuffix(".0"),
            }
            for row in csv.DictReader(file)
            if row["item"] in texts and row["judgment"]
        ]
    loaded = load_suite(write_rows(judged, tmp_path / "islands.csv"), language="en").suite
    effects = people_of_suite(loaded)
    expected = json.loads((shared / "golden/islands/human_english_sprouse2016.json").read_text())
    assert effects.n_people == expected["n_participant_experiments"]
    for test in effects.tests:
        # Published z-scores are over the fillers too: these are over what the table has.
        published = expected["phenomena"][test.phenomenon]["DD"]
        assert test.dd.value == pytest.approx(published, abs=0.15)
        assert test.others.low < test.dd.value < test.others.high
        assert test.others.m == 8
