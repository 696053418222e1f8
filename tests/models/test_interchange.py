"""Interchanges of hidden states: what is found where it is known, and what any model must obey."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cimento import UsageError
from cimento.engine.handle import ModelHandle
from cimento.models.answering import patcher
from cimento.models.base import Score
from cimento.models.questions import Part, Patch, PatchedScores
from cimento.models.settings import Asking, BatchLimits
from tests.helpers import copying

TOLERANCE = 2e-4


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    return ModelHandle(str(copying.save(tmp_path_factory.mktemp("copier"))), Asking()).scorer


def span(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


def patch(base: str, source: str, *, at: tuple[str, str], of: str, **more: object) -> Patch:
    return Patch(
        base=Score(base, wanted=(span(base, of),)),
        source=Score(source, wanted=(span(source, of),)),
        place=span(base, at[0]),
        source_place=span(source, at[1]),
        **more,
    )


def answers(scorer, asks, **limits) -> list[PatchedScores]:
    by_number = dict(patcher(scorer, limits=BatchLimits(**limits)).patch(asks))
    return [by_number[number] for number in range(len(asks))]


def by_layer(scores: PatchedScores) -> dict[object, float]:
    return {
        layer if head is None else (layer, head): sum(nats) for layer, head, nats in scores.cells
    }


def logprob(scorer, text: str, of: str) -> float:
    return float(scorer.score(scorer.encode([Score(text, wanted=(span(text, of),))]))[0].sum())


ONE, MANY = "the cat here often runs fast", "the cats here often runs fast"


def test_the_copying_head_and_nothing_else_is_found(copier):
    plain, other = logprob(copier, ONE, "runs"), logprob(copier, MANY, "runs")
    assert plain - other > 3
    parts: dict[tuple[str, Part], dict[object, float]] = {}
    for region in (("cat", "cats"), ("here", "here"), ("often", "often")):
        for part in ("residual", "attention", "mlp", "heads"):
            [scores] = answers(copier, [patch(ONE, MANY, at=region, of="runs", part=part)])
            effects = {key: plain - value for key, value in by_layer(scores).items()}
            parts[region[0], part] = {k: round(e / (plain - other), 4) for k, e in effects.items()}
    assert parts["cat", "residual"] == {0: 1, 1: 1, 2: 0}
    assert parts["here", "residual"] == {0: 0, 1: 0, 2: 0}
    assert parts["often", "residual"] == {0: 0, 1: 0, 2: 1}
    heads = {(layer, head): 0 for layer in (1, 2) for head in (0, 1)}
    assert parts["often", "heads"] == {**heads, (copying.LAYER, copying.HEAD): 1}
    assert parts["often", "attention"] == {1: 0, 2: 1}
    everywhere = {region for region, _ in parts}
    assert all(set(parts[region, "mlp"].values()) == {0} for region in everywhere)
    assert all(set(parts[region, "heads"].values()) == {0} for region in ("cat", "here"))


# An architecture each: plain, tuples that hand on biases, positions in one row, shared layers.
ZOO = ("gpt2", "llama", "bloom", "opt", "falcon", "bert", "albert", "deberta-v2", "t5", "bart")


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_everything_gives_the_other_text_and_nothing_changes_nothing(name, zoo_folder):
    scorer = ModelHandle(str(zoo_folder(name)), Asking()).scorer
    text = "La casa è rossa e la porta è chiusa."
    other = "La rossa è casa e la porta è chiusa."
    whole = ("La casa è rossa", "La rossa è casa")
    same = patch(text, text, at=(whole[0], whole[0]), of="chiusa", part="residual")
    full = patch(text, other, at=whole, of="chiusa")
    parts = [same, replace(same, part="heads"), full]
    unchanged, heads, full = answers(scorer, parts)
    plain, expected = logprob(scorer, text, "chiusa"), logprob(scorer, other, "chiusa")
    assert abs(plain - expected) > 0.01
    assert list(by_layer(unchanged).values()) == pytest.approx(
        [plain] * len(unchanged.cells), abs=TOLERANCE
    )
    assert list(by_layer(heads).values()) == pytest.approx(
        [plain] * len(heads.cells), abs=TOLERANCE
    )
    assert full.alignment == "exact"
    # After a layer, what follows the region has read the base; before the first, nothing has.
    assert by_layer(full)[0] == pytest.approx(expected, abs=TOLERANCE)


def _many(count: int) -> list[Patch]:
    words = ["lampada", "casa", "strada", "porta vecchia", "finestra", "sedia"]
    asks = []
    for number in range(count):
        one, other = words[number % 6], words[(number + 1) % 6]
        base, source = (f"La {word} di ieri è rossa, dice Anna." for word in (one, other))
        part = ("residual", "attention", "heads")[number % 3]
        asks.append(patch(base, source, at=(one, other), of="rossa", part=part))
    return asks


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo-causal", "demo-masked"])
def test_neither_the_batch_nor_the_order_changes_a_number(name):
    scorer = ModelHandle(name, Asking()).scorer
    asks = _many(9)
    together = answers(scorer, asks)
    order = np.random.default_rng(5).permutation(9).tolist()
    shuffled = answers(scorer, [asks[number] for number in order])
    for place, number in enumerate(order):
        assert by_layer(shuffled[place]) == pytest.approx(by_layer(together[number]), abs=TOLERANCE)
    alone = [answers(scorer, [ask], sequences=2)[0] for ask in asks]
    for one, whole in zip(alone, together, strict=True):
        assert by_layer(one) == pytest.approx(by_layer(whole), abs=TOLERANCE)


def test_the_same_by_hand_on_a_causal_model():
    # A forward pass of the model itself with a hook of torch, one text at a time.
    scorer = ModelHandle("demo-causal", Asking()).scorer
    base, source = "La lampada è rossa.", "La casa è rossa."
    [scores] = answers(scorer, [patch(base, source, at=("lampada", "casa"), of="rossa", last=True)])
    assert scores.alignment in ("exact", "last token")
    asked, other = scorer.encode([Score(base, wanted=(span(base, "rossa"),)), Score(source)])
    inside = scorer.inside().model
    at = max(i for i, (start, _) in enumerate(asked.spans) if 3 <= start < 10)
    from_at = max(i for i, (start, _) in enumerate(other.spans) if 3 <= start < 7)
    with torch.inference_mode():
        states = inside(torch.tensor([other.ids]), output_hidden_states=True).hidden_states
        for layer in range(1, len(states) - 1):
            block = next(
                m for m in inside.base_model.modules() if isinstance(m, torch.nn.ModuleList)
            )

            def put(_module, _args, output, state=states[layer][0, from_at]):
                hidden = output[0] if isinstance(output, tuple) else output
                hidden[0, at] = state
                return output

            with block[layer - 1].register_forward_hook(put):
                table = inside(torch.tensor([asked.ids])).logits[0].double().log_softmax(-1)
            expected = sum(table[i - 1, asked.ids[i]].item() for i in asked.wanted)
            assert by_layer(scores)[layer] == pytest.approx(expected, abs=TOLERANCE)


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


def test_alignments_are_named(copier):
    pairs = [
        (ONE, MANY, ("cat", "cats"), "exact"),
        ("the cat here runs", "the fast cats here runs", ("here", "here"), "shifted"),
        ("the cat here runs", "the cats here often runs", ("here", "here often"), "last token"),
    ]
    asks = [patch(base, source, at=at, of="runs") for base, source, at, _ in pairs]
    patched = answers(copier, asks)
    assert [scores.alignment for scores in patched] == [alignment for *_, alignment in pairs]


def test_a_place_after_which_nothing_is_measured_has_no_cells(copier):
    [scores] = answers(copier, [patch(ONE, MANY, at=("fast", "fast"), of="runs")])
    assert (scores.alignment, scores.cells) == ("", ())


def test_a_model_without_heads_says_so(zoo_folder):
    scorer = ModelHandle(str(zoo_folder("mamba")), Asking()).scorer
    with pytest.raises(UsageError, match="have no such part"):
        answers(scorer, [patch(ONE, MANY, at=("cat", "cats"), of="runs", part="heads")])
    [scores] = answers(scorer, [patch(ONE, MANY, at=("cat", "cats"), of="runs")])
    assert np.isfinite(list(by_layer(scores).values())).all()


# PYTHONPATH=. python -c 'from tests.helpers import zoo; zoo.save("gpt2", "FOLDER")'
# python scripts/oracles/interchanges.py FOLDER 0,44,65,394,65,348,102,221,82,292,83
#     0,44,65,278,282,289,348,102,221,82,292,83 4,5 65    (nnsight 0.8.1, transformers 5.24.0)
NNSIGHT = {
    "residual": {1: -5.498627740407965, 2: -5.322464022205579},
    "attention": {1: -5.306694818282615, 2: -5.322464022205579},
    "heads": {
        (1, 0): -5.244276346687821, (1, 1): -5.1970607611106825, (1, 2): -5.364348764857322,
        (1, 3): -5.182899883601891, **{(2, head): -5.322464022205579 for head in range(4)},
    },
}  # fmt: skip


@pytest.mark.parametrize("part", NNSIGHT)
def test_nnsight_gives_the_same(part, zoo_folder):
    scorer = ModelHandle(str(zoo_folder("gpt2")), Asking()).scorer
    base, source = "La casa è rossa", "La porta è rossa"
    ask = Patch(
        base=Score(base, wanted=((14, 15),)),
        source=Score(source, wanted=((15, 16),)),
        place=span(base, "casa"),
        source_place=span(source, "porta"),
        part=part,
        last=True,
    )
    [scores] = answers(scorer, [ask])
    layers = {key: value for key, value in by_layer(scores).items() if key != 0}
    assert layers == pytest.approx(NNSIGHT[part], abs=5e-6)
