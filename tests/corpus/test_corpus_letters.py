"""Words of corpora, dictionaries and people in other spellings, counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.corpus.conllu import read_sentences
from cimento.corpus.connectives.inventories import Connective, make_inventory, read_spelling
from cimento.corpus.connectives.matching import Finder, make_rule
from cimento.corpus.morphology.dictionaries import open_dictionary_file
from cimento.corpus.queries import FeatureTest
from cimento.corpus.queries.parsing import parse_request
from cimento.judgments.asked import AskedItem, AskedItems
from cimento.paradigms.stories.answers import parse_words
from cimento.suites.derived import first_word
from tests.helpers.spellings import decomposed, spellings

FORMS = ["Perché", "Dov'", "è", "perciò", "dov'"]


@given(data=st.data())
@settings(max_examples=20)
def test_no_spelling_of_corpus_or_inventory_changes_what_is_found(data, tmp_path_factory):
    """Of the five words, `perché` is one, `perciò` one, `dov'` two."""
    lines = ["# sent_id = 1", "# text = x"]
    for number, form in enumerate(FORMS, start=1):
        written = data.draw(spellings(form))
        head, relation = ("0", "root") if number == 1 else ("1", "dep")
        cells = (str(number), written, written, "SCONJ", "_", "_", head, relation, "_", "_")
        lines.append("\t".join(cells))
    path = tmp_path_factory.mktemp("trees") / "a.conllu"
    path.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    [sentence] = read_sentences(path)
    names = ["perché", "perciò", "dov'"]
    written = [data.draw(spellings(name)) for name in names]
    entries = [Connective(name, (read_spelling(name),)) for name in written]
    inventory = make_inventory(entries, name="t", where="t")
    rule = make_rule({"name": "r", "match": "form"}, where="r")
    found = [match.word_ids for match in Finder(inventory, rule).find(sentence)]
    assert sorted(found) == [(1,), (2,), (4,), (5,)]


@given(data=st.data())
@settings(max_examples=10)
def test_no_spelling_of_dictionary_or_form_hides_a_reading(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("dictionary") / "own.dic"
    written = [data.draw(spellings(word)) for word in ("città", "l'altr'anno", "perché")]
    path.write_text("".join(f"{word},{word}.N:fs\n" for word in written), encoding="utf-8")
    dictionary = open_dictionary_file(path, format="delaf")
    for word, as_it_stands in zip(("Città", "L'altr'anno", "PERCHÉ"), written, strict=True):
        [reading] = dictionary.analyze(data.draw(spellings(word)))
        assert reading.form == as_it_stands
        assert len(dictionary.inflect(data.draw(spellings(word)))) == 1
    dictionary.close()


@pytest.mark.parametrize(
    "wanted", ['"dov\u2019è"', '"dov\'e\u0300"', 're"dov.e\u0300"', "/DOV’È/i"]
)
@pytest.mark.parametrize("value", ["dov'è", decomposed("dov'è")])
def test_a_query_finds_a_form_in_any_spelling(wanted, value):
    request = parse_request(f"pattern {{ X [form={wanted}] }}")
    [test] = [test for test in request.tests() if isinstance(test, FeatureTest)]
    assert test.holds(value)
    assert not test.holds("dove")


def test_words_of_people_and_models_have_no_spelling_either():
    asked = AskedItem(suite="s", item="1", condition="", text="Dov'è la città?")
    items = AskedItems([(asked, [asked.text])])
    assert items.find(decomposed(asked.text), where="row 2") is asked
    assert parse_words(decomposed("Sì, dov'è."), {"sì": "yes", "no": "no"}).label == "yes"
    assert first_word(decomposed("Però no")) == "però"
