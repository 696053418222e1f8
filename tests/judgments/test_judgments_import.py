"""Answers of people read from what survey programs write."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError
from cimento.judgments import read_judgments
from cimento.judgments.formats import read_prolific
from cimento.judgments.roles import map_of_options, read_map
from cimento.people.annotate.importing import open_secret, questions_by_name, read_answers
from cimento.people.annotate.rows import ImportOptions, are_plain_codes, pseudonym
from tests.helpers.command_line import invoke

GOOD, BAD = "Piove e fa freddo.", "Piove se fa freddo."


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "pioggia"
    folder.mkdir()
    (folder / "suite.toml").write_text(
        'kind = "acceptability"\nregions = ["sentence"]\n[meta]\nname = "pioggia"\n'
        'language = "it"\n[ratings]\nlow = 1\nhigh = 5\n[[predictions]]\n'
        'formula = "(*;%acceptable%) < (*;%unacceptable%)"\n',
        encoding="utf-8",
    )
    (folder / "items.tsv").write_text(
        "item\tcondition\ttext\tsentence_id\n"
        f"e 1\tacceptable\t{GOOD}\te 1A\ne 1\tunacceptable\t{BAD}\te 1NA\n"
        "ma 2\tacceptable\tÈ tardi, ma resto.\tma 2A\n"
        "ma 2\tunacceptable\tÈ tardi, dove resto.\tma 2NA\n",
        encoding="utf-8",
    )
    return folder


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def imported(path, form, suite=None, **more):
    options = ImportOptions(form=form, places=questions_by_name([suite] if suite else []), **more)
    return read_answers([path], options)


def said(imported):
    return [(j.item, j.condition, j.annotator, j.value) for j in imported.judgments]


class TestLong:
    def test_a_row_is_an_answer(self, tmp_path, suite):
        path = write(
            tmp_path / "long.csv",
            "participant,item,condition,rating,rt\nanna,e 1,acceptable,5,2300\n"
            "anna,e 1,unacceptable,1,900\n",
        )
        answers = imported(path, "long", suite)
        assert said(answers) == [
            ("e 1", "acceptable", "anna", "5"),
            ("e 1", "unacceptable", "anna", "1"),
        ]
        assert answers.judgments[0].seconds == 2.3
        assert answers.judgments[1].candidate == BAD

    @pytest.mark.parametrize(
        "name", ["e 1NA", "e 1/unacceptable", BAD, "<p>Piove  se fa freddo.</p>"]
    )
    def test_an_item_has_many_names(self, tmp_path, suite, name):
        path = write(tmp_path / "a.tsv", f"annotator\titem\tvalue\nx\t{name}\t2\n")
        assert said(imported(path, "long", suite)) == [("e 1", "unacceptable", "x", "2")]

    def test_an_id_of_both_sentences_is_refused(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1\t2\n")
        with pytest.raises(InputError, match="may be any of"):
            imported(path, "long", suite)

    def test_a_pair_is_known_by_its_id_where_one_of_two_was_chosen(self, tmp_path, suite):
        path = write(
            tmp_path / "a.tsv",
            f"annotator\titem\tvalue\tquestion\nx\te 1\t{GOOD}\twhich is better\n",
        )
        assert said(imported(path, "long", suite)) == [("e 1", "acceptable", "x", GOOD)]

    def test_columns_and_answers_are_mapped(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "chi\tfrase\trisposta\nx\te 1A\tbene\n")
        toml = write(
            tmp_path / "map.toml",
            '[columns]\nparticipant = "chi"\nsentence = "frase"\nanswer = "risposta"\n'
            '[values]\nbene = "5"\n',
        )
        assert said(imported(path, "long", suite, columns=read_map(toml))) == [
            ("e 1", "acceptable", "x", "5")
        ]

    def test_an_unknown_item_is_refused_with_its_row(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1A\t2\nx\te 9A\t2\n")
        with pytest.raises(
            InputError, match=r"a\.tsv row 3: no item of the suite is called 'e 9A'"
        ):
            imported(path, "long", suite)
        skipped = imported(path, "long", suite, unknown="skip")
        assert len(skipped.judgments) == 1
        assert skipped.passed == {"no item of the suite is called 'e 9A'": 1}

    @pytest.mark.parametrize(
        ("row", "seen"),
        [
            ("\te 1A\t2\t", "whose answer"),
            ("x\te 1A\t2\tsoon", "seconds is 'soon'"),
            ("x\te 1A\t2\tinf", "seconds is 'inf'"),
            ("x\te 1A\t2\t1\t2.5", "position is '2.5'. It is a whole number"),
        ],
    )
    def test_what_cannot_be_used_is_said(self, tmp_path, suite, row, seen):
        path = write(tmp_path / "a.tsv", f"annotator\titem\tvalue\tseconds\tposition\n{row}\n")
        with pytest.raises(InputError, match=seen):
            imported(path, "long", suite)

    def test_rows_without_an_answer_are_counted(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1A\t2\nx\te 1NA\t\n")
        assert imported(path, "long", suite).passed == {"there is no answer in the row": 1}

    def test_a_second_answer_is_kept_and_noted(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1A\t2\nx\te 1A\t3\n")
        answers = imported(path, "long", suite)
        assert len(answers.judgments) == 2
        assert "1 answer is to a question" in answers.notes[0]

    def test_a_check_of_attention_needs_no_item(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\texpected\nx\tq1\t2\t2\n")
        (judgment,) = imported(path, "long", suite).judgments
        assert judgment.is_check
        assert judgment.item == "q1"


class TestWide:
    def test_a_row_is_a_person(self, tmp_path, suite):
        path = write(
            tmp_path / "forms.csv",
            'Quando,annotator,Accettabile? [Piove e fa freddo.],"È tardi, ma resto.",Commento\n'
            "ieri,x,5,4,ciao\noggi,y,,3,\n",
        )
        answers = imported(path, "wide", suite)
        assert said(answers) == [
            ("e 1", "acceptable", "x", "5"),
            ("ma 2", "acceptable", "x", "4"),
            ("ma 2", "acceptable", "y", "3"),
        ]
        assert 'not used: "Quando", "Commento".' in answers.readings[0].said()

    def test_without_a_suite_all_other_columns_are_items(self, tmp_path):
        path = write(tmp_path / "forms.csv", "annotator,uno,due\nx,5,4\n")
        assert said(imported(path, "wide")) == [("uno", "", "x", "5"), ("due", "", "x", "4")]

    def test_no_item_at_all_is_said(self, tmp_path, suite):
        path = write(tmp_path / "forms.csv", "annotator,uno,due\nx,5,4\n")
        with pytest.raises(InputError, match="no column is headed by an item"):
            imported(path, "wide", suite)


class TestJsPsych:
    TRIALS = (
        {"trial_type": "instructions", "rt": 4000, "view_history": []},
        {
            "trial_type": "survey-likert", "rt": 2500, "response": {"Q0": 4}, "item": "e 1",
            "condition": "acceptable", "participant": "anna", "list": "2", "position": 1,
        },
        {
            "trial_type": "html-button-response", "rt": None, "response": 1, "value": "2",
            "item": "e 1", "condition": "unacceptable", "participant": "anna",
        },
    )  # fmt: skip

    def test_trials_of_items_are_answers(self, tmp_path, suite):
        path = write(tmp_path / "data.json", json.dumps(self.TRIALS))
        answers = imported(path, "jspsych", suite)
        assert said(answers) == [
            ("e 1", "acceptable", "anna", "5"),
            ("e 1", "unacceptable", "anna", "2"),
        ]
        first, second = answers.judgments
        assert (first.seconds, first.survey, first.position) == (2.5, "2", 1)
        assert second.seconds is None
        assert answers.passed == {"a trial of type instructions names no item": 1}

    def test_one_list_a_line(self, tmp_path, suite):
        one = json.dumps(self.TRIALS[1:2])
        path = write(tmp_path / "data.txt", one + "\n" + one.replace("anna", "bruno") + "\n")
        assert [j.annotator for j in imported(path, "jspsych", suite).judgments] == [
            "anna",
            "bruno",
        ]

    def test_csv(self, tmp_path, suite):
        path = write(
            tmp_path / "p7.csv",
            "trial_type,rt,response,item,condition\n"
            'survey-likert,800,"{""Q0"":3}",e 1,acceptable\n',
        )
        # The file is one person's where nothing else says whose it is.
        assert said(imported(path, "jspsych", suite)) == [("e 1", "acceptable", "p7", "4")]

    @pytest.mark.parametrize("text", ["[{", '[["a"]]', "[]", "7", "[1"])
    def test_what_is_none_is_said(self, tmp_path, text):
        with pytest.raises(InputError):
            imported(write(tmp_path / "data.json", text), "jspsych")


PCIBEX = (Path(__file__).parents[1] / "data" / "judgments" / "pcibex_results.csv").read_text(
    "utf-8"
)

IBEX = """\
# Columns below this comment are as follows:
# 1. Time results were received.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Item number.
# 5. Element number.
# 6. Type.
# 7. Group.
# 8. Sentence (or sentence MD5).
1602519682,bb22,FlashSentence,3,0,test,1,%C3%88 no
# 8. Question (NULL if none).
# 9. Answer.
# 10. Whether or not answer was correct (NULL if N/A).
# 11. Time taken to answer.
"""


class TestPcibex:
    def test_the_last_answer_of_a_trial_counts(self, tmp_path, suite):
        answers = imported(write(tmp_path / "results.csv", PCIBEX), "pcibex", suite)
        assert said(answers) == [("e 1", "acceptable", "anna", "5")]
        (judgment,) = answers.judgments
        assert judgment.seconds == 2.5
        assert judgment.at == "2026-03-02T09:30:00+00:00"
        assert judgment.survey == "A"
        assert answers.passed == {"nothing was answered in a trial labeled intro": 1}

    def test_judgments_of_ibex_itself(self, tmp_path, suite):
        text = IBEX.replace("%C3%88 no", "È tardi%2C ma resto.")
        text += "1602519682,bb22,AcceptabilityJudgment,3,0,test,1,NULL,4,NULL,1730\n"
        (judgment,) = imported(write(tmp_path / "results", text), "pcibex", suite).judgments
        assert (judgment.item, judgment.condition, judgment.annotator) == (
            "ma 2",
            "acceptable",
            "results-1",
        )
        assert (judgment.value, judgment.seconds) == ("4", 1.73)

    def test_what_a_survey_made_here_logs_counts_and_not_the_label(self, tmp_path, suite):
        text = PCIBEX.replace("15. condition", "15. value").replace("16. Comments", "16. question")
        text = text.split("1772443800")[0] + (
            "1772443800,aa11,PennController,1,0,trial,A,Scale,answer,Choice,La prima,17,anna,e 1,"
            + GOOD.replace(",", "%2C") + ",which is better\n"
        )  # fmt: skip
        (judgment,) = imported(write(tmp_path / "results.csv", text), "pcibex", suite).judgments
        assert (judgment.item, judgment.question, judgment.value) == (
            "e 1",
            "which is better",
            GOOD,
        )

    def test_rows_without_comments_are_refused(self, tmp_path):
        path = write(tmp_path / "results.csv", "1,aa,PennController\n")
        with pytest.raises(InputError, match="line 1: a row comes before any comment"):
            imported(path, "pcibex")


class TestPeople:
    def test_a_pseudonym_is_the_keyed_hash(self):
        # printf anna | openssl dgst -sha256 -hmac kkkkkkkkkkkkkkkk
        assert pseudonym(" anna ", b"k" * 16) == "pcd0789a7f979"

    @pytest.mark.parametrize(
        ("names", "stay"),
        [
            (["P01", "P02", "P04"], True),
            (["1", "2", "12", "13", "9", "8", "7"], True),
            (["S3"], True),
            (["Ana", "Luis"], False),
            (["AG87", "ML92"], False),  # initials and a year
            (["117", "930", "482"], False),  # the ends of telephone numbers
            (["4821", "4822"], False),
            (["P01", "ana@uni.es"], False),
            (["P01", "Ana"], False),
            (["P1", "P01"], False),  # one person or two
            ([], False),
        ],
    )
    def test_only_codes_that_count_people_may_stay(self, names, stay):
        assert are_plain_codes(names) == stay
        options = ImportOptions(secret=b"k" * 16, codes_stay=True).without_names(names)
        kept = [options.rename(name) for name in names]
        assert kept == (names if stay else [pseudonym(name, b"k" * 16) for name in names])

    def test_a_secret_replaces_codes_too_where_nobody_says_that_they_stay(self):
        assert ImportOptions(secret=b"k" * 16).without_names(["P01"]).rename("P01") != "P01"

    @settings(deadline=None)
    @given(st.text(min_size=1), st.binary(min_size=16, max_size=40))
    def test_a_pseudonym_never_shows_the_name(self, name, secret):
        alias = pseudonym(name, secret)
        assert alias == pseudonym(name, secret)
        assert len(alias) == 13
        assert alias != pseudonym(name, secret + b"x")

    def test_a_secret_is_made_once_for_its_owner_alone(self, tmp_path):
        path = tmp_path / "secret"
        secret, made = open_secret(path)
        assert made
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert open_secret(path) == (secret, False)

    def test_a_short_secret_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="has 5 characters"):
            open_secret(write(tmp_path / "secret", "12345"))

    def test_names_are_in_no_table(self, tmp_path, suite):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\n5e9088a8\te 1A\t2\n")
        export = write(
            tmp_path / "prolific.csv",
            "Submission id,Participant id,Status,Time taken,Age\n"
            "s1,5e9088a8,RETURNED,10,25\ns2,5e9088a8,APPROVED,1150,25\ns3,77,APPROVED,900,30\n",
        )
        code = invoke([
            "annotate", "import", str(path), "--form", "long", "--suite", str(suite),
            "-o", str(tmp_path / "j.csv"), "--secret", str(tmp_path / "secret"),
            "--prolific", str(export), "--participants", str(tmp_path / "people.tsv"),
            "--keep", "Age",
        ])  # fmt: skip
        assert code == 0
        text = (tmp_path / "j.csv").read_text() + (tmp_path / "people.tsv").read_text()
        assert "5e9088a8" not in text
        table = read_judgments(tmp_path / "j.csv")
        assert table["session_seconds"].to_list() == [1150.0]
        assert table["status"].to_list() == ["APPROVED"]
        people = (tmp_path / "people.tsv").read_text().splitlines()
        assert people[0] == "annotator\tstatus\tsession_seconds\tAge"
        assert people[1].split("\t")[1:] == ["APPROVED", "1150", "25"]

    def test_options_that_would_do_nothing_or_harm_are_refused(self, tmp_path, capsys):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1A\t2\n")
        export = write(tmp_path / "prolific.csv", "Participant id,Age\nx,=1+1\n")
        command = ["annotate", "import", str(path), "--form", "long", "--names", "keep",
                   "-o", str(tmp_path / "j.csv"), "--prolific", str(export)]  # fmt: skip
        assert invoke([*command, "--keep", "Age"]) == 2
        assert "there is no --participants" in capsys.readouterr().err
        assert invoke([*command, "--participants", str(export)]) == 2
        assert "is also what is read" in capsys.readouterr().err
        assert invoke([*command, "--participants", str(tmp_path / "people.xlsx")]) == 2
        assert "participants are written as .tsv" in capsys.readouterr().err
        people = tmp_path / "people.tsv"
        assert invoke([*command, "--participants", str(people), "--keep", "Age"]) == 0
        assert people.read_text().splitlines()[1].split("\t") == ["x", "", "", "'=1+1"]

    def test_a_file_that_is_no_table_is_said_to_be_none(self, tmp_path):
        with pytest.raises(InputError, match=r"is not a table: it ends in '\.json'"):
            imported(write(tmp_path / "a.json", "[]"), "long")

    def test_older_exports_head_their_columns_otherwise(self, tmp_path):
        path = write(tmp_path / "p.csv", "participant_id,status,time_taken\nx,approved,60\n")
        (submission,) = read_prolific(path).values()
        assert (submission.status, submission.seconds) == ("APPROVED", 60.0)

    def test_who_asks_for_deletion_is_found(self, tmp_path, capsys):
        secret = write(tmp_path / "secret", "k" * 16 + "\n")
        assert invoke(["annotate", "pseudonym", "anna", "--secret", str(secret)]) == 0
        assert capsys.readouterr().out == pseudonym("anna", b"k" * 16) + "\n"
        assert invoke(["annotate", "pseudonym", "anna", "--secret", str(tmp_path / "x")]) == 2
        assert not (tmp_path / "x").exists()

    def test_the_command_asks_for_a_secret(self, tmp_path, capsys):
        path = write(tmp_path / "a.tsv", "annotator\titem\tvalue\nx\te 1A\t2\n")
        output = tmp_path / "j.csv"
        code = invoke(["annotate", "import", str(path), "--form", "long", "-o", str(output)])
        assert code == 2
        assert "--secret" in capsys.readouterr().err
        assert not output.exists()


class TestPublished:
    def test_ratings_of_a_published_list(self, tmp_path):
        path = write(
            tmp_path / "lau.csv",
            "ID,translated,source-language,sentence,context,full-ratings,mean-ratings\n"
            '1,0,en,It rains.,None,"4,3.0,4",3.67\n',
        )
        answers = imported(path, "rated")
        assert [(j.item, j.value, j.annotator) for j in answers.judgments] == [
            ("1", "4", None), ("1", "3", None), ("1", "4", None),
        ]  # fmt: skip

    def test_a_list_of_labels_has_no_judgments(self, tmp_path):
        path = write(
            tmp_path / "itacola.tsv",
            "UniqueIndexID\tSource\tAcceptability\tSentence\tSplit\n1\tx\t1\tPiove.\ttrain\n",
        )
        with pytest.raises(InputError, match="no sentence has single ratings"):
            imported(path, "rated")

    @pytest.mark.golden
    def test_players_of_itacola(self, shared):
        path = shared / "data/connectives/sample_ItaCoLA_dataset_non-expertannotations.tsv"
        answers = imported(path, "rated")
        counts = path.read_text(encoding="utf-8").splitlines()[1:]
        expected = sum(int(line.split("\t")[4]) for line in counts)
        assert len(answers.judgments) == expected
        assert all(j.annotator for j in answers.judgments)


def test_a_field_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"no such role of a column.*rating"):
        map_of_options("ratting=x")


def test_places_of_blanks(tmp_path):
    folder = tmp_path / "blanks"
    folder.mkdir()
    (folder / "suite.toml").write_text('kind = "cloze"\n[meta]\nname = "b"\n', encoding="utf-8")
    (folder / "items.tsv").write_text(
        "item\ttext\ttarget\te 1cl\n".replace("\te 1cl", "") + "e 1cl\tPiove ___ fa freddo.\te\n",
        encoding="utf-8",
    )
    asked = questions_by_name([folder]).find("Piove  ... fa freddo.", where="x")
    assert asked is not None
    assert (asked.item, asked.condition) == ("e 1cl", "")


@pytest.mark.parametrize("names", ["keep", "replace"])
def test_an_address_with_capitals_and_without_is_one_person(tmp_path, suite, capsys, names):
    rows = "".join(
        f"{name},e 1A,{value}\n"
        for name, value in (("anna.b@example.org", 5), ("ANNA.B@EXAMPLE.ORG", 4), ("carla", 2))
    )
    file = write(tmp_path / "a.csv", "annotator,item,value\n" + rows)
    out = tmp_path / "judgments.csv"
    command = ["annotate", "import", str(file), "--form", "long", "--suite", str(suite)]
    secret = ["--secret", str(tmp_path / "secret")]
    assert invoke([*command, "--names", names, *secret, "-o", str(out)]) == 0
    said = capsys.readouterr().err
    assert "1 person wrote their address in several ways" in said
    assert "1 answer is to a question that the same person had answered before" in said
    kept = tmp_path / "kept.csv"
    assert invoke(["annotate", "filter", str(out), "--duplicates", "first", "-o", str(kept)]) == 0
    assert sorted(read_judgments(kept)["value"]) == ["2", "5"]


def test_other_names_that_differ_in_capitals_only_are_named(tmp_path, suite, capsys):
    rows = "P1,e 1A,5\np1,e 1A,4\n"
    file = write(tmp_path / "a.csv", "annotator,item,value\n" + rows)
    out, kept = str(tmp_path / "judgments.csv"), str(tmp_path / "kept.csv")
    command = ["annotate", "import", str(file), "--form", "long", "--suite", str(suite)]
    assert invoke([*command, "--names", "keep", "-o", out]) == 0
    assert "count as two people: P1 and p1" in capsys.readouterr().err
    assert invoke(["annotate", "filter", out, "--duplicates", "first", "-o", kept]) == 0
    assert "count as two people: P1 and p1" in capsys.readouterr().err
    assert len(read_judgments(Path(kept))) == 2
