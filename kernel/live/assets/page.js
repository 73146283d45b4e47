// Cells that run in the page. It needs host.js before it.
(() => {
  "use strict";
  const place = document.getElementById("lectern-live");
  if (!place || typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof DecompressionStream !== "function") return;
  const say = lecternSay;
  const lesson = JSON.parse(place.textContent);
  const make = (tag, attributes = {}, ...content) => {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
      else if (value === true) e.setAttribute(name, "");
      else if (value !== false && value !== null) e.setAttribute(name, value);
    }
    e.append(...content);
    return e;
  };
  const button = (text, label, onclick, more = {}) => make("button", { type: "button", class: "tool", "aria-label": label, onclick, ...more }, text);
  const said = document.getElementById("said");

  // The bar below says what is going on.
  const meter = make("progress", { max: 1, value: 0, "aria-label": say("Loading"), hidden: true });
  const words = make("span", { class: "live-words" });
  const stopper = button(say("Stop"), say("Stop the running cell"), () => stop("stopped"), { class: "tool live-stop" });
  const bar = make("div", { class: "live-bar", role: "region", "aria-label": say("Running"), hidden: true }, words, meter, stopper);
  document.body.append(bar);
  const tell = (text, share) => {
    words.textContent = text;
    meter.hidden = share === undefined;
    meter.value = share ?? 0;
    bar.hidden = text === "";
  };

  let count = 0; // cells that have run
  const cells = new Map(); // by id
  const host = lecternHost(lesson, tell, () => {
    count = 0;
    models.clear();
    for (const c of cells.values()) c.fresh();
    status();
  });
  const { megabytes, unpacked, ask, stop, restart } = host;

  // Widgets: the engine says what there is, the page draws it, and tells the engine of changes.
  const models = new Map(); // by id: what the engine says, and of an output what stands in it
  const fill = (box, { html = "", widget }) => { // of a question the page has asked already there is nothing to show
    if (widget) box.append(view(widget));
    else box.innerHTML = html;
  };
  const known = ({ models: list = [] }) => {
    for (const m of list) {
      const old = models.get(m.id);
      if (!old) {
        models.set(m.id, { ...m, outputs: [], reaction: new Reaction(m.id) });
        continue;
      }
      old.state = m.state;
      for (const e of viewsOf(m.id)) e.dispatchEvent(new Event("lectern-set"));
    }
  };
  const below = ({ below: list = [] }) => {
    for (const { id, count: n, drawn = [] } of list) {
      const m = models.get(id);
      if (!m) continue;
      m.outputs.length = Math.min(m.outputs.length, n);
      for (const d of drawn) m.outputs[d.at] = d;
      for (const e of viewsOf(id)) {
        while (e.children.length > n) e.lastElementChild.remove();
        for (const d of drawn) {
          const box = make("div", { class: "live-one" });
          fill(box, d);
          if (e.children[d.at]) e.children[d.at].replaceWith(box);
          else e.append(box);
        }
      }
    }
  };
  const viewsOf = (id) => document.querySelectorAll(`[data-widget="${id}"]`);
  // To the engine, a reaction is like a cell. Values superseded by later ones are skipped, clicks are not.
  class Reaction {
    constructor(id) {
      Object.assign(this, { id, fails: true, values: [] });
    }
    // happens takes a new value, or a click.
    happens(value) {
      if (value !== undefined) this.values = [];
      if (this.values.length < 100) this.values.push(value);
      ask([this]);
    }
    posts(engine, id) {
      const { port1, port2 } = new MessageChannel();
      const value = this.values.shift();
      engine.postMessage({ do: "event", id, widget: this.id, input: value === undefined ? this.id : this.id + "\0" + value, port: port2 }, [port2]);
      return port1;
    }
    ends() { if (this.values.length) setTimeout(() => ask([this])); }
    trouble(text) { aside(text); }
    draw(changes) { known(changes); below(changes); }
    begins() {}
    waits(yes) { if (!yes) this.values = []; }
    stopping() { this.values = []; }
  }
  // view draws a widget with what every browser has.
  const view = (id) => {
    const m = models.get(id);
    const name = m.state.description || "";
    const number = (x) => {
      const maximumSignificantDigits = Number.isInteger(Number(x)) ? 21 : 4; // 21 are all
      return Number(x).toLocaleString("en", { maximumSignificantDigits, useGrouping: false });
    };
    const slider = () => {
      const readout = make("output", { class: "live-readout" });
      const input = make("input", { type: "range", oninput: () => { m.state.value = Number(input.value); read(); m.reaction.happens(input.value); } });
      const read = () => { readout.textContent = number(m.state.value); };
      return [make("label", { class: "live-widget" }, make("span", {}, name), input, readout), () => {
        Object.assign(input, { min: m.state.min, max: m.state.max, step: m.state.step ?? 1, value: m.state.value });
        read();
      }];
    };
    const kinds = {
      VBox: () => [make("div", {}, ...m.state.children.map((c) => view(c.replace("IPY_MODEL_", ""))))],
      Output: () => {
        const e = make("div", { class: "live-below", "aria-live": "polite" });
        for (const d of m.outputs) {
          const box = make("div", { class: "live-one" });
          fill(box, d);
          e.append(box);
        }
        return [e];
      },
      IntSlider: slider,
      FloatSlider: slider,
      Dropdown: () => {
        const input = make("select", { onchange: () => { m.state.index = input.selectedIndex; m.reaction.happens(String(input.selectedIndex)); } }, ...m.state._options_labels.map((o) => make("option", {}, o)));
        return [make("label", { class: "live-widget" }, make("span", {}, name), input), () => { input.selectedIndex = m.state.index; }];
      },
      Checkbox: () => {
        const input = make("input", { type: "checkbox", onchange: () => { m.state.value = input.checked; m.reaction.happens(String(input.checked)); } });
        return [make("label", { class: "live-widget" }, make("span", {}), make("span", {}, input, " ", name)), () => { input.checked = m.state.value; }];
      },
      ToggleButton: () => {
        const input = button(name, name, () => { m.state.value = !m.state.value; set(); m.reaction.happens(String(m.state.value)); });
        const set = () => input.setAttribute("aria-pressed", String(m.state.value));
        return [make("div", { class: "live-widget" }, make("span", {}), input), set];
      },
      Text: () => {
        const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false", onchange: () => { m.state.value = input.value; m.reaction.happens(input.value); } });
        return [make("label", { class: "live-widget" }, make("span", {}, name), input), () => { input.value = m.state.value; }];
      },
      Button: () => [make("div", { class: "live-widget" }, make("span", {}), button(name, name, () => m.reaction.happens()))],
    };
    const [e, set] = kinds[m.kind]();
    e.dataset.widget = id;
    if (set) {
      set();
      e.addEventListener("lectern-set", set);
    }
    return e;
  };

  // What a reader has changed stays in this browser.
  const edits = lecternStored("lectern-live:" + lesson.name);
  let warned = false;

  // The page says whose functions of package mine the lesson calls.
  const called = lesson.mine ?? [];
  const whose = () => {
    const { files } = lecternMine, yours = called.filter((name) => files[name.toLowerCase() + ".go"]);
    const mine = yours.length ? say("These functions of mine are yours: {names}.", { names: yours.join(", ") }) : "";
    const ours = yours.length === called.length ? "" : say("Where lesson.Grade has not accepted yours yet, this lesson calls our solutions in mine.");
    return [mine, ours, unsure()].filter(Boolean).join(" ");
  };
  // unsure says why the page may not know what was written on other pages.
  const unsure = () => {
    if (!lecternMine.stores) return say("This browser stores nothing for the page, so mine has our solutions and what you write here, not what you wrote on other pages.");
    return location.protocol === "file:" ? say("The page was opened as a file: if the browser does not tell it what you wrote on another page, mine has our solution.") : "";
  };

  const all = () => [...cells.values()];
  // above are the cells before one that have not run yet; answers to exercises are not among them.
  const above = (cell) => all().slice(0, all().indexOf(cell)).filter((c) => !c.ran && (!c.solution || c.changed()));

  class Cell {
    constructor(entry, box) {
      Object.assign(this, entry);
      this.box = box;
      this.in = box.querySelector(".in");
      this.code = this.in.querySelector(".code");
      this.after = box.querySelector(":scope > .after"); // what a question hides until it is answered
      this.stored = (this.after ?? box).querySelector(":scope > .out");
      this.badge = this.in.querySelector(".count");
      this.original = this.badge?.textContent;
      this.ran = false;
      const name = this.badge ? say("cell {n}", { n: this.original }) : say("this cell"), cell = { cell: name };
      this.label = name;
      this.runner = button("▶ " + say("Run"), say("Run {cell}", cell), () => ask([...above(this), this]), { class: "tool live-run" });
      this.again = button(say("Run to here"), say("Run all cells down to {cell}", cell), () => ask(all().slice(0, all().indexOf(this) + 1).filter((c) => !c.solution || c.changed() || c === this)));
      this.edit = button(say("Edit"), say("Edit {cell}", cell), () => (this.editor ? this.close() : this.open()));
      this.reset = button(say("Reset"), say("Put back the code of {cell}", cell), () => this.back(), { hidden: true });
      this.note = make("span", { class: "live-note", role: "status" });
      this.tools = make("div", { class: "live-tools" }, this.runner, this.edit, this.again, this.reset, this.note);
      (this.in.closest("details.code-fold") ?? this.in).after(this.tools);
      this.out = null;
      // Steps come from the page as long as the cell is as it was, and from a run of its own afterwards.
      const kept = lecternStepping.recorded[this.id];
      this.steps = lecternStepping.attach(box, async (asked) => {
        if (this.editor) this.close();
        if (kept?.r && !this.changed() && !this.ran) return lecternStepping.unpacked(kept.r, kept.w);
        if (!asked) return null; // nothing runs by itself
        this.recording = true;
        ask([...above(this), this]);
        return null;
      }, () => (this.changed() ? 0 : kept?.o || 0));
      if (!this.after) this.edit.after(this.steps.button);
      this.code.addEventListener("dblclick", (e) => { if (!e.target.closest("button")) this.open(); });
      if (this.changed()) this.shown(this.text());
    }
    text() {
      if (this.editor) return this.editor.text();
      const edit = edits.all[this.id];
      return typeof edit === "string" ? edit : this.source;
    }
    changed() { return this.text() !== this.source; }
    // shown puts a text in place of the code, without an editor.
    shown(text) {
      this.steps.close(false);
      const c = this.code.querySelector("code");
      this.colors ??= c.innerHTML;
      if (text === this.source) c.innerHTML = this.colors;
      else c.textContent = text;
      this.reset.hidden = text === this.source;
      this.box.classList.toggle("live-changed", text !== this.source);
    }
    keep(text) {
      if (!edits.set(this.id, text === this.source ? undefined : text) && !warned) {
        warned = true;
        aside(say("This browser keeps nothing for this page. Save the notebook before you leave, or your changes are lost."));
      }
      this.shown(text);
      status();
    }
    async open() {
      if (this.editor) return this.editor.focus();
      if (this.edit.disabled) return; // it is on its way
      this.steps.close(false);
      this.edit.disabled = true;
      try {
        if (!window.lecternEditor) {
          document.head.append(make("script", {}, await unpacked(lesson.parts.editor)));
        }
        this.place = make("div", { class: "code live-editor" });
        this.code.hidden = true;
        this.code.after(this.place);
        this.editor = window.lecternEditor({
          parent: this.place, text: this.text(), label: say("Code of {cell}", { cell: this.label }),
          run: () => ask([...above(this), this]),
          leave: () => this.close(),
          change: (text) => this.keep(text),
        });
        this.editor.focus();
        this.edit.textContent = say("Done");
        this.edit.setAttribute("aria-label", say("Close the editor of {cell}", { cell: this.label }));
      } catch (error) {
        this.trouble(say("The editor can't be loaded: {why}", { why: error.message }));
      }
      this.edit.disabled = false;
    }
    close() {
      if (!this.editor) return;
      const text = this.editor.text();
      this.editor.remove();
      this.editor = null;
      this.place.remove();
      this.code.hidden = false;
      this.keep(text);
      this.edit.textContent = say("Edit");
      this.edit.setAttribute("aria-label", say("Edit {cell}", { cell: this.label }));
      this.edit.focus();
    }
    // put replaces the text that a reader sees or edits.
    put(text) {
      if (this.editor) this.editor.set(text);
      this.keep(text);
    }
    back() {
      this.put(this.source);
      this.recorded();
    }
    // recorded shows the outputs that the page came with. If the cell still runs, what more it prints is not shown.
    recorded() {
      this.out?.remove();
      this.out = this.result = null;
      this.began = false;
      if (!this.box.classList.contains("live-runs")) this.note.textContent = "";
      if (this.stored) this.stored.hidden = false;
    }
    fresh() {
      this.ran = false;
      this.number = 0;
      this.waits(false);
      if (this.badge) this.badge.textContent = this.original;
      this.recorded();
    }
    // posts hands the cell to the engine, and returns where its program is to print. The same one may run the cells
    // after it.
    posts(engine, id, waiting) {
      const { port1, port2 } = new MessageChannel();
      const last = this.number ?? 0;
      this.number = ++count;
      this.taken = this.text();
      const more = [], joins = (c) => c instanceof Cell && !c.recording;
      for (const c of joins(this) ? waiting : []) {
        if (!joins(c)) break;
        more.push({ cell: count + more.length + 1, code: c.text() });
      }
      engine.postMessage({ do: "cell", id, number: this.number, code: this.taken, steps: Boolean(this.recording), last, more, port: port2 }, [port2]);
      return port1;
    }
    waits(yes) { this.note.textContent = yes ? say("waiting") : ""; }
    begins() {
      this.steps.close(false);
      this.note.textContent = say("running");
      this.box.classList.add("live-runs");
      this.began = true;
      this.editor?.mistakes([]);
    }
    stopping() { this.note.textContent = say("stopped"); }
    // clear makes room for new outputs. Those of the lesson's code stay behind its question, as the recorded ones do.
    // What readers have written themselves shows at once.
    clear() {
      if (this.stored) this.stored.hidden = true;
      this.out?.remove();
      this.out = make("div", { class: "out live-out", "aria-live": "polite" });
      if (this.after && (this.taken === this.source || !this.after.hidden)) this.after.append(this.out);
      else this.seen();
      this.began = false;
    }
    // seen shows the outputs whether or not a question is answered.
    seen() { this.tools.after(this.out); }
    draw({ count, drawn = [], prompt, ...widgets }) {
      if (this.began) this.clear();
      known(widgets);
      while (this.out?.children.length > count) this.out.lastElementChild.remove();
      for (const d of this.out ? drawn : []) { // there is no place for them once the cell was put back
        const box = make("div", { class: "live-one" });
        fill(box, d);
        const old = this.out.children[d.at];
        if (old) old.replaceWith(box);
        else this.out.append(box);
      }
      below(widgets);
      if (prompt !== undefined) this.asks(prompt);
    }
    // asks lets the reader type a line that the program waits for.
    asks(prompt) {
      const line = make("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": prompt.trim() || say("Input") });
      const form = make("form", { class: "live-input" }, line, make("button", { class: "tool" }, say("Enter")));
      const give = (text) => {
        host.type(text);
        form.remove();
      };
      form.addEventListener("submit", (e) => { e.preventDefault(); give(line.value + "\n"); });
      line.addEventListener("keydown", (e) => { if (e.ctrlKey && e.key === "d" && line.value === "") { e.preventDefault(); give(null); } });
      this.tools.after(form);
      line.focus();
    }
    ends(verdict, ms) {
      const { stopped } = verdict;
      if (stopped && !verdict.cell) this.trouble(say("the cell was interrupted before it ran"));
      else if (this.began && verdict.cell) this.clear(); // it has shown nothing
      if (this.out && verdict.failed && !stopped && !this.fails) this.seen(); // with what went wrong
      this.box.classList.remove("live-runs");
      this.box.querySelector(".live-input")?.remove();
      if (verdict.cell) {
        this.ran = this.ran || !verdict.failed || Boolean(this.fails);
        this.result = verdict.cell;
        this.resultOf = this.taken;
        if (this.badge) this.badge.textContent = this.number;
      }
      if (verdict.mistakes?.length) this.editor?.mistakes(verdict.mistakes);
      this.note.textContent = verdict.failed ? (stopped ? say("stopped") : say("failed")) : say("ran here in {n} s", { n: (ms / 1000).toFixed(1) }) + (this.measured ? say("; this measures WebAssembly, so times differ from the recorded ones") : "");
      if (this.recording && verdict.cell) this.steps.show(verdict.steps || { steps: [] });
      this.recording = false;
      if (verdict.mine && unsure()) aside(unsure());
      const cell = { cell: this.label };
      said.textContent = verdict.failed ? (stopped ? say("{cell} was stopped", cell) : say("{cell} failed", cell)) : say("{cell} has run", cell);
      status();
    }
    trouble(text) {
      this.clear();
      this.seen();
      this.out.append(make("div", { class: "error", role: "group", "aria-label": say("Error") }, make("p", { class: "label" }, say("Error")), make("p", { class: "what" }, text)));
    }
  }

  // A reader's version of the lesson leaves the page as a notebook or as a program, and comes back as either.
  const saved = (name, type, text) => {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  const asLines = (text) => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
  const notebook = async () => {
    const n = JSON.parse(await unpacked(lesson.notebook));
    for (const stored of n.cells) {
      const cell = cells.get(stored.id);
      if (!cell) continue;
      const text = cell.text();
      if (cell.result && cell.resultOf === text) {
        const ran = JSON.parse(cell.result).cells[0];
        [stored.outputs, stored.execution_count] = [ran.outputs, ran.execution_count];
      } else if (cell.changed()) {
        [stored.outputs, stored.execution_count] = [[], null];
      }
      if (cell.changed()) stored.source = asLines(text);
    }
    for (const [name, own] of Object.entries({ guesses: window.lecternGuesses?.given ?? {}, mine: lecternMine.files })) {
      if (Object.keys(own).length) n.metadata = { ...n.metadata, lectern: { ...n.metadata?.lectern, [name]: own } };
    }
    return JSON.stringify(n, null, 1) + "\n";
  };
  // A program is the engine's business; to the engine this is one more cell.
  const program = async () => {
    const stored = await notebook();
    let problem = "";
    const answer = await new Promise((ends) => {
      ask([{
        posts(engine, id) {
          engine.postMessage({ do: "notebook", id, name: lesson.name + ".ipynb", notebook: stored });
          return null;
        },
        ends, trouble(text) { problem = text; }, waits(yes) { if (!yes) ends({}); }, begins() {}, stopping() {}, draw() {},
      }]);
    });
    if (answer.program) {
      saved(lesson.name + ".go", "text/x-go", answer.program);
      if (answer.tests) saved(lesson.name + "_test.go", "text/x-go", answer.tests);
      return;
    }
    const of = cells.get(answer.cell);
    if (answer.problem) problem = (of ? of.label[0].toUpperCase() + of.label.slice(1) : say("The notebook")) + (/^[,:]/.test(answer.problem) ? "" : ": ") + answer.problem;
    throw new Error(problem || say("that was stopped"));
  };

  // swapped is what the reader had, and what replaced it, for as long as that can be undone. What the reader has
  // written since stays.
  let swapped = null;
  const guessed = () => ({ ...window.lecternGuesses?.given });
  const had = () => {
    return { texts: new Map(all().map((c) => [c, c.text()])), mine: { ...lecternMine.files }, guesses: guessed() };
  };
  const replaced = (change, tell) => {
    const old = had();
    change();
    swapped = { old, now: had() };
    aside(tell, true);
  };
  const undo = () => {
    const { old, now } = swapped, mine = { ...lecternMine.files }, guesses = guessed();
    for (const [c, text] of old.texts) if (text !== now.texts.get(c) && c.text() === now.texts.get(c)) c.put(text);
    for (const name in { ...old.mine, ...now.mine }) if (mine[name] === now.mine[name]) mine[name] = old.mine[name];
    lecternMine.files = mine;
    const loaded = Object.keys(now.guesses).filter((name) => now.guesses[name] !== old.guesses[name]);
    const still = loaded.filter((name) => guesses[name] === now.guesses[name]);
    window.lecternGuesses?.put(Object.fromEntries(still.map((name) => [name, old.guesses[name]])));
    swapped = null;
    aside(say("Your changes are as they were."));
  };
  // ofNotebook returns the texts of cells by their ids, how many cells are not of this lesson, guesses, and files of mine.
  const ofNotebook = (text) => {
    let n;
    try {
      n = JSON.parse(text);
    } catch {
      throw new Error(say("it isn't a notebook"));
    }
    if (!Array.isArray(n?.cells)) throw new Error(say("there are no cells in it"));
    const texts = new Map();
    let strange = 0;
    for (const c of n.cells) {
      if (c?.cell_type !== "code") continue;
      const source = [c.source ?? ""].flat().join("").replace(/\r\n?/g, "\n").replace(/^\n+|\n+$/g, "");
      if (cells.has(c.id)) texts.set(c.id, source);
      else if (source && !lesson.cells.some((x) => x.id === c.id)) strange++;
    }
    return { texts, strange, guesses: n.metadata?.lectern?.guesses, mine: n.metadata?.lectern?.mine };
  };
  const load = async (file) => {
    const text = await file.text();
    const { texts, strange, guesses, mine } = ofNotebook(text);
    const list = all().filter((c) => texts.has(c.id) && texts.get(c.id) !== c.text());
    const beside = !strange ? "" : " " + (strange === 1 ? say("1 cell is not from this lesson and was left out.") : say("{n} cells are not from this lesson and were left out.", { n: strange }));
    const news = window.lecternGuesses?.news(guesses) ?? {};
    const old = lecternMine.files, own = mine && typeof mine === "object" ? { ...old, ...mine } : old, others = Object.keys(own).filter((name) => own[name] !== old[name]);
    const none = say("{file} has no code that isn't here already.", { file: file.name }) + beside;
    const some = list.length || others.length;
    if (!some && !Object.keys(news).length) return aside(none);
    const functions = !others.length ? "" : " " + say("Functions of mine that were loaded: {n}.", { n: others.length });
    replaced(() => {
      list.forEach((c) => c.put(texts.get(c.id)));
      if (others.length) lecternMine.files = own;
      window.lecternGuesses?.put(news);
    }, !some ? none : (list.length === 1 ? say("1 cell changed.") : say("{n} cells changed.", { n: list.length })) + functions + beside);
  };

  // The strip at the top of the lesson.
  const about = make("p", {});
  const fresh = button(say("Start afresh"), say("Forget all values and show the recorded outputs"), restart, { hidden: true });
  const remark = make("span", { class: "live-note", role: "status" });
  const undoing = button(say("Undo"), say("Undo: bring back the changes that were replaced"), undo, { hidden: true });
  const aside = (text, undoable = false) => {
    remark.textContent = text;
    undoing.hidden = !undoable;
    status();
  };
  // trying does what a button is for, and says what went wrong.
  const trying = (what, f) => async () => {
    aside("");
    try {
      await f();
    } catch (error) {
      aside(what + ": " + error.message);
    }
  };
  const chosen = make("input", { type: "file", accept: ".ipynb,application/json", hidden: true, "aria-label": say("A notebook of this lesson") });
  chosen.addEventListener("change", trying(say("This can't be loaded"), async () => {
    const [file] = chosen.files;
    chosen.value = ""; // the same file can be chosen again
    if (file) await load(file);
  }));
  const putBack = button(say("Put all back"), say("Put all back: restore the code of all cells as the lesson has it"), () => {
    const n = all().filter((c) => c.changed()).length;
    replaced(() => all().filter((c) => c.changed()).forEach((c) => c.back()), n === 1 ? say("1 cell is as the lesson has it.") : say("{n} cells are as the lesson has them.", { n }));
  }, { hidden: true });
  const forgetMine = button(say("Forget mine"), say("Forget mine: use our solutions in place of all functions that are yours"), () => {
    replaced(() => { lecternMine.files = {}; }, say("All functions of mine are our solutions again."));
  }, { hidden: true });
  const mine = make("p", { class: "live-mine" });
  const strip = make("div", { class: "live-strip" }, about, mine,
    make("div", { class: "live-tools" }, button("▶ " + say("Run all"), say("Run all cells"), () => ask(all()), { class: "tool live-run" }), fresh,
      button(say("Save notebook"), say("Save notebook: the lesson with your changes, for Jupyter"), trying(say("The notebook can't be saved"), async () => saved(lesson.name + ".ipynb", "application/x-ipynb+json", await notebook()))),
      button(say("Save as Go"), say("Save as Go: the lesson with your changes as one program"), trying(say("There is no program"), program)),
      button(say("Load …"), say("Load … your changes from a notebook that you saved with Save notebook"), () => chosen.click()), putBack, forgetMine, undoing, remark, chosen));
  const status = () => {
    const ran = all().filter((c) => c.ran).length;
    about.textContent = ran ? say("{n} of {all} cells have run in this page; the others show what was recorded.", { n: ran, all: cells.size }) : say("This lesson runs here, in your browser: change a cell and run it. The first run loads Go itself, {megabytes}, once.", { megabytes: megabytes(host.total) });
    fresh.hidden = count === 0;
    putBack.hidden = !all().some((c) => c.changed());
    forgetMine.hidden = !Object.keys(lecternMine.files).length;
    const lost = lecternMine.broken ? say("What this browser stored of mine can't be read. It is set aside as lectern-mine-broken in the browser's storage, and mine begins with our solutions.") : "";
    mine.textContent = [called.length ? whose() : "", lost].filter(Boolean).join(" ");
    mine.hidden = !mine.textContent;
  };
  window.addEventListener("storage", status); // another page has changed mine
  for (const entry of lesson.cells) {
    const box = document.getElementById("cell-" + entry.id);
    if (!box?.querySelector(".in .code")) continue;
    if (entry.why) box.querySelector(".in").after(make("p", { class: "live-why" }, entry.why));
    else cells.set(entry.id, new Cell(entry, box));
  }
  if (!cells.size) return;
  status();
  const head = document.querySelector("main h1");
  const first = head.closest(".cell") ?? head;
  first.after(strip);
  document.querySelectorAll(".live-tools").forEach((t) => { t.hidden = false; });

  // For tests, and for anybody who wants to look behind the page.
  window.lecternLive = {
    get state() { return host.state; },
    set limit(seconds) { host.limit = seconds; },
    cells: all,
    cell: (id) => cells.get(id),
  };
})();
