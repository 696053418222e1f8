"""Masked diffusion models: log-likelihoods estimated by masking random sets of tokens.

Such a model (LLaDA, Dream and others) is a bidirectional transformer that was trained to predict
any number of masked tokens at once. Its log-likelihood of a text of L tokens has the lower bound

    E [ L / l * sum of ln P(token | the tokens that are not masked) over the l masked tokens ],

where l is uniform on 1 to L and the masked tokens are drawn without replacement (Nie et al. 2025,
eq. 6, doi:10.48550/arXiv.2502.09992). A token's proportion of it is the mean, over the numbers l,
of its log-probability when it is one of l masked tokens.

The expectation is estimated by samples in replicates that are independent of one another, so that
the spread of anything computed from scores can be computed on each replicate. Inside a replicate
the numbers l are spread evenly from a random start, each of them still uniform. The masked places
depend on the seed and on L only: sentences with the same number of tokens are masked in the same
places, so that much of the noise cancels in their differences.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cimento.errors import UsageError
from cimento.io.tables import REPLICATES, replicate_of
from cimento.models.base import EncodedTexts, Encoding, Score
from cimento.models.hf.copies import Copy, MaskedPlan, MaskedToken
from cimento.models.hf.layout import refuse_windows
from cimento.models.hf.masked import MaskedScorer
from cimento.models.hf.shapes import carry_out
from cimento.models.settings import Policy
from cimento.models.tokenizing import Frame

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from cimento.io.values import Flags, Floats
    from cimento.models.base import FloatArray
    from cimento.models.hf.batches import Trial
    from cimento.models.hf.heads import Read


@dataclass(frozen=True, slots=True)
class MaskSets:
    """The sets of tokens that are masked in a text of some length.

    Attributes:
        hidden: whether each token is masked in each sample; shape (samples, tokens). Samples of one
            replicate follow one another.
        weights: factor of each sample in the estimate of its replicate: L / l over the number of
            samples in a replicate.
    """

    hidden: Flags
    weights: Floats


@functools.lru_cache(maxsize=256)
def draw_masks(length: int, *, samples: int, seed: int) -> MaskSets:
    """The sets of masked tokens for texts of a length, which depend on nothing else.

    Args:
        length: number of tokens, L.
        samples: number of sets, a multiple of the number of replicates.
        seed: seed of the random generator.
    """
    per_replicate = samples // REPLICATES
    hidden = np.zeros((samples, length), dtype=np.bool_)
    numbers = np.empty(samples, dtype=np.int64)
    for replicate in range(REPLICATES):
        rng = np.random.default_rng([seed, length, replicate])
        places = (np.arange(per_replicate) + rng.random()) / per_replicate
        some = np.minimum(1 + (places * length).astype(np.int64), length)
        numbers[replicate * per_replicate : (replicate + 1) * per_replicate] = some
        for sample, number in enumerate(some.tolist(), start=replicate * per_replicate):
            hidden[sample, rng.permutation(length)[:number]] = True
    return MaskSets(hidden, length / numbers / per_replicate)


class DiffusionScorer(MaskedScorer):
    """A scorer with a masked diffusion model; see `TransformersScorer`.

    The mask token is that of the tokenizer, or of the model's config; the policy has the number of
    samples and their seed.
    """

    def _prepared(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, policy: Policy
    ) -> tuple[PreTrainedModel, Frame]:
        refuse_windows(policy, seen="a masked diffusion model reads texts whole")
        return super()._prepared(model, tokenizer, policy)

    def encode(self, requests: Sequence[Score]) -> Sequence[Encoding]:
        """Tokenize the requests, in order; see `Scorer`.

        Tokens of a context belong to no word: they are never masked, so that scores depend on where
        the text begins, and answers are kept by the ids of tokens and the numbers of their words.
        """
        texts = EncodedTexts.of(super().encode(requests))
        return replace(texts, words=np.where(texts.start < 0, -1, texts.words))

    def trials(
        self,
        base: Encoding,  # noqa: ARG002  # as for all scorers
        source: Encoding,  # noqa: ARG002
        moved: Sequence[tuple[int, int]],  # noqa: ARG002
    ) -> list[Trial]:
        """No passes: a score comes from many, with random masks.

        Raises:
            UsageError: always.
        """
        raise UsageError(
            where=f"model {self.card.name!r}",
            seen="a masked diffusion model has no single pass whose states could be exchanged",
            todo="Explain it as a masked model: --kind=masked.",
        )

    @property
    def plans(self) -> bool:
        """No: a score is a mean over copies."""
        return False

    def _score(self, encoded: Sequence[Encoding], columns: tuple[Read, ...]) -> list[FloatArray]:
        replicates = [self._replicate(column) for column in columns]
        jobs: dict[Copy, list[MaskedToken]] = {}
        slots = [self._add(text, jobs) for text in encoded]
        plan = MaskedPlan.of(jobs, slots=sum(map(len, jobs.values())))
        carry_out(self._reader_of(()), plan)
        values = plan.values
        tables = []
        for text, (slot, weights) in zip(encoded, slots, strict=True):
            known = np.where(slot >= 0, weights[:, None] * values[slot], 0.0)
            shares = known.reshape(REPLICATES, -1, len(text.wanted)).sum(axis=1)
            mean = shares.mean(axis=0)
            tables.append(np.stack([mean, *shares[replicates]], axis=1) if columns else mean)
        return tables

    def _add(
        self, text: Encoding, jobs: dict[Copy, list[MaskedToken]]
    ) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.int64]], Floats]:
        """Add the masked copies of a text in which a wanted token is masked.

        Returns:
            The slot of each wanted token in each sample, -1 where it is not masked, and the weight
            of each sample.
        """
        readable = [index for index, (start, _) in enumerate(text.spans) if start >= 0]
        place_of = {index: place for place, index in enumerate(readable)}
        policy = self.policy
        masks = draw_masks(len(readable), samples=policy.mc_samples, seed=policy.mc_seed)
        slots = np.full((len(masks.hidden), len(text.wanted)), -1, dtype=np.int64)
        known: dict[tuple[Copy, int], int] = {}
        count = sum(map(len, jobs.values()))
        for sample, hidden in enumerate(masks.hidden):
            wanted = [n for n, index in enumerate(text.wanted) if hidden[place_of[index]]]
            if not wanted:
                continue
            ids = list(text.ids)
            for place in np.flatnonzero(hidden).tolist():
                ids[readable[place]] = self._mask
            copy = tuple(ids)
            for n in wanted:
                position = text.wanted[n]
                if (copy, position) not in known:
                    known[copy, position] = count
                    jobs.setdefault(copy, []).append(
                        MaskedToken(position, text.ids[position], count)
                    )
                    count += 1
                slots[sample, n] = known[copy, position]
        return slots, masks.weights

    def _replicate(self, column: Read) -> int:
        """The number of the replicate of a column, from 0.

        Raises:
            UsageError: it is another column.
        """
        number = replicate_of(column) if isinstance(column, str) else None
        if number is None:
            raise UsageError(
                where=f"model {self.card.name!r}",
                seen="the score of a token comes from many passes, so that there is no column"
                f" {column if isinstance(column, str) else 'of boundaries'}",
                todo="Leave --store and --layers out, and measures that need them.",
            )
        return number - 1
