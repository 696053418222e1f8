"""The options that commands share, each declared once.

Every flag is also an environment variable: ``--batch-size`` is ``CIMENTO_BATCH_SIZE``.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from cimento.errors import UsageError
from cimento.models.base import (
    BosRule,
    DtypeName,
    KindRule,
    PllRule,
    PunctuationRule,
)
from cimento.suites.model import Metric as MetricName
from cimento.suites.model import UnitName


def option(*flags: str, help: str, **more: Any) -> Any:  # noqa: A002  # as typer calls it
    """A typer option with its environment variable."""
    name = next(flag for flag in flags if flag.startswith("--")).split("/")[0]
    variable = "CIMENTO_" + name.removeprefix("--").replace("-", "_").upper()
    return typer.Option(*flags, help=help, envvar=variable, show_envvar=False, **more)


def number_or_auto(text: str) -> int | None:
    """A limit of batches as it is written in an option; None for ``auto``."""
    number = int(text) if text.isdecimal() else 0
    if text != "auto" and number < 1:
        raise typer.BadParameter(f"{text!r} is neither a whole number of at least 1 nor auto.")
    return number or None


_model = option(
    "-m",
    "--model",
    help="demo-causal, demo-masked, a folder, org/name@revision, openai:URL#model, kenlm:FILE,"
    " replay:FILE; may be repeated.",
)
Model = Annotated[list[str], _model]
Output = Annotated[Path, option("-o", "--output", help="Folder of runs.")]
Json = Annotated[bool, option("--json", help="Print the summary as JSON.")]
Settings = Annotated[
    list[str] | None,
    option(
        "--set",
        metavar="KEY=VALUE",
        help="An option of this kind of suite, such as k=20 for cloze tests. May be repeated.",
    ),
]
Device = Annotated[str, option("--device", help="cpu, cuda, cuda:1, mps; auto prefers a GPU.")]
Dtype = Annotated[DtypeName, option("--dtype", help="Number format of the weights.")]
ModelArgs = Annotated[
    list[str] | None,
    option(
        "--model-args",
        metavar="KEY=VALUE",
        help="An option for transformers' from_pretrained; VALUE is JSON or text. May be repeated.",
    ),
]
AllowPickle = Annotated[
    bool,
    option("--allow-pickle", help="Take weights that are not safetensors; trust who made them."),
]
TrustRemoteCode = Annotated[
    bool,
    option("--trust-remote-code", help="Run code that comes with the model; read it first."),
]
SpreadsheetSafe = Annotated[
    bool,
    option("--spreadsheet-safe", help="In CSV, an apostrophe before cells that begin a formula."),
]
Kind = Annotated[KindRule, option("--kind", help="Kind of model, where its config does not tell.")]
Bos = Annotated[
    BosRule | None,
    option(
        "--bos",
        help="auto (the default): BOS, or EOS where there is none; none: nothing; "
        "tokenizer: what it puts there itself; bos-or-eos: whatever that is.",
    ),
]
Pll = Annotated[
    PllRule | None,
    option("--pll", help="Pseudo-log-likelihood of masked models; within-word-l2r by default."),
]
Punctuation = Annotated[
    PunctuationRule | None,
    option("--punctuation", help="split (the default): a mark is a word of its own."),
]
Layers = Annotated[
    str,
    option(
        "--layers",
        metavar="all|N,N...",
        help="Store also each token's log-probability after these layers; 0 is before the first.",
    ),
]
BatchSize = Annotated[
    int | None,
    option(
        "--batch-size",
        parser=number_or_auto,
        metavar="N|auto",
        help="Sequences in one batch; auto goes by --batch-tokens.",
    ),
]
BatchTokens = Annotated[
    int | None,
    option(
        "--batch-tokens",
        parser=number_or_auto,
        metavar="N|auto",
        help="Padded tokens in one batch; auto goes by the device.",
    ),
]
Limit = Annotated[int | None, option("--limit", min=1, help="Only the first items of each suite.")]
Seed = Annotated[int, option("--seed", help="Seed of the simulated chance levels.")]
Spec = Annotated[Path | None, option("--spec", help="Model spec (JSON) of recorded surprisals.")]
Metric = Annotated[
    MetricName | None, option("--metric", help="How a region's tokens become one value.")
]
Unit = Annotated[
    UnitName | None, option("--unit", help="Unit in which formulas are read; bits by default.")
]
Unigrams = Annotated[
    str | None,
    option("--unigrams", help="Frequencies for slor and normlp: wordfreq, wordfreq:it or a file."),
]
NearTies = Annotated[
    float | None,
    option(
        "--near-ties",
        metavar="BITS",
        min=0.0,
        help="Verdicts with a smaller margin are near ties; else the number format decides.",
    ),
]


def given(**values: Any) -> dict[str, Any]:
    """Those options that were given."""
    return {name: value for name, value in values.items() if value is not None}


def reasons(given: Iterable[str], *, flag: str, example: str) -> dict[str, str]:
    """Name to reason, of options that are written ``NAME=REASON``.

    Raises:
        UsageError: a name or a reason is missing.
    """
    found = {}
    for each in given:
        name, _, reason = each.partition("=")
        if not (name.strip() and reason.strip()):
            raise UsageError(where=flag, seen=f"got {each!r}", todo=f"Say why: {flag} '{example}'.")
        found[name.strip()] = reason.strip()
    return found
