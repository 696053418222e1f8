"""Plain English: terms of the field, and turns of phrase that are avoided (scripts/wording.py)."""

from __future__ import annotations

import tomllib

import pytest

import spelling
import wording

RULES = wording.rules(tomllib.loads(wording.RULES.read_text("utf-8")))


def better(text, path="a.md"):
    return wording.fixed(text, wording.places(path, text, RULES, ()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("'x' is no number.", "'x' is not a number."),
        ("It is no\nobject.", "It is not\nan object."),
        ("It is no n-gram model, no UTF-8", "It is not an n-gram model, no UTF-8"),
        (
            "The file is no text; it is no text file.",
            "The file is not text; it is not a text file.",
        ),
        ("The rows are no part of it.", "The rows are not part of it."),
        ("the share of right answers", "the proportion of correct answers"),
        ("Shares of all items", "Proportions of all items"),
        ("with 95 % intervals", "with 95% intervals"),
        ("Give one row an item.", "Give one row per item."),
        (
            "What stands before a text stands in the prompt.",
            "What comes before a text is in the prompt.",
        ),
        (
            "A list should stand here, and words must stand together.",
            "A list should be here, and words must be together.",
        ),
    ],
)
def test_a_phrase_with_one_replacement_is_replaced(text, written):
    assert better(text) == written
    assert better(written) == written


@pytest.mark.parametrize(
    "text",
    [
        "There is no number; it is no longer here, no more than 5 and no better.",
        "where there are no items; a blank stands for a word; files of one size",
        "your share of the work; on the right; all right; the rightmost answer",
        "5 items and 3 % of nothing"[:11],
    ],
)
def test_plain_english_stays(text):
    assert wording.places("a.md", text, RULES, ()) == []


@pytest.mark.parametrize(
    "text", ["how able models are", "a level that is none", "otherwise than here", "what came out"]
)
def test_a_phrase_with_several_replacements_is_left_to_a_person(text):
    (place,) = wording.places("a.md", text, RULES, ())
    assert place.instead == ""


def test_of_a_program_strings_and_comments_are_read_and_code_is_not():
    text = 'n = 5 % k  # 5 % of\nsaid = f"{n} is no number, 5 %"\nis_no_number = n\n'
    assert better(text, "a.py") == (
        'n = 5 % k  # 5% of\nsaid = f"{n} is not a number, 5%"\nis_no_number = n\n'
    )


def test_of_texts_in_several_languages_the_english_ones_are_read():
    text = 'a.it = "5 % di no"\na.en = "5 % of it"\n'
    assert better(text, "a.toml") == 'a.it = "5 % di no"\na.en = "5% of it"\n'


def test_two_phrases_that_overlap_are_replaced_one_after_the_other():
    assert better("It is no share of items.") == "It is no proportion of items."
    assert better(better("It is no share of items.")) == "It is not a proportion of items."


def test_texts_that_may_stay_are_kept():
    assert wording.places("a.md", "It is no number.", RULES, ["is no number"]) == []


def test_the_places_are_printed_with_the_remedy_and_the_reason(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(spelling, "tracked", lambda root: [path.name for path in root.iterdir()])
    (tmp_path / "a.md").write_text("A line.\n\nIt is no list, otherwise than b.\n", "utf-8")
    assert wording.main(["--root", str(tmp_path)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("a.md:3: 'is no list': write 'is not a list'; ")
    assert second.startswith("a.md:3: 'otherwise than': ")
    assert wording.main(["--root", str(tmp_path), "--fix"]) == 1, "one is left to a person"
    assert (tmp_path / "a.md").read_text("utf-8").startswith("A line.\n\nIt is not a list")
