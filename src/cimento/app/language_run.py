"""All published sets of a language on the page of runs: what there is, and the run of all of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from nicegui import ui

from cimento.app.frame import Text, Visit, heading
from cimento.app.parts import searched, table_of
from cimento.app.planning import plan_and_queue, show_models
from cimento.app.sentences import model_choice
from cimento.app.wanted import RunRequest
from cimento.app.words import Words, said
from cimento.app.workspace import SUITES, Workspace
from cimento.documents.language_answer import SetSources
from cimento.evaluation.budget import parse_budget
from cimento.evaluation.language_plan import LanguagePlan, plan_language
from cimento.suites import JsonValue
from cimento.suites.language_sets import (
    LanguageSet,
    accept_licenses,
    accepted_licenses,
    languages_of,
    sets_of,
)
from cimento.suites.published import published

_USUAL_BUDGET = "10m"
_MEGABYTE = 1_000_000


def planned(workspace: Workspace, wanted: RunRequest) -> LanguagePlan:
    """What a run of all sets of a language would fetch and take; nothing is fetched.

    Raises:
        CimentoError: what is in ``suites/`` may not be used, or an option cannot.
    """
    sets = sets_of(wanted.language, published().values())
    settings = SetSources(folder=workspace.plain(SUITES)).settings(())
    return plan_language(
        wanted.language, sets, settings, wanted.options(workspace),
        budget=parse_budget(wanted.budget or ""),
    )  # fmt: skip


def unlicensed(language: str) -> tuple[LanguageSet, ...]:
    """The sets of a language for which no license is stated, and whose use nobody accepted yet."""
    before = accepted_licenses()
    sets = sets_of(language, published().values()) if language else ()
    return tuple(
        one
        for one in sets
        if not (one.dataset.states_license or one.name in before or one.dataset.by_hand)
    )


def build_language(visit: Visit) -> None:
    """Build the part of the page."""
    say = visit.say
    heading(say("run.sets"))
    Text(say("run.sets_lead")).classes("lead")
    fields = _Fields(visit)
    show = partial(_show_plan, visit, fields)
    plan_and_queue(visit, fields, names=("sets-plan", "sets-run"), plan=planned, show=show)


class _Fields:
    """The fields of a run of all sets.

    Args:
        visit: what the page is built for.
    """

    def __init__(self, visit: Visit) -> None:
        say = self._say = visit.say
        named = {
            code: say.named("language", code) for code in languages_of("", published().values())
        }
        by_name = dict(sorted(named.items(), key=lambda one: one[1]))
        with ui.element("div").classes("fields"):
            self._language = searched(by_name, label=say("start.language"))
            self._language.props("outlined").mark("sets-language")
            self._models = model_choice(visit, say("run.models"), ["demo-causal"])
            self._models.mark("sets-models")
            self._budget = ui.input(say("run.budget"), value=_USUAL_BUDGET).mark("sets-budget")
            self._budget.props(f'outlined hint="{say("run.budget_hint")}"')
        self._accepted = ui.checkbox().mark("sets-license")
        self._language.on_value_change(self.name_licenses)
        self.name_licenses()

    @property
    def wanted(self) -> RunRequest:
        """What the fields say."""
        budget = (self._budget.value or "").strip()
        models = tuple(self._models.value)
        return RunRequest((), models, self._language.value or "", budget=budget)

    def agree(self) -> None:
        """Remember that the sets that the box names may be used."""
        if self._accepted.value:
            accept_licenses(unlicensed(self._language.value or ""))
            self.name_licenses()

    def name_licenses(self) -> None:
        """Name the sets without a stated license; for other sets, nobody accepted anything."""
        names = [one.name for one in unlicensed(self._language.value or "")]
        self._accepted.value = False
        self._accepted.text = self._say("run.accept_licenses", names=", ".join(names))
        self._accepted.set_visibility(bool(names))

    def on_change(self, action: Callable[[], None]) -> None:
        """Have something done whenever a field changes."""
        for field in (self._language, self._models, self._budget):
            field.on_value_change(action)


def _show_plan(visit: Visit, fields: _Fields, plan: LanguagePlan) -> None:
    """What a run would do about each set, and what it takes."""
    say, wanted = visit.say, fields.wanted
    _show_sets(say, plan.sets, [one.name for one in unlicensed(wanted.language)])
    heading(say("run.sets_take"), level=3)
    if not plan.part.asked.suites:
        Text(say("run.sets_none"))
        return
    show_models(say, plan.runs)
    if any(row["is_fetched"] for row in plan.sets):
        Text(say("run.sets_later")).classes("small")
    if plan.part.of_items and not plan.is_drawn:
        items, budget = say.number(plan.part.of_items), wanted.budget
        Text(say("run.sets_time", items=items, budget=budget)).classes("small")
    elif plan.part.sample is not None:
        counts = say.number(plan.part.sample.items), say.number(plan.part.sample.of_items)
        Text(say("run.sets_part", items=counts[0], all=counts[1])).classes("small")


def _show_sets(
    say: Words, rows: Sequence[Mapping[str, JsonValue]], to_accept: Collection[str]
) -> None:
    """What a run would do about each set, as a table, and what is in the way."""
    names = (say(f"run.{name}") for name in ("set", "license", "files"))
    with ui.element("div").classes("scroll"), table_of(names, "plan"):
        for row in rows:
            with ui.element("tr"):
                Text(str(row["set"]), "th").props("scope=row")
                Text(str(row["license"]), "td").props("lang=en")
                Text(_state(say, row, to_accept), "td")
    for row in rows:
        if row["reason"] and row["set"] not in to_accept:
            reason, todo = (said(str(row[key]), say.language) or row[key] for key in _WHY)
            Text(f"{row['set']}: {reason}. {todo}").classes("small")


_WHY = ("reason", "todo")


def _state(say: Words, row: Mapping[str, JsonValue], to_accept: Collection[str]) -> str:
    if row["set"] in to_accept:
        return say("run.set_agree")
    if row["reason"]:
        return say("run.set_missing")
    if row["is_here"]:
        return say("run.set_here")
    size = row["download_bytes"]
    if not isinstance(size, int):
        return say("run.set_fetched")
    return f"{say('run.set_fetched')}, {say.number(size / _MEGABYTE, ',.1f')} MB"
