"""The registry of models, which opens names as sources that load a model when first needed.

A name is a folder, a model of the hub, or a prefix (``openai:``, ``kenlm:``, those of plug-ins)
followed by text for its opener. Names stored in files do not depend on the working folder and
contain no secrets.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Protocol, TypeAlias, TypeGuard

from cimento.errors import UsageError
from cimento.io.files import expanded
from cimento.io.plugins import PluginPackage, blamed, find_plugin, package_of_plugin
from cimento.models.base import ModelCard, Scorer, TextScorer, card_of
from cimento.models.checked import checked_scorer
from cimento.models.hf.arguments import OPTION, TOKENIZER_OPTION
from cimento.models.hf.files import LocatedModel, locate
from cimento.models.hf.names import DEMO_MODELS
from cimento.models.settings import Asking, Policy
from cimento.suites import JsonValue
from cimento.suites.stimuli import NO_CONTEXT

AnyScorer: TypeAlias = Scorer | TextScorer
"""A model that knows its tokens, or one that reports them only with their scores."""

# The user name and password, or the query, of a URL.
_SECRET = re.compile(r"(?<=//)[^/#]*@|\?[^#]*")
_OPENER = "a function"
_FILE_KINDS = frozenset({"replay", "kenlm", "gguf"})


class Source(Protocol):
    """The protocol of a source of answers."""

    @property
    def label(self) -> str:
        """The name and revision, known before anything is loaded."""

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """Everything that determines its answers, for the manifest."""

    def load(self) -> AnyScorer:
        """The model, which is loaded once."""


Opener: TypeAlias = Callable[[str, Asking], Source]


class ScorerSource:
    """The source of a language model, loaded when first needed and kept for the next suite.

    Args:
        label: name and revision, known before the model is loaded.
        inputs: everything that determines its answers.
        load: loads the model; called once, and again after `release`.
        asking: the settings of asking.
        located: the files of a model of transformers; None for every other.

    Attributes:
        asking: the settings of asking, with the number format of the model.
    """

    def __init__(
        self,
        label: str,
        inputs: dict[str, JsonValue],
        *,
        load: Callable[[], AnyScorer],
        asking: Asking,
        located: LocatedModel | None = None,
    ) -> None:
        self.label = label
        self.inputs = inputs
        self.named = ""
        self.located = located
        self.load = functools.cache(load)
        self.asking = asking.settled()

    def release(self) -> None:
        """Drop the reference to the model."""
        self.load.cache_clear()


def refuse_what_is_fixed(asking: Asking, *, ordered: bool = True) -> None:
    """Refuse settings that a recording has fixed.

    Args:
        asking: the settings.
        ordered: whether its sentences are known by their order, so that none can be left out.

    Raises:
        UsageError: such a setting is given.
    """
    asked = {
        "limit": (ordered and asking.limit is not None, "it answers for the whole suite, in order"),
        "context": (asking.context != NO_CONTEXT, "what came before its sentences is as it was"),
        "boundary": (
            asking.policy.boundary in ("word-start", "word-end"),
            "it does not say how probable the end of a word is",
        ),
        "store": (bool(asking.columns), "it holds nothing but surprisals"),
    }
    for option, (given, seen) in asked.items():
        if given:
            raise UsageError(
                where=f"--{option} with a recording", seen=seen, todo="Leave the option out."
            )


def shown_name(model: str | AnyScorer) -> str:
    """The name of a model for messages: as the user wrote it, without what may be a secret."""
    if isinstance(model, str):
        return without_secrets(model)
    # An object that is not a model has no card; `card_of` refuses it when it is opened.
    card = getattr(model, "card", None)
    return card.name if isinstance(card, ModelCard) else type(model).__name__


def open_source(model: str | Path | AnyScorer, asking: Asking) -> Source:
    """Open a source of answers by its name, or around a loaded model.

    Args:
        model: ``replay:FILE`` and the like, a model's name as for `locate`, or a model.
        asking: the settings of asking.

    Returns:
        The source, whose `load()` loads the model; until then nothing is loaded.

    Raises:
        CimentoError: there is no such file or model.

    Example:
        >>> open_source("demo-causal", Asking()).label.partition("@")[0]
        'demo-causal'
    """
    if isinstance(model, Path):
        model = str(model)
    if not isinstance(model, str):
        card = card_of(model)
        asked = checked_scorer(model)
        inputs: dict[str, JsonValue] = {"revision": card.revision, "kind": card.kind}
        settled = _as_it_is_made(model, asking.settled(card.dtype))
        return ScorerSource(card.label, inputs, load=lambda: asked, asking=settled)
    source = _opened(model, asking)
    if isinstance(source, ScorerSource):
        source.named = lasting_name(model)
    return source


def _as_it_is_made(model: AnyScorer, asking: Asking) -> Asking:
    """The settings of a model in memory, which are fixed when it is made.

    Raises:
        UsageError: other settings are given.
    """
    policy = getattr(model, "policy", None)
    if not isinstance(policy, Policy):
        return asking
    usual = Policy()
    for option in fields(Policy):
        made, asked = getattr(policy, option.name), getattr(asking.policy, option.name)
        if option.name not in ("model_args", "tokenizer_args") and asked not in (
            made,
            getattr(usual, option.name),
        ):
            raise UsageError(
                where=f"{option.name}={asked}",
                seen=f"the scorer was made with {option.name}={made}",
                todo="Make it with the policy that is wanted, or give the model itself.",
            )
    return replace(asking, policy=policy)


def asking_by(source: object, asking: Asking) -> Asking:
    """The settings of a source, with the number format of its model."""
    settled = getattr(source, "asking", None)
    return settled if isinstance(settled, Asking) else asking.settled()


def name_of(source: object) -> str:
    """The name under which a source can be opened again; empty for a model made in Python."""
    return str(getattr(source, "named", ""))


def _opened(model: str, asking: Asking) -> Source:
    prefix, _, rest = model.partition(":")
    opener = (OPENERS.get(prefix) or _plugged_opener(prefix)) if rest else None
    if asking.body and (opener is None or prefix == "kenlm"):
        raise UsageError(
            where="--body",
            seen=f"{model!r} is not a server, and has no requests that fields could be added to",
            todo="Leave it out, or run this model by itself.",
        )
    if opener is None:
        return _open_model(model, asking)
    if asking.tokenizer and prefix in OPENERS:
        raise UsageError(
            where="--tokenizer",
            seen=f"it is for models of transformers, and {prefix} models have none to be replaced",
            todo="Leave it out, or run this model by itself.",
        )
    given = {OPTION: asking.policy.model_args, TOKENIZER_OPTION: asking.policy.tokenizer_args}
    for option in (name for name, args in given.items() if args and prefix in OPENERS):
        raise UsageError(
            where=option,
            seen=f"these options are for transformers, which does not load {prefix} models",
            todo="Leave them out.",
        )
    _refuse_hardware(prefix, asking)
    # On a GPU, the default number format is that of the checkpoint.
    return opener(rest, asking if opener is _open_vllm else asking.settled())


_MADE_ELSEWHERE: Mapping[str, str] = {
    "openai": "a server has its own, from when it was started",
    "kenlm": "an n-gram model has none",
    "gguf": "the number format of the weights is in the file",
}
"""The models whose number format is not chosen here, and why."""


def _refuse_hardware(prefix: str, asking: Asking) -> None:
    """Refuse a number format or a device for models that are loaded elsewhere.

    Raises:
        UsageError: one is given.
    """
    refused = {}
    if prefix in _MADE_ELSEWHERE and asking.policy.dtype not in ("auto", "float32"):
        refused[f"--dtype={asking.policy.dtype}"] = _MADE_ELSEWHERE[prefix]
    if prefix == "openai" and asking.device not in ("auto", "cpu"):
        refused[f"--device={asking.device}"] = _MADE_ELSEWHERE[prefix]
    for where, seen in refused.items():
        todo = "Leave it out, or run this model by itself."
        raise UsageError(where=where, seen=seen, todo=todo)


def open_scorer(model: str | AnyScorer, asking: Asking) -> AnyScorer:
    """Load a model that scores any text.

    Raises:
        CimentoError: there is no such model, or it cannot be loaded.
    """
    return open_source(model, asking).load()


def _open_model(name: str, asking: Asking) -> Source:
    from cimento.models.hf.devices import is_cuda
    from cimento.models.hf.loading import load
    from cimento.models.hf.stored import stored_dtype

    located = locate(name, tokenizer=asking.tokenizer)
    if asking.policy.dtype == "auto" and is_cuda(asking.device):
        asking = asking.settled(stored_dtype(located))
    asking = asking.settled()
    of_tokenizer = asking.policy.tokenizer_args
    return ScorerSource(
        located.label,
        {
            "revision": located.revision,
            "kind": asking.kind,
            "model_args": dict(asking.policy.model_args),
            **({"tokenizer_args": dict(of_tokenizer)} if of_tokenizer else {}),
        },
        load=functools.partial(
            load,
            located,
            policy=asking.policy,
            kind=asking.kind,
            device=asking.device,
            limits=asking.limits,
        ),
        asking=asking,
        located=located,
    )


def _open_server(address: str, asking: Asking) -> Source:
    from cimento.models.server.model import connect

    server = connect(
        address,
        policy=asking.policy,
        concurrency=asking.concurrency,
        timeout_s=asking.timeout_s,
        fields=asking.body,
    )
    return open_source(server, asking)


def _causal_source(located: LocatedModel, asking: Asking, load: Callable[..., AnyScorer]) -> Source:
    """The source of a causal model that another library loads, under the policy of the settings."""
    inputs: dict[str, JsonValue] = {"revision": located.revision, "kind": "causal"}
    load = functools.partial(load, located, policy=asking.policy)
    return ScorerSource(located.label, inputs, load=load, asking=asking)


def _open_ngrams(file: str, asking: Asking) -> Source:
    from cimento.models.ngram import load_ngrams, locate_ngrams

    return _causal_source(locate_ngrams(expanded(file)), asking, load_ngrams)


def _open_gguf(file: str, asking: Asking) -> Source:
    from cimento.models.local_engines import load_gguf, locate_gguf

    load = functools.partial(load_gguf, device=asking.device)
    return _causal_source(locate_gguf(expanded(file)), asking, load)


def _is_server(prefix: str, *, command: str, port: int, package: str = "") -> Opener:
    """An opener that explains how to use a server program, which cimento does not start.

    Args:
        prefix: prefix of the models' names.
        command: what starts a server, before the model's name.
        port: port of the server.
        package: package with which no server would be needed; empty if there is none.
    """
    seen, begin = "it is asked as a server, which cimento does not start", "Start it"
    if package:
        seen = f"the package {package} is not installed here, which would load it"
        begin = f"Install it (pip install {package}), or start a server"

    def refuse(name: str, asking: Asking) -> Source:  # noqa: ARG001  # an opener
        raise UsageError(
            where=f"--model={prefix}:{name}",
            seen=seen,
            todo=f"{begin}: `{command} {shlex.quote(name)} --port {port}`. Then give"
            f" --model=openai:http://127.0.0.1:{port}/v1#{name}",
        )

    return refuse


def _open_vllm(name: str, asking: Asking) -> Source:
    if importlib.util.find_spec("vllm") is None:
        return _is_server("vllm", command="vllm serve", port=8000, package="vllm")(name, asking)
    from cimento.models.local_engines import load_vllm, locate_vllm

    located, dtype = locate_vllm(name)
    return _causal_source(located, asking.settled(dtype), load_vllm)


def _refuse_ollama(name: str, asking: Asking) -> Source:  # noqa: ARG001  # an opener
    """Refuse to score with Ollama, which gives no log-probabilities of a prompt.

    Raises:
        UsageError: always.
    """
    raise UsageError(
        where=f"--model=ollama:{name}",
        seen="Ollama gives no probabilities of the texts that it is sent, only of what it writes:"
        " it cannot score sentences",
        todo="To score, give the model's GGUF file as gguf:FILE, or the original's name on the hub."
        " For replies (stories, blanks): `ollama serve`, and"
        f" --model=openai:http://127.0.0.1:11434/v1#{name} --set answer=generate.",
    )


def _plugged_opener(prefix: str) -> Opener | None:
    """The opener of a plug-in for models of a prefix; None without one."""
    opener = find_plugin("cimento.models", prefix, expected=_OPENER, is_right=_is_opener)
    if opener is None:
        return None

    def opened(rest: str, asking: Asking) -> Source:
        with blamed("cimento.models", prefix):
            source = opener(rest, asking)
            if not hasattr(source, "load"):
                raise TypeError(f"it gave {type(source).__name__!r} and not a source")
            return source

    return opened


def prefix_of(name: str) -> str:
    """The prefix of a model's name that a plug-in may have; empty where there is none."""
    prefix, _, rest = name.partition(":")
    return prefix if rest and prefix not in OPENERS else ""


def package_of_models(prefix: str) -> PluginPackage | None:
    """The package of the plug-in for models of a prefix; None where no package has one."""
    return package_of_plugin("cimento.models", prefix, expected=_OPENER, is_right=_is_opener)


def _is_opener(value: object) -> TypeGuard[Opener]:
    return callable(value)


def _refuse_recording(file: str, asking: Asking) -> Source:  # noqa: ARG001  # an opener
    """Refuse a recording, which answers only for its suite (`cimento.engine.requests`).

    Raises:
        UsageError: always.
    """
    raise UsageError(
        where="--model",
        seen="recorded surprisals answer only for the suite they were recorded on",
        todo="Give a model.",
    )


OPENERS: dict[str, Opener] = {
    "replay": _refuse_recording,
    "openai": _open_server,
    "kenlm": _open_ngrams,
    "gguf": _open_gguf,
    "vllm": _open_vllm,
    "sglang": _is_server(
        "sglang", command="python -m sglang.launch_server --model-path", port=30000
    ),
    "ollama": _refuse_ollama,
}
"""The openers of sources by prefix of a name (``replay:FILE``); plug-ins add others."""


def without_secrets(model: str) -> str:
    """A model's name as the user wrote it, without what may be a secret."""
    return _SECRET.sub("", model) if "//" in model.partition(":")[2] else model


def lasting_name(model: str) -> str:
    """A model's name that works from any folder, with absolute paths and without secrets."""
    prefix, _, rest = model.partition(":")
    if rest and prefix in _FILE_KINDS:
        return f"{prefix}:{expanded(rest).resolve()}"
    shown = without_secrets(model)
    folder = expanded(shown)
    return str(folder.resolve()) if shown not in DEMO_MODELS and folder.is_dir() else shown


def reason_to_name(model: str, *, plugged: bool = True) -> str:
    """The reason why a model must be named on the command line and not in a file.

    Manifests and run files may come from others. The models they name may only be read as data (a
    folder or a hub's model without its code, a recording).

    Args:
        model: the name in a file.
        plugged: whether models of plug-ins need it too. In a run file, which its user can read,
            they do not, but an address does.

    Returns:
        What naming it would trust; empty if nothing.
    """
    prefix, _, rest = model.partition(":")
    if not rest or prefix == "replay":
        return ""
    if prefix == "openai" or "//" in rest:
        return "a server, which would be sent texts and, where there is one, the API key"
    if prefix == "kenlm":
        return "a file that KenLM may read without checking it"
    if prefix == "gguf":
        return "a file that llama.cpp may read without checking it"
    if not plugged:
        return ""
    opener = find_plugin("cimento.models", prefix, expected=_OPENER, is_right=_is_opener)
    return "a model of a plug-in" if opener else ""
