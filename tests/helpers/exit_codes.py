"""Every command that a test runs ends with an exit code that the help of this command has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cimento.cli.facts import OF_ANY_COMMAND, OF_COMMANDS
from cimento.cli.tree import leaves


def command_in(arguments: Sequence[str]) -> str:
    """The words of the command in a command line; empty where there is none."""
    found = (words for words in leaves() if tuple(arguments[: len(words)]) == words)
    return " ".join(max(found, key=len, default=()))


def ending_as_documented(
    invoke: Callable[[Sequence[str]], int],
) -> Callable[[Sequence[str]], int]:
    """`invoke`, and a check of the code that it returns."""

    def run(arguments: Sequence[str]) -> int:
        code = invoke(arguments)
        words = command_in(arguments)
        assert code in {**OF_ANY_COMMAND, **OF_COMMANDS.get(words, {})}, (
            f"cimento {words} ended with {code}, which cimento/cli/facts.py does not have for it"
        )
        return code

    return run
