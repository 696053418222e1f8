"""Top-p: the candidates that together reach a probability."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cimento import Meta, evaluate
from cimento.cli.main import invoke
from cimento.paradigms.cloze.requests import Candidate
from cimento.paradigms.cloze.shares import nucleus, nucleus_size
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option


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
    # To leave out d and e, and keep the hit of c, would give 2 of 3.
    assert (measured.hits.correct, measured.hits.n, measured.undecided) == (2, 5, 2)
    assert (measured.at_most.correct, measured.at_most.n) == (4, 5)
    assert (measured.reached, measured.median) == (2, 1.5)
    assert (measured.interval.low, measured.interval.reason) == (
        None,
        "2 of 5 items are undecided",
    )


def test_the_share_that_more_candidates_give_lies_between_the_bounds():
    generator = np.random.default_rng(8)
    items, found = [], []
    for number in range(200):
        item = ClozeItem(str(number), f"{number}: ", ".", (Option("w7", "target"),))
        items.append(item)
        p = np.sort(generator.dirichlet(np.full(40, 0.3)))[::-1]
        words = generator.permutation(40)
        pairs = ((f"w{word}", float(x)) for word, x in zip(words, p, strict=True))
        found.append(candidates(item.id, *pairs))
    cluster = {item.id: item.id for item in items}
    [few, whole] = [
        nucleus(items, [c for row in found for c in row[:k]], 0.9, cluster=cluster) for k in (5, 40)
    ]
    assert whole.undecided == 0 < few.undecided
    assert few.hits.correct < whole.hits.correct < few.at_most.correct
    # What can be decided holds the hits of the others too: a share that is too large.
    assert few.hits.correct / (few.hits.n - few.undecided) > whole.hits.correct / whole.hits.n


def test_probabilities_that_add_up_to_p_reach_it():
    assert nucleus_size(candidates("a", ("e", 0.4), ("o", 0.3), ("ma", 0.2)), 0.9) == 3


@given(st.lists(st.floats(0.0009765625, 0.25), min_size=1, max_size=12), st.floats(0, 1))
def test_the_size_is_that_of_a_cumulated_sum(values, p):
    ordered = sorted(values, reverse=True)
    size = nucleus_size(candidates("a", *((str(v), v) for v in ordered)), p)
    sums = np.cumsum(ordered) * (1 + 1e-9)
    assert size == (int(np.argmax(sums >= p)) + 1 if (sums >= p).any() else None)


def test_the_profile_says_it(tmp_path, capsys):
    recorded = tmp_path / "answers.tsv"
    rows = ["item\trank\tcandidate\tprobability"]
    rows += [f"{c.item}\t{c.rank}\t{c.text}\t{c.probability}" for c in FOUND[:-2]]
    recorded.write_text("\n".join(rows) + "\n", encoding="utf-8")
    suite = ClozeSuite(Meta("it-small", language="it"), items=ITEMS[:4])
    folder = evaluate(suite, f"replay:{recorded}", output=tmp_path / "runs").folder
    assert invoke(["analyze", "profile", str(folder), "--top-p", "0.8", "--json"]) == 0
    [profile] = json.loads(capsys.readouterr().out)["profiles"]
    assert profile["nucleus"]["hits"] == {"correct": 2, "n": 4, "share": 0.5}
    assert invoke(["analyze", "profile", str(folder), "--top-p", "0.8"]) == 0
    assert (
        "top-p 0.8: target among them between 50.00 (2/4) and 75.00 (3/4)"
        in capsys.readouterr().out
    )
