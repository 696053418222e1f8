"""Five short story triples, models that answer about them, and chat templates, for tests."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from jinja2.sandbox import ImmutableSandboxedEnvironment

from cimento import Run, evaluation
from cimento.kinds.prompting import Message
from cimento.models.base import ModelCard
from cimento.paradigms.stories.judging import judged_run
from cimento.paradigms.stories.outcomes import TierOutcome
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import Tier
from cimento.testing import FakeScorer

TRIPLES_FILE = Path(__file__).parents[1] / "data" / "stories" / "triples.jsonl"
FILE = read_stories(TRIPLES_FILE)
TRIPLES = FILE.stories
"""Plausible, order and cloze of each story, one after the other."""

SYSTEM_TEMPLATE = (
    "{{ bos_token }}{% for turn in messages %}<{{ turn.role }}>\n{{ turn.content }}\n</turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>\n{% endif %}"
)
"""A chat template that renders every turn, system turns too."""


class Templated:
    """A model with a chat template, as the stories see it."""

    recorded: frozenset[str] = frozenset()
    takes_messages = False
    card = ModelCard(name="m", kind="causal", revision="0" * 40, tokenizer="")

    def __init__(self, template: str, bos: str = "") -> None:
        self._render = render_of(template, bos)

    def chat(self, messages: Sequence[tuple[str, str]]) -> str:
        return self._render(messages)


def render_of(template: str, bos: str) -> Callable[[Sequence[Message]], str]:
    """What a template makes of turns, as transformers calls it."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def refuse(message: str) -> None:
        raise ValueError(message)

    environment.globals["raise_exception"] = refuse
    compiled = environment.from_string(template)
    return lambda turns: compiled.render(
        messages=[{"role": role, "content": text} for role, text in turns],
        bos_token=bos,
        add_generation_prompt=True,
    )


class Hashes(FakeScorer):
    """Scores by a hash of prompt and token: they depend on the prompt and have no ties."""

    def __init__(self, name: str = "hashes") -> None:
        super().__init__(lambda _tokens, _index: 0.0, name=name)
        self._contexts: list[str] = []

    def encode(self, requests):
        self._contexts = [request.context for request in requests]
        return super().encode(requests)

    def score(self, encoded):
        return [
            np.array([self._nats(context, encoding.tokens[index]) for index in encoding.wanted])
            for encoding, context in zip(encoded, self._contexts, strict=True)
        ]

    def _nats(self, context: str, token: str) -> float:
        text = f"{context}|{token}"
        return -(zlib.crc32(text.encode()) % 9973 + 1) / 500


def ask(model, output: Path | None = None, **options: object) -> Run:
    """The triples asked of a model, with options as after ``--set`` or of a run."""
    return evaluation.evaluate(TRIPLES_FILE, model, output=output, device="cpu", **options)


def chosen(run: Run, tier: Tier) -> list[str | None]:
    """The labels chosen at a tier, in the order of the stories."""
    return [answer.chosen for answer in answers(run, tier)]


def answers(run: Run, tier: Tier) -> list[TierOutcome]:
    """What came of each answer at a tier, in the order of the stories."""
    return [outcome for outcome in judged_run(run).outcomes if outcome.tier == tier]
