"""The judgments table in files of every kind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError
from cimento.judgments import (
    Judgment,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions


class TestTables:
    @settings(deadline=None)
    @given(
        st.lists(
            st.builds(
                Judgment,
                suite=st.just("s"),
                item=st.text("abc", min_size=1),
                candidate=st.none() | st.text("xyz", min_size=1),
                value=st.text("12345", min_size=1),
                seconds=st.none() | st.floats(0, 100),
                position=st.none() | st.integers(1, 100),
            ),
            min_size=1,
        )
    )
    def test_records_and_tables_are_the_same(self, judgments):
        assert judgments_of(table_of(judgments)) == judgments

    @pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv"])
    def test_files_of_each_kind(self, tmp_path, suffix):
        both = [
            Judgment(
                suite="s", item="e 1", candidate="Piove, e fa freddo.", value="5", seconds=1.5
            ),
            Judgment(suite="s", item="e 2", annotator="x", value=None, position=2),
        ]
        path = write_judgments(table_of(both), tmp_path / f"j{suffix}")
        assert judgments_of(read_judgments(path)) == both

    @pytest.mark.parametrize("suffix", [".csv", ".tsv"])
    def test_no_cell_is_a_formula_and_all_come_back(self, tmp_path, suffix):
        hostile = '=HYPERLINK("http://x.org")'
        one = Judgment(suite="s", item="1", annotator="a", value="-1", remark=hostile)
        path = write_judgments(table_of([one]), tmp_path / f"j{suffix}")
        text = path.read_text(encoding="utf-8")
        assert "'=HYPERLINK" in text
        assert "'-1" not in text
        assert judgments_of(read_judgments(path)) == [one]
        (back,) = read_answers([path], ImportOptions(form="long")).judgments
        assert back.remark == hostile

    def test_a_run_has_one(self, tmp_path):
        write_judgments(table_of([Judgment(suite="s", item="1")]), tmp_path / "judgments.parquet")
        assert read_judgments(tmp_path).height == 1

    def test_another_suffix_is_refused(self, tmp_path):
        with pytest.raises(UsageError, match=r"Name a file, such as .*j\.csv"):
            read_judgments(tmp_path / "j.json")

    def test_a_number_that_is_none_is_said(self, tmp_path):
        columns = "suite,item,condition,candidate,annotator,question,value,remark,at,seconds"
        path = tmp_path / "j.csv"
        path.write_text(f"{columns}\ns,1,,,,,5,,,soon\n", encoding="utf-8")
        with pytest.raises(InputError, match="a number cannot be read"):
            read_judgments(path)
