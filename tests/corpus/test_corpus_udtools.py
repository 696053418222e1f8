"""The CoNLL-U reader beside the validator of Universal Dependencies.

The oracle is ``udtools`` at its levels 1 (the file) and 2 (the tree). Compared is whether a file is
one of trees at all; what else the validator wants (a text, an order of features, known relations)
is not asked of a treebank here. The higher levels judge annotation and not format.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

import pytest
from udtools import Validator

from cimento import InputError
from cimento.corpus.treebanks import read_sentences

TREES = """# sent_id = lettera
# text = Scrivo dell'estate, e di Lia.
1\tScrivo\tscrivere\tVERB\tV\tMood=Ind|Number=Sing\t0\troot\t0:root\t_
2-3\tdell'\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdi\tdi\tADP\tE\t_\t4\tcase\t4:case\t_
3\tl'\til\tDET\tRD\t_\t4\tdet\t4:det\t_
4\testate\testate\tNOUN\tS\tGender=Fem\t1\tobl\t1:obl:di\tSpaceAfter=No
5\t,\t,\tPUNCT\tFF\t_\t8\tpunct\t8:punct\t_
6\te\te\tCCONJ\tCC\t_\t8\tcc\t8:cc\t_
6.1\tscrivo\tscrivere\tVERB\tV\t_\t_\t_\t1:conj\t_
7\tdi\tdi\tADP\tE\t_\t8\tcase\t8:case\t_
8\tLia\tLia\tPROPN\tSP\t_\t4\tconj\t4:conj|6.1:obl\tSpaceAfter=No
9\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t1:punct\t_

# sent_id = cartolina
# text = Piove.
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t0:root\tSpaceAfter=No
2\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t1:punct\t_

"""
LINES = TREES.splitlines(keepends=True)
WORDS = [place for place, line in enumerate(LINES) if "\t" in line]
KEYS = (
    "", "_", " ", "x", "0", "1", "3", "9", "12", "-1", "1.0", "0.1", "3.1", "6.2", "2-3", "3-2",
    "8-9", "0-1", "8-20", "1-", "1 ", "+1", "1e1", "1_0", "\u0661", "\u00b2", "9" * 30,
)  # fmt: skip
ID, FORM, HEAD = 0, 1, 6

NO_TREE = {
    # Level 1
    "number-of-columns", "invalid-line", "invalid-word-id", "word-id-sequence",
    "reversed-word-interval", "word-interval-out", "overlapping-word-intervals",
    # Level 2
    "invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree",
}  # fmt: skip
"""What the validator calls the errors after which there is no tree to read."""

OUT_OF_PLACE = {"misplaced-word-interval", "misplaced-empty-node"}
"""Errors after which the validator looks no further; the reader minds no such order."""


@cache
def validator() -> Validator:
    return Validator(lang="ud", level=2, output=None)


@cache
def errors(text: str) -> frozenset[str]:
    """The names of the validator's errors."""
    state = validator().validate_file_handle(io.StringIO(text, newline=""))
    return frozenset(incident.testid for incident in state.error_tracker if incident.is_error())


def is_read(folder, text: str) -> bool:
    path = folder / "a.conllu"
    path.write_text(text, encoding="utf-8", newline="")
    try:
        return bool(list(read_sentences(path)))
    except InputError:
        return False


def with_cell(place: int, column: int, value: str) -> str:
    cells = LINES[place].split("\t")
    cells[column] = value
    return "".join([*LINES[:place], "\t".join(cells), *LINES[place + 1 :]])


def changed_lines() -> Iterator[str]:
    """The treebank with one line of a word gone, twice there, cut in two, joined or moved."""
    for place in WORDS:
        before, line, after = LINES[:place], LINES[place], LINES[place + 1 :]
        cells = line.rstrip("\n").split("\t")
        yield "".join([*before, *after])
        yield "".join([*before, line, line, *after])
        yield "".join([*before, "\t".join(cells[:9]), "\n", *after])
        yield "".join([*before, "\t".join([*cells, "_"]), "\n", *after])
        yield "".join([*before, " ".join(cells), "\n", *after])
        if place + 1 in WORDS:
            yield "".join([*before, line, "\n", *after])
            yield "".join([*before, LINES[place + 1], line, *LINES[place + 2 :]])


def test_both_take_a_treebank_without_fault(tmp_path):
    assert errors(TREES) == set()
    assert is_read(tmp_path, TREES)


def assert_both_agree(folder, texts: list[str]) -> None:
    outcomes = set()
    for text in texts:
        refused = bool(errors(text) & NO_TREE)
        if refused or not errors(text) & OUT_OF_PLACE:
            assert is_read(folder, text) is not refused, (errors(text), text)
            outcomes.add(refused)
    assert outcomes == {True, False}


@pytest.mark.parametrize("column", [ID, HEAD])
def test_both_take_and_refuse_the_same_numbers(tmp_path, column):
    texts = [with_cell(place, column, key) for place in WORDS for key in KEYS]
    assert_both_agree(tmp_path, texts)


def test_both_take_and_refuse_the_same_lines(tmp_path):
    assert_both_agree(tmp_path, list(changed_lines()))


def test_every_error_that_leaves_no_tree_is_met():
    cells = [(place, column, key) for place in WORDS for column in (ID, HEAD) for key in KEYS]
    texts = [*changed_lines(), *(with_cell(*cell) for cell in cells)]
    assert set().union(*map(errors, texts)) >= NO_TREE


@pytest.mark.parametrize(
    ("text", "theirs", "taken"),
    [
        # More is read than the validator takes.
        pytest.param(with_cell(6, HEAD, "01"), {"invalid-head"}, True, id="leading zeros"),
        pytest.param(with_cell(9, ID, "4.1"), {"misplaced-empty-node"}, True, id="empty node"),
        pytest.param(
            "".join([*LINES[:3], LINES[4], LINES[3], *LINES[5:]]),
            {"misplaced-word-interval"},
            True,
            id="a range after its first word",
        ),
        # Less is read: no word is without a form, and no range is of one word.
        pytest.param(with_cell(6, FORM, ""), {"empty-column"}, False, id="no form"),
        pytest.param(with_cell(3, ID, "4-4"), set(), False, id="a range of one word"),
    ],
)
def test_where_the_two_differ(tmp_path, text, theirs, taken):
    assert errors(text) >= theirs
    assert is_read(tmp_path, text) is taken
