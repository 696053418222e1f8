"""``cimento suites audit``: what makes a suite easier or harder than it seems."""

from __future__ import annotations

import dataclasses
import json as json_module
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import show
from cimento.cli.frequencies import zipf_frequencies_if_any
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.api import LoadedSuite
    from cimento.models.base import Scorer
    from cimento.paradigms.regions.audit import Audit, Baseline
    from cimento.suites.model import Suite

_MOST_NAMED = 12
_WHAT_TO_DO = (
    "    Give the four conditions the same beginnings and lengths there, or look where DD arises:",
    "    cimento report RUN --table regions",
)


def audit_suites(
    suites: Annotated[
        list[str], typer.Argument(metavar="SUITE...", help="Built-in names or paths.")
    ],
    *,
    model: Annotated[str, options.option("-m", "--model", help="Whose tokens are looked at.")] = "",
    baseline: Annotated[
        list[str] | None,
        options.option("--baseline", help="A cheap model to try, such as kenlm:FILE. Repeatable."),
    ] = None,
    region: Annotated[
        list[int] | None,
        options.option("--region", help="The target's region, where formulas leave it open."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Report tokens, balance, overlap, confounds, and the items that frequency or n-grams solve."""
    from cimento.api import load_suites
    from cimento.paradigms.regions.audit import audit_suite
    from cimento.suites.model import Suite

    loaded = list(load_suites(suites))
    asked = {"--model": model, "--baseline": baseline, "--region": region}
    for each in loaded:
        if not isinstance(each.suite, Suite):
            _refuse(each, [name for name, value in asked.items() if value])
    scorer, unknown = _scorer(model) if model else (None, "")
    records, texts = [], []
    for each in loaded:
        suite = each.suite
        if not isinstance(suite, Suite):
            record = each.paradigm.audit(each.reading).record
            records.append(record)
            texts.append(json_module.dumps(record, ensure_ascii=False, indent=1))
            continue
        audited = audit_suite(
            suite,
            scorer=scorer,
            unknown_token=unknown,
            frequency=zipf_frequencies_if_any(suite.meta.language),
            regions=tuple(region or ()),
            baselines=[_baseline(name, suite) for name in baseline or ()],
        )
        records.append(dataclasses.asdict(audited))
        texts.append(_as_text(audited))
    as_json = json_module.dumps(records, ensure_ascii=False, indent=2)
    show(as_json if json else "\n\n".join(texts))


def _refuse(loaded: LoadedSuite, given: Sequence[str]) -> None:
    """See that nothing is wanted of a suite that only suites of sentences have.

    Raises:
        UsageError: something is.
    """
    from cimento.errors import UsageError

    if given:
        raise UsageError(
            where=given[0],
            seen=f"{loaded.suite.name} is a suite of the paradigm {loaded.paradigm.name!r}, and"
            " only sentences in regions are looked at so",
            todo="Leave it out.",
        )


def _scorer(model: str) -> tuple[Scorer, str]:
    """A model that shows its tokens, and what it writes for what it does not know."""
    from cimento.errors import UsageError
    from cimento.models.base import TextScorer
    from cimento.models.hf.inspection import Inspectable
    from cimento.models.registry import Asking, open_scorer

    scorer = open_scorer(model, Asking(device="cpu"))
    if isinstance(scorer, TextScorer):
        raise UsageError(
            where=f"--model {model}",
            seen="its tokens cannot be seen before it answers",
            todo="Give a model that is loaded here.",
        )
    inside = scorer.inside() if isinstance(scorer, Inspectable) else None
    return scorer, str(inside.tokenizer.unk_token or "") if inside else ""


def _baseline(name: str, suite: Suite) -> Baseline:
    from cimento.api import evaluate
    from cimento.paradigms.regions.audit import Baseline
    from cimento.paradigms.regions.judging import ALL

    run = evaluate(suite, name)
    outcomes = run.outcomes().filter(question=ALL).drop_nulls("right")
    solved = tuple(outcomes.filter("right")["item"])
    reason = "" if len(outcomes) else "it scores none of the items"
    return Baseline(name=name, n=len(outcomes), solved=solved, reason=reason)


def _as_text(found: Audit) -> str:
    rows: list[tuple[str, ...]] = [
        ("condition", "words", "characters", "tokens", "in the target", "Zipf")
    ]
    rows += [
        (
            each.condition,
            *(
                "-" if value is None else f"{value:.2f}"
                for value in (
                    each.words,
                    each.characters,
                    each.tokens,
                    each.target_tokens,
                    each.zipf,
                )
            ),
        )
        for each in found.conditions
    ]
    lines = [
        f"{found.suite}: {found.n_items} items; "
        + (found.target or "the predictions name no single target (see --region)"),
        columns(rows, indent=2),
        _told("target cut into more tokens in one condition", found.split_unequally),
        _told("unknown tokens", [f"{i} {c} ({n})" for i, c, n in found.unknown]),
        _told("conditions that differ elsewhere too", found.other_contexts),
        _told("the same context", [" = ".join(ids) for ids in found.same_contexts]),
        _told("overlapping words", [f"{a} and {b} ({v:.2f})" for a, b, v in found.overlapping]),
    ]
    lines += [f"  solved by {each.name}: {_share(each)}" for each in found.baselines]
    return "\n".join([*lines, *_confounds(found)])


def _confounds(found: Audit) -> list[str]:
    """What is in DD besides what the design is about, and what to do about it."""
    if found.confounds is None:
        return []
    rows = [
        f"    {each.phenomenon}, {each.condition}, region {each.region} ({each.region_name}): "
        f"{each.detail}, in {len(each.items)} of {each.n_items} items"
        for each in found.confounds
    ]
    return [
        f"  confounded with the interaction of the factors, so part of DD: {len(rows)}",
        *rows,
        *(_WHAT_TO_DO if rows else ()),
    ]


def _told(title: str, items: Sequence[str]) -> str:
    shown = ", ".join(items[:_MOST_NAMED]) + (" ..." if len(items) > _MOST_NAMED else "")
    return f"  {title}: {len(items)}" + (f": {shown}" if items else "")


def _share(baseline: Baseline) -> str:
    if baseline.reason:
        return baseline.reason
    return f"{len(baseline.solved)} of {baseline.n} items"
