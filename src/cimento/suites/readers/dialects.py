"""How published tables of minimal pairs name their columns."""

from __future__ import annotations

from dataclasses import dataclass

from cimento.suites.tables import Row, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDialect:
    """The columns of a table with a good and a bad sentence in each row.

    Attributes:
        title: whose tables they are.
        good: column of the grammatical sentence.
        bad: column of the other one.
        ids: columns that may hold the pair's id, the first that is there; where there is none,
            or its values repeat, pairs are numbered.
        phenomena: columns that may name the phenomenon, the first that is there.
        language: of all such tables; empty where they differ.
    """

    title: str
    good: str
    bad: str
    ids: tuple[str, ...] = ("item", "id")
    phenomena: tuple[str, ...] = ("phenomenon",)
    language: str = ""

    def fits(self, table: Table) -> bool:
        """Whether a table has the two columns."""
        return bool(table.find(self.good) and table.find(self.bad))


DIALECTS = (
    PairDialect(title="cimento", good="good", bad="bad"),
    PairDialect(
        title="BLiMP and QFrBLiMP as a table",
        good="sentence_good",
        bad="sentence_bad",
        ids=("pairid", "id"),
        phenomena=("linguistics_term", "phenomenon", "category"),
    ),
    PairDialect(
        title="MultiBLiMP (Jumelet, Weissweiler, Nivre and Bisazza 2025, arXiv:2504.02768)",
        good="sen",
        bad="wrong_sen",
        ids=(),
        phenomena=("phenomenon", "grammatical_feature"),
    ),
    # The names say where a sentence comes from: the source is the grammatical one.
    PairDialect(
        title="RuBLiMP (Taktasheva et al. 2024, arXiv:2406.19232)",
        good="source_sentence",
        bad="target_sentence",
        ids=("id",),
        phenomena=("pid", "phenomenon"),
        language="ru",
    ),
    PairDialect(
        title="Marvin and Linzen 2018 (doi:10.18653/v1/D18-1151) and others",
        good="grammatical",
        bad="ungrammatical",
        ids=("id",),
        phenomena=("test case", "phenomenon"),
    ),
)


def is_pair_table(table: Table) -> bool:
    """Whether each row of a table has a pair, or two."""
    return dialect_of(unfolded(table)) is not None


def unfolded(table: Table) -> Table:
    """A table with two pairs in each row, as one with a pair in each; others as they are.

    The tables of Wang, Hu, Levy and Qian 2021 (doi:10.18653/v1/2021.emnlp-main.454) have the
    columns ``Grammatical_1``, ``Ungrammatical_1``, ``Grammatical_2`` and ``Ungrammatical_2``. The
    pairs get the row's ID with -1 or -2.
    """
    columns = {
        (name, pair): table.find(f"{name}_{pair}")
        for name in ("grammatical", "ungrammatical")
        for pair in (1, 2)
    }
    if None in columns.values():
        return table
    id_column = table.find("id")
    rest = [name for name in table.columns if name not in (id_column, *columns.values())]
    rows = []
    for number, row in enumerate(table.rows, start=1):
        own = row.cells[id_column] if id_column else str(number)
        for pair in (1, 2):
            sentences = {
                name: row.cells[columns[name, pair] or ""]
                for name in ("grammatical", "ungrammatical")
            }
            free = {name: row.cells[name] for name in rest}
            rows.append(Row(row.number, {"id": f"{own}-{pair}", **sentences, **free}))
    return Table(table.name, ("id", "grammatical", "ungrammatical", *rest), tuple(rows))


def dialect_of(table: Table) -> PairDialect | None:
    """The first dialect whose columns a table has."""
    return next((dialect for dialect in DIALECTS if dialect.fits(table)), None)
