"""Do designs of crossed clusters keep their levels beyond two proportions and their difference?

Three crossed factors, the test of several models, the bootstrap, and power plans. Prints Markdown
tables, or writes them with tabs into a folder, in some minutes::

    python benchmarks/coverage_designs.py docs/data/coverage
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from publishing import Table, publish
from simulating import Tally, percent

from cimento.io.clusters import Crossing
from cimento.statistics.design import Design
from cimento.statistics.differences import cochran_q, share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.means import mean_of, t_test
from cimento.statistics.planning import Pilot, plan_size
from cimento.statistics.resampling import bootstrap

Floats = NDArray[np.float64]

SEED = 20261130
ALPHA = 0.05
COVERED, REJECTED = (0.93, 0.97), (0.03, 0.07)
TRUTHS = (0.5, 0.75, 0.95)
TWO = ((6, 8), (8, 10), (12, 12), (20, 20), (12, 40))
SPLITS = ((0.0, 0.0), (0.3, 0.3), (0.04, 0.55))
"""Proportion of the variance between the levels of each factor."""
SPLITS_OF_THREE = ((0.0, 0.0, 0.0), (0.2, 0.2, 0.2), (0.04, 0.1, 0.5))


def crossed(sizes: Sequence[int], generator: np.random.Generator, *, part: float = 1.0) -> Design:
    """A design with a part of all combinations of levels, drawn at random."""
    cells = list(itertools.product(*map(range, sizes)))
    kept = generator.permutation(len(cells))[: round(part * len(cells))]
    return Design(tuple(range(len(kept))), tuple(Crossing(cells[place]) for place in kept))


def latent(
    design: Design, split: Sequence[float], trials: int, generator: np.random.Generator
) -> Floats:
    """Values of mean 0 and variance 1 of the items, one sample a row."""
    values = (1 - sum(split)) ** 0.5 * generator.normal(size=(trials, design.n))
    for share, factor in zip(split, design.factors(), strict=True):
        groups, m = factor.codes()
        values += share**0.5 * generator.normal(size=(trials, m))[:, groups]
    return values


def cut(share: float) -> float:
    """The value below which a proportion of standard normal ones lies."""
    return NormalDist().inv_cdf(share)


def named(sizes: Sequence[int], part: float) -> str:
    """A design in a table."""
    return f"{' x '.join(map(str, sizes))}, {'all' if part == 1 else f'{part:.0%}'}"


def three_factors(generator: np.random.Generator, trials: int = 1_000) -> Table:
    """Coverage with a third factor."""
    rows = []
    for sizes, part in (((5, 5, 5), 1.0), ((6, 8, 10), 0.5), ((8, 12, 20), 0.2)):
        for split in SPLITS_OF_THREE:
            design = crossed(sizes, generator, part=part)
            values = latent(design, split, trials, generator)
            means = [mean_of(row, design, seed=0) for row in values]
            cells = [np.mean([m.low <= 0 <= m.high for m in means if m.low is not None])]
            for truth in TRUTHS:
                ends = [share_interval(row.tolist(), design) for row in values < cut(truth)]
                cells.append(np.mean([i.low <= truth <= i.high for i in ends if i.low is not None]))
            shown = (percent(float(cell), COVERED) for cell in cells)
            rows.append((named(sizes, part), design.n, *split, *shown))
    head = ("levels, combinations", "items", "first", "second", "third", "mean")
    title = "Three crossed factors (`mean_of`, `share_interval`): coverage in %"
    return Table(title, (*head, *(f"proportion {truth}" for truth in TRUTHS)), rows)


def several_models(generator: np.random.Generator, trials: int = 500) -> Table:
    """The level of the test that several models are right equally often."""
    rows = []
    for sizes, part in itertools.product(TWO, (1.0, 0.5)):
        for split in SPLITS:
            design, cells = crossed(sizes, generator, part=part), []
            for models, share in itertools.product((3, 5), (0.5, 0.9)):
                right = np.stack(
                    [latent(design, split, trials, generator) < cut(share) for _ in range(models)],
                    axis=2,
                )
                tally = Tally()
                for sample in right:
                    p = cochran_q(sample.tolist(), design, seed=0).p
                    tally.count(None if p is None else p <= ALPHA)
                cells.append(tally.cell(REJECTED))
            rows.append((named(sizes, part), design.n, *split, *cells))
    title = "Several models over crossed clusters (`cochran_q`), 5% asked for: rejected in %"
    columns = (f"{k} models, all {share}" for k in (3, 5) for share in (0.5, 0.9))
    return Table(title, ("levels, combinations", "items", "first", "second", *columns), rows)


def pigeonhole(generator: np.random.Generator, trials: int = 200) -> Table:
    """Coverage of the bootstrap of a median and of a mean."""
    rows = []
    for sizes in ((6, 8), (8, 10), (20, 20)):
        for split in SPLITS:
            design = crossed(sizes, generator)
            values = latent(design, split, trials, generator)
            cells = []
            for statistic in (np.median, np.mean):
                made = [bootstrap(row, statistic, design, seed=1, draws=499) for row in values]
                cells.append(percent(np.mean([one.low <= 0 <= one.high for one in made]), COVERED))
            rows.append((named(sizes, 1.0), design.n, *split, *cells))
    head = ("levels, combinations", "items", "first", "second", "median", "mean")
    return Table("Pigeonhole bootstrap (`bootstrap`): coverage in %", head, rows)


CHANCE = 0.5
PLANNED = {"mean": (0.4, 0.7), "rate": (0.15, 0.25), "difference": (0.1, 0.2)}
"""Differences that are planned for, by what is tested."""


def drawn(
    kind: str, effect: float, design: Design, split: Sequence[float], generator: np.random.Generator
) -> tuple[float, ...]:
    """The values of a pilot: numbers, right and wrong, or gains of a second model."""
    (first,) = latent(design, split, 1, generator)
    if kind == "mean":
        return tuple((first + effect).tolist())
    right = first < cut((CHANCE if kind == "rate" else 0.7) + effect)
    if kind == "rate":
        return tuple(right.astype(float).tolist())
    (second,) = latent(design, split, 1, generator)
    return tuple((right.astype(float) - (second < cut(0.7))).tolist())


def finds(kind: str, values: Sequence[float], design: Design) -> bool:
    """Whether the test finds the difference."""
    if kind == "mean":
        p = t_test(values, design).p
    elif kind == "difference":
        p = share_test([v > 0 for v in values], [v < 0 for v in values], design).p
    else:
        ends = share_interval([v > 0 for v in values], design)
        return ends.low is not None and not ends.low <= CHANCE <= ends.high
    return p is not None and p <= ALPHA


def plans(
    generator: np.random.Generator,
    designs: Iterable[tuple[tuple[int, ...], float]],
    splits: Sequence[Sequence[float]],
    *,
    trials: int = 500,
    pilots: int = 40,
) -> Iterator[tuple[object, ...]]:
    """The power that plans say of a suite like the pilot, and the power that it has."""
    designs = list(designs)
    for kind, effects in PLANNED.items():
        for (sizes, part), split in itertools.product(designs, splits):
            design, cells = crossed(sizes, generator, part=part), []
            for effect in effects:
                said = []
                for _ in range(pilots):
                    pilot = Pilot(
                        kind=kind,
                        values=drawn(kind, effect, design, split, generator),
                        design=design,
                        null=CHANCE if kind == "rate" else 0.0,
                    )
                    made = plan_size(pilot, difference=effect).sizes
                    said += [one.power for one in made if one.clusters == design.m]
                found = np.mean(
                    [
                        finds(kind, drawn(kind, effect, design, split, generator), design)
                        for _ in range(trials)
                    ]
                )
                low, high = np.quantile(said, [0.1, 0.9])
                cells += [f"{100 * np.mean(said):.0f} ({100 * low:.0f} to {100 * high:.0f})"]
                cells += [f"{100 * found:.0f}"]
            yield (kind, named(sizes, part), design.n, *split, *cells)


def planned_table(number: str, factors: Sequence[str], rows: Iterable[tuple[object, ...]]) -> Table:
    """The table of plans over a number of factors."""
    columns = ("small, planned", "small, reached", "large, planned", "large, reached")
    title = f"Power plans over {number} crossed factors (`plan_size`): planned and reached, in %"
    return Table(title, ("what", "levels, combinations", "items", *factors, *columns), rows)


def plans_of_two(generator: np.random.Generator) -> Table:
    """Plans over two factors."""
    designs = (((8, 10), 1.0), ((20, 20), 1.0))
    return planned_table("two", ("first", "second"), list(plans(generator, designs, SPLITS)))


def plans_of_three() -> Table:
    """Plans over three factors, from a generator of their own."""
    generator = np.random.default_rng(SEED + 3)
    designs = (((6, 8, 10), 1.0), ((8, 12, 20), 0.2))
    made = list(plans(generator, designs, SPLITS_OF_THREE))
    return planned_table("three", ("first", "second", "third"), made)


def main() -> int:
    """Print the tables, or write them into a folder."""
    generator = np.random.default_rng(SEED)
    made = [make(generator) for make in (three_factors, several_models, pigeonhole, plans_of_two)]
    return publish([*made, plans_of_three()])


if __name__ == "__main__":
    sys.exit(main())
