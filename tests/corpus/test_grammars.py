"""Suites of a shared lexicon: pairs of texts, selection, forms, the cap, and every built-in one."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from math import ceil
from pathlib import Path

import openpyxl
import pytest

from cimento import InputError, Suite
from cimento.cli.main import invoke
from cimento.corpus.generation import generate_suites, lengths
from cimento.corpus.grammar_files import (
    CLASSES,
    find_grammar,
    grammar_names,
    read_grammar,
)
from cimento.suites.checks import check_suite
from cimento.suites.load import open_suite
from cimento.suites.stimuli import stimulus_text
from tests.helpers.site_pages import site_module
from tests.helpers.some_slow import some_slow

LANGUAGE = """
language = "en"
spelling = [["\\\\b(a) (?=[aeiou])", "\\\\1n "]]

[features]
number = ["sg", "pl"]
gender = ["m", "f"]

[parts]
noun = { inflects = ["number"] }
verb = { inflects = ["number"] }
pronoun = { inflects = ["gender"], closed = true }
"""
WORDS = (
    "pos\tlemma\tgender\tkind\tobject\tform:sg\tform:pl\tform:past\tform:m\tform:f\n"
    "noun\tking\tm\tperson\t\tking\tkings\t\t\t\n"
    "noun\tqueen\tf\tperson\t\tqueen\tqueens\t\t\t\n"
    "noun\tcook\tm f\tperson\t\tcook\tcooks\t\t\t\n"
    "noun\tapple\t\tfood thing\t\tapple\tapples\t\t\t\n"
    "noun\tlamp\t\tdevice, thing\t\tlamp\tlamps\t\t\t\n"
    "noun\tclock\t\tdevice thing\t\tclock\tclocks\t\t\t\n"
    "verb\teat\t\t\tfood\teats\teat\tate\t\t\n"
    "verb\trepair\t\t\tdevice\trepairs\trepair\trepaired\t\t\n"
    "verb\tsleep\t\t\t\tsleeps\tsleep\tslept\t\t\n"
    "pronoun\tself\t\t\t\t\t\t\thimself\therself\n"
)
SELECTION = """
class = "argument structure"
description = "Kings do things to things."
source = "Us (2026)."
regions = ["beginning", "verb", "object"]
critical = "verb"
cap = 1

[[templates]]
name = "selection"
good = "The {S} | {V:past} | a {O}."
bad = "The {S} | {W:past} | a {O}."

[templates.slots]
S = { pos = "noun", where = { kind = "person", gender = "m" }, fixed = { gender = "m" } }
V = { pos = "verb", where = { object = ["food", "device"] } }
O = { pos = "noun", where = { kind = "V.object" } }
W = { pos = "verb", where = { object = "!food" } }
"""


def language(folder: Path, content: str, *, words: str = WORDS) -> Path:
    (folder / "language.toml").write_text(LANGUAGE, encoding="utf-8")
    (folder / "lexicon.tsv").write_text(words, encoding="utf-8")
    (folder / "mine.toml").write_text(content, encoding="utf-8")
    return folder / "mine.toml"


def sentences(suite: Suite) -> list[dict[str, str]]:
    return [{c.name: stimulus_text(c) for c in item.conditions} for item in suite.items]


def test_objects_are_those_that_a_verb_selects(tmp_path: Path) -> None:
    suite, twin = generate_suites(read_grammar(language(tmp_path, SELECTION)), n=6, seed=1)
    assert twin is None
    assert suite.name == "en-mine-generated"
    # By hand: king or cook; eat an apple, or repair a lamp or a clock. The other verb is one that
    # selects no food: sleep, or repair beside eat. No sentence may come back, good or bad.
    good = {
        f"The {person} {rest}."
        for person in ("king", "cook")
        for rest in ("ate an apple", "repaired a lamp", "repaired a clock")
    }
    pairs = sentences(suite)
    assert {pair["good"] for pair in pairs} == good
    for pair in pairs:
        verb = pair["bad"].split()[2]
        assert verb in ({"slept", "repaired"} - {pair["good"].split()[2]})
        assert pair["bad"].split()[3:] == pair["good"].split()[3:]
    assert [p.formula for p in suite.predictions] == ["(2;%good%) < (2;%bad%)"]
    assert suite.meta.tags == ("argument structure",)
    assert (suite.meta.comment, suite.meta.reference) == (
        "Kings do things to things.",
        "Us (2026).",
    )
    assert lengths(suite) == "all conditions of an item have the same number of words"


def test_when_no_more_can_be_made_their_number_is_said(tmp_path: Path) -> None:
    grammar = read_grammar(language(tmp_path, SELECTION))
    seen = r"after 6 of 7; the sentences that were tried are there already"
    with pytest.raises(InputError, match=seen):
        generate_suites(grammar, n=7, seed=1)


def test_the_cap_is_said_with_the_slot(tmp_path: Path) -> None:
    grammar = read_grammar(language(tmp_path, SELECTION.replace("cap = 1", "cap = 0.75")))
    suite, _ = generate_suites(grammar, n=4, seed=0)
    words = Counter(word for item in suite.items for word in str(item.column("words")).split("; "))
    assert max(words.values()) <= 3
    grammar = read_grammar(language(tmp_path, SELECTION.replace("cap = 1", "cap = 0.2")))
    with pytest.raises(InputError, match=r"finds no word that fits and is in fewer than 1 items"):
        generate_suites(grammar, n=4, seed=0)


TEXTS = """
regions = ["sentence"]
cap = 1

[[templates]]
name = "forms"
good = "{S} {V} as the {O:pl} {V:!number}."
bad = "{S} {V:!number} as the {O:pl} {V}."

[templates.slots]
S = { pos = "noun", where = { kind = "person" }, fixed = { number = "pl" } }
O = { pos = "noun", where = { kind = "food" } }
V = { pos = "verb", agrees_with = "S", features = ["number"], where = { object = "food" } }
"""


def test_a_colon_names_a_form_or_the_next_value_of_a_feature(tmp_path: Path) -> None:
    suite, _ = generate_suites(read_grammar(language(tmp_path, TEXTS)), n=3, seed=0)
    pairs = sentences(suite)
    assert {
        "good": "Kings eat as the apples eats.",
        "bad": "Kings eats as the apples eat.",
    } in pairs
    assert [p.formula for p in suite.predictions] == ["(*;%good%) < (*;%bad%)"]


AGREEMENT = """
regions = ["subject", "verb", "pronoun"]
wrong = [["gender"]]
cap = 1

[[templates]]
name = "reflexive"
text = "The {S} | {V:past} | {P}."

[templates.slots]
S = { pos = "noun", where = { kind = "person" }, vary = ["gender"] }
V = { pos = "verb", where = { object = "food" } }
P = { pos = "pronoun", agrees_with = "S", features = ["gender"], target = true }
"""


def test_a_word_of_two_genders_takes_them_in_turn_and_one_without_takes_none(
    tmp_path: Path,
) -> None:
    words = WORDS + "noun\tjudge\t\tperson\t\tjudge\tjudges\t\t\t\n"
    grammar = read_grammar(
        language(tmp_path, AGREEMENT.replace("cap = 1", "cap = 0.5"), words=words)
    )
    # King and cook are masculine, queen and cook feminine, and nothing says what the judge is.
    with pytest.raises(InputError, match="finds no word"):
        generate_suites(grammar, n=6, seed=0)
    words = words.replace("verb\tsleep\t\t\t\t", "verb\tsleep\t\t\tfood\t")
    grammar = read_grammar(language(tmp_path, AGREEMENT, words=words))
    suite, _ = generate_suites(grammar, n=8, seed=0)
    assert {pair["match"] for pair in sentences(suite)} == {
        f"The {subject} {verb} {self}."
        for verb in ("ate", "slept")
        for subject, self in (
            ("king", "himself"), ("queen", "herself"), ("cook", "himself"), ("cook", "herself")
        )
    }  # fmt: skip


def test_what_conditions_differ_in_length_is_said(tmp_path: Path) -> None:
    content = SELECTION.replace("{W:past} |", "{W:past} | not")
    suite, _ = generate_suites(read_grammar(language(tmp_path, content)), n=4, seed=0)
    assert lengths(suite) == "words more or fewer than good: +1 in 4"


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("{V:past}", "{V:psat}", "no form 'psat'"),
        ('"V.object"', '"V.objct"', "no feature 'objct'"),
        ('["food", "device"]', '["fod", "device"]', "no verb with object = 'fod'"),
        ('"!food"', '"!fod"', "no verb with object = 'fod'"),
        ('fixed = { gender = "m" }', 'fixed = { gender = "n" }', "no value of gender 'n'"),
        ('critical = "verb"', 'critical = "verbs"', "no region 'verbs'"),
        ('class = "argument structure"', 'class = "arguments"', "no class 'arguments'"),
        ("cap = 1", "cap = 5", "cap is 5"),
        ("cap = 1", "cup = 1", "the key 'cup' is unknown"),
        ('good = "The', 'good = "The {S', "a brace without its slot"),
        ("good =", "text =", "a key is missing"),
    ],
)
def test_faults_are_named(tmp_path: Path, old: str, new: str, seen: str) -> None:
    assert old in SELECTION
    with pytest.raises(InputError, match=seen):
        read_grammar(language(tmp_path, SELECTION.replace(old, new)))


def test_a_word_twice_in_the_lexicon_is_refused(tmp_path: Path) -> None:
    words = WORDS + "noun\tking\tm\tperson\t\tking\tkings\t\t\t\n"
    with pytest.raises(InputError, match="row 12: the noun 'king' is there twice"):
        read_grammar(language(tmp_path, SELECTION, words=words))


@pytest.mark.parametrize("name", grammar_names())
def test_built_in_grammars_are_whole(name: str) -> None:
    grammar = read_grammar(find_grammar(name))
    assert grammar.term in CLASSES
    assert grammar.description
    assert grammar.source


@pytest.mark.parametrize("name", some_slow(grammar_names(), quick=4))
def test_built_in_grammars_make_the_same_suites_each_time(name: str) -> None:
    grammar = read_grammar(find_grammar(name))
    first, twin = generate_suites(grammar, n=12, seed=0)
    assert len(first.items) == 12
    assert twin is None or len(twin.items) == 12
    assert generate_suites(grammar, n=12, seed=0) == (first, twin)


@pytest.mark.parametrize("name", some_slow(grammar_names(), quick=16))
def test_built_in_grammars_keep_the_rules(name: str) -> None:
    grammar = read_grammar(find_grammar(name))
    suites = generate_suites(grammar, n=200, seed=0)
    for suite in filter(None, suites):
        assert [fault for fault in check_suite(suite) if fault.severity == "error"] == []
        texts = [tuple(sorted(pair.items())) for pair in sentences(suite)]
        assert len(set(texts)) == 200
        words = Counter(
            word for item in suite.items for word in set(str(item.column("words")).split("; "))
        )
        assert max(words.values()) <= ceil(grammar.cap * 200), words.most_common(3)
        kinds = Counter(
            tuple(item.conditions[0].columns[column] for column in _balanced(suite))
            for item in suite.items
        )
        assert max(kinds.values()) - min(kinds.values()) <= 1, kinds


def _balanced(suite: Suite) -> list[str]:
    """The columns over which items are balanced: templates, and features that vary."""
    return [name for name in suite.columns.free if name in ("template", "phenomenon")]


def test_features_that_vary_are_balanced() -> None:
    suite, _ = generate_suites(read_grammar(find_grammar("en-anaphor-gender")), n=200, seed=4)
    assert Counter((item.column("template"), item.column("gender")) for item in suite.items) == {
        (template, gender): 50 for template in ("past", "perfect") for gender in ("m", "f")
    }


def test_the_seed_changes_the_words() -> None:
    grammar = read_grammar(find_grammar("en-transitivity"))
    one, other = (sentences(generate_suites(grammar, n=20, seed=seed)[0]) for seed in (0, 1))
    assert one != other


def test_commands_list_and_make_all_of_a_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["suites", "build", "pairs", "--list", "--all", "es"]) == 0
    listed = capsys.readouterr().out
    assert "es-subject-verb" in listed
    assert "en-transitivity" not in listed
    path = language(tmp_path, SELECTION)
    out = tmp_path / "out"
    command = ["suites", "build", "pairs", str(path), "--items", "4", "-o", str(out)]
    assert invoke([*command, "--all", "ru"]) == 0
    capsys.readouterr()
    assert open_suite(out / "en-mine-generated").suite.meta.tags == ("argument structure",)
    assert len(open_suite(out / "ru-subject-verb-generated-adversarial").suite.items) == 4
    assert invoke(["suites", "build", "pairs", "--all", "tlh", "-o", str(out)]) == 2
    assert "no grammars of this language" in capsys.readouterr().err
    assert invoke(["suites", "build", "pairs", "-o", str(out)]) == 2
    assert "no grammar is given" in capsys.readouterr().err
    assert invoke(["suites", "build", "pairs", "es-subject-verb"]) == 2
    assert "no folder for the suites is given" in capsys.readouterr().err


def test_one_command_makes_the_suites_of_several_languages_for_a_reader_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, review = tmp_path / "made", tmp_path / "review"
    command = ["suites", "build", "pairs", "--all", "es", "--all", "ru", "--class", "agreement"]
    more = ["--items", "12", "-o", str(made), "--review", str(review), "--reviewed", "3"]
    assert invoke([*command, *more]) == 0
    said = capsys.readouterr().err
    suites = {path.parent.name: open_suite(path.parent).suite for path in made.glob("*/suite.toml")}
    assert {suite.meta.tags for suite in suites.values()} == {("agreement",)}
    assert {suite.meta.language for suite in suites.values()} == {"es", "ru"}
    assert f"{12 * len(suites):,} items in {len(suites)} suites of 2 languages" in said
    assert "They are drafts" in said
    audits = (review / "audit.txt").read_text(encoding="utf-8")
    assert all(f"{name}: 12 items" in audits for name in suites)
    rows = list(openpyxl.load_workbook(review / "review-ru.xlsx").active.values)
    read = {(row[0], row[rows[0].index("item")]) for row in rows[1:]}
    plain = {name for name in suites if name[:2] == "ru" and not name.endswith("-adversarial")}
    assert Counter(name for name, _ in read) == dict.fromkeys(plain, 3)
    # What a reader says of one suite goes into a copy of that suite.
    sheet, name = review / "review-ru.xlsx", "ru-subject-verb-generated"
    back = ["annotate", "review", "import", str(made / name), str(sheet), "--reviewer", "Вера"]
    assert invoke([*back, "-o", str(tmp_path / "copy")]) == 0
    assert "draft, 0 of 24 rows reviewed by Вера" in capsys.readouterr().err
    assert invoke([*back[:3], str(tmp_path / "copy"), *back[4:], "-o", str(tmp_path / "no")]) == 0


def test_a_class_without_grammars_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["suites", "build", "pairs", "-o", "nowhere", "--class", "agrement"]
    assert invoke([*command, "--all", "es"]) == 2
    assert "Did you mean 'agreement'?" in capsys.readouterr().err
    assert invoke(command) == 2
    assert "Add --all LANG" in capsys.readouterr().err


def test_the_page_lists_every_built_in_grammar() -> None:
    page = site_module("grammars").grammars_page()
    assert [name for name in grammar_names() if f"| `{name}` |" not in page] == []


@pytest.mark.slow
def test_the_page_has_the_accuracies_of_ngrams() -> None:
    script = Path(__file__).parents[2] / "scripts" / "grammar_table.py"
    assert subprocess.run([sys.executable, str(script), "--check"], check=False).returncode == 0  # noqa: S603  # our own script


def test_a_suite_says_whose_speech_its_bad_sentences_are():
    suite, _ = generate_suites(read_grammar(find_grammar("pt-subject-verb")), n=4, seed=1)
    assert "in spoken Brazilian Portuguese" in suite.meta.comment
    assert suite.meta.tags == ("agreement", "norm")
    other, _ = generate_suites(read_grammar(find_grammar("pt-ser-estar")), n=4, seed=1)
    assert "norm" not in other.meta.tags
