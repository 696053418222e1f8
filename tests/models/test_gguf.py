"""GGUF files are scored in process by llama.cpp, of which there is a fake of the same form here."""

from __future__ import annotations

import math
import struct
import sys
from types import ModuleType

import numpy as np
import pytest

import cimento
from cimento import ModelError, UsageError
from cimento.cli.main import invoke
from cimento.errors import InputError, MissingDependencyError, TextTooLongError
from cimento.models.gguf_header import trained_window
from tests.helpers.servers.programs import write_gguf

BOS, EOS = 256, 257
SIZE = 258


class FakeLlama:
    """Bytes as tokens; outputs that are other ones for every history.

    As llama-cpp-python: `eval` goes on after what was read, `scores` has a row for each token.
    """

    made: list[dict[str, object]] = []  # noqa: RUF012  # what the tests look at
    adds_bos = True
    blank_first = False

    def __init__(self, **options: object) -> None:
        FakeLlama.made.append(options)
        self.scores = np.full((int(options["n_ctx"]), SIZE), np.nan, dtype=np.float32)
        self._read: list[int] = []

    def tokenize(self, text: bytes, add_bos, special) -> list[int]:
        assert not special
        marked = b" " + text if self.blank_first else text
        return [BOS] * (add_bos and self.adds_bos) + list(marked)

    def detokenize(self, tokens: list[int]) -> bytes:
        return bytes(token for token in tokens if token < BOS)

    def token_bos(self) -> int:
        return BOS

    def token_eos(self) -> int:
        return EOS

    def reset(self) -> None:
        self._read = []

    def eval(self, tokens) -> None:
        for token in tokens:
            self._read.append(token)
            self.scores[len(self._read) - 1] = outputs(self._read)


def outputs(before) -> np.ndarray:
    """Of every token after some others: other ones for every history."""
    return np.random.default_rng(before).standard_normal(SIZE).astype(np.float32) * 3


def expected(before: list[int], content: bytes) -> list[float]:
    """log P of each byte, from the outputs and nothing else."""
    values = []
    for number, byte in enumerate(content):
        history = [*before, *content[:number]]
        if not history:
            values.append(math.nan)
            continue
        row = outputs(history).astype(float)
        values.append(row[byte] - math.log(sum(math.exp(value) for value in row)))
    return values


@pytest.fixture
def file(tmp_path, monkeypatch):
    module = ModuleType("llama_cpp")
    module.Llama = FakeLlama
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.setattr(FakeLlama, "made", [])
    path = tmp_path / "tiny-Q4.gguf"
    path.write_bytes(b"GGUF and what follows")
    return path


def bits_of(text: str, file, **options) -> list[float | None]:
    table = cimento.score(text, f"gguf:{file}", **options)
    assert "".join(table["token"]).replace(" ", "") == text.replace(" ", "")
    return table["surprisal_bits"].to_list()


@pytest.mark.parametrize(
    ("rule", "before"),
    [("auto", [BOS]), ("tokenizer", [BOS]), ("bos-or-eos", [BOS]), ("none", [])],
)
def test_scores_are_those_of_the_outputs(rule, before, file):
    scored = bits_of("Le zie.", file, bos=rule)

    for bits, nats in zip(scored, expected(before, b"Le zie."), strict=True):
        assert (bits is None) == math.isnan(nats)
        assert bits is None or bits == pytest.approx(-nats / math.log(2), abs=1e-9)


@pytest.mark.parametrize(("rule", "before"), [("auto", [BOS]), ("tokenizer", [])])
def test_a_file_that_puts_nothing_before_texts(rule, before, file, monkeypatch):
    monkeypatch.setattr(FakeLlama, "adds_bos", False)
    first = bits_of("Le", file, bos=rule)[0]

    assert (first is None) == (not before)


def test_texts_do_not_see_each_other(file):
    both = cimento.score(["Le zie.", "La zia."], f"gguf:{file}")["surprisal_bits"].to_list()

    assert both == [*bits_of("Le zie.", file), *bits_of("La zia.", file)]


def test_the_mark_of_a_blank_before_a_text_counts_with_its_first_token(file, monkeypatch):
    monkeypatch.setattr(FakeLlama, "blank_first", True)
    values = expected([BOS], b" Le")
    bits = bits_of("Le", file)

    assert bits[0] == pytest.approx(-(values[0] + values[1]) / math.log(2), abs=1e-9)
    assert bits[1] == pytest.approx(-values[2] / math.log(2), abs=1e-9)


def test_a_suite_is_run_and_the_model_is_the_file(file, tmp_path):
    path = str(tmp_path / "runs")
    command = ["run", "it-subject-verb", "-m", f"gguf:{file}", "--limit", "2", "-o", path]
    assert invoke([*command, "--device", "cpu"]) == 0
    [run] = cimento.open_runs(path)

    assert run.manifest["model"]["name"] == "tiny-Q4"
    assert run.manifest["named"] == f"gguf:{file}"
    assert FakeLlama.made[0]["n_gpu_layers"] == 0
    assert FakeLlama.made[0]["logits_all"] is True


def test_a_manifest_does_not_have_a_file_read_by_llama_cpp(file, tmp_path, capsys):
    path = str(tmp_path / "runs")
    assert invoke(["run", "it-subject-verb", "-m", f"gguf:{file}", "--limit", "1", "-o", path]) == 0

    assert invoke(["rerun", path, "-o", str(tmp_path / "again")]) == 2
    assert "name it yourself: -m gguf:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "seen"),
    [
        (
            {"leading_blank": True},
            UsageError,
            "option leading_blank: GGUF files are scored without it",
        ),
        ({"window": "sliding"}, UsageError, "option window: GGUF"),
        ({"boundary": "word-start"}, UsageError, "does not say how probable the end of a word is"),
        ({"tokenizer": "demo-causal"}, UsageError, "gguf models have none to be replaced"),
        ({"model_args": {"a": 1}}, UsageError, "does not load gguf models"),
    ],
)
def test_what_cannot_be_done_with_a_file_is_one_message(options, error, seen, file):
    with pytest.raises(error, match=seen):
        cimento.score("Le zie.", f"gguf:{file}", **options)


def test_a_text_that_is_too_long_or_not_spelled_is_one_message(file, monkeypatch):
    with pytest.raises(ModelError, match=r"makes 3001 tokens .*, and 2048 are read"):
        cimento.score("a" * 3000, f"gguf:{file}")
    monkeypatch.setattr(FakeLlama, "detokenize", lambda _self, tokens: b"?" * len(tokens))
    with pytest.raises(ModelError, match="do not spell it"):
        cimento.score("Le zie.", f"gguf:{file}")


def head(*entries: bytes) -> bytes:
    """The head of a GGUF file, as the specification lays it out: version 3, no tensor."""
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def entry(key: str, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", kind) + value


TOKENS = entry(
    "tokenizer.ggml.tokens",
    9,
    struct.pack("<IQ", 8, 2) + b"".join([struct.pack("<Q", 2), b"ab"] * 2),
)
SCORES = entry("tokenizer.ggml.scores", 9, struct.pack("<IQff", 6, 2, 0.5, 1.5))
NAME = entry("general.architecture", 8, struct.pack("<Q", 5) + b"llama")
OTHER = entry("clip.context_length", 4, struct.pack("<I", 7))
LENGTH = entry("llama.context_length", 4, struct.pack("<I", 40))


@pytest.mark.parametrize("entries", [(NAME, OTHER, LENGTH), (TOKENS, SCORES, LENGTH, NAME)])
def test_a_text_beyond_the_window_in_the_file_is_refused(entries, file):
    file.write_bytes(head(*entries) + b"and what follows")
    with pytest.raises(TextTooLongError, match=r"makes 41 tokens .*the model's window holds 40"):
        cimento.score("a" * 40, f"gguf:{file}")
    assert len(bits_of("a" * 39, file)) == 39
    assert FakeLlama.made[-1]["n_ctx"] == 40


@pytest.mark.servers
@pytest.mark.usefixtures("fresh_cache")
def test_llama_cpp_reads_no_more_than_the_window_in_a_file_that_gguf_wrote(tmp_path):
    pytest.importorskip("llama_cpp", reason="run make test-servers")
    pytest.importorskip("gguf", reason="run make test-servers")
    path = write_gguf(tmp_path / "bos.gguf", bos=True)
    assert trained_window(path) == 256
    assert len(cimento.score("a" * 255, f"gguf:{path}")) == 255
    with pytest.raises(TextTooLongError, match=r"makes 257 tokens .*window holds 256"):
        cimento.score("a" * 256, f"gguf:{path}")


@pytest.mark.parametrize(
    "content",
    [
        head(NAME, LENGTH)[:-2],
        head(NAME, OTHER),
        head(NAME, entry("llama.context_length", 5, struct.pack("<i", -1))),
        head(NAME, entry("llama.context_length", 99, b"1234")),
        head(entry("tokens", 9, struct.pack("<IQ", 8, 2**60)), NAME, LENGTH),
        head(entry("tokens", 9, struct.pack("<IQ", 4, 2**60)), NAME, LENGTH),
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 2**60, 2**62),
    ],
)
def test_a_head_that_does_not_say_its_window_is_left_to_llama_cpp(content, file):
    file.write_bytes(content)
    assert len(bits_of("Le zie.", file)) == 7
    assert FakeLlama.made[-1]["n_ctx"] == 2048


def test_a_file_that_is_none_is_one_message(file, tmp_path):
    (tmp_path / "other.gguf").write_bytes(b"something else")
    for name, seen in (("other.gguf", "is not a GGUF file"), ("none.gguf", "cannot be read")):
        with pytest.raises(InputError, match=seen):
            cimento.score("Le zie.", f"gguf:{file.parent / name}")


def test_without_the_library_the_extra_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(MissingDependencyError, match=r"cimento\[gguf\]"):
        cimento.score("Le zie.", f"gguf:{file}")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("vllm:org/name", r"vllm serve org/name .*openai:http://127\.0\.0\.1:8000/v1#org/name"),
        (
            "sglang:org/name",
            r"sglang\.launch_server --model-path org/name .*openai:http://127\.0\.0\.1:30000/v1#org/name",
        ),
        ("ollama:gemma3", r"cannot score sentences.*gguf:FILE.*11434/v1#gemma3"),
    ],
)
def test_what_is_asked_as_a_server_says_how(model, said):
    with pytest.raises(UsageError, match=said):
        cimento.score("Le zie.", model)


def test_the_hint_for_gguf_leads_to_what_can_score():
    with pytest.raises(UsageError, match="model='gguf:FILE'"):
        cimento.score("Le zie.", "demo-causal", model_args={"gguf_file": "x.gguf"})
