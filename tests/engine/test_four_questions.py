"""One engine for four questions: the same answers whoever does the units, kept, resumed, shared."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cimento import Asking, CimentoError, ModelError, UsageError
from cimento.engine.cache import FileCache
from cimento.engine.engines import Engine
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Work
from cimento.engine.units import UnitStore
from cimento.paradigms import Answers, Choose, Reply, Score
from tests.helpers import engines
from tests.helpers.asking import TwoRounds

CAUSAL, MASKED = "demo-causal", "demo-masked"
ALONE = Engine(workers=1)


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cache(here):
    opened = FileCache(here / "cache")
    yield opened
    opened.close()


def handle(name: str) -> ModelHandle:
    return ModelHandle(name, Asking(device="cpu"))


def jobs(*names: str) -> list[TwoRounds]:
    """For each model two jobs, which share some of what they ask; masked models write nothing."""
    made = []
    for name in names:
        model = handle(name)
        later = (Choose,) if name == MASKED else (Choose, Reply)
        made += [TwoRounds(model, later=later), TwoRounds(model, start=3, later=later)]
    return made


def plain(answers: Answers | CimentoError | None) -> object:
    """All that was answered, as one text."""
    assert isinstance(answers, Answers), answers
    tables = {name: answers.table(name).to_dict(as_series=False) for name in sorted(answers.tables)}
    return json.dumps([tables, answers.n, answers.warnings])


def run(names: tuple[str, ...], folder: str | None = None, **options) -> list[object]:
    store = None if folder is None else UnitStore.below(Path(folder))
    execution = Execution(
        jobs(*names), Work(**{"engine": ALONE, "device": "cpu"} | options, store=store)
    )
    return execution.run()


def units(folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.unit")
    }


def without_seconds(files: dict[str, bytes]) -> dict[str, bytes]:
    """The tables of units; what comes before them says how long they took."""
    return {name: content.split(b"\n", 2)[2] for name, content in files.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_answers_are_the_same_in_memory_in_files_and_from_two_processes():
    held = run((CAUSAL, MASKED))
    assert [sorted(answers.tables) for answers in held] == [
        ["choices", "fills", "replies", "tokens"]
    ] * 2 + [["choices", "fills", "tokens"]] * 2
    assert held[0].table("fills")["request"].unique().sort().to_list() == [1, 3, 5, 7, 9]
    assert held[0].table("choices")["request"].unique().sort().to_list() == [10, 12, 14]

    stored = run((CAUSAL, MASKED), "stored")
    spread = run((CAUSAL, MASKED), "spread", engine=Engine(workers=2))
    assert [*map(plain, held)] == [*map(plain, stored)] == [*map(plain, spread)]
    assert without_seconds(units("spread")) == without_seconds(units("stored"))


@pytest.mark.usefixtures("here")
def test_what_is_done_is_read_and_no_model_is_loaded(monkeypatch):
    first = run((CAUSAL,), "runs")
    before = units("runs")

    def refuse(_handle):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(ModelHandle, "scorer", property(refuse))
    again = run((CAUSAL,), "runs")
    assert [*map(plain, again)] == [*map(plain, first)]
    assert units("runs") == before


@pytest.mark.usefixtures("here")
def test_every_answer_is_kept_between_runs(cache, monkeypatch):
    first = run((CAUSAL, MASKED), "runs", cache=cache)
    known = cache.count()
    assert cache.verify() == []
    assert not list(Path("runs").rglob("*.added"))

    def refuse(*_arguments, **_options):
        raise AssertionError("the model was asked")

    for method in (
        "hf.prompts.CausalOptions.score_options", "answering.ScoredOptions.score_options",
        "hf.prompts.CausalReplier.reply", "hf.causal.CausalScorer.score",
        "hf.masked.MaskedScorer.score", "hf.fill_causal.CausalFiller.fill",
        "hf.masked.MaskedFiller.fill",
    ):  # fmt: skip
        monkeypatch.setattr(f"cimento.models.{method}", refuse)
    again = run((CAUSAL, MASKED), "elsewhere", cache=cache)
    assert [*map(plain, again)] == [*map(plain, first)]
    assert cache.count() == known


@pytest.mark.usefixtures("here")
def test_without_files_answers_are_kept_as_they_come(cache):
    model = handle(CAUSAL)
    [answers] = Execution([TwoRounds(model)], Work(engine=ALONE, cache=cache)).run()
    assert isinstance(answers, Answers)
    # Five texts; five blanks, and their options in ten texts; three of each later question.
    assert cache.count() == 5 + 5 + 10 + 3 + 3


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("order", [(2, 0, 1), pytest.param((0, 1, 2), marks=pytest.mark.slow)])
def test_shares_are_put_together_and_the_last_asks_what_comes_later(order, monkeypatch):
    alone = run((CAUSAL, MASKED), "alone")
    for number in order:
        share = Engine(workers=1, share=(number, 3))
        assert run((CAUSAL, MASKED), "shares", engine=share) == [None] * 4
        ended = run((CAUSAL, MASKED), "shares", ask=False)
        if number != order[-1]:
            assert any(isinstance(ending, ModelError) for ending in ended)
    monkeypatch.setattr(ModelHandle, "scorer", property(lambda _: pytest.fail("it was loaded")))
    collected = run((CAUSAL, MASKED), "shares", ask=False)
    assert [*map(plain, collected)] == [*map(plain, alone)]


@pytest.mark.usefixtures("here")
def test_what_is_missing_is_counted_in_units():
    [first, second] = run((CAUSAL,), "runs", ask=False)
    assert str(first) == (
        "words from 0: 2 of 2 units are missing. Run again: what is done stays done."
    )
    # Two of its five words are asked by the first.
    assert "4 of 4 units are missing" in str(second)


@pytest.mark.usefixtures("here")
def test_a_model_that_does_not_answer_such_questions_fails_alone():
    made = [
        TwoRounds(handle(MASKED), later=(Reply,)),
        TwoRounds(handle(CAUSAL)),
        TwoRounds(handle("counted:broken"), kinds=(Score,)),
    ]
    refused, answered, broken = Execution(made, Work(engine=ALONE)).run()
    assert isinstance(refused, UsageError)
    assert "writes no replies" in str(refused)
    assert isinstance(answered, Answers)
    assert isinstance(broken, ModelError)
    assert "its weights are not there" in str(broken)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("store", [None, "runs"])
def test_an_error_over_a_text_names_its_request(store):
    made = [TwoRounds(handle("counted:nan"), start=start, kinds=(Score,), later=())
            for start in (10, 30)]  # fmt: skip
    where = None if store is None else UnitStore.below(Path(store))
    failed, answered = Execution(made, Work(engine=ALONE, store=where)).run()
    assert "request 4" in str(failed)
    assert "La sedia 14 è rossa." in str(failed)
    assert isinstance(answered, Answers)


@pytest.mark.usefixtures("here")
def test_files_of_units_that_are_damaged_are_told_and_done_again():
    first = run((CAUSAL,), "runs")
    whole = units("runs")
    path = min(Path("runs").rglob("*.unit"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    messages: list[str] = []
    again = run((CAUSAL,), "runs", note=messages.append)
    assert [*map(plain, again)] == [*map(plain, first)]
    assert messages == [f"{path}: the result of a unit is damaged; it is done again."]
    assert without_seconds(units("runs")) == without_seconds(whole)


@pytest.mark.usefixtures("here")
def test_force_asks_again():
    run((CAUSAL,), "runs")
    path = min(Path("runs").rglob("*.unit"))
    os.utime(path, (1, 1))
    run((CAUSAL,), "runs")
    assert path.stat().st_mtime == 1
    run((CAUSAL,), "runs", force=True)
    assert path.stat().st_mtime > 1
