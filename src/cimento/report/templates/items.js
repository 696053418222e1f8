"use strict";
// The item browser. It reads the data block of the page and draws rows on demand: nothing is
// loaded, nothing is evaluated, and every text of a suite is set as text, never as markup.
(async () => {
  const byId = (id) => document.getElementById(id);
  const block = byId("item-data");
  const unpacked = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const isPacked = block.type !== "application/json";
  const data = JSON.parse(isPacked ? await unpacked(block.textContent) : block.textContent);
  // In a page that is not in English, the block has the texts of this script in its language.
  const isEnglish = !data.says;
  const say = (text, values = {}) => (data.says?.[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const decimal = (number, digits) => number.toFixed(digits).replace(".", isEnglish ? "." : ",");
  const whole = (number) => number.toLocaleString("en").replaceAll(",", isEnglish ? "," : "\u202f");
  const VERDICTS = ["fail", "tie", "pass", "unscored", "unjudged"];
  const SHADES = 9, BITS_EACH = 2, BATCH = 40;
  const list = byId("item-list"), count = byId("item-count"), more = byId("item-more");
  const search = byId("find");
  const choices = ["suite", "model", "phenomenon", "condition", "verdict"];
  const field = Object.fromEntries([...choices, "order"].map((name) => [name, byId("by-" + name)]));

  // [run, id, phenomenon, verdict, margin, unit, reason, strips, parts, answers, remarks, contributions]
  const items = data.items.map((row, place) => ({
    place, run: data.runs[row[0]], id: row[1], phenomenon: data.words[row[2]],
    verdict: VERDICTS[row[3]], margin: row[4] === null ? null : row[4] / 100,
    unit: data.words[row[5]], reason: data.words[row[6]], strips: row[7], parts: row[8], answers: row[9],
    remarks: row[10], contributions: row[11],
  }));
  let found = items, drawn = 0;

  // The language of the page: other suites are not shown, and their items not offered.
  const language = byId("page-language");
  const rows = [...document.querySelectorAll("[data-language]")];
  const languages = new Map(rows.map((row) => [row.dataset.suite, row.dataset.language]));
  const isAsked = (code) => !language || language.value === "*" || code === language.value;

  // Small helpers -----------------------------------------------------------------------------
  const make = (tag, name, ...children) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children.filter((each) => each !== null && each !== ""));
    return element;
  };
  const isolated = (text, name) => make("bdi", name, text);
  const signed = (bits) => (bits < 0 ? "−" : bits > 0 ? "+" : "") + decimal(Math.abs(bits), 2);
  // The first letter is of a script that is written from right to left.
  const RIGHT_TO_LEFT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
  const plainText = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const piecesOf = (region) => {
    const pieces = [];
    for (const part of region.slice(1)) {
      if (typeof part === "string") pieces.push({ text: part, bits: null, reason: "" });
      else if (Array.isArray(part)) pieces.at(-1).reason = data.words[part[0]];
      else pieces.at(-1).bits = part / 100;
    }
    return pieces;
  };
  const regionText = (region) => piecesOf(region).map((piece) => piece.text).join("");
  const stripText = (strip) => strip.slice(1).map((region) => regionText(region) + (region[0] & 2 ? "" : " ")).join("");
  const searchable = (item) => (item.plain ??= plainText([
    item.id, ...item.strips.map(stripText), ...item.answers.flatMap((group) => group.slice(1).map((one) => one[0])),
    ...item.remarks.map((remark) => remark[1]),
  ].join("\n")));

  // What is shown -----------------------------------------------------------------------------
  const label = { suite: (i) => [i.run.suite], model: (i) => [i.run.model], phenomenon: (i) => [i.phenomenon],
    verdict: (i) => [i.verdict], condition: (i) => i.strips.map((strip) => data.words[strip[0]]) };
  const ORDERS = {
    worst: (a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict)
      || (a.verdict === "unjudged" ? size(b) - size(a) || a.place - b.place : rising(a, b)),
    low: (a, b) => rising(a, b),
    high: (a, b) => rising(b, a, -1),
    close: (a, b) => Math.abs(a.margin ?? Infinity) - Math.abs(b.margin ?? Infinity) || a.place - b.place,
    suite: (a, b) => a.place - b.place,
  };
  const size = (item) => Math.abs(item.margin ?? 0);
  // Items without a margin come last, whichever way the others are sorted.
  const rising = (a, b, way = 1) => {
    if (a.margin === null || b.margin === null) return way * ((a.margin === null) - (b.margin === null));
    return a.margin - b.margin || way * (a.place - b.place);
  };
  const fill = (select, values) => {
    const chosen = select.value;
    const shown = (value) => select === field.verdict ? say(value) : value;
    select.replaceChildren(new Option(say("any"), ""), ...values.map((value) => new Option(shown(value), value)));
    select.value = values.includes(chosen) ? chosen : "";
    select.closest("label").hidden = values.length < 2;
  };
  const offer = () => {
    // Phenomena and conditions are those of the suite that is chosen.
    const own = items.filter((item) => isAsked(languages.get(item.run.suite))
      && (!field.suite.value || item.run.suite === field.suite.value));
    for (const name of ["phenomenon", "condition"]) {
      fill(field[name], [...new Set(own.flatMap(label[name]))].filter(Boolean));
    }
  };
  const apply = () => {
    const words = plainText(search.value).split(/\s+/).filter(Boolean);
    found = items.filter((item) => isAsked(languages.get(item.run.suite)) &&
      choices.every((name) => !field[name].value || label[name](item).includes(field[name].value)) &&
      words.every((word) => searchable(item).includes(word)));
    found = found.slice().sort(ORDERS[field.order.value]);
    drawn = 0;
    list.replaceChildren();
    draw();
    const values = { count: whole(found.length), all: whole(items.length) };
    count.textContent = !found.length
      ? say("None of the {all} items matches: remove a filter, or press Escape in the search field.", values)
      : found.length === items.length ? say("{all} items", values) : say("{count} of {all} items", values);
  };
  const draw = () => {
    const next = found.slice(drawn, drawn + BATCH);
    list.append(...next.map(row));
    drawn += next.length;
    more.hidden = drawn >= found.length;
    more.textContent = say("Show more ({left} left)", { left: whole(found.length - drawn) });
    if (list.firstElementChild && !list.querySelector('li[tabindex="0"]')) list.firstElementChild.tabIndex = 0;
  };

  // One item ----------------------------------------------------------------------------------
  // Where nothing is right or wrong, as with rated sentences, it is not said of each item.
  const judged = new Set(items.filter((item) => item.verdict !== "unjudged").map((item) => item.run));
  const verdictWord = (item, verdict) => verdict !== "unjudged" ? make("span", "verdict " + verdict, say(verdict))
    : judged.has(item.run) ? make("span", "verdict unjudged", say("not judged")) : "";
  const head = (item) => {
    const box = make("div", "head", make("span", "id", isolated(item.id)));
    const outcome = make("span", "outcome", verdictWord(item, item.verdict));
    if (item.margin !== null) outcome.append(" ", make("span", "margin", signed(item.margin), make("span", "unit", " " + item.unit)));
    box.append(outcome);
    if (item.reason) box.append(make("p", "reason", isolated(item.reason)));
    if (item.phenomenon) box.append(make("span", "about", isolated(item.phenomenon)));
    if (data.runs.length > 1) box.append(make("span", "about", isolated(item.run.suite), " · ", isolated(item.run.model)));
    return box;
  };
  const token = (piece) => {
    // The blank before a word stands outside its color.
    const text = piece.text.trimStart(), blank = piece.text.length > text.length ? " " : "";
    if (piece.bits === null && !piece.reason) return [blank, isolated(text)];
    const cell = make("b", piece.bits === null ? "none" : "t" + Math.min(SHADES - 1, Math.max(0, Math.floor(piece.bits / BITS_EACH))),
      text, make("i", "", piece.bits === null ? "–" : decimal(piece.bits, 1)));
    cell.title = piece.bits === null ? piece.reason : say("{number} bits", { number: decimal(piece.bits, 2) });
    return [blank, cell];
  };
  const strips = (item) => {
    const table = make("table", "strips", make("caption", "hidden", say("Surprisal of each piece (token) in bits")));
    // Not "auto", for which the browser reads the caption first and leaves out what is isolated.
    table.dir = RIGHT_TO_LEFT.test(item.strips.map(stripText).join(" ")) ? "rtl" : "ltr";
    if (item.run.language) table.lang = item.run.language;
    for (const strip of item.strips) {
      const condition = data.words[strip[0]];
      if (field.condition.value && condition !== field.condition.value) continue;
      const th = make("th", "", isolated(condition));
      th.scope = "row";
      const line = make("tr", "", th);
      strip.slice(1).forEach((region) => {
        const flags = region[0];
        line.append(make("td", (flags & 1 ? "decides" : "") + (flags & 2 ? " glued" : ""),
          ...piecesOf(region).flatMap(token)));
      });
      table.append(line);
    }
    return make("div", "scroll", table);
  };
  // Words are blue where they help the prediction, and red where they hurt it; the darkest is the item's largest.
  const contributions = (item) => item.contributions.map(([label, ...strips]) => {
    const all = strips.flatMap((strip) => strip.slice(1).flatMap(piecesOf)).map((piece) => Math.abs(piece.bits ?? 0));
    const largest = Math.max(0.01, ...all);
    const word = (piece) => {
      const text = piece.text.trimStart(), blank = piece.text.length > text.length ? " " : "";
      if (piece.bits === null) return [blank, isolated(text)];
      const level = Math.round(4 * Math.abs(piece.bits) / largest);
      const cell = make("b", (piece.bits < 0 ? "against" : "for") + level, text, make("i", "", signed(piece.bits)));
      cell.title = say("{number} bits of the margin", { number: signed(piece.bits) });
      return [blank, cell];
    };
    const table = make("table", "strips", make("caption", "", say("Contributions in bits: {label}", { label: data.words[label] })));
    table.dir = "auto";
    if (item.run.language) table.lang = item.run.language;
    for (const strip of strips) {
      const th = make("th", "", isolated(data.words[strip[0]]));
      th.scope = "row";
      table.append(make("tr", "", th, ...strip.slice(1).map((region) =>
        make("td", (region[0] & 1 ? "decides" : "") + (region[0] & 2 ? " glued" : ""), ...piecesOf(region).flatMap(word)))));
    }
    return make("div", "scroll contributions", table);
  });
  const answers = (item) => item.answers.map(([group, ...found]) => {
    const lines = found.map(([text, share, mark]) => make("li", mark ? data.words[mark].replaceAll(" ", "-") : "", isolated(text),
      share === null ? "" : make("span", "share", " " + decimal(share / 10000, 3)),
      mark ? make("span", "mark", " " + say(data.words[mark])) : ""));
    return make("div", "answers", make("p", "", data.words[group]), make("ol", "", ...lines));
  });
  const remarks = (item) => item.remarks.length === 0 ? null : make("dl", "remarks", ...item.remarks.flatMap(([name, text]) =>
    [make("dt", "", data.words[name]), make("dd", "", isolated(text))]));
  const wasScored = (item) => item.strips.some((strip) => strip.slice(1).some((region) =>
    region.slice(1).some((part) => typeof part !== "string")));
  const sums = (item) => {
    // The value of each region, as long as every piece of it has one.
    const lines = [];
    for (const strip of item.strips) {
      for (const region of strip.slice(1)) {
        const asked = piecesOf(region).filter((piece) => piece.bits !== null || piece.reason);
        if (!asked.length) continue;
        const known = asked.every((piece) => piece.bits !== null);
        const bits = asked.reduce((sum, piece) => sum + (piece.bits ?? 0), 0);
        lines.push(make("tr", "", make("td", "", isolated(data.words[strip[0]])), make("td", region[0] & 1 ? "decides" : "", isolated(regionText(region).trim())),
          make("td", "num", known ? decimal(bits, 2) : "–")));
      }
    }
    if (!lines.length) return null;
    const names = [say("condition"), say("words"), say("bits")].map((name) => { const th = make("th", "", name); th.scope = "col"; return th; });
    return make("table", "sums", make("caption", "", say("Summed surprisal")), make("thead", "", make("tr", "", ...names)), make("tbody", "", ...lines));
  };
  const details = (item) => {
    if (!wasScored(item) && !item.parts.length) return null;
    const parts = item.parts.map(([question, verdict, margin, unit]) => make("li", "", make("span", "number", data.words[question]), " ",
      verdictWord(item, VERDICTS[verdict]), margin === null ? "" : " " + signed(margin / 100) + " " + data.words[unit]));
    const box = make("details", "", make("summary", "", say("numbers")));
    // Drawn when it is opened for the first time.
    box.addEventListener("toggle", () => {
      if (box.childElementCount > 1) return;
      const table = sums(item);
      box.append(parts.length > 1 ? make("ul", "each", ...parts) : "", table ?? (parts.length ? "" : make("p", "small", say("None of its words was scored."))));
    });
    return box;
  };
  const row = (item) => {
    const line = make("li", "item " + item.verdict, head(item),
      make("div", "body", ...(item.strips.length ? [strips(item)] : []), ...contributions(item), ...answers(item), remarks(item), details(item)));
    line.tabIndex = -1;
    line.setAttribute("aria-label", `${item.id}${judged.has(item.run) ? ", " + say(item.verdict) : ""}${item.margin === null ? "" : ", " + signed(item.margin) + " " + item.unit}`);
    return line;
  };

  // Keys: arrows go from item to item, Enter opens the numbers, Escape closes or goes back to the search.
  const focus = (line) => {
    if (!line) return;
    list.querySelector('li[tabindex="0"]')?.setAttribute("tabindex", "-1");
    line.tabIndex = 0;
    line.focus();
    line.scrollIntoView({ block: "nearest" });
  };
  const itemAt = (target) => target.closest("li.item");
  list.addEventListener("keydown", (event) => {
    const line = itemAt(event.target), own = event.target === line;
    const box = line?.querySelector("details");
    if (event.key === "ArrowDown") { if (!line.nextElementSibling) draw(); focus(line.nextElementSibling); }
    else if (event.key === "ArrowUp") focus(line.previousElementSibling ?? (search.focus(), null));
    else if (event.key === "Home" && own) focus(list.firstElementChild);
    else if (event.key === "End" && own) focus(list.lastElementChild);
    else if (event.key === "Enter" && own && box) box.open = !box.open;
    else if (event.key === "Escape") { if (box?.open) { box.open = false; focus(line); } else search.focus(); }
    else return;
    event.preventDefault();
  });
  list.addEventListener("focusin", (event) => {
    const line = itemAt(event.target), before = list.querySelector('li[tabindex="0"]');
    if (line && before !== line) { before?.setAttribute("tabindex", "-1"); line.tabIndex = 0; }
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") focus(list.firstElementChild);
    else if (event.key === "Escape") { search.value = ""; apply(); }
    else return;
    event.preventDefault();
  });

  // Controls ----------------------------------------------------------------------------------
  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  for (const select of Object.values(field)) {
    select.addEventListener("change", () => { if (select === field.suite) offer(); apply(); });
  }
  more.addEventListener("click", () => {
    const next = drawn;
    draw();
    focus(list.children[next]);
  });
  new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting) && drawn < found.length) draw(); },
    { rootMargin: "600px" }).observe(more);
  for (const button of document.querySelectorAll("button.browse")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      field.suite.value = button.dataset.suite;
      offer();
      apply();
      byId("items").scrollIntoView();
      search.focus({ preventScroll: true });
    });
  }
  const offerSuites = () => {
    const own = items.filter((item) => isAsked(languages.get(item.run.suite)));
    for (const name of ["suite", "model"]) fill(field[name], [...new Set(own.flatMap(label[name]))]);
  };
  language?.addEventListener("change", () => {
    for (const row of rows) row.hidden = !isAsked(row.dataset.language);
    offerSuites();
    offer();
    apply();
  });
  if (language) byId("page-controls").hidden = false;
  offerSuites();
  fill(field.verdict, VERDICTS.filter((verdict) => items.some((item) => item.verdict === verdict)));
  offer();
  byId("controls").hidden = false;
  apply();
  // An address ending in #item-ID shows this item alone.
  const showAsked = () => {
    const asked = decodeURIComponent(location.hash).match(/^#item-(.*)$/s)?.[1];
    const own = items.filter((item) => item.id === asked);
    if (!own.length) return;
    found = own;
    drawn = 0;
    list.replaceChildren();
    draw();
    count.textContent = say("Item {id} alone; press Escape in the search field for all.", { id: asked });
    byId("items").scrollIntoView();
  };
  addEventListener("hashchange", showAsked);
  showAsked();
})();
