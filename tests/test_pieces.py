"""Long tables are written and read a piece at a time, and say the same as whole ones."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import pieces as pieces_module
from cimento.measures.regions import region_values
from cimento.pieces import Pieces, read_parquet, write_parquet
from cimento.suites.model import Suite
from cimento.verdicts.judge import judge, judge_values
from tests.judging import make_suite, requests_of, word_tokens


def cut(table: pl.DataFrame, lengths: list[int]) -> Pieces:
    """The table in pieces of these lengths; the rest of it is the last piece."""

    def pieces() -> Iterator[pl.DataFrame]:
        start = 0
        for length in lengths:
            yield table.slice(start, length)
            start += length
        yield table.slice(start)

    return Pieces(pieces)


lengths = st.lists(st.integers(0, 9), max_size=6)


@settings(deadline=None, max_examples=30)
@given(rows=st.integers(0, 40), lengths=lengths)
def test_where_a_table_is_cut_makes_no_difference_to_its_file(tmp_path_factory, rows, lengths):
    folder = tmp_path_factory.mktemp("pieces")
    table = pl.DataFrame(
        {"n": range(rows), "word": [f"parola {n % 7}" if n % 3 else None for n in range(rows)]},
        schema={"n": pl.Int32, "word": pl.String},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces_module, "ROWS", 8)
        for name, given_table in (("whole", Pieces.of(table)), ("cut", cut(table, lengths))):
            write_parquet(given_table, folder / name, metadata={"kind": "test"})
        read = list(read_parquet(folder / "cut"))

    assert (folder / "cut").read_bytes() == (folder / "whole").read_bytes()
    assert pl.read_parquet(folder / "cut").equals(table)
    assert pl.read_parquet_metadata(folder / "cut")["kind"] == "test"
    assert max(map(len, read)) <= 8
    assert read_parquet(folder / "cut").whole().equals(table)


def test_no_more_than_a_few_pieces_are_held_while_a_table_is_written(tmp_path):
    count, held, most = 200, 0, 0

    def gone() -> None:
        nonlocal held
        held -= 1

    def pieces() -> Iterator[pl.DataFrame]:
        nonlocal held, most
        for number in range(count):
            piece = pl.DataFrame({"n": [number] * 1000})
            weakref.finalize(piece, gone)
            held += 1
            most = max(most, held)
            yield piece

    write_parquet(Pieces(pieces), tmp_path / "long.parquet", metadata={})
    assert pl.read_parquet(tmp_path / "long.parquet").height == count * 1000
    assert most < count / 4


# --- Judging in pieces

SENTENCES = ("La|barca|parte.", "Le|barche|partono.", "Le|barche|parte.", "Il|gatto|dorme.")
FORMULAS = ("(3;%good%) < (3;%bad%)", "(*;%good%) < (*;%bad%)")


@st.composite
def asked(draw: st.DrawFn) -> tuple[Suite, pl.DataFrame]:
    """A suite in which items share sentences, and scores for some of its texts."""
    sentence = st.sampled_from(SENTENCES)
    pairs = draw(st.lists(st.tuples(sentence, sentence), min_size=1, max_size=8))
    suite = make_suite(FORMULAS, [{"good": good, "bad": bad} for good, bad in pairs])
    texts = len({text for pair in pairs for text in pair})
    surprisals = draw(
        st.lists(st.sampled_from((0.5, 1.25, 3.0, 7.5)), min_size=3 * texts, max_size=3 * texts)
    )
    unscored = draw(st.sets(st.integers(0, texts - 1)))
    tokens = word_tokens(suite, surprisals)
    return suite, tokens.filter(~pl.col("request").is_in(sorted(unscored)))


@settings(deadline=None, max_examples=60)
@given(case=asked(), seed=st.integers(0, 99))
def test_verdicts_are_those_of_whole_tables_however_they_are_shuffled(case, seed):
    suite, tokens = case
    requests = requests_of(suite)
    expected = judge_values(suite, region_values(tokens, requests, metric="sum"))
    assert [each.item for each in expected[::3]] == [item.id for item in suite.items]

    assert judge(suite, tokens, requests) == expected
    shuffled = [table.sample(fraction=1.0, shuffle=True, seed=seed) for table in (tokens, requests)]
    assert judge(suite, *shuffled) == expected


def test_items_that_share_a_sentence_each_have_its_values():
    # By hand: the second pair has the sentences of the first the other way round.
    suite = make_suite(
        ("(*;%good%) < (*;%bad%)",),
        [
            {"good": "La|barca|parte.", "bad": "La|barca|partono."},
            {"good": "La|barca|partono.", "bad": "La|barca|parte."},
        ],
    )
    tokens = word_tokens(suite, [1.0, 2.0, 3.0, 1.0, 2.0, 8.0])
    requests = requests_of(suite)
    verdicts = judge(suite, tokens, requests)
    assert [each.verdict for each in verdicts] == ["pass", "pass", "fail", "fail"]
    values = region_values(tokens, requests, metric="sum")
    assert values.values["2"] == {"good": (1.0, 2.0, 8.0), "bad": (1.0, 2.0, 3.0)}
