"""The CoNLL-U reader beside the validator of Universal Dependencies.

The oracle is ``udtools`` at its levels 1 (the file) and 2 (the tree). Compared is whether a file is
one of trees at all, which the reader decides, and whether anything is wrong, which the check says.
The higher levels judge annotation and not format.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache

import pytest
from udtools import Validator

from cimento import InputError
from cimento.corpus.conllu import read_sentences
from cimento.corpus.conllu_style import check_file

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
    "misplaced-word-interval", "misplaced-empty-node", "invalid-whitespace",
    # Level 2
    "invalid-head", "unknown-head", "head-self-loop", "multiple-roots", "non-tree",
}  # fmt: skip
"""What the validator calls the errors after which there is no tree to read."""


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
        # Less is read: no word is without a form, and no range is of one word.
        pytest.param(with_cell(6, FORM, ""), {"empty-column"}, False, id="no form"),
        pytest.param(with_cell(3, ID, "4-4"), set(), False, id="a range of one word"),
    ],
)
def test_where_the_two_differ(tmp_path, text, theirs, taken):
    assert errors(text) >= theirs
    assert is_read(tmp_path, text) is taken


SIDE_CELLS = {
    3: ("noun", "_", "X Y", "NOUN"),
    4: ("a b", "A|B"),
    5: ("Gen=M|Gen=F", "B=1|A=1", "A=x", "A=1,1", "A", "A[x]=1|A=1", "A=1|A[x]=1", "A=2,1"),
    7: ("Nsubj", "nsubj ", "nsubj:Pass", "_", "nsubj pass"),
    8: ("1", "99:nsubj", "4:obl|1:nsubj", "1:Obl", "6.1:obj", "x", "1:obl:di"),
    9: ("SpaceAfter=No", "_", "Gloss=a b", " Gloss=a"),
}
"""Cells of columns that are not needed to read a sentence, most of them wrong."""


NOT_ASKED = {"unconnected-egraph", "spaceafter-mwt-node", "spaceafter-empty-node"}
"""What is left to the validator: DEPS as a graph, SpaceAfter of nodes that are not tokens."""


def warned(folder, text: str) -> bool:
    path = folder / "a.conllu"
    path.write_text(text, encoding="utf-8", newline="")
    return bool(check_file(path).problems)


@pytest.mark.parametrize("column", SIDE_CELLS)
def test_the_check_says_something_where_the_validator_does(tmp_path, column):
    outcomes = set()
    for place in WORDS:
        for cell in SIDE_CELLS[column]:
            newline = "\n" if column == 9 else ""  # the last column ends the line
            text = with_cell(place, column, cell + newline)
            found = errors(text) - NOT_ASKED
            assert warned(tmp_path, text) is bool(found), (found, text)
            outcomes.add(bool(found))
    assert True in outcomes


@pytest.mark.parametrize(
    "text",
    [
        TREES.removesuffix("\n"),
        TREES + "\n",
        TREES.replace("\n", "\r\n"),
        TREES.replace("# text = Piove.\n", ""),
        TREES.replace("# sent_id = cartolina\n", ""),
        TREES.replace("# text = Piove.\n", "# text = Piove.\n# text = Nevica.\n"),
        TREES.replace("# text = Piove.", "# text = Piove ."),
        TREES.replace("1\tPiove", "# Piove\n1\tPiove").replace("2\t.\t", "# ecco\n2\t.\t"),
        TREES + "# nulla\n\n",
        TREES.replace("\n\n", "\n \n"),
        TREES.replace("Scrivo", "Scrivo\u0300"),
    ],
)
def test_both_notice_lines_and_comments(tmp_path, text):
    assert errors(text)
    assert warned(tmp_path, text)
    assert not warned(tmp_path, TREES)
