"""Plug-ins: a sample package is found without being installed, and a broken one harms nothing."""

from __future__ import annotations

import configparser
import math
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cimento
from cimento import Asking, InputError, UsageError, load_suite, load_suites, open_source
from cimento.cli.main import invoke
from cimento.errors import PluginError
from cimento.io import plugins
from cimento.kinds.registry import find_paradigm
from cimento.measures import NoValue, Sentence, find_measure, find_measures
from cimento.models.base import Score
from cimento.testing import check_model
from cimento.testing.models import uniform_scorer

FOLDER = Path(__file__).parents[1] / "sample_plugin"
STARRED = "Il gatto dorme.\n*Il gatto dormono.\nI cani corrono.\n*I cani corre.\n"


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """The sample packages, as if they were installed."""
    monkeypatch.syspath_prepend(str(FOLDER))
    plugins._warn_once.cache_clear()


@pytest.fixture
def starred(tmp_path) -> Path:
    path = tmp_path / "verbs.starred"
    path.write_text(STARRED, encoding="utf-8")
    return path


def test_a_model_of_a_plugin_is_asked_by_its_prefix():
    run = cimento.evaluate("en-subject-verb", "length:2", all_tokens=True)

    tokens = run.table("tokens")
    assert tokens.height > 100
    for token, nats in tokens.select("token", "logprob_nats").iter_rows():
        assert nats == pytest.approx(-2 * len(token) * 0.6931471805599453)
    assert run.model.startswith("length-baseline-2@")


def test_a_suite_of_a_plugins_format_is_found_by_its_suffix(starred):
    loaded = load_suite(starred)

    assert loaded.reading.format == ".starred"
    assert [[c.regions[0].text for c in item.conditions] for item in loaded.suite.items] == [
        ["Il gatto dorme.", "Il gatto dormono."],
        ["I cani corrono.", "I cani corre."],
    ]


def test_a_folder_of_suites_holds_those_of_plugins_too(starred):
    (starred.parent / "README.md").write_text("Notes.")
    (starred.parent / "pairs.tsv").write_text("good\tbad\nI cani corrono.\tI cani corre.\n")

    assert [suite.suite.name for suite in load_suites(starred.parent)] == ["pairs", "verbs"]


def sentence(*logprobs: float) -> Sentence:
    return Sentence(logprobs_nats=logprobs, n_words=2, n_chars=10)


def test_a_measure_of_a_plugin_is_found_by_its_name():
    [measure] = find_measures(["worst-token"])

    assert measure.of(sentence(-1.0, -4.0, -2.0)) == -4.0


def test_a_measure_of_a_plugin_may_be_undefined_and_may_fail():
    assert find_measure("undefined").of(sentence(-1.0)) == NoValue("it always is")
    with pytest.raises(PluginError, match=r"the plug-in 'failing' of cimento-broken 1\.0"):
        find_measure("failing").of(sentence(-1.0))


@pytest.mark.parametrize(
    ("name", "message"), [("absent", "cannot be loaded"), ("number", "is not a Measure")]
)
def test_a_measure_that_cannot_be_used_is_passed_over(name, message, caplog):
    why = f"the plug-in {name!r} of cimento-broken 1.0 {message}"
    with pytest.raises(UsageError, match=f"no such measure, since {why}") as caught:
        find_measure(name)
    assert "Did you mean" not in str(caught.value)
    assert why in caplog.text
    with pytest.raises(UsageError, match="no such measure") as caught:
        find_measure(f"{name}s")  # a name that is close to the one that was skipped
    assert repr(name) not in str(caught.value)


def test_the_whole_way_on_the_command_line(starred, tmp_path, capsys):
    assert invoke(["run", str(starred), "-m", "length:1", "-o", str(tmp_path), "--no-cache"]) == 0

    # The bad sentence is longer in the first pair only, so that the second fails.
    assert re.search(r"unstarred\s+0\.500", capsys.readouterr().out)


def test_a_plugin_that_cannot_be_loaded_warns_once_and_is_passed_over(caplog):
    for _ in range(2):
        with pytest.raises(UsageError, match="there is no such folder"):
            open_source("absent:x", Asking())

    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert "the plug-in 'absent' of cimento-broken 1.0 cannot be loaded" in record.message
    assert "cimento_broken_parts" in record.message


def test_a_plugin_of_the_wrong_kind_warns_and_is_passed_over(caplog):
    with pytest.raises(UsageError):
        open_source("number:x", Asking())

    assert "the plug-in 'number' of cimento-broken 1.0 is not a function" in caplog.text


@pytest.mark.slow
def test_the_warning_goes_to_standard_error_where_nobody_set_up_logging():
    code = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "from cimento.cli.main import main\nmain(['run', 'en-subject-verb', '-m', 'absent:x'])"
    )
    done = subprocess.run(  # noqa: S603  # our own interpreter and code
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stdout == ""
    warning, message = done.stderr.splitlines()
    assert warning.startswith(
        "cimento: the plug-in 'absent' of cimento-broken 1.0 cannot be loaded"
    )
    assert message.startswith("cimento: model 'absent:x': there is no such folder")


def test_of_two_plugins_of_one_name_the_one_that_works_is_taken(caplog):
    assert open_source("length:2", Asking()).label.startswith("length-baseline-2@")
    assert "'length' of cimento-broken 1.0 cannot be loaded" in caplog.text


def test_a_name_that_a_second_package_uses_too_is_said_once(tmp_path, monkeypatch, caplog):
    other = tmp_path / "zz_other-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: zz-other\nVersion: 2.0\n")
    entry = "[cimento.measures]\nworst-token = nowhere:MEASURE\n"
    (other / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(str(tmp_path))

    for _ in range(2):
        assert find_measure("worst-token").of(sentence(-1.0, -4.0)) == -4.0

    [record] = caplog.records
    assert "the plug-in 'worst-token' of cimento-sample 1.0 is used" in record.message
    assert "and not that of zz-other 2.0" in record.message


def test_no_plugin_takes_the_place_of_what_cimento_brings(tmp_path):
    with pytest.raises(UsageError, match="recorded"):
        open_source(f"replay:{tmp_path / 'none.tsv'}", Asking())
    assert find_measure("lp").of(sentence(-1.0, -2.0)) == -3.0


@pytest.mark.parametrize(("name", "seen"), [("failing", "KeyError: 'weights'"), ("texts", "'str'")])
def test_a_plugin_that_fails_is_named_in_the_message(tmp_path, name, seen):
    path = tmp_path / f"suite.{name}"
    path.write_text("x")

    with pytest.raises(PluginError, match=seen) as of_model:
        open_source(f"{name}:x", Asking())
    with pytest.raises(PluginError, match=seen) as of_reader:
        load_suite(path)

    for caught in (of_model, of_reader):
        assert f"the plug-in {name!r} of cimento-broken 1.0" in str(caught.value)


def test_a_reader_that_cannot_be_loaded_leaves_the_usual_message(tmp_path, caplog):
    path = tmp_path / "suite.absent"
    path.write_text("x")

    why = r"since the plug-in 'absent' of cimento-broken 1\.0 cannot be loaded"
    with pytest.raises(InputError, match=rf"unknown suffix '\.absent', {why}"):
        load_suite(path)
    assert "the plug-in 'absent' of cimento-broken 1.0 cannot be loaded" in caplog.text


def test_nothing_is_looked_for_while_names_are_cimentos_own(monkeypatch, tmp_path):
    monkeypatch.setattr(plugins, "_entries", lambda group: pytest.fail(f"asked for {group}"))

    assert cimento.evaluate("en-subject-verb", uniform_scorer(10)).outcomes().height > 0
    with pytest.raises(UsageError, match="recorded"):
        open_source(f"replay:{tmp_path / 'none.tsv'}", Asking())


@pytest.mark.parametrize("kind", ["absent", "number"])
def test_a_kind_of_test_that_cannot_be_loaded_is_passed_over(kind, probing, tmp_path, caplog):
    assert load_suite(probing).paradigm.name == "probing"
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nI cani corrono.\tI cani corre.\n", encoding="utf-8")
    assert load_suite(pairs).paradigm.name == "regions"
    assert load_suite(load_suite(pairs).suite).paradigm.name == "regions"
    assert f"the plug-in {kind!r} of cimento-broken 1.0" in caplog.text

    folder = tmp_path / kind
    folder.mkdir()
    (folder / "suite.toml").write_text(f'kind = "{kind}"\n', encoding="utf-8")
    why = f"the plug-in '{kind}' of cimento-broken 1.0"
    with pytest.raises(InputError, match=f"kind is '{kind}', and {why}"):
        load_suite(folder)
    with pytest.raises(UsageError, match=f"paradigm '{kind}': {why}"):
        find_paradigm(kind)


MEASURED = ["--measure", "failing", "--prediction", "(*;%match%) < (*;%mismatch_number%)"]


@pytest.mark.parametrize("debug", ["", "1"])
def test_cimento_debug_shows_where_a_measure_and_a_paradigm_failed(
    debug, probing, monkeypatch, capsys
):
    def fails(*_arguments):
        raise KeyError("answers")

    import cimento_probing

    monkeypatch.setenv("CIMENTO_DEBUG", debug)
    monkeypatch.setattr(cimento_probing.ProbingJudge, "outcomes", fails)
    run = ["-m", "demo-causal", "--limit", "2", "--no-cache"]
    for suite, of_suite, place in (
        (
            "en-subject-verb",
            MEASURED,
            ('cimento_broken.py"', "in fails", 'raise KeyError("weights")'),
        ),
        (str(probing), [], ('test_plugins.py"', "in fails", 'raise KeyError("answers")')),
    ):
        assert invoke(["run", suite, *run, *of_suite]) == 1
        said = capsys.readouterr().err
        assert "it failed (KeyError" in said
        assert [part in said for part in (*place, "Traceback")] == [bool(debug)] * 4


def test_cimento_debug_shows_where_a_model_failed_and_why_a_plugin_is_skipped(
    monkeypatch, capsys, caplog
):
    import cimento_sample

    def fails(_words, _index):
        raise PluginError(where="length", seen="has no table")

    real = cimento_sample.FakeScorer
    monkeypatch.setattr(cimento_sample, "FakeScorer", lambda _of, **named: real(fails, **named))
    run = ["run", "en-subject-verb", "-m", "length:2", "--limit", "2", "--no-cache"]
    for debug in ("", "1"):
        monkeypatch.setenv("CIMENTO_DEBUG", debug)
        plugins._warn_once.cache_clear()
        assert invoke(run) == 1
        said = capsys.readouterr().err
        assert "has no table" in said
        assert ("in fails" in said) == bool(debug)
        assert ("Traceback" in caplog.text) == bool(debug)  # of the other package's import


def sections() -> dict[str, str]:
    """The sections of the page with a project each."""
    page = (FOLDER.parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
    names, kind, rest = page.partition("## A kind of test of your own")
    return {"names": names, "kind": kind + rest}


def test_the_page_shows_the_code_that_is_tested_here():
    shown, _ = re.findall(r"```python\n(.*?)```", sections()["names"], flags=re.DOTALL)

    assert shown == (FOLDER / "cimento_sample.py").read_text(encoding="utf-8")
    entry_points = (FOLDER / "cimento_sample-1.0.dist-info" / "entry_points.txt").read_text()
    parser = configparser.ConfigParser()
    parser.read_string(entry_points)
    named = {}
    for text in sections().values():
        project = tomllib.loads(re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)[0])
        named |= project["project"]["entry-points"]
        modules = project["tool"]["setuptools"]["py-modules"]
        assert all((FOLDER / f"{module}.py").is_file() for module in modules)

    assert named == {group: dict(parser[group]) for group in parser.sections()}


def test_the_measure_on_the_page_passes_the_check_that_is_shown_there(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    _, check = re.findall(r"```python\n(.*?)```", sections()["names"], flags=re.DOTALL)
    exec(check, {})  # noqa: S102  # the block of our own page
    said = capsys.readouterr().out.splitlines()
    assert len(said) > 5
    assert all(line.startswith("passed  ") for line in said)


FIRST_LINE_OF_ESTIMATE = {"names": r"unstarred +0\.500 .* 2 ", "kind": r"agreement .* 4 "}
"""The second of the two pairs fails, by length; the suite of the other section has four items."""


def files_on(page: str) -> dict[str, str]:
    """The files of the project in a section, and those that its commands read, by their paths."""
    toml, *others = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    [module] = tomllib.loads(toml)["tool"]["setuptools"]["py-modules"]
    code = re.findall(r'```python\n(""".*?)```', page, flags=re.DOTALL)[0]
    files = {"pyproject.toml": toml, f"{module}.py": code}
    of_suites = {
        "it-probe/suite.toml": others,
        "it-probe/items.tsv": re.findall(r"```tsv\n(.*?)```", page, flags=re.DOTALL),
        "verbs.starred": re.findall(r"```txt\n(.*?)```", page, flags=re.DOTALL),
    }
    return files | {path: texts[0] for path, texts in of_suites.items() if texts}


@pytest.mark.slow
@pytest.mark.parametrize("name", sections())
def test_the_project_on_the_page_installs_and_runs_as_printed(name, tmp_path):
    page = sections()[name]
    project, target = tmp_path / "project", tmp_path / "target"
    for path, text in files_on(page).items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    source = Path(cimento.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{target}{os.pathsep}{source}"}

    def done(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        ended = subprocess.run(  # noqa: S603  # our own interpreter, and commands of our pages
            command, cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
        assert "is skipped" not in ended.stderr
        return ended.stdout

    pip = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    done("-m", "pip", *pip, "--target", str(target), ".")
    [code] = target.glob("cimento_*.py")
    assert code.read_text(encoding="utf-8") == files_on(page)[code.name]
    for path in project.glob("cimento_*.py"):
        path.unlink()  # what runs is what is installed
    commands = re.findall(r"`cimento (run [^`]+)`", page)
    assert commands
    for command in commands:
        assert re.search(FIRST_LINE_OF_ESTIMATE[name], done("-m", "cimento", *shlex.split(command)))
    for script in re.findall(r"```python\n(from .*?)```", page, flags=re.DOTALL):
        findings = done("-c", script).splitlines()
        assert findings
        assert all(finding.startswith("passed ") for finding in findings)


def test_the_scorer_of_the_page_passes_the_checks_and_scores_as_by_hand():
    [code] = re.findall(r"```python\n(import hashlib\n.*?)```", sections()["kind"], flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # the docs' own code
    scorer = names["Bigrams"]("the cat sleeps. the dog sleeps. the dog barks.")
    assert [finding for finding in check_model(scorer) if not finding.passed] == []
    # Each count plus one: "dog" follows 2 of 3 "the", "." follows 0 of 2 "dog". There are 7 words,
    # six and one for the unknown: (2 + 1) / (3 + 7) and (0 + 1) / (2 + 7).
    [scores] = scorer.score(scorer.encode([Score(text="dog .", context="the")]))
    assert scores.tolist() == pytest.approx([math.log(3 / 10), math.log(1 / 9)])
