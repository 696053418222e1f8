"""The callback of `cimento.evaluate_while_training`, and the numbers that it logs.

This module imports transformers, whose base class the callback needs.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers import TrainerCallback

from cimento.engine.handle import ModelHandle
from cimento.errors import CimentoError, UsageError
from cimento.evaluation import Failure, run_all, suites_to_run
from cimento.evaluation.honored import refuse_unused
from cimento.evaluation.job import suite_job
from cimento.kinds.registry import SuiteLike
from cimento.kinds.run import Run
from cimento.models.hf.files import LocatedModel
from cimento.models.in_memory import live_policy, live_scorer, scorer_around, undisturbed
from cimento.models.weights import weights_digest
from cimento.options import RunOptions
from cimento.report.benchmarks import benchmark_means

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

    Results belong to weights: a step that comes again with other weights is asked again, and an
    evaluation after training (of the best checkpoint, say) gets the numbers of the weights that
    are in the model by then.

    Attributes:
        history: the logged numbers of each step of the last training; it begins anew with the next.
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
        # By step and digest of the weights; no step where the weights are not those of the step.
        self._known: dict[tuple[int | None, str], dict[str, float]] = {}
        self._training = False
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

    def on_train_begin(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,  # noqa: ARG002
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401, ARG002
    ) -> None:
        """Begin a new history: the steps of an earlier training had other weights."""
        self.history = {}
        self._training = True

    def on_train_end(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,  # noqa: ARG002
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401, ARG002
    ) -> None:
        """Note that from now on the weights may be those of another step, such as the best."""
        self._training = False

    def on_evaluate(
        self,
        args: TrainingArguments,  # noqa: ARG002  # as the base class has it
        state: TrainerState,
        control: TrainerControl,  # noqa: ARG002
        **more: Any,  # noqa: ANN401
    ) -> None:
        """Ask after an evaluation; our numbers join its metrics, for ``metric_for_best_model``."""
        results = self._results(state, more["model"])
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
        """Ask at a checkpoint, unless these weights have been asked at this step already."""
        self._results(state, more["model"])

    def _results(self, state: TrainerState, model: PreTrainedModel) -> dict[str, float]:
        """The logged numbers of the weights, which the main process alone computes once."""
        if not state.is_world_process_zero:
            return {}
        step, weights = state.global_step, weights_digest(model)
        logged_before = self.history.get(step)
        results = self._known.get((step, weights)) if self._training else self._seen(weights)
        if results is None:
            # The Trainer counts its last step, whatever has been loaded since.
            at = step if self._training or logged_before is None else None
            results = self._known[at, weights] = self._answered(at, model, weights)
        if self._training or logged_before is None:
            self.history[step] = results
        if results and not (self._training and results is logged_before):
            self._trainer.log(dict(results))
        return results

    def _seen(self, weights: str) -> dict[str, float] | None:
        """The numbers of these weights at whatever step they were; None if there are none."""
        before = (results for (_, other), results in self._known.items() if other == weights)
        return next(filter(None, before), None)

    def _answered(self, step: int | None, model: PreTrainedModel, weights: str) -> dict[str, float]:
        try:
            return self._ask(step, model, weights)
        except CimentoError as error:
            # A failed evaluation must not end days of training.
            _logger.warning("%s was not evaluated: %s", _words(step), error)
            return {}

    def _ask(self, step: int | None, model: PreTrainedModel, weights: str) -> dict[str, float]:
        results: dict[str, float] = {}
        runs: list[Run] = []
        scoring = self._options.scoring
        name = self._name if step is None else f"{self._name}-step{step:0{STEP_DIGITS}d}"
        with undisturbed(model):
            scorer = scorer_around(
                model,
                self._tokenizer,
                located=LocatedModel(name, Path(), weights),
                policy=live_policy(scoring.policy, model),
                kind="auto",
                limits=scoring.limits,
            )
            for end in run_all(self._suites, [scorer], self._options, cache=None):
                if isinstance(end, Failure):
                    _logger.warning("%s, %s: %s", _words(step), end.suite, end.error)
                else:
                    results |= logged(end)
                    runs.append(end)
        return results | logged_means(runs)


def _words(step: int | None) -> str:
    return "the model after training" if step is None else f"step {step}"


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
