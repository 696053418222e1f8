"""Queries of trees: the notation, its errors, and matching beside two oracles.

The oracles are networkx (subgraph monomorphisms of the dependency graph) and a loop over all
tuples of words, which reads the records of a pattern one by one.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cimento
from cimento import InputError
from cimento.corpus.queries import (
    CompareClause,
    DistanceClause,
    DominanceClause,
    EdgeClause,
    FeatureTest,
    NodeClause,
    OrderClause,
    SentenceTest,
    TreebankIndex,
)
from cimento.corpus.queries.matching import find
from cimento.corpus.queries.parsing import PatternError, parse_request
from cimento.corpus.treebanks import open_treebanks
from tests.helpers.trees import treebank

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"
TREE = [
    "1 Una uno DET Definite=Ind|Number=Sing 3 det",
    "2 vecchia vecchio ADJ Number=Sing 3 amod",
    "3 zia zia NOUN Number=Sing 4 nsubj",
    "4 scrive scrivere VERB Mood=Ind|Number=Sing|VerbForm=Fin 0 root",
    "5 lunghe lungo ADJ Number=Plur 6 amod",
    "6 lettere lettera NOUN Number=Plur 4 obj",
    "7 che che PRON PronType=Rel 9 obj",
    "8 nessuno nessuno PRON Number=Sing 9 nsubj:pass",
    "9 apre aprire VERB Mood=Ind|Number=Sing|VerbForm=Fin 6 acl:relcl",
    "10 . . PUNCT _ 4 punct",
]
TEXT = "Una vecchia zia scrive lunghe lettere che nessuno apre."


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return TreebankIndex(treebank(tmp_path_factory.mktemp("tree"), (TEXT, TREE)))


@pytest.fixture(scope="module")
def sample():
    return TreebankIndex(open_treebanks([SAMPLE]))


def words(index, text):
    return [tuple(match.words.values()) for match in find(index, parse_request(text))]


# --- The notation


def test_every_clause_has_its_record():
    request = parse_request(
        """pattern { V [upos=VERB|AUX, !Tense, Number__psor=Sing]|[lemma="a b"]; % a remark
             e: V -[nsubj|nsubj:pass]-> S; V -[^obj]-> X; V -[1=aux, 2<>pass]-> *; * -> V;
             S << V; S > X; V ->> X; S.Number <> V.Number; S.form = /.*E/i;
             V [Mood=*, lemma=re".*re"] }"""
    )
    label = FeatureTest("deprel", "is", ("obj",))
    assert request.nodes == ("V", "S", "X")
    assert request.clauses[:9] == (
        NodeClause(
            "V",
            (
                (
                    FeatureTest("upos", "is", ("VERB", "AUX")),
                    FeatureTest("Tense", "absent"),
                    FeatureTest("Number[psor]", "is", ("Sing",)),
                ),
                (FeatureTest("lemma", "is", ("a b",)),),
            ),
        ),
        EdgeClause(
            "V",
            "S",
            (
                (FeatureTest("deprel", "is", ("nsubj",)),),
                (FeatureTest("deprel", "is", ("nsubj:pass",)),),
            ),
        ),
        EdgeClause("V", "X", ((label,),), negated=True),
        EdgeClause(
            "V",
            "",
            (
                (
                    FeatureTest("deprel.1", "is", ("aux",)),
                    FeatureTest("deprel.2", "is not", ("pass",)),
                ),
            ),
        ),
        EdgeClause("", "V"),
        OrderClause("S", "V", adjacent=False),
        OrderClause("X", "S", adjacent=True),
        DominanceClause("V", "X"),
        CompareClause(("S", "Number"), ("V", "Number"), equal=False),
    )


def test_comparisons_distances_and_blocks_have_their_records():
    request = parse_request(
        """pattern { e: V -[nsubj|nsubj:pass]-> S; e.2 = pass; length(e) >= 2; delta(S,V) = -1 }
           without { V -> Y } with { S [Number] } global { is_projective; text <> re"A.*" }"""
    )
    part = NodeClause("S", ((FeatureTest("deprel.2", "is", ("pass",)),),), declares=False)
    assert request.clauses[1] == part
    assert request.clauses[2:4] == (
        DistanceClause("V", "S", signed=False, operator=">=", number=2),
        DistanceClause("S", "V", signed=True, operator="=", number=-1),
    )
    assert [block.wanted for block in request.blocks] == [False, True]
    assert request.sentence[0] == SentenceTest("is_projective")


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "pattern {"),
        ("V []", 1, 1, "pattern {"),
        ("pattern { V [upos=VERB }", 1, 24, ", or ]"),
        ("pattern { V [upos VERB] }", 1, 19, ", or ]"),
        ("pattern { V -[nsubj]- S }", 1, 20, "']->'"),
        ("pattern { V [];\n  V -[nsubj -> S }", 2, 13, "']->'"),
        ("pattern { V [lemma=\"a] }", 1, 20, "a name, a value or a sign"),
        ("pattern { V [lemma=re\"(a\"] }", 1, 23, "one of Python's"),
        ("pattern { V [lemma=] }", 1, 20, "a value, such as"),
        ("pattern { V []; S << V }", 1, 17, "the name of a word (V)"),
        ("pattern { V [] } without { X.lemma = a }", 1, 28, "the name of a word (V)"),
        ("pattern { V [] } globl {}", 1, 18, "pattern, with, without or global"),
        ("pattern { V [] } global { is_round }", 1, 27, "one of is_projective"),
        ("pattern { V - S }", 1, 13, "[, ->, -[, ->>"),
        ("pattern { V -> }", 1, 16, "the name of the dependent, or *"),
        ("pattern { e: V -> S; length(e) ~ 2 }", 1, 32, "a name, a value or a sign"),
        ("pattern { e: V -> S; length(e) = x }", 1, 34, "a whole number"),
        ("pattern { e: V -> S; e.lemma = x }", 1, 24, "label, 1 or 2"),
        ("pattern { V [] S [] }", 1, 16, "; or }"),
        ("pattern { V -[1=a, 3=b]-> S }", 1, 20, "1 or 2"),
    ],
)  # fmt: skip
def test_a_bad_pattern_is_told_with_its_place_and_what_was_expected(text, line, column, expected):
    with pytest.raises(InputError) as caught:
        parse_request(text)
    message = str(caught.value)
    assert f"pattern, line {line}, column {column}:" in message
    assert f"expected was {expected}" in message
    *_, shown, caret = message.split("\n")
    assert caret.index("^") == column - 1 + 4
    assert shown.strip() == text.split("\n")[line - 1].strip()


@given(st.text(alphabet='VS[]{}-><|;:=!*^re"/ .,\n%12patternwihouglbd()', max_size=60))
@settings(deadline=None)
def test_any_text_is_a_request_or_refused_with_one_message(text):
    for whole in (text, f"pattern {{ {text} }}"):
        with contextlib.suppress(PatternError):
            assert parse_request(whole).nodes


# --- Hand-counted matches in the tree above


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pattern { V [upos=VERB] }", [(4,), (9,)]),
        ("pattern { X [Number] } without { X [Number=Sing] }", [(5,), (6,)]),
        ("pattern { X [!Number, upos<>PUNCT] }", [(7,)]),
        ("pattern { X [upos=ADJ]|[upos=DET] }", [(1,), (2,), (5,)]),
        ("pattern { X [lemma=re\"l.*\"] }", [(5,), (6,)]),
        ("pattern { X [form=/UNA/i] }", [(1,)]),
        ("pattern { V -[nsubj]-> S }", [(4, 3)]),
        ("pattern { V -[1=nsubj]-> S }", [(4, 3), (9, 8)]),
        ("pattern { V -[re\"nsubj.*\"]-> S }", [(4, 3), (9, 8)]),
        ("pattern { V -[1=nsubj, 2=*]-> S }", [(9, 8)]),
        ("pattern { V -[1=nsubj, 2<>*]-> S }", [(4, 3)]),
        ("pattern { N [upos=NOUN]; N -[^det|amod]-> X }", [(6, 9)]),
        ("pattern { * -[root]-> V }", [(4,)]),
        ("pattern { V [upos=VERB]; V -[punct]-> * }", [(4,)]),
        ("pattern { A [upos=ADJ]; N [upos=NOUN]; A < N }", [(2, 3), (5, 6)]),
        ("pattern { A [upos=ADJ]; N [upos=NOUN]; N > A }", [(2, 3), (5, 6)]),
        ("pattern { A [upos=ADJ]; N [upos=NOUN]; A << N }", [(2, 3), (2, 6), (5, 6)]),
        ("pattern { V [lemma=scrivere]; V ->> P; P [upos=PRON] }", [(4, 7), (4, 8)]),
        ("pattern { A [upos=ADJ]; B [upos=ADJ] }", [(2, 5), (5, 2)]),
        ("pattern { V -[nsubj]-> S; S.Number = V.Number }", [(4, 3)]),
        ("pattern { V -> O; O.Number <> V.Number }", [(4, 6), (6, 9)]),
        ("pattern { e: V -> X; V [upos=VERB]; length(e) > 2 }", [(4, 10)]),
        ("pattern { V [upos=VERB]; V -> X; delta(X,V) = 2 }", [(9, 7)]),
        ("pattern { e: V -> X; V [upos=VERB]; delta(e) > 0 }", [(4, 6), (4, 10)]),
        ("pattern { e: N -> X; f: N -> Y; X << Y; e.label = f.label }", []),
        ("pattern { N [upos=NOUN] } without { N -[1=acl]-> V }", [(3,)]),
        ("pattern { N [upos=NOUN] } with { N -> A; A [upos=ADJ]; A.Number = N.Number }",
         [(3,), (6,)]),
        ("pattern { V [upos=VERB] } without { V -[obj]-> O; O [upos=NOUN] } with { V -> X }",
         [(9,)]),
        ("pattern { V [upos=VERB] } global { is_projective }", [(4,), (9,)]),
        ("pattern { V [upos=VERB] } global { is_not_projective }", []),
        ("pattern { V [upos=VERB] } global { text = re\".*zia.*\" }", [(4,), (9,)]),
        ("pattern { V [upos=VERB] } global { sent_id <> \"s-1\" }", []),
    ],
)  # fmt: skip
def test_matches_counted_by_hand(tree, text, expected):
    assert words(tree, text) == expected


def test_a_crossing_edge_makes_a_sentence_nonprojective(tmp_path):
    rows = ["1 a a X _ 3 dep", "2 b b X _ 4 dep", "3 c c X _ 0 root", "4 d d X _ 3 dep"]
    index = TreebankIndex(treebank(tmp_path, ("a b c d", rows)))
    assert words(index, "pattern { X [form=a] } global { is_not_projective }") == [(1,)]


def test_what_no_word_of_the_treebanks_has_is_named(tree):
    request = parse_request("pattern { V [Nmber=Sing, upos=VRB]; V -[nsbj]-> S; S [lemma=zio] }")
    assert tree.unknown(request) == ["Nmber", "VRB", "nsbj"]


def test_unrelated_words_in_great_numbers_are_refused(tmp_path):
    rows = [f"{n} w w X _ {n - 1} {'dep' if n > 1 else 'root'}" for n in range(1, 301)]
    index = TreebankIndex(treebank(tmp_path, (" ".join(["w"] * 300), rows)))
    with pytest.raises(InputError, match=r"more than 5,000,000 combinations.*edge or by order"):
        find(index, parse_request("pattern { A []; B []; C [] }"))


def test_sentences_are_rebuilt_as_they_were_read(sample):
    original = [sentence for file in sample.files for sentence in file.sentences()]
    for made, known in zip(sample.sentences(), original, strict=True):
        assert (made.id, made.text, made.multiwords) == (known.id, known.text, known.multiwords)
        for one, other in zip(made.words, known.words, strict=True):
            assert one[:3] == other[:3]
            assert (one.head, one.deprel) == (other.head, other.deprel)
            assert [x or "_" for x in (one.feats, one.misc, one.xpos)] == [
                other.feats, other.misc, other.xpos,
            ]  # fmt: skip


# --- Oracles


def by_networkx(index, upos, labels):
    """The matches of a tree pattern: upos of each name, and label of each edge between them."""
    import networkx as nx
    from networkx.algorithms.isomorphism import DiGraphMatcher

    pattern = nx.DiGraph()
    for name, tag in upos.items():
        pattern.add_node(name, upos=tag)
    for (one, other), label in labels.items():
        pattern.add_edge(one, other, label=label)
    matches = []
    for number, sentence in enumerate(index.sentences()):
        graph = nx.DiGraph()
        for word in sentence.words:
            graph.add_node(word.id, upos=word.upos)
        graph.add_edges_from(
            (word.head, word.id, {"label": word.deprel}) for word in sentence.words if word.head
        )
        matcher = DiGraphMatcher(
            graph,
            pattern,
            node_match=lambda word, wanted: not wanted["upos"] or word["upos"] == wanted["upos"],
            edge_match=lambda edge, wanted: not wanted["label"] or edge["label"] == wanted["label"],
        )
        for mapping in matcher.subgraph_monomorphisms_iter():
            by_name = {name: word for word, name in mapping.items()}
            matches.append((number, *(by_name[name] for name in upos)))
    return sorted(matches)


@pytest.mark.parametrize(
    ("upos", "labels"),
    [
        ({"V": "VERB", "S": ""}, {("V", "S"): "nsubj"}),
        ({"V": "", "N": "NOUN", "D": "DET"}, {("V", "N"): "", ("N", "D"): "det"}),
        ({"V": "VERB", "A": "", "B": ""}, {("V", "A"): "", ("V", "B"): ""}),
        ({"A": "NOUN", "B": "DET"}, {("A", "B"): "det"}),
    ],
)
def test_tree_patterns_agree_with_networkx(sample, upos, labels):
    nodes = "; ".join(f"{n} [upos={tag}]" if tag else f"{n} []" for n, tag in upos.items())
    edges = "; ".join(
        f"{a} -[{label}]-> {b}" if label else f"{a} -> {b}" for (a, b), label in labels.items()
    )
    matches = find(sample, parse_request(f"pattern {{ {nodes}; {edges} }}"))
    mine = sorted((match.sentence, *match.words.values()) for match in matches)
    assert mine == by_networkx(sample, upos, labels)
    assert len(mine) > 20


def holds(clause, sentence, place):
    """Whether a clause holds of words of a sentence, read off its record."""
    if isinstance(clause, NodeClause):
        word = place[clause.name]
        return any(all(passes(test, word) for test in tests) for tests in clause.alternatives)
    if isinstance(clause, EdgeClause):
        head, child = place[clause.source], place[clause.target]
        labeled = any(all(passes(t, child) for t in tests) for tests in clause.labels)
        return child.head == head.id and (not clause.labels or labeled != clause.negated)
    if isinstance(clause, OrderClause):
        gap = place[clause.right].id - place[clause.left].id
        return gap == 1 if clause.adjacent else gap > 0
    if isinstance(clause, DominanceClause):
        word = place[clause.right]
        while word.head:
            word = sentence.words[word.head - 1]
            if word.id == place[clause.left].id:
                return True
        return False
    (one, first), (other, second) = clause.left, clause.right
    left, right = place[one].feature(first), place[other].feature(second)
    return bool(left and right) and (left == right) == clause.equal


def passes(test, word):
    value = {"upos": word.upos, "deprel": word.deprel, "lemma": word.lemma}.get(
        test.feature, word.feature(test.feature)
    )
    if test.relation in ("absent", "present"):
        return bool(value) == (test.relation == "present")
    if not value:
        return False
    hit = any(
        value == v if isinstance(v, str) else re.fullmatch(v.pattern, value) is not None
        for v in test.values
    )
    return hit == (test.relation == "is")


def by_loops(index, request):
    matches = []
    for number, sentence in enumerate(index.sentences()):
        for chosen in itertools.permutations(sentence.words, len(request.nodes)):
            place = dict(zip(request.nodes, chosen, strict=True))
            if all(holds(clause, sentence, place) for clause in request.clauses) and all(
                extends(block, sentence, place) == block.wanted for block in request.blocks
            ):
                matches.append((number, *(word.id for word in chosen)))
    return matches


def extends(block, sentence, place):
    names = {n: None for c in block.clauses for n in c.names if n not in place}
    rest = [word for word in sentence.words if word not in place.values()]
    return any(
        all(
            holds(c, sentence, {**place, **dict(zip(names, more, strict=True))})
            for c in block.clauses
        )
        for more in itertools.permutations(rest, len(names))
    )


NAMES = ("A", "B", "C")
NODE = st.sampled_from(
    ["[]", "[upos=NOUN]", "[upos<>VERB]", "[Number]", "[!Number]", "[Number=Sing]|[upos=DET]"]
)
TWO = st.sampled_from(list(itertools.permutations(NAMES[:2], 2)))
LINK = st.builds(
    lambda pair, form: form.format(*pair),
    TWO,
    st.sampled_from(
        ["{} -> {}", "{} -[det]-> {}", "{} -[^det|nsubj]-> {}", "{} << {}", "{} < {}", "{} ->> {}",
         "{}.Number = {}.Number", "{}.Number <> {}.Number"]
    ),
)  # fmt: skip
BLOCK = st.builds(
    lambda kind, node, link: f"{kind} {{ C {node}; {link} }}",
    st.sampled_from(["with", "without"]),
    NODE,
    st.sampled_from(["A -> C", "C -> A", "A << C", "C < B", "B ->> C", "C.Number = A.Number"]),
)
REQUESTS = st.builds(
    lambda a, b, links, blocks: (
        f"pattern {{ A {a}; B {b}; {'; '.join(links)} }} {' '.join(blocks)}"
    ),
    NODE,
    NODE,
    st.lists(LINK, min_size=1, max_size=2),
    st.lists(BLOCK, max_size=2),
)


@given(REQUESTS)
@settings(deadline=None)
def test_any_small_request_agrees_with_a_loop_over_all_words(small, text):
    request = parse_request(text)
    mine = [(match.sentence, *match.words.values()) for match in find(small, request)]
    assert mine == sorted(by_loops(small, request))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    second = [
        "1 Le il DET Number=Plur 2 det",
        "2 oche oca NOUN Number=Plur 4 nsubj",
        "3 non non ADV _ 4 advmod",
        "4 dormono dormire VERB Number=Plur 0 root",
    ]
    folder = tmp_path_factory.mktemp("small")
    return TreebankIndex(treebank(folder, (TEXT, TREE), ("Le oche non dormono", second)))


# --- The shared treebanks


@pytest.mark.golden
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pattern { V -[nsubj]-> S }", 1786),
        ("pattern { V -[1=nsubj]-> S }", 1989),
        ("pattern { V [upos=VERB, Mood=Sub] }", 87),
        ("pattern { D [upos=DET]; N [upos=NOUN]; D < N }", 3640),
    ],
)
def test_counts_in_the_shared_treebanks_are_those_of_awk(shared, text, expected):
    r"""The numbers are those of ``awk -F'\t' 'CONDITION' *.conllu | wc -l``, where CONDITION is

    ``$1 ~ /^[0-9]+$/ && $8 == "nsubj"``;
    ``$1 ~ /^[0-9]+$/ && $8 ~ /^nsubj(:|$)/``;
    ``$1 ~ /^[0-9]+$/ && $4 == "VERB" && $6 ~ /Mood=Sub/``; and
    ``$1 !~ /^[0-9]+$/ {next} p == "DET" && $4 == "NOUN" && $1 > 1; {p = $4}``.
    """
    index = TreebankIndex(open_treebanks([shared / "data" / "treebanks"]))
    assert len(find(index, parse_request(text))) == expected
