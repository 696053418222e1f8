"""The tokenizer of a model of transformers, exactly as its file defines it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cimento.errors import ModelError, UsageError, did_you_mean
from cimento.models.hf import import_libraries
from cimento.models.hf.arguments import (
    TOKENIZER_ARGUMENTS,
    TOKENIZER_OPTION,
    TRUST_CODE,
    refuse_of_tokenizer,
)
from cimento.models.hf.files import LocatedModel
from cimento.models.hf.warned import FIX_PATTERN, WRONG_PATTERN, listening, on_pattern
from cimento.models.settings import Policy
from cimento.suites import JsonValue

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def load_tokenizer(
    located: LocatedModel, policy: Policy, *, trusted: bool | None = None
) -> tuple[PreTrainedTokenizerBase, list[str]]:
    """The tokenizer exactly as its file defines it, and notes on it for the user.

    transformers 5 takes only the vocabulary from tokenizer.json for many classes and sets up the
    rest itself, so that tokens can differ from those in training (transformers issues 45488 and
    45920). Only the names of special tokens are taken from it.

    Args:
        located: the located model.
        policy: the policy of scoring, whose arguments for the tokenizer are passed on.
        trusted: whether code that comes with the model may run, by default as the policy says;
            that of another tokenizer never does.

    Raises:
        UsageError: an argument cannot be given, or is unknown and changes nothing.
        ModelError: the tokenizer cannot be loaded.
    """
    args = policy.tokenizer_args
    refuse_of_tokenizer(args)
    if trusted is None:
        trusted = policy.model_args.get(TRUST_CODE) is True
    trusted = trusted and located.tokenizer is None
    tokenizer, heard = _loaded(located, args, trusted=trusted)
    _refuse_useless(tokenizer, located)
    notes = [note for note in heard if note != WRONG_PATTERN]
    if len(notes) < len(heard):
        fixed, _ = _loaded(located, {**args, FIX_PATTERN: True}, trusted=trusted)
        notes += on_pattern(tokenizer, fixed)
    for name in (name for name, value in args.items() if value is not False):
        rest = {key: value for key, value in args.items() if key != name}
        if _reading(_loaded(located, rest, trusted=trusted)[0]) == _reading(tokenizer):
            notes.append(_without_effect(name, located))
    return tokenizer, notes


def _without_effect(name: str, located: LocatedModel) -> str:
    """A note on an argument that changes nothing of a tokenizer.

    Raises:
        UsageError: no argument of this name is known either. transformers takes any name.
    """
    if name not in TOKENIZER_ARGUMENTS:
        raise UsageError(
            where=f"{TOKENIZER_OPTION}={name}",
            seen=f"it changes nothing of the tokenizer of {located.name!r}",
            todo=did_you_mean(name, TOKENIZER_ARGUMENTS),
        )
    return f"{TOKENIZER_OPTION} {name} changes nothing of its tokenizer"


def _reading(tokenizer: PreTrainedTokenizerBase) -> tuple[object, ...]:
    """What decides how a tokenizer reads texts and chats."""
    from cimento.models.hf.boundaries import tokenizer_state  # imports torch

    return (
        tokenizer_state(tokenizer),
        tokenizer.special_tokens_map,
        tokenizer.chat_template,
        tokenizer("a A b", add_special_tokens=True)["input_ids"],
    )


def _loaded(
    located: LocatedModel, args: Mapping[str, JsonValue], *, trusted: bool
) -> tuple[PreTrainedTokenizerBase, list[str]]:
    """A tokenizer with some arguments, and what transformers warned of meanwhile.

    Raises:
        ModelError: it cannot be loaded.
    """
    import_libraries()
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    folder = located.tokenizer_folder
    given: dict[str, Any] = dict(args)
    try:
        with listening() as notes:
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trusted, **given)
        if (folder / "tokenizer.json").is_file():
            names = tokenizer.special_tokens_map
            # What was said of the other tokenizer, which is not used, does not matter.
            with listening() as notes:
                tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, **given)
            known, named = tokenizer.get_vocab(), tokenizer.special_tokens_map
            for role, name in names.items():
                if role not in named and name in known:
                    setattr(tokenizer, role, name)
    except (KeyboardInterrupt, SystemExit):
        raise
    # Each format of tokenizer files fails in other ways, and a Rust panic is not an Exception.
    except BaseException as error:
        advice = f"Check {TOKENIZER_OPTION}={' '.join(args)}. " if args else ""
        raise ModelError(
            where=f"tokenizer of {located.name!r}",
            seen=f"cannot be loaded ({type(error).__name__}: {str(error).strip()[:300]})",
            todo=f"{advice}Are tokenizer.json or the vocabulary files in its folder?"
            " --tokenizer=NAME takes another one.",
        ) from error
    return tokenizer, notes


def lower_case(tokenizer: PreTrainedTokenizerBase) -> None:
    """Have a tokenizer lower-case every text first; offsets remain those of the text as it was."""
    from tokenizers import normalizers

    if not tokenizer.is_fast:
        raise ModelError(
            where=f"tokenizer of {tokenizer.name_or_path!r}",
            seen="it is written in Python, and cannot be made to lower-case texts",
            todo="Leave out --lowercase, or use a version with a tokenizer.json.",
        )
    backend = tokenizer.backend_tokenizer
    present = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *present])


def _refuse_useless(tokenizer: PreTrainedTokenizerBase, located: LocatedModel) -> None:
    """Refuse a tokenizer without a vocabulary.

    Raises:
        ModelError: the tokenizer has none.
    """
    # Without files, transformers 5 makes a tokenizer that has only special tokens.
    if set(tokenizer.get_vocab()) <= {*tokenizer.all_special_tokens, "\u2581"}:
        raise ModelError(
            where=f"tokenizer of {located.name!r}",
            seen=f"it has no vocabulary: {located.tokenizer_folder} lacks the files of a tokenizer",
            todo="Save it there too with tokenizer.save_pretrained(FOLDER), or name another one"
            " with --tokenizer=NAME.",
        )
