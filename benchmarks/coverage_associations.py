"""Coverage of coefficients and regressions, and the level of the other tests, for `coverage`."""

from __future__ import annotations

import math

import numpy as np
from publishing import Table
from scipy import stats
from simulating import COVERED, DESIGNS, REJECTED, SEED, SHAPES, Tally, design_of, holds, rejects

from cimento.statistics.agreement import cohen_kappa, krippendorff_alpha
from cimento.statistics.correlation import correlate
from cimento.statistics.design import Design
from cimento.statistics.differences import cochran_q, mcnemar
from cimento.statistics.mixed import mixed_model
from cimento.statistics.multiple import rank_by_pairs
from cimento.statistics.power import tost, tost_shares
from cimento.statistics.regression import regress

INDEPENDENT = {f"{n} single items": [1] * n for n in (8, 12, 24, 60)}
CLUSTERED = {name: DESIGNS[name] for name in ("6 of 4", "8 of 3", "12 of 1 to 8", "24 of 1 to 8")}
RHOS = (0.0, 0.5, 0.8)
THREE = 3


def _correlated(
    generator: np.random.Generator, rho: float, size: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    x, z = generator.normal(size=(2, *size))
    return x, rho * x + math.sqrt(1 - rho**2) * z


def normal_pairs(
    generator: np.random.Generator, rho: float, design: Design, trials: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that correlate so; half of their variance belongs to clusters, if there are."""
    labels = np.array(design.clusters)
    one = _correlated(generator, rho, (trials, design.m))
    other = _correlated(generator, rho, (trials, labels.size))
    if not design.clustered:
        return other
    x, y = ((a[:, labels] + b) / math.sqrt(2) for a, b in zip(one, other, strict=True))
    return x, y


def correlations(trials: int = 1000) -> Table:
    """Correlations of normal columns."""
    generator = np.random.default_rng(SEED)
    truths = {
        # Of a normal population (Kruskal 1958, doi:10.1080/01621459.1958.10501481).
        "pearson": lambda rho: rho,
        "spearman": lambda rho: 6 / math.pi * math.asin(rho / 2),
        "kendall": lambda rho: 2 / math.pi * math.asin(rho),
    }
    rows = []
    for name, sizes in {**INDEPENDENT, **CLUSTERED}.items():
        design = design_of(sizes)
        cells = {kind: [] for kind in truths}
        for rho in RHOS:
            x, y = normal_pairs(generator, rho, design, trials)
            for kind, truth in truths.items():
                tally = Tally()
                for a, b in zip(x, y, strict=True):
                    correlation = correlate(a, b, kind=kind, design=design)
                    tally.count(holds(correlation.low, correlation.high, truth(rho)))
                cells[kind].append(tally.cell(COVERED))
        rows.append((name, *(cell for row in cells.values() for cell in row)))
    names = ("design", *(f"{kind} {rho}" for kind in truths for rho in RHOS))
    return Table("Correlations of normal columns (`correlate`): coverage in %", names, rows)


def correlations_of_other_shapes(trials: int = 1000) -> Table:
    """Pearson's correlation of columns that are not normal."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, sizes in INDEPENDENT.items():
        design, cells = design_of(sizes), []
        for shape in ("skewed", "heavy"):
            for rho in RHOS:
                x, y = normal_pairs(generator, rho, design, trials)
                truth = rho
                if shape == "skewed":
                    x, y = np.exp(x / 2), np.exp(y / 2)
                    truth = (math.exp(rho / 4) - 1) / (math.exp(1 / 4) - 1)
                else:
                    scale = np.sqrt(generator.chisquare(5, (trials, design.n)) / 5)
                    x, y = x / scale, y / scale
                tally = Tally()
                for a, b in zip(x, y, strict=True):
                    correlation = correlate(a, b, kind="pearson", design=design)
                    tally.count(holds(correlation.low, correlation.high, truth))
                cells.append(tally.cell(COVERED))
        rows.append((name, *cells))
    names = ("design", *(f"{s} {rho}" for s in ("lognormal (0.5)", "t, 5 df") for rho in RHOS))
    title = "Pearson's correlation of other columns (`correlate`): coverage in %"
    return Table(title, names, rows)


def kappas(trials: int = 600) -> Table:
    """Cohen's kappa of two models that are right equally often."""
    generator = np.random.default_rng(SEED)
    settings = ((0.7, 0.0), (0.7, 0.5), (0.9, 0.0), (0.9, 0.5))
    rows = []
    for name, sizes in {**INDEPENDENT, **CLUSTERED, "24 of 5": [5] * 24}.items():
        design, cells = design_of(sizes), []
        labels = np.array(design.clusters)
        for right, kappa in settings:
            # The four cells of the table, two equal margins, and the same kappa in the population.
            apart = (1 - right) * right * (1 - kappa)
            shares = np.array([right - apart, apart, apart, 1 - right - apart])
            tally = Tally()
            for _ in range(trials):
                chances = np.tile(shares, (design.m, 1))
                if design.clustered:
                    chances = generator.dirichlet(shares * (1 / 0.3 - 1), design.m)
                picks = generator.random((labels.size, 1)) > chances[labels].cumsum(axis=1)
                cell = np.minimum(picks.sum(axis=1), 3)
                agreed = cohen_kappa((cell < 2).tolist(), (cell % 2 == 0).tolist(), design=design)  # noqa: PLR2004
                tally.count(holds(agreed.low, agreed.high, kappa))
            cells.append(tally.cell(COVERED))
        rows.append((name, *cells))
    names = ("design", *(f"{right:.0%} right, kappa {kappa}" for right, kappa in settings))
    return Table("Cohen's kappa of two models (`cohen_kappa`): coverage in %", names, rows)


def alphas(trials: int = 1000) -> Table:
    """Krippendorff's alpha of three raters who err independently."""
    generator = np.random.default_rng(SEED)
    settings = ((0.5, 0.1), (0.5, 0.3), (0.8, 0.1))
    rows = []
    for name, sizes in {**INDEPENDENT, **CLUSTERED}.items():
        design, cells = design_of(sizes), []
        labels = np.array(design.clusters)
        for share, error in settings:
            yes = share * (1 - error) + (1 - share) * error
            alpha, tally = 1 - error * (1 - error) / (yes * (1 - yes)), Tally()
            for _ in range(trials):
                truth = generator.random(labels.size) < share
                if design.clustered:
                    # Half of the items have the truth of their cluster.
                    common = (generator.random(design.m) < share)[labels]
                    truth = np.where(generator.random(labels.size) < 0.5, common, truth)  # noqa: PLR2004
                ratings = truth[:, None] ^ (generator.random((labels.size, 3)) < error)
                agreed = krippendorff_alpha(ratings.tolist(), design=design)
                tally.count(holds(agreed.low, agreed.high, alpha))
            cells.append(tally.cell(COVERED))
        for part in (0.5, 0.8):
            tally = Tally()
            for _ in range(trials):
                item = generator.normal(size=labels.size)
                if design.clustered:
                    item = (generator.normal(size=design.m)[labels] + item) / math.sqrt(2)
                noise = generator.normal(size=(labels.size, 3))
                values = math.sqrt(part) * item[:, None] + math.sqrt(1 - part) * noise
                agreed = krippendorff_alpha(values.tolist(), scale="interval", design=design)
                tally.count(holds(agreed.low, agreed.high, part))
            cells.append(tally.cell(COVERED))
        rows.append((name, *cells))
    names = ("design", *(f"{s:.0%} yes, {e:.0%} errors" for s, e in settings))
    names = (*names, "interval, alpha 0.5", "interval, alpha 0.8")
    title = "Krippendorff's alpha of three raters (`krippendorff_alpha`): coverage in %"
    return Table(title, names, rows)


def slopes(trials: int = 500) -> Table:
    """Slopes of least squares; what is missing to 100% is the level of the test."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, sizes in DESIGNS.items():
        design = design_of(sizes)
        labels, m = np.array(design.clusters), design.m
        for shape in ("normal", "skewed (exponential)"):
            draw, tallies = SHAPES[shape], [Tally(), Tally(), Tally()]
            for _ in range(trials):
                y = 0.5 * draw(generator, (m,))[labels] + draw(generator, (labels.size,))
                order = generator.permutation(m)[labels]
                predictors = (generator.normal(size=labels.size), order < m // 2, order < THREE)
                for tally, x in zip(tallies, predictors, strict=True):
                    terms = regress(y, {"x": x}, design).coefficients
                    tally.count(holds(terms[1].low, terms[1].high, 0.0) if terms else None)
            rows.append((name, shape, *(tally.cell(COVERED) for tally in tallies)))
    names = ("clusters", "residuals", "each item its own", "half of the clusters", "three clusters")
    return Table("Slopes on a predictor (`regress`): coverage in %", names, rows)


def association_levels(trials: int = 800) -> Table:
    """How often tests find a difference or an association where there is none."""
    generator = np.random.default_rng(SEED)
    rows = []
    for name, sizes in {**INDEPENDENT, **CLUSTERED, "40 of 3": DESIGNS["40 of 3"]}.items():
        design = design_of(sizes)
        labels = np.array(design.clusters)
        q, tested = Tally(), Tally()
        x, y = normal_pairs(generator, 0.0, design, trials)
        for trial in range(trials):
            hard = generator.beta(2, 1, design.m)[labels]
            right = generator.random((labels.size, 4)) < hard[:, None]
            q.count(rejects(cochran_q(right.tolist(), design, seed=SEED + trial, draws=199).p))
            tested.count(rejects(correlate(x[trial], y[trial], design=design).p))
        rows.append((name, q.cell(REJECTED), tested.cell(REJECTED)))
    names = ("design", "Cochran's Q of 4 models (`cochran_q`)", "Spearman's rho (`correlate`)")
    return Table("Other tests, 5% asked for: rejected in %", names, rows)


def other_levels(trials: int = 300) -> Table:
    """Mixed models, ranks, and equivalence where the difference is exactly the margin."""
    generator = np.random.default_rng(SEED)
    rows: list[tuple[object, ...]] = []
    for design, formula, slope in (
        ("24 items, intercepts", "y ~ a*b + (1 | item)", 0.0),
        ("24 items that differ in the effect, intercepts only", "y ~ a*b + (1 | item)", 1.0),
        ("24 items that differ in the effect, slopes", "y ~ a*b + (1 + a | item)", 1.0),
    ):
        tally = Tally()
        for p in simulated_models(formula, slope, trials=trials):
            tally.count(rejects(p))
        rows.append(("mixed model, t by Satterthwaite", design, tally.cell(REJECTED)))
    apart = Tally()
    for _ in range(trials):
        right = generator.random((5, 60)) < 0.7  # noqa: PLR2004
        apart.count(_set_apart(right))
    rows.append(("ranks: any model set apart", "5 equal models, 60 items", apart.cell((0, 0.07))))
    for n in (24, 60):
        same = Tally()
        for _ in range(trials):
            gaps = generator.normal(0.5, 1.0, n)
            same.count(tost(gaps, Design.independent(n), margin=0.5).equivalent)
        rows.append(("TOST of means", f"{n} items, difference = margin", same.cell((0, 0.07))))
        level = Tally(hits=_equivalent_shares(n), trials=1).cell((0, 0.07))
        what = f"{n} items, 20% and 10% discordant, margin 10%"
        rows.append(("TOST of shares, exact", what, level))
    title = "Mixed models, ranks and equivalence, 5% asked for: found in %"
    return Table(title, ("test", "design", "found"), rows)


def _set_apart(right: np.ndarray) -> bool:
    tested = []
    for one in range(len(right)):
        for other in range(one):
            b, c = right[one] & ~right[other], right[other] & ~right[one]
            tested.append((str(one), str(other), mcnemar(int(b.sum()), int(c.sum())).p))
    ranks = rank_by_pairs({str(k): float(row.mean()) for k, row in enumerate(right)}, tested).ranks
    return any(rank.best > 1 or rank.worst < len(ranks) for rank in ranks)


def _equivalent_shares(n: int) -> float:
    """The chance that 20 and 10% discordant items are equivalent at a margin of 10%."""
    power = 0.0
    for c in range(n + 1):
        chance = stats.binom.pmf(c, n, 0.1)
        left = stats.binom.pmf(range(n - c + 1), n - c, 0.2 / 0.9)
        for b in np.flatnonzero(chance * left > 1e-12).tolist():  # noqa: PLR2004
            rest = [True] * (n - b - c)
            first, second = [True] * b + [False] * c + rest, [False] * b + [True] * c + rest
            same = tost_shares(first, second, Design.independent(n), margin=0.1)
            power += chance * left[b] * bool(same.equivalent)
    return float(power)


def simulated_models(formula: str, slope: float, *, trials: int) -> list[float | None]:
    """The p of an effect that is zero on average, of 24 items in a 2 x 2 design."""
    generator = np.random.default_rng(SEED)
    a, b, item = (
        np.tile([-0.5, -0.5, 0.5, 0.5], 24),
        np.tile([-0.5, 0.5], 48),
        np.repeat(range(24), 4),
    )
    columns = {"a": a.tolist(), "b": b.tolist(), "item": item.tolist()}
    p_values: list[float | None] = []
    for _ in range(trials):
        effects = generator.normal(size=(24, 2))[item]
        y = effects[:, 0] + slope * effects[:, 1] * a + generator.normal(0, 0.5, item.size)
        fit = mixed_model(formula, {**columns, "y": y.tolist()})
        p_values.append(fit.effect("a").p if fit.fixed else None)
    return p_values


PARTS = (
    correlations,
    correlations_of_other_shapes,
    kappas,
    alphas,
    slopes,
    association_levels,
    other_levels,
)
