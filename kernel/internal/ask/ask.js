// A question of a lesson, as pages and JupyterLab ask it. It is what lesson.Guess publishes: see package lesson.
const lecternAsk = (() => {
  "use strict";
  const make = (tag, text, props = {}) => Object.assign(document.createElement(tag), { textContent: text }, props);
  const numbers = (text) => text.replace(/[[\](){}_]/g, "").replaceAll("−", "-").split(/[\s,;x×]+/).filter(Boolean).map(Number);
  // A comma separates thousands, and nothing else: who types 12,5 is asked for 12.5.
  const number = (text) => Number(text.trim().replace(/(?<=\d),(?=\d{3}(?!\d))/g, "").replace(/[\s_]/g, "").replace("−", "-") || NaN);

  // fits reports whether a guess is of a question's kind.
  const fits = (kind, guess) => {
    if (kind === "number") return Number.isFinite(guess);
    if (kind === "choice" || kind === "text") return typeof guess === "string" && guess !== "";
    return Array.isArray(guess) && guess.length > 0 && guess.every(Number.isFinite);
  };

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

  // verdict says whether a guess that fits is right, and what may have gone wrong. The answer is not in it, except where it tells which
  // of two is right.
  const verdict = (q, guess) => {
    const near = (g, v) => Math.abs(g - v) <= Math.max(q.distance || 0, (q.share || 0) * Math.abs(v), 1e-9 * Math.abs(v));
    const same = (g, v) => Array.isArray(v) ? g.length === v.length && g.every((n, i) => near(n, v[i])) : typeof v === "number" ? near(g, v) : g === v;
    const right = same(guess, q.answer);
    let off = "";
    if (!right && q.kind === "number") off = offNumber(guess, q.answer);
    if (!right && q.kind === "shape") off = offShape(guess, q.answer);
    if (!right && q.kind === "numbers" && guess.length !== q.answer.length) off = "you gave " + guess.length + ", there are " + q.answer.length;
    const mistakes = (q.mistakes || []).filter((m) => same(guess, typeof guess === "string" ? String(m.guess) : m.guess)).map((m) => m.why);
    const said = right ? "✓ Right." : "✗ You guessed " + (Array.isArray(guess) ? "[" + guess.join(" ") + "]" : guess) + (off ? ": " + off : "") + ".";
    return { right, again: !right && !(q.kind === "choice" && q.choices.length < 3), text: [said, ...mistakes].join(" ") };
  };

  // form makes the form of a question. tell is called with a guess that fits, give when the answer is asked for. Buttons are of the
  // given class.
  const form = (q, button, tell, give) => {
    const f = make("form", "", { className: "ask" });
    if (q.kind === "choice") {
      for (const name of q.choices) {
        const b = make("button", name, { type: "button", className: button });
        b.addEventListener("click", () => tell(name));
        f.append(b);
      }
    } else {
      const label = make("label", "Your guess ");
      const input = make("input", "", { type: "text", autocomplete: "off", spellcheck: false });
      if (q.kind === "number") input.inputMode = "decimal";
      if (q.kind === "shape") input.placeholder = "2, 3";
      label.append(input, q.unit ? " " + q.unit : "");
      const bad = make("span", "", { className: "bad" });
      bad.setAttribute("role", "alert");
      f.append(label, make("button", "Check", { type: "submit", className: button }), bad);
      f.addEventListener("submit", (e) => {
        e.preventDefault();
        const guess = q.kind === "number" ? number(input.value) : q.kind === "text" ? input.value.trim() : numbers(input.value);
        input.focus();
        input.select();
        if (fits(q.kind, guess)) { bad.textContent = ""; tell(guess); return; }
        bad.textContent = q.kind === "number" ? "Give a number, such as 12.5 or 3e9." : q.kind === "text" ? "Write something." : "Give numbers, such as 2, 3.";
      });
    }
    const b = make("button", "Show the answer", { type: "button", className: button + " give" });
    b.addEventListener("click", () => give());
    f.append(b);
    return f;
  };

  return { make, fits, verdict, form };
})();
