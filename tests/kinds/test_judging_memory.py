"""What judging, storing and summarizing a long run takes, in a process of its own."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite, open_run
from cimento.kinds.registry import find_paradigm, parse_options
from cimento.records.outcomes import each_outcome
from cimento.records.store import RunFolder

FEW, MANY = 1_000, 100_000

MOST_MORE_BYTES = 400_000_000
"""For `MANY` pairs more than for `FEW`: what a run is made of is held, its tables as columns, and
its suite as items, conditions and regions. 301 MB were measured, and 358 MB with a measure."""

CHILD = """
import sys
from pathlib import Path
from tests.kinds.test_judging_memory import judge_and_store
judge_and_store(int(sys.argv[1]), Path(sys.argv[2]), measure=sys.argv[3], cluster=sys.argv[4])
from tests.helpers.memory import peak_bytes
print(peak_bytes())
"""


def requests_of(count: int) -> pl.DataFrame:
    """The requests table of as many pairs, of one region each."""
    number = pl.int_range(2 * count, dtype=pl.Int32, eager=True).alias("request").to_frame()
    return number.select(
        "request",
        suite=pl.lit("long"),
        item=pl.format("item {}", pl.col("request") // 2),
        condition=pl.when(pl.col("request") % 2 == 0).then(pl.lit("good")).otherwise(pl.lit("bad")),
        region=pl.lit(1, pl.Int32),
        text=pl.format("{}", pl.col("request")),
        context=pl.lit(""),
        start=pl.lit(0, pl.Int32),
        end=pl.format("{}", pl.col("request")).str.len_chars().cast(pl.Int32),
        needed=pl.lit(value=True),
    )


def tokens_of(count: int) -> pl.DataFrame:
    """A token for each text; in one pair of five none of the bad sentence has a score."""
    number = pl.col("request")
    value = -(number * 7919 % 997) / 50
    return requests_of(count).select(
        "request",
        position=pl.lit(0, pl.Int32),
        token=pl.col("text"),
        token_id=pl.lit(None, pl.Int64),
        start=pl.lit(0, pl.Int32),
        end=pl.col("end"),
        logprob_nats=pl.when(number % 10 == 1).then(None).otherwise(value),
        unscored_reason=pl.when(number % 10 == 1).then(pl.lit("no score")),
    )


def long_run(count: int, *, measure: str = "", cluster: str = "") -> Run:
    """A run of as many pairs, as it is when its model has answered."""

    def item(number: int) -> Item:
        columns = {"phenomenon": f"p{number % 9}", "template": f"t{number // 10}"}
        texts = {"good": str(2 * number), "bad": str(2 * number + 1)}
        return Item(
            f"item {number}",
            tuple(Condition(name, (Region(text),), columns) for name, text in texts.items()),
        )

    suite = Suite(
        meta=Meta("long"),
        region_names=("text",),
        predictions=(Prediction("(*;%good%) < (*;%bad%)"),),
        items=tuple(map(item, range(count))),
        cluster=cluster,
    )
    paradigm = find_paradigm("regions")
    return Run(
        suite=suite,
        paradigm=paradigm,
        options=parse_options(paradigm, {"measure": measure} if measure else {}),
        manifest={"label": "nobody", "model": {"name": "nobody", "kind": "causal"}},
        tables={"requests": requests_of(count), "tokens": tokens_of(count)},
    )


def judge_and_store(count: int, folder: Path, *, measure: str = "", cluster: str = "") -> None:
    """Judge a run and store it with its outcomes, estimates and summary; and see that it is so."""
    stored = long_run(count, measure=measure, cluster=cluster).save(RunFolder(folder))
    summary = stored.summary()
    (rate,) = summary.results
    assert rate.unscored * 5 == summary.n_items == count
    assert len(summary.phenomena) == 9
    assert stored.outcomes().height == count


def peak_bytes(count: int, folder: Path, *, measure: str = "", cluster: str = "") -> int:
    """The most memory that a process has which does nothing else."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", CHILD, str(count), str(folder), measure, cluster],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"cluster": "template", "measure": "lp"}])
def test_a_hundred_thousand_pairs_take_some_hundred_megabytes_more(tmp_path, options):
    few, many = (peak_bytes(count, tmp_path / str(count), **options) for count in (FEW, MANY))
    assert 0 < many - few < MOST_MORE_BYTES


def test_outcomes_are_judged_once_and_the_same_wherever_they_are_asked_for(tmp_path):
    run = long_run(20)
    first = run.outcomes()
    assert run.outcomes() is first
    assert dataclasses.replace(run).outcomes().equals(first)
    assert run.summary(with_outcomes=True).outcomes == tuple(each_outcome(first))
    run.save(RunFolder(tmp_path))
    assert open_run(tmp_path).outcomes().equals(first)
