"""Run files: options in TOML, under what the command line says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from tests.helpers import engines

FILE = """\
# Every night.
suites = ["others"]
models = ["counted:a"]
limit = 5
output = "from-file"
no-cache = true
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    engines.write_suite(tmp_path / "others", items=40)
    (tmp_path / "night.toml").write_text(FILE, encoding="utf-8")
    return tmp_path


def manifests(folder: Path) -> dict[str, dict[str, object]]:
    records = [json.loads(path.read_text()) for path in sorted(folder.rglob("manifest.json"))]
    return {record["label"].partition("@")[0]: record for record in records}


def test_a_run_file_says_what_to_run_and_is_in_the_manifest(here):
    assert invoke(["run", "night.toml"]) == 0

    manifest = manifests(here / "from-file")["a"]
    assert manifest["inputs"]["limit"] == 5
    assert manifest["run_file"] == {
        "suites": ["others"],
        "models": ["counted:a"],
        "limit": 5,
        "output": "from-file",
        "no_cache": True,
    }


def test_the_command_line_goes_before_the_file(here, monkeypatch):
    monkeypatch.setenv("CIMENTO_LIMIT", "7")
    arguments = ["--limit", "3", "-m", "counted:b", "-m", "counted:c", "-o", "mine"]
    assert invoke(["run", "night.toml", *arguments]) == 0

    stored = manifests(here / "mine")
    assert {name: manifest["inputs"]["limit"] for name, manifest in stored.items()} == {
        "b": 3,
        "c": 3,
    }
    assert invoke(["run", "night.toml", "-o", "environment"]) == 0
    assert manifests(here / "environment")["a"]["inputs"]["limit"] == 7


def test_what_the_command_line_alone_said_is_not_a_run_file(here):
    assert invoke(["run", "others", "-m", "counted:a", "-o", "plain"]) == 0
    assert "run_file" not in manifests(here / "plain")["a"]


def test_tables_are_pairs_of_key_and_value(here):
    (here / "night.toml").write_text(FILE + '[model_args]\nrevision = "main"\nlevel = 3\n')
    assert invoke(["run", "night.toml"]) == 0
    policy = manifests(here / "from-file")["a"]["asking"]["policy"]
    assert policy["model_args"] == {"revision": "main", "level": 3}


def test_secrets_of_an_address_stay_out_of_the_manifest(here, capsys):
    address = "openai:http://me:planted@127.0.0.1:9/v1?key=planted#m"

    assert invoke(["run", "night.toml", "-m", "counted:a", "-m", address]) == 3
    written = [p.read_bytes() for p in (here / "from-file").rglob("*") if p.is_file()]
    printed = capsys.readouterr()
    assert not any(b"planted" in content for content in written)
    assert "planted" not in printed.out + printed.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("limit", "limmit"), ("line 4, limmit", "Did you mean 'limit'")),
        (("limit = 5", 'limit = "many"'), ("line 4, limit", "whole number")),
        (("limit = 5", "limit = 0"), ("line 4, limit",)),
        (("limit = 5", "limit = [1, 2]"), ("line 4, limit", "one value")),
        (("limit = 5", "limit = true"), ("line 4, limit", "one value")),
        (("no-cache = true", 'no-cache = "yes"'), ("line 6, no-cache", "true or false")),
        (("models = [", "models = ["), ()),
        (('["counted:a"]', "7"), ("line 3, models", "a list")),
        (("limit = 5", 'dtype = "float33"'), ("line 4, dtype", "float32")),
        (("limit = 5", "limit ="), ("is not TOML",)),
        (("limit = 5", "json = true"), ("line 4, json", "Give --json on the command")),
        (("limit = 5", "fail_under = 0.5"), ("line 4, fail_under", "Give --fail-under on")),
        (("limit = 5", 'junit = "a.xml"'), ("line 4, junit", "Give --junit on the command")),
        (('["others"]', "[]"), ("no suites are given",)),
        (('["counted:a"]', "[]"), ("--model", "no models are given")),
    ],
)
def test_a_mistake_is_named_with_its_line(here, change, message, capsys):
    (here / "night.toml").write_text(FILE.replace(*change), encoding="utf-8")

    assert invoke(["run", "night.toml"]) == (2 if message else 0)
    printed = capsys.readouterr().err
    for part in message:
        assert part in printed


@pytest.mark.usefixtures("here")
def test_a_run_file_that_is_not_there_is_named(capsys):
    assert invoke(["run", "day.toml"]) == 2
    assert "day.toml: there is no such file" in capsys.readouterr().err


def test_the_sets_of_a_language_may_be_a_list_or_a_text(here, capsys):
    planned = []
    for sets in ('["starter", "rated-nowhere"]', '"starter,rated-nowhere"', '["starter"]'):
        (here / "sets.toml").write_text(
            f'language = ["it"]\nsets = {sets}\nmodels = ["counted:a"]\n', encoding="utf-8"
        )
        code = invoke(["plan", "sets.toml", "--json"])
        out, err = capsys.readouterr()
        planned.append((code, [one["suite"] for one in json.loads(out)["suites"]] if out else err))
    assert planned[0] == planned[1]
    assert planned[0][0] == 2
    assert "rated-nowhere" in planned[0][1]
    assert planned[2][0] == 0
    assert "it-subject-verb" in planned[2][1]


@pytest.mark.parametrize(
    ("line", "seen"),
    [("sets = [1]", "one value is needed here"), ('except = ["x"]', "--except is `without`")],
)
def test_what_sets_cannot_be_is_said(here, line, seen, capsys):
    (here / "sets.toml").write_text(
        f'language = "it"\n{line}\nmodels = ["counted:a"]\n', encoding="utf-8"
    )
    assert invoke(["plan", "sets.toml"]) == 2
    assert seen in capsys.readouterr().err


def test_two_run_files_are_one_too_many(here, capsys):
    (here / "day.toml").write_text(FILE)
    assert invoke(["run", "night.toml", "day.toml"]) == 2
    assert "Give one of them" in capsys.readouterr().err


def test_bytes_that_are_no_text_are_refused(here, capsys):
    (here / "night.toml").write_bytes(b"\xff\xfe\x00")
    assert invoke(["run", "night.toml"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_arguments_of_a_model_keep_their_types_through_run_files(here):
    table = '[model_args]\nlevel = 3\nname = "3"\ntruth = "true"\nmore = { deep = [1, 2.5] }\n'
    (here / "night.toml").write_text(FILE + table)
    expected = {"level": 3, "name": "3", "truth": "true", "more": {"deep": [1, 2.5]}}
    assert invoke(["run", "night.toml"]) == 0
    # The run file of an array says the same in other words.
    assert invoke(["cluster", "slurm", "night.toml", "-o", "array"]) == 0
    assert invoke(["run", "array/slurm/run.toml"]) == 0
    for folder in ("from-file", "array"):
        policy = manifests(here / folder)["a"]["asking"]["policy"]
        assert policy["model_args"] == expected


@pytest.mark.usefixtures("here")
def test_the_exit_code_does_not_depend_on_which_model_failed_first(capsys):
    unknown, broken = ["-m", "no/such/one"], ["-m", "counted:broken"]
    assert invoke(["run", "others", *unknown, "-o", "runs"]) == 2
    assert invoke(["run", "others", *unknown, *broken, "-o", "runs"]) == 1
    assert invoke(["run", "others", *broken, *unknown, "-o", "runs"]) == 1
    assert invoke(["run", "others", *broken, *unknown, "-m", "counted:a", "-o", "runs"]) == 3
    assert "not run: others on counted:broken, others on no/such/one" in capsys.readouterr().err
