// Guess, then look: a lesson's questions are answered once readers have guessed, or want to know. Without this script,
// on paper, and for readers who chose to see all answers, everything is there at once.
(() => {
  "use strict";
  const say = lecternSay;
  const cells = [...new Set([...document.querySelectorAll("main .guess")].map((g) => g.closest(".cell")))];
  if (!cells.length) return;
  const key = "lectern-guesses";
  let all = false;
  try { all = localStorage.getItem(key) === "shown"; } catch { /* remembered nowhere */ }
  // What a reader has guessed on this page stays in this browser: a value for each question, or null if the answer was just looked up.
  const given = lecternStored(key + ":" + location.pathname.split("/").pop().replace(/\.html$/, ""));
  const remember = (name, guess) => {
    given.set(name, guess);
    drawForget();
  };

  const { make, fits, verdict, form } = lecternAsk;
  const every = []; // question
  const forget = make("button", say("Forget my guesses"), { type: "button", className: "tool" });
  const drawForget = () => { forget.hidden = !Object.keys(given.all).length; };
  const target = () => {
    try { return document.getElementById(decodeURIComponent(location.hash.slice(1))); } catch { return null; } // no address of this page
  };
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
      remember(x.name, guess);
      settle(x, said);
      x.answer.tabIndex = -1;
      x.answer.focus({ preventScroll: true });
    };
    const settle = (x, said) => {
      x.done = true;
      tellOf(x, said);
    };
    const tellOf = (x, said) => {
      x.said.textContent = said;
      x.said.hidden = said === "";
      draw();
    };
    const mark = (x, right) => {
      x.box.classList.toggle("right", right);
      x.box.classList.toggle("wrong", !right);
    };
    for (const x of questions) {
      const { q } = x;
      x.name = cell.id + " " + (q.key ?? q.question); // the same in every language
      // A wrong guess may be followed by another, until the reader wants to know.
      const tell = (guess) => {
        const { right, again, text } = verdict(q, guess);
        mark(x, right);
        if (!again) { finish(x, guess, text); return; }
        remember(x.name, guess);
        tellOf(x, text);
      };
      x.form = form(q, "tool", tell, () => finish(x, null, ""));
      x.said = make("p", "", { className: "verdict", hidden: true });
      x.said.setAttribute("role", "status");
      x.answer.before(x.form, x.said);
      // restore makes the page look as it did when the reader had guessed, or had not.
      x.restore = () => {
        x.box.classList.remove("right", "wrong");
        x.form.reset();
        const guess = given.all[x.name];
        x.done = false;
        if (guess === null) settle(x, "");
        else if (fits(q.kind, guess)) {
          const { right, again, text } = verdict(q, guess);
          mark(x, right);
          if (again) tellOf(x, text);
          else settle(x, text);
        } else tellOf(x, "");
      };
    }
    const reveal = () => { questions.forEach((x) => { x.done = true; }); draw(); };
    after.forEach((a) => a.addEventListener("beforematch", reveal));
    const toTarget = () => {
      const at = target();
      if (at && after.some((a) => a.contains(at) && a.hasAttribute("hidden"))) { reveal(); at.scrollIntoView(); }
    };
    addEventListener("hashchange", toTarget);
    cell.drawGuesses = draw;
    draw();
    questions.forEach((x) => x.restore());
    toTarget();
  }

  const bar = make("p", say("This page asks before it tells.") + " ", { className: "asks" });
  const button = make("button", "", { type: "button", className: "tool" });
  const drawAll = () => {
    button.textContent = all ? say("Hide answers until I guess") : say("Show all answers");
    cells.forEach((c) => c.drawGuesses());
  };
  button.addEventListener("click", () => {
    all = !all;
    try { localStorage.setItem(key, all ? "shown" : "asked"); } catch { /* for this page only */ }
    drawAll();
  });
  forget.addEventListener("click", () => {
    given.clear();
    drawForget();
    every.forEach((x) => x.restore());
    button.focus(); // this one is gone
  });
  bar.append(button, " ", forget);
  drawForget();
  // For pages that save and load a reader's version of them.
  const suits = (x, guess) => guess === null || fits(x.q.kind, guess);
  window.lecternGuesses = {
    get given() { return given.all; },
    set given(guesses) {
      this.put(Object.fromEntries(every.map((x) => [x.name, guesses?.[x.name]])));
    },
    // news are those of some guesses that suit their questions and are not here already.
    news(guesses) {
      const other = (x) => JSON.stringify(guesses?.[x.name]) !== JSON.stringify(given.all[x.name]);
      const list = every.filter((x) => suits(x, guesses?.[x.name]) && other(x));
      return Object.fromEntries(list.map((x) => [x.name, guesses[x.name]]));
    },
    // put gives questions other guesses, and takes away those that are undefined. Other questions keep theirs.
    put(guesses) {
      for (const x of every.filter((x) => x.name in guesses)) {
        const guess = guesses[x.name];
        remember(x.name, suits(x, guess) ? guess : undefined);
        x.restore();
      }
    },
  };
  (document.querySelector("main .cell") || cells[0]).after(bar);
  drawAll();
  let printed = false;
  addEventListener("beforeprint", () => { printed = all; all = true; drawAll(); });
  addEventListener("afterprint", () => { all = printed; drawAll(); });
})();
