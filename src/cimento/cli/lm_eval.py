"""Command lines of lm-eval, understood as ours.

``lm_eval --model hf --model_args pretrained=X,dtype=Y --tasks A,B --output_path D`` is understood
like ``cimento run``. Options without an equivalent are refused, with advice.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cimento.cli.console import note
from cimento.cli.flags import Given
from cimento.errors import UsageError
from cimento.io.parsing import parse_json
from cimento.models.registry import without_secrets

_INSTEAD: Mapping[str, tuple[str, str]] = {
    "--num-fewshot": (
        "sentences are scored alone, without worked examples before them",
        (
            "Leave it out, or put a text before every sentence: --context TEXT. Stories have --set"
            " shots=2."
        ),
    ),
    "--apply-chat-template": (
        "sentences are scored as they are, without a template",
        (
            "Leave it out. To ask a model that chats, turn the suite into questions: cimento suites"
            " build prompted SUITE; those, and stories, use the model's template by themselves."
        ),
    ),
    "--wandb-args": (
        "runs are not sent anywhere",
        "cimento report RUNS -o table.csv writes numbers.",
    ),
    "--hf-hub-log-args": (
        "runs are not sent anywhere",
        "cimento export --to hf-dataset writes a folder that can be uploaded.",
    ),
    "--use-cache": ("answers are kept anyway", "Leave it out; --no-cache keeps none."),
    "--cache-requests": ("answers are kept anyway", "Leave it out; --no-cache keeps none."),
    "--include-path": ("suites are given by their paths", "cimento run task.yaml -m MODEL."),
    "--gen-kwargs": ("replies are limited by the suite", "Servers take --body KEY=VALUE."),
    "--fewshot-as-multiturn": ("sentences are scored alone", "Leave it out."),
    "--max-batch-size": (
        "a batch is limited by its padded tokens, and halved where memory is short",
        "Leave it out, or give --batch-tokens N.",
    ),
    "--samples": ("a part of a suite is a number of items", "Give --limit N."),
    "--predict-only": (
        "answers are stored with the verdicts",
        "Leave it out; cimento judge RUN judges them again.",
    ),
    "--write-out": (
        "cimento suites show SUITE prints sentences, cimento suites prompts SUITE --row N a prompt",
        "Leave it out.",
    ),
    "--show-config": ("cimento suites show SUITE prints a suite", "Leave it out."),
    "--check-integrity": ("cimento suites check SUITE checks a suite", "Leave it out."),
    "--config": ("options are in a run file (.toml)", "cimento run RUN.toml."),
    "--verbosity": ("messages have one level", "Leave it out."),
    "--metadata": ("a suite says what is known of it", "Leave it out."),
    "--confirm-run-unsafe-code": ("no suite holds code that is run", "Leave it out."),
    "--system-instruction": (
        "it is in the prompts of a suite",
        "Put a text before every sentence with --context TEXT.",
    ),
}
"""The options of lm-eval without an equivalent: the reason, and the alternative."""
_WORKERS = "Give --workers N: processes on this machine."
_OUTPUT = "Give --output FOLDER."
_QUANTIZED = """Give --model-args 'quantization_config={"load_in_4bit": true}'."""
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("--jobs", "--n-jobs", "--num-workers", "--processes", "-j"), _WORKERS),
    **dict.fromkeys(("--output-dir", "--out", "--outdir"), _OUTPUT),
    **dict.fromkeys(("--quantize", "--load-in-4bit", "--load-in-8bit"), _QUANTIZED),
    "--gpu": "Give --device cuda, or cuda:1.",
    "--gpus": "Give --device cuda, or cuda:1; --model-args device_map=auto uses several.",
    "--models": "Give -m MODEL, once for each model.",
    "--revision": "Give -m NAME@REVISION.",
    "--suite": "Give suites by themselves, before -m.",
    "--suites": "Give suites by themselves, before -m.",
}
"""Options of other programs under which something of ours is looked for."""
_READ = ("--tasks", "--output-path", "--limit", "--seed", "--batch-size")
"""The options whose values lm-eval writes in its own way."""
_NOTHING = {"--num-fewshot": "0"}
"""Values of these options that are accepted because they change nothing."""


def options_from_lm_eval(arguments: Sequence[str]) -> list[str]:
    """The arguments of ``cimento run``, with lm-eval's options translated into ours.

    Args:
        arguments: arguments after the name of the command, with ``-`` in the names of options.

    Raises:
        UsageError: an option has no equivalent; the message names the alternative.
    """
    left = [part for word in arguments for part in _parted(word)]
    ours: list[str] = []
    while left:
        word = left.pop(0)
        following = left[0] if left and not left[0].startswith("-") else ""
        if word == "--tasks" and following:
            ours += filter(None, left.pop(0).split(","))
        elif word == "--output-path" and following:
            ours += ["--output", left.pop(0)]
        elif word in _INSTEAD and following and following == _NOTHING.get(word):
            left.pop(0)
        elif word in _INSTEAD:
            seen, todo = _INSTEAD[word]
            raise UsageError(where=word, seen=f"lm-eval has this option; here {seen}", todo=todo)
        elif word.partition("=")[0] in _ELSEWHERE:
            name = word.partition("=")[0]
            raise UsageError(where=name, seen="there is no such option", todo=_ELSEWHERE[name])
        else:
            if word == "--limit":
                _refuse_share(following)
            if word == "--seed" and "," in following:
                raise UsageError(
                    where=f"--seed {following}",
                    seen="lm-eval has a seed for each random generator; there is one here",
                    todo="Give one number.",
                )
            if word == "--batch-size" and following.startswith("auto:"):
                left[0] = "auto"  # what lm-eval measures again so often has no equal
            ours.append(word)
    return ours


def _parted(word: str) -> list[str]:
    """An option of lm-eval and its value, if both are written as one word."""
    name, equals, value = word.partition("=")
    known = name in (*_INSTEAD, *_READ)
    return [name, value] if known and equals else [word]


def _refuse_share(value: str) -> None:
    """Refuse a limit given as a proportion of the items, which only lm-eval accepts.

    Raises:
        UsageError: the limit is a share.
    """
    try:
        share = float(value)
    except ValueError:
        return
    if 0 < share < 1:
        raise UsageError(
            where=f"--limit {value}",
            seen="lm-eval takes this for a proportion of the items; a number of items is needed"
            " here",
            todo=f"Give that number: of 1,000 items it would be {round(1000 * share)}."
            " cimento plan says how many a suite has.",
        )


_ARGUMENTS: Mapping[str, str] = {
    "max_length": "A text is never cut: one that is longer than the model's window is refused, and"
    " --window sliding reads it in parts. Leave it out.",
    "peft": "Give the adapter's folder as the model: -m FOLDER.",
    "prefix_token_id": "--bos says what comes before a text: auto, bos-or-eos or none.",
    "tensor_parallel_size": "Give it to `vllm serve NAME`, and that server as openai:URL#NAME.",
    "gpu_memory_utilization": "Give it to `vllm serve NAME`, and that server as openai:URL#NAME.",
}
"""Model arguments of lm-eval that have no option here, and what to do instead."""


_LM_EVAL_HF = ("hf", "hf-auto", "hf-causal", "hf-multimodal", "huggingface", "mamba_ssm")
_LM_EVAL_ENGINES = ("vllm", "sglang")
_OPENAI = "https://api.openai.com/v1"
_LM_EVAL_SERVERS: Mapping[str, str] = {
    "local-completions": "",
    "local-chat-completions": "",
    "openai-completions": _OPENAI,
    "openai-chat-completions": _OPENAI,
}
"""The servers of lm-eval, and where those are whose address it knows."""
_NEXT_ARGUMENT = re.compile(r",(?=\s*\w+\s*=)")
_RENAMED = {
    "device": "device", "dtype": "dtype", "tokenizer": "tokenizer", "batch_size": "batch_size",
    "num_concurrent": "concurrency", "timeout": "timeout",
}  # fmt: skip
"""Model arguments of lm-eval that are separate options here."""
_SWITCHES: Mapping[str, tuple[str, object]] = {
    "trust_remote_code": ("trust_remote_code", True),
    "parallelize": ("device_map", "auto"),
    "add_bos_token": ("bos", "bos-or-eos"),
}
"""Model arguments that are True or False in lm-eval, and the meaning of True here."""
_CLIENT_ARGUMENTS = ("tokenizer", "tokenizer_backend", "tokenized_requests", "max_retries")
"""Arguments on how lm-eval counts a server's tokens and repeats requests; here, the server states
the positions of its tokens."""

_CLIENT_HERE = "the server says where its tokens are, and requests are repeated as cimento does"


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    """The names and values of model arguments: ``name=value,name=value``, or a JSON object.

    Raises:
        UsageError: it begins like a JSON object but is not one.
    """
    if not text.lstrip().startswith("{"):
        for pair in _NEXT_ARGUMENT.split(text.strip(", ")):
            key, _, value = pair.partition("=")
            yield key.strip(), value.strip()
        return
    try:
        stated = parse_json(text)
    except ValueError as error:
        raise UsageError(
            where="--model-args",
            seen=f"it begins like a JSON object but is not one ({error})",
            todo="""Give '{"pretrained": "NAME"}' or pretrained=NAME.""",
        ) from error
    for key, value in stated.items():
        yield key, value if isinstance(value, str) else json.dumps(value)


def model_from_lm_eval(given: Given) -> Given:
    """The model options, with lm-eval's ``--model hf --model_args pretrained=X,dtype=Y`` as ours.

    Args:
        given: options on the command line, by name; options that lm-eval lacks are unchanged.

    Raises:
        UsageError: an argument contradicts the name of the model.
    """
    models, args = given.get("models"), given.get("model_args") or []
    if not (isinstance(models, list) and isinstance(args, list) and len(models) == 1):
        return given
    [model], named = models, "model" if models[0] in _LM_EVAL_SERVERS else "pretrained"
    stated = dict(pair for text in args for pair in _arguments(text))
    if Path(model).exists():
        return given
    if model not in (*_LM_EVAL_HF, *_LM_EVAL_ENGINES, *_LM_EVAL_SERVERS):
        _refuse_unknown_kind(model, stated)
        return given
    if named not in stated:
        raise UsageError(
            where=f"--model {model}",
            seen=f"lm-eval's name of a kind of models is given without --model-args {named}=NAME",
            todo="Give the model itself: -m NAME.",
        )
    shown = stated.pop(named)
    is_alone, ignored = not stated, ""
    if model in _LM_EVAL_SERVERS:
        ignored = ", ".join(key for key in stated if key in _CLIENT_ARGUMENTS)
        stated = {key: value for key, value in stated.items() if key not in _CLIENT_ARGUMENTS}
        shown = f"openai:{_address(model, stated)}#{shown}"
    elif model in _LM_EVAL_ENGINES:
        shown = f"{model}:{shown}"
    elif revision := stated.pop("revision", ""):
        shown = f"{shown}@{revision}"
    renamed, rest = _options_of(stated)
    if not is_alone:
        ours = _as_ours(shown, {**renamed, "model_args": rest})
        note(f"cimento: --model_args is read as {ours}")
    if ignored:
        note(f"cimento: --model_args: ignored: {ignored}; {_CLIENT_HERE}")
    return {**renamed, **given, "models": [shown], "model_args": rest}


def _options_of(stated: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """The options that model arguments of lm-eval stand for, and those that stay arguments.

    Raises:
        UsageError: an argument has no equivalent, or is neither true nor false where it must be.
    """
    renamed: dict[str, object] = {ours: stated[lm] for lm, ours in _RENAMED.items() if lm in stated}
    left = {name: value for name, value in stated.items() if name not in _RENAMED}
    for name, (ours, value) in _SWITCHES.items():
        said = left.pop(name, "false")
        if said.lower() not in ("true", "false"):
            raise UsageError(
                where=f"--model-args {name}", seen=f"got {said!r}", todo="Give True or False."
            )
        if said.lower() == "true":
            renamed[ours] = value
    if device_map := renamed.pop("device_map", ""):
        left["device_map"] = str(device_map)
    for name in (name for name in left if name in _ARGUMENTS):
        raise UsageError(
            where=f"--model-args {name}", seen="this is lm-eval's argument", todo=_ARGUMENTS[name]
        )
    return renamed, [f"{key}={value}" for key, value in left.items()]


def _as_ours(model: str, options: Mapping[str, object]) -> str:
    """A model and its options as they are written here."""
    words = ["-m", without_secrets(model)]
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            words += [flag] if one is True else [flag, str(one)]
    return shlex.join(words)


def _refuse_unknown_kind(model: str, stated: Mapping[str, str]) -> None:
    """See that no model or server is named beside a kind of models that only lm-eval knows.

    Raises:
        UsageError: one is.
    """
    named, address = stated.get("pretrained") or stated.get("model"), stated.get("base_url")
    if named or address:
        raise UsageError(
            where=f"--model {model}",
            seen="this is lm-eval's name of a kind of models, which has no equal here",
            todo=f"Give the model itself: {f'-m {named}' if named else 'its folder or file'}, or"
            f" its server, -m openai:{address or 'URL'}#{named or 'NAME'}.",
        )


def _address(model: str, stated: dict[str, str]) -> str:
    """The address of a server, removed from the model arguments.

    Raises:
        UsageError: there is no address.
    """
    address = re.sub(r"(/chat)?/completions/?$", "", stated.pop("base_url", ""))
    address = address or _LM_EVAL_SERVERS[model]
    if not address:
        raise UsageError(
            where=f"--model {model}", seen="there is no base_url", todo="Give openai:URL#model."
        )
    return address
