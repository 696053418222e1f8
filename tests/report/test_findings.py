"""What a page says first follows from intervals and tests, and from nothing else."""

from __future__ import annotations

from cimento.records.effects import DesignEffect
from cimento.records.outcomes import Estimate
from cimento.report.findings import Headline, findings
from cimento.report.findings_designs import DesignResult

SHARE = {"question": "number", "near_tied": 0, "chance": 0.5}


def share(model, suite, right, n, low, high, constant=None, **more):
    """A headline that is a proportion of items; the ends of Wilson's interval are given by hand."""
    settings = {**SHARE, "value": right / n if n else None, "low": low, "high": high, **more}
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
    above, unsure, differing = part.sentences
    assert above == "a gets 21 of 24 items right (87.5% [69.0, 95.0]), above chance (50.0%)."
    assert unsure.endswith("(50.0% [30.0, 95.0]), which cannot be told from chance (50.0%).")
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
    whole = findings([], designs=[DesignResult("a", effects)])
    [part] = whole.parts
    assert (part.about, part.where) == ("DD", "islands")
    shown, opposite, unsure, untested = part.sentences[0].split("; ")
    assert shown == (
        "a shows the effect in whether (DD 2.50 bits [1.50, 3.50], p .004, n 40, 9 clusters)"
    )
    assert opposite.startswith("shows the opposite of what is expected in subject (DD -3.00 bits")
    assert unsure.startswith("cannot be told from no effect in adjunct (DD 1.20 bits [0.20, 2.20],")
    assert untested == (
        "has no test in relative (DD 1.00 bits without interval, n 40): fewer than 5 items."
    )
    alone = findings([], designs=[DesignResult("a", effects[:1])]).parts[0].sentences
    assert alone == ("a shows the effect (DD 2.50 bits [1.50, 3.50], p .004, n 40, 9 clusters).",)
    many = [DesignResult(f"m{k}", effects[k % 2 : k % 2 + 1]) for k in range(6)]
    assert findings([], designs=many).parts[0].sentences == (
        "Of 6 models, the effect is shown by 3 in whether and 0 in subject (3 the opposite).",
    )
