"""The whole way of a score in one call: find, load, tokenize, score, table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cimento import Policy, Scorer
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.scores import answer_scores
from cimento.models.hf.files import locate
from cimento.models.hf.loading import load
from cimento.paradigms import Score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    """What came back for one request: one entry for each token."""

    ids: list[int]
    tokens: list[str]
    positions: list[int]
    starts: list[int]
    logprobs: list[float | None]
    reasons: list[str | None]

    @property
    def total(self) -> float:
        return sum(value for value in self.logprobs if value is not None)


def load_folder(folder: Path, policy: Policy | None = None, **options: Any) -> Scorer:
    return load(locate(str(folder)), policy=policy or Policy(), **{"device": "cpu", **options})


def ask(
    scorer: Scorer,
    texts: Sequence[str | Score],
    *,
    policy: Policy | None = None,
    cache: AnswerCache | None = None,
) -> list[Answer]:
    """The answers to some texts or requests, in their order."""
    requests = [Score(text) if isinstance(text, str) else text for text in texts]
    table = answer_scores(
        requests,
        scorer,
        policy=policy or Policy(),
        cache=cache or MemoryCache(),
    )
    return [
        Answer(
            ids=rows["token_id"].to_list(),
            tokens=rows["token"].to_list(),
            positions=rows["position"].to_list(),
            starts=rows["start"].to_list(),
            logprobs=rows["logprob_nats"].to_list(),
            reasons=rows["unscored_reason"].to_list(),
        )
        for rows in (table.filter(table["request"] == number) for number in range(len(requests)))
    ]


def ask_folder(
    folder: Path, texts: Sequence[str | Score], policy: Policy | None = None, **options: Any
) -> list[Answer]:
    return ask(load_folder(folder, policy, **options), texts, policy=policy)
