"""What a page says first follows from intervals and tests, and from nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import cimento
from cimento import evaluate, report
from cimento.documents.findings import _twins, findings_of
from cimento.records.effects import DesignEffect
from cimento.records.outcomes import ConstantAnswer, Estimate
from cimento.report.findings import Headline, findings, findings_as_markdown
from cimento.report.findings_designs import DesignResult, Designs
from cimento.report.findings_pairs import PairTest
from cimento.suites.ratings import rated_of
from cimento.testing import FakeScorer
from cimento.testing.models import uniform_scorer
from tests.helpers.rated import LENGTHS, judged, rated, sentence

SHARE = {"question": "number", "near_tied": 0, "chance": 0.5}


def share(model, suite, right, n, low, high, constant=None, **more):
    """A headline that is a proportion of items, some of which belong together.

    The ends of its interval are given by hand; of independent items an exact test is asked too.
    """
    settings = {
        **SHARE,
        "clustered": True,
        "value": right / n if n else None,
        "low": low,
        "high": high,
        **more,
    }
    estimate = Estimate(suite=suite, model=model, role="headline", right=right, n=n, **settings)
    return Headline(model, estimate, constant)


def rho(model, suite, value, low, high):
    estimate = Estimate(
        suite=suite, model=model, question="lp", statistic="spearman", role="headline",
        value=value, low=low, high=high, n=50, chance=0.0,
    )  # fmt: skip
    return Headline(model, estimate)


def said(*headlines, tests=(), leaders=None):
    return [list(part.sentences) for part in findings(headlines, tests, leaders).parts]


def test_one_model_on_one_suite_has_its_count_its_interval_and_its_level_of_chance():
    whole = findings([share("a", "s", 21, 24, 0.690, 0.957)])
    [part] = whole.parts
    assert (part.about, part.where) == ("Accuracy", "s")
    assert part.sentences == (
        "a gets 21 of 24 items right (0.875 [0.690, 0.957]), above chance (0.500).",
    )
    assert whole.notes == ("Above and below mean that the whole 95% interval is.",)


@pytest.mark.parametrize(
    ("low", "high", "relation"),
    [
        (0.501, 0.9, "above chance (0.500)"),
        (0.5, 0.9, "which is not distinguishable from chance (0.500)"),
        (0.1, 0.5, "which is not distinguishable from chance (0.500)"),
        (0.1, 0.499, "below chance (0.500), the opposite of what is expected"),
    ],
)
def test_an_interval_that_touches_the_level_of_chance_is_neither_above_nor_below(
    low, high, relation
):
    [[sentence]] = said(share("a", "s", 3, 4, low, high))
    assert sentence.endswith(f"), {relation}.")


def test_a_rate_that_a_constant_answer_reaches_is_not_called_above_chance():
    always = ConstantAnswer(name="always false", value=2 / 3)
    story = {"question": "story_class", "near_tied": None}
    [[one]] = said(share("a", "es-stories", 40, 60, 0.541, 0.773, always, **story))
    assert one == (
        "a gets 40 of 60 items right (0.667 [0.541, 0.773]), which is not distinguishable"
        " from the best constant answer (always false, 0.667)."
    )
    [[two]] = said(
        share("a", "es-stories", 40, 60, 0.541, 0.773, always, **story),
        share("a", "it-stories", 60, 180, 0.269, 0.405, always, **story),
    )
    assert two == (
        "a is not above the best constant answer (always false, 0.667) on any of 2 suites, is below"
        " it on it-stories, the opposite of what is expected, and is not distinguishable from it"
        " on es-stories."
    )


def test_models_that_show_the_same_share_a_sentence():
    both = [
        share(model, suite, right, 24, low, 0.99)
        for model, right, low in (("a", 23, 0.8), ("b", 20, 0.6))
        for suite in ("s", "t")
    ]
    [[one]] = said(*both)
    assert one == (
        "a and b are above chance (0.500) on both suites (a 0.958, b 0.833; the lowest"
        " interval begins at 0.600)."
    )
    [[_, second]] = said(*both[:3])
    assert second == "b is above chance (0.500) on s (0.833, the lowest interval begins at 0.600)."
    open_ended = [share(*("a" if k < 2 else "b", "st"[k % 2], k, 9, 0.1, 0.4), chance=None)
                  for k in range(4)]  # fmt: skip
    assert said(*open_ended)[0][1] == (
        "a reaches 0.000 to 0.111 and b reaches 0.222 to 0.333 (the highest interval"
        " ends at 0.400)."
    )


def test_what_is_undefined_is_said_with_its_reason():
    few = "2 values: an interval needs 5 or more"
    [[bare]] = said(share("a", "s", 2, 2, None, None, reason=few))
    assert (
        bare == f"a gets 2 of 2 items right (1.000); without an interval ({few}), nothing follows."
    )
    [[none]] = said(share("a", "s", 0, 0, None, None, reason="no value"))
    assert none == "a has no value (no value)."
    [[some]] = said(share("a", "s", 2, 2, None, None, reason=few), share("a", "t", 9, 9, 0.7, 1.0))
    assert some == (
        "a is above chance (0.500) on t (1.000, the lowest interval begins at 0.700) and has no"
        " interval on s (fewer than 5 items)."
    )
    no_chance = {"question": "hit@1", "near_tied": None, "chance": None, "chance_method": "open"}
    [open_ended] = said(share("a", "s", 3, 270, 0.001, 0.194, **no_chance))
    assert open_ended == [
        "There is no chance level to compare with (open).",
        "a gets 3 of 270 items right (0.011 [0.001, 0.194]).",
    ]


def test_kinds_of_numbers_have_findings_of_their_own_and_correlations_are_compared_with_zero():
    whole = findings(
        [
            share("a", "s", 20, 24, 0.64, 0.93),
            rho("a", "r", 0.4, 0.1, 0.6),
            rho("b", "r", -0.1, -0.3, 0.1),
        ]
    )
    assert [(part.about, part.where) for part in whole.parts] == [
        ("Accuracy", "s"),
        ("Spearman's rho of lp", "r"),
    ]
    assert whole.parts[0].sentences[1] == "b was not run on it."
    assert whole.parts[1].sentences == (
        "a reaches 0.400 [0.100, 0.600], above 0.",
        "b reaches -0.100 [-0.300, 0.100], which is not distinguishable from 0.",
    )


TWO = [
    share(model, suite, right, 24, low, 0.99)
    for model, right, low in (("a", 23, 0.8), ("b", 12, 0.3))
    for suite in ("s", "t", "u")
]


def test_p_values_of_differences_are_corrected_over_all_that_are_said():
    # Holm by hand: .01 * 3 = .03, .03 * 2 = .06, .5 * 1 -> .5; without it t would be significant.
    tests = [PairTest("s", "b", "a", -0.5, 0.01), PairTest("t", "a", "b", 0.4, 0.03),
             PairTest("u", "a", "b", 0.1, 0.5)]  # fmt: skip
    whole = findings(TWO, tests)
    assert whole.parts[0].sentences[2:] == (
        "a is above b on s (by 0.500, p .030).",
        "a and b do not differ significantly on t, u (lowest: p .060, on t).",
    )
    assert whole.notes[-1].endswith(", p corrected by Holm's method over all 3 tests.")
    alone = findings([one for one in TWO if one.suite == "t"], [tests[1]])
    assert alone.parts[0].sentences[2] == "a is above b (by 0.400, p .030)."
    assert alone.notes[-1] == "Differences: paired tests on the same items."


def test_pairs_that_cannot_be_told_apart_or_tested_are_named():
    [sentences] = said(*TWO, tests=[PairTest(s, "a", "b", 0.1, 0.2) for s in ("s", "t", "u")])
    assert sentences[2] == (
        "a and b do not differ significantly on any of 3 suites (lowest: p .600, on s)."
    )
    [sentences] = said(*TWO, tests=[PairTest("s", "a", "b", 0.1, None)])
    assert sentences[2] == "On s, too few independent items are shared for a test of differences."
    [sentences] = said(*TWO[::3], tests=[PairTest("s", "a", "b", 0.1, 0.2, shared=21)])
    assert sentences[2] == (
        "a and b do not differ significantly (second minus first: -0.100 on 21 shared items,"
        " p .200)."
    )
    three = [share(model, "s", 20, 24, 0.6, 0.9) for model in "abc"]
    tests = [PairTest("s", "a", "b", 0.0, 1.0), PairTest("s", "a", "c", 0.3, 0.001),
             PairTest("s", "b", "c", 0.1, 0.2)]  # fmt: skip
    [sentences] = said(*three, tests=tests)
    assert sentences[3:] == [
        "a is above c (by 0.300, p .003).",
        "The other pairs do not differ significantly (lowest: p .400, b and c).",
    ]


def test_a_difference_has_its_own_p_beside_the_corrected_one():
    # Holm by hand: the larger of two p-values stays, the smaller is doubled.
    beside = [replace(rho(m, "s", v, -0.1, 0.9), beside=True) for m, v in (("a", 0.2), ("b", 0.3))]
    tests = [PairTest("s", "a", "b", 0.05, 0.3), PairTest("s", "a", "b", -0.1, 0.7, beside=True)]
    accuracy, correlation = said(*TWO[::3], *beside, tests=tests)
    size = "second minus first: -0.050, p .300, corrected .600"
    assert accuracy[-1] == f"a and b do not differ significantly ({size})."
    size = "second minus first: +0.100, p .700"
    assert correlation[-1] == f"a and b do not differ significantly ({size})."


def test_pairs_on_several_suites_are_counted_as_comparisons():
    three = [share(model, suite, 20, 24, 0.6, 0.9) for model in "abc" for suite in "st"]
    tests = [PairTest(suite, *pair, 0.1, 0.5) for suite in "st" for pair in ("ab", "ac", "bc")]
    [sentences] = said(*three, tests=tests)
    assert sentences[-1] == (
        "Models do not differ significantly in any of 6 comparisons (lowest: p 1.000, a and"
        " b on s)."
    )


def test_many_models_are_counted():
    ends = [(0.6, 0.9)] * 4 + [(0.3, 0.7)] * 2 + [(0.1, 0.4)]
    many = [share(f"m{k}", "s", k, 7, *pair) for k, pair in enumerate(ends)]
    assert said(*many, leaders={"s": ["m3", "m6"]}) == [[
        (
            "Of 7 models, 4 are above chance (0.500), 1 is below it, and 2 are not distinguishable"
            " from it."
        ),
        "The values go from 0.000 [0.600, 0.900] (m0) to 0.857 [0.100, 0.400] (m6).",
        "2 of 7 models could be first: m3 and m6.",
    ]]  # fmt: skip
    again = [share(f"m{k}", "t", k, 7, 0.6, 0.9) for k in range(7)]
    [sentences] = said(*many, *again, leaders={"s": ["m3"], "t": ["m1", "m2"]})
    assert sentences[0] == (
        "Of 7 models, 4 are above chance (0.500) on every suite, the others on 1 of 2, and 1 of 14"
        " results are below it."
    )
    assert sentences[2] == "m3 is first on s; 2 models could be first on 1 of 2 suites."


ends = st.floats(0, 1, allow_nan=False)


@given(
    low=ends,
    high=ends,
    chance=st.none() | ends,
    constant=st.none() | ends,
    n_models=st.integers(1, 6),
)
def test_above_is_said_only_where_the_interval_excludes_the_baseline(
    low, high, chance, constant, n_models
):
    low, high = sorted((low, high))
    answer = None if constant is None else ConstantAnswer(name="always x", value=constant)
    headlines = [
        share(f"m{k}", "s", 1, 2, low, high, answer, chance=chance) for k in range(n_models)
    ]
    levels = [level for level in (chance, constant) if level is not None]
    baseline = max(levels, default=None)
    whole = " ".join(sentence for part in said(*headlines) for sentence in part)
    says_above = bool(re.search(r"(?<!none is )(?<!not )\babove\b", whole))
    assert says_above == (baseline is not None and low > baseline)
    assert (" below " in whole) == (baseline is not None and high < baseline)


def test_names_are_plain_text_in_markdown():
    text = findings_as_markdown(findings([share("<b>_x_*", "s", 1, 2, 0.1, 0.9)]))
    assert text.startswith("- **Accuracy, s.** &lt;b>\\_x\\_\\* gets 1 of 2 items right")
    assert findings_as_markdown(findings([])) == ""


def test_a_rate_that_lengths_alone_reach_is_not_called_above_chance():
    led = {"by_length": 0.7, "off_by_length": True}
    one = share("a", "s", 20, 24, 0.641, 0.933, **led)
    assert one.standing == "open"
    assert said(one)[0][0].endswith(
        "which is not distinguishable from what lengths alone give (0.700)."
    )
    # Where lengths lead below chance, chance stays the baseline, and a low rate has its reason.
    low = share("a", "s", 1, 24, 0.007, 0.202, by_length=0.1, off_by_length=True)
    assert said(low)[0][0].endswith(
        "below chance (0.500), the opposite of what is expected; lengths alone would give 0.100."
    )
    every = [one, share("a", "t", 24, 24, 0.9, 1.0)]
    assert "chance and what lengths alone give (0.500 to 0.700)" in said(*every)[0][0]


def test_what_is_known_only_without_an_attractor_is_said_in_one_sentence():
    plain, hard = share("a", "s", 24, 24, 0.86, 1.0), share("a", "s-hard", 12, 24, 0.31, 0.69)
    twins = {"s": "s-hard"}
    [part] = findings([plain, hard], twins=twins).parts
    assert part.sentences[-1] == "a knows it in plain sentences, not with an attractor: s."
    sure = replace(hard, estimate=replace(hard.estimate, low=0.6))
    assert "attractor" not in str(findings([plain, sure], twins=twins).parts)


def test_in_percent_all_shares_of_the_sentences_are_in_percent():
    two = [share("a", "s", 21, 24, 0.69, 0.95), share("b", "s", 12, 24, 0.3, 0.95)]
    tests = [PairTest("s", "a", "b", 0.375, 0.01, percent=True)]
    [part] = findings([replace(one, percent=True) for one in two], tests).parts
    above, unsure, differing = part.sentences
    assert above == "a gets 21 of 24 items right (87.5% [69.0, 95.0]), above chance (50.0%)."
    assert unsure.endswith(
        "(50.0% [30.0, 95.0]), which is not distinguishable from chance (50.0%)."
    )
    assert differing == "a is above b (by 37.5 points, p .010)."


def effect(level, value, p, *, clusters=None, reason=""):
    """A DD with an interval of 1 on both sides."""
    ends = (value - 1, value + 1) if p is not None else (None, None)
    estimate = Estimate(
        suite="islands", model="a", question="DD", statistic="DD", level=level, unit="bits",
        value=value, low=ends[0], high=ends[1], n=40, p_corrected=p, reason=reason,
    )  # fmt: skip
    return DesignEffect(estimate, clusters)


def test_a_design_is_reported_by_dd_with_its_items_and_clusters():
    effects = (
        effect("whether", 2.5, 0.004, clusters=9),
        effect("subject", -3.0, 0.02),
        effect("adjunct", 1.2, 0.068),
        effect("relative", 1.0, None, reason="3 items: an interval needs 5 or more"),
    )
    whole = findings([], designs=Designs((DesignResult("a", effects),)))
    [part] = whole.parts
    assert (part.about, part.where) == ("DD", "islands")
    shown, opposite, unsure, untested = part.sentences[0].split("; ")
    assert shown == (
        "a shows the effect in whether (DD 2.50 bits [1.50, 3.50], p .004, n 40, 9 clusters)"
    )
    assert opposite.startswith("shows the opposite of what is expected in subject (DD -3.00 bits")
    assert unsure.startswith(
        "is not distinguishable from no effect in adjunct (DD 1.20 bits [0.20, 2.20],"
    )
    assert untested == (
        "has no test in relative (DD 1.00 bits without interval, n 40): fewer than 5 items."
    )
    alone = findings([], designs=Designs((DesignResult("a", effects[:1]),))).parts[0].sentences
    assert alone == ("a shows the effect (DD 2.50 bits [1.50, 3.50], p .004, n 40, 9 clusters).",)
    many = tuple(DesignResult(f"m{k}", effects[k % 2 : k % 2 + 1]) for k in range(6))
    assert findings([], designs=Designs(many)).parts[0].sentences == (
        "Of 6 models, the effect is shown by 3 in whether and 0 in subject (3 the opposite).",
    )


def test_what_people_show_is_said_before_what_models_show():
    people = (
        replace(effect("whether", 1.5, 0.004), others=(0.25, 2.75)),
        replace(effect("adjunct", 0.5, 0.2), expected="long_isle", worst=""),
    )
    of_a = (effect("whether", 1.0, 0.3), effect("adjunct", 2.0, 0.01))
    said = findings([], designs=Designs((DesignResult("a", of_a),), people={"islands": people}))
    of_people, of_model = said.parts[0].sentences
    assert of_people == (
        "People show the effect in whether (DD 1.50 bits [0.50, 2.50], p .004, for other people"
        " too [0.25, 2.75], n 40); show no effect distinguishable from 0 in adjunct (DD 0.50 bits"
        " [-0.50, 1.50], p .200, n 40)."
    )
    assert of_model == (
        "a shows the effect in adjunct (DD 2.00 bits [1.00, 3.00], p .010, n 40); is not"
        " distinguishable from no effect in whether (DD 1.00 bits [0.00, 2.00], p .300, n 40)."
    )
    assert any(note.startswith("People's DD is that of their ratings") for note in said.notes)
    alone = (replace(effect("whether", 1.5, 0.004), expected="long_isle", worst="short_isle"),)
    said = findings([], designs=Designs((DesignResult("a", of_a),), people={"islands": alone}))
    assert "(long_isle) are not rated lowest: those of short_isle" in said.parts[0].sentences[0]


def test_a_twin_is_a_suite_of_the_same_sentences_with_words_added():
    pairs = [("I cani dormono.", "I cani dorme."), ("Il gatto ride.", "Il gatto ridono.")]
    longer = [(good.replace(" d", " con Ada d").replace(" r", " con Ada r"), bad)
              for good, bad in pairs]  # fmt: skip
    other = [("Le case ardono.", "Le case arde."), ("La luna sale.", "La luna salgono.")]
    rows = {"n": pairs, "n-adversarial": longer, "m": pairs, "m-adversarial": other}
    suites = [cimento.pairs(made, name=name, language="it") for name, made in rows.items()]
    runs = [evaluate(suite, uniform_scorer(100)) for suite in suites]
    assert _twins(runs) == {"n": "n-adversarial"}


def rated_pairs(model):
    """Six pairs with people's ratings; a model to which a longer sentence is less probable."""
    words = ("Sì", "Piove", "Nevica", "Grandina", "Tuona forte", "Lampeggia a lungo")
    some = rated(
        *(
            sentence(f"{n}{label[0]}", text, *ratings, pair=str(n), label=label)
            for n, word in enumerate(words)
            for label, text, ratings in (
                ("acceptable", word, (5, 5 - n % 2)),
                ("unacceptable", f"{word} sei", (1 + n % 3, 2)),
            )
        )
    )
    return judged(some, "lp", model=model).run


def test_rated_pairs_are_said_by_their_accuracy_and_by_their_correlation_with_ratings():
    run = rated_pairs(LENGTHS)
    texts = [s.text for s in rated_of(run.suite).sentences]
    means = [s.mean for s in rated_of(run.suite).sentences]
    rho = stats.spearmanr([-len(text.replace(" ", "")) for text in texts], means).statistic
    accuracy, correlation, same = findings_of([run]).parts
    assert accuracy.about == "Accuracy"
    assert "6 of 6 items right" in accuracy.sentences[0]
    assert correlation.about == "Spearman's rho of lp with ratings"
    [reached] = correlation.sentences
    assert f"reaches {rho:.3f} [" in reached
    (estimate,) = (e for e in run.estimates() if (e.question, e.statistic) == ("lp", "spearman"))
    assert f"[{estimate.low:.3f}, {estimate.high:.3f}]" in reached
    assert same.about == "Same verdict as people"
    assert re.search(r"the same verdict on \d of 6 items \(", same.sentences[0])


def test_models_on_rated_pairs_are_compared_by_accuracy_and_by_correlation():
    other = FakeScorer(lambda _, index: -float(index + 1), name="due")
    runs = [rated_pairs(LENGTHS), rated_pairs(other)]
    said = findings_of(runs)
    accuracy, correlation, same = said.parts
    assert len(same.sentences) == 2
    assert any("differ" in sentence for sentence in accuracy.sentences)
    assert any("(second minus first: " in sentence for sentence in correlation.sentences)
    assert "over all 2 tests" in said.notes[-1]


def test_the_overview_has_the_correlation_beside_the_accuracy(tmp_path):
    run = rated_pairs(LENGTHS)
    page = report(run, tmp_path / "r.html").read_text("utf-8")
    (estimate,) = (e for e in run.estimates() if (e.question, e.statistic) == ("lp", "spearman"))
    assert f"Spearman&#39;s rho of lp with ratings {estimate.value:.3f}" in page


def test_a_correlation_beside_an_accuracy_has_tests_of_its_own_and_no_leaders():
    beside = [replace(rho(m, "s", v, v - 0.1, v + 0.1), beside=True) for m, v in
              (("a", 0.5), ("b", 0.2))]  # fmt: skip
    both = [share("a", "s", 21, 24, 0.690, 0.957), share("b", "s", 12, 24, 0.3, 0.7), *beside]
    tests = [PairTest("s", "a", "b", 0.375, 0.01), PairTest("s", "a", "b", 0.3, 0.2, beside=True)]
    accuracy, correlation = said(*both, tests=tests)
    assert accuracy[-1] == "a is above b (by 0.375, p .020)."
    assert correlation[-1] == (
        "a and b do not differ significantly (second minus first: -0.300, p .200)."
    )
    many = [share(m, "s", 21, 24, 0.690, 0.957) for m in "abcde"]
    many += [replace(rho(m, "s", 0.5, 0.4, 0.6), beside=True) for m in "abcde"]
    of_accuracy, of_ratings = said(*many, leaders={"s": ["a"]})
    assert any("is first" in sentence for sentence in of_accuracy)
    assert not any("first" in sentence for sentence in of_ratings)


def test_above_means_that_the_exact_test_agrees_where_one_leaves_it_open():
    """17 of 24: Wilson [0.508, 0.851], binomtest(17, 24).pvalue == 0.0639 (scipy)."""
    [note] = findings([share("a", "s", 17, 24, 0.508, 0.851, clustered=False)]).notes
    assert (
        note
        == "Above and below mean that the whole 95% interval is, and that the exact test agrees."
    )
    [plain] = findings([share("a", "s", 17, 24, 0.508, 0.851)]).notes
    assert plain == "Above and below mean that the whole 95% interval is."
