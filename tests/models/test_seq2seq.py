"""Encoder-decoders score as in a plain forward pass over source and text, one at a time."""

from __future__ import annotations

import itertools
import json
import shutil

import pytest
import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    ProphetNetConfig,
    ProphetNetForConditionalGeneration,
)

import cimento
from cimento import Asking, ModelError, Policy, UsageError
from cimento.engine.cache import MemoryCache
from cimento.errors import TextTooLongError
from cimento.evaluation.freetext import score_texts
from cimento.measures import surprisal_bits
from cimento.models.hf.inspection import inspect_model
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from cimento.testing import check_model
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask, ask_folder, load_folder

MODELS = list(zoo.ENCODER_DECODERS)
TOLERANCE_NATS = 1e-5
TEXTS = plain.TEXTS[:9]
# Some alike, some of other lengths, some none.
SOURCES = ("", "La zia dell'amica:", "Sì.", "", "Где ключи?", "La zia dell'amica:", "a", "?", "No.")
REQUESTS = [
    Score(text, context=source)
    for number, (text, source) in enumerate(zip(TEXTS, SOURCES, strict=True))
]
# What the decoder reads before a text: its own start, then what the tokenizer puts there.
DECODER_STARTS = {name: ["<pad>"] for name in MODELS} | {"bart": ["</s>", "<s>"]}
AROUND_SOURCES = {name: ([], ["</s>"]) for name in MODELS} | {"bart": (["<s>"], ["</s>"])}


def to_ids(name, tokens):
    return zoo.tokenizer(zoo.ENCODER_DECODERS[name].tokenizer).convert_tokens_to_ids(tokens)


def expected(name, folder, model, request):
    """Token ids and log P, from one plain pass over one source and one text."""
    before, after = (to_ids(name, tokens) for tokens in AROUND_SOURCES[name])
    source = plain.tokens_of(folder, request.context).ids if request.context else []
    start = to_ids(name, DECODER_STARTS[name])
    ids = plain.tokens_of(folder, request.text).ids
    with torch.no_grad():
        table = model(
            input_ids=torch.tensor([[*before, *source, *after]]),
            decoder_input_ids=torch.tensor([[*start, *ids]]),
        ).logits[0]
    table = table.log_softmax(-1)[len(start) - 1 :]
    return ids, [table[index, token].item() for index, token in enumerate(ids)]


def assert_plain(name, folder, answers, requests):
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    for request, answer in zip(requests, answers, strict=True):
        ids, values = expected(name, folder, model, request)
        assert answer.ids == ids
        assert answer.positions == list(range(len(ids)))
        assert answer.logprobs == pytest.approx(values, abs=TOLERANCE_NATS)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_a_plain_pass_over_source_and_text(name, zoo_folder):
    folder = zoo_folder(name)

    assert_plain(name, folder, ask_folder(folder, REQUESTS), REQUESTS)
    backwards = REQUESTS[::-1]
    assert_plain(
        name, folder, ask_folder(folder, backwards, limits=BatchLimits(tokens=40)), backwards
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_kind_is_found_and_what_the_decoder_starts_with(name, zoo_folder):
    card = load_folder(zoo_folder(name)).card

    assert card.kind == "seq2seq"
    assert card.bos.split() == DECODER_STARTS[name]
    assert card.window == (zoo.WINDOW if name in ("bart", "marian") else None)


def test_the_length_that_t5_was_trained_with_is_no_limit(zoo_folder, tmp_path):
    """Its positions are relative; old configs name 512 all the same."""
    shutil.copytree(zoo_folder("t5"), tmp_path / "copy")
    path = tmp_path / "copy" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"n_positions": 12}))

    assert load_folder(tmp_path / "copy").card.window is None


def test_one_text_after_two_sources_is_two_answers_in_one_cache(zoo_folder):
    scorer = load_folder(zoo_folder("t5"))
    cache = MemoryCache()
    asked = [
        Score("Sì.", context=source) for number, source in enumerate(("La casa", "La cosa", ""))
    ]

    cold, warm = ask(scorer, asked, cache=cache), ask(scorer, asked, cache=cache)

    assert len({answer.total for answer in cold}) == 3
    assert [answer.logprobs for answer in warm] == [answer.logprobs for answer in cold]


def test_a_part_of_a_text_has_the_scores_it_has_in_the_whole(zoo_folder):
    scorer = load_folder(zoo_folder("bart"))
    text = "Le chiavi sono sul tavolo."
    part = Score(text, context="Dove?", wanted=((11, 15),))

    [some], [whole] = ask(scorer, [part]), ask(scorer, [Score(text, context="Dove?")])

    chosen = [i for i, start in enumerate(whole.starts) if 11 <= start < 15]
    assert some.positions == chosen
    assert some.logprobs == pytest.approx([whole.logprobs[i] for i in chosen], abs=TOLERANCE_NATS)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_conformance_kit_passes(name, zoo_folder):
    scorer = load_folder(zoo_folder(name))

    assert [finding for finding in check_model(scorer) if not finding.passed] == []


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_fast_and_plain_scores_are_compared(name, zoo_folder):
    scorer = load_folder(zoo_folder(name))

    inspection = inspect_model(scorer, {"some": TEXTS}, policy=Policy(), n_compared=20)

    assert inspection.comparison.agrees
    assert inspection.comparison.n_texts == len(TEXTS)
    assert inspection.tokenizer.origin == "what the decoder starts with"


def test_words_are_sums_of_tokens(zoo_folder):
    scorer = load_folder(zoo_folder("t5"))
    asked = Asking(policy=Policy())
    tokens, words = (
        score_texts(["L'amica canta."], scorer, contexts=["Chi?"], asking=asked, words=words)
        for words in (False, True)
    )

    assert words["word"].to_list() == ["L", "'", "amica", "canta", "."]
    assert words["surprisal_bits"].sum() == pytest.approx(tokens["surprisal_bits"].sum())


def test_other_dtypes(zoo_folder):
    folder = zoo_folder("mt5")
    request = Score("Sì, no.", context="Chi?")
    model = AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=torch.float64)
    _, values = expected("mt5", folder, model, request)

    [answer] = ask_folder(folder, [request], Policy(dtype="float64"))

    assert answer.logprobs == pytest.approx(values, abs=1e-9)


def test_a_decoder_without_a_start_is_refused(zoo_folder, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(zoo_folder("t5"), folder)
    for name in ("config.json", "generation_config.json"):
        path = folder / name
        content = json.loads(path.read_text())
        content.pop("decoder_start_token_id", None)
        path.write_text(json.dumps(content))

    with pytest.raises(ModelError, match="which token its decoder starts with"):
        load_folder(folder)


def test_a_source_that_is_too_long_is_refused(zoo_folder):
    scorer = load_folder(zoo_folder("bart"))

    with pytest.raises(TextTooLongError, match="context 'uno due"):
        scorer.encode([Score("Sì.", context="uno due " * zoo.WINDOW)])


def test_no_window_slides_over_source_and_text(zoo_folder):
    with pytest.raises(UsageError, match="reads source and text whole"):
        load_folder(zoo_folder("bart"), Policy(window="sliding"))


@pytest.mark.parametrize("source", ["", "La zia dell'amica:"])
def test_words_are_corrected_for_their_boundaries(source, zoo_folder):
    """The first word of a text is one, whatever the source is; T5 puts a blank before it."""
    folder = zoo_folder("t5")
    policy = Policy(boundary="auto", punctuation="keep")
    text = "Le vicine cantano."
    request = Score(text, context=source)
    tokenizer = zoo.tokenizer("unigram-sentinels")
    vocabulary = {number: token for token, number in tokenizer.get_vocab().items()}
    opening = [number for number, token in vocabulary.items() if token.startswith("▁")]
    opening.append(tokenizer.eos_token_id)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder)
    ids, logprobs = expected("t5", folder, model, request)
    with torch.no_grad():
        rows = (
            model(
                input_ids=torch.tensor([[*plain.tokens_of(folder, source).ids, 1]]),
                decoder_input_ids=torch.tensor([[0, *ids]]),
            )
            .logits[0]
            .softmax(-1)
        )
    log_z = rows[:, opening].sum(dim=1).log().tolist()
    # After a lone blank a word has ended for certain.
    log_z = [0.0 if i and vocabulary[ids[i - 1]] == "▁" else z for i, z in enumerate(log_z)]
    terms = [before - after for before, after in itertools.pairwise(log_z)]

    scorer = load_folder(folder, policy)
    table = score_texts([text], scorer, contexts=[source], asking=Asking(policy=policy))
    words = score_texts([text], scorer, contexts=[source], asking=Asking(policy=policy), words=True)

    assert scorer.card.boundary == "word-start"
    assert table["boundary_nats"].to_list() == pytest.approx(terms, abs=1e-4)
    total = surprisal_bits(sum(logprobs) - log_z[0] + log_z[-1])
    assert words["surprisal_bits"].sum() == pytest.approx(total, abs=1e-3)


def test_a_model_can_be_named_as_what_it_is(zoo_folder):
    """An encoder-decoder loaded as a causal model would be another model."""
    folder = zoo_folder("bart")
    by_name, by_config = load_folder(folder, kind="seq2seq"), load_folder(folder)

    [one], [other] = (ask(scorer, ["Sì."]) for scorer in (by_name, by_config))

    assert one.logprobs == other.logprobs
    assert surprisal_bits(one.total) > 0


def test_prophetnet_is_refused_for_what_it_does():
    """Its decoder's scores change with the number of tokens that follow, not with their names."""
    config = ProphetNetConfig(
        vocab_size=420, hidden_size=32, encoder_ffn_dim=32, decoder_ffn_dim=32, ngram=2,
        num_encoder_layers=2, num_decoder_layers=2, num_encoder_attention_heads=2,
        num_decoder_attention_heads=2, pad_token_id=0, decoder_start_token_id=2, eos_token_id=2,
    )  # fmt: skip
    torch.manual_seed(0)
    model = ProphetNetForConditionalGeneration(config).eval()
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=1.0)

    def first_three(*ids):
        ids = torch.tensor([ids])
        with torch.no_grad():
            logits = model(input_ids=ids[:, :2], decoder_input_ids=ids, use_cache=False).logits
        return logits[0, :3].log_softmax(-1)

    whole = first_three(2, 10, 11, 12, 13)
    assert torch.equal(whole, first_three(2, 10, 11, 20, 21))
    assert (whole - first_three(2, 10, 11)).abs().max() > 1e-5
    tokenizer = zoo.tokenizer(zoo.ENCODER_DECODERS["bart"].tokenizer)
    with pytest.raises(ModelError, match="another number of tokens follows it, whichever"):
        cimento.live_scorer(model, tokenizer, name="prophetnet")
