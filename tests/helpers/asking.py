"""For tests of the engine: jobs that ask all four questions in two rounds, and what comes of it."""

from __future__ import annotations

import polars as pl

from cimento import CimentoError
from cimento.engine.handle import ModelHandle
from cimento.engine.jobs import Job
from cimento.engine.requests import Request
from cimento.io.tables import REQUESTS
from cimento.models.questions import FillPolicy
from cimento.paradigms import Answers, Choose, Fill, Reply, Requests, Score

WORDS = ("lampada", "casa", "strada", "porta", "finestra", "tavola", "sedia", "luce")


class TwoRounds(Job[Answers]):
    """Scores and fills first; then a choice and a reply for what was more probable than most.

    Args:
        model: who is asked.
        start: number of the first word.
        size: how many words.
        kinds: of questions that are asked in the first round.
    """

    columns = ()
    is_done = False
    progress = None

    def __init__(
        self,
        model: ModelHandle,
        *,
        start: int = 0,
        size: int = 5,
        kinds: tuple[type[Request], ...] = (Score, Fill),
        later: tuple[type[Request], ...] = (Choose, Reply),
    ) -> None:
        self.title = f"words from {start}"
        self.model = model
        self.words = [f"{WORDS[n % len(WORDS)]} {n}" for n in range(start, start + size)]
        self.kinds, self.second = kinds, later

    @property
    def later(self) -> int:
        return 3 * len(self.second)

    def requests(self, answers: Answers) -> Requests | None:
        if answers.n == 0:
            return asked(
                [make(word) for word in self.words for make in map(MAKERS.get, self.kinds)]
            )
        if answers.n > len(self.words) * len(self.kinds) or not self.second:
            return None
        sums = answers.table("tokens").group_by("request").agg(pl.col("logprob_nats").sum())
        best = sums.sort("logprob_nats", "request", descending=True)["request"].to_list()
        chosen = [self.words[number // len(self.kinds)] for number in sorted(best[:3])]
        return asked([make(word) for word in chosen for make in map(MAKERS.get, self.second)])

    def finish(self, answers: Answers | None) -> Answers:
        assert answers is not None
        return answers

    def blame(self, error: CimentoError, request: int) -> CimentoError:
        error.where += f", request {request}"
        return error


MAKERS = {
    Score: lambda word: Score(text=f"La {word} è rossa."),
    Fill: lambda word: Fill(before=f"La {word} è ", after=".", options=("chiusa", "alta"),
                            policy=FillPolicy(k=3)),
    Choose: lambda word: Choose(prompt=f"La {word} è", options=(" rossa", " alta")),
    Reply: lambda word: Reply(prompt=f"La {word} è", max_tokens=3),
}  # fmt: skip


def asked(requests: list[Request]) -> Requests:
    """A round whose places nobody looks at."""
    return Requests(asked=requests, places=pl.DataFrame(schema=REQUESTS.polars()))
