"""The agreement study on recorded surprisals, against ratios computed by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cimento.cli.main import invoke

HEAD = "item\tcondition\ttext\n"
SUITES = {
    "sv": "1\tmatch\tLa barca | affonda.\n1\tmismatch_num\tLa barca | affondano.\n"
    "2\tmatch\tI fabbri | cantano.\n2\tmismatch_num\tI fabbri | canta.\n",
    "sv_adversarial": "1\tmatch\tLa barca dei pirati | affonda.\n"
    "1\tmismatch_num\tLa barca dei pirati | affondano.\n"
    "2\tmatch\tI fabbri del borgo | cantano.\n2\tmismatch_num\tI fabbri del borgo | canta.\n",
}
# Bits of the verbs; the ratio of a pair is 1 / (1 + 2 ** (S_match - S_mismatch)).
BITS = {"sv": [3.0, 5.0, 4.0, 3.0], "sv_adversarial": [3.0, 3.0, 6.0, 5.0]}
RATIOS = {"sv": (4 / 5 + 1 / 3) / 2, "sv_adversarial": (1 / 2 + 1 / 3) / 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two suites in ``italian/``, and in ``rec/`` a recording of each under names of their own."""
    for name, rows in SUITES.items():
        suite = tmp_path / "italian" / name
        suite.mkdir(parents=True)
        (suite / "items.tsv").write_text(HEAD + rows, encoding="utf-8")
        (suite / "suite.toml").write_text(
            'regions = ["subject", "verb"]\n'
            f'[meta]\nname = "{name}"\nlanguage = "it"\nlicense = "CC0-1.0"\n'
            '[[predictions]]\nformula = "(2;%match%) < (2;%mismatch_num%)"\n',
            encoding="utf-8",
        )
        record(tmp_path / "rec" / f"scores of {name}.tsv", name, rows)
    return tmp_path


def record(path: Path, name: str, rows: str) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    for sentence, (row, bits) in enumerate(
        zip(rows.splitlines(), BITS[name], strict=True), start=1
    ):
        *words, verb = row.split("\t")[2].replace(" |", "").split(" ")
        scored = [*((word, 1.0) for word in words), (verb, bits)]
        lines += [f"{sentence}\t{n}\t{word}\t{s}" for n, (word, s) in enumerate(scored, start=1)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def study(folder: Path, recording: str, *more: str) -> int:
    data, out = str(folder / "italian"), str(folder / "out")
    return invoke(["study", "agreement", "--data", data, "-m", recording, "-o", out, *more])


def rows_of(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / "out" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_ratios_of_recordings_are_those_of_their_surprisals(folder: Path) -> None:
    assert study(folder, f"replay:{folder / 'rec'}") == 0
    suites = {row["suite"]: row for row in rows_of(folder, "suites")}
    assert {name: float(row["ratio"]) for name, row in suites.items()} == pytest.approx(RATIOS)
    # They are one model: the twin is found, and the drop is the difference of the ratios.
    (twin,) = rows_of(folder, "twins")
    assert float(twin["drop"]) == pytest.approx(RATIOS["sv"] - RATIOS["sv_adversarial"])
    assert len({row["model"] for row in suites.values()}) == 1


def test_one_file_answers_for_the_suite_whose_sentences_it_holds(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Its name is that of the other suite, and its contents decide.
    wrong = folder / "sv.tsv"
    (folder / "rec" / "scores of sv_adversarial.tsv").rename(wrong)
    assert study(folder, f"replay:{wrong}") == 0
    (row,) = rows_of(folder, "suites")
    assert (row["suite"], float(row["ratio"])) == ("sv_adversarial", pytest.approx(5 / 12))
    assert "answers for 1 of 2 suites (none for sv)" in capsys.readouterr().err


def test_a_recording_in_nats_has_other_ratios(folder: Path) -> None:
    assert study(folder, f"replay:{folder / 'rec'}", "--recorded-unit", "nats") == 0
    # python -c "from math import e; print((1/(1+e**-2) + 1/(1+e)) / 2)"
    assert float(rows_of(folder, "suites")[0]["ratio"]) == pytest.approx(0.5748692)


def test_a_recording_of_nothing_that_is_asked_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "rec" / "scores of sv.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("barca", "nave"), encoding="utf-8")
    assert study(folder, f"replay:{folder / 'rec'}") == 2
    error = capsys.readouterr().err
    assert "scores of sv.tsv: it answers for none of 2 suites" in error
    assert "'nave'" in error
    (folder / "empty").mkdir()
    assert study(folder, f"replay:{folder / 'empty'}") == 2
    assert "the folder has no file" in capsys.readouterr().err
