"""The asker of a kind of suites: from a suite to requests, round by round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from cimento.engine.requests import requests_table
from cimento.errors import UsageError
from cimento.kinds.base import OptionsT_contra, SuiteT_contra

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Recording, Requests
    from cimento.kinds.base import AskedModel
    from cimento.models.settings import Asking


class Asker(Protocol[SuiteT_contra, OptionsT_contra]):
    """The asker of a kind of suites, which writes the requests to a model.

    An asker must have `requests`; the other methods may be left out.

    Attributes:
        scoring: names of the scoring options that it supports in addition to those of every model
            (``context``, ``all_tokens``, ``columns``, ``spec``, ``recorded_unit``).
    """

    scoring: frozenset[str] = frozenset()

    def requests(
        self,
        suite: SuiteT_contra,
        options: OptionsT_contra,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """The next round of requests; None after the last one.

        Args:
            suite: the suite.
            options: options of the paradigm.
            scoring: rules by which texts are scored.
            model: the model.
            answers: answers to all rounds so far.

        Raises:
            CimentoError: the suite cannot be asked this way.
        """

    def later(self, suite: SuiteT_contra, options: OptionsT_contra) -> int:  # noqa: ARG002
        """Most requests after the first round; by default 0, since there is only one."""
        return 0

    def recording(self, name: str, suite: SuiteT_contra, *, scoring: Asking) -> Recording:  # noqa: ARG002
        """A recording of the answers to a suite.

        Args:
            name: what follows ``replay:`` in the name of the model; it is a file, with ``#`` and
                the name of one of the models in it if there are several.
            suite: the recorded suite.
            scoring: its ``spec`` and ``recorded_unit``; options that a recording cannot follow are
                refused.

        Raises:
            InputError: the file cannot be read.
            UsageError: suites of this kind have no recordings, or an option is refused.
            TableError: the file is not a recording of this suite.
        """
        raise UsageError(
            where=f"replay:{name}",
            seen="suites of this kind have no recordings",
            todo="Give a model.",
        )


def prompts_table(
    suite: str, prompts: Iterable[tuple[str, str]], *, first: int = 0
) -> pl.DataFrame:
    """The requests table of prompts, each of which is for one item.

    Args:
        suite: name of the suite.
        prompts: item and prompt, in the order of asking.
        first: number of the first request, which is the number of requests in earlier rounds.
    """
    numbers = enumerate(prompts, start=first)
    return requests_table(suite, ((number, item, "", text) for number, (item, text) in numbers))
