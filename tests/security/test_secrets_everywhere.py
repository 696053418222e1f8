"""Planted secrets, looked for in every kind of file that any command writes, packed ones opened."""

from __future__ import annotations

import gzip
import io
import json
import logging
import zipfile
from pathlib import Path

import polars as pl
import pytest

from cimento.cli.main import invoke
from cimento.models.server.http import Server
from tests.helpers.servers.loopback import completion, serve
from tests.helpers.servers.replies import reply_server
from tests.helpers.stories import TRIPLES_FILE
from tests.helpers.suites_on_disk import write_folder

KEY = "sk-planted-9c2f47aa"
TOKEN = "hf_plantedZtRkLm"  # noqa: S105  # planted
SECRETS = (KEY, TOKEN)


def plain(path: Path, content: bytes) -> bytes:
    """What is in a file, unpacked: tables as text with what they say of themselves."""
    if content[:4] == b"PAR1":
        table = pl.read_parquet(io.BytesIO(content))
        metadata = pl.read_parquet_metadata(io.BytesIO(content))
        return table.write_ndjson().encode() + json.dumps(metadata).encode()
    if content[:2] == b"\x1f\x8b":
        return plain(path, gzip.decompress(content))
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return b"".join(plain(path, archive.read(name)) for name in archive.namelist())
    first, newline, rest = content.partition(b"\n")  # a line of JSON, then a table
    return first + plain(path, rest) if newline and rest[:4] == b"PAR1" else content


def planted_in(folder: Path) -> dict[str, list[str]]:
    """Secrets to the files that have them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    opened = {path: plain(path, path.read_bytes()) + str(path).encode() for path in files}
    return {
        secret: [str(path) for path, content in opened.items() if secret.encode() in content]
        for secret in SECRETS
    }


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("CIMENTO_API_KEY", KEY)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def clean(folder, capsys, caplog):
    said = capsys.readouterr()
    for secret in SECRETS:
        assert secret not in said.out + said.err + caplog.text
    assert planted_in(folder) == {secret: [] for secret in SECRETS}


def test_what_is_planted_would_be_found(tmp_path):
    pl.DataFrame({"a": [KEY] * 3}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.gz").write_bytes(gzip.compress(TOKEN.encode()))
    with zipfile.ZipFile(tmp_path / "c.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", KEY * 2)

    assert {secret: sorted(paths) for secret, paths in planted_in(tmp_path).items()} == {
        KEY: [str(tmp_path / "a.parquet"), str(tmp_path / "c.zip")],
        TOKEN: [str(tmp_path / "b.gz")],
    }


@pytest.mark.slow
def test_everything_that_is_made_of_a_run_on_a_server(tmp_path, capsys, caplog):
    """Pages, tables, summaries, exports, scripts, units, the cache: each kind is there."""
    suite = write_folder(tmp_path / "suite")

    def echoing(prompt):
        return {**completion(prompt), "id": KEY, "system_fingerprint": KEY, "model": KEY}

    with serve(echoing) as server:
        model = server.address
        (tmp_path / "run.toml").write_text(f'suites = ["{suite}"]\nengine = "local"\nworkers = 1\n')
        commands = [
            ["run", str(suite), "-m", model, "-o", "runs"],
            ["plan", "run.toml", "-m", model],
            ["run", "run.toml", "-m", model, "-o", "units"],
            ["cluster", "slurm", "run.toml", "-m", model, "-o", "array"],
            *(["report", "runs", "-o", f"report{ending}"]
              for ending in (".html", ".csv", ".json", ".md", ".txt")),
            *(["export", "runs", "--to", kind, "-o", f"to-{kind}"]
              for kind in ("lm-eval", "every-eval-ever", "hf-dataset", "r")),
            ["cite", "runs"],
            ["show", "runs"],
            ["judge", "runs", "--scores"],
            ["models", "cache", "verify"],
        ]  # fmt: skip
        codes = {" ".join(command): invoke(command) for command in commands}

    assert set(codes.values()) == {0}, codes
    assert any(KEY in str(headers) for headers in server.headers)
    kinds = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert kinds >= {
        ".parquet",
        ".json",
        ".html",
        ".csv",
        ".md",
        ".txt",
        ".sqlite3",
        ".sh",
        ".toml",
    }
    clean(tmp_path, capsys, caplog)


def test_a_server_that_writes_the_key_into_its_replies(tmp_path, capsys, caplog):
    """Replies are kept word for word: in the cache, the tables of the run, the report."""
    with reply_server(lambda _turns: f"Vero. {KEY}") as server:
        asked = ["run", str(TRIPLES_FILE), "-m", server.address, "-o", "runs", "--limit", "3"]
        assert invoke([*asked, "--set", "answer=generate"]) == 0
        assert invoke(["report", "runs", "-o", "page.html"]) == 0

    assert server.asked
    tables = list((tmp_path / "runs").rglob("*.parquet"))
    assert any(b"Vero. [key]" in plain(path, path.read_bytes()) for path in tables)
    clean(tmp_path, capsys, caplog)


def test_the_key_is_found_however_it_is_written():
    server = Server("http://127.0.0.1:9/v1")
    written = b'{"a": ["sk\\u002dplanted-9c2f47aa", {"sk-planted-9c2f47aa": 1}], "b": "sk"}'

    assert server._without_key(written) == {
        "a": ["[key]", {"sk-planted-9c2f47aa": 1}],
        "b": "sk",
    }


def test_what_people_are_asked_and_answer(tmp_path, capsys, caplog):
    """Surveys in every form, judgments, and the sheets that reviewers get."""
    suite = write_folder(tmp_path / "suite")
    (tmp_path / "answers.csv").write_text(
        "item,condition,participant,answer\n1,match,p1,5\n2,mismatch,p1,1\n"
    )
    imported = ["annotate", "import", "answers.csv", "--form", "long", "--names", "keep"]
    imported += ["--suite", str(suite)]
    commands = [
        ["annotate", "survey", "build", str(suite), "-o", "survey"],
        ["annotate", "review", "export", str(suite), "-o", "sheet.tsv"],
        *([*imported, "-o", f"judgments{ending}"] for ending in (".csv", ".parquet")),
    ]
    codes = {" ".join(command): invoke(command) for command in commands}

    assert set(codes.values()) == {0}, codes
    clean(tmp_path, capsys, caplog)
