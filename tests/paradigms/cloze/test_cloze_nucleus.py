"""Top-p: the candidates that together reach a probability."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import Meta, evaluate
from cimento.cli.main import invoke
from cimento.paradigms.cloze.requests import Candidate
from cimento.paradigms.cloze.shares import nucleus, nucleus_size
from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, Option


def candidates(item, *pairs):
    return [Candidate(item, rank, text, p) for rank, (text, p) in enumerate(pairs, start=1)]


ITEMS = tuple(ClozeItem(name, f"{name}: ", ".", (Option("ma", "target"),)) for name in "abcde")
# By hand, for p = .8: a reaches it with two candidates, the target is the second; b with one, the
# target is the third; c does not reach it, but has its target; d neither; e has no probabilities.
FOUND = [
    *candidates("a", ("e", 0.5), ("Ma", 0.375), ("o", 0.0625)),
    *candidates("b", ("e", 0.875), ("o", 0.0625), ("ma", 0.03125)),
    *candidates("c", ("e", 0.25), ("ma", 0.125)),
    *candidates("d", ("e", 0.25), ("o", 0.125)),
    *candidates("e", ("ma", None), ("e", None)),
]


def test_targets_in_the_nucleus_are_counted_and_what_cannot_be_decided_is_said():
    measured = nucleus(ITEMS, FOUND, 0.8, cluster={item.id: item.id for item in ITEMS})
    assert (measured.hits.correct, measured.hits.n, measured.undecided) == (2, 3, 2)
    assert (measured.reached, measured.median) == (2, 1.5)
    assert measured.interval.low is None


@given(st.lists(st.floats(0.0009765625, 0.25), min_size=1, max_size=12), st.floats(0, 1))
def test_the_size_is_that_of_a_cumulated_sum(values, p):
    ordered = sorted(values, reverse=True)
    size = nucleus_size(candidates("a", *((str(v), v) for v in ordered)), p)
    sums = np.cumsum(ordered)
    assert size == (int(np.argmax(sums >= p)) + 1 if (sums >= p).any() else None)


def test_the_profile_says_it(tmp_path, capsys):
    recorded = tmp_path / "answers.tsv"
    rows = ["item\trank\tcandidate\tprobability"]
    rows += [f"{c.item}\t{c.rank}\t{c.text}\t{c.probability}" for c in FOUND[:-2]]
    recorded.write_text("\n".join(rows) + "\n", encoding="utf-8")
    suite = ClozeSuite(Meta("it-small", language="it"), items=ITEMS[:4])
    folder = evaluate(suite, f"replay:{recorded}", output=tmp_path / "runs").folder
    assert invoke(["profile", str(folder), "--top-p", "0.8", "--json"]) == 0
    [profile] = json.loads(capsys.readouterr().out)["profiles"]
    assert profile["nucleus"]["hits"] == {"correct": 2, "n": 3, "share": pytest.approx(2 / 3)}
    assert invoke(["profile", str(folder), "--top-p", "0.8"]) == 0
    assert "top-p 0.8: target among them 66.67 (2/3)" in capsys.readouterr().out
