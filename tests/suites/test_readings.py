"""What readers said of a suite, and the state of review that follows from it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from cimento.suites import builtin
from cimento.suites.builtin import READINGS, find_suite, list_builtin

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


HEADER = ("reader", "native", "item", "condition", "verdict", "remark")


def test_a_suite_that_was_read_says_by_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(find_suite("it-subject-verb"), tmp_path / "it-subject-verb")
    review = tmp_path / "it-subject-verb" / READINGS
    monkeypatch.setattr(builtin, "_FOLDER", tmp_path)
    review.unlink(missing_ok=True)
    assert list_builtin()[0].status == "draft, not yet reviewed by native speakers"
    rows = [("ADA", "no", "1", "mismatch_number", "agrees", ""),
            ("ADA", "no", "2", "mismatch_person", "both", "the plural reads well too"),
            ("BEA", "no", "1", "mismatch_person", "agrees", "")]  # fmt: skip
    lines = ["\t".join(row) + "\n" for row in (HEADER, *rows)]
    review.write_text("".join(lines), encoding="utf-8")
    assert list_builtin()[0].status == "read by 1 person (0 native), 2 of 24 items"
    more = ["CID\tyes\t1\tmismatch_person\tagrees\t\n", "CID\tyes\t2\tmismatch_person\tagrees\t\n"]
    review.write_text("".join([*lines, *more]), encoding="utf-8")
    assert list_builtin()[0].status == "read by 2 people (1 native), 2 of 24 items"
    rest = [
        f"{reader}\tno\t{item}\tmismatch_person\tagrees\t\n"
        for reader in ("ADA", "BEA")
        for item in range(2, 25)
    ]
    review.write_text("".join([*lines, *rest]), encoding="utf-8")
    assert list_builtin()[0].status == "read by 2 people (0 native)"
    models = [line.replace("ADA", "R5").replace("BEA", "R6") for line in [*lines[1:], *rest]]
    review.write_text("".join([*lines, *rest, *models]), encoding="utf-8")
    assert list_builtin()[0].status == "read by 2 people (0 native) and 2 language models"
    review.write_text("".join([lines[0], *models]), encoding="utf-8")
    assert list_builtin()[0].status == "read by 2 language models, by no native speaker"


def test_a_table_without_readings_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(find_suite("it-subject-verb"), tmp_path / "it-subject-verb")
    (tmp_path / "it-subject-verb" / READINGS).write_text("\t".join(HEADER) + "\n", encoding="utf-8")
    monkeypatch.setattr(builtin, "_FOLDER", tmp_path)
    assert list_builtin()[0].status == "draft, not yet reviewed by native speakers"
