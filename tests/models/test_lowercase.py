"""Models of lower case whose tokenizers do not lower-case, and what --lowercase does."""

from __future__ import annotations

import json
import shutil

import pytest
from transformers import AutoModelForMaskedLM, AutoTokenizer

from cimento import UsageError
from cimento.cli.main import invoke
from cimento.evaluation.free_fills import ask_texts
from cimento.evaluation.freetext import score_texts
from cimento.models.in_memory import live_policy, live_scorer
from cimento.models.settings import Asking, Policy

TEXT = "Domani Maria Torna a ROMA, dall'Amico."
LOWER = Asking(policy=Policy(lowercase=True, pll="original"))


@pytest.fixture
def uncased(zoo_folder, tmp_path):
    """The model of a lower-casing tokenizer, with that tokenizer's lower-casing taken out."""
    folder = shutil.copytree(zoo_folder("bert"), tmp_path / "uncased")
    state = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    # A BertNormalizer that lower-cases strips accents too; without lower-casing it must be told to.
    for part in _parts(state["normalizer"]):
        if part.get("type") == "BertNormalizer":
            part.update(lowercase=False, strip_accents=True)
        elif part.get("type") == "Lowercase":
            part.update(type="NFC")
    (folder / "tokenizer.json").write_text(json.dumps(state), encoding="utf-8")
    return folder


def _parts(normalizer):
    return [normalizer, *normalizer.get("normalizers", [])]


def values(table):
    return table["surprisal_bits"].to_list()


def test_scores_are_those_of_a_tokenizer_that_lower_cases(uncased, zoo_folder):
    lower_casing = score_texts(
        [TEXT], str(zoo_folder("bert")), asking=Asking(policy=Policy(pll="original"))
    )
    ours = score_texts([TEXT], str(uncased), asking=LOWER)
    plain = score_texts([TEXT], str(uncased), asking=Asking(policy=Policy(pll="original")))
    assert values(ours) == values(lower_casing)
    assert values(plain) != values(lower_casing)
    # Words are those of the text as it was.
    words = score_texts([TEXT], str(uncased), asking=LOWER, words=True)["word"].to_list()
    assert words[:5] == ["Domani", "Maria", "Torna", "a", "ROMA"]


def test_candidates_are_those_of_a_tokenizer_that_lower_cases(uncased, zoo_folder):
    blank = "Domani ___ Torna a ROMA."
    lower_casing = ask_texts(blank, str(zoo_folder("bert")), options=["Maria", "il"])
    assert ask_texts(blank, str(uncased), options=["Maria", "il"], asking=LOWER) == lower_casing


def test_a_model_in_memory_keeps_its_tokenizer_as_it_is(uncased, zoo_folder):
    tokenizer = AutoTokenizer.from_pretrained(uncased)
    model = AutoModelForMaskedLM.from_pretrained(uncased).eval()
    before = tokenizer.backend_tokenizer.to_str()
    policy = live_policy(LOWER.policy, model)
    table = score_texts(
        [TEXT], live_scorer(model, tokenizer, name="b", policy=policy), asking=LOWER
    )
    lower_casing = score_texts(
        [TEXT], str(zoo_folder("bert")), asking=Asking(policy=Policy(pll="original"))
    )
    assert values(table) == pytest.approx(values(lower_casing), abs=1e-5)
    assert tokenizer.backend_tokenizer.to_str() == before


@pytest.mark.slow
def test_the_check_warns_and_is_content_with_lower_case(uncased, zoo_folder, capsys):
    suite = ["it-subject-verb", "--texts", "2"]
    assert invoke(["models", "check", str(uncased), *suite]) in (0, 1)
    printed = capsys.readouterr()
    assert "capital letters are in no token" in printed.err
    assert "--lowercase" in printed.out
    for folder, more in ((uncased, ["--lowercase"]), (zoo_folder("bert"), []),
                         (zoo_folder("bert-cased"), []), (zoo_folder("gpt2"), [])):  # fmt: skip
        assert invoke(["models", "check", str(folder), *suite, *more]) in (0, 1)
        assert "capital" not in capsys.readouterr().err


def test_policies_with_it_have_other_names():
    assert Policy(lowercase=True).digest() != Policy().digest()


def test_a_model_that_reads_whole_words_refuses_it():
    with pytest.raises(UsageError, match="lowercase"):
        score_texts([TEXT], "openai:http://127.0.0.1:9#x", asking=LOWER)
