"""The plan of a run: the requests and costs of jobs, and the downloads needed beforehand."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cimento.engine.answers import sent_texts
from cimento.engine.cache import AnswerCache, column_key, get_scores, sequence_key
from cimento.engine.execute import Execution
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import UnitState
from cimento.engine.requests import TABLES, Attribute, Choose, Fill, Patch, Reply, Request, Score
from cimento.engine.scores import model_key
from cimento.engine.units import facts_of
from cimento.errors import CimentoError, StorageError
from cimento.evaluation.feasible import UNCOUNTED, obstacle
from cimento.io.files import expanded
from cimento.io.tables import Column
from cimento.models.hf.files import locate
from cimento.models.hf.names import DEMO_MODELS
from cimento.models.registry import OPENERS, shown_name
from cimento.models.server import LIMITS
from cimento.records.usage import Price, Tokens
from cimento.suites.builtin import find_suite, is_builtin
from cimento.suites.fetching import fetch
from cimento.suites.published import find_published, is_published

if TYPE_CHECKING:
    from cimento.models.base import Encoding
    from cimento.models.hf.loading import ModelFacts
    from cimento.suites import JsonValue


FLOPS = {"cpu": 5e10, "gpu": 2e13}
"""Operations per second assumed for one processor core and for one GPU.

Of the models in docs/performance.md, a core did 5.5e10 to 9e10.
"""

_BYTES = {"float32": 4, "float64": 8, "bfloat16": 2, "float16": 2}
_BUDGET = {"cpu": 512, "gpu": 16_384}
BYTES_PER_TOKEN = 3
"""Bytes of UTF-8 per token.

English has four or five, Italian three or four, so this tends to count too many tokens.
"""

_TURN_TOKENS = 4
"""Number of tokens that a chat template puts around a turn."""

_LOGITS = 2
"""Copies of a batch's logits in memory: raw and normalized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """The plan of one job.

    Attributes:
        requests: number of different requests of its first round, by kind of question.
        new: number of these that no earlier job of the same model makes.
        problem: the reason why it cannot make requests; empty where it can.
    """

    requests: Mapping[str, int]
    new: int
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlan:
    """The plan of one model: the requests of the first rounds of its jobs, and their costs.

    Times and memory are estimates; None stands for an unknown value.

    Attributes:
        model: label of the model, or its name where it cannot be found.
        requests: number of different requests, of all jobs that are not done.
        units: number of units into which they are cut.
        done: number of these units that are done.
        tokens: number of tokens that go through the model for the other units. For a masked model,
            the tokens of a text count once for each token that is masked in it, for a masked
            diffusion model once for each sample. For a server, an estimate of the tokens that it
            reads, one for every three bytes.
        kept: number of the requests in these units whose answers are in the cache already.
        parameters: number of parameters of the model.
        seconds: time on one device, from earlier units of this model if there are any; else two
            operations for each parameter and token, at 5e10 a second and core, or 2e13 on a GPU.
        by: basis of the time: ``earlier units`` or ``size``; empty where the time is unknown.
        memory_bytes: memory on the device for the weights and for two copies of the logits of a
            batch.
        sent: for a server, number of requests sent to it, without those in the cache.
        written: for a server, the largest number of tokens that it generates for them.
        later: largest number of requests that depend on the answers to these.
        cost: cost of these requests, at the given prices.
        later_cost: cost of the later requests if they are as long as these.
        currency: currency of the costs; empty where the model has no price.
        problem: the reason why it cannot be asked, or its tokens cannot be counted; else empty.
    """

    model: str
    requests: int = 0
    units: int = 0
    done: int = 0
    tokens: int | None = None
    kept: int | None = None
    parameters: int | None = None
    seconds: float | None = None
    by: str = ""
    memory_bytes: int | None = None
    sent: int | None = None
    written: int | None = None
    later: int = 0
    cost: float | None = None
    later_cost: float | None = None
    currency: str = ""
    problem: str = ""

    def plain(self) -> dict[str, JsonValue]:
        """The plan as a JSON object."""
        return asdict(self)


def plan_jobs(execution: Execution[Any]) -> list[JobPlan]:
    """The plan of each job of an execution, in order."""
    seen: set[tuple[int, int]] = set()
    plans = []
    for state in execution.states:
        places = {
            (number, place): execution.units[number].unit.requests[place]
            for number, some in state.units.items()
            for place in some.inside.tolist()
        }
        asked = Counter(type(request).__name__.lower() for request in places.values())
        new = places.keys() - seen
        seen |= places.keys()
        problem = "" if state.error is None else str(state.error)
        if not problem and state.group is not None and not state.job.is_done:
            problem = obstacle(state.group.model, places.values())
        plans.append(JobPlan(requests=dict(asked), new=len(new), problem=problem))
    return plans


def plan_models(
    execution: Execution[Any],
    cache: AnswerCache | None,
    *,
    gpu: bool,
    prices: Mapping[str, Price] | None = None,
) -> list[ModelPlan]:
    """The plan of each model of an execution.

    Args:
        execution: an execution of jobs, which is not run.
        cache: the cache of answers; None where none is used.
        gpu: whether models run on GPUs.
        prices: prices of models on servers, by the name of the model.
    """
    needed: dict[int, list[UnitState]] = {}
    handles: dict[int, ModelHandle] = {}
    for state in execution.states:
        if state.group is None:
            continue
        handles.setdefault(id(state.group.model), state.group.model)
        units = needed.setdefault(id(state.group.model), [])
        if not state.job.is_done and state.error is None:
            units += (execution.units[number] for number in state.units)
    return [
        _priced(
            _plan(handles[key], list({id(unit): unit for unit in units}.values()), cache, gpu=gpu),
            handles[key],
            prices or {},
        )
        for key, units in needed.items()
    ]


def _priced(plan: ModelPlan, model: ModelHandle, prices: Mapping[str, Price]) -> ModelPlan:
    """A plan with the cost of requests to a server, if its model has a price."""
    price = prices.get(model.card.name) if plan.sent is not None else None
    if price is None:
        return plan
    cost = price.of(Tokens(plan.sent or 0, plan.tokens, plan.written))
    return replace(plan, cost=cost, currency=price.currency)


def _plan(
    model: ModelHandle, units: Sequence[UnitState], cache: AnswerCache | None, *, gpu: bool
) -> ModelPlan:
    waiting = [unit for unit in units if not unit.is_done]
    plain = ModelPlan(
        model=model.label,
        requests=sum(len(unit.unit.requests) for unit in units),
        units=len(units),
        done=len(units) - len(waiting),
    )
    if not waiting:
        return plain
    if model.is_server:
        sized = _of_server(plain, waiting, model, cache)
    else:
        sized = _by_size(plain, waiting, model, cache, gpu=gpu)
    seen = _seconds_per_request(unit for unit in units if unit.is_done)
    kinds = Counter(type(request) for unit in waiting for request in unit.unit.requests)
    if not all(kind in seen for kind in kinds):
        return sized
    seconds = sum(seen[kind] * number for kind, number in kinds.items())
    return replace(sized, seconds=seconds, by="earlier units")


def _seconds_per_request(done: Iterable[UnitState]) -> dict[type[Request], float]:
    """The mean time of a request of each kind in the units that are done, where it is known."""
    seconds: Counter[type[Request]] = Counter()
    requests: Counter[type[Request]] = Counter()
    for unit in done:
        facts = None if unit.path is None else facts_of(unit.path)
        if facts is not None and facts.seconds is not None:
            kind = type(unit.unit.requests[0])
            seconds[kind] += facts.seconds  # type: ignore[assignment]  # a counter of seconds
            requests[kind] += facts.n
    return {kind: seconds[kind] / number for kind, number in requests.items()}


def _by_size(
    plain: ModelPlan,
    waiting: Sequence[UnitState],
    model: ModelHandle,
    cache: AnswerCache | None,
    *,
    gpu: bool,
) -> ModelPlan:
    """A plan with tokens, time and memory, computed from the files of the model."""
    try:
        sized = model.sized
        if sized is None:
            return replace(plain, problem=UNCOUNTED)
        tokens, kept, longest = _count(waiting, model, sized, cache)
    except CimentoError as error:
        return replace(plain, problem=str(error))
    plain = replace(plain, tokens=tokens, kept=None if cache is None else kept)
    if sized.parameters is None:
        return plain
    device = "gpu" if gpu else "cpu"
    speed = FLOPS[device] * (1 if gpu else os.cpu_count() or 1)
    rows = model.scoring.limits.or_tokens(_BUDGET[device]).positions(longest)
    logits = _LOGITS * 4 * rows * sized.vocabulary
    weights = sized.parameters * _BYTES[model.scoring.policy.dtype]
    return replace(
        plain,
        parameters=sized.parameters,
        seconds=2 * sized.parameters * tokens / speed,
        by="size",
        memory_bytes=weights + logits if rows else None,
    )


def _of_server(
    plain: ModelPlan, waiting: Sequence[UnitState], model: ModelHandle, cache: AnswerCache | None
) -> ModelPlan:
    """A plan with the requests that a server would be sent, and an estimate of their tokens."""
    kept, read, written = 0, [], []
    texts: dict[str, None] = {}
    limit = next(filter(None, map(model.scoring.body.get, LIMITS)), None)
    for request in (request for unit in waiting for request in unit.unit.requests):
        known = cache is not None and _is_kept(cache, model, request)
        kept += known
        if known:
            continue
        scored = sent_texts(request)
        texts |= dict.fromkeys(scored)
        if not scored and isinstance(request, Reply | Choose):
            turns = request.messages or (("", request.prompt),)
            read.append(sum(_estimated(text) + _TURN_TOKENS for _, text in turns))
            most = request.max_tokens if isinstance(request, Reply) else 1
            written.append(limit if isinstance(limit, int) else most)
    refusal = getattr(model.scorer, "refusal", None)
    return replace(
        plain,
        tokens=sum(read) + sum(map(_estimated, texts)),
        sent=len(read) + len(texts),
        # Servers generate one token after every text that they score.
        written=sum(written) + len(texts),
        kept=None if cache is None else kept,
        problem=str(refusal) if texts and refusal is not None else "",
    )


def _estimated(text: str) -> int:
    """An estimate of the number of tokens of a text, for an unknown tokenizer."""
    return math.ceil(len(text.encode()) / BYTES_PER_TOKEN)


def _is_kept(cache: AnswerCache, model: ModelHandle, request: Request) -> bool:
    """Whether the cache has answers to everything that a server would be sent for a request."""
    if isinstance(request, Score | Fill):
        key = model_key(model.card, model.scoring.policy)
        keys = [sequence_key(key, text.encode()) for text in sent_texts(request)]
    else:
        keys = model.addresses([request], TABLES[type(request)])
    return len(cache.get(keys)) == len(set(keys))


def _count(
    waiting: Sequence[UnitState], model: ModelHandle, sized: ModelFacts, cache: AnswerCache | None
) -> tuple[int, int, int]:
    """Number of tokens for the model, of cached requests, and of tokens in the longest text."""
    tokens = kept = longest = 0
    for unit in waiting:
        requests = unit.unit.requests
        scores = [request for request in requests if isinstance(request, Score)]
        others = [request for request in requests if not isinstance(request, Score)]
        columns = unit.group.columns
        for costs in (
            _scores(scores, columns, model, sized, cache),
            _others(others, model, sized, cache),
        ):
            for length, passes, is_kept in costs:
                longest = max(longest, length)
                kept += is_kept
                tokens += 0 if is_kept else length * passes
    return tokens, kept, longest


def _scores(
    requests: Sequence[Score],
    columns: Sequence[Column],
    model: ModelHandle,
    sized: ModelFacts,
    cache: AnswerCache | None,
) -> list[tuple[int, int, bool]]:
    """The number of tokens and of passes for each text, and whether its scores are cached."""
    if sized.encoder is None:
        return [
            (_length(f"{request.context} {request.text}", sized), 1, False) for request in requests
        ]
    key = model_key(sized.card, model.scoring.policy)
    kind, samples = sized.card.kind, model.scoring.policy.mc_samples
    return [
        (
            len(encoded.ids),
            {"masked": len(encoded.wanted), "diffusion": samples}.get(kind, 1),
            cache is not None and _is_known(cache, key, encoded, columns),
        )
        for encoded in sized.encoder.encode(requests)
    ]


def _is_known(cache: AnswerCache, model: str, encoded: Encoding, columns: Sequence[Column]) -> bool:
    key = sequence_key(model, encoded.ids, encoded.words)
    addresses = [key, *(column_key(key, column) for column in columns)]
    scores = get_scores(cache, addresses)
    return all(i in scores.get(address, {}) for address in addresses for i in encoded.wanted)


def _others(
    requests: Sequence[Request], model: ModelHandle, sized: ModelFacts, cache: AnswerCache | None
) -> list[tuple[int, int, bool]]:
    """The same as `_scores` for requests that are not answered by token scores."""
    costs = []
    for request in requests:
        keys = model.addresses([request], TABLES[type(request)])
        is_kept = cache is not None and bool(cache.get(keys))
        costs.append((*_read_tokens(request, sized), is_kept))
    return costs


def _read_tokens(request: Request, sized: ModelFacts) -> tuple[int, int]:
    """The number of tokens that a model reads for a request in one pass, and of passes."""
    if isinstance(request, Fill):
        return _length(request.before + request.after, sized), 1 + len(request.options)
    if isinstance(request, Choose):
        options = sum(_length(option, sized) for option in request.options)
        return _length(request.prompt, sized) + options, 1
    if isinstance(request, Reply):
        text = request.prompt or " ".join(content for _, content in request.messages)
        return _length(text, sized) + request.max_tokens, 1
    if isinstance(request, Patch):
        # Layers below an interchange are left out, so a pass for each layer costs half a pass.
        return _length(request.base.text, sized), 2 + (1 + (sized.layers or 0)) // 2
    if isinstance(request, Attribute):
        # A pass back costs as much as two forward; integrals take at least 18 points.
        return _length(request.text.text, sized), 3 if request.rule == "gradient" else 54
    return _length(request.text, sized), 1


def _length(text: str, sized: ModelFacts) -> int:
    """The number of tokens of a text, without special tokens."""
    ids = sized.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
    return len(ids)


@dataclass(frozen=True, slots=True)
class Downloads:
    """The result of downloading models and suites.

    Attributes:
        models: names of models that need no network any more, with commits for models of the hub.
        suites: built-in names and paths of suites.
        variables: environment variables for runs without network.
        failed: models and suites that could not be downloaded, with the errors.
        online: models that cannot be downloaded because they are on servers.
    """

    models: list[str] = field(default_factory=list)
    suites: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    failed: dict[str, CimentoError] = field(default_factory=dict)
    online: list[str] = field(default_factory=list)


def prefetch(models: Sequence[str], suites: Sequence[str], *, into: Path | None) -> Downloads:
    """Download the models and suites that are not on this machine.

    Args:
        models: names as for ``cimento run``.
        suites: names and paths; names of published datasets are fetched too.
        into: folder for downloads; None for the hub's cache, and the current folder for suites.

    Raises:
        StorageError: the folder cannot be written.
    """
    prefetched = Downloads()
    if into is not None:
        cache = (into / "hub").absolute()
        _use_cache(cache)
        prefetched.variables["HF_HUB_CACHE"] = str(cache)
    prefetched.variables.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1")
    for name in models:
        with_failure = _model(name, prefetched)
        if with_failure is not None:
            prefetched.failed[shown_name(name)] = with_failure
    for name in suites:
        with_failure = _suite(name, into or Path(), prefetched)
        if with_failure is not None:
            prefetched.failed[name] = with_failure
    return prefetched


def _model(name: str, prefetched: Downloads) -> CimentoError | None:
    prefix, _, rest = name.partition(":")
    if rest and prefix == "openai":
        prefetched.online.append(shown_name(name))
        prefetched.models.append(name)
        return None
    if rest and (prefix in OPENERS or not Path(name).exists()):
        # A file, or a name that a plug-in resolves: there is nothing to download.
        prefetched.models.append(name)
        return None
    try:
        located = locate(name)
    except StorageError:
        raise
    except CimentoError as error:
        return error
    local = name in DEMO_MODELS or expanded(name).is_dir()
    hub_name = name.partition("@")[0]
    # An adapter's revision is a hash over adapter and base; its commit is the name of its folder.
    folder = located.adapter.folder if located.adapter is not None else located.folder
    prefetched.models.append(name if local else f"{hub_name}@{folder.name}")
    return None


def _suite(name: str, into: Path, prefetched: Downloads) -> CimentoError | None:
    here = is_builtin(name) or expanded(name).exists()
    try:
        if not here and is_published(name):
            dataset = find_published(name)
            name = str(fetch(dataset, into / dataset.folder))
        find_suite(name)
    except StorageError:
        raise
    except CimentoError as error:
        return error
    prefetched.suites.append(name)
    return None


def _use_cache(folder: Path) -> None:
    """Have the hub's library keep its files there, even if it has read the variable at import."""
    os.environ["HF_HUB_CACHE"] = str(folder)
    constants = sys.modules.get("huggingface_hub.constants")
    if constants is not None:
        vars(constants)["HF_HUB_CACHE"] = str(folder)
