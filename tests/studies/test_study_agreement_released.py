"""Agreement archives as their authors release them: what the study finds in them, and says."""

from __future__ import annotations

import dataclasses
import json
import zipfile
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.studies.agreement.released import agreement_materials, find_released, starter_suites
from cimento.studies.agreement.table import twin_rows
from cimento.studies.agreement.text import drops_figure
from tests.studies.test_study_agreement import run, syntaxgym


def archive(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        for name, adversarial in (("sv", False), ("sv_adversarial", True)):
            file.writestr(f"suites/{name}.json", syntaxgym(name, adversarial=adversarial))
    return path


@pytest.fixture
def download(tmp_path: Path) -> Path:
    """A folder as it comes from the hub: a card, and an archive of suites below."""
    folder = tmp_path / "SyntacticAgreement"
    archive(folder / "data" / "italian.zip")
    (folder / "README.md").write_text("A card.", encoding="utf-8")
    return folder


def test_archives_are_found_below_the_folder_that_was_downloaded(download):
    released = find_released([download])
    assert [(code, loaded.suite.name) for code, loaded in released.languages] == [
        ("it", "sv"), ("it", "sv_adversarial")
    ]  # fmt: skip
    assert (released.syntaxgym, released.results, released.example) == ((), (), None)


def test_the_materials_are_described_and_not_compared_where_a_language_is_missing(download, capsys):
    assert invoke(["study", "agreement", "--data", str(download), "--json"]) == 0
    sections = json.loads(capsys.readouterr().out)["sections"]
    (materials,) = [section for section in sections if section["name"] == "materials"]
    cells = {cell["what"]: cell for cell in materials["cells"]}
    assert cells["all items"]["computed"] == 4
    assert cells["all items"]["equal"] is None
    assert cells["all items"]["note"] == "not compared: no suites in es, pt, ru"
    assert cells["it: items"]["note"] == "8 sentences in 2 suites, 1 with a twin"
    plain = cells["it, sv: items"]
    assert plain["computed"] == 2
    assert plain["note"] == (
        "match against 1, chance 0.500; twin sv_adversarial: 2 items paired; a repeated item (1)"
    )


def test_suites_of_all_languages_without_a_status_are_compared_with_the_number_that_was_printed():
    plain = []
    for language, loaded in starter_suites():
        suite = dataclasses.replace(
            loaded.suite, meta=dataclasses.replace(loaded.suite.meta, status="")
        )
        reading = dataclasses.replace(loaded.reading, suite=suite)
        plain.append((language, dataclasses.replace(loaded, reading=reading)))
    whole = next(cell for cell in agreement_materials(plain).cells if cell.what == "all items")
    assert (whole.computed, whole.printed, whole.equal) == (48 * 24, "more than 5,000", False)


def test_drafts_are_not_compared_with_the_number_of_the_authors():
    cells = {cell.what: cell for cell in agreement_materials(starter_suites()).cells}
    whole = cells["all items"]
    assert (whole.computed, whole.printed, whole.equal) == (48 * 24, "more than 5,000", None)
    assert whole.note.startswith("not compared: the suites are others than the authors' (draft")
    assert [cells[f"{code}: items"].computed for code in ("es", "it", "pt", "ru")] == [288] * 4


def test_suites_named_like_those_of_syntaxgym_are_of_the_language_of_their_folder(tmp_path):
    unnamed = syntaxgym("cleft", adversarial=False).replace('"language": "Italian"', '"tags": []')
    for folder in ("spanish", "json"):
        path = tmp_path / folder / "cleft.json"
        path.parent.mkdir()
        path.write_text(unnamed, encoding="utf-8")
    (tmp_path / "spanish" / "sv.json").write_text(
        syntaxgym("sv", adversarial=False), encoding="utf-8"
    )
    spanish = find_released([tmp_path / "spanish"])
    names = [(code, loaded.suite.name) for code, loaded in spanish.languages]
    assert names == [("es", "cleft"), ("it", "sv")]
    assert not spanish.syntaxgym
    english = find_released([tmp_path / "json"])
    assert [loaded.suite.meta.language for _, loaded in english.syntaxgym] == ["en"]


def test_a_suite_with_a_fault_says_so_and_not_that_nothing_is_there(tmp_path, capsys):
    (tmp_path / "sv.json").write_text('{"region_meta": {}}', encoding="utf-8")
    assert invoke(["study", "agreement", "--data", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert "sv.json" in printed
    assert "nothing that the study reads" not in printed


def test_a_folder_with_an_archive_and_models_writes_tables_of_that_archive(
    download, tmp_path, capsys
):
    out = tmp_path / "out"
    command = ["study", "agreement", "--data", str(download), "-m", "demo-causal", "-o", str(out)]
    assert invoke(command) == 0
    captured = capsys.readouterr()
    assert "suites of our own" not in captured.err
    assert "Italian: mean probability ratio of every suite" in captured.out
    assert (out / "table-it.tex").is_file()
    assert not (out / "syntaxgym.csv").exists()


def test_suites_of_one_name_in_two_languages_are_two_rows_of_the_figure_of_drops():
    means = (0.9, 0.7)
    pairs = [
        (run("sv", means, adversarial=False), run("sv_adversarial", means, adversarial=True))
    ] * 2
    rows = twin_rows(pairs, seed=0)
    spanish = dataclasses.replace(rows[1], language="es", suite="es-sv")
    frame = drops_figure([rows[0], spanish]).frame
    assert frame["suite"].to_list() == ["it sv", "es-sv"]
    assert frame["drop"].to_list() == [0.0, 0.0]
