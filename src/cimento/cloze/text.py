"""The results of cloze runs as text: one block for each suite and model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from cimento.cloze.answers import FITS, ClozeAnswers
from cimento.cloze.estimating import MACRO, PRECISION, EstimateIndex
from cimento.cloze.judging.clusters import clustering
from cimento.cloze.judging.outcomes import CHOICE, CHOSEN, DIVIDED, HIT, REACHABLE, asked
from cimento.cloze.judging.precision import percent
from cimento.io.inline_markup import columns
from cimento.runs.estimates import Estimate
from cimento.runs.outcomes import GROUP
from cimento.runs.run import Run

Rows = list[tuple[str, ...]]


def cloze_text(runs: Sequence[Run]) -> str:
    """What ``cimento run`` prints of some runs of cloze suites."""
    return "\n\n".join(_block(ClozeAnswers(run)) for run in runs)


def clusters_note(answers: ClozeAnswers) -> str:
    """How the items share what they were made of; empty where each stands alone."""
    found = clustering(answers.cluster_of[item.id] or item.id for item in answers.items)
    if found.independent:
        return ""
    many = f"{found.clusters} clusters" if found.clusters != 1 else "1 cluster"
    return f"{found.items} items of {many}; the largest, {found.largest!r}, has {found.in_largest}"


def chosen_roles(answers: ClozeAnswers, rule: str) -> str:
    """How often each role was chosen under a rule; a tie of roles is a role of its own."""
    outcomes = asked(answers.run.outcomes(), CHOICE, rule)
    name = GROUP + CHOSEN
    roles = outcomes[name].drop_nulls().to_list() if name in outcomes.columns else []
    return ", ".join(f"{count} {role}" for role, count in sorted(Counter(roles).items()))


def _block(answers: ClozeAnswers) -> str:
    run = answers.run
    index = EstimateIndex(run.estimates())
    lines = [f"{run.suite.name} x {run.model} ({run.model_kind}, {len(answers.items)} items)"]
    for method in answers.methods:
        lines += ["", *_method(answers, index, method)]
    if any(index.find(CHOICE, rule) for rule in answers.choices):
        lines += ["", "forced choice", columns(list(_choice_rows(answers, index)), indent=2)]
    lines += [f"note: {text}" for text in run.warnings]
    clusters = clusters_note(answers)
    return "\n".join([*lines, *([f"intervals respect clusters, {clusters}"] if clusters else [])])


def _method(answers: ClozeAnswers, index: EstimateIndex, method: str) -> Iterator[str]:
    k = answers.options.k
    kinds = Counter(answers.kinds(method).values())
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"{method}: {kinds.total()} candidates ({counts})"
    if index.find(f"{HIT}1", method):
        yield columns(_hit_rows(index, method, k), indent=2)
    if index.find(f"{FITS}1", method, statistic=PRECISION):
        yield columns(_fit_rows(index, method, k), indent=2)
    for question, title in ((HIT, "acc"), (FITS, "P")):
        for column in answers.options.by:
            rows = list(_group_rows(index, f"{question}{{k}}", method, column, k))
            if rows:
                header = (column, f"{title}@1", "95 %", f"{title}@{k}", "95 %")
                yield columns([header, *rows], indent=2)


def _hit_rows(index: EstimateIndex, method: str, k: int) -> Rows:
    ranks = [*(rank for rank in (1, 2, 3, 5, 10) if rank < k), k]
    rows: Rows = [("hits", *(f"acc@{rank}" for rank in ranks))]
    for name, group, level in (("all items", "", ""), (REACHABLE, REACHABLE, "yes")):
        hits = [index.find(f"{HIT}{rank}", method, group=group, level=level) for rank in ranks]
        if hits[0] is not None:
            rows.append((name, *map(share_text, hits)))
            rows.append(("95 %", *map(interval_text, hits)))
    return rows


def _fit_rows(index: EstimateIndex, method: str, k: int) -> Rows:
    questions = [f"{FITS}1", f"{FITS}{k}"]
    fits = [index.find(question, method, statistic=PRECISION) for question in questions]
    rows: Rows = [("fitting", "P@1", f"P@{k}")]
    rows.append(("micro", *map(share_text, fits)))
    rows.append(("95 %", *map(interval_text, fits)))
    means = [index.find(question, method, statistic=MACRO) for question in questions]
    if means[0] is not None:
        values = (None if mean is None else mean.value for mean in means)
        shown = ("-" if value is None else f"{100 * value:.2f}" for value in values)
        rows.append(("macro (template)", *shown))
        rows.append(("95 %", *("a mean of groups: none" for _ in means)))
    return rows


def _group_rows(
    index: EstimateIndex, question: str, method: str, column: str, k: int
) -> Iterator[tuple[str, ...]]:
    for first in index.levels(question.format(k=1), method, column):
        top = index.find(
            question.format(k=k), method, group=column, level=first.level, statistic=first.statistic
        )
        cells = (share_text(first), interval_text(first), share_text(top), interval_text(top))
        yield (first.level or "(none)", *cells)


def _choice_rows(answers: ClozeAnswers, index: EstimateIndex) -> Iterator[tuple[str, ...]]:
    yield (
        "rule", "target", "95 %", "chance", "per token", "95 %", "ties", "unscored", "chosen",
    )  # fmt: skip
    for rule in answers.choices:
        choice = index.find(CHOICE, rule)
        if choice is not None:
            divided = index.find(CHOICE, rule + DIVIDED)
            yield (
                rule,
                share_text(choice),
                interval_text(choice),
                "-" if choice.chance is None else f"{100 * choice.chance:.2f}",
                share_text(divided) if divided else "",
                interval_text(divided) if divided else "",
                str(choice.tied),
                str(choice.unscored),
                chosen_roles(answers, rule),
            )


def share_text(estimate: Estimate | None) -> str:
    """A share in per cent with two decimals, and its counts."""
    if estimate is None or not estimate.n or estimate.right is None:
        return "-"
    shown = percent(Fraction(estimate.right, estimate.n))
    return f"{shown:.2f} ({estimate.right}/{estimate.n})"


def interval_text(estimate: Estimate | None) -> str:
    """The interval of a share in per cent, or why there is none."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return estimate.reason if estimate and estimate.reason else "-"
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
