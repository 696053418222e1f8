"""The options of cloze suites: how blanks are asked for, and how the answers are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from cimento.io.files import expanded
from cimento.models.questions import MOST_CANDIDATES, MOST_MASKS, ChoiceRule, FillPolicy, OpenRule
from cimento.paradigms.base import ParadigmOptions


def _listed(value: object) -> object:
    """``a, b`` as a tuple; anything else as it is."""
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _path(value: object) -> object:
    """A path with its ``~`` written out; None for an empty text."""
    return expanded(value) if isinstance(value, str) and value else value or None


class ClozeOptions(ParadigmOptions):
    """How cloze suites are asked and judged.

    Attributes:
        k: how many candidates are asked for, and how many ranks count.
        protocol: how candidates are found where none are given; see `FillPolicy`.
        masks: the longest candidate, in tokens.
        choice: rules by which options are scored; none for what suits the kind of model.
        by: columns that results are broken down by.
        dictionary: judges candidates by what their items expect: ``delaf:FILE``, ``rules:it``;
            empty for none.
        judgments: an annotated run or a table of judged candidates, used where nobody judged the
            run itself; None for none.
        seed: taken by every paradigm; nothing is drawn for cloze suites.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset({"k", "protocol", "masks", "choice"})

    k: int = Field(10, ge=1, le=MOST_CANDIDATES)
    protocol: OpenRule = "auto"
    masks: int = Field(3, ge=1, le=MOST_MASKS)
    choice: Annotated[tuple[ChoiceRule, ...], BeforeValidator(_listed)] = ()
    by: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    dictionary: str = ""
    judgments: Annotated[Path | None, BeforeValidator(_path)] = None
    seed: int = 0

    @property
    def policy(self) -> FillPolicy:
        """How blanks are asked for, as models take it."""
        return FillPolicy(k=self.k, masks=self.masks, protocol=self.protocol, choice=self.choice)
