// The host of cells in a page, which needs loading.js before it: it loads Go, and has cells run one after another. Nothing
// is loaded before the first of them runs. Three workers do the work: one rewrites and compiles cells and keeps
// their values; one links; another runs one cell's program and is thrown away, so that a program can be stopped whatever it does.
"use strict";

// The reader's own package, mine: the browser's storage has its files, for all pages of a site. Without storage, each
// page has only what was written on it.
const lecternMine = (() => {
  const key = "lectern-mine", texts = (x) => Object.fromEntries(Object.entries(x && typeof x === "object" ? x : {}).filter(([, text]) => typeof text === "string"));
  let own = {}, stores = true, broken = false;
  // read returns what is stored. A text that can't be read is set aside, to make room for what comes.
  const read = () => {
    const text = localStorage.getItem(key);
    try {
      return texts(JSON.parse(text));
    } catch {
      broken = true;
      localStorage.removeItem(key); // first, as there may not be room for both
      localStorage.setItem(key + "-broken", text);
      return own;
    }
  };
  return {
    get stores() { return stores; },
    get broken() { return broken; },
    get files() { // by name
      try { if (stores) own = read(); } catch { stores = false; }
      return own;
    },
    set files(files) {
      own = texts(files);
      try {
        if (Object.keys(own).length) localStorage.setItem(key, JSON.stringify(own));
        else localStorage.removeItem(key);
      } catch { stores = false; }
    },
  };
})();

// The first argument has the parts and bundles that can be loaded, which bundles the first cell loads, the folder that
// they lie in, and what package lesson and errors say in a language other than English. tell is called with what is
// going on, in words, and with the fraction that is done, or with "". afresh is called when all values are forgotten.
const lecternHost = ({ parts, bundles, first, folder, answers }, tell, afresh) => {
  const say = lecternSay;
  // What package lesson says in a language other than English, as a file and where it is: see package lesson.
  const lang = answers ? { LECTERN_LANG: answers.lang, LECTERN_ROOT: "/lectern" } : {};
  const saidFiles = answers ? [[`/lectern/notebooks/${answers.lang}/lesson.po`, new TextEncoder().encode(answers.text)]] : [];
  const megabytes = (n) => (n / 1e6).toFixed(1) + " MB";

  const { part, unpacked, worker, content, rest } = lecternLoading({ parts, folder });

  // The engine.
  const scripts = ["engine", "linkerscript", "program", "unpacker"].map((n) => parts[n]);
  // What takes long to prepare comes first.
  const named = ["compiler", "linker", "rewriter", "index"].map((name) => [{ do: "part", name }, parts[name]]);
  const list = [named[0], ...first.map((number) => [{ do: "bundle", number }, bundles[number]]), ...named.slice(1)];
  const total = [...scripts, ...list.map(([, p]) => p)].reduce((sum, p) => sum + p.bytes, 0);
  let engine = null; // the promise of { worker, end: ends it, program: its script's address }
  let mine = "{}"; // what the engine has of the reader's package
  let limit = 180; // seconds that a cell may run
  const begin = async () => {
    let here = 0;
    mine = "{}";
    const show = (n) => {
      here += n;
      if (running && !running.ending) tell(say("Loading Go: {here} of {all}", { here: megabytes(here), all: megabytes(total) }), Math.min(1, here / total));
    };
    show(0);
    await Promise.all(scripts.map((p) => part(p, show)));
    const program = await worker("program");
    const w = new Worker(await worker("engine")), linker = new Worker(await worker("linkerscript"));
    const end = () => {
      w.terminate();
      linker.terminate();
    };
    try {
      const { port1, port2 } = new MessageChannel();
      w.postMessage({ do: "linker", port: port1 }, [port1]);
      linker.postMessage({ port: port2 }, [port2]);
      await new Promise((done, failed) => {
        w.onmessage = ({ data }) => { if (data.ready) done(); else failed(new Error(data.broken)); };
        w.onerror = linker.onerror = (e) => failed(new Error(e.message || "the worker can't start"));
        Promise.all(list.map(async ([message, p]) => {
          const bytes = await content(p, show);
          (message.name === "linker" ? linker : w).postMessage({ ...message, bytes }, [bytes.buffer]);
        })).then(() => {
          if (running && !running.ending) tell(say("Starting Go"));
          w.postMessage({ do: "start" });
        }).catch(failed);
      });
    } catch (error) {
      end();
      throw error;
    } finally {
      rest();
    }
    w.onmessage = ({ data }) => heard(data).catch((error) => lose(say("The page itself has failed, and all values are lost: {why}", { why: error.message })));
    if (answers) w.postMessage({ do: "errors", catalogue: answers.errors });
    return { worker: w, end, program };
  };
  const started = () => {
    if (!engine) {
      engine = begin();
      engine.catch(() => { engine = null; });
    }
    return engine;
  };

  // Cells run one after another. What is asked for is a cell, or goes for one: posts(worker, id, waiting) sends the
  // engine its message and returns the port on which its program is to print; waiting are those queued after it. The
  // host calls begins, draw, trouble, stopping and ends as things go on, and waits with true, or with false when it
  // won't run after all. Where one fails, those that wait are dropped, unless it has fails set. What is stopped ends
  // with stopped, and without cell if it has not run.
  let queue = [];
  let running = null; // { cell, id, done, program: its worker }
  let ids = 0;
  let passing = null; // the worker of a program that goes on with the next cell
  let spare = null; // a worker that no program has run in, made while one is built
  const drop = () => {
    if (!passing) return;
    passing.terminate();
    passing = null;
    engine?.then((e) => e.worker.postMessage({ do: "leave" }), () => {});
  };
  const stop = (why) => {
    const r = running;
    for (const c of queue) c.waits(false);
    queue = [];
    if (!r || r.ending) return;
    r.ending = true;
    clearTimeout(r.clock);
    if (r.program) r.program.terminate();
    if (r.port) engine.then((e) => e.worker.postMessage({ do: "abandon", id: r.id, state: why }));
    drop();
    r.cell.stopping();
    tell(say("Stopping"));
    if (!r.program) r.done({ failed: true, stopped: true }); // what is built for it is finished, behind the scenes
  };
  // working says what is happening to a cell, and how many are to come.
  const working = (text) => {
    const n = queue.length;
    tell(n === 0 ? text : n === 1 ? say("{text}; 1 more cell is waiting", { text }) : say("{text}; {n} more cells are waiting", { text, n }));
  };
  const heard = async (data) => {
    const r = running;
    if (data.broken) return lose(say("The engine has failed, and all values are lost: {why}", { why: data.broken }));
    const its = r && data.id === r.id, e = await engine;
    if (data.want) { // even by a cell that has been stopped meanwhile
      if (its && !r.ending) tell(say("Loading packages"));
      try {
        await Promise.all(data.want.map(async (b) => {
          const bytes = await content(bundles[b]);
          e.worker.postMessage({ do: "bundle", number: b, bytes }, [bytes.buffer]);
        }));
        rest();
      } catch (error) {
        return lose(say("A package can't be loaded, and all values are lost: {why}", { why: error.message }));
      }
    }
    if (!its) return;
    if (data.outputs) r.cell.draw(data.outputs);
    if (data.step && !r.ending) working(data.step === "compile" ? say("Compiling") : say("Linking"));
    if (data.answer) r.done(data.answer);
    const watch = () => {
      const at = performance.now();
      const tick = () => {
        const s = (performance.now() - at) / 1000;
        if (s > limit) return stop("limit " + limit);
        working(s < 1 ? say("Running") : say("Running for {n} s", { n: s.toFixed(0) }));
        r.clock = setTimeout(tick, 500);
      };
      tick();
    };
    if (data.goesOn && !r.ending) {
      [r.program, passing] = [passing, null];
      r.program.onerror = () => stop("stopped");
      watch();
    }
    if (data.program && !r.ending) {
      passing?.terminate(); // the engine itself has left it
      passing = null;
      r.program = spare ?? new Worker(e.program);
      spare = null;
      r.program.onmessage = () => r.program.terminate();
      r.program.onerror = () => stop("stopped");
      const give = [r.port, ...data.files.map(([, b]) => b.buffer)];
      if (data.program.buffer) give.push(data.program.buffer); // or it is compiled already
      r.program.postMessage({ program: data.program, files: [...data.files, ...saidFiles], input: data.input, environment: { ...data.environment, ...lang }, port: r.port, kept: ["/keep", "/cell", "/tmp"] }, give);
      watch();
    }
    if (data.ended) r.done({ ...data.ended, stopped: r.ending });
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
        working(say("Compiling"));
        if (!spare && !passing) {
          spare = new Worker(e.program);
          spare.onerror = () => { spare = null; };
        }
        const stored = JSON.stringify(lecternMine.files); // another page may have more by now
        if (stored !== mine) e.worker.postMessage({ do: "mine", files: mine = stored });
        running.port = cell.posts(e.worker, id, queue);
      }
      verdict = await end;
    } catch (error) {
      cell.trouble(say("Go can't be loaded: {why}", { why: error.message }));
      verdict = { failed: true };
    }
    if (verdict.mine) lecternMine.files = { ...lecternMine.files, ...verdict.mine };
    if (verdict.goesOn) passing = running.program;
    else running.program?.terminate();
    if (!verdict.goesOn || !queue.length) drop();
    clearTimeout(running.clock);
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
  // lose forgets all values. The running cell is told why, unless the reader asked for it.
  const lose = async (why) => {
    const r = running, old = engine;
    stop("stopped");
    engine = null;
    if (!why) r?.done({ failed: true });
    (await old?.catch(() => null))?.end();
    spare?.terminate();
    spare = null;
    afresh();
    if (!why) return;
    r?.cell.trouble(why); // before afresh it would be gone with what the cells showed
    r?.done({ failed: true });
  };
  const restart = () => lose();

  // type gives the running program a line of input, or null for the end of the input.
  const type = (line) => { running?.program?.postMessage({ line }); };
  return {
    megabytes, total, unpacked, ask, stop, restart, type,
    get state() { return running ? (running.program ? "runs" : "prepares") : queue.length ? "waits" : "idle"; },
    set limit(seconds) { limit = seconds; },
  };
};
