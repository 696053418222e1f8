"""The search for connectives in treebanks, in which every hit can be traced to its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from cimento.corpus import TreebankSentence
from cimento.corpus.conllu import ReadingProblem
from cimento.corpus.connectives.inventories import Inventory
from cimento.corpus.connectives.matching import (
    Finder,
    Match,
    Rule,
    anchor,
    has_copula,
    head_after_climbing,
    is_initial,
    is_question,
)
from cimento.corpus.treebanks import TreebankFile, fingerprint, licenses_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """An occurrence that a rule accepts.

    Attributes:
        connective: its name in the inventory.
        corpus: the treebank.
        file: the name of the file.
        sha256: hash of that file.
        sentence_id: ID of its sentence.
        token_ids: IDs of its words.
        form: form as written in the text.
        upos: part of speech of the word that the rule tested.
        deprel: relation of that word.
        head_id: ID of its head after climbing; 0 for none.
        head_upos: part of speech of the head; empty for none.
        head_lemma: lemma of the head; empty for none.
        head_has_cop: whether the head has a copula.
        initial: whether it opens the sentence.
        question: whether the sentence ends in a question mark.
    """

    connective: str
    corpus: str
    file: str
    sha256: str
    sentence_id: str
    token_ids: tuple[int, ...]
    form: str
    upos: str
    deprel: str
    head_id: int
    head_upos: str
    head_lemma: str
    head_has_cop: bool
    initial: bool
    question: bool


class DuplicateSentences:
    """The sentences that repeat an earlier text, in the same treebank or another.

    Attributes:
        pairs: file and sentence of each repetition, and of its first occurrence.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[tuple[str, str], tuple[str, str]]] = []
        self._first: dict[bytes, tuple[str, str]] = {}

    def is_new(self, sentence: TreebankSentence, file: str) -> bool:
        """Whether a sentence is new, ignoring case, marks and addresses."""
        place = (file, sentence.id)
        first = self._first.setdefault(fingerprint(sentence.text), place)
        if first is place:
            return True
        self.pairs.append((place, first))
        return False


def search_treebanks(
    files: Sequence[TreebankFile],
    inventory: Inventory,
    rule: Rule,
    *,
    skipped: list[ReadingProblem] | None = None,
    duplicates: DuplicateSentences | None = None,
) -> Iterator[tuple[Hit, TreebankSentence]]:
    """Every occurrence that a rule accepts, with its sentence, in the order of the files.

    Args:
        files: treebanks.
        inventory: the connectives to look for.
        rule: the rule for occurrences that count.
        skipped: list to which malformed sentences are added; None refuses them.
        duplicates: if given, repeated sentences are skipped and recorded in it.

    Raises:
        InputError: a file cannot be read, or a sentence is malformed and `skipped` is None.
    """
    finder = Finder(inventory, rule)
    for file in files:
        for sentence in file.sentences(skipped=skipped):
            if duplicates is not None and not duplicates.is_new(sentence, file.name):
                continue
            for match in finder.find(sentence):
                yield make_hit(file, sentence, match, rule), sentence


def make_hit(file: TreebankFile, sentence: TreebankSentence, match: Match, rule: Rule) -> Hit:
    """The hit of an occurrence."""
    word = anchor(sentence, match)
    head = head_after_climbing(sentence, word, rule.climb)
    return Hit(
        connective=match.connective,
        corpus=file.corpus,
        file=file.name,
        sha256=file.sha256,
        sentence_id=sentence.id,
        token_ids=match.word_ids,
        form=" ".join(sentence.words[number - 1].form for number in match.word_ids),
        upos=word.upos,
        deprel=word.deprel,
        head_id=head.id if head else 0,
        head_upos=head.upos if head else "",
        head_lemma=head.lemma if head else "",
        head_has_cop=head is not None and has_copula(sentence, head),
        initial=is_initial(sentence, match),
        question=is_question(sentence),
    )


COLUMNS = (
    "connective", "corpus", "license", "file", "sha256", "sent_id", "token_id", "form", "upos",
    "deprel", "head_id", "head_upos", "head_has_cop", "initial", "question",
)  # fmt: skip

SearchResult = Iterable[tuple[Hit, TreebankSentence]]


def hit_rows(
    result: SearchResult, files: Sequence[TreebankFile], *, with_text: bool
) -> Iterator[str]:
    """The lines of a TSV without quoting, the header first.

    Args:
        result: hits with their sentences.
        files: the treebanks that were searched.
        with_text: whether the sentence is a column too.
    """
    licenses = licenses_of(files)
    yield "\t".join((*COLUMNS, "text") if with_text else COLUMNS) + "\n"
    for hit, sentence in result:
        cells = [
            hit.connective, hit.corpus, licenses[hit.corpus], hit.file, hit.sha256,
            hit.sentence_id, ",".join(map(str, hit.token_ids)), hit.form, hit.upos, hit.deprel,
            str(hit.head_id), hit.head_upos or "_",
            *("1" if flag else "0" for flag in (hit.head_has_cop, hit.initial, hit.question)),
        ]  # fmt: skip
        if with_text:
            cells.append(sentence.text)
        yield "\t".join(" ".join(cell.split("\t")) for cell in cells) + "\n"


def hits_as_json(
    result: SearchResult, files: Sequence[TreebankFile], *, with_text: bool
) -> dict[str, object]:
    """Hits as JSON values; see `hit_rows`."""
    return {
        "licenses": licenses_of(files),
        "files": {file.name: file.sha256 for file in files},
        "hits": [
            {**asdict(hit), **({"text": sentence.text} if with_text else {})}
            for hit, sentence in result
        ],
    }
