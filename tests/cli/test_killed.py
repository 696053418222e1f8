"""Every command that writes, killed at drawn moments and repeated: the same files, none left."""

from __future__ import annotations

import random
import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

from cimento.cli.tree import leaves
from tests.helpers.killing import Killer
from tests.helpers.writing_commands import ELSEWHERE, FILES, READING, REFUSING, SETUP, WRITING

pytestmark = pytest.mark.skipif(not hasattr(sys, "getdlopenflags"), reason="processes fork")

QUICK = ("export", "suites convert", "cite")
"""Commands that stand for the others where little time is: many files, a folder, a file."""


def test_every_command_is_killed_here_or_it_is_said_why_not():
    every = {" ".join(words) for words in leaves()}
    written = {name.partition(" --")[0] for name in WRITING}
    assert every == written | {*ELSEWHERE, *READING}
    assert len(written) + len(ELSEWHERE) + len(READING) == len(every)


@pytest.fixture(scope="module")
def killer(tmp_path_factory):
    place = tmp_path_factory.mktemp("killing")
    threads = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2", "TOKENIZERS_PARALLELISM": "false"}
    made = Killer({**threads, "KILLING_NOTES": str(place), "CIMENTO_CACHE_DIR": str(place / "c")})
    yield made
    made.close()


@pytest.fixture(scope="module")
def prepared(killer, tmp_path_factory) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("work") / "base"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for arguments in SETUP:
        code, _, said = killer.run(arguments, folder)
        assert code == 0, said
    return folder


MOMENT = re.compile(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?")
CANARY = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SECONDS = re.compile(rb'("(?:seconds|usage|[a-z_]*seconds[a-z_]*|[a-z_]*bytes)": ?)[0-9.eE+-]+')


def plain(path):
    """The content of a file without moments, times and ids that are drawn for each."""
    if path.suffix == ".unit":  # its seal covers the seconds that it took
        return b""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            parts = [name.encode() + archive.read(name) for name in sorted(archive.namelist())]
        content = b"".join(parts)
    else:
        content = path.read_bytes()
    return SECONDS.sub(rb"\1", CANARY.sub(b"ID", MOMENT.sub(b"WHEN", content)))


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): plain(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".added"  # on their way to the cache
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "times"),
    [*((name, 2) for name in QUICK),
     *(pytest.param(name, 6, marks=pytest.mark.slow) for name in WRITING)],
)  # fmt: skip
def test_a_command_that_was_killed_ends_well_when_it_is_repeated(killer, prepared, command, times):
    work = prepared.with_name("work")
    arguments = [*command.split(), *WRITING[command]]

    def anew():
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(prepared, work)

    anew()
    code, events, said = killer.run(arguments, work)
    assert code in (0, 4), said
    assert events > 0
    whole = tree(work)
    generator = random.Random(f"{command} 7")  # noqa: S311  # moments, not secrets
    for moment in generator.sample(range(1, events + 1), min(times, events)):
        anew()
        killed, _, _ = killer.run(arguments, work, moment=moment)
        again, _, said = killer.run(arguments, work)
        assert killed in (-9, code), moment
        assert again == code or any(words in said for words in REFUSING), (moment, said)
        left = tree(work)
        assert [name for name in left if "unfinished" in name or ".begun" in name] == [], moment
        assert list(left) == list(whole), moment
        assert [name for name in whole if left[name] != whole[name]] == [], moment
