"""The options of a run, each declared once for flags, variables, run files, manifests and Python.

``--batch-size``, ``CIMENTO_BATCH_SIZE``, ``batch_size = 16`` in a run file and
``evaluate(..., batch_size=16)`` are one field of `RunOptions`, with one description and one check.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from cimento.engine import EngineName
from cimento.errors import UsageError
from cimento.intake.roles import parse_choice
from cimento.io.declared import Name, Options, Settings, Texts, checked, option, recorded_fields
from cimento.io.parsing import whole_number
from cimento.io.tables import parse_columns, parse_layers
from cimento.kinds.judging import on_measures, refuse_paradigm_names
from cimento.kinds.stopped import precision_to_reach
from cimento.measures import columns_needed, judged_on, names_of_measures
from cimento.measures.regions import FirstTokenRule
from cimento.models.hf.arguments import (
    parse_model_args,
    parse_tokenizer_args,
    texts_of_arguments,
)
from cimento.models.registry import lasting_name
from cimento.models.server import checked_body, parse_body
from cimento.models.settings import (
    Asking,
    BosRule,
    BoundaryRule,
    DtypeRule,
    FirstWordRule,
    KindRule,
    PllRule,
    Policy,
    WindowRule,
    dtype_rule,
)
from cimento.options.compat import OURS, find_compat
from cimento.records.outcomes import TieRule
from cimento.suites import JsonValue, Metric, UnitName
from cimento.suites.stimuli import Context, PunctuationRule, SegmenterRule, need_segmenter


def _number_or_auto(value: object) -> object:
    """A limit on batches as a number, or ``auto`` for no fixed limit."""
    if value == "auto":
        return value
    number = whole_number(value) if isinstance(value, str) else value
    if not (isinstance(number, int) and number >= 1):
        raise ValueError("give a whole number from 1, or auto")
    return number


Limit: TypeAlias = Annotated[int | Literal["auto"], BeforeValidator(_number_or_auto)]


Arguments: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(texts_of_arguments)]
Body: TypeAlias = Annotated[Arguments, AfterValidator(checked_body)]
Dtype: TypeAlias = Annotated[DtypeRule, BeforeValidator(dtype_rule)]


class TargetOptions(Options):
    """The options of targets: suites, models, the output folder and the engine."""

    suites: Texts = option(
        (), "Built-in names, paths, or a run file.", argument="SUITE...|RUN.toml"
    )
    models: Texts = option(
        (),
        "demo-causal, demo-masked, a folder, org/name@revision, openai:URL#model, kenlm:FILE,"
        " replay:FILE, or a plug-in's prefix; may be repeated.",
        flags=("-m", "--model"),
    )
    output: Path | None = option(Path("runs"), "Folder of runs.", flags=("-o",))
    engine: EngineName = option("local", "local (the default): processes here; ray: Ray Core.")
    workers: int | None = option(None, "Processes; by default one for each GPU, or one.", ge=1)
    as_json: bool = option(
        default=False, help="Print the summary as JSON.", flags=("--json",), where="this run"
    )


class ModelOptions(Options):
    """The options of models: the device, the loading and the batches."""

    device: str = option("auto", "cpu, cuda, cuda:1, mps; auto prefers a GPU.")
    dtype: Dtype = option(
        "auto",
        "fp32, bf16, fp16, fp64; auto: the checkpoint's format on a CUDA GPU, else fp32.",
        metavar="FORMAT",
    )
    tokenizer: Name = option(
        "", "A tokenizer other than the model's: a folder, or org/name@revision.", metavar="NAME"
    )
    model_args: Arguments = option(
        (), "An option for transformers' from_pretrained, whose value is JSON or text."
        " May be repeated.",
        metavar="KEY=VALUE",
    )  # fmt: skip
    tokenizer_args: Arguments = option(
        (), "An option for the tokenizer's from_pretrained, such as fix_mistral_regex=true."
        " May be repeated.",
        metavar="KEY=VALUE",
    )  # fmt: skip
    allow_pickle: bool = option(
        default=False,
        help="Accept weights that are not safetensors; only from a source that you trust.",
        where="command line",
    )
    trust_remote_code: bool = option(
        default=False,
        help="Run code that comes with the model; read it first.",
        where="command line",
    )
    kind: KindRule = option("auto", "Kind of model, if its config does not give it.")
    bos: BosRule | None = option(
        None,
        "auto (the default): what the tokenizer puts there, else BOS, else EOS; none: nothing; "
        "tokenizer: what it puts there, or nothing; bos-or-eos: BOS, else EOS, whatever the"
        " tokenizer puts there.",
    )
    lowercase: bool | None = option(None, "Lower-case texts, if models check asks for it.")
    batch_size: Limit = option(
        "auto", "Sequences in one batch; auto depends on --batch-tokens.", metavar="N|auto"
    )
    batch_tokens: Limit = option(
        "auto", "Padded tokens in one batch; auto depends on the device.",
        metavar="N|auto",
    )  # fmt: skip
    concurrency: int = option(8, "Requests to a server at once.", ge=1, le=64)
    timeout: float = option(120.0, "Seconds to wait for a silent server.", ge=0.1)
    body: Body = option(
        (), "A field of requests to a server, or a JSON object of several; null leaves one out."
        " May be repeated.", metavar="KEY=VALUE",
    )  # fmt: skip

    @property
    def asking(self) -> Asking:
        """The settings under which a model is asked.

        Raises:
            UsageError: options do not go together.
        """
        return Asking(
            policy=self.policy(Policy()),
            kind=self.kind,
            tokenizer=lasting_name(self.tokenizer) if self.tokenizer else "",
            device=self.device,
            batch_size=self.batch_size,
            batch_tokens=self.batch_tokens,
            concurrency=self.concurrency,
            timeout_s=self.timeout,
            body=parse_body(self.body) if self.body else {},
        )

    def policy(self, base: Policy) -> Policy:
        """The policy under which models score texts.

        Args:
            base: the conventions that hold where these options say nothing.

        Raises:
            UsageError: options do not go together.
        """
        declared = {field.name for field in fields(Policy)} & type(self).model_fields.keys()
        parsed = {"model_args", "tokenizer_args"}
        chosen = {name: getattr(self, name) for name in declared - parsed}
        given = {name: value for name, value in chosen.items() if value is not None}
        args = parse_model_args(
            self.model_args,
            allow_pickle=self.allow_pickle,
            trust_remote_code=self.trust_remote_code,
        )
        of_tokenizer = parse_tokenizer_args(self.tokenizer_args)
        return replace(base, model_args=args, tokenizer_args=of_tokenizer, **given)


class ScoringOptions(ModelOptions):
    """The options of scoring texts."""

    pll: PllRule | None = option(
        None, "Pseudo-log-likelihood of masked models; within-word-l2r by default."
    )
    punctuation: PunctuationRule | None = option(
        None, "split (the default): a mark is a word of its own; keep: part of its word."
    )
    segmenter: SegmenterRule | None = option(
        None,
        "Words of Chinese, Thai and the like: letters (the default), icu, or the suite's bars.",
    )
    leading_blank: bool | None = option(None, "Put a space before every text.")
    boundary: BoundaryRule | None = option(None, "Correction for word boundaries; none by default.")
    boundary_eos: bool | None = option(
        None, "Whether EOS ends a word in the correction for word boundaries."
    )
    boundary_first: FirstWordRule | None = option(
        None, "Divisor of a text's first word in the correction: initial (the default) or none."
    )
    mc_samples: int | None = option(
        None, "Number of samples for models of masked diffusion; 128 by default.", ge=8
    )
    mc_seed: int | None = option(
        None, "Seed of the samples for models of masked diffusion; 0 by default.", ge=0
    )
    window: WindowRule = option("refuse", "What to do with texts longer than the model's window.")
    stride: int | None = option(None, "Step of a sliding window.", ge=1)
    context: str = option("", "Context put before every text, not scored.")
    store: Texts = option(
        (), "Also store of each token: logit, log_sigmoid_sum, entropy_nats, rank, unigram_nats."
    )
    layers: str = option(
        "",
        "Also store each token's log-probability after these layers; 0 is before the first.",
        metavar="all|N,N...",
    )

    @property
    def asking(self) -> Asking:
        """The settings under which a model is asked about free texts.

        Raises:
            UsageError: options do not go together.
        """
        need_segmenter(self.segmenter)
        return replace(
            super().asking,
            context=Context(text=self.context),
            columns=(*parse_columns(self.store), *parse_layers(self.layers)),
        )


class JudgingOptions(Options):
    """The options of judging answers; a paradigm takes those it declares and refuses the others."""

    metric: Metric | None = option(
        None, "How a region's tokens become one value. Default: that of the suite, or sum."
    )
    predictions: Texts = option(
        (),
        "A formula, or the name or number of one of the suite's. May be repeated.",
        flags=("--prediction",),
    )
    unit: UnitName | None = option(None, "Unit of numbers in formulas; bits by default.")
    measures: Annotated[Texts, BeforeValidator(names_of_measures)] = option(
        (),
        "Judge whole sentences by these measures: lp,penlp:0.8,slor ... (`cimento models measures`"
        " lists them). Default: regions, as the suite's predictions say; of rated sentences lp,"
        " meanlp, penlp and the perplexity.",
        flags=("--measure",),
    )
    unigrams: str | None = option(
        None, "Frequencies for slor and normlp: model, wordfreq, wordfreq:it or a file."
    )
    unscored_first: FirstTokenRule | None = option(
        None, "A first token without left context: missing, drop or zero."
    )
    ties: TieRule | None = option(None, "tie (no pass) or pass: what exactly equal sides count as.")
    near_ties: float | None = option(
        None,
        "Threshold of near ties in bits; by default it depends on the number format.",
        metavar="BITS",
        ge=0.0,
    )
    cluster: Texts = option(
        (), "Columns of the items that say which belong together, in place of the suite's own; two"
        " or more, as in template,verb, are crossed.",
        metavar="COLUMN,...",
    )  # fmt: skip
    seed: int | None = option(None, "Seed of the simulated chance levels; 0 by default.")
    set: Settings = option(
        {},
        "An option of this kind of suite, such as k=20 for cloze tests. May be repeated.",
        metavar="KEY=VALUE",
    )

    @property
    def given(self) -> dict[str, object]:
        """The options given for paradigms, by the names they have there."""
        named = {
            "metric": self.metric,
            "predictions": self.predictions or None,
            "unit": self.unit,
            **on_measures(self.measures),
            "unigrams": self.unigrams,
            "unscored_first": self.unscored_first,
            "ties": self.ties,
            "near_tie_bits": self.near_ties,
            "cluster": ",".join(self.cluster) or None,
            "seed": self.seed,
        }
        stated = {name: value for name, value in named.items() if value is not None}
        return {**stated, **self.set}


class RunOptions(ScoringOptions, JudgingOptions, TargetOptions):
    """The options of a run: everything that can be chosen except the options of a single paradigm.

    An option that several paradigms share has a flag (``--seed``); the others are given with
    ``--set``. A paradigm refuses an option that it does not declare.
    """

    compat: str | None = option(
        None,
        "Conventions of minicons, lm-eval, babylm or syntaxgym. lm-eval's own options work too.",
    )
    language: str = option(
        "",
        "Language of a table that does not state one: ISO 639-1 code (it, es ...), or 639-3 if"
        " there is none (gsw).",
    )
    columns: Texts = option(
        (), "Which columns of a table are what: good=A,bad=B,item=ID,phenomenon=P."
    )
    context_column: str = option("", "Extra column of the suite with the context of each text.")
    limit: int | None = option(
        None, "Only so many items of each suite, of each phenomenon in turn.", ge=1
    )
    adaptive: bool = option(default=False, help="Ask in random order until --precision is reached.")
    precision: float | None = option(
        None,
        "With --adaptive: stop when half the width of the accuracy's interval is at most this;"
        " 0.1 by default.",
        metavar="SHARE", ge=0.001, le=0.499,
    )  # fmt: skip
    all_tokens: bool = option(
        default=False, help="Score every token, not only those that predictions need."
    )
    spec: Path | None = option(None, "Model spec (JSON) of recorded surprisals.")
    recorded_unit: UnitName = option("bits", "Unit of recorded surprisals.")
    prices: Path | None = option(
        None, "Prices of servers' models: TSV or TOML with model, input, output (each for a million"
        " tokens) and currency.", where="this run",
    )  # fmt: skip
    no_cache: bool = option(default=False, help="Do not keep answers between runs.")
    force: bool = option(
        default=False, help="Repeat runs that are already stored.", where="this run"
    )
    from_file: bool = Field(default=False, exclude=True)

    @property
    def roles(self) -> dict[str, str]:
        """The columns of bare tables by their roles: what ``--columns`` gives.

        Raises:
            UsageError: there is no such role.
        """
        return parse_choice(",".join(self.columns))

    @property
    def scoring(self) -> Asking:
        """The settings under which the engine asks models about suites.

        Raises:
            UsageError: options do not go together.
        """
        base = find_compat(self.compat) if self.compat else OURS
        return replace(
            self.asking,
            policy=self.policy(base.policy),
            context=Context(text=self.context, column=self.context_column),
            all_tokens=self.all_tokens,
            columns=(
                *parse_columns(self.store),
                *columns_needed(judged_on(self.measures or base.measures)),
                *parse_layers(self.layers),
            ),
            own_blank=self.leading_blank is not None,
            limit=self.limit,
            precision=precision_to_reach(self.precision, adaptive=self.adaptive),
            order_seed=(self.seed or 0) if self.adaptive else 0,
            spec=self.spec,
            recorded_unit=self.recorded_unit,
        )

    @property
    def given(self) -> dict[str, object]:
        """The options given for paradigms, over the conventions that ``compat`` names."""
        conventions = find_compat(self.compat) if self.compat else OURS
        usual = {} if self.measures else on_measures(conventions.measures)
        return {**conventions.judging, **usual, **super().given}

    @property
    def run_file(self) -> dict[str, JsonValue]:
        """The contents of the run file for manifests, without secrets; empty without a run file."""
        from cimento.models.registry import shown_name

        if not self.from_file:
            return {}
        models: list[JsonValue] = [shown_name(model) for model in self.models]
        return {**self.stated(), "models": models}

    def stated(self) -> dict[str, JsonValue]:
        """The options that may be recorded and differ from their defaults, by run-file keys."""
        plain = self.model_dump(mode="json", exclude_defaults=True)
        recorded = recorded_fields(type(self))
        return {name: value for name, value in plain.items() if name in recorded}


NO_KEYWORDS = frozenset({*TargetOptions.model_fields, "set", "from_file"}) - {"output"}
"""The options of the command line that functions do not take."""


def refuse_no_keywords(values: Mapping[str, object]) -> None:
    """Refuse keyword arguments that are options of the command line alone.

    Raises:
        UsageError: there is one.
    """
    for name in sorted(values.keys() & NO_KEYWORDS):
        given, todo = values[name], "Leave it out."
        if name == "set":
            named = given if isinstance(given, Mapping) and given else {"k": 20}
            plain = ", ".join(f"{key}={value!r}" for key, value in named.items())
            todo = f"Give the option itself: {plain}."
        elif name in ("suites", "models"):
            todo = "Give suites first, then models: evaluate(SUITE, MODEL), or evaluate_all."
        raise UsageError(
            where=f"option {name}", seen="it is of the command line, not of Python", todo=todo
        )


def from_names(values: Mapping[str, object]) -> RunOptions:
    """The options of a run from keyword arguments, among which are options of paradigms.

    Args:
        values: options of `RunOptions` and of the paradigms of the suites, by name.

    Raises:
        UsageError: an option is of the command line alone, or does not take the value given.
    """
    refuse_no_keywords(values)
    refuse_paradigm_names(values)
    if isinstance(roles := values.get("columns"), Mapping):
        values = {**values, "columns": [f"{role}={column}" for role, column in roles.items()]}
    run_values = {name: value for name, value in values.items() if name in RunOptions.model_fields}
    others = {name: value for name, value in values.items() if name not in run_values}
    return checked(RunOptions, {**run_values, "set": {**others}})


def run_option(name: str) -> Any:  # noqa: ANN401  # pydantic's field, in the place of a value
    """An option of runs, for use among other options."""
    return copy(RunOptions.model_fields[name])
