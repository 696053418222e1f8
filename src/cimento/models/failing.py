"""Errors that a model of transformers raises in its own forward pass, as errors of that model.

A pass may fail for texts of some lengths only, or in one batch: models check their input in their
own ways and raise whatever they like.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from types import FrameType
from typing import Any

from cimento.errors import CimentoError, ModelError

_OURS = str(Path(__file__).parent.parent)
_CALL = "_call_impl"
"""The function of torch from which every module's forward pass is called."""
_LONGEST = 300
SHOWN_CHARACTERS = 60


@contextmanager
def forward_errors(name: str, of: object) -> Iterator[None]:
    """A context in which an error in a forward pass is one of the model, with the texts it read.

    Lack of memory is told with sizes; errors of cimento's own code between the passes stay what
    they are.

    Args:
        name: name of the model.
        of: its tokenizer or its scorer, which turn what was read into text.

    Raises:
        DoesNotFitError: memory ran out, and could not be saved by smaller batches.
        ModelError: a forward pass failed.
    """
    try:
        yield
    except CimentoError:
        raise
    except Exception as error:
        _refuse_lack_of_memory(error, name, of)
        frames = [frame for frame, _ in walk_tb(error.__traceback__)]
        calls = [frame for frame in frames if _is_call(frame)]
        is_ours = bool(frames) and frames[-1].f_code.co_filename.startswith(_OURS)
        if not calls or is_ours:
            raise
        said = " ".join(str(error).split())[:_LONGEST]
        raise ModelError(
            where=f"model {name!r}{_read(calls[0], of)}",
            seen=f"its own forward pass failed ({type(error).__name__}: {said})",
            todo="Does the model take texts of this length? --batch-size=1 tries them one by one.",
        ) from error


def _refuse_lack_of_memory(error: Exception, name: str, of: object) -> None:
    """Raise the error for lack of memory, if a model of torch reports that."""
    if "torch" not in sys.modules:
        return
    import torch

    from cimento.models.hf.room import SMALLER, DoesNotFitError, asked_bytes, is_out_of_memory

    if not is_out_of_memory(error):
        return
    card = getattr(of, "card", None)
    device = getattr(card, "device", "") or ("cuda" if torch.cuda.is_available() else "cpu")
    raise DoesNotFitError(
        torch.device(device),
        f"what the model {name!r} computes",
        needed_bytes=asked_bytes(error),
        todo=SMALLER,
    ) from error


def _is_call(frame: FrameType) -> bool:
    """Whether a frame is the call of a module of torch."""
    return frame.f_code.co_name == _CALL and "torch" in Path(frame.f_code.co_filename).parts


def _read(call: FrameType, of: object) -> str:
    """The size of the batch that the first module read which was called, and its first text."""
    ids = call.f_locals.get("kwargs", {}).get("input_ids")
    if ids is None or getattr(ids, "ndim", 0) != 2:  # noqa: PLR2004  # lines and positions
        return ""
    lines, width = ids.shape
    size = f", {lines} x {width} tokens" if lines > 1 else f", {width} tokens"
    inside = getattr(of, "inside", None)
    tokenizer: Any = of if inside is None else inside().tokenizer
    if not hasattr(tokenizer, "decode") or not lines:
        return size
    text = tokenizer.decode(ids[0].tolist(), skip_special_tokens=True)
    shown = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
    return f"{size} ({shown!r})"
