"""The pull queue, the shards and the sizes, apart from any worker."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.engine.cache import MemoryCache, get_scores, pack_scores
from cimento.engine.engines import in_share, parse_share
from cimento.engine.queue import PullQueue
from cimento.engine.sealed import write_once, write_sealed
from cimento.errors import StorageError, UsageError
from cimento.outline import Numbering
from cimento.requests import Place, ScoreRequest
from cimento.scheduling.directions import Directions, read_directions
from cimento.scheduling.shards import SHARD, Division, read_shard, shard_content
from cimento.scheduling.spool import Spool
from cimento.scheduling.tasks import Trouble
from cimento.scheduling.units import put_added, write_added


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


spans = st.sets(st.sampled_from([(0, 2), (3, 5), (6, 9)])).map(lambda found: tuple(sorted(found)))
requests = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "x"]), st.none() | spans),
    max_size=12,
    unique_by=lambda each: each[:2],
)


def divided(division, name, texts):
    """The shards that a suite adds, and where its answers are said to be."""
    places = [Place(each.id, "", "", 1, 0, 0, needed=True) for each in texts]
    added = {}

    def add(shard):
        added[shard.digest] = shard.plan

    return added, division.divide(name, zip(texts, places, strict=True), added=add)


@settings(deadline=None)
@given(st.lists(requests, max_size=4), st.booleans())
def test_every_request_is_found_where_all_that_it_wants_is_asked(suites, on_disk):
    spool = Spool()
    division = Division(spool if on_disk else None)
    shards, asked = {}, Counter()
    for number, some in enumerate(suites):
        texts = [
            ScoreRequest(id=i, text=text, context=context, wanted=wanted)
            for i, (text, context, wanted) in enumerate(some)
        ]
        added, found = divided(division, f"suite-{number}", texts)
        shards |= added
        for request, place in zip(texts, found.places, strict=True):
            shard, position = divmod(place, SHARD)
            owner = shards[found.shards[shard]].requests[position]
            assert (owner.text, owner.context) == (request.text, request.context)
            if owner.wanted is not None:
                assert request.wanted is not None
                assert set(request.wanted) <= set(owner.wanted)
            assert (request.id in found.partial) == (owner.wanted != request.wanted)
        assert len(set(found.shards)) == len(found.shards)
        assert set(added) <= set(found.shards) <= set(shards)
        for plan in added.values():
            asked.update((r.text, r.context, r.wanted) for r in plan.requests)
    assert not asked or max(asked.values()) == 1
    spool.close()


def test_shards_of_a_suite_stay_when_another_follows():
    first = [ScoreRequest(id=i, text=f"Frase {i}.", wanted=((0, 5),)) for i in range(SHARD + 3)]
    second = [*first[:2], ScoreRequest(id=2, text="Altra frase.")]

    division = Division()
    shards, _ = divided(division, "one", first)
    added, found = divided(division, "two", second)
    assert [len(plan.requests) for plan in shards.values()] == [SHARD, 3]
    assert [len(plan.requests) for plan in added.values()] == [1]
    assert found.shards == [next(iter(shards)), *added]
    assert list(found.places) == [0, 1, SHARD]
    assert divided(Division(), "one", first)[0] == shards


def test_a_suite_that_begins_in_the_shards_of_another_is_found_there():
    first = [ScoreRequest(id=i, text=f"Frase {i}.", wanted=((0, 5),)) for i in range(3)]
    other = [ScoreRequest(id=i, text=f"Altra {i}.") for i in range(SHARD + 1)]
    division = Division()
    shards, _ = divided(division, "one", first)
    less = ScoreRequest(id=SHARD + 1, text="Frase 2.", wanted=())
    added, found = divided(division, "two", [*other[:2], first[1], *other[2:], less])
    # The shard that is being filled has its number before its name is known.
    assert found.shards == [next(iter(added)), next(iter(shards)), list(added)[1]]
    assert list(found.places[:4]) == [0, 1, SHARD + 1, 2]
    assert list(found.places[-2:]) == [2 * SHARD, SHARD + 2]
    assert list(found.partial) == [SHARD + 1]


def test_directions_are_read_as_they_were_written(tmp_path):
    numbering = Numbering(array("i", [0, 1, 0]), array("i", [0]))
    told = Directions(numbering, array("i", [300, 2**31 - 1]), array("i"))
    path = write_once(told.pack(), tmp_path / "one.places")
    assert read_directions(path) == told
    path.write_bytes(path.read_bytes()[:-1] + b"\x01")
    with pytest.raises(StorageError, match="cannot be read"):
        read_directions(path)
    with pytest.raises(StorageError, match="no such file"):
        read_directions(tmp_path / "other.places")


def test_a_shard_is_read_as_it_was_written(tmp_path):
    texts = ("Riga\u2028spezzata.", 'Con "virgolette"', "Тест\x85.", "", "a\nb")
    requests = [
        ScoreRequest(id=i, text=text, context="prima", wanted=((0, 1),), regions=((0, 1),))
        for i, text in enumerate(texts)
    ]
    [plan] = divided(Division(), "strano\n", requests)[0].values()
    content = shard_content(plan)
    path = write_once(content, tmp_path / "one.shard")
    assert read_shard(path) == plan
    # One bit of a letter: it would still be JSON.
    path.write_bytes(path.read_bytes().replace(b"spezzata", b"spezzate"))
    with pytest.raises(StorageError, match="cannot be read"):
        read_shard(path)
    assert read_shard(write_once(content, path)) == plan


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
    again = Trouble.of(error).error()
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
