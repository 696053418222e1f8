"""Texts longer than a model's window: refused, or scored in windows whose rule is held here."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Policy, UsageError, evaluate
from cimento.cli.main import invoke
from cimento.errors import TextTooLongError
from cimento.models.hf.layout import centered, window_start
from cimento.models.tokenizing import Frame
from cimento.paradigms import Score
from tests.helpers import plain, zoo
from tests.helpers.judging import make_suite
from tests.helpers.whole_path import ask, ask_folder, load_folder

WINDOW = 12
LONG = (
    "Le vicine dell'ortolano annaffiavano volentieri le fragole, però nessuno le raccoglieva più.",
    "Los niños que juegan en la plaza tienen una pelota roja y otra azul.",
)
SHORT = "Sì, no."
SLIDING = Policy(window="sliding", stride=5)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Models whose window holds twelve tokens, by name; made when they are asked for."""
    made = {}

    def folder(name):
        if name not in made:
            species = zoo.SPECIES[name]
            # RoBERTa counts its positions from its padding token's number on.
            positions = WINDOW + 2 if name == "xlm-roberta" else WINDOW
            config = {**species.config, "max_position_embeddings": positions}
            short = dataclasses.replace(species, config=config, type=species.type or name)
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(zoo.SPECIES, "short", short)
                model = zoo.model("short")
                made[name] = (zoo.save("short", tmp_path_factory.mktemp(name)), model)
        return made[name]

    return folder


def ids_of(folder, name, text):
    kind = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    to_id = zoo.tokenizer(zoo.SPECIES[name].tokenizer).convert_tokens_to_ids
    return to_id(list(kind.before)), plain.tokens_of(folder, text), to_id(list(kind.after))


def by_strides(model, ids, *, window, stride):
    """The loop over windows as it is commonly written; log P of every token but the first."""
    values, scored = [], 1
    for begin in range(0, len(ids), stride):
        end = min(begin + window, len(ids))
        with torch.no_grad():
            table = model(input_ids=torch.tensor([ids[begin:end]])).logits[0].log_softmax(-1)
        values += [table[i - begin - 1, ids[i]].item() for i in range(scored, end)]
        scored = end
        if end == len(ids):
            return values
    raise AssertionError


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@pytest.mark.parametrize("stride", [1, 5, WINDOW - 1])
def test_a_long_text_is_scored_as_by_the_usual_loop(folders, name, stride):
    folder, model = folders(name)
    policy = Policy(window="sliding", stride=stride)

    answers = ask_folder(folder, [*LONG, SHORT], policy)

    for text, answer in zip([*LONG, SHORT], answers, strict=True):
        before, tokens, _ = ids_of(folder, name, text)
        expected = by_strides(model, [*before, *tokens.ids], window=WINDOW, stride=stride)
        assert (len(expected) >= WINDOW) == (text != SHORT)
        assert answer.logprobs == pytest.approx(expected, abs=1e-4)


def test_a_token_has_the_same_score_whatever_else_is_asked(folders):
    folder, _ = folders("gpt2")
    scorer = load_folder(folder, SLIDING)
    whole = ask(scorer, LONG, policy=SLIDING)

    for text, answer in zip(LONG, whole, strict=True):
        end = len(text)
        [last] = ask(scorer, [Score(text=text, wanted=((end - 3, end),))])
        assert 0 < len(last.logprobs) < len(answer.logprobs)
        assert last.logprobs == pytest.approx(answer.logprobs[-len(last.logprobs) :], abs=1e-4)


def test_a_text_that_fits_is_scored_as_ever(folders):
    for name in ("gpt2", "bert"):
        folder, _ = folders(name)
        [sliding] = ask_folder(folder, [SHORT], SLIDING)
        [plainly] = ask_folder(folder, [SHORT])
        assert sliding.logprobs == pytest.approx(plainly.logprobs, abs=1e-6)


@pytest.mark.parametrize("name", ["bert", "xlm-roberta"])
def test_a_masked_model_sees_a_window_around_the_token(folders, name):
    folder, model = folders(name)
    policy = Policy(window="sliding", pll="original")
    mask = zoo.tokenizer(zoo.SPECIES[name].tokenizer).mask_token_id

    answers = ask_folder(folder, LONG, policy)

    for text, answer in zip(LONG, answers, strict=True):
        before, tokens, after = ids_of(folder, name, text)
        room = WINDOW - len(before) - len(after)
        assert len(tokens.ids) > room
        expected = []
        for index, token in enumerate(tokens.ids):
            start = min(max(index - room // 2, 0), len(tokens.ids) - room)
            part = tokens.ids[start : start + room]
            part[index - start] = mask
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([[*before, *part, *after]])).logits[0]
            expected.append(logits.log_softmax(-1)[len(before) + index - start, token].item())
        assert answer.logprobs == pytest.approx(expected, abs=1e-4)


def test_a_whole_word_is_masked_in_the_window_of_each_of_its_tokens(folders):
    folder, model = folders("bert")
    scorer = load_folder(folder, Policy(window="sliding", pll="whole-word"))
    [encoding] = scorer.encode([Score(text=LONG[0])])
    index = next(i for i in encoding.wanted if encoding.words.count(encoding.words[i]) > 2)
    mask = zoo.tokenizer("wordpiece-uncased").mask_token_id
    room = WINDOW - 2
    start = min(max(index - room // 2, 1), len(encoding.ids) - 1 - room)
    shown = [
        mask if encoding.words[i] == encoding.words[index] else encoding.ids[i]
        for i in range(start, start + room)
    ]
    with torch.no_grad():
        ids = torch.tensor([[encoding.ids[0], *shown, encoding.ids[-1]]])
        table = model(input_ids=ids).logits[0].log_softmax(-1)

    [values] = scorer.score([encoding])

    expected = table[1 + index - start, encoding.ids[index]].item()
    slot = encoding.wanted.index(index)
    assert values[slot] == pytest.approx(expected, abs=1e-4)


@settings(deadline=None)
@given(st.integers(2, 40), st.data())
def test_a_window_is_the_first_that_holds_a_token(window, data):
    stride = data.draw(st.integers(1, window - 1))
    index = data.draw(st.integers(0, 200))

    start = window_start(index, window=window, stride=stride)

    assert start % stride == 0
    assert start <= index < start + window
    assert start == 0 or start - stride + window <= index
    if index >= window:
        assert index - start >= window - stride


@settings(deadline=None)
@given(st.integers(3, 40), st.integers(0, 2), st.integers(0, 1), st.data())
def test_a_part_is_full_and_has_its_token_in_the_middle(window, before, after, data):
    room = window - before - after
    if room < 1:
        return
    length = before + after + data.draw(st.integers(room, 100))
    index = data.draw(st.integers(before, length - after - 1))

    start, end = centered(
        range(length), index, window=window, frame=Frame((1,) * before, (2,) * after)
    )

    assert end - start == room
    assert before <= start <= index < end <= length - after
    if start > before and end < length - after:
        assert index - start == room // 2


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_by_default_a_long_text_is_refused(folders, name):
    folder, _ = folders(name)

    with pytest.raises(TextTooLongError, match=f"window holds {WINDOW}.*window='sliding'"):
        ask_folder(folder, [LONG[0]])


@pytest.mark.parametrize(("stride", "recorded"), [(None, str(WINDOW // 2)), (3, "3")])
def test_the_manifest_says_that_there_were_windows_and_how_they_were_moved(
    folders, stride, recorded
):
    folder, _ = folders("gpt2")
    suite = make_suite(["(1;%a%) < (1;%b%)"], [{"a": LONG[0], "b": SHORT}])

    run = evaluate(suite, str(folder), window="sliding", stride=stride, device="cpu")

    assert run.manifest["asking"]["policy"]["window"] == "sliding"
    assert run.manifest["asking"]["policy"]["stride"] == stride
    assert run.manifest["model"]["details"]["stride"] == recorded
    [warning] = [text for text in run.manifest["warnings"] if "window" in text]
    assert warning.startswith(f"1 text is longer than the model's window of {WINDOW} tokens")


def test_a_stride_must_leave_an_overlap(folders):
    folder, _ = folders("gpt2")

    with pytest.raises(UsageError, match=f"not less than the window of .* {WINDOW}"):
        load_folder(folder, Policy(window="sliding", stride=WINDOW))
    with pytest.raises(UsageError, match="window='refuse'"):
        Policy(stride=5)
    with pytest.raises(UsageError, match="one token or more"):
        Policy(window="sliding", stride=0)


def test_a_model_without_a_window_is_never_cut(tmp_path, monkeypatch):
    endless = dataclasses.replace(
        zoo.SPECIES["bloom"], config={"max_position_embeddings": None}, type="bloom"
    )
    monkeypatch.setitem(zoo.SPECIES, "endless", endless)
    folder = zoo.save("endless", tmp_path)
    text = " ".join(LONG * 3)

    [sliding] = ask_folder(folder, [text], Policy(window="sliding"))
    [plainly] = ask_folder(folder, [text])

    assert len(sliding.logprobs) > zoo.WINDOW
    assert sliding.logprobs == plainly.logprobs


def test_the_command_line_refuses_or_slides(folders, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    folder, _ = folders("gpt2")
    texts = tmp_path / "texts.txt"
    texts.write_text(LONG[0] + "\n", encoding="utf-8")
    command = ["score", str(texts), "-m", str(folder), "--device", "cpu"]

    assert invoke(command) == 1
    assert "--window sliding" in capsys.readouterr().err
    assert invoke([*command, "--window", "sliding", "--stride", "4"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > WINDOW
    assert invoke([*command, "--stride", "4"]) == 2
    assert "--window refuse" in capsys.readouterr().err
