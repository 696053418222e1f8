"""Links, pipes and devices in the folder of a run are not read, whichever command opens it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cimento import InputError, TableError
from cimento.cli.main import invoke
from cimento.io.files import open_plain, read_bytes
from cimento.records.store import RunFolder, find_runs
from cimento.suites import load

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nplanted\n"
READING = [
    ["report", "{}"],
    ["report", "{}", "-o", "page.html"],
    ["show", "{}"],
    ["judge", "{}", "--items"],
    ["compare", "{}", "{}"],
    ["cite", "{}"],
    ["report", "{}", "--figure", "margins", "-o", "margins.svg"],
    ["analyze", "profile", "{}"],
    ["export", "{}", "--to", "hf-dataset", "-o", "exported"],
    ["rerun", "{}"],
    ["analyze", "variation", "{}"],
    ["annotate", "survey", "build", "{}", "-o", "survey"],
]
KINDS = {"link": "is a link", "fifo": "a pipe", "device": "a device"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("id_ed25519").write_text(KEY)
    return tmp_path


def plant(path: Path, kind: str) -> None:
    """Put something special in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else Path("id_ed25519").resolve())


def names_of(run: Path) -> list[str]:
    return sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_of_a_run_may_be_special(runs_of_every_kind, kind, here):
    """Whatever the file: every one of every kind of run, and one that no run has."""
    for folder in find_runs(runs_of_every_kind):
        run = here / "copy"
        for name in [
            *names_of(folder.path),
            "table.txt",
            "suite/more.tsv",
            "parts/x/fills.parquet",
        ]:
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(folder.path, run)
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            plant(run / name, kind)
            with pytest.raises(TableError, match="holds plain files only") as caught:
                RunFolder(run).manifest()
            assert name in str(caught.value)
            with pytest.raises(TableError):
                RunFolder(run).prepare()
            assert not RunFolder(run).is_done({})


def _planted() -> list[object]:
    """Commands with names and kinds; each command meets every name and every kind quickly."""
    names = ("manifest.json", "table.txt", "stories.jsonl", "tokens.parquet")
    return [
        pytest.param(
            command, name, kind, id=" ".join((*command[:2], name, kind)),
            marks=() if (place + number) % len(KINDS) == 0 else pytest.mark.slow,
        )
        for command in READING
        for number, name in enumerate(names)
        for place, kind in enumerate(KINDS)
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("command", "name", "kind"), _planted())
def test_no_command_reads_them(runs_of_every_kind, kind, name, command, here, capsys):
    for folder in find_runs(runs_of_every_kind):
        run = here / "runs" / folder.path.name
        shutil.rmtree(here / "runs", ignore_errors=True)
        shutil.copytree(folder.path, run)
        plant(run / name, kind)
        code = invoke([argument.replace("{}", str(run)) for argument in command])

        printed = capsys.readouterr()
        assert code == 2, (folder.path, printed.err)
        assert "planted" not in printed.out + printed.err
    made = [
        p for p in here.rglob("*") if p.is_file() and not p.is_symlink() and p.name != "id_ed25519"
    ]
    assert not any(b"planted" in path.read_bytes() for path in made if "cache" not in path.parts)


def test_a_folder_in_a_run_that_is_a_link(runs_of_every_kind, here):
    folder = next(find_runs(runs_of_every_kind)).path
    run = here / "copy"
    shutil.copytree(folder, run)
    shutil.rmtree(run / "suite")
    (run / "suite").symlink_to(folder / "suite")

    with pytest.raises(TableError, match="suite is a link"):
        RunFolder(run).manifest()


def test_the_path_of_a_run_may_lead_over_links(runs_of_every_kind, here):
    folder = next(find_runs(runs_of_every_kind)).path
    (here / "collection").symlink_to(folder.parent)

    assert [RunFolder(run.path).manifest() for run in find_runs(here / "collection")]


def test_a_manifest_that_never_ends_is_not_read_to_its_end(here, monkeypatch):
    monkeypatch.setattr("cimento.records.store.MAX_FILE_BYTES", 1_000)
    assert load.MAX_FILE_BYTES == 100_000_000
    with (here / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)  # holes only
    with pytest.raises(TableError, match="larger than 1,000 bytes"):
        RunFolder(here).manifest()


@pytest.mark.parametrize(
    "command",
    [
        ["suites", "check", "p.tsv"],
        ["run", "p.tsv", "-m", "demo-causal"],
        ["run", "it-subject-verb", "-m", "replay:p.tsv"],
        ["run", "it-subject-verb", "-m", "kenlm:p.tsv"],
        ["run", "it-subject-verb", "-m", "demo-causal", "--unigrams", "p.tsv"],
    ],
    ids=" ".join,
)
def test_a_named_pipe_is_not_waited_for(command, capsys):
    os.mkfifo("p.tsv")

    assert invoke(command) == 2
    assert "no file" in capsys.readouterr().err


def test_what_a_shell_puts_in_the_place_of_a_file_is_read():
    reading, writing = os.pipe()
    os.write(writing, b"item\tgood\tbad\n")
    os.close(writing)

    assert read_bytes(Path(f"/dev/fd/{reading}")) == b"item\tgood\tbad\n"
    os.close(reading)
    # Pipes below /dev are read, where the tests may write: this one is elsewhere.
    with TemporaryDirectory(dir="/var/tmp") as folder:  # a folder of its own
        pipe = Path(folder) / "p"
        os.mkfifo(pipe)
        with pytest.raises(OSError, match="no file"):
            open_plain(pipe)
        with pytest.raises(InputError, match="a socket, and no file"):
            read_bytes(pipe)
