"""Items in a temporary file are the items that they were made of, and their suites are checked."""

from __future__ import annotations

import random
import tracemalloc
import zipfile
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.errors import CimentoError
from cimento.suites import blocks, repeats, stored
from cimento.suites.checks import check_suite
from cimento.suites.checks.comparisons import _Difference
from cimento.suites.load import load_suite, load_suites
from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.readers.native import read_native
from cimento.suites.repeats import Hashes
from cimento.suites.stored import ItemStore, StoredItems, store_items
from cimento.suites.writers import native
from cimento.suites.writers.native import native_files, native_pieces, write_native
from tests.fuzzing.mutating import mutate
from tests.suites_on_disk import ITEMS, TOML, syntaxgym, write, write_folder

WORDS = st.text(
    st.characters(codec=None) | st.sampled_from("\n\r\t\\|'\u2028\ud83d\ude00 "), max_size=6
)
EXTRAS = st.dictionaries(
    WORDS,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
        max_leaves=3,
    ),
    max_size=2,
)
CONDITIONS = st.builds(
    Condition,
    name=WORDS,
    regions=st.lists(
        st.builds(Region, text=WORDS, glued=st.booleans(), extra=EXTRAS), max_size=3
    ).map(tuple),
    columns=st.dictionaries(WORDS, WORDS, max_size=2),
    extra=EXTRAS,
)
SOME_ITEMS = st.lists(
    st.builds(Item, id=WORDS, conditions=st.lists(CONDITIONS, max_size=3).map(tuple), extra=EXTRAS),
    max_size=6,
    unique_by=lambda item: item.id,
).map(tuple)

PAIRS = "good\tbad\ttipo\n" + "".join(
    f"Le città {n} | sono belle.\tLe città {n} | è belle.\tx{n % 3}\n" for n in range(5)
)
WITH_EXTRA = ITEMS.replace("text\n", "text\t_extra\n").replace(
    "accese.\n", 'accese.\t{"item": {"a": 1.5}, "regions": [{"k": 1}], "columns": {" c": "d"}}\n', 1
)
APART = "item\tcondition\ttext\tc\n" + "".join(
    f"{n}\t{name}\tLe | {n} | x {name}\tq\n" for name in ("match", "mismatch") for n in range(5)
)
TABLES = (ITEMS, PAIRS, WITH_EXTRA, APART)


@pytest.fixture(params=(1, 3, 64), ids=lambda size: f"{size} at once")
def together(request, monkeypatch):
    """How much is read at once makes no difference."""
    monkeypatch.setattr(stored, "_TOGETHER", request.param)
    monkeypatch.setattr(blocks, "_BLOCK", request.param * 16)
    return request.param


@settings(deadline=None, max_examples=40)
@given(SOME_ITEMS, st.integers(-8, 8), st.slices(6))
def test_stored_items_are_the_items(items, index, part):
    found = store_items(items)
    assert tuple(found) == items
    assert len(found) == len(items)
    assert tuple(found[part]) == items[part]
    if -len(items) <= index < len(items):
        assert found[index] == items[index]
        assert isinstance(found[index:], StoredItems)
    else:
        with pytest.raises(IndexError):
            found[index]
    names = dict.fromkeys(each.name for item in items for each in item.conditions)
    columns = dict.fromkeys(
        key for item in items for each in item.conditions for key in each.columns
    )
    assert found.condition_names == tuple(names)
    assert found.column_names == tuple(columns)
    assert found[1:].condition_names == tuple(
        dict.fromkeys(each.name for item in items[1:] for each in item.conditions)
    )


@settings(deadline=None, max_examples=40)
@given(SOME_ITEMS, st.randoms(use_true_random=False), st.booleans())
def test_rows_of_an_item_may_stand_apart(items, generator, alike):
    rows = [
        (item.id, each, {} if number else item.extra)
        for item in items
        for number, each in enumerate(item.conditions or (None,))
    ]
    generator.shuffle(rows)
    store = ItemStore()
    own: dict[str, list[Condition]] = {}
    for id_, condition, extra in rows:
        store.add(id_, condition, extra=extra)
        own.setdefault(id_, []).extend([] if condition is None else [condition])
    if alike:  # as if all ids had one hash
        store._ids.values = type(store._ids.values)("q", [7] * len(store._ids))
    found = store.items()
    assert [(item.id, list(item.conditions)) for item in found] == list(own.items())
    assert {item.id: item.extra for item in found} == {item.id: item.extra for item in items}
    assert list(found[1:]) == list(found)[1:]
    assert sorted(found.row_order) == list(range(len(rows)))
    told = [rows[number][1] for number in found.row_order if rows[number][1] is not None]
    assert told == [each for item in found for each in item.conditions]
    assert found.condition_names == tuple(dict.fromkeys(each.name for each in told))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 12)), st.lists(st.integers(0, 12)), st.integers(1, 5))
def test_repetitions_are_found_a_part_at_a_time(here, there, at_once):
    one, other = Hashes(), Hashes()
    for each in here:
        one.add(each)
    for each in there:
        other.add(each)
    before, repeats._AT_ONCE = repeats._AT_ONCE, at_once
    try:
        assert list(one.repeated()) == [n for n, each in enumerate(here) if here.count(each) > 1]
        assert one.shared(other) == len(set(here) & set(there))
    finally:
        repeats._AT_ONCE = before


def told(read, *given, **options):
    """What a reader says: a suite with its items in memory, or its faults."""
    try:
        found = read(*given, **options)
    except CimentoError as error:
        return type(error), str(error), getattr(error, "faults", ())
    suite = found.suite
    names = suite.condition_names, suite.column_names
    whole = replace(suite, items=tuple(suite.items))
    return whole, names, found.sha256, tuple(getattr(found, "places", ())), found


@pytest.mark.usefixtures("together")
@pytest.mark.parametrize("table", TABLES)
def test_a_table_read_in_blocks_is_the_table(tmp_path, table):
    folder = write_folder(tmp_path, items=table)
    found = read_native(folder, stored=True)
    assert isinstance(found.suite.items, StoredItems)
    assert told(read_native, folder)[:4] == told(read_native, folder, stored=True)[:4]
    assert found.places[1] == tuple(found.places)[1]
    assert found.places[-1] == read_native(folder).places[-1]
    assert list(found.places[1:3]) == list(found.places)[1:3]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_tables_have_the_same_faults(tmp_path, together, seed):
    generator = random.Random(f"{together} {seed}")  # noqa: S311 - the same ones each time
    for _ in range(30):
        items = mutate(generator.choice(TABLES).encode(), generator, [APART.encode()])
        toml = mutate(TOML.encode(), generator) if generator.random() < 0.1 else TOML
        folder = write_folder(tmp_path, toml=toml, items=items)
        whole, parts = told(read_native, folder), told(read_native, folder, stored=True)
        assert repr(whole[:4]) == repr(parts[:4])
        assert getattr(whole[-1], "faults", ()) == getattr(parts[-1], "faults", ())


@pytest.mark.parametrize(
    "items",
    [
        b"",
        b" \n\t\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf" + ITEMS.encode(),
        ITEMS.encode("utf-16"),
        ITEMS.encode("utf-16-le"),
        ITEMS.encode("cp1252"),
        ITEMS.replace("\n", "\r\n").encode(),
        ITEMS.replace("\n", "\n\n").encode(),
        ITEMS.encode() + b"3\tmatch\tLe | \xff | x\n",
        ITEMS.encode() + b"3\tmatch\tLe | \x00 | x\n",
        ITEMS.encode() + b"3\tmatch\tLe | a | x\t\tbeyond\n",
        ITEMS.encode() + b"3\tmatch\n",
        ITEMS.encode().removesuffix(b"\n"),
        ITEMS.replace("item\t", "item\titem\t").encode(),
        ITEMS.replace("item\t", "number\t").encode(),
        ITEMS.encode() + b"\n" * 80_000,
        b"Le lampade",
    ],
    ids=range(18),
)
def test_unusual_tables_are_read_whole(tmp_path, items):
    folder = write_folder(tmp_path, items=items)
    whole, parts = told(read_native, folder), told(read_native, folder, stored=True)
    assert whole[:4] == parts[:4]


@pytest.mark.parametrize("table", ["items.csv", "items.txt"])
def test_other_tables_are_put_in_a_store(tmp_path, table):
    folder = write_folder(tmp_path, items=ITEMS, table=table)
    assert isinstance(read_native(folder, stored=True).suite.items, StoredItems)
    assert told(read_native, folder)[:4] == told(read_native, folder, stored=True)[:4]


def loaded(path):
    found = load_suite(path, stored=True)
    assert isinstance(found.suite.items, StoredItems)
    return replace(found, suite=replace(found.suite, items=tuple(found.suite.items)))


def test_suites_of_every_format_are_stored(tmp_path, monkeypatch):
    few = write_folder(tmp_path / "folder")
    assert isinstance(load_suite(few, stored=True).suite.items, tuple)
    monkeypatch.setattr(stored, "FEW", 0)
    paths = [
        write_folder(tmp_path / "folder"),
        write_folder(
            tmp_path / "pairs", items=PAIRS, toml='regions = ["a", "b"]\n[meta]\nname = "p"\n'
        ),
        write(tmp_path / "a.json", syntaxgym()),
        write(tmp_path / "b.tsv", PAIRS),
    ]
    assert [loaded(path) for path in paths] == [load_suite(path) for path in paths]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        for path in paths[2:]:
            packed.write(path, path.name)
    for path in (tmp_path, tmp_path / "all.zip"):
        found = load_suites(path, stored=True)
        assert all(isinstance(each.suite.items, StoredItems) for each in found)
        whole = [replace(each.suite, items=tuple(each.suite.items)) for each in found]
        assert whole == [each.suite for each in load_suites(path)]


FEW_WORDS = st.sampled_from(
    ["Casa.", "Casa", "casa", "l'uomo.", "l’uomo.", "la la.", "e\u0300.", "Ã¨.", "", " ", "\u200b."]
)
FEW_CONDITIONS = st.lists(
    st.builds(
        Condition,
        name=st.sampled_from(("a", "a", "b", "b", "", "a b")),
        regions=st.lists(st.builds(Region, text=FEW_WORDS), min_size=1, max_size=2).map(tuple),
        columns=st.fixed_dictionaries(
            {}, optional={"f": st.sampled_from("xyz"), "g": st.sampled_from("uv")}
        ),
    ),
    max_size=3,
).map(tuple)
SUITES = st.builds(
    Suite,
    meta=st.just(Meta("s", language="it")),
    region_names=st.sampled_from((("one",), ("one", "two"))),
    predictions=st.lists(
        st.sampled_from(("(1;%a%) < (1;%b%)", "(*;%b%) > (2;%a%)", "(1;%q%) < 2")).map(Prediction),
        max_size=2,
    ).map(tuple),
    items=st.lists(FEW_CONDITIONS, max_size=9).map(
        lambda found: tuple(Item(str(number), own) for number, own in enumerate(found))
    ),
    cluster=st.sampled_from(("", "f", "none")),
    factors=st.sampled_from(({}, {"f": ("x", "y"), "g": ("u", "v")}, {"h": ("x", "y")})),
)


@settings(deadline=None, max_examples=100)
@given(SUITES, st.integers(0, 9))
def test_checks_say_the_same_of_stored_items(suite, known):
    kept = replace(suite, items=store_items(suite.items))
    places = [f"t row {number}" for number in range(known)]
    found = check_suite(suite, places=places)
    assert check_suite(kept, places=places) == found
    # What looks for repetitions by hashes compares what is repeated: all hashes alike say nothing.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Hashes, "repeated", lambda self: iter(range(len(self))))
        assert [each for each in check_suite(kept, places=places) if each.code != "CIM-S056"] == [
            each for each in found if each.code != "CIM-S056"
        ]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1))
def test_the_mean_difference_in_length_is_exact(sides):
    difference = _Difference("words")
    for low, high in sides:
        difference.add(low, high)
    assert difference.relative == fmean((b - a) / max(a, b, 1) for a, b in sides)
    assert difference.mean == fmean(b - a for a, b in sides)


def peak_of(folder):
    """Bytes that reading and checking a suite takes at most."""
    tracemalloc.start()
    try:
        load_suite(folder, stored=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def counted(folder, *, items, apart=False):
    """A suite of so many items; the rows of an item together, or far from each other."""
    rows = [
        f"{number}\t{name}\tLe lampade numero {number} | {verb} | accese.\t{number % 7}"
        for name, verb in (("match", "sono"), ("mismatch", "è"))
        for number in range(items)
    ]
    if not apart:
        rows.sort(key=lambda row: int(row.partition("\t")[0]))
    return write_folder(folder, items="\n".join(["item\tcondition\ttext\tkind", *rows, ""]))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "apart"), [(4_000, False), (1_500, True)])
def test_memory_does_not_grow_with_the_items(tmp_path, monkeypatch, size, apart):
    monkeypatch.setattr(stored, "FEW", 0)
    peak_of(counted(tmp_path / "first", items=10, apart=apart))  # what is imported is held too
    few = counted(tmp_path / "few", items=size, apart=apart)
    many = counted(tmp_path / "many", items=4 * size, apart=apart)
    assert peak_of(many) - peak_of(few) < 3 * size * 200


def test_of_a_few_hundred_items_there_are_no_objects(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "FEW", 0)
    few = counted(tmp_path / "few", items=100)
    many = counted(tmp_path / "many", items=900)
    peak_of(many)
    assert peak_of(many) - peak_of(few) < 800 * 600


@settings(deadline=None, max_examples=40)
@given(SOME_ITEMS, st.integers(1, 3))
def test_a_suite_is_written_in_pieces(items, together):
    suite = Suite(Meta("s"), ("one",), (), items)
    files = native_files(suite)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "_TOGETHER", together)
        pieces = {
            name: list(parts)
            for name, parts in native_pieces(replace(suite, items=store_items(items)))
        }
    assert {name: "".join(parts) for name, parts in pieces.items()} == files
    assert all(part for parts in pieces.values() for part in parts)
    assert max(part.count("\n") for part in pieces[native.TABLE]) <= together


@pytest.mark.parametrize("table", TABLES)
def test_a_stored_suite_is_written_as_it_was(tmp_path, table):
    folder = write_folder(tmp_path / "here", items=table)
    kept, held = read_native(folder, stored=True).suite, read_native(folder).suite
    there = write_native(kept, tmp_path / "there")
    assert {path.name: path.read_text(encoding="utf-8") for path in there.iterdir()} == (
        native_files(held)
    )
    # The items do not stand in the file that is written over.
    write_native(kept, folder)
    assert read_native(folder).suite == replace(held, items=tuple(kept.items))
