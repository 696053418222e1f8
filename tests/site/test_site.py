"""The site of many runs: its numbers, addresses, files, and what it leaves alone."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import SiteSettings, UsageError, analyze, evaluate, export, open_runs, write_site
from cimento.cli.main import invoke
from cimento.documents import sections_of
from cimento.report.html import minus
from cimento.site.board import link, slug, suite_parts
from tests.helpers.judging import make_suite
from tests.site.conftest import ALSO_WISE, FOOL, NOUNS, WISE, Reader, agreement, knows


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def files(root: Path) -> dict[str, tuple[int, str]]:
    """Every file with its time and the digest of its content."""
    return {
        path.relative_to(root).as_posix(): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in root.rglob("*")
        if path.is_file()
    }


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(read(path).splitlines()))


SETTINGS = SiteSettings(title="Animals & weather")


@pytest.fixture(scope="module")
def site(animal_runs, more_runs, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("site") / "site"
    write_site([animal_runs, more_runs], root, SETTINGS)
    return root


@pytest.fixture(scope="module")
def animal_site(animal_runs, tmp_path_factory) -> Path:
    """The site of one suite, of which tests change a copy."""
    root = tmp_path_factory.mktemp("site") / "animals"
    write_site(animal_runs, root)
    return root


@pytest.mark.slow
def test_every_estimate_of_the_board_is_that_of_a_run_with_its_interval(site, animal_runs):
    board = " ".join(Reader(read(site / "index.html")).text.split())
    for run in open_runs(animal_runs):
        headline = run.summary().headline
        shown = f"{headline.value:.3f} [{headline.low:.3f}, {headline.high:.3f}]"
        assert minus(shown) in board


@pytest.mark.slow
def test_places_are_a_range_and_only_sure_differences_narrow_it(site):
    """By hand: McNemar's exact p of 20 to 0 is 2 / 2^20, and three times that is below 0.05."""
    places = {
        row["model"]: (row["best_rank"], row["worst_rank"])
        for row in rows(site / "tables/ranks.csv")
        if row["suite"] == "it-animals" and row["items"] == "all"
    }
    assert places == {
        WISE.card.label: ("1", "2"),
        ALSO_WISE.card.label: ("1", "2"),
        FOOL.card.label: ("3", "3"),
    }
    board = Reader(read(site / "index.html")).text
    assert board.count("rank 1 to 2 of 3") == 2
    assert board.count("rank 3 of 3") == 1


def test_five_items_tell_nobody_apart(site):
    """By hand: p of 5 to 0 is 2 / 2^5 = 0.0625, already above 0.05."""
    wild = [
        (row["best_rank"], row["worst_rank"])
        for row in rows(site / "tables/ranks.csv")
        if row["suite"] == "it-animals" and row["phenomenon"] == "wild"
    ]
    assert wild == [("1", "3")] * 3


def test_every_link_leads_to_a_file_and_every_page_is_reached(site):
    reached = {site / "index.html"}
    waiting = [site / "index.html"]
    while waiting:
        page = waiting.pop()
        for address in Reader(read(page)).links:
            path, _, _ = address.partition("#")
            target = (page.parent / unquote(path)).resolve() if path else page
            assert target.is_file(), f"{page.name} refers to {address}"
            if target.suffix == ".html" and target not in reached:
                reached.add(target)
                waiting.append(target)
    assert reached == set(site.rglob("*.html"))


def test_there_is_a_page_for_each_model_suite_phenomenon_run_and_item(site):
    counts = {
        pattern: len(list(site.glob(pattern)))
        for pattern in ("models/*.html", "suites/*.html", "phenomena/*.html",
                        "suites/*/runs/*.html", "suites/*/items/*.html")
    }  # fmt: skip
    assert counts == {
        "models/*.html": 7,
        "suites/*.html": 3,
        "phenomena/*.html": 2,
        "suites/*/runs/*.html": 7,
        "suites/*/items/*.html": 20 + 20 + 8,
    }


def test_an_item_stands_across_models_with_its_numbers(site):
    (page,) = site.glob("suites/it-animals*/items/1.html")
    shown = Reader(read(page))
    text = " ".join(shown.text.split())
    assert "2 of 3 models right" in text
    # Verb and full stop: 1 + 4 nats if the model knows the form, 4 + 4 if it does not, in bits.
    assert "pass+4.337.2111.54" in text
    assert "fail−4.337.212.89" in text
    for model in (WISE, ALSO_WISE, FOOL):
        assert model.card.label in text


def test_checkpoints_are_a_curve_in_the_order_of_training(site):
    (page,) = site.glob("suites/it-training*.html")
    assert "Over training" in Reader(read(page)).text
    assert '<svg class="figure"' in read(page)
    (table,) = site.glob("tables/it-training*/training*.csv")
    assert [(row["step"], float(row["value"])) for row in rows(table)] == [
        ("100", 0.2), ("500", 0.45), ("900", 0.8),
    ]  # fmt: skip


def test_the_ceiling_of_ratings_stands_beside_the_correlation(site, more_runs):
    (run,) = (run for run in open_runs(more_runs) if run.suite_name == "it-weather")
    ceiling = next(
        one.value for one in run.estimates() if one.statistic == "noise ceiling" and one.value
    )
    (page,) = site.glob("suites/it-weather*.html")
    assert f"no correlation above {ceiling:.3f} can be expected" in Reader(read(page)).text
    assert f"ceiling {ceiling:.3f}" in Reader(read(site / "index.html")).text


def test_all_items_and_models_stand_on_one_scale_as_in_an_analysis_of_the_runs(
    site, animal_runs, more_runs
):
    analysis = analyze([*open_runs(animal_runs), *open_runs(more_runs)])
    shown = {
        row["model"]: float(row["ability"]) for row in rows(site / "tables/analysis/models.csv")
    }
    assert shown == pytest.approx(
        {model.model: model.ability.value for model in analysis.models}, abs=0.02
    )
    assert [row["phenomenon"] for row in rows(site / "tables/analysis/phenomena.csv")] == [
        one.phenomenon for one in analysis.phenomena
    ]
    assert read(site / "analysis.html").count("<svg") >= 3
    assert "analysis.html" in read(site / "index.html")


def test_one_model_or_a_few_items_are_not_analyzed(animal_runs, tmp_path):
    run = next(iter(open_runs(animal_runs)))
    write_site([run], tmp_path / "one")
    few = [evaluate(agreement(), model, limit=15, output=tmp_path / "few")
           for model in (knows("some", *NOUNS[:7]), knows("most", *NOUNS[:12]))]  # fmt: skip
    write_site(few, tmp_path / "fifteen")
    for root in (tmp_path / "one", tmp_path / "fifteen"):
        assert not (root / "analysis.html").exists()
        assert "analysis.html" not in read(root / "index.html")


def test_the_tables_to_download_are_those_of_the_runs(site, animal_runs, more_runs):
    runs = open_runs([animal_runs, more_runs])
    assert len(rows(site / "tables/estimates.csv")) == sum(len(run.estimates()) for run in runs)
    (items,) = site.glob("tables/it-animals*/items.csv")
    verdicts = {(row["model"], row["item"]): row["verdict"] for row in rows(items)}
    assert len(verdicts) == 60
    assert verdicts[FOOL.card.label, "7"] == "fail"
    assert verdicts[WISE.card.label, "7"] == "pass"
    made = {row["model"]: row for row in rows(site / "tables/runs.csv")}
    assert made["lab/wise"]["revision"] == "0" * 12
    assert made["lab/wise"]["cimento"]


@pytest.mark.slow
def test_the_head_describes_the_tables_as_a_data_set(animal_runs, tmp_path):
    settings = SiteSettings(title="T", address="https://lab.example/board", license="CC BY 4.0")
    page = write_site(animal_runs, tmp_path / "site", settings).page
    match = re.search(r'<script type="application/ld\+json">(.*?)</script>', read(page), re.DOTALL)
    assert match is not None
    described = json.loads(match[1])
    assert described["@type"] == "Dataset"
    assert described["license"] == "CC BY 4.0"
    assert 50 <= len(described["description"]) <= 5000
    assert {part["contentUrl"] for part in described["distribution"]} == {
        f"https://lab.example/board/tables/{name}.csv" for name in ("ranks", "estimates", "runs")
    }
    assert [work["name"] for work in described["isBasedOn"]] == ["it-animals"]


@pytest.mark.slow
def test_building_again_writes_nothing_and_more_runs_change_only_their_pages(
    animal_runs, more_runs, tmp_path
):
    root = tmp_path / "site"
    first = write_site(animal_runs, root)
    before = files(root)
    assert (first.written, first.kept, first.removed) == (len(before) - 1, 0, 0)

    again = write_site(animal_runs, root)
    assert (again.written, again.kept, again.removed) == (0, first.written, 0)
    same = files(root)
    assert {k: v for k, v in same.items() if k != "site.json"} == {
        k: v for k, v in before.items() if k != "site.json"
    }

    more = write_site([animal_runs, more_runs], root)
    after = files(root)
    changed = {path for path in before if after[path] != same[path]} - {"site.json"}
    # The board, its tables, the list of runs, what is said of all items together, and phenomena
    # that the new suite shares.
    assert changed == {
        "index.html", "runs.html", "phenomena/tame.html", "phenomena/wild.html",
        "tables/estimates.csv", "tables/ranks.csv", "tables/runs.csv", "analysis.html",
        *(f"tables/analysis/{name}.csv" for name in ("items", "models", "phenomena", "variance")),
    }  # fmt: skip
    assert more.written == len(after) - len(before) + len(changed)

    less = write_site(animal_runs, root)
    assert less.removed == len(after) - len(before)
    assert {path: digest for path, (_, digest) in files(root).items()} == {
        path: digest for path, (_, digest) in before.items()
    }
    assert not list(root.glob("suites/it-weather*"))


@pytest.mark.slow
def test_a_new_model_leaves_the_pages_of_other_suites_and_runs_as_they_are(
    site, animal_runs, more_runs, tmp_path
):
    root = shutil.copytree(site, tmp_path / "site")
    before = files(root)
    evaluate(agreement(), knows("new", "lupo"), output=tmp_path / "runs")
    write_site([animal_runs, more_runs, tmp_path / "runs"], root, SETTINGS)
    after = files(root)
    kept = {path for path in before if after[path] == before[path]}
    assert not {path for path in before if path.startswith("suites/it-training")} - kept
    assert not {path for path in before if "/runs/" in path} - kept
    assert set(before) <= set(after), "an address is gone"


@pytest.mark.slow
@pytest.mark.parametrize("others", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_is_unchanged_is_not_read_and_comes_out_as_if_it_were_made_anew(
    animal_runs, more_runs, request, tmp_path, monkeypatch, others
):
    """With runs of every other kind too, whose pages are larger, among the slow tests."""
    stored = [animal_runs, more_runs]
    if others:
        stored.append(request.getfixturevalue("runs_of_every_kind"))
    new = tmp_path / "runs"
    evaluate(agreement(), knows("new", "lupo"), output=new)
    root, afresh = tmp_path / "site", tmp_path / "afresh"
    settings = SiteSettings(dataset="lab/suites")
    write_site(stored, root, settings)
    read_suites = []
    monkeypatch.setattr("cimento.site.suite_parts", _noting(read_suites, suite_parts))
    everything = [*stored, new]
    write_site(everything, root, settings)
    assert read_suites == ["it-animals"]
    write_site(everything, afresh, settings)
    contents = {path: digest for path, (_, digest) in files(root).items()}
    assert contents == {path: digest for path, (_, digest) in files(afresh).items()}


def _noting(names, function):
    """A function of runs that notes the names of their suites."""

    def noted(runs):
        names.append(runs[0].suite_name)
        return function(runs)

    return noted


@pytest.mark.slow
def test_a_page_that_was_changed_by_hand_is_made_again(animal_runs, animal_site, tmp_path):
    root = shutil.copytree(animal_site, tmp_path / "site")
    page = next(root.glob("suites/*/items/7.html"))
    before = read(page)
    page.write_text("scribble")
    assert write_site(animal_runs, root).written == 1
    assert read(page) == before
    write_site(animal_runs, root, SiteSettings(title="Another"))
    assert "Another" in read(page)


@pytest.mark.slow
def test_a_record_of_an_earlier_version_has_everything_made_again(
    animal_runs, animal_site, tmp_path
):
    root = shutil.copytree(animal_site, tmp_path / "site")
    index = json.loads(read(root / "site.json"))
    for made in ({"suite it-animals": {"inputs": 1}}, [], None):
        (root / "site.json").write_text(json.dumps({**index, "made": made}))
        assert write_site(animal_runs, root).written == 0
    assert json.loads(read(root / "site.json")) == index


def test_the_board_offers_records_for_other_sites(animal_runs, tmp_path):
    write_site(animal_runs, tmp_path / "s", SiteSettings(dataset="lab/suites"))
    offered = [place for place in Reader(read(tmp_path / "s" / "index.html")).links
               if place.endswith(".zip")]  # fmt: skip
    assert [Path(place).name for place in offered] == ["all.zip", "every-eval-ever.zip"]
    cards, records = (zipfile.ZipFile(tmp_path / "s" / unquote(place)) for place in offered)
    assert [name for name in cards.namelist() if "lab__wise" in name] == [
        f"lab__wise@{WISE.card.revision[:7]}/.eval_results/suites.yaml"
    ]
    export(animal_runs, "every-eval-ever", tmp_path / "data")
    exported = {path.relative_to(tmp_path / "data").as_posix(): json.loads(read(path))
                for path in tmp_path.glob("data/**/*.json")}  # fmt: skip
    for record in exported.values():
        # The site has no files of single verdicts beside the records.
        record.pop("detailed_evaluation_results")
    assert {name: json.loads(records.read(name)) for name in records.namelist()} == exported
    assert len(exported) == 3


def test_files_of_others_are_neither_overwritten_nor_removed(animal_runs, tmp_path):
    root = tmp_path / "site"
    root.mkdir()
    (root / "CNAME").write_text("lab.example")
    outside = tmp_path / "outside.html"
    outside.write_text("mine")
    write_site(animal_runs, root)
    index = json.loads(read(root / "site.json"))
    index["files"]["../outside.html"] = "0"
    (root / "site.json").write_text(json.dumps(index))
    write_site(animal_runs, root)
    assert outside.exists()
    assert read(root / "CNAME") == "lab.example"

    other = tmp_path / "other"
    other.mkdir()
    (other / "index.html").write_text("a page of somebody")
    with pytest.raises(UsageError, match=r"not of this site"):
        write_site(animal_runs, other)
    assert read(other / "index.html") == "a page of somebody"

    mine = tmp_path / "mine"
    (mine / "my-suite").mkdir(parents=True)
    with pytest.raises(UsageError, match="'my-suite', which is not of this site"):
        write_site(animal_runs, mine)
    assert [path.name for path in mine.rglob("*")] == ["my-suite"]


HOSTILE = '</script><script>alert(1)</script></style><img src=x onerror="alert(1)">'


def test_a_text_of_a_suite_is_text_on_every_page(tmp_path):
    suite = make_suite(
        ["(2;%match%) < (2;%mismatch%)"],
        [{"match": f"{HOSTILE} | dorme.", "mismatch": f"{HOSTILE} | dormono."}],
        columns=[{"phenomenon": HOSTILE}],
    )
    named = agreement(HOSTILE, comment=HOSTILE, author=HOSTILE, license=HOSTILE)
    evaluate(suite, knows(HOSTILE), output=tmp_path / "runs")
    evaluate(named, knows(HOSTILE), output=tmp_path / "runs")
    root = tmp_path / "site"
    write_site(tmp_path / "runs", root, SiteSettings(title=HOSTILE, license=HOSTILE))
    for page in root.rglob("*.html"):
        text = read(page)
        tags = Reader(text).tags
        assert not [attributes for tag, attributes in tags if tag == "img"], page
        policy = next(
            attributes["content"]
            for tag, attributes in tags
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
        styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
        allowed = set(re.findall(r"'(sha256-[^']+)'", policy or ""))
        assert {sha256(content) for content in (*scripts, *styles)} <= allowed
        assert "default-src 'none'" in (policy or "")
        assert "unsafe" not in (policy or "")
        assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


def sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@given(st.text(), st.text())
def test_names_make_different_addresses_that_every_file_system_takes(one, other):
    assert (slug(one) == slug(other)) == (one == other)
    assert slug(one) == slug(one).lower()
    assert re.fullmatch(r"[\w@+.-]+", slug(one))
    assert not slug(one).startswith(".")
    assert slug(one).partition(".")[0] not in {"con", "nul", "aux", "prn", "com1", "lpt1"}


@pytest.mark.parametrize(
    ("page", "target", "address"),
    [
        ("index.html", "models/a b.html", "models/a%20b.html"),
        ("suites/x.html", "index.html", "../index.html"),
        ("suites/x/items/1.html", "suites/x/runs/m@0.html", "../runs/m@0.html"),
    ],
)
def test_links_are_relative(page, target, address):
    assert link(page, target) == address


def test_results_for_model_cards_are_read_by_the_hub_s_own_library(animal_runs, tmp_path):
    hub = pytest.importorskip("huggingface_hub")
    yaml = pytest.importorskip("yaml")
    settings = SiteSettings(dataset="lab/suites", address="https://lab.example/")
    write_site(animal_runs, tmp_path / "site", settings)
    (path,) = tmp_path.glob("site/eval_results/lab__wise*.yaml")
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(read(path)))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lab/suites", "it-animals", 1.0)
    assert entry.source_url == "https://lab.example/"
    assert "n 20" in entry.notes
    with pytest.raises(UsageError, match="OWNER/NAME"):
        write_site(animal_runs, tmp_path / "other", SiteSettings(dataset="suites"))


@pytest.mark.slow
def test_every_kind_of_run_has_its_pages(runs_of_every_kind, tmp_path, capsys):
    assert invoke(["report", str(runs_of_every_kind), "--site", str(tmp_path / "s"), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    runs = open_runs(runs_of_every_kind)
    assert said["runs"] == len(runs)
    assert len(list(tmp_path.glob("s/suites/*.html"))) == len(runs)
    for run in runs:
        items = list(tmp_path.glob(f"s/suites/{run.suite_name}-*/items/*.html"))
        reports = [report for section in sections_of([run]) for report in section.runs]
        assert len(items) == len(reports[0].items) > 0


def test_what_cannot_be_built_is_told_in_one_message(animal_runs, tmp_path, capsys):
    assert invoke(["report", str(tmp_path), "--site", str(tmp_path / "s")]) != 0
    assert "no finished run here" in capsys.readouterr().err
    twice = ["report", str(animal_runs), str(animal_runs), "--site", str(tmp_path / "s")]
    assert invoke(twice) != 0
    assert "several runs of" in capsys.readouterr().err
    (tmp_path / "s").mkdir(exist_ok=True)
    (tmp_path / "s" / "site.json").write_text("[]")
    assert invoke(["report", str(animal_runs), "--site", str(tmp_path / "s")]) != 0
    assert "not the record of a site" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_on_some_items_are_left_out_where_the_run_on_all_is_there(
    animal_runs, tmp_path, capsys
):
    for asked in ({"limit": 5}, {"adaptive": True, "precision": 0.4}):
        evaluate(agreement(), WISE, output=tmp_path / "trials", **asked)
    for name, more in (("whole", []), ("both", [str(tmp_path / "trials")])):
        assert invoke(["report", str(animal_runs), *more, "--site", str(tmp_path / name)]) == 0
    assert "runs on fewer items of lab/wise" in capsys.readouterr().err
    whole, both = (files(tmp_path / name) for name in ("whole", "both"))
    assert {path: made[1] for path, made in whole.items()} == {
        path: made[1] for path, made in both.items()
    }


def test_a_run_that_is_not_stored_is_refused(tmp_path):
    run = evaluate(agreement(), WISE)
    with pytest.raises(UsageError, match="not stored"):
        write_site(run, tmp_path / "s")


def test_runs_of_one_name_in_two_folders_have_a_page_each(tmp_path):
    for folder, all_tokens in (("some", False), ("all", True)):
        evaluate(agreement(), WISE, output=tmp_path / folder, all_tokens=all_tokens)
    folders = [str(tmp_path / name) for name in ("some", "all")]
    assert invoke(["report", *folders, "--site", str(tmp_path / "site")]) == 0
    assert len(list(tmp_path.glob("site/suites/*/runs/*.html"))) == 2
