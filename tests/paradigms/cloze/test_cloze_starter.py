"""What the starter suites with blanks must be: complete, balanced, spelled right, unambiguous."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from cimento import open_morphology
from cimento.paradigms.cloze.files import load_cloze, read_cloze
from cimento.paradigms.cloze.judgments import expectations
from cimento.paradigms.cloze.reading import CLOZE_KINDS
from cimento.suites.builtin import builtin_names
from cimento.suites.cloze import ClozeItem, ClozeSuite, expand_suite
from tests.helpers.starter import FOLDER
from tests.suites.test_builtin_suites import STATUS
from tests.suites.test_suite_spelling import WORD, misspelled

NAMES = [name for kind in CLOZE_KINDS for name in builtin_names(kind=kind)]
TEMPLATES = [name for name in NAMES if name.endswith("-templates")]
IDIOMS = [name for name in NAMES if name.endswith("-idioms")]


@cache
def suite(name: str) -> ClozeSuite:
    return load_cloze(FOLDER / name)


@cache
def items(name: str) -> tuple[ClozeItem, ...]:
    return expand_suite(suite(name)).items


def test_what_was_promised_is_there():
    assert set(NAMES) == {
        "it-connectives-cloze",
        "it-collocations",
        "it-idioms",
        "it-selectional-preferences",
        "pt-collocations",
        "pt-idioms",
        "pt-selectional-preferences",
        "pt-grammar-templates",
        "es-agreement-templates",
        "ru-agreement-templates",
    }


@pytest.mark.parametrize("name", NAMES)
class TestEverySuite:
    def test_is_read_with_no_warning_but_of_syncretic_forms(self, name):
        assert {fault.code for fault in read_cloze(FOLDER / name).faults} <= {"CIM-C012"}

    def test_says_what_it_is(self, name):
        meta = suite(name).meta
        assert meta.name == name
        assert meta.language == name.split("-")[0]
        assert (meta.license, meta.status) == ("CC-BY-4.0", STATUS)
        assert meta.version
        assert meta.author
        assert name in meta.citation

    def test_has_a_readme_with_status_license_and_columns(self, name):
        readme = (FOLDER / name / "README.md").read_text(encoding="utf-8")
        flowing = " ".join(readme.split())
        assert readme.startswith(f"# {name}\n")
        assert f"Status: {STATUS}" in flowing
        assert "License: CC BY 4.0" in flowing
        assert f"{len(items(name))} items" in flowing or f"{len(items(name))} blanks" in flowing

    def test_every_item_has_a_target_and_a_cluster(self, name):
        for item in items(name):
            assert item.targets, item.id
            assert all(item.columns[column] for column in suite(name).cluster), item.id

    def test_sentences_are_clean(self, name):
        for item in items(name):
            sentence = item.filled(item.targets[0])
            assert sentence == " ".join(sentence.split()), sentence
            assert sentence[0].isupper(), sentence
            assert sentence[-1] in ".?", sentence
            assert " ," not in sentence, sentence

    def test_no_sentence_is_there_twice(self, name):
        texts = Counter((item.before, item.after) for item in items(name))
        assert texts.most_common(1)[0][1] == 1

    def test_every_word_is_spelled_right(self, name):
        # What stands only before a vowel (dov') is a word of no dictionary.
        words = {
            word
            for item in items(name)
            for option in item.options
            for text in option.spellings
            if not text.endswith("'")
            for word in WORD.findall(item.filled(text))
        }
        assert len(words) > 50
        assert misspelled(words, name[:2]) == []


class TestConnectives:
    ITEMS = items("it-connectives-cloze")

    def test_fifteen_items_for_each_of_eighteen_as_in_the_study(self):
        counts = Counter(item.columns["connective"] for item in self.ITEMS)
        assert len(self.ITEMS) == 270
        assert set(counts.values()) == {15}

    def test_every_option_but_one_is_one_of_the_eighteen(self):
        connectives = {item.columns["connective"] for item in self.ITEMS}
        options = {option.text.lower() for item in self.ITEMS for option in item.options}
        assert len(connectives) == 18
        assert options - connectives == {"qualora"}

    def test_one_target_one_alternative_three_others(self):
        for item in self.ITEMS:
            roles = [option.role for option in item.options]
            assert roles == ["target", "plausible", *["implausible"] * 3], item.id
            assert item.none_option

    def test_options_have_the_capital_that_their_place_asks_for(self):
        for item in self.ITEMS:
            initial = item.columns["position"] == "initial"
            assert initial == (not item.before or item.before.endswith(". "))
            assert all(option.text[0].isupper() == initial for option in item.options), item.id


@pytest.mark.parametrize("name", IDIOMS)
def test_idioms_have_two_sentences_each(name):
    expressions = Counter(item.expression for item in suite(name).multiwords)
    assert len(expressions) == 25
    assert set(expressions.values()) == {2}
    assert all(item.columns["meaning"] for item in suite(name).multiwords)


@pytest.mark.parametrize("name", TEMPLATES)
class TestTemplates:
    def test_options_are_the_same_for_every_seed_of_a_category(self, name):
        for template in suite(name).templates:
            for seed in template.seeds:
                assert seed.options, (template.id, seed.category)
                assert {option.role for option in seed.options} == {"target", "implausible"}

    def test_expectations_can_be_read(self, name):
        expected = expectations({item.id: item.columns for item in items(name)})
        without = {item.columns["phenomenon"] for item in items(name) if item.id not in expected}
        assert without <= {"subject agreement"}

    def test_categories_of_gender_and_number_are_balanced(self, name):
        for template in suite(name).templates:
            counts = {seed.category: len(seed.forms) for seed in template.seeds}
            if set(counts) == {"m_sg", "f_sg", "m_pl", "f_pl"}:
                assert len(set(counts.values())) == 1, template.id


@pytest.mark.parametrize("language", ["it", "pt"])
def test_collocations_and_preferences_are_twenty_each(language):
    multiwords = suite(f"{language}-collocations").multiwords
    assert len({item.expression for item in multiwords}) == len(multiwords) == 20
    preferences = items(f"{language}-selectional-preferences")
    for item in preferences:
        assert [option.role for option in item.options] == ["target", *["implausible"] * 3]
    assert len(preferences) == 20


def test_portuguese_grammar_has_six_dimensions():
    counts = Counter(
        template.columns["phenomenon"] for template in suite("pt-grammar-templates").templates
    )
    assert len(counts) == 6
    assert min(counts.values()) >= 5
    assert counts.total() >= 30
    assert len(items("pt-grammar-templates")) >= 400


def test_russian_targets_are_what_is_expected_and_other_options_are_not():
    """By OpenCorpora's dictionary, through pymorphy3."""
    dictionary = open_morphology("pymorphy3")
    wanted = expectations({item.id: item.columns for item in items("ru-agreement-templates")})
    for item in items("ru-agreement-templates"):
        for option in item.options:
            met = wanted[item.id].met_by(dictionary.analyze(option.text))
            assert met == (option.role == "target"), (item.id, option)


@pytest.mark.parametrize(
    "name",
    [pytest.param("pt-grammar-templates", marks=pytest.mark.slow), "es-agreement-templates"],
)
def test_targets_of_agreement_are_among_the_readings_that_rules_guess(name):
    """Rules guess too much to refute a form, but a target that they exclude would be a slip."""
    dictionary = open_morphology(f"rules:{name[:2]}")
    wanted = expectations({item.id: item.columns for item in items(name)})
    inflected = {"nominal agreement", "predicative agreement", "passive", "verb agreement"}
    for item in items(name):
        if item.columns["phenomenon"] in inflected:
            readings = dictionary.analyze(item.targets[0])
            assert wanted[item.id].met_by(readings), (item.id, item.targets)
