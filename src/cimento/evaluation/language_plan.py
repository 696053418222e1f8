"""The plan of a run of all published sets of a language: what is fetched, and what is asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.evaluation.budget import AskedPart, Budget, asked_part, drawn_part
from cimento.evaluation.language_suites import (
    SetSettings,
    fitting,
    language_suites,
    obstacle,
    planned_set,
)
from cimento.evaluation.planning import RunPlan, plan_suites
from cimento.suites.language_sets import OWN

if TYPE_CHECKING:
    from cimento.options import RunOptions
    from cimento.suites import JsonValue
    from cimento.suites.language_sets import LanguageSet


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguagePlan:
    """The plan of a run of all sets of a language; nothing is fetched for it.

    Attributes:
        sets: what a run would do about each set, from `planned_set`.
        part: what is asked of the sets that are on this machine.
        runs: the plan of that part.
        is_drawn: whether `part` is the part of the budget; if not, it is all that is here, as a
            budget of time is enough for as many items as models turn out to answer in it.
    """

    sets: tuple[dict[str, JsonValue], ...]
    part: AskedPart
    runs: RunPlan
    is_drawn: bool


def plan_language(
    language: str,
    sets: Sequence[LanguageSet],
    settings: SetSettings,
    options: RunOptions,
    *,
    budget: Budget | None = None,
    speed: float | None = None,
    own: Collection[str] = OWN,
) -> LanguagePlan:
    """Plan a run of all sets of a language with the files of this machine; no model is loaded.

    Args:
        language: its code.
        sets: the sets.
        settings: where they come from.
        options: the models and the options of the runs, with the folder that they are stored in.
        budget: for all models together; None to ask everything.
        speed: items that a model answers in a second; None where that is not known.
        own: the parts of cimento's own suites that are asked too.

    Raises:
        CimentoError: an option cannot be used.
    """
    rows = tuple(planned_set(one, settings) for one in sets)
    here = [one for one in sets if one.here(settings.folders) and not obstacle(one, settings)]
    seed = options.seed or 0
    if budget is not None and sets:
        own = ()  # a part is drawn of published sets, whether they are here or not
    asked = language_suites(here, settings, language=language, own=own, seed=seed)
    asked = fitting(asked, options)
    is_drawn = budget is None or bool(budget.items or speed)
    part = (
        asked_part(asked, options.models, options, budget=budget, speed=speed, seed=seed)
        if is_drawn
        else drawn_part(asked, None, seed=seed)
    )
    return LanguagePlan(
        sets=rows, part=part, runs=plan_suites(part.asked.suites, options), is_drawn=is_drawn
    )
