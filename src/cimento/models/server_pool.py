"""Asking a server several things at once; what is answered is handed out as it comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from cimento.errors import CimentoError

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")


def ask_at_once(
    asked: Sequence[Asked],
    ask: Callable[[Asked], Answer],
    *,
    concurrency: int,
    stop: Callable[[], None],
) -> Iterator[tuple[Asked, Answer]]:
    """Ask for several things, some at a time; each is yielded as soon as it is answered.

    Args:
        asked: what is asked.
        ask: asks for one of them; may wait and try again.
        concurrency: how many are under way at once.
        stop: ends all waiting, where nobody wants the answers any more.

    Raises:
        CimentoError: one could not be answered. Nothing new was sent from then on, and all that
            was under way has been yielded.
    """
    failure: CimentoError | None = None
    with ThreadPoolExecutor(concurrency) as pool:
        sent = {pool.submit(ask, each): each for each in asked}
        try:
            for future in as_completed(sent):
                if future.cancelled():
                    continue
                error = future.exception()
                if isinstance(error, CimentoError):
                    # What is under way already is still waited for, so that it is kept.
                    failure = failure or error
                    _cancel(sent)
                else:
                    yield sent[future], future.result()
        except BaseException:
            _cancel(sent)
            stop()
            raise
    if failure is not None:
        raise failure


def _cancel(futures: Iterable[Future[Answer]]) -> None:
    """Send nothing that has not been sent."""
    for future in futures:
        future.cancel()
