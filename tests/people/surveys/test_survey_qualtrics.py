"""The survey for Qualtrics: a file in its Advanced Format, and the answers that come back."""

import csv
import html
import io
import re

import pytest

from cimento.judgments import ColumnMap
from cimento.people.annotate.importing import form_of, read_answers
from cimento.people.annotate.rows import ImportOptions
from cimento.people.surveys.asked import asked_by
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.qualtrics import qualtrics_files
from tests.helpers.survey_help import small

WRITTEN = [
    "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished",
    "RecordedDate", "ResponseId",
]  # fmt: skip
READ = [
    "Start Date", "End Date", "Response Type", "IP Address", "Progress", "Duration (in seconds)",
    "Finished", "Recorded Date", "Response ID",
]  # fmt: skip


def questions_of(text):
    """Id, type, text and codes of each question, as the format's documentation says."""
    assert text.startswith("[[AdvancedFormat]]\n")
    found = {}
    for part in re.split(r"(?=\[\[Question:)", text)[1:]:
        kind = re.match(r"\[\[Question:([^\]]+)\]\]\n\[\[ID:([^\]]+)\]\]\n(.*)\n", part)
        codes = dict(re.findall(r"\[\[Choice:(\d+)\]\]\n(.*)\n", part))
        found[kind[2]] = (kind[1], html.unescape(kind[3]), codes)
    return found


def exported(asked, answers, *, labels):
    """The file that Qualtrics would export: three headings, then one person in each row."""
    ids = [id_ for id_, (kind, _, _) in asked.items() if kind != "DB"]
    heads = [
        [*WRITTEN, *ids],
        [*READ, *(asked[id_][1].replace("<br><br>", " ") for id_ in ids)],
        ['{"ImportId":"x"}'] * (len(WRITTEN) + len(ids)),
    ]
    rows = [
        ["2026-03-02 10:00:00", "2026-03-02 10:09:00", "IP Address", "192.0.2.7", "100", "540",
         "True", "2026-03-02 10:09:01", f"R_{who}",
         *((asked[id_][2][code] if labels else code) for id_, code in given.items())]
        for who, given in answers.items()
    ]  # fmt: skip
    out = io.StringIO()
    csv.writer(out).writerows([*heads, *rows])
    return out.getvalue()


@pytest.mark.parametrize("labels", [True, False])
def test_answers_to_the_file_come_back_to_their_sentences(tmp_path, labels):
    design = small("it-acceptability", limit=6, background=("region", "age"))
    for name, text in qualtrics_files(design).items():
        asked = questions_of(text)
        ids = [id_ for id_, (kind, _, _) in asked.items() if kind != "DB"]
        codes = {
            who: {id_: str((number + shift) % max(len(asked[id_][2]), 1) + 1)
                  for number, id_ in enumerate(ids)}
            for shift, who in enumerate(("uno", "due"))
        }  # fmt: skip
        for given in codes.values():
            given["consent"] = "1"
        asked = {id_: (kind, text, of or dict.fromkeys("123456", "Toscana"))
                 for id_, (kind, text, of) in asked.items()}  # fmt: skip
        path = tmp_path / f"{name}.csv"
        path.write_text(exported(asked, codes, labels=labels), encoding="utf-8")
        places = asked_by(design, stored=False)
        assert form_of(path, ColumnMap(), places) == "qualtrics"
        came = read_answers([path], ImportOptions(form="qualtrics", places=places, secret=None))
        got = {(one.annotator, one.item, one.condition): one.value for one in came.judgments}
        wanted = {
            (f"R_{who}", question.item, question.condition): given[question.id]
            for who, given in codes.items()
            for question in design.by_survey[name.removeprefix("survey-").removesuffix(".txt")]
        }
        assert got == wanted


def test_a_text_is_html_and_no_mark_of_the_format(tmp_path):
    (tmp_path / "frasi.txt").write_text(
        "La nota [[Choice:1]] è <b>lunga</b> & strana.\nIl cane dorme in casa.\n", encoding="utf-8"
    )
    from cimento.people.surveys.building import build_design
    from cimento.people.surveys.plan import SurveyPlan

    design = build_design(tmp_path / "frasi.txt", SurveyPlan(language="it", checks=0))
    (text,) = qualtrics_files(design).values()
    asked = questions_of(text)
    shown = {text.split("<br><br>")[0] for kind, text, _ in asked.values() if "MC" in kind}
    assert "La nota [[Choice:1]] è <b>lunga</b> & strana." in shown
    assert "<b>" not in text
    assert text.count("[[Choice:1]]") == sum("MC" in kind for kind, *_ in asked.values())


def test_every_survey_has_a_file_and_stories_have_none(tmp_path):
    design = small("it-acceptability", limit=6)
    write_survey(design, tmp_path)
    files = sorted(path.name for path in (tmp_path / "qualtrics").iterdir())
    assert files == [f"survey-{name}.txt" for name in design.by_survey]
    assert qualtrics_files(small("it-stories", limit=2)) == {}
