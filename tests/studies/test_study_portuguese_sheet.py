"""The sheet of judgments that the study of Brazilian Portuguese released, read as it comes."""

from __future__ import annotations

import json

import polars as pl
import pytest

from cimento import InputError, evaluate, load_suite
from cimento.cli.main import invoke
from cimento.intake.workbooks import write_sheets
from cimento.paradigms.cloze.portuguese import read_released_sheet
from cimento.studies.portuguese import NUMBERS, numbers_of, verb_readings
from cimento.studies.portuguese.data import load_study

PASSIVE = "voz passiva_1a\tas casas foram\tOntem as casas foram [MASK] cedo."
CONNECTOR = "conectores_nem\t\tNão canta [MASK] dança."


def sheet(tmp_path, *lines: str):
    path = tmp_path / "all-eval.tsv"
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())
    return path


def test_rows_are_ranked_by_probability_and_quotes_are_quotes(tmp_path):
    path = sheet(
        tmp_path,
        f'{PASSIVE}\tpunct\t\\"\t0.1\tn\t',
        f"{PASSIVE}\tV:Kfp;A:fp\tpintadas\t0.5\ts\t",
        f'{PASSIVE}\tpunct\t"\t"\t0.2"\tn\tsem sentido; texto incoerente',
        f"{PASSIVE}\tOOD\t10\t0.05\t\t",
        f"{CONNECTOR}\tCONJ\te\t0.9\ts\tnão conector",
    )
    instances, judged = read_released_sheet(path)
    assert [instance.item.id for instance in instances] == [
        "voz passiva_1a/000",
        "conectores_nem/000",
    ]
    assert instances[0].item.text == "Ontem as casas foram ___ cedo."
    assert instances[0].item.columns == {
        "template": "voz passiva_1a",
        "dimension": "passive",
        "group": "1",
        "seed": "as casas foram",
    }
    assert instances[1].item.columns["group"] == "nem"
    rows = [
        (row.candidate.rank, row.candidate.text, row.candidate.probability, row.candidate.fits)
        for row in judged[:4]
    ]
    assert rows == [
        (1, "pintadas", 0.5, True),
        (2, '"', 0.2, False),
        (3, '"', 0.1, False),
        (4, "10", 0.05, None),
    ]
    assert judged[0].candidate.tags == ("V:Kfp", "A:fp")
    assert judged[1].candidate.remarks == ("sem sentido", "texto incoerente")


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("one\ttwo", "row 1: there are 2 fields"),
        (f"{PASSIVE}\tA\tx\t0.5\tmaybe\t", "the judgment is 'maybe'"),
        (f"{PASSIVE}\tA\tx\thalf\ts\t", "no number"),
        ("voz passiva_1a\t\tOntem cedo.\tA\tx\t0.5\ts\t", r"\[MASK\] is there 0 times"),
        ("other\t\tOntem [MASK].\tA\tx\t0.5\ts\t", "is none of the study's templates"),
    ],
)
def test_what_is_no_such_sheet_is_refused(tmp_path, line, seen):
    with pytest.raises(InputError, match=seen):
        read_released_sheet(sheet(tmp_path, line))


def test_equal_probabilities_have_no_ranks(tmp_path):
    rows = [f"{PASSIVE}\tA\t{text}\t0.5\ts\t" for text in "xy"]
    with pytest.raises(InputError, match="equally probable"):
        read_released_sheet(sheet(tmp_path, *rows))


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["--table", "6"], "it needs all-eval.xlsx, which is not in the folder"),
        (["--table", "1"], "it needs BertMaskMWE.ipynb"),
        (["--what", "person"], "it needs BertMaskSyntactic.ipynb"),
        (["--what", "claims"], "it needs BertMaskMWE.ipynb and all-eval.xlsx"),
        (["--state", "snapshot"], "all-eval.xlsx is not there"),
        (["--table", "0"], "there is no table 0"),
    ],
)
def test_what_the_sheet_does_not_have_is_said(tmp_path, capsys, arguments, seen):
    path = sheet(tmp_path, f"{PASSIVE}\tA\tx\t0.5\ts\t")
    assert invoke(["study", "portuguese", "--data", str(path), *arguments]) == 2
    assert seen in capsys.readouterr().err


def test_a_folder_with_the_sheet_is_enough(tmp_path, capsys):
    sheet(tmp_path, f"{PASSIVE}\tA\tx\t0.5\ts\t", f"{PASSIVE}\tA\ty\t0.4\tn\t")
    arguments = ["--data", str(tmp_path), "--table", "13", "--json"]
    assert invoke(["study", "portuguese", *arguments]) == 0
    out, err = capsys.readouterr()
    cells = {cell["case"]: cell["release"] for cell in json.loads(out)["cells"]}
    assert cells["Passive"]["p10"] == {"templates": 1, "value": 0.5, "pct": 50.0}
    assert cells["Connectors"]["p1"] == {"templates": 0, "value": None, "pct": None}
    assert "1 item with fewer than 10 candidates" in err


@pytest.mark.parametrize("link", [False, True])
def test_the_files_may_be_below_the_folder_or_behind_a_link(tmp_path, link):
    released, data = tmp_path / "released/judged", tmp_path / "data"
    place = released if link else data / "from the authors/judged"
    place.mkdir(parents=True)
    data.mkdir(exist_ok=True)
    sheet(place, f"{PASSIVE}\tA\tx\t0.5\ts\t")
    if link:
        (data / "from the authors").symlink_to(released.parent, target_is_directory=True)
    assert len(load_study(data).judged) == 1


def test_of_two_sheets_the_one_higher_up_is_read(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    sheet(tmp_path / "a/b", f"{PASSIVE}\tA\tx\t0.5\ts\t", f"{PASSIVE}\tA\ty\t0.4\tn\t")
    sheet(tmp_path, f"{PASSIVE}\tA\tz\t0.5\ts\t")
    assert [row.candidate.text for row in load_study(tmp_path).judged] == ["z"]


NOUN = "concordância nominal_1a"
SUBJECT = "concordancia_de_sujeito_1_falar"
LABELS = ("case name (original)", "case name", "case name aternative", "top 1")
"""Of the workbook, spelled as there."""
HEADER = ("template", "seed", "sentence", "all_pos", "token_str", "token_score", "evaluation",
          "comment", *LABELS)  # fmt: skip


def notebook(path, *cells):
    """A notebook of cells: source, what it printed, and a value that it showed."""
    written = [
        {
            "source": [source],
            "outputs": [
                {"output_type": "stream", "text": printed.splitlines(keepends=True)},
                {"output_type": "execute_result", "data": {"text/plain": [shown]}},
            ],
        }
        for source, printed, shown in cells
    ]
    path.write_text(json.dumps({"cells": written, "nbformat": 4}), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """All four files, as small as can be; a quotation mark has swallowed a row of the workbook."""
    noun, subject = "O [MASK] azul.", "Hoje [MASK] falamos."
    rows = [
        (NOUN, "o", noun, "A:ms", "carro", "0.5", "s", ""),
        (NOUN, "o", noun, "punct", '"', "0.2", "n", ""),
        (SUBJECT, "falamos", subject, "PRO", "nós", "0.7", "s", ""),
        (SUBJECT, "falamos", subject, "ADV", "já", "0.1", "s", "sujeito oculto"),
    ]
    sheet(tmp_path, *("\t".join(row) for row in rows))
    labels = ("m_sg", "m_sg", "m_sg")
    labeled = [
        (*rows[0], *labels, "TRUE"),
        # from the quotation mark to the last field of the row below
        (*rows[1][:5], "0.7", "s", "", *labels, "FALSE"),
        (*rows[3], "Indicativo presente_pl", "pron_nos", "Indicativo presente", "TRUE"),
    ]
    (tmp_path / "all-eval.xlsx").write_bytes(
        write_sheets({"all-eval": [HEADER, *labeled]}, where="all-eval")
    )
    tasks = {
        NOUN: ({"m_sg": ["o"]}, ["<SEED> [MASK] azul."]),
        SUBJECT: (
            {"Indicativo presente_pl": ["falamos"],
             "Indicativo pretérito perfeito simples_pl": ["falamos"]},
            ["Hoje [MASK] <SEED>."],
        ),
    }  # fmt: skip
    notebook(tmp_path / "BertMaskSyntactic.ipynb", ("TASKS", "", "{}"), ("TASKS", "", repr(tasks)))
    printed = "\n".join(
        [
            "0 pé frio",
            *(f"\tW{word} {text} 0.5 0.4 -1e-05 \t-\t [1.0]"
              for pair in (("pé", "frio"), ("vento", '"')) for word, text in enumerate(pair, 1)),
        ]
    )  # fmt: skip
    notebook(
        tmp_path / "BertMaskMWE.ipynb",
        ('TASKS["pé frio"] = [("Ele é [MASK1] [MASK2].", "pé frio")]', "", ""),
        ("nlp_fill = pipeline('fill-mask',model=\"bert-base-multilingual-cased\")", "", ""),
        ("similarity(1)", printed, ""),
    )
    return tmp_path


def test_all_four_files_are_read_as_they_were_released(folder):
    data = load_study(folder)
    assert numbers_of(data) == NUMBERS
    assert data.states == ("snapshot", "release")
    assert [(row.candidate.text, row.in_snapshot, row.snapshot_fits, row.snapshot_first)
            for row in data.judged] == [
        ("carro", True, True, True), ('"', True, True, False),
        ("nós", False, None, False), ("já", True, True, True),
    ]  # fmt: skip
    noun, subject = data.instances
    assert (noun.case, noun.tense, noun.categories) == ("m_sg", "m_sg", ("m_sg",))
    assert verb_readings(subject) == ("pres.1pl", "perf.1pl")
    assert [(item.text, item.targets) for item in data.cells] == [
        ("Ele é ___ frio.", ("pé",)),
        ("Ele é pé ___.", ("frio",)),
    ]
    assert [
        (candidate.item, candidate.rank, candidate.text) for candidate in data.predictions["mbert"]
    ] == [
        ("pé frio/0/W1", 1, "pé"),
        ("pé frio/0/W2", 1, "frio"),
        ("pé frio/0/W1", 2, "vento"),
        ("pé frio/0/W2", 2, '"'),
    ]


def test_the_notebooks_and_the_sheet_are_suites_and_recordings(folder):
    run = evaluate(folder / "BertMaskMWE.ipynb", f"replay:{folder / 'BertMaskMWE.ipynb'}")
    outcomes = run.outcomes().filter(pl.col("question") == "hit@1")
    assert outcomes["verdict"].to_list() == ["pass", "pass"]
    sheet = folder / "all-eval.tsv"
    run = evaluate(sheet, f"replay:{sheet}", judgments=str(sheet))
    outcomes = run.outcomes().filter(pl.col("question") == "fits@10")
    assert outcomes.height == 4
    assert load_suite(folder / "BertMaskSyntactic.ipynb").suite.name == "BertMaskSyntactic"


def cell(source):
    return json.dumps({"cells": [{"source": source}]})


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("BertMaskMWE.ipynb", '{"cells": 1}', "it is not a notebook"),
        ("BertMaskMWE.ipynb", cell('TASKS["a"] = open(1)'), "cannot be read"),
        ("BertMaskMWE.ipynb", cell('TASKS["a"] = [(1, 2)]'), "cannot be used"),
        ("BertMaskMWE.ipynb", cell('TASKS["a"] = 3'), "cannot be used"),
        ("BertMaskMWE.ipynb", cell('TASKS["a", []] = []'), "cannot be used"),
        ("BertMaskSyntactic.ipynb", '{"cells": []}', "it prints no templates"),
        ("all-eval.xlsx", "no workbook", "Not an Excel workbook"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_named(folder, capsys, name, content, seen):
    (folder / name).write_text(content, encoding="utf-8")
    assert invoke(["study", "portuguese", "--data", str(folder)]) == 2
    said = capsys.readouterr().err
    assert name in said
    assert seen in said


def test_a_workbook_of_another_sheet_is_refused(folder, capsys):
    sheet(folder, f"{PASSIVE}\tA\tx\t0.5\ts\t")
    assert invoke(["study", "portuguese", "--data", str(folder)]) == 2
    assert "all-eval.xlsx row 2: there is no candidate of 0.5" in capsys.readouterr().err
