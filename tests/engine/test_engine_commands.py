"""cimento plan, slurm, collect and prefetch."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.models.hf.loading import count_parameters
from cimento.suites.builtin import find_suite
from tests.helpers import engines

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RUN = """\
suites = ["lamps", "more"]
models = ["counted:a", "counted:b"]
output = "runs"
"""


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CIMENTO_TEST_LOG", str(tmp_path / "log"))
    monkeypatch.chdir(tmp_path)
    engines.write_suite(tmp_path / "lamps", items=300)
    engines.write_suite(tmp_path / "more", items=200, start=200)
    (tmp_path / "run.toml").write_text(RUN)
    return tmp_path


def planned(capsys, *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert invoke(["plan", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_plan_says_what_is_stored_and_what_remains(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    given = ("en-subject-verb", "-m", "demo-causal", "-o", str(tmp_path / "runs"))
    assert invoke(["run", *given]) == 0

    [suite] = planned(capsys, *given)["suites"]
    assert (suite["items"], suite["requests"], suite["new"]) == (24, {}, 0)
    [label] = suite["stored"]
    assert label.startswith("demo-causal@")
    invoke(["plan", *given])
    assert "Nothing remains: the run is stored in" in capsys.readouterr().out

    both = ("it-islands", "-m", "demo-masked")
    first, second = planned(capsys, *given, *both)["suites"]
    assert (first["stored"], first["items"], first["requests"]) == ([label], 24, {"score": 48})
    assert (second["stored"], second["items"]) == ([], 180)
    invoke(["plan", *given, *both])
    assert "1 of 4 runs are stored in" in capsys.readouterr().out


def test_a_plan_counts_texts_units_and_what_is_done(here, capsys):
    first = planned(capsys, "run.toml")
    assert [(s["suite"], s["items"], s["requests"], s["new"]) for s in first["suites"]] == [
        ("lamps", 300, {"score": 600}, 600),
        ("more", 200, {"score": 400}, 200),
    ]
    assert [(m["requests"], m["units"], m["done"]) for m in first["models"]] == [(800, 4, 0)] * 2
    assert engines.logged(here / "log") == []

    assert invoke(["run", "run.toml", "--share", "0/4"]) == 0
    assert "share 0/4 is done. When all are, merge the runs" in capsys.readouterr().err
    a, b = planned(capsys, "run.toml")["models"]
    assert (a["units"], a["done"], b["done"]) == (4, 2, 0)
    assert a["by"] == "earlier units"
    assert a["seconds"] >= 0


def test_a_plan_reckons_with_the_size_of_a_model(here, capsys):
    # en-subject-verb: the tokens counted here by the tokenizer itself.
    arguments = ["en-subject-verb", "-m", "demo-causal", "--device", "cpu", "-o", "planned"]
    [model] = planned(capsys, *arguments)["models"]
    from safetensors import safe_open

    from cimento.models.hf.files import locate

    with safe_open(locate("demo-causal").folder / "model.safetensors", "np") as file:
        parameters = sum(file.get_tensor(name).size for name in file.keys())  # noqa: SIM118
    assert model["parameters"] == parameters
    assert model["kept"] == 0
    cores = os.cpu_count() or 1
    assert model["seconds"] == pytest.approx(2 * parameters * model["tokens"] / (5e10 * cores))

    assert invoke(["run", *arguments[:-1], "elsewhere"]) == 0
    [model] = planned(capsys, *arguments)["models"]
    assert (model["kept"], model["tokens"]) == (model["requests"], 0)
    assert not (here / "planned").exists()


def test_a_plan_is_told_in_words(here, capsys):
    (here / "run.toml").write_text(RUN.replace("counted:b", "no/such/model"))
    assert invoke(["plan", "run.toml"]) == 3  # one of the models is not there
    printed = capsys.readouterr().out
    assert "rough estimates" in printed
    assert "no/such/model" in printed
    assert "there is no such folder" in printed


def test_a_plan_of_little_work_does_not_say_that_it_takes_nothing(capsys):
    assert invoke(["plan", "it-subject-verb", "-m", "demo-causal", "--force"]) == 0
    printed = capsys.readouterr().out
    assert "< 1 s (size)  < 0.1 GB" in printed
    assert "Starting, loading and storing" in printed


def test_weights_in_other_files_are_not_counted(tmp_path):
    assert count_parameters(tmp_path) is None
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 40)
    assert count_parameters(tmp_path) is None


@pytest.mark.slow
def test_an_array_of_jobs_ends_in_the_same_tables(here, capsys, monkeypatch):
    assert invoke(["run", "run.toml", "-o", "alone", "--no-cache"]) == 0
    loads = len(engines.logged(here / "log"))
    program = here / "my bin" / "cimento"
    program.parent.mkdir()
    plugin = here / "plugin"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(plugin)!r})\n"
        "from cimento.cli.main import main\nmain()\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    assert invoke(["cluster", "slurm", "run.toml", "--jobs", "3", "--gpus", "0"]) == 0
    script = (here / "runs" / "slurm" / "array.sh").read_text()
    assert "#SBATCH --array=0-2" in script
    assert "gpus" not in script
    assert invoke(["cluster", "collect", "run.toml", "--check"]) == 1
    assert "lamps x counted:a: 3 of 3 units are missing" in capsys.readouterr().out

    for number in (1, 2, 0):
        # Each job as Slurm would start it: the script itself, with its number.
        variables = {**os.environ, "SLURM_ARRAY_TASK_ID": str(number)}
        command = ["bash", "runs/slurm/array.sh"]  # as Slurm starts it
        subprocess.run(command, env=variables, check=True)  # noqa: S603  # what was just written
        if number == 2:
            assert invoke(["cluster", "collect", "run.toml", "--check"]) == 3
    done = len(engines.logged(here / "log"))
    assert done > loads

    assert invoke(["cluster", "collect", "run.toml", "--check"]) == 0
    assert invoke(["cluster", "collect", "run.toml"]) == 0
    assert len(engines.logged(here / "log")) == done
    assert engines.tables(here / "runs") == engines.tables(here / "alone")


def test_the_script_of_an_array_does_not_depend_on_the_shell_that_submits_it(
    here, monkeypatch, capsys
):
    program, here = here / "my bin" / "cimento", here / "l'ultima notte, 100%"
    here.mkdir()
    program.parent.mkdir()
    program.touch()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.setenv("HF_HOME", "/shared/my hub")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    engines.write_suite(here / "lamps", items=2)
    asked = ["cluster", "slurm", "lamps", "-m", "counted:a", "--gpus", "0", "-o", "runs 100%"]
    assert invoke(asked) == 0
    assert "sbatch --wait 'runs 100%/slurm/array.sh'" in capsys.readouterr().err
    lines = (here / "runs 100%" / "slurm" / "array.sh").read_text().splitlines()
    options = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")}
    assert f"--chdir={shlex.quote(str(here))}" in options
    assert "--output='runs 100%%/slurm/%A-%a.log'" in options
    assert "export HF_HOME='/shared/my hub'" in lines
    assert "hf_secret" not in "".join(lines)
    assert lines[-1].startswith(f"'{program}' run 'runs 100%/slurm/run.toml' --no-cache --share ")

    monkeypatch.setattr(sys, "argv", ["pytest"])
    assert invoke([*asked[:-1], "other"]) == 0
    last = (here / "other" / "slurm" / "array.sh").read_text().splitlines()[-1]
    assert last.startswith(f"{shlex.quote(sys.executable)} -m cimento run ")


@pytest.mark.usefixtures("here")
def test_no_array_is_written_of_runs_that_cimento_run_refuses(capsys):
    asked = ["cluster", "slurm", "it-stories", "it-collocations", "-m", "demo-masked", "-o", "runs"]
    assert invoke([*asked, "--set", "protocol=paper"]) == 2
    said = capsys.readouterr().err
    assert "it-collocations x demo-masked: option protocol: got 'paper'." in said
    assert (
        invoke(["cluster", "slurm", "lamps", "-m", "counted:a", "-m", "no/such/one", "-o", "runs"])
        == 2
    )
    assert "no array is written:\nno/such/one: " in capsys.readouterr().err
    assert not Path("runs").exists()


def test_collecting_stores_what_is_whole_and_names_the_rest(here, capsys):
    assert invoke(["run", "lamps", "-m", "counted:a", "--share", "0/1"]) == 0
    assert invoke(["cluster", "collect", "run.toml"]) == 3
    printed = capsys.readouterr()
    assert "lamps" in printed.out
    assert "not run: more on counted:a, lamps on counted:b, more on counted:b" in printed.err
    assert not list((here / "runs" / "more").rglob("manifest.json"))


MIXED = """\
suites = ["lamps", "it-collocations", "it-acceptability", "es-agreement-templates"]
models = ["demo-causal", "demo-masked"]
output = "runs"
limit = 2
device = "cpu"
"""


@pytest.mark.slow
def test_an_array_does_suites_of_other_kinds_too_and_collect_finds_their_runs(here, capsys):
    (here / "run.toml").write_text(MIXED)
    arguments = ["run", "run.toml", "--no-cache"]
    assert invoke(["cluster", "collect", "run.toml", "--check"]) == 1
    printed = capsys.readouterr().out
    for name in ("it-collocations", "it-acceptability", "es-agreement-templates"):
        assert f"{name} x demo-causal: 1 of 1 units are missing" in printed
    assert "0 of 8 runs have all they need" in printed

    assert invoke([*arguments, "--share", "1/2"]) == 0
    assert invoke(["cluster", "collect", "run.toml", "--check"]) == 3
    assert invoke([*arguments, "--share", "0/2"]) == 0
    capsys.readouterr()
    assert invoke(["cluster", "collect", "run.toml", "--check"]) == 0
    assert capsys.readouterr().out == "8 of 8 runs have all they need.\n"

    # Nothing is loaded any more, and what is shown is what `cimento run` shows.
    stored = {path: path.read_bytes() for path in (here / "runs").rglob("fills.parquet")}
    assert invoke(["cluster", "collect", "run.toml"]) == 0
    collected = capsys.readouterr().out
    assert {path: path.read_bytes() for path in stored} == stored
    assert invoke(arguments) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(collected.splitlines())
    for name in ("lamps", "it-collocations", "it-acceptability", "es-agreement-templates"):
        assert name in collected


@pytest.mark.slow
def test_what_is_missing_of_other_kinds_is_told_and_the_rest_is_shown(here, capsys):
    shutil.copytree(find_suite("it-stories"), here / "tales")
    (here / "run.toml").write_text(MIXED.replace("demo-masked", "no/such/one"))
    assert invoke(["run", "it-collocations", "-m", "demo-causal", "--limit", "2",
                   "--device", "cpu", "-o", "runs"]) == 0  # fmt: skip
    capsys.readouterr()

    assert invoke(["cluster", "collect", "run.toml", "tales", "it-collocations"]) == 3
    printed = capsys.readouterr()
    assert "it-collocations" in printed.out
    lacking = "it-stories on demo-causal, it-stories on no/such/one, it-collocations on no/such/one"
    assert f"not run: {lacking}\n" in printed.err
    assert "there is no such folder" in printed.err


@pytest.fixture
def hub(zoo_folder):
    """A loopback hub with one tiny model at one commit."""
    folder = zoo_folder("gpt2")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    asked: list[str] = []
    info = {
        "id": "tiny/gpt2",
        "sha": COMMIT,
        "siblings": [{"rfilename": name} for name in files],
    }
    base = "/api/models/tiny/gpt2"
    tree = [{"type": "file", "path": n, "size": len(f), "oid": "0" * 40} for n, f in files.items()]
    answers: dict[str, object] = {f"{base}/revision/{r}": info for r in ("main", COMMIT)}
    answers[f"{base}/tree/{COMMIT}"] = tree

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._send(body=False)

        def do_GET(self) -> None:
            self._send(body=True)

        def _send(self, *, body: bool) -> None:
            path = self.path.split("?", 1)[0]
            asked.append(path)
            content = files.get(path.rsplit("/", 1)[1]) if "/resolve/" in path else None
            if path in answers:
                content = json.dumps(answers[path]).encode()
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            etag = hashlib.sha1(content).hexdigest()  # noqa: S324  # as the hub names files
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if body:
                self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


NO_NETWORK = """\
import socket, sys
def refuse(*arguments, **more):
    raise AssertionError(f"the network was touched: {arguments}")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
"""


def cimento(*arguments: str, before: str = "", **variables: str) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    code = f"{before}\nfrom cimento.cli.main import main\nmain()"
    return subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "HF_HUB_DISABLE_XET": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def prefetched(here: Path, hub: tuple[str, list[str]]) -> dict[str, str]:
    """Fetch a model ahead; the variables with which it is found."""
    address, asked = hub
    (here / "run.toml").write_text('suites = ["lamps"]\nmodels = ["tiny/gpt2"]\nlimit = 3\n')
    done = cimento("cluster", "prefetch", "run.toml", "--into", "there", HF_ENDPOINT=address)
    assert done.returncode == 0, done.stderr
    assert asked

    return dict(line.removeprefix("export ").split("=", 1) for line in done.stdout.splitlines())


def test_what_is_prefetched_is_pinned(here, hub):
    variables = prefetched(here, hub)
    assert variables["HF_HUB_OFFLINE"] == "1"
    assert Path(variables["HF_HUB_CACHE"]).is_dir()
    pinned = tomllib.loads((here / "there" / "run.toml").read_text())
    assert pinned["models"] == [f"tiny/gpt2@{COMMIT}"]


@pytest.mark.slow
def test_what_is_prefetched_runs_without_network(here, hub):
    variables = prefetched(here, hub)
    _, asked = hub
    asked.clear()
    run = cimento("run", "there/run.toml", "-o", "runs", "--device", "cpu",
                  before=NO_NETWORK, **variables)  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert asked == []
    [manifest] = [json.loads(p.read_text()) for p in (here / "runs").rglob("manifest.json")]
    assert manifest["model"]["revision"] == COMMIT


def test_what_cannot_be_prefetched_is_named(here, hub):
    address, _ = hub
    (here / "run.toml").write_text('suites = ["lamps"]\nmodels = ["demo-causal", "tiny/bert"]\n')
    done = cimento("cluster", "prefetch", "run.toml", "--into", "there", HF_ENDPOINT=address)
    assert done.returncode == 3
    assert "not fetched: tiny/bert" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_names_the_models_that_a_run_would_refuse(tmp_path, capsys, zoo_folder):
    whole, suite = zoo_folder("gpt2"), "it-subject-verb"
    without, pickled, short = (tmp_path / name for name in ("without", "pickled", "short"))
    for folder in (without, pickled, short):
        shutil.copytree(whole, folder)
    for path in [*without.glob("token*"), *without.glob("vocab*"), *without.glob("merges*")]:
        path.unlink()
    for path in pickled.glob("*.safetensors"):
        path.unlink()
    (pickled / "pytorch_model.bin").write_bytes(b"")
    config = json.loads((short / "config.json").read_text("utf-8"))
    (short / "config.json").write_text(json.dumps({**config, "n_positions": 4}), "utf-8")
    for folder, said in (
        (without, "lacks the files of a tokenizer"),
        (pickled, "its weights are in pytorch_model.bin"),
        (short, "the model's window holds 4. Shorten it, use a model with a longer window, or say"),
    ):
        assert invoke(["plan", suite, "-m", str(folder)]) == 1
        written = capsys.readouterr()
        assert said in written.out
        assert "indexing errors" not in written.err
        assert invoke(["plan", suite, "-m", str(folder), "-m", str(whole)]) == 3
        capsys.readouterr()
    sliding = ["--window", "sliding", "--stride", "2"]
    assert invoke(["plan", suite, "-m", str(short), *sliding]) == 0
    assert invoke(["plan", suite, "-m", str(pickled), "--allow-pickle"]) == 0
    assert invoke(["plan", suite, "-m", str(whole)]) == 0
