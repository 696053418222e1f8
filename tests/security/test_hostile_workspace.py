"""The folder of the app from a stranger: its files run nothing, and no link in it is followed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import sys
import time
from pathlib import Path

import pytest

import cimento
from cimento import UsageError
from cimento.app import jobs
from cimento.app.jobs import LOCK, QUEUE, Queue
from cimento.app.wanted import RunRequest
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.errors import CimentoError
from tests.helpers.app_user import visit

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")

SECRET = "the victim's own words"  # noqa: S105  # of a test


def job_file(folder, *, number=1, state="stopped", **changed):
    """A job that is in the queue's folder when the app is started."""
    runs = {"suites": ["it-islands"], "models": ["demo-causal"], "language": "", "limit": 2}
    content = {"number": number, **runs, "state": state, "process": 0, **changed}
    (folder / QUEUE).mkdir(parents=True, exist_ok=True)
    path = folder / QUEUE / f"{number:04}.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(jobs, "WAIT_S", 0.02)
    place = tmp_path / "files"
    place.mkdir()
    return place


@pytest.fixture
def evil(folder) -> Path:
    """A model in the folder whose code writes a file."""
    demo = Path(cimento.__file__).parent / "data" / "models" / "demo-causal"
    shutil.copytree(demo, folder / "evil")
    config = json.loads((folder / "evil" / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_evil.Evil"}
    (folder / "evil" / "config.json").write_text(json.dumps(config))
    mark = folder.parent / "PWNED"
    (folder / "evil" / "modeling_evil.py").write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).write_text('it ran')\n"
        f"from transformers import {config['architectures'][0]} as Evil\n"
    )
    return mark


def gone_on(folder, number=1, *, agree=False, trusted=False):
    """The state of a job after *Go on*, and what it has written."""
    queue = Queue(Workspace(folder))
    queue.start()
    try:
        if agree:
            queue.agree(number, trusted=trusted)
        queue.go_on(number)
        end = time.monotonic() + 120
        while (state := queue.jobs()[0].state) not in ("done", "partly", "failed", "stopped"):
            assert time.monotonic() < end
            time.sleep(0.05)
        return state, queue.log(number)
    finally:
        queue.end()


FOREIGN = [
    {"arguments": ["run", "it-islands", "-m", "./evil", "--trust-remote-code", "-o", "../out"]},
    {"trusted": True},
    {"trust_remote_code": True, "wanted": {"trusted": True}},
    {"models": ["./evil", "--trust-remote-code"]},
    {"suites": ["it-islands", "--trust-remote-code"], "models": ["./evil"]},
    {"language": "--trust-remote-code"},
    {"limit": "--trust-remote-code"},
]


@pytest.fixture
def begun(monkeypatch) -> list[list[str]]:
    """The commands that the queue begins; none of them is run."""
    commands: list[list[str]] = []

    class Nothing:
        pid, returncode = 0, 0

        def __init__(self, command, **_):
            commands.append(command)

        def poll(self):
            return 0

    monkeypatch.setattr(jobs.subprocess, "Popen", Nothing)
    return commands


@pytest.mark.usefixtures("evil")
@pytest.mark.parametrize("changed", FOREIGN)
def test_no_file_of_the_queue_can_give_a_word_to_the_command(folder, begun, changed):
    job_file(folder, **{"models": ["./evil"], **changed})
    with contextlib.suppress(
        CimentoError, IndexError
    ):  # it is not a job, or names what is not there
        gone_on(folder)
    plain = [sys.executable, "-P", "-m", "cimento", "run", "it-islands", "-m", "evil"]
    assert begun in ([], [[*plain, "--limit", "2", "-o", "runs"]])


@pytest.mark.parametrize("trusted", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_code_of_a_model_runs_only_where_somebody_ticks_the_box(folder, evil, trusted):
    job_file(folder, models=["./evil"])
    state, log = gone_on(folder, agree=trusted, trusted=trusted)
    assert state == "done", log
    assert evil.exists() == trusted
    assert {path.name for path in folder.parent.iterdir()} - {"PWNED"} <= {"files", "cache"}


@pytest.fixture
def listener():
    """A port of this machine, and the number of connections that came."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)  # noqa: FBT003  # as the library has it
        yield listening


@pytest.mark.slow
@pytest.mark.parametrize("agree", [False, True])
def test_no_file_of_the_queue_sends_the_key_to_an_address(folder, listener, monkeypatch, agree):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-victim")
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1#m"
    job_file(folder, models=[f"openai:{address}"], state="failed")
    if not agree:
        with pytest.raises(UsageError, match="a server, which would be sent texts"):
            gone_on(folder)
        with pytest.raises(BlockingIOError):
            listener.accept()
        return
    queue = Queue(Workspace(folder))
    queue.start()
    queue.agree(1, trusted=False)
    queue.go_on(1)
    end = time.monotonic() + 60
    while True:
        try:
            asked, _ = listener.accept()
        except BlockingIOError:
            assert time.monotonic() < end
            time.sleep(0.05)
        else:
            break
    with asked:
        asked.setblocking(True)  # noqa: FBT003
        assert b"Bearer sk-victim" in asked.recv(4096)
    queue.stop(1)
    while queue.jobs()[0].state in jobs.BUSY:
        assert time.monotonic() < end
        time.sleep(0.05)
    queue.end()


@pytest.mark.parametrize(
    "model", ["kenlm:ngrams.bin", "gguf:weights.gguf", "openai:http://127.0.0.1:9/v1#m"]
)
def test_what_a_job_of_a_stranger_needs_is_named(folder, model):
    (folder / "ngrams.bin").touch()
    (folder / "weights.gguf").touch()
    workspace = Workspace(folder)
    (needed,) = RunRequest(("it-islands",), (model,)).needs(workspace)
    assert needed == model
    assert RunRequest(("it-islands",), ("demo-causal", "org/name")).needs(workspace) == {}
    assert RunRequest(("it-islands",), ("demo-causal", "org/name")).with_code == ("org/name",)


def test_a_model_of_another_folder_and_a_test_to_be_downloaded_are_named(folder, tmp_path):
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "models" / "mine" / "config.json").write_text("{}")
    workspace = Workspace(folder, models=(tmp_path / "models",))
    model = workspace.model(str(tmp_path / "models" / "mine"))
    wanted = RunRequest(("hf:a/b@0123456789abcdef0123456789abcdef01234567", "blimp"), (model,))
    assert set(wanted.needs(workspace)) == {*wanted.suites, model}


@pytest.mark.slow
def test_a_module_in_the_folder_is_not_taken_for_one_of_python(folder):
    mark = folder.parent / "PWNED"
    for module in ("cimento", "typer", "json", "torch", "sitecustomize", "multiprocessing"):
        (folder / f"{module}.py").write_text(f"open({str(mark)!r}, 'w').write('it ran')\n")
    job_file(folder)
    state, log = gone_on(folder)
    assert state == "done", log
    assert not mark.exists()


def fixed_names(folder):
    """Every name that the app knows in a folder, with what lies there when all of it is used."""
    job_file(folder)
    (folder / QUEUE / "0001.log").write_text("what the command said\n")
    (folder / QUEUE / LOCK).touch()
    (folder / QUEUE / "open.html").write_text("a page")
    (folder / "suites").mkdir()
    (folder / "top.csv").write_text("good,bad\nIl cane dorme.,Il cane dormono.\n")
    (folder / "suites" / "mine.csv").write_text("good,bad\nIl cane dorme.,Il cane dormono.\n")
    assert invoke(["suites", "new", "pairs", str(folder / "suites" / "two")]) == 0
    (folder / "suites" / "list.txt").write_text("Il cane dorme.\n")
    output = ["-o", str(folder / "runs")]
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--limit", "2", *output]) == 0
    survey = ["-o", str(folder / "surveys" / "s"), "--contact", "x@example.org", "--limit", "2"]
    assert invoke(["annotate", "survey", "build", "it-islands", *survey]) == 0
    sqlite3.connect(folder / "surveys" / "s" / "answers.sqlite").close()
    (folder / "judgments").mkdir()
    for name in ("s.parquet", "s.secret", "s-kept.parquet", "s-kept.log.json"):
        (folder / "judgments" / name).write_text("x")
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


def outside_of(folder) -> dict[str, tuple[bytes, int]]:
    """Everything beside the folder: its bytes, and when it was last read."""
    victims = [path for path in (folder.parent / "victim").rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in victims}


@pytest.mark.parametrize(
    ("kind", "depth"),
    [("link", 2), *(pytest.param(kind, depth, marks=pytest.mark.slow) for kind, depth in
                    (("pipe", 2), ("link", 9), ("pipe", 9)))],
)  # fmt: skip
@pytest.mark.usefixtures("begun")
def test_nothing_outside_is_read_or_written_through_any_name_of_the_folder(folder, kind, depth):
    names = [name for name in fixed_names(folder) if len(name.parts) <= depth]
    assert {"queue", "runs", "surveys", "judgments", "suites"} <= {str(name) for name in names}
    whole = folder.parent / "whole"
    folder.rename(whole)
    if kind == "pipe":  # folders have no pipes in their place
        names = [name for name in names if not (whole / name).is_dir()]
    for name in names:
        shutil.rmtree(folder.parent / "victim", ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        shutil.copytree(whole, folder.parent / "victim")
        target = folder.parent / "victim" / name
        if target.is_file():
            target.write_text(SECRET + "\n" + target.read_text(errors="replace"))
        here = folder / name
        shutil.rmtree(here) if here.is_dir() else here.unlink()
        here.symlink_to(target) if kind == "link" else os.mkfifo(here)
        before = outside_of(folder)
        texts = used(folder)
        assert outside_of(folder) == before, name
        assert not any(SECRET in text for text in texts), name


def used_queue(workspace) -> list[str]:
    """What the queue of a folder says, its jobs begun, and another one added."""
    said: list[str] = []
    queue = Queue(workspace)
    queue.start()
    try:
        for job in queue.jobs():
            said.extend([repr(job), queue.log(job.number), queue.reason(job.number)])
            queue.go_on(job.number)
        queue.add(RunRequest(("it-islands",), ("demo-causal",)))
        end = time.monotonic() + 20
        while any(job.state == "waiting" for job in queue.jobs()):
            assert time.monotonic() < end
            time.sleep(0.01)
        for job in queue.jobs():
            said.append(queue.log(job.number))
            queue.forget(job.number)
    finally:
        queue.end()
    return said


def used(folder) -> list[str]:
    """All that the app's own functions say or give of a folder, each tried by itself."""
    workspace, said = Workspace(folder), []

    def tried(action):
        try:
            said.append(repr(action()))
        except (CimentoError, ZeroDivisionError) as error:
            said.append(str(error))

    from cimento.app import opening, shown
    from cimento.people.surveys import read_design, storage

    for name in ("top.csv", "suites/mine.csv", "suites/two", "suites/list.txt"):
        tried(lambda name=name: opening.open_grid(workspace.suite(name)))
        tried(lambda name=name: opening.digest_of(workspace.suite(name)))
    tried(workspace.suites)
    tried(workspace.runs)
    tried(workspace.surveys)
    tried(workspace.model_folders)
    tried(lambda: shown.results_of(workspace, [run.name for run in workspace.runs()]))
    tried(lambda: read_design(workspace.plain("surveys/s")))
    tried(lambda: shown.progress(workspace.plain("surveys/s")))
    tried(lambda: storage.answers(workspace.plain("surveys/s") / "answers.sqlite"))
    tried(lambda: shown.zipped_export(workspace.plain("surveys/s"), "forms"))
    tried(lambda: [path.read_bytes() for path in workspace.parts_of_survey(folder / "surveys/s")
                   if path.is_file()])  # fmt: skip
    tried(lambda: workspace.inside("judgments/s.secret"))
    tried(lambda: workspace.new("suites", "mine.csv").write_text("new"))
    tried(lambda: workspace.new("surveys", "s"))
    tried(lambda: said.extend(used_queue(workspace)))
    tried(lambda: workspace.delete_suite("suites/mine.csv"))
    tried(lambda: [workspace.delete_survey(one) for one in workspace.surveys()])
    tried(lambda: [workspace.delete_run(run.name) for run in workspace.runs()])
    return said


PAGES = (
    "start", "edit", "run", "read?show=2", "people", "edit?suite=suites/mine.csv",
    "edit?suite=suites/two", "edit?suite=top.csv", "edit?suite=suites/list.txt",
    "people?survey=surveys/s", "people?suite=suites/two",
)  # fmt: skip


def linked(folder, whole, names, kind):
    """Make a folder of links: of all files, or of all folders at its top but the queue."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in names:
        target = folder.parent / "victim" / name
        if not (whole / name).is_dir():
            if kind == "file":
                (folder / name).symlink_to(target)
        elif kind == "file":
            (folder / name).mkdir(parents=True)
        elif len(name.parts) == 1 and str(name) != QUEUE:
            (folder / name).symlink_to(target)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_every_page_of_a_folder_of_links_opens_and_shows_nothing_of_their_ends(folder, kind):
    names = fixed_names(folder)
    whole = folder.parent / "whole"
    folder.rename(whole)
    shutil.copytree(whole, folder.parent / "victim")
    for path in (folder.parent / "victim").rglob("*.csv"):
        path.write_text(path.read_text() + f"{SECRET},{SECRET}\n")
    linked(folder, whole, names, kind)
    before = outside_of(folder)
    shown: list[str] = []

    async def flow(user):
        for page in PAGES:
            await user.open(f"/en/{page}")
            shown.extend(str(getattr(one, "text", "")) for one in user.find(ui.element).elements)
        for run in ("runs/it-islands", "../victim/runs", "x" * 5000):
            answer = await user.http_client.get("/report", params={"run": run})
            assert answer.status_code == 400
            shown.append(answer.text)

    visit(folder, flow)
    assert len(shown) > 100
    assert not any(SECRET in text for text in shown)
    assert outside_of(folder) == before


def test_going_on_with_a_job_of_the_folder_asks_for_each_thing_by_name(folder, evil):
    server = "openai:http://127.0.0.1:9/v1#m"
    job_file(folder, models=["./evil", server])

    async def flow(user):
        await user.open("/it/run")
        user.find(marker="go_on-1").click()
        await user.should_see("Questa esecuzione è scritta in un file", retries=50)
        (box,) = user.find(marker=f"agree {server}").elements
        assert box.text.startswith(f"{server}: un server, a cui verrebbero mandati")
        (code,) = user.find(marker="agree-code").elements
        assert (box.value, code.value) == (False, False)
        assert code.text.endswith(": evil")
        user.find(marker="agree-do").click()
        await user.should_see("Spunta ogni casella", retries=50)
        await user.should_see("Fermata")
        box.value = True
        user.find(marker="agree-do").click()
        await user.should_see("In attesa", retries=50)
        await user.should_not_see("--trust-remote-code")

    visit_with_queue(folder, flow)
    assert not evil.exists()


def visit_with_queue(folder, flow):
    """Let a user go through a flow where the queue has read its folder and begins nothing."""
    with pytest.MonkeyPatch.context() as patch:
        read = Queue.__init__

        def started(self, workspace):
            read(self, workspace)
            self._jobs = {job.number: job for job in jobs._stored(workspace.folder / QUEUE)}

        patch.setattr(Queue, "__init__", started)
        visit(folder, flow)


def test_a_job_that_needs_nothing_goes_on_at_once(folder):
    job_file(folder)

    async def flow(user):
        await user.open("/en/run")
        user.find(marker="go_on-1").click()
        await user.should_see("Waiting", retries=50)

    visit_with_queue(folder, flow)
