"""Paradigms: the kinds of test, each with its requests, its judging and its reports.

The names below are all that a package with a paradigm of its own needs (docs/paradigms.md). They
are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.engine.requests import Answers, Choose, Fill, Reply, Requests, Score
    from cimento.kinds.base import (
        AskedModel,
        MethodFacts,
        ParadigmOptions,
        Stored,
        SuiteReading,
    )
    from cimento.kinds.paradigm import Paradigm, prompts_table
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking
    from cimento.records.outcomes import outcomes_table, rate
    from cimento.suites.formats.lm_eval import ChoiceTask

_HOMES = {
    "cimento.engine.requests": (
        "Answers", "Choose", "Fill", "Reply", "Requests", "Score",
    ),
    "cimento.kinds.base": (
        "AskedModel", "MethodFacts", "ParadigmOptions", "Stored", "SuiteReading",
    ),
    "cimento.kinds.paradigm": ("Paradigm", "prompts_table"),
    "cimento.records.outcomes": ("outcomes_table", "rate"),
    "cimento.kinds.run": ("Run",),
    "cimento.suites.formats.lm_eval": ("ChoiceTask",),
    "cimento.models.registry": ("Asking",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604, RUF100  # the names are loaded on demand
    "Answers",
    "AskedModel",
    "Asking",
    "ChoiceTask",
    "Choose",
    "Fill",
    "MethodFacts",
    "Paradigm",
    "ParadigmOptions",
    "Reply",
    "Requests",
    "Run",
    "Score",
    "Stored",
    "SuiteReading",
    "outcomes_table",
    "prompts_table",
    "rate",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cimento.paradigms' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
