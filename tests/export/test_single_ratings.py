"""People's single ratings as R gets them; z-scores by the standard library's statistics."""

from __future__ import annotations

import csv
import io
import re
import statistics

import pytest

from cimento.cli.main import invoke
from tests.helpers.r_script import printed_by_r
from tests.helpers.rated_designs import PEOPLE, answers, sentences, write_rows


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Six items of an island design that six people rated, and a model's scores of them."""
    folder = tmp_path_factory.mktemp("rated-design")
    rows = [*sentences(phenomena=("whether",))]
    design = str(write_rows(rows, folder / "islands.csv"))
    form = str(write_rows([*answers(rows)], folder / "form.csv"))
    table, rated, runs = (str(folder / name) for name in ("answers.csv", "rated", "runs"))
    taken = ["annotate", "import", form, "--suite", design, "--names", "keep", "-o", table]
    assert invoke(taken) == 0
    applied = ["annotate", "apply", design, table, "--scale", "1,7", "--language", "it"]
    assert invoke([*applied, "-o", rated]) == 0
    assert invoke(["run", rated, "-m", "demo-causal", "--measure", "lp", "-o", runs]) == 0
    assert invoke(["export", runs, "--to", "r", "-o", str(folder / "r")]) == 0
    return folder / "r", [*answers(rows)]


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_each_rating_has_a_row_with_its_factors_and_no_name(exported):
    folder, given = exported
    rows = rows_of(folder / "judgments.csv")
    assert len(rows) == len(given) == len(PEOPLE) * 6 * 4
    assert {row["participant"] for row in rows} == {f"P{n}" for n in range(1, len(PEOPLE) + 1)}
    rated = {(row["participant"], row["text"]): float(row["rating"]) for row in rows}
    names = {name: f"P{n}" for n, name in enumerate(PEOPLE, start=1)}
    assert rated == {
        (names[row["participant"]], row["sentence"]): float(row["rating"]) for row in given
    }
    codes = {(row["condition"], row["distance_code"], row["structure_code"]) for row in rows}
    assert ("long_island", "0.5", "-0.5") in codes
    assert not any(name in (folder / "sentences.csv").read_text("utf-8") for name in PEOPLE)


def test_z_is_within_each_participant(exported):
    rows = rows_of(exported[0] / "judgments.csv")
    of_one = [row for row in rows if row["participant"] == "P1"]
    ratings = [float(row["rating"]) for row in of_one]
    mean, deviation = statistics.mean(ratings), statistics.stdev(ratings)
    expected = [(rating - mean) / deviation for rating in ratings]
    assert [float(row["z"]) for row in of_one] == pytest.approx(expected)


def test_margins_have_the_unit_of_the_scores_beside_them(exported):
    scores = rows_of(exported[0] / "scores.csv")
    lp = {(row["item"], row["condition"]): float(row["value"]) for row in scores}
    effects = [row for row in rows_of(exported[0] / "outcomes.csv") if row["question"] == "lp DD"]
    assert {row["unit"] for row in effects} == {row["unit"] for row in scores} == {"nats"}
    for row in effects:
        at = {name: lp[row["item"], name] for (item, name) in lp if item == row["item"]}
        changed = at["short_island"] - at["long_island"]
        plain = at["short_nonisland"] - at["long_nonisland"]
        assert float(row["value"]) == pytest.approx(changed - plain)


@pytest.mark.slow
def test_r_fits_people_with_participants(exported):
    printed = printed_by_r(exported[0]).partition("People, ")[2]
    line = next(
        row for row in printed.splitlines() if row.startswith("structure_code:distance_code")
    )
    rows = rows_of(exported[0] / "judgments.csv")
    means = {
        name: statistics.mean(float(row["z"]) for row in rows if row["condition"] == name)
        for name in {row["condition"] for row in rows}
    }
    # Of a balanced design the interaction is the difference of differences of the means.
    effect = means["short_island"] - means["long_island"]
    effect -= means["short_nonisland"] - means["long_nonisland"]
    assert float(line.split()[1]) == pytest.approx(effect, abs=0.001)


def test_people_have_a_column_and_notes_on_a_run_stand_together(exported, tmp_path, capsys):
    runs = exported[0].parent / "runs"
    page = tmp_path / "report.html"
    assert invoke(["report", str(runs), "-o", str(page)]) == 0
    heads = re.findall(r'<th scope="col"[^>]*>(?:<[^>]*>)*([^<]+)', page.read_text("utf-8"))
    assert heads[:4] == ["Suite", "Items", "people", "demo-causal@91bca5d"]
    capsys.readouterr()
    assert (
        invoke(
            ["run", "it-islands", "-m", "demo-causal", "--limit", "5", "-o", str(tmp_path / "r")]
        )
        == 0
    )
    notes = capsys.readouterr().out.partition("\nNotes\n")[2].partition("\n\n")[0].splitlines()
    assert notes[0] == "  it-islands, demo-causal@91bca5d:"
    assert sum("demo-causal@91bca5d" in line for line in notes) == 1
    assert sum(line.startswith("    - ") for line in notes) > 1
