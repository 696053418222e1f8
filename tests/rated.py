"""Rated sentences for tests, and a model that goes by their length."""

from __future__ import annotations

from cimento.acceptability.records import RatedSentence, RatedSet, Scale, with_ratings
from cimento.acceptability.report import Options, report
from cimento.acceptability.suites import rated_of, suite_of
from cimento.models.fake import FakeScorer
from cimento.regions_api import evaluate

LENGTHS = FakeScorer(lambda tokens, index: -float(len(tokens[index])))
"""A model to which a sentence is the less probable the more letters it has."""


def sentence(name: str, text: str, *values: float, **more: object) -> RatedSentence:
    ratings, mean, sd, n = with_ratings(values)
    return RatedSentence(id=name, text=text, ratings=ratings, mean=mean, sd=sd, n=n, **more)


def rated(*sentences: RatedSentence) -> RatedSet:
    return RatedSet(name="set", sentences=sentences, scale=Scale(1, 5), language="it")


def reported(some: RatedSet, *measures: str):
    run = evaluate(suite_of(some), LENGTHS)
    options = Options(measures=measures or ("lp",), draws=200)
    return report(run, rated_of(run.suite), by="people", options=options)


FIVE = rated(
    sentence("a", "Sì", 5, 4),
    sentence("b", "Piove", 4, 4),
    sentence("c", "Nevicava", 2, 3),
    sentence("d", "Ci", 3, 4),
    sentence("e", "Grandinando", 1, 1),
)
