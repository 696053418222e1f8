"""Which paradigm a file without a kind is of: what its reader detects, and no other loaded."""

from __future__ import annotations

import json

import pytest

from cimento.kinds.registry import DEFAULT, own_paradigms, paradigm_of

STORY = {
    "story_id": 1, "type": "order", "example_id": "1", "plausible": True, "breakpoint": -1,
    "sentences": ["Ada apre la porta.", "Ada entra."],
}  # fmt: skip
FILES = {
    "pairs.csv": ("good,bad\nIl cane dorme.,Il cane dormono.\n", DEFAULT),
    "rated.csv": ("sentence,rating\nIl cane dorme.,6.5\nIl cane dormono.,1.25\n", "ratings"),
    "blanks.csv": ("text,target\nIl cane ___ spesso.,dorme\n", "cloze"),
    "stories.jsonl": (json.dumps(STORY), "stories"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_paradigm_of_a_file_is_the_one_whose_reader_detects_it(tmp_path, name):
    text, paradigm = FILES[name]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    detecting = [one.name for one in own_paradigms() if one.reader.detect(path)]
    assert detecting == ([] if paradigm == DEFAULT else [paradigm])
    assert paradigm_of(path).name == paradigm
