// Runs the survey in survey.js with jsPsych 8. Links: index.html?survey=1&participant=CODE

// Where the results are sent when a participant has finished, as text/csv; empty for nowhere.
const SEND_TO = "";

const COLUMNS = [
  "suite", "item", "condition", "candidate", "annotator", "question", "value", "remark", "at",
  "survey", "position", "seconds", "session_seconds", "expected", "scale",
];

const asked = new URLSearchParams(location.search);
const names = Object.keys(SURVEY.surveys);
const survey = names.includes(asked.get("survey"))
  ? asked.get("survey")
  : names[Math.floor(Math.random() * names.length)];
const annotator = asked.get("participant") || asked.get("PROLIFIC_PID") || crypto.randomUUID();
const started = Date.now();

function escaped(text) {
  const element = document.createElement("span");
  element.textContent = text;
  return element.innerHTML.replaceAll('"', "&quot;");
}

function paragraphs(title, texts) {
  const inside = texts.map((text) => `<p>${escaped(text)}</p>`).join("");
  return `<div class="explained"><h1>${escaped(title)}</h1>${inside}</div>`;
}

function shown(trial) {
  if (trial.lines.length > 1) {
    const lines = trial.lines.map((line) => `<li><bdi>${escaped(line)}</bdi></li>`).join("");
    return `<ol class="story">${lines}</ol>`;
  }
  const line = trial.lines[0] ?? "";
  // Characters are counted as code points, as in the design.
  const points = Array.from(line);
  const [from, to] = trial.mark ?? [points.length, points.length];
  const part = (start, end) => escaped(points.slice(start, end).join(""));
  const middle = from < to ? `<mark>${part(from, to)}</mark>` : "";
  return `<p class="text"><bdi>${part(0, from)}${middle}${part(to)}</bdi></p>`;
}

function button(label) {
  return `<button class="jspsych-btn">${escaped(label)}</button>`;
}

function page(stimulus, choices) {
  return {
    type: jsPsychHtmlButtonResponse,
    stimulus,
    choices,
    button_html: button,
    save_trial_parameters: { stimulus: false },
  };
}

function question(trial, field, number, count) {
  const ends = field.low
    ? `<div class="ends"><span>${escaped(field.low)}</span><span>${escaped(field.high)}</span></div>`
    : "";
  const progress = SURVEY.words.progress.replace("{position}", number).replace("{total}", count);
  return {
    ...page(
      `<p>${escaped(progress)}</p>${shown(trial)}<p class="prompt">${escaped(field.prompt)}</p>${ends}`,
      field.choices.map((choice) => choice.label),
    ),
    button_layout: "flex",
    data: { ...field.data, annotator, asked: true },
    on_finish: (data) => {
      const chosen = field.choices[data.response];
      data.value = chosen.value;
      data.condition = chosen.condition || data.condition;
      data.seconds = data.rt / 1000;
      data.at = new Date().toISOString();
    },
  };
}

// The trial of a sentence that is read word by word, by reading.js.
class Sentence {
  static info = {
    name: "cimento-sentence",
    version: "1.0.0",
    parameters: { sentence: { type: jsPsychModule.ParameterType.OBJECT, default: undefined } },
    data: {
      value: { type: jsPsychModule.ParameterType.STRING },
      rt: { type: jsPsychModule.ParameterType.FLOAT },
    },
  };

  trial(element, trial) {
    const shown = performance.now();
    element.innerHTML = '<div class="sentence"></div>';
    readSentence(element.firstChild, trial.sentence).then((value) =>
      jsPsych.finishTrial({ value, rt: performance.now() - shown }));
  }
}

function sentence(trial, field) {
  return {
    type: Sentence,
    sentence: trial.sentence,
    data: { ...field.data, annotator, asked: true },
    save_trial_parameters: { sentence: false },
    on_finish: (data) => {
      data.seconds = data.rt / 1000;
      data.at = new Date().toISOString();
    },
  };
}

const endedEarly = () => jsPsych.data.get().last(1).values()[0].value.endsWith("!");

function questions(trial, number, count) {
  if (trial.sentence) {
    const [times, ...more] = trial.fields;
    // A sentence that ended at a wrong choice was not read: nothing is asked about it.
    const asked = more.map((field) => question({ lines: [] }, field, number, count));
    return [
      sentence(trial, times),
      ...asked.map((made) => ({ timeline: [made], conditional_function: () => !endedEarly() })),
    ];
  }
  return trial.fields.map((field) => {
    const made = question(trial, field, number, count);
    if (!field.when) return made;
    // Asked only where the first field of the same page was answered so.
    const first = trial.fields[0].data;
    return {
      timeline: [made],
      conditional_function: () =>
        jsPsych.data.get()
          .filter({ position: first.position, question: first.question })
          .last(1).values()[0].value === field.when,
    };
  });
}

// Cells that begin as a formula does get an apostrophe, so that no spreadsheet computes them.
function cell(value) {
  const text = value === undefined || value === null ? "" : String(value);
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

function results() {
  const whole = ((Date.now() - started) / 1000).toFixed(3);
  const rows = jsPsych.data.get().filter({ asked: true }).values();
  const lines = rows.map((row) =>
    COLUMNS.map((name) => cell(name === "session_seconds" ? whole : row[name])).join(","),
  );
  return [COLUMNS.join(","), ...lines].join("\n") + "\n";
}

function offer(csv) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", csv], { type: "text/csv" }));
  link.download = `survey-${survey}-${annotator.replace(/[^\w-]/g, "_")}.csv`;
  link.textContent = SURVEY.words.download;
  document.querySelector("#download").append(link);
}

const jsPsych = initJsPsych({
  show_progress_bar: true,
  message_progress_bar: "",
  on_finish: async () => {
    const csv = results();
    document.body.innerHTML =
      `${paragraphs(SURVEY.words.done_title, [SURVEY.words.code.replace("{code}", annotator)])}` +
      '<p class="explained" id="download"></p>';
    if (SEND_TO) {
      const headers = { "Content-Type": "text/csv" };
      const sent = await fetch(SEND_TO, { method: "POST", headers, body: csv }).catch(() => null);
      if (sent && sent.ok) return;
    }
    offer(csv);
  },
});

const trials = SURVEY.surveys[survey];
jsPsych.run([
  page(paragraphs(SURVEY.words.consent_title, SURVEY.consent), [SURVEY.words.agree]),
  page(paragraphs(SURVEY.words.guidelines_title, SURVEY.guidelines), [SURVEY.words.begin]),
  ...trials.flatMap((trial, place) => questions(trial, place + 1, trials.length)),
]);
