// Runs cells by the engine in Node, as a page's workers do: cells.cjs PARTS.json, which TestCells writes. It prints what each cell gave.
"use strict";
const disk = require("fs");
const vm = require("vm");
const parts = JSON.parse(disk.readFileSync(process.argv[2], "utf8"));
const outside = process;
vm.runInThisContext(disk.readFileSync(parts.machine, "utf8") + "\nglobalThis.machine = machine;");
vm.runInThisContext(disk.readFileSync(parts.start, "utf8"));
vm.runInThisContext(disk.readFileSync(parts.cellsScript, "utf8") + "\nglobalThis.cells = cells;");

(async () => {
  const index = parts.packages.map((p, i) => ({ ...p, file: `/pkg/${i}.a` }));
  index.forEach((p, i) => machine.put(p.file, disk.readFileSync(parts.archives[i])));
  machine.put("/pkg/index.json", JSON.stringify(index));
  const load = (file, compile = WebAssembly.compile) => compile(new Uint8Array(disk.readFileSync(file)));
  const modules = { compiler: await load(parts.compiler, cells.tool), linker: await load(parts.linker, cells.tool) };
  machine.start(await load(parts.rewriter), ["engine"], {}, (_, bytes) => disk.writeSync(2, bytes));
  while (!globalThis.lecternEngine) await new Promise((r) => setTimeout(r, 1));

  const results = [];
  for (const [i, code] of parts.cells.entries()) {
    const answer = JSON.parse(lecternEngine.rewrite(i + 1, code));
    let state = "exit status 0";
    if (answer.program) {
      const program = await cells.build(modules, answer);
      if (program) state = "exit status " + await machine.start(await WebAssembly.compile(program), ["cell"], cells.environment, (fd, bytes) => lecternEngine.said(fd, bytes));
    }
    const verdict = JSON.parse(lecternEngine.ended(state));
    const html = (JSON.parse(lecternEngine.outputs()).drawn ?? []).map((d) => d.html).join("\n");
    results.push({ failed: verdict.failed, html, outputs: JSON.parse(lecternEngine.cell()).cells[0].outputs, errors: answer.errors ?? [] });
  }
  disk.writeSync(1, JSON.stringify(results));
  outside.exit(0);
})().catch((error) => { disk.writeSync(2, String(error.stack) + "\n"); outside.exit(1); });
