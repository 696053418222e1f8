"""Names that users give to suites, models, conditions and columns of tables and figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def exchanged(text: str, names: Mapping[str, str]) -> str:
    """A text in which names that occur as whole words are replaced."""
    if not names:
        return text
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w@-])(?:{longest_first})(?![\w@-])", lambda match: names[match[0]], text)


def names_standing(names: Mapping[str, str], texts: Collection[str]) -> dict[str, str]:
    """The names as they occur in some texts, where a model may be named without its revision.

    Args:
        names: each name, mapped to the one to show.
        texts: all texts that are shown, such as the cells of a table.

    Raises:
        UsageError: a name is in no text, or is a model with several revisions.
    """
    standing: dict[str, str] = {}
    for name, shown in names.items():
        revised = re.compile(rf"(?<![\w@-]){re.escape(name)}@[\w-]+(?:\.[\w-]+)*")
        labels = {label for text in texts for label in revised.findall(text)}
        if len(labels) == 1:
            standing[labels.pop()] = shown
        elif not any(exchanged(text, {name: ""}) != text for text in texts):
            raise UsageError(
                where=f"--rename {name}",
                seen="there are several revisions of it" if labels else "nothing has this name",
                todo=(
                    f"Give one whole: {' or '.join(sorted(labels))}."
                    if labels
                    else did_you_mean(name, _names_in(texts))
                ),
            )
        standing[name] = shown
    return standing


def _names_in(texts: Collection[str]) -> set[str]:
    """The candidates for names in some texts: no sentences; models without revisions too."""
    short = {text for text in texts if len(text) <= _LONGEST_NAME and not text.endswith(".")}
    names = {part for text in short for part in (text, text.partition("@")[0])}
    return {name for name in names if any(map(str.isalpha, name))}


_LONGEST_NAME = 40
"""Most characters of a name that ``did you mean`` may offer; longer texts are prose."""
