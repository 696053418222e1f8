"""Special tokens of a model in the sentences of a suite."""

from __future__ import annotations

import json

import pytest
from transformers import AutoTokenizer

from cimento.cli.main import invoke
from cimento.models.special_tokens import on_special_tokens, special_tokens, suspicious
from cimento.records.store import find_runs

pytestmark = pytest.mark.usefixtures("fresh_cache")


def noted(tmp_path, table, model, name="pairs.tsv"):
    """The notes on special tokens in the manifest of a run of a table."""
    path = tmp_path / name
    path.write_text(table, encoding="utf-8")
    output = tmp_path / f"runs-{model}"
    assert invoke(["run", str(path), "-m", model, "-o", str(output), "--language", "en"]) == 0
    (run,) = find_runs(output)
    manifest = json.loads((run.path / "manifest.json").read_text())
    return [text for text in manifest["warnings"] if " special tokens of the model: " in text]


PAIRS = "good\tbad\nThe {0} sleeps.\tThe {0} sleep.\nThe girl reads.\tThe girl read.\n"


@pytest.mark.parametrize(("model", "mark"), [("demo-masked", "[MASK]"), ("demo-causal", "<|bos|>")])
def test_sentences_with_special_tokens_of_the_model_are_counted(tmp_path, capsys, model, mark):
    [note] = noted(tmp_path, PAIRS.format(mark), model)

    assert note.startswith(f"2 texts contain special tokens of the model: {mark} in")
    assert f"is the token {mark} to the model" in note
    assert "2 texts contain special tokens" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("model", "mark"), [("demo-masked", "<|bos|>"), ("demo-causal", "[MASK]")])
def test_special_tokens_of_other_models_are_text(tmp_path, model, mark):
    assert noted(tmp_path, PAIRS.format(mark), model) == []


@pytest.mark.slow
def test_over_many_units_sentences_are_counted_once(tmp_path):
    # A unit has 256 texts.
    rows = [f"The [MASK] number {n} sleeps.\tThe [MASK] number {n} sleep." for n in range(200)]
    [note] = noted(tmp_path, "\n".join(["good\tbad", *rows, ""]), "demo-masked")

    assert note.startswith("400 texts contain")


def test_the_blank_of_a_cloze_suite_is_none(tmp_path):
    table = "item\ttext\ttarget\tdistractor 1\n1\tThe boys ___ here.\tsleep\tsleeps\n"
    assert noted(tmp_path, table, "demo-masked", name="blanks.tsv") == []


def test_a_context_may_begin_with_a_special_token(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("good\tbad\nThe boys sleep.\tThe boys sleeps.\n")
    output = tmp_path / "runs"
    command = ["run", str(path), "-m", "demo-causal", "-o", str(output), "--language", "en"]
    assert invoke([*command, "--context", "<|bos|>", "--bos", "none"]) == 0
    (run,) = find_runs(output)
    assert "special token" not in (run.path / "manifest.json").read_text()


def test_ordinary_sentences_need_no_tokenizer():
    plain = ["Il gatto (nero) dorme.", "«Perché?» — disse l'uomo…", "100% / 3", "我早上喝了咖啡"]
    assert list(suspicious([*plain, "a [MASK]", "</s>", "<|x|>", "<extra_id_0>"])) == [
        "a [MASK]", "</s>", "<|x|>", "<extra_id_0>",
    ]  # fmt: skip


def test_a_mark_of_sentences_is_no_special_token(zoo_folder):
    tokenizer = AutoTokenizer.from_pretrained(zoo_folder("gpt2"))
    tokenizer.add_special_tokens({"pad_token": "!", "unk_token": "nulla"})

    assert not {"!", "nulla"} & {*special_tokens(tokenizer)}
    assert on_special_tokens(tokenizer, ["Non c'è nulla!"]) == ()
