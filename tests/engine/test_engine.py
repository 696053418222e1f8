"""Each sequence is asked once, kept at once, and nothing that is not a number gets through."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from tokenizers import processors
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedTokenizerFast

from cimento import Policy
from cimento.engine.cache import MemoryCache
from cimento.engine.scores import SHARD, answer_scores
from cimento.errors import NonFiniteScoreError, TextTooLongError
from cimento.evaluation.freetext import score_texts
from cimento.paradigms import Score
from cimento.paradigms.regions.requests import region_requests
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.engine.test_requests import make_suite
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask, load_folder


class Recorder(FakeScorer):
    """A fake model that remembers what it was asked."""

    def __init__(self, score=lambda _tokens, index: -1.0 - index):
        super().__init__(score)
        self.asked: list[tuple[str, tuple[int, ...]]] = []

    def score(self, encoded):
        self.asked += [(" ".join(encoding.tokens), encoding.wanted) for encoding in encoded]
        return super().score(encoded)


class Lower(Recorder):
    """It makes the same tokens of small and capital letters."""

    def encode(self, requests):
        return [
            encoding
            for request in requests
            for encoding in super(Lower, self).encode(
                [Score(request.text.lower(), wanted=request.wanted)]
            )
        ]


def requests(*texts, wanted=None):
    return [Score(text, wanted=wanted) for text in texts]


def test_two_spellings_of_one_sequence_are_asked_once_for_all_that_either_wants():
    scorer = Lower()
    one, two = ask(
        scorer,
        [
            Score("Il gatto dorme", wanted=((0, 2),)),
            Score("il GATTO dorme", wanted=((3, 8),)),
        ],
    )

    assert scorer.asked == [("il gatto dorme", (0, 1))]
    assert (one.tokens, one.logprobs) == (["il"], [-1.0])
    assert (two.tokens, two.logprobs) == (["gatto"], [-2.0])


def test_what_is_known_is_not_asked_again_and_what_is_not_is_added():
    scorer, cache = Recorder(), MemoryCache()
    text = "Il gatto della vicina dorme"
    ask(scorer, requests(text, wanted=((3, 8),)), cache=cache)
    ask(scorer, requests(text, "Il cane", wanted=((0, 2), (3, 8))), cache=cache)
    (answer,) = ask(scorer, requests(text), cache=cache)
    ask(scorer, requests(text), cache=cache)

    assert scorer.asked == [
        (text, (1,)),
        (text, (0,)),
        ("Il cane", (0, 1)),
        (text, (2, 3, 4)),
    ]
    assert answer.logprobs == [-1.0, -2.0, -3.0, -4.0, -5.0]


def test_answers_are_kept_shard_by_shard_and_progress_is_told():
    texts = [f"parola {number}" for number in range(2 * SHARD + 1)]
    scorer, cache, progress = Recorder(), MemoryCache(), []

    def stop_in_the_last_shard(done, total):
        progress.append((done, total))
        if done == 2 * SHARD:
            raise KeyboardInterrupt

    asked = requests(*texts)
    with pytest.raises(KeyboardInterrupt):
        answer_scores(asked, scorer, policy=Policy(), cache=cache, progress=stop_in_the_last_shard)
    answer_scores(asked, scorer, policy=Policy(), cache=cache)

    assert progress == [(SHARD, len(texts)), (2 * SHARD, len(texts))]
    assert [text for text, _ in scorer.asked] == texts


def test_a_request_that_wants_nothing_is_not_asked():
    scorer = Recorder()
    nothing, something = ask(scorer, [Score("Il gatto", wanted=()), "Il cane"])

    assert nothing.ids == []
    assert something.logprobs == [-1.0, -2.0]
    assert [text for text, _ in scorer.asked] == ["Il cane"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_names_the_item_and_nothing_is_kept(value):
    suite = make_suite(
        "(*;%good%) < (*;%bad%)",
        {"good": "Il gatto | dorme.", "bad": "Il gatto | dormono."},
        {"good": "I cani | abbaiano.", "bad": "I cani | abbaia."},
    )
    scorer = Recorder(lambda tokens, index: value if tokens[index] == "abbaia" else -1.0)
    cache = MemoryCache()

    with pytest.raises(
        NonFiniteScoreError, match=rf"text 'I cani abbaia.'.*{value} for the token 'abbaia'"
    ) as caught:
        answer_scores(region_requests(suite).asked, scorer, policy=Policy(), cache=cache)
    assert caught.value.request == 3
    assert cache._entries == {}


def test_a_first_token_without_score_is_null_and_no_other_may_be():
    scorer = Recorder(lambda _tokens, index: math.nan if index == 0 else -1.0)
    (answer,) = ask(scorer, ["Il gatto dorme"])

    assert answer.logprobs == [None, -1.0, -1.0]
    assert answer.reasons == ["first token without left context", None, None]


def spoil(folder, target, auto, name):
    """A copy of a model with one weight that is not a number."""
    model = auto.from_pretrained(folder)
    with torch.no_grad():
        dict(model.named_parameters())[name].view(-1)[0] = math.nan
    model.save_pretrained(target)
    return target


@pytest.mark.parametrize(
    ("name", "auto", "weight", "kind"),
    [
        ("gpt2", AutoModelForCausalLM, "transformer.ln_f.weight", "byte-bpe"),
        (
            "bert",
            AutoModelForMaskedLM,
            "bert.encoder.layer.1.output.dense.bias",
            "wordpiece-uncased",
        ),
    ],
)
def test_spoilt_weights_are_an_error_that_names_the_item(
    name, auto, weight, kind, zoo_folder, tmp_path
):
    folder = spoil(zoo_folder(name), tmp_path / "spoilt", auto, weight)
    zoo.tokenizer(kind).save_pretrained(folder)
    suite = make_suite(
        "(*;%good%) < (*;%bad%)", {"good": "Il gatto dorme.", "bad": "Il gatto dormono."}
    )
    scorer, cache = load_folder(folder), MemoryCache()

    with pytest.raises(
        NonFiniteScoreError, match=r"model 'spoilt', text 'Il gatto dorme.'.*gave nan"
    ):
        answer_scores(region_requests(suite).asked, scorer, policy=Policy(), cache=cache)
    assert cache._entries == {}


def test_a_masked_model_has_no_excuse_for_its_first_token(tmp_path):
    """With nothing before it the first token's index is 0, and it still has a context."""
    kind = zoo.TOKENIZERS["wordpiece-cased"]
    tokenizer = kind.build()
    tokenizer.post_processor = processors.Sequence([])
    model = zoo.model("bert-cased")
    with torch.no_grad():
        model.cls.predictions.decoder.bias.fill_(math.nan)
    model.save_pretrained(tmp_path)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **kind.names).save_pretrained(tmp_path)

    with pytest.raises(NonFiniteScoreError, match="gave nan for the token 'a'"):
        ask(load_folder(tmp_path), ["a casa"])


def test_one_text_that_is_too_long_is_told_before_anything_is_scored(zoo_folder):
    scorer, cache = load_folder(zoo_folder("gpt2")), MemoryCache()

    with pytest.raises(TextTooLongError, match="window holds 160"):
        ask(scorer, ["Bene.", "x " * 200], cache=cache)
    assert cache._entries == {}


def test_rows_are_in_the_order_of_requests_and_tokens():
    table = answer_scores(
        requests("c b a", "a", "b a"),
        Recorder(),
        policy=Policy(),
        cache=MemoryCache(),
    )

    assert table["request"].to_list() == [0, 0, 0, 1, 2, 2]
    assert table["position"].to_list() == [0, 1, 2, 0, 0, 1]
    assert table["token"].to_list() == ["c", "b", "a", "a", "b", "a"]
    assert table["start"].to_list() == [0, 2, 4, 0, 0, 2]
    assert table["end"].to_list() == [1, 3, 5, 1, 1, 3]


def test_a_uniform_model_costs_log_v_a_word():
    for answer in ask(uniform_scorer(1000), plain.TEXTS):
        np.testing.assert_array_equal(answer.logprobs, -math.log(1000))


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "roberta", "camembert"])
def test_regions_asked_one_at_a_time_are_the_same_and_make_the_sentence(name, zoo_folder):
    """The plan may want any part of a text: what is fed differs, the scores do not."""
    scorer = load_folder(zoo_folder(name))
    text = "Nell'orto dell'anziana c'erano già le fragole, però nessuno le raccoglieva."
    cuts = [0, 5, 9, 17, 25, 40, 41, 60, len(text)]
    regions = list(itertools.pairwise(cuts))
    (whole,) = ask(scorer, [text])
    parts = [ask(scorer, [Score(text, wanted=(region,))])[0] for region in regions]

    assert [token for part in parts for token in part.ids] == whole.ids
    together = [value for part in parts for value in part.logprobs]
    assert together == pytest.approx(whole.logprobs, abs=1e-5)
    assert math.fsum(part.total for part in parts) == pytest.approx(whole.total, abs=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "roberta", "camembert"])
def test_words_have_the_scores_of_their_own_tokens(name, zoo_folder):
    """With elision and marks, where tokenizing each word by itself would shift them."""
    text = "Ha visto l'attrice dell'orchestra, ieri sera."
    scorer = load_folder(zoo_folder(name))
    (answer,) = ask(scorer, [text])
    numbers = plain.word_numbers(text, answer.starts)
    words = score_texts([text], scorer, words=True)

    for number, bits in enumerate(words["surprisal_bits"]):
        logprobs = [v for v, at in zip(answer.logprobs, numbers, strict=True) if at == number]
        assert bits == (
            pytest.approx(-math.fsum(logprobs) / math.log(2), abs=1e-4) if logprobs else None
        )
    assert words["word"].to_list()[2:6] == ["l", "'", "attrice", "dell"]
