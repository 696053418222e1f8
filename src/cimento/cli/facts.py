"""What holds for every command: exit codes and environment variables, for help and for pages."""

from __future__ import annotations

from collections.abc import Mapping

EXIT_CODES: Mapping[int, str] = {
    0: "Done.",
    1: "A model could not answer, a folder could not be written, or a repeated run differs.",
    2: "Wrong usage, or input that cannot be used; nothing was run, even if only one of several"
    " suites is at fault.",
    3: "Partly done: some runs failed, or items or runs that were asked for are missing.",
    4: "A threshold is not reached (run --fail-under, also if the main result is not a rate;"
    " compare --fail-if-worse).",
    130: "Interrupted; what was scored is kept.",
}
"""Exit codes of commands, each with its meaning."""

VARIABLES: Mapping[str, str] = {
    "CIMENTO_OPTION": "The value of an option, such as CIMENTO_BATCH_SIZE for --batch-size.",
    "CIMENTO_CACHE_DIR": "The folder in which answers are kept between runs.",
    "CIMENTO_DEBUG": "1 shows where in the program an error occurred.",
    "CIMENTO_PROGRESS_SECONDS": "Seconds between two lines of progress without a terminal.",
    "CIMENTO_API_KEY": "The key of a server; else OPENAI_API_KEY.",
    "CIMENTO_ADMIN_SECRET": "The password of a survey's administration.",
}
"""Environment variables, each with its meaning."""
