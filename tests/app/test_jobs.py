"""The queue of runs: states, stopping, going on, and what a killed app leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cimento import UsageError
from cimento.app import jobs
from cimento.app.jobs import QUEUE, Queue
from cimento.app.wanted import RunRequest
from cimento.app.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")

STAND_IN = """#!/bin/sh
# python -P -m cimento run WHAT.csv: writes a line of progress, and ends as WHAT says.
shift 4
trap 'echo interrupted; exit 130' INT
what="${1%.csv}"
echo "$what" >> began
echo "cimento: it x demo: 3 of 12 texts answered, 2.0 a second, 4 s left"
case "$what" in
  slow) while [ ! -e enough ]; do sleep 0.05; done ;;
  partly) exit 3 ;;
  wrong)
    echo 'cimento: 1 of 2 suites cannot be used, and nothing was run.'
    echo '  a.csv: 1 problem:'
    echo '  CIM-S017 a.csv row 2: There is no text.'
    echo '  CIM-S017 a.csv row 3: There is no text.'
    exit 2 ;;
esac
"""


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """A workspace in which the command line is a script that does nothing for a while."""
    program = tmp_path / "python"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(jobs, "WAIT_S", 0.02)
    workspace = Workspace(tmp_path / "files")
    workspace.prepare()
    for name in ("slow", "partly", "wrong", "quick"):
        (workspace.folder / f"{name}.csv").write_text("good,bad\na,b\n")
    return workspace


def wanted(name):
    return RunRequest((f"{name}.csv",), ("demo-causal",))


def file_of(name, state, *, number=1, process=0, **other):
    """What the file of a job holds."""
    runs = {"suites": [f"{name}.csv"], "models": ["demo-causal"], "language": "", "limit": None}
    return {"number": number, **runs, "budget": None, "state": state, "process": process, **other}


@pytest.fixture
def queue(workspace):
    queue = Queue(workspace)
    queue.start()
    yield queue
    (workspace.folder / "enough").touch()
    until(lambda: not any(job.state in ("running", "stopping") for job in queue.jobs()))
    queue.end()


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def states(queue):
    return [job.state for job in queue.jobs()]


def began(workspace):
    path = workspace.folder / "began"
    return path.read_text().split("\n")[:-1] if path.is_file() else []


def test_jobs_are_done_in_their_order_and_say_how_they_ended(workspace, queue):
    for name in ("quick", "partly", "wrong"):
        queue.add(wanted(name))
    until(lambda: states(queue) == ["done", "partly", "failed"])
    assert began(workspace) == ["quick", "partly", "wrong"]
    assert [queue.reason(number) for number in (1, 2, 3)] == [
        "", "",
        ("1 of 2 suites cannot be used, and nothing was run.\n"
         "CIM-S017 a.csv row 2: There is no text."),
    ]  # fmt: skip
    stored = json.loads((workspace.folder / QUEUE / "0001.json").read_text())
    assert stored == file_of("quick", "done")


def test_the_reason_of_missing_runs_is_why_they_are_missing(workspace, queue):
    number = queue.add(wanted("quick")).number
    until(lambda: states(queue) == ["done"])
    lines = ["it-verbs (it), 2 items", "cimento: model 'a/b': it is not there.",
             "cimento: not run: it-verbs on a/b"]  # fmt: skip
    (workspace.folder / QUEUE / f"{number:04}.log").write_text("\n".join(lines))
    assert queue.reason(number) == "model 'a/b': it is not there."


def test_the_progress_of_a_job_is_what_its_last_line_says(queue):
    number = queue.add(wanted("slow")).number
    until(lambda: queue.progress(number) is not None)
    progress = queue.progress(number)
    assert (progress.title, progress.done, progress.total) == ("it x demo", 3, 12)
    assert progress.left_s == pytest.approx(4.5)


def test_a_job_that_is_stopped_goes_on_when_it_is_told_to(workspace, queue):
    first, second = queue.add(wanted("slow")).number, queue.add(wanted("quick")).number
    until(lambda: queue.progress(first) is not None)
    queue.stop(first)
    until(lambda: states(queue) == ["stopped", "done"])
    assert "interrupted" in queue.log(first)
    (workspace.folder / "enough").touch()
    queue.go_on(first)
    until(lambda: states(queue) == ["done", "done"])
    queue.forget(second)
    assert [job.number for job in queue.jobs()] == [first]
    assert not (workspace.folder / QUEUE / "0002.log").exists()


def test_a_job_that_waits_can_be_stopped_and_is_never_begun(workspace, queue):
    queue.add(wanted("slow"))
    waiting = queue.add(wanted("quick")).number
    queue.stop(waiting)
    (workspace.folder / "enough").touch()
    until(lambda: states(queue) == ["done", "stopped"])
    assert began(workspace) == ["slow"]


@pytest.mark.usefixtures("queue")
def test_two_apps_cannot_have_one_folder(workspace):
    with pytest.raises(UsageError, match="another app"):
        Queue(workspace).start()


APP = """
import sys, time
from pathlib import Path
from cimento.app.jobs import Queue
from cimento.app.wanted import RunRequest
from cimento.app.workspace import Workspace
sys.executable = sys.argv[2]
queue = Queue(Workspace(Path(sys.argv[1])))
queue.start()
for name in ("slow.csv", "quick.csv"):
    queue.add(RunRequest((name,), ("demo-causal",)))
time.sleep(600)
"""


def test_a_run_outlives_a_killed_app_and_the_next_app_knows_it(workspace, monkeypatch):
    program = sys.executable
    monkeypatch.undo()
    command = [sys.executable, "-c", APP, str(workspace.folder), program]
    with subprocess.Popen(command, env=os.environ) as app:  # noqa: S603  # a fixed command
        until(lambda: began(workspace) == ["slow"])
        until(lambda: '"running"' in (workspace.folder / QUEUE / "0001.json").read_text())
        app.send_signal(signal.SIGKILL)
    monkeypatch.setattr(sys, "executable", program)
    queue = Queue(workspace)
    queue.start()
    # What waited is begun by nobody but a person, who sees the command first.
    assert states(queue) == ["running", "stopped"]
    (workspace.folder / "enough").touch()
    until(lambda: states(queue) == ["done", "stopped"])
    # The second time the command finds everything there, and says what became of it.
    assert began(workspace) == ["slow", "slow"]
    queue.end()


def test_where_the_run_was_killed_too_the_job_counts_as_stopped(workspace):
    folder = workspace.folder / QUEUE
    folder.mkdir()
    job = file_of("quick", "running", process=os.getpid())
    (folder / "0001.json").write_text(json.dumps(job))
    queue = Queue(workspace)
    queue.start()
    assert states(queue) == ["stopped"]
    queue.go_on(1)
    until(lambda: states(queue) == ["done"])
    queue.end()


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"number": 1, "arguments": ["run", "x"], "state": "stopped", "process": 0}',
        json.dumps(file_of("quick", "stopped", number=2)),
        json.dumps(file_of("quick", "new")),
        json.dumps(file_of("quick", "stopped", suites="quick")),
        json.dumps(file_of("quick", "stopped", models=[1])),
        json.dumps(file_of("quick", "stopped", limit="--trust-remote-code")),
        json.dumps(file_of("quick", "stopped", limit=-1)),
        json.dumps(file_of("quick", "stopped", language="--output")),
        json.dumps(file_of("quick", "stopped", number=0)),
    ],
)
def test_files_that_are_no_jobs_are_left_alone(workspace, content):
    (workspace.folder / QUEUE).mkdir()
    (workspace.folder / QUEUE / "0001.json").write_text(content)
    queue = Queue(workspace)
    queue.start()
    assert queue.jobs() == []
    queue.end()


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    from cimento.errors import StorageError

    (tmp_path / QUEUE).write_text("a file")
    with pytest.raises(StorageError, match="cannot be written"):
        Queue(Workspace(Path(tmp_path))).start()
