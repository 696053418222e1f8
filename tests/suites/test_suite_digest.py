"""The digest of a suite's content, which decides whether a stored run is that of the suite."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import cimento

N_PAIRS = 4100
"""The texts of this many pairs are hashed in three pieces of 4,096."""

PAIRS = [(f"Le sedie {n} sono rosse.", f"Le sedie {n} è rosse.") for n in range(N_PAIRS)]


def digest_of(folder: Path, pairs: list[tuple[str, str]]) -> str:
    """The digest of pairs in a file of their own."""
    rows = "".join(f"{n}\t{good}\t{bad}\n" for n, (good, bad) in enumerate(pairs, 1))
    path = folder / "pairs.tsv"
    path.write_text(f"item\tgood\tbad\n{rows}", encoding="utf-8")
    return cimento.load_suite(path).content


@pytest.mark.parametrize("count", [1, N_PAIRS])
def test_a_digest_is_that_of_the_whole_json_text(tmp_path: Path, count: int) -> None:
    record = {
        "cluster": "",
        "factors": {},
        "items": {
            "bounds": list(range(2 * count + 1)),
            "free": {},
            "glued": [],
            "ids": [str(n) for n in range(1, count + 1)],
            "shapes": [["good", "bad"]] * count,
            "texts": [text for pair in PAIRS[:count] for text in pair],
        },
        "join": "blank",
        "leading_blank": None,
        "meta": {},
        "metric": "sum",
        "predictions": [{"formula": "(*;%good%) < (*;%bad%)"}],
        "region_names": ["sentence"],
    }
    text = json.dumps([record, {}], ensure_ascii=False, sort_keys=True)
    assert digest_of(tmp_path, PAIRS[:count]) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("changed", [0, 2047, 2048, N_PAIRS - 1])
def test_each_text_of_a_long_suite_counts(tmp_path: Path, changed: int) -> None:
    other = list(PAIRS)
    other[changed] = (other[changed][0], "Le sedie è verdi.")
    assert digest_of(tmp_path, other) != digest_of(tmp_path, PAIRS)
