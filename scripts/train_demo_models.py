"""Make the two demo models from nothing but the grammars in demo/.

``python scripts/train_demo_models.py`` writes text from a seed, trains the tokenizers and the
models, measures them on word combinations that the text never had, writes the table of
docs/models.md, and exits with 1 where a bound is missed. It takes under half an hour on two
idle cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from demo.corpus import Document, documents
from demo.items import KINDS, pairs
from demo.lexicon import LANGUAGES
from demo.results import Result, missed_bounds, page, table
from demo.scoring import accuracy
from demo.tokenizer import END, EOS, render_chat, train_causal_tokenizer, train_masked_tokenizer
from demo.training import Schedule, causal_model, masked_model, train_causal, train_masked

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "src" / "cimento" / "data" / "models"
PAGE = ROOT / "docs" / "models.md"
DOCUMENTS = 320_000
TOKENIZER_DOCUMENTS = 60_000
CAUSAL_STEPS = 1500
MASKED_STEPS = 3500
PAIRS = 200
PAIRS_SEED = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is asked for, measure both models, say whether the bounds hold."""
    options = _parser().parse_args(arguments)
    import torch

    torch.set_num_threads(options.threads)
    started = time.monotonic()
    if options.train:
        written = list(documents(options.documents, seed=options.seed))
        print(f"{len(written)} documents, {time.monotonic() - started:.0f} s", flush=True)
        if options.train != "masked":
            make_causal(
                written,
                Schedule(options.steps, options.seed),
                folder=options.output / "demo-causal",
                checkpoints=options.checkpoints,
            )
        if options.train != "causal":
            make_masked(written, seed=options.seed, folder=options.output / "demo-masked")
    if options.train in ("causal", "masked"):
        return 0
    results = measure(options.output)
    print(table(results))
    print(f"{time.monotonic() - started:.0f} s in all")
    renewed = page(results, options.page.read_text(encoding="utf-8"))
    options.page.write_text(renewed, encoding="utf-8")
    missed = missed_bounds(results)
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make and measure the two demo models.")
    parser.add_argument("--seed", type=int, default=1, help="of text, weights and batches")
    parser.add_argument("--threads", type=int, default=2, help="that torch may use")
    parser.add_argument(
        "--train",
        choices=("both", "causal", "masked", ""),
        default="both",
        help="one model only, which is then not measured; '' to measure what is there",
    )
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="texts to learn from")
    parser.add_argument("--steps", type=int, default=CAUSAL_STEPS, help="of the causal model")
    parser.add_argument(
        "--checkpoints",
        type=int,
        nargs="*",
        default=(),
        help="steps after which the causal model is also saved, in checkpoint-STEP beside it",
    )
    parser.add_argument("--output", type=Path, default=MODELS, help="where the folders go")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the results go")
    return parser


def make_causal(
    written: Sequence[Document],
    schedule: Schedule,
    *,
    folder: Path,
    checkpoints: Sequence[int] = (),
) -> None:
    """Train and save the causal model with its tokenizer, and what it was at some steps."""
    import torch

    torch.manual_seed(schedule.seed)
    texts = [document.text or render_chat(document.chat) for document in written]
    tokenizer = train_causal_tokenizer(texts[:TOKENIZER_DOCUMENTS])
    ids = tokenizer([text + EOS for text in texts])["input_ids"]
    model = causal_model(tokenizer)
    _announce("causal", model, ids)

    def after(step: int) -> None:
        if step in checkpoints:
            _save(model, tokenizer, folder.parent / f"checkpoint-{step}")

    train_causal(model, ids, schedule, after=after)
    if model.generation_config:
        ends = tokenizer.convert_tokens_to_ids([EOS, END])
        model.generation_config.eos_token_id = ends
    _save(model, tokenizer, folder)


def make_masked(written: Sequence[Document], *, seed: int, folder: Path) -> None:
    """Train and save the masked model with its tokenizer; chats are left out."""
    import torch

    torch.manual_seed(seed)
    texts = [document.text for document in written if document.text]
    tokenizer = train_masked_tokenizer(texts[:TOKENIZER_DOCUMENTS])
    ids = tokenizer(texts, truncation=True)["input_ids"]
    model = masked_model(tokenizer)
    _announce("masked", model, ids)
    train_masked(model, tokenizer, ids, Schedule(MASKED_STEPS, seed))
    _save(model, tokenizer, folder)


def _announce(kind: str, model: PreTrainedModel, ids: Sequence[Sequence[int]]) -> None:
    tokens = sum(map(len, ids)) / 1e6
    print(f"{kind}: {model.num_parameters()} parameters, {tokens:.1f} million tokens", flush=True)


def _save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)  # safetensors writes for the owner alone


def measure(folder: Path) -> list[Result]:
    """Both models, as they were saved, on held-out pairs of every language and kind."""
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    results = []
    loaders = (("demo-causal", AutoModelForCausalLM), ("demo-masked", AutoModelForMaskedLM))
    for name, loader in loaders:
        model = loader.from_pretrained(folder / name)
        tokenizer = AutoTokenizer.from_pretrained(folder / name)
        masked = name == "demo-masked"
        for language in LANGUAGES:
            for kind in KINDS:
                items = pairs(language, kind, count=PAIRS, seed=PAIRS_SEED)
                share = accuracy(model, tokenizer, items, masked=masked)
                results.append(Result(name, language, kind, share))
    return results


if __name__ == "__main__":
    sys.exit(main())
