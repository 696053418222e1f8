"""English sentences."""

from __future__ import annotations

from demo.lexicon import Lexicon
from demo.linearize import join
from demo.trees import (
    SECOND,
    THIRD,
    Act,
    Clause,
    Complement,
    Features,
    Name,
    Pair,
    Phrase,
    Place,
    Pronoun,
    State,
    Subject,
)

_THIRD = Features(3, "sg", "m")


class English:
    """Trees to words, with do-support."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._determiners = lexicon.table("determiners")
        self._relations = {key: words[0] for key, words in lexicon.table("relations").items()}
        self._questions = lexicon.table("question")

    def phrase(self, phrase: Phrase) -> str:
        """A noun phrase."""
        core = phrase.noun.forms[phrase.number]
        if phrase.adjective:
            core = f"{phrase.adjective.lemma} {core}"
        text = join(self._determiner(phrase, core), core)
        if phrase.modifier:
            text = join(text, self._place(phrase.modifier.relation, phrase.modifier.phrase))
        if phrase.relative:
            text = join(text, self._relative(phrase.relative, phrase))
        return text

    def _determiner(self, phrase: Phrase, core: str) -> str:
        if phrase.determiner == "def":
            return "the"
        if phrase.determiner == "indef":
            if phrase.number == "pl":
                return "some"
            return "an" if core[0] in "aeiou" and not core.startswith("use") else "a"
        return self._determiners[phrase.determiner][phrase.number == "pl"]

    def _place(self, relation: str, phrase: Phrase) -> str:
        return join(self._relations[relation], self.phrase(phrase))

    def _relative(self, clause: Clause, head: Phrase) -> str:
        word = "who" if head.noun.kind == "h" and clause.gap == "subject" else "that"
        agree = head.features if clause.gap == "subject" else None
        return join(word, self.statement(clause, agree=agree))

    def subject(self, subject: Subject | None) -> str:
        """A subject."""
        if subject is None:
            return ""
        if isinstance(subject, Pair):
            return join(self.subject(subject.left), "and", self.subject(subject.right))
        if isinstance(subject, Name):
            return subject.text
        if isinstance(subject, Pronoun):
            return self._pronoun(subject.features)
        return self.phrase(subject)

    def _pronoun(self, features: Features) -> str:
        words = self.lexicon.words("pronouns")
        if features.number == "pl":
            return words[3 + features.person]
        if features.person == THIRD:
            return words[3] if features.gender == "f" else words[2]
        return words[features.person - 1]

    def _object(self, act: Act) -> str:
        phrase = act.object
        if phrase is None:
            return act.verb.preposition
        if isinstance(phrase, Complement):
            return self._complement(phrase)
        text = phrase.text if isinstance(phrase, Name) else self.phrase(phrase)
        return join(act.verb.preposition, text)

    def _complement(self, complement: Complement) -> str:
        clause, kind = complement.clause, complement.kind
        if kind in ("that", "whether"):
            return join(kind, self.statement(clause))
        return join(self._questions[kind][0], self.statement(clause))

    # Verbs: an auxiliary, which may be empty, and what follows it

    def _verbs(self, clause: Clause, features: Features, *, support: bool) -> tuple[str, str]:
        single = features.person == THIRD and features.number == "sg"
        predicate = clause.predicate
        if isinstance(predicate, Act):
            forms = predicate.verb.forms
        elif isinstance(predicate, State) and predicate.linker:
            forms = predicate.linker.forms
        else:
            return self._copula(clause.tense, features)
        if clause.tense == "future":
            return "will", forms["present"][0]
        if clause.tense == "perfect":
            return "has" if single else "have", forms["participle"][0]
        past = clause.tense != "present"
        if support:
            return "did" if past else "does" if single else "do", forms["present"][0]
        return "", forms["past"][0] if past else forms["present"][single]

    def _copula(self, tense: str, features: Features) -> tuple[str, str]:
        if tense == "future":
            return "will", "be"
        many = features.number == "pl" or features.person == SECOND
        if tense == "present":
            if features.person == 1 and features.number == "sg":
                return "am", ""
            return "are" if many else "is", ""
        return "were" if many else "was", ""

    def _parts(
        self, clause: Clause, agree: Features | None = None, *, question: bool = False
    ) -> tuple[str, str, str, str]:
        features = agree or (clause.subject.features if clause.subject else _THIRD)
        first, second = self._verbs(clause, features, support=question or clause.negated)
        if clause.negated:
            second = join(self.lexicon.text("not"), second)
        second = join(clause.frequency, second)
        return self.subject(clause.subject), first, second, self._rest(clause)

    def _rest(self, clause: Clause) -> str:
        predicate = clause.predicate
        if isinstance(predicate, State):
            return join(predicate.degree, predicate.adjective.lemma, clause.adverb)
        if isinstance(predicate, Place):
            return join(self._place(predicate.relation, predicate.phrase), clause.adverb)
        if isinstance(predicate.object, Complement):
            return self._object(predicate)
        return join(self._object(predicate), clause.adverb)

    # Sentences

    def statement(self, clause: Clause, *, agree: Features | None = None) -> str:
        """Subject, auxiliary, verb and the rest."""
        return join(*self._parts(clause, agree))

    def polar(self, clause: Clause) -> str:
        """The auxiliary first."""
        subject, first, second, rest = self._parts(clause, question=True)
        return join(first, subject, second, rest)

    def content(self, clause: Clause, word: str) -> str:
        """The question word, then as a polar question unless it asks for the subject."""
        start = self._questions[word][0]
        if clause.gap == "subject":
            return join(start, self.statement(clause))
        return join(start, self.polar(clause))

    def exists(self, phrase: Phrase, place: Place) -> str:
        """There is, there are."""
        verb = "there are" if phrase.number == "pl" else "there is"
        return join(verb, self.phrase(phrase), self._place(place.relation, place.phrase))
