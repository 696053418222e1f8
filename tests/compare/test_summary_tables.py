"""Many suites are summed up in one row each; oracles: hand calculation, and the JSON of all."""

from __future__ import annotations

import json

import pytest

from cimento import compare, evaluate
from cimento.compare.summary_tables import summary_of_models
from cimento.testing import FakeScorer
from tests.compare.test_compare_models import marks
from tests.helpers.command_line import invoke

SUITES = (
    "it-acceptability", "it-clitic-participle", "it-determiner-noun-adjective", "it-filler-gap",
    "it-islands", "it-pronoun-antecedent", "it-relative-clause-verb", "it-subject-predicative",
    "it-subject-verb", "it-clitic-participle-adversarial", "it-pronoun-antecedent-adversarial",
    "it-determiner-noun-adjective-adversarial", "it-relative-clause-verb-adversarial",
    "it-subject-predicative-adversarial", "it-subject-verb-adversarial", "it-connectives",
)  # fmt: skip
MOST_LINES = 60


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


def stored(folder, model, suites=SUITES, limit=6):
    """Runs of a model whose surprisals depend on its name and the sentence, and on nothing else."""
    scorer = FakeScorer(lambda tokens, *_: -1.0 - hash_of(model + " ".join(tokens)) % 7, name=model)
    for suite in suites:
        evaluate(suite, scorer, output=folder, limit=limit)


def hash_of(text: str) -> int:
    return sum(ord(letter) * place for place, letter in enumerate(text, 1))


def rows_of(out: str) -> dict[str, list[str]]:
    """The rows of the first table by their first word, with wrapped names left out."""
    body = out.split("---\n", 1)[1]
    return {line.split()[0]: line.split() for line in body.splitlines() if len(line.split()) > 5}


@pytest.mark.slow  # 10 s, for the 32 runs
def test_sixteen_suites_of_two_models_are_a_page(tmp_path, capsys):
    for model in ("uno", "due"):
        stored(tmp_path / model, model)
    capsys.readouterr()
    sides = [str(tmp_path / model) for model in ("uno", "due")]
    assert invoke(["compare", *sides]) == 0
    out, err = capsys.readouterr()
    assert invoke(["compare", *sides, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)

    assert len(out.splitlines()) <= MOST_LINES
    assert max(map(len, out.splitlines())) <= 100
    assert "--details prints them" in err
    main = {"it-subject-verb": "all predictions", "it-relative-clause-verb": "number"}
    for suite, question in main.items():
        (rate,) = (r for r in whole["rates"] if (r["suite"], r["question"]) == (suite, question))
        row = rows_of(out)[suite]
        assert row[1:5] == [
            str(rate["n"]), f"{rate['first_share']:.3f}", f"{rate['second_share']:.3f}",
            f"{rate['change']['estimate']:+.3f}",
        ]  # fmt: skip
        assert row[5:7] == [f"[{rate['change']['low']:.3f},", f"{rate['change']['high']:.3f}]"]
        assert float(row[-1]) == pytest.approx(rate["corrected"], abs=0.01)
    assert "(spearman of" in out
    # One test a suite by its main question, as where both models are in one folder.
    tested = [rate["family"] for rate in whole["rates"] if rate["suite"] in rows_of(out)]
    assert f"over the {min(tested)} tests of rates" in out
    assert "compared by DD too: it-islands" in out
    overall = [one for one in whole["differences"] if not one["phenomenon"]]
    assert out.count("mean of ") == len(overall) > 0


def test_all_tables_are_there_on_request_and_in_the_folder(tmp_path, capsys):
    suites = ("it-subject-verb", "it-islands")
    for model in ("uno", "due"):
        stored(tmp_path / model, model, suites)
    sides = [str(tmp_path / model) for model in ("uno", "due")]
    capsys.readouterr()
    assert invoke(["compare", *sides, "-o", str(tmp_path / "tables")]) == 0
    brief = capsys.readouterr().out
    assert invoke(["compare", *sides, "--details"]) == 0
    detailed = capsys.readouterr().out

    assert "Mean margins" not in brief
    assert "Mean margins" in detailed
    assert "One row per suite" in brief
    assert "One row per suite" in detailed
    written = {path.stem for path in (tmp_path / "tables").iterdir()}
    assert written >= {"summary", "rates", "sizes", "margins", "dd-pairs"}


def test_one_suite_has_all_its_tables(tmp_path, capsys):
    for model in ("uno", "due"):
        stored(tmp_path / model, model, ("it-subject-verb",))
    capsys.readouterr()
    assert invoke(["compare", *(str(tmp_path / model) for model in ("uno", "due"))]) == 0
    out, err = capsys.readouterr()
    assert "One row per suite" not in out
    assert "Mean margins" in out
    assert "--details" not in err


def test_several_models_have_a_column_each(tmp_path, capsys):
    suites = ("it-subject-verb", "it-clitic-participle", "it-subject-predicative")
    for model in ("uno", "due", "tre"):
        stored(tmp_path, model, suites)
    capsys.readouterr()
    assert invoke(["compare", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Every pair of models" not in out
    assert invoke(["compare", str(tmp_path), "--json"]) == 0
    rankings = json.loads(capsys.readouterr().out)["rankings"]
    for ranking in rankings:
        shown = rows_of(out)[ranking["suite"]]
        for model in ranking["models"]:
            assert f"{model['accuracy']:.3f}" in shown


def test_a_table_of_models_by_hand():
    runs = [
        marks(model, right, suite=suite)
        for suite, by_model in {
            "s": {"a": "++++-+", "b": "+--+--", "c": "++-+--"},
            "t": {"a": "------", "b": "++++++", "c": "------"},
        }.items()
        for model, right in by_model.items()
    ]
    grid = summary_of_models(compare(runs).rankings)
    assert grid.header[:2] == ("suite", "n")
    by_model = [dict(zip(grid.header, map(str, row), strict=True)) for row in grid.rows]
    assert [row["a"].split()[0] for row in by_model] == ["0.833", "0.000"]
    assert [row["b"].split()[0] for row in by_model] == ["0.333", "1.000"]
    # statsmodels 0.14: cochrans_q([[1,1,1],[1,0,1],[1,0,0],[1,1,1],[0,0,0],[1,0,0]]).pvalue: 0.0970
    assert by_model[0]["p"] == "0.097"


def test_suites_of_several_models_before_and_after_name_the_model():
    before = [marks(model, "++--", suite="s") for model in ("a", "b")]
    after = [marks(model, "+++-", suite="s") for model in ("a", "b")]
    summary = compare(before, after).grids()["summary"]
    assert [row[0] for row in summary.rows][:2] == ["s, a", "s, b"]


def test_columns_of_checkpoints_are_in_the_order_of_training():
    marked = {"run/checkpoint-3000": "++++++", "run/checkpoint-1000": "+-----"}
    marked |= {"run/checkpoint-20000": "++++--", "other": "++----"}
    runs = [marks(model, right, suite=suite) for suite in "st" for model, right in marked.items()]
    header = summary_of_models(compare(runs).rankings).header
    steps = [model for model in header if "checkpoint" in model]
    assert steps == [f"run/checkpoint-{step}" for step in (1000, 3000, 20000)]
    at = header.index(steps[0])
    assert header[at : at + 3] == tuple(steps)


def by_holm(p_values: list[float]) -> list[float]:
    """Holm 1979: the smallest times m, the next times m - 1, and none below the one before."""
    adjusted = {}
    for left, k in zip(
        range(len(p_values), 0, -1), sorted(range(len(p_values)), key=p_values.__getitem__),
        strict=True,
    ):  # fmt: skip
        adjusted[k] = max([min(1.0, left * p_values[k]), *adjusted.values()])
    return [adjusted[k] for k in range(len(p_values))]


@pytest.mark.parametrize("asked", [(), ("--every-question",)])
def test_two_folders_and_one_are_corrected_over_the_same_tests(asked, tmp_path, capsys):
    suites = ("it-subject-verb", "it-clitic-participle", "it-connectives")
    for model in ("uno", "due"):
        stored(tmp_path / model, model, suites, limit=12)
        stored(tmp_path / "both", model, suites, limit=12)

    def read(*folders: str) -> dict:
        capsys.readouterr()
        assert invoke(["compare", *(str(tmp_path / one) for one in folders), *asked, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    rates = {(one["suite"], one["question"]): one for one in read("uno", "due")["rates"]}
    pairs = {
        (each["suite"], each["question"]): pair
        for each in read("both")["rankings"]
        for pair in each["pairs"]
        if pair["test"]["p"] is not None
    }
    assert len(pairs) == (7 if asked else 3)
    assert {key: (rates[key]["corrected"], rates[key]["family"]) for key in pairs} == {
        key: (pair["corrected"], len(pairs)) for key, pair in pairs.items()
    }
    others = {key: one for key, one in rates.items() if key not in pairs}
    for together in (list(pairs), list(others)):
        assert [rates[key]["corrected"] for key in together] == pytest.approx(
            by_holm([rates[key]["test"]["p"] for key in together])
        )
    assert {one["family"] for one in others.values()} <= {len(others)}
