"""``cimento suites audit`` and ``probe``: what makes a suite easier, or harder, than it seems.

A probe is a classifier on sentence vectors, as a contrast to probabilities.
"""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.cli.console import in_columns, show, show_json
from cimento.cli.flags import SuitesOptions, command_of
from cimento.cli.resources import zipf_frequencies_if_any
from cimento.errors import UsageError, counted
from cimento.faults import CHECKS
from cimento.io.declared import Texts, option
from cimento.kinds.clusters import in_clusters
from cimento.kinds.registry import LoadedSuite, load_suites, sentence_suite
from cimento.models.registry import open_scorer
from cimento.models.settings import Asking
from cimento.options import run_option
from cimento.paradigms import ratings, regions
from cimento.report.formatting import number, rate_as_text
from cimento.suites import Suite
from cimento.suites.diversity import EQUAL_ITEMS, MOST_ITEMS, mostly_alike

if TYPE_CHECKING:
    from cimento.models.base import Scorer

_MOST_NAMED = 12
_WHAT_TO_DO = (
    "    Give the four conditions the same beginnings and lengths there, or look where DD arises:",
    "    cimento report RUN --table regions",
)


class AuditOptions(SuitesOptions):
    """The suites, and what their sentences are compared with."""

    model: str = option("", "Model whose tokens are examined.", flags=("-m",))
    baseline: Texts = option((), "A cheap model to try, such as kenlm:FILE. Repeatable.")
    region: list[int] | None = option(None, "Region of the target, if formulas do not name it.")
    language: str = run_option("language")
    as_json: bool = run_option("as_json")


@command_of
def audit_suites(options: AuditOptions) -> None:
    """Report tokens, balance, overlap, confounds, and the items that frequency or n-grams solve."""
    loaded = list(load_suites(options.suites, language=options.language))
    asked = {f"--{name}": getattr(options, name) for name in ("model", "baseline", "region")}
    for loaded_suite in loaded:
        _refuse(loaded_suite, [name for name, value in asked.items() if value])
    scorer, unknown = _scorer(options.model) if options.model else (None, "")
    records: list[object] = []
    texts = []
    for loaded_suite in loaded:
        suite = loaded_suite.sentences
        if suite is None:
            record = loaded_suite.paradigm.reader.audit(loaded_suite.reading).record
            records.append(record)
            texts.append(json_module.dumps(record, ensure_ascii=False, indent=1))
            continue
        audited = regions.audit_region_suite(
            suite,
            scorer=scorer,
            unknown_token=unknown,
            frequency=zipf_frequencies_if_any(suite.meta.language),
            regions=tuple(options.region or ()),
            baselines=[_baseline(name, suite) for name in options.baseline],
        )
        records.append(audited)
        texts.append(audit_as_text(audited))
    if options.as_json:
        show_json({"suites": records})
    else:
        show("\n\n".join(texts))


def _refuse(loaded: LoadedSuite, given: Sequence[str]) -> None:
    """Refuse options that apply only to suites of sentences.

    Raises:
        UsageError: there is such an option.
    """
    if given and loaded.sentences is None:
        raise UsageError(
            where=given[0],
            seen=f"{loaded.suite.name} is a suite of the kind {loaded.paradigm.name!r}, and"
            " only sentences in regions are looked at so",
            todo="Leave it out.",
        )


def _scorer(model: str) -> tuple[Scorer, str]:
    """A model that shows its tokens, and its unknown token."""
    from cimento.models.base import TextScorer
    from cimento.models.hf.inside import Inspectable

    scorer = open_scorer(model, Asking(device="cpu"))
    if isinstance(scorer, TextScorer):
        raise UsageError(
            where=f"--model {model}",
            seen="its tokens cannot be seen before it answers",
            todo="Give a model that is loaded here.",
        )
    inside = scorer.inside() if isinstance(scorer, Inspectable) else None
    return scorer, str(inside.tokenizer.unk_token or "") if inside else ""


def _baseline(name: str, suite: Suite) -> regions.Baseline:
    from cimento.evaluation import evaluate

    return regions.Baseline.of_run(name, evaluate(suite, name))


_TITLES = {
    "split": "target cut into more tokens in one condition",
    "unknown": "unknown tokens",
    "elsewhere": "conditions that differ elsewhere too",
    "unlike": "hardly a word in common",
    "same": "groups with the same context",
    "marked": "judgment marks in sentences",
    "overlapping": "overlapping words",
}
_TOKEN_OPTIONS = ("split", "unknown")


def plain_audits(suites: Sequence[Suite]) -> str:
    """The audits of suites of sentences as text, without a model.

    Args:
        suites: of any languages; frequencies are looked up once for each language.
    """
    languages = dict.fromkeys(suite.meta.language for suite in suites)
    frequencies = {language: zipf_frequencies_if_any(language) for language in languages}
    audits = (
        regions.audit_region_suite(suite, frequency=frequencies[suite.meta.language])
        for suite in suites
    )
    return "\n\n".join(map(audit_as_text, audits))


def audit_as_text(audit: regions.Audit) -> str:
    """An audit in words; without a model, nothing is known of tokens."""
    header = ("condition", "words", "characters", "tokens", "in the target", "Zipf")
    means = ("words", "characters", "tokens", "target_tokens", "zipf")
    rows = [
        (one.condition, *(number(getattr(one, name), digits=2) for name in means))
        for one in audit.conditions
    ]
    lines = [
        f"{audit.suite}: {counted(audit.n_items, 'item')}; "
        + (audit.target or "the predictions name no single target (see --region)"),
        in_columns(header, rows, indent=2),
        *(
            f"  {_TITLES[name]}: - (unknown without a model: -m)"
            if name in _TOKEN_OPTIONS and audit.no_tokens
            else _told(_TITLES[name], items)
            for name, items in audit.remarks().items()
        ),
    ]
    lines += _diversity(audit)
    lines += [f"  solved by {baseline.name}: {_share(baseline)}" for baseline in audit.baselines]
    return "\n".join([*lines, *_ngrams(audit), *_confounds(audit)])


def _diversity(audit: regions.Audit) -> list[str]:
    """Types and tokens, the words of each region that recur, and items made after one template."""
    found = audit.diversity
    equal = f"no ratio of {EQUAL_ITEMS} items, as there are fewer"
    if found.types_of_equal is not None:
        ratio = number(found.ratio_of_equal, digits=2)
        equal = f"in {EQUAL_ITEMS} items {found.types_of_equal:.1f} types, type/token {ratio}"
    lines = [f"  different words: {found.n_types:,} types, {found.n_tokens:,} tokens; {equal}"]
    for region in found.regions:
        items = [f"{text} ({_named(ids)})" for text, ids in region.repeated]
        title = f"{region.region}: {region.n_forms:,} different; in several items"
        lines.append(_told(f"  {title}", items))
    if found.templates is None:
        return [*lines, f"  items made after one template: - (more than {MOST_ITEMS:,} items)"]
    groups = [f"items {_named(group)}" for group in found.templates]
    lines.append(_told("groups that differ in a quarter of the words or fewer", groups))
    if said := mostly_alike(found.templates, audit.n_items):
        lines.append(f"    CIM-S076: {said} {CHECKS['CIM-S076'].todo}")
    return lines


def _ngrams(audit: regions.Audit) -> list[str]:
    """The accuracy of n-grams, and a warning if it is not near chance."""
    known = [ngram for ngram in audit.ngrams if ngram.accuracy is not None]
    lines = [
        f"  {ngram.name} of half the pairs, tried on the other half: {ngram.accuracy:.2f} right"
        for ngram in known
    ]
    if any(ngram.is_high for ngram in known):
        lines.append(
            f"    Over {known[0].NEAR_CHANCE:.2f}: words alone tell good from bad, as in pairs in"
            " which the same word is always bad."
        )
    return lines


def _confounds(audit: regions.Audit) -> list[str]:
    """The confounds that contribute to DD, and what to do about them."""
    if audit.confounds is None:
        return []
    rows = [
        f"    {confound.phenomenon}, {confound.condition}, region {confound.region}"
        f" ({confound.region_name}): {confound.detail},"
        f" in {len(confound.items)} of {counted(confound.n_items, 'item')}"
        for confound in audit.confounds
    ]
    return [
        f"  confounded with the interaction of the factors, so part of DD: {len(rows)}",
        *rows,
        *(_WHAT_TO_DO if rows else ()),
    ]


def _told(title: str, items: Sequence[str]) -> str:
    between = "; " if any(", " in item for item in items) else ", "
    return f"  {title}: {len(items)}" + (f": {_named(items, between)}" if items else "")


def _named(items: Sequence[str], between: str = ", ") -> str:
    return between.join(items[:_MOST_NAMED]) + (" ..." if len(items) > _MOST_NAMED else "")


def _share(baseline: regions.Baseline) -> str:
    if baseline.reason:
        return baseline.reason
    return f"{len(baseline.solved)} of {counted(baseline.n, 'item')}"


class ProbeOptions(SuitesOptions):
    """The suites, the models, and the classifier."""

    models: Texts = run_option("models")
    layer: int = option(-1, "Layer of the vectors: 0 are the embeddings, -1 is the last.")
    folds: int = option(5, "Parts of the items, each classified from the others.", ge=2)
    cluster: Texts = run_option("cluster")
    language: str = run_option("language")
    device: str = run_option("device")
    seed: int = run_option("seed")
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))


@command_of
def probe_suites(options: ProbeOptions) -> None:
    """Classify sentences as acceptable by a logistic regression on a model's sentence vectors.

    It is a supervised contrast: fitted to the labels of other items, where probabilities are judged
    without any. Labels come from predictions, from columns grammaticality or label, or from
    ratings above the middle of the scale. No item is in the part that classifies it.
    """
    from cimento.models.hf.inside import Inspectable

    if not options.models:
        raise UsageError(where="--model", seen="no models are given", todo="Give -m MODEL.")
    loaded = [sentence_suite(one) for one in load_suites(options.suites, language=options.language)]
    chosen = [name for text in options.cluster for name in text.split(",") if name]
    grouped = [in_clusters(suite, chosen) for suite in loaded] if chosen else loaded
    sentences = {suite.name: ratings.labeled_sentences(suite) for suite in grouped}
    probes: list[ratings.Probe] = []
    for model in options.models:
        scorer = open_scorer(model, Asking(device=options.device))
        if not isinstance(scorer, Inspectable):
            raise UsageError(
                where=f"--model {model}",
                seen="its hidden states cannot be seen",
                todo="Give a model that is loaded here: a folder, or a name on the hub.",
            )
        from cimento.models.hf.sites import sentence_vectors

        inside = scorer.inside()
        for name, one in sentences.items():
            vectors = sentence_vectors(inside, one.texts, layer=options.layer)
            probes.append(
                ratings.probe_sentences(
                    one,
                    vectors,
                    suite=name,
                    model=scorer.card.label,
                    layer=options.layer,
                    folds=options.folds,
                    seed=options.seed,
                )
            )
    if options.as_json:
        show_json({"probes": probes})
    else:
        show(_probes_as_text(probes))


def _probes_as_text(probes: list[ratings.Probe]) -> str:
    header = ("suite", "model", "sentences", "acceptable", "AUC", "95% interval", "right", "MCC")
    rows = [
        (
            one.suite,
            one.model,
            one.sentences,
            one.acceptable,
            rate_as_text(one.auc),
            None if one.low is None else f"[{one.low:.3f}, {one.high:.3f}]",
            rate_as_text(one.accuracy),
            rate_as_text(one.mcc),
        )
        for one in probes
    ]
    fitted = "Logistic regression on the mean of the tokens' hidden states, fitted to other items"
    notes = [
        f"{fitted} ({probes[0].folds} folds).",
        "AUC: how often an acceptable sentence is above one that is not; 0.5 by chance.",
    ]
    left_out = {one.suite: one.left_out for one in probes if one.left_out}
    notes += [
        f"{suite}: {counted(number, 'sentence is', 'sentences are')} left out, in the middle of the"
        " scale or without a rating."
        for suite, number in left_out.items()
    ]
    reasons = dict.fromkeys(one.reason for one in probes if one.reason)
    notes += [f"Not there: {reason}." for reason in reasons]
    return "\n".join([in_columns(header, rows), "", *notes])
