"""The groups of options in help, and which of them ``-h`` shows, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Groups = Mapping[str, Sequence[str]]
"""Titles of groups, each with the names of its options."""

OTHER: Groups = {
    "Model": (
        "device", "dtype", "tokenizer", "kind", "batch_size", "batch_tokens", "model_args",
        "tokenizer_args", "allow_pickle", "trust_remote_code", "lowercase",
    ),
    "Server": ("concurrency", "timeout", "body", "prices"),
    "Scoring": (
        "bos", "pll", "punctuation", "segmenter", "leading_blank", "boundary", "boundary_eos",
        "boundary_first", "mc_samples", "mc_seed", "window", "stride", "context",
        "context_column", "all_tokens", "store", "layers", "spec", "recorded_unit",
    ),
    "Judging": (
        "metric", "predictions", "unit", "unigrams", "unscored_first", "ties", "near_ties",
        "cluster", "seed",
    ),
    "Machines": ("engine", "workers", "share", "no_cache"),
    "Output": (
        "output", "form", "as_json", "junit", "log_samples", "sensitivity", "fail_under",
        "allow_partial", "spreadsheet_safe",
    ),
}  # fmt: skip
"""The groups that commands share; an option of none of them is one of the command's own."""

FEW = 8
"""Number of options up to which a command has them in one group."""

_RUN = ("models", "output", "language", "columns", "limit", "measures", "set", "compat", "force")

_LANGUAGE = (
    "sets", "without", "budget", "speed", "accept_license", "all_languages", "sets_folder",
    "registry", "lock",
)  # fmt: skip

GROUPS: Mapping[str, Groups] = {
    "run": {
        "Common": _RUN,
        "A language, without SUITE": _LANGUAGE,
        "Stopping early": ("adaptive", "precision"),
    },
    "report": {
        "A page": ("output", "language", "analyze", "measures", "cluster"),
        "A table": ("table", "form", "label"),
        "A figure": (
            "figure", "item", "length", "scope", "bars", "people", "font_size", "gray",
        ),
        "A table or a figure": ("title", "rename", "scale", "seed", "spreadsheet_safe"),
        "A site": ("site", "address", "license", "dataset", "as_json"),
    },
    "score": {"Common": ("model", "output", "words", "as_json")},
    "fill": {"Common": ("model", "output", "k", "protocol", "among", "as_json")},
    "analyze reading-times": {
        "Common": ("model", "output", "columns", "texts", "before", "frequency", "entropy"),
    },
    "analyze reading-gains": {
        "Common": ("models", "given", "output", "columns", "texts", "before", "frequency"),
        "Regression": ("item", "baseline", "transform", "shortest", "longest", "folds", "seed"),
    },
    "analyze attribution": {
        "What is asked": ("by", "part", "align", "baseline", "reverse", "plan"),
        "Where": ("predictions", "swap", "controller", "feature", "region"),
        "Model": (
            "model", "device", "batch_size", "batch_tokens", "model_args", "tokenizer_args",
            "allow_pickle", "trust_remote_code",
        ),
    },
    "analyze profile": {
        "Candidates": ("k", "method", "top_p", "threshold", "not_expected"),
        "Compared with": (
            "by", "dictionary", "judgments", "frequency", "ratings", "at_most", "people", "rule",
        ),
    },
    "annotate import": {
        "Common": ("output", "suites", "secret", "names"),
        "Options": (
            "design", "form", "columns", "fixed", "mapping", "items", "unknown", "unsubmitted",
            "details",
            "prolific", "keep", "participants",
        ),
    },
    "annotate survey build": {
        "Common": ("output", "task", "surveys", "times", "scale", "title", "language"),
        "Items": (
            "limit", "seed", "balance", "apart", "all_conditions", "fillers", "filler_label",
            "practice", "distractors", "after_error",
        ),
        "Checks": ("checks", "check_file"),
        "Participants": (
            "consent", "contact", "background", "background_file", "completion", "break_every",
            "none",
        ),
    },
    "suites build pairs": {
        "Suites": ("output", "items", "every", "classes", "seed", "force", "listed"),
        "Review by a native speaker": ("review", "reviewed"),
    },
    "models check": {"Common": ("suites", "language", "texts", "precision", "as_json")},
    "suites build query": {
        "Source": ("treebanks", "license", "text", "malformed", "dictionary"),
        "Pairs": (
            "language", "change", "controller", "dependents", "items", "per_lemma", "longest",
            "frequency", "seed",
        ),
    },
}  # fmt: skip
"""The groups of single commands, which come first; other options are in the shared groups."""

_STUDY = ("data", "model", "output", "limit", "device", "form", "as_json")

SHOWN: Mapping[str, Sequence[str]] = {
    "run": (
        "models", "output", "language", "columns", "limit", "measures", "force", "sets",
        "without", "budget", "accept_license", "device", "dtype", "fail_under", "junit",
    ),
    "report": (
        "output", "language", "analyze", "measures", "table", "form", "figure", "item", "gray",
        "title", "rename", "scale", "site", "address",
    ),
    "annotate candidates": (
        "annotator", "only_open", "only_other", "dictionary", "data", "method", "order", "seed",
        "show_probability", "part", "overlap", "export", "import_from", "agreement", "as_json",
    ),
    "compare": (
        "before", "after", "measure", "pairs", "details", "every_question",
        "fail_if_worse", "by", "junit", "allow_partial", "equivalent", "published", "figure",
        "output", "as_json",
    ),
    "score": (
        "model", "output", "words", "measures", "as_json", "device", "dtype", "bos", "pll",
        "boundary", "window", "context", "store",
    ),
    "fill": (
        "model", "output", "k", "top_p", "protocol", "among", "as_json", "masks", "choice",
        "device", "dtype", "bos",
    ),
    "analyze reading-times": (
        "model", "output", "columns", "texts", "before", "frequency", "entropy", "pll", "boundary",
        "window", "device", "dtype", "as_json",
    ),
    "analyze reading-gains": (
        "models", "given", "output", "columns", "before", "frequency", "item", "baseline",
        "transform", "shortest", "longest", "folds", "boundary", "as_json",
    ),
    "analyze attribution": (
        "by", "part", "align", "baseline", "plan", "predictions", "swap", "controller", "feature",
        "region", "cluster", "model", "device", "output", "as_json",
    ),
    "analyze profile": (
        "k", "method", "threshold", "by", "dictionary", "judgments", "frequency", "ratings",
        "people", "output", "figure", "cluster", "seed", "as_json",
    ),
    "annotate import": (
        "output", "suites", "secret", "names", "design", "form", "columns", "unknown",
    ),
    "annotate survey build": (
        "output", "task", "surveys", "times", "scale", "title", "language", "limit", "seed",
        "fillers", "practice", "checks", "consent", "contact",
    ),
    "annotate survey distractors": (
        "model", "output", "words", "practice", "fillers", "above", "candidates", "language",
        "limit", "seed", "force", "boundary", "pll", "device",
    ),
    "models check": (
        "suites", "language", "texts", "precision", "as_json", "pll", "device", "dtype",
        "tokenizer", "lowercase", "bos", "trust_remote_code",
    ),
    "suites build query": (
        "treebanks", "output", "language", "change", "controller", "dependents", "items",
        "per_lemma", "longest", "frequency", "seed", "dictionary", "license", "as_json",
    ),
    "study agreement": (
        *_STUDY, "seed", "boundary", "pll", "region", "averaging", "profile", "bos",
    ),
    "study connectives": (*_STUDY, "own", "columns", "expected", "bos", "pll"),
    "study portuguese": (*_STUDY, "table", "what", "state", "dictionary", "reuse"),
    "study stories": (*_STUDY, "seed", "responses", "also", "grouping", "draws", "set"),
}  # fmt: skip
"""The options that ``-h`` shows of commands that have many; of the others, it shows all."""

TAKES_LINE_OF_RUN: Mapping[str, Sequence[str]] = {
    "plan": (
        "models", "output", "language", "columns", "limit", "adaptive", "precision", "set",
        "device", "dtype", "batch_size", "prices", "force", "as_json", "sets",
    ),
    "cluster prefetch": (
        "models", "into", "output", "language", "sets", "without", "accept_license", "lock",
    ),
    "cluster slurm": ("models", "jobs", "gpus", "hours", "output", "language", "sets"),
    "cluster collect": ("models", "check", "workers", "output", "language", "sets", "as_json"),
}  # fmt: skip
"""The commands that take the same line as `run`, each with the options that its help shows."""

NO_SINGLE_CALL = ("cluster slurm", "cluster collect")
"""Those of them that take no option of a single call of `run`."""

METAVARS: Mapping[str, str] = {
    "models": "MODEL",
    "model": "MODEL",
    "suites": "SUITE",
    "baseline": "NAME",
    "predictions": "FORMULA",
    "measures": "MEASURE",
    "columns": "ROLE=COLUMN",
    "language": "CODE",
    "every": "CODE",
    "context": "TEXT",
    "title": "TEXT",
    "label": "TEXT",
    "unigrams": "SOURCE",
    "store": "COLUMN",
    "context_column": "COLUMN",
    "by": "NAME",
    "admin_secret_file": "FILE",
    "recorded_unit": "UNIT",
    "boundary_first": "RULE",
    "unscored_first": "RULE",
    "pll": "RULE",
    "bos": "RULE",
    "punctuation": "RULE",
    "segmenter": "RULE",
    "boundary": "RULE",
    "window": "RULE",
    "ties": "RULE",
    "align": "RULE",
    "to": "FORMAT",
    "from_": "FORMAT",
    "form": "FORMAT",
    "timeout": "SECONDS",
    "of": "WHAT",
    "states": "FILE",
    "not_expected": "REMARK",
    "among": "WORDS",
    "correct": "METHOD",
    "as_json": "",
}
"""The words for values in help, where they are not the last word of an option's name."""
