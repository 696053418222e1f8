"""Tables as linguists keep them: bars, regions in columns, scales in headers, answers of people."""

from __future__ import annotations

import pytest

from cimento import SuiteError, load_suite


def written(tmp_path, *rows):
    """A table of rows whose cells are separated by slashes with blanks."""
    path = tmp_path / "table.tsv"
    path.write_text("".join(row.replace(" / ", "\t") + "\n" for row in rows), encoding="utf-8")
    return path


def found(suite, code):
    return [fault for fault in suite.reading.faults if fault.code == code]


def test_bars_in_good_and_bad_sentences_are_reported_once_with_their_rows(tmp_path):
    path = written(
        tmp_path,
        "item / buona / cattiva",
        "1 / La zia parte. / La zia partono.",
        "2 / Il | gatto dorme. / Il | gatto dormono.",
    )
    [fault] = found(load_suite(path), "CIM-S064")
    assert fault.places == ("table.tsv row 3",)
    assert "in 2 of 4 sentences" in fault.seen


def test_a_rating_off_the_scale_in_the_header_is_an_error_with_its_row(tmp_path):
    path = written(
        tmp_path,
        "frase / giudizio (1-5)",
        "La zia parte. / 4,5",
        "La zia partono. / 45",
        "Il gatto dorme. / 5",
    )
    with pytest.raises(SuiteError) as error:
        load_suite(path)
    [fault] = error.value.faults
    assert (fault.code, fault.where) == ("CIM-S037", "table.tsv row 3")
    assert "45 is off the scale from 1 to 5" in fault.seen
