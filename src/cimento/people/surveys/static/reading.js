// Shows a sentence word by word and times each word: self-paced reading and mazes. No library.
// The page of cimento's server, the jsPsych and the PCIbex experiment all use this file.

const readSentence = (() => {
  function readSentence(box, sentence) {
    // Takes an element, which is emptied, and {words, foils, after_error, texts}. Resolves to the
    // times as one text: "key 812.3l 640.1r!1203.9" (cimento.people.surveys.timed has its parts).
    return new Promise((resolve) => {
      const times = [];
      let touched = false;
      const stop = whenPressed(box, (press, at, isTouch) => {
        touched ||= isTouch;
        if (!task(press, at)) return;
        stop();
        resolve([touched ? "touch" : "key", ...times].join(" "));
      });
      box.replaceChildren();
      const task = (sentence.foils.length ? maze : movingWindow)(box, sentence, times);
    });
  }

  // Calls take(press, moment, whether it was touch) for the space bar, the arrow keys, and elements
  // with data-press. The moment is the first thing that is asked for; a key held down counts once.
  function whenPressed(box, take) {
    const keys = { " ": "next", ArrowLeft: "left", ArrowRight: "right" };
    const onKey = (event) => {
      const at = performance.now();
      const press = keys[event.key];
      if (!press || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (!event.repeat) take(press, at, false);
    };
    const onTouch = (event) => {
      const at = performance.now();
      const button = event.target.closest("[data-press]");
      if (!button || !event.isPrimary) return;
      event.preventDefault();
      take(button.dataset.press, at, true);
    };
    document.addEventListener("keydown", onKey);
    box.addEventListener("pointerdown", onTouch);
    return () => {
      document.removeEventListener("keydown", onKey);
      box.removeEventListener("pointerdown", onTouch);
    };
  }

  const milliseconds = (time) => time.toFixed(1);

  function added(parent, name, classes, text = "") {
    const element = document.createElement(name);
    element.className = classes;
    element.textContent = text;
    parent.append(element);
    return element;
  }

  // What a press means: the hint, and a button for screens without keys.
  function presser(box, texts) {
    const hint = added(box, "p", "hint keys", texts.begin);
    const button = added(box, "button", "tap", texts.tap);
    Object.assign(button, { type: "button", tabIndex: -1 });
    button.dataset.press = "next";
    return { hint, button };
  }

  // Only the word that is read is seen; a line stands for each other one.
  function movingWindow(box, { words, texts }, times) {
    const line = added(box, "p", "window");
    line.style.userSelect = "none";
    const shown = words.map((word, place) => {
      if (place) line.append(" ");
      const space = added(line, "span", "");
      space.style.borderBottom = "0.1em solid";
      const inside = added(space, "span", "", word);
      inside.style.visibility = "hidden";
      return inside;
    });
    const { hint } = presser(box, texts);
    let place = -1;
    let before = 0;
    return (press, at) => {
      if (press !== "next") return false;
      if (place >= 0) {
        times.push(milliseconds(at - before));
        shown[place].style.visibility = "hidden";
      }
      place += 1;
      before = at;
      if (place === words.length) return true;
      shown[place].style.visibility = "visible";
      hint.textContent = texts.key;
      return false;
    };
  }

  // Two words at a time, the correct one on a side drawn by chance.
  function maze(box, { words, foils, after_error, texts }, times) {
    const pair = added(box, "div", "maze");
    Object.assign(pair.style, {
      display: "flex", justifyContent: "center", gap: "6%", width: "min(88vw, 26em)", marginInline: "auto",
    });
    const sides = Object.fromEntries(["left", "right"].map((side) => {
      const button = added(pair, "button", "word");
      Object.assign(button, { type: "button", tabIndex: -1 });
      button.dataset.press = side;
      Object.assign(button.style, { flex: "1 1 0", minWidth: "0", minHeight: "3em", padding: "0.3em", font: "inherit", overflowWrap: "anywhere", visibility: "hidden" });
      return [side, button];
    }));
    const said = added(box, "p", "fault");
    said.setAttribute("role", "status");
    said.style.minHeight = "1.5em";
    const { hint, button } = presser(box, texts);
    let place = -1;
    let right = "";
    let before = 0;
    let mistaken = "";
    let ended = false;

    const show = (at) => {
      place += 1;
      if (place === words.length) return true;
      right = Math.random() < 0.5 ? "left" : "right";
      const wrong = right === "left" ? "right" : "left";
      sides[right].textContent = words[place];
      sides[wrong].textContent = foils[place];
      before = at;
      return false;
    };
    const begin = (at) => {
      show(at);
      Object.values(sides).forEach((each) => { each.style.visibility = "visible"; });
      button.hidden = true;
      hint.textContent = texts.key;
    };
    const end = () => {
      ended = true;
      pair.style.visibility = "hidden";
      Object.values(sides).forEach((each) => { each.style.visibility = "hidden"; });
      said.textContent = texts.wrong;
      button.hidden = false;
      hint.textContent = texts.next;
    };
    return (press, at) => {
      if (place < 0 || ended) {
        if (press !== "next") return false;
        if (!ended) begin(at);
        return ended;
      }
      if (press === "next") return false;
      const time = milliseconds(at - before);
      if (press === right) {
        times.push(mistaken ? mistaken + time : time + right[0]);
        mistaken = said.textContent = "";
        return show(at);
      }
      if (after_error === "stop") {
        times.push(`${time}${right[0]}!`);
        end();
      } else if (!mistaken) {
        mistaken = `${time}${right[0]}!`;
        said.textContent = texts.again;
      }
      return false;
    };
  }

  return readSentence;
})();
