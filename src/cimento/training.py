"""Suites while a model trains: a callback for transformers' Trainer that asks the live model.

    trainer = Trainer(model, arguments, ..., processing_class=tokenizer)
    evaluate_while_training(trainer, ["it-subject-verb"], output="runs")
    trainer.train()

After each evaluation and each checkpoint, accuracies go where the Trainer logs to (TensorBoard,
W&B, ...) and a run is stored for each suite and step. The training itself is the same, to the
bit, as without.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import PreTrainedTokenizerBase, TrainerCallback

from cimento.api import Failure
from cimento.errors import CimentoError, UsageError
from cimento.judging import Judging
from cimento.models.live import live_policy, live_scorer, undisturbed
from cimento.regions_api import Evaluation, SuiteLike, evaluate_all, read_suites
from cimento.report.summary import RunSummary
from cimento.sources import Asking

if TYPE_CHECKING:
    from transformers import (
        PreTrainedModel,
        Trainer,
        TrainerControl,
        TrainerState,
        TrainingArguments,
    )

_logger = logging.getLogger(__name__)

STEP_DIGITS = 7
"""Digits of the step at the end of a run's model name, so that runs sort by step."""


def evaluate_while_training(
    trainer: Trainer,
    suites: SuiteLike | Sequence[SuiteLike],
    *,
    name: str = "",
    output: str | Path | None = "runs",
    asking: Asking | None = None,
    judging: Judging | None = None,
) -> SuiteCallback:
    """Have a Trainer ask suites of its model at every evaluation and every checkpoint.

    Args:
        trainer: with its tokenizer as ``processing_class``; the callback is added to it.
        suites: built-in names, paths, or suites made in Python.
        name: what to call the model, before its step; by default as the Trainer's output folder.
        output: folder of runs to write to; None keeps none.
        asking: how the model is asked; its dtype is that of the model.
        judging: how the answers are judged.

    Returns:
        The callback, which has `history`.

    Raises:
        CimentoError: a suite cannot be read, or the model not be scored; found before training.
        UsageError: the Trainer has no tokenizer, or spreads the weights over several processes.
    """
    if not isinstance(trainer.processing_class, PreTrainedTokenizerBase):
        raise UsageError(
            where="Trainer",
            seen="it has no tokenizer",
            todo="Give it as processing_class=tokenizer.",
        )
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise UsageError(
            where="Trainer",
            seen="FSDP or DeepSpeed may spread the weights over processes, and suites ask one",
            todo="Evaluate the stored checkpoints: cimento run SUITE -m checkpoint-100.",
        )
    callback = SuiteCallback(
        trainer,
        trainer.processing_class,
        suites,
        name=name or Path(trainer.args.output_dir or ".").resolve().name,
        output=None if output is None else Path(output),
        asking=asking or Asking(),
        judging=judging or Judging(),
    )
    trainer.add_callback(callback)
    return callback


class SuiteCallback(TrainerCallback):
    """Asks suites of the model that is being trained; made by `evaluate_while_training`.

    Attributes:
        history: step to what was logged of it.
    """

    def __init__(
        self,
        trainer: Trainer,
        tokenizer: PreTrainedTokenizerBase,
        suites: SuiteLike | Sequence[SuiteLike],
        *,
        name: str,
        output: Path | None,
        asking: Asking,
        judging: Judging,
    ) -> None:
        self.history: dict[int, dict[str, float]] = {}
        self._trainer = trainer
        self._tokenizer = tokenizer
        self._suites = read_suites(suites)
        self._name = name
        model: Any = trainer.model
        asked = dataclasses.replace(asking, policy=live_policy(asking.policy, model))
        self._evaluation = Evaluation(asking=asked, judging=judging, output=output)
        with undisturbed(model):
            live_scorer(model, tokenizer, name=name, policy=asked.policy, limits=asked.limits)

    def on_evaluate(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Ask after an evaluation; its metrics have ours too, for ``metric_for_best_model``."""
        found = self._at_step(state, more["model"])
        metrics = more.get("metrics")
        if metrics is not None:
            metrics |= found

    def on_save(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Ask at a checkpoint, unless it was done at this step already."""
        self._at_step(state, more["model"])

    def _at_step(self, state: TrainerState, model: PreTrainedModel) -> dict[str, float]:
        """What is logged of a step; asked once, by the main process alone."""
        step = state.global_step
        if not state.is_world_process_zero:
            return {}
        if step not in self.history:
            try:
                found = self._ask(step, model)
            except CimentoError as error:
                # Days of training are worth more than one evaluation.
                _logger.warning("step %d was not evaluated: %s", step, error)
                found = {}
            self.history[step] = found
            if found:
                self._trainer.log(dict(found))
        return self.history[step]

    def _ask(self, step: int, model: PreTrainedModel) -> dict[str, float]:
        found: dict[str, float] = {}
        with undisturbed(model):
            scorer = live_scorer(
                model,
                self._tokenizer,
                name=f"{self._name}-step{step:0{STEP_DIGITS}d}",
                policy=self._evaluation.asking.policy,
                limits=self._evaluation.asking.limits,
            )
            for outcome in evaluate_all(self._suites, [scorer], self._evaluation):
                if isinstance(outcome, Failure):
                    _logger.warning("step %d, %s: %s", step, outcome.suite, outcome.error)
                else:
                    found |= logged(outcome.summary())
        return found


def logged(summary: RunSummary) -> dict[str, float]:
    """What is logged of a run, under names that begin with ``eval_``.

    For every prediction ``eval_SUITE_accuracy_0``, and for the last of them, which is all together
    where there are several, ``eval_SUITE_accuracy`` with the ends of its interval. What is
    undefined is left out.
    """
    head = f"eval_{summary.suite}_accuracy"
    values: dict[str, float | None] = {
        f"{head}_{result.label}": result.accuracy for result in summary.predictions
    }
    for result in summary.results[-1:]:
        values |= {head: result.accuracy, f"{head}_low": result.low, f"{head}_high": result.high}
    return {name: value for name, value in values.items() if value is not None}
