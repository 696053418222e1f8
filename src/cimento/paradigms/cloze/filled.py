"""What became of each blank: the expected answer with its surprisal and rank, and what won.

A hit depends on what the method can find: an answer of several tokens never is one at a single
mask. The surprisal of the expected answer has no such limit where its tokens are scored one after
the other, so that it is beside the hits. The choice among given words may be made by another rule
than surprisals are of, so that both rules are named.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cimento.paradigms.cloze.judging import HIT, OPTION, OPTION_ALONE, asked, option_scores
from cimento.paradigms.cloze.judgments import PIECE
from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers
from cimento.records.blanks import FORCED_CHOICE, REACHABLE, forced_choice
from cimento.records.outcomes import Outcome, each_outcome
from cimento.report.cells import Shown, count, shown
from cimento.report.grid import Grid, GridCell
from cimento.suites.cloze import ClozeItem

MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class ScoredWord:
    """A given word with its score.

    Attributes:
        text: the word.
        bits: its surprisal in its place; None where it has no score.
        n_pieces: number of its tokens; None where that is not known.
    """

    text: str
    bits: float | None = None
    n_pieces: int | None = None

    @property
    def probability(self) -> float | None:
        """Two to the power of minus the surprisal."""
        return None if self.bits is None else math.exp2(-self.bits)

    @property
    def bits_per_token(self) -> float | None:
        """The surprisal divided by the number of tokens; None where one of both is not known."""
        return self.bits / self.n_pieces if self.bits is not None and self.n_pieces else None


@dataclass(frozen=True, slots=True)
class FilledBlank:
    """What a model did with the blank of an item.

    Attributes:
        item: id of the item.
        text: the text with its blank.
        expected: the expected answers.
        is_hit: whether one of them came first; None where none was looked for.
        rank: the rank of the first of them among the candidates; None where it is not among them.
        is_findable: whether the method could have found one.
        said: the first candidates, each with its probability if that is known.
        others: the given words that are not expected, each with its score.
        choice: the most probable of all given words; with ``=`` between those of a tie, and empty
            where no choice was scored.
        chosen: that word with its score by the rule of the expected ones; None for a tie, or
            where none was scored.
        margin_bits: by how much an expected word is more probable than the best of the others, by
            the rule of the choice; None where none was scored.
        is_right: whether an expected word was chosen; None for a tie, or where none was scored.
        deciding_bits: each given word with its bits by the rule of the choice.
        groups: the columns by which the results are broken down, each with its value here.
    """

    item: str
    text: str
    expected: tuple[ScoredWord, ...]
    is_hit: bool | None
    rank: int | None
    is_findable: bool
    said: tuple[tuple[str, float | None], ...]
    others: tuple[ScoredWord, ...] = ()
    choice: str = ""
    chosen: ScoredWord | None = None
    margin_bits: float | None = None
    is_right: bool | None = None
    deciding_bits: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def may_be_by_length(self) -> bool | None:
        """Whether the expected words win by their sums and lose per token, or the other way round.

        The surprisal of a word is the sum of those of its tokens, so that long words have more.
        None where a word lacks a surprisal or a number of tokens.
        """
        by_sum = _lead([one.bits for one in self.expected], [one.bits for one in self.others])
        per_token = _lead(
            [one.bits_per_token for one in self.expected],
            [one.bits_per_token for one in self.others],
        )
        if by_sum is None or per_token is None:
            return None
        return (by_sum > 0) != (per_token > 0) or (by_sum < 0) != (per_token < 0)


@dataclass(frozen=True, slots=True)
class FilledBlanks:
    """What a model did with the blanks of a suite.

    Attributes:
        rule: the rule by which expected answers were scored; empty where none was.
        method: the method by which candidates were found; empty where none was.
        choice_rule: the rule by which one of the given words was chosen; empty where none was.
        blanks: the items, in their order.
    """

    rule: str
    method: str
    choice_rule: str
    blanks: tuple[FilledBlank, ...]

    @property
    def by(self) -> tuple[str, ...]:
        """The columns by which the results are broken down."""
        return tuple(dict.fromkeys(name for blank in self.blanks for name in blank.groups))

    @property
    def not_found(self) -> tuple[str, ...]:
        """The expected answers of the blanks of which the method could have found none."""
        lost = (one for blank in self.blanks if not blank.is_findable for one in blank.expected)
        return tuple(dict.fromkeys(one.text for one in lost))

    @property
    def unscored(self) -> tuple[str, ...]:
        """The expected answers that have no score."""
        words = (one for blank in self.blanks for one in blank.expected if one.bits is None)
        return tuple(dict.fromkeys(one.text for one in words))


def as_said(candidate: Candidate) -> str:
    """A candidate, with a hyphen before one that can only continue a word."""
    is_piece = candidate.kind == "piece"
    return f"-{candidate.text.removeprefix(PIECE).strip()}" if is_piece else candidate.text


def _lead(expected: Sequence[float | None], others: Sequence[float | None]) -> float | None:
    """By how much the least of some bits is below that of others; None where one is not known."""
    known = [[bits for bits in side if bits is not None] for side in (expected, others)]
    if not all(known) or len(known[0]) < len(expected) or len(known[1]) < len(others):
        return None
    return min(known[1]) - min(known[0])


def filled_blanks(answers: ClozeAnswers) -> FilledBlanks:
    """What a model did with each blank, by its first method and by the rules that score most.

    Args:
        answers: a run of a suite with blanks.
    """
    rule, scores = _scores(answers)
    method = next(iter(answers.methods), "")
    said = answers.by_method(method) if method else {}
    hits = each_outcome(asked(answers.run.outcomes(), f"{HIT}1", method)) if method else ()
    by_item = {one.item: one for one in hits}
    choice_rule, chosen = _choices(answers)
    deciding = answers.by_rule(choice_rule) if choice_rule else {}
    blanks = []
    for item in answers.items:
        hit, choice = by_item.get(item.id), chosen.get(item.id)
        is_chosen = choice is not None and choice.verdict != "tie"
        word = choice.groups.get(OPTION, "") if choice else ""
        blanks.append(
            FilledBlank(
                item=item.id,
                text=f"{item.before}___{item.after}",
                expected=tuple(
                    scores.get((item.id, text), ScoredWord(text)) for text in item.targets
                ),
                is_hit=None if hit is None else hit.right,
                rank=int(hit.value) if hit is not None and hit.value else None,
                is_findable=hit is None or hit.groups.get(REACHABLE) != "no",
                said=tuple(
                    (as_said(one), one.probability) for one in said.get(item.id, [])[:MOST_SAID]
                ),
                others=tuple(
                    scores.get((item.id, one.text), ScoredWord(one.text))
                    for one in item.options
                    if one.text not in item.targets
                ),
                choice=word,
                chosen=scores.get((item.id, word)) if is_chosen else None,
                margin_bits=choice.value if choice else None,
                is_right=choice.right if choice and is_chosen else None,
                deciding_bits=_deciding_bits(item, deciding.get(item.id, ())),
                groups={name: item.columns.get(name, "") for name in answers.options.by},
            )
        )
    return FilledBlanks(rule, method, choice_rule, tuple(blanks))


def _deciding_bits(item: ClozeItem, scored: Iterable[Candidate]) -> dict[str, float]:
    """The options of an item that have a score by the rule of the choice, each in bits."""
    scores = option_scores(item, {one.text: one.logprob_nats for one in scored})
    return {text: -nats / math.log(2) for text, nats in scores.items() if nats is not None}


def _choices(answers: ClozeAnswers) -> tuple[str, dict[str, Outcome]]:
    """The rule that sums up the choices among given words, and the choice by it of each item."""
    summed = forced_choice(answers.run.estimates())
    if summed is None:
        return "", {}
    outcomes = asked(answers.run.outcomes(), FORCED_CHOICE, summed.method)
    return summed.method, {one.item: one for one in each_outcome(outcomes)}


def _scores(answers: ClozeAnswers) -> tuple[str, dict[tuple[str, str], ScoredWord]]:
    """The rule that scores most expected answers, and by it the given words by item and text."""
    best, most, scored_by_best = "", 0, dict[tuple[str, str], ScoredWord]()
    for rule in filter(OPTION_ALONE.__contains__, answers.choices):
        scored = answers.by_rule(rule)
        found = {
            (item.id, one.text): ScoredWord(one.text, -one.logprob_nats / math.log(2), one.n_pieces)
            for item in answers.items
            for one in scored.get(item.id, ())
            if one.logprob_nats is not None
        }
        count_of_expected = sum(
            (item.id, text) in found for item in answers.items for text in item.targets
        )
        if count_of_expected > most:
            best, most, scored_by_best = rule, count_of_expected, found
    return best, scored_by_best


def expected_grid(several: Sequence[tuple[str, FilledBlanks]]) -> Grid | None:
    """A table of the expected answers item by item, with what the model put there and chose.

    Args:
        several: the models, each with what it did.

    Returns:
        The table; None where no answer is expected.
    """
    by = tuple(dict.fromkeys(name for _, one in several for name in one.by))
    rows = tuple(row for model, filled in several for row in _rows(model, filled, by))
    if not rows:
        return None
    rules = ", ".join(dict.fromkeys(filled.rule for _, filled in several if filled.rule))
    scored = (
        "surprisal: of the expected answer in its place, all its tokens together"
        f" ({rules or 'none scored'}); probability: 2 to the power of minus that."
    )
    ranked = (
        "rank: among the candidates; a dash where the answer is not among them, never where it is"
        " several tokens, which the method cannot find."
    )
    choices = ", ".join(
        dict.fromkeys(filled.choice_rule for _, filled in several if filled.choice_rule)
    )
    chosen = (
        "chosen: the most probable of the given words; choice: whether that is an expected one."
        f" Both, the deciding bits, and the margin of an expected word over the others are by"
        f" {choices}. length may decide: the expected word is ahead in surprisal and behind in"
        " surprisal per token, or the other way round."
    )
    return Grid(
        title="The expected answer in each blank, and what the model puts there.",
        header=header_with(by),
        rows=rows,
        labels=4 + len(by),
        remarks=1,
        notes=(scored, ranked, *((chosen,) if choices else ())),
    )


COLUMNS = (
    "model", "item", "text", "expected", "surprisal (bits)", "probability", "tokens", "rank",
    "hit@1", "other given words", "chosen", "choice", "margin (bits)", "deciding bits",
    "deciding bits of the others", "surprisal of the chosen (bits)", "probability of the chosen",
    "tokens of the chosen", "length may decide", "surprisal by", "choice by", "asked by",
    "the model's first",
)  # fmt: skip
"""The columns of the table of expected answers, without those by which it is broken down."""

_AFTER_ITEM = COLUMNS.index("item") + 1


def header_with(by: Iterable[str]) -> tuple[str, ...]:
    """The columns of the table with those by which results are broken down, after the items.

    Args:
        by: their names; one that the table has itself is told apart.
    """
    own = (f"{name} (2)" if name in COLUMNS else name for name in by)
    return (*COLUMNS[:_AFTER_ITEM], *own, *COLUMNS[_AFTER_ITEM:])


def _rows(model: str, filled: FilledBlanks, by: Sequence[str]) -> Iterator[tuple[GridCell, ...]]:
    for blank in filled.blanks:
        said = ", ".join(
            word if p is None else f"{word} ({p:.3f})"
            for word, p in ((text.strip() or "␣", p) for text, p in blank.said)
        )
        verdict = {True: "right", False: "wrong", None: "tie" if blank.choice else ""}
        for word in blank.expected:
            rank = count(blank.rank, absent="-" if blank.is_findable else "never")
            yield (
                model, blank.item, *(blank.groups.get(name, "") for name in by),
                blank.text, word.text, *_scored(word), rank,
                _yes_no(is_it=blank.is_hit),
                ", ".join(one.text for one in blank.others), blank.choice,
                verdict[blank.is_right], _decimal(blank.margin_bits, ".2f"),
                _decimal(blank.deciding_bits.get(word.text), ".2f"), _bits_of_others(blank),
                *_scored(blank.chosen or ScoredWord("")),
                _yes_no(is_it=blank.may_be_by_length if blank.choice else None),
                filled.rule, filled.choice_rule if blank.choice else "", filled.method, said,
            )  # fmt: skip


def _bits_of_others(blank: FilledBlank) -> str:
    """The given words that are not expected, each with its bits by the rule of the choice."""
    bits = {one.text: blank.deciding_bits.get(one.text) for one in blank.others}
    return ", ".join(f"{text} {value:.2f}" for text, value in bits.items() if value is not None)


def _scored(word: ScoredWord) -> tuple[GridCell, GridCell, GridCell]:
    """The cells of a word's score: its surprisal, its probability, its number of tokens."""
    tokens = count(word.n_pieces) if word.n_pieces else ""
    return _decimal(word.bits, ".2f"), _decimal(word.probability, ".2g"), tokens


def _yes_no(*, is_it: bool | None) -> GridCell:
    """The cell of a truth value; empty where there is none."""
    return "" if is_it is None else Shown("yes" if is_it else "no", is_it)


def _decimal(value: float | None, form: str) -> GridCell:
    """The cell of a number; empty where there is none."""
    return shown(value, "" if value is None else format(value, form), absent="")
