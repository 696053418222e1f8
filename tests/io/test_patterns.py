"""Regular expressions of strangers: which are refused, and that none of the others is endless."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.corpus.queries import _is
from cimento.corpus.queries.parsing import PatternError, parse_request
from cimento.io.patterns import LONGEST_SEARCHED, may_be_endless
from tests.fuzzing.seeds_more import GRAMMAR, LEXICON
from tests.fuzzing.watching import attempt

ENDLESS = [
    r"\w*" * 18 + "!", "(a*)*b", "(a|aa)+$", "(?:a?){30}", "a?" * 30 + "a" * 30, ".*.*.*x",
    "(.*)(.*)(.*)x", "[a-z]+[a-z]+[a-z]+!",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_query_whose_pattern_may_search_without_end_is_refused(pattern):
    with pytest.raises(PatternError, match="may search without end"):
        parse_request(f'pattern {{ V [form=re"{pattern}"] }}')


@pytest.mark.parametrize("pattern", [".*are", ".*[?].*", "(?i)me|te|se", "n?subj.*", r"\w+z\w+"])
def test_usual_patterns_are_taken(pattern):
    parse_request(f'pattern {{ V [form=re"{pattern}"] }}')


def test_a_query_file_of_a_stranger_with_an_endless_pattern_is_refused(tmp_path, capsys):
    path = tmp_path / "x.req"
    path.write_text('pattern { V [form=re"' + r"\w*" * 30 + '!"] }')
    assert invoke(["corpus", "query", str(path), "it_sample"]) == 2
    assert "may search without end" in capsys.readouterr().err


def test_a_text_longer_than_any_word_is_not_searched():
    wanted = re.compile(".*a.*b")
    assert _is("a" * 10 + "b", wanted)
    assert not _is("a" * LONGEST_SEARCHED + "b", wanted)


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_grammar_whose_spelling_may_search_without_end_is_refused(tmp_path, pattern, capsys):
    spelling = f"spelling = [['{pattern}', 'x']]\n".encode()
    (tmp_path / "grammar.toml").write_bytes(spelling + GRAMMAR)
    (tmp_path / "lexicon.tsv").write_bytes(LEXICON)
    assert invoke(["suites", "build", "pairs", str(tmp_path), "-o", str(tmp_path / "o")]) == 2
    assert "may search without end" in capsys.readouterr().err


PIECES = st.sampled_from([
    "a", "b", ".", r"\w", "[ab]", "*", "+", "?", "{2,}", "|", "(", ")", "(?:", "^", "$", "!",
])  # fmt: skip


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_taken_ends(pattern):
    """The watchdog is generous; the refused ones of `ENDLESS` would take years."""
    if may_be_endless(pattern, repetitions=2, longest=5000):
        return
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return
    attempt(lambda _: wanted.fullmatch("a" * 300 + "c"), Path(), seconds=60)
