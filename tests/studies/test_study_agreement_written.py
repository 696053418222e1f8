"""The tables and figures of the agreement study for models of one's own, on our own suites."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.studies.agreement import released
from cimento.studies.agreement.released import starter_suites
from tests.helpers.tidy_tables import check_folder

MODELS = ("-m", "demo-causal", "-m", "demo-masked")
TABLES = (
    *("suites", "twins", "languages", "attractors", "profile", "covariates", "models", "pairs"),
)


LANGUAGES = (("it", "ru"), pytest.param(("es", "it", "pt", "ru"), marks=pytest.mark.slow))


@pytest.fixture(scope="module", params=LANGUAGES, ids="-".join)
def written(request, tmp_path_factory):
    """Both demo models, on the first items of our own suites in some languages, or in all."""
    folder = tmp_path_factory.mktemp("study")
    arguments = ["study", "agreement", *MODELS, "--limit", "1", "-o", str(folder)]
    suites = [suite for suite in starter_suites() if suite[0] in request.param]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(released, "starter_suites", lambda: tuple(suites))
        assert invoke(arguments) == 0
        yield folder, arguments, request.param


def rows_of(folder: Path, name: str) -> list[list[str]]:
    return list(csv.reader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))


@pytest.mark.slow
def test_every_table_is_written_in_three_forms_and_figures_beside(written):
    folder, _, languages = written
    names = {path.name for path in folder.iterdir()}
    tables = (*TABLES, *(f"table-{language}" for language in languages))
    assert {f"{name}{end}" for name in tables for end in (".txt", ".csv", ".tex")} <= names
    assert {"profile.svg", "drops.svg", "runs"} <= names
    assert check_folder(folder, labels=3) > 8
    assert "\\toprule" in (folder / "table-ru.tex").read_text(encoding="utf-8")
    text = (folder / "table-ru.txt").read_text(encoding="utf-8")
    assert "The ratios that the paper printed are not part of cimento." in text


def test_a_language_has_a_row_for_each_model_and_two_columns_for_a_suite_and_its_twin(written):
    folder, _, languages = written
    wide, *cells = rows_of(folder, "table-it")
    ends = ("_low", "_high", "_n")
    kept = [place for place, name in enumerate(wide) if not name.endswith(ends)]
    header, *rows = ([row[place] for place in kept] for row in (wide, *cells))
    assert header[1:3] == ["it-clitic-participle_plain", "it-clitic-participle_adversarial"]
    assert header[-2:] == ["mean_plain", "mean_adversarial"]
    assert len(header) == 1 + 2 * 6 + 2
    assert len(wide) == len(header) + 3 * 2 * 6
    assert [row[0].partition("@")[0] for row in rows] == ["demo-causal", "demo-masked"]
    for row in rows:
        plain, adversarial = map(float, row[1:-2:2]), map(float, row[2:-2:2])
        for values, mean in ((list(plain), row[-2]), (list(adversarial), row[-1])):
            assert sum(values) / 6 == pytest.approx(float(mean))
    assert {row[1] for row in rows_of(folder, "suites")[1:]} == {*languages}
    assert len(rows_of(folder, "suites")) == 1 + 2 * 12 * len(languages)


def test_a_second_run_asks_nothing_again_and_says_whose_suites_it_showed(
    written, monkeypatch, capsys
):
    from cimento.models.hf import loading

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("the model was loaded again")

    folder, arguments, languages = written
    before = (folder / "suites.csv").read_bytes()
    monkeypatch.setattr(loading, "load", refuse)
    capsys.readouterr()
    assert invoke(arguments) == 0
    assert (folder / "suites.csv").read_bytes() == before
    captured = capsys.readouterr()
    assert f"there is no --data: {12 * len(languages)} suites of our own are asked" in captured.err
    # what is printed is what is written, without the tables of the profile
    assert "Italian: mean probability ratio of every suite" in captured.out
    assert "competence by agreement" not in captured.out


def test_the_tables_of_a_profile_are_printed_when_asked_for(written, capsys):
    _, arguments, _ = written
    capsys.readouterr()
    assert invoke([*arguments, "--profile", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {row["features"] for row in report["profile"]} >= {"number", "gender + number"}
    assert report["syntaxgym"] == []
