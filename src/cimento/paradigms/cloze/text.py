"""Cloze suites, their runs and profiles as text, and facts for the methods paragraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from statistics import median
from typing import TYPE_CHECKING

from cimento.errors import UsageError, counted, few_of_each_code
from cimento.io.inline_markup import columns
from cimento.kinds.presenter import described
from cimento.kinds.run import Run
from cimento.paired.item_outcomes import ItemOutcomes, rates_only
from cimento.paired.pairwise import PairwiseComparison, compare_pair, corrected
from cimento.paradigms.cloze.estimates import MACRO, PRECISION, EstimateIndex
from cimento.paradigms.cloze.filled import filled_blanks
from cimento.paradigms.cloze.judging import CHOSEN, DIVIDED, HIT, asked
from cimento.paradigms.cloze.profile import (
    EXPRESSION,
    Dimension,
    FrequencyEffect,
    HeatCell,
    Profile,
)
from cimento.paradigms.cloze.requests import FITS, Candidate, ClozeAnswers
from cimento.paradigms.cloze.shares import (
    Nucleus,
    Ranks,
    Share,
    clustering,
    groups_hit_by_none,
    hit_by_only,
    hit_ranks,
    is_hit,
)
from cimento.records.blanks import FORCED_CHOICE, REACHABLE
from cimento.records.outcomes import GROUP, Estimate, reasons_together
from cimento.report.formatting import agreement_text, interval, number, signed
from cimento.statistics.differences import cochran_q
from cimento.suites.cloze import (
    ClozeItem,
    ClozeSuite,
    cluster_cell,
    cluster_of,
    expand_suite,
)

if TYPE_CHECKING:
    from cimento.models.questions import FillKind
    from cimento.paradigms.cloze.judgments import JudgmentComparison
    from cimento.paradigms.cloze.people import PeopleReport
    from cimento.statistics.calibration import Calibration
    from cimento.statistics.intervals import Interval


Rows = list[tuple[str, ...]]

_KINDS_IN_WORDS: Mapping[FillKind, tuple[str, str]] = {
    "word": ("whole word", "whole words"),
    "words": ("expression of several words", "expressions of several words"),
    "piece": ("piece that only continues a word", "pieces that only continue a word"),
    "punctuation": ("punctuation mark", "punctuation marks"),
    "unknown": ("unknown token", "unknown tokens"),
}
_BEGUN = ("word or the beginning of one", "words or beginnings of words")
"""What a next token is that begins with a blank: the word may go on after it."""
_BAR = "█"
_MISS = "·"
_LISTED = 12
ENDS = "95% interval"
"""The header of intervals of shares in percent."""

_ROLE_MARKS = {"target": "", "plausible": "+ ", "implausible": "* "}


def describe_cloze(suite: ClozeSuite, items: int) -> str:
    """The text of ``cimento suites show``.

    Args:
        suite: the suite.
        items: number of its items to show.
    """
    expansion = expand_suite(suite)
    phenomena = Counter(item.columns.get("phenomenon", "") for item in expansion.items)
    clusters, shared = "", len(expansion.shared)
    forms = counted(shared, "form")
    if suite.cluster:
        by = clustering(cluster_of(item, suite.cluster) for item in expansion.items)
        named = " × ".join(suite.cluster)
        clusters = f"{by.clusters} by {named}; the largest, {by.largest!r}, has {by.in_largest}"
    facts = {
        "templates": str(len(suite.templates) or ""),
        "sentences": str(len(suite.multiwords) or ""),
        "items": str(len(expansion.items)),
        "clusters": clusters,
        "shared": f"{forms} in several categories, one item each" if shared else "",
    }
    named = ", ".join(f"{name} ({count})" for name, count in phenomena.items() if name)
    name, *lines = described(suite.meta, facts, phenomenon=named)
    kind = f"  {'kind':<11}{suite.kind}"
    return "\n".join([name, kind, *lines, *map(_item, expansion.items[:items])])


def _item(item: ClozeItem) -> str:
    options = [_ROLE_MARKS[option.role] + "/".join(option.spellings) for option in item.options]
    shown = f"    {', '.join(options)}" if options else ""
    return "\n".join(filter(None, [f"  item {item.id}", f"    {item.text}", shown]))


def cloze_text(runs: Sequence[Run]) -> str:
    """The text of ``cimento run`` for some runs of cloze suites."""
    return "\n\n".join(_block(ClozeAnswers(run)) for run in runs)


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
    lines += _expected(answers)
    if any(index.find(FORCED_CHOICE, rule) for rule in answers.choices):
        lines += ["", "forced choice", columns(list(_choice_rows(answers, index)), indent=2)]
    lines += [f"note: {text}" for text in few_of_each_code(run.warnings)]
    bare = (one.reason for one in run.estimates() if one.is_share and one.n and one.low is None)
    if reasons := reasons_together(bare):
        lines.append(f"note: no interval where there is a dash ({reasons})")
    return "\n".join(lines)


def _expected(answers: ClozeAnswers) -> Iterator[str]:
    """The mean surprisal of the expected answers, and those that no hit could ever be."""
    filled = filled_blanks(answers)
    words = [word for blank in filled.blanks for word in blank.expected]
    known = [word.bits for word in words if word.bits is not None]
    if known:
        scored = "" if len(known) == len(words) else f", {len(known)} of {len(words)} scored"
        yield (
            f"surprisal of the expected answers ({filled.rule}): median {median(known):.2f} bits,"
            f" from {min(known):.2f} to {max(known):.2f} (n {len(known)}{scored})"
        )
    if lost := filled.not_found:
        more = f" and {len(lost) - _LISTED} more" if len(lost) > _LISTED else ""
        yield f"note: never a hit, as several tokens: {', '.join(lost[:_LISTED])}{more}"


def _method(answers: ClozeAnswers, index: EstimateIndex, method: str) -> Iterator[str]:
    k = answers.options.k
    kinds = Counter(candidate.kind for candidate in answers.candidates(method))
    counts = ", ".join(
        counted(kinds[kind], *(_BEGUN if (method, kind) == ("left", "word") else in_words))
        for kind, in_words in _KINDS_IN_WORDS.items()
        if kinds[kind]
    )
    yield f"{method}: {counted(kinds.total(), 'candidate')}: {counts or 'none'}"
    if index.find(f"{HIT}1", method):
        yield columns(_hit_rows(index, method, k), indent=2)
    if index.find(f"{FITS}1", method, statistic=PRECISION):
        yield columns(_fit_rows(index, method, k), indent=2)
    for question, title in ((HIT, "hit"), (FITS, "P")):
        for column in answers.options.by:
            rows: Rows = [(f"{column} (%)", f"{title}@1", ENDS, f"{title}@{k}", ENDS)]
            for first, top in index.levels(question, method, column, k):
                cells = (
                    text for measured in (first, top) for text in _share_and_interval(measured)
                )
                rows.append((first.level or "(none)", *cells))
            if len(rows) > 1:
                yield columns(rows, indent=2)


def _hit_rows(index: EstimateIndex, method: str, k: int) -> Rows:
    ranks = [*(rank for rank in (1, 2, 3, 5, 10) if rank < k), k]
    rows: Rows = [("hits (%)", *(f"hit@{rank}" for rank in ranks))]
    for name, group, level in (("all items", "", ""), (REACHABLE, REACHABLE, "yes")):
        hits = [index.find(f"{HIT}{rank}", method, group=group, level=level) for rank in ranks]
        if hits[0] is not None:
            rows.append((name, *map(_share_text, hits)))
            rows.append((ENDS, *map(_interval_text, hits)))
    return rows


def _fit_rows(index: EstimateIndex, method: str, k: int) -> Rows:
    questions = [f"{FITS}1", f"{FITS}{k}"]
    fits = [index.find(question, method, statistic=PRECISION) for question in questions]
    rows: Rows = [("fitting (%)", "P@1", f"P@{k}")]
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
    if estimate is None or estimate.right is None:
        return "-"
    return _share(Share(estimate.right, estimate.n))


def _share(share: Share) -> str:
    """A share in percent with two decimals, and its counts."""
    return "-" if share.percent is None else f"{share.percent:.2f} ({share.correct}/{share.n})"


def _interval_text(ends: Estimate | Interval | None) -> str:
    """The interval of a share in percent."""
    if ends is None or ends.low is None or ends.high is None:
        return "-"
    return f"{100 * ends.low:.1f} to {100 * ends.high:.1f}"


def profile_text(suite: str, model: str, method: str, profile: Profile) -> str:
    """One profile: dimensions, clusters, confidence, calibration, options, expressions."""
    lines = [f"{suite} x {model} ({method})", columns(_dimensions(profile), indent=2)]
    if any(dimension.fitting for dimension in profile.dimensions):
        lines += ["", columns(_confidences(profile.dimensions), indent=2)]
    whole = profile.dimensions[0]
    if whole.calibration is not None:
        lines += ["", *_calibration(whole.calibration)]
    if profile.top_classes:
        lines += ["", *_options(profile)]
    if profile.heat:
        lines += ["", columns(_heat(profile.heat, profile.k), indent=2)]
    if profile.nucleus is not None:
        lines += ["", _nucleus(profile.nucleus)]
    if profile.frequency is not None:
        lines += ["", _frequency(profile.frequency)]
    return "\n".join(lines)


def _nucleus(nucleus: Nucleus) -> str:
    size = "" if nucleus.median is None else f", {nucleus.median:g} candidates in the median"
    reached = f"reached by {counted(nucleus.reached, 'item')}{size}"
    head = f"  top-p {nucleus.p:g}: target among them"
    if nucleus.undecided:
        return (
            f"{head} between {_share(nucleus.hits)} and {_share(nucleus.at_most)}; {reached};"
            f" undecided {nucleus.undecided} (ask for more candidates: --set k=100)"
        )
    low, high = nucleus.interval.low, nucleus.interval.high
    ends = interval(low, high, absent=nucleus.interval.reason or "-")
    return f"{head} {_share(nucleus.hits)} {ends}; {reached}"


def people_text(report: PeopleReport) -> str:
    """The choices of most people, and the agreement of the model with them."""
    return (
        f"  most people chose: {_counted(report.majorities.items())}\n"
        f"  the model's best option is one of these: {_share(report.same_mode)}; "
        f"mean Jensen-Shannon divergence {number(report.divergence_bits.value)} bits"
    )


def comparison_text(comparison: JudgmentComparison) -> str:
    """Judgments by dictionary compared with those of people."""
    return (
        f"  dictionary and people: equal on {_share(comparison.agreement)}, "
        f"kappa {agreement_text(comparison.kappa)}; only the dictionary lets pass "
        f"{comparison.rule_only}, only people {comparison.person_only}"
    )


def compared_text(
    suite: str,
    models: Mapping[str, tuple[Sequence[ClozeItem], Sequence[Candidate]]],
    k: int,
    *,
    cluster: Sequence[str],
    kinds: Iterable[str],
) -> str:
    """The items that one model hits and another does not, and those that none hits.

    Args:
        suite: its name.
        models: name to the items that it was asked and its candidates.
        k: rank up to which a hit counts.
        cluster: columns that say what belongs together; none where each item stands alone.
        kinds: of the models.

    Raises:
        UsageError: the models were not asked the same items.
    """
    ranks = {
        name: hit_ranks([item for item in items if item.targets], candidates)
        for name, (items, candidates) in models.items()
    }
    asked = next(iter(models.values()))[0]
    clusters = {item.id: cluster_cell(item, cluster) or item.id for item in asked}
    outcomes = hit_outcomes(suite, ranks, k, clusters)
    lines = [f"{suite}: models compared; a hit is a target among the first {k} candidates"]
    for (first, ours), (second, theirs) in permutations(ranks.items(), 2):
        only = hit_by_only(ours, theirs, k)
        lines.append(f"  hit by {first} and not by {second}: {_listed(only)}")
    pairs = corrected([compare_pair(*pair) for pair in combinations(outcomes, 2)], "holm")
    lines += [_pair_line(pair) for pair in pairs]
    if len(pairs) > 1:
        rows = list(zip(*(outcome.right.values() for outcome in outcomes), strict=True))
        together = cochran_q(rows, outcomes[0].design(list(outcomes[0].right)), seed=0)
        lines.append(f"  all models: {together.method}, p = {_p(together.p)}")
    note = rates_only(kinds)
    if note:
        lines.append(f"  {note}")
    key = {item.id: item.columns[EXPRESSION] for item in asked if EXPRESSION in item.columns}
    if key:
        none = groups_hit_by_none(ranks.values(), key, k)
        lines.append(f"  expressions of which none hits any item: {_listed(none)}")
    return "\n".join(lines)


def hit_outcomes(
    suite: str, models: Mapping[str, Ranks], k: int, clusters: Mapping[str, str]
) -> list[ItemOutcomes]:
    """The hits of each model at k, item by item.

    Args:
        suite: its name.
        models: name to ranks.
        k: rank up to which a hit counts.
        clusters: item to what it belongs to; items that stand alone are not there.

    Raises:
        UsageError: the models did not answer the same items.
    """
    first = next(iter(models))
    for name, ranks in models.items():
        if ranks.keys() != models[first].keys():
            raise UsageError(
                where=f"models {first!r} and {name!r}",
                seen="they did not answer the same items",
                todo="Compare them on the items that both have.",
            )
    return [
        ItemOutcomes(
            suite=suite,
            question=f"{HIT}{k}",
            model=name,
            right={item: is_hit(ranks[item], k) for item in models[first]},
            clusters=clusters,
        )
        for name, ranks in models.items()
    ]


def _pair_line(pair: PairwiseComparison) -> str:
    change = signed(pair.change.estimate, digits=3)
    ends = interval(pair.change.low, pair.change.high, absent=f"({pair.change.reason})")
    p = f"p = {_p(pair.test.p)}" if pair.test.p is not None else f"no p ({pair.test.reason})"
    several = pair.family > 1
    holm = f" (Holm over {pair.family} pairs {_p(pair.corrected)})" if several else ""
    return (
        f"  {pair.first} and {pair.second}, {pair.n} items: change {change} {ends}, "
        f"{pair.test.method}, {p}{holm}"
    )


def _dimensions(profile: Profile) -> Rows:
    header = [profile.by or "dimension", "items", "clusters", "largest cluster"]
    has_hits = any(dimension.hits for dimension in profile.dimensions)
    has_fits = any(dimension.fitting for dimension in profile.dimensions)
    for given, name in ((has_hits, "hit"), (has_fits, "P")):
        if given:
            header += [f"{name}@1 (%)", ENDS, f"{name}@{profile.k} (%)", ENDS]
    rows: Rows = [tuple(header)]
    for part in profile.dimensions:
        clusters = part.clusters
        row = [part.name, str(clusters.items), str(clusters.clusters), _largest(part)]
        for given, shares in ((has_hits, part.hits), (has_fits, part.fitting)):
            if given:
                cells = ((_share(one.share), _interval_text(one.interval)) for one in shares)
                row += list(chain.from_iterable(cells)) or ["-"] * 4
        rows.append(tuple(row))
    return rows


def _largest(dimension: Dimension) -> str:
    clusters = dimension.clusters
    return "" if clusters.independent else f"{clusters.largest} ({clusters.in_largest})"


def _confidences(dimensions: Sequence[Dimension]) -> Rows:
    asked = any(dimension.not_expected for dimension in dimensions)
    header = ["probability", "fitting", "unfitting", "AUC", "wrong first", "wrong above"]
    rows: Rows = [(*header, *(["not expected (%)", "above"] if asked else []))]
    for part in dimensions:
        confidence = part.confidence
        if confidence is None:
            continue
        statistics = (confidence.fitting, confidence.unfitting, confidence.auc)
        row = [part.name, *(number(statistic.value) for statistic in statistics)]
        row += [str(confidence.wrong_first), f"{confidence.wrong_above} > {confidence.threshold:g}"]
        if part.not_expected is not None:
            row += [_share(part.not_expected.of_fitting), str(part.not_expected.above)]
        rows.append(tuple(row))
    return rows


def _calibration(calibration: Calibration) -> Iterator[str]:
    rows: Rows = [("probability", "candidates", "mean", "share that fits")]
    for step in calibration.bins:
        if step.n:
            share = "-" if step.accuracy is None else f"{step.accuracy:.3f}"
            bar = _BAR * round(20 * (step.accuracy or 0))
            span = f"{step.low:.1f} to {step.high:.1f}"
            rows.append((span, str(step.n), number(step.confidence), f"{share} {bar}"))
    yield columns(rows, indent=2)
    yield f"  expected calibration error {number(calibration.ece)}"


def _options(profile: Profile) -> Iterator[str]:
    # Proportions of one item's candidates depend on each other, and have no interval.
    yield f"  options among {profile.k}, without intervals: {_counted(profile.top_classes.items())}"
    yield f"  first candidate, without intervals: {_counted(profile.first_matches.items())}"
    if profile.labels:
        yield f"  candidates where it is neither: {_counted(profile.labels.items())}"


def _counted(shares: Iterable[tuple[str, Share]]) -> str:
    return ", ".join(f"{name} {_share(share)}" for name, share in shares)


def _heat(cells: Sequence[HeatCell], k: int) -> Rows:
    words = sorted({cell.word for cell in cells})
    by_name = {(cell.expression, cell.word): cell for cell in cells}
    rows: Rows = [("expression", *(f"W{word} @1 / @{k}" for word in words))]
    for expression in dict.fromkeys(cell.expression for cell in cells):
        row = (by_name.get((expression, word)) for word in words)
        rows.append((expression, *(_squares(cell) for cell in row)))
    return rows


def _squares(cell: HeatCell | None) -> str:
    if cell is None:
        return ""
    first, top, n = cell.first.correct, cell.top.correct, cell.top.n
    return f"{_BAR * first}{'▒' * (top - first)}{_MISS * (n - top)} {first} / {top} of {n}"


def _frequency(effect: FrequencyEffect) -> str:
    spearman = effect.spearman
    interval = ""
    if spearman.low is not None and spearman.high is not None:
        interval = f" [{spearman.low:.2f}, {spearman.high:.2f}]"
    unknown = f"; {effect.unknown} targets of unknown frequency left out" if effect.unknown else ""
    return (
        f"  frequency of the target (Zipf, wordfreq): a hit's is higher than a miss's in "
        f"{number(effect.auc.value)} of pairs; Spearman with 1/rank "
        f"{number(spearman.r)}{interval}, n = {spearman.n}{unknown}"
    )


def _p(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _listed(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{len(names)}: {', '.join(names[:_LISTED])}{more}"
