"""``cimento fill``: free text with blanks, from a file or standard input."""

from __future__ import annotations

import io
import json
import math
import sys

import polars as pl
import pytest

from cimento import Asking, InputError
from cimento.cli.main import invoke
from cimento.evaluation.free_fills import fill_texts, nucleus_of
from cimento.models.questions import FillPolicy


def typed(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_a_text_from_standard_input_is_filled(monkeypatch, capsys):
    typed(monkeypatch, "La casa è ___.\n\nLe ragazze sono _____.\n")
    assert invoke(["fill", "-m", "demo-masked", "-k", "3", "--protocol", "words"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split("\t") == [
        "text", "method", "rank", "candidate", "probability", "logprob_nats", "n_pieces", "kind",
    ]  # fmt: skip
    assert [row.split("\t")[:3] for row in rows] == [
        [number, "words", rank] for number in "12" for rank in "123"
    ]
    assert {row.split("\t")[-1] for row in rows} == {"word"}


def test_the_nucleus_is_the_fewest_candidates_that_reach_p():
    """By hand: .4 + .3 + .2 reach .9; the second text's reach .6; options are not counted."""
    rows = [(1, "mask", .4), (1, "mask", .3), (1, "mask", .2), (1, "mask", .05),
            (2, "left", .35), (2, "left", .25), (2, "choice:sentence", .001)]  # fmt: skip
    table = pl.DataFrame(rows, schema=("text", "method", "probability"), orient="row")
    kept, short = nucleus_of(table, 0.9)
    assert kept["probability"].to_list() == [0.4, 0.3, 0.2, 0.35, 0.25, 0.001]
    sums = kept["cumulative_probability"].to_list()
    assert sums[:5] == pytest.approx([0.4, 0.7, 0.9, 0.35, 0.6])
    assert sums[5] is None
    assert short == {2: pytest.approx(0.6)}


def test_top_p_of_a_blank_is_printed_and_what_is_not_reached_is_said(monkeypatch, capsys):
    told = ["fill", "-m", "demo-masked", "--top-p"]
    typed(monkeypatch, "Il gatto ___ sul tetto.\n")
    assert invoke([*told, "0.5", "-k", "20"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    sums = [float(row.split("\t")[-1]) for row in rows]
    assert header.endswith("cumulative_probability")
    assert all(end < 0.5 for end in sums[:-1])
    assert sums[-1] >= 0.5
    typed(monkeypatch, "Il gatto ___ sul tetto.\n")
    assert invoke([*told, "1", "-k", "2"]) == 0
    assert "its 2 candidates reach" in capsys.readouterr().err
    assert invoke([*told, "0"]) == 2
    assert "no candidate is within 0" in capsys.readouterr().err


@pytest.mark.parametrize("model", ["demo-masked", "demo-causal"])
def test_options_stand_behind_the_text_or_hold_for_all(model, tmp_path, capsys):
    path = tmp_path / "texts.tsv"
    path.write_text("La casa è ___.\tnuova | nuovo\nLa strada è ___.\n", encoding="utf-8")
    arguments = ["fill", str(path), "-m", model, "--options", "lunga|lungo", "--json"]
    assert invoke([*arguments, "--choice", "sentence"]) == 0
    first, second = json.loads(capsys.readouterr().out)["texts"]
    assert first["text"] == "La casa è ___."
    assert [f["candidate"] for f in first["fills"] if f["method"] == "choice:sentence"] == [
        "nuova", "nuovo",
    ]  # fmt: skip
    scored = [f for f in second["fills"] if f["method"] == "choice:sentence"]
    assert [f["candidate"] for f in scored] == ["lunga", "lungo"]
    assert scored[0]["probability"] == pytest.approx(math.exp(scored[0]["logprob_nats"]))


def test_the_same_in_python():
    table = fill_texts(
        ["La casa è ___."], "demo-masked", policy=FillPolicy(k=2), asking=Asking(device="cpu")
    )
    assert table.select("text", "rank").rows() == [(1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "said"), [("Nessuno.", "no blank"), ("___ e ___", "2 blanks"), ("a __ b", "no blank")]
)
def test_a_text_without_one_blank_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        fill_texts(["La ___.", text], "demo-masked")


def test_what_cannot_be_asked_is_said(monkeypatch, capsys):
    typed(monkeypatch, "La casa è ___.\n")
    assert invoke(["fill", "-m", "demo-causal", "--protocol", "mask"]) == 2
    assert "protocol=mask" in capsys.readouterr().err


def notes(capsys):
    """What a command says beside what a table was read as."""
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("Read as ")]


@pytest.mark.parametrize(
    ("command", "model", "text", "mark"),
    [
        ("score", "demo-causal", "The <|bos|> sleeps.", "<|bos|>"),
        ("score", "demo-masked", "The cat [SEP] sleeps.", "[SEP]"),
        ("fill", "demo-masked", "The cat [SEP] is ___.", "[SEP]"),
        ("fill", "demo-causal", "The <|bos|> cat is ___.", "<|bos|>"),
        (
            "analyze reading-times",
            "demo-causal",
            "text,position,word\n1,1,The\n1,2,<|bos|>\n",
            "<|bos|>",
        ),
    ],
)
def test_special_tokens_of_the_model_are_told_beside_the_values(
    command, model, text, mark, tmp_path, capsys
):
    path = tmp_path / ("words.csv" if command.endswith("times") else "texts.txt")
    path.write_text(text + "\n", encoding="utf-8")
    assert invoke([*command.split(), str(path), "-m", model]) == 0
    [said] = notes(capsys)
    assert said.startswith("1 text contains a special token of the model: " + mark)

    path.write_text(text.replace(mark, "old") + "\n", encoding="utf-8")
    assert invoke([*command.split(), str(path), "-m", model]) == 0
    assert notes(capsys) == []
