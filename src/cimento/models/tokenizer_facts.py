"""What a tokenizer does: its kind, its marks of words, what it puts before a text, its chats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.models.base import BosRule, BoundaryRule, ModelCard, Policy
from cimento.models.surfaces import surfaces_of
from cimento.models.tokenizing import own_frame
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

SystemRole: TypeAlias = Literal["rendered", "left out", "refused"]

_SYSTEM = "Antworte in einem Satz."
_USER = "Wie viele Beine hat eine Spinne?"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFacts:
    """What is found out about a tokenizer.

    Attributes:
        kind: how it cuts words, such as ``byte-level BPE``.
        marks: what of words its tokens mark.
        boundary: what ``--boundary auto`` corrects words by with this model; ``none`` where it
            corrects nothing.
        bos: the policy for what stands before a text; empty where the model leaves no choice.
        before: the tokens that stand before a text when it is scored.
        origin: where these come from.
        after: the tokens that stand after it.
        unknown: the token for what it does not know; empty where it has none.
        system_role: what its chat template makes of a system message: it is ``rendered``, ``left
            out`` or ``refused``; None where there is no template.
        refusal: what the template said, where it refused.
    """

    kind: str
    marks: str
    boundary: BoundaryRule
    bos: BosRule | Literal[""]
    before: str
    origin: str
    after: str
    unknown: str
    system_role: SystemRole | None
    refusal: str = ""


def tokenizer_facts(
    tokenizer: PreTrainedTokenizerBase, *, policy: Policy, card: ModelCard
) -> TokenizerFacts:
    """Find out what a tokenizer does.

    Args:
        tokenizer: a fast tokenizer.
        policy: how texts are scored.
        card: of the model it belongs to.
    """
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    role, refusal = _system_role(tokenizer)
    before, after, origin = _frame(tokenizer, policy, card)
    kind = card.kind
    return TokenizerFacts(
        kind=tokenizer_kind(state),
        marks=_marks(tokenizer, state),
        boundary=surfaces_of(tokenizer)[0] if kind in ("causal", "seq2seq") else "none",
        bos=policy.bos if kind == "causal" else "",
        before=before,
        origin=origin,
        after=after,
        unknown=str(tokenizer.unk_token or ""),
        system_role=role,
        refusal=refusal,
    )


def tokenizer_kind(state: dict[str, JsonValue]) -> str:
    """What kind a tokenizer is, such as ``byte-level BPE``, by the parts that its file names.

    Args:
        state: the content of its ``tokenizer.json``.
    """
    model = state["model"]
    algorithm = str(model.get("type")) if isinstance(model, dict) else ""
    parts = set(_types([state.get("pre_tokenizer"), state.get("decoder")]))
    if "ByteLevel" in parts:
        return f"byte-level {algorithm}"
    if algorithm in ("WordPiece", "WordLevel"):
        return algorithm
    if "▁" in json.dumps(
        [state.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")],
        ensure_ascii=False,
    ):
        falls_back = isinstance(model, dict) and model.get("byte_fallback")
        return f"SentencePiece-like {algorithm}" + (
            ", unknown characters as bytes" * bool(falls_back)
        )
    return algorithm


def _types(value: JsonValue) -> Iterator[str]:
    """Every ``type`` anywhere in a part of a tokenizer's file."""
    if isinstance(value, dict):
        if isinstance(value.get("type"), str):
            yield str(value["type"])
        yield from _types(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _types(each)


def _marks(tokenizer: PreTrainedTokenizerBase, state: dict[str, JsonValue]) -> str:
    marks, _ = surfaces_of(tokenizer)
    if marks != "none":
        return "word beginnings" if marks == "word-start" else "word ends"
    model = state["model"]
    prefix = model.get("continuing_subword_prefix") if isinstance(model, dict) else None
    return f"none (but continuations of a word, with {prefix})" if prefix else "none"


def _frame(
    tokenizer: PreTrainedTokenizerBase, policy: Policy, card: ModelCard
) -> tuple[str, str, str]:
    """The tokens before and after a text, and where the ones before it come from."""
    own = own_frame(tokenizer)
    names = [
        " ".join(tokenizer.convert_ids_to_tokens(list(ids))) for ids in (own.before, own.after)
    ]
    if card.kind == "masked":
        return names[0], names[1], "the tokenizer puts them there"
    if card.kind == "seq2seq":
        return card.bos, "", "what the decoder starts with"
    if not card.bos:
        reason = "it has neither BOS nor EOS" if policy.bos == "auto" else f"--bos {policy.bos}"
        return "", "", f"nothing: {reason}; the first token has no score"
    if card.bos == names[0] and policy.bos != "bos-or-eos":
        return card.bos, "", "the tokenizer puts it there"
    if card.bos == tokenizer.bos_token:
        same = ", the same as its EOS token" if card.bos == tokenizer.eos_token else ""
        return card.bos, "", f"its BOS token{same}"
    return card.bos, "", "its EOS token, for it has no BOS token"


def _system_role(tokenizer: PreTrainedTokenizerBase) -> tuple[SystemRole | None, str]:
    """What a chat template makes of a system message, by rendering one."""
    if not tokenizer.chat_template:
        return None, ""
    messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]
    try:
        rendered = tokenizer.apply_chat_template(messages, tokenize=False)
    # Templates are programs; they refuse a role by raising whatever they like.
    except Exception as error:  # noqa: BLE001
        return "refused", f"{type(error).__name__}: {error}"
    return ("rendered" if _SYSTEM in str(rendered) else "left out"), ""
