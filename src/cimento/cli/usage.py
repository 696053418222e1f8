"""Usage errors of typer, as errors of our own: with one look, and with advice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cimento.cli.help import choices_of, metavar_of
from cimento.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from typer._click import Context

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
    flags = _flags(context)
    meant = did_you_mean(name, flags)
    todo = meant if meant.startswith("Did you mean") else _see(context, every=True)
    return UsageError(where=name, seen="there is no such option", todo=todo)


def _bad_usage(name: str, message: str) -> UsageError:
    if "requires" in message:
        return UsageError(where=name, seen="its value is missing", todo=f"Write {name} VALUE")
    if "does not take a value" in message:
        return UsageError(where=name, seen="it takes no value", todo=f"Write {name} alone")
    return UsageError(where=name, seen=message.rstrip("."))


def _flags(context: Context | None) -> Sequence[str]:
    params = [] if context is None else context.command.params
    return [flag for param in params for flag in (*param.opts, *param.secondary_opts)
            if param.param_type_name == "option"]  # fmt: skip


def _command(context: Context | None) -> str:
    return "cimento" if context is None else context.command_path


def _see(context: Context | None, *, every: bool = False) -> str:
    return f"See {_command(context)} {'--help-all' if every else '--help'}"
