"""Conformance kits: whether a model or a paradigm of another package keeps what cimento expects."""

from cimento.testing.models import UNKNOWN_TEXT, Finding, check_model
from cimento.testing.paradigms import check_paradigm

__all__ = ["UNKNOWN_TEXT", "Finding", "check_model", "check_paradigm"]
