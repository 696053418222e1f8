"""The two tokenizers: byte-level BPE, so that no text has unknown tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    from demo.discourse import Message

VOCABULARY = 4096
CAUSAL_WINDOW = 2048
MASKED_WINDOW = 512
BOS, EOS, PAD, END = "<|bos|>", "<|eos|>", "<|pad|>", "<|end|>"
ROLES = {"system": "<|system|>", "user": "<|user|>", "assistant": "<|assistant|>"}
CAUSAL_SPECIAL = (PAD, BOS, EOS, END, *ROLES.values())
MASKED_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MASKED_NAMES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")

CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def render_chat(messages: Sequence[Message]) -> str:
    """The text of a chat as the template gives it, without the first token."""
    return "".join(f"<|{message.role}|>{message.content}{END}" for message in messages)


def _train(texts: Iterable[str], special: Sequence[str]) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _add_around(tokenizer: Tokenizer, template: str, names: Sequence[str]) -> None:
    from tokenizers import processors

    tokenizer.post_processor = processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=True, add_prefix_space=False),
            processors.TemplateProcessing(
                single=template.format(side="A"),
                pair=template.format(side="A") + " " + template.format(side="B").split(" ", 1)[1],
                special_tokens=[(name, tokenizer.token_to_id(name)) for name in names],
            ),
        ]
    )


def train_causal_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A tokenizer that puts its BOS token first and has a chat template."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = _train(texts, CAUSAL_SPECIAL)
    _add_around(tokenizer, f"{BOS} ${{side}}", [BOS])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        additional_special_tokens=[END, *ROLES.values()],
        chat_template=CHAT_TEMPLATE,
        model_max_length=CAUSAL_WINDOW,
        clean_up_tokenization_spaces=False,
    )


def train_masked_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """A tokenizer that puts a text between [CLS] and [SEP]."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = _train(texts, MASKED_SPECIAL)
    _add_around(tokenizer, "[CLS] ${side} [SEP]", ["[CLS]", "[SEP]"])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        **dict(zip(_MASKED_NAMES, MASKED_SPECIAL, strict=True)),
        model_max_length=MASKED_WINDOW,
        clean_up_tokenization_spaces=False,
    )
