"""Families of models, by their names or as they are given, and what an analysis says of them."""

from __future__ import annotations

import numpy as np
import pytest

from cimento import UsageError
from cimento.compare.analysis_tables import analysis_grids
from cimento.compare.families import families_among, families_given, family_of
from cimento.compare.levels import AnalysisSettings, analyze_runs
from cimento.errors import InputError
from tests.helpers.made_runs import made_run, outcomes_of

MODELS = ("a@1", "b@2", "c@3")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("out/checkpoint-500", "out"),
        ("org/name@step1000", "org/name"),
        ("org/pythia-70m", "org/pythia"),
        ("org/pythia-1.4b", "org/pythia"),
        ("gpt2-medium", "gpt2"),
        ("gpt2", "gpt2"),
        ("demo-causal", "demo-causal"),
        ("demo-masked", "demo-masked"),
        ("large", "large"),
    ],
)
def test_a_name_proposes_a_family(name, family):
    assert family_of(name) == family


def test_given_families_replace_those_of_names():
    proposed = dict(zip(MODELS, ("x", "x", "y"), strict=True))
    assert families_among(proposed, {}) == {"a@1": "x", "b@2": "x", "c@3": "c@3"}
    given = families_given(["other=b,c@3"], MODELS)
    assert families_among(proposed, given) == {"a@1": "a@1", "b@2": "other", "c@3": "other"}


def test_a_folder_is_known_by_its_last_name_unless_there_are_two():
    named = [
        f"/a/{folder}/checkpoint-{k}" for folder in ("out", "b/runs", "c/runs") for k in (1, 2)
    ]
    families = families_among({name: family_of(name) for name in named}, {})
    assert [*dict.fromkeys(families.values())] == ["out", "/a/b/runs", "/a/c/runs"]


@pytest.mark.parametrize("text", ["x", "x=", "=a,b", "x=a,d", "x=a b"])
def test_a_family_of_another_form_is_refused(text):
    with pytest.raises(UsageError, match="family="):
        families_given([text], MODELS)


def test_families_are_a_column_of_a_table_of_models(tmp_path):
    table = tmp_path / "models.tsv"
    table.write_text("model\tfamily\tnote\na\tmonolingual\t\nc@3\tmonolingual\t\nb\t\t\nz\tx\t\n")
    assert families_given([str(table)], MODELS) == {"a@1": "monolingual", "c@3": "monolingual"}
    with pytest.raises(UsageError, match="no model here is in it"):
        families_given([str(table)], ["y"])
    with pytest.raises(UsageError, match="in monolingual already"):
        families_given([str(table), "other=a"], MODELS)
    table.write_text("model\tgroup\na\tx\n")
    with pytest.raises(InputError, match="model and family"):
        families_given([str(table)], MODELS)


def test_a_model_is_in_one_family():
    with pytest.raises(UsageError, match="in x already"):
        families_given(["x=a,b", "y=b,c"], MODELS)


@pytest.fixture(scope="module")
def runs():
    generator = np.random.default_rng(2)
    easy, shared = generator.normal(0.5, 1, 16), generator.normal(0, 2.5, (16, 2))
    names = [*(f"run/checkpoint-{k}" for k in (1, 2, 3)), "other"]
    chances = 1 / (1 + np.exp(-easy[:, None] - shared[:, [0, 0, 0, 1]]))
    right = generator.random((16, 4)) < chances
    marks = ["".join("+" if one else "-" for one in column) for column in right.T]
    return [made_run(name, outcomes_of(some)) for name, some in zip(names, marks, strict=True)]


def test_an_analysis_says_which_families_it_used(runs):
    analysis = analyze_runs(runs, AnalysisSettings(kind="rasch"))
    assert [*analysis.families] == ["run"]
    assert len(analysis.families["run"]) == 3
    assert "testlet" in {part.part for part in analysis.variance}
    assert all(one.sure >= 0.95 for one in analysis.by_family)
    notes = " ".join(analysis_grids(analysis)["models"].notes)
    assert "Families: run (run/checkpoint-1, run/checkpoint-2, run/checkpoint-3)." in notes
    assert "Abilities are over the phenomena given" in notes


def test_without_two_families_there_is_a_reason(runs):
    names = ",".join(run.model for run in runs)
    one = analyze_runs(runs, AnalysisSettings(kind="rasch", families=(f"all={names}",)))
    assert (one.by_family, one.no_families) == (None, "all models are of one family")
    two = analyze_runs(runs[2:], AnalysisSettings(kind="rasch"))
    assert (two.by_family, two.no_families) == (None, "no two models are of one family")
