"""The types of keyword options, for type checkers.

`scripts/option_types.py` writes this module from where the options are declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from cimento.measures import MeasuresLike


class LoadingKeywords(TypedDict, total=False):
    """The options of `load_model` and `fill`."""

    device: str
    """cpu, cuda, cuda:1, mps; auto prefers a GPU."""
    dtype: object
    """fp32, bf16, fp16, fp64; auto: the checkpoint's format on a CUDA GPU, else fp32."""
    tokenizer: object
    """A tokenizer other than the model's: a folder, or org/name@revision."""
    model_args: Mapping[str, Any] | Sequence[str] | str
    """An option for transformers' from_pretrained, whose value is JSON or text. Give a
    mapping, or KEY=VALUE texts."""
    tokenizer_args: Mapping[str, Any] | Sequence[str] | str
    """An option for the tokenizer's from_pretrained, such as fix_mistral_regex=true. Give a
    mapping, or KEY=VALUE texts."""
    allow_pickle: bool
    """Accept weights that are not safetensors; only from a source that you trust."""
    trust_remote_code: bool
    """Run code that comes with the model; read it first."""
    kind: Literal["auto", "causal", "masked", "seq2seq", "diffusion"]
    """Kind of model, if its config does not give it."""
    bos: Literal["auto", "none", "tokenizer", "bos-or-eos"] | None
    """auto (the default): what the tokenizer puts there, else BOS, else EOS; none: nothing;
    tokenizer: what it puts there, or nothing; bos-or-eos: BOS, else EOS, whatever the
    tokenizer puts there."""
    lowercase: bool | None
    """Lower-case texts, if models check asks for it."""
    batch_size: Literal["auto"] | int
    """Sequences in one batch; auto depends on batch_tokens."""
    batch_tokens: Literal["auto"] | int
    """Padded tokens in one batch; auto depends on the device."""
    concurrency: int
    """Requests to a server at once."""
    timeout: float
    """Seconds to wait for a silent server."""
    body: Mapping[str, Any] | Sequence[str] | str
    """A field of requests to a server, or a JSON object of several; null leaves one out. Give
    a mapping, or KEY=VALUE texts."""


class ScoringKeywords(LoadingKeywords, total=False):
    """The options of `score`."""

    pll: Literal["within-word-l2r", "original", "whole-word", "region"] | None
    """Pseudo-log-likelihood of masked models; within-word-l2r by default."""
    punctuation: Literal["split", "keep"] | None
    """split (the default): a mark is a word of its own; keep: part of its word."""
    segmenter: Literal["letters", "icu", "bars"] | None
    """Words of Chinese, Thai and the like: letters (the default), icu, or the suite's bars."""
    leading_blank: bool | None
    """Put a space before every text."""
    boundary: Literal["none", "word-start", "word-end", "auto"] | None
    """Correction for word boundaries; none by default."""
    boundary_eos: bool | None
    """Whether EOS ends a word in the correction for word boundaries."""
    boundary_first: Literal["initial", "none"] | None
    """Divisor of a text's first word in the correction: initial (the default) or none."""
    mc_samples: int | None
    """Number of samples for models of masked diffusion; 128 by default."""
    mc_seed: int | None
    """Seed of the samples for models of masked diffusion; 0 by default."""
    window: Literal["refuse", "sliding"]
    """What to do with texts longer than the model's window."""
    stride: int | None
    """Step of a sliding window."""
    context: str
    """Context put before every text, not scored."""
    store: Sequence[str] | str
    """Also store of each token: logit, log_sigmoid_sum, entropy_nats, rank, unigram_nats."""
    layers: str
    """Also store each token's log-probability after these layers; 0 is before the first."""


class JudgingKeywords(TypedDict, total=False):
    """The options of `Run.judge`, with those of every paradigm."""

    metric: Literal["sum", "mean", "median", "range", "max", "min"] | None
    """How a region's tokens become one value. Default: that of the suite, or sum."""
    predictions: Sequence[str] | str
    """A formula, or the name or number of one of the suite's."""
    unit: Literal["bits", "nats"] | None
    """Unit of numbers in formulas; bits by default."""
    measures: MeasuresLike
    """Judge whole sentences by these measures: lp,penlp:0.8,slor ... (`cimento models
    measures` lists them). Default: regions, as the suite's predictions say; of rated
    sentences lp, meanlp, penlp and the perplexity."""
    unigrams: str | None
    """Frequencies for slor and normlp: model, wordfreq, wordfreq:it or a file."""
    unscored_first: Literal["missing", "drop", "zero"] | None
    """A first token without left context: missing, drop or zero."""
    ties: Literal["tie", "pass"] | None
    """tie (no pass) or pass: what exactly equal sides count as."""
    near_ties: float | None
    """Threshold of near ties in bits; by default it depends on the number format."""
    cluster: Sequence[str] | str
    """Columns of the items that say which belong together, in place of the suite's own; two
    or more, as in template,verb, are crossed."""
    seed: int | None
    """Seed of the simulated chance levels; 0 by default."""
    by: Sequence[str] | str
    """For rated sentences: columns by which the accuracy of pairs is broken down, if the
    suite has them. For cloze tests: columns that results are broken down by."""
    ratings: Literal["raw", "z"]
    """For rated sentences: values with which measures are compared: ``raw`` mean ratings, or
    the mean ``z``-scores of ratings by participant."""
    draws: int
    """For rated sentences: number of divisions of ratings into halves."""
    dictionary: str
    """For cloze tests: judges candidates by what their items expect: ``delaf:FILE``,
    ``rules:it``; empty for none."""
    judgments: Path | str | None
    """For cloze tests: an annotated run or a table of judged candidates, used where nobody
    judged the run itself; None for none."""
    norm: Literal["sum", "token", "char", "pmi", "prior"]
    """For stories: what options are compared by."""


class EvaluationKeywords(ScoringKeywords, JudgingKeywords, total=False):
    """The options of `evaluate` and `evaluate_all`, with those of every paradigm."""

    compat: str | None
    """Conventions of minicons, lm-eval, babylm or syntaxgym. lm-eval's own options work too."""
    language: str
    """Language of a table that does not state one: ISO 639-1 code (it, es ...), or 639-3 if
    there is none (gsw)."""
    columns: Sequence[str] | str
    """Which columns of a table are what: good=A,bad=B,item=ID,phenomenon=P."""
    context_column: str
    """Extra column of the suite with the context of each text."""
    adaptive: bool
    """Ask in random order until precision is reached."""
    precision: float | None
    """With adaptive: stop when half the width of the accuracy's interval is at most this; 0.1
    by default."""
    all_tokens: bool
    """Score every token, not only those that predictions need."""
    spec: Path | str | None
    """Model spec (JSON) of recorded surprisals."""
    recorded_unit: Literal["bits", "nats"]
    """Unit of recorded surprisals."""
    prices: Path | str | None
    """Prices of servers' models: TSV or TOML with model, input, output (each for a million
    tokens) and currency."""
    no_cache: bool
    """Do not keep answers between runs."""
    k: int
    """For cloze tests: number of candidates asked for, and of ranks that count."""
    protocol: Literal[
        "auto", "mask", "words", "complete", "beam", "left", "sentinel", "native", "paper"
    ]
    """For cloze tests: how candidates are found where none are given; see `FillPolicy`. For
    stories: native: answers follow the prompt as the template renders it, and every tier is
    asked of all implausible stories; paper: as the study did, with a blank before answers
    even after a chat template, examples drawn its way, and later tiers asked of survivors
    only."""
    masks: int
    """For cloze tests: the longest candidate, in tokens."""
    choice: (
        Literal["mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"]
        | Sequence[
            Literal[
                "mask", "left-to-right", "joint", "sentence", "left", "continuation", "sentinel"
            ]
        ]
    )
    """For cloze tests: rules by which options are scored; none for what suits the kind of
    model."""
    task: Literal["tiers", "pair", "attributes", "auto", "all", "choice", "yesno", "rating"]
    """For stories: tiers: the three tiers; pair: which story of a pair is plausible;
    attributes: which value the physical attributes have that the conflict is about. For
    prompted judgments: the question: ``choice`` between the two sentences of each pair;
    ``yesno``: is each sentence acceptable?; ``rating`` of each sentence on a scale; ``all``
    that apply to the suite; ``auto``: choice where the suite makes predictions, else rating."""
    prompt: str
    """For stories: id of the wording; empty for the first one in the suite's language."""
    order: str
    """For stories: order of the options."""
    order_seed: int
    """For stories: seed of the shuffled order."""
    numbering: int
    """For stories: number of the first sentence, 0 or 1."""
    definitions: Literal["auto", "yes", "no"]
    """For stories: whether the states are defined; auto: as the wording was made."""
    newlines: str
    """For stories: line breaks after the study's instruction."""
    shots: int
    """For stories: worked examples before the story; 0 for none."""
    shots_mode: str
    """For stories: how worked examples are chosen."""
    shots_seed: int
    """For stories: seed of the choice of worked examples."""
    shots_as: Literal["turns", "text"]
    """For stories: worked examples as turns of the chat or as one text."""
    answer: Literal["loglik", "generate", "constrained"]
    """For stories: loglik: each option is scored; generate: the model writes and the reply is
    read; constrained: it writes, and can write nothing but an option. For prompted judgments:
    ``generate``: the reply in words, read strictly; ``loglik``: the log-probabilities of the
    possible answers after the prompt."""
    chat: Literal["auto", "yes", "no"]
    """For stories: whether the chat template is used; auto: where there is one. For prompted
    judgments: whether a chat template is used: ``auto`` where there is one."""
    system: Literal["auto", "folded"]
    """For stories: where the instruction goes: folded puts it into the first user turn."""
    max_tokens: int
    """Most tokens of a reply."""
    corrections: str
    """For stories: name of a set of corrections to the stories; empty for none."""
    balance: Literal["latin", "full", "rotated"]
    """For prompted judgments: the design of wordings, pairs of answers and orders: ``latin``,
    ``full`` or ``rotated``."""
    points: int
    """For prompted judgments: number of points of the rating scale, which begins at 1."""


class TrainingKeywords(EvaluationKeywords, total=False):
    """The options of `evaluate_while_training`."""

    limit: int | None
    """Only so many items of each suite, of each phenomenon in turn."""
    force: bool
    """Repeat runs that are already stored."""
