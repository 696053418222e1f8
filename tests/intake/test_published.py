"""Shapes in which sets are published: what our own rows in them are read as, and which way."""

from __future__ import annotations

import json

import pytest

from cimento import CimentoError, load_suite
from cimento.suites import sentence
from cimento.suites.ratings import rated_of

GOOD = [f"The {noun} sleep here." for noun in ("boys", "cats", "kings", "wolves")]
BAD = [f"The {noun} sleeps here." for noun in ("boys", "cats", "kings", "wolves")]


def loaded(folder, columns, name="rows.tsv"):
    """What a table of columns is read as, and the suite."""
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    path = folder / name
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    read = load_suite(path, language="en")
    return read.suite, read.reading.table


def ratings(suite):
    return {one.text: one.mean for one in rated_of(suite).sentences}


def pairs(suite):
    return [[sentence(one) for one in item.conditions] for item in suite.items]


BOTH = [text for pair in zip(GOOD, BAD, strict=True) for text in pair]
LABELED = dict(zip(GOOD + BAD, [1.0] * len(GOOD) + [0.0] * len(BAD), strict=True))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("예", "아니오"),
        ("정문", "비문"),
        ("はい", "いいえ"),
        ("文法的", "非文法的"),
        ("正确", "错误"),
        ("ja", "nein"),
        ("richtig", "falsch"),
        ("oui", "non"),
        ("acceptable", "inacceptable"),
        ("grammaticaal", "ongrammaticaal"),
    ],
)
def test_labels_in_other_languages_are_read_in_their_direction(tmp_path, good, bad):
    labels = [good] * len(GOOD) + [bad] * len(BAD)
    suite, read = loaded(tmp_path, {"sentence": GOOD + BAD, "gold_label": labels})
    assert ratings(suite) == LABELED
    assert read.roles["label"] == ("gold_label",)


@pytest.mark.parametrize("name", ["type", "condition", "Version"])
@pytest.mark.parametrize("sentences", ["sentence", "v1", "transcript"])
def test_words_for_good_and_bad_are_a_label_whatever_their_column_is_called(
    tmp_path, name, sentences
):
    kinds = ["grammatical", "ungrammatical"] * len(GOOD)
    texts = [text for pair in zip(GOOD, BAD, strict=True) for text in pair]
    suite, read = loaded(tmp_path, {sentences: texts, "source": ["A"] * len(texts), name: kinds})
    assert ratings(suite) == LABELED
    assert (read.shape, read.unused) == ("labeled sentences", ("source",))
    assert read.roles == {"sentence": (sentences,), "label": (name,)}


def test_words_for_good_and_bad_beside_sentences_that_repeat_are_no_label(tmp_path):
    columns = {"sentence": GOOD * 2, "answer": ["correct", "incorrect"] * len(GOOD)}
    with pytest.raises(CimentoError):
        loaded(tmp_path, columns)


def test_the_one_column_of_sentences_is_that_of_the_ratings_beside_it(tmp_path):
    points = ["6.5", "5", "6", "5.5"]
    suite, read = loaded(tmp_path, {"Enunciato": GOOD, "Media": points})
    assert ratings(suite) == dict(zip(GOOD, map(float, points), strict=True))
    assert read.roles == {"sentence": ("Enunciato",), "rating": ("Media",)}
    suite, read = loaded(tmp_path, {"Enunciato": GOOD, "P1": list("7563"), "P2": list("5543")})
    assert read.roles == {"sentence": ("Enunciato",), "people": ("P1", "P2")}
    with pytest.raises(CimentoError):  # two columns of sentences: nothing says which was rated
        loaded(tmp_path, {"Enunciato": GOOD, "Versione": BAD, "Media": points})


def test_shortened_names_of_sides_beside_ids_and_verdicts_are_a_pair(tmp_path):
    columns = {
        "gramm_id": [f"1.{n}.g" for n in range(4)],
        "gramm_sentence": GOOD,
        "ungramm_id": [f"1.{n}.*" for n in range(4)],
        "ungramm_sentence": BAD,
        "surprisal_correct": ["True", "False", "True", "True"],
    }
    suite, read = loaded(tmp_path, columns)
    assert pairs(suite) == [list(both) for both in zip(GOOD, BAD, strict=True)]
    assert read.unused == ("gramm_id", "ungramm_id", "surprisal_correct")


def test_a_label_of_letters_is_a_key_and_one_of_numbers_is_none(tmp_path):
    sides = list(zip(GOOD, BAD, strict=True))
    first, second = [*GOOD[:2], *BAD[2:]], [*BAD[:2], *GOOD[2:]]
    columns = {"sentence_A": first, "sentence_B": second, "gold_label": list("AABB")}
    suite, read = loaded(tmp_path, columns)
    assert pairs(suite) == [list(both) for both in sides]
    assert read.roles["key"] == ("gold_label",)
    columns = {"sentence1": first, "sentence2": second, "label": list("1122")}
    with pytest.raises(CimentoError):
        loaded(tmp_path, columns)


def test_cola_without_codes_of_sources_is_read(tmp_path):
    path = tmp_path / "made.tsv"
    rows = [("", "1", "", text) for text in GOOD] + [("", "0", "*", text) for text in BAD]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    read = load_suite(path)
    assert ratings(read.suite) == LABELED
    assert read.reading.table.known == "CoLA"


def test_continuations_between_a_prefix_and_a_suffix_may_have_more_said_of_one(tmp_path):
    columns = {
        "prefix": ["I saw two", "We fed three"],
        "good_focus": ["cats", "dogs"],
        "bad_focus": ["cat", "dog"],
        "suffix": ["here.", "there."],
        "good_gold": ["cat|s", "dog|s"],
    }
    suite, read = loaded(tmp_path, columns)
    assert pairs(suite)[0] == ["I saw two cats here.", "I saw two cat here."]
    assert read.unused == ("good_gold",)


def test_marks_of_quotation_that_are_doubled_around_cells_count_as_single(tmp_path):
    rows = [
        "Paradigm,Number (paradigm),Item,Grammaticality,Sentence",
        "number,1,7,Grammatical,We sleep here.",
        "number,1,7,Ungrammatical,We sleeps here.",
        'number,1,8,Grammatical,""Kings sleep here, as we do.""',
        'number,1,8,Ungrammatical,""Kings sleeps here, as we do.""',
    ]
    path = tmp_path / "nl.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    read = load_suite(path)
    assert pairs(read.suite)[1] == ["Kings sleep here, as we do.", "Kings sleeps here, as we do."]
    assert "lines 4, 5" in next(f.seen for f in read.reading.faults if f.code == "CIM-S084")
    path.write_text("\n".join([*rows, 'number,1,9,Grammatical,""Open, here.']), encoding="utf-8")
    with pytest.raises(CimentoError):
        load_suite(path)


def test_expected_and_unexpected_continuations_of_one_prompt_are_pairs_and_no_design(tmp_path):
    rows = []
    for order, (first, second) in enumerate((("cat", "dog"), ("dog", "cat")), start=1):
        prompt, likely, unlikely = f"A {first}, no {second}.", f"The {first}.", f"The {second}."
        rows.append(
            {"id": "1_cat", "exp_sentence": f"{prompt} {likely}", "prompt": prompt,
             "unexp_sentence": f"{prompt} {unlikely}", "exp_continuation": likely,
             "unexp_continuation": unlikely, "type": "a_b", "order": order}
        )  # fmt: skip
    path = tmp_path / "entities.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = load_suite(path)
    assert pairs(read.suite)[1] == [rows[1]["exp_sentence"], rows[1]["unexp_sentence"]]
    assert [prediction.formula for prediction in read.suite.predictions] == [
        "(*;%good%) < (*;%bad%)"
    ]


@pytest.mark.parametrize("other", ["context", "Note", "author_comment", "question text"])
def test_contexts_and_notes_are_not_the_sentences_that_were_rated(tmp_path, other):
    with pytest.raises(CimentoError):
        loaded(tmp_path, {other: GOOD, "rating": list("7563")})
    with pytest.raises(CimentoError):
        loaded(tmp_path, {"stem": GOOD, "target": ["a", "b", "c", "d"], "rating": list("7563")})


def test_lists_under_headings_that_judge_are_labeled_by_them(tmp_path):
    path = tmp_path / "class.txt"
    bad = [f'"{BAD[0]}\tF', *(f"{text}\tORT" for text in BAD[1:])]
    path.write_text("\n".join(["Ungrammatical:", *bad, "", "", "Grammatical:", *GOOD, ""]), "utf-8")
    read = load_suite(path, language="en")
    labeled = {text.lstrip('"'): label for text, label in ratings(read.suite).items()}
    assert labeled == LABELED
    said = read.reading.table
    assert (said.shape, said.unused, said.n_items) == ("labeled sentences", ("note",), 8)
    path.write_text("\n".join(["Ungrammatical:", *bad, "Other:", *GOOD]), "utf-8")
    with pytest.raises(CimentoError):
        load_suite(path, language="en")


def test_right_answers_to_questions_label_no_sentence(tmp_path):
    columns = {
        "sentence": BOTH,
        "Question": ["Who sleeps?"] * 8,
        "Correct answer": list("10011010"),
    }
    with pytest.raises(CimentoError):
        loaded(tmp_path, columns)


@pytest.mark.parametrize("name", ["group", "list", "model_seed", "version"])
def test_parts_of_the_rows_are_no_people(tmp_path, name):
    texts = [text for text in BOTH for _ in range(2)]
    columns = {name: list("12") * 8, "sentence": texts, "grammatical": list("1100") * 4}
    _, read = loaded(tmp_path, columns)
    assert "participant" not in read.roles
    assert (read.n_items, read.unused) == (16, (name,))


def test_a_prefix_and_a_continuation_with_regions_between_are_no_whole_sentence(tmp_path):
    columns = {
        "item": list("1122"),
        "condition": ["that", "what"] * 2,
        "prefix": ["I know"] * 4,
        "compl": ["that", "who"] * 2,
        "subj": ["the boys", "the boys", "the cats", "the cats"],
        "continuation": ["saw it", "saw"] * 2,
    }
    try:
        suite, _ = loaded(tmp_path, columns)
    except CimentoError:
        return
    assert sentence(suite.items[0].conditions[0]).startswith("I know that the boys")
