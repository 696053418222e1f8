"""Whether a copy is of the study's items, of which printed numbers are compared."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from cimento.studies import connectives as checks
from cimento.studies.connectives.user_copy import copy_tables, read_copy


@pytest.mark.parametrize("is_study", [True, False])
def test_the_items_of_the_study_are_compared(
    *, is_study: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there, and one that the paper prints: here one of ours stands for it."""
    letters = "ilfornoèspentoelacucinaèfredda"
    example = hashlib.sha256(letters.encode()).hexdigest()
    monkeypatch.setattr(checks, "EXAMPLES", frozenset({example} if is_study else ()))
    lines = ["id\tsentence\tgrammaticality\tratings"]
    for n in range(1, 260):
        good = "Il forno è spento e la cucina è fredda" if n == 7 else f"Piove e tirano {n} venti"
        lines += [
            f"acc e {n}A\t{good}.\tyes\t5,4",
            f"acc e {n}NA\tPiove se tirano {n} venti.\t{'no' if n <= 98 else 'yes'}\t1,2",
        ]
    (tmp_path / "acceptability.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    [table, *_] = copy_tables(read_copy(tmp_path))
    # Mean and standard deviation of the four groups of labels.
    assert table.compared == (8 if is_study else 0)
    said = "of other items: none of these sentences is printed there"
    assert (said in table.source) is not is_study
