// Number keys choose an answer of the first question that has none, or of the one in focus.
// Everything works without this file.
document.documentElement.classList.add("scripted");
document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("textarea, input:not([type=radio])");
  if (event.ctrlKey || event.altKey || event.metaKey || writing || !/^[0-9]$/.test(event.key)) return;
  const shown = [...document.querySelectorAll("fieldset")].filter((each) => each.offsetParent);
  const fieldset = event.target.closest("fieldset")
    ?? shown.find((each) => !each.querySelector(":checked")) ?? shown.at(-1);
  const choice = fieldset?.querySelectorAll("input[type=radio]")[(Number(event.key) || 10) - 1];
  if (!choice) return;
  choice.checked = true;
  choice.focus();
});
