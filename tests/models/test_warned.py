"""What transformers warns of while it loads a model reaches the user and the manifest."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import MistralConfig, MistralForCausalLM, PreTrainedTokenizerFast

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.models.hf.warned import listening
from cimento.records.store import find_runs

pytestmark = pytest.mark.usefixtures("fresh_cache")

DEMO = Path(cimento.__file__).parent / "data" / "models" / "demo-causal"
TEXT = "The boys sleep."
FIX = "fix_mistral_regex"


def changed(target, *, config=None, weights=None):
    """A copy of the demo model with another config, or other weights."""
    folder = shutil.copytree(DEMO, target)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **(config or {})}))
    if weights is not None:
        tensors = load_file(folder / "model.safetensors")
        save_file(weights(tensors), folder / "model.safetensors", metadata={"format": "pt"})
    return str(folder)


def with_other_head(tensors):
    return {**tensors, "lm_head.weight": tensors["model.embed_tokens.weight"] * 2}


CASES = {
    # Four layers in the file, three in the config: a quarter of the model is not computed.
    "layers": (
        {"num_hidden_layers": 3},
        None,
        "9 weights in its files are not used: model.layers.3",
    ),
    "another head": (
        {},
        lambda tensors: {**tensors, "score.weight": torch.zeros(2, 3)},
        "1 weight in its files is not used: score.weight",
    ),
    "tied": ({}, with_other_head, "will NOT tie them"),
}


@pytest.mark.parametrize(("config", "weights", "said"), CASES.values(), ids=CASES)
def test_a_warning_of_loading_is_said_once_in_a_line(tmp_path, caplog, config, weights, said):
    cimento.score(TEXT, changed(tmp_path / "m", config=config, weights=weights))

    [record] = [record for record in caplog.records if record.name == "cimento.models"]
    assert said in record.getMessage()
    assert "\n" not in record.getMessage()
    assert "\x1b" not in record.getMessage()


def test_a_part_of_a_model_is_told_from_weights_of_another_head(tmp_path, caplog):
    cimento.score(TEXT, changed(tmp_path / "m", config=CASES["layers"][0]))
    assert "right number of layers" in caplog.text
    caplog.clear()
    cimento.score(TEXT, changed(tmp_path / "n", weights=CASES["another head"][1]))
    assert "right number of layers" not in caplog.text


def test_a_warning_is_in_the_terminal_the_manifest_and_the_report(tmp_path, capsys):
    folder = changed(tmp_path / "m", config=CASES["layers"][0])
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nThe boys sleep.\tThe boys sleeps.\n")
    runs = tmp_path / "runs"
    assert invoke(["run", str(pairs), "-m", folder, "-o", str(runs), "--language", "en"]) == 0

    assert "weights in its files are not used" in " ".join(capsys.readouterr().out.split())
    [run] = find_runs(runs)
    manifest = json.loads((run.path / "manifest.json").read_text())
    assert [text for text in manifest["warnings"] if "not used" in text]
    page = tmp_path / "report.html"
    assert invoke(["report", str(runs), "-o", str(page)]) == 0
    assert "weights in its files are not used" in page.read_text()


def test_models_check_has_a_line_for_each_warning(tmp_path, capsys):
    folder = changed(tmp_path / "m", config=CASES["layers"][0], weights=CASES["another head"][1])
    invoke(["models", "check", folder, "it-subject-verb", "--texts", "1"])
    [line] = [line for line in capsys.readouterr().out.split("\n") if "not used" in line]
    assert line.split()[0] == "warning"

    invoke(["models", "check", "demo-causal", "it-subject-verb", "--texts", "1"])
    assert "warning" not in capsys.readouterr().out


def test_a_missing_head_that_is_not_tied_is_refused(tmp_path):
    folder = changed(tmp_path / "m", config={"tie_word_embeddings": False})

    with pytest.raises(ModelError, match=r"lm_head\.weight .*would be random"):
        cimento.score(TEXT, folder)


def test_what_is_about_scores_is_heard_whatever_its_words():
    import transformers

    loggers = {name: logging.getLogger(f"transformers.{name}") for name in ("x", "generation.y")}
    before = loggers["x"].parent.handlers[:], transformers.utils.logging.get_verbosity()
    with listening() as heard:
        for _ in range(2):
            loggers["x"].warning("Ignored \x1b[31mgeneration\x1b[0m flags\n of a config")
        loggers["x"].info("nothing")
        loggers["generation.y"].warning("temperature is set")
        warnings.warn("adapter keys are missing", UserWarning, stacklevel=1)
        warnings.warn("an old name", FutureWarning, stacklevel=1)

    assert heard == [
        "transformers warns: Ignored generation flags of a config",
        "transformers warns: adapter keys are missing",
    ]
    after = loggers["x"].parent.handlers, transformers.utils.logging.get_verbosity()
    assert after == before


def test_what_is_said_once_in_a_process_is_heard_of_each_model():
    import transformers

    logger = transformers.utils.logging.get_logger("transformers.z")
    said = []
    for _ in range(2):
        with listening() as heard:
            logger.warning_once("this too")
        said.append(heard)

    assert said == [["transformers warns: this too"]] * 2


@pytest.fixture(scope="module")
def split_wrongly(tmp_path_factory):
    """A small model whose tokenizer has the pattern that transformers warns of.

    It warns of models of this family that an earlier version saved, with over 100,000 tokens.
    """
    folder = tmp_path_factory.mktemp("wrong")
    words = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+"
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(words), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<s>", "</s>"],
    )
    tokenizer.train_from_iterator(["Anna found it on eBay and on the iPhone."] * 50, trainer)
    state = json.loads(tokenizer.to_str())
    vocabulary = state["model"]["vocab"]
    vocabulary |= {f"zzfill{n}": n for n in range(len(vocabulary), 100_010)}
    marks = {"bos_token": "<s>", "eos_token": "</s>"}
    whole = Tokenizer.from_str(json.dumps(state))
    fast = PreTrainedTokenizerFast(tokenizer_object=whole, **marks)
    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=len(fast), hidden_size=4, intermediate_size=4, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, max_position_embeddings=64, bos_token_id=0,
        eos_token_id=1, initializer_range=0.2,
    )  # fmt: skip
    MistralForCausalLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "transformers_version": "4.50.0"}))
    return str(folder)


def tokens(model, **options):
    return cimento.score("Anna found it on eBay.", model, **options)["token"].to_list()


@pytest.mark.slow
def test_a_tokenizer_with_the_wrong_pattern_is_named_with_the_option(split_wrongly, caplog):
    assert tokens(split_wrongly)[4:] == ["eBay", "."]

    [record] = [record for record in caplog.records if record.name == "cimento.models"]
    assert f"give --tokenizer-args {FIX}=true" in record.getMessage()


@pytest.mark.slow
@pytest.mark.parametrize(
    "given", [{"tokenizer_args": {FIX: True}}, {"tokenizer_args": [f"{FIX}=true"]}]
)
def test_the_right_pattern_can_be_asked_for(split_wrongly, caplog, given):
    # The right pattern ends a word before a capital: e, Bay.
    assert "eBay" not in tokens(split_wrongly, **given)
    assert not [record for record in caplog.records if record.name == "cimento.models"]


@pytest.mark.slow
def test_the_wrong_pattern_can_be_kept_without_a_word(split_wrongly, caplog):
    assert "eBay" in tokens(split_wrongly, tokenizer_args={FIX: False})
    assert not [record for record in caplog.records if record.name == "cimento.models"]


@pytest.mark.slow
def test_models_check_says_nothing_untrue_of_few_words_with_capitals(split_wrongly, capsys):
    invoke(["models", "check", split_wrongly, "en-subject-verb", "--texts", "1"])

    printed = capsys.readouterr()
    assert "capital letters are in no token" not in printed.err
    assert f"give --tokenizer-args {FIX}=true" in printed.out


def test_an_argument_that_changes_nothing_is_noted_or_unknown(caplog):
    cimento.score(TEXT, "demo-causal", tokenizer_args={FIX: True})
    assert f"{FIX} changes nothing of its tokenizer" in caplog.text

    with pytest.raises(UsageError, match=r"fix_mistral_regx.*Did you mean 'fix_mistral_regex'"):
        cimento.score(TEXT, "demo-causal", tokenizer_args={"fix_mistral_regx": True})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("trust_remote_code=true", "Say it with --trust-remote-code"),
        ("tokenizer_file=/etc/passwd", "read from its own folder"),
        ("vocab_file=x", "read from its own folder"),
        ("_commit_hash=x", "read from its own folder"),
        ("token=hf_x", "set HF_HOME"),
        ("api_key=x", "goes into the environment"),
        ("cache_dir=x", "set HF_HOME"),
        ("fix", "not KEY=VALUE"),
    ],
)
def test_an_argument_of_a_tokenizer_that_cannot_be_given_is_refused(given, said, tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nThe boys sleep.\tThe boys sleeps.\n")
    command = ["run", str(pairs), "-m", "demo-causal", "-o", str(tmp_path / "runs")]

    assert invoke([*command, "--tokenizer-args", given]) == 2
    assert said in capsys.readouterr().err


def test_a_server_takes_no_arguments_of_tokenizers():
    with pytest.raises(UsageError, match="tokenizer_args: these options are for transformers"):
        cimento.score(TEXT, "openai:http://127.0.0.1:9/v1#m", tokenizer_args={FIX: True})


@pytest.mark.slow
def test_arguments_of_a_tokenizer_make_another_run_and_are_given_again(
    split_wrongly, tmp_path, capsys
):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nThe boys sleep on eBay.\tThe boys sleeps on eBay.\n")
    runs = tmp_path / "runs"
    command = ["run", str(pairs), "-m", split_wrongly, "-o", str(runs), "--language", "en"]
    assert invoke(command) == 0
    (first,) = find_runs(runs)
    assert invoke([*command, "--tokenizer-args", f"{FIX}=true"]) == 0
    (second,) = (run for run in find_runs(runs) if run.path != first.path)
    manifests = [json.loads((run.path / "manifest.json").read_text()) for run in (first, second)]

    assert manifests[0]["asking"]["policy"]["tokenizer_args"] == {}
    assert manifests[1]["asking"]["policy"]["tokenizer_args"] == {FIX: True}
    assert manifests[0]["model"]["tokenizer"] != manifests[1]["model"]["tokenizer"]
    capsys.readouterr()
    again = ["rerun", str(second.path), "-o", str(tmp_path / "again")]
    assert invoke(again) == 2
    assert f"--tokenizer-args {FIX}=true" in capsys.readouterr().err
    assert invoke([*again, "--tokenizer-args", f"{FIX}=true"]) == 0


@pytest.mark.slow
def test_a_model_that_is_loaded_once_keeps_its_notes_and_arguments(split_wrongly):
    loaded = cimento.load_model(split_wrongly, tokenizer_args={FIX: True})
    assert "eBay" not in tokens(loaded)
    with pytest.raises(UsageError, match="is in memory with tokenizer_args"):
        tokens(loaded, tokenizer_args={FIX: False})
    assert "wrong" not in "".join(cimento.load_model(split_wrongly).notes)
    assert FIX in "".join(cimento.load_model(split_wrongly).notes)
