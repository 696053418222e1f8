"""Tables of the window in tests: bare grids, and what the page asks about them."""

from cimento.app.checking import check_grid
from cimento.app.editing import Grid, sheet_of
from cimento.app.proposing import question_of


def grid(*rows):
    """A bare table of some rows, the first of which has the names of its columns."""
    return Grid("g", {"items": sheet_of([list(row) for row in rows])}, described=False)


def asked(made):
    """What the page asks about a grid, or proposes; None for nothing."""
    return question_of(made, check_grid(made).findings)


SETS = [
    ("el vecino", "compró", "una bici"),
    ("la jueza", "leyó", "el informe"),
    ("mi prima", "pintó", "la puerta"),
    ("el chef", "quemó", "el asado"),
    ("tu tía", "vendió", "el piso"),
    ("la niña", "perdió", "el lápiz"),
]
"""Subject, verb and object of the sentences of designs in Spanish."""


def stored(made, path):
    """Store the rows of a grid as a table that the window opens."""
    path.parent.mkdir()
    rows = made.items.rows
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")


FOUR = (
    ("1", "Chi pensa che Ugo corra?", "Chi pensi che corra?", "Chi chiede se Ugo corra?",
     "Chi chiedi se corra?"),
    ("2", "Chi crede che Ada rida?", "Chi credi che rida?", "Chi domanda se Ada rida?",
     "Chi domandi se rida?"),
)  # fmt: skip
"""Items of a design: the number of each, and its four sentences, plain ones before the island."""
