"""Encodings of Windows that letters tell, and those that they leave open."""

import pytest

from cimento.intake.alphabets import told_central

WESTERN = [
    "La città è più bella perché sì.", "¿Quién dijo «mañana»? 3 m³.", "Un garçon naïf, où, août.",
    "Größe, schön, für, café.", "Não há três, avô, você.", "Åsa går på øen.", "Þetta er góðan dag.",
    "Col·legi, àvia, què, l’été, 5 °C.",
]  # fmt: skip
CENTRAL = [
    "Mąż wrócił późno.", "Łódź śpi całą noc.", "Děti šly včera domů.",
    "Kôň beží, vŕba rastie, dážď padá.",
    "Az őrült fű nagyon szép.", "Šuma je gusta, đak uči, čovjek šeće.",
]  # fmt: skip


@pytest.mark.parametrize("text", WESTERN)
def test_no_language_of_western_europe_is_taken_for_one_of_central_europe(text):
    assert told_central(text.encode("cp1252")) == ""


@pytest.mark.parametrize("text", CENTRAL)
def test_words_of_central_europe_tell_their_encoding(text):
    assert told_central(text.encode("cp1250")) == text


@pytest.mark.parametrize("text", ["Maček čaka.", "Băiatul mănâncă.", "La ora cinque."])
def test_letters_that_another_language_has_too_leave_it_open(text):
    assert told_central(text.encode("cp1250")) == ""
