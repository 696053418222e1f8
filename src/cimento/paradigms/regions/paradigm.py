"""The paradigm of regions: predictions about their surprisals, judged item by item."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.engine.requests import NO_ANSWERS, PREFIX, Answers, Recording, Requests
from cimento.errors import Fault, counted
from cimento.io.files import expanded, file_digest
from cimento.io.tables import TOKENS
from cimento.kinds.asker import Asker
from cimento.kinds.base import (
    AppliedJudgments,
    AskedModel,
    MethodFacts,
    SuiteReading,
    SurveyItems,
    SurveyTask,
)
from cimento.kinds.clusters import in_clusters
from cimento.kinds.judge import Judge
from cimento.kinds.paradigm import Paradigm
from cimento.kinds.plain import PlainPresenter
from cimento.kinds.presenter import described
from cimento.kinds.reader import SuiteReader
from cimento.kinds.sections import unscored
from cimento.kinds.surveyor import Surveyor
from cimento.measures.regions import count_first_tokens
from cimento.models.recorded import is_log, replay, replay_log
from cimento.models.registry import refuse_what_is_fixed
from cimento.paradigms.regions.conventions import conventions
from cimento.paradigms.regions.judging import (
    judged_suite,
    options_of,
    outcomes_of,
    scores_of,
    suite_of,
    tokens_of,
)
from cimento.paradigms.regions.options import RegionOptions
from cimento.paradigms.regions.remarks import first_token_remarks, monte_carlo_remarks
from cimento.paradigms.regions.requests import region_requests
from cimento.paradigms.regions.text import brief_text, region_text
from cimento.suites import Suite
from cimento.suites.checks import check_suite
from cimento.suites.checks.contradictions import contradictions
from cimento.suites.checks.structure import Listing
from cimento.suites.design import expected_of
from cimento.suites.formats.native import write_native
from cimento.suites.limits import sentence_groups
from cimento.suites.load import open_copy, read_suite, suite_files

if TYPE_CHECKING:
    import polars as pl

    from cimento.judgments import Judgment
    from cimento.kinds.named import FigureSettings, TableSettings
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking
    from cimento.records.effects import DesignEffect
    from cimento.records.outcomes import Estimate
    from cimento.report import SuiteReport
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid


class RegionReader(SuiteReader[Suite]):
    """The reader of suites of sentences in regions."""

    has_regions = True

    def read(self, path: Path) -> SuiteReading[Suite]:
        """A suite, with every fault in it.

        Raises:
            InputError: the path does not exist, is not readable, or has no known format.
        """
        loaded, faults = read_suite(path)
        if loaded is None:
            return SuiteReading(suite=None, faults=faults, sha256="", path=path)
        return SuiteReading(
            suite=loaded.suite,
            faults=faults,
            sha256=loaded.sha256,
            path=loaded.path,
            format=loaded.format,
            table=loaded.table,
        )

    def files(self, path: Path) -> Sequence[Path]:
        """The single file of a suite, or suite.toml and the table of items."""
        return suite_files(path)

    def owns(self, suite: object) -> bool:
        """Whether an object made in Python is a region suite."""
        return isinstance(suite, Suite)

    def write(self, suite: Suite, folder: Path) -> None:
        """Write a suite in the form that `read` reads.

        Raises:
            StorageError: the folder cannot be written.
        """
        write_native(suite, folder)

    def check(self, suite: Suite) -> Sequence[Fault]:
        """Every fault of a suite made in Python."""
        return check_suite(suite)

    def holds(self, suite: Suite) -> str:
        """The numbers of items, conditions and predictions, and what a design expects."""
        conditions = suite.condition_names
        parts = [counted(len(suite.items), "item")]
        if len(conditions) > 1:
            parts[0] += f" in the conditions {Listing(conditions)}"
        if suite.predictions:
            parts.append(counted(len(suite.predictions), "prediction"))
        return "; ".join(filter(None, (*parts, expected_of(suite))))

    groups = staticmethod(sentence_groups)

    def selected(self, suite: Suite, items: Collection[str]) -> Suite:
        """The suite with some of its items."""
        ids = suite.columns.ids
        kept = [suite.items[number] for number, item in enumerate(ids) if item in items]
        return dataclasses.replace(suite, items=kept)

    def sentences(self, suite: Suite) -> Suite:
        """The suite itself."""
        return suite

    def read_copy(self, folder: Path) -> Suite:
        """The copy of a suite in the folder of a run."""
        return open_copy(folder)


class RegionAsker(Asker[Suite, RegionOptions]):
    """The asker of the surprisals of regions."""

    scoring = frozenset({"context", "all_tokens", "store", "spec", "recorded_unit"})

    def requests(
        self,
        suite: Suite,
        options: RegionOptions,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """One round of requests: each sentence once, with the spans that judging needs.

        A recording gets a request for each sentence of each item, since it may contain different
        numbers for the same text.

        Raises:
            CimentoError: the suite cannot be judged this way, or has no such contexts.
        """
        if answers is not NO_ANSWERS:
            return None
        judged = options.judged(suite)
        if scoring.own_blank:
            judged = dataclasses.replace(judged, leading_blank=None)
        return region_requests(
            judged,
            all_tokens=scoring.all_tokens or bool(model.recorded),
            # The model is loaded for its card only if the card matters here.
            by_region=scoring.policy.segmenter == "bars"
            or (scoring.policy.pll == "region" and model.card.kind == "masked"),
            context=scoring.context,
            merged=not model.recorded,
        )

    def recording(self, name: str, suite: Suite, *, scoring: Asking) -> Recording:
        """Surprisals recorded by another program, in the order of the suite, or lm-eval's logs.

        Raises:
            UsageError: an option conflicts with what the recording has fixed.
            InputError: the file cannot be read.
            TableError: the file is not a recording of this suite.
        """
        import polars as pl

        path = expanded(name)
        is_logged = is_log(path)
        refuse_what_is_fixed(scoring, ordered=not is_logged)
        if is_logged:
            replayed = replay_log(suite, path, limit=scoring.limit)
        else:
            file_digest(path)  # reports why a file cannot be read
            replayed = replay(suite, path, spec=scoring.spec, unit=scoring.recorded_unit)
        items, conditions = zip(*replayed.stimuli, strict=True)
        requests = replayed.tokens["request"]
        tokens = replayed.tokens.drop("request").with_columns(
            item=pl.Series(items).gather(requests), condition=pl.Series(conditions).gather(requests)
        )
        return Recording(
            card=replayed.card,
            tables={TOKENS.name: tokens},
            inputs={
                "revision": replayed.card.revision,
                "spec": file_digest(scoring.spec) if scoring.spec else None,
                "recorded_unit": scoring.recorded_unit,
            },
            named=f"{PREFIX}{path.resolve()}",
            warnings=replayed.warnings,
        )


class RegionJudge(Judge["Run"]):
    """The judge of predictions about the surprisals of regions, item by item."""

    clustered = staticmethod(in_clusters)

    def outcomes(self, run: Run) -> pl.DataFrame:
        """The outcomes of a run; see `cimento.paradigms.regions.judging.outcomes_of`."""
        return outcomes_of(run)

    def estimates(self, run: Run) -> Sequence[Estimate]:
        """The estimates of a run; see `cimento.paradigms.regions.estimates.estimates_of`."""
        from cimento.paradigms.regions.estimates import estimates_of

        return tuple(estimates_of(run))

    def scores(self, run: Run) -> pl.DataFrame:
        """The value of every sentence, by `condition_scores` of `estimates`."""
        from cimento.paradigms.regions.estimates import condition_scores

        return condition_scores(run)

    def sentence_scores(self, run: Run, measures: Sequence[str]) -> pl.DataFrame:
        """The measures of every sentence; see `cimento.paradigms.regions.judging.scores_of`."""
        return scores_of(run, measures)

    def side_values(self, run: Run) -> Mapping[str, Mapping[str, Mapping[str, float | None]]]:
        """The numbers that predictions compare; see `cimento.paradigms.regions.side_values`."""
        from cimento.paradigms.regions.side_values import side_values

        return side_values(run)


class RegionPresenter(PlainPresenter[Suite]):
    """The presenter of suites of regions and of their runs."""

    tables = (
        "accuracy", "effects", "tests", "means", "regions", "mixed", "items", "licensing",
        "perplexity", "phenomena", "lowest", "blimp", "covariates", "baselines", "people",
        "people-items", "predictions", "sensitivity", "lexicon",
    )  # fmt: skip
    figures = (
        "interaction", "rows", "items", "position", "tokens", "length", "regions", "region-sums",
        "sensitivity",
    )  # fmt: skip

    def describe(self, suite: Suite, items: int) -> str:
        """The text that ``suites show`` prints about a suite and its first items."""
        facts = {
            "items": str(len(suite.items)),
            "conditions": ", ".join(suite.condition_names),
            "regions": ", ".join(f"{i} {name}" for i, name in enumerate(suite.region_names, 1)),
            "metric": suite.metric,
        }
        lines = described(suite.meta, facts)
        for number, prediction in enumerate(suite.predictions):
            name = prediction.name or str(number)
            text = f"  prediction {name}  {prediction.formula}  {prediction.comment}"
            lines.append(text.rstrip())
        for item in suite.items[:items]:
            lines.append(f"  item {item.id}")
            for condition in item.conditions:
                regions = " | ".join(region.text for region in condition.regions)
                lines.append(f"    {condition.name:<20} {regions}")
        return "\n".join(lines)

    def record(self, suite: Suite, items: int) -> dict[str, object]:
        """The facts of a suite, its predictions, and its first items."""
        return {
            "n_items": len(suite.items),
            "conditions": list(suite.condition_names),
            "regions": list(suite.region_names),
            "metric": suite.metric,
            "predictions": [
                {
                    "name": prediction.name,
                    "formula": prediction.formula,
                    "comment": prediction.comment,
                }
                for prediction in suite.predictions
            ],
            "items": [
                {
                    "id": item.id,
                    "conditions": [
                        {
                            "name": condition.name,
                            "regions": [region.text for region in condition.regions],
                            "columns": dict(condition.columns),
                        }
                        for condition in item.conditions
                    ],
                }
                for item in suite.items[:items]
            ],
        }

    def methods(self, run: Run) -> MethodFacts:
        """The facts about judging; see `cimento.paradigms.regions.methods.region_methods`."""
        from cimento.paradigms.regions.methods import region_methods

        return region_methods(run)

    def warnings(self, run: Run) -> Sequence[str]:
        """Warnings of unscored items, other tools' conventions, and contradictory predictions."""
        return (
            *unscored(run.outcomes()),
            *first_token_remarks(run),
            *monte_carlo_remarks(run),
            *conventions(
                options_of(run),
                run.manifest,
                first_tokens=count_first_tokens(tokens_of(run)),
            ),
            *contradictions(judged_suite(run)),
        )

    def design_effects(self, run: Run, *, of_people: bool = False) -> Sequence[DesignEffect]:
        """The DDs of a run whose suite crosses two factors; see `estimates.design_effects`.

        Those of people are in the ratings that the suite has, if the model has any DD too.
        """
        from cimento.paradigms.regions.estimates import design_effects
        from cimento.paradigms.regions.people_effects import people_of_suite

        effects = design_effects(run)
        if not of_people or not effects:
            return effects
        people = people_of_suite(suite_of(run), seed=options_of(run).seed)
        return people.said if people else ()

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The sections of a report: rates, figures, tables of designs and items."""
        from cimento.paradigms.regions.sections import region_sections

        return region_sections(runs)

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:
        """The rates with intervals, then the effects of designs, or where these are."""
        return brief_text(runs) if brief else region_text(runs)

    def table(self, name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:
        """A table of designs, predictions or measures; see `named_tables`."""
        from cimento.paradigms.regions.named_tables import named_table

        return named_table(name, runs, settings)

    def drawable(self, runs: Sequence[Run]) -> Sequence[str]:
        """The figures of designs only for suites that have one, and so on."""
        from cimento.paradigms.regions.named_figures import drawable_as

        return drawable_as(runs)

    def figure(self, name: str, runs: Sequence[Run], settings: FigureSettings) -> Figure:
        """A figure of interactions, tokens, positions or lengths; see `named_figures`."""
        from cimento.paradigms.regions.named_figures import named_figure

        return named_figure(name, runs, settings)


class RegionSurveyor(Surveyor[Suite, "Run"]):
    """The surveyor of sentences, to be rated or chosen among."""

    def survey_items(
        self, suite: Suite, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """The sentences of a suite, to be rated or chosen among."""
        from cimento.paradigms.regions.people import sentence_items

        return sentence_items(suite, task, run=run)

    def apply_judgments(
        self,
        suite: Suite,
        judgments: Sequence[Judgment],
        folder: Path,
        *,
        scale: tuple[float, float] | None = None,
    ) -> AppliedJudgments:
        """Write a copy of a suite, with ratings and choices as columns."""
        from cimento.paradigms.regions.people import judged_sentences

        return judged_sentences(suite, judgments, folder, scale=scale)

    def verdicts(
        self, suite: Suite, judgments: Sequence[Judgment]
    ) -> tuple[Mapping[str, Mapping[str, str]], str]:
        """Whether all predictions hold of each person's answers, by item."""
        from cimento.paradigms.regions.people_rates import verdicts_of_people

        return verdicts_of_people(suite, judgments)


REGIONS = Paradigm(
    name="regions",
    options=RegionOptions,
    reader=RegionReader(),
    asker=RegionAsker(),
    judge=RegionJudge(),
    presenter=RegionPresenter(),
    surveyor=RegionSurveyor(),
)
"""The paradigm of pairs and designs, whose sentences are divided into regions."""
