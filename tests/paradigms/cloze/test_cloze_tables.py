"""Candidates as a table: what is written is what is read."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.paradigms.cloze.files import write_cell
from cimento.paradigms.cloze.judgments import read_judged_candidates
from cimento.paradigms.cloze.requests import Candidate

texts = st.one_of(
    st.sampled_from(['"', "'", "\t", "10", "null", "NA", "", "[UNK]", "##s", "a\r\n", " | ", "\\"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=10),
)
candidates = st.builds(
    Candidate,
    texts.filter(str.strip),
    st.integers(1, 10),
    texts,
    st.one_of(st.none(), st.floats(0, 1)),
    st.one_of(st.none(), st.booleans()),
    st.lists(texts, max_size=3).map(tuple),
    st.lists(texts, max_size=3).map(tuple),
)


def row_of(candidate):
    """A candidate as a line of the table, as docs/cloze.md has it."""
    parts = (
        " | ".join(write_cell(text, signs="|") or "\\e" for text in texts)
        for texts in (candidate.remarks, candidate.tags)
    )
    return (
        write_cell(candidate.item),
        str(candidate.rank),
        write_cell(candidate.text),
        "" if candidate.probability is None else repr(candidate.probability),
        {True: "yes", False: "no", None: ""}[candidate.fits],
        *parts,
    )


COLUMNS = ("item", "rank", "candidate", "probability", "fits", "remarks", "tags")


class TestTables:
    @given(st.lists(candidates, min_size=1, max_size=5))
    @settings(deadline=None)
    def test_what_is_written_is_what_is_read(self, tmp_path_factory, some):
        path = tmp_path_factory.mktemp("out") / "candidates.tsv"
        lines = [COLUMNS, *map(row_of, some)]
        path.write_bytes("".join("\t".join(line) + "\n" for line in lines).encode("utf-8"))
        assert read_judged_candidates(path) == some

    def test_a_table_that_was_annotated_has_no_ranks(self, tmp_path):
        path = tmp_path / "judged.tsv"
        rows = "a\tx\tUn x.\ty\todd; rare\na\ty\tUn y.\tno\t\nb\tx\tUna x.\t\t\n"
        path.write_text(f"item\tcandidate\tsentence\tfits\tremarks\n{rows}", encoding="utf-8")
        assert read_judged_candidates(path) == [
            Candidate("a", 1, "x", fits=True, remarks=("odd", "rare")),
            Candidate("a", 2, "y", fits=False),
            Candidate("b", 1, "x"),
        ]

    @pytest.mark.parametrize(
        ("table", "seen"),
        [
            ("item\trank\n1\t1\n", "there is no column 'candidate'"),
            ("item\trank\tcandidate\n1\tone\tx\n", "row 2: no number"),
            ("item\trank\tcandidate\tfits\n1\t1\tx\tmaybe\n", "fits is 'maybe'"),
            ("item\trank\tcandidate\tprobability\n1\t1\tx\t7\n", "the probability is 7.0"),
            ("", "The file is empty"),
        ],
    )
    def test_tables_that_cannot_be_used(self, tmp_path, table, seen):
        path = tmp_path / "candidates.tsv"
        path.write_text(table, encoding="utf-8")
        with pytest.raises(InputError, match=seen):
            read_judged_candidates(path)
