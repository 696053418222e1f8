"""The agreement study: twins, tables, covariates, and the command from archive to table."""

from __future__ import annotations

import dataclasses
import json
import sys
import zipfile
from pathlib import Path

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite
from cimento.cli.main import invoke
from cimento.paradigms.regions.contrast import Contrast, ItemRatio
from cimento.statistics.multiple import holm
from cimento.studies.agreement.profile import (
    contrasted,
    feature_of,
    profile_rows,
    with_covariates,
)
from cimento.studies.agreement.table import language_rows, suite_row, twin_rows
from cimento.studies.agreement.twins import (
    AgreementRun,
    attractor_rows,
    drops_by_property,
    intervening,
    paired_items,
    plain_name,
    twins,
)
from cimento.suites.languages import language_code

STARTERS = Path(__file__).parents[2] / "src" / "cimento" / "data" / "suites"
FORMULA = "(3;%match%) < (3;%mismatch_num%)"
ATTRACTORS = ("", "dei vicini", "delle tre case")


def suite(name: str, *, adversarial: bool) -> Suite:
    return Suite(
        meta=Meta(name=name, language="it", phenomenon="subject-verb"),
        region_names=("subject", "attractor", "verb"),
        predictions=(Prediction(FORMULA),),
        items=tuple(
            Item(
                str(number),
                tuple(condition(c, number, adversarial) for c in ("match", "mismatch_num")),
            )
            for number in (1, 2)
        ),
    )


def condition(name: str, number: int, adversarial: bool) -> Condition:  # noqa: FBT001
    verb = "dorme" if name == "match" else "dormono"
    attractor = ATTRACTORS[number] if adversarial else ""
    columns = {"attractor": "genitive"} if adversarial else {}
    return Condition(name, (Region("Il cane"), Region(attractor), Region(verb)), columns)


def run(name: str, means: tuple[float, float], *, adversarial: bool) -> AgreementRun:
    made = suite(name, adversarial=adversarial)
    return AgreementRun(
        model="m",
        language="it",
        suite=made,
        contrast=Contrast("match", ("mismatch_num",), (3,)),
        ratios=[
            ItemRatio(str(n), (mean,), (1.0 if mean > 0.5 else -1.0,), mean)
            for n, mean in enumerate(means, start=1)
        ],
        passed={str(n): mean > 0.5 for n, mean in enumerate(means, start=1)},
        n_tokens={"1": {"match": 1, "mismatch_num": 3}, "2": {"match": 2, "mismatch_num": 2}},
        other_contexts=[],
    )


@pytest.fixture
def pair() -> tuple[AgreementRun, AgreementRun]:
    plain = run("sv", (0.9, 0.7), adversarial=False)
    return plain, run("sv_adversarial", (0.8, 0.4), adversarial=True)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("sv_adversarial", "sv"),
        ("adv-attribute", "attribute"),
        ("subject verb attractor", "subject verb"),
        ("advice_agreement", None),
        ("sv", None),
    ],
)
def test_the_name_of_a_twin(name: str, plain: str | None) -> None:
    assert plain_name(name) == plain


def test_twins_are_found_whatever_joins_their_words() -> None:
    names = ["subject-verb", "subject_verb_adv", "attribute", "case-adversarial"]
    assert twins(names) == {"subject-verb": "subject_verb_adv"}


def test_items_are_paired_by_id() -> None:
    plain, twin = suite("sv", adversarial=False), suite("sv-adv", adversarial=True)
    assert [(a.id, b.id) for a, b in paired_items(plain, twin)] == [("1", "1"), ("2", "2")]


def test_what_stands_between_is_what_was_put_in() -> None:
    plain, twin = condition("match", 1, False), condition("match", 1, True)  # noqa: FBT003
    assert intervening(plain, twin).words == "dei vicini"
    assert intervening(twin, plain).n_words == 0
    other = Condition("match", (Region("Il gatto di Maria"), Region(""), Region("dorme")))
    assert intervening(plain, other).n_words == 0


def test_the_row_of_a_suite(pair: tuple[AgreementRun, AgreementRun]) -> None:
    row = suite_row(pair[1], seed=0)
    assert row.ratio == pytest.approx(0.6)
    assert (row.accuracy, row.n_verdicts, row.version) == (0.5, 2, "adversarial")
    # two items: no interval, where there were once the two values themselves
    assert (row.ratio_low, row.ratio_high) == (None, None)
    assert row.reason == "2 values: an interval needs 5 or more"


def test_the_interval_of_a_ratio_reaches_where_a_rare_item_would_move_the_mean() -> None:
    row = suite_row(six_items("sv", [0.97, 0.99, 0.98, 0.96, 0.99, 0.98]), seed=0)
    assert row.ratio_low is not None
    assert row.ratio_high is not None
    # six good items do not exclude that one of seven is bad
    assert row.ratio_low < 6 / 7 < row.ratio < row.ratio_high <= 1


def test_the_drop_and_the_items_that_flipped(pair: tuple[AgreementRun, AgreementRun]) -> None:
    (row,) = twin_rows([pair], seed=0)
    assert row.drop == pytest.approx((0.9 - 0.8 + 0.7 - 0.4) / 2)
    assert (row.p, row.low, row.reason) == (None, None, "2 values: an interval needs 5 or more")
    assert (row.lost, row.won, row.unpaired) == (("2",), (), ())


def test_means_of_a_language_weight_suites_or_items() -> None:
    plain = run("sv", (0.9, 0.7), adversarial=False)
    other = run("na", (0.5, 0.3), adversarial=False)
    rows = [suite_row(plain, seed=0), suite_row(other, seed=0)]
    (means,) = language_rows(rows, averaging="suites")
    assert means.ratio == pytest.approx(0.6)
    assert means.n_suites == 2


def test_accuracies_with_different_chance_levels_have_no_mean() -> None:
    plain = run("sv", (0.9, 0.7), adversarial=False)
    three = dataclasses.replace(
        run("na", (0.5, 0.3), adversarial=False),
        contrast=Contrast("match", ("mismatch_num", "mismatch_gend"), (3,)),
    )
    (means,) = language_rows(
        [suite_row(plain, seed=0), suite_row(three, seed=0)], averaging="suites"
    )
    assert means.ratio == pytest.approx(0.6)
    assert means.accuracy is None
    assert means.reason == "chance levels differ between suites (0.333, 0.500)"


def test_attractors_are_grouped_by_their_columns(pair: tuple[AgreementRun, AgreementRun]) -> None:
    rows = {(row.column, row.value): row for row in attractor_rows(*pair, seed=0)}
    assert rows["attractor", "genitive"].drop == pytest.approx(0.2)
    assert rows["words between", "2"].drop == pytest.approx(0.1)
    assert rows["words between", "3"].drop == pytest.approx(0.3)
    assert rows["words between", "3"].low is None
    assert rows["words between", "3"].reason


def test_properties_of_attractors_are_covariates() -> None:
    """By hand: drops .1 and .2 of the one kind, .5 and .6 of the other, two words everywhere."""
    plain = six_items("sv", [0.9] * 6)
    twin = six_items("sv_adversarial", [0.8, 0.7, 0.4, 0.3, 0.75, 0.75], attractor="dei vicini")
    by_property = drops_by_property(plain, twin)

    assert list(by_property) == ["attractor"]
    (intercept, other) = by_property["attractor"].coefficients
    assert other.name == "attractor = relative"
    assert intercept.value == pytest.approx(0.15)
    assert other.value == pytest.approx(0.55 - 0.15)


def six_items(name: str, means: list[float], *, attractor: str = "") -> AgreementRun:
    items = []
    for number in range(6):
        kind = "relative" if number in (2, 3) else "genitive"
        columns = {"attractor": kind, "attractor_number": "plural"} if attractor else {}
        items.append(
            Item(
                str(number),
                tuple(
                    Condition(c, (Region("Il cane"), Region(attractor), Region(verb)), columns)
                    for c, verb in (("match", "dorme"), ("mismatch_num", "dormono"))
                ),
            )
        )
    made = dataclasses.replace(suite(name, adversarial=False), items=tuple(items))
    blank = run(name, (0.9, 0.9), adversarial=False)
    ratios = [ItemRatio(str(n), (mean,), (1.0,), mean) for n, mean in enumerate(means)]
    return dataclasses.replace(blank, suite=made, ratios=ratios)


def test_features_are_read_from_the_names_of_conditions() -> None:
    assert feature_of("mismatch_num_gend") == "number + gender"
    assert feature_of("wrong-person") == "person"
    assert feature_of("ungrammatical") == "ungrammatical"


def test_the_profile_tells_length_and_frequency(pair: tuple[AgreementRun, AgreementRun]) -> None:
    zipf = {"dorme": 4.5, "dormono": 3.5}.__getitem__
    (first, second) = contrasted(pair[0], frequency=zipf)
    assert (first.more_tokens, first.less_frequent) == (2, 1.0)
    assert second.more_tokens == 0
    (row,) = profile_rows(pair[:1], seed=0, frequency=lambda _language: zipf)
    assert (row.features, row.n, row.accuracy) == ("number", 2, 1.0)
    assert row.more_tokens == 1.0


def test_languages_have_codes() -> None:
    assert language_code("Italian") == "it"
    assert language_code("ru") == "ru"


def syntaxgym(name: str, *, adversarial: bool, formula: str = FORMULA) -> str:
    made = suite(name, adversarial=adversarial)
    return json.dumps(
        {
            "meta": {"name": name, "metric": "sum", "language": "Italian"},
            "region_meta": {"1": "subject", "2": "attractor", "3": "verb"},
            "predictions": [{"type": "formula", "formula": formula}],
            "items": [
                {
                    "item_number": number,
                    "conditions": [
                        {
                            "condition_name": condition.name,
                            "regions": [
                                {"region_number": n, "content": region.text}
                                for n, region in enumerate(condition.regions, start=1)
                            ],
                        }
                        for condition in item.conditions
                    ],
                }
                for number, item in enumerate(made.items, start=1)
            ],
        }
    )


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "it.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("it/sv.json", syntaxgym("sv", adversarial=False))
        file.writestr("it/sv_adversarial.json", syntaxgym("sv_adversarial", adversarial=True))
    return path


def test_an_intercept_claims_no_control_that_was_not_made() -> None:
    plain = six_items("sv", [0.9, 0.8, 0.7, 0.9, 0.95, 0.85])
    varied = {str(n): {"match": 1, "mismatch_num": 1 + n % 2} for n in range(6)}
    lengths = dataclasses.replace(plain, n_tokens=varied)
    longer = dataclasses.replace(
        plain, n_tokens={str(n): {"match": 1, "mismatch_num": 2} for n in range(6)}
    )
    zipf = {"dorme": 4.5, "dormono": 3.5}.__getitem__

    assert with_covariates(contrasted(lengths))[1] == ("length in tokens",)
    # all forms differ by one: nothing is equal at the intercept
    assert with_covariates(contrasted(longer, frequency=zipf))[1] == ()
    alike = dataclasses.replace(plain, n_tokens={})
    assert with_covariates(contrasted(alike, frequency=lambda _word: 4.0))[1] == (
        "length in tokens",
        "frequency",
    )


def test_without_frequencies_the_table_says_that_they_are_not_controlled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["study", "agreement", "--data", str(STARTERS / "it-subject-verb"), "--profile"]
    command += ["-m", "demo-causal", "-o", str(tmp_path / "runs"), "--limit", "8"]
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    assert invoke(command) == 0
    shown = capsys.readouterr().out
    assert "(intercept) at equal length in tokens, frequency not controlled" in shown
    assert "equal length in tokens and frequency" not in shown


@pytest.mark.slow
def test_coefficients_that_are_read_are_adjusted_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("it-subject-verb", "it-subject-verb-adversarial")
    data = [part for name in names for part in ("--data", str(STARTERS / name))]
    command = ["study", "agreement", *data, "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke([*command, "--profile", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    read = []
    for row in report["covariates"]:
        pairs = zip(row["regression"]["coefficients"], row["p_holm"], strict=True)
        for coefficient, adjusted in pairs:
            if row["outcome"].startswith("drop") and coefficient["name"] == "(intercept)":
                assert adjusted is None
            else:
                read.append((coefficient["p"], adjusted))
    assert len(read) > 6
    assert [adjusted for _, adjusted in read] == pytest.approx(holm([p for p, _ in read]))
    few = [row for row in report["attractors"] if row["n_pairs"] < 5]
    assert few
    assert all(row["low"] is None and "an interval needs 5" in row["reason"] for row in few)


@pytest.mark.slow
def test_from_an_archive_to_the_table(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["study", "agreement", "--data", str(archive), "-m", "demo-causal"]
    command += ["-o", str(tmp_path / "out"), "--profile"]
    assert invoke([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["suite"] for row in report["suites"]] == ["sv", "sv_adversarial"]
    assert report["twins"][0]["n_pairs"] == 2
    assert {row["language"] for row in report["languages"]} == {"it"}
    assert report["profile"][0]["features"] == "number"
    assert (tmp_path / "out" / "runs" / "it" / "sv").is_dir()
    assert invoke(command) == 0
    shown = capsys.readouterr().out
    assert "plain minus adversarial" in shown
    assert "competence by agreement" in shown


def test_an_ambiguous_target_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sv.json"
    formula = "(*;%match%) < (*;%mismatch_num%)"
    path.write_text(syntaxgym("sv", adversarial=False, formula=formula), encoding="utf-8")
    command = ["study", "agreement", "--data", str(path), "-m", "demo-masked"]
    command += ["-o", str(tmp_path / "runs")]
    assert invoke(command) == 2
    assert "--region" in capsys.readouterr().err
    assert invoke([*command, "--region", "3"]) == 0
    assert "sv" in capsys.readouterr().out
