"""Questions about the person beside sentences to rate: told by form, place and range together."""

import json

import pytest

from cimento.judgments import ColumnMap
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions
from tests.helpers.command_line import invoke

SENTENCES = (
    "A chuva molhou a roupa.", "A roupa molhou a chuva.", "O gato dorme no sofá.",
    "O sofá dorme no gato.", "Chegaram as cartas.", "As cartas chegou.", "Ela fala baixinho.",
    "Baixinho ela fala nunca.",
)  # fmt: skip
WH = (
    "Quem comprou o pão?", "O que você disse que ela viu?", "Quem você viu o homem que beijou?",
    "Onde eles moram agora?",
)  # fmt: skip
STAMPS = tuple(f"2026/03/0{n} 10:02:11" for n in range(1, 6))
AGES, LANGUAGES = ("24", "31", "52", "45", "28"), ("2", "3", "1", "2", "4")
RATED = (("5", "4", "5", "5", "4"), ("1", "2", "1", "3", "1"))


def asked(tmp_path, columns, **options):
    """The columns that are read as items, and the others with the reason."""
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(",".join(f'"{c}"' for c in row) for row in rows), encoding="utf-8")
    (reading,) = read_answers(
        [path], ImportOptions(form="wide", secret=b"k" * 32, **options)
    ).readings
    return reading.roles["answers"], reading.unused


def rated(*texts):
    return {text: RATED[number % 2] for number, text in enumerate(texts)}


def test_a_number_behind_other_questions_about_people_is_no_rating(tmp_path):
    columns = {"Timestamp": STAMPS, "Qual é a sua idade?": AGES, "Quantas línguas fala?": LANGUAGES}
    items, unused = asked(tmp_path, columns | rated(*SENTENCES))
    assert items == SENTENCES
    assert "before the sentences" in unused["Quantas línguas fala?"]


def test_a_question_of_which_nobody_knows_whether_it_is_a_sentence_is_asked_about(tmp_path, capsys):
    path, output = tmp_path / "form.csv", tmp_path / "j.csv"
    columns = {"Quantas línguas você fala?": RATED[0], **rated(*SENTENCES)}
    rows = [["Código", *columns], *zip("vwxyz", *columns.values(), strict=True)]
    path.write_text("\n".join(",".join(f'"{c}"' for c in row) for row in rows), encoding="utf-8")
    arguments = ["annotate", "import", str(path), "-o", str(output), "--names", "keep"]
    invoke(arguments)
    said = " ".join(capsys.readouterr().err.split())
    assert "Is 'Quantas línguas você fala?' a sentence to rate" in said
    assert "name the sentences with --items" in said
    output.unlink()
    invoke([*arguments, *(part for text in SENTENCES for part in ("--items", text))])
    assert "a sentence to rate" not in capsys.readouterr().err


def test_consent_in_front_of_all_sentences_is_no_rating(tmp_path):
    columns = {"Timestamp": STAMPS, "Aceita participar deste estudo?": ("1",) * 5}
    items, _ = asked(tmp_path, columns | rated(*SENTENCES))
    assert items == SENTENCES


@pytest.mark.parametrize("place", [0, 3, 8])
def test_a_sentence_that_asks_is_a_sentence_wherever_it_stands(tmp_path, place):
    texts = (*SENTENCES[:place], WH[1], *SENTENCES[place:])
    items, _ = asked(tmp_path, {"Timestamp": STAMPS} | rated(*texts))
    assert items == texts


def test_a_survey_of_questions_keeps_all_of_them(tmp_path):
    columns = {"Timestamp": STAMPS, "Qual é a sua idade?": AGES}
    items, _ = asked(tmp_path, columns | rated(*WH, *SENTENCES[:3]))
    assert items == (*WH, *SENTENCES[:3])


def test_sentences_that_ask_among_others_stay_behind_questions_about_people(tmp_path):
    texts = (WH[0], *SENTENCES[:4], WH[1], *SENTENCES[4:])
    columns = {"Timestamp": STAMPS, "Qual é a sua idade?": AGES}
    assert asked(tmp_path, columns | rated(*texts))[0] == texts


def test_what_is_named_as_an_item_is_one(tmp_path):
    columns = {"Timestamp": STAMPS, "Qual é a sua idade?": AGES, "Quantas línguas fala?": LANGUAGES}
    items, _ = asked(tmp_path, columns | rated(*SENTENCES), items=("Quantas línguas fala?",))
    assert items == ("Quantas línguas fala?",)


def qualtrics(tmp_path, questions):
    """An export of Qualtrics: names, texts and ids of columns, and a row for each person."""
    written = {
        "StartDate": STAMPS, "Status": ("IP Address",) * 5, "Finished": ("True",) * 5,
        "Duration (in seconds)": ("317", "290", "402", "388", "351"),
        "ResponseId": tuple(f"R_3kXaBcDeF{n}" for n in range(5)),
    }  # fmt: skip
    names = [*written, *questions]
    texts = [*written, *(text for text, _, _ in questions.values())]
    ids = [*written, *(id_ for _, id_, _ in questions.values())]
    cells = [*written.values(), *(cells for *_, cells in questions.values())]
    rows = [names, texts, [json.dumps({"ImportId": i}) for i in ids], *zip(*cells, strict=True)]
    quoted = [",".join('"' + str(c).replace('"', '""') + '"' for c in row) for row in rows]
    path = tmp_path / "export.csv"
    path.write_text("\n".join(quoted), encoding="utf-8")
    return read_answers([path], ImportOptions(secret=b"k" * 32, columns=ColumnMap()))


def test_a_grid_of_qualtrics_is_read_without_the_questions_beside_it(tmp_path):
    grid = {
        f"Q3_{n}": (f"Avalie: - {text}", f"QID3_{n}", RATED[n % 2])
        for n, text in enumerate((*WH, *SENTENCES[:2]), start=1)
    }
    about = {
        "Q1": ("Aceita participar deste estudo?", "QID1", ("1",) * 5),
        "Q2": ("Quantos anos estudou português na escola?", "QID2", ("12", "14", "16", "11", "18")),
    }
    came = qualtrics(tmp_path, about | grid)
    (reading,) = came.readings
    assert reading.roles["answers"] == tuple(grid)
    assert {*about} <= {*reading.unused}
    assert {one.item for one in came.judgments} == {*WH, *SENTENCES[:2]}
    assert {one.session_seconds for one in came.judgments} == {317, 290, 402, 388, 351}
