"""What a cloze run says, as plain records: hits, shares of fitting candidates, choices.

They are what ``summary.json`` and ``--json`` hold, and what the tables are printed from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.cloze.choosing import Choice
from cimento.cloze.judging.hits import Ranks
from cimento.cloze.judging.precision import Share
from cimento.statistics.intervals import Interval

if TYPE_CHECKING:
    from cimento.suites.model import JsonValue


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its interval.

    Attributes:
        share: counts.
        interval: 95 %.
    """

    share: Share
    interval: Interval

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "correct": self.share.correct,
            "n": self.share.n,
            "share": self.share.value,
            "low": self.interval.low,
            "high": self.interval.high,
            "interval_method": self.interval.method,
            "reason": self.interval.reason,
        }


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What came of one way to find candidates.

    Attributes:
        method: its name.
        kinds: how many candidates of each kind.
        hits: acc@1 to acc@k over items with targets; empty where there are none.
        reachable: the same over items whose answer can be found by this method; empty where it
            is not known which these are.
        unreachable: items whose answer cannot be.
        hits_by: column to value to acc@1 and acc@k.
        fitting: P@1 and P@k, candidates pooled; empty where none was judged.
        fitting_mean: P@1 and P@k as the mean over groups; empty where there are no groups.
        fitting_by: column to value to P@1 and P@k, pooled.
        groups: the column that the mean goes over.
        warnings: what is missing.
    """

    method: str
    kinds: Mapping[str, int]
    hits: tuple[Rate, ...] = ()
    reachable: tuple[Rate, ...] = ()
    unreachable: tuple[str, ...] = ()
    hits_by: Mapping[str, Mapping[str, tuple[Rate, Rate]]] = field(default_factory=dict)
    fitting: tuple[Rate, ...] = ()
    fitting_mean: tuple[float | None, ...] = ()
    fitting_by: Mapping[str, Mapping[str, tuple[Rate, Rate]]] = field(default_factory=dict)
    groups: str = ""
    warnings: tuple[str, ...] = ()

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "method": self.method,
            "kinds": dict(self.kinds),
            "hits": [rate.plain() for rate in self.hits],
            "hits_reachable": [rate.plain() for rate in self.reachable],
            "unreachable_items": list(self.unreachable),
            "hits_by": _plain_groups(self.hits_by),
            "fitting_micro": [rate.plain() for rate in self.fitting],
            "fitting_macro": list(self.fitting_mean),
            "macro_over": self.groups or None,
            "fitting_by": _plain_groups(self.fitting_by),
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class ChoiceResult:
    """What came of one rule of forced choice.

    Attributes:
        rule: its name.
        rate: choices that passed, of those that were scored.
        tied: choices in which the target was as probable as another option.
        unscored: items in which an option has no score.
        roles: how often each role was chosen; a tie of roles is a role of its own.
        choices: of every item.
        per_token: the same with each option's score divided by its tokens, for rules that score
            the option alone; None for others.
    """

    rule: str
    rate: Rate
    tied: int
    unscored: int
    roles: Mapping[str, int]
    choices: tuple[Choice, ...]
    per_token: Rate | None = None

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "rule": self.rule,
            **self.rate.plain(),
            "tied": self.tied,
            "unscored": self.unscored,
            "roles": dict(self.roles),
            "per_token": self.per_token.plain() if self.per_token is not None else None,
        }


@dataclass(frozen=True, slots=True)
class ClozeSummary:
    """What one run says.

    Attributes:
        suite: its name.
        model: label of the model.
        model_kind: its kind.
        n_items: items asked.
        k: ranks that count.
        clusters: how items share what they were made of.
        cluster_of: item to what it belongs to.
        methods: by way of finding candidates.
        choices: by rule.
        ranks: method to rank of the target for each item.
        folder: of the run.
        warnings: about the suite.
    """

    suite: str
    model: str
    model_kind: str
    n_items: int
    k: int
    clusters: str
    cluster_of: Mapping[str, str]
    methods: tuple[MethodResult, ...]
    choices: tuple[ChoiceResult, ...]
    ranks: Mapping[str, Ranks]
    folder: str | None
    warnings: tuple[str, ...]

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "suite": self.suite,
            "model": self.model,
            "model_kind": self.model_kind,
            "n_items": self.n_items,
            "k": self.k,
            "clusters": self.clusters,
            "methods": [method.plain() for method in self.methods],
            "choices": [choice.plain() for choice in self.choices],
            "folder": self.folder,
            "warnings": list(self.warnings),
        }


def _plain_groups(
    groups: Mapping[str, Mapping[str, tuple[Rate, Rate]]],
) -> dict[str, JsonValue]:
    return {
        name: {value: [rate.plain() for rate in rates] for value, rates in own.items()}
        for name, own in groups.items()
    }
