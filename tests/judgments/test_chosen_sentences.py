"""Forms in which people choose between sentences, in four languages and from three programs."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento.judgments import judgments_of, read_judgments
from tests.helpers.command_line import invoke

ITALIAN = [
    ("1", "Le finestre erano aperte.", "Le finestre era aperte."),
    ("2", "La città è bella.", "La città è bello."),
    ("3", "I bambini dormono già.", "I bambini dorme già."),
    ("4", "Le amiche sono arrivate.", "Le amiche sono arrivati."),
    ("5", "Il gatto dorme sul divano.", "Il gatto dormono sul divano."),
]
GOOD = {item: good for item, good, _ in ITALIAN}
BAD = {item: bad for item, _, bad in ITALIAN}
CHOSEN = {
    "s1": [GOOD["1"], GOOD["2"], GOOD["3"], GOOD["4"], GOOD["5"]],
    "s2": [GOOD["1"], GOOD["2"], GOOD["3"], BAD["4"], GOOD["5"]],
    "s3": [BAD["1"], GOOD["2"], BAD["3"], "Entrambe", GOOD["5"]],
    "s4": [GOOD["1"], GOOD["2"], GOOD["3"], BAD["4"], "Non so"],
    "s5": [GOOD["1"], BAD["2"], GOOD["3"], BAD["4"], GOOD["5"]],
}
HEADINGS = [f"{item}. Quale suona meglio?" for item in GOOD]


def write(path: Path, *rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def pairs_file(folder: Path, pairs):
    return write(folder / "pairs.csv", ("item", "good", "bad"), *pairs)


def imported(folder: Path, rows, *options, pairs=(), names=("--names", "keep")):
    """The judgments that the command writes; without pairs, nothing says what was asked."""
    form, out = write(folder / "form.csv", *rows), folder / "judgments.csv"
    suite = ["--suite", str(pairs_file(folder, pairs))] if pairs else []
    command = ["annotate", "import", str(form), *suite, *names, "-o", str(out), *options]
    assert invoke(command) == 0
    return judgments_of(read_judgments(out))


def chosen(judgments):
    return Counter((one.item, one.condition or one.value, one.annotator) for one in judgments)


def italian_form():
    return [("Code", *HEADINGS), *((code, *cells) for code, cells in CHOSEN.items())]


EXPECTED = Counter(
    [("1", "good", code) for code in ("s1", "s2", "s4", "s5")]
    + [("2", "good", code) for code in ("s1", "s2", "s3", "s4")]
    + [("3", "good", code) for code in ("s1", "s2", "s4", "s5")]
    + [("4", "bad", code) for code in ("s2", "s4", "s5")]
    + [("5", "good", code) for code in ("s1", "s2", "s3", "s5")]
    + [("1", "bad", "s3"), ("2", "bad", "s5"), ("3", "bad", "s3"), ("4", "good", "s1")]
    + [("4", "both", "s3")]
)


def test_with_the_pairs_each_answer_is_a_choice_of_one_of_them(tmp_path, capsys):
    judgments = imported(tmp_path, italian_form(), pairs=ITALIAN)
    assert chosen(judgments) == EXPECTED
    assert {one.question for one in judgments} == {"which is better"}
    said = capsys.readouterr().err
    assert "1 skipped: 'Non so' chooses no sentence" in said
    assert "1 answer chooses both sentences ('Entrambe'): stored as 'both'." in said


def test_agreement_and_the_suite_with_choices_have_the_numbers_counted_by_hand(tmp_path, capsys):
    imported(tmp_path, italian_form(), pairs=ITALIAN)
    table, pairs = str(tmp_path / "judgments.csv"), str(tmp_path / "pairs.csv")
    capsys.readouterr()
    assert invoke(["annotate", "agreement", table, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    shares = {one["condition"]: one["share"] for one in told["shares"]}
    assert shares == pytest.approx({"good": 17 / 24, "bad": 6 / 24, "both": 1 / 24})
    # Krippendorff 2019, chapter 12: of the ordered pairs of answers to one item, 8, 8, 8 and 14
    # differ; of those of all 24 answers, 24 * 23 - 17 * 16 - 6 * 5.
    differ = (3 * 8 / 4 + 14 / 4) / 24
    by_chance = (24 * 23 - 17 * 16 - 6 * 5) / (24 * 23)
    (question,) = told["questions"]
    assert question["alpha"]["value"] == pytest.approx(1 - differ / by_chance)
    copy = tmp_path / "chosen"
    command = ["annotate", "apply", pairs, table, "--language", "it", "-o", str(copy)]
    assert invoke(command) == 0
    assert "1 skipped: both sentences were chosen, or neither" in capsys.readouterr().err
    with (copy / "items.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    counts = {(row["item"], row["condition"]): int(row["chosen_by"]) for row in rows}
    assert [counts[item, "good"] for item in GOOD] == [4, 4, 4, 1, 4]
    assert [counts[item, "bad"] for item in GOOD] == [1, 1, 1, 3, 0]


def test_without_the_pairs_each_sentence_has_its_proportion_and_none_is_the_good_one(
    tmp_path, capsys
):
    judgments = imported(tmp_path, italian_form())
    assert {one.condition for one in judgments} == {""}
    assert {one.item for one in judgments} == {*HEADINGS}
    assert "Which sentences are good is not known" in capsys.readouterr().err
    assert invoke(["annotate", "agreement", str(tmp_path / "judgments.csv"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    by_sentence = {one["sentence"]: (one["n"], one["of"]) for one in told["sentences"]}
    assert by_sentence == {
        GOOD["1"]: (4, 5), BAD["1"]: (1, 5), GOOD["2"]: (4, 5), BAD["2"]: (1, 5),
        GOOD["3"]: (4, 5), BAD["3"]: (1, 5), GOOD["4"]: (1, 5), BAD["4"]: (3, 5), "both": (1, 5),
        GOOD["5"]: (4, 4),
    }  # fmt: skip
    assert told["questions"][0]["alpha"]["value"] is None
    assert invoke(["annotate", "agreement", str(tmp_path / "judgments.csv")]) == 0
    printed = capsys.readouterr().out
    assert "which sentence is which is not known" in printed
    # Wilson 1927 for 3 of 5; R: prop.test(3, 5, correct = FALSE)$conf.int
    row = next(line for line in printed.splitlines() if BAD["4"] in line)
    assert row.endswith("3 of 5  0.600       [0.231, 0.882]")


BESIDE = {
    "Timestamp": ["2026/03/02 10:02:11", "2026/03/02 10:05:40", "2026/03/02 10:06:03",
                  "2026/03/02 10:09:55", "2026/03/02 10:11:20"],
    "Quanti anni hai?": ["23", "31", "58", "44", "27"],
    "Titolo di studio": ["Laurea magistrale", "Laurea triennale", "Laurea triennale", "Diploma",
                         "Laurea magistrale"],
    "Di dove sei?": ["Pisa", "Lecce", "Pisa", "Bari", "Pisa"],
    "Hai commenti?": ["", "La quarta era difficile.", "", "Le frasi erano troppo corte.", ""],
    "Sei di madrelingua italiana?": ["Sì", "Sì", "No", "Sì", "Sì"],
}  # fmt: skip
ASKED_AS = [
    HEADINGS,
    ["Quale suona meglio?"] * 5,
    [f"Domanda {number}" for number in "12345"],
    [f"Scegli la frase migliore [{number}]" for number in "abcde"],
    [f"{GOOD[item]} / {BAD[item]}" for item in GOOD],
]


@settings(deadline=None, max_examples=40)
@given(
    headings=st.sampled_from(ASKED_AS),
    beside=st.lists(st.sampled_from(sorted(BESIDE)), unique=True),
    labels=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_order_headings_and_other_columns_change_no_judgment(
    tmp_path_factory, headings, beside, labels, random
):
    """Columns in any order, questions called otherwise, people shuffled, a file renamed."""
    folder = tmp_path_factory.mktemp("chosen")
    columns = [("Code", list(CHOSEN))]
    for place, heading in enumerate(headings):
        cells = [CHOSEN[code][place] for code in CHOSEN]
        if labels:
            letters = {sentence: f"{letter}) {sentence}" for letter, sentence in
                       zip("AB", random.sample([GOOD[str(place + 1)], BAD[str(place + 1)]], 2),
                           strict=True)}  # fmt: skip
            cells = [letters.get(cell, cell) for cell in cells]
        columns.append((heading, cells))
    columns += [(name, BESIDE[name]) for name in beside]
    random.shuffle(columns)
    people = random.sample(range(len(CHOSEN)), len(CHOSEN))
    rows = [[name for name, _ in columns], *([cells[n] for _, cells in columns] for n in people)]
    assert chosen(imported(folder, rows, pairs=ITALIAN)) == EXPECTED
    # Without the pairs the same sentences are chosen equally often.
    alone = imported(folder, rows)
    assert Counter(one.value.removeprefix("A) ").removeprefix("B) ") for one in alone) == Counter(
        {"both": 1} | {GOOD[i]: n for i, n in zip(GOOD, (4, 4, 4, 1, 4), strict=True)}
        | {BAD[i]: n for i, n in zip(BAD, (1, 1, 1, 3), strict=False)}
    )  # fmt: skip


SPANISH = [
    ("1", "Las niñas están cansadas.", "Las niñas están cansados."),
    ("2", "A Marta le gustan los perros.", "A Marta le gusta los perros."),
]
PORTUGUESE = [
    ("a1", "Os meninos chegaram cedo.", "Os meninos chegou cedo."),
    ("a2", "Ela me deu um livro.", "Ela deu-se um livro para mim."),
]
ENGLISH = [
    ("1", "The keys to the cabinet are here.", "The keys to the cabinet is here."),
    ("2", "Who did you say left?", "Who did you say that left?"),
]


def test_a_form_of_google_with_one_heading_and_words_for_both_and_neither(tmp_path, capsys):
    rows = [
        ("Marca temporal", "¿Cuál suena mejor?", "¿Cuál suena mejor?"),
        ("12/3/2026 9:01:10", "Las niñas están cansadas.", "A Marta le gusta los perros"),
        ("12/3/2026 9:05:44", "Ambas suenan bien", "Ninguna de las dos"),
        ("12/3/2026 9:11:02", "No lo sé", "a marta le gustan los perros."),
    ]
    judgments = imported(tmp_path, rows, pairs=SPANISH)
    assert [(one.item, one.condition, one.value) for one in judgments] == [
        ("1", "good", SPANISH[0][1]), ("2", "bad", SPANISH[1][2]),
        ("1", "", "both"), ("2", "", "none"),
        ("2", "good", SPANISH[1][1]),
    ]  # fmt: skip
    assert [one.at for one in judgments][::2] == [row[0] for row in rows[1:]]
    assert "chooses neither sentence ('Ninguna de las dos')" in capsys.readouterr().err


@pytest.mark.parametrize("codes", ["AB", "12", ("A1", "A2"), ("a primeira", "A segunda")])
def test_codes_are_places_of_the_sentences_in_the_heading(tmp_path, capsys, codes):
    first, second = codes
    rows = [
        ("Response ID", "Date submitted", "Last page",
         f"Qual soa melhor? A) {PORTUGUESE[0][2]} B) {PORTUGUESE[0][1]}",
         f"Qual soa melhor? A) {PORTUGUESE[1][1]} B) {PORTUGUESE[1][2]}"),
        ("1", "2026-03-02 10:00:00", "3", second, first),
        ("2", "2026-03-02 10:10:00", "3", first, "tanto faz"),
    ]  # fmt: skip
    judgments = imported(tmp_path, rows, pairs=PORTUGUESE)
    assert chosen(judgments) == Counter(
        [("a1", "good", "1"), ("a2", "good", "1"), ("a1", "bad", "2"), ("a2", "both", "2")]
    )
    assert f"{first!r} as 'Os meninos chegou cedo.'" in capsys.readouterr().err
    alone = imported(tmp_path, rows)
    assert [one.value for one in alone] == [one.value for one in judgments]


def test_boxes_that_were_both_ticked_are_both_sentences(tmp_path):
    rows = [
        ("ID", "Completion time", "Start time", "Which sounds better?1", "Which sounds better?2"),
        ("1", "3/2/26 10:04", "3/2/26 10:00", ";".join(ENGLISH[0][1:]) + ";", ENGLISH[1][2] + ";"),
        ("2", "3/2/26 10:09", "3/2/26 10:01", ENGLISH[0][1] + ";", ", ".join(ENGLISH[1][:0:-1])),
    ]
    assert chosen(imported(tmp_path, rows, pairs=ENGLISH)) == Counter(
        [("1", "both", "1"), ("2", "bad", "1"), ("1", "good", "2"), ("2", "both", "2")]
    )


def test_an_answer_that_is_none_of_the_sentences_is_refused_skipped_or_explained(tmp_path, capsys):
    rows = italian_form()
    rows[2] = ("s2", "Dipende dal contesto", *CHOSEN["s2"][1:])
    write(tmp_path / "form.csv", *rows)
    pairs = pairs_file(tmp_path, ITALIAN)
    command = ["annotate", "import", str(tmp_path / "form.csv"), "--suite", str(pairs), "--names",
               "keep", "-o", str(tmp_path / "judgments.csv")]  # fmt: skip
    assert invoke(command) == 2
    said = capsys.readouterr().err
    assert "'Dipende dal contesto' is none of the answers" in said
    assert "row 3" in said
    assert HEADINGS[0] in said
    skipped = imported(tmp_path, rows, "--unknown", "skip", pairs=ITALIAN)
    assert chosen(skipped) == EXPECTED - Counter([("1", "good", "s2")])
    words = tmp_path / "map.toml"
    words.write_text('[values]\n"Dipende dal contesto" = "both"\n', encoding="utf-8")
    mapped = imported(tmp_path, rows, "--mapping", str(words), pairs=ITALIAN)
    assert chosen(mapped) == chosen(skipped) + Counter([("1", "both", "s2")])


def test_sentences_of_two_items_are_refused_until_the_heading_names_one(tmp_path, capsys):
    twice = [*ENGLISH, ("3", ENGLISH[0][1], "The keys to the cabinet was here.")]
    rows = [("Code", "Which?", "Which is it?"), ("p1", ENGLISH[0][1], ENGLISH[1][1])]
    write(tmp_path / "form.csv", *rows)
    command = ["annotate", "import", str(tmp_path / "form.csv"), "--names", "keep", "--suite",
               str(pairs_file(tmp_path, twice)), "-o", str(tmp_path / "o.csv")]  # fmt: skip
    assert invoke(command) == 2
    assert "those of any of the items 1, 3" in capsys.readouterr().err
    rows[0] = ("Code", "3", "Which is it?")
    assert chosen(imported(tmp_path, rows, pairs=twice)) == Counter(
        [("3", "good", "p1"), ("2", "good", "p1")]
    )


def test_ratings_and_choices_in_one_form_are_each_read_as_what_they_are(tmp_path):
    rated = GOOD["2"]
    rows = [
        ("Code", HEADINGS[0], rated, BAD["2"]),
        ("p1", GOOD["1"], "5", "2"), ("p2", BAD["1"], "4", "1"), ("p3", GOOD["1"], "5", "1"),
    ]  # fmt: skip
    first = [one for one in imported(tmp_path, rows, pairs=ITALIAN) if one.annotator == "p1"]
    read = [(one.question, one.item, one.condition, one.value) for one in first]
    assert read == [
        ("which is better", "1", "good", GOOD["1"]),
        ("acceptability", "2", "good", "5"),
        ("acceptability", "2", "bad", "2"),
    ]


def test_alike_answers_to_other_questions_are_no_choices(tmp_path):
    rows = [
        ("Code", "Estudios", *GOOD.values()),
        ("p1", "Estudios de grado", *"54345"), ("p2", "Estudios de posgrado", *"44355"),
        ("p3", "Estudios de grado", *"45435"),
    ]  # fmt: skip
    judgments = imported(tmp_path, rows)
    assert {one.question for one in judgments} == {"acceptability"}
    assert {one.item for one in judgments} == {*GOOD.values()}


def test_the_time_of_a_submission_is_kept_beside_codes_and_not_beside_pseudonyms(tmp_path):
    stamps = BESIDE["Timestamp"]
    head, *rest = italian_form()
    rows = [("Timestamp", *head), *((at, *row) for at, row in zip(stamps, rest, strict=True))]
    kept = imported(tmp_path, rows, pairs=ITALIAN)
    assert {(one.annotator, one.at) for one in kept} == {*zip(CHOSEN, stamps, strict=True)}
    secret = ("--secret", str(tmp_path / "my.secret"))
    hidden = imported(tmp_path, rows, pairs=ITALIAN, names=secret)
    assert {one.at for one in hidden} == {None}
    asked = imported(tmp_path, rows, "--columns", "at=Timestamp", pairs=ITALIAN, names=secret)
    assert {one.at for one in asked} == {*stamps}


def test_three_headings_of_qualtrics_and_a_preview_are_no_answers(tmp_path):
    names = ["StartDate", "Status", "IPAddress", "Finished", "RecordedDate", "ResponseId"]
    ids = [json.dumps({"ImportId": name}) for name in ("startDate", "status", "ipAddress",
           "finished", "recordedDate", "_recordId", "QID1", "QID2")]  # fmt: skip
    day = "2026-03-02"
    rows = [
        (*names, "Q1", "Q2"),
        (*names, "¿Cuál suena mejor?", "¿Cuál suena mejor?"),
        ids,
        (day, "IP Address", "192.0.2.1", "True", f"{day} 10:05:01", "R_a",
         SPANISH[0][1], SPANISH[1][2]),
        (day, "IP Address", "192.0.2.2", "True", f"{day} 11:05:01", "R_b", SPANISH[0][2], "Ambas"),
        (day, "Survey Preview", "192.0.2.3", "True", f"{day} 12:05:01", "R_c",
         SPANISH[0][2], SPANISH[1][2]),
    ]  # fmt: skip
    judgments = imported(tmp_path, rows, pairs=SPANISH)
    assert chosen(judgments) == Counter(
        [("1", "good", "R_a"), ("2", "bad", "R_a"), ("1", "bad", "R_b"), ("2", "both", "R_b")]
    )
    assert {one.at for one in judgments} == {f"{day} 10:05:01", f"{day} 11:05:01"}


@pytest.mark.parametrize("end", [".", ""])
def test_a_question_asked_like_the_others_is_read_though_its_sentences_share_few_words(
    end, tmp_path
):
    pairs = [
        ("Me empresta a chave" + end, "Empresta-me a chave" + end),
        ("A gente chega tarde hoje" + end, "Nós chegamos tarde hoje" + end),
        ("Eu vi ela na praça" + end, "Eu a vi na praça" + end),
    ]
    asked = [f"{n}. Qual das duas você diria?" for n in range(1, 4)]
    rows = [[f"p{n}", "Sim, inglês.", *(pair[n % 2] for pair in pairs)] for n in range(4)]
    head = ["Participante", "Você fala outra língua?", *asked]
    judgments = imported(tmp_path, [head, *rows])
    said = Counter(one.value for one in judgments)
    assert said == dict.fromkeys(itertools.chain(*pairs), 2)
