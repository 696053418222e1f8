"""What became of each blank: the expected answer with its surprisal, its rank, and what came first.

A hit depends on what the method can find: an answer of several tokens never is one at a single
mask. The surprisal of the expected answer has no such limit where its tokens are scored one after
the other, so that it is beside the hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cimento.paradigms.cloze.judging import HIT, OPTION, OPTION_ALONE, asked
from cimento.paradigms.cloze.requests import ClozeAnswers
from cimento.records.blanks import FORCED_CHOICE, REACHABLE, forced_choice
from cimento.records.outcomes import Outcome, each_outcome
from cimento.report.cells import count, shown
from cimento.report.grid import Grid, GridCell

MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class ExpectedWord:
    """An expected answer with its score.

    Attributes:
        text: the answer.
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
        others: the given words that are not expected.
        choice: the most probable of all given words; empty where no choice was scored.
        is_right: whether that is an expected one; None for a tie, or where none was scored.
    """

    item: str
    text: str
    expected: tuple[ExpectedWord, ...]
    is_hit: bool | None
    rank: int | None
    is_findable: bool
    said: tuple[tuple[str, float | None], ...]
    others: tuple[str, ...] = ()
    choice: str = ""
    is_right: bool | None = None


@dataclass(frozen=True, slots=True)
class FilledBlanks:
    """What a model did with the blanks of a suite.

    Attributes:
        rule: the rule by which expected answers were scored; empty where none was.
        method: the method by which candidates were found; empty where none was.
        blanks: the items, in their order.
    """

    rule: str
    method: str
    blanks: tuple[FilledBlank, ...]

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


def filled_blanks(answers: ClozeAnswers) -> FilledBlanks:
    """What a model did with each blank, by its first method and by the rule that scores most.

    Args:
        answers: a run of a suite with blanks.
    """
    rule, scores = _scores(answers)
    method = next(iter(answers.methods), "")
    said = answers.by_method(method) if method else {}
    hits = each_outcome(asked(answers.run.outcomes(), f"{HIT}1", method)) if method else ()
    by_item = {one.item: one for one in hits}
    chosen = _choices(answers)
    blanks = []
    for item in answers.items:
        hit, choice = by_item.get(item.id), chosen.get(item.id)
        blanks.append(
            FilledBlank(
                item=item.id,
                text=f"{item.before}___{item.after}",
                expected=tuple(
                    scores.get((item.id, text), ExpectedWord(text)) for text in item.targets
                ),
                is_hit=None if hit is None else hit.right,
                rank=int(hit.value) if hit is not None and hit.value else None,
                is_findable=hit is None or hit.groups.get(REACHABLE) != "no",
                said=tuple(
                    (one.text, one.probability) for one in said.get(item.id, [])[:MOST_SAID]
                ),
                others=tuple(one.text for one in item.options if one.text not in item.targets),
                choice=choice.groups.get(OPTION, "") if choice else "",
                is_right=choice.right if choice and choice.verdict != "tie" else None,
            )
        )
    return FilledBlanks(rule, method, tuple(blanks))


def _choices(answers: ClozeAnswers) -> dict[str, Outcome]:
    """The choices among given words by the rule that sums them up, by item."""
    summed = forced_choice(answers.run.estimates())
    if summed is None:
        return {}
    outcomes = asked(answers.run.outcomes(), FORCED_CHOICE, summed.method)
    return {one.item: one for one in each_outcome(outcomes)}


def _scores(answers: ClozeAnswers) -> tuple[str, dict[tuple[str, str], ExpectedWord]]:
    """The rule that scores most expected answers, and their scores by item and answer."""
    best, most = "", dict[tuple[str, str], ExpectedWord]()
    for rule in filter(OPTION_ALONE.__contains__, answers.choices):
        scored = answers.by_rule(rule)
        found = {
            (item.id, one.text): ExpectedWord(
                one.text, -one.logprob_nats / math.log(2), one.n_pieces
            )
            for item in answers.items
            for one in scored.get(item.id, ())
            if one.text in item.targets and one.logprob_nats is not None
        }
        if len(found) > len(most):
            best, most = rule, found
    return best, most


def expected_grid(several: Sequence[tuple[str, FilledBlanks]]) -> Grid | None:
    """A table of the expected answers item by item, with what the model put there.

    Args:
        several: the models, each with what it did.

    Returns:
        The table; None where no answer is expected.
    """
    rows = tuple(row for model, filled in several for row in _rows(model, filled))
    if not rows:
        return None
    header = (
        "model", "item", "text", "expected", "surprisal (bits)", "probability", "tokens", "rank",
        "the model's first",
    )  # fmt: skip
    rules = ", ".join(dict.fromkeys(filled.rule for _, filled in several if filled.rule))
    scored = (
        "surprisal: of the expected answer in its place, all its tokens together"
        f" ({rules or 'none scored'}); probability: 2 to the power of minus that."
    )
    ranked = (
        "rank: among the candidates; a dash where the answer is not among them, never where it is"
        " several tokens, which the method cannot find."
    )
    return Grid(
        title="The expected answer in each blank, and what the model puts there.",
        header=header,
        rows=rows,
        labels=4,
        remarks=1,
        notes=(scored, ranked),
    )


def _rows(model: str, filled: FilledBlanks) -> Iterator[tuple[GridCell, ...]]:
    for blank in filled.blanks:
        said = ", ".join(text.strip() or "(blank)" for text, _ in blank.said)
        for word in blank.expected:
            bits, p = word.bits, word.probability
            rank = count(blank.rank, absent="-" if blank.is_findable else "never")
            yield (
                model, blank.item, blank.text, word.text,
                shown(bits, "" if bits is None else f"{bits:.2f}", absent=""),
                shown(p, "" if p is None else f"{p:.2g}", absent=""),
                count(word.n_pieces) if word.n_pieces else "", rank, said,
            )  # fmt: skip
