"""The table of README's first screen: three models on a published benchmark, as printed and here.

    python scripts/first_result.py

Reads docs/data/gita-first-tier.tsv, which docs/data/NOTICE.txt describes. The versions of a story
count as one cluster, as in ``cimento study stories``, which makes the same numbers from the
authors' logs.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

from cimento.statistics.design import Design
from cimento.statistics.differences import share_difference, share_test
from cimento.statistics.intervals import share_interval
from cimento.statistics.multiple import holm

VERDICTS = Path(__file__).parents[1] / "docs" / "data" / "gita-first-tier.tsv"
PRINTED = {
    "Llama 3.1 8B Instruct": "77.25",
    "Llama 3.1 70B Instruct": "74.16",
    "Gemma 2 9B Instruct": "72.75",
}
"""Model, in the order of a verdict's digits, to its accuracy in Table 3 of Pensa et al. 2024."""
CONSTANT = 'constant answer "no"'


def read(path: Path = VERDICTS) -> tuple[dict[str, list[bool]], Design]:
    """Whether each model, and the constant answer, is right on each version of each story.

    Args:
        path: file of counts.

    Returns:
        name to verdicts, and their design, where the versions of a story are one cluster.
    """
    names = [*PRINTED, CONSTANT]
    verdicts: dict[str, list[bool]] = {name: [] for name in names}
    families: list[int] = []
    family = 0
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        count, versions = line.split("\t")
        for _ in range(int(count)):
            family += 1
            for version in versions.split():
                families.append(family)
                for name, digit in zip(names, version, strict=True):
                    verdicts[name].append(digit == "1")
    return verdicts, Design(tuple(range(len(families))), tuple(families))


def rows() -> list[tuple[str, str, str, str]]:
    """Model, printed and recomputed percentage, and its interval; the constant answer last."""
    verdicts, design = read()
    table = []
    for name, right in verdicts.items():
        percent = 100 * sum(right) / len(right)
        interval = share_interval(right, design)
        within = (
            "" if name == CONSTANT else f"{100 * interval.low:.1f} to {100 * interval.high:.1f}"
        )
        table.append(
            (name, PRINTED.get(name, ""), f"{percent:.2f}", within if name in PRINTED else "")
        )
    return table


def differences() -> list[tuple[str, float, float, float, float]]:
    """Each two models, their difference in points with its interval, and Holm's p."""
    verdicts, design = read()
    pairs = list(combinations(PRINTED, 2))
    tests = [share_test(verdicts[first], verdicts[second], design) for first, second in pairs]
    found = []
    for (first, second), p in zip(pairs, holm([test.p for test in tests]), strict=True):
        change = share_difference(verdicts[first], verdicts[second], design)
        name = f"{first} - {second.removeprefix('Llama 3.1 ')}"
        found.append((name, 100 * change.estimate, 100 * change.low, 100 * change.high, p))
    return found


def main() -> None:
    """Print both tables."""
    lines = [f"{'correct of 356, in %':<24}{'printed':>8}{'cimento':>9}  95% interval"]
    lines += [f"{name:<24}{was:>8}{now:>9}  {within}".rstrip() for name, was, now, within in rows()]
    lines += ["", f"{'difference, in points':<46}{'cimento':>7}  95% interval   Holm p"]
    for name, value, low, high, p in differences():
        within = f"{low:.1f} to {high:.1f}"
        lines.append(f"{name:<46}{value:>7.2f}  {within:<15}{p:.2f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
