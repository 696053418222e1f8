"""What a run and a report say of the people who rated the sentences of a design."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy.stats import zscore

from cimento import InputError, open_runs
from cimento.judgments import Judgment, table_of, write_judgments
from cimento.paradigms.regions.people_effects import effects_of_people
from cimento.studies.islands.human import people_result
from cimento.suites.design import ISLAND_CONDITIONS
from cimento.suites.ratings import Rating
from tests.helpers.command_line import invoke
from tests.helpers.designs import island_suite
from tests.helpers.pages import parse_page

SEEN = ("gatto", "nonno", "cuoco", "medico", "sarto", "pittore")
THINGS = ("divano", "treno", "forno", "banco", "tavolo", "muro")
CELLS = {
    "person_marked": (5, 4, 4),
    "person_control": (1, 2, 2),
    "control_marked": (2, 3, 1),
    "control_control": (4, 5, 3),
}


@pytest.fixture(scope="module")
def rated(tmp_path_factory):
    """A run of a design of two factors with the ratings of three people; and what it printed."""
    folder = tmp_path_factory.mktemp("rated")
    lines, judgments = ["item,animacy,marking,sentence"], []
    for number, (person, thing) in enumerate(zip(SEEN, THINGS, strict=True), start=1):
        for cell, ratings in CELLS.items():
            animacy, marking = cell.split("_")
            noun = person if animacy == "person" else thing
            text = f"Vedo {'a ' if marking == 'marked' else ''}quel {noun}."
            lines.append(f"{number},{animacy},{marking},{text}")
            judgments += [
                Judgment(
                    suite="dom", item=str(number), condition=cell, annotator=name, value=str(value)
                )
                for name, value in zip("abc", ratings, strict=True)
            ]
    suite, answers, copy = folder / "dom.csv", folder / "kept.csv", folder / "dom-rated"
    suite.write_text("\n".join(lines) + "\n", encoding="utf-8")
    write_judgments(table_of(judgments), answers)
    apply = ["annotate", "apply", str(suite), str(answers), "-o", str(copy), "--scale", "1,5"]
    assert invoke([*apply, "--language", "it"]) == 0
    assert invoke(["run", str(copy), "-m", "demo-causal", "-o", str(folder / "runs")]) == 0
    return folder / "runs"


def test_accuracies_of_a_rated_design_name_their_predictions_once(rated, tmp_path):
    assert invoke(["report", str(rated), "-o", str(tmp_path / "report.txt")]) == 0
    text = (tmp_path / "report.txt").read_text()
    table = text[text.index("accuracy by phenomenon") :].splitlines()
    assert table[0].split() == ["accuracy", "by", "phenomenon", "prediction", "n", "accuracy",
                                "95%"]  # fmt: skip
    named = [line.split("  ")[1:] for line in table[1:] if line.startswith("  dom ")]
    assert len(named) == 5
    assert len(set(map(tuple, named))) == 5
    assert any("person_control" in line for line in table)


@pytest.mark.parametrize("ending", ["html", "md", "txt"])
def test_reports_have_the_ceiling_and_the_agreement_of_the_people(rated, tmp_path, ending):
    path = tmp_path / f"report.{ending}"
    assert invoke(["report", str(rated), "-o", str(path)]) == 0
    text = path.read_text(encoding="utf-8").replace("&#39;", "'").lower()
    assert "noise ceiling: " in text
    assert "agreement of the people, krippendorff's alpha: nominal" in text


def dd_of_people():
    """DD by numpy: z with n - 1 within each person, then means over people; items are alike."""
    given = np.array(list(CELLS.values()), dtype=float)
    sds = np.std(np.repeat(given, len(SEEN), axis=0), axis=0, ddof=1)
    a, c, b, d = ((given - given.mean(axis=0)) / sds).mean(axis=1)
    return (b - d) - (a - c)


def test_dd_of_people_is_z_scored_within_them_wherever_a_rated_design_is_shown(rated, tmp_path):
    expected = f"{dd_of_people():.2f}"
    for ending in ("txt", "html"):
        path = tmp_path / f"report.{ending}"
        assert invoke(["report", str(rated), "-o", str(path)]) == 0
        text = path.read_text(encoding="utf-8")
        assert "people (z)" in text
        assert "z within each of 3 participants" in text
        assert expected in text.replace("\u2212", "-")
    # The figure has the same number, from the suite and from what `annotate import` writes.
    judgments = rated.parent / "kept.csv"
    for number, more in enumerate(([], ["--people", str(judgments)])):
        path = tmp_path / f"rows-{number}.csv"
        assert invoke(["report", str(rated), "--figure", "rows", *more, "-o", str(path)]) == 0
        with path.open(encoding="utf-8") as file:
            shown = [row for row in csv.DictReader(file) if row["model"] == "people"]
        assert len(shown) == 4
        assert {f"{float(row['dd']):.2f}" for row in shown} == {expected}


def test_unequal_use_of_the_scale_changes_no_dd_of_people_and_who_rates_alike_is_left_out():
    suite = island_suite({"whether": ["1", "2"]})
    names = suite.condition_names
    points = {"1": (3, 3, 2, 0), "2": (3, 2, 2, 1)}
    ratings = {
        (item, name): [Rating(1.0 + value, "A"), Rating(2.0 * value, "B"), Rating(4.0, "C")]
        for item, values in points.items()
        for name, value in zip(names, values, strict=True)
    }
    people = effects_of_people(suite, ratings)
    z = zscore([value for values in points.values() for value in values], ddof=1)
    dds = [(x[1] - x[3]) - (x[0] - x[2]) for x in (z[:4], z[4:])]
    (phenomenon,) = people.result.phenomena
    assert phenomenon.effects["raw"].item_dds == pytest.approx(dds)
    assert (people.n_people, [*people.left_out.values()]) == (2, [8])
    nobody = {place: [Rating(r.value) for r in given] for place, given in ratings.items()}
    bare = effects_of_people(suite, nobody)
    assert bare.n_people is None
    assert "taken as given" in bare.notes[0]


def test_agreement_names_its_mean_and_its_alpha(rated, capsys):
    assert invoke(["annotate", "agreement", str(rated.parent / "kept.csv")]) == 0
    header, row = capsys.readouterr().out.splitlines()[:2]
    assert header.split("  ")[-1].strip() == "Krippendorff's alpha"
    assert "mean of places" in header
    assert "  interval 0." in row


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_ratings_with_participants_are_scaled_within_each_of_them(tmp_path):
    # A uses half of the scale that B uses, and rates the same: their z-scores are equal.
    rows = ["participant,phenomenon,item,condition,value"]
    for name, step, base in (("A", 1, 3), ("B", 2, 1)):
        for condition, point in zip(ISLAND_CONDITIONS, (2, 2, 2, 0), strict=True):
            rows.append(f"{name},se,1,{condition},{base + step * point}")
    path = written(tmp_path / "voti.csv", "\n".join(rows) + "\n")
    (phenomenon,) = people_result(path).phenomena
    # Of 2, 2, 2, 0: mean 1.5, sd (n - 1) 1, so that z is .5 three times and -1.5; DD is 2.
    assert phenomenon.effects["raw"].item_dds == pytest.approx((2.0,))
    assert {effects.dd for effects in phenomenon.effects.values()} == {2.0}
    unnamed = written(tmp_path / "u.csv", "\n".join([*rows, ",se,1,long_island,4"]) + "\n")
    with pytest.raises(InputError, match="1 ratings have no participant"):
        people_result(unnamed)
    alike = written(tmp_path / "a.csv", f"{rows[0]}\nA,se,1,long_island,4\nA,se,2,long_island,4\n")
    with pytest.raises(InputError, match="no z-scores"):
        people_result(alike)


def test_a_page_on_a_design_begins_with_dd_and_shows_it_in_the_overview(rated, tmp_path):
    path = tmp_path / "page.html"
    assert invoke(["report", str(rated), "-o", str(path)]) == 0
    page = parse_page(path.read_text(encoding="utf-8"))
    (run,) = open_runs([rated])
    first = next(one for one in run.estimates() if (one.question, one.statistic) == ("DD", "DD"))
    words = page.words
    assert words.index("DD") < words.index("Overview")
    assert "all predictions" not in words[: words.index("Overview")]
    overview = page.all("section.overview")[0].words
    assert f"{first.value:.3f}".replace("-", "\u2212") in overview
    assert f"n {first.n}" in overview
