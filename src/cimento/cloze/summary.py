"""A cloze run judged: hits of targets, shares of candidates that fit, forced choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cimento.answers import VERDICTS
from cimento.cloze.choosing import Choice, choose
from cimento.cloze.judging.candidates import Candidate, check_candidates
from cimento.cloze.judging.clusters import clustering, precision_interval
from cimento.cloze.judging.expected import dictionary_readings, expectations, judge_expected
from cimento.cloze.judging.hits import Ranks, grouped, hit_ranks, is_hit
from cimento.cloze.judging.precision import Share, among_top, macro, micro
from cimento.cloze.outcomes import ChoiceResult, ClozeSummary, MethodResult, Rate
from cimento.cloze.records import ClozeItem
from cimento.cloze.running import Answer, ClozeRun
from cimento.earlier import UNREACHABLE
from cimento.errors import UsageError, did_you_mean
from cimento.models.fill import CHOICE
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval

if TYPE_CHECKING:
    import polars as pl

    from cimento.morphology.model import Morphology

OPTION_ALONE = frozenset({"left-to-right", "joint", "left", "sentinel"})
"""Rules whose score is that of the option's own tokens."""

Fits = Mapping[tuple[str, str], bool | None]
"""Item and candidate to whether it fits, as people said; None where they were divided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClozeJudging:
    """How the answers of a cloze suite are judged.

    Attributes:
        k: ranks that count.
        by: columns that results are broken down by.
        dictionary: judges candidates by what their items expect; None for none.
        judged: earlier judgments of people; they count before the dictionary.
    """

    k: int = 10
    by: tuple[str, ...] = ()
    dictionary: Morphology | None = None
    judged: Fits = field(default_factory=dict)


def summarise(run: ClozeRun, judging: ClozeJudging) -> ClozeSummary:
    """Judge a run.

    Raises:
        UsageError: there is no such column to break results down by.
        InputError: an item's expectation cannot be read.
    """
    known = {name for item in run.items for name in item.columns}
    for name in judging.by:
        if name not in known:
            raise UsageError(
                where=f"by={name}",
                seen="no item has this column",
                todo=did_you_mean(name, known),
            )
    cluster = _cluster_of(run)
    with_target = [item for item in run.items if item.targets]
    ranks = {method: hit_ranks(with_target, run.candidates(method)) for method in run.methods}
    methods = tuple(_method(run, method, judging, ranks[method], cluster) for method in run.methods)
    choices = tuple(_choices(run, rule, cluster) for rule in run.choices)
    own = clustering(cluster.values())
    many = f"{own.clusters} clusters" if own.clusters != 1 else "1 cluster"
    told = f"{own.items} items of {many}; the largest, {own.largest!r}, has {own.in_largest}"
    return ClozeSummary(
        suite=run.suite.name,
        model=run.model,
        model_kind=run.model_kind,
        n_items=len(run.items),
        k=judging.k,
        clusters=told if not own.independent else "",
        cluster_of=cluster,
        methods=methods,
        choices=tuple(choice for choice in choices if choice.choices),
        ranks=ranks,
        folder=str(run.folder) if run.folder else None,
        warnings=run.warnings,
    )


def verdict_table(run: ClozeRun, summary: ClozeSummary) -> pl.DataFrame:
    """The verdicts table: a hit at 1 and at k for each method, and each forced choice.

    An answer that a method cannot find is a miss like any other, with the reason beside it: the
    hits are those of `summarise`. Margins are in bits, of the forced choices alone; see
    docs/tables.md.
    """
    import math

    import polars as pl

    suite = run.suite.name
    rows: list[tuple[str, str, str, int, str, float | None, str | None]] = []
    for result in summary.methods:
        unreachable = set(result.unreachable)
        for number, k in enumerate(dict.fromkeys((1, summary.k))):
            for item, rank in summary.ranks[result.method].items():
                outcome = "pass" if is_hit(rank, k) else "fail"
                reason = UNREACHABLE if item in unreachable and outcome == "fail" else None
                condition = f"{result.method} hit@{k}"
                rows.append((suite, item, condition, number, outcome, None, reason))
    for choice in summary.choices:
        for each in choice.choices:
            bits = None if each.margin_nats is None else each.margin_nats / math.log(2)
            row = (suite, each.item, CHOICE + choice.rule, 0, each.outcome, bits, each.reason)
            rows.append(row)
    return pl.DataFrame(rows, schema=VERDICTS.polars(), orient="row")


def judged_candidates(run: ClozeRun, method: str, judging: ClozeJudging) -> list[Candidate]:
    """The candidates of a method with what is known of their fit.

    People come first, then, for items that say what they expect, the dictionary. What is only a
    piece of a word has no reading there.
    """
    candidates = run.candidates(method)
    by_rule = dict[tuple[str, int], bool | None]()
    if judging.dictionary is not None:
        wanted = expectations({item.id: item.columns for item in run.items})
        kinds = _kinds(run, method)
        readings = dictionary_readings(judging.dictionary)
        ruled = judge_expected(
            candidates,
            wanted,
            lambda each: () if kinds[each.item, each.rank] == "piece" else readings(each),
        )
        by_rule = {(each.item, each.rank): each.fits for each in ruled}
    return [
        replace(
            each,
            fits=judging.judged.get((each.item, each.text), by_rule.get((each.item, each.rank))),
        )
        for each in candidates
    ]


def _method(
    run: ClozeRun,
    method: str,
    judging: ClozeJudging,
    ranks: Ranks,
    cluster: Mapping[str, str],
) -> MethodResult:
    candidates = judged_candidates(run, method, judging)
    result = MethodResult(
        method=method,
        kinds=Counter(_kinds(run, method).values()),
        warnings=check_candidates(
            candidates, items=[item.id for item in run.items], k=_expected_number(method, judging.k)
        ),
    )
    if ranks:
        result = _with_hits(result, run, ranks, judging, cluster)
    if any(each.fits is not None for each in candidates):
        result = _with_fits(result, run, candidates, judging, cluster)
    return result


def _expected_number(method: str, k: int) -> int | None:
    """How many candidates each item should have; beams of few masks may have fewer."""
    return None if method.startswith(("beam-", "complete", "sentinel")) else k


def _with_hits(
    result: MethodResult,
    run: ClozeRun,
    ranks: Ranks,
    judging: ClozeJudging,
    cluster: Mapping[str, str],
) -> MethodResult:
    unreachable = _unreachable(run, ranks) if result.method in ("mask", "words") else ()
    reachable = {item: rank for item, rank in ranks.items() if item not in set(unreachable)}
    columns = _columns(run.items, judging.by)
    return replace(
        result,
        hits=tuple(_hits(ranks, k, cluster) for k in range(1, judging.k + 1)),
        reachable=tuple(_hits(reachable, k, cluster) for k in range(1, judging.k + 1))
        if unreachable
        else (),
        unreachable=unreachable,
        hits_by={
            name: {
                value: (_hits(own, 1, cluster), _hits(own, judging.k, cluster))
                for value, own in sorted(grouped(ranks, values).items())
            }
            for name, values in columns.items()
        },
    )


def _hits(ranks: Ranks, k: int, cluster: Mapping[str, str]) -> Rate:
    """acc@k with its interval."""
    held = [is_hit(rank, k) for rank in ranks.values()]
    return _rate(held, ranks, cluster)


def _fits(candidates: Sequence[Candidate], cluster: Mapping[str, str]) -> Rate:
    """The share of judged candidates that fit, with its interval."""
    ends = precision_interval(candidates, lambda each: cluster[each.item])
    return Rate(micro(candidates), ends)


def _with_fits(
    result: MethodResult,
    run: ClozeRun,
    candidates: Sequence[Candidate],
    judging: ClozeJudging,
    cluster: Mapping[str, str],
) -> MethodResult:
    columns = _columns(run.items, judging.by)
    groups = "template" if any("template" in item.columns for item in run.items) else ""
    template = _columns(run.items, [groups] if groups else []).get(groups, {})
    tops = [among_top(candidates, k) for k in (1, judging.k)]
    return replace(
        result,
        fitting=tuple(_fits(top, cluster) for top in tops),
        fitting_mean=tuple(macro(map(micro, _by(top, template).values())).value for top in tops)
        if groups
        else (),
        groups=groups,
        fitting_by={
            name: {
                value: (_fits(own, cluster), _fits(_by(tops[1], values)[value], cluster))
                for value, own in sorted(_by(tops[0], values).items())
            }
            for name, values in columns.items()
        },
    )


def _by(candidates: Iterable[Candidate], key: Mapping[str, str]) -> dict[str, list[Candidate]]:
    groups: dict[str, list[Candidate]] = {}
    for each in candidates:
        if each.item in key:
            groups.setdefault(key[each.item], []).append(each)
    return groups


def _choices(run: ClozeRun, rule: str, cluster: Mapping[str, str]) -> ChoiceResult:
    answers = run.answers(CHOICE + rule)
    choices = choose(
        run.items,
        {item: {each.text: each.logprob_nats for each in own} for item, own in answers.items()},
    )
    scored = [each for each in choices if each.outcome != "unscored"]
    return ChoiceResult(
        rule=rule,
        rate=_passed(choices, cluster),
        tied=sum(each.outcome == "tie" for each in choices),
        unscored=len(choices) - len(scored),
        roles=Counter(" = ".join(sorted(set(each.roles))) for each in scored),
        choices=tuple(choices),
        per_token=_passed(_per_token(run, answers), cluster) if rule in OPTION_ALONE else None,
    )


def _per_token(run: ClozeRun, answers: Mapping[str, Sequence[Answer]]) -> list[Choice]:
    return choose(
        run.items,
        {
            item: {
                each.text: each.logprob_nats / each.n_pieces
                for each in own
                if each.logprob_nats is not None and each.n_pieces
            }
            for item, own in answers.items()
        },
    )


def _passed(choices: Iterable[Choice], cluster: Mapping[str, str]) -> Rate:
    scored = [each for each in choices if each.outcome != "unscored"]
    items = [each.item for each in scored]
    return _rate([each.outcome == "pass" for each in scored], items, cluster)


def _unreachable(run: ClozeRun, ranks: Ranks) -> tuple[str, ...]:
    """Items none of whose targets is one token; empty where options were not scored at a mask."""
    single = run.answers(f"{CHOICE}mask") if "mask" in run.choices else {}
    targets = {item.id: set(item.targets) for item in run.items}
    return tuple(
        item for item in ranks if _known_targets(single.get(item, []), targets[item]) is False
    )


def _known_targets(answers: Iterable[Answer], targets: Collection[str]) -> bool | None:
    """Whether one of the targets is one token; None where that is not known."""
    own = [each for each in answers if each.text in targets]
    return any(each.logprob_nats is not None for each in own) if own else None


def _kinds(run: ClozeRun, method: str) -> dict[tuple[str, int], str]:
    return {
        (item, each.rank): each.kind
        for item, answers in run.answers(method).items()
        for each in answers
    }


def _rate(passed: Sequence[bool], items: Iterable[str], cluster: Mapping[str, str]) -> Rate:
    interval = share_interval(passed, Design.of(items, cluster))
    return Rate(Share(sum(passed), len(passed)), interval)


def _cluster_of(run: ClozeRun) -> dict[str, str]:
    """What each item belongs to: its suite says by which column, else itself."""
    name = run.suite.cluster
    return {item.id: item.columns.get(name, item.id) if name else item.id for item in run.items}


def _columns(items: Iterable[ClozeItem], names: Iterable[str]) -> dict[str, dict[str, str]]:
    kept = list(items)
    return {
        name: {item.id: item.columns[name] for item in kept if name in item.columns}
        for name in names
    }
