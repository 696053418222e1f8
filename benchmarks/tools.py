"""The tools that are compared: one function loads each, and returns a function that scores.

A scoring function takes nothing and gives, for each text, the log-probabilities (nats) of its
tokens, or a list of one number where the tool only knows sums. Tokenization is part of the work,
but for the bare pass, whose batches are ready before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

Kind = Literal["causal", "masked"]
Scores = list[list[float]]
Score = Callable[[], Scores]
Span = tuple[int, int]


@dataclass(frozen=True)
class Job:
    """What one worker does.

    Attributes:
        tool: name of the tool, a key of `LOADERS`.
        kind: of the model.
        folder: where model and tokenizer are.
        groups: the texts, those of one suite together, each with the characters to score
            (None for all).
        batch: sentences (minicons, lm-eval) or padded tokens (bare) in one forward pass.
        device: such as ``cpu`` or ``cuda``.
        dtype: of the weights, such as ``float32``.
        passes: how often everything is scored; only the last time is measured.
    """

    tool: str
    kind: Kind
    folder: Path
    groups: list[list[tuple[str, tuple[Span, ...] | None]]]
    batch: int | None = None
    device: str = "cpu"
    dtype: str = "float32"
    passes: int = 1

    @property
    def texts(self) -> list[str]:
        """All texts in order."""
        return [text for group in self.groups for text, _ in group]


def load_cimento(job: Job) -> Score:
    """Cimento as `cimento run` uses it: each text of a suite once, in its shards."""
    from cimento.engine.scores import SHARD
    from cimento.models.base import Score
    from cimento.models.hf.batches import BatchLimits
    from cimento.models.hf.files import locate
    from cimento.models.hf.loading import load
    from cimento.models.settings import Policy

    # minicons takes the words of the tokenizer; so that both mask the same tokens.
    keep = "Metaspace" in (job.folder / "tokenizer.json").read_text(encoding="utf-8")
    policy = Policy(dtype=job.dtype, punctuation="keep" if keep else "split")  # type: ignore[arg-type]
    scorer = load(
        locate(str(job.folder)),
        policy=policy,
        device=job.device,
        limits=BatchLimits(tokens=job.batch),
    )

    def score() -> Scores:
        results: Scores = []
        for group in job.groups:
            numbers = {text: number for number, text in enumerate(dict(group))}
            requests = [
                Score(text=text, wanted=wanted)
                for number, (text, wanted) in enumerate(dict(group).items())
            ]
            encoded = scorer.encode(requests)
            answers = []
            for start in range(0, len(encoded), SHARD):
                answers.extend(scorer.score(encoded[start : start + SHARD]))
            results.extend(answers[numbers[text]].tolist() for text, _ in group)
        return results

    return score


def load_minicons(job: Job) -> Score:
    """The `token_score` of minicons, in batches of this many sentences in the order given."""
    from minicons import scorer as minicons

    options = {} if job.dtype == "float32" else {"torch_dtype": job.dtype}
    size = job.batch or 1
    texts = job.texts
    causal = job.kind == "causal"
    make = minicons.IncrementalLMScorer if causal else minicons.MaskedLMScorer
    scorer = make(str(job.folder), job.device, **options)
    arguments = {"bos_token": True} if causal else {"PLL_metric": "within_word_l2r"}
    # A tokenizer that puts a BOS itself is not asked for another.
    if causal and scorer.tokenizer("a")["input_ids"][0] == scorer.tokenizer.bos_token_id:
        arguments = {}

    def score() -> Scores:
        results: Scores = []
        for start in range(0, len(texts), size):
            batch = scorer.token_score(texts[start : start + size], **arguments)
            # The BOS comes first, with a score of 0.
            results.extend([value for _, value in tokens[causal:]] for tokens in batch)
        return results

    return score


def load_lm_eval(job: Job) -> Score:
    """lm-evaluation-harness: the log-likelihood of each sentence after an empty context."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    model = HFLM(
        pretrained=str(job.folder), device=job.device, dtype=job.dtype, batch_size=job.batch or 1
    )
    instances = [
        Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=number)
        for number, text in enumerate(job.texts)
    ]

    def score() -> Scores:
        return [[float(value)] for value, _ in model.loglikelihood(instances, disable_tqdm=True)]

    return score


def load_bare(job: Job) -> Score:
    """The forward pass alone: no scores come out of it.

    Causal: all texts through the model with its head at every position. Masked: all masked copies
    through the transformer without any head. Batches are sorted by length.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    causal = job.kind == "causal"
    make = AutoModelForCausalLM if causal else AutoModelForMaskedLM
    model = make.from_pretrained(job.folder, dtype=getattr(torch, job.dtype)).to(job.device).eval()
    run = model if causal else model.base_model
    tokenizer = AutoTokenizer.from_pretrained(job.folder)
    if causal:
        sequences = [_with_bos(tokenizer, text) for text in job.texts]
    else:
        sequences = [copy for text in job.texts for copy in _masked_copies(tokenizer, text)]
    batches = list(_padded(sequences, job.batch or 512, job.device))

    def score() -> Scores:
        with torch.inference_mode():
            for ids, mask in batches:
                run(input_ids=ids, attention_mask=mask, **({"use_cache": False} if causal else {}))
        if job.device != "cpu":
            torch.cuda.synchronize()
        return []

    return score


def _with_bos(tokenizer: Callable[..., dict[str, list[int]]], text: str) -> list[int]:
    ids = tokenizer(text)["input_ids"]
    bos: int = tokenizer.bos_token_id  # type: ignore[attr-defined]
    return ids if ids[:1] == [bos] else [bos, *ids]


def _masked_copies(tokenizer: Callable[..., object], text: str) -> Iterator[list[int]]:
    """One copy for each token, with it and the later tokens of its word masked."""
    encoded = tokenizer(text)
    ids: list[int] = encoded["input_ids"]  # type: ignore[index]
    words: list[int | None] = encoded.word_ids()  # type: ignore[attr-defined]
    mask: int = tokenizer.mask_token_id  # type: ignore[attr-defined]
    for index, word in enumerate(words):
        if word is not None:
            yield [
                mask if place >= index and words[place] == word else token
                for place, token in enumerate(ids)
            ]


def _padded(
    sequences: Sequence[list[int]], budget: int, device: str
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Batches of sequences of like length, of at most `budget` padded tokens, with their masks."""
    import torch

    ordered = sorted(sequences, key=len, reverse=True)
    start = 0
    while start < len(ordered):
        width = len(ordered[start])
        rows = ordered[start : start + max(1, budget // width)]
        ids = torch.zeros((len(rows), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = torch.tensor(row)
            mask[line, : len(row)] = 1
        yield ids.to(device), mask.to(device)
        start += len(rows)


LOADERS: dict[str, Callable[[Job], Score]] = {
    "cimento": load_cimento,
    "minicons": load_minicons,
    "lm-eval": load_lm_eval,
    "bare": load_bare,
}
