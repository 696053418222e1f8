"""What comes before and after a text, what is refused, and what is asked of which token."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from cimento import ModelError, Policy
from cimento.errors import TextTooLongError
from cimento.models.tokenizing import Frame, TextEncoder, causal_frame, own_frame
from cimento.paradigms import Score
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask, ask_folder, load_folder

KINDS = sorted(zoo.TOKENIZERS)
NOTHING = Frame(before=(), after=())


def names(tokenizer, ids) -> tuple[str, ...]:
    return tuple(tokenizer.convert_ids_to_tokens(list(ids)))


def encoded(tokenizer, *requests, frame=NOTHING, window=None, vocabulary=10_000):
    asked = [
        Score(request) if isinstance(request, str) else request
        for number, request in enumerate(requests)
    ]
    encoder = TextEncoder(
        tokenizer=tokenizer, policy=Policy(), frame=frame, window=window, vocabulary=vocabulary
    )
    return encoder.encode(asked)


@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_around_a_text(kind):
    tokenizer = zoo.tokenizer(kind)
    special = zoo.TOKENIZERS[kind]
    frame = own_frame(tokenizer)

    assert names(tokenizer, causal_frame(tokenizer, "auto").before) == special.before
    assert causal_frame(tokenizer, "auto").after == ()
    assert causal_frame(tokenizer, "none") == NOTHING
    assert names(tokenizer, frame.after) == special.after
    for text in plain.TEXTS:
        bare = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert [*frame.before, *bare, *frame.after] == tokenizer(text)["input_ids"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bare"])
def test_a_text_that_brings_its_own_bos_is_refused(kind):
    tokenizer = zoo.tokenizer(kind)
    frame = causal_frame(tokenizer, "auto")
    before = "".join(zoo.TOKENIZERS[kind].before)

    with pytest.raises(ModelError, match=r"is put before every text.*bos='none'"):
        encoded(tokenizer, "Bene.", f"{before}Bene.", frame=frame)
    with pytest.raises(ModelError, match="is put before every text"):
        encoded(tokenizer, Score("Bene.", context=f"{before}Allora."), frame=frame)
    # Elsewhere in the text, or where nothing is put before it, it is a token like others.
    for text, around in ((f"Bene. {before}", frame), (f"{before}Bene.", NOTHING)):
        (encoding,) = encoded(tokenizer, text, frame=around)
        assert len(encoding.wanted) == len(encoding.ids) - len(around.before)


@pytest.mark.parametrize("name", ["gpt2", "llama", "glm4", "qwen2"])
def test_the_card_says_what_stands_before_a_text(name, zoo_folder):
    kind = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]

    assert load_folder(zoo_folder(name)).card.bos == " ".join(kind.before)
    assert load_folder(zoo_folder(name), Policy(bos="none")).card.bos == ""


@pytest.mark.parametrize(
    ("name", "policy"), [("gpt2", Policy(bos="none")), ("llama-bare", Policy())]
)
def test_without_bos_the_first_token_is_unscored_and_says_why(name, policy, zoo_folder):
    answers = ask_folder(zoo_folder(name), plain.TEXTS, policy)

    for answer in answers:
        assert answer.logprobs[0] is None
        assert answer.reasons[0] == "first token without left context"
        assert None not in answer.logprobs[1:]
        assert not any(answer.reasons[1:])
    (single,) = ask_folder(zoo_folder(name), ["a"], policy)
    assert single.logprobs == [None]


def test_with_and_without_bos_are_other_scores(zoo_folder):
    """Every token's, not only the first one's."""
    text = plain.TEXTS[2]
    (with_bos,) = ask_folder(zoo_folder("gpt2"), [text])
    (without,) = ask_folder(zoo_folder("gpt2"), [text], Policy(bos="none"))

    assert all(a != b for a, b in zip(with_bos.logprobs, without.logprobs, strict=True))


@pytest.mark.parametrize("name", ["gpt2", "opt", "mpt", "bert", "roberta", "camembert", "mpnet"])
def test_the_window_is_used_to_its_last_token_and_not_further(name, monkeypatch, zoo_folder):
    """RoBERTa and its kin have two positions fewer than their config says."""
    small = zoo.SPECIES[name]
    config = {**small.config, "max_position_embeddings": 24}
    species = zoo.Species(small.tokenizer, config, small.type or name, masked=small.masked)
    monkeypatch.setitem(zoo.SPECIES, f"small-{name}", species)
    scorer = load_folder(zoo_folder(f"small-{name}"))
    window = scorer.card.window
    offset = 2 if name in {"roberta", "camembert", "mpnet"} else 0
    assert window == 24 - offset
    around = len(scorer.encode([Score("")])[0].ids)
    folder = zoo_folder(f"small-{name}")
    dots = {len(plain.tokens_of(folder, "." * n).ids): "." * n for n in range(1, 30)}

    (fits,) = ask(scorer, [dots[window - around]])
    assert len(fits.ids) == window - around
    assert None not in fits.logprobs
    with pytest.raises(
        TextTooLongError, match=rf"makes {window + 1} tokens.*window holds {window}"
    ):
        ask(scorer, ["Bene.", dots[window - around + 1]])


def test_truncation_and_padding_in_the_tokenizers_file_are_not_applied(tmp_path, zoo_folder):
    tokenizer = Tokenizer.from_file(str(zoo_folder("gpt2") / "tokenizer.json"))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=50)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(tmp_path)
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path)

    (encoding,) = encoded(again, plain.TEXTS[2])

    assert list(encoding.ids) == plain.tokens_of(zoo_folder("gpt2"), plain.TEXTS[2]).ids


@pytest.mark.parametrize("kind", KINDS)
def test_a_context_takes_no_token_from_the_text_and_gives_it_none(kind):
    tokenizer = zoo.tokenizer(kind)
    frame = causal_frame(tokenizer, "auto")
    context, text = "Nell'orto", "c'erano già le fragole."
    (parted,) = encoded(tokenizer, Score(text, context=context), frame=frame)
    (whole,) = encoded(tokenizer, f"{context} {text}", frame=frame)
    start = len(context) + 1
    in_text = [i for i, span in enumerate(whole.spans) if span[0] >= start]

    assert parted.ids == whole.ids
    assert parted.words == whole.words
    assert list(parted.wanted) == in_text
    assert parted.first == in_text[0]
    assert [parted.spans[i] for i in in_text] == [
        (low - start, high - start) for low, high in (whole.spans[i] for i in in_text)
    ]
    assert all(parted.spans[i] == (-1, -1) for i in range(in_text[0]))


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_wanted_stretches_are_asked_for(kind):
    tokenizer = zoo.tokenizer(kind)
    text = "Las llaves están en la mesa."
    (encoding,) = encoded(tokenizer, Score(text, wanted=((4, 10), (20, 22))))
    starts = plain.starts_of(tokenizer.backend_tokenizer, text)

    assert list(encoding.wanted) == [
        i for i, start in enumerate(starts) if 4 <= start < 10 or 20 <= start < 22
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("context", ["", "Allora"])
def test_an_empty_text_has_no_tokens(kind, context):
    (encoding,) = encoded(zoo.tokenizer(kind), Score("", context=context))

    assert encoding.wanted == ()
    assert encoding.first == len(encoding.ids)


@pytest.mark.parametrize("name", ["gpt2", "llama", "bert", "camembert"])
def test_an_empty_text_among_others_is_answered_with_nothing(name, zoo_folder):
    empty, full = ask_folder(zoo_folder(name), ["", "Bene."])

    assert empty.ids == []
    assert len(full.ids) > 0


@pytest.mark.parametrize("name", ["bert", "xlm-roberta", "llama"])
def test_unknown_characters_are_scored_as_the_tokenizer_has_them(name, zoo_folder):
    """As the unknown token, or as bytes; the text is never shortened."""
    folder = zoo_folder(name)
    (answer,) = ask_folder(folder, ["北京 est 北京"])
    unknown = zoo.tokenizer(zoo.SPECIES[name].tokenizer).unk_token

    assert answer.ids == plain.tokens_of(folder, "北京 est 北京").ids
    assert None not in answer.logprobs
    assert (unknown in answer.tokens) == (name != "llama")


def test_a_token_the_model_does_not_know_is_refused_by_name():
    tokenizer = zoo.tokenizer("gemma")
    highest = max(tokenizer("amica")["input_ids"])

    with pytest.raises(
        ModelError, match=rf"is number {highest}, and the model knows {highest} tok"
    ):
        encoded(tokenizer, "amica", vocabulary=highest)


def test_a_token_across_the_end_of_the_context_is_refused():
    """Some tokenizers join words; a text cannot be scored apart from half a token."""
    vocabulary = {piece: i for i, piece in enumerate(["a", "b", " ", "a ", "a b"])}
    joined = Tokenizer(models.BPE(vocabulary, [("a", " "), ("a ", "b")]))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=joined)

    with pytest.raises(ModelError, match="covers its beginning and the end of its context"):
        encoded(tokenizer, Score("b", context="a"))
