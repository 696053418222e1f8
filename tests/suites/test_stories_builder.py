"""Variants of stories: all or some swaps, replacements, ids, proposals, and the rules they keep."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, Meta, UsageError
from cimento.cli.main import invoke
from cimento.paradigms.stories.checks import audit
from cimento.suites.formats.stories import read_stories, write_jsonl
from cimento.suites.stories import (
    PROPOSED,
    SentenceStates,
    Story,
    StorySuite,
    is_replacement,
    is_swap,
)
from cimento.suites.story_variants import (
    Replacement,
    cloze_variants,
    order_variants,
    proposed_pair,
)

BASE = Story(
    row=0,
    story_id=4,
    type=None,
    example_id="4",
    sentences=(
        "Ugo prende la chiave.",
        "Ugo apre il garage.",
        "Ugo sale in macchina.",
        "Ugo accende il motore.",
        "Ugo parte per il mare.",
    ),
    plausible=True,
    actor="Ugo",
    objects="chiave, garage, macchina, motore",
    domain="travel",
)
SECOND = replace(
    BASE,
    row=1,
    story_id=5,
    example_id="5",
    sentences=("Ugo siede.", "Ugo mangia.", "Ugo beve.", "Ugo si alza.", "Ugo esce."),
)


def confirm(story, *, pair, state):
    """A proposed story with what a person says of it."""
    return replace(
        story, plausible=False, breakpoint=pair[1], confl_sents=(pair[0],), confl_pairs=pair,
        state=state, extra={key: value for key, value in story.extra.items() if key != PROPOSED},
    )  # fmt: skip


def test_all_swaps_of_five_sentences():
    variants = order_variants([BASE])
    assert len(variants) == 10
    assert len({story.sentences for story in variants}) == 10
    assert all(is_swap(story, BASE) for story in variants)
    assert [story.example_id for story in variants[:2]] == ["4-O0", "4-O1"]
    assert [story.row for story in variants] == list(range(1, 11))
    # The pair proposed is what was swapped.
    assert variants[0].sentences[:2] == BASE.sentences[1::-1]
    assert variants[0].pair == (0, 1)
    assert variants[0].domain == "travel"
    assert all(story.extra[PROPOSED] for story in variants)


def test_variants_that_exist_are_not_made_again():
    first = order_variants([BASE])[0]
    existing = replace(confirm(first, pair=(0, 1), state="open"), row=1)
    variants = order_variants([BASE, existing])
    assert len(variants) == 9
    assert variants[0].example_id == "4-O1"
    assert existing.sentences not in {story.sentences for story in variants}


@given(st.integers(0, 10), st.integers(0, 1000))
@settings(deadline=None)
def test_draws_are_reproduced_and_do_not_depend_on_other_stories(n, seed):
    both = order_variants([BASE, SECOND], per_story=n, seed=seed)
    alone = order_variants([BASE], per_story=n, seed=seed)
    assert [story.sentences for story in both[:n]] == [story.sentences for story in alone]
    assert len(both) == 2 * n


def test_states_go_where_their_sentences_go():
    blocks = tuple(SentenceStates({"open": (("garage", code),)}) for code in range(5))
    (first, *_) = order_variants([replace(BASE, sentence_states=blocks)])
    assert [block.entries["open"][0][1] for block in first.sentence_states] == [1, 0, 2, 3, 4]


def test_one_sentence_is_replaced():
    (story,) = cloze_variants(
        [BASE], [Replacement(story_id=4, position=0, sentence="Ugo perde la chiave del garage.")]
    )
    assert story.sentences == ("Ugo perde la chiave del garage.", *BASE.sentences[1:])
    assert (story.type, story.example_id, story.idx) == ("cloze", "4-C0", 0)
    # The garage is spoken of next in the second sentence.
    assert story.pair == (0, 1)
    assert is_replacement(story, BASE)


@pytest.mark.parametrize(
    ("sentence", "changed", "pair"),
    [
        ("Ugo rompe il motore.", 1, (1, 3)),
        ("Ugo ripone le chiavi.", 4, (0, 4)),
        ("Ugo dorme.", 2, (2, 3)),
        ("Ugo dorme.", 4, (3, 4)),
    ],
)
def test_pairs_are_proposed_by_what_sentences_speak_of(sentence, changed, pair):
    sentences = [*BASE.sentences]
    sentences[changed] = sentence
    assert proposed_pair(sentences, changed, BASE.object_names) == pair


@pytest.mark.parametrize(
    ("story_id", "position", "sentence", "message"),
    [
        (6, 0, "Ugo dorme.", "no plausible story of this number"),
        (4, 5, "Ugo dorme.", "position 5, and there are 5 sentences"),
        (4, 0, "Ugo prende la chiave.", "exists already"),
    ],
)
def test_replacements_that_cannot_be_made_are_refused(story_id, position, sentence, message):
    with pytest.raises(InputError, match=message):
        cloze_variants(
            [BASE], [Replacement(story_id=story_id, position=position, sentence=sentence)]
        )


def test_a_negative_number_of_variants_is_refused():
    with pytest.raises(UsageError, match="variants per story"):
        order_variants([BASE], per_story=-1)


def test_proposals_are_reported_until_they_are_confirmed(tmp_path):
    proposed = order_variants([BASE])[0]

    def names(*stories):
        file = StorySuite(meta=Meta("a"), stories=stories, format="native", path=tmp_path)
        return {finding.check.name for finding in audit(file)}

    assert "not_confirmed" in names(BASE, proposed)
    done = confirm(proposed, pair=(0, 1), state="open")
    assert names(BASE, done) == set()


def test_variants_are_built_from_the_command_line(tmp_path, capsys):
    source = write_jsonl([BASE, SECOND], tmp_path / "mine.jsonl")
    table = tmp_path / "new.tsv"
    table.write_text("story_id\tposition\tsentence\n4\t3\tUgo spegne il motore.\n")
    output = tmp_path / "variants.jsonl"
    arguments = ["suites", "build", "stories", str(source), "-o", str(output), "--orders", "2"]
    assert invoke([*arguments, "--replacements", str(table)]) == 0
    assert "5 variants to confirm" in capsys.readouterr().err
    stories = read_stories(output).stories
    assert [story.type for story in stories] == ["order"] * 4 + ["cloze"]
    assert json.loads(output.read_text().splitlines()[0])[PROPOSED]
    table.write_text("story_id\tposition\tsentence\nx\t3\tUgo spegne il motore.\n")
    assert invoke([*arguments, "--replacements", str(table)]) == 2
    assert "got story_id 'x'" in capsys.readouterr().err
    table.write_text("story\tposition\n4\t3\n")
    assert invoke([*arguments, "--replacements", str(table)]) == 2
    assert "the column story_id, sentence is missing" in capsys.readouterr().err
