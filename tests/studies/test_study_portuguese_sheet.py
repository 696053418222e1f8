"""The sheet of judgments that the study of Brazilian Portuguese released, read as it comes."""

from __future__ import annotations

import json

import pytest

from cimento import InputError
from cimento.cli.main import invoke
from cimento.paradigms.cloze.portuguese import read_sheet
from cimento.studies.portuguese.data import load
from cimento.studies.portuguese.study import numbers_of, part, table

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
    instances, judged = read_sheet(path)
    assert [each.item.id for each in instances] == ["voz passiva_1a/000", "conectores_nem/000"]
    assert instances[0].item.text == "Ontem as casas foram ___ cedo."
    assert instances[0].item.columns == {
        "template": "voz passiva_1a",
        "dimension": "passive",
        "group": "1",
        "seed": "as casas foram",
    }
    assert instances[1].item.columns["group"] == "nem"
    found = [
        (each.candidate.rank, each.candidate.text, each.candidate.probability, each.candidate.fits)
        for each in judged[:4]
    ]
    assert found == [
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
        read_sheet(sheet(tmp_path, line))


def test_equal_probabilities_have_no_ranks(tmp_path):
    rows = [f"{PASSIVE}\tA\t{text}\t0.5\ts\t" for text in "xy"]
    with pytest.raises(InputError, match="equally probable"):
        read_sheet(sheet(tmp_path, *rows))


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (["--table", "6"], "the sheet of judgments alone does not have what it needs"),
        (["--table", "1"], "does not have what it needs"),
        (["--what", "person"], "does not have what it needs"),
        (["--state", "snapshot"], "has only the release"),
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


@pytest.mark.golden
def test_the_sheet_gives_the_tables_of_the_release(shared, tmp_path):
    """The sheet as released, put together again from the rows that were made of it."""
    whole = load(shared / "golden" / "portuguese")
    lines = []
    for row in whole.release:
        columns, each = row.instance.item.columns, row.candidate
        fields = (
            columns["template"],
            columns["seed"],
            f"{row.instance.item.before}[MASK]{row.instance.item.after}",
            ";".join(each.tags),
            each.text.replace('"', '\\"'),
            repr(each.probability),
            {True: "s", False: "n", None: ""}[each.fits],
            "; ".join(each.remarks),
        )
        lines.append("\t".join(fields))
    alone = load(sheet(tmp_path, *sorted(lines)))
    assert len(alone.instances) == 1232
    assert numbers_of(alone) == (4, 9, 11, 13)
    for number in numbers_of(alone):
        assert table(alone, number)["cells"] == table(whole, number, ["release"])["cells"]
    assert part(alone, "per-template") == part(whole, "per-template")
    (warning,) = alone.warnings("release")
    assert warning.startswith("1 candidate of 12320 not judged")
