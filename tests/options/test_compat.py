"""The conventions of other tools: against what the tools themselves said, and by hand.

The numbers in tests/data/compat were recorded by scripts/oracles/compat.py, which names the
versions and the commands. BabyLM's pipeline and SyntaxGym cannot be installed beside anything of
today: what they compute is written out here, from their published code, on plain forward passes.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import polars as pl
import pytest

import cimento
from cimento import UsageError
from cimento.cli.main import invoke
from cimento.options.compat import COMPAT, find_compat
from cimento.paired.item_outcomes import on_each_measure
from cimento.paradigms.regions.judging import scores_of
from cimento.paradigms.regions.options import RegionOptions
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.helpers import zoo
from tests.helpers.judging import make_suite
from tests.helpers.plain import causal, masked, tokens_of

DATA = Path(__file__).parents[1] / "data" / "compat"
ORACLES = {
    tool: json.loads((DATA / f"{tool}.json").read_text()) for tool in ("minicons", "lm-eval")
}
PAIRS = ORACLES["minicons"]["pairs"]
FORMULA = "(*;%good%) < (*;%bad%)"
SUITE = make_suite([FORMULA], [{"good": good, "bad": bad} for good, bad in PAIRS])


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """From the name of a species to a folder with its model."""
    folder = tmp_path_factory.mktemp("models")

    def save(name: str) -> Path:
        path = folder / name
        return path if path.exists() else zoo.save(name, path)

    return save


def run_as(tool: str, model: Path, suite=SUITE, **changes) -> cimento.Run:
    return cimento.evaluate(suite, str(model), compat=tool, device="cpu", **changes)


def only_estimate(run: cimento.Run, measure: str) -> cimento.Estimate:
    """How often the one prediction holds on a measure."""
    [estimate] = (estimate for estimate in run.estimates() if estimate.method == measure)
    return estimate


def values(run: cimento.Run, measure: str) -> list[float]:
    """The measure of every sentence, pair by pair, good before bad."""
    table = scores_of(run, [measure])
    assert table["condition"].to_list() == ["good", "bad"] * len(PAIRS)
    return table["value"].to_list()


def same_weights(oracle, name: str) -> None:
    assert oracle["models"][name]["weights"] == zoo.digest(zoo.model(name)), "record them again"


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama", "qwen2", "bert", "roberta"])
def test_minicons_sequence_scores(saved, name):
    same_weights(ORACLES["minicons"], name)
    expected = ORACLES["minicons"]["models"][name]
    run = run_as("minicons", saved(name))
    assert values(run, "meanlp") == pytest.approx(expected["mean"], abs=1e-5)
    assert values(run, "lp") == pytest.approx(expected["sum"], abs=2e-4)
    pairs = zip(expected["mean"][::2], expected["mean"][1::2], strict=True)
    # An uncased tokenizer without accents makes one sentence of "Sì." and "Si.".
    equal = 2 if name == "bert" else 1
    estimate = only_estimate(run, "meanlp")
    passed = sum(good - bad > 1e-5 for good, bad in pairs)
    assert (estimate.passed, estimate.tied) == (passed, equal)


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama", "qwen2"])
def test_minicons_token_scores_and_ranks(saved, name):
    expected = ORACLES["minicons"]["models"][name]["tokens"]
    run = run_as("minicons", saved(name), store=("rank",))
    special = {"<s>", "</s>", "<|endoftext|>"}
    for number, said in enumerate(expected):
        rows = run.table("tokens").filter(pl.col("request") == number)
        plain_tokens = [token for token in said if token[0] not in special]
        assert rows["token"].to_list() == [token for token, _, _ in plain_tokens]
        # minicons gives the token that comes first a score and a rank of 0.
        scored = rows if len(plain_tokens) < len(said) else rows[1:]
        kept = plain_tokens[len(plain_tokens) - len(scored) :]
        assert scored["logprob_nats"].to_list() == pytest.approx([v for _, v, _ in kept], abs=2e-5)
        assert scored["rank"].to_list() == [rank for _, _, rank in kept]


@pytest.mark.parametrize("name", ["gpt2", "opt", "llama", "qwen2"])
def test_lm_eval_loglikelihoods_and_accuracies(saved, name):
    same_weights(ORACLES["lm-eval"], name)
    expected = ORACLES["lm-eval"]["models"][name]
    run = run_as("lm-eval", saved(name))
    assert values(run, "lp") == pytest.approx(
        [value for pair in expected["loglikelihoods"] for value in pair], abs=2e-4
    )
    by_sum, by_character = on_each_measure(run)
    assert [estimate.method for estimate in run.estimates()] == ["lp", "mean-char"]
    for judged, metric, place in ((by_sum, "acc", 0), (by_character, "acc_norm", 1)):
        [estimate] = judged.estimates()
        assert estimate.value == pytest.approx(expected[metric])
        assert estimate == dataclasses.replace(run.estimates()[place], role="headline")
        outcomes = judged.outcomes()
        assert outcomes["right"].to_list() == [
            bool(verdicts[place]) for verdicts in expected["correct"]
        ]
        assert (outcomes["verdict"][-1], estimate.tied) == ("tie", 1)


OWN = {"gpt2": [], "opt": ["</s>"], "llama": ["<s>"]}


@pytest.mark.parametrize("name", OWN)
def test_babylm_causal_by_hand(saved, name):
    run = run_as("babylm", saved(name))
    kind = zoo.SPECIES[name].tokenizer
    tokenizer, model = zoo.tokenizer(kind), zoo.model(name)
    # What the tokenizer puts before a text itself; GPT-2's puts nothing.
    around = tokenizer("", add_special_tokens=True).input_ids
    assert [tokenizer.convert_ids_to_tokens(token_id) for token_id in around] == OWN[name]
    sums = []
    for sentence in (text for pair in PAIRS for text in pair):
        scores = causal(model, around, tokens_of(saved(name), sentence).ids)
        sums.append(sum(score for score in scores if score is not None))
    assert values(run, "lp") == pytest.approx(sums, abs=1e-3)
    first = [good >= bad - 1e-9 for good, bad in zip(sums[::2], sums[1::2], strict=True)]
    assert only_estimate(run, "lp").value == pytest.approx(sum(first) / len(first))


def test_babylm_masked_by_hand(saved):
    run = run_as("babylm", saved("bert"))
    tokenizer = zoo.tokenizer(zoo.SPECIES["bert"].tokenizer)
    sums = [
        sum(
            masked(
                zoo.model("bert"),
                [tokenizer.cls_token_id],
                tokens_of(saved("bert"), text).ids,
                [tokenizer.sep_token_id],
                mask=tokenizer.mask_token_id,
                words=None,
            )
        )
        for pair in PAIRS
        for text in pair
    ]
    assert values(run, "lp") == pytest.approx(sums, abs=1e-3)


REGIONS = make_suite(
    ["(1;%match%) < (1;%mismatch%)"],
    [
        {"match": "Gli amici | cantano.", "mismatch": "L'amico | cantano."},
        {"match": "Le zie | dormono.", "mismatch": "La zia | dormono."},
    ],
)


@pytest.mark.parametrize("name", ["gpt2", "opt"])
def test_syntaxgym_regions_by_hand(saved, name):
    run = run_as("syntaxgym", saved(name), suite=REGIONS)
    before = [] if name == "gpt2" else [zoo.tokenizer("byte-bpe-bos").bos_token_id]
    margins = []
    for item in REGIONS.items:
        bits = {}
        for condition in item.conditions:
            first, second = (region.text for region in condition.regions)
            tokens = tokens_of(saved(name), f"{first} {second}")
            scores = causal(zoo.model(name), before, tokens.ids)
            # Surprisals in bits; a first token that nothing precedes has 0.
            surprisals = [0.0 if score is None else -score / math.log(2) for score in scores]
            bits[condition.name] = sum(
                value
                for value, start in zip(surprisals, tokens.starts, strict=True)
                if start < len(first)
            )
        margins.append(bits["mismatch"] - bits["match"])
    outcomes = run.outcomes()
    assert outcomes["value"].to_list() == pytest.approx(margins, abs=1e-3)
    assert outcomes["verdict"].to_list() == ["pass" if m > 0 else "fail" for m in margins]


def test_syntaxgym_zeros_count_in_means_and_minicons_leaves_them_out(saved):
    suite = dataclasses.replace(REGIONS, metric="mean")
    ours = run_as("syntaxgym", saved("gpt2"), suite=suite)
    dropped = ours.judge(unscored_first="drop")
    missing = ours.judge(unscored_first="missing")
    with_zero, without = (run.outcomes()["value"].to_list() for run in (ours, dropped))
    assert with_zero != pytest.approx(without)
    # "Le" and "La" begin with one token: in means over as many tokens it makes no difference.
    assert missing.outcomes()["verdict"].to_list() == ["unscored", "pass"]
    assert missing.outcomes()["value"].to_list() == [None, pytest.approx(with_zero[1])]


@pytest.mark.golden
def test_golden_syntaxgym_results_are_those_of_its_conventions(shared):
    folder = shared / "golden/syntaxgym/sg_eval_fgd_hierarchy"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    run = cimento.evaluate(
        folder / "fgd_hierarchy.json",
        f"replay:{folder / 'surprisals_fgd_hierarchy.txt'}",
        compat="syntaxgym",
        spec=folder / "spec.template.json",
    )
    assert expected
    rates = {
        estimate.question: estimate.value
        for estimate in run.estimates()
        if estimate.statistic == "accuracy"
    }
    assert rates == {"prediction 0": 17 / 24, "prediction 1": 0.0, "all predictions": 0.0}


# What is said of it.


@pytest.mark.parametrize("tool", COMPAT)
def test_a_report_says_whose_conventions_were_used(tool):
    run = cimento.evaluate(SUITE, uniform_scorer(9), compat=tool)
    said = f'Conventions of {tool}, see the page "Measures".'
    assert said in " ".join(run.summary().warnings)


def test_ties_that_count_as_passes_are_said_and_stay_ties():
    run = cimento.evaluate(SUITE, FakeScorer(lambda _tokens, _index: 0.0), compat="lm-eval")
    result = only_estimate(run, "lp")
    assert (result.value, result.passed, result.tied) == (1.0, 0, len(PAIRS))
    assert set(run.outcomes()["verdict"]) == {"tie"}
    assert set(run.outcomes()["right"]) == {True}
    assert run.summary().options["ties"] == "pass"
    assert any("Ties count as passes" in text for text in run.summary().warnings)
    assert any("Every text was preceded by a blank" in text for text in run.summary().warnings)
    ours = run.judged(RegionOptions().model_dump())
    [estimate] = ours.estimates()
    assert (estimate.value, estimate.tied) == (0.0, len(PAIRS))
    assert not any("Ties count as passes" in text for text in ours.summary().warnings)


def test_our_own_conventions_need_no_note():
    run = cimento.evaluate(SUITE, uniform_scorer(9))
    assert not any("Conventions" in text for text in run.summary().warnings)


def test_unknown_conventions_are_refused():
    with pytest.raises(UsageError, match="Did you mean 'lm-eval'"):
        find_compat("lm_eval")


def test_an_option_beside_compat_wins(saved, tmp_path, capsys):
    path = tmp_path / "pairs.tsv"
    rows = [f"{number}\t{good}\t{bad}" for number, (good, bad) in enumerate(PAIRS, start=1)]
    path.write_text("\n".join(["item\tgood\tbad", *rows]) + "\n", encoding="utf-8")
    shared = ("run", str(path), "-m", str(saved("gpt2")), "--device", "cpu", "--no-cache", "--json")

    def printed(*options):
        assert invoke([*shared, "-o", str(tmp_path / "runs"), *options]) == 0
        return json.loads(capsys.readouterr().out)["runs"]

    theirs = printed("--compat", "lm-eval")
    estimates = [estimate for run in theirs for estimate in run["estimates"]]
    assert [estimate["method"] for estimate in estimates] == ["lp", "mean-char"]
    assert [run["options"]["ties"] for run in theirs] == ["pass"]
    expected = ORACLES["lm-eval"]["models"]["gpt2"]
    accuracies = [estimate["value"] for estimate in estimates]
    assert accuracies == pytest.approx([expected["acc"], expected["acc_norm"]])

    [changed] = printed(
        "--compat", "lm-eval", "--ties", "tie", "--measure", "lp", "--no-leading-blank"
    )  # fmt: skip
    assert changed["options"]["measure"] == "lp"
    assert changed["options"]["ties"] == "tie"
    assert not any("blank" in text for text in changed["warnings"])


def test_of_a_recording_nothing_is_said_about_how_it_was_scored(tmp_path):
    words = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    sentences = [text for item in REGIONS.items for text in _texts(item)]
    for number, text in enumerate(sentences, start=1):
        for place, word in enumerate(text.split(), start=1):
            words.append(f"{number}\t{place}\t{word}\t{len(word)}")
    path = tmp_path / "recorded.tsv"
    path.write_text("\n".join(words) + "\n", encoding="utf-8")
    whole = dataclasses.replace(REGIONS, predictions=(cimento.Prediction(WHOLE),))

    run = cimento.evaluate(whole, f"replay:{path}", compat="lm-eval")

    letters = [len(text.replace(" ", "")) for text in sentences]
    assert scores_of(run, ["surprisal-bits"])["value"].to_list() == pytest.approx(letters)
    assert not any("blank" in text or "BOS" in text for text in run.summary().warnings)


WHOLE = "(*;%match%) < (*;%mismatch%)"


def _texts(item):
    return [" ".join(region.text for region in condition.regions) for condition in item.conditions]


def test_words_of_n_grams_have_no_blank_before_them(tmp_path):
    path = tmp_path / "tiny.arpa"
    path.write_text(
        "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n-1\t</s>\n-0.3\tzie\n\n\\end\\\n",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="leading_blank=False"):
        run_as("lm-eval", f"kenlm:{path}")
