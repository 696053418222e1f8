"""Rating scales in words, in the five languages of the app."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.intake.rating_words import numbers_of_words

FROM_WORST_TO_BEST = [
    ["Del tutto inaccettabile", "Inaccettabile", "Né accettabile né inaccettabile", "Accettabile",
     "Del tutto accettabile"],
    ["Per niente d'accordo", "Poco d’accordo", "Abbastanza d'accordo", "Molto d'accordo"],
    ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"],
    ["not at all acceptable", "rather unacceptable", "undecided", "very acceptable"],
    ["Muy en desacuerdo", "En desacuerdo", "Ni de acuerdo ni en desacuerdo", "De acuerdo"],
    ["Discordo totalmente", "Discordo", "Nem concordo nem discordo", "Concordo totalmente"],
    ["Совсем не приемлемо", "Скорее неприемлемо", "Скорее приемлемо", "Полностью приемлемо"],
    ["Muy mal", "Mal", "Regular", "Bien", "Muy bien"],
    ["Péssimo", "Ruim", "Razoável", "Bom", "Ótimo"],
    ["Muito ruim", "Ruim", "Mais ou menos", "Boa", "Muito boa"],
    ["Совсем плохо", "Плохо", "Средне", "Хорошо", "Очень хорошо", "Отлично"],
    ["Totalmente inaceptable", "Inaceptable", "Algo inaceptable", "Ni aceptable ni inaceptable",
     "Algo aceptable", "Aceptable", "Totalmente aceptable"],
    ["Pessima", "Molto strana", "Strana", "Così così", "Un po' buona", "Buona", "Perfetta"],
    ["Me suena fatal", "Suena mal", "Suena raro", "Suena bien", "Suena muy bien"],
    ["Terrible", "Bad", "Odd", "Good", "Very good", "Excellent", "Perfect"],
    ["*", "??", "?", "ok"],
]  # fmt: skip


@pytest.mark.parametrize("words", FROM_WORST_TO_BEST)
def test_points_get_numbers_from_worst_to_best(words):
    expected = {word: number for number, word in enumerate(words, 1)}
    assert numbers_of_words(words[::-1]) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["Accettabile", "Verde"],
        ["Accettabile"],
        ["Acceptable", "Good"],  # which is better is not known
        ["not unacceptable", "acceptable"],  # what is not bad may be anywhere
        ["Muy mal", "Mal", "Vaya", "Bien"],
        ["Nada rara", "Bien"],
        ["Perfecta", "Totalmente aceptable", "Mal"],  # both are an end
        [],
    ],
)
def test_what_is_not_known_for_certain_gets_no_number(words):
    assert numbers_of_words(words) == {}


def test_capitals_make_no_other_point():
    assert numbers_of_words(["acceptable", "Acceptable", "unacceptable"]) == {
        "unacceptable": 1, "acceptable": 2, "Acceptable": 2,
    }  # fmt: skip


@given(st.lists(st.text(), max_size=6))
def test_any_texts_get_numbers_from_one_or_none(words):
    numbers = numbers_of_words(words)
    assert not numbers or {*numbers} == {*words}
    assert all(number >= 0 for number in numbers.values())
