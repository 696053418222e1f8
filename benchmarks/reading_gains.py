"""Do gains in log-likelihood of reading times have the sign and the level that they should?

Prints a Markdown table, or writes it with tabs into a folder, in about half an hour::

    python benchmarks/reading_gains.py docs/data/coverage
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import polars as pl
from publishing import Table, publish

from cimento.people.reading_gains import GainRules, ReadingColumns, reading_gains
from cimento.people.word_positions import WordColumns

SEED = 20261129
TRIALS = 150
ALPHA = 0.05
TARGET = (3, 7)
WORDS = 8
SIZES = ((12, 12), (24, 24))
OWN = (0.06,)
"""Standard deviation of what is particular to each word of each text, for all readers."""
RULES = GainRules(before=1, folds=4)
COLUMNS = ReadingColumns(
    word=WordColumns(), rt="rt", subject="subject", given=("true", "noise", "one", "other")
)


def drawn(sizes: tuple[int, int], own: float, generator: np.random.Generator) -> pl.DataFrame:
    """Times that depend on the surprisals ``true``; ``one`` and ``other`` are half noise."""
    subjects, texts = sizes
    shape = (texts, WORDS)
    true, noise, one, other = generator.gamma(3, 2, (4, *shape))
    one, other = (true + part for part in (one, other))
    length = generator.integers(2, 10, shape)
    of_word = 5.7 + 0.02 * length + 0.012 * true + generator.normal(0, own, shape)
    of_word[:, 1:] += 0.006 * true[:, :-1]
    of_word += generator.normal(0, 0.05, (texts, 1))
    ln_time = of_word + generator.normal(0, 0.2, (subjects, 1, 1))
    ln_time += generator.normal(0, 0.25, ln_time.shape)
    subject, text, word = (part.ravel() for part in np.indices(ln_time.shape))
    of_each = {"true": true, "noise": noise, "one": one, "other": other}
    return pl.DataFrame(
        {
            "subject": subject, "text": text, "position": word + 1,
            "word": ["x" * int(n) for n in length[text, word]],
            "rt": np.exp(ln_time).ravel(),
            **{name: values[text, word] for name, values in of_each.items()},
        }
    )  # fmt: skip


def _percent(found: int, *, is_level: bool) -> str:
    """A percentage of the samples, bold where a test should find 5% and does not."""
    rate = 100 * found / TRIALS
    return f"{rate:.1f}" if not is_level or TARGET[0] <= rate <= TARGET[1] else f"**{rate:.1f}**"


def main() -> int:
    """Print the table, or write it into a folder."""
    generator, rows = np.random.default_rng(SEED), []
    for sizes in SIZES:
        for own in OWN:
            counts: Counter[tuple[str, str]] = Counter()
            for trial in range(TRIALS):
                made = reading_gains(drawn(sizes, own, generator), {}, COLUMNS, rules=RULES)
                for one in (*made.gains, *made.pairs):
                    is_found = one.p is not None and one.p <= ALPHA
                    name = f"{one.model} {one.other}".strip()
                    counts[one.new, name] += is_found and (bool(one.other) or one.nats > 0)
                print(sizes, own, trial, file=sys.stderr)
            for new in ("subjects", "items"):
                asked = ("true", "noise", "one other", "true one")
                found = [
                    _percent(counts[new, name], is_level=name == "one other") for name in asked
                ]
                rows.append((f"{sizes[0]} x {sizes[1]}", own, new, *found))
    head = ("subjects x texts", "sd of words", "new")
    names = ("true > 0", "noise > 0", "equally noisy", "true and noisy")
    title = "Gains in log-likelihood of reading times: found at 5%, in %"
    return publish([Table(title, (*head, *names), rows)])


if __name__ == "__main__":
    sys.exit(main())
