"""Judgments whose items belong to clusters of the suite that people judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cimento
from cimento.io.clusters import Crossing
from cimento.judgments import ACCEPTABLE, Judgment, table_of, write_judgments
from cimento.judgments.effects import condition_shares
from cimento.judgments.summaries import summarize
from cimento.kinds.registry import save_suite
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from tests.helpers.command_line import invoke

FRAMES, NOUNS = (
    ("ieri", "oggi", "domani", "sempre", "spesso"),
    ("gatto", "cane", "zio", "re", "bue"),
)
ROWS = [
    {"sentence": f"{frame} il {noun} dorme.", "rating": len(noun), "frame": frame, "noun": noun}
    for frame in FRAMES
    for noun in NOUNS
]


def answers():
    drawn = np.random.default_rng(5)
    liked = {name: drawn.random() for name in (*FRAMES, *NOUNS)}
    return [
        Judgment(
            suite="nights",
            item=str(number),
            condition="sentence",
            annotator=f"p{person}",
            question=ACCEPTABLE,
            value="yes" if liked[row["frame"]] + liked[row["noun"]] > 2 * drawn.random() else "no",
        )
        for number, row in enumerate(ROWS, start=1)
        for person in range(6)
    ]


@pytest.fixture
def files(tmp_path):
    suite = cimento.ratings(ROWS, name="nights", language="it")
    folder = save_suite(cimento.load_suite(suite), tmp_path / "nights")
    table = write_judgments(table_of(answers()), tmp_path / "answers.csv")
    return str(table), str(folder)


def test_items_count_by_the_clusters_of_their_suite():
    judged = answers()
    clusters = {("nights", str(n)): row["frame"] for n, row in enumerate(ROWS, start=1)}
    [share] = condition_shares(judged, clusters=clusters)
    labels = tuple(clusters[one.suite, one.item] for one in judged)
    expected = share_interval(
        [one.value == "yes" for one in judged], Design(tuple(range(len(judged))), labels)
    )
    assert (share.these.low, share.these.high) == (expected.low, expected.high)
    [alone] = condition_shares(judged)
    assert share.these != alone.these
    assert share.share == alone.share
    [summary], [plain] = summarize(judged, clusters=clusters), summarize(judged)
    assert summary.alpha.value == plain.alpha.value
    assert summary.alpha.low != plain.alpha.low


def test_items_of_another_suite_stand_alone_in_every_factor():
    judged = answers()
    others = [replace(one, suite="days") for one in judged]
    crossed = {
        ("nights", str(n)): Crossing((row["frame"], row["noun"])) for n, row in enumerate(ROWS, 1)
    }
    [share] = condition_shares([*others, *judged], clusters=crossed)
    labels = [Crossing((f"days {one.item}",) * 2) for one in others]
    labels += [crossed[one.suite, one.item] for one in judged]
    right = [one.value == "yes" for one in (*others, *judged)]
    expected = share_interval(right, Design(tuple(range(len(right))), tuple(labels)))
    assert (share.these.low, share.these.high) == (expected.low, expected.high)


def test_the_command_takes_the_suite_and_its_columns(files, capsys):
    table, folder = files
    assert invoke(["annotate", "agreement", table]) == 0
    assert "for other items, same people" in capsys.readouterr().out
    command = ["annotate", "agreement", table, "--suite", folder]
    assert invoke([*command, "--cluster", "frame,noun"]) == 0
    said = "for other items (25 items in 5 × 5 crossed clusters), same people"
    assert said in capsys.readouterr().out
    assert invoke([*command, "--cluster", "frame,noun", "--effects"]) == 0
    assert "No question has ratings" in capsys.readouterr().out
    assert invoke([*command, "--cluster", "frame,now"]) == 2
    assert "have no column 'now'" in capsys.readouterr().err
    assert invoke(["annotate", "agreement", table, "--cluster", "frame"]) == 2
    assert "Name the suite that was judged: --suite SUITE." in capsys.readouterr().err
    other = ["annotate", "agreement", table, "--suite", "it-idioms"]
    assert invoke(other) == 2
    assert "no judgment is about an item of 'it-idioms'" in capsys.readouterr().err
