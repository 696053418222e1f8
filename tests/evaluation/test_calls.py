"""Calls that cannot be made: one message, in the words of the caller."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

import cimento
from cimento import InputError, SuiteError, UsageError, options
from cimento.cli.main import invoke
from cimento.errors import Fault, with_flags
from cimento.options import RunOptions
from cimento.testing.models import uniform_scorer

BUILTIN = "it-subject-verb"
SUITE = cimento.load_suite(BUILTIN)


def faulty(folder: Path) -> str:
    """The path of a suite with a fault."""
    folder.mkdir()
    (folder / "items.tsv").write_text("sentence\tacceptability\n\t1\n", encoding="utf-8")
    return str(folder)


def test_unusable_suites_are_all_named_and_nothing_is_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = [BUILTIN, faulty(tmp_path / "blank"), "it-ilands"]
    says = "2 of 3 suites cannot be used, and nothing was run"
    model = uniform_scorer(5)

    with pytest.raises(InputError, match=says) as caught:
        cimento.evaluate_all(names, model, output="runs")
    assert "items.tsv" in str(caught.value)
    assert "Did you mean 'it-islands'" in str(caught.value)
    assert invoke(["run", *names, "-m", "demo-causal"]) == 2
    message = capsys.readouterr().err
    assert says in message
    assert "Did you mean 'it-islands'" in message
    assert not Path("runs").exists()
    with pytest.raises(InputError, match=r"^it-ilands: there is no built-in suite"):
        cimento.evaluate_all(["it-ilands"], model)
    with pytest.raises((SuiteError, InputError), match="items"):
        cimento.evaluate("blank", model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bath_size": 8}, "option bath_size: .* Did you mean 'batch_size'?"),
        ({"outputs": "x"}, "option outputs: .* Did you mean 'output'?"),
        (
            {"zzz": 1},
            r"option zzz: .* Known: .*metric.* Those of every run: `cimento run --help-all`",
        ),
        ({"measures": 3}, "option measures: got 3. Give a text, or a list of texts."),
        ({"limit": "four"}, "option limit: got 'four'. Give a whole number."),
        ({"precision": 0.1}, "^precision=0.1: without adaptive=True .* Add adaptive=True"),
        ({"stride": 3}, "option stride: .* window='refuse'. .* window='sliding'"),
        ({"context": "a", "context_column": "b"}, "Give one of context= and context_column="),
        ({"model_args": ["a"]}, "option model_args: what is given is not KEY=VALUE"),
        ({"compat": "minicon"}, "option compat: "),
        ({"language": "es"}, "^language='es': .* Leave language= out"),
        ({"device": "gpu"}, "option device: got 'gpu'"),
        ({"set": {"normalize": True}}, r"option set: .* Give the option itself: normalize=True\."),
        ({"set": {"a": 1, "b": "c"}}, r"option set: .* Give the option itself: a=1, b='c'\."),
        ({"set": ["k=3"]}, "option set: .* Give the option itself: k=20"),
        ({"as_json": True}, "option as_json: it is of the command line, not of Python"),
        ({"engine": "ray"}, "option engine: it is of the command line, not of Python"),
        ({"suites": [BUILTIN]}, r"option suites: .* evaluate\(SUITE, MODEL\)"),
        ({"models": ["demo-causal"]}, r"option models: .* evaluate\(SUITE, MODEL\)"),
        ({"json": True}, "option json: .* have no such option. Known: "),
    ],
)
def test_an_option_is_named_as_the_caller_writes_it(options, message):
    with pytest.raises(UsageError, match=message) as caught:
        cimento.evaluate(BUILTIN, "demo-causal", **options)
    assert "--" not in str(caught.value).replace("--help", "")


@pytest.mark.parametrize("options", [{"set": {"k": 3}}, {"as_json": True}, {"workers": 2}])
def test_several_suites_take_no_options_of_the_command_line_either(options):
    with pytest.raises(UsageError, match="it is of the command line, not of Python"):
        cimento.evaluate_all([BUILTIN], ["demo-causal"], **options)


def test_the_command_line_names_flags(capsys):
    run = ["run", BUILTIN, "-m", "demo-causal"]
    assert invoke([*run, "--precision", "0.1"]) == 2
    assert "cimento: --precision 0.1: without --adaptive all items" in capsys.readouterr().err
    assert invoke([*run, "--stride", "3"]) == 2
    assert "--window refuse. Give one token or more, and --window sliding." in (
        capsys.readouterr().err
    )
    error = UsageError(where="--stride", seen="got 3")
    assert str(error) == "option stride: got 3."


@pytest.mark.parametrize(
    ("written", "flags", "python"),
    [
        ("Say --window=sliding.", "Say --window sliding.", "Say window='sliding'."),
        ("or --no-leading-blank", "or --no-leading-blank.", "or leading_blank=False."),
        ("--set k=20, --set norm", "--set k=20, --set norm.", "k=20, norm=."),
        ("try --tokenizer=NAME", "try --tokenizer NAME.", "try tokenizer=NAME."),
        ("--limit=5 or --no-cache", "--limit 5 or --no-cache.", "limit=5 or no_cache=True."),
        ("`cimento run X --limit 3`", "`cimento run X --limit 3`.", "`cimento run X --limit 3`."),
        ("with cimento judge --unit", "with cimento judge --unit.", "with cimento judge --unit."),
        ("'--bos=x' is text", "'--bos=x' is text.", "'--bos=x' is text."),
    ],
)
def test_messages_have_options_in_one_form_and_show_them_in_two(written, flags, python):
    error = UsageError(where="", seen=written)

    assert str(error) == python
    with with_flags():
        assert str(error) == flags
    fault = Fault("CIM-S001", "error", "x", "seen.", "Give --language.")
    assert str(fault) == "CIM-S001 x: seen. Give language=."
    assert str(SuiteError(where="x", faults=[fault])).endswith("Give language=.")


def test_switches_are_given_as_true():
    for name, field in RunOptions.model_fields.items():
        if field.annotation in (bool, bool | None) and name not in ("as_json", "from_file"):
            flag = f"--{name.replace('_', '-')}"
            assert str(UsageError(where="", seen=f"say {flag}")) == f"say {name}=True."


@pytest.mark.parametrize(
    ("suite", "model", "message"),
    [
        ("demo-causal", BUILTIN, "'demo-causal' is a model and 'it-subject-verb' is a suite"),
        (BUILTIN, "it-islands", "'it-islands' is a suite; suites come first"),
        (BUILTIN, SUITE, "<LoadedSuite 'it-subject-verb' .* is a suite"),
        (uniform_scorer(5), BUILTIN, "is a model .*Write evaluate\\(SUITE, MODEL\\)"),
        ([BUILTIN], "demo-causal", "evaluate_all takes several suites"),
        (BUILTIN, ["demo-causal"], "evaluate_all"),
        (BUILTIN, 3, "int is neither the name of a model"),
    ],
)
def test_arguments_in_each_other_s_place_are_named(suite, model, message):
    with pytest.raises(UsageError, match=message):
        cimento.evaluate(suite, model, limit=2)


def test_a_suite_may_be_a_name_a_path_or_an_object():
    model = uniform_scorer(5)
    runs = [
        cimento.evaluate(suite, model, limit=2)
        for suite in (BUILTIN, SUITE, SUITE.suite, SUITE.reading.path, str(SUITE.reading.path))
    ]
    assert [run.n_items for run in runs] == [2] * 5


def test_a_text_to_cite_by_that_does_not_exist_is_refused():
    run = cimento.evaluate(SUITE, uniform_scorer(5), limit=2)

    with pytest.raises(UsageError, match="Did you mean 'bibtex'"):
        cimento.cite(run, "bibtex2")  # type: ignore[arg-type]  # the mistake


def test_a_folder_of_several_runs_is_opened_by_another_name(tmp_path):
    with pytest.raises(cimento.TableError, match="Give the folder of one run"):
        cimento.open_run(tmp_path)


def test_a_name_that_cimento_lacks_is_answered_with_the_nearest():
    with pytest.raises(AttributeError, match="Did you mean 'evaluate'"):
        cimento.evalute  # noqa: B018  # looked up for its error
    assert not hasattr(cimento, "__wrapped__")


def test_a_suite_in_the_place_of_models_is_named_without_any_suite():
    with pytest.raises(UsageError, match="'it-subject-verb' is a suite; suites come first"):
        cimento.evaluate_all([], ["it-subject-verb"])


def test_options_that_are_true_or_false_are_written_so():
    classes = [value for value in vars(options).values() if isinstance(value, type)]
    fields = {
        name: field
        for kind in classes
        if issubclass(kind, BaseModel)
        for name, field in kind.model_fields.items()
    }
    switches = {name for name, field in fields.items() if field.annotation is bool}
    # No message names these two.
    for name in switches - {"as_json", "from_file"}:
        error = UsageError(where="suite", seen="", todo=f"Give --{name.replace('_', '-')}.")
        assert str(error).endswith(f" Give {name}=True.")
