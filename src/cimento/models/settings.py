"""The settings of asking a model: number formats, limits of batches, and the policy of scoring."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from cimento.errors import UsageError, did_you_mean
from cimento.io.tables import REPLICATES, Column
from cimento.suites import JsonValue, UnitName
from cimento.suites.stimuli import NO_CONTEXT, Context, PunctuationRule, SegmenterRule

DtypeName: TypeAlias = Literal["float32", "float64", "bfloat16", "float16"]
"""The precision of weights, as torch names it."""
DtypeRule: TypeAlias = DtypeName | Literal["auto"]
"""The precision of weights; ``auto`` is that of the checkpoint."""

_ALSO_CALLED: Mapping[str, DtypeName] = {
    "fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32",
    "fp64": "float64", "double": "float64",
}  # fmt: skip


def dtype_rule(value: object) -> DtypeRule:
    """A number format by any of its names, or a dtype of torch; ``auto`` stays.

    Capitals do not matter: ``BF16`` is a usual spelling. Quotation marks that a shell has left, as
    in ``dtype="float"``, are taken away.

    Raises:
        ValueError: there is no number format of this name.
    """
    name = str(value).strip("\"'").removeprefix("torch.").lower()
    names: tuple[DtypeRule, ...] = (*get_args(DtypeName), "auto")
    chosen = next((other for other in names if other == _ALSO_CALLED.get(name, name)), None)
    if chosen is None:
        raise ValueError(did_you_mean(name, (*names, *_ALSO_CALLED)).removesuffix("."))
    return chosen


Limit: TypeAlias = int | Literal["auto"]
"""A limit as a user gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """The limits on what goes through a model at once; None sets no limit.

    Attributes:
        sequences: largest number of texts in a batch, or of masked copies of texts.
        tokens: largest number of padded tokens in a batch: rows times the longest row.
    """

    sequences: int | None = None
    tokens: int | None = None

    @classmethod
    def chosen(cls, sequences: Limit, tokens: Limit) -> BatchLimits:
        """The limits that a user chose.

        Raises:
            UsageError: a limit is neither a number from 1 nor ``auto``.
        """
        for name, value in (("batch_size", sequences), ("batch_tokens", tokens)):
            # In calls from Python, the value may have any type.
            if value != "auto" and not (type(value) is int and value >= 1):
                raise UsageError(
                    where=name, seen=f"got {value!r}", todo="Give a number from 1, or auto."
                )
        return cls(
            sequences=None if sequences == "auto" else sequences,
            tokens=None if tokens == "auto" else tokens,
        )

    def or_tokens(self, tokens: int) -> BatchLimits:
        """These limits, or a limit on padded tokens if none was chosen."""
        return BatchLimits(tokens=tokens) if self == AUTO else self

    def positions(self, longest: int) -> int:
        """The number of padded tokens in the largest batch within the limits.

        Args:
            longest: number of tokens of the longest sequence.
        """
        by_sequences = None if self.sequences is None else self.sequences * longest
        return min(limit for limit in (by_sequences, self.tokens, sys.maxsize) if limit is not None)

    def allow(self, *, rows: int, width: int, sequences: int) -> bool:
        """Whether a batch is within the limits.

        Args:
            rows: number of rows in the batch.
            width: number of tokens of its longest row.
            sequences: number of sequences in these rows, which is larger if they share beginnings.
        """
        return (self.tokens is None or rows * width <= self.tokens) and (
            self.sequences is None or sequences <= self.sequences
        )


AUTO = BatchLimits()
"""The limits if none are chosen: the device decides on the number of padded tokens."""


KindRule: TypeAlias = Literal["auto", "causal", "masked", "seq2seq", "diffusion"]
"""How a model computes probabilities; ``auto`` asks its configuration."""
BosRule: TypeAlias = Literal["auto", "none", "tokenizer", "bos-or-eos"]
"""What is put before a text; ``auto``: what the tokenizer puts there, else BOS, else EOS."""
PllRule: TypeAlias = Literal["within-word-l2r", "original", "whole-word", "region"]
"""Which tokens are masked together when a masked model scores a token; see docs/scoring.md."""
WindowRule: TypeAlias = Literal["refuse", "sliding"]
"""What becomes of a text longer than the window: refused, or scored in parts that overlap."""
BoundaryRule: TypeAlias = Literal["none", "word-start", "word-end", "auto"]
"""The correction of probabilities for word boundaries, by where tokens have their blank."""
FirstWordRule: TypeAlias = Literal["initial", "none"]
"""What the probability of the first word is divided by, in that correction."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of scoring texts: plain data, part of the manifest and of the run folder's name.

    Attributes:
        bos: the tokens before the first token of a text in a causal model. ``auto``: those that the
            tokenizer adds, else its BOS token, else its EOS token (with which GPT-2 was trained as
            a separator); ``none``: none, and the first token is not scored; ``tokenizer``: those
            that the tokenizer adds, if any; ``bos-or-eos``: its BOS token, else its EOS token,
            whatever the tokenizer adds.
        pll: pseudo-log-likelihood of a masked model. ``within-word-l2r``: a token is predicted
            with the later tokens of its word masked too (Kauf and Ivanova 2023,
            doi:10.18653/v1/2023.acl-short.80); ``original``: only the token itself is masked
            (Salazar et al. 2020, doi:10.18653/v1/2020.acl-main.240); ``whole-word``: all tokens
            of its word are; ``region``: all tokens of its region are.
        punctuation: whether a punctuation mark is a separate word (``split``) or belongs to the
            word it touches (``keep``).
        segmenter: the words of scripts that put no blanks between them (Han, kana, Thai, Lao,
            Burmese, Khmer). ``letters``: each letter; ``icu``: those of ICU's dictionaries;
            ``bars``: what lies between the bars of a suite.
        leading_blank: whether a text without context has a blank before it.
        lowercase: whether a tokenizer of transformers lower-cases every text first, for models
            trained on lower case whose tokenizers do not do so.
        dtype: number format of the weights while scoring; log-probabilities are computed in float32
            at least. ``auto`` is replaced by one of the others when a model is opened;
            until then the policy has no digest.
        window: treatment of a text that is longer than the model's window. ``refuse``: it is an
            error; ``sliding``: its tokens are scored in parts that fit.
        stride: number of tokens by which a causal model's window moves along such a text; None for
            half the window.
        boundary: whether words (except those of masked models) are corrected for ends that the
            tokenizer does not mark (Pimentel and Meister 2024,
            doi:10.18653/v1/2024.emnlp-main.1020). ``none``: they are not; ``word-start`` or
            ``word-end``: for marks there; ``auto``: for the tokenizer's marks, if there are any.
            `punctuation` decides whether marks end a word.
        boundary_eos: whether EOS also ends a word in that correction.
        boundary_first: treatment of a text's first word in that correction. ``initial``: its
            probability is divided by that of all tokens that can begin a text; ``none``: it is not
            divided.
        mc_samples: number of samples by which a masked diffusion model is scored, a multiple of 8.
        mc_seed: seed of these samples.
        model_args: options passed unchanged to transformers' ``from_pretrained``.
        tokenizer_args: arguments of the tokenizer's ``from_pretrained``.

    Raises:
        UsageError: there is a stride without a sliding window, or it is not a number of tokens; the
            number format does not exist; the number of samples is not a multiple of 8; or an option
            for transformers is not a plain value.
    """

    bos: BosRule = "auto"
    pll: PllRule = "within-word-l2r"
    punctuation: PunctuationRule = "split"
    segmenter: SegmenterRule = "letters"
    leading_blank: bool = False
    lowercase: bool = False
    dtype: DtypeRule = "float32"
    window: WindowRule = "refuse"
    stride: int | None = None
    boundary: BoundaryRule = "none"
    boundary_eos: bool = True
    boundary_first: FirstWordRule = "initial"
    mc_samples: int = 128
    mc_seed: int = 0
    model_args: Mapping[str, JsonValue] = field(default_factory=dict)
    tokenizer_args: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mc_samples < REPLICATES or self.mc_samples % REPLICATES:
            raise UsageError(
                where="--mc-samples",
                seen=f"got {self.mc_samples}, and samples are in {REPLICATES} replicates",
                todo=f"Give a multiple of {REPLICATES}.",
            )
        if self.stride is not None and (self.window == "refuse" or self.stride < 1):
            raise UsageError(
                where="--stride",
                seen=f"{self.stride} tokens are given with --window={self.window}",
                todo="Give one token or more, and --window=sliding.",
            )
        try:
            object.__setattr__(self, "dtype", dtype_rule(self.dtype))
        except ValueError as error:
            raise UsageError(
                where="--dtype", seen=f"got {self.dtype!r}", todo=f"{error}."
            ) from error
        for name in ("model_args", "tokenizer_args"):
            try:
                json.dumps(dict(getattr(self, name)))
            except (TypeError, ValueError) as error:
                raise UsageError(
                    where=name,
                    seen=f"a value cannot be written as JSON ({error})",
                    todo="Give plain values; a quantization_config is a dictionary.",
                ) from error

    def settled(self, dtype: DtypeName) -> Policy:
        """The policy with a number format in place of ``auto``."""
        return replace(self, dtype=dtype) if self.dtype == "auto" else self

    def plain(self) -> dict[str, JsonValue]:
        """The policy as JSON values, from which cache keys are made.

        Raises:
            ValueError: the number format is still ``auto``, which does not determine the scores.
        """
        if self.dtype == "auto":
            raise ValueError("the number format of a policy is chosen before answers are named")
        return asdict(self)

    def digest(self) -> str:
        """A short name for this policy: eight hexadecimal digits."""
        text = json.dumps(self.plain(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


_GPU = re.compile(r"(gpu)?:?(?P<number>\d*)", re.IGNORECASE)


def _refuse_gpu_of_other_name(device: str) -> None:
    """Refuse ``gpu`` or a bare number as a device, before anything is loaded or looked up.

    Raises:
        UsageError: it is one of them.
    """
    if match := _GPU.fullmatch(device.strip()):
        number = f":{match['number']}" if match["number"] else ""
        raise UsageError(
            where="--device",
            seen=f"got {device!r}, and torch has no device of this name",
            todo=f"Give cuda{number} for a GPU by NVIDIA or AMD, mps for one by Apple, or cpu.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The settings of asking a model: everything that can change answers or requests.

    Attributes:
        policy: the policy of scoring.
        kind: ``causal``, ``masked``, ``seq2seq`` or ``diffusion``, if the model's config does not
            determine it.
        tokenizer: name of another tokenizer than the model's; empty for the model's. It is a part
            of the model's revision.
        device: ``cpu``, ``cuda``, ``mps``; ``auto`` takes a GPU where there is one.
        batch_size: largest number of sequences in a batch; ``auto`` leaves it to `batch_tokens`.
        batch_tokens: largest number of padded tokens in a batch; ``auto`` chooses by device, or
            sets no limit if `batch_size` is a number.
        all_tokens: whether every token is scored, not only those that predictions need.
        limit: number of items of a suite to ask about; None for all.
        precision: half the width of the interval of the proportion of correct items at which asking
            stops; None asks all items.
        order_seed: seed of the random order of items, where a precision is given.
        spec: for recorded surprisals: the model spec that says how tokens make regions.
        recorded_unit: for recorded surprisals: their unit.
        concurrency: for a server: requests that are under way at once.
        timeout_s: for a server: seconds of silence before a request is repeated.
        body: for a server: fields of requests, beside those of cimento; null leaves one out.
        columns: further values stored for every token, see docs/measures.md.
        context: the context before the texts of a suite, which is not scored.
        own_blank: whether `policy` decides on a blank before texts even if a suite does.

    Raises:
        UsageError: a limit of batches is neither a number from 1 nor ``auto``, or the device has a
            name that torch does not know.
    """

    policy: Policy = field(default_factory=Policy)
    kind: KindRule = "auto"
    tokenizer: str = ""
    device: str = "auto"
    batch_size: Limit = "auto"
    batch_tokens: Limit = "auto"
    all_tokens: bool = False
    limit: int | None = None
    precision: float | None = None
    order_seed: int = 0
    spec: Path | None = None
    recorded_unit: UnitName = "bits"
    concurrency: int = 8
    timeout_s: float = 120.0
    body: Mapping[str, JsonValue] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    context: Context = NO_CONTEXT
    own_blank: bool = False

    def __post_init__(self) -> None:
        _ = self.limits
        _refuse_gpu_of_other_name(self.device)

    @property
    def limits(self) -> BatchLimits:
        """The limits on what goes through a model at once."""
        return BatchLimits.chosen(self.batch_size, self.batch_tokens)

    def digest(self) -> str:
        """A digest of policy and context: eight hexadecimal digits."""
        if self.context == NO_CONTEXT and not self.own_blank:
            return self.policy.digest()
        both = f"{self.policy.digest()} {self.context!r}" + " own blank" * self.own_blank
        return hashlib.sha256(both.encode()).hexdigest()[:8]

    def settled(self, dtype: str = "") -> Asking:
        """The same settings with a number format in place of ``auto``.

        Args:
            dtype: number format of the model; float32 if there is none of this name.
        """
        names: tuple[DtypeName, ...] = get_args(DtypeName)
        known = next((name for name in names if name == dtype), names[0])
        return replace(self, policy=self.policy.settled(known))
