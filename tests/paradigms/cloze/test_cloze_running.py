"""Cloze suites asked of models and recordings, stored, judged and gone on with."""

from __future__ import annotations

import dataclasses
import json
import math

import polars as pl
import pytest

from cimento import InputError, Meta, Policy, Run, TableError, UsageError, evaluate, open_run
from cimento.cli.main import invoke
from cimento.corpus.morphology.dictionaries import dictionary_for
from cimento.corpus.morphology.rules import Rules
from cimento.engine.fills import fills_table
from cimento.io.tables import JUDGMENTS, write_table
from cimento.models.questions import FillCandidate, FillPolicy
from cimento.paradigms import Score
from cimento.paradigms.cloze import CLOZE
from cimento.paradigms.cloze.files import write_cloze
from cimento.paradigms.cloze.judging import CHOSEN, OPTION, choose
from cimento.paradigms.cloze.judgments import human_judgments
from cimento.paradigms.cloze.profile import open_cloze_runs
from cimento.paradigms.cloze.requests import ClozeAnswers, blank_requests
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option
from cimento.testing.models import uniform_scorer
from tests.helpers.connectives import CONNECTIVES
from tests.helpers.whole_path import ask_folder


@pytest.fixture
def suite_folder(tmp_path):
    return write_cloze(CONNECTIVES, tmp_path / "suite")


def run_of(suite, folder, tmp_path, **options):
    """A run by a model of the zoo, stored."""
    return evaluate(suite, str(folder), output=tmp_path / "runs", device="cpu", **options)


def options_of(run, rule, item):
    """The options of an item and their scores under a rule."""
    return {
        candidate.text: candidate.logprob_nats
        for candidate in ClozeAnswers(run).by_rule(rule)[item]
    }


def counted(run, question, statistic="accuracy"):
    """Right and judged ones of the estimate over all items."""
    [estimate] = [
        estimate
        for estimate in run.estimates()
        if (estimate.question, estimate.statistic, estimate.group) == (question, statistic, "")
    ]
    return estimate.right, estimate.n


def test_a_text_that_several_items_share_is_asked_once():
    again = ClozeItem("fame/2", "Ho fame, ", " mangio.", (Option("dunque"),))
    requests = blank_requests((*CONNECTIVES.items, again), FillPolicy())
    assert len(requests.asked) == 3
    assert requests.places["request"].to_list() == [0, 1, 2, 2]
    assert requests.asked[2].options == ("quindi", "se", "dunque")
    assert requests.asked[1].options == ("perché", "perche'", "ma")


@pytest.mark.parametrize(
    ("name", "method", "choices"),
    [
        ("bert-cased", "mask", ("mask", "left-to-right")),
        ("gpt2", "left", ("sentence", "left", "continuation")),
        ("t5", "sentinel", ("sentinel",)),
    ],
)
def test_every_kind_of_model_fills_and_chooses(name, method, choices, zoo_folder, tmp_path):
    run = run_of(CONNECTIVES, zoo_folder(name), tmp_path, k=4)
    answers = ClozeAnswers(run)
    assert answers.methods == (method,)
    assert answers.choices == choices
    asked = {(estimate.question, estimate.method) for estimate in run.estimates()}
    assert {(f"hit@{k}", method) for k in range(1, 5)} <= asked
    assert {rule for question, rule in asked if question == "choice"} >= set(choices)
    outcomes = run.outcomes()
    assert outcomes.filter(outcomes["method"].is_in(choices), outcomes["question"] == "choice")[
        "method"
    ].value_counts()["count"].to_list() == [3] * len(choices)
    assert open_run(run.folder).table("fills").equals(run.table("fills"))


def test_options_of_a_causal_model_have_the_scores_of_their_texts(zoo_folder, tmp_path):
    """The three rules against the tokens of `cimento score`, cut by hand."""
    folder = zoo_folder("gpt2")
    run = run_of(CONNECTIVES, folder, tmp_path)
    text, start = "Ho fame, quindi mangio.", len("Ho fame, ")
    [answer] = ask_folder(folder, [text])
    parts = {"left": 0.0, "continuation": 0.0, "sentence": answer.total}
    for place, value in zip(answer.starts, answer.logprobs, strict=True):
        if place >= start:
            parts["left" if place < start + len("quindi") else "continuation"] += value
    for rule, expected in parts.items():
        assert options_of(run, rule, "fame")["quindi"] == pytest.approx(expected, abs=1e-4)


def test_the_sentence_of_a_masked_model_is_its_pseudo_likelihood(zoo_folder, tmp_path):
    folder = zoo_folder("roberta")
    run = run_of(CONNECTIVES, folder, tmp_path, choice=("sentence",))
    [answer] = ask_folder(folder, ["Ho fame, quindi mangio."], Policy())
    assert options_of(run, "sentence", "fame")["quindi"] == pytest.approx(answer.total, abs=1e-4)


def test_the_sentinel_scores_what_the_decoder_writes(zoo_folder, tmp_path):
    folder = zoo_folder("t5")
    run = run_of(CONNECTIVES, folder, tmp_path)
    request = Score(
        "<extra_id_0> quindi <extra_id_1>",
        "Ho fame, <extra_id_0> mangio.",
    )
    [answer] = ask_folder(folder, [request])
    after = len("<extra_id_0> ")
    expected = sum(
        value for start, value in zip(answer.starts, answer.logprobs, strict=True) if start >= after
    )
    assert options_of(run, "sentinel", "fame")["quindi"] == pytest.approx(expected, abs=1e-4)


def test_a_model_that_only_scores_still_chooses():
    run = evaluate(CONNECTIVES, uniform_scorer(10))
    answers = ClozeAnswers(run)
    assert (answers.methods, answers.choices) == ((), ("sentence", "left", "continuation"))
    [ma] = [candidate for candidate in answers.by_rule("left")["febbre"] if candidate.text == "ma"]
    assert ma.n_pieces >= 1
    assert ma.logprob_nats == pytest.approx(-ma.n_pieces * math.log(10))
    headline = run.estimates()[0]
    assert (headline.question, headline.method, headline.role) == (
        "choice", "sentence", "headline",
    )  # fmt: skip
    bare = ClozeSuite(Meta("it-bare", language="it"), items=(ClozeItem("a", "Una ", " rossa."),))
    with pytest.raises(UsageError, match="only scores texts"):
        evaluate(bare, uniform_scorer(10))
    with pytest.raises(UsageError, match="choice=mask"):
        evaluate(CONNECTIVES, uniform_scorer(10), choice="mask")


def test_a_masked_model_that_shows_nothing_of_itself_chooses_by_sentences():
    masked = uniform_scorer(10)
    masked._card = dataclasses.replace(masked.card, kind="masked")
    assert ClozeAnswers(evaluate(CONNECTIVES, masked)).choices == ("sentence",)


def test_the_chance_of_a_choice_is_one_in_its_options():
    run = evaluate(CONNECTIVES, uniform_scorer(10))
    assert run.estimates()[0].chance == pytest.approx((1 / 3 + 1 / 2 + 1 / 2) / 3)


def test_a_stored_run_is_opened_and_not_asked_again(zoo_folder, tmp_path):
    folder = zoo_folder("bert-cased")
    first = run_of(CONNECTIVES, folder, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")}
    again = run_of(CONNECTIVES, folder, tmp_path, by="relation")
    assert again.folder == first.folder
    assert any(estimate.group == "relation" for estimate in again.estimates())
    assert {path: path.stat().st_mtime_ns for path in first.folder.rglob("*")} == before


def test_only_the_first_items_are_asked_where_there_is_a_limit(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path / "runs")]
    assert invoke([*arguments, "--limit", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["n_items"] == 2
    [run] = open_cloze_runs([tmp_path / "runs"])
    assert [item.id for item in run.items] == ["pioggia", "febbre"]


def test_a_run_is_judged_again_and_reports_tell_it(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path / "runs")]
    assert invoke(arguments) == 0
    printed = capsys.readouterr().out
    assert invoke(["judge", str(tmp_path / "runs")]) == 0
    assert printed.strip() in capsys.readouterr().out
    assert invoke(["report", str(tmp_path / "runs")]) == 0
    assert printed.strip() in capsys.readouterr().out


def test_a_model_that_cannot_be_asked_leaves_the_others_be(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-o", str(tmp_path / "runs"), "--set", "protocol=mask"]
    assert invoke([*arguments, "-m", "demo-masked", "-m", "demo-causal"]) == 3
    assert "protocol=mask" in capsys.readouterr().err
    assert invoke([*arguments, "-m", "demo-causal"]) == 2


def test_a_choice_passes_fails_ties_or_stays_unscored():
    item = CONNECTIVES.items[0]

    def chosen(**scores):
        [choice] = choose([item], {item.id: {"anche se": scores.pop("anche_se"), **scores}})
        return choice

    assert chosen(anche_se=-1.0, mentre=-2.0, quindi=-3.0).verdict == "pass"
    lost = chosen(anche_se=-2.0, mentre=-1.0, quindi=-3.0)
    assert (lost.verdict, lost.groups[CHOSEN], lost.right) == ("fail", "plausible", False)
    assert lost.value == pytest.approx(-1 / math.log(2))
    tied = chosen(anche_se=-1.0, mentre=-1.0, quindi=-3.0)
    assert (tied.verdict, tied.groups[OPTION]) == ("tie", "anche se = mentre")
    missing = chosen(anche_se=-1.0, mentre=None, quindi=-3.0)
    assert (missing.verdict, missing.right, missing.value) == ("unscored", None, None)
    assert "'mentre'" in missing.reason
    variant = choose(
        CONNECTIVES.items[1:2], {"febbre": {"perché": -9.0, "perche'": -1.0, "ma": -2.0}}
    )
    assert variant[0].verdict == "pass"
    assert choose([ClozeItem("a", "x ", "", (Option("y"),))], {}) == []


def test_candidates_are_ranked_within_a_method_and_unscored_ones_come_last():
    fills = [
        FillCandidate("a", None, 2, "word", "choice:mask"),
        FillCandidate("b", -2.0, 1, "word", "choice:mask"),
        FillCandidate("c", -1.0, 1, "word", "choice:mask"),
        FillCandidate("d", -5.0, 1, "word", "mask"),
    ]
    table = fills_table([(7, fills)])
    assert table.select("candidate", "rank", "method").rows() == [
        ("c", 1, "choice:mask"),
        ("b", 2, "choice:mask"),
        ("a", 3, "choice:mask"),
        ("d", 1, "mask"),
    ]


def templates(expected: str) -> ClozeSuite:
    items = tuple(
        ClozeItem(name, f"{text} ", ".", columns={"expected": expected, "template": name[0]})
        for name, text in (("a1", "La casa è"), ("a2", "La strada è"), ("b1", "La torta è"))
    )
    return ClozeSuite(Meta("it-small-templates", language="it"), items=items)


def recorded_run(suite, tmp_path, answers, **options) -> Run:
    path = tmp_path / "answers.tsv"
    lines = [f"{item}\t{rank}\t{text}" for item, rank, text in answers]
    path.write_text("\n".join(["item\trank\tcandidate", *lines]) + "\n", encoding="utf-8")
    folder = write_cloze(suite, tmp_path / "suite")
    return evaluate(folder, f"replay:{path}", output=tmp_path / "runs", k=2, **options)


ANSWERS = [
    ("a1", 1, "rossa"), ("a1", 2, "rosso"), ("a2", 1, "lunga"), ("a2", 2, "##mente"),
    ("b1", 1, "buono"), ("b1", 2, "buona"),
]  # fmt: skip


@pytest.fixture
def rules(monkeypatch):
    """A dictionary of three adjectives, under the name that options have."""
    words = Rules("it", lemmas={"ADJ": ["rosso", "lungo", "buono"]})
    monkeypatch.setattr(
        "cimento.corpus.morphology.dictionaries.open_morphology", lambda *_args, **_options: words
    )
    dictionary_for.cache_clear()
    yield "rules:it"
    dictionary_for.cache_clear()


def test_candidates_are_judged_by_a_dictionary_and_by_people_before_it(tmp_path, rules):
    suite = templates("ADJ Gender=Fem|Number=Sing")
    run = recorded_run(suite, tmp_path, ANSWERS, dictionary=rules, by="template")
    assert counted(run, "fits@1", "precision") == (2, 3)
    assert counted(run, "fits@2", "precision") == (3, 6)
    # a: 2 of 2 and 2 of 4; b: 0 of 1 and 1 of 2.
    means = [
        estimate.value for estimate in run.estimates() if estimate.statistic == "macro precision"
    ]
    assert means == [0.5, 0.5]
    [of_b] = [e for e in run.estimates() if (e.question, e.level) == ("fits@2", "b")]
    assert (of_b.right, of_b.low) == (1, None)
    assert "an interval needs 5 or more" in of_b.reason

    said = pl.DataFrame(
        [("it-small-templates", "b1", "", "buono", who, "fits", "yes", "", "") for who in "xy"],
        schema=JUDGMENTS.polars(),
        orient="row",
    )
    write_table(said, JUDGMENTS, run.folder)
    assert counted(open_run(run.folder), "fits@1", "precision") == (3, 3)


def test_a_run_says_what_it_said_when_its_dictionary_is_gone(tmp_path, rules, monkeypatch, capsys):
    suite = templates("ADJ Gender=Fem|Number=Sing")
    run = recorded_run(suite, tmp_path, ANSWERS, dictionary=rules, by="template")
    said = run.summary(with_outcomes=True)
    stored = str(run.folder)
    page, table, changed = (tmp_path / name for name in ("page.html", "page.csv", "again.html"))
    assert invoke(["report", stored, "-o", str(page)]) == 0

    def gone(*_arguments, **_options):
        raise InputError(where="rules:it", seen="there is none any more", todo="Find it.")

    monkeypatch.setattr("cimento.corpus.morphology.dictionaries.open_morphology", gone)
    dictionary_for.cache_clear()
    capsys.readouterr()
    assert open_run(run.folder).summary(with_outcomes=True) == said
    for command in (
        ["report", stored],
        ["report", stored, "-o", str(table)],
        ["report", stored, "-o", str(changed)],
        ["show", stored, "a1"],
        ["report", stored, "--figure", "dimensions", "-o", str(tmp_path / "drawn.svg")],
        ["compare", stored, stored],
        ["export", stored, "--to", "r", "-o", str(tmp_path / "r")],
        ["cite", stored, "--methods"],
    ):
        assert invoke(command) == 0, command
        assert "none any more" not in capsys.readouterr().err
    assert changed.read_bytes() == page.read_bytes()
    # Where it is judged anew the dictionary is needed.
    assert invoke(["judge", stored]) == 2
    assert "there is none any more" in capsys.readouterr().err


def test_candidates_are_marked_by_what_the_run_says_though_it_names_no_columns(tmp_path, rules):
    suite = templates("ADJ Gender=Fem|Number=Sing")
    run = open_run(recorded_run(suite, tmp_path, ANSWERS, dictionary=rules).folder)
    [section] = CLOZE.presenter.sections([run])
    [report] = section.runs
    marks = {
        item.id: [given.mark for answers in item.answers for given in answers.answers]
        for item in report.items
    }
    assert sorted(mark for given in marks.values() for mark in given) == [
        "does not fit", "does not fit", "does not fit", "fits", "fits", "fits",
    ]  # fmt: skip


def test_what_nobody_judged_is_left_out_with_a_warning(tmp_path):
    run = recorded_run(templates(""), tmp_path, ANSWERS)
    assert run.estimates() == ()
    assert any("nothing to judge by" in text for text in run.warnings)
    table = tmp_path / "said.tsv"
    rows = "a1\trossa\t\tyes\t\na1\trosso\t\tno\t\n"
    table.write_text(f"item\tcandidate\tsentence\tfits\tremarks\n{rows}", encoding="utf-8")
    judged = run.judge(judgments=table)
    assert counted(judged, "fits@2", "precision") == (1, 2)
    assert any("4 candidates of 6 not judged" in text for text in judged.warnings)


def test_a_table_that_was_filled_in_is_an_earlier_judgment(tmp_path):
    table = tmp_path / "said.tsv"
    rows = "a1\trossa\tA [rossa]\tyes\t\na1\trosso\tA [rosso]\tno\tgender\na1\tx\tA [x]\t\t\n"
    table.write_text(f"item\tcandidate\tsentence\tfits\tremarks\n{rows}", encoding="utf-8")
    assert human_judgments(None, table) == {("a1", "rossa"): True, ("a1", "rosso"): False}


def test_judgments_are_no_part_of_what_a_run_stored(tmp_path):
    """Else a run that is judged, made again and judged further would not open any more."""
    suite = templates("")
    run = recorded_run(suite, tmp_path, ANSWERS)
    for value in ("yes", "no"):
        said = pl.DataFrame(
            [(suite.name, "b1", "", "buono", "x", "fits", value, "", "")],
            schema=JUDGMENTS.polars(),
            orient="row",
        )
        write_table(said, JUDGMENTS, run.folder)
        assert counted(open_run(run.folder), "fits@1", "precision") == (int(value == "yes"), 1)
        recorded_run(suite, tmp_path, ANSWERS, force=True)


def test_people_who_are_divided_say_nothing(tmp_path):
    votes = {"rossa": ["yes", "no", "yes"], "rosso": ["yes", "no"], "rossi": ["no"]}
    table = pl.DataFrame(
        [
            ("s", "a1", "", candidate, f"{number}", "fits", value, "", "")
            for candidate, values in votes.items()
            for number, value in enumerate(values)
        ],
        schema=JUDGMENTS.polars(),
        orient="row",
    )
    write_table(table, JUDGMENTS, tmp_path)
    expected = {("a1", "rossa"): True, ("a1", "rosso"): None, ("a1", "rossi"): False}
    assert human_judgments(tmp_path) == expected


def test_where_no_answer_can_be_found_there_is_a_reason_and_no_share():
    option = Option("incontrovertibilmente sconsideratissimo")
    suite = ClozeSuite(
        Meta("it-long", language="it"), items=(ClozeItem("a", "Piove, ", " esco.", (option,)),)
    )
    run = evaluate(suite, "demo-masked", device="cpu", k=1)
    every, reachable = run.estimates()
    assert (every.value, every.n, every.unscored, every.group) == (None, 0, 1, "")
    assert (reachable.group, reachable.value, reachable.n) == ("reachable", None, 0)
    assert "nothing was scored" in reachable.reason


def test_what_is_asked_wrongly_is_said(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path)]
    for setting, said in (
        ("kk=3", "Did you mean 'k'"),
        ("k=x", "Give a whole number"),
        ("k=0", "Give 1 or more"),
        ("protocol=masc", "Give 'auto', 'mask', 'words'"),
        ("choice=left,joint", "choice=left"),
        ("choice=left,mast", "option choice.1: got 'mast'"),
        ("by=conective", "by=conective"),
        ("dictionary=wordnet", "dictionary"),
        ("judgments=/nowhere", "no judgments here"),
    ):
        assert invoke([*arguments, "--set", setting]) == 2, setting
        assert said in capsys.readouterr().err, setting
    assert not list(tmp_path.rglob("fills.parquet"))
    assert invoke([*arguments, "--context", "Allora"]) == 2
    assert "option context: suites of the kind 'cloze'" in capsys.readouterr().err
    assert invoke([*arguments, "--measure", "lp"]) == 2
    assert "measure" in capsys.readouterr().err
    with pytest.raises(TableError, match="no finished run"):
        open_cloze_runs([tmp_path / "empty"])
