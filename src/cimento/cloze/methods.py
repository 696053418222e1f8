"""What the methods paragraph says of a run of a cloze suite."""

from __future__ import annotations

from cimento.cloze.answers import ClozeAnswers
from cimento.paradigms.base import MethodFacts

_PROTOCOLS = {
    "mask": "the most probable tokens at one mask",
    "words": "the most probable whole words at one mask",
    "complete": "whole words of one to {masks} tokens at as many masks",
    "beam": "sequences of one to {masks} tokens at as many masks",
    "left": "the most probable next tokens after what stands before the blank",
    "sentinel": "what the encoder-decoder writes for a sentinel in the blank's place",
}
_AUTO = {"masked": "mask", "causal": "left", "seq2seq": "sentinel"}
_HITS = (
    "A hit at k is an answer of the suite's author among the first k candidates; an answer that"
    " cannot be found is a miss. The share of candidates that fit is taken over those that were"
    " judged [@wilkens2023]."
)


def cloze_methods(answers: ClozeAnswers) -> MethodFacts:
    """How blanks were asked for, and what counts as a hit."""
    items = len(answers.items)
    return MethodFacts(
        counted="1 item" if items == 1 else f"{items} items",
        sentences=(
            _candidates(answers),
            _HITS,
            *([_rules(answers.choices)] if answers.choices else []),
        ),
        together=f"items of one {cluster}" if (cluster := answers.suite.cluster) else "",
    )


def _candidates(answers: ClozeAnswers) -> str:
    options = answers.options
    if answers.run.model_kind == "replay":
        return f"Candidates for a blank were recorded; the first {options.k} count."
    rule: str = options.protocol
    rule = _AUTO.get(answers.run.model_kind, rule) if rule == "auto" else rule
    told = _PROTOCOLS.get(rule, f"the rule {rule}").replace("{masks}", str(options.masks))
    return f"Candidates for a blank were {told}; the first {options.k} were kept."


def _rules(choices: tuple[str, ...]) -> str:
    return f"Options were scored by the rule {' and by '.join(choices)}."
