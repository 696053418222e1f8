"""The sections of the study of Brazilian Portuguese, from invented tables."""

from __future__ import annotations

from cimento.studies.portuguese.text import part_section, table_section


def test_a_list_that_differs_has_both_lists_and_a_list_without_a_rule_says_so():
    table = {
        "table": 2, "title": "Expressões", "note": "as printed.",
        "paper": {"dar": ["dar bola", "dar mole"], "fazer": ["fazer hora"]},
        "computed": {"dar": ["dar bola"]}, "equals_paper": {"dar": False},
    }  # fmt: skip
    section = table_section(table)
    assert section.source.endswith("; as printed")
    assert [(c.what, c.computed, c.printed, c.equal, c.note) for c in section.cells] == [
        ("dar", "1 expressions", "2 expressions", False,
         "printed: dar bola, dar mole; computed: dar bola"),
        ("fazer", None, "1 expressions", None,
         "printed: fazer hora; no rule on hits gives this list"),
    ]  # fmt: skip


def test_values_are_shown_under_their_paths_with_counts_and_decimals_that_tell_something():
    share = {"correct": 3, "n": 4, "pct": 75.0, "low": 30.1, "high": 95.4}
    value = {"by": {"dar": share}, "names": ["um", "dois"], "p": 0.012345, "none": None,
             "rows": [{"n": 1}, {"n": 2}]}  # fmt: skip
    cells = part_section("counts", value).cells
    assert [(cell.what, cell.computed, cell.count) for cell in cells] == [
        ("by / dar", "75.00", "3/4"), ("names", "um, dois", ""), ("p", "0.01235", ""),
        ("none", "-", ""), ("rows / 1 / n", "1", ""), ("rows / 2 / n", "2", ""),
    ]  # fmt: skip
    assert (cells[0].low, cells[0].high) == (30.1, 95.4)
