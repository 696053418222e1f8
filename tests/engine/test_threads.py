"""Models on a GPU: this process encodes the next texts while it waits for them."""

from __future__ import annotations

import dataclasses
import math
import tempfile
import threading
import time

import pytest

import cimento
from cimento.engine.cache import FileCache
from cimento.io.helper_process import HelperProcess
from cimento.models.base import Score
from cimento.testing.models import FakeScorer

PAIRS = [(f"The dog number {n} barks.", f"The dog number {n} bark.") for n in range(600)]


def by_length(tokens, index):
    return -math.log(3 + len(tokens[index]) + index)


class OnGpu(FakeScorer):
    """A model that says it is on a GPU, and notes who encodes while it computes."""

    def __init__(self, patience_s: float = 30.0) -> None:
        super().__init__(by_length, name="on-gpu")
        super().encode([Score(text) for pair in PAIRS for text in pair])  # the ids of all words
        self.encoded = threading.Semaphore(0)
        self.computing = threading.Lock()
        self.units = self.beside = 0
        self.threads: set[str] = set()
        self.patience_s = patience_s

    @property
    def card(self):
        return dataclasses.replace(super().card, device="cuda:0")

    def encode(self, requests):
        encoded = super().encode(requests)
        self.encoded.release()
        return encoded

    def score(self, encoded):
        assert self.computing.acquire(blocking=False), "two threads ask the model at once"
        self.threads.add(threading.current_thread().name)
        self.units += 1
        self.encoded.acquire(timeout=self.patience_s)  # that of this unit
        if self.units < 5:  # the last has no next
            self.beside += self.encoded.acquire(timeout=self.patience_s)
            self.encoded.release()
        values = super().score(encoded)
        self.computing.release()
        return values


class Failing(OnGpu):
    def score(self, encoded):
        if self.units == 3:
            raise cimento.errors.ModelError(where="model", seen="it is gone", todo="Wait.")
        return super().score(encoded)


@pytest.fixture
def suite():
    return cimento.pairs(PAIRS, name="dogs", language="en")


def test_the_next_texts_are_encoded_while_the_model_computes(suite, tmp_path):
    model, cache = OnGpu(), FileCache(tmp_path / "cache")
    run = cimento.evaluate(suite, model, output=tmp_path / "gpu", cache=cache)
    assert (model.units, model.beside) == (5, 4)
    assert model.threads == {"cimento-model"}
    plain = cimento.evaluate(suite, FakeScorer(by_length), output=tmp_path / "cpu")
    for name in ("tokens", "requests"):
        assert run.table(name).equals(plain.table(name))
    assert run.outcomes()["value"].to_list() == plain.outcomes()["value"].to_list()
    assert cache.count() == 2 * len(PAIRS)
    cache.close()


def test_a_model_that_fails_beside_another_unit_ends_the_run_with_its_message(suite, tmp_path):
    with pytest.raises(cimento.errors.ModelError, match="it is gone"):
        cimento.evaluate(suite, Failing(), output=tmp_path)
    run = cimento.evaluate(suite, OnGpu(patience_s=0.0), output=tmp_path)
    assert run.n_items == len(PAIRS)


class Patient(OnGpu):
    """A model that answers the last unit only when the first run is stored."""

    def __init__(self, runs, *, last: int) -> None:
        super().__init__()
        self.runs, self.last, self.stored = runs, last, False

    def score(self, encoded):
        self.units += 1
        if self.units == self.last:
            end = time.monotonic() + self.patience_s
            while not self.stored and time.monotonic() < end:
                self.stored = any(self.runs.rglob("manifest.json"))
                time.sleep(0.01)
        return FakeScorer.score(self, encoded)


def test_a_suite_is_judged_and_stored_while_the_model_answers_the_next(tmp_path):
    parts = [PAIRS[start : start + 200] for start in (0, 200, 400)]
    suites = [cimento.pairs(part, name=f"dogs-{n}") for n, part in enumerate(parts)]
    model = Patient(tmp_path / "gpu", last=6)
    runs = list(cimento.evaluate_all(suites, model, output=tmp_path / "gpu"))
    assert (model.units, model.stored) == (6, True)
    plain = cimento.evaluate_all(suites, FakeScorer(by_length), output=tmp_path / "cpu")
    for run, other in zip(runs, plain, strict=True):
        assert run.table("tokens").equals(other.table("tokens"))
        assert run.outcomes()["value"].to_list() == other.outcomes()["value"].to_list()
        assert run.suite_name == other.suite_name


def test_suites_of_which_the_first_is_stored_already_are_answered(tmp_path):
    first, *others = (cimento.pairs(PAIRS[:n], name=f"dogs-{n}") for n in (50, 60, 70))
    cimento.evaluate(first, OnGpu(0.0), output=tmp_path)
    runs = list(cimento.evaluate_all([first, *others], OnGpu(0.0), output=tmp_path))
    assert [run.n_items for run in runs] == [50, 60, 70]


@pytest.mark.slow
def test_many_suites_are_stored_by_another_process_byte_for_byte_as_here(tmp_path, monkeypatch):
    suites = []
    for n in range(0, 360, 40):
        suites.append(tmp_path / f"dogs-{n}.tsv")
        rows = [
            "good\tbad",
            *("\t".join(pair) for pair in PAIRS[n : n + 40]),
            "The the old cat.\tNobody ever sings.",
        ]
        suites[-1].write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked: list[int] = []

    class Counting(OnGpu):
        def score(self, encoded):
            asked.append(len(encoded))
            return FakeScorer.score(self, encoded)

    stored = []
    call = HelperProcess.call

    def noted(self, function, *args, **kwargs):
        result = call(self, function, *args, **kwargs)
        stored.append(self._process is not None)
        return result

    monkeypatch.setattr(HelperProcess, "call", noted)
    folders = [tmp_path / "there" / "runs", tmp_path / "here" / "runs"]
    for folder, some in ((folders[0], [suites]), (folders[1], [suites[:5], suites[5:]])):
        for part in some:
            for run in cimento.evaluate_all(part, Counting(0.0), output=folder):
                assert run.n_items == 41
                assert f"{run.suite.name}.tsv" in {path.name for path in part}
                assert [f"CIM-S0{n}" in "".join(run.warnings) for n in (33, 55, 60)] == [True] * 3
                assert run.summary() == cimento.open_run(run.folder).summary()
    assert stored == [True] * len(suites)
    # One pair is in all suites. Units are asked in the order in which they are encoded.
    parts = (asked[:9], asked[9:14], asked[14:])
    assert [sorted(part) for part in parts] == [[80] * 8 + [82], [80] * 4 + [82], [80] * 3 + [82]]
    here = {path.relative_to(folders[1]) for path in folders[1].rglob("*.parquet")}
    assert here == {path.relative_to(folders[0]) for path in folders[0].rglob("*.parquet")}
    assert len(here) >= 4 * len(suites)
    for path in here:
        assert (folders[0] / path).read_bytes() == (folders[1] / path).read_bytes()
    for there, again in zip(*map(cimento.open_runs, folders), strict=True):
        assert there.estimates() == again.estimates()


def test_answers_go_to_the_cache_while_the_model_answers_the_next(suite, tmp_path, monkeypatch):
    monkeypatch.setattr("cimento.engine.added.KEPT_TOGETHER", 2)
    cache, other = FileCache(tmp_path / "cache"), FileCache(tmp_path / "cache")
    counted = []

    class Late(OnGpu):
        """A model that gives its last answer only when another process could read the first."""

        def score(self, encoded):
            self.units += 1
            end = time.monotonic() + self.patience_s
            while self.units == 5 and not other.count() and time.monotonic() < end:
                time.sleep(0.01)
            counted.append(other.count())
            return FakeScorer.score(self, encoded)

    cimento.evaluate(suite, Late(), output=tmp_path / "runs", cache=cache)
    assert counted[:2] == [0, 0]
    assert 0 < counted[-1] < 2 * len(PAIRS)
    assert cache.count() == other.count() == 2 * len(PAIRS)
    assert not list((tmp_path / "runs").rglob("*.added"))


class HalfOnGpu(OnGpu):
    """A model in half precision, which can be loaded in float32."""

    device_name = "a GPU"

    def __init__(self) -> None:
        super().__init__(0.0)
        self._card = dataclasses.replace(self._card, device="cuda:0", dtype="bfloat16")
        self.widened = 0

    @property
    def card(self):
        return self._card

    @card.setter
    def card(self, card):
        self._card = card

    def score(self, encoded):
        return FakeScorer.score(self, encoded)

    def in_float32(self):
        self.widened += 1
        time.sleep(0.2)  # other units come to the same point meanwhile
        return FakeScorer(lambda tokens, index: by_length(tokens, index) - 0.001 * len(tokens[0]))


def test_units_that_wait_for_the_measure_of_half_precision_do_not_wait_for_each_other(suite):
    model, runs = HalfOnGpu(), []

    def evaluated(folder):
        runs.append(cimento.evaluate(suite, model, output=folder))

    with tempfile.TemporaryDirectory() as folder:
        thread = threading.Thread(target=evaluated, args=(folder,), daemon=True)
        thread.start()
        thread.join(60)
        assert not thread.is_alive()
    assert (model.widened, runs[0].n_items) == (1, len(PAIRS))
