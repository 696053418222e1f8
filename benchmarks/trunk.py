"""What cimento costs around the model: start-up, suites read, long suites, judging again, reports.

Each row of the table is a work, measured as CPU seconds of child processes with one thread, and the
most it may cost. ``make bench-trunk``, or ``python benchmarks/trunk.py --help``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODEL = "demo-causal"
SECONDS = "CPU s"
SLOW_IMPORTS = ("torch", "transformers", "polars")
"""What quick commands must not import."""

REPORTED_SUITES = 50
REPORTED_MODELS = ("demo-causal", "demo-masked")
REPORTED_PAIRS = 40


class Place:
    """A folder where one row makes what it needs, and the processes that work there.

    Args:
        folder: empty; suites, runs and the cache of answers go here.

    Attributes:
        problems: why a row is not reached whatever it costs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[str] = []
        self.environment = {
            **os.environ,
            "CIMENTO_CACHE_DIR": str(folder / "cache"),
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT / "src"),
            "RAYON_NUM_THREADS": "1",
        }

    def cimento(self, *arguments: object) -> float:
        """CPU seconds, user and system, of one cimento command."""
        return self.python("-m", "cimento", *arguments)

    def python(self, *arguments: object) -> float:
        """CPU seconds, user and system, of a Python process and of those that it waited for."""
        command = [sys.executable, *map(str, arguments)]
        errors = self.folder / "stderr"
        with errors.open("wb") as stream:
            process = subprocess.Popen(  # noqa: S603  # our own program
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=stream,
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(command)} failed:\n{errors.read_text(encoding='utf-8')[-3000:]}")
        return usage.ru_utime + usage.ru_stime

    def number(self, work: str, *paths: Path) -> float:
        """The number that a work of `trunk_works` prints."""
        script = ROOT / "benchmarks" / "trunk_works.py"
        done = subprocess.run(  # noqa: S603  # our own program
            [sys.executable, str(script), work, *map(str, paths)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout)

    def refuse_imports(self, *arguments: object) -> None:
        """See that a cimento command imports nothing that makes it slow."""
        command = [sys.executable, "-X", "importtime", "-m", "cimento", *map(str, arguments)]
        done = subprocess.run(  # noqa: S603  # our own program
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        self.problems += [f"imports {name}" for name in SLOW_IMPORTS if name in imported]

    def pairs(self, count: int, *, name: str = "pairs.jsonl", seed: int = 1) -> Path:
        """A file of minimal pairs in BLiMP's format, each of two sentences of some 15 tokens.

        Args:
            count: of pairs, which all differ.
            name: of the file.
            seed: other pairs for another seed.
        """
        path = self.folder / name
        path.write_text("".join(_pair_lines(count, path.stem, seed)), encoding="utf-8")
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of the table.

    Attributes:
        name: to choose it by.
        work: in words.
        measure: makes what is needed, and gives a function that measures once.
        target: the most it may cost.
        unit: of `measure` and `target`.
    """

    name: str
    work: str
    measure: Callable[[Place], Callable[[], float]]
    target: float
    unit: str = SECONDS


NOUNS = (
    "report", "teacher", "letter", "key", "picture", "friend", "student", "book", "song", "garden",
    "window", "doctor", "question", "story", "dog",
)  # fmt: skip
ADJECTIVES = ("old", "new", "small", "quiet", "red", "tall", "long", "bright", "cold", "famous")
PREPOSITIONS = ("near", "behind", "beside", "under", "above")


def _pair_lines(count: int, name: str, seed: int) -> list[str]:
    choose = random.Random(seed).choice  # noqa: S311  # sentences, not secrets
    lines: dict[str, None] = {}
    while len(lines) < count:
        start = f"The {choose(ADJECTIVES)} {choose(NOUNS)} {choose(PREPOSITIONS)}"
        start += f" the {choose(ADJECTIVES)} {choose(NOUNS)}s"
        end = f"near the {choose(ADJECTIVES)} {choose(NOUNS)} with every {choose(NOUNS)} today."
        pair = {"sentence_good": f"{start} is {end}", "sentence_bad": f"{start} are {end}"}
        labels = {"field": "syntax", "linguistics_term": "agreement", "UID": name}
        lines[json.dumps({**pair, **labels, "simple_LM_method": True})] = None
    return [
        line.removesuffix("}") + f', "pair_id": {number}}}\n' for number, line in enumerate(lines)
    ]


def _help(place: Place) -> Callable[[], float]:
    return lambda: place.cimento("--help")


def _suites_list(place: Place) -> Callable[[], float]:
    command = ("suites", "list")
    place.refuse_imports(*command)
    return lambda: place.cimento(*command)


def _shown_again(place: Place) -> Callable[[], float]:
    command = ("run", place.pairs(10_000), "-m", MODEL, "-o", place.folder / "runs")
    place.cimento(*command)
    place.refuse_imports(*command)
    return lambda: place.cimento(*command)


def _start(place: Place) -> Callable[[], float]:
    runs = place.folder / "runs"
    return lambda: place.cimento("run", "it-subject-verb", "-m", MODEL, "-o", runs, "--force")


def _report(place: Place) -> Callable[[], float]:
    suites = [
        place.pairs(REPORTED_PAIRS, name=f"pairs-{number:02}.jsonl", seed=number)
        for number in range(REPORTED_SUITES)
    ]
    models = [part for model in REPORTED_MODELS for part in ("-m", model)]
    runs = place.folder / "runs"
    place.cimento("run", *suites, *models, "-o", runs)
    return lambda: place.cimento("report", runs, "-o", place.folder / "report.html")


def _around_the_model(place: Place) -> Callable[[], float]:
    pairs, runs, start = place.pairs(10_000), place.folder / "runs", _start(place)
    place.cimento("run", pairs, "-m", MODEL, "-o", runs)

    def milliseconds() -> float:
        warm = place.cimento("run", pairs, "-m", MODEL, "-o", runs, "--force")
        return (warm - start()) / 20_000 * 1000

    return milliseconds


def _cold(place: Place) -> Callable[[], float]:
    pairs, runs, start = place.pairs(10_000), place.folder / "runs", _start(place)

    def times() -> float:
        cold = place.cimento("run", pairs, "-m", MODEL, "-o", runs, "--force", "--no-cache")
        return (cold - start()) / place.number("bare", pairs)

    return times


def _judged(place: Place) -> Callable[[], float]:
    many, few = place.pairs(100_000), place.pairs(10, name="few.jsonl")
    for pairs in (many, few):
        place.number("stored", pairs, place.folder / pairs.stem)
    return lambda: place.cimento("judge", many.stem) - place.cimento("judge", few.stem)


def _memory(place: Place) -> Callable[[], float]:
    many, few = place.pairs(100_000), place.pairs(1_000, name="few.jsonl")

    def megabytes() -> float:
        peaks = [place.number("stored", p, place.folder / p.stem) for p in (many, few)]
        return peaks[0] - peaks[1]

    return megabytes


def _fed(place: Place) -> Callable[[], float]:
    suites = [place.pairs(1_000, name=f"pairs-{n:02}.jsonl", seed=n) for n in range(67)]
    return lambda: place.number("fed", *suites)


READING = (
    "import pathlib, sys, cimento; loaded = cimento.load_suite(sys.argv[1]);"
    " len(loaded.reading.faults)"  # has all checks done
)
COPYING = f"{READING}; loaded.paradigm.reader.write(loaded.suite, pathlib.Path(sys.argv[2]))"
FEW = 10
"""Pairs of a suite whose cost is that of the start."""


def _reading(form: str, count: int) -> Callable[[Place], Callable[[], float]]:
    """Reading and checking pairs in a form, a key of `FORMS`, without the start."""

    def measure(place: Place) -> Callable[[], float]:
        many, few = (FORMS[form](place.pairs(n, name=f"{n}.jsonl")) for n in (count, FEW))
        return lambda: place.python("-c", READING, many) - place.python("-c", READING, few)

    return measure


def _copy(place: Place) -> Callable[[], float]:
    path, folder = place.pairs(100_000), place.folder / "copy"
    return lambda: place.python("-c", COPYING, path, folder) - place.python("-c", READING, path)


def _cells(path: Path) -> Iterator[tuple[str, str, str]]:
    """The rows of a table of the pairs in a file."""
    yield "item", "good", "bad"
    with path.open(encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            yield str(pair["pair_id"]), pair["sentence_good"], pair["sentence_bad"]


def _as_tsv(path: Path) -> Path:
    text = "".join("\t".join(row) + "\n" for row in _cells(path))
    table = path.with_suffix(".tsv")
    table.write_text(text, encoding="utf-8")
    return table


def _as_xlsx(path: Path) -> Path:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("items")
    for row in _cells(path):
        sheet.append(row)
    workbook = path.with_suffix(".xlsx")
    book.save(workbook)
    return workbook


def _as_syntaxgym(path: Path) -> Path:
    _, *rows = _cells(path)
    items = [
        {
            "item_number": int(number) + 1,
            "conditions": [
                {"condition_name": name, "regions": [{"region_number": 1, "content": text}]}
                for name, text in (("good", good), ("bad", bad))
            ],
        }
        for number, good, bad in rows
    ]
    suite = {
        "meta": {"name": path.stem, "metric": "sum"},
        "region_meta": {"1": "sentence"},
        "predictions": [{"type": "formula", "formula": "(*;%good%) < (*;%bad%)"}],
        "items": items,
    }
    document = path.with_suffix(".json")
    document.write_text(json.dumps(suite, indent=1), encoding="utf-8")
    return document


FORMS: dict[str, Callable[[Path], Path]] = {
    "TSV": _as_tsv, "BLiMP JSONL": lambda path: path, "SyntaxGym JSON": _as_syntaxgym,
    "xlsx": _as_xlsx,
}  # fmt: skip
"""What makes a suite in a form of a suite in BLiMP's."""


def _read_row(form: str, *, name: str, count: int = 100_000, target: float = 2.0) -> Row:
    work = f"{count:,} pairs read and checked, {form}"
    return Row(name=name, work=work, measure=_reading(form, count), target=target)


ROWS = (
    Row(name="help", work="`cimento --help`", measure=_help, target=0.1),
    Row(name="list", work="`cimento suites list`", measure=_suites_list, target=0.4),
    Row(
        name="shown",
        work="a stored run of 10,000 pairs shown again",
        measure=_shown_again,
        target=0.6,
    ),
    Row(name="start", work="24 items, demo-causal, cache warm", measure=_start, target=3.5),
    Row(
        name="around",
        work="10,000 pairs, demo-causal, cache warm, start-up subtracted",
        measure=_around_the_model,
        target=0.10,
        unit="CPU ms a sentence",
    ),
    Row(
        name="cold",
        work="the same, nothing known, against the bare model over distinct prefixes",
        measure=_cold,
        target=1.3,
        unit="times",
    ),
    Row(
        name="judge",
        work="`cimento judge`, 100,000 pairs, start-up subtracted",
        measure=_judged,
        target=3.0,
    ),
    Row(
        name="memory",
        work="peak of 100,000 pairs, that of 1,000 subtracted",
        measure=_memory,
        target=200,
        unit="MB",
    ),
    Row(
        name="fed",
        work="67 suites of 1,000 pairs: CPU time of a model's thread for a sentence, with a"
        " transformer that returns at once",
        measure=_fed,
        target=22,
        unit="microseconds",
    ),
    Row(
        name="report",
        work=f"report of {REPORTED_SUITES} suites x {len(REPORTED_MODELS)} models",
        measure=_report,
        target=5.0,
    ),
    _read_row("TSV", name="read-tsv"),
    _read_row("BLiMP JSONL", name="read-blimp"),
    _read_row("SyntaxGym JSON", name="read-syntaxgym"),
    _read_row("xlsx", name="read-xlsx", count=10_000, target=4.0),
    Row(name="copy", work="the copy of 100,000 pairs written", measure=_copy, target=1.0),
)


def main() -> int:
    """Measure the rows that the command line names, and print them as a table."""
    options = _options()
    print("| work | measured | limit | reached |\n|---|---|---|---|")
    missed = 0
    for row in ROWS:
        if options.rows and row.name not in options.rows:
            continue
        with tempfile.TemporaryDirectory(prefix="cimento-bench-") as folder:
            place = Place(Path(folder))
            once = row.measure(place)
            value = statistics.median(once() for _ in range(options.rounds))
        if value > row.target:
            place.problems.append("no")
        missed += bool(place.problems)
        reached = ", ".join(place.problems) or "yes"
        target = f"at most {row.target:g} {row.unit}"
        print(f"| {row.work} | {value:.2f} | {target} | {reached} |", flush=True)
    print(
        f"\nMedians of {options.rounds}; one thread; {platform.machine()}, {os.cpu_count()} cores;"
        f" Python {platform.python_version()}."
    )
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--rows", nargs="*", default=[], choices=[row.name for row in ROWS], metavar="ROW",
        help=f"of {', '.join(row.name for row in ROWS)}; all where none is given")  # fmt: skip
    add("--rounds", type=int, default=3, help="times that every work is done")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
