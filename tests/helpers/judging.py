"""Small suites and tables for tests of judging, written by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import count

import numpy as np
import polars as pl

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite
from cimento.io.tables import TOKENS
from cimento.io.values import Reasons
from cimento.kinds.registry import find_paradigm
from cimento.paradigms.regions.options import RegionOptions
from cimento.paradigms.regions.predictions import VERDICTS, Evaluation, Evaluations, combine
from cimento.paradigms.regions.requests import region_requests
from cimento.suites.formula import Connective


def make_suite(
    formulas: Sequence[str],
    items: Sequence[Mapping[str, str]],
    *,
    columns: Sequence[Mapping[str, str]] = (),
    cluster: str = "",
) -> Suite:
    """A suite whose items map conditions to texts with ``|`` between regions."""
    made = []
    for number, conditions in enumerate(items):
        free = columns[number] if columns else {}
        made.append(
            Item(
                id=str(number + 1),
                conditions=tuple(
                    Condition(name, tuple(Region(piece.strip()) for piece in text.split("|")), free)
                    for name, text in conditions.items()
                ),
            )
        )
    n_regions = max((len(c.regions) for item in made for c in item.conditions), default=0)
    return Suite(
        meta=Meta(name="test"),
        region_names=tuple(f"r{k}" for k in range(1, n_regions + 1)),
        predictions=tuple(Prediction(formula) for formula in formulas),
        items=tuple(made),
        cluster=cluster,
    )


def requests_of(suite: Suite, *, all_tokens: bool = False) -> pl.DataFrame:
    """The requests table of a suite."""
    return region_requests(suite, all_tokens=all_tokens).places


def judged(
    suite: Suite,
    tokens: pl.DataFrame,
    requests: pl.DataFrame | None = None,
    *,
    model: str = "nobody",
    **options: object,
) -> Run:
    """A run of a suite, in memory.

    Args:
        suite: what was asked.
        tokens: what a causal model answered.
        requests: which texts it answered; None for those of the suite.
        model: its label.
        **options: how its answers are judged.
    """
    return Run(
        suite=suite,
        paradigm=find_paradigm("regions"),
        options=RegionOptions(**options),
        manifest={
            "label": model,
            "model": {"name": model, "kind": "causal"},
            "seed": 0,
            "suite": {"sha256": "0" * 64},
        },
        tables={"requests": requests_of(suite) if requests is None else requests, "tokens": tokens},
    )


def word_tokens(suite: Suite, surprisals_nats: Sequence[float] | float) -> pl.DataFrame:
    """A tokens table in which every word of every distinct text is a token.

    Args:
        suite: whose texts are tokenized.
        surprisals_nats: one for all words, or as many as there are words, in plan order.
    """
    rows = []
    words = count()
    flat = isinstance(surprisals_nats, float)
    for number, request in enumerate(region_requests(suite).asked):
        start = 0
        for position, word in enumerate(request.text.split(" ")):
            value = surprisals_nats if flat else surprisals_nats[next(words)]
            rows.append((number, position, word, 0, start, start + len(word), -value, None))
            start += len(word) + 1
    return pl.DataFrame(rows, schema=TOKENS.polars(), orient="row")


def joined(outcomes: Sequence[Evaluation], operator: Connective) -> Evaluation:
    """What ``&`` or ``|`` makes of outcomes of one item, by way of columns."""
    texts = Reasons()
    parts = [
        Evaluations(
            np.array([VERDICTS.index(outcome.verdict)]),
            np.array([np.nan if outcome.margin_bits is None else outcome.margin_bits]),
            np.array([texts.number(outcome.reason) if outcome.reason else -1]),
        )
        for outcome in outcomes
    ]
    both = combine(parts, operator)
    margin, reason = float(both.margins_bits[0]), int(both.reasons[0])
    return Evaluation(
        VERDICTS[both.verdicts[0]],
        None if math.isnan(margin) else margin,
        texts.texts()[reason] if reason >= 0 else None,
    )
