"""The requests of an explanation by interchanges: which states are put where, in which texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cimento.engine.requests import Patch, Request, Score
from cimento.errors import UsageError
from cimento.paradigms.regions.requests import filled_spans
from cimento.paradigms.regions.swaps import can_swap
from cimento.suites.stimuli import NO_CONTEXT, Context, Span, joined

if TYPE_CHECKING:
    from cimento.kinds.run import Run
    from cimento.paradigms.regions.swaps import Contrasts, ExplainSettings
    from cimento.suites import Suite


@dataclass(frozen=True, slots=True)
class PatchPlace:
    """What a request for interchanges is about.

    Attributes:
        contrast: number of the contrast.
        item: id of the item.
        base: condition that is scored.
        region: number of the region whose states are exchanged.
    """

    contrast: int
    item: str
    base: str
    region: int


@dataclass(slots=True)
class Interchanges:
    """The requests of an explanation, each once, with what they are about.

    Attributes:
        asked: the requests.
        scores: the number of the request that scores each item and condition.
        spans: the spans of the regions of each item and condition.
        patches: number of the request, and what it is about.
    """

    asked: dict[Request, int] = field(default_factory=dict)
    scores: dict[tuple[str, str], int] = field(default_factory=dict)
    spans: dict[tuple[str, str], tuple[Span, ...]] = field(default_factory=dict)
    patches: list[tuple[int, PatchPlace]] = field(default_factory=list)

    def number(self, request: Request) -> int:
        """The number of a request."""
        return self.asked.setdefault(request, len(self.asked))

    def places(self) -> Mapping[int, tuple[str, str]]:
        """The item and the condition of each request."""
        scored = {number: key for key, number in self.scores.items()}
        return scored | {number: (place.item, place.base) for number, place in self.patches}


def interchanges(
    run: Run,
    compared: Contrasts,
    settings: ExplainSettings,
    *,
    context: Context = NO_CONTEXT,
    by_region: bool = False,
) -> Interchanges:
    """The requests of an explanation.

    In a model that reads from left to right (all but masked ones), nothing can differ before the
    first difference of two sentences, and nothing after what is measured matters: such regions are
    not asked about.

    Args:
        run: run of a region suite.
        compared: the comparisons.
        settings: the settings.
        context: what comes before the texts.
        by_region: whether a token's score depends on its region.

    Raises:
        UsageError: the suite lacks the column with the contexts, or nothing can be exchanged.
    """
    suite, contrasts = compared.suite, compared.contrasts
    context.check(suite)
    texts = texts_of(suite, context, by_region=by_region, items=settings.items)
    swapped = Interchanges()
    for key, (score, spans) in texts.items():
        if needed := frozenset().union(*(contrast.measured(key[1]) for contrast in contrasts)):
            swapped.scores[key] = swapped.number(score._replace(wanted=wanted_of(spans, needed)))
            swapped.spans[key] = spans
    for number, contrast in enumerate(contrasts):
        for item in suite.items:
            if (item.id, item.conditions[0].name) not in texts or not can_swap(contrast, item):
                continue
            for base, source in contrast.swaps.items():
                two = (texts[item.id, base], texts[item.id, source])
                measured = contrast.measured(base)
                swapped.patches += (
                    (swapped.number(patch), PatchPlace(number, item.id, base, region))
                    for region, patch in _patches(*two, measured, settings, run.model_kind)
                )
    if not swapped.patches:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen="no region before what is measured differs between the two conditions",
            todo="Choose other regions, or give other conditions with --swap.",
        )
    return swapped


_Text: TypeAlias = tuple[Score, tuple[Span, ...]]


def texts_of(
    suite: Suite, context: Context, *, by_region: bool, items: Sequence[str]
) -> dict[tuple[str, str], _Text]:
    """The request for each stimulus, still without what is wanted of it, and its regions."""
    stimuli = suite.columns
    chosen = set(items or stimuli.ids)
    owners = [id_ for id_, shape in zip(stimuli.ids, stimuli.shapes, strict=True) for _ in shape]
    sentences, spans = joined(stimuli, rule=suite.join)
    befores = context.of_stimuli(stimuli)
    rows = zip(owners, stimuli.names, sentences, befores, spans, strict=True)
    return {
        (item, name): (
            Score(
                text, before, None, filled_spans(bounds) if by_region else (), suite.leading_blank
            ),
            tuple(bounds),
        )
        for item, name, text, before, bounds in rows
        if item in chosen
    }


def wanted_of(spans: Sequence[Span], regions: frozenset[int | str]) -> tuple[Span, ...]:
    """The spans of the regions that are measured."""
    numbered = enumerate(spans, start=1)
    return filled_spans([span for n, span in numbered if "*" in regions or n in regions])


def _patches(
    base: _Text,
    source: _Text,
    measured: frozenset[int | str],
    settings: ExplainSettings,
    kind: str,
) -> Iterator[tuple[int, Patch]]:
    """The interchanges between two sentences, by region."""
    (score, spans), (other, other_spans) = base, source
    wanted = wanted_of(spans, measured)
    end = max((stop for _, stop in wanted), default=0)
    asked = Patch(
        base=score._replace(wanted=wanted),
        source=other._replace(wanted=wanted_of(other_spans, measured)),
        place=(0, 0),
        source_place=(0, 0),
        part=settings.part,
        last=settings.align == "last",
    )
    for region, (place, other_place) in enumerate(zip(spans, other_spans, strict=False), start=1):
        if (settings.regions and region not in settings.regions) or not (
            place[0] < place[1] and other_place[0] < other_place[1]
        ):
            continue
        same = score.text[: place[1]] == other.text[: other_place[1]]
        if kind != "masked" and (place[0] >= end or (same and score.context == other.context)):
            continue
        yield region, replace(asked, place=place, source_place=other_place)
