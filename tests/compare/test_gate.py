"""What a gate calls worse; oracles: Bonett and Price by hand, and simulation of equal models."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy.stats import binomtest

from cimento.compare.gate import gate
from cimento.compare.over_suites import SuiteFacts
from cimento.paired.item_outcomes import ItemOutcomes
from cimento.paired.pairwise import PairwiseComparison, compare_pair
from tests.compare.test_summary_tables import stored
from tests.helpers.command_line import invoke
from tests.helpers.docs_pages import DOCS


def marks(right: str, suite: str = "s", model: str = "m", **more) -> ItemOutcomes:
    known = {str(k): mark == "+" for k, mark in enumerate(right)}
    return ItemOutcomes(suite=suite, question="all", model=model, right=known, **more)


def pair(before: str, after: str, suite: str = "s", **more) -> PairwiseComparison:
    return compare_pair(marks(before, suite), marks(after, suite, "n", **more))


def facts(*names: str, units: dict[str, str] | None = None) -> dict[str, SuiteFacts]:
    return {
        name: SuiteFacts(
            unit=(units or {}).get(name, name),
            phenomena=frozenset({name}),
            chance=0.5,
            is_design=False,
        )
        for name in names
    }


def several(before: str, after: str, number: int) -> list[PairwiseComparison]:
    return [pair(before, after, f"s{k}") for k in range(number)]


def looked_at(pairs: list[PairwiseComparison], margin: float = 0.0, **more):
    return gate(pairs, pairs, facts(*(one.suite for one in pairs), **more), margin=margin)


def by_hand(gained: int, lost: int, n: int, level: float) -> tuple[float, float]:
    """Bonett and Price 2012: with 1 added to each discordant count, 2 to n.

    0 is left in where McNemar's exact test, scipy's binomial one, does not reject.
    """
    p, q = (gained + 1) / (n + 2), (lost + 1) / (n + 2)
    z = NormalDist().inv_cdf((1 + level) / 2)
    half = z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    unsure = gained + lost == 0 or binomtest(gained, gained + lost).pvalue > 1 - level
    kept = [0.0] if unsure else []
    return min([p - q - half, *kept]), max([p - q + half, *kept])


FALLEN = ("+" * 40, "+" * 28 + "-" * 12)


def test_one_suite_has_the_plain_interval_and_no_mean():
    (one,) = looked_at([pair(*FALLEN)]).every
    assert (one.change.low, one.change.high) == pytest.approx(by_hand(0, 12, 40, 0.95))
    assert one.worse
    assert looked_at([pair(*FALLEN)], margin=0.1).worse
    assert not looked_at([pair(*FALLEN)], margin=0.2).worse
    assert not looked_at([pair(*FALLEN[::-1])]).worse
    assert not looked_at([pair(*FALLEN)], margin=1).worse


def test_several_suites_and_their_mean_are_widened_for_all_of_them():
    gated = looked_at(several(*FALLEN, 4))
    low, high = by_hand(0, 12, 40, 1 - 0.05 / 5)
    for one in gated.changes:
        assert (one.change.low, one.change.high) == pytest.approx((low, high))
    # Zou and Donner: distances add up in squares; of four alike, the mean's is half of one's.
    (mean,) = gated.means
    assert mean.change.estimate == pytest.approx(-0.3)
    assert mean.change.low == pytest.approx(-0.3 - (-0.3 - low) / 2)
    assert mean.change.high == pytest.approx(-0.3 + (high + 0.3) / 2)


def test_starter_suites_and_drafts_have_means_of_their_own():
    fallen, equal = pair(*FALLEN, "s0"), [pair(FALLEN[0], FALLEN[0], f"s{k}") for k in range(1, 6)]
    parts = dict.fromkeys(("s0", "s1"), "") | dict.fromkeys(("s2", "s3", "s4"), "generated")
    pairs = [fallen, *equal]
    about = {
        name: replace(one, part=parts.get(name, "starter"))
        for name, one in facts(*(one.suite for one in pairs)).items()
    }
    gated = gate(pairs, pairs, about, margin=0)
    # Of the only starter suite there is no mean; 12 of 40 items are lost on one of two others.
    assert [(one.name, one.n_suites, one.change.estimate) for one in gated.means] == [
        ("mean over suites", 2, pytest.approx(-0.15)),
        ("mean over generated suites", 3, 0.0),
    ]
    # All are widened for six suites and two means.
    low, high = by_hand(0, 12, 40, 1 - 0.05 / 8)
    assert (gated.changes[0].change.low, gated.changes[0].change.high) == pytest.approx((low, high))


def test_suites_of_the_same_items_are_no_more_evidence_than_one():
    pairs = several(*FALLEN, 4)
    (twins,) = looked_at(pairs, units={"s1": "s0", "s3": "s2"}).means
    (apart,) = looked_at(pairs).means
    half, other = ((one.change.high or 0) + 0.3 for one in (twins, apart))
    assert half == pytest.approx(other * math.sqrt(2))


def test_a_mean_needs_two_units_and_each_suite_once():
    pairs = several(*FALLEN, 2)
    assert looked_at(pairs, units={"s1": "s0"}).means == ()
    assert looked_at([*pairs, *pairs]).means == ()


def fallen_by(pairs: list[PairwiseComparison], name: str, lost: int, clusters=None):
    """The comparisons, if one suite lost some items, evenly, and gained none."""

    def fallen(one: PairwiseComparison) -> PairwiseComparison:
        items = [str(item) for item in one.design.units]
        right = [item for item in items if item in {*one.lost, *one.kept}]
        gone = {right[k * len(right) // lost] for k in range(lost)}
        sides = ({*right}, {*right} - gone)
        return compare_pair(
            *(
                ItemOutcomes(
                    suite=name, question="all", model=model, clusters=clusters or {},
                    right={item: item in side for item in items},
                )
                for model, side in zip("mn", sides, strict=True)
            )
        )  # fmt: skip

    return [fallen(one) if one.suite == name else one for one in pairs]


BEFORE_AND_AFTER = {
    "many": ("+" * 60 + "-" * 20, "+" * 50 + "-" * 10 + "+" * 9 + "-" * 11),
    "half": ("+-" * 12, "-+" * 6 + "+-" * 6),
    "few": ("+" * 3 + "-" * 21, "-" * 20 + "+" * 4),
    "all": ("+" * 30, "+" * 29 + "-"),
}


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_the_least_drop_is_the_first_at_which_the_gate_itself_fails(margin):
    pairs = [pair(*both, name) for name, both in BEFORE_AND_AFTER.items()]
    found = {one.suite: one for one in looked_at(pairs, margin=margin).changes}
    for name, one in found.items():
        right = BEFORE_AND_AFTER[name][0].count("+")
        fails = [
            name in {one.suite for one in looked_at(worse, margin=margin).worse}
            for worse in (fallen_by(pairs, name, lost) for lost in range(right + 1))
        ]
        first = fails.index(True) if True in fails else None
        assert fails == sorted(fails)
        assert one.detectable == (None if first is None else pytest.approx(first / one.n))
    assert found["few"].detectable is None
    # The items that this comparison gained do not matter, nor on which side they were lost.
    alone = [pair(both[0], both[0], name) for name, both in BEFORE_AND_AFTER.items()]
    assert [one.detectable for one in looked_at(alone, margin=margin).changes] == [
        one.detectable for one in found.values()
    ]


def test_an_item_that_is_gained_too_raises_the_least_drop():
    (one,) = looked_at([pair("+" * 30 + "-" * 10, "+" * 30 + "-" * 10)]).every
    assert one.detectable == next(c / 40 for c in range(31) if by_hand(0, c, 40, 0.95)[1] < 0)
    for gained in range(1, 11):
        needed = next(c for c in range(41) if by_hand(gained, c, 40, 0.95)[1] < 0) - gained
        assert needed / 40 >= one.detectable


def test_the_least_drop_of_a_mean_is_that_of_all_suites_alike():
    pairs = [pair(*both, f"s{k}") for k, both in enumerate([BEFORE_AND_AFTER["half"]] * 5)]
    (mean,) = looked_at(pairs, margin=0.02).means
    fails = []
    for lost in range(13):
        fallen = pairs
        for one in pairs:
            fallen = fallen_by(fallen, one.suite, lost)
        fails.append(looked_at(fallen, margin=0.02).means[0].worse)
    assert mean.detectable == pytest.approx(fails.index(True) / 24)


def test_the_least_drop_of_clustered_items_is_found_by_the_gate_too():
    clusters = {str(k): str(k // 4) for k in range(80)}
    (one,) = pairs = [
        compare_pair(
            marks("+" * 60 + "-" * 20, clusters=clusters),
            marks("+" * 55 + "-" * 25, model="n", clusters=clusters),
        )
    ]
    (seen,) = looked_at(pairs).every
    fails = [
        bool(looked_at(fallen_by(pairs, one.suite, lost, clusters)).worse) for lost in range(61)
    ]
    assert seen.detectable == pytest.approx(fails.index(True) / 80)
    assert fails == sorted(fails)


def test_the_page_has_the_least_drops_of_suites_of_some_sizes():
    page = (DOCS / "checkpoints.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| one suite.*? \| ([0-9,]+(?:, [0-9,]+)*) \| (0[.][0-9]+) \|$", page, re.MULTILINE
    )
    shown = [(int(n.replace(",", "")), drop) for sizes, drop in rows for n in sizes.split(", ")]
    assert len(shown) == 5
    for n, drop in shown:
        (one,) = looked_at([pair("+" * n, "+" * n)], margin=0.02).every
        assert f"{one.detectable:.3f}" == drop
    for n, drop in ((1000, "0.044"), (2999, "0.033")):
        gained = round(0.05 * n)
        lost = next(c for c in range(n) if by_hand(gained, c, n, 0.95)[1] < -0.02)
        assert f"{(lost - gained) / n:.3f}" == drop
        assert drop in page


def test_no_drop_would_fail_where_hardly_anything_was_right():
    (one,) = looked_at([pair("+" + "-" * 23, "+" + "-" * 23)]).every
    assert one.detectable is None


def drawn(rng: np.random.Generator, *, fall: float, suites: int = 12, n: int = 24):
    """Suites on which either model errs by itself, the second more by `fall`."""
    pairs = []
    for k in range(suites):
        right = 0.45 + 0.04 * k
        before, after = (
            "".join("+" if rng.random() < chance else "-" for _ in range(n))
            for chance in (right, right - fall)
        )
        pairs.append(pair(before, after, f"s{k}"))
    return pairs


def labeled(*sizes: int) -> dict[str, str]:
    """The phenomena of items, so many of each in turn: 0, 1, 2 ..."""
    names = [str(name) for name, size in enumerate(sizes) for _ in range(size)]
    return {str(k): name for k, name in enumerate(names)}


def test_each_phenomenon_of_a_suite_is_looked_at_and_all_are_widened_together():
    fallen = pair("+" * 60, "+" * 30 + "-" * 8 + "+" * 18 + "-" * 4)
    phenomena = {"s": labeled(30, 10, 16, 4)}
    gated = gate([fallen], [fallen], facts("s"), margin=0.02, phenomena=phenomena)
    level = 1 - 0.05 / 5
    (whole,) = gated.changes
    assert (whole.change.low, whole.change.high) == pytest.approx(by_hand(0, 12, 60, level))
    counts = {"0": (0, 30), "1": (8, 10), "2": (0, 16)}
    *large, small = gated.phenomena
    for one, (name, (lost, n)) in zip(large, counts.items(), strict=True):
        assert (one.phenomenon, one.name, one.n) == (name, f"s: {name}", n)
        low, high = by_hand(0, lost, n, level)
        assert (one.change.low, one.change.high) == pytest.approx((max(low, -1), high))
        assert (one.first, one.second) == (1.0, (n - lost) / n)
    # Four items have no interval, so that nothing is said about them whatever is lost.
    assert (small.phenomenon, small.worse, small.detectable) == ("3", False, None)
    assert small.change.reason == "4 values: an interval needs 5 or more"
    assert [one.name for one in gated.worse] == ["s", "s: 1"]
    assert gated.worse[1].lost == tuple(map(str, range(30, 38)))


def test_a_phenomenon_of_several_suites_is_their_mean_and_one_that_is_a_suite_is_not_seen_twice():
    pairs = [pair(*FALLEN, "s0"), pair(*FALLEN[::-1], "s1"), pair(*FALLEN, "s2")]
    about = facts("s0", "s1", "s2")
    phenomena = {"s0": labeled(20, 20), "s1": labeled(28, 12), "s2": labeled(0, 0, 40)}
    gated = gate(pairs, pairs, about, margin=0, phenomena=phenomena)
    of = {one.phenomenon: one for one in gated.phenomena}
    assert of.keys() == {"0", "1"}
    # Of s0, 12 of the last 20 items are lost; of s1, the last 12 are gained.
    assert of["1"].change.estimate == pytest.approx((-12 / 20 + 12 / 12) / 2)
    assert (of["1"].name, of["1"].n, of["1"].n_suites) == ("1, mean over suites", 32, 2)
    assert of["0"].change.estimate == 0
    design = {**about, "s1": replace(about["s1"], is_design=True)}
    apart = gate(pairs, pairs, design, margin=0, phenomena=phenomena)
    assert [one.name for one in apart.phenomena] == ["s0: 0", "s0: 1", "s1: 0", "s1: 1"]


@pytest.mark.slow  # 5 s, for the 340 gates
def test_equal_models_rarely_fail_over_phenomena_and_a_fall_of_one_is_seen():
    rng = np.random.default_rng(11)
    sizes = (60, 40, 40, 24, 16, 12, 8, 5, 3)
    phenomena = {"s": labeled(*sizes)}
    chances = np.repeat(np.linspace(0.55, 0.95, len(sizes)), sizes)

    def gated(fall: float):
        falls = np.where(np.arange(len(chances)) < sizes[0], fall, 0)
        sides = [rng.random(len(chances)) < chance for chance in (chances, chances - falls)]
        one = pair(*("".join("-+"[int(mark)] for mark in side) for side in sides))
        return gate([one], [one], facts("s"), margin=0, phenomena=phenomena)

    rounds = 300
    # At 5% the number of failures is 15; 3.09 standard errors above are 26.7.
    assert sum(bool(gated(0).worse) for _ in range(rounds)) <= 26
    fallen = [gated(0.4) for _ in range(40)]
    assert sum("s: 0" in {one.name for one in each.worse} for each in fallen) >= 30


@pytest.mark.slow  # 10 s, for the 400 gates
def test_equal_models_rarely_fail_and_a_fall_of_all_suites_is_seen_by_the_mean():
    rng = np.random.default_rng(5)
    rounds = 300
    equal = [looked_at(drawn(rng, fall=0.0)) for _ in range(rounds)]
    # At 5% the number of failures is 15; 3.09 standard errors above are 26.7.
    assert sum(bool(one.worse) for one in equal) <= 26
    fallen = [looked_at(drawn(rng, fall=0.15)) for _ in range(100)]
    by_mean = sum(mean.worse for one in fallen for mean in one.means)
    by_suite = sum(any(change.worse for change in one.changes) for one in fallen)
    assert by_mean >= 60
    assert by_suite <= 20


def test_the_command_prints_the_interval_by_which_it_decides(tmp_path, capsys):
    for model in ("uno", "due"):
        stored(tmp_path / model, model, ("it-subject-verb", "it-clitic-participle"), limit=24)
    sides = [str(tmp_path / model) for model in ("uno", "due")]
    capsys.readouterr()
    assert invoke(["compare", *sides, "--fail-if-worse", "0.5"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert invoke(["compare", *sides, "--json"]) == 0
    rates = json.loads(capsys.readouterr().out)["rates"]
    assert "neither a suite nor the mean is significantly lower (family-wise)" in said
    main = [rate for rate in rates if rate["question"] == "all predictions"]
    counts = [(len(rate["gained"]), len(rate["lost"])) for rate in main]
    changes = [(gained - lost) / 24 for gained, lost in counts]
    ends = [by_hand(*each, 24, 1 - 0.05 / 3) for each in counts]
    mean = sum(changes) / 2
    low, high = (
        mean
        + side * math.hypot(*(one - end[k] for one, end in zip(changes, ends, strict=True))) / 2
        for k, side in ((0, -1), (1, 1))
    )
    wide = f"widened for 2 suites and their mean: [{low:+.3f}, {high:+.3f}] over 48 items."
    assert f"Nearest to failing: mean over starter suites: change {mean:+.3f}, {wide}" in said
    assert invoke(["compare", *sides, "--fail-if-worse", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if line.startswith("mean of"))
    shown = f"mean of 2 starter suites not worse {mean:+.3f} [{low:.3f}, {high:.3f}] 48"
    assert row.split()[: len(shown.split())] == shown.split()
    # Of each suite too, the interval is the one that decides, and no other is beside it.
    rows = {line.split()[0]: line for line in lines if line.startswith("it-")}
    for rate, end in zip(main, ends, strict=True):
        assert f"[{end[0]:.3f}, {end[1]:.3f}]" in rows[rate["suite"]]
        assert rows[rate["suite"]].split()[1:3] == ["not", "worse"]
    assert "Least drop that can fail, if items are only lost: " in said
    assert said.endswith("Items gained raise it.")


def test_a_column_of_phenomena_makes_tests_of_its_own(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, swapped in (("before", False), ("after", True)):
        rows = ["good\tbad\tphenomenon"]
        for k in range(40):
            verb = [f"Il gatto numero {k} dorme.", f"Il gatto numero {k} dormono."]
            article = [f"La casa numero {k} è lì.", f"Lo casa numero {k} è lì."]
            rows.append("\t".join([*verb, "verb"]))
            rows.append("\t".join([*(article[::-1] if swapped else article), "article"]))
        Path(side).mkdir()
        (Path(side) / "coppie.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        run = ["run", f"{side}/coppie.tsv", "--language", "it", "-m", "demo-causal"]
        assert invoke([*run, "-o", f"{side}-runs"]) == 0
    command = ["compare", "before-runs", "after-runs", "--by", "phenomenon"]
    capsys.readouterr()
    assert invoke(command) == 2
    assert "Add --fail-if-worse MARGIN." in capsys.readouterr().err
    command += ["--fail-if-worse", "0.02", "--junit", "gate.xml"]
    assert invoke(command) == 4
    out, err = capsys.readouterr()
    said = " ".join(err.split())
    wide = "widened for 1 suite and 2 phenomena: ["
    assert re.search(r"worse: coppie: article, .*: change -[0-9.]+, " + re.escape(wide), said)
    rows = {line.split("  ")[0]: line for line in out.splitlines() if line.startswith("coppie")}
    assert rows["coppie: verb"].split()[2:4] == ["not", "worse"]
    assert rows["coppie: article"].split()[2] == "worse"
    cases = cases_of(Path("gate.xml"))
    failed = {suite: one.find("failure") for (suite, _), one in cases.items()}
    assert failed["coppie: verb"] is None
    assert "La casa numero" in (failed["coppie: article"].text or "")
    assert invoke(["compare", "after-runs", "before-runs", *command[3:]]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "neither a suite nor a phenomenon is significantly lower" in said
    # The first has no article right, and of 40 verbs nearly all.
    few = " (on 1 of 2 phenomena, losing every correct item would pass). Items gained raise it."
    assert re.search(
        r"only lost: [0-9.]+ on a suite, [0-9.]+ on a phenomenon" + re.escape(few), said
    )


def test_suites_without_phenomena_of_items_are_not_looked_at_by_phenomenon(tmp_path, capsys):
    for model in ("uno", "due"):
        stored(tmp_path / model, model, ("it-subject-verb",), limit=8)
    sides = [str(tmp_path / model) for model in ("uno", "due")]
    capsys.readouterr()
    assert invoke(["compare", *sides, "--by", "phenomenon", "--fail-if-worse", "0"]) == 2
    assert "no suite here has items from more than one phenomenon" in capsys.readouterr().err


def cases_of(path: Path) -> dict[tuple[str, str], ET.Element]:
    root = ET.parse(path).getroot()  # noqa: S314  # ours
    cases = {(one.attrib["classname"], one.attrib["name"]): one for one in root.iter("testcase")}
    failed = sum(one.find("failure") is not None for one in cases.values())
    assert (int(root.attrib["tests"]), int(root.attrib["failures"])) == (len(cases), failed)
    return cases


def test_each_thing_that_the_gate_asks_is_a_test_of_its_own(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good, bad = (
        "good\tbad\n" + "".join(f"{a} numero {k}.\t{b} numero {k}.\n" for k in range(40))
        for a, b in (("Il gatto", "I gatto"), ("I gatto", "Il gatto"))
    )
    for side, text in (("before", good), ("after", bad)):
        Path(side).mkdir()
        (Path(side) / "coppie.tsv").write_text(text, encoding="utf-8")
        run = ["run", f"{side}/coppie.tsv", "--language", "it", "-m", "demo-causal"]
        assert invoke([*run, "-o", f"{side}-runs"]) == 0
    gate = ["compare", "before-runs", "after-runs", "--junit", "gate.xml"]
    assert invoke([*gate, "--fail-if-worse", "0.02"]) == 4
    cases = cases_of(Path("gate.xml"))
    (name,) = (name for suite, name in cases if name.endswith("is not worse by more than 0.02"))
    failure = cases["coppie", name].find("failure")
    assert failure is not None
    assert "over 40 items" in failure.attrib["message"]
    assert "item 1: lost: " in (failure.text or "")
    assert "gatto numero 0." in (failure.text or "")
    assert "and 30 more items" in (failure.text or "")
    assert invoke(["compare", "after-runs", "before-runs", *gate[3:], "--fail-if-worse", "0"]) == 0
    assert [one.find("failure") for one in cases_of(Path("gate.xml")).values()] == [None, None]
    capsys.readouterr()
    assert invoke(gate) == 2
    assert "Add --fail-if-worse MARGIN" in capsys.readouterr().err


def test_what_the_second_side_lacks_fails_a_test_unless_that_is_allowed(tmp_path):
    for model, suites in (("uno", ("it-subject-verb", "it-clitic-participle")), ("due", ())):
        stored(tmp_path / model, model, suites or ("it-subject-verb",), limit=24)
    command = ["compare", str(tmp_path / "uno"), str(tmp_path / "due"), "--fail-if-worse", "1"]
    command += ["--junit", str(tmp_path / "gate.xml")]
    for more, code, end in (([], 3, "failure"), (["--allow-partial"], 0, "skipped")):
        assert invoke([*command, *more]) == code
        cases = cases_of(tmp_path / "gate.xml")
        lacking = [name for name, one in cases.items() if one.find(end) is not None]
        assert lacking == [("it-clitic-participle, uno@0000000", "the run is made")]


def test_two_models_of_one_folder_are_gated_by_their_names(tmp_path, capsys):
    for model in ("passo-2000", "passo-20000", "passo-21000"):
        stored(tmp_path / "one", model, ("it-subject-verb", "it-clitic-participle"), limit=24)
    for side, model in (("before", "passo-2000"), ("after", "passo-21000")):
        stored(tmp_path / side, model, ("it-subject-verb", "it-clitic-participle"), limit=24)
    capsys.readouterr()
    gates = []
    for given in (
        ["one", "--before", "passo-2000", "--after", "passo-21"],
        ["before", "after"],
    ):
        folders = [str(tmp_path / part) if (tmp_path / part).exists() else part for part in given]
        code = invoke(["compare", *folders, "--fail-if-worse", "0"])
        gates.append((code, *capsys.readouterr()))
    assert gates[0] == gates[1]
    assert "before: passo-2000@0000000; after: passo-21000@0000000." in gates[0][1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--before", "passo-2", "--after", "passo-3000"], "passo-2000@0000000, passo-20000@"),
        (["--before", "passo-2000", "--after", "passo-2000@0000000"], "both name passo-2000@"),
        (["--before", "passo-2000"], "Add --after NAME too."),
        (["--after", "passo-2000"], "Add --before NAME too."),
        (["--before", "paso-2000", "--after", "passo-3000"], "Did you mean 'passo-2000'"),
        (["--before", "passo-2000", "--after", "passo-3000", "--published"], "not for --published"),
    ],
)
def test_names_that_are_not_two_models_of_a_folder_are_refused(given, said, tmp_path, capsys):
    for model in ("passo-2000", "passo-20000", "passo-3000"):
        stored(tmp_path, model, ("it-subject-verb",), limit=2)
    capsys.readouterr()
    assert invoke(["compare", str(tmp_path), *given]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_run_is_not_gated_against_itself(tmp_path, capsys):
    stored(tmp_path / "all", "uno", ("it-subject-verb",), limit=2)
    (tmp_path / "again").symlink_to(tmp_path / "all")
    for other in ("all", "again", "all/it-subject-verb"):
        sides = [str(tmp_path / "all"), str(tmp_path / other)]
        assert invoke(["compare", *sides, "--fail-if-worse", "0"]) == 2
        assert "a run is on both sides" in capsys.readouterr().err
