// The worker in which cells are rewritten, compiled and linked, and in which values live from cell to cell. It needs machine.js, Go's wasm_exec.js
// and cells.js before it. The page sends { do: … }; what comes back is written at each post.
"use strict";

(() => {
  const post = (message, give = []) => self.postMessage(message, give);
  const unpacked = async (bytes) => {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes; // a server's Content-Encoding has done it already
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  };
  const modules = {};
  let index = null; // { packages, bundles }
  const at = new Map(); // package path to its line of the index
  const waiting = new Map(); // bundle to those who wait for it

  const place = async (number, packed) => {
    const bytes = await unpacked(packed);
    index.packages.forEach((p) => { if (p.bundle === number) machine.put(p.file, bytes.subarray(p.at, p.at + p.bytes)); });
    waiting.get(number)?.();
    waiting.delete(number);
  };
  const start = async ({ parts, bundles }) => {
    index = JSON.parse(new TextDecoder().decode(await unpacked(parts.index)));
    for (const p of index.packages) at.set(p.path, p);
    machine.put("/pkg/index.json", JSON.stringify(index.packages));
    machine.make("/build");
    await Promise.all(bundles.map(([number, bytes]) => place(number, bytes)));
    await Promise.all(["compiler", "linker", "rewriter"].map(async (name) => { modules[name] = await WebAssembly.compile(await unpacked(parts[name])); }));
    const said = [];
    machine.start(modules.rewriter, ["engine"], {}, (_, bytes) => { said.push(new TextDecoder().decode(bytes)); })
      .then(() => post({ broken: "the cell rewriter has ended: " + said.join("") }), (error) => post({ broken: String(error) + said.join("") }));
    while (!self.lecternEngine) await new Promise((done) => setTimeout(done, 2));
    post({ ready: true });
  };

  let now = null; // the cell: { id, port, built, drawing }
  const draw = () => {
    if (now.drawing) clearTimeout(now.drawing);
    now.drawing = 0;
    const changes = JSON.parse(lecternEngine.outputs());
    if (changes.drawn || changes.prompt !== undefined || changes.count !== now.count) post({ id: now.id, outputs: changes }); // what is new below the cell
    now.count = changes.count;
  };
  const finish = (state, extra = {}) => {
    const verdict = JSON.parse(lecternEngine.ended(state));
    draw();
    now.port?.close();
    post({ id: now.id, ended: { ...verdict, ...extra, cell: lecternEngine.cell() } }); // the cell is done
    now = null;
  };

  // A cell is rewritten, and again when packages that it needs have been loaded; then it is built, and its program goes to the page, which runs it.
  const cell = async ({ id, number, code, steps, port }) => {
    const began = performance.now();
    let answer;
    now = { id, port, count: 0 };
    for (;;) {
      answer = JSON.parse(lecternEngine.rewrite(number, code, steps === true));
      if (!answer.need) break;
      const wanted = [...new Set(answer.need.map((path) => at.get(path).bundle))];
      const there = wanted.map((bundle) => new Promise((done) => waiting.set(bundle, done)));
      post({ id, want: wanted }); // bundles of packages
      await Promise.all(there);
    }
    if (!answer.program) return finish("exit status 0", { mistakes: (answer.errors || []).filter((m) => m.cell === number) });
    const program = await cells.build(modules, answer, (tool) => post({ id, step: tool }));
    if (!program) return finish("exit status 0");
    if (now.abandoned) return finish(now.abandoned);
    now.built = performance.now() - began;
    port.onmessage = ({ data }) => {
      if (!now || now.id !== id) return;
      if (data.said) {
        lecternEngine.said(data.fd, data.said);
        if (!now.drawing) now.drawing = setTimeout(draw, 40);
        return;
      }
      machine.replace(data.files, ...cells.kept);
      finish(data.state, { built: now.built, ran: data.ran });
    };
    const files = machine.below(...cells.kept);
    post({ id, program, files, environment: cells.environment }, [program.buffer, ...files.map(([, bytes]) => bytes.buffer)]); // to be run
  };

  const obey = {
    start,
    cell,
    bundle: ({ number, bytes }) => place(number, bytes),
    // The page has ended the program, or wants none.
    abandon: ({ id, state }) => {
      if (!now || now.id !== id) return;
      if (now.built) finish(state);
      else now.abandoned = state;
    },
  };
  self.onmessage = async ({ data }) => {
    try {
      await obey[data.do](data);
    } catch (error) {
      post({ broken: String(error && error.stack || error) }); // a mistake of ours
    }
  };
})();
