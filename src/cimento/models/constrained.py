"""Constrained decoding: greedy, token by token, where only the given answers may be written."""

from __future__ import annotations

from cimento.models.answering import OptionScores


def descend(scores: OptionScores) -> int:
    """The answer that greedy decoding writes when nothing else may be written.

    At each step the most probable of the tokens that still lead to an answer is taken, the first
    one of equals. Where an answer is the beginning of others, what is left is decided by sums:
    no token says that an answer ends.

    Args:
        scores: of the answers; see `OptionScores`.

    Returns:
        The number of the answer.
    """
    alive = list(range(len(scores.tokens)))
    depth = 0
    while len(alive) > 1:
        if any(len(scores.tokens[number]) <= depth for number in alive):
            return max(alive, key=lambda number: sum(scores.nats[number]))
        best = max(alive, key=lambda number: scores.nats[number][depth])
        token = scores.tokens[best][depth]
        alive = [number for number in alive if scores.tokens[number][depth] == token]
        depth += 1
    return alive[0]
