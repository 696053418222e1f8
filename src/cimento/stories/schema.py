"""What files of stories and of recorded answers may contain, as pydantic models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic import JsonValue as AnyJson

from cimento.suites.schema import Open


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Entry = Annotated[tuple[str, int], BeforeValidator(_tuple)]


def _numbers(value: object) -> object:
    """Refuse what is no whole number in nested lists."""
    if isinstance(value, list) and not all(map(_is_number, value)):
        raise ValueError("Whole numbers should stand here, in lists")
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_number, value))
    return isinstance(value, int) and not isinstance(value, bool)


Nested = Annotated[list[AnyJson], BeforeValidator(_numbers)]
Block = dict[str, list[Entry]]


class StoryRow(Open):
    """A record of GITA4CALAMITA or of GITA v1."""

    story_id: int
    worker_id: str = ""
    type: Literal["order", "cloze"] | None
    idx: int | None = None
    aug: bool = False
    actor: str = ""
    location: str = ""
    objects: str = ""
    sentences: list[str]
    length: int = 5
    example_id: str
    plausible: bool
    breakpoint: int
    confl_sents: Nested = Field(default_factory=list)
    confl_pairs: Nested = Field(default_factory=list)
    states: str | list[Block] = ""
    sentence_states: list[Block] = Field(default_factory=list)
    domain: str = ""


class AnswerRow(Open):
    """A line of recorded answers."""

    doc: int
    task: Literal["story_class", "conflict_detec", "physical_state"]
    ll: list[float | None] | None = None
    options: list[str] | None = None
    greedy: list[Literal[0, 1]] | None = None
    label: str | None = None
    reply: str | None = None
    reason: str = ""
    correct: bool | Literal[0, 1] | None = None
    shots: list[int] | None = None
    prompt_sha256: str | None = None
