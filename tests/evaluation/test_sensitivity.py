"""How many verdicts other choices change; the oracle is the run that makes that choice."""

from __future__ import annotations

import pytest

from cimento import RunOptions, evaluate
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.evaluation.sensitivity import ANY, sensitivities

SUITE = "it-subject-verb"
LIMIT = 5


def passed(run):
    outcomes = run.outcomes().filter(question="all predictions")
    return {item: verdict == "pass" for item, verdict in outcomes.select("item", "verdict").rows()}


@pytest.fixture(scope="module")
def rows():
    measured = sensitivities(
        [SUITE, "it-islands"],
        ["demo-causal", "demo-masked"],
        RunOptions(limit=LIMIT),
        cache=MemoryCache(),
    )
    return {(row.suite, row.model.partition("@")[0], row.variant): row for row in measured}


@pytest.mark.slow
def test_each_variant_is_the_run_with_that_choice(rows):
    base = passed(evaluate(SUITE, "demo-masked", limit=LIMIT))
    other = passed(evaluate(SUITE, "demo-masked", limit=LIMIT, pll="whole-word"))
    row = rows[SUITE, "demo-masked", "--pll whole-word"]

    assert row.n == LIMIT
    assert row.gained == tuple(item for item in base if other[item] and not base[item])
    assert row.lost == tuple(item for item in base if base[item] and not other[item])
    assert row.accuracy == sum(other.values()) / LIMIT

    base = passed(evaluate(SUITE, "demo-causal", limit=LIMIT))
    other = passed(evaluate(SUITE, "demo-causal", limit=LIMIT, metric="mean"))
    row = rows[SUITE, "demo-causal", "--metric mean"]
    assert row.changed == sum(base[item] != other[item] for item in base)


@pytest.mark.slow
def test_choices_that_a_model_or_a_suite_does_not_have_are_left_out(rows):
    names = {key[:2]: set() for key in rows}
    for suite, model, variant in rows:
        names[suite, model].add(variant)

    assert not any("pll" in name for name in names[SUITE, "demo-causal"])
    assert not any("bos" in name or "boundary" in name for name in names[SUITE, "demo-masked"])
    # formulas about regions have no measure of sentences, those about sentences no metric
    assert not any("measure" in name for name in names[SUITE, "demo-causal"])
    assert "--metric mean" not in names["it-islands", "demo-causal"]
    assert "--measure meanlp" in names["it-islands", "demo-causal"]


def test_the_last_row_counts_items_that_any_variant_changes(rows):
    for suite, model in {key[:2] for key in rows}:
        of_model = [row for key, row in rows.items() if key[:2] == (suite, model)]
        touched = {item for row in of_model[:-1] for item in (*row.gained, *row.lost)}
        assert of_model[-1].variant == ANY
        assert {*of_model[-1].gained, *of_model[-1].lost} == touched
        assert of_model[-1].changed >= max(row.changed for row in of_model[:-1])


@pytest.mark.slow
def test_the_command_prints_the_table_and_writes_it(tmp_path, capsys):
    command = ["run", SUITE, "-m", "demo-causal", "--limit", "6", "-o", str(tmp_path / "runs")]
    assert invoke([*command, "--sensitivity"]) == 0
    out = capsys.readouterr().out
    assert "Items whose verdict changes" in out
    assert "any variant" in out
    assert {path.suffix for path in (tmp_path / "runs").glob("sensitivity.*")} >= {".csv", ".json"}
    # Two metrics, asked with and without BOS, with and without word boundaries; first tokens are
    # in no region that the formulas need.
    lines = (tmp_path / "runs" / "specifications.csv").read_text(encoding="utf-8-sig").splitlines()
    assert sum(line.startswith((SUITE, ",")) for line in lines) == 8
    assert "specifications are" in out
    assert (tmp_path / "runs" / "specifications.svg").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["it-idioms"], "not judged by formulas"),
        (["--json"], "one document"),
        (["--share", "1/2"], "it needs whole runs"),
        (["-m", "openai:http://127.0.0.1:9/v1#x"], "not loaded here"),
    ],
)
def test_what_has_no_sensitivity_is_refused_before_anything_is_run(more, message, tmp_path, capsys):
    command = ["run", SUITE, *more, "-m", "demo-causal", "--sensitivity", "-o", str(tmp_path / "r")]
    assert invoke(command) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "r").exists()
