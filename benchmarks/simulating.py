"""What the simulations of coverage share: designs, shapes of values, and cells of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from cimento.statistics.design import Design

SEED = 20261121
ALPHA = 0.05
COVERED, REJECTED = (0.93, 0.97), (0.03, 0.07)
TO_EIGHT = (3, 1, 8, 5, 2, 6, 1, 7, 4, 2)

# Sizes of clusters: small designs, and those of the starter suites (connectives with their pairs,
# islands with three pairs an item, templates with their seeds).
DESIGNS: dict[str, list[int]] = {
    "6 of 4": [4] * 6,
    "6 of 1 to 8": [1, 2, 3, 5, 7, 8],
    "8 of 3": [3] * 8,
    "12 of 1 to 8": [*TO_EIGHT, 8, 1],
    "18 of 5": [5] * 18,
    "24 of 1 to 8": [*TO_EIGHT, *TO_EIGHT, 3, 1, 8, 5],
    "40 of 3": [3] * 40,
    "40 of 1 to 8": [*TO_EIGHT] * 4,
    "30 of 6 to 24": [8, 20, 13, 6, 16, 10, 24, 13, 9, 17] * 3,
}
SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "skewed (exponential)": lambda generator, size: generator.exponential(size=size) - 1,
    "more skewed (lognormal, 0.75)": lambda generator, size: (
        generator.lognormal(0, 0.75, size) - np.exp(0.75**2 / 2)
    ),
    "heavy tails (t, 3 df)": lambda generator, size: generator.standard_t(3, size),
}


def design_of(sizes: Iterable[int]) -> Design:
    """Units in clusters of these sizes."""
    sizes = list(sizes)
    labels = tuple(np.repeat(np.arange(len(sizes)), sizes).tolist())
    return Design(tuple(range(len(labels))), labels)


@dataclass
class Tally:
    """How often something happened, of what was defined."""

    hits: float = 0
    trials: float = 0
    undefined: int = 0

    def count(self, hit: bool | None) -> None:  # noqa: FBT001  # one outcome
        """Add one trial; None where it was undefined."""
        self.undefined += hit is None
        self.trials += hit is not None
        self.hits += bool(hit)

    def cell(self, target: tuple[float, float]) -> str:
        """The share for a table, bold outside of its target, with how often it was undefined."""
        total = self.trials + self.undefined
        if not self.trials:
            return "none"
        missing = self.undefined / total
        none = f" ({missing:.0%} none)" if round(missing, 2) else ""
        share = self.hits / self.trials
        return f"{percent(share, target)}{none}"


def percent(share: float, target: tuple[float, float]) -> str:
    """A proportion of a table, bold outside of its target."""
    text = f"{100 * share:.1f}"
    return text if target[0] <= float(text) / 100 <= target[1] else f"**{text}**"


def holds(low: float | None, high: float | None, truth: float) -> bool | None:
    """Whether an interval holds the truth; None where there is none."""
    return None if low is None or high is None else low <= truth <= high


def rejects(p: float | None) -> bool | None:
    """Whether a test at 5% rejects; None where there is no p."""
    return None if p is None else p <= ALPHA
