"""Models scored in this process by vLLM's offline engine, many texts at a time on a GPU.

Texts are tokenized as for transformers, with the same tokens before a text. The engine gets token
ids and returns the log-probabilities of the prompt.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from cimento.errors import ModelError, UsageError
from cimento.models.base import ModelCard, Policy
from cimento.models.dtypes import DtypeName
from cimento.models.hf.files import Located, locate
from cimento.models.hf.headers import stored_dtype

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_SHOWN = 60
_TOGETHER = 256
"""Number of texts given to the engine at once, of which it makes batches."""


class Logprob(Protocol):
    """What is used of vLLM's class of this name."""

    logprob: float


class Output(Protocol):
    """What is used of vLLM's answer to one prompt."""

    prompt_logprobs: Sequence[Mapping[int, Logprob] | None] | None


class Engine(Protocol):
    """What is used of vLLM's class LLM."""

    def generate(
        self,
        prompts: Sequence[Mapping[str, object]],
        sampling_params: object,
        *,
        use_tqdm: bool,
    ) -> Sequence[Output]:
        """An answer to each prompt, in order."""


def locate_vllm(name: str) -> tuple[Located, DtypeName]:
    """A model as vLLM's engine scores it, and the number format of its checkpoint.

    Its revision is not that of the model in transformers: kernels differ, and so do last digits.

    Raises:
        UsageError: there is no such model.
        ModelError: its files cannot be read.
    """
    located = locate(name)
    revision = hashlib.sha256(f"{located.revision} vllm".encode()).hexdigest()
    return replace(located, revision=revision), stored_dtype(located)


def load_vllm(located: Located, *, policy: Policy) -> VllmScorer:
    """Load a model into vLLM's engine.

    Args:
        located: its files.
        policy: how texts are scored.

    Raises:
        ModelError: vLLM cannot load it.
        UsageError: the policy requires something that this engine cannot do.
    """
    from cimento.models.hf.loading import load_tokenizer

    _refuse(located, policy)
    import vllm

    make = cast("Callable[..., Any]", vllm.LLM)
    try:
        engine: Engine = make(
            model=str(located.folder),
            dtype=policy.dtype,
            enable_prefix_caching=False,
            seed=0,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            where=f"model {located.name!r}", seen=f"vLLM cannot load it ({error})"
        ) from error
    # The engine must generate at least one token, which is ignored.
    params = cast("Callable[..., object]", vllm.SamplingParams)(
        max_tokens=1, temperature=0.0, prompt_logprobs=1, detokenize=False
    )
    return VllmScorer(engine, params, load_tokenizer(located), located, policy=policy)


def _refuse(located: Located, policy: Policy) -> None:
    """Refuse settings that this engine does not support.

    Raises:
        UsageError: such a setting is given.
    """
    refused = {
        "--leading-blank": policy.leading_blank,
        "--lowercase": policy.lowercase,
        "--window": policy.window != "refuse",
        f"--model vllm:{located.name}": located.adapter is not None,
    }
    for option in (name for name, chosen in refused.items() if chosen):
        what = "an adapter" if option.startswith("--model") else "this option"
        raise UsageError(
            where=option,
            seen=f"vLLM's engine is not given {what} here",
            todo="Leave vllm: out; transformers can.",
        )


class VllmScorer:
    """A `TextScorer` with vLLM's engine.

    Args:
        engine: the loaded engine.
        params: its sampling parameters for every text.
        tokenizer: the tokenizer of the model, as defined by its file.
        located: its files.
        policy: the policy, of which the BOS rule applies.

    Attributes:
        card: the card of the model.
    """

    def __init__(
        self,
        engine: Engine,
        params: object,
        tokenizer: PreTrainedTokenizerBase,
        located: Located,
        *,
        policy: Policy,
    ) -> None:
        from cimento.models.tokens.tokenizing import causal_frame

        self._engine, self._params, self._tokenizer = engine, params, tokenizer
        self._before = causal_frame(tokenizer, policy.bos).before
        self.card = ModelCard(
            name=located.name,
            kind="causal",
            revision=located.revision,
            tokenizer=located.revision,
            dtype=policy.dtype,
            device="vllm",
            bos="".join(map(str, tokenizer.convert_ids_to_tokens(list(self._before)))),
            details={"read_by": "vllm"},
        )

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts, many at a time; see `TextScorer`."""
        for begin in range(0, len(texts), _TOGETHER):
            some = texts[begin : begin + _TOGETHER]
            cut = [self._cut(text) for text in some]
            prompts = [{"prompt_token_ids": [*self._before, *ids]} for ids, _ in cut]
            try:
                outputs = self._engine.generate(prompts, self._params, use_tqdm=False)
            except ValueError as error:
                raise ModelError(
                    where=f"texts from {some[0][:_SHOWN]!r}", seen=f"vLLM refuses one ({error})"
                ) from error
            for text, (ids, starts), output in zip(some, cut, outputs, strict=True):
                yield text, self._scores(text, ids, starts, output)

    def _cut(self, text: str) -> tuple[list[int], list[int]]:
        """The tokens of a text, and the byte at which each begins."""
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        spans = cast("Sequence[tuple[int, int]]", found["offset_mapping"])
        starts = [len(text[:start].encode()) for start, _ in spans]
        # Blanks before the first token belong to it.
        return list(cast("Sequence[int]", found["input_ids"])), [0, *starts[1:]][: len(starts)]

    def _scores(
        self, text: str, ids: Sequence[int], starts: Sequence[int], output: Output
    ) -> dict[int, float]:
        listed = output.prompt_logprobs or ()
        first = len(self._before)
        if len(listed) != first + len(ids):
            raise ModelError(
                where=f"text {text[:_SHOWN]!r}",
                seen=f"vLLM gives {len(listed)} log-probabilities for {first + len(ids)} tokens",
                todo="This version of vLLM cannot be used; start it as a server (docs/servers.md).",
            )
        scores: dict[int, float] = {}
        for number, (token, start) in enumerate(zip(ids, starts, strict=True), start=first):
            place = listed[number]
            if place is None and number:
                raise ModelError(
                    where=f"text {text[:_SHOWN]!r}", seen=f"vLLM gives token {number} no score"
                )
            value = math.nan if place is None else place[token].logprob
            # Tokens that are parts of one character begin at its first byte.
            scores[start] = scores.get(start, 0.0) + value
        return scores
