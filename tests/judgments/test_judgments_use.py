"""Judgments put to use: agreement, adjudication, copies of suites, the tables of the study."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import cimento
from cimento import InputError, UsageError, open_runs
from cimento.judgments import (
    Judgment,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.kinds.registry import load_suite
from cimento.people.annotate.adjudication import (
    adjudication_text,
    decide_differences,
    one_annotator,
    pair_agreements,
    side_by_side,
)
from cimento.people.annotate.importing import apply_judgments
from cimento.studies.connectives.cloze import TARGET, choice_counts, chosen_by_people
from cimento.studies.connectives.user_copy import copy_tables, read_copy
from cimento.suites.ratings import rated_of
from tests.helpers.command_line import invoke
from tests.helpers.dialogues import lines_of
from tests.helpers.rated import load_rated

SUITES = Path(cimento.__file__).parent / "data" / "suites"

ANNA = ("5", "1", "4", "2")
BRUNO = ("5", "2", "4", "4")


def rated(name, values):
    return [
        Judgment(suite="s", item=str(n), candidate=f"Frase {n}.", annotator=name, value=value)
        for n, value in enumerate(values)
    ]


class TestAdjudication:
    def test_agreement_is_that_of_the_pairs(self):
        (agreement,) = pair_agreements(rated("anna", ANNA), rated("bruno", BRUNO))
        assert (agreement.n, agreement.equal) == (4, 2)
        # By hand, the answers being steps 3 0 2 1 and 3 1 2 2: squared distances 0.5 observed,
        # 2 by chance. krippendorff 0.9.0: krippendorff.alpha([[5,1,4,2],[5,2,4,4]],
        #   level_of_measurement="interval")
        assert agreement.kappa.value == pytest.approx(0.75)
        assert agreement.alpha.value == pytest.approx(0.7244094488188976)

    def test_differences_are_decided_and_the_rest_is_taken_over(self, tmp_path):
        output, shown = tmp_path / "held.csv", []
        numbers = decide_differences(
            rated("anna", ANNA),
            rated("bruno", [*BRUNO, "3"]),
            output,
            by="Carla",
            read=lines_of(["2", "clearly", "=3", ""]),
            show=shown.append,
        )
        assert numbers == (2, 0)
        held = judgments_of(read_judgments(output))
        assert {(judgment.item, judgment.value) for judgment in held} == {
            ("0", "5"), ("1", "2"), ("2", "4"), ("3", "3"), ("4", "3"),
        }  # fmt: skip
        by_item = {judgment.item: judgment.remark for judgment in held}
        assert by_item["1"] == "decided by Carla; anna said 1, bruno said 2; clearly"
        assert by_item["0"] == "both say so"
        assert by_item["4"] == "only bruno answered"
        assert "Frase 1." in shown[0]

    def test_it_goes_on_where_it_was_left(self, tmp_path):
        output = tmp_path / "held.parquet"
        both = (rated("anna", ANNA), rated("bruno", BRUNO))
        first = decide_differences(*both, output, by="", read=lines_of(["1", ""]), show=str)
        assert first == (2, 1)
        second = decide_differences(*both, output, by="", read=lines_of(["?", "", "2"]), show=str)
        assert second == (2, 1)
        third = decide_differences(*both, output, by="", read=lines_of(["2", ""]), show=str)
        assert third == (2, 0)
        values = {
            judgment.item: judgment.value for judgment in judgments_of(read_judgments(output))
        }
        assert values == {"0": "5", "1": "1", "2": "4", "3": "4"}

    def test_before_and_after(self, tmp_path):
        output = tmp_path / "held.csv"
        both = (rated("anna", ANNA), rated("bruno", BRUNO))
        decide_differences(*both, output, by="", read=lines_of(["2", "", "2", ""]), show=str)
        text = adjudication_text(*both, output)
        assert "anna / bruno: equal on 2 of 4" in text
        assert "anna / adjudicated: equal on 2 of 4" in text
        assert "bruno / adjudicated: equal on 4 of 4, Cohen's kappa 1.000" in text

    def test_answers_that_nobody_gives_are_refused(self, tmp_path):
        one = [Judgment(suite="s", item="1", annotator="a", question="which fits", value="e")]
        two = [Judgment(suite="s", item="1", annotator="b", question="which fits", value="ma")]
        messages = []
        lines = lines_of(["perché", "e", ""])
        decide_differences(one, two, tmp_path / "h.csv", by="", read=lines, show=messages.append)
        assert any("Nobody answers 'perché'" in message for message in messages)

    def test_another_table_is_not_overwritten(self, tmp_path, capsys):
        path = write_judgments(table_of(rated("anna", ANNA)), tmp_path / "anna.csv")
        with pytest.raises(InputError, match="holds answers of 'anna'"):
            decide_differences(
                rated("a", ANNA), rated("b", BRUNO), path, by="", read=lines_of([]), show=str
            )
        for words in (
            ["adjudicate", str(path), str(path)],
            ["filter", str(path), "--same-run", "3"],
            ["import", str(path), "--form", "long", "--names", "keep"],
        ):
            assert invoke(["annotate", *words, "-o", str(path)]) == 2
            assert "is also what is read" in capsys.readouterr().err
        assert read_judgments(path).height == 4

    def test_3_and_30_are_the_same_rating(self):
        (both,) = side_by_side(rated("a", ["3"]), rated("b", ["3.0"]))
        assert not both.differs

    def test_a_table_of_several_people_needs_a_name(self):
        people = [*rated("anna", ANNA), *rated("bruno", BRUNO)]
        with pytest.raises(InputError, match="2 people have answered"):
            one_annotator(people, "", where="j.csv")
        assert len(one_annotator(people, "anna", where="j.csv")) == 4
        with pytest.raises(InputError, match="nobody called 'ana'"):
            one_annotator(people, "ana", where="j.csv")

    def test_the_command(self, tmp_path, capsys, monkeypatch):
        people = [*rated("anna", ANNA), *rated("bruno", BRUNO)]
        path = write_judgments(table_of(people), tmp_path / "j.parquet")
        lines = iter(["1", "", ":quit"])
        monkeypatch.setattr("builtins.input", lambda _prompt: next(lines))
        code = invoke([
            "annotate", "adjudicate", str(path), str(path), "--first", "anna", "--second", "bruno",
            "-o", str(tmp_path / "held.csv"),
        ])  # fmt: skip
        assert code == 0
        said = capsys.readouterr()
        assert "1 of 2 differences are decided" in said.err
        assert "anna / adjudicated: equal on 3 of 3" in said.out


def test_agreement_of_a_table(tmp_path, capsys):
    people = [*rated("anna", ANNA), *rated("bruno", BRUNO)]
    path = write_judgments(table_of(people), tmp_path / "j.csv")
    assert invoke(["annotate", "agreement", str(path), "--json"]) == 0
    (question,) = json.loads(capsys.readouterr().out)["questions"]
    assert question["alpha"]["value"] == pytest.approx(0.7244094488188976)
    assert invoke(["annotate", "agreement", str(path)]) == 0
    assert "2 to 2" in capsys.readouterr().out
    story = ["--adjudicate", str(tmp_path / "a.jsonl")]
    assert invoke(["annotate", "agreement", str(path), *story]) == 2
    assert "it is for stories" in capsys.readouterr().err
    # Carla answers the first question only, so that one place has three answers, the others two.
    write_judgments(table_of([*people, *rated("carla", ANNA[:1])]), path)
    assert invoke(["annotate", "agreement", str(path), "--json"]) == 0
    (question,) = json.loads(capsys.readouterr().out)["questions"]
    assert (question["fewest"], question["most"]) == (2, 3)


def test_agreement_on_choices_is_that_of_the_conditions(tmp_path, capsys):
    # By hand: 2 of 4 pairs differ, and 2 * 6 * 2 / (8 * 7) would by chance: 1 - 0.5 / 0.4286.
    conditions = (("good", "good"), ("good", "bad"), ("bad", "good"), ("good", "good"))
    people = [
        Judgment(suite="s", item=str(n), condition=chosen, annotator=who, value=f"{chosen} {n}",
                 question="which is better")
        for n, pair in enumerate(conditions)
        for who, chosen in zip(("anna", "bruno"), pair, strict=True)
    ]  # fmt: skip
    path = write_judgments(table_of(people), tmp_path / "j.csv")
    assert invoke(["annotate", "agreement", str(path), "--json"]) == 0
    (question,) = json.loads(capsys.readouterr().out)["questions"]
    assert question["alpha"]["value"] == pytest.approx(-1 / 6)
    (pair,) = pair_agreements(people[::2], people[1::2])
    assert pair.alpha.value == pytest.approx(-1 / 6)


def people_on(suite, seed=1, people=4):
    """Ratings of everybody, drawn: an acceptable sentence is liked better."""
    draw = np.random.default_rng(seed)
    return [
        Judgment(
            suite=suite.name,
            item=item.id,
            condition=condition.name,
            annotator=f"p{n}",
            value=str(int(draw.integers(3, 6) if condition.name == "acceptable"
                          else draw.integers(1, 4))),
        )
        for n in range(people)
        for item, condition in suite.stimuli()
    ]  # fmt: skip


class TestApply:
    def test_ratings_become_columns_that_a_run_reads(self, tmp_path):
        source = SUITES / "it-connectives"
        people = people_on(load_rated(source).suite)
        check = Judgment(suite="it-connectives", item="c", annotator="p1", value="1", expected="1")
        output = tmp_path / "rated"
        applied = apply_judgments(source, [*people, check], output, scale=(1, 5))
        assert (applied.used, applied.without) == (len(people), 0)
        assert applied.passed == {"a check of attention": 1}
        rated_ = load_rated(output).rated
        assert rated_.scale.high == 5
        first = next(sentence for sentence in rated_.sentences if sentence.id == "e-1/acceptable")
        values = [float(j.value) for j in people if (j.item, j.condition) == ("e-1", "acceptable")]
        assert first.mean == pytest.approx(np.mean(values))
        assert [rating.participant for rating in first.ratings] == ["p0", "p1", "p2", "p3"]

    def test_what_the_author_expects_does_not_pass_for_an_answer(self, tmp_path):
        answer = Judgment(suite="it-acceptability", item="verb-agreement-01", condition="sentence",
                          annotator="Rossi, Anna", value="2")  # fmt: skip
        applied = apply_judgments(SUITES / "it-acceptability", [answer], tmp_path / "rated")
        assert (applied.used, applied.without) == (1, 119)
        means = {
            sentence.id: sentence.mean
            for sentence in load_rated(tmp_path / "rated").rated.sentences
        }
        assert means.pop("verb-agreement-01") == 2
        assert set(means.values()) == {None}

    def test_a_table_of_rated_sentences_can_be_answered_too(self, tmp_path):
        path = tmp_path / "rated.tsv"
        path.write_text("ID\tTEXT\tSCORE\na\tIl gatto dorme.\t4.5\nb\tGatto il dorme.\t1.5\n")
        answer = Judgment(suite="rated", item="a", condition="sentence", annotator="p1", value="3")
        apply_judgments(path, [answer], tmp_path / "copy", scale=(1, 5))
        means = {
            sentence.id: sentence.mean for sentence in load_rated(tmp_path / "copy").rated.sentences
        }
        assert means == {"a": 3, "b": 1.5}

    def test_yes_is_1_and_no_is_0(self, tmp_path):
        answers = [
            Judgment(suite="it-connectives", item="e-1", condition="acceptable", annotator=name,
                     question="acceptable", value=value)
            for name, value in (("a", "yes"), ("b", "no"), ("c", "yes"), ("d", "perhaps"))
        ]  # fmt: skip
        applied = apply_judgments(SUITES / "it-connectives", answers, tmp_path / "rated")
        assert applied.passed == {"a rating is not a number": 1}
        rated_ = load_rated(tmp_path / "rated").rated
        assert (rated_.scale.low, rated_.scale.high) == (0, 1)
        first = next(sentence for sentence in rated_.sentences if sentence.mean is not None)
        assert first.mean == pytest.approx(2 / 3)

    def test_choices_between_sentences_are_counted(self, tmp_path):
        source = SUITES / "it-connectives"
        chosen = [
            Judgment(suite="it-connectives", item="e-1", condition=condition, annotator=name,
                     question="which is better", value="x")
            for name, condition in (("a", "acceptable"), ("b", "acceptable"), ("c", "unacceptable"))
        ]  # fmt: skip
        applied = apply_judgments(source, chosen, tmp_path / "chosen")
        assert applied.without == 258
        rows = (tmp_path / "chosen" / "items.tsv").read_text(encoding="utf-8").splitlines()
        place = rows[0].split("\t").index("chosen_by")
        assert [row.split("\t")[place] for row in rows[1:4]] == ["2", "1", "0"]

    def test_choices_among_options_stand_beside_the_suite(self, tmp_path):
        source = SUITES / "it-connectives-cloze"
        chosen = [
            Judgment(suite="it-connectives-cloze", item="1", annotator=name, question="which fits",
                     value=value)
            for name, value in (("a", "e"), ("b", "e"), ("c", "none"))
        ]  # fmt: skip
        apply_judgments(source, chosen, tmp_path / "chosen")
        text = (tmp_path / "chosen" / "choices.tsv").read_text(encoding="utf-8")
        assert text == "item\toption\tcount\n1\te\t2\n1\tnone\t1\n"

    def test_a_scale_is_needed(self, tmp_path):
        source = SUITES / "it-connectives"
        people = people_on(load_rated(source).suite)
        with pytest.raises(UsageError, match="on which scale"):
            apply_judgments(source, people, tmp_path / "rated")

    def test_the_scale_is_that_which_the_survey_had(self, tmp_path):
        source = SUITES / "it-acceptability"  # whose author rated from 1 to 5
        item = load_rated(source).rated.sentences[0].id
        answer = Judgment(
            suite="it-acceptability", item=item, condition="sentence", annotator="a", value="7",
            scale="1 to 7",
        )  # fmt: skip
        path = write_judgments(table_of([answer]), tmp_path / "j.csv")
        assert invoke(["annotate", "apply", str(source), str(path), "-o", str(tmp_path / "a")]) == 0
        scale = load_rated(tmp_path / "a").rated.scale
        assert (scale.low, scale.high) == (1, 7)
        given = apply_judgments(source, [answer], tmp_path / "b", scale=(0, 10))
        assert given.used == 1
        assert load_rated(tmp_path / "b").rated.scale.high == 10

    @pytest.mark.parametrize("other", ["1 to 5", "1-7", "7 to 1"])
    def test_ratings_on_several_scales_or_on_none_that_can_be_read_are_refused(
        self, tmp_path, other
    ):
        scales = ("1 to 7", other) if other == "1 to 5" else (other,)
        answers = [
            Judgment(
                suite="it-connectives", item="e-1", condition="acceptable", annotator=scale,
                value="3", scale=scale,
            )
            for scale in scales
        ]  # fmt: skip
        with pytest.raises(InputError, match="One scale is needed"):
            apply_judgments(SUITES / "it-connectives", answers, tmp_path / "rated")

    def test_answers_to_another_suite_are_refused(self, tmp_path):
        with pytest.raises(InputError, match="about the suite 's'"):
            apply_judgments(SUITES / "it-connectives", rated("a", ANNA), tmp_path / "rated")

    def test_the_suite_itself_is_not_overwritten(self, tmp_path):
        folder = tmp_path / "suite"
        shutil.copytree(SUITES / "it-connectives", folder)
        with pytest.raises(UsageError, match="is the suite itself"):
            apply_judgments(folder, rated("a", ANNA), folder)


def test_tables_2_and_3_come_from_judgments(tmp_path):
    pairs, cloze = SUITES / "it-connectives", SUITES / "it-connectives-cloze"
    people = people_on(load_rated(pairs).suite)
    folder = tmp_path / "own"
    apply_judgments(pairs, people, folder / "acceptability", scale=(1, 5))
    chosen = [
        Judgment(suite="it-connectives-cloze", item="1", annotator=name, question="which fits",
                 value="e")
        for name in "ab"
    ]  # fmt: skip
    apply_judgments(cloze, chosen, folder / "cloze")
    copy = read_copy(folder)
    cells = {
        (table.name, *cell.what.split(": ")): cell.computed
        for table in copy_tables(copy)
        for cell in table.cells
    }
    good = {}
    for person in people:
        if person.condition == "acceptable":
            good.setdefault(person.item, []).append(float(person.value))
    means = [np.mean(values) for values in good.values()]
    assert cells["Table 2", "acceptable", "mean"] == pytest.approx(np.mean(means))
    assert cells["Table 2", "acceptable", "sd"] == pytest.approx(np.std(means, ddof=1))
    counted = {
        row.name: row.count
        for row in choice_counts(copy.blanks.suite, chosen_by_people(copy.blanks))
    }
    assert counted[TARGET] == 1
    assert cells["Table 3", TARGET, "items"] == 1


def test_a_run_sets_a_model_beside_imported_ratings(tmp_path, capsys):
    source = SUITES / "it-connectives"
    people = people_on(load_rated(source).suite)
    path = write_judgments(table_of(people), tmp_path / "j.parquet")
    rated_ = tmp_path / "rated"
    assert invoke([
        "annotate", "apply", "it-connectives", str(path), "-o", str(rated_), "--scale", "1,5",
    ]) == 0  # fmt: skip
    assert invoke([
        "run", str(rated_), "-m", "demo-causal", "-o", str(tmp_path / "runs"), "--set", "draws=50",
        "--no-cache",
    ]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert "spearman" in out.lower()
    (run,) = open_runs(tmp_path / "runs")
    sentences = rated_of(run.suite).sentences
    assert sum(len(sentence.ratings) for sentence in sentences) == len(people)
    means = {sentence.id: sentence.mean for sentence in sentences}
    beside = run.outcomes().filter(pl.col("question") == "lp").select("item", "reference")
    assert dict(beside.iter_rows()) == means


def test_a_table_without_answers_says_so(tmp_path, capsys):
    path = tmp_path / "judgments.tsv"
    columns = ("suite", "item", "condition", "candidate", "question", "value", "remark")
    path.write_text("\t".join((*columns, "annotator", "at")) + "\n", encoding="utf-8")

    assert invoke(["annotate", "agreement", str(path)]) == 2
    assert "there are no answers in it" in capsys.readouterr().err


def test_folders_have_no_names_of_files(tmp_path, capsys):
    output = ["-o", str(tmp_path / "rated.xlsx")]
    assert invoke(["annotate", "apply", "it-islands", "kept.csv", *output]) == 2
    assert "suites with people's answers are stored in a folder" in capsys.readouterr().err
    assert invoke(["annotate", "survey", "build", "it-islands", *output]) == 2
    assert "surveys are stored in a folder" in capsys.readouterr().err
    assert invoke(["compare", "runs", *output]) == 2
    assert "tables are stored in a folder" in capsys.readouterr().err


def test_suite_and_judgments_in_the_other_order_are_told_apart(tmp_path, capsys):
    judgments, suite = tmp_path / "answers.csv", tmp_path / "pairs.xlsx"
    judgments.touch()
    arguments = ["annotate", "apply", str(judgments), str(suite), "-o", str(tmp_path / "copy")]
    assert invoke(arguments) == 2
    error = capsys.readouterr().err
    assert f"The suite comes first: cimento annotate apply {suite} {judgments}." in error


def test_apply_takes_the_language_from_the_survey_beside_the_answers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    suite, answers = tmp_path / "pairs.csv", tmp_path / "kept.csv"
    suite.write_text("item,good,bad\n1,Il gatto dorme.,Il gatto dormono.\n", encoding="utf-8")
    answer = Judgment(suite="pairs", item="1", condition="good", annotator="A", value="4")
    write_judgments(table_of([answer]), answers)
    apply = ["annotate", "apply", "pairs.csv", "kept.csv", "--scale", "1,5"]
    build = ["annotate", "survey", "build", "pairs.csv", "--contact", "Anna", "-o"]
    assert invoke([*build, "asked", "--language", "it"]) == 0
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "design.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert invoke([*apply, "-o", "copy"]) == 0
    assert "The language is that of asked/design.json: it." in capsys.readouterr().err
    assert load_suite(tmp_path / "copy").suite.meta.language == "it"
    # A survey of another content says nothing, and neither does one for somebody who gives it.
    assert invoke([*apply, "-o", "spanish", "--language", "es"]) == 0
    assert load_suite(tmp_path / "spanish").suite.meta.language == "es"
    suite.write_text("item,good,bad\n1,Il gatto dorme.,Il gatto dormo.\n", encoding="utf-8")
    assert invoke([*apply, "-o", "other"]) == 0
    assert "Give --language CODE" in capsys.readouterr().err


def test_apply_leaves_a_folder_with_files_alone_and_names_who_failed_checks(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    suite = tmp_path / "pairs.csv"
    suite.write_text("item,good,bad\n1,Il gatto dorme.,Il gatto dormono.\n", encoding="utf-8")
    answers = [
        Judgment(suite="pairs", item="1", condition="good", annotator=name, value=value)
        for name, value in (("anna", "4"), ("bruno", "2"))
    ]
    checks = [
        Judgment(suite="pairs", item="", annotator=name, value=value, expected="5")
        for name, value in (("anna", "5"), ("bruno", "1"))
    ]
    write_judgments(table_of([*answers, *checks]), tmp_path / "kept.csv")
    apply = ["annotate", "apply", "pairs.csv", "kept.csv", "--scale", "1,5", "-o", "copy"]
    assert invoke(apply) == 0
    said = capsys.readouterr().err
    assert "Their answers count: 1 person failed attention checks: bruno (0 of 1 right)" in said
    write_judgments(table_of(answers[:1]), tmp_path / "kept.csv")
    before = {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()}
    assert invoke(apply) == 2
    assert "there are files in this folder already" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()} == before
    assert invoke([*apply, "--force"]) == 0
    assert "failed attention checks" not in capsys.readouterr().err


def test_answers_about_a_sentence_that_was_changed_since_are_left_out(tmp_path):
    path = tmp_path / "coppie.csv"
    path.write_text(
        "item,good,bad\n1,Il cane dorme.,Il cane dormono.\n2,Il re ride.,Il re ridono.\n"
    )
    judgments = [
        Judgment(suite="coppie", item=item, condition="good", candidate=sentence, annotator=who,
                 value="4", scale="1 to 5")
        for item, sentence in (("1", "Il cane  dorme."), ("2", "Il re ridono."))
        for who in ("p", "q")
    ]  # fmt: skip
    applied = apply_judgments(path, judgments, tmp_path / "copy", language="it")
    assert applied.used == 2
    assert applied.without == 1
    assert dict(applied.passed) == {
        "another sentence was judged: the suite has been changed since": 2
    }
    chosen = [replace(one, question="which is better", value=one.candidate, candidate=None)
              for one in judgments]  # fmt: skip
    # What was chosen is the other sentence of its pair now, and counts for that one.
    assert apply_judgments(path, chosen, tmp_path / "chosen", language="it").used == 4
    gone = [replace(one, value="Il re rideva.") if one.item == "2" else one for one in chosen]
    applied = apply_judgments(path, gone, tmp_path / "gone", language="it")
    assert (applied.used, applied.passed.total()) == (2, 2)
