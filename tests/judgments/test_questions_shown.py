"""What import says of the questions of a long form, and what it lists on request."""

from __future__ import annotations

import csv

import pytest

from cimento.judgments import how_read
from tests.helpers.command_line import invoke

QUESTION = "Quanto ti sembrano naturali queste frasi, da 1 (per niente) a 5 (del tutto)?"
PAIRS = [
    ("Le finestre erano aperte.", "Le finestre era aperte."),
    ("La città è bella.", "La città è bello."),
    ("I bambini dormono già.", "I bambini dorme già."),
    ("Tutti hanno capito.", "Tutti ha capito."),
    ("La zia prepara la cena.", "La zia preparano la cena."),
    ("I treni partono in orario.", "I treni parte in orario."),
    ("Le case sono vecchie.", "Le case sono vecchi."),
]
FILLERS = [f"Il numero {word} viene prima degli altri." for word in (
    "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove", "dieci", "undici",
)]  # fmt: skip
OTHERS = ["Qual è la tua lingua madre?", "Commenti"]


@pytest.fixture
def files(tmp_path):
    """The sheet of pairs, and the export of a grid with fillers beside their sentences."""
    sheet = tmp_path / "pairs.tsv"
    lines = ["item\tgood\tbad"]
    lines += [f"{n}\t{good}\t{bad}" for n, (good, bad) in enumerate(PAIRS, start=1)]
    sheet.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{QUESTION} [{text}]" for pair in PAIRS for text in pair]
    rows += [f"{QUESTION} [{text}]" for text in FILLERS]
    form = tmp_path / "form.csv"
    with form.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Informazioni cronologiche", "Codice", *OTHERS, *rows])
        for k, who in enumerate(("p1", "p2", "p3")):
            ratings = [1 + (k + n) % 5 for n in range(len(rows))]
            writer.writerow([f"2026/03/0{k + 1} 10:02:11", who, "italiano", "", *ratings])
    return form, sheet


def imported(files, tmp_path, *more, ending="csv"):
    form, sheet = files
    output = tmp_path / f"answers.{ending}"
    command = ["annotate", "import", str(form), "--suite", str(sheet), "--names", "keep"]
    assert invoke([*command, "-o", str(output), *more]) == 0
    return output


def test_a_grid_is_said_by_its_rows_and_what_is_not_used_is_counted(files, tmp_path, capsys):
    imported(files, tmp_path)
    said = capsys.readouterr().err
    assert QUESTION not in said
    (line,) = [line for line in said.splitlines() if line.startswith("Read as answers")]
    assert '"[Le finestre erano aperte.]"' in line
    assert "and 11 more; 42 judgments of 3 people" in line  # 14 sentences, 3 of them named
    assert f'not used: "{OTHERS[0]}", "Commenti", "[Il numero uno' in line
    assert line.endswith("and 8 more.")  # 11 fillers, 3 of them named
    assert len(line) < 500
    assert "--details" in said


def test_details_list_every_column_with_the_sentence_that_it_was_read_as(files, tmp_path, capsys):
    imported(files, tmp_path, "--details")
    lines = [line.strip() for line in capsys.readouterr().err.splitlines()]
    for number, pair in enumerate(PAIRS, start=1):
        for condition, text in zip(("good", "bad"), pair, strict=True):
            found = [line for line in lines if line.endswith(f"{QUESTION} [{text}]")]
            assert [line.split()[0] for line in found] == [f"{number}/{condition}"]
    for name in (*OTHERS, *(f"{QUESTION} [{text}]" for text in FILLERS)):
        assert [line.split("  ")[0] for line in lines if line.endswith(f" {name}")] == ["not used"]
    for role, name in (("participant", "Codice"), ("at", "Informazioni cronologiche")):
        assert any(line.split() == [role, *name.split()] for line in lines)


def test_what_is_stored_has_the_name_of_every_column(files, tmp_path):
    stored = how_read(imported(files, tmp_path, ending="parquet"))
    texts = [*(text for pair in PAIRS for text in pair), *FILLERS]
    assert all(f'"{QUESTION} [{text}]"' in stored for text in texts)
    assert all(f'"{name}"' in stored for name in OTHERS)


def test_a_question_in_brackets_alone_keeps_its_name(files, tmp_path, capsys):
    form, _ = files
    text = form.read_text(encoding="utf-8").replace("Commenti", "La tua età [in anni]")
    form.write_text(text, encoding="utf-8")
    imported(files, tmp_path)
    assert '"La tua età [in anni]"' in capsys.readouterr().err
