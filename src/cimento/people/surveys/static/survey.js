// Number keys choose an answer: of the question in focus while it has none, else of the first one
// that has none, so that a page of several is answered by one number after the other.
// Everything works without this file.
document.documentElement.classList.add("scripted");
document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("textarea, input:not([type=radio])");
  if (event.ctrlKey || event.altKey || event.metaKey || writing || !/^[0-9]$/.test(event.key)) return;
  const shown = [...document.querySelectorAll("fieldset")].filter((each) => each.offsetParent);
  const focused = event.target.closest("fieldset");
  const open = [focused, ...shown].find((each) => each && !each.querySelector(":checked"));
  const fieldset = open ?? focused ?? shown.at(-1);
  const choice = fieldset?.querySelectorAll("input[type=radio]")[(Number(event.key) || 10) - 1];
  if (!choice) return;
  choice.checked = true;
  choice.focus();
});
