"""Cloze suites in the native format: what is written is what is read."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Meta
from cimento.paradigms.cloze.files import load_cloze, write_cloze, write_options
from cimento.paradigms.cloze.own_tables import read_own_folder
from cimento.suites.cloze import (
    ROLES,
    BaseSentence,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    SeedSet,
    Template,
)

HARD = (
    '"',
    "'",
    "\t",
    "10",
    "null",
    "NA",
    "",
    "[UNK]",
    "##s",
    "\\",
    "|",
    "/",
    " ",
    "a\nb",
    "_",
    "{x}",
)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
words = st.one_of(st.sampled_from(HARD), texts)
names = texts.filter(str.strip)
columns = st.dictionaries(st.sampled_from(["register", "origin"]), words.filter(bool), max_size=2)


def by_role(options: list[Option]) -> tuple[Option, ...]:
    return tuple(option for role in ROLES for option in options if option.role == role)


options = st.lists(
    st.builds(Option, words, st.sampled_from(ROLES), st.lists(words, max_size=2).map(tuple)),
    max_size=4,
).map(by_role)
items = st.builds(ClozeItem, names, words, words, options, st.booleans(), columns)
seed_sets = st.lists(
    st.builds(SeedSet, words, st.lists(words, min_size=1, max_size=3).map(tuple), options, columns),
    max_size=3,
    unique_by=lambda seeds: seeds.category,
).map(tuple)
templates = st.builds(
    Template,
    names,
    st.tuples(st.builds(BaseSentence, words, words)),
    seed_sets,
    options,
    st.booleans(),
    columns,
)
marked = words.filter(lambda text: not set("{}") & set(text))
multiwords = st.builds(
    lambda name, expression, parts, target: MultiwordItem(
        name, expression, "{".join(parts[:2]) + "}" + parts[2], target
    ),
    names,
    names,
    st.tuples(marked, marked, marked),
    columns,
)


class TestRoundTrip:
    @settings(deadline=None)
    @given(st.lists(items, min_size=1, max_size=3), st.lists(multiwords, max_size=2))
    def test_items_and_expressions(self, tmp_path_factory, some, expressions):
        suite = ClozeSuite(Meta("prova"), items=tuple(some), multiwords=tuple(expressions))
        path = write_cloze(suite, tmp_path_factory.mktemp("suite"))
        assert read_own_folder(path).suite == suite

    @settings(deadline=None)
    @given(st.lists(templates, min_size=1, max_size=3, unique_by=lambda template: template.id))
    def test_templates(self, tmp_path_factory, some):
        suite = ClozeSuite(Meta("prova"), templates=tuple(some), cluster="template")
        path = write_cloze(suite, tmp_path_factory.mktemp("suite"))
        assert read_own_folder(path).suite == suite

    @pytest.mark.parametrize("text", HARD)
    def test_tokens_that_tables_damage(self, tmp_path, text):
        item = ClozeItem("1", text, text, (Option(text, "target", (text,)),))
        path = write_cloze(ClozeSuite(Meta("prova"), items=(item,)), tmp_path)
        assert read_own_folder(path).suite.items == (item,)
        assert (path / "items.tsv").read_text("utf-8").count("\n") == 2

    @pytest.mark.parametrize("text", HARD)
    def test_tokens_in_csv_as_a_spreadsheet_program_writes_it(self, tmp_path, text):
        cell = write_options([Option(text)])
        made = io.StringIO()
        csv.writer(made).writerows([["item", "text", "target"], ["1", "La ___.", cell]])
        (tmp_path / "prove.csv").write_text(made.getvalue(), encoding="utf-8", newline="")
        assert load_cloze(tmp_path / "prove.csv").items[0].targets == (text,)

    def test_meta_and_unknown_keys_are_kept(self, tmp_path):
        suite = ClozeSuite(
            Meta("prova", language="it", tags=("a", "b"), extra={"funding": "none"}),
            items=(ClozeItem("1", "La ", " va."),),
            cluster="origin",
            extra={"origin": {"year": 2021}},
        )
        assert read_own_folder(write_cloze(suite, tmp_path)).suite == suite
