"""Models with a known rule, asked by prompt through a server on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cimento
from cimento.kinds.run import Run
from cimento.paradigms.prompted.prompts import Prompt, PromptedOptions, prompted_suite, prompts_of
from cimento.records.outcomes import Estimate
from cimento.suites import Suite
from tests.helpers.servers.replies import reply_server

Rule = Callable[[Prompt], str]

PAIRS = [
    ("Le lampade erano accese.", "Le lampade era accese."),
    ("La porta era chiusa.", "La porta erano chiusa."),
    ("I gatti dormono.", "I gatti dorme."),
    ("Il treno parte.", "Il treno partono."),
    ("Le finestre sono aperte.", "Le finestre è aperte."),
    ("La zia cucina.", "La zia cucinano."),
]


def pairs(n: int = len(PAIRS), language: str = "it") -> Suite:
    """A prompted suite of the first pairs."""
    suite: Suite = prompted_suite(cimento.pairs(PAIRS[:n], name="it-few", language=language))
    return suite


def knows(prompt: Prompt) -> str:
    """The answer of somebody who knows: the better sentence, acceptable or not, either end."""
    if prompt.form == "choice" or prompt.conditions[0] in {"good", "acceptable"}:
        return prompt.good
    return next(
        answer for answer in (prompt.answers[0], prompt.answers[-1]) if answer != prompt.good
    )


def first(prompt: Prompt) -> str:
    """Always the answer that is shown or named first."""
    return prompt.answers[0]


def label(prompt: Prompt) -> str:
    """Always A or 1, whatever it stands for; of words the one that accepts."""
    return next((name for name in ("A", "1") if name in prompt.answers), prompt.good)


def accepts(prompt: Prompt) -> str:
    """Always that the sentence is acceptable."""
    return prompt.good


def ask(suite: Suite, rule: Rule, *, output: Any = None, **options: Any) -> Run:
    """The run of a suite by a model that answers by a rule."""
    prompts = {
        (prompt.instruction, prompt.body): prompt
        for prompt in prompts_of(suite, PromptedOptions(**options))
    }

    def answer(messages: Any) -> str:
        turns = (messages[0]["content"].strip(), messages[-1]["content"])
        return rule(prompts[turns])

    with reply_server(answer) as server:
        return cimento.evaluate(suite, server.address, output=output, **options)


def estimates(run: Run, question: str = "") -> dict[str, Estimate]:
    """Statistic to the estimate of all items, of one question or of the only one."""
    return {
        estimate.statistic: estimate
        for estimate in run.estimates()
        if not estimate.group and (not question or estimate.question == question)
    }
