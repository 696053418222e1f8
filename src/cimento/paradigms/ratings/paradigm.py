"""The paradigm of rated sentences: models compared with people (docs/acceptability.md).

A suite of ratings is a suite of regions whose columns contain people's judgments of its sentences.
Pairs are judged like all other pairs; in addition, every sentence has a value of each measure,
which is compared with its mean rating.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from pydantic import BeforeValidator, Field

from cimento.cite.sentences import measure_phrase as describe_measure
from cimento.errors import Fault, counted
from cimento.io.files import file_digest
from cimento.measures import Measure, Missing, find_measure, find_measures
from cimento.measures.regions import count_first_tokens
from cimento.paradigms.base import Stored, SuiteReading
from cimento.paradigms.ratings.correlation import DRAWS, FREQUENCY, WORDS, mean_log_frequency
from cimento.paradigms.ratings.estimates import (
    TOKENS,
    RatedValues,
    rating_estimates,
    with_headline,
)
from cimento.paradigms.ratings.formats import NO_PREDICTIONS, is_rated_table, read_rated
from cimento.paradigms.ratings.people import standardised
from cimento.paradigms.ratings.sections import (
    RatedRun,
    rated_tables,
    rated_text,
    scatter_figure,
    scatter_frame,
    with_people,
)
from cimento.paradigms.ratings.suite import (
    DECIMALS,
    is_bare_table,
    looks_decimal,
    rated_of,
    rating_faults,
    ratings_by,
    read_bare,
    suite_from_ratings,
)
from cimento.paradigms.regions.judging import (
    ALL,
    judged_suite,
    outcomes_of,
    sentences_of,
    suite_of,
    tokens_of,
)
from cimento.paradigms.regions.options import RegionOptions, names_of
from cimento.paradigms.regions.paradigm import RegionParadigm
from cimento.report.figures import Figure, drawable
from cimento.report.records import SuiteReport
from cimento.runs.outcomes import GROUP, Estimate, Outcome, outcomes_table, rate
from cimento.suites.builtin import RATED
from cimento.suites.checks import check_suite
from cimento.suites.model import JsonValue, Suite

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Requests
    from cimento.measures.scores import ScoredSentence
    from cimento.models.settings import Asking
    from cimento.paradigms.base import AskedModel, MethodFacts
    from cimento.paradigms.ratings.suite import RatedSentence
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder

NO_RATINGS = "No sentence has a rating: there is nothing to correlate measures with."

_PERPLEXITY: Mapping[str, str] = {"causal": "ppl", "masked": "pppl"}
_BAD = ("unacceptable", "bad")


class RatingOptions(RegionOptions):
    """The options for judging a suite of ratings.

    Attributes:
        by: columns by which the accuracy of pairs is broken down, if the suite has them.
        ratings: values with which measures are compared: ``raw`` mean ratings, or the mean
            ``z``-scores of ratings by participant.
        draws: number of permutations of a test, and of divisions of ratings into halves; 0 for no
            test.
    """

    by: Annotated[tuple[str, ...], BeforeValidator(names_of)] = (
        "connective",
        "replacement",
        "grammaticality",
        "phenomenon",
    )
    ratings: Literal["raw", "z"] = "raw"
    draws: Annotated[int, Field(ge=0)] = DRAWS

    def measures(self, model_kind: str) -> tuple[Measure, ...]:
        """The measures compared with the ratings: those in the options, or else the usual ones.

        Args:
            model_kind: kind of the model, which determines the perplexity.

        Raises:
            UsageError: a measure is unknown.
        """
        named = [name for name in (self.measure, *self.also) if name]
        perplexity = _PERPLEXITY.get(model_kind)
        usual = ["lp", "meanlp", "penlp", *([perplexity] if perplexity else [])]
        return find_measures(named or [*usual, *(["slor"] if self.unigrams else [])])

    def inputs(self, suite: Suite, scoring: Asking) -> dict[str, JsonValue]:
        """The other inputs on which a stored run's answers depend.

        Args:
            suite: the suite.
            scoring: rules by which its texts are scored.

        Raises:
            UsageError: z-scores are requested and no rating has one.
            CimentoError: as for suites of regions.
        """
        # Mistakes are reported before a model is asked.
        _compared(suite, self)
        return super().inputs(suite, scoring)


class Ratings(RegionParadigm):
    """Suites of rated sentences, as far as they differ from suites of regions."""

    name = "ratings"
    kinds = (RATED, "ratings")
    options = RatingOptions

    def detect(self, path: Path) -> bool:
        """Whether a file is in a format of rated sentences, or a bare table of rated sentences."""
        return is_rated_table(path) or is_bare_table(path)

    def read(self, path: Path) -> SuiteReading[Suite]:
        """A folder of this kind, or a published file, with every fault in it.

        Raises:
            InputError: the file cannot be read, or a rating in a published file is not a number.
        """
        if is_rated_table(path):
            suite = suite_from_ratings(read_rated(path))
            digest = file_digest(path)
            faults = self.check(suite)
            return SuiteReading(suite=suite, faults=faults, sha256=digest, path=path, format=RATED)
        if is_bare_table(path):
            bare = read_bare(path)
            found = check_suite(bare.suite, places=bare.places)
            return SuiteReading(
                suite=bare.suite,
                faults=_without_predictions((*bare.faults, *found)),
                sha256=bare.sha256,
                path=path,
                format=RATED,
            )
        reading = super().read(path)
        wrong = rating_faults(reading.suite) if reading.suite is not None else ()
        faults = (*_without_predictions(reading.faults), *wrong)
        return dataclasses.replace(reading, faults=faults)

    def owns(self, suite: object) -> bool:
        """Whether a suite made in Python declares this kind."""
        return isinstance(suite, Suite) and suite.extra.get("kind") in self.kinds

    def check(self, suite: Suite) -> tuple[Fault, ...]:
        """Every fault of a suite; single sentences need no predictions."""
        return (*_without_predictions(super().check(suite)), *rating_faults(suite))

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
        return super().requests(suite, options, scoring=scoring, model=model, answers=answers)

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[Suite, RegionOptions]:
        """The suite and the options of a stored run; version 0.1 stored them in two places.

        Raises:
            TableError: the suite or the options cannot be read.
        """
        judging, options = manifest.get("judging"), manifest.get("options")
        if isinstance(judging, Mapping) and isinstance(options, Mapping):
            chosen = options.get("set")
            judging = {**judging, **(chosen if isinstance(chosen, Mapping) else {})}
            manifest = {**manifest, "judging": judging}
        return super().restore(folder, manifest)

    def judge(self, run: Run) -> pl.DataFrame:
        """The verdicts on pairs, and a row for each sentence and measure.

        The row of a sentence has no verdict: its value is paired with the mean rating, or the mean
        z-score, in the column ``reference``. Sentences of one cluster of the suite, or else of one
        pair, belong together.

        Raises:
            CimentoError: the answers cannot be judged this way.
        """
        import polars as pl

        measures = _options(run).measures(run.model_kind)
        names = dict.fromkeys((*(measure.name for measure in measures), perplexity_of(run)))
        sentences = outcomes_table(run.suite.name, _sentence_outcomes(run, names))
        if not judged_suite(run).predictions:
            return sentences
        return pl.concat([_with_groups(outcomes_of(run), run), sentences], how="diagonal")

    def estimate(self, run: Run) -> list[Estimate]:
        """The accuracies of pairs, then the comparisons of measures with ratings and labels."""
        options, outcomes = _options(run), run.outcomes()
        pairs = list(super().estimate(run))
        whole = [accuracy for accuracy in pairs if accuracy.question == ALL and not accuracy.group]
        values = RatedValues.of(rated_of(suite_of(run)).sentences, outcomes)
        beside = rating_estimates(
            values,
            Estimate(suite=run.suite.name, model=run.model, question=""),
            measures=options.measures(run.model_kind),
            perplexity=perplexity_of(run),
            seed=options.seed,
            draws=options.draws,
        )
        done = {accuracy.group for accuracy in pairs}
        columns = [column for column in options.by if column not in done]
        grouped = [estimate for one in whole for estimate in _by_column(outcomes, one, columns)]
        return with_headline([*pairs, *beside, *grouped])

    def methods(self, run: Run) -> MethodFacts:
        """The facts about measures, ratings and tests."""
        suite, options = suite_of(run), _options(run)
        sentences = rated_of(suite).sentences
        rated = sum(sentence.mean is not None for sentence in sentences)
        together = f"one {suite.cluster}" if suite.cluster else "a pair"
        names = tuple(measure.name for measure in options.measures(run.model_kind))
        tests = (
            f"The measures of sentences were {'; '.join(map(describe_measure, names))}. We"
            " correlated each of them with the ratings (Spearman's [@spearman1904], Pearson's and"
            " Kendall's correlation, with jackknife intervals on Fisher's z scale [@efron1993]),"
            " and computed Spearman's partial correlation controlling for length in words (and for"
            " word frequency, if known). Spearman's rho was tested by permutation"
            f" ({options.draws:,} draws, seed {options.seed}; the sentences of {together} were kept"
            " together)"
            " [@phipson2010], with p values corrected by Holm's method over the measures"
            " [@holm1979]."
        )
        return dataclasses.replace(
            super().methods(run),
            counted=_counted(len(sentences), rated),
            sentences=(*super().methods(run).sentences, *((tests,) if rated else ())),
            brief=(*super().methods(run).brief, *((_in_brief(names),) if rated else ())),
            measures=names,
        )

    def warnings(self, run: Run) -> tuple[str, ...]:
        """The warnings of region suites, and those about questionable ratings."""
        suite = suite_of(run)
        rated = any(sentence.mean is not None for sentence in rated_of(suite).sentences)
        doubts = {NO_RATINGS: not rated, DECIMALS: looks_decimal(suite)}
        return (*super().warnings(run), *(doubt for doubt, holds in doubts.items() if holds))

    def sections(self, runs: Sequence[Run]) -> list[SuiteReport]:
        """The sections of region suites, with ratings of items, scatters and correlation tables."""
        groups: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            formulas = (prediction.formula for prediction in judged_suite(run).predictions)
            groups.setdefault((run.suite.name, *formulas), []).append(run)
        return [self._section(group) for group in groups.values()]

    def _section(self, runs: Sequence[Run]) -> SuiteReport:
        """The section of some runs of one suite, each judged on its first measure."""
        first = [run.judge(also=()) if _options(run).also else run for run in runs]
        (section,) = super().sections(first)
        rated = [rated_run(run) for run in runs]
        makers: list[Callable[[], Figure]] = [partial(scatter_of, run) for run in runs]
        return SuiteReport(
            runs=tuple(
                with_people(report, one) for report, one in zip(section.runs, rated, strict=True)
            ),
            figures=(*drawable(*makers), *section.figures),
            tables=(*rated_tables(rated), *section.tables),
        )

    def text(self, runs: Sequence[Run]) -> str:
        """The table of pairs, if there are any, then the text of each run."""
        pairs = [run for run in runs if judged_suite(run).predictions]
        tables = [super().text(pairs)] if pairs else []
        # The warnings of runs with pairs are below the table of pairs.
        warned = dict.fromkeys(text for run in runs if run not in pairs for text in run.warnings)
        rated = (rated_text(rated_run(run)) for run in runs)
        return "\n\n".join([*tables, *rated, *warned])


RATINGS = Ratings()


def rated_run(run: Run) -> RatedRun:
    """The material for texts and tables of a run of this paradigm."""
    suite, options = suite_of(run), _options(run)
    without = count_first_tokens(tokens_of(run))
    rule = {
        "missing": "the sentence has no value",
        "drop": "it counts in no sum and no length",
        "zero": "its surprisal counts as 0",
    }[options.unscored_first]
    return RatedRun(
        suite=suite.name,
        model=run.model,
        by=ratings_by(suite),
        as_z=options.ratings == "z",
        measures=[measure.name for measure in options.measures(run.model_kind)],
        perplexity=perplexity_of(run),
        first_token=f"the first token of {without} texts has no left context: {rule}"
        if without
        else "every token has a left context and is scored",
        values=RatedValues.of(rated_of(suite).sentences, run.outcomes()),
        estimates=run.estimates(),
    )


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
    chosen = find_measure(measure) if measure else _options(run).measures(run.model_kind)[0]
    beside = outcomes_table(run.suite.name, _sentence_outcomes(run, [chosen.name]))
    values = RatedValues.of(rated_of(suite).sentences, beside)
    frame = scatter_frame(values.rows(chosen.name), higher_is_better=chosen.higher_is_better)
    return scatter_figure(
        frame, suite=suite.name, model=run.model, by=ratings_by(suite), measure=chosen
    )


def perplexity_of(run: Run) -> str:
    """The name of the perplexity described by label: pseudo-perplexity for masked models."""
    return _PERPLEXITY.get(run.model_kind, "ppl")


def _counted(n: int, rated: int) -> str:
    """The number of sentences, and of those with ratings if they are fewer."""
    if n == rated:
        return counted(n, "rated sentence")
    return f"{counted(n, 'sentence')} ({rated:,} of them rated)"


def _in_brief(measures: Sequence[str]) -> str:
    """A sentence on how measures were compared with ratings, as in a paper."""
    others = len(measures) - 1
    more = f" and {others} other measures (see the appendix)" if others else ""
    return (
        f"We correlated {describe_measure(measures[0], brief=True)}{more} of each sentence with its"
        " mean rating by Spearman's rho [@spearman1904], with 95% jackknife intervals [@efron1993]."
    )


def _options(run: Run) -> RatingOptions:
    return cast("RatingOptions", run.options)


def _without_predictions(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    return tuple(fault for fault in faults if fault.code != NO_PREDICTIONS)


def _compared(suite: Suite, options: RatingOptions) -> tuple[RatedSentence, ...]:
    """The sentences with the ratings to compare: mean ratings or mean z-scores.

    Raises:
        UsageError: z-scores are requested and no rating has one.
    """
    sentences = rated_of(suite).sentences
    return standardised(sentences) if options.ratings == "z" else sentences


def _sentence_outcomes(run: Run, measures: Iterable[str]) -> Iterator[Outcome]:
    """The values of every sentence: of the measures, and of the covariates held constant."""
    suite, options = suite_of(run), _options(run)
    scored = {(s.item, s.condition): s for s in sentences_of(run)}
    in_order = [scored[item.id, condition.name] for item, condition in suite.stimuli()]
    sentences = _compared(suite, options)
    for measure in map(find_measure, measures):
        for sentence, one in zip(sentences, in_order, strict=True):
            value = measure.of(one.sentence)
            known = not isinstance(value, Missing)
            yield Outcome(
                item=sentence.id,
                question=measure.name,
                value=value if not isinstance(value, Missing) else None,
                unit=measure.unit,
                reference=sentence.mean,
                reason="" if known else cast("Missing", value).reason,
                cluster=_cluster(sentence),
                groups=_groups(sentence),
            )
    for sentence, one in zip(sentences, in_order, strict=True):
        yield from _covariates(sentence, one, frequencies=bool(options.unigrams))


def _covariates(
    sentence: RatedSentence, scored: ScoredSentence, *, frequencies: bool
) -> Iterator[Outcome]:
    """The length of a sentence, and the frequency of its words if frequencies are known."""
    like = Outcome(
        item=sentence.id, question=WORDS, cluster=_cluster(sentence), groups=_groups(sentence)
    )
    n_words = float(len(scored.text.split()))
    yield dataclasses.replace(like, value=n_words, unit="words")
    if isinstance(scored.sentence, Missing):
        tokens, reason = None, scored.sentence.reason
    else:
        tokens, reason = float(scored.sentence.n_tokens), ""
    yield dataclasses.replace(like, question=TOKENS, value=tokens, unit="tokens", reason=reason)
    if frequencies:
        frequency = mean_log_frequency(scored)
        value, why = (None, frequency.reason) if isinstance(frequency, Missing) else (frequency, "")
        yield dataclasses.replace(like, question=FREQUENCY, value=value, unit="nats", reason=why)


def _cluster(sentence: RatedSentence) -> str:
    return sentence.cluster or (f"pair {sentence.pair}" if sentence.pair else "")


def _groups(sentence: RatedSentence) -> dict[str, str]:
    """The group columns of a sentence: label and grammaticality."""
    grammatical = {True: "yes", False: "no", None: ""}[sentence.grammatical]
    groups = {"label": sentence.label, "grammaticality": grammatical}
    return {name: value for name, value in groups.items() if value}


def _with_groups(pairs: pl.DataFrame, run: Run) -> pl.DataFrame:
    """The verdicts on pairs, with the columns by which accuracies are broken down.

    A pair gets the values of its unacceptable sentence, because the replacement and the
    grammaticality are that sentence's.
    """
    import polars as pl

    suite = suite_of(run)
    columns = [name for name in _options(run).by if name in suite.column_names]
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
                by_length=None, off_by_length=False,
            )  # fmt: skip
            yield rate(one, like)
