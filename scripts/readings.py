"""Have people read the starter suites without seeing the key, and keep what they say.

``sheet`` writes pairs of sentences in random order: a reader sees the sentences alone, and says of
each pair which is acceptable (a, b, both or neither), with a remark where something is odd.
``collect`` compares the answers with the key, prints every disagreement and remark, and writes
``readings.tsv`` into the folders of the suites; ``cimento suites list`` says by how many they were
read. Run with::

    python scripts/readings.py sheet it --seed 1 -o it.tsv
    python scripts/readings.py collect it --seed 1 --reader ADA --native no it.answers.tsv

The answers are a table with the columns id, acceptable and remark.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cimento import load_suite
from cimento.errors import CimentoError
from cimento.paradigms.regions.contrast import find_contrast
from cimento.suites.builtin import READINGS, list_builtin
from cimento.suites.model import Suite, sentence

COLUMNS = ("reader", "native", "item", "condition", "verdict", "remark")
CHOICES = ("a", "b", "both", "neither")


@dataclass(frozen=True)
class Pair:
    """A pair to read.

    Attributes:
        id: its number on the sheet.
        suite: name of the suite.
        folder: folder of the suite.
        item: id of the item.
        alternative: the condition that should be worse.
        texts: both sentences, in the order of the sheet.
        right: ``a`` or ``b``: the one that should be acceptable.
    """

    id: int
    suite: str
    folder: Path
    item: str
    alternative: str
    texts: tuple[str, str]
    right: str


def pairs(language: str, *, seed: int) -> list[Pair]:
    """One pair for each item of the suites of a language, all in random order."""
    draw = random.Random(seed)  # noqa: S311  # an order, no secret
    found = list(_of_suites(language, draw))
    draw.shuffle(found)
    made = []
    for number, (suite, folder, item, alternative, good, bad) in enumerate(found, start=1):
        right = draw.choice("ab")
        texts = (good, bad) if right == "a" else (bad, good)
        made.append(Pair(number, suite, folder, item, alternative, texts, right))
    return made


def _of_suites(
    language: str, draw: random.Random
) -> Iterator[tuple[str, Path, str, str, str, str]]:
    for builtin in list_builtin():
        suite = load_suite(builtin.name).suite
        if builtin.language != language or not isinstance(suite, Suite):
            continue
        try:
            contrast = find_contrast(suite, regions=(1,))
        except CimentoError:
            continue  # a design names no single condition that is better
        for item in suite.items:
            names = [name for name in contrast.alternatives if item.condition(name).regions]
            alternative = draw.choice(names)
            good, bad = (
                sentence(item.condition(name), rule=suite.join)
                for name in (contrast.target, alternative)
            )
            yield builtin.name, builtin.path, item.id, alternative, good, bad


def write_sheet(language: str, *, seed: int, output: Path) -> None:
    """Write the sentences of a language, without any key."""
    rows = [(pair.id, *pair.texts) for pair in pairs(language, seed=seed)]
    with output.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerows([("id", "a", "b"), *rows])
    sys.stdout.write(f"{len(rows)} pairs: {output}\n")


def collect(language: str, *, seed: int, reader: str, native: str, answers: Path) -> int:
    """Add a reader's verdicts to the suites, and print what differs from the key or is remarked."""
    with answers.open(encoding="utf-8", newline="") as file:
        given = {int(row["id"]): row for row in csv.DictReader(file, delimiter="\t")}
    counts: Counter[str] = Counter()
    rows: dict[Path, list[tuple[str, ...]]] = {}
    for pair in pairs(language, seed=seed):
        answer = given.get(pair.id)
        if answer is None:
            counts["not answered"] += 1
            continue
        said, remark = answer["acceptable"].strip().lower(), (answer.get("remark") or "").strip()
        if said not in CHOICES:
            raise SystemExit(f"{answers}, id {pair.id}: {said!r} is none of {', '.join(CHOICES)}")
        verdict = "agrees" if said == pair.right else said if len(said) > 1 else "the other"
        counts[verdict] += 1
        row = (reader, native, pair.item, pair.alternative, verdict, remark)
        rows.setdefault(pair.folder, []).append(row)
        if verdict != "agrees" or remark:
            sys.stdout.write("\t".join((pair.suite, *row[2:], *pair.texts)) + "\n")
    for folder, several in rows.items():
        _write(folder / READINGS, reader, several)
    sys.stdout.write(f"{reader}: {dict(counts)}\n")
    return 0


def _write(path: Path, reader: str, rows: list[tuple[str, ...]]) -> None:
    """Replace what a reader said of the items of a suite."""
    kept: list[list[str]] = []
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.reader(file, delimiter="\t")
            items = {row[2] for row in rows}
            kept = [row for row in table if row[0] != reader or row[2] not in items][1:]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerows([COLUMNS, *sorted([*map(tuple, kept), *rows])])


def main() -> int:
    """Write a sheet, or collect answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("sheet", "collect"):
        command = commands.add_parser(name)
        command.add_argument("language")
        command.add_argument("--seed", type=int, required=True)
        if name == "sheet":
            command.add_argument("-o", "--output", type=Path, required=True)
        else:
            command.add_argument("--reader", required=True)
            command.add_argument("--native", choices=("yes", "no"), required=True)
            command.add_argument("answers", type=Path)
    given = parser.parse_args()
    if given.command == "sheet":
        write_sheet(given.language, seed=given.seed, output=given.output)
        return 0
    return collect(
        given.language,
        seed=given.seed,
        reader=given.reader,
        native=given.native,
        answers=given.answers,
    )


if __name__ == "__main__":
    sys.exit(main())
