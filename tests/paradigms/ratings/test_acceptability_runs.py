"""Suites of the kind acceptability: read, written, run, stored, drawn."""

from __future__ import annotations

import dataclasses
import json
import re

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, evaluate
from cimento.paradigms.ratings.paradigm import scatter_of
from cimento.paradigms.ratings.scatter import label_places
from cimento.paradigms.regions.text import SCREEN
from cimento.suites.formats.native import write_native
from cimento.suites.ratings import (
    RatedSentence,
    Scale,
    rated_of,
    rating_as_text,
    ratings_by,
    suite_from_ratings,
)
from cimento.suites.stimuli import stimulus_text
from tests.helpers.command_line import invoke
from tests.helpers.rated import FIVE, LENGTHS, load_rated, rated, sentence

TOML = """kind = "acceptability"
regions = ["sentence"]
[meta]
name = "mine"
language = "it"
[ratings]
low = 1
high = 5
{more}
"""


class TestSuites:
    PAIRS = rated(
        sentence("a", "Piove.", 5, 4, pair="p1", label="acceptable", grammatical=True),
        sentence("b", "Piovono.", 1, 2, pair="p1", label="unacceptable", grammatical=False),
    )

    def test_pairs_become_items_and_come_back(self, tmp_path):
        suite = suite_from_ratings(self.PAIRS)
        assert suite.condition_names == ("acceptable", "unacceptable")
        assert len(suite.predictions) == 1
        back = load_rated(write_native(suite, tmp_path / "set"))
        assert ratings_by(back.suite) == "people"
        assert back.rated.scale == Scale(1, 5)
        for mine, theirs in zip(self.PAIRS.sentences, back.rated.sentences, strict=True):
            assert (mine.text, mine.mean, mine.n) == (theirs.text, theirs.mean, theirs.n)
            assert (mine.label, mine.pair, mine.grammatical) == (
                theirs.label,
                theirs.pair,
                theirs.grammatical,
            )

    def test_pairs_of_a_file_are_put_together(self, tmp_path):
        rows = (
            "id\tsentence\tgrammaticality\tratings\n"
            "e 2NA\tDorme prima sogna.\tno\t1\n"
            "e 1A\tPiove e tuona.\tyes\t5\n"
            "e 2A\tDorme e sogna.\tyes\t4\n"
            "e 1NA\tPiove dove tuona.\tyes\t2\n"
        )
        path = tmp_path / "own.tsv"
        path.write_text(rows, encoding="utf-8")
        loaded = load_rated(path)
        assert [sentence.id for sentence in loaded.rated.sentences] == [
            "e 2/acceptable",
            "e 2/unacceptable",
            "e 1/acceptable",
            "e 1/unacceptable",
        ]
        texts = [stimulus_text(condition) for _, condition in loaded.suite.stimuli()]
        assert texts == [sentence.text for sentence in loaded.rated.sentences]

    @given(
        st.lists(
            st.tuples(
                st.lists(st.floats(1, 5), max_size=4),
                st.sampled_from(["acceptable", "unacceptable", ""]),
                st.sampled_from([True, False, None]),
            ),
            min_size=1,
            max_size=5,
        )
    )
    @settings(deadline=None)
    def test_single_sentences_come_back(self, drawn):
        some = rated(
            *(
                sentence(str(n), f"Frase {n}.", *values, label=label, grammatical=grammatical)
                for n, (values, label, grammatical) in enumerate(drawn)
            )
        )
        back = rated_of(suite_from_ratings(some))
        for mine, theirs in zip(some.sentences, back.sentences, strict=True):
            assert mine.ratings == theirs.ratings
            assert (mine.mean, mine.sd) == (theirs.mean, theirs.sd)
            assert (mine.label, mine.grammatical) == (theirs.label, theirs.grammatical)

    def test_means_without_single_ratings_come_back(self):
        some = rated(RatedSentence(id="a", text="Sì.", mean=3.25, sd=0.5, n=12))
        (back,) = rated_of(suite_from_ratings(some)).sentences
        assert (back.mean, back.sd, back.n) == (3.25, 0.5, 12)

    @given(st.floats(allow_nan=False, allow_infinity=False))
    @settings(deadline=None)
    def test_ratings_are_written_without_loss(self, value):
        assert float(rating_as_text(value)) == value

    @pytest.mark.parametrize(
        ("more", "cells", "seen"),
        [
            ("", "7", "off the scale from 1 to 5"),
            ("", "tre", "the rating is 'tre', not a number"),
            ('by = "nessuno"', "3", "[ratings] by is 'nessuno'"),
        ],
    )
    def test_what_is_wrong_is_named(self, tmp_path, more, cells, seen):
        (tmp_path / "suite.toml").write_text(TOML.format(more=more), encoding="utf-8")
        items = f"item\tcondition\ttext\trating\n1\tsentence\tPiove.\t{cells}\n"
        (tmp_path / "items.tsv").write_text(items, encoding="utf-8")
        with pytest.raises(InputError) as caught:
            load_rated(tmp_path)
        assert seen in str(caught.value)

    def test_ratings_need_a_scale(self, tmp_path):
        toml = TOML.format(more="").split("[ratings]")[0]
        (tmp_path / "suite.toml").write_text(toml, encoding="utf-8")
        items = "item\tcondition\ttext\trating\n1\tsentence\tPiove.\t3\n"
        (tmp_path / "items.tsv").write_text(items, encoding="utf-8")
        with pytest.raises(InputError, match="no scale"):
            load_rated(tmp_path)


class TestCommand:
    @pytest.fixture(autouse=True)
    def _cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))

    def suite(self, tmp_path):
        some = (
            *TestSuites.PAIRS.sentences,
            sentence("c", "Il gatto dorme.", 5, 5, pair="p2", label="acceptable"),
            sentence("d", "Il gatto dormono.", 2, 2, pair="p2", label="unacceptable"),
        )
        return write_native(suite_from_ratings(rated(*some)), tmp_path / "set")

    def test_a_suite_is_run_and_stored(self, tmp_path, capsys):
        folder, runs = self.suite(tmp_path), tmp_path / "runs"
        arguments = ["run", str(folder), "-m", "demo-causal", "-o", str(runs), "--set", "draws=50"]
        assert invoke([*arguments, "--json"]) == 0
        (printed,) = json.loads(capsys.readouterr().out)["runs"]
        assert printed["paradigm"] == "ratings"
        measures = [
            estimate["question"]
            for estimate in printed["estimates"]
            if estimate["statistic"] == "spearman"
        ]
        assert measures == ["lp", "meanlp", "penlp", "ppl"]
        (run,) = (runs / "set").iterdir()
        (stored,) = json.loads((run / "summary.json").read_text("utf-8"))["runs"]
        assert stored["estimates"] == printed["estimates"]
        assert not (run / "acceptability.json").exists()
        outcomes = pl.read_parquet(run / "outcomes.parquet")
        assert outcomes.filter(pl.col("reference").is_not_null()).height == 4 * 4
        assert invoke(arguments) == 0
        out = capsys.readouterr().out
        assert "compared with people" in out
        assert "log-probability (lp)" in out
        assert "Perplexity (ppl) by label" in shown(run, capsys)
        numbers = tmp_path / "scatter.csv"
        assert invoke(["report", str(run), "--figure", "scatter", "-o", str(numbers)]) == 0
        assert pl.read_csv(numbers).height == 4

    def test_a_published_file_is_run_as_it_is(self, tmp_path, capsys):
        head = "id\tN\tmean\tsd\tse\tsentence\ttask\treference\n"
        rows = "".join(
            f"a{n}\t10\t{n}\t1\t0.3162\tIl gatto{' molto' * n} stanco dorme.\tacceptability\tx\n"
            for n in range(1, 5)
        )
        path = tmp_path / "acc.tsv"
        path.write_text(head + rows, encoding="utf-8")
        arguments = ["run", str(path), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
        assert invoke([*arguments, "--set", "draws=20", "--measure", "lp", "--json"]) == 0
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        assert run["n_items"] == 4
        assert run["estimates"][0]["statistic"] == "spearman"
        assert run["options"]["draws"] == 20
        folder = tmp_path / "suite"
        assert invoke(["suites", "convert", str(path), "-o", str(folder)]) == 0
        assert [sentence.mean for sentence in load_rated(folder).rated.sentences] == [1, 2, 3, 4]
        assert invoke(["suites", "check", str(path), str(folder)]) == 0

    @pytest.mark.parametrize(
        ("setting", "seen"),
        [
            ("draw=3", "draws"),
            ("draws=many", "draws"),
            ("ratings=t", "'raw' or 'z'"),
            ("ratings=z", "no rating has a z-score"),
        ],
    )
    def test_options_are_checked(self, tmp_path, capsys, setting, seen):
        folder = self.suite(tmp_path)
        assert invoke(["run", str(folder), "-m", "demo-causal", "--set", setting]) == 2
        assert seen in capsys.readouterr().err

    def test_check_passes_over_missing_predictions(self, tmp_path, capsys):
        some = rated(*FIVE.sentences)
        folder = write_native(suite_from_ratings(some), tmp_path / "five")
        assert invoke(["suites", "check", str(folder)]) == 0
        assert "CIM-S023" not in capsys.readouterr().out


def shown(run, capsys):
    """What `show` prints of a run."""
    assert invoke(["show", str(run)]) == 0
    return capsys.readouterr().out


def test_run_prints_a_screen_of_rated_pairs_with_its_conclusion_and_show_everything(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    pairs = [("dorme", "dormono"), ("corre", "corrono"), ("parla", "parlano"),
             ("mangia", "mangiano"), ("beve", "bevono"), ("legge", "leggono")]  # fmt: skip
    some = [
        sentence(
            f"{number}{label[0]}", f"Il vicino {word} piano.", *ratings,
            pair=f"p{number}", label=label,
        )
        for number, words in enumerate(pairs)
        for word, label, ratings in zip(
            words, ("acceptable", "unacceptable"), ((5, 4, 5), (1, 2, 1)), strict=True
        )
    ]  # fmt: skip
    folder = write_native(suite_from_ratings(rated(*some)), tmp_path / "set")
    runs = tmp_path / "runs"
    arguments = ["run", str(folder), "-m", "demo-causal", "-o", str(runs), "--set", "draws=50"]
    assert invoke(arguments) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) <= SCREEN
    assert "by label" not in out
    assert "Accuracy: demo-causal gets " in out
    assert "Spearman's rho of lp with ratings: demo-causal reaches " in out
    assert "Same verdict as people: demo-causal has the same verdict on " in out
    assert f"Everything:  cimento show {runs / 'set'}" in out
    (names,) = re.findall(r"--table (\w+) \(or (.*)\)", out)
    for name in (names[0], *names[1].split(", ")):
        assert invoke(["report", str(runs / "set"), "--table", name]) == 0
    capsys.readouterr()
    whole = shown(runs / "set", capsys)
    assert "Ratings by label" in whole
    assert "agreement of the people" in whole
    # With other options than the stored run, all is shown, since no other command has it.
    assert invoke([*arguments, "--ties", "pass"]) == 0
    assert "Ratings by label" in capsys.readouterr().out


class TestScatter:
    def drawn(self):
        return scatter_of(evaluate(suite_from_ratings(FIVE), LENGTHS))

    def test_it_hands_out_its_numbers_and_names_the_worst(self):
        pytest.importorskip("altair")
        figure = self.drawn()
        assert figure.frame["id"].to_list() == list("abcde")
        assert figure.frame["value"].to_list() == [-2, -5, -8, -2, -11]
        assert figure.frame["named"].null_count() == 0
        assert figure.spec["description"] == "fake@0000000 beside people on set (lp)"

    def test_nothing_to_draw_is_said(self):
        from cimento.errors import UsageError

        unrated = evaluate(suite_from_ratings(rated(sentence("a", "Sì"))), LENGTHS)
        with pytest.raises(UsageError, match="no sentence has a rating"):
            scatter_of(unrated)


def test_what_a_suite_declares_a_cluster_stays_together():
    """AUC of twelve pairs in two clusters has no interval; of the same pairs alone it has one."""
    texts = ("Piove", "Nevicava", "Sì", "Grandina", "Tuona", "Ci")
    sentences = [
        sentence(
            f"{k}{label[0]}",
            f"{texts[k % 6]} {'molto ' * (k // 6 + (label[0] == 'u') * (k % 3 > 0))}oggi",
            pair=f"p{k}",
            label=label,
            columns={"word": f"w{k % 2}"},
        )
        for k in range(12)
        for label in ("acceptable", "unacceptable")
    ]
    suite = suite_from_ratings(rated(*sentences))
    alone, clustered = suite, dataclasses.replace(suite, cluster="word")

    def area(suite):
        estimates = evaluate(suite, LENGTHS, measures="lp", draws=200).estimates()
        return next(estimate for estimate in estimates if estimate.statistic == "AUC")

    assert area(alone).low is not None
    assert area(clustered).low is None
    assert area(clustered).reason == "2 clusters: an interval needs 5 or more"


@pytest.mark.slow
def test_the_table_of_auc_names_its_method(tmp_path, capsys):
    runs = tmp_path / "runs"
    invoke(["run", "it-connectives", "-m", "demo-causal", "-o", str(runs), "--no-cache"])
    assert "95% of AUC: jackknife" in capsys.readouterr().out
    invoke(["report", str(runs), "--table", "binary"])
    assert "95% of AUC: jackknife" in capsys.readouterr().out


POINTS = st.lists(
    st.tuples(st.sampled_from([15.0, 118, 220, 323, 425]), st.floats(10, 310)),
    min_size=1,
    max_size=25,
)


@given(points=POINTS, length=st.integers(1, 40))
def test_no_label_of_the_scatter_is_written_over_another(points, length):
    names = ["n" * length if row < 5 else None for row in range(len(points))]
    places = label_places(points, names)
    assert [place is None for place in places] == [name is None for name in names]
    labels = [place for place in places if place is not None]
    for number, label in enumerate(labels):
        assert 0 < label.height < 320
        for other in labels[:number]:
            lows, highs = zip(
                *(sorted((one.start, one.end)) for one in (label, other)), strict=True
            )
            assert abs(label.height - other.height) >= 13 or max(lows) >= min(highs)


def test_a_label_of_the_scatter_is_beside_its_point_unless_something_is_in_the_way():
    # The text of the first would go over the second point, so that it is half a line higher.
    first, second, third = label_places(
        [(10.0, 100.0), (60.0, 98.0), (430.0, 50.0)], ["a sentence", None, "another"]
    )
    assert second is None
    assert (first.start, first.end) == (18, 78)
    assert abs(first.height - 98) >= 10
    assert (third.start, third.height) == (422, 50)
    assert third.end == 422 - 6 * len("another")
