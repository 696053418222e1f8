"""Roles of columns: the name of a column proposes one, and its cells decide whether it fits.

A role is a test on the profile of a column. A column that fails the test does not get the role,
whatever it is called: numbers are not sentences, dates are not ratings, and measures are not
numbers of items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cimento.errors import UsageError, did_you_mean
from cimento.intake.profile import Profile
from cimento.intake.table import Table
from cimento.intake.words import pattern

FORCED = "!"
"""What follows the name of a column in a choice that stands whatever its cells hold."""
FACTORS = "factors"
"""The role of the two columns that are crossed in a design."""
CONDITIONS = "conditions"
"""The role of each of the columns of sentences that are a condition each."""
_FEWEST_IDS = 8
"""Number of rows from which numbers in steps of one are ids, and can be no ratings."""
_HIGHEST = 100
"""The upper end of the longest scale; larger numbers, such as reading times, are not ratings."""
_MOST_REGIONS = 40
_MOST_WRONG = 9
"""Most columns of words that do not fit, which the menus of the app can tell apart."""
_MOST_PEOPLE = 40
"""Most columns of one person each for which somebody can say so."""
_MOST_CONDITIONS = 16
_SHOWN = 3
_KINDS = {
    "nothing": "nothing",
    "numbers": "numbers",
    "moments": "dates or times",
    "objects": "lists or objects",
    "codes": "codes",
    "words": "words",
    "sentences": "texts",
}


@dataclass(frozen=True, slots=True)
class Role:
    """A role that a column may have.

    Attributes:
        what: what its cells are, for messages: ``sentences``.
        fits: whether a column with a profile may have the role.
    """

    what: str
    fits: Callable[[Profile], bool]


def _is_text(column: Profile) -> bool:
    return column.may_be_sentences


def _is_id(column: Profile) -> bool:
    """Whether cells may number things or name them: no dates, no measures, no objects."""
    return column.kind not in ("moments", "objects") and (column.kind != "numbers" or column.whole)


def _is_level(column: Profile) -> bool:
    counts_rows = column.numbers_rows and column.n >= _FEWEST_IDS
    return column.kind not in ("moments", "objects") and not counts_rows


def _is_rating(column: Profile) -> bool:
    """Whether cells may be ratings: numbers that count no rows, or a few marks or words."""
    if column.kind == "numbers":
        return not (column.numbers_rows and column.n >= _FEWEST_IDS)
    return column.kind == "nothing" or (column.kind == "words" and bool(column.values))


def _is_points(column: Profile) -> bool:
    """Whether cells may be the ratings of one person: numbers on a scale."""
    is_scale = column.kind == "numbers" and 0 <= column.low <= column.high <= _HIGHEST
    return is_scale and _is_rating(column)


def _is_label(column: Profile) -> bool:
    return column.kind == "nothing" or bool(column.two)


def _is_spread(column: Profile) -> bool:
    return column.kind == "nothing" or (column.kind == "numbers" and column.low >= 0)


def _is_count(column: Profile) -> bool:
    is_whole = column.kind == "numbers" and column.whole and column.low >= 1
    return column.kind == "nothing" or (is_whole and not column.numbers_rows)


def _is_position(column: Profile) -> bool:
    is_whole = column.kind == "numbers" and column.whole and column.low >= 0
    return column.kind == "nothing" or is_whole


def _is_share(column: Profile) -> bool:
    return column.kind == "nothing" or (column.kind == "numbers" and column.high <= 1)


def _is_measure(column: Profile) -> bool:
    return column.kind in ("nothing", "numbers")


ROLES: Mapping[str, Role] = {
    "good": Role("sentences", _is_text),
    "bad": Role("sentences", _is_text),
    "sentence": Role("sentences", _is_text),
    "prefix": Role("beginnings of sentences", _is_text),
    "suffix": Role("ends of sentences", _is_text),
    "context": Role("texts", _is_text),
    "label": Role("labels of two kinds", _is_label),
    "rating": Role("ratings", _is_rating),
    "ratings": Role("ratings", lambda column: column.kind not in ("moments", "objects")),
    "rating_sd": Role("standard deviations", _is_spread),
    "rating_n": Role("numbers of ratings", _is_count),
    "person": Role("ratings of one person", _is_points),
    "participant": Role("names or numbers of people", _is_id),
    "item": Role("numbers or names of items", _is_id),
    "condition": Role("names of conditions", _is_level),
    "phenomenon": Role("names of phenomena", _is_level),
    FACTORS: Role("levels of a factor", _is_level),
    f"{FACTORS} 2": Role("levels of a factor", _is_level),
    "key": Role("letters of sentences", _is_label),
    "target": Role("words", _is_text),
    "plausible": Role("words", _is_text),
    "implausible": Role("words", _is_text),
    "region": Role("numbers or names of regions", _is_id),
    "content": Role("texts of regions", _is_text),
    "text": Role("numbers or names of texts", _is_id),
    "position": Role("numbers of words", _is_position),
    "word": Role("words", lambda column: column.kind not in ("moments", "objects")),
    "rt": Role("measures", _is_measure),
    "cloze": Role("proportions of people", _is_share),
    **{f"implausible {number}": Role("words", _is_text) for number in range(2, _MOST_WRONG + 1)},
    **{
        f"person {number}": Role("ratings of one person", _is_points)
        for number in range(2, _MOST_PEOPLE + 1)
    },
    CONDITIONS: Role("sentences", _is_text),
    **{
        f"{CONDITIONS} {number}": Role("sentences", _is_text)
        for number in range(2, _MOST_CONDITIONS + 1)
    },
    **{f"region{number}": Role("regions", _is_text) for number in range(1, _MOST_REGIONS + 1)},
}
"""The roles, and what their columns hold."""


def alone(role: str) -> str:
    """A role without the number of its column: ``implausible`` for ``implausible 2``."""
    return role.partition(" ")[0]


def numbered(role: str, taken: Iterable[str]) -> str:
    """A role that several columns may have, with the next number if the role itself is taken."""
    several = [role, *(name for name in ROLES if name != role and alone(name) == role)]
    return next((name for name in several if name not in taken), role)


def chosen_conditions(chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The columns that somebody has chosen as a condition each, among all by their roles."""
    return tuple(
        name.removesuffix(FORCED) for role, name in chosen.items() if alone(role) == CONDITIONS
    )


def fits(table: Table, column: str | None, role: str) -> bool:
    """Whether a column is there that may have a role; a table without rows has names alone."""
    if column is None or column not in table.cells:
        return False
    return column in table.forced or ROLES[role].fits(table.profile(column))


def find(table: Table, role: str, *names: str) -> str | None:
    """The column with one of some names, or with that of the role, if its cells fit; else None."""
    column = table.find(*(names or (role,)))
    return column if fits(table, column, role) else None


_SPREAD, _COUNT = pattern("spread"), pattern("count")


def summary_columns(table: Table) -> dict[str, str]:
    """The columns of standard deviations and of numbers of ratings, by their roles.

    The name proposes one, and the cells decide: a standard deviation is not below 0 nor above the
    highest rating, and numbers of ratings are whole and not the numbers of the rows.

    Args:
        table: a table with a column of mean ratings; without one, nothing is found.
    """
    rating = table.find("rating")
    names = dict[str, str]()
    for name in table.columns if rating else ():
        if name == rating or not table.profile(name).n:
            continue
        if _SPREAD.fullmatch(name.strip()) and fits(table, name, "rating_sd"):
            is_small = table.profile(name).high <= table.profile(rating or "").high
            names.setdefault("rating_sd", name if is_small else "")
        if _COUNT.fullmatch(name.strip()) and fits(table, name, "rating_n"):
            names.setdefault("rating_n", name)
    return {role: name for role, name in names.items() if name}


def number_columns(
    header: Sequence[str], table: Table, chosen: Mapping[str, str] | None = None
) -> set[int]:
    """The places of the columns of mean ratings, their standard deviations and their numbers.

    Args:
        header: the names of the columns as they are in their row.
        table: the same columns.
        chosen: the columns that somebody has chosen, by their roles.
    """
    found = (table.find("rating"), *summary_columns(table).values())
    given = ((chosen or {}).get(role) for role in ("rating", "rating_sd", "rating_n"))
    names = {*filter(None, (*found, *given))}
    return {place for place, name in enumerate(header) if name.strip() in names}


def seen_in(table: Table, column: str, role: str, known: Mapping[str, Role] = ROLES) -> str:
    """What a column holds in place of what its role needs, as a sentence."""
    return (
        f"The column {table.shown(column)!r} holds {_KINDS[table.profile(column).kind]}"
        f" ({_examples(table, column)}), and no {known[role].what}."
    )


def _examples(table: Table, column: str) -> str:
    cells = list(dict.fromkeys(filter(None, table.stripped(column))))
    return ", ".join(cells[:_SHOWN]) + (" ..." if len(cells) > _SHOWN else "")


def parse_choice(text: str, known: Mapping[str, Role] = ROLES) -> dict[str, str]:
    """The columns that an option chooses, by their roles, which are those of `known`.

    >>> parse_choice("good=Frase A, bad=Frase B!")
    {'good': 'Frase A', 'bad': 'Frase B!'}

    Raises:
        UsageError: there is no such role, or the text is not a list of roles and columns.
    """
    chosen: dict[str, str] = {}
    for part in text.split(",") if text.strip() else ():
        role, equals, column = part.partition("=")
        if not equals and chosen:  # a comma in the name of a column
            chosen[[*chosen][-1]] += f",{part}"
            continue
        if not (equals and column.strip()):
            raise UsageError(
                where=f"--columns={text}",
                seen=f"{part.strip()!r} is not a role and its column",
                todo='Give ROLE=COLUMN, several with commas between: good="Frase A",bad="Frase B".',
            )
        chosen[role.strip()] = column.strip()
    refuse_unknown(chosen, known)
    return chosen


def refuse_unknown(roles: Iterable[str], known: Mapping[str, Role] = ROLES) -> None:
    """Refuse the names of roles that there are not.

    Raises:
        UsageError: a role has another name.
    """
    for role in roles:
        if role not in known:
            where, seen = f"--columns={role}=", "there is no such role of a column"
            raise UsageError(where=where, seen=seen, todo=did_you_mean(role, known))
