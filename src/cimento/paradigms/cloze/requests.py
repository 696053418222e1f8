"""Requests for blanks, and the options by which they are asked and judged.

Blanks are those of a suite, or those in free text such as ``La casa è ___``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from cimento.engine.answers import answer
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.engine.requests import Fill, Requests
from cimento.errors import InputError, UsageError
from cimento.io.files import expanded
from cimento.io.tables import FILLS, REQUESTS
from cimento.models.in_memory import ModelLike, as_scorers, split_tokenizer
from cimento.models.questions import MOST_CANDIDATES, MOST_MASKS, ChoiceRule, FillPolicy, OpenRule
from cimento.models.questions import Fill as FoundFill
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.options import ModelOptions, checked
from cimento.paradigms.base import ParadigmOptions, option_names
from cimento.paradigms.cloze.suite import BLANK, ClozeItem, Option
from cimento.suites.stimuli import one_or_several

if TYPE_CHECKING:
    import polars as pl


def _path(value: object) -> object:
    """A path with its ``~`` written out; None for an empty text."""
    return expanded(value) if isinstance(value, str) and value else value or None


class ClozeOptions(ParadigmOptions):
    """How cloze suites are asked and judged.

    Attributes:
        k: number of candidates asked for, and of ranks that count.
        protocol: how candidates are found where none are given; see `FillPolicy`.
        masks: the longest candidate, in tokens.
        choice: rules by which options are scored; none for what suits the kind of model.
        by: columns that results are broken down by.
        dictionary: judges candidates by what their items expect: ``delaf:FILE``, ``rules:it``;
            empty for none.
        judgments: an annotated run or a table of judged candidates, used where nobody judged the
            run itself; None for none.
        seed: taken by every paradigm; nothing is drawn for cloze suites.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset({"k", "protocol", "masks", "choice"})

    k: int = Field(10, ge=1, le=MOST_CANDIDATES)
    protocol: OpenRule = "auto"
    masks: int = Field(3, ge=1, le=MOST_MASKS)
    choice: Annotated[tuple[ChoiceRule, ...], BeforeValidator(option_names)] = ()
    by: Annotated[tuple[str, ...], BeforeValidator(option_names)] = ()
    dictionary: str = ""
    judgments: Annotated[Path | None, BeforeValidator(_path)] = None
    seed: int = 0

    @property
    def policy(self) -> FillPolicy:
        """The policy by which models fill blanks."""
        return FillPolicy(k=self.k, masks=self.masks, protocol=self.protocol, choice=self.choice)


def blank_requests(items: Sequence[ClozeItem], policy: FillPolicy, *, suite: str = "") -> Requests:
    """One request for each distinct text with a blank, and the items that each is for.

    Args:
        items: a text that several of them share is asked once, with the options of all.
        policy: how candidates are found, and by which rules options are scored.
        suite: its name.
    """
    import polars as pl

    options: dict[tuple[str, str], dict[str, None]] = {}
    for item in items:
        texts = options.setdefault((item.before, item.after), {})
        texts.update(dict.fromkeys(text for option in item.options for text in option.spellings))
    numbers = {text: number for number, text in enumerate(options)}
    places = [
        (numbers[item.before, item.after], suite, item.id, "", 1, item.text, "",
         len(item.before), len(item.before) + len(BLANK), True)
        for item in items
    ]  # fmt: skip
    return Requests(
        asked=[
            Fill(before=before, after=after, options=tuple(texts), policy=policy)
            for (before, after), texts in options.items()
        ],
        places=pl.DataFrame(places, schema=REQUESTS.polars(), orient="row"),
    )


_BLANK = re.compile(r"_{3,}")


def fill(
    texts: str | Sequence[str],
    model: ModelLike,
    *,
    k: int = 10,
    among: Sequence[str | Sequence[str]] = (),
    protocol: OpenRule = "auto",
    masks: int = 3,
    choice: Sequence[ChoiceRule] = (),
    cache: AnswerCache | None = None,
    **options: Any,  # noqa: ANN401  # each is checked by the model that declares it
) -> pl.DataFrame:
    """The words that a model puts in the blanks of some texts.

    Args:
        texts: one or several, each with one blank, three underscores or more.
        model: as for `evaluate`.
        k: number of candidates.
        among: what is to be scored in the blank; for several texts, a list for each.
        protocol: how candidates are found, see `FillPolicy`.
        masks: the longest candidate, in tokens.
        choice: how options are scored, see `FillPolicy`; empty for what suits the model.
        cache: where answers are kept; None forgets them afterwards.
        options: of ``cimento fill``, by the names of its flags: ``device``, ``dtype`` ...

    Returns:
        Columns ``text`` (number of the text, from 1), ``method``, ``rank``, ``candidate``,
        ``probability``, ``logprob_nats``, ``n_pieces``, ``kind``; see docs/fill.md.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: an option cannot be used, or there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    named, tokenizer = split_tokenizer(options)
    asking = checked(ModelOptions, named).asking
    [ready] = as_scorers([model], asking, tokenizer)
    return fill_texts(
        texts,
        ready,
        options=among,
        policy=FillPolicy(k=k, protocol=protocol, masks=masks, choice=tuple(choice)),
        asking=asking,
        cache=cache,
    )


def fill_texts(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    *,
    options: Sequence[str | Sequence[str]] = (),
    policy: FillPolicy | None = None,
    asking: Asking | None = None,
    cache: AnswerCache | None = None,
) -> pl.DataFrame:
    """The words that a model puts in the blanks of some texts.

    Args:
        texts: one or several, each with one blank, three underscores or more.
        model: a name as for ``cimento run -m``, or a loaded model.
        options: what is to be scored in the blank; for several texts, a list for each. Empty for
            none.
        policy: how blanks are asked for.
        asking: how texts are scored.
        cache: where answers are kept; None forgets them afterwards.

    Returns:
        Columns ``text`` (number of the text, from 1), ``method``, ``rank``, ``candidate``,
        ``probability``, ``logprob_nats``, ``n_pieces``, ``kind``; see docs/fill.md.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    import polars as pl

    requests = blank_requests(_items(texts, options), policy or FillPolicy())
    handle = ModelHandle(model, asking or Asking())
    answers = answer(requests.asked, handle, cache=cache or MemoryCache())
    numbers = requests.places.select("request", text=pl.col("item").cast(pl.Int64))
    fills = answers.table(FILLS.name)
    table = numbers.join(fills, on="request", maintain_order="left_right")
    probability = pl.col("logprob_nats").exp().alias("probability")
    columns = ("method", "rank", "candidate", probability, "logprob_nats", "n_pieces", "kind")
    return table.select("text", *columns)


def ask_texts(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    *,
    options: Sequence[str | Sequence[str]] = (),
    policy: FillPolicy | None = None,
    asking: Asking | None = None,
) -> list[list[FoundFill]]:
    """The same as records: the candidates of each text, the most probable first.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    texts = texts if isinstance(texts, str) else list(texts)
    table = fill_texts(texts, model, options=options, policy=policy, asking=asking)
    columns = ("text", "candidate", "logprob_nats", "n_pieces", "kind", "method")
    answers: list[list[FoundFill]] = [[] for _ in one_or_several(texts)]
    for number, *cells in table.select(columns).iter_rows():
        answers[number - 1].append(FoundFill(*cells))
    return answers


def _items(texts: str | Sequence[str], options: Sequence[str | Sequence[str]]) -> list[ClozeItem]:
    """Texts as items, their numbers, from 1, as ids."""
    whole = one_or_several(texts)
    if isinstance(texts, str) and all(isinstance(option, str) for option in options):
        options = [[str(option) for option in options]]
    given = [one_or_several(choices) for choices in options] or [[] for _ in whole]
    if len(given) != len(whole):
        raise UsageError(
            where="options",
            seen=f"{len(given)} for {len(whole)} texts",
            todo="Give a list of options for each text.",
        )
    return [
        _item(number, text, choices)
        for number, (text, choices) in enumerate(zip(whole, given, strict=True), start=1)
    ]


def _item(number: int, text: str, options: Sequence[str]) -> ClozeItem:
    parts = _BLANK.split(text)
    if len(parts) != 2:  # noqa: PLR2004  # before and after
        seen = f"there are {len(parts) - 1} blanks" if len(parts) > 1 else "there is no blank"
        raise InputError(
            where=f"text {number}, {text!r}", seen=seen, todo=f"Write one, as {BLANK}."
        )
    return ClozeItem(str(number), parts[0], parts[1], tuple(Option(option) for option in options))
