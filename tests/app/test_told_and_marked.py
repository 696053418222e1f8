"""In the window: lists with marks, tables of stories, and the headings that people gave."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from nicegui import ui
from nicegui.elements.upload_files import SmallFileUpload

from cimento.app import told
from cimento.app.checking import check_grid
from cimento.app.conditions import cells_in, factors_of, with_least
from cimento.app.describing import describe, with_plain_levels
from cimento.app.editing import set_cells
from cimento.app.opening import open_grid
from cimento.app.pairing import Question, paired_versions
from cimento.app.proposing import question_of, with_blanks
from cimento.app.words import LANGUAGES, said, words
from cimento.errors import UsageError
from tests.helpers.app_user import texts_in, until, visit
from tests.helpers.grids import asked, grid

STORIES = [
    ("Ada posa le chiavi sul tavolo ed esce. Ugo le mette nel vaso.", "Dove le cercherà Ada?",
     "sul tavolo", "nel vaso"),
    ("Il fabbro accende il forno. Poi suona il telefono.", "Che cosa accende il fabbro?",
     "il forno", "il telefono"),
    ("Nevica da stanotte. Le strade sono chiuse e Lia resta a casa.", "Chi resta a casa?",
     "Lia", "il sindaco"),
]  # fmt: skip
ENDINGS = [(story, f"{right.capitalize()} è il posto.", f"{wrong.capitalize()} è il posto.")
           for story, _, right, wrong in STORIES]  # fmt: skip
SIX = [
    ("N.", "Attiva breve", "Attiva lunga", "Passiva breve", "Passiva lunga"),
    ("1", "Ada chiama Ugo.", "Ada chiama Ugo ogni sera.", "Ugo è chiamato da Ada.",
     "Ugo è chiamato da Ada ogni sera."),
    ("2", "Lia pota la vite.", "Lia pota la vite in marzo.", "La vite è potata da Lia.",
     "La vite è potata da Lia in marzo."),
]  # fmt: skip


def answers(made):
    question = asked(made)
    assert isinstance(question, told.Told)
    return question, told.answers_to(made.items, question, words("it"))


# --- Marks


def test_marks_of_several_degrees_are_read_without_a_question_and_the_heading_stays():
    made = grid(("Frase",), ("Piove da ieri.",), ("*Piovono da ieri.",), ("??Marta ci ne ride.",),
                ("*Noi dorme.",))  # fmt: skip
    report = check_grid(made)
    assert report.usable
    assert question_of(made, report.findings) is None
    described = describe(made, language="it")
    assert described.items.columns == ("Frase", "rating", "original mark")
    assert described.items.values(0)[1:3] == ["Piovono da ieri.", "Marta ci ne ride."]
    assert check_grid(described).usable


def test_it_is_asked_whether_versions_of_one_sentence_are_pairs():
    made = grid(("Frase",), ("Marta ha visto il mare.",), ("*Marta ha visto mare.",),
                ("?Marta il mare ha visto.",))  # fmt: skip
    assert asked(made) == Question("graded", (0,))
    pairs = paired_versions(made, 0)
    assert [row[-2:] for row in pairs.items.rows[1:]] == [
        ("Marta ha visto il mare.", "Marta ha visto mare."),
        ("Marta ha visto il mare.", "Marta il mare ha visto."),
    ]
    assert check_grid(pairs).usable


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
def test_what_is_said_of_marks_is_translated(language):
    made = grid(("Frase",), ("Piove da ieri.",), ("*Noi dorme.",), ("??Ci ne rido.",))
    [seen] = [one.seen for one in check_grid(made).findings if one.code == "CIM-S065"]
    assert "without" not in said(seen, language)


# --- Stories


def test_a_right_and_a_wrong_answer_are_compared_after_the_story_and_its_question():
    made = grid(("Racconto", "Domanda", "Giusta", "Sbagliata"), *STORIES)
    _, [(label, edit), _] = answers(made)
    assert label == "Sì: «Giusta» è giusto, «Sbagliata» è sbagliato"
    report = check_grid(edit(made))
    assert report.usable
    assert report.read.roles == {
        "prefix": ("Racconto + Domanda",), "good": ("Giusta",), "bad": ("Sbagliata",),
    }  # fmt: skip
    described = describe(edit(made), language="it")
    assert described.items.rows[1][2] == f"{STORIES[0][0]} {STORIES[0][1]} | sul tavolo | "


def test_which_of_two_answers_is_right_is_asked_where_no_name_says_it():
    made = grid(("Racconto", "Domanda", "Prima", "Seconda"), *STORIES)
    _, buttons = answers(made)
    chosen = [edit(made).roles for _, edit in buttons]
    assert [(one["good"], one["bad"]) for one in chosen] == [
        ("Prima", "Seconda"), ("Seconda", "Prima"),
    ]  # fmt: skip


def test_a_single_answer_is_due_in_a_blank_after_the_question():
    made = grid(("Storia", "Domanda", "Risposta"), *(row[:3] for row in STORIES))
    _, [(_, edit)] = answers(made)
    report = check_grid(edit(made))
    assert report.usable
    assert report.read.shape == "sentences with blanks"
    assert edit(made).items.rows[3][0].endswith("Chi resta a casa? ___")


def test_two_endings_follow_their_context_and_a_single_one_gets_a_column_to_compare_with():
    made = grid(("Contesto", "Finale giusto", "Finale sbagliato"), *ENDINGS)
    _, [(_, edit), (_, alone)] = answers(made)
    assert check_grid(edit(made)).read.roles["prefix"] == ("Contesto",)
    assert check_grid(alone(made)).read.shape == "pairs"
    assert asked(alone(made)) is None
    alone = grid(("Contesto", "Finale"), *(row[:2] for row in ENDINGS))
    _, [(_, edit)] = answers(alone)
    wider = edit(alone)
    assert wider.items.columns == ("Contesto", "Finale", "Finale sbagliato")
    assert not check_grid(wider).usable  # nothing to compare with yet
    with pytest.raises(UsageError, match="some sentences are empty"):
        describe(wider, language="it")
    filled = set_cells(wider, "items", {(n, 2): f"Nessuno sa il {n}." for n in (1, 2, 3)})
    assert check_grid(describe(filled, language="it")).usable


@pytest.mark.parametrize(
    "rows",
    [
        [("Testo", "Voto"), *((row[0], str(n)) for n, row in enumerate((*STORIES, *STORIES)))],
        [("good", "bad"), *((row[0], f"{row[0]} Forse.") for row in STORIES)],
        [("Frase", "Altra frase"), *((f"{n} gatti dormono.", "Il gatto dorme.") for n in "234")],
    ],
)
def test_ratings_pairs_and_single_sentences_are_no_stories(rows):
    assert not isinstance(asked(grid(*rows)), told.Told)


def test_the_question_about_stories_is_answered_on_the_page_in_its_language(tmp_path):
    rows = [("Racconto", "Domanda", "Giusta", "Sbagliata"), *STORIES]
    content = "".join("\t".join(row) + "\n" for row in rows)

    async def flow(user):
        await user.open("/it/start")
        (upload,) = user.find(ui.upload).elements
        await upload.handle_uploads([SmallFileUpload("storie.tsv", "", content.encode())])
        (report,) = user.find(marker="opened").elements
        await until(lambda: bool(texts_in(report)))
        await user.open("/it/edit?suite=suites/storie.tsv")
        await user.should_see("Questa è una tabella di storie o contesti.", retries=100)
        user.find("Sì: «Giusta» è giusto, «Sbagliata» è sbagliato").click()
        await user.should_see("Racconto + Domanda", retries=100)
        await user.should_not_see("Questa è una tabella di storie o contesti.")
        user.find("Imposta la lingua").click()
        await user.should_see("Nel file i fogli si chiamano", retries=100)

    visit(tmp_path, flow)


# --- Headings


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([("Partecipante", "Frase", "Giudizio"), *((who, text, str(n))
          for who in ("Ada", "Ugo") for n, text in enumerate(("Piove forte.", "Noi dorme."), 2))],
         ("Frase", "ratings", "participants")),
        (SIX, SIX[0]),
    ],
)  # fmt: skip
def test_headings_stay_when_the_language_is_set(rows, kept):
    described = describe(grid(*rows), language="it")
    assert described.items.columns == kept
    assert check_grid(described).usable


def test_a_design_in_columns_is_answered_after_its_language_is_set():
    described = describe(grid(*SIX), language="it")
    assert asked(described).kind == "worst"
    cells = cells_in(factors_of(described))
    designed = with_plain_levels(described, cells["Passiva, lunga"])
    assert designed.items.columns == SIX[0]
    assert check_grid(designed).usable
    least = with_least(described, "Passiva_lunga", ["Attiva_breve", "Passiva_lunga"])
    assert check_grid(least).usable


def test_findings_call_the_sides_of_a_pair_as_the_table_does():
    made = grid(("Giusta", "Sbagliata"), ("Ada  ride.", "Ada ridono."), ("Ugo esce.", "*Ugo esco."))
    findings = check_grid(made).findings
    assert [one.where for one in findings if one.code == "CIM-S061"] == [
        "g.xlsx row 3, item 2, condition Sbagliata"
    ]
    assert not any("condition good" in one.where for one in findings)


def test_two_rows_of_names_in_a_text_file_are_one_in_the_window_and_said(tmp_path):
    path = tmp_path / "due.csv"
    path.write_text(
        "N.,Singolare,,Plurale,\n,giusta,sbagliata,giusta,sbagliata\n"
        "1,Il can dorme.,Il can dormono.,I can dormono.,I can dorme.\n"
        "2,La vite cresce.,La vite crescono.,Le viti crescono.,Le viti cresce.\n"
    )
    opened = open_grid(path)
    assert opened.grid.items.columns[1:3] == ("Singolare giusta", "Singolare sbagliata")
    assert "CIM-S009" in [one.code for one in check_grid(opened.grid, opened.notes).findings]


@pytest.mark.parametrize(
    ("columns", "shape"),
    [
        (("Satz", "Mittelwert"), "ratings"),
        (("Phrase", "Acceptabilité"), "ratings"),
        (("Nr.", "Satz", "Urteil"), "ratings"),
    ],
)
def test_german_and_french_headings_are_known(columns, shape):
    cells = [("1", "Der Zug fährt ab.", "6.1"), ("2", "Der Zug fahren ab.", "1.9"),
             ("3", "Wir gehen heim.", "6.8")]  # fmt: skip
    assert check_grid(grid(columns, *(row[-len(columns) :] for row in cells))).read.shape == shape


def test_answers_of_programs_and_measures_of_words_are_called_so():
    lime = grid(("id", "submitdate", "lastpage", "G1[1]"), ("1", "2026-01-05 10:00:00", "3", "A5"))
    assert asked(lime).kind == "answers"
    times = grid(("subject", "text", "position", "word", "rt"), ("s1", "1", "1", "La", "301"),
                 ("s1", "1", "2", "neve", "288"))  # fmt: skip
    [error] = [one for one in check_grid(times).findings if one.severity == "error"]
    assert error.todo.startswith("'rt' looks like a measure of each word in 'word'")


# --- Answers in brackets

BRACKETS = [
    ("1", "O João não veio porque [estava doente] ontem.", ""),
    ("2", "Amanhã vou [à] praia com os primos.", "há"),
    ("3", "[Ninguém] atendeu o telefone.", "Nunca"),
    ("4", "Ela deu-[lhe] um presente.", "lhes"),
]


@pytest.mark.parametrize("head", [("nº", "Frase", "Errada"), ("nº", "Frase", "Intruso")])
def test_answers_in_brackets_are_asked_about_and_become_blanks(head):
    made = grid(head, *BRACKETS)
    question = asked(made)
    assert (question.kind, question.column) == ("brackets", 1)
    blanked = with_blanks(made, question.column)
    report = check_grid(blanked)
    assert not [one for one in report.findings if one.severity == "error"]
    assert [row[1:] for row in blanked.items.rows[1:5]] == [
        ("O João não veio porque ___ ontem.", "estava doente", ""),
        ("Amanhã vou ___ praia com os primos.", "à", "há"),
        ("___ atendeu o telefone.", "Ninguém", "Nunca"),
        ("Ela deu-___ um presente.", "lhe", "lhes"),
    ]
    assert report.read.roles["implausible"] == (head[2],)


@pytest.mark.parametrize(
    "rows",
    [
        [("[Ada]", "x"), ("[Ugo]", "y"), ("[Lia]", "z")],
        [("Piove [qui] e [là].", "x"), ("Nevica [qui] e [là].", "y")],
        [("Dice [che Ada non parte mai].", "x"), ("Sa [che Ugo non torna mai].", "y")],
    ],
)
def test_other_brackets_are_not_taken_for_answers(rows):
    assert getattr(asked(grid(("Frase", "Nota"), *rows)), "kind", "") != "brackets"
