"""Nothing in a model folder runs: no pickle, no code of its own, no template that reaches out."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import shutil
from pathlib import Path

import pytest
import torch

from cimento import CimentoError, ModelError, Policy
from cimento.cli.main import invoke
from cimento.models.answering import chat_template
from cimento.models.hf.files import locate
from cimento.models.hf.loading import load


class _Attack:
    """A pickle that makes a folder where it is opened."""

    def __init__(self, trace: Path) -> None:
        self._trace = str(trace)

    def __reduce__(self):
        return os.mkdir, (self._trace,)


@pytest.fixture
def trace(tmp_path):
    """What an attack would leave behind; it must not be there in the end."""
    path = tmp_path / "attacked"
    yield path
    assert not path.exists()


@pytest.fixture
def model(zoo_folder, tmp_path):
    return Path(shutil.copytree(zoo_folder("gpt2"), tmp_path / "model"))


def opened(folder, **args):
    return load(locate(str(folder)), policy=Policy(model_args=args), device="cpu")


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def without_safetensors(model):
    """The weights of a model, which then has none in its folder."""
    from safetensors.torch import load_file

    weights = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    return weights


def test_the_attack_works_where_pickles_are_opened(tmp_path):
    content = pickle.dumps(_Attack(tmp_path / "made"))

    pickle.loads(content)  # noqa: S301  # our own: that the tests below could fail at all

    assert (tmp_path / "made").is_dir()


@pytest.mark.parametrize("allowed", [False, True])
def test_a_pickle_in_the_place_of_weights_is_not_run(allowed, model, trace):
    without_safetensors(model)
    torch.save({"weights": _Attack(trace)}, model / "pytorch_model.bin")

    with pytest.raises(ModelError, match="cannot be loaded"):
        opened(model, **({"allow_pickle": True} if allowed else {}))


def test_weights_that_are_no_safetensors_are_taken_where_they_are_trusted(
    model, capsys, monkeypatch
):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(model / "cache"))
    expected = opened(model)
    torch.save(without_safetensors(model), model / "pytorch_model.bin")
    with pytest.raises(ModelError, match="allow_pickle=True"):
        opened(model)

    scorer = opened(model, allow_pickle=True)

    for name, weight in expected._model.state_dict().items():
        assert torch.equal(weight, scorer._model.state_dict()[name])
    text = model / "text.txt"
    text.write_text("Le lampade sono accese.\n")
    assert invoke(["score", str(text), "-m", str(model)]) == 1
    assert "--allow-pickle" in capsys.readouterr().err
    assert invoke(["score", str(text), "-m", str(model), "--allow-pickle"]) == 0


def test_code_in_a_model_folder_is_not_run(model, trace):
    for name in ("attack.py", "modeling_x.py"):
        (model / name).write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    auto = {"AutoConfig": "attack.Config", "AutoModelForCausalLM": "modeling_x.Model"}
    edit(model / "config.json", auto_map=auto, model_type="of-its-own")

    with pytest.raises(CimentoError, match="trust_remote_code=True"):
        opened(model)


def test_code_of_a_tokenizer_is_not_run(model, trace):
    (model / "tokens.py").write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    auto = {"AutoTokenizer": ["tokens.Slow", "tokens.Fast"]}
    edit(model / "tokenizer_config.json", auto_map=auto, tokenizer_class="OfItsOwn")

    # It has a tokenizer.json, which says all that its class could.
    with contextlib.suppress(CimentoError):
        opened(model)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.mkdir('TRACE') }}",
        "{{ self.__init__.__globals__.__builtins__.__import__('os').mkdir('TRACE') }}",
        "{{ messages.append.__self__.__class__.__base__.__subclasses__() }}",
        "{{ lipsum.__globals__['os'].mkdir('TRACE') }}",
    ],
)
def test_a_chat_template_reaches_nothing(template, model, trace):
    (model / "chat_template.jinja").write_text(template.replace("TRACE", str(trace)))
    render = chat_template(opened(model))
    assert render is not None

    with pytest.raises(Exception, match=r"unsafe|undefined|not safe|has no"):
        render([("user", "Ciao.")])


def test_code_that_comes_with_a_model_is_a_part_of_what_it_is(model):
    before = locate(str(model)).revision
    (model / "modeling_x.py").write_text("")

    assert locate(str(model)).revision != before


def adapter(folder, **config):
    """The config of an adapter, and weights that would make a folder where they are opened."""
    folder.mkdir(exist_ok=True)
    settings = {"peft_type": "LORA", "r": 2, "target_modules": ["c_attn"], **config}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize("beside", [False, True])
def test_a_pickled_adapter_is_not_opened(beside, model, tmp_path, trace, monkeypatch):
    """Neither one that belongs on a model, nor one that lies in the folder of the model."""
    pytest.importorskip("peft", reason="peft is not installed")
    opened_files = []
    monkeypatch.setattr(torch, "load", lambda path, **_: opened_files.append(path))
    folder = adapter(model if beside else tmp_path / "adapter", base_model_name_or_path=str(model))
    (folder / "adapter_model.bin").write_bytes(pickle.dumps(_Attack(trace)))

    with pytest.raises(ModelError, match=r"no adapter_model\.safetensors"):
        opened(folder)
    assert opened_files == []


def test_an_adapter_that_names_a_module_is_refused(model, tmp_path, trace, monkeypatch):
    (tmp_path / "attack_by_name.py").write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    named = {"megatron_config": {"x": 1}, "megatron_core": "attack_by_name"}
    folder = adapter(tmp_path / "adapter", base_model_name_or_path=str(model), **named)

    with pytest.raises(ModelError, match="names a module to be imported"):
        opened(folder)


@pytest.mark.parametrize("nested", [False, True])
def test_a_config_that_asks_for_kernels_of_the_hub_is_refused(nested, model):
    asked = {"attn_implementation": "somebody/fast-attention"}
    edit(model / "config.json", **({"text_config": asked} if nested else asked))

    with pytest.raises(ModelError, match="code of the hub"):
        opened(model)


@pytest.mark.parametrize("args", [{"attn_implementation": "a/b"}, {"use_kernels": True}])
def test_options_that_ask_for_kernels_of_the_hub_need_trust_too(args, model):
    with pytest.raises(ModelError, match=r"code of the hub.*trust_remote_code=True"):
        opened(model, **args)


def index(model, file, name="model.safetensors.index.json"):
    """An index that says that one file holds all weights of a model."""
    weights = without_safetensors(model)
    content = {"metadata": {}, "weight_map": dict.fromkeys(weights, file)}
    (model / name).write_text(json.dumps(content))
    return weights


@pytest.fixture
def unpickled(monkeypatch):
    """The files that torch was told to load."""
    seen = []
    load_file = torch.load
    monkeypatch.setattr(torch, "load", lambda *a, **k: seen.append(a) or load_file(*a, **k))
    return seen


def test_an_index_of_safetensors_names_no_pickle(model, unpickled):
    torch.save(index(model, "pytorch_model.bin"), model / "pytorch_model.bin")

    with pytest.raises(ModelError, match=r"pytorch_model\.bin.*allow_pickle=True"):
        opened(model)
    assert not unpickled
    opened(model, allow_pickle=True)
    assert unpickled


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("outside", ["../{}", "{folder}/{}", "sub/../../{}", "..\\{}"])
def test_an_index_names_no_file_elsewhere(outside, allowed, model, tmp_path):
    name = outside.format("stolen.safetensors", folder=tmp_path)
    index(model, name)

    with pytest.raises(ModelError, match="not in the model's folder"):
        opened(model, **({"allow_pickle": True} if allowed else {}))


def test_an_index_that_names_safetensors_is_followed(model):
    from safetensors.torch import save_file

    weights = index(model, "part-1.safetensors")
    save_file(weights, model / "part-1.safetensors", metadata={"format": "pt"})

    assert opened(model).card.kind == "causal"


def test_a_config_names_no_pickle_for_its_weights(model, unpickled):
    """transformers makes an exception for this very name."""
    torch.save(without_safetensors(model), model / "adapter_model.bin")
    edit(model / "config.json", transformers_weights="adapter_model.bin")

    with pytest.raises(ModelError, match=r"transformers_weights.*allow_pickle=True"):
        opened(model)
    assert not unpickled
