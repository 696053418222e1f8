"""Every error cimento raises on purpose, and the faults that checks report.

::

    CimentoError                   catch this one to catch them all
    ├── UsageError           (2)   an option, a name or a combination that does not exist
    ├── InputError           (2)   a file that cannot be used as it is
    │   ├── SuiteError             a suite with faults; carries every one of them
    │   ├── FormulaError           a prediction formula; points at the column
    │   └── TableError             a stored or recorded table with another schema
    ├── MissingDependencyError (2) an optional package that this step needs
    ├── ModelError           (1)   a model that cannot be loaded or cannot be used
    │   ├── TextTooLongError       a stimulus longer than the model's window
    │   └── NonFiniteScoreError    the model returned NaN or infinity
    ├── PluginError          (1)   a plug-in of another package that failed
    └── StorageError         (1)   a folder or file that cannot be written or read

The number is the exit code that the command line ends with. A message says where the trouble is,
what was seen there and what to do about it.

Errors are raised with options written as flags: ``--window``, and ``--window=sliding`` where a
value is meant. Their text names them as its reader writes them: ``--window sliding`` on the command
line (see `with_flags`), else ``window='sliding'``.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal

_SHOWN = 20
_MOST_NAMED = 24
_MOST_CLOSE = 3
SHORTEST_PART = 4
_MOST_COMPARED = 20_000
_LONGEST_COMPARED = 200
_LONGEST_LINE = 2_000
_LONGEST_FAULT = 600
_LONGEST_MESSAGE = 20_000
_END_OF_MESSAGE = 2_000
_FORMULA_SHOWN = 120
_ITEM = re.compile(r"(?:^|, )item (?!number )(.+?)(?:, condition .*)?$")
_USER_OF_URL = re.compile(r"(?<=://)[^/@\s]*@")
_BLANKS = "\t\u00a0\u202f"

_VERBS = frozenset({"is", "are", "has", "have", "holds", "lacks", "cannot", "does", "do", "was"})

Severity = Literal["error", "warning"]
"""Whether a suite with this fault can be used."""


_OPTION = re.compile(
    # A command line is copied as it is.
    r"(?P<command>`[^`]* [^`]*`|\bcimento (?:[^`;.\n]|\.(?=\S))+)"
    r"|(?<![\w'\"/-])--(?P<set>set (?=\w))?(?P<name>\w(?:[\w-]*\w)?)"
    r"(?:=(?P<value>'[^']*'|[^\s,;]*[^\s,;.:?)]|\.\.\.))?"
)
_SWITCHES = frozenset(
    {
        "adaptive",
        "all_tokens",
        "allow_loss",
        "allow_pickle",
        "boundary_eos",
        "force",
        "leading_blank",
        "lowercase",
        "no_cache",
        "trust_remote_code",
    }
)
"""The options that are true or false; `cimento.options`, which has them, imports this module."""

_PYTHON_NAMES = {"prediction": "predictions", "json": "as_json"}
_PLAIN_VALUE = re.compile(r"-?[\d.]+|[A-Z][A-Z,|=]*|True|False|\.\.\.")


class _Reader:
    """Who reads messages: the command line says that its user does."""

    writes_flags = False


@contextmanager
def with_flags() -> Iterator[None]:
    """A context in which messages name options as flags, as the command line needs them."""
    before, _Reader.writes_flags = _Reader.writes_flags, True
    try:
        yield
    finally:
        _Reader.writes_flags = before


def _named_options(text: str) -> str:
    """A message with its options as its reader writes them: as flags, or as in Python."""
    return _OPTION.sub(_flag if _Reader.writes_flags else _keyword, text)


def _flag(match: re.Match[str]) -> str:
    """An option as a flag, with its value after a blank."""
    if match["set"] or match["value"] is None:
        return match[0]
    return f"--{match['name']} {match['value']}"


def _keyword(match: re.Match[str]) -> str:
    """An option as a keyword argument, with its value if it has one."""
    if match["command"]:
        return match[0]
    name, value = match["name"].replace("-", "_"), match["value"]
    value = value[1:-1] if value and value[0] == value[-1] == "'" else value
    if name in _SWITCHES and value is None:
        value = "True"
    if name.removeprefix("no_") in _SWITCHES - {name} and value is None:
        name, value = name.removeprefix("no_"), "False"
    name = _PYTHON_NAMES.get(name, name)
    if value is None:
        return f"{name}="
    return f"{name}={value if _PLAIN_VALUE.fullmatch(value) else repr(value)}"


def _as_place(where: str) -> str:
    """A place as a message of Python begins with it: ``option device`` for ``--device``."""
    match = _OPTION.fullmatch(where)
    if match is None or match["command"] or match["value"] is not None:
        return where
    return f"option {_keyword(match).partition('=')[0]}"


class CimentoError(Exception):
    """The base class of all errors that cimento raises on purpose.

    Args:
        where: the file, row, item, option or model concerned.
        seen: what was found there: a sentence, or one whose subject is the place (``is empty``).
        todo: what the user can do about it; may be empty where there is no advice to give.

    All three write options as flags; the text of the error shows them as the caller writes them
    (flags or keywords).
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, *, where: str, seen: str, todo: str = "") -> None:
        super().__init__(where, seen, todo)
        self.where = where
        self.seen = seen
        self.todo = todo

    def __str__(self) -> str:
        # What begins with a verb has the place as its subject: `a.ods is a workbook`.
        between = " " if self.seen.split(" ", 1)[0] in _VERBS else ": "
        where = self.where if _Reader.writes_flags else _as_place(self.where)
        parts = [f"{where}{between}{self.seen}" if where else self.seen]
        if self.todo:
            parts.append(self.todo)
        parts = [part if part.endswith((".", "?", "!")) else part + "." for part in parts]
        text = "\n".join(map(_shown, _named_options(" ".join(parts)).split("\n")))
        if len(text) <= _LONGEST_MESSAGE:
            return text
        return f"{text[: _LONGEST_MESSAGE - _END_OF_MESSAGE]}\n...\n{text[-_END_OF_MESSAGE:]}"


class UsageError(CimentoError):
    """The error of an option, a name or a combination of them that does not exist."""

    exit_code = 2


class InputError(CimentoError):
    """The error of a file that cannot be used as it is."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault found in a suite.

    Attributes:
        code: stable code, such as ``CIM-S004``; docs/checks has a page for each code.
        severity: an ``error`` keeps the suite from being used, a ``warning`` does not.
        where: the file, and the row or item as precisely as it is known.
        seen: what was found.
        todo: what to do about it.
        places: every place that it is about, if there are several; messages have `where`.
    """

    code: str
    severity: Severity
    where: str
    seen: str
    todo: str
    places: tuple[str, ...] = ()

    @property
    def item(self) -> str:
        """The id of the item that the place ends with; empty if it names none."""
        match = _ITEM.search(self.where)
        return match[1] if match else ""

    @property
    def line(self) -> str:
        """The whole fault, with options as flags; a formula is on lines of its own."""
        # A caret is below the offending character of a formula.
        text = f"{self.code} {self.where}: {self.seen} {self.todo}".rstrip()
        return "\n".join(_shown(line, _LONGEST_FAULT) for line in text.split("\n"))

    def __str__(self) -> str:
        return _named_options(self.line)


def counted(count: int, one: str, several: str = "") -> str:
    """A number with the words for what it counts: ``1 item``, ``2 items``.

    Args:
        count: the number.
        one: the words after 1, such as ``verdict is``.
        several: the words after other numbers, such as ``verdicts are``; empty for `one` and an s.
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


_CODE = re.compile(r"[A-Z]{3}-[A-Z][0-9]{3}\b")
_MOST_OF_A_CODE = 3


def few_of_each_code(said: Iterable[str]) -> list[str]:
    """Remarks of which three of a check's code are given; the others are counted.

    A suite of generated items may have hundreds of the same kind.
    """
    remarks = [*said]
    codes = [match[0] if (match := _CODE.match(remark)) else "" for remark in remarks]
    shown: Counter[str] = Counter()
    kept = []
    for code, remark in zip(codes, remarks, strict=True):
        shown[code] += 1
        if not code or shown[code] <= _MOST_OF_A_CODE:
            kept.append(remark)
    left = {code: n - _MOST_OF_A_CODE for code, n in shown.items() if code and n > _MOST_OF_A_CODE}
    return kept + [
        f"{code} and {n:,} more of this kind: `cimento suites check SUITE` lists all."
        for code, n in left.items()
    ]


def listed(faults: Sequence[Fault | str]) -> str:
    """The number of problems, then one fault a line; of very many, only the first."""
    count = counted(len(faults), "problem")
    texts = (fault.line if isinstance(fault, Fault) else fault for fault in faults[:_SHOWN])
    lines = "".join(f"\n  {text}" for text in texts)
    more = f"\n  ... and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
    return f"{count}:{lines}{more}"


class SuiteError(InputError):
    """The error of a suite that cannot be used; ``faults`` holds all faults, not only the first."""

    def __init__(self, *, where: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        errors = [fault for fault in self.faults if fault.severity == "error"]
        super().__init__(where=where, seen=listed(errors))


class FormulaError(InputError):
    """The error of a prediction formula that cannot be read; the message points at the column.

    Args:
        formula: the whole formula.
        column: offset of the first offending character, from 0.
        seen: what is wrong there.
        todo: what to write instead.
    """

    def __init__(self, *, formula: str, column: int, seen: str, todo: str = "") -> None:
        self.formula = formula
        self.column = column
        super().__init__(where=f"formula, column {column + 1}", seen=seen, todo=todo)

    def __str__(self) -> str:
        # Only the part around the offending character of a long formula is shown.
        start = max(self.column - _FORMULA_SHOWN // 2, 0)
        shown = self.formula[start : start + _FORMULA_SHOWN]
        shown = "".join(mark if mark.isprintable() else " " for mark in shown)
        return f"{super().__str__()}\n    {shown}\n    {' ' * (self.column - start)}^"


class TableError(InputError):
    """The error of a stored or recorded table with unexpected columns or schema version."""


class MissingDependencyError(CimentoError):
    """The error of a missing optional package; the message gives the command that installs it."""

    exit_code = 2

    def __init__(self, *, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            where=purpose,
            seen=f"the package {package!r} is not installed",
            todo=f"Install it with: pip install 'cimento[{extra}]'",
        )


@contextmanager
def needing(package: str, *, extra: str, purpose: str) -> Iterator[None]:
    """A context of importing an optional package, in which its absence becomes advice.

    Args:
        package: the package.
        extra: the extra of cimento that installs it.
        purpose: what needs it.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise MissingDependencyError(package=package, extra=extra, purpose=purpose) from error


class ModelError(CimentoError):
    """The error of a model that cannot be loaded, or that cannot answer what it is asked."""


class ChangedModelError(ModelError):
    """The error of a model that another one has replaced while it was asked."""


class TextTooLongError(ModelError):
    """The error of a stimulus that does not fit the model's window."""


class NonFiniteScoreError(ModelError):
    """The error of a model that returned NaN or infinity instead of a log-probability.

    Attributes:
        request: number of the request that had this answer; None where that is not known.
    """

    request: int | None = None


class PluginError(CimentoError):
    """The error of a failed model, reader, measure or kind of test from another package."""


class StorageError(CimentoError):
    """The error of a folder or file that cannot be written or read."""


def _shown(line: str, longest: int = _LONGEST_LINE) -> str:
    """A line of a message, cut where it is long and without characters that steer a terminal.

    A user name and password before the host of a URL are left out.
    """
    line = _USER_OF_URL.sub("", line)
    if len(line) > longest:
        line = f"{line[: longest // 2]} ... {line[-longest // 2 :]}"
    if line.isprintable():
        return line
    return "".join(mark if mark.isprintable() or mark in _BLANKS else "\ufffd" for mark in line)


def as_sentence(text: str) -> str:
    """A message as a sentence, with a capital and exactly one mark at its end."""
    end = "" if text.endswith("?") else "."
    return f"{text[:1].upper()}{text[1:].rstrip('.')}{end}"


_NEGATIONS = ("a", "ab", "an", "in", "im", "il", "ir", "dis", "s", "un", "non", "no", "not", "não",
              "не", "без")  # fmt: skip
"""What makes the opposite of a word before it, alone or with a mark between: agramatical, non-X."""


def are_opposites(one: str, other: str) -> bool:
    """Whether one name is the other with a negation before it, as *agramatical* is of *gramatical*.

    >>> are_opposites("ungrammatical", "grammatical"), are_opposites("gramatical", "gramaticas")
    (True, False)

    Args:
        one: a name.
        other: another.
    """
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    # A doubled letter goes with a prefix: agrammaticale, illegal.
    begun = long.removesuffix(short).strip(" -_")
    return bool(short) and long != short and long.endswith(short) and begun in _NEGATIONS


def did_you_mean(name: str, known: Iterable[str], *, listed: Iterable[str] | None = None) -> str:
    """A sentence naming the closest known names, or the sorted list, cut where it is long.

    Args:
        name: the unknown name.
        known: names that may have been meant.
        listed: the names to list where none is close; None for all that are known. If it is empty,
            so is the sentence where none is close.
    """
    names = sorted(set(known))
    # The names in an untrusted file may be so long or so many that comparing them takes minutes.
    short = [
        other for other in names[:_MOST_COMPARED]
        if len(other) <= _LONGEST_COMPARED and not are_opposites(name, other)
    ]  # fmt: skip
    close = difflib.get_close_matches(name[:_LONGEST_COMPARED], short, n=_MOST_CLOSE, cutoff=0.6)
    if not close and len(name) >= SHORTEST_PART:
        close = [other for other in short if name.casefold() in other.casefold()][:_MOST_CLOSE]
    if close:
        return f"Did you mean {' or '.join(repr(near) for near in close)}?"
    if listed is not None and not (names := sorted(listed)):
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"Known: {', '.join(names[:_MOST_NAMED])}{more}." if names else "There is none."


def need_known(
    name: str,
    known: Collection[str],
    *,
    where: str,
    seen: str,
    error: type[UsageError | InputError] = UsageError,
    also: str = "",
) -> None:
    """Refuse a name that is not known.

    Args:
        name: the name as it was given.
        known: the names that exist.
        where: the option or place that has the name.
        seen: what is wrong with it.
        error: the class of the error that is raised.
        also: further advice, after the closest names.

    Raises:
        UsageError: the name is not known (an error of the class ``error``, if one is given).
    """
    if name not in known:
        raise error(where=where, seen=seen, todo=did_you_mean(name, known) + also)
