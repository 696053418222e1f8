"""``cimento corpus check``: what in the files of treebanks violates CoNLL-U."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from cimento.cli.console import show, show_json
from cimento.cli.flags import command_of
from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.conllu_style import check_file
from cimento.corpus.treebanks import open_treebanks
from cimento.errors import counted
from cimento.io.declared import Options, option
from cimento.options import run_option

_PROBLEM_FIELDS = ("line", "sentence", "seen", "severity")
_SHOWN = 3
"""How many warnings of one kind are listed; ``--all-warnings`` lists the others."""
_PARTICULAR = re.compile(r"'[^']*'|[\d.-]+")


class CheckOptions(Options):
    """The treebanks to check."""

    treebanks: tuple[Path, ...] = option(
        ..., "CoNLL-U files (.conllu, .gz), folders of them; it_sample.", argument="TREEBANK..."
    )
    all_warnings: bool = option(default=False, help="List all warnings of a kind.")
    as_json: bool = run_option("as_json")


@command_of
def check(options: CheckOptions) -> int:
    """Check CoNLL-U files: sentences that cannot be read, and what else violates the format.

    Errors are the malformed lines for which a sentence is left out, and make the exit code 2.
    Warnings are about what is not needed to read a sentence (line ends, the order of features,
    DEPS, a text unlike its words), by the rules of Universal Dependencies, levels 1 and 2; tags
    and relations are not compared with those of a language.
    """
    failed = False
    plain = []
    for file in open_treebanks(options.treebanks):
        checked = check_file(file.path)
        errors = [problem for problem in checked.problems if problem.severity == "error"]
        failed = failed or bool(errors)
        if options.as_json:
            listed = [
                {name: getattr(problem, name) for name in _PROBLEM_FIELDS}
                for problem in checked.problems
            ]
            counts = {"sentences": checked.n_sentences, "words": checked.n_words}
            plain.append({"file": file.name, "sha256": file.sha256, **counts, "problems": listed})
            continue
        for line in _listed(checked.problems, most=None if options.all_warnings else _SHOWN):
            show(line)
        show(
            f"{file.name}: {counted(checked.n_sentences, 'sentence')},"
            f" {counted(checked.n_words, 'word')}, {counted(len(errors), 'error')},"
            f" {counted(len(checked.problems) - len(errors), 'warning')}"
        )
    if options.as_json:
        show_json({"files": plain})
    return 2 if failed else 0


def _listed(problems: Sequence[ReadingProblem], *, most: int | None) -> Iterator[str]:
    """The problems of a file in lines; of the warnings of one kind, the first few."""
    kinds = Counter[str]()
    for problem in problems:
        kind = _PARTICULAR.sub("", problem.seen) if problem.severity == "warning" else ""
        kinds[kind] += bool(kind)
        if most is None or kinds[kind] <= most:
            yield f"{problem.severity}: {problem}"
    hidden = sum(max(0, count - most) for count in kinds.values()) if most is not None else 0
    if hidden:
        yield f"{counted(hidden, 'more warning')} like these: --all-warnings lists them."
