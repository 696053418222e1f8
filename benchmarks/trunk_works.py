"""Works of `trunk` that are no command: each prints one number.

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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cimento.models.base import Encoded, FloatArray

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


def paced(*suites: Path) -> float:
    """The rate at which suites of pairs are run, as a share of that of a model that only waits."""
    import numpy as np

    import cimento
    from cimento.models.base import EncodedTexts, ModelCard
    from cimento.testing.models import FakeScorer

    rate = 20_000

    class Paced(FakeScorer):
        """Answers so many sentences a second, and uses no CPU time for it, as a GPU does."""

        @property
        def card(self) -> ModelCard:
            return replace(super().card, device="cuda:0")

        def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
            until = time.monotonic() + len(encoded) / rate
            texts = EncodedTexts.of(encoded)
            ends = np.cumsum(texts.wanted)[texts.offsets[1:] - 1].tolist()
            scores = np.full(ends[-1], -math.log(1000))
            answers = [scores[begin:end] for begin, end in itertools.pairwise([0, *ends])]
            time.sleep(max(0.0, until - time.monotonic()))
            return answers

    model = Paced(lambda _tokens, _index: 0.0)
    count = 2 * sum(1 for pairs in suites for _ in pairs.open(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        for run in cimento.evaluate_all(suites, model, output=folder):
            run.estimates()
        return count / (time.monotonic() - begun) / rate


def peak_mb() -> float:
    """The largest resident memory of this process, in MB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # What is said of resources used goes back to the process that started this one.
        [line] = [x for x in status.read_text().splitlines() if x.startswith("VmHWM:")]
        return int(line.split()[1]) / 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


WORKS = {"bare": bare_seconds, "stored": stored, "paced": paced}

if __name__ == "__main__":
    work, *paths = sys.argv[1:]
    print(WORKS[work](*map(Path, paths)))
