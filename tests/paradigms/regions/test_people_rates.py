"""People's choices beside a model; expected values by hand from the numbers in the tables."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Suite, evaluate
from cimento.cli.main import invoke
from cimento.judgments import BETTER, Judgment, table_of, write_judgments
from cimento.paradigms.regions.people_rates import (
    MAJORITY,
    NO_CHOICES,
    NO_SINGLE,
    ONE_PERSON,
    kind_of_votes,
)
from cimento.paradigms.regions.people_tables import people_of
from cimento.paradigms.regions.predictions import evaluate_item
from cimento.suites.formula import parse
from cimento.testing import FakeScorer

FIRST_IS_BETTER = "(*;%good%) < (*;%bad%)"
NAMES = ("good", "bad", "other", "rest")

# Choices of the good and of the bad sentence; nobody was asked about the last two.
CHOICES = [("5", "0"), ("3", "1"), ("2", "2"), ("1", "4"), ("4", "1"), ("0", "0"), ("", "")]
# Words of 1 bit each: the model prefers the good one in items 0, 2, 3, 5 and 6; 4 is a tie.
LENGTHS = [(1, 2), (3, 2), (1, 2), (1, 3), (2, 2), (1, 2), (1, 2)]


def suite(choices=CHOICES, *formulas, lengths=None, regions=1, clusters=None):
    lengths = lengths or [(1,) * len(votes) for votes in choices]
    items = tuple(
        Item(
            id=str(number),
            conditions=tuple(
                Condition(
                    name=name,
                    regions=tuple(
                        Region(text=" ".join(["nuvola"] * words)) for _ in range(regions)
                    ),
                    columns={
                        **({"chosen_by": chosen} if chosen else {}),
                        **({"verb": clusters[number]} if clusters else {}),
                    },
                )
                for name, chosen, words in zip(NAMES, votes, words_of, strict=False)
            ),
        )
        for number, (votes, words_of) in enumerate(zip(choices, lengths, strict=True))
    )
    return Suite(
        meta=Meta("weather", language="it"),
        region_names=tuple(f"part{number}" for number in range(regions)),
        predictions=tuple(Prediction(formula=text) for text in formulas or [FIRST_IS_BETTER]),
        items=items,
        cluster="verb" if clusters else None,
    )


def rates(made, **options):
    scorer = FakeScorer(lambda tokens, index: -math.log(2) * (tokens[index] == "nuvola"))
    return people_of(evaluate(made, scorer).judge(**options))


def by_who(people_rates, question="prediction 0"):
    return {rate.who: rate for rate in people_rates if rate.question == question}


def test_people_and_a_model_stand_beside_each_other_on_the_items_that_people_answered():
    people, one, model = rates(suite(lengths=LENGTHS))

    assert (people.who, people.n, people.tied, people.answers) == (MAJORITY, 5, 1, 23)
    assert people.rate == pytest.approx(3 / 5)
    # Wilson's interval of 3 of 5, from the quadratic (p - x)² n = z² x (1 - x).
    z2, n = 1.959963984540054**2, 5
    for end in (people.low, people.high):
        assert (0.6 - end) ** 2 * n == pytest.approx(z2 * end * (1 - end))
    assert (one.who, one.n, one.tied, one.answers) == (ONE_PERSON, 5, None, 23)
    assert one.rate == pytest.approx((1 + 3 / 4 + 1 / 2 + 1 / 5 + 4 / 5) / 5)
    assert 0 < one.low < one.rate < one.high < 1
    assert (model.of_people, model.n, model.tied, model.answers) == (False, 5, 1, None)
    assert model.rate == pytest.approx(3 / 5)


def test_ties_of_people_are_counted_as_those_of_the_model():
    people, _, model = rates(suite(lengths=LENGTHS), ties="pass")

    assert (people.rate, people.tied) == (pytest.approx(4 / 5), 1)
    assert (model.rate, model.tied) == (pytest.approx(4 / 5), 1)


def test_clusters_widen_the_intervals_of_people():
    choices = [("9", "1"), ("9", "1"), ("1", "9"), ("1", "9")] * 5
    alone = rates(suite(choices))
    verbs = [f"v{number // 2}" for number in range(20)]
    together = rates(suite(choices, clusters=verbs))

    for one, other in zip(alone[:2], together[:2], strict=True):
        assert one.rate == other.rate
        assert other.high - other.low > 1.2 * (one.high - one.low)


def test_four_items_have_rates_without_intervals():
    for rate in rates(suite(CHOICES[:4])):
        assert rate.rate is not None
        assert (rate.low, rate.high) == (None, None)
        assert rate.reason == "4 values: an interval needs 5 or more"


def test_a_prediction_about_several_sentences_is_decided_by_single_choices_where_it_can_be():
    choices = [("6", "3", "1")] * 3 + [("2", "5", "3")] * 2
    best, below = "(*;%good%) < (*;%bad%) & (*;%good%) < (*;%other%)", "(*;%bad%) < (*;%other%)"
    people_rates = rates(suite(choices, best, below))

    by_group = by_who(people_rates)
    assert by_group[MAJORITY].rate == pytest.approx(3 / 5)
    assert by_group[ONE_PERSON].rate == pytest.approx((3 * 6 / 10 + 2 * 2 / 10) / 5)
    # The third sentence says nothing about the other two: who chose it is left out.
    by_group = by_who(people_rates, "prediction 1")
    assert by_group[MAJORITY].rate == 1
    assert by_group[ONE_PERSON].rate == pytest.approx((3 * 3 / 4 + 2 * 5 / 8) / 5)
    assert by_group[ONE_PERSON].answers == 3 * 4 + 2 * 8
    # Both together hold of many people and never of one choice.
    by_group = by_who(people_rates, "all predictions")
    assert by_group[MAJORITY].rate == pytest.approx(3 / 5)
    assert (by_group[ONE_PERSON].rate, by_group[ONE_PERSON].reason) == (None, NO_SINGLE)


def test_an_interaction_is_counted_in_votes():
    choices = [("6", "1", "2", "2")] * 4 + [("2", "1", "4", "1")]
    formula = "(*;%bad%) - (*;%good%) > (*;%rest%) - (*;%other%)"
    by_group = by_who(rates(suite(choices, formula)))

    # 6 - 1 > 2 - 2 in four items; 2 - 1 < 4 - 1 in the last one.
    assert by_group[MAJORITY].rate == pytest.approx(4 / 5)
    # Choices of the first and the last sentence speak for it.
    assert by_group[ONE_PERSON].rate == pytest.approx((4 * 8 / 11 + 3 / 8) / 5)


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("(2;%good%) < (2;%bad%)", "(2;%good%) is a part of one"),
        ("(*;%good%) + 1 < (*;%bad%)", "not bits"),
        ("(*;%good%) + (*;%bad%) > 0", "not bits"),
    ],
)
def test_predictions_that_choices_cannot_decide_have_a_reason(formula, reason):
    people_rates = rates(suite(CHOICES, formula, FIRST_IS_BETTER, regions=2))

    (undecided,) = by_who(people_rates).values()
    assert (undecided.rate, undecided.n) == (None, 0)
    assert reason in undecided.reason
    assert by_who(people_rates, "prediction 1")[MAJORITY].rate == pytest.approx(3 / 5)
    (both,) = by_who(people_rates, "all predictions").values()
    assert reason in both.reason


def test_equal_thirds_are_a_tie():
    means = {name: total / 3 for name, total in zip("abcd", (3, 4, 7, 8), strict=True)}
    dd = parse("((*;%d%) - (*;%c%)) - ((*;%b%) - (*;%a%)) > 0")
    # (8 - 7) - (4 - 3) is 0; in floating point the surprisals add up to more.
    surprisals = {name: [-mean] for name, mean in means.items()}
    assert evaluate_item(dd, surprisals).verdict == "pass"
    assert kind_of_votes(dd, means) == "tie"
    assert kind_of_votes(dd, {**means, "d": means["d"] - 0.001}) == "pass"


def test_a_region_that_is_the_sentence_counts_as_the_sentence():
    assert by_who(rates(suite(CHOICES, "(1;%good%) < (1;%bad%)")))[MAJORITY].rate == 3 / 5


def test_cells_that_are_no_counts_are_named():
    (rate,) = rates(suite([*CHOICES, ("many", "2")]))
    assert rate.reason == (
        "chosen_by of item '7', 'good' is 'many', no whole number and no share from 0.0 to 1.0"
    )


def test_margins_are_correlated_with_the_shares_of_choices():
    # Margins (bits) 1, -1, 1, 2, 0 beside shares 1, 3/4, 1/2, 1/5, 4/5. Mid-ranks by hand:
    # (3.5, 1, 3.5, 5, 2) and (5, 3, 2, 1, 4), both with mean 3. Products of the differences:
    # 1 + 0 - 0.5 - 4 - 1 = -4.5, and sums of squares 9.5 and 10.
    *people, model = rates(suite(lengths=LENGTHS))
    assert [rate.graded for rate in people] == [None, None]
    assert model.graded.n == 5
    assert model.graded.r == pytest.approx(-4.5 / math.sqrt(9.5 * 10))


def test_shares_of_choices_count_as_choices_do():
    shares = [("1.0", "0.0"), ("0.75", "0.25"), ("0.5", "0.5"), ("0.2", "0.8"), ("0.8", "0.2")]
    counted, given = (
        rates(suite(choices, lengths=LENGTHS[:5])) for choices in (CHOICES[:5], shares)
    )
    assert [rate.answers for rate in given] == [None, None, None]
    assert [replace(rate, answers=None) for rate in counted] == given


def test_nobody_answered_is_no_rate_and_no_column_is_no_table():
    (rate,) = rates(suite([("0", "0")] * 6))
    assert (rate.rate, rate.reason) == (None, NO_CHOICES)
    assert rates(suite([("", "")] * 6)) == []


def test_numbers_of_predictions_are_those_of_the_suite():
    made = suite(CHOICES, "(*;%bad%) < (*;%good%)", FIRST_IS_BETTER)
    people_rates = rates(made, predictions=("1",))
    assert by_who(people_rates, "prediction 1")[MAJORITY].rate == pytest.approx(3 / 5)


PAIRS = [
    ("La barca torna al porto.", "La barca tornano al porto."),
    ("I fari si vedono da lontano.", "I fari si vede da lontano."),
    ("Il vento gira a sera.", "Il vento girano a sera."),
    ("Le reti asciugano al sole.", "Le reti asciuga al sole."),
    ("Il molo finisce qui.", "Il molo finiscono qui."),
    ("Le onde salgono piano.", "Le onde sale piano."),
]


@pytest.fixture
def answered(tmp_path, capsys):
    """A suite of pairs on disk into which the choices of three people were put."""
    folder = tmp_path / "harbor"
    folder.mkdir()
    (folder / "suite.toml").write_text(
        '[meta]\nname = "harbor"\nlanguage = "it"\n\n'
        f'[[predictions]]\nformula = "{FIRST_IS_BETTER}"\n'
    )
    lines = ["item\tcondition\ttext"]
    lines += [
        f"{number}\t{name}\t{text}"
        for number, pair in enumerate(PAIRS)
        for name, text in zip(("good", "bad"), pair, strict=True)
    ]
    (folder / "items.tsv").write_text("\n".join(lines) + "\n")
    plain = Judgment(suite="harbor", item="", question=BETTER)
    judgments = [
        replace(plain, item=str(number), condition=condition, annotator=who, value="x")
        for number in range(len(PAIRS))
        # Of the last item two of three people choose the bad one.
        for who, condition in zip("abc", ("good", "good" if number < 5 else "bad", "bad"),
                                  strict=True)
    ]  # fmt: skip
    path = write_judgments(table_of(judgments), tmp_path / "kept.parquet")
    copy = tmp_path / "harbor-chosen"
    assert invoke(["annotate", "apply", str(folder), str(path), "-o", str(copy)]) == 0
    capsys.readouterr()
    return copy


def test_run_prints_people_below_the_accuracies_and_report_keeps_them(answered, tmp_path, capsys):
    runs = str(tmp_path / "runs")
    command = ["run", str(answered), "-m", "demo-causal", "-m", "demo-masked", "-o", runs]
    assert invoke([*command, "--no-cache"]) == 0
    out = capsys.readouterr().out
    assert out.index("accuracy") < out.index("How often people's choices agree with predictions")
    table = [line.split() for line in out[out.index("How often people") :].splitlines()]
    lines = [" ".join(line) for line in table]
    assert any(line.startswith("harbor prediction 0 most people 6 0 18 0.833 [") for line in lines)
    # Two of three people five times, then one of three: 11 of 18.
    (one,) = [line for line in lines if line.startswith("one person ")]
    assert one.startswith("one person 6 18 0.611 [")
    # The reasons why rho has no interval are notes below.
    models = dict.fromkeys(line.split("@")[0] for line in lines if line.startswith("demo-"))
    assert [*models] == ["demo-causal", "demo-masked"]

    assert invoke(["report", runs, "--table", "people", "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["who"].split("@")[0] for row in rows] == [
        MAJORITY,
        ONE_PERSON,
        "demo-causal",
        "demo-masked",
    ]
    assert invoke([*command, "--json"]) == 0
    (causal, _) = json.loads(capsys.readouterr().out)["runs"]
    assert float(rows[2]["rate"]) == pytest.approx(causal["estimates"][0]["value"], abs=5e-4)

    page = tmp_path / "page.html"
    assert invoke(["report", runs, "-o", str(page)]) == 0
    assert "choices agree with predictions" in page.read_text(encoding="utf-8")


def test_a_table_of_people_of_runs_without_choices_is_refused(tmp_path, capsys):
    runs = str(tmp_path / "runs")
    command = ["run", "it-subject-verb", "-m", "demo-causal", "--limit", "5", "-o", runs]
    assert invoke([*command, "--no-cache"]) == 0
    assert "How often people" not in capsys.readouterr().out
    assert invoke(["report", runs, "--table", "people"]) == 2
    assert "cimento annotate apply" in capsys.readouterr().err
