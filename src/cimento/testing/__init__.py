"""Conformance kits: whether a model, a measure or a paradigm of others keeps what cimento expects.

`FakeScorer` is a model without weights, for tests and examples.
"""

from cimento.testing.measures import check_measure
from cimento.testing.models import UNKNOWN_TEXT, FakeScorer, Finding, check_model
from cimento.testing.paradigms import check_paradigm

__all__ = [
    "UNKNOWN_TEXT",
    "FakeScorer",
    "Finding",
    "check_measure",
    "check_model",
    "check_paradigm",
]
