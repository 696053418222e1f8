"""The digest of weights, which is remembered only while these stay the same."""

from __future__ import annotations

import hashlib

import pytest
import torch
from transformers import AutoTokenizer

import cimento
from cimento.models import weights
from cimento.models.weights import weights_digest
from tests.helpers import zoo


class Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = torch.nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.narrow = torch.nn.Parameter(torch.ones(5, dtype=torch.bfloat16))
        self.register_buffer("count", torch.tensor(3))


@pytest.fixture
def hashed(monkeypatch):
    """The number of pieces hashed since."""
    pieces: list[int] = []
    hash_piece = weights._hash

    def noted(piece):
        pieces.append(len(piece))
        return hash_piece(piece)

    monkeypatch.setattr(weights, "_hash", noted)
    return pieces


def test_the_digest_is_that_of_names_types_shapes_and_bytes(monkeypatch):
    monkeypatch.setattr(weights, "PIECE_BYTES", 16)
    expected = hashlib.sha256()
    for written, data in (
        ("count torch.int64 ()", (3).to_bytes(8, "little")),
        ("narrow torch.bfloat16 (5,)", b"\x80\x3f" * 5),
        ("one torch.float32 (2, 3)", torch.arange(6.0).numpy().tobytes()),
    ):
        for start in range(0, len(data), 16):
            expected.update(written.encode())
            expected.update(hashlib.sha256(data[start : start + 16]).digest())
    assert weights_digest(Two()) == expected.hexdigest()


def test_weights_that_stay_the_same_are_hashed_once(hashed):
    model = Two()
    digest = weights_digest(model)
    assert sorted(hashed) == [8, 10, 24]
    assert weights_digest(model) == digest
    assert len(hashed) == 3


def by_optimizer(model):
    model.one.sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()


def behind_torch(model):
    model.one.data[0, 0] += 1.0


def by_loading(model):
    model.load_state_dict(Two().state_dict() | {"count": torch.tensor(4)})


def by_another_tensor(model):
    model.one = torch.nn.Parameter(model.one.detach().flip(0).clone())


@pytest.mark.parametrize("change", [by_optimizer, behind_torch, by_loading, by_another_tensor])
def test_weights_that_change_in_any_way_get_another_digest(change):
    model = Two()
    digest = weights_digest(model)
    change(model)
    assert weights_digest(model) != digest
    assert weights_digest(Two()) == digest


def test_weights_made_in_inference_mode_have_a_digest():
    with torch.inference_mode():
        model = Two()
    assert weights_digest(model) == weights_digest(Two())


def test_weights_are_hashed_only_where_answers_are_kept(hashed, zoo_folder, tmp_path):
    model = zoo.model("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(zoo_folder("gpt2"))
    suite = cimento.pairs([("Il gatto dorme.", "Il gatto dormono.")], name="cats")

    first = cimento.evaluate(suite, model, tokenizer=tokenizer)
    cimento.score(["Il gatto."], model, tokenizer=tokenizer)
    assert hashed == []
    with torch.no_grad():
        model.base_model.wte.weight[3, 2] += 1
    second = cimento.evaluate(suite, model, tokenizer=tokenizer)
    assert hashed == []
    assert first.model != second.model, "another model has another name all the same"

    stored = cimento.evaluate(suite, model, tokenizer=tokenizer, output=tmp_path)
    assert hashed != []
    assert stored.manifest["model"]["revision"] == weights_digest(model)
    again = cimento.evaluate(suite, model, tokenizer=tokenizer)
    assert again.model == stored.model, "a hash that is known is used"
    scores = [run.table("tokens")["logprob_nats"] for run in (second, stored, again)]
    assert scores[0].equals(scores[1])
    assert scores[0].equals(scores[2])
