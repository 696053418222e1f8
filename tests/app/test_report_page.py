"""The report in the languages of the app: all of it that is not headed as English, same numbers."""

import json
import re
import tomllib
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

import cimento
from cimento.app.conclusions import results_beside
from cimento.app.report_page import page_language, report_page
from cimento.app.words import LANGUAGES, words
from cimento.cli.main import invoke
from cimento.documents import sections_of
from cimento.kinds.run import open_runs
from cimento.records.blanks import Reach
from cimento.report.formatting import with_minus
from cimento.report.html import asset
from cimento.report.items import said_by
from cimento.report.language import ENGLISH, figure_in

OTHERS = [code for code in LANGUAGES if code != "en"]
REPORT = tomllib.loads(
    (Path(cimento.__file__).parent / "data" / "report.toml").read_text(encoding="utf-8")
)
RATED = (
    "Frase;Média;DP;N.º de avaliadores\n"
    "A menina comeu o bolo.;6,8;0,4;24\n"
    "O bolo comeu a menina.;3,1;1,6;24\n"
    "As meninas comeu o bolo.;3,9;1,8;23\n"
    "Nós vai ao mercado amanhã.;2,6;1,5;24\n"
    "Ninguém não viu o acidente.;2,2;1,2;22\n"
    "O livro que ela leu é antigo.;6,5;0,7;24\n"
)


class Page(HTMLParser):
    """The texts of a page that are not headed as English, and those that are marked as English."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.english, self._open = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "link", "br", "input"):
            apart = tag in ("style", "script", "code")
            kind = "apart" if apart or (tag == "div" and ("lang", "en") in attributes) else ""
            kind = "english" if tag == "span" and ("lang", "en") in attributes else kind
            self._open.append((tag, kind))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        kinds = {kind for _, kind in self._open}
        if data.strip() and "apart" not in kinds:
            (self.english if "english" in kinds else self.texts).append(" ".join(data.split()))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    (folder / "notas.csv").write_text(RATED, encoding="utf-8")
    both = ["-m", "demo-causal", "-m", "demo-masked", "-o", str(folder / "runs")]
    suites = ["it-subject-verb", "it-subject-verb-adversarial", "it-islands", "pt-collocations"]
    assert invoke(["run", *suites, "--limit", "15", *both]) == 0
    assert invoke(["run", str(folder / "notas.csv"), "--language", "pt", *both]) == 0
    return open_runs([folder / "runs"])


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_a_report_has_no_english_but_what_is_headed_so(runs, code):
    page = Page(report_page(runs, code))
    # How a table was read is said in English, and marked so.
    assert [text for text in page.english if not text.startswith("Read as ")] == []
    assert f'<html lang="{code}">' in report_page(runs, code)
    said = " ".join(page.texts)
    # The comments of suites are those of their authors.
    words_of_pages = (
        "Overview", "Accuracy", "chance", "Intervals", "predictions", "Rates", "Search", "Verdict",
        "fail", "surprisal in bits", "Arrow keys",
    )  # fmt: skip
    for english in words_of_pages:
        assert re.search(rf"(?<![\w-]){english}(?![\w-])", said) is None, english


@pytest.mark.slow
def test_the_items_of_a_report_are_in_its_language(runs):
    block = re.search(r'id="item-data">(.*?)</script>', report_page(runs, "it"), re.DOTALL)
    data = json.loads(block[1])
    assert data["says"]["{count} of {all} items"] == "Item: {count} di {all}"
    remarks = {data["words"][name] for item in data["items"] for name, _ in item[10]}
    assert any(name.startswith("rango nel modello") for name in remarks)
    assert not any(name.startswith("rank") for name in remarks)
    units = {data["words"][item[5]] for item in data["items"]}
    assert units <= {"", "bit", "nat", "dei ranghi"}
    english = re.search(r'id="item-data">(.*?)</script>', report_page(runs, "en"), re.DOTALL)
    assert "says" not in json.loads(english[1])


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_of_the_script_of_items_is_known(code):
    language = page_language(code)
    script = asset("items.js")
    texts = said_by(script, ENGLISH)
    assert len(texts) > 20
    assert [text for text in texts if language.known(text) is None] == []
    assert len(re.findall(r"\bsay\(", script)) == script.count('say("') + len(
        re.findall(r"\bsay\((?:verdict|value|item\.verdict|data\.words\[mark\])\)", script)
    )


def numbers(page):
    """The numbers in the tables of a page, without marks between thousands."""
    found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page, re.DOTALL)
    bare = (unescape(re.sub(r"<svg.*?</svg>|<[^>]*>", " ", cell)) for cell in found)
    cells = (re.sub(r"[^\W\d][\w@.-]*", " ", cell) for cell in bare)
    plain = (cell.replace("\u202f", "").replace("−", "-") for cell in cells)
    return [re.sub(r"^\.", "0.", number.replace(",", "."))
            for cell in plain for number in re.findall(r"-?\d*[.,]?\d+", cell)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("code", ["it", "ru"])
def test_the_numbers_are_those_of_the_english_report(runs, code):
    english, other = (report_page(runs, one).partition('id="items"')[0] for one in ("en", code))
    ours, theirs = numbers(other), numbers(english)
    assert len(ours) > 300
    assert ours == theirs


@pytest.mark.slow
def test_figures_have_titles_and_decimal_commas_of_the_language(runs):
    figures = [one for section in sections_of(runs) for one in section.figures]
    scatter = next(one for one in figures if one.name == "scatter")
    told = figure_in(scatter, page_language("pt"))
    assert "avaliação das pessoas" in told.svg()
    assert "rating, by people" in scatter.svg()
    assert told.frame.equals(scatter.frame)
    margins = figure_in(next(one for one in figures if one.name == "margins"), page_language("it"))
    assert "a favore" in margins.svg()
    assert "in favor<" not in margins.svg()
    assert figure_in(scatter, ENGLISH) is scatter


@pytest.mark.slow
def test_the_window_says_of_each_run_what_the_report_says(runs):
    page = report_page(runs, "es")
    say = words("es")
    for result in results_beside([run.folder for run in runs]):
        assert with_minus(result.sentence(say)) in unescape(page)


@pytest.mark.parametrize("code", OTHERS)
def test_what_is_so_of_every_run_is_said_once_and_the_rest_of_each(runs, code):
    say = words(code)
    pairs = [run for run in runs if run.suite.name == "it-subject-verb"]
    assert len(pairs) == 2
    for shown in (pairs, pairs[:1]):
        said = " ".join(Page(report_page(shown, code)).texts)
        for of_all in (say("read.span"), say("read.alone_each")):
            assert said.lower().count(of_all.lower()) == 1
        tests = said.count(say("read.exact", p="").strip(" ;"))
        assert tests == len(shown)
        for run in shown:
            [headline] = [one for one in run.estimates() if one.role == "headline"]
            right = say("read.right", right=f"{headline.right}", n=f"{headline.n}")
            assert right in said


@pytest.mark.parametrize("code", OTHERS)
def test_every_label_is_in_every_language_once(code):
    labels = REPORT["label"]
    english = [texts["en"] for texts in labels]
    assert len(english) == len({*english})
    assert [texts["en"] for texts in labels if not texts.get(code, "").strip()] == []
    named = ("DD", "n", "p", "z", "hit@1", "story_class")
    if code == "ru":
        latin = [one["en"] for one in labels if not re.search("[а-яё]", one["ru"], re.IGNORECASE)]
        assert [one for one in latin if one not in (*named, "95%")] == []


def test_names_and_numbers_of_tables_are_not_taken_for_sentences():
    language = page_language("it")
    assert language.numbers("−0.063 [−0.513, 0.414]") == "−0,063 [−0,513; 0,414]"
    assert language.numbers("1,234 < .001") == "1\u202f234 < 0,001"
    assert language.cell("demo-0.5B") == "demo-0.5B"
    assert language.cell("[-0.5, 0.25]") == "[−0,5; 0,25]"
    assert language.named("my condition") == "my condition"
    assert str(language.say("A sentence of nobody.")) == (
        '<span lang="en">A sentence of nobody.</span>'
    )
    assert language.say("Intervals (95%): Wilson; Student's t.") == (
        "Intervalli (95%): Wilson; t di Student."
    )


def test_only_a_page_is_in_a_language(tmp_path, capsys):
    assert invoke(["report", str(tmp_path), "--table", "results", "--language", "it"]) == 2
    assert "has no effect with --table" in capsys.readouterr().err


@pytest.mark.parametrize("code", OTHERS)
def test_what_an_author_wrote_is_never_translated_in_part(code):
    language = page_language(code)
    own = "The verb that agrees is less surprising than one of the other number."
    assert language.of_suite(own) == own
    assert language.of_suite("short_isle is less surprising than long_isle.").startswith("short_is")
    assert "surprising" not in language.of_suite("short_isle is less surprising than long_isle.")


WHY = "scores of causal and masked models are on different scales"
WHY_IN_SPANISH = "los valores de los modelos causales y enmascarados están en escalas distintas"


@pytest.mark.parametrize(
    ("english", "spanish"),
    [
        (
            f"Not computed: change, p (holm) ({WHY}).",
            f"No se han calculado: cambio, p (holm) ({WHY_IN_SPANISH}).",
        ),
        ("CIM-S051 proportion of DD > 0", "CIM-S051 proporción de DD > 0"),
        (
            "Agreement of the people, Krippendorff's alpha: x.",
            "Acuerdo entre las personas, alfa de Krippendorff: x.",
        ),
    ],
)
def test_notes_with_headings_codes_and_reasons_are_in_the_language(english, spanish):
    assert page_language("es").known(english) == spanish


def test_a_remark_with_its_place_is_in_the_language():
    english = (
        "CIM-S058 a.csv row 6, item 5, condition bad: 2 words differ from condition 'good' (a/b);"
        " in nearly all items 1 at most."
    )
    assert page_language("es").known(english) == (
        "CIM-S058 a.csv, fila 6, ítem 5, condición bad: 2 palabras difieren de la condición 'good'"
        " (a/b); en casi todos los ítems 1 como mucho."
    )


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(("found", "shown"), [(3, "3"), (0, "10")])
def test_answers_that_cannot_be_found_are_said_below_hits_in_the_language(code, found, shown):
    told = page_language(code).known(Reach(found, 10).said("lacunas", "demo-causal@91bca5d"))
    assert told is not None
    assert told.startswith("lacunas, demo-causal@91bca5d: ")
    assert shown in told
    assert "hit" in told
