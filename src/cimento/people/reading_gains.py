"""How much surprisals add to a baseline of reading times, for new subjects and for new items.

The gain is in log-likelihood per observation (Goodkind and Bicknell 2018,
doi:10.18653/v1/W18-0102), of observations that the fitted model has not seen
(`cimento.statistics.held_out`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

from cimento.errors import UsageError
from cimento.io.clusters import Crossing
from cimento.models.in_memory import ModelLike
from cimento.models.settings import Asking
from cimento.people.reading_times import join_surprisals, word_length, word_zipf
from cimento.people.word_positions import (
    WordColumns,
    all_words,
    require_columns,
    word_positions,
)
from cimento.statistics.design import Design
from cimento.statistics.multiple import holm
from cimento.suites.derived import Frequency

if TYPE_CHECKING:
    import polars as pl

    from cimento.people.word_positions import TextWords
    from cimento.statistics.design import Floats
    from cimento.statistics.means import Mean

SUBJECTS, ITEMS = "subjects", "items"
SHORTEST_MS, LONGEST_MS = 100.0, 3000.0
"""Reading times outside these are left out, as from Natural Stories (Futrell et al. 2021)."""
FOLDS = 10
Transform: TypeAlias = Literal["log", "none"]
_SURPRISAL = "surprisal_bits"
_Word: TypeAlias = tuple[str, int]
"""Text, and the index of a word in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GainRules:
    """The choices that change gains.

    Attributes:
        transform: ``log``: the natural logarithm of reading times is predicted; ``none``: the
            times themselves.
        shortest: shorter times are left out.
        longest: longer times are left out.
        before: number of earlier words whose surprisal, length and frequency are predictors too.
        folds: number of folds; fewer if there are fewer subjects or items.
        seed: of the folds.
    """

    transform: Transform = "log"
    shortest: float = SHORTEST_MS
    longest: float = LONGEST_MS
    before: int = 2
    folds: int = FOLDS
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingColumns:
    """The columns of a table of reading times.

    Attributes:
        word: those that say which word it is.
        rt: the reading time.
        subject: the reader; empty where there is none.
        item: what is new to the model in folds of items; empty for the text.
        baseline: more predictors of the baseline, numbers.
        given: surprisals of the words from elsewhere, each as a model of its own.
    """

    word: WordColumns
    rt: str
    subject: str = ""
    item: str = ""
    baseline: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingGain:
    """The gain of one model's surprisals, or the difference of two gains.

    Attributes:
        model: the model.
        other: the model whose gain is taken away; empty for none.
        new: what is new to the fitted model: ``subjects`` or ``items``.
        n: number of observations.
        subjects: number of subjects.
        items: number of items.
        nats: mean gain in log-likelihood per observation, in nats.
        low: lower end of the 95% interval over subjects and items.
        high: upper end.
        p: of no gain, or of equal gains.
        p_holm: corrected over the pairs of models; None for single models.
        method: of interval and test.
        reason: why a number is missing.
    """

    model: str
    other: str = ""
    new: str
    n: int
    subjects: int
    items: int
    nats: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    method: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingGains:
    """Gains of several models on the same observations.

    Attributes:
        gains: of each model, for new subjects and for new items.
        pairs: the difference of every pair of models.
        n: number of observations.
        left_out: why observations were left out, with their number.
        baseline: the predictors of the baseline.
        constant: predictors that others determine, which were left out.
        surprisals: the predictors that each model adds.
        rules: the choices made.
    """

    gains: tuple[ReadingGain, ...]
    pairs: tuple[ReadingGain, ...]
    n: int
    left_out: Mapping[str, int]
    baseline: tuple[str, ...]
    constant: tuple[str, ...]
    surprisals: tuple[str, ...]
    rules: GainRules


def reading_gains(
    observations: pl.DataFrame,
    models: Mapping[str, ModelLike],
    columns: ReadingColumns,
    *,
    rules: GainRules | None = None,
    texts: Mapping[str, str] | None = None,
    frequency: Frequency | None = None,
    asking: Asking | None = None,
    remark: Callable[[str], object] | None = None,
) -> ReadingGains:
    """The gain of each model's surprisals over the baseline, on the rows that all models score.

    Args:
        observations: one row for each observation.
        models: language models by the names that they have in tables.
        columns: what its columns are.
        rules: the choices; by default `GainRules`.
        texts: id to text; else texts are made of the table.
        frequency: Zipf frequencies of words; None leaves them out of the baseline.
        asking: how models are asked.
        remark: is told what `join_surprisals` tells.

    Raises:
        UsageError: there is no model, a column is missing or has no numbers, no row is left, or all
            are of one subject and one item.
        CimentoError: words and texts do not agree, or a model cannot be used.
    """
    rules = rules or GainRules()
    names = [*models, *columns.given]
    if not names or len(set(names)) < len(names):
        raise UsageError(
            where="models",
            seen="there is none" if not names else "two have one name",
            todo="Give language models, or columns with surprisals, each once.",
        )
    chosen = [columns.rt, columns.subject, columns.item, *columns.baseline, *columns.given]
    require_columns(observations, filter(None, chosen), where="the table")
    table = _Table.of(observations, columns, rules, texts=texts, frequency=frequency)
    for name, model in models.items():
        joined = join_surprisals(
            observations, model, names=columns.word, texts=texts, before=rules.before,
            asking=asking, remark=remark,
        )  # fmt: skip
        table.surprisals[name] = {
            one: joined[one].to_list() for one in _spilled(_SURPRISAL, rules.before)
        }
    for column in columns.given:
        table.surprisals[column] = table.given(observations, column)
    return _gains(table, rules)


def _spilled(name: str, before: int) -> list[str]:
    """The names of a predictor of a word, and of those before it."""
    return [f"{name}_{distance}" if distance else name for distance in range(before + 1)]


_Cells: TypeAlias = "list[float | None]"


@dataclass(frozen=True, slots=True)
class _Table:
    """The observations as columns of numbers.

    Attributes:
        places: the word of each observation.
        rt: the reading times.
        factors: the level of each observation, by factor.
        baseline: the predictors of the baseline.
        surprisals: those of each model.
        before: number of earlier words.
    """

    places: list[_Word]
    rt: _Cells
    factors: dict[str, list[Hashable]]
    baseline: dict[str, _Cells]
    surprisals: dict[str, dict[str, _Cells]]
    before: int

    @classmethod
    def of(
        cls,
        observations: pl.DataFrame,
        columns: ReadingColumns,
        rules: GainRules,
        *,
        texts: Mapping[str, str] | None,
        frequency: Frequency | None,
    ) -> _Table:
        positions = word_positions(observations, columns.word)
        words = all_words(positions, texts)
        places = [(text, number - words[text].first) for text, number in positions.rows]
        item = columns.item or columns.word.text
        factors: dict[str, list[Hashable]] = {
            SUBJECTS: observations[columns.subject].to_list() if columns.subject else [],
            ITEMS: observations[item].to_list(),
        }
        made: dict[str, _Cells] = {"position": [float(index) for _, index in places]}
        made |= _of_words(places, words, rules.before, frequency)
        made |= {name: _numbers(observations, name) for name in columns.baseline}
        return cls(
            places, _numbers(observations, columns.rt),
            {name: labels for name, labels in factors.items() if labels}, made, {}, rules.before,
        )  # fmt: skip

    def given(self, observations: pl.DataFrame, column: str) -> dict[str, _Cells]:
        """Surprisals of words in a column, of the word and of those before it.

        Raises:
            UsageError: a word has two values.
        """
        values: dict[_Word, float | None] = {}
        for place, value in zip(self.places, _numbers(observations, column), strict=True):
            if values.setdefault(place, value) != value:
                raise UsageError(
                    where=f"column {column!r}",
                    seen=f"word {place[1] + 1} of text {place[0]!r} has the values"
                    f" {values[place]} and {value}",
                    todo="A word has one surprisal, whoever reads it.",
                )
        return {
            name: [values.get((text, index - distance)) for text, index in self.places]
            for distance, name in enumerate(_spilled(column, self.before))
        }


def _of_words(
    places: Iterable[_Word],
    words: Mapping[str, TextWords],
    before: int,
    frequency: Frequency | None,
) -> dict[str, _Cells]:
    """Length and frequency of each word and of those before it, and their products."""
    known = {
        (text, index): (float(word_length(word)), word_zipf(word, frequency))
        for text, way in words.items()
        for index, word in enumerate(way.words)
    }
    places = list(places)
    made: dict[str, _Cells] = {}
    for distance in range(before + 1):
        end = f"_{distance}" if distance else ""
        both = [known.get((text, index - distance), (None, None)) for text, index in places]
        made[f"length{end}"] = [length for length, _ in both]
        if frequency is not None:
            made[f"zipf{end}"] = [zipf for _, zipf in both]
            made[f"length{end}:zipf{end}"] = [
                None if length is None or zipf is None else length * zipf for length, zipf in both
            ]
    return made


def _numbers(observations: pl.DataFrame, column: str) -> _Cells:
    """The numbers of a column; None for what is empty or NA.

    Raises:
        UsageError: no cell is a number.
    """
    import polars as pl

    cells = observations[column].cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    numbers = [None if cell is None or not math.isfinite(cell) else cell for cell in cells]
    if all(number is None for number in numbers):
        raise UsageError(
            where=f"column {column!r}", seen="none of its cells is a number", todo="Give another."
        )
    return numbers


def _kept(table: _Table, rules: GainRules) -> tuple[list[int], Counter[str]]:
    """The rows that have everything, and why the others have not."""
    reasons: Counter[str] = Counter()
    kept = []
    early = f"one of the first {rules.before} words of its text"
    predictors = {**table.baseline}
    for name, columns in table.surprisals.items():
        predictors |= {f"{one} of {name}": cells for one, cells in columns.items()}
    for row, (rt, (_, index)) in enumerate(zip(table.rt, table.places, strict=True)):
        if rt is None:
            reasons["no number as reading time"] += 1
        elif rt <= 0 and rules.transform == "log":
            reasons["no reading time above 0"] += 1
        elif not rules.shortest <= rt <= rules.longest:
            reasons[f"time outside {rules.shortest:g} to {rules.longest:g}"] += 1
        elif index < rules.before:
            reasons["the first word of its text" if rules.before == 1 else early] += 1
        elif missing := next((k for k, cells in predictors.items() if cells[row] is None), ""):
            reasons[f"no {missing}"] += 1
        elif any(labels[row] in (None, "") for labels in table.factors.values()):
            reasons["no subject or no item"] += 1
        else:
            kept.append(row)
    if not kept:
        why = "; ".join(f"{count}: {reason}" for reason, count in reasons.items())
        raise UsageError(
            where="the table",
            seen=f"no observation is left ({why})",
            todo="Times are in milliseconds; --shortest and --longest set which are kept.",
        )
    return kept, reasons


def _gains(table: _Table, rules: GainRules) -> ReadingGains:
    import numpy as np

    from cimento.statistics.held_out import FEWEST_LEVELS, NO_FIT, fold_numbers, held_out_logliks

    kept, reasons = _kept(table, rules)
    y = np.array([table.rt[row] for row in kept], dtype=np.float64)
    y = np.log(y) if rules.transform == "log" else y
    labels = {name: [cells[row] for row in kept] for name, cells in table.factors.items()}
    labels = {name: one for name, one in labels.items() if len(set(one)) >= FEWEST_LEVELS}
    if not labels:
        raise UsageError(
            where="the table",
            seen="all observations that are left are of one subject and one item",
            todo="Folds need two subjects or two items; --item names another column of items.",
        )
    base, names, constant = _independent(
        {name: [cells[row] for row in kept] for name, cells in table.baseline.items()}
    )
    like = ReadingGain(
        model="", new="", n=len(kept), subjects=len(set(labels.get(SUBJECTS, ()))),
        items=len(set(labels.get(ITEMS, ()))),
    )  # fmt: skip
    gains: list[ReadingGain] = []
    pairs: list[ReadingGain] = []
    for place, new in enumerate(labels):
        fold = fold_numbers(labels[new], folds=rules.folds, seed=rules.seed)
        factors = list(labels.values())
        less = held_out_logliks(base, y, factors, of=place, fold=fold)
        by_model: dict[str, Floats | None] = {}
        for model, columns in table.surprisals.items():
            added = np.array([[cells[row] for row in kept] for cells in columns.values()])
            full = np.column_stack([base, added.astype(np.float64).T])
            more = held_out_logliks(full, y, factors, of=place, fold=fold)
            by_model[model] = None if less is None or more is None else more - less
        design = _design(labels, len(kept))
        for model, values in by_model.items():
            one = replace(like, model=model, new=new)
            gains.append(
                replace(one, reason=NO_FIT) if values is None else _of(one, values, design)
            )
        pairs += _pairs(by_model, design, replace(like, new=new))
    return ReadingGains(
        gains=tuple(gains), pairs=tuple(pairs), n=len(kept), left_out=dict(reasons),
        baseline=names, constant=constant, surprisals=tuple(_spilled(_SURPRISAL, rules.before)),
        rules=rules,
    )  # fmt: skip


def _independent(
    predictors: Mapping[str, Sequence[float | None]],
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """The predictors in columns, without those that earlier ones or the intercept determine."""
    import numpy as np

    rows = len(next(iter(predictors.values())))
    kept: list[Floats] = [np.ones(rows)]
    names, left = [], []
    for name, cells in predictors.items():
        column = np.array(cells, dtype=np.float64)
        tried = np.column_stack([*kept, column])
        sizes = np.linalg.norm(tried, axis=0)
        if sizes[-1] and np.linalg.matrix_rank(tried / sizes) == tried.shape[1]:
            kept.append(column)
            names.append(name)
        else:
            left.append(name)
    return np.column_stack([np.empty((rows, 0)), *kept[1:]]), tuple(names), tuple(left)


def _design(labels: Mapping[str, Sequence[Hashable]], n: int) -> Design:
    """Observations in clusters: of their subject and, crossed with it, their item."""
    rows = zip(*labels.values(), strict=True)
    clusters: Iterable[Hashable] = map(Crossing, rows) if len(labels) > 1 else rows
    return Design(tuple(range(n)), tuple(clusters))


def _of(like: ReadingGain, values: Floats, design: Design) -> ReadingGain:
    from cimento.statistics.means import mean_of

    mean: Mean = mean_of(values, design, seed=0, draws=0)
    return replace(
        like, nats=mean.value, low=mean.low, high=mean.high, p=mean.p, method=mean.method,
        reason=mean.reason,
    )  # fmt: skip


def _pairs(
    by_model: Mapping[str, Floats | None], design: Design, like: ReadingGain
) -> list[ReadingGain]:
    """The difference of every pair of models, with p corrected over them."""
    made = [
        _of(replace(like, model=first, other=second), one - two, design)
        for (first, one), (second, two) in combinations(by_model.items(), 2)
        if one is not None and two is not None
    ]
    corrected = holm([pair.p for pair in made])
    return [replace(pair, p_holm=p) for pair, p in zip(made, corrected, strict=True)]
