"""A paradigm of another package, without a line in cimento; test_conformance says what it has."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from pydantic import field_validator

from cimento import load_suite
from cimento.cli.main import invoke
from cimento.errors import PluginError, SuiteError, UsageError
from cimento.evaluation import evaluate
from cimento.kinds.registry import find_paradigm
from cimento.paradigms import (
    Asker,
    Judge,
    ParadigmOptions,
    PlainPresenter,
    Presenter,
    Requests,
    SuiteReader,
    Surveyor,
)
from cimento.testing import FakeScorer, check_paradigm

PLUGINS = Path(__file__).parents[1] / "sample_plugin"
MOST_LINES = 200


@pytest.fixture
def short_words() -> FakeScorer:
    """A model for which a letter costs one nat."""
    return FakeScorer(lambda words, index: -float(len(words[index])), name="short")


def test_the_numbers_are_those_counted_by_hand(probing, short_words):
    run = evaluate(probing, short_words)
    # Shorter verbs win: 1, 3, 5 and 7 are singular and right, the plurals 2, 4 and 6 are longer.
    assert run.outcomes()["verdict"].to_list() == [
        "pass", "fail", "pass", "fail", "pass", "fail", "pass",
    ]  # fmt: skip
    [headline] = run.estimates()
    assert (headline.right, headline.n, headline.chance) == (4, 7, 0.5)


def test_a_round_without_requests_is_the_last_one(probing, short_words):
    run = evaluate(replace(load_suite(probing).suite, probes=()), short_words)
    with pytest.raises(UsageError, match="has no such table"):
        run.outcomes()


AGAIN = "8\tLa bambina con i fiori\tdorme\tdormono\tfiori\n"
"""The first item once more: the plug-in makes the same request of both."""


def with_a_repeat(probing: Path) -> Path:
    with (probing / "items.tsv").open("a", encoding="utf-8") as table:
        table.write(AGAIN)
    return probing


@pytest.mark.parametrize("options", [{}, {"adaptive": True, "precision": 0.001}])
def test_a_repeated_request_is_asked_once_and_answered_under_each_number(
    options, probing, short_words, tmp_path
):
    run = evaluate(with_a_repeat(probing), short_words, output=tmp_path / "runs", **options)
    verdicts = dict(run.outcomes().select("item", "verdict").rows())
    # As counted above, with the first item, which passes, once more.
    assert [verdicts[item] for item in "12345678"] == [
        "pass", "fail", "pass", "fail", "pass", "fail", "pass", "pass",
    ]  # fmt: skip
    choices = run.table("choices")
    assert choices["request"].to_list() == [number for number in range(8) for _ in range(2)]


def test_requests_numbered_by_a_plugin_as_if_repeats_were_left_out_are_refused(
    probing, short_words, monkeypatch
):
    import cimento_probing

    made = cimento_probing.ProbingAsker.requests

    def distinct(*arguments, **options):
        requests = made(*arguments, **options)
        return requests and replace(requests, asked=list(dict.fromkeys(requests.asked)))

    monkeypatch.setattr(cimento_probing.ProbingAsker, "requests", distinct)
    with pytest.raises(PluginError, match="name the request 7, and those of this round are 0 to 6"):
        evaluate(with_a_repeat(probing), short_words)


def test_the_kit_tries_a_repeated_item(probing, short_words, monkeypatch):
    [found] = [f for f in check_paradigm(probing, short_words) if "ask the same" in f.name]
    assert found.passed
    assert found.detail == "1 and 1 outcomes"

    def last_of_a_noun_only(self, run):
        scores = run.table("choices")
        nouns = {probe.noun: number for number, probe in enumerate(run.suite.probes)}
        kept = list(nouns.values())
        probes = tuple(run.suite.probes[number] for number in kept)
        renumbered = scores.filter(scores["request"].is_in(kept)).with_columns(
            pl.col("request").replace_strict(kept, range(len(kept)), return_dtype=pl.Int32)
        )
        part = replace(run, suite=replace(run.suite, probes=probes), tables={"choices": renumbered})
        return judged(self, part)

    import cimento_probing

    judged = cimento_probing.ProbingJudge.outcomes
    monkeypatch.setattr(cimento_probing.ProbingJudge, "outcomes", last_of_a_noun_only)
    [found] = [f for f in check_paradigm(probing, short_words) if "ask the same" in f.name]
    assert not found.passed
    assert found.detail == "0 and 1 outcomes"


def test_the_command_line_runs_it(probing, tmp_path, capsys):
    runs = tmp_path / "runs"
    assert invoke(["run", str(probing), "-m", "demo-causal", "-o", str(runs)]) == 0
    # Six of seven, and chance, as the tables of cimento's own kinds print them.
    row = r"agreement +accuracy +0\.857 \[0\.\d{3}, 0\.\d{3}\] +7 +0 +0 +0\.500"
    assert re.search(row, capsys.readouterr().out)


def test_a_table_without_a_column_is_told(probing, short_words):
    (probing / "items.tsv").write_text("id\tprompt\n1\tLa zia\n", encoding="utf-8")
    with pytest.raises(SuiteError, match="there is no column 'right'"):
        evaluate(probing, short_words)


PARTS = {
    "reader": SuiteReader, "asker": Asker, "judge": Judge, "presenter": Presenter,
    "surveyor": Surveyor,
}  # fmt: skip
METHODS = sorted(
    (part, name)
    for part, kind in PARTS.items()
    for name, _ in inspect.getmembers(kind, inspect.isfunction)
    if name[0] != "_"
)
NAMED = "the plug-in 'probing' of cimento-sample 1.0: it failed (KeyError: 'meta')"


def fails(*_args, **_kwargs):
    raise KeyError("meta")


def iterates(*_args, **_kwargs):
    yield 1
    raise KeyError("meta")


def installed(monkeypatch, **parts):
    """The sample paradigm with other parts, in its place."""
    import cimento_probing

    other = replace(cimento_probing.PROBING, **parts)
    monkeypatch.setattr(cimento_probing, "PROBING", other)
    find_paradigm.cache_clear()
    return other


@pytest.fixture
def asking_people(probing, monkeypatch):  # noqa: ARG001  # it is installed
    """The sample paradigm with a surveyor, which it does without."""

    class ProbingSurveyor(Surveyor):
        """Asks nothing."""

    return installed(monkeypatch, surveyor=ProbingSurveyor())


@pytest.mark.parametrize(("part", "method"), METHODS)
def test_a_failing_method_names_the_plugin(part, method, probing, asking_people, monkeypatch):
    paradigm = load_suite(probing).paradigm
    monkeypatch.setattr(type(getattr(asking_people, part)), method, fails, raising=False)
    with pytest.raises(PluginError) as caught:
        getattr(getattr(paradigm, part), method)()
    assert NAMED in str(caught.value)


def test_what_a_method_returns_names_the_plugin_when_it_fails_later(probing, monkeypatch):
    paradigm = load_suite(probing).paradigm
    monkeypatch.setattr(PlainPresenter, "warnings", iterates)
    with pytest.raises(PluginError, match="KeyError"):
        list(paradigm.presenter.warnings(None))
    late = Requests(asked=iterates(), places=pl.DataFrame())
    monkeypatch.setattr("cimento_probing.ProbingAsker.requests", lambda *_: late)
    with pytest.raises(PluginError, match="KeyError"):
        list(paradigm.asker.requests(None).asked)


METHODS_OF_OPTIONS = ["asked", "chosen", "columns", "digest", "inputs", "refuse_unfit"]


def options_that_fail(of: type[ParadigmOptions], method: str) -> type[ParadigmOptions]:
    """Options like those of the plug-in, of which one method fails; `columns` is a property."""
    failing = property(fails) if method == "columns" else fails
    return type("Failing", (of,), {"__module__": of.__module__, method: failing})


@pytest.mark.parametrize("method", METHODS_OF_OPTIONS)
def test_a_failing_method_of_its_options_names_the_plugin(method, probing):
    options = options_that_fail(load_suite(probing).paradigm.options, method)()
    with pytest.raises(PluginError) as caught:
        getattr(options, method)() if method != "columns" else options.columns
    assert NAMED in str(caught.value)


@pytest.mark.parametrize("method", ["asked", "chosen", "columns", "inputs"])
def test_a_run_names_the_plugin_whose_options_fail(method, probing, tmp_path, monkeypatch, capsys):
    paradigm = load_suite(probing).paradigm
    options = options_that_fail(paradigm.options, method)
    installed(monkeypatch, options=options)
    command = ["run", str(probing), "-m", "demo-causal", "-o", str(tmp_path / "made")]
    assert invoke(command) == 1
    said = capsys.readouterr().err
    assert NAMED in said
    assert "report it" not in said


def checks(article: str) -> str:
    """A check of a plug-in's option, which refuses one value and fails on another."""
    if article == "un":
        raise ValueError("give a definite article")
    return {"": "", "la": "la"}[article]


def test_a_check_of_its_options_that_fails_names_the_plugin(probing, monkeypatch, capsys):
    plugin = load_suite(probing).paradigm
    check = field_validator("article")(checks)
    names = {"__module__": plugin.options.__module__, "check": check}
    installed(monkeypatch, options=type("Checked", (plugin.options,), names))
    command = ["run", str(probing), "-m", "demo-causal", "--set"]
    assert invoke([*command, "article=il"]) == 1
    said = capsys.readouterr().err
    assert NAMED.replace("meta", "il") in said
    assert "report it" not in said
    assert invoke([*command, "article=un"]) == 2
    assert "Give a definite article." in capsys.readouterr().err


FAILING_COMMANDS = [
    ("run", "ProbingReader.read"), ("run", "ProbingAsker.requests"),
    ("run", "ProbingJudge.outcomes"), ("run", "ProbingJudge.estimates"),
    ("run", "PlainPresenter.text"), ("run", "ProbingReader.groups"),
    ("suites check", "ProbingReader.read"), ("suites show", "PlainPresenter.describe"),
    ("report", "PlainPresenter.sections"), ("judge", "ProbingJudge.outcomes"),
    ("export", "ProbingReader.read_copy"), ("cite", "PlainPresenter.methods"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "method"), FAILING_COMMANDS)
def test_every_command_names_a_plugin_that_fails(
    command, method, probing, tmp_path, monkeypatch, capsys
):
    stored, made = tmp_path / "stored", tmp_path / "made"
    if command in {"report", "judge", "export", "cite"}:
        invoke(["run", str(probing), "-m", "demo-causal", "-o", str(stored)])
    arguments = {
        "run": ["run", str(probing), "-m", "demo-causal", "-o", str(made), "--limit", "2"],
        "suites check": ["suites", "check", "--json", str(probing)],
        "suites show": ["suites", "show", str(probing)],
        "report": ["report", str(stored), "-o", f"{made}.html"],
        "judge": ["judge", str(stored), "-o", str(made)],
        "export": ["export", str(stored), "--to", "inspect", "-o", str(made)],
        "cite": ["cite", str(stored)],
    }[command]
    monkeypatch.setattr("cimento_probing." + method, fails, raising=False)
    assert invoke(arguments) == 1
    said = capsys.readouterr().err
    assert NAMED in said
    assert "report it" not in said


def test_it_is_short():
    lines = (PLUGINS / "cimento_probing.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) < MOST_LINES


def test_the_page_shows_the_code_that_is_tested_here():
    page = (PLUGINS.parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert (PLUGINS / "cimento_probing.py").read_text(encoding="utf-8") in shown


def test_the_suite_on_the_page_runs(probing, short_words):
    page = (PLUGINS.parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
    toml = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)[-1]
    [items] = re.findall(r"```tsv\n(.*?)```", page, flags=re.DOTALL)
    (probing / "suite.toml").write_text(toml, encoding="utf-8")
    (probing / "items.tsv").write_text(items, encoding="utf-8")
    # Counted by hand: the shorter verb is right in the first and the third of the four.
    [headline] = evaluate(probing, short_words).estimates()
    assert (headline.right, headline.n) == (2, 4)


def selects_nothing(_reader, suite, items):  # noqa: ARG001  # as the kit calls it
    raise UsageError(where="the reader", seen="it has lost its items")


def test_a_paradigm_may_leave_out_what_the_page_says_it_may(probing, short_words, monkeypatch):
    # Under the table of parts, the page says of `selected`: "no --limit, no adaptive runs".
    import cimento_probing

    monkeypatch.delattr(cimento_probing.ProbingReader, "selected")
    findings = check_paradigm(probing, short_words)
    assert [str(finding) for finding in findings if not finding.passed] == []
    details = {one.name: one.detail for one in findings if "or it is refused" in one.name}
    assert len(details) == 2
    assert all(detail.startswith("not supported: suite 'it-probe'") for detail in details.values())

    monkeypatch.setattr(cimento_probing.ProbingReader, "selected", selects_nothing)
    failed = {one.name for one in check_paradigm(probing, short_words) if not one.passed}
    assert details.keys() <= failed
