"""N-gram models made from text; oracle: lmplz of KenLM, and the definition of a distribution."""

from __future__ import annotations

import itertools
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cimento import InputError, evaluate
from cimento.cli.main import invoke
from cimento.models.ngram import ArpaModel
from cimento.models.ngram_training import FALLBACK, train

TEXT = """\
Il gatto dorme sul tetto.
Il cane dorme in cucina.
La nonna cucina il riso.
Il cane e il gatto mangiano il riso.
La nonna e il nonno leggono il giornale.
Il nonno legge il giornale sul divano.
I gatti dormono sul divano.
I cani dormono sul tetto?
La maestra legge una storia.
I bambini leggono una storia in classe.
La maestra e i bambini cantano una canzone.
Il treno parte alle otto.
I treni partono alle otto e alle nove.
Il treno della nonna parte alle nove.
Una canzone e una storia, disse la maestra.
Il gatto della maestra mangia il riso.
I bambini mangiano il pane.
Il pane della nonna, disse il nonno, non finisce mai.
La storia non finisce mai.
Il nonno canta una canzone in cucina.
Le canzoni della nonna piacciono ai bambini.
Il giornale costa un euro.
I giornali costano un euro.
In classe i bambini leggono il giornale.
Sul tetto il gatto non dorme mai.
Alle nove la maestra legge ancora.
E il cane ancora dorme, disse il fornaio.
"""
LMPLZ = {
    # lmplz -o 3 --discount_fallback < TEXT, every mark a word of its own; read back as log10 with
    # <s> before the first word. (lmplz estimates discounts from the adjusted counts, but takes the
    # raw count of the last n-gram of each lower order; here that n-gram occurs once.)
    "Il gatto dorme sul tetto .": (
        -0.576105,
        -1.114182,
        -0.765656,
        -0.562075,
        -0.520259,
        -0.617165,
    ),
    "I bambini leggono il giornale .": (
        *(-0.930893, -0.968708, -0.748383, -0.602121, -0.688886, -0.597994),
    ),
    "La zia dorme in treno .": (-1.095763, -2.30712, -1.681378, -1.111164, -2.124301, -1.088027),
}


@pytest.mark.parametrize("sentence", LMPLZ)
def test_the_model_is_that_of_lmplz(sentence: str, tmp_path: Path) -> None:
    trained = train(TEXT.splitlines(), tmp_path / "it.arpa", order=3)
    assert (trained.sentences, trained.words, trained.vocabulary) == (27, 206, 66)
    assert trained.ngrams == (69, 143, 179)
    assert trained.guessed == ()
    model = ArpaModel(tmp_path / "it.arpa")
    assert model.log10(sentence.split(), start=True) == pytest.approx(LMPLZ[sentence], abs=2e-6)


words = st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6)


# D3 of the trigrams is 3 - 4 Y n4 / n3 = 0 here, and some contexts have only followers with D3.
ZERO = "a|a|a|a|a d b|a d b|a a b a a|a d a a a|a a a a b a|a b b b d b|b a a a d b"


@given(texts=st.lists(words, min_size=1, max_size=12), order=st.integers(1, 4))
@example(texts=[text.split() for text in ZERO.split("|")], order=3)
def test_probabilities_after_every_context_add_up_to_one(
    texts: list[list[str]], order: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("model") / "x.arpa"
    train(map(" ".join, texts), path, order=order)
    model = ArpaModel(path)
    vocabulary = [*{word for text in texts for word in text}, "</s>", "<unk>"]
    for context in itertools.chain([[]], texts):
        total = sum(10 ** model.log10([*context, word], start=True)[-1] for word in vocabulary)
        assert total == pytest.approx(1, abs=1e-5)


def unigrams(sentences: list[str], path: Path) -> list[float]:
    """The probabilities of a, b, c and a word that is not in the text."""
    train(sentences, path, order=1)
    return [10**value for value in ArpaModel(path).log10(["a", "b", "c", "z"], start=False)]


def test_unigrams_by_hand(tmp_path: Path) -> None:
    # Counts a 3, b 2, </s> 2, c 1, so n1 = 1, n2 = 2, n3 = 1, n4 = 0 and Y = 1/5. D1 = 1 - 4/5,
    # D2 = 2 - 3/10, D3 = 3; free are 0.2 + 2 x 1.7 + 3 = 6.6 of 8, shared by five words.
    values = unigrams(["a a b c", "a b"], tmp_path / "x.arpa")
    assert values == pytest.approx([0.165, 0.3 / 8 + 0.165, 0.8 / 8 + 0.165, 0.165])


def test_too_few_words_for_discounts_of_their_own(tmp_path: Path) -> None:
    # Counts a 1, b 1, </s> 1: each gives 0.5 of 3 away, shared by four words.
    assert FALLBACK[0] == 0.5
    assert train(["a b"], tmp_path / "y.arpa", order=1).guessed == (1,)
    values = unigrams(["a b"], tmp_path / "x.arpa")
    assert values == pytest.approx([0.5 / 3 + 0.125, 0.5 / 3 + 0.125, 0.125, 0.125])


def test_the_command_makes_a_model_that_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, model = tmp_path / "text.txt", tmp_path / "it.arpa"
    text.write_text(TEXT, encoding="utf-8")
    command = ["models", "ngram", "--text", str(text), "-o", str(model), "--order", "2"]
    assert invoke(command) == 0
    assert f"cimento run SUITE -m kenlm:{model}" in capsys.readouterr().err
    outcomes = evaluate("it-subject-verb", f"kenlm:{model}").outcomes()
    assert outcomes["right"].drop_nulls().len() > 0
    assert invoke(command) == 1
    assert "exists already" in capsys.readouterr().err


def test_a_text_without_sentences_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sentence"):
        train(["", "  "], tmp_path / "x.arpa")
    assert not (tmp_path / "x.arpa").exists()


def test_a_word_whose_accent_is_taken_apart_in_some_lines_is_one_word(tmp_path):
    lines = ["La citt\u00e0 dorme.", "Una citta\u0300 grande.", "La citta\u0300 cresce."]
    train(lines, tmp_path / "mixed.arpa", order=2)
    train([unicodedata.normalize("NFC", line) for line in lines], tmp_path / "one.arpa", order=2)
    assert (tmp_path / "mixed.arpa").read_bytes() == (tmp_path / "one.arpa").read_bytes()
