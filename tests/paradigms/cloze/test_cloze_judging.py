"""Judging what was put into blanks: every expected number here was counted by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError, open_morphology
from cimento.paired.pairwise import compare_pair, corrected
from cimento.paradigms.cloze import shares
from cimento.paradigms.cloze.judgments import (
    compare_judgments,
    dictionary_readings,
    expectations,
    judge_expected,
    parse_expectation,
    reuse_judgments,
)
from cimento.paradigms.cloze.requests import Candidate, by_item, check_candidates
from cimento.paradigms.cloze.shares import calibration, clustering, confidence, precision_interval
from cimento.paradigms.cloze.text import hit_outcomes
from cimento.statistics.differences import cochran_q
from cimento.statistics.intervals import wilson
from cimento.suites.cloze import ClozeItem, Option


def judged(item: str, fits: str, **more) -> list[Candidate]:
    """Candidates of an item: ``s`` fits, ``n`` does not, ``-`` was not judged."""
    values = {"s": True, "n": False, "-": None}
    return [
        Candidate(item, rank, f"{item}{rank}", fits=values[sign], **more)
        for rank, sign in enumerate(fits, start=1)
    ]


class TestCandidates:
    def test_all_is_well(self):
        assert check_candidates(judged("a", "sn"), items=["a"], k=2) == ()

    def test_two_of_one_rank_are_refused(self):
        twice = [Candidate("a", 1, "x"), Candidate("a", 2, "y"), Candidate("a", 2, "z")]
        with pytest.raises(InputError, match="item 'a': two candidates have rank 2"):
            check_candidates(twice)

    def test_ranks_begin_at_1(self):
        with pytest.raises(InputError, match="a rank is 0"):
            check_candidates([Candidate("a", 0, "x")])

    def test_a_candidate_of_another_suite_is_refused(self):
        with pytest.raises(InputError, match="there is no item 'b'"):
            check_candidates(judged("b", "s"), items=["a"])

    def test_what_is_missing_is_counted(self):
        some = [*judged("a", "s-n"), *judged("b", "s")]
        assert check_candidates(some, items=["a", "b", "c"], k=3) == (
            "1 item without candidates; the first is 'c'.",
            "1 item with fewer than 3 candidates; the first is 'b' with 1.",
            (
                "1 candidate of 4 not judged, and left out of every share; the first is 'a2' "
                "(item 'a', rank 2)."
            ),
        )

    def test_where_nobody_has_judged_nothing_is_left_out(self):
        assert check_candidates(judged("a", "--")) == ()

    def test_candidates_of_an_item_stand_by_rank(self):
        first, second = judged("a", "sn")
        assert by_item([second, first]) == {"a": [first, second]}


class TestPrecision:
    CANDIDATES = (*judged("a", "snn-"), *judged("b", "ssn"), *judged("c", "n"))

    def test_micro_pools_and_leaves_out_what_was_not_judged(self):
        share = shares.micro(self.CANDIDATES)
        assert (share.correct, share.n, share.percent) == (3, 7, 42.86)

    def test_at_1(self):
        share = shares.micro(shares.among_top(self.CANDIDATES, 1))
        assert (share.correct, share.n) == (2, 3)

    def test_macro_is_the_mean_of_shares(self):
        groups = by_item(self.CANDIDATES).values()
        mean = shares.macro(map(shares.micro, groups))
        assert mean.groups == 3
        assert mean.exact == Fraction(1, 3) * (Fraction(1, 3) + Fraction(2, 3) + 0)
        assert mean.percent == 33.33

    def test_groups_without_judgments_do_not_count(self):
        mean = shares.macro([shares.Share(0, 0), shares.Share(1, 2)])
        assert (mean.groups, mean.value) == (1, 0.5)

    def test_nothing_judged_is_undefined(self):
        assert shares.micro(judged("a", "--")).value is None
        assert shares.macro([]).percent is None

    @pytest.mark.parametrize(
        ("share", "expected"),
        # 1/32 = 3.125%, 3/32 = 9.375%: ties at the third decimal, which go up.
        [(Fraction(1, 32), 3.13), (Fraction(3, 32), 9.38), (Fraction(1, 3), 33.33), (1, 100.0)],
    )
    def test_percentages_are_rounded_half_up(self, share, expected):
        assert shares.exact_percent(Fraction(share)) == expected

    def test_what_fits_and_is_not_asked_for(self):
        some = [
            Candidate("a", 1, "hoje", 0.7, fits=True, remarks=("no verb",)),
            Candidate("a", 2, "vai", 0.2, fits=True),
            Candidate("a", 3, "aí", 0.05, fits=True, remarks=("small initial", "no verb")),
            Candidate("a", 4, "x", 0.9, fits=False, remarks=("no verb",)),
            Candidate("a", 5, "y", 0.9, remarks=("no verb",)),
        ]
        not_expected = shares.not_expected(some, remarks=["no verb"])
        assert (not_expected.of_judged.correct, not_expected.of_judged.n) == (2, 4)
        assert (not_expected.of_fitting.correct, not_expected.of_fitting.n) == (2, 3)
        assert not_expected.above == 1


ITEMS = tuple(
    ClozeItem(f"{name}/{word}", "", "", (Option(target),), columns={"e": name, "w": word})
    for name, word, target in (
        ("pé frio", "W1", "pé"),
        ("pé frio", "W2", "frio"),
        ("nó cego", "W1", "nó"),
        ("nó cego", "W2", "cego"),
    )
)


def pairs_of(models, clusters=None):
    """Every pair of models, compared by what they hit at 1."""
    outcomes = hit_outcomes("s", models, 1, clusters or {})
    return corrected([compare_pair(*pair) for pair in combinations(outcomes, 2)], "holm")


def together(models, clusters=None):
    """All models at once."""
    outcomes = hit_outcomes("s", models, 1, clusters or {})
    rows = list(zip(*(one.right.values() for one in outcomes), strict=True))
    return cochran_q(rows, outcomes[0].design(list(outcomes[0].right)), seed=0)


def answers(*texts: str) -> list[Candidate]:
    return [
        Candidate(item.id, rank, text)
        for item, line in zip(ITEMS, texts, strict=True)
        for rank, text in enumerate(line.split(), start=1)
    ]


BASE = shares.hit_ranks(ITEMS, answers("mão Pé dor", "frio quente x", "no fio x", "surdo ##cego x"))
LARGE = shares.hit_ranks(ITEMS, answers("pé mão dor", "quente x frio", "fio x nó", "a b c"))


class TestHits:
    def test_the_rank_of_the_first_hit_capitals_aside(self):
        assert list(BASE.values()) == [2, 1, None, None]
        assert list(LARGE.values()) == [1, 3, 3, None]

    def test_accuracy_and_curve(self):
        assert [share.correct for share in shares.curve(BASE, 3)] == [1, 2, 2]
        assert [share.correct for share in shares.curve(LARGE, 3)] == [1, 1, 3]
        assert shares.accuracy_at(LARGE, 3).percent == 75.0

    @given(st.lists(st.one_of(st.none(), st.integers(1, 12)), min_size=1, max_size=20))
    @settings(deadline=None)
    def test_a_curve_never_falls(self, ranks):
        curve = shares.curve({str(number): rank for number, rank in enumerate(ranks)}, 10)
        assert sorted(share.correct for share in curve) == [share.correct for share in curve]

    def test_any_spelling_of_a_target_is_a_hit(self):
        item = ClozeItem("1", "", "", (Option("e", "target", ("ed",)), Option("o", "plausible")))
        assert shares.hit_ranks([item], [Candidate("1", 1, "o"), Candidate("1", 2, "Ed")]) == {
            "1": 2
        }

    def test_an_item_without_candidates_is_not_hit(self):
        assert shares.hit_ranks(ITEMS[:1], []) == {"pé frio/W1": None}

    def test_an_item_without_target_is_refused(self):
        with pytest.raises(UsageError, match="item '1': it has no target"):
            shares.hit_ranks([ClozeItem("1", "", "")], [])

    def test_by_word_position(self):
        groups = shares.ranks_by_key(BASE, {item.id: item.columns["w"] for item in ITEMS})
        assert {word: shares.accuracy_at(ranks, 3).correct for word, ranks in groups.items()} == {
            "W1": 1,
            "W2": 1,
        }

    def test_hit_by_one_and_not_by_the_other(self):
        assert shares.hit_by_only(BASE, LARGE, 1) == ("pé frio/W2",)
        assert shares.hit_by_only(LARGE, BASE, 1) == ("pé frio/W1",)
        assert shares.hit_by_only(LARGE, BASE, 3) == ("nó cego/W1",)

    def test_expressions_better_in_one_and_hit_by_none(self):
        key = {item.id: item.columns["e"] for item in ITEMS}
        assert shares.groups_better(LARGE, BASE, key, 3) == ("nó cego",)
        assert shares.groups_better(LARGE, BASE, key, 1) == ()
        assert shares.groups_hit_by_none([BASE, LARGE], key, 1) == ("nó cego",)
        assert shares.groups_hit_by_none([BASE, LARGE], key, 3) == ()

    def test_pairs_of_models_with_holm(self):
        """18 discordant items, 14 to 4: p from scipy.stats.binomtest(4, 18)."""
        first = {str(n): 1 if n < 4 else None for n in range(30)}
        second = {str(n): 1 if 4 <= n < 18 else None for n in range(30)}
        third = dict.fromkeys(first)
        one, *others = pairs_of({"a": first, "b": second, "c": third})
        counted = one.first, one.second, len(one.lost), len(one.gained), one.n
        assert counted == ("a", "b", 4, 14, 30)
        assert one.test.p == pytest.approx(0.0308837890625)
        assert one.test.method == "McNemar, exact binomial"
        assert one.change.estimate == pytest.approx(10 / 30)
        # a and c 4 to 0, p = .125; b and c 14 to 0, p = 2/2**14; Holm multiplies by 1, 3.
        assert [other.corrected for other in others] == pytest.approx([0.125, 3 / 2**13])
        assert one.corrected == pytest.approx(2 * 0.0308837890625)
        (alone,) = pairs_of({"a": first, "b": second})
        assert alone.test.p == alone.corrected == one.test.p

    def test_items_of_one_sentence_are_not_independent(self):
        """24 of 30 items gained, all in 4 of 5 clusters: McNemar's test would say p = 1e-7."""
        first = {str(n): None for n in range(30)}
        second = {str(n): 1 if n < 24 else None for n in range(30)}
        clusters = {str(n): n // 6 for n in range(30)}
        (comparison,) = pairs_of({"a": first, "b": second}, clusters)
        assert comparison.test.method == "Bonett-Price at the effective number of items"
        # CR2: .2 * .8 / 4 = .04, over .16 / 29 a design effect of 7.25: 4.138 items tell as much.
        # (.8 * 4.138 + 1) / 6.138 - 1 / 6.138 = .5393, error .3059; at scipy's quantiles of
        # p = .14149 sqrt(1 / (.862 / 1.8284**2 + .138 / 1.4702**2)) is 1.763, too.
        # McNemar's exact test of 4 clusters to 0 has .125.
        assert comparison.test.p == pytest.approx(0.14149, abs=1e-5)
        few = {str(n): n // 15 for n in range(30)}
        (none,) = pairs_of({"a": first, "b": second}, few)
        assert (none.test.p, none.change.low) == (None, None)
        assert none.test.reason == "2 clusters: an interval needs 5 or more"
        third = {str(n): 1 if n < 12 else None for n in range(30)}
        models = {"a": first, "b": second, "c": third}
        assert "clusters" in together(models, clusters).method

    def test_all_models_at_once(self):
        """Cochran's Q of hits 1100, 1010, 0000 over four items: (2)(3(4+4)-16)/(3*4-(4+1+1))."""
        models = {
            name: {str(number): 1 if sign == "1" else None for number, sign in enumerate(signs)}
            for name, signs in (("a", "1100"), ("b", "1010"), ("c", "0000"))
        }
        assert together(models).statistic == pytest.approx(16 / 6)

    def test_models_with_other_items_are_not_compared(self):
        with pytest.raises(UsageError, match="did not answer the same items"):
            pairs_of({"a": {"1": 1}, "b": {"2": 1}})


class TestConfidence:
    CANDIDATES = (
        Candidate("a", 1, "x", 0.6, fits=False),
        Candidate("a", 2, "y", 0.3, fits=True),
        Candidate("b", 1, "x", 0.5, fits=True),
        Candidate("b", 2, "y", 0.1, fits=False),
        Candidate("b", 3, "z", 0.05),
        Candidate("c", 1, "z", None, fits=False),
    )

    def test_means_and_counts(self):
        means = confidence(self.CANDIDATES)
        assert means.fitting.value == pytest.approx(0.4)
        assert means.unfitting.value == pytest.approx(0.35)
        # Of the four pairs of a fitting and an unfitting one, (.3, .1) and (.5, .1) are in order.
        assert means.auc.value == 0.5
        assert (means.wrong_first, means.wrong_above, means.without_probability) == (2, 1, 1)

    def test_nothing_of_a_kind_is_undefined(self):
        means = confidence([Candidate("a", 1, "x", 0.6, fits=True)])
        assert means.unfitting.value is None
        assert means.unfitting.reason
        assert means.auc.value is None

    def test_the_curve(self):
        curve = calibration(self.CANDIDATES, bins=2)
        assert [(part.n, part.accuracy) for part in curve.bins] == [(3, 2 / 3), (1, 0.0)]
        # |2/3 - .3| * 3/4 + |0 - .6| * 1/4
        assert curve.ece == pytest.approx(0.425)


class TestClusters:
    def test_they_are_counted(self):
        sizes = clustering(["a", "a", "a", "b"])
        assert (sizes.items, sizes.clusters, sizes.largest, sizes.in_largest) == (4, 2, "a", 3)
        assert not sizes.independent
        assert clustering(["a", "b"]).independent
        assert clustering([]).items == 0

    def test_no_interval_comes_from_fewer_than_five_clusters(self):
        one = precision_interval(judged("a", "sss"), lambda candidate: candidate.item)
        assert (one.low, one.reason) == (None, "1 cluster: an interval needs 5 or more")

    def test_an_interval_of_clusters_is_that_of_as_many_observations(self):
        candidates = [candidate for item in "abcdef" for candidate in judged(item, "sss")]
        interval = precision_interval(candidates, lambda candidate: candidate.item)
        assert interval.low == pytest.approx(wilson(1.0, 6)[0])


class TestExpected:
    FEMININE = "ADJ Gender=Fem|Number=Plur or VERB VerbForm=Part|Gender=Fem|Number=Plur"

    def readings(self, word: str):
        return dictionary_readings(open_morphology("rules:pt"))(Candidate("a", 1, word))

    @pytest.mark.parametrize(
        ("word", "fits"),
        [("cansadas", True), ("cansados", False), ("##adas", False), (",", False), ("", False)],
    )
    def test_candidates_are_judged_by_their_readings(self, word, fits):
        wanted = {"a": parse_expectation(self.FEMININE)}
        readings = dictionary_readings(open_morphology("rules:pt"))
        (candidate,) = judge_expected([Candidate("a", 1, word)], wanted, readings)
        assert candidate.fits is fits

    def test_punctuation_is_read_as_such(self):
        assert parse_expectation("PUNCT").met_by(self.readings("«"))
        assert not parse_expectation("PUNCT").met_by(self.readings("##»"))

    def test_one_reading_that_is_none_of_these_is_enough(self):
        expectation = parse_expectation("not VERB or NOUN")
        verb, other = self.readings(","), self.readings("cansadas")
        assert expectation.met_by(verb)
        assert expectation.met_by([*other, *verb])
        assert not expectation.met_by([])

    def test_an_item_without_expectation_stays_without_judgment(self):
        (candidate,) = judge_expected([Candidate("b", 1, "x", fits=True)], {}, lambda _: [])
        assert candidate.fits is None

    def test_columns_are_put_in(self):
        columns = {"a": {"expected": "ADJ Gender={g}", "g": "Fem"}, "b": {"g": "Fem"}}
        assert expectations(columns) == {"a": parse_expectation("ADJ Gender=Fem")}

    def test_a_column_that_is_not_there(self):
        with pytest.raises(InputError, match="item 'a'"):
            expectations({"a": {"expected": "ADJ Gender={g}"}})

    @pytest.mark.parametrize("text", ["Gender=Fem", "adj", "ADJ Gender", "ADJ or ", ""])
    def test_what_cannot_be_read_is_refused(self, text):
        with pytest.raises(InputError, match="expectation"):
            parse_expectation(text)

    def test_agreement_with_a_person(self):
        """Both 2, rule alone 1, person alone 1, neither 1: kappa = (.6 - .52) / (1 - .52)."""
        rule, person = judged("a", "sssnn-s"), judged("a", "ssnsns-")
        table = compare_judgments(rule, person)
        assert (table.both, table.rule_only, table.person_only, table.neither) == (2, 1, 1, 1)
        assert table.agreement.percent == 60.0
        assert table.kappa.value == pytest.approx(1 / 6)
        assert (table.kappa.low, bool(table.kappa.reason)) == (None, True)


class TestReuse:
    def test_only_new_candidates_are_left(self):
        earlier = [
            Candidate("a", 1, "x", fits=True, remarks=("odd",)),
            Candidate("a", 2, "y", fits=False),
            Candidate("a", 9, "y", fits=True),
            Candidate("b", 1, "z", fits=True),
        ]
        asked = [Candidate("a", rank, text, 0.1) for rank, text in enumerate("yxzX", start=1)]
        reuse = reuse_judgments([*asked, Candidate("b", 1, "z", fits=False)], earlier)
        assert [candidate.fits for candidate in reuse.candidates] == [None, True, None, None, False]
        assert reuse.candidates[1] == Candidate("a", 2, "x", 0.1, fits=True, remarks=("odd",))
        assert reuse.taken == 1
        assert [candidate.text for candidate in reuse.new] == ["y", "z", "X"]
