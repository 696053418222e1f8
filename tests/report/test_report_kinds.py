"""Reports of runs of every kind: sections, figures, tables and items of what is stored."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import polars as pl
import pytest

from cimento import evaluate as road
from cimento import evaluation
from cimento.cli.main import invoke
from cimento.cli.report import open_reports
from cimento.documents import sections_of
from cimento.io.tables import JUDGMENTS, write_table
from cimento.paradigms.cloze.requests import ClozeAnswers
from cimento.report import RANK_GAP
from cimento.report.html import inline_svg
from cimento.suites.ratings import suite_from_ratings
from cimento.suites.stories import STORY
from tests.helpers.connectives import CONNECTIVES
from tests.helpers.designs import island_suite
from tests.helpers.pages import parse_page
from tests.helpers.rated import LENGTHS, rated, sentence
from tests.helpers.stories import ask
from tests.paradigms.cloze.test_cloze_running import run_of
from tests.paradigms.stories.test_stories_running import scorer_that_says


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the runs of all kinds are stored; no test writes there."""
    return tmp_path_factory.mktemp("kinds")


@pytest.fixture(scope="module")
def cloze(zoo_folder, folder):
    """A stored run with blanks, one of whose answers is one token; people judged two candidates."""
    *others, hungry = CONNECTIVES.items
    options = (replace(hungry.options[0], variants=("e",)), *hungry.options[1:])
    suite = replace(CONNECTIVES, items=(*others, replace(hungry, options=options)))
    run = run_of(suite, zoo_folder("bert-cased"), folder, k=4)
    first, second = ClozeAnswers(run).by_method("mask")["fame"][:2]
    rows = [
        {"suite": run.suite.name, "item": "fame", "condition": "mask", "candidate": candidate.text,
         "annotator": "a", "question": "fits", "value": value, "remark": None, "at": None}
        for candidate, value in ((first, "yes"), (second, "no"))
    ]  # fmt: skip
    columns = JUDGMENTS.polars()
    names = [name for name in columns if name in rows[0]]
    table = pl.DataFrame(rows, schema={name: columns[name] for name in names})
    write_table(table, JUDGMENTS, run.folder)
    return run


@pytest.fixture(scope="module")
def stories(folder):
    """A stored run of stories by a model that answers `falso` and `acceso` to everything."""
    return ask(scorer_that_says("falso", "acceso"), folder / "runs")


def rated_run(tmp_path, *sentences):
    """A stored run of rated sentences."""
    suite = suite_from_ratings(rated(*sentences))
    return evaluation.evaluate(suite, LENGTHS, output=tmp_path / "runs", measures="lp", draws=100)


@pytest.fixture(scope="module")
def ratings(folder):
    return rated_run(
        folder,
        sentence("a", "Sì", 5, 4),
        sentence("b", "Piove", 4, 4),
        sentence("c", "Nevicava", 2, 3),
        sentence("d", "Grandinando", 1, 1),
    )


def only(path):
    [suite] = sections_of(open_reports([path]))
    return suite


def page(path, tmp_path):
    file = tmp_path / "page.html"
    assert invoke(["report", str(path), "-o", str(file)]) == 0
    return parse_page(file.read_text(encoding="utf-8"))


# --- blanks


def test_blanks_have_hits_choices_and_fitting_candidates(cloze):
    suite = only(cloze.folder)
    [run] = suite.runs
    assert run.paradigm == "cloze"
    assert [rate.heading.split(":")[0] for rate in run.rates] == [
        "Hits", "Candidates that fit", "Forced choice",
    ]  # fmt: skip
    fitting = dict(run.rates[1].lines)
    assert (fitting["P@4"].passed, fitting["P@4"].failed) == (1, 1)
    assert {figure.name for figure in suite.figures} >= {"curve", "calibration"}
    assert [table.name for table in suite.tables] == [
        "hits", "expected", "groups", "choices", "choices-by",
    ]  # fmt: skip


def test_items_with_blanks_show_fillers_targets_and_judgments(cloze):
    [run] = only(cloze.folder).runs
    items = {item.id: item for item in run.items}
    answers = ClozeAnswers(cloze).by_method("mask")["fame"]
    [mask] = items["fame"].answers
    # WordPiece's mark of a piece inside a word is said as in the tables.
    pieces = [answer.text.replace("##", "-", 1) for answer in answers]
    assert [answer.text for answer in mask.answers] == pieces
    assert [answer.mark for answer in mask.answers][:2] == ["fits", "does not fit"]
    assert mask.answers[0].share == pytest.approx(answers[0].probability)
    assert dict(items["febbre"].remarks)["target"] == "perché / perche'"
    [strip] = items["fame"].strips
    assert strip.text == "Ho fame, ___ mangio."
    assert [region.needed for region in strip.regions] == [False, True, False]


def test_blanks_are_summed_up_by_choices_where_an_answer_cannot_be_found(cloze):
    # "perché" is two tokens, which no single mask can have.
    [run] = only(cloze.folder).runs
    stored = json.loads((cloze.folder / "manifest.json").read_text(encoding="utf-8"))
    assert run.headline.question == "choice"
    assert run.headline.n == 3
    outcomes = cloze.outcomes().filter(pl.col("question") == "choice")
    chosen = outcomes.filter(outcomes["method"] == run.headline.method)
    verdicts = dict(zip(chosen["item"], chosen["verdict"], strict=True))
    assert {item.id: item.outcome.verdict for item in run.items if item.id in verdicts} == verdicts
    assert dict(run.provenance)["model revision"] == stored["model"]["revision"]


def test_the_page_shows_blanks(cloze, tmp_path):
    shown = page(cloze.folder, tmp_path)
    assert "choice" in shown.all("table.matrix")[0].words
    assert len(shown.all("svg.figure")) >= 2
    assert "Hits in %" in shown.words
    assert "Forced choice" in shown.words


# --- stories


def test_stories_have_tiers_flow_and_confusions(stories):
    suite = only(stories.folder)
    [run] = suite.runs
    # Of 15 stories 10 are implausible, and all were called so.
    alone = dict(run.rates[0].lines)
    first = alone["Is the story plausible?"]
    assert (first.passed, first.failed, first.chance) == (10, 5, 0.5)
    assert run.headline.value == pytest.approx(10 / 15)
    assert [table.name for table in suite.tables] == ["flow", "metrics"]
    names = [figure.name for figure in suite.figures]
    assert names[:2] == ["flow", "states"]
    assert "calibration" in names
    flow = next(figure for figure in suite.figures if figure.name == "flow").frame
    assert flow.filter(pl.col("tier") == STORY)["reached"].to_list() == [10, 10]


def test_two_prompts_of_one_model_have_two_names(tmp_path):
    for prompt, says in (("it-1", "falso"), ("paper-en", "true")):
        ask(scorer_that_says(says), tmp_path, prompt=prompt)
    suite = only(tmp_path)
    names = [run.model for run in suite.runs]
    assert sorted(name.partition(" ")[2] for name in names) == [
        "(prompt=it-1)",
        "(prompt=paper-en)",
    ]
    reached = {}
    for table in suite.tables:
        rows = [row for row in table.grid.rows if row[0] in names]
        assert {row[0] for row in rows} == set(names)
        if table.name == "flow":
            reached = {row[0].partition(" ")[2]: row[4] for row in rows if row[1] == STORY}
    # each with its own numbers: one calls every story false, the other none
    assert reached == {"(prompt=it-1)": "10", "(prompt=paper-en)": "0"}


def test_stories_show_their_sentences_options_and_verdicts(stories):
    [run] = only(stories.folder).runs
    plausible = next(item for item in run.items if item.phenomenon == "plausible")
    assert plausible.outcome.verdict == "fail"
    [first] = plausible.answers
    assert first.answers[0].text == "false"
    implausible = next(item for item in run.items if item.phenomenon == "order")
    assert len(implausible.answers) == 3
    [strip] = implausible.strips
    assert sum(region.needed for region in strip.regions) == 2
    assert strip.regions[0].pieces[0].text.startswith("0 ")


# --- ratings


def test_rated_sentences_have_correlations_a_scatter_and_judgments(ratings):
    suite = only(ratings.folder)
    [run] = suite.runs
    assert run.paradigm == "ratings"
    assert (run.headline.statistic, run.headline.question) == ("spearman", "lp")
    assert run.headline.value == pytest.approx(1.0)
    assert not run.headline.is_share
    assert suite.tables[0].name == "correlations"
    assert suite.figures[0].name == "scatter"
    remarks = {item.strips[0].text: item.remarks for item in run.items}
    (label, text), *_ = remarks["Sì"]
    assert label == "rated by 2"
    assert text.startswith("4.50, sd 0.71")


def test_rated_sentences_are_ordered_by_the_gap_of_their_ranks(tmp_path):
    run = rated_run(
        tmp_path,
        sentence("a", "Si", 5, 5),
        sentence("b", "Piove", 2, 2),
        sentence("c", "Nevicava", 3, 3),
        sentence("d", "Grandinando", 4, 4),
    )
    [section] = only(run.folder).runs
    # By people a > d > c > b; by the model, which counts letters, a > b > c > d.
    shown = [(item.id, item.outcome.question, item.outcome.value) for item in section.items]
    assert [name for name, _, _ in shown] == ["b", "d", "a", "c"]
    assert [value for _, _, value in shown] == pytest.approx([2 / 3, -2 / 3, 0, 0])
    assert {question for _, question, _ in shown} == {RANK_GAP}
    assert section.items[0].remarks[1:] == (
        ("rank by people", "4 of 4"), ("rank in the model, by lp", "2 of 4"),
    )  # fmt: skip
    html = page(run.folder, tmp_path)
    assert not any("not judged" in table.text for table in html.all("table"))
    assert "worst first" not in html.text
    assert "largest difference first" in html.text


def test_sentences_without_a_rating_are_said_to_have_none(tmp_path):
    run = rated_run(
        tmp_path,
        sentence("a", "Piove.", pair="p", label="acceptable"),
        sentence("b", "Piovono.", pair="p", label="unacceptable"),
    )
    [section] = only(run.folder).runs
    assert any("No sentence has a rating" in note for note in section.notes)
    assert section.headline.question == "acceptable"


# --- all of them


@pytest.mark.slow
@pytest.mark.usefixtures("cloze", "stories", "ratings")
def test_runs_of_all_kinds_stand_on_one_page(folder, tmp_path):
    shown = page(folder / "runs", tmp_path)
    [matrix] = shown.all("table.matrix")
    # The names of the models, and three suites, each under the kind of its number.
    assert len(matrix.all("tr")) == 7
    ids = [e.attributes["id"] for e in shown.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    [methods] = shown.all("p.methods")
    assert methods.words


@pytest.mark.slow
def test_the_overview_explains_its_labels_and_gives_chance_of_what_it_shows(folder, tmp_path):
    shown = page(folder / "runs", tmp_path)
    headings = [row.words for row in shown.all("tr.sub") if row.all("span")]
    for label in (
        "choice The expected word",
        "story_class The proportion",
        "lp: the log-probability",
    ):
        assert sum(label in heading for heading in headings) == 1
    overview = " ".join(headings)
    assert "all options equally likely" in overview
    below = [line.words for line in shown.all("p.small") if line.words.startswith("Chance")]
    assert any("all options equally likely" in line for line in below)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("cloze", "curve"), ("cloze", "calibration"), ("stories", "flow"), ("stories", "states"),
        ("ratings", "scatter"),
    ],
)  # fmt: skip
def test_every_figure_can_be_taken_along(kind, name, request, tmp_path):
    run = request.getfixturevalue(kind)
    for ending in ("svg", "csv"):
        path = tmp_path / f"{name}.{ending}"
        assert invoke(["report", str(run.folder), "--figure", name, "-o", str(path)]) == 0
        assert path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cloze", "stories", "ratings"])
def test_the_specs_of_figures_keep_to_vega_lite(kind, request):
    import altair as alt

    figures = only(request.getfixturevalue(kind).folder).figures
    assert figures
    for figure in figures:
        alt.Chart.from_dict(dict(figure.spec))


def test_several_figures_of_one_name_get_numbers(stories, tmp_path, capsys):
    path = tmp_path / "c.csv"
    assert invoke(["report", str(stories.folder), "--figure", "calibration", "-o", str(path)]) == 0
    written = sorted(path.name for path in tmp_path.glob("c-*.csv"))
    assert written == [f"c-{number}.csv" for number in range(1, len(written) + 1)]
    assert capsys.readouterr().err.count("The figure is in") == len(written) > 1


def test_a_figure_there_is_nothing_for_is_refused(ratings, tmp_path, capsys):
    path = tmp_path / "x.svg"
    assert invoke(["report", str(ratings.folder), "--figure", "flow", "-o", str(path)]) == 2
    assert "there is no such figure of these runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("form", "sign"),
    [("text", "Flow of"), ("markdown", "| model |"), ("csv", "model,"), ("latex", "\\toprule")],
)
def test_every_table_can_be_taken_along(stories, capsys, form, sign):
    assert invoke(["report", str(stories.folder), "--table", "flow", "--format", form]) == 0
    assert sign in capsys.readouterr().out


def test_rates_of_blanks_have_intervals_and_n(cloze, capsys):
    """Of two items: no interval, and the table says so."""
    for name, rate in (("hits", "hit@1_percent"), ("choices", "target_percent")):
        assert invoke(["report", str(cloze.folder), "--table", name, "--format", "json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert {rate, f"{rate}_low", f"{rate}_high", f"{rate}_n"} <= set(printed["columns"])
        rows = [row for row in printed["rows"] if row[f"{rate}_n"]]
        assert rows
        assert not any(row[f"{rate}_low"] for row in rows)
        assert any(note == "No interval: fewer than 5 items." for note in printed["notes"])


def test_a_table_as_json_has_records_by_column(stories, capsys):
    assert invoke(["report", str(stories.folder), "--table", "flow", "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [row["tier"] for row in printed["rows"]] == [
        "story_class", "conflict_detec", "physical_state",
    ]  # fmt: skip
    assert printed["columns"][0] == "model"


def test_a_table_is_written_by_its_ending(stories, tmp_path):
    path = tmp_path / "flow.csv"
    assert invoke(["report", str(stories.folder), "--table", "flow", "-o", str(path)]) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert next(csv.reader(lines))[:2] == ["model", "tier"]


def test_a_wrong_table_lists_the_right_ones(stories, capsys):
    assert invoke(["report", str(stories.folder), "--table", "flaw"]) == 2
    assert "flow" in capsys.readouterr().err
    assert invoke(["report", str(stories.folder), "--format", "csv"]) == 2
    assert "It belongs to --table NAME" in capsys.readouterr().err


def test_items_of_every_kind_are_shown_in_the_terminal(cloze, stories, ratings, capsys):
    assert invoke(["show", str(cloze.folder), "fame"]) == 0
    shown = capsys.readouterr().out
    assert "Ho fame, ___ mangio." in shown
    assert "does not fit" in shown
    [run] = only(stories.folder).runs
    assert invoke(["show", str(stories.folder), run.items[0].id]) == 0
    assert "Is the story plausible?" in capsys.readouterr().out
    [run] = only(ratings.folder).runs
    assert invoke(["show", str(ratings.folder), run.items[0].id]) == 0
    assert "rated by 2" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_made_for_several_measures_is_shown_on_each(tmp_path):
    import altair as alt

    suite = island_suite({"se": ["1", "2"], "np": ["3", "4"]})
    also = ("meanlp", "regions")
    run = road(suite, LENGTHS, measures=("lp", *also), output=tmp_path / "runs")
    [opened] = open_reports([run.folder])
    assert opened.options == run.options
    sections = sections_of([opened])
    shown = [report.model for section in sections for report in section.runs]
    assert len(set(shown)) == 3
    figures = [figure for section in sections for figure in section.figures]
    assert [figure.name for figure in figures].count("interaction") == 3
    for figure in figures:
        alt.Chart.from_dict(dict(figure.spec))
    [again] = open_reports([run.folder], ["penlp"])
    assert (again.options.measure, again.options.also) == ("penlp", ())


def lines_drawn(figure):
    """How many rules a drawing has outside of its axes and grid."""
    svg = inline_svg(figure, name="f")
    return len(re.findall(r'<line[^>]*stroke="#0072b2"', svg))


def test_no_interval_is_drawn_where_there_is_none():
    from cimento.paradigms.cloze.figures import dimensions_figure
    from cimento.paradigms.cloze.profile import ClusteredShare, Dimension, Profile
    from cimento.paradigms.cloze.shares import Share, clustering
    from cimento.statistics.intervals import Interval

    def drawn(low, high):
        ends = Interval(low=low, high=high, method="m" if low is not None else None, reason="r")
        one = Dimension("all", clustering(["a"]), hits=(ClusteredShare(Share(1, 2), ends),))
        whole = Profile(10, "", (one,), (), {}, {}, {}, None, None)
        return lines_drawn(dimensions_figure([("m", whole)]))

    assert drawn(0.1, 0.9) == 1
    assert drawn(None, None) == 0


def test_the_terminal_explains_the_tiers_of_stories(stories, capsys):
    assert invoke(["report", str(stories.folder)]) == 0
    said = capsys.readouterr().out
    for word in ("story_class", "conflict_detec", "physical_state", "greedy", "unread"):
        assert f"{word}: " in said


def test_a_table_asked_for_in_other_words_is_pointed_to(stories, capsys):
    assert invoke(["report", str(stories.folder), "--table", "DD"]) == 2
    assert "DD is in the tables effects" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_written_is_called_by_its_name(stories, tmp_path, capsys):
    for name, said in (("x.csv", "All estimates are in"), ("x.html", "The report is in")):
        assert invoke(["report", str(stories.folder), "-o", str(tmp_path / name)]) == 0
        assert f"{said} {tmp_path / name}" in capsys.readouterr().err
