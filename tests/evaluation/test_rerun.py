"""Runs made again: of every kind byte for byte, and what is said where something differs."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from cimento import Asking, Policy, TableError, evaluate, open_run, open_source
from cimento.cli.main import invoke
from cimento.engine.cache import FileCache, get_scores, put_scores
from cimento.evaluation.reproduce import asking_of, compare_runs, model_of
from cimento.io.files import default_cache_folder
from cimento.models.registry import name_of, shown_name
from cimento.records.store import RunFolder, describe, find_runs
from cimento.suites.stimuli import Context
from cimento.suites.stories import STORY
from cimento.testing.models import uniform_scorer
from tests.helpers.designs import island_suite
from tests.helpers.some_slow import some_slow


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def recorded(tmp_path, monkeypatch) -> Path:
    """A stored run of one pair, from recorded surprisals that were named by a relative path."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n", "utf-8")
    rows = ["sentence_id\ttoken_id\ttoken\tsurprisal", "1\t1\tLei\t1.0", "1\t2\tdorme.\t2.0"]
    rows += ["2\t1\tLei\t1.0", "2\t2\tdormono.\t6.0"]
    Path("said.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    assert invoke(["run", "pairs.tsv", "-m", "replay:said.tsv", "-o", "runs", "--seed", "5"]) == 0
    return next(find_runs(Path("runs"))).path.resolve()


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def change_manifest(folder: Path, **changes) -> None:
    plain = {**manifest_of(folder), **changes}
    if changes.get("named", "") is None:
        del plain["named"]
    (folder / "manifest.json").write_text(json.dumps(plain), "utf-8")


@pytest.mark.slow
def test_every_kind_of_run_is_made_again_byte_for_byte(runs_of_every_kind, tmp_path, capsys):
    capsys.readouterr()

    assert invoke(["rerun", str(runs_of_every_kind), "-o", str(tmp_path / "again")]) == 0
    said = capsys.readouterr().out
    assert said.count("everything agrees") == 5
    assert "differs" not in said
    for table in ("fills", "choices", "tokens", "outcomes", "estimates"):
        assert f"{table}.parquet" in said


def test_a_run_is_made_again_from_another_folder(recorded, tmp_path, monkeypatch, capsys):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    capsys.readouterr()

    assert invoke(["rerun", str(recorded), "--json"]) == 0
    (files,) = json.loads(capsys.readouterr().out)["runs"].values()
    assert all(file["same"] for file in files)
    again = open_run(next(find_runs(elsewhere / "reruns")).path)
    assert again.options == open_run(recorded).options
    assert again.options.seed == 5


def test_a_model_that_moved_is_asked_where_it_is_and_everything_agrees(
    zoo_folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    before, after = Path("before").resolve(), Path("after").resolve()
    shutil.copytree(zoo_folder("gpt2"), before)
    assert invoke(["run", "it-subject-verb", "-m", "before", "--limit", "3", "--no-cache"]) == 0
    before.rename(after)
    capsys.readouterr()

    assert invoke(["rerun", "runs"]) == 2
    assert f"its model was {before}, and there is nothing there now" in capsys.readouterr().err
    assert invoke(["rerun", "runs", "-m", "after"]) == 0
    said = capsys.readouterr().out
    assert "the model is called after@" in said
    assert "everything agrees" in said


def test_recorded_answers_to_stories_are_found_from_another_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    line = {"doc": 0, "task": STORY, "label": "true"}
    Path("somebody.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    assert invoke(["run", "es-stories", "-m", "replay:somebody.jsonl", "-o", "runs"]) == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    capsys.readouterr()

    assert invoke(["rerun", str(tmp_path / "runs")]) == 0
    assert "everything agrees" in capsys.readouterr().out


def shift_cache(by: float) -> None:
    """Add to every score that is kept from earlier runs."""
    cache = FileCache(default_cache_folder())
    keys = [key for (key,) in cache._connection.execute("SELECT key FROM sealed")]
    put_scores(
        cache,
        {
            key: {index: value + by for index, value in scores.items()}
            for key, scores in get_scores(cache, keys).items()
        },
    )
    cache.close()


def test_what_a_run_took_from_the_cache_is_computed_anew(tmp_path, monkeypatch, capsys):
    """As if the texts had was in other batches before: the only way to other last digits."""
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text("item\tgood\tbad\n1\tLei dorme.\tLei dormono.\n", "utf-8")
    run = ["run", "pairs.tsv", "-m", "demo-causal", "--device", "cpu"]
    assert invoke([*run, "-o", "first"]) == 0
    shift_cache(by=-1e-6)
    assert invoke([*run, "-o", "second"]) == 0
    assert invoke([*run, "-o", "third", "--no-cache"]) == 0
    capsys.readouterr()

    assert invoke(["rerun", "second"]) == 0
    said = capsys.readouterr().out
    assert "tokens.parquet     equal  logprob_nats differs in" in said
    assert "rows, by 1e-06 at most" in said
    assert "everything agrees within the precision of the number format:" in said
    shift_cache(by=-1e-3)
    assert invoke([*run, "-o", "fourth"]) == 0
    capsys.readouterr()
    assert invoke(["rerun", "fourth", "-o", "fifth"]) == 1
    assert "tokens.parquet     differs" in capsys.readouterr().out
    for name in ("first", "third"):
        assert invoke(["rerun", name, "-o", f"{name}-again"]) == 0
        assert "everything agrees" in capsys.readouterr().out


def test_places_of_faults_are_those_of_the_copy(tmp_path, monkeypatch, capsys):
    """The suite has a warning, which names a row of the file; the copy has others."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{n}\tLei dorme {n}.\tLei dormono {n}." for n in range(1, 8)]
    rows.append("8\tlei mangia.\tLei mangiano.")
    Path("pairs.tsv").write_text("item\tgood\tbad\n" + "\n".join(rows) + "\n", "utf-8")
    run = ["run", "pairs.tsv", "-m", "demo-causal", "--device", "cpu", "--no-cache"]
    assert invoke([*run, "-o", "runs"]) == 0
    [folder] = find_runs(Path("runs"))
    assert "pairs.tsv row" in (folder.path / "summary.json").read_text("utf-8")

    assert invoke(["rerun", "runs"]) == 0
    assert "everything agrees" in capsys.readouterr().out


def change_table(folder: Path, name: str, column: str, by: float) -> None:
    """Store other numbers, as another computer might have found them."""
    table = folder / f"{name}.parquet"
    metadata = {k: v for k, v in pl.read_parquet_metadata(table).items() if k.startswith("cimento")}
    changed = pl.read_parquet(table).with_columns(pl.col(column) + by)
    changed.write_parquet(table, metadata=metadata)


def test_a_file_that_was_damaged_is_named_and_nothing_is_run(recorded, capsys):
    change_table(recorded, "tokens", "surprisal_bits", 0.5)
    capsys.readouterr()

    assert invoke(["rerun", str(recorded)]) == 2
    err = capsys.readouterr().err
    assert "tokens.parquet" in err
    assert "cut short, changed or removed" in err
    assert not Path("reruns").exists()


def test_a_run_with_other_answers_is_compared_table_by_table(recorded, capsys):
    change_table(recorded, "tokens", "logprob_nats", 0.5)
    stored = RunFolder(recorded)
    stored.finish(stored.manifest())
    capsys.readouterr()

    assert invoke(["rerun", str(recorded)]) == 1
    out = capsys.readouterr().out
    assert "tokens.parquet     differs  logprob_nats differs in 4 of 4 rows, by 0.5 at most" in out
    assert "requests.parquet   same" in out
    assert "1 of 6 differ" in out


def test_other_answers_are_told_as_another_model(recorded, tmp_path, capsys):
    said = tmp_path / "said.tsv"
    said.write_text(said.read_text("utf-8").replace("6.0", "5.0"), "utf-8")
    capsys.readouterr()

    assert invoke(["rerun", str(recorded)]) == 1
    printed = capsys.readouterr().out
    assert "model: revision" in printed
    assert "logprob_nats differs in 1 of 4 rows, by 0.69 at most" in printed  # one bit is ln 2 nats


def test_files_that_only_one_has_and_lines_that_differ(recorded, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(recorded, other)
    (other / "suite" / "items.tsv").write_text("item\n", "utf-8")
    one = open_run(recorded)
    replies = pl.DataFrame({"request": [0], "text": ["sì"], "stop_reason": ["end"]})
    again = dataclasses.replace(one, folder=other, tables={**one.tables, "replies": replies})
    compared = {file.name: file for file in compare_runs(one, again)}

    assert compared["replies.parquet"].remark == "the run has none"
    assert compared["suite/items.tsv"].remark.endswith("1 in the repetition")
    assert compared["suite/suite.toml"].same
    # Where a file is missing, the values are compared.
    (other / "tokens.parquet").unlink()
    shorter = {**again.tables, "tokens": pl.concat([one.table("tokens")] * 2)}
    again = dataclasses.replace(one, folder=other)
    assert {file.name: file.same for file in compare_runs(one, again)}["tokens.parquet"]
    again = dataclasses.replace(one, folder=other, tables=shorter)
    compared = {file.name: file for file in compare_runs(one, again)}
    assert compared["tokens.parquet"].remark == "4 rows, and 8 in the repetition"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"named": None}, "does not say how the model was named"),
        ({"named": ""}, "was in memory"),
        ({"asking": {"policy": {"voice": "low"}}}, "does not say how the model was asked"),
    ],
)
def test_a_manifest_that_says_too_little_is_refused(recorded, changes, message, capsys):
    change_manifest(recorded, **changes)

    assert invoke(["rerun", str(recorded)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("options", {"seed": 1.5}),
        ("options", {"seed": -1}),
        ("options", {"seed": [1]}),
        ("options", {"unscored_first": [1]}),
        ("options", {"metric": "loudest"}),
        ("asking", {"context": {"text": "", "column": 1}}),
    ],
)
@pytest.mark.parametrize(
    "command",
    some_slow([["rerun"], ["show"], ["report"], ["report", "--figure", "margins"]], quick=2),
)
def test_values_of_another_kind_are_told(recorded, part, changes, command, capsys):
    plain = manifest_of(recorded)[part]
    change_manifest(recorded, **{part: {**plain, **changes}})
    name, *rest = command
    output = ["-o", "figure.svg"] if rest else []
    code = invoke([name, str(recorded), *rest, *output])

    said = capsys.readouterr().err
    assert "fault of cimento" not in said
    if part == "options" or name == "rerun":
        assert code == 2
        assert next(iter(changes)) in said or "context" in said or "before the texts" in said


@pytest.mark.parametrize("kind", ["cloze", "stories"])
def test_options_that_a_manifest_cannot_have_are_named(runs_of_every_kind, tmp_path, kind, capsys):
    folder = next(
        folder.path
        for folder in find_runs(runs_of_every_kind)
        if open_run(folder.path).paradigm.name == kind
    )
    copy = tmp_path / "run"
    shutil.copytree(folder, copy)
    manifest = manifest_of(copy)
    old = {"cloze": "fill", "stories": "stories"}[kind]
    where = old if old in manifest else "options"
    key = {"cloze": "protocol", "stories": "norm"}[kind]
    change_manifest(copy, **{where: {**manifest[where], key: "{a.__class__}"}})
    capsys.readouterr()

    assert invoke(["cite", "--methods", str(copy)]) == 2
    assert key in capsys.readouterr().err


def test_of_the_hub_the_commit_is_taken_that_the_run_had():
    commit = "ab" * 20
    manifest = {"named": "org/name@main", "model": {"revision": commit}}

    assert model_of(manifest, where="here") == f"org/name@{commit}"
    assert model_of({**manifest, "named": "org/name"}, where="here") == f"org/name@{commit}"
    assert model_of({**manifest, "named": "/a/b"}, where="here") == "/a/b"
    local = {"named": "org/name", "model": {"revision": "ab" * 32}}
    assert model_of(local, where="here") == "org/name"


def test_a_model_that_went_away_and_one_that_moved(recorded, tmp_path, capsys):
    (tmp_path / "said.tsv").rename(tmp_path / "kept.tsv")

    assert invoke(["rerun", str(recorded)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    # The name of the file is part of the label, so the folder has another name.
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "kept.tsv").rename(moved / "said.tsv")
    assert invoke(["rerun", str(recorded), "-m", f"replay:{moved / 'said.tsv'}"]) == 0


def test_a_run_is_never_overwritten(recorded, capsys):
    assert invoke(["rerun", str(recorded), "-o", "runs"]) == 2
    assert "where a run that is read is stored" in capsys.readouterr().err


def test_another_run_of_the_same_name_is_not_replaced(recorded, tmp_path, capsys):
    other = tmp_path / "other" / recorded.parent.name / recorded.name
    shutil.copytree(recorded, other)
    options = manifest_of(other)["options"]
    change_manifest(other, options={**options, "ties": "pass"})
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    capsys.readouterr()

    assert invoke(["rerun", str(recorded), "-o", str(tmp_path / "other")]) == 2
    assert "another run is stored here" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}


def test_an_earlier_repetition_is_replaced(recorded, tmp_path):
    command = ["rerun", str(recorded), "-o", str(tmp_path / "again")]
    assert [invoke(command), invoke(command)] == [0, 0]


def test_two_runs_of_one_name_are_not_repeated_into_one_folder(recorded, tmp_path, capsys):
    copied = tmp_path / "copied" / recorded.parent.name / recorded.name
    shutil.copytree(recorded, copied)
    assert invoke(["rerun", str(recorded), str(copied), "-o", str(tmp_path / "again")]) == 2
    assert "two runs of pairs would be stored here" in capsys.readouterr().err
    assert not (tmp_path / "again").exists()


def test_what_was_asked_comes_back_from_the_manifest(tmp_path):
    asking = Asking(
        policy=Policy(bos="none", window="sliding", stride=8, model_args={"a": 1}),
        context=Context(text="Ieri"),
        columns=("entropy_nats",),
        all_tokens=True,
        limit=2,
    )
    run = evaluate(island_suite({"se": ["1"]}), uniform_scorer(16), output=tmp_path)
    stored = RunFolder(run.folder).manifest()

    assert asking_of(describe(asking=asking), where="here", model_args={"a": 1}) == asking
    assert asking_of(stored, where="here") == Asking()
    with pytest.raises(TableError, match="was in memory"):
        model_of(stored, where="here")


def test_names_last_and_hold_no_secret(recorded):
    named = manifest_of(recorded)["named"]

    assert named == f"replay:{recorded.parents[2] / 'said.tsv'}"
    assert name_of(open_source("demo-masked", Asking())) == "demo-masked"
    assert name_of(open_source(uniform_scorer(16), Asking())) == ""
    assert shown_name("openai:http://me:secret@host/v1?key=x#gpt") == "openai:http://host/v1#gpt"
    assert shown_name("other:https://me:secret@host/m") == "other:https://host/m"
