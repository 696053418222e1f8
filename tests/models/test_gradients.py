"""Contributions of tokens: a closed form, captum, completeness, and what any model must obey."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cimento import UsageError
from cimento.engine.handle import ModelHandle
from cimento.models.answering import attributer
from cimento.models.base import Encoding, Score
from cimento.models.hf.batches import Trial
from cimento.models.hf.gradients import Gradients
from cimento.models.questions import ERROR_NATS, ERROR_SHARE, Attribute, Attributions
from cimento.models.settings import Asking, BatchLimits, Policy
from tests.helpers.some_slow import some_slow

TEXT = "La casa è rossa e la porta è chiusa."


def scorer_of(name: str):
    return ModelHandle(name, Asking()).scorer


def ask(text: str, of: str, **more: str) -> Attribute:
    start = text.index(of)
    return Attribute(text=Score(text, wanted=((start, start + len(of)),)), **more)


def answers(scorer, asks, **limits) -> list[Attributions]:
    by_number = dict(attributer(scorer, limits=BatchLimits(**limits)).attribute(asks))
    return [by_number[number] for number in range(len(asks))]


def error(attributions: Attributions) -> float:
    return abs(sum(attributions.nats) - (attributions.logprob_nats - attributions.baseline_nats))


# --- A linear model: the logits are the sum of what each token gives


class Bag(torch.nn.Module):
    """A model whose logits at a position are the sum of a row for each token up to it."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.rows = torch.nn.Embedding(9, 2)
        self.rows.weight.data = torch.randn(9, 2, generator=generator)
        self.config = SimpleNamespace(
            get_text_config=lambda: SimpleNamespace(vocab_size=9, pad_token_id=None)
        )
        self.device, self.dtype = torch.device("cpu"), torch.float32

    def forward(self, input_ids: torch.Tensor, **_masks: torch.Tensor) -> SimpleNamespace:
        summed = self.rows(input_ids).cumsum(1)
        padding = torch.full((*summed.shape[:2], 7), -1e4)
        return SimpleNamespace(logits=torch.cat([summed, padding], -1))


class BagScorer:
    """As much of a scorer as gradients need: token ids are the text, the last one is measured."""

    def __init__(self) -> None:
        self.model = Bag()
        self.encoded = [self.encoded_of((8, 3, 5, 2, 0)), self.encoded_of((8, 6, 4, 4, 7, 1))]

    @staticmethod
    def encoded_of(ids: tuple[int, ...]) -> Encoding:
        spans = tuple((number, number + 1) for number in range(len(ids)))
        return Encoding(ids=ids, tokens=tuple(map(str, ids)), spans=((-1, -1), *spans[1:]),
                       words=spans[0] * len(ids), first=1, wanted=(len(ids) - 1,))  # fmt: skip

    def bench(self):
        return self.model, SimpleNamespace(pad=False, thin="nowhere")

    def encode(self, requests):
        return self.encoded[: len(requests)]

    def trials(self, base, _source, moved):
        asks = ((len(base.ids) - 2, base.ids[-1], 0),)
        return [Trial(ids=base.ids[:-1], source=base.ids, moved=tuple(moved), asks=asks)]

    def batch(self, texts, _around):
        return {"input_ids": torch.tensor(texts)}


def test_integrated_gradients_of_a_linear_model_are_its_terms_in_proportion():
    # Along the line from the baseline, the difference of the two logits is z0 + alpha (z - z0), so
    # that each token gets its proportion of z - z0 of the difference in log-probability.
    scorer = BagScorer()
    gradients = Gradients(scorer, limits=BatchLimits())
    asks = [Attribute(text=Score("", wanted=()), baseline="zero")] * 2
    weights = scorer.model.rows.weight.double().numpy()
    for (_, attributions), text in zip(gradients.attribute(asks), scorer.encoded, strict=True):
        target = text.ids[-1]
        sign = 1 - 2 * target
        terms = sign * (weights[list(text.ids[:-1]), 0] - weights[list(text.ids[:-1]), 1])
        z, start = terms.sum(), terms[0]  # the first token begins the text, and stays
        value, baseline = -np.logaddexp(0, -z), -np.logaddexp(0, -start)
        assert attributions.logprob_nats == pytest.approx(value, abs=1e-5)
        assert attributions.baseline_nats == pytest.approx(baseline, abs=1e-5)
        shares = terms[1:] / (z - start)
        assert list(attributions.nats) == pytest.approx(list(shares * (value - baseline)), abs=1e-5)


def test_gradient_times_input_of_a_linear_model_is_the_slope_times_its_terms():
    scorer = BagScorer()
    gradients = Gradients(scorer, limits=BatchLimits())
    [(_, attributions)] = gradients.attribute(
        [Attribute(text=Score("", wanted=()), rule="gradient", baseline="zero")]
    )
    weights = scorer.model.rows.weight.double().numpy()
    ids = list(scorer.encoded[0].ids[:-1])
    terms = weights[ids, 0] - weights[ids, 1]
    slope = 1 / (1 + np.exp(terms.sum()))
    assert list(attributions.nats) == pytest.approx(list(slope * terms[1:]), abs=1e-5)
    assert attributions.baseline_nats is None


# --- Another program

# PYTHONPATH=. python -c 'from tests.helpers import zoo; zoo.save("gpt2", "FOLDER")'
# python scripts/oracles/gradients.py FOLDER 0,44,65,394,65,348,102,221,82,292,83 65 1000
# (captum 0.9.0, transformers 5.24.0)
CAPTUM = {
    "integrated": (
        -0.05299440771341324, 0.23792198300361633, 0.33374595642089844, 0.29018518328666687,
        -0.023840665817260742, 0.4173569977283478, 0.14441066980361938, 0.3991921544075012,
        -0.044911209493875504, 0.6958812475204468,
    ),
    "gradient": (
        0.19428479671478271, 0.4305312931537628, 0.695548415184021, 0.23100510239601135,
        -0.31101787090301514, 0.36282169818878174, 0.49854156374931335, 0.05201660469174385,
        -0.06201047822833061, 0.604802668094635,
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", CAPTUM)
def test_captum_gives_the_same(rule, zoo_folder):
    scorer = scorer_of(str(zoo_folder("gpt2")))
    request = Attribute(
        text=Score("La casa è rossa", wanted=((14, 15),)), rule=rule, baseline="zero"
    )
    [attributions] = answers(scorer, [request])
    assert list(attributions.nats) == pytest.approx(list(CAPTUM[rule]), abs=2e-5)
    assert attributions.logprob_nats == pytest.approx(-5.322464022205579, abs=5e-6)


# --- What any model must obey

ZOO = ("gpt2", "llama", "bloom", "falcon", "bert", "albert", "deberta-v2", "t5", "bart", "mamba")


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(ZOO, quick=3))
def test_integrated_gradients_add_up_to_the_difference_of_the_scores(name, zoo_folder):
    scorer = scorer_of(str(zoo_folder(name)))
    request = ask(TEXT, "chiusa")
    [attributions] = answers(scorer, [request])
    plain = scorer.score(scorer.encode([request.text]))[0].sum()
    assert attributions.logprob_nats == pytest.approx(plain, abs=2e-4)
    allowed = max(
        ERROR_NATS, ERROR_SHARE * abs(attributions.logprob_nats - attributions.baseline_nats)
    )
    # Mamba's path is steep near the mean embedding: the most points are not enough for it.
    assert error(attributions) <= (5 * allowed if name == "mamba" else allowed)
    assert attributions.unscored == 0
    assert np.abs(attributions.nats).max() > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo-causal", "demo-masked"])
def test_neither_the_batch_nor_the_order_changes_a_contribution(name):
    scorer = scorer_of(name)
    texts = [f"La {word} di ieri è rossa." for word in ("lampada", "porta vecchia", "casa")]
    asks = [ask(text, "rossa", rule="gradient") for text in texts]
    asks.append(ask(texts[0], "rossa"))
    together = answers(scorer, asks)
    turned = answers(scorer, asks[::-1])[::-1]
    alone = [answers(scorer, [one], sequences=1)[0] for one in asks]
    for one, other, single in zip(together, turned, alone, strict=True):
        assert list(other.nats) == pytest.approx(list(one.nats), abs=2e-4)
        assert list(single.nats) == pytest.approx(list(one.nats), abs=2e-4)


def test_special_tokens_the_context_and_masks_stay_as_they_are():
    scorer = scorer_of("demo-causal")
    start = TEXT.index("chiusa")
    request = Attribute(
        text=Score(TEXT, context="Guarda!", wanted=((start, start + 6),)), rule="gradient"
    )
    [attributions] = answers(scorer, [request])
    assert attributions.tokens[0][:3] == (0, 0, 2)  # the first word of the text, not of the context
    masked = scorer_of("demo-masked")
    request = ask("La casa è rossa.", "casa", rule="gradient")
    [attributions] = answers(masked, [request])
    assert "casa" not in "".join(token for *_, token in attributions.tokens)


def test_a_first_token_without_left_context_has_no_score():
    scorer = ModelHandle("demo-causal", Asking(policy=Policy(bos="none"))).scorer
    [attributions] = answers(scorer, [ask("La casa", "La", rule="gradient")])
    assert (attributions.tokens, attributions.logprob_nats, attributions.unscored) == ((), None, 1)


def test_a_model_that_shows_no_layers_is_refused():
    card = SimpleNamespace(name="counts", kind="ngram", device="cpu")
    with pytest.raises(UsageError, match="does not show its layers"):
        attributer(SimpleNamespace(card=card))
