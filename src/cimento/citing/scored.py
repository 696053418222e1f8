"""Sentences on how texts were scored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from cimento.citing.facts import RunFacts, part
from cimento.runs.store import blank_before
from cimento.suites.model import JsonValue

_PLL = {
    "within-word-l2r": "each token was predicted with itself and the later tokens of its word"
    " masked [@kauf2023]",
    "original": "each token was predicted with only itself masked [@salazar2020]",
    "whole-word": "each token was predicted with all tokens of its word masked [@kauf2023]",
    "region": "each token was predicted with all tokens of its region masked",
}
_SECRET = ("token", "key", "secret", "password", "auth")
_NO_ANSWER = "Their answers were recorded elsewhere and matched with the suite; no model was run."


def sentences(run: RunFacts) -> list[str]:
    """How the model was asked; what is as it always is in cimento is said too."""
    kind = str(run.model.get("kind", ""))
    if kind == "replay":
        return [_NO_ANSWER]
    policy = run.policy
    found = [_KINDS.get(kind, _causal)(run, policy), *_boundary(run, policy)]
    if policy.get("punctuation") == "keep":
        found.append("Punctuation marks belonged to the word that they touch.")
    elif policy.get("punctuation") == "split":
        found.append("Words are what stands between blanks, punctuation marks words of their own.")
    if blank_before(run.manifest):
        found.append("A blank stood before every text.")
    return [*found, *_context(run), *_window(policy), *_arguments(policy)]


def _causal(run: RunFacts, policy: Mapping[str, JsonValue]) -> str:
    head = (
        "The score of a token was its log-probability given the tokens before it, normalised over"
        " the vocabulary in float32 at least and summed in float64"
    )
    mark = run.model.get("bos")
    if mark:
        return f"{head}; before the first token stood {mark} (rule {policy.get('bos', 'auto')})."
    return f"{head}; nothing stood before the first token (rule {policy.get('bos', 'none')})."


def _masked(run: RunFacts, policy: Mapping[str, JsonValue]) -> str:  # noqa: ARG001  # one of `_KINDS`
    rule = str(policy.get("pll", ""))
    return (
        "Scores were pseudo-log-likelihoods [@salazar2020]:"
        f" {_PLL.get(rule, f'masking followed the rule {rule}')}."
    )


def _seq2seq(run: RunFacts, policy: Mapping[str, JsonValue]) -> str:  # noqa: ARG001  # one of `_KINDS`
    return (
        "The score of a token was its log-probability given the source that the encoder read (empty"
        " where a text had no context) and the tokens of the text before it."
    )


_KINDS = {"causal": _causal, "masked": _masked, "seq2seq": _seq2seq}


def _boundary(run: RunFacts, policy: Mapping[str, JsonValue]) -> list[str]:
    marks = run.model.get("boundary")
    if not marks:
        asked = policy.get("boundary", "none") != "none"
        return ["No correction for word boundaries applied to this tokenizer."] if asked else []
    end = "with" if policy.get("boundary_eos", True) else "without"
    first = policy.get("boundary_first", "initial")
    told = (
        f"Words were corrected for where they may end ({marks} marks, {end} the end of the text,"
        f" first word: {first}) [@pimentel2024]."
    )
    return [told]


def _context(run: RunFacts) -> list[str]:
    context = part(run.asking, "context")
    if context.get("column"):
        return [f"Before each text stood, unscored, what the column {context['column']} holds."]
    if context.get("text"):
        return [
            f"Before each text stood, unscored: {json.dumps(context['text'], ensure_ascii=False)}."
        ]
    return []


def _window(policy: Mapping[str, JsonValue]) -> list[str]:
    if policy.get("window") != "sliding":
        return []
    stride = policy.get("stride")
    moved = f" moved by {stride} tokens" if stride is not None else ""
    return [f"Texts longer than the model's window were scored in sliding windows{moved}."]


def _arguments(policy: Mapping[str, JsonValue]) -> list[str]:
    """Options for transformers; the values of those that may hold a secret are not told."""
    args = part(policy, "model_args")
    if not args:
        return []
    shown: Sequence[str] = [
        name if any(word in name.lower() for word in _SECRET) else f"{name} = {json.dumps(value)}"
        for name, value in args.items()
    ]
    return [f"The model was loaded with {', '.join(shown)}."]
