"""cimento on a GPU beside the bare pass: one process, steps by importance, a table after each.

``python benchmarks/gpu.py --data FOLDER --json gpu.json --seconds 300``: the folder has BLiMP's
paradigms (JSON lines); without it, pairs are generated. Weights are random, since speed does not
depend on what a model has learned. ``--tiny`` is a trial on any machine. Steps that the time limit
leaves no room for are named. Times are wall seconds, each from one run after a warm-up of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from corpus import read_corpus
from models import train_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

TOKENS = 16_384


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        step: the step that measured it.
        what: what was measured.
        value: the value.
        unit: its unit.
    """

    step: str
    what: str
    value: float
    unit: str


class Bench:
    """The texts, tokenizer and device of all steps.

    Args:
        data: a folder of pairs; None generates them.
        tiny: whether everything is small enough for a trial on a CPU.
        device: the device.
    """

    def __init__(self, data: Path | None, *, tiny: bool, device: str) -> None:
        self.tiny, self.device = tiny, device
        paradigms = read_corpus(data).paradigms
        self.pairs = dict(list(paradigms.items())[:2]) if tiny else paradigms
        if tiny:
            self.pairs = {name: pairs[:20] for name, pairs in self.pairs.items()}
        self.texts = list(
            dict.fromkeys(text for pairs in self.pairs.values() for pair in pairs for text in pair)
        )
        self.sentences = 2 * sum(map(len, self.pairs.values()))
        self.tokenizer = self._tokenizer()
        ids = self.tokenizer(self.texts, add_special_tokens=False)["input_ids"]
        self.ids = sorted(([self.tokenizer.bos_token_id, *some] for some in ids), key=len)
        self.tokens = TOKENS if not tiny else 512

    def _tokenizer(self) -> PreTrainedTokenizerFast:
        from transformers import PreTrainedTokenizerFast

        sample = self.texts[:: max(1, len(self.texts) // 20_000)]
        trained = train_tokenizer("gpt2", sample, [sample])
        end = "<|endoftext|>"
        return PreTrainedTokenizerFast(
            tokenizer_object=trained, bos_token=end, eos_token=end, pad_token=end
        )

    def gpt2(self, dtype: torch.dtype) -> PreTrainedModel:
        """GPT-2 small with random weights."""
        from transformers import GPT2Config, GPT2LMHeadModel

        size = {"n_layer": 2, "n_embd": 32, "n_head": 2} if self.tiny else {}
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=len(self.tokenizer), initializer_range=0.05, bos_token_id=0, eos_token_id=0,
            **size,
        )  # fmt: skip
        return GPT2LMHeadModel(config).to(self.device, dtype).eval()

    def llama(self) -> PreTrainedModel:
        """The shape of an 8-billion Llama in bfloat16, made on the device."""
        from transformers import LlamaConfig, LlamaForCausalLM

        size = {
            "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128_256,
        }  # fmt: skip
        if self.tiny:
            size = {
                "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
                "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 2000,
            }  # fmt: skip
        size["vocab_size"] = max(size["vocab_size"], len(self.tokenizer))
        torch.manual_seed(0)
        with torch.device(self.device):
            model = LlamaForCausalLM(LlamaConfig(**size)).to(torch.bfloat16)
        return model.eval()

    def wait(self) -> None:
        """Wait until the device has done what it was given."""
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()

    def timed(self, work: Callable[[], Any]) -> float:
        """The wall seconds of some work, until the device is done with it."""
        self.wait()
        begun = time.perf_counter()
        work()
        self.wait()
        return time.perf_counter() - begun

    def bare(self, model: PreTrainedModel, ids: Sequence[Sequence[int]]) -> None:
        """Padded batches of distinct sentences, sorted by length, as one would write it."""
        found = []
        for batch in _batches(ids, self.tokens):
            width = len(batch[-1])
            padded = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros_like(padded)
            for line, some in enumerate(batch):
                padded[line, : len(some)] = torch.tensor(some)
                mask[line, : len(some)] = 1
            given, seen = padded.to(self.device), mask.to(self.device)
            with torch.inference_mode():
                logits = model(input_ids=given, attention_mask=seen).logits[:, :-1]
                scores = logits.float().log_softmax(-1).gather(2, given[:, 1:, None])
            found.append(scores.squeeze(2).sum(1))
        torch.cat(found).cpu()

    def scored(self, model: PreTrainedModel, pairs: dict[str, Any]) -> None:
        """The same sentences through cimento, from suites to estimates, nothing stored before."""
        import cimento

        suites = [cimento.pairs(some, name=name) for name, some in pairs.items()]
        with tempfile.TemporaryDirectory() as folder:
            options = {"tokenizer": self.tokenizer, "batch_tokens": self.tokens}
            for run in cimento.evaluate_all(suites, [model], output=folder, **options):
                run.estimates()


def _batches(ids: Sequence[Sequence[int]], tokens: int) -> Iterator[Sequence[Sequence[int]]]:
    start = 0
    while start < len(ids):
        end = start + 1
        while end < len(ids) and len(ids[end]) * (end + 1 - start) <= tokens:
            end += 1
        yield ids[start:end]
        start = end


def beside_bare(bench: Bench, dtype: torch.dtype) -> Iterator[Row]:
    """GPT-2 small: the bare pass twice, then cimento, and how they compare."""
    step = f"gpt2 {str(dtype).removeprefix('torch.')}"
    model = bench.gpt2(dtype)
    yield Row(
        step, "bare pass, first", first := bench.timed(lambda: bench.bare(model, bench.ids)), "s"
    )
    bare = bench.timed(lambda: bench.bare(model, bench.ids))
    yield Row(step, "bare pass, again", bare, "s")
    if bench.device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
    whole = bench.timed(lambda: bench.scored(model, bench.pairs))
    yield Row(step, "cimento, suites to estimates", whole, "s")
    again = bench.timed(lambda: bench.scored(model, bench.pairs))
    yield Row(step, "cimento, again (a new handle)", again, "s")
    yield Row(step, "cimento / bare pass", again / bare, "times")
    yield Row(step, "cimento / bare pass, first of each", whole / first, "times")
    yield Row(step, "per sentence", 1e3 * again / bench.sentences, "ms")
    if bench.device.startswith("cuda"):
        yield Row(step, "peak of memory", torch.cuda.max_memory_allocated() / 1e6, "MB")


def company(bench: Bench) -> Iterator[Row]:
    """Whether a suite has the same scores alone and beside others, to the last bit."""
    import cimento

    name, pairs = next(iter(bench.pairs.items()))
    for dtype in (torch.float32, torch.bfloat16):
        model = bench.gpt2(dtype)
        suites = [cimento.pairs(some, name=other) for other, some in bench.pairs.items()][:8]
        options = {"tokenizer": bench.tokenizer, "batch_tokens": bench.tokens}
        alone = cimento.evaluate(cimento.pairs(pairs, name=name), model, **options)
        [beside] = [run for run in cimento.evaluate_all(suites[::-1], [model], **options)
                    if run.suite_name == name]  # fmt: skip
        one, other = (run.table("tokens")["logprob_nats"] for run in (alone, beside))
        worst = (one - other).abs().max()
        step = f"company, {str(dtype).removeprefix('torch.')}"
        yield Row(step, "largest difference of a token", float(worst or 0.0), "nats")


def attention(bench: Bench) -> Iterator[Row]:
    """bfloat16 with the attention of cuDNN, which compiles a plan for a shape, and without."""
    model = bench.gpt2(torch.bfloat16)
    for is_on in (True, False):
        torch.backends.cuda.enable_cudnn_sdp(enabled=is_on)
        bench.scored(model, bench.pairs)
        seconds = bench.timed(lambda: bench.scored(model, bench.pairs))
        yield Row("attention", f"cuDNN {'on' if is_on else 'off'}, bfloat16", seconds, "s")
    torch.backends.cuda.enable_cudnn_sdp(enabled=True)


def large(bench: Bench) -> Iterator[Row]:
    """The shape of an 8-billion Llama in bfloat16: 200 pairs of ten paradigms, and its digest."""
    from cimento.models.weights import weights_digest

    model = bench.llama()
    pairs = {name: some[:200] for name, some in list(bench.pairs.items())[:10]}
    texts = list(dict.fromkeys(text for some in pairs.values() for pair in some for text in pair))
    ids = bench.tokenizer(texts, add_special_tokens=False)["input_ids"]
    bos = bench.tokenizer.bos_token_id
    sorted_ids = sorted(([bos, *some] for some in ids), key=len)
    gigabytes = sum(weight.nbytes for weight in model.parameters()) / 1e9
    yield Row("large", "weights", gigabytes, "GB")
    yield Row("large", "digest, first", bench.timed(lambda: weights_digest(model)), "s")
    yield Row("large", "digest, again", bench.timed(lambda: weights_digest(model)), "s")
    bench.bare(model, sorted_ids)
    bare = bench.timed(lambda: bench.bare(model, sorted_ids))
    yield Row("large", "bare pass", bare, "s")
    bench.scored(model, pairs)
    seconds = bench.timed(lambda: bench.scored(model, pairs))
    yield Row("large", "cimento, suites to estimates", seconds, "s")
    yield Row("large", "cimento / bare pass", seconds / bare, "times")


STEPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "float32": lambda bench: beside_bare(bench, torch.float32),
    "bfloat16": lambda bench: beside_bare(bench, torch.bfloat16),
    "company": company,
    "attention": attention,
    "large": large,
}
"""The steps, the most important first."""


def machine(device: str) -> dict[str, str]:
    """Where it was measured."""
    import transformers

    facts = {"python": platform.python_version(), "torch": torch.__version__}
    facts |= {"transformers": transformers.__version__, "device": device}
    if device.startswith("cuda"):
        facts["gpu"] = torch.cuda.get_device_name()
    return facts


def main() -> None:
    """Measure, and print a table after each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder of BLiMP's paradigms")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--tiny", action="store_true", help="a trial on any machine")
    parser.add_argument("--seconds", type=float, default=300.0, help="begin no step after these")
    parser.add_argument("--json", type=Path, help="a file for the rows")
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=list(STEPS))
    asked = parser.parse_args()
    begun = time.monotonic()
    bench = Bench(asked.data, tiny=asked.tiny, device=asked.device)
    facts = machine(asked.device) | {"sentences": str(bench.sentences)}
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    rows: list[Row] = []
    for name in asked.steps:
        if time.monotonic() - begun > asked.seconds:
            print(f"{name}: left out, the time is over", flush=True)
            continue
        print(f"| {name} | |\n|---|--:|", flush=True)
        for row in STEPS[name](bench):
            rows.append(row)
            print(f"| {row.step}: {row.what} | {row.value:.4g} {row.unit} |", flush=True)
        if asked.json:
            stored = {"machine": facts, "rows": [dataclasses.asdict(row) for row in rows]}
            asked.json.write_text(json.dumps(stored, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
