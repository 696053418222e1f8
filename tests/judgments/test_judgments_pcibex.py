"""Whose the answers in a results file of PCIbex are: nobody becomes somebody else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.judgments.roles import map_of_options
from cimento.people.annotate.importing import read_answers
from cimento.people.annotate.rows import ImportOptions

HEAD = """\
# Columns below this comment are as follows:
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. Latin Square Group.
# 8. PennElementType.
# 9. PennElementName.
# 10. Parameter.
# 11. Value.
# 12. EventTime.
# 13. item.
# 14. condition.
"""


def rows(answer, *, code="", item="1", order=3, time=1767607200, address="ab12", started=True):
    begin = f"{time},{address},PennController,{order},0,trial,NULL"
    end = f"{item},good{',' + code if code else ''}\n"
    start = f"{begin},PennController,0,_Trial_,Start,1000,{end}" if started else ""
    return f"{start}{begin},Scale,answer,Choice,{answer},3000,{end}"


def read(tmp_path, text, *, code="", secret=None, columns=""):
    head = HEAD + (f"# 15. {code}.\n" if code else "")
    path = tmp_path / "results.csv"
    path.write_text(head + text, encoding="utf-8")
    return read_answers(
        [path],
        ImportOptions(form="pcibex", columns=map_of_options(columns), secret=secret),
    )


def said(imported):
    return [(judgment.annotator, judgment.value) for judgment in imported.judgments]


@pytest.mark.parametrize("column", ["annotator", "participant", "ID", "PROLIFIC_PID"])
def test_two_people_of_one_room_and_one_second_are_two(tmp_path, column):
    text = rows(1, code="ANNA", started=False) + rows(7, code="BRUNO", started=False)
    assert said(read(tmp_path, text, code=column)) == [("ANNA", "1"), ("BRUNO", "7")]


def test_a_code_under_another_name_says_who_it_was_and_that_is_said(tmp_path):
    answers = read(tmp_path, rows(1, code="ANNA") + rows(7, code="BRUNO"), code="Codice")
    assert said(answers) == [("ANNA", "1"), ("BRUNO", "7")]
    assert answers.notes == ("Using 'Codice' as the participant column.",)


def test_two_starts_of_one_trial_are_two_people_and_that_is_said(tmp_path):
    answers = read(tmp_path, rows(1) + rows(2, order=4, item="2") + rows(7))
    assert said(answers) == [("results-1", "1"), ("results-1", "2"), ("results-2", "7")]
    (note,) = answers.notes
    assert "2 submissions name no participant: 1 comes from an address that another" in note
    # As pseudonyms too.
    names = read(tmp_path, rows(1) + rows(7), secret=b"k" * 16)
    assert len({name for name, _ in said(names)}) == 2


def test_the_comment_before_a_submission_parts_two_of_one_second(tmp_path):
    sent = "# Results on 2026-01-05T10:00:00.000Z\n"
    text = sent + rows(1, started=False) + sent + rows(7, started=False)
    assert said(read(tmp_path, text)) == [("results-1", "1"), ("results-2", "7")]


def test_several_answers_in_one_trial_are_reported(tmp_path):
    answers = read(tmp_path, rows(1, code="p1", started=False) + rows(7, code="p1", started=False),
                   code="ID")  # fmt: skip
    assert said(answers) == [("p1", "7")]
    assert any("1 trial has several answers: the last one counts" in n for n in answers.notes)


def test_no_hash_of_an_address_is_kept_as_a_name(tmp_path):
    answers = read(tmp_path, rows(1, address="5f4dcc3b5aa765d61d8327deb882cf99"))
    assert "5f4dcc3b" not in repr(answers)
    # With a secret, the same address has the same pseudonym in the next file.
    one, other = (
        read(tmp_path, rows(1, time=time), secret=b"k" * 16) for time in (1767607200, 1767617200)
    )
    assert said(one) == said(other)


def test_results_without_a_column_of_items_say_which_columns_there_are(tmp_path):
    text = (
        "# 4. Item number.\n# 6. Type.\n# 8. Question (NULL if none).\n# 9. Answer.\n"
        "1767607200,ab12,AcceptabilityJudgment,3,0,good,3,How natural is it?,5,NULL,2311\n"
    )
    head = "# 1. Time results were received.\n# 2. MD5 hash of participant's IP address.\n"
    path = tmp_path / "results.txt"
    path.write_text(head + text, encoding="utf-8")
    with pytest.raises(InputError, match=r"'Item number' \(3\).*'Type' \(good\).*item=COLUMN"):
        read_answers([path], ImportOptions(form="pcibex"))
    columns = map_of_options("item=Item number,condition=Type")
    (judgment,) = read_answers([path], ImportOptions(form="pcibex", columns=columns)).judgments
    assert (judgment.item, judgment.condition, judgment.value) == ("3", "good", "5")


IBEX = """# 1. Time results were received.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Item number.
# 5. Element number.
# 6. Type.
# 7. Group.
# 8. Question (NULL if none).
# 9. Answer.
# 10. Whether or not answer was correct (NULL if N/A).
# 11. Time taken to answer.
"""


def ibex(tmp_path, *trials):
    """The judgments in results of Ibex, of trials with an address, number, type, group, answer."""
    lines = [
        f"1767607200,{who},AcceptabilityJudgment,{number},0,{kind},{group},Natural?,{value},NULL,900"
        for who, number, kind, group, value in trials
    ]
    path = tmp_path / "results.txt"
    path.write_text(IBEX + "\n".join(lines) + "\n", encoding="utf-8")
    return read_answers([path], ImportOptions())


def test_items_of_ibex_are_its_groups_and_conditions_its_types(tmp_path):
    answers = ibex(
        tmp_path,
        ("aa", 8, "plural", "keys", 5), ("aa", 3, "singular", "cabinet", 2),
        ("bb", 9, "singular", "keys", 1), ("bb", 2, "plural", "cabinet", 4),
    )  # fmt: skip
    assert [(j.item, j.condition, j.value) for j in answers.judgments] == [
        ("keys", "plural", "5"), ("cabinet", "singular", "2"),
        ("keys", "singular", "1"), ("cabinet", "plural", "4"),
    ]  # fmt: skip
    # The number is the place in the script, and not when a sentence was shown.
    assert {j.position for j in answers.judgments} == {None}
    assert answers.notes[0] == "Results of Ibex: items are by 'Group', conditions by 'Type'."


def test_sentences_of_ibex_without_a_group_are_known_by_their_number(tmp_path):
    answers = ibex(tmp_path, ("aa", 8, "plural", "keys", 5), ("aa", 3, "filler", "NULL", 2))
    assert [j.item for j in answers.judgments] == ["keys", "filler 3"]
    alone = ibex(tmp_path, ("aa", 8, "plural", "NULL", 5), ("aa", 3, "filler", "NULL", 2))
    assert [(j.item, j.condition) for j in alone.judgments] == [("8", "plural"), ("3", "filler")]


def test_groups_of_ibex_that_somebody_answered_twice_are_no_items(tmp_path):
    with pytest.raises(InputError, match="no column is known as that of the items"):
        ibex(tmp_path, ("aa", 8, "plural", "keys", 5), ("aa", 3, "singular", "keys", 2))


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_nobody_is_lost_however_people_share_seconds_and_addresses(tmp_path_factory, data):
    people = data.draw(st.integers(1, 6))
    logged = data.draw(st.booleans())
    text = ""
    for person in range(people):
        time = data.draw(st.sampled_from([1767607200, 1767607201]))
        address = data.draw(st.sampled_from(["aa", "bb"]))
        for order in range(2):
            text += rows(person, code=f"p{person}" if logged else "", order=order,
                         item=str(order), time=time, address=address)  # fmt: skip
    folder = tmp_path_factory.mktemp("pcibex")
    answers = read(folder, text, code="ID" if logged else "")
    by_person = {}
    for judgment in answers.judgments:
        by_person.setdefault(judgment.annotator, set()).add(judgment.value)
    assert len(answers.judgments) == 2 * people
    assert sorted(by_person.values(), key=min) == [{str(person)} for person in range(people)]


def test_a_form_for_the_code_is_about_no_item_and_that_is_counted(tmp_path):
    form = (
        rows("ANNA7", item="NULL", order=1)
        .replace(",trial,", ",code,")
        .replace("Scale", "TextInput")
    )
    imported = read(tmp_path, form + rows(1, item="1") + rows(7, item="2", order=4))
    assert [(one.item, one.value) for one in imported.judgments] == [("1", "1"), ("2", "7")]
    assert imported.passed["an answer in a trial labeled code is about no item"] == 1
    with pytest.raises(InputError, match="names no item"):  # of trials that are about items
        read(tmp_path, rows(1, item="1") + rows(7, item="NULL", order=4))
