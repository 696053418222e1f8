"""`scripts/readings.py`: what readers are asked, and what their answers are compared with."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cimento.corpus import grammar_files
from cimento.suites import builtin
from cimento.suites.builtin import READINGS, find_suite, list_builtin
from reading_questions import (
    AGREES,
    AnswerError,
    questions_of,
    questions_of_grammars,
    verdicts,
)
from readings import main

SUITES = ("it-filler-gap", "it-islands", "it-stories", "it-subject-verb")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Some starter suites that nobody has read."""
    for name in SUITES:
        unread = shutil.ignore_patterns(READINGS)
        shutil.copytree(find_suite(name), tmp_path / "suites" / name, ignore=unread)
    monkeypatch.setattr(builtin, "_FOLDER", tmp_path / "suites")
    return tmp_path


def asked(name, *, seed=1):
    [suite] = [suite for suite in list_builtin() if suite.name == name]
    return list(questions_of(suite, seed=seed))


def one(name, item, condition="", *, seed=1):
    [question] = [
        question
        for question in asked(name, seed=seed)
        if question.item == item and condition in ("", question.condition)
    ]
    return question


def read(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def write(path, rows):
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t")
        table.writerows([("id", "answer", "remark"), *rows])
    return str(path)


def test_every_item_of_every_starter_suite_is_asked_about():
    for suite in list_builtin():
        questions = list(questions_of(suite, seed=1))
        items = {question.item for question in questions}
        assert len({question.id for question in questions}) == len(questions)
        # A template stands for several items, each with the id of its template and seed.
        assert len(items) == suite.items or (
            (suite.path / "seeds.tsv").exists() and len(items) > suite.items
        )


def test_the_key_of_an_island_is_its_one_bad_cell():
    cells = {
        question.condition: question.key
        for question in asked("it-islands")
        if question.item == "whether-01"
    }
    assert cells == {
        "short_nonisland": "acceptable",
        "long_nonisland": "acceptable",
        "short_island": "acceptable",
        "long_island": "unacceptable",
    }
    shown = one("it-islands", "whether-01", "short_island")
    assert shown.text == "Chi ha detto se Marco ha comprato pesce al mercato?"
    assert verdicts(shown, "Acceptable") == [("short_island", AGREES)]
    assert verdicts(shown, "unsure") == [("short_island", "unsure")]


def test_a_filler_needs_a_gap_and_a_gap_a_filler():
    cells = {
        question.condition: question.key
        for question in asked("it-filler-gap")
        if question.item == "1"
    }
    assert cells == {
        "cosa_gap": "acceptable",
        "cosa_nogap": "unacceptable",
        "che_gap": "unacceptable",
        "che_nogap": "acceptable",
    }


def test_a_degree_next_to_the_rating_agrees_with_it():
    question = one("it-acceptability", "verb-agreement-03")
    assert question.key == "4"
    assert "1 (not at all) to 5 (fully)" in question.instruction
    said = [verdicts(question, degree) for degree in ("5", "3", "2", "unsure")]
    assert [verdict for [(_, verdict)] in said] == [AGREES, AGREES, "2, not 4", "unsure"]


@pytest.mark.slow
def test_candidates_are_lettered_in_random_order_without_their_roles():
    orders = {one("it-connectives-cloze", "1", seed=seed).choices for seed in range(20)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {
        frozenset({"e / ed", "perché", "dove", "se", "come"})
    }
    question = one("it-connectives-cloze", "1")
    by_choice = dict(zip(question.choices, "abcde", strict=True))
    right, also, wrong = (by_choice[name] for name in ("e / ed", "perché", "se"))
    said = [f"{also} {right}", f"{right},{wrong}", "none"]
    assert [verdicts(question, answer) for answer in said] == [
        [("options", AGREES)],
        [("options", "also se, not perché")],
        [("options", ", ".join(f"not {question.choices['abcde'.index(k)]}"
                               for k in sorted((right, also))))],
    ]  # fmt: skip


def test_templates_are_asked_with_their_seeds_and_expressions_as_they_are():
    blank = asked("es-agreement-templates")[0]
    assert blank.text == "El ayuntamiento restauró el edificio ___ del centro."
    assert sorted(blank.choices) == ["antigua", "antiguas", "antiguo", "antiguos"]
    assert blank.choices["abcd".index(blank.key)] == "antiguo"
    whole = one("it-idioms", "pecora nera/1")
    assert "pecora nera perché" in whole.text
    assert verdicts(whole, "no") == [("sentence", "no")]


def test_a_story_is_read_tier_by_tier():
    plausible, order = one("it-stories", "0"), one("it-stories", "0-O0")
    assert plausible.text.startswith("0. Nora attacca alla presa")
    assert verdicts(plausible, "plausible") == [("story_class", AGREES)]
    assert verdicts(plausible, "1 3 wet") == [("story_class", "conflict of 1 and 3, wet")]
    assert verdicts(order, "plausible") == [("story_class", "plausible")]
    assert verdicts(order, "4 0 power") == [
        ("story_class", AGREES),
        ("conflict_detec", AGREES),
        ("physical_state", AGREES),
    ]
    assert verdicts(order, "0 3 in pieces")[1:] == [
        ("conflict_detec", "0 and 3"),
        ("physical_state", "in pieces"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "item", "answer"),
    [
        ("it-subject-verb", "1", "c"),
        ("it-filler-gap", "1", "yes"),
        ("it-acceptability", "verb-agreement-01", "good"),
        ("it-connectives-cloze", "1", "a f"),
        ("it-connectives-cloze", "1", ""),
        ("it-idioms", "pecora nera/1", "perhaps"),
        ("it-stories", "0", "0 1"),
        ("it-stories", "0", "0 1 tired"),
    ],
)
def test_an_answer_that_a_question_does_not_have_is_refused(name, item, answer):
    question = next(question for question in asked(name) if question.item == item)
    with pytest.raises(AnswerError):
        verdicts(question, answer)


def test_an_id_depends_on_the_seed_and_the_sentences_alone(folder):
    before = {question.id for question in asked("it-subject-verb")}
    assert before.isdisjoint(question.id for question in asked("it-subject-verb", seed=2))
    table = folder / "suites" / "it-subject-verb" / "items.tsv"
    text = table.read_text(encoding="utf-8")
    table.write_text(text.replace("le verdure per la zuppa", "le cipolle"), encoding="utf-8")
    assert len(before - {question.id for question in asked("it-subject-verb")}) == 1


def test_a_sheet_has_no_key_and_what_was_answered_is_kept_beside_the_suites(folder, capsys):
    sheet = folder / "sheet.tsv"
    assert main(["sheet", "it", "--seed", "1", "-o", str(sheet), "--suite", "it-subject-verb"]) == 0
    shown = read(sheet)
    pairs = asked("it-subject-verb")
    assert len(shown) == len(pairs)
    assert list(shown[0]) == ["id", "question", "text", "choices"]
    assert [row["id"] for row in shown] != [question.id for question in pairs]
    keys = {question.id: question.key for question in pairs}
    rows = [(row["id"], keys[row["id"]], "") for row in shown]
    rows[0] = (rows[0][0], "both", "odd\tword")
    path = write(folder / "answers.tsv", rows)
    collecting = ["collect", "it", "--seed", "1", "--reader", "ADA", "--native", "no", path]
    assert main(collecting) == 0
    assert main(collecting) == 0  # a second time changes nothing
    kept = read(folder / "suites" / "it-subject-verb" / READINGS)
    assert len(kept) == len(pairs)
    assert [(row["verdict"], row["remark"]) for row in kept if row["verdict"] != AGREES] == [
        ("both", "odd word")
    ]
    said = capsys.readouterr().out
    assert "odd word" in said
    status = {suite.name: suite.status for suite in list_builtin()}
    assert status["it-subject-verb"] == "read by 1 person (0 native)"
    assert status["it-islands"].startswith("draft")


def test_a_native_speaker_cannot_have_the_name_of_a_language_model(folder):
    path = write(folder / "answers.tsv", [])
    with pytest.raises(SystemExit, match="R5 is a language model"):
        main(["collect", "it", "--seed", "1", "--reader", "R5", "--native", "yes", path])


def test_only_what_too_few_have_read_is_asked_again(folder):
    answers = [
        (question.id, "plausible" if question.ask == "story" else "acceptable", "")
        for name in ("it-filler-gap", "it-stories")
        for question in asked(name)[:6]
    ]
    path = write(folder / "answers.tsv", answers)
    main(["collect", "it", "--seed", "1", "--reader", "ADA", "--native", "yes", path])
    sheet = str(folder / "sheet.tsv")
    asking = ["sheet", "it", "--seed", "2", "-o", sheet, "--unread", "1"]
    chosen = ["--suite", "it-filler-gap", "--suite", "it-stories"]
    assert main([*asking, *chosen]) == 0
    assert len(read(sheet)) == len(asked("it-filler-gap")) + len(asked("it-stories")) - 12
    assert main(["sheet", "it", "--seed", "2", "-o", sheet, "--unread", "2", *chosen]) == 0
    assert len(read(sheet)) == len(asked("it-filler-gap")) + len(asked("it-stories"))


def test_answers_under_another_seed_are_refused(folder):
    [question, *_] = asked("it-subject-verb")
    path = write(folder / "answers.tsv", [(question.id, "a", "")])
    with pytest.raises(SystemExit, match="is the seed the sheet's"):
        main(["collect", "it", "--seed", "2", "--reader", "ADA", "--native", "no", path])
    assert not (folder / "suites" / "it-subject-verb" / READINGS).exists()


def test_what_cannot_be_used_is_said_in_one_line(folder):
    sheet = str(folder / "sheet.tsv")
    with pytest.raises(SystemExit, match="no it-subject"):
        main(["sheet", "it", "--seed", "1", "-o", sheet, "--suite", "it-subject"])
    with pytest.raises(SystemExit, match="no starter suite in 'xx'"):
        main(["sheet", "xx", "--seed", "1", "-o", sheet])
    (folder / "answers.tsv").write_text("id\tacceptable\n1\ta\n", encoding="utf-8")
    collecting = ["collect", "it", "--seed", "1", "--reader", "ADA", "--native", "no"]
    with pytest.raises(SystemExit, match="the columns id, answer"):
        main([*collecting, str(folder / "answers.tsv")])
    [question, *_] = asked("it-subject-verb")
    path = write(folder / "answers.tsv", [(question.id, "c", "")])
    with pytest.raises(SystemExit, match=f"id {question.id}: 'c' is none of a, b"):
        main([*collecting, path])


@pytest.mark.slow
def test_generated_items_are_read_and_counted(tmp_path, monkeypatch):
    grammars = tmp_path / "grammars"
    shutil.copytree(grammar_files._BUILT_IN / "ru", grammars / "ru")
    (grammars / "ru" / READINGS).unlink(missing_ok=True)
    monkeypatch.setattr(grammar_files, "_BUILT_IN", grammars)
    for path in (grammars / "ru").glob("*.toml"):
        if path.stem not in ("language", "subject-verb", "adjunct-islands"):
            path.unlink()
    drawn = list(questions_of_grammars("ru", items=3, seed=4))
    pairs = [question for question in drawn if question.ask == "pair"]
    assert {question.item.split("/")[0] for question in pairs} == {"ru-subject-verb"}
    assert (len(pairs), len(drawn)) == (3, 3 + 3 * 4)
    for reader, wrong in (("A", 0), ("B", 1)):
        rows = [
            (question.id, "both" if number < wrong else question.key, "")
            for number, question in enumerate(pairs)
        ]
        answers = write(tmp_path / "answers.tsv", rows)
        chosen = ["collect", "ru", "--seed", "4", "--grammars", "3", "--native", "no"]
        assert main([*chosen, "--reader", reader, answers]) == 0
    verdicts_of = [row["verdict"] for row in read(grammars / "ru" / READINGS)]
    assert Counter(verdicts_of)[AGREES] == 5
    assert grammar_files.items_read(grammars / "ru") == {"ru-subject-verb": 3}
