"""Sentences read word by word in jsPsych and PCIbex, with the keyboard; results come back."""

from __future__ import annotations

import functools
import os
import re
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest

from cimento.people.surveys import exports
from cimento.people.surveys.exports import write_survey
from tests.helpers.command_line import invoke
from tests.helpers.reading_help import maze_design, reading_design


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def folder_served(tmp_path):
    """An address at which the files of the folder ``site`` are served."""
    (tmp_path / "site").mkdir()
    handler = functools.partial(_Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def finish(page, question, *, wrong_at=None):
    """Read or choose the words of one sentence in an experiment."""
    page.wait_for_selector(".sentence p, [id^=sentence-] p")
    page.keyboard.press("Space")
    for index, word in enumerate(question.words):
        if not question.foils:
            page.keyboard.press("Space")
            continue
        pair = page.locator(".maze .word").all_inner_texts()
        is_left = (pair[0] == word) != (index == wrong_at)
        page.keyboard.press("ArrowLeft" if is_left else "ArrowRight")
        if index == wrong_at:
            page.keyboard.press("Space")
            return


def by_word(answers, form, design, folder):
    """The table of words that comes of a results file."""
    write_survey(design, folder / "survey", force=True)
    judgments, table = folder / "judgments.csv", folder / "times.csv"
    command = ["annotate", "import", str(answers), "--form", form, "--names", "keep"]
    assert invoke([*command, "--design", str(folder / "survey"), "-o", str(judgments)]) == 0
    turned = ["annotate", "times", str(judgments), "--design", str(folder / "survey")]
    assert invoke([*turned, "-o", str(table)]) == 0
    return pl.read_csv(table)


def held_against(table, questions, *, wrong):
    """Whether a table has the words of the sentences that were read, and one ended early."""
    of_suite = [question for question in questions if not question.kind]
    assert table["word"].to_list() == [word for q in of_suite for word in q.words]
    assert table["position"].to_list() == [n + 1 for q in of_suite for n in range(len(q.words))]
    assert set(table["participant"]) == {"P-1"}
    left_out = sum(len(question.words) - 1 for question in of_suite if question.id == wrong)
    assert table["rt"].null_count() == left_out
    assert table["rt"].drop_nulls().min() > 0
    answered = {q.item for q in of_suite if q.comprehension and q.id != wrong}
    assert set(table.drop_nulls("comprehension")["item"].cast(pl.String)) == answered
    assert set(table.drop_nulls("comprehension")["comprehension"]) == {"correct"}


@pytest.fixture(params=["reading", "maze"])
def design(request, tmp_path):
    return (reading_design if request.param == "reading" else maze_design)(tmp_path)


def test_real_jspsych_shows_sentences_and_its_results_come_back(
    design, browser, folder_served, tmp_path
):
    packages = Path(os.environ.get("CIMENTO_JSPSYCH", ""))
    if not (packages / "jspsych").is_dir():
        pytest.skip("jsPsych is absent; set CIMENTO_JSPSYCH to a node_modules folder that has it")
    for name, text in exports.jspsych_experiment(design).items():
        (tmp_path / "site" / name).write_text(text, encoding="utf-8")
    shutil.copytree(packages, tmp_path / "site" / "node_modules")
    troubles = []
    page = browser.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(f"{folder_served}/index.html?survey=1&participant=P-1")
    buttons = page.locator("#jspsych-html-button-response-btngroup button")
    for _ in range(2):
        buttons.first.click()
    questions = design.by_survey["1"]
    wrong = questions[-1].id if design.task == "maze" else ""
    for question in questions:
        finish(page, question, wrong_at=1 if question.id == wrong else None)
        if question.comprehension and question.id != wrong:
            values = [choice.value for choice in question.choices]
            buttons.nth(values.index(question.correct)).click()
    with page.expect_download() as download:
        page.locator("#download a").click()
    results = tmp_path / "P-1.csv"
    download.value.save_as(results)
    page.close()
    assert troubles == []
    table = by_word(results, "jspsych", design, tmp_path)
    held_against(table, questions, wrong=wrong)


PENN = """
// The part of PennController 2 that the script uses: elements run one after the other, functions
// are awaited, and a trial logs what it is told to when it ends.
(() => {
const vars = {}, trials = {}, rows = [];
let order = [];
class End extends Error {}
const element = (kind, ...args) => {
  const steps = [];
  const proxy = new Proxy({}, { get: (_, name) => {
    if (name === "steps") return steps;
    if (name === "kind") return kind;
    if (name === "id") return args[0];
    if (name === "test") return proxy;
    if (name === "then") return undefined;
    return (...more) => { steps.push([name, more]); return proxy; };
  } });
  proxy.run = undefined;
  elements.set(proxy, { kind, args, steps });
  return proxy;
};
const elements = new Map();
const scales = {};
async function run(proxy, logged) {
  const { kind, args, steps } = elements.get(proxy);
  let holds = true;
  for (const [name, more] of steps) {
    if (kind === "Html" && name === "print") document.body.insertAdjacentHTML("beforeend", args[1]);
    if (kind === "Function" && name === "call") await args[1]();
    if (kind === "Button" && name === "wait") await new Promise((go) => {
      if (args[1] === "") { window.finished = true; return; }
      const button = document.createElement("button");
      button.textContent = args[1];
      button.onclick = () => { button.remove(); go(); };
      document.body.append(button);
    });
    if (kind === "Scale" && name === "wait") await new Promise((go) => {
      args.slice(1).forEach((label) => {
        const button = document.createElement("button");
        button.className = "label";
        button.textContent = label;
        button.onclick = () => { scales[args[0]] = label; go(); };
        document.body.append(button);
      });
    });
    const [id] = args;
    if (kind === "Scale" && name === "log") {
      logged.push(["Scale", id, "Choice", () => scales[id]]);
    }
    if (kind === "Var" && name === "log") logged.push(["Var", id, "Final", () => vars[id]]);
    if (kind === "Var" && name === "set") {
      const [value] = more;
      vars[args[0]] = value instanceof Function ? value(vars[args[0]])
        : elements.has(value) ? scales[elements.get(value).args[0]] : value;
    }
    if (kind === "Var" && name === "is") holds = vars[args[0]] === more[0];
    if (kind === "Var" && name === "failure" && !holds) throw new End();
  }
}
for (const name of ["Html", "Text", "Button", "Scale", "Var", "Function"]) {
  window["new" + name] = window["get" + name] = (...args) => element(name, ...args);
}
Object.assign(window, {
  PennController: { ResetPrefix() {} }, DebugOff() {}, end: () => "end",
  GetURLParameter: (name) => ({ survey: "1", participant: "P-1" })[name],
  SendResults: () => "results",
  Sequence: (...labels) => { order = labels; },
  newTrial: (label, ...parts) => {
    const trial = { parts, columns: {}, setOption() { return trial; },
      log(name, value) { trial.columns[name] = value; return trial; } };
    trials[label] = trial;
    return trial;
  },
});
window.addEventListener("load", async () => {
  for (const [number, label] of order.entries()) {
    if (label === "results") continue;
    document.body.replaceChildren();
    const { parts, columns } = trials[label];
    const logged = [];
    const row = (type, name, parameter, value) => rows.push([number, label, type, name, parameter,
      value, Object.fromEntries(Object.entries(columns).map(([key, cell]) =>
        [key, elements.has(cell) ? vars[elements.get(cell).args[0]] : cell]))]);
    const starts = rows.length;
    try { for (const part of parts) await run(part, logged); }
    catch (error) { if (!(error instanceof End)) throw error; logged.length = 0; }
    row("PennController", number, "_Trial_", "Start");
    for (const [type, name, parameter, value] of logged) row(type, name, parameter, value());
    row("PennController", number, "_Trial_", "End");
    window.rows = rows;
  }
});
})();
"""


def results_file(rows, path):
    """The rows of the stand-in as PCIbex writes them."""
    keys = list(dict.fromkeys(key for *_, columns in rows for key in columns))
    names = [
        "Results reception time", "MD5 hash of participant's IP address", "Controller name",
        "Order number of item", "Inner element number", "Label", "Latin Square Group",
        "PennElementType", "PennElementName", "Parameter", "Value", "EventTime", *keys, "Comments",
    ]  # fmt: skip
    lines = [f"# {number}. {name}." for number, name in enumerate(names, start=1)]
    for number, label, kind, name, parameter, value, columns in rows:
        logged = [columns.get(key, "undefined") for key in keys]
        cells = [
            "1700000000", "abc", "PennController", number, 0, label, "NULL", kind, name,
            parameter, value, 1, *logged, "NULL",
        ]  # fmt: skip
        lines.append(",".join(str(cell).replace(",", "%2C") for cell in cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_pcibex_script_shows_sentences_and_its_results_come_back(
    design, browser, folder_served, tmp_path
):
    site = tmp_path / "site"
    (site / "penn.js").write_text(PENN)
    (site / "main.js").write_text(exports.pcibex_script(design))
    scripts = '<script src="penn.js"></script><script src="main.js"></script>'
    (site / "index.html").write_text(f"<!doctype html><meta charset=utf-8><body>{scripts}")
    troubles = []
    page = browser.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(f"{folder_served}/index.html")
    for _ in range(2):
        page.locator("body > button").click()
    questions = design.by_survey["1"]
    wrong = questions[-1].id if design.task == "maze" else ""
    for question in questions:
        finish(page, question, wrong_at=1 if question.id == wrong else None)
        if question.comprehension and question.id != wrong:
            label = next(c.label for c in question.choices if c.value == question.correct)
            page.locator("button.label", has_text=re.compile(f"^{label}$")).click()
    page.wait_for_function("window.finished")
    rows = page.evaluate("window.rows")
    page.close()
    assert troubles == []
    table = by_word(results_file(rows, tmp_path / "results.csv"), "pcibex", design, tmp_path)
    held_against(table, questions, wrong=wrong)
