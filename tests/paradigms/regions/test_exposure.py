"""Counts of critical words in a corpus; oracle: counting by hand, and a naive search."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import Condition, Item, Meta, Prediction, Region, Suite, UsageError, evaluate
from cimento.cli.main import invoke
from cimento.paradigms.regions.exposure import (
    SEEN,
    UNSEEN,
    WHOLE,
    Pair,
    counted_pairs,
    critical_pairs,
    exposure,
    words_of,
)
from cimento.testing import FakeScorer
from tests.helpers.spellings import spellings


def suite(pairs, formula="(*;%good%) < (*;%bad%)"):
    items = tuple(
        Item(
            str(number),
            tuple(
                Condition(side, (Region(text),))
                for side, text in zip(("good", "bad"), pair, strict=True)
            ),
        )
        for number, pair in enumerate(pairs)
    )
    return Suite(
        meta=Meta("pairs", language="it"),
        region_names=("sentence",),
        predictions=(Prediction(formula),),
        items=items,
    )


PAIRS = [
    ("I gatti dormono sul tetto.", "I gatti dorme sul tetto."),
    ("La nonna canta.", "La nonna cantano."),
    ("Il treno parte presto.", "Il treno parte."),
]
CORPUS = [
    "Quando i gatti dormono, i topi ballano.",
    "I gatti dormono sul tetto. E il cane?",
    "Ieri la nonna cantano? No: la nonna canta.",
    "Il treno parte presto.",
]


def test_what_is_critical():
    pairs = [(pair.good, pair.bad) for pair in critical_pairs(suite(PAIRS), before=1)]
    assert pairs == [
        (("gatti", "dormono"), ("gatti", "dorme")),
        (("nonna", "canta"), ("nonna", "cantano")),
        # One side only has a word more, so the next word of both is taken too.
        (("parte", "presto", "."), ("parte", ".")),
    ]
    alone = critical_pairs(suite(PAIRS[:1]), before=0)
    assert (alone[0].good, alone[0].bad) == (("dormono",), ("dorme",))


def test_counts_by_hand():
    pairs = counted_pairs(critical_pairs(suite(PAIRS)), CORPUS)
    assert [(pair.n_good, pair.n_bad, pair.n_whole) for pair in pairs] == [
        (2, 0, 1),
        (1, 1, 1),
        (1, 0, 1),
    ]
    assert pairs[0].log_ratio == pytest.approx(math.log2(3))
    assert pairs[1].log_ratio == 0


def test_words_without_blanks_are_found_inside_sentences():
    """A Han letter is a word: before, a sentence was one, and no other text held it."""
    [pair] = critical_pairs(suite([("我买了一本书。", "我买了一只书。")]), before=0)
    assert (pair.good, pair.bad) == (("本",), ("只",))
    [pair] = counted_pairs([pair], ["他借了两本书。", "桌上有一本书和一只猫。"])
    assert (pair.n_good, pair.n_bad, pair.n_whole) == (2, 1, 0)


def test_accuracy_on_what_a_corpus_lacks():
    made = suite([*PAIRS, ("Il mare luccica.", "Il mare luccicano.")])
    run = evaluate(made, FakeScorer(lambda tokens, at: -1.0 if "canta" in tokens[at] else -2.0))
    exposed = exposure(run, counted_pairs(critical_pairs(made), CORPUS))
    rates = {part.items: (part.n, part.accuracy) for part in exposed.parts}
    # "canta" is in both sides of item 1: a tie, which does not pass; so it is nowhere else.
    assert rates[SEEN][0] == 3
    assert rates[UNSEEN] == (1, 0.0)
    assert rates[WHOLE][0] == 3
    assert exposed.margins.n == 4


texts = st.lists(st.sampled_from(["a", "b", "c", "."]), min_size=1, max_size=8).map(" ".join)


@given(lines=st.lists(texts, max_size=6), first=texts, second=texts)
def test_counts_are_those_of_a_naive_search(lines, first, second):
    good, bad = words_of(first), words_of(second)
    pair = Pair(item="1", alternative="bad", good=good, bad=bad, sentences=(good, bad))
    (made,) = counted_pairs([pair], lines)

    def naive(words):
        lined = [words_of(line) for line in lines]
        return sum(line[at : at + len(words)] == words for line in lined for at in range(len(line)))

    assert (made.n_good, made.n_bad) == (naive(good), naive(bad))


def test_equal_sides_have_no_critical_words():
    assert critical_pairs(suite([("Piove.", "Piove.")])) == []


def test_a_design_names_no_likelier_condition():
    with pytest.raises(UsageError, match="not '<' or '>' between two conditions"):
        critical_pairs(suite(PAIRS, formula="(*;%good%) - (*;%bad%) > 1"))


def test_the_command(tmp_path, capsys):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Il cuoco taglia il pane.\n", encoding="utf-8")
    for name in ("it-subject-verb", "en-subject-verb"):
        evaluate(name, "demo-causal", output=tmp_path / "runs", limit=5)
    run, table = tmp_path / "runs" / "it-subject-verb", tmp_path / "counts.tsv"
    command = ["analyze", "exposure", str(run), "--corpus", str(corpus)]
    assert invoke([*command, "-o", str(table)]) == 0
    assert "critical words not in it" in capsys.readouterr().out
    assert table.read_text(encoding="utf-8").startswith("item\talternative\tgood\tbad\tn_good")
    assert invoke([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() == {"exposures", "pairs"}
    assert invoke(["analyze", "exposure", str(tmp_path / "runs"), "--corpus", str(corpus)]) == 2
    assert "runs of 2 suites" in capsys.readouterr().err


LETTERS = [
    ("Un amico l'ha visto.", "Un amico l'hanno visto."),
    ("La città è bella.", "La città sono bella."),
    ("Perché no?", "Perciò no?"),
]
LETTERS_CORPUS = ["Un amico l'ha visto ieri.", "La CITTÀ è bella.", "Dice: perciò no?", "l'ha"]
# By hand: `' ha` 2 and `' hanno` 0, `città è` 1 and `città sono` 0, `perché` 0 and `perciò` 1;
# of the sentences, the second and the second side of the third are in the corpus.
LETTERS_COUNTS = [(2, 0, 0), (1, 0, 1), (0, 1, 1)]


@given(st.data())
def test_no_spelling_of_suite_and_corpus_changes_a_count(data):
    pairs = [tuple(data.draw(spellings(side)) for side in pair) for pair in LETTERS]
    corpus = [data.draw(spellings(line)) for line in LETTERS_CORPUS]
    counted = counted_pairs(critical_pairs(suite(pairs), before=1), corpus)
    assert [(p.n_good, p.n_bad, p.n_whole) for p in counted] == LETTERS_COUNTS


def test_a_side_that_only_has_words_more_at_its_end_is_counted_with_the_word_before_them():
    pairs = [("I cani corrono", "I cani corrono molto"), ("I cani", "I cani dormono bene")]
    found = critical_pairs(suite(pairs), before=0)
    assert [(pair.good, pair.bad) for pair in found] == [
        (("corrono",), ("corrono", "molto")), (("cani",), ("cani", "dormono", "bene")),
    ]  # fmt: skip
    corpus = ["I cani corrono molto", "I cani dormono", "cani e gatti"]
    counted = counted_pairs(found, corpus)
    # `corrono` 1, `corrono molto` 1, both sentences of the first; `cani` 3 times, the sentence
    # `I cani` twice within longer ones.
    assert [(p.n_good, p.n_bad, p.n_whole) for p in counted] == [(1, 1, 2), (3, 0, 2)]


words = st.lists(st.sampled_from("abc"), max_size=4).map(" ".join)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=3), st.integers(0, 3))
def test_no_side_of_a_pair_is_without_words(pairs, before):
    found = critical_pairs(suite(pairs), before=before)
    assert all(pair.good and pair.bad and pair.good != pair.bad for pair in found)
    assert len(found) == sum(a != b and bool(a) and bool(b) for a, b in pairs)
    counted_pairs(found, ["a b c"])
