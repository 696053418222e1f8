"""Judging a run, storing its verdicts and summarising it take little more for a longer suite."""

from __future__ import annotations

import dataclasses
import gc
import tracemalloc
from pathlib import Path

import polars as pl
import pytest

from cimento import pieces as pieces_module
from cimento.answered import stored_answers, write_pieces
from cimento.answers import REQUESTS, TOKENS, VERDICTS, read_table
from cimento.judging import Judging
from cimento.pieces import Pieces
from cimento.results import Run
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.stored import store_items
from cimento.verdicts.compact import verdicts_pieces

MOST_BYTES = 150
"""For each further item: a pair, with the verdict on its one prediction and on all together."""


def asked_of(count: int) -> Pieces:
    """The requests table of as many pairs, of one region each."""
    number = pl.int_range(2 * count, dtype=pl.Int32, eager=True).alias("request").to_frame()
    return Pieces.of(
        number.select(
            "request",
            suite=pl.lit("long"),
            item=pl.format("item {}", pl.col("request") // 2),
            condition=pl.when(pl.col("request") % 2 == 0)
            .then(pl.lit("good"))
            .otherwise(pl.lit("bad")),
            region=pl.lit(1, pl.Int32),
            text=pl.format("{}", pl.col("request")),
            context=pl.lit(""),
            start=pl.lit(0, pl.Int32),
            end=pl.format("{}", pl.col("request")).str.len_chars().cast(pl.Int32),
            needed=pl.lit(value=True),
        )
    )


def scored_of(count: int) -> Pieces:
    """A token for each text; in one pair of five none of the bad sentence has a score."""
    number = pl.col("request")
    value = -(number * 7919 % 997) / 50
    return asked_of(count).changed(
        lambda asked: asked.select(
            "request",
            position=pl.lit(0, pl.Int32),
            token=pl.col("text"),
            token_id=pl.lit(None, pl.Int64),
            start=pl.lit(0, pl.Int32),
            end=pl.col("end"),
            logprob_nats=pl.when(number % 10 == 1).then(None).otherwise(value),
            unscored_reason=pl.when(number % 10 == 1).then(pl.lit("no score")),
        )
    )


def long_run(count: int, folder: Path, *, measure: str = "", cluster: str = "") -> Run:
    """A stored run of as many pairs, whose suite is on disk too."""
    write_pieces(asked_of(count), REQUESTS, folder)
    write_pieces(scored_of(count), TOKENS, folder)

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
        items=store_items(map(item, range(count))),
        cluster=cluster,
    )
    return Run(
        suite=suite,
        model="nobody",
        model_kind="causal",
        manifest={},
        answers=stored_answers(folder, warnings=()),
        judging=Judging(measure=measure),
    )


def peak_of(run: Run, folder: Path) -> int:
    """The most that is held while a run is judged, its verdicts are stored and it is summarised."""
    gc.collect()
    tracemalloc.start()
    try:
        write_pieces(verdicts_pieces(run._numbered_verdicts), VERDICTS, folder)
        summary = run.summary()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    (result,) = summary.predictions
    assert result.unscored * 5 == summary.n_items == len(run.suite.items)
    assert len(summary.phenomena) == 9
    assert read_table(VERDICTS, folder).height == 2 * summary.n_items
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"cluster": "template", "measure": "lp"}])
def test_a_longer_suite_takes_little_more(tmp_path, monkeypatch, options):
    monkeypatch.setattr(pieces_module, "ROWS", 2048)
    few, many = 4_000, 16_000
    peaks = []
    for count in (100, few, many):  # the first for what is made once
        folder = tmp_path / str(count)
        folder.mkdir()
        peaks.append(peak_of(long_run(count, folder, **options), folder))
    assert (peaks[2] - peaks[1]) / (many - few) < MOST_BYTES


def test_verdicts_are_judged_once_and_the_same_wherever_they_are_asked_for(tmp_path):
    run = long_run(20, tmp_path)
    first = run._numbered_verdicts
    other = dataclasses.replace(run)
    assert run.verdicts().equals(other.verdicts())
    assert run.summary(with_verdicts=True).verdicts == tuple(first)
    assert run._verdicts is run._verdicts
