"""The reasons why a model cannot be asked, as far as its files tell before it is loaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cimento.engine.handle import ModelHandle
from cimento.engine.requests import Choose, Reply, Request, Score
from cimento.errors import CimentoError, TextTooLongError
from cimento.models.hf.arguments import ALLOW_PICKLE, refuse_only_pickles
from cimento.models.hf.shards import refuse_only_shards
from cimento.models.registry import ScorerSource
from cimento.models.tokenizing import shortened

if TYPE_CHECKING:
    from cimento.models.hf.loading import ModelFacts

UNCOUNTED = "its tokens cannot be counted without loading it"
"""The problem of a plan whose model can be asked."""
_SHORTER = "Ask with shorter texts or fewer examples, or a model with a longer window."
_SLIDING = "Shorten it, use a model with a longer window, or say --window=sliding."


def obstacle(model: ModelHandle, requests: Iterable[Request]) -> str:
    """The reason why a model cannot answer some requests; empty if none is known.

    Args:
        model: the model; only models of transformers are looked at.
        requests: everything that it would be asked.
    """
    try:
        sized = model.sized
        if sized is None:
            return ""
        located = model.source.located if isinstance(model.source, ScorerSource) else None
        policy = model.scoring.policy
        if located is not None:
            refuse_only_shards(located.folder, name=located.name)
        if located is not None and policy.model_args.get(ALLOW_PICKLE) is not True:
            refuse_only_pickles(located.folder, name=located.name)
        if policy.window != "sliding":
            _refuse_too_long(requests, sized)
    except CimentoError as error:
        return str(error)
    return ""


def _refuse_too_long(requests: Iterable[Request], sized: ModelFacts) -> None:
    """Refuse the first request with more tokens than the window of the model holds.

    Raises:
        TextTooLongError: there is one.
    """
    window = sized.window
    if window is None:
        return
    for request, text in ((one, text) for one in requests for text in _texts(one)):
        # No tokenizer makes more tokens of a text than it has bytes.
        if len(text.encode()) <= window:
            continue
        n = len(sized.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
        if n > window:
            raise TextTooLongError(
                where=f"text {shortened(text)!r}",
                seen=f"it makes {n} tokens, and the model's window holds {window}",
                todo=_SLIDING if isinstance(request, Score) else _SHORTER,
            )


def _texts(request: Request) -> Iterable[str]:
    """The texts that a model reads at once for a request; none where they are not known."""
    match request:
        case Score():
            yield f"{request.context} {request.text}" if request.context else request.text
        case Choose():
            yield from (request.prompt + option for option in request.options)
        case Reply() if request.prompt:
            yield request.prompt
