"""People's ratings of pairs beside a model; expected values by hand from the table of ratings."""

from __future__ import annotations

import csv
import dataclasses
import json
import math

import pytest
from openpyxl import load_workbook

from cimento import Condition, Item, Meta, Prediction, Region, Suite, evaluate
from cimento.cli.main import invoke
from cimento.judgments import ACCEPTABILITY, BETTER, Judgment, table_of, write_judgments
from cimento.judgments.effects import condition_shares
from cimento.paradigms.regions.people_items import people_by_item
from cimento.paradigms.regions.people_ratings import NOBODY_BOTH
from cimento.paradigms.regions.people_tables import people_grid, people_of
from cimento.report import MEANS, ONE_PERSON
from cimento.report.findings_people import same_verdict_said
from cimento.statistics.raters import UNKNOWN_PEOPLE
from cimento.testing import FakeScorer

PEOPLE = ("anna", "bruno", "carla", "dario", "elena", "fabio")
# Ratings from 1 to 7 of the good and of the bad sentence of each pair, in the order of PEOPLE.
RATINGS = {
    "tetto": ((7, 6, 7, 5, 7, 6), (1, 2, 3, 2, 1, 1)),  # all six higher
    "mare": ((6, 5, 4, 7, 6, 5), (3, 5, 4, 2, 1, 2)),  # four higher, two ties
    "ponte": ((5, 4, 6, 3, 5, 6), (2, 6, 3, 3, 1, 7)),  # three higher, one tie, two lower
    "neve": ((2, 3, 4, 3, 2, 5), (4, 6, 5, 7, 2, 3)),  # one higher, one tie, four lower
    "sale": ((6, 7, 7, 6, 5, 7), (2, 1, 3, 7, 4, 6)),  # five higher, one lower
}
HIGHER = {"tetto": (6, 0), "mare": (4, 2), "ponte": (3, 1), "neve": (1, 1), "sale": (5, 0)}
# Words of 1 bit each: the model prefers the good one in "tetto", "ponte" and "sale".
LENGTHS = {"tetto": (1, 2), "mare": (3, 1), "ponte": (2, 4), "neve": (2, 2), "sale": (1, 4)}


def cells(ratings, people):
    given = {"ratings": "; ".join(map(str, ratings))} if ratings else {}
    return {**given, **({"participants": "; ".join(people)} if people and ratings else {})}


def suite(ratings=RATINGS, *, people=(PEOPLE, PEOPLE), by="people"):
    items = tuple(
        Item(
            id=name,
            conditions=tuple(
                Condition(
                    name=condition,
                    regions=(
                        Region(text=" ".join(["nuvola"] * LENGTHS[name.rstrip("01")][number])),
                    ),
                    columns=cells(given[number], people[number]),
                )
                for number, condition in enumerate(("good", "bad"))
            ),
        )
        for name, given in ratings.items()
    )
    return Suite(
        meta=Meta("walks", language="it"),
        region_names=("sentence",),
        predictions=(Prediction(formula="(*;%good%) < (*;%bad%)", name="good"),),
        items=items,
        extra={"kind": "acceptability", "ratings": {"low": 1, "high": 7, "by": by}},
    )


def judged(made, **options):
    scorer = FakeScorer(lambda tokens, index: -math.log(2) * (tokens[index] == "nuvola"))
    return evaluate(made, scorer).judge(**options)


def test_each_pair_has_the_share_of_people_whose_rating_of_the_good_sentence_is_higher():
    items = {one.item: one for one in people_by_item(judged(suite()))}

    assert {name: (one.people, one.tied, one.share) for name, one in items.items()} == {
        name: (6, ties, pytest.approx(higher / 6)) for name, (higher, ties) in HIGHER.items()
    }
    assert items["mare"].given == {
        "mean good": pytest.approx(33 / 6),
        "mean bad": pytest.approx(17 / 6),
    }
    assert [one.together for one in items.values()] == ["pass", "pass", "pass", "fail", "pass"]
    (verdicts,) = ({name: list(one.models.values()) for name, one in items.items()},)
    assert verdicts == {
        "tetto": ["pass"], "mare": ["fail"], "ponte": ["pass"], "neve": ["tie"], "sale": ["pass"],
    }  # fmt: skip
    # Wilson's interval of 5 of 6 people, from (p - x)² n = z² x (1 - x).
    z2, n, others = 1.959963984540054**2, 6, items["sale"].others
    for end in (others.low, others.high):
        assert (5 / 6 - end) ** 2 * n == pytest.approx(z2 * end * (1 - end))


def test_the_totals_of_people_and_of_the_model_are_over_the_same_pairs():
    means, one, model = people_of(judged(suite()))

    assert (means.who, means.n, means.tied, means.answers) == (MEANS, 5, 0, 60)
    assert means.rate == pytest.approx(4 / 5)
    assert (one.who, one.n, one.tied, one.answers) == (ONE_PERSON, 5, 4, 30)
    assert one.rate == pytest.approx(19 / 30)
    assert (model.of_people, model.n, model.tied, model.rate) == (False, 5, 1, pytest.approx(3 / 5))
    # Margins of the model in bits: 1, -2, 2, 0, 3, of ranks 3, 1, 4, 2, 5; ranks of people's
    # shares: 5, 3, 2, 1, 4. Squared differences of ranks: 4 + 4 + 4 + 1 + 1.
    assert model.graded.r == pytest.approx(1 - 6 * 14 / (5 * (5**2 - 1)))


def test_the_verdicts_of_the_model_and_of_mean_ratings_are_compared_pair_by_pair():
    run = judged(suite())
    *_, model = people_of(run)

    # People: pass, pass, pass, fail, pass. The model: pass, fail, pass, tie, pass.
    assert (model.same.n, model.same.same) == (5, 3)
    z2 = 1.959963984540054**2
    for end in (model.same.interval.low, model.same.interval.high):
        assert (3 / 5 - end) ** 2 * 5 == pytest.approx(z2 * end * (1 - end))
    # By chance: 4/5 of 3/5 both pass, 1/5 of 1/5 both fail, none of 1/5 both tie.
    chance = 12 / 25 + 1 / 25
    assert model.same.kappa.value == pytest.approx((3 / 5 - chance) / (1 - chance))
    assert {one.item: list(one.same.values()) for one in people_by_item(run)} == {
        "tetto": [True], "mare": [False], "ponte": [True], "neve": [False], "sale": [True],
    }  # fmt: skip
    assert [one.same for one in people_of(run)[:2]] == [None, None]


def test_a_tie_is_the_same_as_a_tie_and_as_a_pass_only_where_ties_pass():
    ratings = {
        **RATINGS,
        "neve": ((3, 3, 3, 3, 3, 3),) * 2,  # of both the model and people a tie
        "sale": ((4, 4, 4, 4, 4, 4),) * 2,  # of people alone
    }
    *_, model = people_of(judged(suite(ratings)))
    *_, passing = people_of(judged(suite(ratings), ties="pass"))

    # People: pass, pass, pass, tie, tie; the model: pass, fail, pass, tie, pass.
    assert (model.same.n, model.same.same) == (5, 3)
    assert (passing.same.n, passing.same.same) == (5, 4)


def test_kappa_has_a_reason_where_all_verdicts_are_equal():
    same = {name: RATINGS[name] for name in ("tetto", "ponte", "sale")}
    *_, model = people_of(judged(suite(same)))

    assert (model.same.same, model.same.interval.low) == (3, None)
    assert model.same.kappa.value is None
    assert model.same.kappa.reason == "all verdicts are equal"


def test_a_kappa_of_0_says_which_side_never_varies():
    # Mean ratings prefer the good sentence of all, the model not that of "mare".
    same = {name: RATINGS[name] for name in ("tetto", "mare", "ponte", "sale")}
    run = judged(suite(same))
    *_, model = people_of(run)

    assert (model.same.same, model.same.kappa.value) == (3, 0)
    why = "all verdicts of people are equal, so it is 0 whatever the model's are"
    assert model.same.kappa.reason == why
    assert f"Cohen's kappa is 0: {why}" in same_verdict_said("m", list(run.estimates()))


def test_what_is_not_shown_is_not_explained():
    # All six people prefer the good sentence of each pair: proportions have no ranks.
    agreed = ((7, 6, 7, 5, 7, 6), (1, 2, 3, 2, 1, 1))
    grid = people_grid(people_of(judged(suite(dict.fromkeys(("tetto", "mare", "sale"), agreed)))))
    notes = "\n".join(grid.compact().notes)
    assert "no correlation with proportions: all proportions of people are equal" in notes
    assert "rho:" not in notes
    assert "kappa: Cohen's" in notes

    assert "rho: Spearman's" in "\n".join(people_grid(people_of(judged(suite()))).notes)


def test_clusters_widen_the_interval_of_the_same_verdict():
    many = {f"{name}{k}": RATINGS[name] for name in RATINGS for k in range(2)}
    made = suite(many)
    items = tuple(
        dataclasses.replace(
            item,
            conditions=tuple(
                dataclasses.replace(one, columns={**one.columns, "word": item.id[:-1]})
                for one in item.conditions
            ),
        )
        for item in made.items
    )
    clustered = dataclasses.replace(made, items=items, cluster=("word",))
    *_, alone = people_of(judged(made))
    *_, together = people_of(judged(clustered))

    assert (alone.same.same, together.same.same) == (6, 6)
    width = together.same.interval.high - together.same.interval.low
    assert width > alone.same.interval.high - alone.same.interval.low


def test_ties_pass_where_the_run_says_so():
    means, one, _ = people_of(judged(suite(), ties="pass"))

    assert one.rate == pytest.approx(23 / 30)
    assert means.rate == pytest.approx(4 / 5)
    (mare,) = [item for item in people_by_item(judged(suite(), ties="pass")) if item.item == "mare"]
    assert (mare.share, mare.tied) == (1, 2)


def test_intervals_are_those_of_the_same_people_who_choose():
    # Without ties a rating of both says what a choice between them would.
    ratings = {
        name: (good, tuple(b - (b == g) for g, b in zip(good, bad, strict=True)))
        for name, (good, bad) in RATINGS.items()
    }
    choices = [
        Judgment(
            suite="walks", item=name, condition="good" if g > b else "bad", candidate=None,
            annotator=who, question=BETTER, value="",
        )
        for name, (good, bad) in ratings.items()
        for who, g, b in zip(PEOPLE, good, bad, strict=True)
    ]  # fmt: skip
    (good,) = [share for share in condition_shares(choices) if share.condition == "good"]
    _, one, _ = people_of(judged(suite(ratings)))

    assert one.tied == 0
    assert (one.rate, one.low, one.high) == (good.share, good.these.low, good.these.high)
    assert (one.others.low, one.others.high) == (good.others.low, good.others.high)
    assert one.others.high - one.others.low > one.high - one.low


def test_people_who_saw_one_sentence_of_a_pair_have_mean_ratings_alone():
    means, one, model = people_of(judged(suite(people=(PEOPLE, [name * 2 for name in PEOPLE]))))

    assert means.rate == pytest.approx(4 / 5)
    assert (one.rate, one.n, one.reason) == (None, 0, NOBODY_BOTH)
    assert model.rate == pytest.approx(3 / 5)


def test_ratings_of_nobody_in_particular_have_mean_ratings_alone():
    run = judged(suite(people=((), ())))
    means, one, _ = people_of(run)

    assert means.rate == pytest.approx(4 / 5)
    assert (one.rate, one.reason) == (None, UNKNOWN_PEOPLE)
    assert {item.reason for item in people_by_item(run)} == {UNKNOWN_PEOPLE}


def test_the_first_rating_of_a_person_is_theirs():
    twice = {**RATINGS, "neve": ((2, 3, 4, 3, 2, 7), (4, 6, 5, 7, 3, 3))}
    people = ("anna", "bruno", "carla", "dario", "elena", "elena")
    (neve,) = [
        one for one in people_by_item(judged(suite(twice, people=(people, people))))
        if one.item == "neve"
    ]  # fmt: skip

    assert (neve.people, neve.share) == (5, 0)


def test_a_pair_that_nobody_rated_is_in_no_rate():
    some = {**RATINGS, "neve": ((), ())}
    run = judged(suite(some))

    assert [one.item for one in people_by_item(run)] == ["tetto", "mare", "ponte", "sale"]
    means, one, model = people_of(run)
    assert (means.n, one.n, model.n) == (4, 4, 4)
    assert one.rate == pytest.approx(18 / 24)


def test_degrees_that_an_author_expects_are_not_people():
    run = judged(suite(people=((), ()), by="author"))

    assert (people_of(run), people_by_item(run)) == ([], [])


def judgments():
    return [
        Judgment(
            suite="walks", item=name, condition=condition, candidate=f"{name} {condition}.",
            annotator=who, question=ACCEPTABILITY, value=str(value), scale="1 to 7",
        )
        for name, both in RATINGS.items()
        for condition, given in zip(("good", "bad"), both, strict=True)
        for who, value in zip(PEOPLE, given, strict=True)
    ]  # fmt: skip


def test_ratings_of_a_table_of_pairs_go_through_apply_and_run_to_both_tables(tmp_path, capsys):
    pairs = tmp_path / "walks.csv"
    rows = "".join(f"{name},{name} good.,{name} bad.\n" for name in RATINGS)
    pairs.write_text(f"item,good,bad\n{rows}", encoding="utf-8")
    write_judgments(table_of(judgments()), tmp_path / "given.csv")
    rated, runs = str(tmp_path / "rated"), str(tmp_path / "runs")
    apply = ["annotate", "apply", str(pairs), str(tmp_path / "given.csv"), "--language", "it"]
    assert invoke([*apply, "-o", rated]) == 0
    assert f"-m MODEL -o {rated}-runs" in capsys.readouterr().err
    assert invoke(["run", rated, "-m", "demo-causal", "-o", runs, "--no-cache", "--json"]) == 0
    out = capsys.readouterr().out
    (run,) = json.loads(out[out.index("{") :])["runs"]
    rates = {
        (one["method"], one["statistic"]): one["value"]
        for one in run["estimates"]
        if one["statistic"].startswith("rating rate")
    }
    assert rates[MEANS, "rating rate"] == pytest.approx(4 / 5)
    assert rates[ONE_PERSON, "rating rate, other people"] == pytest.approx(19 / 30)

    assert invoke(["report", runs, "--table", "people", "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert [row["who"].split("@")[0] for row in rows] == [MEANS, ONE_PERSON, "demo-causal"]
    assert float(rows[1]["rate"]) == pytest.approx(19 / 30, abs=5e-4)
    assert invoke(["report", runs, "--table", "people-items", "--format", "csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert {row["item"]: float(row["proportion"]) for row in rows} == {
        name: pytest.approx(higher / 6, abs=5e-4) for name, (higher, _) in HIGHER.items()
    }
    model, _ = [name for name in rows[0] if name.startswith("demo-causal")]
    assert {row[model] for row in rows} <= {"pass", "fail", "tie"}
    alike = {row["item"]: row["people_together"] == row[model] for row in rows}
    assert {row["item"]: row[f"{model}_same"] == "same" for row in rows} == alike
    assert [row["item_bad"] for row in rows] == [f"{name} bad." for name in RATINGS]

    sheet = tmp_path / "items.xlsx"
    assert invoke(["report", runs, "--table", "people-items", "-o", str(sheet)]) == 0
    header, first, *_ = load_workbook(sheet).active.iter_rows(values_only=True)
    assert dict(zip(header, first, strict=True))["item good"] == "tetto good."
    assert invoke(["report", runs, "-o", str(tmp_path / "report.md")]) == 0
    said = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"has the same verdict on {sum(alike.values())} of 5 items (" in said


@pytest.mark.parametrize("name", ["Iniziali", "Initials", "Iniciales", "Iniciais"])
def test_initials_tell_people_apart_where_each_row_has_its_own(name, tmp_path, capsys):
    (tmp_path / "walks.csv").write_text("item,good,bad\n1,Io vado.,Io va.\n", encoding="utf-8")
    for others, used in (("C. D.", name), ("A. B.", "Timestamp")):
        form = tmp_path / "form.csv"
        form.write_text(
            f"Timestamp,{name},Io vado.,Io va.\n2026/03/02 10:02:11,A. B.,5,1\n"
            f"2026/03/02 10:05:40,{others},4,2\n",
            encoding="utf-8",
        )
        command = ["annotate", "import", str(form), "--suite", str(tmp_path / "walks.csv")]
        out = str(tmp_path / f"{used}.csv")
        assert invoke([*command, "--names", "keep", "-o", out]) == 0
        assert repr(used) in capsys.readouterr().err
