"""Suites while a model trains: a callback for transformers' Trainer that asks the live model.

    trainer = Trainer(model, arguments, ..., processing_class=tokenizer)
    evaluate_while_training(trainer, ["it-subject-verb"], output="runs")
    trainer.train()

After each evaluation and each checkpoint, accuracies go where the Trainer logs to (TensorBoard,
W&B, ...) and a run is stored for each suite and step. The training itself is the same, to the
bit, as without.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import PreTrainedTokenizerBase, TrainerCallback

from cimento.api import Failure, refuse_same_names, run_all
from cimento.engine.handle import ModelHandle
from cimento.errors import CimentoError, UsageError
from cimento.models.hf.live import live_policy, live_scorer, undisturbed
from cimento.options import RunOptions, from_names
from cimento.paradigms.loading import SuiteLike, load_suites
from cimento.report.benchmarks import benchmark_means
from cimento.runs.job import refuse_unused, suite_job
from cimento.runs.run import Run

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
    **options: Any,  # noqa: ANN401  # as for `cimento.evaluate`
) -> SuiteCallback:
    """Have a Trainer ask suites of its model at every evaluation and every checkpoint.

    Args:
        trainer: with its tokenizer as ``processing_class``; the callback is added to it.
        suites: built-in names, paths, or suites made in Python.
        name: what to call the model, before its step; by default as the Trainer's output folder.
        output: folder of runs to write to; None keeps none.
        options: as for `cimento.evaluate`; the number format is that of the model.

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
        run_options=from_names({**options, "output": output}),
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
        run_options: RunOptions,
    ) -> None:
        self.history: dict[int, dict[str, float]] = {}
        self._trainer = trainer
        self._tokenizer = tokenizer
        self._suites = list(load_suites(suites))
        refuse_same_names(self._suites)
        self._name = name
        model: Any = trainer.model
        dtype = live_policy(run_options.scoring.policy, model).dtype
        self._options = run_options.model_copy(update={"dtype": dtype})
        scoring = self._options.scoring
        with undisturbed(model):
            scorer = live_scorer(
                model, tokenizer, name=name, policy=scoring.policy, limits=scoring.limits
            )
            # What cannot be asked is an error here, and a warning in training.
            refuse_unused((loaded.paradigm for loaded in self._suites), run_options)
            for loaded in self._suites:
                suite_job(loaded, ModelHandle(scorer, scoring), self._options, shown=name)

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
        runs: list[Run] = []
        scoring = self._options.scoring
        with undisturbed(model):
            scorer = live_scorer(
                model,
                self._tokenizer,
                name=f"{self._name}-step{step:0{STEP_DIGITS}d}",
                policy=scoring.policy,
                limits=scoring.limits,
            )
            for end in run_all(self._suites, [scorer], self._options, cache=None):
                if isinstance(end, Failure):
                    _logger.warning("step %d, %s: %s", step, end.suite, end.error)
                else:
                    found |= logged(end)
                    runs.append(end)
        return found | logged_means(runs)


def logged(run: Run) -> dict[str, float]:
    """What is logged of a run, under names that begin with ``eval_``.

    For every main rate over all items ``eval_SUITE_QUESTION``, and for the headline
    ``eval_SUITE_accuracy`` with the ends of its interval. What is undefined is left out.
    """
    head = f"eval_{run.suite.name}"
    values: dict[str, float | None] = {}
    for estimate in run.estimates():
        if estimate.group or estimate.role == "detail" or not estimate.is_share:
            continue
        question = re.sub(r"\W+", "_", f"{estimate.question} {estimate.method}".strip())
        values[f"{head}_{question}"] = estimate.value
        if estimate.role == "headline":
            values |= {
                f"{head}_accuracy": estimate.value,
                f"{head}_accuracy_low": estimate.low,
                f"{head}_accuracy_high": estimate.high,
            }
    return {name: value for name, value in values.items() if value is not None}


def logged_means(runs: Sequence[Run]) -> dict[str, float]:
    """What is logged of some runs together: ``eval_BLiMP_accuracy``, and of each phenomenon.

    Args:
        runs: of one model; nothing is logged of fewer than two datasets of a benchmark.
    """
    values: dict[str, float | None] = {}
    for mean in benchmark_means([run.summary() for run in runs]):
        head = "_".join(filter(None, ("eval", mean.benchmark, mean.phenomenon, "accuracy")))
        values |= {head: mean.value, f"{head}_low": mean.low, f"{head}_high": mean.high}
    return {name: value for name, value in values.items() if value is not None}
