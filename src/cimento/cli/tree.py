"""The commands, as data: where each is, what it does in a line, and what it was called before.

A command is imported only when it is called, and a list of commands imports none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Entry(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        help: what it does, in a line.
        target: place of a command, as ``module:name`` below `cimento.cli`; empty for a group.
        commands: the commands of a group by name; empty for a command.
        default: the command of a group that is meant if none is named; empty if one must be.
        sections: the same commands by the titles under which help lists them; empty for one list.
    """

    help: str
    target: str = ""
    commands: Mapping[str, Entry] = {}
    default: str = ""
    sections: Mapping[str, Mapping[str, Entry]] = {}


def _joined(sections: Mapping[str, Mapping[str, Entry]]) -> dict[str, Entry]:
    """The commands of all sections, by name."""
    return {name: entry for section in sections.values() for name, entry in section.items()}


_ANALYZE = {
    "items": Entry("Estimate difficulties of items and abilities of models.", "analyze:analyze"),
    "profile": Entry("Describe models in each dimension of a cloze suite.", "profile:profile"),
    "attribution": Entry("Find which region carries a prediction, by layer.", "explain:explain"),
    "reading-times": Entry("Add the surprisals of words to reading times.", "reading:join"),
    "reading-gains": Entry("Estimate what surprisals add to reading times.", "reading:gains"),
    "power": Entry("Say how many items a difference needs.", "suites_derived:power_of_suite"),
    "probe": Entry("Classify sentences by a model's hidden states.", "suites_audit:probe_suites"),
    "exposure": Entry(
        "Count the words of items in a training corpus.", "suites_derived:exposure_of_runs"
    ),
    "variation": Entry("Say how results of stories vary with prompts.", "stories:variation"),
}

_BUILD = {
    "pairs": Entry("Generate pairs from grammars.", "suites_build:pairs"),
    "query": Entry("Make pairs from the matches of a treebank query.", "queries:build_query"),
    "prompted": Entry("Ask about the sentences of a suite in words.", "suites_build:prompted"),
    "stories": Entry("Propose variants of stories, to be confirmed.", "suites_build:stories"),
    "templates": Entry("Make templates with blanks from seeds.", "suites_build:templates"),
    "expressions": Entry("Make items of expressions in concordances.", "suites_build:expressions"),
}

_SUITES: Mapping[str, Mapping[str, Entry]] = {
    "Find and read": {
        "list": Entry("List bundled suites, or published ones.", "suites:list_suites"),
        "get": Entry("Fetch a published dataset.", "suites:get"),
        "show": Entry("Print a suite's description and first items.", "suites:show_suite"),
        "prompts": Entry("Print the prompts of story tasks.", "stories:prompts"),
    },
    "Make": {
        "new": Entry("Start a suite to fill in.", "suites:new"),
        "build": Entry("Make items from existing material.", commands=_BUILD),
        "convert": Entry("Write a suite in another format.", "suites:convert"),
        "merge": Entry("Write several suites of a design as one.", "suites_derived:merge_suite"),
        "publish": Entry("Write a suite as a folder to be published.", "suites:publish"),
    },
    "Check": {
        "check": Entry("List all faults of a suite at once.", "suites:check"),
        "audit": Entry("Look for confounds: length, tokens, overlap.", "suites_audit:audit_suites"),
    },
    "Change": {
        "vary": Entry("Write variants with one lexical change each.", "suites_derived:vary_suite"),
        "match": Entry("Keep the items whose conditions match.", "suites_derived:match_suite"),
        "prime": Entry("Put other sentences before every sentence.", "suites_derived:prime_suite"),
    },
}

_CORPUS = {
    "inventory": Entry("Merge lists of connectives.", "corpus:inventory"),
    "tags": Entry("Measure how common sequences of tags are.", "corpus:tags"),
    "select": Entry("Select the most frequent connectives.", "corpus_build:select"),
    "pairs": Entry("Sample sentences; a person decides on each.", "corpus_build:pairs"),
    "finish": Entry("Make a suite from the decisions.", "corpus_build:finish"),
    "search": Entry("Find every occurrence that a rule accepts.", "corpus:search"),
    "query": Entry("Search trees with a query in Grew's notation.", "queries:query"),
    "queries": Entry("List the stored queries, and what they find.", "queries:queries"),
    "connectives": Entry("Count each connective.", "corpus:connectives"),
    "check": Entry("Check treebank files.", "corpus_check:check"),
    "nli": Entry("Write premises and hypotheses.", "corpus:nli"),
    "tweets": Entry("Turn messages into sentences.", "corpus:tweets"),
    "concordance": Entry("Extract sentences from concordances.", "corpus:concordance"),
}

_REVIEW = {
    "export": Entry("Write a suite as a sheet.", "annotate_dialogues:export"),
    "import": Entry("Write the corrections into a copy.", "annotate_dialogues:import_"),
}

_SURVEY = {
    "build": Entry("Distribute the items of a suite over surveys.", "annotate_surveys:build"),
    "distractors": Entry("Propose the distractors of a maze.", "annotate_reading:distractors"),
    "export": Entry("Write the exports of a design again.", "annotate_surveys:export_design"),
}

_SERVE = {
    "start": Entry("Run the survey; stop with Ctrl-C.", "annotate_surveys:start"),
    "invite": Entry("Make links for participants.", "annotate_surveys:invite"),
    "export": Entry("Write the answers so far.", "annotate_surveys:export_answers"),
    "delete": Entry("Delete a participant's answers.", "annotate_surveys:delete"),
    "expire": Entry("Delete answers older than some days.", "annotate_surveys:expire"),
}

_ANNOTATE: Mapping[str, Mapping[str, Entry]] = {
    "Ask people": {
        "survey": Entry("Make surveys from suites.", commands=_SURVEY),
        "serve": Entry("Run a survey in a browser.", commands=_SERVE, default="start"),
    },
    "Read and use answers": {
        "import": Entry("Read answers from survey programs.", "annotate:import_answers"),
        "filter": Entry("Exclude participants, with a log.", "annotate:filter_answers"),
        "agreement": Entry("Compute the agreement of annotators.", "annotate_dialogues:agreement"),
        "adjudicate": Entry("Decide where two annotators differ.", "annotate:adjudicate"),
        "apply": Entry("Add people's answers to a copy of the suite.", "annotate:apply_answers"),
        "times": Entry("Write reading times by word.", "annotate_reading:times"),
        "pseudonym": Entry("Print the pseudonym of a participant.", "annotate:pseudonym_of"),
    },
    "Judge and write at the terminal": {
        "review": Entry("Send a suite to a native speaker, and back.", commands=_REVIEW),
        "candidates": Entry("Judge words put into blanks.", "annotate_candidates:candidates"),
        "pairs": Entry("Decide on replacements in sampled sentences.", "annotate_dialogues:pairs"),
        "stories": Entry("Write stories down, field by field.", "annotate_dialogues:stories"),
        "second": Entry("Judge stories again, blind.", "annotate_dialogues:second"),
    },
}

_STUDY = {
    "agreement": Entry("Subject-verb agreement, by probability ratios.", "study:agreement"),
    "portuguese": Entry("Brazilian Portuguese: grammar and idioms.", "study:portuguese"),
    "stories": Entry("Italian stories: plausibility, conflict, states.", "study_italian:stories"),
    "connectives": Entry("Italian connectives in cloze tests.", "study_italian:connectives"),
    "islands": Entry("Island effects in Italian.", "study_italian:islands"),
}

_CACHE = {
    "info": Entry("Show where the cache is and how large it is.", "models:info"),
    "clear": Entry("Delete all stored answers.", "models:clear"),
    "verify": Entry("Check every entry.", "models:verify"),
}

_MODELS = {
    "list": Entry("List models, and the ways to name one.", "models:list_models"),
    "check": Entry("Describe a model, and check its scores.", "models:check"),
    "measures": Entry("List measures with their units.", "measures:list_measures"),
    "ngram": Entry("Make an n-gram model from texts.", "suites_derived:baseline_of_text"),
    "cache": Entry("The answers kept between runs.", commands=_CACHE),
}

_CLUSTER = {
    "prefetch": Entry("Download what nodes without network need.", "plan:prefetch"),
    "slurm": Entry("Write a run as a Slurm job array.", "plan:slurm"),
    "collect": Entry("Check and merge a distributed run.", "plan:collect"),
}

SECTIONS: Mapping[str, Mapping[str, Entry]] = {
    "Test models": {
        "demo": Entry("Try everything once, offline, with a report.", "demo:demo"),
        "app": Entry("Work in the browser instead of a terminal.", "demo:app"),
        "run": Entry("Run suites on models.", "run:run"),
        "plan": Entry("Estimate the time, memory and cost of a run.", "plan:plan"),
        "judge": Entry("Judge stored runs again, without a model.", "stored:judge"),
        "rerun": Entry("Rerun stored runs; compare the results.", "stored:rerun"),
    },
    "Look at results": {
        "show": Entry("Show a stored run, or one of its items.", "report:show_run"),
        "report": Entry("Write a report, a table, a figure or a site.", "report:report"),
        "compare": Entry("Compare two runs, or all models of a suite.", "compare:compare"),
        "analyze": Entry("Analyze items, words, power and people.", commands=_ANALYZE),
        "cite": Entry("Print BibTeX, or a methods paragraph, for runs.", "stored:cite"),
        "export": Entry("Write stored runs for other programs.", "stored:export"),
    },
    "Score free text": {
        "score": Entry("Print the surprisals of free text.", "score:score"),
        "fill": Entry("List candidates for the blanks of free text.", "score:fill"),
    },
    "Make suites and ask people": {
        "suites": Entry(
            "List, make, check and convert test suites.",
            commands=_joined(_SUITES),
            sections=_SUITES,
        ),
        "corpus": Entry("Search treebanks, and make items from them.", commands=_CORPUS),
        "annotate": Entry(
            "Collect people's judgments.", commands=_joined(_ANNOTATE), sections=_ANNOTATE
        ),
    },
    "Models, machines, studies": {
        "models": Entry("List and check models; list measures.", commands=_MODELS),
        "study": Entry("Recompute a published study.", commands=_STUDY),
        "cluster": Entry("Prepare a run for many machines, and merge it.", commands=_CLUSTER),
    },
}
"""The commands, in the sections of the help page."""

COMMANDS = _joined(SECTIONS)
"""The commands at the top, by name."""

Words = tuple[str, ...]


def walk(commands: Mapping[str, Entry] = COMMANDS, above: Words = ()) -> Iterator[Words]:
    """The words of every command and group, such as ``("suites", "build", "pairs")``."""
    for name, entry in commands.items():
        words = (*above, name)
        yield words
        yield from walk(entry.commands, words)


def leaves() -> Iterator[Words]:
    """The words of every command that is not a group."""
    return (words for words in walk() if not entry_of(words).commands)


def entry_of(words: Sequence[str]) -> Entry:
    """The command or group with these words.

    Raises:
        KeyError: there is none.
    """
    found, *rest = words
    entry = COMMANDS[found]
    for word in rest:
        entry = entry.commands[word]
    return entry


MOVED: Mapping[str, tuple[str, str]] = {
    "figure": ("RUN... NAME -o FILE", "report RUN... --figure NAME -o FILE"),
    "site": ("RUN... -o FOLDER", "report RUN... --site FOLDER"),
    "profile": ("RUN...", "analyze profile RUN..."),
    "explain": ("RUN [ITEM...]", "analyze attribution RUN [ITEM...]"),
    "join": ("FILE -m MODEL", "analyze reading-times FILE -m MODEL"),
    "suites power": ("RUN...", "analyze power RUN..."),
    "suites probe": ("SUITE... -m MODEL", "analyze probe SUITE... -m MODEL"),
    "suites exposure": ("RUN... --corpus FILE", "analyze exposure RUN... --corpus FILE"),
    "suites baseline": ("--text FILE -o FILE", "models ngram --text FILE -o FILE"),
    "suites new acceptability": ("FOLDER", "suites new ratings FOLDER"),
    "stories variation": ("RUN...", "analyze variation RUN..."),
    "stories convert": ("FILE -o PATH", "suites convert FILE -o PATH"),
    "stories prompts": ("", "suites prompts"),
    "stories prompt": ("SUITE --row N", "suites prompts SUITE --row N"),
    "cache info": ("", "models cache info"),
    "cache clear": ("", "models cache clear"),
    "cache verify": ("", "models cache verify"),
    "prefetch": ("SUITE... -m MODEL", "cluster prefetch SUITE... -m MODEL"),
    "slurm": ("SUITE... -m MODEL", "cluster slurm SUITE... -m MODEL"),
    "collect": ("SUITE... -m MODEL", "cluster collect SUITE... -m MODEL"),
}
"""Each command that was renamed: its old words, what followed them, and what to type now."""

ANALYZE_RUNS = "analyze items RUN..."
"""What ``analyze RUN...`` is now; `analyze` itself is a group."""


def moved(words: Sequence[str]) -> tuple[str, str]:
    """The old words of a command that was renamed, and what to type instead; empty if it was not.

    Args:
        words: what was typed after ``cimento``; what follows the command is ignored.
    """
    for length in (3, 2, 1):
        old = " ".join(words[:length])
        if new := MOVED.get(old):
            return old, f"cimento {new[1]}"
    inside = [new for old, (_, new) in MOVED.items() if old.split()[:1] == [*words[:1]]]
    if words and words[0] not in COMMANDS and inside:
        return words[0], ", or ".join(f"cimento {new}" for new in inside)
    return "", ""


def spellings() -> list[tuple[str, str]]:
    """The old and the new spelling of every command that was renamed, for the changelog."""
    rows = [(f"{old} {rest}".strip(), new) for old, (rest, new) in MOVED.items()]
    return [*rows, ("analyze RUN...", ANALYZE_RUNS)]
