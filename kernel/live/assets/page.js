// Cells that run in the page. Nothing is loaded before the first of them runs. Two workers do the work: one rewrites, compiles and links cells and
// keeps their values; another runs one cell's program and is thrown away, so that a program can be stopped whatever it does.
(() => {
  "use strict";
  const place = document.getElementById("lectern-live");
  if (!place || typeof WebAssembly !== "object" || typeof Worker !== "function" || typeof DecompressionStream !== "function") return;
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
  const megabytes = (n) => (n / 1e6).toFixed(1) + " MB";
  const said = document.getElementById("said");

  // Loading: over http the parts are fetched; a page that was opened as a file runs the scripts that carry them.
  const parts = new Map(); // name to the promise of its bytes
  const carried = new Map();
  window.lecternPart = (name, text) => { carried.get(name)?.(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))); };
  const script = (name) => new Promise((done, failed) => {
    carried.set(name, done);
    const s = make("script", { src: lesson.folder + name + ".gz.js", onerror: () => failed(new Error("can't read " + lesson.folder + name + ".gz.js")) });
    s.addEventListener("load", () => s.remove());
    document.head.append(s);
  });
  const fetched = async (name, progress) => {
    const answer = await fetch(lesson.folder + name + ".gz");
    if (!answer.ok) throw new Error(`the server answers ${answer.status} to ${lesson.folder}${name}.gz`);
    const pieces = [];
    for (const reader = answer.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
      pieces.push(value);
      progress(value.length);
    }
  };
  const part = (p, progress = () => {}) => {
    if (!parts.has(p.name)) {
      const bytes = location.protocol === "file:" ? script(p.name).then((b) => { progress(p.bytes); return b; }) : fetched(p.name, progress);
      bytes.catch(() => parts.delete(p.name)); // it is tried again
      parts.set(p.name, bytes);
    }
    return parts.get(p.name);
  };
  const unpacked = async (bytes) => {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return new Blob([bytes]).text();
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const binary = async (name) => {
    const bytes = await part(lesson.parts[name]);
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.buffer;
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  };
  const worker = async (name) => URL.createObjectURL(new Blob([await unpacked(await part(lesson.parts[name]))], { type: "text/javascript" }));

  window.lecternParts = { lesson, binary, worker }; // for the explorers

  // The bar below says what goes on.
  const meter = make("progress", { max: 1, value: 0, "aria-label": "Loading", hidden: true });
  const words = make("span", { class: "live-words" });
  const stopper = button("Stop", "Stop the cell that runs", () => stop("stopped"), { class: "tool live-stop" });
  const bar = make("div", { class: "live-bar", role: "region", "aria-label": "Running", hidden: true }, words, meter, stopper);
  document.body.append(bar);
  let clock = 0;
  const tell = (text, share) => {
    clearTimeout(clock);
    words.textContent = text;
    meter.hidden = share === undefined;
    meter.value = share ?? 0;
    bar.hidden = text === "";
  };

  // The engine.
  let engine = null; // the promise of { worker, program: its script's address }
  let count = 0; // cells that have run
  const state = { limit: 180 };
  const begin = async () => {
    const list = ["engine", "program", "index", "compiler", "linker", "rewriter"].map((n) => lesson.parts[n]).concat(lesson.first.map((b) => lesson.bundles[b]));
    const total = list.reduce((sum, p) => sum + p.bytes, 0);
    let loaded = 0;
    const show = (n) => {
      loaded += n;
      if (running && !running.ending) tell(`Loading Go: ${megabytes(loaded)} of ${megabytes(total)}`, Math.min(1, loaded / total));
    };
    show(0);
    const got = await Promise.all(list.map((p) => part(p, show)));
    const program = await worker("program");
    const w = new Worker(await worker("engine"));
    if (running && !running.ending) tell("Starting Go");
    const bytes = (p) => got[list.indexOf(p)];
    await new Promise((done, failed) => {
      w.onmessage = ({ data }) => { if (data.ready) done(); else failed(new Error(data.broken)); };
      w.onerror = (e) => failed(new Error(e.message || "the worker can't start"));
      w.postMessage({ do: "start", parts: Object.fromEntries(["index", "compiler", "linker", "rewriter"].map((n) => [n, bytes(lesson.parts[n])])), bundles: lesson.first.map((b) => [b, bytes(lesson.bundles[b])]) });
    });
    w.onmessage = ({ data }) => heard(data);
    return { worker: w, program };
  };
  const started = () => {
    if (!engine) {
      engine = begin();
      engine.catch(() => { engine = null; });
    }
    return engine;
  };

  // Cells run one after another.
  const cells = new Map(); // by id
  let queue = [];
  let running = null; // { cell, id, done, program: its worker }
  let ids = 0;
  const stop = (why) => {
    const r = running;
    for (const c of queue) c.waits(false);
    queue = [];
    if (!r || r.ending) return;
    r.ending = true;
    if (r.program) r.program.terminate();
    if (r.posted) engine.then((e) => e.worker.postMessage({ do: "abandon", id: r.id, state: why }));
    r.cell.stopping();
    tell("Stopping");
    if (!r.posted) r.done({ failed: true });
  };
  const heard = async (data) => {
    const r = running;
    if (data.broken) {
      const e = await engine;
      e.worker.terminate();
      engine = null;
      r?.cell.trouble("The engine has failed, and all values are lost: " + data.broken);
      r?.done({ failed: true });
      return;
    }
    if (!r || data.id !== r.id) return;
    const e = await engine;
    if (data.outputs) r.cell.draw(data.outputs);
    if (data.step && !r.ending) tell(data.step === "compile" ? "Compiling" : "Linking");
    if (data.want) {
      tell("Loading packages");
      try {
        await Promise.all(data.want.map(async (b) => {
          const bytes = await part(lesson.bundles[b]);
          e.worker.postMessage({ do: "bundle", number: b, bytes });
        }));
      } catch (error) {
        r.cell.trouble("A package can't be loaded: " + error.message);
        restart();
      }
    }
    if (data.program && !r.ending) {
      r.program = new Worker(e.program);
      r.program.onmessage = () => r.program.terminate();
      r.program.onerror = () => stop("stopped");
      r.program.postMessage({ program: data.program, files: data.files, environment: data.environment, port: r.port, kept: ["/keep", "/cell", "/tmp"] }, [r.port, data.program.buffer, ...data.files.map(([, b]) => b.buffer)]);
      const at = performance.now();
      const tick = () => {
        const s = (performance.now() - at) / 1000;
        if (s > state.limit) return stop("limit " + state.limit);
        tell(s < 1 ? "Running" : `Running for ${s.toFixed(0)} s`);
        clock = setTimeout(tick, 500);
      };
      tick();
    }
    if (data.ended) r.done(data.ended);
  };
  const run = async (cell) => {
    const id = ++ids;
    const began = performance.now();
    cell.begins();
    let finished;
    const end = new Promise((done) => { finished = done; });
    running = { cell, id, done: finished, port: null };
    let verdict;
    try {
      const e = await Promise.race([started(), end.then(() => null)]);
      if (e && !running.ending) {
        const { port1, port2 } = new MessageChannel();
        running.port = port1;
        running.posted = true;
        tell("Compiling");
        cell.number = ++count;
        e.worker.postMessage({ do: "cell", id, number: cell.number, code: cell.text(), steps: Boolean(cell.recording), port: port2 }, [port2]);
      }
      verdict = await end;
    } catch (error) {
      cell.trouble("Go can't be loaded: " + error.message);
      verdict = { failed: true };
    }
    running.program?.terminate();
    running = null;
    tell("");
    cell.ends(verdict, performance.now() - began);
    return verdict;
  };
  const next = async () => {
    if (running || !queue.length) return;
    const cell = queue.shift();
    const verdict = await run(cell);
    if (verdict.failed && !cell.fails) { // what follows would hang on it
      for (const c of queue) c.waits(false);
      queue = [];
    }
    next();
  };
  const ask = (list) => {
    for (const c of list) if (!queue.includes(c) && running?.cell !== c) { queue.push(c); c.waits(true); }
    next();
  };
  const restart = async () => {
    stop("stopped");
    const old = engine;
    engine = null;
    if (running) running.done({ failed: true });
    (await old?.catch(() => null))?.worker.terminate();
    count = 0;
    for (const c of cells.values()) c.fresh();
    status();
  };

  // What a reader has changed stays in this browser.
  const key = "lectern-live:" + lesson.name;
  let edits = {};
  try { edits = JSON.parse(localStorage.getItem(key)) || {}; } catch { /* no storage: not remembered */ }
  const remember = () => {
    try {
      if (Object.keys(edits).length) localStorage.setItem(key, JSON.stringify(edits));
      else localStorage.removeItem(key);
    } catch { /* as above */ }
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
      this.stored = box.querySelector(":scope > .out");
      this.badge = this.in.querySelector(".count");
      this.original = this.badge?.textContent;
      this.ran = false;
      const name = this.badge ? "cell " + this.original : "this cell";
      this.label = name;
      this.runner = button("▶ Run", "Run " + name, () => ask([...above(this), this]), { class: "tool live-run" });
      this.again = button("Run to here", "Run all cells down to " + name, () => ask(all().slice(0, all().indexOf(this) + 1).filter((c) => !c.solution || c.changed() || c === this)));
      this.edit = button("Edit", "Edit " + name, () => (this.editor ? this.close() : this.open()));
      this.reset = button("Reset", "Put back the code of " + name, () => this.back(), { hidden: true });
      this.note = make("span", { class: "live-note", role: "status" });
      this.tools = make("div", { class: "live-tools" }, this.runner, this.edit, this.again, this.reset, this.note);
      (this.in.closest("details.code-fold") ?? this.in).after(this.tools);
      this.out = null;
      // Steps come from the page as long as the cell is as it was, and from a run of its own afterwards.
      const kept = lecternStepping.recorded[this.id];
      this.steps = lecternStepping.attach(box, async () => {
        if (this.editor) this.close();
        if (kept?.r && !this.changed() && !this.ran) return lecternStepping.unpacked(kept.r, kept.w);
        this.recording = true;
        ask([...above(this), this]);
        return null;
      }, () => (this.changed() ? 0 : kept?.o || 0));
      if (!box.querySelector(":scope > .after")) this.edit.after(this.steps.button); // a question hides it until it is answered
      this.code.addEventListener("dblclick", (e) => { if (!e.target.closest("button")) this.open(); });
      if (typeof edits[this.id] === "string" && edits[this.id] !== this.source) this.shown(edits[this.id]);
    }
    text() { return this.editor ? this.editor.text() : edits[this.id] ?? this.source; }
    changed() { return this.text() !== this.source; }
    // shown puts a text in place of the code, without an editor.
    shown(text) {
      this.steps.close(false);
      const c = this.code.querySelector("code");
      this.colours ??= c.innerHTML;
      if (text === this.source) c.innerHTML = this.colours;
      else c.textContent = text;
      this.reset.hidden = text === this.source;
      this.box.classList.toggle("live-changed", text !== this.source);
    }
    keep(text) {
      if (text === this.source) delete edits[this.id];
      else edits[this.id] = text;
      remember();
      this.shown(text);
    }
    async open() {
      if (this.editor) return this.editor.focus();
      this.steps.close(false);
      this.edit.disabled = true;
      try {
        if (!window.lecternEditor) {
          document.head.append(make("script", {}, await unpacked(await part(lesson.parts.editor))));
        }
        this.place = make("div", { class: "code live-editor" });
        this.code.hidden = true;
        this.code.after(this.place);
        this.editor = window.lecternEditor({
          parent: this.place, text: edits[this.id] ?? this.source, label: "Code of " + this.label,
          run: () => ask([...above(this), this]),
          leave: () => this.close(),
          change: (text) => this.keep(text),
        });
        this.editor.focus();
        this.edit.textContent = "Done";
        this.edit.setAttribute("aria-label", "Close the editor of " + this.label);
      } catch (error) {
        this.trouble("The editor can't be loaded: " + error.message);
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
      this.edit.textContent = "Edit";
      this.edit.setAttribute("aria-label", "Edit " + this.label);
      this.edit.focus();
    }
    back() {
      if (this.editor) this.editor.set(this.source);
      this.keep(this.source);
      this.recorded();
    }
    // recorded shows what the page came with.
    recorded() {
      this.out?.remove();
      this.out = null;
      this.note.textContent = "";
      if (this.stored) this.stored.hidden = false;
    }
    fresh() {
      this.ran = false;
      this.waits(false);
      if (this.badge) this.badge.textContent = this.original;
      this.recorded();
    }
    waits(yes) { this.note.textContent = yes ? "waits" : ""; }
    begins() {
      this.steps.close(false);
      this.note.textContent = "runs";
      this.box.classList.add("live-runs");
      this.began = true;
      this.editor?.mistakes([]);
    }
    stopping() { this.note.textContent = "stopped"; }
    // clear makes room for what comes now.
    clear() {
      if (this.stored) this.stored.hidden = true;
      this.out?.remove();
      this.out = make("div", { class: "out live-out", "aria-live": "polite" });
      this.tools.after(this.out);
      this.began = false;
    }
    draw({ count, drawn = [], prompt }) {
      if (this.began) this.clear();
      while (this.out.children.length > count) this.out.lastElementChild.remove();
      for (const { at, html } of drawn) {
        const box = make("div", { class: "live-one" });
        box.innerHTML = html;
        const old = this.out.children[at];
        if (old) old.replaceWith(box);
        else this.out.append(box);
      }
      if (prompt !== undefined) this.asks(prompt);
    }
    // asks lets the reader type a line that the program waits for.
    asks(prompt) {
      const line = make("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": prompt.trim() || "Input" });
      const form = make("form", { class: "live-input" }, line, make("button", { class: "tool" }, "Enter"));
      const give = (text) => {
        running?.program?.postMessage({ line: text });
        form.remove();
      };
      form.addEventListener("submit", (e) => { e.preventDefault(); give(line.value + "\n"); });
      line.addEventListener("keydown", (e) => { if (e.ctrlKey && e.key === "d" && line.value === "") { e.preventDefault(); give(null); } });
      this.tools.after(form);
      line.focus();
    }
    ends(verdict, ms) {
      if (this.began && verdict.cell) this.clear(); // it has shown nothing
      this.box.classList.remove("live-runs");
      this.box.querySelector(".live-input")?.remove();
      if (verdict.cell) {
        this.ran = this.ran || !verdict.failed || Boolean(this.fails);
        this.result = verdict.cell;
        if (this.badge) this.badge.textContent = this.number;
      }
      if (verdict.mistakes?.length) this.editor?.mistakes(verdict.mistakes);
      this.note.textContent = verdict.failed ? "failed" : `ran here in ${(ms / 1000).toFixed(1)} s` + (this.measured ? "; WebAssembly measures WebAssembly, so times differ from the recorded ones" : "");
      if (this.recording && verdict.cell) this.steps.show(verdict.steps || { steps: [] });
      this.recording = false;
      said.textContent = this.label + (verdict.failed ? " failed" : " has run");
      status();
    }
    trouble(text) {
      this.clear();
      this.out.append(make("div", { class: "error", role: "group", "aria-label": "Error" }, make("p", { class: "label" }, "Error"), make("p", { class: "what" }, text)));
    }
  }

  // The strip at the top of the lesson.
  const bytes = ["engine", "program", "index", "compiler", "linker", "rewriter"].reduce((sum, n) => sum + lesson.parts[n].bytes, 0) + lesson.first.reduce((sum, b) => sum + lesson.bundles[b].bytes, 0);
  const about = make("p", {});
  const fresh = button("Start afresh", "Forget all values and show the recorded outputs", restart, { hidden: true });
  const strip = make("div", { class: "live-strip" }, about, make("div", { class: "live-tools" }, button("▶ Run all", "Run all cells", () => ask(all()), { class: "tool live-run" }), fresh));
  const status = () => {
    const ran = all().filter((c) => c.ran).length;
    about.textContent = ran ? `${ran} of ${cells.size} cells have run in this page; the others show what was recorded.` : `This lesson runs here, in your browser: change a cell and run it. The first run loads Go itself, ${megabytes(bytes)}, once.`;
    fresh.hidden = count === 0;
  };
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

  // A document apart says how high it is.
  addEventListener("message", ({ data, source }) => {
    if (!(data?.lecternHeight > 0)) return;
    for (const f of document.querySelectorAll("iframe.apart")) if (f.contentWindow === source) f.style.height = Math.min(4000, Math.ceil(data.lecternHeight) + 2) + "px";
  });

  // For tests, and for who wants to look behind the page.
  window.lecternLive = {
    get state() { return running ? (running.program ? "runs" : "prepares") : queue.length ? "waits" : "idle"; },
    set limit(seconds) { state.limit = seconds; },
    cells: all,
    cell: (id) => cells.get(id),
  };
})();
