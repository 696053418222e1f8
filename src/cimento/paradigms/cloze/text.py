"""Cloze suites and their runs as text: descriptions, results, facts for the methods paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from cimento.cite.sentences import listed
from cimento.errors import counted
from cimento.io.inline_markup import columns
from cimento.paradigms.base import MethodFacts
from cimento.paradigms.cloze.answers import FITS, ClozeAnswers
from cimento.paradigms.cloze.estimates import MACRO, PRECISION, EstimateIndex
from cimento.paradigms.cloze.judging import CHOSEN, DIVIDED, FORCED_CHOICE, HIT, REACHABLE, asked
from cimento.paradigms.cloze.profile_text import ENDS
from cimento.paradigms.cloze.shares import clustering, exact_percent
from cimento.paradigms.cloze.suite import ClozeItem, ClozeSuite, expand_suite
from cimento.report.formatting import reasons_together
from cimento.runs.outcomes import GROUP, Estimate
from cimento.runs.run import Run
from cimento.suites.model import reviewers

_ROLE_MARKS = {"target": "", "plausible": "+ ", "implausible": "* "}


def describe_cloze(suite: ClozeSuite, items: int) -> str:
    """The text of ``cimento suites show``.

    Args:
        suite: the suite.
        items: number of its items to show.
    """
    expansion = expand_suite(suite)
    meta = suite.meta
    phenomena = Counter(item.columns.get("phenomenon", "") for item in expansion.items)
    named = ", ".join(f"{name} ({count})" for name, count in phenomena.items() if name)
    clusters, shared = "", len(expansion.shared)
    forms = counted(shared, "form")
    if suite.cluster:
        by = clustering(item.columns[suite.cluster] for item in expansion.items)
        clusters = (
            f"{by.clusters} by {suite.cluster}; the largest, {by.largest!r}, has {by.in_largest}"
        )
    facts = [
        ("kind", suite.kind),
        ("language", meta.language),
        ("phenomenon", meta.phenomenon or named),
        ("version", meta.version),
        ("licence", meta.licence),
        ("status", meta.status),
        ("reviewers", reviewers(meta)),
        ("citation", meta.citation),
        ("templates", str(len(suite.templates)) if suite.templates else ""),
        ("sentences", str(len(suite.multiwords)) if suite.multiwords else ""),
        ("items", str(len(expansion.items))),
        ("clusters", clusters),
        ("shared", f"{forms} in several categories, one item each" if shared else ""),
    ]
    lines = [meta.name, *(f"  {label:<11}{value}" for label, value in facts if value)]
    return "\n".join([*lines, *map(_item, expansion.items[:items])])


def _item(item: ClozeItem) -> str:
    options = [_ROLE_MARKS[option.role] + "/".join(option.spellings) for option in item.options]
    shown = f"    {', '.join(options)}" if options else ""
    return "\n".join(filter(None, [f"  item {item.id}", f"    {item.text}", shown]))


_Rows = list[tuple[str, ...]]


def cloze_text(runs: Sequence[Run]) -> str:
    """The text of ``cimento run`` for some runs of cloze suites."""
    return "\n\n".join(_block(ClozeAnswers(run)) for run in runs)


def clusters_note(answers: ClozeAnswers) -> str:
    """A note on items that belong together; empty where each stands alone."""
    clusters = clustering(answers.cluster_of[item.id] or item.id for item in answers.items)
    if clusters.independent:
        return ""
    many = f"{clusters.clusters} clusters" if clusters.clusters != 1 else "1 cluster"
    largest = f"the largest, {clusters.largest!r}, has {clusters.in_largest}"
    return f"{clusters.items} items of {many}; {largest}"


def chosen_roles(answers: ClozeAnswers, rule: str) -> str:
    """The count of choices of each role under a rule; a tie of roles is a role of its own."""
    outcomes = asked(answers.run.outcomes(), FORCED_CHOICE, rule)
    name = GROUP + CHOSEN
    roles = outcomes[name].drop_nulls().to_list() if name in outcomes.columns else []
    return ", ".join(f"{count} {role}" for role, count in sorted(Counter(roles).items()))


def _block(answers: ClozeAnswers) -> str:
    run = answers.run
    index = EstimateIndex(run.estimates())
    lines = [
        f"{run.suite.name} x {run.model} ({run.model_kind}, {counted(len(answers.items), 'item')})"
    ]
    for method in answers.methods:
        lines += ["", *_method(answers, index, method)]
    if any(index.find(FORCED_CHOICE, rule) for rule in answers.choices):
        lines += ["", "forced choice", columns(list(_choice_rows(answers, index)), indent=2)]
    lines += [f"note: {text}" for text in run.warnings]
    bare = (one.reason for one in run.estimates() if one.is_share and one.n and one.low is None)
    if reasons := reasons_together(bare):
        lines.append(f"note: no interval where there is a dash ({reasons})")
    clusters = clusters_note(answers)
    return "\n".join([*lines, *([f"intervals respect clusters, {clusters}"] if clusters else [])])


def _method(answers: ClozeAnswers, index: EstimateIndex, method: str) -> Iterator[str]:
    k = answers.options.k
    kinds = Counter(candidate.kind for candidate in answers.candidates(method))
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    yield f"{method}: {counted(kinds.total(), 'candidate')} ({counts})"
    if index.find(f"{HIT}1", method):
        yield columns(_hit_rows(index, method, k), indent=2)
    if index.find(f"{FITS}1", method, statistic=PRECISION):
        yield columns(_fit_rows(index, method, k), indent=2)
    for question, title in ((HIT, "acc"), (FITS, "P")):
        for column in answers.options.by:
            rows: _Rows = [(f"{column} (%)", f"{title}@1", ENDS, f"{title}@{k}", ENDS)]
            for first, top in index.levels(question, method, column, k):
                cells = (
                    text for measured in (first, top) for text in _share_and_interval(measured)
                )
                rows.append((first.level or "(none)", *cells))
            if len(rows) > 1:
                yield columns(rows, indent=2)


def _hit_rows(index: EstimateIndex, method: str, k: int) -> _Rows:
    ranks = [*(rank for rank in (1, 2, 3, 5, 10) if rank < k), k]
    rows: _Rows = [("hits (%)", *(f"acc@{rank}" for rank in ranks))]
    for name, group, level in (("all items", "", ""), (REACHABLE, REACHABLE, "yes")):
        hits = [index.find(f"{HIT}{rank}", method, group=group, level=level) for rank in ranks]
        if hits[0] is not None:
            rows.append((name, *map(_share_text, hits)))
            rows.append((ENDS, *map(_interval_text, hits)))
    return rows


def _fit_rows(index: EstimateIndex, method: str, k: int) -> _Rows:
    questions = [f"{FITS}1", f"{FITS}{k}"]
    fits = [index.find(question, method, statistic=PRECISION) for question in questions]
    rows: _Rows = [("fitting (%)", "P@1", f"P@{k}")]
    rows.append(("micro", *map(_share_text, fits)))
    rows.append((ENDS, *map(_interval_text, fits)))
    means = [index.find(question, method, statistic=MACRO) for question in questions]
    if means[0] is not None:
        values = (None if mean is None else mean.value for mean in means)
        shown = ("-" if value is None else f"{100 * value:.2f}" for value in values)
        rows.append(("macro (template)", *shown))
        rows.append((ENDS, *("none of a mean of groups" for _ in means)))
    return rows


def _choice_rows(answers: ClozeAnswers, index: EstimateIndex) -> Iterator[tuple[str, ...]]:
    yield (
        "rule", "target (%)", ENDS, "chance (%)", "per token (%)", ENDS, "ties", "unscored",
        "chosen",
    )  # fmt: skip
    for rule in answers.choices:
        choice = index.find(FORCED_CHOICE, rule)
        if choice is not None:
            divided = index.find(FORCED_CHOICE, rule + DIVIDED)
            yield (
                rule,
                *_share_and_interval(choice),
                "-" if choice.chance is None else f"{100 * choice.chance:.2f}",
                *(_share_and_interval(divided) if divided else ("", "")),
                str(choice.tied),
                str(choice.unscored),
                chosen_roles(answers, rule),
            )


def _share_and_interval(estimate: Estimate | None) -> tuple[str, str]:
    return _share_text(estimate), _interval_text(estimate)


def _share_text(estimate: Estimate | None) -> str:
    """A share in percent with two decimals, and its counts."""
    if estimate is None or not estimate.n or estimate.right is None:
        return "-"
    shown = exact_percent(Fraction(estimate.right, estimate.n))
    return f"{shown:.2f} ({estimate.right}/{estimate.n})"


def _interval_text(estimate: Estimate | None) -> str:
    """The interval of a share in percent."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"


_PROTOCOLS = {
    "mask": "the most probable tokens at one mask",
    "words": "the most probable whole words at one mask",
    "complete": "whole words of one to {masks} tokens at as many masks",
    "beam": "sequences of one to {masks} tokens at as many masks",
    "left": "the most probable next tokens after the text before the blank",
    "sentinel": "the answers of the encoder-decoder to a sentinel in place of the blank",
}
_AUTO = {"masked": "mask", "causal": "left", "seq2seq": "sentinel"}
_HITS = (
    "A hit at k means that an answer expected by the suite's author is among the first k"
    " candidates; an answer that could not be found counts as a miss. The share of fitting"
    " candidates is the share of those that were judged [@wilkens2023]."
)


_IN_BRIEF = (
    "For each blank we took the most probable words, and counted a hit at k where one of the"
    " expected answers was among the first k; answers that could not be found count as misses."
)


def cloze_methods(answers: ClozeAnswers) -> MethodFacts:
    """The methods by which blanks were filled, and what counts as a hit."""
    several = "rules" if len(answers.choices) > 1 else "rule"
    named = listed(answers.choices) if answers.choices else ""
    rules = [f"Options were scored by the {several} {named}."] if named else []
    return MethodFacts(
        counted=counted(len(answers.items), "item"),
        sentences=(_candidates(answers), _HITS, *rules),
        brief=(_IN_BRIEF,),
        together=f"items of one {cluster}" if (cluster := answers.suite.cluster) else "",
    )


def _candidates(answers: ClozeAnswers) -> str:
    options = answers.options
    if answers.run.model_kind == "replay":
        return f"The candidates for a blank were recorded; the first {options.k} count."
    rule: str = options.protocol
    rule = _AUTO.get(answers.run.model_kind, rule) if rule == "auto" else rule
    what = _PROTOCOLS.get(rule, f"the rule {rule}").replace("{masks}", str(options.masks))
    return f"The candidates for a blank were {what}; the first {options.k} were kept."
