"""``cimento score``: surprisals of free text."""

from __future__ import annotations

from pathlib import Path

from cimento.cli.flags import command_of
from cimento.options import ScoringOptions, option


class _Options(ScoringOptions):
    """How texts are scored, which texts, and what is printed."""

    file: Path = option(Path("-"), "One text a line; - is standard input.")
    model: str = option(
        ..., "demo-causal, a folder, org/name@revision, openai:URL#model.", flags=("-m",)
    )
    words: bool = option(
        default=False, help="One row a word, or one a token.", flags=("--words/--tokens",)
    )
    context_file: Path | None = option(None, "What stands before each text, one line for each.")
    end_marks: str = option("", "Instead: how probable these are after every word, such as '?.'.")


def _score(options: _Options) -> int:
    """Print the surprisal of every token or word of a text, in bits, as TSV.

    Each line of the input is a text of its own; empty lines are passed over.
    """
    from cimento.cli.console import show
    from cimento.engine.freetext import read_contexts, read_lines, score_end_marks, score_texts
    from cimento.errors import UsageError

    asking, model = options.asking, options.model
    if options.context and options.context_file is not None:
        raise UsageError(
            where="--context-file",
            seen="--context is given too",
            todo="Give one of the two.",
        )
    texts = read_lines(options.file)
    if options.end_marks:
        table = score_end_marks(texts, model, marks=tuple(options.end_marks), asking=asking)
    else:
        file = options.context_file
        contexts = None if file is None else read_contexts(file, texts)
        table = score_texts(texts, model, contexts=contexts, asking=asking, words=options.words)
    show(table.write_csv(separator="\t", null_value="", quote_style="never"))
    return 0


score = command_of(_Options, _score, positional="file", metavar="[FILE]")
