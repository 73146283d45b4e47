// The worker in which cells are rewritten and compiled, and in which values live from cell to cell. It needs machine.js, Go's wasm_exec.js and
// cells.js before it. The page sends { do: … }; what comes back is written at each post. Another worker links: see linker.js.
"use strict";

(() => {
  const post = (message, give = []) => self.postMessage(message, give);
  const modules = {}; // compiler and rewriter; promises of them until the engine starts
  let index = null; // of packages
  const at = new Map(); // package path to its line of the index
  const early = new Map(); // bundles that came before the index
  const waiting = new Map(); // bundle to those who wait for it

  const part = ({ name, bytes }) => {
    if (name !== "index") {
      modules[name] = name === "rewriter" ? WebAssembly.compile(bytes) : cells.tool(bytes);
      return;
    }
    const { packages, mine } = JSON.parse(new TextDecoder().decode(bytes));
    index = packages;
    for (const file in mine) machine.put("/ours/" + file, mine[file]);
    for (const p of index) at.set(p.path, p);
    machine.put("/pkg/index.json", JSON.stringify(index));
    for (const [number, bundle] of early) place(number, bundle);
    early.clear();
  };
  // An archive begins with what compilers of its importers read. All of it goes to the linker.
  const exported = (archive) => archive.slice(0, 68 + parseInt(new TextDecoder().decode(archive.subarray(56, 66))));
  const place = (number, bytes) => {
    if (!index) return early.set(number, bytes);
    const files = index.filter((p) => p.bundle === number).map((p) => ({ file: p.file, at: p.at, size: p.bytes }));
    for (const { file, at, size } of files) machine.put(file, exported(bytes.subarray(at, at + size)));
    linker.postMessage({ do: "bundle", bytes, files }, [bytes.buffer]);
    waiting.get(number)?.();
    waiting.delete(number);
  };
  let linker = null; // the port to the worker that links
  const link = (packages) => {
    linker.postMessage({ do: "begin", packages });
    return (archive) => new Promise((done, failed) => {
      linker.onmessage = ({ data }) => { if (data.broken) failed(new Error(data.broken)); else done(data); };
      linker.postMessage({ do: "end", archive }, archive ? [archive.buffer] : []);
    });
  };
  // start begins when all parts are there.
  const start = async () => {
    machine.make("/build");
    for (const name in modules) modules[name] = await modules[name];
    const said = [];
    machine.start(modules.rewriter, ["engine"], { GOGC: "800" }, (_, bytes) => { said.push(new TextDecoder().decode(bytes)); })
      .then(() => post({ broken: "the cell rewriter has ended: " + said.join("") }), (error) => post({ broken: String(error) + said.join("") }));
    while (!self.lecternEngine) await new Promise((done) => setTimeout(done, 2));
    post({ ready: true });
  };

  let now = null; // the cell: { id, built, drawing }
  const abandoned = new Set(); // cells that the page no longer waits for
  let program = null; // what runs in the page: { port, heard: messages that wait for their cell }
  const leave = () => {
    program?.port.close();
    program = null;
  };
  const draw = () => {
    if (now.drawing) clearTimeout(now.drawing);
    now.drawing = 0;
    const changes = JSON.parse(lecternEngine.outputs());
    if (changes.drawn || changes.models || changes.below || changes.prompt !== undefined || changes.count !== now.count) post({ id: now.id, outputs: changes }); // what is new below the cell
    now.count = changes.count;
  };
  // finish ends the cell. The program may go on with the next one, unless that must have one of its own.
  const finish = (state, extra = {}, goesOn = false) => {
    const verdict = JSON.parse(lecternEngine.ended(state));
    draw();
    goesOn &&= !verdict.failed && !verdict.fresh;
    if (!goesOn) leave();
    post({ id: now.id, ended: { ...verdict, ...extra, goesOn, cell: lecternEngine.cell() } }); // the cell is done
    now = null;
  };
  // hear takes what the program says, until the cell has ended.
  const hear = () => {
    while (now && program?.heard.length) {
      const { fd, said, files, state, ran } = program.heard.shift();
      if (said) {
        lecternEngine.said(fd, said);
        if (!now.drawing) now.drawing = setTimeout(draw, 40);
        continue;
      }
      machine.change(files);
      finish(state ?? "exit status 0", { built: now.built, ran }, state === undefined);
    }
  };

  // supplied waits until the page has sent the bundles of packages.
  const supplied = async (id, paths) => {
    const wanted = [...new Set(paths.map((path) => at.get(path).bundle))];
    const there = wanted.map((bundle) => new Promise((done) => waiting.set(bundle, done)));
    post({ id, want: wanted }); // bundles
    await Promise.all(there);
  };

  // compiled makes a library that a cell needs: the reader's package.
  const compiled = async (library) => {
    const refused = await cells.library(modules.compiler, library);
    if (refused === null) {
      const bytes = machine.get(library.archive).slice();
      linker.postMessage({ do: "bundle", bytes, files: [{ file: library.archive, at: 0, size: bytes.length }] }, [bytes.buffer]);
    }
    lecternEngine.compiled(refused ?? "");
  };

  // A cell is rewritten, and once more when packages that it needs have been loaded, or compiled; then it is built, and
  // its program goes to the page, which runs it. The same happens with what a change of a widget asks for: begin says
  // which.
  const execute = async ({ id, port, begin, number, build, input }) => {
    const began = performance.now();
    let answer;
    leave();
    now = { id, count: 0 };
    for (;;) {
      answer = JSON.parse(begin());
      if (answer.library) await compiled(answer.library);
      else if (answer.need) await supplied(id, answer.need);
      else break;
    }
    if (!answer.program) return finish("exit status 0", { mistakes: (answer.errors || []).filter((m) => m.cell === number) });
    const built = await build(answer);
    if (abandoned.delete(id)) { // it has not run
      now = null;
      return;
    }
    if (!built) return finish("exit status 0");
    now.built = performance.now() - began;
    const mine = program = { port, heard: [] };
    port.onmessage = ({ data }) => {
      if (program !== mine) return;
      mine.heard.push(data);
      hear();
    };
    const files = machine.below(...cells.kept);
    const give = files.map(([, bytes]) => bytes.buffer);
    if (built.buffer) give.push(built.buffer);
    post({ id, program: built, files, input, environment: cells.environment }, give); // to be run
  };
  const builder = (id) => (answer) => cells.build({ compiler: modules.compiler, link }, answer, (tool) => post({ id, step: tool }));
  // A cell may be one that the program continues with, or be followed by others that its program may continue with:
  // more.
  const cell = ({ id, number, code, steps, last, port, more = [] }) => {
    const runs = program && !steps ? lecternEngine.turn(number, code, last) : null;
    if (runs === null) return execute({ id, port, number, build: builder(id), begin: () => lecternEngine.rewrite(number, code, steps === true, last, JSON.stringify(more)) });
    now = { id, count: 0, built: 1 };
    post({ id, goesOn: true }); // the program does
    if (runs) hear();
    else finish("exit status 0", {}, true);
  };

  // While somebody moves a slider the program stays the same, and is built once.
  let reacts = null; // { text, module }: the last of these programs
  const event = ({ id, widget, input, port }) => execute({
    id, port, input, begin: () => lecternEngine.event(widget),
    build: async (answer) => {
      const text = JSON.stringify(answer);
      if (reacts?.text !== text) {
        const module = await builder(id)(answer);
        reacts = module && { text, module: await WebAssembly.compile(module) };
      }
      return reacts?.module;
    },
  });

  // asked has the rewriter do something with the notebook that may need packages.
  const asked = async ({ id, name, notebook }) => {
    leave();
    for (;;) {
      const answer = JSON.parse(lecternEngine.export(name, notebook));
      if (!answer.need) return post({ id, answer }); // a program, or why there is none
      await supplied(id, answer.need);
    }
  };

  // question answers a question about a place in a cell.
  const question = async ({ id, what, code, at }) => {
    leave();
    for (;;) {
      const answer = JSON.parse(lecternEngine[what](code, at));
      if (!answer.need) return post({ id, answer });
      await supplied(id, answer.need);
    }
  };

  const obey = {
    part,
    start,
    cell,
    event,
    notebook: asked,
    question,
    leave,
    mine: ({ files }) => lecternEngine.mine(files), // what the browser has stored of the reader's package
    errors: ({ catalogue }) => lecternEngine.errors(catalogue), // what they mean in the page's language
    linker: ({ port }) => { linker = port; },
    bundle: ({ number, bytes }) => place(number, bytes),
    // The page has ended the program, or wants none.
    abandon: ({ id, state }) => {
      if (now?.id === id && now.built) finish(state);
      else abandoned.add(id);
    },
  };
  // What takes a while begins when everything asked for before is done, even if the page no longer waits for that.
  const inTurn = new Set(["cell", "event", "mine", "notebook", "question"]);
  let last = Promise.resolve();
  self.onmessage = async ({ data }) => {
    try {
      if (inTurn.has(data.do)) await (last = last.then(() => { if (!abandoned.delete(data.id)) return obey[data.do](data); }));
      else await obey[data.do](data);
    } catch (error) {
      // A mistake of ours. If the rewriter has ended, that is reported first, with what it said.
      setTimeout(() => post({ broken: String(error && error.stack || error) }), 50);
    }
  };
})();
