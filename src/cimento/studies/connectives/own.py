"""Tables 2 to 5 from a user's own copy of the resource, beside what is printed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.api import evaluate
from cimento.errors import InputError, UsageError
from cimento.measures.sentence import Missing, Value
from cimento.models.base import BosRule, Scorer
from cimento.models.questions import FillPolicy
from cimento.models.registry import Asking
from cimento.paradigms.cloze.requests import ask_texts
from cimento.paradigms.cloze.suite import BLANK
from cimento.paradigms.ratings.estimates import (
    ACCEPTABLE,
    GRAMMATICAL,
    TOKENS,
    UNACCEPTABLE,
    UNGRAMMATICAL,
    Described,
    describe_labels,
)
from cimento.paradigms.ratings.formats import read_rated
from cimento.paradigms.ratings.paradigm import perplexity_of
from cimento.paradigms.ratings.suite import RatedSentence, RatedSet, rated_of, suite_from_ratings
from cimento.runs.outcomes import each_outcome
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.studies.connectives import checks as printed
from cimento.studies.connectives.checks import Share
from cimento.studies.connectives.cloze import (
    BOTH,
    IMPLAUSIBLE,
    NEITHER,
    PLAUSIBLE,
    TARGET,
    TIED,
    ClozeItem,
    Counted,
    read_cloze,
    table_3,
    table_5,
)
from cimento.studies.record import Cell, Section, beside
from cimento.suites.load import open_suite
from cimento.suites.tables import SUFFIXES

PERPLEXITY = "ppl"
"""Column of a user's file with the perplexity of each sentence."""

_ROWS = {
    ACCEPTABLE: "Acceptable",
    GRAMMATICAL: "NonAcceptable",
    UNGRAMMATICAL: "NonAccept+NonGr",
}
_ORDER = ("all", "unacceptable,", "connective", "replacement")
_CLOZE_ROWS = {
    TARGET: "Target",
    PLAUSIBLE: "Plausible alt.",
    IMPLAUSIBLE: "Implausible alt.",
    TIED: "Target=Plausible alt.",
}
_TEN_ROWS = {
    TARGET: "Target",
    PLAUSIBLE: "Pl. alt.",
    BOTH: "Target+Pl. alt.",
    NEITHER: "Other",
}


SOURCE = "Printed in Albertin, Miaschi and Brunato 2021, ceur-ws.org/Vol-3033"
_TITLES = {
    "Table 2": "Table 2 of your copy: human scores by label; sd of the sentences' means, sd_within"
    " the mean of their ratings' own, with n - 1; unacceptable is both others together",
    "Table 4": "Table 4 of your copy: perplexities by label",
    "section 4": "Human scores and perplexities of your copy",
    "Pairs": "Pairs of your copy whose acceptable sentence is the less perplexing one",
    "Table 3": "Table 3 of your copy: the option that most people chose",
    "Table 5, ten": "Table 5 of your copy: what is among ten completions",
    "Table 5, first": "Table 5 of your copy: the first completion",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCopy:
    """A user's copy of the resource.

    Attributes:
        acceptability: the first section; None where its file is not there.
        cloze: the second section; empty where its file is not there.
        folder: where they are.
    """

    acceptability: RatedSet | None
    cloze: tuple[ClozeItem, ...]
    folder: Path


def read_own(folder: Path) -> OwnCopy:
    """The files ``acceptability``, ``cloze`` and ``completions`` of a folder, as TSV, CSV or xlsx.

    The first two may also be suite folders, as `cimento annotate apply` writes them.

    Raises:
        InputError: neither section is there, or a file cannot be used.
    """
    acceptability, cloze, completions = (
        _find(folder, name) for name in ("acceptability", "cloze", "completions")
    )
    if acceptability is None and cloze is None:
        raise InputError(
            where=str(folder),
            seen="there is neither acceptability.tsv nor cloze.tsv",
            todo="docs/acceptability.md says what they hold.",
        )
    return OwnCopy(
        acceptability=_acceptability(acceptability) if acceptability else None,
        cloze=read_cloze(cloze, completions) if cloze else (),
        folder=folder,
    )


def _acceptability(path: Path) -> RatedSet:
    if path.is_dir():
        return rated_of(open_suite(path).suite)
    return read_rated(path, "connectives")


def own_tables(own: OwnCopy, perplexities: Mapping[str, Value] | None = None) -> list[Section]:
    """Every cell of Tables 2 to 5 that the copy allows, the correlation, and accuracies of pairs.

    Args:
        own: the copy.
        perplexities: of each sentence, by id; None for those in the file's column ``ppl``.

    Raises:
        InputError: a perplexity in the file is no number above 0.
    """
    tables: dict[str, Iterable[Cell]] = {}
    if own.acceptability is not None:
        sentences = own.acceptability.sentences
        tables["Table 2"] = _table_2(describe_labels(sentences))
        found = perplexities if perplexities is not None else given_perplexities(sentences)

        def of(sentence: RatedSentence) -> Value | None:
            return found.get(sentence.id)

        tables["Table 4"] = _table_4(describe_labels(sentences, of))
        tables["section 4"] = [_rho(sentences, found)]
        tables["Pairs"] = _pairs(sentences, found)
    if own.cloze:
        tables["Table 3"] = _shares(table_3(own.cloze), _CLOZE_ROWS, printed.TABLE_3)
    if any(item.completions for item in own.cloze):
        ten, first = table_5(own.cloze)
        tables["Table 5, ten"] = _shares(ten, _TEN_ROWS, printed.TABLE_5_TEN)
        tables["Table 5, first"] = _shares(first, _TEN_ROWS, printed.TABLE_5_FIRST)
    return [
        Section(name=name, title=_TITLES[name], source=SOURCE, cells=tuple(cells))
        for name, cells in tables.items()
    ]


def given_perplexities(sentences: Sequence[RatedSentence]) -> dict[str, Value]:
    """The perplexities that the file itself has, by id of the sentence.

    Raises:
        InputError: one is no number above 0.
    """
    found: dict[str, Value] = {}
    for sentence in sentences:
        text = sentence.columns.get(PERPLEXITY, "")
        try:
            value = float(text.replace(",", ".")) if text else None
        except ValueError:
            value = 0.0
        if value is not None and not 0 < value < float("inf"):
            raise InputError(
                where=f"sentence {sentence.id!r}",
                seen=f"{PERPLEXITY} is {text!r} and not a number above 0",
                todo="Correct the cell.",
            )
        found[sentence.id] = Missing("the file has no perplexity") if value is None else value
    return found


def _table_2(groups: Sequence[Described]) -> Iterator[Cell]:
    for group in groups:
        row = printed.TABLE_2.get(_ROWS.get(group.name, ""))
        whole = printed.TABLE_2["NonAcceptable"] if group.name == UNACCEPTABLE else None
        row = row or whole
        yield _cell(group, "mean", group.mean, row.mean if row else None)
        yield _cell(group, "sd", group.sd, row.sd if row else None)
        yield _cell(group, "sd_within", group.sd_within, None)


def _table_4(groups: Sequence[Described]) -> Iterator[Cell]:
    for group in groups:
        row = printed.TABLE_4.get(_ROWS.get(group.name, ""))
        for column, value, said in (
            ("mean", group.mean, row.mean if row else None),
            ("low", group.low, row.low if row else None),
            ("high", group.high, row.high if row else None),
        ):
            yield _cell(group, column, value, said)


def _rho(sentences: Sequence[RatedSentence], found: Mapping[str, Value]) -> Cell:
    """Spearman's correlation of mean scores and perplexities, over all sentences."""
    from cimento.statistics.correlation import coefficient

    known = [
        (sentence.mean, value)
        for sentence in sentences
        if sentence.mean is not None and not isinstance(value := found[sentence.id], Missing)
    ]
    rho = coefficient([mean for mean, _ in known], [value for _, value in known])
    return beside(
        "Spearman, scores and perplexities: rho", rho.r, f"{printed.RHO:.3f}", note=rho.reason or ""
    )


def _pairs(sentences: Sequence[RatedSentence], found: Mapping[str, Value]) -> Iterator[Cell]:
    """How often the acceptable sentence is the less perplexing one, a tie being no success.

    Over all pairs, and by connective, replacement and grammaticality of the unacceptable one.
    """
    members: dict[str, dict[str, RatedSentence]] = {}
    for sentence in sentences:
        members.setdefault(sentence.pair, {})[sentence.label] = sentence
    held: dict[str, list[bool]] = {"all": []}
    for both in members.values():
        good, bad = both[ACCEPTABLE], both[UNACCEPTABLE]
        first, second = found[good.id], found[bad.id]
        if isinstance(first, Missing) or isinstance(second, Missing):
            continue
        marked = GRAMMATICAL if bad.grammatical else UNGRAMMATICAL
        connective = f"connective {bad.columns['connective']}"
        replacement = f"replacement {bad.columns['replacement'] or '-'}"
        for row in ("all", marked, connective, replacement):
            held.setdefault(row, []).append(first < second)
    for row, results in sorted(held.items(), key=lambda row: _ORDER.index(row[0].split()[0])):
        interval = share_interval(results, Design.independent(len(results)))
        yield Cell(
            what=f"{row}: accuracy of {len(results)}",
            computed=sum(results) / len(results) if results else None,
            note=(interval.reason if results else "no pair has two perplexities") or "",
            low=interval.low,
            high=interval.high,
        )


def _cell(group: Described, column: str, value: float | None, said: float | None) -> Cell:
    text = None if said is None else f"{said:.3f}"
    note = group.reasons.get(column) or ""
    return beside(f"{group.name}: {column}", value, text, note=note)


def _shares(
    counted: Sequence[Counted], rows: Mapping[str, str], said: Mapping[str, Share]
) -> Iterator[Cell]:
    for each in counted:
        row = said.get(rows.get(each.name, ""))
        yield beside(f"{each.name}: items", each.count, str(row.count) if row else None)
        percent = each.percent
        held = [place < each.count for place in range(each.total)]
        interval = share_interval(held, Design.independent(each.total))
        cell = beside(
            f"{each.name}: %",
            percent,
            row.percent if row else None,
            note=(interval.reason if percent is not None else "there are no items") or "",
        )
        low, high = (None if end is None else 100 * end for end in (interval.low, interval.high))
        yield dataclasses.replace(cell, low=low, high=high)


def _find(folder: Path, name: str) -> Path | None:
    found = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    there = [path for path in found if path.is_file()]
    there += [folder / name] * (folder / name / "suite.toml").is_file()
    if len(there) > 1:
        raise InputError(
            where=str(folder),
            seen=f"there are {' and '.join(path.name for path in there)}",
            todo="Keep one of them.",
        )
    return there[0] if there else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Perplexities:
    """What a model makes of the sentences.

    Attributes:
        model: name and revision.
        measure: ``ppl``, or ``pppl`` for a masked model.
        values: id of the sentence to its perplexity.
        tokens: id of the sentence to the number of tokens that were scored.
        first_token: what became of the first token.
    """

    model: str
    measure: str
    values: dict[str, Value]
    tokens: dict[str, int]
    first_token: str

    def plain(self) -> dict[str, object]:
        """The same as JSON has it."""
        return {
            "model": self.model,
            "measure": self.measure,
            "first_token": self.first_token,
            "sentences": {
                name: {
                    "value": None if isinstance(value, Missing) else value,
                    "reason": value.reason if isinstance(value, Missing) else None,
                    "n_tokens": self.tokens[name],
                }
                for name, value in self.values.items()
            },
        }


def scored_copy(
    own: OwnCopy, *, model: str | None, cloze_model: str | None, device: str, bos: BosRule
) -> tuple[OwnCopy, Perplexities | None]:
    """A copy with the completions of a masked model, and the perplexities that a model gives it.

    Args:
        own: the copy.
        model: what gives the perplexities; None for those of the file.
        cloze_model: what gives the completions; None for those of the file.
        device: as for ``cimento run --device``.
        bos: what stands before a text.

    Raises:
        UsageError: there is no section for a model to score.
        CimentoError: a model cannot be used.
    """
    for name, asked, section in (
        ("cloze", cloze_model, own.cloze),
        ("acceptability", model, own.acceptability),
    ):
        if asked is not None and not section:
            raise UsageError(
                where="--model",
                seen=f"{own.folder} has no {name} section to score",
                todo=f"Add {name}.tsv, or leave the model out.",
            )
    if cloze_model is not None:
        cloze = with_completions(own.cloze, cloze_model, device=device)
        own = dataclasses.replace(own, cloze=cloze)
    if model is None or own.acceptability is None:
        return own, None
    return own, perplexities(own.acceptability, model, device=device, bos=bos)


def perplexities(
    rated: RatedSet, model: str | Scorer, *, bos: BosRule = "none", device: str = "auto"
) -> Perplexities:
    """The perplexity of each sentence: exp of the mean surprisal of its tokens.

    The paper does not say what stood before the first token. With ``none``, as transformers'
    ``loss`` has it, the first token is not scored and does not count; with any other rule the
    text begins after a special token and every token counts.

    Args:
        rated: the sentences.
        model: as for ``cimento run -m``, or anything that keeps the `Scorer` protocol.
        bos: what stands before a text.
        device: as for ``cimento run --device``.

    Raises:
        CimentoError: the model cannot be used.
    """
    run = evaluate(suite_from_ratings(rated), model, bos=bos, device=device, unscored_first="drop")
    measure = perplexity_of(run)
    names = {sentence.id: sentence.id for sentence in rated.sentences}
    names |= {f"{sentence.pair}/{sentence.label}": sentence.id for sentence in rated.sentences}
    values: dict[str, Value] = {}
    tokens: dict[str, int] = {}
    for outcome in each_outcome(run.outcomes()):
        if outcome.question == measure:
            known = outcome.value
            values[names[outcome.item]] = Missing(outcome.reason) if known is None else known
        elif outcome.question == TOKENS:
            tokens[names[outcome.item]] = int(outcome.value or 0)
    dropped = run.model_kind == "causal" and bos == "none"
    return Perplexities(
        model=run.model,
        measure=measure,
        values=values,
        tokens=tokens,
        first_token="not scored and not counted" if dropped else "scored and counted",
    )


def with_completions(
    items: Sequence[ClozeItem], model: str | Scorer, *, k: int = 10, device: str = "auto"
) -> tuple[ClozeItem, ...]:
    """The items with the k most probable tokens at one mask, as the paper asked BERT.

    Args:
        items: the blank of each is `` ... ``.
        model: a masked model, as for ``cimento run -m``.
        k: how many completions.
        device: as for ``cimento run --device``.

    Raises:
        InputError: a sentence has no blank, or more than one.
        CimentoError: the model cannot be used.
    """
    asking = Asking(device=device)
    texts = [_with_blank(item) for item in items]
    found = ask_texts(texts, model, policy=FillPolicy(k=k, protocol="mask"), asking=asking)
    options = [_options(item, text) for item, text in zip(items, texts, strict=True)]
    pieces = ask_texts(
        texts,
        model,
        options=[list(option) for option in options],
        policy=FillPolicy(choice=("left-to-right",)),
        asking=asking,
    )
    return tuple(
        dataclasses.replace(
            item,
            completions=tuple(fill.candidate for fill in fills),
            unreachable=frozenset(
                written[each.candidate]
                for each in scored
                if each.candidate in written and (each.n_pieces or 1) > 1
            ),
        )
        for item, fills, scored, written in zip(items, found, pieces, options, strict=True)
    )


_DOTS = re.compile(r"\.{3}|…")


def _with_blank(item: ClozeItem) -> str:
    """The sentence with the blank as texts to fill have it."""
    parts = _DOTS.split(item.sentence)
    if len(parts) != 2:  # noqa: PLR2004  # before and after
        raise InputError(
            where=f"cloze item {item.id!r}",
            seen=f"there are {len(parts) - 1} blanks in {item.sentence!r}",
            todo="Write one, as three dots.",
        )
    return BLANK.join(parts)


def _options(item: ClozeItem, text: str) -> dict[str, str]:
    """Target and plausible option as they stand in the text, to what they are in the item."""
    first = text.startswith(BLANK)
    return {
        (option.capitalize() if first else option): option
        for option in (item.target, item.plausible)
    }
