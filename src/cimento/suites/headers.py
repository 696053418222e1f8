"""Names of columns: their words in five languages, titles above them, names that take two rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from cimento.errors import Fault
from cimento.suites.faults import fault
from cimento.suites.sides import CLEAR, OF_DIALECTS, SIDES, with_unaccented

_ACCENTED: Mapping[str, tuple[str, ...]] = {
    "item": (
        "elemento", "ítem", "номер", "стимул", "n.º", "n.°", "nº", "n°", "№", "n.", "nr.", "núm.",
        "num.", "numero", "número", "#", "pair", "coppia", "par", "пара",
        "set", "insieme", "conjunto", "набор", "n. item", "num. item", "numero item",
        "item number", "item no.", "item_id", "item id", "itemid", "item_num", "itemnum",
        "item num", "pairid", "pair_id", "pair id",
    ),
    "condition": ("cond", "cond.", "condizione", "condición", "condição", "условие"),
    "text": (
        "frase", "testo", "texto", "oración", "sentença", "предложение", "текст", "frasi", "frases",
        "oraciones", "sentenças", "предложения",
    ),
    "sentence": (
        "frase", "oración", "sentença", "предложение", "frasi", "frases", "oraciones", "sentenças",
        "предложения",
    ),
    **{
        side: tuple(word for word in words if word not in OF_DIALECTS)
        for side, words in SIDES.items()
    },
    "target": (
        "answer", "expected", "correct answer", "right answer", "expected word", "risposta",
        "risposta attesa", "risposta corretta", "risposta giusta", "respuesta correcta",
        "parola giusta", "parola corretta", "palabra correcta", "palavra certa", "palavra correta",
        "right word", "correct word", "правильное слово", "верное слово",
        "resposta correta", "resposta certa", "правильный ответ", "parola", "parola attesa",
        "respuesta", "respuesta esperada", "palabra", "resposta", "resposta esperada", "palavra",
        "ответ", "слово",
    ),
    "plausible": (
        "plausibile", "plausibili", "alternativa plausibile", "alternative plausibili",
        "plausibles", "plausível", "plausíveis", "правдоподобное",
    ),
    "implausible": (
        "implausibile", "implausibili", "alternative sbagliate", "parole sbagliate",
        "distrattori", "distrattore",
        "distractors", "distractor", "implausibles", "inverosímil", "distractores", "implausível",
        "distratores", "distrator", "неправдоподобное", "дистрактор", "дистракторы",
    ),
    "phenomenon": ("fenomeno", "fenómeno", "fenômeno", "явление"),
    "rating": (
        "mean rating", "average rating", "mean_rating", "mean.rating", "rating_mean", "rating.mean",
        "avg_rating", "average_rating", "mean_judgment", "mean_acceptability", "judgment",
        "judgement", "mean judgment",
        "acceptability", "mean acceptability", "accettabilità", "accettabilità media",
        "media giudizi", "giudizi medi", "aceptabilidad", "aceptabilidad media",
        "aceitabilidade", "aceitabilidade média", "приемлемость", "средняя приемлемость",
        "giudizio", "giud.", "giudizio medio", "media dei giudizi", "valutazione",
        "valutazione media", "voto", "voto medio", "punteggio", "punteggio medio", "juicio",
        "juicio medio", "puntuación", "puntuación media", "valoración", "valoración media",
        "promedio", "julgamento", "julgamento médio", "avaliação", "avaliação média", "nota",
        "nota média", "media", "média", "оценка", "средняя оценка", "балл", "средний балл",
    ),
    "ratings": ("giudizi", "voti", "juicios", "puntuaciones", "julgamentos", "notas", "оценки"),
}  # fmt: skip
HEADERS = {name: with_unaccented(words) for name, words in _ACCENTED.items()}
"""Names of columns in Italian, Spanish, Portuguese and Russian, and other English ones; those with
accents are there without them too, as programs for statistics have them."""

_NOUNS = (
    r"(?:frasi?|frases?|oraci[óo]n|oraciones|senten[çc]as?|enunciat[oi]|enunciados?"
    r"|предложени[ея]|sentences?)"
)
_NOUN = re.compile(rf"^{_NOUNS}\s+|\s+{_NOUNS}$", re.IGNORECASE)
_AROUND = " \t\r\n:\"“”«»'‘’"
_BETWEEN = re.compile(r"[\s_:/()–-]+")
_NUMBERS = (
    "singular", "plural", "sg", "pl", "sing", "plur", "singulares", "plurales", "plurais",
    "singolare", "plurale", "singolari", "plurali", "ед", "мн", "единственное", "множественное",
    "единственное-число", "множественное-число",
)  # fmt: skip
SETS = {"set", "insieme", "conjunto", "набор"}
"""Names of columns of items if their cells have numbers; others are sets such as *train*."""
PARTICIPANTS = (
    "participant", "rater", "annotator", "informant", "speaker", "respondent", "judge", "worker",
    "partecipante", "informante", "informatore", "giudice", "annotatore", "rispondente",
    "participante", "hablante", "juez", "anotador", "encuestado", "falante", "juiz", "respondente",
    "участник", "испытуемый", "информант", "респондент", "носитель", "эксперт",
)  # fmt: skip
"""Names of a column that says who answered, which name nothing else in a table of sentences."""

ITEMS = {"item", "id", *HEADERS["item"]}
"""Names of a column of items' numbers, without capitals."""
KNOWN = {*HEADERS}.union(*HEADERS.values(), *SIDES.values())
"""All words of `HEADERS` and for the sides of a pair, without capitals."""

PREFIXES = ("prefix", "prefisso", "prefijo", "prefixo", "префикс")
"""Names of a column with the beginning that both sentences of a pair share."""
CONTEXTS = ("context", "contesto", "contexto", "контекст")
"""Names of a column with what comes before the sentences, perhaps their beginning."""

_MOST_WORDS = 3
_FINAL = (".", "?", "!", "…", "。", "？", "！", "؟", "।")
_QUOTES = "»”\"'’"


def meaning(name: str) -> str:
    """``good`` or ``bad``, where a name is a word for one of them; otherwise the name."""
    return _side_of(name, SIDES) or name


def _side_of(name: str, words: Mapping[str, Sequence[str]]) -> str:
    """The side of a pair for which a name is one of some words; empty where it is none."""
    word = name.casefold().replace("_", " ").strip()
    return next((side for side in words if word in words[side]), "")


def abbreviated(name: str) -> str:
    """``good`` or ``bad``, where a name begins words for one of them only; otherwise nothing.

    >>> abbreviated("agramm.")
    'bad'
    """
    start = name.casefold().strip().removesuffix(".")
    sides = [
        side
        for side, words in SIDES.items()
        if start and any(word.startswith(start) for word in words)
    ]
    return sides[0] if len(sides) == 1 else ""


def split_side(name: str) -> tuple[str, str] | None:
    """The side of a pair and the level that the name of a column joins; None for other names.

    >>> split_side("Plural agramatical")
    ('bad', 'Plural')
    """
    words = [word for word in _BETWEEN.split(_NOUN.sub("", name.strip())) if word]
    for known in (CLEAR, SIDES):
        for length in (2, 1):  # "no gramatical" before "gramatical"
            ends = ((words[-length:], words[:-length]), (words[:length], words[length:]))
            for side, level in ends if len(words) > length else ():
                if meant := _side_of(" ".join(side).removesuffix("."), known):
                    return meant, " ".join(level).removesuffix(".")
    return None


def name_of_levels(levels: Iterable[str]) -> str:
    """The name of a column with some levels: ``number`` for words for numbers, else ``group``."""
    words = {"-".join(level.casefold().replace(".", "").split()) for level in levels}
    return "number" if words <= {*_NUMBERS} else "group"


@lru_cache
def without_noun(name: str) -> str:
    """A name in small letters, without the word for sentences: ``Frasi grammaticali``.

    What stands behind it in parentheses is left out too, unless it is the known word: the names
    ``Juicio medio (1-7)`` and ``Frase (buona)`` are *juicio medio* and *buona*.
    """
    word = name.casefold().strip(_AROUND)
    plain, _, aside = word.removesuffix(")").partition("(")
    if word.endswith(")") and plain.strip():
        word = aside.strip() if aside.strip() in KNOWN else plain.strip()
    return _NOUN.sub("", word).strip() or word


_LANGUAGES = (
    "english", "inglese", "inglés", "inglês", "английский", "eng", "en", "italian", "italiano",
    "итальянский", "spanish", "spagnolo", "español", "espanhol", "испанский", "portuguese",
    "portoghese", "portugués", "português", "португальский", "russian", "russo", "ruso", "русский",
    "french", "francese", "francés", "francês", "французский", "german", "tedesco", "alemán",
    "alemão", "немецкий",
)  # fmt: skip
_ENGLISH = {"eng", "en", *(name for name in _LANGUAGES if re.search(r"engl|ingl|англ", name))}
_TRANSLATION = re.compile(
    r"\b(?:translat|tradu[zcç]|gloss|glosa|перевод|глосс)|\btrad\.", re.IGNORECASE
)


def language_in(name: str) -> str:
    """The language that the name of a column ends in, as in ``Good (English)``; or nothing."""
    words = [word.casefold() for word in re.split(r"[\s()\[\],_–:/]+", name) if word]
    return words[-1] if len(words) > 1 and words[-1] in _LANGUAGES else ""


def is_translation(name: str) -> bool:
    """Whether a column has translations or glosses, which are never the sentences."""
    return _TRANSLATION.search(name) is not None


def _roles() -> Iterable[Collection[str]]:
    """The names of columns of sentences, and of those of each side of a pair."""
    return ({"sentence", "text", *HEADERS["text"]}, SIDES["good"], SIDES["bad"])


def rivals(columns: Iterable[str]) -> list[str]:
    """The columns that may be meant as the sentences, or as those of one side, if several may.

    A column in English is none beside one that names no language.
    """
    for words in _roles():
        named = [name for name in columns if _short(name) in words and not is_translation(name)]
        if not all(map(language_in, named)):
            named = [name for name in named if language_in(name) not in _ENGLISH]
        if len(named) > 1:
            return named
    return []


def _short(name: str) -> str:
    """A name in small letters, without the language that it ends in and the word for sentences."""
    if language := language_in(name):
        name = name.casefold().rpartition(language)[0].rstrip(_AROUND + "([,_–-/")
    return without_noun(name)


@lru_cache
def short_names(columns: tuple[str, ...]) -> Mapping[str, str]:
    """The columns of a table by their names without capitals and their short names.

    Whole names come before short ones. Translations have no short name, nor have sentences in a
    named language beside others.
    """
    columns = columns[::-1]  # of two with one short name, the first counts
    plain = {_short(name) for name in columns if not language_in(name)}
    taken = {word for words in _roles() if not plain.isdisjoint(words) for word in words}
    short = {
        word: name
        for name in columns
        if not (is_translation(name) or ((word := _short(name)) in taken and language_in(name)))
    }
    return short | {name.casefold(): name for name in columns}


def ends_sentence(cell: str) -> bool:
    """Whether a cell ends as a sentence does, perhaps within quotation marks."""
    return cell.rstrip(_QUOTES).endswith(_FINAL)


def begins_capital(cell: str) -> bool:
    """Whether a cell begins with a capital letter, perhaps behind a mark."""
    return cell.lstrip("¿¡«“\"‘'—- ")[:1].isupper()


def has_letter(cell: str) -> bool:
    """Whether a cell has a letter."""
    return any(map(str.isalpha, cell))


def is_title(record: Sequence[str]) -> bool:
    """Whether a row has a single cell."""
    return sum(map(bool, map(str.strip, record))) == 1


def count_titles(records: Sequence[Sequence[str]]) -> int:
    """The number of rows with one cell above the first row with several."""
    for number, record in enumerate(records):
        if not is_title(record):
            return number
    return 0


def count_notes(header: Sequence[str], records: Sequence[tuple[int, Sequence[str]]]) -> int:
    """The number of rows with one cell below a table: notes, which are no part of it.

    An empty row is above them, or they are words below the numbers of items. Rows with one cell are
    no notes where others have one cell too, such as unrated sentences.

    Args:
        header: the names of the columns.
        records: number and cells of each row below them that is not empty.
    """
    items = [column for column, name in enumerate(header) if name.casefold() in ITEMS]
    notes = 0
    for count in range(1, len(records)):
        number, record = records[-count]
        if not is_title(record):
            break
        of_item = "".join(record[column] for column in items if column < len(record))
        is_apart = number > records[-count - 1][0] + 1
        notes = count if is_apart or len(of_item.split()) > 1 else notes
    above = records[:-notes] if notes else []
    return (
        0 if any(is_title(record) and _is_sentence_alone(record) for _, record in above) else notes
    )


def _is_sentence_alone(record: Sequence[str]) -> bool:
    """Whether the one cell of a row ends as a sentence does, which no heading of others does."""
    return any(map(ends_sentence, map(str.strip, record)))


def with_item_name(
    header: Sequence[str], records: Sequence[tuple[int, Sequence[str]]]
) -> Sequence[str]:
    """The header, with a name for a first column that has none and numbers the rows.

    It is ``item``, or ``row`` beside a column of items, as programs for statistics number rows; and
    where the numbers come again, as in tables put together from several.

    Args:
        header: the names of the columns.
        records: number and cells of each row below them.
    """
    names = {name.casefold() for name in header}
    if header[0] or "row" in names:
        return header
    firsts = [record[0].strip() for _, record in records]
    if not (all(map(str.isdecimal, firsts)) and len({*firsts}) > 1):
        return header
    is_apart = len({*firsts}) == len(firsts)
    return ["item" if is_apart and not ITEMS & names else "row", *header[1:]]


def has_gap(header: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a column has no name in the header, and has a cell below it."""
    names = [*map(str.strip, header), *[""] * (len(below) - len(header))]
    return any(not name and cell.strip() for name, cell in zip(names, below, strict=False))


def two_row_names(
    upper: Sequence[str], lower: Sequence[str], spans: Sequence[tuple[int, int]] = ()
) -> list[str] | None:
    """The names of columns of which some stand together under one name in the row above.

    >>> two_row_names(["Item", "Non isola", "", "Isola"], ["", "corta", "lunga", "corta", "lunga"])
    ['Item', 'Non-isola corta', 'Non-isola lunga', 'Isola corta', 'Isola lunga']

    Args:
        upper: the upper row.
        lower: the lower row.
        spans: the first and the last column, from 0, of each cell of the upper row that is merged
            over several; without any, an empty cell counts to the name before it.

    Returns:
        The names; None if the rows are no such two: below a name of several columns there are short
        names that differ, and below any other there is nothing, or the same name again.
    """
    width = max(len(upper), len(lower))
    tops = [*map(str.strip, upper), *[""] * (width - len(upper))]
    # A name that is repeated over its columns stands over all of them.
    tops = ["" if top == before else top for before, top in pairwise(["", *tops])]
    names = [*map(str.strip, lower), *[""] * (width - len(lower))]
    spans = spans or _gaps(tops, names)
    for first, last in spans:
        below = names[first : last + 1]
        top = "-".join(tops[first].split()) if first < width else ""
        if not (top and 1 < len(below) == len({*below}) and all(map(_is_name, below))):
            return None
        names[first : last + 1] = [f"{top} {name}" for name in below]
        tops[first : last + 1] = names[first : last + 1]
    both = list(zip(tops, names, strict=True))
    if not spans or any(top and name not in ("", top) for top, name in both):
        return None
    return [name or top for top, name in both]


def join_names(
    rows: list[list[str]], merged: Sequence[tuple[int, int, int]], *, name: str
) -> list[Fault]:
    """Put names of columns that take two rows into the lower one, and say so.

    Args:
        rows: rows of a sheet, which are changed.
        merged: row, first and last column of merged cells, from 0.
        name: name of the file in messages.
    """
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    first = count_titles([rows[number] for number in filled])
    above, *below = filled[first : first + 2] or [0]
    spans = [(left, right) for row, left, right in merged if row == above]
    if not (spans and below == [above + 1]):
        return []
    names = two_row_names(rows[above], rows[above + 1], spans)
    if names is None:
        return []
    rows[above], rows[above + 1] = [], names
    seen = f"Rows {above + 1} and {above + 2} are read as the column names {', '.join(names)}."
    todo = "Write them in one row if they should be others."
    return [fault("CIM-S009", where=f"{name} row {above + 1}", seen=seen, todo=todo)]


def _gaps(tops: Sequence[str], names: Sequence[str]) -> list[tuple[int, int]]:
    """The first and last column of each name before columns without one that have cells."""
    spans: list[tuple[int, int]] = []
    for column, (top, name) in enumerate(zip(tops, names, strict=True)):
        if top:
            spans.append((column, column))
        elif spans and name:
            spans[-1] = (spans[-1][0], column)
    return [(first, last) for first, last in spans if last > first]


def _is_name(cell: str) -> bool:
    return bool(cell) and len(cell.split()) <= _MOST_WORDS and not cell.endswith(_FINAL)
