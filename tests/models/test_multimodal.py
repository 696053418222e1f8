"""Models that also take images score text as their own forward pass does, without --kind."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from transformers import PreTrainedModel

from cimento.evaluation import evaluate
from cimento.models.hf.files import locate, model_kind
from cimento.models.in_memory import live_scorer
from cimento.paradigms import Score
from tests.helpers import plain, zoo
from tests.helpers.whole_path import ask, load_folder

TOLERANCE_NATS = 1e-5
TOKENIZER = "byte-bpe"
VOCABULARY = len(zoo.tokenizer(TOKENIZER))

_TEXT = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
    "head_dim": 8, "intermediate_size": 32, "max_position_embeddings": zoo.WINDOW,
    "vocab_size": VOCABULARY, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip
_IMAGES = {
    "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
    "patch_size": 4, "image_size": 8,
}  # fmt: skip
_QWEN_IMAGES = {
    "depth": 1, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "patch_size": 4,
    "mlp_ratio": 2, "intermediate_size": 32, "out_hidden_size": 16,
}  # fmt: skip
_MARKS = {
    name: VOCABULARY - number
    for number, name in enumerate(
        ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id"), 1
    )
}
_ROPE = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 1, 1]}
_QWEN = {
    "text_config": {**_TEXT, "rope_parameters": _ROPE}, "vision_config": _QWEN_IMAGES, **_MARKS
}  # fmt: skip
_QWEN3 = {
    "text_config": {**_TEXT, "rope_parameters": {**_ROPE, "mrope_interleaved": True}},
    "vision_config": {
        **_QWEN_IMAGES, "deepstack_visual_indexes": [0], "num_position_embeddings": 16
    },
    **_MARKS,
}  # fmt: skip
CLASSES = {
    "Gemma3": {"text_config": {**_TEXT, "sliding_window": 5}, "vision_config": _IMAGES},
    "Qwen2VL": _QWEN,
    "Qwen2_5_VL": _QWEN,
    "Qwen3VL": _QWEN3,
    "Mistral3": {
        "text_config": {"model_type": "mistral", **_TEXT},
        "vision_config": {"model_type": "pixtral", **_IMAGES},
    },
    "Llava": {
        "text_config": {"model_type": "llama", **_TEXT},
        "vision_config": {"model_type": "clip_vision_model", **_IMAGES},
    },
}


def class_of(name: str) -> type[PreTrainedModel]:
    return getattr(transformers, f"{name}ForConditionalGeneration")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A tiny random checkpoint of a class, by its name."""
    made: dict[str, Path] = {}

    def save(name: str) -> Path:
        if name not in made:
            config = getattr(transformers, f"{name}Config")(**CLASSES[name])
            with torch.random.fork_rng(devices=[]):
                model = class_of(name)(config).eval()
            zoo.fill(model)
            made[name] = tmp_path_factory.mktemp(name)
            model.save_pretrained(made[name])
            zoo.tokenizer(TOKENIZER).save_pretrained(made[name])
        return made[name]

    return save


@pytest.mark.parametrize("name", CLASSES)
def test_text_is_scored_as_by_the_class_itself(name, checkpoint):
    folder = checkpoint(name)
    model = class_of(name).from_pretrained(folder).eval()
    bos = [zoo.tokenizer(TOKENIZER).eos_token_id]

    scorer = load_folder(folder)
    answers = ask(scorer, plain.TEXTS)

    assert scorer.card.kind == "causal"
    assert scorer.card.details["architecture"] == f"{name}ForConditionalGeneration"
    assert scorer.card.window == zoo.WINDOW
    for text, answer in zip(plain.TEXTS, answers, strict=True):
        ids = plain.tokens_of(folder, text).ids
        assert answer.ids == ids
        assert answer.logprobs == pytest.approx(plain.causal(model, bos, ids), abs=TOLERANCE_NATS)


@pytest.mark.parametrize("name", CLASSES)
def test_its_layers_are_those_of_the_language_model(name, checkpoint):
    scorer = load_folder(checkpoint(name))
    encoded = scorer.encode([Score(plain.TEXTS[1])])
    [plainly] = scorer.score(encoded)
    [layered] = scorer.score_columns(encoded, ("logprob_nats_layer_2", "logprob_nats_layer_1"))

    assert scorer.count_layers() == 2
    # The last layer of all is what the model itself says.
    assert layered[:, 1] == pytest.approx(plainly, abs=TOLERANCE_NATS)
    assert layered[:, 2] != pytest.approx(plainly, abs=0.01)


def test_a_model_of_images_that_is_in_memory_needs_no_kind(checkpoint):
    folder = checkpoint("Qwen2VL")
    model = class_of("Qwen2VL").from_pretrained(folder).eval()
    scorer = live_scorer(model, zoo.tokenizer(TOKENIZER), name="mine")

    assert scorer.card.kind == "causal"
    assert ask(scorer, plain.TEXTS[:3]) == ask(load_folder(folder), plain.TEXTS[:3])


def test_a_suite_is_run_on_a_model_of_images(checkpoint):
    run = evaluate("it-subject-verb", str(checkpoint("Mistral3")), limit=2, device="cpu")

    assert run.manifest["model"]["kind"] == "causal"
    assert not run.outcomes().is_empty()


def test_an_encoder_decoder_of_the_same_ending_stays_one(zoo_folder):
    assert zoo.model("t5").__class__.__name__ == "T5ForConditionalGeneration"
    assert model_kind(locate(str(zoo_folder("t5")))) == "seq2seq"
