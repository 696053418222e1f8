"use strict";
// Search, order and language of a board. Without it, everything is shown; nothing is loaded.
(() => {
  const byId = (id) => document.getElementById(id);
  const plainText = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const filter = (field, rows, count, noun) => {
    if (!field) return;
    const texts = rows.map((row) => plainText(row.dataset.model ?? row.textContent));
    field.addEventListener("input", () => {
      const words = plainText(field.value).split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, place) => {
        row.hidden = !words.every((word) => texts[place].includes(word));
        left += !row.hidden;
      });
      count.textContent = words.length ? `${left} of ${rows.length} ${noun}` : "";
    });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      field.value = "";
      field.dispatchEvent(new Event("input"));
    });
  };
  const board = document.querySelector(".board tbody");
  const rows = board ? [...board.rows] : [];
  filter(byId("find-model"), rows, byId("model-count"), "models");
  filter(byId("find-item"), [...document.querySelectorAll("#item-table tbody tr")], byId("item-count"), "items");
  byId("board-order")?.addEventListener("change", (event) => {
    const column = event.target.value;
    const value = (row) => Number(row.cells[Number(column) + 1].dataset.value ?? -Infinity);
    board.append(...(column === "" ? rows : rows.slice().sort((a, b) => value(b) - value(a))));
  });
  byId("page-language")?.addEventListener("change", (event) => {
    const code = event.target.value;
    for (const part of document.querySelectorAll("[data-language]")) {
      part.hidden = code !== "*" && part.dataset.language !== code;
    }
  });
  if (byId("page-controls")) byId("page-controls").hidden = false;
})();
