"""Freeze what the commands print and store: the regression net of the rebuilding.

Usage: python scripts/freeze.py tests/frozen [--only CASE ...]

Every case is a suite and two models. Each command is run on it in this process, and what came of
it is written to `CASE/COMMAND.txt`: exit code, texts asked, standard output and error, tables,
files. tests/cli/test_frozen.py does the same and compares. tests/frozen/README.md says what a
difference means.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from freeze_layout import LONG, Layout, normalized

ROOT = Path(__file__).parents[1]
PLUGIN = ROOT / "tests" / "frozen_plugin"

EXPORTS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")
REPORTS = ("html", "md", "txt", "csv", "json")


@dataclass(frozen=True, slots=True)
class Case:
    """A suite and the models that are asked.

    Attributes:
        name: of the folder of outputs.
        suite: name of a built-in suite.
        models: names of models, as `-m` takes them; `replay:` stands for recorded candidates.
        options: of `cimento run`.
        budget: texts after which the run that is resumed is interrupted; 0 where no model is asked
            that could be.
        exact: whether numbers are the same on every machine: those of models that compute are not,
            and stay out of digests.
        only_runs: leave out what reads stored runs.
    """

    name: str
    suite: str
    models: tuple[str, ...] = ("frozen:plain", "frozen:gappy")
    options: tuple[str, ...] = ()
    budget: int = 40
    exact: bool = True
    only_runs: bool = False


DEMO = ("demo-causal", "demo-masked")
RECORDED = ("replay:first.tsv", "replay:second.tsv")

QUICK = (
    Case("regions", "it-subject-verb"),
    Case("factorial", "it-islands", options=("--limit", "70"), budget=260),
    Case("ratings", "it-acceptability", options=("--limit", "20"), budget=10),
    Case("cloze", "it-connectives-cloze", options=("--limit", "40"), budget=100),
    Case("cloze-recorded", "it-connectives-cloze", RECORDED, ("--set", "k=5", "--limit", "40"),
         budget=0),
    Case("templates", "es-agreement-templates", options=("--limit", "160"), budget=200),
    Case("templates-recorded", "es-agreement-templates", RECORDED, ("--set", "k=5"), budget=0,
         only_runs=True),
    Case("stories", "es-stories", ("frozen:plain", "frozen:other"), ("--limit", "18")),
)  # fmt: skip
SLOW = (
    Case("demo-cloze", "it-connectives-cloze", DEMO, ("--limit", "12"),
         budget=0, exact=False, only_runs=True),
    Case("demo-templates", "es-agreement-templates", DEMO, ("--limit", "9"),
         budget=0, exact=False, only_runs=True),
    Case("demo-stories", "es-stories", DEMO[:1],
         ("--limit", "6", "--set", "shots=1", "--set", "answer=generate"),
         budget=0, exact=False, only_runs=True),
)  # fmt: skip


WORKERS = "run-workers"


def freeze(
    case: Case, folder: Path, *, workers: bool = True, stored: bool = True
) -> dict[str, str]:
    """The outputs of every command on a case, by the name of their file.

    Args:
        case: what is run.
        folder: an empty folder to work in.
        workers: whether the suite is also run by two other processes, which are slow to start.
        stored: whether the commands that read stored runs are run too, if the case has them.
    """
    with _working_in(folder):
        if case.models == RECORDED:
            _record_candidates(case.suite, folder)
        frozen = _Frozen(case)
        frozen.run(workers=workers)
        if stored and not case.only_runs:
            frozen.read_stored()
        return frozen.files


class _Frozen:
    """The commands of one case, in order, and what came of them.

    Attributes:
        files: name of a file to its content.

    Args:
        case: what is run; the current folder is the one to work in.
    """

    def __init__(self, case: Case) -> None:
        self.files: dict[str, str] = {}
        self._case = case
        self._layout = Layout(exact=case.exact)
        self._parts: dict[str, str] = {}

    def run(self, *, workers: bool) -> None:
        """First, again, as JSON, interrupted and resumed, by workers, judged again."""
        self._run("run", "runs")
        self._run("run-stored", "runs")
        self._run("run-stored-json", "runs", "--json")
        self._run("run-cached-json", "cached", "--json", "--seed", "5")
        if self._case.budget:
            with _environment(FROZEN_BUDGET=str(self._case.budget), CIMENTO_CACHE_DIR="cache-2"):
                self._run("run-interrupted", "resumed")
            with _environment(CIMENTO_CACHE_DIR="cache-2"):
                self._run("run-resumed", "resumed")
        if workers:
            with _environment(CIMENTO_CACHE_DIR="cache-3"):
                self._run(WORKERS, "spread", "--workers", "2")
        self._keep("judge", "judge", "runs")
        self._keep("judge-json", "judge", "runs", "--json")

    def read_stored(self) -> None:
        """Everything that reads stored runs."""
        first, second = sorted(str(path.parent) for path in Path("runs").glob("*/*/manifest.json"))
        for name, runs in (("compare", (first, second)), ("compare-all", ("runs",))):
            self._keep(name, "compare", *runs)
            self._keep(f"{name}-json", "compare", *runs, "--json")
        self._keep("cite", "cite", "runs")
        self._keep("cite-methods", "cite", "runs", "--methods")
        self._keep("report", "report", "runs")
        for form in REPORTS:
            page = f"page.{form}"
            self._keep(f"report-{form}", "report", "runs", "-o", page, parts=page)
        for form in EXPORTS:
            place = f"export-{form}"
            self._keep(place, "export", first, "--to", form, "-o", place, parts=place)

    def _run(self, name: str, output: str, *options: str) -> None:
        models = [part for model in self._case.models for part in ("-m", model)]
        arguments = (self._case.suite, *models, *self._case.options, "-o", output, *options)
        self._keep(name, "run", *arguments, output=output)

    def _cimento(self, *arguments: str) -> list[str]:
        """A command: its exit code, how many texts it asked, and what it printed."""
        from cimento.cli.main import invoke

        log = Path(os.environ["FROZEN_LOG"])
        log.unlink(missing_ok=True)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = invoke(arguments)
        asked = sum(map(int, log.read_text().split())) if log.exists() else 0
        return [
            f"$ cimento {' '.join(map(normalized, arguments))}",
            f"exit code {code}, texts asked: {asked}",
            *self._once("standard output", self._layout.output(out.getvalue())),
            *self._once("standard error", normalized(err.getvalue())),
        ]

    def _keep(self, name: str, *arguments: str, output: str = "", parts: str = "") -> None:
        """Run a command, and keep what it printed with its runs, or with the files it wrote."""
        self._layout.name = f"{name}.txt"
        lines = self._cimento(*arguments)
        for title, text in self._stored(output) if output else self._written(parts):
            lines += self._once(title, text)
        self.files[self._layout.name] = "\n".join(lines) + "\n"

    def _once(self, title: str, text: str) -> list[str]:
        """A part of a file, or where the same was written before."""
        text = text.strip("\n")
        if not text:
            return [f"--- {title}: nothing"]
        file = self._parts.setdefault(text, self._layout.name) if len(text) >= LONG else ""
        if file in ("", self._layout.name):
            return [f"--- {title}", text]
        return [f"--- {title}: as in {file}"]

    def _stored(self, output: str) -> Iterator[tuple[str, str]]:
        """The tables and summaries of runs, and the names of all files."""
        paths = [path for path in _files(Path(output)) if ".units" not in path.parts]
        relative = [path.relative_to(output) for path in paths]
        yield "files", "\n".join(sorted(normalized(str(path)) for path in relative))
        for path, name in zip(paths, relative, strict=True):
            if path.suffix == ".parquet" or path.name in ("summary.json", "acceptability.json"):
                yield normalized(str(name)), self._layout.file(path)

    def _written(self, place: str) -> Iterator[tuple[str, str]]:
        for path in _files(Path(place)) if place else ():
            yield normalized(str(path)), self._layout.file(path)


# --- Where commands run


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return sorted((path for path in place.rglob("*") if path.is_file()), key=_without_policy)


def _without_policy(path: Path) -> tuple[str, str]:
    return normalized(str(path)), str(path)


@contextlib.contextmanager
def _working_in(folder: Path) -> Iterator[None]:
    """In a folder, with its own cache and log, our models, and no options from outside."""
    before = Path.cwd()
    theirs = {name: None for name in os.environ if name.startswith("CIMENTO_")}
    variables = {
        "CIMENTO_CACHE_DIR": "cache",
        "FROZEN_LOG": str(folder / "asked.log"),
        "COLUMNS": "80",
    }
    sys.path.insert(0, str(PLUGIN))
    os.chdir(folder)
    try:
        with _environment(**{**theirs, **variables}):
            yield
    finally:
        os.chdir(before)
        sys.path.remove(str(PLUGIN))


@contextlib.contextmanager
def _environment(**variables: str | None) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _record_candidates(suite: str, folder: Path) -> None:
    """Candidates of two models that do not exist: some expected ones, some pieces, some marks."""
    from cimento.paradigms.cloze.files import load_cloze
    from cimento.suites.builtin import find_suite
    from cimento.suites.cloze import expand_suite

    items = expand_suite(load_cloze(Path(find_suite(suite)))).items
    texts = sorted({option.text for item in items for option in item.options})
    pool = [*texts, *(f"##{text[:3]}" for text in texts[:4]), ",", ".", "[UNK]", "di", "casa"]
    for name in ("first", "second"):
        lines = ["item\trank\tcandidate\tprobability"]
        for item in items:
            key = f"{name} {item.before} {item.after}"
            order = sorted(pool, key=lambda text: hashlib.sha256((key + text).encode()).digest())
            expected = [option.text for option in item.options]
            if hashlib.sha256(key.encode()).digest()[0] % 3 == 0 and expected:
                order.insert(1, expected[0])
            for rank, text in enumerate(dict.fromkeys(order[:6]), start=1):
                lines.append(f"{item.id}\t{rank}\t{text}\t{0.5**rank}")
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write(cases: Sequence[Case], folder: Path, said: Callable[[str], object] = print) -> None:
    """Freeze some cases into a folder; what was frozen of them before is replaced."""
    for case in cases:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as work:
            files = freeze(case, Path(work).resolve())
        shutil.rmtree(folder / case.name, ignore_errors=True)
        (folder / case.name).mkdir(parents=True)
        for name, text in files.items():
            (folder / case.name / name).write_text(text, encoding="utf-8")
        size = sum(map(len, files.values()))
        passed_s = time.monotonic() - begun
        said(f"{case.name}: {len(files)} files, {size:,} characters, {passed_s:.1f} s")


def main() -> None:
    """Freeze the cases that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=[case.name for case in (*QUICK, *SLOW)])
    arguments = parser.parse_args()
    named = arguments.only
    cases = [case for case in (*QUICK, *SLOW) if named is None or case.name in named]
    write(cases, arguments.folder.resolve())


if __name__ == "__main__":
    main()
