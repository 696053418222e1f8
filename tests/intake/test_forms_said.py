"""What a file is read as is said in one line, whatever its form, and the same line everywhere."""

from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

import cimento
from cimento import load_suite
from cimento.kinds.paradigm import with_form
from cimento.kinds.registry import audit_suite
from cimento.suites import PAIR_PREDICTION
from tests.helpers.command_line import invoke
from tests.helpers.suites_on_disk import syntaxgym, write, write_folder

GOOD, BAD = "Le lampade sono accese.", "Le lampade è accese."
ABOUT = {"pairID": "0", "linguistics_term": "agreement", "UID": "numero"}
TASK = """task: numero
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_target: 0
doc_to_choice: "{{[giusta, sbagliata]}}"
"""
STORY = {
    "story_id": 1, "type": "order", "example_id": "1", "plausible": True, "breakpoint": -1,
    "sentences": ["Ada apre la porta.", "Ada entra."],
}  # fmt: skip
UNIGRAMS = """\\data\\
ngram 1=6

\\1-grams:
-1.0\t<unk>
-99\t<s>
-0.5\t</s>
-0.6\tLe
-0.7\tsono
-1.2\tè

\\end\\
"""
FORMS = {
    "b.jsonl": (
        json.dumps({"sentence_good": GOOD, "sentence_bad": BAD, **ABOUT}),
        (
            'pairs in the form of BLiMP: good = "sentence_good", bad = "sentence_bad",'
            ' item = "pairID", phenomenon = "linguistics_term"; 1 item; kept, not scored: "UID".'
        ),
    ),
    "c.jsonl": (
        json.dumps({"sentence_a": BAD, "sentence_b": GOOD, "label": 1, "source": "x", "id": "7"}),
        (
            'pairs with a key: sentence A = "sentence_a", sentence B = "sentence_b",'
            ' key = "label", item = "id"; 1 item; kept, not scored: "source".'
        ),
    ),
    "clams.txt": (
        f"True\t{GOOD}\nFalse\t{BAD}\n",
        "lines of CLAMS: 1 item, 2 conditions.",
    ),
    "design.jsonl": (
        json.dumps({"item": 1, "a": "Chi dorme?", "b": "Chi mangia?", "c": "Chi legge?", "n": 4}),
        (
            'conditions in columns: conditions = "a", "b", "c", item = "item"; 1 item;'
            ' kept, not scored: "n".'
        ),
    ),
    "numbered.csv": (
        (
            "frase;corta, non isola;lunga, non isola;corta, isola;lunga, isola\n"
            "1;Chi dice che canti?;Chi dici che canti?;Chi chiede se canti?;Chi chiedi se canti?\n"
            "2;Chi sa che rida?;Chi sai che rida?;Chi domanda se rida?;Chi domandi se rida?\n"
        ),
        (
            'conditions in columns: conditions = "corta, non isola", "lunga, non isola",'
            ' "corta, isola", "lunga, isola", item = "frase"; 2 items.'
        ),
    ),
    "stories.jsonl": (json.dumps(STORY), "GITA4CALAMITA JSONL: 1 story."),
    "task.yaml": (
        TASK,
        (
            'pairs in the form of lm-evaluation-harness: good = "giusta", bad = "sbagliata";'
            ' 1 item; kept, not scored: "tipo".'
        ),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_in_a_fixed_form_says_what_it_was_read_as(tmp_path, name):
    text, said = FORMS[name]
    line = f"Read as {said}"
    write(tmp_path / name, text)
    write(tmp_path / "rows.jsonl", json.dumps({"giusta": GOOD, "sbagliata": BAD, "tipo": "n"}))
    assert audit_suite(tmp_path / name, language="it").read.said() == line
    assert load_suite(tmp_path / name, language="it").reading.table.said() == line


def test_the_line_of_a_file_without_columns_counts_its_items_and_conditions(tmp_path):
    path = write(tmp_path / "numero.json", syntaxgym())
    assert audit_suite(path).read.said() == "Read as SyntaxGym JSON: 1 item, 2 conditions."


@pytest.mark.parametrize(
    ("options", "text", "said"),
    [
        (
            ("--from", "examples"),
            f"(1a) {GOOD}\n(1b) *{BAD}\n",
            (
                "a list of sentences, each followed by the bad one with its mark: 1 item,"
                " 2 conditions."
            ),
        ),
        (
            ("--from", "zorro"),
            f"{BAD}\n{GOOD}\n",
            "pairs of lines, the bad one first: 1 item, 2 conditions.",
        ),
        ((), f"good\tbad\n{GOOD}\t{BAD}\n", 'pairs: good = "good", bad = "bad"; 1 item.'),
    ],
)
def test_convert_says_what_it_read(tmp_path, capsys, options, text, said):
    path = write(tmp_path / "frasi.txt", text)
    told = ("suites", "convert", path, *options, "--language", "it", "-o", tmp_path / "out")
    assert invoke([*map(str, told)]) == 0
    assert f"Read as {said}" in capsys.readouterr().err.splitlines()


def test_check_run_manifest_and_report_of_a_folder_say_the_same_line(tmp_path, capsys):
    """A folder with suite.toml is read like any table, and says so."""
    rows = f"item\tcondition\ttext\tfonte\n1\tgood\t{GOOD}\tA\n1\tbad\t{BAD}\tB\n"
    formula = PAIR_PREDICTION.formula
    toml = f'[meta]\nname = "numero"\nlanguage = "it"\n[[predictions]]\nformula = "{formula}"\n'
    toml = f'regions = ["sentence"]\n{toml}'
    folder = write_folder(tmp_path / "numero", items=rows, toml=toml)
    line = (
        'Read as conditions in rows: item = "item", condition = "condition", sentence = "text";'
        ' 1 item; kept, not scored: "fonte".'
    )
    assert invoke(["suites", "check", str(folder)]) == 0
    assert line in capsys.readouterr().err
    runs, model = tmp_path / "runs", write(tmp_path / "m.arpa", UNIGRAMS)
    assert invoke(["run", str(folder), "-m", f"kenlm:{model}", "-o", str(runs)]) == 0
    assert f"numero: {line}" in capsys.readouterr().err
    [manifest] = runs.glob("*/*/manifest.json")
    assert json.loads(manifest.read_text(encoding="utf-8"))["suite"]["read"] == line
    page = cimento.report(runs, tmp_path / "report.html").read_text(encoding="utf-8")
    assert line in html.unescape(page)


def test_a_reader_of_another_package_that_says_nothing_gets_a_line(tmp_path):
    path = write(tmp_path / "frasi.tsv", f"good\tbad\n{GOOD}\t{BAD}\n")
    loaded = load_suite(path, language="it")
    silent = with_form(loaded.paradigm, replace(loaded.reading, table=None))
    assert silent.table.said() == "Read as a suite of the kind regions: 1 item."
