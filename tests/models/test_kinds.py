"""The kind of a model is where its class or config says it; options for others are told."""

from __future__ import annotations

import json

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel

import cimento
from cimento import UsageError
from cimento.models.hf.files import kind_in

TEXT = "The keys are here."


@pytest.fixture
def tokenizer(zoo_folder):
    return AutoTokenizer.from_pretrained(zoo_folder("gpt2"))


def bits(model, tokenizer):
    return cimento.score(TEXT, model, tokenizer=tokenizer)["surprisal_bits"].to_list()


def test_a_class_of_ones_own_has_the_kind_of_its_base(zoo_folder, tokenizer):
    class Mine(GPT2LMHeadModel):
        """A class whose name says nothing."""

    plain = GPT2LMHeadModel.from_pretrained(zoo_folder("gpt2")).eval()
    mine = Mine.from_pretrained(zoo_folder("gpt2")).eval()
    assert bits(mine, tokenizer) == bits(plain, tokenizer)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # of peft itself
@pytest.mark.parametrize("task", [None, "CAUSAL_LM"])
def test_a_model_that_peft_wraps_has_the_scores_of_the_merged_weights(task, zoo_folder, tokenizer):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    base = AutoModelForCausalLM.from_pretrained(zoo_folder("gpt2")).eval()
    before = bits(base, tokenizer)
    config = peft.LoraConfig(
        r=2, target_modules=["c_attn"], task_type=task, init_lora_weights=False, fan_in_fan_out=True
    )
    wrapped = peft.get_peft_model(base, config).eval()
    with_adapter = bits(wrapped, tokenizer)
    assert with_adapter != pytest.approx(before, abs=1e-3)
    assert bits(wrapped.merge_and_unload(), tokenizer) == pytest.approx(with_adapter, abs=1e-4)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # of peft itself
def test_an_adapter_that_puts_tokens_before_texts_is_refused(zoo_folder, tokenizer):
    peft = pytest.importorskip("peft", reason="peft is not installed")
    base = AutoModelForCausalLM.from_pretrained(zoo_folder("gpt2")).eval()
    config = peft.PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM")
    with pytest.raises(UsageError, match=r"PromptTuningConfig\) puts tokens of its own"):
        bits(peft.get_peft_model(base, config).eval(), tokenizer)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"auto_map": {"AutoConfig": "c.C", "AutoModelForCausalLM": "m.Mine"}}, "causal"),
        ({"auto_map": {"AutoModelForMaskedLM": "m.Mine"}}, "masked"),
        ({"auto_map": {"AutoModelForSeq2SeqLM": "m.Mine"}}, "seq2seq"),
        ({"auto_map": {"AutoModelForMaskedLM": "m.A", "AutoModelForCausalLM": "m.B"}}, None),
        ({"auto_map": ["AutoModelForCausalLM"]}, None),
        (
            {"auto_map": {"AutoModelForMaskedLM": "m.A"}, "architectures": ["XForCausalLM"]},
            "causal",
        ),
    ],
)
def test_the_config_of_custom_code_says_which_kind_it_is(config, kind):
    assert kind_in({"architectures": ["Mine"], **json.loads(json.dumps(config))}) == kind


def test_a_pll_for_a_causal_model_is_refused_or_told():
    with pytest.raises(UsageError, match=r"pll='original'.* for masked models, and demo-causal"):
        cimento.score(TEXT, "demo-causal", pll="original")
    pairs = cimento.pairs([(TEXT, "The keys is here.")], language="en")
    told = "--pll=original has no effect: it is for masked models, and this one is causal."
    assert told in cimento.evaluate(pairs, "demo-causal", pll="original").warnings
    for model, options in (("demo-masked", {"pll": "original"}), ("demo-causal", {}),
                           ("demo-causal", {"compat": "minicons"})):  # fmt: skip
        run = cimento.evaluate(pairs, model, **options)
        assert not [warning for warning in run.warnings if "--pll" in warning]


def test_comparing_one_run_in_python_names_no_command():
    pairs = cimento.pairs([(TEXT, "The keys is here.")], language="en")
    with pytest.raises(UsageError) as caught:
        cimento.compare(cimento.evaluate(pairs, "demo-causal"))
    assert str(caught.value).startswith("compare: no suite was run by two models")
