"""A tokenizer from elsewhere: used, a part of what answers are known by, and never run as code."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.models.hf.files import locate
from cimento.models.hf.loading import load
from cimento.models.hf.own_tokenizer import load_tokenizer
from cimento.models.settings import Policy
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask, ask_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def bare(zoo_folder, tmp_path) -> Path:
    """A checkpoint without the files of a tokenizer."""
    folder = tmp_path / "bare"
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(zoo_folder("gpt2") / name, folder)
    return folder


@pytest.fixture
def apart(tmp_path) -> Path:
    """The tokenizer of that checkpoint, in a folder of its own."""
    folder = tmp_path / "apart"
    zoo.tokenizer("byte-bpe").save_pretrained(folder)
    return folder


def test_scores_are_those_of_the_model_with_the_tokenizer_beside_it(bare, apart, zoo_folder):
    scorer = load(locate(str(bare), tokenizer=str(apart)), policy=Policy(), device="cpu")

    assert ask(scorer, plain.TEXTS) == ask_folder(zoo_folder("gpt2"), plain.TEXTS)


def test_the_message_about_a_missing_tokenizer_names_the_option(bare):
    with pytest.raises(ModelError, match=r"or name another one with tokenizer=NAME"):
        cimento.evaluate("it-subject-verb", str(bare), device="cpu", limit=1)


def test_a_run_says_which_tokenizer_it_had(bare, apart, tmp_path):
    def run(**options):
        return cimento.evaluate(
            "it-subject-verb", str(bare), device="cpu", limit=1, output=tmp_path / "runs", **options
        )

    one = run(tokenizer=apart)
    model = one.manifest["model"]
    assert (
        model["details"]["tokenizer from"]
        == locate(str(bare), tokenizer=str(apart)).tokenizer.label
    )
    assert one.manifest["asking"]["tokenizer"] == str(apart)
    # Another tokenizer is another run: another revision, and another folder.
    other = tmp_path / "other"
    shutil.copytree(apart, other)
    text = (other / "tokenizer.json").read_text("utf-8")
    (other / "tokenizer.json").write_text(text + "\n", "utf-8")
    two = run(tokenizer=str(other))
    assert two.manifest["model"]["revision"] != model["revision"]
    assert two.folder != one.folder
    assert locate(str(bare)).revision not in (model["revision"], two.manifest["model"]["revision"])


@pytest.mark.usefixtures("bare")
def test_a_run_with_another_tokenizer_is_made_again(apart, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(apart.parent)
    command = ["run", "it-subject-verb", "-m", "bare", "--tokenizer", "apart", "--limit", "2",
               "--device", "cpu", "--no-cache", "-o", "runs"]  # fmt: skip
    assert invoke(command) == 0
    (there := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(there)
    capsys.readouterr()

    assert invoke(["rerun", str(tmp_path / "runs")]) == 0
    assert "everything agrees" in capsys.readouterr().out


def test_a_tokenizer_of_the_hub_has_a_revision_of_its_own(bare, apart, tmp_path, monkeypatch):
    folder = shutil.copytree(apart, tmp_path / COMMIT)
    asked = []

    def download(name, *, revision, allow_patterns):
        asked.append((name, revision, any("safetensors" in pattern for pattern in allow_patterns)))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    located = locate(str(bare), tokenizer="org/words@v1")

    assert asked == [("org/words", "v1", False)]
    assert located.tokenizer.label == "org/words@0123456"
    assert located.tokenizer_folder == folder


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("./nowhere", r"tokenizer='\./nowhere': there is no such folder"),
        ("a/b/c", "there is no such folder"),
        (".", r"holds no tokenizer\.json"),
    ],
)
def test_what_is_no_tokenizer_is_one_message(name, seen, bare, tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(UsageError, match=seen):
        locate(str(bare), tokenizer=name)


def test_models_with_tokens_of_their_own_take_none():
    for model in ("kenlm:x.arpa", "openai:http://127.0.0.1:9#x"):
        with pytest.raises(UsageError, match="have none to be replaced"):
            cimento.score("Sì.", model, tokenizer="demo-causal")


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(zoo_folder):
    with pytest.raises(ModelError, match=r"the model knows \d+ tokens.*belong to this model"):
        cimento.score(
            plain.TEXTS, str(zoo_folder("gpt2")), tokenizer=str(zoo_folder("gemma")), device="cpu"
        )


TRUSTING = Policy(model_args={"trust_remote_code": True})


def test_code_of_a_tokenizer_from_elsewhere_is_not_run(bare, apart, monkeypatch):
    import transformers

    trusted = []
    real = transformers.AutoTokenizer.from_pretrained

    def watched(folder, *, trust_remote_code):
        trusted.append(trust_remote_code)
        return real(folder, trust_remote_code=False)

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", watched)
    load_tokenizer(locate(str(bare), tokenizer=str(apart)), TRUSTING)

    assert trusted == [False]
