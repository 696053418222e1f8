"""Stories written and judged in a terminal: fields, defaults, refusals, undo, agreement."""

from __future__ import annotations

import builtins
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.paradigms.stories.checks import audit
from cimento.people.annotate.dialogue import DialogueSession, RefusedError, converse
from cimento.people.annotate.second_annotator import StoryJudgment, story_agreement, to_adjudicate
from cimento.people.annotate.stories import (
    finished,
    play,
    read_recorded,
    story_fields,
    story_session_file,
    timing_file,
)
from cimento.suites.formats.stories import read_stories, record
from cimento.suites.stories import ATTRIBUTES, CONFLICT, STATE, STORY
from tests.helpers.command_line import invoke
from tests.helpers.dialogues import lines_of
from tests.helpers.stories import TRIPLES

SENTENCES = (
    "Sara apre il rubinetto. | L'acqua riempie la vasca. | Sara chiude il rubinetto. |"
    " Sara entra nella vasca. | Sara si asciuga."
)
PLAUSIBLE = [
    "Sara",
    "rubinetto, vasca da bagno, acqua",
    "7",
    "",
    "tester",
    "",
    "",
    "",
    "bagno",
    SENTENCES,
    "",
    "",
    "",
    "",
    "",
]
STATES = ["1 contain vasca da bagno 4", "codes open", "show", "done", ""]


def type_in(lines, known=(), **more):
    session = DialogueSession(story_fields(known), **more)
    converse(session, lines_of(lines), lambda _text: None)
    return session


def story_of(lines, known=()):
    return finished(type_in(lines, known).state.values, row=len(known))


@pytest.mark.golden
def test_the_three_recorded_dialogues_give_their_records(shared):
    path = shared / "golden" / "stories" / "annotation_session.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    known = []
    for recorded in read_recorded(path):
        story = play(recorded, known)
        known.append(story)
        written = {story.key: record(story, v1=True)}
        assert written == expected[recorded.name]["record"]
        assert list(written[story.key]) == list(expected[recorded.name]["record"][story.key])
    assert [story.example_id for story in known] == ["0", "0-O0", "0-C0"]


@pytest.mark.golden
def test_the_fields_come_in_the_order_of_the_appendix(shared):
    path = shared / "golden" / "stories" / "annotation_session.json"
    typed = json.loads(path.read_text(encoding="utf-8"))["order"]["typed"]
    assert [f.name for f in story_fields(())][: len(typed)] == [name for name, _ in typed]


def test_what_can_be_known_is_proposed_and_empty_lines_take_it():
    story = story_of([*PLAUSIBLE, *STATES])
    assert (story.story_id, story.type, story.idx, story.example_id) == (7, None, None, "7")
    assert (story.plausible, story.breakpoint, story.confl_sents) == (True, -1, ())
    assert story.object_names == ("rubinetto", "vasca da bagno", "acqua")
    assert story.length == 5
    assert len(story.sentence_states) == 5
    assert set(story.sentence_states[0].entries) == set(ATTRIBUTES)
    filled = dict(story.sentence_states[1].entries["contain"])
    assert filled == {"rubinetto": 0, "vasca da bagno": 4, "acqua": 0}


def order_variant(sentences, conflict="0"):
    return ["", "", "7-O0", "", "", "", "", "", "", sentences, "", "", "", "1", conflict]


SWAPPED = (
    "L'acqua riempie la vasca. Sara apre il rubinetto. Sara chiude il rubinetto."
    " Sara entra nella vasca. Sara si asciuga."
)


def test_a_variant_takes_over_what_its_story_says():
    base = story_of([*PLAUSIBLE, *STATES])
    variant = story_of([*order_variant(SWAPPED), "done", "power"], known=[base])
    assert (variant.actor, variant.objects, variant.location) == (
        base.actor, base.objects, base.location,
    )  # fmt: skip
    assert (variant.type, variant.idx, variant.example_id) == ("order", 0, "7-O0")
    assert (variant.pair, variant.confl_pairs, variant.state) == ((0, 1), (0, 1), "power")


@pytest.mark.parametrize(
    ("at", "line", "said"),
    [
        (2, "seven", "Write a number"),
        (3, "8", "story 7"),
        (5, "order", "another type"),
        (5, "random", "null, order or cloze"),
        (6, "0", "write null"),
        (7, "perhaps", "true or false"),
        (9, "Sara apre.", "1 sentence, and a story has 5"),
        (9, "A. B. C. D. D.", "twice"),
        (9, "Uno. Due. Tre. Quattro. Cinque", "no full stop"),
        (10, "4", "The story has 5 sentences"),
        (11, "7-O0", "make it '7'"),
        (12, "false", "Stories without type"),
        (13, "2", "write -1"),
        (13, "two", "not a whole number"),
        (14, "1", r"write \[\]"),
        (14, "none", r"or \[\]"),
        (15, "9 open acqua 1", "no sentence '9'"),
        (15, "1 opn acqua 1", "'open'"),
        (15, "1 open Sara 1", "about objects"),
        (15, "1 open acqua 9", "closed -> open"),
        (15, "opn", "none of the commands"),
        (16, "opened", "'open'"),
    ],
)
def test_what_cannot_be_is_refused_and_asked_again(at, line, said):
    session = type_in([*PLAUSIBLE, "done"][:at])
    assert session.state.at == at
    before = session.state
    with pytest.raises(RefusedError, match=said):
        session.feed(line)
    assert session.state == before


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        ("A. B. C. D. E.", "swaps two sentences"),
        (SENTENCES, "these very sentences"),
    ],
)
def test_an_order_variant_swaps_two_sentences(sentences, said):
    base = story_of([*PLAUSIBLE, *STATES])
    session = type_in(order_variant(sentences)[:9], [base])
    with pytest.raises(RefusedError, match=said):
        session.feed(sentences)
    # Whoever means it can have it.
    session.feed(f"! {sentences}")
    assert session.asked.name == "length"


def test_the_breakpoint_comes_after_the_conflicting_sentence():
    base = story_of([*PLAUSIBLE, *STATES])
    session = type_in(order_variant(SWAPPED)[:13], [base])
    for wrong in ("0", "5", "-1"):
        with pytest.raises(RefusedError, match="1 to 4"):
            session.feed(wrong)
    session.feed("1")
    with pytest.raises(RefusedError, match="one sentence before 1"):
        session.feed("1")


def test_ids_do_not_come_twice():
    base = story_of([*PLAUSIBLE, *STATES])
    session = type_in(["Sara", "acqua"], [base])
    with pytest.raises(RefusedError, match="already"):
        session.feed("7")


def test_a_step_back_keeps_what_was_given_as_default():
    session = type_in([*PLAUSIBLE[:9], ":back", ":back", ":back"])
    assert session.asked.name == "idx"
    assert "[null]" in session.prompt
    for _ in range(3):
        session.feed("")
    assert session.state.values["location"] == "bagno"
    assert session.asked.name == "sentences"
    with pytest.raises(RefusedError, match="first field"):
        type_in([]).feed(":back")


def test_going_back_far_proposes_nothing_that_has_become_wrong():
    session = type_in([*PLAUSIBLE[:12], *[":back"] * 10, "8"])
    for _ in range(9):
        session.feed("")
    assert session.state.values["example_id"] == "8"


def test_trip_defaults_do_not_touch_what_was_set():
    story = story_of(
        [*PLAUSIBLE, "0 exist acqua 1", "trip", "copy 0 4", "2 wet acqua 3", "done", ""]
    )
    exist = dict(story.sentence_states[0].entries["exist"])
    assert exist == {"rubinetto": 2, "vasca da bagno": 2, "acqua": 1}
    assert dict(story.sentence_states[1].entries["exist"])["acqua"] == 2
    assert dict(story.sentence_states[4].entries["exist"])["acqua"] == 1
    assert dict(story.sentence_states[0].entries["wet"])["acqua"] == 0


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([*PLAUSIBLE, *STATES, ":back", "1", "true", "null", "7-O0", "trip"]),
        max_size=40,
    ),
    st.integers(1, 6),
)
def test_undo_takes_back_exactly_what_was_typed_last(lines, n):
    session = type_in(lines)
    states = [session.state]
    taken = 0
    for line in [*PLAUSIBLE, *STATES][:n]:
        if session.done:
            break
        try:
            session.feed(line)
        except RefusedError:
            continue
        taken += 1
        states.append(session.state)
    for state in reversed(states[:-1]):
        session.feed(":undo")
        assert (session.state.values, session.state.at) == (state.values, state.at)


def test_a_story_that_was_left_is_gone_on_with(tmp_path):
    path = tmp_path / "s.unfinished.jsonl"
    type_in(PLAUSIBLE[:8], path=path)
    again = DialogueSession(story_fields(()), path=path)
    assert again.asked.name == "location"
    converse(again, lines_of([*PLAUSIBLE[8:], *STATES]), lambda _text: None)
    assert finished(again.state.values, row=0) == story_of([*PLAUSIBLE, *STATES])
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(InputError, match="dialogue that was left"):
        DialogueSession(story_fields(()), path=path)


def test_time_is_that_of_typing_without_long_pauses():
    times = iter([0.0, 10.0, 20.0, 5000.0, 5010.0])
    session = DialogueSession(story_fields(()), clock=lambda: next(times))
    for line in PLAUSIBLE[:4]:
        session.feed(line)
    assert session.seconds == 10 + 10 + 300 + 10


def test_the_command_appends_stories_that_can_be_used(tmp_path, monkeypatch, capsys):
    path = tmp_path / "mine.jsonl"
    typed = iter([":help", *PLAUSIBLE[:2], ":show", "wrong", *PLAUSIBLE[2:], *STATES, ":quit"])
    monkeypatch.setattr(builtins, "input", lambda _prompt: next(typed))
    assert invoke(["annotate", "stories", str(path)]) == 0
    said = capsys.readouterr()
    assert ":undo" in said.out
    assert "objects" in said.out
    # The end of input ends the work too.
    typed = iter([*order_variant(SWAPPED), "done", "power"])
    monkeypatch.setattr(builtins, "input", lambda _prompt: _next(typed))
    assert invoke(["annotate", "stories", str(path)]) == 0
    suite = read_stories(path)
    assert [story.example_id for story in suite.stories] == ["7", "7-O0"]
    assert audit(suite) == ()
    times = [json.loads(line) for line in timing_file(path).read_text("utf-8").splitlines()]
    assert [time["example_id"] for time in times] == ["7", "7-O0"]
    assert not story_session_file(path).exists()


def _next(lines):
    for line in lines:
        return line
    raise EOFError


def test_a_recorded_dialogue_is_played_by_the_command(tmp_path, capsys):
    path = tmp_path / "dialogue.json"
    names = [field.name for field in story_fields(())]
    typed = [[name, line or " "] for name, line in zip(names, PLAUSIBLE, strict=False)]
    path.write_text(json.dumps({"one": {"typed": typed}}), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    assert invoke(["annotate", "stories", str(out), "--replay", str(path)]) == 0
    assert read_stories(out).stories[0].example_id == "7"
    # In a suite's folder it goes to the suite's stories.
    (tmp_path / "suite").mkdir()
    assert invoke(["annotate", "stories", str(tmp_path / "suite"), "--replay", str(path)]) == 0
    assert (tmp_path / "suite" / "items.jsonl").exists()
    # The same once more: the key is taken.
    assert invoke(["annotate", "stories", str(out), "--replay", str(path)]) == 2
    assert "dialogue 'one', field 'story_number'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("{}", "no dialogue"),
        ('{"a": {"typed": [["actor"]]}}', "not a list of pairs"),
        ('{"a": {"typed": [["objects", "x"]]}}', "'actor' is asked here"),
        ('{"a": {"typed": [["actor", "Marco"]]}}', "before the story is whole"),
    ],
)
def test_recorded_dialogues_with_faults_are_refused(tmp_path, content, said, capsys):
    path = tmp_path / "dialogue.json"
    path.write_text(content, encoding="utf-8")
    assert invoke(["annotate", "stories", str(tmp_path / "o.jsonl"), "--replay", str(path)]) == 2
    assert said in capsys.readouterr().err


# The second annotator


def judged(rows, **changes):
    return [
        StoryJudgment(
            row=row,
            annotator="b",
            plausible=TRIPLES[row].plausible,
            pair=TRIPLES[row].gold(CONFLICT) or "",
            state="" if TRIPLES[row].plausible else TRIPLES[row].state,
            **changes,
        )
        for row in rows
    ]


def test_two_who_agree_have_kappa_one():
    by_tier = {
        agreement.tier: agreement for agreement in story_agreement(TRIPLES, judged(range(15)))
    }
    assert (by_tier[STORY].compared, by_tier[CONFLICT].compared, by_tier[STATE].compared) == (
        15,
        10,
        10,
    )
    assert all(agreement.equal == agreement.compared for agreement in by_tier.values())
    assert all(
        agreement.kappa.value == agreement.alpha.value == 1.0 for agreement in by_tier.values()
    )
    assert to_adjudicate(TRIPLES, judged(range(15))) == []


def test_disagreement_is_counted_and_handed_on():
    """Kappa by hand: of 4 stories (2 plausible) one is judged otherwise: po 3/4, pe 1/2."""
    said = judged([0, 1, 3, 4])
    said[1] = StoryJudgment(row=1, annotator="b", plausible=True)
    by_tier = {agreement.tier: agreement for agreement in story_agreement(TRIPLES, said)}
    assert (by_tier[STORY].equal, by_tier[STORY].compared) == (3, 4)
    assert by_tier[STORY].kappa.value == pytest.approx((0.75 - 0.5) / 0.5)
    assert by_tier[CONFLICT].compared == 1
    [differing] = to_adjudicate(TRIPLES, said)
    assert differing["row"] == 1
    assert differing["differing"][STORY] == {"author": "false", "b": "true"}


def test_the_second_annotator_sees_sentences_only_and_may_stop(tmp_path, monkeypatch, capsys):
    stories = "tests/data/stories/triples.jsonl"
    out = tmp_path / "b.jsonl"
    typed = iter(["n", "2 e 1", "open", "y", "-", "-", ":quit"])
    monkeypatch.setattr(builtins, "input", lambda _prompt: next(typed))
    assert invoke(["annotate", "second", stories, str(out), "--annotator", "b"]) == 0
    shown = capsys.readouterr().out
    assert "-O0" not in shown
    assert "cloze" not in shown
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [(line["pair"], line["state"]) for line in lines] == [("1 and 2", "open"), ("", "")]
    typed = iter([":quit"])
    assert invoke(["annotate", "second", stories, str(out)]) == 0
    assert "3 of 15" in capsys.readouterr().out
    assert invoke(["annotate", "agreement", stories, str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tiers"][0]["compared"] == 2
    assert invoke(
        ["annotate", "agreement", stories, str(out), "--adjudicate", str(tmp_path / "a.jsonl")]
    ) == 0  # fmt: skip
    assert "Krippendorff" in capsys.readouterr().out


def test_judgments_of_another_file_are_refused(tmp_path, capsys):
    stories = "tests/data/stories/triples.jsonl"
    (tmp_path / "b.jsonl").write_text('{"row": 99, "annotator": "b", "plausible": true}\n')
    assert invoke(["annotate", "agreement", stories, str(tmp_path / "b.jsonl")]) == 2
    assert "no story in row 99" in capsys.readouterr().err
