"""Files of answers that were read, so that their columns can be corrected.

They are kept in memory until the program ends: what people wrote into a form is stored nowhere but
in the answers, where their names are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.app.incoming import table_in
from cimento.errors import CimentoError
from cimento.intake.forms import of_grid
from cimento.intake.reading import ANSWERS
from cimento.intake.scale_ends import ends_of_all
from cimento.io.files import read_bytes
from cimento.judgments import Judgment
from cimento.judgments.asked import GRID_DASH
from cimento.judgments.forms import form_table
from cimento.suites.reading import sha256_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file of answers, and what was made of it.

    Attributes:
        name: name of the file.
        data: its content.
        roles: the role of each column that has one.
        suite: the test that it was read by; None where its sentences have made one.
        language: of its sentences, ISO 639-1; empty where it was not needed.
        made: that test; None where none was made.
        digest: of the content of that test as it was made; empty without one.
        unsubmitted: whether answers that were never submitted were read.
        has_unsubmitted: whether it has such answers that were not read.
    """

    name: str
    data: bytes
    roles: Mapping[str, str]
    suite: Path | None
    language: str = ""
    made: Path | None = None
    digest: str = ""
    unsubmitted: bool = False
    has_unsubmitted: bool = False

    def rows_of(self, judgment: Judgment) -> list[int]:
        """The rows of the file in which an answer is, as a spreadsheet program counts them.

        An answer that several people gave to one question is in several.

        Args:
            judgment: the answer.
        """
        table = table_in(self.name, self.data)
        value, text = judgment.value or "", judgment.candidate or judgment.item

        def has_it(cells: Mapping[str, str]) -> bool:
            beside = text in map(str.strip, cells.values())
            return any(
                cell.strip() == value
                and (text in name or (beside and self.roles.get(name) == "answer"))
                for name, cell in cells.items()
            )

        return [row.number for row in (table.rows if table else ()) if has_it(row.cells)]

    def scale_named(self, ratings: Sequence[float]) -> tuple[int, int] | None:
        """The ends of the scale in the headings of its answers, which nobody has confirmed.

        Args:
            ratings: those that were read from the file.

        Returns:
            None where the headings name no scale, or several, or few ratings are on it.
        """
        if (table := table_in(self.name, self.data)) is None:
            return None
        form = form_table(table)
        answers = [name for name, role in self.roles.items() if role in ("answer", ANSWERS)]
        headings = [form.heading(name) for name in answers]
        # The question of a grid says it for all of its rows.
        ends = ends_of_all(of_grid(one, dash=GRID_DASH)[0] or one for one in headings)
        if ends is None:
            return None
        n_on = sum(ends[0] <= rating <= ends[1] for rating in ratings)
        return ends if n_on >= _MOST_ON_SCALE * len(ratings) else None

    def test_as_made(self) -> bytes | None:
        """The content of the test that its sentences made; None where somebody changed it."""
        try:
            data = b"" if self.made is None else read_bytes(self.made)
        except CimentoError:
            return None
        return data if data and sha256_of(data) == self.digest else None


_MOST_ON_SCALE = 0.8
"""The proportion of ratings that are on a scale that headings name, or it is another one's."""
_MOST_KEPT = 8
_kept: dict[Path, ReadFile] = {}


def keep(table: Path, file: ReadFile) -> None:
    """Keep a file beside the table of its answers, in place of the oldest of too many."""
    _kept.pop(table, None)
    while len(_kept) >= _MOST_KEPT:
        del _kept[next(iter(_kept))]
    _kept[table] = file


def kept(table: Path) -> ReadFile | None:
    """The file that a table of answers was read from; None where it is known no more."""
    return _kept.get(table)


def drop(table: Path) -> None:
    """Keep a file no longer."""
    _kept.pop(table, None)
