"""Attributions: how much each token of a text contributes to a score, by gradients.

The score is the sum of the log-probabilities of the measured tokens, as a function of the word
embeddings. Gradient times input is the contribution that a linear model would have (Simonyan et al.
2014, arXiv:1312.6034; Denil et al. 2014, arXiv:1412.6815). Integrated gradients sum the gradient
along the straight line from a baseline to the text, so that all contributions together are the
difference between the two scores (Sundararajan et al. 2017, arXiv:1703.01365). The integral is
taken at the points of Gauss and Legendre, and the number of points is doubled until the
contributions add up.

Only embeddings of the text's own tokens vary: special tokens, masks and the context stay as they
are. No architecture is rebuilt; the module that looks embeddings up is found by running the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.errors import ModelError
from cimento.models.hf.batches import Asks, Trial, asks_of, batches, memory_of
from cimento.models.hf.heads import widened
from cimento.models.hf.interchange import ROW_NUMBERS
from cimento.models.hf.layout import tolerance_nats
from cimento.models.hf.sites import probe_of
from cimento.models.questions import ERROR_NATS, ERROR_SHARE, Attribute, Attributions

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import Encoding, FloatArray
    from cimento.models.hf.scorer import TransformersScorer
    from cimento.models.settings import BatchLimits

FEWEST_STEPS, MOST_STEPS = 16, 512

_AT_ONCE = 4096


@dataclass(slots=True)
class _Job:
    """A request with its passes, and what is known of it.

    Attributes:
        ask: the request.
        text: its text.
        trials: its passes; those in which nothing is predicted are left out.
        varied: for each pass, the positions and the tokens whose embeddings vary.
        nats: contribution of each token of `text`.
        score: the score of the text.
        baseline: the score of the baseline; NaN until it is known.
        steps: number of points at which gradients were taken.
    """

    ask: Attribute
    text: Encoding
    trials: list[Trial]
    varied: list[tuple[tuple[int, int], ...]]
    nats: FloatArray = field(init=False)
    score: float = 0.0
    baseline: float = np.nan
    steps: int = 1

    def __post_init__(self) -> None:
        self.nats = np.zeros(len(self.text.ids))

    @property
    def is_complete(self) -> bool:
        """Whether the contributions add up to the difference of the two scores."""
        difference = self.score - self.baseline
        error = abs(float(self.nats.sum()) - difference)
        return error <= max(ERROR_NATS, ERROR_SHARE * abs(difference))


@dataclass(frozen=True, slots=True)
class _Row:
    """A pass at one point between baseline and text.

    Attributes:
        job: the request.
        pass_: number of the pass among those of the request.
        alpha: the point, from 0 (the baseline) to 1 (the text).
        weight: weight of its gradient.
    """

    job: _Job
    pass_: int
    alpha: float
    weight: float

    @property
    def trial(self) -> Trial:
        """What goes through the model."""
        return self.job.trials[self.pass_]


class Gradients:
    """A model with gradients; see `cimento.models.questions.Attributer`.

    Args:
        scorer: the scorer of the model.
        limits: the limits of a batch.

    Raises:
        ModelError: its embeddings cannot be found.
    """

    def __init__(self, scorer: TransformersScorer, *, limits: BatchLimits) -> None:
        self._scorer = scorer
        self._model, self._layout = scorer.bench()
        self._limits = limits
        self._embeddings = _embeddings(self._model)
        self._means: dict[str, torch.Tensor] = {}
        for parameter in self._model.parameters():
            parameter.requires_grad = False
        self._prove()

    def attribute(self, asks: Sequence[Attribute]) -> Iterator[tuple[int, Attributions]]:
        """The contributions of tokens; see `Attributer`."""
        texts = self._scorer.encode([ask.text for ask in asks])
        jobs = [self._job(ask, text) for ask, text in zip(asks, texts, strict=True)]
        plain = [job for job in jobs if job.ask.rule == "gradient"]
        self._run([_Row(job, n, 1.0, 1.0) for job in plain for n in range(len(job.trials))])
        open_jobs = [job for job in jobs if job.ask.rule == "integrated"]
        steps = FEWEST_STEPS
        while open_jobs:
            self._integrate(open_jobs, steps)
            open_jobs = [job for job in open_jobs if not job.is_complete]
            steps *= 2
            if steps > MOST_STEPS:
                break
        for number, job in enumerate(jobs):
            yield number, _answer(job)

    def _job(self, ask: Attribute, text: Encoding) -> _Job:
        readable = [i for i, (start, _) in enumerate(text.spans) if i >= text.first and start >= 0]
        trials = self._scorer.trials(text, text, [(index, index) for index in readable])
        chosen, varied = [], []
        for trial in trials:
            places = zip(trial.moved, readable, strict=True)
            if trial.asks:
                chosen.append(trial)
                varied.append(
                    tuple(
                        (position, index)
                        for (position, _), index in places
                        # A masked token is not part of the pass, and neither is an unread one.
                        if position < len(trial.ids) and trial.ids[position] == text.ids[index]
                    )
                )
        return _Job(ask, text, chosen, varied)

    def _integrate(self, jobs: Sequence[_Job], steps: int) -> None:
        """Integrate the gradients of some requests at a number of points."""
        points, weights = np.polynomial.legendre.leggauss(steps)
        nodes = [(0.0, 0.0), (1.0, 0.0)]
        nodes += zip(((points + 1) / 2).tolist(), (weights / 2).tolist(), strict=True)
        for job in jobs:
            job.nats[:], job.score, job.baseline, job.steps = 0.0, 0.0, 0.0, steps
        self._run(
            [
                _Row(job, number, alpha, weight)
                for job in jobs
                for number in range(len(job.trials))
                for alpha, weight in nodes
            ]
        )

    def _run(self, rows: Sequence[_Row]) -> None:
        """Pass rows through the model, and add their scores and contributions to their requests."""
        groups: dict[tuple[tuple[int, ...], str], list[_Row]] = {}
        for row in rows:
            groups.setdefault((row.trial.around, row.job.ask.baseline), []).append(row)
        for (around, baseline), some in groups.items():
            lengths = [len(row.trial.ids) for row in some]
            for batch in batches(lengths, limits=self._limits, mixed=self._layout.pad):
                chosen = [some[number] for number in batch]
                with torch.inference_mode():
                    inputs = self._scorer.batch([row.trial.ids for row in chosen], around)
                # Tensors made for inference cannot take part in a pass with gradients.
                inputs = {name: value.clone() for name, value in inputs.items()}
                inputs[ROW_NUMBERS] = torch.arange(len(chosen), device=self._model.device)
                work = partial(self._take, chosen, self._baseline(baseline))
                asks = asks_of(((row.trial, 0) for row in chosen), inputs)
                memory_of(self._model).spend(inputs, asks, work)

    def _baseline(self, name: str) -> torch.Tensor | None:
        """The embedding of the baseline; None for zero."""
        if name == "zero":
            return None
        if name not in self._means:
            count = self._model.config.get_text_config().vocab_size
            device, total = self._model.device, torch.zeros(())
            with torch.no_grad():
                for start in range(0, count, _AT_ONCE):
                    ids = torch.arange(start, min(count, start + _AT_ONCE), device=device)
                    total = total + self._embeddings(ids).double().sum(0).cpu()
            self._means[name] = (total / count).to(device)
        return self._means[name]

    def _take(
        self,
        rows: Sequence[_Row],
        baseline: torch.Tensor | None,
        inputs: Mapping[str, torch.Tensor],
        asks: Asks,
    ) -> None:
        """Pass a batch, or a part of one, through the model and back."""
        some = [rows[line] for line in inputs[ROW_NUMBERS].tolist()]
        plain = {name: value for name, value in inputs.items() if name != ROW_NUMBERS}
        lines, width = plain["input_ids"].shape
        varied = torch.zeros((lines, width, 1), device=self._model.device)
        for line, row in enumerate(some):
            varied[line, [position for position, _ in row.job.varied[row.pass_]]] = 1
        alphas = torch.tensor([row.alpha for row in some], device=varied.device).reshape(-1, 1, 1)
        with torch.enable_grad(), self._replaced(varied, alphas, baseline) as embedded:
            logits = self._model(**plain).logits
            chosen = widened(logits.reshape(-1, logits.shape[-1])[asks.rows.tolist()])
            targets = torch.tensor(asks.targets, device=chosen.device).unsqueeze(1)
            logprobs = chosen.log_softmax(1).gather(1, targets).squeeze(1)
            [gradient] = torch.autograd.grad(logprobs.sum(), embedded["leaf"])
        parts = (gradient.double() * embedded["away"].double()).sum(-1).cpu().numpy()
        scores = np.bincount(
            asks.rows // width, weights=logprobs.detach().double().cpu().numpy(), minlength=lines
        )
        for line, row in enumerate(some):
            _add(row, float(scores[line]), parts[line])

    @contextmanager
    def _replaced(
        self, varied: torch.Tensor, alphas: torch.Tensor, baseline: torch.Tensor | None
    ) -> Iterator[dict[str, torch.Tensor]]:
        """A context in which embeddings are those of points between baseline and text."""
        made: dict[str, torch.Tensor] = {}

        def replace(_module: torch.nn.Module, _args: object, output: torch.Tensor) -> torch.Tensor:
            if made:
                return output
            start = 0.0 if baseline is None else baseline.to(output.dtype)
            away = varied.to(output.dtype) * (output - start)
            leaf = (output - (1 - alphas).to(output.dtype) * away).detach().requires_grad_()
            made["leaf"], made["away"] = leaf, away.detach()
            return leaf

        with self._embeddings.register_forward_hook(replace):
            yield made

    def _prove(self) -> None:
        """Check that replacing embeddings by themselves changes no score.

        Raises:
            ModelError: it does.
        """
        ids = probe_of(self._model)
        one = torch.ones((1, 1, 1), device=ids.device)
        varied = one.expand(1, ids.shape[1], 1)
        with torch.no_grad():
            plain = self._model(input_ids=ids).logits.double().log_softmax(-1)
            with self._replaced(varied, one, None):
                same = self._model(input_ids=ids).logits.double().log_softmax(-1)
        if not torch.allclose(plain, same, atol=tolerance_nats(self._model), rtol=0):
            raise ModelError(
                where=f"model of class {type(self._model).__name__}",
                seen="replacing its word embeddings by themselves changes its scores",
                todo="Its tokens cannot be given contributions; please report it.",
            )


def _embeddings(model: PreTrainedModel) -> torch.nn.Module:
    """The module that looks up the embeddings of token ids: the first that is called with them.

    Raises:
        ModelError: there is none.
    """
    ids = probe_of(model)
    called: list[torch.nn.Module] = []

    def note(module: torch.nn.Module, args: tuple[torch.Tensor, ...], _output: object) -> None:
        if args and args[0].shape == ids.shape and torch.equal(args[0], ids):
            called.append(module)

    with ExitStack() as hooks, torch.no_grad():
        for module in model.modules():
            if isinstance(module, torch.nn.Embedding):
                hooks.enter_context(module.register_forward_hook(note))
        model(input_ids=ids)
    if not called:
        raise ModelError(
            where=f"model of class {type(model).__name__}",
            seen="it has no module that looks up the embeddings of tokens",
            todo="Explain it by interchanges: --by=interchange.",
        )
    return called[0]


def _add(row: _Row, score: float, parts: FloatArray) -> None:
    """Add the score and the contributions of a pass to those of its request."""
    job = row.job
    if row.alpha == 1:
        job.score += score
    elif row.alpha == 0:
        job.baseline += score
    if row.weight:
        for position, index in job.varied[row.pass_]:
            job.nats[index] += row.weight * float(parts[position])


def _answer(job: _Job) -> Attributions:
    """The answer to a request."""
    text = job.text
    varied = {index for places in job.varied for _, index in places}
    scored = sum(len(trial.asks) for trial in job.trials)
    return Attributions(
        tokens=tuple(
            (index - text.first, *text.spans[index], text.tokens[index]) for index in sorted(varied)
        ),
        nats=tuple(float(job.nats[index]) for index in sorted(varied)),
        logprob_nats=job.score if scored else None,
        baseline_nats=None if np.isnan(job.baseline) or not scored else job.baseline,
        unscored=len(text.wanted) - scored,
        steps=job.steps,
    )
