"""The figure of a profile: the forced choice by phenomenon, in the language of the page."""

import json

import pytest

pytest.importorskip("altair", reason="figures are not installed: pip install 'cimento[report]'")
pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.report_page import page_language
from cimento.app.words import LANGUAGES
from cimento.paradigms.cloze.figures import dimensions_figure, dimensions_frame
from cimento.paradigms.cloze.profile import ClusteredShare, Dimension, Profile
from cimento.paradigms.cloze.shares import Share, clustering
from cimento.records.blanks import FORCED_CHOICE
from cimento.records.outcomes import Estimate
from cimento.report.language import figure_in
from cimento.statistics.intervals import Interval

NO_ENDS = Interval(low=None, high=None, method=None, reason="few items")
HITS = (ClusteredShare(Share(1, 4), NO_ENDS), ClusteredShare(Share(2, 4), NO_ENDS))
"""hit@1 and hit@10."""


def profile_of(*names):
    parts = tuple(Dimension(name, clustering(["a"]), hits=HITS) for name in names)
    return Profile(10, "Tipo", parts, (), {}, {}, {}, None, None)


def choice(level, right, n, *, model="m"):
    return Estimate(
        suite="s", model=model, question=FORCED_CHOICE, method="sentence", value=right / n, n=n,
        right=right, group="Tipo" if level else "", level=level, chance=1 / 3,
    )  # fmt: skip


CHOICES = [choice("", 4, 8), choice("modo", 0, 4), choice("concordância", 4, 4)]
NAMES = ("all", "modo", "concordância")


def test_the_choice_of_each_phenomenon_is_in_the_profile_with_its_chance():
    frame = dimensions_frame([("m", profile_of(*NAMES))], CHOICES)
    rows = frame.filter(frame["value"] == "choice").select("dimension", "correct", "n", "share")
    assert rows.rows() == [("all", 4, 8, 0.5), ("modo", 0, 4, 0.0), ("concordância", 4, 4, 1.0)]
    assert frame.filter(frame["chance"].is_not_null())["value"].unique().to_list() == ["choice"]
    assert frame["value"].unique(maintain_order=True).to_list() == ["choice", "hit@1", "hit@10"]


def test_a_model_without_a_choice_has_an_empty_panel_and_no_other_takes_its_place():
    figure = dimensions_figure([("m", profile_of(*NAMES)), ("o", profile_of(*NAMES))], CHOICES)
    (rows,) = figure.spec["datasets"].values()
    panels = {(row["model"], row["value"]) for row in rows}
    assert panels == {(model, k) for model in "mo" for k in ("choice", "hit@1", "hit@10")}
    (empty,) = [row for row in rows if (row["model"], row["value"]) == ("o", "choice")]
    assert empty["share"] is None
    assert figure.svg().count('aria-roledescription="circle"') == len(rows) - 1


@pytest.mark.parametrize("code", sorted({*LANGUAGES} - {"en"}))
def test_its_words_are_those_of_the_page_and_the_author_s_stay(code):
    named = dimensions_figure([("m", profile_of(*NAMES))], CHOICES)
    language = page_language(code)
    told = figure_in(named, language)
    svg = told.svg()
    for word in ("choice", "all"):
        assert f">{word}<" not in svg
        assert f">{language.named(word)}<" in svg
    for name in ("modo", "concordância", "m", "hit@10"):
        assert f">{name}<" in svg
    assert "dashes are chance" in named.title
    assert language.known(named.title) == told.title
    assert json.dumps(named.spec["datasets"]) == json.dumps(told.spec["datasets"])
