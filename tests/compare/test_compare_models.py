"""Several models on the same items, and before and after; oracles: hand calculation and scipy."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cimento import UsageError, compare, evaluate, load_suite, pairs
from cimento.compare import rank_models
from cimento.paired.item_outcomes import item_outcomes
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke
from tests.helpers.made_runs import made_run, outcomes_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


def marks(model: str, right: str, *, clusters: Mapping[str, str] | None = None, **more):
    """A run on items 0, 1, 2 ...: + is right, - is wrong, ? is unscored."""
    return made_run(model, outcomes_of(right, cluster=clusters or ""), **more)


def tables(runs, correction: str = "holm"):
    return compare(runs, correction=correction).rankings


def paired(one, other):
    ((duel,),) = (ranking.pairs for ranking in tables([one, other]))
    return duel


def test_a_table_by_hand():
    (ranking,) = tables([marks("a", "++++-+?"), marks("b", "+--+--+"), marks("c", "++-+--+")])

    assert (ranking.n, ranking.left_out) == (6, 1)
    assert [model.model for model in ranking.models] == ["a", "c", "b"]
    assert [model.accuracy for model in ranking.models] == [5 / 6, 3 / 6, 2 / 6]
    assert [model.rank.place for model in ranking.models] == [1, 2, 3]
    # nobody is surely above anybody: 3 discordant items at most, p = 2 / 2^3
    assert [(model.rank.best, model.rank.worst) for model in ranking.models] == [(1, 3)] * 3
    duel = ranking.pairs[0]
    assert (duel.first, duel.second, duel.gained, duel.lost) == ("a", "b", (), ("1", "2", "5"))
    assert duel.test.p == pytest.approx(0.25)
    # Holm over the p of three pairs: .25, .5, 1 times 3, 2, 1
    assert [pair.corrected for pair in ranking.pairs] == [pytest.approx(0.75), 1.0, 1.0]
    # statsmodels 0.14: cochrans_q([[1,1,1],[1,0,1],[1,0,0],[1,1,1],[0,0,0],[1,0,0]]).pvalue
    assert ranking.together.p == pytest.approx(0.0970, abs=5e-4)


def test_agreement_beyond_chance_and_effect():
    (ranking,) = tables([marks("a", "+++---"), marks("b", "++-+--")])
    (duel,) = ranking.pairs

    # 4 of 6 agree, 3 of 6 by chance: (4/6 - 1/2) / (1/2)
    assert duel.kappa.value == pytest.approx(1 / 3)
    assert duel.effect == 0.0
    assert duel.change.estimate == 0.0
    assert ranking.together is None


def test_benjamini_hochberg_over_suites():
    pairs = [
        marked
        for suite, right in (("x", "+" * 8), ("y", "+" * 6 + "--"))
        for marked in (marks("a", "-" * 8, suite=suite), marks("b", right, suite=suite))
    ]
    by_holm = [table.pairs[0].corrected for table in tables(pairs)]
    by_bh = [table.pairs[0].corrected for table in tables(pairs, correction="bh")]

    # the tests give 2 of 2^8 and 2 of 2^6 patterns
    assert by_holm == [pytest.approx(4 / 256), pytest.approx(2 / 64)]
    assert by_bh == [pytest.approx(4 / 256), pytest.approx(2 / 64)]


def test_places_are_by_holm_whatever_corrects_the_p_values():
    # Models that are right on 6 to 12 of 12 items more than the first: by Benjamini and Hochberg
    # more pairs are found than by Holm, and the places would hold together in 77 of 100 cases.
    runs = [marks("z", "-" * 12), *(marks(f"m{n}", "+" * n + "-" * (12 - n)) for n in range(6, 13))]
    (by_holm,) = tables(runs)
    (by_bh,) = tables(runs, correction="bh")
    found = [sum(pair.corrected <= 0.05 for pair in ranking.pairs) for ranking in (by_holm, by_bh)]
    assert found[0] < found[1]
    places = [
        {model.model: (model.rank.best, model.rank.worst) for model in ranking.models}
        for ranking in (by_holm, by_bh)
    ]
    assert places[0] == places[1]


def test_items_that_belong_together_count_together():
    clusters = {str(k): str(k // 4) for k in range(24)}
    one, other = (
        marks(name, mark * 24, clusters=clusters) for name, mark in zip("ab", "-+", strict=True)
    )
    (ranking,) = tables([one, other])

    # Six clusters that all change: (7/8 - 1/8) / sqrt((1 - 9/16) / 8) = 3.207 by t with 5 degrees
    # of freedom says .0238, less than the 2 / 2^6 of all six changing the same way by chance.
    assert ranking.pairs[0].test.p == 2 / 2**6
    assert ranking.pairs[0].corrected == ranking.pairs[0].test.p


def test_of_three_clusters_nothing_is_tested():
    clusters = {str(k): str(k // 4) for k in range(12)}
    (ranking,) = tables(
        [marks("a", "+-" * 6, clusters=clusters), marks("b", "++" * 6, clusters=clusters)]
    )
    (duel,) = ranking.pairs

    assert (duel.test.p, duel.change.low) == (None, None)
    assert duel.test.reason == "3 clusters: an interval needs 5 or more"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
@settings(deadline=None)
def test_the_two_ways_round_mirror_each_other(pairs):
    first = marks("a", "".join("+" if a else "-" for a, _ in pairs))
    second = marks("b", "".join("+" if b else "-" for _, b in pairs))
    there, back = paired(first, second), paired(second, first)

    assert there.change.estimate == pytest.approx(-back.change.estimate)
    assert there.change.method == back.change.method
    if there.change.low is not None:
        assert there.change.low == pytest.approx(-back.change.high)
    assert (there.gained, there.test.p) == (back.lost, back.test.p)


def test_nothing_scored_by_all_gives_no_number():
    (ranking,) = tables([marks("a", "+?"), marks("b", "?-")])

    assert ranking.n == 0
    assert [model.accuracy for model in ranking.models] == [None, None]
    assert ranking.pairs[0].change.estimate is None
    assert ranking.pairs[0].effect is None


def test_what_cannot_be_compared_is_refused():
    twice = [made_run("a", outcomes_of("+")), made_run("a", outcomes_of("-"))]

    with pytest.raises(UsageError, match="several runs of a"):
        compare(twice)
    with pytest.raises(UsageError, match="no suite was run by two models"):
        tables([marks("a", "+"), marks("b", "-", suite="t")])


def test_two_runs_of_one_model_are_told_apart_by_their_options():
    asked = [
        {"asking": {"policy": {"pll": rule, "model_args": {"token": rule}}, "device": rule}}
        for rule in ("original", "within-word-l2r")
    ]
    runs = [
        *(made_run("m@1", outcomes_of("+-"), manifest=manifest) for manifest in asked),
        made_run("m@1", outcomes_of("--"), manifest=asked[0], depth=3),
        made_run("n@1", outcomes_of("++")),
    ]

    (ranking,) = tables(runs)
    assert [(model.model, model.accuracy) for model in ranking.models] == [
        ("n@1", 1.0),
        ("m@1 (pll=original, depth=1)", 0.5),
        ("m@1 (pll=within-word-l2r, depth=1)", 0.5),
        ("m@1 (pll=original, depth=3)", 0.0),
    ]


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def recorded(folder: Path, name: str, bits: list[float]) -> None:
    """A run of pairs, from the surprisals of each good and bad sentence."""
    pairs = folder / "pairs.tsv"
    ends = LETTERS[: len(bits) // 2]
    lines = (f"{k}\tCasa{end}\tCase{end}\n" for k, end in enumerate(ends))
    pairs.write_text("item\tgood\tbad\n" + "".join(lines), "utf-8")
    words = [f"{word}{end}" for end in ends for word in ("Casa", "Case")]
    rows = [f"{k}\t1\t{w}\t{b}" for k, (w, b) in enumerate(zip(words, bits, strict=True), 1)]
    said = folder / f"{name}.tsv"
    said.write_text("sentence_id\ttoken_id\ttoken\tsurprisal\n" + "\n".join(rows) + "\n", "utf-8")
    command = ["run", str(pairs), "-m", f"replay:{said}", "-o", str(folder / name)]
    assert invoke(command) == 0


def test_the_command_fails_where_the_second_is_surely_worse(tmp_path, capsys):
    recorded(tmp_path, "good", [1.0, 2.0] * 20)
    recorded(tmp_path, "bad", [2.0, 1.0] * 15 + [1.0, 2.0] * 5)
    good, bad = str(tmp_path / "good"), str(tmp_path / "bad")
    capsys.readouterr()

    assert invoke(["compare", good, bad, "--fail-if-worse", "0.1"]) == 4
    out, err = capsys.readouterr()
    assert "cimento: worse: pairs, good: change -0.750" in err
    assert "kappa" in out
    assert invoke(["compare", bad, good, "--fail-if-worse", "0"]) == 0
    said = capsys.readouterr().err
    assert "not worse: no suite is significantly lower in the second (1 suite, 20 items)." in said
    assert "Nearest to failing: pairs, good: change +0.750 [" in said
    equal = str(shutil.copytree(good, tmp_path / "equal"))
    assert invoke(["compare", good, equal, "--fail-if-worse", "0"]) == 0
    capsys.readouterr()
    assert invoke(["compare", good, bad, "--fail-if-worse", "0.1", "--json"]) == 4
    plain = json.loads(capsys.readouterr().out)
    assert plain["worse"] == ["pairs"]
    assert plain["rates"][0]["test"]["p"] == pytest.approx(2 / 2**15)
    assert plain["rates"][0]["change"]["method"] == "Bonett-Price"
    assert invoke(["compare", good, bad, good, "--fail-if-worse", "0"]) == 2
    assert invoke(["compare", good, bad, "--figure", "x.svg"]) == 2


def test_the_command_says_first_which_of_two_is_above_and_leaves_it_to_a_gate(tmp_path, capsys):
    recorded(tmp_path, "good", [1.0, 2.0] * 20)
    recorded(tmp_path, "bad", [2.0, 1.0] * 15 + [1.0, 2.0] * 5)
    both = [str(tmp_path / "good"), str(tmp_path / "bad")]
    capsys.readouterr()

    # Fifteen of twenty items are lost: by 15/20, p = 2 / 2^15. The question is called good too.
    said = "good, pairs. good is above bad (by 0.750, p < .001).\n\n"
    assert invoke(["compare", *both]) == 0
    assert capsys.readouterr().out.startswith(said)
    assert invoke(["compare", *both, "--fail-if-worse", "1"]) == 0
    assert "is above" not in capsys.readouterr().out
    assert invoke(["compare", *both, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rates"][0]["suite"] == "pairs"


def test_a_run_without_a_partner_is_named():
    before = [marks("m", "+" * 8, suite=name) for name in ("kept", "gone")]
    after = [marks("m", "+" * 8, suite=name) for name in ("kept", "new")]
    comparison = compare(before, after)

    assert [pair.first for pair in comparison.runs] == ["kept, m"]
    assert (comparison.only_first, comparison.only_second) == (("gone, m",), ("new, m",))


def test_a_suite_that_the_second_side_lacks_is_no_success(tmp_path, capsys):
    for side, suites in (
        ("before", ["ru-subject-verb", "es-subject-verb"]),
        ("after", ["ru-subject-verb"]),
    ):
        assert invoke(["run", *suites, "-m", "demo-causal", "-o", str(tmp_path / side)]) == 0
    before, after = str(tmp_path / "before"), str(tmp_path / "after")
    capsys.readouterr()

    assert invoke(["compare", before, after, "--fail-if-worse", "0"]) == 3
    said = "not compared, since only the first side has it: es-subject-verb, demo-causal"
    assert said in capsys.readouterr().err
    assert invoke(["compare", after, before, "--fail-if-worse", "0"]) == 0


def test_suites_that_have_nothing_to_do_with_each_other_are_not_compared():
    keys, doors = (f"The {noun} {{}} {{}} here." for noun in ("keys", "doors"))
    question = "Nobody ever found out who {} a friend of {}."

    def of(name: str, model: str, *, language: str = "en", text: str = keys):
        rows = [(text.format("are", k), text.format("is", k)) for k in "abcd"]
        suite = pairs(rows, name=name, language=language)
        return evaluate(suite, model, bos="none")

    one = of("one", "demo-causal")
    with pytest.raises(UsageError, match="in different languages: en and it"):
        compare([one], [of("two", "demo-causal", language="it")])
    for model in ("demo-causal", "demo-masked"):
        with pytest.raises(UsageError, match="the same id have hardly a word in common"):
            compare([one], [of("two", model, text=question)])
    # A variant of the suite, and another name for the same sentences, are compared.
    assert compare([one], [of("two", "demo-causal", text=doors)]).runs
    assert compare([one], [of("two", "demo-masked")]).runs


def test_a_comparison_and_a_suite_are_named_in_a_line():
    one = evaluate("it-subject-verb", "demo-causal", limit=2)
    named = "it-subject-verb, demo-causal@91bca5d"
    assert repr(compare([one], [one])) == f"<Comparison of {named} and {named}>"
    assert repr(load_suite("it-subject-verb")) == "<LoadedSuite 'it-subject-verb' (regions)>"
    named = {name: repr(load_suite(name).suite) for name in ("it-idioms", "it-stories")}
    assert named == {
        "it-idioms": "<ClozeSuite 'it-idioms': 50 items>",
        "it-stories": "<StorySuite 'it-stories': 180 stories>",
    }


def test_pairs_are_a_line_and_are_told_apart_by_all_they_hold():
    rows = [("Le zie cantano.", "Le zie canta."), ("Il cane dorme.", "Il cane dormono.")]
    one, other = pairs(rows, name="mine"), pairs([*rows[:1], ("Il gatto va.", "Il gatto vanno.")])
    assert repr(one) == "<Suite 'mine': 2 items>"
    digests = [load_suite(suite).reading.sha256 for suite in (one, pairs(rows, name="mine"), other)]
    assert digests[0] == digests[1] != digests[2]


def test_trials_beside_whole_runs_are_left_out_in_one_line(tmp_path, capsys):
    for name in ("it-subject-verb", "it-determiner-noun-adjective"):
        for model in ("first", "second"):
            for limit in (None, 2, 3):
                evaluate(
                    name, FakeScorer(lambda *_: -1.0, name=model), output=tmp_path, limit=limit
                )
    assert invoke(["compare", str(tmp_path)]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
    assert len(lines) == 2
    assert "runs on fewer items of first@" in lines[0]
    assert lines[0].endswith(" on it-determiner-noun-adjective, it-subject-verb")


def test_the_command_ranks_all_models_of_a_folder(tmp_path, capsys):
    for name, right in (("uno", 20), ("due", 10), ("tre", 2)):
        recorded(tmp_path, name, [1.0, 2.0] * right + [2.0, 1.0] * (20 - right))
    folders = [str(tmp_path / name) for name in ("tre", "uno", "due")]
    capsys.readouterr()

    assert invoke(["compare", *folders, "--every-question"]) == 0
    out = capsys.readouterr().out
    assert out.index("uno@") < out.index("due@") < out.index("tre@")
    assert "Cochran's Q" in out
    assert invoke(["compare", *folders, "-o", str(tmp_path / "tables")]) == 0
    written = {path.name for path in (tmp_path / "tables").iterdir()}
    forms = (".txt", ".csv", ".md", ".tex")
    assert written >= {f"{name}{form}" for name in ("models", "pairs") for form in forms}
    assert "\\toprule" in (tmp_path / "tables" / "models.tex").read_text("utf-8")
    capsys.readouterr()
    assert invoke(["compare", *folders, "--json", "--measure", "lp"]) == 0
    (table,) = json.loads(capsys.readouterr().out)["rankings"]
    assert [model["accuracy"] for model in table["models"]] == [1.0, 0.5, 0.1]
    assert [(model["rank"]["best"], model["rank"]["worst"]) for model in table["models"]] == [
        (1, 1), (2, 2), (3, 3),
    ]  # fmt: skip
    assert invoke(["compare", folders[0]]) == 2
    assert "no suite was run by two models" in capsys.readouterr().err


def test_the_pairs_of_more_than_ten_models_are_printed_on_request(tmp_path, capsys):
    for number in range(11):
        recorded(tmp_path, f"m{number}", [1.0, 2.0] * number + [2.0, 1.0] * (20 - number))
    folders = [str(tmp_path / f"m{number}") for number in range(11)]
    shown = {}
    for options in ((), ("--pairs",), ("-o", str(tmp_path / "tables")), ("--json",)):
        capsys.readouterr()
        assert invoke(["compare", *folders, *options]) == 0
        shown[options[:1]] = capsys.readouterr()
    plain = shown[()]
    assert "gained/lost" not in plain.out
    assert "The pairs of 11 models are not listed: --pairs prints them" in plain.err
    assert "gained/lost" in shown[("--pairs",)].out
    assert (tmp_path / "tables" / "pairs.csv").is_file()
    (table,) = json.loads(shown[("--json",)].out)["rankings"]
    assert len(table["pairs"]) == 55  # 11 x 10 / 2
    # Places and all other tables are the same, with and without the pairs.
    ranking = plain.out[: plain.out.index("\n\n")]
    assert shown[("--pairs",)].out.startswith(ranking)
    invoke(["compare", *folders[:10]])
    assert "gained/lost" in capsys.readouterr().out


@pytest.mark.parametrize("clusters", [None, {str(n): str(n // 2) for n in range(24)}])
def test_places_are_the_same_without_the_pairs(clusters):
    rights = ["+" * k + "-" * (24 - k) for k in (24, 22, 20, 12, 7, 5, 1)]
    runs = [marks(f"m{n}", right, clusters=clusters) for n, right in enumerate(rights)]
    outcomes = item_outcomes(runs)
    (whole,), (short,) = (
        rank_models(outcomes, with_pairs=with_pairs).rankings for with_pairs in (True, False)
    )
    assert (len(whole.pairs), short.pairs) == (21, ())
    assert short.models == whole.models
    assert len({model.rank.best for model in short.models}) > 1


def test_several_suites_share_one_table_of_each_kind(tmp_path, capsys):
    for suite in ("it-subject-verb", "it-islands", "es-object-clitic"):
        for model in ("first", "second"):
            scorer = FakeScorer(lambda *_: -1.0, name=model)
            evaluate(suite, scorer, output=tmp_path / "runs", limit=6)
    runs = str(tmp_path / "runs")
    tables = ["--equivalent", "0.2", "-o", str(tmp_path / "tables")]
    assert invoke(["compare", runs, "--details", *tables]) == 0
    out = capsys.readouterr().out
    for title in ("Models by suite", "Every pair of models", "Reliability of the items"):
        assert out.count(title) == 1
    ranked = compare(runs)
    assert repr(ranked).startswith("<Rankings of 2 models on es-object-clitic")
    assert list(ranked.grids()) == ["models", "pairs", "reliability"]
    read = {
        name: [
            *csv.DictReader((tmp_path / "tables" / f"{name}.csv").read_text("utf-8").splitlines())
        ]
        for name in ("models", "equivalence")
    }
    assert {(row["suite"], row["model"][:5]) for row in read["models"]} == {
        (suite, model)
        for suite in ("it-subject-verb", "it-islands", "es-object-clitic")
        for model in ("first", "secon")
    }
    same = read["equivalence"]
    assert [row["suite"] for row in same] == ["es-object-clitic", "it-islands", "it-subject-verb"]
    assert all(row["first"].startswith("first@") for row in same)


def test_places_agree_with_corrected_p():
    # Six items of one suite differ: p 2 / 2^6 = .031 alone, .19 by Holm with five other suites.
    one = [marks("a", "+" * 8, suite="x"), marks("b", "-" * 6 + "++", suite="x")]
    others = [
        marked
        for k in range(5)
        for marked in (marks("a", "+-+-+-+-", suite=f"s{k}"), marks("b", "-+-+-+-+", suite=f"s{k}"))
    ]
    (alone,) = tables(one)
    (first, *_) = tables(one + others)

    assert alone.pairs[0].corrected == pytest.approx(2 / 2**6)
    assert [(model.rank.best, model.rank.worst) for model in alone.models] == [(1, 1), (2, 2)]
    assert first.pairs[0].corrected == pytest.approx(6 * 2 / 2**6)
    assert first.pairs[0].family == 6
    assert [(model.rank.best, model.rank.worst) for model in first.models] == [(1, 2), (1, 2)]


def test_differences_over_suites_are_by_phenomenon():
    # Items that only the second gets right: 1, 2, 1, 3, 1 of 8, on five suites of five phenomena.
    gains = (1, 2, 1, 3, 1)
    before = [marks("a", "----++++", suite=f"s{k}") for k in range(5)]
    after = [
        marks("b", "+" * n + "-" * (4 - n) + "++++", suite=f"s{k}") for k, n in enumerate(gains)
    ]
    *parts, overall = compare(before, after).differences

    assert [part.value for part in parts] == [n / 8 for n in gains]
    assert parts[0].reason == "1 suite: an interval needs 5 or more"
    changes = [n / 8 for n in gains]
    # scipy 1.17: ttest_1samp([1/8, 2/8, 1/8, 3/8, 1/8], 0) has statistic 4, pvalue 0.01613
    assert overall.value == pytest.approx(sum(changes) / 5)
    assert overall.p == pytest.approx(0.01613, abs=5e-6)
    assert overall.low == pytest.approx(0.2 * (1 - stats.t.ppf(0.975, 4) / 4))
    assert (overall.target, overall.n_phenomena) == ("phenomena", 5)
    assert "differences" in compare(before, after).grids()
    assert compare(before[:1], after[:1]).differences == ()
