"""cimento: targeted linguistic evaluation of language models.

The names below are the public interface; everything else may change. They are loaded when they
are first used, so that importing cimento is quick and imports no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from cimento._version import __version__ as __version__

if TYPE_CHECKING:
    from cimento.api import Failure
    from cimento.cloze.free import fill
    from cimento.errors import CimentoError, Fault, SuiteError, UsageError
    from cimento.freetext import score, score_texts
    from cimento.judging import Judging
    from cimento.models.base import Policy, Scorer
    from cimento.regions_api import Evaluation, evaluate, evaluate_all
    from cimento.report.document import write_report
    from cimento.results import Run, open_runs, summarise
    from cimento.runs.estimates import Estimate
    from cimento.runs.outcomes import Outcome
    from cimento.runs.run import open_run
    from cimento.runs.summary import Missing, RunSummary, Summary
    from cimento.sources import Asking
    from cimento.suites.load import load_suite
    from cimento.suites.model import Condition, Item, Meta, Prediction, Region, Suite
    from cimento.suites.pairs import pairs

_HOMES = {
    "cimento.api": ("Failure",),
    "cimento.cloze.free": ("fill",),
    "cimento.errors": (
        "CimentoError",
        "Fault",
        "SuiteError",
        "UsageError",
    ),
    "cimento.freetext": (
        "score",
        "score_texts",
    ),
    "cimento.judging": ("Judging",),
    "cimento.models.base": (
        "Policy",
        "Scorer",
    ),
    "cimento.regions_api": (
        "Evaluation",
        "evaluate",
        "evaluate_all",
    ),
    "cimento.report.document": ("write_report",),
    "cimento.results": (
        "Run",
        "open_runs",
        "summarise",
    ),
    "cimento.runs.estimates": ("Estimate",),
    "cimento.runs.outcomes": ("Outcome",),
    "cimento.runs.run": ("open_run",),
    "cimento.runs.summary": (
        "Missing",
        "RunSummary",
        "Summary",
    ),
    "cimento.sources": ("Asking",),
    "cimento.suites.load": ("load_suite",),
    "cimento.suites.model": (
        "Condition",
        "Item",
        "Meta",
        "Prediction",
        "Region",
        "Suite",
    ),
    "cimento.suites.pairs": ("pairs",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604, RUF100  # the names are loaded on demand
    "Asking",
    "CimentoError",
    "Condition",
    "Estimate",
    "Evaluation",
    "Failure",
    "Fault",
    "Item",
    "Judging",
    "Meta",
    "Missing",
    "Outcome",
    "Policy",
    "Prediction",
    "Region",
    "Run",
    "RunSummary",
    "Scorer",
    "Suite",
    "SuiteError",
    "Summary",
    "UsageError",
    "evaluate",
    "evaluate_all",
    "fill",
    "load_suite",
    "open_run",
    "open_runs",
    "pairs",
    "score",
    "score_texts",
    "summarise",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'cimento' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
