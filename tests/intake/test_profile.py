"""What the cells of a column are."""

import pytest

from cimento.intake.profile import profile


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("[MASK]", "words"),
        ("[Il gatto dorme.]", "sentences"),
        ('["a", "b"]', "objects"),
        ("['a', 'b']", "objects"),
        ("[1, 2]", "objects"),
        ('{"a": 1}', "objects"),
    ],
)
def test_brackets_alone_make_no_object_of_json(cell, kind):
    assert profile([cell] * 3).kind == kind
