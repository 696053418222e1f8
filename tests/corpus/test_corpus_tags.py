"""Perplexity of sequences of parts of speech."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.corpus import TAGS, TagModel

TRAINING = [("DET", "NOUN", "VERB"), ("DET", "NOUN"), ("VERB",)]
SEQUENCES = st.lists(st.lists(st.sampled_from(TAGS), min_size=1, max_size=6), max_size=6)


def test_a_bigram_model_is_that_of_counts_by_hand():
    model = TagModel(TRAINING, order=2)
    # By hand, one added to each of 18 outcomes: two of three sentences begin with DET, both DET
    # have NOUN after them, and of two NOUN one ends the sentence.
    expected = math.log((2 + 1) / (3 + 18)) + math.log((2 + 1) / (2 + 18))
    expected += math.log((1 + 1) / (2 + 18))
    assert model.logprob_nats(("DET", "NOUN")) == pytest.approx(expected, abs=1e-12)
    assert model.perplexity([("DET", "NOUN")]) == pytest.approx(math.exp(-expected / 3), abs=1e-9)
    # Without any count all outcomes are equally likely.
    assert TagModel([], order=3).perplexity([("X", "NOUN")]) == pytest.approx(18)
    assert model.perplexity([]) is None


@given(SEQUENCES, st.integers(1, 4), st.sampled_from([0.25, 1.0]))
def test_probabilities_of_all_short_sentences_sum_to_at_most_one(training, order, added):
    model = TagModel(training, order=order, added=added)
    short = [(), *((one,) for one in TAGS), *((one, two) for one in TAGS for two in TAGS)]
    total = math.fsum(math.exp(model.logprob_nats(tags)) for tags in short)
    longer = 1 - total
    assert -1e-9 <= longer < 1
    # Of a model without counts, what is longer than two tags has (17/18)^3.
    empty = TagModel([], order=order, added=added)
    rest = 1 - math.fsum(math.exp(empty.logprob_nats(tags)) for tags in short)
    assert rest == pytest.approx((17 / 18) ** 3, abs=1e-9)


def test_the_command_measures_a_treebank(tmp_path, capsys):
    output = tmp_path / "tags.tsv"
    arguments = ["corpus", "tags", "it_sample", "--train", "it_sample", "-n", "2"]
    assert invoke([*arguments, "-o", str(output)]) == 0
    printed = capsys.readouterr()
    assert "2-grams of 60 sentences, 1 added" in printed.err
    header, *rows = (line.split("\t") for line in output.read_text("utf-8").splitlines())
    assert (len(rows), header[:3]) == (60, ["file", "sent_id", "n_tags"])
    n = sum(int(row[2]) + 1 for row in rows)
    total = math.fsum(float(row[3]) for row in rows)
    whole = float(printed.out.splitlines()[1].split()[-1])
    assert whole == pytest.approx(math.exp(-total / n), abs=5e-4)
    assert float(rows[0][4]) == pytest.approx(math.exp(-float(rows[0][3]) / (int(rows[0][2]) + 1)))
    assert set(rows[0][5].split()) <= set(TAGS)
