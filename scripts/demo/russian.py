"""Russian sentences."""

from __future__ import annotations

from demo.inflect_russian import CASES
from demo.inflect_russian import noun as inflect_noun
from demo.lexicon import Cell, Lexicon, Verb
from demo.linearize import join
from demo.trees import (
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
_GENDERS = ("m", "f", "n", "pl")
_CONSONANTS = "бвгджзйклмнпрстфхцчшщ"
# What things do where they are: the present and past of four verbs.
_POSTURES = {
    "otfk": ("лежит", "лежат", "лежал", "лежала", "лежало", "лежали"),
    "csdv": ("стоит", "стоят", "стоял", "стояла", "стояло", "стояли"),
    "ha": ("сидит", "сидят", "сидел", "сидела", "сидело", "сидели"),
    "pnle": ("находится", "находятся", "находился", "находилась", "находилось", "находились"),
}


def gender_of(features: Features) -> str:
    """m, f, n or pl."""
    return "pl" if features.number == "pl" else features.gender


def preposition(word: str, following: str) -> str:
    """с and в become со and во before some clusters."""
    start = following.lower()
    if word.endswith("с") and start[0] in "сзшж" and start[1] in _CONSONANTS:
        return word + "о"
    if word == "в" and start[0] in "вф" and start[1] in _CONSONANTS:
        return "во"
    if word == "о" and start[0] in "аиоуэ":
        return "об"
    return word


class Russian:
    """Trees to words, with case, and with agreement in gender in the past."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._determiners = {
            kind: tuple(forms.split() for forms in rows)
            for kind, rows in lexicon.table("determiners").items()
        }
        self._relations = lexicon.table("relations")
        self._questions = lexicon.table("question")
        self._copula = lexicon.table("copula")

    # Noun phrases

    def phrase(self, phrase: Phrase, case: str = "nom", *, place: bool = False) -> str:
        """A noun phrase in a case; `place` takes the form that follows в and на."""
        gender = gender_of(phrase.features)
        core = phrase.noun.forms[self._noun_key(phrase, case, place=place)]
        animate = phrase.noun.kind in "ha"
        if phrase.adjective:
            key = f"{gender}.{case}"
            if case == "acc" and animate and gender in ("m", "pl"):
                key += ".animate"
            core = f"{phrase.adjective.forms[key]} {core}"
        text = join(self._determiner(phrase.determiner, gender, case, animate=animate), core)
        if phrase.modifier:
            text = join(text, self._place(phrase.modifier.relation, phrase.modifier.phrase))
        if phrase.relative:
            text = join(text + ",", self._relative(phrase.relative, phrase), ",")
        return text

    def _noun_key(self, phrase: Phrase, case: str, *, place: bool) -> str:
        if place:
            return f"{phrase.number}.place"
        key = f"{phrase.number}.{case}"
        animate = f"{key}.animate"
        if case == "acc" and phrase.noun.kind in "ha" and animate in phrase.noun.forms:
            return animate
        return key

    def _determiner(self, kind: str, gender: str, case: str, *, animate: bool) -> str:
        if kind in ("def", "indef"):
            return ""
        if case == "acc" and animate and gender in ("m", "pl"):
            case = "gen"
        return self._determiners[kind][_GENDERS.index(gender)][CASES.index(case)]

    def _relative(self, clause: Clause, head: Phrase) -> str:
        gender = gender_of(head.features)
        animate = head.noun.kind in "ha"
        if clause.gap == "subject":
            word = self._determiner("which", gender, "nom", animate=animate)
            return join(word, self.statement(clause, agree=head.features))
        case = clause.predicate.verb.case if isinstance(clause.predicate, Act) else "acc"
        word = self._determiner("which", gender, case, animate=animate)
        return join(word, self.statement(clause))

    def name(self, name: Name, case: str = "nom") -> str:
        """A name in a case."""
        if case == "nom":
            return name.text
        forms = inflect_noun(Cell(name.text, (name.gender,), {}))[1]
        key = f"sg.{case}"
        return forms.get(f"{key}.animate", forms[key]) if case == "acc" else forms[key]

    def subject(self, subject: Subject | None) -> str:
        """A subject."""
        if subject is None:
            return ""
        if isinstance(subject, Pair):
            return join(self.subject(subject.left), "и", self.subject(subject.right))
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
        phrase, verb = act.object, act.verb
        if phrase is None:
            return ""
        if isinstance(phrase, Complement):
            return join(",", self._complement(phrase))
        text = (
            self.name(phrase, verb.case)
            if isinstance(phrase, Name)
            else self.phrase(phrase, verb.case)
        )
        if not verb.preposition:
            return text
        return join(preposition(verb.preposition, text), text)

    def _place(self, relation: str, phrase: Phrase) -> str:
        word, case = self._relations[relation]
        if relation == "in" and "na" in phrase.noun.marks:
            word = "на"
        text = self.phrase(phrase, case, place=case == "loc")
        return join(preposition(word, text) if word else "", text)

    def _complement(self, complement: Complement) -> str:
        clause, kind = complement.clause, complement.kind
        if kind == "that":
            return join("что", self.statement(clause))
        if kind == "whether":
            subject, verb, rest = self._parts(clause)
            return join(verb, "ли", subject, rest)
        return self.content(clause, kind)

    # Predicates

    def _parts(self, clause: Clause, agree: Features | None = None) -> tuple[str, str, str]:
        features = agree or (clause.subject.features if clause.subject else _THIRD)
        subject, predicate = self.subject(clause.subject), clause.predicate
        negation = self.lexicon.text("not") if clause.negated else ""
        if isinstance(predicate, State):
            verb, rest = self._state(predicate, clause, features)
            if verb:
                return subject, join(negation, verb), join(rest, clause.adverb)
            return subject, "", join(negation, rest, clause.adverb)
        if isinstance(predicate, Place):
            verb = self._posture(clause, features)
            place = self._place(predicate.relation, predicate.phrase)
            return subject, join(negation, verb), join(place, clause.adverb)
        verb = join(
            clause.frequency, negation, self._conjugated(predicate.verb, clause.tense, features)
        )
        if isinstance(predicate.object, Complement):
            return subject, join(verb, clause.adverb), self._object(predicate)
        return subject, verb, join(self._object(predicate), clause.adverb)

    def _state(self, state: State, clause: Clause, features: Features) -> tuple[str, str]:
        gender = gender_of(features)
        forms = state.adjective.forms
        verb = ""
        if state.linker:
            verb = self._conjugated(state.linker, clause.tense, features)
            return verb, join(state.degree, forms[f"{gender}.ins"])
        if clause.tense in ("past", "imperfect"):
            verb = self._copula["past"][_GENDERS.index(gender)]
        elif clause.tense == "future":
            verb = self._copula["future"][_person(features)]
        key = "ins" if verb else "nom"
        form = forms.get(f"short.{gender}", forms[f"{gender}.{key}"])
        return verb, join(state.degree, form)

    def _conjugated(self, verb: Verb, tense: str, features: Features) -> str:
        forms = verb.forms
        if tense == "present":
            return forms["present"][_person(features)]
        if tense == "future":
            return f"{self._copula['future'][_person(features)]} {forms['infinitive'][0]}"
        return forms[tense][_GENDERS.index(gender_of(features))]

    def _posture(self, clause: Clause, features: Features) -> str:
        kind = clause.subject.noun.kind if isinstance(clause.subject, Phrase) else "h"
        forms = next(posture for kinds, posture in _POSTURES.items() if kind in kinds)
        if clause.tense == "present":
            return forms[features.number == "pl"]
        return forms[2 + _GENDERS.index(gender_of(features))]

    # Sentences

    def statement(self, clause: Clause, *, agree: Features | None = None) -> str:
        """Subject, verb and the rest."""
        return join(*self._parts(clause, agree))

    def polar(self, clause: Clause) -> str:
        """As a statement."""
        return self.statement(clause)

    def content(self, clause: Clause, word: str) -> str:
        """The question word, the verb, then its subject."""
        subject, verb, rest = self._parts(clause)
        start = self._questions[word][0]
        if clause.gap == "object" and word == "who":
            start = "кого"
        return join(start, verb, subject, rest)

    def exists(self, phrase: Phrase, place: Place) -> str:
        """The place, a verb of posture, the thing."""
        verb = self._posture(Clause(phrase, place), phrase.features)
        return join(self._place(place.relation, place.phrase), verb, self.phrase(phrase))


def _person(features: Features) -> int:
    return features.person - 1 + (3 if features.number == "pl" else 0)
