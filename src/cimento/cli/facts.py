"""What holds for every command: exit codes and environment variables, for help and for pages."""

from __future__ import annotations

from collections.abc import Mapping

EXIT_CODES: Mapping[int, str] = {
    0: "Done.",
    1: "Failed: a model could not answer, a folder could not be written, a check was not passed, or"
    " a repeated run differs.",
    2: "Wrong usage, or input that cannot be used; nothing was run, even if only one of several"
    " suites is at fault.",
    3: "Partly done: some runs failed, or items or runs that were asked for are missing.",
    4: "A threshold is not reached (run --fail-under, also if the main result is not a rate;"
    " compare --fail-if-worse).",
    130: "Interrupted; what was scored is kept.",
}
"""Exit codes of commands, each with its meaning."""

OF_ANY_COMMAND: Mapping[int, str] = {0: "done", 1: "failed", 2: "wrong input", 130: "interrupted"}
"""The codes that any command may end with, in brief."""

_PART = "a part is missing"
_STUDY = {1: "failed, or a number differs from the printed one", 3: _PART}

OF_COMMANDS: Mapping[str, Mapping[int, str]] = {
    "run": {3: _PART, 4: "below --fail-under"},
    "compare": {3: _PART, 4: "the second is worse"},
    "plan": {1: "no model can be asked", 3: _PART},
    "judge": {3: "no item of a run could be scored"},
    "rerun": {1: "failed, or a repeated run differs"},
    "export": {2: "wrong input, or, for eval-results, a suite that is not from --dataset"},
    "cluster prefetch": {3: _PART},
    "cluster slurm": {
        2: "wrong input, or a run would be refused; no array is written",
        3: "no published set of a language can be used; no array is written",
    },
    "cluster collect": {1: "failed, or everything is missing", 3: _PART},
    "models check": {1: "failed, or a check was not passed"},
    "models cache verify": {1: "failed, or an entry is damaged"},
    "suites check": {2: "wrong input, or a suite cannot be used"},
    "corpus check": {2: "wrong input, or a line is malformed"},
    "study agreement": {3: _PART},
    "study portuguese": {3: _PART},
    "study islands": {3: _PART},
    "study connectives": _STUDY,
    "study stories": _STUDY,
}
"""The codes with a meaning of their own, by command, in brief."""


def exit_codes(words: str) -> str:
    """The exit codes of a command in a sentence; empty where they are those of any command.

    Args:
        words: the command, such as ``cluster collect``.
    """
    if words not in OF_COMMANDS:
        return ""
    codes = {**OF_ANY_COMMAND, **OF_COMMANDS[words]}
    return f"Exit codes: {', '.join(f'{code} {codes[code]}' for code in sorted(codes))}."


VARIABLES: Mapping[str, str] = {
    "CIMENTO_OPTION": "The value of an option, such as CIMENTO_BATCH_SIZE for --batch-size.",
    "CIMENTO_CACHE_DIR": "The folder in which answers are kept between runs.",
    "CIMENTO_DEBUG": "1 shows where in the program an error occurred.",
    "CIMENTO_PROGRESS_SECONDS": "Seconds between two lines of progress without a terminal.",
    "CIMENTO_API_KEY": "The key of a server; else OPENAI_API_KEY.",
    "CIMENTO_ADMIN_SECRET": "The password of a survey's administration.",
}
"""Environment variables, each with its meaning."""
