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


def test_the_command_line_refuses_for_a_paradigm_of_a_package(probing, tmp_path, capsys):
    run = ["run", str(probing), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    for given, message in (
        (["--set", "artcle=La "], "option artcle: suites of the paradigm 'probing'"),
        (["--metric", "mean"], "option metric: suites of the paradigm 'probing'"),
        (["--context", "Prima."], "option context: suites of the paradigm 'probing'"),
        (["--all-tokens"], "option all_tokens: suites of the paradigm 'probing'"),
    ):
        assert invoke([*run, *given]) == 2
        said = capsys.readouterr().err
        assert said.count(message) == 1
        assert said.count("\n") == 1
    assert not (tmp_path / "runs").exists()
