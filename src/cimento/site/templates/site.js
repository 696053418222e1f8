"use strict";
// Search, order and language of a board. Without it, everything is shown; nothing is loaded.
(() => {
  const byId = (id) => document.getElementById(id);
  const plainText = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  let language = "*";
  const inLanguage = (part) => language === "*" || part.dataset.language === language;
  const filter = (field, rows, count, noun) => {
    if (!field) return () => {};
    const texts = rows.map((row) => plainText(row.dataset.name ?? row.textContent));
    const show = () => {
      const words = plainText(field.value).split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, place) => {
        const found = words.every((word) => texts[place].includes(word));
        left += found;
        row.hidden = !found || !(row.dataset.language === undefined || inLanguage(row));
      });
      count.textContent = words.length ? `${left} of ${rows.length} ${noun}` : "";
    };
    field.addEventListener("input", show);
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      field.value = "";
      field.dispatchEvent(new Event("input"));
    });
    return show;
  };
  const bodies = [...document.querySelectorAll(".board tbody")];
  const rows = bodies.flatMap((body) => [...body.querySelectorAll("tr[data-name]")]);
  const showRows = filter(byId("find-row"), rows, byId("row-count"), byId("row-count")?.dataset.noun);
  filter(byId("find-item"), [...document.querySelectorAll("#item-table tbody tr")], byId("item-count"), "items");
  byId("board-order")?.addEventListener("change", (event) => {
    const column = event.target.value;
    const value = (row) => Number(row.cells[Number(column) + 1].dataset.value ?? -Infinity);
    for (const body of bodies) {
      const own = rows.filter((row) => row.parentElement === body);
      body.append(...(column === "" ? own : own.slice().sort((a, b) => value(b) - value(a))));
    }
  });
  byId("page-language")?.addEventListener("change", (event) => {
    language = event.target.value;
    for (const part of document.querySelectorAll("[data-language]")) part.hidden = !inLanguage(part);
    showRows();
  });
  const board = byId("board-scroll");
  const hint = () => { byId("board-scrolls").hidden = board.scrollWidth <= board.clientWidth + 1; };
  if (board) {
    hint();
    addEventListener("resize", hint);
  }
  if (byId("page-controls")) byId("page-controls").hidden = false;
})();
