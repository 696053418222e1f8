"""Cloze suites asked of models and recordings, stored, judged and gone on with."""

from __future__ import annotations

import dataclasses
import json
import math

import polars as pl
import pytest

from cimento.answers import JUDGMENTS, write_table
from cimento.cli.main import invoke
from cimento.cloze import running
from cimento.cloze.asking import ModelFills, fills_table, open_fills, plan_fills
from cimento.cloze.choosing import choose
from cimento.cloze.load import load_cloze
from cimento.cloze.records import ClozeItem, ClozeSuite, Option
from cimento.cloze.replaying import open_recording
from cimento.cloze.running import ClozeEvaluation, open_run, open_runs
from cimento.cloze.said import majority, read_said
from cimento.cloze.summary import ClozeJudging, summarise
from cimento.cloze.writers.native import write_folder
from cimento.engine.cache import MemoryCache
from cimento.errors import TableError, UsageError
from cimento.models.base import Policy
from cimento.models.fake import uniform_scorer
from cimento.models.fill import Fill, FillPolicy
from cimento.morphology.rules import Rules
from cimento.requests import ScoreRequest
from cimento.runs.store import RunFolder
from cimento.sources import Asking
from cimento.suites.model import Meta
from tests.whole_path import ask_folder

ITEMS = (
    ClozeItem(
        "pioggia",
        "Siamo usciti ",
        " pioveva.",
        (
            Option("anche se"),
            Option("mentre", "plausible"),
            Option("quindi", "implausible"),
        ),
        columns={"relation": "concessive", "sentence": "a"},
    ),
    ClozeItem(
        "febbre",
        "Il bambino resta a casa ",
        " ha la febbre.",
        (Option("perché", variants=("perche'",)), Option("ma", "implausible")),
        columns={"relation": "causal", "sentence": "a"},
    ),
    ClozeItem("fame", "Ho fame, ", " mangio.", (Option("quindi"), Option("se", "implausible"))),
)
SUITE = ClozeSuite(Meta("it-connectives-small", language="it"), items=ITEMS)


@pytest.fixture
def suite_folder(tmp_path):
    return write_folder(SUITE, tmp_path / "suite")


@pytest.fixture
def loaded(suite_folder):
    return load_cloze(suite_folder)


def run_of(loaded, folder, tmp_path, **policy):
    chosen = FillPolicy(**policy)
    source = open_fills(str(folder), asking=Asking(device="cpu"), policy=chosen)
    evaluation = ClozeEvaluation(
        asking=Asking(device="cpu"), policy=chosen, output=tmp_path / "runs"
    )
    return evaluation.run(loaded, source, cache=MemoryCache())


def test_a_text_that_several_items_share_is_asked_once():
    again = ClozeItem("fame/2", "Ho fame, ", " mangio.", (Option("dunque"),))
    plan = plan_fills((*ITEMS, again))
    assert len(plan.requests) == 3
    assert plan.request_of["fame"] == plan.request_of["fame/2"] == 2
    assert plan.requests[2].options == ("quindi", "se", "dunque")
    assert plan.requests[1].options == ("perché", "perche'", "ma")


@pytest.mark.parametrize(
    ("name", "method", "choices"),
    [
        ("bert-cased", "mask", ("mask", "left-to-right")),
        ("gpt2", "left", ("sentence", "left", "continuation")),
        ("t5", "sentinel", ("sentinel",)),
    ],
)
def test_every_kind_of_model_fills_and_chooses(name, method, choices, zoo_folder, loaded, tmp_path):
    run = run_of(loaded, zoo_folder(name), tmp_path, k=4)
    assert run.methods == (method,)
    assert run.choices == choices
    summary = summarise(run, ClozeJudging(k=4))
    assert len(summary.methods[0].hits) == 4
    assert {choice.rule for choice in summary.choices} == set(choices)
    for choice in summary.choices:
        assert sum(choice.roles.values()) + choice.unscored == 3
    assert open_run(RunFolder(run.folder)).fills.equals(run.fills)


def test_options_of_a_causal_model_have_the_scores_of_their_texts(zoo_folder, loaded, tmp_path):
    """The three rules against the tokens of `cimento score`, cut by hand."""
    folder = zoo_folder("gpt2")
    run = run_of(loaded, folder, tmp_path)
    text, start = "Ho fame, quindi mangio.", len("Ho fame, ")
    [answer] = ask_folder(folder, [text])
    parts = {"left": 0.0, "continuation": 0.0, "sentence": answer.total}
    for place, value in zip(answer.starts, answer.logprobs, strict=True):
        if place >= start:
            parts["left" if place < start + len("quindi") else "continuation"] += value
    for rule, expected in parts.items():
        own = {each.text: each.logprob_nats for each in run.answers(f"choice:{rule}")["fame"]}
        assert own["quindi"] == pytest.approx(expected, abs=1e-4)


def test_the_sentence_of_a_masked_model_is_its_pseudo_likelihood(zoo_folder, loaded, tmp_path):
    folder = zoo_folder("roberta")
    run = run_of(loaded, folder, tmp_path, choice=("sentence",))
    [answer] = ask_folder(folder, ["Ho fame, quindi mangio."], Policy())
    own = {each.text: each.logprob_nats for each in run.answers("choice:sentence")["fame"]}
    assert own["quindi"] == pytest.approx(answer.total, abs=1e-4)


def test_the_sentinel_scores_what_the_decoder_writes(zoo_folder, loaded, tmp_path):
    folder = zoo_folder("t5")
    run = run_of(loaded, folder, tmp_path)
    request = ScoreRequest(
        0,
        "<extra_id_0> quindi <extra_id_1>",
        "Ho fame, <extra_id_0> mangio.",
    )
    [answer] = ask_folder(folder, [request])
    after = len("<extra_id_0> ")
    expected = sum(
        value for start, value in zip(answer.starts, answer.logprobs, strict=True) if start >= after
    )
    own = {each.text: each.logprob_nats for each in run.answers("choice:sentinel")["fame"]}
    assert own["quindi"] == pytest.approx(expected, abs=1e-4)


def test_a_model_that_only_scores_still_chooses():
    source = open_fills(uniform_scorer(10), asking=Asking(), policy=FillPolicy())
    fills = source.fill(plan_fills(ITEMS), [1], cache=MemoryCache())
    left = {fill.candidate: fill for fill in fills[0] if fill.method == "choice:left"}
    assert left["ma"].n_pieces >= 1
    assert left["ma"].logprob_nats == pytest.approx(-left["ma"].n_pieces * math.log(10))
    assert {fill.method for fill in fills[0]} == {
        "choice:sentence",
        "choice:left",
        "choice:continuation",
    }
    bare = plan_fills([ClozeItem("a", "Una ", " rossa.")])
    with pytest.raises(UsageError, match="only scores texts"):
        source.fill(bare, [0], cache=MemoryCache())
    with pytest.raises(UsageError, match="choice=mask"):
        open_fills(uniform_scorer(10), asking=Asking(), policy=FillPolicy(choice=("mask",))).fill(
            plan_fills(ITEMS), [0], cache=MemoryCache()
        )


def test_a_masked_model_that_shows_nothing_of_itself_chooses_by_sentences():
    masked = uniform_scorer(10)
    masked._card = dataclasses.replace(masked.card, kind="masked")
    source = open_fills(masked, asking=Asking(), policy=FillPolicy())
    [fills] = source.fill(plan_fills(ITEMS), [1], cache=MemoryCache())
    assert {fill.method for fill in fills} == {"choice:sentence"}


def test_a_run_that_was_stopped_goes_on_where_it_was(zoo_folder, loaded, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "SHARD", 1)
    asked = []

    class StoppedError(Exception):
        pass

    def fill(self, plan, numbers, *, cache):
        asked.extend(numbers)
        if len(asked) == 2:
            raise StoppedError
        return original(self, plan, numbers, cache=cache)

    original = ModelFills.fill
    monkeypatch.setattr(ModelFills, "fill", fill)
    with pytest.raises(StoppedError):
        run_of(loaded, zoo_folder("bert-cased"), tmp_path)
    run = run_of(loaded, zoo_folder("bert-cased"), tmp_path)
    assert asked == [0, 1, 1, 2]
    assert not (run.folder / "parts").exists()
    again = run_of(loaded, zoo_folder("bert-cased"), tmp_path)
    assert asked == [0, 1, 1, 2]
    assert again.fills.equals(run.fills)


def test_only_the_first_items_are_asked_where_there_is_a_limit(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path / "runs")]
    assert invoke([*arguments, "--limit", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cloze"][0]["n_items"] == 2
    [run] = open_runs([tmp_path / "runs"])
    assert [item.id for item in run.items] == ["pioggia", "febbre"]


def test_formulas_do_not_judge_such_a_run_but_reports_tell_it(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path / "runs")]
    assert invoke(arguments) == 0
    printed = capsys.readouterr().out
    assert invoke(["judge", str(tmp_path / "runs")]) == 2
    assert "kind cloze" in capsys.readouterr().err
    assert invoke(["report", str(tmp_path / "runs")]) == 0
    assert printed.strip() in capsys.readouterr().out


def test_a_model_that_cannot_be_asked_leaves_the_others_be(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-o", str(tmp_path / "runs"), "--set", "protocol=mask"]
    assert invoke([*arguments, "-m", "demo-masked", "-m", "demo-causal"]) == 3
    assert "protocol=mask" in capsys.readouterr().err
    assert invoke([*arguments, "-m", "demo-causal"]) == 2


def test_a_choice_passes_fails_ties_or_stays_unscored():
    item = ITEMS[0]

    def chosen(**scores):
        [choice] = choose([item], {item.id: {"anche se": scores.pop("anche_se"), **scores}})
        return choice

    assert chosen(anche_se=-1.0, mentre=-2.0, quindi=-3.0).outcome == "pass"
    lost = chosen(anche_se=-2.0, mentre=-1.0, quindi=-3.0)
    assert (lost.outcome, lost.roles, lost.margin_nats) == ("fail", ("plausible",), -1.0)
    tied = chosen(anche_se=-1.0, mentre=-1.0, quindi=-3.0)
    assert (tied.outcome, tied.chosen) == ("tie", ("anche se", "mentre"))
    missing = chosen(anche_se=-1.0, mentre=None, quindi=-3.0)
    assert missing.outcome == "unscored"
    assert "'mentre'" in missing.reason
    variant = choose(ITEMS[1:2], {"febbre": {"perché": -9.0, "perche'": -1.0, "ma": -2.0}})
    assert variant[0].outcome == "pass"
    assert choose([ClozeItem("a", "x ", "", (Option("y"),))], {}) == []


def test_candidates_are_ranked_within_a_method_and_unscored_ones_come_last():
    fills = [
        Fill("a", None, 2, "word", "choice:mask"),
        Fill("b", -2.0, 1, "word", "choice:mask"),
        Fill("c", -1.0, 1, "word", "choice:mask"),
        Fill("d", -5.0, 1, "word", "mask"),
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


def recorded_run(suite, tmp_path, answers) -> running.ClozeRun:
    path = tmp_path / "answers.tsv"
    lines = [f"{item}\t{rank}\t{text}" for item, rank, text in answers]
    path.write_text("\n".join(["item\trank\tcandidate", *lines]) + "\n", encoding="utf-8")
    loaded = load_cloze(write_folder(suite, tmp_path / "suite"))
    evaluation = ClozeEvaluation(output=tmp_path / "runs")
    return evaluation.run(loaded, open_recording(str(path)), cache=MemoryCache())


ANSWERS = [
    ("a1", 1, "rossa"), ("a1", 2, "rosso"), ("a2", 1, "lunga"), ("a2", 2, "##mente"),
    ("b1", 1, "buono"), ("b1", 2, "buona"),
]  # fmt: skip


def test_candidates_are_judged_by_a_dictionary_and_by_people_before_it(tmp_path):
    run = recorded_run(templates("ADJ Gender=Fem|Number=Sing"), tmp_path, ANSWERS)
    rules = Rules("it", lemmas={"ADJ": ["rosso", "lungo", "buono"]})
    [method] = summarise(run, ClozeJudging(k=2, dictionary=rules, by=("template",))).methods
    assert [(rate.share.correct, rate.share.n) for rate in method.fitting] == [(2, 3), (3, 6)]
    # a: 2 of 2 and 2 of 4; b: 0 of 1 and 1 of 2.
    assert method.fitting_mean == (0.5, 0.5)
    of_b = method.fitting_by["template"]["b"][1]
    assert of_b.share.correct == 1
    assert of_b.interval.low is None
    assert "an interval needs 5 or more" in of_b.interval.reason

    said = pl.DataFrame(
        [("it-small-templates", "b1", "", "buono", who, "fits", "yes", "", "") for who in "xy"],
        schema=JUDGMENTS.polars(),
        orient="row",
    )
    write_table(said, JUDGMENTS, run.folder)
    judging = ClozeJudging(k=2, dictionary=rules, judged=read_said(run.folder))
    [method] = summarise(run, judging).methods
    assert method.fitting[0].share.correct == 3


def test_what_nobody_judged_is_left_out_with_a_warning(tmp_path):
    run = recorded_run(templates(""), tmp_path, ANSWERS)
    [silent] = summarise(run, ClozeJudging(k=2)).methods
    assert (silent.fitting, silent.warnings) == ((), ())
    judged = {("a1", "rossa"): True, ("a1", "rosso"): False}
    [method] = summarise(run, ClozeJudging(k=2, judged=judged)).methods
    assert (method.fitting[1].share.correct, method.fitting[1].share.n) == (1, 2)
    assert "4 candidates of 6 not judged" in method.warnings[0]


def test_a_table_that_was_filled_in_is_an_earlier_judgment(tmp_path):
    run = recorded_run(templates(""), tmp_path, ANSWERS)
    table = tmp_path / "said.tsv"
    rows = "a1\trossa\tA [rossa]\tyes\t\na1\trosso\tA [rosso]\tno\tgender\na1\tx\tA [x]\t\t\n"
    table.write_text(f"item\tcandidate\tsentence\tfits\tremarks\n{rows}", encoding="utf-8")
    assert read_said(run.folder, table) == {("a1", "rossa"): True, ("a1", "rosso"): False}


def test_people_who_are_divided_say_nothing():
    assert majority([True, False, True]) is True
    assert majority([True, False]) is None
    assert majority([]) is None


def test_what_is_asked_wrongly_is_said(suite_folder, tmp_path, capsys):
    arguments = ["run", str(suite_folder), "-m", "demo-masked", "-o", str(tmp_path)]
    for setting, said in (
        ("kk=3", "Did you mean 'k'"),
        ("k=x", "whole number"),
        ("protocol=masc", "Did you mean 'mask'"),
        ("choice=left,joint", "choice=left"),
        ("by=conective", "by=conective"),
        ("dictionary=wordnet", "dictionary"),
        ("judgments=/nowhere", "no judgments here"),
    ):
        assert invoke([*arguments, "--set", setting]) == 2, setting
        assert said in capsys.readouterr().err
    assert invoke([*arguments, "--context", "Allora"]) == 2
    assert "--context" in capsys.readouterr().err
    assert invoke([*arguments, "--measure", "lp"]) == 0
    assert "--measure means nothing for blanks" in capsys.readouterr().err
    with pytest.raises(TableError, match="no finished run"):
        open_runs([tmp_path / "empty"])
