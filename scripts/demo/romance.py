"""Italian, Spanish and Portuguese sentences."""

from __future__ import annotations

from demo.articles import ORDER, VOWELS, contract, definite, indefinite
from demo.lexicon import Lexicon, Verb
from demo.linearize import join
from demo.trees import (
    THIRD,
    Act,
    Clause,
    Complement,
    Features,
    Name,
    Number,
    Pair,
    Phrase,
    Place,
    Pronoun,
    State,
    Subject,
)

_OWNERS = ("own", "your", "our", "their")
_CLITICS = {"it": ("mi", "ti", "si", "ci", "vi", "si"), "es": ("me", "te", "se", "nos", "se")}
_THIRD = Features(3, "sg", "m")


class Romance:
    """Trees to words in one of the three languages, which differ in articles and word order."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._language = lexicon.language
        self._determiners = lexicon.table("determiners")
        self._relations = {key: words[0] for key, words in lexicon.table("relations").items()}
        self._copulas = {"ser": lexicon.table("copula")}
        if self._language != "it":
            self._copulas["estar"] = lexicon.table("estar")
        self._questions = lexicon.table("question")
        self._have = lexicon.table("aux_have") if self._language == "it" else {}

    # Noun phrases

    def phrase(self, phrase: Phrase, preposition: str = "") -> str:
        """A noun phrase behind a preposition (none for subjects and objects)."""
        core = phrase.noun.forms[phrase.number]
        behind = ""
        if phrase.adjective:
            form = phrase.adjective.forms[phrase.features.key]
            if "pre" in phrase.adjective.marks:
                core = f"{form} {core}"
            elif phrase.late:
                behind = form
            else:
                core = f"{core} {form}"
        text = self._determined(phrase, core, preposition)
        if phrase.modifier:
            text = join(text, self._place(phrase.modifier.relation, phrase.modifier.phrase), behind)
        if phrase.relative:
            text = join(text, self._relative(phrase.relative, phrase.features))
        return text

    def _determined(self, phrase: Phrase, core: str, preposition: str) -> str:
        kind, language = phrase.determiner, self._language
        if kind == "def":
            return self._with_article(phrase, core, preposition)
        if kind == "indef":
            return self._indefinite(phrase, core, preposition)
        word = self._determiners[kind][ORDER.index(phrase.features.key)]
        if kind == "all":
            return join(preposition, word, self._with_article(phrase, core))
        if kind in _OWNERS:
            core = f"{word} {core}"
            return (
                self._with_article(phrase, core, preposition)
                if language == "it"
                else join(preposition, core)
            )
        if language == "it" and kind == "this" and phrase.number == "sg" and core[0] in VOWELS:
            word = "quest'"
        if kind in ("this", "that") and language == "pt" and preposition:
            return join(contract(language, preposition, word), core)
        return join(preposition, word, core)

    def _with_article(self, phrase: Phrase, core: str, preposition: str = "") -> str:
        stressed = _stressed_a(phrase, core)
        article = definite(self._language, phrase.features.key, core, stressed_a=stressed)
        return join(contract(self._language, preposition, article), core)

    def _indefinite(self, phrase: Phrase, core: str, preposition: str) -> str:
        if phrase.number == "pl" and (preposition or self._language == "pt"):
            return join(preposition, core)
        stressed = _stressed_a(phrase, core)
        article = indefinite(self._language, phrase.features.key, core, stressed_a=stressed)
        return join(preposition, article, core)

    def subject(self, subject: Subject | None) -> str:
        """A subject; nothing for a silent pronoun where the language allows it."""
        if subject is None:
            return ""
        if isinstance(subject, Pair):
            right = self.subject(subject.right)
            word = self.lexicon.text("and")
            if self._language == "es" and right[:1].lower() == "i":
                word = "e"
            return join(self.subject(subject.left), word, right)
        if isinstance(subject, Name):
            return subject.text
        if isinstance(subject, Pronoun):
            silent = subject.silent and self._language != "pt"
            return "" if silent else self._pronoun(subject.features)
        return self.phrase(subject)

    def _pronoun(self, features: Features) -> str:
        words = self.lexicon.words("pronouns")
        index = self._person(features)
        feminine = features.gender == "f"
        if features.person == THIRD and features.number == "pl":
            return words[-1] if feminine else words[-2]
        if features.person == THIRD:
            return words[3] if feminine else words[2]
        return words[index + 1 if features.number == "pl" else index]

    def _person(self, features: Features) -> int:
        if features.number == "sg":
            return features.person - 1
        if self._language == "it":
            return features.person + 2
        return 3 if features.person == 1 else 4

    def _object(self, act: Act) -> str:
        phrase, verb = act.object, act.verb
        if phrase is None:
            return ""
        if isinstance(phrase, Complement):
            return self._complement(phrase, subjunctive="subj" in verb.marks)
        preposition = verb.preposition
        if not preposition and self._language == "es" and _is_human(phrase):
            preposition = "a"
        if isinstance(phrase, Name):
            return join(preposition, phrase.text)
        return self.phrase(phrase, preposition)

    def _place(self, relation: str, phrase: Phrase) -> str:
        return self.phrase(phrase, self._relations[relation])

    # Verbs

    def _copula(self, name: str, tense: str, features: Features, *, subjunctive: bool) -> str:
        forms = self._copulas[name]["subjunctive" if subjunctive else tense]
        return forms[self._person(features)]

    def _verb(self, clause: Clause, features: Features, *, subjunctive: bool) -> str:
        predicate = clause.predicate
        tense = clause.tense
        if isinstance(predicate, Act):
            return self._act(predicate.verb, tense, features, subjunctive=subjunctive)
        if isinstance(predicate, State) and predicate.linker:
            return self._act(predicate.linker, tense, features, subjunctive=subjunctive)
        if tense == "past":
            tense = "imperfect"
        if isinstance(predicate, Place):
            name = "ser" if self._language == "it" else "estar"
            return self._copula(name, tense, features, subjunctive=subjunctive)
        name = "estar" if "est" in predicate.adjective.marks else "ser"
        return self._copula(name, tense, features, subjunctive=subjunctive)

    def _act(self, verb: Verb, tense: str, features: Features, *, subjunctive: bool) -> str:
        person = self._person(features)
        clitic = _CLITICS[self._language][person] if "refl" in verb.marks else ""
        if self._language == "it" and tense == "past":
            if clitic or "essere" in verb.marks:
                first = self._copula("ser", "present", features, subjunctive=subjunctive)
                second = verb.forms["participle"][ORDER.index(features.key)]
            else:
                first = self._have["subjunctive" if subjunctive else "present"][person]
                second = verb.forms["participle"][0]
            return join(clitic, first, second)
        if subjunctive and tense == "present" and features.person == THIRD:
            return join(clitic, verb.forms["subjunctive"][features.number == "pl"])
        return join(clitic, verb.forms[tense][person])

    def _rest(self, clause: Clause, features: Features) -> str:
        predicate = clause.predicate
        if isinstance(predicate, State):
            form = predicate.adjective.forms[features.key]
            return join(predicate.degree, form, clause.adverb)
        if isinstance(predicate, Place):
            return join(self._place(predicate.relation, predicate.phrase), clause.adverb)
        if isinstance(predicate.object, Complement):
            return join(clause.adverb, self._object(predicate))
        return join(self._object(predicate), clause.adverb)

    def _parts(
        self, clause: Clause, agree: Features | None = None, *, subjunctive: bool = False
    ) -> tuple[str, str, str]:
        features = agree or (clause.subject.features if clause.subject else _THIRD)
        verb = self._verb(clause, features, subjunctive=subjunctive)
        if clause.negated:
            verb = f"{self.lexicon.text('not')} {verb}"
        if clause.frequency:
            pair = (clause.frequency, verb)
            verb = join(*(reversed(pair) if self._language == "it" else pair))
        return self.subject(clause.subject), verb, self._rest(clause, features)

    # Sentences

    def statement(
        self, clause: Clause, *, agree: Features | None = None, subjunctive: bool = False
    ) -> str:
        """Subject, verb and the rest."""
        return join(*self._parts(clause, agree, subjunctive=subjunctive))

    def polar(self, clause: Clause) -> str:
        """As a statement; in Spanish the verb comes first where nothing long follows it."""
        subject, verb, rest = self._parts(clause)
        if self._language == "es" and isinstance(clause.predicate, Act):
            return join(verb, subject, rest)
        return join(subject, verb, rest)

    def content(self, clause: Clause, word: str) -> str:
        """The question word first; the verb before its subject except in Portuguese."""
        subject, verb, rest = self._parts(clause)
        start = self._questions[word][0]
        if self._language == "es" and word == "who" and clause.gap == "object":
            start = f"a {start}"
        inverted = self._language == "es" or (
            self._language == "it" and (clause.gap or not _has_object(clause))
        )
        if inverted:
            return join(start, verb, subject, rest)
        return join(start, subject, verb, rest)

    def exists(self, phrase: Phrase, place: Place) -> str:
        """C'è, ci sono; hay; há."""
        words = self.lexicon.words("here_is")
        number: Number = phrase.number
        return join(
            words[number == "pl"], self.phrase(phrase), self._place(place.relation, place.phrase)
        )

    def _relative(self, clause: Clause, head: Features) -> str:
        agree = head if clause.gap == "subject" else None
        return join(self.lexicon.text("relative"), *self._parts(clause, agree))

    def _complement(self, complement: Complement, *, subjunctive: bool) -> str:
        clause, kind = complement.clause, complement.kind
        if kind == "that":
            word = self.lexicon.text("that")
            return join(word, self.statement(clause, subjunctive=subjunctive))
        if kind == "whether":
            return join(self.lexicon.text("whether"), self.statement(clause))
        return self.content(clause, kind)


def _stressed_a(phrase: Phrase, core: str) -> bool:
    return "el" in phrase.noun.marks and core.startswith(phrase.noun.lemma)


def _is_human(phrase: Phrase | Name) -> bool:
    if isinstance(phrase, Name):
        return True
    return phrase.noun.kind == "h" and phrase.determiner in ("def", "this", *_OWNERS)


def _has_object(clause: Clause) -> bool:
    return not isinstance(clause.predicate, Act) or clause.predicate.object is not None
