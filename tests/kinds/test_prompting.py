"""Prompts as flat text and as turns of a chat, for models with and without a chat template."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from cimento import ModelCard, ModelError, UsageError
from cimento.kinds.prompting import chat, continuation, flat, messages, system_rule
from cimento.paradigms import (
    Choose,
    Dialogue,
    PromptFormat,
    Prompting,
    Reply,
    find_format,
    write_prompt,
)

PARTS = Dialogue("Say yes or no.", "\n\n", (("Snow is white.", "yes"),), "Snow is green.")


def spoken(turns):
    """A template that renders every turn."""
    return "".join(f"<{role}>{text.strip()}" for role, text in turns) + "<assistant>"


def refusing(turns):
    """A template that refuses system turns."""
    if any(role == "system" for role, _ in turns):
        raise ValueError("no system turns")
    return spoken(turns)


def dropping(turns):
    """A template that leaves system turns out."""
    return spoken([turn for turn in turns if turn[0] != "system"])


@dataclass
class Model:
    """A model as a paradigm sees it."""

    render: object = None
    takes_messages: bool = False
    recorded: frozenset = frozenset()
    card: ModelCard = field(
        default_factory=lambda: ModelCard(name="m", kind="causal", revision="", tokenizer="")
    )

    def chat(self, turns):
        return None if self.render is None else self.render(turns)


def test_a_system_turn_is_used_where_it_is_rendered():
    assert system_rule(spoken, name="m") == "system"
    prompt = chat(PARTS, spoken, system="system")
    assert [role for role, _ in prompt.messages] == ["system", "user", "assistant", "user"]
    assert prompt.text == (
        "<system>Say yes or no.<user>Snow is white.<assistant>yes<user>Snow is green.<assistant>"
    )
    # Answers follow the header as the template leaves it, with nothing between.
    assert continuation(prompt, "no") == (prompt.text, "no")


def test_a_refused_system_turn_goes_into_the_first_user_turn():
    assert system_rule(refusing, name="m") == "folded"
    prompt = chat(PARTS, refusing, system="folded")
    assert prompt.messages[0] == ("user", "Say yes or no.\n\n\nSnow is white.")


def test_a_template_that_drops_turns_is_not_used():
    with pytest.raises(ModelError, match="drops system turns"):
        system_rule(dropping, name="m")
    with pytest.raises(ModelError, match="leaves a user turn out"):
        chat(PARTS, lambda turns: spoken([turns[0], turns[-1]]), system="system")


def test_examples_may_stand_in_one_text():
    turns = messages(PARTS, shots="text")
    assert turns[1] == ("user", "Snow is white. yes\n\nSnow is green.")
    assert flat(PARTS).text == "Say yes or no.\n\n" + turns[1][1]


def test_blanks_at_the_end_of_a_flat_prompt_go_with_the_answer():
    prompt = flat(Dialogue("", "", (), "The state is: "))
    assert continuation(prompt, "open") == ("The state is:", "  open")


@pytest.mark.parametrize(
    ("model", "prompting", "request_made"),
    [
        (
            Model(),
            Prompting(),
            Choose(
                prompt="Say yes or no.\n\nSnow is white. yes\n\nSnow is green.",
                options=(" yes", " no"),
            ),
        ),
        (
            Model(spoken),
            Prompting(),
            Choose(
                prompt="<system>Say yes or no.<user>Snow is white.<assistant>yes"
                "<user>Snow is green.<assistant>",
                options=("yes", "no"),
                templated=True,
            ),
        ),
        (
            Model(spoken),
            Prompting(chat="no", answer="generate", max_tokens=3),
            Reply(
                prompt="Say yes or no.\n\nSnow is white. yes\n\nSnow is green.",
                max_tokens=3,
                stop=("\n",),
            ),
        ),
        (
            Model(takes_messages=True),
            Prompting(answer="generate", shots_as="text", system="folded"),
            Reply(
                prompt="",
                messages=(("user", "Say yes or no.\n\n\nSnow is white. yes\n\nSnow is green."),),
                templated=True,
                max_tokens=32,
            ),
        ),
    ],
)
def test_a_prompt_is_asked_as_the_model_takes_it(model, prompting, request_made):
    written = write_prompt(PARTS, ("yes", "no"), prompting, find_format(model, prompting))
    assert written.request(prompting) == request_made


def test_a_chat_that_cannot_be_had_is_refused():
    with pytest.raises(UsageError, match="has no chat template"):
        find_format(Model(), Prompting(chat="yes"))
    with pytest.raises(UsageError, match="a server says nothing"):
        find_format(Model(takes_messages=True), Prompting(chat="yes"))
    assert find_format(Model(takes_messages=True), Prompting()) == PromptFormat()
