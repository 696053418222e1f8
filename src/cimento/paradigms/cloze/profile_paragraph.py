"""The methods of profiles of cloze suites, in a paragraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cite.methods import cited_text
from cimento.cite.sentences import names_in_row
from cimento.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cimento.paradigms.cloze.run_profiles import ProfiledRun, ProfileSettings, RunProfiles


def profile_methods(profiles: RunProfiles, settings: ProfileSettings) -> str:
    """The methods of some profiles; every sentence is made from them.

    Args:
        profiles: profiles of runs.
        settings: what they are made of.

    Returns:
        A paragraph with works in parentheses.
    """
    return cited_text(" ".join(_sentences(profiles, settings)))


def _sentences(profiles: RunProfiles, settings: ProfileSettings) -> Iterator[str]:
    runs, k = profiles.runs, profiles.k
    models = list(dict.fromkeys(one.answers.run.model for one in runs))
    sizes = {one.answers.suite.name: len(one.items) for one in runs}
    suites = names_in_row([f"{name} ({counted(n, 'item')})" for name, n in sizes.items()])
    yield f"We profiled {names_in_row(models)} on {suites} with cimento [@cimento]."
    yield (
        f"A hit is a target among the first {counted(k, 'candidate')}, found by"
        f" {names_in_row(list(dict.fromkeys(one.method for one in runs)))}."
    )
    dimensions = runs[0].profile.dimensions
    if settings.by:
        yield f"Dimensions are the {len(dimensions) - 1} values of {settings.by}."
    yield from _of_judgments(runs, settings)
    methods = dict.fromkeys(
        share.interval.method or ""
        for one in runs
        for dimension in one.profile.dimensions
        for share in (*dimension.hits, *dimension.fitting)
        if share.interval.low is not None
    )
    if methods:
        yield f"Intervals of 95% are by {names_in_row(list(methods))}."
    if any(one.profile.frequency is not None for one in runs):
        yield (
            "Hits were related to the Zipf frequency of their targets by AUC and by Spearman's"
            " correlation with the reciprocal rank [@spearman1904]."
        )
    if settings.top_p is not None:
        yield (
            f"A target is also sought among the candidates that reach {settings.top_p:g}"
            " together [@holtzman2020]."
        )
    if settings.ratings is not None:
        yield f"Expressions with a mean rating above {settings.at_most:g} were left out."


def _of_judgments(runs: tuple[ProfiledRun, ...], settings: ProfileSettings) -> Iterator[str]:
    """Sentences on who says which candidates fit."""
    if not any(dimension.fitting for one in runs for dimension in one.profile.dimensions):
        return
    by = [
        *([f"the dictionary {settings.dictionary}"] if settings.dictionary else []),
        *([f"people ({settings.judgments.name})"] if settings.judgments else []),
    ]
    said = f" by {names_in_row(by)}" if by else ""
    yield (
        f"Candidates were judged{said}; proportions of fitting ones are of those judged, and"
        f" probabilities above {settings.threshold:g} were counted apart [@wilkens2023]."
    )
    if any(one.people is not None for one in runs):
        yield "Scores of options were compared with the choices of people."
