"""Do intervals of correlations hold the truth, and do tests of association and equivalence hold?

Prints three Markdown tables, or writes them between the marks of a page::

    python benchmarks/coverage_associations.py docs/statistics.md
"""

from __future__ import annotations

import math
import sys

import numpy as np
from publishing import publish, table
from scipy import stats

from cimento.statistics.agreement import krippendorff_alpha
from cimento.statistics.clustered import permute_clusters
from cimento.statistics.correlation import correlate, statistic_of
from cimento.statistics.power import tost, tost_shares
from cimento.statistics.ranks import rank_models

SEED = 20261121
TRIALS = 250
DRAWS = 499
ALPHA = 0.05
KINDS = ("spearman", "pearson")
SIZES = (24, 60)
RIGHT, HALF, NOISE = 0.7, 0.5, 0.1


def of_normals(kind: str, rho: float) -> float:
    """The coefficient in a normal population (Kruskal 1958, doi:10.1080/01621459.1958.10501481)."""
    return 6 / math.pi * math.asin(rho / 2) if kind == "spearman" else rho


def intervals() -> str:
    """How often bootstrap intervals of correlations hold the coefficient of the population."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    for n in SIZES:
        for rho in (0.0, 0.3, 0.7):
            held = dict.fromkeys(KINDS, 0)
            for trial in range(TRIALS):
                x, z = generator.normal(size=(2, n))
                y = rho * x + math.sqrt(1 - rho**2) * z
                for kind in held:
                    found = correlate(x, y, kind=kind, seed=SEED + trial, draws=DRAWS)
                    truth = of_normals(kind, rho)
                    held[kind] += (
                        found.low is not None
                        and found.high is not None
                        and found.low <= truth <= found.high
                    )
            rows.append((n, rho, *(f"{held[kind] / TRIALS:.1%}" for kind in KINDS)))
    names = ("sentences", "correlation", "Spearman", "Pearson")
    return table("Correlations, percentile bootstrap: coverage, simulated", names, rows)


def share(found: list[bool]) -> str:
    """How often."""
    return f"{np.mean(found):.1%}"


def association_levels() -> str:
    """How often tests find an association or a best model where there is none."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    for n in SIZES:
        found = []
        for trial in range(TRIALS):
            x, y = generator.normal(size=(2, n))
            p = correlate(x, y, kind="spearman", seed=SEED + trial, draws=DRAWS).p_permutation
            found.append(p is not None and p <= ALPHA)
        rows.append(("Spearman, permutation", f"{n} sentences", share(found)))
    pairs = np.repeat(range(20), 2)
    apart, together = [], []
    spearman = statistic_of("spearman")
    for trial in range(TRIALS):
        x, y = generator.normal(size=(2, 20))[:, pairs] + generator.normal(0, 0.5, (2, 40))
        seed = SEED + trial
        alone = correlate(x, y, kind="spearman", seed=seed, draws=DRAWS).p_permutation
        both = permute_clusters(x, y, spearman, clusters=pairs.tolist(), seed=seed, draws=DRAWS).p
        apart.append(alone is not None and alone <= ALPHA)
        together.append(both is not None and both <= ALPHA)
    rows.append(("Spearman, whole pairs permuted", "20 pairs", share(together)))
    rows.append(("Spearman, as if independent", "20 pairs", share(apart)))
    wrong = []
    for trial in range(TRIALS):
        scores = {str(k): generator.random(60) < RIGHT for k in range(5)}
        ranks = rank_models(scores, seed=SEED + trial, draws=DRAWS).ranks
        wrong.append(any(each.best > 1 or each.worst < len(ranks) for each in ranks))
    rows.append(("ranks: any model set apart", "5 equal models, 60 items", share(wrong)))
    names = ("test", "design", "found")
    return table("Association, level asked for 5 %: simulated", names, rows)


def equivalence_levels() -> str:
    """How often equivalence is found where the difference is exactly the margin; and of alpha."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    for n in SIZES:
        same = [
            bool(tost(generator.normal(0.5, 1.0, n), margin=0.5).equivalent) for _ in range(TRIALS)
        ]
        rows.append(("TOST of means", f"{n} items, difference 0.5 sd = margin", share(same)))
    for n in SIZES:
        # 10 % more items that only the first gets right, which is the margin.
        counts = np.arange(n + 1)
        found = 0.0
        for c in counts:
            chance_c = stats.binom.pmf(c, n, 0.1)
            left = stats.binom.pmf(counts[: n - c + 1], n - c, 0.2 / 0.9)
            if chance_c < 1e-9:  # noqa: PLR2004  # adds nothing
                continue
            for b, chance_b in enumerate(left):
                if chance_b > 1e-9 and tost_shares(b, int(c), n, margin=0.1).equivalent:  # noqa: PLR2004
                    found += chance_c * chance_b
        rows.append(
            ("TOST of shares (exact)", f"{n} items, 20 % and 10 % discordant", f"{found:.1%}")
        )
    held = []
    for trial in range(TRIALS):
        truth = generator.random(60) < HALF
        ratings = [[bool(v) ^ bool(e) for e in generator.random(3) < NOISE] for v in truth]
        alpha = krippendorff_alpha(ratings, seed=SEED + trial, draws=DRAWS)
        # Two raters agree with a chance of .9 * .9 + .1 * .1; half of all pairs do by chance.
        held.append(
            alpha.low is not None and alpha.high is not None and alpha.low <= 0.64 <= alpha.high  # noqa: PLR2004
        )
    rows.append(
        ("Krippendorff's alpha, interval", "60 items, 3 raters, alpha .64", f"covers {share(held)}")
    )
    names = ("what", "design", "found")
    return table("Equivalence and agreement", names, rows)


def main() -> int:
    """Print the tables, or write them between the marks of a page."""
    tables = (intervals(), association_levels(), equivalence_levels())
    return publish("\n".join(tables), "associations")


if __name__ == "__main__":
    sys.exit(main())
