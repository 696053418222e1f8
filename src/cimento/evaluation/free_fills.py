"""Words for the blanks of free text without a suite, such as ``La casa è ___``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack, get_args

from cimento.engine.answers import answer
from cimento.engine.cache import AnswerCache, MemoryCache
from cimento.engine.handle import ModelHandle
from cimento.errors import InputError, UsageError
from cimento.io.declared import checked
from cimento.io.tables import FILLS
from cimento.kinds.option_types import LoadingKeywords
from cimento.models.in_memory import ModelLike, as_scorers, split_tokenizer
from cimento.models.questions import ChoiceRule, FillCandidate, FillPolicy, OpenRule
from cimento.models.registry import AnyScorer
from cimento.models.settings import Asking
from cimento.options import ModelOptions
from cimento.paradigms.cloze import ClozeOptions, blank_requests
from cimento.suites.cloze import BLANK, ClozeItem, Option
from cimento.suites.stimuli import one_or_several

if TYPE_CHECKING:
    import polars as pl


def fill_policy(given: Mapping[str, object]) -> FillPolicy:
    """The policy by which blanks are filled, from options as the command line has them.

    Args:
        given: ``k``, ``protocol``, ``masks`` and ``choice``.

    Raises:
        UsageError: an option has an invalid value.
    """
    return checked(ClozeOptions, given).policy


_BLANK = re.compile(r"_{3,}")
_OTHER_BLANK = re.compile(
    r"\[MASK\]|\[BLANK\]|<mask>|<blank>|<extra_id_0>|_{1,2}(?=\W|$)", re.IGNORECASE
)


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
    **options: Unpack[LoadingKeywords],
) -> pl.DataFrame:
    """Find the words that a model puts in the blanks of some texts.

    Args:
        texts: one or several, each with one blank, three underscores or more.
        model: as for `evaluate`.
        k: number of candidates.
        among: what is to be scored in the blank; for several texts, a list for each.
        protocol: how candidates are found, see `FillPolicy`.
        masks: the longest candidate, in tokens.
        choice: how options are scored, see `FillPolicy`; empty for what suits the model.
        cache: where answers are kept, such as a `FileCache`; None forgets them afterwards.
        options: options of ``cimento fill``, named after its flags: ``device``, ``dtype`` ...

    Returns:
        Columns ``text`` (number of the text, from 1), ``method``, ``rank``, ``candidate``,
        ``probability``, ``logprob_nats``, ``n_pieces``, ``kind``; see docs/cloze.md.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: an option cannot be used, or there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.

    Example:
        >>> fill("Le lampade ___ accese.", "demo-causal", k=3)["candidate"].to_list()
        ['sono', 'che', 'non']
    """
    named, tokenizer = split_tokenizer(options)
    asking = checked(ModelOptions, named).asking
    [ready] = as_scorers([model], asking, tokenizer, keeps=cache is not None)
    return fill_texts(
        texts,
        ready,
        options=among,
        policy=FillPolicy(k=k, protocol=protocol, masks=masks, choice=tuple(choice)),
        asking=asking,
        cache=cache,
    )


def nucleus_of(table: pl.DataFrame, p: float) -> tuple[pl.DataFrame, dict[int, float]]:
    """The fewest candidates of each text that together are as probable as p (Holtzman et al. 2020).

    Options that were scored stay as they are.

    Args:
        table: as `fill_texts` gives it.
        p: above 0, at most 1.

    Returns:
        The rows left, with a column ``cumulative_probability`` (null for options); and the number
        of each text whose candidates do not reach p, with what they reach: all of these stay.
    """
    import polars as pl

    is_open = pl.col("method").is_in(get_args(OpenRule))
    by_text = ("text", "method")
    reached = pl.col("probability").cum_sum().over(by_text)
    table = table.with_columns(pl.when(is_open).then(reached).alias("cumulative_probability"))
    # What is lost of last digits decides nothing: .4 + .3 + .2 reach .9.
    before = (pl.col("cumulative_probability") - pl.col("probability")) < p * (1 - _ROUNDING)
    ends = table.filter(is_open).group_by("text").agg(pl.col("cumulative_probability").max())
    short = {
        int(text): float(end)
        for text, end in ends.sort("text").iter_rows()
        if end is not None and end < p * (1 - _ROUNDING)
    }
    return table.filter(~is_open | before.fill_null(value=True)), short


_ROUNDING = 1e-9


def fill_texts(
    texts: str | Sequence[str],
    model: str | AnyScorer,
    *,
    options: Sequence[str | Sequence[str]] = (),
    policy: FillPolicy | None = None,
    asking: Asking | None = None,
    cache: AnswerCache | None = None,
    remark: Callable[[str], None] | None = None,
) -> pl.DataFrame:
    """The words that a model puts in the blanks of some texts.

    Args:
        texts: one or several, each with one blank, three underscores or more.
        model: a name as for ``cimento run -m``, or a loaded model.
        options: what is to be scored in the blank; for several texts, a list for each. Empty for
            none.
        policy: how blanks are asked for.
        asking: how texts are scored.
        cache: where answers are kept, such as a `FileCache`; None forgets them afterwards.
        remark: is told of special tokens of the model in the texts.

    Returns:
        Columns ``text`` (number of the text, from 1), ``method``, ``rank``, ``candidate``,
        ``probability``, ``logprob_nats``, ``n_pieces``, ``kind``; see docs/cloze.md.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    import polars as pl

    requests = blank_requests(_items(texts, options), policy or FillPolicy())
    handle = ModelHandle(model, asking or Asking())
    answers = answer(requests.asked, handle, cache=cache or MemoryCache())
    handle.tell_special_tokens(one_or_several(texts), remark)
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
) -> list[list[FillCandidate]]:
    """The same as records: the candidates of each text, the most probable first.

    Raises:
        InputError: a text has no blank, or more than one.
        UsageError: there are not as many lists of options as texts.
        CimentoError: the model cannot be used, or a text is too long for it.
    """
    texts = texts if isinstance(texts, str) else list(texts)
    table = fill_texts(texts, model, options=options, policy=policy, asking=asking)
    columns = ("text", "candidate", "logprob_nats", "n_pieces", "kind", "method")
    answers: list[list[FillCandidate]] = [[] for _ in one_or_several(texts)]
    for number, *cells in table.select(columns).iter_rows():
        answers[number - 1].append(FillCandidate(*cells))
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
        mask = _OTHER_BLANK.search(text)
        todo = f"Write {BLANK} in place of {mask[0]}" if mask else f"Write one, as {BLANK}."
        raise InputError(where=f"text {number}, {text!r}", seen=seen, todo=todo)
    return ClozeItem(str(number), parts[0], parts[1], tuple(Option(option) for option in options))
