// A question of a lesson, as pages and JupyterLab ask it. It is what lesson.Guess publishes: see package lesson.
const lecternAsk = (() => {
  "use strict";
  const say = lecternSay;
  const make = (tag, text, props = {}) => Object.assign(document.createElement(tag), { textContent: text }, props);
  // A Chinese keyboard writes １２，３ for 12,3.
  const narrow = (text) => text.replace(/[！-～]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0)).replaceAll("、", ",");
  const numbers = (text) => narrow(text).replace(/[[\](){}_]/g, "").replaceAll("−", "-").split(/[\s,;x×]+/).filter(Boolean).map(Number);
  // A comma separates thousands, and nothing else: readers who type 12,5 are asked for 12.5.
  const number = (text) => Number(narrow(text).trim().replace(/(?<=\d),(?=\d{3}(?!\d))/g, "").replace(/[\s_]/g, "").replace("−", "-") || NaN);

  // fits reports whether a guess is of a question's kind.
  const fits = (kind, guess) => {
    if (kind === "number") return Number.isFinite(guess);
    if (kind === "choice" || kind === "text") return typeof guess === "string" && guess !== "";
    return Array.isArray(guess) && guess.length > 0 && guess.every(kind === "shape" ? Number.isSafeInteger : Number.isFinite);
  };

  // offNumber and offShape say how far off a guess is, as package lesson does in a notebook.
  const offNumber = (guess, answer) => {
    const close = (a, b) => Math.abs(a - b) <= 0.005 * Math.abs(b);
    if (answer === 0 || guess === 0) return "";
    if (close(guess, -answer)) return say("the size is right, the sign is not");
    if (guess < 0 !== answer < 0) return say("even the sign is different");
    if (Number.isInteger(guess) && Number.isInteger(answer) && Math.abs(guess - answer) === 1) {
      return Math.abs(guess) > Math.abs(answer) ? say("one too many") : say("one too few");
    }
    const ratio = guess / answer;
    const small = ratio < 1, factor = small ? 1 / ratio : ratio;
    const decades = Math.round(Math.log10(factor));
    if (close(factor, 2)) return small ? say("a factor of 2 too small") : say("a factor of 2 too large");
    if (close(factor, 8)) return small ? say("a factor of 8 too small; bytes for bits, perhaps") : say("a factor of 8 too large; bits for bytes, perhaps");
    if (decades >= 1 && close(factor, 10 ** decades)) {
      const n = { n: 10 ** decades };
      return small ? say("a factor of {n} too small; check the powers of ten", n) : say("a factor of {n} too large; check the powers of ten", n);
    }
    if (close(guess * answer, 1)) return say("that is its reciprocal");
    const percent = 100 * Math.abs(ratio - 1);
    if ([1, 2, 3].some((n) => close(factor, 1.024 ** n))) {
      const n = { n: percent.toFixed(1) };
      return small ? say("{n} % too small; 1024 for 1000, perhaps", n) : say("{n} % too large; 1024 for 1000, perhaps", n);
    }
    const times = { n: Number(factor.toPrecision(2)) }, share = { n: Number(percent.toPrecision(2)) };
    if (factor >= 1.5) return small ? say("{n} times too small", times) : say("{n} times too large", times);
    return small ? say("{n} % too small", share) : say("{n} % too large", share);
  };
  const offShape = (guess, answer) => {
    const sorted = (l) => [...l].sort((a, b) => a - b).join();
    if (guess.length !== answer.length) {
      const n = { n: guess.length, all: answer.length };
      return guess.length === 1 ? say("you gave {n} axis, but there are {all}", n) : say("you gave {n} axes, but there are {all}", n);
    }
    if (sorted(guess) === sorted(answer)) return say("the sizes are right, their order is not");
    const i = guess.findIndex((g, at) => g !== answer[at]);
    return say("axis {i} has size {n}, not {guess}", { i, n: answer[i], guess: guess[i] });
  };

  // labelOf is what a choice is called in the reader's language.
  const labelOf = (q, name) => q.labels?.[q.choices.indexOf(name)] ?? name;

  // verdict says whether a guess that fits is right, and what may have gone wrong. It doesn't give the answer away,
  // unless there are only two choices.
  const verdict = (q, guess) => {
    const near = (g, v) => Math.abs(g - v) <= Math.max(q.distance || 0, (q.share || 0) * Math.abs(v), 1e-9 * Math.abs(v));
    const same = (g, v) => Array.isArray(v) ? g.length === v.length && g.every((n, i) => near(n, v[i])) : typeof v === "number" ? near(g, v) : g === v;
    const right = same(guess, q.answer);
    let off = "";
    if (!right && q.kind === "number") off = offNumber(guess, q.answer);
    if (!right && q.kind === "shape") off = offShape(guess, q.answer);
    if (!right && q.kind === "numbers" && guess.length !== q.answer.length) off = say("you gave {n}, but there are {all}", { n: guess.length, all: q.answer.length });
    const mistakes = (q.mistakes || []).filter((m) => same(guess, typeof guess === "string" ? String(m.guess) : m.guess)).map((m) => m.why);
    const guessed = Array.isArray(guess) ? "[" + guess.join(" ") + "]" : labelOf(q, guess);
    const said = right ? say("✓ Right.") : off ? say("✗ You guessed {guess}: {why}.", { guess: guessed, why: off }) : say("✗ You guessed {guess}.", { guess: guessed });
    return { right, again: !right && !(q.kind === "choice" && q.choices.length < 3), text: [said, ...mistakes].join(" ") };
  };

  // form makes the form of a question. tell is called with a guess that fits, give when the answer is asked for. Buttons are of the
  // given class.
  const form = (q, button, tell, give) => {
    const f = make("form", "", { className: "ask" });
    if (q.kind === "choice") {
      for (const name of q.choices) {
        const b = make("button", labelOf(q, name), { type: "button", className: button });
        b.addEventListener("click", () => tell(name));
        f.append(b);
      }
    } else {
      const label = make("label", say("Your guess") + " ");
      const input = make("input", "", { type: "text", autocomplete: "off", spellcheck: false });
      if (q.kind === "number") input.inputMode = "decimal";
      if (q.kind === "shape") input.placeholder = "2, 3";
      label.append(input, q.unit ? " " + q.unit : "");
      const bad = make("span", "", { className: "bad" });
      bad.setAttribute("role", "alert");
      f.append(label, make("button", say("Check"), { type: "submit", className: button }), bad);
      f.addEventListener("submit", (e) => {
        e.preventDefault();
        const guess = q.kind === "number" ? number(input.value) : q.kind === "text" ? input.value.trim() : numbers(input.value);
        input.focus();
        input.select();
        if (fits(q.kind, guess)) { bad.textContent = ""; tell(guess); return; }
        bad.textContent = q.kind === "number" ? say("Enter a number, such as 12.5 or 3e9.") : q.kind === "text" ? say("Write something.") : say("Enter numbers, such as 2, 3.");
      });
    }
    const b = make("button", say("Show the answer"), { type: "button", className: button + " give" });
    b.addEventListener("click", () => give());
    f.append(b);
    return f;
  };

  return { make, fits, verdict, form };
})();
