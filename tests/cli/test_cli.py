"""The command line: what it imports, what it prints, and the exit codes it ends with."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento.cli.groups import load
from cimento.cli.main import invoke
from cimento.cli.tree import entry_of, leaves
from cimento.errors import did_you_mean
from tests.helpers.site_pages import site_module

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "polars", "torch", "transformers", "jinja2", "xlsxwriter"}  # typer loads pydantic


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """No test reads or writes the user's cache, or is told anything by the user's environment."""
    for name in list(os.environ):
        if name.startswith("CIMENTO_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def pairs(tmp_path) -> Path:
    """A suite of two pairs as a table."""
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "item\tgood\tbad\n1\tIl gatto dorme.\tIl gatto dormono.\n"
        "2\tI cani corrono.\tI cani corre.\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def recording(tmp_path) -> Path:
    """Surprisals of its four sentences, so that the first pair passes and the second ties."""
    sentences = [
        [("Il", 1.0), ("gatto", 4.0), ("dorme", 3.0), (".", 1.0)],
        [("Il", 1.0), ("gatto", 4.0), ("dormono", 7.5), (".", 1.0)],
        [("I", 1.0), ("cani", 4.0), ("corrono", 5.0), (".", 1.0)],
        [("I", 1.0), ("cani", 4.0), ("corre", 5.0), (".", 1.0)],
    ]
    rows = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    rows += [
        f"{sentence}\t{number}\t{token}\t{surprisal}"
        for sentence, tokens in enumerate(sentences, start=1)
        for number, (token, surprisal) in enumerate(tokens, start=1)
    ]
    path = tmp_path / "recorded.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


LONGEST_SUMMARY = 56


def modules_after(*commands: tuple[str, ...]) -> set[str]:
    """What a fresh Python has imported after some commands, one after the other."""
    code = (
        "import sys\nfrom cimento.cli.main import invoke\n"
        f"code = max([invoke(command) for command in {[*map(list, commands)]!r}])\n"
        "print('\\n'.join(['code %d' % code, *sys.modules]))"
    )
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    return set(lines[lines.index("code 0") :])


def test_help_and_the_list_of_suites_import_nothing_heavy():
    assert not modules_after(("--help",), ("suites", "list")) & HEAVY


def test_the_version_is_printed(capsys):
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"cimento {cimento.__version__}\n"


def test_importing_cimento_imports_nothing_heavy():
    code = "import cimento, sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert not set(done.stdout.splitlines()) & HEAVY


def test_replaying_judging_and_reporting_import_no_torch(tmp_path, pairs, recording):
    out = str(tmp_path / "runs")

    imported = modules_after(
        ("run", str(pairs), "-m", f"replay:{recording}", "-o", out),
        ("judge", out),
        ("report", out, "-o", str(tmp_path / "report.html")),
    )
    assert not imported & {"torch", "transformers"}


def test_options_are_scored_without_torch_by_a_model_that_does_without_it(tmp_path, monkeypatch):
    places = [str(ROOT / "tests" / "frozen_plugin"), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
    monkeypatch.setenv("FROZEN_LOG", str(tmp_path / "asked.log"))
    out = str(tmp_path / "runs")
    imported = modules_after(("run", "es-stories", "-m", "frozen:plain", "--limit", "3", "-o", out))
    assert "polars" in imported
    assert not imported & {"torch", "transformers"}


def test_run_prints_counts_beside_every_rate(tmp_path, pairs, recording, capsys):
    code = invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(tmp_path / "runs")])

    printed = capsys.readouterr()
    assert code == 0
    assert re.search(r"good\s+0\.500\s+-\s+0\.500\s+2\s+1\s+0", printed.out)
    assert "There is no interval (2 values: an interval needs" in printed.out
    assert "Stored in" in printed.err


def test_json_is_all_there_is_on_standard_output(tmp_path, pairs, recording, capsys):
    invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(tmp_path / "runs"), "--json"])

    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert run["suite"] == "pairs"
    assert run["n_items"] == 2
    [estimate] = run["estimates"]
    counts = {k: estimate[k] for k in ("question", "passed", "failed", "tied", "unscored")}
    assert counts == {
        "question": "good", "passed": 1, "failed": 0, "tied": 1, "unscored": 0
    }  # fmt: skip
    assert estimate["value"] == 0.5
    assert [(o["item"], o["verdict"]) for o in run["outcomes"]] == [("1", "pass"), ("2", "tie")]
    assert (run["outcomes"][0]["value"], run["outcomes"][0]["unit"]) == (4.5, "bits")


def test_judge_gives_other_verdicts_and_leaves_the_run_alone(tmp_path, pairs, recording, capsys):
    out = tmp_path / "runs"
    invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(out)])
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    capsys.readouterr()

    code = invoke(["judge", str(out), "--prediction", "(*;%good%) > (*;%bad%)", "--json"])

    [run] = json.loads(capsys.readouterr().out)["runs"]
    assert code == 0
    assert (run["estimates"][0]["failed"], run["estimates"][0]["tied"]) == (1, 1)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_judge_stores_elsewhere_when_asked(tmp_path, pairs, recording, capsys):
    out, other = tmp_path / "runs", tmp_path / "other"
    invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(out)])

    assert invoke(["judge", str(out), "--metric", "max", "-o", str(other)]) == 0
    capsys.readouterr()
    assert invoke(["judge", str(other), "--items"]) == 0

    assert len(list(other.rglob("outcomes.parquet"))) == 1
    table = pl.read_csv(capsys.readouterr().out.encode(), separator="\t")
    assert table["item"].to_list() == [1, 2]
    assert table.columns[:3] == ["suite", "model", "item"]
    assert table["model"].n_unique() == 1


@pytest.mark.parametrize("form", ["html", "md", "csv", "json", "txt"])
def test_report_writes_every_form(tmp_path, pairs, recording, form):
    out, file = tmp_path / "runs", tmp_path / f"report.{form}"
    invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(out)])

    assert invoke(["report", str(out), "-o", str(file)]) == 0
    assert "pairs" in file.read_text(encoding="utf-8")


def bad_commands(folder: Path) -> list[tuple[list[str], int, str]]:
    """Commands that cannot work, the exit code they end with, and a part of what they say."""
    good = str(folder / "pairs.tsv")
    for name, content in {
        "empty.tsv": b"",
        "broken.json": b'{"meta": {"name": "x"',
        "coded.jsonl": b'{"sentence_good": "Caff\xe8.", "sentence_bad": "Caff\xe8"}\n',
        "wrong.json": b'{"items": 3}',
    }.items():
        (folder / name).write_bytes(content)
    (folder / "emptydir").mkdir()
    return [
        (["rum"], 2, "Did you mean 'run'"),
        (["check", "x"], 2, "Use `cimento suites check FILE`"),
        (["apply"], 2, "Did you mean `cimento annotate apply`?"),
        (["run", good], 2, "--model"),
        (["run", good, "-m", "demo-causal", "--dtipe", "float32"], 2, "--dtype"),
        (["run", "it-iselands", "-m", "demo-causal"], 2, "it-islands"),
        (["run", good, "-m", str(folder / "nowhere")], 2, "there is no such folder"),
        (["run", good, "-m", str(folder / "emptydir")], 2, "config.json"),
        (["run", good, "-m", f"replay:{folder / 'none.tsv'}"], 2, "cannot be read"),
        (["run", str(folder / "empty.tsv"), "-m", "demo-causal"], 2, "empty"),
        (["run", str(folder / "broken.json"), "-m", "demo-causal"], 2, "broken.json"),
        (["run", str(folder / "coded.jsonl"), "-m", "demo-causal"], 2, "coded.jsonl"),
        (["run", str(folder / "wrong.json"), "-m", "demo-causal"], 2, "wrong.json"),
        (["judge", str(folder / "emptydir")], 2, "no finished run"),
        (["report", str(folder / "nowhere")], 2, "no finished run"),
        (["score", str(folder / "none.txt"), "-m", "demo-causal"], 2, "cannot be read"),
        (["suites", "check", str(folder / "wrong.json")], 2, "error"),
        (["suites", "check", "~nobody-here/x"], 2, "there is no home folder"),
        (["suites", "list", "-\udcff"], 2, "not text in UTF-8"),
        (["judge", "a" * 300], 1, "File name too long"),
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize(
    ("shell", "said"),
    [
        ("{} > /dev/full", "standard output cannot be read or written (No space left"),
        ("{} >&-", "standard output is closed"),
        ("HOME=. XDG_CACHE_HOME= CIMENTO_CACHE_DIR= {}", "which is not an absolute path"),
    ],
)
def test_where_nothing_can_be_written_one_message_says_so(shell, said, tmp_path):
    command = f"{shlex.quote(sys.executable)} -m cimento models cache info"

    done = subprocess.run(  # noqa: S602  # our own line, redirected as only a shell does
        shell.format(command), shell=True, capture_output=True, text=True, cwd=tmp_path, check=False
    )

    assert done.returncode == 1
    assert said in done.stderr
    assert "fault of cimento" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert not (tmp_path / ".cache").exists()


def test_closed_standard_error_means_no_remarks():
    command = f"{shlex.quote(sys.executable)} -m cimento suites check it-subject-verb 2>&-"

    done = subprocess.run(command, shell=True, capture_output=True, check=False)  # noqa: S602  # as above

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_letters_that_a_terminal_cannot_show_are_escaped():
    done = subprocess.run(  # our own interpreter
        [sys.executable, "-m", "cimento", "suites", "show", "ru-subject-verb"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert r"\u0425\u043e\u0437\u044f\u0439\u043a\u0430" in done.stdout


@pytest.mark.usefixtures("pairs")
def test_bad_input_gets_one_message_and_its_exit_code(tmp_path, capsys):
    for arguments, expected, message in bad_commands(tmp_path):
        code = invoke(arguments)
        printed = capsys.readouterr()

        assert code == expected, arguments
        assert message in printed.err + printed.out, arguments
        assert "Traceback" not in printed.err, arguments
        assert "fault of cimento itself" not in printed.err, arguments


def test_an_unwritable_folder_ends_with_exit_code_1(tmp_path, pairs, recording, capsys):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file stands where the folder would be")

    code = invoke(["run", str(pairs), "-m", f"replay:{recording}", "-o", str(blocked / "runs")])

    assert code == 1
    assert "cannot be written" in capsys.readouterr().err


def test_what_can_be_run_is_run_and_the_rest_is_named(tmp_path, pairs, recording, capsys):
    nowhere = str(tmp_path / "nowhere")

    code = invoke(
        ["run", str(pairs), "-m", nowhere, "-m", f"replay:{recording}", "-o", str(tmp_path / "r")]
    )

    printed = capsys.readouterr()
    assert code == 3
    assert "0.500" in printed.out
    assert f"not run: pairs on {nowhere}" in printed.err


def test_flags_may_be_written_with_underscores(tmp_path, pairs, recording):
    arguments = ["run", str(pairs), "-m", f"replay:{recording}", "-o", str(tmp_path / "r")]

    assert invoke([*arguments, "--all_tokens", "--recorded_unit=nats"]) == 0


def test_an_option_can_be_an_environment_variable(tmp_path, pairs, recording, monkeypatch):
    monkeypatch.setenv("CIMENTO_OUTPUT", str(tmp_path / "from-environment"))

    assert invoke(["run", str(pairs), "-m", f"replay:{recording}"]) == 0
    assert list((tmp_path / "from-environment").rglob("manifest.json"))


def test_every_command_has_help_and_a_summary_of_a_line_and_is_in_the_documentation():
    documented = site_module("commands").commands_page()
    commands = [*leaves()]
    assert len(commands) > 40

    for words in commands:
        entry = entry_of(words)
        assert load(entry.target).__doc__, words
        assert len(entry.help) <= LONGEST_SUMMARY, words
        assert entry.help.endswith("."), words
        assert f"`cimento {' '.join(words)}`]" in documented, words


def test_a_long_list_of_known_names_is_cut():
    names = [f"name-{number:02}" for number in range(30)]
    advice = did_you_mean("something else", names)
    assert advice.endswith("name-23 and 6 more.")
    assert did_you_mean("x", names[:2]) == "Known: name-00, name-01."
