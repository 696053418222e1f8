"""The language of sentences, guessed from their words."""

import pytest

from cimento.kinds.registry import load_suite
from cimento.suites.builtin import builtin_names
from cimento.suites.guessed_language import guessed_language
from cimento.suites.stimuli import stimulus_texts

NONE = {
    "French": ["Les clés de la voiture étaient sur la table.", "Le chien dort dans le jardin.",
               "Je crois que la maison de ma mère est grande."],
    "Catalan": ["Les claus del cotxe eren sobre la taula.", "El gos dels veïns borda tota la nit.",
                "Crec que la casa de la meva mare és gran."],
    "German": ["Die Schlüssel des Autos lagen auf dem Tisch.", "Der Hund bellt die ganze Nacht.",
               "Er hat den Brief mit dem Stift geschrieben."],
    "Ukrainian": ["Ключі від машини лежали на столі.", "Він пишається своїм сином і дочкою.",
                  "Ми чекаємо на наш потяг цілий день."],
    "Bulgarian": ["Ключовете за колата бяха на масата.", "Кучето на съседите лае цяла нощ.",
                  "Той написа писмо на своя приятел."],
    "too little": ["O gato dorme.", "A casa é azul."],
    "words": ["estavam", "ficaram", "digam", "venha"] * 5,
    "nothing": ["", " "],
}  # fmt: skip


@pytest.mark.parametrize("name", NONE)
def test_nothing_is_proposed_where_the_words_do_not_show_it(name):
    assert guessed_language(NONE[name]) == ""


@pytest.mark.parametrize("code", ["en", "es", "it", "pt", "ru"])
def test_the_starter_suites_are_in_the_language_that_their_words_show(code):
    names = [name for name in builtin_names() if name.startswith(f"{code}-subject-verb")]
    assert names
    for name in names:
        texts = stimulus_texts(load_suite(name).sentences)
        assert guessed_language(texts.values()) == code


def test_blanks_are_no_words():
    texts = ["As chaves do carro ___ em cima da mesa.", "O livro das professoras ___ caro.",
             "A dona dos cachorros ___ no segundo andar."]  # fmt: skip
    assert guessed_language(texts) == "pt"
