"""What is free between blocks in use goes back to the system."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from cimento.io.memory import give_back


def resident_kb() -> int:
    [line] = [
        line
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        if line.startswith("VmRSS:")
    ]
    return int(line.split()[1])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is asked to give back")
def test_gaps_between_blocks_that_are_in_use_are_given_back() -> None:
    # Smaller than what glibc gives back by itself; each twentieth stays.
    blocks = [b"x" * 100_000 for _ in range(1000)]
    kept = blocks[::20]
    del blocks
    before = resident_kb()
    give_back()
    assert before - resident_kb() > 50_000
    assert {len(block) for block in kept} == {100_000}


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cimento.io.memory._trim", lambda: None)
    give_back()
