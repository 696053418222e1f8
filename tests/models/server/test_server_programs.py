"""Scores from real servers against the model itself; run by ``make test-servers``."""

from __future__ import annotations

import math

import pytest

import cimento
from cimento import ModelError
from cimento.evaluation.freetext import score_texts
from tests.engine.test_requests import make_suite
from tests.helpers.servers.programs import free_port, running, write_gguf, write_transformers_model

pytestmark = [pytest.mark.servers, pytest.mark.usefixtures("fresh_cache")]

# The last one begins with a letter that is a token of bytes after a blank of its own.
TEXTS = ("Le lampade erano accese.", "Le lampade era accese.", "Un caffè 😀 è già lì.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def llama_folder(folder):
    pytest.importorskip("llama_cpp.server.app", reason="run make test-servers")
    pytest.importorskip("gguf", reason="run make test-servers")
    return folder


def serve_gguf(path):
    """A llama-cpp-python server for a model."""
    port = free_port()
    flags = ["--model", str(path), "--model_alias", "tiny", "--n_ctx", "256"]
    flags += ["--verbose", "false"]
    flags += ["--logits_all", "true", "--host", "127.0.0.1", "--port", str(port)]
    return running(["llama_cpp.server", *flags], ready="/v1/models", port=port)


def direct_scores(path, text):
    """The model's own log P of each token of a text after BOS, with the bytes the token covers.

    llama.cpp evaluates the ids; log-softmax is taken here, in float64.
    """
    import llama_cpp
    import numpy as np

    model = llama_cpp.Llama(str(path), logits_all=True, n_ctx=256, verbose=False)
    ids = model.tokenize(text.encode(), add_bos=True)
    model.reset()
    model.eval(ids)
    logits = np.asarray(model.scores[: len(ids)], dtype=np.float64)
    top = logits.max(axis=1, keepdims=True)
    logprobs = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    return [
        (model.detokenize([token], special=True), float(logprobs[i, token]))
        for i, token in enumerate(ids[1:])
    ]


def test_scores_of_llama_cpp_are_those_of_the_model_itself(llama_folder):
    path = write_gguf(llama_folder / "bos.gguf", bos=True)
    with serve_gguf(path) as url:
        suite = make_suite("", *({"good": f"{text} | |"} for text in TEXTS))
        run = cimento.evaluate(suite, f"openai:{url}#tiny", concurrency=2)

    for request, text in enumerate(TEXTS):
        table = run.table("tokens").filter(run.table("tokens")["request"] == request)
        direct = direct_scores(path, text)
        # The server never scores the first token of the prompt.
        assert table["logprob_nats"][0] is None
        assert table["unscored_reason"][0] == "first token without left context"
        ours = table["logprob_nats"].to_list()[1:]
        begins = 2 if direct[0][0] == b" " else 1
        assert ours == pytest.approx([value for _, value in direct[begins:]], abs=1e-5)
        assert b"".join(piece for piece, _ in direct).strip() == text.encode()


def test_a_suite_is_judged_by_a_server_as_by_the_model_itself(llama_folder):
    path = write_gguf(llama_folder / "suite.gguf", bos=True)
    good, bad = TEXTS[:2]
    suite = make_suite(
        "(2;%good%) < (2;%bad%)",
        {"good": "Le lampade | erano | accese.", "bad": "Le lampade | era | accese."},
    )
    with serve_gguf(path) as url:
        run = cimento.evaluate(suite, f"openai:{url}#tiny")

    def region(text, word):
        pieces = direct_scores(path, text)
        return sum(value for piece, value in pieces if piece.decode().strip() in word)

    expected = region(good, ("era", "no")) - region(bad, ("era",))
    assert run.outcomes()["value"][0] == pytest.approx(expected / math.log(2), abs=1e-4)


def test_a_model_without_bos_is_refused_where_the_server_is_one_place_off(llama_folder):
    path = write_gguf(llama_folder / "plain.gguf", bos=False)
    with serve_gguf(path) as url, pytest.raises(ModelError, match="one place off"):
        score_texts([TEXTS[0]], f"openai:{url}#tiny")


def test_transformers_serve_answers_without_scores_and_the_user_is_told(folder):
    pytest.importorskip("fastapi", reason="run make test-servers")
    pytest.importorskip("uvicorn", reason="run make test-servers")
    model = write_transformers_model(folder / "gpt2")
    port = free_port()
    flags = ["serve", "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    program = ["transformers.cli.transformers", *flags]
    with running(program, ready="/health", port=port) as url, pytest.raises(ModelError) as caught:
        score_texts([TEXTS[0]], f"openai:{url}#{model}")

    assert "it answered without log-probabilities" in str(caught.value)
    assert "vLLM" in str(caught.value)
