"""Digits that Python's `int` does not take, or not so many of, end in a message and in no fault."""

from __future__ import annotations

import pytest

import cimento
from cimento.cli.main import invoke
from cimento.errors import CimentoError
from cimento.io.parsing import whole_number
from cimento.models.hf.arguments import for_transformers
from cimento.people.annotate.candidates import read_part

ODD = ["²", "①", "٣²", "9" * 5000, "-1", "1.0", " 1", ""]


@pytest.mark.parametrize("text", ODD)
def test_what_int_does_not_take_is_no_whole_number(text):
    assert whole_number(text) is None


@pytest.mark.parametrize("text", ["²", "①", "9" * 5000, "٣"])
def test_a_device_that_is_no_number_stays_a_text(text):
    given = for_transformers({"max_memory": {text: "1GB"}}, quantized=False, device="cpu")
    assert given["max_memory"] == {text: "1GB"}


@pytest.mark.parametrize("text", ["²", "9" * 5000])
@pytest.mark.parametrize(
    "options",
    [
        ["--model-args", 'max_memory={{"{0}": "1GB"}}'],
        ["--share", "{0}/4"],
        ["--share", "1/{0}"],
        ["--layers", "{0}"],
        ["--batch-size", "{0}"],
    ],
    ids=" ".join,
)
def test_an_option_with_odd_digits_is_one_message(options, text, tmp_path, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("good\tbad\nThe boys sleep.\tThe boys sleeps.\n")
    given = [part.format(text) for part in options]
    command = ["run", str(pairs), "-m", "demo-causal", "-o", str(tmp_path / "runs")]

    # transformers looks at the memory of devices only where it may choose them.
    expected = (0,) if "max_memory" in options[1] else (1, 2)
    assert invoke([*command, *given]) in expected
    assert "cimento failed with" not in capsys.readouterr().err


@pytest.mark.parametrize("text", ["²", "9" * 5000])
def test_odd_digits_in_python_are_one_message(text):
    with pytest.raises(CimentoError):
        cimento.score("Sì.", "demo-causal", batch_size=text)
    with pytest.raises(CimentoError):
        read_part(f"{text}/3")
