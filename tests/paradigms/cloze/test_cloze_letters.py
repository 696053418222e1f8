"""The same letters in other spellings: every number was counted by hand on the plain spelling."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento.cli.main import invoke
from cimento.paradigms.cloze.files import check_cloze, write_cloze
from cimento.paradigms.cloze.judging import option_scores
from cimento.paradigms.cloze.judgments import human_judgments, reuse_judgments
from cimento.paradigms.cloze.people import (
    compare_with_people,
    count_first_matches,
    count_top_classes,
    read_option_counts,
)
from cimento.paradigms.cloze.recording import logged_options
from cimento.paradigms.cloze.requests import Candidate, by_item
from cimento.paradigms.cloze.shares import hit_ranks
from cimento.suites import Meta
from cimento.suites.cloze import (
    BaseSentence,
    ClozeItem,
    ClozeSuite,
    MultiwordItem,
    Option,
    SeedSet,
    Template,
)
from tests.helpers.spellings import decomposed, spellings

TARGETS = {"porta": "dov'è", "pioggia": "perché", "nonna": "è"}
OTHERS = {"porta": "dov'era", "pioggia": "benché", "nonna": "càpita"}
CANDIDATES = {
    "porta": ["com'è", "Dov'è", "dov'era"],  # rank 2, and the alternative among three
    "pioggia": ["Benché", "e", "ma"],  # no hit, the alternative first
    "nonna": ["è", "era", "sta"],  # rank 1
}
SCORES = {"dov'è": -1.0, "dov'era": -2.0, "perché": -3.0, "benché": -2.5, "è": -1.0, "càpita": -4.0}


def items_in(spell) -> list[ClozeItem]:
    return [
        ClozeItem(
            name,
            f"{name} ",
            ".",
            (Option(spell(target)), Option(spell(OTHERS[name]), "plausible")),
        )
        for name, target in TARGETS.items()
    ]


def candidates_in(spell) -> list[Candidate]:
    return [
        Candidate(item, rank, spell(text))
        for item, texts in CANDIDATES.items()
        for rank, text in enumerate(texts, start=1)
    ]


@given(st.data())
def test_no_spelling_of_targets_and_candidates_changes_a_hit_or_a_class(data):
    def spell(text):
        return data.draw(spellings(text))

    items, candidates = items_in(spell), candidates_in(spell)
    assert hit_ranks(items, candidates) == {"porta": 2, "pioggia": None, "nonna": 1}
    classes = count_top_classes(items, by_item(candidates), k=3)
    assert {name: share.correct for name, share in classes.items()} == {
        "target": 1, "plausible": 1, "both": 1, "other": 0,
    }  # fmt: skip
    first = count_first_matches(items, by_item(candidates))
    assert {name: share.correct for name, share in first.items()} == {
        "target": 1, "plausible": 1, "other": 1,
    }  # fmt: skip


@given(data=st.data())
def test_no_spelling_changes_what_people_judged_or_chose(data, tmp_path_factory):
    def spell(text):
        return data.draw(spellings(text))

    items, folder = items_in(spell), tmp_path_factory.mktemp("people")
    rows = [(c.item, c.text, "yes" if c.rank == 1 else "no") for c in candidates_in(spell)]
    judged = folder / "judged.tsv"
    lines = ["item\tcandidate\tfits", *("\t".join(row) for row in rows)]
    judged.write_text("\n".join(lines) + "\n", encoding="utf-8")
    fits = human_judgments(None, judged)
    assert [fits[one.key] for one in candidates_in(spell)] == [True, False, False] * 3
    earlier = [Candidate("nonna", 7, spell("è"), fits=True)]
    assert reuse_judgments(candidates_in(spell), earlier).taken == 1

    choices = folder / "choices.tsv"
    counts = {"dov'è": 3, "dov'era": 1, "benché": 4, "none": 2, "è": 5}
    item_of = {**{t: n for n, t in TARGETS.items()}, **{t: n for n, t in OTHERS.items()}}
    rows = [(item_of.get(text, "nonna"), spell(text), str(n)) for text, n in counts.items()]
    lines = ["item\toption\tcount", *("\t".join(row) for row in rows)]
    choices.write_text("\n".join(lines) + "\n", encoding="utf-8")
    logprobs = {
        item.id: {spell(text): SCORES[text] for text in (TARGETS[item.id], OTHERS[item.id])}
        for item in items
    }
    report = compare_with_people(items, read_option_counts(choices, items), logprobs)
    # People: target 3 to 1, plausible 4 to 0, target 5 (and 2 none); the model: the same options.
    assert {name: share.correct for name, share in report.majorities.items()} == {
        "target": 2, "plausible": 1,
    }  # fmt: skip
    assert (report.same_mode.correct, report.same_mode.n) == (3, 3)


@given(st.data())
def test_options_of_a_recording_are_those_of_the_suite_in_any_spelling(data):
    [item, *_] = items_in(lambda text: data.draw(spellings(text)))
    recorded = {data.draw(spellings("dov'è")): -1.0, data.draw(spellings("dov'era")): -2.0}
    assert [*option_scores(item, recorded).values()] == [-1.0, -2.0]


def test_spellings_that_a_model_was_asked_for_keep_their_own_scores():
    item = ClozeItem("a", "", ".", (Option("dov'", variants=("dov\u2019",)), Option("se")))
    scores = {"dov'": -3.0, "dov\u2019": -1.0, "se": -2.0}
    assert option_scores(item, scores) == {"dov'": -1.0, "se": -2.0}


def test_two_spellings_of_one_word_are_no_two_options():
    item = ClozeItem("a", "Lei ", ".", (Option("\u00e8"), Option("e\u0300", "implausible")))
    suite = ClozeSuite(Meta("a", language="it"), items=(item,))
    [fault] = [fault for fault in check_cloze(suite) if fault.code == "CIM-C007"]
    assert fault.severity == "error"


def test_options_that_lm_eval_scored_are_found_in_another_spelling(tmp_path):
    [item, *_] = items_in(decomposed)
    sample = {
        "doc": {},
        "arguments": [["porta", " dov'è"], ["porta", " dov'era"]],
        "resps": [[[-1.5, "True"]], [[-2.5, "False"]]],
    }
    path = tmp_path / "samples_blanks_2026-01-01T00-00-00.000000.jsonl"
    path.write_text(json.dumps(sample) + "\n", encoding="utf-8")
    fills = logged_options(path, [item]).tables["fills"]
    assert fills["logprob_nats"].to_list() == [-1.5, -2.5]
    assert fills["candidate"].to_list() == [decomposed("dov'è"), decomposed("dov'era")]


@pytest.mark.parametrize("spell", [str, decomposed])
def test_a_run_of_recorded_candidates_and_its_profile_say_the_same(spell, tmp_path, capsys):
    """Three targets, one at rank 1 and one at rank 2: hit@1 1 of 3, hit@2 2 of 3."""
    suite = write_cloze(
        ClozeSuite(Meta("letters", language="it"), items=tuple(items_in(spell))), tmp_path / "suite"
    )
    recorded = tmp_path / "recorded.tsv"
    lines = [f"{c.item}\t{c.rank}\t{c.text}\t{0.5 / c.rank}" for c in candidates_in(str)]
    recorded.write_text("\n".join(["item\trank\tcandidate\tprobability", *lines]) + "\n", "utf-8")
    out = tmp_path / "runs"
    arguments = ["run", str(suite), "-m", f"replay:{recorded}", "-o", str(out), "--set", "k=2"]
    assert invoke([*arguments, "--json"]) == 0
    [made] = json.loads(capsys.readouterr().out)["runs"]
    right = {
        estimate["question"]: (estimate["right"], estimate["n"])
        for estimate in made["estimates"]
        if not estimate["group"]
    }
    assert right["hit@1"] == (1, 3)
    assert right["hit@2"] == (2, 3)
    assert invoke(["analyze", "profile", str(out), "--json"]) == 0
    [profile] = json.loads(capsys.readouterr().out)["profiles"]
    assert profile["first_matches"]["target"]["correct"] == 1
    assert [hit["correct"] for hit in profile["dimensions"][0]["hits"]] == [1, 2]
    stored = (tmp_path / "suite" / "items.tsv").read_text("utf-8")
    assert spell("dov'è") in stored  # as written
    assert unicodedata.is_normalized("NFC", stored) == (spell is str)


TEMPLATE = Template(
    "t",
    (BaseSentence("Lui ", " <SEED>."),),
    (SeedSet("a", (decomposed("perché"), "ora")),),
    (Option(decomposed("è"), variants=("e'", "e\u2019")), Option("sta\u200b", "implausible")),
)


def test_separate_accents_and_unseen_characters_are_reported_in_blanks_and_templates():
    items = (
        ClozeItem("a", decomposed("Perché "), ".", (Option("va"), Option("era", "implausible"))),
        ClozeItem("b", "Chi ", ".", (Option("l'ha"), Option("\ufeffera", "implausible"))),
    )
    words = (MultiwordItem("m", "", decomposed("Ha {perciò} {paura}.")),)
    suite = ClozeSuite(Meta("a", language="it"), items=items, multiwords=words)
    found = [(fault.code, fault.where) for fault in check_cloze(suite)]
    assert found == [
        ("CIM-S043", "item 'b'"), ("CIM-S045", "item 'a'"), ("CIM-S045", "item 'm'"),
    ]  # fmt: skip
    faults = check_cloze(ClozeSuite(Meta("a", language="it"), templates=(TEMPLATE,)))
    assert [(fault.code, fault.where) for fault in faults] == [
        ("CIM-S043", "template 't'"), ("CIM-S045", "template 't'"), ("CIM-S045", "template 't'"),
    ]  # fmt: skip
    [target] = [fault.seen for fault in faults if "target" in fault.seen]
    assert "far below the same word in NFC" in target


def test_mixed_apostrophes_are_reported_in_blanks_but_not_for_spellings_that_count_as_equal():
    options = (Option("dov'", variants=("dov\u2019",)), Option("se", "implausible"))
    straight = ClozeItem("a", "Vede ", " va.", options)
    curly = ClozeItem("b", "Vede l\u2019amico ", " va.", options)
    meta = Meta("a", language="it")
    assert check_cloze(ClozeSuite(meta, items=(straight,))) == ()
    [fault] = check_cloze(ClozeSuite(meta, items=(straight, curly)))
    assert fault.code == "CIM-S044"
