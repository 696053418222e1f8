"""What a tokenizer or a forward pass raises is an error of the model, with the text it read."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoTokenizer, GPT2LMHeadModel

import cimento
from cimento import ModelError, UsageError
from cimento.models.failing import forward_errors
from cimento.models.hf.room import DoesNotFitError

LONGEST = 12
LONG = "The keys to the old house by the river are on the small table."


class ShortWinded(GPT2LMHeadModel):
    """A model whose forward pass fails for texts of more than some tokens, whatever its config."""

    longest = 10_000

    def forward(self, input_ids=None, **more):
        if input_ids.shape[1] > self.longest:
            raise RuntimeError(f"shape '[2, 7]' is invalid for {input_ids.shape[1]}")
        return super().forward(input_ids=input_ids, **more)


@pytest.fixture
def model(zoo_folder):
    return ShortWinded.from_pretrained(zoo_folder("gpt2")).eval()


@pytest.fixture
def tokenizer(zoo_folder):
    return AutoTokenizer.from_pretrained(zoo_folder("gpt2"))


@pytest.fixture
def scorer(model, tokenizer):
    """A scorer that was made before the model began to fail."""
    scorer = cimento.live_scorer(model, tokenizer, name="odd")
    scorer.inside().model.longest = LONGEST
    return scorer


def test_a_pass_that_fails_names_the_model_and_the_text(scorer):
    assert cimento.score("Go.", scorer).height > 0
    with pytest.raises(ModelError) as caught:
        cimento.score(LONG, scorer)
    said = str(caught.value)
    assert said.startswith("model 'odd', ")
    assert " tokens ('The " in said
    assert "RuntimeError: shape '[2, 7]' is invalid for" in said


def test_the_same_for_suites_and_blanks(scorer):
    suite = cimento.pairs([(LONG, f"{LONG} It."), ("Go.", "Goes.")], language="en")
    with pytest.raises(ModelError, match="its own forward pass failed"):
        cimento.evaluate(suite, scorer)
    [end] = cimento.evaluate_all(suite, scorer)
    assert isinstance(end.error, ModelError)
    with pytest.raises(ModelError, match="its own forward pass failed"):
        cimento.fill(f"{LONG} It ___ there.", scorer)


def test_a_model_that_fails_when_it_is_tried_is_named(model, tokenizer):
    model.longest = 1
    with pytest.raises(ModelError, match=r"model 'odd'.* its own forward pass failed"):
        cimento.live_scorer(model, tokenizer, name="odd")


def test_lack_of_memory_is_told_with_sizes_and_is_no_fault_of_the_model():
    class Full(torch.nn.Module):
        def forward(self):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.50 GiB.")

    # 2.5 * 2**30 bytes
    with (
        pytest.raises(DoesNotFitError, match=r"does not hold what the model 'x' computes \(2.7 GB"),
        forward_errors("x", None),
    ):
        Full()()


def test_errors_of_other_code_stay_what_they_are():
    with pytest.raises(KeyError), forward_errors("x", None):
        {}.popitem()


def test_a_tokenizer_that_fails_is_named_with_the_text(model, tokenizer):
    class Picky(type(tokenizer)):
        def __call__(self, text, **more):
            if any("doors" in one for one in ([text] if isinstance(text, str) else text)):
                raise TypeError("TextEncodeInput must be Union")
            return super().__call__(text, **more)

    tokenizer.__class__ = Picky
    scorer = cimento.live_scorer(model, tokenizer, name="odd")
    with pytest.raises(ModelError, match=r"model 'odd', text 'The doors.': its tokenizer failed"):
        cimento.score(["Go.", "The doors."], scorer)


@pytest.mark.parametrize(
    "call",
    [
        lambda text: cimento.score(["Go.", text], "demo-causal"),
        lambda text: cimento.score("Go.", "demo-causal", contexts=text),
        lambda text: cimento.fill(f"{text} ___.", "demo-masked"),
        lambda text: cimento.fill("Go ___.", "demo-masked", among=[text]),
    ],
)
def test_half_of_a_character_is_no_text(call):
    with pytest.raises(UsageError, match=r"'\\ud800' at character 2 is half of a character"):
        call("a\ud800b")
