"""Sites of small runs, answered by functions in place of models."""

from __future__ import annotations

import dataclasses
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cimento import Meta, Suite, evaluate
from cimento.suites.ratings import suite_from_ratings
from cimento.testing import FakeScorer
from tests.helpers.benchmarks import say_fetched_from
from tests.helpers.judging import make_suite
from tests.helpers.rated import LENGTHS, rated, sentence

NOUNS = (
    *("gatto", "cane", "lupo", "merlo", "topo", "bue", "falco", "corvo", "gallo", "grillo"),
    *("asino", "orso", "pollo", "tasso", "cervo", "rospo", "tonno", "ragno", "toro", "mulo"),
)
WILD = frozenset(NOUNS[:5])


class Reader(HTMLParser):
    """The tags, links and texts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src") and value]

    def handle_data(self, data):
        self.text += data


def agreement(name: str = "it-animals", **meta: str) -> Suite:
    """Twenty pairs about two phenomena: five wild animals and fifteen others."""
    made = make_suite(
        ["(2;%match%) < (2;%mismatch%)"],
        [{"match": f"Il {noun} | dorme.", "mismatch": f"Il {noun} | dormono."} for noun in NOUNS],
        columns=[{"phenomenon": "wild" if noun in WILD else "tame"} for noun in NOUNS],
    )
    return dataclasses.replace(made, meta=Meta(name=name, language="it", **meta))


def knows(name: str, *known: str) -> FakeScorer:
    """A model that gets these nouns right and all others wrong."""

    def score(tokens, index):
        right = tokens[1] in known
        return -1.0 if (tokens[index] == "dorme") == right else -4.0

    return FakeScorer(score, name=name)


WISE, ALSO_WISE, FOOL = knows("lab/wise", *NOUNS), knows("also-wise", *NOUNS), knows("fool")
GROWING = [knows(f"grower-step{step}", *NOUNS[:n]) for step, n in ((100, 4), (500, 9), (900, 16))]

RATED = suite_from_ratings(
    dataclasses.replace(
        rated(
            *(
                sentence(f"s{k}", text, *values)
                for k, (text, values) in enumerate(
                    [("Sì", (5, 4, 5)), ("Piove", (4, 4, 3)), ("Nevicava", (2, 3, 2)),
                     ("Ci", (3, 4, 4)), ("Grandinando", (1, 1, 2)), ("Tuona", (4, 5, 5)),
                     ("Lampeggiava", (2, 1, 1)), ("No", (5, 5, 4))]
                )
            )
        ),
        name="it-weather",
    )
)  # fmt: skip


@pytest.fixture(scope="session")
def animal_runs(tmp_path_factory) -> Path:
    """Runs of three models on one suite: two that know everything, and one that knows nothing."""
    out = tmp_path_factory.mktemp("animals")
    for model in (WISE, ALSO_WISE, FOOL):
        evaluate(agreement(), model, output=out)
    return say_fetched_from(out, "lab/suites")


@pytest.fixture(scope="session")
def more_runs(tmp_path_factory) -> Path:
    """Runs on other suites: checkpoints of one model, and rated sentences."""
    out = tmp_path_factory.mktemp("more")
    for model in GROWING:
        evaluate(agreement("it-training"), model, output=out)
    evaluate(RATED, LENGTHS, output=out)
    return out
