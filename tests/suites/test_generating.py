"""Suites from grammars: balanced, without duplicates, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.cli.main import invoke
from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar import Grammar
from cimento.corpus.grammar_files import find_grammar, grammar_names, read_grammar
from cimento.suites.checks import check_suite
from cimento.suites.load import open_suite
from tests.helpers.some_slow import some_slow

GRAMMAR = """
name = "adjectives"
language = "it"
regions = ["subject", "between", "adjective"]
cap = 1
{extra}
[features]
number = ["sg", "pl"]
gender = ["m", "f"]

[parts.noun]
inflects = ["number"]

[parts.adjective]
inflects = ["gender", "number"]

[[templates]]
name = "copula"
text = "{{S}} | [vicino {{A}}] | {{P}}."

[templates.slots.S]
pos = "noun"
vary = ["number", "gender"]

[templates.slots.A]
pos = "noun"
differs_from = "S"
features = ["number", "gender"]

[templates.slots.P]
pos = "adjective"
agrees_with = "S"
features = ["gender", "number"]
target = true
"""
LEXICON = (
    "pos\tlemma\tgender\tform:sg\tform:pl\tform:m.sg\tform:f.sg\tform:m.pl\tform:f.pl\n"
    "noun\ttavolo\tm\til tavolo\ti tavoli\t\t\t\t\n"
    "noun\tsedia\tf\tla sedia\tle sedie\t\t\t\t\n"
    "noun\tletto\tm\til letto\ti letti\t\t\t\t\n"
    "noun\tporta\tf\tla porta\tle porte\t\t\t\t\n"
    "adjective\trosso\t\t\t\trosso\trossa\trossi\trosse\n"
    "adjective\tverde\t\t\t\tverde\tverde\tverdi\tverdi\n"
    "adjective\tlungo\t\t\t\tlungo\tlunga\tlunghi\tlunghe\n"
)


def folder(path: Path, *, grammar: str = "", extra: str = "", lexicon: str = LEXICON) -> Path:
    path.mkdir(exist_ok=True)
    text = grammar or GRAMMAR.format(extra=extra)
    (path / "grammar.toml").write_text(text, encoding="utf-8")
    (path / "lexicon.tsv").write_text(lexicon, encoding="utf-8")
    return path


@pytest.fixture
def grammar(tmp_path: Path) -> Grammar:
    return read_grammar(folder(tmp_path / "grammar"))


def test_items_are_balanced_and_the_twin_has_an_attractor_of_the_other_kind(
    grammar: Grammar,
) -> None:
    suite, twin = generate_suites(grammar, n=8, seed=3)
    assert twin is not None
    cells = Counter((i.column("number"), i.column("gender")) for i in suite.items)
    assert cells == {(n, g): 2 for n in ("sg", "pl") for g in ("m", "f")}
    for plain, other in zip(suite.items, twin.items, strict=True):
        assert plain.condition("match").regions[1].text == ""
        assert other.condition("match").regions[1].text.startswith("vicino ")
        assert other.column("attractor_number") != other.column("number")
        assert other.column("attractor_gender") != other.column("gender")
        assert plain.condition("match").regions[2] == other.condition("match").regions[2]


def test_every_combination_of_features_is_made_wrong(grammar: Grammar) -> None:
    suite, _ = generate_suites(grammar, n=4, seed=0)
    item = next(i for i in suite.items if (i.column("number"), i.column("gender")) == ("pl", "f"))
    forms = {c.name: c.regions[2].text for c in item.conditions}
    endings = {name: text.rstrip(".")[-1] for name, text in forms.items()}
    assert endings == {
        "match": "e",
        "mismatch_gender": "i",
        "mismatch_number": "a",
        "mismatch_gender_number": "o",
    }
    assert [p.formula for p in suite.predictions] == [
        f"(3;%match%) < (3;%{name}%)" for name in list(forms)[1:]
    ]


def test_a_word_with_equal_forms_tells_nothing(grammar: Grammar) -> None:
    suite, _ = generate_suites(grammar, n=8, seed=1)
    assert "verde" not in {item.column("lemma") for item in suite.items}


def test_some_wrong_forms_can_be_chosen(tmp_path: Path) -> None:
    made = read_grammar(folder(tmp_path / "g", extra='wrong = [["number"]]'))
    suite, _ = generate_suites(made, n=4, seed=0)
    assert suite.condition_names == ("match", "mismatch_number")
    assert not any(fault.severity == "error" for fault in check_suite(suite))


def test_a_small_lexicon_runs_out(grammar: Grammar) -> None:
    with pytest.raises(InputError, match=r"no further item can be made after \d+ of 500"):
        generate_suites(grammar, n=500, seed=0)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=10)
def test_no_sentence_twice_and_the_same_again(seed: int) -> None:
    built_in = read_grammar(find_grammar("it-subject-verb"))
    suite, twin = generate_suites(built_in, n=24, seed=seed)
    texts = [tuple(r.text for r in i.condition("match").regions) for i in suite.items]
    assert len(set(texts)) == 24
    assert generate_suites(built_in, n=24, seed=seed) == (suite, twin)


@pytest.mark.slow
@pytest.mark.parametrize("name", some_slow(grammar_names(), quick=8))
def test_built_in_grammars_make_sound_suites(name: str) -> None:
    for suite in filter(None, generate_suites(read_grammar(find_grammar(name)), n=48, seed=0)):
        assert [fault for fault in check_suite(suite) if fault.severity == "error"] == []


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ('agrees_with = "S"', 'agrees_with = "Q"', "no slot before it 'Q'"),
        ('pos = "adjective"', 'pos = "adverb"', "no part of speech 'adverb'"),
        ('vary = ["number", "gender"]', 'vary = ["tense"]', "no feature 'tense'"),
        ("target = true", "target = false", "not exactly one target"),
        ("{S} | [vicino", "{S} [vicino", "the text has 2 regions"),
        ("{S} | [vicino {A}]", "{S} | [vicino]", "the text has the slots"),
        ("vary =", "varies =", "the key 'varies' is unknown"),
        ('language = "it"', "", "a key is missing"),
        ("[features]", "[features", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_grammar_is_said(tmp_path: Path, old: str, new: str, seen: str) -> None:
    text = GRAMMAR.format(extra="")
    assert old in text
    with pytest.raises(InputError, match=seen):
        read_grammar(folder(tmp_path / "g", grammar=text.replace(old, new)))


def test_an_unknown_part_of_speech_names_its_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lexicon.tsv row 9: the part of speech 'nuon'"):
        read_grammar(folder(tmp_path / "g", lexicon=LEXICON + "nuon\tx\t\t\t\t\t\t\t\n"))


def test_the_command_writes_suites_that_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    command = ["suites", "build", "pairs", "es-subject-verb", "-o", str(out), "--items", "4"]
    assert invoke(command) == 0
    suite = open_suite(out / "es-subject-verb-generated").suite
    assert len(suite.items) == 4
    assert invoke(["suites", "build", "pairs", "es-subject-vreb", "-o", str(out)]) == 2
    assert "Did you mean 'es-subject-verb'" in capsys.readouterr().err


def test_suites_that_are_there_are_replaced_only_by_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["suites", "build", "pairs", "es-subject-verb", "-o", str(tmp_path), "--items", "4"]
    assert invoke(command) == 0
    table = tmp_path / "es-subject-verb-generated" / "items.tsv"
    table.write_text("mine", encoding="utf-8")
    assert invoke([*command, "--seed", "1"]) != 0
    printed = capsys.readouterr().err
    assert "es-subject-verb-generated" in printed
    assert "--force" in printed
    assert table.read_text(encoding="utf-8") == "mine"
    assert invoke([*command, "--force"]) == 0
    assert len(open_suite(table.parent).suite.items) == 4


def test_nothing_is_written_before_all_grammars_are_found(tmp_path: Path) -> None:
    command = ["suites", "build", "pairs", "es-subject-verb", "nope", "-o", str(tmp_path / "out")]
    assert invoke(command) == 2
    assert not (tmp_path / "out").exists()


def test_grammars_that_are_named_are_the_ones_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["suites", "build", "pairs", "--list", "es-subject-verb"]) == 0
    printed = capsys.readouterr().out
    assert "es-subject-verb" in printed
    assert "en-transitivity" not in printed
    assert len(printed.splitlines()) < 4


DESIGN = """
name = "adjuncts"
language = "it"
regions = ["main_clause", "embedded_clause"]
cap = 1

[factors]
distance = ["short", "long"]
structure = ["nonisland", "island"]

[features]
number = ["sg", "pl"]

[parts.person]
inflects = ["number"]

[parts.verb]
inflects = ["number"]

[parts.thing]
inflects = []

[[templates]]
name = "adjunct"

[templates.texts]
short_nonisland = "Chi spera che | {S} {V} {O}?"
long_nonisland = "Che cosa speri che | {S} {V}?"
short_island = "Chi se ne va prima che | {S} {V} {O}?"
long_island = "Che cosa te ne vai prima che | {S} {V}?"

[templates.slots.S]
pos = "person"
vary = ["number"]

[templates.slots.V]
pos = "verb"
agrees_with = "S"
features = ["number"]

[templates.slots.O]
pos = "thing"
"""
DESIGN_WORDS = (
    "pos\tlemma\tform:sg\tform:pl\tform:\n"
    "person\tcuoco\til cuoco\ti cuochi\t\n"
    "person\tvicina\tla vicina\tle vicine\t\n"
    "verb\tcomprare\tcompri\tcomprino\t\n"
    "verb\ttrovare\ttrovi\ttrovino\t\n"
    "thing\tanello\t\t\tl'anello\n"
    "thing\tvaligia\t\t\tla valigia\n"
)


def design(folder: Path, text: str = DESIGN) -> Path:
    (folder / "grammar.toml").write_text(text, encoding="utf-8")
    (folder / "lexicon.tsv").write_text(DESIGN_WORDS, encoding="utf-8")
    return folder


def test_items_of_a_factorial_design_have_the_same_words_in_every_condition(tmp_path: Path) -> None:
    suite, twin = generate_suites(read_grammar(design(tmp_path)), n=16, seed=5)
    assert twin is None
    assert check_suite(suite) == [] or {f.severity for f in check_suite(suite)} == {"warning"}
    assert dict(suite.factors) == {
        "distance": ("short", "long"), "structure": ("nonisland", "island")
    }  # fmt: skip
    # By hand: 2 persons, 2 numbers, 2 verbs, 2 things make 16 items, each with 4 sentences.
    whole = [
        {condition.name: " ".join(r.text for r in condition.regions) for condition in i.conditions}
        for i in suite.items
    ]
    assert len({tuple(texts.values()) for texts in whole}) == 16
    known = {
        "short_nonisland": "Chi spera che il cuoco compri l'anello?",
        "long_nonisland": "Che cosa speri che il cuoco compri?",
        "short_island": "Chi se ne va prima che il cuoco compri l'anello?",
        "long_island": "Che cosa te ne vai prima che il cuoco compri?",
    }
    assert known in whole
    first = suite.items[0].conditions[-1]
    assert (first.name, first.columns["distance"], first.columns["structure"]) == (
        "long_island", "long", "island"
    )  # fmt: skip
    assert any("long_island" in prediction.formula for prediction in suite.predictions)


def test_a_generated_design_has_its_interaction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grammar = tmp_path / "g"
    grammar.mkdir()
    arguments = ["suites", "build", "pairs", str(design(grammar)), "--items", "8", "-o"]
    assert invoke([*arguments, str(tmp_path / "out")]) == 0
    runs = str(tmp_path / "runs")
    assert invoke(["run", str(tmp_path / "out" / "adjuncts"), "-m", "demo-causal", "-o", runs]) == 0
    assert "DD" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("long_island =", "long_islands =", "Its conditions are short_nonisland"),
        ("vai prima che |", "vai prima che", "1 regions"),
    ],
)
def test_a_design_with_a_fault_is_refused(tmp_path: Path, old: str, new: str, seen: str) -> None:
    with pytest.raises(InputError, match=seen):
        read_grammar(design(tmp_path, DESIGN.replace(old, new)))
