"""The inspection of a loaded model: exactness of its fast scores, and facts on its tokenizer.

Nothing depends on names of models or classes: every property is tested.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.base import TWO_SIDED, Encoding, HasRemarks, ModelCard, Score, Scorer
from cimento.models.hf.boundaries import surfaces_of, tokenizer_kind, tokenizer_state
from cimento.models.hf.heads import widened
from cimento.models.hf.inside import (
    Inside,
    Inspectable,
    Inspection,
    PlainComparison,
    SystemRole,
    TokenizerFacts,
    UnknownTokens,
)
from cimento.models.hf.layout import largest_difference, masked_positions, tolerance_nats
from cimento.models.settings import Policy
from cimento.models.tokenizing import own_frame
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.base import FloatArray


def inspect_model(
    scorer: Inspectable, texts: Mapping[str, Sequence[str]], *, policy: Policy, n_compared: int
) -> Inspection:
    """Inspect a model.

    Args:
        scorer: a loaded model.
        texts: the texts of suites, by the names of the suites.
        policy: the policy it was loaded with.
        n_compared: number of texts of every suite, from the first, that are scored both ways.
    """
    inside = scorer.inside()
    encoded = {
        suite: _encoded(scorer, list(dict.fromkeys(suite_texts)))
        for suite, suite_texts in texts.items()
    }
    share = -(-n_compared // max(len(encoded), 1))
    # The plain way cannot score texts over which a window slides.
    longest = scorer.card.window or sys.maxsize
    fitting = [
        [text for text in group.texts if len(text.ids) <= longest] for group in encoded.values()
    ]
    chosen = [text for some in fitting for text in some[:share]][:n_compared]
    return Inspection(
        card=scorer.card,
        tokenizer=tokenizer_facts(inside.tokenizer, policy=policy, card=scorer.card),
        comparison=compare_with_plain(scorer, chosen, policy=policy),
        unknown=tuple(_unknown(inside, suite, group) for suite, group in encoded.items()),
        notes=scorer.notes if isinstance(scorer, HasRemarks) else (),
    )


def compare_with_plain(
    scorer: Inspectable, encoded: Sequence[Encoding], *, policy: Policy
) -> PlainComparison | None:
    """Score texts both ways; None without texts, or without a plain way for this kind of model.

    Args:
        scorer: a loaded model.
        encoded: texts that fit the model's window.
        policy: the policy it was loaded with.
    """
    plain_score = _PLAIN.get(scorer.card.kind)
    if plain_score is None or not encoded:
        return None
    inside = scorer.inside()
    # The first pass verifies the fast way and allocates memory in both, so it is not timed.
    scorer.score(encoded)
    plain_score(inside, encoded[0], policy)
    fast, fast_s = _timed(lambda: scorer.score(encoded))
    plain, plain_s = _timed(lambda: [plain_score(inside, text, policy) for text in encoded])
    return PlainComparison(
        n_texts=len(encoded),
        n_tokens=sum(len(text.wanted) for text in encoded),
        max_difference_nats=max(
            largest_difference(one, other) for one, other in zip(fast, plain, strict=True)
        ),
        tolerance_nats=tolerance_nats(inside.model),
        fast_texts_per_s=len(encoded) / fast_s,
        plain_texts_per_s=len(encoded) / plain_s,
        way=scorer.inside().way,
    )


def _plain_causal(inside: Inside, text: Encoding, _policy: Policy) -> FloatArray:
    values = np.full(len(text.wanted), np.nan)
    if not text.wanted:
        return values
    table = _logprobs(inside.model, text.ids)
    for slot, index in enumerate(text.wanted):
        if index > 0:
            values[slot] = table[index - 1, text.ids[index]].item()
    return values


def _plain_masked(inside: Inside, text: Encoding, policy: Policy) -> FloatArray:
    values = np.full(len(text.wanted), np.nan)
    for slot, index in enumerate(text.wanted):
        ids = list(text.ids)
        for position in masked_positions(text.words, index, rule=policy.pll):
            ids[position] = int(inside.tokenizer.mask_token_id)
        values[slot] = _logprobs(inside.model, ids)[index, text.ids[index]].item()
    return values


def _plain_seq2seq(inside: Inside, text: Encoding, _policy: Policy) -> FloatArray:
    # The decoder's start token and the tokens before a text come after the source.
    start = text.first - 1 - len(own_frame(inside.tokenizer).before)
    source, target = (
        torch.tensor([ids], device=inside.model.device)
        for ids in (text.ids[:start], text.ids[start:])
    )
    table = _normalized(inside.model, input_ids=source, decoder_input_ids=target)
    chosen = [table[i - start - 1, text.ids[i]].item() for i in text.wanted]
    return np.array(chosen, dtype=np.float64)


PlainScore: TypeAlias = Callable[[Inside, Encoding, Policy], "FloatArray"]

_PLAIN: Mapping[str, PlainScore] = {
    "causal": _plain_causal,
    "masked": _plain_masked,
    "seq2seq": _plain_seq2seq,
}
"""The simplest scoring of one text for each kind of model."""


def _logprobs(model: PreTrainedModel, ids: Sequence[int]) -> torch.Tensor:
    """Log-probabilities of one sequence; shape (length, vocabulary)."""
    return _normalized(model, input_ids=torch.tensor([ids], device=model.device))


def _normalized(model: PreTrainedModel, **inputs: torch.Tensor) -> torch.Tensor:
    with torch.inference_mode():
        logprobs: torch.Tensor = widened(model(**inputs).logits[0]).log_softmax(-1)
    return logprobs


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a suite that can be encoded, and the reasons for the others."""

    texts: list[Encoding]
    refusals: list[str]


def _encoded(scorer: Scorer, texts: Sequence[str]) -> _Texts:
    requests = [Score(text=text) for text in texts]
    try:
        return _Texts(list(scorer.encode(requests)), [])
    except ModelError:
        encoded = _Texts([], [])
        for request in requests:
            try:
                encoded.texts.extend(scorer.encode([request]))
            except ModelError as error:
                encoded.refusals.append(str(error))
        return encoded


def _unknown(inside: Inside, suite: str, encoded: _Texts) -> UnknownTokens:
    unknown = inside.tokenizer.unk_token_id
    ids = [
        number
        for text in encoded.texts
        for number, span in zip(text.ids, text.spans, strict=True)
        if span[0] >= 0
    ]
    return UnknownTokens(
        suite=suite,
        n_texts=len(encoded.texts) + len(encoded.refusals),
        n_tokens=len(ids),
        n_unknown=sum(number == unknown for number in ids),
        n_refused=len(encoded.refusals),
        refusal=encoded.refusals[0] if encoded.refusals else "",
    )


def _timed(work: Callable[[], list[FloatArray]]) -> tuple[list[FloatArray], float]:
    """The result of some work, and its wall time in seconds."""
    started = time.perf_counter()
    result = work()
    return result, max(time.perf_counter() - started, 1e-9)


_CAPITALS, _SMALL = "DOMANI MARIA TORNA A ROMA", "domani maria torna a roma"
_SYSTEM = "Antworte in einem Satz."
_USER = "Wie viele Beine hat eine Spinne?"


def tokenizer_facts(
    tokenizer: PreTrainedTokenizerBase, *, policy: Policy, card: ModelCard
) -> TokenizerFacts:
    """Find out what a tokenizer does.

    Args:
        tokenizer: a fast tokenizer.
        policy: how texts are scored.
        card: of the model it belongs to.
    """
    state = tokenizer_state(tokenizer)
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
    frame = own_frame(tokenizer)
    names = [
        " ".join(tokenizer.convert_ids_to_tokens(list(ids))) for ids in (frame.before, frame.after)
    ]
    if card.kind in TWO_SIDED:
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

    It does if it lower-cases them, or if some text with a capital is one of its tokens. Letters
    alone, which every vocabulary of bytes has, and special tokens, which every file has, are none.
    """
    upper, lower = (
        tokenizer(text, add_special_tokens=False)["input_ids"] for text in (_CAPITALS, _SMALL)
    )
    if upper == lower:
        return True
    added = set(map(str, tokenizer.get_added_vocab()))
    return any(
        len(word.strip()) > 1
        and word != word.lower()
        and word.strip() not in added
        and _is_one_token(tokenizer, word, number)
        for number, word in surfaces_of(tokenizer)[1].items()
    )


def _is_one_token(tokenizer: PreTrainedTokenizerBase, word: str, number: int) -> bool:
    """Whether a tokenizer makes one token of what is written on it, alone or after a word."""
    alone, after = tokenizer([word, f"a{word}"], add_special_tokens=False)["input_ids"]
    return list(alone) == [number] or list(after[-1:]) == [number]


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
