"""People's answers about sentences as what suites hold: ratings and choices by condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from cimento.errors import InputError
from cimento.judgments import ACCEPTABLE, BETTER, BOTH, NONE, Judgment
from cimento.judgments.summaries import rating_of


def ratings_by_condition(
    about: Sequence[Judgment],
    known: Mapping[tuple[str, str], str],
    passed: Counter[str],
    *,
    yes_no: bool,
) -> tuple[dict[tuple[str, str], list[tuple[str, str]]], Counter[tuple[str, str]]]:
    """The ratings with their annotators, and the number of choices, by item and condition."""
    ratings: dict[tuple[str, str], list[tuple[str, str]]] = {}
    chosen: Counter[tuple[str, str]] = Counter()
    for judgment in about:
        key = _chosen_of(judgment, known)
        if judgment.question == BETTER and judgment.value in (BOTH, NONE):
            passed["both sentences were chosen, or neither, which counts for none of them"] += 1
        elif key not in known:
            passed["the suite has no such item or condition"] += 1
        elif not judgment.is_about(known[key]):
            passed["another sentence was judged: the suite has been changed since"] += 1
        elif judgment.question == BETTER:
            chosen[key] += 1
        elif judgment.question == ACCEPTABLE and not yes_no:
            passed["yes or no, where others rated"] += 1
        elif (value := given_rating(judgment)) is None:
            passed["a rating is not a number"] += 1
        else:
            ratings.setdefault(key, []).append((value, judgment.annotator or ""))
    return ratings, chosen


def _chosen_of(judgment: Judgment, known: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    """The item and condition of an answer; of a choice, those of the sentence that was chosen.

    A form names one question for each pair, perhaps by one of its sentences, and the answer says
    which of the two somebody chose.
    """
    key = (judgment.item, judgment.condition)
    if judgment.question != BETTER or (key in known and judgment.is_about(known[key])):
        return key
    others = (key for key in known if key[0] == judgment.item and " " in (judgment.value or ""))
    return next((key for key in others if judgment.is_about(known[key])), key)


def refuse_words(ratings: Sequence[Judgment]) -> None:
    """Refuse ratings of which many are not numbers, and would be left out: means would be biased.

    Raises:
        InputError: all are not, or several and more than a tenth.
    """
    words = Counter(one.value or "" for one in ratings if given_rating(one) is None)
    n_words = words.total()
    are_many = n_words > max(1, _MOST_WORDS * len(ratings))
    if are_many or 0 < n_words == len(ratings):
        shown = ", ".join(repr(word) for word, _ in words.most_common(3))
        raise InputError(
            where="the ratings",
            seen=f"{n_words:,} of {len(ratings):,} are not numbers, such as {shown}",
            todo="Give each word its number in the table [values] of a file, as in"
            f' "{next(iter(words))}" = "NUMBER", and import the answers again with --mapping FILE.',
        )


_MOST_WORDS = 0.1
"""Proportion of ratings that are not numbers up to which these are left out, and counted."""


def given_rating(judgment: Judgment) -> str | None:
    """A rating as written, with yes as 1 and no as 0; None if the judgment is not a rating."""
    if judgment.question == ACCEPTABLE:
        return {"yes": "1", "no": "0"}.get(judgment.value or "")
    # Commas separate the ratings of several people.
    is_rating = rating_of(judgment) is not None
    return (judgment.value or "").replace(",", ".") if is_rating else None
