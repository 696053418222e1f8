"""Answers read from the tables of a run, and labels read from replies.

Replies are read strictly on purpose: what is not clearly one answer is not an answer, and is
counted as such.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from cimento.errors import TableError, UsageError
from cimento.io.tables import Rows, collected
from cimento.paradigms.stories.options import (
    StoryOptions,
    correct_suite,
    normalized,
    prior_corrections,
    prompt_for,
)
from cimento.paradigms.stories.prompts import TierPrompt, state_names
from cimento.paradigms.stories.requests import WITHOUT_STORY
from cimento.suites.letters import one_spelling
from cimento.suites.stories import (
    CONFLICT,
    FALSE,
    OPTIONS,
    STATES,
    STORY,
    TIERS,
    TRUE,
    StorySuite,
    Task,
    Tier,
    TierAnswer,
    pair_label,
)

Reason: TypeAlias = Literal[
    "",
    "empty",
    "reasoning cut short",
    "no answer",
    "several answers",
    "only one number",
    "too many numbers",
    "the same sentence twice",
    "no such sentence",
]

N_SENTENCES = 5
_PAIR = 2
_MOST_DIGITS = 9

_THINKING = re.compile(r"<think(ing)?>.*?</think(ing)?>", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"</think(ing)?>", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:final answer|answer|output|risposta finale|risposta|uscita|respuesta final|respuesta"
    r"|salida|resposta final|resposta|saída|окончательный ответ|ответ|выход)\s*:",
    re.IGNORECASE,
)
_MARKS = "*_`#\"'«»“”‘’()[]{} \t.,;:!?-–—"
_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w)")

_NOT = r"(?:not|isn'?t|is not|cannot be|can'?t be|never|non|non è|nè|mica|no|não|не)"
_FILLER = (
    r"(?:\s+(?:è|sembra|risulta|very|really|at all|be|affatto|molto|proprio|del tutto"
    r"|es|parece|resulta|muy|del todo|é|está|muito|очень|совсем|вполне))*"
)
_YES = (
    r"(?:true|vero|vera|plausible|plausibile|believable|credibile|verdader[oa]|cierto|cierta"
    r"|verosímil|creíble|verdadeir[oa]|plausível|verossímil|верно|верное|истинное|истинно|правда"
    r"|правдоподобн(?:о|а|ая|ое))"
)
_NO = (
    r"(?:false|falso|falsa|untrue|implausible|implausibile|unbelievable|incredibile|inverosímil"
    r"|increíble|implausível|inverossímil|неверно|неверное|ложное|ложно|ложь|неправда"
    r"|неправдоподобн(?:о|а|ая|ое))"
)
_VERDICT = re.compile(rf"\b(?P<negated>{_NOT}{_FILLER}\s+)?(?:(?P<yes>{_YES})|(?P<no>{_NO}))\b")
_OPENING = re.compile(
    r"(?P<yes>yes|sì|si|sí|sim|да)(?=\s*(?:[^\w\s]|$))|(?P<no>no|não|нет)(?=\s*(?:[^\w\s]|$))"
)

_OTHER_NAMES: Mapping[str, str] = {
    # Names of the attributes that the states were made from, and those of the study's list.
    "pieces": "in pieces",
    "contain": "occupied",
    "dressed": "wearing",
    "existence": "exist",
    "hygiene": "clean",
    "acceso/spento": "power",
    "spento/acceso": "power",
    "aperto/chiuso": "open",
    "alimentazione": "power",
    "esistenza": "exist",
    "pulizia": "clean",
    "a pezzi": "in pieces",
}


@dataclass(frozen=True, slots=True)
class ParsedReply:
    """The result of reading a reply.

    Attributes:
        label: as `OPTIONS` has it; None where there is no clear answer.
        reason: why there is none; empty where there is one.
    """

    label: str | None
    reason: Reason = ""


def parse_reply(tier: Tier, reply: str, *, numbering: int = 0) -> ParsedReply:
    """Read the answer out of a reply.

    Text between ``<think>`` marks is ignored. If a line says ``Answer:``, ``Risposta:`` or the
    like, the text after the last of these counts. Of the rest, the first line counts if it is an
    answer, or else the first paragraph: a model may run on.

    Replies are read in all languages of the wordings, whichever was asked in.

    Args:
        tier: which question was asked.
        reply: what the model wrote.
        numbering: number of the first sentence in the prompt, 0 or 1.
    """
    text = _without_thinking(reply)
    if re.search(r"<think", text, re.IGNORECASE):
        return ParsedReply(None, "reasoning cut short")
    after_lead = _LEAD.split(text)[-1]
    text = (after_lead if after_lead.strip() else text).strip()
    if not text:
        return ParsedReply(None, "empty")
    read = _READERS[tier]
    paragraph = re.split(r"\n\s*\n", text)[0]
    first_line = paragraph.split("\n")[0]
    parsed = read(first_line, numbering)
    return parsed if parsed.label is not None else read(paragraph, numbering)


def parse_words(reply: str, labels: Mapping[str, str]) -> ParsedReply:
    """Read one of some answers out of a reply, where no more is known of them than their words.

    Args:
        reply: what the model wrote.
        labels: word, in lower case, to label.
    """
    text = _without_thinking(reply).strip()
    if not text:
        return ParsedReply(None, "empty")
    looking_alike = {word.translate(_LATIN): labels[word] for word in labels if len(word) == 1}
    return _only(_labels_in(_plain(text.split("\n")[0]), {**looking_alike, **labels}))


_LATIN = str.maketrans("ав", "ab")  # Cyrillic letters, and the Latin ones like them


def _without_thinking(reply: str) -> str:
    """A reply without what is between ``<think>`` marks."""
    # Only as far as thoughts end: of many that never do, each would be followed to the end.
    end = max((mark.end() for mark in _THOUGHT.finditer(reply)), default=0)
    return _THINKING.sub(" ", reply[:end]) + reply[end:]


def _story_class(text: str, _numbering: int) -> ParsedReply:
    plain = _plain(text)
    labels = set()
    opening = _OPENING.match(plain)
    if opening:
        labels.add(TRUE if opening["yes"] else FALSE)
    for match in _VERDICT.finditer(plain):
        positive = bool(match["yes"]) != bool(match["negated"])
        labels.add(TRUE if positive else FALSE)
    return _only(labels)


def _conflict(text: str, numbering: int) -> ParsedReply:
    numerals = _NUMBER.findall(text)
    if any(len(number) > _MOST_DIGITS for number in numerals):
        return ParsedReply(None, "no such sentence")
    numbers = [int(number) - numbering for number in numerals]
    distinct = sorted(set(numbers))
    if not numbers:
        return ParsedReply(None, "no answer")
    if len(distinct) > _PAIR:
        return ParsedReply(None, "too many numbers")
    if distinct[0] < 0 or distinct[-1] >= N_SENTENCES:
        return ParsedReply(None, "no such sentence")
    if len(distinct) == 1:
        return ParsedReply(
            None, "only one number" if len(numbers) == 1 else "the same sentence twice"
        )
    return ParsedReply(pair_label(*distinct))


def _labels_in(plain: str, labels: Mapping[str, str]) -> set[str]:
    """The labels whose names are in a text, as whole words."""
    named = set()
    # Longer names first, and out of the way: "acceso/spento" is not "acceso" and something else.
    for name in sorted(labels, key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        if pattern.search(plain):
            named.add(labels[name])
            plain = pattern.sub(" ", plain)
    return named


@functools.cache
def _names() -> Mapping[str, str]:
    return {
        **{state: state for state in STATES},
        **{name: state for names in state_names() for state, name in names.items()},
        **_OTHER_NAMES,
    }


def _only(labels: set[str]) -> ParsedReply:
    if not labels:
        return ParsedReply(None, "no answer")
    return ParsedReply(labels.pop()) if len(labels) == 1 else ParsedReply(None, "several answers")


def _plain(text: str) -> str:
    """Lower case, one kind of apostrophe, no marks around."""
    return one_spelling(text).lower().replace("*", "").replace("`", "").strip(_MARKS)


_READERS: Mapping[Tier, Callable[[str, int], ParsedReply]] = {
    STORY: _story_class,
    CONFLICT: _conflict,
    "physical_state": lambda text, _numbering: _only(_labels_in(_plain(text), _names())),
}


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """The entries for one request in the tables of a run.

    Attributes:
        nats: log-probability of each option; None for a recording that only says which was given.
        n_tokens: of each option; None where that is not known.
        greedy: whether greedy decoding would write each option; None where that is not known.
        reply: what the model wrote; None where options were scored.
    """

    nats: tuple[float | None, ...] = ()
    n_tokens: tuple[int | None, ...] = ()
    greedy: tuple[bool | None, ...] = ()
    reply: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """The answers that a question allows.

    Attributes:
        labels: in the order in which they are options.
        words: what is answered for each.
    """

    labels: tuple[str, ...]
    words: tuple[str, ...]


RECORDED: Mapping[Task, AnswerOptions] = {
    tier: AnswerOptions(labels, labels) for tier, labels in OPTIONS.items()
}
"""The options of recorded answers, which have no words and are in one order."""


def raw_answers(tables: Mapping[str, Rows]) -> dict[int, RawAnswer]:
    """The answer to each request by its number, without requests that have no answer."""
    answers: dict[int, RawAnswer] = {}
    if "choices" in tables:
        table = collected(tables["choices"], where="the table choices").sort("request", "option")
        lists = table.group_by("request", maintain_order=True)
        asked = lists.agg("logprob_nats", "n_tokens", "is_greedy")
        for number, nats, n_tokens, greedy in asked.iter_rows():
            answers[number] = RawAnswer(tuple(nats), tuple(n_tokens), tuple(greedy))
    if "replies" in tables:
        replies = collected(tables["replies"], where="the table replies")
        for number, text in replies.select("request", "text").iter_rows():
            answers[number] = replace(answers.get(number, RawAnswer()), reply=text)
    return answers


def tier_options(tier: Tier, suite: StorySuite, options: StoryOptions) -> AnswerOptions:
    """The options of a tier, in the order in which they are asked."""
    asked = TierPrompt(tier, prompt_for(options, suite), options.style)
    return AnswerOptions(asked.labels, tuple(asked.answer(label) for label in asked.labels))


def tier_answers(
    tier: Tier,
    asked: Iterable[tuple[int, int]],
    raw: Mapping[int, RawAnswer],
    *,
    suite: StorySuite,
    options: StoryOptions,
    is_recorded: bool = False,
) -> list[TierAnswer]:
    """The answers of a tier, the options compared as the options of the run say.

    Args:
        tier: which.
        asked: number of each request and the row that it is about.
        raw: what was answered to each request.
        suite: that was asked about.
        options: how it was asked, and how options are compared.
        is_recorded: the answers are those of a recording.

    Raises:
        UsageError: the norm needs what was not kept.
        TableError: the tables are not those of the suite.
    """
    known = RECORDED[tier] if is_recorded else tier_options(tier, suite, options)
    there = [(row, raw[number]) for number, row in asked if number in raw]
    values = [compared_values(answer, known, options) for _, answer in there]
    scored = [nats for (row, _), nats in zip(there, values, strict=True) if nats and row >= 0]
    corrections: Mapping[str, float] = {}
    if options.norm == "prior" and scored:
        corrections = prior_corrections(scored, known.labels)
    elif options.norm == "pmi" and scored:
        alone = next((v for (row, _), v in zip(there, values, strict=True) if row < 0), None)
        if alone is None:
            raise UsageError(
                where="norm=pmi",
                seen="the question was not asked without a story, which it needs",
                todo="Ask the model again with --set norm=pmi.",
            )
        # What remains without the question alone is the mutual information of option and story:
        # domain-conditional PMI, Holtzman et al. 2021, doi:10.18653/v1/2021.emnlp-main.564.
        corrections = dict(zip(known.labels, alone, strict=True))
    shifts = [corrections.get(label, 0.0) for label in known.labels]
    answers = []
    for (row, answer), nats in zip(there, values, strict=True):
        if row != WITHOUT_STORY:
            compared = nats and tuple(n - s for n, s in zip(nats, shifts, strict=True))
            like = TierAnswer(row=row, tier=tier, options=known.labels)
            answers.append(read_answer(like, answer, known, compared, options))
    return answers


def compared_values(
    answer: RawAnswer, known: AnswerOptions, options: StoryOptions
) -> tuple[float, ...] | None:
    """The values by which options are compared, as far as one prompt tells; None without scores.

    Raises:
        UsageError: the norm needs what was not kept.
        TableError: the answer is to another question.
    """
    nats = [value for value in answer.nats if value is not None]
    if not nats or len(nats) < len(answer.nats):
        return None
    if len(nats) != len(known.labels):
        raise TableError(
            where="choices",
            seen=f"a request has {len(nats)} options, and the question has {len(known.labels)}",
            todo="Run again: the suite or the wording is not the one that was asked.",
        )
    return normalized(nats, options.norm, n_tokens=answer.n_tokens, words=known.words)


def read_answer(
    like: TierAnswer,
    answer: RawAnswer,
    known: AnswerOptions,
    values: tuple[float, ...] | None,
    options: StoryOptions,
) -> TierAnswer:
    """The answer to a question, from its entries in the tables.

    Args:
        like: an answer with the row, the question and the options.
        answer: the entries.
        known: the answers that the question allows.
        values: what options are compared by; None where none were scored.
        options: how it was asked.
    """
    if values is not None:
        nats = [value for value in answer.nats if value is not None]
        return replace(
            like,
            logprobs_nats=values,
            nats_per_character=normalized(nats, "char", n_tokens=(), words=known.words),
            greedy=() if None in answer.greedy else tuple(map(bool, answer.greedy)),
        )
    if answer.greedy:
        # A recording that says what was chosen, or only that the right option was not.
        chosen = next((n for n, g in zip(known.labels, answer.greedy, strict=True) if g), None)
        if chosen is None:
            return replace(like, correct=False)
        return replace(like, label=chosen, reply=answer.reply)
    text = answer.reply or ""
    label, reason = read_reply(like.tier, text, known, options)
    return replace(like, label=label, reply=text, reason=reason)


def read_reply(
    task: Task, text: str, known: AnswerOptions, options: StoryOptions
) -> tuple[str | None, str]:
    """The label that a reply says, or None and why there is none.

    Args:
        task: what was asked.
        text: of the reply.
        known: the answers that the question allows.
        options: how it was asked.
    """
    # A reply may be one of the words to the letter, in a language that the parser does not know.
    pairs = zip(known.words, known.labels, strict=True)
    exact = {one_spelling(word).lower(): label for word, label in pairs}
    label = exact.get(one_spelling(text).strip().strip(".").lower())
    if label is not None:
        return label, ""
    tier = next((tier for tier in TIERS if tier == task), None)
    parsed = (
        parse_reply(tier, text, numbering=options.numbering) if tier else parse_words(text, exact)
    )
    return parsed.label, parsed.reason


def asked_suite(suite: StorySuite, options: StoryOptions) -> StorySuite:
    """The suite as it is asked about: corrected, where that was wanted and is not done yet.

    Raises:
        InputError: the corrections were made for other stories.
    """
    name = options.corrections
    return correct_suite(suite, name) if name and name not in suite.corrections else suite
