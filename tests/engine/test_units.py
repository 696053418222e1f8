"""The pull queue, the shards and the sizes, apart from any worker."""

from __future__ import annotations

import random
from collections import Counter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.engine.added import put_added, write_added
from cimento.engine.cache import MemoryCache, get_scores, pack_scores
from cimento.engine.engines import in_share, parse_share
from cimento.engine.jobs import PullQueue
from cimento.engine.units import SIZES, Division, Unit, write_sealed
from cimento.engine.workers import TaskError
from cimento.paradigms import Choose, Score


@settings(deadline=None)
@given(
    models=st.lists(st.integers(0, 6), min_size=1, max_size=40),
    workers=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_every_unit_is_given_once_and_a_model_loaded_once_by_a_worker(models, workers, seed):
    queue = PullQueue((f"m{model}", number) for number, model in enumerate(models))
    rng = random.Random(seed)  # noqa: S311  # who is done next, not a secret
    given_out, loads = Counter(), Counter()
    held: dict[int, str] = {}
    busy: dict[int, int] = {}
    while True:
        for worker in range(workers):
            if worker not in busy and (pulled := queue.next(worker)) is not None:
                model, unit = pulled
                assert model == f"m{models[unit]}"
                loads[worker, model] += held.get(worker) != model
                held[worker] = model
                busy[worker] = unit
        if not busy:
            break
        done = rng.choice(sorted(busy))
        given_out[busy.pop(done)] += 1

    assert given_out == Counter(range(len(models)))
    assert set(loads.values()) == {1}
    assert len(queue) == 0


def test_a_loaded_model_is_finished_before_another_is_begun():
    queue = PullQueue([("a", 1), ("b", 2), ("a", 3), ("b", 4)])
    assert [queue.next(0) for _ in range(5)] == [("a", 1), ("a", 3), ("b", 2), ("b", 4), None]


def test_workers_take_models_that_nobody_has_and_then_help():
    queue = PullQueue([("a", 1), ("a", 2), ("a", 3), ("b", 4)])
    assert queue.next(0) == ("a", 1)
    assert queue.next(1) == ("b", 4)
    assert queue.next(1) == ("a", 2)


def test_a_model_that_is_asked_alone_has_one_worker_at_a_time():
    queue = PullQueue([("a", 1), ("a", 2)], alone={"a"})
    assert queue.next(0) == ("a", 1)
    assert queue.next(1) is None
    assert queue.next(0) == ("a", 2)


def test_a_unit_is_given_out_three_times_at_most():
    queue = PullQueue([("a", 1), ("a", 2)])
    for again in (True, True, False):
        assert queue.next(0) == ("a", 1)
        assert queue.again(0, "a", 1) is again
    assert queue.next(0) == ("a", 2)


def test_units_of_a_model_that_cannot_be_used_are_taken_away():
    queue = PullQueue([("a", 1), ("b", 2), ("a", 3)])
    assert queue.drop("a") == [1, 3]
    assert queue.next(0) == ("b", 2)


words = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def divided(jobs, **options):
    """The units that some jobs make, and where each finds its requests."""
    units = []

    def add(unit):
        units.append(unit)
        return len(units) - 1

    division = Division(add, **options)
    return units, [division.divide(requests) for requests in jobs]


@settings(deadline=None)
@given(st.lists(words, max_size=4), st.booleans())
def test_every_request_is_answered_where_it_is_asked_and_asked_once(texts, whole):
    kinds = (lambda text: Score(text=text), lambda text: Choose(prompt=text, options=(" x",)))
    jobs = [[make(text) for text in dict.fromkeys(some) for make in kinds] for some in texts]
    units, places = divided(jobs, whole=whole)
    for requests, job_places in zip(jobs, places, strict=True):
        assert [units[unit].requests[number] for unit, number in job_places] == requests
    asked = Counter(request for unit in units for request in unit.requests)
    assert whole or not asked or max(asked.values()) == 1
    assert all(len({type(request) for request in unit.requests}) == 1 for unit in units)


scores = st.builds(
    Score,
    text=st.sampled_from(["a", "a b", "', '"]),
    context=st.sampled_from(["", "a"]),
    wanted=st.none() | st.just(()) | st.just(((0, 1),)),
    regions=st.just(()) | st.just(((0, 1),)),
    blank=st.none() | st.booleans(),
)


@settings(deadline=None)
@given(st.lists(scores, max_size=4), st.lists(scores, max_size=4))
def test_units_have_one_name_only_if_they_ask_the_same(some, others):
    assert (Unit.of(some).digest == Unit.of(others).digest) == (some == others)
    assert Unit.of(some).digest == Unit.of([Score(*score) for score in some]).digest


def test_units_of_a_job_stay_when_another_follows():
    size = SIZES[Score]
    first = [Score(text=f"Frase {i}.") for i in range(size + 3)]
    second = [*first[:2], Score(text="Altra frase.")]
    units, [_, places] = divided([first, second])
    assert [len(unit.requests) for unit in units] == [size, 3, 1]
    assert places == [(0, 0), (0, 1), (2, 0)]
    assert [unit.digest for unit in divided([first])[0]] == [unit.digest for unit in units[:2]]
    assert units[2].digest == Unit.of(second[2:]).digest != Unit.of([Score(text="Altra")]).digest


def test_what_a_job_asks_later_is_found_among_what_was_asked_first():
    first = [Score(text="Uno."), Score(text="Due.")]
    known = Division(lambda _unit: 0)
    known.divide(first)
    later = Division(lambda _unit: 1, known=known)
    assert later.divide([Score(text="Tre."), first[1]]) == [(1, 0), (0, 1)]
    assert known.divide([Score(text="Tre.")]) == [(0, 0)]


@given(st.integers(1, 60), st.integers(0, 300))
def test_each_unit_belongs_to_one_share(count, total):
    shares = [
        [position for position in range(total) if in_share(position, total, (number, count))]
        for number in range(count)
    ]
    assert list(chain(*shares)) == list(range(total))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_a_share_is_read():
    assert parse_share("3/16") == (3, 16)


def test_an_error_is_the_same_on_the_other_side():
    error = UsageError(where="--limit", seen="it is 0", todo="Give more.")
    again = TaskError.of(error).error()
    assert type(again) is UsageError
    assert str(again) == str(error)


scores = st.dictionaries(st.integers(0, 2**31 - 1), st.floats(allow_nan=False), max_size=3)


@settings(deadline=None)
@given(st.dictionaries(st.binary(max_size=40), scores, max_size=5))
def test_what_units_add_is_put_into_the_cache_and_damaged_files_are_not(added):
    with TemporaryDirectory() as name:
        good, bad = Path(name) / "good.added", Path(name) / "bad.added"
        write_added({key: pack_scores(scores) for key, scores in added.items()}, good)
        write_sealed(b"no numbers", bad)
        cache = MemoryCache()
        put_added([bad, good, Path(name) / "absent.added"], cache)
        assert get_scores(cache, list(added)) == added
        assert not good.exists()
        assert not bad.exists()
