"""Blanks as a model is asked about them: the options, the requests, and its answers read back."""

from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from pydantic import BeforeValidator, Field

from cimento.engine.requests import Fill, Requests
from cimento.errors import InputError, TableError, counted
from cimento.io.files import expanded
from cimento.io.tables import REQUESTS
from cimento.io.values import grouped
from cimento.kinds.base import option_names
from cimento.kinds.clusters import ClusteredOptions
from cimento.kinds.run import Run
from cimento.models.questions import (
    CHOICE,
    MOST_CANDIDATES,
    MOST_MASKS,
    ChoiceRule,
    FillPolicy,
    OpenRule,
)
from cimento.suites.cloze import (
    BLANK,
    ClozeItem,
    ClozeSuite,
    cluster_cell,
    cluster_of,
    expand_suite,
)
from cimento.suites.letters import one_spelling

if TYPE_CHECKING:
    import polars as pl

NAME = "cloze"
"""Name of the paradigm."""

FITS = "fits@"
"""Question of the outcomes of candidates, with the number of candidates that count."""


def _path(value: object) -> object:
    """A path with its ``~`` written out; None for an empty text."""
    return expanded(value) if isinstance(value, str) and value else value or None


class ClozeOptions(ClusteredOptions):
    """How cloze suites are asked and judged.

    Attributes:
        k: number of candidates asked for, and of ranks that count.
        protocol: how candidates are found where none are given; see `FillPolicy`.
        masks: the longest candidate, in tokens.
        choice: rules by which options are scored; none for what suits the kind of model.
        by: columns that results are broken down by.
        dictionary: judges candidates by what their items expect: ``delaf:FILE``, ``rules:it``;
            empty for none.
        judgments: an annotated run or a table of judged candidates, used where nobody judged the
            run itself; None for none.
        seed: taken by every paradigm; nothing is drawn for cloze suites.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset({"k", "protocol", "masks", "choice"})

    k: int = Field(10, ge=1, le=MOST_CANDIDATES)
    protocol: OpenRule = "auto"
    masks: int = Field(3, ge=1, le=MOST_MASKS)
    choice: Annotated[tuple[ChoiceRule, ...], BeforeValidator(option_names)] = ()
    by: Annotated[tuple[str, ...], BeforeValidator(option_names)] = ()
    dictionary: str = ""
    judgments: Annotated[Path | None, BeforeValidator(_path)] = None
    seed: int = 0

    @property
    def policy(self) -> FillPolicy:
        """The policy by which models fill blanks."""
        return FillPolicy(k=self.k, masks=self.masks, protocol=self.protocol, choice=self.choice)


def blank_requests(items: Sequence[ClozeItem], policy: FillPolicy, *, suite: str = "") -> Requests:
    """One request for each distinct text with a blank, and the items that each is for.

    Args:
        items: a text that several of them share is asked once, with the options of all.
        policy: how candidates are found, and by which rules options are scored.
        suite: name of the suite.
    """
    import polars as pl

    options: dict[tuple[str, str], dict[str, None]] = {}
    for item in items:
        texts = options.setdefault((item.before, item.after), {})
        texts.update(dict.fromkeys(text for option in item.options for text in option.spellings))
    numbers = {text: number for number, text in enumerate(options)}
    places = [
        (numbers[item.before, item.after], suite, item.id, "", 1, item.text, "",
         len(item.before), len(item.before) + len(BLANK), True)
        for item in items
    ]  # fmt: skip
    return Requests(
        asked=[
            Fill(before=before, after=after, options=tuple(texts), policy=policy)
            for (before, after), texts in options.items()
        ],
        places=pl.DataFrame(places, schema=REQUESTS.polars(), orient="row"),
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that a model put into the blank of an item, or was asked to score there.

    Attributes:
        item: id of the item.
        rank: rank of the candidate from 1, the most probable first.
        text: candidate as the model's tokenizer writes it, ``##s`` and ``[UNK]`` included.
        probability: probability of the candidate at the blank; None where a recording has only
            ranks.
        fits: whether it fits in the blank; None where nobody has judged it.
        remarks: further comments on it.
        tags: readings of the candidate in a dictionary, as the dictionary writes them.
        logprob_nats: None where it was not scored.
        n_pieces: tokens it takes; None where that is not known.
        kind: see `cimento.models.questions.FillCandidate`; empty where that is not known.
    """

    item: str
    rank: int
    text: str
    probability: float | None = None
    fits: bool | None = None
    remarks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    logprob_nats: float | None = field(default=None, compare=False)
    n_pieces: int | None = field(default=None, compare=False)
    kind: str = field(default="", compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Its item, and its text in the spelling in which judgments of candidates are compared."""
        return self.item, one_spelling(self.text)


def by_item(candidates: Iterable[Candidate]) -> dict[str, list[Candidate]]:
    """The candidates of each item by rank, items in order of first appearance."""
    groups = grouped((candidate.item, candidate) for candidate in candidates)
    return {item: sorted(group, key=attrgetter("rank")) for item, group in groups.items()}


def check_candidates(
    candidates: Iterable[Candidate], *, items: Sequence[str] | None = None, k: int | None = None
) -> tuple[str, ...]:
    """See that candidates can be judged, and say what is missing from them.

    Args:
        candidates: of any items, in any order.
        items: ids of the items that there should be; None where any will do.
        k: number of candidates that an item should have; None for any number.

    Returns:
        Warnings: items with fewer than `k` candidates, items with none, and candidates that
        nobody has judged, each with their number.

    Raises:
        InputError: two candidates of an item have one rank, a rank is below 1, or a candidate
            belongs to an item that does not exist.
    """
    groups = by_item(candidates)
    for item, group in groups.items():
        _refuse_ranks(item, [candidate.rank for candidate in group])
    warnings = []
    if items is not None:
        _refuse_unknown(groups, items)
        empty = [item for item in items if item not in groups]
        if empty:
            warnings.append(
                f"{counted(len(empty), 'item')} without candidates; the first is {empty[0]!r}."
            )
    short = [item for item, group in groups.items() if k is not None and len(group) < k]
    if short:
        warnings.append(
            f"{counted(len(short), 'item')} with fewer than {k} candidates; the first is"
            f" {short[0]!r} with {len(groups[short[0]])}."
        )
    every = [candidate for group in groups.values() for candidate in group]
    unjudged = [candidate for candidate in every if candidate.fits is None]
    if unjudged and len(unjudged) < len(every):
        first = unjudged[0]
        warnings.append(
            f"{counted(len(unjudged), 'candidate')} of {len(every)} not judged, and left out of"
            f" every share; the first is {first.text!r} (item {first.item!r}, rank {first.rank})."
        )
    return tuple(warnings)


def _refuse_ranks(item: str, ranks: Sequence[int]) -> None:
    if ranks[0] < 1:
        seen, todo = f"a rank is {ranks[0]}", "Count ranks from 1."
        raise InputError(where=f"item {item!r}", seen=seen, todo=todo)
    twice = next((rank for rank, following in pairwise(ranks) if rank == following), None)
    if twice is not None:
        raise InputError(
            where=f"item {item!r}",
            seen=f"two candidates have rank {twice}",
            todo="Give each candidate of an item a rank of its own.",
        )


def _refuse_unknown(groups: Mapping[str, object], items: Sequence[str]) -> None:
    known = set(items)
    unknown = next((item for item in groups if item not in known), None)
    if unknown is not None:
        raise InputError(
            where="candidates",
            seen=f"there is no item {unknown!r}",
            todo="Do the candidates belong to another suite, or to another version of it?",
        )


@dataclass(frozen=True)
class ClozeAnswers:
    """A run of a cloze suite, read item by item.

    Attributes:
        run: the run.

    Raises:
        TableError: it is the run of a suite of another paradigm.
    """

    run: Run

    def __post_init__(self) -> None:
        if not isinstance(self.run.suite, ClozeSuite):
            raise TableError(
                where=str(self.run.folder or self.run.suite.name),
                seen="this is not the run of a cloze suite",
                todo="Give a folder that `cimento run` made from a suite of kind cloze or"
                " templates.",
            )

    @property
    def suite(self) -> ClozeSuite:
        """The suite, as its author wrote it."""
        return cast("ClozeSuite", self.run.suite)

    @property
    def options(self) -> ClozeOptions:
        """The options of the run."""
        return cast("ClozeOptions", self.run.options)

    @functools.cached_property
    def items(self) -> tuple[ClozeItem, ...]:
        """The items that were asked, in order."""
        return expand_suite(self.suite).items

    @functools.cached_property
    def cluster_of(self) -> dict[str, str]:
        """The cluster of each item; empty for an item that stands alone."""
        return {item.id: cluster_cell(item, self.suite.cluster) for item in self.items}

    @functools.cached_property
    def belongs_to(self) -> dict[str, Hashable]:
        """What each item belongs to, as a design has it; an item that stands alone to itself."""
        return {item.id: cluster_of(item, self.suite.cluster) for item in self.items}

    @functools.cached_property
    def _fills(self) -> pl.DataFrame:
        return self.run.table("fills")

    @functools.cached_property
    def _all_methods(self) -> list[str]:
        return self._fills["method"].unique(maintain_order=True).to_list()

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods by which candidates were found, in the order of the run."""
        return tuple(name for name in self._all_methods if not name.startswith(CHOICE))

    @property
    def choices(self) -> tuple[str, ...]:
        """The rules by which options were scored."""
        return tuple(
            name.removeprefix(CHOICE) for name in self._all_methods if name.startswith(CHOICE)
        )

    def by_method(self, method: str) -> dict[str, list[Candidate]]:
        """The candidates of each item by one method, by rank.

        Args:
            method: one of `methods`, or ``choice:`` and one of `choices`.
        """
        import polars as pl

        items = self.run.table("requests").select("item", "request")
        fills = self._fills.filter(pl.col("method") == method).sort("request", "rank")
        rows = items.join(fills, on="request", maintain_order="left_right")
        columns = ("item", "rank", "candidate", "logprob_nats", "n_pieces", "kind")
        by_item: dict[str, list[Candidate]] = {item: [] for item in items["item"]}
        for item, rank, text, nats, n_pieces, kind in rows.select(columns).iter_rows():
            probability = None if nats is None else math.exp(nats)
            candidate = Candidate(item, rank, text, probability, None, (), (), nats, n_pieces, kind)
            by_item[item].append(candidate)
        return by_item

    def by_rule(self, rule: str) -> dict[str, list[Candidate]]:
        """The options of each item as scored by one rule; empty where it was not used."""
        return self.by_method(CHOICE + rule) if rule in self.choices else {}

    def candidates(self, method: str) -> list[Candidate]:
        """The candidates that one method found, not judged yet."""
        return [candidate for ranked in self.by_method(method).values() for candidate in ranked]

    def judged(self, method: str) -> list[Candidate]:
        """The candidates of a method with what the outcomes of the run say of their fit.

        Raises:
            CimentoError: the run is not judged yet, and cannot be.
        """
        import polars as pl

        about = pl.col("question").str.starts_with(FITS) & (pl.col("method") == method)
        fits = dict(self.run.outcomes().filter(about).select("item", "right").iter_rows())
        return [
            replace(candidate, fits=fits.get(f"{candidate.item}#{candidate.rank}"))
            for candidate in self.candidates(method)
        ]
