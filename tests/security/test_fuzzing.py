"""Readers under mutated files: a value or a message, whatever a file holds."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzzing.mutating import mutate
from tests.fuzzing.targets import TARGETS, Target
from tests.fuzzing.watching import attempt

FILES = [6, pytest.param(300, marks=pytest.mark.slow)]
WATCHDOG_S = 60.0
"""Generous: a test must not fail because a machine is busy."""


def tried(target: Target, content: bytes) -> None:
    with TemporaryDirectory(prefix="cimento-fuzz-") as name:
        attempt(target.read, target.write(content, Path(name)), seconds=WATCHDOG_S)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read(name):
    target = TARGETS[name]
    for seed in target.seeds():
        with TemporaryDirectory() as folder:
            target.read(target.write(seed, Path(folder)))


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("files", FILES)
def test_whatever_a_file_holds_it_is_read_or_refused_with_a_message(name, files):
    target = TARGETS[name]
    seeds = target.seeds()

    @settings(
        max_examples=files,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(seeds), st.integers(0, 2**63))
    def read(content, number):
        generator = random.Random(number)  # noqa: S311  # mutations, not secrets
        tried(target, mutate(content, generator, seeds))

    read()
