"""Models side by side in the agreement study: facts, paired tests, covariates, the heat map."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from scipy import stats

from cimento import Condition, InputError, Item, Meta, Prediction, Region, Suite, UsageError
from cimento.cli.main import invoke
from cimento.models.hf.files import LocatedModel
from cimento.paradigms.regions.contrast import Contrast, ItemRatio
from cimento.statistics.multiple import holm
from cimento.studies.agreement.models import (
    SAME,
    ModelRow,
    fact_rows,
    known_models,
    model_facts,
    model_pairs,
    model_rows,
    read_models,
)
from cimento.studies.agreement.profile import profile_figure, profile_frame, profile_rows
from cimento.studies.agreement.table import language_rows, suite_row
from cimento.studies.agreement.twins import AgreementRun

SUITES = Path(__file__).parents[2] / "src" / "cimento" / "data" / "suites"


def run(model: str, ratios: list[float], *, name: str = "sv", **details: str) -> AgreementRun:
    """A model whose ratios are given; the wrong form is one token longer in every second item."""
    items = tuple(
        Item(
            str(n),
            (
                Condition("match", (Region("La nave"), Region("parte"))),
                Condition("mismatch_num", (Region("La nave"), Region("partono"))),
            ),
        )
        for n in range(len(ratios))
    )
    suite = Suite(
        meta=Meta(name=name, language="it"),
        region_names=("subject", "verb"),
        predictions=(Prediction("(2;%match%) < (2;%mismatch_num%)"),),
        items=items,
    )
    return AgreementRun(
        model=model,
        language="it",
        suite=suite,
        contrast=Contrast("match", ("mismatch_num",), (2,)),
        ratios=[ItemRatio(str(n), (r,), (r - 0.5,), r) for n, r in enumerate(ratios)],
        passed={str(n): r > 0.5 for n, r in enumerate(ratios)},
        n_tokens={str(n): {"match": 1, "mismatch_num": 1 + n % 2} for n in range(len(ratios))},
        other_contexts=[],
        details=details,
    )


def rows_of(runs: list[AgreementRun], given: dict[str, dict[str, str]]) -> list[ModelRow]:
    languages = language_rows([suite_row(run, seed=0) for run in runs], averaging="suites")
    return model_rows(runs, languages, given)


def test_two_models_are_compared_item_by_item() -> None:
    one = run("a@1", [0.9, 0.8, 0.7, 0.6, 0.3])
    other = run("b@2", [0.5, 0.6, 0.6, 0.6, 0.4])
    (row,) = model_pairs([one, other], seed=0)

    # python -c "from scipy import stats; print(stats.ttest_1samp([.4, .2, .1, 0, -.1], 0))"
    assert row.difference == pytest.approx(0.12)
    assert row.p == pytest.approx(0.23550, abs=5e-6)
    assert (row.first, row.second, row.n, row.features) == ("a@1", "b@2", 5, "number")
    assert row.p_holm == row.p
    assert (row.first_accuracy, row.second_accuracy) == (0.8, 0.6)


def test_ratios_of_two_kinds_of_model_are_not_tested() -> None:
    one, other, third = (
        dataclasses.replace(run(name, ratios), kind=kind)
        for name, ratios, kind in (
            ("a@1", [0.9, 0.8, 0.7, 0.6, 0.3], "causal"),
            ("b@2", [0.5, 0.6, 0.6, 0.6, 0.4], "masked"),
            ("c@3", [0.5, 0.6, 0.9, 0.6, 0.6], "causal"),
        )
    )
    mixed, same, _ = model_pairs([one, other, third], seed=0)

    assert (mixed.first_accuracy, mixed.second_accuracy, mixed.n) == (0.8, 0.6, 5)
    assert (mixed.difference, mixed.low, mixed.p, mixed.p_holm) == (None, None, None, None)
    assert mixed.reason == "scores of causal and masked models are on different scales"
    assert same.p is not None
    assert same.p_holm == same.p


def test_facts_are_compared_over_models_of_one_kind() -> None:
    runs = [
        dataclasses.replace(run(f"{name}@1", [0.6, 0.7]), kind=kind)
        for name, kind in (("a", "causal"), ("b", "masked"), ("c", "causal"))
    ]
    rows = fact_rows(rows_of(runs, {}))
    assert [(row.kind, row.n) for row in rows] == [("causal", 2)]


def test_the_adjustment_is_over_the_whole_table() -> None:
    runs = [
        run(f"{m}@1", [0.5 + k * n / 20 for n in range(6)], name=name)
        for name in ("sv", "sv_adversarial")
        for k, m in enumerate("abc")
    ]
    rows = model_pairs(runs, seed=0)

    assert len(rows) == 6
    assert [row.p_holm for row in rows] == holm([row.p for row in rows])
    assert [row.version for row in rows] == ["plain"] * 3 + ["adversarial"] * 3
    assert {row.agreement for row in rows} == {"sv"}


def test_items_that_only_one_model_was_asked_are_left_out() -> None:
    one, other = run("a@1", [0.9, 0.8, 0.7]), run("b@1", [0.5, 0.5, 0.5])
    none = dataclasses.replace(other, ratios=[])
    fewer = dataclasses.replace(other, ratios=other.ratios[:2])

    assert model_pairs([one, fewer], seed=0)[0].n == 2
    (row,) = model_pairs([one, none], seed=0)
    assert (row.difference, row.p, row.p_holm) == (None, None, None)
    assert row.reason


def test_the_users_table_says_most_then_the_model_then_what_was_published() -> None:
    known = {"org/m": {"parameters": "1", "vocabulary": "2", "training_tokens": "3"}}
    model_run = run("org/m@abc", [0.6], parameters="10", tokenizer="WordPiece")

    assert model_facts(model_run, {}, known) == {
        "parameters": "10",
        "vocabulary": "2",
        "training_tokens": "3",
        "tokenizer": "WordPiece",
    }
    assert (
        model_facts(model_run, {"m": {"parameters": "5", "citation": "x"}}, known)["parameters"]
        == "5"
    )
    assert model_facts(run("/a/folder/m@abc", [0.6]), {"m": {"size": "s"}}, {}) == {"size": "s"}


def test_covariates_over_models_are_rank_correlations() -> None:
    means = {"a": 0.55, "b": 0.8, "c": 0.7, "d": 0.9}
    tokens = {"a": "1,000", "b": "30000", "c": "2e4", "d": "25000"}
    given = {m: {"training_tokens": t, "same": "7", "school": "x"} for m, t in tokens.items()}
    runs = [run(f"{m}@1", [mean, mean - 0.02]) for m, mean in means.items()]
    rows = {row.fact: row for row in fact_rows(rows_of(runs, given))}

    expected = stats.spearmanr([1e3, 3e4, 2e4, 2.5e4], list(means.values())).statistic
    assert rows["training_tokens"].r == pytest.approx(expected)
    assert rows["training_tokens"].n == 4
    assert rows["same"].r is None
    assert rows["same"].reason == SAME
    assert "school" not in rows


def test_one_model_has_nothing_to_be_compared_with() -> None:
    rows = rows_of([run("a@1", [0.9, 0.4])], {"a": {"x": "1"}})

    assert fact_rows(rows) == []
    assert (rows[0].target_tokens, rows[0].unequal) == (1.0, 0.5)
    assert rows[0].ratio == pytest.approx(0.65)


def test_the_ratio_where_both_forms_have_equally_many_tokens() -> None:
    (row,) = profile_rows([run("a@1", [0.9, 0.1, 0.7])], seed=0, frequency=lambda _language: None)

    assert row.unequal == pytest.approx(1 / 3)
    assert row.ratio_equal == pytest.approx(0.8)


def test_every_published_row_has_a_source_and_whole_numbers() -> None:
    assert "openai-community/gpt2" in known_models()
    for facts in known_models().values():
        assert facts["citation"]
        assert all(
            facts[name].isdecimal()
            for name in ("vocabulary", "parameters", "training_tokens")
            if name in facts
        )


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("name\tsize\na\t1\n", "no column 'model'"),
        ("model\tsize\na\t1\na\t2\n", "'a' is here again"),
        ("model\tsize\n\t1\n", "no model is named"),
    ],
)
def test_a_table_of_models_that_cannot_be_used_says_why(
    text: str, seen: str, tmp_path: Path
) -> None:
    path = tmp_path / "models.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=seen):
        read_models(path)


def test_the_column_of_models_is_chosen_and_said(tmp_path: Path) -> None:
    path = tmp_path / "models.csv"
    path.write_text("Modello;training_tokens\nmy/model;4e9\norg/other;2,5\n", encoding="utf-8")
    facts, read = read_models(path, {"model": "Modello"})
    assert facts == {
        "my/model": {"training_tokens": "4e9"},
        "org/other": {"training_tokens": "2,5"},
    }
    assert read.said() == 'Read as models: model = "Modello", facts = "training_tokens"; 2 models.'
    with pytest.raises(UsageError, match="no column 'Modelo'"):
        read_models(path, {"model": "Modelo"})


def test_the_heat_map_has_a_panel_for_each_model() -> None:
    runs = [run(f"{m}@1", [0.9, 0.4], name=name) for m in "ab" for name in ("sv", "sv-adversarial")]
    rows = profile_rows(runs, seed=0, frequency=lambda _language: None)
    figure = profile_figure(rows)

    assert figure.frame["cell"].unique().to_list() == ["it sv: number"]
    assert figure.frame["ratio"].to_list() == pytest.approx([0.65] * 4)
    assert figure.frame["version"].to_list() == ["plain", "adversarial"] * 2
    assert json.dumps(figure.spec).count("redblue") == 1


def test_suites_about_the_same_are_one_cell() -> None:
    phenomenon = Meta(name="x", language="it", phenomenon="verbs")
    runs = []
    for name, ratios in (("one", [0.9, 0.6, 0.6]), ("two", [0.3])):
        made = run("a@1", ratios, name=name)
        meta = dataclasses.replace(phenomenon, name=name)
        runs.append(dataclasses.replace(made, suite=dataclasses.replace(made.suite, meta=meta)))
    frame = profile_frame(profile_rows(runs, seed=0, frequency=lambda _language: None))

    assert frame["ratio"].to_list() == pytest.approx([0.6])
    assert (frame["n"].to_list(), frame["low"].to_list()) == ([4], [None])


@pytest.mark.slow
def test_the_command_loads_each_model_once_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cimento.models.hf import loading

    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    loaded: list[str] = []
    real = loading.load

    def counted(located: LocatedModel, **options: object) -> object:
        loaded.append(located.name)
        return real(located, **options)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr(loading, "load", counted)
    data = tmp_path / "data"
    for name in ("it-subject-verb", "it-subject-verb-adversarial", "es-subject-verb"):
        shutil.copytree(SUITES / name, data / name)
    table = tmp_path / "models.tsv"
    table.write_text("model\ttraining_tokens\ndemo-causal\t1200\n", encoding="utf-8")
    code = invoke(
        [
            "study",
            "agreement",
            "--data",
            str(data),
            "-m",
            "demo-causal",
            "--limit",
            "4",
            "--json",
            "-o",
            str(tmp_path / "out"),
            "--models-table",
            str(table),
        ]
    )

    assert code == 0
    assert loaded == ["demo-causal"]
    report = json.loads(capsys.readouterr().out)
    assert {row["language"] for row in report["models"]} == {"it", "es"}
    assert report["models"][0]["facts"]["training_tokens"] == "1200"
    assert report["models"][0]["facts"]["tokenizer"] == "byte-level BPE"
    assert "<svg" in (tmp_path / "out" / "profile.svg").read_text(encoding="utf-8")


def test_two_suites_of_one_name_in_a_language_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = str(SUITES / "it-subject-verb")
    data = ["--data", suite, "--data", suite]
    assert invoke(["study", "agreement", *data, "-m", "demo-causal", "-o", str(tmp_path)]) == 2
    assert "two suites of one language have this name" in capsys.readouterr().err
