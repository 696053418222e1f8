"""An option that a kind of test does not honour is refused with one message, before all else."""

from __future__ import annotations

import pytest

from cimento.api import evaluate
from cimento.cli.main import invoke
from cimento.errors import UsageError

SUITES = {
    "regions": "it-islands",
    "ratings": "it-connectives",
    "cloze": "it-connectives-cloze",
    "stories": "es-stories",
}


@pytest.mark.parametrize("paradigm", SUITES)
def test_an_unknown_option_is_refused_with_those_that_are_known(paradigm):
    with pytest.raises(UsageError) as refused:
        evaluate(SUITES[paradigm], "demo-causal", seeds=1)
    assert str(refused.value).startswith(
        f"option seeds: suites of the paradigm {paradigm!r} have no such option."
    )
    assert "Did you mean 'seed'?" in str(refused.value)


@pytest.mark.parametrize("model", ["demo-causal", "replay:recorded.tsv"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("context", "Prima. "),
        ("all_tokens", True),
        ("columns", "rank"),
        ("spec", "spec.json"),
        ("recorded_unit", "nats"),
    ],
)
def test_a_scoring_option_that_blanks_have_no_use_for_is_refused(name, value, model):
    with pytest.raises(UsageError, match=f"option {name}: .*'cloze' are not asked with it"):
        evaluate(SUITES["cloze"], model, **{name: value})


REFUSED = {
    "metric": ["--metric", "mean"],
    "unit": ["--unit", "nats"],
    "ties": ["--ties", "pass"],
    "measure": ["--measure", "lp"],
    "context": ["--context", "Prima."],
    "all_tokens": ["--all-tokens"],
    "nonsense": ["--set", "nonsense=1"],
}
"""Options that are about sentences in regions, and one that is about nothing."""


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("paradigm", ["cloze", "stories", "probing"])
def test_the_command_line_refuses_it_in_one_line(paradigm, name, probing, tmp_path, capsys):
    suite = SUITES.get(paradigm, str(probing))
    runs = tmp_path / "runs"
    assert invoke(["run", suite, "-m", "demo-causal", "-o", str(runs), *REFUSED[name]]) == 2
    said = capsys.readouterr().err
    assert f"option {name}: suites of the paradigm {paradigm!r}" in said
    assert said.count("\n") == 1
    assert not runs.exists()


def test_the_nearest_option_is_named(probing, tmp_path, capsys):
    run = ["run", str(probing), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke([*run, "--set", "artcle=La "]) == 2
    assert "Did you mean 'article'?" in capsys.readouterr().err
