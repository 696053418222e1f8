"""Advice on the names of columns, for tables in no known format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import product

from cimento.errors import Fault
from cimento.faults import EXAMPLE
from cimento.intake.blanks import BLANK, are_bracketed, has_blank, with_blank
from cimento.intake.forms import program_of
from cimento.intake.labels import judges
from cimento.intake.names import has_letter, is_starred, unstarred
from cimento.intake.numbered import sets_of
from cimento.intake.roles import CONDITIONS, find
from cimento.intake.shapes import as_option, nearest_advised
from cimento.intake.table import Table
from cimento.intake.words import NAMES
from cimento.suites.formats.judged_advice import (
    are_numbers,
    column_of_people,
    columns_of_numbers,
    in_excel,
    is_number,
    judgments_needed,
    may_be_ratings,
    ratings_needed,
    versions_of,
)
from cimento.suites.formats.words_advice import words_advised

_FINAL = (".", "?", "!", "…", "»", "”", '"')
_NAME_WORDS = 6
_OTHER_BLANK = re.compile(r"[\[(] *(?:\.{3,}|…|_+)? *[\])]|\.{3,}|…|\[[^\]]*\]|-{2,}|–{2,}|_{1,2}")
_BOTH_FORMS = re.compile(r"\w+ ?/ ?[*?#]+\w+|[*?#]+\w+ ?/ ?\w+")
_FEWEST_WIDE = 3
_FEWEST_CELLS = 4
_SIDES = 2
_AS_BLANKS = (
    "If these are sentences with blanks, call their column text, that of the right words target,"
    " and those of wrong words distractor 1, distractor 2 and so on; a column plausible is for"
    " other words that fit."
)
_OF_BRACKETS = (
    "If the words in brackets are those that are due in a blank, write ___ in their place, call the"
    " column text, and write the words into a column target."
)
_FEWEST_WORDS = 3


def names_advised(table: Table, faults: Sequence[Fault]) -> str:
    """Advice for a table in no known format, which may be on the wrong sheet."""
    for fault in faults:
        if fault.code == "CIM-S062":
            return f"{fault.seen} {fault.todo}"
    names = (name for name in table.columns if name != table.find("phenomenon"))
    sentences = [name for name in names if _holds_sentences(table, name)]
    if known := (
        _texts_needed(table)
        or words_advised(table)
        or _blanks_needed(table)
        or _continuations_needed(table, sentences)
        or both_in_one(table, sentences)
        or _regions_needed(table)
        or _sets_needed(table, sentences)
    ):
        return known
    # Two columns of sentences are a pair, whatever else the table says of it.
    is_pair = len(sentences) == _SIDES and not table.find("sentence")
    is_wide = bool(table.find("item")) and len(table.columns) > _FEWEST_WIDE
    if is_wide and len(sentences) == 1 and (judged := judgments_needed(table, sentences[0])):
        return judged
    if is_wide and len(sentences) > _SIDES:
        return _conditions_advised(sentences)
    if is_wide and not is_pair and len(sentences) != _SIDES:
        return _AS_TEMPLATE
    return _names_needed(table, sentences)


def _holds_sentences(table: Table, name: str) -> bool:
    """Whether a column holds sentences in most rows; notes on a few of them are none."""
    is_filled = 2 * sum(map(bool, table.stripped(name))) > len(table.numbers)
    is_text = table.profile(name).kind not in ("objects", "numbers", "moments")
    return is_text and is_filled and table.is_mostly(name, is_sentence)


def _conditions_advised(sentences: Sequence[str]) -> str:
    """Advice on columns that may be a condition each, whose names do not say it."""
    roles = {CONDITIONS if n == 1 else f"{CONDITIONS} {n}": name
             for n, name in enumerate(sentences, 1)}  # fmt: skip
    return (
        f"{_nearly_a_cell(sentences)}If each of these columns is a condition, say so:"
        f" {as_option(roles)}. In a design of two factors, their names join the levels, as in"
        " 'long, island'."
    )


_ALIKE = 0.8
"""Similarity from which a name may be a misspelled one; *longisland* has .95 to *long_island*."""


def _nearly_a_cell(names: Sequence[str]) -> str:
    """Advice on a name that is nearly that of the cell which three others lack to be a design."""
    for odd in names:
        others = [_BETWEEN_LEVELS.split(name) for name in names if name != odd]
        if [*map(len, others)] != [_SIDES] * (_FEWEST_CELLS - 1):
            continue
        missing = {*product(*map(set, zip(*others, strict=True)))}.difference(map(tuple, others))
        between = next(filter(None, map(_BETWEEN_LEVELS.search, names)))[0]
        for cell in map(between.join, missing if len(missing) == 1 else ()):
            if SequenceMatcher(None, odd.casefold(), cell.casefold()).ratio() >= _ALIKE:
                meant = f"If {odd!r} is meant to be {cell!r}, the cell that the others lack"
                return f"{meant}, rename it. "
    return ""


_BETWEEN_LEVELS = re.compile(r"[\W_]+")


_AS_TEMPLATE = (
    "Run `cimento suites new pairs NAME.xlsx`, copy this table into its sheet items, and write the"
    " predictions about these columns on its sheet predictions."
)


def _texts_needed(table: Table) -> str:
    """Advice on a table that names sentences of treebanks and does not hold them."""
    if not {"sha256", "sent_id"} <= {*table.columns}:
        return ""
    return (
        "It names sentences of treebanks by their ids and holds no text. Repeat the command that"
        " wrote it with --text, for your own use, or with --license if the license of the treebank"
        " allows more."
    )


def _blanks_needed(table: Table) -> str:
    """Advice on sentences with blanks, or with others than underscores beside words due there."""
    blanks = [
        name
        for name in table.columns
        if table.numbers and all(map(has_blank, map(with_blank, table.cells[name])))
    ]
    if blanks:
        known = {*blanks, table.find("item"), table.find("phenomenon")}
        others = [name for name in table.columns if name not in known]
        if len(blanks) > 1 or [table.profile(name).kind for name in others] != ["words"]:
            return _AS_BLANKS
        sentences, words = table.shown(blanks[0]), table.shown(others[0])
        option = as_option({"sentence": sentences, "target": words})
        return f"If {words!r} holds the words that are due in the blanks, say so: {option}."
    text = table.find("text")
    due = table.find("target")
    if not (text and due) or any(map(has_blank, table.cells[text])):
        return ""
    if table.is_mostly(due, is_number):  # *Respuesta* may head answers of people
        return ""
    todo = f"Write the blank in each cell of {table.shown(text)!r} as three underscores: ___."
    marked = next(filter(_OTHER_BLANK.search, table.cells[text]), "")
    return f"{todo} {EXAMPLE}{_OTHER_BLANK.sub(BLANK, marked, count=1)!r}." if marked else todo


def _continuations_needed(table: Table, sentences: Sequence[str]) -> str:
    """Advice on texts with the right word after them and wrong ones; empty for other tables."""
    due = table.find("target")
    words = [name for name in table.columns if table.profile(name).kind == "words"]
    if due not in words or not sentences or table.find("sentence"):
        return ""
    texts = " and ".join(map(repr, sentences))
    others = [name for name in words if name != due and _is_like(table, name, due)]
    wrong = " or ".join(map(repr, others)) or "the column of wrong words"
    more = ", joined in one column" if len(sentences) > 1 else ""
    return (
        f"If {due!r} is the right word after {texts}, and {wrong} a wrong one, call the text before"
        f" them prefix{more}, the right words good_continuation, and one column of wrong words"
        " bad_continuation."
    )


def _is_like(table: Table, name: str, other: str) -> bool:
    """Whether two columns of words have nearly as many different ones."""
    return 2 * table.profile(name).n_distinct > table.profile(other).n_distinct


def both_in_one(table: Table, sentences: Sequence[str]) -> str:
    """Advice on cells with the good and the bad form of a word, as in ``erano/*era``."""
    for name in sentences:
        if both := next(filter(None, map(_BOTH_FORMS.search, table.cells[name])), None):
            return (
                f"The cells of {name!r} hold two sentences each, as in {both[0]!r}. Write them in"
                " two columns: the whole good sentence in good, the whole bad one in bad, without"
                " marks."
            )
    return ""


def _regions_needed(table: Table) -> str:
    """Advice on a table that may have a column for each region of its sentences."""
    known = [table.find(name) for name in ("item", "condition", "phenomenon", "rating")]
    texts = [
        name for name in table.columns if name not in known and table.is_mostly(name, has_letter)
    ]
    if not (known[0] and known[1]) or table.find("sentence") or len(texts) <= 1:
        return ""
    if table.profile(known[0]).kind == "sentences" and _holds_sentences(table, known[0]):
        return ""  # what is called an item is the sentence
    if column_of_people(table):
        return _ANSWERS_OF_PEOPLE
    return (
        f"If {', '.join(texts)} are the regions of one sentence, join them in one column sentence,"
        f" with bars between them{in_excel(table, texts, ' | ', 'FALSE')}."
    )


def no_suite_advised(table: Table) -> str:
    """Advice on answers of people and on measures of words, which no suite holds; else empty."""
    program, first = program_of(table), table.columns[0]
    comments = sum(cell.startswith("# ") for cell in table.cells[first])
    if program is not None or (first[:1] == "#" and comments >= _FEWEST_COMMENTS):
        title = "PCIbex" if program is None else program.title
        return (
            f"These are answers that {title} wrote: `cimento annotate import {table.name} -o"
            " answers.csv` reads them."
        )
    word, time = (find(table, role, role, *NAMES[role]) for role in ("word", "rt"))
    place = find(table, "position", "position", *NAMES["position"])
    if word and time and place and table.profile(time).kind == "numbers":
        return (
            f"{time!r} looks like a measure of each word in {word!r}, such as its reading time:"
            f" `cimento analyze reading-times {table.name} -m MODEL` compares it with a model."
        )
    return ""


_FEWEST_COMMENTS = 2
"""Lines that begin with a number sign below the first, as all files of PCIbex and Ibex have."""


def _sets_needed(table: Table, sentences: Sequence[str]) -> str:
    """Advice on a design whose items or whose sentences no name tells; empty for other tables."""
    sets = sets_of(table) if len(sentences) == 1 and not table.find("item") else []
    if not sets:
        return ""
    options = " or ".join(
        as_option({"item": way.column, "sentence": sentences[0]}) for way in sets[:_SIDES]
    )
    return f"{sets[0].said} If it is a design, say which column numbers its items: {options}."


_ANSWERS_OF_PEOPLE = (
    'If each row is the answer of one person, the page "Ask people" says how it is read.'
)


def _headed_by_sentences(table: Table) -> str:
    """Advice on a table whose first row holds sentences; empty for others."""
    headings = list(filter(_is_whole_sentence, table.columns))
    asked = [name for name in table.columns if is_sentence(name) and "?" in name]
    if asked and all(_is_chosen_from(table, name) for name in asked):
        return _ANSWERS_OF_PEOPLE
    if len(headings) > 1 and all(table.is_mostly(name, is_number) for name in headings):
        is_alone = len(headings) == len(table.columns)
        told = "add a column participant with a number for each of them, and " if is_alone else ""
        return (
            "If each row has the answers of one person to the sentences of the first row,"
            f" {told}read it with `cimento annotate import {table.name} --form wide --names keep -o"
            ' answers.csv`; the page "Ask people" says what comes next.'
        )
    return _SENTENCES_FIRST if headings else ""


def _is_chosen_from(table: Table, name: str) -> bool:
    """Whether a few cells stand again and again in a column, as answers to a question do."""
    column = table.profile(name)
    return bool(column.values) and column.n_distinct < column.n


_SENTENCES_FIRST = (
    "Its first row holds a sentence, and has to name the columns: good and bad for pairs, sentence"
    " and rating for rated sentences. Put such a row above the others."
)


def of_brackets_advised(table: Table) -> str:
    """Advice on one column of sentences with an answer in brackets; empty for other tables."""
    bracketed = [name for name, cells in table.cells.items() if are_bracketed(cells)]
    return _OF_BRACKETS if len(bracketed) == 1 and table.find("target") is None else ""


def _names_needed(table: Table, sentences: Sequence[str]) -> str:
    """Advice on names of columns, for a table in no known format with some sentences."""
    numbers = [name for name in columns_of_numbers(table) if may_be_ratings(table, name)]
    has_blanks = any(BLANK in cell for cells in table.cells.values() for cell in cells)
    has_side = sentences in ([table.find("good")], [table.find("bad")])
    if (
        known := _headed_by_sentences(table)
        or (_AS_BLANKS if has_blanks else "")
        or (nearest_advised(table) if has_side else "")
    ):
        return known
    if len(sentences) > 1 and (several := _sides_needed(table, sentences)):
        return several
    # A prime or a prompt is there for several sentences, which are what is judged.
    sentences = sorted(sentences, key=lambda name: -table.profile(name).n_distinct)
    sentences = [name for name in sentences if name == table.find("sentence")] or sentences
    if sentences and (judged := judgments_needed(table, sentences[0])):
        return judged
    if sentences and numbers:
        return ratings_needed(sentences[0], numbers)
    if sentences and (versions := versions_of(table, sentences[0])):
        return (
            f"If {versions!r} says which version of its item a sentence is, call it condition;"
            " `cimento suites check` then asks which version should be likelier."
        )
    return (
        f"Nothing says which sentences of {sentences[0]!r} are good; colors and bold type are not"
        " read. For pairs, add a column of items, with one number for both sentences of a pair, and"
        " a column condition, with good and bad; for a design, a column of items and two columns of"
        " factors, every combination of which is once in each item; for ratings, add a column"
        " rating."
        if sentences
        else "Pairs need the columns good and bad, rated sentences the columns sentence and rating;"
        " words for these in German, French, Italian, Spanish, Portuguese and Russian are"
        " understood. For other designs see `cimento suites new --help`, for other formats the page"
        ' "Supported file formats".'
    )


def _sides_needed(table: Table, sentences: Sequence[str]) -> str:
    """Advice on the names of several columns of sentences; empty where one of them is named so.

    They are a pair, the cells of a design, the sentences of a story, or a sentence and a text
    beside it, which has other words.
    """
    if len(sentences) >= _FEWEST_CELLS and all(name[-1].isdigit() for name in sentences):
        return (
            "If each row is a story, run `cimento suites new stories NAME.xlsx`, and copy its"
            " sentences into the sheet items."
        )
    if len(sentences) >= _FEWEST_CELLS:
        return _conditions_advised(sentences)
    first, second, *_ = sentences
    if judged := _star_advised(table, first, second) or _judged_advised(table, sentences):
        return judged
    has_labels = _labels_of_both(table, first, second)
    is_other = table.find("sentence") in sentences or not has_labels
    if is_other and not _are_alike(table, first, second):
        return ""  # such as a part of the sentence, a prime or a prompt
    if has_labels:
        return (
            f"If {first!r} and {second!r} have a label each, write one sentence in each row, with"
            " its label beside it: columns sentence and label."
        )
    is_lettered = first[:-1] == second[:-1] and first[-1:].casefold() in ("a", "1")
    either = (
        " If either may be the good one, add a column key, with A or B in each row."
        if is_lettered and first[-1:].isalpha()
        else ""
    )
    return (
        f"If each row is a pair, rename {first!r} and {second!r}: good is the column of the"
        " grammatical sentences, bad that of the others. Or give"
        f" {as_option({'good': first, 'bad': second})}, or the other way round.{either}"
    )


def _star_advised(table: Table, first: str, second: str) -> str:
    """Advice on two columns of sentences, one of which has a star; empty for others."""
    starred = [
        name
        for name in (first, second)
        if name.lstrip().startswith("*") or table.is_mostly(name, is_starred)
    ]
    if len(starred) != 1 or not _are_alike(table, first, second):
        return ""
    good = second if first in starred else first
    option = as_option({"good": good, "bad": starred[0]})
    return f"If the star marks the ungrammatical sentences of pairs, give {option}."


def _judged_advised(table: Table, sentences: Sequence[str]) -> str:
    """Advice on a column that judges one of two columns of sentences; empty without one."""
    judging = next((name for name in table.columns if judges(name) and name not in sentences), "")
    role = "rating" if judging and are_numbers(table, judging) else "label"
    options = " or ".join(
        as_option({"sentence": name, role: judging}) for name in sentences[:_SIDES]
    )
    return judging and f"Say which sentences {judging!r} judges: {options}."


def _labels_of_both(table: Table, first: str, second: str) -> bool:
    """Whether a column with few values belongs to each of two, as *label1* does to *sentence1*."""
    if first[:-1] != second[:-1] or first[-1:] == second[-1:]:
        return False
    ends = {first[-1:], second[-1:]}
    few = [name for name in table.columns if table.profile(name).n_distinct <= _SIDES]
    stems = [name[:-1] for name in few if name[-1:] in ends and name not in (first, second)]
    return len(stems) == _SIDES and len({*stems}) == 1


def _are_alike(table: Table, first: str, second: str) -> bool:
    """Whether the sentences of two columns have most words in common in most rows, as pairs do."""
    rows = zip(table.stripped(first), table.stripped(second), strict=True)
    words = [({*unstarred(one).split()}, {*unstarred(other).split()}) for one, other in rows]
    alike = [2 * len(one & other) >= len(one | other) for one, other in words if one and other]
    return 2 * sum(alike) > len(alike)


def is_sentence(cell: str) -> bool:
    """Whether a cell has as many words as a sentence."""
    return len(cell.split()) >= _FEWEST_WORDS


def _is_whole_sentence(cell: str) -> bool:
    """Whether a header is a sentence, not a name of several words."""
    return is_sentence(cell) and (cell.rstrip().endswith(_FINAL) or len(cell.split()) > _NAME_WORDS)
