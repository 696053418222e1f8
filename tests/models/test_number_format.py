"""The number format of the weights: its names, and what ``auto`` comes to before it names runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import cimento
from cimento import Asking, Policy, UsageError
from cimento.cli.main import invoke
from cimento.engine.handle import ModelHandle
from cimento.engine.scores import model_key
from cimento.models.hf.files import locate
from cimento.models.hf.stored import stored_dtype
from cimento.models.in_memory import live_scorer
from tests.helpers import zoo

SUITE = "it-subject-verb"


@pytest.fixture
def on_a_gpu(monkeypatch):
    """As on a machine with a GPU, where the models still are computed by the processor."""
    monkeypatch.setattr("cimento.models.hf.devices.count_gpus", lambda: 1)
    monkeypatch.setattr("cimento.models.hf.loading._device", lambda _torch, _wanted: "cpu")


@pytest.fixture
def half(tmp_path) -> Path:
    """A checkpoint in bfloat16."""
    zoo.model("gpt2").to(torch.bfloat16).save_pretrained(tmp_path / "half")
    zoo.tokenizer("byte-bpe").save_pretrained(tmp_path / "half")
    return tmp_path / "half"


def run(model, **options):
    return cimento.evaluate(SUITE, model, limit=1, **options)


def formats(made) -> tuple[str, str]:
    """What the manifest says of the number format: the model's card, and the policy."""
    return made.manifest["model"]["dtype"], made.manifest["asking"]["policy"]["dtype"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fp16", "float16"), ("half", "float16"), ("bf16", "bfloat16"), ("fp32", "float32"),
        ("fp64", "float64"), ("float", "float32"), ('"double"', "float64"),
        ("bfloat16", "bfloat16"), (torch.bfloat16, "bfloat16"),
        ("BF16", "bfloat16"), ("FP32", "float32"),
    ],
)  # fmt: skip
def test_a_format_has_its_names(name, meant):
    assert Policy(dtype=name) == Policy(dtype=meant)
    assert cimento.RunOptions(dtype=name).dtype == meant


def test_names_of_one_format_are_one_run(half, tmp_path):
    folders = {
        run(str(half), dtype=name, device="cpu", output=tmp_path / "runs").folder
        for name in ("bf16", "bfloat16", torch.bfloat16)
    }

    assert len(folders) == 1


def test_an_unknown_format_is_one_message(capsys):
    with pytest.raises(UsageError, match=r"got 'bfloat17'. Did you mean 'bfloat16'"):
        Policy(dtype="bfloat17")
    assert invoke(["run", SUITE, "-m", "demo-causal", "--dtype", "bfloat17"]) == 2
    printed = capsys.readouterr().err
    assert "--dtype" in printed
    assert "got 'bfloat17'. Did you mean 'bfloat16'" in printed


def test_without_a_gpu_auto_is_float32(half, tmp_path):
    auto, stated = (
        run(str(half), device="cpu", output=tmp_path / "runs", **options)
        for options in ({}, {"dtype": "float32"})
    )

    assert formats(auto) == ("float32", "float32")
    assert auto.folder == stated.folder


@pytest.mark.usefixtures("on_a_gpu")
def test_on_a_gpu_auto_is_the_format_of_the_checkpoint(half, tmp_path):
    auto, narrow, wide = (
        run(str(half), output=tmp_path / "runs", **options)
        for options in ({}, {"dtype": "bfloat16"}, {"dtype": "float32"})
    )

    assert formats(auto) == ("bfloat16", "bfloat16")
    assert auto.folder == narrow.folder != wide.folder
    # On the processor by name, or where a graphics card is only named for other nodes.
    assert formats(run(str(half), device="cpu")) == ("float32", "float32")
    assert (
        ModelHandle(
            str(half), Asking(policy=Policy(dtype="auto"), device="cuda")
        ).scoring.policy.dtype
        == "bfloat16"
    )


@pytest.mark.usefixtures("on_a_gpu")
def test_free_text_and_blanks_go_by_the_same_rule(half):
    text = "Le zie cantano."
    for asked in (
        lambda **options: cimento.score(text, str(half), **options),
        lambda **options: cimento.fill(
            "Le zie ___.", str(half), among=["cantano", "canta"], **options
        ),
    ):
        assert asked().equals(asked(dtype="bf16"))
        assert not asked().equals(asked(dtype="fp32"))


@pytest.mark.usefixtures("on_a_gpu")
def test_a_stored_run_is_shown_without_the_weights(half, tmp_path):
    command = ["run", SUITE, "-m", str(half), "--limit", "1", "-o", str(tmp_path / "runs")]
    assert invoke(command) == 0
    (half / "model.safetensors").rename(half / "model.safetensors.kept")
    shutil.copy(half / "model.safetensors.kept", half / "model.safetensors")

    assert invoke(command) == 0
    assert len(list((tmp_path / "runs").rglob("manifest.json"))) == 1


@pytest.mark.parametrize("key", ["dtype", "torch_dtype", "inner", None])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_the_format_of_a_checkpoint_is_that_of_its_config_or_weights(key, dtype, half):
    config = json.loads((half / "config.json").read_text("utf-8"))
    config.pop("dtype", None)
    if key == "inner":
        config["text_config"] = {"dtype": dtype}
    elif key is not None:
        config[key] = f"torch.{dtype}" if key == "torch_dtype" else dtype
    else:
        weights = load_file(half / "model.safetensors")
        cast = {name: weight.to(getattr(torch, dtype)) for name, weight in weights.items()}
        save_file(cast, half / "model.safetensors")
    (half / "config.json").write_text(json.dumps(config), "utf-8")

    assert stored_dtype(locate(str(half))) == dtype


def test_where_nothing_tells_the_format_is_float32(half):
    (half / "config.json").write_text("{}", "utf-8")
    (half / "model.safetensors").unlink()

    assert stored_dtype(locate(str(half))) == "float32"


def test_nothing_is_named_by_a_policy_whose_format_is_open():
    policy = Policy(dtype="auto")
    card = ModelHandle("demo-causal", Asking(device="cpu")).card

    for name in (policy.digest, Asking(policy=policy).digest, lambda: model_key(card, policy)):
        with pytest.raises(ValueError, match="number format"):
            name()


def test_a_model_in_memory_has_the_format_of_its_weights():
    model = zoo.model("gpt2").to(torch.bfloat16).eval()
    scorer = live_scorer(model, zoo.tokenizer("byte-bpe"), name="mine")

    assert formats(run(scorer)) == ("bfloat16", "bfloat16")


@pytest.mark.usefixtures("on_a_gpu")
def test_the_command_says_which_format_a_model_was_loaded_in(half, capsys):
    assert invoke(["models", "check", str(half), SUITE, "--texts", "2", "--dtype", "auto"]) == 0
    assert "bfloat16" in capsys.readouterr().out


def test_jobs_of_a_cluster_and_who_collects_them_name_one_device(tmp_path):
    for gpus, device in ((1, "cuda"), (0, "cpu")):
        command = [
            "cluster",
            "slurm",
            SUITE,
            "-m",
            "demo-causal",
            "-o",
            str(tmp_path),
            "--gpus",
            str(gpus),
        ]
        assert invoke(command) == 0
        assert f'device = "{device}"' in (tmp_path / "slurm" / "run.toml").read_text("utf-8")
