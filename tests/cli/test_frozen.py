"""The outputs of the commands are those that were frozen: see tests/frozen/README.md."""

from __future__ import annotations

import difflib
import functools
import math
import re
from pathlib import Path

import pytest

import freeze
import freeze_layout
from freeze_layout import Layout, normalized

FROZEN = Path(__file__).parents[1] / "frozen"
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
EXACT, COMPUTED = 1e-9, 1e-3
"""How far numbers may be apart, relatively: of hashes, and of models that compute in float32."""


def is_same(line: str, other: str, tolerance: float) -> bool:
    """Whether two lines are equal up to a relative difference of the numbers in them."""
    if NUMBER.sub("#", line) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(line), NUMBER.findall(other), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=tolerance / 1000)
        for a, b in pairs
    )


def difference(frozen: str, now: str, tolerance: float) -> str:
    """The lines in which a file differs from what was frozen; empty where it is the same."""
    before, after = frozen.splitlines(), now.splitlines()
    if len(before) == len(after):
        after = [
            old if is_same(old, new, tolerance) else new
            for old, new in zip(before, after, strict=True)
        ]
    return "\n".join(difflib.unified_diff(before, after, "frozen", "now", lineterm="", n=2))


def check(
    case: freeze.Case, folder: Path, tolerance: float, *, workers: bool = True, stored: bool = True
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Cells of tables repeat themselves, and all commands of a case work in one folder.
        patch.setattr(freeze_layout, "normalized", functools.cache(normalized))
        patch.setattr(freeze, "normalized", freeze_layout.normalized)
        now = freeze.freeze(case, folder, workers=workers, stored=stored)
    frozen = {
        path.name: path.read_text(encoding="utf-8")
        for path in (FROZEN / case.name).iterdir()
        if (workers and stored) or path.name in now
    }
    assert sorted(now) == sorted(frozen)
    differences = {name: difference(frozen[name], now[name], tolerance) for name in now}
    message = "\n".join(f"{case.name}/{name}\n{text}" for name, text in differences.items() if text)
    assert not message, f"not what was frozen (tests/frozen/README.md says what to do)\n{message}"


ALIKE = ("cloze-recorded", "templates", "factorial")
"""The cases whose stored runs are like those of ``cloze`` and ``regions``.

They are read with the slow tests, and so are the runs of workers.
"""


@pytest.mark.parametrize("case", freeze.QUICK, ids=lambda case: case.name)
def test_commands_print_and_store_what_was_frozen(case, tmp_path):
    check(case, tmp_path, EXACT, workers=False, stored=case.name not in ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("case", freeze.QUICK, ids=lambda case: case.name)
def test_workers_print_and_store_what_was_frozen(case, tmp_path):
    check(case, tmp_path, EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("case", freeze.SLOW, ids=lambda case: case.name)
def test_commands_print_and_store_of_demo_models_what_was_frozen(case, tmp_path):
    check(case, tmp_path, COMPUTED)


def test_nothing_is_frozen_that_is_not_made():
    cases = {case.name for case in (*freeze.QUICK, *freeze.SLOW)}
    assert {path.name for path in FROZEN.iterdir() if path.is_dir()} == cases


def test_numbers_may_differ_in_their_last_digits_and_nothing_else_may():
    assert difference('"r": 0.123456789012', '"r": 0.123456789013', EXACT) == ""
    assert "-n: 40, 0.125" in difference("n: 40, 0.125", "n: 41, 0.125", EXACT)
    assert "+share 0.1251" in difference("share 0.125", "share 0.1251", EXACT)
    assert "+a new line" in difference("a line", "a line\na new line", EXACT)


def test_a_table_that_changes_in_one_cell_changes_the_digest_of_its_column():
    import polars as pl

    table = pl.DataFrame({"item": ["a", "b"] * 9, "margin_bits": [float(n) for n in range(18)]})
    changed = table.with_columns(pl.col("margin_bits").replace(17.0, 17.001))
    layout = Layout(exact=True)
    before, after = layout.table(table).splitlines(), layout.table(changed).splitlines()
    assert [old for old, new in zip(before, after, strict=True) if old != new] == [before[2]]
    assert layout.table(table) == layout.table(
        table.with_columns(pl.col("margin_bits") * (1 + 1e-12))
    )
    assert Layout(exact=False).table(table)[:60] == Layout(exact=False).table(changed)[:60]


def test_days_machines_and_versions_are_not_frozen():
    assert normalized("made 2026-11-22T14:09:45+00:00") == "made TIME"
    assert normalized("samples_x_2026-11-22T14-14-06+00-00.jsonl") == "samples_x_TIME.jsonl"
    assert normalized("with numpy 2.4.6, torch 2.13.0+cpu (x)") == (
        "with numpy VERSION, torch VERSION (x)"
    )
    assert normalized("runs/it/plain@1234567--d6aa39cb/x") == "RUNS/it/plain@1234567--POLICY/x"
    assert normalized("it-islands 0.3.1, of 256 items") == "it-islands 0.3.1, of 256 items"
