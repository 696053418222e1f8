"""Lists: examples with and without marks, and sentences that people are asked about."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import SuiteError, UsageError, load_suite
from cimento.people.surveys.building import build_design
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.formats import detect_format
from cimento.suites.formats.examples import pairs_in_list, read_examples
from tests.helpers.command_line import invoke

GOOD = ("La zia canta, credo.", "I gatti dormono.", "Il treno parte.")
BAD = ("La zia cantano, credo.", "I gatti dorme.", "Il treno partono.")
LAYOUTS = {
    "numbers and letters": ("({n}a) {good}", "({n}b) *{bad}"),
    "a number for both": ("{n}. {good}", "   *{bad}"),
    "marks alone": ("{good}", "*{bad}"),
    "marks before numbers": ("({n}a) {good}", "*({n}b) {bad}"),
}


def as_list(layout: tuple[str, str]) -> list[str]:
    return [
        line.format(n=n, good=good, bad=bad)
        for n, (good, bad) in enumerate(zip(GOOD, BAD, strict=True), start=1)
        for line in layout
    ]


def pairs_of(suite) -> list[tuple[str, ...]]:
    return [
        tuple(condition.regions[0].text for condition in item.conditions) for item in suite.items
    ]


@pytest.mark.parametrize("heading", [[], ["Esempi"]])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_offer_for_a_list_of_examples_holds(layout, heading, tmp_path, capsys):
    path = tmp_path / "esempi.txt"
    path.write_text("\n\n".join([*heading, *as_list(LAYOUTS[layout])]), encoding="utf-8")
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    said = "".join(capsys.readouterr())
    assert "reads 3 pairs" in said
    [command] = re.findall("`cimento (suites convert [^`]*)`", said)
    words = shlex.split(command.replace("esempi.txt", str(path)))
    words = [str(tmp_path / "NAME.xlsx") if word == "NAME.xlsx" else word for word in words]
    assert invoke([*words, "--language", "it"]) == 0
    suite = load_suite(tmp_path / "NAME.xlsx").suite
    assert pairs_of(suite) == list(zip(GOOD, BAD, strict=True))
    assert suite.condition_names == ("good", "bad")


def test_numbers_may_stand_in_a_column_of_their_own(tmp_path):
    lines = ["n;frase", "(1a);Il gatto dorme, dice.", "(1b) *;Il gatto dormono, dice."]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    [(good, bad)] = pairs_of(read_examples(path).suite)
    assert (good, bad) == ("Il gatto dorme, dice.", "Il gatto dormono, dice.")


@pytest.mark.parametrize(
    "texts",
    [
        ["*Il gatto dormono.", "Il gatto dorme."],
        ["Il gatto dorme.", "*Il gatto dormono.", "La zia canta."],
        ["Il gatto dorme.", "La zia canta."],
        [],
    ],
)
def test_sentences_that_do_not_take_turns_are_no_pairs(texts, tmp_path):
    assert pairs_in_list(texts) == []
    path = tmp_path / "a.txt"
    path.write_text("\n".join([*texts, ""]) or "\n", encoding="utf-8")
    with pytest.raises(SuiteError):
        read_examples(path)


SENTENCES = st.lists(
    st.text("abcdefgh ", min_size=3, max_size=12).map(lambda text: f"x{text.strip()} y".strip()),
    min_size=1, max_size=5,
)  # fmt: skip


@given(SENTENCES, st.sampled_from(sorted(LAYOUTS)))
def test_examples_come_back_as_they_were(texts, layout):
    first, second = LAYOUTS[layout]
    listed = [
        line.format(n=n, good=text, bad=text + " z").strip()
        for n, text in enumerate(texts, start=1)
        for line in (first, second)
    ]
    pairs = pairs_in_list(listed)
    assert [(pair.good, pair.bad) for pair in pairs] == [(text, text + " z") for text in texts]


def test_a_list_is_asked_about_and_stored_as_a_suite(tmp_path, capsys):
    path = tmp_path / "frasi.txt"
    path.write_text("\n".join(GOOD), encoding="utf-8")
    assert invoke(["suites", "check", str(path)]) == 2
    assert "survey build frasi.txt --language CODE -o survey`" in "".join(capsys.readouterr())
    assert invoke(["suites", "check", str(path), "--language", "pt"]) == 2
    said = "".join(capsys.readouterr())
    assert "`cimento annotate survey build frasi.txt --language pt -o survey`. If" in said
    assert "`cimento annotate import ANSWERS --suite frasi.txt -o answers.csv`" in said
    command = ["annotate", "survey", "build", str(path), "--language", "it"]
    assert invoke([*command, "-o", str(tmp_path / "survey")]) == 0
    suite = load_suite(tmp_path / "survey" / "frasi.xlsx").suite
    assert suite.meta.language == "it"
    assert [text for (text,) in pairs_of(suite)] == list(GOOD)
    # What somebody added to it is not written over.
    before = (tmp_path / "survey" / "frasi.xlsx").read_bytes()
    assert invoke([*command, "-o", str(tmp_path / "survey"), "--force"]) == 0
    assert (tmp_path / "survey" / "frasi.xlsx").read_bytes() == before


def test_each_sentence_of_a_list_is_a_question(tmp_path):
    path = tmp_path / "frasi.csv"
    path.write_text("id,frase\n3,Il gatto dorme.\n7,La zia canta.\n", encoding="utf-8")
    design = build_design(path, SurveyPlan(language="it", checks=0))
    assert design.task == "likert"
    assert {question.item: question.lines for question in design.questions} == {
        "3": ("Il gatto dorme.",), "7": ("La zia canta.",),
    }  # fmt: skip


def test_numbers_beside_sentences_that_count_no_rows_may_be_ratings(tmp_path, capsys):
    path = tmp_path / "frasi.csv"
    rows = ("Il gatto dorme.,5", "La zia canta.,3", "I gatti saltano.,1")
    path.write_text("\n".join(["Satz,Wert", *rows]), encoding="utf-8")
    assert invoke(["suites", "check", str(path)]) == 2
    said = "".join(capsys.readouterr())
    assert "call 'Satz' sentence and 'Wert' rating" in said
    assert "one list" not in said


def test_a_suite_of_ratings_is_not_stored_beside_its_survey(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("sentence,rating\nThe dog sleeps.,1\nThe cat runs.,4\n", encoding="utf-8")
    folder = tmp_path / "survey"
    command = ["annotate", "survey", "build", str(path), "--language", "en", "-o", str(folder)]
    assert invoke(command) == 0
    assert not list(folder.glob("*.xlsx"))


def test_a_list_is_of_no_language_until_it_is_said(tmp_path):
    path = tmp_path / "frasi.txt"
    path.write_text("\n".join(GOOD), encoding="utf-8")
    with pytest.raises(UsageError, match="does not say its language"):
        build_design(path, SurveyPlan())


def test_the_format_is_never_guessed(tmp_path):
    path = tmp_path / "esempi.txt"
    path.write_text("\n".join(as_list(LAYOUTS["marks alone"])), encoding="utf-8")
    with pytest.raises(Exception, match="is one list of sentences"):
        detect_format(path)
