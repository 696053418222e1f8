// A survey made with cimento, for PCIbex (PennController 2). Links: ...?survey=1&participant=CODE
PennController.ResetPrefix(null);
DebugOff();

const SURVEY = {/* the survey */};

{/* reading */}
const names = Object.keys(SURVEY.surveys);
const wanted = GetURLParameter("survey");
const survey = names.includes(wanted)
  ? wanted
  : names[Math.floor(Math.random() * names.length)];
// People in one room share an address, and PCIbex has nothing else to tell them apart by.
const drawn = () => "P-" + Array.from({ length: 10 }, () =>
  Math.floor(Math.random() * 16).toString(16)).join("");
const annotator =
  GetURLParameter("participant") || GetURLParameter("PROLIFIC_PID") || drawn();
const trials = SURVEY.surveys[survey];

const paragraphs = (texts) => texts.map((text) => `<p>${text}</p>`).join("");
const shown = (lines) =>
  lines.length > 1
    ? `<ol style="text-align: left; line-height: 1.6">` +
      `${lines.map((line) => `<li>${line}</li>`).join("")}</ol>`
    : lines.map((line) => `<p style="font-size: 1.25em">${line}</p>`).join("");

Sequence(
  "consent",
  "guidelines",
  ...trials.map((trial, place) => `trial-${place}`),
  SendResults(),
  "end",
);

newTrial("consent",
  newHtml("consent", `<h1>${SURVEY.words.consent_title}</h1>${paragraphs(SURVEY.consent)}`).print(),
  newButton("agree", SURVEY.words.agree).print().wait(),
);

newTrial("guidelines",
  newHtml("guidelines",
    `<h1>${SURVEY.words.guidelines_title}</h1>${paragraphs(SURVEY.guidelines)}`).print(),
  newButton("begin", SURVEY.words.begin).print().wait(),
);

// A sentence that is read word by word, in an element of its own.
const sentence = (trial, place) => {
  const id = `sentence-${place}`;
  let given = "";
  return newTrial(`trial-${place}`,
    newHtml("sentence", `<div id="${id}" style="min-width: 40em; min-height: 12em; font-size: 1.25em"></div>`).print(),
    newFunction("read", () =>
      readSentence(document.getElementById(id), trial.sentence).then((text) => { given = text; }),
    ).call(),
    newVar("value").global().set(() => given).log(),
    newVar("condition").global().set(() => trial.data.condition),
    newVar("ended").global().set(() => (given.endsWith("!") ? "early" : "")),
  );
};

trials.forEach((trial, place) => {
  // Labels are what a scale knows; value and condition are what is logged for them.
  const chosen = (label) => trial.choices[trial.labels.indexOf(label)];
  const answered = (name, part) =>
    newVar(name).global().set(getScale("answer")).set((label) => part(chosen(label)));
  const made = trial.sentence ? sentence(trial, place) : newTrial(`trial-${place}`,
    // After a sentence that ended at a wrong choice, nothing is asked about it.
    ...(trials[0].sentence ? [getVar("ended").test.is("").failure(end())] : []),
    // Some questions are only asked if the first one about the same text was answered so.
    ...(trial.when ? [getVar("first").test.is(trial.when).failure(end())] : []),
    newHtml("text", shown(trial.lines)).print(),
    newText("prompt", trial.prompt).print(),
    ...(trial.low ? [newText("ends", `${trial.low} … ${trial.high}`).print()] : []),
    newScale("answer", ...trial.labels).button().vertical().keys().log().print().wait(),
    ...(trial.when ? [] : [answered("first", (choice) => choice.value)]),
    answered("value", (choice) => choice.value),
    answered("condition", (choice) => choice.condition || trial.data.condition),
  );
  const logged = {
    ...trial.data, annotator, value: getVar("value"), condition: getVar("condition"),
  };
  Object.entries(logged).reduce((soFar, [name, value]) => soFar.log(name, value), made);
});

// The code comes from the address of the page: it is shown as text.
const safe = annotator.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
const code = `<p>${SURVEY.words.code.replace("{code}", safe)}</p>`;

newTrial("end",
  newHtml("thanks", `<h1>${SURVEY.words.done_title}</h1><p>${SURVEY.words.done}</p>${code}`).print(),
  newButton("never", "").wait(),
).setOption("countsForProgressBar", false);
