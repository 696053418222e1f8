"""What answers to stories amount to: a small set worked out by hand, and the edges."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.paradigms.stories.answers import RawAnswer, tier_answers
from cimento.paradigms.stories.classification import (
    choices,
    detect,
    scaled_confidence,
    unbiased_mcc,
)
from cimento.paradigms.stories.judging import judge_stories
from cimento.paradigms.stories.metrics import (
    FAMILIES,
    METRICS,
    baselines,
    by_true_shots,
    chance_of,
    confusions,
    majority_labels,
    partial_credit,
    rates,
    survivors,
)
from cimento.paradigms.stories.options import StoryOptions, by_paper_code, by_type
from cimento.paradigms.stories.outcomes import (
    ALL_IMPOSSIBLE,
    INVALID,
    NAN,
    NO_GOLD,
    NOT_ASKED,
    TIED,
    by_characters,
    chain,
    flow,
    judge,
    judge_all,
    probabilities,
)
from cimento.studies.stories import conditional_rates, summarize_stories
from cimento.suites import Meta
from cimento.suites.stories import (
    CONFLICT,
    OPTIONS,
    STATE,
    STATES,
    STORY,
    TIERS,
    StorySuite,
    TierAnswer,
)
from tests.helpers.stories_small import ANSWERS, STORIES, chose, story


def outcome_of(answer, story, **options):
    return judge(answer, story.gold(answer.tier), **options)


@pytest.fixture
def judged():
    return judge_stories(STORIES, ANSWERS)


def test_the_ten_metrics_by_hand(judged):
    by_name = rates(judged.chained, by_type(STORIES))
    assert {name: rate.count for name, rate in by_name.items()} == {
        "Accuracy": (4, 6),
        "Consistency": (2, 4),
        "Verifiability": (1, 4),
        "Cloze Accuracy": (1, 2),
        "Order Accuracy": (2, 2),
        "Plausible Accuracy": (1, 2),
        "Cloze Consistency": (0, 2),
        "Order Consistency": (2, 2),
        "Cloze Verifiability": (0, 2),
        "Order Verifiability": (1, 2),
    }
    assert by_name["Accuracy"].value == pytest.approx(2 / 3)
    assert set(by_name) == set(METRICS)


def test_flow_and_conditional_rates(judged):
    steps = flow(STORIES, judged.chained)
    assert [(step.reached, step.passed) for step in steps] == [(4, 3), (3, 2), (2, 1)]
    by_name = conditional_rates(judged.chained)
    assert by_name["conflict_given_story"].count == (2, 3)
    assert by_name["state_given_conflict"].count == (1, 2)


def test_detection_by_hand(judged):
    scores = detect(STORIES, judged.outcomes)
    # Margins of true over false: 3, -1, -2, -0.5, -1, 0.25; plausible are the first and fourth.
    assert (scores.counts.tp, scores.counts.fn, scores.counts.tn, scores.counts.fp) == (1, 1, 3, 1)
    assert scores.answers == {"false": pytest.approx(4 / 6), "true": pytest.approx(2 / 6)}
    assert scores.balanced_accuracy.value == pytest.approx((1 / 2 + 3 / 4) / 2)
    # 3 beats all four; -0.5 beats -1, -2 and -1.
    assert scores.auc.value == pytest.approx(7 / 8)
    # Story 1 beats both of its variants; story 2 beats one of two.
    assert (scores.sibling_pair_accuracy.value, scores.n_pairs) == (pytest.approx(3 / 4), 4)
    assert scores.mean_margin_nats.value == pytest.approx((3 - 1 - 2 - 0.5 - 1 + 0.25) / 6)


def test_a_threshold_takes_the_bias_out():
    # Ten triples; "true" is always less probable, but twice as improbable where it is wrong.
    many = [
        replace(story, row=3 * number + story.row, story_id=number)
        for number in range(10)
        for story in STORIES[:3]
    ]
    answers = [
        TierAnswer(
            row=story.row,
            tier=STORY,
            options=OPTIONS[STORY],
            logprobs_nats=(-1.0, -3.0 if story.plausible else -6.0),
        )
        for story in many
    ]
    outcomes = judge_all(answers, many)
    assert detect(many, outcomes).mcc.value is None
    assert unbiased_mcc(many, outcomes, seed=1).mcc == 1.0
    unread = judge_all([TierAnswer(row=0, tier=STORY, reply="?")], many)
    assert unbiased_mcc(many, unread, seed=1).reason == "options were not scored"


def test_where_it_fails(judged):
    chained = judged.chained

    def counted(kind):
        return {name: left.n for name, left in survivors(STORIES, chained, kind).items()}

    assert {
        state: (left.n, left.story_ok, left.conflict_ok, left.state_ok)
        for state, left in survivors(STORIES, chained, "state").items()
    } == {
        "power": (1, 1, 1, 1),
        "wet": (1, 0, 0, 0),
        "open": (2, 2, 1, 0),
    }
    assert counted("distance") == {"1": 3, "2": 1}
    assert counted("breakpoint") == {"1": 2, "4": 2}
    assert counted("pair") == {
        "0 and 1": 2,
        "2 and 4": 1,
        "3 and 4": 1,
    }
    assert counted("place") == {
        "cucina": 2,
        "giardino": 2,
    }
    assert confusions(judged.outcomes) == {"open": {"location": 1}, "power": {"power": 1}}
    # Shots that are plausible: of story 0 one, 1 two, 2 one, 3 one, 4 two, 5 none.
    assert by_true_shots(STORIES, judged.outcomes) == {0: (0, 1), 1: (2, 3), 2: (2, 2)}


def test_partly_right_answers(judged):
    credit = partial_credit(judged.outcomes)
    assert (credit.n_pairs, credit.pair_right, credit.one_right) == (3, 2, 1)
    assert (credit.breakpoint_right, credit.conflicting_right) == (3, 2)
    assert credit.mean_distance == pytest.approx(1 / 3)
    assert (credit.n_states, credit.state_right, credit.family_right) == (2, 1, 2)


def test_every_state_has_one_family():
    assert sorted(state for family in FAMILIES.values() for state in family) == sorted(STATES)


def test_a_constant_answer_is_judged_like_a_model():
    assert majority_labels(STORIES) == {STORY: "false", CONFLICT: "0 and 1", STATE: "open"}
    by_answer = baselines(STORIES, by_type(STORIES))
    constant = by_answer["false / majority pair / majority state (0 and 1, open)"]
    assert (constant["Accuracy"], constant["Consistency"]) == (pytest.approx(4 / 6), 0.5)
    assert constant["Verifiability"] == 0.25
    assert by_answer["true"]["Accuracy"] == pytest.approx(2 / 6)
    assert by_answer["true"]["Consistency"] == 0.0
    ties = by_answer["first option (false, 0 and 1, power)"]
    assert (ties["Consistency"], ties["Verifiability"]) == (0.5, 0.0)
    assert by_answer["chance"]["Accuracy"] == 0.5
    assert by_answer["chance"]["Verifiability"] == chance_of(STATE, chained=True) == 1 / 280


def test_nobody_survives_the_first_tier():
    answers = [chose(story.row, STORY, "true") for story in STORIES]
    by_name = rates(chain(STORIES, judge_all(answers, STORIES)), by_type(STORIES))
    assert (by_name["Consistency"].count, by_name["Verifiability"].value) == ((0, 4), 0.0)
    assert by_name["Accuracy"].count == (2, 6)


def test_a_tier_that_was_not_asked_says_nothing():
    answers = [answer for answer in ANSWERS if answer.tier == STORY]
    chained = chain(STORIES, judge_all(answers, STORIES))
    by_name = rates(chained, by_type(STORIES))
    assert by_name["Consistency"].value is None
    assert by_name["Consistency"].reason == NOT_ASKED
    assert conditional_rates(chained)["conflict_given_story"].reason == NOT_ASKED
    assert flow(STORIES, chained)[1].passed is None


def test_a_tier_that_lacks_answers_says_so():
    chained = chain(STORIES, judge_all(ANSWERS[:-3], STORIES))
    assert chained.reasons[CONFLICT] == "1 of 3 stories that reached it lack answers"


def test_later_tiers_may_be_asked_of_all():
    more = (chose(5, CONFLICT, "0 and 1"), chose(2, STATE, "open"), chose(5, STATE, "open"))
    judged = judge_stories(STORIES, (*ANSWERS, *more))
    assert rates(judged.chained, by_type(STORIES)) == rates(
        judge_stories(STORIES, ANSWERS).chained, by_type(STORIES)
    )
    untiered = summarize_stories(judged, seed=1)["untiered"]
    assert untiered[CONFLICT]["count"] == [3, 4]
    assert untiered[STATE]["count"] == [2, 4]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ((math.nan, -1.0), NAN),
        ((-1.0, math.inf), NAN),
        ((-math.inf, -math.inf), ALL_IMPOSSIBLE),
    ],
)
def test_what_is_no_score_is_left_out_and_counted(values, reason):
    answer = TierAnswer(row=0, tier=STORY, options=OPTIONS[STORY], logprobs_nats=values)
    outcome = outcome_of(answer, STORIES[0])
    assert (outcome.correct, outcome.chosen, outcome.reason) == (None, None, reason)
    judged = judge_stories(STORIES, (answer, *ANSWERS[1:]))
    rate = rates(judged.chained, by_type(STORIES))["Accuracy"]
    assert (rate.count, rate.unscored) == ((3, 5), 1)
    assert choices(judged.outcomes, STORY).unscored == {reason: 1}
    summarize_stories(judged, seed=1)


def test_one_impossible_option_is_never_chosen():
    answer = TierAnswer(row=1, tier=STORY, options=OPTIONS[STORY], logprobs_nats=(-9.0, -math.inf))
    outcome = outcome_of(answer, STORIES[1])
    assert outcome.correct is True
    assert probabilities(answer) == (1.0, 0.0)
    summarize_stories(judge_stories(STORIES, (ANSWERS[0], answer, *ANSWERS[2:])), seed=1)


def test_a_tie_is_no_choice_but_for_the_study_which_took_the_option_listed_first():
    tied = TierAnswer(row=0, tier=STORY, options=("true", "false"), logprobs_nats=(-1.0, -1.0))
    outcome = outcome_of(tied, STORIES[0])
    assert (outcome.chosen, outcome.tied, outcome.correct) == (None, True, False)
    assert (outcome.verdict, outcome.margin_bits, outcome.reason) == ("tie", 0.0, TIED)
    chosen = choices([outcome], STORY)
    assert (chosen.n_ties_at_max, chosen.acc.value, chosen.acc_if_ties_wrong.value) == (1, 0.0, 0.0)
    assert (chosen.chance, chosen.majority.value) == (0.5, 1.0)
    first = outcome_of(tied, STORIES[0], first_of_ties=True)
    assert (first.chosen, first.correct) == ("true", True)
    chosen = choices([first], STORY)
    assert (chosen.n_ties_at_max, chosen.acc.value, chosen.acc_if_ties_wrong.value) == (1, 1.0, 0.0)


@given(st.permutations(range(10)))
@settings(deadline=None)
def test_the_order_of_options_changes_nothing_but_ties(order):
    plain = TierAnswer(
        row=1,
        tier=CONFLICT,
        options=OPTIONS[CONFLICT],
        logprobs_nats=tuple(-0.5 * n for n in range(1, 11)),
    )
    mixed = TierAnswer(
        row=1,
        tier=CONFLICT,
        options=tuple(plain.options[place] for place in order),
        logprobs_nats=tuple(plain.logprobs_nats[place] for place in order),
    )
    one, other = outcome_of(plain, STORIES[1]), outcome_of(mixed, STORIES[1])
    assert (one.chosen, one.correct) == (other.chosen, other.correct)
    assert sorted(probabilities(plain)) == pytest.approx(sorted(probabilities(mixed)))


def test_replies_that_cannot_be_read_are_wrong_and_counted():
    unread = TierAnswer(row=0, tier=STORY, reply="Forse.", reason="neither true nor false")
    read = TierAnswer(row=1, tier=STORY, reply="Falso.", label="false")
    outcomes = judge_all((unread, read), STORIES)
    assert [outcome.correct for outcome in outcomes] == [False, True]
    chosen = choices(outcomes, STORY)
    assert (chosen.n, chosen.invalid, chosen.acc.value, chosen.confidence) == (2, 1, 0.5, None)
    assert detect(STORIES, outcomes).invalid == 1
    assert outcome_of(TierAnswer(row=0, tier=STORY, reply="?"), STORIES[0]).reason == INVALID


def test_plausible_stories_have_no_later_tiers():
    outcome = outcome_of(chose(0, CONFLICT, "0 and 1"), STORIES[0])
    assert (outcome.correct, outcome.reason) == (None, NO_GOLD)


def test_lengths_are_in_characters_of_the_options():
    answer = TierAnswer(row=0, tier=STORY, options=OPTIONS[STORY], logprobs_nats=(-4.5, -4.0))
    assert outcome_of(answer, STORIES[0]).chosen == "true"
    assert by_characters(answer) == "false"


@given(st.lists(st.integers(-3, -1), min_size=10, max_size=10), st.booleans())
@settings(deadline=None)
def test_options_of_one_length_give_one_accuracy_by_characters_and_without(nats, first_of_ties):
    """Every pair of sentences is written with seven characters, so the two cannot differ."""
    assert {len(label) for label in OPTIONS[CONFLICT]} == {7}
    answer = TierAnswer(
        row=1,
        tier=CONFLICT,
        options=OPTIONS[CONFLICT],
        logprobs_nats=tuple(map(float, nats)),
        greedy=(False,) * 10,
    )
    chosen = choices([outcome_of(answer, STORIES[1], first_of_ties=first_of_ties)], CONFLICT)
    assert chosen.acc_norm_chars.value == chosen.acc.value


def by_character(tier, row, nats, **options):
    """Accuracy by characters of one answer to an Italian story; all other options impossible."""
    suite = StorySuite(meta=Meta("a", language="it"), stories=STORIES)
    raw = RawAnswer(tuple(nats.get(label, -1000.0) for label in OPTIONS[tier]))
    raw = replace(raw, n_tokens=(1,) * len(raw.nats), greedy=(None,) * len(raw.nats))
    options = StoryOptions(**options)
    answers = tier_answers(tier, [(0, row)], {0: raw}, suite=suite, options=options)
    return choices(judge_all(answers, STORIES), tier).acc_norm_chars.value


def test_lengths_are_those_of_the_words_in_the_prompt():
    # aperto -6/6 = -1 is before temperatura -15/11; by the labels, open -6/4 would be behind.
    assert by_character(STATE, 1, {"open": -6.0, "temperature": -15.0}) == 1.0


@pytest.mark.parametrize("norm", ["sum", "token", "char", "prior"])
def test_lengths_divide_log_probabilities_once_under_every_norm(norm):
    # falso -5.2/5 = -1.04, vero -4/4 = -1; divided twice, falso would be before vero.
    assert by_character(STORY, 0, {"false": -5.2, "true": -4.0}, norm=norm) == 1.0


def test_calibration_of_two_answers():
    # Probabilities of the options 3/4 and 1/4, once right and once wrong:
    # Brier (2/16 + 18/16) / 2, NLL (ln 4/3 + ln 4) / 2, ECE |1/2 - 3/4|.
    values = (math.log(0.75), math.log(0.25))
    answers = [
        TierAnswer(row=row, tier=STORY, options=OPTIONS[STORY], logprobs_nats=values)
        for row in (0, 1)
    ]
    confidence = choices(judge_all(answers, STORIES), STORY).confidence
    assert confidence.brier_sum.value == pytest.approx(10 / 16)
    assert confidence.nll.value == pytest.approx((math.log(4 / 3) + math.log(4)) / 2)
    assert confidence.calibration.ece == pytest.approx(0.25)
    assert confidence.mean_confidence == pytest.approx(0.75)


def test_confidence_can_be_scaled():
    # Ten triples judged "true" with a margin of 4 nats; one in three is.
    many = [
        replace(story, row=3 * number + story.row, story_id=number)
        for number in range(10)
        for story in STORIES[:3]
    ]
    answers = [chose(story.row, STORY, "true", margin=4.0) for story in many]
    impossible = TierAnswer(
        row=0, tier=STORY, options=OPTIONS[STORY], logprobs_nats=(-math.inf, 0.0)
    )
    scaling = scaled_confidence(
        judge_all([impossible, *answers[3:]], many), STORY, stories=many, seed=1
    )
    # Worse than chance: nothing is better than an even chance.
    assert scaling.at_bound
    assert scaling.nll_scaled == pytest.approx(math.log(2), abs=1e-3)
    assert scaling.nll == pytest.approx(math.log1p(math.exp(-4)) + 2 / 3 * 4)
    nothing = scaled_confidence([], STORY, stories=many, seed=1)
    assert (nothing.temperature, nothing.reason) == (None, "no observations")


def test_groups_by_letters_of_the_id():
    odd = story(0, "order", number=3, pair=(0, 1), state="open")
    grouping = by_paper_code([odd])
    assert grouping.groups == {0: "order"}
    assert by_paper_code([story(0, None, number=4)]).groups == {0: "plausible"}


LABELS = st.fixed_dictionaries(
    {
        tier: st.lists(st.sampled_from(OPTIONS[tier]), min_size=len(STORIES), max_size=len(STORIES))
        for tier in TIERS
    }
)


@given(LABELS)
@settings(deadline=None)
def test_chained_rates_never_rise_and_do_not_depend_on_who_was_asked(labels):
    everything = [
        TierAnswer(row=row, tier=tier, options=OPTIONS[tier], label=label)
        for tier in TIERS
        for row, label in enumerate(labels[tier])
        if tier == STORY or not STORIES[row].plausible
    ]
    whole = chain(STORIES, judge_all(everything, STORIES))
    survivors = [
        answer
        for answer in everything
        if answer.tier == STORY or whole.passed[TIERS[TIERS.index(answer.tier) - 1]].get(answer.row)
    ]
    again = chain(STORIES, judge_all(survivors, STORIES))
    assert {tier: dict(whole.passed[tier]) for tier in TIERS} == {
        tier: dict(again.passed[tier]) for tier in TIERS
    }
    steps = [step.passed for step in flow(STORIES, whole)]
    assert steps == sorted(steps, reverse=True)
    by_name = rates(whole, by_type(STORIES))
    assert by_name["Consistency"].value >= by_name["Verifiability"].value
    parts = [by_name["Cloze Consistency"].count, by_name["Order Consistency"].count]
    assert tuple(map(sum, zip(*parts, strict=True))) == by_name["Consistency"].count
