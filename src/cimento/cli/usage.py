"""Usage errors of typer, as errors of our own: with one look, and with advice."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from cimento.cli.help import choices_of, metavar_of
from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typer._click import Command, Context

_GIVEN = re.compile(r"'(?P<value>.*)' is not one of ", re.DOTALL)
_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((?P<words>.*)\)", re.DOTALL)


def usage_error(error: Any) -> UsageError | None:  # noqa: ANN401  # typer's, see above
    """The error of an option or argument that cannot be read; None for help that was printed.

    Args:
        error: an error of the common base class of these.
    """
    kind = type(error).__name__
    context: Context | None = error.ctx
    if kind == "NoArgsIsHelpError":
        return None
    if kind == "NoSuchOption":
        return _no_such_option(str(error.option_name), context)
    if kind == "BadOptionUsage":
        return _bad_usage(str(error.option_name), str(error.message))
    if (param := getattr(error, "param", None)) is not None:
        missing = kind == "MissingParameter"
        return _missing(param, context) if missing else _bad_value(error, param)
    extra = _EXTRA.match(str(error.message))
    seen = f"there is an argument too many: {extra['words']}" if extra else str(error.message)
    return UsageError(where=_command(context), seen=seen.rstrip("."), todo=_see(context))


def _missing(param: Any, context: Context | None) -> UsageError:  # noqa: ANN401
    if param.param_type_name == "argument":
        seen = f"{metavar_of(param)} is missing"
        return UsageError(where=_command(context), seen=seen, todo=_see(context))
    flags = sorted(map(str, param.opts), key=len)
    todo = f"Add {flags[0]} {metavar_of(param)}"
    return UsageError(where=flags[-1], seen="it must be given", todo=todo)


def _bad_value(error: Any, param: Any) -> UsageError:  # noqa: ANN401
    choices, message = choices_of(param), str(error.message)
    is_argument = param.param_type_name == "argument"
    where = metavar_of(param) if is_argument else max(map(str, param.opts), key=len)
    value, todo = "", ""
    if faults := getattr(error.__cause__, "errors", None):
        from cimento.io.parsing import fault_in_words

        # typer repeats pydantic's words, which are for programmers.
        [fault, *_] = faults()
        value, todo = str(fault.get("input")), fault_in_words(fault)
    elif match := _GIVEN.match(message):
        value = match["value"]
    if choices and value:
        todo = did_you_mean(value, choices, listed=choices)
    if not todo or repr(value) in todo:
        return UsageError(where=where, seen=(todo or message).rstrip("."))
    return UsageError(where=where, seen=f"got {value!r}", todo=todo)


def _no_such_option(name: str, context: Context | None) -> UsageError:
    """Say where an option is, or which one is meant: a near spelling may be another thing."""
    flags = _flags(context)
    near = did_you_mean(name, flags)
    meant = near if near.startswith("Did you mean") else ""
    todo = _as_setting(name, flags) or meant or _elsewhere(name) or _see(context, every=True)
    return UsageError(where=name, seen="there is no such option", todo=todo)


_SETTERS = {"--set": "", "--also": " for one more row"}
"""The flags that take options of a kind of test, and what they take them for."""


def _as_setting(name: str, flags: Collection[str]) -> str:
    """How an option of a kind of test is written, if the command takes these."""
    from cimento.kinds.registry import own_paradigms

    setters = [flag for flag in _SETTERS if flag in flags]
    option = name.lstrip("-").replace("-", "_")
    if not setters or all(option not in kind.options.model_fields for kind in own_paradigms()):
        return ""
    ways = " or ".join(f"{flag} {option}=VALUE{_SETTERS[flag]}" for flag in setters)
    return f"It is an option of a kind of test: write {ways}"


_NAMED_COMMANDS = 2


def _elsewhere(name: str) -> str:
    """The commands that have an option with this name."""
    from cimento.cli.groups import command_of
    from cimento.cli.tree import leaves

    having = [words for words in leaves() if name in _flags_of(command_of(words))]
    named = [f"`cimento {' '.join(words)}`" for words in having[:_NAMED_COMMANDS]]
    others = ", among others" if len(having) > _NAMED_COMMANDS else ""
    return f"It is an option of {' and '.join(named)}{others}; leave it out here" if named else ""


def _bad_usage(name: str, message: str) -> UsageError:
    if "requires" in message:
        return UsageError(where=name, seen="its value is missing", todo=f"Write {name} VALUE")
    if "does not take a value" in message:
        return UsageError(where=name, seen="it takes no value", todo=f"Write {name} alone")
    return UsageError(where=name, seen=message.rstrip("."))


def _flags(context: Context | None) -> list[str]:
    return [] if context is None else _flags_of(context.command)


def _flags_of(command: Command) -> list[str]:
    """Every spelling of the options of a command."""
    options = [param for param in command.params if param.param_type_name == "option"]
    return [flag for param in options for flag in (*param.opts, *param.secondary_opts)]


def _command(context: Context | None) -> str:
    return "cimento" if context is None else context.command_path


def _see(context: Context | None, *, every: bool = False) -> str:
    return f"See {_command(context)} {'--help-all' if every else '--help'}"
