"""Yes, no and choices as people write them: whatever the language, every answer counts."""

import csv
import io

import pytest

from cimento.cli.main import invoke
from cimento.judgments import ACCEPTABILITY, ACCEPTABLE, Judgment, read_judgments
from cimento.judgments.yes_no import with_yes_or_no, yes_or_no
from cimento.kinds.registry import load_suite

PAIRS = [
    ("Le finestre erano aperte.", "Le finestre era aperte."),
    ("La città è bella.", "La città è bello."),
    ("I bambini dormono già.", "I bambini dorme già."),
]


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "verbi.csv"
    path.write_text("good,bad\n" + "".join(f"{a},{b}\n" for a, b in PAIRS), encoding="utf-8")
    return path


def form(path, header, rows):
    """A table as form programs export it, with eight people."""
    out = io.StringIO()
    csv.writer(out).writerows([["Timestamp", "Code", *header], *rows])
    path.write_text(out.getvalue(), encoding="utf-8")
    return str(path)


def person(number, answers):
    return [f"2026/03/02 10:0{number}:11", f"s{number}", *answers]


def cells(folder, column):
    """The cells of a column of a suite, by item and condition."""
    with (folder / "items.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["item"], row["condition"]): row[column] for row in rows}


@pytest.mark.parametrize(
    ("yes", "no"),
    [("Yes", "No"), ("Sì", "No"), ("sì", "no"), ("SI", "NO"), ("Sí", "No"), ("Sim", "Não"),
     ("Да", "Нет"), ("Sì.", "no!")],
)  # fmt: skip
@pytest.mark.parametrize("fixed", [[], ["--fixed", "question=acceptable"]])
def test_yes_and_no_of_a_form_are_all_counted(suite, tmp_path, yes, no, fixed):
    header = [sentence for pair in PAIRS for sentence in pair]
    given = {n: [yes if (n + k) % 3 else no for k in range(6)] for n in range(8)}
    answers = form(tmp_path / "f.csv", header, [person(n, row) for n, row in given.items()])
    judged, out = str(tmp_path / "j.csv"), tmp_path / "rated"
    command = ["annotate", "import", answers, "--suite", str(suite), "--names", "keep", *fixed]
    assert invoke([*command, "-o", judged]) == 0
    assert set(read_judgments(tmp_path / "j.csv")["question"]) == {ACCEPTABLE}
    assert (
        invoke(["annotate", "apply", str(suite), judged, "--language", "it", "-o", str(out)]) == 0
    )
    expected = {
        (str(k // 2 + 1), ("good", "bad")[k % 2]): "; ".join(
            "1" if row[k] == yes else "0" for row in given.values()
        )
        for k in range(6)
    }
    assert cells(out, "ratings") == expected


def test_a_choice_counts_for_the_sentence_that_was_chosen(suite, tmp_path):
    """The question may be named by one of the sentences of its pair."""
    rows = [
        person(n, [bad if (n + k) % 4 == 0 else good for k, (good, bad) in enumerate(PAIRS)])
        for n in range(8)
    ]
    answers = form(tmp_path / "f.csv", ["1/good", "2/bad", "3/good"], rows)
    judged, out = str(tmp_path / "j.csv"), tmp_path / "chosen"
    command = ["annotate", "import", answers, "--suite", str(suite), "--names", "keep"]
    assert invoke([*command, "--fixed", "question=which is better", "-o", judged]) == 0
    assert (
        invoke(["annotate", "apply", str(suite), judged, "--language", "it", "-o", str(out)]) == 0
    )
    assert cells(out, "chosen_by") == {
        (str(item), condition): count
        for item in (1, 2, 3)
        for condition, count in (("good", "6"), ("bad", "2"))
    }
    assert load_suite(out).sentences is not None


def test_ratings_of_which_many_are_words_are_refused_and_a_few_are_counted(suite, tmp_path, capsys):
    header = [pair[0] for pair in PAIRS]

    def applied(rows, name):
        table = [["annotator", "sentence", "answer"]]
        table += [[row[1], s, a] for row in rows for s, a in zip(header, row[2:], strict=True)]
        answers, judged = str(tmp_path / f"{name}.csv"), str(tmp_path / f"{name}-j.csv")
        with open(answers, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123
            csv.writer(file).writerows(table)
        command = ["annotate", "import", answers, "--suite", str(suite), "--names", "keep"]
        assert invoke([*command, "--form", "long", "-o", judged]) == 0
        capsys.readouterr()
        command = ["annotate", "apply", str(suite), judged, "--language", "it", "--scale", "1,5"]
        return invoke([*command, "-o", str(tmp_path / name)]), capsys.readouterr().err

    good = [person(n, ["5", "4", "5"]) for n in range(8)]
    code, said = applied([*good, person(8, ["boh", "4", "4"])], "few")
    assert code == 0
    assert "1 skipped: a rating is not a number" in said
    worded = [person(n, ["ottima", "4", "5"]) for n in range(4, 8)]
    code, said = applied([*good[:4], *worded], "many")
    assert code == 2
    assert "4 of 24 are not numbers, such as 'ottima'" in said
    assert not (tmp_path / "many").exists()


def test_ratings_are_not_yes_or_no_unless_all_are():
    rated = [Judgment(suite="s", item=str(n), annotator="a", value=v) for n, v in enumerate("15")]
    words = [Judgment(suite="s", item="9", annotator="a", value="no")]
    assert with_yes_or_no([*rated, *words]) == ((*rated, *words), False)
    # One answer alone may be a word of a scale.
    assert with_yes_or_no(words) == ((*words,), False)
    assert {one.question for one in rated} == {ACCEPTABILITY}


def test_other_words_are_neither():
    assert [yes_or_no(word) for word in ("forse", "", None, "non so", "nonno", "1")] == [None] * 6
