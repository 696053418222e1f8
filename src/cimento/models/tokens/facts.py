"""The facts on a tokenizer: its kind, its marks of words, its special tokens, its chats."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.models.base import BosRule, BoundaryRule, ModelCard, Policy
from cimento.models.tokens.tokenizing import own_frame
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

PART_OF_CHARACTER = "\ufffd"
"""The replacement for a character of which a token is only a part."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_NO_BYTE = 0xFF  # UTF-8 has no such byte

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
BYTE_LETTERS = {octet: chr(octet) for octet in _PRINTABLE} | {
    octet: chr(0x100 + number)
    for number, octet in enumerate(sorted(set(range(0x100)) - set(_PRINTABLE)))
}
"""The characters that byte-level tokenizers write for bytes: printable bytes of Latin-1 stand for
themselves, the others are numbered from U+0100 on (Radford et al. 2019, "Language models are
unsupervised multitask learners")."""
_BYTE_OF = {letter: octet for octet, letter in BYTE_LETTERS.items()}

SystemRole: TypeAlias = Literal["rendered", "left out", "refused"]

_CAPITALS, _SMALL = "DOMANI MARIA TORNA A ROMA", "domani maria torna a roma"
_FEW = 0.001
"""Share of tokens with capital letters up to which a vocabulary is one of lower case: stray ones
(names of special tokens, say) are in every file."""

_SYSTEM = "Antworte in einem Satz."
_USER = "Wie viele Beine hat eine Spinne?"


def surfaces_of(tokenizer: PreTrainedTokenizerBase) -> tuple[BoundaryRule, dict[int, str]]:
    """What of words a tokenizer marks, and the text that each token stands for.

    A mark is read as the blank that it stands for. Special tokens stand for no text and are left
    out.

    Returns:
        ``word-start`` (``Ġ`` of byte-level tokenizers, ``▁`` of SentencePiece), ``word-end``
        (``</w>``) or ``none``; token id to text.
    """
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    around = [state.get("pre_tokenizer"), state.get("decoder")]
    spelling = _Spelling(
        suffix=_first([state["model"].get("end_of_word_suffix"), *_values(around, "suffix")]),
        bytewise="ByteLevel" in _values(around, "type"),
        blank=_blank([*around, state.get("normalizer")]),
    )
    added = tokenizer.added_tokens_decoder
    special = {number for number, token in added.items() if token.special}
    special |= {int(number) for number in tokenizer.all_special_ids}
    surfaces = {
        number: token if number in added else spelling.text_of(token)
        for token, number in tokenizer.get_vocab().items()
        if token and number not in special
    }
    if spelling.suffix and any(text.endswith(" ") for text in surfaces.values()):
        return "word-end", surfaces
    begins = any(text.startswith(" ") and text.strip() for text in surfaces.values())
    return ("word-start" if begins else "none"), surfaces


@dataclass(frozen=True, slots=True)
class _Spelling:
    """The spelling rules of a tokenizer.

    Attributes:
        suffix: what stands at the end of a word; None where nothing does.
        bytewise: whether each character stands for a byte.
        blank: what stands for a blank; None where nothing does.
    """

    suffix: str | None
    bytewise: bool
    blank: str | None

    def text_of(self, token: str) -> str:
        """The text of a token that is not an added one."""
        if self.suffix and token.endswith(self.suffix):
            return self._plain(token.removesuffix(self.suffix)) + " "
        return self._plain(token)

    def _plain(self, token: str) -> str:
        if self.bytewise:
            octets = bytes(_BYTE_OF.get(char, _NO_BYTE) for char in token)
            return octets.decode(errors="replace")
        octet = _BYTE.fullmatch(token)
        if octet:
            return bytes.fromhex(octet[1]).decode("ascii", errors="replace")
        return token.replace(self.blank, " ") if self.blank else token


def _blank(parts: list[object]) -> str | None:
    """What stands for a blank in SentencePiece's way, in one of the forms it is written in."""
    named = _first(_values(parts, "replacement"))
    replaced = "▁" in _values(parts, "String", "content")
    return named or ("▁" if replaced else None)


def _values(part: object, *keys: str) -> list[object]:
    """The values of some keys, anywhere in a part of a tokenizer.json."""
    if isinstance(part, list):
        return [value for member in part for value in _values(member, *keys)]
    if not isinstance(part, dict):
        return []
    return [part[key] for key in keys if key in part] + _values(list(part.values()), *keys)


def _first(values: Iterable[object]) -> str | None:
    return next((value for value in values if isinstance(value, str) and value), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFacts:
    """The facts on a tokenizer.

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
        knows_capitals: whether its vocabulary has tokens with capital letters, or it lower-cases
            texts itself.
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
    knows_capitals: bool
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
        knows_capitals=_knows_capitals(tokenizer),
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
    if "ByteLevel" in _values([state.get("pre_tokenizer"), state.get("decoder")], "type"):
        return f"byte-level {algorithm}"
    if algorithm in ("WordPiece", "WordLevel"):
        return algorithm
    around = [state.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")]
    if "▁" not in json.dumps(around, ensure_ascii=False):
        return algorithm
    falls_back = isinstance(model, dict) and model.get("byte_fallback")
    return f"SentencePiece-like {algorithm}" + ", unknown characters as bytes" * bool(falls_back)


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


def _knows_capitals(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether a tokenizer does something with capital letters.

    It does if it lower-cases them, or if its vocabulary holds more of them than the single letters
    that every vocabulary of bytes has.
    """
    upper, lower = (
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in (_CAPITALS, _SMALL)
    )
    if upper == lower:
        return True
    words = [text.strip() for text in surfaces_of(tokenizer)[1].values()]
    cased = [text for text in words if len(text) > 1 and text.lower() != text.upper()]
    return sum(text != text.lower() for text in cased) > _FEW * len(cased)


def _system_role(tokenizer: PreTrainedTokenizerBase) -> tuple[SystemRole | None, str]:
    """The treatment of a system message by a chat template, found by rendering one."""
    if not tokenizer.chat_template:
        return None, ""
    messages = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]
    try:
        rendered = tokenizer.apply_chat_template(messages, tokenize=False)
    # Templates are programs; they refuse a role by raising whatever they like.
    except Exception as error:  # noqa: BLE001
        return "refused", f"{type(error).__name__}: {error}"
    return ("rendered" if _SYSTEM in str(rendered) else "left out"), ""
