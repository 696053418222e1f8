"""Runs for tests of reports: small suites, answered by a function instead of a model."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Sequence

import polars as pl

from cimento import Meta, Policy, Prediction, Run, RunSummary, Suite, Summary
from cimento.engine.cache import MemoryCache
from cimento.engine.scores import answer_scores
from cimento.paradigms.regions.requests import region_requests
from cimento.paradigms.regions.sections import region_report
from cimento.report import RunReport, SuiteReport
from cimento.testing import FakeScorer
from cimento.testing.models import TokenScore
from tests.helpers.judging import judged, make_suite, requests_of

# Compiling the templates takes longer than filling in a small page.

NOUNS = ("gatto", "cane", "lupo", "merlo", "topo", "bue", "falco", "corvo")

AGREEMENT = make_suite(
    ["(2;%match%) < (2;%mismatch%)"],
    [{"match": f"Il {noun} | dorme.", "mismatch": f"Il {noun} | dormono."} for noun in NOUNS],
    columns=[{"phenomenon": "wild" if noun in {"lupo", "falco"} else "tame"} for noun in NOUNS],
)


def named(suite: Suite, name: str, **meta: str) -> Suite:
    """The suite under another name."""
    return dataclasses.replace(suite, meta=Meta(name=name, **meta))


def with_predictions(suite: Suite, *formulas: str) -> Suite:
    """The suite with other predictions."""
    return dataclasses.replace(
        suite, predictions=tuple(Prediction(formula) for formula in formulas)
    )


def first_items(suite: Suite, count: int) -> Suite:
    """The suite with fewer items."""
    return dataclasses.replace(suite, items=suite.items[:count])


def hashed(tokens: Sequence[str], index: int) -> float:
    """A score that depends on the word and the word before it, and on nothing else."""
    digest = hashlib.sha256("-".join(tokens[max(0, index - 1) : index + 1]).encode()).digest()
    return -16 * math.log(2) * digest[0] / 255


def constant(_tokens: Sequence[str], _index: int) -> float:
    """The same score for everything."""
    return -1.0


def unknown(_tokens: Sequence[str], _index: int) -> float:
    """No score for anything."""
    return math.nan


def ask(suite: Suite, score: TokenScore, *, all_tokens: bool = True) -> pl.DataFrame:
    """The tokens table of a suite."""
    requests = region_requests(suite, all_tokens=all_tokens)
    if score is unknown:
        tokens = ask(suite, constant, all_tokens=all_tokens)
        return tokens.with_columns(
            logprob_nats=pl.lit(None, pl.Float64), unscored_reason=pl.lit("recorded as NaN")
        )
    return answer_scores(requests.asked, FakeScorer(score), policy=Policy(), cache=MemoryCache())


def answered(
    suite: Suite = AGREEMENT,
    score: TokenScore = hashed,
    *,
    model: str = "fake@0000000",
    all_tokens: bool = True,
    **options: object,
) -> Run:
    """A run of a suite, in memory."""
    tokens = ask(suite, score, all_tokens=all_tokens)
    requests = requests_of(suite, all_tokens=all_tokens)
    return judged(suite, tokens, requests, model=model, **options)


def make_run(
    suite: Suite = AGREEMENT,
    score: TokenScore = hashed,
    *,
    model: str = "fake@0000000",
    all_tokens: bool = True,
    limit: int | None = None,
) -> RunReport:
    """What a page shows of one run."""
    return region_report(answered(suite, score, model=model, all_tokens=all_tokens), items=limit)


def make_summary(
    suite: Suite = AGREEMENT, score: TokenScore = hashed, *, model: str = "fake@0000000"
) -> RunSummary:
    """What one run says."""
    return answered(suite, score, model=model).summary()


def summary_of(*runs: RunSummary) -> Summary:
    """The summary of some runs."""
    return Summary(runs=runs)


def suites_of(runs: Iterable[RunReport]) -> tuple[SuiteReport, ...]:
    """The sections of some runs, without figures and tables."""
    groups: dict[tuple[str, tuple[str, ...]], list[RunReport]] = {}
    for run in runs:
        formulas = tuple(claim.formula for claim in run.claims)
        groups.setdefault((run.suite, formulas), []).append(run)
    return tuple(SuiteReport(tuple(group)) for group in groups.values())
