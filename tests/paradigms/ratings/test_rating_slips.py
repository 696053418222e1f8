"""Ratings off the points that nearly all others have, in tables that do not name their scale."""

import pytest

from cimento.kinds.registry import audit_suite, load_suite
from cimento.suites.ratings import rated_of

WORDS = ["uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"]


def warned(tmp_path, ratings):
    path = tmp_path / "giudizi.tsv"
    rows = (
        f"{number + 1}\tIl treno parte dal binario {WORDS[number]}.\t{rating}\n"
        for number, rating in enumerate(ratings)
    )
    path.write_text("item\tfrase\tgiudizio\n" + "".join(rows), encoding="utf-8")
    return [fault for fault in audit_suite(path).faults if "may be a slip" in fault.seen]


@pytest.mark.parametrize("slip", ["9", "7.5", "0"])
def test_one_rating_off_seven_points_is_named_with_its_row(tmp_path, slip):
    [fault] = warned(tmp_path, ["1", "3", "7", "2", slip, "4", "6", "7", "5"])
    assert fault.severity == "warning"
    assert fault.where == "giudizi.tsv row 6"
    assert f"{slip} is not" in fault.seen


@pytest.mark.parametrize(
    "ratings",
    [
        ["1", "3", "7", "2", "5", "4", "6", "7", "1"],
        ["1", "3", "10", "2", "9", "4", "6", "8", "7"],
        ["1.2", "3.4", "6.5", "2.1", "7.5", "4.4", "6.1", "6.8", "5.5"],
    ],
)
def test_other_scales_are_not_called_slips(tmp_path, ratings):
    assert not warned(tmp_path, ratings)


def scale_of(tmp_path, ratings, header="giudizio"):
    path = tmp_path / "giudizi.tsv"
    rows = (
        f"{number + 1}\tIl treno parte dal binario {number + 1}.\t{rating}\n"
        for number, rating in enumerate(ratings)
    )
    path.write_text(f"item\tfrase\t{header}\n" + "".join(rows), encoding="utf-8")
    loaded = load_suite(path)
    scale = rated_of(loaded.suite).scale
    return (scale.low, scale.high), loaded.reading.faults


def test_means_off_seven_points_are_named_with_all_their_rows(tmp_path):
    means = ["6.4", "7.6", "6.1", "6.6", "2.3", "1.8", "0.4", "1.6", "5.5", "6.2", "1.9", "2.0"]
    ends, faults = scale_of(tmp_path, means)
    assert ends == (0, 8)
    assert any("assumed: 0 to 8." in fault.seen for fault in faults)
    [fault] = [fault for fault in faults if "is outside" in fault.seen]
    assert "7.6 is outside, as are the ratings in 2 rows" in fault.seen
    assert fault.places == ("giudizi.tsv row 3", "giudizi.tsv row 8")


def test_means_of_a_usual_scale_are_not_called_outside(tmp_path):
    means = ["6.4", "9.6", "6.1", "6.6", "2.3", "1.8", "3.4", "1.6", "5.5", "0.2"]
    ends, faults = scale_of(tmp_path, means)
    assert ends == (0, 10)
    assert not [fault for fault in faults if "outside" in fault.seen]


def test_percentages_have_the_scale_that_their_sign_names(tmp_path):
    ends, faults = scale_of(tmp_path, ["92%", "88%", "12,5%", "4%"], "accettabilità")
    assert ends == (0, 100)
    assert not [fault for fault in faults if fault.code == "CIM-S036"]
    assert any("holds percentages: its scale is from 0 to 100" in fault.seen for fault in faults)


def test_numbers_up_to_a_hundred_are_supposed_to_be_from_0_and_it_is_said(tmp_path):
    ends, faults = scale_of(tmp_path, ["92", "88", "12", "4", "55"])
    assert ends == (0, 100)
    assert any("assumed: 0 to 100." in fault.seen for fault in faults)


def test_a_mean_among_the_ratings_of_single_people_is_named(tmp_path):
    cells = ["6; 7; 5", "7; 7; 6,5", "5; 6; 6", "6; 7; 7", "2; 1; 2"]
    _, faults = scale_of(tmp_path, cells, "giudizi")
    [fault] = [fault for fault in faults if "may be a mean or a slip" in fault.seen]
    assert (fault.where, "6.5 is not" in fault.seen) == ("giudizi.tsv row 3", True)
