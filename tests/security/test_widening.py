"""Nothing that is read from a run or a run file widens what is trusted: the command line does."""

from __future__ import annotations

import copy
import dataclasses
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import get_type_hints

import pytest

from cimento import Asking, Policy, evaluation
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.engine.engines import ONE_WORKER
from cimento.models.registry import reason_to_name
from cimento.records.store import find_runs
from tests.helpers import engines

PAIRS = "item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n"
TRUST = {"trust_remote_code": True, "allow_pickle": True}
SERVER = "openai:http://127.0.0.1:9/v1#m"
HOSTILE = [
    True,
    None,
    [1],
    7,
    "../evil",
    "/dev/zero",
    SERVER,
    "kenlm:evil.bin",
    "counted:http://127.0.0.1:9/m",
    "counted:evil",
    TRUST,
    {"policy": {"model_args": TRUST}},
    {"attn_implementation": "evil/kernels"},
]
ADDED = {
    **TRUST,
    "model_args": TRUST,
    "tokenizer_args": TRUST,
    "named": SERVER,
    "api_key": "sk-x",
    "engine": "ray",
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(engines.install(tmp_path / "plugin")))
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(PAIRS, "utf-8")
    return tmp_path


@pytest.fixture
def stranger(here) -> Path:
    """The folder of a run of a stranger."""
    arguments = ["run", "pairs.tsv", "-m", "demo-causal", "--device", "cpu", "-o", "stranger"]
    assert invoke(arguments) == 0
    (run,) = find_runs(here / "stranger")
    return run.path


@pytest.fixture
def evil(here) -> Path:
    """A model that writes a file when its code is run."""
    folder = here / "rr" / "evil"
    import cimento

    demo = Path(cimento.__file__).parent / "data" / "models" / "demo-causal"
    shutil.copytree(demo, folder)
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling_evil.py").write_text(
        "from pathlib import Path\n"
        f"from transformers import {config['architectures'][0]} as Base\n"
        f"Path({str(here / 'PWNED')!r}).write_text('code of the model ran')\n"
        "class Evil(Base):\n    pass\n"
    )
    return folder


@pytest.fixture
def requested() -> Iterator[tuple[str, list[str]]]:
    """An address, and the keys that were sent there."""
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            keys.append(self.headers.get("Authorization", ""))
            self.send_response(404)
            self.end_headers()

        do_POST = do_GET  # noqa: N815  # the name that http.server looks for

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"openai:http://127.0.0.1:{server.server_port}/v1#gpt", keys
    server.shutdown()
    thread.join()
    server.server_close()


def change(run: Path, edit) -> None:
    path = run / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    edit(manifest)
    path.write_text(json.dumps(manifest), "utf-8")


def trusting(name):
    def edit(manifest):
        manifest["named"] = name
        manifest["asking"]["policy"]["model_args"] = {"trust_remote_code": True}

    return edit


@pytest.mark.parametrize("name", ["rr/evil", "{here}/rr/evil"])
def test_a_manifest_runs_no_code_of_a_model(name, stranger, evil, here, capsys):
    change(stranger, trusting(name.format(here=here)))

    assert invoke(["rerun", "stranger"]) == 2
    assert "--trust-remote-code" in capsys.readouterr().err
    assert invoke(["rerun", "stranger", "--trust-remote-code"]) == 2
    said = capsys.readouterr().err
    assert "evil" in said
    assert "-m " in said
    assert not (here / "PWNED").exists()

    # Who names the model and trusts it has it run; the run is not the same.
    assert invoke(["rerun", "stranger", "--trust-remote-code", "-m", str(evil)]) == 1
    assert (here / "PWNED").exists()


def test_a_manifest_sends_no_key_to_an_address(stranger, requested, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-victim")
    address, keys = requested
    change(stranger, lambda manifest: manifest.update(named=address))

    assert invoke(["rerun", "stranger"]) == 2
    said = capsys.readouterr().err
    assert address.partition(":")[2] in said
    assert "-m " in said
    assert keys == []

    assert invoke(["rerun", "stranger", "-m", address]) != 0
    assert set(keys) == {"Bearer sk-victim"}


@pytest.mark.usefixtures("stranger")
def test_a_plain_rerun_says_which_model_the_manifest_names(capsys):
    assert invoke(["rerun", "stranger", "--device", "cpu"]) == 0
    assert "the model is demo-causal, as its manifest says" in capsys.readouterr().err


def places(value, path=()):
    """Every value in a manifest, by its keys."""
    yield path, value
    if isinstance(value, dict):
        for key, child in value.items():
            yield from places(child, (*path, key))
    if isinstance(value, list):
        for number, child in enumerate(value):
            yield from places(child, (*path, number))


def mutants(manifest):
    """The manifest with a hostile value in every place, and with hostile keys in every object."""
    for path, value in places(manifest):
        if path[:1] == ("files",) or not path:
            continue
        for hostile in [*HOSTILE, *([{**value, **ADDED}] if isinstance(value, dict) else [])]:
            changed = copy.deepcopy(manifest)
            parent = changed
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = hostile
            yield path, changed
    for name, value in ADDED.items():
        yield (name,), {**manifest, name: value}


def everything_but_reruns(run):
    """The files beside a run and in it, but for what a rerun may write.

    Bytecode is left out: the first import of the installed plugin writes it, and whether that
    falls into a test depends on which tests its process ran before.
    """
    here = run.parents[2]
    files = {path.relative_to(here) for path in here.rglob("*") if path.is_file()}
    return {path for path in files if path.parts[0] != "reruns" and "__pycache__" not in path.parts}


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_no_option_of_a_manifest_widens_trust(stranger, monkeypatch, step):
    opened, asked = [], []
    open_model = evaluation.open_model

    def note_opening(model, loaded, scoring):
        opened.append((model, loaded, scoring))
        return open_model(model, loaded, scoring)

    class Unasked:
        """In the place of the engine: notes what it is to do, and does nothing."""

        def __init__(self, jobs, work):
            asked.append((jobs, work))

        def run(self):
            return [None]

    monkeypatch.setattr(evaluation, "open_model", note_opening)
    monkeypatch.setattr(evaluation, "Execution", Unasked)
    before = everything_but_reruns(stranger)
    path = stranger / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    tried = 0
    for place, changed in islice(mutants(manifest), 0, None, step):
        path.write_text(json.dumps(changed), "utf-8")
        opened.clear()
        asked.clear()
        tried += 1
        assert invoke(["rerun", "stranger"]) != 0, place
        for model, loaded, scoring in opened:
            assert loaded.reading.path.resolve() == stranger / "suite", place
            assert not reason_to_name(model), (place, model)
            assert scoring.policy.model_args == {}, place
            assert scoring.policy.tokenizer_args == {}, place
        for jobs, work in asked:
            assert [job.model.model for job in jobs] == [model for model, *_ in opened], place
            assert work.engine == ONE_WORKER, place
            assert isinstance(work.cache, MemoryCache), place
            assert work.store is None, place
    assert tried > 500 // step
    assert everything_but_reruns(stranger) == before
    # Else nothing would have been shown.
    path.write_text(json.dumps(manifest), "utf-8")
    invoke(["rerun", "stranger"])
    assert opened
    assert asked


def test_what_a_manifest_says_of_asking_is_of_closed_kinds():
    """A new option that is text, a path or a mapping must be thought about before it passes."""

    def open_fields(record):
        hints = get_type_hints(record)
        named = {field.name: str(hints[field.name]) for field in dataclasses.fields(record)}
        free = ("str", "Path", "Mapping", "<class 'str'>")
        return {
            name
            for name, kind in named.items()
            if any(word in kind for word in free) and "Literal" not in kind
        }

    # Not taken from a manifest.
    assert open_fields(Policy) == {"model_args", "tokenizer_args"}
    # A name that torch knows; a text file of how recorded words were cut; a tokenizer, which is
    # read as data and whose code is never run; fields for a server that the user has named.
    assert open_fields(Asking) == {"device", "spec", "tokenizer", "body"}


RUN_FILE = 'suites = ["pairs.tsv"]\nmodels = ["demo-causal"]\n'


@pytest.mark.parametrize("key", ["trust_remote_code", "trust-remote-code", "allow_pickle"])
def test_a_run_file_says_nothing_of_trust(key, capsys):
    Path("night.toml").write_text(f"{RUN_FILE}{key} = true\n")

    assert invoke(["run", "night.toml"]) == 2
    said = capsys.readouterr().err
    assert f"line 3, {key}" in said
    assert f"--{key.replace('_', '-')} on the command line" in said


@pytest.mark.parametrize("args", ["trust_remote_code = true", "allow_pickle = true"])
def test_nor_do_its_options_for_transformers(args, capsys):
    Path("night.toml").write_text(f"{RUN_FILE}[model_args]\n{args}\n")

    assert invoke(["run", "night.toml"]) == 2
    assert args.partition(" ")[0] in capsys.readouterr().err


def test_a_run_file_sends_no_key_to_an_address(requested, monkeypatch, capsys):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-victim")
    address, keys = requested
    Path("night.toml").write_text(RUN_FILE.replace("demo-causal", address))

    for command in ("run", "plan", "cluster collect", "cluster slurm", "cluster prefetch"):
        assert invoke([*command.split(), "night.toml"]) == 2, command
        assert f"-m '{address}'" in capsys.readouterr().err
    assert keys == []
    invoke(["run", "night.toml", "-m", address])
    assert keys


@pytest.mark.parametrize("name", ["kenlm:news.arpa", "counted:http://127.0.0.1:9/m"])
def test_a_run_file_names_no_file_of_kenlm_and_no_address_of_a_plugin(name, capsys):
    Path("night.toml").write_text(RUN_FILE.replace("demo-causal", name))

    assert invoke(["run", "night.toml"]) == 2
    assert name in capsys.readouterr().err


def test_what_a_run_file_may_not_say_stands_in_the_script_of_slurm(capsys):
    arguments = [
        "cluster",
        "slurm",
        "pairs.tsv",
        "-m",
        SERVER,
        "-m",
        "demo-causal",
        "--trust-remote-code",
    ]

    assert invoke([*arguments, "-o", "runs"]) == 0
    said = f"run.toml -m '{SERVER}' -m demo-causal --trust-remote-code"
    assert said in Path("runs/slurm/array.sh").read_text()
    assert said in capsys.readouterr().err
    assert "trust" not in Path("runs/slurm/run.toml").read_text()
