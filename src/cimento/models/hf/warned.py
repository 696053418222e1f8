"""What transformers warns of while it loads a model, as sentences for the user.

It warns on its log and by `warnings`, in tables and at length, between progress bars. Here every
warning becomes one line. What it says about other matters than the scores is left out by where it
comes from, never by its words, so that a new warning is always heard.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cimento.errors import counted

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_LOG = logging.getLogger("cimento.models")

WRONG_PATTERN = "_patch_mistral_regex"
"""The function of transformers that warns of a wrong pattern in a tokenizer, if it is not fixed."""

FIX_PATTERN = "fix_mistral_regex"
"""The argument of a tokenizer that takes the right pattern instead."""

_REPORT = "loading_report"
"""The module that draws a table of keys, which `on_weights` says from the keys themselves."""

_GENERATION_LOGGERS = "transformers.generation"
"""The loggers about settings of generated text, which cimento chooses itself."""

_ABOUT_CODE = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Kinds of warnings about programs, which change no score."""

_COLOR = re.compile(r"\x1b\[[0-9;]*m")
_NUMBERS = re.compile(r"(?<![^.])\d+(?![^.])")
_SHOWN = 300
_SHOWN_KEYS = 3
_SAMPLES = ("eBay", "McDonald", "iPhone", "L'Aquila", "don't", "1234", "NaOH", "a/b", "città")

_ONE_AT_A_TIME = threading.RLock()
"""Held while the library's log is led elsewhere, which is the same for all threads."""


class _Ears(logging.Handler):
    """A handler that keeps warnings and worse, apart from those that change no score."""

    def __init__(self, heard: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        if record.module == _REPORT or record.name.startswith(_GENERATION_LOGGERS):
            return
        is_pattern = record.funcName == WRONG_PATTERN
        self._heard.append(WRONG_PATTERN if is_pattern else _line(record.getMessage()))


def _line(text: str) -> str:
    """A warning in one line, shortened."""
    line = " ".join(_COLOR.sub("", text).split())
    return "transformers warns: " + (line if len(line) <= _SHOWN else f"{line[:_SHOWN]} ...")


@contextlib.contextmanager
def listening() -> Iterator[list[str]]:
    """Keep the library's progress bars and warnings off the terminal.

    Yields:
        The warnings, one line each and each once; complete at the end of the block. The warning of
        a tokenizer's pattern is `WRONG_PATTERN` alone.
    """
    import transformers

    control: Any = transformers.utils.logging
    logger = logging.getLogger("transformers")
    heard: list[str] = []
    said: list[str] = []
    with _ONE_AT_A_TIME:
        control.disable_progress_bar()
        level = control.get_verbosity()
        before, spreads, ears = logger.handlers[:], logger.propagate, _Ears(heard)
        # What is said once for each process would not be heard of the next model.
        getattr(control.warning_once, "cache_clear", lambda: None)()
        try:
            logger.propagate = False
            logger.setLevel(min(level, logging.WARNING))
            # A user who asked the library to say more gets it from the library.
            logger.handlers[:] = [*(before if level < logging.WARNING else []), ears]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield said
            heard += [
                _line(str(one.message))
                for one in caught
                if not issubclass(one.category, _ABOUT_CODE)
            ]
        finally:
            logger.handlers[:] = before
            logger.propagate = spreads
            logger.setLevel(level)
            said += dict.fromkeys(heard)


def say(name: str, notes: Sequence[str]) -> None:
    """Write notes on a model to the log, which is standard error unless it is set up otherwise."""
    for note in notes:
        _LOG.warning("warning: model %r: %s", name, note)


def on_weights(info: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    """Notes on weights in the files that the model does not have.

    Args:
        info: what transformers says of loading: the names of weights by what became of them.
        known: the names of the weights that the model has.
    """
    unused = sorted(map(str, info.get("unexpected_keys", ())))
    if not unused:
        return []
    kinds = {_NUMBERS.sub("#", name) for name in known}
    of_layers = [name for name in unused if _is_of_known_kind(name, kinds)]
    shown = ", ".join((of_layers or unused)[:_SHOWN_KEYS])
    are = counted(len(unused), "weight in its files is", "weights in its files are")
    text = f"{are} not used: {shown}{' and others' if len(unused) > _SHOWN_KEYS else ''}"
    if of_layers:
        text += (
            ". The model has others of the same kind: does its config.json give the right number"
            " of layers or experts? Scores of a part of a model are wrong"
        )
    return [text]


def _is_of_known_kind(name: str, kinds: set[str]) -> bool:
    """Whether the model has weights of this name but for a number, as of another layer."""
    kind = _NUMBERS.sub("#", name)
    return "#" in kind and kind in kinds


def on_pattern(wrong: PreTrainedTokenizerBase, right: PreTrainedTokenizerBase) -> list[str]:
    """A note on a tokenizer whose pattern transformers calls wrong; none where nothing differs.

    Args:
        wrong: the tokenizer as its files have it.
        right: the same with the right pattern.
    """
    if wrong.backend_tokenizer.to_str() == right.backend_tokenizer.to_str():
        return []
    numbers = [(text, len(wrong.tokenize(text)), len(right.tokenize(text))) for text in _SAMPLES]
    differ = [f"{text}: {one} instead of {other}" for text, one, other in numbers if one != other]
    tokens = f" (tokens of {differ[0]})" if differ else ""
    note = (
        "its tokenizer splits words by a pattern that transformers calls incorrect for models of"
        f" this family{tokens}, so that its scores are not those of the model as it was trained:"
        f" give --tokenizer-args {FIX_PATTERN}=true, or {FIX_PATTERN}=false to keep it as it is"
    )
    return [note]
