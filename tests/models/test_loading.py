"""What is loaded is what is in the folder, and what cannot be used is refused in one message."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, normalizers
from transformers import (
    AutoTokenizer,
    BertForSequenceClassification,
    BertModel,
    GPT2Model,
)

from cimento import ModelError, Policy, UsageError
from cimento.models.hf.files import locate
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask_folder, load_folder


def copy_of(folder: Path, target: Path, *, without: str = "") -> Path:
    """A copy of a model's folder that can be spoilt."""
    shutil.copytree(folder, target)
    if without:
        (target / without).unlink()
    return target


def edit(path: Path, **changes: object) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    content.update(changes)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("gpt2", "causal"), ("llama", "causal"), ("bert", "masked"), ("electra", "masked")],
)
def test_the_kind_is_that_of_the_architecture(name, kind, zoo_folder):
    card = load_folder(zoo_folder(name)).card

    assert card.kind == kind
    assert card.name == name
    assert card.window == zoo.WINDOW
    assert (card.dtype, card.device) == ("float32", "cpu")
    assert card.details["architecture"] == type(zoo.model(name)).__name__
    assert card.details["parameters"] == str(zoo.model(name).num_parameters())


def test_what_is_neither_causal_nor_masked_must_be_said(zoo_folder, tmp_path):
    folder = copy_of(zoo_folder("bert"), tmp_path / "copy")
    edit(folder / "config.json", architectures=["BertForTokenClassification"])

    with pytest.raises(
        ModelError, match=r"BertForTokenClassification.*kind='causal', masked or diffusion"
    ):
        load_folder(folder)
    assert load_folder(folder, kind="masked").card.kind == "masked"
    edit(folder / "config.json", architectures=None)
    with pytest.raises(ModelError, match=r"\(none\)"):
        load_folder(folder)


@pytest.mark.parametrize(
    ("headless", "base", "kind"),
    [
        (BertModel, "bert", "masked"),
        (BertForSequenceClassification, "bert", "masked"),
        (BertModel, "bert", "causal"),
    ],
)
def test_a_model_without_its_head_is_refused(headless, base, kind, tmp_path):
    """transformers would make one up, and its scores would be random."""
    headless(zoo.model(base).config).save_pretrained(tmp_path)
    zoo.tokenizer(zoo.SPECIES[base].tokenizer).save_pretrained(tmp_path)

    with pytest.raises(
        ModelError, match=r"weights are not in the files \(.*would be random.*kind="
    ):
        load_folder(tmp_path, kind=kind)


def test_a_head_that_is_tied_to_the_embeddings_is_not_missing(tmp_path):
    model = zoo.model("gpt2")
    base = GPT2Model(model.config)
    base.load_state_dict(model.transformer.state_dict())
    base.save_pretrained(tmp_path)
    zoo.tokenizer("byte-bpe").save_pretrained(tmp_path)
    ids = plain.tokens_of(tmp_path, plain.TEXTS[1]).ids

    (answer,) = ask_folder(tmp_path, [plain.TEXTS[1]], kind="causal")

    assert answer.logprobs == pytest.approx(plain.causal(model, [0], ids), abs=1e-5)


def test_a_masked_model_needs_a_mask(zoo_folder, tmp_path):
    folder = copy_of(zoo_folder("gpt2"), tmp_path / "copy")
    shutil.copy(zoo_folder("bert") / "model.safetensors", folder)
    shutil.copy(zoo_folder("bert") / "config.json", folder)

    with pytest.raises(ModelError, match=r"no mask token.*kind='causal'"):
        load_folder(folder)


@pytest.mark.parametrize("missing", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_file_is_one_message(missing, zoo_folder, tmp_path):
    folder = copy_of(zoo_folder("gpt2"), tmp_path / "copy", without=missing)

    with pytest.raises((ModelError, UsageError)) as caught:
        load_folder(folder)
    assert "copy" in str(caught.value)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_checkpoint_without_a_tokenizer_says_so(name, zoo_folder, tmp_path):
    folder = copy_of(zoo_folder(name), tmp_path / "copy", without="tokenizer.json")
    for path in folder.iterdir():
        if path.name not in {"config.json", "model.safetensors"}:
            path.unlink()

    with pytest.raises(ModelError, match="lacks the files of a tokenizer"):
        load_folder(folder)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", None),
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", '{"architectures": ["GPT2LMHeadModel"], "model_type": "nonsense"}'),
        ("tokenizer.json", '{"version": "1.0"'),
    ],
)
def test_a_damaged_file_is_one_message(file, content, zoo_folder, tmp_path):
    folder = copy_of(zoo_folder("gpt2"), tmp_path / "copy")
    if content is None:
        whole = (folder / file).read_bytes()
        (folder / file).write_bytes(whole[: len(whole) // 2])
    else:
        (folder / file).write_text(content, encoding="utf-8")

    with pytest.raises(ModelError) as caught:
        load_folder(folder)
    assert "copy" in str(caught.value)
    assert "\n" not in str(caught.value.where)


@pytest.mark.parametrize("device", ["warp", "cuda:99"])
def test_an_unknown_device_is_one_message(device, zoo_folder):
    with pytest.raises(UsageError, match=rf"{device}.*cannot be used here.*Use cpu"):
        load_folder(zoo_folder("gpt2"), device=device)


def test_the_tokens_are_those_of_the_tokenizers_file(zoo_folder):
    """transformers 5 takes but the vocabulary from a Qwen2 and normalizes as it sees fit."""
    folder = zoo_folder("qwen2")
    text = plain.TEXTS[7]
    ids = plain.tokens_of(folder, text).ids
    assert AutoTokenizer.from_pretrained(folder)(text)["input_ids"] != ids

    (answer,) = ask_folder(folder, [text])

    assert answer.ids == ids


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "bert-cased", "roberta", "qwen2", "gemma", "mamba"])
def test_names_of_special_tokens_may_be_those_of_the_class(name, zoo_folder, tmp_path):
    """The oldest models on the hub name none; tokens still are those of the file."""
    folder = copy_of(zoo_folder(name), tmp_path / "copy")
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1024}')

    one, other = ask_folder(folder, plain.TEXTS), ask_folder(zoo_folder(name), plain.TEXTS)

    assert one == other


def test_the_tokenizer_is_part_of_the_card(zoo_folder, tmp_path):
    folder = copy_of(zoo_folder("gpt2"), tmp_path / "copy")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.save(str(folder / "tokenizer.json"))
    before, after = load_folder(zoo_folder("gpt2")).card, load_folder(folder).card

    assert before.tokenizer != after.tokenizer
    assert before.revision != after.revision


def test_the_revision_is_that_of_the_content(zoo_folder, tmp_path):
    same = copy_of(zoo_folder("gpt2"), tmp_path / "same")
    other = copy_of(zoo_folder("gpt2"), tmp_path / "other")
    content = bytearray((other / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (other / "model.safetensors").write_bytes(bytes(content))
    located = locate(str(zoo_folder("gpt2")))

    assert len(located.revision) == 64
    assert locate(str(same)).revision == located.revision
    assert locate(str(other)).revision != located.revision
    assert locate(str(same)).label == f"same@{located.revision[:7]}"


@pytest.mark.parametrize(
    "name", ["./nowhere", "/nowhere/at/all", "a/b/c", "with blank", "C:\\models"]
)
def test_what_cannot_be_a_model_is_refused_without_asking_the_network(name):
    with pytest.raises(UsageError, match=r"no such folder"):
        locate(name)


def test_a_model_that_cannot_be_downloaded(monkeypatch):
    def unreachable(*_args, **_options):
        message = "no route to host\nand more"
        raise ConnectionError(message)

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(
        (UsageError, ModelError), match=r"nor downloadable \(ConnectionError: no route"
    ):
        locate("org/model@abc")


def test_a_model_of_the_hub_has_its_commit_as_revision(monkeypatch, tmp_path, zoo_folder):
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder = copy_of(zoo_folder("gpt2"), tmp_path / commit)
    asked = {}

    def download(name, *, revision, allow_patterns):
        asked.update(name=name, revision=revision, patterns=allow_patterns)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    located = locate("org/model@v1")

    assert (asked["name"], asked["revision"]) == ("org/model", "v1")
    assert located.revision == commit
    assert located.label == "org/model@0123456"


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_weights_have_the_dtype_of_the_policy(dtype, zoo_folder):
    scorer = load_folder(zoo_folder("gpt2"), Policy(dtype=dtype))

    assert scorer.card.dtype == dtype
    assert scorer._model.dtype == getattr(torch, dtype)
    assert not scorer._model.training


@pytest.mark.slow
def test_the_library_says_nothing_while_a_model_is_tried_out(zoo_folder, tmp_path):
    """A padding token that may be in a text is a matter that it comments on."""
    texts = tmp_path / "texts.txt"
    texts.write_text("Le zie cantano.\n", "utf-8")
    command = ["score", str(texts), "-m", str(zoo_folder("gpt2")), "--device", "cpu"]
    code = f"from cimento.cli.main import main\nmain({command!r})"
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0
    assert done.stderr == ""


def test_a_long_message_of_the_hub_ends_where_a_sentence_does(monkeypatch):
    said = "Repo id must be right: " + "'a b', " * 20 + "'c d'."
    longer = said + " " + "x" * 500

    def refuse(text):
        def download(*_, **__):
            raise ValueError(text)

        monkeypatch.setattr("huggingface_hub.snapshot_download", download)
        with pytest.raises(UsageError) as caught:
            locate("org/name")
        return str(caught.value)

    assert f"(ValueError: {said})" in refuse(said)
    assert f"(ValueError: {said[:-1]})" in refuse(longer)
