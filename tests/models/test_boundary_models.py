"""Corrections for word boundaries with the kinds of tokenizers that models have."""

from __future__ import annotations

import itertools
import unicodedata

import polars as pl
import pytest
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from cimento import Asking, Policy, UsageError, evaluate
from cimento.evaluation.freetext import score_texts
from cimento.io.tables import TOKENS
from cimento.measures import region_values
from cimento.models.hf.boundaries import surfaces_of
from cimento.paradigms.regions.judging import values_of
from cimento.testing.models import uniform_scorer
from tests.helpers import zoo
from tests.helpers.judging import make_suite
from tests.helpers.whole_path import load_folder


@pytest.mark.parametrize(
    ("kind", "marks"),
    [
        ("byte-bpe", "word-start"),
        ("byte-bpe-prefix", "word-start"),
        ("bpe-fallback", "word-start"),
        ("gemma", "word-start"),
        ("unigram", "word-start"),
        ("wordpiece-cased", "none"),
    ],
)
def test_what_a_tokenizer_marks(kind, marks):
    marking, surfaces = surfaces_of(zoo.tokenizer(kind))

    assert marking == marks
    assert not set(surfaces) & set(zoo.tokenizer(kind).all_special_ids)


@pytest.mark.parametrize("kind", ["byte-bpe", "byte-bpe-trim", "bpe-fallback", "gemma", "unigram"])
def test_the_texts_of_tokens_make_the_text(kind):
    tokenizer = zoo.tokenizer(kind)
    surfaces = surfaces_of(tokenizer)[1]
    for text in ("Le vicine dell'orto cantano.", "Дети, которые играют", "Perché no?\tSì"):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        if not set(ids) & set(tokenizer.all_special_ids):
            made = "".join(surfaces[number] for number in ids)
            if "\ufffd" not in made:
                assert made.strip() == text


EOS = "<eos>"


def clip_tokenizer():
    """Bytes with marks at the ends of words."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\p{P}|[^\s\p{P}]+"), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, end_of_word_suffix="</w>", special_tokens=[EOS], show_progress=False
    )
    tokenizer.train_from_iterator(zoo.SENTENCES, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=EOS)


def test_ends_are_found_among_bytes():
    tokenizer = clip_tokenizer()
    marks, surfaces = surfaces_of(tokenizer)

    assert marks == "word-end"
    ids = tokenizer("Perché no?", add_special_tokens=False)["input_ids"]
    assert "".join(surfaces[number] for number in ids) == "Perché no ? "


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, tmp_path_factory):
    return zoo.save(request.param, tmp_path_factory.mktemp(request.param))


def spelling_of(tokenizer):
    """Token id to text, x for what is a part of a character; special tokens left out."""
    spelled = {}
    for token, number in tokenizer.get_vocab().items():
        if number in tokenizer.all_special_ids:
            continue
        if "Ġ" in tokenizer.get_vocab():
            text = decoders.ByteLevel().decode([token])
        elif token.startswith("<0x"):
            code = int(token[3:5], 16)
            text = chr(code) if code < 128 else "x"
        else:
            text = token.replace("▁", " ")
        spelled[number] = text.replace("\ufffd", "x")
    return spelled


def brute(folder, text, punctuation):
    """The text's tokens, and log Z before each of them and after the last, from a plain pass."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    spelled = spelling_of(tokenizer)

    def parts(char):
        mark = unicodedata.category(char)[0] in "PS"
        return char.isspace() or (mark and punctuation == "split")

    eos = tokenizer.eos_token_id
    opening = [eos, *(number for number, text in spelled.items() if parts(text[0]))]
    initial = [eos, *(number for number, text in spelled.items() if not text[0].isspace())]
    in_text = tokenizer(text, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.bos_token_id, *in_text]
    with torch.no_grad():
        rows = model(input_ids=torch.tensor([ids])).logits[0].double().softmax(-1)
    first = opening if spelled[in_text[0]][0].isspace() else initial
    log_z = [rows[0, first].sum().log().item()]
    for row, token in zip(rows[1:], in_text, strict=True):
        certain = parts(spelled[token][-1])
        log_z.append(0.0 if certain else row[opening].sum().log().item())
    return in_text, log_z


@pytest.mark.slow
@pytest.mark.parametrize("punctuation", ["split", "keep"])
def test_the_terms_are_those_of_the_plain_model(folder, punctuation):
    policy = Policy(boundary="auto", punctuation=punctuation)
    scorer = load_folder(folder, policy)
    texts = ["Le vicine dell'orto cantano.", "Sì.", "The keys are on the table, I think"]

    tokens = score_texts(texts, scorer, asking=Asking(policy=policy))

    for number, text in enumerate(texts, start=1):
        _, log_z = brute(folder, text, punctuation)
        expected = [before - after for before, after in itertools.pairwise(log_z)]
        nats = tokens.filter(text=number)["boundary_nats"].to_list()
        assert nats == pytest.approx(expected, abs=1e-4)
        assert max(map(abs, nats)) > 0.05


def test_a_region_is_worth_what_its_words_are(folder):
    """Only the region's tokens are asked, with what comes before and after them."""
    policy = Policy(boundary="auto", punctuation="keep")
    suite = make_suite(
        ["(2;%a%) < (2;%b%)"],
        [{"a": "Le vicine | cantano forte | qui.", "b": "Le vicine | canta forte | qui."}],
    )

    run = evaluate(suite, load_folder(folder, policy), boundary="auto", punctuation="keep")

    values = values_of(run, metric="sum").values["1"]
    for condition, region in {"a": "cantano forte", "b": "canta forte"}.items():
        place = run.table("requests").filter(condition=condition, region=2)
        tokens = run.table("tokens").filter(request=place["request"][0]).sort("position")
        text = place["text"][0]
        ids, log_z = brute(folder, text, "keep")
        first, end = tokens["position"][0], tokens["position"][-1] + 1
        assert ids[first:end] == tokens["token_id"].to_list()
        expected = -tokens["logprob_nats"].sum() + log_z[first] - log_z[end]
        assert values[condition][1] == pytest.approx(expected, abs=1e-4)
        assert text[place["start"][0] : place["end"][0]] == region
    assert run.manifest["model"]["boundary"] == "word-start"
    assert run.manifest["asking"]["policy"]["boundary"] == "auto"
    eos = {"gpt2": "<|endoftext|>", "llama": "</s>"}
    assert run.manifest["model"]["details"]["boundary_eos"] in eos.values()


def test_log_probabilities_stay_what_they_are(folder):
    texts = ["Le vicine cantano.", "Le vicine canta."]
    tables = {}
    for rule in ("none", "auto"):
        policy = Policy(boundary=rule)
        tables[rule] = score_texts(texts, load_folder(folder, policy), asking=Asking(policy=policy))

    assert tables["none"].columns == [c for c in tables["auto"].columns if c != "boundary_nats"]
    naive, corrected = (tables[rule]["surprisal_bits"].to_list() for rule in ("none", "auto"))
    assert naive == pytest.approx(corrected, abs=1e-4)


def test_a_text_that_nothing_precedes_has_no_first_term(tmp_path):
    scorer = load_folder(zoo.save("gpt2", tmp_path), Policy(boundary="auto", bos="none"))

    table = score_texts(["Le vicine cantano."], scorer)

    assert table["boundary_nats"].is_null().to_list() == [True] + [False] * (table.height - 1)
    words = score_texts(["Le vicine cantano."], scorer, words=True)
    assert words["surprisal_bits"].is_null().to_list() == [True, False, False, False]


def test_masked_models_have_no_such_correction(tmp_path):
    scorer = load_folder(zoo.save("bert", tmp_path), Policy(boundary="auto"))

    assert "boundary_nats" not in score_texts(["Sì."], scorer).columns


def test_a_model_that_cannot_say_it_is_refused():
    policy = Policy(boundary="word-start")

    with pytest.raises(UsageError, match="how probable the end of a word is"):
        score_texts(["Sì."], uniform_scorer(10), asking=Asking(policy=policy))


def test_measures_take_the_terms_from_the_table():
    rows = [(0, 0, "Sì", 1, 0, 2, -2.0, None, 0.5), (0, 1, ".", 2, 2, 3, -1.0, None, -0.25)]
    tokens = pl.DataFrame(rows, schema=TOKENS.polars(present=["boundary_nats"]), orient="row")
    suite = make_suite(["(*;%a%) > 0"], [{"a": "Sì."}])
    run = evaluate(suite, uniform_scorer(10))

    values = region_values(tokens, run.table("requests"), metric="sum").values["1"]["a"]

    assert values == (2.5 + 0.75,)


def test_recorded_surprisals_cannot_be_corrected(tmp_path):
    path = tmp_path / "recorded.tsv"
    path.write_text("sentence_id\ttoken_id\ttoken\tsurprisal\n1\t1\tSì.\t1.0\n", encoding="utf-8")
    suite = make_suite(["(*;%a%) > 0"], [{"a": "Sì."}])

    with pytest.raises(UsageError, match="boundary= with a recording: it does not say"):
        evaluate(suite, f"replay:{path}", boundary="word-start")
