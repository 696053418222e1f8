"""For tests of engines: a plug-in whose models count what they are asked, and fail on order."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from cimento import Condition, Item, Meta, Prediction, Region, Suite
from cimento.suites.formats.native import write_native
from cimento.suites.load import open_suite

PLUGIN = '''
"""Models `counted:NAME`; what is asked of them is appended to the file in CIMENTO_TEST_LOG."""

import dataclasses, json, math, os, time, zlib
from pathlib import Path

import numpy as np

from cimento.errors import ModelError
from cimento.testing.models import FakeScorer
from cimento.models.registry import ScorerSource


class Counted(FakeScorer):
    def __init__(self, name):
        super().__init__(lambda tokens, index: 0.0, name=name)
        self._card = dataclasses.replace(self._card, revision=f"{zlib.crc32(name.encode()):040x}")

    def encode(self, requests):
        return [
            dataclasses.replace(each, ids=tuple(zlib.crc32(t.encode()) for t in each.tokens))
            for each in super().encode(requests)
        ]

    def score(self, encoded):
        name = self.card.name
        note(name, "score", len(encoded))
        if name.startswith("dies") and once(name):
            os._exit(9)
        if name.startswith("deadly"):
            os._exit(9)
        if name.startswith("slow"):
            time.sleep(2 if name.startswith("slowest") else 0.3)
        answers = []
        for each in encoded:
            # The last bits depend on what is computed together, as with real models.
            together = len(encoded) * 1e-12
            values = [-1.0 - zlib.crc32((name + " ".join(each.tokens[: i + 1])).encode()) / 2**32
                      - together for i in each.wanted]
            if name.startswith("nan") and "14" in each.tokens:
                values = [math.nan] * len(values)
            answers.append(np.array(values, dtype=np.float64))
        return answers


def note(name, what, number=0):
    with open(os.environ.get("CIMENTO_TEST_LOG", os.devnull), "a") as log:
        log.write(json.dumps([name, what, number, os.getpid()]) + "\\n")


def once(name):
    path = Path(os.environ["CIMENTO_TEST_LOG"] + "." + name)
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def open_counted(rest, asking):
    def load():
        note(rest, "load")
        if rest.startswith("telling"):
            note(rest, "asking", repr(asking))
        if rest.startswith("broken"):
            raise ModelError(where=rest, seen="its weights are not there")
        return Counted(rest)

    revision = f"{zlib.crc32(rest.encode()):040x}"
    return ScorerSource(f"{rest}@{revision[:7]}", {"revision": revision}, load=load, asking=asking)
'''


def install(folder: Path) -> Path:
    """Write the plug-in where Python finds it once the folder is on its path."""
    info = folder / "cimento_counted-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "cimento_counted.py").write_text(PLUGIN, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cimento-counted\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[cimento.models]\ncounted = cimento_counted:open_counted\n"
    )
    return folder


def write_suite(folder: Path, *, items: int = 300, start: int = 0) -> Path:
    """A suite of pairs that are all different; suites whose numbers overlap share sentences."""
    made = Suite(
        Meta(name=folder.name, language="it"),
        ("subject", "verb", "rest"),
        (Prediction("(2;%good%) < (2;%bad%)"),),
        tuple(
            Item(
                str(number),
                tuple(
                    Condition(
                        name,
                        (Region(f"Le lampade {number}"), Region(verb), Region("accese.")),
                    )
                    for name, verb in (("good", "sono"), ("bad", "è"))
                ),
            )
            for number in range(start, start + items)
        ),
    )
    write_native(made, folder)
    assert open_suite(folder).suite.name == folder.name
    return folder


RUN = "from cimento.cli.main import main; main()"


def cimento(folder: Path, cache: str, *arguments: str, code: str = RUN, ends: int = 0) -> str:
    """The command in a process of its own, in which every warning is an error; what it says.

    So arithmetic is made steady before the first sum, as it is for users.
    """
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder / "plugin"), os.environ.get("PYTHONPATH", "")]),
        "CIMENTO_CACHE_DIR": str(folder / cache),
        "CIMENTO_TEST_LOG": str(folder / "log"),
    }
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,  # of a machine that does much else; alone it takes some seconds
    )
    assert done.returncode == ends, done.stderr
    return done.stderr


def logged(path: Path) -> list[tuple[str, str, int, int]]:
    """Model, what was done (``load`` or ``score``), texts, process.

    Of models `telling` also ``asking``: how they are asked, in the place of texts.
    """
    if not path.is_file():
        return []
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()]


def tables(output: Path) -> dict[str, bytes]:
    """Every table and summary below a folder of runs, by its path there."""
    contents = {}
    for path in sorted(output.rglob("*")):
        inside = path.relative_to(output)
        if path.suffix == ".parquet" and inside.parts[0] != ".units":
            contents[str(inside)] = path.read_bytes()
        if path.name == "summary.json":
            # It names the folder that it is in.
            contents[str(inside)] = re.sub(rb'"folder": "[^"]*"', b"", path.read_bytes())
    return contents
