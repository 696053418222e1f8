"""When memory runs out, batches get smaller and scores stay as they are."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cimento
from cimento import Asking, ModelError
from cimento.cli.main import invoke
from cimento.models.hf.batches import Asks, Memory
from cimento.models.hf.layout import find_layout
from cimento.models.hf.room import DoesNotFitError, asked_bytes, is_out_of_memory
from cimento.models.registry import open_scorer
from cimento.paradigms import Score
from tests.engine.test_requests import make_suite
from tests.helpers import zoo
from tests.helpers.plain import TEXTS

# As devices say it: CUDA, MPS (torch 2.6, `MPSAllocator.mm`), the CPU on Linux and on Windows
# (`CPUAllocator.cpp`), cuBLAS, and numpy.
ERRORS = {
    "cuda": torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    "mps": RuntimeError("MPS backend out of memory (MPS allocated: 9.04 GB, max: 9.07 GB)."),
    "linux": RuntimeError(
        "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory:"
        " you tried to allocate 400 bytes. Error code 12 (Cannot allocate memory)"
    ),
    "windows": RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4"),
    "cublas": RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
    "numpy": MemoryError("Unable to allocate 4.00 GiB"),
}
SPECIES = (
    *("gpt2", "albert"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("bloom", "mistral", "bert-cased")),
)
LONG = "Le chiavi degli armadi che la vicina aprì ieri mattina erano già arrugginite."
WIDE = [f"{LONG[:-1]} {text}" for text in TEXTS] * 2 + list(TEXTS)


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    return functools.cache(lambda name: zoo.save(name, tmp_path_factory.mktemp(name)))


def opened(folder, budget=2048):
    return open_scorer(str(folder), Asking(device="cpu", batch_tokens=budget))


def scores(scorer):
    # A masked model reads a text once for each of its tokens.
    texts = WIDE[:3] if scorer.card.kind == "masked" else WIDE
    encoded = scorer.encode([Score(text=text) for text in texts])
    return scorer.score(encoded)


class Device:
    """A device for a model, which has no memory for batches of more than some tokens."""

    def __init__(self, monkeypatch, scorer, holds: int, error: Exception = ERRORS["cuda"]) -> None:
        self.asked: list[int] = []
        self.refused = 0
        base = scorer._model.base_model
        forward = base.forward

        def limited(*args, **kwargs):
            size = (args[0] if args else kwargs["input_ids"]).numel()
            self.asked.append(size)
            if size > holds:
                self.refused += 1
                raise error
            return forward(*args, **kwargs)

        monkeypatch.setattr(base, "forward", limited)


@pytest.mark.parametrize("name", SPECIES)
def test_scores_stay_as_they_are(monkeypatch, folder_of, name):
    expected = scores(opened(folder_of(name)))
    scorer = opened(folder_of(name))
    device = Device(monkeypatch, scorer, holds=200)

    again = scores(scorer)

    assert device.refused > 0
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIES)
def test_what_did_not_fit_is_not_tried_again(monkeypatch, folder_of, name):
    scorer = opened(folder_of(name))
    device = Device(monkeypatch, scorer, holds=200)
    scores(scorer)
    device.asked.clear()

    scores(scorer)

    assert max(device.asked) <= 200
    [remark] = scorer.remarks([])
    assert "memory did not hold a batch of" in remark


@pytest.mark.slow
@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_every_device_is_understood(monkeypatch, folder_of, error):
    scorer = opened(folder_of("gpt2"))
    device = Device(monkeypatch, scorer, 200, error)

    assert all(np.isfinite(values).all() for values in scores(scorer))
    assert device.refused > 0


def test_a_text_that_does_not_fit_alone_ends_in_one_message(monkeypatch, folder_of):
    scorer = opened(folder_of("gpt2"))
    Device(monkeypatch, scorer, holds=20)

    with pytest.raises(DoesNotFitError, match=r"does not hold one row of \d+ tokens") as caught:
        scores(scorer)
    assert isinstance(caught.value, ModelError)


def test_other_errors_are_not_taken_for_it(monkeypatch, folder_of):
    scorer = opened(folder_of("bert-cased"))
    device = Device(monkeypatch, scorer, 200, RuntimeError("mat1 and mat2 must have one dtype"))

    with pytest.raises(RuntimeError, match="mat1"):
        scores(scorer)
    assert device.refused == 1
    assert not is_out_of_memory(ValueError("out of memory"))


def test_a_run_says_so_in_its_warnings_and_only_then(monkeypatch, folder_of, tmp_path):
    items = ({"good": f"Ieri | {text} | Sì.", "bad": f"Ieri | {text} | No."} for text in TEXTS)
    suite = make_suite("(*;%good%) < (*;%bad%)", *items)
    scorer = opened(folder_of("gpt2"))
    before = cimento.evaluate(suite, scorer).warnings

    Device(monkeypatch, scorer, holds=100)
    run = cimento.evaluate(suite, scorer, output=tmp_path)

    [warning] = set(run.warnings) - set(before)
    assert warning in run.manifest["warnings"]
    assert "--batch-tokens" in warning


@settings(deadline=None)
@given(
    lines=st.integers(1, 9),
    width=st.integers(1, 7),
    spare=st.integers(0, 30),
    data=st.data(),
)
def test_every_ask_is_served_where_it_was_asked_and_no_part_is_too_large(lines, width, spare, data):
    ids = torch.arange(lines * width).reshape(lines, width)
    rows = data.draw(st.sets(st.integers(0, lines * width - 1)))
    numbers = np.array(sorted(rows), dtype=np.int64)
    asks = Asks(rows=numbers, targets=numbers, places=numbers)
    holds = width + spare
    served = []

    def work(inputs, wanted):
        flat = inputs["input_ids"].reshape(-1)
        if len(flat) > holds:
            raise ERRORS["cuda"]
        assert flat[torch.from_numpy(wanted.rows)].tolist() == wanted.targets.tolist()
        served.extend(wanted.places.tolist())

    memory = Memory()
    memory.spend({"input_ids": ids}, asks, work)

    assert sorted(served) == sorted(rows)
    assert memory.budget is None or memory.budget < lines * width
    assert bool(memory.remarks) == (bool(rows) and lines * width > holds)


class NarrowHead:
    """A device for a model, on which the scores of more than some positions do not fit."""

    def __init__(self, monkeypatch, scorer, holds: int) -> None:
        self.asked: list[int] = []
        self._holds = holds
        head = scorer._model.get_output_embeddings()
        self._forward = head.forward
        monkeypatch.setattr(head, "forward", self)

    def __call__(self, hidden):
        self.asked.append(hidden.numel() // hidden.shape[-1])
        if self.asked[-1] > self._holds:
            raise ERRORS["cuda"]
        return self._forward(hidden)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPECIES)
def test_a_head_that_does_not_fit_takes_fewer_positions_from_then_on(monkeypatch, folder_of, name):
    expected = scores(opened(folder_of(name)))
    scorer = opened(folder_of(name))
    device = NarrowHead(monkeypatch, scorer, holds=5)

    again = scores(scorer)

    assert max(device.asked) > 5
    for one, other in zip(expected, again, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
    device.asked.clear()
    scores(scorer)
    assert max(device.asked) <= 5


def test_the_scores_of_one_position_must_fit(monkeypatch, folder_of):
    scorer = opened(folder_of("bert-cased"))
    NarrowHead(monkeypatch, scorer, holds=0)

    with pytest.raises(DoesNotFitError, match="all words at one position"):
        scores(scorer)


def test_the_head_takes_the_rows_of_several_batches_together(monkeypatch, folder_of):
    scorer = opened(folder_of("bert-cased"), budget=60)
    transformer = Device(monkeypatch, scorer, holds=10_000)
    head = NarrowHead(monkeypatch, scorer, holds=10_000)

    scores(scorer)

    assert len(transformer.asked) > 10
    assert len([rows for rows in head.asked if rows]) == 1


def full(*_args, **_options):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")


@pytest.mark.parametrize("where", ["from_pretrained", "to"])
def test_weights_that_do_not_fit_are_one_message_with_sizes(
    monkeypatch, folder_of, where, tmp_path, capsys
):
    path = folder_of("gpt2")
    (tmp_path / "pairs.tsv").write_text("good\tbad\nIl cane dorme.\tIl cane dormono.\n", "utf-8")
    if where == "to":
        monkeypatch.setattr("transformers.PreTrainedModel.to", full)
    else:
        monkeypatch.setattr("transformers.GPT2LMHeadModel.from_pretrained", full)
    monkeypatch.setattr("cimento.models.hf.room.free_bytes", lambda _: 3_000_000_000)
    # Four bytes for each.
    monkeypatch.setattr("cimento.models.hf.loading.count_parameters", lambda _: 4_000_000_000)

    assert invoke(["run", str(tmp_path / "pairs.tsv"), "-m", str(path), "--no-cache"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"memory does not hold the weights of {path.name!r} in float32" in said
    assert "(16.0 GB needed, 3.0 GB free)" in said
    assert "--dtype" in said
    assert "report" not in said


@pytest.mark.parametrize("where", ["inputs", "pass"])
def test_lack_of_memory_in_probes_chooses_no_slower_layout(monkeypatch, folder_of, where):
    model = opened(folder_of("gpt2")).inside().model
    forward, passes = model.base_model.forward, iter([True])

    def limited(*args, **options):
        return forward(*args, **options) if next(passes, False) else full()

    if where == "inputs":
        monkeypatch.setattr("cimento.models.hf.layout.padded", full)
    else:
        monkeypatch.setattr(model.base_model, "forward", limited)
    with pytest.raises(DoesNotFitError, match=r"the two short texts|one row of 5 tokens"):
        find_layout(model, (7, 8, 9), (7, 8, 9, 10, 11), padding=0)


def test_a_model_that_fills_memory_when_it_is_tried_is_told_with_its_size(monkeypatch, folder_of):
    monkeypatch.setattr("transformers.GPT2Model.forward", full)
    with pytest.raises(DoesNotFitError, match=r"what the model .* computes \(< 0.1 GB needed"):
        opened(folder_of("gpt2"))


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("Tried to allocate 2.00 GiB. GPU 0 has", 2 * 2**30),
        ("you tried to allocate 400 bytes.", 400),
        ("Unable to allocate 4.00 MiB for an array", 4 * 2**20),
        ("out of memory", None),
        ("tried to allocate 1.2.3 GiB", None),
        ("tried to allocate . GiB", None),
    ],
)
def test_what_could_not_be_had_is_read_from_the_message(said, size):
    assert asked_bytes(RuntimeError(said)) == size
