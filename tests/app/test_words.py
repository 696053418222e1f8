"""The words of the app: in every language, natural, and with the same values in them."""

import re
import string
from pathlib import Path

import pytest

from cimento.app.words import (
    LANGUAGES,
    by_menus,
    message_of,
    report_labels,
    said,
    sayings,
    spoken,
    translations,
    words,
)
from cimento.errors import SuiteError
from cimento.faults import CHECKS, fault
from cimento.intake.words import EXPORTED, HEADINGS, SHEETS

ALIKE = {
    "frame.title", "edit.error", "people.suite", "people.of-sd", "run.seed", "read.bibtex",
}  # fmt: skip
"""Keys whose text is rightly the English one in some language."""

ENGLISH = re.compile(
    r"\b(the|of|and|your|you|with|this|that|them|which|what|there|from|is|are|not|for|it"
    r"|answers|sentences|models|choose|suite|survey)\b",
    re.IGNORECASE,
)
"""Words that no text in another language has."""


def fields(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def keys():
    return sorted(translations())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_key_has_a_text_in_every_language(language):
    missing = [key for key, texts in translations().items() if not texts.get(language, "").strip()]
    assert missing == []
    unknown = {code for texts in translations().values() for code in texts} - set(LANGUAGES)
    assert unknown == set()


def test_every_language_puts_in_the_same_values():
    differing = [
        (key, code)
        for key, texts in translations().items()
        for code, text in texts.items()
        if fields(text) != fields(texts["en"])
    ]
    assert differing == []


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
def test_no_english_is_left_over(language):
    left = []
    for key, texts in translations().items():
        text = re.sub(r"\{.*?\}|cimento annotate \w+|suite\.toml", "", texts[language])
        if ENGLISH.search(text) or (
            key not in ALIKE and texts[language] == texts["en"] and " " in texts["en"]
        ):
            left.append((key, texts[language]))
    assert left == []


def test_russian_is_in_cyrillic():
    latin = [
        (key, texts["ru"])
        for key, texts in translations().items()
        if not re.search("[а-яё]", texts["ru"], re.IGNORECASE) and key not in ALIKE
    ]
    assert latin == []


def test_texts_begin_and_end_alike_in_all_languages():
    """What is a sentence in English is one in the others, and what is a label is a label."""
    differing = [
        (key, code)
        for key, texts in translations().items()
        for code, text in texts.items()
        if text.rstrip().endswith(".") != texts["en"].rstrip().endswith(".")
    ]
    assert differing == []


def test_every_check_has_the_title_of_its_page():
    titles = {key.removeprefix("check."): texts["en"] for key, texts in translations().items()
              if key.startswith("check.")}  # fmt: skip
    pages = Path(__file__).parents[2] / "docs" / "checks"
    heads = {page.stem: page.read_text(encoding="utf-8").split("\n")[0] for page in pages.iterdir()}
    assert {code: f"# {code}: {title}" for code, title in titles.items()} == {
        code: head.replace("`", "") for code, head in heads.items()
    }


def test_every_check_has_advice_which_is_that_of_the_command_line():
    catalog = {key.removeprefix("advice."): texts["en"] for key, texts in translations().items()
                 if key.startswith("advice.")}  # fmt: skip
    titles = {key.removeprefix("check.") for key in translations() if key.startswith("check.")}
    assert set(catalog) == titles
    # Formulas have advice of their own in every fault; the others name commands, the app its steps.
    apart = {"CIM-S020", "CIM-S021", "CIM-S022", "CIM-S023", "CIM-S033", "CIM-S036", "CIM-S063",
             "CIM-S065", "CIM-S067", "CIM-S068", "CIM-S069"}  # fmt: skip
    assert {code for code, check in CHECKS.items() if catalog[code] != check.todo} == apart


def test_a_text_takes_values_and_an_unknown_key_is_an_error():
    assert words("ru")("edit.go", sheet="Пункты", rows="3") == "Пункты, строка 3"
    assert words("xx").language == "en"
    with pytest.raises(KeyError):
        words("it")("edit.none-such")


def test_numbers_are_written_as_the_language_writes_them():
    assert words("en").number(1234567) == "1,234,567"
    assert words("ru").number(1234.5, ",.1f") == "1\u202f234,5"
    assert words("it").number(0.25, ".2f") == "0,25"
    assert words("it").number(-0.69, ".2f") == "−0,69"  # U+2212


def test_the_browser_says_which_language_is_spoken():
    assert spoken("pt-BR,pt;q=0.9,en;q=0.8") == "pt"
    assert spoken("de-DE,de;q=0.9") == "en"
    assert spoken("") == "en"


def test_advice_on_the_option_is_one_on_the_menus_above_the_columns():
    advice = "Or give --columns='good=Frase A,bad=Frase B', or the other way round."
    assert by_menus(said(advice, "it"), words("it")) == (
        "Oppure indica nei menu sopra le colonne frasi buone = «Frase A», frasi cattive ="
        " «Frase B», o il contrario."
    )
    assert by_menus("Say which: --columns=good=A or --columns=nothing.", words("en")) == (
        'Say which: in the menus above the columns good sentences = "A" or --columns=nothing.'
    )


@pytest.mark.parametrize("code", ["en", "es"])
def test_a_message_says_what_keeps_a_test_from_being_used_and_no_warnings(code):
    missing = fault("CIM-S037", where="frases, item 1", seen="The rating is 'x', not a number.",
                    todo="Correct it, or leave the cell empty.")  # fmt: skip
    template = fault("CIM-S076", where="item 1", seen="All items are alike.", todo="Vary words.")
    told = message_of(SuiteError(where="frases", faults=[template, missing]), code)
    assert "'x'" in told
    assert "alike" not in told


QUOTED = {"it": "«([^«»{}]+)»", "es": "«([^«»{}]+)»", "pt": "“([^“”{}]+)”", "ru": "«([^«»{}]+)»"}
"""A name between the quotation marks of a language, without a value in it."""

CITED = {
    "Measures", "Ask people", "Reading times", "Supported file formats", "predictions",
    "lunga, isola", "larga, isla", "longa, ilha", "длинная, остров", "controllo", "control",
    "controle", "контроль", "non so", "no sé", "não sei", "не знаю", "numero", "número", "число",
    "перевод", "заметки", "оценка (0-100)", "предложение A", "предложение B", "Выше", "ниже",
    "ложь", "истина", "да",
}  # fmt: skip
"""What is between quotation marks and not a label: pages in English, and examples of cells."""


@pytest.mark.parametrize("language", QUOTED)
def test_what_is_named_in_a_text_has_this_name_in_the_language(language):
    texts = [entry[language] for entry in (*translations().values(), *sayings())]
    labels = [entry[language] for entry in report_labels()]
    headings = [word[language] for table in (EXPORTED, HEADINGS, SHEETS) for word in table.values()]
    known = [word.casefold() for word in (*texts, *labels, *headings)]
    unknown = [
        (name, text)
        for text in texts
        for name in re.findall(QUOTED[language], text)
        if name not in CITED
        and not any(word.startswith(re.sub(r" \d$", "", name).casefold()) for word in known)
    ]
    assert unknown == []
