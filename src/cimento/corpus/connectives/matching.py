"""Matching of connectives in sentences, and the rules for occurrences that count.

The rules are data in TOML (docs/treebanks.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from cimento.corpus import TreebankSentence, Word
from cimento.corpus.connectives.inventories import Inventory, Spelling, checked_toml, normal
from cimento.errors import InputError, did_you_mean, need_known
from cimento.io.files import expanded
from cimento.io.parsing import read_toml
from cimento.suites.letters import one_spelling

By: TypeAlias = Literal["lemma", "form", "exact"]
"""The basis of comparing words: ``lemma``, ``form`` ignoring case, or ``exact`` form."""

BYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Match:
    """An occurrence of a connective in a sentence.

    Attributes:
        connective: its name.
        word_ids: IDs of its words, in order.
    """

    connective: str
    word_ids: tuple[int, ...]


_Unit: TypeAlias = tuple[str, int, int]
"""A text to compare, with the first and the last word to which it belongs."""


class Finder:
    """A finder of the connectives of an inventory that a rule accepts.

    Connectives of one word are found by lemma or form, those of several by form alone, since
    treebanks split fixed expressions (``dato che`` has the lemma ``dare``). Both words and tokens
    are searched, so that ``a causa di`` is found in *a causa del* and ``del resto`` in *del resto*.

    Args:
        inventory: the connectives to look for.
        rule: the rule for occurrences that count.
    """

    def __init__(self, inventory: Inventory, rule: Rule) -> None:
        self._rule = rule
        self._asking = {entry.name for entry in inventory.connectives if entry.interrogative}
        self._single: dict[str, list[str]] = {}
        self._several: dict[str, list[tuple[str, Spelling]]] = {}
        for connective in inventory.connectives:
            for spelling in connective.spellings[: 1 if rule.spellings == "own" else None]:
                name, first = connective.name, spelling[0][0]
                if len(spelling) == 1 and len(spelling[0]) == 1:
                    self._single.setdefault(first, []).append(name)
                else:
                    self._several.setdefault(first, []).append((name, spelling))

    def find(self, sentence: TreebankSentence) -> list[Match]:
        """The occurrences in a sentence that count, in the order of their first words."""
        matches = list(self._find_single(sentence))
        if self._several:
            matches += self._find_several(sentence)
            is_longest = self._rule.overlaps == "longest"
            matches = _without_shorter(matches) if is_longest else list(dict.fromkeys(matches))
            matches.sort(key=lambda match: match.word_ids)
        return [
            match
            for match in matches
            if self._rule.accepts(sentence, match, interrogative=match.connective in self._asking)
        ]

    def _find_single(self, sentence: TreebankSentence) -> Iterator[Match]:
        single, by = self._single, self._rule.match
        for word in sentence.words:
            text = word.lemma if by == "lemma" else word.form
            key = one_spelling(text) if by == "exact" else normal(text)
            for name in single.get(key, ()):
                yield Match(name, (word.id,))

    def _find_several(self, sentence: TreebankSentence) -> list[Match]:
        words = [(normal(word.form), word.id, word.id) for word in sentence.words]
        matches = list(self._sequences(words))
        if sentence.multiwords:
            tokens = [(normal(token.form), token.first, token.last) for token in sentence.tokens()]
            matches += self._sequences(tokens)
        return matches

    def _sequences(self, units: Sequence[_Unit]) -> Iterator[Match]:
        used: set[tuple[str, int]] = set()
        for start, unit in enumerate(units):
            for name, spelling in self._several.get(unit[0], ()):
                if (name, start) in used:
                    continue  # the second *sia* of *sia ... sia* does not begin another match
                places = _places(units, spelling, start)
                if places:
                    used.update((name, place) for place in places)
                    ids = (n for at in places for n in range(units[at][1], units[at][2] + 1))
                    yield Match(name, tuple(ids))


def _places(units: Sequence[_Unit], spelling: Spelling, start: int) -> list[int]:
    """The places of a spelling's words, of which the first is at `start`; empty without a match."""
    if not _stands_at(units, spelling[0], start):
        return []
    places = list(range(start, start + len(spelling[0])))
    for part in spelling[1:]:
        after = range(places[-1] + 1, len(units))
        begin = next((at for at in after if _stands_at(units, part, at)), None)
        if begin is None:
            return []
        places += range(begin, begin + len(part))
    return places


def _stands_at(units: Sequence[_Unit], part: Sequence[str], start: int) -> bool:
    return len(units) - start >= len(part) and all(
        units[start + n][0] == word for n, word in enumerate(part)
    )


def _without_shorter(matches: Iterable[Match]) -> list[Match]:
    """The matches without repetitions and without those whose words are all in a longer one."""
    unique = list(dict.fromkeys(matches))
    sets = [frozenset(match.word_ids) for match in unique]
    return [
        match
        for match, ids in zip(unique, sets, strict=True)
        if not any(ids < others for others in sets)
    ]


Position: TypeAlias = Literal["any", "initial", "not-initial"]
RuleExclusion: TypeAlias = Literal["questions", "interrogatives", "indirect-questions"]
Spellings: TypeAlias = Literal["own", "all"]
Overlaps: TypeAlias = Literal["longest", "all"]

FOLDER = Path(__file__).parents[2] / "data" / "corpus" / "rules"

_CLAUSAL = ("VERB", "AUX")
_COPULA = ("cop",)
_MARKS = ("PUNCT", "SYM")
_CLOSING = frozenset("\"'»”’)]")
_ARGUMENTS = ("ccomp", "csubj")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "match": BYS,
    "spellings": get_args(Spellings),
    "overlaps": get_args(Overlaps),
    "position": get_args(Position),
    "exclude": get_args(RuleExclusion),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule for the occurrences of connectives that count.

    The tests apply to the connective's only word, or of several words to the first whose head is
    outside of them. The two tests of the head are alternatives; all others must hold. A relation in
    a list includes its subtypes: ``cc`` includes ``cc:preconj``, but ``parataxis:discourse`` means
    only itself.

    Attributes:
        name: name of the rule.
        comment: purpose of the rule.
        match: basis of comparison: ``lemma``, ``form`` (case ignored) or ``exact`` form.
        spellings: ``own`` for the name alone, ``all`` for all spellings of the inventory.
        overlaps: ``longest`` leaves out a connective inside a longer one, ``all`` does not.
        climb: relations, such as ``fixed``, that are followed upwards before the head is tested.
        head_upos: parts of speech of the head.
        head_child: relations of a child of the head, such as ``cop``.
        upos: parts of speech that the word may have; empty for any.
        not_upos: parts of speech that it must not have.
        deprel: relations that it may have; empty for any.
        not_deprel: relations that it must not have.
        position: required position in the sentence.
        exclude: ``questions`` excludes sentences that end in a question mark; ``interrogatives``
            excludes, in those, the question words of the main clause; ``indirect-questions``
            excludes question words of a clause that is an argument.
        both_clauses: whether the head must itself depend on a clause.
    """

    name: str
    comment: str = ""
    match: By = "lemma"
    spellings: Spellings = "own"
    overlaps: Overlaps = "longest"
    climb: tuple[str, ...] = ()
    head_upos: tuple[str, ...] = ()
    head_child: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    not_upos: tuple[str, ...] = ()
    deprel: tuple[str, ...] = ()
    not_deprel: tuple[str, ...] = ()
    position: Position = "any"
    exclude: tuple[RuleExclusion, ...] = ()
    both_clauses: bool = False

    def accepts(
        self, sentence: TreebankSentence, match: Match, *, interrogative: bool = False
    ) -> bool:
        """Whether an occurrence counts under the rule.

        Args:
            sentence: the sentence of the occurrence.
            match: the occurrence.
            interrogative: whether the connective's word also asks questions.
        """
        word = anchor(sentence, match)
        if word.upos in self.not_upos or (self.upos and word.upos not in self.upos):
            return False
        if self.deprel and not _is_one_of(word.deprel, self.deprel):
            return False
        if _is_one_of(word.deprel, self.not_deprel):
            return False
        if self.position != "any" and is_initial(sentence, match) != (self.position == "initial"):
            return False
        head = head_after_climbing(sentence, word, self.climb)
        return (
            self._accepts_head(sentence, head)
            and not self._is_excluded(sentence, match, head, interrogative=interrogative)
            and (not self.both_clauses or _has_clauses_around(sentence, head))
        )

    def _accepts_head(self, sentence: TreebankSentence, head: Word | None) -> bool:
        if not self.head_upos and not self.head_child:
            return True
        return head is not None and (
            head.upos in self.head_upos
            or bool(self.head_child and sentence.has_child(head, self.head_child))
        )

    def _is_excluded(
        self, sentence: TreebankSentence, match: Match, head: Word | None, *, interrogative: bool
    ) -> bool:
        if "questions" in self.exclude and is_question(sentence):
            return True
        if not interrogative:
            return False
        is_argument = head is not None and head.relation in _ARGUMENTS
        return ("indirect-questions" in self.exclude and is_argument) or (
            "interrogatives" in self.exclude
            and is_question(sentence)
            and _opens_main(sentence, match, head)
        )


def builtin_rules() -> list[str]:
    """The names of the built-in rules."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def open_rule(name: str) -> Rule:
    """A built-in rule by its name, or a rule in a TOML file.

    Raises:
        InputError: there is no such rule, or it cannot be used.
    """
    if name in builtin_rules():
        return read_rule(FOLDER / f"{name}.toml")
    path = expanded(name)
    if path.suffix.lower() != ".toml":
        raise InputError(
            where="rule",
            seen=f"got {name!r}",
            todo=did_you_mean(name, builtin_rules()) + " Or give a TOML file.",
        )
    return read_rule(path)


def read_rule(path: Path) -> Rule:
    """A rule in a TOML file.

    Raises:
        InputError: the file cannot be read, or a key is unknown or has a value of the wrong type.
    """
    return make_rule({"name": path.stem, **read_toml(path)}, where=str(path))


def make_rule(values: Mapping[str, object], *, where: str) -> Rule:
    """A rule made from the keys and values of TOML.

    Raises:
        InputError: a key is unknown or has a value of the wrong type.
    """
    defaults = {field.name: field.default for field in fields(Rule)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        need_known(key, defaults, where=where, seen=f"the key {key!r} is unknown", error=InputError)
        default = "" if key == "name" else defaults[key]
        checked[key] = checked_toml(key, value, default, where=where, example='["cop"]')
        given = checked[key] if isinstance(default, tuple) else (checked[key],)
        choices = _CHOICES.get(key)
        if choices and not set(given) <= set(choices):
            seen, todo = f"{key} is {checked[key]!r}", f"It is one of {', '.join(choices)}."
            raise InputError(where=where, seen=seen, todo=todo)
    return Rule(**checked)


# --- The tree around an occurrence


def anchor(sentence: TreebankSentence, match: Match) -> Word:
    """The first word of an occurrence whose head is outside of the occurrence."""
    words = [sentence.words[number - 1] for number in match.word_ids]
    return next((word for word in words if word.head not in match.word_ids), words[0])


def head_after_climbing(
    sentence: TreebankSentence, word: Word, climb: tuple[str, ...]
) -> Word | None:
    """The head of a word, or of the word reached by climbing some relations."""
    while word.head and _is_one_of(word.deprel, climb):
        word = sentence.words[word.head - 1]
    return sentence.head_of(word)


def has_copula(sentence: TreebankSentence, word: Word) -> bool:
    """Whether a word has a copula."""
    return sentence.has_child(word, _COPULA)


def is_clause(sentence: TreebankSentence, word: Word) -> bool:
    """Whether a word is the head of a clause: a verb, an auxiliary, or anything with a copula."""
    return word.upos in _CLAUSAL or has_copula(sentence, word)


def is_initial(sentence: TreebankSentence, match: Match) -> bool:
    """Whether only marks and symbols precede an occurrence."""
    return all(word.upos in _MARKS for word in sentence.words[: match.word_ids[0] - 1])


def is_question(sentence: TreebankSentence) -> bool:
    """Whether a sentence ends in a question mark, ignoring closing quotes and brackets."""
    words = [word.form for word in sentence.words if not set(word.form) <= _CLOSING]
    return bool(words) and "?" in words[-1] and set(words[-1]) <= set("?!.…")


def _is_one_of(deprel: str, relations: tuple[str, ...]) -> bool:
    return deprel in relations or deprel.partition(":")[0] in relations


def _opens_main(sentence: TreebankSentence, match: Match, head: Word | None) -> bool:
    """Whether a word of the main clause precedes the verb of that clause, as question words do."""
    if head is None:
        return True
    above = sentence.head_of(head)
    # A head is in the main clause if it is the root or coordinated with the root.
    is_joined = head.relation in ("conj", "parataxis") and (above is None or above.head == 0)
    return (head.head == 0 or is_joined) and match.word_ids[-1] < head.id


def _has_clauses_around(sentence: TreebankSentence, head: Word | None) -> bool:
    if head is None or not is_clause(sentence, head):
        return False
    above = sentence.head_of(head)
    return above is not None and is_clause(sentence, above)
