"""Tables with one person in each row and one item in each column, as form programs write them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from cimento.errors import InputError, UsageError, counted
from cimento.intake.forms import of_grid
from cimento.intake.names import ends_sentence
from cimento.intake.reading import ANSWERS
from cimento.intake.scale_ends import scales_behind, without_scale
from cimento.intake.table import Table
from cimento.intake.tables import open_table
from cimento.judgments import BETTER, BOTH, NONE, TEXT, ColumnMap, RawRow
from cimento.judgments.asked import (
    GRID_DASH,
    AskedItems,
    kept_without,
    numbers_before,
    without_number,
)
from cimento.judgments.chosen import ChoiceQuestion, choices_in, choices_said, ties_said
from cimento.judgments.codes import decoded
from cimento.judgments.columns import Answers, by_itself, no_items
from cimento.judgments.doubted import about_people, doubts, outside_grid, with_scale_alone
from cimento.judgments.formats import RawAnswers
from cimento.judgments.forms import FormTable, form_table
from cimento.judgments.participants import (
    ANNOTATOR,
    addresses_kept_out,
    by_number,
    is_named,
    nobody,
    of_wide,
    remark,
    rows_advised,
    times_of,
)
from cimento.judgments.roles import answers_reading, field_of, resolved, rows_of, with_roles

_SHOWN = 5
_NO_CHOICE = "its answers are not sentences to choose from"
_NAME_ITEMS = "If it is about the person, name the sentences with --items."
_CALLED_SO = "it is called as in a table with an answer in each row"
_QUESTION_ID = re.compile(r"q\d+|check-\d+")
"""The ids that surveys of our own give to questions and attention checks."""


def read_wide(
    path: Path,
    columns: ColumnMap,
    places: AskedItems,
    *,
    form: str = "",
    items: Sequence[str] = (),
    unsubmitted: bool = False,
    keep_names: bool = False,
) -> RawAnswers:
    """A table with one person in each row, and one item in each column; see `_others`.

    Args:
        path: of the table.
        columns: which columns are not items but fields.
        places: what the suite asks; may be empty.
        form: the program that wrote the table, as in `intake/forms.toml`; empty if not said.
        items: names of the columns that are items, with ``*`` for any letters; empty if not said.
        unsubmitted: whether answers that were never submitted are kept.
        keep_names: whether names are stored as they are: addresses then only if they are chosen.

    Raises:
        InputError: it cannot be read, or no column is an item.
        UsageError: a column that somebody has chosen does not fit its role.
    """
    read = form_table(open_table(path, apart=True), form, unsubmitted=unsubmitted)
    _refuse_answers(columns)
    table, columns = with_roles(read.table, _by_first_row(_of_program(columns, read), read))
    columns, called = _without_answers(columns)
    named = is_named(table, columns)
    people = "" if named else of_wide(table, read, keep_names=keep_names)
    rest = [name for name in table.columns if name.strip() and name not in {*columns.taken, people}]
    asked = _asked(read, table, rest, places, items, columns.values, called)
    if not named and not people:
        raise nobody(table, [*asked.others], advice=rows_advised(table))
    _refuse_unfit(table, rest, asked)
    columns, notes = _with_people(columns, people, read, keep_names=keep_names)
    reading = answers_reading(
        table, columns, program=read.title, roles={ANSWERS: asked.items}, unused=asked.others,
        written=[name for name in read.written if name in asked.others],
        matched=_matched(read, asked.rated, places),
    )  # fmt: skip
    # The answers of a design are those that it has.
    rated = [] if places.complete else asked.rated
    table, codes = decoded(table, rated, columns.values, coded=read.coded)
    names, numbered = _item_names(read, asked, places)
    rows, passed, ties = _melted(table, columns, names, asked.choices, is_of_suite=bool(places))
    remarks = _remarks(read, asked, places, {} if places or items else names)
    said, unnamed = (*notes, *remarks, *numbered, *ties, *codes), _are_unnamed(people, table, read)
    return RawAnswers(rows, {**read.passed, **passed}, said, reading, unnamed)


def _are_unnamed(people: str, table: Table, form: FormTable) -> bool:
    """Whether the column that tells people apart has times, or numbers that begin in each form."""
    numbered = bool(people) and people == form.numbered
    return people in times_of(table) or (numbered and all(map(str.isdigit, table.stripped(people))))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The columns of a table with a person in each row.

    Attributes:
        items: the columns with answers.
        others: the columns without, each with what it has instead, which may be empty.
        choices: of the items those whose answers are sentences.
    """

    items: Sequence[str]
    others: Mapping[str, str]
    choices: Mapping[str, ChoiceQuestion]

    @property
    def rated(self) -> list[str]:
        """The items with other answers."""
        return [name for name in self.items if name not in self.choices]


def _asked(
    form: FormTable,
    table: Table,
    rest: Sequence[str],
    places: AskedItems,
    items: Sequence[str],
    values: Mapping[str, str],
    called: Collection[str],
) -> _Asked:
    """The columns that are items, and those that are not; see `_others`."""
    choices = _choices(form, table, rest, places, items, values)
    plain = [name for name in rest if name not in choices]
    others = _others(form, table, plain, places, items, called)
    if choices and not (places or items):
        others = _beside_choices(form, table, plain, others)
    return _Asked([name for name in rest if name not in others], others, choices)


def _choices(
    form: FormTable,
    table: Table,
    rest: Sequence[str],
    places: AskedItems,
    items: Sequence[str],
    values: Mapping[str, str],
) -> dict[str, ChoiceQuestion]:
    """The columns whose answers are sentences; none of a design, which has its answers itself."""
    if places.complete:
        return {}
    asked = [
        name
        for name in rest
        if name not in form.written and (not items or _named(form, name, items))
    ]
    return choices_in(
        {name: table.stripped(name) for name in asked},
        {name: form.heading(name) for name in asked},
        places,
        values=values,
        coded=form.coded,
    )


def _beside_choices(
    form: FormTable, table: Table, rest: Sequence[str], others: Mapping[str, str]
) -> dict[str, str]:
    """The columns that are not items beside choices: all but sentences that were rated."""
    return {
        name: others.get(name, _NO_CHOICE)
        for name in rest
        if not (
            name not in others
            and Answers(table.cells[name]).are_numbers
            and ends_sentence(form.heading(name))
            and not form.heading(name).rstrip().endswith("?")
        )
    }


def _without_answers(columns: ColumnMap) -> tuple[ColumnMap, frozenset[str]]:
    """Where fields of people stand, and the columns that would have single answers and items."""
    single = ("value", "item", TEXT)
    called = frozenset(name for field in single for name in columns.columns.get(field, ()))
    kept = {field: names for field, names in columns.columns.items() if field not in single}
    return replace(columns, columns=kept), called


def _with_people(
    columns: ColumnMap, people: str, form: FormTable, *, keep_names: bool
) -> tuple[ColumnMap, Sequence[str]]:
    """Where fields stand, with the columns of people and of times; and what is said of people."""
    # Beside pseudonyms the time of a submission could tell who somebody is.
    times = times_of(form.table)
    sent = (form.submitted or (times[0] if len(times) == 1 else "")) if keep_names else ""
    if sent and not columns.columns.get("at") and form.table.profile(sent).kind == "moments":
        columns = replace(columns, columns={**columns.columns, "at": (sent,)})
    if not people:
        return columns, ()
    is_number = people == form.numbered
    note = by_number(people) if is_number else remark(people, is_time=people in times)
    aside = addresses_kept_out(form, people) if keep_names else ()
    return replace(columns, columns={**columns.columns, ANNOTATOR: (people,)}), (note, *aside)


def _refuse_answers(columns: ColumnMap) -> None:
    """Refuse a choice of the column of answers where every item has one.

    Raises:
        UsageError: there is such a choice.
    """
    for role in ("answer", "rating", "item", "sentence"):
        if role in columns.chosen:
            raise UsageError(
                where=f"--columns={role}=",
                seen="in a table with a person in each row every item has a column of answers",
                todo="Say with --items which columns are items; or give --form long if each row has"
                " one answer.",
            )


def _nothing_asked(table: Table, rest: Sequence[str]) -> InputError:
    """The error of a table none of whose columns is an item."""
    shown = ", ".join(rest[:_SHOWN]) or "none"
    return InputError(
        where=table.name,
        seen=f"no column is headed by an item of the suite; other columns found: {shown}",
        todo="Head columns with ids such as 'e 1/acceptable', or with the sentences.",
    )


_AGAIN = re.compile(r"(.*) \([0-9]+\)", re.DOTALL)
"""What a second column of one name is called, see `open_table`."""


def _refuse_unfit(table: Table, rest: Sequence[str], asked: _Asked) -> None:
    """Refuse a table without answers, and two columns of one name that both have ratings.

    Raises:
        InputError: no column is an item; or a sentence was rated for two things, say.
    """
    if not asked.items:
        raise _nothing_asked(table, rest)
    chosen = asked.rated
    for name in chosen:
        if (match := _AGAIN.fullmatch(name)) and match[1] in chosen:
            raise InputError(
                where=table.name,
                seen=f"the column {match[1]!r} appears twice, with answers both times",
                todo="Rename one of the two, or delete it if it asked for something else.",
            )


def _of_program(columns: ColumnMap, form: FormTable) -> ColumnMap:
    """A map with the columns that the program of a form writes, such as the time of a sitting."""
    known = form.program.roles if form.program else {}
    own = {field_of(role): tuple(names) for role, names in known.items()}
    more = {name: (*columns.columns.get(name, ()), *also) for name, also in own.items()}
    return replace(columns, columns={**columns.columns, **more})


def _by_first_row(columns: ColumnMap, form: FormTable) -> ColumnMap:
    """A map whose columns may be named by what people read, by the names of the first row."""
    names = {heading: name for name, heading in form.headings.items()}
    names |= {old: new for new, old in form.table.origin.items()}
    known = {*form.table.columns}

    def first(given: str) -> str:
        plain = given.removesuffix("!")
        if given in known or plain in known:
            return given
        return names[plain] + given[len(plain) :] if plain in names else given

    return replace(columns, chosen={role: first(given) for role, given in columns.chosen.items()})


def _others(
    form: FormTable,
    table: Table,
    rest: Sequence[str],
    places: AskedItems,
    items: Sequence[str],
    called: Collection[str],
) -> dict[str, str]:
    """The columns that are not items, each with what it has instead, which may be empty.

    Where the suite is known, the columns that are headed by an id or a text of it are items, also
    where that is in brackets after a question. Where it is not, those are items that the user
    names, or else those whose cells may be answers (`no_items`), and that are not among `called`:
    those that have all answers, in a table with an answer in each row.
    """
    if places:
        return {
            name: "" for name in rest if not places.find(form.heading(name), name, where=table.name)
        }
    cells = {name: Answers(table.cells[name]) for name in rest}
    if items:
        return {
            name: column.never
            for name, column in cells.items()
            if column.never or not _named(form, name, items)
        }
    out = {name: "" for name in rest if name in form.written}
    out |= {name: _CALLED_SO for name in rest if name in called and name not in out}
    return out | _not_items(form, table, [name for name in rest if name not in out], cells)


def _not_items(
    form: FormTable, table: Table, rest: Sequence[str], cells: Mapping[str, Answers]
) -> dict[str, str]:
    """The columns that are not items by what is in them and by what the others are."""
    dash = bool(form.headings)
    apart = outside_grid({name: form.heading(name) for name in rest}, cells, dash=dash)
    # Their numbers say nothing of the scale, and what is in words has reasons of its own.
    out = {
        name: by_itself(form.heading(name), cells[name]) or why
        for name, why in apart.items()
        if cells[name].are_numbers
    }
    left = [name for name in rest if name not in out]
    times = Counter(map(form.heading, left))
    back = {head if times[head := form.heading(name)] == 1 else name: name for name in left}
    why = no_items({head: cells[name] for head, name in back.items()}, where=table.name)
    why |= {head: apart[name] for head, name in back.items() if head not in why and name in apart}
    asked = {head: cells[name] for head, name in back.items() if head not in why}
    why |= dict(with_scale_alone(asked, dash=dash))
    asked = {head: column for head, column in asked.items() if head not in why}
    before = [*itertools.takewhile(lambda head: head not in asked, back)]
    why |= dict(about_people(asked, before, dash=dash))
    return out | {back[head]: reason for head, reason in why.items()}


def _named(form: FormTable, name: str, items: Sequence[str]) -> bool:
    return any(
        fnmatchcase(text, pattern) for text in (name, form.heading(name)) for pattern in items
    )


def _remarks(
    form: FormTable, asked: _Asked, places: AskedItems, doubted: Mapping[str, str]
) -> Iterator[str]:
    """What is said of the questions of a table, of which some may be no sentences."""
    yield from _bare(form, asked.rated, places)
    yield from _strange(asked.others, places)
    yield from choices_said(asked.choices, {name: form.heading(name) for name in asked.choices})
    texts = [doubted[name] for name in asked.rated if name in doubted]
    yield from doubts(texts, todo=_NAME_ITEMS)


def _matched(form: FormTable, rated: Sequence[str], places: AskedItems) -> dict[str, str]:
    """The rated questions of which a suite knows the item, each with the item's condition."""
    found = {
        name: places.find(form.heading(name), name, where=form.table.name)
        for name in (rated if places else ())
    }
    return {
        name: "/".join(filter(None, (place.item, place.condition)))
        for name, place in found.items()
        if place
    }


_NUMBER, _SCALE = "number before", "scale after"
"""What forms write beside the sentences of questions."""


def _bare(form: FormTable, chosen: Sequence[str], places: AskedItems) -> Iterator[str]:
    """What is said of questions that a suite has without their numbers or scales."""
    for plain, beside in ((without_number, _NUMBER), (without_scale, _SCALE)):
        found = [name for name in chosen if places.only_without(plain, form.heading(name), name)]
        if found:
            count = counted(len(found), "question was", "questions were")
            first = form.heading(found[0])
            yield f"{count} matched without the {beside} the sentence, such as {first!r}."


def _strange(others: Mapping[str, str], places: AskedItems) -> Iterator[str]:
    """What is said of columns that are called like questions of a design that lacks them."""
    for name in others if places.complete else ():
        if _QUESTION_ID.fullmatch(name.strip()):
            yield f"column {name!r} is not a question of the design: is this the right design?"


def _item_names(
    form: FormTable, asked: _Asked, places: AskedItems
) -> tuple[Mapping[str, str], Iterator[str]]:
    """Each column with the name of its item, and what is said of what is left out around them."""
    names = _headings(form, asked.items)
    if places:  # a suite finds its sentences with numbers and scales or without them
        return names, iter(())
    rated = [names[name] for name in asked.rated]
    plain = numbers_before(rated)
    bare = scales_behind([plain.get(item, item) for item in rated])
    kept = {item: plain.get(item, item) for item in names.values()}
    return (
        {name: bare.get(kept[item], kept[item]) for name, item in names.items()},
        itertools.chain(kept_without(_NUMBER, plain), kept_without(_SCALE, bare)),
    )


def _headings(form: FormTable, chosen: Sequence[str]) -> Mapping[str, str]:
    """Each column with the name of its item: what people read, without the question of a grid.

    Qualtrics writes the question of a grid before each of its rows, with a dash between; others
    write the row behind it, in brackets.
    """
    read = {name: form.heading(name) for name in chosen}
    dash = GRID_DASH if form.headings else ""
    parts = {name: of_grid(heading, dash=dash) for name, heading in read.items()}
    grids = Counter(question for question, _ in parts.values())
    short = {
        name: row if question and grids[question] > 1 else read[name]
        for name, (question, row) in parts.items()
    }
    for names in (short, read):
        if len({*names.values()}) == len(names):
            return names
    return {name: name for name in chosen}


def _melted(
    table: Table,
    columns: ColumnMap,
    names: Mapping[str, str],
    choices: Mapping[str, ChoiceQuestion],
    *,
    is_of_suite: bool,
) -> tuple[list[RawRow], Counter[str], Iterator[str]]:
    """One row for each answer, with the other fields of its person.

    Args:
        table: the rows of people.
        columns: where these fields stand.
        names: each column of an item with the item's name.
        choices: the columns whose answers are sentences.
        is_of_suite: whether a suite or a design has the questions.

    Returns:
        The rows; what was skipped, and how often; and what is said of both and neither.
    """
    people = resolved(rows_of(table), columns)
    answers = {name: table.stripped(name) for name in names}
    rows, passed = list[RawRow](), Counter[str]()
    ties: dict[str, Counter[str]] = {BOTH: Counter(), NONE: Counter()}
    for number, person in enumerate(people):
        for name, item in names.items():
            if not (answer := answers[name][number]):
                continue
            # The heading is whatever the suite calls the item: its id or its text.
            cells = {**person.cells, "item": item, "value": answer}
            if is_of_suite:
                cells[TEXT] = name
            if question := choices.get(name):
                value = question.values.get(answer, answer)
                if not value:
                    passed[f"{answer!r} chooses no sentence"] += 1
                    continue
                if value in ties:
                    ties[value][answer] += 1
                cells |= {"item": question.item or item, "question": BETTER, "value": value}
            rows.append(RawRow(f"{person.where}, column {name!r}", cells))
    return rows, passed, ties_said(ties)
