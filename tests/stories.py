"""Five short story triples, and chat templates, for the tests of stories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment

from cimento.sources import Asking
from cimento.stories.chat import Message
from cimento.stories.readers import read_stories
from cimento.stories.running import StoryEvaluation
from cimento.stories.settings import parse_story_settings

TRIPLES_FILE = Path(__file__).parent / "data" / "stories" / "triples.jsonl"
FILE = read_stories(TRIPLES_FILE)
TRIPLES = FILE.stories
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


def evaluation(
    tmp_path: Path | None = None, *, limit: int | None = None, **options: object
) -> StoryEvaluation:
    """How stories are asked in tests, with options as after ``--set``."""
    return StoryEvaluation(
        asking=Asking(device="cpu", limit=limit),
        settings=parse_story_settings({name: str(value) for name, value in options.items()}),
        output=tmp_path,
    )
