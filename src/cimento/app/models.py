"""The models that can be chosen, and the one that is loaded to try sentences."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.frame import Visit
from cimento.app.workspace import Workspace
from cimento.models.hf.names import hub_cache
from cimento.models.hf.stored import cached_models, demo_models

if TYPE_CHECKING:
    from cimento.models.in_memory import LoadedModel
    from cimento.models.registry import AnyScorer


def known_models(workspace: Workspace) -> list[str]:
    """The names of models on this machine: those of cimento, of the hub's cache, and in folders."""
    cache = hub_cache()
    cached = cached_models(cache) if cache is not None else []
    names = [model.name for model in [*demo_models(), *cached] if model.kind]
    return list(dict.fromkeys([*names, *workspace.model_folders()]))


def model_choice(visit: Visit, label: str, value: str | list[str]) -> ui.select:
    """A field for one model or several: those on this machine, or any other by its name.

    Args:
        visit: what the page is built for.
        label: what is asked for.
        value: the model chosen at first; a list for a field of several.
    """
    several = isinstance(value, list)
    given = value if several else [value]
    options = list(dict.fromkeys([*known_models(visit.workspace), *given]))
    field = ui.select(
        options, label=label, value=value, multiple=several, new_value_mode="add-unique"
    )
    field.props("outlined use-chips" if several else "outlined hide-selected fill-input")
    return field.props(f'hint="{visit.say("run.names")}"').classes("wide")


_ONE_AT_A_TIME = threading.Lock()


def opened_model(name: str) -> AnyScorer | LoadedModel:
    """A model, which stays loaded until another is asked for.

    Args:
        name: as `Workspace.model` returns it.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.
    """
    with _ONE_AT_A_TIME:
        return _opened(name)


@functools.lru_cache(maxsize=1)
def _opened(name: str) -> AnyScorer | LoadedModel:
    from cimento.api import load_model

    return load_model(name)
