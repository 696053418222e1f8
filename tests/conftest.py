"""Fixtures that every test may use."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("CIMENTO_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of expected values and real inputs; the test is skipped where it is absent."""
    if not (SHARED / "golden").is_dir():
        pytest.skip(f"the folder of golden values is absent ({SHARED.name}); set CIMENTO_SHARED")
    return SHARED


@pytest.fixture(scope="session")
def zoo_folder(tmp_path_factory) -> Callable[[str], Path]:
    """From the name of a tiny random model in tests/zoo.py to its folder, written once."""
    from tests import zoo

    root = tmp_path_factory.mktemp("zoo")
    return functools.cache(lambda name: zoo.save(name, root / name))
