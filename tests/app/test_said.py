"""What checks and readers say, in the languages of the app: all of it, natural, with its values."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cimento
from cimento import InputError, SuiteError
from cimento.app.columns import read_line
from cimento.app.words import LANGUAGES, form, message_of, said, sayings, translated_line, words
from cimento.errors import Fault
from cimento.intake import shapes
from cimento.intake.reading import TableReading
from cimento.intake.tables import open_table
from cimento.io.tables import NO_LEFT_CONTEXT
from cimento.kinds.registry import PARADIGMS
from cimento.suites.builtin import list_builtin
from cimento.suites.formats.advice import names_advised
from cimento.suites.languages import NAMES
from tests.helpers.check_pages import FOLDER
from tests.helpers.docs_pages import blocks

OTHERS = [code for code in LANGUAGES if code != "en"]

SOURCE = Path(cimento.__file__).parent

APART = {
    "lm_eval.py", "blimp.py", "sentences.py", "__init__.py", "builtin.py", "derived.py",
    "fetching.py", "published.py", "variants.py", "stimuli.py", "story_variants.py",
    "chosen.py", "language_sets.py", "lock.py", "registry_file.py", "tarballs.py", "writing.py",
}  # fmt: skip
"""Files with errors of commands and of rare formats, which stay in English if a page shows them."""

FILES = sorted(
    path for pattern in ("suites/**/*.py", "intake/*.py", "app/*.py", "paradigms/*/reading.py",
                         "paradigms/cloze/files.py", "paradigms/cloze/own_tables.py",
                         "paradigms/cloze/given_words.py", "paradigms/cloze/full_sentences.py",
                         "paradigms/cloze/row_checks.py", "paradigms/cloze/codes.py",
                         "paradigms/ratings/gathered.py", "paradigms/ratings/columns.py",
                         "people/surveys/maze.py", "people/surveys/lexicon.py", "io/files.py")
    for path in SOURCE.glob(pattern) if path.name not in APART
)  # fmt: skip
"""Where the faults are made that the app shows beside the rows of a file, and its own errors."""

PIECEMEAL = ("which should be", "have it alike", "are like this", "The item ", "There ",
             "has no words in item", "its value there is", "Add the column",
             "Write a whole", "Models read these as",
             # Of the option --columns, which the app does not have.
             "--columns=", "ROLE=COLUMN", "not a role and its column", "no such role of a column",
             )  # fmt: skip
"""Parts of sentences that the code puts together from several; the pages of checks have them."""


def fields(text):
    return {match[1] for match in re.finditer(r"\{(\w+)", text)}


def test_every_sentence_is_in_every_language_once():
    assert [texts["en"] for texts in sayings() if {*texts} - {"window"} != set(LANGUAGES)] == []
    english = [texts["en"].removesuffix(".") for texts in sayings()]
    assert len(english) == len(set(english))


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_invents_a_value_and_none_ends_otherwise(language):
    for texts in sayings():
        assert fields(texts[language]) <= fields(texts["en"]), texts["en"]
        assert texts[language].endswith((".", "?")) == texts["en"].endswith((".", "?")), texts["en"]


@pytest.mark.parametrize("language", OTHERS)
def test_plural_forms_are_those_of_the_language(language):
    for texts in sayings():
        for forms in re.findall(r"\{\w+\|([^{}]*(?:\{\w+#\}[^{}]*)*)\}", texts[language]):
            assert len(forms.split("|")) == (3 if language == "ru" else 2), texts[language]


ENGLISH = re.compile(
    r"\b(the|of|and|is|are|with|this|that|which|there|from|not|has|have)\b", re.IGNORECASE
)
"""Words that no text in another language has, outside fields and names in formats of files."""


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_is_left_over(language):
    shown = [re.sub(r"\{[^{}]*\}|`[^`]*`|--[\w-]+", "", texts[language]) for texts in sayings()]
    assert [text for text in shown if ENGLISH.search(text)] == []


def test_russian_is_in_cyrillic():
    shown = [re.sub(r"\{[^{}]*\}", "", texts["ru"]) for texts in sayings()]
    words_of_files = re.compile(r"[a-z]{4,}(?! *[:=.])", re.IGNORECASE)
    assert [
        text for text in shown if words_of_files.search(text) and not re.search("[а-яё]", text)
    ] == []


def faults_of_pages():
    """The faults that the pages of the checks show, each as the command line prints it."""
    for page in sorted(FOLDER.glob("*.md")):
        for block in blocks(page):
            if block.language == "text":
                for text in re.split(r"^(?=error: |warning: )", block.text, flags=re.MULTILINE):
                    if match := re.match(r"\w+: (CIM-\w+) (.*)", text.rstrip("\n"), re.DOTALL):
                        yield match[1], match[2]


@pytest.mark.parametrize("language", OTHERS)
def test_the_example_of_every_check_is_said_in_every_language(language):
    pages = list(faults_of_pages())
    assert len({code for code, _ in pages}) > 80
    assert [(code, text) for code, text in pages if said(text, language) is None] == []


def literals(node):
    """The texts that an expression may be, with 3 or 'x' in the place of each value."""
    if isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.Tuple):
        yield from (text for element in node.elts for text in literals(element))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(map(filled, node.values))


def filled(part):
    if isinstance(part, ast.Constant):
        return part.value
    value = part.value
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "counted":
        _, one, *several = (getattr(argument, "value", "") for argument in value.args)
        return f"3 {several[0] if several else one + 's'}"
    return "'x'" if part.conversion == ord("r") else "3"


def shown_texts(path):
    """Every literal that is what was seen, or what to do, in a file."""
    names = {"seen", "todo"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword):
            targets = {node.arg}
        elif isinstance(node, ast.Assign):
            targets = {getattr(name, "id", "") for target in node.targets
                       for name in ast.walk(target)}  # fmt: skip
        elif isinstance(node, ast.arguments):
            usual = zip(node.kwonlyargs, node.kw_defaults, strict=True)
            yield from (text for argument, value in usual if argument.arg in names and value
                        for text in literals(value))  # fmt: skip
            continue
        else:
            continue
        if names & targets:
            yield from literals(node.value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_whatever_a_check_or_a_reader_says_is_in_the_file(path):
    missing = [
        text for text in shown_texts(path)
        if re.search("[a-z]{3}", text.replace("'x'", "")) and said(text, "it") is None
        and not any(part in text for part in PIECEMEAL)
    ]  # fmt: skip
    assert missing == []


def test_the_files_that_are_looked_at_say_most_of_it():
    assert len({text for path in FILES for text in shown_texts(path)}) > 200


@pytest.mark.parametrize(
    ("text", "russian"),
    [
        ("1 item in the conditions good, bad; 1 prediction",
         "1 пункт, в каждом хорошее и плохое предложение; 1 предсказание"),
        ("22 items in the conditions long, short; 5 predictions",
         "22 пункта в условиях long, short; 5 предсказаний"),
        ("111 items, 21 with an expected answer", "111 пунктов, из них с ожидаемым ответом: 21"),
        ("'Да' has no final mark, unlike 1,801 of 2,002 stimuli.",
         "У 'Да' нет знака в конце, в отличие от 1\u202f801 предложения из 2\u202f002."),
    ],
)  # fmt: skip
def test_numbers_take_their_forms(text, russian):
    assert said(text, "ru") == russian


def test_forms_follow_the_plural_rules_of_cldr():
    """The rules of https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
    as ICU has them."""
    message_format = pytest.importorskip("icu4py.messageformat").MessageFormat
    plural = message_format("{n, plural, one{one} few{few} many{many} other{other}}", "ru")
    names = ["one", "few", "many"]
    assert all(form(names, str(n), "ru") == plural.format({"n": n}) for n in range(1200))
    assert [form(["o", "m"], str(n), "it") for n in (0, 1, 2, 21)] == ["m", "o", "m", "m"]
    assert form(names, "1.5", "ru") == "few"  # 1,5 пункта


def reasons_of_people():
    """Why something cannot be measured of a person: all literals of the rules that leave out."""
    for name in ("summaries", "filters"):
        path = SOURCE / "judgments" / f"{name}.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_none = (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Measurement"
                and getattr(node.args[0], "value", 0) is None
            )
            if is_none:
                yield from literals(node.args[1])
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                if node.targets[0].id == "_OWN_OPTIONS":
                    yield from literals(node.value)
                elif node.targets[0].id == "_CONSTANT":
                    yield from (text for value in node.value.values for text in literals(value))


@pytest.mark.parametrize("language", OTHERS)
def test_why_something_is_not_measured_of_a_person_is_said(language):
    reasons = {*reasons_of_people()}
    assert {"no time is known", "only 3 places are shared with others"} <= reasons
    assert [reason for reason in reasons if said(reason, language) in (None, reason)] == []


def test_a_message_after_the_place_of_an_item_is_not_taken_for_its_name():
    alike = "10 of 12 items differ from another one in a quarter of the words or fewer; the largest"
    told = said(f"item 1: {alike} group has 2: 1, 2.", "pt")
    assert told.startswith("item 1: 10 de 12 itens diferem")


@pytest.mark.parametrize("language", OTHERS)
def test_why_a_word_has_no_number_is_said(language):
    assert said(NO_LEFT_CONTEXT, language) is not None


def test_a_formula_keeps_its_lines_and_the_mark_below():
    formula = "    (2;%a%) <= (2;%b%)\n            ^"
    said_first = "formula, column 13: '<=' is not part of the formula language. Write &."
    text = f"{said_first}\n{formula}"
    lines = said(text, "es").split("\n")
    assert lines[0].startswith("fórmula, columna 13: '<=' no es parte del lenguaje")
    assert lines[1:] == text.split("\n")[1:]


def test_words_of_a_suite_are_never_translated():
    """A sentence of a suite that reads like a message stays what it is."""
    text = "The sentence is that of condition 'good': 'There is no text.'."
    assert said(text, "it") == "La frase è quella della condizione 'good': 'There is no text.'."
    assert said("'The table is empty.' in 'There is no text.'.", "ru") == (
        "'The table is empty.' в 'There is no text.'."
    )


@given(st.text(max_size=300))
def test_any_text_is_said_or_left(text):
    assert said(text, "en") == text
    translated = said(text, "ru")
    assert translated is None or isinstance(translated, str)


def test_an_error_is_said_with_its_place_and_advice():
    error = InputError(where="prova.xlsx row 4", seen="is not a table: it ends in '.doc'",
                       todo="Save it as one of .xlsx, .csv.")  # fmt: skip
    assert message_of(error, "pt") == (
        "prova.xlsx, linha 4: não é uma tabela: termina em '.doc'."
        " Salve-o num destes formatos: .xlsx, .csv."
    )
    assert message_of(error, "en") == str(error)


def test_what_is_not_known_stays_in_english():
    error = InputError(where="x", seen="a wheel came off", todo="Choose another.")
    assert message_of(error, "it") == "x: a wheel came off. Scegline un altro."


def test_the_faults_of_a_file_are_said_one_by_one():
    fault = Fault("CIM-S010", "error", "item 3", "The item has no id.", "Fill in the name.")
    text = message_of(SuiteError(where="prova.tsv", faults=[fault] * 20), "it")
    assert text.split("\n")[:2] == [
        "prova.tsv", "item 3: L'item non ha un id. Scrivi il nome.",
    ]  # fmt: skip
    assert text.endswith("\n...")


@pytest.mark.parametrize("language", OTHERS)
def test_built_in_suites_are_described_in_the_language_of_the_page(language):
    say = words(language)
    for what, names in (
        ("language", NAMES),
        ("kind", {suite.kind for suite in list_builtin()} | set(PARADIGMS)),
        ("phenomenon", {suite.phenomenon for suite in list_builtin()} - {""}),
    ):
        assert [
            name for name in names if f"named.{what}-{name.replace(' ', '-')}" not in say.texts
        ] == []
    assert say.named("phenomenon", "one of my own") == "one of my own"


@pytest.mark.parametrize("language", OTHERS)
def test_why_suites_cannot_be_run_or_compared_is_said_in_every_language(language):
    for text in (
        "1 of 5 suites: cannot be used, and nothing was run. Correct them, or leave them out:\n  a",
        "1 of 5 suites cannot be used, and nothing was run. Correct them, or leave them out:",
        "items with the same id have hardly a word in common",
    ):
        shown = said(text, language)
        assert shown is not None
        assert "suites" not in shown


def test_a_line_of_a_command_is_said_with_its_code_and_place():
    place = "CIM-S017 a.xlsx, sheet items, row 3, item 2, condition bad"
    told = translated_line(
        f"{place}: There is no text. Write the sentence, or remove the row.", "it"
    )
    place = "CIM-S017 a.xlsx, foglio items, riga 3, item 2, condizione bad"
    assert told == f"{place}: Non c'è testo. Scrivi la frase, o togli la riga."
    assert translated_line("suites/a.xlsx: 2 problems:", "it") == "suites/a.xlsx: 2 errori"
    assert translated_line("something else", "it") == "something else"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(
    "text",
    ["4 clusters: an interval needs 5 or more", "6 skipped: a check of attention",
     "Read as answers of Qualtrics: answers = \"q1\"", 'not used: "When" (it has ages)',
     "'rating' and 'response' may both be the answers",
     "2 skipped: there is no answer in the row",
     "All attention checks of 3 people are right."],
)  # fmt: skip
def test_what_is_said_of_answers_is_said_in_every_language(text, language):
    assert said(text, language) not in (None, text)


SENTENCES = ["La casa è bella.", "La casa sono bella.", "Le case sono belle."]
JUDGED = [
    (["sentence", "acceptable"], ["1", "0", "1"], "has 1 for the acceptable sentences"),
    (["frase", "esito"], ["ok", "*", "ok"], "1 for 'ok' and 0 for '*'"),
    (["frase", "esito"], ["ok", "OK", "*"], "1 for 'OK' or 'ok' and 0 for '*'"),
    (["frase", "esito"], ["ok", "?", "*"], "3 for 'ok', 2 for '?' and 1 for '*'"),
    (["frase", "P1", "P2"], ["1", "2", "2"], "hold the ratings of one person each"),
]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(("head", "cells", "advice"), JUDGED)
def test_advice_on_columns_of_judgments_is_said_as_a_whole(tmp_path, head, cells, advice, language):
    rows = [[text, *[cell] * (len(head) - 1)] for text, cell in zip(SENTENCES, cells, strict=True)]
    path = tmp_path / "a.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [head, *rows]), encoding="utf-8")
    todo = names_advised(open_table(path), ())
    assert advice in todo
    assert not re.search(r"\b(the|for|and|or|one|if|call)\b", said(todo, language), re.IGNORECASE)


def test_zeros_and_ones_are_not_to_be_written_again(tmp_path):
    path = tmp_path / "a.csv"
    rows = [f"{text},{number}" for text, number in zip(SENTENCES, "101", strict=True)]
    path.write_text("\n".join(["sentence,acceptable", *rows]), encoding="utf-8")
    assert "not '0' and '1'" not in names_advised(open_table(path), ())


def test_each_answer_that_cannot_be_used_is_said():
    text = (
        "2 answers cannot be used:\n  a.csv row 3: '-' is none of the answers of the survey (1, 2)."
        "\n  ... and 1 more"
    )
    assert said(text, "it") == (
        "2 risposte non si possono usare:\n  a.csv, riga 3: '-' non è tra le risposte del"
        " questionario (1, 2).\n  ... e 1 in più"
    )


OPTION = "--columns='sentence=Frase,rating=Media'"
_PAGE = 'If each row is the answer of one person, the page "Ask people" says how it is read.'
_LINES = (
    "If each two lines are a pair, run `cimento suites convert a.txt --from good-first -o NAME`, or"
    " with --from zorro if the bad sentence is the first."
)


def test_advice_on_commands_is_advice_on_the_window():
    assert said(_LINES, "en") == (
        "If each two lines are a pair, put the sentences into two columns of a spreadsheet: good"
        " and bad."
    )
    assert "due colonne di un foglio di calcolo" in said(_LINES, "it")


_LABELS = (
    "If 'a1' and 'a2' have a label each, write one sentence in each row, with its label beside it:"
    " columns sentence and label."
)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(
    "text",
    [
        f"If the sentences were rated, call 'Frase' sentence and 'Media' rating, or give {OPTION}.",
        f"If the sentences were rated, say which column has the ratings: {OPTION}.",
        f"If each row is the answer of one person, give {OPTION}.",
        f"If each row is the answer of one person, say which column has it: {OPTION}.",
        _PAGE,
        f"Say which sentences 'Ok?' judges: {OPTION} or {OPTION}.",
        f"Several columns may label the sentences, and disagree. Say which: {OPTION} or {OPTION}.",
        _LABELS,
        "If either may be the good one, add a column key, with A or B in each row.",
        f"Or give {OPTION}, or the other way round.",
    ],
)
def test_advice_that_names_options_is_said_in_every_language(text, language):
    told = said(text, language)
    assert told not in (None, text)
    assert told.count("--columns=") == text.count("--columns=")
    assert not re.search(r"\b(the|for|and|if|each|say|give)\b", told, re.IGNORECASE)


def test_every_shape_of_a_table_has_a_name_in_every_language_of_the_app():
    names = {shape.name for shape in vars(shapes).values() if isinstance(shape, shapes.Shape)}
    missing = {
        (code, name) for code in OTHERS for name in names
        if words(code).named("shape", name) == name
    }  # fmt: skip
    assert len(names) > 15
    assert missing == set()


def test_the_line_of_a_file_without_columns_has_its_number_of_items():
    read = TableReading(shape="stories", roles={}, n_items=12, what="story", several="stories")
    assert read_line(read, words("it")) == "Letto come storie: item: 12."
    assert read_line(read, words("en")) == "Read as stories: 12 stories."
