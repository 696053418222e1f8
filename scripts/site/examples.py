"""Examples of docstrings, which the reference shows as code."""

from __future__ import annotations

import re

import griffe

_EXAMPLE = re.compile(r"^Example:(?=\n+ +>>> )", re.MULTILINE)
"""The head of an example; griffe knows a section of code by its name in the plural only."""


class Examples(griffe.Extension):
    """Makes each example of a docstring a section of code."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Name the section of examples as griffe does."""
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub("Examples:", obj.docstring.value)
