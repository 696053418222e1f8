"""What is measured: the works, the tools that do each, and what is to be reached."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus import Corpus, agreement_items, multiplied, sample

SIXTY = 60
"""Sentences scored with masked models: half of them minimal pairs, half running text."""

Span = tuple[int, int]
Text = tuple[str, tuple[Span, ...] | None]
Groups = tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Contender:
    """One tool on one work.

    Attributes:
        label: name in the table.
        tool: a key of `tools.LOADERS`.
        batches: sizes that are tried; the fastest is measured. None leaves it to the tool.
        groups: what it is given instead of the work's own texts.
    """

    label: str
    tool: str
    batches: tuple[int | None, ...] = (None,)
    groups: Groups | None = None


@dataclass(frozen=True)
class Target:
    """How cimento is to compare with another contender.

    Attributes:
        label: of the other.
        ratio: CPU seconds of the other divided by those of cimento, at least.
    """

    label: str
    ratio: float


@dataclass(frozen=True)
class Work:
    """Texts to be scored with one model.

    Attributes:
        name: for the command line.
        title: for the table.
        kind: of the model.
        model: a name of `models.NAMES`.
        groups: the texts; those of one suite together.
        contenders: who does it; the first is cimento.
        targets: what is to be reached.
    """

    name: str
    title: str
    kind: Literal["causal", "masked"]
    model: str
    groups: Groups
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...] = ()

    @property
    def texts(self) -> list[str]:
        """All texts in order."""
        return [text for group in self.groups for text, _ in group]


def works_for(corpus: Corpus, *, on_gpu: bool) -> list[Work]:
    """All works over a corpus, but for the largest, which only a GPU does in reasonable time."""
    names = sorted(corpus.paradigms)
    first = corpus.paradigms[names[0]][:250]
    spread = [pair for name in names for pair in corpus.paradigms[name][: 250 // len(names)]]
    suites = tuple(_whole(corpus.suites[name]) for name in sorted(corpus.suites))
    half = sample(corpus.prose, SIXTY // 2)
    mixed = [*sample(itertools.chain(*first), SIXTY - len(half)), *half]
    causal, masked = _causal(on_gpu=on_gpu), _masked(on_gpu=on_gpu)
    sixty = (_whole(mixed),)
    return [
        Work(
            "blimp", f"250 BLiMP pairs ({names[0]})", "causal", "gpt2",
            (_whole(itertools.chain(*first)),), causal,
            (Target("minicons", 2.0), Target("bare pass", 1 / 0.85)),
        ),
        Work(
            "blimp-spread", f"{len(spread)} BLiMP pairs from {len(names)} paradigms", "causal",
            "gpt2", (_whole(itertools.chain(*spread)),), causal,
        ),
        Work(
            "suites", f"{len(suites)} SyntaxGym suites, every token", "causal", "gpt2",
            suites, causal, (Target("minicons", 2.5), Target("bare pass", 1 / 0.75)),
        ),
        Work(
            "masked", "60 sentences, within-word-l2r", "masked", "bert", sixty,
            (*masked, *(() if on_gpu else (Contender("minicons, batch 60", "minicons", (60,)),))),
            (
                Target("minicons", 1.4),
                Target("minicons, batch 60", 2.3),
                Target("bare pass", 1 / 1.1),
            ),
        ),
        Work(
            "masked-large", "60 sentences, within-word-l2r", "masked", "xlmr", sixty, masked,
            (Target("minicons", 3.0), Target("bare pass", 1 / 1.25)),
        ),
        _agreement(),
    ]  # fmt: skip


def largest_work(corpus: Corpus) -> Work:
    """As many sentences as all of BLiMP has: 67 paradigms of 1,000 pairs."""
    paradigms = multiplied(corpus.paradigms, count=67, pairs=1000)
    groups = tuple(_whole(itertools.chain(*pairs)) for pairs in paradigms)
    total = sum(map(len, groups))
    return Work(
        "all-blimp", f"{total:,} sentences like all of BLiMP", "causal", "gpt2", groups,
        _causal(on_gpu=True),
    )  # fmt: skip


def llama_work(corpus: Corpus, *, on_gpu: bool) -> Work:
    """Fewer pairs with a larger model."""
    name = min(corpus.paradigms)
    pairs = itertools.chain(*corpus.paradigms[name][:50])
    return Work(
        "llama", f"50 BLiMP pairs ({name})", "causal", "llama",
        (_whole(pairs),), _causal(on_gpu=on_gpu),
    )  # fmt: skip


def _agreement() -> Work:
    items = list(agreement_items())
    target: list[Text] = []
    for text, verb in items:
        start = text.index(f" {verb} ") + 1
        target.append((text, ((start, start + len(verb)),)))
    whole = (_whole(text for text, _ in items),)
    return Work(
        "agreement", f"{len(items)} sentences of ten words, the verb alone", "masked", "bert",
        (tuple(target),),
        (Contender("cimento", "cimento"), Contender("whole sentences", "cimento", groups=whole)),
        (Target("whole sentences", 8.0),),
    )  # fmt: skip


def _causal(*, on_gpu: bool) -> tuple[Contender, ...]:
    sizes = (32, 128, 512) if on_gpu else (8, 16, 32, 64)
    budgets = (4096, 16_384, 65_536) if on_gpu else (256, 512, 1024)
    return (
        Contender("cimento", "cimento"),
        Contender("minicons", "minicons", sizes),
        Contender("lm-eval", "lm-eval", sizes),
        Contender("bare pass", "bare", budgets),
    )


def _masked(*, on_gpu: bool) -> tuple[Contender, ...]:
    return (
        Contender("cimento", "cimento"),
        Contender("minicons", "minicons", (4, 10, 20) if on_gpu else (1, 2, 4, 10)),
        Contender("bare pass", "bare", (4096, 16_384, 65_536) if on_gpu else (256, 512, 1024)),
    )


def _whole(texts: Iterable[str]) -> tuple[Text, ...]:
    return tuple((text, None) for text in texts)


def size_of(work: Work, folder: Path) -> dict[str, int]:
    """Numbers of sentences, of tokens, and of distinct beginnings or masked copies."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    ids = [
        encoding.ids for encoding in tokenizer.encode_batch(work.texts, add_special_tokens=False)
    ]
    counts = {"sentences": len(ids), "tokens": sum(map(len, ids))}
    if work.kind == "causal":
        counts["distinct_prefixes"] = len({p for sequence in ids for p in _prefixes(sequence)})
    return counts


def _prefixes(ids: Sequence[int]) -> Iterable[tuple[int, ...]]:
    return (tuple(ids[:end]) for end in range(1, len(ids) + 1))
