"""Unigram frequencies: from counts of tokens, and from wordfreq."""

from __future__ import annotations

import math
import sys

import pytest

from cimento import InputError, UsageError
from cimento.errors import MissingDependencyError
from cimento.measures import NoValue
from cimento.measures.normalizing import WordFrequencies, load_unigrams


def test_token_counts_are_read_from_lines_and_from_json(tmp_path):
    lines, structured = tmp_path / "counts.tsv", tmp_path / "counts.json"
    lines.write_text("Ġil\t900\n\u2028\t1\n\t\t2\n\nĠcane\t97\n", encoding="utf-8")
    structured.write_text('{"Ġil": 900, "\u2028": 1, "\\t": 2, "Ġcane": 97}', encoding="utf-8")
    for path in (lines, structured):
        counts = load_unigrams(str(path), language="it")
        logprobs = counts.logprobs_nats(["Ġil", "Ġcane", "\t"], "il cane")
        assert logprobs == pytest.approx((math.log(0.9), math.log(0.097), math.log(0.002)))
        assert counts.logprobs_nats(["Ġil", "Ġgatto"], "il gatto") == NoValue(
            "the token 'Ġgatto' is not in the unigram counts"
        )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", "il 900", "line 1 has no tabulator"),
        ("a.tsv", "il\t9\nil\t1", "line 2: counts the token 'il' a second time"),
        ("a.tsv", "il\t9\nla\tmany", "line 2: 'many' is not a count"),
        ("a.tsv", "il\t-1", "line 1: '-1' is not a count"),
        ("a.tsv", "il\tinf", "line 1: 'inf' is not a count"),
        ("a.tsv", "\n\n", "holds no counts"),
        ("a.tsv", "il\t0", "holds no counts"),
        ("a.json", "[1, 2]", "is not a JSON object"),
        ("a.json", "{", "is not JSON"),
        ("a.json", '{"il": null}', "token 'il': None is not a count"),
    ],
)
def test_bad_counts_end_in_one_message(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        load_unigrams(str(path), language="it")


def test_counts_that_cannot_be_read_end_in_one_message(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        load_unigrams(str(tmp_path / "none.tsv"), language="it")
    path = tmp_path / "latin.tsv"
    path.write_bytes("città\t1".encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8"):
        load_unigrams(str(path), language="it")


def test_word_frequencies_are_of_words_not_of_tokens():
    words = WordFrequencies(split=str.split, frequency={"il": 0.5, "cane": 0.25}.__getitem__)
    assert words.logprobs_nats(["i", "l", "cane"], "il cane") == pytest.approx(
        (math.log(0.5), math.log(0.25))
    )
    none = WordFrequencies(split=str.split, frequency=lambda _word: 0.0)
    assert none.logprobs_nats([], "gatto") == NoValue(
        "the word 'gatto' is not in the word frequencies"
    )


def test_wordfreq_gives_frequencies_of_many_languages():
    wordfreq = pytest.importorskip("wordfreq")
    for source, language in (("wordfreq", "it"), ("wordfreq:it", "")):
        unigrams = load_unigrams(source, language=language)
        [il, gatto] = unigrams.logprobs_nats([], "Il gatto!")
        assert il == pytest.approx(math.log(wordfreq.word_frequency("il", "it")))
        assert gatto == pytest.approx(math.log(wordfreq.word_frequency("gatto", "it")))
    with pytest.raises(UsageError, match="no frequencies for the language 'tlh'"):
        load_unigrams("wordfreq:tlh", language="it")
    with pytest.raises(UsageError, match="does not say its language"):
        load_unigrams("wordfreq", language="")


def test_without_wordfreq_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordfreq", None)
    with pytest.raises(MissingDependencyError, match=r"cimento\[frequency\]"):
        load_unigrams("wordfreq:it", language="")
