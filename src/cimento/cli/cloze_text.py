"""The results of cloze runs as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from cimento.cloze.comparing import compare_runs
from cimento.cloze.judging.precision import Share, percent
from cimento.markup import columns
from cimento.report.wording import interval, items, signed

if TYPE_CHECKING:
    from cimento.cloze.comparing import Comparison
    from cimento.cloze.outcomes import ChoiceResult, ClozeSummary, MethodResult, Rate

Rows = list[tuple[str, ...]]


def summary_text(summaries: Sequence[ClozeSummary], *, seed: int = 0) -> str:
    """All tables: one block for each suite and model, then models compared with each other."""
    blocks = [_block(summary) for summary in summaries]
    blocks += map(_compared, compare_runs(summaries, seed=seed))
    return "\n\n".join(blocks)


def _block(summary: ClozeSummary) -> str:
    clusters = f", {summary.clusters}" if summary.clusters else ""
    lines = [f"{summary.suite} x {summary.model} ({summary.model_kind}, {summary.n_items} items)"]
    for method in summary.methods:
        lines += ["", *_method(method, summary.k)]
    if summary.choices:
        lines += ["", "forced choice", columns(list(_choice_rows(summary.choices)), indent=2)]
    lines += [f"note: {text}" for text in _notes(summary)]
    if clusters:
        lines.append(f"intervals respect clusters{clusters}")
    return "\n".join(lines)


def _method(method: MethodResult, k: int) -> Iterator[str]:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(method.kinds.items()))
    yield f"{method.method}: {sum(method.kinds.values())} candidates ({kinds})"
    if method.hits:
        yield columns(_hit_rows(method, k), indent=2)
    if method.fitting:
        yield columns(_fitting_rows(method, k), indent=2)
    for title, groups in (("acc", method.hits_by), ("P", method.fitting_by)):
        for name, own in groups.items():
            yield columns(_group_rows(name, own, title, k), indent=2)


def _hit_rows(method: MethodResult, k: int) -> Rows:
    ranks = _shown_ranks(k)
    rows: Rows = [("hits", *(f"acc@{rank}" for rank in ranks))]
    rows.append(("all items", *(_share(method.hits[rank - 1].share) for rank in ranks)))
    rows.append(("95 %", *(_interval(method.hits[rank - 1]) for rank in ranks)))
    if method.reachable:
        rows.append(("reachable", *(_share(method.reachable[rank - 1].share) for rank in ranks)))
        rows.append(("95 %", *(_interval(method.reachable[rank - 1]) for rank in ranks)))
    return rows


def _shown_ranks(k: int) -> list[int]:
    return [rank for rank in (1, 2, 3, 5, 10) if rank < k] + [k]


def _fitting_rows(method: MethodResult, k: int) -> Rows:
    rows: Rows = [("fitting", "P@1", f"P@{k}")]
    rows.append(("micro", *(_share(rate.share) for rate in method.fitting)))
    rows.append(("95 %", *(_interval(rate) for rate in method.fitting)))
    if method.fitting_mean:
        means = ("-" if mean is None else f"{100 * mean:.2f}" for mean in method.fitting_mean)
        rows.append((f"macro ({method.groups})", *means))
        rows.append(("95 %", *("a mean of groups: none" for _ in method.fitting_mean)))
    return rows


def _group_rows(name: str, groups: Mapping[str, tuple[Rate, Rate]], title: str, k: int) -> Rows:
    rows: Rows = [(name, f"{title}@1", "95 %", f"{title}@{k}", "95 %")]
    for value, rates in groups.items():
        cells = (cell for rate in rates for cell in (_share(rate.share), _interval(rate)))
        rows.append((value or "(none)", *cells))
    return rows


def _choice_rows(choices: Sequence[ChoiceResult]) -> Iterator[tuple[str, ...]]:
    yield ("rule", "target", "95 %", "per token", "95 %", "ties", "unscored", "chosen")
    for choice in choices:
        roles = ", ".join(f"{count} {role}" for role, count in sorted(choice.roles.items()))
        yield (
            choice.rule,
            _share(choice.rate.share),
            _interval(choice.rate),
            _share(choice.per_token.share) if choice.per_token else "",
            _interval(choice.per_token) if choice.per_token else "",
            str(choice.tied),
            str(choice.unscored),
            roles,
        )


def _notes(summary: ClozeSummary) -> Iterator[str]:
    for method in summary.methods:
        if method.unreachable:
            yield (
                f"{method.method}: {len(method.unreachable)} answers are several tokens and cannot "
                f"be found at one mask; the first is that of {method.unreachable[0]}"
            )
        yield from (f"{method.method}: {text}" for text in method.warnings)
        if not method.hits and not method.fitting:
            yield (
                f"{method.method}: nothing to judge by. Judge with `cimento annotate candidates`, "
                "or give --set dictionary=... where items say what they expect"
            )
    yield from summary.warnings


def _compared(found: Comparison) -> str:
    """Every pair of models, and all of them together."""
    corrected = any(pair.holm is not None for pair in found.pairs)
    rows: Rows = [
        ("hits", "first", "second", "only 1st", "only 2nd", "change", "95 %", "p")
        + (("Holm",) if corrected else ())
    ]
    for pair in found.pairs:
        row = (
            f"at {pair.k}",
            pair.first,
            pair.second,
            str(pair.only_first),
            str(pair.only_second),
            signed(pair.change.estimate, digits=3),
            interval(pair.change.low, pair.change.high),
            _p(pair.test.p),
        )
        rows.append((*row, _p(pair.holm)) if corrected else row)
    of = f" of {found.clusters} clusters" if found.clusters < found.n else ""
    lines = [
        f"{found.suite}: models compared on {found.n} items{of}; change: second minus first",
        columns(rows, indent=2),
        *(f"  {text}" for text in _about(found)),
    ]
    return "\n".join(lines)


def _about(found: Comparison) -> Iterator[str]:
    """How the tests were made, what is missing, and what must be known of the models."""
    methods = dict.fromkeys(pair.test.method for pair in found.pairs)
    family = f"; Holm over these {len(found.pairs)} tests" if len(found.pairs) > 1 else ""
    yield f"p: {', '.join(methods)}{family}"
    missing = dict.fromkeys(
        reason
        for pair in found.pairs
        for reason in (pair.change.reason, pair.test.reason)
        if reason
    )
    yield from (f"not there: {reason}" for reason in missing)
    for k, test in found.together.items():
        yield f"all models, hits at {k}: {test.method}, p {_p(test.p)}" + (
            f" ({test.reason})" if test.reason else ""
        )
    if found.left_out:
        yield f"without {items(found.left_out)} that some model was not asked"
    if found.note:
        yield found.note


def _share(share: Share) -> str:
    if not share.n:
        return "-"
    return f"{percent(Fraction(share.correct, share.n)):.2f} ({share.correct}/{share.n})"


def _interval(rate: Rate) -> str:
    low, high = rate.interval.low, rate.interval.high
    if low is None or high is None:
        return rate.interval.reason or "-"
    return f"{100 * low:.1f} to {100 * high:.1f}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"  # noqa: PLR2004  # four decimals
