"""The wordings of the story tasks, and the worked examples that come before a story.

The wordings are in ``data/prompts``, with ids and versions. ``paper-en`` is that of the study,
byte for byte; the others (``en-1`` to ``en-5``, and the same in Italian, Spanish, Brazilian
Portuguese and Russian) are cimento's own. Neither the story itself nor another
variant of it is ever among its examples, except in ``paper`` mode, which draws as the study did
(its draws show siblings now and then).
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from cimento.errors import UsageError, need_known
from cimento.io.parsing import read_toml
from cimento.kinds.prompting import Dialogue
from cimento.suites.stories import CONFLICT, OPTIONS, STATE, STATES, STORY, Story, Tier

FOLDER = Path(__file__).parents[2] / "data" / "prompts"
PAPER = "paper-en"

ORDERS = ("paper", "alphabetical", "reversed", "shuffled")
NEWLINES = ("recorded", "task-file")

_Table: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The wording of the question at one tier.

    Attributes:
        instruction: comes before everything; may hold ``{options}`` and ``{definitions}``.
        definitions: what is put for ``{definitions}`` where it is asked for.
        before: comes before the story.
        sentence: how a sentence is written; holds ``{sentence}`` and perhaps ``{number}``.
        between: is between two sentences.
        after: comes after the story.
        answers: label to the word that a model answers with.
    """

    instruction: str
    definitions: str
    before: str
    sentence: str
    between: str
    after: str
    answers: _Table


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWording:
    """A wording of all three tiers.

    Attributes:
        id: id of the wording, such as ``it-1``.
        version: raised whenever a letter of it changes.
        language: ISO 639-1 code of its instructions and answers.
        gap: text between the instruction and what follows it.
        wide_gap: `gap` as the study's task files have it; like `gap` in other prompts.
        tiers: how each tier is asked.
    """

    id: str
    version: str
    language: str
    gap: str
    wide_gap: str
    tiers: Mapping[Tier, Wording]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptStyle:
    """The properties of a prompt that may vary besides its wording.

    Attributes:
        order: order of the options: ``paper``, ``alphabetical``, ``reversed``, or ``shuffled`` by
            `order_seed`. It decides ties, and the list in prompts that list them.
        order_seed: order seed of the shuffled order.
        numbering: number of the first sentence, 0 or 1.
        definitions: whether the states are defined; None: as the wording was made (the study's
            is with definitions, the others without).
        newlines: after the instruction of ``paper-en``: as ``recorded``, or as in its
            ``task-file``.
    """

    order: str = "paper"
    order_seed: int = 0
    numbering: int = 0
    definitions: bool | None = None
    newlines: str = "recorded"

    def __post_init__(self) -> None:
        need_known(self.order, ORDERS, where="order", seen=f"got {self.order!r}")
        need_known(self.newlines, NEWLINES, where="newlines", seen=f"got {self.newlines!r}")
        if self.numbering not in (0, 1):
            raise UsageError(
                where="numbering", seen=f"got {self.numbering}", todo="Sentences start at 0 or 1."
            )


@dataclass(frozen=True, slots=True)
class TierPrompt:
    """One tier in one wording and style: gives the texts that a prompt is put together from.

    Attributes:
        tier: which question.
        prompt: the wording.
        style: what varies.
    """

    tier: Tier
    prompt: PromptWording
    style: PromptStyle

    @property
    def wording(self) -> Wording:
        """The wording of the question at a tier."""
        return self.prompt.tiers[self.tier]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the tier, in the order in which they are options."""
        return ordered(OPTIONS[self.tier], self.style, word=self.answer)

    @property
    def instruction(self) -> str:
        """The text before everything else."""
        wanted = self.style.definitions
        with_them = self.prompt.id == PAPER if wanted is None else wanted
        return fill_template(
            self.wording.instruction,
            definitions=self.wording.definitions if with_them else "",
            options=words_in_list(
                [self.answer(label) for label in self.labels], self.prompt.language
            ),
        )

    @property
    def gap(self) -> str:
        """The text between the instruction and the rest."""
        return self.prompt.gap if self.style.newlines == "recorded" else self.prompt.wide_gap

    def body(self, story: Story) -> str:
        """A story with its question."""
        sentences = (
            fill_template(self.wording.sentence, sentence=text, number=str(number))
            for number, text in enumerate(story.sentences, start=self.style.numbering)
        )
        return f"{self.wording.before}{self.wording.between.join(sentences)}{self.wording.after}"

    def answer(self, label: str) -> str:
        """The words that mean a label."""
        if self.tier != CONFLICT:
            return self.wording.answers[label]
        first, second = (int(part) + self.style.numbering for part in label.split(" and "))
        return fill_template(self.wording.answers["pair"], first=str(first), second=str(second))


def dialogue(tier_prompt: TierPrompt, story: Story, shots: Sequence[Story]) -> Dialogue:
    """The prompt about one story, with some others as worked examples.

    Raises:
        UsageError: an example has no answer at this tier.
    """
    worked = []
    for shot in shots:
        gold = shot.gold(tier_prompt.tier)
        if gold is None:
            raise UsageError(
                where=f"story {shot.example_id!r}",
                seen=f"it has no answer for {tier_prompt.tier}, and should be a worked example",
                todo="Leave it out of the examples.",
            )
        worked.append((tier_prompt.body(shot), tier_prompt.answer(gold)))
    return Dialogue(
        instruction=tier_prompt.instruction,
        gap=tier_prompt.gap,
        shots=tuple(worked),
        body=tier_prompt.body(story),
    )


def ordered(
    labels: Sequence[str], style: PromptStyle, *, word: Callable[[str], str] = str
) -> tuple[str, ...]:
    """Labels in the order of a style."""
    if style.order == "alphabetical":
        return tuple(sorted(labels, key=word))
    if style.order == "reversed":
        return tuple(reversed(labels))
    if style.order == "shuffled":
        mixed = list(labels)
        random.Random(style.order_seed).shuffle(mixed)  # noqa: S311  # keeps no secret
        return tuple(mixed)
    return tuple(labels)


@functools.cache
def prompts() -> Mapping[str, PromptWording]:
    """All wordings by their ids, that of the study first."""
    files = sorted(FOLDER.glob("*.toml"), key=lambda path: (path.stem != PAPER, path.stem))
    by_id: dict[str, PromptWording] = {}
    for path in files:
        content = wordings(path.stem)
        for table in content["prompts"]:
            by_id[table["id"]] = _prompt(table, content)
    return by_id


def find_prompt(name: str) -> PromptWording:
    """A wording by its id.

    Raises:
        UsageError: there is none.
    """
    known = prompts()
    need_known(name, known, where="prompt", seen=f"there is no prompt {name!r}")
    return known[name]


def default_prompt(language: str) -> PromptWording:
    """The first wording in a language; English where there is none in it."""
    return find_prompt(f"{language}-1" if f"{language}-1" in prompts() else "en-1")


@functools.cache
def wordings(language: str) -> Mapping[str, Any]:
    """All that a file of wordings has in a language; in English where there is none in it."""
    path = FOLDER / f"{language}.toml"
    return read_toml(path if path.is_file() else FOLDER / "en.toml")


def fill_template(template: str, **values: str) -> str:
    """A template with its placeholders filled; braces in the values are left as they are."""
    # In one pass, so that what is filled in is never filled in itself.
    pieces = template.split("{")
    done = [pieces[0]]
    for piece in pieces[1:]:
        name, brace, rest = piece.partition("}")
        done.append(values[name] + rest if brace and name in values else "{" + piece)
    return "".join(done)


def words_in_list(words: Sequence[str], language: str) -> str:
    """Words as a list in a sentence, in a language."""
    last = _OR.get(language, "or")
    if language == "es" and words[-1].startswith(("o", "ho")):
        last = "u"
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


_OR = {"it": "o", "es": "o", "pt": "ou", "ru": "или"}


def state_names() -> list[Mapping[str, str]]:
    """State to what it is called, for each file of wordings."""
    return [read_toml(path)["states"] for path in sorted(FOLDER.glob("*.toml"))]


def _prompt(table: Mapping[str, Any], content: Mapping[str, Any]) -> PromptWording:
    gap = table.get("gap", "\n\n")
    return PromptWording(
        id=table["id"],
        version=table["version"],
        language=content["language"],
        gap=gap,
        wide_gap=table.get("wide_gap", gap),
        tiers={tier: _wording(tier, table[tier], content) for tier in OPTIONS},
    )


def _wording(tier: Tier, parts: Mapping[str, Any], content: Mapping[str, Any]) -> Wording:
    states, meanings = content["states"], content.get("definitions")
    given = {"definitions": "", "between": "", **parts}
    if tier == STATE:
        given["answers"] = states
        if meanings:
            lines = (f"\n- {states[state]}: {meanings[state]}" for state in STATES)
            given["definitions"] = "".join(lines)
    return Wording(**given)


FIXED, BALANCED, VARIED, PER_ITEM, PAPER_DRAWS = "fixed", "balanced", "varied", "per-item", "paper"
MODES = (FIXED, BALANCED, VARIED, PER_ITEM, PAPER_DRAWS)

_SHARED = 3
"""Variants of a story share four of five sentences; that many in common cannot be chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """The choice of worked examples.

    Attributes:
        n: number of examples; 0 for none.
        mode: ``fixed``: the same for all stories and models, but for siblings, which give way to
            the next one drawn; ``balanced``: the same, the labels in turns; ``varied``: the same,
            with as many different pairs, states and types as can be; ``per-item``: drawn again for
            each story, whatever the others are; ``paper``: as the study drew.
        seed: seed of the draws; the study's was 1234.
    """

    n: int = 3
    mode: str = FIXED
    seed: int = 1234

    def __post_init__(self) -> None:
        if self.n < 0:
            raise UsageError(where="shots", seen=f"got {self.n}", todo="Give 0 or more.")
        need_known(self.mode, MODES, where="shots-mode", seen=f"got {self.mode!r}")


def choose_shots(
    tier: Tier, items: Sequence[Story], pool: Sequence[Story], rule: Shots
) -> list[tuple[Story, ...]]:
    """The examples of each story, in the order of the prompt.

    Args:
        tier: tier whose question is asked; only stories of the pool with an answer to it are taken.
        items: the stories that are asked about.
        pool: the stories that examples are drawn from, in file order.
        rule: how they are chosen.

    Raises:
        UsageError: there are too few stories.
    """
    if rule.n == 0 or not items:
        return [() for _ in items]
    able = [story for story in pool if story.gold(tier) and (tier == STORY or not story.plausible)]
    if rule.mode == PAPER_DRAWS:
        return _as_the_study(tier, items, able, rule)
    if rule.mode == PER_ITEM:
        return [
            _chosen(tier, item, _mixed(able, f"{rule.seed}:{item.row}"), rule) for item in items
        ]
    mixed = _mixed(able, rule.seed)
    return [_chosen(tier, item, mixed, rule) for item in items]


def are_siblings(one: Story, other: Story) -> bool:
    """Whether two stories are variants of one: by their number, or by what they tell.

    Numbers can be wrong in published files; the sentences show it.
    """
    if one.story_id == other.story_id:
        return True
    return len(_told(one.sentences) & _told(other.sentences)) >= _SHARED


@functools.lru_cache(maxsize=10_000)
def _told(sentences: tuple[str, ...]) -> frozenset[str]:
    """What a story tells, in any order."""
    return frozenset(map(str.strip, sentences))


def _as_the_study(
    tier: Tier, items: Sequence[Story], pool: Sequence[Story], rule: Shots
) -> list[tuple[Story, ...]]:
    """One generator for all items in order; one more is drawn, so that the item can be dropped."""
    if len(pool) <= rule.n:
        raise _too_few(tier, len(pool), rule.n, "stories to draw from")
    generator = random.Random(rule.seed)  # noqa: S311  # keeps no secret
    drawn = (generator.sample(pool, rule.n + 1) for _ in items)
    return [
        tuple([shot for shot in shots if shot.row != item.row][: rule.n])
        for item, shots in zip(items, drawn, strict=True)
    ]


def _mixed(pool: Sequence[Story], seed: int | str) -> list[Story]:
    mixed = list(pool)
    random.Random(seed).shuffle(mixed)  # noqa: S311  # keeps no secret
    return mixed


def _chosen(tier: Tier, item: Story, mixed: Sequence[Story], rule: Shots) -> tuple[Story, ...]:
    chosen: list[Story] = []
    allowed = [story for story in mixed if not are_siblings(story, item)]
    for _ in range(rule.n):
        if not allowed:
            raise _too_few(
                tier, len(chosen), rule.n, f"that are not variants of {item.example_id!r}"
            )
        pick = _PICKS.get(rule.mode)
        chosen.append(pick(tier, allowed, chosen) if pick else allowed[0])
        allowed = [story for story in allowed if not are_siblings(story, chosen[-1])]
    return tuple(chosen)


def _of_next_label(tier: Tier, allowed: Sequence[Story], chosen: Sequence[Story]) -> Story:
    """The first story of the label that was taken least often."""
    taken = [shot.gold(tier) for shot in chosen]
    return min(allowed, key=lambda story: taken.count(story.gold(tier)))


def _most_new(_tier: Tier, allowed: Sequence[Story], chosen: Sequence[Story]) -> Story:
    """The first story that brings most of type, pair and state that were not there."""

    def traits(story: Story) -> tuple[object, ...]:
        return story.type, story.pair, story.state

    def news(story: Story) -> int:
        return sum(
            all(trait != traits(shot)[place] for shot in chosen)
            for place, trait in enumerate(traits(story))
        )

    return max(allowed, key=news)


_PICKS: dict[str, Callable[[Tier, Sequence[Story], Sequence[Story]], Story]] = {
    BALANCED: _of_next_label,
    VARIED: _most_new,
}


def _too_few(tier: Tier, there: int, wanted: int, which: str) -> UsageError:
    return UsageError(
        where=f"shots={wanted}",
        seen=f"a prompt takes {wanted} worked examples from other stories, and {tier} has"
        f" {there} {which}",
        todo="Run with --set shots=0, or with fewer than these, or add stories.",
    )
