"""Tokenizers of every kind, trained in the tests on sentences written for them."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

VOCABULARY = 420

# Written for these tests: what tokenizers are trained on.
SENTENCES = (
    "Il gatto della vicina dorme sul davanzale.",
    "Le attrici dell'orchestra hanno cantato un'aria antica.",
    "Perché l'amico di Lucia non è venuto alla festa?",
    "Gli studenti che leggono i giornali sono più informati.",
    "La città è bella, però d'inverno fa freddo.",
    "Nell'armadio c'era una giacca che nessuno metteva più.",
    "L'uomo che vende le castagne parla sempre di suo figlio.",
    "Quando arrivò l'autunno, le foglie caddero tutte insieme.",
    "El niño que juega en la calle tiene una pelota roja.",
    "Las casas de mi pueblo están pintadas de blanco.",
    "¿Dónde has dejado las llaves del coche?",
    "¡Qué alegría verte después de tantos años!",
    "Mañana iremos al mercado con la abuela.",
    "Los árboles del jardín necesitan agua.",
    "O menino comeu a maçã que estava na mesa.",
    "As irmãs do professor moram em São Paulo.",
    "Não sei se amanhã haverá aula de história.",
    "Os pássaros voaram quando o cão ladrou.",
    "A avó contou uma história às crianças.",
    "Кошка соседа спит на окне.",
    "Дети, которые играют во дворе, очень шумные.",
    "Мы читали книгу о море и кораблях.",
    "Старый дом стоит у реки.",
    "Она сказала: «Я приду завтра».",
    "Новые студенты получили ключи от комнат.",
    "The keys to the cabinet are on the table.",
    "The author that the critics admire writes every morning.",
    "She doesn't know what the children's teacher bought.",
    "“Where have you been?” asked the old man.",
    "No student who failed the exam has ever complained.",
    "I know that the chef, who was tired, burned the soup.",
    "Those pictures of the lake were taken in the 1990s.",
    "I think it's a re-read of the well-known story (again).",
    "Cafe\u0301, citta\u0300, man\u0303ana and o\u0301чень are written with combining marks.",
    "Che bello 😀! Buon viaggio 🚀.",
)


def _pieces(tokenizer: Tokenizer) -> Counter[str]:
    """How often each stretch of up to five characters comes, in the words a tokenizer makes.

    The trainers of WordPiece and Unigram give another vocabulary at each run; this does not.
    """
    counts: Counter[str] = Counter()
    for sentence in SENTENCES:
        text = tokenizer.normalizer.normalize_str(sentence)
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(text):
            for start in range(len(word)):
                counts.update(word[start:end] for end in range(start + 1, start + 6))
    return Counter({piece: count for piece, count in counts.items() if count > 1})


def _most_frequent(counts: Counter[str], size: int) -> list[str]:
    """The pieces that cover most, single characters first of all."""
    return sorted(counts, key=lambda p: (len(p) > 1, -counts[p] * len(p), p))[:size]


def _around(tokenizer: Tokenizer, before: tuple[str, ...], after: tuple[str, ...]) -> Any:
    """A post-processor that puts special tokens before and after a text."""
    return processors.TemplateProcessing(
        single=[*before, "$A", *after],
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (*before, *after)],
    )


def _byte_bpe(
    specials: tuple[str, ...],
    *,
    prefix_space: bool = False,
    trim: bool = False,
    before: tuple[str, ...] = (),
) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(specials),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    offsets = processors.ByteLevel(trim_offsets=trim, add_prefix_space=prefix_space)
    tokenizer.post_processor = processors.Sequence([offsets, _around(tokenizer, before, ())])
    return tokenizer


def _roberta() -> Tokenizer:
    tokenizer = _byte_bpe(("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return tokenizer


def _fallback_bpe(specials: tuple[str, ...], *, prefix: bool, before: str) -> Tokenizer:
    """SentencePiece's BPE as Llama and Gemma have it: unknown characters become their bytes."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))  # noqa: S106  # no password
    scheme = "first" if prefix else "never"
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    octets = [f"<0x{octet:02X}>" for octet in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY + 160, special_tokens=[*specials, *octets], show_progress=False
    )
    # The last sentences have what must be written in bytes: Cyrillic, typographic marks, emoji.
    tokenizer.train_from_iterator(SENTENCES[:19], trainer)
    state = json.loads(tokenizer.to_str())
    # The trainer knows no other way to enter the bytes; they are not to be found in texts.
    state["added_tokens"] = [a for a in state["added_tokens"] if a["content"] in specials]
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.post_processor = _around(tokenizer, (before,), ())
    return tokenizer


def _unigram(specials: tuple[str, ...], before: tuple[str, ...] = ()) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    counts = _pieces(tokenizer)
    pieces = _most_frequent(counts, VOCABULARY - len(specials))
    total = sum(counts[piece] for piece in pieces)
    scores = [(piece, math.log(counts[piece] / total)) for piece in pieces]
    unknown = specials.index("<unk>")
    tokenizer.model = models.Unigram([*((name, 0.0) for name in specials), *scores], unk_id=unknown)
    tokenizer.add_special_tokens(list(specials))
    tokenizer.post_processor = _around(tokenizer, before, ("</s>",))
    return tokenizer


def _wordpiece(*, cased: bool) -> Tokenizer:
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))  # noqa: S106  # no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces = _most_frequent(_pieces(tokenizer), VOCABULARY // 2)
    names = [*specials, *pieces, *(f"##{piece}" for piece in pieces)]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer.model = models.WordPiece(vocabulary, unk_token="[UNK]")  # noqa: S106  # no password
    tokenizer.add_special_tokens(specials)
    tokenizer.post_processor = _around(tokenizer, ("[CLS]",), ("[SEP]",))
    return tokenizer


@dataclass(frozen=True)
class Kind:
    """A kind of tokenizer.

    Attributes:
        build: trains it.
        names: what its special tokens are called in transformers.
        before: what comes before a text that a causal model scores, under the policy `auto`.
        after: what the tokenizer itself puts after a text.
    """

    build: Callable[[], Tokenizer]
    names: Mapping[str, str]
    before: tuple[str, ...]
    after: tuple[str, ...] = ()


_END = "<|endoftext|>"
_GPT2 = {"bos_token": _END, "eos_token": _END}
_LLAMA = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
_GEMMA = {
    "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>",
}  # fmt: skip
_SENTINELS = ["<extra_id_0>", "<extra_id_1>", "<extra_id_2>"]
_T5 = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_ROBERTA = {
    **_LLAMA,
    "pad_token": "<pad>", "mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>",
}  # fmt: skip
_BERT = {
    "pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]",
    "cls_token": "[CLS]", "sep_token": "[SEP]",
}  # fmt: skip

TOKENIZERS: dict[str, Kind] = {
    # GPT-2: adds nothing itself; one token is both BOS and EOS.
    "byte-bpe": Kind(lambda: _byte_bpe((_END,)), _GPT2, (_END,)),
    "byte-bpe-trim": Kind(lambda: _byte_bpe((_END,), trim=True), _GPT2, (_END,)),
    "byte-bpe-prefix": Kind(
        lambda: _byte_bpe((_END,), prefix_space=True, trim=True), _GPT2, (_END,)
    ),
    # OPT, Llama 3: byte-level, puts a BOS itself; OPT calls it </s>.
    "byte-bpe-bos": Kind(
        lambda: _byte_bpe(("</s>", "<pad>"), before=("</s>",)),
        {"bos_token": "</s>", "eos_token": "</s>", "pad_token": "<pad>"},
        ("</s>",),
    ),
    # GLM-4: puts two tokens, and has no BOS.
    "byte-bpe-two": Kind(
        lambda: _byte_bpe(("[gMASK]", "<sop>", _END), before=("[gMASK]", "<sop>")),
        {"eos_token": _END},
        ("[gMASK]", "<sop>"),
    ),
    # Qwen: no BOS; EOS is in.
    "no-bos": Kind(lambda: _byte_bpe((_END,)), {"eos_token": _END}, (_END,)),
    "bare": Kind(lambda: _byte_bpe(()), {}, ()),
    "bpe-fallback": Kind(
        lambda: _fallback_bpe(("<unk>", "<s>", "</s>"), prefix=True, before="<s>"),
        _LLAMA,
        ("<s>",),
    ),
    "gemma": Kind(
        lambda: _fallback_bpe(("<pad>", "<eos>", "<bos>", "<unk>"), prefix=False, before="<bos>"),
        _GEMMA,
        ("<bos>",),
    ),
    "unigram": Kind(
        lambda: _unigram(("<s>", "<pad>", "</s>", "<unk>", "<mask>"), ("<s>",)),
        _ROBERTA,
        ("<s>",),
        ("</s>",),
    ),
    # T5: no BOS; sentinels stand for what was left out.
    "unigram-sentinels": Kind(
        lambda: _unigram(("<pad>", "</s>", "<unk>", *_SENTINELS)),
        {**_T5, "extra_special_tokens": _SENTINELS},
        ("</s>",),
        ("</s>",),
    ),
    "wordpiece-cased": Kind(lambda: _wordpiece(cased=True), _BERT, ("[CLS]",), ("[SEP]",)),
    "wordpiece-uncased": Kind(lambda: _wordpiece(cased=False), _BERT, ("[CLS]",), ("[SEP]",)),
    "roberta": Kind(_roberta, _ROBERTA, ("<s>",), ("</s>",)),
}


@functools.cache
def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    """A trained tokenizer of one kind."""
    chosen = TOKENIZERS[kind]
    return PreTrainedTokenizerFast(tokenizer_object=chosen.build(), **chosen.names)
