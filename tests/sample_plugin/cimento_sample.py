"""A plug-in with a model, a reader and a measure; docs/extending.md shows it."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

from cimento import (
    Asking,
    Condition,
    InputError,
    Item,
    Measure,
    Meta,
    Prediction,
    Reading,
    Region,
    Suite,
    UsageError,
    open_source,
)
from cimento.models import Source
from cimento.testing import FakeScorer

VERSION = "1.0"  # of the baseline: its scores are cached under its revision


def open_by_length(rest: str, asking: Asking) -> Source:
    """`length:B`: a baseline for which each letter of a word costs B bits."""
    try:
        bits = float(rest)
    except ValueError:
        raise UsageError(
            where=f"--model length:{rest}",
            seen="not a number",
            todo="Give the bits: length:2.",
        ) from None
    model = FakeScorer(
        lambda words, index: -bits * math.log(2) * len(words[index]),
        name=f"length-baseline-{bits:g}",
        revision=hashlib.sha256(f"{VERSION} {bits}".encode()).hexdigest(),
    )
    return open_source(model, asking)


def read_starred(path: Path) -> Reading:
    """`.starred`: a good sentence in a line, the bad one, with a star, in the next."""
    content = path.read_bytes()
    lines = content.decode("utf-8").splitlines()
    if [line.startswith("*") for line in lines] != [False, True] * (len(lines) // 2):
        raise InputError(
            where=path.name,
            seen="a star is missing or too many",
            todo="Star every second line.",
        )
    items = [
        Item(
            id=str(number),
            conditions=(
                Condition("good", (Region(good),)),
                Condition("bad", (Region(bad.removeprefix("*")),)),
            ),
        )
        for number, (good, bad) in enumerate(
            zip(lines[::2], lines[1::2], strict=True), start=1
        )
    ]
    suite = Suite(
        meta=Meta(name=path.stem),
        region_names=("sentence",),
        predictions=(Prediction("(*;%good%) < (*;%bad%)", name="unstarred"),),
        items=tuple(items),
    )
    places = tuple(
        f"{path.name} line {number}" for number, _ in enumerate(lines, start=1)
    )
    return Reading(suite, hashlib.sha256(content).hexdigest(), places)


WORST_TOKEN = Measure(
    name="worst-token",
    formula="min over tokens of ln P(token)",
    unit="nats",
    higher_is_better=True,
    source="Shi et al. 2024, doi:10.48550/arXiv.2310.16789",
    function=lambda sentence: min(sentence.logprobs_nats),
)
