"""Which kinds of model have scores on one scale."""

from __future__ import annotations

from collections.abc import Iterable

_OWN_SCALES = ("causal", "masked", "seq2seq")


def scales(kinds: Iterable[str]) -> tuple[str, ...]:
    """The kinds whose scores lie on scales of their own; kinds that are not known are left out.

    A causal model gives the probability of a text, a masked model a pseudo-log-likelihood
    (Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240), a sequence-to-sequence model the
    probability of what it fills in.
    """
    found = set(kinds)
    return tuple(kind for kind in _OWN_SCALES if kind in found)


def apart(kinds: Iterable[str]) -> str | None:
    """Why differences of scores between models of some kinds are not tested; None where they are.

    Args:
        kinds: of the models, as manifests have them.
    """
    names = scales(kinds)
    if len(names) < 2:  # noqa: PLR2004  # one kind has one scale
        return None
    return f"scores of {' and '.join(names)} models are on different scales"


def rates_only(kinds: Iterable[str]) -> str | None:
    """What is to be said where models of several kinds are compared; None where they are of one."""
    why = apart(kinds)
    return None if why is None else f"{why[0].upper()}{why[1:]}: only rates are compared."
