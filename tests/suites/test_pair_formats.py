"""Readers of published formats of minimal pairs, on small invented files of the same form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cimento import InputError, Suite, SuiteError
from cimento.cli.main import invoke
from cimento.suites.load import SuiteFile, open_suite


def written(path: Path, text: str, *, encoding: str = "utf-8") -> Path:
    path.write_text(text, encoding=encoding, newline="")
    return path


def pairs(suite: Suite) -> list[tuple[str, str, str]]:
    return [
        (item.id, *(" ".join(r.text for r in item.condition(c).regions) for c in ("good", "bad")))
        for item in suite.items
    ]


def read(path: Path) -> SuiteFile:
    return open_suite(path)


def test_multiblimp(tmp_path: Path) -> None:
    path = written(
        tmp_path / "ita.tsv",
        "sen\twrong_sen\tprefix\tverb\tdistance\tphenomenon\n"
        "Le zie cantano.\tLe zie canta.\tLe zie\tcantano\t1\tSV-#\n"
        "La nave parte.\tLa nave partono.\tLa nave\tparte\t1\tSV-#\n",
    )
    loaded = read(path)
    assert loaded.format == "pairs"
    assert pairs(loaded.suite) == [
        ("1", "Le zie cantano.", "Le zie canta."),
        ("2", "La nave parte.", "La nave partono."),
    ]
    assert loaded.suite.items[0].column("phenomenon") == "SV-#"
    assert loaded.suite.items[0].column("distance") == "1"


def test_the_source_sentence_of_rublimp_is_the_good_one(tmp_path: Path) -> None:
    path = written(
        tmp_path / "np_agreement.csv",
        "id,source_sentence,target_sentence,source_word,target_word,level,phenomenon,PID,subtype\n"
        '7,"Эта дорога, кажется, длинная.","Этот дорога, кажется, длинная.",эта,этот,Syntax,'
        "Noun Phrase Agreement,np_agreement_gender,x\n",
    )
    suite = read(path).suite
    assert pairs(suite) == [
        ("7", "Эта дорога, кажется, длинная.", "Этот дорога, кажется, длинная.")
    ]
    assert suite.meta.language == "ru"
    assert suite.items[0].column("PID") == "np_agreement_gender"


def test_ids_of_others_that_repeat_are_left_aside(tmp_path: Path) -> None:
    path = written(
        tmp_path / "pairs.tsv",
        "id\tsentence_good\tsentence_bad\tcategory\n"
        "1\tDes pommes tombent.\tDes pommes tombe.\taccord\n"
        "1\tUn chat dort.\tUn chat dorment.\taccord\n",
    )
    suite = read(path).suite
    assert [item.id for item in suite.items] == ["1", "2"]
    assert suite.items[0].column("phenomenon") == "accord"


@pytest.mark.parametrize(("label", "good"), [("0.0", "a"), ("1.0", "b"), ("0", "a"), ("1", "b")])
def test_labels_choose_the_sentence(tmp_path: Path, label: str, good: str) -> None:
    line = f'{{"sentence_a": "Il dort.", "sentence_b": "Il dorment.", "label": {label}}}\n'
    suite = read(written(tmp_path / "release.jsonl", line)).suite
    assert pairs(suite)[0][1] == {"a": "Il dort.", "b": "Il dorment."}[good]


@pytest.mark.parametrize("label", ["0.5", "true", '"a"', "null"])
def test_other_labels_are_refused(tmp_path: Path, label: str) -> None:
    line = f'{{"sentence_a": "Il dort.", "sentence_b": "Il dorment.", "label": {label}}}\n'
    with pytest.raises(SuiteError, match="label is"):
        read(written(tmp_path / "release.jsonl", line))


CLAMS = "True\tавтор читает\nFalse\tавтор читают\nTrue\tавторы читают\nFalse\tавторы читает\n"


def test_clams(tmp_path: Path) -> None:
    loaded = read(written(tmp_path / "simple_agrmt.txt", CLAMS))
    assert loaded.format == "clams"
    assert pairs(loaded.suite) == [
        ("1", "автор читает", "автор читают"),
        ("2", "авторы читают", "авторы читает"),
    ]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("True\ta b\nTrue\ta c\n", "line 1: This line and the next"),
        ("True\ta b\nFalse\ta c\nTrue\ta d\n", "line 3: This line and the next"),
        ("True\ta b\nfalse a c\n", "line 2: The line does not begin"),
    ],
)
def test_clams_that_does_not_alternate(tmp_path: Path, text: str, seen: str) -> None:
    with pytest.raises(SuiteError, match=seen):
        read(written(tmp_path / "case.txt", text))


def test_zorro_has_the_bad_sentence_first_and_must_be_named(tmp_path: Path) -> None:
    path = written(tmp_path / "agreement.txt", "look at these apple .\nlook at these apples .\n")
    suite = open_suite(path, format_="zorro").suite
    assert pairs(suite) == [("1", "look at these apples .", "look at these apple .")]
    reverse = open_suite(path, format_="good-first").suite
    assert pairs(reverse) == [("1", "look at these apple .", "look at these apples .")]
    assert (
        invoke(["suites", "convert", str(path), "--from", "zorro", "-o", str(tmp_path / "z")]) == 0
    )
    assert pairs(open_suite(tmp_path / "z").suite) == pairs(suite)


COLORLESS = (
    "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tprefix\tn_attr\tsent\n"
    'L__NOUN_VERB\t4\t0\tsing\tdorme\tcorrect\toriginal\t"Il ""gatto"" di Anna"\t0\t'
    '"Il ""gatto"" di Anna dorme qui <eos>"\n'
    'L__NOUN_VERB\t4\t0\tsing\tdormono\twrong\toriginal\t"Il ""gatto"" di Anna"\t0\t'
    '"Il ""gatto"" di Anna dormono qui <eos>"\n'
)


def test_colorless_green(tmp_path: Path) -> None:
    loaded = read(written(tmp_path / "generated.tab", COLORLESS))
    assert loaded.format == "labeled"
    (item,) = loaded.suite.items
    assert item.id == "L__NOUN_VERB/4/0"
    assert [r.text for r in item.condition("bad").regions] == [
        'Il "gatto" di Anna',
        "dormono",
        "qui",
    ]
    assert loaded.suite.predictions[0].formula == "(2;%good%) < (2;%bad%)"
    assert item.column("phenomenon") == "L__NOUN_VERB"


def test_blimp_nl(tmp_path: Path) -> None:
    path = written(
        tmp_path / "nl.csv",
        "Number (phenomenon),Phenomenon,Number (paradigm),Paradigm,Item,Grammaticality,Sentence\n"
        '1,Agreement,2,subject_verb,5,grammatical,"Jan en Piet slapen, denk ik."\n'
        '1,Agreement,2,subject_verb,5,ungrammatical,"Jan en Piet slaapt, denk ik."\n',
    )
    suite = read(path).suite
    assert pairs(suite) == [("2/5", "Jan en Piet slapen, denk ik.", "Jan en Piet slaapt, denk ik.")]
    assert suite.meta.language == "nl"


def test_an_unknown_label_names_its_row(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"row 2: The label 'maybe' is unknown"):
        read(written(tmp_path / "x.tab", COLORLESS.replace("\tcorrect\t", "\tmaybe\t")))


def test_two_pairs_in_a_row_behind_a_byte_order_mark(tmp_path: Path) -> None:
    path = written(
        tmp_path / "classifier.csv",
        "ID,Grammatical_1,Ungrammatical_1,Grammatical_2,Ungrammatical_2,Notes\n"
        "3,一只猫,一辆猫,一辆车,一只车,\n",
        encoding="utf-8-sig",
    )
    suite = read(path).suite
    assert pairs(suite) == [("3-1", "一只猫", "一辆猫"), ("3-2", "一辆车", "一只车")]


def test_marvin_and_linzen(tmp_path: Path) -> None:
    path = written(
        tmp_path / "sents.tsv",
        "test case\tgrammatical\tungrammatical\nsimple\tthe cook sings\tthe cook sing\n",
    )
    suite = read(path).suite
    assert pairs(suite) == [("1", "the cook sings", "the cook sing")]
    assert suite.items[0].column("phenomenon") == "simple"


def test_decomposed_accents_and_the_same_sentence_twice_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(
        tmp_path / "ita.tsv",
        "sen\twrong_sen\nLa citta\u0300 dorme.\tLa citta\u0300 dormono.\nVa via.\tVa via.\n",
    )
    invoke(["suites", "check", str(path)])
    shown = capsys.readouterr().out
    assert "row 2" in shown
    assert "row 3" in shown


def row(name: str, number: int, verbs: tuple[str, str]) -> str:
    return json.dumps(
        {
            "suite_name": name,
            "item_number": number,
            "conditions": [
                {
                    "condition_name": condition,
                    "content": f"Il cane {verb}.",
                    "regions": [
                        {"region_number": 1, "content": "Il cane"},
                        {"region_number": 2, "content": f"{verb}."},
                    ],
                }
                for condition, verb in zip(("match", "mismatch"), verbs, strict=True)
            ],
            "predictions": ["(2;%match%) < (2;%mismatch%)"],
        }
    )


def test_rows_of_a_syntaxgym_suite(tmp_path: Path) -> None:
    lines = [row("verbs", 1, ("dorme", "dormono")), row("verbs", 2, ("corre", "corrono"))]
    loaded = read(written(tmp_path / "rows.jsonl", "\n".join(lines) + "\n"))
    assert loaded.format == "syntaxgym-rows"
    assert (loaded.suite.name, len(loaded.suite.items)) == ("verbs", 2)
    assert loaded.suite.items[1].condition("mismatch").regions[1].text == "corrono."
    assert loaded.suite.predictions[0].formula == "(2;%match%) < (2;%mismatch%)"


def test_rows_of_several_suites_are_refused(tmp_path: Path) -> None:
    lines = [row("a", 1, ("dorme", "dormono")), row("b", 1, ("corre", "corrono"))]
    with pytest.raises(SuiteError, match="of 2 suites: a, b"):
        read(written(tmp_path / "rows.jsonl", "\n".join(lines)))


@pytest.mark.parametrize(
    "header", ["Buona\tCattiva", "buena\tmala", "boa\tmá", "верное\tневерное", "good\tbad"]
)
@pytest.mark.parametrize("title", ["", "Le mie frasi, 2026\n\n"])
def test_headers_in_other_languages_and_titles_above_them_are_read(tmp_path, header, title):
    path = tmp_path / "mine.tsv"
    path.write_text(f"{title}{header}\nPiove.\tPiovono.\n", encoding="utf-8")
    loaded = open_suite(path)
    [item] = loaded.suite.items
    assert item.condition("bad").regions[0].text == "Piovono."
    assert ("CIM-S009" in [warning.code for warning in loaded.faults]) == bool(title)


def test_workbooks_that_are_not_read_and_locks_say_what_to_do(tmp_path):
    for name, todo in (("mine.xls", "save it as .xlsx"), ("~$mine.xlsx", "Give mine.xlsx itself")):
        path = tmp_path / name
        path.write_bytes(b"x")
        with pytest.raises(InputError, match=re.escape(todo)):
            open_suite(path)
