"""People left out by rules: the form, and what each rule did as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from nicegui import ui

from cimento.app.answer_tables import alpha_title
from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded, heading
from cimento.app.label_shares import LabelShare, good_shares
from cimento.app.parts import number_field, number_in, refused, table
from cimento.app.words import Words, percent, said
from cimento.errors import InputError
from cimento.judgments import BETTER, Judgment
from cimento.judgments.filters import (
    MEASURES,
    ExclusionRules,
    FilterResult,
    FilterStep,
    LoggedRule,
    logged_rules,
)
from cimento.judgments.summaries import (
    Measurement,
    QuestionSummary,
    is_rated,
    judgments_by_person,
    main_question,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that leaves people out.

    Attributes:
        field: of `ExclusionRules`.
        flag: of the command, without its dashes.
        name: in the result of filtering.
        least: the least limit that makes sense.
        most: the largest.
    """

    field: str
    flag: str
    name: str
    least: float
    most: float


ATTENTION = "attention checks"
"""The name of the rule on attention checks."""
WITH_REST = "agreement with the rest"
"""The name of the rule on agreement with all others."""

RULES = (
    Rule("answered", "answered", "questions answered", 0, 1),
    Rule("attention", "attention", ATTENTION, 0, 1),
    Rule("seconds", "min-seconds", "completion time", 0, 36_000),
    Rule("median_seconds", "min-median-seconds", "median answer time", 0, 3_600),
    Rule("same_run", "same-run", "straight-lining, run", 1, 1000),
    Rule("same_share", "same-share", "straight-lining, share", 0, 1),
    Rule("with_rest", "with-rest", WITH_REST, -1, 1),
)
_BY_NAME = {rule.name: rule for rule in RULES}


Filtered: TypeAlias = "tuple[FilterResult, Sequence[Judgment]]"
"""What came of rules, and the answers before."""


class ExclusionForm:
    """The rules that leave people out, and what came of them.

    Args:
        visit: what the page is built for.
        apply: leaves people out, by the rules and the words of the command's options.
        undo: shows everybody again, and says whether somebody had been left out.
    """

    def __init__(
        self,
        visit: Visit,
        apply: Callable[[ExclusionRules, Sequence[str]], Awaitable[Filtered]],
        undo: Callable[[], Awaitable[bool]],
    ) -> None:
        self._visit, self._say, self._apply, self._undo = visit, visit.say, apply, undo
        self._ranges = _ranges(())

    def build(self) -> None:
        """Build the form in the place where it is called."""
        say = self._say
        heading(say("people.each"), level=3)
        self._each = ui.element("div").classes("each").mark("each-person")
        heading(say("people.filter"), level=3)
        Text(say("people.filter-what"))
        with ui.element("div").classes("form-grid rules"):
            self._fields = {rule: number_field(say(f"people.rule-{rule.flag}")) for rule in RULES}
        button(say("people.filter-do"), guarded(self._visit, self._filter), icon="filter_alt")
        self._shown = ui.element("div").props("aria-live=polite").mark("filtered")

    def take(
        self, judgments: Sequence[Judgment], rules: Sequence[LoggedRule], whole: Sequence[Judgment]
    ) -> None:
        """Show what rules would measure of each person, and take away what earlier ones did.

        Args:
            judgments: the answers that are looked at now, before any further rule.
            rules: those that have made this table.
            whole: the answers before these rules.
        """
        self._shown.clear()
        self._ranges = _ranges(judgments)
        for rule, field in self._fields.items():
            least, most = self._ranges[rule]
            if most == 1:  # other limits have a unit, which their names say
                ends = {"least": self._say.number(least, ",g"), "most": self._say.number(most)}
                field.props["hint"] = self._say("people.range", **ends)
                field.update()
        self._each.clear()
        with self._each:
            excluded = {who: rule.rule for rule in rules for who in rule.excluded}
            _show_each(whole, self._say, excluded=excluded, is_filtered=bool(rules))

    async def _filter(self) -> None:
        """Leave people out, and show what came of it; without a rule, show everybody again.

        Raises:
            InputError: there is no rule and everybody is shown, or a limit that no answers have.
        """
        say, given = self._say, dict[str, Any]()
        options: list[str] = []
        for rule, field in self._fields.items():
            limit = number_in(field, say)
            if limit is None:
                continue
            # No answers could have such a limit, a share in percent, say.
            least, most = self._ranges[rule]
            if not least <= limit <= most:
                ends = {"least": say.number(least, ",g"), "most": say.number(most, ",g")}
                raise refused(field, say("people.limits", **ends))
            given[rule.field] = int(limit) if rule.field == "same_run" else limit
            options += [f"--{rule.flag}", f"{limit:g}"]
        if not given:
            if await self._undo():
                return
            raise InputError(where=say("people.filter"), seen=say("people.no-rule"))
        rules = ExclusionRules(**given)
        filtered, before = await self._apply(rules, options)
        excluded = {one.annotator: step.rule for step in filtered.steps for one in step.excluded}
        self._each.clear()
        with self._each:
            _show_each(before, say, excluded=excluded, is_filtered=True)
        self._shown.clear()
        with self._shown:
            _show(filtered, rules, before, say)


def _ranges(judgments: Sequence[Judgment]) -> dict[Rule, tuple[float, float]]:
    """The least and the largest limit of each rule; no proportion of agreement is negative."""
    return {
        rule: (0 if rule.name == WITH_REST and _is_share(judgments) else rule.least, rule.most)
        for rule in RULES
    }


def _is_share(judgments: Sequence[Judgment]) -> bool:
    """Whether agreement with the others is a proportion of answers, not a correlation."""
    question = main_question(judgments)
    return bool(question) and not is_rated(question)


def show_logged(place: Path, say: Words) -> bool:
    """Show which rules have made a table, in the place where the page is being built.

    Args:
        place: of the table.
        say: the words of the page.

    Returns:
        Whether there are any.
    """
    rules = logged_rules(place)
    for logged in rules:
        known = _BY_NAME.get(logged.rule)
        name = say(f"people.rule-{known.flag}") if known else _named(logged.rule, say)
        limit = f" {_short(logged.limit, say)}" if logged.limit is not None else ""
        people = ", ".join(logged.excluded) or say.number(0)
        Text(say("people.rule-applied", rule=f"{name}{limit}", people=people)).mark("logged")
    return bool(rules)


def _named(rule: str, say: Words) -> str:
    """What a rule looks at, by its name in a log."""
    known = _BY_NAME.get(rule)
    return say(f"people.each-{known.flag}" if known else f"people.rule-{rule.replace(' ', '-')}")


def _show_each(
    judgments: Sequence[Judgment],
    say: Words,
    *,
    excluded: Mapping[str, str],
    is_filtered: bool,
) -> None:
    """Show what rules would measure of each person, in the place where the page is being built.

    Args:
        judgments: the answers, with those of people who are left out.
        say: the words of the page.
        excluded: the names of the rules that left people out, by person.
        is_filtered: whether rules were used.
    """
    people = judgments_by_person(judgments)
    measured = {rule.name: MEASURES[rule.name](judgments) for rule in RULES}
    shown = [rule for rule in RULES if any(one.value is not None
             for one in measured[rule.name].values())]  # fmt: skip
    good = good_shares(judgments)
    table(
        [say("people.of-person"), *(say(f"people.each-{rule.flag}") for rule in shown),
         *([say("people.each-good")] if good else [])],
        [
            [say("people.each-out", person=person, reason=_named(excluded[person], say))
             if person in excluded else person,
             *(_measured(rule, measured[rule.name].get(person), answers, say) for rule in shown),
             *([_good(good.get(person), say)] if good else [])]
            for person, answers in people.items()
        ],
    )  # fmt: skip
    _explain({rule.flag for rule in shown}, judgments, say)
    failed = [
        f"{person} ({_measured(_BY_NAME[ATTENTION], one, people[person], say)})"
        for person, one in measured[ATTENTION].items()
        if one.value is not None and one.value < 1
    ]
    if failed:
        told = [say("people.each-failed", people="; ".join(failed))]
        if not is_filtered:
            told.append(say("people.each-nobody"))
        Text(" ".join(told)).classes("mend").mark("failed")
    for rule in RULES:
        reasons = Counter(one.basis for one in measured[rule.name].values() if one.value is None)
        for why, count in reasons.items():
            text = say("people.each-none", what=say(f"people.each-{rule.flag}"), count=count,
                       why=said(why, say.language) or why)  # fmt: skip
            Text(text).classes("small")


def _good(one: LabelShare | None, say: Words) -> str:
    """How often a person chose the good sentence."""
    if one is None:
        return "–"
    share = one.share
    counts = say("people.of-of", part=round(share.share * share.n), whole=share.n)
    return f"{percent(100 * share.share, say)} ({counts})"


def _explain(shown: Collection[str], judgments: Sequence[Judgment], say: Words) -> None:
    """Say what equal answers and agreement are, of the question that was asked.

    Args:
        shown: the flags of the rules that could be measured.
        judgments: the answers.
        say: the words of the page.
    """
    if main_question(judgments) == BETTER and "same-share" in shown:
        Text(say("people.same-place")).classes("small")
    if "with-rest" in shown:
        kind = "share" if _is_share(judgments) else "ratings"
        Text(say(f"people.with-rest-{kind}")).classes("small").mark("with-rest")


def _measured(rule: Rule, one: Measurement | None, answers: Sequence[Judgment], say: Words) -> str:
    """What was measured of a person: a count of checks, a percentage, or a number."""
    if one is None or one.value is None:
        return "–"
    if rule.name == ATTENTION:
        checks = sum(answer.expected is not None for answer in answers)
        return say("people.of-of", part=round(one.value * checks), whole=checks)
    if (rule.least, rule.most) == (0, 1):
        return percent(100 * one.value, say)
    return _short(one.value, say)


def _show(
    filtered: FilterResult, rules: ExclusionRules, before: Sequence[Judgment], say: Words
) -> None:
    """Show what rules did, in the place where the page is being built.

    Args:
        filtered: what is left, with the steps.
        rules: the rules.
        before: the answers that were filtered.
        say: the words of the page.
    """
    Text(say("people.filtered", left=len(filtered.judgments), count=len(before)))
    names = ("rule", "limit", "left-out", "answers-out", "mean")
    mains = [one for step in filtered.steps for one in map(_main, (step.before, step.after)) if one]
    table(
        [
            *(say(f"people.of-{name}") for name in names),
            alpha_title(mains, say, key="of-alpha-only"),
        ],
        [_step_row(step, rules, say) for step in filtered.steps],
    )
    people = [
        (exclusion.annotator, _rule(step, say), _short(exclusion.measured, say),
         str(exclusion.judgments))
        for step in filtered.steps for exclusion in step.excluded
    ]  # fmt: skip
    if people:
        titles = [say(f"people.of-{name}") for name in ("person", "rule", "measured", "judgments")]
        table(titles, people)
    for step in filtered.steps:
        for why, count in Counter(step.unmeasured.values()).items():
            reason = said(why, say.language) or why
            Text(say("people.unmeasured", rule=_rule(step, say), count=count, why=reason)).classes(
                "small"
            )
        if step.moved is not None:
            place, old, new = step.moved
            sentence = _sentence(before, place)
            Text(say("people.moved", rule=_rule(step, say), sentence=sentence,
                     before=say.number(old, ".2f"), after=say.number(new, ".2f"))
            ).classes("small")  # fmt: skip


def _sentence(judgments: Sequence[Judgment], place: str) -> str:
    """The sentence of an item and its condition, or these if it is not known."""
    found = (
        one.candidate for one in judgments
        if one.candidate and f"{one.item} {one.condition}".strip() == place
    )  # fmt: skip
    return next(found, place)


def _rule(step: FilterStep, say: Words) -> str:
    return say(f"people.rule-{_BY_NAME[step.rule].flag}")


def _short(value: float | None, say: Words) -> str:
    """A limit, or what was measured of a person; empty where there is nothing."""
    if value is None:
        return ""
    return say.number(value, ",g" if float(value).is_integer() else ".2f")


def _step_row(step: FilterStep, rules: ExclusionRules, say: Words) -> list[str]:
    sides = [_main(step.before), _main(step.after)]
    return [
        _rule(step, say), _short(getattr(rules, _BY_NAME[step.rule].field), say),
        str(len(step.excluded)), str(sum(one.judgments for one in step.excluded)),
        _change([side.mean if side else None for side in sides], say),
        _change([side.alpha.value if side else None for side in sides], say),
    ]  # fmt: skip


def _main(summaries: Sequence[QuestionSummary]) -> QuestionSummary | None:
    """The summary of ratings, or of the first other question."""
    rated = (one for one in summaries if is_rated(one.question))
    return next(rated, next(iter(summaries), None))


def _change(values: Sequence[float | None], say: Words) -> str:
    """A number before a rule and after it; once where it stays."""
    shown = ["–" if value is None else say.number(value, ".2f") for value in values]
    return " → ".join(dict.fromkeys(shown))
