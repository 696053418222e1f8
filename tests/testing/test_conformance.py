"""The conformance matrix: what a user can do with every kind of test, one case a cell.

A cell that is not there yet is a strict xfail with the reason: the matrix says what is missing.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cimento import Asking
from cimento.cli.main import invoke
from cimento.kinds.registry import find_paradigm, load_suite, sentence_suite
from cimento.models.registry import AnyScorer, open_scorer
from cimento.paradigms.prompted import PROMPTED
from cimento.paradigms.prompted.prompts import prompted_suite
from cimento.suites.builtin import find_suite
from cimento.testing import FakeScorer, Finding, check_paradigm
from tests.helpers import probes, stories

FROZEN = Path(__file__).parents[1] / "frozen_plugin"
BLANKS = Path(__file__).parents[1] / "data" / "cloze-runs" / "demo-causal" / "suite"
MODELS = ("-m", "frozen:plain", "-m", "frozen:other")

CHECKS = (
    "a suite that is written is read as it was",
    "a suite is described by its name",
    "an audit of a suite is JSON",
    "people are asked about a suite, or a message says that they are not",
    "a stored run is opened and not asked again",
    "a run is opened as it was stored",
    "showing a run changes no byte of it",
    "every file is under its checksum",
    "a run is judged again from its tables, and not changed",
    "the files that decide what a suite is have its sha256",
    "a run that is not stored says the same",
    "a folder of runs is opened by its name",
    "each item has one outcome for a question",
    "all but unscored outcomes count as right or not",
    "unscored outcomes say why",
    "there is one headline",
    "no interval has a width of zero",
    "what is undefined says why",
    "rates are counts of outcomes",
    "the summary is read back from its JSON",
    "the run is one line for Python",
    "answers are kept and not asked for twice",
    "a limit asks some of the items, or it is refused",
    "items of an adaptive run are judged as in the whole, or it is refused",
    "two items that ask the same are judged alike",
    "an unknown option is refused",
)
"""What `check_paradigm` finds, in its order."""


@dataclass(frozen=True)
class Case:
    """A small suite of a paradigm.

    Attributes:
        name: of the paradigm.
        suite: written to a folder where it has to be, as the command line takes it.
        model: in Python.
        limit: of runs on the command line, in items.
        small: another suite for `check_paradigm`, which asks all items; empty for the same.
        options: of runs on the command line.
    """

    name: str
    suite: Callable[[Path], str | Path]
    model: Callable[[], AnyScorer]
    limit: int = 6
    small: str = ""
    options: tuple[str, ...] = ()


def short_words() -> FakeScorer:
    """A model for which a letter costs one nat."""
    return FakeScorer(lambda words, index: -float(len(words[index])), name="short")


def demo() -> AnyScorer:
    """The demo model, which fills blanks and answers prompts too."""
    return open_scorer("demo-causal", Asking(device="cpu"))


def first_stories(folder: Path) -> Path:
    """The first five triples of a starter suite, which are asked about in a moment."""
    whole = Path(find_suite("es-stories"))
    folder.mkdir(parents=True)
    shutil.copy(whole / "suite.toml", folder)
    rows = (whole / "items.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "items.jsonl").write_text("\n".join(rows[:15]) + "\n", encoding="utf-8")
    return folder


def first_pairs(folder: Path) -> Path:
    """The first ten pairs of a starter suite."""
    whole = Path(find_suite("it-connectives"))
    folder.mkdir(parents=True)
    shutil.copy(whole / "suite.toml", folder)
    rows = (whole / "items.tsv").read_text(encoding="utf-8").splitlines()
    (folder / "items.tsv").write_text("\n".join(rows[:21]) + "\n", encoding="utf-8")
    return folder


def prompted_pairs(folder: Path) -> Path:
    """Three pairs of a starter suite, for the demo model to be asked about by prompt."""
    suite = sentence_suite(load_suite("es-subject-verb"))
    PROMPTED.reader.write(prompted_suite(replace(suite, items=suite.items[:3])), folder)
    return folder


CASES = {
    case.name: case
    for case in (
        Case("regions", lambda _folder: "it-filler-gap", short_words),
        Case("ratings", lambda folder: first_pairs(folder / "it-few"), short_words, limit=8),
        Case("cloze", lambda _folder: "it-connectives-cloze", demo, small=str(BLANKS)),
        Case("stories", lambda folder: first_stories(folder / "es-few"), stories.Hashes, limit=9),
        Case(
            "prompted",
            lambda folder: prompted_pairs(folder / "es-asked"),
            demo,
            limit=2,
            options=("--set", "answer=loglik"),
        ),
        Case("probing", lambda folder: probes.write_suite(folder / "it-probe"), short_words),
    )
}


@dataclass(frozen=True)
class CommandResult:
    """What a command said.

    Attributes:
        code: exit code.
        out: standard output.
        err: standard error.
    """

    code: int
    out: str
    err: str


@dataclass
class Tried:
    """A paradigm being tried out on the command line.

    Attributes:
        case: which.
        folder: to work in.
    """

    case: Case
    folder: Path

    @functools.cached_property
    def suite(self) -> str:
        """The suite."""
        return str(self.case.suite(self.folder))

    @property
    def runs(self) -> Path:
        """Where runs are stored."""
        return self.folder / "runs"

    def run(self, *options: str) -> CommandResult:
        """The suite run with two models; what is stored is shown."""
        limit = ("--limit", str(self.case.limit))
        place = ("-o", str(self.runs))
        return said("run", self.suite, *MODELS, *limit, *place, *self.case.options, *options)

    @functools.cached_property
    def stored(self) -> list[str]:
        """The folders of the two runs."""
        done = self.run()
        assert done.code == 0, done.err
        return sorted(str(path.parent) for path in self.runs.glob("*/*/manifest.json"))

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """What `check_paradigm` found."""
        return check_paradigm(self.case.small or self.suite, self.case.model())


def said(*arguments: str) -> CommandResult:
    """A command of cimento."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = invoke(arguments)
    return CommandResult(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> Iterator[Callable[[str], Tried]]:
    """From the name of a paradigm to what is tried out on it, each once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(probes.PLUGINS))
        patch.syspath_prepend(str(FROZEN))
        root = tmp_path_factory.mktemp("conformance")
        patch.setenv("FROZEN_LOG", str(root / "asked.txt"))
        patch.setenv("CIMENTO_CACHE_DIR", str(root / "cache"))
        find_paradigm.cache_clear()
        yield functools.cache(lambda name: Tried(CASES[name], tmp_path_factory.mktemp(name)))
    find_paradigm.cache_clear()


# --- The commands


def _is_shown(tried: Tried) -> CommandResult:
    return said("suites", "show", tried.suite, "--items", "1")


def _is_checked(tried: Tried) -> CommandResult:
    done = said("suites", "check", tried.suite, "--json")
    assert json.loads(done.out)
    return done


def _is_audited(tried: Tried) -> CommandResult:
    return said("suites", "audit", tried.suite)


def _is_asked_of_people(tried: Tried) -> CommandResult:
    """A survey of it; where people are not asked, one message says so."""
    done = said("annotate", "survey", "build", tried.suite, "-o", str(tried.folder / "survey"))
    refused = done.code == 2 and done.err.count("\n") == 1 and "people are not asked" in done.err
    return CommandResult(0, done.out, done.err) if refused else done


def _is_run_as_json(tried: Tried) -> CommandResult:
    done = tried.run("--json")
    summary = json.loads(done.out)
    assert summary["schema_version"] == 3
    assert len(summary["runs"]) == 2
    assert all(run["estimates"] for run in summary["runs"])
    return done


def _is_planned(tried: Tried) -> CommandResult:
    limit = ("--limit", str(tried.case.limit))
    place = ("-o", str(tried.folder / "planned"))
    done = said("plan", tried.suite, *MODELS, *limit, *place, "--json")
    [suite] = json.loads(done.out)["suites"]
    assert suite["items"] == tried.case.limit
    return done


def _is_judged_again(tried: Tried) -> CommandResult:
    return said("judge", *tried.stored, "--json")


def _is_made_again(tried: Tried) -> CommandResult:
    model = "frozen:" + Path(tried.stored[0]).name.partition("@")[0]
    return said("rerun", tried.stored[0], "-m", model, "-o", str(tried.folder / "reruns"))


def _is_compared(tried: Tried) -> CommandResult:
    done = said("compare", *tried.stored)
    assert "shared items" in done.out
    return done


def _is_cited(tried: Tried) -> CommandResult:
    return said("cite", tried.stored[0], "--methods")


def _is_printed(tried: Tried) -> CommandResult:
    return said("report", *tried.stored)


def _is_reported(tried: Tried, form: str) -> CommandResult:
    page = tried.folder / f"page.{form}"
    done = said("report", *tried.stored, "-o", str(page))
    assert done.code != 0 or "plain" in page.read_text(encoding="utf-8")
    return done


def _is_exported(tried: Tried, form: str) -> CommandResult:
    place = tried.folder / f"export-{form}"
    return said("export", tried.stored[0], "--to", form, "-o", str(place))


COMMANDS: dict[str, Callable[[Tried], CommandResult]] = {
    "suites show": _is_shown,
    "suites check": _is_checked,
    "suites audit": _is_audited,
    "annotate survey": _is_asked_of_people,
    "run --json": _is_run_as_json,
    "plan": _is_planned,
    "judge": _is_judged_again,
    "rerun": _is_made_again,
    "compare": _is_compared,
    "cite": _is_cited,
    "report": _is_printed,
    **{
        f"report {form}": functools.partial(_is_reported, form=form)
        for form in ("html", "md", "txt", "csv", "json")
    },
    **{
        f"export {form}": functools.partial(_is_exported, form=form)
        for form in ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")
    },
}

MISSING: dict[str, dict[str, str]] = {}
"""Paradigm to the cells that are not there yet, each with the reason."""


def _matrix(cells: Sequence[str]) -> list[object]:
    """Every paradigm with every cell."""
    return [
        pytest.param(
            name,
            cell,
            id=f"{name}-{cell}",
            marks=[pytest.mark.xfail(reason=MISSING[name][cell], strict=True)]
            if cell in MISSING.get(name, {})
            else [],
        )
        for name in CASES
        for cell in cells
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cell"), _matrix(CHECKS))
def test_python(tried, name, cell):
    findings = [finding for finding in tried(name).findings if finding.name == cell]
    assert findings, [str(finding) for finding in tried(name).findings if not finding.passed]
    assert all(finding.passed for finding in findings), findings


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cell"), _matrix(tuple(COMMANDS)))
def test_command_line(tried, name, cell):
    done = COMMANDS[cell](tried(name))
    assert done.code == 0, done.err
    assert "Traceback" not in done.err


def test_the_kit_finds_what_the_matrix_names(tried):
    assert tuple(finding.name for finding in tried("regions").findings) == CHECKS
