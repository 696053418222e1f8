"""The paradigm of rated sentences: models compared with people (docs/ratings.md).

A suite of ratings is a suite of regions whose columns contain people's judgments of its sentences.
Pairs are judged like all other pairs; in addition, every sentence has a value of each measure,
which is compared with its mean rating.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cite.sentences import measure_phrase as describe_measure
from cimento.errors import Fault, counted
from cimento.faults import NO_PREDICTIONS
from cimento.io.files import file_digest
from cimento.io.values import group_by
from cimento.kinds.asker import Asker
from cimento.kinds.base import SuiteReading
from cimento.kinds.judge import Judge
from cimento.kinds.paradigm import Paradigm
from cimento.kinds.plain import PlainPresenter
from cimento.kinds.reader import SuiteReader
from cimento.measures import NoValue, Value, find_measure
from cimento.paradigms.ratings.estimates import (
    TOKENS,
    RatedValues,
    rating_estimates,
)
from cimento.paradigms.ratings.marked import is_marked_list, read_marked
from cimento.paradigms.ratings.methods import compared_with, in_brief, raters
from cimento.paradigms.ratings.people import FREQUENCY, WORDS, mean_log_frequency
from cimento.paradigms.ratings.rated_pairs import is_rated_pairs, read_rated_pairs
from cimento.paradigms.ratings.reading import is_bare_table, is_ratings, read_bare
from cimento.paradigms.ratings.runs import (
    RatedRun,
    RatingOptions,
    compared_sentences,
    perplexity_of,
    rating_options,
)
from cimento.paradigms.ratings.scatter import scatter_figure, scatter_frame
from cimento.paradigms.ratings.sections import (
    rated_tables,
    rating_remarks,
    with_people,
)
from cimento.paradigms.ratings.text import brief_rated_text, rated_runs_text
from cimento.paradigms.regions import REGIONS
from cimento.paradigms.regions.judging import (
    judged_suite,
    outcomes_of,
    questions,
    sentences_of,
    suite_of,
)
from cimento.paradigms.regions.options import RegionOptions
from cimento.paradigms.regions.people_effects import people_of_suite
from cimento.records.outcomes import GROUP, Estimate, Outcome, outcomes_table, rate, with_headline
from cimento.report import SuiteReport
from cimento.report.figures import Figure, drawable
from cimento.suites import Suite
from cimento.suites.builtin import RATED
from cimento.suites.checks import check_suite
from cimento.suites.formats.ratings import is_rated_table, read_rated
from cimento.suites.ratings import (
    AUTHOR,
    DECIMALS,
    RatedSentence,
    looks_decimal,
    rated_of,
    rating_faults,
    ratings_by,
    scale_said,
    suite_from_ratings,
    with_rating_roles,
)
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Requests
    from cimento.kinds.base import AskedModel, MethodFacts
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking


NO_RATINGS = "No sentence has a rating: there is nothing to correlate measures with."

_BAD = ("unacceptable", "bad")


KINDS = (RATED, "ratings")


_OWN_TABLES = {
    is_bare_table: read_bare,
    is_marked_list: read_marked,
    is_rated_pairs: read_rated_pairs,
}
"""What tells a table of somebody's own, and what reads it."""


class RatingReader(SuiteReader[Suite]):
    """The reader of rated sentences: suites of regions with ratings as columns."""

    has_regions = True
    files = staticmethod(REGIONS.reader.files)
    write = staticmethod(REGIONS.reader.write)
    groups = staticmethod(REGIONS.reader.groups)
    selected = staticmethod(REGIONS.reader.selected)
    sentences = staticmethod(REGIONS.reader.sentences)
    read_copy = staticmethod(REGIONS.reader.read_copy)

    def holds(self, suite: Suite) -> str:
        """The numbers of items and conditions, and the scale of the ratings."""
        return "; ".join(filter(None, (REGIONS.reader.holds(suite), scale_said(suite))))

    def detect(self, path: Path) -> bool:
        """Whether a file is in a format of rated sentences, or a table of rated sentences."""
        return is_ratings(path)

    def read(self, path: Path) -> SuiteReading[Suite]:
        """A folder of this kind, or a published file, with every fault in it.

        Raises:
            InputError: the file cannot be read, or a rating in a published file is not a number.
        """
        if is_rated_table(path):
            rated = read_rated(path)
            suite = suite_from_ratings(rated)
            return SuiteReading(
                suite=suite,
                faults=self.check(suite),
                sha256=file_digest(path),
                path=path,
                format=RATED,
                table=rated.read,
            )
        if read := next((read for fits, read in _OWN_TABLES.items() if fits(path)), None):
            bare = read(path)
            suite_faults = check_suite(bare.suite, places=bare.places)
            return SuiteReading(
                suite=bare.suite,
                faults=_without_predictions((*bare.faults, *suite_faults)),
                sha256=bare.sha256,
                path=path,
                format=RATED,
                table=bare.table,
            )
        reading = REGIONS.reader.read(path)
        wrong = rating_faults(reading.suite) if reading.suite is not None else ()
        faults = (*_without_predictions(reading.faults), *wrong)
        table = reading.table and with_rating_roles(reading.table, reading.suite)
        return dataclasses.replace(reading, faults=faults, table=table)

    def owns(self, suite: object) -> bool:
        """Whether a suite made in Python declares this kind."""
        return isinstance(suite, Suite) and suite.extra.get("kind") in KINDS

    def check(self, suite: Suite) -> tuple[Fault, ...]:
        """Every fault of a suite; single sentences need no predictions."""
        return (*_without_predictions(REGIONS.reader.check(suite)), *rating_faults(suite))


class RatingAsker(Asker[Suite, RegionOptions]):
    """The asker of rated sentences, of which measures need every token."""

    scoring = REGIONS.asker.scoring
    recording = staticmethod(REGIONS.asker.recording)

    def requests(
        self,
        suite: Suite,
        options: RegionOptions,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """Requests for every token of every sentence, since measures are of whole sentences.

        Raises:
            CimentoError: as for suites of regions.
        """
        scoring = dataclasses.replace(scoring, all_tokens=True)
        ask = REGIONS.asker.requests
        return ask(suite, options, scoring=scoring, model=model, answers=answers)


class RatingJudge(Judge["Run"]):
    """The judge of pairs, and of what measures have to do with ratings."""

    clustered = staticmethod(REGIONS.judge.clustered)

    scores = staticmethod(REGIONS.judge.scores)
    sentence_scores = staticmethod(REGIONS.judge.sentence_scores)
    side_values = staticmethod(REGIONS.judge.side_values)

    def outcomes(self, run: Run) -> pl.DataFrame:
        """The verdicts on pairs, and a row for each sentence and measure.

        The row of a sentence has no verdict: its value is paired with the mean rating, or the mean
        z-score, in the column ``reference``. Sentences of one cluster of the suite, or else of one
        pair, belong together.

        Raises:
            CimentoError: the answers cannot be judged this way.
        """
        import polars as pl

        measures = rating_options(run).measures(run.model_kind)
        names = dict.fromkeys((*(measure.name for measure in measures), perplexity_of(run)))
        sentences = outcomes_table(run.suite.name, _sentence_outcomes(run, names))
        if not judged_suite(run).predictions:
            return sentences
        return pl.concat([_with_groups(outcomes_of(run), run), sentences], how="diagonal")

    def estimates(self, run: Run) -> list[Estimate]:
        """The accuracies of pairs, then the comparisons of measures with ratings and labels."""
        options, outcomes = rating_options(run), run.outcomes()
        pairs = list(REGIONS.judge.estimates(run))
        last = questions(run)[-1:]
        whole = [one for one in pairs if one.question in last and not one.group]
        values = RatedValues.of(rated_of(suite_of(run)).sentences, outcomes)
        beside = rating_estimates(
            values,
            Estimate(suite=run.suite.name, model=run.model, question=""),
            compared=compared_sentences(suite_of(run), options),
            measures=options.measures(run.model_kind),
            perplexity=perplexity_of(run),
            seed=options.seed,
            draws=options.draws,
        )
        done = {accuracy.group for accuracy in pairs}
        columns = [column for column in options.by if column not in done]
        grouped = [estimate for one in whole for estimate in _by_column(outcomes, one, columns)]
        return with_headline([*pairs, *beside, *grouped])


class RatingPresenter(PlainPresenter[Suite]):
    """The presenter of rated sentences beside the scores of models."""

    tables = REGIONS.presenter.tables
    figures = REGIONS.presenter.figures
    table = staticmethod(REGIONS.presenter.table)
    drawable = staticmethod(REGIONS.presenter.drawable)
    figure = staticmethod(REGIONS.presenter.figure)
    describe = staticmethod(REGIONS.presenter.describe)
    record = staticmethod(REGIONS.presenter.record)
    design_effects = staticmethod(REGIONS.presenter.design_effects)

    def methods(self, run: Run) -> MethodFacts:
        """The facts about measures, ratings and tests."""
        suite, options = suite_of(run), rating_options(run)
        sentences = rated_of(suite).sentences
        rated = sum(sentence.mean is not None for sentence in sentences)
        together = " or ".join(f"one {name}" for name in suite.cluster) or "a pair"
        by_author = ratings_by(suite) == AUTHOR
        ratings, one = compared_with(options, by_author=by_author)
        names = tuple(measure.name for measure in options.measures(run.model_kind))
        tests = (
            f"The measures of sentences were {'; '.join(map(describe_measure, names))}. We"
            f" correlated each of them with {ratings} (Spearman's [@spearman1904], Pearson's and"
            " Kendall's correlation, with jackknife intervals on Fisher's z scale [@efron1993]),"
            " and computed Spearman's partial correlation controlling for length in words (and for"
            " word frequency, if known). Spearman's rho was tested with the same jackknife errors"
            f" (Student's t; the sentences of {together} were left out together), with p values"
            " corrected by Holm's method over the measures [@holm1979]."
        )
        facts = REGIONS.presenter.methods(run)
        is_named = bool(suite.predictions) and names[0] == options.measure
        brief = in_brief(names, one, is_named=is_named)
        people = people_of_suite(suite, seed=options.seed)
        who = () if by_author or not rated else (raters(suite),)
        of_people = tuple(f"{said}." for said in who) + ((people.methods,) if people else ())
        of_raters = tuple(f"{said}{people.scaled if people else ''}." for said in who)
        return dataclasses.replace(
            facts,
            counted=_counted(len(sentences), rated, by_author=by_author),
            sentences=(*facts.sentences, *of_people, *((tests,) if rated else ())),
            brief=(*facts.brief, *of_raters, *((brief,) if rated else ())),
            measures=names,
        )

    def warnings(self, run: Run) -> tuple[str, ...]:
        """The warnings of region suites, and those about questionable ratings."""
        suite = suite_of(run)
        rated = any(sentence.mean is not None for sentence in rated_of(suite).sentences)
        doubts = {NO_RATINGS: not rated, DECIMALS: looks_decimal(suite)}
        return (
            *REGIONS.presenter.warnings(run),
            *(doubt for doubt, holds in doubts.items() if holds),
        )

    def remarks(self, run: Run) -> Sequence[str]:
        """The noise ceiling, the agreement of the people, and a caution on few sentences."""
        return rating_remarks(RatedRun(run))

    def sections(self, runs: Sequence[Run]) -> list[SuiteReport]:
        """The sections of region suites, with ratings of items, scatters and correlation tables."""

        def judged(run: Run) -> tuple[str, ...]:
            formulas = (prediction.formula for prediction in judged_suite(run).predictions)
            return (run.suite.name, *formulas)

        return [self._section(group) for group in group_by(runs, judged).values()]

    def _section(self, runs: Sequence[Run]) -> SuiteReport:
        """The section of some runs of one suite, each judged on its first measure."""
        first = [run.judged({"also": ()}) if rating_options(run).also else run for run in runs]
        (section,) = REGIONS.presenter.sections(first)
        rated = [RatedRun(run) for run in runs]
        makers: list[Callable[[], Figure]] = [partial(scatter_of, run) for run in runs]
        return SuiteReport(
            runs=tuple(
                with_people(report, one) for report, one in zip(section.runs, rated, strict=True)
            ),
            figures=drawable(*makers, after=section.figures),
            tables=(*rated_tables(rated), *section.tables),
        )

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:
        """The table of pairs, if there are any, then the text of each run, or what sums it up."""
        return brief_rated_text(runs) if brief else rated_runs_text(runs)


RATINGS = Paradigm(
    name="ratings",
    kinds=KINDS,
    options=RatingOptions,
    reader=RatingReader(),
    asker=RatingAsker(),
    judge=RatingJudge(),
    presenter=RatingPresenter(),
    surveyor=REGIONS.surveyor,
)
"""The paradigm of rated sentences."""


def scatter_of(run: Run, measure: str = "") -> Figure:
    """The scatter of a measure against the ratings.

    Args:
        run: run of this paradigm.
        measure: name of the measure; empty for the run's first one.

    Raises:
        UsageError: the measure is unknown, or there is nothing to draw.
        MissingDependencyError: altair is not installed.
    """
    suite = suite_of(run)
    chosen = find_measure(measure) if measure else rating_options(run).measures(run.model_kind)[0]
    beside = outcomes_table(run.suite.name, _sentence_outcomes(run, [chosen.name]))
    values = RatedValues.of(rated_of(suite).sentences, beside)
    frame = scatter_frame(values.rows(chosen.name), higher_is_better=chosen.higher_is_better)
    return scatter_figure(
        frame, suite=suite.name, model=run.model, by=ratings_by(suite), measure=chosen
    )


def _counted(n: int, rated: int, *, by_author: bool) -> str:
    """The number of sentences, and of those with ratings if they are fewer."""
    if by_author and rated:
        some = "" if n == rated else f" ({rated:,} of them)"
        return f"{counted(n, 'sentence')} with degrees expected by the author{some}"
    if n == rated:
        return counted(n, "rated sentence")
    return f"{counted(n, 'sentence')} ({rated:,} of them rated)"


def _without_predictions(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    return tuple(fault for fault in faults if fault.code != NO_PREDICTIONS)


def _sentence_outcomes(run: Run, measures: Iterable[str]) -> Iterator[Outcome]:
    """The values of every sentence: of the measures, and of the covariates held constant."""
    suite, options = suite_of(run), rating_options(run)
    scored = {(s.item, s.condition): s for s in sentences_of(run)}
    in_order = [scored[item.id, condition.name] for item, condition in suite.stimuli()]
    rows = [
        (_outcome_like(sentence), sentence.mean, one)
        for sentence, one in zip(compared_sentences(suite, options), in_order, strict=True)
    ]
    for measure in map(find_measure, measures):
        for like, mean, one in rows:
            value = measure.of(one.sentence)
            yield _valued(like, measure.name, value, measure.unit, reference=mean)
    for like, _, one in rows:
        whole = one.sentence
        words = count_words(one.text) if isinstance(whole, NoValue) else whole.n_words
        yield _valued(like, WORDS, words, "words")
        n_tokens: Value = whole if isinstance(whole, NoValue) else float(whole.n_tokens)
        yield _valued(like, TOKENS, n_tokens, "tokens")
        if options.unigrams:
            yield _valued(like, FREQUENCY, mean_log_frequency(one), "nats")


def _outcome_like(sentence: RatedSentence) -> Outcome:
    """An outcome with the cluster of a sentence, its label and its grammaticality."""
    grammatical = {True: "yes", False: "no", None: ""}[sentence.grammatical]
    groups = {"label": sentence.label, "grammaticality": grammatical}
    return Outcome(
        item=sentence.id,
        question="",
        cluster=sentence.cluster or (f"pair {sentence.pair}" if sentence.pair else ""),
        groups={name: value for name, value in groups.items() if value},
    )


def _valued(
    like: Outcome, question: str, value: Value, unit: str, *, reference: float | None = None
) -> Outcome:
    """An outcome with its value, or the reason for none."""
    like = dataclasses.replace(like, question=question, unit=unit, reference=reference)
    if isinstance(value, NoValue):
        return dataclasses.replace(like, reason=value.reason)
    return dataclasses.replace(like, value=value)


def _with_groups(pairs: pl.DataFrame, run: Run) -> pl.DataFrame:
    """The verdicts on pairs, with the columns by which accuracies are broken down.

    A pair gets the values of its unacceptable sentence, because the replacement and the
    grammaticality are that sentence's.
    """
    import polars as pl

    suite = suite_of(run)
    columns = [name for name in rating_options(run).by if name in suite.column_names]
    values: dict[str, list[str | None]] = {"item": [item.id for item in suite.items]}
    for name in columns:
        values[GROUP + name] = [
            next((c for c in item.conditions if c.name in _BAD), item.conditions[-1]).columns.get(
                name
            )
            or None
            for item in suite.items
        ]
    known = {name: cells for name, cells in values.items() if any(cells)}
    groups = pl.DataFrame(known, schema=dict.fromkeys(known, pl.String))
    replaced = pairs.drop([name for name in known if name in pairs.columns and name != "item"])
    return replaced.join(groups, on="item", how="left", maintain_order="left")


def _by_column(
    outcomes: pl.DataFrame, whole: Estimate, columns: Sequence[str]
) -> Iterator[Estimate]:
    """The accuracy over the pairs with each value of each column, in order of first appearance."""
    import polars as pl

    asked = outcomes.filter(
        (pl.col("question") == whole.question) & (pl.col("method") == whole.method)
    )
    for column in columns:
        name = GROUP + column
        if name not in asked.columns or asked[name].is_null().all():
            continue
        for level in asked[name].unique(maintain_order=True):
            one = asked.filter(pl.col(name).eq_missing(pl.lit(level)))
            like = dataclasses.replace(
                whole, group=column, level=level or "", role="detail", near_tied=None,
                near_tie_bits=None, near_tie_method=None, by_length=None, off_by_length=False,
            )  # fmt: skip
            yield rate(one, like)
