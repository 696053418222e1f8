"""What filling blanks costs beside the bare forward passes of the same model over the same texts.

A model of BERT-base's size with random weights is made, 330 texts with one mask each are put
through it, and the ten best tokens at the mask are taken: by cimento, and by a plain loop over
padded batches that computes the logits of every position, as a fill-mask pipeline does. The target
is a ratio of 1.2 at most. Run: ``python benchmarks/fill.py``
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from cimento.engine.requests import Fill
from cimento.models.base import ModelCard
from cimento.models.hf.batches import BatchLimits
from cimento.models.hf.inside import Inside
from cimento.models.hf.masked import MaskedFiller
from cimento.models.questions import FillPolicy

ITEMS = 330
VOCABULARY = 29_794
BATCHES = (8, 32)
ROUNDS = 2
TRIED = 48
"""Texts that batch sizes are tried on."""
SEED = 7


def main() -> None:
    """Measure and print."""
    tokenizer, model = _tokenizer(), _model()
    texts = _texts()
    requests = [Fill(before=before, after=after) for before, after in texts]
    card = ModelCard("bert-base-size", kind="masked", revision="", tokenizer="", window=512)
    filler = MaskedFiller(
        Inside(model=model, tokenizer=tokenizer, way=""), card=card, limits=BatchLimits(tokens=512)
    )
    policy = FillPolicy(k=10)
    whole = [f"{before}[MASK]{after}" for before, after in texts]
    batch = min(
        BATCHES, key=lambda size: _seconds(lambda: _bare(model, tokenizer, whole[:TRIED], size))
    )
    ours, bare = [], []
    for _ in range(ROUNDS):
        ours.append(_seconds(lambda: filler.fill(requests, policy)))
        bare.append(_seconds(lambda: _bare(model, tokenizer, whole, batch)))
    fast, plain = statistics.median(ours), statistics.median(bare)
    print(f"{ITEMS} items, CPU seconds, median of {ROUNDS}; {torch.get_num_threads()} threads")
    print(f"cimento                        {fast:8.2f}")
    print(f"bare forward passes (batch {batch:2d}) {plain:8.2f}")
    print(f"ratio                          {fast / plain:8.2f}  (target: at most 1.2)")


def _bare(
    model: BertForMaskedLM, tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], size: int
) -> None:
    """Texts in their order, padded to the longest of a batch; logits of every position."""
    for start in range(0, len(texts), size):
        batch = tokenizer(list(texts[start : start + size]), return_tensors="pt", padding=True)
        with torch.inference_mode():
            logits = model(**batch).logits
        rows = logits[batch["input_ids"] == tokenizer.mask_token_id]
        rows.softmax(-1).topk(10)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _texts() -> list[tuple[str, str]]:
    """Texts of 10 to 40 words, as long as those of the studies, with one word left out."""
    generator = random.Random(SEED)  # noqa: S311  # no secret
    texts = []
    for _ in range(ITEMS):
        words = [f"w{generator.randrange(VOCABULARY)}" for _ in range(generator.randint(10, 40))]
        at = generator.randrange(1, len(words))
        texts.append((" ".join(words[:at]) + " ", " " + " ".join(words[at + 1 :])))
    return texts


def _tokenizer() -> PreTrainedTokenizerFast:
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = [*names, *(f"w{number}" for number in range(VOCABULARY))]
    numbers = {word: number for number, word in enumerate(words)}
    made = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))  # noqa: S106  # no password
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="[PAD]",  # noqa: S106  # no password
        unk_token="[UNK]",  # noqa: S106  # no password
        cls_token="[CLS]",  # noqa: S106  # no password
        sep_token="[SEP]",  # noqa: S106  # no password
        mask_token="[MASK]",  # noqa: S106  # no password
    )


def _model() -> BertForMaskedLM:
    torch.manual_seed(SEED)
    return BertForMaskedLM(BertConfig(vocab_size=VOCABULARY + 5)).eval()


if __name__ == "__main__":
    main()
