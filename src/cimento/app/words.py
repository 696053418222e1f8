"""The words of the app in every language, and what checks and errors say in English, said in them.

The words are in ``data/app.toml``. A key such as ``start.title`` is in the table ``[start]``,
with one text a language below it: ``title.en = "Start"``. Texts take values in braces:
``{count} items``.

`cimento` says what it saw in English. ``data/said.toml`` has these sentences as patterns, each with
the sentence in the other languages of the app, so that no check has to know of languages;
``data/report.toml`` has those of reports.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from cimento.errors import CimentoError, Fault, SuiteError, UsageError
from cimento.faults import errors
from cimento.intake.roles import ROLES, alone, parse_choice
from cimento.judgments.roles import ANSWER_ROLES
from cimento.report.formatting import with_minus
from cimento.suites.kinds import kinds

_WORDS_FILE = Path(__file__).parents[1] / "data" / "app.toml"

USUAL = "en"
"""The language of texts that a language lacks."""

MARKS = str.maketrans({",": "\u202f", ".": ","})
"""Marks of numbers in English, and in the other languages of the app (ISO 80000-1)."""

LANGUAGES: Mapping[str, str] = {
    "en": "English",
    "it": "Italiano",
    "es": "Español",
    "pt": "Português",
    "ru": "Русский",
}
"""The languages of the app by ISO 639-1 code, each in its own words."""
QUOTES: Mapping[str, tuple[str, str]] = {"en": ('"', '"'), "pt": ("“", "”")}
"""Quotation marks by language; in the others, « »."""
_SAID_FILE = Path(__file__).parents[1] / "data" / "said.toml"
_REPORT_FILE = _SAID_FILE.with_name("report.toml")

_WINDOW = "window"
"""The key of an English sentence for the window, where that for commands names their options."""

_FIELD = re.compile(r"\{(\w+)(?:([#'.])|\|([^{}]*))?\}")
_KINDS = {
    None: r".+?",
    "#": r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?",
    "'": r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")",
    ".": r"\S+",
}
"""What a field of each kind may be: any text, a number, a text in quotation marks, a word."""
_SENTENCE_END = re.compile(r"(?<=[.?!]) ")
_ENDS = (".", "?", "!")

_LONGEST = 4_000
"""Characters of a message beyond which it is left as it is."""
_DEEPEST = 6
_MOST_SENTENCES = 12
_MOST_COLONS = 4
_MOST_FAULTS = 12


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language; called with a key, they give the text.

    Attributes:
        language: ISO 639-1 code.
        texts: the texts by key.
    """

    language: str
    texts: Mapping[str, str]

    def __call__(self, key: str, **values: object) -> str:
        """The text with a key, with values in the place of names in braces.

        Raises:
            KeyError: there is no such key.
        """
        text = self.texts[key]
        return text.format(**values) if values else text

    def number(self, value: float, form: str = ",") -> str:
        """A number as the language writes it: ``−1,234.5`` in English, ``−1 234,5`` in the others.

        Args:
            value: the number.
            form: a format of Python for English, such as ``,.1f``.
        """
        text = with_minus(format(value, form))
        return text if self.language == USUAL else text.translate(MARKS)

    def quoted(self, name: str) -> str:
        """A name between the quotation marks of the language."""
        first, last = QUOTES.get(self.language, ("«", "»"))
        return f"{first}{name}{last}"

    def named(self, what: str, name: str) -> str:
        """The name of a language, a kind of test or a phenomenon; as it is where there is no other.

        Args:
            what: ``language``, ``kind`` or ``phenomenon``.
            name: as cimento names it: a code of ISO 639-1, or words.
        """
        return self.texts.get(f"named.{what}-{name.replace(' ', '-')}", name)


def translations() -> dict[str, Mapping[str, str]]:
    """Every key with its texts by language."""
    tables = tomllib.loads(_WORDS_FILE.read_text(encoding="utf-8"))
    of_kinds = {f"named.kind-{kind.name}": kind.words for kind in kinds().values()}
    return of_kinds | {
        f"{table}.{name}": texts for table, names in tables.items() for name, texts in names.items()
    }


@cache
def words(language: str) -> Words:
    """The words of a language, in English where it has none of its own.

    Args:
        language: one of `LANGUAGES`; of any other, everything is in English.
    """
    texts = {key: texts.get(language, texts[USUAL]) for key, texts in translations().items()}
    return Words(language if language in LANGUAGES else USUAL, texts)


def spoken(accepted: str) -> str:
    """The language to begin in.

    Args:
        accepted: ``Accept-Language`` of a browser, such as ``it-IT,it;q=0.9,en;q=0.8``.
    """
    for entry in accepted.split(","):
        code = entry.partition(";")[0].strip().partition("-")[0].lower()
        if code in LANGUAGES:
            return code
    return USUAL


@dataclass(frozen=True, slots=True)
class Saying:
    """A sentence with fields, in English and in the other languages.

    Attributes:
        pattern: what the English sentence matches, with a group for each field.
        fixed: the longest part that is in every such sentence.
        weight: number of characters that are the same in all of them.
        texts: the sentence by language, with its fields, as the window says it.
        is_of_window: whether the window says it otherwise in English too.
    """

    pattern: re.Pattern[str]
    fixed: str
    weight: int
    texts: Mapping[str, str]
    is_of_window: bool = False


def sayings() -> list[dict[str, str]]:
    """The sentences of the files, each by language; some have `_WINDOW`, English for the window."""
    files = (_SAID_FILE, _REPORT_FILE)
    tables = (tomllib.loads(file.read_text(encoding="utf-8")) for file in files)
    return [entry for table in tables for entry in table["said"]]


def report_labels() -> list[dict[str, str]]:
    """The headings, names of columns and fixed texts of reports, each by language."""
    entries: list[dict[str, str]] = tomllib.loads(_REPORT_FILE.read_text("utf-8"))["label"]
    return entries


@cache
def _compiled() -> tuple[Saying, ...]:
    """The sentences, and the advice of the checks, as patterns; those that say most first."""
    advice = [texts for key, texts in translations().items() if key.startswith("advice.")]
    made = [_saying(texts) for texts in (*sayings(), *advice)]
    return tuple(sorted(made, key=lambda saying: -saying.weight))


def _saying(texts: Mapping[str, str]) -> Saying:
    english = texts[USUAL].removesuffix(".")
    parts, fixed, end = [], [""], 0
    for match in _FIELD.finditer(english):
        fixed.append(english[end : match.start()])
        parts += [re.escape(fixed[-1]), _group(match)]
        end = match.end()
    fixed.append(english[end:])
    pattern = re.compile("".join([*parts, re.escape(fixed[-1])]), re.DOTALL)
    shown = {language: text.removesuffix(".") for language, text in texts.items()}
    is_of_window = _WINDOW in shown
    shown |= {USUAL: shown.pop(_WINDOW)} if is_of_window else {}
    return Saying(pattern, max(fixed, key=len), sum(map(len, fixed)), shown, is_of_window)


def _group(match: re.Match[str]) -> str:
    """The expression for a field of an English sentence."""
    name, kind, forms = match.groups()
    if forms is not None:
        return f"(?:{'|'.join(map(re.escape, forms.split('|')))})"
    return f"(?P<{name}>{_KINDS[kind]})"


def said(text: str, language: str, *, has_place: bool = True) -> str | None:
    """A text of cimento in another language.

    Args:
        text: what is said in English: a sentence, or several, or lines with a formula among them.
        language: ISO 639-1 code.
        has_place: whether a place and a colon may be before what is said, as in messages.

    Returns:
        The text, or None where some of it is not in the file. English is left as it is, unless
        the window says it otherwise.
    """
    if not text or (language == USUAL and not _has_window(text)):
        return text
    if len(text) > _LONGEST:
        return None
    if not has_place:
        return _said(text, language, _DEEPEST)
    first, *lines = text.split("\n")
    # A place such as item 1, of which any text may be the name, is a place before a colon.
    made = (
        _placed(first, language, is_known=True)
        or _said(first, language, _DEEPEST)
        or _placed(first, language)
    )
    return None if made is None else "\n".join([made, *(_below(line, language) for line in lines)])


def _has_window(text: str) -> bool:
    """Whether some sentence of a text in English may be another one in the window."""
    return _OF_COMMANDS.search(text) is not None or any(
        saying.fixed in text for saying in _compiled() if saying.is_of_window
    )


_MORE = "... and "
"""The beginning of the line that counts what is not listed."""


def _below(line: str, language: str) -> str:
    """A line below a message: another, with its place, or how many more; a formula is kept."""
    text = line.lstrip()
    told = _placed(text, language) if text != line else None
    if text.startswith(_MORE):
        told = _said(text, language, _DEEPEST)
    return line if told is None else line.removesuffix(text) + told


def _placed(text: str, language: str, *, is_known: bool = False) -> str | None:
    """A message that begins with its place, perhaps only with one that is known, and a colon."""
    for match in islice(re.finditer(": ", text), _MOST_COLONS):
        if seen := _said(text[match.end() :], language, _DEEPEST):
            place = text[: match.start()]
            told = _said(place, language, _DEEPEST)
            if told or not is_known:
                return f"{told or place}: {seen}"
    return None


def _said(text: str, language: str, depth: int) -> str | None:
    """A line as several sentences of the file, or as one of them."""
    for match in islice(_SENTENCE_END.finditer(text), _MOST_SENTENCES):
        head = _sentence(text[: match.start()], language, depth)
        tail = _said(text[match.end() :], language, depth) if head is not None else None
        if head is not None and tail is not None:
            return f"{head} {tail}"
    return _sentence(text, language, depth)


def _sentence(text: str, language: str, depth: int) -> str | None:
    """A text that is one sentence of the file."""
    bare = text.removesuffix(".")
    for saying in _compiled():
        if saying.fixed in bare and (match := saying.pattern.fullmatch(bare)):
            made = _filled(saying.texts[language], match.groupdict(), language, depth)
            return made if made.endswith(_ENDS) or bare == text else f"{made}."
    return None


def _filled(text: str, values: Mapping[str, str], language: str, depth: int) -> str:
    """A sentence with its fields filled in."""

    def fill(match: re.Match[str]) -> str:
        name, kind, forms = match.groups()
        value = values[name]
        if forms is not None:
            return _FIELD.sub(fill, form(forms.split("|"), value, language))
        if kind == "#":
            return value.translate(MARKS)
        if kind or not depth:
            return value
        return _said(value, language, depth - 1) or value

    return _FIELD.sub(fill, text)


def form(forms: list[str], number: str, language: str) -> str:
    """The form of a word that comes after a number, by the plural rules of CLDR.

    Args:
        forms: after one and after others; in Russian, after one, few and many.
        number: digits, with commas between thousands and a point before decimals.
        language: ISO 639-1 code.
    """
    digits = number.lstrip("-").replace(",", "")
    if language != "ru":
        return forms[0 if digits == "1" else -1]
    if "." in digits:
        return forms[1]
    last, tens = int(digits[-1]), int(digits[-2:])
    if last == 1 and tens != 11:  # noqa: PLR2004  # the rule's own numbers
        return forms[0]
    return forms[1] if 2 <= last <= 4 and not 12 <= tens <= 14 else forms[-1]  # noqa: PLR2004


def two_decimals(value: float | None, say: Words) -> str:
    """A number with two decimals; empty for none."""
    return "" if value is None else say.number(value, ".2f")


_APART = ("es", "ru")
"""The languages of the app that put a space before the percent sign."""


def percent(value: float, say: Words, form: str = ".0f") -> str:
    """A number of percent as the language writes it, with a space before the sign or without.

    Args:
        value: in percent.
        say: the words of the page.
        form: of the number, as for `Words.number`.
    """
    blank = "\N{NO-BREAK SPACE}" if say.language in _APART else ""
    return f"{say.number(value, form)}{blank}%"


def reason_of(reason: str | None, say: Words) -> str:
    """Why there is no value, in the language of the page."""
    return said(reason or "", say.language) or reason or ""


def translated_message(message: CimentoError | Fault, language: str) -> str:
    """The place of an error or a fault and what was seen there; in English if it is not known.

    Args:
        message: the error, or the fault of a suite.
        language: ISO 639-1 code.
    """
    seen, where = said(message.seen, language), _OPTION_PLACE.sub("", message.where)
    where = where if seen is None else said(where, language) or where
    return _ended(f"{where}: {seen or message.seen}" if where else seen or message.seen)


def message_of(error: CimentoError, language: str) -> str:
    """The whole message of an error, its advice included; what is not known stays in English.

    Args:
        error: the error; one of several faults gives its own message.
        language: ISO 639-1 code.
    """
    if isinstance(error, SuiteError):
        known = errors(error.faults) or error.faults  # what keeps it from being used, if anything
        if language == USUAL and not any(_OF_COMMANDS.search(fault.todo) for fault in known):
            return str(error)
        faults = [_with_advice(fault, language) for fault in known[:_MOST_FAULTS]]
        more = ["..."] if len(known) > _MOST_FAULTS else []
        return "\n".join([error.where, *faults, *more])
    told = f"{error.where} {error.seen} {error.todo}"
    if language == USUAL and not _has_window(told):
        return str(error)
    return _with_advice(error, language)


_OPTION_PLACE = re.compile(r"(?:^|, )--[a-z].*")
"""The name of an option as the place of an error."""
_CODE = re.compile(r"(CIM-\w+ )?(.*?):?", re.DOTALL)
_SEEN = re.compile(r": (?=[A-Z])")
"""The end of the place of a fault: what was seen there is a sentence."""


def translated_line(line: str, language: str) -> str:
    """A line that a command has written about an error or a fault; in English if it is not known.

    Args:
        line: perhaps a code, then perhaps a place and a colon, then what was seen, then advice.
        language: ISO 639-1 code.
    """
    code, text = _CODE.fullmatch(line).groups(default="")  # type: ignore[union-attr]  # any text
    if match := _SEEN.search(text):
        told = said(text[match.end() :], language)
        if told is not None:
            place = text[: match.start()]
            return f"{code}{said(place, language) or place}: {told}"
    return code + (said(text.removesuffix("."), language) or text)


def _with_advice(message: CimentoError | Fault, language: str) -> str:
    return f"{translated_message(message, language)} {advice_of(message.todo, language)}".rstrip()


def advice_of(todo: str, language: str) -> str:
    """Advice as the window gives it: by the menus above columns, and without commands.

    Args:
        todo: advice of cimento in English; may be empty.
        language: ISO 639-1 code.
    """
    advice = without_commands(by_menus(said(todo, language) or todo, words(language)))
    return _ended(advice) if advice else ""


def _ended(text: str) -> str:
    return text if text.endswith(_ENDS) else f"{text}."


UNNAMED = "COLUMN"
"""What advice has in place of the name of a column that somebody has to name."""
_CHOICE = re.compile(r"--columns=(?:'(?P<quoted>[^']*)'|(?P<bare>[^\s,]*[^\s,.]))")


def by_menus(text: str, say: Words) -> str:
    """A text in which the menus above the columns are in place of the option ``--columns``.

    Args:
        text: advice of cimento in the language of the page.
        say: the words of the page.
    """

    def in_menus(match: re.Match[str]) -> str:
        chosen = _chosen(match)
        roles = (
            say.named("role", role) + (f" = {names}" if names else "")
            for role, names in named_by_role(chosen, say).items()
        )
        return say("edit.by-menus", roles=", ".join(roles)) if chosen else match[0]

    return _CHOICE.sub(in_menus, text)


def named_by_role(chosen: Mapping[str, str], say: Words) -> dict[str, str]:
    """The columns of each role as a page lists them; empty where somebody has to name them.

    Args:
        chosen: the columns by their roles, of which one may have several, with numbers behind it.
        say: the words of the page.
    """
    names: dict[str, list[str]] = {}
    for role, name in chosen.items():
        names.setdefault(alone(role), []).extend([say.quoted(name)] if name != UNNAMED else [])
    return {role: ", ".join(listed) for role, listed in names.items()}


def choices_in(text: str) -> list[dict[str, str]]:
    """The columns of roles that advice proposes, one dictionary for each option ``--columns``.

    Args:
        text: advice of cimento in English; a column that somebody has to name is `UNNAMED` in it.
    """
    return list(filter(None, map(_chosen, _CHOICE.finditer(text))))


def _chosen(match: re.Match[str]) -> dict[str, str]:
    """The columns by their roles; none where an option is not a list of them."""
    try:
        return parse_choice(match["quoted"] or match["bare"] or "", {**ROLES, **ANSWER_ROLES})
    except UsageError:
        return {}


_COMMAND = re.compile(r"[:;] `cimento [^`]*`.*?(?=\.?$|\. )")
"""What another part of a sentence says of a command."""
_OF_COMMANDS = re.compile(r"`cimento |(?:^|\W)--[a-z]")


def without_commands(text: str) -> str:
    """A message without what it says of commands and options, for which pages have fields.

    >>> without_commands("One person failed. `cimento annotate filter --attention 1` drops them.")
    'One person failed.'

    Args:
        text: sentences of cimento.
    """
    if not _OF_COMMANDS.search(text):
        return text
    sentences = _SENTENCE_END.split(_COMMAND.sub("", text))
    return " ".join(one for one in sentences if not _OF_COMMANDS.search(one))
