"""Models beside people: correlations, ceilings, misses, groups, binary answers, agreement."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import UsageError
from cimento.io.values import NoValue
from cimento.paradigms.ratings.estimates import (
    BY_ERRORS,
    BY_HALVES,
    RATING,
    TOKENS,
    agreement_estimates,
    describe_labels,
    describe_ratings,
)
from cimento.paradigms.ratings.people import (
    attentive,
    preference_by_paradigm,
    standardized,
    z_scores,
)
from cimento.records.outcomes import Estimate
from cimento.suites.ratings import (
    ForcedChoice,
    RatedSentence,
    Rating,
)
from cimento.testing import FakeScorer
from tests.helpers.rated import FIVE, judged, rated, sentence

KINDS = ("spearman", "pearson", "kendall")


def agreement_of(sentences):
    """The estimates of agreement among the people who rated some sentences, by statistic."""
    like = Estimate(suite="s", model="m", question=RATING)
    return {estimate.statistic: estimate for estimate in agreement_estimates(sentences, like)}


class TestBeside:
    def test_coefficients_are_scipys(self):
        run = judged(FIVE)
        # LP is minus the number of letters: -2, -5, -8, -2, -11; means 4.5, 4, 2.5, 3.5, 1.
        # python -c "from scipy import stats as s; x=[4.5,4,2.5,3.5,1]; y=[-2,-5,-8,-2,-11];
        #   print(s.spearmanr(x,y)[0], s.pearsonr(x,y)[0], s.kendalltau(x,y)[0])"
        assert [run.find("lp", kind).value for kind in KINDS] == pytest.approx(
            [0.8207826816681233, 0.9121034881575903, 0.7378647873726218], abs=1e-12
        )
        assert run.find("lp", "spearman").n == 5

    def test_the_worst_miss_is_named(self):
        misses = judged(FIVE).misses()
        # By people a > b > d > c > e; by the model a = d > b > c > e.
        assert [one.row.sentence.id for one in misses[:2]] == ["d", "b"]
        assert [(one.people, one.model, one.of) for one in misses[:2]] == [(3, 1.5, 5), (2, 3, 5)]
        assert misses[0].gap == pytest.approx((3.5 - 2) / 4)
        assert misses[1].gap == pytest.approx((2 - 3) / 4)

    def test_equal_ratings_or_scores_make_no_misses(self):
        rated_alike = rated(*(sentence(str(n), "a" * n, 4) for n in range(1, 5)))
        scored_alike = rated(*(sentence(str(n), "abc", n) for n in range(1, 5)))
        for suite, reason in ((rated_alike, "all ratings"), (scored_alike, "all scores")):
            run = judged(suite)
            assert run.misses() == []
            assert run.find("lp", "spearman").reason == f"{reason} are equal"

    def test_measures_that_should_be_low_are_turned(self):
        run = judged(FIVE, "surprisal-bits")
        spearman = run.find("surprisal-bits", "spearman")
        assert spearman.value == pytest.approx(-0.8207826816681233, abs=1e-12)
        assert spearman.description.endswith("the lower the better")
        assert run.misses()[0].row.sentence.id == "d"

    def test_length_that_explains_all_leaves_nothing(self):
        words = rated(*(sentence(str(n), " ".join("a" * n), 5 - n / 2) for n in range(1, 8)))
        partial = judged(words).find("lp", "partial spearman")
        assert partial.description == "Spearman with length in words held constant"
        assert partial.value is None
        assert partial.reason

    @pytest.mark.parametrize(
        ("some", "reason"),
        [
            (rated(sentence("a", "Sì", 5), sentence("b", "No", 4)), "fewer than three"),
            (rated(*(sentence(n, "x" * len(n), 3) for n in ("a", "bb", "ccc"))), "ratings are eq"),
            (rated(*(sentence(n, "Sì", i) for i, n in enumerate("abc", 1))), "scores are equal"),
        ],
    )
    def test_what_is_undefined_is_null_with_its_reason(self, some, reason):
        estimates = [judged(some).find("lp", kind) for kind in KINDS]
        assert [estimate.value for estimate in estimates] == [None] * 3
        assert reason in estimates[0].reason
        assert estimates[0].p is None
        assert estimates[0].p_method

    def test_without_ratings_there_is_no_correlation_and_a_warning(self):
        run = judged(rated(RatedSentence(id="a", text="Sì")))
        assert not run.measured("spearman")
        assert run.n_rated == 0

    def test_pairs_are_left_out_together(self):
        """Eight pairs whose two sentences have nearly equal ratings and scores: n is 8, not 16."""
        pairs, alone = (
            rated(
                *(
                    sentence(
                        f"{n}{half}",
                        "x" * (2 * (3, 1, 4, 2, 8, 5, 6, 7)[n - 1] + half),
                        1 + n / 3 + half / 10,
                        pair=str(n) if paired else "",
                        label=("acceptable", "unacceptable")[half],
                    )
                    for n in range(1, 9)
                    for half in (0, 1)
                )
            )
            for paired in (True, False)
        )
        estimate, other = (judged(some).find("lp", "spearman") for some in (pairs, alone))
        assert "clusters" in estimate.interval_method
        assert "clusters" in estimate.p_method
        assert estimate.low < other.low
        assert estimate.p > other.p

    def test_no_interval_and_no_p_from_four_pairs(self):
        pairs = rated(
            *(
                sentence(f"{n}{label[0]}", "x" * (n + shift), 5 - shift, pair=str(n), label=label)
                for n in range(1, 5)
                for label, shift in (("acceptable", 0), ("unacceptable", 3))
            )
        )
        estimate = judged(pairs).find("lp", "spearman")
        assert (estimate.low, estimate.p) == (None, None)
        assert estimate.p_method == "4 clusters: an interval needs 5 or more"

    def test_measures_are_one_family(self):
        nine = rated(*(sentence(str(n), "x" * n, 1 + n * 7 % 5) for n in range(1, 10)))
        estimates = judged(nine, "lp", "meanlp", "penlp").measured("spearman")
        smallest = min(estimates, key=lambda estimate: estimate.p)
        assert smallest.p_corrected == pytest.approx(min(1, 3 * smallest.p))
        assert smallest.p_method.endswith("Holm over 3 measures")
        (alone,) = judged(nine).measured("spearman")
        assert alone.p_corrected is None

    def test_the_ceiling_is_one_where_people_agree(self):
        same = rated(*(sentence(str(n), "x" * n, n, n, n, n) for n in range(1, 6)))
        run = judged(same)
        assert run.find(RATING, "noise ceiling", BY_HALVES).value == pytest.approx(1)
        levels = ("nominal", "ordinal", "interval")
        alphas = [run.find(RATING, "Krippendorff's alpha", level).value for level in levels]
        assert alphas == pytest.approx([1, 1, 1])

    def test_published_means_have_a_ceiling_too(self):
        means = [
            RatedSentence(id=str(n), text="x" * n, mean=float(n), sd=2.0, n=4) for n in (1, 3, 5)
        ]
        run = judged(rated(*means))
        assert run.find(RATING, "noise ceiling", BY_HALVES).value is None
        # Errors of 2 / sqrt(4) = 1 against a variance of 4.
        assert run.find(RATING, "noise ceiling", BY_ERRORS).value == pytest.approx(0.75**0.5)

    def test_length_and_frequency_are_held_constant_where_they_are_known(self, tmp_path):
        from scipy import stats

        texts = ["a b", "b c a", "c", "a a b c", "c c", "b"]
        some = rated(*(sentence(str(n), text, n % 5 + 1) for n, text in enumerate(texts)))
        counts = {"a": 8, "b": 4, "c": 1}
        path = tmp_path / "counts.tsv"
        path.write_text("".join(f"{w}\t{c}\n" for w, c in counts.items()), encoding="utf-8")
        odd = FakeScorer(lambda tokens, index: -((index * 7 + len(tokens)) % 5) - 1.0)
        run = judged(some, "meanlp", model=odd, unigrams=str(path), draws=0)
        partial = run.find("meanlp", "partial spearman")
        assert "length in words and mean log frequency" in partial.description
        # Residuals of ranks on ranks, by numpy's least squares.
        words = [text.split() for text in texts]
        covariates = [
            stats.rankdata([len(word) for word in words]),
            stats.rankdata([np.mean([np.log(counts[w] / 13) for w in word]) for word in words]),
        ]
        table = np.column_stack([np.ones(6), *covariates])
        scores = [np.mean([-((i * 7 + len(w)) % 5) - 1.0 for i in range(len(w))]) for w in words]
        left = [
            ranks - table @ np.linalg.lstsq(table, ranks, rcond=None)[0]
            for ranks in map(stats.rankdata, ([n % 5 + 1 for n in range(6)], scores))
        ]
        assert partial.value == pytest.approx(stats.pearsonr(*left)[0], abs=1e-9)


class TestGroups:
    SOME = (
        sentence("a", "A", 5, 3, label="acceptable", pair="1", grammatical=True),
        sentence("b", "B", 2, 2, label="unacceptable", pair="1", grammatical=True),
        sentence("c", "C", 4, 4, label="acceptable", pair="2", grammatical=True),
        sentence("d", "D", 1, 1, label="unacceptable", pair="2", grammatical=False),
    )

    def test_groups_share_nothing_and_are_given_together_too(self):
        names = {label.name: label for label in describe_labels(self.SOME)}
        assert names["unacceptable, grammatical"].mean == 2
        assert names["unacceptable, ungrammatical"].mean == 1
        assert names["unacceptable"].mean == 1.5
        assert names["unacceptable"].n == 2
        assert names["acceptable"].sd == 0
        # The mean of sqrt(2) (of 5 and 3) and 0 (of 4 and 4).
        assert names["acceptable"].sd_within == pytest.approx(math.sqrt(2) / 2)

    def test_what_is_undefined_has_its_reason(self):
        description = describe_ratings("one", [self.SOME[0]])
        assert description.sd is None
        assert description.reasons["sd"]
        empty = describe_ratings("none", [RatedSentence(id="x", text="X")])
        assert (empty.n, empty.without, empty.mean) == (0, 1, None)
        assert empty.reasons["mean"]

    def test_perplexities_by_label_with_their_tokens(self):
        run = judged(rated(*self.SOME))
        means = [
            estimate.value
            for estimate in run.estimates
            if (estimate.question, estimate.group, estimate.statistic) == ("ppl", "label", "mean")
        ]
        # One token of one letter: exp(1) for every sentence.
        assert means == pytest.approx([math.e] * 4)
        assert sum(run.values.columns[TOKENS].values()) == 4
        assert run.first_token.startswith("every token has a left context")

    def test_accuracies_by_replacement_and_grammaticality(self):
        columns = {"connective": "e", "replacement": "ma"}
        first = rated(
            sentence("a", "Lo", 5, label="acceptable", pair="1", columns=columns),
            sentence(
                "b", "Loro", 2, label="unacceptable", pair="1", grammatical=False, columns=columns
            ),
            sentence("c", "Esse", 5, label="acceptable", pair="2", columns=columns),
            sentence(
                "d", "Io", 2, label="unacceptable", pair="2", grammatical=True, columns=columns
            ),
        )
        by_group = {
            (estimate.group, estimate.level): estimate for estimate in judged(first).estimates
        }
        assert by_group["connective", "e"].value == 0.5
        assert by_group["grammaticality", "no"].value == 1
        assert by_group["grammaticality", "yes"].value == 0
        assert by_group["replacement", "ma"].n == 2


class TestBinary:
    LABELS = ("unacceptable", "unacceptable", "acceptable", "acceptable", "acceptable")

    def binary(self, texts, labels):
        run = judged(
            rated(
                *(
                    sentence(str(n), text, label=label)
                    for n, (text, label) in enumerate(zip(texts, labels, strict=True))
                )
            )
        )
        return [run.find("lp", name) for name in ("AUC", "MCC", "MCC in sample")]

    def test_a_clean_division(self):
        area, _, in_sample = self.binary(("aaaaa", "aaaa", "aaa", "aa", "a"), self.LABELS)
        assert (area.n, area.value, in_sample.value) == (5, 1, 1)

    def test_one_class_has_no_mcc(self):
        estimates = self.binary(("aaa", "aa", "a"), ["acceptable"] * 3)
        assert [estimate.value for estimate in estimates] == [None] * 3
        assert all(estimate.reason for estimate in estimates)

    def test_auc_is_scipys(self):
        labels = ["acceptable" if n % 2 == 0 else "unacceptable" for n in range(6)]
        area, *_ = self.binary(["a" * n for n in (3, 5, 4, 4, 1, 2)], labels)
        # python -c "from scipy import stats as s; print(s.mannwhitneyu([3,2,5],[1,2,4])[0] / 9)"
        assert area.value == pytest.approx(0.7222222222222222)


class TestPeople:
    SOME = (
        RatedSentence(id="a", text="A", ratings=(Rating(1, "p"), Rating(2, "q"), Rating(3, "r"))),
        RatedSentence(id="b", text="B", ratings=(Rating(3, "p"), Rating(4, "q"), Rating(3, "r"))),
        RatedSentence(id="f", text="F", ratings=(Rating(5, "p"), Rating(3, "q"), Rating(3, "r"))),
    )

    def test_z_scores_with_both_divisors(self):
        scores = z_scores(self.SOME)
        assert scores["a"]["p"] == -1
        assert scores["f"]["p"] == 1
        # Of 1, 3 and 5 with n below: sqrt(8 / 3).
        assert z_scores(self.SOME, ddof=0)["a"]["p"] == pytest.approx(-2 / math.sqrt(8 / 3))
        assert isinstance(scores["a"]["r"], NoValue)

    def test_fillers_may_be_left_out_of_the_mean(self):
        scores = z_scores(self.SOME, base={"a", "b"})
        # Of 1 and 3: mean 2, standard deviation sqrt(2).
        assert scores["f"]["p"] == pytest.approx(3 / math.sqrt(2))

    @given(st.lists(st.integers(1, 7), min_size=3, max_size=12).filter(lambda v: len(set(v)) > 1))
    @settings(deadline=None)
    def test_z_scores_of_one_person_have_mean_0_and_deviation_1(self, values):
        some = [
            RatedSentence(id=str(n), text="x", ratings=(Rating(value, "p"),))
            for n, value in enumerate(values)
        ]
        scores = [score["p"] for score in z_scores(some).values()]
        assert sum(scores) == pytest.approx(0, abs=1e-9)
        assert sum(score**2 for score in scores) == pytest.approx(len(values) - 1)

    def test_mean_z_scores_take_the_place_of_ratings(self):
        sentences = standardized(self.SOME)
        # Of b: 0 by p (its middle), 1 by q (2, 4, 3); r has no z-score.
        assert [sentence.mean for sentence in sentences] == pytest.approx([-1, 0.5, 0.5])
        with pytest.raises(UsageError, match="no rating has a z-score"):
            standardized([sentence("a", "A", 1, 2)])

    def test_unnamed_ratings_have_no_kappa_but_an_alpha(self):
        by_name = agreement_of([sentence("a", "A", 1, 2), sentence("b", "B", 4, 5)])
        kappa, with_rest = by_name["mean Cohen's kappa"], by_name["mean correlation with the rest"]
        assert kappa.value is None
        assert "no two people" in kappa.reason
        assert with_rest.value is None
        assert "nobody shares" in with_rest.reason
        assert by_name["Krippendorff's alpha"].value is not None

    def test_weighted_kappa_of_people_who_share_enough(self):
        scores = [(n % 5 + 1, (n + n % 2) % 5 + 1) for n in range(12)]
        some = [
            RatedSentence(id=str(n), text="x", ratings=(Rating(a, "p"), Rating(b, "q")))
            for n, (a, b) in enumerate(scores)
        ]
        kappa = agreement_of(some)["mean Cohen's kappa"]
        # By hand from the 5 x 5 table: 1 - (sum of squared differences) / (their expectation,
        # the mean over all 144 combinations of one rating of each, times 12).
        first, second = zip(*scores, strict=True)
        observed = sum((a - b) ** 2 for a, b in scores)
        expected = sum((a - b) ** 2 for a in first for b in second) / 12
        assert kappa.value == pytest.approx(1 - observed / expected)
        assert kappa.n == 1

    def test_sheets_that_fail_a_check_of_attention_are_left_out(self):
        def choice(sheet, good, chose, *, check=False):
            return ForcedChoice(
                sheet=sheet, annotator=sheet, paradigm="p", good=good, bad="no",
                chose_good={"+": True, "-": False}.get(chose), attention=check,
            )  # fmt: skip

        choices = [
            choice("1", "x", "+"),
            choice("1", "check", "+", check=True),
            choice("2", "x", "-"),
            choice("2", "check", "-", check=True),
            choice("3", "x", "-"),
            choice("3", "y", None),
        ]
        kept = attentive(choices)
        assert [choice.sheet for choice in kept] == ["1", "3", "3"]
        assert preference_by_paradigm(kept) == {"p": 0.5}


@pytest.mark.golden
def test_published_z_scores_are_those_with_fillers_and_n_minus_1(shared):
    """Sprouse et al. 2016: by participant and experiment, over all trials."""
    path = shared / "data" / "islands" / "english" / "sprouse2016_en_ratings.csv"
    rows = pl.read_csv(path).iter_rows(named=True)
    trials = [
        (str(n), f"{row['participant']}-{row['experiment']}", row) for n, row in enumerate(rows)
    ]
    sentences = [
        RatedSentence(id=name, text=row["item"], ratings=(Rating(row["judgment"], person),))
        for name, person, row in trials
        if row["judgment"] is not None
    ]
    published = {name: row["zscore_published"] for name, _, row in trials}
    # 10,560 trials, 12 of them without an answer: awk -F, '$12==""' FILE | wc -l
    assert len(sentences) == 10_548

    def farthest(**options: object) -> float:
        by_sentence = z_scores(sentences, **options)
        return max(
            abs(value - published[name])
            for name, scores in by_sentence.items()
            for value in scores.values()
            if not isinstance(value, NoValue) and published[name] is not None
        )

    assert farthest() < 1e-9
    assert farthest(ddof=0) > 1e-3
    fillers = {name for name, _, row in trials if row["condition"] == "filler"}
    assert farthest(base={sentence.id for sentence in sentences} - fillers) > 1e-3
