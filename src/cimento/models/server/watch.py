"""The watch over a server's model: its answers count once the probes after them are as before.

A server may load another model while a run asks it, and says nothing of it. So answers are held
back until the probes have been asked for again. If another model gave those, nobody knows which of
the two gave what came since the probes before, and none of it is used.
"""

from __future__ import annotations

import time
import urllib.error
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

from cimento.errors import ChangedModelError, CimentoError, ModelError, counted
from cimento.io.deadline import TooSlowError
from cimento.io.transport import TransientError
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.models.server import Refusal
from cimento.models.server.answers import JsonObject
from cimento.models.server.http import NotThereError, Server
from cimento.models.server.identity import Fingerprint

CHECKED_EVERY_S = 300.0
"""Seconds after which the probes are asked for again, even if more answers are to come."""

_REPLY_ATTEMPTS = 3
"""Written replies differ by chance, where two tokens are about as probable; so they are asked again
before a model counts as another one."""

_REFUSES = frozenset({400, 404, 405, 422, 501})
"""The statuses of a server that does not take what it took before; others may pass."""

AnswerT = TypeVar("AnswerT")


@dataclass(kw_only=True)
class Watch:
    """The watch over one model on a server.

    Attributes:
        server: the server, which notes the names that its answers carry.
        model: name of the model.
        expected: what it answered to the probes at the start.
        entry: what the server reported about it; empty where it reports nothing.
        probe: asks for the probes again.
        listed: asks what the server reports about all its models, by name.
        every_s: seconds after which the probes are asked for again.
        clock: the time in seconds, which never goes back.
        kept: number of answers that counted.
        changed: the error of a model that has changed; None as long as it has not.
    """

    server: Server
    model: str
    expected: Fingerprint
    entry: JsonObject
    probe: Callable[[], Fingerprint]
    listed: Callable[[], Mapping[str, JsonObject]]
    every_s: float = CHECKED_EVERY_S
    clock: Callable[[], float] = time.monotonic
    kept: int = 0
    changed: ChangedModelError | None = field(default=None, init=False)

    def believed(self, answers: Generator[AnswerT]) -> Generator[AnswerT]:
        """Those of some answers after which the model was the same as at the start.

        If the server answers no probes any more, nothing says that it has changed: its answers are
        kept, and the error is raised after them.

        Raises:
            ChangedModelError: another model answers.
            ModelError: an answer failed, or the probes.
        """
        if self.changed is not None:
            raise self.changed
        held: list[AnswerT] = []
        failure: CimentoError | KeyboardInterrupt | None = None
        due_s = self.clock() + self.every_s
        try:
            # Nothing more is sent once the model is known to have changed.
            with closing(answers):
                for answer in answers:
                    held.append(answer)
                    if self.clock() >= due_s:
                        self._check(len(held))
                        yield from self._counted(held)
                        due_s = self.clock() + self.every_s
        except ChangedModelError:
            raise
        except (CimentoError, KeyboardInterrupt) as error:
            failure = error
        if held:
            try:
                self._check(len(held))
            except ChangedModelError:
                raise
            except CimentoError as error:
                failure = failure or error
            yield from self._counted(held)
        if failure is not None:
            raise failure

    def _counted(self, held: list[AnswerT]) -> Iterator[AnswerT]:
        self.kept += len(held)
        counting, held[:] = held[:], []
        yield from counting

    def _check(self, n_held: int) -> None:
        """Ask for the probes again.

        Args:
            n_held: number of answers since they were asked for.

        Raises:
            ChangedModelError: another model answers.
            ModelError: none does.
        """
        what = self._difference()
        if what is None:
            return
        self.changed = ChangedModelError(
            where=f"{self.server.where}, model {self.model!r}",
            seen=f"another model answers than at the start of the run: {what}",
            todo=f"{counted(n_held, 'answer')} since it was last seen to be the same"
            f" {'is' if n_held == 1 else 'are'} not used, and"
            f" {counted(self.kept, 'answer')} from before {'is' if self.kept == 1 else 'are'} kept."
            " Once the server no longer changes, run again: each model has a run of its own.",
        )
        raise self.changed

    def _difference(self) -> str | None:
        """What differs from the start, as a clause; None where nothing does."""
        fresh = None
        try:
            fresh = self._probed()
            entries = self.listed() if self.entry else {}
        except ModelError as error:
            if _may_pass(error):
                raise
            entries = {}
            refused = f"it does not answer the fixed probes as it did ({error.seen})"
        if (names := self._names()) is not None:
            return names
        if fresh is None:
            return refused
        if entries and (reported := self._reported(entries)) is not None:
            return reported
        return None if fresh.is_like(self.expected) else fresh.difference(self.expected)

    def _probed(self) -> Fingerprint:
        fresh = self.probe()
        for _ in range(_REPLY_ATTEMPTS - 1):
            if fresh.scores or fresh.is_like(self.expected):
                break
            fresh = self.probe()
        return fresh

    def _names(self) -> str | None:
        for names in self.server.names.values():
            if len(names) > 1:
                first, *_, last = names
                return f"its answers came from {_short(first)} and now come from {_short(last)}"
        return None

    def _reported(self, entries: Mapping[str, JsonObject]) -> str | None:
        now = entries.get(self.model) or entries.get(f"{self.model}:latest")
        if now is None:
            return f"it no longer lists this model, but {', '.join(map(_short, entries))}"
        for key, value in self.entry.items():
            if now.get(key) != value:
                told = _short(str(now.get(key, "")))
                return f"it reports {key} {told} and reported {_short(str(value))}"
        return None


def _short(words: str) -> str:
    return repr(words[:SHOWN_CHARACTERS])


def _may_pass(error: ModelError) -> bool:
    """Whether a server gives no answer now, which does not say that its model is another one."""
    while isinstance(error.__cause__, ModelError):
        error = error.__cause__
    cause = error.__cause__
    if isinstance(cause, TransientError | TooSlowError):
        return True
    if isinstance(error, NotThereError):
        return False
    if isinstance(cause, Refusal):
        return cause.status not in _REFUSES
    return isinstance(cause, urllib.error.HTTPError) and cause.code not in _REFUSES
