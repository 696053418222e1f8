"""Surveys made from suites: who sees what, in which order, and what the design file says."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError
from cimento.people.surveys import (
    design_json,
    parse_design,
    read_design,
    write_design,
)
from cimento.people.surveys.building import (
    QuestionSet,
    assign_lists,
    build_design,
)
from cimento.people.surveys.material import languages, words
from cimento.people.surveys.orders import order_questions, spread
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from tests.helpers.command_line import invoke

sets_of_members = st.lists(
    st.builds(
        lambda size, repeats, group: QuestionSet(size, size * repeats, group),
        st.integers(1, 4),
        st.integers(1, 2),
        st.sampled_from("abc"),
    ),
    min_size=1,
    max_size=40,
)


@given(sets_of_members, st.integers(0, 5))
@settings(deadline=None)
def test_nobody_sees_two_members_and_everything_is_asked_equally_often(sets, more):
    surveys = max(question_set.times for question_set in sets) + more
    dealt = assign_lists(sets, surveys)
    for survey in dealt:
        assert len({number for number, _ in survey}) == len(survey)
    asked = Counter(place for survey in dealt for place in survey)
    for number, question_set in enumerate(sets):
        for member in range(question_set.size):
            assert asked[(number, member)] == question_set.times // question_set.size


@given(sets_of_members, st.integers(0, 5))
@settings(deadline=None)
def test_sizes_are_equal_to_within_one_in_all_and_in_each_group(sets, more):
    dealt = assign_lists(sets, max(question_set.times for question_set in sets) + more)
    for group in (None, "a", "b", "c"):
        sizes = [
            sum(group in {None, sets[number].group} for number, _ in survey) for survey in dealt
        ]
        assert max(sizes) - min(sizes) <= 1


@given(st.integers(1, 6), st.integers(1, 60))
@settings(deadline=None)
def test_as_many_surveys_as_conditions_make_a_latin_square(size, items):
    dealt = assign_lists([QuestionSet(size, size)] * items, size)
    for survey in dealt:
        conditions = Counter(member for _, member in survey)
        counts = [conditions[member] for member in range(size)]
        assert max(counts) - min(counts) <= 1
        assert len(survey) == items


@given(st.integers(2, 5), st.integers(0, 6), st.integers(1, 60))
@settings(deadline=None)
def test_conditions_are_equally_frequent_in_each_survey_to_within_one(size, more, items):
    dealt = assign_lists(
        [QuestionSet(size, size, "abc"[number % 3]) for number in range(items)], size + more
    )
    for survey in dealt:
        conditions = Counter(member for _, member in survey)
        counts = [conditions[member] for member in range(size)]
        assert max(counts) - min(counts) <= 1


@given(st.lists(st.sampled_from("abcd"), max_size=40))
@settings(deadline=None)
def test_neighbors_differ_where_that_is_possible(groups):
    order = spread(groups)
    assert sorted(order) == list(range(len(groups)))
    most = max(Counter(groups).values(), default=0)
    if 2 * most <= len(groups) + 1:
        shown = [groups[place] for place in order]
        assert all(one != other for one, other in itertools.pairwise(shown))


def test_an_item_with_more_conditions_than_surveys_is_refused():
    with pytest.raises(UsageError, match="Ask for 4 surveys or more"):
        assign_lists([QuestionSet(4, 4)], 3)


@pytest.mark.parametrize(
    ("suite", "surveys"), [("it-connectives", 5), ("it-islands", 4), ("it-stories", 3)]
)
def test_nobody_sees_two_conditions_of_an_item(suite, surveys):
    design = build_design(find_suite(suite), SurveyPlan(surveys=surveys, checks=2))
    seen = Counter()
    for questions in design.by_survey.values():
        members = [question.members for question in questions if not question.expected]
        assert len(set(members)) == len(members)
        seen.update(question.id for question in questions)
    assert {seen[question.id] for question in design.questions if not question.expected} == {1}
    assert {seen[question.id] for question in design.questions if question.expected} == {surveys}


def test_five_surveys_of_pairs_are_balanced_over_conditions_and_connectives():
    design = build_design(find_suite("it-connectives"), SurveyPlan(checks=0, surveys=5))
    for questions in design.by_survey.values():
        assert len(questions) in {103, 104}  # 518 sentences, as the surveys of the study
        counts = Counter(question.condition for question in questions)
        assert abs(counts["acceptable"] - counts["unacceptable"]) <= 2
        assert set(Counter(question.group for question in questions).values()) == {5, 6}
        groups = [question.group for question in questions]
        assert all(one != other for one, other in itertools.pairwise(groups))


def test_the_same_seed_gives_the_same_design_and_another_another_order():
    plan = SurveyPlan(checks=2, seed=4)
    path = find_suite("it-connectives-cloze")
    first, again = build_design(path, plan), build_design(path, plan)
    other = build_design(path, plan.model_copy(update={"seed": 5}))
    assert design_json(first) == design_json(again)
    assert first.surveys != other.surveys


def test_a_design_file_is_read_as_it_was_written(tmp_path):
    design = build_design(find_suite("it-stories"), SurveyPlan(checks=1))
    write_design(design, tmp_path / "design.json")
    assert read_design(tmp_path) == design


def test_sentences_are_asked_in_several_surveys_where_that_is_wanted():
    design = build_design(find_suite("en-subject-verb"), SurveyPlan(checks=0, surveys=6, times=2))
    asked = Counter(question for survey in design.surveys for question in survey.questions)
    assert set(asked.values()) == {2}
    with pytest.raises(UsageError, match="surveys"):
        build_design(find_suite("en-subject-verb"), SurveyPlan(checks=0, surveys=3, times=2))


def test_forced_choices_show_each_sentence_first_in_half_of_the_items():
    design = build_design(find_suite("it-connectives"), SurveyPlan(checks=0, task="choice"))
    (questions,) = design.by_survey.values()
    first = Counter(question.choices[0].condition for question in questions)
    assert sorted(first.values()) == [129, 130]
    assert all(len({choice.value for choice in question.choices}) == 2 for question in questions)


def test_forced_choices_are_kept_apart_and_asked_once():
    plan = SurveyPlan(checks=0, surveys=6, task="choice", apart="connective", limit=12)
    design = build_design(find_suite("it-connectives"), plan)
    asked = Counter(
        question.item for questions in design.by_survey.values() for question in questions
    )
    assert len(asked) == 12
    assert set(asked.values()) == {1}
    for questions in design.by_survey.values():
        assert len({question.members for question in questions}) == len(questions)


def test_rows_that_share_a_value_are_kept_apart():
    plan = SurveyPlan(checks=0, surveys=15, apart="connective")
    design = build_design(find_suite("it-connectives-cloze"), plan)
    for questions in design.by_survey.values():
        assert len({question.members for question in questions}) == len(questions)
    with pytest.raises(UsageError, match="no such column"):
        build_design(
            find_suite("it-connectives-cloze"),
            SurveyPlan(checks=0, apart="conective"),
        )


def test_the_answer_that_nothing_fits_is_there_where_it_is_wanted():
    path = find_suite("it-connectives-cloze")
    usual = build_design(path, SurveyPlan(checks=0))
    without = build_design(path, SurveyPlan(checks=0, none=False))
    assert all(question.choices[-1].value == "none" for question in usual.questions)
    assert not any(
        choice.value == "none" for question in without.questions for choice in question.choices
    )
    assert "nessuna di queste" in usual.guidelines[-1]


def test_checks_are_spread_and_never_first():
    design = build_design(find_suite("it-acceptability"), SurveyPlan(surveys=2, checks=3))
    for questions in design.by_survey.values():
        places = [place for place, question in enumerate(questions) if question.expected]
        assert places == [15, 31, 47]
        for place in places:
            assert questions[place].expected in questions[place].lines[0]


def test_checks_of_ones_own_are_taken_from_a_table(tmp_path):
    file = tmp_path / "checks.tsv"
    file.write_text("text\texpected\tchoices\nQuanti sono due gatti?\tdue\tuno | due\n")
    design = build_design(find_suite("it-acceptability"), SurveyPlan(checks=0, check_file=file))
    (check,) = [question for question in design.questions if question.expected]
    assert check.lines == ("Quanti sono due gatti?",)
    assert [choice.value for choice in check.choices] == ["uno", "due"]
    assert design.fields_of(check)[0].name == "attention"


@pytest.mark.parametrize(
    "table", ["text\texpected\nSì?\t9\n", "text\texpected\nSì?\t\n", "text\tchoices\tx\na\tb\tc\n"]
)
def test_checks_that_nobody_could_pass_are_refused(tmp_path, table):
    file = tmp_path / "checks.tsv"
    file.write_text(table)
    with pytest.raises(InputError):
        build_design(find_suite("it-acceptability"), SurveyPlan(checks=0, check_file=file))


def test_tasks_and_languages_that_do_not_go_with_a_suite_are_refused():
    with pytest.raises(UsageError, match="likert or yesno or choice"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, task="cloze"))
    with pytest.raises(UsageError, match="en, es, it, pt, ru"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, language="de"))
    with pytest.raises(InputError, match="no options"):
        build_design(find_suite("it-idioms"), SurveyPlan(checks=0))
    with pytest.raises(UsageError, match="scale"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, scale=1))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("good,bad\nIeri pioveva.,*Ieri piovevano.\n", "CIM-S061"),
        ("good,bad\n*Ieri piovevano.,*Ieri pioverono.\n", "item 1: '*Ieri piovevano.' has"),
        ("sentence,rating\nIeri pioveva.,7\n?Ieri piovevano.,2\n", "item 2: '?Ieri piovevano.'"),
    ],
)
def test_people_never_see_judgment_marks(tmp_path, capsys, table, said):
    path = tmp_path / "marked.csv"
    path.write_text(table, "utf-8")
    command = ["annotate", "survey", "build", str(path), "-o", str(tmp_path / "survey")]
    assert invoke(command) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "survey").exists()


def test_a_hashtag_may_begin_a_sentence_that_people_judge(tmp_path):
    path = tmp_path / "tagged.csv"
    path.write_text("good,bad\n#Ferie finite.,#Ferie finito.\n", "utf-8")
    assert invoke(["suites", "convert", str(path), "--language", "it", "-o",
                   str(tmp_path / "tagged.xlsx")]) == 0  # fmt: skip
    assert invoke(["annotate", "survey", "build", str(tmp_path / "tagged.xlsx"), "-o",
                   str(tmp_path / "survey")]) == 0  # fmt: skip


def test_people_rate_on_the_scale_of_the_suite_unless_another_is_named(tmp_path):
    suite = tmp_path / "mine.csv"
    suite.write_text("sentence,rating\nMaria canta.,6.5\nMaria cantano.,1\n", encoding="utf-8")
    workbook = tmp_path / "mine.xlsx"
    assert invoke(["suites", "convert", str(suite), "--language", "it", "-o", str(workbook)]) == 0
    assert build_design(workbook, SurveyPlan(checks=2)).fields[0].scale == "1 to 7"
    assert build_design(workbook, SurveyPlan(checks=0, scale=4)).fields[0].scale == "1 to 4"
    assert (
        build_design(find_suite("it-subject-verb"), SurveyPlan(checks=0)).fields[0].scale
        == "1 to 5"
    )


def test_candidates_of_a_run_are_judged_each_once(tmp_path):
    command = ["run", "it-connectives-cloze", "-m", "demo-masked", "--limit", "2"]
    assert invoke([*command, "-o", str(tmp_path), "--no-cache"]) == 0
    (manifest,) = tmp_path.rglob("manifest.json")
    design = build_design(manifest.parent, SurveyPlan(checks=0, surveys=2))
    shown = [(question.item, question.candidate) for question in design.questions]
    assert len(set(shown)) == len(shown) == 20
    assert design.remarks
    assert [field.name for field in design.fields] == ["fits"]
    for question in design.questions:
        start, end = question.mark
        assert question.lines[0][start:end] == question.candidate


def test_consent_texts_have_a_version(tmp_path):
    file = tmp_path / "consent.txt"
    file.write_text("Primo\nparagrafo.\n\nSecondo.\n")
    path = find_suite("it-connectives")
    design = build_design(path, SurveyPlan(checks=0, consent=file))
    assert design.consent == ("Primo paragrafo.", "Secondo.")
    usual, other = (
        build_design(path, SurveyPlan(checks=0, contact=contact)) for contact in ("A", "B")
    )
    assert len({design.consent_version, usual.consent_version, other.consent_version}) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"cimento_survey": 3', '"cimento_survey": 9'),
        lambda text: text.replace('"q1"', '"q2"', 1),
        lambda text: text[:100],
        lambda text: text.replace('"seed"', '"sed"'),
        lambda _: "[]",
    ],
)
def test_a_design_that_was_spoilt_is_refused(change):
    text = design_json(build_design(find_suite("en-subject-verb"), SurveyPlan(checks=0)))
    with pytest.raises(InputError):
        parse_design(change(text).encode(), where="design.json")


def test_the_words_of_all_languages_have_the_same_names_and_places():
    usual = words("en")
    for language in languages():
        said = words(language)
        assert {section: sorted(texts) for section, texts in said.items()} == {
            section: sorted(texts) for section, texts in usual.items()
        }
        for section, texts in said.items():
            for name, text in texts.items():
                assert text.strip()
                assert places(text) == places(usual[section][name]), (language, section, name)
    assert languages() == ["en", "es", "it", "pt", "ru"]


def places(text):
    """What is put into a text: the names in braces."""
    return sorted(part.split("}")[0] for part in text.split("{")[1:])


@given(st.text(min_size=1), st.integers())
@settings(deadline=None)
def test_any_text_survives_the_design_file(text, seed):
    design = build_design(find_suite("en-subject-verb"), SurveyPlan(checks=0, limit=2))
    question = replace(design.questions[0], lines=(text,), candidate=text)
    changed = replace(design, questions=(question, *design.questions[1:]), seed=seed)
    assert parse_design(design_json(changed).encode(), where="x") == changed
    assert json.loads(design_json(changed))["questions"][0]["lines"] == [text]


def test_an_order_keeps_phenomena_and_conditions_apart():
    design = build_design(find_suite("it-islands"), SurveyPlan(surveys=4, checks=2))
    assert len({question.condition for question in design.questions}) > 3
    for seed in range(8):
        order = order_questions(design.by_survey["1"], random.Random(seed))  # noqa: S311  # no secret
        assert {*order} == {*design.by_survey["1"]}
        asked = [question for question in order if not question.expected]
        assert all(one.condition != other.condition for one, other in itertools.pairwise(asked))
        assert not order[0].expected


def test_two_conditions_do_not_take_strict_turns():
    design = build_design(find_suite("en-subject-verb"), SurveyPlan(checks=0, surveys=2))
    order = order_questions(design.by_survey["1"], random.Random(1))  # noqa: S311  # no secret
    runs = [len([*run]) for _, run in itertools.groupby(order, lambda asked: asked.condition)]
    assert max(runs) == 2


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "practice.tsv").write_text("text\nPrima prova.\nSeconda prova.\n")
    (tmp_path / "fillers.tsv").write_text("text\nUn riempitivo.\nUn altro.\n")
    (tmp_path / "background.tsv").write_text(
        "name\ttext\tchoices\nstudies\tHai studiato linguistica?\tsì | no\njob\tChe lavoro fai?\t\n"
    )
    return tmp_path


def test_practice_comes_first_and_fillers_are_asked_in_every_order(tables):
    plan = SurveyPlan(
        surveys=2, checks=1, practice=tables / "practice.tsv", fillers=tables / "fillers.tsv"
    )
    design = build_design(find_suite("it-acceptability"), plan)
    for questions in design.by_survey.values():
        assert [asked.lines[0] for asked in questions[:2]] == ["Prima prova.", "Seconda prova."]
        kinds = Counter(asked.kind for asked in questions)
        assert (kinds["practice"], kinds["filler"]) == (2, 2)
    names = {design.fields_of(asked)[0].name for asked in design.questions}
    assert names == {"acceptability", "attention", "filler", "practice"}


@pytest.mark.parametrize(
    ("table", "task", "seen"),
    [
        ("text\texpected\nSì?\t3\n", "likert", "an answer is expected"),
        ("text\nSì?\n", "choice", "no answers to choose from"),
        ("text\tchoices\n\ta | b\n", "likert", "no text"),
        ("text\tchoices\nSì?\ta\n", "likert", "not two different answers"),
        ("text\tchoices\n\ta\n", "choice", "not two different answers"),
        ("text\tchoices\na\ta\n", "choice", "not two different answers"),
    ],
)
def test_fillers_that_cannot_be_asked_are_refused(tmp_path, table, task, seen):
    file = tmp_path / "fillers.tsv"
    file.write_text(table)
    plan = SurveyPlan(checks=0, fillers=file, task=task)
    with pytest.raises(InputError, match=seen):
        build_design(find_suite("it-connectives"), plan)


def test_a_filler_of_two_sentences_is_a_choice_of_both_in_either_order(tmp_path):
    pairs = [(f"Il numero {n} è pari.", f"Il numero {n} sono pari.") for n in range(2, 42, 2)]
    file = tmp_path / "fillers.tsv"
    rows = ["\t".join(pair) for pair in pairs] + ["\tAnna ride. | Ride anna."]
    file.write_text("\n".join(["text\tchoices", *rows]) + "\n", encoding="utf-8")
    plan = SurveyPlan(checks=0, fillers=file, task="choice")
    design = build_design(find_suite("it-connectives"), plan)
    fillers = [question for question in design.questions if question.kind == "filler"]
    shown = [[choice.value for choice in question.choices] for question in fillers]
    expected = [*map(sorted, pairs), ["Anna ride.", "Ride anna."]]
    assert sorted(map(sorted, shown)) == sorted(expected)
    assert not any(question.lines for question in fillers)
    assert 0 < sum("sono" in first for first, _ in shown) < len(pairs)
    assert build_design(find_suite("it-connectives"), plan) == design


def test_the_researcher_chooses_what_participants_say_of_themselves(tables):
    plan = SurveyPlan(
        checks=0, background=("first-language", "age"), background_file=tables / "background.tsv"
    )
    design = build_design(find_suite("it-connectives"), plan)
    language, age, studies, job = design.background
    assert language.prompt.startswith("Qual è la tua lingua madre?")
    assert not language.choices
    assert "25–34" in age.choices
    assert studies.choices == ("sì", "no", "Preferisco non rispondere")
    assert job.choices == ()
    with pytest.raises(UsageError, match="no such question"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, background=("income",)))
    with pytest.raises(UsageError, match="twice"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, background=("age", "age")))


@pytest.mark.parametrize("name", ["", "survey", "Età", "x" * 41])
def test_names_of_questions_that_can_be_no_column_are_refused(tmp_path, name):
    file = tmp_path / "background.tsv"
    file.write_text(f"name\ttext\n{name}\tChi sei?\n")
    with pytest.raises(InputError, match="the name is"):
        build_design(find_suite("it-connectives"), SurveyPlan(checks=0, background_file=file))


@pytest.mark.slow
@pytest.mark.parametrize("language", languages())
def test_checks_differ_in_their_words_and_in_their_answers(language):
    suite = find_suite("it-acceptability")
    plan = SurveyPlan(checks=4, language=language)
    checks = [asked for asked in build_design(suite, plan).questions if asked.expected]
    assert len({asked.expected for asked in checks}) == 4
    wordings = {asked.lines[0].replace(asked.expected, "") for asked in checks}
    assert len(wordings) == 4


def test_an_address_without_encryption_is_no_completion_link():
    with pytest.raises(UsageError, match="neither a code nor an address"):
        build_design(
            find_suite("it-connectives"), SurveyPlan(checks=0, completion="http://prolific.example")
        )


def test_a_suite_that_does_not_say_its_language_needs_one(tmp_path, capsys):
    (tmp_path / "pairs.tsv").write_text("good\tbad\nUno va.\tUno vanno.\nDue vanno.\tDue va.\n")
    command = [
        "annotate",
        "survey",
        "build",
        str(tmp_path / "pairs.tsv"),
        "-o",
        str(tmp_path / "s"),
    ]
    assert invoke(command) == 2
    assert "the suite does not say its language" in capsys.readouterr().err
    assert invoke([*command, "--language", "it"]) == 0


@pytest.mark.parametrize("header", ["texto", "Frase", "sentence", "text"])
def test_practice_may_be_headed_as_sentences_of_suites(tmp_path, header):
    path = tmp_path / "practica.csv"
    path.write_text(f"{header}\nUna frase de prueba.\n", encoding="utf-8")
    design = build_design(find_suite("it-acceptability"), SurveyPlan(practice=path, checks=0))
    (practice,) = [question for question in design.questions if question.kind == "practice"]
    assert practice.lines == ("Una frase de prueba.",)


def test_a_scale_is_refused_where_nothing_is_rated(tmp_path, capsys):
    build = ["annotate", "survey", "build", "it-acceptability", "-o", str(tmp_path / "survey")]
    assert invoke([*build, "--task", "yesno", "--scale", "7"]) == 2
    assert "people rate nothing on a scale in the task yesno" in capsys.readouterr().err
    assert invoke([*build, "--task", "likert", "--scale", "7"]) == 0
