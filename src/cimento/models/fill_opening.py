"""From a loaded scorer to what fills blanks with the same model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from cimento.errors import UsageError
from cimento.models.base import Policy
from cimento.models.limits import AUTO, BatchLimits

if TYPE_CHECKING:
    from cimento.models.base import ModelCard
    from cimento.models.fill import Filler
    from cimento.models.inspection import Inside


class _Opened(Protocol):
    """A scorer that lets itself be looked into."""

    @property
    def card(self) -> ModelCard: ...

    def inside(self) -> Inside: ...


def has_filler(scorer: object) -> bool:
    """Whether a model finds candidates itself; any other can still choose among options."""
    return hasattr(scorer, "inside")


def open_filler(scorer: object, *, policy: Policy, limits: BatchLimits = AUTO) -> Filler:
    """What fills blanks with the model of a scorer.

    Args:
        scorer: a model of transformers, loaded.
        policy: the policy it was loaded with.
        limits: of a batch; chosen by device where there are none.

    Raises:
        UsageError: the model does not show what it is made of.
        ModelError: the model cannot be asked exactly.
    """
    if not has_filler(scorer):
        raise UsageError(
            where="fill",
            seen="this model gives only scores of texts, and no candidates of its own",
            todo="Give options to choose among, or a model of transformers.",
        )
    opened = cast("_Opened", scorer)
    inside, card = opened.inside(), opened.card
    limits = limits.or_tokens(512 if inside.model.device.type == "cpu" else 16_384)
    if card.kind == "masked":
        from cimento.models.fill_masked import MaskedFiller

        sliding = policy.window == "sliding"
        return MaskedFiller(inside, card=card, limits=limits, sliding=sliding)
    if card.kind == "seq2seq":
        from cimento.models.fill_seq2seq import SentinelFiller

        return SentinelFiller(inside, card=card)
    from cimento.models.fill_causal import CausalFiller

    return CausalFiller(inside, card=card, policy=policy, limits=limits)
