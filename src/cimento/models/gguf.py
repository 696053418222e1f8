"""Models in GGUF files, scored in this process by llama.cpp through llama-cpp-python.

Its server of OpenAI's form gives scores of a prompt only in some versions and with some models; in
process the outputs of every position are there (``logits_all``), and nothing is sent anywhere.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from cimento.errors import InputError, MissingDependencyError, ModelError, UsageError
from cimento.io.files import open_plain
from cimento.models.base import ModelCard, Policy
from cimento.models.hf.files import Located

if TYPE_CHECKING:
    import numpy as np

_MAGIC = b"GGUF"
_SHOWN = 60

WINDOW = 2048
"""Tokens that are read at most. llama-cpp-python sets aside the outputs for the whole vocabulary at
each of them, so that the window of the model's training would take tens of gigabytes."""


class Llama(Protocol):
    """What is used of llama-cpp-python's class of this name."""

    scores: np.ndarray[tuple[int, int], np.dtype[np.float32]]

    def tokenize(self, text: bytes, add_bos: bool, special: bool) -> list[int]:  # noqa: FBT001  # theirs
        """The tokens of a text; with `add_bos`, those that the file says are put around it."""

    def detokenize(self, tokens: list[int]) -> bytes:
        """The text of tokens."""

    def token_bos(self) -> int:
        """The token that begins a text; -1 where there is none."""

    def token_eos(self) -> int:
        """The token that ends one; -1 where there is none."""

    def reset(self) -> None:
        """Forget what was read."""

    def eval(self, tokens: Sequence[int]) -> None:
        """Read tokens; `scores` then has a row of outputs for each."""


def locate_gguf(path: Path) -> Located:
    """A GGUF file, by name and content, without loading it.

    Raises:
        InputError: it cannot be read, or is no GGUF file.
    """
    try:
        with open_plain(path) as file:
            magic = file.read(len(_MAGIC))
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Give the path of a GGUF file.",
        ) from error
    if magic != _MAGIC:
        raise InputError(where=str(path), seen="is no GGUF file", todo="Give the path of one.")
    return Located(name=path.name.removesuffix(".gguf"), folder=path, revision=digest)


def load_gguf(located: Located, *, policy: Policy, device: str) -> GgufScorer:
    """Load a GGUF file.

    Args:
        located: the file.
        policy: how texts are scored.
        device: ``cpu``; anything else lets llama.cpp use a GPU where it was built for one.

    Raises:
        MissingDependencyError: llama-cpp-python is not installed.
        InputError: llama.cpp cannot read the file.
        UsageError: the policy asks for what cannot be done here.
    """
    try:
        import llama_cpp
    except ImportError as error:
        raise MissingDependencyError(
            package="llama-cpp-python", extra="gguf", purpose=f"{located.folder}, a GGUF file"
        ) from error
    make = cast("Callable[..., Any]", llama_cpp.Llama)
    try:
        model: Llama = make(
            model_path=str(located.folder),
            n_ctx=WINDOW,
            n_gpu_layers=0 if device == "cpu" else -1,
            logits_all=True,
            verbose=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            where=str(located.folder), seen=f"llama.cpp cannot read it ({error})"
        ) from error
    return GgufScorer(model, located, policy=policy, device=device)


class GgufScorer:
    """Scores texts with a model of llama.cpp; a `TextScorer`.

    Args:
        model: loaded.
        located: its file.
        policy: its BOS rule is kept.
        device: as it was chosen.

    Attributes:
        card: what is known about the model.

    Raises:
        UsageError: the policy asks for what cannot be done here.
    """

    def __init__(self, model: Llama, located: Located, *, policy: Policy, device: str) -> None:
        asked = {"--leading-blank": policy.leading_blank, "--window": policy.window != "refuse"}
        for option, given in asked.items():
            if given:
                raise UsageError(
                    where=option, seen="GGUF files are scored without it", todo="Leave it out."
                )
        self._model = model
        self._before = _before(model, policy)
        self.card = ModelCard(
            name=located.name,
            kind="causal",
            revision=located.revision,
            # The vocabulary is in the file itself.
            tokenizer=located.revision,
            # Quantised or not, weights are as the file has them; the policy says nothing of it.
            dtype="",
            device=device,
            bos=f"token {self._before[0]}" if self._before else "",
            window=WINDOW,
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
        if len(sequence) > WINDOW:
            raise ModelError(
                where=f"text {text[:_SHOWN]!r}",
                seen=f"it makes {len(sequence)} tokens, and {WINDOW} are read at most",
                todo="Shorten it.",
            )
        starts = self._starts(ids, content)
        self._model.reset()
        self._model.eval(sequence)
        found: dict[int, float] = {}
        for number, (token, start) in enumerate(zip(ids, starts, strict=True)):
            row = len(self._before) + number - 1
            value = math.nan if row < 0 else _logprob(self._model.scores[row], token)
            # A token that is only the mark of a blank begins where the next one does.
            found[start] = found[start] + value if start in found else value
        return found

    def _starts(self, ids: Sequence[int], content: bytes) -> list[int]:
        """The byte of the text that each token begins at.

        Raises:
            ModelError: the tokens do not spell the text.
        """
        ends = [len(self._model.detokenize(list(ids[:count]))) for count in range(1, len(ids) + 1)]
        whole = self._model.detokenize(list(ids))
        # Vocabularies of SentencePiece begin a text with the mark of a blank.
        shift = 1 if whole == b" " + content else 0
        if whole[shift:] != content:
            raise ModelError(
                where=f"text {content.decode()[:_SHOWN]!r}",
                seen="the tokens of this model do not spell it, so they have no place in it",
                todo="Does its tokenizer change texts? Give cimento the folder of the original.",
            )
        return [max(end - shift, 0) for end in (0, *ends[:-1])]


def _before(model: Llama, policy: Policy) -> tuple[int, ...]:
    """The tokens before a text; see `Policy`. What the file puts there is asked of it."""
    begin, end = model.token_bos(), model.token_eos()
    if policy.bos == "none":
        return ()
    own = model.tokenize(b"a", add_bos=True, special=False)[:1]
    if policy.bos != "bos-or-eos" and begin >= 0 and own == [begin]:
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
