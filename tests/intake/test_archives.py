"""Tables in ZIP archives, as form programs hand them out; oracle: the table that was zipped."""

from __future__ import annotations

import io
import zipfile

import pytest

from cimento import SuiteError
from cimento.cli.main import invoke
from cimento.intake.decoding import open_text
from cimento.intake.tables import open_table
from cimento.intake.workbooks import write_workbook
from cimento.suites.load import open_suite

ROWS = [["item", "good", "bad"], ["1", "La porta è aperta.", "La porta è aperto."],
        ["2", "I gatti dormono.", "I gatti dorme."]]  # fmt: skip
CSV = "\n".join(map(",".join, ROWS)) + "\n"
TABLES = {
    "csv": CSV.encode(),
    "semicolons": CSV.replace(",", ";").encode(),
    "tabs": CSV.replace(",", "\t").encode(),
    "UTF-16": CSV.encode("utf-16"),
    "cp1252": CSV.encode("cp1252"),
    "workbook": write_workbook(ROWS, sheet="Foglio1"),
}


def zipped(path, **files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("inside", ["risposte.csv", "../../etc/risposte", "C:\\a.xlsx"])
def test_the_only_table_of_an_archive_is_read_whatever_it_is_called(kind, inside, tmp_path):
    files = {inside: TABLES[kind], "__MACOSX/._a.csv": b"\x00\x05\x16\x07", ".DS_Store": b"x"}
    table = open_table(zipped(tmp_path / "risposte.csv.zip", **files))
    assert [[*table.columns], *map(list, zip(*table.cells.values(), strict=True))] == ROWS
    assert [path.name for path in tmp_path.iterdir()] == ["risposte.csv.zip"]


def test_an_archive_that_is_called_a_table_is_read_as_a_suite(tmp_path):
    (tmp_path / "plain.csv").write_text(CSV, encoding="utf-8")
    expected = open_suite(tmp_path / "plain.csv").suite.items
    assert open_suite(zipped(tmp_path / "pairs.csv", x=CSV)).suite.items == expected


def test_a_zipped_text_is_decoded(tmp_path):
    assert open_text(zipped(tmp_path / "a.zip", x='[{"trial_type": "è"}]')).startswith("[{")


@pytest.mark.parametrize("files", [{}, {"a.csv": CSV, "b.csv": CSV, "read.me": "x"}])
def test_an_archive_of_several_files_or_none_is_refused_with_their_number(files, tmp_path):
    path = zipped(tmp_path / "a.csv", **{".hidden": "x", **files})
    with pytest.raises(SuiteError) as error:
        open_table(path)
    [fault] = error.value.faults
    assert (fault.where, fault.code) == ("a.csv", "CIM-S002")
    assert fault.seen == f"The file is a ZIP archive of {len(files)} files."
    assert fault.todo == "Unpack it and give the table."


def test_a_damaged_archive_and_an_archive_in_an_archive_are_refused(tmp_path):
    whole = zipped(tmp_path / "a.zip", x=CSV * 50).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-40])
    with pytest.raises(SuiteError, match="damaged or protected ZIP"):
        open_table(tmp_path / "cut.zip")
    buffer = io.BytesIO()
    zipped(buffer, x=whole)
    (tmp_path / "nested.zip").write_bytes(buffer.getvalue())
    with pytest.raises(SuiteError, match="ZIP archive of another archive"):
        open_table(tmp_path / "nested.zip")


def test_an_archive_that_grows_beyond_what_tables_do_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", x=b"a,b\n" + b"0,0\n" * 2_000_000)
    with pytest.raises(SuiteError, match=r"grows from .* to over 4,000,000 bytes"):
        open_table(path)


def test_the_download_of_a_form_gives_the_judgments_of_its_table(tmp_path):
    header = ["Timestamp", "Code", *(text for row in ROWS[1:] for text in row[1:])]
    rows = [["2026/03/02 10:02:11", "s1", "5", "1", "4", "2"],
            ["2026/03/02 10:05:40", "s2", "4", "1", "5", "1"]]  # fmt: skip
    form, suite = "\n".join(map(",".join, [header, *rows])), tmp_path / "pairs.csv"
    suite.write_text(CSV, encoding="utf-8")
    (tmp_path / "form.csv").write_text(form, encoding="utf-8")
    made = []
    for source in (tmp_path / "form.csv", zipped(tmp_path / "form.csv.zip", Form=form)):
        output = tmp_path / f"{source.stem}-j.csv"
        assert invoke(["annotate", "import", str(source), "--suite", str(suite), "--names", "keep",
                       "-o", str(output)]) == 0  # fmt: skip
        made.append(output.read_text(encoding="utf-8"))
    assert made[0] == made[1]
    assert made[0].count("acceptability") == len(rows) * 4
