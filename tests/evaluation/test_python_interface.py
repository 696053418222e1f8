"""Python does what the command line does: every function takes names, paths as text, and runs."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import subprocess
import sys

import pytest

import cimento
from cimento import UsageError, evaluate, open_run, open_runs
from cimento.errors import MissingDependencyError
from cimento.io.public_names import homes_of
from cimento.testing import FakeScorer
from tests.helpers.docs_pages import DOCS, blocks

FORMS = ("x.html", "x.md", "x.txt", "x.csv", "x.json")
TARGETS = ("lm-eval", "inspect", "every-eval-ever", "hf-dataset", "r")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    """A folder of runs of one suite by two models, as text."""
    path = str(tmp_path_factory.mktemp("runs"))
    for name, cost in (("short", 1.0), ("odd", 0.5)):
        model = FakeScorer(
            lambda words, index, cost=cost: -cost * len(words[index]) - index % 2, name=name
        )
        evaluate("it-subject-verb", model, limit=10, output=path)
    return path


def test_runs_are_opened_by_text(folder):
    runs = open_runs(folder)
    assert [repr(run).count("\n") for run in runs] == [0, 0]
    assert repr(open_run(str(runs[0].folder))) == repr(runs[0])
    assert [run.model for run in open_runs([str(run.folder) for run in runs])] == [
        run.model for run in runs
    ]


def test_a_table_for_pandas_names_the_extra_that_brings_it(folder, monkeypatch):
    spec = importlib.util.find_spec("json")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "pandas" else spec)

    with pytest.raises(MissingDependencyError, match=r"cimento\[pandas\]"):
        open_runs(folder)[0].to_pandas("outcomes")


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_a_table_is_a_frame_of_pandas(folder, has_pyarrow, monkeypatch):
    pytest.importorskip("pandas")
    if has_pyarrow:
        pytest.importorskip("pyarrow")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name: None if name == "pyarrow" and not has_pyarrow else find(name),
    )
    run = open_runs(folder)[0]
    frame = run.to_pandas("outcomes")

    assert frame["value"].dtype == "float64"
    assert list(frame.columns) == run.outcomes().columns
    assert frame["item"].tolist() == run.outcomes()["item"].to_list()


@pytest.mark.parametrize("name", FORMS)
def test_a_report_of_a_folder_in_every_form(folder, name, tmp_path):
    path = cimento.report(folder, str(tmp_path / name))
    assert path.stat().st_size > 100
    run = open_runs(folder)[0]
    assert cimento.report(run, str(tmp_path / f"one-{name}")).exists()


@pytest.mark.parametrize("to", TARGETS)
def test_a_run_is_exported(folder, to, tmp_path):
    files = cimento.export(open_runs(folder)[0], to, str(tmp_path / to))
    assert files
    assert all(file.exists() for file in files)


@pytest.mark.parametrize("models", [["demo-causal", "demo-masked"], ("demo-causal",), []])
def test_several_models_are_for_evaluate_all(models):
    with pytest.raises(UsageError, match=r"`evaluate` asks one model. .* cimento.evaluate_all"):
        evaluate("it-subject-verb", models)


def test_two_runs_and_a_folder_are_compared(folder):
    first, second = open_runs(folder)
    comparison = cimento.compare(str(first.folder), second)
    [pair] = [rate for rate in comparison.rates if rate.question == "all predictions"]
    headline = {run.model: e for run in (first, second) for e in run.estimates()
                if e.role == "headline"}  # fmt: skip
    assert pair.second_share == headline[second.model].value
    [ranking] = cimento.compare(folder).rankings
    assert {model.model for model in ranking.models} == {first.model, second.model}


def test_runs_are_cited(folder):
    run = open_runs(folder)[0]
    assert cimento.cite(run).startswith("@")
    assert "it-subject-verb" in cimento.cite(run, "methods")
    assert "\\citep" in cimento.cite(folder, "methods", form="latex")


def test_a_figure_is_drawn_and_a_wrong_name_told(folder, tmp_path):
    run = open_runs(folder)[0]
    drawn = cimento.figure(run, "margins", str(tmp_path / "margins.json"))
    assert drawn.name == "margins"
    assert json.loads((tmp_path / "margins.json").read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="margins"):
        cimento.figure(run, "margin")


def test_the_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "cimento", "--help"], capture_output=True, text=True, check=True
    )
    assert "Start with: cimento demo" in run.stdout


PUBLIC = (
    *("cimento", "cimento.statistics", "cimento.models", "cimento.paradigms", "cimento.testing"),
    *("cimento.explain", "cimento.site", "cimento.types"),
)
"""Modules that pages may import; of the statistics, every module."""
PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
SAID = re.compile(r"(?:from|import) (cimento(?:\.\w+)*)")
TARGET = re.compile(r"\]\(reference/[^)\s]*\)")
DOTTED = re.compile(r"cimento(?:\.[a-z_]+)+\.\w+")


def is_public(module: str) -> bool:
    """Whether users may rely on a module."""
    return module in PUBLIC or module.startswith("cimento.statistics.")


def imported(code: str) -> set[str]:
    """The modules of cimento that code imports, and the names as ``module:name``."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}:{name.name}" for name in node.names}
    return {name for name in names if re.split("[.:]", name)[0] == "cimento"}


def used(code: str) -> set[str]:
    """The names of `cimento` itself that code uses as its attributes."""
    nodes = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Attribute))
    return {
        node.attr
        for node in nodes
        if isinstance(node.value, ast.Name) and node.value.id == "cimento"
    }


def names_of(module: str) -> set[str]:
    """The names that a public module has for its users."""
    there = importlib.import_module(module)
    return set(getattr(there, "__all__", None) or vars(there))


def faults_of(text: str) -> list[str]:
    """What some Python code takes of cimento that is not public or not there."""
    faults = []
    for name in sorted(imported(text)):
        module, _, member = name.partition(":")
        if not is_public(module):
            faults.append(f"imports {name}")
        elif member and member not in names_of(module):
            faults.append(f"{module} has no {member}")
    faults += [f"cimento has no {name}" for name in sorted(used(text) - set(dir(cimento)))]
    return faults


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_imports_nothing_internal(page):
    code = [block.text for block in blocks(page) if block.language == "python"]
    text = page.read_text(encoding="utf-8")
    assert [fault for some in code for fault in faults_of(some)] == []
    assert [module for module in SAID.findall(text) if not is_public(module)] == []
    if page.parent.name != "design":
        text = TARGET.sub("]", text)  # places in the reference are named after internal modules
        named = [name for name in DOTTED.findall(text) if not is_public(name.rpartition(".")[0])]
        assert named == []


@pytest.mark.parametrize(
    "code",
    [
        "from cimento.compare import compare",
        "import cimento.engine.cache",
        "from cimento import evaluation",
        "import cimento\ncimento.regions_api.evaluate()",
        "from cimento.testing import no_such_thing",
    ],
)
def test_an_internal_import_is_noticed(code):
    assert faults_of(code)


def test_the_names_of_cimento_are_these():
    assert dir(cimento) == sorted(cimento.__all__)
    assert " ".join(dir(cimento)) == (
        "Analysis AnswerCache Asking CimentoError Condition Estimate Failure FileCache"
        " InputError Item LanguageAnswer LoadedSuite Measure MemoryCache Meta"
        " MissingDependencyError ModelCard ModelError Outcome PluginError Policy"
        " Prediction Reading Region Run RunOptions RunSummary Scorer Sentence SetSources"
        " SiteSettings StorageError Suite SuiteError Summary TableError TextScorer"
        " TextTooLongError UndefinedValueError UsageError analyze cite cloze compare"
        " evaluate evaluate_all evaluate_language evaluate_while_training export figure fill"
        " join_surprisals live_scorer load_model load_suite load_suites new_canary open_morphology"
        " open_run open_runs open_source pairs ratings report score stories write_site"
    )
    for name in dir(cimento):
        assert getattr(cimento, name).__module__.startswith("cimento."), name


def test_the_stub_begins_with_what_is_used_first():
    names = list(homes_of(cimento.__file__))
    assert names[:4] == ["evaluate", "score", "fill", "pairs"]
    first_class = next(place for place, name in enumerate(names) if name[0].isupper())
    assert all(name[0].isupper() for name in names[first_class:])


WRITES = (
    "evaluate", "evaluate_all", "evaluate_language", "evaluate_while_training", "report", "figure",
    "export", "write_site",
)  # fmt: skip
PLACES = {"path", "paths", "folder", "file", "directory", "out", "destination", "target"}


def test_where_output_goes_is_called_output_everywhere():
    public = {name: getattr(cimento, name) for name in cimento.__all__}
    methods = inspect.getmembers(cimento.Run, inspect.isfunction)
    public |= {f"Run.{name}": method for name, method in methods if not name.startswith("_")}
    functions = {name: made for name, made in public.items() if inspect.isfunction(made)}
    known = {name: {*inspect.signature(made).parameters} for name, made in functions.items()}
    assert {name for name, names in known.items() if "output" in names} == {*WRITES}
    # The others read from there, or are given the record of a run's folder.
    others = {name for name, names in known.items() if names & PLACES}
    assert others == {"open_run", "open_runs", "Run.save", "Run.as_saved"}
