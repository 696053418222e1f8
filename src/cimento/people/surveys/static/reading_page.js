// The page of a sentence: its times go into the form, which is sent when all is answered.
const form = document.querySelector("form[data-sentence]");
const times = form.elements["field-0"];
const asked = form.querySelector("#asked");

readSentence(form.querySelector("#sentence"), JSON.parse(form.dataset.sentence)).then((text) => {
  times.value = text;
  // A sentence that ended at a wrong choice was not read, so that nothing is asked about it.
  if (!asked || text.endsWith("!")) {
    if (asked) asked.remove();
    form.requestSubmit();
    return;
  }
  form.querySelector("#sentence").remove();
  asked.hidden = false;
  asked.querySelector("input").focus();
});
