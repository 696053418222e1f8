"""The options of functions have types, which are those of their declarations."""

from __future__ import annotations

import importlib.util
import inspect
import os
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import cimento
from cimento.kinds import option_types
from cimento.options import NO_KEYWORDS, RunOptions

ROOT = Path(__file__).parent.parent.parent
PLUGINS = ROOT / "tests" / "sample_plugin"

SNIPPET = """\
import cimento

cimento.evaluate("it-subject-verb", "demo-causal", batch_size=3, dtype="bf16", k=5, shots=0)
cimento.evaluate("it-subject-verb", "demo-causal", batchsize=3)
list(cimento.evaluate_all(["it-subject-verb"], ["demo-causal"], measures=["lp"], sead=1))
cimento.score("a", "demo-causal", bos="nothing")
cimento.fill("a ___", "demo-causal", k=3, devise="cpu")
cimento.load_model("demo-causal", dtype="fp32", kind="causal", metric="sum")
cimento.open_run("runs").judge(measures=["lp"], near_ties=0.5, tie="pass")
cimento.evaluate("it-subject-verb", "demo-causal", measures=5)
"""
WRONG = {4: "batchsize", 5: "sead", 6: "bos", 7: "devise", 8: "metric", 9: "tie", 10: "measures"}
"""The lines of the snippet that are wrong, and the options that are."""


def test_the_types_are_those_of_the_declarations():
    path = ROOT / "scripts" / "option_types.py"
    spec = importlib.util.spec_from_file_location("option_types_script", path)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.FILE.read_text(encoding="utf-8") == script.module()


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("evaluate", option_types.EvaluationKeywords),
        ("evaluate_all", option_types.EvaluationKeywords),
        ("evaluate_while_training", option_types.TrainingKeywords),
        ("score", option_types.ScoringKeywords),
        ("fill", option_types.LoadingKeywords),
        ("load_model", option_types.LoadingKeywords),
    ],
)
def test_options_of_functions_are_typed_and_no_argument_is_named_twice(name, keywords):
    parameters = inspect.signature(getattr(cimento, name)).parameters
    assert f"Unpack[{keywords.__name__}]" in str(parameters["options"].annotation)
    assert not keywords.__annotations__.keys() & parameters.keys()


def test_every_option_of_a_run_is_an_option_of_training_or_says_where_runs_go():
    named = {"suites", "models", "engine", "workers", "as_json", "set", "from_file"}
    fields = typing.get_type_hints(option_types.TrainingKeywords)
    assert RunOptions.model_fields.keys() - fields.keys() == named | {"output"}
    assert named == NO_KEYWORDS


def mypy(path: Path, *others: Path) -> subprocess.CompletedProcess[str]:
    """What mypy says of files that use cimento, the first of which is in a folder for its cache."""
    cache = os.environ.get("MYPY_CACHE_DIR", str(path.parent / "cache"))
    return subprocess.run(  # noqa: S603  # our own tool
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--follow-imports=silent",
         "--cache-dir", cache, *map(str, (path, *others))],
        capture_output=True, text=True, check=False,
        env=os.environ | {"MYPYPATH": str(ROOT / "src")},
    )  # fmt: skip


@pytest.mark.slow
def test_mypy_finds_an_option_that_does_not_exist(tmp_path):
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET, encoding="utf-8")
    run = mypy(path)
    lines = [line for line in run.stdout.splitlines() if line.startswith(str(path))]
    found = {int(line.split(":")[1]) for line in lines}
    assert found == WRONG.keys(), run.stdout + run.stderr
    assert all(any(name in line for line in lines) for name in WRONG.values())


OF_PLUGINS = """\
from typing import Any

import cimento
from cimento.paradigms import Column, Need, Run, VerdictName
from cimento_probing import ProbingOptions

needs: tuple[Need, ...] = ("logit", "log_sigmoid_sum", "unigrams")
columns: tuple[Column, ...] = ("rank", "entropy_nats")
verdict: VerdictName = "unscored"
options: dict[str, Any] = {"article": "Oggi "}
cimento.evaluate("it-probe", "demo-causal", **options)


def article(run: Run) -> str:
    assert isinstance(run.options, ProbingOptions)
    return run.options.article
"""


@pytest.mark.slow
def test_mypy_takes_the_examples_of_plugins_on_the_page(tmp_path):
    path = tmp_path / "snippet.py"
    path.write_text(OF_PLUGINS, encoding="utf-8")
    # In their own folder, which is in a package, their names would be others.
    names = ("cimento_probing.py", "cimento_sample.py")
    plugins = [Path(shutil.copy(PLUGINS / name, tmp_path)) for name in names]
    run = mypy(path, *plugins)
    assert run.returncode == 0, run.stdout + run.stderr
    path.write_text(OF_PLUGINS.replace('("logit", ', '("rank", '), encoding="utf-8")
    run = mypy(path, *plugins)
    assert f"{path}:7: error" in run.stdout, run.stdout + run.stderr
