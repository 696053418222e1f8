"""Answers after prompts: what is shared changes no number, for models of every kind."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Policy, UsageError
from cimento.errors import NonFiniteScoreError, TextTooLongError
from cimento.models.answering import ScoredOptions, option_scorer, replier
from cimento.models.hf.files import LocatedModel
from cimento.models.hf.loading import load
from cimento.models.hf.prompts import CausalOptions, CausalReplier, split_ids
from cimento.models.questions import OptionScores, descend
from cimento.paradigms import Choose, Reply
from cimento.testing.models import uniform_scorer
from tests.helpers import zoo
from tests.helpers.some_slow import some_slow

SHARING = ["gpt2", "llama", "gemma", "opt", "gpt_neox", "qwen3", "phi", "glm4", "cohere"]
ALONE = ["mistral", "mamba", "rwkv", "bloom"]

OPENING = "Il gatto dorme. Vero\n\nIl cane vola. Falso\n\n"
PROMPTS = (
    OPENING + "Le foglie cadono.",
    OPENING + "La casa è bella?",
    "No. " + OPENING,
    OPENING + "Le foglie cantano in città.",
)
OPTIONS = (" falso", " vero", " in pezzi", " in", " 0 e 1")
ASKS = [Choose(prompt=prompt, options=OPTIONS) for prompt in PROMPTS]


@pytest.fixture
def scorer_of(zoo_folder):
    def opened(name: str, **policy: object):
        located = LocatedModel(name, Path(zoo_folder(name)), "0" * 40)
        return load(located, policy=Policy(**policy), device="cpu")

    return opened


def by_hand(inside, policy_ids, prompt, option):
    """Sum over the answer's tokens, from one plain pass; the tokens found by their offsets."""
    output = inside.tokenizer(
        prompt + option, add_special_tokens=False, return_offsets_mapping=True
    )
    ids = [*policy_ids, *output["input_ids"]]
    ends = [*[0] * len(policy_ids), *(end for _, end in output["offset_mapping"])]
    with torch.inference_mode():
        scores = inside.model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
    places = [place for place, end in enumerate(ends) if end > len(prompt)]
    return [float(scores[place - 1, ids[place]]) for place in places]


@pytest.mark.parametrize("name", some_slow(SHARING + ALONE, quick=3))
def test_every_answer_has_the_score_of_a_plain_pass(scorer_of, name):
    scorer = scorer_of(name)
    options = option_scorer(scorer, policy=Policy())
    assert isinstance(options, CausalOptions)
    before = zoo.tokenizer(zoo.SPECIES[name].tokenizer).convert_tokens_to_ids(
        list(zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer].before)
    )

    by_number = dict(options.score_options(ASKS))

    assert sorted(by_number) == [0, 1, 2, 3]
    for number, prompt in enumerate(PROMPTS):
        for option, nats in zip(OPTIONS, by_number[number].nats, strict=True):
            expected = by_hand(scorer.inside(), before, prompt, option)
            assert nats == pytest.approx(expected, abs=2e-4)
    if name in SHARING:
        assert options.remarks == ()


@pytest.fixture(scope="module")
def both_ways(zoo_folder):
    """One model that shares beginnings and has seen long texts, and the same that does not."""
    located = LocatedModel("llama", Path(zoo_folder("llama")), "0" * 40)
    scorer = load(located, policy=Policy(), device="cpu")
    sharing, plain = (
        CausalOptions(scorer.inside(), card=scorer.card, policy=Policy(), sharing=sharing)
        for sharing in (True, False)
    )
    return sharing, plain


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(("Il gatto", "dorme.", "Vero", "La casa", "\n")), max_size=8),
            st.lists(st.sampled_from(OPTIONS), min_size=1, max_size=5, unique=True),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_sharing_changes_no_score_whatever_is_asked_before(both_ways, asked):
    asks = [Choose(prompt=" ".join(["No.", *p]), options=tuple(o)) for p, o in asked]
    sharing, plain = (dict(options.score_options(asks)) for options in both_ways)
    for number, ask in enumerate(asks):
        assert sharing[number].tokens == plain[number].tokens
        assert sharing[number].greedy == plain[number].greedy
        for one, other in zip(sharing[number].nats, plain[number].nats, strict=True):
            assert one == pytest.approx(other, abs=2e-4)
        assert len(sharing[number].nats) == len(ask.options)
    assert both_ways[0].remarks == ()


def test_what_cannot_share_says_so_and_scores_all_the_same(scorer_of):
    options = option_scorer(scorer_of("mamba"), policy=Policy())
    list(options.score_options(ASKS))
    assert "computed every time" in options.remarks[0]


def test_greedy_is_what_greedy_decoding_writes(scorer_of):
    scorer = scorer_of("llama")
    [(_, reply)] = CausalReplier(scorer.inside(), card=scorer.card, policy=Policy()).reply(
        [Reply(prompt=PROMPTS[0], max_tokens=3)]
    )
    options = option_scorer(scorer, policy=Policy())
    inside = scorer.inside()
    with torch.inference_mode():
        ids = [1, *inside.tokenizer(PROMPTS[0], add_special_tokens=False)["input_ids"]]
        first = int(inside.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())
    texts, starts = [[*ids, first], [*ids, (first + 1) % 100]], [len(ids)] * 2
    option_scores = options._score(texts, starts, where="")
    assert option_scores.greedy == (True, False)
    assert reply.text.startswith(inside.tokenizer.decode([first]).strip())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma", "mistral", "mamba"])
def test_a_reply_is_what_transformers_generates(scorer_of, name):
    scorer = scorer_of(name)
    inside = scorer.inside()
    tokenizer = inside.tokenizer
    writer = replier(scorer, policy=Policy())
    for number, reply in writer.reply([Reply(prompt=p, max_tokens=8) for p in PROMPTS[:2]]):
        before = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer].before
        ids = tokenizer.convert_tokens_to_ids(list(before))
        ids += tokenizer(PROMPTS[number], add_special_tokens=False)["input_ids"]
        output = inside.model.generate(
            torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids)),
            do_sample=False,
            max_new_tokens=8,
            pad_token_id=0,
        )
        assert reply.text == tokenizer.decode(output[0, len(ids) :], skip_special_tokens=True)


def test_a_reply_ends_before_its_stop_text(scorer_of):
    writer = replier(scorer_of("gpt2"), policy=Policy())
    [(_, whole)] = writer.reply([Reply(prompt=PROMPTS[0], max_tokens=12)])
    assert whole.stop_reason == "length"
    stop = whole.text.strip()[2:4]
    [(_, cut)] = writer.reply([Reply(prompt=PROMPTS[0], max_tokens=12, stop=(stop,))])
    assert cut.stop_reason == "stop"
    assert cut.text == whole.text[: whole.text.index(stop)]


@pytest.mark.parametrize("name", ["bert", "camembert"])
def test_a_masked_model_scores_answers_too(scorer_of, name):
    scorer = scorer_of(name)
    options = option_scorer(scorer, policy=Policy())
    assert isinstance(options, ScoredOptions)
    option_scores = dict(options.score_options(ASKS[:1]))[0]
    assert len(option_scores.nats) == len(OPTIONS)
    assert all(math.isfinite(value) for nats in option_scores.nats for value in nats)
    with pytest.raises(UsageError, match="writes no replies"):
        replier(scorer, policy=Policy())


def test_prompts_longer_than_the_window_are_refused(scorer_of):
    options = option_scorer(scorer_of("gpt2"), policy=Policy())
    with pytest.raises(TextTooLongError, match="fewer examples"):
        list(options.score_options([Choose(prompt="foglie " * 200, options=OPTIONS)]))


def test_weights_that_give_nan_are_named(scorer_of):
    scorer = scorer_of("gpt2")
    options = option_scorer(scorer, policy=Policy())
    with torch.no_grad():
        scorer.inside().model.transformer.h[0].ln_1.weight.fill_(float("nan"))
    with pytest.raises(NonFiniteScoreError, match="nan"):
        list(options.score_options(ASKS[:1]))


def test_a_text_without_beginning_has_no_first_score(scorer_of):
    options = option_scorer(scorer_of("gpt2"), policy=Policy(bos="none"))
    ask = Choose(prompt="", options=("vero", "falso"))
    with pytest.raises(NonFiniteScoreError):
        list(options.score_options([ask]))


@settings(deadline=None)
@given(
    st.text(st.sampled_from("aeiou rstlnà.\n"), min_size=1, max_size=40), st.sampled_from(OPTIONS)
)
def test_prompt_and_answer_part_at_a_token(prompt, option):
    for kind in ("byte-bpe", "bpe-fallback", "gemma"):
        tokenizer = zoo.tokenizer(kind)
        [(ids, start)] = split_ids(tokenizer, [(prompt, option)], before=[()], window=None)
        assert 0 <= start < len(ids)
        written = "".join(tokenizer.convert_ids_to_tokens(ids[start:]))
        for mark, text in (("Ġ", " "), ("▁", " "), ("<0x30>", "0"), ("<0x31>", "1")):
            written = written.replace(mark, text)
        assert written.strip() == option.strip()


def test_a_beginning_that_a_template_wrote_is_not_put_there_twice():
    tokenizer = zoo.tokenizer("gemma")
    pairs = [("<bos>ciao", " no"), ("ciao", " no")]
    (once, start), (again, other) = split_ids(tokenizer, pairs, before=[(2,)] * 2, window=None)
    assert once[:1] == again[:1] == [2]
    assert once.count(2) == 1
    assert start == other


def test_a_uniform_model_prefers_fewer_tokens():
    [(_, option_scores)] = option_scorer(uniform_scorer(10), policy=Policy()).score_options(
        [Choose(prompt="Storia.", options=(" vero", " in pezzi"))]
    )
    assert [sum(nats) for nats in option_scores.nats] == pytest.approx(
        [-math.log(10), -2 * math.log(10)]
    )


def scores(*options):
    return OptionScores(
        tokens=tuple(tuple(token for token, _ in option) for option in options),
        nats=tuple(tuple(value for _, value in option) for option in options),
    )


def test_constrained_decoding_goes_where_each_step_is_best():
    # Greedy takes "in" for its first step though "aperto" is likelier as a whole.
    steps = scores(
        [("in", -1.0), ("pezzi", -9.0)], [("aperto", -2.0)], [("in", -1.0), ("mano", -8.0)]
    )
    assert descend(steps) == 2


def test_where_an_answer_begins_another_the_sums_decide():
    assert descend(scores([("in", -1.0)], [("in", -1.0), ("pezzi", -0.1)])) == 0


@settings(deadline=None)
@given(st.lists(st.floats(-30, 0), min_size=2, max_size=14))
def test_single_tokens_are_chosen_by_their_probability(values):
    steps = scores(*[[(str(number), value)] for number, value in enumerate(values)])
    assert descend(steps) == int(np.argmax(values))


@settings(deadline=None)
@given(st.data())
def test_only_an_answer_can_be_written(data):
    """Walking the trie by brute force: at each step the best of the tokens that are allowed."""
    sequences = data.draw(
        st.lists(
            st.lists(st.sampled_from("abc"), min_size=2, max_size=2).map(tuple),
            min_size=1, max_size=9, unique=True,
        )
    )  # fmt: skip
    value = {
        prefix: data.draw(st.floats(-20, 0))
        for length in (1, 2)
        for prefix in itertools.product("abc", repeat=length)
    }
    steps = scores(*[[(s[0], value[s[:1]]), (s[1], value[s])] for s in sequences])
    allowed = sorted({s[:1] for s in sequences}, key=[s[:1] for s in sequences].index)
    first = max(allowed, key=lambda prefix: value[prefix])
    second = max((s for s in sequences if s[:1] == first), key=lambda s: value[s])
    assert sequences[descend(steps)] == second
