"""``cimento suites match``, ``prime``, ``merge``, ``vary``, ``power`` and ``baseline``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.flags import SuiteOptions, SuitesOptions, command_of
from cimento.cli.resources import needed_frequencies
from cimento.errors import UsageError, counted, did_you_mean
from cimento.io.declared import Options, Texts, option
from cimento.io.files import folder_atomically, refuse_existing, write_text
from cimento.kinds.clusters import with_clusters
from cimento.kinds.registry import load_suite, load_suites, sentence_suite
from cimento.models.ngram_training import MOST_ORDER
from cimento.options import run_option
from cimento.suites import Suite
from cimento.suites.cloze import ClozeSuite
from cimento.suites.formats.native import write_native

if TYPE_CHECKING:
    from cimento.kinds.registry import LoadedSuite
    from cimento.kinds.run import Run
    from cimento.paired.item_outcomes import ItemOutcomes
    from cimento.statistics.planning import Pilot
    from cimento.suites.derived import Balance


class MatchOptions(SuiteOptions):
    """The allowed differences between the conditions of an item."""

    output: Path = option(..., "Folder to write.", flags=("-o",))
    words: int | None = option(None, "Largest difference in number of words.", ge=0)
    characters: int | None = option(None, "At most so many characters apart.", ge=0)
    frequency: float | None = option(None, "Mean Zipf frequencies at most so far apart.", ge=0)
    overlap: float | None = option(None, "At least this proportion of words in common.", ge=0, le=1)
    condition: Texts = option((), "Compare only these; may be repeated. All by default.")


@command_of
def match_suite(options: MatchOptions) -> None:
    """Write a copy with the items whose conditions match, and report how well they matched.

    Differences in length, frequency or words between conditions can make or hide an effect.
    """
    from cimento.suites.derived import Limits, match_items

    limits = options.named_in(Limits)
    if limits == Limits():
        raise UsageError(
            where="cimento suites match",
            seen="no limit is given",
            todo="Give --words, --characters, --frequency or --overlap.",
        )
    loaded = load_suite(options.suite)
    sentences = sentence_suite(loaded)
    language = sentences.meta.language
    known = needed_frequencies(language) if options.frequency is not None else None
    matched = match_items(
        sentences,
        limits,
        conditions=options.condition,
        frequency=known,
        sha256=loaded.reading.sha256,
    )
    folder_atomically(options.output, partial(write_native, matched.suite))
    kept = len(matched.suite.items)
    header = ("", "items", "words apart", "characters apart", "words shared", "frequency apart")
    rows = [
        ("all", kept + len(matched.dropped), *_numbers(matched.before)),
        ("kept", kept, *_numbers(matched.after)),
    ]
    show(in_columns(header, rows))
    note(f"Written: {options.output}")


class PrimeOptions(SuiteOptions):
    """The suite, and the sentences that come before its own."""

    output: Path = option(..., "Folder to write.", flags=("-o",))
    condition: str = option(
        "target",
        "Condition of the preceding sentences; of blanks, target, plausible or implausible.",
    )
    earlier: int = option(1, "Number of preceding sentences.", ge=1)
    seed: int = option(0, "Seed of the choice.")
    source: str = option(
        "",
        "Suite of the preceding sentences, such as the same phenomenon in a related language; else"
        " the suite itself.",
        flags=("--from",),
        metavar="SUITE",
    )


@command_of
def prime_suite(options: PrimeOptions) -> None:
    """Write a copy in which sentences of other items precede every sentence or blank, as context.

    cimento compare shows the effect of exposure. With --from they are of another suite: a few
    examples of the same phenomenon in a related language, or in an unrelated one.
    """
    from cimento.suites.priming import COLUMN, prime

    loaded, output = load_suite(options.suite), options.output
    made = prime(
        _sentences_or_blanks(loaded),
        options.condition,
        options.earlier,
        seed=options.seed,
        sha256=loaded.reading.sha256,
        source=_sentences_or_blanks(load_suite(options.source)) if options.source else None,
    )
    if isinstance(made, Suite):
        folder_atomically(output, partial(write_native, made))
        note(f"Written: {output}. Run it with: cimento run {output} --context-column {COLUMN}")
    else:
        folder_atomically(output, partial(loaded.paradigm.reader.write, made))
        note(f"Written: {output}. Run it with: cimento run {output}")


def _sentences_or_blanks(loaded: LoadedSuite) -> Suite | ClozeSuite:
    """A suite of blanks as it is, any other one as one of sentences."""
    suite = loaded.suite
    return suite if isinstance(suite, ClozeSuite) else sentence_suite(loaded)


class MergeOptions(SuitesOptions):
    """The suites to merge."""

    output: Path = option(..., "Folder to write.", flags=("-o",))
    name: str = option(..., "Name of the merged suite.")


@command_of
def merge_suite(options: MergeOptions) -> None:
    """Write several suites of one design as one, each as a phenomenon.

    Scores are normalized over a suite, so data to be pooled must be in one suite.
    """
    from cimento.suites.derived import merge_suites

    loaded, output = load_suites(options.suites), options.output
    parts = {one.suite.name: sentence_suite(one) for one in loaded}
    made = merge_suites(parts, name=options.name)
    folder_atomically(output, partial(write_native, made))
    note(f"Written: {output}, {counted(len(made.items), 'item')} of {counted(len(parts), 'suite')}")


def _numbers(balance: Balance) -> tuple[str, str, str, str]:
    frequency = "" if balance.frequency is None else f"{balance.frequency:.2f}"
    means = f"{balance.words:.2f}", f"{balance.characters:.1f}", f"{balance.overlap:.2f}"
    return *means, frequency


Of = Literal["rate", "margin", "dd", "correlation"]
_MOST_PILOTS = 2
_WHERE = "cimento analyze power"


class PowerOptions(Options):
    """The pilot, the quantity to test, and the power."""

    suite: str = option(
        ..., "A pilot run, or the suite of those that --pilot names.", argument="RUN|SUITE"
    )
    pilot: tuple[Path, ...] = option(
        (), "A pilot run; two in all for the difference of two models.", metavar="RUN"
    )
    of: Of = option("rate", "Tested: rate, margin, dd (factorial), or correlation (with ratings).")
    difference: float | None = option(
        None, "Smallest difference to be detected; by default that of the pilot."
    )
    against: float | None = option(None, "Share that a rate is tested against; else chance.")
    question: str = option("", "Name or number of a prediction, or hit@10; else what sums up.")
    phenomenon: str = option("", "Phenomenon of dd, if there are several.")
    measure: str = option("", "Measure of rates and dd; else as stored.")
    power: float = option(0.8, "Probability of detecting the difference.")
    alpha: float = option(0.05, "Level of the two-sided test.")
    trials: int = option(1000, "Data sets drawn for each size.")
    cluster: Texts = run_option("cluster")
    seed: int = option(0, "Seed of the draws.")
    methods: bool = option(
        default=False, help="Print the methods of the plan as a paragraph, and no table."
    )
    as_json: bool = run_option("as_json")


@command_of
def power_of_suite(options: PowerOptions) -> None:
    """Report how many items and clusters a difference needs, based on a pilot run.

    One pilot: a rate against chance, or margins, DD or a correlation with ratings against zero.
    Two: the second model's rate minus the first's. The power is exact for independent
    items, approximate for crossed clusters, and else from clusters of the pilot, drawn whole.
    """
    from cimento.compare.methods import power_methods
    from cimento.compare.robustness_tables import plan_grid
    from cimento.report.terminal import on_terminal
    from cimento.statistics.planning import plan_size

    name, pilots = _pilots(options)
    unit = ""
    if options.of == "rate":
        title, pilot = _rates(name, pilots, options)
    elif options.of == "correlation":
        title, pilot = _correlated(name, pilots, options)
    else:
        title, pilot, unit = _means(name, pilots, options)
    planned = plan_size(
        pilot,
        difference=options.difference,
        power=options.power,
        alpha=options.alpha,
        seed=options.seed,
        trials=options.trials,
    )
    if options.as_json:
        plain = {"suite": name, "title": title, "unit": unit, **asdict(planned)}
        show_json(plain)
        return
    from_pilot = options.difference is None
    if options.methods:
        show(power_methods(planned, pilot, title=title, from_pilot=from_pilot))
        return
    grid = plan_grid(planned, pilot, title=title, unit=unit, from_pilot=from_pilot)
    show(on_terminal(grid))


def _pilots(options: PowerOptions) -> tuple[str, tuple[Path, ...]]:
    """The name of the suite, and its pilot runs.

    Raises:
        UsageError: there is no pilot.
    """
    from cimento.kinds.run import open_runs
    from cimento.records.store import MANIFEST

    folder = Path(options.suite)
    if next(folder.rglob(MANIFEST), None) is not None:
        return open_runs(folder)[0].suite.name, (folder, *options.pilot)
    if not options.pilot:
        raise UsageError(
            where=_WHERE,
            seen=f"{options.suite} is not a folder of a run, and no --pilot is given",
            todo="Give a run of the suite: cimento analyze power RUN.",
        )
    return load_suite(options.suite).suite.name, options.pilot


def _rates(name: str, pilots: Sequence[Path], options: PowerOptions) -> tuple[str, Pilot]:
    """The quantity to test, and the pilot of one model's rate or of two models' difference."""
    from cimento.compare.pilots import chance_of_rates, pilot_of_rates

    if len(pilots) > _MOST_PILOTS:
        raise UsageError(
            where=_WHERE,
            seen=f"{len(pilots)} pilots",
            todo="Give one for a rate against chance, or two for the difference of two models.",
        )
    runs = [_pilot_run(path, name, options) for path in pilots]
    outcomes = [
        _outcomes(run, path, options.question) for run, path in zip(runs, pilots, strict=True)
    ]
    asked = f"{name}, {outcomes[0].question}"
    if len(outcomes) == _MOST_PILOTS:
        pilot = pilot_of_rates(outcomes, chance=None)
        return f"{asked}: {outcomes[1].model} less {outcomes[0].model}.", pilot
    against = options.against
    goal = "chance" if against is None else f"{against:g}"
    chance = chance_of_rates(runs[0], outcomes[0].question) if against is None else against
    pilot = pilot_of_rates(outcomes, chance=chance)
    return f"{asked}: {outcomes[0].model} against {goal}.", pilot


def _outcomes(run: Run, path: Path, question: str) -> ItemOutcomes:
    """The outcomes of a pilot for one question, or for the headline question if none is given.

    Raises:
        UsageError: the run does not have this question.
    """
    from cimento.paired.item_outcomes import item_outcomes
    from cimento.suites.naming import find_prediction

    asked = item_outcomes([run], every_question=True)
    by_question = {one.question: one for one in asked}
    prediction = find_prediction(question, getattr(run.suite, "predictions", ()))
    wanted = prediction.name if prediction is not None else question
    wanted = wanted or next((one.question for one in asked if one.headline), "")
    if wanted not in by_question:
        raise UsageError(
            where=f"--pilot {path}",
            seen=f"{question!r} was not asked" if question else "nothing was judged",
            todo=f"Give --question. {did_you_mean(question, by_question)}",
        )
    return by_question[wanted]


def _correlated(name: str, pilots: Sequence[Path], options: PowerOptions) -> tuple[str, Pilot]:
    """The correlation to test, and its pilot."""
    from cimento.compare.pilots import pilot_of_correlations
    from cimento.paired.item_outcomes import item_outcomes

    run = _one_pilot(name, pilots, options)
    outcomes = item_outcomes([run], every_question=True)
    asked = options.question or next((one.question for one in outcomes if one.references), "")
    pilot = pilot_of_correlations(outcomes, question=asked)
    return f"{name}, Spearman's correlation of {asked} with ratings, {run.model}.", pilot


def _one_pilot(name: str, pilots: Sequence[Path], options: PowerOptions) -> Run:
    if len(pilots) > 1:
        raise UsageError(
            where=_WHERE,
            seen=f"{len(pilots)} pilots",
            todo="Only rates are compared between two: give one pilot, or --of rate.",
        )
    return _pilot_run(pilots[0], name, options)


def _means(name: str, pilots: Sequence[Path], options: PowerOptions) -> tuple[str, Pilot, str]:
    """The quantity to test, the pilot of margins or DD, and their unit."""
    from cimento.compare.pilots import pilot_of_interactions, pilot_of_margins
    from cimento.paired.scores import interactions_of

    is_dd, phenomenon = options.of == "dd", options.phenomenon
    run = _one_pilot(name, pilots, options)
    outcomes = _outcomes(run, pilots[0], options.question)
    if not is_dd:
        return f"{name}, margins of {run.model}.", pilot_of_margins(outcomes), outcomes.unit
    scores = run.paradigm.judge.scores(run)
    interactions = {} if scores is None else interactions_of(scores)
    pilot = pilot_of_interactions(interactions, outcomes, phenomenon=phenomenon)
    part = f" of {phenomenon}" if phenomenon else ""
    if scores is None:
        return f"{name}, DD{part}.", pilot, ""
    title = f"{name}, DD{part} by {scores['measure'][0]}, {run.model}."
    return title, pilot, str(scores["unit"][0])


def _pilot_run(path: Path, name: str, options: PowerOptions) -> Run:
    """The only run of a suite in the folder of a pilot.

    Raises:
        UsageError: the folder contains no run of the suite, or runs of several models.
    """
    from cimento.kinds.run import open_runs
    from cimento.paired.item_outcomes import judged_on_measure

    stored = open_runs(path)
    runs = [run for run in stored if run.suite.name == name]
    if not runs:
        suites = ", ".join(sorted({run.suite.name for run in stored}))
        raise UsageError(
            where=f"--pilot {path}", seen=f"it is a run of {suites}", todo=f"Give a run of {name}."
        )
    if len(runs) > 1:
        raise UsageError(
            where=str(path),
            seen=f"it holds runs of {', '.join(sorted({run.model for run in runs}))}",
            todo="Give the folder of one run; two for their difference: cimento analyze power SUITE"
            " --pilot RUN --pilot RUN.",
        )
    measure = options.measure if options.of in ("rate", "dd") else ""
    return judged_on_measure(with_clusters(runs, options.cluster), measure)[0]


class VaryOptions(SuiteOptions):
    """The suite, and what is varied in it."""

    variants: Path = option(..., 'A file with [[variants]] (see the page "Suites from grammars").')
    output: Path = option(..., "Folder; each variant gets one in it.", flags=("-o",))


@command_of
def vary_suite(options: VaryOptions) -> None:
    """Write variants of a suite, each with one lexical change in every item and its provenance.

    Run suite and variants with one model, then: cimento compare RUN RUN.
    """
    from cimento.faults import summarize
    from cimento.suites.load import inspect_suite
    from cimento.suites.variants import open_slots, read_variants, vary

    loaded = load_suite(options.suite)
    sentences, digest = sentence_suite(loaded), loaded.reading.sha256
    variants = read_variants(options.variants)
    made = [(variant, vary(sentences, variant, sha256=digest)) for variant in variants]
    rows: list[tuple[object, ...]] = []
    for variant, varied in made:
        folder = write_native(varied.suite, options.output / varied.suite.name)
        changed, untouched = len(varied.changed), len(varied.untouched)
        rows.append((variant.name, changed, varied.sentences, untouched, folder))
        for line in summarize(inspect_suite(folder)[1]):
            note(f"{varied.suite.name}: {line}")
        if left := open_slots(varied.suite):
            note(f"{varied.suite.name}: slots that nothing fills: {', '.join(left)}")
    header = ("variant", "items changed", "sentences changed", "items untouched", "folder")
    show(in_columns(header, rows))


class BaselineOptions(Options):
    """The text of an n-gram model."""

    text: tuple[Path, ...] = option(
        ..., "A text with a sentence per line, or a treebank (.conllu). Repeatable."
    )
    output: Path = option(..., "File to write, such as italian.arpa.", flags=("-o",))
    order: int = option(5, "Length of the longest n-grams, in words.", ge=1, le=MOST_ORDER)


@command_of
def baseline_of_text(options: BaselineOptions) -> None:
    """Make an n-gram model of texts, as a baseline: of 5 words, or with --order 1 of single ones.

    Smoothing is interpolated modified Kneser-Ney. Leave the sentences of the suite out of the text.
    """
    from cimento.corpus.treebanks import text_lines
    from cimento.models.ngram_training import train

    refuse_existing(options.output)
    lines = (line for path in options.text for line in text_lines(path))
    trained = train(lines, options.output, order=options.order)
    counts = ", ".join(f"{count:,}" for count in trained.ngrams)
    note(
        f"{options.output}: {counted(trained.sentences, 'sentence')}, {trained.words:,} words,"
        f" {trained.vocabulary:,} of them different; n-grams by length: {counts}."
    )
    if trained.guessed:
        orders = ", ".join(map(str, trained.guessed))
        note(
            f"The text is too small to estimate the discounts of length {orders}: those of lmplz's"
            " --discount_fallback are used."
        )
    note(f"Next: cimento run SUITE -m kenlm:{options.output}")


class ExposureOptions(Options):
    """The corpus, and what is looked for in it."""

    runs: tuple[Path, ...] = option(
        ..., "Run folders, or folders of runs, of one suite.", argument="RUN..."
    )
    corpus: tuple[Path, ...] = option(
        ..., "A text with a sentence per line, or a treebank (.conllu). Repeatable."
    )
    before: int = option(1, "Words before those that differ, looked for together.", ge=0, le=10)
    cluster: Texts = run_option("cluster")
    output: Path | None = option(None, "A table of the counts: .tsv.", flags=("-o",))
    as_json: bool = option(default=False, help="Print rates and counts as JSON.", flags=("--json",))


@command_of
def exposure_of_runs(options: ExposureOptions) -> None:
    """Count the critical words of items in a corpus, and show accuracy on those it lacks.

    Critical are the words that differ between the two sides, with --before words before them.
    """
    from cimento.corpus.treebanks import text_lines
    from cimento.kinds.run import open_runs
    from cimento.paradigms.regions import corpus_exposure
    from cimento.report.terminal import on_terminal

    runs = with_clusters(open_runs(options.runs), options.cluster)
    names = sorted({run.suite.name for run in runs})
    if len(names) != 1:
        raise UsageError(
            where="cimento analyze exposure",
            seen=f"there are runs of {counted(len(names), 'suite')}: {', '.join(names)}",
            todo="Give runs of one suite.",
        )
    lines = [line for path in options.corpus for line in text_lines(path)]
    found = corpus_exposure(runs, lines, before=options.before)
    rows = [
        (pair.item, pair.alternative, " ".join(pair.good), " ".join(pair.bad), str(pair.n_good),
         str(pair.n_bad), str(pair.n_whole), f"{pair.log_ratio:.4f}")
        for pair in found.pairs
    ]  # fmt: skip
    if options.output is not None:
        header = ("item", "alternative", "good", "bad", "n_good", "n_bad", "n_whole", "log2_ratio")
        text = "".join("\t".join(row) + "\n" for row in (header, *rows))
        note(f"Counts: {write_text(text, options.output)}")
    if options.as_json:
        show_json({"exposures": [asdict(exposure) for exposure in found.exposures],
                   "pairs": [asdict(pair) for pair in found.pairs]})  # fmt: skip
        return
    show(on_terminal(found.grid))
