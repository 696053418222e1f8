"""Scores of texts from a server: one text in a request, or several where the server takes lists.

A list saves requests, and lets the server read its texts together. Whether a server takes lists is
learned from its probes. Should one fail later, for whatever reason, its texts are asked for singly,
and so are all that follow; the errors that users see are those of single texts.
"""

from __future__ import annotations

import urllib.error
from collections.abc import Iterator, Sequence

from cimento.errors import ModelError
from cimento.io.deadline import TooSlowError
from cimento.models.base import Meter
from cimento.models.server import Bodies
from cimento.models.server.answers import TextScores, read_text_scores, read_texts, token_usage
from cimento.models.server.http import REFUSED_KEY, Server
from cimento.models.server.identity import PROBES
from cimento.models.tokenizing import shortened
from cimento.records.usage import Tokens

MOST_TEXTS, MOST_BYTES = 16, 16_384
"""Largest number of texts in one request, and of their bytes in UTF-8, if they are several."""

_PATH = "/completions"


def score_text(server: Server, bodies: Bodies, text: str, meter: Meter | None = None) -> TextScores:
    """The scores of a text.

    Args:
        server: the server.
        bodies: the maker of requests to its model.
        text: the text.
        meter: gets what the request came to.

    Raises:
        ModelError: the server does not answer, or cannot score.
    """
    about = f"text {shortened(text)!r}"
    answer = server.post(_PATH, bodies.scoring(text), about=about)
    if meter is not None:
        meter[text] = token_usage(answer)
    where = f"{server.where}, {about}"
    return read_text_scores(answer, text, where=where, redacted=server.redacted)


def score_list(
    server: Server,
    bodies: Bodies,
    texts: Sequence[str],
    meter: Meter | None = None,
    *,
    attempts: int | None = None,
) -> list[TextScores] | None:
    """The scores of several texts by one request; None where they have to be asked for singly.

    Args:
        server: the server.
        bodies: the maker of requests to its model; learns whether it takes lists.
        texts: the texts.
        meter: gets what the request came to: the request itself counts for the first text.
        attempts: how often the server is asked at most; None for as often as usual.

    Raises:
        ModelError: the server wants another key, or is slow.
    """
    about = f"{len(texts)} texts, the first {shortened(texts[0])!r}"
    try:
        answer = server.post(_PATH, bodies.scoring(texts), about=about, attempts=attempts)
        where = f"{server.where}, {about}"
        scores = read_texts(answer, texts, where=where, redacted=server.redacted)
    except ModelError as error:
        cause = error.__cause__
        bodies.lists = False
        wants_key = isinstance(cause, urllib.error.HTTPError) and cause.code in REFUSED_KEY
        if wants_key or isinstance(cause, TooSlowError):
            raise
        return None
    if meter is not None:
        meter.update(zip(texts, _shared(token_usage(answer), scores), strict=True))
    return scores


def _shared(tokens: Tokens, scores: Sequence[TextScores]) -> Iterator[Tokens]:
    """What each text of a list came to: its own tokens, if they add up to what the server says.

    Otherwise all of them count for the first text, so that at least the sum is right.
    """
    read = [score.n_tokens for score in scores]
    adds_up = tokens.read == sum(read) and tokens.written == len(scores)
    for number, own in enumerate(read):
        sent = int(number == 0)
        if adds_up:
            yield Tokens(sent, own, 1)
        else:
            yield tokens if sent else Tokens(0, 0, 0)


def in_lists(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Texts in lists for one request each, in their order."""
    some: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode(errors="replace"))
        if some and (len(some) == MOST_TEXTS or size + length > MOST_BYTES):
            yield tuple(some)
            some, size = [], 0
        some.append(text)
        size += length
    if some:
        yield tuple(some)


def score_probes(server: Server, bodies: Bodies, *, asks_lists: bool) -> list[TextScores]:
    """The scores of the probes.

    Args:
        server: the server.
        bodies: the maker of requests to its model; learns whether it takes lists.
        asks_lists: whether both are sent in one request, if the server takes that.

    Raises:
        ModelError: the server does not answer, or cannot score.
    """
    if asks_lists:
        # Some servers fail over a list as if that might pass, so they are not asked for it again.
        scores = score_list(server, bodies, PROBES, attempts=1)
        bodies.lists = scores is not None
        if scores is not None:
            return scores
    return [score_text(server, bodies, probe) for probe in PROBES]
