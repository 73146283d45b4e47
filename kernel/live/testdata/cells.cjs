// Runs cells by the engine in Node, as a page's workers do: cells.cjs PARTS.json, which TestCells writes. It prints what each cell gave.
"use strict";
const disk = require("fs");
const vm = require("vm");
const parts = JSON.parse(disk.readFileSync(process.argv[2], "utf8"));
const outside = process;
globalThis.lecternBeginAnew = parts.anew;
vm.runInThisContext(disk.readFileSync(parts.machine, "utf8") + "\nglobalThis.machine = machine;");
vm.runInThisContext(disk.readFileSync(parts.start, "utf8"));
vm.runInThisContext(disk.readFileSync(parts.cellsScript, "utf8") + "\nglobalThis.cells = cells;");

// How often each program has begun; tools go on from where they were.
const begun = new Map(), instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = (module, imports) => {
  begun.set(module, (begun.get(module) ?? 0) + 1);
  return instantiate(module, imports);
};

(async () => {
  const index = parts.packages.map((p, i) => ({ ...p, file: `/pkg/${i}.a` }));
  index.forEach((p, i) => machine.put(p.file, disk.readFileSync(parts.archives[i])));
  machine.put("/pkg/index.json", JSON.stringify(index));
  for (const file in parts.mine) machine.put("/ours/" + file, parts.mine[file]);
  const load = (file, compile = WebAssembly.compile) => compile(new Uint8Array(disk.readFileSync(file)));
  const linker = await load(parts.linker, cells.tool);
  const tools = { compiler: await load(parts.compiler, cells.tool), link: (packages) => (archive) => cells.link(linker, packages)(archive) };
  machine.start(await load(parts.rewriter), ["engine"], {}, (_, bytes) => disk.writeSync(2, bytes));
  while (!globalThis.lecternEngine) await new Promise((r) => setTimeout(r, 1));

  // What programs of several cells say comes in turns, which are taken one by one, as the page does.
  const results = [];
  let turns = null, builds = 0; // of the program that goes on
  for (const [i, code] of parts.cells.entries()) {
    if (parts.stored[i]) lecternEngine.mine(JSON.stringify(parts.stored[i]));
    const more = parts.joined ? parts.cells.slice(i + 1).map((code, k) => ({ cell: i + k + 2, code })) : [];
    const runs = turns && lecternEngine.turn(i + 1, code, 0);
    let state = "exit status 0", answer = {};
    if (runs === null) {
      turns = null;
      while ((answer = JSON.parse(lecternEngine.rewrite(i + 1, code, false, 0, JSON.stringify(more)))).library) {
        lecternEngine.compiled(await cells.library(tools.compiler, answer.library) ?? "");
      }
      const program = answer.program && await cells.build(tools, answer);
      if (program) {
        builds++;
        const before = machine.below(...cells.kept);
        machine.changes();
        turns = [[]];
        const status = await machine.start(await WebAssembly.compile(program), ["cell"], cells.environment, (fd, bytes) => {
          if (!machine.turns(fd, bytes)) return turns.at(-1).push([fd, bytes]);
          turns.at(-1).files = machine.changes(...cells.kept);
          turns.push([]);
        });
        Object.assign(turns.at(-1), { files: machine.changes(...cells.kept), state: "exit status " + status });
        machine.change([...machine.below(...cells.kept).map(([path]) => [path, null]), ...before]);
      }
    }
    if (turns && runs !== false) {
      const turn = turns.shift();
      for (const [fd, bytes] of turn) lecternEngine.said(fd, bytes);
      machine.change(turn.files);
      state = turn.state ?? state;
    }
    const verdict = JSON.parse(lecternEngine.ended(state));
    if (verdict.failed || verdict.apart || !turns?.length) turns = null;
    const html = (JSON.parse(lecternEngine.outputs()).drawn ?? []).map((d) => d.html).join("\n");
    results.push({ failed: verdict.failed, html, builds, begun: Math.max(begun.get(tools.compiler), begun.get(linker)), outputs: JSON.parse(lecternEngine.cell()).cells[0].outputs, errors: answer.errors ?? [], mine: Object.keys(verdict.mine ?? {}).sort() });
  }
  disk.writeSync(1, JSON.stringify(results));
  outside.exit(0);
})().catch((error) => { disk.writeSync(2, String(error.stack) + "\n"); outside.exit(1); });
