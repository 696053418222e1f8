"""Works of `trunk` that are not commands: each prints one number.

``python benchmarks/trunk_works.py WORK PAIRS [FOLDER]``.
"""

from __future__ import annotations

import itertools
import json
import math
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MODEL = "demo-causal"
BATCH_TOKENS = 4096


def bare_seconds(pairs: Path) -> float:
    """CPU seconds of one call of the tokenizer and one forward pass over distinct prefixes.

    As many tokens go through the model as there are distinct prefixes, in whole sentences, with
    the log-softmax that scores need; reading and loading are left out.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from cimento.models.hf.files import locate

    torch.set_num_threads(1)
    folder = locate(MODEL).folder
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    texts = sentences(pairs)
    begun = time.process_time()
    ids = [encoding.ids for encoding in tokenizer.backend_tokenizer.encode_batch(texts)]
    tokenized = time.process_time() - begun
    prefixes = len(
        {tuple(sequence[:end]) for sequence in ids for end in range(1, len(sequence) + 1)}
    )
    ends = itertools.accumulate(map(len, ids))
    needed = [
        sequence for sequence, end in zip(ids, ends, strict=True) if end - len(sequence) < prefixes
    ]
    begun = time.process_time()
    with torch.inference_mode():
        for batch in batches(sorted(needed, key=len)):
            tokens = torch.tensor(batch)
            model(tokens).logits.log_softmax(-1).gather(-1, tokens[..., None])
    return tokenized + time.process_time() - begun


def batches(ids: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    """Sentences of one length together, without padding."""
    for length, same in itertools.groupby(ids, key=len):
        several = list(same)
        size = max(1, BATCH_TOKENS // max(length, 1))
        for start in range(0, len(several), size):
            yield several[start : start + size]


def sentences(pairs: Path) -> list[str]:
    """Both sentences of each pair."""
    lines = map(json.loads, pairs.read_text(encoding="utf-8").splitlines())
    return [line[f"sentence_{kind}"] for line in lines for kind in ("good", "bad")]


def stored(pairs: Path, folder: Path) -> float:
    """Run pairs with a model that knows nothing, and store the run; the largest memory in MB."""
    import cimento
    from cimento.testing.models import uniform_scorer

    cimento.evaluate(pairs, uniform_scorer(1000), output=folder, force=True)
    return peak_mb()


def fed(*suites: Path) -> float:
    """CPU microseconds of a model's thread for a sentence, with a transformer that returns at once.

    The model is said to be on a GPU, so that batches have few shapes and a thread of their own.
    What a GPU would compute is left out: the transformer, its head, and the masks of trees. All
    that feeds it is there: trees, batches, launches, and the scores that are given out again.
    """
    import torch

    import cimento
    from cimento import Asking
    from cimento.engine.model_thread import ModelThread
    from cimento.models.hf import causal, heads
    from cimento.models.hf.shapes import FixedShapes, Passes
    from cimento.models.registry import open_scorer

    tokens, seconds = 16_384, {"all": 0.0, "masks": 0.0}
    torch.set_num_threads(1)
    causal.TREE_NODES["cpu"] = causal.TREE_NODES_ELSEWHERE
    Passes.shapes = lambda own, tree_nodes: FixedShapes(own.limits, tree_nodes, own.window)  # type: ignore[method-assign]
    scorer: Any = open_scorer(MODEL, Asking(device="cpu", batch_tokens=tokens))
    scorer.card = replace(scorer.card, device="cuda:0")
    model = scorer.inside().model
    width, states, scores = model.config.hidden_size, torch.zeros(1), torch.full((10**6,), -5.0)

    def transformer(input_ids: torch.Tensor, **_inputs: object) -> object:
        from transformers.modeling_outputs import BaseModelOutputWithPast

        state = states.expand(input_ids.numel() * width).view(*input_ids.shape, width)
        return BaseModelOutputWithPast(last_hidden_state=state)

    vocabulary = model.config.vocab_size
    model.base_model.forward = transformer
    model.get_output_embeddings().forward = lambda some: states.expand(1, some.shape[1], vocabulary)
    heads.read_scores = lambda _logits, lines, _targets, _columns: scores[: len(lines)]
    causal.tolerance_nats = lambda _model: math.inf
    causal.tree_inputs = _timed(causal.tree_inputs, seconds, "masks")
    ModelThread._work = _timed(ModelThread._work, seconds, "all")  # type: ignore[method-assign]  # noqa: SLF001
    count = 2 * sum(1 for pairs in suites for _ in pairs.open(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for run in cimento.evaluate_all(suites, scorer, output=folder):
            run.estimates()
    return 1e6 * (seconds["all"] - seconds["masks"]) / count


def _timed(function: Callable[P, R], seconds: dict[str, float], name: str) -> Callable[P, R]:
    """A function that adds the CPU time of its thread to some seconds."""

    def timed(*args: P.args, **kwargs: P.kwargs) -> R:
        begun = time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[name] += time.thread_time() - begun

    return timed


def peak_mb() -> float:
    """The largest resident memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # What is said of resources used goes back to the process that started this one.
        [line] = [x for x in status.read_text().splitlines() if x.startswith("VmHWM:")]
        return int(line.split()[1]) / 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


WORKS = {"bare": bare_seconds, "stored": stored, "fed": fed}

if __name__ == "__main__":
    work, *paths = sys.argv[1:]
    print(WORKS[work](*map(Path, paths)))
