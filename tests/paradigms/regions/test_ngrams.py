"""N-grams of half the pairs tried on the other half: cases that can be worked out by hand."""

from __future__ import annotations

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite
from cimento.cli.main import invoke
from cimento.paradigms.regions.audit import audit_suite, ngram_baselines
from cimento.suites.formats.native import write_native

NAMES = [f"name{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def accuracies(pairs: list[tuple[str, str]]) -> dict[str, float | None]:
    return {baseline.name: baseline.accuracy for baseline in ngram_baselines(pairs)}


def test_a_word_that_is_always_bad_is_found() -> None:
    pairs = [(f"{name} hurt themselves", f"{name} hurt theirselves") for name in NAMES]
    assert accuracies(pairs) == {"unigrams": 1.0, "bigrams": 1.0}


def test_order_is_seen_by_bigrams_alone() -> None:
    pairs = [(f"{name} has not left", f"{name} not has left") for name in NAMES]
    assert accuracies(pairs) == {"unigrams": 0.5, "bigrams": 1.0}


def test_words_never_seen_before_are_ties() -> None:
    pairs = [(f"good{name}", f"bad{name}") for name in NAMES]
    assert accuracies(pairs) == {"unigrams": 0.5, "bigrams": 0.5}


def test_forms_good_as_often_as_bad_do_not_help() -> None:
    pairs = [(f"{name} she", f"{name} he") for name in NAMES]
    pairs += [(f"{name} he", f"{name} she") for name in NAMES]
    # A half with more pairs of one kind leaves more of the other, so that it is below 0.50.
    unigrams = accuracies(pairs)["unigrams"]
    assert unigrams is not None
    assert unigrams <= 0.5


def test_few_pairs_are_not_halved() -> None:
    assert accuracies([("a b", "a c")] * 19) == {"unigrams": None, "bigrams": None}


def test_halves_are_drawn_by_the_seed() -> None:
    pairs = [(f"{one} {two}", f"{two} {one}") for one in NAMES[:6] for two in NAMES[6:12]]
    assert ngram_baselines(pairs, seed=1) == ngram_baselines(pairs, seed=1)


def test_words_without_blanks_are_letters() -> None:
    """Every bad sentence has 了: unigrams see it only where a letter is a word."""
    nouns = "书狗鱼花车门树纸刀灯钟伞帽鞋碗杯盘桌椅床"
    pairs = [(f"我很喜欢{noun}。", f"我很喜欢了{noun}。") for noun in nouns]
    [unigrams, _] = ngram_baselines(pairs)
    assert (unigrams.n, unigrams.accuracy) == (20, 1.0)


@pytest.fixture
def suite() -> Suite:
    return Suite(
        meta=Meta(name="reflexives", language="en"),
        region_names=("subject", "verb"),
        predictions=(Prediction("(2;%good%) < (2;%bad%)"),),
        items=tuple(
            Item(
                str(number),
                (
                    Condition("good", (Region(name), Region("sleeps"))),
                    Condition("bad", (Region(name), Region("sleep"))),
                ),
            )
            for number, name in enumerate(NAMES, start=1)
        ),
    )


def test_the_audit_prints_them_and_warns(
    suite: Suite, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path_factory.mktemp("suite") / "reflexives"
    write_native(suite, folder)
    assert invoke(["suites", "audit", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "unigrams of half the pairs, tried on the other half: 1.00 right" in out
    assert "Over 0.60: words alone tell good from bad" in out


def test_the_audit_has_one_pair_for_each_alternative(suite: Suite) -> None:
    audited = audit_suite(suite)
    assert [(ngram.name, ngram.n) for ngram in audited.ngrams] == [
        ("unigrams", 26),
        ("bigrams", 26),
    ]


def test_alternatives_of_one_sentence_are_in_one_half() -> None:
    """Every name is in one sentence and its two alternatives, so that no half knows another's."""
    pairs = [(f"{name}a", f"{name}{end}") for name in NAMES for end in "bc"]
    assert accuracies(pairs) == {"unigrams": 0.5, "bigrams": 0.5}
