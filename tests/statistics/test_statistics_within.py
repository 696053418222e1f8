"""Within-item intervals, each by its name."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError
from cimento.statistics.means import WITHIN_METHODS, within_intervals

TABLES = st.integers(2, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-9, 9), min_size=width, max_size=width), min_size=2, max_size=12
    )
)
TABLE = [[10.0, 13.0, 13.0], [6.0, 8.0, 8.0], [11.0, 14.0, 14.0], [22.0, 23.0, 25.0]]


@given(TABLES)
@settings(deadline=None)
def test_what_differs_between_items_only_changes_nothing(table):
    moved = [[value + 100 * place for value in row] for place, row in enumerate(table)]
    for method in WITHIN_METHODS:
        one, other = (within_intervals(rows, method=method) for rows in (table, moved))
        assert (one.se is None) == (other.se is None)
        if one.se is not None:
            assert one.se == pytest.approx(other.se, abs=1e-9)
            assert one.half_widths == pytest.approx(other.half_widths, abs=1e-9)


def test_two_conditions_have_the_interval_of_their_difference_over_the_root_of_two():
    # Loftus and Masson (1994): with two conditions the width is that of the paired difference
    # over sqrt(2), here with the t test's n - 1 degrees of freedom.
    pairs = np.array(TABLE)[:, :2]
    gaps = pairs[:, 1] - pairs[:, 0]
    half = stats.t.ppf(0.975, 3) * stats.sem(gaps) / math.sqrt(2)
    for method in ("loftus-masson", "cousineau-morey"):
        intervals = within_intervals(pairs, method=method)
        assert intervals.half_widths == pytest.approx((half, half))
    plain = within_intervals(pairs, method="means-removed")
    assert plain.half_widths == pytest.approx((1.959963984540054 * stats.sem(gaps) / 2,) * 2)


def test_the_pooled_interval_is_the_mean_of_moreys_variances():
    pooled = within_intervals(TABLE, method="loftus-masson")
    separate = within_intervals(TABLE)
    assert pooled.se[0] ** 2 == pytest.approx(np.mean(np.square(separate.se)))
    assert pooled.means == separate.means == pytest.approx((12.25, 14.5, 15.0))


def test_without_variation_there_is_no_interval():
    intervals = within_intervals([[1.0, 2.0], [3.0, 4.0], [0.1, 1.1]])
    assert intervals.half_widths is None
    assert intervals.reason == "conditions differ equally in all units"
    one = within_intervals([[1.0, 2.0]])
    assert one.reason == "fewer than two observations"
    assert one.means == (1.0, 2.0)
    with pytest.raises(UsageError, match="two or more conditions"):
        within_intervals([[1.0], [2.0]])
    with pytest.raises(UsageError, match="Did you mean 'cousineau-morey'"):
        within_intervals(TABLE, method="morey")


@pytest.mark.golden
def test_the_intervals_of_human_judgments(shared):
    expected = json.loads(
        (shared / "golden/islands/human_english_sprouse2016.json").read_text("utf-8")
    )["phenomena"]
    path = shared / "data/islands/english/sprouse2016_en_ratings.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["structure"] != "filler"]
    conditions = ("short_nonisland", "long_nonisland", "short_island", "long_island")
    for phenomenon, values in expected.items():
        dependency, island = phenomenon.split("_", 1)
        here = [
            row
            for row in rows
            if (row["dependency"], row["island"]) == (dependency, island)
            and row["judgment"] not in {"", "NA"}
        ]
        for key, column in (("participant", "participant"), ("item", "item_number")):
            cells = {}
            for row in here:
                unit = (row[column], row["experiment"]) if key == "participant" else row[column]
                condition = f"{row['distance']}_{row['structure']}"
                cells.setdefault(unit, {}).setdefault(condition, []).append(
                    float(row["zscore_published"])
                )
            table = [
                [np.mean(cell[condition]) for condition in conditions]
                for cell in cells.values()
                if len(cell) == len(conditions)
            ]
            want = values[f"ci95_halfwidth_by_{key}"]
            morey = within_intervals(table)
            for place, condition in enumerate(conditions):
                assert morey.half_widths[place] == pytest.approx(
                    want["cousineau_morey"][condition], abs=2e-6
                )
            pooled = within_intervals(table, method="loftus-masson")
            assert pooled.half_widths[0] == pytest.approx(want["masson_loftus"], abs=2e-6)
