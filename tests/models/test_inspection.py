"""What is found out about a model: equal scores, the tokenizer, chats, unknown tokens."""

from __future__ import annotations

import dataclasses
import math

import pytest

from cimento import Asking, Policy
from cimento.models.base import ModelCard
from cimento.models.hf.inside import Inspection
from cimento.models.hf.inspection import inspect_model, tokenizer_facts
from cimento.models.registry import open_scorer
from cimento.models.tokenizing import causal_frame
from tests.helpers import zoo
from tests.helpers.plain import TEXTS, tokens_of
from tests.helpers.some_slow import some_slow

KNOWN = {"some": TEXTS[:5], "others": [TEXTS[6], TEXTS[6], TEXTS[8]]}


def opened(folder, **policy):
    return open_scorer(str(folder), Asking(device="cpu", policy=Policy(**policy)))


def inspected(folder, texts=KNOWN, n_compared=100, **policy) -> Inspection:
    scorer = opened(folder, **policy)
    return inspect_model(scorer, texts, policy=Policy(**policy), n_compared=n_compared)


@pytest.mark.parametrize(
    "name",
    some_slow(
        ["gpt2", "llama", "mistral", "bloom", "mamba", "bert-cased", "albert", "modernbert"],
        quick=5,
    ),
)
def test_fast_and_plain_scores_agree(zoo_folder, name):
    comparison = inspected(zoo_folder(name)).comparison

    assert comparison.agrees
    assert comparison.max_difference_nats < 1e-4
    # The text that is there twice is scored once.
    assert comparison.n_texts == 7
    assert comparison.fast_texts_per_s > 0
    assert comparison.plain_texts_per_s > 0


@pytest.mark.parametrize(("name", "trees"), [("gpt2", True), ("bloom", False), ("mamba", False)])
def test_whether_prefix_trees_are_used_is_said(zoo_folder, name, trees):
    pairs = [f"{text[:-1]}{end}" for text in TEXTS[:3] for end in (".", "!")]
    way = inspected(zoo_folder(name), {"pairs": pairs}).comparison.way

    assert ("shared beginnings once" in way) == trees
    assert ("no prefix trees: " in way) != trees


@pytest.mark.slow
@pytest.mark.parametrize("pll", ["within-word-l2r", "original", "whole-word"])
def test_masked_models_are_compared_under_their_policy(zoo_folder, pll):
    assert inspected(zoo_folder("roberta"), pll=pll).comparison.agrees


@pytest.mark.parametrize("wrong", [0.01, math.nan])
def test_other_scores_are_found(zoo_folder, monkeypatch, wrong):
    scorer = opened(zoo_folder("gpt2"))
    score = scorer.score

    def off(encoded):
        values = score(encoded)
        values[-1][-1] += wrong
        return values

    monkeypatch.setattr(scorer, "score", off)
    comparison = inspect_model(scorer, KNOWN, policy=Policy(), n_compared=5).comparison

    assert not comparison.agrees
    expected = math.inf if math.isnan(wrong) else pytest.approx(wrong, abs=1e-4)
    assert comparison.max_difference_nats == expected


def test_only_so_many_texts_are_compared_from_every_suite(zoo_folder):
    inspection = inspected(zoo_folder("gpt2"), n_compared=3)

    assert inspection.comparison.n_texts == 3
    assert [unknown.n_texts for unknown in inspection.unknown] == [5, 2]


def facts(kind: str, **policy):
    """The facts of a tokenizer, as a causal model under a policy has it."""
    tokenizer = zoo.tokenizer(kind)
    chosen = Policy(**policy)
    before = causal_frame(tokenizer, chosen.bos).before
    bos = " ".join(tokenizer.convert_ids_to_tokens(list(before)))
    card = ModelCard(name=kind, kind="causal", revision="0", tokenizer="0", bos=bos)
    return tokenizer_facts(tokenizer, policy=chosen, card=card)


@pytest.mark.parametrize(
    ("kind", "cuts", "marks", "unknown"),
    [
        ("byte-bpe", "byte-level BPE", "word beginnings", ""),
        ("byte-bpe-prefix", "byte-level BPE", "word beginnings", ""),
        ("roberta", "byte-level BPE", "word beginnings", ""),
        (
            "bpe-fallback",
            "SentencePiece-like BPE, unknown characters as bytes",
            "word beginnings",
            "<unk>",
        ),
        ("unigram", "SentencePiece-like Unigram", "word beginnings", "<unk>"),
        ("wordpiece-cased", "WordPiece", "none (but continuations of a word, with ##)", "[UNK]"),
    ],
)
def test_the_kind_of_tokenizer(kind, cuts, marks, unknown):
    tokenizer = facts(kind)

    assert (tokenizer.kind, tokenizer.marks) == (cuts, marks)
    assert tokenizer.boundary == ("word-start" if marks == "word beginnings" else "none")
    assert tokenizer.unknown == (unknown or str(zoo.tokenizer(kind).unk_token or ""))


@pytest.mark.parametrize(
    ("kind", "bos", "before", "origin"),
    [
        ("byte-bpe", "auto", "<|endoftext|>", "its BOS token, the same as its EOS token"),
        ("byte-bpe-bos", "auto", "</s>", "the tokenizer puts it there"),
        ("byte-bpe-two", "auto", "[gMASK] <sop>", "the tokenizer puts it there"),
        ("no-bos", "auto", "<|endoftext|>", "its EOS token, for it has no BOS token"),
        ("bare", "auto", "", "nothing: it has neither BOS nor EOS; the first token has no score"),
        ("byte-bpe", "none", "", "nothing: --bos none; the first token has no score"),
        ("bpe-fallback", "bos-or-eos", "<s>", "its BOS token"),
    ],
)
def test_what_stands_before_a_text(kind, bos, before, origin):
    tokenizer = facts(kind, bos=bos)

    assert (tokenizer.bos, tokenizer.before, tokenizer.origin) == (bos, before, origin)


def test_what_stands_around_a_text_of_a_masked_model(zoo_folder):
    tokenizer = inspected(zoo_folder("bert-cased")).tokenizer

    assert (tokenizer.before, tokenizer.after) == ("[CLS]", "[SEP]")
    assert (tokenizer.bos, tokenizer.boundary) == ("", "none")


LOOP = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"
USERS = "{% for m in messages if m['role'] == 'user' %}{{ m['content'] }}{% endfor %}"
REFUSES = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
)


@pytest.mark.parametrize(
    ("template", "role", "refusal"),
    [
        (None, None, ""),
        (LOOP, "rendered", ""),
        (USERS, "left out", ""),
        (REFUSES, "refused", "no system role"),
    ],
)
def test_a_system_role_is_found_by_rendering(monkeypatch, template, role, refusal):
    monkeypatch.setattr(zoo.tokenizer("byte-bpe"), "chat_template", template)
    tokenizer = facts("byte-bpe")

    assert tokenizer.system_role == role
    assert refusal in tokenizer.refusal


@pytest.mark.slow
def test_unknown_tokens_are_counted(zoo_folder):
    folder = zoo_folder("bert-cased")
    unknown_tokens = inspected(folder, {"all": TEXTS}).unknown[0]

    ids = [number for text in TEXTS for number in tokens_of(folder, text).ids]
    unknown = zoo.tokenizer("wordpiece-cased").unk_token_id
    assert unknown_tokens.n_tokens == len(ids)
    assert unknown_tokens.n_unknown == ids.count(unknown) > 0


def test_texts_that_cannot_be_scored_are_counted_and_said(zoo_folder):
    texts = {"all": [TEXTS[0], "troppo lungo " * zoo.WINDOW]}
    inspection = inspected(zoo_folder("gpt2"), texts)

    assert inspection.unknown[0].n_refused == 1
    assert "the model's window holds" in inspection.unknown[0].refusal
    assert inspection.comparison.n_texts == 1


def test_a_window_that_slides_is_left_out_of_the_comparison(zoo_folder):
    texts = {"all": [TEXTS[0], "troppo lungo " * zoo.WINDOW]}
    inspection = inspected(zoo_folder("gpt2"), texts, window="sliding")

    assert inspection.unknown[0].n_refused == 0
    assert inspection.comparison.n_texts == 1


def test_a_kind_without_a_plain_way_is_not_compared(zoo_folder):
    scorer = opened(zoo_folder("gpt2"))
    scorer.card = dataclasses.replace(scorer.card, kind="of its own")

    inspection = inspect_model(scorer, KNOWN, policy=Policy(), n_compared=5)

    assert inspection.comparison is None
    assert inspection.tokenizer is not None
