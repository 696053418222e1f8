"""cimento: targeted linguistic evaluation of language models.

The names below are the public interface, together with `cimento.statistics`, `cimento.paradigms`
(for writing a paradigm in another package) and `cimento.testing`; everything else may change. Each
name is loaded when it is first used, so that importing cimento is quick and does not import torch.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from cimento._version import __version__ as __version__

if TYPE_CHECKING:
    from cimento.cite import cite
    from cimento.compare import Analysis, analyze, compare
    from cimento.corpus.morphology.dictionaries import open_morphology
    from cimento.documents import figure, report
    from cimento.errors import (
        CimentoError,
        Fault,
        InputError,
        ModelError,
        SuiteError,
        TableError,
        UsageError,
    )
    from cimento.evaluation import Failure, evaluate, evaluate_all, load_model
    from cimento.evaluation.freetext import score
    from cimento.evaluation.training import evaluate_while_training
    from cimento.export import export
    from cimento.kinds.registry import LoadedSuite, load_suite, load_suites
    from cimento.kinds.run import Run, open_run, open_runs
    from cimento.measures import Measure
    from cimento.models.base import Encoding, ModelCard, Scorer, TextScorer
    from cimento.models.in_memory import live_scorer, undisturbed
    from cimento.models.registry import Source, open_source
    from cimento.models.settings import Asking, Policy
    from cimento.options import RunOptions
    from cimento.paradigms.cloze.requests import fill
    from cimento.paradigms.frames import cloze, ratings, stories
    from cimento.people.reading_times import join_surprisals
    from cimento.records.outcomes import Estimate, Outcome
    from cimento.records.summary import Missing, RunSummary, Summary
    from cimento.site import SiteChanges, SiteSettings, write_site
    from cimento.suites import Condition, Item, Meta, Prediction, Region, Suite, new_canary
    from cimento.suites.derived import pairs
    from cimento.suites.reading import Reading

_HOMES = {
    "cimento.evaluation": ("Failure", "evaluate", "evaluate_all", "load_model"),
    "cimento.paradigms.frames": ("cloze", "ratings", "stories"),
    "cimento.kinds.registry": ("LoadedSuite", "load_suite", "load_suites"),
    "cimento.cite": ("cite",),
    "cimento.paradigms.cloze.requests": ("fill",),
    "cimento.compare": ("Analysis", "analyze", "compare"),
    "cimento.export": ("export",),
    "cimento.documents": ("figure", "report"),
    "cimento.errors": (
        "CimentoError",
        "Fault",
        "InputError",
        "ModelError",
        "SuiteError",
        "TableError",
        "UsageError",
    ),
    "cimento.evaluation.freetext": ("score",),
    "cimento.measures": ("Measure",),
    "cimento.models.base": ("Encoding", "ModelCard", "Scorer", "TextScorer"),
    "cimento.models.in_memory": ("live_scorer", "undisturbed"),
    "cimento.corpus.morphology.dictionaries": ("open_morphology",),
    "cimento.options": ("RunOptions",),
    "cimento.people.reading_times": ("join_surprisals",),
    "cimento.records.outcomes": ("Estimate", "Outcome"),
    "cimento.kinds.run": ("Run", "open_run", "open_runs"),
    "cimento.records.summary": ("Missing", "RunSummary", "Summary"),
    "cimento.models.registry": ("Source", "open_source"),
    "cimento.models.settings": ("Asking", "Policy"),
    "cimento.site": ("SiteChanges", "SiteSettings", "write_site"),
    "cimento.suites": (
        "new_canary",
        "Condition",
        "Item",
        "Meta",
        "Prediction",
        "Region",
        "Suite",
    ),
    "cimento.suites.derived": ("pairs",),
    "cimento.suites.reading": ("Reading",),
    "cimento.evaluation.training": ("evaluate_while_training",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604, RUF100  # the names are loaded on demand
    "Analysis",
    "Asking",
    "CimentoError",
    "Condition",
    "Encoding",
    "Estimate",
    "Failure",
    "Fault",
    "InputError",
    "Item",
    "LoadedSuite",
    "Measure",
    "Meta",
    "Missing",
    "ModelCard",
    "ModelError",
    "Outcome",
    "Policy",
    "Prediction",
    "Reading",
    "Region",
    "Run",
    "RunOptions",
    "RunSummary",
    "Scorer",
    "SiteChanges",
    "SiteSettings",
    "Source",
    "Suite",
    "SuiteError",
    "Summary",
    "TableError",
    "TextScorer",
    "UsageError",
    "analyze",
    "cite",
    "cloze",
    "compare",
    "evaluate",
    "evaluate_all",
    "evaluate_while_training",
    "export",
    "figure",
    "fill",
    "join_surprisals",
    "live_scorer",
    "load_model",
    "load_suite",
    "load_suites",
    "new_canary",
    "open_morphology",
    "open_run",
    "open_runs",
    "open_source",
    "pairs",
    "ratings",
    "report",
    "score",
    "stories",
    "undisturbed",
    "write_site",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        from cimento.errors import did_you_mean

        near = did_you_mean(name, __all__, listed=())
        advice = f". {near}" if near.startswith("Did") and not name.startswith("_") else ""
        raise AttributeError(f"module 'cimento' has no attribute {name!r}{advice}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The type of this package's module object.

    `cite`, `compare`, `export` and `report` name both a function and a subpackage. Importing a
    subpackage sets an attribute of the package, which would hide the function of the same name, so
    for these four the attribute is not set.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
