// The stepper: it goes through the record of a cell and marks the lines of the code that is already shown.
// lecternSteps(record, code, place, { close, moved, offset, name, editor }) returns { open, close }. record is what
// Record in steps.go describes; code is the element with the text; the panel is put at the end of place. With close, a
// function, the reader can leave; moved is told the step, counted from 1, to which the reader has gone; ended is called
// where no step follows. offset is how many lines of the cell come before the code. source has addresses where
// "tensor.Of", ".Matmul" and "op matmul" can be looked up. With editor, whoever answers an event marks the lines, where
// the text is shown already, and code is for when nobody does.
var lecternSteps = (record, code, place, options) => {
  "use strict";
  const say = lecternSay;
  options = options || {};
  const make = (tag, attributes = {}, ...inside) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v === true) e.setAttribute(k, "");
      else if (v !== false && v !== null && v !== undefined) e.setAttribute(k, v);
    }
    e.append(...inside.filter((x) => x !== null));
    return e;
  };
  const steps = record.steps, loops = record.loops || [], offset = options.offset || 0, source = options.source || {};
  const stops = []; // what readers step through: the indices of all steps except the ends of functions
  steps.forEach((s, i) => { if (s.k !== "leave") stops.push(i); });
  if (!stops.length) return null;
  // What a record says itself is English, with at most one number.
  const sayLater = (text) => text;
  const recorded = new Set([
    sayLater("its input"), sayLater("its left operand"), sayLater("its right operand"), sayLater("its input {n}"), sayLater("its result"), sayLater("its mask"), sayLater("its targets"),
    sayLater("the logarithms of its sums"), sayLater("value {n} of those that it saved"),
    sayLater("the first {n} steps"), sayLater("the first {n} steps, since recording took longer than the cell"), sayLater("the first {n} steps, since their values are long"),
    sayLater("From line {n} on, operations are not counted: the line runs so many small ones that counting would take longer than they do."),
  ]);
  const recordSays = (text) => {
    const [n] = text.match(/\d+/) || [], form = n ? text.replace(n, "{n}") : text;
    return recorded.has(form) ? say(form, { n }) : text;
  };
  const words = (n) => n.toLocaleString("en");
  const scaled = (n, units) => {
    let i = 0;
    while (n >= 1000 && i < units.length - 1) { n /= 1000; i++; }
    return (i && n < 100 ? n.toFixed(1).replace(/\.0$/, "") : words(Math.round(n))) + " " + units[i];
  };
  const bytes = (n) => { // as internal/humanize writes them
    const units = [say("bytes"), "KiB", "MiB", "GiB", "TiB"];
    if (n === 1) return say("1 byte");
    let i = 0;
    while (i < units.length - 1 && (n >= 10240 || n && n % 1024 === 0)) { n /= 1024; i++; }
    return (Number.isInteger(n) ? words(n) : n.toFixed(1)) + " " + units[i];
  };
  const flops = (n) => (n === 1 ? "1 FLOP" : scaled(n, ["FLOPs", "kFLOPs", "MFLOPs", "GFLOPs", "TFLOPs"]));
  const time = (ns) => (ns < 1e3 ? ns + " ns" : ns < 1e6 ? (ns / 1e3).toFixed(1) + " µs" : ns < 1e9 ? (ns / 1e6).toFixed(1) + " ms" : (ns / 1e9).toFixed(2) + " s");
  const shape = (list) => "[" + list.split(",").join(" ") + "]";

  // One pass finds for each step which iterations of which loops it is in, how deep the calls are, and what was spent.
  const turns = [], depths = [], spent = [], lengths = [];
  let most = 0, inFunction = false;
  {
    const goroutines = new Map(), sum = [0, 0];
    steps.forEach((s, i) => {
      const g = s.g || 0;
      if (!goroutines.has(g)) goroutines.set(g, [new Map()]);
      const frames = goroutines.get(g);
      if (s.k === "enter") { frames.push(new Map()); inFunction = true; }
      const active = frames[Math.min(s.d || 0, frames.length - 1)];
      const around = [];
      for (let l = s.i || 0; l; l = loops[l - 1].Parent) around.unshift(l);
      for (const l of [...active.keys()]) if (!around.includes(l)) active.delete(l);
      if (s.h) {
        const turn = active.get(s.i) || { line: loops[s.i - 1].Line, run: lengths.push(0) - 1, k: 0 };
        const next = { ...turn, k: turn.k + 1, at: i };
        active.set(s.i, next);
        lengths[next.run] = next.k;
      }
      turns.push(around.map((l) => active.get(l)).filter(Boolean));
      depths.push(s.k === "leave" ? frames.length : (s.d || 0) + 1);
      if (s.k === "leave" && frames.length > 1) frames.pop();
      const c = s.c || [0, 0, 0, 0];
      sum[0] += c[0]; sum[1] += c[1];
      if (c[2] > most) most = c[2];
      spent.push([...sum]);
    });
  }
  const totals = spent[spent.length - 1];
  const priced = totals[0] > 0 || totals[1] > 0 || most > 0;

  // Blocks: what one declares ends with it, and hides what blocks around it call the same.
  const inside = (block, other) => {
    while (block !== other && block > 0) block = record.scopes[block - 1];
    return block === other;
  };
  const visible = (frame) => [...frame.vars.values()].filter((v) => ![...frame.vars.values()].some((o) => o !== v && o.n === v.n && inside(o.c || 0, v.c || 0)));

  // state is what there is after a step.
  const state = (last) => {
    const cell = { name: "", vars: new Map() }, goroutines = new Map();
    const lines = new Map();
    let out = "", live = 0, held = [];
    for (let i = 0; i <= last; i++) {
      const s = steps[i], g = s.g || 0;
      out += s.o || "";
      if (!goroutines.has(g)) goroutines.set(g, [cell]);
      const frames = goroutines.get(g);
      if (s.k === "leave") { if (frames.length > 1) frames.pop(); continue; }
      if (s.k === "enter") frames.push({ name: s.f, vars: new Map() });
      const here = frames[Math.min(s.d || 0, frames.length - 1)];
      if (s.k !== "begin") for (const [key, v] of here.vars) if (!inside(s.s || 0, v.c || 0)) here.vars.delete(key);
      for (const v of s.v || []) {
        const frame = frames[Math.min(v.d || 0, frames.length - 1)];
        frame.vars.set((v.c || 0) + " " + v.n, { ...v, changed: i === last });
      }
      if (s.m) held = s.m;
      if (s.c) {
        if (s.k !== "backward") live = s.c[2];
        const sum = lines.get(s.l) || [0, 0, 0];
        sum[0] += s.c[0]; sum[1] += s.c[1]; sum[2] += s.c[3];
        lines.set(s.l, sum);
      }
    }
    return { frames: goroutines.get(steps[last].g || 0), out, live, held, lines };
  };

  // The code's lines, each an element; spans that go over several lines are cut.
  const original = code.innerHTML, text = code.textContent, reached = new Set(stops.map((i) => steps[i].l).filter(Boolean));
  let lines = [];
  const split = () => {
    lines = [];
    let line = null, open = [];
    const into = document.createDocumentFragment();
    const begin = () => {
      line = make("span", { class: "step-line" });
      into.append(line);
      lines.push(line);
      let at = line;
      open = open.map((e) => { const c = e.cloneNode(false); at.append(c); at = c; return c; });
    };
    const add = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        node.data.split(/(?<=\n)/).forEach((text) => {
          if (!line) begin();
          const ends = text.endsWith("\n");
          (open[open.length - 1] || line).append(ends ? text.slice(0, -1) : text);
          if (ends) { // it is there for readers who copy the code; the line itself ends without it
            line.append(make("span", { class: "step-end" }, "\n"));
            line = null;
          }
        });
        return;
      }
      if (!line) begin();
      const copy = node.cloneNode(false);
      (open[open.length - 1] || line).append(copy);
      open.push(copy);
      node.childNodes.forEach(add);
      open.pop();
    };
    [...code.childNodes].forEach(add);
    code.replaceChildren(into);
    code.classList.add("stepped");
    lines.forEach((e, i) => {
      const n = i + 1 + offset;
      if (!reached.has(n)) return;
      e.classList.add("reached");
      e.addEventListener("click", (event) => { if (String(getSelection()) === "" && !event.target.closest("a")) go(nextOn(n)); });
    });
    lines.forEach(linked);
  };
  // linked turns the functions on a line whose source is known into links.
  const linked = (line) => {
    for (const m of line.textContent.matchAll(/(\b[a-z][a-z0-9]*)?\.([A-Z][A-Za-z0-9]*)/g)) {
      const to = source[(m[1] || "") + "." + m[2]] || source["." + m[2]];
      let from = m.index + m[0].length - m[2].length;
      if (!to) continue;
      const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        if (from >= node.data.length) { from -= node.data.length; continue; }
        if (from + m[2].length <= node.data.length) {
          const name = node.splitText(from);
          name.splitText(m[2].length);
          const link = make("a", { class: "step-source", href: to, title: say("The source of {name}", { name: m[2] }) });
          name.replaceWith(link);
          link.append(name);
        }
        break;
      }
    }
  };
  // mark shows for each line that runs whether the step is there, and what the line has cost so far.
  const mark = (marks) => {
    const box = code.closest("pre");
    if (options.editor) {
      const detail = { text, marks, go: (n) => go(nextOn(n)), lost: () => go(at, true), panel };
      box.hidden = !place.dispatchEvent(new CustomEvent("lectern-lines", { bubbles: true, cancelable: true, detail }));
      if (box.hidden) return;
    }
    if (!lines.length) split();
    for (const { line, now, cost } of marks) {
      const e = lines[line - 1 - offset];
      if (!e) continue;
      e.classList.toggle("now", now);
      if (now) e.setAttribute("aria-current", "step"); else e.removeAttribute("aria-current");
      if (cost) e.dataset.cost = cost; else delete e.dataset.cost;
      const top = e.offsetTop - box.offsetTop;
      if (now && box.scrollHeight > box.clientHeight + 2 && (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40)) box.scrollTop = top - box.clientHeight / 2;
    }
  };
  // nextOn is the next stop on a line, or the first.
  const nextOn = (n) => {
    for (let k = 1; k <= stops.length; k++) {
      const to = (at + k) % stops.length;
      if (steps[stops[to]].l === n) return to;
    }
    return at;
  };

  const button = (text, label, act, more = {}) => make("button", { type: "button", class: "tool", "aria-label": label, title: label, onclick: act, ...more }, text);
  let at = 0, timer = 0;
  const over = (way) => { // the next stop that is not in a deeper call
    const depth = depths[stops[at]], g = steps[stops[at]].g || 0;
    let to = at + way;
    while (to > 0 && to < stops.length - 1 && (depths[stops[to]] > depth || (steps[stops[to]].g || 0) !== g)) to += way;
    return to;
  };
  const out = () => { // the next stop after this call
    const depth = depths[stops[at]], g = steps[stops[at]].g || 0;
    let to = at + 1;
    while (to < stops.length - 1 && (depths[stops[to]] >= depth || (steps[stops[to]].g || 0) !== g)) to++;
    return to;
  };
  const turn = (way) => { // the same loop, one iteration forward or back
    const now = turns[stops[at]].slice(-1)[0];
    if (!now) return at;
    for (let to = at + way; to >= 0 && to < stops.length; to += way) {
      const s = steps[stops[to]];
      if (s.h && turns[stops[to]].some((t) => t.run === now.run && t.at === stops[to] && t.k === now.k + way)) return to;
    }
    return at;
  };
  const first = button("|◀", say("First step"), () => go(0)), back = button("◀ " + say("Back"), say("One step back"), () => go(at - 1));
  const next = button(say("Step on") + " ▶", say("One step on"), () => go(at + 1)), last = button("▶|", say("Last step"), () => go(stops.length - 1));
  const skip = button(say("Over"), say("Step on, past function calls"), () => go(over(1)), { hidden: !inFunction }), leave = button(say("Out"), say("Step out of this call"), () => go(out()), { hidden: !inFunction });
  const play = button(say("Play"), say("Play the steps"), () => (timer ? stop() : start()), { "aria-pressed": "false" });
  const speed = make("select", { "aria-label": say("Speed") }, ...["1", "2", "5", "20"].map((v) => make("option", { value: v, selected: v === "2" }, v === "1" ? say("1 step a second") : say("{n} steps a second", { n: v }))));
  const slider = make("input", { type: "range", min: 0, max: stops.length - 1, value: 0, "aria-label": say("Step"), oninput: () => go(+slider.value) });
  const where = make("span", { class: "step-where" });
  const loop = make("div", { class: "step-loop", hidden: !loops.length }); // it keeps its place outside loops
  const bars = make("dl", { class: "step-bars", hidden: !priced });
  const consists = make("div", { class: "step-consists" });
  const parts = make("details", { class: "step-parts", hidden: !priced }, make("summary", {}, say("What these consist of")), consists);
  const did = make("div", { class: "step-did", hidden: !priced });
  const vars = make("div", { class: "step-vars" });
  const strips = make("div", { class: "step-strips" });
  const printed = make("pre", { class: "step-out", hidden: true, "aria-label": say("Printed so far") });
  const said = make("span", { class: "step-said", role: "status" });
  const shut = options.close ? button(say("Close"), say("Close the stepper"), () => options.close()) : null;
  const panel = make("div", { class: "steps", role: "group", tabindex: "-1", "data-lm-suppress-shortcuts": "true", "aria-label": options.name || say("The cell step by step") },
    make("div", { class: "step-tools" }, first, back, next, last, skip, leave, play, speed, shut),
    make("div", { class: "step-slide" }, slider, where), loop, bars, parts, did, vars, strips, printed,
    record.note ? make("p", { class: "step-note" }, recordSays(record.note)) : null,
    record.cut ? make("p", { class: "step-note" }, say("Recorded: {what}.", { what: recordSays(record.cut) })) : null,
    make("p", { class: "step-note step-keys" }, say("Arrow keys step") + (inFunction ? say(" (down goes past calls, O out of them)") : "") + (loops.length ? say(", Page Up and Down change the iteration") : "") + say(", P plays. A click on a line goes to its next step.")), said);
  const stop = () => { if (timer) options.moved?.(at + 1); clearTimeout(timer); timer = 0; play.textContent = say("Play"); play.setAttribute("aria-label", say("Play the steps")); play.setAttribute("aria-pressed", "false"); };
  const start = () => {
    play.textContent = say("Stop");
    play.setAttribute("aria-label", say("Stop playing"));
    play.setAttribute("aria-pressed", "true");
    if (at === stops.length - 1) go(0, true);
    const tick = () => {
      timer = setTimeout(() => { go(at + 1, true); if (at < stops.length - 1) tick(); else stop(); }, 1000 / +speed.value);
    };
    tick();
  };

  // What a tensor's facts are: see steps.go.
  const factsOf = (v) => {
    if (!v.x) return null;
    const [dtype, size, strides, start, memory, held, grad] = v.x.split(";");
    const numbers = (s) => (s === "" ? [] : s.split(",").map(Number));
    return { dtype, shape: numbers(size), strides: numbers(strides), start: +start, memory: +memory, held: +held, grad: grad === "grad", size, strideText: strides };
  };
  // places are the elements of its memory that a tensor shows, each with its index; null if there are many.
  const places = (f) => {
    let all = [[f.start, []]];
    for (let axis = 0; axis < f.shape.length; axis++) {
      if (all.length * f.shape[axis] > 96) return null;
      all = all.flatMap(([p, index]) => Array.from({ length: f.shape[axis] }, (_, i) => [p + i * f.strides[axis], [...index, i]]));
    }
    return all;
  };
  const plainly = (f) => { // it shows all of its memory, in order
    let stride = 1;
    for (let axis = f.shape.length - 1; axis >= 0; axis--) {
      if (f.shape[axis] !== 1 && f.strides[axis] !== stride) return false;
      stride *= f.shape[axis];
    }
    return f.start === 0;
  };
  const drawStrips = (shown) => {
    strips.replaceChildren();
    const memories = new Map();
    for (const { v, f } of shown) if (f && v.s) memories.set(f.memory, [...(memories.get(f.memory) || []), { v, f }]);
    for (const [memory, all] of memories) {
      const strip = all[0].v.s.split("\t");
      if (all.length < 2 && plainly(all[0].f)) continue;
      const names = all.map((x) => x.v.n);
      const held = { memory, bytes: bytes(all[0].f.held), name: names[0], names: names.slice(0, -1).join(", "), last: names[names.length - 1] };
      const about = names.length > 1 ? say("Memory {memory}, {bytes}: {names} and {last} are views of it", held) : say("Memory {memory}, {bytes}: {name} is a view of it", held);
      const table = make("table", {});
      const head = table.insertRow();
      head.append(make("th", { scope: "row" }, say("elements")));
      strip.forEach((text, i) => head.append(make("td", { title: say("element {i}", { i }) }, text)));
      for (const { v, f } of all) {
        const row = table.insertRow(), at = new Map();
        row.append(make("th", { scope: "row" }, v.n));
        const list = places(f);
        if (!list || v.s.split("\t").length !== strip.length) { row.append(make("td", { colspan: strip.length }, say("too many to draw"))); continue; }
        for (const [p, index] of list) at.set(p, at.has(p) ? at.get(p) + " …" : "[" + index.join(" ") + "]");
        strip.forEach((_, i) => row.append(make("td", at.has(i) ? { class: "on" } : {}, at.get(i) || "")));
      }
      strips.append(make("p", {}, about), make("div", { class: "step-strip", tabindex: "0", role: "group", "aria-label": about }, table));
    }
  };
  const describe = (v, f, shown) => {
    const box = make("td", {}, make("span", { class: "step-value" }, v.t));
    if (f) {
      const shared = shown.filter((o) => o.f && o.f.memory === f.memory && o.v !== v).map((o) => o.v.n);
      const facts = [[say("shape"), shape(f.size)], [null, f.dtype], [say("strides"), shape(f.strideText)]];
      if (f.start) facts.push([say("offset"), f.start]);
      facts.push([say("memory"), f.memory + ", " + bytes(f.held) + (shared.length ? say(", shared with {names}", { names: [...new Set(shared)].join(", ") }) : "")]);
      if (f.grad) facts.push([null, say("requires grad")]);
      box.append(make("span", { class: "step-facts" }, facts.map(([k, t]) => (k ? k + " " : "") + t).join(" · ")));
    }
    if (v.r) box.append(make("span", { class: "step-facts" }, say("gradient {values}", { values: v.r })));
    return box;
  };
  const drawVars = (frames) => {
    vars.replaceChildren();
    const shown = [];
    for (const f of frames) for (const v of visible(f)) shown.push({ v, f: factsOf(v) });
    for (let k = frames.length - 1; k >= 0; k--) {
      if (!frames[k].vars.size) continue;
      const table = make("table", {}, make("caption", {}, k ? say("in {name}", { name: frames[k].name }) : say("Variables")));
      for (const v of visible(frames[k])) {
        const row = table.insertRow();
        const head = make("th", { scope: "row" }, v.n === "return" ? say("returns") : v.n.replace("return.", say("result") + " ").replace("panic.", "panic"));
        if (v.changed) {
          row.className = "changed";
          head.append(make("span", { class: "step-hidden" }, say(" (changed)")));
        }
        row.append(head, describe(v, factsOf(v), shown));
      }
      vars.append(table);
    }
    drawStrips(shown);
  };
  const exact = (n) => (n === 1 ? say("1 byte") : say("{n} bytes", { n: words(n) }));
  const shapesOf = (text) => [...text.matchAll(/\[([^\]]*)\]/g)].map(([, list]) => (list === "" ? [] : list.split(" ").map(Number)));
  const count = (dims) => dims.reduce((n, d) => n * d, 1);
  const sizes = { float64: 8, int64: 8, float32: 4, bfloat16: 2, float16: 2, bool: 1 };
  // countedFrom says how FLOPs follow from shapes: a few for each element of the result or of an input, and some for each row.
  const countedFrom = (name, f, inputs, out) => {
    const product = name.startsWith("matmul") && inputs[0]?.length ? inputs[0].at(-1) : 0;
    const n = count(out), m = inputs.length ? count(inputs[0]) : 0, rows = out.length ? n / out.at(-1) : 0;
    if (product && f === 2 * n * product) return say("2 · {n} · {k}: a product and a sum for each of {n} elements and each of {k} pairs", { n: words(n), k: words(product) });
    const result = (k) => (n === 1 ? say("{k} for the one element of the result", { k: words(k) }) : say("{k} for each of {n} elements of the result", { k: words(k), n: words(n) }));
    const input = (k) => say("{k} for each of {n} elements of the first input", { k: words(k), n: words(m) });
    const both = (one, other) => say("{one} and {other}", { one, other });
    if (n && f % n === 0) return result(f / n);
    if (m && f % m === 0) return input(f / m);
    for (let k = Math.floor(f / Math.max(n, m)); k > 0 && m; k--) {
      if (n && (f - k * m) % n === 0) return both(input(k), result((f - k * m) / n));
      if (rows && (f - k * n) % rows === 0) return both(result(k), say("{k} for each of {n} rows", { k: words((f - k * n) / rows), n: words(rows) }));
    }
    return "";
  };
  // partsOf is what the bytes and FLOPs of an operation consist of, a line for each.
  const partsOf = (name, into, result, f, b, list) => {
    const inputs = shapesOf(into), out = shapesOf(result)[0] || [], lines = [];
    list.split(";").filter(Boolean).forEach((text, i) => {
      const [kind, moved, dtype] = text.split(" "), dims = inputs[i] || [], which = inputs.length > 1 ? say("input {n}", { n: i + 1 }) : say("the input");
      const tensor = (dims) => say("[{shape}] of {dtype}", { shape: dims.join(" "), dtype });
      const repeated = kind === "read" && sizes[dtype] && +moved < sizes[dtype] * count(dims);
      lines.push({
        read: () => say("{input}, {tensor}: reads {bytes}", { input: which, tensor: tensor(dims), bytes: exact(+moved) }) + (repeated ? say(", since its {n} elements repeat {distinct}", { n: words(count(dims)), distinct: words(+moved / sizes[dtype]) }) : ""),
        over: () => say("{input}, {tensor}: is overwritten, and not read", { input: which, tensor: tensor(dims) }),
        number: () => say("{input}: a Go number, which is part of the code and takes no memory", { input: which }),
        some: () => say("the inputs: reads {bytes}, only what is picked from each, and 8 bytes for each position", { bytes: exact(+moved) }),
        write: () => say("the result, {tensor}: writes {bytes}", { tensor: tensor(out), bytes: exact(+moved) }),
      }[kind]?.() ?? text);
    });
    if (!lines.length && !+b) lines.push(say("a view of the same memory: nothing is read or written"));
    const counted = +f ? countedFrom(name.split(" · ")[0], +f, inputs, out) : "";
    if (counted) lines.unshift(`${flops(+f)}: ${counted}`);
    return lines;
  };
  let unfolded = false; // operations stay unfolded from step to step
  const opLine = (text) => {
    const [name, into, result, f, b, list, ns] = text.split("\t");
    if (result === undefined) return make("li", {}, name);
    const costs = [+f ? flops(+f) : null, +b ? bytes(+b) : say("moves nothing"), +ns ? time(+ns) : null].filter(Boolean).join(", ");
    const inside = partsOf(name, into, result, f, b, list || "").map((line) => make("span", { class: "step-facts" }, line));
    const fold = make("details", { class: "step-parts", open: unfolded }, make("summary", {}, costs), ...inside);
    fold.addEventListener("toggle", () => { unfolded = fold.open; });
    const at = source["op " + name.split(" · ")[0]];
    return make("li", {}, make("b", {}, at ? make("a", { href: at, title: say("What the library says about this operation") }, name) : name), " ", (into ? into + " → " : "→ ") + result, fold);
  };
  // drawParts says what the totals consist of: FLOPs and moved bytes by line, held bytes by variable.
  const drawParts = (now) => {
    const table = (caption, rows) => make("table", {}, make("caption", {}, caption), ...rows.map(([head, text]) => make("tr", {}, make("th", { scope: "row" }, head), make("td", {}, text))));
    const spentBy = [...now.lines].filter(([, [f, b]]) => f || b).sort(([a], [b]) => a - b).map(([line, [f, b]]) => [say("line {line}", { line: line - offset }), [f ? flops(f) : "", b ? exact(b) : ""].filter(Boolean).join(", ")]);
    const heldBy = (now.live ? now.held : []).map((text) => {
      const [b, name, why, n] = text.split("\t");
      const [, op, saved] = why.match(/^saved by (.*?): (.*)$/) || [];
      const what = why === "" ? say("its elements") : why === "gradient" ? (+n > 1 ? say("gradients") : say("a gradient")) : op ? say("saved by {op} for Backward: {what}", { op, what: recordSays(saved) }) : say("others");
      return [name || "…", exact(+b) + ": " + what + (+n > 1 ? say(", {n} tensors", { n: words(+n) }) : "")];
    });
    consists.replaceChildren(spentBy.length ? table(say("Spent so far"), spentBy) : "", heldBy.length ? table(say("Held, counting each memory once"), heldBy) : "");
  };

  const go = (to, playing) => {
    if (!playing && timer) stop();
    at = Math.max(0, Math.min(stops.length - 1, to));
    const i = stops[at], s = steps[i], now = state(i);
    let here = ""; // what the line has cost so far
    mark([...reached].map((line) => {
      const [f, b, ns] = now.lines.get(line) || [0, 0, 0];
      const cost = [f ? flops(f) : "", b ? bytes(b) : "", (f || b) && ns ? time(ns) : ""].filter(Boolean).join(" · ");
      if (line === s.l) here = cost;
      return { line, now: line === s.l, cost };
    }));
    const place = s.k === "begin" ? say("before the cell") : say("line {n}", { n: s.l - offset }) + (s.k === "enter" ? say(", call of {name}", { name: s.f }) : s.k === "return" ? ", return" : s.k === "backward" ? ", Backward" : s.k === "panic" ? say(", where it panics") : "") + (s.g ? ", goroutine " + s.g : "");
    where.textContent = say("Step {n} of {all}: {place}", { n: words(at + 1), all: words(stops.length), place });
    slider.value = at;
    slider.setAttribute("aria-valuetext", where.textContent);
    for (const b of [first, back]) b.disabled = at === 0;
    for (const b of [next, last, skip, leave]) b.disabled = at === stops.length - 1;
    loop.replaceChildren();
    const inner = turns[i];
    if (inner.length) {
      const t = inner[inner.length - 1];
      loop.append(button("‹", say("Iteration before"), () => go(turn(-1)), { disabled: t.k === 1 }), make("span", {}, inner.map((t) => say("line {line}: iteration {n} of {all}", { line: t.line - offset, n: words(t.k), all: words(lengths[t.run]) })).join(" › ")), button("›", say("Next iteration"), () => go(turn(1)), { disabled: t.k === lengths[t.run] }));
    }
    if (priced) {
      const bar = (name, value, full, text) => make("div", {}, make("dt", {}, name), make("dd", {}, make("span", { class: "step-bar", style: `--part:${full ? (100 * value) / full : 0}%`, "aria-hidden": "true" }), text));
      bars.replaceChildren(bar("FLOPs", spent[i][0], totals[0], flops(spent[i][0])), bar(say("Moved"), spent[i][1], totals[1], bytes(spent[i][1])), bar(say("Held by variables"), now.live, most, bytes(now.live)));
      drawParts(now);
    }
    const ops = (s.p || []).map(opLine);
    if (priced) {
      const ran = s.k === "backward" ? say("Backward, one operation:") : ops.length ? say("This line ran:") : say("This line ran no operation.");
      did.replaceChildren(make("p", {}, ran, here ? make("span", { class: "step-sofar" }, say("so far {costs}", { costs: here })) : null), ops.length ? make("ul", ops.length > 2 ? { tabindex: "0", "aria-label": say("Operations of this line") } : {}, ...ops) : "");
    }
    drawVars(now.frames);
    printed.hidden = !now.out;
    printed.textContent = now.out;
    printed.scrollTop = printed.scrollHeight;
    const changed = (s.v || []).slice(0, 3).map((v) => say("{name} is {value}", { name: v.n, value: v.t.slice(0, 80) })).join("; ");
    if (!playing) options.moved?.(at + 1);
    said.textContent = playing ? "" : where.textContent + (s.k === "backward" && s.p ? ": " + s.p[0].split("\t")[0] : "") + (changed ? ". " + changed : "");
  };
  panel.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = {
      ArrowRight: () => (at === stops.length - 1 && options.ended ? options.ended() : go(at + 1)), ArrowLeft: () => go(at - 1), ArrowDown: () => go(over(1)), ArrowUp: () => go(over(-1)),
      Home: () => go(0), End: () => go(stops.length - 1), PageDown: () => go(turn(1)), PageUp: () => go(turn(-1)), o: () => go(out()), p: () => play.click(), Escape: options.close,
    }[e.key];
    if (!act || (e.target === speed && e.key !== "Escape")) return;
    if (e.target.tagName === "UL" && (e.key === "ArrowDown" || e.key === "ArrowUp")) return; // which scroll it
    if (e.target.classList.contains("step-strip") && (e.key === "ArrowLeft" || e.key === "ArrowRight")) return; // which scrolls
    act();
    e.preventDefault();
    e.stopPropagation();
  });
  return {
    open(step) { // counted from 1
      place.append(panel);
      go((step || 1) - 1);
    },
    close() {
      stop();
      panel.remove();
      code.classList.remove("stepped");
      code.innerHTML = original;
      lines = [];
    },
    panel,
  };
};
