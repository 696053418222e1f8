"""Advice on the names of columns, for tables in no known format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from cimento.errors import Fault
from cimento.intake.marks import advice_on, is_judgments, names_judgments, sides_of
from cimento.intake.names import has_letter
from cimento.intake.shapes import as_option, nearest_advised
from cimento.intake.table import Table
from cimento.intake.words import pattern
from cimento.suites.checks.asides import judgment_mark
from cimento.suites.faults import EXAMPLE

_FINAL = (".", "?", "!", "…", "»", "”", '"')
_NAME_WORDS = 6
_BLANK = "___"
_OTHER_BLANK = re.compile(r"\.{3,}|…|\[[^\]]*\]|\( *\)|-{2,}|–{2,}|_{1,2}")
_BOTH_FORMS = re.compile(r"\w+ ?/ ?[*?#]+\w+|[*?#]+\w+ ?/ ?\w+")
_FEWEST_WIDE = 3
_FEWEST_CELLS = 4
_SIDES = 2
_AS_BLANKS = (
    "If these are sentences with blanks, call their column text, that of the right words target,"
    " and those of wrong words distractor 1, distractor 2 and so on; a column plausible is for"
    " other words that fit."
)
_FEWEST_WORDS = 3


def names_advised(table: Table, faults: Sequence[Fault]) -> str:
    """Advice for a table in no known format, which may be on the wrong sheet."""
    for fault in faults:
        if fault.code == "CIM-S062":
            return f"{fault.seen} {fault.todo}"
    names = (name for name in table.columns if name != table.find("phenomenon"))
    sentences = [name for name in names if table.is_mostly(name, is_sentence)]
    if known := (
        _texts_needed(table)
        or _blanks_needed(table)
        or _continuations_needed(table, sentences)
        or _both_in_one(table, sentences)
        or _regions_needed(table)
    ):
        return known
    # Two columns of sentences are a pair, whatever else the table says of it.
    is_pair = len(sentences) == _SIDES and not table.find("sentence")
    is_wide = bool(table.find("item")) and len(table.columns) > _FEWEST_WIDE
    if is_wide and len(sentences) == 1 and (judged := _judgments_needed(table, sentences[0])):
        return judged
    if is_wide and not is_pair:
        return _AS_TEMPLATE.format("factorial" if len(sentences) == _FEWEST_CELLS else "pairs")
    return _names_needed(table, sentences)


_AS_TEMPLATE = (
    "Run `cimento suites new {} NAME.xlsx`, copy this table into its sheet items, and write the"
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
    if any(cells and all(_BLANK in cell for cell in cells) for cells in table.cells.values()):
        return _AS_BLANKS
    text = table.find("text")
    due = table.find("target")
    if not (text and due) or any(map(_BLANK.__contains__, table.cells[text])):
        return ""
    if table.is_mostly(due, _is_number):  # *Respuesta* may head answers of people
        return ""
    todo = f"Write the blank in each cell of {text!r} as three underscores: ___."
    marked = next(filter(_OTHER_BLANK.search, table.cells[text]), "")
    return f"{todo} {EXAMPLE}{_OTHER_BLANK.sub(_BLANK, marked, count=1)!r}." if marked else todo


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


def _both_in_one(table: Table, sentences: Sequence[str]) -> str:
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
    return (
        f"If {', '.join(texts)} are the regions of one sentence, join them in one column sentence,"
        f" with bars between them{_in_excel(table, texts, ' | ', 'FALSE')}."
    )


def _headed_by_sentences(table: Table) -> str:
    """Advice on a table whose first row holds sentences; empty for others."""
    headings = list(filter(_is_whole_sentence, table.columns))
    if len(headings) > 1 and all(table.is_mostly(name, _is_number) for name in headings):
        return (
            "If each row has the answers of one person to the sentences of the first row, read it"
            f" with `cimento annotate import {table.name} --form wide --names keep -o answers.csv`;"
            ' the page "What people answered" says what comes next.'
        )
    return _SENTENCES_FIRST if headings else ""


_SENTENCES_FIRST = (
    "Its first row holds a sentence, and has to name the columns: good and bad for pairs, sentence"
    " and rating for rated sentences. Put such a row above the others."
)


def _names_needed(table: Table, sentences: Sequence[str]) -> str:
    """Advice on names of columns, for a table in no known format with some sentences."""
    numbers = [name for name in _columns_of_numbers(table) if not _MEASURE.search(name)]
    has_blanks = any(_BLANK in cell for cells in table.cells.values() for cell in cells)
    has_side = sentences in ([table.find("good")], [table.find("bad")])
    if (
        known := _headed_by_sentences(table)
        or (_AS_BLANKS if has_blanks else "")
        or (nearest_advised(table) if has_side else "")
    ):
        return known
    if len(sentences) > 1:
        return _sides_needed(sentences)
    if sentences and (judged := _judgments_needed(table, sentences[0])):
        return judged
    if sentences and numbers:
        text, number = sentences[0], numbers[0]
        return (
            f"If the sentences were rated, call {text!r} sentence and {number!r} rating. Higher"
            " ratings are read as better."
        )
    if sentences and (versions := _versions(table, sentences[0])):
        return (
            f"If {versions!r} says which version of its item a sentence is, call it condition;"
            " `cimento suites check` then asks which version should be likelier."
        )
    return (
        f"Nothing says which sentences of {sentences[0]!r} are good; colors and bold type are not"
        " read. For pairs, add a column of items, with one number for both sentences of a pair, and"
        " a column condition, with good and bad; for ratings, add a column rating."
        if sentences
        else "Pairs need the columns good and bad, rated sentences the columns sentence and rating;"
        " words for these in Italian, Spanish, Portuguese and Russian are understood. For other"
        ' designs see `cimento suites new --help`, for other formats the page "Supported file'
        ' formats".'
    )


def _versions(table: Table, sentence: str) -> str:
    """The column that tells the sentences of each item apart; empty where none does."""
    item = table.find("item")
    if item is None:
        return ""
    ids = table.stripped(item)
    for name in table.columns:
        cells = table.stripped(name)
        is_told = len({*zip(ids, cells, strict=True)}) == len(ids) > len({*ids})
        if name not in (item, sentence) and is_told and len({*cells}) <= _MOST_VERSIONS:
            return name
    return ""


_MOST_VERSIONS = 8


def _varies(table: Table, name: str, sentence: str) -> bool:
    """Whether a column has several values for one sentence, as that of participants has."""
    texts = table.stripped(sentence)
    return len({*zip(texts, table.stripped(name), strict=True)}) > len({*texts})


def _judgments_needed(table: Table, sentence: str) -> str:
    """Advice on judgments of the sentences in one column; empty where there seem to be none."""
    if any(map(judgment_mark, table.cells[sentence])):
        return (
            f"Some sentences of {sentence!r} have a mark such as *. If those are the bad ones"
            " of pairs, write each beside its good one, in columns good and bad; if not, add a"
            " column rating, with 1, and 0 for those with a mark. Delete the marks."
        )
    people = _may_be_people(table)
    if len(people) > 1:
        return (
            f"If {', '.join(people)} hold the ratings of one person each, join them in one column"
            f" ratings, with semicolons between them{_in_excel(table, people, '; ', 'TRUE')}; if"
            f" one of them holds the means, call it rating. Call {sentence!r} sentence."
        )
    for name in _likeliest(table):
        values = {*filter(None, table.stripped(name))}
        # Two levels in a table with more columns are those of a factor, unless its name judges.
        may_be_two = len(table.columns) <= _FEWEST_WIDE or names_judgments(name)
        if name in (sentence, table.find("item")) or _counts_rows(table, name):
            continue
        is_named = is_judgments(values) or names_judgments(name)
        if not is_named and (name == _versions(table, sentence) or _varies(table, name, sentence)):
            continue
        two = sorted({value.casefold() for value in values})
        if not (is_judgments(values) or (may_be_two and len(two) == _SIDES)):
            continue
        more = pairs_advised(table, name) or _numbers_advised(table, name)
        if two == ["0", "1"]:
            return (
                f"If {name!r} has 1 for the acceptable sentences and 0 for the others, call it"
                f" rating, and {sentence!r} sentence.{more}"
            )
        todo = (
            advice_on(sorted(values), has_blanks=False, header=name)
            if is_judgments(values)
            else f"Write 1 there for the acceptable ones and 0 for the others, not {two[0]!r} and"
            f" {two[1]!r}."
        )
        return (
            f"If {name!r} says which sentences are acceptable, call it rating, and {sentence!r}"
            f" sentence. {todo}{more}"
        )
    return ""


def _in_excel(table: Table, names: Sequence[str], between: str, skips: str) -> str:
    """How to join the cells of neighboring columns; empty where others stand between them."""
    first, last = (table.columns.index(name) for name in (names[0], names[-1]))
    if last - first + 1 != len(names) or last >= len(ascii_uppercase):
        return ""
    left, right = ascii_uppercase[first], ascii_uppercase[last]
    row = table.numbers[0]
    formula = f'=TEXTJOIN("{between}";{skips};{left}{row}:{right}{row})'
    return f" (in Excel, {formula}, if these are the columns {left} to {right})"


def pairs_advised(table: Table, column: str) -> str:
    """Advice on a column that judges the two sentences of each item; empty for other columns."""
    if not _is_twice(table, column):
        return ""
    return (
        f" If the two sentences of an item are a pair, call {column!r} condition instead, and write"
        " good and bad there."
    )


def _numbers_advised(table: Table, column: str) -> str:
    """Advice on the numbers of pairs in a table whose judgments are of two kinds."""
    if not sides_of(column, table.cells[column]):
        return ""
    return " For pairs, give both sentences of a pair one number in a column item."


def _likeliest(table: Table) -> list[str]:
    """The columns of a table, those first whose name or whose cells judge sentences."""
    return sorted(
        table.columns,
        key=lambda name: (not names_judgments(name), not is_judgments(table.cells[name])),
    )


def _is_twice(table: Table, column: str) -> bool:
    """Whether each item has two rows, which differ in a column."""
    if not (item := table.find("item")):
        return False
    sides: dict[str, list[str]] = {}
    last = ""
    for id_, cell in zip(table.stripped(item), table.stripped(column), strict=True):
        last = id_ or last
        sides.setdefault(last, []).append(cell.casefold())
    return all(len(cells) == len(set(cells)) == _SIDES for cells in sides.values())


def _columns_of_numbers(table: Table) -> list[str]:
    """The columns of numbers other than those of items, or of rows."""
    item = table.find("item", "id")
    names = (name for name in table.columns if name != item and table.is_mostly(name, _is_number))
    return [name for name in names if not _counts_rows(table, name)]


_MEASURE = pattern("measure")
"""Names of columns of numbers that are nobody's ratings."""
_HIGHEST = 10
_FEWEST_IDS = 4


def _may_be_people(table: Table) -> list[str]:
    """The columns that may hold the ratings of one person each: points of one scale, no ids."""
    names = []
    for name in _columns_of_numbers(table):
        of_column = table.profile(name)
        is_points = of_column.whole or name[-1:].isdecimal()  # as P1, which may be 6,5
        is_scale = is_points and 0 <= of_column.low <= of_column.high <= _HIGHEST
        is_id = of_column.counts and of_column.n >= _FEWEST_IDS
        if is_scale and not (is_id or _MEASURE.search(name) or names_judgments(name)):
            names.append(name)
    return names


def _counts_rows(table: Table, name: str) -> bool:
    """Whether the cells of a column are 1, 2, 3 and so on, once each and in this order."""
    return table.stripped(name) == [str(n + 1) for n in range(len(table.numbers))]


def _sides_needed(sentences: Sequence[str]) -> str:
    """Advice on the names of two columns of sentences, or of the cells of a design."""
    if len(sentences) >= _FEWEST_CELLS and all(name[-1].isdigit() for name in sentences):
        return (
            "If each row is a story, run `cimento suites new stories NAME.xlsx`, and copy its"
            " sentences into the sheet items."
        )
    if len(sentences) >= _FEWEST_CELLS:
        return (
            "If each column is a condition, name the columns after the two factors, such as"
            " short_nonisland, long_nonisland, short_island and long_island; pairs have the"
            " columns good and bad."
        )
    first, second, *_ = sentences
    return (
        f"If each row is a pair, rename {first!r} and {second!r}: good is the column of the"
        " grammatical sentences, bad that of the others. Or give"
        f" {as_option({'good': first, 'bad': second})}, or the other way round."
    )


def is_sentence(cell: str) -> bool:
    """Whether a cell has as many words as a sentence."""
    return len(cell.split()) >= _FEWEST_WORDS


def _is_whole_sentence(cell: str) -> bool:
    """Whether a header is a sentence, not a name of several words."""
    return is_sentence(cell) and (cell.rstrip().endswith(_FINAL) or len(cell.split()) > _NAME_WORDS)


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?[0-9]+([.,][0-9]+)?", cell) is not None
