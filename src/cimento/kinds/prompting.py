"""Prompts of any kind: as flat text, or as the turns of a chat; and the requests made of them.

What a chat template does with system turns is found by rendering one, never by the model's name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.engine.requests import Choose, Reply
from cimento.errors import ModelError, UsageError
from cimento.kinds.base import AskedModel
from cimento.suites.reading import sha256_of

Role: TypeAlias = Literal["system", "user", "assistant"]
SystemRule: TypeAlias = Literal["system", "folded"]
"""Whether a template takes a message of the system, or has it in the first turn of the user."""
ShotRule: TypeAlias = Literal["turns", "text"]
"""Whether examples come as turns of a conversation or as text in the prompt."""

Message: TypeAlias = tuple[Role, str]
"""One turn: who speaks, and what is said."""

Render: TypeAlias = Callable[[Sequence[Message]], str]
"""A chat template: from turns to the text that ends where the model's answer begins."""

_SYSTEM_PROBE = "Answer in rhymes, please."
_USER_PROBE = "How do I boil an egg?"


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A prompt before it is rendered: an instruction, worked examples, and what is asked.

    Attributes:
        instruction: comes before everything.
        gap: line breaks after it.
        shots: worked examples, each what was asked and what was answered.
        body: what is asked.
    """

    instruction: str
    gap: str
    shots: tuple[tuple[str, str], ...]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompting:
    """How a model is prompted, whatever it is asked.

    Attributes:
        answer: ``loglik``: each answer is scored; ``generate``: the model writes and the reply is
            read; ``constrained``: it writes, and can write nothing but an answer.
        chat: whether the chat template is used; ``auto``: where there is one.
        system: ``folded``: the instruction goes into the first user turn.
        shots_as: worked examples as ``turns`` of the chat or as one ``text``.
        max_tokens: most tokens of a reply.
        before_answer: what is between a chat prompt and an answer: nothing, for the template
            says where an answer begins.
    """

    answer: Literal["loglik", "generate", "constrained"] = "loglik"
    chat: Literal["auto", "yes", "no"] = "auto"
    system: Literal["auto", "folded"] = "auto"
    shots_as: ShotRule = "turns"
    max_tokens: int = 32
    before_answer: str = ""


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """A prompt as a model reads it.

    Attributes:
        text: the whole prompt; empty where a server renders the turns itself.
        messages: the turns; empty for flat text.
        before_answer: what is between the prompt and an answer: a blank, or nothing.
    """

    text: str
    messages: tuple[Message, ...] = ()
    before_answer: str = ""


def flat(dialogue: Dialogue) -> RenderedPrompt:
    """A prompt for a model without chat template: one text, answers after a blank.

    Blanks at its end stay where they are, as the study had them; see `continuation`.
    """
    return RenderedPrompt(
        dialogue.instruction + dialogue.gap + _as_text(dialogue), before_answer=" "
    )


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
            turns += [("user", body), ("assistant", answer)]
        turns.append(("user", dialogue.body))
    else:
        turns.append(("user", _as_text(dialogue)))
    opening = dialogue.instruction + dialogue.gap
    if system == "system":
        return (("system", opening), *turns)
    # A line break more, as the harness of the study put it.
    return (("user", f"{opening}\n{turns[0][1]}"), *turns[1:])


def chat(
    dialogue: Dialogue,
    render: Render,
    *,
    system: SystemRule,
    shots: ShotRule = "turns",
    before_answer: str = "",
) -> RenderedPrompt:
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
    return RenderedPrompt(text, turns, before_answer)


def system_rule(render: Render, *, name: str) -> SystemRule:
    """Where a template takes the instruction: it is given a system turn to see what it does.

    Args:
        render: the template.
        name: of the model, for messages.

    Raises:
        ModelError: it drops system turns without a word, or fails even without one.
    """
    probe: tuple[Message, ...] = (("system", _SYSTEM_PROBE), ("user", _USER_PROBE))
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


def continuation(rendered: RenderedPrompt, answer: str) -> tuple[str, str]:
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
    for role, content in turns:
        kept = content.strip()
        start = text.find(kept, place)
        if start < 0:
            raise ModelError(
                where="chat template",
                seen=f"it leaves a {role} turn out ({kept[:60]!r}), or changes it",
                todo="Say --set shots_as=text, or --set chat=no.",
            )
        place = start + len(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFormat:
    """The format in which a model is prompted.

    Attributes:
        render: chat template of the model; None for flat text.
        remote: the turns go to a server, which renders them itself.
        system: where the instruction goes.
    """

    render: Render | None = None
    remote: bool = False
    system: SystemRule = "system"


def find_format(model: AskedModel, prompting: Prompting) -> PromptFormat:
    """The format of a model's prompts, by its templates and the prompting.

    Args:
        model: who is asked; a recording was asked already, and is not prompted.
        prompting: what is wanted.

    Raises:
        UsageError: a chat is wanted and there is no template.
        ModelError: the template drops system turns.
    """
    folded: SystemRule = "folded"
    if prompting.chat == "no" or model.card.kind == "replay":
        return PromptFormat()
    if model.takes_messages and prompting.answer == "loglik":
        if prompting.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen="a server says nothing of the probability of given answers in a chat",
                todo="Say --set answer=generate, or leave chat=yes out.",
            )
        return PromptFormat()
    if model.takes_messages:
        return PromptFormat(
            remote=True, system=folded if prompting.system == "folded" else "system"
        )
    render = _render_of(model)
    if render is None:
        if prompting.chat == "yes":
            raise UsageError(
                where="--set chat=yes",
                seen=f"the model {model.card.name!r} has no chat template",
                todo="Leave it out, to ask with flat text.",
            )
        return PromptFormat()
    rule = folded if prompting.system == "folded" else system_rule(render, name=model.card.name)
    return PromptFormat(render=render, system=rule)


def _render_of(model: AskedModel) -> Render | None:
    """A model's chat template; None where it has none."""

    def render(turns: Sequence[Message]) -> str:
        text = model.chat(turns)
        if text is None:
            raise ModelError(where=f"model {model.card.name!r}", seen="it has no chat template")
        return text

    try:
        return None if model.chat([("user", "?")]) is None else render
    # A template that refuses this one says so when it is given a whole prompt.
    except Exception:  # noqa: BLE001
        return render


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPrompt:
    """A prompt with its possible answers, ready to be asked.

    Attributes:
        rendered: the prompt as the model reads it.
        words: the possible answers.
    """

    rendered: RenderedPrompt
    words: tuple[str, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The turns; empty for flat text."""
        return self.rendered.messages

    def choose(self) -> Choose:
        """The options as texts after the prompt."""
        pairs = [continuation(self.rendered, word) for word in self.words]
        return Choose(
            prompt=pairs[0][0],
            options=tuple(option for _, option in pairs),
            templated=bool(self.rendered.messages),
        )

    def request(self, prompting: Prompting) -> Choose | Reply:
        """The prompt as a model is asked it."""
        has_turns = bool(self.rendered.messages)
        is_constrained = prompting.answer == "constrained"
        if prompting.answer == "loglik":
            return self.choose()
        if is_constrained and self.rendered.text:
            only = self.choose()
            return Reply(prompt=only.prompt, options=only.options, templated=only.templated)
        return Reply(
            # Flat text ends where the answer's blank begins.
            prompt=self.rendered.text if has_turns else self.rendered.text.rstrip(),
            messages=self.rendered.messages,
            templated=has_turns,
            max_tokens=prompting.max_tokens,
            # Text without turns runs on into the next example; the answer is one line.
            stop=() if has_turns else ("\n",),
            options=self.words if is_constrained else (),
        )

    @property
    def shown(self) -> str:
        """The prompt as text; the turns as JSON where a server renders them itself."""
        turns = [{"role": role, "content": text} for role, text in self.rendered.messages]
        return self.rendered.text or json.dumps(turns, ensure_ascii=False)

    @property
    def prompt_sha256(self) -> str:
        """The SHA-256 digest of the prompt, hexadecimal."""
        return sha256_of(self.shown.encode())


def write_prompt(
    parts: Dialogue, words: Sequence[str], prompting: Prompting, prompt_format: PromptFormat
) -> WrittenPrompt:
    """A prompt as a model reads it.

    Args:
        parts: the prompt.
        words: the possible answers, in order; empty where any reply is one.
        prompting: how the model is prompted.
        prompt_format: the format of its prompts, from `find_format`.

    Raises:
        ModelError: the chat template cannot render it.
    """
    return WrittenPrompt(rendered=rendered(parts, prompting, prompt_format), words=tuple(words))


def rendered(parts: Dialogue, prompting: Prompting, prompt_format: PromptFormat) -> RenderedPrompt:
    """The same without answers.

    Raises:
        ModelError: the chat template cannot render it.
    """
    shots, before = prompting.shots_as, prompting.before_answer
    if prompt_format.remote:
        return RenderedPrompt("", messages(parts, system=prompt_format.system, shots=shots), before)
    if prompt_format.render is None:
        return flat(parts)
    return chat(
        parts, prompt_format.render, system=prompt_format.system, shots=shots, before_answer=before
    )
