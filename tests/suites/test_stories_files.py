"""Stories and recorded answers are read and written without loss, and refused with a message."""

from __future__ import annotations

import gzip
import json
import math

import pytest

from cimento import InputError, SuiteError
from cimento.cli.main import invoke
from cimento.paradigms.stories.recordings import read_responses
from cimento.suites.formats.stories import (
    is_stories,
    line,
    read_stories,
    record,
    write_jsonl,
    write_v1,
)
from cimento.suites.stories import CONFLICT, STATE, STORY

PLAUSIBLE = {
    "story_id": 1,
    "worker_id": "T",
    "type": None,
    "idx": None,
    "aug": False,
    "actor": "Lia, Pietro",
    "location": "cucina",
    "objects": "porta, lampada",
    "sentences": ["Lia apre la porta.", "Lia entra.", "Accende la lampada.", "Legge.", "Esce."],
    "length": 5,
    "example_id": "1",
    "plausible": True,
    "breakpoint": -1,
    "confl_sents": [],
    "confl_pairs": [],
    "states": "open",
}
CLOZE = {
    **PLAUSIBLE,
    "type": "cloze",
    "idx": 0,
    "sentences": ["Lia chiude la porta a chiave.", *PLAUSIBLE["sentences"][1:]],
    "example_id": "1-C0",
    "plausible": False,
    "breakpoint": 1,
    "confl_sents": [0],
    "confl_pairs": [0, 1],
}
BLOCKS = [{"conscious": [["Lia", 2]], "open": [["porta", 4]]}] + [{}] * 4


@pytest.fixture
def stories_file(tmp_path):
    path = tmp_path / "due.jsonl"
    path.write_text("".join(json.dumps(story) + "\n" for story in (PLAUSIBLE, CLOZE)))
    return path


def test_jsonl_is_read_as_it_stands(stories_file):
    read = read_stories(stories_file)
    plausible, cloze = read.stories
    assert (read.format, read.name, read.places) == ("gita4calamita", "due", ("line 1", "line 2"))
    assert plausible.actor_names == ("Lia", "Pietro")
    assert plausible.pair is None
    assert [plausible.gold(tier) for tier in (STORY, CONFLICT, STATE)] == ["true", None, "open"]
    assert [cloze.gold(tier) for tier in (STORY, CONFLICT, STATE)] == ["false", "0 and 1", "open"]
    assert (cloze.row, cloze.distance) == (1, 1)


def test_states_of_sentences_and_unknown_keys_are_kept(tmp_path):
    row = {**CLOZE, "sentence_states": BLOCKS, "domain": "household", "source": "me"}
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(row))
    story = read_stories(path).stories[0]
    assert story.sentence_states[0].entries["open"] == (("porta", 4),)
    assert json.loads(line(story)) == row
    assert list(record(story)) == list(row)


def test_both_formats_are_written_and_read_again(stories_file, tmp_path):
    stories = read_stories(stories_file).stories
    assert read_stories(write_jsonl(stories, tmp_path / "a.jsonl")).stories == stories
    again = read_stories(write_v1(stories, tmp_path / "b.json"))
    assert again.format == "gita-v1"
    assert [story.key for story in again.stories] == ["1", "1-C0"]
    # GITA v1 has no label of the whole story.
    assert {story.state for story in again.stories} == {""}


def test_v1_refuses_to_lose_a_story(stories_file, tmp_path):
    stories = read_stories(stories_file).stories
    with pytest.raises(InputError, match=r"key '1' is already taken"):
        write_v1([stories[0], stories[0]], tmp_path / "c.json")


def test_a_suite_folder_is_read(tmp_path, stories_file):
    (tmp_path / "suite.toml").write_text('kind = "stories"\n[meta]\nname = "mie"\nlanguage="it"\n')
    stories_file.rename(tmp_path / "items.jsonl")
    read = read_stories(tmp_path)
    assert (read.name, read.format, len(read.stories)) == ("mie", "native", 2)
    assert is_stories(tmp_path)
    assert is_stories(tmp_path / "items.jsonl")


@pytest.mark.parametrize("value", [["0"], [None], [True], [[0.5]], 3])
def test_conflicts_are_whole_numbers(tmp_path, value):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**CLOZE, "confl_sents": value}))
    with pytest.raises(SuiteError, match=r"a\.jsonl line 1: confl_sents"):
        read_stories(path)


def test_stories_are_converted(stories_file, tmp_path, capsys):
    folder = tmp_path / "suite"
    assert invoke(["suites", "convert", str(stories_file), "-o", str(folder)]) == 0
    read = read_stories(folder)
    assert (read.name, read.format) == ("suite", "native")
    assert read.stories == read_stories(stories_file).stories
    back = tmp_path / "back.jsonl"
    arguments = ["suites", "convert", str(folder), "-o", str(back), "--to", "gita4calamita"]
    assert invoke(arguments) == 0
    assert read_stories(back).stories == read.stories
    old = tmp_path / "old.json"
    arguments = ["suites", "convert", str(folder), "-o", str(old), "--to", "gita-v1"]
    assert invoke(arguments) == 2
    assert "2 stories have a state of the whole story" in capsys.readouterr().err
    assert invoke([*arguments, "--allow-loss"]) == 0
    assert [story.key for story in read_stories(old).stories] == ["1", "1-C0"]


def test_stories_are_told_from_other_files(stories_file, tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"sentence_good": "Va.", "sentence_bad": "Vanno."}\n')
    assert is_stories(stories_file)
    assert not is_stories(pairs)
    assert not is_stories(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", "{", r"a\.jsonl line 1: The line is not JSON"),
        ("a.jsonl", '{"story_id": "x"}', r"a\.jsonl line 1: story_id"),
        ("a.jsonl", "\n \n", r"empty"),
        ("a.json", "[]", r'not of the form \{"test"'),
        ("a.json", "{", r"not JSON"),
        ("a.json.gz", "no archive", r"is damaged"),
    ],
)
def test_what_is_no_story_file_is_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_stories(path)


def test_answers_are_read(stories_file, tmp_path):
    path = tmp_path / "model.jsonl"
    rows = [
        {"doc": 0, "task": STORY, "ll": [-1.5, None], "greedy": [1, 0], "shots": [1]},
        {"doc": 1, "task": STORY, "label": "false", "reply": "Falso."},
        {"doc": 1, "task": CONFLICT, "ll": None, "correct": False, "derived": True},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = read_responses(path, stories=read_stories(stories_file).stories)
    assert read.model == "model"
    first, second, third = read.answers
    assert first.logprobs_nats[0] == -1.5
    assert math.isnan(first.logprobs_nats[1])
    assert first.greedy == (True, False)
    assert second.label == "false"
    assert third.correct is False
    assert list(read.at(STORY)) == [0, 1]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"doc": 2, "task": STORY, "ll": [0, 0]}, r"doc is 2, and there are 2 stories"),
        ({"doc": 0, "task": STORY, "ll": [0]}, r"ll has 1 values for 2 options"),
        ({"doc": 0, "task": STORY, "label": "maybe"}, r"'maybe' is none of false, true"),
        ({"doc": 0, "task": STORY, "ll": [0, 0], "options": ["a", "b"]}, r"not those of story_cl"),
        ({"doc": 0, "task": STORY}, r"There is no answer"),
        ({"doc": 0, "task": "other", "ll": [0, 0]}, r"task"),
    ],
)
def test_answers_that_do_not_fit_are_refused(stories_file, tmp_path, row, message):
    path = tmp_path / "model.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(SuiteError, match=message):
        read_responses(path, stories=read_stories(stories_file).stories)


def test_a_story_is_answered_once(stories_file, tmp_path):
    path = tmp_path / "model.jsonl"
    path.write_text((json.dumps({"doc": 0, "task": STORY, "ll": [0, 0]}) + "\n") * 2)
    with pytest.raises(SuiteError, match=r"line 2: Story 0 is answered twice"):
        read_responses(path, stories=read_stories(stories_file).stories)


@pytest.mark.golden
def test_published_files_come_back_byte_for_byte(shared):
    folder = shared / "golden/stories/dataset"
    jsonl = folder / "gita4calamita.jsonl"
    read = read_stories(jsonl)
    assert "".join(line(story) for story in read.stories) == jsonl.read_text(encoding="utf-8")
    packed = folder / "gita_v1_states.json.gz"
    first = read_stories(packed)
    written = {story.key: record(story, v1=True) for story in first.stories}
    assert written == json.loads(gzip.decompress(packed.read_bytes()))["test"]
    assert is_stories(packed)


@pytest.mark.golden
def test_corrections_are_applied_when_asked_for_and_said(shared, tmp_path, capsys):
    source = str(shared / "golden/stories/dataset/gita4calamita.jsonl")
    output = tmp_path / "fixed.jsonl"
    arguments = ["suites", "convert", source, "-o", str(output), "--to", "gita4calamita"]
    assert invoke([*arguments, "--corrections", "gita4calamita"]) == 0
    assert capsys.readouterr().err.count("corrected:") == 10
    fixed = read_stories(output).stories
    assert (fixed[163].plausible, fixed[54].type, fixed[300].example_id) == (False, None, "98-O0")
    assert len({story.example_id for story in fixed}) == 356


@pytest.mark.slow
@pytest.mark.golden
def test_states_per_sentence_are_taken_from_the_other_published_file(shared, tmp_path, capsys):
    folder = shared / "golden/stories/dataset"
    output = tmp_path / "both.jsonl"
    arguments = ["suites", "convert", str(folder / "gita4calamita.jsonl"), "-o", str(output)]
    states = str(folder / "gita_v1_states.json.gz")
    assert invoke([*arguments, "--to", "gita4calamita", "--states", states]) == 0
    # Seven stories have other sentences there, one has six blocks, and one is there twice with
    # different states.
    assert "states per sentence: 347 of 356 stories" in capsys.readouterr().err
    first = read_stories(output).stories[2]
    assert (first.state, first.sentence_states[0].entries["open"][0]) == ("open", ("frigo", 3))
