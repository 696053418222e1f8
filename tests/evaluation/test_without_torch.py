"""Everything public works, or says which extra is missing, where torch is not installed."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cimento

PLUGIN = Path(__file__).parent.parent / "sample_plugin"

WITHOUT = """
import json, sys
from importlib.machinery import PathFinder

class Base(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "tokenizers", "huggingface_hub"}:
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Base
"""
"""The beginning of a program in which the packages of the extra hf are not installed."""

CALLS = {
    "evaluate": "cimento.evaluate('it-subject-verb', 'demo-causal', limit=2)",
    "evaluate_language": "cimento.evaluate_language('it', 'demo-causal', sets=['starter'])",
    "evaluate_all": "raise next(cimento.evaluate_all('it-subject-verb', 'demo-causal')).error",
    "score": "cimento.score(['The keys.'], 'demo-causal')",
    "fill": "cimento.fill(['The ___ are here.'], 'demo-causal')",
    "load_model": "cimento.load_model('demo-causal')",
    "open_source": "cimento.open_source('demo-causal', cimento.Asking()).load()",
    "live_scorer": "cimento.live_scorer(object(), object(), name='x')",
    "undisturbed": "__import__('cimento.models').models.undisturbed(object()).__enter__()",
    "evaluate_while_training": "cimento.evaluate_while_training(object(), 'it-subject-verb')",
}
"""A call of every public function that needs torch."""

WORKING = """
import cimento
from cimento.testing import FakeScorer, check_model

model = FakeScorer(lambda words, index: -1.0 * len(words[index]), name="short")
run = cimento.evaluate("it-subject-verb", cimento.load_model(model), limit=4)
assert run.summary().headline is not None
assert cimento.score(["The keys."], model).height > 1
assert all(finding.passed for finding in check_model(model))
try:
    cimento.fill(["The ___ are here."], model)
except cimento.UsageError as error:
    assert "only scores texts" in str(error)
from cimento.explain import explain
try:
    explain(run, model=model)
except cimento.CimentoError as error:
    assert "torch" not in str(error), error
assert "torch" not in sys.modules
"""


def said(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a program does where torch is not installed."""
    paths = [str(PLUGIN), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", WITHOUT + program, *arguments],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "500"},
    )  # fmt: skip


@pytest.mark.slow
def test_every_public_name_is_there_without_torch():
    program = """
import inspect, cimento
from cimento import *
print(json.dumps([name for name, _ in inspect.getmembers(cimento)]))
assert "torch" not in sys.modules
"""
    run = said(program)
    assert run.returncode == 0, run.stderr
    assert set(cimento.__all__) <= set(json.loads(run.stdout))


@pytest.mark.slow
def test_functions_that_need_torch_name_the_extra_and_the_others_work():
    program = WORKING + "".join(
        f"\ntry:\n    {call}\n    print({name!r}, 'nothing')\n"
        f"except cimento.CimentoError as error:\n"
        f"    print({name!r}, type(error).__name__, 'cimento[hf]' in str(error))\n"
        for name, call in CALLS.items()
    )
    run = said(program)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [f"{name} MissingDependencyError True" for name in CALLS]


def test_every_function_that_asks_models_is_called_above():
    takes_models = {
        name
        for name in cimento.__all__
        if inspect.isfunction(function := getattr(cimento, name))
        and {"model", "models", "trainer"} & set(inspect.signature(function).parameters)
    }
    # In tables of surprisals, `model` is the name in a column.
    assert takes_models - {"join_surprisals"} == set(CALLS) - {"undisturbed"}


@pytest.mark.slow
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_plugin_without_torch_is_checked(form):
    run = said(
        "import cimento.cli.main; sys.argv[0] = 'cimento'; cimento.cli.main.main()",
        *("models", "check", "length:1", "it-subject-verb", *form),
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "finite" in run.stdout


def test_the_check_of_a_model_of_transformers_names_the_extra():
    run = said(
        "import cimento.cli.main; sys.argv[0] = 'cimento'; cimento.cli.main.main()",
        *("models", "check", "demo-causal", "it-subject-verb"),
    )
    assert run.returncode == 2
    assert "pip install 'cimento[hf]'" in run.stderr
