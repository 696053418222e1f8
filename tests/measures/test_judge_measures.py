"""Predictions over whole sentences, judged on measures instead of summed surprisals."""

from __future__ import annotations

import io
import json
import math
import re

import polars as pl
import pytest

from cimento import InputError, Summary, UsageError, evaluate, open_run, open_runs
from cimento.measures import MEASURES
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.judging import scores_of
from cimento.report.terminal import terminal_table
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.helpers.command_line import invoke
from tests.helpers.judging import judged, make_suite, word_tokens

PAIR = "(*;%good%) < (*;%bad%)"


def verdict_on(formula, item, surprisals, measure, **options):
    """The verdict on one item whose words cost so many nats, in plan order, and its margin."""
    suite = make_suite([formula], [item])
    run = judged(suite, word_tokens(suite, surprisals), measure=measure, **options)
    [row] = run.outcomes().select("verdict", "value").iter_rows()
    return row


SHORT_BAD = {"good": "ab cd ef", "bad": "gh ij"}
"""Three words against two; at 2 and at 2.5 nats each, the good one has the lower sum."""


@pytest.mark.parametrize(
    ("measure", "verdict"),
    [
        ("lp", "fail"),
        ("surprisal-nats", "fail"),
        ("surprisal-bits", "fail"),
        ("meanlp", "pass"),
        ("mean-word", "pass"),
        ("ppl", "pass"),
        ("penlp", "fail"),
        ("penlp:1.6", "pass"),
    ],
)
def test_the_measure_decides(measure, verdict):
    decided, _ = verdict_on(PAIR, SHORT_BAD, [2.0] * 3 + [2.5] * 2, measure)
    assert decided == verdict


def test_by_hand_penlp_passes_from_some_alpha_on():
    # LP: -6 and -5. PenLP: 6 / (8/6)^a < 5 / (7/6)^a where (8/7)^a > 6/5, so from a = 1.3654 on.
    limit = math.log(6 / 5) / math.log(8 / 7)
    costs = [2.0] * 3 + [2.5] * 2
    assert verdict_on(PAIR, SHORT_BAD, costs, f"penlp:{limit + 1e-6}")[0] == "pass"
    assert verdict_on(PAIR, SHORT_BAD, costs, f"penlp:{limit - 1e-6}")[0] == "fail"


def test_margins_are_in_bits_where_the_measure_has_a_unit_of_information():
    item = {"good": "ab cd", "bad": "ef gh"}
    costs = [1.0, 1.0, 2.0, 2.0]
    bits = 1 / math.log(2)
    assert verdict_on(PAIR, item, costs, "lp") == ("pass", pytest.approx(2 * bits))
    assert verdict_on(PAIR, item, costs, "surprisal-bits") == ("pass", pytest.approx(2 * bits))
    assert verdict_on(PAIR, item, costs, "meanlp") == ("pass", pytest.approx(bits))
    assert verdict_on(PAIR, item, costs, "mean-char") == ("pass", pytest.approx(2 * bits / 5))
    # A number without unit is its own: two tokens of 1 nat each, and two of 2 nats.
    assert verdict_on(PAIR, item, costs, "ppl") == ("pass", pytest.approx(math.e**2 - math.e))


@pytest.mark.parametrize("measure", ["lp", "meanlp", "penlp", "ppl", "mean-char"])
def test_equal_sentences_tie(measure):
    assert verdict_on(PAIR, {"good": "ab cd", "bad": "ef gh"}, 1.5, measure)[0] == "tie"


def test_numbers_in_formulas_are_in_bits_or_as_they_stand():
    item = {"good": "ab", "bad": "cd"}
    costs = [1.0, 3.0]
    difference = "((*;%bad%) - (*;%good%)) > {}"
    two_nats = 2 / math.log(2)
    assert verdict_on(difference.format(two_nats - 0.01), item, costs, "lp")[0] == "pass"
    assert verdict_on(difference.format(two_nats + 0.01), item, costs, "lp")[0] == "fail"
    assert verdict_on(difference.format(1.99), item, costs, "lp", unit="nats")[0] == "pass"
    ratio = math.exp(3) - math.exp(1)
    assert verdict_on(difference.format(ratio - 0.01), item, costs, "ppl")[0] == "pass"
    assert verdict_on(difference.format(ratio + 0.01), item, costs, "ppl")[0] == "fail"


def test_super_additivity_is_judged_on_a_measure():
    formula = "((*;%a%) - (*;%b%)) > ((*;%c%) - (*;%d%))"
    item = {"a": "ab", "b": "cd", "c": "ef", "d": "gh"}
    assert verdict_on(formula, item, [9.0, 1.0, 3.0, 2.0], "lp")[0] == "pass"
    assert verdict_on(formula, item, [3.0, 1.0, 9.0, 2.0], "lp")[0] == "fail"


def test_a_measure_that_is_undefined_leaves_the_item_unscored_and_says_why():
    run = evaluate(make_suite([PAIR], [SHORT_BAD]), uniform_scorer(9), measures="slor")
    [result] = run.summary().results
    assert (result.unscored, result.value) == (1, None)
    assert "--unigrams" in run.outcomes()["reason"][0]
    assert "region" not in run.outcomes()["reason"][0]


def test_a_prediction_about_regions_is_refused_before_the_model_is_asked():
    def never(_tokens, _index):
        raise AssertionError("the model was asked")

    suite = make_suite(["(*;%good%) < (*;%bad%)", "(1;%bad%) > (1;%good%)"], [SHORT_BAD])
    said = r"'prediction 1': it names the region \(1;%bad%\).*'\(\*;%bad%\) > \(\*;%good%\)'"
    with pytest.raises(UsageError, match=said):
        evaluate(suite, FakeScorer(never), measures="lp")
    with pytest.raises(UsageError, match="no such measure"):
        evaluate(suite, FakeScorer(never), measures="lq")
    with pytest.raises(InputError, match="there is no such file"):
        evaluate(
            make_suite([PAIR], [SHORT_BAD]),
            FakeScorer(never),
            measures="slor",
            unigrams="nowhere.tsv",
        )


def longer_words_cost_more(tokens, index):
    return -0.5 * len(tokens[index])


SUITE = make_suite(
    [PAIR],
    [
        {"good": "Il cane dorme", "bad": "Il cane dormono"},
        {"good": "Le zie che conosco cantano", "bad": "Le zie canta"},
    ],
)


def test_a_run_has_scores_for_every_sentence_and_can_be_judged_on_any():
    run = evaluate(SUITE, FakeScorer(longer_words_cost_more))

    table = scores_of(run)
    by_sum = scores_of(run, ["lp"])
    summed, by_mean, regions = on_each_measure(run, ["lp,mean-word", "regions"])

    assert table["measure"].n_unique() == len(MEASURES)
    letters = [11, 13, 22, 10]
    assert by_sum["value"].to_list() == [-0.5 * count for count in letters]
    assert [run.options.measure for run in (summed, by_mean, regions)] == ["lp", "mean-word", ""]
    assert summed.outcomes()["verdict"].to_list() == ["pass", "fail"]
    assert regions.outcomes().drop("method").equals(summed.outcomes().drop("method"))
    assert by_mean.outcomes()["verdict"][1] == "fail"
    assert on_each_measure(run) == [run]


def test_a_run_that_was_judged_on_a_measure_is_opened_so(tmp_path):
    run = evaluate(
        SUITE,
        FakeScorer(longer_words_cost_more),
        measures="penlp:0.6",
        ties="pass",
        unscored_first="drop",
        output=tmp_path,
    )
    opened = open_run(run.folder)
    assert opened.options == run.options
    assert opened.summary() == run.summary()
    assert opened.summary().headline.method == "penlp:0.6"


def test_every_table_names_the_measure():
    run = evaluate(SUITE, FakeScorer(longer_words_cost_more))
    both = run.judge(measures="lp,ppl")
    text = " ".join(both.paradigm.presenter.text([both]).split())
    assert "[lp]" in text
    assert "[ppl]" in text
    assert "the higher the better" in text
    assert "the lower the better" in text
    assert [estimate.method for estimate in both.estimates()] == ["lp", "ppl"]


def test_what_is_remarked_on_all_runs_of_a_suite_is_said_once():
    run = evaluate(SUITE, FakeScorer(longer_words_cost_more), ties="pass")
    runs = on_each_measure(run, ["lp", "ppl"])
    text = " ".join(terminal_table(Summary(runs=tuple(r.summary() for r in runs))).split())
    assert text.count("Ties count as passes") == 1
    of_all, of_lp = re.search("Notes test: (.*) test, fake@0000000 .lp.: (.*)", text).groups()
    assert "Ties count as passes" in of_all
    assert "Ties" not in of_lp
    assert "count in n, and as passes where a note says so" in text


# On the command line.


@pytest.fixture
def runs(tmp_path, capsys, monkeypatch):
    """A folder with a stored run of the demo model."""
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    suite = tmp_path / "pairs.tsv"
    suite.write_text(
        "item\tgood\tbad\n1\tIl gatto dorme.\tIl gatto dormono.\n"
        "2\tI cani della zia corrono.\tI cani corre.\n",
        encoding="utf-8",
    )
    options = ["--measure", "lp, penlp", "--measure", "lp-l", "--json", "--device", "cpu"]
    code = invoke(["run", str(suite), "-m", "demo-causal", "-o", str(tmp_path / "runs"), *options])
    printed = json.loads(capsys.readouterr().out)
    assert code == 0
    [run] = printed["runs"]
    assert [estimate["method"] for estimate in run["estimates"]] == ["lp", "penlp", "lp-l"]
    assert all(estimate["unscored"] == 0 for estimate in run["estimates"])
    return tmp_path / "runs"


def test_the_commands_take_measures(runs, tmp_path, capsys):
    [stored] = open_runs([runs])
    assert (stored.options.measure, stored.options.also) == ("lp", ("penlp", "lp-l"))

    def judge(*options):
        return invoke(["judge", str(runs), *options])

    assert judge("--measure", "penlp:1,regions", "--json") == 0
    printed = json.loads(capsys.readouterr().out)["runs"]
    assert [run["estimates"][0]["method"] for run in printed] == ["penlp:1", ""]

    assert judge("--measure", "lp,slor", "--scores", "--unigrams", "wordfreq:it") == 0
    table = pl.read_csv(io.StringIO(capsys.readouterr().out), separator="\t")
    assert table.height == 2 * 2 * 2
    assert table["value"].null_count() == 0

    assert judge("--measure", "lp", "-o", str(tmp_path / "judged")) == 0
    assert judge("--measure", "lp,penlp", "-o", str(tmp_path / "judged")) == 2
    assert "Give one measure" in capsys.readouterr().err
    assert judge("--measure", "lpp") == 2
    assert "Did you mean" in capsys.readouterr().err


def test_columns_are_an_option_of_score(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    texts = tmp_path / "texts.txt"
    texts.write_text("Il gatto dorme.\n", encoding="utf-8")
    command = ["score", str(texts), "-m", "demo-causal", "--device", "cpu", "--store", "rank"]
    assert invoke(command) == 0
    table = pl.read_csv(io.StringIO(capsys.readouterr().out), separator="\t")
    assert table.columns[-1] == "rank"
    assert table["rank"].min() >= 1
    assert invoke([*command, "--words"]) == 2
    assert "--tokens" in capsys.readouterr().err
