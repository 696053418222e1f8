"""Have the starter suites read by people who do not see the key, and keep what they say.

``sheet`` writes a question about every item of a language's suites, in random order
(`reading_questions` says what is asked of which suite): a reader sees the sentences alone, and
answers each question, with a remark where something is odd. ``collect`` compares the answers with
the key, prints every disagreement and remark, and writes ``readings.tsv`` into the folders of the
suites; ``cimento suites list`` says by whom they were read. Run with::

    python scripts/readings.py sheet it --seed 1 -o it.tsv
    python scripts/readings.py collect it --seed 1 --reader ADA --native no it.answers.tsv

The answers are a table with the columns id, answer and remark. ``sheet --suite NAME`` (once or
several times) asks about these suites alone, ``--unread N`` about what fewer than N readers have
read. ``--grammars N`` asks, of both commands, about N generated items of each built-in grammar
instead. The names of readers that are language models are in ``src/cimento/data/readers.tsv``, and
nobody else can have them. The id of a question depends on the seed and on its sentences, and on
nothing else.
``prune`` takes out of a language's ``readings.tsv`` what was said of sentences that its grammars
no longer make.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from cimento.suites.builtin import READINGS, language_models, list_builtin
from reading_questions import (
    AGREES,
    GENERATED,
    AnswerError,
    Question,
    questions_of,
    questions_of_grammars,
    verdicts,
)

COLUMNS = ("reader", "native", "item", "condition", "verdict", "remark")
SHOWN = ("id", "question", "text", "choices")
ANSWERS = ("id", "answer")


def questions(language: str, *, seed: int, suites: Sequence[str] = ()) -> list[Question]:
    """The questions about the suites of a language, or about some of them, in random order.

    Args:
        language: ISO 639-1 code.
        seed: of the order, and of what is drawn for each item.
        suites: names of suites; empty for all of the language.
    """
    listed = [suite for suite in list_builtin() if suite.language == language]
    unknown = set(suites) - {suite.name for suite in listed}
    if unknown or not listed:
        names = ", ".join(sorted(unknown)) or "starter suite"
        raise SystemExit(f"There is no {names} in {language!r}; see `cimento suites list`.")
    drawn = [
        question
        for suite in listed
        if not suites or suite.name in suites
        for question in questions_of(suite, seed=seed)
    ]
    random.Random(seed).shuffle(drawn)  # noqa: S311  # an order, no secret
    return drawn


def grammar_questions(language: str, *, seed: int, items: int) -> list[Question]:
    """The questions about generated items of a language, in random order."""
    drawn = list(questions_of_grammars(language, items=items, seed=seed))
    random.Random(seed).shuffle(drawn)  # noqa: S311  # an order, no secret
    return drawn


def unread(drawn: Iterable[Question], *, readers: int) -> list[Question]:
    """The questions that fewer than some number of readers have answered.

    A pair counts as read whichever sentence of its item a reader saw beside the better one.
    """
    seen: dict[Path, set[tuple[str, str, str]]] = {}
    left = []
    for question in drawn:
        folder = question.suite.path
        if folder not in seen:
            rows = _rows(folder / READINGS)
            seen[folder] = {(row["reader"], row["item"], row["condition"]) for row in rows}
        names = {
            reader
            for reader, item, condition in seen[folder]
            if item == question.item and (question.ask == "pair" or condition == question.condition)
        }
        if len(names) < readers:
            left.append(question)
    return left


def write_sheet(drawn: Sequence[Question], output: Path) -> None:
    """Write questions, without any key."""
    rows = [
        (question.id, question.instruction, question.text, question.lettered) for question in drawn
    ]
    _write(output, SHOWN, rows)
    sys.stdout.write(f"{len(rows)} questions: {output}\n")


def collect(drawn: Sequence[Question], answers: Path, *, reader: str, native: str) -> None:
    """Add a reader's verdicts to the suites, and print what differs from the key or is remarked."""
    given = _answers(answers)
    counts: Counter[str] = Counter()
    rows: dict[Path, list[tuple[str, ...]]] = {}
    for question in drawn:
        answer = given.pop(question.id, None)
        if answer is None:
            counts["not answered"] += 1
            continue
        remark = " ".join((answer.get("remark") or "").split())
        try:
            several = verdicts(question, answer["answer"] or "")
        except AnswerError as error:
            raise SystemExit(f"{answers}, id {question.id}: {error}.") from None
        for condition, verdict in several:
            counts[AGREES if verdict == AGREES else "differs"] += 1
            row = (reader, native, question.item, condition, verdict, remark)
            rows.setdefault(question.suite.path, []).append(row)
            if verdict != AGREES or remark:
                shown = (question.suite.name, *row[2:], question.text, question.lettered)
                sys.stdout.write("\t".join(filter(None, shown)) + "\n")
    if given and not rows:
        raise SystemExit(f"{answers}: no id is that of a question; is the seed the sheet's?")
    if given:
        counts["about sentences that have changed"] = len(given)
    for folder, several_rows in rows.items():
        _keep(folder / READINGS, reader, several_rows)
    sys.stdout.write(f"{reader}: {dict(counts)}\n")


def _answers(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a reader's table by the id of the question."""
    rows = _rows(path)
    if not rows or not set(ANSWERS) <= rows[0].keys():
        raise SystemExit(f"{path}: a table with the columns {', '.join(ANSWERS)} and remark.")
    return {row["id"]: row for row in rows}


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerows([header, *rows])


def _keep(path: Path, reader: str, rows: Sequence[tuple[str, ...]]) -> None:
    """Replace what a reader said of the items of a suite."""
    items = {row[2] for row in rows}
    kept = [
        tuple(row[name] for name in COLUMNS)
        for row in _rows(path)
        if row["reader"] != reader or row["item"] not in items
    ]
    _write(path, COLUMNS, sorted([*kept, *rows]))


def prune(language: str) -> None:
    """Drop what was said of generated sentences that are among the 200 of a grammar no more."""
    made = list(questions_of_grammars(language, items=GENERATED, seed=0))
    items = {question.item for question in made}
    for folder in {question.suite.path for question in made}:
        rows = _rows(folder / READINGS)
        kept = [row for row in rows if row["item"] in items]
        _write(folder / READINGS, COLUMNS, [tuple(row[name] for name in COLUMNS) for row in kept])
        sys.stdout.write(f"{folder.name}: {len(kept)} of {len(rows)} rows kept\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a sheet, or collect answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("sheet", "collect", "prune"):
        command = commands.add_parser(name)
        command.add_argument("language")
        if name == "prune":
            continue
        command.add_argument("--seed", type=int, required=True)
        command.add_argument("--grammars", type=int, default=0, metavar="ITEMS")
        if name == "sheet":
            command.add_argument("-o", "--output", type=Path, required=True)
            command.add_argument("--suite", action="append", default=[])
            command.add_argument("--unread", type=int, metavar="READERS")
        else:
            command.add_argument("--reader", required=True)
            command.add_argument("--native", choices=("yes", "no"), required=True)
            command.add_argument("answers", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "prune":
        prune(given.language)
        return 0
    if given.grammars:
        drawn = grammar_questions(given.language, seed=given.seed, items=given.grammars)
    else:
        suites = getattr(given, "suite", ())
        drawn = questions(given.language, seed=given.seed, suites=suites)
    if given.command == "sheet":
        if given.unread is not None:
            drawn = unread(drawn, readers=given.unread)
        write_sheet(drawn, given.output)
    elif given.native == "yes" and given.reader in language_models():
        raise SystemExit(
            f"{given.reader} is a language model (data/readers.tsv): take another name."
        )
    else:
        collect(drawn, given.answers, reader=given.reader, native=given.native)
    return 0


if __name__ == "__main__":
    sys.exit(main())
