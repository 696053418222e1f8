"""What several tests of studies read, once."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from cimento.intake import workbooks

_read_once = functools.cache(workbooks.read_workbook)


@pytest.fixture(scope="module", autouse=True)
def _workbooks_read_once() -> Iterator[None]:
    """The workbook of the Brazilian study, which takes a second to read, is read once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbooks, "read_workbook", _read_once)
        yield
