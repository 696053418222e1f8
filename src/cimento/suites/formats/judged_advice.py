"""Advice on the judgments of sentences in a table of no known format: labels, ratings, people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from cimento.intake.labels import judges, labels_in
from cimento.intake.marks import advice_on, is_judgments, sides_of
from cimento.intake.roles import fits, numbered
from cimento.intake.shapes import as_option
from cimento.intake.table import Table
from cimento.intake.words import NAMES, PARTICIPANTS, PEOPLE, pattern
from cimento.suites.checks.asides import judgment_mark

_FEWEST_WIDE = 3
_SIDES = 2


def ratings_needed(sentence: str, numbers: Sequence[str]) -> str:
    """Advice on sentences beside columns of numbers, of which one may have their ratings."""
    if len(numbers) > 1:
        option = as_option({"sentence": sentence, "rating": _COLUMN})
        return f"If the sentences were rated, say which column has the ratings: {option}."
    [number] = numbers
    option = as_option({"sentence": sentence, "rating": number})
    return (
        f"If the sentences were rated, call {sentence!r} sentence and {number!r} rating, or give"
        f" {option}. Higher ratings are read as better."
    )


def versions_of(table: Table, sentence: str) -> str:
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


def judgments_needed(table: Table, sentence: str) -> str:
    """Advice on judgments of the sentences in one column; empty where there seem to be none."""
    if any(map(judgment_mark, table.cells[sentence])):
        return (
            f"Some sentences of {sentence!r} have a mark such as *. If those are the bad ones"
            " of pairs, write each beside its good one, in columns good and bad; if not, add a"
            " column rating, with 1, and 0 for those with a mark. Delete the marks."
        )
    if asked := _which_label(table) or _people_needed(table, sentence):
        return asked
    for name in _likeliest(table):
        values = {*filter(None, table.stripped(name))}
        # Two levels in a table with more columns are those of a factor, unless its name judges.
        may_be_two = len(table.columns) <= _FEWEST_WIDE or judges(name)
        is_text = table.profile(name).kind == "sentences"
        if is_text or name in (sentence, table.find("item")) or _counts_rows(table, name):
            continue
        is_named = is_judgments(values) or judges(name)
        if not is_named and (
            name == versions_of(table, sentence) or _varies(table, name, sentence)
        ):
            continue
        if judges(name) and fits(table, name, "rating") and are_numbers(table, name):
            return ratings_needed(sentence, [name])
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


def _which_label(table: Table) -> str:
    """Advice on columns of labels that disagree; empty where there is one, or none."""
    labels = labels_in(table)
    if len(labels) < _SIDES:
        return ""
    options = " or ".join(as_option({"label": name}) for name in labels)
    return f"Several columns may label the sentences, and disagree. Say which: {options}."


def _people_needed(table: Table, sentence: str) -> str:
    """Advice on answers of people, a row for each or a column for each person; empty for others."""
    if person := column_of_people(table):
        numbers = [name for name in columns_of_numbers(table) if may_be_ratings(table, name)]
        rating, *more = [name for name in numbers if name != person] or [_COLUMN]
        roles = {"sentence": sentence, "participant": person, "rating": rating}
        if more or rating == _COLUMN:
            option = as_option({**roles, "rating": _COLUMN})
            return f"If each row is the answer of one person, say which column has it: {option}."
        return f"If each row is the answer of one person, give {as_option(roles)}."
    return people_advised(table, sentence)


def people_advised(table: Table, sentence: str) -> str:
    """Advice on a table with a column for each person, whatever these are called; else empty."""
    people = [name for name in _may_be_people(table) if name != sentence]
    if len(people) < _SIDES:
        return ""
    roles = {"sentence": sentence}
    for name in people:
        roles[numbered("person", roles)] = name
    means = f"; if one of them holds the means, call it rating, and {sentence!r} sentence."
    alone = f"If {', '.join(people)} hold the ratings of one person each"
    if len(roles) > len(people):
        return f"{alone}, give {as_option(roles)}{means}"
    return f"{alone}, join them in one column ratings, with semicolons between them{means}"


def are_numbers(table: Table, name: str) -> bool:
    """Whether a column has numbers, of which there are more than two."""
    return table.profile(name).kind == "numbers" and table.profile(name).n_distinct > _SIDES


_COLUMN = "COLUMN"
"""What is in an option for the name of a column that the user knows."""


def column_of_people(table: Table) -> str:
    """The column that says who answered, by its name and its cells; empty without one."""
    names = {*PARTICIPANTS, *PEOPLE, *(f"{word} id" for word in (*PARTICIPANTS, *PEOPLE))}
    for name in table.columns:
        is_named = re.sub(r"[\W_]+", " ", name.casefold()).strip() in names
        is_text = table.profile(name).kind == "sentences"
        if is_named and not is_text and fits(table, name, "participant"):
            return name
    return ""


def in_excel(table: Table, names: Sequence[str], between: str, skips: str) -> str:
    """How to join the cells of neighboring columns; empty where others are between them."""
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
        key=lambda name: (not judges(name), not is_judgments(table.cells[name])),
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


def columns_of_numbers(table: Table) -> list[str]:
    """The columns of numbers other than those of items, or of rows."""
    item = table.find("item", "id")
    names = (name for name in table.columns if name != item and table.is_mostly(name, is_number))
    return [name for name in names if not _counts_rows(table, name)]


_MEASURE = pattern("measure")
"""Names of columns of numbers that are nobody's ratings."""
_HIGHEST = 10
_FEWEST_IDS = 4


_MEAN = re.compile(r"(?<![^\W\d_])(?:means?|avg|average)(?![^\W\d_])", re.IGNORECASE)


def may_be_ratings(table: Table, name: str) -> bool:
    """Whether a column of numbers may be that of the ratings: no measure, no yes or no."""
    is_one = table.profile(name).n_distinct == 1  # such as a seed
    return fits(table, name, "rating") and not (
        is_one or table.profile(name).two or _MEASURE.search(_MEAN.sub("", name))
    )


def _may_be_people(table: Table) -> list[str]:
    """The columns that may hold the ratings of one person each: points of one scale, no ids."""
    names = []
    for name in columns_of_numbers(table):
        of_column = table.profile(name)
        is_points = of_column.whole or name[-1:].isdecimal()  # as P1, which may be 6,5
        is_scale = is_points and 0 <= of_column.low <= of_column.high <= _HIGHEST
        is_id = of_column.counts and of_column.n >= _FEWEST_IDS
        is_other = _MEASURE.search(name) or judges(name) or name.casefold() in _ANSWERS
        if is_scale and not (is_id or is_other or (of_column.two and not name[-1:].isdecimal())):
            names.append(name)
    return names


_ANSWERS = {"rating", "ratings", "answer", "response", "score", *NAMES["rating"], *NAMES["key"]}
"""Names of a column with the answers of several people."""


def _counts_rows(table: Table, name: str) -> bool:
    """Whether a column numbers the rows: 1, 2, 3, or those of another table."""
    is_row = name.casefold() == "row"
    return is_row or table.stripped(name) == [str(n + 1) for n in range(len(table.numbers))]


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number, perhaps with a decimal comma."""
    return re.fullmatch(r"-?[0-9]+([.,][0-9]+)?", cell) is not None
