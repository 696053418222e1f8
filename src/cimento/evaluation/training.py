"""Evaluation during training: a callback of transformers' Trainer that asks the live model.

    trainer = Trainer(model, arguments, ..., processing_class=tokenizer)
    evaluate_while_training(trainer, ["it-subject-verb"], output="runs")
    trainer.train()

After each evaluation and each checkpoint, the Trainer logs accuracies (to TensorBoard, W&B, ...)
and a run is stored for each suite and step. The training itself stays the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cimento.errors import UsageError, needing
from cimento.kinds.option_types import TrainingKeywords
from cimento.kinds.registry import SuiteLike
from cimento.options import from_names

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase, Trainer

    from cimento.evaluation.callback import SuiteCallback


def evaluate_while_training(
    trainer: Trainer,
    suites: SuiteLike | Sequence[SuiteLike],
    *,
    name: str = "",
    output: str | Path | None = "runs",
    **options: Unpack[TrainingKeywords],
) -> SuiteCallback:
    """Have a Trainer ask its model about suites at every evaluation and every checkpoint.

    Args:
        trainer: a Trainer with its tokenizer as ``processing_class``; the callback is added to it.
        suites: built-in names, paths, or suites made in Python.
        name: name of the model, before the step; by default that of the Trainer's output folder.
        output: folder in which runs are stored; None stores none.
        options: as for `cimento.evaluate`; the number format is always that of the model.

    Returns:
        The callback, whose `history` has the logged numbers.

    Raises:
        CimentoError: a suite cannot be read or the model cannot be asked, found before training.
        MissingDependencyError: transformers is not installed.
        UsageError: no suites are given, or the Trainer has no tokenizer or spreads the weights over
            several processes.

    Example:
        >>> callback = evaluate_while_training(trainer, ["it-subject-verb"])
        >>> callback.history  # trainer.train() fills it
        {}
    """
    with needing("transformers", extra="hf", purpose="evaluate_while_training"):
        from cimento.evaluation.callback import SuiteCallback

    tokenizer = _tokenizer_of(trainer)
    callback = SuiteCallback(
        trainer,
        tokenizer,
        suites,
        name=name or Path(trainer.args.output_dir or ".").resolve().name,
        run_options=from_names({**options, "output": output}),
    )
    trainer.add_callback(callback)
    return callback


def _tokenizer_of(trainer: Trainer) -> PreTrainedTokenizerBase:
    """The tokenizer of a Trainer whose model can be asked while it trains.

    Raises:
        UsageError: it has none, spreads the weights over several processes, or is not a Trainer.
    """
    from transformers import PreTrainedTokenizerBase

    if not hasattr(trainer, "processing_class"):
        raise UsageError(
            where="trainer",
            seen=f"{type(trainer).__name__} is not a Trainer of transformers",
            todo="Give the Trainer; a training loop of your own uses cimento.live_scorer.",
        )
    if not isinstance(trainer.processing_class, PreTrainedTokenizerBase):
        raise UsageError(
            where="Trainer", seen="it has no tokenizer", todo="Give processing_class=tokenizer."
        )
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise UsageError(
            where="Trainer",
            seen="FSDP or DeepSpeed may spread the weights over processes, and suites ask one",
            todo="Evaluate the stored checkpoints: cimento run SUITE -m checkpoint-100.",
        )
    return trainer.processing_class
