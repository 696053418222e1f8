"""What a table was read as, in one line: which column is what, and what is not used or left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from cimento.errors import counted
from cimento.intake.forms import of_grid
from cimento.intake.shapes import Shape
from cimento.intake.table import Table
from cimento.io.inline_markup import columns as aligned

READ = "read"
"""Key in the part of a manifest on the suite: what its table was read as, in one line."""
_SHOWN = 12
"""Largest number of columns of a suite, or of rows, that the line names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReading:
    """A file's reading; each column of a table is in `roles` or in `unused`.

    Attributes:
        shape: what the file is: ``pairs``, or the name of a form without columns.
        roles: the columns of each role, as the file calls them.
        n_items: number of items that came of it; None where a package of others does not say it.
        n_conditions: number of their conditions, in forms without columns; 0 for tables.
        unused: columns that decide nothing; they are kept beside the items.
        left_out: rows that are not part of the table: number, and what it is.
        known: the published data set or program whose form it is; empty for a table of one's own.
        forced: columns whose cells do not fit their role, which somebody chose nevertheless.
        what: what is counted: an item, a story.
        several: the word for several of them; empty for `what` and an s.
    """

    shape: str
    roles: Mapping[str, tuple[str, ...]]
    n_items: int | None
    n_conditions: int = 0
    unused: tuple[str, ...] = ()
    left_out: tuple[tuple[int, str], ...] = ()
    known: str = ""
    forced: tuple[str, ...] = ()
    what: str = "item"
    several: str = ""

    def said(self) -> str:
        """The reading in one line.

        Example:
            >>> roles = {"good": ("Giusta",), "bad": ("Sbagliata",)}
            >>> TableReading(shape="pairs", roles=roles, n_items=5, left_out=((7, "a sum"),)).said()
            'Read as pairs: good = "Giusta", bad = "Sbagliata"; 5 items; left out: row 7 (a sum).'
            >>> TableReading(shape="SyntaxGym JSON", roles={}, n_items=24, n_conditions=4).said()
            'Read as SyntaxGym JSON: 24 items, 4 conditions.'
        """
        form = f" in the form of {self.known}" if self.known else ""
        roles = ", ".join(f"{role} = {_quoted(names)}" for role, names in self.roles.items())
        count = "" if self.n_items is None else counted(self.n_items, self.what, self.several)
        if self.n_conditions:
            count += f", {counted(self.n_conditions, 'condition')}"
        parts = [
            f"Read as {self.shape}{form}" + (f": {said}" if (said := roles or count) else ""),
            count if roles else "",
            f"kept, not scored: {_quoted(self.unused)}" if self.unused else "",
            f"left out: {_rows(self.left_out)}" if self.left_out else "",
            f"taken as you say, against what it holds: {_quoted(self.forced)}"
            if self.forced
            else "",
        ]
        return f"{'; '.join(filter(None, parts))}."


ANSWERS = "answers"
"""The role of the columns with the answers to one item each, in a table with a person per row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersReading:
    """What a file of people's answers was read as; each of its columns is in one of the parts.

    Attributes:
        program: that wrote it; empty for a table of one's own.
        roles: the columns of each role, as the file calls them.
        unused: columns that decide nothing, each with what it holds instead, which may be empty.
        written: columns that the program writes itself.
        left_out: rows that have no answer of a person: number, and what it is.
        forced: columns whose cells do not fit their role, which somebody chose nevertheless.
        n_judgments: number of judgments that came of it.
        n_people: number of people who gave them.
        n_files: number of files that were read so.
        matched: the columns of answers of which a suite knows the item, each with the item.
    """

    program: str
    roles: Mapping[str, tuple[str, ...]]
    unused: Mapping[str, str]
    written: tuple[str, ...] = ()
    left_out: tuple[tuple[int, str], ...] = ()
    forced: tuple[str, ...] = ()
    n_judgments: int = 0
    n_people: int = 0
    n_files: int = 1
    matched: Mapping[str, str] = field(default_factory=dict)

    @property
    def layout(self) -> tuple[object, ...]:
        """What files that are read alike have in common; they may ask other questions."""
        fields = {role: names for role, names in self.roles.items() if role != ANSWERS}
        return (self.program, tuple(fields.items()))

    def with_file(self, other: AnswersReading) -> AnswersReading:
        """The reading of one more file that was read alike."""
        asked = {
            **dict.fromkeys(self.roles.get(ANSWERS, ())),
            **dict.fromkeys(other.roles.get(ANSWERS, ())),
        }
        return replace(
            self,
            roles={**self.roles, **({ANSWERS: tuple(asked)} if asked else {})},
            unused={**other.unused, **self.unused},
            written=tuple(dict.fromkeys([*self.written, *other.written])),
            left_out=(*self.left_out, *other.left_out),
            n_files=self.n_files + other.n_files,
            matched={**other.matched, **self.matched},
        )

    def said(self, *, whole: bool = False) -> str:
        r"""The reading in one line.

        Args:
            whole: whether the names of all questions are in it, as they are in the file.

        >>> roles = {"participant": ("Code",), "answers": ("Q1", "Q2")}
        >>> reading = AnswersReading(
        ...     program="Qualtrics", roles=roles, unused={"Q3": "it has ages"}, n_judgments=4,
        ...     n_people=2, left_out=((4, "a preview"),),
        ... )
        >>> print(reading.said().replace("; ", ";\n"))
        Read as answers of Qualtrics: participant = "Code", answers = "Q1", "Q2";
        4 judgments of 2 people;
        not used: "Q3" (it has ages);
        left out: row 4 (a preview).
        """
        return f"{'; '.join(self._parts(whole=whole))}."

    @property
    def parts(self) -> list[str]:
        """The parts of the line, with the first questions and how many more there are."""
        return self._parts(whole=False)

    def listed(self) -> str:
        """Every column of the table in a line, behind what it was read as."""
        rows = [
            (self.matched.get(name, role), name)
            for role, names in self.roles.items()
            for name in names
        ]
        rows += [(f"not used{why and f' ({why})'}", name) for name, why in self.unused.items()]
        rows += [(f"written by {self.program or 'the program'}", name) for name in self.written]
        return aligned(rows, indent=2)

    def _parts(self, *, whole: bool) -> list[str]:
        of = f" of {self.program}" if self.program else ""
        shown = self._shown(whole=whole)
        roles = ", ".join(
            f"{role} = {_asked([shown.get(name, name) for name in names], whole=whole)}"
            for role, names in self.roles.items()
        )
        people = counted(self.n_people, "person", "people")
        parts = [
            f"Read as answers{of}: {roles}",
            f"{counted(self.n_judgments, 'judgment')} of {people}"
            + (f" in {self.n_files} files" if self.n_files > 1 else ""),
            f"not used: {self._unused(shown, whole=whole)}" if self.unused else "",
            f"written by {self.program or 'the program'}: {_quoted(self.written)}"
            if self.written
            else "",
            f"left out: {self._left_out()}" if self.left_out else "",
            f"taken as you say, against what it holds: {_quoted(self.forced)}"
            if self.forced
            else "",
        ]
        return [*filter(None, parts)]

    def _shown(self, *, whole: bool) -> dict[str, str]:
        """Names of questions as the line has them: of a grid the row only, and no long ones."""
        names = [*self.roles.get(ANSWERS, ()), *self.unused]
        split = {name: of_grid(name) for name in names}
        grids = Counter(question for question, _ in split.values() if question)
        rows = {
            name: f"[{_begun(row)}]" if grids[question] > 1 else _begun(name)
            for name, (question, row) in split.items()
        }
        return {} if whole else rows

    def _unused(self, shown: Mapping[str, str], *, whole: bool) -> str:
        """The columns that are not used, rows of grids last, of which there may be many."""
        of_grids = [name for name in self.unused if shown.get(name, "").startswith("[")]
        ordered = [*(name for name in self.unused if name not in of_grids), *of_grids]
        several = len(ordered) > _SHOWN and not whole
        most = len(ordered) - len(of_grids) + _BEGUN if several else len(ordered)
        parts = [
            f'"{shown.get(name, name)}"' + (f" ({why})" if (why := self.unused[name]) else "")
            for name in ordered
        ]
        return _first(parts, min(most, _SHOWN) if several else most)

    def _left_out(self) -> str:
        if self.n_files == 1:
            by_kind = {what: n for n, (_, what) in enumerate(self.left_out)}
            return _rows(sorted(self.left_out, key=lambda row: (by_kind[row[1]], row[0])))
        counts = Counter(what for _, what in self.left_out)
        return ", ".join(f"{counted(count, 'row')} ({what})" for what, count in counts.items())


def reading_of(
    table: Table,
    shape: Shape,
    roles: Mapping[str, str | Sequence[str | None] | None],
    *,
    n_items: int,
    known: str = "",
    own: Collection[str] = (),
) -> TableReading:
    """The reading of a table, in which every column is accounted for.

    Args:
        table: the table as it came from its file.
        shape: what it is.
        roles: the column or columns of each role, by their names in the table; None for a role
            without one, and names that the table lacks count for nothing.
        n_items: number of items.
        known: the published form.
        own: columns that stand for themselves, such as the numbers of rows.
    """
    named = dict[str, tuple[str, ...]]()
    for role, columns in roles.items():
        several = [columns] if isinstance(columns, str) or columns is None else columns
        if there := [name for name in dict.fromkeys(several) if name and name in table.cells]:
            named[role] = tuple(there)
    used = {*own}.union(*named.values())
    order = [*shape.needs, *shape.may]
    named = dict(sorted(named.items(), key=lambda entry: (*order, entry[0]).index(entry[0])))
    return TableReading(
        shape=shape.name,
        roles={role: tuple(map(table.shown, names)) for role, names in named.items()},
        n_items=n_items,
        unused=tuple(table.shown(name) for name in table.columns if name not in used),
        left_out=table.left_out,
        known=known,
        forced=tuple(map(table.shown, sorted(table.forced))),
    )


def reading_of_keys(
    keys: Iterable[str],
    shape: Shape,
    roles: Mapping[str, str | Sequence[str | None] | None],
    *,
    n_items: int,
    known: str = "",
) -> TableReading:
    """The reading of objects by their keys, which are to them what columns are to a table.

    Args:
        keys: the keys of all objects.
        shape: what the objects are.
        roles: the key or keys of each role, as for `reading_of`.
        n_items: number of items.
        known: the published form.
    """
    names = tuple(dict.fromkeys(keys))
    header = Table("", names, (), dict.fromkeys(names, ()))
    return reading_of(header, shape, roles, n_items=n_items, known=known)


def with_role(reading: TableReading, role: str, columns: Iterable[str]) -> TableReading:
    """The reading of a table in which a role has those of some columns that had none."""
    named = tuple(name for name in reading.unused if name in {*columns})
    if not named:
        return reading
    rest = tuple(name for name in reading.unused if name not in named)
    return replace(reading, roles={**reading.roles, role: named}, unused=rest)


def _quoted(names: Sequence[str], most: int = _SHOWN) -> str:
    return _first([f'"{name}"' for name in names], most)


def _first(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _asked(names: Sequence[str], *, whole: bool) -> str:
    """Columns; of a long questionnaire the first ones, and how many more there are."""
    return _quoted(names, len(names) if whole or len(names) <= _SHOWN else _BEGUN)


def _begun(name: str) -> str:
    """The name of a question, cut where it is long."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST].rstrip()} ..."


_LONGEST = 36
"""Most characters of a question that the line shows."""

_BEGUN = 3
"""Number of questions of a long questionnaire that are named."""


def _rows(left_out: Sequence[tuple[int, str]]) -> str:
    """Rows that were left out, those of one kind together: ``row 1 (a title), rows 7 and 9 (...)``.

    Rows of one kind that follow each other are named together.
    """
    parts = list[str]()
    for what, rows in groupby(left_out, key=lambda row: row[1]):
        numbers = [str(number) for number, _ in rows]
        shown = ", ".join(numbers[:_SHOWN])
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        parts.append(f"{'rows' if len(numbers) > 1 else 'row'} {shown}{more} ({what})")
    return ", ".join(parts[:_SHOWN]) + (" and more" if len(parts) > _SHOWN else "")
