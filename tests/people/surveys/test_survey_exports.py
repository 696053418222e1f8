"""Surveys for other programs: tables, pages, jsPsych and PCIbex."""

from __future__ import annotations

import csv
import functools
import html
import io
import json
import os
import re
import shutil
import subprocess
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from cimento import UsageError
from cimento.judgments import judgments_of
from cimento.people.surveys import AnswerChoice, exports, read_design, write_design
from cimento.people.surveys.building import build_design
from cimento.people.surveys.exports import write_survey
from cimento.people.surveys.material import words
from cimento.people.surveys.plan import SurveyPlan
from cimento.suites.builtin import find_suite
from tests.helpers.command_line import invoke

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=1'>\"&=1+1"
NODE = shutil.which("node")


def small(suite, **wanted):
    seed = 3
    plan = SurveyPlan(checks=1, seed=seed, limit=4, **wanted)
    return build_design(find_suite(suite), plan)


def hostile():
    """A design with a text in every place that would run as a script if it were not escaped."""
    design = small("it-connectives")
    field = replace(
        design.fields[0],
        low=HOSTILE,
        prompt=HOSTILE,
        choices=(AnswerChoice("1", HOSTILE), *design.fields[0].choices[1:]),
    )
    questions = tuple(
        replace(question, lines=(HOSTILE,), item=question.item + HOSTILE, mark=(2, 9))
        for question in design.questions
    )
    return replace(
        design,
        title=HOSTILE,
        consent=(HOSTILE,),
        guidelines=(HOSTILE,),
        fields=(field,),
        questions=questions,
    )


def rows(text):
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_tables_for_forms_have_a_line_for_each_question_in_order():
    design = small("it-connectives-cloze")
    (text,) = exports.form_tables(design).values()
    assert text.startswith("\ufeff")  # which Excel needs to read accents
    lines = rows(text)
    assert [line["trial"] for line in lines] == list(design.surveys[0].questions)
    for position, (line, question) in enumerate(
        zip(lines, design.by_survey["1"], strict=True), start=1
    ):
        assert line["position"] == str(position)
        assert line["text"] == question.lines[0]
        shown = [line[f"choice_{n}"] for n in range(1, 7) if line[f"choice_{n}"]]
        assert shown == [choice.label for choice in question.choices]
        assert line["expected"] == question.expected


def test_no_cell_of_a_table_is_a_formula():
    design = small("it-connectives")
    questions = tuple(replace(question, lines=("=1+1",)) for question in design.questions)
    for text in exports.form_tables(replace(design, questions=questions)).values():
        assert {row["text"] for row in rows(text)} == {"'=1+1"}


def test_stories_have_three_questions_a_page(tmp_path):
    design = small("it-stories")
    write_survey(design, tmp_path)
    lines = rows((tmp_path / "forms" / "survey-1.csv").read_text())
    assert {line["question"] for line in lines} == {
        "attention", "story_class", "conflict_detec", "physical_state",
    }  # fmt: skip


def test_pages_to_print_hold_no_markup_from_a_suite():
    for page in exports.printed(hostile()).values():
        assert "<script" not in page
        assert "<img" not in page
        assert "&lt;script&gt;" in page


def test_scripts_hold_no_markup_from_a_suite():
    design = hostile()
    files = exports.jspsych_experiment(design)
    assert "</script><script>" not in files["survey.js"] + files["index.html"]
    assert "<img" not in exports.pcibex_script(design)
    assert json.loads(files["survey.js"].removeprefix("const SURVEY = ").rstrip(";\n"))


STAND_IN = """
const trials = {}, order = [];
const proxies = new Map();
const make = (kind) => (...args) => {
  const it = { kind, args, calls: [] };
  const proxy = new Proxy(it, { get: (own, name) => name in own ? own[name]
    : name === "test" ? proxy : (...more) => {
      own.calls.push([name, more]); return proxies.get(own); } });
  proxies.set(it, proxy);
  return proxy;
};
globalThis.PennController = { ResetPrefix() {} };
globalThis.DebugOff = () => {};
globalThis.end = () => "end";
globalThis.GetURLParameter = (name) => ({ survey: "2", participant: "P7" })[name];
globalThis.Sequence = (...labels) => order.push(...labels);
globalThis.SendResults = () => "results";
for (const name of ["Html", "Text", "Button", "Scale", "Var"]) {
  globalThis["new" + name] = make(name); globalThis["get" + name] = make(name);
}
globalThis.newTrial = (label, ...elements) => {
  const trial = { elements, logged: {}, setOption() { return trial; },
    log(name, value) { trial.logged[name] = value; return trial; } };
  trials[label] = trial;
  return trial;
};
(0, eval)(require("fs").readFileSync(process.argv[2], "utf8"));
// Every scale is answered with its last label; the variables that are logged follow from it.
const out = order.filter((label) => label.startsWith("trial-")).map((label) => {
  const trial = trials[label];
  const scale = trial.elements.find((each) => each.kind === "Scale");
  const answer = scale.args[scale.args.length - 1];
  const logged = { ...trial.logged };
  for (const each of trial.elements.filter((each) =>
    each.calls.some(([name]) => name === "set"))) {
    const change = each.calls.filter(([name]) => name === "set").at(-1)[1][0];
    if (each.args[0] in logged) logged[each.args[0]] = change(answer);
  }
  const asked = trial.elements[0].calls.find(([name]) => name === "is");
  const text = trial.elements.find((each) => each.kind === "Html").args[1];
  return { text, when: asked ? asked[1][0] : "", labels: scale.args.slice(1), logged };
});
console.log(JSON.stringify({ order, out }));
"""


def test_a_folder_that_holds_another_design_is_left_alone(tmp_path):
    first, second = small("it-connectives"), small("it-acceptability")
    write_survey(first, tmp_path)
    write_survey(first, tmp_path)
    with pytest.raises(UsageError, match="another design"):
        write_survey(second, tmp_path)
    assert read_design(tmp_path) == first
    write_survey(second, tmp_path, force=True)
    assert read_design(tmp_path) == second
    for folder in ("forms", "print"):
        kept = {path.stem for path in (tmp_path / folder).iterdir()}
        assert kept == {f"survey-{name}" for name in second.by_survey}


def test_a_design_with_links_is_not_replaced_and_force_keeps_it(tmp_path, capsys):
    folder = tmp_path / "survey"
    first = small("it-acceptability")
    write_survey(first, folder)
    assert invoke(["annotate", "serve", "invite", str(folder), "-n", "1"]) == 0
    write_design(replace(first, title="Un altro titolo"), folder / "design.json")
    export = ["annotate", "survey", "export", str(folder / "design.json"), "-o"]
    capsys.readouterr()
    assert invoke([*export, str(folder)]) == 2
    refused = capsys.readouterr().err
    assert "holds links and answers to another design" in refused
    assert "another folder (-o)" in refused
    build = ["annotate", "survey", "build", "it-connectives", "-o", str(folder)]
    assert invoke(build) == 2
    assert invoke([*export, str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert invoke([*export, str(folder), "--force"]) == 0
    assert "copy it over design.json" in capsys.readouterr().err
    assert read_design(folder).title == "Un altro titolo"
    kept = folder / "design-answered.json"
    assert read_design(kept) == first
    kept.replace(folder / "design.json")
    assert invoke(["annotate", "serve", "invite", str(folder), "-n", "1"]) == 0


def run_pcibex(design, folder, participant="P7"):
    if NODE is None:
        pytest.skip("node is not installed")
    (folder / "main.js").write_text(exports.pcibex_script(design))
    (folder / "stand-in.js").write_text(STAND_IN.replace('"P7"', json.dumps(participant)))
    command = [NODE, "stand-in.js", "main.js"]
    done = subprocess.run(  # noqa: S603  # our own command
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_pcibex_script_asks_one_survey_and_logs_its_columns(tmp_path):
    design = small("it-connectives")
    ran = run_pcibex(design, tmp_path)
    questions = design.by_survey["2"]
    assert ran["order"][:2] == ["consent", "guidelines"]
    assert ran["order"][-2:] == ["results", "end"]
    assert [trial["logged"]["item"] for trial in ran["out"]] == [
        question.item for question in questions
    ]
    for trial, question in zip(ran["out"], questions, strict=True):
        assert trial["labels"] == ["1", "2", "3", "4", "5"]
        assert trial["logged"]["annotator"] == "P7"
        assert trial["logged"]["condition"] == question.condition
        assert trial["logged"]["value"] == "5"
        assert trial["logged"]["expected"] == question.expected


def test_the_pcibex_script_gives_everybody_without_a_code_one_of_their_own(tmp_path):
    design = small("it-connectives")
    ran = [run_pcibex(design, tmp_path, participant=None) for _ in range(2)]
    codes = [{trial["logged"]["annotator"] for trial in each["out"]} for each in ran]
    assert codes[0].isdisjoint(codes[1])
    assert all(re.fullmatch("P-[0-9a-f]{10}", code) for (code,) in codes)


def test_the_pcibex_script_logs_which_condition_was_chosen(tmp_path):
    plan = SurveyPlan(checks=0, surveys=2, task="choice", limit=4)
    design = build_design(find_suite("it-connectives"), plan)
    ran = run_pcibex(design, tmp_path)
    for trial, question in zip(ran["out"], design.by_survey["2"], strict=True):
        assert trial["logged"]["value"] == question.choices[-1].value
        assert trial["logged"]["condition"] == question.choices[-1].condition


def test_the_pcibex_script_asks_about_a_story_one_question_after_the_other(tmp_path):
    design = small("it-stories")
    asked = run_pcibex(design, tmp_path)["out"]
    questions = design.by_survey[asked[0]["logged"]["survey"]]
    expected = [(question, field) for question in questions for field in design.fields_of(question)]
    assert {field.when for _, field in expected} == {"", "false"}
    for trial, (question, field) in zip(asked, expected, strict=True):
        assert trial["when"] == field.when
        assert trial["logged"]["question"] == field.name
        assert trial["logged"]["value"] == field.choices[-1].value
        assert all(html.escape(line) in trial["text"] for line in question.lines)


def test_the_pcibex_script_shows_hostile_text_as_text(tmp_path):
    ran = run_pcibex(hostile(), tmp_path)
    assert all(
        "<script" not in trial["text"] and "<img" not in trial["text"] for trial in ran["out"]
    )
    assert all("<mark>" in trial["text"] for trial in ran["out"])


@pytest.fixture(scope="module")
def jspsych_packages():
    """The node_modules folder with jsPsych; see docs/people.md for how it is made."""
    folder = os.environ.get("CIMENTO_JSPSYCH", "")
    if not (Path(folder) / "jspsych").is_dir():
        pytest.skip("jsPsych is absent; set CIMENTO_JSPSYCH to a node_modules folder that has it")
    return Path(folder)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(tmp_path):
    """An address at which the files of a folder are served."""
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(tmp_path))
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def answer_jspsych(design, folder, address, packages, browser, *, choose, survey="1"):
    """Click through the whole experiment; the rows of what is downloaded at the end."""
    for name, text in exports.jspsych_experiment(design).items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(packages, folder / "node_modules", dirs_exist_ok=True)
    page = browser.new_page()
    errors = []

    def note(fault):
        errors.append(str(fault))

    def note_foreign(request):
        if not request.url.startswith((address, "blob:", "data:")):
            errors.append(request.url)

    page.on("pageerror", note)
    page.on("request", note_foreign)
    page.goto(f"{address}/index.html?survey={survey}&participant=P-1")
    buttons = page.locator("#jspsych-html-button-response-btngroup button")
    for _ in range(2):
        buttons.first.click()
    while not page.locator("#download a").count():
        before = page.locator(".jspsych-content").inner_html()
        labels = buttons.all_inner_texts()
        buttons.nth(choose(labels, page.locator(".text, .story").inner_text())).click()
        page.wait_for_function(
            "old => document.querySelector('#download') ||"
            " document.querySelector('.jspsych-content').innerHTML !== old",
            arg=before,
        )
    with page.expect_download() as download:
        page.locator("#download a").click()
    answers = rows(Path(download.value.path()).read_text(encoding="utf-8"))
    hacked = page.evaluate("window.hacked")
    page.close()
    assert hacked is None
    assert not errors
    return answers


def test_the_jspsych_experiment_can_be_answered(tmp_path, served, jspsych_packages, browser):
    design = small("it-connectives")
    answers = answer_jspsych(
        design, tmp_path, served, jspsych_packages, browser,
        choose=lambda labels, text: len(text) % len(labels),
    )  # fmt: skip
    questions = design.by_survey["1"]
    assert [answer["item"] for answer in answers] == [question.item for question in questions]
    for row, question in zip(answers, questions, strict=True):
        assert row["value"] == str(len(question.lines[0]) % 5 + 1)
        assert row["condition"] == question.condition
        assert row["candidate"] == question.candidate
        assert row["annotator"] == "P-1"
        assert row["question"] == ("attention" if question.expected else "acceptability")
        assert 0 <= float(row["seconds"]) <= float(row["session_seconds"])


def test_stories_in_jspsych_ask_for_the_conflict_where_there_is_one(
    tmp_path, served, jspsych_packages, browser
):
    design = small("it-stories")
    answers = answer_jspsych(
        design, tmp_path, served, jspsych_packages, browser,
        choose=lambda labels, text: 1 if len(labels) == 2 and len(text) % 2 else 0,
    )  # fmt: skip
    for question in design.by_survey["1"]:
        by_question = {
            answer["question"]: answer["value"]
            for answer in answers
            if answer["item"] == question.item
        }
        if question.expected:
            assert list(by_question) == ["attention"]
        elif by_question["story_class"] == "false":
            assert by_question["conflict_detec"] == "0 and 1"
            assert by_question["physical_state"] == "power"
        else:
            assert list(by_question) == ["story_class"]


@pytest.mark.slow
def test_hostile_text_does_nothing_in_jspsych(tmp_path, served, jspsych_packages, browser):
    answers = answer_jspsych(
        hostile(), tmp_path, served, jspsych_packages, browser, choose=lambda *_: 0
    )
    assert {answer["value"] for answer in answers} == {"1"}


def imported(file, form, folder):
    """A results file as judgments, by the command that takes it over."""
    output = folder / "judgments.parquet"
    command = ["annotate", "import", str(file), "--form", form, "--suite", "it-connectives"]
    assert invoke([*command, "--names", "keep", "-o", str(output)]) == 0
    return judgments_of(pl.read_parquet(output))


def held_against(judgments, questions):
    """Whether judgments are about the questions of a survey."""
    assert [judgment.position for judgment in judgments] == list(range(1, len(questions) + 1))
    for judgment, question in zip(judgments, questions, strict=True):
        assert (judgment.item, judgment.condition) == (question.item, question.condition)
        assert judgment.expected == (question.expected or None)
        assert judgment.question == ("attention" if question.expected else "acceptability")


def test_pcibex_results_are_taken_over(tmp_path):
    design = small("it-connectives")
    ran = run_pcibex(design, tmp_path)
    keys = list(ran["out"][0]["logged"])
    names = [
        "Results reception time", "MD5 hash of participant's IP address", "Controller name",
        "Order number of item", "Inner element number", "Label", "Latin Square Group",
        "PennElementType", "PennElementName", "Parameter", "Value", "EventTime", *keys, "Comments",
    ]  # fmt: skip
    lines = [f"# {number}. {name}." for number, name in enumerate(names, start=1)]
    for number, trial in enumerate(ran["out"], start=3):
        logged = [str(trial["logged"][name]).replace(",", "%2C") for name in keys]
        before = ["1700000000", "abc", "PennController", str(number), "0", f"trial-{number - 3}"]
        lines.append(
            ",".join([*before, "NULL", "Scale", "answer", "Choice", "5", "1", *logged, "NULL"])
        )
    (tmp_path / "results.csv").write_text("\n".join(lines) + "\n")
    judgments = imported(tmp_path / "results.csv", "pcibex", tmp_path)
    held_against(judgments, design.by_survey["2"])
    assert {judgment.value for judgment in judgments} == {"5"}
    assert {judgment.annotator for judgment in judgments} == {"P7"}


def test_jspsych_results_are_taken_over(tmp_path, served, jspsych_packages, browser):
    design = small("it-connectives")
    rows = answer_jspsych(design, tmp_path, served, jspsych_packages, browser, choose=lambda *_: 3)
    with (tmp_path / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    judgments = imported(tmp_path / "results.csv", "jspsych", tmp_path)
    held_against(judgments, design.by_survey["1"])
    assert {judgment.value for judgment in judgments} == {"4"}
    assert {judgment.annotator for judgment in judgments} == {"P-1"}
    assert all(judgment.seconds <= judgment.session_seconds for judgment in judgments)


@pytest.mark.parametrize("language", ["en", "es", "it", "pt", "ru"])
def test_paper_asks_for_no_name_and_promises_what_paper_keeps(language):
    plan = SurveyPlan(
        checks=0,
        contact="A. Bianchi",
        background=("age",),
        limit=4,
        language=language,
    )
    design = build_design(find_suite("it-connectives"), plan)
    page = html.unescape(exports.printed(design)["survey-1.html"])
    texts = words(language)
    for paragraph in texts["consent"]["paragraphs"].split("\n")[1:]:
        assert paragraph not in page
    for paragraph in texts["consent"]["paper"].split("\n"):
        assert paragraph in page
    assert "A. Bianchi" in page
    assert design.background[0].prompt in page
    assert texts["pages"]["name"] in page
