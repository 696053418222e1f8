"""What is measured of the demo models, what it must reach, and the page that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from demo.items import KINDS
from demo.lexicon import LANGUAGES

# The bounds of "reproduced": means over the five languages, chance being one half.
SIMPLE_AT_LEAST = 0.9
ATTRACTOR_AT_LEAST = 0.6

START, END = "<!-- demo: start -->", "<!-- demo: end -->"


@dataclass(frozen=True, slots=True)
class Result:
    """The proportion of test pairs that a model decides rightly."""

    model: str
    language: str
    kind: str
    accuracy: float


def average(results: Sequence[Result], model: str, kind: str) -> float:
    """The mean over languages."""
    return mean(r.accuracy for r in results if (r.model, r.kind) == (model, kind))


def missed_bounds(results: Sequence[Result]) -> list[str]:
    """One line for each bound that does not hold."""
    missed = []
    for model in dict.fromkeys(result.model for result in results):
        simple, attractor = (average(results, model, kind) for kind in KINDS)
        if simple < SIMPLE_AT_LEAST:
            missed.append(f"{model}: simple {simple:.3f}, wanted {SIMPLE_AT_LEAST} or better")
        if attractor < ATTRACTOR_AT_LEAST:
            missed.append(f"{model}: attractor {attractor:.3f}, wanted {ATTRACTOR_AT_LEAST}")
        if attractor >= simple:
            missed.append(f"{model}: attractor {attractor:.3f}, not below simple {simple:.3f}")
    return missed


def table(results: Sequence[Result]) -> str:
    """A Markdown table: one row for each model and kind, one column for each language."""
    lines = [
        "| model | pairs | " + " | ".join(LANGUAGES) + " | mean |",
        "|---|---|" + "---|" * (len(LANGUAGES) + 1),
    ]
    for model in dict.fromkeys(result.model for result in results):
        for kind in KINDS:
            accuracies = {
                r.language: r.accuracy for r in results if (r.model, r.kind) == (model, kind)
            }
            cells = [f"{accuracies[language]:.2f}" for language in LANGUAGES]
            cells.append(f"{average(results, model, kind):.2f}")
            lines.append(f"| {model} | {kind} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(results: Sequence[Result], text: str) -> str:
    """The documentation page with the table in its place, between the marks of ``text``."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table(results)}\n{END}{after}"
