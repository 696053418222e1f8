"""Passes that begin after a prefix: the scores of whole passes, for every architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cimento.engine.handle import ModelHandle
from cimento.models.answering import patcher
from cimento.models.base import Score
from cimento.models.hf import interchange
from cimento.models.hf.interchange import Interchange
from cimento.models.hf.prefixes import TOGETHER
from cimento.models.questions import Patch, PatchedScores
from cimento.models.settings import Asking, BatchLimits

if TYPE_CHECKING:
    import torch

BASE = "Questa mattina presto la lampada sul tavolo della cucina è rossa."
SOURCE = "Questa mattina presto la tavola sul tavolo della cucina è rossa."
SHARING = {
    "demo-causal": True, "gpt2": True, "llama": True, "bloom": True, "opt": True, "falcon": True,
    "mamba": False, "bert": False, "t5": False,
}  # fmt: skip


def span(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


def refuse(*_given: object) -> None:
    raise TypeError("no such argument")


def asks(part: str) -> list[Patch]:
    return [
        Patch(
            base=Score(base, wanted=(span(base, of),)),
            source=Score(source, wanted=(span(source, of),)),
            place=span(base, at[0]),
            source_place=span(source, at[1]),
            part=part,
            last=True,
        )
        for base, source, at in (
            (BASE, SOURCE, ("lampada", "tavola")),
            (SOURCE, BASE, ("tavola", "lampada")),
            (BASE, SOURCE, ("cucina", "cucina")),
        )
        for of in ("rossa", "è")
    ]


@pytest.mark.parametrize("name", SHARING)
def test_a_prefix_changes_no_score(name, zoo_folder, monkeypatch):
    scorer = ModelHandle(name if name == "demo-causal" else str(zoo_folder(name)), Asking()).scorer
    limits = BatchLimits(tokens=256)
    shared = Interchange(scorer, limits=limits)
    assert shared.shares_prefixes is SHARING[name]
    with monkeypatch.context() as patched:
        patched.setattr(interchange, "recorded", refuse)
        whole = Interchange(scorer, limits=limits)
    parts = ["residual"] if name == "mamba" else ["residual", "attention", "heads"]
    for part in parts:
        requests = asks(part)
        found, expected = (dict(model.patch(requests)) for model in (shared, whole))
        for number in range(len(requests)):
            assert found[number].tokens == expected[number].tokens
            for cell, other in zip(found[number].cells, expected[number].cells, strict=True):
                assert cell[:2] == other[:2]
                assert list(cell[2]) == pytest.approx(list(other[2]), abs=2e-4)


def test_fewer_tokens_go_through_the_layers():
    scorer = ModelHandle("demo-causal", Asking()).scorer
    exchanging = patcher(scorer)
    widths = []

    def note(_module: object, _args: object, given: dict[str, object]) -> None:
        if given.get("past_key_values") is not None:
            widths.append(given["input_ids"].shape[1])

    with scorer.inside().model.base_model.register_forward_pre_hook(note, with_kwargs=True):
        [(_, scores)] = exchanging.patch(asks("residual")[4:5])
    [encoded] = scorer.encode([Score(BASE)])
    at = next(i for i, place in enumerate(encoded.spans) if place[0] == BASE.index("cucina"))
    assert scores.cells
    assert min(widths) < len(encoded.ids) - at + TOGETHER


def test_a_model_that_refuses_a_cache_is_passed_whole_sequences(zoo_folder, monkeypatch):
    scorer = ModelHandle(str(zoo_folder("gpt2")), Asking()).scorer
    monkeypatch.setattr(interchange, "recorded", refuse)
    model = Interchange(scorer, limits=BatchLimits(tokens=256))
    assert model.shares_prefixes is False
    assert dict(model.patch(asks("residual")))[0].cells


def test_two_verbs_after_the_same_words_need_one_pass():
    scorer = ModelHandle("demo-causal", Asking()).scorer
    pairs = [(f"La lampada è {verb}", f"Le lampade è {verb}") for verb in ("rossa", "verde")]
    requests = [
        Patch(
            base=Score(base, wanted=((13, 14),)),
            source=Score(source, wanted=((14, 15),)),
            place=(0, 10),
            source_place=(0, 10),
        )
        for base, source in pairs
    ]
    exchanging = patcher(scorer)
    rows = []

    def note(_module: object, _args: object, given: dict[str, torch.Tensor]) -> None:
        rows.append(len(given["input_ids"]))

    def asked(some: list[Patch]) -> tuple[dict[int, PatchedScores], int]:
        rows.clear()
        with scorer.inside().model.base_model.register_forward_pre_hook(note, with_kwargs=True):
            return dict(exchanging.patch(some)), sum(rows)

    both, together = asked(requests)
    one, alone = asked(requests[:1])
    other, _ = asked(requests[1:])
    assert together == alone
    for cell, expected in zip(both[0].cells + both[1].cells, one[0].cells + other[0].cells,
                              strict=True):  # fmt: skip
        assert list(cell[2]) == pytest.approx(list(expected[2]), abs=2e-4)
