"""Pseudo-log-likelihoods are those of one masked copy after another in plain forward passes."""

from __future__ import annotations

import functools
import math

import pytest
import torch
from transformers import AutoModelForMaskedLM

from cimento import ModelError, Policy
from cimento.models.hf.layout import find_layout
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from tests.helpers import plain, zoo
from tests.helpers.some_slow import some_slow
from tests.helpers.whole_path import ask, ask_folder, load_folder

MASKED = [name for name, species in zoo.SPECIES.items() if species.masked]
TEXTS = (*plain.TEXTS[:3], *plain.TEXTS[4:9:2], plain.TEXTS[9])
TOLERANCE_NATS = 1e-5

# Architectures that mix positions without asking what is padding.
MIXERS = {
    "convbert": zoo.Species("wordpiece-cased", {"embedding_size": 32}, masked=True),
    "fnet": zoo.Species("unigram", masked=True),
}


@pytest.fixture
def mixers(monkeypatch):
    for name, species in MIXERS.items():
        monkeypatch.setitem(zoo.SPECIES, name, species)


def expected(name, folder, model, text, *, pll="within-word-l2r", punctuation="split"):
    """Token ids and their scores, with special tokens and words found apart from cimento."""
    kind = zoo.SPECIES[name].tokenizer
    tokenizer, special = zoo.tokenizer(kind), zoo.TOKENIZERS[kind]
    tokens = plain.tokens_of(folder, text)
    words = plain.units_of(text, tokens, punctuation=punctuation)
    values = plain.masked(
        model,
        tokenizer.convert_tokens_to_ids(list(special.before)),
        tokens.ids,
        tokenizer.convert_tokens_to_ids(list(special.after)),
        mask=tokenizer.mask_token_id,
        words=None if pll == "original" else words,
    )
    return tokens.ids, values


plain_model = functools.cache(AutoModelForMaskedLM.from_pretrained)


@functools.cache
def answers_of(folder, pll, texts=TEXTS):
    """What a model of the zoo, read once for it, says of the texts."""
    return ask_folder(folder, texts, Policy(pll=pll))


def assert_plain(name, folder, answers, texts, **rules) -> None:
    model = plain_model(folder)
    for text, answer in zip(texts, answers, strict=True):
        ids, values = expected(name, folder, model, text, **rules)
        assert answer.ids == ids, text
        assert answer.positions == list(range(len(ids)))
        assert answer.logprobs == pytest.approx(values, abs=TOLERANCE_NATS), text


@pytest.mark.parametrize("pll", ["original", "within-word-l2r"])
@pytest.mark.parametrize("name", some_slow(MASKED, quick=2))
def test_scores_are_those_of_plain_forward_passes(name, pll, zoo_folder):
    folder = zoo_folder(name)
    # The masks of one policy are among those of the other: fewer texts show that they are chosen.
    texts = TEXTS if pll == Policy().pll else TEXTS[1::3]
    assert_plain(name, folder, answers_of(folder, pll, texts), texts, pll=pll)


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(MASKED, quick=2))
def test_batch_and_order_change_nothing(name, zoo_folder):
    answers = answers_of(zoo_folder(name), Policy().pll)
    backwards = ask_folder(zoo_folder(name), TEXTS[::-1], limits=BatchLimits(tokens=70))[::-1]
    alone = ask(load_folder(zoo_folder(name), limits=BatchLimits(tokens=1)), TEXTS[1:2])

    for one, other in [*zip(answers, backwards, strict=True), (answers[1], alone[0])]:
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=TOLERANCE_NATS)


@pytest.mark.parametrize("name", MASKED)
def test_every_model_of_the_zoo_reads_what_is_on_both_sides(name):
    model = zoo.model(name)
    special = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    tokenizer = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    before, after = (
        tokenizer.convert_tokens_to_ids(list(some)) for some in (special.before, special.after)
    )

    def middle(ids):
        mask = tokenizer.mask_token_id
        return plain.masked(model, before, ids, after, mask=mask, words=None)[2]

    assert abs(middle([10, 11, 12, 13, 14]) - middle([15, 11, 12, 13, 14])) > 1e-3
    assert abs(middle([10, 11, 12, 13, 14]) - middle([10, 11, 12, 13, 15])) > 1e-3


@pytest.mark.parametrize("name", ["bert-cased", "xlm-roberta", "roberta"])
def test_punctuation_may_stay_with_its_word(name, zoo_folder):
    folder = zoo_folder(name)
    text = "«Où est-il?», asked L'amica."
    kept, split = (
        ask_folder(folder, [text], Policy(punctuation=rule)) for rule in ("keep", "split")
    )

    assert_plain(name, folder, kept, [text], punctuation="keep")
    assert kept[0].logprobs != split[0].logprobs


def test_two_spellings_with_the_same_tokens_and_other_words_have_each_their_own_scores(zoo_folder):
    """Kept with its word, the apostrophe of the first is masked with what follows it."""
    policy = Policy(punctuation="keep")
    texts = ["L'amica canta.", "L 'amica canta.", "L' amica canta."]
    folder = zoo_folder("bert-cased")

    answers = ask_folder(folder, texts, policy)

    assert answers[0].ids == answers[1].ids == answers[2].ids
    assert_plain("bert-cased", folder, answers, texts, punctuation="keep")
    assert len({answer.total for answer in answers}) == 3


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_a_context_is_seen_and_neither_masked_nor_scored(name, zoo_folder):
    folder = zoo_folder(name)
    context, text = "La zia dell'amica", "canta un'aria."
    whole = f"{context} {text}"

    # The same tokens once as a text and once as context and text, in one batch.
    parted, full = ask_folder(folder, [Score(text, context=context), Score(whole)])

    assert_plain(name, folder, [full], [whole])
    assert parted.ids == full.ids[-len(parted.ids) :]
    assert parted.logprobs == full.logprobs[-len(parted.ids) :]
    assert parted.starts == [start - len(context) - 1 for start in full.starts[-len(parted.ids) :]]
    assert parted.positions == list(range(len(parted.ids)))


@pytest.mark.usefixtures("mixers")
@pytest.mark.parametrize(
    ("name", "pads"), [("bert-cased", True), ("convbert", False), ("fnet", False)]
)
def test_models_that_see_padding_get_none(name, pads, zoo_folder):
    folder = zoo_folder(name)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    layout = find_layout(model, (7, 8, 9), (7, 8, 9, 10, 11, 12, 13), padding=0)

    assert layout.pad == pads
    assert_plain(name, folder, ask_folder(folder, TEXTS), TEXTS)


class MixingHead(torch.nn.Module):
    """A head that looks at the neighboring position too."""

    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, hidden):
        return self.head(hidden + 0.5 * hidden.roll(1, dims=1))


def test_a_head_that_mixes_positions_gets_all_of_them():
    model = zoo.model("bert-cased")
    model.cls = MixingHead(model.cls)
    short, long = (7, 8, 9), (7, 8, 9, 10, 11, 12, 13)

    assert find_layout(model, short, long, padding=0).thin == "nowhere"


@pytest.mark.parametrize("name", MASKED)
def test_after_the_last_attention_only_what_is_wanted_is_computed_where_that_is_possible(name):
    """Where attention ends with its residual, and every layer has its own."""
    able = {"bert", "bert-cased", "roberta", "camembert", "xlm-roberta", "electra", "deberta-v2"}
    model = zoo.model(name)
    short, long = (7, 8, 9), (7, 8, 9, 10, 11, 12, 13)

    thin = find_layout(model, short, long, padding=0).thin

    assert thin == ("last attention" if name in {*able, "mpnet"} else "head")


class Forgetful(torch.nn.Module):
    """A head that says something else at each call."""

    def __init__(self, head):
        super().__init__()
        self.head = head
        self.calls = 0

    def forward(self, hidden):
        self.calls += 1
        return self.head(hidden * self.calls)


def test_a_model_that_never_says_the_same_is_refused():
    model = zoo.model("bert-cased")
    model.cls = Forgetful(model.cls)

    with pytest.raises(ModelError, match=r"other scores when another one is scored beside it"):
        find_layout(model, (7, 8, 9), (7, 8, 9, 10, 11), padding=0)


def test_a_uniform_model_pays_log_v_for_every_token(zoo_folder, tmp_path):
    model = AutoModelForMaskedLM.from_pretrained(zoo_folder("bert-cased"))
    with torch.no_grad():
        model.cls.predictions.decoder.weight.zero_()
        model.cls.predictions.decoder.bias.zero_()
    model.save_pretrained(tmp_path)
    tokenizer = zoo.tokenizer("wordpiece-cased")
    tokenizer.save_pretrained(tmp_path)

    for answer in ask_folder(tmp_path, TEXTS):
        cost = [-math.log(len(tokenizer))] * len(answer.ids)
        assert answer.logprobs == pytest.approx(cost, abs=2e-6)


@pytest.mark.parametrize("name", ["bert-cased", "roberta", "mpnet", "deberta-v2"])
def test_special_tokens_inside_a_text_are_tokens_like_others(name, zoo_folder):
    """Padding too, with which RoBERTa counts positions otherwise."""
    folder = zoo_folder(name)
    names = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer].names
    texts = [f"Bene. {special} Poi dorme." for special in sorted(set(names.values()))]
    texts.append("Un testo più lungo, di modo che gli altri siano riempiti.")

    assert_plain(name, folder, ask_folder(folder, texts), texts)
