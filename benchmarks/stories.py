"""What sharing prompts saves: 24 stories, three tiers, three worked examples, every option scored.

``python benchmarks/stories.py`` compares CPU seconds of two ways to the same scores: what prompts
begin with computed once, and every option as a text of its own (a batch of padded rows, the head on
the wanted rows only). The model has the size of GPT-2 small and random weights, for speed does not
depend on what a model has learned; scores are compared too. It takes half an hour on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import torch
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from cimento.models.base import Encoding, ModelCard
from cimento.models.hf.batches import BatchLimits
from cimento.models.hf.causal import CausalScoring
from cimento.models.hf.files import locate
from cimento.models.hf.inside import Inside
from cimento.models.hf.layout import ModelLayout
from cimento.models.hf.prompts import CausalOptions, split_ids
from cimento.models.questions import Choose
from cimento.models.settings import Policy
from cimento.paradigms.stories.formats import read_stories
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.prompts import find_prompt
from cimento.paradigms.stories.requests import PromptFormat, tier_prompts
from cimento.paradigms.stories.suite import STORY, TIERS
from cimento.suites.builtin import find_suite

TARGET = 7.0
"""How many times cheaper sharing is to be, at least."""

Sums = list[list[list[float]]]


def main() -> int:
    """Measure both ways and print a line of Markdown; 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--stories", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(n_positions=2048)).eval()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(locate("demo-causal").folder)
    asks = _asks(options.stories)
    shared, one = _timed(lambda: _shared(model, tokenizer, asks))
    separate, other = _timed(lambda: _separate(model, tokenizer, asks))
    worst = max(abs(a - b) for a, b in zip(_flat(one), _flat(other), strict=True))
    ratio = separate / shared
    n_options = sum(len(ask.options) for tier in asks for ask in tier)
    print(f"| {options.stories} stories, {n_options} options | {shared:.1f} s | {separate:.1f} s"
          f" | {ratio:.1f} | {worst:.1g} nats |")  # fmt: skip
    return 0 if ratio >= TARGET else 1


def _asks(n_stories: int) -> list[list[Choose]]:
    stories = read_stories(find_suite("it-stories")).stories
    tiers = []
    for tier in TIERS:
        items = [s for s in stories[:n_stories] if tier == STORY or not s.plausible]
        asks = tier_prompts(
            tier, items, stories, prompt=find_prompt("it-1"),
            options=StoryOptions(), prompt_format=PromptFormat(),
        )  # fmt: skip
        tiers.append([ask.choose() for ask in asks])
    return tiers


def _timed(work: Callable[[], Sums]) -> tuple[float, Sums]:
    started = time.process_time()
    scores = work()
    return time.process_time() - started, scores


def _shared(
    model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, asks: Sequence[Sequence[Choose]]
) -> Sums:
    card = ModelCard(name="m", kind="causal", revision="", tokenizer="", window=2048)
    inside = Inside(model=model, tokenizer=tokenizer, way="")
    options = CausalOptions(inside, card=card, policy=Policy())
    totals = []
    for tier in asks:
        scores = dict(options.score_options(tier))
        totals.append([[sum(nats) for nats in scores[i].nats] for i in range(len(tier))])
    if options.remarks:
        sys.exit(options.remarks[0])
    return totals


def _separate(
    model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, asks: Sequence[Sequence[Choose]]
) -> Sums:
    layout = ModelLayout(thin="head", pad=True)
    scoring = CausalScoring(model, layout=layout, limits=BatchLimits(tokens=512), packing=False)
    totals = []
    for tier in asks:
        pairs = [
            split_ids(tokenizer, ask.prompt, option, before=(1,), window=2048)
            for ask in tier
            for option in ask.options
        ]
        values = iter(scoring.score([_encoded(ids, start) for ids, start in pairs]))
        totals.append([[float(next(values).sum()) for _ in ask.options] for ask in tier])
    return totals


def _encoded(ids: Sequence[int], start: int) -> Encoding:
    n = len(ids)
    return Encoding(
        ids=tuple(ids), tokens=("",) * n, spans=((0, 0),) * n, words=(0,) * n,
        first=0, wanted=tuple(range(start, n)),
    )  # fmt: skip


def _flat(sums: Sums) -> list[float]:
    return [value for tier in sums for ask in tier for value in ask]


if __name__ == "__main__":
    sys.exit(main())
