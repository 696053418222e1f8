"""Formulas in words; the oracle is what a linguist reads in the formula."""

import pytest

from cimento.suites.formula_words import in_words

REGIONS = ("subject", "verb", "rest")
SEVERAL = (
    "subject: a less surprising than b"
    " and (verb: a less surprising than b or verb: c less surprising than d)"
)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("(2;%match%) < (2;%mismatch%)", "verb: match less surprising than mismatch"),
        ("(2;%a%) > (2;%b%)", "verb: a more surprising than b"),
        ("(2;%a%) - (2;%b%) > 0", "verb: a more surprising than b"),
        ("(2;%a%) - (2;%b%) < 0", "verb: a less surprising than b"),
        ("(*;%a%) < (*;%b%)", "whole sentence: a less surprising than b"),
        ("(1;%a%) < (2;%b%)", "subject of a less surprising than verb of b"),
        (
            "((2;%a%) + (3;%a%)) < ((2;%b%) + (3;%b%))",
            "verb + rest: a less surprising than b",
        ),
        (
            "((*;%li%) - (*;%si%)) - ((*;%ln%) - (*;%sn%)) > 0",
            "whole sentence: surprisal rises more from si to li than from sn to ln",
        ),
        (
            "((*;%ln%) - (*;%sn%)) < ((*;%li%) - (*;%si%))",
            "whole sentence: surprisal rises more from si to li than from sn to ln",
        ),
        (
            "((*;%ln%) - (*;%sn%)) - ((*;%li%) - (*;%si%)) < 0",
            "whole sentence: surprisal rises more from si to li than from sn to ln",
        ),
        (
            "((2;%a%) < (2;%b%)) & ((3;%c%) > (3;%d%))",
            "verb: a less surprising than b and rest: c more surprising than d",
        ),
        (
            "((1;%a%) < (1;%b%)) & (((2;%a%) < (2;%b%)) | ((2;%c%) < (2;%d%)))",
            SEVERAL,
        ),
        ("(4;%a%) < (4;%b%)", "region 4: a less surprising than b"),
        ("(2;%a%) = (2;%b%)", "surprisal: verb of a = verb of b"),
        ("(2;%a%) - (2;%b%) > 1.5", "surprisal: verb of a - verb of b > 1.5"),
        (
            "(2;%a%) - ((2;%b%) + (2;%c%)) > 0",
            "surprisal: verb of a - (verb of b + verb of c) > 0",
        ),
        (
            "((2;%a%) - (2;%b%)) + ((2;%c%) - (2;%d%)) > 0",
            "surprisal: verb of a - verb of b + verb of c - verb of d > 0",
        ),
    ],
)
def test_a_formula_is_said_in_words(formula, words):
    assert in_words(formula, REGIONS) == words


def test_a_suite_of_whole_sentences_has_no_region_to_name():
    said = in_words("(1;%good%) < (1;%bad%)", ("sentence",))
    assert said == "whole sentence: good less surprising than bad"
