"""The callback of `cimento.evaluate_while_training`, and the numbers that it logs.

This module imports transformers, whose base class the callback needs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from cimento.api import Failure, run_all, suites_to_run
from cimento.engine.handle import ModelHandle
from cimento.errors import CimentoError, UsageError
from cimento.models.in_memory import live_policy, live_scorer, undisturbed
from cimento.options import RunOptions
from cimento.paradigms.registry import SuiteLike
from cimento.report.benchmarks import benchmark_means
from cimento.runs.honoured import refuse_unused
from cimento.runs.job import suite_job
from cimento.runs.run import Run

if TYPE_CHECKING:
    from transformers import (
        PreTrainedModel,
        PreTrainedTokenizerBase,
        Trainer,
        TrainerControl,
        TrainerState,
        TrainingArguments,
    )

_logger = logging.getLogger(__name__)

STEP_DIGITS = 7
"""Number of digits of the step in a run's model name, padded so that runs sort by step."""


class SuiteCallback(TrainerCallback):
    """A callback that asks the model in training about suites; see `evaluate_while_training`.

    Attributes:
        history: the logged numbers of each step.
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
        self._suites = suites_to_run(suites)
        if not self._suites:
            raise UsageError(
                where="suites", seen="there are none", todo="Give a built-in name or a path."
            )
        self._name = name
        model: Any = trainer.model
        dtype = live_policy(run_options.scoring.policy, model).dtype
        if run_options.dtype not in ("auto", dtype):
            raise UsageError(
                where=f"dtype={run_options.dtype!r}",
                seen=f"the model in training is {dtype}, and is evaluated as it is",
                todo="Leave it out, or evaluate a checkpoint: cimento run SUITE -m checkpoint-100.",
            )
        self._options = run_options.model_copy(update={"dtype": dtype})
        scoring = self._options.scoring
        with undisturbed(model):
            scorer = live_scorer(
                model, tokenizer, name=name, policy=scoring.policy, limits=scoring.limits
            )
            # Errors are raised here, before training; during training they would only be warnings.
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
        """Ask after an evaluation; our numbers join its metrics, for ``metric_for_best_model``."""
        results = self._at_step(state, more["model"])
        metrics = more.get("metrics")
        if metrics is not None:
            metrics |= results

    def on_save(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Ask at a checkpoint, unless this step has been asked already."""
        self._at_step(state, more["model"])

    def _at_step(self, state: TrainerState, model: PreTrainedModel) -> dict[str, float]:
        """The logged numbers of a step, which the main process alone computes once."""
        step = state.global_step
        if not state.is_world_process_zero:
            return {}
        if step not in self.history:
            try:
                results = self._ask(step, model)
            except CimentoError as error:
                # A failed evaluation must not end days of training.
                _logger.warning("step %d was not evaluated: %s", step, error)
                results = {}
            self.history[step] = results
            if results:
                self._trainer.log(dict(results))
        return self.history[step]

    def _ask(self, step: int, model: PreTrainedModel) -> dict[str, float]:
        results: dict[str, float] = {}
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
                    results |= logged(end)
                    runs.append(end)
        return results | logged_means(runs)


def logged(run: Run) -> dict[str, float]:
    """The numbers of a run that are logged, under names that begin with ``eval_``.

    Every main rate over all items is ``eval_SUITE_QUESTION``; the headline is
    ``eval_SUITE_accuracy``, with the ends of its interval. Undefined numbers are left out.
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
    """The logged means over runs: ``eval_BLiMP_accuracy``, and one for each phenomenon.

    Args:
        runs: runs of one model; fewer than two datasets of a benchmark give no mean.
    """
    values: dict[str, float | None] = {}
    for mean in benchmark_means([run.summary() for run in runs]):
        head = "_".join(filter(None, ("eval", mean.benchmark, mean.phenomenon, "accuracy")))
        values |= {head: mean.value, f"{head}_low": mean.low, f"{head}_high": mean.high}
    return {name: value for name, value in values.items() if value is not None}
