"""Every check: what it reports, and that good suites are left alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import cimento
from cimento import Condition, Item, Meta, Prediction, Region, Suite, UsageError, new_canary
from cimento.errors import Fault
from cimento.faults import CHECKS, errors, summarize, warnings
from cimento.suites import derived as made
from cimento.suites.checks import check_suite

FORMULA = "(2;%match%) < (2;%mismatch%)"


def make(
    *items: Mapping[str, str | Sequence[str]],
    formulas: Sequence[str] = (FORMULA,),
    columns: Sequence[Mapping[str, str]] = (),
    ids: Sequence[str] = (),
) -> Suite:
    """A suite of items that map conditions to their regions, given as a list or with bars."""
    made = []
    for number, conditions in enumerate(items):
        free = columns[number] if columns else {}
        made.append(
            Item(
                ids[number] if ids else str(number + 1),
                tuple(
                    Condition(name, tuple(map(Region, _regions(text))), free)
                    for name, text in conditions.items()
                ),
            )
        )
    return Suite(
        meta=Meta("test", language="it"),
        region_names=("subject", "verb", "rest"),
        predictions=tuple(map(Prediction, formulas)),
        items=tuple(made),
    )


def _regions(text: str | Sequence[str]) -> Sequence[str]:
    return [piece.strip() for piece in text.split("|")] if isinstance(text, str) else text


LAMPS = {"match": "Le lampade | sono | accese.", "mismatch": "Le lampade | è | accese."}
DOG = {"match": "Il cane | dorme | in giardino.", "mismatch": "Il cane | dormono | in giardino."}
GOOD = make(LAMPS, DOG)


def faults_of(suite: Suite, code: str) -> list[Fault]:
    return [fault for fault in check_suite(suite) if fault.code == code]


def one(suite: Suite, code: str) -> Fault:
    [fault] = faults_of(suite, code)
    return fault


def with_text(text: str) -> Suite:
    """The good suite with another text in the last region of one condition."""
    return make({**LAMPS, "match": ["Le lampade", "sono", text]}, DOG)


@pytest.mark.parametrize("mark", ["*", "?", "??", "?*", "#", "%", "✓ ", "* "])
def test_a_judgment_mark_before_a_sentence_is_told(mark):
    fault = one(
        make(LAMPS, {**DOG, "mismatch": f"{mark}Il cane | dormono | in giardino."}), "CIM-S061"
    )
    assert fault.where == "item 2, condition mismatch"
    assert f"begins with {mark.strip()!r}" in fault.seen


@pytest.mark.parametrize(
    "begin", ["#1, Il cane", "%50 cani", "¿Il cane", "¡Il cane", "... Il cane", "Il cane* 3 * 3"]
)
def test_numbers_and_usual_punctuation_are_no_judgment_marks(begin):
    assert faults_of(make({**DOG, "mismatch": [begin, "dormono", "."]}), "CIM-S061") == []


def test_marks_of_many_sentences_are_one_fault_with_their_number():
    starred = [{name: f"*{text}" for name, text in item.items()} for item in (LAMPS, DOG)]
    assert "4 of 4 sentences" in one(make(*starred), "CIM-S061").seen


def test_marks_in_one_condition_only_are_an_error_and_elsewhere_a_warning():
    starred = cimento.pairs([("A cat sleeps.", "*A cat sleep."), ("It rains.", "It rain.")])
    fault = one(starred, "CIM-S061")
    assert (fault.severity, fault.where) == ("error", "item 1, condition bad")
    assert "1 of 2 sentences of condition 'bad'" in fault.seen
    assert "replace ~* by nothing" in fault.todo
    assert "~?" not in fault.todo  # it would delete the marks of questions
    assert "swapped" not in fault.todo
    swapped = cimento.pairs([("??A cat sleep.", "A cat sleeps."), ("It rain.", "It rains.")])
    assert "good and the bad sentences swapped?" in one(swapped, "CIM-S061").todo
    ticked = cimento.pairs([("✓ A cat sleeps.", "*A cat sleep.")] * 3)
    assert [(fault.severity, fault.where) for fault in faults_of(ticked, "CIM-S061")] == [
        ("error", "item 1, condition good"), ("error", "item 1, condition bad"),
    ]  # fmt: skip
    good = [("A cat sleeps.", "*A cat sleep."), ("It rains.", "*It rain.")]
    faults = faults_of(cimento.pairs([*good, ("*We goes.", "We go.")]), "CIM-S061")
    assert [(fault.severity, fault.where) for fault in faults] == [
        ("error", "item 1, condition bad"), ("error", "item 3, condition good"),
    ]  # fmt: skip
    assert "the bad sentence swapped in item 3, condition good? If so" in faults[1].todo
    assert "in no other condition" not in faults[0].seen
    both = cimento.pairs([("#Summer is over.", "#Summer are over."), ("It rains.", "It rain.")])
    fault = one(both, "CIM-S061")
    assert fault.severity == "warning"
    assert "2 of 4 sentences" in fault.seen


def test_a_good_suite_has_no_faults():
    assert check_suite(GOOD) == ()


# --- items and conditions


def test_no_items():
    assert one(make(), "CIM-S005").severity == "error"
    empty = replace(GOOD, items=(*GOOD.items, Item("3", ())))
    assert "item 3" in one(empty, "CIM-S005").where


def test_an_id_twice():
    fault = one(make(LAMPS, DOG, ids=["a", "a"]), "CIM-S010")
    assert fault.seen == "The id 'a' is that of item number 1 and of item number 2."
    places = [f"items.xlsx row {number}" for number in range(2, 8)]
    thrice = check_suite(make(LAMPS, DOG, LAMPS, ids=["a", "a", "a"]), places=places)
    [fault] = [fault for fault in thrice if fault.code == "CIM-S010"]
    assert fault.where == "item a"
    assert fault.seen == "The id 'a' is that of items.xlsx row 2, of row 4 and of 1 more."


def test_a_condition_twice():
    [item, *rest] = GOOD.items
    doubled = replace(item, conditions=(*item.conditions, item.conditions[0]))
    assert "condition match" in one(replace(GOOD, items=(doubled, *rest)), "CIM-S011").where


def test_items_with_different_conditions():
    other = {"match": LAMPS["match"], "mismatch_number": LAMPS["mismatch"]}
    fault = one(make(LAMPS, other, DOG), "CIM-S012")
    assert fault.where == "item 2"
    assert "lacks mismatch and has mismatch_number, unlike 2 of 3 items" in fault.seen


def test_faults_of_whole_items_name_the_row():
    suite = make(LAMPS, {"match": DOG["match"]}, LAMPS, ids=["1", "2", ""])
    places = [f"items.xlsx row {number}" for number in range(2, 7)]
    where = {fault.code: fault.where for fault in check_suite(suite, places=places)}
    assert where["CIM-S012"] == "items.xlsx row 4, item 2"
    assert where["CIM-S016"] == "items.xlsx row 5, item number 3"


def test_the_order_of_conditions_does_not_matter():
    assert check_suite(make(LAMPS, dict(reversed(DOG.items())))) == ()


def test_the_wrong_number_of_regions():
    fault = one(make(LAMPS, {**DOG, "match": "Il cane | dorme in giardino."}), "CIM-S013")
    assert fault.where == "item 2, condition match"
    assert "There are 2 regions; the suite names 3" in fault.seen


def test_a_condition_name_that_formulas_cannot_write():
    suite = make({"a b": LAMPS["match"], "è.": LAMPS["mismatch"]}, formulas=[])
    assert len(faults_of(suite, "CIM-S015")) == 2


def test_a_name_missing():
    assert one(make({"": LAMPS["match"]}, formulas=[]), "CIM-S016")
    assert one(make(LAMPS, ids=[""]), "CIM-S016")


def test_an_empty_stimulus():
    assert one(make({**LAMPS, "match": " | | "}), "CIM-S017").where == "item 1, condition match"


# --- predictions


def test_a_formula_that_cannot_be_read_is_shown_with_a_caret():
    fault = one(replace(GOOD, predictions=(Prediction("(2;%match%) < "),)), "CIM-S020")
    assert fault.where == "prediction 0"
    assert fault.seen.splitlines()[-1].strip() == "^"


@pytest.mark.parametrize(
    ("formula", "code", "shown", "column"),
    [
        ("(2;%match%) < (2;%mismach%)", "CIM-S021", "Did you mean 'mismatch'", 14),
        ("(4;%match%) < (2;%mismatch%)", "CIM-S022", "no region 4; the suite names 3", 0),
        ("(2;%match%) < (12;%mismatch%)", "CIM-S022", "no region 12", 14),
    ],
)
def test_a_formula_names_what_is_not_there(formula, code, shown, column):
    fault = one(replace(GOOD, predictions=(Prediction(formula),)), code)
    assert shown in fault.seen
    *_, shown_formula, caret = fault.seen.splitlines()
    assert shown_formula[caret.index("^") :].startswith(formula[column:])


def test_no_predictions():
    assert one(replace(GOOD, predictions=()), "CIM-S023").severity == "warning"


def test_an_empty_region_in_a_formula():
    suite = make(LAMPS, {**DOG, "match": "Il cane | | dorme in giardino."})
    assert "no words in item 2; its value there is 0 bits" in one(suite, "CIM-S024").seen
    assert faults_of(replace(suite, metric="mean"), "CIM-S024")[0].seen.endswith("undefined.")


def test_predictions_that_contradict_each_other():
    formulas = [FORMULA, "(2;%match%) = (2;%mismatch%)"]
    fault = one(make(LAMPS, DOG, formulas=formulas), "CIM-S025")
    assert fault.severity == "warning"
    assert faults_of(make(LAMPS, DOG, formulas=[*formulas, "("]), "CIM-S025") == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("number", "2 predictions have the name 'number'."),
        ("all predictions", "'all predictions' is what tables call all predictions together."),
        ("0", "The name '0' reads like the number of a prediction."),
        ("prediction 0", "The name 'prediction 0' reads like the number of a prediction."),
    ],
)
def test_names_that_do_not_tell_predictions_apart(name, said):
    prediction, other = Prediction(FORMULA, name="number"), Prediction("(2;%match%) < 5")
    suite = replace(GOOD, predictions=(prediction, replace(other, name=name)))
    fault = faults_of(suite, "CIM-S026")[-1]
    assert (fault.severity, fault.where, fault.seen) == ("error", "prediction 1", said)
    assert faults_of(replace(suite, predictions=(prediction, other, other)), "CIM-S026") == []


# --- design


def test_factors():
    columns = [{"number": "plural"}, {"number": "singolar"}]
    suite = make(LAMPS, DOG, columns=columns)
    suite = replace(suite, factors={"number": ("singular", "plural"), "gender": ("f", "m")})
    assert one(suite, "CIM-S030").where == "factor gender"
    assert [fault.where for fault in faults_of(suite, "CIM-S031")] == [
        "item 2, condition match",
        "item 2, condition mismatch",
    ]
    assert "Did you mean 'singular'?" in faults_of(suite, "CIM-S031")[0].todo
    partly = make(LAMPS, DOG, columns=[{"number": "plural"}, {}])
    assert len(faults_of(replace(partly, factors={"number": ("plural",)}), "CIM-S030")) == 2


def test_cluster():
    assert "does not exist" in one(replace(GOOD, cluster="template"), "CIM-S032").seen
    partly = replace(make(LAMPS, DOG, columns=[{"t": "1"}, {}]), cluster="t")
    assert len(faults_of(partly, "CIM-S032")) == 2
    [item, *rest] = make(LAMPS, DOG, columns=[{"t": "1"}, {"t": "2"}]).items
    split = replace(
        item, conditions=(item.conditions[0], replace(item.conditions[1], columns={"t": "3"}))
    )
    assert "several clusters: 1, 3" in one(replace(partly, items=(split, *rest)), "CIM-S032").seen


@pytest.mark.parametrize(("language", "todo"), [("", "ISO 639-1"), ("Italian", "'it'")])
def test_language(language, todo):
    assert todo in one(replace(GOOD, meta=Meta("t", language=language)), "CIM-S033").todo


@pytest.mark.parametrize("language", ["it", "pt-BR", "scn"])
def test_codes_of_languages_are_accepted(language):
    assert check_suite(replace(GOOD, meta=Meta("t", language=language))) == ()


# --- text


def test_blanks():
    assert one(with_text("accese. "), "CIM-S040").severity == "warning"
    assert "'accese  ora.'" in one(with_text("accese  ora."), "CIM-S041").seen


@pytest.mark.parametrize(
    ("character", "code", "name"),
    [
        ("\x07", "CIM-S042", "U+0007"),
        ("\ufffd", "CIM-S042", "REPLACEMENT CHARACTER"),
        ("\ud800", "CIM-S042", "U+D800"),
        ("\xa0", "CIM-S043", "NO-BREAK SPACE"),
        ("\xad", "CIM-S043", "SOFT HYPHEN"),
        ("\u200b", "CIM-S043", "ZERO WIDTH SPACE"),
        ("\ufeff", "CIM-S043", "ZERO WIDTH NO-BREAK SPACE"),
        ("\t", "CIM-S043", "U+0009"),
        ("\u2028", "CIM-S043", "LINE SEPARATOR"),
    ],
)
def test_characters_that_cannot_be_seen(character, code, name):
    assert name in one(with_text(f"accese{character}ora."), code).seen


def test_mixed_apostrophes():
    suite = make(
        {"match": "L'uomo | dorme | bene.", "mismatch": "L'uomo | dormono | bene."},
        {"match": "L’anno | finisce | ora.", "mismatch": "L'anno | finiscono | ora."},
    )
    fault = one(suite, "CIM-S044")
    assert fault.where == "item 2, condition match"
    assert "1 stimulus has ’ (U+2019) and 3 have ' (U+0027)" in fault.seen


def test_apostrophes_of_one_kind_are_left_alone():
    assert check_suite(with_text("accese un po’ d’ora in ora.")) == ()
    assert check_suite(with_text("accese un po' d'ora in ora.")) == ()


def test_letters_taken_apart():
    suite = with_text(unicodedata.normalize("NFD", "accese perché sì."))
    assert "perche\u0301" in one(suite, "CIM-S045").seen


def test_accents_that_have_no_letter_of_their_own_are_left_alone():
    # Russian stress marks: there is no one character for the letter with its accent
    assert check_suite(with_text("за́мок и замо́к.")) == ()


@pytest.mark.parametrize("text", ["città", "più", "può", "дом", "l’ora", "naïve"])
def test_text_decoded_wrongly(text):
    broken = text.encode().decode("cp1252")
    assert f"like '{text}.'" in one(with_text(f"accese {broken}."), "CIM-S046").seen


@pytest.mark.parametrize("text", ["São João", "Ângela", "«Âge»", "pâté", "ÑU", "Ãgua"])
def test_text_that_only_looks_decoded_wrongly_is_left_alone(text):
    assert faults_of(with_text(text), "CIM-S046") == []


# --- comparisons


def test_identical_conditions():
    fault = one(make(LAMPS, {"match": DOG["match"], "mismatch": DOG["match"]}), "CIM-S050")
    assert fault.where == "item 2, condition mismatch"
    unlike = {
        "match": "Il cane | dorme | in giardino.",
        "mismatch": "Il cane dorme | | in giardino.",
    }
    assert faults_of(make(LAMPS, unlike), "CIM-S050")


def test_conditions_that_are_not_compared_may_be_identical():
    same = {**DOG, "filler": DOG["match"]}
    lamps = {**LAMPS, "filler": "Le lampade | sono | spente."}
    assert faults_of(make(lamps, same), "CIM-S050") == []
    assert faults_of(make(lamps, same, formulas=[]), "CIM-S050")


WORDS = ["Anna", "Bruno", "Carla", "Dario", "Elena", "Fabio"]


def pairs(low: str, high: str, formula: str = FORMULA) -> Suite:
    return make(
        *({"match": f"{name} | {low} | ora.", "mismatch": f"{name} | {high} | ora."}
          for name in WORDS),
        formulas=[formula],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "formula", "shown"),
    [
        ("dorme", "dorme molto", FORMULA, "more surprising, has more words"),
        ("non dorme", "dormono", FORMULA, "less surprising, has more words"),
        ("dorme", "dorme molto", "(2;%mismatch%) > (2;%match%)", "more surprising"),
        ("dorme", "dorme molto", "(*;%match%) < (*;%mismatch%)", "mismatch, which"),
        ("dorme", "dormono", FORMULA, "more characters"),
        (
            "dorme",
            "dorme molto",
            "(1;%match%) + (2;%match%) < (1;%mismatch%) + (2;%mismatch%)",
            "in 6 of 6 items (1.0 on average)",
        ),
        ("dorme", "dorme molto", f"{FORMULA} & (1;%match%) = (1;%mismatch%)", "more words"),
    ],
)
def test_length_imbalance(low, high, formula, shown):
    assert shown in one(pairs(low, high, formula), "CIM-S051").seen


@pytest.mark.parametrize(
    "formula",
    [
        "(2;%match%) - (1;%match%) < (2;%mismatch%) - (1;%mismatch%)",
        "(2;%match%) < 5",
        "(2;%match%) = (2;%mismatch%)",
        "(1;%match%) < (1;%mismatch%)",
    ],
)
def test_comparisons_that_length_does_not_decide(formula):
    assert faults_of(pairs("dorme", "dorme molto", formula), "CIM-S051") == []


def test_length_imbalance_needs_a_sum_five_items_and_a_direction():
    suite = pairs("dorme", "dorme molto")
    assert faults_of(replace(suite, metric="mean"), "CIM-S051") == []
    assert faults_of(replace(suite, items=suite.items[:4]), "CIM-S051") == []
    back = pairs("dorme molto", "dorme")
    mixed = [replace(item, id=f"b{item.id}") for item in back.items]
    assert faults_of(replace(suite, items=(*suite.items, *mixed)), "CIM-S051") == []


def test_a_side_that_several_predictions_compare_is_said_once():
    suite = pairs("dorme", "dorme molto", "(*;%match%) < (*;%mismatch%)")
    second = replace(suite.predictions[0], name="again")
    whole = replace(second, name="whole")
    fault = one(replace(suite, predictions=(whole, second)), "CIM-S051")
    assert fault.where == "predictions whole and again"
    assert "in at least 6 of 6 items (1.0 or more on average)" in fault.seen


def test_one_letter_of_a_sentence_is_no_imbalance():
    suite = pairs("dorme tutto il santo giorno", "dormi tutto il santo giornoo")
    assert faults_of(suite, "CIM-S051") == []


def test_repeated_items():
    fault = one(make(LAMPS, DOG, LAMPS), "CIM-S052")
    assert "Items 1, 3" in fault.seen


def test_a_canary_that_anyone_could_write_is_none():
    for canary, count in (("do not train on this", 1), (1, 1), (new_canary(), 0)):
        suite = replace(GOOD, meta=Meta("t", language="it", extra={"canary": canary}))
        assert len(faults_of(suite, "CIM-S035")) == count


# --- the list of checks


_OF_ALL = {"test_check_pages.py"}
"""Tests that go through all codes and so report none."""


def test_every_code_is_reported_by_a_test():
    own = Path(__file__)
    others = (path for path in own.parents[1].rglob("test_*.py") if path.name not in _OF_ALL)
    tests = own.read_text(encoding="utf-8") + "".join(
        path.read_text(encoding="utf-8") for path in others
    )
    assert [code for code in CHECKS if code not in tests] == []


def test_faults_are_told_apart_and_summed_up():
    suite = make({**LAMPS, "match": "Le lampade | sono  | accese  ora.", "mismatch": "| |"}, DOG)
    faults = check_suite(replace(suite, meta=Meta("t")))
    assert {fault.code for fault in errors(faults)} == {"CIM-S017"}
    assert {fault.code for fault in warnings(faults)} >= {"CIM-S033", "CIM-S041"}
    lines = summarize([*faults, *warnings(faults)])
    assert len(lines) == len({fault.code for fault in faults})
    assert any("CIM-S041 several spaces in a row, 2 times; first item 1" in line for line in lines)


def test_two_misspelled_conditions_are_told_apart():
    good = {name: f"{name} | a | b." for name in ("long_island", "short_island")}
    item = {name.replace("island", "isalnd"): text for name, text in good.items()}
    fault = one(
        make(good, good, item, formulas=("(1;%long_island%) < (1;%short_island%)",)), "CIM-S012"
    )
    assert fault.todo == (
        "Did you mean 'long_island' for 'long_isalnd' and 'short_island' for 'short_isalnd'?"
    )


def test_the_odd_one_of_three_items_differs_elsewhere():
    odd = {**DOG, "mismatch": "Il gatto | dormono | in giardino."}
    assert "Region 1 is 'Il gatto'" in one(make(LAMPS, odd, LAMPS), "CIM-S058").seen
    for items in ((odd,), (odd, LAMPS), (odd, odd, LAMPS)):
        assert faults_of(make(*items), "CIM-S058") == []


@pytest.mark.parametrize("cell", [None, float("nan"), 3, "", " "])
def test_what_is_no_sentence_makes_no_pair(cell):
    with pytest.raises(UsageError, match=r"pair 2: there is no sentence under 'bad': "):
        made.pairs([("Piove.", "Piovono."), ("Nevica.", cell)])
    with pytest.raises(UsageError, match=r"Its columns are: good, bad\."):
        made.pairs([{"good": "Piove.", "bad": cell}])


def test_empty_cells_of_other_columns_are_left_out():
    row = {"good": "Piove.", "bad": "Piovono.", "verb": float("nan"), "name": "nan"}
    [item] = made.pairs([row]).items
    assert item.conditions[0].columns == {"name": "nan"}
