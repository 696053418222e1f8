"""Tables of pairs with the mean rating of each sentence: read as ratings, whatever their layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import load_suite
from cimento.errors import SuiteError
from cimento.intake.table import Table
from cimento.paradigms.ratings.rated_pairs import rating_columns
from cimento.suites.ratings import rated_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cimento.suites.ratings import RatedSet

PAIRS = (
    ("La nonna cuce.", "La nonna cuciono."),
    ("I treni partono.", "I treni parte."),
    ("Il pane è fresco.", "Il pane è fresca."),
)
MEANS = ((6.5, 1.8), (6.1, 2.4), (5.9, 3.3))
RATED = {
    text: mean
    for both, means in zip(PAIRS, MEANS, strict=True)
    for text, mean in zip(both, means, strict=True)
}


def written(tmp_path: Path, header: str, rows: Sequence[Sequence[object]]) -> Path:
    path = tmp_path / "table.csv"
    lines = [header, *(";".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def rated(path: Path) -> RatedSet:
    loaded = load_suite(path, language="it")
    assert [prediction.formula for prediction in loaded.suite.predictions]
    return rated_of(loaded.suite)


@pytest.mark.parametrize(
    "header",
    [
        "item;good;bad;rating good;rating bad",
        "item;good;bad;mean_good;mean_bad",
        "Item;Frase grammaticale;Frase agrammaticale;Media gramm.;Media agramm.",
        "Item;Frase gramatical;Frase agramatical;Nota média gramatical;Nota média agramatical",
        "Ítem;Frase gramatical;Frase agramatical;Juicio medio gramatical;Juicio medio agramatical",
        "item;good;bad;rating good (1-7);rating bad (1-7)",
    ],
)
def test_a_mean_beside_each_sentence_of_a_pair_is_its_rating(tmp_path, header):
    rows = [(n, *both, *means) for n, both, means in zip("123", PAIRS, MEANS, strict=True)]
    read = rated(written(tmp_path, header, rows))
    assert {sentence.text: sentence.mean for sentence in read.sentences} == RATED
    assert (read.scale.low, read.scale.high) == (1, 7)


@pytest.mark.parametrize("name", ["rating", "mean", "media", "Nota média"])
def test_a_mean_behind_each_condition_is_its_rating(tmp_path, name):
    rows = [
        (n, side, text, str(RATED[text]).replace(".", ","))
        for n, both in zip("123", PAIRS, strict=True)
        for side, text in zip(("good", "bad"), both, strict=True)
    ]
    read = rated(written(tmp_path, f"item;condition;sentence;{name}", rows))
    assert {sentence.text: sentence.mean for sentence in read.sentences} == RATED


def test_what_is_not_named_or_filled_as_ratings_stays_a_column(tmp_path):
    for header, means in (
        ("item;good;bad;length good;length bad", MEANS),  # no word for ratings
        ("item;good;bad;rating good;notes", MEANS),  # one side alone
        ("item;good;bad;rating good;rating bad", (("a", "b"), ("c", "d"), ("e", "f"))),
        ("item;good;bad;rating good;rating bad", ((-31.5, -40.2), (-20.25, -22.5), (-9.5, -12.1))),
        ("item;good;bad;rating good;rating bad", ((1, 0), (1, 0), (1, 1))),  # judgments
    ):
        rows = [(n, *both, *pair) for n, both, pair in zip("123", PAIRS, means, strict=True)]
        loaded = load_suite(written(tmp_path, header, rows), language="it")
        assert "kind" not in loaded.suite.extra, header
        assert len(loaded.suite.items) == 3


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("rating {} (1-5)", "off the scale from 1 to 5"),
        ("rating {} (1 = ottima, 7 = pessima)", "lower ratings are better"),
    ],
)
def test_the_scale_in_the_name_is_held_to(tmp_path, name, seen):
    header = f"item;good;bad;{name.format('good')};{name.format('bad')}"
    rows = [(n, *both, *means) for n, both, means in zip("123", PAIRS, MEANS, strict=True)]
    with pytest.raises(SuiteError, match=seen):
        load_suite(written(tmp_path, header, rows), language="it")


def test_a_missing_mean_is_counted_and_its_sentence_kept(tmp_path):
    rows = [(n, *both, *means) for n, both, means in zip("123", PAIRS, MEANS, strict=True)]
    rows[1] = (*rows[1][:3], "", rows[1][4])
    loaded = load_suite(written(tmp_path, "item;good;bad;rating good;rating bad", rows))
    [fault] = [fault for fault in loaded.reading.faults if fault.code == "CIM-S038"]
    assert "Of 6 sentences, 1 has no rating" in fault.seen
    assert fault.seen.endswith("table.csv row 3, good.")


@given(st.lists(st.text("01239.,-% gmx", max_size=4), min_size=1, max_size=5))
def test_columns_of_ratings_are_numbers(cells):
    table = Table(
        "t.csv", ("good", "bad", "rating good", "rating bad"), range(2, len(cells) + 2),
        {"good": ["Il pane è buono."] * len(cells), "bad": ["Il pane è buona."] * len(cells),
         "rating good": cells, "rating bad": cells},
    )  # fmt: skip
    if rating_columns(table):
        assert all(table.profile(name).kind == "numbers" for name in ("rating good", "rating bad"))
        assert len({cell.strip() for cell in cells} - {""}) > 2
