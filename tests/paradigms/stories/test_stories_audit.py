"""What is wrong with a file of stories is found, all of it and nothing else."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path

import pytest

from cimento import InputError, Meta, SuiteError, UsageError, load_suite
from cimento.cli.main import invoke
from cimento.paradigms.stories.checks import CHECKED, CHECKS, audit, story_names
from cimento.paradigms.stories.options import (
    applicable,
    correct,
    correct_suite,
    corrections,
    left_out,
)
from cimento.paradigms.stories.recordings import recorded_stories
from cimento.paradigms.stories.text import audit_record, count_stories
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import SentenceStates, Story, StorySuite

BASE = Story(
    row=0,
    story_id=7,
    type=None,
    example_id="7",
    sentences=(
        "Nina versa l'acqua nel vaso.",
        "Nina taglia i gambi dei fiori.",
        "Nina mette i fiori nel vaso.",
        "Nina posa il vaso sul tavolo.",
        "Nina chiude la finestra.",
    ),
    plausible=True,
    actor="Nina",
    objects="acqua, vaso, fiori, tavolo, finestra",
    worker_id="N",
)
ORDER = replace(
    BASE,
    row=1,
    type="order",
    idx=0,
    example_id="7-O0",
    sentences=tuple(BASE.sentences[i] for i in (0, 3, 2, 1, 4)),
    plausible=False,
    breakpoint=3,
    confl_sents=(2,),
    confl_pairs=(2, 3),
    state="in pieces",
)
CLOZE = replace(
    BASE,
    row=2,
    type="cloze",
    idx=0,
    example_id="7-C0",
    sentences=("Nina rompe il vaso.", *BASE.sentences[1:]),
    plausible=False,
    breakpoint=2,
    confl_sents=(0,),
    confl_pairs=(0, 2),
    state="functional",
)
GOOD = (BASE, ORDER, CLOZE)


def file_of(stories, format_="native"):
    return StorySuite(meta=Meta("a"), stories=tuple(stories), format=format_, path=Path("a.jsonl"))


def rows_by_check(stories, format_="native"):
    return {finding.check.name: finding.rows for finding in audit(file_of(stories, format_))}


def states(**attributes):
    return SentenceStates(attributes)


def test_a_sound_triple_has_no_finding():
    assert rows_by_check(GOOD) == {}


@pytest.mark.parametrize(
    ("row", "changes", "name"),
    [
        (2, {"example_id": "7-O0"}, "duplicate_example_id"),
        (2, {"example_id": "7-O1"}, "id_suffix_disagrees_with_type"),
        (2, {"example_id": "8-C0"}, "story_id_disagrees_with_example_id"),
        (2, {"type": None}, "type_disagrees_with_plausible"),
        (0, {"breakpoint": 2, "confl_sents": (1,)}, "plausible_but_has_breakpoint"),
        (2, {"breakpoint": -1}, "plausible_false_without_breakpoint"),
        (2, {"confl_sents": (3,)}, "confl_not_before_breakpoint"),
        (2, {"breakpoint": 5, "confl_pairs": (0, 5)}, "conflict_outside_story"),
        (2, {"confl_sents": ((0,),)}, "confl_sents_nested"),
        (2, {"confl_pairs": ()}, "confl_pairs_empty_though_implausible"),
        (2, {"confl_pairs": (0, 3)}, "confl_pairs_disagree"),
        (2, {"state": "broken"}, "unknown_state"),
        (2, {"state": ""}, "unknown_state"),
        (0, {"state": "open"}, "states_filled_on_plausible_story"),
        (0, {"length": 6}, "sentences_not_length"),
        (2, {"sentences": BASE.sentences[:4]}, "sentences_not_length"),
        (
            1,
            {"sentences": (ORDER.sentences[1], *ORDER.sentences[1:])},
            "repeated_sentence_in_story",
        ),
        (
            2,
            {"sentences": ("Nina rompe il vaso", *BASE.sentences[1:])},
            "sentence_without_final_period",
        ),
        (
            2,
            {"sentences": (" Nina rompe il vaso.", *BASE.sentences[1:])},
            "sentence_with_outer_whitespace",
        ),
        (2, {"worker_id": "tavolo"}, "worker_id_of_one_story"),
        (0, {"sentence_states": (states(),) * 4}, "states_not_one_per_sentence"),
        (0, {"sentence_states": (states(open=((" finestra", 3),)),) * 5}, "outer_spaces_in_entity"),
        (
            0,
            {"sentence_states": (states(conscious=(("Ada", 2),)),) * 5},
            "human_entity_is_not_actor",
        ),
        (0, {"sentence_states": (states(open=(("porta", 3),)),) * 5}, "object_entity_not_listed"),
        (0, {"sentence_states": (states(open=(("vaso", 9),)),) * 5}, "structural"),
        (0, {"sentence_states": (states(color=(("vaso", 1),)),) * 5}, "structural"),
        (
            2,
            {"sentence_states": (states(open=(("finestra", 3),)),) * 5},
            "states_without_the_state",
        ),
        (1, {"sentences": tuple(reversed(BASE.sentences))}, "order_not_a_swap"),
        (
            2,
            {"sentences": ("Nina ride.", "Nina canta.", *BASE.sentences[2:])},
            "cloze_not_one_replacement",
        ),
        (2, {"objects": "vaso"}, "other_actor_or_objects"),
        (2, {"sentences": ORDER.sentences}, "repeated_variant"),
    ],
)
def test_every_fault_is_found_where_it_is(row, changes, name):
    stories = [*GOOD, replace(BASE, row=3, story_id=8, example_id="8", sentences=("Lia va.",) * 5)]
    stories[3] = replace(stories[3], sentences=tuple(f"Lia va {n} volte." for n in range(5)))
    stories[row] = replace(stories[row], **changes)
    assert row in rows_by_check(stories)[name]
    assert name in CHECKED["native"]


def test_variants_without_their_story_are_found():
    assert rows_by_check((ORDER, CLOZE))["no_plausible_story"] == (1, 2)


def test_a_key_is_the_id():
    stories = [replace(BASE, key="7"), replace(CLOZE, row=1, key="7-O0")]
    assert rows_by_check(stories, "gita-v1")["key_differs_from_example_id"] == (1,)


def test_every_check_is_made_in_some_format_and_has_its_own_code():
    made = {name for names in CHECKED.values() for name in names}
    assert made == set(CHECKS)
    assert len({check.code for check in CHECKS.values()}) == len(CHECKS)


def test_faults_name_the_stories():
    file = file_of([BASE, replace(CLOZE, row=1, state="broken")])
    (finding,) = audit(file)
    fault = finding.fault(file="a.jsonl", names=story_names(file))
    assert str(fault) == (
        "CIM-T017 a.jsonl: a state that is none of the fourteen (unknown_state), in 1 story:"
        " 1 (7-C0) 'broken'. Write one of: power, location, exist, clean, edible, wet, functional,"
        " wearing, open, conscious, temperature, solid, occupied, in pieces."
    )


def test_counts_of_a_triple():
    about = count_stories(GOOD)
    assert (about.stories, about.triples, about.complete) == (3, 1, 1)
    assert about.types == {"null": 1, "order": 1, "cloze": 1}
    assert about.pairs == {"2 and 3": 1, "0 and 2": 1}
    assert about.distances == {1: 1, 2: 1}
    assert about.adjacent == 1
    assert about.swaps == {"the two": 0, "one of the two": 1, "neither": 0}
    assert about.replacements == {"conflicting": 1, "breakpoint": 0, "neither": 0}


def test_corrections_name_known_fields_and_are_refused_for_other_files():
    names = {field.name for field in fields(Story)}
    sets = json.loads((files("cimento") / "data/stories/corrections.json").read_text("utf-8"))
    assert sets
    for name in sets:
        assert all(set(correction.changes) <= names for correction in corrections(name))
    assert applicable(GOOD) is None
    with pytest.raises(InputError, match=r"row 54 holds None and not '18'"):
        correct(GOOD, "gita4calamita")
    with pytest.raises(UsageError, match=r"Did you mean 'gita4calamita'"):
        correct(GOOD, "gita4calamit")


def test_check_prints_the_findings_and_their_number(tmp_path, capsys):
    from cimento.suites.formats.stories import write_jsonl

    path = write_jsonl([BASE, replace(CLOZE, row=1, state="broken")], tmp_path / "a.jsonl")
    assert invoke(["suites", "check", str(path)]) == 2
    output, messages = capsys.readouterr()
    assert "error: CIM-T017 a.jsonl" in output
    assert "a.jsonl: 1 error, 0 warnings" in messages
    assert invoke(["suites", "check", str(path), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["suites"][0]["issues"]["unknown_state"] == [1]
    fixed = write_jsonl([BASE, replace(CLOZE, row=1)], tmp_path / "b.jsonl")
    assert invoke(["suites", "show", str(fixed)]) == 0
    assert "*0 Nina rompe il vaso." in capsys.readouterr().out


@pytest.mark.parametrize(
    "command",
    [
        ["run", "{path}", "-m", "demo-causal", "--set", "shots=0", "--output", "{folder}/runs"],
        ["study", "stories", "--data", "{path}", "-m", "demo-causal", "--set", "shots=0"],
        ["suites", "prompts", "{path}", "--row", "1", "--set", "shots=0"],
        ["suites", "show", "{path}"],
        ["suites", "check", "{path}"],
    ],
    ids=lambda command: " ".join(command[:2]).removesuffix(" {path}"),
)
def test_a_state_that_no_answer_can_be_is_one_message_everywhere(command, tmp_path, capsys):
    from cimento.suites.formats.stories import write_jsonl

    path = write_jsonl([BASE, ORDER, replace(CLOZE, state="contain")], tmp_path / "a.jsonl")
    assert invoke([part.format(path=path, folder=tmp_path) for part in command]) == 2
    output, messages = capsys.readouterr()
    said = (output + messages).split("CIM-T017")
    assert len(said) == 2, said
    assert said[1].startswith(" a.jsonl: a state that is none of the fourteen")
    assert "2 (7-C0) 'contain'. Write one of: power, location, " in said[1]
    assert "fault of cimento" not in messages


def test_logs_of_stories_with_an_unknown_state_are_refused():
    suite = file_of([BASE, ORDER, replace(CLOZE, state="contain")])
    with pytest.raises(SuiteError, match="'contain'"):
        recorded_stories([], suite)
    with pytest.raises(SuiteError, match="'contain'"):
        load_suite(suite)


def test_a_conflict_without_a_state_can_be_run(tmp_path):
    from cimento.suites.formats.stories import write_jsonl

    path = write_jsonl([BASE, ORDER, replace(CLOZE, state="")], tmp_path / "a.jsonl")
    assert [fault.severity for fault in load_suite(path).reading.faults] == ["warning"]


@pytest.mark.golden
def test_the_audit_of_the_published_file_is_complete(shared):
    folder = shared / "golden/stories/dataset"
    expected = json.loads((folder / "audit.json").read_text())
    file = read_stories(folder / "gita4calamita.jsonl")
    record = audit_record(file)
    for key in (
        "n_docs",
        "counts_by_type",
        "counts_by_plausible",
        "counts_code_groups",
        "state_counts_implausible",
        "conflict_pair_counts_implausible",
        "n_stories",
    ):
        assert record[key] == expected[key]
    issues = record["issues"]
    assert {name: issues[name] for name in expected["issues"]} == expected["issues"]
    assert not any(rows for name, rows in issues.items() if name not in expected["issues"])
    contract = record["generator_contract"]
    assert {name: contract[name] for name in expected["generator_contract"]} == (
        expected["generator_contract"]
    )
    # "The conflict pair equals the swapped positions in 80 of those 117 and shares one position
    # in 37"; the new sentence of a cloze variant "is the conflicting one in 64, the breakpoint in
    # 43, neither in 2".
    assert list(contract["order_pair_is"].values()) == [80, 37, 0]
    assert list(contract["cloze_new_sentence_is"].values()) == [64, 43, 2]
    notes = expected["proposed_corrections"]
    notes["54-O0 (doc 163)"].pop("note")
    assert record["proposed_corrections"] == notes


@pytest.mark.golden
def test_corrections_of_the_published_file(shared):
    file = read_stories(shared / "golden/stories/dataset/gita4calamita.jsonl")
    assert applicable(file.stories) == "gita4calamita"
    fixed = correct_suite(file, "gita4calamita")
    assert fixed.corrections == ("gita4calamita",)
    # The counts of the paper's Table 2.
    assert count_stories(fixed.stories).types == {"order": 122, "null": 117, "cloze": 117}
    assert count_stories(fixed.stories).complete == 117
    names = {finding.check.name for finding in audit(fixed)}
    assert not names & {
        "duplicate_example_id",
        "id_suffix_disagrees_with_type",
        "type_disagrees_with_plausible",
        "plausible_but_has_breakpoint",
    }
    assert left_out("gita4calamita") == {163}


@pytest.mark.golden
def test_the_audit_of_gita_v1_is_complete(shared):
    folder = shared / "golden/stories/dataset"
    expected = json.loads((folder / "gita_v1_audit.json").read_text())
    record = audit_record(read_stories(folder / "gita_v1_states.json.gz"))
    assert {key: record[key] for key in expected if key != "issues"} == {
        key: value for key, value in expected.items() if key != "issues"
    }
    issues = record["issues"]
    assert {name: issues[name] for name in expected["issues"]} == expected["issues"]
    assert not any(rows for name, rows in issues.items() if name not in expected["issues"])
