"""Commands as people type them who know another program, or guess; each gets the true reason."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import cimento
from tests.helpers.command_line import invoke

PAIRS = """good\tbad
Il pane è fresco.\tIl pane sono fresco.
Le foglie cadono piano.\tLe foglie cade piano.
I ragazzi nuotano nel lago.\tI ragazzi nuota nel lago.
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("coppie.tsv").write_text(PAIRS, "utf-8")
    return tmp_path


def link_demo_model(name: str) -> None:
    model = Path(cimento.__file__).parent / "data" / "models" / "demo-causal"
    Path(name).symlink_to(model)


def run_pairs(*arguments: str, suite: str = "coppie.tsv") -> int:
    return invoke(["run", suite, "--language", "it", "-m", "demo-causal", *arguments])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "run en-subject-verb -m hf:gpt2",
            "models of the hub and folders have no prefix. Give the name alone: gpt2.",
        ),
        (
            "run en-subject-verb -m pretrained=org/gpt",
            "models of the hub and folders have no prefix. Give the name alone: org/gpt.",
        ),
        (
            "run en-subject-verb -m vllm:gpt2",
            "is not installed here, which would load it. Install it (pip install vllm), or start a",
        ),
        ("run x -m demo-causal,demo-masked", "Give -m once for each model: -m demo-causal -m demo"),
        ("run x -m C:\\models\\gpt2", "Folders are separated by / on this system: C:/models/gpt2"),
        ("run x -m gpt2*", "-m takes one model and no pattern"),
        ("run x -m llama3:8b", "a revision comes after @: llama3@8b"),
        ("run x -m \u201cgpt2\u201d", "Type straight quotation marks, or none: gpt2"),
        ("run x -m here/config.json", "Give its folder: here"),
        (
            "run x --model hf --model_args pretrained=a~dtype=b",
            "Separate model arguments by commas",
        ),
    ],
)
def test_the_name_of_a_model_in_another_form_is_answered_with_ours(command, said, capsys):
    link_demo_model("here")
    words = [word.replace("~", " ") for word in command.replace(" x ", " coppie.tsv ").split()]
    assert invoke(words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("run it-islands,coppie.tsv -m x", "Give them one by one: it-islands coppie.tsv."),
        ("run it-islands~coppie.tsv -m x", "Give them one by one: it-islands coppie.tsv."),
        ("run suites\\mine -m x", "Folders are separated by / on this system: suites/mine."),
        ("run *.jsonl -m x", "No file or folder matches the pattern."),
        ("run it-islands it-islands -m demo-causal", "it is given twice"),
        ("run coppie.tsv -m demo-causal --limit 1,000", "a whole number: did you mean 1000?"),
        ("run coppie.tsv -m demo-causal --fail-under 0,8", "a number: did you mean 0.8?"),
        ("run coppie.tsv -m demo-causal --fail-under 80%", "a number: did you mean 0.8?"),
        ("run coppie.tsv -m demo-causal -o out/sum.json", "Give a folder, such as out/sum"),
        ("run coppie.tsv -m demo-causal --device cuda:0,1", "Give one device, such as cuda:0"),
        ("run coppie.tsv \u2013m demo-causal", "it begins with a long dash"),
        ("run coppie.tsv \u2014model demo-causal", "Type --model."),
        ("run coppie.tsv -m demo-causal --language ita", "Give --language it."),
        ("lm_eval --model hf", "Use `cimento run SUITE -m MODEL`."),
        ("version", "Use `cimento --version`."),
        ("help run", "`cimento COMMAND --help`"),
    ],
)
def test_what_is_typed_out_of_another_habit_is_answered_with_what_is_meant(command, said, capsys):
    assert invoke([word.replace("~", " ") for word in command.split()]) == 2
    assert said in capsys.readouterr().err


def test_a_pattern_that_the_shell_has_left_stands_for_its_files(capsys):
    Path("altre.tsv").write_text(PAIRS, "utf-8")
    assert run_pairs("-o", "runs", suite="*.tsv") == 0
    capsys.readouterr()
    assert invoke(["show", "runs/*", "--json"]) == 0
    assert [run["suite"] for run in json.loads(capsys.readouterr().out)["runs"]] == [
        "altre",
        "coppie",
    ]
    assert invoke(["compare", *map(str, Path("runs").glob("*/*/manifest.json"))]) == 0


@pytest.mark.parametrize("mask", ["[MASK]", "<mask>", "__"])
def test_another_blank_is_answered_with_ours(mask, capsys):
    Path("blank.txt").write_text(f"La casa è {mask}.", "utf-8")
    assert invoke(["fill", "blank.txt", "-m", "demo-masked"]) == 2
    assert f"Write ___ in place of {mask}." in capsys.readouterr().err


def test_scores_are_written_to_a_file_as_they_are_printed(capsys):
    Path("frase.txt").write_text("Il caffè è ___.", "utf-8")
    for command in ("score", "fill"):
        asked = [command, "frase.txt", "-m", "demo-causal"]
        assert invoke(asked) == 0
        printed = capsys.readouterr().out
        assert invoke([*asked, "-o", f"{command}.tsv"]) == 0
        assert capsys.readouterr().out == ""
        assert Path(f"{command}.tsv").read_bytes().decode("utf-8") == printed


def test_a_speech_may_begin_with_a_long_dash():
    Path("frase.txt").write_text("Hola.", "utf-8")
    assert invoke(["score", "frase.txt", "-m", "demo-causal", "--context", "\u2014hola"]) == 0


def test_model_arguments_of_lm_eval_are_said_to_be_other_options(capsys):
    link_demo_model("here")
    args = "pretrained=here,add_bos_token=true,dtype=float64,attn_implementation=eager"
    asked = ["run", "coppie.tsv", "--language", "it", "--model", "hf", "--model_args"]
    assert invoke([*asked, args, "-o", "runs"]) == 0
    said = "--model_args is read as -m here --dtype float64 --bos bos-or-eos --model-args"
    assert f"{said} attn_implementation=eager" in capsys.readouterr().err
    [run] = cimento.open_runs("runs")
    assert run.manifest["asking"]["policy"]["bos"] == "bos-or-eos"
    assert invoke([*asked, "pretrained=here,add_bos_token=yes"]) == 2
    assert "add_bos_token: got 'yes'. Give True or False." in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "fill"])
def test_a_text_in_the_place_of_a_file_is_told_where_it_belongs(command, capsys):
    assert invoke([command, "La casa è ___.", "-m", "demo-causal"]) == 2
    err = capsys.readouterr().err
    assert f"echo 'La casa è ___.' | cimento {command} -m demo-causal" in err
    assert invoke([command, "La casa è grande. " * 40, "-m", "demo-causal"]) == 2
    assert "echo TEXT | cimento" in (err := capsys.readouterr().err)
    assert len(err) < 300


def test_texts_are_read_from_a_pipe_and_a_workbook_is_no_text(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Piove.\n")))
    assert invoke(["score", "-m", "demo-causal", "--json"]) == 0
    assert [text["text"] for text in json.loads(capsys.readouterr().out)["texts"]] == ["Piove."]
    Path("frasi.xlsx").write_bytes(b"PK\x03\x04\xff\x00\x00")
    assert invoke(["score", "frasi.xlsx", "-m", "demo-causal"]) == 2
    assert "is not a text file" in capsys.readouterr().err


SECOND = re.compile(r"\d{4}-\d\d-\d\dT[\d:+]+")


def test_references_are_written_to_a_file_as_they_are_printed(capsys):
    assert run_pairs("-o", "runs") == 0
    capsys.readouterr()
    for flags in ([], ["--methods"], ["--methods", "--appendix", "--json"], ["--prereg"]):
        assert invoke(["cite", "runs", *flags]) == 0
        printed = capsys.readouterr().out
        assert invoke(["cite", "runs", *flags, "-o", "out/cited.txt"]) == 0
        assert capsys.readouterr().out == ""
        # A preregistration names the second at which it was made.
        written = Path("out/cited.txt").read_bytes().decode("utf-8")
        assert SECOND.sub("", written) == SECOND.sub("", printed)
        assert not printed.endswith("\n\n")


def test_a_methods_paragraph_is_a_word_document(capsys):
    assert run_pairs("-o", "runs") == 0
    capsys.readouterr()
    assert invoke(["cite", "runs", "--methods"]) == 0
    printed = [line.removeprefix("- ") for line in capsys.readouterr().out.splitlines() if line]
    assert invoke(["cite", "runs", "--methods", "-o", "methods.docx"]) == 0
    with zipfile.ZipFile("methods.docx") as archive:
        assert archive.testzip() is None
        root = ET.fromstring(archive.read("word/document.xml"))  # noqa: S314  # our own
    paragraphs = ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("}p")]
    assert paragraphs == printed
    assert paragraphs[0].startswith("We evaluated demo-causal ")


@pytest.mark.parametrize(
    "words",
    ["-o refs.docx", "--methods -o m.pdf", "--methods --format latex -o m.docx",
     "--prereg -o sheet.docx", "--methods --json -o m.docx", "-o refs.xlsx"],
)  # fmt: skip
def test_what_is_no_text_is_not_written_under_its_name(words, capsys):
    assert run_pairs("-o", "runs") == 0
    capsys.readouterr()
    assert invoke(["cite", "runs", *words.split()]) == 2
    said = capsys.readouterr().err
    assert f"this is not written as .{words.rpartition('.')[2]}. Write BibTeX as .bib" in said
    assert not Path(words.split()[-1]).exists()


def test_several_runs_are_shown_as_a_pattern_gives_them(capsys):
    assert run_pairs("-m", "demo-masked", "-o", "runs") == 0
    both = sorted(map(str, Path("runs/coppie").iterdir()))
    capsys.readouterr()
    assert invoke(["show", *both]) == 0
    assert {"demo-causal", "demo-masked"} <= {
        line.partition("@")[0] for line in capsys.readouterr().out.splitlines()
    }
    assert invoke(["show", *both, "2", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 2
    assert invoke(["show", *both, "9"]) == 2
    assert "there is no item '9'" in capsys.readouterr().err


def test_a_gate_does_not_pass_on_a_part_of_the_items(capsys):
    assert run_pairs("-o", "before") == 0
    assert run_pairs("-o", "after", "--limit", "1") == 0
    capsys.readouterr()
    gate = ["compare", "before", "after", "--fail-if-worse", "0"]

    assert invoke(gate) == 3
    assert "only 1 of 3 items were compared" in capsys.readouterr().err
    assert invoke([*gate, "--allow-partial"]) == 0
    assert invoke(["compare", "after", "before", "--fail-if-worse", "0"]) == 0


def recording(name: str, values: str) -> str:
    """The name of recorded surprisals of the pairs in bits: one value a sentence, one word each."""
    Path("parole.tsv").write_text("good\tbad\nCasa\tCase\nPane\tPani\n", "utf-8")
    words = zip(("Casa", "Case", "Pane", "Pani"), values.split(), strict=True)
    rows = [f"{number}\t1\t{word}\t{bits}" for number, (word, bits) in enumerate(words, 1)]
    lines = ["sentence_id\ttoken_id\ttoken\tsurprisal", *rows]
    Path(name).write_text("\n".join(lines), "utf-8")
    return f"replay:{name}"


def test_a_gate_does_not_pass_on_items_that_could_not_be_scored(capsys):
    whole, part = recording("whole.tsv", "1 2 1 2"), recording("part.tsv", "1 2 1 NA")
    gate = ["run", "parole.tsv", "--language", "it", "--fail-under", "0", "-m"]
    assert invoke([*gate, whole, "-o", "whole"]) == 0
    assert invoke([*gate, part, "-o", "part"]) == 3
    assert "only 1 of 2 items are in the rate" in capsys.readouterr().err
    assert invoke([*gate, part, "-o", "part", "--allow-partial"]) == 0
    assert invoke(["compare", "whole", "part", "--fail-if-worse", "0"]) == 3
    assert "the second could not score 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "code", "end"),
    [
        (["--fail-under", "0"], 3, "failure"),
        (["--fail-under", "0", "--allow-partial"], 0, "skipped"),
        ([], 0, "skipped"),
    ],
)
def test_items_that_are_not_scored_fail_a_junit_test_where_they_fail_the_run(options, code, end):
    part = recording("part.tsv", "1 2 1 NA")
    command = ["run", "parole.tsv", "--language", "it", "-m", part, "--junit", "results.xml"]
    assert invoke([*command, *options]) == code
    case = ET.parse("results.xml").getroot()[0][1]  # noqa: S314  # our own
    assert case.get("name") == "every item is scored"
    assert case.find(end).get("message") == "1 of 2 items could not be scored"
