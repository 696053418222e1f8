"""The identity of the model on a server, from its answers to fixed probes now and before.

A server shows a name, not its weights. Two texts are scored at the start of every run, and again
while it lasts (`cimento.models.server.watch`); a server that cannot score is asked for two short
replies instead. What was answered at an address under a
name is kept in a file beside the answers, so that rounding makes no other model of the same one.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import StorageError
from cimento.io.parsing import parse_json
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.suites import JsonValue

PROBES = ("One small lamp was left burning near the", "Il 7 marzo la zia di Pietro comprò dodici")
"""The probes: unfinished sentences, so that text is generated after them."""

SAME_MODEL_NATS = 0.05
"""Mean difference for each token that batching and number formats may make."""

FILE = "servers.jsonl"
_DIGITS = 2
_LONGEST_BYTES = 20_000
"""Of a line of the file; two probes take some 1,000."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A server's answers to the probes, one entry for each.

    Attributes:
        scores: offset of each token's first byte to its log-probability in nats; NaN for a first
            token without one. Empty where the server cannot score.
        replies: what it generated, where it cannot score; else empty.
    """

    scores: tuple[dict[int, float], ...] = ()
    replies: tuple[str, ...] = ()

    def is_like(self, other: Fingerprint) -> bool:
        """Whether one model gives both: equal tokens with near scores, or one equal reply."""
        if self.scores and len(self.scores) == len(other.scores):
            pairs = zip(self.scores, other.scores, strict=True)
            return all(_difference_nats(*pair) <= SAME_MODEL_NATS for pair in pairs)
        same = [one == another for one, another in zip(self.replies, other.replies, strict=False)]
        said = [equal for equal, reply in zip(same, self.replies, strict=False) if reply]
        return bool(same) and (all(same) or any(said))

    def difference(self, earlier: Fingerprint) -> str:
        """What an unlike one of the same server has otherwise, as a clause for messages."""
        if not self.scores:
            for now, before in zip(self.replies, earlier.replies, strict=False):
                if now != before:
                    shown = f"{now[:SHOWN_CHARACTERS]!r}, not {before[:SHOWN_CHARACTERS]!r}"
                    return f"it replies to the fixed probes otherwise ({shown})"
        pairs = zip(self.scores, earlier.scores, strict=False)
        largest = max((_difference_nats(*pair) for pair in pairs), default=math.inf)
        if math.isinf(largest):
            return "it parts the fixed probes into other tokens"
        return (
            f"its scores of a fixed probe differ by {largest:.2f} nats a token, where rounding"
            f" makes up to {SAME_MODEL_NATS}"
        )

    def digest(self) -> str:
        """A hash of it, hexadecimal; scores count with two decimals."""
        rounded = [
            [
                [start, None if math.isnan(value) else round(value, _DIGITS)]
                for start, value in pairs
            ]
            for pairs in (sorted(scores.items()) for scores in self.scores)
        ]
        content = json.dumps([rounded, list(self.replies)])
        return hashlib.sha256(content.encode()).hexdigest()

    def plain(self) -> dict[str, JsonValue]:
        """As a JSON object."""
        scores: JsonValue = [
            {str(at): None if math.isnan(value) else value for at, value in score.items()}
            for score in self.scores
        ]
        return {"scores": scores, "replies": list(self.replies)}


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of the model that answered.

    Attributes:
        digest: of the first fingerprint that was taken of it.
        others: models with other fingerprints that answered at this address under this name.
    """

    digest: str
    others: int


def identify(fingerprint: Fingerprint, *, url: str, model: str, folder: Path) -> Identity:
    """The model with a fingerprint, which is kept if it was not met before.

    Args:
        fingerprint: just taken.
        url: address of the server.
        model: its name there.
        folder: where fingerprints are kept.

    Raises:
        StorageError: they cannot be.
    """
    known = _known(folder / FILE, url=url, model=model)
    same = next((earlier for earlier in known if earlier.is_like(fingerprint)), None)
    if same is None:
        _keep(fingerprint, folder / FILE, url=url, model=model)
    chosen = same or fingerprint
    others = {earlier.digest() for earlier in known if not earlier.is_like(chosen)}
    return Identity(chosen.digest(), len(others))


def _known(path: Path, *, url: str, model: str) -> list[Fingerprint]:
    """The fingerprints of this name at this address, the first one first."""
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise _failure(path, error) from error
    return [
        earlier
        for line in lines
        if len(line) <= _LONGEST_BYTES
        and (earlier := _read(line, url=url, model=model)) is not None
    ]


def _read(line: bytes, *, url: str, model: str) -> Fingerprint | None:
    """The fingerprint in a line; None where it is another server's, or damaged."""
    try:
        entry = parse_json(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or (entry.get("url"), entry.get("model")) != (url, model):
        return None
    scores, replies = entry.get("scores"), entry.get("replies")
    if not isinstance(scores, list) or not isinstance(replies, list):
        return None
    try:
        return Fingerprint(tuple(map(_scores, scores)), tuple(map(str, replies)))
    except (TypeError, ValueError):
        return None


def _scores(value: JsonValue) -> dict[int, float]:
    if not isinstance(value, dict):
        raise TypeError
    return {int(at): math.nan if nats is None else float(str(nats)) for at, nats in value.items()}


def _keep(fingerprint: Fingerprint, path: Path, *, url: str, model: str) -> None:
    """Add a line; one write, so that processes do not mix theirs."""
    line = json.dumps({"url": url, "model": model, **fingerprint.plain()}) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab", buffering=0) as file:
            file.write(line.encode())
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: Path, error: OSError) -> StorageError:
    return StorageError(
        where=str(path),
        seen=f"what servers answered to probes cannot be kept ({error.strerror or error})",
        todo="Set CIMENTO_CACHE_DIR to another folder.",
    )


def _difference_nats(one: dict[int, float], other: dict[int, float]) -> float:
    """Mean absolute difference of two readings of one text; infinite where the tokens differ."""
    if one.keys() != other.keys():
        return math.inf
    pairs = [(one[start], other[start]) for start in one]
    if any(math.isnan(a) != math.isnan(b) for a, b in pairs):
        return math.inf
    scored = [(a, b) for a, b in pairs if not math.isnan(a)]
    return sum(abs(a - b) for a, b in scored) / max(len(scored), 1)
