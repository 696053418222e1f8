"""``cimento profile``: what models do in each dimension of a cloze suite, from stored runs."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import note, show

if TYPE_CHECKING:
    from cimento.cloze.judging.candidates import Candidate
    from cimento.cloze.profile import Frequency
    from cimento.cloze.records import ClozeItem
    from cimento.cloze.running import ClozeRun


# size: one argument for each option.
def profile(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Runs of cloze suites, or folders of.")
    ],
    *,
    by: Annotated[
        str, options.option("--by", help="A column whose values are the dimensions.")
    ] = "",
    k: Annotated[int, options.option("-k", "--top", min=1, help="Candidates that count.")] = 10,
    method: Annotated[
        str, options.option("--method", help="Candidates of this protocol; else of the first.")
    ] = "",
    dictionary: Annotated[
        str,
        options.option(
            "--dictionary", help="Judges by what items expect: delaf:FILE, rules:pt, pymorphy3."
        ),
    ] = "",
    judgments: Annotated[
        Path | None, options.option("--judgments", help="A table of judged candidates.")
    ] = None,
    not_expected: Annotated[
        list[str] | None,
        options.option(
            "--not-expected",
            help="A remark that says that a candidate is not what was asked for. May be repeated.",
        ),
    ] = None,
    threshold: Annotated[
        float,
        options.option("--threshold", min=0, max=1, help="Candidates above it are counted."),
    ] = 0.5,
    frequency: Annotated[
        bool, options.option("--frequency", help="Hits against the frequency of their targets.")
    ] = False,
    ratings: Annotated[
        Path | None,
        options.option("--ratings", help="A table with expression and rating (0: an idiom)."),
    ] = None,
    at_most: Annotated[
        float, options.option("--at-most", help="Leave expressions with a higher rating out.")
    ] = 1.0,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """The profile of each run: hits and shares that fit by dimension, confidence, calibration.

    Also: where the options are among candidates, hits of each expression, what goes with word
    frequency, and for several runs of a suite what one hits and another does not.
    """
    from cimento.cli.profile_text import compared_text, profile_text
    from cimento.cloze.profile import Profiling
    from cimento.cloze.profile import profile as compute
    from cimento.cloze.profile_json import profile_json
    from cimento.cloze.running import open_runs

    told = []
    texts = []
    asked: dict[str, list[tuple[str, Sequence[ClozeItem], Sequence[Candidate]]]] = {}
    rated = _ratings(ratings) if ratings else None
    for run in open_runs(runs):
        chosen = method or run.methods[0] if run.methods else ""
        items = _chosen_items(run, rated, at_most)
        candidates = _candidates(run, items, chosen, dictionary, judgments)
        how = Profiling(
            k=k,
            by=by,
            cluster=run.suite.cluster,
            remarks=tuple(not_expected or ()),
            threshold=threshold,
            frequency=_frequency(run.suite.meta.language) if frequency else None,
            seed=seed,
        )
        found = compute(items, candidates, how)
        name = {"suite": run.suite.name, "model": run.model, "method": chosen}
        told.append({**name, **profile_json(found)})
        texts.append(profile_text(run.suite.name, run.model, chosen, found))
        asked.setdefault(run.suite.name, []).append((run.model, items, candidates))
    if json:
        show(json_module.dumps({"profiles": told}, ensure_ascii=False, indent=2))
        return
    texts += [compared_text(suite, each, k) for suite, each in asked.items() if len(each) > 1]
    show("\n\n".join(texts))


def _chosen_items(
    run: ClozeRun, rated: Mapping[str, float] | None, at_most: float
) -> Sequence[ClozeItem]:
    from cimento.cloze.profile import choose_expressions

    return run.items if rated is None else choose_expressions(run.items, rated, at_most=at_most)


def _candidates(
    run: ClozeRun,
    items: Sequence[ClozeItem],
    method: str,
    dictionary: str,
    judgments: Path | None,
) -> list[Candidate]:
    """The candidates of the chosen items, with what people and the dictionary say of them."""
    from cimento.cli.run_cloze import judging_of
    from cimento.cloze.judging.candidates import check_candidates
    from cimento.cloze.judging.reuse import reuse_judgments
    from cimento.cloze.readers.candidates import read_candidates
    from cimento.cloze.remarks import with_remarks
    from cimento.cloze.summary import judged_candidates
    from cimento.errors import UsageError, did_you_mean

    if method not in run.methods:
        raise UsageError(
            where=f"--method {method}",
            seen=f"{run.folder or run.model} has no such candidates",
            todo=did_you_mean(method, run.methods),
        )
    settings = {"dictionary": dictionary} if dictionary else {}
    judging = judging_of(run, settings, k=len(run.items))
    ids = {item.id for item in items}
    found = [each for each in judged_candidates(run, method, judging) if each.item in ids]
    found = with_remarks(run, found)
    if judgments is not None:
        reused = reuse_judgments(found, read_candidates(judgments))
        note(f"{reused.taken} earlier judgments used, {len(reused.new)} candidates are new.")
        found = list(reused.candidates)
    for warning in check_candidates(found, items=[item.id for item in items]):
        note(f"warning: {run.suite.name}: {warning}")
    return found


def _frequency(language: str) -> Frequency | None:
    """Zipf frequencies of a language's words (Speer's wordfreq)."""
    from cimento.errors import MissingDependencyError

    try:
        import wordfreq
    except ModuleNotFoundError as error:
        raise MissingDependencyError(
            package="wordfreq", extra="frequency", purpose="--frequency"
        ) from error
    if language not in wordfreq.available_languages():
        note(f"warning: there are no frequencies for the language {language!r}")
        return None
    return lambda word: float(wordfreq.zipf_frequency(word, language))


def _ratings(path: Path) -> dict[str, float]:
    from cimento.errors import InputError
    from cimento.files import read_bytes
    from cimento.suites.tables import read_table

    table, faults = read_table(read_bytes(path), path)
    if table is None or not {"expression", "rating"} <= set(table.columns):
        seen = "; ".join(fault.seen for fault in faults) or "the columns are not those needed"
        raise InputError(where=path.name, seen=seen, todo="Name them expression and rating.")
    found = {}
    for row in table.rows:
        try:
            found[row.cells["expression"].strip()] = float(row.cells["rating"])
        except ValueError as error:
            raise InputError(where=table.where(row), seen=f"no number: {error}") from error
    return found
