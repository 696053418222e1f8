"""Five short story triples, and chat templates, for the tests of stories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment

from cimento.stories.chat import Message
from cimento.stories.readers import read_stories

TRIPLES_FILE = Path(__file__).parent / "data" / "stories" / "triples.jsonl"
TRIPLES = read_stories(TRIPLES_FILE).stories
"""Plausible, order and cloze of each story, one after the other."""

SYSTEM_TEMPLATE = (
    "{{ bos_token }}{% for turn in messages %}<{{ turn.role }}>\n{{ turn.content }}\n</turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>\n{% endif %}"
)
"""A chat template that renders every turn, system turns too."""


def render_of(template: str, bos: str) -> Callable[[Sequence[Message]], str]:
    """What a template makes of turns, as transformers calls it."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def refuse(message: str) -> None:
        raise ValueError(message)

    environment.globals["raise_exception"] = refuse
    compiled = environment.from_string(template)
    return lambda turns: compiled.render(
        messages=list(turns), bos_token=bos, add_generation_prompt=True
    )
