"""Tables as people bring them, in the window: read by what they hold, proposed, and kept."""

import re

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

from cimento.app.checking import check_grid
from cimento.app.columns import heads_of, read_line, unheeded, with_role
from cimento.app.conditions import cells_in, factors_of, with_blocks, with_least
from cimento.app.describing import describe, with_plain_levels
from cimento.app.editing import set_cells
from cimento.app.opening import open_grid, write_grid
from cimento.app.pairing import with_scale
from cimento.app.proposing import Proposal, question_of, with_roles
from cimento.app.views import view_of
from cimento.app.words import LANGUAGES, message_of, said, sayings, translations, words
from cimento.kinds.registry import load_suite
from tests.helpers.app_user import texts_in, until, visit
from tests.helpers.grids import asked, grid

BLANKS = [
    ("Il contadino munge la ___ ogni mattina.", "mucca"),
    ("La porta si apre con la ___.", "chiave"),
    ("L'uccello ha fatto il ___ sul ramo.", "nido"),
]
OTHERS = [("sasso", "pane"), ("nuvola", "zuppa"), ("mare", "libro")]
DESIGN = [
    ("Chi pensi che inviti Maria?", "Chi pensi che inviti la zia che Maria conosce?",
     "Chi ti chiedi se inviti Maria?", "Chi conosci la zia che invita Maria?"),
    ("Chi dici che chiami Paolo?", "Chi dici che chiami il ragazzo che Paolo vede?",
     "Chi domandi se chiami Paolo?", "Chi vedi il ragazzo che chiama Paolo?"),
]  # fmt: skip
CELLS = ("Corta non isola", "Lunga non isola", "Corta isola", "Lunga isola")
LEVELS = (("corta", "no"), ("lunga", "no"), ("corta", "sì"), ("lunga", "sì"))


# --- Blanks


@pytest.mark.parametrize(
    "names",
    [("sentence", "expected"), ("frase", "atteso"), ("Frase", "Attesa"), ("oración", "esperada"),
     ("frase", "esperado"), ("предложение", "ожидаемое"), ("Esempio", "parola mancante")],
)  # fmt: skip
def test_sentences_with_blanks_need_no_question_whatever_their_columns_are_called(names):
    made = grid(names, *BLANKS)
    report = check_grid(made)
    assert report.usable
    assert report.read.roles == {"text": (names[0],), "target": (names[1],)}
    assert question_of(made, report.findings) is None


def test_the_menus_show_what_a_table_of_blanks_was_read_as():
    made = grid(("sentence", "expected"), *BLANKS)
    read = check_grid(made).read
    heads = heads_of(made, view_of(made, "items"), read)
    assert [head.role for head in heads] == ["sentence", "target"]
    assert read_line(read, words("it")).startswith("Letto come frasi con spazi vuoti: frasi =")
    chosen = with_roles(made, {"sentence": "sentence", "target": "expected"})
    assert unheeded(chosen, check_grid(chosen).read, words("it")) == ""


def test_several_columns_may_hold_words_that_do_not_fit():
    rows = [(*row, *others) for row, others in zip(BLANKS, OTHERS, strict=True)]
    made = grid(("Frase", "Attesa", "Colonna A", "Colonna B"), *rows)
    for column in ("Colonna A", "Colonna B"):
        made = with_role(made, column, "implausible")
    read = check_grid(made).read
    assert read.roles["implausible"] == ("Colonna A", "Colonna B")
    heads = heads_of(made, view_of(made, "items"), read)
    assert [head.role for head in heads] == ["sentence", "target", "implausible", "implausible"]
    assert unheeded(made, read, words("it")) == ""
    described = describe(made, language="it")
    assert described.described
    assert check_grid(described).usable
    assert described.items == made.items
    assert check_grid(described).read.roles["implausible"] == ("Colonna A", "Colonna B")


def test_one_column_alone_has_another_role():
    made = with_role(grid(("Frase", "A", "B"), *((*row, "no") for row in BLANKS)), "A", "target")
    assert with_role(made, "B", "target").roles == {"target": "B"}


def test_blanks_without_a_telling_name_are_proposed_and_read_as_proposed():
    made = grid(("Esempio", "Da scrivere"), *BLANKS)
    proposal = asked(made)
    assert proposal.kind == "blanks"
    assert proposal.choices == ({"sentence": "Esempio", "target": "Da scrivere"},)
    chosen = with_roles(made, proposal.choices[0])
    assert check_grid(chosen).usable
    assert asked(chosen) is None


def test_blanks_alone_are_offered_a_column_for_the_words():
    proposal = asked(grid(("Frase",), *((text,) for text, _ in BLANKS)))
    assert (proposal.kind, proposal.choices, proposal.column) == ("blanks", (), 0)


def test_columns_that_advice_names_are_proposed_with_a_button():
    rows = [("Le rane saltano.", "Le rane salta.", "1"), ("Il cane dorme.", "Il cane dorma.", "0")]
    made = grid(("Testo", "Altro testo", "Giudizio"), *rows)
    proposal = asked(made)
    if isinstance(proposal, Proposal):  # else the page asks for good and bad sentences
        assert all({*choice.values()} <= {*made.items.columns} for choice in proposal.choices)


# --- A table keeps its columns


def kept(made, language="it"):
    described = describe(made, language=language)
    report = check_grid(described)
    assert report.usable
    assert described.settings()["language"] == language
    width = made.items.width
    rows = [row[:width] for row in described.items.rows]
    assert tuple(rows) == made.items.rows
    return described


@pytest.mark.parametrize("mark", ["___", "[BLANK]", "..."])
def test_a_table_of_blanks_is_as_it_was_brought_when_its_language_is_set(mark):
    made = grid(("frase", "atteso"), *((text.replace("___", mark), word) for text, word in BLANKS))
    assert kept(made).items.width == made.items.width


def test_a_design_in_columns_is_as_it_was_brought_when_its_language_is_set(tmp_path):
    made = grid(("n.", *CELLS), *((str(n), *texts) for n, texts in enumerate(DESIGN, 1)))
    described = kept(made)
    suite = load_suite(write_grid(described, tmp_path / "g.xlsx")).suite
    assert [len(item.conditions) for item in suite.items] == [4, 4]
    assert suite.predictions
    bare = load_suite(write_grid(made, tmp_path / "bare.xlsx"), language="it").suite
    assert [one.formula for one in suite.predictions] == [one.formula for one in bare.predictions]


@pytest.mark.parametrize("name", ["frase", "sentence"])
def test_a_design_in_rows_keeps_its_factors_and_has_its_sentences_once(name, tmp_path):
    made = grid(
        ("item", "lunghezza", "isola", name),
        *((str(n), *levels, text) for n, texts in enumerate(DESIGN, 1)
          for levels, text in zip(LEVELS, texts, strict=True)),
    )  # fmt: skip
    described = kept(made)
    assert described.items.columns.count(name) == 1
    cells = [cell for row in described.items.rows for cell in row]
    assert cells.count(DESIGN[0][0]) == 1  # nobody corrects one of two copies
    suite = load_suite(write_grid(described, tmp_path / "g.xlsx")).suite
    assert {*suite.factors} == {"lunghezza", "isola"}


def test_pairs_are_as_they_were_brought_when_their_language_is_set(tmp_path):
    made = grid(
        ("Frase grammaticale", "Frase agrammaticale", "Fenomeno", "Note"),
        ("Le rane saltano.", "Le rane salta.", "accordo", ""),
        ("Maria è partita.", "Maria ha partita.", "ausiliare", "inaccusativo"),
    )
    described = kept(made)
    assert described.items.columns == made.items.columns
    assert check_grid(described).read.unused == ("Note",)
    suite = load_suite(write_grid(described, tmp_path / "g.xlsx")).suite
    assert [item.column("phenomenon") for item in suite.items] == ["accordo", "ausiliare"]
    assert suite.predictions[0].formula == "(*;%good%) < (*;%bad%)"


UNKNOWN = (("oggetto", "interrogativa"), ("soggetto", "interrogativa"),
           ("oggetto", "dichiarativa"), ("soggetto", "dichiarativa"))  # fmt: skip


@pytest.mark.parametrize("is_described", [False, True])
def test_a_design_whose_plain_levels_are_not_known_is_asked_for_its_worst_cell(is_described):
    made = grid(
        ("Item", "Estrazione", "Subordinata", "Frase"),
        *((str(n), *levels, text) for n, texts in enumerate(DESIGN, 1)
          for levels, text in zip(UNKNOWN, texts, strict=True)),
    )  # fmt: skip
    made = kept(made) if is_described else made
    report = check_grid(made)
    assert report.read.roles["factors"] == ("Estrazione", "Subordinata")
    question = question_of(made, report.findings)
    assert question.kind == "worst"
    assert {*cells_in(factors_of(made))} == {", ".join(levels) for levels in UNKNOWN}
    designed = with_plain_levels(made, cells_in(factors_of(made))["soggetto, interrogativa"])
    assert designed.settings()["factors.Estrazione"] == "oggetto | soggetto"
    assert designed.settings()["factors.Subordinata"] == "dichiarativa | interrogativa"
    assert designed.items.columns[:4] == made.items.columns[:4]
    formulas = [row[1] for row in designed.sheets["predictions"].rows[1:]]
    assert "(*;%oggetto_dichiarativa%) < (*;%soggetto_interrogativa%)" in formulas
    after = check_grid(designed)
    assert (
        "4 predictions; expected to be the least acceptable: soggetto_interrogativa" in after.holds
    )
    assert question_of(designed, after.findings) is None


def test_two_wrong_ratings_are_both_reported_with_their_rows():
    made = grid(
        ("Frase", "Giudizio medio"), ("Le rane saltano.", "6,5"),
        ("Le rane salta.", "1,5"), ("Il cane abbaia.", "6"),
    )  # fmt: skip
    described = set_cells(with_scale(made, (1, 7)), "items", {(2, 1): "sette", (3, 1): "8,5"})
    errors = [one for one in check_grid(described).findings if one.severity == "error"]
    assert sorted(one.rows for one in errors) == [(2,), (3,)]
    for one in errors:
        assert said(one.seen, "it") is not None
        assert "rating" not in said(one.seen, "it")


def test_two_factors_are_read_as_factors():
    made = grid(
        ("item", "length", "island", "sentence"),
        *((str(n), *levels, text) for n, texts in enumerate(DESIGN, 1)
          for levels, text in zip((("short", "no"), ("long", "no"), ("short", "yes"),
                                   ("long", "yes")), texts, strict=True)),
    )  # fmt: skip
    roles = check_grid(made).read.roles
    assert roles == {"item": ("item",), "sentence": ("sentence",), "factors": ("length", "island")}


# --- No terminal in the window

OPTION = re.compile(r"`cimento |(?<![\w-])--[a-z]")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_of_the_window_names_an_option_or_a_command(language):
    of_window = [
        (key, texts[language])
        for key, texts in translations().items()
        if key != "starter.gone" and OPTION.search(texts[language])
    ]
    assert of_window == []
    said_there = [
        one["en"] for one in sayings()
        if OPTION.search(one.get("window", one["en"]) if language == "en" else one[language])
    ]  # fmt: skip
    assert [text for text in said_there if not text.startswith(UNREACHED)] == []


UNREACHED = (
    "With --limit", "Factorial designs are reported by DD",
    "If the sentences were rated", "If each row is the answer of one person", "Say which",
    "Several columns may label", "Or give --columns",
)  # fmt: skip
"""Beginnings of sentences on columns, whose options become menus where they are shown, and of notes
in reports of runs that the terminal made."""

REFUSED = {
    "blanks.tsv": [("Esempio", "Da scrivere"), *BLANKS],
    "words.tsv": [("Testo", "Nota"), ("Le rane saltano.", "a"), ("Il cane dorme.", "b")],
    "pairs.tsv": [("A", "B"), ("Le rane saltano.", "Le rane salta.")],
    "judged.tsv": [("frase", "P1", "P2"), *(("Il cane dorme qui.", "1", "2"),) * 3],
    "stories.tsv": [("n", *(f"frase {n}" for n in range(1, 6))),
                    ("1", "Anna esce.", "Anna torna.", "Anna mangia.", "Anna dorme.", "È notte.")],
    "answers.tsv": [("Il cane dorme qui.", "Il gatto dorme qui."), ("1", "5"), ("2", "4")],
    "cells.tsv": [("a", "b", "c", "d"), *DESIGN],
    "numbers.tsv": [("good", "bad"), ("1", "2"), ("3", "4")],
    "answer.tsv": [("text", "answer"), ("Le rane [saltano] qui.", "x y"), ("Il cane.", "z")],
    "word.tsv": [("parola", "altra"), ("cane", "gatto"), ("sole", "luna")],
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "it", "ru"])
def test_no_refusal_of_an_upload_shows_an_option_or_a_command(tmp_path, language):
    async def flow(user):
        for name, rows in REFUSED.items():
            await user.open(f"/{language}/start")
            (upload,) = user.find(ui.upload).elements
            content = "".join("\t".join(row) + "\n" for row in rows)
            await upload.handle_uploads([SmallFileUpload(name, "", content.encode())])
            (report,) = user.find(marker="opened").elements
            await until(lambda report=report: bool(texts_in(report)))
            assert [text for text in texts_in(report) if OPTION.search(text)] == [], name
            # Answers of people are not taken as a test; somebody may put them there all the same.
            (tmp_path / "suites").mkdir(exist_ok=True)
            (tmp_path / "suites" / name).write_text(content, encoding="utf-8")
            await user.open(f"/{language}/edit?suite=suites/{name}")
            await user.should_see(kind=ui.aggrid, retries=100)
            texts = [str(one.text) for one in user.find(ui.label).elements]
            assert [text for text in texts if OPTION.search(text)] == [], name

    visit(tmp_path, flow)


def test_a_table_of_blanks_is_read_after_a_press_of_the_button(tmp_path):
    async def flow(user):
        await user.open("/it/start")
        (upload,) = user.find(ui.upload).elements
        rows = [("Esempio", "Da scrivere"), *BLANKS]
        content = "".join("\t".join(row) + "\n" for row in rows)
        await upload.handle_uploads([SmallFileUpload("vuoti.tsv", "", content.encode())])
        await user.should_see("nei menu sopra le colonne frasi = «Esempio»", retries=100)
        await user.open("/it/edit?suite=suites/vuoti.tsv")
        await user.should_see("In quale colonna sono le parole attese?", retries=100)
        user.find("Usa questa colonna").click()
        await user.should_see("Letto come frasi con spazi vuoti", retries=100)
        await user.should_not_see("In quale colonna sono le parole attese?")
        user.find("Imposta la lingua").click()
        await user.should_see(
            "Nel file i fogli si chiamano descrizione, item, previsioni", retries=100
        )
        user.find("Salva nella tua cartella").click()
        await user.should_see("suites/vuoti.xlsx", retries=100)

    visit(tmp_path, flow)
    assert open_grid(tmp_path / "suites" / "vuoti.xlsx").grid.items.rows[1:] == tuple(BLANKS)


def test_the_worst_cell_of_a_design_is_asked_for_and_saved(tmp_path):
    (tmp_path / "suites").mkdir()
    rows = [("Item", "Estrazione", "Subordinata", "Frase")]
    rows += [
        (str(n), *levels, text) for n, texts in enumerate(DESIGN, 1)
        for levels, text in zip(UNKNOWN, texts, strict=True)
    ]  # fmt: skip
    text = "".join("\t".join(row) + "\n" for row in rows)
    (tmp_path / "suites" / "isole.tsv").write_text(text, encoding="utf-8")

    async def flow(user):
        await user.open("/it/edit?suite=suites/isole.tsv")
        await user.should_see("non prevede ancora nulla", retries=100)
        await user.should_not_see("Il test si può usare")
        user.find("Le meno accettabili: oggetto, interrogativa").click()
        await user.should_see("accettabile dovrebbe essere oggetto_interrogativa", retries=100)
        await user.should_not_see("In quale delle quattro celle")
        user.find("Imposta la lingua").click()
        await user.should_not_see("Imposta la lingua", retries=100)
        await user.should_see("accettabile dovrebbe essere oggetto_interrogativa", retries=100)
        user.find("Salva nella tua cartella").click()
        await user.should_see("suites/isole.xlsx", retries=100)

    visit(tmp_path, flow)
    suite = load_suite(tmp_path / "suites" / "isole.xlsx").suite
    assert suite.meta.language == "it"
    assert suite.factors["Estrazione"] == ("soggetto", "oggetto")


def test_the_warning_at_step_2_does_not_lead_to_step_2(tmp_path):
    (tmp_path / "suites").mkdir()
    rows = [("good", "bad"), ("Le rane saltano.", "Le rane salta.")]
    text = "".join("\t".join(row) + "\n" for row in rows)
    (tmp_path / "suites" / "c.tsv").write_text(text, encoding="utf-8")

    async def flow(user):
        await user.open("/it/edit?suite=suites/c.tsv")
        await user.should_see("Scegli la lingua delle frasi: qui", retries=100)
        await user.should_not_see("Scegli la lingua al passo 2")

    visit(tmp_path, flow)


def test_a_message_has_no_option_as_its_place():
    from cimento import UsageError

    error = UsageError(where="--columns=x=", seen="there is nothing", todo="Give --form long.")
    assert message_of(error, "en") == "there is nothing."


# --- One clear question, answered there

VERBS = [("canta", "cantano"), ("dorme", "dormono"), ("ride", "ridono"), ("scrive", "scrivono")]
IN_TURN = [
    (condition, f"Il bambino {verb} in giardino.")
    for both in VERBS
    for condition, verb in zip(("accordo", "violazione"), both, strict=True)
]


def answered(made, **choice):
    """The grid as the answer to its question leaves it."""
    question = asked(made)
    if isinstance(question, Proposal):
        return with_roles(made, question.choices[0])
    answers = {"blocks": with_blocks, "least": with_least}
    return answers[question.kind](made, **choice)


@pytest.mark.parametrize("numbered", [True, False])
def test_rows_in_turn_are_numbered_by_item_with_one_button(numbered):
    head = ("N.", "Condizione", "Stimolo")[not numbered :]
    rows = [(str(n), *row)[not numbered :] for n, row in enumerate(IN_TURN, 1)]
    made = grid(head, *rows)
    assert asked(made).kind == "blocks"
    made = answered(made, size=2)
    report = check_grid(made)
    assert report.usable
    assert report.read.n_items == len(VERBS)
    assert asked(made).kind == "conditions"
    assert made.items.columns[-2:] == ("Condizione", "Stimolo")


def test_of_more_conditions_it_is_asked_which_is_the_least_acceptable():
    rows = [
        (str(item), code, f"{text[:-1]}, {code}.")
        for item, texts in enumerate(DESIGN, 1)
        for code, text in zip("abc", texts, strict=False)
    ]
    made = grid(("Nr.", "Cond.", "Stimolo"), *rows)
    question = asked(made)
    assert (question.kind, question.conditions) == ("least", ("a", "b", "c"))
    made = answered(made, least="b", names=question.conditions)
    formulas = [row[1] for row in made.sheets["predictions"].rows[1:]]
    assert formulas == ["(*;%a%) < (*;%b%)", "(*;%c%) < (*;%b%)"]
    assert made.items.columns == ("Nr.", "Cond.", "Stimolo")
    assert check_grid(made).usable
    assert asked(made) is None


def test_a_design_in_columns_with_levels_of_its_own_is_asked_for_its_worst_cell():
    names = ("estr.lunga che", "estr.lunga se", "estr.breve che", "estr.breve se")
    made = grid(("n.", *names), *((str(n), *texts) for n, texts in enumerate(DESIGN, 1)))
    assert asked(made).kind == "worst"
    assert [*cells_in(factors_of(made))][1] == "estr-lunga, se"
    designed = with_plain_levels(made, cells_in(factors_of(made))["estr-lunga, se"])
    assert designed.items.columns == made.items.columns
    assert designed.sheets["predictions"].rows[1][1].startswith("((*;%estr-lunga_se%)")
    assert check_grid(designed).usable


RATED = [("Anna legge un libro.", "5", "4"), ("Anna leggono un libro.", "1", "2"),
         ("I gatti miagolano.", "4", "5"), ("I gatti miagola.", "2", "1")]  # fmt: skip


def test_columns_of_people_are_proposed_whatever_the_people_are_called():
    made = grid(("N.", "Frase", "Anna", "Ugo"), *((str(n), *r) for n, r in enumerate(RATED, 1)))
    assert asked(made).choices == ({"sentence": "Frase", "person": "Anna", "person 2": "Ugo"},)
    made = answered(made)
    read = check_grid(made).read
    assert read.roles["people"] == ("Anna", "Ugo")
    assert [head.role for head in heads_of(made, view_of(made, "items"), read)] == [
        "item", "sentence", "person", "person",
    ]  # fmt: skip
    assert asked(made).kind == "scale"
    described = kept(made, "it")
    places = [described.items.columns.index(name) for name in ("ratings", "participants")]
    assert [described.items.rows[1][place] for place in places] == ["5; 4", "Anna; Ugo"]
    alone = with_role(made, "Ugo", "")
    assert "person 2" not in alone.roles


def test_two_columns_of_wrong_words_keep_their_names_when_the_language_is_set():
    rows = [(*row, *others) for row, others in zip(BLANKS, OTHERS, strict=True)]
    made = grid(("Frase", "Risposta", "Alternativa 1", "Alternativa 2"), *rows)
    assert kept(made).items.columns == made.items.columns


@pytest.mark.parametrize("words", [("grammaticale", "agrammaticale"), ("sì", "no")])
def test_labels_in_words_stay_beside_the_numbers_that_stand_for_them(words):
    rows = [(text, words[n % 2]) for n, (text, *_) in enumerate(RATED)]
    made = grid(("Frase", "Accettabile?"), *rows)
    described = kept(made)
    assert described.items.columns == ("Frase", "Accettabile?", "rating")
    assert [row[2] for row in described.items.rows[1:]] == ["1", "0", "1", "0"]


def test_a_table_with_a_hole_keeps_its_names_and_says_the_row():
    made = grid(("N.", "Giusta", "Sbagliata"), ("1", *RATED[0][:1], RATED[1][0]),
                ("2", RATED[2][0], ""), ("3", "Il sole scalda.", "Il sole scaldano."))  # fmt: skip
    described = describe(made, language="it")
    assert described.items.rows == made.items.rows
    [error] = [one for one in check_grid(described).findings if one.severity == "error"]
    assert (error.code, error.rows) == ("CIM-S017", (2,))
