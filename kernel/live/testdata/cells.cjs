// Runs cells by the engine in Node, as a page's worker does: cells.cjs PARTS.json, which TestCells writes. It prints what each cell gave.
"use strict";
const disk = require("fs");
const vm = require("vm");
const parts = JSON.parse(disk.readFileSync(process.argv[2], "utf8"));
const outside = process;
vm.runInThisContext(disk.readFileSync(parts.machine, "utf8") + "\nglobalThis.machine = machine;");
vm.runInThisContext(disk.readFileSync(parts.start, "utf8"));

const text = (output) => Buffer.concat(output).toString();
(async () => {
  const index = parts.packages.map((p, i) => ({ ...p, file: `/pkg/${i}.a` }));
  index.forEach((p, i) => machine.put(p.file, disk.readFileSync(parts.archives[i])));
  machine.put("/pkg/index.json", JSON.stringify(index));
  const load = (file) => WebAssembly.compile(disk.readFileSync(file));
  const [compiler, linker, rewriter] = [await load(parts.compiler), await load(parts.linker), await load(parts.rewriter)];
  machine.start(rewriter, ["engine"], {}, (_, bytes) => disk.writeSync(2, bytes));
  while (!globalThis.lecternEngine) await new Promise((r) => setTimeout(r, 1));

  const results = [];
  for (const [i, code] of parts.cells.entries()) {
    const answer = JSON.parse(lecternEngine.rewrite(i + 1, code));
    const result = { errors: answer.errors ?? [], output: "", status: 0 };
    results.push(result);
    if (answer.program) {
      const config = Object.entries(answer.files).map(([p, f]) => `packagefile ${p}=${f}\n`).join("");
      machine.put("/cell/cell.go", answer.program);
      machine.put("/cell/cell.cfg", config + "packagefile main=/cell/cell.a\n");
      for (const [module, argv] of [
        [compiler, ["compile", "-o", "/cell/cell.a", "-p", "main", "-complete", "-pack", "-c=1", "-dwarf=false", "-importcfg", "/cell/cell.cfg", "/cell/cell.go"]],
        [linker, ["link", "-o", "/cell/cell.wasm", "-importcfg", "/cell/cell.cfg", "-s", "-w", "-checklinkname=0", "-buildmode=exe", "/cell/cell.a"]],
      ]) {
        const said = [];
        const status = await machine.start(module, argv, { GOGC: "off" }, (_, bytes) => said.push(bytes));
        if (status) throw new Error(argv[0] + ": " + text(said));
      }
      const output = [];
      result.status = await machine.start(await WebAssembly.compile(machine.get("/cell/cell.wasm")), ["cell"], { LECTERN_KEEP_DIR: "/keep" }, (_, bytes) => output.push(bytes));
      result.output = text(output);
    }
    if (!answer.errors) lecternEngine.settle();
  }
  disk.writeSync(1, JSON.stringify(results));
  outside.exit(0);
})().catch((error) => { disk.writeSync(2, String(error.stack) + "\n"); outside.exit(1); });
