"""What the docs show is there: commands parse, tutorials run and print what they say."""

from __future__ import annotations

import io
import os
import re
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from cimento.cli.groups import command_of
from cimento.cli.help_examples import EXAMPLES
from cimento.cli.main import app, invoke
from cimento.cli.tree import COMMANDS, Entry
from tests.helpers.docs_pages import DOCS, blocks, commands

PAGES = sorted(DOCS.rglob("*.md"))
README = DOCS.parent / "README.md"

RUN = (
    "../README.md",
    "quickstart.md",
    "first-suite.md",
    "python.md",
    "models.md",
    "servers.md",
    "clusters.md",
    "generating.md",
    "formats.md",
    "language.md",
    "checkpoints.md",
    "compare.md",
    "analyze.md",
    "reading-times.md",
    "people.md",
    "ratings-you-have.md",
    "power.md",
    "explain.md",
    "results.md",
    "factorial.md",
    "ratings.md",
    "cloze.md",
    "stories.md",
    "prompted.md",
    "replay.md",
    "studies.md",
    "your-language.md",
    "statistics.md",
)
"""Pages whose blocks in sh and python are run, each page in a folder of its own."""
QUICK = "python.md"


def problems(words: list[str]) -> list[str]:
    """What a command line has that the program does not know."""
    entry, above = Entry("", commands=COMMANDS), []
    while words and entry.commands and not words[0].startswith("-"):
        if words[0].isupper() or words[0].startswith("["):
            return []  # a placeholder, such as COMMAND or SUITE
        if words[0] not in entry.commands and not entry.default:
            return [f"no command {' '.join([*above, words[0]])}"]
        if words[0] not in entry.commands:
            words = [entry.default, *words]
        entry = entry.commands[words[0]]
        above, words = [*above, words[0]], words[1:]
    known = {"-h", "--help", "--help-all"}
    for param in command_of(above).params if above else get_command(app).params:
        known |= {*param.opts, *param.secondary_opts}
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [f"no option {flag}" for flag in flags if flag.replace("_", "-") not in known]


@pytest.mark.parametrize("page", [*PAGES, README], ids=lambda page: page.name)
def test_every_command_that_is_shown_exists_with_its_options(page):
    shown = [words for block in blocks(page) for words in commands(block.text)]
    inline = re.findall(r"`(cimento [^`]+)`", page.read_text(encoding="utf-8"))
    shown += [words for text in inline for words in commands(text)]
    assert [(words, problems(words)) for words in shown if problems(words)] == []


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_examples_of_help_are_commands_and_end_it(words, capsys):
    assert invoke([*words.split(), "-h"]) == 0
    printed = capsys.readouterr().out
    for line in EXAMPLES[words]:
        assert f"\n  {line}\n" in printed
        assert len(line) <= 84
        assert line.startswith(f"cimento {words} ")
        (shown,) = commands(line)
        assert problems(shown) == []
    *_, ends = printed.rstrip().split("\n\n")
    assert ends.splitlines()[-1].strip() == EXAMPLES[words][-1] or ends.startswith("Exit codes: ")


NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+")


def torn_fences(text: str) -> list[str]:
    """The lines of a page that open no block and close none, although they look like a fence."""
    torn: list[str] = []
    opened = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := re.match(r"\s*(`{3,})(.*)", line)):
            continue
        marks, head = found.groups()
        if not opened and "`" not in head:
            opened = line[: found.end(1)]
        elif line.rstrip() == opened:
            opened = ""
        elif len(marks) >= len(opened.strip()):
            torn.append(f"line {number}: {line}")
    return torn + ["a block is not closed"] * bool(opened)


def test_every_fence_of_a_page_opens_or_closes_a_block():
    torn = {page.name: torn_fences(page.read_text(encoding="utf-8")) for page in [*PAGES, README]}
    assert {name: lines for name, lines in torn.items() if lines} == {}


def test_a_fence_that_is_opened_twice_or_not_closed_is_noticed():
    assert torn_fences("```text\n```text\na\n```\n") == ["line 2: ```text"]
    assert torn_fences("```sh\na\n") == ["a block is not closed"]
    assert torn_fences("````md\n```sh\na\n```\n````\n") == []
    assert torn_fences("    ```sh\n    a\n    ```\n") == []


def is_printed(shown: str, printed: str) -> bool:
    """Whether a line is printed; a last decimal may differ by one, as processors' sums do."""
    if shown in printed:
        return True
    numbers = NUMBER.findall(shown)
    alike = [
        NUMBER.findall(line)
        for line in printed.splitlines()
        if NUMBER.sub("#", line.strip()) == NUMBER.sub("#", shown)
    ]
    return bool(numbers) and any(
        all(
            abs(float(old) - float(new)) < 1.5 * 10 ** -len(old.partition(".")[2])
            for old, new in zip(numbers, others, strict=True)
        )
        for others in alike
    )


def test_a_last_decimal_may_differ_by_one_and_no_more():
    assert is_printed("4  1.60 [-0.79, 3.99]", "4  1.60 [-0.79, 3.98]\n")
    assert not is_printed("4  1.60 [-0.79, 3.99]", "4  1.60 [-0.79, 3.97]\n")
    assert not is_printed("5  1.60 [-0.79, 3.99]", "4  1.60 [-0.79, 3.98]\n")
    assert not is_printed("24 items", "23 items\n")


def test_a_command_that_is_not_there_is_noticed():
    assert problems(["run", "x", "--no-such"]) == ["no option --no-such"]
    assert problems(["suites", "nothing"]) == ["no command suites nothing"]
    assert problems(["suite", "list"]) == ["no command suite"]
    assert problems(["run", "x", "-m", "demo-causal", "--batch_size", "4"]) == []


@pytest.mark.parametrize(
    "name",
    # The ten lines are run with every change, the others, which take seconds each, with the slow.
    [
        pytest.param(command, marks=[] if command == QUICK else [pytest.mark.slow])
        for command in RUN
    ],
)
def test_tutorials_run_and_print_what_they_show(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    names: dict[str, object] = {}
    printed = ""
    for block in blocks(DOCS / name):
        if block.title:
            path = tmp_path / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "sh":
            printed = "".join(run(words, tmp_path) for words in commands(block.text))
        elif block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, f"{name}:{block.line}", "exec"), names)  # noqa: S102  # the docs' own code
            printed = out.getvalue()
        elif block.language == "text" and printed:
            shown = [line.strip() for line in block.text.splitlines() if line != "..."]
            missing = [line for line in shown if not is_printed(line, printed)]
            assert missing == [], f"{name}:{block.line} shows what is not printed:\n{printed}"
            printed = ""


def run(words: list[str], folder: Path) -> str:
    """What a command prints, notes too; names with * are completed as a shell does."""
    full: list[str] = []
    for word in words:
        paths = (
            sorted(str(path.relative_to(folder)) for path in folder.glob(word))
            if "*" in word
            else []
        )
        full += paths or [word]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        assert invoke(full) == 0, f"cimento {' '.join(full)}"
    return out.getvalue()


def test_the_pages_that_are_run_have_something_to_run():
    for name in RUN:
        assert any(block.language in {"sh", "python"} for block in blocks(DOCS / name)), name


def test_the_ten_lines_are_ten_statements():
    first = next(block for block in blocks(DOCS / "python.md") if block.language == "python")
    assert len([line for line in first.text.splitlines() if line.strip()]) <= 12


def workflows() -> list[dict]:
    """The workflows of the page on checkpoints: of GitHub's machines, and of one's own."""
    found = [one for one in blocks(DOCS / "checkpoints.md") if one.language == "yaml"]
    return [yaml.safe_load(one.text) for one in found]


def test_the_workflow_of_a_checkpoint_runs_and_uploads_what_it_wrote(tmp_path, monkeypatch):
    workflow, _ = workflows()
    # YAML 1.1 reads the key `on` as a truth value.
    assert workflow[True].keys() == {"repository_dispatch", "workflow_dispatch"}
    assert workflow["env"].keys() == {"CIMENTO", "RELEASED", "HF_TOKEN", "CANDIDATE"}
    job = workflow["jobs"]["gate"]
    steps, asked = job["steps"], job["env"]["RUN"]
    assert job["strategy"]["matrix"] == {"language": ["it", "es"]}
    asked = asked.replace("${{ matrix.language }}", "it")
    lines = [step["run"].replace("$RUN", asked) for step in steps if "run" in step]
    lines = [line for line in lines if line.startswith("cimento ")]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    for line in lines:
        here = line.replace("--sets multiblimp", "--sets starter")  # which needs no network
        [words] = commands(re.sub(r'"\$[A-Z]+"', "demo-causal", here))
        assert problems(words) == []
        assert invoke(words) == 0
    assert [words.split()[1] for words in lines] == ["run", "run", "compare"]
    [upload] = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
    assert [name for name in upload.split("\n") if not [*tmp_path.glob(name)]] == []
    assert "<testsuite" in (tmp_path / "gate.xml").read_text(encoding="utf-8")
    cached = [step["with"]["path"] for step in steps if "actions/cache" in step.get("uses", "")]
    assert [name for name in cached if not (tmp_path / name).is_dir()] == []


def test_the_workflow_of_an_own_machine_names_commands_that_there_are():
    _, workflow = workflows()
    job = workflow["jobs"]["gate"]
    assert job["runs-on"][0] == "self-hosted"
    lines = [re.sub(r"^ +", "", step["run"], flags=re.MULTILINE) for step in job["steps"]]
    shown = [words for run in lines for words in commands(run)]
    assert [words[0] for words in shown] == ["run", "compare"]
    assert [problems(words) for words in shown] == [[], []]
    assert workflow[True].keys() == {"repository_dispatch", "workflow_dispatch"}
    sent = workflow[True]["workflow_dispatch"]["inputs"]
    assert workflow["env"] == {
        name.upper(): f"${{{{ inputs.{name} || github.event.client_payload.{name} }}}}"
        for name in sent
    }


def test_an_own_machine_passes_over_a_checkpoint_that_is_half_written(tmp_path):
    """The page's line, which is given the checkpoints with the file that is written last."""
    _, workflow = workflows()
    line = workflow["jobs"]["gate"]["steps"][0]["run"].replace("/data/out", f"{tmp_path}/out")
    for step, files in ((1000, ("config.json", "trainer_state.json")), (2000, ("config.json",))):
        folder = tmp_path / f"out/checkpoint-{step}"
        folder.mkdir(parents=True)
        for name in files:
            (folder / name).touch()
    shell = ["bash", "-e", "-c", f'cimento() {{ echo "$@"; }}\n{line}']
    done = subprocess.run(shell, capture_output=True, text=True, check=True)  # noqa: S603  # the docs' own code
    assert done.stdout.split()[-2:] == ["-m", f"{tmp_path}/out/checkpoint-1000"]
    assert done.stdout.split().count("-m") == 1


def watched(tmp_path, ends, *, cancel=()):
    """The exit code of the page's watch, what it called, and what it canceled.

    The programs that it calls are stand-ins: Slurm fails once, and the job 77 ends after a while,
    when it saves its last checkpoint.

    Args:
        tmp_path: an empty folder.
        ends: the exit code of the comparison of each checkpoint but the last, which passes.
        cancel: the argument that has the training canceled; empty for none.
    """
    [watch] = [one for one in blocks(DOCS / "checkpoints.md") if one.title == "watch.sh"]
    (tmp_path / "watch.sh").write_text(watch.text, "utf-8")
    programs = {
        "squeue": "echo . >> asked; echo 177; case $(wc -l < asked) in 2) exit 1;; [1-4]) echo 77;;"
        " *) mkdir -p out/checkpoint-5000; touch out/checkpoint-5000/trainer_state.json;; esac",
        "scancel": 'echo "$1" >> canceled',
        "sleep": ":",
        "cimento": 'echo "$*" >> called; [ "$1" = run ] && exit 0\n'
        + "".join(
            f'case "$*" in *checkpoint-{step}000*) exit {end};; esac\n'
            for step, end in enumerate(ends, 1)
        ),
    }
    for name, lines in programs.items():
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{lines}\n", "utf-8")
        path.chmod(0o755)
    for step in (1000, 2000, 3000, 4000):
        (tmp_path / f"out/checkpoint-{step}").mkdir(parents=True)
    for step in (1000, 2000, 3000):  # the last is half written
        (tmp_path / f"out/checkpoint-{step}/trainer_state.json").touch()
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    watching = ["bash", "watch.sh", "77", "released", *cancel]
    variables = {**os.environ, "PATH": path}
    done = subprocess.run(watching, cwd=tmp_path, env=variables, check=False)  # noqa: S603  # the docs' own code
    called = [words for line in (tmp_path / "called").read_text("utf-8").splitlines()
              for words in commands(f"cimento {line}")]  # fmt: skip
    canceled = tmp_path / "canceled"
    jobs = canceled.read_text("utf-8").split() if canceled.exists() else []
    return done.returncode, called, jobs


@pytest.mark.parametrize(
    ("ends", "stopped_at"),
    [((4, 4, 0), "2000"), ((4, 0, 4), ""), ((4, 3, 4), "3000"), ((0, 0, 0), "")],
)
def test_the_watch_of_a_slurm_job_cancels_it_after_two_checkpoints_in_a_row(
    ends, stopped_at, tmp_path
):
    code, called, canceled = watched(tmp_path, ends, cancel=["cancel"])
    assert [problems(words) for words in called] == [[]] * len(called)
    assert "checkpoint-4000" not in str(called)
    assert canceled == (["77"] if stopped_at else [])
    assert code == (4 if stopped_at else 0)
    # The last one was saved as the job ended.
    assert called[-1][2] == f"gate/checkpoint-{stopped_at or 5000}"
    # Each checkpoint is scored once.
    n_scored = int(stopped_at) // 1000 if stopped_at else 4
    assert [words[0] for words in called] == ["run", "compare"] * n_scored


def test_the_watch_of_a_slurm_job_only_ends_with_code_4_if_it_is_not_told_to_cancel(tmp_path):
    code, called, canceled = watched(tmp_path, (4, 4, 0))
    assert (code, canceled) == (4, [])
    assert called[-1][2] == "gate/checkpoint-2000"


def test_the_watch_starts_with_the_number_of_the_training_job_once_that_has_begun(tmp_path):
    """The page's lines, with a stand-in for Slurm that gives the number 77."""
    [start] = [one.text for one in blocks(DOCS / "checkpoints.md") if "--parsable" in one.text]
    stand_in = 'sbatch() { echo "$*" >> submitted; echo 77; }\n'
    subprocess.run(["bash", "-e", "-c", stand_in + start], cwd=tmp_path, check=True)  # noqa: S603, S607  # the docs' own code
    train, watch = (tmp_path / "submitted").read_text("utf-8").splitlines()
    assert train == "--parsable train.sh"
    assert watch == "--dependency=after:77 watch.sh 77 released cancel"


def test_the_watch_of_a_slurm_job_tries_again_what_failed_and_fails_with_it(tmp_path):
    code, called, canceled = watched(tmp_path, (0, 1, 0))
    compared = [words[2] for words in called if words[0] == "compare"]
    assert compared.count("gate/checkpoint-2000") == 5  # as often as Slurm was asked
    assert compared.count("gate/checkpoint-3000") == compared.count("gate/checkpoint-5000") == 1
    assert (code, canceled) == (1, [])


@pytest.mark.parametrize(
    ("newest", "before", "ends"), [(0, 4, 0), (4, 0, 0), (4, 4, 4), (4, 3, 3), (3, 0, 1)]
)
def test_the_gate_of_an_own_machine_fails_if_two_checkpoints_in_a_row_are_worse(
    newest, before, ends
):
    """The page's lines, as GitHub runs them, with a command that only ends with some code."""
    _, workflow = workflows()
    [gate] = [step["run"] for step in workflow["jobs"]["gate"]["steps"] if "shell" in step]
    stand_in = (
        'cimento() { case "$*" in *"--after new"*) return $NEWEST;;'
        ' *"--after old"*) return $BEFORE;; esac; }\n'
    )
    known = {"CANDIDATE": "new", "PREVIOUS": "old", "NEWEST": str(newest), "BEFORE": str(before)}
    shell = ["bash", "-eo", "pipefail", "-c", stand_in + gate]
    done = subprocess.run(shell, env={**os.environ, **known}, check=False)  # noqa: S603  # the docs' own code
    assert done.returncode == ends
