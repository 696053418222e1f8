"""A classifier on sentence vectors: which sentences it takes, its vectors, and its command."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from cimento import UsageError, load_suite, pairs
from cimento.cli.main import invoke
from cimento.kinds.registry import sentence_suite
from cimento.models.hf.sites import sentence_vectors
from cimento.models.registry import open_scorer
from cimento.models.settings import Asking
from cimento.paradigms.ratings.probe import labeled_sentences


def suite_named(name: str):
    return sentence_suite(load_suite(name))


def test_the_labels_are_those_of_predictions_designs_and_ratings():
    agreement = labeled_sentences(suite_named("it-subject-verb"))
    assert (len(agreement.texts), sum(agreement.acceptable)) == (72, 24)
    assert len(set(agreement.groups)) == 24
    islands = labeled_sentences(suite_named("it-islands"))
    assert (len(islands.texts), sum(islands.acceptable)) == (720, 540)
    two = labeled_sentences(pairs([("The dog is here.", "The dog are here.")], language="en"))
    assert dict(zip(two.texts, two.acceptable, strict=True)) == {
        "The dog is here.": True,
        "The dog are here.": False,
    }
    rated = labeled_sentences(suite_named("it-acceptability"))
    assert (len(rated.texts) + rated.left_out, rated.left_out) == (120, 24)


@pytest.mark.parametrize("name", ["demo-causal", "demo-masked"])
def test_a_vector_is_the_mean_of_the_states_of_one_text_alone(name):
    inside = open_scorer(name, Asking(device="cpu")).inside()
    texts = ["Il cane dorme.", "Le zie cantano una lunga canzone in giardino."]
    together = sentence_vectors(inside, texts, layer=2)
    for text, vector in zip(texts, together, strict=True):
        encoded = inside.tokenizer(text, return_tensors="pt")
        special = inside.tokenizer.get_special_tokens_mask(
            encoded["input_ids"][0].tolist(), already_has_special_tokens=True
        )
        with torch.inference_mode():
            states = inside.model(**encoded, output_hidden_states=True).hidden_states[2][0]
        kept = states[[place for place, mark in enumerate(special) if not mark]]
        assert np.allclose(vector, kept.double().mean(dim=0).numpy(), atol=1e-4)
    with pytest.raises(UsageError, match="the model has"):
        sentence_vectors(inside, texts, layer=99)


def test_the_command_says_how_well_acceptable_sentences_are_told(capsys):
    asked = ["analyze", "probe", "it-subject-verb", "-m", "demo-causal"]
    assert invoke(asked) == 0
    out = capsys.readouterr().out
    assert "AUC: how often an acceptable sentence is above one that is not" in out
    assert invoke([*asked, "--json", "--folds", "4"]) == 0
    [probe] = json.loads(capsys.readouterr().out)["probes"]
    assert (probe["sentences"], probe["acceptable"], probe["folds"]) == (72, 24, 4)
    assert probe["low"] < probe["auc"] < probe["high"]
    assert invoke([*asked, "-m", "kenlm:none.arpa"]) == 2
    assert invoke([*asked, "--folds", "40"]) == 2
    assert "there are 24 groups of sentences" in capsys.readouterr().err
    assert invoke(["analyze", "probe", "it-idioms", "-m", "demo-causal"]) == 2
