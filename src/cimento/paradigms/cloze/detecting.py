"""Which files are suites of blanks: told without what asks about them or judges answers."""

from __future__ import annotations

from pathlib import Path

from cimento.paradigms.cloze.connectives import is_connective_blanks
from cimento.paradigms.cloze.own_tables import is_blank_table

SHEET = "all-eval.tsv"
SYNTACTIC = "BertMaskSyntactic.ipynb"
MULTIWORD = "BertMaskMWE.ipynb"


def is_released(path: Path) -> bool:
    """Whether a file is one of the Brazilian study's whose items can be asked, by its name."""
    return path.name in {SHEET, SYNTACTIC, MULTIWORD} and path.is_file()


def is_cloze(path: Path) -> bool:
    """Whether a path is a file of one of the two studies, or a table of blanks."""
    return is_released(path) or is_connective_blanks(path) or is_blank_table(path)
