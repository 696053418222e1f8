"""Where a model computed, and in which number format: one line for terminal, page and paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import cimento
from cimento.cite.methods import methods_paragraph
from cimento.cli.main import invoke
from cimento.models.hf.files import locate
from cimento.records.computed import computed
from cimento.report import provenance_of
from tests.helpers.servers.loopback import serve

pytestmark = pytest.mark.usefixtures("fresh_cache")

PAIRS = "good\tbad\n" + "".join(
    f"La porta {n} era aperta.\tLa porta {n} erano aperta.\n" for n in range(6)
)


def card(device="cuda:0", dtype="bfloat16", kind="causal", **details):
    return {"kind": kind, "device": device, "dtype": dtype, "details": details}


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (card(checkpoint="bfloat16"), "on cuda:0, bfloat16 (the checkpoint's)"),
        (
            card(dtype="float32", checkpoint="bfloat16"),
            "on cuda:0, float32 (as asked; the checkpoint's is bfloat16)",
        ),
        (
            card("cpu", "float32", checkpoint="bfloat16"),
            "on cpu, float32 (usual there; the checkpoint's is bfloat16)",
        ),
        (
            card("cpu", "float16", checkpoint="float32"),
            "on cpu, float16 (as asked; the checkpoint's is float32)",
        ),
        (
            card(checkpoint="bfloat16", quantized="yes"),
            "on cuda:0, bfloat16 (the checkpoint's, its weights quantized)",
        ),
        (
            card(checkpoint="bfloat16", devices="cuda:0, cuda:1"),
            "on cuda:0, cuda:1, bfloat16 (the checkpoint's)",
        ),
        (card("cpu", "float64", checkpoint="in memory"), "on cpu, float64 (as in memory)"),
        (card("cpu", "float32"), "on cpu, float32"),
        (
            card("cpu", "", read_by="llama-cpp-python"),
            "on cpu, in the number formats of the file",
        ),
        (
            card("server", "", server="http://127.0.0.1:8000/v1"),
            "on the server http://127.0.0.1:8000/v1, which does not say in which number format",
        ),
        (card("", "", kind="replay"), "elsewhere, and recorded"),
        (card("", ""), ""),
        ({"details": None, "device": None}, ""),
    ],
)
def test_the_line_says_where_and_in_what_format_and_why(facts, line):
    assert computed(facts) == line


@pytest.mark.parametrize(
    ("form", "device", "why"),
    [
        ("float32", "cpu", "as asked, and the checkpoint's"),
        ("bfloat16", "cuda:0", "as asked; the checkpoint's is float32"),
    ],
)
def test_a_format_that_was_asked_for_is_said_to_be(form, device, why):
    facts = card(device, form, checkpoint="float32")
    assert computed(facts, asked=True) == f"on {device}, {form} ({why})"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(PAIRS, encoding="utf-8")
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "on cpu, float32 (the checkpoint's)"),
        (["--dtype", "bf16"], "on cpu, bfloat16 (as asked; the checkpoint's is float32)"),
    ],
)
def test_the_terminal_the_page_and_the_methods_have_the_line(
    pairs, tmp_path, capsys, options, line
):
    command = ["-m", "demo-causal", "--device", "cpu", "-o", str(tmp_path / "runs"), *options]
    assert invoke(["run", pairs, *command]) == 0
    assert f"Computed {line}.\n" in capsys.readouterr().err
    assert invoke(["report", str(tmp_path / "runs"), "-o", str(tmp_path / "page.html")]) == 0
    [run] = [cimento.open_run(path.parent) for path in tmp_path.rglob("manifest.json")]
    assert provenance_of(run.manifest)[0] == ("computed", line)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert line.replace("'", "&#39;") in page or line in page
    # The paragraph for a paper has no number formats; the whole protocol has.
    assert f"Scores were computed {line}." in methods_paragraph([run], appendix=True)


def test_a_server_and_a_model_in_memory_have_lines_of_their_own(pairs, tmp_path, capsys):
    with serve() as server:
        command = ["-m", server.address, "-m", "demo-causal", "--unscored-first", "drop"]
        assert invoke(["run", pairs, *command, "-o", str(tmp_path / "runs")]) == 0
        said = capsys.readouterr().err
    assert f": computed on the server {server.url}, which does not say" in said
    assert ": computed on cpu, float32 (the checkpoint's)." in said

    folder = locate("demo-causal").folder
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    run = cimento.evaluate(pairs, model, tokenizer=AutoTokenizer.from_pretrained(folder))
    assert computed(run.manifest["model"]) == "on cpu, float64 (as in memory)"


def test_json_stays_json(pairs, tmp_path, capsys):
    command = ["run", pairs, "-m", "demo-causal", "-o", str(tmp_path / "runs"), "--json"]
    assert invoke(command) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["runs"]
    assert "Computed" not in said.err
    assert Path(tmp_path / "runs").is_dir()
