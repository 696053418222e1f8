"""What is said of names without a model, other folders, and checkpoints that do not load."""

from __future__ import annotations

import json
import shutil

import pytest

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.models.hf.files import locate
from tests.helpers.whole_path import load_folder


@pytest.fixture(scope="module")
def here(zoo_folder, tmp_path_factory):
    """A folder with a model, a folder of checkpoints, and one with a GGUF file."""
    folder = tmp_path_factory.mktemp("here")
    shutil.copytree(zoo_folder("gpt2"), folder / "models" / "first")
    for step in (100, 200, 1000):
        inside = folder / "steps" / f"checkpoint-{step}"
        inside.mkdir(parents=True)
        (inside / "config.json").write_text("{}", "utf-8")
    (folder / "quantized").mkdir()
    (folder / "quantized" / "a.gguf").touch()
    return folder


@pytest.fixture(autouse=True)
def inside(here, monkeypatch):
    monkeypatch.chdir(here)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("models/first@main", "models/first is a folder on this machine, .* Give models/first"),
        ("steps@200", r"only names on the hub have revisions. Give its check\w+, steps/\w+-200"),
        ("steps@checkpoint-100", "Give its checkpoint, steps/checkpoint-100"),
        ("steps@300", "Give steps"),
        ("steps", "not a model, and holds 3: checkpoint-100, checkpoint-200, checkpoint-1000"),
        ("steps", "that you mean: -m steps/checkpoint-100 -m steps/checkpoint-200 -m steps/c"),
        ("", "model '': the name is empty. Give a folder, org/name@revision"),
        ("  ", "the name is empty"),
        ("demo-casual", r"no such model here, and the \w+ .*\. Did you mean 'demo-causal'"),
        ("models/frist", "Did you mean 'models/first'"),
        ("./models/frist", "Did you mean 'models/first'"),
        ("quantized", "the file a.gguf. Give -m gguf:quantized/a.gguf"),
        ("quantized/a.gguf", "this is a file, .* Give gguf:quantized/a.gguf"),
        ("models/first/config.json", "Give its folder: models/first"),
        ("https://huggingface.co/org/name/tree/main", "Give the name alone: org/name"),
        ("http://127.0.0.1:8000/v1", r"kind of server .* openai:http://127.0.0.1:8000/v1, or"),
        ("models/first@" + "x" * 300, "Give models/first"),
        ("x" * 300, "nor downloadable"),
    ],
)  # fmt: skip
def test_what_may_be_meant_by_a_name_without_a_model(name, said):
    with pytest.raises(UsageError, match=said):
        locate(name)


def test_of_many_checkpoints_a_few_are_listed(tmp_path):
    for step in range(1, 12):
        (tmp_path / f"step{step}").mkdir()
        (tmp_path / f"step{step}" / "config.json").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match=r"holds 11: step1, step2, \.\.\., step11\."):
        locate(str(tmp_path))


def test_a_tokenizer_is_named_like_a_model():
    with pytest.raises(UsageError, match=r"tokenizer 'models/first@x': .* Give models/first"):
        locate("demo-causal", tokenizer="models/first@x")


@pytest.mark.parametrize("command", [["study", "agreement"], ["score", "suite.txt"]])
def test_every_command_asks_what_was_meant(command, here, capsys):
    (here / "suite.txt").write_text("Le zie cantano.\n", "utf-8")
    assert invoke([*command, "-m", "demo-casual"]) == 2
    assert "Did you mean 'demo-causal'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["models/first", "-m", "it-subject-verb"], "it-subject-verb -m models/first`"),
        (["gpt2", "-m", "it-subject-verb"], "no suite is called 'gpt2'"),
        (["it-subject-verb", "demo-causal"], "it-subject-verb -m demo-causal`"),
        (["it-subject-verb", "-m", "it-idioms"], "it-subject-verb it-idioms -m MODEL`"),
        (["demo-causal"], "SUITE -m demo-causal`"),
        (
            ["it-idioms", "demo-causal", "-m", "demo-masked"],
            "it-idioms -m demo-masked -m demo-causal`",
        ),
    ],
)
@pytest.mark.parametrize("command", ["run", "plan"])
def test_suites_and_models_that_look_swapped(command, arguments, said, capsys):
    assert invoke([command, *arguments]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert f"Did you mean `cimento {command} " in printed
    assert "Suites come first, models after -m." in printed


def test_a_folder_of_suites_is_no_model(tmp_path, capsys):
    assert invoke(["suites", "new", "pairs", str(tmp_path / "all" / "mine")]) == 0
    capsys.readouterr()
    assert invoke(["plan", str(tmp_path / "all"), "-m", "demo-causal"]) == 0


@pytest.fixture
def broken(zoo_folder, tmp_path):
    """A model whose config is another one."""

    def made(config):
        folder = shutil.copytree(zoo_folder("gpt2"), tmp_path / "broken")
        if not isinstance(config, str):
            whole = json.loads((folder / "config.json").read_text("utf-8"))
            config = json.dumps({**whole, **config})
        (folder / "config.json").write_text(config, "utf-8")
        return folder

    return made


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('{"architectures": [', r"config\.json cannot be read .* Copy the file from the model"),
        ("[]", r"config\.json is not a JSON object"),
        ({"model_type": "foo"}, "transformers does not know its type, 'foo'. Upgrade"),
        ({"vocab_size": 50}, "its weights have other sizes than its config.json says"),
    ],
)
def test_a_config_is_to_blame_for_its_own_faults(broken, config, said):
    with pytest.raises(ModelError, match=said):
        load_folder(broken(config))


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("gpt2", "masked", r"kind='masked': model '\w+' \(GPT2LMHeadModel\) is a causal"),
        ("gpt2", "seq2seq", "is a causal language model. Leave the option out"),
        ("modernbert", "causal", r"\(ModernBertForMaskedLM\) is a masked"),
    ],
)
def test_a_kind_that_a_model_is_not(zoo_folder, name, kind, said):
    with pytest.raises(UsageError, match=said):
        load_folder(zoo_folder(name), kind=kind)


def test_a_vocabulary_that_is_too_small_names_the_model(zoo_folder, tmp_path):
    from transformers import AutoModelForCausalLM

    folder = shutil.copytree(zoo_folder("gpt2"), tmp_path / "small")
    model = AutoModelForCausalLM.from_pretrained(folder)
    model.resize_token_embeddings(100)
    model.save_pretrained(folder)
    with pytest.raises(ModelError, match=r"^model 'small', text 'Le .* the model knows 100 tokens"):
        cimento.score("Le zie cantano bene.", str(folder))


@pytest.mark.parametrize(
    ("device", "meant"),
    [("gpu", "cuda "), ("GPU:1", "cuda:1 "), ("0", "cuda:0 "), ("", "cuda ")],
)
def test_a_device_of_other_programs_leads_to_that_of_torch(device, meant, tmp_path):
    with pytest.raises(UsageError, match=f"no device of this name. Give {meant}"):
        cimento.evaluate("it-subject-verb", "demo-causal", device=device, output=tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_device_that_torch_does_not_know_is_said_without_a_list_of_all():
    with pytest.raises(UsageError, match=r"'quark' cannot be used here \(there is no such kind"):
        cimento.evaluate("it-subject-verb", "demo-causal", device="quark", limit=1)


@pytest.mark.parametrize(
    ("kept", "shards", "given", "said"),
    [
        ("*.json", "pytorch_model_fsdp_0", "",
         "shards of FSDP (pytorch_model_fsdp_0). Merge them first: `accelerate merge-weights"),
        ("*.json", "pytorch_model_fsdp_0", "pytorch_model_fsdp_0",
         "`accelerate merge-weights sharded/pytorch_model_fsdp_0 sharded`."),
        ("none", "pytorch_model_fsdp_0", "",
         "sharded`; then copy config.json and the tokenizer's files there"),
        ("*.json", "global_step9", "",
         "(global_step9). Merge them first: `python sharded/zero_to_fp32.py sharded sharded --"),
    ],
)  # fmt: skip
def test_a_checkpoint_in_shards_says_how_to_merge_them(
    kept, shards, given, said, zoo_folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    inside = tmp_path / "sharded" / shards
    inside.mkdir(parents=True)
    if "fsdp" in shards:
        (inside / "__0_0.distcp").touch()
    (inside.parent / "training_args.bin").touch()
    for path in zoo_folder("gpt2").glob(kept):
        shutil.copy(path, inside.parent)
    model = str(inside.parent.relative_to(tmp_path) / given)
    assert invoke(["run", "it-subject-verb", "-m", model]) != 0
    assert said in capsys.readouterr().err
    # With whole weights beside the shards, nothing is refused.
    for path in zoo_folder("gpt2").iterdir():
        shutil.copy(path, inside.parent)
    assert locate("sharded").folder.name == "sharded"
    assert invoke(["run", "it-subject-verb", "-m", "sharded"]) == 0
