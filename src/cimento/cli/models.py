"""``cimento models`` and ``cache``: known models, properties of a model, stored answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import command_of
from cimento.errors import UsageError, counted, did_you_mean
from cimento.io.declared import Options, Texts, option
from cimento.io.inline_markup import columns
from cimento.models.base import TextScorer
from cimento.models.registry import open_scorer
from cimento.models.settings import PllRule
from cimento.options import ModelOptions

if TYPE_CHECKING:
    from cimento.engine.cache import FileCache
    from cimento.evaluation.sensitivity import Precision, ScoringComparison
    from cimento.models.base import Scorer
    from cimento.models.hf.inside import (
        Inspection,
        PlainComparison,
        TokenizerFacts,
        UnknownTokens,
    )
    from cimento.models.hf.stored import Present
    from cimento.models.settings import Asking, Policy
    from cimento.suites import Suite
    from cimento.testing import Finding


FAILED = 1

_NAMES = (
    ("demo-causal, demo-masked", "the demo models"),
    ("path/to/folder", "what save_pretrained wrote, or a PEFT adapter"),
    ("org/name, org/name@revision", "of the Hugging Face hub"),
    ("openai:URL#model", "behind a server"),
    ("kenlm:FILE", "an n-gram model"),
    ("gguf:FILE", "a GGUF file, by llama.cpp"),
    ("replay:FILE", "recorded surprisals"),
)


class ListOptions(Options):
    """The options of listing models."""

    as_json: bool = option(default=False, help="Print the models as JSON.", flags=("--json",))


@command_of
def list_models(options: ListOptions) -> None:
    """List the demo models, the ways to name a model, and the contents of the hub's cache."""
    from cimento.io.plugins import plugin_names
    from cimento.models.hf.names import hub_cache
    from cimento.models.hf.stored import cached_models, demo_models

    names = [*_NAMES, *((f"{name}:...", "a plug-in") for name in plugin_names("cimento.models"))]
    folder = hub_cache()
    cached = [] if folder is None else cached_models(folder)
    if folder is None:
        note("The hub's cache is not looked at: huggingface_hub is not installed.")
    if options.as_json:
        show_json(
            {
                "forms": [{"form": form, "what": what} for form, what in names],
                "models": [
                    {**asdict(model), "last_used": model.last_used and str(model.last_used)}
                    for model in [*demo_models(), *cached]
                ],
                "cache": folder and str(folder),
            }
        )
        return
    show("ways to name a model\n" + columns(names, indent=2))
    show("\nmodels that come with cimento\n" + _present(demo_models()))
    if folder is not None:
        show(f"\nmodels of the hub in {folder}\n" + (_present(cached) if cached else "  none"))


class _CheckOptions(ModelOptions):
    """The model to check, and the texts."""

    model: str = option(..., "As for cimento run --model.", argument="MODEL")
    suites: Texts = option(
        (), "Texts to try it on; built-in names or paths.", argument="[SUITE]..."
    )
    language: str = option("", "Without SUITE: the built-in suites of this language.")
    texts: int = option(20, "How many texts are scored in batches and one by one.", ge=1)
    precision: bool = option(
        default=False,
        help="Also measure how far scores and margins move with the batch and against a wider"
        " number format, in which the model is loaded again.",
    )
    as_json: bool = option(default=False, help="Print everything as JSON.", flags=("--json",))
    pll: PllRule | None = option(
        None, "Pseudo-log-likelihood of masked models; within-word-l2r by default."
    )


@command_of
def check(options: _CheckOptions) -> int:
    """Show how a model is scored (kind, tokenizer, window, first token), and check its scores here.

    Scores in batches must equal those of one text at a time, and the model must pass the checks of
    the list that is printed; otherwise the exit code is 1. Worth a minute before a long evaluation.
    """
    from cimento.engine.handle import ModelHandle
    from cimento.kinds.registry import load_suites, sentence_suite
    from cimento.testing import check_model

    named = [sentence_suite(suite) for suite in load_suites(options.suites)]
    loaded = named or _default_suites(options.language)
    handle = ModelHandle(options.model, options.asking)
    scorer, asking = handle.scorer, handle.scoring
    inspection = _inspected(scorer, _texts(loaded), asking.policy, n_compared=options.texts)
    findings = check_model(scorer, policy=asking.policy)
    if inspection.tokenizer is not None and not inspection.tokenizer.knows_capitals:
        note(f"warning: {options.model}: capital letters are {_NO_CAPITALS}.")
    moved = _precision(options.model, scorer, loaded, asking) if options.precision else None
    if options.as_json:
        show_json(_plain(inspection, findings, moved))
    else:
        show(_described(inspection, findings, moved))
    differs = inspection.comparison is not None and not inspection.comparison.agrees
    return FAILED if differs or not all(finding.passed for finding in findings) else 0


def _inspected(
    scorer: Scorer | TextScorer,
    texts: Mapping[str, Sequence[str]],
    policy: Policy,
    *,
    n_compared: int,
) -> Inspection:
    """The properties of a model; of one that takes only whole texts, nothing but its card."""
    from cimento.models.hf.inside import Inspectable, Inspection

    if isinstance(scorer, TextScorer) or not isinstance(scorer, Inspectable):
        return Inspection(card=scorer.card, notes=getattr(scorer, "notes", ()))
    from cimento.models.hf.inspection import inspect_model

    return inspect_model(scorer, texts, policy=policy, n_compared=n_compared)


def _default_suites(language: str) -> list[Suite]:
    """The built-in suites of a language with predictions about sentences; or one per language.

    Args:
        language: ISO 639-1 code; empty for the first suite of each language.

    Raises:
        UsageError: there is none in this language.
    """
    from cimento.kinds.registry import load_suite
    from cimento.suites.builtin import list_builtin

    by_language: dict[str, list[Suite]] = {}
    for builtin in list_builtin():
        if builtin.language != language if language else builtin.language in by_language:
            continue
        suite = load_suite(builtin.name).sentences
        if suite is not None and suite.predictions:
            by_language.setdefault(builtin.language, []).append(suite)
    if not by_language:
        raise UsageError(
            where=f"--language {language}",
            seen="there is no built-in suite in this language",
            todo=did_you_mean(language, {builtin.language for builtin in list_builtin()}),
        )
    return [suite for suites in by_language.values() for suite in suites]


def _texts(suites: Sequence[Suite]) -> dict[str, list[str]]:
    """The texts of some suites, by suite name."""
    from cimento.suites.stimuli import stimulus_text

    return {
        suite.name: [stimulus_text(condition, rule=suite.join) for _, condition in suite.stimuli()]
        for suite in suites
    }


def _precision(
    model: str, scorer: Scorer | TextScorer, suites: Sequence[Suite], asking: Asking
) -> Precision:
    """The movement of scores, also against a wider number format if there is one."""
    from dataclasses import replace

    from cimento.evaluation.sensitivity import WIDER, measure_precision
    from cimento.models.hf.inside import Inspectable

    policy, wider = asking.policy, None
    if policy.dtype != "auto" and policy.dtype in WIDER and isinstance(scorer, Inspectable):
        wide = replace(policy, dtype=WIDER[policy.dtype])
        wider = open_scorer(model, replace(asking, policy=wide))
    return measure_precision(suites, scorer, policy=policy, wider=wider)


def _present(models: Sequence[Present]) -> str:
    return columns(
        [
            (
                f"{model.name}@{model.revision[:7]}",
                model.kind or "no language model",
                f"{model.size_bytes / 1e6:.1f} MB",
                f"last used {model.last_used}" if model.last_used else "",
            )
            for model in models
        ],
        indent=2,
    )


def _described(
    inspection: Inspection, findings: Sequence[Finding], precision: Precision | None
) -> str:
    """An inspection as text."""
    card = inspection.card
    rows = [
        ("kind", card.kind),
        *(
            row
            for row in card.details.items()
            if inspection.tokenizer is None or row[0] != "tokenizer"
        ),
        ("dtype", card.dtype),
        ("device", card.device),
        ("window", f"{card.window} tokens" if card.window else "no limit is known"),
        *(("warning", note) for note in inspection.notes),
    ]
    if inspection.tokenizer is not None:
        rows += _tokenizer_rows(inspection.tokenizer)
    if inspection.unknown:
        rows += _unknown_rows(inspection.unknown)
    if inspection.comparison is not None:
        rows += _comparison_rows(inspection.comparison)
    else:
        drawn = card.kind == "diffusion"
        why = "scores are means over samples" if drawn else "the model cannot be looked into"
        rows.append(("fast and plain", f"not compared: {why}"))
    if precision is not None:
        rows += _precision_rows(precision)
    table = columns([row for row in rows if row[1]], indent=2)
    return "\n".join([card.label, table, "", "checks", *(f"  {finding}" for finding in findings)])


_NO_CAPITALS = "in no token, and not lower-cased: give --lowercase to run, score and fill"


def _tokenizer_rows(facts: TokenizerFacts) -> list[tuple[str, str]]:
    chat = "none"
    if facts.system_role is not None:
        refusal = f" ({facts.refusal})" if facts.refusal else ""
        chat = f"present; a system message is {facts.system_role}{refusal}"
    corrected = "cannot be corrected (--boundary auto does nothing)"
    if facts.boundary != "none":
        corrected = f"--boundary auto corrects them by {facts.boundary}"
    return [
        ("tokenizer", facts.kind),
        ("marks of words", facts.marks),
        ("word boundaries", corrected),
        ("BOS policy", facts.bos),
        ("before a text", f"{facts.before} ({facts.origin})".strip()),
        ("after a text", facts.after),
        ("unknown token", facts.unknown or "none"),
        ("capitals", "" if facts.knows_capitals else _NO_CAPITALS),
        ("chat template", chat),
    ]


def _unknown_rows(counts: Sequence[UnknownTokens]) -> list[tuple[str, str]]:
    """The counts of unknown tokens, in all and in each suite that has any."""
    rows = [
        (
            "unknown tokens",
            _share(sum(e.n_unknown for e in counts), sum(e.n_tokens for e in counts))
            + f" in {len(counts)} suite{'s' if len(counts) != 1 else ''}",
        )
    ]
    rows += [
        (f"  in {count.suite}", _share(count.n_unknown, count.n_tokens))
        for count in counts
        if count.n_unknown and len(counts) > 1
    ]
    rows += [
        (f"  {count.suite}", f"{count.n_refused} of {count.n_texts} texts refused: {count.refusal}")
        for count in counts
        if count.n_refused
    ]
    return rows


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.2%})" if whole else "")


def _comparison_rows(comparison: PlainComparison) -> list[tuple[str, str]]:
    fast, plain = comparison.fast_texts_per_s, comparison.plain_texts_per_s
    verdict = "equal" if comparison.agrees else "DIFFERENT"
    size = f"{comparison.n_tokens} tokens of {comparison.n_texts} texts"
    difference = f"at most {comparison.max_difference_nats:.2g} nats apart in {size}"
    return [
        ("fast scoring", comparison.way),
        ("texts per second", f"fast {fast:.1f}   plain {plain:.1f}   ({fast / plain:.1f} times)"),
        ("fast and plain", f"{verdict}: {difference} (rounding: {comparison.tolerance_nats:g})"),
    ]


def _precision_rows(precision: Precision) -> list[tuple[str, str]]:
    rows = [
        (
            "precision",
            (
                f"{precision.n_items} items, {precision.n_texts} texts:"
                " one alone, 8 at a time, all together"
            ),
        ),
        ("  by batch", _moved(precision.by_batch)),
    ]
    if precision.by_format is not None:
        rows.append((f"  against {precision.wider}", _moved(precision.by_format)))
    bits = precision.near_tie_bits
    margins = "no margin moved" if bits is None else f"margins below {bits:g} bits"
    return [*rows, ("  near ties", margins + ("" if bits is None else f" (--near-ties {bits:g})"))]


def _moved(moved: ScoringComparison) -> str:
    """The movements in bits, and the number of verdicts that change."""
    three = (("token", moved.token), ("sentence", moved.sentence), ("margin", moved.margin))
    parts = [
        f"{name} {movement.largest:.2g} (99%: {movement.most:.2g})"
        for name, movement in three
        if movement.largest is not None and movement.most is not None
    ]
    return f"bits at most: {', '.join(parts)}; {moved.turned} of {moved.margin.n:,} verdicts turned"


def _plain(
    inspection: Inspection, findings: Sequence[Finding], precision: Precision | None
) -> dict[str, object]:
    """An inspection as JSON."""
    content: dict[str, object] = {
        **asdict(inspection),
        "agrees": inspection.comparison.agrees if inspection.comparison is not None else None,
    }
    if precision is not None:
        content["precision"] = {**asdict(precision), "near_tie_bits": precision.near_tie_bits}
    return {**content, "findings": findings}


DAMAGED = 1


class InfoOptions(Options):
    """The options of describing the cache."""

    as_json: bool = option(default=False, help="Print this as JSON.", flags=("--json",))


@command_of
def info(options: InfoOptions) -> None:
    """Print where the cache is, how many texts it contains and how large it is."""
    with _opened() as cache:
        number = cache.count()
        size = cache.path.stat().st_size
    if options.as_json:
        show_json({"path": str(cache.path), "texts": number, "size_bytes": size})
    else:
        show(f"{cache.path}\n{counted(number, 'text')} scored, {size / 1e6:.1f} MB")


def clear() -> None:
    """Delete all stored answers; stored runs are not changed."""
    from cimento.models.server.identity import FILE

    with _opened() as cache:
        cache.path.with_name(FILE).unlink(missing_ok=True)
        show(f"{cache.clear()} texts forgotten")


class VerifyOptions(Options):
    """The options of listing problems."""

    as_json: bool = option(default=False, help="Print the problems as JSON.", flags=("--json",))


@command_of
def verify(options: VerifyOptions) -> int:
    """Check every entry; the exit code is 1 if any is damaged."""
    with _opened() as cache:
        problems = cache.verify()
    if options.as_json:
        show_json({"path": str(cache.path), "problems": problems})
        return DAMAGED if problems else 0
    show("\n".join(problems) if problems else "Nothing is damaged.")
    if problems:
        show("Clear it with: cimento models cache clear, or delete the file.")
    return DAMAGED if problems else 0


def _opened() -> closing[FileCache]:
    """The cache, as a context in which it is open."""
    from cimento.engine.cache import FileCache
    from cimento.io.files import default_cache_folder

    return closing(FileCache(default_cache_folder()))
