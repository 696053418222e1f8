"""How a run of stories was made, as sentences for a methods section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.paradigms.base import MethodFacts
from cimento.stories.judging import asked_of
from cimento.stories.settings import prompt_for

if TYPE_CHECKING:
    from cimento.runs.run import Run

_NORMS = {
    "sum": "their log-probability",
    "token": "their log-probability by token [@brown2020]",
    "char": "their log-probability by character [@lm-evaluation-harness]",
    "pmi": "their log-probability less that without the story (domain-conditional PMI)"
    " [@holtzman2021]",
    "prior": "their log-probability less the log of their mean probability over all stories"
    " (batch calibration) [@zhou2024]",
}
_ANSWERS = {
    "generate": "The model wrote its answer (at most {max_tokens} tokens, greedy), which was read"
    " for one of the options; one that could not be read is wrong.",
    "constrained": "The model wrote its answer and could write nothing but one of the options.",
}
_METRICS = (
    "Accuracy is the share of stories that are right at the first tier, consistency that of"
    " implausible stories right at the first two, verifiability at all three [@storks2021;"
    " @pensa2024]."
)


def story_methods(run: Run) -> MethodFacts:
    """How stories were asked about, and how the answers were judged."""
    suite, options = asked_of(run)
    prompt = prompt_for(options, suite)
    said = _ANSWERS.get(options.answer, f"Options were compared by {_NORMS[options.norm]}.")
    asked = (
        f"Stories were asked about with the prompt {prompt.id} (version {prompt.version}), protocol"
        f" {options.protocol}, after {options.shots} examples ({options.shots_mode}, seed"
        f" {options.shots_seed}); chat template: {options.chat}."
    )
    is_recorded = run.model_kind == "replay"
    sentences = ["The answers were recorded."] if is_recorded else [asked]
    sentences.append(said.replace("{max_tokens}", str(options.max_tokens)))
    if options.task == "tiers":
        sentences.append(_METRICS)
    if suite.corrections:
        names = ", ".join(suite.corrections)
        sentences.append(f"Corrections were made to the stories: {names}.")
    sentences.append("Options that are exactly equal are a tie, which is not right.")
    n = len(suite.asked)
    return MethodFacts(
        counted="1 story" if n == 1 else f"{n} stories",
        sentences=tuple(sentences),
        together="a story and its variants",
    )
