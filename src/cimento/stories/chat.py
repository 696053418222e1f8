"""From a prompt's parts to what a model reads: flat text, or the turns of its chat template.

What a template does with system turns is found by rendering one, never by the model's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from cimento.errors import ModelError
from cimento.stories.prompts import Dialogue
from cimento.stories.shots import ShotRule

Role: TypeAlias = Literal["system", "user", "assistant"]
SystemRule: TypeAlias = Literal["system", "folded"]


class Message(TypedDict):
    """One turn."""

    role: Role
    content: str


Render: TypeAlias = Callable[[Sequence[Message]], str]
"""A chat template: from turns to the text that ends where the model's answer begins."""

_SYSTEM_PROBE = "Answer in rhymes, please."
_USER_PROBE = "How do I boil an egg?"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt as a model reads it.

    Attributes:
        text: the whole prompt; empty where a server renders the turns itself.
        messages: the turns; empty for flat text.
        before_answer: what stands between the prompt and an answer: a blank, or nothing.
    """

    text: str
    messages: tuple[Message, ...] = ()
    before_answer: str = ""


def flat(dialogue: Dialogue) -> Rendered:
    """A prompt for a model without chat template: one text, answers after a blank.

    Blanks at its end stay where they are, as the study had them; see `continuation`.
    """
    return Rendered(dialogue.instruction + dialogue.gap + _as_text(dialogue), before_answer=" ")


def messages(
    dialogue: Dialogue, *, system: SystemRule = "system", shots: ShotRule = "turns"
) -> tuple[Message, ...]:
    """A prompt as turns.

    Args:
        dialogue: its parts.
        system: ``folded`` puts the instruction before the first user turn.
        shots: worked examples as ``turns`` of their own, or as ``text`` in the one user turn.
    """
    turns: list[Message] = []
    if shots == "turns":
        for body, answer in dialogue.shots:
            turns += [_turn("user", body), _turn("assistant", answer)]
        turns.append(_turn("user", dialogue.body))
    else:
        turns.append(_turn("user", _as_text(dialogue)))
    opening = dialogue.instruction + dialogue.gap
    if system == "system":
        return (_turn("system", opening), *turns)
    # A line break more, as the harness of the study put it.
    first = _turn("user", f"{opening}\n{turns[0]['content']}")
    return (first, *turns[1:])


def chat(
    dialogue: Dialogue,
    render: Render,
    *,
    system: SystemRule,
    shots: ShotRule = "turns",
    before_answer: str = "",
) -> Rendered:
    """A prompt rendered by a chat template.

    Args:
        dialogue: its parts.
        render: the template.
        system: where the instruction goes, see `system_rule`.
        shots: see `messages`.
        before_answer: nothing, for the template says where an answer begins; the study had a
            blank there.

    Raises:
        ModelError: the template fails, or leaves a part of the prompt out.
    """
    turns = messages(dialogue, system=system, shots=shots)
    text = _rendered(render, turns)
    _refuse_lost(text, turns)
    return Rendered(text, turns, before_answer)


def system_rule(render: Render, *, name: str) -> SystemRule:
    """Where a template takes the instruction: it is given a system turn to see what it does.

    Args:
        render: the template.
        name: of the model, for messages.

    Raises:
        ModelError: it drops system turns without a word, or fails even without one.
    """
    probe = (_turn("system", _SYSTEM_PROBE), _turn("user", _USER_PROBE))
    try:
        text = render(probe)
    # Templates refuse system turns with errors of their own.
    except Exception:  # noqa: BLE001
        text = _rendered(render, probe[1:])
        _refuse_lost(text, probe[1:])
        return "folded"
    if _SYSTEM_PROBE not in text:
        raise ModelError(
            where=f"chat template of {name!r}",
            seen="it drops system turns without a word, and with them the instruction",
            todo="Say --set system=folded to put the instruction into the first user turn.",
        )
    _refuse_lost(text, probe)
    return "system"


def continuation(rendered: Rendered, answer: str) -> tuple[str, str]:
    """Prompt and answer as they are scored: blanks at the prompt's end go with the answer.

    Models read a blank as the beginning of the next token, so that a prompt that ends in one
    ends in a token that no text has there.
    """
    if rendered.messages:
        return rendered.text, rendered.before_answer + answer
    kept = rendered.text.rstrip()
    return kept, rendered.text[len(kept) :] + rendered.before_answer + answer


def _as_text(dialogue: Dialogue) -> str:
    worked = "".join(f"{body} {answer}\n\n" for body, answer in dialogue.shots)
    return worked + dialogue.body


def _turn(role: Role, content: str) -> Message:
    return {"role": role, "content": content}


def _rendered(render: Render, turns: Sequence[Message]) -> str:
    try:
        return render(turns)
    # What a template raises is its author's choice.
    except Exception as error:
        raise ModelError(
            where="chat template",
            seen=f"it cannot render the prompt ({type(error).__name__}: {str(error)[:200]})",
            todo="Say --set chat=no to ask without it.",
        ) from error


def _refuse_lost(text: str, turns: Sequence[Message]) -> None:
    """See that every turn is in the text, in order; templates may trim them."""
    place = 0
    for turn in turns:
        found = text.find(turn["content"].strip(), place)
        if found < 0:
            raise ModelError(
                where="chat template",
                seen=f"it leaves a {turn['role']} turn out"
                f" ({turn['content'].strip()[:60]!r}), or changes it",
                todo="Say --set shots-as=text, or --set chat=no.",
            )
        place = found + len(turn["content"].strip())
