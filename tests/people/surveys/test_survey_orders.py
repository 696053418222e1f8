"""The stored order of a participant's questions."""

from __future__ import annotations

import contextlib

import pytest

from cimento.errors import StorageError
from cimento.people.surveys import storage
from tests.helpers import survey_help

design, database = survey_help.design, survey_help.database


@pytest.mark.parametrize("order", ["", "null", "3", "[1]", '{"q1": 2}'])
def test_a_damaged_order_of_questions_is_told(design, database, order):
    storage.prepare(database, design)
    storage.invite_participants(database, design, 1)
    with contextlib.closing(storage.open_database(database)) as connection:
        connection.execute("UPDATE participants SET questions = ?", (order,))
    with pytest.raises(StorageError, match=r"the questions of participant 'P-.*' are unreadable"):
        storage.participants(database)
