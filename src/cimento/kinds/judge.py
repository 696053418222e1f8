"""The judge of a kind of suites: from answers to outcomes and estimates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from cimento.errors import UsageError
from cimento.kinds.base import RunT_contra

if TYPE_CHECKING:
    import polars as pl

    from cimento.judgments import Judgment
    from cimento.kinds.base import Restatement
    from cimento.records.outcomes import Estimate


class Judge(Protocol[RunT_contra]):
    """The judge of a kind of suites: pure functions of a run's suite, tables and options.

    A judge must have `outcomes` and `estimates`; the other methods may be left out.
    """

    def outcomes(self, run: RunT_contra) -> pl.DataFrame:
        """The outcomes table of a run, a pure function of its suite, tables and options.

        Raises:
            CimentoError: the answers cannot be judged this way.
        """

    def estimates(self, run: RunT_contra) -> Sequence[Estimate]:
        """The estimates from the outcomes of a run."""

    def scores(self, run: RunT_contra) -> pl.DataFrame | None:  # noqa: ARG002
        """The value of a measure for every condition of every item; None if they have none.

        Columns: ``item``, ``condition``, ``measure``, ``unit``, ``value`` (as the measure defines
        it; null if undefined), ``oriented`` (the same, negated if less is better). Suites that
        cross two factors also have ``phenomenon``, ``first_factor``, ``second_factor``, the level
        of each factor (``first_level`` ...) and its code (``first``, ``second``), 1/2 or -1/2, so
        that the sum of ``4 * first * second * oriented`` over the four conditions of an item is
        its difference of differences.
        """
        return None

    def sentence_scores(self, run: RunT_contra, measures: Sequence[str]) -> pl.DataFrame | None:  # noqa: ARG002
        """The scores table of some measures; None if no sentences were scored.

        Args:
            run: the run.
            measures: names of measures of sentences; empty for all.

        Raises:
            UsageError: a measure is unknown.
        """
        return None

    def side_values(
        self,
        run: RunT_contra,  # noqa: ARG002
    ) -> Mapping[str, Mapping[str, Mapping[str, float | None]]]:
        """The numbers that questions compare, in nats, by question, item and condition.

        By default there are none: then a condition's number is the sum over its scored tokens.
        """
        return {}

    def restated(self, run: RunT_contra) -> Restatement | None:  # noqa: ARG002
        """The questions of another kind of test that a run asks in another way; by default none."""
        return None

    def judgments(self, run: RunT_contra) -> Sequence[Judgment] | None:  # noqa: ARG002
        """The answers of a model as those of one more annotator; None if it was not asked in words.

        By default there are none.
        """
        return None

    def clustered(self, suite: Any, columns: Sequence[str]) -> Any:  # noqa: ANN401, ARG002  # of its kind
        """A suite with other clusters than it declares; by default refused.

        Args:
            suite: the suite.
            columns: columns of its items; two or more are crossed.

        Raises:
            UsageError: suites of this kind have no such clusters, or not these columns.
        """
        raise UsageError(
            where=f"suite {suite.name!r}, --cluster",
            seen="clusters cannot be chosen for suites of this kind",
            todo="Leave --cluster out.",
        )

    def clusters(self, suite: Any) -> Mapping[str, Hashable]:  # noqa: ANN401  # of its kind
        """What each item of a suite belongs to, by its id; by default what its sentences do."""
        return suite.clusters() if hasattr(suite, "clusters") else {}
