"""Which predictions can be judged on a measure of whole sentences: those that name no region."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cimento.errors import UsageError
from cimento.suites.formula import canonical, parse, references

if TYPE_CHECKING:
    from cimento.suites.model import Suite

_REGION = re.compile(r"\(\s*\d+\s*;")


def _of_sentences(formula: str) -> str:
    """The same formula about whole sentences."""
    return _REGION.sub("(*;", formula)


def refuse_regions(suite: Suite) -> None:
    """See that every prediction is about whole sentences.

    Raises:
        UsageError: one names a region.
        FormulaError: one cannot be read.
    """
    for number, prediction in enumerate(suite.predictions):
        for reference in references(parse(prediction.formula)):
            if reference.region != "*":
                raise UsageError(
                    where=f"suite {suite.name!r}, prediction {number}",
                    seen=f"it names the region {canonical(reference)},"
                    " and a measure (of --measure or --compat) is of whole sentences",
                    todo="Judge another formula with --prediction, such as"
                    f" '{_of_sentences(prediction.formula)}', or say --measure regions.",
                )
