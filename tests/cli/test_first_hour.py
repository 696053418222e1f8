"""The first hour of a stranger: a try with --limit, the full run, a corrected sentence, a table."""

from __future__ import annotations

import csv
import io
import json
import shutil
from importlib.resources import files
from pathlib import Path

import openpyxl
import pytest

from tests.helpers.command_line import invoke

PAIRS = """good\tbad\tFrequenza
Le chiavi sono qui.\tLe chiavi è qui.\t3,5
Il gatto dorme.\tIl gatto dormono.\t4
Le luci erano accese.\tLe luci era accese.\t2,75
I treni partono.\tI treni parte.\t5,1
La neve cade.\tLa neve cadono.\t4,0
Maria canta bene.\tMaria cantano bene.\t3,3
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("coppie.tsv").write_text(PAIRS, "utf-8")
    return tmp_path


def run(*arguments: str) -> None:
    assert invoke(["run", "coppie.tsv", "--language", "it", *arguments]) == 0


@pytest.fixture
def tried_corrected_and_run_again(capsys):
    run("-m", "demo-causal", "--limit", "3")
    run("-m", "demo-causal")
    Path("coppie.tsv").write_text(PAIRS.replace("accese", "spente"), "utf-8")
    run("-m", "demo-causal")
    capsys.readouterr()


@pytest.mark.usefixtures("tried_corrected_and_run_again")
def test_a_table_tells_tries_full_runs_and_versions_apart(capsys):
    assert invoke(["report", "runs", "-o", "table.csv", "--table", "results"]) == 0
    rows = list(csv.reader(io.StringIO(Path("table.csv").read_text("utf-8"))))
    header = rows[0]

    assert header[:2] == ["suite", "n"]
    assert any("demo-causal_first_3_items" in name for name in header)
    assert len({row[0] for row in rows[1:3]}) == 2  # a name for each version
    capsys.readouterr()
    assert invoke(["report", "runs", "--table", "results"]) == 0
    assert "Not on the whole suite: demo-causal (first 3 items) on the first 3 items" in (
        capsys.readouterr().out
    )
    assert invoke(["compare", "runs"]) == 0


def test_methods_say_who_was_asked_what(capsys):
    run("-m", "demo-causal", "--limit", "3")
    run("-m", "demo-masked")
    capsys.readouterr()
    assert invoke(["cite", "runs", "--methods"]) == 0
    paragraph = " ".join(capsys.readouterr().out.split())

    assert "the first 3 items in 2 conditions (demo-causal)" in paragraph
    assert "6 items in 2 conditions (demo-masked)" in paragraph


@pytest.mark.parametrize(
    ("limit", "intervals"),
    [
        ("30", "(Student's t, used for fewer than 8)"),
        ("100", "(studentized bootstrap (Hall 1988), used for 8 to 200 of them)"),
    ],
)
def test_methods_name_the_intervals_that_were_made(limit, intervals, capsys):
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--limit", limit]) == 0
    capsys.readouterr()
    assert invoke(["cite", "runs", "--methods"]) == 0
    paragraph = " ".join(capsys.readouterr().out.split())

    assert f"with 95% intervals over items {intervals} and Holm-corrected p" in paragraph


def test_predictions_go_by_their_names_wherever_they_are_shown(capsys):
    command = ["it-subject-verb", "-m", "demo-causal", "-m", "demo-masked", "--limit", "6"]
    assert invoke(["run", *command]) == 0
    for arguments in (
        ["judge", "runs", "--items"],
        ["compare", "runs", "--every-question"],
        ["report", "runs", "--table", "covariates"],
        ["run", *command, "--junit", "junit.xml"],
    ):
        capsys.readouterr()
        assert invoke(arguments) == 0
        out = capsys.readouterr().out
        assert "number" in out
        assert "prediction 0" not in out
    for form in ("csv", "md"):
        assert invoke(["report", "runs", "-o", f"e.{form}"]) == 0
        assert "prediction 0" not in Path(f"e.{form}").read_text("utf-8")
    assert invoke(["export", "runs", "--to", "r", "-o", "r"]) == 0
    for name in ("outcomes.csv", "estimates.csv"):
        assert "prediction 0" not in (Path("r") / name).read_text("utf-8")
    assert "prediction 0" not in Path("junit.xml").read_text("utf-8")


def test_decimal_commas_are_numbers_in_r():
    run("-m", "demo-causal")
    assert invoke(["export", "runs", "--to", "r", "-o", "r"]) == 0
    for name in ("sentences.csv", "scores.csv"):
        rows = csv.DictReader(io.StringIO((Path("r") / name).read_text("utf-8")))
        assert [float(row["Frequenza"]) for row in rows][:6] == [3.5, 3.5, 4, 4, 2.75, 2.75]


def test_a_check_goes_on_past_a_table_that_is_in_no_format(capsys):
    Path("altro.tsv").write_text("uno\tdue\n1\t2\n", "utf-8")
    assert invoke(["suites", "check", "altro.tsv", "coppie.tsv", "--language", "it"]) == 2
    said = capsys.readouterr().err
    assert "altro.tsv" in said
    assert "coppie.tsv: 0 errors" in said


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("copie.tsv", "Did you mean 'coppie.tsv'?"),
        ("lontano/coppie.tsv", "There is no folder lontano either."),
        ("xyz.xlsx", "has a name like it."),
        ("", "its name is empty"),
        ("blimp_adjunct_island", "`cimento suites get blimp`"),
    ],
)
def test_a_name_that_leads_nowhere_gets_a_hint(name, hint, capsys):
    assert invoke(["run", name, "-m", "demo-causal"]) == 2
    said = capsys.readouterr().err
    assert hint in said
    assert "it-acceptability" not in said


def test_names_that_share_only_their_suffix_are_not_suggested(capsys):
    for name in ("ru.xlsx", "es.xlsx", "nostro.xlsx"):
        Path(name).write_bytes(b"")
    assert invoke(["suites", "check", "nosuch.xlsx"]) == 2
    said = capsys.readouterr().err
    assert "has a name like it." in said
    assert "Did you mean" not in said
    assert invoke(["suites", "check", "nostr.xlsx"]) == 2
    assert "Did you mean 'nostro.xlsx'?" in capsys.readouterr().err


def test_a_plan_says_by_its_exit_code_that_a_model_cannot_be_asked(capsys):
    assert invoke(["plan", "coppie.tsv", "-m", "nowhere/at-all", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["models"][0]["problem"]
    assert invoke(["plan", "coppie.tsv", "-m", "nowhere/at-all", "-m", "demo-causal"]) == 3
    assert invoke(["plan", "coppie.tsv", "-m", "demo-causal"]) == 0


def test_a_pair_that_differs_in_more_words_than_the_others_is_named(capsys):
    changed = PAIRS.replace("Il gatto dormono", "Il cane dormono")
    Path("coppie.tsv").write_text(changed, "utf-8")
    assert invoke(["suites", "check", "coppie.tsv", "--language", "it"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if "CIM-S058" in line]
    assert "item 2" in line
    assert "2 words differ" in line
    Path("coppie.tsv").write_text(PAIRS, "utf-8")
    assert invoke(["suites", "check", "coppie.tsv", "--language", "it"]) == 0
    assert "CIM-S058" not in capsys.readouterr().out


def test_a_design_with_one_phenomenon_has_no_average(capsys):
    folder = Path(str(files("cimento"))) / "data" / "suites" / "it-islands"
    source = (folder / "items.tsv").read_text("utf-8").splitlines()
    whether = [line for line in source[1:] if line.startswith("whether-")]
    Path("isole").mkdir()
    shutil.copy(folder / "suite.toml", "isole")
    Path("isole/items.tsv").write_text("\n".join([source[0], *whether, ""]), "utf-8")
    assert invoke(["run", "isole", "-m", "demo-causal", "--limit", "6"]) == 0
    out = capsys.readouterr().out
    assert "whether" in out
    assert "Average" not in out


def test_unknown_words_are_one_line_and_the_reason_is_the_true_one(capsys):
    Path("counts.tsv").write_text("▁il\t10\n▁la\t8\n", "utf-8")
    command = ["run", "it-acceptability", "-m", "demo-causal", "--limit", "12"]
    assert invoke([*command, "--measure", "slor", "--unigrams", "counts.tsv"]) == 3
    out = capsys.readouterr().out

    [line] = [line for line in out.splitlines() if "is not in the unigram counts" in line]
    assert "12 sentences without a value: a token is not in the unigram counts: " in line
    assert "more" in line
    assert "no sentence has both a rating and a score" in out
    assert invoke([*command, "--bos", "none", "-o", "without"]) == 3
    shown = capsys.readouterr().out
    assert "12 sentences without a value: first token without left context" in shown
    assert "no sentence has a rating\n" not in shown


def test_faults_with_one_message_are_counted_after_the_third(capsys):
    assert invoke(["suites", "new", "factorial", "isole.xlsx"]) == 0
    book = openpyxl.load_workbook("isole.xlsx")
    for row in book["items"].iter_rows(min_row=2):
        row[2].value = row[2].value.replace(" |", "")
    book.save("isole.xlsx")
    capsys.readouterr()
    assert invoke(["suites", "check", "isole.xlsx"]) == 2
    output = capsys.readouterr()
    assert output.out.count("CIM-S013") == 3
    assert "\n  ... and 9 more like it, the last at isole.xlsx, sheet items, row 13" in output.out
    assert "isole.xlsx: 12 errors" in output.err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--fail-under", "90"), "got '90'. It is a share between 0 and 1: did you mean 0.9?"),
        (("--fail-under", "900"), "got '900'. It is a share between 0 and 1."),
        (("--limit", "0"), "got '0'. Give 1 or more."),
        (("--limit", "ten"), "got 'ten'. Give a whole number."),
        (("--set", "k=ten"), "got 'ten'. Give a whole number."),
        (("--timeout", "x"), "got 'x'. Give a number."),
        (("--dtype", "bf16", "-m", "openai:http://127.0.0.1:9/v1#x"), "a server has its own"),
        (("--device", "cuda", "-m", "openai:http://127.0.0.1:9/v1#x"), "a server has its own"),
        (("--dtype", "bf16", "-m", "kenlm:x.arpa"), "an n-gram model has none"),
    ],
)
def test_a_value_that_cannot_be_taken_is_answered_in_plain_words(given, message, capsys):
    model = () if "-m" in given else ("-m", "demo-causal")
    assert invoke(["run", "it-idioms", *model, *given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("name", "near"),
    [("islands", "'it-islands'"), ("clitic", "'it-clitic-participle'"), ("zzz", "")],
)
def test_an_unknown_suite_is_answered_with_the_nearest_and_not_with_all(name, near, capsys):
    assert invoke(["run", name, "-m", "demo-causal"]) == 2
    message = capsys.readouterr().err
    assert near in message
    assert "cimento suites list" in message
    assert "en-filler-gap" not in message


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["analyse", "runs"], "Did you mean 'analyze'?"),
        (["report", "runs", "--figure", "interaction", "--grey"], "--gray"),
        (["report", "runs", "--site", "s", "--licence", "CC0"], "--license"),
        (["report", "runs", "--analyse"], "--analyze"),
        (["suites", "convert", "it-islands", "--to", "lm-eval", "-o", "x"], "with --allow-loss."),
    ],
)
def test_the_spelling_or_the_flag_that_is_meant_is_named(given, meant, capsys):
    assert invoke(given) == 2
    assert meant in capsys.readouterr().err


def test_one_run_is_explained_whatever_a_pattern_matches(runs_of_every_kind, capsys):
    paths = [str(path.parent) for path in sorted(runs_of_every_kind.rglob("manifest.json"))]
    for given in ([str(runs_of_every_kind)], paths[:2]):
        assert invoke(["analyze", "attribution", *given]) == 2
        message = capsys.readouterr().err
        assert "runs, and one is explained at a time. Give one of them: " in message
        assert paths[0] in message


def test_an_import_of_an_unclear_file_says_what_the_forms_are(capsys):
    command = ["annotate", "import", "answers.csv", "--names", "keep", "-o", "judgments.csv"]
    Path("answers.csv").write_text("notes\nnothing\n", "utf-8")
    assert invoke(command) == 2
    message = capsys.readouterr().err
    for form in ("long: a table with one answer a row", "wide:", "jspsych,", "pcibex,"):
        assert form in message
    assert not Path("judgments.csv").exists()
    Path("answers.csv").write_text("participant,item,rating\nP1,1,5\n", "utf-8")
    assert invoke(command) == 0
    assert 'answer = "rating", item = "item"; 1 judgment of 1 person.' in capsys.readouterr().err


def test_stories_fit_a_terminal_and_blanks_are_counted_in_words(capsys):
    asked = ["it-stories", "it-connectives-cloze", "-m", "demo-masked", "-m", "demo-causal"]
    assert invoke(["run", *asked, "--limit", "3", "--set", "shots=0", "-o", "runs"]) in (0, 3)
    out = capsys.readouterr().out
    tables = [line for line in out.splitlines() if line.startswith("  ")]
    assert "always false  always true  first option  chance" in out
    assert max(map(len, tables)) <= 160
    stories = out[out.index("Right at this tier") : out.index("Flow of")]
    assert max(map(len, stories.splitlines())) <= 100
    assert "whole words" in out
    assert "that only continue" in out


def isole(path: Path, change: dict[int, list[str]] | None = None) -> Path:
    """A design as people make it: an item in merged cells, a column for each factor, no name."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Item", "Distanza", "Struttura", "Frase", "Note"])
    who = ("il sarto", "la sarta", "il fabbro", "la guida", "il cuoco", "la cuoca")
    for number, name in enumerate(who):
        rows = (
            ("corta", "non isola", f"Chi pensa che {name} abbia visto la piazza?"),
            ("lunga", "non isola", f"Che cosa pensi che {name} abbia visto?"),
            ("corta", "isola", f"Chi si chiede se {name} abbia visto la piazza?"),
            ("lunga", "isola", f"Che cosa ti chiedi se {name} abbia visto?"),
        )
        for row in rows:
            sheet.append([number + 1, *row])
        first = 2 + 4 * number
        sheet.merge_cells(start_row=first, end_row=first + 3, start_column=1, end_column=1)
    for place, cells in (change or {}).items():
        for column, cell in enumerate(cells, start=2):
            sheet.cell(place, column).value = cell
    book.save(path)
    return path


def test_two_crossed_columns_are_a_design_without_a_column_of_conditions(capsys):
    isole(Path("isole.xlsx"))
    assert invoke(["run", "isole.xlsx", "--language", "it", "-m", "demo-causal"]) == 0
    out = capsys.readouterr().out
    assert "isole (it), 6 items" in out
    assert invoke(["show", "runs/isole"]) == 0
    out = capsys.readouterr().out
    for condition in ("corta_non-isola", "lunga_non-isola", "corta_isola", "DD > 0"):
        assert condition in out
    # An item that has a combination twice is named with its row.
    isole(Path("rotte.xlsx"), {3: ["corta", "non isola", "Che cosa pensi che abbia visto?"]})
    assert invoke(["suites", "check", "rotte.xlsx"]) == 2
    out = capsys.readouterr().out
    assert "CIM-S012 rotte.xlsx row 3, item 1, condition corta_non-isola" in out
    assert "in rows 2 and 3, and lacks lunga_non-isola. Did you mean lunga_non-isola in" in out


@pytest.mark.parametrize(
    "header", ["Giudizio medio", "Valutazione", "Mean rating", "Promedio", "Средняя оценка"]
)
def test_a_mean_of_ratings_is_a_rating_whatever_it_is_called(header, capsys):
    rows = [("Il cane dorme.", "6,8"), ("Cane il dorme.", "1,2"), ("Piove da ieri.", "6,1")]
    lines = [f"Frase;{header}", *(";".join(row) for row in rows)]
    Path("giudizi.csv").write_text("\n".join(lines), "utf-8")
    assert invoke(["suites", "check", "giudizi.csv", "--language", "it"]) == 0
    assert "3 items" in capsys.readouterr().err


def test_a_table_of_blanks_runs_as_it_is(capsys):
    book = openpyxl.Workbook()
    book.active.append(["Frase", "Risposta attesa", "Alternative sbagliate", "Fonte"])
    book.active.append(["Pioveva, ___ siamo usciti.", "ma", "perché | quindi", "tema 1"])
    book.active.append(["Resto a casa ___ piove.", "perché", "ma", "tema 2"])
    book.save("lacune.xlsx")
    assert invoke(["suites", "check", "lacune.xlsx"]) == 0
    shown = "".join(capsys.readouterr())
    assert "2 items, 2 with an expected answer" in shown
    assert "--language CODE (en, es, it" in shown
    asked = ["lacune.xlsx", "--language", "it", "-m", "demo-masked"]
    assert invoke(["run", *asked]) == 0
    out = capsys.readouterr().out
    assert "lacune x demo-masked" in out
    assert "forced choice" in out
    assert "language" not in out


def test_a_table_of_blanks_under_other_headers_says_what_to_call_them(capsys):
    Path("lacune.csv").write_text("Frase;Vuoto\nPioveva, ___ usciamo.;ma\n", "utf-8")
    assert invoke(["suites", "check", "lacune.csv"]) == 2
    assert "say so: --columns 'sentence=Frase,target=Vuoto'" in capsys.readouterr().err


WIDE = ("Corta non isola", "Lunga non isola", "Corta isola", "Lunga isola")
CELLS = (
    "Chi pensa che il sarto abbia visto la piazza?",
    "Che cosa pensi che il sarto abbia visto?",
    "Chi si chiede se il sarto abbia visto la piazza?",
    "Che cosa ti chiedi se il sarto abbia visto?",
)


def test_columns_named_by_two_levels_in_words_are_a_design(capsys):
    lines = [";".join(("N", *WIDE)), ";".join(("1", *CELLS))]
    Path("larga.csv").write_text("\n".join(lines), "utf-8")
    assert invoke(["suites", "check", "larga.csv", "--language", "it"]) == 0
    assert "expected to be the least acceptable: Lunga_isola" in capsys.readouterr().err


def test_a_table_that_is_not_understood_says_what_it_needs(capsys):
    lines = ("Le rose sono rosse.;Le rose è rosse.", "Piove.;Piovono.")
    Path("tabella.csv").write_text("\n".join(lines), "utf-8")
    assert invoke(["suites", "check", "tabella.csv"]) == 2
    assert "first row holds a sentence" in capsys.readouterr().err


def test_a_label_of_two_words_is_read_as_a_label(capsys):
    lines = ("frase;accettabile", "Le rose sono rosse.;sì", "Le rose è rosse.;no")
    Path("tabella.csv").write_text("\n".join(lines), "utf-8")
    assert invoke(["suites", "check", "tabella.csv", "--language", "it"]) == 0
    said = " ".join("".join(capsys.readouterr()).split())
    assert "'sì' is acceptable, and rated 1; 'no' is not" in said


def test_ninety_notes_of_one_kind_are_three_and_a_count(capsys):
    rows = [f"Le chiavi {k % 4} sono qui.\tLe chiavi {k % 4} è qui." for k in range(40)]
    Path("generate.tsv").write_text("\n".join(["good\tbad", *rows]), "utf-8")
    assert invoke(["run", "generate.tsv", "--language", "it", "-m", "demo-causal"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("CIM-S052 item") <= 3
    assert "more of this kind: `cimento suites check SUITE` lists all." in out
    assert invoke(["report", "runs", "-o", "page.html"]) == 0
    page = Path("page.html").read_text("utf-8")
    assert page[: page.index('id="provenance"')].count("CIM-S052 item") <= 3


def test_a_figure_of_tokens_names_the_runs_and_the_items_to_choose_from(capsys):
    run("-m", "demo-causal", "--limit", "6")
    capsys.readouterr()
    assert invoke(["report", "runs", "--figure", "tokens", "-o", "tokens.svg"]) == 2
    assert "Add --item ID, one of: 1, 2, 3, 4 ..." in capsys.readouterr().err
    run("-m", "demo-masked", "--limit", "6")
    capsys.readouterr()
    assert invoke(["report", "runs", "--figure", "tokens", "--item", "1", "-o", "tokens.svg"]) == 2
    assert "runs/coppie/demo-causal" in capsys.readouterr().err
