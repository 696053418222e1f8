"""Lexical diversity: types of equal samples, repeated words, and items made after one template."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.suites.checks import check_suite
from cimento.suites.diversity import (
    diversity,
    edit_distance,
    expected_types,
    is_near,
    templates,
    words_of,
)
from tests.helpers.check_pages import good_suites

SENTENCES = [
    "Il fornaio apre il negozio.",
    "Le rondini tornano.",
    "Il fabbro apre la porta.",
    "I vicini litigano ancora.",
    "La nebbia copre la valle.",
]


def test_words_ignore_case_marks_and_how_letters_are_encoded() -> None:
    assert words_of("È l'ora: e\u0300 tardi!") == ["è", "l", "ora", "è", "tardi"]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_expected_types_are_the_mean_over_all_samples_of_that_size(size: int) -> None:
    texts = list(map(words_of, SENTENCES))
    samples = list(combinations(texts, size))
    mean = sum(len({word for text in sample for word in text}) for sample in samples) / len(samples)
    assert expected_types(texts, size) == pytest.approx(mean)


def test_a_sample_larger_than_the_suite_has_no_number() -> None:
    assert expected_types(list(map(words_of, SENTENCES)), 6) is None
    found = diversity([*"abcde"], SENTENCES)
    assert (found.n_types, found.n_tokens, found.ratio_of_equal) == (17, 22, None)


def test_a_suite_of_twenty_equal_sentences_has_one_sentences_types() -> None:
    found = diversity(list(map(str, range(20))), ["Il cane abbaia."] * 20)
    assert (found.types_of_equal, found.ratio_of_equal) == (3, pytest.approx(3 / 60))


# The distances of letters are those of Levenshtein's textbook examples.
@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("kitten", "sitting", 3), ("saturday", "sunday", 3), ("", "abc", 3), ("abc", "abc", 0)],
)
def test_the_edit_distance(one: str, other: str, distance: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == distance


def test_near_is_a_quarter_of_the_longer_sentence() -> None:
    four = ["la", "nave", "parte", "domani"]
    assert is_near(four, ["la", "nave", "parte", "oggi"])
    assert not is_near(four, ["la", "nave", "torna", "oggi"])
    assert is_near(
        [*four, "da", "qui", "sola"], ["la", "nave", "parte", "oggi", "da", "qui", "sola"]
    )
    assert not is_near(["la", "nave", "parte"], ["la", "barca", "parte"])


@given(st.lists(st.lists(st.sampled_from("abcd"), max_size=9), max_size=12))
def test_groups_are_those_of_comparing_every_two(texts: list[list[str]]) -> None:
    ids = [str(place) for place in range(len(texts))]
    near = {
        place: {other for other, text in enumerate(texts) if is_near(texts[place], text)}
        for place in range(len(texts))
    }
    groups, left = set(), set(near)
    while left:
        group, new = set(), {left.pop()}
        while new:
            group |= new
            new = set().union(*(near[place] for place in new)) - group
        left -= group
        groups.add(frozenset(str(place) for place in group))
    # Two empty texts are alike; they share no word that could bring them together.
    found = set(map(frozenset, templates(ids, texts)))
    assert found == {
        group for group in groups if len(group) > 1 and all(texts[int(i)] for i in group)
    }


def test_repeated_words_are_named_with_their_items() -> None:
    regions = [("verb", ["apre", "tornano", "Apre", "litigano", "apre"])]
    (verb,) = diversity([*"12345"], SENTENCES, regions).regions
    assert (verb.n_forms, verb.repeated) == (3, (("apre", ("1", "3", "5")),))


def alike(folder: Path, n_alike: int, *, cluster: str = "") -> Path:
    """Ten items, some of which differ in one word of five; the others share nothing."""
    rows = []
    for number in range(10):
        text = f"La lampada | è | accesa {'uvwxyzabcd'[number] * 3}."
        if number >= n_alike:
            text = " | ".join(f"{part}{number}" for part in ("Ga ra", "fa", "no lo")) + "."
        rows += [f"{number}\tmatch\t{text}", f"{number}\tmismatch\t{text.replace(' | ', ' | x')}"]
    files = good_suites()["lamps"]
    head = "item\tcondition\ttext\n"
    (folder / "items.tsv").write_text(head + "\n".join(rows) + "\n", encoding="utf-8")
    (folder / "suite.toml").write_text(files["suite.toml"] + cluster, encoding="utf-8")
    return folder


@pytest.mark.parametrize(("n_alike", "is_said"), [(4, False), (5, True), (10, True)])
def test_half_of_the_items_being_alike_is_reported(
    tmp_path: Path, n_alike: int, *, is_said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(alike(tmp_path, n_alike))
    assert invoke(["suites", "check", path]) == 0
    assert ("CIM-S076" in capsys.readouterr().out) == is_said
    assert invoke(["suites", "audit", path]) == 0
    audited = capsys.readouterr().out
    assert ("CIM-S076" in audited) == is_said
    assert "groups that differ in a quarter of the words or fewer: 1: items 0, 1, 2, 3" in audited


def test_declared_clusters_say_which_items_belong_together() -> None:
    from dataclasses import replace

    from cimento import load_suite

    suite = load_suite("it-subject-verb").suite
    few = replace(suite, items=tuple(replace(suite.items[0], id=str(n)) for n in range(12)))
    assert "CIM-S076" in {fault.code for fault in check_suite(few)}
    declared = replace(few, cluster=("number",))
    assert "CIM-S076" not in {fault.code for fault in check_suite(declared)}


def test_the_audit_as_json_has_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["suites", "audit", "it-subject-verb", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["suites"]
    assert record["diversity"]["templates"] == []
    assert record["diversity"]["n_tokens"] == 163
