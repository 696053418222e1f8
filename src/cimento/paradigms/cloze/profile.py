"""The language profile of a model: what it does in each dimension of a suite.

A dimension is a value of a free column, such as a phenomenon. Everything is computed from stored
candidates; no model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TypeAlias, cast

from cimento.errors import InputError, TableError, did_you_mean, need_known
from cimento.io.values import grouped
from cimento.kinds.clusters import with_clusters
from cimento.kinds.run import open_run
from cimento.paradigms.cloze.judgments import JudgmentComparison
from cimento.paradigms.cloze.people import (
    LABELS,
    CandidateLabel,
    TopClass,
    count_first_matches,
    count_labels,
    count_top_classes,
    top_class,
)
from cimento.paradigms.cloze.requests import NAME, Candidate, ClozeAnswers, by_item
from cimento.paradigms.cloze.shares import (
    Clustering,
    Confidence,
    Nucleus,
    Ranks,
    Share,
    UnexpectedFits,
    accuracy_at,
    among_top,
    calibration,
    clustering,
    confidence,
    hit_ranks,
    is_hit,
    micro,
    not_expected,
    nucleus,
    precision_interval,
    ranks_by_key,
)
from cimento.records.store import PARADIGM, find_runs
from cimento.statistics.calibration import Calibration
from cimento.statistics.correlation import Correlation, correlate
from cimento.statistics.design import Design, Statistic
from cimento.statistics.intervals import Interval, share_interval
from cimento.suites import JsonValue
from cimento.suites.cloze import ClozeItem, cluster_of

WHOLE_SUITE = "all"
EXPRESSION, WORD = "expression", "word"

ZipfFrequency: TypeAlias = Callable[[str], float]
"""From a word to its frequency on the Zipf scale; 0 for a word that is not known."""


@dataclass(frozen=True, slots=True)
class ClusteredShare:
    """A share with its interval, which respects clusters.

    Attributes:
        share: counts.
        interval: of the share, 95%.
    """

    share: Share
    interval: Interval


@dataclass(frozen=True, slots=True)
class Dimension:
    """The results of a model in one dimension.

    Attributes:
        name: the value of the column; `ALL` for the whole suite.
        clusters: how its items share what they were made of.
        hits: hit@1 and hit@k, over items with targets; empty where there are none.
        fitting: P@1 and P@k; empty where nothing was judged.
        confidence: of candidates that fit and of those that do not; None as for `fitting`.
        calibration: of the same; None as for `fitting`.
        not_expected: candidates that fit and are not what was asked for; None where no remarks
            say so.
    """

    name: str
    clusters: Clustering
    hits: tuple[ClusteredShare, ...] = ()
    fitting: tuple[ClusteredShare, ...] = ()
    confidence: Confidence | None = None
    calibration: Calibration | None = None
    not_expected: UnexpectedFits | None = None


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One word of one expression.

    Attributes:
        expression: the expression.
        word: position of the masked word, from 1, as text.
        first: hit@1.
        top: hit@k.
    """

    expression: str
    word: str
    first: Share
    top: Share


@dataclass(frozen=True, slots=True)
class FrequencyEffect:
    """The relation of hits to the frequency of the target.

    Attributes:
        auc: how often the target of a hit is more frequent than that of a miss, ties as half.
        spearman: of frequency and reciprocal rank of the hit (0 for a miss), by item.
        unknown: targets that have no frequency; they are left out.
    """

    auc: Statistic
    spearman: Correlation
    unknown: int


@dataclass(frozen=True, slots=True)
class Profile:
    """All that is known of one model on one suite.

    Attributes:
        k: ranks that count.
        by: the column or columns whose values are the dimensions; empty for none.
        dimensions: the whole suite first.
        heat: by expression and word, for multiword items.
        top_classes: where target and plausible option are among k candidates; empty where no item
            has a plausible option.
        first_matches: the roles of first candidates; as for `top_classes`.
        labels: of candidates of items that have neither option among them: same meaning,
            plausible, dubious or unacceptable; empty where nobody gave such a label.
        frequency: of targets; None where it was not asked for or no item has a target.
        nucleus: top-p; None as for `frequency`.
    """

    k: int
    by: str
    dimensions: tuple[Dimension, ...]
    heat: tuple[HeatCell, ...]
    top_classes: Mapping[TopClass, Share]
    first_matches: Mapping[str, Share]
    labels: Mapping[CandidateLabel, Share]
    frequency: FrequencyEffect | None
    nucleus: Nucleus | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiling:
    """The settings of a profile.

    Attributes:
        k: ranks that count.
        by: the column whose values are the dimensions, or several with commas between, whose
            combinations are; empty for none.
        cluster: the columns that say what belongs together; none where each item stands alone.
        remarks: remarks on candidates of another kind than asked for.
        threshold: probability above which candidates are counted apart.
        frequency: of words; None for none.
        top_p: probability that candidates reach together; None for none.
    """

    k: int = 10
    by: str = ""
    cluster: Sequence[str] = ()
    remarks: tuple[str, ...] = ()
    threshold: float = 0.5
    frequency: ZipfFrequency | None = None
    top_p: float | None = None


def profile(
    items: Sequence[ClozeItem], candidates: Sequence[Candidate], profiling: Profiling
) -> Profile:
    """The profile of a model.

    Args:
        items: what was asked.
        candidates: the answers, judged or not.
        profiling: what is made of them.

    Raises:
        UsageError: no item has the column that dimensions are values of.
    """
    dimensions = [_dimension(WHOLE_SUITE, items, candidates, profiling)]
    for value, members in _by_value(items, profiling.by).items():
        ids = {item.id for item in members}
        dimensions.append(
            _dimension(value, members, [c for c in candidates if c.item in ids], profiling)
        )
    with_target = [item for item in items if item.targets]
    ranks = hit_ranks(with_target, candidates)
    chosen = [item for item in items if item.spellings("plausible")]
    groups = by_item(candidates)
    return Profile(
        k=profiling.k,
        by=profiling.by,
        dimensions=tuple(dimensions),
        heat=_heat_cells(with_target, ranks, profiling.k),
        top_classes=count_top_classes(chosen, groups, profiling.k) if chosen else {},
        first_matches=count_first_matches(chosen, groups) if chosen else {},
        labels=other_labels(chosen, groups, profiling.k),
        frequency=_frequency_effect(with_target, ranks, profiling),
        nucleus=None
        if profiling.top_p is None or not with_target
        else nucleus(with_target, candidates, profiling.top_p, cluster=_clusters(items, profiling)),
    )


def without_hits(known: Profile) -> Profile:
    """The profile of a model that can find none of the targets, whose hits are undefined.

    Args:
        known: the profile.
    """
    dimensions = tuple(replace(dimension, hits=()) for dimension in known.dimensions)
    return replace(known, dimensions=dimensions, heat=(), frequency=None, nucleus=None)


def other_labels(
    items: Iterable[ClozeItem], candidates: Mapping[str, Sequence[Candidate]], k: int
) -> dict[CandidateLabel, Share]:
    """The labels that candidates were given as remarks, where no option is among k candidates.

    Args:
        items: with options.
        candidates: id of an item to its candidates.
        k: number of candidates that count.
    """
    labels = [
        remark
        for item in items
        if top_class(item, candidates.get(item.id, ()), k) == "other"
        for candidate in candidates.get(item.id, ())
        if candidate.rank <= k
        for remark in candidate.remarks
        if remark in LABELS
    ]
    return count_labels(labels) if labels else {}


def _heat_cells(items: Iterable[ClozeItem], ranks: Ranks, k: int) -> tuple[HeatCell, ...]:
    """hit@1 and hit@k of each word of each expression, the best expressions first.

    Args:
        items: those without an expression are left out.
        ranks: of their hits.
        k: ranks that count.
    """
    key = {
        item.id: (item.columns[EXPRESSION], item.columns[WORD])
        for item in items
        if {EXPRESSION, WORD} <= item.columns.keys()
    }
    cells = [
        HeatCell(*name, first=accuracy_at(cell_ranks, 1), top=accuracy_at(cell_ranks, k))
        for name, cell_ranks in ranks_by_key(ranks, key).items()
    ]
    hits: dict[str, int] = {}
    for cell in cells:
        hits[cell.expression] = hits.get(cell.expression, 0) + cell.top.correct
    return tuple(sorted(cells, key=lambda c: (-hits[c.expression], c.expression, c.word)))


def _frequency_effect(
    items: Sequence[ClozeItem], ranks: Ranks, profiling: Profiling
) -> FrequencyEffect | None:
    """Whether a model hits frequent words more often; of several targets the first counts."""
    from cimento.statistics.classification import auc

    if profiling.frequency is None or not items:
        return None
    known = [
        (value, ranks[item.id], cluster_of(item, profiling.cluster))
        for item in items
        if (value := profiling.frequency(item.targets[0])) > 0
    ]
    groups = tuple(group for _, _, group in known)
    values = [value for value, _, _ in known]
    hit = [is_hit(rank, profiling.k) for _, rank, _ in known]
    reciprocal = [1 / rank if rank else 0.0 for _, rank, _ in known]
    design = Design(groups, groups)
    return FrequencyEffect(
        auc=auc(values, hit),
        spearman=correlate(values, reciprocal, kind="spearman", design=design),
        unknown=len(ranks) - len(known),
    )


def choose_expressions(
    items: Iterable[ClozeItem], ratings: Mapping[str, float], *, at_most: float
) -> list[ClozeItem]:
    """The items whose expression was rated as idiomatic enough.

    Args:
        items: those without an expression are kept.
        ratings: expression to its mean rating of compositionality, 0 for an idiom (Cordeiro et
            al. 2019, doi:10.1162/coli_a_00341).
        at_most: ratings above it are left out.

    Raises:
        InputError: an expression was not rated.
    """
    chosen = []
    for item in items:
        name = item.columns.get(EXPRESSION)
        if name is not None and name not in ratings:
            raise InputError(
                where=f"expression {name!r}",
                seen="it has no rating",
                todo=did_you_mean(name, ratings),
            )
        if name is None or ratings[name] <= at_most:
            chosen.append(item)
    return chosen


def _by_value(items: Sequence[ClozeItem], by: str) -> dict[str, list[ClozeItem]]:
    """The items of each value of a column, or of each combination of values of several."""
    columns = [name.strip() for name in by.split(",") if name.strip()]
    known = dict.fromkeys(name for item in items for name in item.columns)
    for name in columns:
        need_known(name, known, where=f"--by={name}", seen="no item has this column")
    return grouped(
        (" / ".join(item.columns[name] for name in columns), item)
        for item in items
        if columns and item.columns.keys() >= set(columns)
    )


def _clusters(items: Iterable[ClozeItem], profiling: Profiling) -> dict[str, Hashable]:
    return {item.id: cluster_of(item, profiling.cluster) for item in items}


def _dimension(
    name: str, items: Sequence[ClozeItem], candidates: Sequence[Candidate], profiling: Profiling
) -> Dimension:
    cluster = _clusters(items, profiling)
    made = Dimension(name, clustering(cluster.values()))
    with_target = [item for item in items if item.targets]
    depths = (1, profiling.k)
    if with_target:
        ranks = hit_ranks(with_target, candidates)
        made = replace(made, hits=tuple(_hits(ranks, cluster, k) for k in depths))
    judged = [
        candidate
        for candidate in candidates
        if candidate.fits is not None and candidate.rank <= profiling.k
    ]
    if not judged:
        return made
    return replace(
        made,
        fitting=tuple(_fitting(judged, cluster, k) for k in depths),
        confidence=confidence(judged, threshold=profiling.threshold),
        calibration=calibration(judged),
        not_expected=not_expected(judged, remarks=profiling.remarks, threshold=profiling.threshold)
        if profiling.remarks
        else None,
    )


def _hits(ranks: Ranks, cluster: Mapping[str, Hashable], k: int) -> ClusteredShare:
    passed = [is_hit(rank, k) for rank in ranks.values()]
    return ClusteredShare(accuracy_at(ranks, k), share_interval(passed, Design.of(ranks, cluster)))


def _fitting(
    judged: Sequence[Candidate], cluster: Mapping[str, Hashable], k: int
) -> ClusteredShare:
    top = among_top(judged, k)
    return ClusteredShare(
        micro(top), precision_interval(top, lambda candidate: cluster[candidate.item])
    )


_NAMES: Mapping[type, Mapping[str, str]] = {
    Clustering: {"largest": "largest_cluster", "in_largest": "in_largest_cluster"},
    JudgmentComparison: {"rule_only": "dictionary_only", "person_only": "people_only"},
}
"""Fields of records that have other names in JSON."""


def as_record(result: object) -> JsonValue:
    """A profile, or a comparison with people, as plain values; of a share also its value."""
    if isinstance(result, Mapping):
        return {str(name): as_record(part) for name, part in result.items()}
    if isinstance(result, tuple):
        return [as_record(part) for part in result]
    if not is_dataclass(result):
        return cast("JsonValue", result)
    names = _NAMES.get(type(result), {})
    cells = {field.name: as_record(getattr(result, field.name)) for field in fields(result)}
    return _told(result, {names.get(name, name): cell for name, cell in cells.items()})


def _told(result: object, record: dict[str, JsonValue]) -> JsonValue:
    """A record as JSON shows it: some have fewer names, or other ones."""
    match result:
        case Share():
            record["share"] = result.value
        case ClusteredShare(interval=interval):
            record = {
                **cast("dict[str, JsonValue]", record["share"]),
                "low": interval.low,
                "high": interval.high,
                "interval_method": interval.method,
                "reason": interval.reason,
            }
        case Profile(by=""):
            record["by"] = None
        case Dimension():
            if result.not_expected is None:
                del record["not_expected"]
            clusters = cast("dict[str, JsonValue]", record.pop("clusters"))
            record = {"name": record.pop("name"), **clusters, **record}
        case Correlation():
            # One p: by the test that belongs to the interval.
            record = {
                **{name: record[name] for name in ("r", "n", "low", "high")},
                "interval_method": result.method,
                "p": result.p,
                "p_method": result.p_method,
                "reason": result.reason,
            }
        case JudgmentComparison():
            kappa = record.pop("kappa")
            record |= {"agreement": result.agreement.value, "kappa": kappa}
    return record


def open_cloze_runs(paths: Iterable[Path], *, cluster: Sequence[str] = ()) -> list[ClozeAnswers]:
    """The runs of cloze suites in some folders; runs of other suites are ignored.

    Args:
        paths: folders of runs, or of single ones.
        cluster: columns by which items belong together; empty for those of each suite.

    Raises:
        TableError: a folder holds no such run, or one that cannot be read.
        UsageError: a suite lacks one of the columns.
    """
    several: list[ClozeAnswers] = []
    for path in paths:
        folders = [folder for folder in find_runs(path) if folder.manifest().get(PARADIGM) == NAME]
        if not folders:
            raise TableError(
                where=str(path),
                seen="there is no run of a cloze suite here",
                todo="Give a folder that `cimento run` made from a suite of kind cloze.",
            )
        runs = with_clusters((open_run(folder.path) for folder in folders), cluster)
        several += map(ClozeAnswers, runs)
    return several
