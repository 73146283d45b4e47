// Guess, then look: what a lesson asks its readers is answered when they have guessed, or want to know. Without this script, on paper, and for
// those who chose to see all answers, everything is there at once.
(() => {
  "use strict";
  const cells = [...new Set([...document.querySelectorAll("main .guess")].map((g) => g.closest(".cell")))];
  if (!cells.length) return;
  const key = "lectern-guesses";
  let all = false;
  try { all = localStorage.getItem(key) === "shown"; } catch { /* remembered nowhere */ }
  // What a reader has guessed on this page stays in this browser: a value for each question, or null if the answer was just looked up.
  const own = key + ":" + location.pathname.split("/").pop().replace(/\.html$/, "");
  let given = {};
  const taken = (x) => (x && typeof x === "object" && !Array.isArray(x) ? x : {});
  try { given = taken(JSON.parse(localStorage.getItem(own))); } catch { /* as above */ }
  const remember = () => {
    try {
      if (Object.keys(given).length) localStorage.setItem(own, JSON.stringify(given));
      else localStorage.removeItem(own);
    } catch { /* as above */ }
    forget.hidden = !Object.keys(given).length;
  };

  const make = (tag, text, props = {}) => Object.assign(document.createElement(tag), { textContent: text }, props);
  const numbers = (text) => text.replace(/[[\](){}_]/g, "").split(/[\s,;x×]+/).filter(Boolean).map(Number);
  const fits = (kind, guess) => {
    if (kind === "number") return Number.isFinite(guess);
    if (kind === "choice" || kind === "text") return typeof guess === "string" && guess !== "";
    return Array.isArray(guess) && guess.length > 0 && guess.every(Number.isFinite);
  };
  const number = (text) => Number(text.trim().replace(/[\s,_]/g, "").replace("−", "-") || NaN);

  // offNumber and offShape say how far off a guess is, as package lesson does in a notebook.
  const offNumber = (guess, answer) => {
    const close = (a, b) => Math.abs(a - b) <= 0.005 * Math.abs(b);
    if (answer === 0 || guess === 0) return "";
    if (close(guess, -answer)) return "the size is right, the sign is not";
    if (guess < 0 !== answer < 0) return "even the sign is different";
    if (Number.isInteger(guess) && Number.isInteger(answer) && Math.abs(guess - answer) === 1) {
      return Math.abs(guess) > Math.abs(answer) ? "one too many" : "one too few";
    }
    const ratio = guess / answer;
    const [large, factor] = ratio < 1 ? ["small", 1 / ratio] : ["large", ratio];
    const decades = Math.round(Math.log10(factor));
    if (close(factor, 2)) return "a factor of 2 too " + large;
    if (close(factor, 8)) return "a factor of 8 too " + large + "; bits for bytes, perhaps";
    if (decades >= 1 && close(factor, 10 ** decades)) return "a factor of " + 10 ** decades + " too " + large + "; check the powers of ten";
    if (close(guess * answer, 1)) return "that is its reciprocal";
    const percent = 100 * Math.abs(ratio - 1);
    if ([1, 2, 3].some((n) => close(factor, 1.024 ** n))) return percent.toFixed(1) + " % too " + large + "; 1024 for 1000, perhaps";
    return factor >= 1.5 ? Number(factor.toPrecision(2)) + " times too " + large : Number(percent.toPrecision(2)) + " % too " + large;
  };
  const offShape = (guess, answer) => {
    const sorted = (l) => [...l].sort((a, b) => a - b).join();
    if (guess.length !== answer.length) return "you gave " + guess.length + (guess.length === 1 ? " axis" : " axes") + ", there are " + answer.length;
    if (sorted(guess) === sorted(answer)) return "the sizes are right, their order is not";
    const i = guess.findIndex((g, at) => g !== answer[at]);
    return "axis " + i + " has size " + answer[i] + ", not " + guess[i];
  };

  const every = []; // question
  const forget = make("button", "Forget my guesses", { type: "button", className: "tool" });
  for (const cell of cells) {
    // What is hidden: the cell's other outputs, and the cells below.
    const after = [...cell.querySelectorAll(".after")];
    if (cell.nextElementSibling?.matches(".after")) after.push(cell.nextElementSibling);
    const questions = [...cell.querySelectorAll(".guess")].map((box) => ({ box, q: JSON.parse(box.dataset.guess), answer: box.querySelector(".answer") }));
    every.push(...questions);
    const look = () => {
      const open = all || questions.every((x) => x.done);
      for (const a of after) { if (open) a.removeAttribute("hidden"); else a.setAttribute("hidden", "until-found"); }
    };
    const show = (x) => {
      x.answer.hidden = !(all || x.done);
      x.form.hidden = all || x.done === true;
    };
    const draw = () => { questions.forEach(show); look(); };
    const finish = (x, guess, said) => {
      given[x.name] = guess;
      remember();
      settle(x, said);
      x.answer.tabIndex = -1;
      x.answer.focus({ preventScroll: true });
    };
    const settle = (x, said) => {
      x.done = true;
      x.said.textContent = said;
      x.said.hidden = said === "";
      draw();
    };
    for (const x of questions) {
      const { q } = x;
      x.name = cell.id + " " + q.question;
      const near = (g, v) => Math.abs(g - v) <= Math.max(q.distance || 0, (q.share || 0) * Math.abs(v), 1e-9 * Math.abs(v));
      const same = (g, v) => Array.isArray(v) ? g.length === v.length && g.every((n, i) => near(n, v[i])) : typeof v === "number" ? near(g, v) : g === v;
      const verdict = (guess) => {
        const right = same(guess, q.answer);
        let off = "";
        if (!right && q.kind === "number") off = offNumber(guess, q.answer);
        if (!right && q.kind === "shape") off = offShape(guess, q.answer);
        if (!right && q.kind === "numbers" && guess.length !== q.answer.length) off = "you gave " + guess.length + ", there are " + q.answer.length;
        const mistakes = (q.mistakes || []).filter((m) => same(guess, typeof guess === "string" ? String(m.guess) : m.guess)).map((m) => m.why);
        x.box.classList.add(right ? "right" : "wrong");
        return [right ? "✓ Right." : "✗ You guessed " + (Array.isArray(guess) ? "[" + guess.join(" ") + "]" : guess) + (off ? ": " + off : "") + ".", ...mistakes].join(" ");
      };
      const tell = (guess) => finish(x, guess, verdict(guess));
      x.form = make("form", "", { className: "ask" });
      x.said = make("p", "", { className: "verdict", hidden: true });
      x.said.setAttribute("role", "status");
      if (q.kind === "choice") {
        for (const name of q.choices) {
          const b = make("button", name, { type: "button", className: "tool" });
          b.addEventListener("click", () => tell(name));
          x.form.append(b);
        }
      } else {
        const label = make("label", "Your guess ");
        const input = make("input", "", { type: "text", autocomplete: "off", spellcheck: false });
        if (q.kind === "number") input.inputMode = "decimal";
        if (q.kind === "shape") input.placeholder = "2, 3";
        label.append(input, q.unit ? " " + q.unit : "");
        const bad = make("span", "", { className: "bad" });
        bad.setAttribute("role", "alert");
        x.form.append(label, make("button", "Check", { type: "submit", className: "tool" }), bad);
        x.form.addEventListener("submit", (e) => {
          e.preventDefault();
          const list = numbers(input.value);
          const guess = q.kind === "number" ? number(input.value) : q.kind === "text" ? input.value.trim() : list;
          if (fits(q.kind, guess)) { bad.textContent = ""; tell(guess); return; }
          bad.textContent = q.kind === "number" ? "A number is wanted, such as 12.5 or 3e9." : q.kind === "text" ? "Write something." : "Numbers are wanted, such as 2, 3.";
          input.focus();
        });
      }
      const give = make("button", "Show the answer", { type: "button", className: "tool give" });
      give.addEventListener("click", () => finish(x, null, ""));
      x.form.append(give);
      x.answer.before(x.form, x.said);
      // restore has the page look as it did when the reader had guessed, or had not.
      x.restore = () => {
        x.box.classList.remove("right", "wrong");
        x.form.reset();
        const guess = given[x.name];
        if (guess === null) settle(x, "");
        else if (fits(q.kind, guess)) settle(x, verdict(guess));
        else {
          [x.done, x.said.hidden] = [false, true];
          draw();
        }
      };
    }
    const reveal = () => { questions.forEach((x) => { x.done = true; }); draw(); };
    after.forEach((a) => a.addEventListener("beforematch", reveal));
    const toTarget = () => {
      const at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (at && after.some((a) => a.contains(at) && a.hasAttribute("hidden"))) { reveal(); at.scrollIntoView(); }
    };
    addEventListener("hashchange", toTarget);
    cell.drawGuesses = draw;
    draw();
    questions.forEach((x) => x.restore());
    toTarget();
  }

  const bar = make("p", "This page asks before it tells. ", { className: "asks" });
  const button = make("button", "", { type: "button", className: "tool" });
  const drawAll = () => {
    button.textContent = all ? "Hide answers until I guess" : "Show all answers";
    cells.forEach((c) => c.drawGuesses());
  };
  button.addEventListener("click", () => {
    all = !all;
    try { localStorage.setItem(key, all ? "shown" : "asked"); } catch { /* for this page only */ }
    drawAll();
  });
  forget.addEventListener("click", () => {
    given = {};
    remember();
    every.forEach((x) => x.restore());
    button.focus(); // this one is gone
  });
  bar.append(button, " ", forget);
  remember();
  // For pages that save and load what a reader has made of them.
  window.lecternGuesses = {
    get given() { return given; },
    set given(guesses) {
      given = {};
      for (const x of every) if (taken(guesses)[x.name] === null || fits(x.q.kind, taken(guesses)[x.name])) given[x.name] = guesses[x.name];
      remember();
      every.forEach((x) => x.restore());
    },
  };
  (document.querySelector("main .cell") || cells[0]).after(bar);
  drawAll();
  let printed = false;
  addEventListener("beforeprint", () => { printed = all; all = true; drawAll(); });
  addEventListener("afterprint", () => { all = printed; drawAll(); });
})();
