"""The types of keyword options, for type checkers.

`scripts/option_types.py` writes this module from where the options are declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict


class LoadingKeywords(TypedDict, total=False):
    """The options of `load_model` and `fill`."""

    device: str
    dtype: object
    tokenizer: object
    model_args: Mapping[str, Any] | Sequence[str] | str
    tokenizer_args: Mapping[str, Any] | Sequence[str] | str
    allow_pickle: bool
    trust_remote_code: bool
    kind: Literal["auto", "causal", "masked", "seq2seq", "diffusion"]
    bos: Literal["auto", "none", "tokenizer", "bos-or-eos"] | None
    lowercase: bool | None
    batch_size: Literal["auto"] | int
    batch_tokens: Literal["auto"] | int
    concurrency: int
    timeout: float
    body: Mapping[str, Any] | Sequence[str] | str


class ScoringKeywords(LoadingKeywords, total=False):
    """The options of `score`."""

    pll: Literal["within-word-l2r", "original", "whole-word", "region"] | None
    punctuation: Literal["split", "keep"] | None
    segmenter: Literal["letters", "icu", "bars"] | None
    leading_blank: bool | None
    boundary: Literal["none", "word-start", "word-end", "auto"] | None
    boundary_eos: bool | None
    boundary_first: Literal["initial", "none"] | None
    mc_samples: int | None
    mc_seed: int | None
    window: Literal["refuse", "sliding"]
    stride: int | None
    context: str
    store: Sequence[str] | str
    layers: str


class EvaluationKeywords(ScoringKeywords, total=False):
    """The options of `evaluate` and `evaluate_all`, with those of every paradigm."""

    metric: Literal["sum", "mean", "median", "range", "max", "min"] | None
    predictions: Sequence[str] | str
    unit: Literal["bits", "nats"] | None
    measures: Sequence[str] | str
    unigrams: str | None
    unscored_first: Literal["missing", "drop", "zero"] | None
    ties: Literal["tie", "pass"] | None
    near_ties: float | None
    cluster: Sequence[str] | str
    seed: int | None
    compat: str | None
    language: str
    columns: Sequence[str] | str
    context_column: str
    adaptive: bool
    precision: float | None
    all_tokens: bool
    spec: Path | str | None
    recorded_unit: Literal["bits", "nats"]
    prices: Path | str | None
    no_cache: bool
    measure: str
    also: Sequence[str] | str
    near_tie_bits: float | None
    by: Sequence[str] | str
    ratings: Literal["raw", "z"]
    draws: int
    k: int
    protocol: Literal[
        "auto", "mask", "words", "complete", "beam", "left", "sentinel", "native", "paper"
    ]
    masks: int
    choice: (
        Literal["mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"]
        | Sequence[
            Literal[
                "mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"
            ]
        ]
    )
    dictionary: str
    judgments: Path | str | None
    task: Literal["tiers", "pair", "attributes", "auto", "all", "choice", "yesno", "rating"]
    prompt: str
    order: str
    order_seed: int
    numbering: int
    definitions: Literal["auto", "yes", "no"]
    newlines: str
    shots: int
    shots_mode: str
    shots_seed: int
    shots_as: Literal["turns", "text"]
    answer: Literal["loglik", "generate", "constrained"]
    norm: Literal["sum", "token", "char", "pmi", "prior"]
    chat: Literal["auto", "yes", "no"]
    system: Literal["auto", "folded"]
    max_tokens: int
    corrections: str
    balance: Literal["latin", "full", "rotated"]
    points: int


class TrainingKeywords(EvaluationKeywords, total=False):
    """The options of `evaluate_while_training`."""

    limit: int | None
    force: bool
