"""The noise ceiling beside correlations is that of what is correlated: ratings, or z-scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from cimento import evaluate
from cimento.testing import FakeScorer

SENTENCES, PEOPLE, APART = 20, 16, 3.6


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Ratings of people half of whom use a scale 3.6 points higher, each of half the sentences."""
    random = np.random.default_rng(20261128)
    quality = random.normal(0, 1, SENTENCES)
    given = {sentence: {} for sentence in range(SENTENCES)}
    for person in range(PEOPLE):
        asked = random.permutation(SENTENCES)[: SENTENCES // 2]
        for sentence in asked:
            rating = quality[sentence] + APART * (person % 2) + random.normal(0, 0.5)
            given[int(sentence)][f"p{person}"] = round(float(rating), 3)
    folder = tmp_path_factory.mktemp("ceilings") / "heights"
    folder.mkdir()
    (folder / "suite.toml").write_text(
        'kind = "acceptability"\nregions = ["sentence"]\n[meta]\nname = "heights"\n'
        'language = "it"\n[ratings]\nlow = -20\nhigh = 20\n',
        encoding="utf-8",
    )
    lines = ["item\tcondition\ttext\tratings\tparticipants"]
    lines += [
        f"{n}\tsentence\tIl palazzo numero {n} cresce.\t{','.join(map(str, one.values()))}"
        f"\t{','.join(one)}"
        for n, one in given.items()
    ]
    (folder / "items.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder, quality, given


def standardized(given):
    """Each person's ratings with mean 0 and variance 1 (n - 1), in numpy."""
    people = {}
    for sentence, ratings in given.items():
        for person, value in ratings.items():
            people.setdefault(person, {})[sentence] = value
    scaled = {sentence: {} for sentence in given}
    for person, ratings in people.items():
        values = np.array([*ratings.values()])
        for sentence, value in ratings.items():
            scaled[sentence][person] = (value - values.mean()) / values.std(ddof=1)
    return scaled


def ceiling(given, draws=600):
    """The ceiling by split halves, with scipy's rank correlation and other random numbers."""
    random = np.random.default_rng(7)
    lists = [np.array([*ratings.values()]) for ratings in given.values()]
    halves = np.array([one.size // 2 for one in lists])
    found = []
    for _ in range(draws):
        means = []
        for one, half in zip(lists, halves, strict=True):
            mixed = random.permutation(one)
            means.append((mixed[:half].mean(), mixed[half : 2 * half].mean()))
        found.append(spearmanr(*zip(*means, strict=True)).statistic)
    factor = (1 / halves).mean() / np.array([1 / one.size for one in lists]).mean()
    half = np.mean(found)
    return np.sqrt(factor * half / (1 + (factor - 1) * half))


def ceiling_of(run):
    return next(
        one.value
        for one in run.estimates()
        if one.statistic == "noise ceiling" and one.method.startswith("split halves")
    )


@pytest.mark.slow
def test_the_ceiling_is_that_of_what_is_correlated(simulated):
    folder, quality, given = simulated
    ceilings = {}
    for ratings, of in (("raw", given), ("z", standardized(given))):
        run = evaluate(folder, FakeScorer(lambda _tokens, index: -1.0 - index), ratings=ratings)
        ceilings[ratings] = ceiling_of(run)
        assert ceilings[ratings] == pytest.approx(ceiling(of), abs=0.015)
    # A model that knew how good each sentence is would correlate with z-scores above the ceiling
    # of the ratings as they were given, which cannot be.
    means = [np.mean([*ratings.values()]) for ratings in standardized(given).values()]
    assert ceilings["raw"] < 0.9 < spearmanr(quality, means).statistic < ceilings["z"] + 0.03


def test_numbers_of_people_say_what_they_are_of(simulated):
    folder, _, _ = simulated
    scorer = FakeScorer(lambda _tokens, index: -1.0 - index)
    by_z = evaluate(folder, scorer, ratings="z")
    text = by_z.paradigm.presenter.text([by_z])
    assert "noise ceiling (of the z-scores):" in text
    assert "agreement of the people (of the ratings as given), Krippendorff's alpha:" in text
    raw = evaluate(folder, scorer, ratings="raw")
    assert (
        "of the"
        not in raw.paradigm.presenter.text([raw]).split("noise ceiling")[1].split("from")[0]
    )
    alphas = [
        [one.value for one in run.estimates() if one.statistic == "Krippendorff's alpha"]
        for run in (raw, by_z)
    ]
    assert alphas[0] == alphas[1]
