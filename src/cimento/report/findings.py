"""What runs show, in sentences: what is above chance, and what the data can tell apart.

Every sentence follows from intervals and tests that are there already. A model is *above* its
baseline only if its whole 95% interval is, and of independent items the exact binomial test has p
of .05 or less. The baseline is chance, or what the best constant answer reaches, or what lengths
alone give, where that is more. Two models differ only if the paired
test on the same items says so, with p corrected by Holm's method over all tests of the page. What
is undefined is said with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.io.inline_markup import printable
from cimento.io.values import grouped
from cimento.records.outcomes import STATISTICS, ConstantAnswer, reasons_together
from cimento.records.standing import Standing, doubt_of, standing_of
from cimento.records.wrong_side import DD
from cimento.report.findings_designs import DESIGNS_SAID, NO_DESIGNS, Designs
from cimento.report.findings_pairs import FEW_MODELS, PairTest, differences, joined, leading
from cimento.report.formatting import interval, p_value, share_text, some
from cimento.statistics.multiple import holm

if TYPE_CHECKING:
    from cimento.records.outcomes import Estimate

ACCURACY_KIND = "accuracy"
NOTHING_JUDGED = "nothing is judged"
BY_LENGTH = "lengths alone"
"""Name of the baseline in which all tokens have the same surprisal."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The number that sums up a run.

    Attributes:
        model: name of the model.
        estimate: the number, with its interval and chance.
        constant: the best constant answer to the same question; None where none is above chance.
        percent: whether shares are said in percent, as in the tables of the same document.
        beside: whether it is a correlation with ratings, and another number sums up the run.
    """

    model: str
    estimate: Estimate
    constant: ConstantAnswer | None = None
    percent: bool = False
    beside: bool = False

    @property
    def suite(self) -> str:
        """The name of its suite."""
        return self.estimate.suite

    @property
    def best(self) -> ConstantAnswer | None:
        """The best answer without knowledge: a constant, or by length; None where chance is."""
        one = self.estimate
        by_length = one.by_length if one.off_by_length else None
        known = [
            *([self.constant] if self.constant else []),
            *([ConstantAnswer(name=BY_LENGTH, value=by_length)] if by_length is not None else []),
        ]
        above = [answer for answer in known if one.chance is None or answer.value > one.chance]
        return max(above, key=lambda answer: answer.value, default=None)

    @property
    def baseline(self) -> float | None:
        """What no knowledge reaches; None where that is not known."""
        return self.best.value if self.best else self.estimate.chance

    def shown(self, value: float | None) -> str:
        """A value of this kind of number as text."""
        return share_text(value, percent=self.percent and self.estimate.is_share)

    @property
    def standing(self) -> Standing:
        """Where it surely is, as seen from the baseline; see `standing_of`."""
        return standing_of(self.estimate, self.baseline)

    @property
    def doubt(self) -> float | None:
        """The p-value by which it is open although its whole interval is on one side."""
        return doubt_of(self.estimate, self.baseline)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is said about all numbers of one kind.

    Attributes:
        about: the kind, such as ``accuracy``.
        suites: names of the suites.
        sentences: what the numbers show.
        compared: those of them that compare models or suites with each other.
    """

    about: str
    suites: tuple[str, ...]
    sentences: tuple[str, ...]
    compared: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """The suites in words; empty without any."""
        n = len(self.suites)
        return f"{n} suites" if n > 1 else "".join(self.suites)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a page says first.

    Attributes:
        parts: a finding for each kind of number.
        notes: what the words mean, each once.
    """

    parts: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING_SAID = Findings()


def findings(
    headlines: Sequence[Headline],
    tests: Sequence[PairTest] = (),
    leaders: Mapping[str, Sequence[str]] | None = None,
    *,
    designs: Designs = NO_DESIGNS,
    twins: Mapping[str, str] | None = None,
) -> Findings:
    """What runs show.

    Args:
        headlines: of all runs.
        tests: every two models on every suite that both were run on.
        leaders: suites, each mapped to the models that could be first; said of many models.
        designs: DDs of factorial designs, which are said first.
        twins: suites of plain sentences, each mapped to the one with attractors.
    """
    models = tuple(dict.fromkeys(one.model for one in headlines))
    p_values = holm([test.p for test in tests])
    tested = [*zip(tests, p_values, strict=True)]
    is_few = len(models) <= FEW_MODELS
    parts = []
    if designs.results:
        each, compared = (tuple(map(_sentence, say(designs))) for say in DESIGNS_SAID)
        parts.append(Finding(DD, designs.suites, (*each, *compared), compared))
    for about, members in grouped((kind_of(one.estimate), one) for one in headlines).items():
        suites = tuple(dict.fromkeys(one.suite for one in members))
        main = [*dict.fromkeys(one.suite for one in members if not one.beside)]
        if is_few:
            known = {(one.suite, one.beside) for one in members}
            of_kind = [(test, p) for test, p in tested if (test.suite, test.beside) in known]
            each = tuple(_each_model(members, models))
            compared = (*_only_plain(members, twins or {}), *differences(of_kind))
        else:
            each = tuple(_counted_models(members))
            compared = tuple(leading(leaders or {}, main, len(models)))
        heading = heading_of(about) if main else f"{about} with ratings"
        each, compared = (tuple(map(_sentence, part)) for part in (each, compared))
        parts.append(Finding(heading, suites, (*each, *compared), compared))
    notes = _notes(headlines, tests if is_few else (), leaders or {})
    return Findings(tuple(parts), (*designs.notes, *notes))


def kind_of(estimate: Estimate) -> str:
    """What kind of number an estimate is: ``accuracy``, ``hit@1``, ``Spearman's rho of lp``."""
    if estimate.is_of_predictions or (estimate.is_share and not estimate.question):
        return ACCURACY_KIND
    if estimate.is_share:
        return estimate.question
    named = STATISTICS.get(estimate.statistic, estimate.statistic)
    return f"{named} of {estimate.question}" if estimate.question else named


def findings_as_markdown(said: Findings) -> str:
    """The sentences in Markdown, a list with a line for each kind; empty if there are none."""
    lines = [
        f"- **{_plain(f'{part.about}, {part.where}.')}** {' '.join(map(_plain, part.sentences))}"
        for part in said.parts
    ]
    notes = ["", *map(_plain, said.notes)] if said.notes else []
    return "\n".join([*lines, *notes]) + "\n" if lines or notes else ""


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    shown = printable(text).replace("<", "&lt;")
    return "".join(f"\\{sign}" if sign in "*_`" else sign for sign in shown)


def _sentence(text: str) -> str:
    return f"{text}."


def heading_of(kind: str) -> str:
    """A kind of number as a heading; names such as ``hit@1`` stay as they are."""
    return kind[:1].upper() + kind[1:] if kind in {ACCURACY_KIND, NOTHING_JUDGED} else kind


# Each model by itself.


def _each_model(members: Sequence[Headline], models: Sequence[str]) -> Iterator[str]:
    """What each of few models shows against the baseline, and which were not run."""
    by_model = grouped((one.model, one) for one in members)
    suites = {one.suite for one in members}
    if any(one.standing == "no baseline" for one in members):
        yield _no_baseline(members)
    if len(suites) == 1:
        for model in models:
            yield from (f"{model} {_one_result(one)}" for one in by_model.get(model, []))
    else:
        in_order = [by_model[model] for model in models if model in by_model]
        alike = grouped((_alike(several), several) for several in in_order)
        for key, of_models in alike.items():
            if key is not None and len(of_models) > 1:
                yield _same_of_all(of_models)
            else:
                yield from (f"{some[0].model} {_many_results(some)}" for some in of_models)
    absent = [model for model in models if model not in by_model]
    if absent:
        was = "was" if len(absent) == 1 else "were"
        yield f"{joined(absent)} {was} not run on {'it' if len(suites) == 1 else 'them'}"


def _alike(several: Sequence[Headline]) -> tuple[Standing, tuple[str, ...]] | None:
    """What results have in common if one sentence can say it of several models."""
    standings = {one.standing for one in several}
    if standings in ({"above"}, {"no baseline"}):
        return several[0].standing, tuple(one.suite for one in several)
    return None


def _same_of_all(of_models: Sequence[Sequence[Headline]]) -> str:
    """Several models that are all above the baseline on all suites, or that all have none."""
    members = [one for several in of_models for one in several]
    values = [
        (several[0].model, _range([one.estimate.value or 0.0 for one in several], several[0]))
        for several in of_models
    ]
    if members[0].standing == "no baseline":
        reached = joined([f"{model} reaches {value}" for model, value in values])
        return f"{reached} ({_highest(members)})"
    listed = ", ".join(f"{model} {value}" for model, value in values)
    names = joined([model for model, _ in values])
    suites, lowest = _how_many(of_models[0], of_models[0]), _lowest(members)
    return f"{names} are above {_level(members)} on {suites} ({'; '.join([listed, *lowest])})"


def _lowest(members: Sequence[Headline]) -> list[str]:
    """How low results could be, if all are compared with one baseline."""
    if len({one.baseline for one in members}) > 1:
        return []
    lowest = min(one.estimate.low or 0.0 for one in members)
    return [f"the lowest interval begins at {members[0].shown(lowest)}"]


def _highest(members: Sequence[Headline]) -> str:
    highest = max(one.estimate.high or 0.0 for one in members)
    return f"the highest interval ends at {members[0].shown(highest)}"


def _one_result(one: Headline) -> str:
    """One result with its uncertainty, and what follows from it."""
    estimate = one.estimate
    if estimate.value is None:
        return f"has no value ({estimate.reason or 'nothing was scored'})"
    if estimate.is_share:
        result = f"gets {estimate.right} of {estimate.n} items right ({_value(one)})"
    else:
        result = f"reaches {_value(one)}"
    return f"{result}{_follows(one)}"


def _value(one: Headline) -> str:
    estimate, low, high = one.estimate, one.estimate.low, one.estimate.high
    if one.percent and estimate.is_share and low is not None and high is not None:
        return f"{one.shown(estimate.value)} {interval(100 * low, 100 * high, digits=1)}"
    return f"{one.shown(estimate.value)} {interval(low, high, absent='')}".rstrip()


def _follows(one: Headline) -> str:
    """What follows from an interval, as the end of a sentence."""
    if one.standing == "undefined":
        return f"; without an interval ({one.estimate.reason or 'undefined'}), nothing follows"
    if one.standing == "no baseline":
        return ""
    relation = {"above": "above", "below": "below", "open": "which is not distinguishable from"}
    doubt = "" if one.doubt is None else f" by the exact test ({p_value(one.doubt)})"
    return f", {relation[one.standing]} {_level([one])}{doubt}{_opposite([one])}"


def _opposite(members: Sequence[Headline]) -> str:
    """What shares surely below chance mean, and whether lengths alone would do the same."""
    shares = [one for one in members if one.estimate.is_share]
    below = [one for one in shares if standing_of(one.estimate, one.estimate.chance) == "below"]
    if not below:
        return ""
    led = [
        one.estimate.by_length or 0.0
        for one in below
        if one.estimate.off_by_length and not (one.best and one.best.name == BY_LENGTH)
    ]
    why = f"; lengths alone would give {_range(led, below[0])}" if led else ""
    return f", the opposite of what is expected{why}"


def _level(members: Sequence[Headline]) -> str:
    """The baseline of some results in words, with its value or the lowest and the highest."""
    known = [one for one in members if one.baseline is not None]
    names = {one.best.name if one.best else "" for one in known}
    if not all(one.estimate.is_share for one in known):
        return " to ".join(dict.fromkeys(f"{one.baseline:g}" for one in known))
    level = _range([one.baseline or 0.0 for one in known], known[0])
    always = names - {"", BY_LENGTH}
    if len(names) == 1 and always:
        return f"the best constant answer ({names.pop()}, {level})"
    what = [
        *(["chance"] if "" in names else []),
        *(["every constant answer" if len(names) > 1 else "the best"] if always else []),
        *(["what lengths alone give"] if BY_LENGTH in names else []),
    ]
    return f"{' and '.join(what)} ({level})"


def _range(values: Sequence[float], like: Headline) -> str:
    """One number, or the lowest and the highest if they look different."""
    ends = [like.shown(value) for value in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def _no_baseline(members: Sequence[Headline]) -> str:
    """That there is no level of chance, and why."""
    reasons = dict.fromkeys(
        one.estimate.chance_method
        for one in members
        if one.standing == "no baseline" and one.estimate.chance_method
    )
    why = f" ({'; '.join(reasons)})" if reasons else ""
    return f"There is no chance level to compare with{why}"


def _many_results(members: Sequence[Headline]) -> str:
    """What a model shows on several suites: above, below, not to be told, undefined."""
    by_standing = grouped((one.standing, one) for one in members)
    judged = [one for one in members if one.standing in {"above", "below", "open"}]
    parts = []
    if judged:
        above = by_standing.get("above", [])
        where = _how_many(above, judged)
        whether = "is above" if above else "is not above"
        parts.append(f"{whether} {_level(judged)} on {where}{_spread(above) if above else ''}")
        if below := by_standing.get("below"):
            parts.append(f"is below it on {_suites(below)}{_opposite(below)}")
        if unsure := by_standing.get("open"):
            parts.append(f"is not distinguishable from it on {_suites(unsure)}")
    if "no baseline" in by_standing:
        some_results = by_standing["no baseline"]
        reached = _range([one.estimate.value or 0.0 for one in some_results], some_results[0])
        where = f" on {_suites(some_results)}" if judged else ""
        parts.append(f"reaches {reached}{where} ({_highest(some_results)})")
    if "undefined" in by_standing:
        lacking = by_standing["undefined"]
        why = reasons_together(one.estimate.reason for one in lacking) or "undefined"
        parts.append(f"has no interval on {_suites(lacking)} ({why})")
    return _listed(parts)


def _how_many(above: Sequence[Headline], judged: Sequence[Headline]) -> str:
    n = len(judged)
    if n == 1:
        return judged[0].suite
    if len(above) == n:
        return "both suites" if n == 2 else f"all {n} suites"  # noqa: PLR2004 - as the word says
    return f"{len(above)} of {n} suites" if above else f"any of {n} suites"


def _spread(above: Sequence[Headline]) -> str:
    """The values of some results and how low they could be."""
    values = _range([one.estimate.value or 0.0 for one in above], above[0])
    return f" ({', '.join([values, *_lowest(above)])})"


def _suites(members: Iterable[Headline]) -> str:
    return some(list(dict.fromkeys(one.suite for one in members)))


def _only_plain(members: Sequence[Headline], twins: Mapping[str, str]) -> Iterator[str]:
    """Which models know something in plain sentences and not with an attractor."""
    standing = {(one.model, one.suite): one.standing for one in members}
    for model in dict.fromkeys(one.model for one in members):
        only = [
            plain
            for plain, hard in twins.items()
            if standing.get((model, plain)) == "above"
            and standing.get((model, hard)) in {"open", "below"}
        ]
        if only:
            yield f"{model} knows it in plain sentences, not with an attractor: {some(only)}"


def _listed(parts: Sequence[str]) -> str:
    """Parts of a sentence with commas, and a word before the last one."""
    return joined(parts) if len(parts) < 3 else f"{', '.join(parts[:-1])}, and {parts[-1]}"  # noqa: PLR2004


# Many models, which are counted.


def _counted_models(members: Sequence[Headline]) -> Iterator[str]:
    """How many of many models are above the baseline, with the lowest and the highest."""
    judged = [one for one in members if one.standing in {"above", "below", "open"}]
    if judged:
        suites = {one.suite for one in judged}
        yield (_models_of_one if len(suites) == 1 else _models_of_several)(judged)
    bare = [one for one in members if one.standing == "no baseline"]
    if bare:
        yield _no_baseline(bare)
    lacking = [one for one in members if one.standing == "undefined"]
    if lacking:
        yield f"{len(lacking):,} of {len(members):,} results have no interval"
    known = [one for one in members if one.estimate.value is not None]
    if known:
        least, most = (end(known, key=lambda one: one.estimate.value or 0.0) for end in (min, max))
        yield (
            f"The values go from {_value(least)} ({_of(least, members)}) to"
            f" {_value(most)} ({_of(most, members)})"
        )


def _of(one: Headline, members: Sequence[Headline]) -> str:
    several = len({member.suite for member in members}) > 1
    return f"{one.model} on {one.suite}" if several else one.model


def _models_of_one(judged: Sequence[Headline]) -> str:
    """Many models on one suite."""
    counts = {key: len(ones) for key, ones in grouped((j.standing, j) for j in judged).items()}
    words = {"above": f"above {_level(judged)}", "below": "below it", "open": ""}
    parts = [
        f"{counts[key]} {_are(counts[key])} {words[key]}"
        for key in ("above", "below")
        if key in counts
    ]
    if "above" not in counts:
        parts.insert(0, f"none is {words['above']}")
    if "open" in counts:
        parts.append(f"{counts['open']} {_are(counts['open'])} not distinguishable from it")
    return f"Of {len(judged)} models, {_listed(parts)}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _models_of_several(judged: Sequence[Headline]) -> str:
    """Many models on several suites: on how many each is above the baseline."""
    by_model = grouped((one.model, one.standing) for one in judged)
    shares = {model: (some.count("above"), len(some)) for model, some in by_model.items()}
    whole = [model for model, (above, n) in shares.items() if above == n]
    rest = [above for above, n in shares.values() if above < n]
    n_suites = len({one.suite for one in judged})
    level = _level(judged)
    parts = []
    if whole:
        parts.append(f"{len(whole)} {_are(len(whole))} above {level} on every suite")
    if rest:
        on = " to ".join(dict.fromkeys(str(end) for end in (min(rest), max(rest))))
        others = "the others" if whole else f"each is above {level}"
        parts.append(f"{others} on {on} of {n_suites}")
    below = sum(one.standing == "below" for one in judged)
    if below:
        parts.append(f"{below:,} of {len(judged):,} results are below it")
    return f"Of {len(by_model)} models, {_listed(parts)}"


def _notes(
    headlines: Sequence[Headline], tests: Sequence[PairTest], leaders: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """What the words mean: as far as they are used, each once."""
    if judged := sum(one.standing in {"above", "below", "open"} for one in headlines):
        each = "; intervals are not corrected for their number" if judged > 1 else ""
        exact = ", and that the exact test agrees" if any(one.doubt for one in headlines) else ""
        yield f"Above and below mean that the whole 95% interval is{exact}{each}."
    if known := sum(test.p is not None for test in tests):
        over = f", p corrected by Holm's method over all {known} tests" if known > 1 else ""
        yield f"Differences: paired tests on the same items{over}."
    elif leaders and len({one.model for one in headlines}) > FEW_MODELS:
        yield (
            "First: paired tests on the same items, p corrected by Holm's method over all pairs of"
            " models of a suite; each suite by itself."
        )
