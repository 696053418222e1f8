"""Advice is a promise: each refused table is read correctly once what its message says is done.

Options are taken from the message itself; edits are made on the columns that the message names.
"""

from __future__ import annotations

import json
import re
import shlex

import pytest

from cimento import CimentoError, load_suite
from cimento.cli.main import main
from cimento.intake.roles import parse_choice
from cimento.suites import sentence
from cimento.suites.ratings import rated_of

NOUNS = ("boys", "cats", "kings", "wolves")
GOOD = [f"The {noun} sleep here." for noun in NOUNS]
BAD = [f"The {noun} sleeps here." for noun in NOUNS]
PAIRS = [list(both) for both in zip(GOOD, BAD, strict=True)]
BOTH = [text for pair in PAIRS for text in pair]
TOLD = [f"{noun.title()} were seen by us." for noun in NOUNS]
LABELED = dict(zip(BOTH, [1.0, 0.0] * len(GOOD), strict=True))


def written(folder, columns, name="rows.tsv"):
    path = folder / name
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def refused(path):
    """The advice on a table that is refused."""
    with pytest.raises(CimentoError) as error:
        load_suite(path, language="en")
    faults = getattr(error.value, "faults", ())
    return " ".join([error.value.todo, *(fault.todo for fault in faults)])


def options(todo):
    """What each option in a message chooses."""
    found = re.findall(r"--columns=('[^']*'|[^\s.,']+)", todo)
    return [parse_choice(*shlex.split(option)) for option in found]


def pairs(path, columns=None):
    suite = load_suite(path, language="en", columns=columns or {}).suite
    items = [{one.name: sentence(one) for one in item.conditions} for item in suite.items]
    return [[item["good"], item["bad"]] for item in items]


def ratings(path, columns=None):
    suite = load_suite(path, language="en", columns=columns or {}).suite
    return {one.text: one.mean for one in rated_of(suite).sentences}


def test_two_columns_of_sentences_are_named_by_an_option_or_by_new_names(tmp_path):
    columns = {"Erste": GOOD, "Zweite": BAD}
    path = written(tmp_path, columns)
    todo = refused(path)
    [chosen] = options(todo)
    assert chosen == {"good": "Erste", "bad": "Zweite"}
    assert pairs(path, chosen) == PAIRS
    other_way = dict(zip(chosen, reversed(chosen.values()), strict=True))
    assert pairs(path, other_way) == [pair[::-1] for pair in PAIRS]
    first, second = re.search(r"rename '(.*?)' and '(.*?)': good is", todo).groups()
    renamed = {"good": columns[first], "bad": columns[second]}
    assert pairs(written(tmp_path, renamed)) == PAIRS


def test_sentences_a_and_b_may_be_chosen_by_a_key(tmp_path):
    columns = {"Satz A": [*GOOD[:2], *BAD[2:]], "Satz B": [*BAD[:2], *GOOD[2:]]}
    todo = refused(written(tmp_path, columns))
    assert "add a column key, with A or B in each row" in todo
    assert pairs(written(tmp_path, {**columns, "key": list("AABB")})) == PAIRS


def test_two_sentences_with_a_label_each_are_no_pair(tmp_path):
    columns = {
        "sentence1": GOOD,
        "label1": list("1111"),
        "sentence2": BAD,
        "label2": list("0000"),
    }
    todo = refused(written(tmp_path, columns))
    assert options(todo) == []
    assert "write one sentence in each row, with its label beside it" in todo
    one_each = {"sentence": GOOD + BAD, "label": list("1111") + list("0000")}
    assert ratings(written(tmp_path, one_each)) == LABELED


@pytest.mark.parametrize("labels", ["10101010", "13531351"])
def test_judgments_beside_two_columns_of_sentences_are_of_the_one_that_is_chosen(tmp_path, labels):
    columns = {"Base": TOLD * 2, "Version": BOTH, "acceptable?": list(labels)}
    path = written(tmp_path, columns)
    first, second = options(refused(path))
    assert (first["sentence"], second["sentence"]) == ("Base", "Version")
    assert ratings(path, second) == dict(zip(BOTH, map(float, labels), strict=True))


def test_labels_that_disagree_are_refused_with_the_option_for_each(tmp_path):
    judged = {"label": list("10101010"), "gold": list("11110000")}
    path = written(tmp_path, {"sentence": BOTH, **judged})
    both = options(refused(path))
    assert [chosen["label"] for chosen in both] == ["label", "gold"]
    for chosen in both:
        expected = dict(zip(BOTH, map(float, judged[chosen["label"]]), strict=True))
        assert ratings(path, chosen) == expected


POINTS = ["6.5", "1.5", "7", "2", "6", "1", "5.5", "2.5"]
MEANS = dict(zip(BOTH, map(float, POINTS), strict=True))
MEASURES = {
    "mean_surprisal": [str(9.5 + row) for row in range(8)],
    "sentence_id": [str(40 + 3 * row) for row in range(8)],
    "length": list("44554455"),
}


def test_the_one_column_that_may_have_ratings_is_named_and_no_measure_is(tmp_path):
    columns = {"string": BOTH, "condition": list("abababab"), **MEASURES, "mean_acc": POINTS}
    path = written(tmp_path, columns)
    todo = refused(path)
    [chosen] = options(todo)
    assert chosen == {"sentence": "string", "rating": "mean_acc"}
    assert ratings(path, chosen) == MEANS
    names = dict(zip(re.search(r"call '(.*?)' sentence and '(.*?)' rating", todo).groups(),
                     ("sentence", "rating"), strict=True))  # fmt: skip
    renamed = {names.get(name, name): cells for name, cells in columns.items()}
    assert ratings(written(tmp_path, renamed)) == MEANS


def test_of_several_columns_that_may_have_ratings_none_is_guessed(tmp_path):
    columns = {"sentence": BOTH, "ease": POINTS, "beauty": POINTS[::-1]}
    path = written(tmp_path, columns)
    [chosen] = options(refused(path))
    assert chosen["rating"] == "COLUMN"
    assert ratings(path, {**chosen, "rating": "ease"}) == MEANS


@pytest.mark.parametrize("more", [{}, {"beauty": list("2354") * 4}])
def test_answers_of_people_are_put_together_by_the_option(tmp_path, more):
    people = {"WorkerId": ["w1", "w2"] * 8, "age": ["31", "44"] * 8}
    points = [
        point for low, high in zip("61726152", "72617251", strict=True) for point in low + high
    ]
    columns = {"text_shown": [text for text in BOTH for _ in range(2)], **people, "answer": points}
    path = written(tmp_path, {**columns, **more})
    [chosen] = options(refused(path))
    assert chosen["participant"] == "WorkerId"
    assert chosen["rating"] == ("COLUMN" if more else "answer")
    expected = {text: (int(points[2 * row]) + int(points[2 * row + 1])) / 2
                for row, text in enumerate(BOTH)}  # fmt: skip
    assert ratings(path, {**chosen, "rating": "answer"}) == expected


def test_columns_of_people_are_joined_and_labels_ids_and_counts_are_no_people(tmp_path):
    people = {"Anna": list("71625173"), "Bruno": list("62717264")}
    others = {"batch": list("12341234"), "flag": list("10101010"), **MEASURES}
    todo = refused(written(tmp_path, {"sentence": BOTH, **people, **others}))
    named = re.search(r"If (.*) hold the ratings", todo)[1].split(", ")
    assert named == [*people]
    joined = ["; ".join(cells) for cells in zip(*map(people.get, named), strict=True)]
    path = written(tmp_path, {"sentence": BOTH, **others, "ratings": joined})
    means = [(int(one) + int(two)) / 2 for one, two in zip(*people.values(), strict=True)]
    assert ratings(path) == dict(zip(BOTH, means, strict=True))


def test_labels_in_unknown_words_are_written_as_numbers(tmp_path):
    columns = {"Phrase": BOTH, "acceptability_class": ["nur", "mik"] * 4}
    todo = refused(written(tmp_path, columns))
    label, text = re.search(
        r"If '(.*?)' says .* call it rating, and '(.*?)' sentence", todo
    ).groups()
    assert "not 'mik' and 'nur'" in todo
    numbers = ["1" if cell == "nur" else "0" for cell in columns[label]]
    assert ratings(written(tmp_path, {"sentence": columns[text], "rating": numbers})) == LABELED


def test_words_of_degrees_have_the_numbers_that_the_advice_gives(tmp_path):
    columns = {"sentence": BOTH, "rating": ["ok", "*", "?", "*"] * 2}
    todo = refused(written(tmp_path, columns))
    numbers = {mark: number for number, mark in re.findall(r"(\d) for '(.*?)'", todo)}
    assert numbers == {"ok": "3", "?": "2", "*": "1"}
    path = written(tmp_path, {"sentence": BOTH, "rating": [*map(numbers.get, columns["rating"])]})
    assert ratings(path) == dict(zip(BOTH, (3, 1, 2, 1) * 2, strict=True))


def test_zeros_and_ones_beside_conditions_are_called_ratings(tmp_path):
    columns = {"condition": list("abab") * 2, "sentence": BOTH, "acceptable": list("10101010")}
    todo = refused(written(tmp_path, columns))
    label, text = re.search(r"If '(.*?)' has 1 .* rating, and '(.*?)' sentence", todo).groups()
    names = {label: "rating", text: "sentence"}
    renamed = {names.get(name, name): cells for name, cells in columns.items()}
    assert ratings(written(tmp_path, renamed)) == LABELED


def test_marked_sentences_become_pairs_by_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    marked = [text if text in GOOD else f"*{text}" for text in BOTH]
    todo = refused(written(tmp_path, {"n": list("12345678"), "Frase": marked}))
    command = re.search(
        r"`cimento (suites convert rows\.tsv --from examples -o NAME\.xlsx)`", todo
    )[1]
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(command), "--language", "en"])
    assert not ended.value.code
    assert pairs(tmp_path / "NAME.xlsx") == PAIRS


def test_a_list_with_nothing_that_judges_takes_items_and_conditions_or_ratings(tmp_path):
    todo = refused(
        written(tmp_path, {"sentence": BOTH, "verb": ["sleep", "sleeps", "x"] + ["y"] * 5})
    )
    assert todo.startswith("To ask people: ")
    assert "Nothing says which sentences of 'sentence' are good" in todo
    items = {"item": list("11223344"), "condition": ["good", "bad"] * 4}
    assert pairs(written(tmp_path, {**items, "sentence": BOTH})) == PAIRS
    assert ratings(written(tmp_path, {"sentence": BOTH, "rating": POINTS})) == MEANS


def test_versions_are_called_conditions(tmp_path):
    columns = {"item": list("11223344"), "sentence": BOTH, "Order": ["SVO", "OVS"] * 4}
    todo = refused(written(tmp_path, columns))
    name = re.search(r"If '(.*?)' says which version of its item", todo)[1]
    renamed = {"condition" if key == name else key: cells for key, cells in columns.items()}
    loaded = load_suite(written(tmp_path, renamed), language="en")
    assert [[one.name for one in item.conditions] for item in loaded.suite.items] == [
        ["SVO", "OVS"]
    ] * 4


BAD_FIRST = [text for good, bad in PAIRS for text in (bad, good)]


@pytest.mark.parametrize(("kind", "lines"), [("good-first", BOTH), ("zorro", BAD_FIRST)])
def test_lines_that_are_pairs_are_converted_by_the_command(tmp_path, monkeypatch, kind, lines):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    todo = refused(tmp_path / "lines.txt")
    command = re.search(r"`cimento (suites convert lines\.txt --from good-first -o NAME)`", todo)[1]
    assert "with --from zorro if the bad sentence is the first" in todo
    with pytest.raises(SystemExit) as ended:
        main([*shlex.split(command.replace("good-first", kind)), "--language", "en"])
    assert not ended.value.code
    assert pairs(tmp_path / "NAME") == PAIRS


def test_a_table_without_names_takes_a_row_of_them(tmp_path):
    rows = "".join(f"{good}\t{bad}\n" for good, bad in PAIRS)
    path = tmp_path / "bare.tsv"
    path.write_text(rows, encoding="utf-8")
    assert "good and bad for pairs, sentence and rating for rated sentences" in refused(path)
    path.write_text(f"good\tbad\n{rows}", encoding="utf-8")
    assert pairs(path) == PAIRS


def test_both_forms_in_one_cell_become_two_columns(tmp_path):
    cells = [good.replace("sleep", "sleep/*sleeps") for good in GOOD]
    todo = refused(written(tmp_path, {"n": list("1234"), "frase": cells}))
    assert "the whole good sentence in good, the whole bad one in bad" in todo
    both = [[re.sub(r"(\w+)/\*(\w+)", rf"\{n}", cell) for cell in cells] for n in (1, 2)]
    assert pairs(written(tmp_path, dict(zip(("good", "bad"), both, strict=True)))) == PAIRS


def test_a_key_with_another_cell_takes_one_of_its_letters(tmp_path):
    columns = {"sentence A": GOOD, "sentence B": BAD, "key": ["A", "A", "C", "A"]}
    todo = refused(written(tmp_path, columns))
    letter = re.search(r"Write ([AB]) or [AB] there", todo)[1]
    columns["key"][2] = letter
    assert pairs(written(tmp_path, columns)) == PAIRS


def test_letters_beside_good_and_bad_are_a_key_of_a_and_b_or_are_deleted(tmp_path):
    columns = {"good": GOOD, "bad": BAD, "key": list("ABBA")}
    todo = refused(written(tmp_path, columns))
    assert "call their columns sentence A and sentence B; if not, delete it" in todo
    lettered = {"sentence A": GOOD, "sentence B": BAD, "key": columns["key"]}
    chosen = [pair if cell == "A" else pair[::-1] for pair, cell in zip(PAIRS, "ABBA", strict=True)]
    assert pairs(written(tmp_path, lettered)) == chosen
    assert pairs(written(tmp_path, {"good": GOOD, "bad": BAD})) == PAIRS


def test_rival_columns_of_sentences_are_chosen_by_option(tmp_path):
    columns = {"sentence": BOTH, "frase": TOLD * 2, "rating": POINTS}
    path = written(tmp_path, columns)
    both = options(refused(path))
    assert [chosen["sentence"] for chosen in both] == ["sentence", "frase"]
    assert ratings(path, both[0]) == MEANS


def test_right_words_after_a_text_are_called_continuations(tmp_path):
    begun = [f"At noon the {noun}" for noun in NOUNS]
    columns = {"item": list("1234"), "before": begun, "expected": ["sleep"] * 3 + ["rest"],
               "other": ["sleeps"] * 3 + ["rests"]}  # fmt: skip
    todo = refused(written(tmp_path, columns))
    right, text, wrong = re.search(
        r"If '(.*?)' is the right word after '(.*?)', and '(.*?)' a wrong one", todo
    ).groups()
    assert "prefix, the right words good_continuation, and one column of wrong words" in todo
    named = {"prefix": columns[text], "good_continuation": columns[right],
             "bad_continuation": columns[wrong]}  # fmt: skip
    expected = [[f"{before} {verb}", f"{before} {verb}s"]
                for before, verb in zip(begun, columns["expected"], strict=True)]  # fmt: skip
    assert pairs(written(tmp_path, named)) == expected


def test_columns_of_regions_are_joined_with_bars(tmp_path):
    columns = {
        "item": list("1122"),
        "condition": list("abab"),
        "start": ["boys here", "boys there"] * 2,
        "rest": ["sleep long", "sleeps long"] * 2,
    }
    todo = refused(written(tmp_path, columns))
    first, second = re.search(r"If (.*) are the regions of one sentence", todo)[1].split(", ")
    joined = [" | ".join(cells) for cells in zip(columns[first], columns[second], strict=True)]
    whole = {name: columns[name] for name in ("item", "condition")} | {"sentence": joined}
    suite = load_suite(written(tmp_path, whole), language="en").suite
    regions = [[region.text for region in one.regions] for one in suite.items[0].conditions]
    assert regions == [["boys here", "sleep long"], ["boys there", "sleeps long"]]


def test_answers_without_sentences_are_no_regions(tmp_path):
    columns = {"Subject": list("1122"), "Response": ["yes sir", "no sir"] * 2, "Item": list("1212"),
               "Condition": list("abab"), "Type": ["x y"] * 4}  # fmt: skip
    todo = refused(written(tmp_path, columns))
    assert "Ask people" in todo
    assert "regions" not in todo


def test_lines_of_json_are_advised_by_their_cells_and_a_type_is_no_sentence(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"id": n, "i_sentence": one, "s_sentence": two, "type": "know"}
            for n, (one, two) in enumerate(PAIRS)]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    [chosen] = options(refused(path))
    assert chosen == {"good": "i_sentence", "bad": "s_sentence"}
    assert pairs(path, chosen) == PAIRS


BLANKS = ["The cat ___ here.", "A dog ___ there.", "Two birds ___ up."]
RIGHT = ["sleeps", "waits", "fly"]


def blanks(path):
    items = load_suite(path, language="en").suite.items
    return [(item.text, *item.targets) for item in items]


def test_other_blanks_are_written_as_the_advice_says(tmp_path):
    columns = {"text": [text.replace("___", "[word]") for text in BLANKS], "target": RIGHT}
    todo = refused(written(tmp_path, columns))
    name, blank = re.search(r"in each cell of '(.*?)' as three underscores: (_+)\.", todo).groups()
    assert repr(BLANKS[0]) in todo
    cells = [text.replace("[word]", blank) for text in columns[name]]
    path = written(tmp_path, {name: cells, "target": RIGHT})
    assert blanks(path) == list(zip(BLANKS, RIGHT, strict=True))


def test_other_blanks_that_are_clear_are_read_as_blanks(tmp_path):
    columns = {"text": [text.replace("___", "(...)") for text in BLANKS], "target": RIGHT}
    assert blanks(written(tmp_path, columns)) == list(zip(BLANKS, RIGHT, strict=True))


def test_columns_of_blanks_take_the_names_of_the_advice(tmp_path):
    columns = {"Satz": BLANKS, "passt": RIGHT, "falsch": list("xyz"), "auch": list("uvw")}
    todo = refused(written(tmp_path, columns))
    names = re.search(r"call their column (\w+), that of the right words (\w+)", todo).groups()
    assert names == ("text", "target")
    wrong = re.search(r"wrong words (distractor 1)", todo)[1]
    path = written(tmp_path, dict(zip((*names, wrong), (BLANKS, RIGHT, list("xyz")), strict=True)))
    assert blanks(path) == list(zip(BLANKS, RIGHT, strict=True))


@pytest.mark.parametrize("is_full", [True, False])
def test_words_beside_sentences_are_read_by_the_option_of_the_advice(tmp_path, is_full):
    pairs = zip(BLANKS, RIGHT, strict=True)
    full = [text.replace("___", right) for text, right in pairs]
    columns = {"Satz": full if is_full else BLANKS, "falsch": ["xa", "ya", "za"], "passt": RIGHT}
    path = written(tmp_path, columns)
    (chosen,) = options(refused(path))
    due, other = ("passt", "falsch") if is_full else ("falsch", "passt")
    assert chosen == {"sentence": "Satz", "target": due, "implausible": other}
    right = chosen | {"target": "passt", "implausible": "falsch"}
    items = load_suite(path, language="en", columns=right).suite.items
    assert [(item.text, *item.targets) for item in items] == list(zip(BLANKS, RIGHT, strict=True))


def test_answers_under_sentences_are_imported_by_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answers = {text: list("5612") for text in GOOD[:3]}
    todo = refused(written(tmp_path, answers))
    assert "add a column participant with a number for each of them" in todo
    written(tmp_path, {"participant": list("1234"), **answers})
    command = re.search(r"`cimento (annotate import rows\.tsv [^`]*)`", todo)[1]
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command))
    assert not ended.value.code
    stored = (tmp_path / "answers.csv").read_text(encoding="utf-8")
    assert all(stored.count(text) == len("5612") for text in GOOD[:3])


def test_columns_that_may_be_a_condition_each_are_read_by_the_option_of_the_advice(tmp_path):
    columns = {"item": list("1234"), "A": GOOD, "B, bis": BAD, "C": GOOD[::-1], "D 2": BAD[::-1]}
    path = written(tmp_path, columns)
    option = re.search(r"columns='([^']*)'", refused(path))[1]
    suite = load_suite(path, columns=parse_choice(option)).suite
    assert suite.condition_names == ("A", "B-bis", "C", "D-2")
    assert [one.regions[0].text for one in suite.items[0].conditions] == [
        texts[0] for name, texts in columns.items() if name != "item"
    ]
    assert not suite.factors
    assert not suite.predictions


def test_a_prime_is_no_side_of_a_pair_and_the_sentence_after_it_is_what_is_judged(tmp_path):
    primes = [f"In the dark house, everything was quiet at {hour}." for hour in range(1, 5)]
    columns = {
        "item_id": [f"P{n}{side}" for n in range(4) for side in "GU"],
        "prime_text": [prime for prime in primes for _ in "GU"],
        "target_text": BOTH,
        "expected_response": ["yes", "no"] * 4,
        "seed": ["0"] * 8,
    }
    todo = refused(written(tmp_path, columns))
    assert "pair, rename" not in todo
    assert "'prime_text' sentence" not in todo
    assert "call it rating, and 'target_text' sentence" in todo
    done = {"sentence": BOTH, "rating": ["1", "0"] * 4, "prime_text": columns["prime_text"]}
    read = load_suite(written(tmp_path, done), language="en")
    assert {one.text: one.mean for one in rated_of(read.suite).sentences} == LABELED


def test_a_constant_such_as_a_seed_is_no_rating(tmp_path):
    columns = {"prompt": [f"Is it true that {text}" for text in GOOD], "seed": ["7"] * 4}
    assert "rating=seed" not in refused(written(tmp_path, columns))


@pytest.mark.parametrize(
    ("last", "right"),
    [("longisland", "long_island"), ("Long_ilsand", "long_island"), ("notes_here", "")],
)
def test_the_misspelled_cell_of_a_design_is_named_as_the_others_ask(tmp_path, last, right):
    names = ("short_nonisland", "long_nonisland", "short_island", last)
    columns = {"n": [*"1234"]}
    columns |= {name: [f"{text[:-1]} {name[:2]}." for text in GOOD] for name in names}
    advice = refused(written(tmp_path, columns))
    assert advice.startswith(f"If '{last}' is meant to be '{right}',") == bool(right)
    if right:
        columns[right] = columns.pop(last)
        suite = load_suite(written(tmp_path, columns, "again.tsv"), language="en").suite
        assert len(suite.condition_names) == 4
        assert suite.predictions
