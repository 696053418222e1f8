"""Checks look quickly at what is as most texts are; what they pass over has no fault."""

from __future__ import annotations

import pickle
import re
import unicodedata
from collections import Counter

from hypothesis import example, given, settings
from hypothesis import strategies as st

import cimento
from cimento import Condition, Item, Meta, Prediction, Region, Suite
from cimento.faults import changed, errors, warnings
from cimento.suites.checks import check_reading, check_suite
from cimento.suites.checks.comparisons import LEAST_COMMON, have_little_in_common
from cimento.suites.reading import Reading

WORDS = st.sampled_from(
    ["Casa.", "Casa", "casa", "l'uomo.", "l’uomo.", "la la.", "e\u0300.", "Ã¨.", "", " ", "\u200b."]
)
CONDITIONS = st.lists(
    st.builds(
        Condition,
        name=st.sampled_from(("a", "a", "b", "b", "", "a b")),
        regions=st.lists(st.builds(Region, text=WORDS), min_size=1, max_size=2).map(tuple),
        columns=st.fixed_dictionaries(
            {}, optional={"f": st.sampled_from("xyz"), "g": st.sampled_from("uv")}
        ),
    ),
    max_size=3,
).map(tuple)
SUITES = st.builds(
    Suite,
    meta=st.just(Meta("s", language="it")),
    region_names=st.sampled_from((("one",), ("one", "two"))),
    predictions=st.lists(
        st.sampled_from(("(1;%a%) < (1;%b%)", "(*;%b%) > (2;%a%)", "(1;%q%) < 2")).map(Prediction),
        max_size=2,
    ).map(tuple),
    items=st.lists(CONDITIONS, max_size=9).map(
        lambda items: tuple(
            Item(str(number), conditions) for number, conditions in enumerate(items)
        )
    ),
    cluster=st.sampled_from(("", "f", "none")),
    factors=st.sampled_from(({}, {"f": ("x", "y"), "g": ("u", "v")}, {"h": ("x", "y")})),
)


DOUBLED = re.compile(r"\b([^\W\d_]+)\s+\1\b", re.IGNORECASE)
FINAL = re.compile(r"[.?!…:;][\"'’”»)\]]*$")
TEXTS = st.lists(
    st.sampled_from([*"aAbB1_.,?'’\"» \t\n\x00\x1cßéK", "\u212a", "\u0301", "\ufffd", "Ã¨", "ab "])
).map("".join)


def codes(texts):
    suite = Suite(
        meta=Meta("s", language="it"),
        region_names=("one",),
        predictions=(Prediction("(*;%a%) > 0"),),
        items=tuple(Item(str(n), (Condition("a", (Region(t),)),)) for n, t in enumerate(texts)),
    )
    return Counter(fault.code for fault in check_suite(suite))


@settings(deadline=None)
@given(TEXTS)
@example("The the end.")
@example("the, the")
@example("l'uomo uomo")
@example("x\x00b b")
@example("1a a")
def test_faults_of_a_text_are_those_of_a_look_at_every_letter(text):
    by_code = codes([text])
    assert by_code["CIM-S055"] == bool(DOUBLED.search(text.strip()))
    assert by_code["CIM-S040"] == (text != text.strip())
    assert by_code["CIM-S041"] == bool(re.search(r"\s{2,}", text.strip()))
    assert by_code["CIM-S045"] == (not unicodedata.is_normalized("NFC", text))
    strange = {mark for mark in text if unicodedata.category(mark) == "Cc"} - set("\t\n\r")
    assert by_code["CIM-S042"] == len(strange | ({"\ufffd"} & set(text)))


OF_A_TEXT = ("CIM-S040", "CIM-S041", "CIM-S042", "CIM-S045", "CIM-S055")


@settings(deadline=None)
@given(st.lists(TEXTS, max_size=5))
@example(["The end.", "end of it."])
@example(["", "", "Fine."])
@example(["x\nx", "Fine."])
@example(["\x00", "\x00 b\x00b"])
def test_texts_that_are_looked_at_together_have_the_faults_of_each_alone(texts):
    together, alone = codes(texts), [codes([text]) for text in texts]
    assert {code: together[code] for code in OF_A_TEXT} == {
        code: sum(one[code] for one in alone) for code in OF_A_TEXT
    }


def test_a_fault_far_down_in_a_long_suite_is_told_with_its_place():
    texts = [f"The end of line {number}." for number in range(3000)]
    texts[2048], texts[2999] = "The the end.", "The  end."
    suite = Suite(
        meta=Meta("s", language="en"),
        region_names=("one",),
        predictions=(Prediction("(*;%a%) > 0"),),
        items=tuple(Item(str(n), (Condition("a", (Region(t),)),)) for n, t in enumerate(texts)),
    )
    places = {fault.code: fault.where for fault in check_suite(suite)}
    assert "2048" in places["CIM-S055"]
    assert "2999" in places["CIM-S041"]


@settings(deadline=None)
@given(TEXTS, TEXTS)
@example("One two three.", "one, Two; four")
@example("a b c", "d e f")
def test_words_in_common_are_those_of_a_look_at_every_letter(first, second):
    words = [set(re.findall(r"\w+", text.casefold())) for text in (first, second)]
    fewest = min(map(len, words))
    expected = fewest >= 3 and len(words[0] & words[1]) < LEAST_COMMON * fewest
    assert have_little_in_common(first, second) == expected


SENTENCES = st.lists(
    st.sampled_from(["a", "the", "dog", "dog's", "cats,", "I", "è"]), min_size=1, max_size=9
).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES, SENTENCES, st.booleans()), min_size=1, max_size=4))
@example([("the dog", "I", "", True), ("dog dog dog dog", "a", "cats,", False)])
def test_pairs_with_little_in_common_are_those_of_a_look_at_each(parts):
    pairs = [(f"{x} {y}", f"{x} {z}") if b else (f"{y} {x}", f"{z} {x}") for x, y, z, b in parts]
    suite = cimento.pairs([*pairs, ("Same.", "Same.")], name="s", language="en")
    [told] = [fault.seen for fault in check_suite(suite) if fault.code == "CIM-S060"] or [""]
    odd = [pair for pair in pairs if have_little_in_common(*pair)]
    assert bool(told) == bool(odd)
    if odd:
        left, right = (" ".join(text.split()) for text in odd[0])
        assert told.startswith(f"{left!r} and {right!r} are compared.")
        assert (f"{len(odd)} of" in told) == (len(odd) > 1)


@settings(deadline=None)
@given(TEXTS)
def test_a_final_mark_may_stand_before_what_closes(text):
    expected = bool(text.strip()) and not FINAL.search(text.strip())
    assert codes([text, "Fine.", "Fino!", "Fini?"])["CIM-S053"] == expected


@settings(deadline=None)
@given(SUITES)
def test_what_is_looked_for_late_is_never_an_error(suite):
    late = check_reading(Reading(suite, "", ()))
    assert errors(late) == errors(check_suite(suite))
    sent = pickle.loads(pickle.dumps(late))  # noqa: S301  # our own
    assert late == sent == check_suite(suite)
    changed_late = changed(late, warnings)
    assert changed_late == warnings(check_suite(suite))
    assert errors(changed_late) == ()


@settings(deadline=None)
@given(SUITES)
def test_items_with_the_same_sentences_are_all_found(suite):
    def words(condition):
        return condition.name, " ".join(filter(None, (r.text.strip() for r in condition.regions)))

    sentences = Counter(frozenset(map(words, item.conditions)) for item in suite.items)
    faults = [fault for fault in check_suite(suite) if fault.code == "CIM-S052"]
    assert len(faults) == sum(1 for times in sentences.values() if times > 1)
