"""Which nouns are in which relation to which, by their kinds."""

from __future__ import annotations

RELATIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "of": (
        ("h", "hp"),
        ("a", "h"),
        ("octe", "h"),
        ("d", "ps"),
        ("s", "p"),
        ("v", "h"),
        ("nl", "p"),
        ("p", "hp"),
    ),
    "near": (("haoctsdvnlp", "dspnlh"),),
    "in": (("haoctsnl", "p"),),
    "on": (("octf", "s"),),
    "with": (("h", "aoc"),),
    "behind": (("haocsvnl", "dspnlv"),),
    "beside": (("haocsdvnl", "dspnlvh"),),
    "before": (("haocsvnl", "dspnlv"),),
    "under": (("haoct", "sdnl"),),
    "for": (("octf", "h"),),
}
"""Relation to pairs of kinds: of the noun, and of what it is related to."""

WEIGHTS = {
    "of": 5,
    "near": 2,
    "in": 2,
    "on": 2,
    "with": 1,
    "behind": 1,
    "beside": 1,
    "before": 1,
    "under": 1,
    "for": 2,
}
"""How often each relation is chosen, beside the others."""
