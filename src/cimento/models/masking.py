"""Which tokens a masked model does not see while it predicts one."""

from __future__ import annotations

from collections.abc import Sequence

from cimento.models.base import PllRule


def masked_positions(units: Sequence[int], index: int, *, rule: PllRule) -> list[int]:
    """The positions that are masked while the token at `index` is predicted.

    Args:
        units: number of the word of each token, or under ``region`` that of its region; -1 for
            special tokens.
        index: of the token that is predicted.
        rule: ``original`` masks the token alone (Salazar et al. 2020, section 2,
            doi:10.18653/v1/2020.acl-main.240). ``within-word-l2r`` also masks the later tokens of
            its word, and ``whole-word`` all the others of its word (Kauf and Ivanova 2023,
            section 3, doi:10.18653/v1/2023.acl-short.80). ``region`` masks its region.
    """
    if rule == "original":
        return [index]
    start = index if rule == "within-word-l2r" else 0
    return [i for i in range(start, len(units)) if units[i] == units[index]]
