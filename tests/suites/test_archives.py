"""Zip archives of suites: read as folders are, and refused where they are not safe."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import pytest

from cimento import InputError, SuiteError, load_suites
from cimento.cli.main import invoke
from cimento.suites import load

SUITE = {
    "meta": {"name": "attribute", "metric": "sum", "language": "Italian"},
    "region_meta": {"1": "Subject", "2": "Copula", "3": "Attribute"},
    "predictions": [{"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [
                        {"region_number": 1, "content": "Il muro"},
                        {"region_number": 2, "content": "era"},
                        {"region_number": 3, "content": word},
                    ],
                }
                for name, word in (("match", "alto."), ("mismatch", "alti."))
            ],
        }
    ],
}


def zipped(path: Path, files: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def named(name: str) -> str:
    return json.dumps({**SUITE, "meta": {**SUITE["meta"], "name": name}})


def test_an_archive_is_read_as_a_folder_of_suites(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "it.zip",
        {
            "it/plain.json": named("plain"),
            "it/twin.json": named("twin"),
            "__MACOSX/it/._plain.json": b"\x00\x05",
            "it/.DS_Store": b"\x00",
        },
    )
    loaded = list(load_suites(path))
    assert [loaded_suite.suite.name for loaded_suite in loaded] == ["plain", "twin"]
    assert [loaded_suite.reading.path.name for loaded_suite in loaded] == [
        "plain.json",
        "twin.json",
    ]
    assert all(str(loaded_suite.reading.path).startswith(str(path)) for loaded_suite in loaded)


def test_suites_in_an_archive_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(tmp_path / "it.zip", {"plain.json": named("plain")})
    assert invoke(["suites", "check", str(path)]) == 0
    assert "plain.json: 0 errors" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../out.json", "/abs.json", "a/../../out.json", "..\\out.json"])
def test_a_path_that_climbs_out_is_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "it.zip", {name: named("plain")})
    with pytest.raises(InputError, match="leads out of it"):
        list(load_suites(path))
    assert not (tmp_path / "out.json").exists()


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "it.zip"
    link = zipfile.ZipInfo("plain.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/hostname")
    with pytest.raises(InputError, match="leads out of it"):
        list(load_suites(path))


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "bomb.zip", {"plain.json": b" " * 3_000_000})
    with pytest.raises(InputError, match="grows from"):
        list(load_suites(path))


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "it.zip", {"a.json": named("a"), "b.json": named("b")})
    size = len(named("a"))
    monkeypatch.setattr(load, "MAX_FILE_BYTES", size - 1)
    with pytest.raises(InputError, match=r"'a.json' is too large"):
        list(load_suites(path))
    monkeypatch.setattr(load, "MAX_FILE_BYTES", size)
    monkeypatch.setattr(load, "MAX_TOTAL_BYTES", size + 1)
    with pytest.raises(InputError, match=r"'b.json' is too large, or all"):
        list(load_suites(path))
    monkeypatch.setattr(load, "MAX_FILES", 1)
    with pytest.raises(InputError, match="holds 2 files"):
        list(load_suites(path))


def test_a_file_that_is_too_large_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain.json"
    path.write_text(named("plain"), encoding="utf-8")
    monkeypatch.setattr(load, "MAX_FILE_BYTES", 100)
    with pytest.raises(InputError, match="a suite may have 100"):
        list(load_suites(path))


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    path = tmp_path / "it.zip"
    path.write_bytes(b"PK but not really")
    with pytest.raises(InputError, match="cannot be unpacked"):
        list(load_suites(path))


def test_a_fault_in_an_archive_names_the_file(tmp_path: Path) -> None:
    path = zipped(tmp_path / "it.zip", {"plain.json": named("plain"), "cut.json": named("x")[:50]})
    with pytest.raises(SuiteError, match=r"it\.zip.cut\.json"):
        list(load_suites(path))


def test_answers_of_a_form_in_their_archive_are_sent_to_the_command_that_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [f"{n}. El niño {n} duerme en la calle." for n in range(1, 21)]
    head = ["Marca temporal", *asked]
    rows = [[f"2026/03/02 {n}:02:11 a. m. GMT+1", *map(str, [n, 5] * 10)] for n in (2, 3)]
    table = "\n".join(",".join(f'"{cell}"' for cell in row) for row in (head, *rows))
    path = zipped(tmp_path / "Encuesta.csv.zip", {"Encuesta.csv": table})
    assert invoke(["suites", "check", str(path), "--language", "es"]) == 2
    said = "".join(capsys.readouterr())
    assert "answers that Google Forms wrote" in said
    assert "`cimento annotate import Encuesta.csv.zip -o answers.csv`" in said
    output = ["--names", "keep", "-o", str(tmp_path / "answers.csv")]
    assert invoke(["annotate", "import", str(path), *output]) == 0
    said = capsys.readouterr().err
    assert f'answers = "{asked[0]}", "{asked[1]}", "{asked[2]}" and 17 more; 40 judgments' in said
    assert asked[7] not in said
