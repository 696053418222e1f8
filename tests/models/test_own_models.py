"""A model object of one's own: it is asked as it is, and a mistake in it is not a number."""

from __future__ import annotations

import numpy as np
import pytest

import cimento
from cimento import ModelCard, ModelError, UsageError
from cimento.models import Encoding

SUITE = "it-subject-verb"
TEXT = "Le luci sono accese."


def offsets(text: str) -> list[int]:
    """Where the words of a text begin, in bytes."""
    words = text.split(" ")
    return [len(" ".join([*words[:number], ""]).encode()) for number in range(len(words))]


class Words:
    """A model to which each letter of a word costs one nat."""

    def __init__(self, answer=None) -> None:
        self.card = ModelCard(name="words", kind="causal", revision="1", tokenizer="")
        self._answer = answer or self.usual

    def usual(self, text):
        words = text.split(" ")
        return text, {at: -float(len(word)) for at, word in zip(offsets(text), words, strict=True)}

    def read(self, texts):
        for text in texts:
            yield self._answer(text)


class Tokens:
    """The same, with the tokens known."""

    def __init__(self, sign: float = -1.0) -> None:
        self.card = ModelCard(name="tokens", kind="causal", revision="1", tokenizer="")
        self._sign = sign

    def encode(self, requests):
        return [self._encoded(request) for request in requests]

    def _encoded(self, request):
        words = request.text.split(" ")
        starts = [len(" ".join([*words[:number], ""])) for number in range(len(words))]
        spans = tuple((at, at + len(word)) for at, word in zip(starts, words, strict=True))
        return Encoding(
            ids=tuple(range(len(words))),
            tokens=tuple(words),
            spans=spans,
            words=tuple(range(len(words))),
            first=0,
            wanted=tuple(range(len(words))),
        )

    def score(self, encoded):
        return [
            np.array([self._sign * len(text.tokens[place]) for place in text.wanted])
            for text in encoded
        ]


def test_a_scorer_of_texts_is_asked_as_it_is():
    bits = cimento.score(TEXT, Words())["surprisal_bits"].to_list()
    assert bits == pytest.approx([len(word) / np.log(2) for word in TEXT.split(" ")])


def test_a_scorer_of_tokens_is_asked_as_it_is():
    assert cimento.score(TEXT, Tokens())["surprisal_bits"].to_list() == pytest.approx(
        cimento.score(TEXT, Words())["surprisal_bits"].to_list()
    )


@pytest.mark.parametrize("model", [Words(lambda text: (text, {0: 2.5})), Tokens(sign=1.0)])
def test_surprisals_in_place_of_log_probabilities_are_refused(model):
    with pytest.raises(ModelError, match="at most 0"):
        cimento.evaluate(SUITE, model)


def _fails(_text):
    raise ValueError("no such word")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (_fails, r"its read\(\) failed with ValueError: no such word \(test_own_models.py, line"),
        (lambda _: ("another", {0: -1.0}), "'another', which it was not asked"),
        (lambda _: None, "and must yield a text and a dictionary"),
        (lambda text: (text, [-1.0]), "and must yield a text and a dictionary"),
        (lambda text: (text, {0: "x"}), "and must yield a text and a dictionary"),
        (lambda text: (text, {3: -1.0}), "they begin at 0"),
        (lambda text: (text, {0: -1.0, 900: -1.0}), "end before"),
        (lambda text: (text, {0: -1.0, 3: float("nan")}), "only byte 0"),
    ],
)
def test_a_mistake_in_ones_own_model_is_named_as_one(answer, said):
    with pytest.raises(ModelError, match=said):
        cimento.evaluate(SUITE, Words(answer))
    with pytest.raises(ModelError, match=said):
        cimento.score(TEXT, Words(answer))


@pytest.mark.parametrize(
    ("model", "method", "given", "said"),
    [
        (
            Words,
            "read",
            None,
            r"its read\(\) returned None, and must yield a text and a dictionary",
        ),
        (
            Tokens,
            "encode",
            None,
            r"returned NoneType, and must return a list with a cimento.models.Enc",
        ),
        (Tokens, "score", None, r"returned NoneType, and must return a list with an array of log"),
        (Tokens, "score", ["a"], r"its score\(\) failed with ValueError: [^(]*'a'\. "),
    ],
)
def test_a_method_that_gives_nothing_is_told_what_to_give(model, method, given, said):
    broken = model()
    setattr(broken, method, lambda *_: given)
    with pytest.raises(ModelError, match=said) as caught:
        cimento.score(TEXT, broken)
    assert "checked.py" not in str(caught.value)


def test_a_text_without_an_answer_is_named():
    model = Words()
    model.read = lambda _: iter(())
    with pytest.raises(ModelError, match=r"its read\(\) ended without an answer to"):
        cimento.score(TEXT, model)


def test_a_scorer_that_gives_too_few_numbers_is_named():
    model = Tokens()
    model.score = lambda encoded: [np.zeros(1) for _ in encoded]
    with pytest.raises(ModelError, match="for the 4 wanted tokens"):
        cimento.score(TEXT, model)
    model.score = lambda _: []
    with pytest.raises(ModelError, match=r"its score\(\) gave 0 answers to 1"):
        cimento.score(TEXT, model)


def test_a_card_of_another_type_and_a_class_are_refused():
    model = Words()
    model.card = "words"
    with pytest.raises(UsageError, match=r"cimento\.ModelCard"):
        cimento.evaluate(SUITE, model)
    with pytest.raises(UsageError, match="neither the name of a model nor a scorer"):
        cimento.evaluate(SUITE, Words)
