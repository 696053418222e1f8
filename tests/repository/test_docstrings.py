"""Docstrings of public functions: what they say, and examples that print what they show."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, spatial, special, stats

import cimento
import cimento.statistics

FACES = (cimento, cimento.statistics)
FUNCTIONS = {
    (face.__name__, name): made
    for face in FACES
    for name in face.__all__
    if inspect.isfunction(made := getattr(face, name))
}
VERBS = frozenset({
    *("Adjust", "Analyze", "Ask", "Cite", "Code", "Compare", "Compute", "Correlate", "Divide"),
    *("Draw", "Estimate", "Find", "Fit", "Have", "Join", "Load", "Make", "Open", "Rank", "Test"),
    *("Wrap", "Write"),
})  # fmt: skip
SOURCE = re.compile(r"doi:10\.|arXiv:|PMC\d|\b(?:18|19|20)\d\d\b")
SECTION = re.compile(r"\n\n(Args|Returns|Raises|Example):\n")


def examples_of(function: object) -> list[doctest.Example]:
    """The lines of a docstring that begin with ``>>>``, each with what it prints."""
    return doctest.DocTestParser().get_examples(inspect.getdoc(function) or "")


def differences_of(key: tuple[str, str], ready: Mapping[str, object] | None = None) -> str:
    """What the example of a function prints instead of what it shows; nothing if it is right.

    Args:
        key: the face and the name of the function.
        ready: what a reader of the example has already.
    """
    face = next(face for face in FACES if face.__name__ == key[0])
    names = {name: getattr(face, name) for name in face.__all__} | (ready or {})
    printed: list[str] = []
    example = doctest.DocTest(examples_of(FUNCTIONS[key]), names, key[1], None, 0, None)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=printed.append)
    return "".join(printed)


TRAINED = ("trainer", "tokenizer")
"""What the examples about models in memory have from the reader's own program."""


def own_program(folder: Path) -> dict[str, object]:
    """A model of transformers in memory, its tokenizer and a Trainer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

    weights = str(files("cimento") / "data" / "models" / "demo-causal")
    model = AutoModelForCausalLM.from_pretrained(weights).eval()
    tokenizer = AutoTokenizer.from_pretrained(weights)
    arguments = TrainingArguments(str(folder / "trainer"), report_to=[], use_cpu=True)
    trainer = Trainer(model, arguments, processing_class=tokenizer)
    return {"model": model, "tokenizer": tokenizer, "trainer": trainer}


def source_of(key: tuple[str, str]) -> str:
    """The code of an example."""
    return "".join(line.source for line in examples_of(FUNCTIONS[key]))


def is_of_own_program(key: tuple[str, str]) -> bool:
    """Whether an example goes on from a program of the reader's."""
    return any(name in source_of(key) for name in TRAINED)


def is_slow(key: tuple[str, str]) -> bool:
    """Whether an example loads a model."""
    return "demo-" in source_of(key) or is_of_own_program(key)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, id=key[1], marks=[pytest.mark.slow] if is_slow(key) else [])
        for key in FUNCTIONS
    ],
)
def test_the_example_prints_what_it_shows(key, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert any(line.want for line in examples_of(FUNCTIONS[key]))
    assert "+SKIP" not in inspect.getdoc(FUNCTIONS[key])
    ready = own_program(tmp_path) if is_of_own_program(key) else None
    assert differences_of(key, ready) == ""


def test_an_example_that_prints_something_else_is_noticed(monkeypatch):
    def wrong():
        """Add.

        >>> 1 + 1
        3
        """

    monkeypatch.setitem(FUNCTIONS, (FACES[0].__name__, "wrong"), wrong)
    assert "Got:\n    2" in differences_of((FACES[0].__name__, "wrong"))


@pytest.mark.parametrize("key", FUNCTIONS, ids=lambda key: key[1])
def test_a_function_is_described_by_a_verb_its_arguments_and_what_it_returns(key):
    summary, *rest = SECTION.split("\n\n" + inspect.getdoc(FUNCTIONS[key]))
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    first = summary.strip().partition("\n")[0]
    assert first.split()[0] in VERBS
    assert first.endswith(".")
    described = re.findall(r"^    (\w+):", sections.get("Args", ""), re.MULTILINE)
    assert described == list(inspect.signature(FUNCTIONS[key]).parameters)
    assert "Returns" in sections


@pytest.mark.parametrize("name", [name for face, name in FUNCTIONS if face.endswith("statistics")])
def test_a_statistic_has_the_source_of_its_formula(name):
    assert SOURCE.search(inspect.getdoc(getattr(cimento.statistics, name)))


def _power(n: int, only_first: float, only_second: float) -> float:
    """The power of McNemar's exact test, over every number of items of each kind."""
    counts = np.arange(n + 1)
    b, c = np.meshgrid(counts, counts, indexing="ij")
    kept = b + c <= n
    chances = np.zeros_like(kept, dtype=float)
    rest = 1 - only_first - only_second
    points = np.stack([b[kept], c[kept], n - b[kept] - c[kept]], axis=1)
    chances[kept] = stats.multinomial.pmf(points, n, [only_first, only_second, rest])
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(b, c), np.maximum(b + c, 1), 0.5))
    return float(chances[kept & (p <= 0.05)].sum())


def _jackknife(statistic, *columns: np.ndarray) -> list[float]:
    """The interval of (r + 1) / 2: Student's t around atanh r, the rows left out one by one."""
    m = len(columns[0])
    without = [statistic(*(np.delete(column, row) for column in columns)) for row in range(m)]
    error = math.sqrt((m - 1) ** 2 / m * np.arctanh(without).var(ddof=1))
    reach = stats.t.ppf([0.025, 0.975], m - 1) * error
    return list((np.tanh(np.arctanh(statistic(*columns)) + reach) + 1) / 2)


def _left(values: list[float], covariate: list[float]) -> np.ndarray:
    """What a least-squares line leaves of some values."""
    slope, intercept, *_ = stats.linregress(covariate, values)
    return np.array(values) - intercept - slope * np.array(covariate)


X, Y = [1, 2, 3, 4, 5, 6, 7, 8], [2, 1, 4, 3, 7, 8, 6, 5]
FIRST, SECOND = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
RATERS = np.array([[1, 2, 1], [2, 3, 3], [4, 4, 5]])
GAPS = np.array([0.1, -0.2, 0.0, 0.1, 0.2, -0.1])
Z = stats.norm.ppf
ORACLES = {
    # 3 of the 4 pairs of a positive and a negative are in order.
    "auc": lambda: 3 / 4,
    "auc_interval": lambda: _jackknife(
        lambda scores, truth: (
            2
            * stats.mannwhitneyu(scores[truth], scores[~truth]).statistic
            / (truth.sum() * (~truth).sum())
            - 1
        ),
        np.arange(1, 9),
        np.array([0, 0, 1, 0, 1, 0, 1, 1], dtype=bool),
    ),
    # 2 of 3 and 1 of 1.
    "balanced_accuracy": lambda: (2 / 3 + 1) / 2,
    "balanced_interval": lambda: _jackknife(
        lambda answers, truth: answers[truth].mean() - answers[~truth].mean(),
        np.array([1, 1, 0, 1, 0, 0, 1, 0]),
        np.array([1] * 4 + [0] * 4, dtype=bool),
    ),
    "benjamini_hochberg": lambda: stats.false_discovery_control([0.01, 0.04, 0.03], method="bh"),
    # (.2² + .2² + .4² + .4²) / 2
    "brier": lambda: 0.2,
    # (.04 + .04 + .04 + .64) / 4, and the variance of one 1 among four.
    "brier_parts": lambda: [0.19, 0.1875],
    "clopper_pearson": lambda: list(stats.binomtest(9, 10).proportion_ci(method="exact")),
    # Columns 10, 6, 0; rows 2 (six times) and 1 (four times): 2 (3 · 136 - 16²) / (3 · 16 - 28).
    "cochran_q": lambda: 2 * (3 * 136 - 256) / (48 - 28),
    # Observed 3/4, expected 1/2 · 1/4 + 1/2 · 3/4.
    "cohen_kappa": lambda: (3 / 4 - 1 / 2) / (1 - 1 / 2),
    "correlate": lambda: stats.spearmanr(X, Y).statistic,
    "correlation_difference": lambda: [
        r := stats.spearmanr(FIRST, [1, 2, 3, 4, 6, 5]).statistic,
        s := stats.spearmanr(SECOND, [1, 2, 3, 4, 6, 5]).statistic,
        s - r,
    ],
    "correlation_power": lambda: stats.norm.cdf(
        (math.atanh(0.3) * math.sqrt(97) - Z(0.975)) / math.sqrt(1.045)
    ),
    "correlation_with_rest": lambda: [
        stats.pearsonr(RATERS[:, k], np.delete(RATERS, k, axis=1).mean(axis=1)).statistic
        for k in range(3)
    ],
    "d_prime": lambda: Z(2.5 / 4) - Z(0.5 / 2),
    "detectable_difference": lambda: optimize.brentq(
        lambda d: _power(100, (0.3 + d) / 2, (0.3 - d) / 2) - 0.8, 0.05, 0.25
    ),
    "detectable_mean": lambda: optimize.brentq(
        lambda d: stats.nct.sf(stats.t.ppf(0.975, 24), 24, 5 * d) - 0.8, 0.1, 1
    ),
    # 0.05 where both are right, 0.15 where one of two is.
    "expected_calibration_error": lambda: (2 * 0.05 + 2 * 0.15) / 4,
    # Pairs 1/3, 1, 1; shares 5/9 and 4/9.
    "fleiss_kappa": lambda: (7 / 9 - 41 / 81) / (1 - 41 / 81),
    # By hand: 1 · 3, 2 · 3 under the larger 0.03 · 2.
    "holm": lambda: [0.03, 0.06, 0.06],
    # Shrout and Fleiss 1979, Table 4: ICC(2,1).
    "intraclass": lambda: 0.29,
    "jensen_shannon": lambda: spatial.distance.jensenshannon([0.5, 0.5], [1, 0], base=2) ** 2,
    # 1 of 4 items disagrees; 3 a and 5 b of 8: 2 · 3 · 5 / (8 · 7).
    "krippendorff_alpha": lambda: 1 - (1 / 4) / (30 / 56),
    "mcc": lambda: 2 / math.sqrt(2 * 3 * 1 * 2),
    "mcnemar": lambda: stats.binomtest(3, 12).pvalue,
    "mcnemar_power": lambda: _power(100, 0.2, 0.05),
    # 3 ± t(.975, 4) sqrt(2.5 / 5)
    "mean_of": lambda: [3, *(3 + stats.t.ppf([0.025, 0.975], 4) * math.sqrt(0.5))],
    "mixed_model": lambda: 4.5 / 3,  # balanced: the mean difference of the three items
    # (ln 2 + ln 4) / 2
    "nll": lambda: 1.5 * math.log(2),
    "partial_correlation": lambda: (
        stats.pearsonr(
            _left([1, 2, 3, 4, 5, 6], [4, 4, 5, 5, 4, 6]),
            _left([1, 3, 2, 5, 4, 6], [4, 4, 5, 5, 4, 6]),
        ).statistic
    ),
    "plan_size": lambda: 1 + max(n for n in range(78, 96) if _power(n, 0.3, 0.1) < 0.8),
    # a is below b (Holm: 3 · .001) and below c (2 · .004); b and c are not told apart.
    "rank_by_pairs": lambda: [1, 2, 1, 2, 3, 3],
    "regress": lambda: [
        (line := stats.linregress(range(6), [1, 3, 2, 5, 4, 6])).intercept,
        line.slope,
    ],
    "sensitivity_and_bias": lambda: Z(54.5 / 61) - Z(12.5 / 61),
    # Of 20 items 6 discordant, all for the first: p = 7/22, q = 1/22.
    "share_difference": lambda: [
        0.3,
        *(6 / 22 + Z([0.025, 0.975]) * math.sqrt((8 / 22 - (6 / 22) ** 2) / 22)),
    ],
    "share_interval": lambda: list(stats.binomtest(9, 10).proportion_ci(method="wilson")),
    "share_test": lambda: 2 * 0.5**6,
    "sum_coded": lambda: [-0.5, 0.5, -0.5],
    # The mean 1/60 is nearer to the upper margin.
    "tost": lambda: stats.ttest_1samp(GAPS, 0.2, alternative="less").pvalue,
    # 1 discordant item of 50: p = 2/52, q = 1/52.
    "threshold_mcc": lambda: 1,  # 0.4 is below every threshold between the classes, 0.6 above
    "tost_shares": lambda: special.ndtr((1 / 52 - 0.1) / math.sqrt((3 / 52 - (1 / 52) ** 2) / 52)),
    # Newcombe 1998, 56 of 70 and 48 of 80: .0524 to .3339.
    "unpaired_share_difference": lambda: [0.0524, 0.3339],
    "wilson": lambda: list(stats.binomtest(9, 10).proportion_ci(method="wilson")),
    # Without the items' means a condition has -.5, -1, -.5, -.5; times sqrt(J / (J - 1)) for J = 2.
    "within_intervals": lambda: (
        [
            stats.t.ppf(0.975, 3)
            * math.sqrt(2)
            * np.std([-0.5, -1, -0.5, -0.5], ddof=1)
            / math.sqrt(4)
        ]
        * 2
    ),
}
"""What examples of statistics print, computed by hand, by scipy or from a publication."""


@pytest.mark.parametrize("name", ORACLES)
def test_an_example_shows_the_number_that_hand_or_scipy_finds(name):
    shown = examples_of(getattr(cimento.statistics, name))[-1].want
    numbers = re.findall(r"-?\d+(?:\.\d+)?", shown)
    expected = np.ravel(np.asarray(ORACLES[name](), dtype=float))
    assert len(numbers) == expected.size
    for text, value in zip(numbers, expected, strict=True):
        digits = len(text.partition(".")[2])
        assert abs(float(text) - value) <= 0.5000001 * 10 ** -max(digits, 3), (text, value)


STATISTICS = tuple(
    f"cimento.statistics.{path.stem}"
    for path in sorted(Path(str(files("cimento"))).joinpath("statistics").glob("[a-z]*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", STATISTICS)
def test_examples_of_a_module_of_statistics_print_what_they_show(name):
    """Those of functions that are not public too: their numbers are what a reader checks."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
