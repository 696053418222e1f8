"""Options for transformers, and adapters: what they change, what is recorded, what is refused."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

import cimento
from cimento import Asking, ModelError, Policy, UsageError, open_source
from cimento.cli.main import invoke
from cimento.engine.cache import FileCache
from cimento.errors import MissingDependencyError
from cimento.models.hf.arguments import for_transformers, parse_model_args
from cimento.models.hf.files import locate
from cimento.models.hf.layout import plain_logprobs, refuse_foresight
from cimento.models.registry import open_scorer
from cimento.paradigms import Score
from tests.helpers import zoo
from tests.helpers.plain import TEXTS

HAS_ACCELERATE = importlib.util.find_spec("accelerate") is not None


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> Path:
    return zoo.save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


def opened(folder, **model_args):
    asking = Asking(device="cpu", policy=Policy(model_args=model_args))
    return open_scorer(str(folder), asking)


def scores(scorer) -> list[np.ndarray]:
    encoded = scorer.encode([Score(text=text) for text in TEXTS])
    return scorer.score(encoded)


def largest_difference(one, other) -> float:
    return max(np.abs(a - b).max() for a, b in zip(scores(one), scores(other), strict=True))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(value=JSON)
def test_a_value_is_json(value):
    assert parse_model_args([f"key={json.dumps(value)}"]) == {"key": value}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("attn_implementation=eager", {"attn_implementation": "eager"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=", {"a": ""}),
        (" a = 1 ", {"a": 1}),
        ("a={not json}", {"a": "{not json}"}),
    ],
)
def test_or_else_text(text, expected):
    assert parse_model_args([text]) == expected


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["eager"], "not KEY=VALUE"), (["=1"], "not KEY=VALUE"), (["a=1", "a=2"], "given twice")],
)
def test_what_is_no_option_is_refused(texts, message):
    with pytest.raises(UsageError, match=message):
        parse_model_args(texts)


UNTRUSTED = {"trust_remote_code": False, "use_safetensors": True, "weights_only": True}


def test_keys_of_max_memory_are_numbers_for_gpus():
    ready = for_transformers(
        {"max_memory": {"0": "10GiB", "cpu": "30GiB"}}, quantized=False, device="cuda"
    )
    assert ready == {"max_memory": {0: "10GiB", "cpu": "30GiB"}, **UNTRUSTED}


def test_quantized_weights_go_to_the_device_at_once():
    ready = for_transformers({}, quantized=True, device="cuda:1")
    assert ready == {"device_map": {"": "cuda:1"}, **UNTRUSTED}
    args = {"quantization_config": {"load_in_4bit": True}, "device_map": "auto"}
    assert for_transformers(args, quantized=False, device="cpu") == {**args, **UNTRUSTED}


def test_transformers_is_given_the_option_and_scores_stay(gpt2):
    eager = opened(gpt2, attn_implementation="eager")

    assert eager._model.config._attn_implementation == "eager"
    assert opened(gpt2)._model.config._attn_implementation == "sdpa"
    assert largest_difference(eager, opened(gpt2)) < 1e-5


def test_an_option_that_changes_scores_has_a_cache_a_folder_and_a_manifest_of_its_own(
    gpt2, tmp_path
):
    cache = FileCache(tmp_path / "kept")
    whole, cut = [
        cimento.evaluate(
            "en-subject-verb", str(gpt2), device="cpu", model_args=a, output=tmp_path, cache=cache
        )
        for a in ({}, {"n_layer": 1})
    ]
    cache.close()

    tokens = [run.table("tokens") for run in (whole, cut)]
    assert not tokens[0]["logprob_nats"].equals(tokens[1]["logprob_nats"])
    assert len(list(tmp_path.rglob("manifest.json"))) == 2
    assert cut.manifest["inputs"]["model_args"] == {"n_layer": 1}
    assert cut.manifest["asking"]["policy"]["model_args"] == {"n_layer": 1}
    fresh = cimento.evaluate("en-subject-verb", str(gpt2), device="cpu", model_args={"n_layer": 1})
    assert fresh.table("tokens").equals(tokens[1])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("atn_implementation=eager", "Did you mean 'attn_implementation'"),
        ("dtype=float16", "--dtype"),
        ("trust_remote_code=true", "--trust-remote-code"),
        ("allow_pickle=true", "--allow-pickle"),
        ("weights_only=false", "--allow-pickle"),
        ("use_safetensors=false", "--allow-pickle"),
        ("token=secret", "HF_TOKEN"),
        ("load_in_8bit=true", "quantization_config"),
        ("nothing", "not KEY=VALUE"),
    ],
)
@pytest.mark.parametrize("command", ["run", "score"])
def test_an_option_that_cannot_be_given_ends_in_one_message(
    gpt2, tmp_path, capsys, command, option, message
):
    (tmp_path / "texts.txt").write_text("I cani corrono.")
    asked = "en-subject-verb" if command == "run" else str(tmp_path / "texts.txt")
    code = invoke([command, asked, "-m", str(gpt2), "--model-args", option])

    printed = capsys.readouterr()
    assert code == 2
    assert message in printed.err
    assert printed.err.startswith("cimento: --model-args")


def test_a_value_that_transformers_refuses_is_told_with_its_option(gpt2):
    with pytest.raises(ModelError, match="attn_implementation") as caught:
        opened(gpt2, attn_implementation="imaginary")
    assert "Check model_args='attn_implementation" in str(caught.value)


def test_only_models_of_transformers_take_options(tmp_path):
    (tmp_path / "r.tsv").write_text("")
    asking = Asking(policy=Policy(model_args={"attn_implementation": "eager"}))

    with pytest.raises(UsageError, match="model_args"):
        open_source(f"replay:{tmp_path / 'r.tsv'}", asking)


def test_options_in_python_are_plain_values():
    with pytest.raises(UsageError, match="JSON"):
        Policy(model_args={"quantization_config": object()})


@pytest.mark.skipif(HAS_ACCELERATE, reason="accelerate is installed")
def test_a_missing_package_is_named(gpt2):
    with pytest.raises(ModelError, match="pip install accelerate") as caught:
        opened(gpt2, device_map="auto")
    assert caught.value.todo == "Install the package that is named there."


@pytest.mark.skipif(not HAS_ACCELERATE, reason="accelerate is not installed")
def test_transformers_may_choose_the_devices(gpt2):
    chosen = opened(gpt2, device_map="auto", max_memory={"cpu": "1GiB"})

    assert largest_difference(chosen, opened(gpt2)) < 1e-5


@pytest.fixture
def adapter(gpt2, tmp_path) -> Path:
    """A folder as peft saves it, with weights for the attention of the first layer."""
    rng = np.random.default_rng(5)
    name = "base_model.model.transformer.h.0.attn.c_attn.lora_{}.weight"
    config = {
        "peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 2, "lora_alpha": 4,
        "target_modules": ["c_attn"], "layers_to_transform": [0], "fan_in_fan_out": True,
        "base_model_name_or_path": str(gpt2),
    }  # fmt: skip
    weights = {
        name.format("A"): torch.from_numpy(rng.normal(0, 0.3, (2, 32)).astype("float32")),
        name.format("B"): torch.from_numpy(rng.normal(0, 0.3, (96, 2)).astype("float32")),
    }
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file(weights, folder / "adapter_model.safetensors")
    return folder


def rewrite(adapter: Path, **changes) -> None:
    path = adapter / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_an_adapter_is_found_with_its_model_and_has_a_revision_of_its_own(gpt2, adapter):
    located = locate(str(adapter))

    assert (located.name, located.folder) == ("adapter", gpt2)
    assert located.tokenizer_folder == gpt2
    before = located.revision
    rewrite(adapter, lora_alpha=8)
    assert len({before, locate(str(adapter)).revision, locate(str(gpt2)).revision}) == 3


def test_the_tokenizer_is_the_adapters_where_one_was_saved(adapter):
    (adapter / "tokenizer_config.json").write_text("{}")

    assert locate(str(adapter)).tokenizer_folder == adapter


def test_an_adapter_without_peft_says_what_to_install(adapter, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(MissingDependencyError, match=r"pip install 'cimento\[peft\]'"):
        opened(adapter)


def test_an_adapter_beside_a_whole_model_is_not_passed_over_without_peft(
    gpt2, adapter, tmp_path, monkeypatch
):
    both = tmp_path / "both"
    shutil.copytree(gpt2, both)
    shutil.copytree(adapter, both, dirs_exist_ok=True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(MissingDependencyError):
        opened(both)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"base_model_name_or_path": ""}, "does not say which model"),
        ({"base_model_name_or_path": "./nowhere"}, "there is no such folder"),
    ],
)
def test_an_adapter_without_its_model_is_refused(adapter, change, message):
    rewrite(adapter, **change)
    with pytest.raises((ModelError, UsageError), match=message):
        locate(str(adapter))


@pytest.mark.parametrize("content", ["", "[]", "{"])
def test_a_damaged_config_of_an_adapter_is_refused(adapter, content):
    (adapter / "adapter_config.json").write_text(content)
    with pytest.raises(ModelError, match=r"adapter_config\.json"):
        locate(str(adapter))


def test_an_adapter_of_an_adapter_is_refused(adapter, tmp_path):
    second = tmp_path / "second"
    shutil.copytree(adapter, second)
    rewrite(second, base_model_name_or_path=str(adapter))

    with pytest.raises(ModelError, match="is an adapter itself"):
        locate(str(second))


def merged(gpt2: Path, adapter: Path, folder: Path) -> Path:
    """The model with the adapter's product added to its weights, without peft.

    W + (alpha / r) B A, transposed as GPT-2's Conv1D has it (Hu et al. 2021, section 4.1,
    doi:10.48550/arXiv.2106.09685).
    """
    shutil.copytree(gpt2, folder)
    weights = load_file(folder / "model.safetensors")
    low = load_file(adapter / "adapter_model.safetensors")
    a, b = (low[f"base_model.model.transformer.h.0.attn.c_attn.lora_{x}.weight"] for x in "AB")
    weights["transformer.h.0.attn.c_attn.weight"] += (4 / 2) * (b @ a).T
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def test_an_adapter_scores_as_the_model_with_its_product_added(gpt2, adapter, tmp_path):
    pytest.importorskip("peft", reason="peft is not installed")
    scorer = opened(adapter)

    assert scorer.card.details["adapter"] == f"LORA on {gpt2}"
    assert largest_difference(scorer, opened(gpt2)) > 1e-2
    assert largest_difference(scorer, opened(merged(gpt2, adapter, tmp_path / "merged"))) < 1e-5


def test_an_adapter_beside_its_model_scores_the_same(gpt2, adapter, tmp_path):
    pytest.importorskip("peft", reason="peft is not installed")
    both = tmp_path / "both"
    shutil.copytree(gpt2, both)
    shutil.copytree(adapter, both, dirs_exist_ok=True)

    assert largest_difference(opened(both), opened(adapter)) == 0.0


def test_an_adapter_that_lacks_weights_is_refused(adapter):
    pytest.importorskip("peft", reason="peft is not installed")
    weights = load_file(adapter / "adapter_model.safetensors")
    name = next(name for name in weights if "lora_B" in name)
    del weights[name]
    save_file(weights, adapter / "adapter_model.safetensors")

    with pytest.raises(ModelError, match="1 of the adapter's weights are not in its files"):
        opened(adapter)


def test_quantized_arithmetic_that_mixes_tokens_is_told_from_a_masked_model():
    model = zoo.model("bert-cased")
    ids = list(range(5, 25))

    with pytest.raises(ModelError, match="kind='masked'"):
        refuse_foresight(model, plain_logprobs(model, ids), ids, name="bert")
    model.is_quantized = True
    with pytest.raises(ModelError, match="llm_int8_threshold"):
        refuse_foresight(model, plain_logprobs(model, ids), ids, name="bert")
