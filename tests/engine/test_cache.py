"""Answers are kept under their content, for several processes at once, and damage is named."""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Policy
from cimento.engine.cache import (
    FileCache,
    MemoryCache,
    get_scores,
    put_scores,
    sequence_key,
)
from cimento.errors import StorageError
from cimento.io.files import default_cache_folder
from tests.helpers import plain
from tests.helpers.whole_path import ask, load_folder

KEYS = [sequence_key("model", [number]) for number in range(1200)]


@pytest.fixture
def cache(tmp_path):
    opened = FileCache(tmp_path)
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", [MemoryCache, FileCache])
@settings(deadline=None, max_examples=20)
@given(st.dictionaries(st.integers(0, 500), st.floats(allow_nan=False, max_value=0.0), max_size=9))
def test_what_was_put_comes_out_to_the_bit(tmp_path_factory, kind, scores):
    made = kind(tmp_path_factory.mktemp("cache")) if kind is FileCache else kind()
    put_scores(made, {KEYS[0]: scores})

    assert get_scores(made, [KEYS[1], KEYS[0]]) == {KEYS[0]: scores}
    if isinstance(made, FileCache):
        made.close()


def test_a_score_that_is_undefined_stays_so(cache):
    put_scores(cache, {KEYS[0]: {0: math.nan, 1: -1.5}})

    scores = get_scores(cache, [KEYS[0]])[KEYS[0]]
    assert math.isnan(scores[0])
    assert scores[1] == -1.5


def test_more_sequences_than_one_query_takes(cache):
    entries = {key: {0: -float(number)} for number, key in enumerate(KEYS)}
    put_scores(cache, entries)

    assert get_scores(cache, KEYS) == entries
    assert get_scores(cache, []) == {}


def test_a_later_answer_replaces_an_earlier_one(cache):
    put_scores(cache, {KEYS[0]: {0: -1.0}, KEYS[1]: {0: -2.0}})
    put_scores(cache, {KEYS[0]: {0: -1.0, 1: -3.0}})

    assert get_scores(cache, KEYS[:2]) == {KEYS[0]: {0: -1.0, 1: -3.0}, KEYS[1]: {0: -2.0}}


def test_answers_outlast_the_process(tmp_path):
    first = FileCache(tmp_path)
    put_scores(first, {KEYS[0]: {4: -0.25}})
    first.close()
    second = FileCache(tmp_path)

    assert get_scores(second, KEYS[:1]) == {KEYS[0]: {4: -0.25}}
    second.close()


NUMBERS = st.lists(st.integers(-3, 3), max_size=4).map(tuple)


@settings(deadline=None)
@given(*[st.sampled_from(["a", "b"])] * 2, *[NUMBERS] * 4)
def test_two_addresses_are_equal_only_for_the_same_content(
    model, other_model, ids, other_ids, words, other_words
):
    same = (model, ids, words) == (other_model, other_ids, other_words)
    equal = sequence_key(model, ids, words) == sequence_key(other_model, other_ids, other_words)

    assert equal == same


def test_entries_are_kept_all_or_none(cache):
    many = {sequence_key("many", [n]): {0: -1.0} for n in range(2_000)}
    if isinstance(cache, FileCache):
        cache._connection.execute("PRAGMA max_page_count = 12")  # as on a full disk
        with pytest.raises(StorageError, match=r"cannot be used.*full"):
            put_scores(cache, {KEYS[0]: {0: -1.0}, **many})
        cache._connection.execute("PRAGMA max_page_count = 100000")

    assert get_scores(cache, KEYS[:1]) == {}
    put_scores(cache, {KEYS[1]: {0: -2.0}})
    assert cache.count() == 1


WORKER = """
import sys
from pathlib import Path
from cimento.engine.cache import FileCache, get_scores, put_scores, sequence_key

folder, me = Path(sys.argv[1]), int(sys.argv[2])
sys.stdin.readline()
cache = FileCache(folder)
for number in range(40):
    own, shared = sequence_key("own", [me, number]), sequence_key("shared", [number])
    put_scores(cache, {own: {0: -float(me)}, shared: {number: -float(number)}})
    kept = get_scores(cache, [own, shared])
    assert kept == {own: {0: -float(me)}, shared: {number: -float(number)}}
cache.close()
"""


def test_processes_that_start_and_write_at_once(tmp_path):
    """On a folder that is not there yet, so that all of them want to make the file."""
    folder = tmp_path / "new"
    workers = [
        subprocess.Popen(  # noqa: S603  # our own program
            [sys.executable, "-c", WORKER, str(folder), str(number)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    errors = [worker.communicate()[1] for worker in workers]

    assert errors == [""] * 4
    cache = FileCache(folder)
    scores = {sequence_key("own", [me, n]): {0: -float(me)} for me in range(4) for n in range(40)}
    assert get_scores(cache, list(scores)) == scores
    assert cache.verify() == []
    cache.close()


def test_a_file_that_another_process_is_about_to_write_is_waited_for(tmp_path):
    """Here SQLite does not wait itself: the journal cannot be changed while a write is begun."""
    path = tmp_path / "answers.sqlite3"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    soon = threading.Timer(0.3, other.execute, ("COMMIT",))
    soon.start()

    opened = FileCache(tmp_path)

    soon.join()
    put_scores(opened, {KEYS[0]: {0: -1.0}})
    assert get_scores(opened, KEYS[:1]) == {KEYS[0]: {0: -1.0}}
    opened.close()
    other.close()


def close_leftover(folder):
    """Write what is in the journal into the file, so that there is only one file to damage."""
    with closing(sqlite3.connect(folder / "answers.sqlite3")) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


def test_a_file_that_is_no_cache_is_named_and_the_remedy_said(tmp_path):
    (tmp_path / "answers.sqlite3").write_text(
        "these are my notes, and not a cache of answers\n" * 9
    )

    with pytest.raises(StorageError, match=r"answers\.sqlite3.*cannot be used.*CIMENTO_CACHE_DIR"):
        FileCache(tmp_path)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_file_that_was_cut_short_is_an_error(tmp_path, share):
    """Never fewer answers, or others."""
    entries = {key: {0: -float(number)} for number, key in enumerate(KEYS)}
    whole = FileCache(tmp_path)
    put_scores(whole, entries)
    whole.close()
    close_leftover(tmp_path)
    path = tmp_path / "answers.sqlite3"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])

    with pytest.raises(StorageError, match=r"cannot be used.*Delete it"):
        read_all(tmp_path)


def read_all(folder):
    with closing(FileCache(folder)) as made:
        get_scores(made, KEYS)


def test_an_entry_that_is_damaged_is_asked_again_and_verify_counts_it(tmp_path):
    cache = FileCache(tmp_path)
    put_scores(cache, {KEYS[0]: {0: -1.0}, KEYS[1]: {0: -2.0}})
    flip = "UPDATE sealed SET scores = CAST(substr(scores, 1, 19) || x'17' AS BLOB) WHERE key = ?"
    cache._connection.execute(flip, [KEYS[0]])

    assert get_scores(cache, KEYS[:2]) == {KEYS[1]: {0: -2.0}}
    assert cache.verify() == ["1 entries are damaged."]
    put_scores(cache, {KEYS[0]: {0: -1.0}})
    assert get_scores(cache, KEYS[:1]) == {KEYS[0]: {0: -1.0}}
    assert cache.verify() == []
    cache.close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match=r"file.*cannot be used"):
        FileCache(tmp_path / "file" / "cache")


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "mine"))
    assert default_cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("CIMENTO_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_folder() == tmp_path / "cimento"


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_warm_cache_gives_what_a_cold_one_gave_without_the_model(name, zoo_folder, cache):
    scorer = load_folder(zoo_folder(name))
    cold = ask(scorer, plain.TEXTS, cache=cache)
    scorer.score = None

    assert ask(scorer, plain.TEXTS[::-1], cache=cache)[::-1] == cold


def test_two_models_never_share_an_answer(zoo_folder, cache):
    """Nor do two with one tokenizer."""
    for name in ("llama", "mistral"):
        scorer = load_folder(zoo_folder(name))
        assert ask(scorer, plain.TEXTS, cache=cache) == ask(scorer, plain.TEXTS)


def test_two_policies_never_share_an_answer(zoo_folder, cache):
    for pll in ("original", "within-word-l2r"):
        policy = Policy(pll=pll)
        scorer = load_folder(zoo_folder("bert"), policy)
        expected = ask(scorer, plain.TEXTS, policy=policy)
        assert ask(scorer, plain.TEXTS, policy=policy, cache=cache) == expected


def test_a_cache_shows_what_it_held_while_others_put_more(tmp_path):
    with closing(FileCache(tmp_path)) as cache:
        cache.put({b"first": b"1"})
        with cache.unchanged() as current:
            current.put({b"first": b"one", b"second": b"2"})
            assert cache.get([b"first", b"second"]) == {b"first": b"1"}
            assert current.get([b"first", b"second"]) == {b"first": b"one", b"second": b"2"}
        assert cache.get([b"first", b"second"]) == {b"first": b"one", b"second": b"2"}
        cache.put({b"third": b"3"})
        assert cache.get([b"third"]) == {b"third": b"3"}
