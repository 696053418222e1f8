"""One model of options: flags, variables, run files, manifests and Python have the same fields."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import RunOptions, UsageError
from cimento.cli.compare import CompareOptions
from cimento.cli.main import invoke
from cimento.cli.report import ReportOptions
from cimento.cli.run_file import LanguageOptions
from cimento.cli.stored import JudgeOptions
from cimento.io.declared import about, checked, is_trust, recorded_fields

FIELDS = {name: field for name, field in RunOptions.model_fields.items() if about(field)}


COMMANDS = {
    "run": LanguageOptions,
    "judge": JudgeOptions,
    "compare": CompareOptions,
    "report": ReportOptions,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_a_flag_with_its_description(command, capsys):
    assert invoke([command, "--help-all"]) == 0
    text = capsys.readouterr().out
    fields = {name: field for name, field in COMMANDS[command].model_fields.items() if about(field)}
    assert fields
    for name, field in fields.items():
        flags = [flag for flag in about(field)["flags"] if flag.startswith("--")]
        flag = (flags or [f"--{name.replace('_', '-')}"])[0]
        assert name in {"suites", "runs", "name"} or flag in text
        assert field.description in " ".join(text.split())
        assert field.description.endswith(".")


def test_what_is_trusted_is_in_no_file():
    trusted = {name for name, field in FIELDS.items() if is_trust(field)}
    assert trusted == {"allow_pickle", "trust_remote_code"}
    assert not trusted & recorded_fields(RunOptions).keys()


def test_what_was_stated_makes_the_same_options():
    options = checked(
        RunOptions,
        {"suites": "it-islands", "models": ["demo-causal"], "batch_size": "16", "bos": "none",
         "set": ["k=3"], "leading_blank": False, "near_ties": 0.5, "force": True},
    )  # fmt: skip
    stated = json.loads(json.dumps(options.stated()))
    assert "force" not in stated
    assert checked(RunOptions, stated) == options.model_copy(update={"force": False})
    assert checked(RunOptions, stated).scoring == options.scoring


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "limit": st.integers(1, 1000),
            "seed": st.integers(0, 1 << 30),
            "timeout": st.floats(0.1, 1e6),
            "context": st.text(),
            "batch_size": st.one_of(st.just("auto"), st.integers(1, 512)),
            "predictions": st.lists(st.text(), max_size=3),
        },
    )
)
def test_any_options_are_what_they_state(values):
    options = checked(RunOptions, values)
    assert checked(RunOptions, options.stated()) == options


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"batchsize": 3}, "batch_size"),
        ({"batch_size": 0}, "whole number from 1"),
        ({"dtype": "float8"}, "float32"),
        ({"set": "k"}, "KEY=VALUE"),
        ({"limit": "many"}, "whole number"),
    ],
)
def test_what_is_no_option_is_told(values, message):
    with pytest.raises(UsageError, match=message):
        checked(RunOptions, values)


def test_a_variable_is_a_flag(monkeypatch, capsys):
    monkeypatch.setenv("CIMENTO_BATCH_SIZE", "none")
    assert invoke(["plan", "it-subject-verb", "-m", "demo-causal"]) == 2
    assert "--batch-size: got 'none'" in capsys.readouterr().err


def test_a_record_has_the_options_that_its_fields_are_named_like():
    @dataclass
    class Settings:
        seed: int
        title: str
        depth: int = 3

    options = checked(ReportOptions, {"runs": ["runs"], "seed": 7, "title": "T"})

    assert options.named_in(Settings, depth=1) == Settings(7, "T", 1)
    with pytest.raises(AttributeError, match="depth"):
        options.named_in(Settings)
