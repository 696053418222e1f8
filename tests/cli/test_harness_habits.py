"""`cimento run` as people who come from lm-eval, and continuous integration, use it."""

from __future__ import annotations

import io
import itertools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from cimento import UsageError, open_run
from cimento.cli import evaluating
from cimento.cli.lm_eval import model_from_lm_eval
from cimento.cli.main import invoke
from cimento.records.store import find_runs
from tests.helpers.stories import TRIPLES_FILE

DEMO = Path(evaluating.__file__).parents[1] / "data" / "models" / "demo-causal"


def run(folder: Path, *args: str, suite: str = "it-islands") -> int:
    return invoke(["run", suite, "--limit", "3", "--no-cache", "-o", str(folder), *args])


def test_lm_evals_spelling_of_a_model_is_that_model(tmp_path):
    model = shutil.copytree(DEMO, tmp_path / "org, with comma")
    args = f"pretrained={model},dtype=float64,attn_implementation=eager"
    assert run(tmp_path / "a", "--model", "hf", "--model_args", args) == 0
    ours = ("--dtype", "float64", "--model-args", "attn_implementation=eager")
    assert run(tmp_path / "b", "-m", str(model), *ours) == 0

    [one], [other] = find_runs(tmp_path / "a"), find_runs(tmp_path / "b")
    for name in ("inputs", "model"):
        said = [json.loads((folder.path / "manifest.json").read_text()) for folder in (one, other)]
        assert said[0][name] == said[1][name]
    tables = [open_run(folder.path).table("outcomes") for folder in (one, other)]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("errors", [None, pytest.param(subprocess.STDOUT, marks=pytest.mark.slow)])
def test_a_reader_that_goes_away_costs_neither_the_exit_code_nor_the_junit_file(tmp_path, errors):
    asked = ["run", "it-islands", "-m", "demo-causal", "--limit", "3"]
    if errors is None:
        # What is printed is the same where the run is stored, and the process needs no torch.
        assert invoke([*asked, "-o", str(tmp_path / "runs")]) == 0
    command = [*(sys.executable, "-m", "cimento"), *asked]
    command += ["-o", "runs", "--fail-under", "1", "--junit", "results.xml"]
    with subprocess.Popen(  # noqa: S603  # the command under test
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=errors or subprocess.DEVNULL
    ) as running:
        running.stdout.close()
    assert running.returncode == 4
    assert ET.parse(tmp_path / "results.xml").getroot().tag == "testsuites"  # noqa: S314  # ours


def test_model_arguments_in_one_json_object_are_those_arguments():
    plain = model_from_lm_eval({"models": ["hf"], "model_args": ["pretrained=x,dtype=float32,n=1"]})
    text = '{"pretrained": "x", "dtype": "float32", "n": 1}'
    assert model_from_lm_eval({"models": ["hf"], "model_args": [text]}) == plain
    with pytest.raises(UsageError, match="begins like a JSON object"):
        model_from_lm_eval({"models": ["hf"], "model_args": ['{"pretrained": ']})


def test_arguments_of_a_servers_client_are_named_as_ignored(capsys):
    args = "model=x,base_url=http://127.0.0.1:9/v1,max_retries=3,tokenized_requests=False"
    model_from_lm_eval({"models": ["local-completions"], "model_args": [args]})
    assert "ignored: max_retries, tokenized_requests;" in capsys.readouterr().err


def test_arguments_in_json_keep_their_commas(tmp_path, capsys):
    args = f'pretrained={DEMO},max_memory={{"0": 1, "cpu": 2}},peft=there'
    assert run(tmp_path, "--model", "hf", "--model_args", args) == 2
    assert "--model-args peft" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--model", "hf"], "without --model-args pretrained=NAME"),
        (["--model", "hf", "--model_args", "dtype=float64"], "pretrained=NAME"),
        (["--model", "local-completions", "--model_args", "model=x"], "there is no base_url"),
        (["--model", "vllm", "--model_args", "pretrained=org/x"], "vllm serve org/x"),
        (
            [
                *("--model", "local-chat-completions", "--model_args"),
                "model=x,base_url=http://127.0.0.1:9/v1/chat/completions,timeout=1,num_concurrent=2",
            ],
            "server http://127.0.0.1:9/v1:",
        ),
        (
            [
                *("--model", "local-completions"),
                *("--model_args", "model=x,base_url=http://127.0.0.1:9/v1/completions"),
            ],
            "server http://127.0.0.1:9/v1:",
        ),
        (
            [
                *("--model", "local-completions", "--model_args"),
                "model=x,base_url=http://127.0.0.1:9/v1,max_retries=3,tokenized_requests=False",
            ],
            "server http://127.0.0.1:9/v1:",
        ),
        (
            ["--model", "anthropic-chat", "--model_args", "model=x"],
            "lm-eval's name of a kind of models",
        ),
        (
            ["--model", "gguf", "--model_args", "base_url=http://127.0.0.1:9"],
            "its server, -m openai:http://127.0.0.1:9#NAME.",
        ),
        (
            ["--model", "vllm", "--model_args", "pretrained=org/x,tensor_parallel_size=2"],
            "Give it to `vllm serve NAME`, and that server as",
        ),
    ],
)
def test_what_lm_eval_needs_and_is_not_there_is_named(args, said, tmp_path, capsys):
    assert run(tmp_path, *args) in (1, 2)
    assert said in capsys.readouterr().err


def test_lm_evals_options_do_the_same_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spelled = [
        *("--model", "hf", "--model_args", f"pretrained={DEMO},add_bos_token=True"),
        *("--tasks", "it-islands,en-subject-verb", "--limit=3", "--num_fewshot", "0"),
        *("--batch_size", "auto:4", "--output_path", "theirs", "--log_samples"),
    ]
    ours = ["it-islands", "en-subject-verb", "-m", str(DEMO), "--bos", "bos-or-eos"]
    assert invoke(["run", *spelled]) == 0
    assert invoke(["run", *ours, "--limit", "3", "-o", "ours"]) == 0
    names = [
        sorted(run.path.relative_to(folder) for run in find_runs(Path(folder)))
        for folder in ("theirs", "ours")
    ]
    assert names[0] == names[1]
    assert len(names[0]) == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--num_fewshot", "2"], "--context TEXT"),
        (["--apply_chat_template"], "cimento suites build prompted"),
        (["--limit", "0.1"], "a number of items is needed"),
        (["--limit=0.1"], "a number of items is needed"),
        (["--use_cache=x"], "answers are kept anyway"),
        (["--max_batch_size", "4"], "--batch-tokens N"),
        (["--write_out"], "cimento suites show"),
        (["--verbosity=DEBUG"], "Leave it out"),
        (["--seed", "0,1,2,3"], "Give one number"),
    ],
)
def test_lm_evals_options_without_equal_name_what_there_is(args, said, capsys):
    assert invoke(["run", "it-islands", "-m", "demo-causal", *args]) == 2
    assert said in capsys.readouterr().err


def test_lm_evals_name_of_a_public_server_is_its_address():
    given = {"models": ["openai-completions"], "model_args": ["model=davinci-002"]}
    options = model_from_lm_eval(given)
    assert options["models"] == ["openai:https://api.openai.com/v1#davinci-002"]
    assert options["model_args"] == []


def test_an_argument_of_lm_eval_that_no_option_has_is_explained(tmp_path, capsys):
    args = f"pretrained={DEMO},max_length=512"
    assert run(tmp_path, "--model", "hf", "--model_args", args) == 2
    assert "A text is never cut" in capsys.readouterr().err


def test_a_model_in_the_place_of_a_suite_is_pointed_at(capsys):
    assert invoke(["run", "gpt2", "it-islands"]) == 2
    assert "cimento run it-islands -m gpt2" in capsys.readouterr().err
    assert invoke(["run", "blimpp"]) == 2
    assert "Did you mean 'blimp'" in capsys.readouterr().err


def test_a_rate_that_is_not_reached_ends_with_4(tmp_path, capsys):
    assert run(tmp_path, "-m", "demo-causal", "--fail-under", "0") == 0
    assert run(tmp_path, "-m", "demo-causal", "--fail-under", "1") == 4
    [folder] = find_runs(tmp_path)
    headline = open_run(folder.path).summary().headline
    assert f"accuracy {headline.value:.3f} is under 1" in capsys.readouterr().err


def test_a_correlation_is_no_rate(tmp_path, capsys):
    args = ("-m", "demo-causal", "--fail-under", "0")
    assert run(tmp_path, *args, suite="it-acceptability") == 4
    assert "spearman sums it up, so there is no rate" in capsys.readouterr().err


def test_junit_has_a_test_for_each_requirement_and_names_wrong_items(tmp_path):
    path = tmp_path / "results.xml"
    args = ("-m", "demo-causal", "--junit", str(path), "--fail-under", "0.99", "--limit", "40")
    assert run(tmp_path / "runs", *args) == 4

    [folder] = find_runs(tmp_path / "runs")
    stored = open_run(folder.path)
    table = stored.outcomes().filter(pl.col("question") == "all predictions")
    wrong = table.filter(pl.col("right").not_())["item"].to_list()
    [suite] = ET.parse(path).getroot()  # noqa: S314  # our own
    assert suite.get("name").startswith("it-islands x demo-causal")
    assert [case.get("name") for case in suite] == [
        "the run is made", "every item is scored", "accuracy is at least 0.99",
    ]  # fmt: skip
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "0")
    failure = suite[-1].find("failure")
    assert "is under 0.99" in failure.get("message")
    named = re.findall(r"^item (\S+): fail", failure.text, flags=re.MULTILINE)
    assert named == wrong[:10]
    assert f"and {len(wrong) - 10} more items" in failure.text


@pytest.mark.parametrize(("rate", "tests"), [(("--fail-under", "0"), 3), ((), 2)])
def test_a_rate_that_is_reached_is_a_test_too(tmp_path, rate, tests):
    """Otherwise the number of tests would change from one build to the next."""
    path = tmp_path / "results.xml"
    args = ("-m", "demo-causal", "--limit", "5", "--junit", str(path), *rate)
    assert run(tmp_path / "runs", *args) == 0
    [suite] = ET.parse(path).getroot()  # noqa: S314  # our own
    assert (int(suite.get("tests")), suite.get("failures")) == (tests, "0")


@pytest.mark.parametrize(
    ("option", "where", "said"),
    [
        ("--junit", "folder", r"folder: this is a folder, and a file is to be written here"),
        ("--junit", "file/results.xml", r"results\.xml cannot be written .*file: Not a directory"),
        ("--log-samples", "runs/lm-eval", "lm-eval cannot be written"),
        ("--sensitivity", "runs/sensitivity.json/", "sensitivity.json: this is a folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_computed(
    tmp_path, capsys, option, where, said
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    path = tmp_path / where
    (tmp_path / "runs").mkdir()
    if where.endswith("/"):
        path.mkdir()
    elif where == "runs/lm-eval":
        path.touch()
    arguments = [option, str(path)] if option == "--junit" else [option]
    before = sorted(tmp_path.rglob("*"))
    assert run(tmp_path / "runs", "-m", "demo-causal", *arguments) == 1
    assert re.search(said, capsys.readouterr().err)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--jobs", "2"], "--jobs: there is no such option. Give --workers N"),
        (["-j", "2"], "Give --workers N"),
        (["--num_workers=2"], "--num-workers: there is no such option. Give --workers N"),
        (["--output_dir", "x"], "Give --output FOLDER"),
        (["--revision", "x"], "Give -m NAME@REVISION"),
    ],
)
def test_options_of_other_programs_lead_to_ours(tmp_path, capsys, option, said):
    assert run(tmp_path, "-m", "demo-causal", *option) == 2
    assert said in capsys.readouterr().err


ELSEWHERE = {
    "study stories --prompt x": "write --set prompt=VALUE or --also prompt=VALUE for one more row",
    "run it-islands -m demo-causal --shots 3": "of a kind of test: write --set shots=VALUE.",
    "cite runs --draws 3": "It is an option of `cimento study stories`; leave it out here.",
    "run it-islands --mesure lp": "Did you mean '--measure'",
    "cite runs --nowhere": "See cimento cite --help-all.",
}
"""A command line with an option that is elsewhere, or nowhere, to the advice."""


@pytest.mark.parametrize("line", ELSEWHERE)
def test_an_option_that_is_elsewhere_is_named_with_its_place(capsys, line):
    assert invoke(line.split()) == 2
    assert ELSEWHERE[line] in capsys.readouterr().err


def test_junit_has_what_could_not_be_run_and_no_folder_is_left_of_it(tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(DEMO, broken)
    (broken / "model.safetensors").write_bytes(b"")
    path, output = tmp_path / "results.xml", tmp_path / "runs"
    models = ("-m", "demo-causal", "-m", str(broken))
    assert run(output, *models, "--junit", str(path)) == 3

    root = ET.parse(path).getroot()  # noqa: S314  # our own
    assert root.get("errors") == "1"
    assert root[1].get("name") == f"it-islands x {broken}"
    assert "broken" in root[1][0].find("error").get("message")
    [folder] = find_runs(output)
    assert [entry.name for entry in (output / "it-islands").iterdir()] == [folder.path.name]


@pytest.mark.parametrize(
    "suite",
    ["es-subject-verb", *(pytest.param(name, marks=pytest.mark.slow)
                          for name in ("it-idioms", str(TRIPLES_FILE)))],
)  # fmt: skip
def test_a_limit_beyond_the_suite_is_none(suite, tmp_path, capsys):
    args = ["run", suite, "-m", "demo-causal", "-o", str(tmp_path)]
    assert invoke(args) == 0
    capsys.readouterr()
    assert invoke([*args, "--limit", "1000"]) == 0
    assert "only the first" not in capsys.readouterr().out
    assert len(list(find_runs(tmp_path))) == 1


def test_junit_holds_what_xml_cannot(tmp_path):
    table = tmp_path / "rude.tsv"
    table.write_text(
        "phenomenon\tgrammatical\tungrammatical\na\x0b<&\tThe cat sleeps.\tThe cat sleep.\n"
        "b\tThe cat sleep.\tThe cat sleeps.\n"
    )
    path = tmp_path / "results.xml"
    args = ("-m", "demo-causal", "--junit", str(path), "--fail-under", "1")
    run(tmp_path / "runs", *args, suite=str(table))
    [suite] = ET.parse(path).getroot()  # noqa: S314  # our own
    assert "a\ufffd<&: " in suite[-1].find("failure").text


def test_samples_are_logged_beside_the_runs(tmp_path):
    assert run(tmp_path, "-m", "demo-causal", "--log_samples") == 0
    [results] = (tmp_path / "lm-eval").rglob("results_*.json")
    tasks = json.loads(results.read_text())["results"]
    assert len(list((tmp_path / "lm-eval").rglob("samples_*.jsonl"))) == len(tasks) > 1
    assert [folder.path for folder in find_runs(tmp_path)]


@pytest.mark.parametrize("flag", [["--junit", "x.xml"], ["--log-samples"], ["--fail-under", "0"]])
def test_a_share_is_no_whole_run(flag, tmp_path, capsys):
    assert run(tmp_path, "-m", "demo-causal", "--share", "1/2", *flag) == 2
    assert flag[0] in capsys.readouterr().err


def test_a_run_of_some_items_says_so_wherever_it_is_shown(tmp_path, capsys):
    assert run(tmp_path / "runs", "-m", "demo-causal") == 0
    note = "With --limit 3 the run has only 3 items of the suite (each phenomenon in turn)."
    assert note in " ".join(capsys.readouterr().out.split())
    for ending in ("html", "md", "json"):
        page = tmp_path / f"page.{ending}"
        assert invoke(["report", str(tmp_path / "runs"), "-o", str(page)]) == 0
        assert note in page.read_text("utf-8")
    assert invoke(["cite", "--methods", str(tmp_path / "runs")]) == 0
    assert "on 3 items in 4 conditions (each phenomenon in turn)" in capsys.readouterr().out


def test_a_log_gets_a_line_every_ten_seconds(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    seconds = itertools.count(0, 4)
    monkeypatch.setattr("cimento.cli.evaluating.time.monotonic", lambda: next(seconds))
    with evaluating.progress_bars() as progress:
        line = progress("it-islands", "demo-causal")
        for done in range(0, 700, 100):
            line(done, 1000)

    assert stream.getvalue().splitlines() == [
        "cimento: it-islands x demo-causal: 200 of 1000 texts answered, 25.0 a second, 32 s left",
        "cimento: it-islands x demo-causal: 500 of 1000 texts answered, 25.0 a second, 20 s left",
    ]


@pytest.mark.slow  # 5 s, for twelve suites
def test_junit_of_a_language_has_a_test_suite_for_each_run_and_an_error_for_what_failed(tmp_path):
    path = tmp_path / "language.xml"
    command = ["run", "--language", "it", "--sets", "starter", "--junit", str(path)]
    assert invoke([*command, "-m", "demo-causal", "-o", str(tmp_path / "runs")]) == 0
    root = ET.parse(path).getroot()  # noqa: S314  # our own
    names = {suite.attrib["name"].partition(" x ")[0] for suite in root.iter("testsuite")}
    assert len(names) == int(root.attrib["tests"]) / 2  # made, and every item scored
    assert {"it-subject-verb", "it-subject-verb-adversarial"} <= names
    assert invoke([*command, "-m", "demo-causal", "--share", "0/2"]) == 2
