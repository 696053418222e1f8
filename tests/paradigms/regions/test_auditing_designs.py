"""The audit of factorial suites: what marks one condition is in DD, whatever the model knows."""

from __future__ import annotations

import json

import pytest

from cimento import Condition, Item, Meta, Region, Suite
from cimento.cli.main import invoke
from cimento.paradigms.regions.audit import audit_region_suite
from cimento.suites.design import ISLAND_CONDITIONS, ISLAND_FACTORS
from cimento.suites.load import open_suite
from cimento.testing.models import uniform_scorer
from tests.helpers.starter import starter_suite

# short_nonisland, long_nonisland, short_island, long_island
PREPOSITION = (
    (
        "Chi pensa | che Ugo abbia stancato Ada?",
        "Chi pensi | che abbia stancato Ada?",
        "Chi pensa | che la voce di Ugo abbia stancato Ada?",
        "Di chi pensi | che la voce abbia stancato Ada?",
    ),
    (
        "Chi spera | che Eva abbia convinto Leo?",
        "Chi speri | che abbia convinto Leo?",
        "Chi spera | che la lettera di Eva abbia convinto Leo?",
        "Di chi speri | che la lettera abbia convinto Leo?",
    ),
)
MATCHED = (
    (
        "Chi spera | che Ugo abbia aiutato la zia di Ada?",
        "Di chi speri | che Ugo abbia aiutato la zia?",
        "Chi spera | che la zia di Ada abbia aiutato Ugo?",
        "Di chi speri | che la zia abbia aiutato Ugo?",
    ),
    (
        "Chi teme | che Leo abbia visto il cane di Eva?",
        "Di chi temi | che Leo abbia visto il cane?",
        "Chi teme | che il cane di Eva abbia visto Leo?",
        "Di chi temi | che il cane abbia visto Leo?",
    ),
)


def suite_of(rows, language="it"):
    items = tuple(
        Item(
            f"subject-{number}",
            tuple(
                Condition(
                    name,
                    tuple(Region(part) for part in text.split(" | ")),
                    {
                        "phenomenon": "subject",
                        **dict(zip(ISLAND_FACTORS, name.split("_"), strict=True)),
                    },
                )
                for name, text in zip(ISLAND_CONDITIONS, row, strict=True)
            ),
        )
        for number, row in enumerate(rows, start=1)
    )
    return Suite(
        meta=Meta("prova", language=language),
        region_names=("matrix", "embedded"),
        predictions=(),
        items=items,
        factors=dict(ISLAND_FACTORS),
    )


def confounds_of(suite, **options):
    return [
        (confound.condition, confound.region_name, confound.what, len(confound.items))
        for confound in audit_region_suite(suite, **options).confounds or ()
    ]


def test_a_preposition_in_one_condition_only_is_found():
    confounds = audit_region_suite(suite_of(PREPOSITION)).confounds
    assert confounds is not None
    first = confounds[0]
    assert (first.phenomenon, first.condition, first.region) == ("subject", "long_island", 1)
    assert first.detail == "begins with a preposition (di), the other three with a wh-word (chi)"
    assert first.items == ("subject-1", "subject-2")
    assert first.n_items == 2
    assert next(confound.detail for confound in confounds if confound.what == "words") == (
        "has 1 word more than the other three add up to"
    )


def test_what_changes_with_one_factor_alone_is_none():
    """Both long conditions begin with a preposition, and subjects and objects change places."""
    assert confounds_of(suite_of(MATCHED)) == []
    complementizers = (
        ("Chi sa | che Ugo parte?", "A chi sai | che Ugo scrive?",
         "Chi sa | se Ugo parte?", "A chi sai | se Ugo scrive?"),
    )  # fmt: skip
    assert confounds_of(suite_of(complementizers)) == []


@pytest.mark.parametrize("odd", range(4))
def test_the_condition_that_is_marked_is_named(odd):
    row = ["Who said | that Ann left early?"] * 4
    row[odd] = "Who said | the sad and tired Ann left early?"
    name = ISLAND_CONDITIONS[odd]
    assert confounds_of(suite_of([row], language="en")) == [
        (name, "embedded", "beginning", 1),
        (name, "embedded", "words", 1),
    ]
    (_, words) = audit_region_suite(suite_of([row], language="en")).confounds or ()
    assert words.detail == "has 3 words more than the other three add up to"


def test_lengths_that_do_not_add_up_are_found_where_all_differ():
    row = (
        "Chi sa | uno?",
        "Chi sa | uno due?",
        "Chi sa | uno due tre?",
        "Chi sa | uno due tre e un altro?",
    )
    assert confounds_of(suite_of([row])) == [("long_island", "embedded", "words", 1)]


def test_a_comma_in_one_condition_is_found():
    row = ("Chi sa | se parte?", "Chi sa | se parte?", "Chi sa | se parte?", "Chi sa | se, parte?")
    assert confounds_of(suite_of([row])) == [("long_island", "embedded", "punctuation marks", 1)]


def test_excesses_that_cancel_out_are_no_confound():
    more = ("Chi sa | se va?", "Chi sa | se va?", "Chi sa | se va?", "Chi sa | se va via?")
    less = ("Chi sa | se va via?", "Chi sa | se va via?", "Chi sa | se va via?", "Chi sa | se va?")
    assert confounds_of(suite_of([more, less])) == []
    assert confounds_of(suite_of([more, more, less])) == [("long_island", "embedded", "words", 2)]


def test_one_item_of_many_is_let_be():
    assert confounds_of(suite_of([*MATCHED * 5, PREPOSITION[0]])) == []


def test_in_a_language_without_lists_frequent_first_words_tell():
    row = ("Wer glaubt | es?", "Wer glaubt | es?", "Wer glaubt | es?", "Von wem glaubt man | es?")
    confounds = audit_region_suite(suite_of([row, row], language="de")).confounds or ()
    assert [(confound.condition, confound.what) for confound in confounds] == [
        ("long_island", "beginning"), ("long_island", "words"),
    ]  # fmt: skip


def test_tokens_are_counted_where_there_is_a_model():
    assert (
        "long_island", "matrix", "tokens", 2
    ) in confounds_of(suite_of(PREPOSITION), scorer=uniform_scorer(100))  # fmt: skip
    assert confounds_of(suite_of(MATCHED), scorer=uniform_scorer(100)) == []


def test_suites_without_two_factors_have_no_such_list():
    assert audit_region_suite(starter_suite("it-subject-verb")).confounds is None


@pytest.mark.parametrize("name", ["it-islands", "en-filler-gap"])
def test_starter_suites_have_none(name):
    assert audit_region_suite(starter_suite(name)).confounds == ()


def test_the_command_says_where_and_what_to_do(tmp_path, capsys):
    folder = tmp_path / "prova"
    folder.mkdir()
    (folder / "suite.toml").write_text(
        'regions = ["matrix", "embedded"]\n[meta]\nname = "prova"\nlanguage = "it"\n'
        '[factors]\ndistance = ["short", "long"]\nstructure = ["nonisland", "island"]\n',
        encoding="utf-8",
    )
    lines = ["item\tcondition\ttext\tdistance\tstructure"]
    for number, row in enumerate(PREPOSITION):
        lines += [
            "\t".join((str(number), name, text, *name.split("_")))
            for name, text in zip(ISLAND_CONDITIONS, row, strict=True)
        ]
    (folder / "items.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert open_suite(folder).suite.factors
    assert invoke(["suites", "audit", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "prova, long_island, region 1 (matrix): begins with a preposition (di)" in out
    assert "in 2 of 2 items" in out
    assert "--table regions" in out
    assert invoke(["suites", "audit", str(folder), "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)["suites"]
    assert record["confounds"][0]["condition"] == "long_island"
