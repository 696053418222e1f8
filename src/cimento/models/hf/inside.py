"""What a scorer of transformers shows of itself, and what an inspection finds there.

These are records and a protocol; scorers that need no torch can be told from others without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from cimento.models.base import ModelCard, Scorer
from cimento.models.settings import BosRule, BoundaryRule

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """The parts of a scorer.

    Attributes:
        model: the model of transformers, on its device.
        tokenizer: its tokenizer.
        way: description of the way in which texts go through the model.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    way: str


@runtime_checkable
class Inspectable(Scorer, Protocol):
    """The protocol of a scorer that gives access to its parts."""

    def inside(self) -> Inside:
        """The parts of the scorer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainComparison:
    """A comparison of scores of the same texts in the fast and in the plain way.

    The plain way passes one text (for a masked model, one masked copy) at a time through the
    model's own forward pass, with nothing batched, shared or left out.

    Attributes:
        n_texts: how many different texts.
        n_tokens: how many scored tokens they have.
        max_difference_nats: largest difference between two scores of a token; infinite where only
            one of them is a number.
        tolerance_nats: largest difference that rounding can explain.
        fast_texts_per_s: texts scored per second in cimento's way.
        plain_texts_per_s: texts scored per second in the plain way.
        way: description of the fast way.
    """

    n_texts: int
    n_tokens: int
    max_difference_nats: float
    tolerance_nats: float
    fast_texts_per_s: float
    plain_texts_per_s: float
    way: str

    @property
    def agrees(self) -> bool:
        """Whether both ways give the same scores."""
        return self.max_difference_nats <= self.tolerance_nats


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTokens:
    """The part of some texts that a tokenizer does not know.

    Attributes:
        suite: suite of the texts.
        n_texts: how many different texts.
        n_tokens: number of their tokens.
        n_unknown: number of unknown tokens among these.
        n_refused: number of texts that cannot be scored at all.
        refusal: the reason for the first of these.
    """

    suite: str
    n_texts: int
    n_tokens: int
    n_unknown: int
    n_refused: int = 0
    refusal: str = ""


SystemRole: TypeAlias = Literal["rendered", "left out", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerFacts:
    """The facts on a tokenizer.

    Attributes:
        kind: how it cuts words, such as ``byte-level BPE``.
        marks: what of words its tokens mark.
        boundary: what ``--boundary auto`` corrects words by with this model; ``none`` where it
            corrects nothing.
        bos: the policy for what comes before a text; empty where the model leaves no choice.
        before: the tokens that come before a text when it is scored.
        origin: where these come from.
        after: the tokens that come after it.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The results of inspecting a model.

    Attributes:
        card: the card of the model.
        tokenizer: facts on its tokenizer; None if it is not a model of transformers.
        comparison: comparison of fast and plain scores; None if there is nothing to compare.
        unknown: for each suite, the part of the texts that the tokenizer does not know.
        notes: what the user should know of how it was loaded, as sentences.
    """

    card: ModelCard
    tokenizer: TokenizerFacts | None = None
    comparison: PlainComparison | None = None
    unknown: tuple[UnknownTokens, ...] = ()
    notes: tuple[str, ...] = ()
