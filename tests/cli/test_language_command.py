"""``cimento run --language``: a registry of our own, on a loopback server, from sets to answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import cimento
from cimento import InputError, SetSources, UsageError
from cimento.cli.main import invoke
from cimento.documents.language_answer import json_schema
from cimento.suites import download_sizes, fetching
from cimento.testing import FakeScorer
from tests.helpers.docs_pages import DOCS, blocks
from tests.helpers.serving import Site, serve

__all__ = ["serve"]

SUBJECTS = (
    ("Il gatto", "I gatti"), ("La nonna", "Le nonne"), ("Il medico", "I medici"),
    ("Lo studente", "Gli studenti"), ("La vicina", "Le vicine"), ("Il cane", "I cani"),
)  # fmt: skip
VERBS = (("dorme", "dormono"), ("parla", "parlano"), ("cucina", "cucinano"))
ADJECTIVES = (("stanco", "stanca"), ("pronto", "pronta"), ("sereno", "serena"))
GENDERS = (("Il medico", 0), ("La nonna", 1), ("Il bambino", 0), ("La maestra", 1))


def pairs() -> bytes:
    """Two phenomena: 36 pairs of subjects and verbs, 12 of subjects and adjectives."""
    rows = ["good\tbad\tphenomenon"]
    for singular, plural in SUBJECTS:
        for one, many in VERBS:
            rows.append(f"{singular} {one} in giardino.\t{singular} {many} in giardino.\tverb")
            rows.append(f"{plural} {many} in giardino.\t{plural} {one} in giardino.\tverb")
    for subject, gender in GENDERS:
        for both in ADJECTIVES:
            right, wrong = both[gender], both[1 - gender]
            rows.append(f"{subject} è {right}.\t{subject} è {wrong}.\tadjective")
    return ("\n".join(rows) + "\n").encode()


def other_pairs() -> bytes:
    """Twelve pairs, six of them with sentences of `pairs`."""
    rows = ["good\tbad\tphenomenon"]
    for singular, _ in SUBJECTS:
        rows.append(f"{singular} dorme in giardino.\t{singular} dormono in giardino.\tverb")
        rows.append(f"{singular} arriva tardi.\t{singular} arrivano tardi.\tverb")
    return ("\n".join(rows) + "\n").encode()


def ratings() -> bytes:
    rows = ["sentence\tacceptability"]
    for singular, _ in SUBJECTS:
        rows += [f"{singular} legge una lettera.\t1", f"{singular} leggono una lettera.\t0"]
    return ("\n".join(rows) + "\n").encode()


def entry(name: str, *lines: str, license: str = "MIT") -> str:  # noqa: A002
    return "\n".join(
        [
            f"[{name}]",
            f'title = "{name}"',
            'languages = ["it"]',
            f'license = "{license}"',
            'citation = "nobody"',
            'size = "some pairs"',
            'format = "a table"',
            *lines,
            "",
        ]
    )


@pytest.fixture
def site(serve: Callable[[dict[str, bytes]], Site], monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(fetching, "https_only", lambda address: address)
    monkeypatch.setattr(download_sizes, "https_only", lambda address: address)
    return serve({"/pairs.tsv": pairs(), "/more.tsv": other_pairs(), "/rated.tsv": ratings()})


@pytest.fixture
def line(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options of every command here: a registry and folders of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    registry = tmp_path / "registry.toml"
    tables = [
        entry(name, f'files = {{ it = ["{site.address}/{file}"] }}', license=terms)
        for name, file, terms in (
            ("agreement", "pairs.tsv", "MIT"),
            ("more", "more.tsv", "CC-BY-4.0"),
            ("rated", "rated.tsv", "not stated"),
            ("gone", "nowhere.tsv", "MIT"),
        )
    ]
    tables.append(entry("hand", 'by_hand = "Ask its authors."'))
    registry.write_text("\n".join(tables), encoding="utf-8")
    return ["--language", "it", "-m", "demo-causal", "--registry", str(registry), "-o", "runs"]


APART = ["--except", "starter,generated"]


def answer_at(folder: Path) -> dict:
    return json.loads((folder / "it" / "answer.json").read_text(encoding="utf-8"))


def test_every_set_that_can_be_had_is_in_one_answer(
    line: list[str], site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, *APART]) == 0
    out, err = capsys.readouterr()
    answer = answer_at(tmp_path / "runs")
    Draft202012Validator(json_schema()).validate(answer)
    assert {one["set"]: one["n_items"] for one in answer["used"]} == {"agreement": 48, "more": 12}
    verb, adjective = (
        next(one for one in answer["phenomena"] if one["phenomenon"] == name)
        for name in ("verb", "adjective")
    )
    assert (verb["n_items"], verb["n_paradigms"], verb["sets"]) == (48, 2, ["agreement", "more"])
    assert (adjective["n_items"], adjective["sets"]) == (12, ["agreement"])
    assert answer["starter"] == []
    # What is not available is named with what to do, and did not stop the rest.
    missing = {one["name"]: one for one in answer["missing"]}
    assert missing.keys() == {"rated", "gone", "hand"}
    assert "--accept-license" in missing["rated"]["todo"]
    assert missing["hand"]["todo"] == "Ask its authors."
    assert "cannot be fetched" in missing["gone"]["reason"]
    assert "What demo-causal knows about Italian" in out
    for name, one in missing.items():
        assert f"{name}: {one['reason'][:20]}" in out
    assert {path.suffix for path in (tmp_path / "runs" / "it").glob("answer.*")} == {
        ".html", ".json", ".md", ".tex",
    }  # fmt: skip
    assert "answer.html" in err
    page = (tmp_path / "runs/it/answer.html").read_text(encoding="utf-8")
    assert "<h1><bdi>What demo-causal knows about Italian</bdi></h1>" in page
    assert "Nothing was run" not in page
    # The near end of the interval decides which phenomenon is first, on the page too.
    assert verb["low"] > adjective["low"]
    assert page.index("verb*") < page.index("adjective*")
    # The second time, nothing is fetched or asked again.
    asked = [path for path, _ in site.asked if path != "/nowhere.tsv"]
    stored = sorted((tmp_path / "runs").rglob("manifest.json"))
    times = [path.stat().st_mtime_ns for path in stored]
    assert invoke(["run", *line, *APART]) == 0
    assert [path for path, _ in site.asked if path != "/nowhere.tsv"] == asked
    assert [path.stat().st_mtime_ns for path in stored] == times
    assert answer_at(tmp_path / "runs") == answer


@pytest.mark.slow
def test_starter_suites_are_a_part_of_their_own(line: list[str], tmp_path: Path) -> None:
    assert invoke(["run", *line, "--sets", "more,starter"]) == 0
    answer = answer_at(tmp_path / "runs")
    assert [one["sets"] for one in answer["phenomena"]] == [["more"]]
    assert {name for one in answer["starter"] for name in one["sets"]} == {"starter"}
    assert [one["set"] for one in answer["used"]] == ["more"]


@pytest.mark.slow
def test_a_run_of_which_only_starter_suites_were_to_be_had_is_partly_done(
    line: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert invoke(["run", *line, "--except", "generated"]) == 3
    out, err = capsys.readouterr()
    [before, _] = " ".join(out.split()).split("it is not on this machine, and nothing is fetched")
    assert before.endswith("agreement, more, gone, each: ")
    assert "only suites of cimento itself ran; no published set of Italian" in err
    assert "in no number above" not in out
    assert "Above chance" not in out
    assert invoke(["run", *line, "--sets", "starter"]) == 0
    assert "suites of cimento itself ran" not in capsys.readouterr().err


def test_a_folder_that_is_no_model_is_the_only_reason_given(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out/checkpoint-1").mkdir(parents=True)
    only = [part if part != "demo-causal" else "out" for part in line]
    assert invoke(["run", *only, "--sets", "more"]) != 0
    err = capsys.readouterr().err
    assert "Nothing could be asked" not in err
    assert "out" in err


def test_suites_of_regions_are_not_judged_by_whole_sentences_and_one_line_says_so(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every starter suite of Italian names regions; lm-eval compares sentences."""
    as_tool = [*line, "--compat", "lm-eval"]
    assert invoke(["run", *as_tool, "--sets", "more,starter"]) == 0
    out, err = capsys.readouterr()
    answer = answer_at(tmp_path / "runs")
    Draft202012Validator(json_schema()).validate(answer)
    [unfit] = answer["unfit"]
    assert (unfit["set"], unfit["of_suites"]) == ("starter", len(unfit["suites"]))
    assert "it-subject-verb-adversarial" in unfit["suites"]
    [said] = [one for one in err.splitlines() if "not asked" in one]
    assert said.startswith(f"starter: {unfit['of_suites']} of {unfit['of_suites']} suites are not")
    assert "a measure (of --measure or --compat) is of whole sentences" in said
    assert said in " ".join(out.split())
    assert "starter: " in (tmp_path / "runs/it/answer.html").read_text(encoding="utf-8")
    assert [one["set"] for one in answer["sets"]] == ["more"]
    assert answer["not_run"] == []
    # Where nothing else was asked for, the option is what is wrong.
    assert invoke(["run", *as_tool, "--sets", "starter"]) == 2
    assert [one for one in capsys.readouterr().err.splitlines() if "not asked" in one] == [said]
    assert invoke(["plan", *as_tool, "--sets", "starter"]) == 0
    assert said in capsys.readouterr().err


def said_rows(page: str) -> list[str]:
    """The rows of the only table of rates on a page, as text."""
    table = page.split("<caption>Starter suites")[1].split("</table>", maxsplit=1)[0]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table, flags=re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows if "starter" in row]


@pytest.mark.slow
def test_a_suite_and_its_twin_are_one_paradigm_and_a_note_says_which(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, "--sets", "starter"]) == 0
    answer = answer_at(tmp_path / "runs")
    [verb] = [one for one in answer["starter"] if one["phenomenon"] == "subject-verb agreement"]
    assert verb["twins"] == [["it-subject-verb", "it-subject-verb-adversarial"]]
    assert (verb["n_paradigms"], verb["n_items"]) == (1, 48)
    out = capsys.readouterr().out
    [sample] = [b.text for b in blocks(DOCS / "language.md") if "demo-causal  chance" in b.text]
    shown = [text for text in sample.splitlines() if text != "..."]
    assert [text for text in shown if text not in out] == []
    said = " ".join(out.split())
    assert "count as one paradigm: it-" in said
    # The page explains its columns where no sentence is about a phenomenon, as the terminal does.
    page = (tmp_path / "runs/it/answer.html").read_text(encoding="utf-8")
    assert all("otherwise only to other items of these paradigms." in told for told in (said, page))
    assert "There is no single number for a language" in page
    above = [one["low"] > one["chance"] for one in answer["starter"]]
    assert above == sorted(above, reverse=True)
    assert [row.split()[-3] for row in said_rows(page)] == ["yes" if one else "no" for one in above]


def test_rates_are_those_of_the_runs(line: list[str], tmp_path: Path) -> None:
    assert invoke(["run", *line, "--sets", "agreement"]) == 0
    answer = answer_at(tmp_path / "runs")
    run = cimento.evaluate(
        cimento.load_suite(tmp_path / "cache/suites/agreement", language="it"), "demo-causal"
    )
    by_level = {one.level: one for one in run.estimates() if one.group == "phenomenon"}
    for one in answer["phenomena"]:
        like = by_level[one["phenomenon"]]
        assert (one["value"], one["low"], one["high"]) == pytest.approx(
            (like.value, like.low, like.high)
        )
    [example] = [
        one for one in answer["examples"]
        if one["kind"] == "right" and one["phenomenon"] == "adjective"
    ]  # fmt: skip
    values = dict(run.outcomes().select("item", "value").iter_rows())
    assert values[example["item"]] == pytest.approx(example["margin"])
    margins = run.outcomes().filter(run.outcomes()["group:phenomenon"] == "adjective")["value"]
    assert example["margin"] == pytest.approx(margins.max())


def test_a_license_is_accepted_once(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["--sets", "rated"]
    assert invoke(["run", *line, *only]) == 3
    assert "rated: no license is stated" in capsys.readouterr().err
    assert invoke(["run", *line, *only, "--accept-license"]) == 0
    assert "without a stated license: rated" in capsys.readouterr().err
    assert invoke(["run", *line, *only]) == 0
    [result] = answer_at(tmp_path / "runs")["sets"]
    assert (result["set"], result["statistic"], result["n_items"]) == ("rated", "spearman", 12)
    assert "accept" not in capsys.readouterr().err


def test_the_plan_says_what_would_be_fetched_and_fetches_nothing(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["plan", *line, *APART, "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    sets = {one["set"]: one for one in planned["sets"]}
    assert sets["agreement"]["download_bytes"] == len(pairs())
    assert sets["agreement"]["license"] == "MIT"
    assert sets["gone"]["download_bytes"] is None
    assert not sets["rated"]["is_fetched"]
    assert sets["hand"]["todo"] == "Ask its authors."
    assert not (tmp_path / "cache" / "suites").exists()
    assert invoke(["run", *line, *APART]) == 0
    capsys.readouterr()
    assert invoke(["plan", *line, *APART]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^agreement +MIT +some pairs +here$", out, re.MULTILINE)
    assert re.search(r"^agreement +48 ", out, re.MULTILINE)


def test_sentences_that_sets_share_are_asked_once(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of the 24 sentences of the second set, 12 are also in the first."""
    assert invoke(["run", *line, *APART]) == 0
    capsys.readouterr()
    arguments = ["plan", *line, *APART, "--json", "-o", "elsewhere", "--no-cache"]
    assert invoke(arguments) == 0
    planned = json.loads(capsys.readouterr().out)
    suites = {one["suite"]: one for one in planned["suites"]}
    assert suites["more"]["requests"] == {"score": 24}
    assert suites["more"]["new"] == 12


def test_prefetched_sets_need_no_network(
    line: list[str], site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    without = ["--except", "gone,starter,generated"]
    assert invoke(["cluster", "prefetch", *line, *without, "--into", "there"]) == 0
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(site.asked)
    capsys.readouterr()
    assert invoke(["run", "there/run.toml"]) == 0
    assert len(site.asked) == asked
    answer = answer_at(tmp_path / "runs")
    assert [one["set"] for one in answer["used"]] == ["agreement", "more"]
    capsys.readouterr()
    assert invoke(["run", *line, "--sets-folder", "empty", "--sets", "more"]) == 3
    assert "more: it is not on this machine" in capsys.readouterr().err


def test_a_part_is_drawn_again_by_its_size_and_seed(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, *APART, "--budget", "2s", "--speed", "15"]) == 0
    said = capsys.readouterr().err
    assert "A random 30 of 60 items (15 items a second), seed 0; --budget 30 --seed 0" in said
    first = answer_at(tmp_path / "runs")
    # Six are two of each paradigm: four of the first set, where every fourth is an adjective.
    assert first["sample"] == {
        "items": 30, "of_items": 60, "seed": 0, "seconds": 2.0, "per_second": 15.0,
        "undrawn": {}, "items_for_all": 6, "without_own": False,
    }  # fmt: skip
    page = (tmp_path / "runs/it/answer.html").read_text(encoding="utf-8")
    assert "A random 30 of 60 items (15 items a second), seed 0" in page
    assert "50% of all" in page
    # Ten for each of three paradigms; the first set has two, in the proportion of 36 to 12.
    by_phenomenon = {one["phenomenon"]: one["n_items"] for one in first["phenomena"]}
    assert by_phenomenon == {"verb": 15 + 10, "adjective": 5}
    assert invoke(["run", *line, *APART, "--budget", "30", "-o", "again"]) == 0
    again = answer_at(tmp_path / "again")
    assert again["phenomena"] == first["phenomena"]
    assert again["examples"] == first["examples"]
    assert invoke(["run", *line, *APART, "--budget", "30", "--seed", "1", "-o", "other"]) == 0
    assert answer_at(tmp_path / "other")["examples"] != first["examples"]


def test_a_phenomenon_of_which_no_item_was_drawn_is_named_with_the_budget_that_has_it(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = [*line, *APART, "--sets", "agreement", "--budget"]
    assert invoke(["run", *one, "2", "--seed", "0"]) == 0
    said = capsys.readouterr().err
    asked = {one["phenomenon"] for one in answer_at(tmp_path / "runs")["phenomena"]}
    assert asked == {"verb"}
    assert "No item was drawn of 1 small phenomenon" in said
    assert "it has no row in the tables: adjective (12 items)." in said
    # Of 48 items every fourth is an adjective: four items or more always have one.
    [budget] = re.findall(r"--budget (\d+) has items of every phenomenon", said)
    assert int(budget) == 4
    for seed in "0123":
        assert invoke(["run", *one, budget, "--seed", seed, "-o", f"runs-{seed}"]) == 0
        assert "No item was drawn" not in capsys.readouterr().err
        found = answer_at(tmp_path / f"runs-{seed}")["phenomena"]
        assert {one["phenomenon"] for one in found} == {"verb", "adjective"}


def test_the_model_is_timed_where_no_speed_is_given(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, *APART, "--budget", "1h"]) == 0
    assert "The budget is enough for all 60 items." in capsys.readouterr().err


def test_several_models_are_compared_on_the_same_items(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, "-m", "demo-masked", "--sets", "more"]) == 0
    answer = answer_at(tmp_path / "runs")
    [change] = answer["changes"]
    rates = {one["model"]: one["value"] for one in answer["phenomena"]}
    assert change["value"] == pytest.approx(rates[change["second"]] - rates[change["first"]])
    out = capsys.readouterr().out
    assert "What 2 models know about Italian" in out
    # A note without its column would explain nothing.
    assert "p: of no difference" not in out


def test_checkpoints_are_in_the_order_of_training() -> None:
    given = [f"mine-step{step}" for step in (1000, 10000, 2000)] + ["other"]
    scorers = [FakeScorer(lambda tokens, *_: -float(len(tokens)), name=name) for name in given]
    answer = cimento.evaluate_language("en", scorers, sets=["starter"])
    assert [label.partition("@")[0] for label in answer.models] == [given[n] for n in (0, 2, 1, 3)]
    assert tuple(dict.fromkeys(one.model for one in answer.starter)) == answer.models


def test_all_parts_are_in_the_order_of_the_phenomena(
    line: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, "-m", "demo-masked", "--sets", "agreement"]) == 0
    answer = answer_at(tmp_path / "runs")
    order = list(dict.fromkeys(one["phenomenon"] for one in answer["phenomena"]))
    assert sorted(order) == ["adjective", "verb"]
    assert [one["phenomenon"] for one in answer["changes"]] == order
    places = [order.index(one["phenomenon"]) for one in answer["examples"]]
    assert places == sorted(places)
    # The size of a phenomenon is said once.
    words = " ".join(capsys.readouterr().out.split("Rates are")[0].split())
    assert "this one paradigm only: demo-causal" in words
    assert "; 1 paradigm" not in words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "soon"], "neither a time nor a number"),
        (["--sets", "nonesuch"], "no dataset has this name"),
        (["--limit", "3"], "--limit: it is about suites"),
        (["--language", "it-IT-x"], "not the code of a language"),
        (["it-islands", "--budget", "3"], "--budget: it is about the published sets"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_fetched(
    arguments: list[str], said: str, line: list[str], site: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert invoke(["run", *line, *arguments]) == 2
    assert said in capsys.readouterr().err
    assert site.asked == []


def test_without_any_set_the_exit_code_is_1(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["run", *line, "--language", "sw"]) == 2
    assert "no published set of Swahili is registered" in capsys.readouterr().err


def test_json_is_the_answer(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", *line, "--sets", "more", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]
    assert invoke(["run", *line, "--language", "it,es", "--json"]) == 2
    assert "several languages" in capsys.readouterr().err


def test_python_gives_the_same_answer(line: list[str], tmp_path: Path) -> None:
    assert invoke(["run", *line, *APART]) == 0
    sources = SetSources(registry=tmp_path / "registry.toml")
    answer = cimento.evaluate_language(
        "it", "demo-causal", without=["starter", "generated"], sources=sources
    )
    assert json.loads(answer.to_json()) == answer_at(tmp_path / "runs")
    assert str(answer).startswith("What demo-causal knows about Italian")
    with pytest.raises(UsageError, match="neither a time nor a number"):
        cimento.evaluate_language("it", "demo-causal", sources=sources, budget="soon")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a", "is not TOML"),
        ("a = 1", "is not a table"),
        (entry("a"), "has not one source"),
        (entry("a", 'by_hand = "x"', "wrong = 1"), "unknown key 'wrong'"),
        (entry("a", "by_hand = 1"), "Give a text"),
        ('[a]\ntitle = "b"\nby_hand = "c"', "has no languages"),
    ],
)
def test_a_damaged_registry_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "registry.toml").write_text(text, encoding="utf-8")
    sources = SetSources(registry=tmp_path / "registry.toml")
    with pytest.raises(InputError, match=said):
        cimento.evaluate_language("it", "demo-causal", sources=sources)


def test_the_stored_schema_is_that_of_the_records_and_describes_every_field() -> None:
    schema = json_schema()
    stored = resources.files("cimento") / "data" / "schemas" / "language.schema.json"
    assert json.loads(stored.read_text(encoding="utf-8")) == schema, (
        "write json.dumps(cimento.documents.language_answer.json_schema(), indent=2) to it"
    )
    for part in [schema, *schema["$defs"].values()]:
        assert [n for n, field in part["properties"].items() if "description" not in field] == []
