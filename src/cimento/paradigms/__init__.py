"""Paradigms: the kinds of test, each with its requests, its judging and its reports.

The names below are all that a package with a paradigm of its own needs (docs/paradigms.md). They
are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.engine.requests import Answers, Choose, Fill, Reply, Requests, Score
    from cimento.kinds.asker import Asker, prompts_table
    from cimento.kinds.base import (
        AskedModel,
        MethodFacts,
        ParadigmOptions,
        SuiteReading,
    )
    from cimento.kinds.judge import Judge
    from cimento.kinds.paradigm import Paradigm
    from cimento.kinds.plain import PlainPresenter
    from cimento.kinds.presenter import Presenter
    from cimento.kinds.reader import SuiteReader
    from cimento.kinds.run import Run
    from cimento.kinds.surveyor import Surveyor
    from cimento.models.settings import Asking
    from cimento.records.outcomes import outcomes_table, rate
    from cimento.suites.formats.lm_eval import ChoiceTask

_HOMES = {
    "cimento.engine.requests": (
        "Answers", "Choose", "Fill", "Reply", "Requests", "Score",
    ),
    "cimento.kinds.base": (
        "AskedModel", "MethodFacts", "ParadigmOptions", "SuiteReading",
    ),
    "cimento.kinds.asker": ("Asker", "prompts_table"),
    "cimento.kinds.judge": ("Judge",),
    "cimento.kinds.paradigm": ("Paradigm",),
    "cimento.kinds.plain": ("PlainPresenter",),
    "cimento.kinds.presenter": ("Presenter",),
    "cimento.kinds.reader": ("SuiteReader",),
    "cimento.kinds.surveyor": ("Surveyor",),
    "cimento.records.outcomes": ("outcomes_table", "rate"),
    "cimento.kinds.run": ("Run",),
    "cimento.suites.formats.lm_eval": ("ChoiceTask",),
    "cimento.models.registry": ("Asking",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604, RUF100  # the names are loaded on demand
    "Answers",
    "AskedModel",
    "Asker",
    "Asking",
    "ChoiceTask",
    "Choose",
    "Fill",
    "Judge",
    "MethodFacts",
    "Paradigm",
    "ParadigmOptions",
    "PlainPresenter",
    "Presenter",
    "Reply",
    "Requests",
    "Run",
    "Score",
    "SuiteReader",
    "SuiteReading",
    "Surveyor",
    "outcomes_table",
    "prompts_table",
    "rate",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cimento.paradigms' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
