"""Masked language models: pseudo-log-likelihoods of tokens, and candidates for blanks.

A token is predicted given the rest of the text. Blanks are filled with one mask or several, and
options may have any length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cimento.errors import ModelError, TextTooLongError
from cimento.models.base import EncodedTexts, Encoding, ModelCard
from cimento.models.characters import trim_spans
from cimento.models.hf.batches import Trial
from cimento.models.hf.copies import Copy, MaskedPlan, MaskedScoring, MaskedToken
from cimento.models.hf.fill_causal import BEAMS
from cimento.models.hf.fill_words import Beam, Row, RowFiller, best_at, grow
from cimento.models.hf.inside import Inside
from cimento.models.hf.layout import centered, masked_positions
from cimento.models.hf.planning import PlanningScorer
from cimento.models.hf.shapes import Passes
from cimento.models.questions import (
    CHOICE,
    Blank,
    ChoiceRule,
    FillCandidate,
    FillPolicy,
    OpenRule,
    chosen_protocol,
    ranked,
)
from cimento.models.settings import BatchLimits, Policy
from cimento.models.tokenizing import Frame, own_frame, shortened, tokenized

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.models.hf.fill_words import BoolArray
    from cimento.models.hf.heads import Read


class MaskedScorer(PlanningScorer):
    """A scorer with a masked language model of transformers; see `TransformersScorer`."""

    def _prepared(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, policy: Policy
    ) -> tuple[PreTrainedModel, Frame]:
        del policy
        mask = tokenizer.mask_token_id
        if mask is None and self.card.kind == "diffusion":
            mask = getattr(model.config, "mask_token_id", None)
        if mask is None:
            raise ModelError(
                where=f"tokenizer of {self.card.name!r}",
                seen="it has no mask token",
                todo="If the model is a causal one, say --kind=causal.",
            )
        self._padding = int(tokenizer.pad_token_id or 0)
        self._mask = int(mask)
        return model, own_frame(tokenizer)

    def trials(
        self, base: Encoding, source: Encoding, moved: Sequence[tuple[int, int]]
    ) -> list[Trial]:
        """A pass for each wanted token, which is masked in both texts.

        There are none if other numbers of tokens are wanted of the two texts, so that it is not
        known which belong together.
        """
        if len(base.wanted) != len(source.wanted):
            return []
        trials = []
        for slot, (index, other) in enumerate(zip(base.wanted, source.wanted, strict=True)):
            copy, position = self._masked_copy(base, index)
            from_copy, _ = self._masked_copy(source, other)
            asks = ((position, base.ids[index], slot),)
            trials.append(Trial(ids=copy, source=from_copy, moved=tuple(moved), asks=asks))
        return trials

    @staticmethod
    def _reader(passes: Passes, columns: tuple[Read, ...]) -> MaskedScoring:
        return MaskedScoring(passes, columns=columns)

    def _planned(self, texts: EncodedTexts, columns: tuple[Read, ...]) -> MaskedPlan:
        # Two conditions that differ only in a masked token give the same masked text, which is
        # scored once.
        jobs: dict[Copy, list[MaskedToken]] = {}
        slot = 0
        for text in texts:
            for index in text.wanted:
                copy, position = self._masked_copy(text, index)
                jobs.setdefault(copy, []).append(MaskedToken(position, text.ids[index], slot))
                slot += 1
        return MaskedPlan.of(jobs, slots=slot, columns=len(columns))

    def _without_text(self) -> tuple[tuple[int, ...], int]:
        frame = self._texts.frame
        return (*frame.before, self._mask, *frame.after), len(frame.before)

    def _masked_copy(self, text: Encoding, index: int) -> tuple[Copy, int]:
        """A copy of the text with masks, and the place of the token at `index` in it."""
        ids = list(text.ids)
        for position in masked_positions(text.words, index, rule=self._texts.policy.pll):
            ids[position] = self._mask
        window, frame = self.card.window, self._texts.frame
        if window is None or len(ids) <= window:
            return tuple(ids), index
        start, end = centered(ids, index, window=window, frame=frame)
        copy = (*frame.before, *ids[start:end], *frame.after)
        return copy, len(frame.before) + index - start


class _Gap(NamedTuple):
    """The tokens of a text with masks in its blank."""

    before: tuple[int, ...]
    after: tuple[int, ...]

    def filled(self, ids: Sequence[int]) -> tuple[int, ...]:
        return (*self.before, *ids, *self.after)


@dataclass(frozen=True, slots=True)
class _Option:
    """The tokens of an option in its text, and those around them; may be empty."""

    gap: _Gap
    ids: tuple[int, ...]


class MaskedFiller(RowFiller):
    """A filler of blanks with a masked language model of transformers.

    Args:
        inside: the model and its tokenizer.
        card: the card of the model.
        limits: the limits of a batch.
        sliding: whether a text that is too long is cut to the part around its blank, instead of
            being an error.

    Raises:
        ModelError: the model cannot be asked exactly.
    """

    protocols: tuple[OpenRule, ...] = ("mask", "words", "complete", "beam")
    choices: tuple[ChoiceRule, ...] = ("mask", "left-to-right", "joint")

    def __init__(
        self, inside: Inside, *, card: ModelCard, limits: BatchLimits, sliding: bool = False
    ) -> None:
        tokenizer = inside.tokenizer
        self._mask = int(tokenizer.mask_token_id)
        frame, padding = own_frame(tokenizer), int(tokenizer.pad_token_id or 0)
        super().__init__(
            inside, card=card, frame=frame, limits=limits, padding=padding, sliding=sliding
        )

    def fill(
        self,
        requests: Sequence[Blank],
        policy: FillPolicy,
        *,
        choice: Sequence[ChoiceRule] = (),
    ) -> list[list[FillCandidate]]:
        """The candidates for each blank, then its options; see `Filler`."""
        protocol = chosen_protocol(policy, self)
        gaps = self._gaps(requests, 1 if protocol in ("mask", "words") else policy.masks)
        fits = [self._tokens.after_blank(request.before) for request in requests]
        if protocol in ("mask", "words"):
            fills = self._one_mask(gaps, fits, policy.k, words=protocol == "words")
        else:
            fills = self._several_masks(gaps, fits, policy, whole=protocol == "complete")
        if not choice:
            return fills
        scored = self._choose(requests, gaps, fits, choice)
        return [[*generated, *options] for generated, options in zip(fills, scored, strict=True)]

    def _gaps(self, requests: Sequence[Blank], masks: int) -> list[_Gap]:
        """The texts as tokens around one mask, read by the tokenizer from its mask token.

        If tokens include the blank before a word, the blank before the mask belongs to the fill,
        and a token of a blank alone before the mask is removed.
        """
        mask = self._tokenizer.mask_token
        strip = self._tokens.marks == "word-start"
        texts = [
            f"{request.before.rstrip() if strip else request.before}{mask}{request.after}"
            for request in requests
        ]
        gaps = []
        tokenized = self._tokenizer(texts, add_special_tokens=False, verbose=False) if texts else {}
        for request, ids in zip(requests, tokenized.get("input_ids", ()), strict=True):
            if ids.count(self._mask) != 1:
                raise ModelError(
                    where=f"text {_shown(request)!r}",
                    seen=f"it holds the mask token {mask!r} besides its blank",
                    todo="Take it out.",
                )
            at = ids.index(self._mask)
            gaps.append(self._gap(ids[:at], ids[at + 1 :], masks, request))
        return gaps

    def _gap(
        self, before: Sequence[int], after: Sequence[int], tokens: int, request: Blank
    ) -> _Gap:
        """The tokens around some tokens; those of a text that is too long are cut to fit.

        The gap is in the middle of the part, or as near to the middle as the ends of the text
        allow.

        Raises:
            TextTooLongError: the text does not fit, and only whole texts are read.
        """
        frame, window = self._frame, self.card.window
        length = len(frame.before) + len(before) + tokens + len(after) + len(frame.after)
        if window is None or length <= window:
            return _Gap((*frame.before, *before), (*after, *frame.after))
        if not self._sliding:
            raise TextTooLongError(
                where=f"text {_shown(request)!r}",
                seen=f"it makes {length} tokens, and the model's window holds {window}",
                todo="Shorten it, or say --window=sliding.",
            )
        room = window - len(frame.before) - len(frame.after) - tokens
        left = min(len(before), max(room // 2, room - len(after)))
        return _Gap(
            (*frame.before, *before[len(before) - left :]), (*after[: room - left], *frame.after)
        )

    def _one_mask(
        self, gaps: Sequence[_Gap], fits: Sequence[bool], k: int, *, words: bool
    ) -> list[list[FillCandidate]]:
        rows: list[Row] = [(gap.filled((self._mask,)), len(gap.before)) for gap in gaps]
        allowed = {fit: self._tokens.whole_words(after_blank=fit) for fit in set(fits) if words}
        best = best_at(self._distributions, rows, k, [allowed.get(fit) for fit in fits])
        return self._tokens.single(best, "words" if words else "mask", fits)

    def _several_masks(
        self, gaps: Sequence[_Gap], fits: Sequence[bool], policy: FillPolicy, *, whole: bool
    ) -> list[list[FillCandidate]]:
        """The candidates of one or more tokens: words ranked together, others by length."""
        by_gap: list[list[FillCandidate]] = [[] for _ in gaps]
        for count in range(1, policy.masks + 1):
            method = "complete" if whole else f"beam-{count}"
            beams = self._beams(gaps, fits, count, policy.k, whole=whole)
            for fills, gap_beams, fit in zip(by_gap, beams, fits, strict=True):
                fills += [self._tokens.fill(beam, method, after_blank=fit) for beam in gap_beams]
        return [ranked(fills, policy.k) for fills in by_gap] if whole else by_gap

    def _beams(
        self, gaps: Sequence[_Gap], fits: Sequence[bool], count: int, k: int, *, whole: bool
    ) -> list[list[Beam]]:
        """The best sequences of `count` tokens for each gap, filled in from left to right."""
        width = k if count == 1 else k * BEAMS
        beams = [[Beam()] for _ in gaps]
        for step in range(count):
            jobs = [(n, beam) for n, gap_beams in enumerate(beams) for beam in gap_beams]
            masks = [self._mask] * (count - step)
            rows: list[Row] = [
                (gaps[n].filled((*beam.ids, *masks)), len(gaps[n].before) + step)
                for n, beam in jobs
            ]
            allowed = [
                self._allowed(step, count, after_blank=fits[n]) if whole else None for n, _ in jobs
            ]
            beams = grow(beams, best_at(self._distributions, rows, width, allowed), width)
        return [gap_beams[:k] for gap_beams in beams]

    def _allowed(self, step: int, count: int, *, after_blank: bool) -> BoolArray:
        """The tokens allowed at a step of a whole word."""
        if count == 1:
            return self._tokens.whole_words(after_blank=after_blank)
        if step == 0:
            return self._tokens.beginnings(after_blank=after_blank)
        return self._tokens.continuing

    def _choose(
        self,
        requests: Sequence[Blank],
        gaps: Sequence[_Gap],
        fits: Sequence[bool],
        choice: Sequence[ChoiceRule],
    ) -> list[list[FillCandidate]]:
        options = [self._options(request) for request in requests]
        asked: dict[Row, set[int]] = {}
        plans = [
            [
                {rule: _terms(option, gap, rule, self._mask) for rule in choice}
                for option in gap_options
            ]
            for gap_options, gap in zip(options, gaps, strict=True)
        ]
        for terms in (
            terms for gap_plans in plans for plan in gap_plans for terms in plan.values()
        ):
            for row, target in terms or ():
                asked.setdefault(row, set()).add(target)
        values = self._values(asked)
        return [
            [
                FillCandidate(
                    candidate=text,
                    logprob_nats=None if terms is None else sum(values[term] for term in terms),
                    n_pieces=len(option.ids) or None,
                    kind=self._tokens.kind(option.ids, after_blank=fit) if option.ids else "words",
                    method=CHOICE + rule,
                )
                for rule in choice
                for text, option, plan in zip(request.options, gap_options, gap_plans, strict=True)
                for terms in [plan[rule]]
            ]
            for request, gap_options, gap_plans, fit in zip(
                requests, options, plans, fits, strict=True
            )
        ]

    def _values(self, asked: Mapping[Row, set[int]]) -> dict[tuple[Row, int], float]:
        values: dict[tuple[Row, int], float] = {}

        def take(logprobs: torch.Tensor, rows: list[Row]) -> None:
            for line, row in zip(logprobs, rows, strict=True):
                targets = sorted(asked[row])
                values.update(
                    ((row, target), value)
                    for target, value in zip(targets, line[targets].tolist(), strict=True)
                )

        self._distributions.read(list(asked), take)
        return values

    def _options(self, request: Blank) -> list[_Option]:
        """Each option as the tokens that it makes in its text."""
        texts = [f"{request.before}{option}{request.after}" for option in request.options]
        if not texts:
            return []
        several, offsets_of = tokenized(texts, self._tokenizer)
        start = len(request.before)
        return [
            self._option(request, ids, trim_spans(text, offsets), (start, start + len(option)))
            for option, text, ids, offsets in zip(
                request.options, texts, several, offsets_of, strict=True
            )
        ]

    def _option(
        self,
        request: Blank,
        ids: Sequence[int],
        spans: Sequence[tuple[int, int]],
        place: tuple[int, int],
    ) -> _Option:
        """The tokens that cover a place, including those that reach over its edges."""
        inside = [i for i, (start, end) in enumerate(spans) if start < place[1] and end > place[0]]
        if not inside:
            return _Option(_Gap((), ()), ())
        first, last = inside[0], inside[-1] + 1
        gap = self._gap(ids[:first], ids[last:], last - first, request)
        return _Option(gap, tuple(ids[first:last]))


def _terms(option: _Option, gap: _Gap, rule: ChoiceRule, mask: int) -> list[tuple[Row, int]] | None:
    """The row that predicts each token of an option; None if the rule cannot score the option.

    ``mask`` uses the same mask as for finding candidates.
    """
    ids, count = option.ids, len(option.ids)
    if not ids or (rule == "mask" and count > 1):
        return None
    if rule == "mask":
        return [((gap.filled((mask,)), len(gap.before)), ids[0])]
    terms: list[tuple[Row, int]] = []
    for index, target in enumerate(ids):
        shown = ids[:index] if rule == "left-to-right" else ()
        masked = option.gap.filled((*shown, *[mask] * (count - len(shown))))
        terms.append(((masked, len(option.gap.before) + index), target))
    return terms


def _shown(request: Blank) -> str:
    return shortened(f"{request.before}___{request.after}")
