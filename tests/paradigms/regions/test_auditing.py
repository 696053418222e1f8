"""Audits of suites, on small ones whose facts are counted by hand; n-grams of half the pairs."""

from __future__ import annotations

import json

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite, UsageError
from cimento.cli.main import invoke
from cimento.paradigms.regions.audit import audit_region_suite
from cimento.paradigms.regions.ngrams import ngram_baselines
from cimento.suites.formats.native import write_native
from cimento.testing.models import uniform_scorer

NAMES = [f"name{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def suite_of(*triples: tuple[str, str, str], formula: str = "(2;%good%) < (2;%bad%)") -> Suite:
    return Suite(
        meta=Meta(name="verbs", language="it"),
        region_names=("subject", "verb"),
        predictions=(Prediction(formula),),
        items=tuple(
            Item(
                str(number),
                (
                    Condition("good", (Region(subject), Region(good))),
                    Condition("bad", (Region(subject), Region(bad))),
                ),
            )
            for number, (subject, good, bad) in enumerate(triples, start=1)
        ),
    )


SUITE = suite_of(
    ("Il fornaio", "dorme", "dormono"),
    ("La maestra di Anna", "canta", "cantano"),
    ("il Fornaio", "esce", "escono"),
)
ZIPF = {"dorme": 4.0, "dormono": 3.0, "canta": 3.5, "cantano": 3.5, "esce": 3.0, "escono": 4.0}


def test_frequencies_and_what_they_solve() -> None:
    audit = audit_region_suite(SUITE, frequency=ZIPF.__getitem__)
    good, bad = audit.conditions
    assert (good.zipf, bad.zipf) == (3.5, 3.5)
    assert good.words == pytest.approx((3 + 5 + 3) / 3)
    (baseline,) = audit.baselines
    # Only the first item has the more frequent form; the second is a tie.
    assert (baseline.n, baseline.solved) == (3, ("1",))


def test_contexts_that_are_the_same() -> None:
    audit = audit_region_suite(SUITE)
    assert audit.same_contexts == (("1", "3"),)
    assert audit.other_contexts == ()
    assert audit.baselines[0].reason


def test_items_that_share_their_words() -> None:
    suite = suite_of(
        ("Il vecchio pescatore del porto", "canta", "cantano"),
        ("Il vecchio pescatore del porto", "canta", "cantavano"),
        ("La sorella di Marco", "parte", "partono"),
    )
    # il, vecchio, pescatore, del, porto, canta of eight words: less than four in five.
    assert audit_region_suite(suite).overlapping == ()
    same = suite_of(
        ("Il vecchio pescatore del porto", "canta", "cantano"),
        ("Il vecchio pescatore del porto", "canta", "cantano"),
    )
    assert audit_region_suite(same).overlapping == (("1", "2", 1.0),)


def test_tokens_of_the_target() -> None:
    audit = audit_region_suite(SUITE, scorer=uniform_scorer(100))
    assert {condition.condition for condition in audit.conditions} == {"good", "bad"}
    assert all(condition.tokens is not None for condition in audit.conditions)
    assert {condition.target_tokens for condition in audit.conditions} == {1.0}


def test_a_suite_without_one_target() -> None:
    audit = audit_region_suite(
        suite_of(("Il gatto", "dorme", "dormono"), formula="((2;%good%) - (2;%bad%)) < 0")
    )
    assert audit.target == ""
    assert audit.same_contexts == ()
    with pytest.raises(UsageError):
        audit_region_suite(SUITE, regions=[7])


def test_whole_sentences_are_cut_at_the_words_that_differ() -> None:
    suite = suite_of(
        ("Il fornaio", "dorme poco", "dormono poco"),
        ("La maestra di Anna", "canta", "cantano"),
        ("Oggi", "esce il sole", "La nonna di Piero legge"),
        formula="(*;%good%) < (*;%bad%)",
    )
    audit = audit_region_suite(suite, scorer=uniform_scorer(100), frequency=len)
    assert audit.target == "the words that differ of good against bad"
    good, bad = audit.conditions
    # Oggi is in both sentences of the last pair, and then all words differ.
    assert good.zipf == pytest.approx((5 + 5 + 10 / 3) / 3)
    assert bad.zipf == pytest.approx((7 + 7 + 19 / 5) / 3)
    assert good.words == pytest.approx((4 + 5 + 4) / 3)
    assert audit.baselines[0].n == 3
    assert audit.unlike == ("3",)
    assert audit.split_unequally == ("3",)


def test_sentences_with_a_judgment_mark_are_listed(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text(
        "good,bad\n#Ieri pioveva.,#Ieri piovevano.\nIl pane è caldo.,Il pane sono caldo.\n", "utf-8"
    )
    assert invoke(["suites", "audit", str(path), "--language", "it"]) == 0
    assert "judgment marks in sentences: 1: 1\n" in capsys.readouterr().out
    path.write_text("good,bad\nIl gatto *dormono qui.,Il *gatto dorme qui.\nA b.,A c.\n", "utf-8")
    assert invoke(["suites", "audit", str(path), "--language", "it"]) == 0
    assert "judgment marks in sentences: 1: 1\n" in capsys.readouterr().out
    path.write_text("good,bad\nIeri pioveva.,*Ieri piovevano.\n", "utf-8")
    assert invoke(["suites", "audit", str(path), "--language", "it"]) == 2
    assert "1 of 1 sentences of condition 'bad'" in capsys.readouterr().err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["suites", "audit", "es-subject-verb", "-m", "demo-causal"]
    assert invoke([*command, "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["suites"]
    assert record["n_items"] == 24
    assert record["target"].startswith("verb of match against")
    assert invoke(command) == 0
    assert "target cut into more tokens in one condition: " in capsys.readouterr().out
    assert invoke(command[:3]) == 0
    printed = capsys.readouterr().out
    assert (
        "target cut into more tokens in one condition: - (unknown without a model: -m)" in printed
    )
    assert "unknown tokens: - (unknown without a model: -m)" in printed


def test_what_no_model_was_asked_for_is_null_with_a_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["suites", "audit", "it-subject-verb", "--json"]
    shown = {}
    for model in ((), ("--model", "demo-causal")):
        assert invoke([*words, *model]) == 0
        [record] = json.loads(capsys.readouterr().out)["suites"]
        shown[bool(model)] = {
            name: record[name] for name in ("split_unequally", "unknown", "no_tokens")
        }
    reason = "no model was given, whose tokens they would be"
    assert shown[False] == {"split_unequally": None, "unknown": None, "no_tokens": reason}
    assert isinstance(shown[True]["split_unequally"], list)
    assert isinstance(shown[True]["unknown"], list)
    assert shown[True]["no_tokens"] == ""


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
    audited = audit_region_suite(suite)
    assert [(ngram.name, ngram.n) for ngram in audited.ngrams] == [
        ("unigrams", 26),
        ("bigrams", 26),
    ]


def test_alternatives_of_one_sentence_are_in_one_half() -> None:
    """Every name is in one sentence and its two alternatives, so that no half knows another's."""
    pairs = [(f"{name}a", f"{name}{end}") for name in NAMES for end in "bc"]
    assert accuracies(pairs) == {"unigrams": 0.5, "bigrams": 0.5}
