"""Twins of agreement items: what is built, what is declared, and what is found with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

import cimento
from cimento import UsageError
from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, read_grammar
from cimento.explain import ExplainSettings, explain
from cimento.paradigms.regions.swaps import contrasts_of
from cimento.paradigms.regions.twins import controller_of, twins_of, with_twins
from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite
from tests.helpers import copying

VERBS = {copying.SINGULAR: ("runs", "run"), copying.PLURAL: ("run", "runs")}
NUMBERS = {copying.SINGULAR: "singular", copying.PLURAL: "plural"}
MEASURED = frozenset[int | str]({4})
PAIR = ("match", "mismatch_number")


def _item(number: int, noun: str, *, adverb: str = "here", **columns: str) -> Item:
    cells = {"number": NUMBERS[noun], **columns}
    return Item(
        str(number),
        tuple(
            Condition(name, tuple(map(Region, ("the", noun, adverb, verb, "fast"))), cells)
            for name, verb in zip(PAIR, VERBS[noun], strict=True)
        ),
    )


def agreement(*items: Item, regions: str = "article subject adverb verb rest") -> Suite:
    made = [
        _item(n, (copying.SINGULAR, copying.PLURAL)[n % 2], adverb="here" + " often" * (n % 3))
        for n in range(1, 9)
    ]
    return Suite(
        meta=Meta(name="pairs", language="en", phenomenon="agreement"),
        region_names=tuple(regions.split()),
        predictions=(Prediction("(4;%match%) < (4;%mismatch_number%)"),),
        items=items or made,
    )


def built(suite: Suite, **settings):
    controller = controller_of(suite, PAIR, MEASURED, **settings)
    return twins_of(suite, PAIR, MEASURED, controller)


@pytest.fixture(scope="module")
def copier(tmp_path_factory):
    return str(copying.save(tmp_path_factory.mktemp("copier") / "model"))


def test_a_built_twin_finds_the_copying_head_and_nothing_else(copier):
    run = cimento.evaluate(agreement(), copier, device="cpu")
    residual = explain(run)
    effects = {(mean.region_name, mean.layer): mean.effect_bits for mean in residual.means}
    full = effects["everything", None]
    assert full > 10
    for region, shares in {"subject": (1, 1, 0), "adverb": (0, 0, 1)}.items():
        for layer, share in enumerate(shares):
            assert effects[region, layer] == pytest.approx(share * full, abs=0.01 * full)
    assert set(residual.table.filter(reason="")["alignment"]) == {"exact"}
    assert set(residual.table["swap"]) == {
        "match (other number) into match, mismatch_number (other number) into mismatch_number"
    }
    first = residual.table.filter(item="1").row(0, named=True)
    assert first["source_text"] == "the cat here often run fast"
    assert first["donor"] in {"2", "4", "6", "8"}
    [note] = residual.twins
    assert note.endswith("8 items with a built twin, which has the subject of an item with the"
                         " other number")  # fmt: skip
    heads = explain(run, ExplainSettings(part="heads"))
    carrying = [mean for mean in heads.means if mean.layer and abs(mean.effect_bits) > 0.01 * full]
    assert [(mean.region_name, mean.layer, mean.head) for mean in carrying] == [
        ("adverb", copying.LAYER, copying.HEAD)
    ]


def test_a_twin_differs_in_the_controller_and_in_nothing_else():
    suite = agreement()
    twins = built(suite)
    doubled = with_twins(suite, [twins])
    for item in doubled.items:
        for name in PAIR:
            plain = [region.text for region in item.condition(name).regions]
            twin = [
                region.text for region in item.condition(twins.controller.twin_of(name)).regions
            ]
            assert [a == b for a, b in zip(plain, twin, strict=True)] == [1, 0, 1, 1, 1]
    assert [len(item.conditions) for item in doubled.items] == [4] * 8


def test_donors_are_used_evenly_and_come_from_the_same_template():
    nouns = [copying.SINGULAR] * 4 + [copying.PLURAL] * 4
    items = [_item(n, noun, template="ab"[n % 2]) for n, noun in enumerate(nouns, start=1)]
    suite = agreement(*items)
    donors = built(suite).donors
    assert sorted(donors.values()) == sorted(donors)
    by_id = {item.id: item.column("template") for item in suite.items}
    assert all(by_id[item] == by_id[donor] for item, donor in donors.items())


def test_where_one_value_is_rarer_its_items_are_donors_several_times():
    nouns = [copying.SINGULAR] * 5 + [copying.PLURAL] * 2
    twins = built(agreement(*(_item(n, noun) for n, noun in enumerate(nouns, start=1))))
    used = [twins.donors[str(n)] for n in range(1, 6)]
    assert sorted(used.count(donor) for donor in ("6", "7")) == [2, 3]


def test_other_features_stay_and_items_without_a_partner_are_left_out_with_the_reason():
    items = [
        _item(1, copying.SINGULAR, gender="f"),
        _item(2, copying.PLURAL, gender="f"),
        _item(3, copying.SINGULAR, gender="m"),
    ]
    suite = agreement(*items)
    twins = built(suite)
    assert twins.donors == {"1": "2", "2": "1"}
    assert twins.left_out == {"3": "no item has number plural, gender m and the same regions"}
    assert list(twins.notes(suite))[1] == (
        "1 item left out: no item has number plural, gender m and the same regions"
    )


def test_a_capital_at_the_beginning_stays_one():
    nouns = (copying.SINGULAR, copying.PLURAL, copying.PLURAL)
    first, second, third = (_item(n, noun) for n, noun in enumerate(nouns, start=1))
    opened = replace(
        second,
        conditions=tuple(
            replace(condition, regions=(Region(""), *condition.regions[1:]))
            for condition in second.conditions
        ),
    )
    assert built(agreement(first, opened, third)).donors == {"1": "3", "3": "1"}


def test_a_column_declares_twins_and_faults_in_it_are_said():
    items = [
        _item(1, copying.SINGULAR, twin_number="the | cats | here | runs | fast"),
        _item(2, copying.SINGULAR, twin_number=""),
        _item(3, copying.SINGULAR, twin_number="the | cats"),
        _item(4, copying.SINGULAR, twin_number="the | cat | here | ran | fast"),
    ]
    # A cell belongs to a condition, so each verb has its own.
    cells = {"number": "singular", "twin_number": "the | cats | here | run | fast"}
    wrong = replace(items[0].conditions[1], columns=cells)
    items[0] = replace(items[0], conditions=(items[0].conditions[0], wrong))
    twins = built(agreement(*items))
    assert {item for item, _ in twins.regions} == {"1"}
    assert twins.donors == {}
    assert twins.left_out == {
        "2": "there is no twin in its column",
        "3": "its twin has another number of regions",
        "4": "its twin differs where something is measured",
    }


@pytest.mark.parametrize(
    ("regions", "settings", "said"),
    [
        ("article subject adverb verb rest", {"features": ("animacy",)}, "no column animacy"),
        ("a b c d e", {}, "in which region"),
    ],
)
def test_what_is_not_known_of_the_controller_is_said(regions, settings, said):
    with pytest.raises(UsageError, match=said):
        built(agreement(regions=regions), **settings)


def test_three_values_do_not_say_which_one_the_other_form_has():
    nouns = (copying.SINGULAR, copying.PLURAL, copying.PLURAL)
    items = [_item(n, noun, gender="mfn"[n]) for n, noun in enumerate(nouns)]
    with pytest.raises(UsageError, match="gender has 3 values"):
        built(agreement(*items), features=("gender",))


STARTERS = (
    "en-subject-verb", "en-subject-verb-adversarial", "it-subject-verb",
    "it-subject-verb-adversarial", "it-determiner-noun-adjective", "es-object-clitic",
    "pt-subject-predicative-adversarial", "ru-subject-verb",
)  # fmt: skip


@pytest.mark.parametrize("name", STARTERS)
def test_all_items_of_starter_suites_have_twins_in_number(name):
    suite = cimento.load_suite(name).suite
    [formula] = [p.formula for p in suite.predictions if p.formula.endswith("%mismatch_number%)")]
    measured = frozenset[int | str]({int(formula[1 : formula.index(";")])})
    twins = twins_of(suite, PAIR, measured, controller_of(suite, PAIR, measured))
    assert len({item for item, _ in twins.regions}) == len(suite.items)
    assert twins.left_out == {}
    numbers = {item.id: item.column("number") for item in suite.items}
    assert all(numbers[item] != numbers[donor] for item, donor in twins.donors.items())


def test_a_generated_suite_has_the_same_noun_in_its_other_number():
    plain, adversarial = generate_suites(read_grammar(find_grammar("it-subject-verb")), n=8, seed=3)
    for suite in (plain, adversarial):
        run = cimento.evaluate(suite, "demo-causal", limit=4, device="cpu")
        compared = contrasts_of(run, ExplainSettings())
        [twins] = compared.twins.values()
        assert twins.controller.column == "twin_number"
        assert twins.left_out == {}
        for item in compared.suite.items:
            one, other = (
                item.condition(name).regions for name in ("match", "match (other number)")
            )
            apart = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a.text != b.text]
            assert apart == [0]
        table = explain(run).table
        assert set(table["donor"]) == {None}
