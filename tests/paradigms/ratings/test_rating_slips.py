"""Ratings off the points that nearly all others have, in tables that do not name their scale."""

import pytest

from cimento.kinds.registry import audit_suite

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
