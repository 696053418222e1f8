"""Models scored in this process by other engines: llama.cpp for GGUF files, and vLLM.

llama.cpp's OpenAI-compatible server scores prompts only in some versions and for some models. In
process (llama-cpp-python), the outputs of every position are available (``logits_all``), and
nothing is sent.

vLLM's offline engine scores many texts at a time on a GPU. Texts are tokenized as for transformers,
with the same tokens before a text. The engine gets token ids and returns the log-probabilities of
the prompt.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from cimento.errors import InputError, ModelError, TextTooLongError, UsageError, needing
from cimento.io.files import open_plain, reading
from cimento.models.base import ModelCard
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.models.gguf_header import MAGIC, trained_window
from cimento.models.hf.files import LocatedModel, locate
from cimento.models.hf.stored import stored_dtype
from cimento.models.settings import DtypeName, Policy

if TYPE_CHECKING:
    import numpy as np
    from transformers import PreTrainedTokenizerBase


WINDOW = 2048
"""Largest number of tokens read, if the model was trained for so many.

llama-cpp-python allocates the outputs for the whole vocabulary at each of them, so that the model's
full window could take tens of gigabytes.
"""


class Llama(Protocol):
    """The used interface of llama-cpp-python's class of this name."""

    scores: np.ndarray[tuple[int, int], np.dtype[np.float32]]

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:  # noqa: FBT001  # theirs
        """The tokens of a text; with `add_bos`, including those that the file puts around it."""

    def detokenize(self, tokens: list[int]) -> bytes:
        """The text of tokens."""

    def token_bos(self) -> int:
        """The token that begins a text; -1 where there is none."""

    def token_eos(self) -> int:
        """The token that ends a text; -1 where there is none."""

    def reset(self) -> None:
        """Forget the tokens read so far."""

    def eval(self, tokens: Sequence[int]) -> None:
        """Read tokens, after which `scores` has a row of outputs for each."""


def locate_gguf(path: Path) -> LocatedModel:
    """A GGUF file located by its name and content, without loading it.

    Raises:
        InputError: the file cannot be read, or is not a GGUF file.
    """
    with reading(path, todo="Give the path of a GGUF file."), open_plain(path) as file:
        magic = file.read(len(MAGIC))
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if magic != MAGIC:
        raise InputError(where=str(path), seen="is not a GGUF file", todo="Give the path of one.")
    return LocatedModel(name=path.name.removesuffix(".gguf"), folder=path, revision=digest)


def load_gguf(located: LocatedModel, *, policy: Policy, device: str) -> GgufScorer:
    """Load a GGUF file.

    Args:
        located: the file.
        policy: the policy of scoring.
        device: ``cpu``; any other device lets llama.cpp use a GPU if it was built for one.

    Raises:
        MissingDependencyError: llama-cpp-python is not installed.
        InputError: llama.cpp cannot read the file.
        UsageError: the policy requires something that this engine cannot do.
    """
    with needing("llama-cpp-python", extra="gguf", purpose=f"{located.folder}, a GGUF file"):
        import llama_cpp
    make = cast("Callable[..., Any]", llama_cpp.Llama)
    # llama.cpp reads on beyond it, and gives numbers that mean nothing.
    window = min(WINDOW, trained_window(located.folder) or WINDOW)
    try:
        model: Llama = make(
            model_path=str(located.folder),
            n_ctx=window,
            n_gpu_layers=0 if device == "cpu" else -1,
            logits_all=True,
            verbose=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            where=str(located.folder), seen=f"llama.cpp cannot read it ({error})"
        ) from error
    return GgufScorer(model, located, policy=policy, device=device, window=window)


class GgufScorer:
    """A `TextScorer` with a model of llama.cpp.

    Args:
        model: the loaded model.
        located: its file.
        policy: the policy, of which the BOS rule applies.
        device: the device that was chosen.
        window: largest number of tokens that it reads.

    Attributes:
        card: the card of the model.

    Raises:
        UsageError: the policy requires something that this engine cannot do.
    """

    def __init__(
        self, model: Llama, located: LocatedModel, *, policy: Policy, device: str, window: int
    ) -> None:
        _refuse(policy, seen="GGUF files are scored without it", todo="Leave it out.")
        self._model, self._window = model, window
        self._before = _before(model, policy)
        self.card = ModelCard(
            name=located.name,
            kind="causal",
            revision=located.revision,
            # The vocabulary is part of the file, so its hash covers the tokenizer.
            tokenizer=located.revision,
            # Weights stay as in the file, quantized or not; the policy has no influence on them.
            dtype="",
            device=device,
            bos=f"token {self._before[0]}" if self._before else "",
            window=window,
            details={"read_by": "llama-cpp-python"},
        )

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts one after the other; see `TextScorer`."""
        for text in texts:
            yield text, self._read(text)

    def _read(self, text: str) -> dict[int, float]:
        content = text.encode()
        ids = self._model.tokenize(content, add_bos=False, special=False)
        sequence = [*self._before, *ids]
        if len(sequence) > self._window:
            holds = f"the model's window holds {self._window}"
            if self._window == WINDOW:
                holds = f"{WINDOW} are read at most"
            raise TextTooLongError(
                where=f"text {text[:SHOWN_CHARACTERS]!r}",
                seen=f"it makes {len(sequence)} tokens with this tokenizer, and {holds}",
                todo="Shorten it, or use a model with a longer window.",
            )
        starts = self._starts(ids, content)
        self._model.reset()
        self._model.eval(sequence)
        by_start: dict[int, float] = {}
        for number, (token, start) in enumerate(zip(ids, starts, strict=True)):
            row = len(self._before) + number - 1
            value = math.nan if row < 0 else _logprob(self._model.scores[row], token)
            # A token that is only the mark of a blank begins at the same byte as the next one.
            by_start[start] = by_start[start] + value if start in by_start else value
        return by_start

    def _starts(self, ids: Sequence[int], content: bytes) -> list[int]:
        """The byte of the text at which each token begins.

        Raises:
            ModelError: the tokens do not spell the text.
        """
        ends = [len(self._model.detokenize(list(ids[:count]))) for count in range(1, len(ids) + 1)]
        whole = self._model.detokenize(list(ids))
        # SentencePiece vocabularies begin a text with the mark of a blank.
        shift = 1 if whole == b" " + content else 0
        if whole[shift:] != content:
            raise ModelError(
                where=f"text {content.decode()[:SHOWN_CHARACTERS]!r}",
                seen="the tokens of this model do not spell it, so they have no place in it",
                todo="Does its tokenizer change texts? Give cimento the folder of the original.",
            )
        return [max(end - shift, 0) for end in (0, *ends[:-1])]


def _before(model: Llama, policy: Policy) -> tuple[int, ...]:
    """The tokens before a text under a policy; the file decides which ones it adds."""
    begin, end = model.token_bos(), model.token_eos()
    if policy.bos == "none":
        return ()
    tokenized = model.tokenize(b"a", add_bos=True, special=False)[:1]
    if policy.bos != "bos-or-eos" and begin >= 0 and tokenized == [begin]:
        return (begin,)
    if policy.bos == "tokenizer":
        return ()
    return next(((token,) for token in (begin, end) if token >= 0), ())


def _logprob(outputs: np.ndarray[tuple[int], np.dtype[np.float32]], token: int) -> float:
    """The log-probability of a token, in float64."""
    import numpy as np

    wide = outputs.astype(np.float64)
    highest = wide.max()
    return float(wide[token] - highest - np.log(np.exp(wide - highest).sum()))


_TOGETHER = 256
"""Number of texts given to the engine at once, of which it makes batches."""


class Logprob(Protocol):
    """What is used of vLLM's class of this name."""

    logprob: float


class Output(Protocol):
    """What is used of vLLM's answer to one prompt."""

    prompt_logprobs: Sequence[Mapping[int, Logprob] | None] | None


class _VllmEngine(Protocol):
    """What is used of vLLM's class LLM."""

    def generate(
        self, prompts: Sequence[Mapping[str, object]], sampling_params: object, *, use_tqdm: bool
    ) -> Sequence[Output]:
        """An answer to each prompt, in order."""


def locate_vllm(name: str) -> tuple[LocatedModel, DtypeName]:
    """A model as vLLM's engine scores it, and the number format of its checkpoint.

    Its revision is not that of the model in transformers: kernels differ, and so do last digits.

    Raises:
        UsageError: there is no such model.
        ModelError: its files cannot be read.
    """
    located = locate(name)
    revision = hashlib.sha256(f"{located.revision} vllm".encode()).hexdigest()
    return replace(located, revision=revision), stored_dtype(located)


def load_vllm(located: LocatedModel, *, policy: Policy) -> VllmScorer:
    """Load a model into vLLM's engine.

    Args:
        located: its files.
        policy: how texts are scored.

    Raises:
        ModelError: vLLM cannot load it.
        UsageError: the policy requires something that this engine cannot do.
    """
    from cimento.models.hf.own_tokenizer import load_tokenizer
    from cimento.models.hf.warned import say

    seen, todo = "vLLM's engine is not given {} here", "Leave vllm: out; transformers can."
    _refuse(policy, seen=seen.format("this option"), todo=todo)
    if located.adapter is not None:
        where = f"--model=vllm:{located.name}"
        raise UsageError(where=where, seen=seen.format("an adapter"), todo=todo)
    import vllm

    make = cast("Callable[..., Any]", vllm.LLM)
    try:
        engine: _VllmEngine = make(
            model=str(located.folder), dtype=policy.dtype, enable_prefix_caching=False, seed=0
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            where=f"model {located.name!r}", seen=f"vLLM cannot load it ({error})"
        ) from error
    # The engine must generate at least one token, which is ignored.
    params = cast("Callable[..., object]", vllm.SamplingParams)(
        max_tokens=1, temperature=0.0, prompt_logprobs=1, detokenize=False
    )
    tokenizer, notes = load_tokenizer(located, policy, trusted=False)
    say(located.name, notes)
    return VllmScorer(engine, params, tokenizer, located, policy=policy)


def _refuse(policy: Policy, *, seen: str, todo: str) -> None:
    """Refuse settings that these engines do not support.

    Raises:
        UsageError: such a setting is given.
    """
    given = {
        "--leading-blank": policy.leading_blank,
        "--lowercase": policy.lowercase,
        "--window": policy.window != "refuse",
    }
    for option in (option for option, chosen in given.items() if chosen):
        raise UsageError(where=option, seen=seen, todo=todo)


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
        engine: _VllmEngine,
        params: object,
        tokenizer: PreTrainedTokenizerBase,
        located: LocatedModel,
        *,
        policy: Policy,
    ) -> None:
        from cimento.models.tokenizing import causal_frame

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
                    where=f"texts from {some[0][:SHOWN_CHARACTERS]!r}",
                    seen=f"vLLM refuses one ({error})",
                ) from error
            for text, (ids, starts), output in zip(some, cut, outputs, strict=True):
                yield text, self._scores(text, ids, starts, output)

    def _cut(self, text: str) -> tuple[list[int], list[int]]:
        """The tokens of a text, and the byte at which each begins.

        Raises:
            ModelError: the tokenizer gives no offsets, and its tokens do not add up to the text.
        """
        from cimento.models.tokenizing import tokenized

        [ids], [spans] = tokenized([text], self._tokenizer)
        starts = [len(text[:start].encode()) for start, _ in spans]
        # Blanks before the first token belong to it.
        return list(ids), [0, *starts[1:]][: len(starts)]

    def _scores(
        self, text: str, ids: Sequence[int], starts: Sequence[int], output: Output
    ) -> dict[int, float]:
        listed = output.prompt_logprobs or ()
        first = len(self._before)
        if len(listed) != first + len(ids):
            raise ModelError(
                where=f"text {text[:SHOWN_CHARACTERS]!r}",
                seen=f"vLLM gives {len(listed)} log-probabilities for {first + len(ids)} tokens",
                todo="This version of vLLM cannot be used; start it as a server (see the page"
                ' "Servers, GGUF files and n-gram models").',
            )
        scores: dict[int, float] = {}
        for number, (token, start) in enumerate(zip(ids, starts, strict=True), start=first):
            place = listed[number]
            if place is None and number:
                raise ModelError(
                    where=f"text {text[:SHOWN_CHARACTERS]!r}",
                    seen=f"vLLM gives token {number} no score",
                )
            value = math.nan if place is None else place[token].logprob
            # Tokens that are parts of one character begin at its first byte.
            scores[start] = scores.get(start, 0.0) + value
        return scores
