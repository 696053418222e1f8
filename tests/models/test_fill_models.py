"""Blanks filled by models: held to plain forward passes and to transformers' own pipeline."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, pipeline

from cimento import ModelError, Policy, UsageError
from cimento.engine.requests import Fill
from cimento.errors import TextTooLongError
from cimento.models.answering import open_filler
from cimento.models.hf.fill_words import FillTokens
from cimento.models.questions import FillPolicy
from cimento.models.settings import BatchLimits
from cimento.testing.models import uniform_scorer
from tests.helpers import plain, zoo
from tests.helpers.some_slow import some_slow
from tests.helpers.whole_path import load_folder


def blank(before, after, options=()):
    return Fill(before=before, after=after, options=options)


MASKED = ["bert", "bert-cased", "roberta", "camembert", "deberta-v2", "modernbert"]
GAPS = (
    blank("Il gatto della vicina ", " sul davanzale.", ("dorme", "canta", "è venuto")),
    blank("", " foglie caddero tutte insieme.", ("Le", "Las")),
    blank("L'amica dell'", " canta ancora, però", ("orchestra", "autunno")),
    blank("Non ne ha parlato ", "", ("più", "nessuno")),
)
TOLERANCE_NATS = 1e-4


def filler(folder, **options):
    return open_filler(load_folder(folder), policy=Policy(), **options)


def plain_row(model, ids, position):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).logits[0, position].float().log_softmax(-1)


def around(name, folder, text):
    """Token ids of a text with the special tokens that its tokenizer puts there."""
    kind = zoo.SPECIES[name].tokenizer
    tokenizer, special = zoo.tokenizer(kind), zoo.TOKENIZERS[kind]
    ids = plain.tokens_of(folder, text).ids
    before = ("<s>",) if kind in ("roberta", "unigram") else special.before
    return [
        *tokenizer.convert_tokens_to_ids(list(before)),
        *ids,
        *tokenizer.convert_tokens_to_ids(list(special.after)),
    ]


def tokens_over(folder, text, start, end, *, shift):
    """Indices of the tokens that cover some of the characters; one token follows the text's."""
    encoding = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(
        text, add_special_tokens=False
    )
    shift -= len(encoding.ids) + 1
    covered = [set(range(*offsets)) & set(range(start, end)) for offsets in encoding.offsets]
    return [number + shift for number, some in enumerate(covered) if some]


@pytest.mark.parametrize("name", ["bert", "bert-cased"])
def test_the_studies_protocol_is_that_of_the_fill_mask_pipeline(name, zoo_folder):
    folder = zoo_folder(name)
    pipe = pipeline("fill-mask", model=str(folder), top_k=10, device="cpu")
    answers = filler(folder).fill(GAPS, FillPolicy(k=10, protocol="mask"))
    for gap, fills in zip(GAPS, answers, strict=True):
        expected = pipe(f"{gap.before}[MASK]{gap.after}")
        tokens = pipe.tokenizer.convert_ids_to_tokens([row["token"] for row in expected])
        assert [fill.candidate for fill in fills] == tokens
        assert [math.exp(fill.logprob_nats) for fill in fills] == pytest.approx(
            [row["score"] for row in expected], rel=1e-4
        )


@pytest.mark.parametrize("name", some_slow(MASKED, quick=2))
def test_probabilities_at_the_mask_are_those_of_a_plain_pass(name, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    answers = filler(folder).fill(GAPS, FillPolicy(k=7))
    strip = name not in ("bert", "bert-cased")
    for gap, fills in zip(GAPS, answers, strict=True):
        before = gap.before.rstrip() if strip else gap.before
        ids = around(name, folder, f"{before}{tokenizer.mask_token}{gap.after}")
        row = plain_row(model, ids, ids.index(tokenizer.mask_token_id))
        values, _ = row.topk(7)
        assert [fill.logprob_nats for fill in fills] == pytest.approx(
            values.tolist(), abs=TOLERANCE_NATS
        )
        assert all(fill.n_pieces == 1 for fill in fills)


@pytest.mark.parametrize("name", some_slow(MASKED, quick=2))
def test_neither_batch_nor_order_changes_candidates(name, zoo_folder):
    policy = FillPolicy(k=5)
    together = filler(zoo_folder(name)).fill(GAPS, policy)
    alone = filler(zoo_folder(name), limits=BatchLimits(tokens=1))
    for gap, fills in zip(GAPS, together, strict=True):
        [other] = alone.fill([gap], policy)
        assert [f.candidate for f in other] == [f.candidate for f in fills]
        assert [f.logprob_nats for f in other] == pytest.approx(
            [f.logprob_nats for f in fills], abs=TOLERANCE_NATS
        )


@pytest.mark.parametrize("name", some_slow(MASKED, quick=2))
def test_options_of_any_length_are_scored_left_to_right_and_jointly(name, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    mask = zoo.tokenizer(zoo.SPECIES[name].tokenizer).mask_token_id
    rules = ("left-to-right", "joint", "mask")
    for gap, fills in zip(
        GAPS, filler(folder).fill(GAPS, FillPolicy(k=1), choice=rules), strict=True
    ):
        options = [fill for fill in fills if fill.method.startswith("choice:")]
        assert len(options) == len(rules) * len(gap.options)
        for option in gap.options:
            text = f"{gap.before}{option}{gap.after}"
            ids = around(name, folder, text)
            place = (len(gap.before), len(gap.before) + len(option))
            inside = tokens_over(folder, text, *place, shift=len(ids))
            expected = {}
            for rule in ("left-to-right", "joint"):
                total = 0.0
                for number, index in enumerate(inside):
                    masked = inside[number:] if rule == "left-to-right" else inside
                    shown = [mask if i in masked else token for i, token in enumerate(ids)]
                    total += plain_row(model, shown, index)[ids[index]].item()
                expected[rule] = total
            by_method = {f.method: f for f in options if f.candidate == option}
            assert by_method["choice:left-to-right"].n_pieces == len(inside)
            for rule, total in expected.items():
                assert by_method[f"choice:{rule}"].logprob_nats == pytest.approx(
                    total, abs=TOLERANCE_NATS
                )
            reachable = by_method["choice:mask"].logprob_nats
            if len(inside) > 1:
                assert reachable is None
            else:
                assert reachable == pytest.approx(expected["joint"], abs=TOLERANCE_NATS)


def test_pieces_unknowns_and_punctuation_are_kept_and_marked(zoo_folder):
    folder = zoo_folder("bert-cased")
    tokenizer = zoo.tokenizer("wordpiece-cased")
    size = len(tokenizer)
    [fills] = filler(folder).fill(GAPS[:1], FillPolicy(k=size))
    by_candidate = {fill.candidate: fill.kind for fill in fills}
    assert len(fills) == size
    assert by_candidate["[UNK]"] == "unknown"
    assert by_candidate["[SEP]"] == "unknown"
    assert by_candidate["."] == "punctuation"
    assert {kind for c, kind in by_candidate.items() if c.startswith("##")} == {"piece"}
    [words] = filler(folder).fill(GAPS[:1], FillPolicy(k=size, protocol="words"))
    assert [fill.candidate for fill in words] == [f.candidate for f in fills if f.kind == "word"]
    values = [fill.logprob_nats for fill in fills]
    assert math.fsum(map(math.exp, values)) == pytest.approx(1.0, abs=1e-5)
    assert all(one >= other for one, other in pairwise(values))


def test_beams_over_one_to_several_masks_are_the_best_sequences(zoo_folder):
    """Against every pair of tokens there is, filled in one after the other."""
    name, folder = "bert-cased", zoo_folder("bert-cased")
    model = AutoModelForMaskedLM.from_pretrained(folder)
    tokenizer = zoo.tokenizer("wordpiece-cased")
    ids = around(name, folder, "Il gatto [MASK] sul davanzale.")
    at, mask = ids.index(tokenizer.mask_token_id), tokenizer.mask_token_id
    two = [*ids[:at], mask, mask, *ids[at + 1 :]]
    first = plain_row(model, two, at)
    best = []
    for token in first.topk(40).indices.tolist():
        shown = [*ids[:at], token, mask, *ids[at + 1 :]]
        row = plain_row(model, shown, at + 1)
        value, second = row.max(0)
        best.append((first[token].item() + value.item(), token, second.item()))
    total, *tokens = max(best)
    gap = blank("Il gatto ", " sul davanzale.")
    [fills] = filler(folder).fill([gap], FillPolicy(k=20, protocol="beam", masks=2))
    assert [fill.method for fill in fills] == ["beam-1"] * 20 + ["beam-2"] * 20
    assert fills[20].logprob_nats == pytest.approx(total, abs=TOLERANCE_NATS)
    joined = tokenizer.convert_tokens_to_string(tokenizer.convert_ids_to_tokens(tokens))
    assert fills[20].candidate == joined


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bert-cased", "roberta", "xlm-roberta", "gpt2", "llama"])
def test_candidates_may_be_completed_to_whole_words(name, zoo_folder):
    [fills] = filler(zoo_folder(name)).fill(
        GAPS[:1], FillPolicy(k=220, protocol="complete", masks=2)
    )
    assert {fill.kind for fill in fills} == {"word"}
    assert {fill.n_pieces for fill in fills} == {1, 2}
    assert len({fill.candidate for fill in fills}) == len(fills)
    assert all(" " not in fill.candidate and "#" not in fill.candidate for fill in fills)
    values = [fill.logprob_nats for fill in fills]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma", "mpt"])
def test_a_causal_model_fills_with_what_comes_next(name, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForCausalLM.from_pretrained(folder)
    special = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    tokenizer = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    answers = filler(folder).fill(GAPS[2:], FillPolicy(k=6))
    for gap, fills in zip(GAPS[2:], answers, strict=True):
        before = tokenizer.convert_tokens_to_ids(list(special.before))
        ids = [*before, *plain.tokens_of(folder, gap.before.rstrip()).ids]
        values, _ = plain_row(model, ids, len(ids) - 1).topk(6)
        assert [fill.logprob_nats for fill in fills] == pytest.approx(
            values.tolist(), abs=TOLERANCE_NATS
        )
        assert {fill.method for fill in fills} == {"left"}


def test_whole_words_of_a_causal_model_are_probabilities(zoo_folder):
    """All words of one token, and that one goes on: together no more than 1."""
    folder = zoo_folder("gpt2")
    tokens = len(zoo.tokenizer("byte-bpe"))
    policy = FillPolicy(k=tokens, protocol="complete", masks=1)
    [fills] = filler(folder).fill(GAPS[:1], policy)
    total = math.fsum(math.exp(fill.logprob_nats) for fill in fills)
    [left] = filler(folder).fill(GAPS[:1], FillPolicy(k=tokens))
    begun = [fill.logprob_nats for fill in left if fill.kind == "word"]
    assert 0 < total < math.fsum(map(math.exp, begun)) <= 1


@pytest.mark.parametrize(
    ("name", "k"),
    [("gpt2", 25), *(pytest.param(name, k, marks=pytest.mark.slow) for name in ("gpt2", "llama")
                     for k in (1, 3, 25, 1000))],
)  # fmt: skip
def test_whole_words_of_one_token_are_the_most_probable_of_all_that_end_there(name, k, zoo_folder):
    """Against every token that begins a word: its P times that of whatever does not continue it."""
    folder = zoo_folder(name)
    model = AutoModelForCausalLM.from_pretrained(folder)
    special = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    tokenizer = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    before = tokenizer.convert_tokens_to_ids(list(special.before))
    gap = GAPS[2]
    ids = [*before, *plain.tokens_of(folder, gap.before.rstrip()).ids]
    tokens = FillTokens(tokenizer, size=model.config.vocab_size)
    first = plain_row(model, ids, len(ids) - 1)
    best = {}
    for token in np.flatnonzero(
        tokens.whole_words(after_blank=tokens.after_blank(gap.before))
    ).tolist():
        after = plain_row(model, [*ids, token], len(ids))
        ends = torch.from_numpy(~tokens.continuing)
        value = first[token].item() + after[ends].logsumexp(0).item()
        word = tokens.candidate(token)
        best[word] = max(value, best.get(word, -math.inf))
    [fills] = filler(folder).fill([gap], FillPolicy(k=k, protocol="words"))
    expected = sorted(best.values(), reverse=True)[:k]
    assert [fill.logprob_nats for fill in fills] == pytest.approx(expected, abs=TOLERANCE_NATS)
    for fill in fills:
        assert fill.logprob_nats == pytest.approx(best[fill.candidate], abs=TOLERANCE_NATS)
        assert (fill.method, fill.kind, fill.n_pieces) == ("words", "word", 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t5", "mt5"])
def test_an_encoder_decoder_writes_what_its_sentinel_stands_for(name, zoo_folder):
    """Against every single token there is between the two sentinels."""
    model = load_folder(zoo_folder(name))
    inside = model.inside()
    tokenizer, t5 = inside.tokenizer, inside.model
    text = "Il gatto della vicina <extra_id_0> sul davanzale."
    source = tokenizer(text, return_tensors="pt")["input_ids"]
    first, second = tokenizer.convert_tokens_to_ids(["<extra_id_0>", "<extra_id_1>"])
    best = {}
    tokens = sorted(set(range(len(tokenizer))) - set(tokenizer.all_special_ids))
    targets = [[t5.config.decoder_start_token_id, first, token, second] for token in tokens]
    with torch.no_grad():
        logits = t5(
            input_ids=source.expand(len(tokens), -1), decoder_input_ids=torch.tensor(targets)
        ).logits
    for token, rows in zip(tokens, logits.log_softmax(-1), strict=True):
        value = rows[1, token].item() + rows[2, second].item()
        word = tokenizer.decode([token]).strip()
        best[word] = max(value, best.get(word, -math.inf))
    policy = FillPolicy(k=len(tokenizer), masks=1)
    [fills] = open_filler(model, policy=Policy()).fill(GAPS[:1], policy)
    assert {fill.candidate: fill.logprob_nats for fill in fills} == pytest.approx(best, abs=1e-3)
    values = [fill.logprob_nats for fill in fills]
    assert values == sorted(values, reverse=True)
    [longer] = open_filler(model, policy=Policy()).fill(GAPS[:1], FillPolicy(k=30, masks=3))
    assert {fill.n_pieces for fill in longer} <= {1, 2, 3}


@pytest.mark.parametrize(("name", "protocol"), [("roberta", "words"), ("gpt2", "complete")])
def test_a_gap_inside_a_word_is_another_gap_than_one_after_it(name, protocol, zoo_folder):
    """The same tokens come before both, and other tokens can follow."""
    gap_filler = filler(zoo_folder(name))
    inside, after = blank("La casa", "."), blank("La casa ", ".")
    policy = FillPolicy(k=40, protocol=protocol, masks=2)
    together = gap_filler.fill([inside, after], policy)
    assert together == [*gap_filler.fill([inside], policy), *gap_filler.fill([after], policy)]
    assert together[0] != together[1]


def test_every_text_goes_through_the_model_once_and_its_head_sees_the_masks_alone(zoo_folder):
    scorer = load_folder(zoo_folder("bert-cased"))
    model = scorer.inside().model
    gap_filler = open_filler(scorer, policy=Policy())
    lines, rows = [], []
    model.base_model.encoder.register_forward_hook(
        lambda _module, args, kwargs, _out: lines.append(len((*args, *kwargs.values())[0])),
        with_kwargs=True,
    )
    model.cls.register_forward_hook(lambda _module, args, _out: rows.append(args[0].shape[-2]))
    gap_filler.fill([*GAPS, *GAPS[:2]], FillPolicy(k=5))
    assert sum(lines) == sum(rows) == len(GAPS)


@pytest.mark.parametrize(("name", "protocol"), [("bert-cased", "mask"), ("gpt2", "left")])
def test_of_a_long_text_the_part_around_the_blank_can_be_read(name, protocol, zoo_folder):
    """The very tokens that fit: half of them on each side, or those just before the blank."""
    policy = Policy(window="sliding")
    folder = zoo_folder(name)
    gap_filler = open_filler(load_folder(folder, policy), policy=policy)
    request = blank("gatto " * 200, " gatto" * 200)
    [fills] = gap_filler.fill([request], FillPolicy(k=5, protocol=protocol))
    tokenizer = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    if name == "gpt2":
        text = plain.tokens_of(folder, request.before.rstrip()).ids
        ids = [tokenizer.bos_token_id, *text[-(zoo.WINDOW - 1) :]]
        model, at = AutoModelForCausalLM.from_pretrained(folder), len(ids) - 1
    else:
        ids = around(name, folder, f"{request.before}[MASK]{request.after}")
        at = ids.index(tokenizer.mask_token_id)
        left = (zoo.WINDOW - 3) // 2
        ids = [ids[0], *ids[at - left : at + zoo.WINDOW - 2 - left], ids[-1]]
        model, at = AutoModelForMaskedLM.from_pretrained(folder), left + 1
    assert len(ids) == zoo.WINDOW
    values, _ = plain_row(model, ids, at).topk(5)
    assert [fill.logprob_nats for fill in fills] == pytest.approx(
        values.tolist(), abs=TOLERANCE_NATS
    )
    [words] = gap_filler.fill([request], FillPolicy(k=5, protocol="complete", masks=2))
    assert len(words) == 5


def test_what_cannot_be_asked_is_said(zoo_folder):
    masked = filler(zoo_folder("bert-cased"))
    with pytest.raises(ModelError, match="besides its blank"):
        masked.fill([blank("Una [MASK] e ", "")], FillPolicy())
    with pytest.raises(TextTooLongError, match="window"):
        masked.fill([blank("gatto " * 200, "")], FillPolicy())
    with pytest.raises(UsageError, match="protocol=left"):
        masked.fill(GAPS[:1], FillPolicy(protocol="left"))
    policy = Policy(bos="none")
    bare = open_filler(load_folder(zoo_folder("gpt2"), policy), policy=policy)
    with pytest.raises(ModelError, match="nothing comes before"):
        bare.fill(GAPS[1:2], FillPolicy())
    with pytest.raises(UsageError, match="only scores"):
        open_filler(uniform_scorer(10), policy=Policy())
    for wrong in ({"k": 0}, {"masks": 9}):
        with pytest.raises(UsageError, match="out of range"):
            FillPolicy(**wrong)


def test_the_first_word_of_a_text_is_marked_as_the_tokenizer_has_it():
    for kind, marked in (("roberta", False), ("unigram", True), ("wordpiece-cased", True)):
        tokenizer = zoo.tokenizer(kind)
        tokens = FillTokens(tokenizer, size=len(tokenizer))
        assert tokens.after_blank("") is marked, kind
        assert tokens.after_blank("La ") is True
        assert tokens.after_blank("L'") is False
    roberta = zoo.tokenizer("roberta")
    tokens = FillTokens(roberta, size=len(roberta))
    number = roberta.get_vocab()["L"]
    assert tokens.kind([number], after_blank=tokens.after_blank("")) == "word"
    assert tokens.kind([number], after_blank=True) == "piece"


@pytest.mark.parametrize(
    ("kind", "text", "after_blank", "expected"),
    [
        ("wordpiece-cased", "gatto", True, "word"),
        ("roberta", "gatto", True, "word"),
        ("unigram", "gatto", True, "word"),
        ("byte-bpe", "dell'", True, "word"),
    ],
)
def test_the_tokens_of_a_word_make_that_word(kind, text, after_blank, expected):
    tokenizer = zoo.tokenizer(kind)
    tokens = FillTokens(tokenizer, size=len(tokenizer))
    prefix = " " if kind in ("roberta", "byte-bpe") else ""
    ids = tokenizer(prefix + text, add_special_tokens=False)["input_ids"]
    assert tokens.joined(ids) == text
    if len(ids) > 1 and text.isalpha():
        assert tokens.kind(ids, after_blank=after_blank) == expected
        assert tokens.kind(ids[1:], after_blank=after_blank) in ("piece", "words")
