"""Long runs are written and judged a block at a time, with the same bytes and the same outcomes."""

from __future__ import annotations

import pytest

from cimento import evaluate, open_run
from cimento.errors import UsageError
from cimento.records.store import RunFolder

ROWS = 7
"""Rows of a group, far fewer than the tokens of one unit: no sentence is as long as a block."""
SUITES = ("it-subject-verb", pytest.param("en-filler-gap", marks=pytest.mark.slow))


def make_blocks_small(monkeypatch):
    monkeypatch.setattr("cimento.io.parquet.ROWS_TOGETHER", ROWS)
    monkeypatch.setattr("cimento.measures.ordered._ROWS_AT_ONCE", ROWS)
    monkeypatch.setattr("cimento.measures.scores._STIMULI_AT_ONCE", 3)


@pytest.mark.parametrize("suite", SUITES)
def test_what_units_answered_is_stored_in_the_bytes_of_a_table_in_memory(
    tmp_path, suite, monkeypatch
):
    make_blocks_small(monkeypatch)
    stored = evaluate(suite, "demo-causal", output=tmp_path / "stored")
    held = evaluate(suite, "demo-causal")
    folder = RunFolder(tmp_path / "held")
    folder.prepare()
    held.save(folder)
    for path in sorted(stored.folder.glob("*.parquet")):
        assert (folder.path / path.name).read_bytes() == path.read_bytes(), path.name


@pytest.mark.parametrize("suite", SUITES)
def test_blocks_of_any_size_are_judged_alike(tmp_path, suite, monkeypatch):
    with monkeypatch.context() as patch:
        make_blocks_small(patch)
        stored = evaluate(suite, "demo-causal", output=tmp_path)
        again = open_run(stored.folder).judge(ties="pass").outcomes()
    whole = evaluate(suite, "demo-causal")
    assert stored.outcomes().equals(whole.outcomes())
    assert again.equals(whole.judge(ties="pass").outcomes())


def test_a_stored_run_is_read_only_as_far_as_it_is_needed(tmp_path):
    run = evaluate("it-subject-verb", "demo-causal", output=tmp_path)
    rows = run.rows("tokens")
    assert rows.head(3).collect().equals(run.table("tokens")[:3])
    with pytest.raises(UsageError, match="Did you mean 'tokens'"):
        run.rows("token")
    (run.folder / "tokens.parquet").unlink()
    assert run.summary().n_items == 24
