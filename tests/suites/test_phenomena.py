"""The map of phenomena: every registered set has a decision on its labels."""

from collections import Counter

import pytest

from cimento.suites.phenomena import (
    decision_on,
    labels_of_sets,
    phenomena,
    phenomenon_of,
)
from cimento.suites.published import published

BLIMP_12 = {
    *("anaphor_agreement", "argument_structure", "binding", "control_raising", "ellipsis"),
    *("determiner_noun_agreement", "filler_gap_dependency", "irregular_forms", "island_effects"),
    *("npi_licensing", "quantifiers", "subject_verb_agreement"),
}
"""The phenomena of Warstadt et al. 2020."""

PARADIGMS = {
    "blimp": 67,
    "blimp-nl": 22,
    "clams": 22,
    "climp": 16,
    "jblimp": 11,
    "mandarin-syntax": 16,
    "qfrblimp": 20,
    "rublimp": 45,
    "sprouse-it": 11,
    "syntaxgym-2020": 34,
    "turblimp": 16,
    "zhoblimp": 118,
    "zorro": 23,
}
"""Numbers of paradigms or files that the authors state, by set."""


@pytest.mark.parametrize("name", published())
def test_each_registered_set_has_a_decision_or_a_reason(name: str) -> None:
    entry = labels_of_sets()[name]
    assert entry.source
    assert entry.labels or entry.none
    for label, decision in entry.decisions().items():
        assert decision.phenomenon or decision.reason, label


def test_there_are_no_decisions_on_sets_that_do_not_exist() -> None:
    assert labels_of_sets().keys() <= published().keys()


def test_phenomena_are_those_of_the_list_and_all_are_used() -> None:
    entries = labels_of_sets().values()
    assert {*phenomena()} >= BLIMP_12
    assert {name for one in entries for name in (*one.labels, *one.categories)} == {*phenomena()}
    assert all(one.own.keys() <= one.labels.keys() for one in entries)


@pytest.mark.parametrize("name", published())
def test_a_label_has_one_decision(name: str) -> None:
    entry = labels_of_sets()[name]
    finest = Counter(
        label for by in (entry.labels, entry.none) for ls in by.values() for label in ls
    )
    groups = Counter(label for labels in entry.categories.values() for label in labels)
    assert {*finest.values(), *groups.values()} <= {1}
    for (
        phenomenon,
        labels,
    ) in entry.categories.items():  # a group named as its paradigm agrees with it
        for label in labels:
            assert phenomenon_of(suite=name, label=label) == phenomenon


@pytest.mark.parametrize(("name", "number"), PARADIGMS.items())
def test_all_paradigms_of_a_set_are_there(name: str, number: int) -> None:
    assert sum(map(len, labels_of_sets()[name].labels.values())) == number


def test_labels_lead_to_phenomena_over_sets() -> None:
    assert phenomenon_of(suite="blimp", label="wh_island") == "island_effects"
    assert phenomenon_of(suite="turblimp", label="scrambling") == "word_order"
    assert phenomenon_of(suite="rublimp", label="Government") == "case"
    assert phenomenon_of(suite="colorless-green", label="whatever it is called") == (
        "subject_verb_agreement"
    )
    assert phenomenon_of(suite="bhs", label="basque-abs-1") == "subject_verb_agreement"


def test_what_has_no_phenomenon_says_why() -> None:
    unsorted = decision_on(suite="cola", label="in_domain_dev")
    assert unsorted is not None
    assert unsorted.phenomenon is None
    assert "not sorted" in unsorted.reason
    assert phenomenon_of(suite="cola", label="in_domain_dev") is None
    assert decision_on(suite="blimp", label="wh_islands") is None
    assert decision_on(suite="my-own-suite", label="wh_island") is None


def test_a_set_says_where_its_items_have_their_labels() -> None:
    fields = {name: entry.field for name, entry in labels_of_sets().items() if entry.field}
    assert fields["bl2mp"] == "type"
    assert fields["lindsea"] == "category"
    assert "blimp" not in fields  # its files are named after their paradigms


def test_what_only_one_set_measures_follows() -> None:
    sets = {
        phenomenon: [name for name, entry in labels_of_sets().items() if phenomenon in entry.labels]
        for phenomenon in phenomena()
    }
    assert sets["aspect"] == ["rublimp", "sling"]
    assert sets["center_embedding"] == ["syntaxgym-2020"]
    assert len(sets["subject_verb_agreement"]) > 5
